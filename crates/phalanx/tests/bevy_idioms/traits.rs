//! Traits and builders of bevy that programs name by themselves, most often in generic code.

use phalanx::prelude::*;

#[derive(Component, Clone, Debug, PartialEq)]
struct Health(i32);
#[derive(Resource, Default, Debug)]
struct Log(Vec<&'static str>);

#[test]
fn state_traits() {
    #[derive(States, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    enum Sky {
        #[default]
        Day,
        Night,
    }
    #[derive(SubStates, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    #[source(Sky = Sky::Day)]
    enum Sun {
        #[default]
        Low,
    }
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    struct Dark;
    impl ComputedStates for Dark {
        type SourceStates = Sky;
        fn compute(sky: Sky) -> Option<Self> {
            (sky == Sky::Night).then_some(Self)
        }
    }
    fn depth<S: StateSet>() -> usize {
        S::SET_DEPENDENCY_DEPTH
    }
    fn exists<S: States>(state: Option<Res<State<S>>>) -> bool {
        state.is_some()
    }

    assert!(depth::<(Sky, Sun)>() > depth::<Sky>());
    let mut app = App::new();
    app.add_plugins(StatesPlugin);
    app.init_state::<Sky>().add_sub_state::<Sun>().add_computed_state::<Dark>();
    app.update();
    let world = app.world_mut();
    assert!(world.run_system_once(exists::<Sun>).unwrap());
    assert!(!world.run_system_once(exists::<Dark>).unwrap());
}

#[test]
fn state_transition_systems() {
    use phalanx::state::StateTransitionSystems;

    #[derive(States, Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    struct Sky;
    let mut app = App::new();
    app.init_resource::<Log>().init_state::<Sky>();
    app.add_systems(OnEnter(Sky), |mut log: ResMut<Log>| log.0.push("enter"));
    app.add_systems(
        StateTransition,
        (
            (|mut log: ResMut<Log>| log.0.push("after")).after(StateTransitionSystems::EnterSchedules),
            (|mut log: ResMut<Log>| log.0.push("before")).before(StateTransitionSystems::EnterSchedules),
        ),
    );
    app.update();
    assert_eq!(app.world().resource::<Log>().0[..3], ["before", "enter", "after"]);
}

#[test]
fn param_builder_trait() {
    fn count(mut runs: Local<i32>) -> i32 {
        *runs += 1;
        *runs
    }
    fn run(builder: impl SystemParamBuilder<(Local<'static, i32>,)>) -> i32 {
        let mut world = World::new();
        let system = builder.build_state(&mut world).build_system(count);
        world.run_system_once(system).unwrap()
    }
    assert_eq!(run((LocalBuilder(6),)), 7);
    assert_eq!(run((ParamBuilder,)), 1);
}

#[test]
fn relation_traits() {
    fn family<R: RelationshipTarget>(lists: Query<&R>) -> usize {
        lists.iter().map(RelationshipTarget::len).sum()
    }
    let mut world = World::new();
    world.spawn(<Children as SpawnRelated>::spawn_one(Health(1)));
    world.spawn(<Children as SpawnRelated>::spawn((Spawn(Health(1)), Spawn(Health(2)))));
    assert_eq!(world.run_system_once(family::<Children>).unwrap(), 3);
}

#[test]
fn entity_cloner() {
    let mut world = World::new();
    let source = world.spawn((Health(3), Name::new("orc"))).id();
    let mut builder = phalanx::world::EntityCloner::build_opt_out(&mut world);
    builder.deny::<Name>();
    let mut cloner = builder.finish();
    let twin = cloner.spawn_clone(&mut world, source);
    assert_eq!(world.get::<Health>(twin), Some(&Health(3)));
    assert!(world.get::<Name>(twin).is_none());
}

#[test]
fn event_traits() {
    #[derive(Event)]
    struct Explosion;
    #[derive(EntityEvent)]
    struct Opened {
        entity: Entity,
    }
    fn by<E: Event<Trigger: Default>>(world: &mut World, event: E) {
        let trigger: <E as Event>::Trigger = Default::default();
        world.trigger_with(event, trigger);
    }
    let mut world = World::new();
    world.init_resource::<Log>();
    world.add_observer(|_: On<Explosion>, mut log: ResMut<Log>| log.0.push("explosion"));
    let entity = world.spawn_empty().id();
    world.entity_mut(entity).observe(|_: On<Opened>, mut log: ResMut<Log>| log.0.push("opened"));
    by(&mut world, Explosion);
    by(&mut world, Opened { entity });
    assert_eq!(world.resource::<Log>().0, ["explosion", "opened"]);
}

#[test]
fn param_structure() {
    use phalanx::archetype::Archetypes;
    use phalanx::component::Components;
    use phalanx::entity::Entities;

    fn look(archetypes: &Archetypes, components: &Components, entities: &Entities) -> (bool, bool, usize) {
        (!archetypes.is_empty(), components.component_id::<Health>().is_some(), entities.len())
    }
    let mut world = World::new();
    world.spawn(Health(1));
    let (archetypes, components, entities) = world.run_system_once(look).unwrap();
    assert!(archetypes && components);
    assert_eq!(entities, 1);
}

#[test]
fn condition_methods_of_one_word() {
    fn yes() -> bool {
        true
    }
    fn no() -> bool {
        false
    }
    let mut app = App::new();
    app.init_resource::<Log>();
    app.add_systems(
        Update,
        (
            (|mut log: ResMut<Log>| log.0.push("and")).run_if(yes.and(no)),
            (|mut log: ResMut<Log>| log.0.push("or")).run_if(yes.or(no)),
            (|mut log: ResMut<Log>| log.0.push("nand")).run_if(yes.nand(no)),
            (|mut log: ResMut<Log>| log.0.push("nor")).run_if(yes.nor(no)),
        ),
    );
    app.update();
    assert_eq!(app.world().resource::<Log>().0, ["or", "nand"]);
}
