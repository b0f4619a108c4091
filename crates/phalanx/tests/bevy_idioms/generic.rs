//! Names that generic code of a bevy program uses, and the paths under which bevy has them.

use phalanx::entity::{EntityHashMap, EntityHashSet};
use phalanx::prelude::*;
use phalanx::schedule::ScheduleConfigs;
use phalanx::system::ScheduleSystem;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(track = "row")]
struct Health(i32);
#[derive(Resource, Default, Debug, PartialEq)]
struct Score(i32);

#[test]
fn into_schedule_configs() {
    #[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
    struct Counting;
    fn add<M>(app: &mut App, systems: impl IntoScheduleConfigs<ScheduleSystem, M>) {
        app.add_systems(Update, systems.in_set(Counting));
    }
    fn pair() -> ScheduleConfigs<ScheduleSystem> {
        (|mut score: ResMut<Score>| score.0 += 2, |mut score: ResMut<Score>| score.0 *= 3).chain()
    }
    let mut app = App::new();
    app.init_resource::<Score>().configure_sets(Update, Counting.run_if(run_once));
    add(&mut app, pair());
    add(&mut app, |mut score: ResMut<Score>| score.0 += 1);
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Score>(), &Score(7));
}

#[test]
fn detect_changes_traits() {
    fn seen(value: &impl DetectChanges) -> (bool, bool) {
        assert_eq!(value.is_added(), value.is_added_after(value.last_run()));
        assert_eq!(value.is_changed(), value.is_changed_after(value.last_run()));
        assert!(value.added() <= value.last_changed());
        (value.is_added(), value.is_changed())
    }
    fn set(mut value: impl DetectChangesMut<Inner = Health>) {
        assert!(!value.set_if_neq(Health(1)));
        assert_eq!(value.replace_if_neq(Health(2)), Some(Health(1)));
        value.bypass_change_detection().0 += 1;
        value.set_changed();
    }
    fn look(score: Res<Score>, all: Query<Ref<Health>>) -> Vec<(bool, bool)> {
        all.iter().map(|health| seen(&health)).chain([seen(&score)]).collect()
    }
    fn write(mut score: ResMut<Score>, mut all: Query<&mut Health>) {
        all.iter_mut().for_each(set);
        DetectChangesMut::set_changed(&mut score);
    }
    let mut world = World::new();
    world.init_resource::<Score>();
    world.spawn(Health(1));
    let look = world.register_system(look);
    assert_eq!(world.run_system(look).unwrap(), [(true, true); 2]);
    assert_eq!(world.run_system(look).unwrap(), [(false, false); 2]);
    world.run_system_once(write).unwrap();
    assert_eq!(world.run_system(look).unwrap(), [(false, true); 2]);
}

#[test]
fn contains_entity() {
    fn ids(all: &[&dyn ContainsEntity]) -> EntityHashSet {
        all.iter().map(|one| one.entity()).collect()
    }
    let mut world = World::new();
    let entity = world.spawn(Health(1)).id();
    assert_eq!(world.entity_mut(entity).entity(), entity);
    assert_eq!(world.commands().entity(entity).entity(), entity);
    assert_eq!(ids(&[&entity, &&entity, &world.entity(entity)]).len(), 1);
}

#[test]
fn entity_maps() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch((0..1000).map(Health)).collect();
    let map: EntityHashMap<i32> = entities.iter().map(|&e| (e, world.get::<Health>(e).unwrap().0)).collect();
    assert!(entities.iter().zip(0..).all(|(entity, number)| map[entity] == number));
    assert_eq!(map.len(), 1000);
}

#[test]
fn entity_mapper() {
    struct Shift(EntityHashMap<Entity>);
    impl EntityMapper for Shift {
        fn get_mapped(&mut self, source: Entity) -> Entity {
            self.0.get(&source).copied().unwrap_or(source)
        }
        fn set_mapped(&mut self, source: Entity, target: Entity) {
            self.0.insert(source, target);
        }
    }
    let mut world = World::new();
    let [a, b] = [(); 2].map(|()| world.spawn_empty().id());
    let mut shift = Shift(EntityHashMap::default());
    shift.set_mapped(a, b);
    assert_eq!((shift.get_mapped(a), shift.get_mapped(b)), (b, b));
}

