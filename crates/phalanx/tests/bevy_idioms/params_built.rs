//! Parameters that are built, parameters of generic code, and systems that only read.

use std::marker::PhantomData;

use phalanx::prelude::*;
use phalanx::system::{
    FilteredResourcesMutParamBuilder, FilteredResourcesParamBuilder, ReadOnlySystemParam, StaticSystemParam,
    SystemMeta,
};

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Health(i32);
#[derive(Resource, Default, Debug, PartialEq, Clone)]
struct Score(i32);
#[derive(Resource, Default, Debug, PartialEq)]
struct Level(i32);

#[test]
fn param_filtered_resources() {
    fn read(resources: FilteredResources) -> (Option<i32>, bool, usize) {
        let score = resources.get::<Score>().ok().map(|score| score.0);
        let readable = resources.has_read::<Score>() && !resources.has_read::<Level>();
        assert!(resources.get::<Level>().is_err());
        (score, readable, resources.access().uses().len())
    }
    fn write(mut resources: FilteredResourcesMut, level: Res<Level>) {
        assert!(
            resources.has_write::<Score>()
                && resources.has_read::<Level>()
                && !resources.has_write::<Level>()
        );
        resources.get_mut::<Score>().unwrap().0 += resources.get::<Level>().unwrap().0 * level.0;
        assert!(resources.get_mut::<Level>().is_err());
        assert!(resources.as_readonly().get::<Score>().unwrap().is_changed());
        resources.reborrow().into_mut::<Score>().unwrap().0 += 1;
    }
    let mut world = World::new();
    let id = world.init_resource::<Score>();
    world.insert_resource(Level(3));
    let reader = FilteredResourcesParamBuilder::new(|builder| {
        builder.add_read::<Score>();
    });
    let reader = (reader,).build_state(&mut world).build_system(read);
    let writer = FilteredResourcesMutParamBuilder::new_box(move |builder| {
        builder.add_write_by_id(id).add_read::<Level>();
    });
    let writer = (writer, ParamBuilder).build_state(&mut world).build_system(write);
    world.run_system_once(writer).unwrap();
    assert_eq!(world.run_system_once(reader.clone()).unwrap(), (None, false, 0), "a clone is not built");
    assert_eq!(world.run_system_once(reader).unwrap(), (Some(10), true, 1));
}

#[test]
#[should_panic(expected = "`Res<Score>` of system `SystemState` both use `Score`")]
fn param_filtered_resources_that_conflict() {
    let mut world = World::new();
    let builder = FilteredResourcesMutParamBuilder::new(|builder| {
        builder.add_write_all().add_write::<Score>();
    });
    let _: SystemState<(FilteredResourcesMut, Res<Score>)> = (builder, ParamBuilder).build_state(&mut world);
}

#[test]
fn read_only_system() {
    #[derive(SystemParam)]
    struct Reading<'w, 's> {
        healths: Query<'w, 's, &'static Health>,
        score: Option<Res<'w, Score>>,
    }
    fn sum(reading: Reading, mut runs: Local<i32>) -> i32 {
        *runs += 1;
        let score = reading.score.map_or(0, |score| score.0);
        reading.healths.iter().map(|health| health.0).sum::<i32>() + *runs + score
    }
    fn ask<S: ReadOnlySystem<In = (), Out = i32>>(system: &mut S, world: &World) -> i32 {
        system.run_readonly((), world).unwrap()
    }
    fn only_reads<P: ReadOnlySystemParam>() {}
    only_reads::<(Reading, Commands, MessageReader<AppExit>, Single<&Health>, &World)>();
    let mut world = World::new();
    world.spawn_batch([Health(1), Health(2)]);
    let mut system = IntoSystem::into_system(sum.map(|sum| sum * 10));
    system.initialize(&mut world).unwrap();
    assert_eq!((ask(&mut system, &world), ask(&mut system, &world)), (40, 50));

    let seen = IntoSystem::into_system(resource_changed::<Score>.and_then(not(run_once)));
    let mut boxed: Box<dyn ReadOnlySystem<In = (), Out = bool>> = Box::new(seen);
    world.init_resource::<Score>();
    boxed.initialize(&mut world).unwrap();
    assert!(!boxed.run_readonly((), &world).unwrap());
    world.resource_mut::<Score>().0 = 1;
    assert!(boxed.run_readonly((), &world).unwrap(), "a change after a run is seen in the next");
}

#[test]
fn condition_that_is_returned() {
    fn worth(least: i32) -> impl SystemCondition<()> {
        resource_exists::<Score>.and_then(move |score: Res<Score>| score.0 >= least)
    }
    fn add(by: i32) -> impl FnMut(ResMut<Score>) {
        move |mut score| score.0 += by
    }
    let mut app = App::new();
    app.insert_resource(Score(5));
    app.add_systems(Update, (add(1).run_if(worth(5)), add(10).run_if(worth(100))));
    let low = not(resource_exists::<Score>.and_then(|score: Res<Score>| score.0 > 5));
    app.add_systems(PostUpdate, (add(100), add(1000)).distributive_run_if(low));
    app.update();
    assert_eq!(app.world().resource::<Score>(), &Score(6));
    app.insert_resource(Score(4)).update();
    assert_eq!(app.world().resource::<Score>(), &Score(104), "each asks for itself");
}

