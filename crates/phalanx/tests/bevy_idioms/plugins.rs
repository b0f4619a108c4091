//! `Plugin`, groups of plugins, and the schedules that a world keeps.

use phalanx::prelude::*;

#[derive(Resource, Default, Debug, PartialEq)]
struct Log(Vec<&'static str>);
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Turn;
#[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
struct Round;
#[derive(Component)]
struct Unit;

/// A plugin that says its letter.
macro_rules! plugins {
    ($($name:ident)*) => {$(
        struct $name(&'static str);
        impl Plugin for $name {
            fn build(&self, app: &mut App) {
                app.init_resource::<Log>();
                app.world_mut().resource_mut::<Log>().0.push(self.0);
            }
        }
    )*};
}
plugins!(A B C D);

struct All;
impl PluginGroup for All {
    fn build(self) -> PluginGroupBuilder {
        PluginGroupBuilder::start::<Self>().add(A("a")).add(C("c"))
    }
}

fn said(group: impl PluginGroup) -> String {
    let mut app = App::new();
    group.build().finish(&mut app);
    app.world().resource::<Log>().0.concat()
}

#[test]
fn plugin_methods() {
    struct Counting;
    impl Plugin for Counting {
        fn build(&self, app: &mut App) {
            app.init_resource::<Log>();
        }
        fn ready(&self, app: &App) -> bool {
            app.world().contains_resource::<Log>()
        }
        fn finish(&self, app: &mut App) {
            app.world_mut().resource_mut::<Log>().0.push("finish");
        }
        fn cleanup(&self, app: &mut App) {
            app.world_mut().resource_mut::<Log>().0.push("cleanup");
        }
        fn name(&self) -> &str {
            "counting"
        }
        fn is_unique(&self) -> bool {
            false
        }
    }
    let mut app = App::new();
    app.add_plugins((Counting, Counting));
    app.finish();
    app.cleanup();
    assert_eq!(app.world().resource::<Log>().0, ["finish", "finish", "cleanup", "cleanup"]);
    assert_eq!(Counting.name(), "counting");
}

#[test]
fn plugin_group_builder() {
    let mut app = App::new();
    app.add_plugins(All.set(C("d")));
    assert_eq!(app.world().resource::<Log>().0, ["a", "d"]);
    assert_eq!(said(All.build().add_before::<C>(B("b"))), "abc");
    assert_eq!(said(All.build().add_after::<A>(B("b")).disable::<A>()), "bc");
    assert_eq!(said(All.build().disable::<A>().enable::<A>()), "ac");
    assert_eq!(said(PluginGroupBuilder::start::<All>().add(B("b")).add_group(All)), "bac");
    let group = All.build().disable::<C>();
    assert!(group.contains::<C>() && !group.enabled::<C>() && !group.contains::<B>());
}

#[test]
fn plugin_group_builder_tries() {
    let kept = |result: Result<PluginGroupBuilder, (PluginGroupBuilder, _)>| match result {
        Ok(group) => said(group),
        Err((group, B(_))) => said(group) + "!",
    };
    assert_eq!(kept(All.build().try_add(B("b"))), "acb");
    assert_eq!(kept(All.build().add(B("b")).try_add(B("x"))), "acb!");
    assert_eq!(kept(All.build().try_add_before::<C, B>(B("b"))), "abc");
    assert_eq!(kept(All.build().try_add_before::<D, B>(B("b"))), "ac!");
    assert_eq!(kept(All.build().add(B("x")).try_add_before_overwrite::<A, B>(B("b"))), "bac");
    assert_eq!(kept(All.build().try_add_after::<A, B>(B("b"))), "abc");
    assert_eq!(kept(All.build().add(B("x")).try_add_after::<A, B>(B("b"))), "acx!");
    assert_eq!(kept(All.build().add(B("x")).try_add_after_overwrite::<A, B>(B("b"))), "abc");
    assert_eq!(kept(All.build().try_set(B("b"))), "ac!");
    assert_eq!(kept(All.build().add(B("x")).try_set(B("b"))), "acb");
    assert_eq!(said(All.build().add(D("d"))), "acd");
}

#[test]
fn schedules_methods() {
    fn one(mut log: ResMut<Log>) {
        log.0.push("one");
    }
    fn two(mut log: ResMut<Log>, _: Query<&mut Unit>) {
        log.0.push("two");
    }
    #[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
    struct Gated;
    let mut schedules = Schedules::new();
    assert!(schedules.insert(Schedule::new(Turn)).is_none());
    schedules.add_systems(Turn, (one, two).in_set(Gated));
    schedules.configure_sets(Turn, Gated.run_if(run_once));
    schedules.ignore_ambiguity(Turn, one, two);
    schedules.configure_schedules(phalanx::schedule::ScheduleBuildSettings::default());
    let mut world = World::new();
    schedules.allow_ambiguous_component::<Unit>(&mut world);
    schedules.allow_ambiguous_resource::<Log>(&mut world);
    schedules.entry(Round).add_systems(one);
    assert!(schedules.contains(Turn) && schedules.get_mut(Round).is_some());
    assert_eq!(schedules.iter_mut().count(), 2);
    assert!(schedules.remove_entry(Round).is_some() && !schedules.contains(Round));
    assert!(schedules.remove(Round).is_none());
    world.init_resource::<Log>();
    world.insert_resource(schedules);
    world.run_schedule(Turn);
    world.run_schedule(Turn);
    assert_eq!(world.resource::<Log>().0, ["one", "two"]);
    let policy = phalanx::schedule::ScheduleCleanupPolicy::RemoveSystemsOnly;
    let removed = world.resource_scope(|world, mut schedules: Mut<Schedules>| {
        schedules.remove_systems_in_set(Turn, one, world, policy).unwrap()
    });
    assert_eq!(removed, 1);
}

#[test]
fn plugin_group_name() {
    assert!(<All as PluginGroup>::name().ends_with("All"));
    let mut app = App::new();
    All.build().finish(&mut app);
    assert!(app.is_plugin_added::<A>());
}

#[test]
fn sub_app_methods() {
    let mut render = SubApp::new();
    render.init_resource::<Log>();
    render.set_extract(|_, render| render.resource_mut::<Log>().0.push("inner"));
    let mut inner = render.take_extract().unwrap();
    render.set_extract(move |main, render| {
        render.resource_mut::<Log>().0.push("outer");
        inner(main, render);
    });
    render.extract(&mut World::new());
    render.add_systems(Update, |mut log: ResMut<Log>| log.0.push("update"));
    render.update();
    render.run_default_schedule();
    assert_eq!(render.world().resource::<Log>().0, ["outer", "inner", "update", "update"]);
}