#[test]
fn system_functions() {
    fn twice<S, M>(mut function: S) -> impl FnMut(In<i32>, ParamSet<(S::Param,)>) -> i32
    where
        S: SystemParamFunction<M, In = In<i32>, Out = i32>,
    {
        move |In(number), mut params| {
            let once = function.run(number, params.p0());
            function.run(once, params.p0())
        }
    }
    fn plus(In(number): In<i32>, score: Res<Score>) -> i32 {
        number + score.0
    }
    fn ask<S: System<Out = i32>>(world: &mut World, system: S, input: SystemIn<'_, S>) -> i32
    where
        S::In: SystemInput,
    {
        world.run_system_once_with(system, input).unwrap()
    }
    let mut world = World::new();
    world.insert_resource(Score(3));
    assert_eq!(ask(&mut world, IntoSystem::into_system(plus), 1), 4);
    assert_eq!(world.run_system_once_with(twice(plus), 1).unwrap(), 7);
}

/// Compiled, with bevy's paths behind the name of the crate.
#[test]
#[allow(unused_imports, reason = "that the paths exist is what is shown")]
fn module_paths() {
    use phalanx::bundle::Bundle;
    use phalanx::change_detection::{DetectChanges as _, Mut, Ref, Res, ResMut, Tick};
    use phalanx::component::{Component, ComponentId, Components};
    use phalanx::entity::{Entities, Entity, EntityCloner, MapEntities};
    use phalanx::entity_disabling::Disabled;
    use phalanx::error::{BevyError, Result};
    use phalanx::event::{EntityEvent, Event};
    use phalanx::hierarchy::{ChildOf, ChildSpawner, Children};
    use phalanx::lifecycle::{Add, ComponentHook, HookContext, Remove, RemovedComponents};
    use phalanx::message::{Message, MessageReader, MessageWriter, Messages};
    use phalanx::name::Name;
    use phalanx::observer::{Observer, On};
    use phalanx::query::{Changed, QueryData, QueryFilter, QueryState, With};
    use phalanx::relationship::{Relationship, RelationshipTarget};
    use phalanx::resource::Resource;
    use phalanx::schedule::{IntoScheduleConfigs, Schedule, ScheduleLabel, SystemSet};
    use phalanx::spawn::{Spawn, SpawnRelated};
    use phalanx::system::{Commands, NonSendMarker, Query, SystemParam, SystemState};
    use phalanx::world::{CommandQueue, DeferredWorld, EntityRef, FromWorld, World};

    #[derive(Component, Clone, Default)]
    struct Unit;
    #[derive(Bundle)]
    struct Squad {
        unit: Unit,
    }
    #[derive(Resource, Default)]
    struct Seen(usize);
    #[derive(Message)]
    struct Hello;
    #[derive(Event)]
    struct Noise;
    #[derive(SystemSet, ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
    struct Turn;
    #[derive(QueryData)]
    struct Data {
        unit: &'static Unit,
    }
    #[derive(QueryFilter)]
    struct Units {
        unit: With<Unit>,
    }
    #[derive(SystemParam)]
    struct All<'w, 's> {
        units: Query<'w, 's, Data, Units>,
    }
    fn count(all: All, mut seen: ResMut<Seen>, mut hello: MessageWriter<Hello>) {
        seen.0 = all.units.iter().count();
        hello.write(Hello);
    }
    let mut world = World::new();
    world.init_resource::<Seen>();
    world.spawn(Squad { unit: Unit });
    let mut schedule = Schedule::new(Turn);
    schedule.add_systems(count.in_set(Turn));
    schedule.run(&mut world);
    assert_eq!(world.resource::<Seen>().0, 1);
    world.trigger(Noise);
}

#[test]
fn query_builder() {
    use phalanx::query::QueryBuilder;

    let mut world = World::new();
    world.spawn(Health(1));
    world.spawn_empty();
    let health = world.component_id::<Health>().unwrap();
    let builder: QueryBuilder = world.query_builder().with(health);
    assert_eq!(builder.build().entities(&world).count(), 1);
}

#[test]
fn condition_trait() {
    fn add<M>(app: &mut App, condition: impl SystemCondition<M>) {
        app.add_systems(Update, (|mut score: ResMut<Score>| score.0 += 1).run_if(condition));
    }
    let mut app = App::new();
    app.init_resource::<Score>();
    add(&mut app, run_once);
    add(&mut app, resource_exists::<Score>);
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Score>(), &Score(3));
}

#[test]
fn condition_that_may_fail() {
    #[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
    struct Gated;
    fn is_high(score: Res<Score>) -> Result<bool, BevyError> {
        if score.0 < 0 { Err("a score below zero".into()) } else { Ok(score.0 > 10) }
    }
    fn is_even(world: &mut World) -> Result<bool, std::num::TryFromIntError> {
        Ok(u32::try_from(world.resource::<Score>().0)?.is_multiple_of(2))
    }
    let mut app = App::new();
    app.set_error_handler(phalanx::error::ignore);
    app.insert_resource(Score(-1)).configure_sets(Update, Gated.run_if(not(is_high)));
    app.add_systems(
        Update,
        (|mut score: ResMut<Score>| score.0 += 5).in_set(Gated).run_if(is_high.or_else(is_even)),
    );
    app.update();
    assert_eq!(app.world().resource::<Score>(), &Score(-1), "an error counts as false");
    app.insert_resource(Score(4));
    app.update();
    assert_eq!(app.world().resource::<Score>(), &Score(9));
}