#[test]
fn param_phantom_data() {
    #[derive(SystemParam)]
    struct Counter<'w, 's, T: Component, Of: 'static> {
        all: Query<'w, 's, (), With<T>>,
        of: PhantomData<Of>,
    }
    fn count(counter: Counter<Health, Score>) -> usize {
        counter.all.iter().count()
    }
    fn generic<P: SystemParam + 'static>(_: StaticSystemParam<P>) -> &'static str {
        std::any::type_name::<P>()
    }
    let mut world = World::new();
    world.spawn(Health(1));
    assert_eq!(world.run_system_once(count).unwrap(), 1);
    assert!(world.run_system_once(generic::<Res<Score>>).is_err(), "it is missing");
    world.init_resource::<Score>();
    assert!(world.run_system_once(generic::<Res<Score>>).unwrap().contains("Score"));
}

#[test]
fn param_deferred_queue() {
    #[derive(Default)]
    struct Found(Vec<i32>);
    impl SystemBuffer for Found {
        fn queue(&mut self, _: &SystemMeta, mut world: DeferredWorld) {
            for found in self.0.drain(..) {
                world.resource_mut::<Score>().0 += found;
                world.commands().spawn(Health(-found));
            }
        }
    }
    fn find(healths: Query<&Health>, mut found: Deferred<Found>) {
        found.0.extend(healths.iter().map(|health| health.0));
    }
    let mut app = App::new();
    app.init_resource::<Score>().add_systems(Update, find);
    app.world_mut().spawn(Health(4));
    app.update();
    assert_eq!((app.world().resource::<Score>().0, app.world().entity_count()), (4, 2));
}

#[test]
fn mut_of_a_part() {
    #[derive(Component)]
    #[component(track = "row")]
    struct Position {
        x: f32,
        tail: Option<Vec<u8>>,
    }
    fn takes(mut score: Mut<Score>) {
        score.0 += 1;
    }
    fn resources(mut score: ResMut<Score>, level: ResMut<Level>) -> bool {
        takes(score.reborrow());
        *score.reborrow().map_unchanged(|score| &mut score.0) += 1;
        takes(score.into());
        let level: Res<Level> = level.into();
        Ref::from(level).is_changed()
    }
    let mut world = World::new();
    world.init_resource::<Score>();
    world.init_resource::<Level>();
    assert!(world.run_system_once(resources).unwrap());
    assert_eq!(world.resource::<Score>().0, 3);

    let entity = world.spawn(Position { x: 1.0, tail: None }).id();
    world.clear_trackers();
    let mut x = world.get_mut::<Position>(entity).unwrap().map_unchanged(|position| &mut position.x);
    assert!(!x.set_if_neq(1.0) && !x.is_changed());
    *x = 2.0;
    assert!(x.is_changed());
    assert_eq!(format!("{x:?}"), "Mut(2.0)");
    let whole = world.get_mut::<Position>(entity).unwrap();
    assert!(whole.filter_map_unchanged(|position| position.tail.as_mut()).is_none());
    let whole = world.get_mut::<Position>(entity).unwrap();
    assert!(whole.try_map_unchanged(|position| position.tail.as_mut().ok_or("none")).is_err());
    #[derive(Component, Deref, DerefMut)]
    struct Bag(Vec<u8>);
    let entity = world.spawn(Bag(vec![1])).id();
    let mut bag = world.get_mut::<Bag>(entity).unwrap();
    bag.as_deref_mut().into_inner().push(2);
    assert_eq!(bag.len(), 2);
    assert_eq!(Entity::from_raw_u32(entity.index_u32()), Some(entity));
}

#[test]
fn component_immutable() {
    #[derive(Component, Clone, Debug, PartialEq)]
    #[component(immutable, on_insert = count, on_discard = count)]
    struct Owner(u32);
    fn count(mut world: DeferredWorld, context: HookContext) {
        world.resource_mut::<Score>().0 += 1;
        assert!(world.get::<Owner>(context.entity).is_some());
    }
    let mut world = World::new();
    world.init_resource::<Score>();
    let entity = world.spawn(Owner(1)).id();
    world.entity_mut(entity).insert(Owner(2));
    assert_eq!(world.resource::<Score>().0, 3);
    let owners = world.run_system_once(|all: Query<(&Owner, Has<Health>), With<Owner>>| {
        all.iter().map(|(owner, _)| owner.0).collect::<Vec<_>>()
    });
    assert_eq!((owners.unwrap(), world.get::<Owner>(entity)), (vec![2], Some(&Owner(2))));
    assert_eq!(world.entity_mut(entity).take::<Owner>(), Some(Owner(2)));
}
