//! Plugins: when they set up an app, in which order, how often, and what groups do with them.
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;

#[derive(Resource, Default, Debug, PartialEq)]
struct Log(Vec<&'static str>);

fn log(app: &mut App, entry: &'static str) {
    app.init_resource::<Log>();
    app.world_mut().resource_mut::<Log>().0.push(entry);
}

fn entries(app: &App) -> &[&'static str] {
    &app.world().resource::<Log>().0
}

macro_rules! plugins {
    ($($name:ident)*) => {$(
        #[derive(Debug, PartialEq)]
        struct $name(u32);
        impl Plugin for $name {
            fn build(&self, app: &mut App) {
                log(app, stringify!($name));
            }
            fn name(&self) -> &str {
                stringify!($name)
            }
        }
    )*};
}
plugins!(A B C);

/// Adds `A` itself.
struct Outer;
impl Plugin for Outer {
    fn build(&self, app: &mut App) {
        log(app, "outer begins");
        app.add_plugins(A(1));
        log(app, "outer ends");
    }
    fn finish(&self, app: &mut App) {
        log(app, "outer finishes");
        app.add_plugins(Late);
    }
    fn cleanup(&self, app: &mut App) {
        log(app, "outer cleans up");
    }
    fn name(&self) -> &str {
        "Outer"
    }
}

struct Late;
impl Plugin for Late {
    fn build(&self, app: &mut App) {
        log(app, "late");
        app.add_systems(Startup, |mut log: ResMut<Log>| log.0.push("startup"));
    }
    fn finish(&self, app: &mut App) {
        log(app, "late finishes");
    }
}

fn panic_of(f: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => (*panic.downcast::<&str>().expect("a text")).to_owned(),
    }
}

#[test]
fn plugins_build_when_they_are_added_and_finish_when_the_app_starts() {
    let mut app = App::new();
    app.add_plugins((Outer, B(2)));
    assert_eq!(entries(&app), ["outer begins", "A", "outer ends", "B"]);
    assert!(app.is_plugin_added::<A>() && !app.is_plugin_added::<C>());
    app.startup();
    let rest = ["outer finishes", "late", "late finishes", "outer cleans up", "startup"];
    assert_eq!(entries(&app)[4..], rest);
    app.step(0.1);
    app.startup();
    assert_eq!(entries(&app).len(), 9, "once");
}

#[test]
fn functions_and_nested_tuples_are_plugins() {
    fn first(app: &mut App) {
        log(app, "first");
    }
    let mut app = App::new();
    app.add_plugins((first, ((A(1), B(2)), |app: &mut App| log(app, "closure"))));
    assert_eq!(entries(&app), ["first", "A", "B", "closure"]);
    assert_eq!(app.get_added_plugins::<B>(), [&B(2)]);
    assert!(app.get_added_plugins::<C>().is_empty());
}

#[test]
fn a_plugin_that_is_added_twice_is_named_with_the_plugins_that_added_it() {
    let mut app = App::new();
    app.add_plugins(A(1));
    let text = panic_of(|| {
        app.add_plugins(Outer);
    });
    assert_eq!(
        text,
        "plugin `A` was added twice, first by the app, then by plugin `Outer`: add it once, or let its `is_unique` be false"
    );
    assert!(!app.is_plugin_added::<Outer>(), "what could not be built is not there");
    app.add_plugins(B(1));
    app.step(0.1);
}

#[test]
fn a_plugin_that_is_not_unique_is_added_as_often_as_one_likes() {
    struct Each(&'static str);
    impl Plugin for Each {
        fn build(&self, app: &mut App) {
            log(app, self.0);
        }
        fn is_unique(&self) -> bool {
            false
        }
    }
    let mut app = App::new();
    app.add_plugins((Each("x"), Each("y")));
    assert_eq!(entries(&app), ["x", "y"]);
    assert_eq!(app.get_added_plugins::<Each>().len(), 2);
}

#[test]
fn a_plugin_that_panics_can_be_added_again() {
    struct Fragile;
    impl Plugin for Fragile {
        fn build(&self, app: &mut App) {
            app.add_plugins(C(1));
            assert!(app.world().contains_resource::<Log>() && entries(app).contains(&"A"), "A is missing");
            log(app, "built");
        }
    }
    let mut app = App::new();
    let text = panic_of(|| {
        app.add_plugins(Fragile);
    });
    assert_eq!(text, "A is missing");
    assert!(!app.is_plugin_added::<Fragile>() && !app.is_plugin_added::<C>());
    app.add_plugins((A(1), Fragile));
    assert_eq!(entries(&app), ["C", "A", "C", "built"]);
}

#[test]
fn groups_are_changed_before_they_are_added() {
    struct Group;
    impl PluginGroup for Group {
        fn build(self) -> PluginGroupBuilder {
            PluginGroupBuilder::start::<Self>().add(A(1)).add(B(1))
        }
        fn name() -> String {
            "Group".to_owned()
        }
    }
    let added = |group: PluginGroupBuilder| {
        let mut app = App::new();
        log(&mut app, "-");
        app.add_plugins(group);
        (entries(&app)[1..].to_vec(), app.get_added_plugins::<A>().first().map(|a| a.0))
    };
    assert_eq!(added(Group.build()), (vec!["A", "B"], Some(1)));
    assert_eq!(added(Group.set(A(7))), (vec!["A", "B"], Some(7)));
    assert_eq!(added(Group.build().add_before::<B>(C(1))).0, ["A", "C", "B"]);
    assert_eq!(added(Group.build().add_after::<A>(C(1)).disable::<A>()), (vec!["C", "B"], None));
    assert_eq!(added(Group.build().disable::<A>().enable::<A>()).0, ["A", "B"]);
    assert_eq!(added(Group.build().add(A(2))), (vec!["B", "A"], Some(2)), "it goes to the end");
    assert_eq!(added(PluginGroupBuilder::start::<Group>().add(C(1)).add_group(Group)).0, ["C", "A", "B"]);
    let group = Group.build().disable::<B>();
    assert!(group.contains::<B>() && !group.enabled::<B>() && group.enabled::<A>() && !group.contains::<C>());
    let text = panic_of(|| drop(Group.build().disable::<C>()));
    assert!(
        text.starts_with("the group `Group` has no plugin `") && text.ends_with("C`: add it first"),
        "{text}"
    );
}

#[test]
fn a_runner_can_finish_plugins_itself() {
    use phalanx::app::PluginsState;
    struct Slow;
    #[derive(Resource)]
    struct Loaded;
    impl Plugin for Slow {
        fn build(&self, _: &mut App) {}
        fn ready(&self, app: &App) -> bool {
            app.world().contains_resource::<Loaded>()
        }
        fn finish(&self, app: &mut App) {
            log(app, "finished");
        }
        fn cleanup(&self, app: &mut App) {
            log(app, "cleaned up");
        }
    }
    let mut app = App::new();
    app.add_plugins(Slow);
    assert_eq!(app.plugins_state(), PluginsState::Adding);
    app.insert_resource(Loaded);
    assert_eq!(app.plugins_state(), PluginsState::Ready);
    app.finish();
    assert_eq!((app.plugins_state(), entries(&app)), (PluginsState::Finished, &["finished"][..]));
    app.cleanup();
    app.cleanup();
    app.step(0.0);
    assert_eq!(
        (app.plugins_state(), entries(&app)),
        (PluginsState::Cleaned, &["finished", "cleaned up"][..])
    );
}
