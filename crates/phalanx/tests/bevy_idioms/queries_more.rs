//! More of `QueryState` and `Query`, of change detection, and of systems that a world keeps.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
#[component(track = "row")]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Resource, Clone, Default, Debug, PartialEq)]
struct Score(i32);

fn world_of_three() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let entities = world.spawn_batch((0..3).map(|i| (Health(i), Armor(i)))).collect();
    (world, entities)
}

#[test]
fn query_state_manual() {
    let (world, entities) = world_of_three();
    let mut state = QueryState::<&Armor>::try_new(&world).unwrap();
    state.update_archetypes(&world);
    assert_eq!(state.iter_manual(&world).count(), 3);
    assert_eq!(state.query_manual(&world).iter().count(), 3);
    assert_eq!(state.get_manual(&world, entities[1]), Ok(&Armor(1)));
    assert_eq!(state.iter_many_manual(&world, &entities[..2]).count(), 2);
    assert_eq!(state.matched_archetypes().count(), 1);
}

#[test]
fn query_state_contiguous() {
    let (mut world, _) = world_of_three();
    let mut state = world.query::<&mut Armor>();
    for armors in state.contiguous_iter_mut(&mut world).unwrap() {
        armors.iter_mut().for_each(|armor| armor.0 += 1);
    }
    state.contiguous_par_iter_mut(&mut world).unwrap().for_each(|armors| {
        armors.iter_mut().for_each(|armor| armor.0 *= 2);
    });
    let mut read = world.query::<&Armor>();
    let sum: i32 = read.contiguous_iter(&world).unwrap().flatten().map(|armor| armor.0).sum();
    assert_eq!(sum, 12);
    read.contiguous_par_iter(&world).unwrap().for_each(|armors| assert_eq!(armors.len(), 3));
}

#[test]
fn query_contiguous_par_iter() {
    fn double(mut armors: Query<&mut Armor>) {
        armors.contiguous_par_iter_mut().unwrap().for_each(|armors| {
            armors.iter_mut().for_each(|armor| armor.0 *= 2);
        });
        armors.contiguous_par_iter().unwrap().for_each(|armors| assert_eq!(armors[2].0, 4));
        armors.contiguous_par_iter_inner().unwrap().for_each(|armors| armors[0].0 = 9);
    }
    let (mut world, entities) = world_of_three();
    world.run_system_once(double).unwrap();
    assert_eq!(
        (world.get::<Armor>(entities[0]), world.get::<Armor>(entities[2])),
        (Some(&Armor(9)), Some(&Armor(4)))
    );
}

#[test]
fn changes_after_a_tick() {
    fn look(healths: Query<Ref<Health>>, mut score: ResMut<Score>, ticks: SystemChangeTick) {
        for health in &healths {
            assert!(health.is_added_after(ticks.last_run()) && health.is_changed_after(health.last_run()));
        }
        assert!(score.is_changed_after(score.last_run()) && score.is_added_after(ticks.last_run()));
        assert!(!score.clone_from_if_neq(&Score(0)));
        assert!(score.clone_from_if_neq(&Score(1)));
    }
    let (mut world, entities) = world_of_three();
    world.init_resource::<Score>();
    world.run_system_once(look).unwrap();
    let mut health = world.get_mut::<Health>(entities[0]).unwrap();
    assert!(health.is_added_after(health.last_run()) && health.is_changed_after(health.last_run()));
    assert!(health.clone_from_if_neq(&Health(7)));
}

#[test]
fn world_register_boxed_system() {
    fn one() -> i32 {
        1
    }
    let mut world = World::new();
    let id = world.register_boxed_system(Box::new(IntoSystem::into_system(one)));
    assert_eq!(world.run_system(id).unwrap(), 1);
}

#[test]
fn commands_cached_systems() {
    fn add(In(n): In<i32>, mut score: ResMut<Score>) {
        score.0 += n;
    }
    fn nothing() {}
    let mut world = World::new();
    world.init_resource::<Score>();
    world.register_system_cached(nothing);
    let mut commands = world.commands();
    commands.run_system_cached_with(add, 5);
    commands.unregister_system_cached(nothing);
    let boxed = commands.register_boxed_system(Box::new(IntoSystem::into_system(nothing)));
    commands.run_system(boxed);
    world.flush();
    assert_eq!(world.resource::<Score>().0, 5);
}
