//! Whole entities as query data, in views, kept queries and systems: `EntityRef`, and in `whole` the others.
#![allow(missing_docs, clippy::unwrap_used, clippy::explicit_iter_loop)]
#![allow(clippy::redundant_closure_for_method_calls, reason = "closures name what they are given")]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[path = "entity_ref/whole.rs"]
mod whole;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Health(u32);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Stun(u32);
#[derive(Component)]
struct Frozen;
#[derive(Resource, Default)]
struct Score(u32);

#[derive(Pool)]
struct Orcs {
    health: Health,
}

/// Health alone, with a stun, stunned alone, with nothing, and one of a pool.
fn world() -> World {
    let mut world = World::new();
    world.spawn(Health(1));
    world.spawn((Health(2), Stun(20), Frozen));
    world.spawn(Stun(30));
    world.spawn_empty();
    world.spawn_in(Orcs { health: Health(4) });
    world.init_resource::<Score>();
    world
}

fn shown(entity: EntityRef) -> (u32, u32, bool) {
    let health = entity.get::<Health>().map_or(0, |health| health.0);
    let stun = entity.get::<Stun>().map_or(0, |stun| stun.0);
    (health, stun, entity.contains::<Frozen>())
}

const ALL: [(u32, u32, bool); 5] =
    [(0, 0, false), (0, 30, false), (1, 0, false), (2, 20, true), (4, 0, false)];

fn sorted(found: impl Iterator<Item = (u32, u32, bool)>) -> Vec<(u32, u32, bool)> {
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    found
}

#[test]
fn a_view_yields_every_entity_whatever_it_has() {
    let world = world();
    assert_eq!(sorted(world.view::<EntityRef>().into_iter().map(shown)), ALL);
    let with: Vec<_> = world.view::<(Entity, EntityRef, &Health)>().into_iter().collect();
    assert!(
        with.iter().all(|(id, entity, health)| *id == entity.id() && entity.get::<Health>() == Some(*health))
    );
    assert_eq!(with.len(), 3);
    assert_eq!(world.view_filtered::<EntityRef, InPool<Orcs>>().count(), 1);
}

#[test]
fn a_kept_query_reads_its_world() {
    let world = world();
    let mut state = world.query_filtered::<EntityRef, Or<(With<Health>, With<Stun>)>>();
    assert_eq!(sorted(state.iter(&world).map(shown)), ALL[1..]);
}

#[test]
fn a_system_reads_everything_and_records_commands() {
    fn system(all: Query<EntityRef>, healths: Query<&Health>, score: Res<Score>, mut commands: Commands) {
        assert_eq!(sorted(all.iter().map(shown)), ALL);
        assert_eq!((healths.count(), score.0), (3, 0));
        let frozen = all.iter().find(EntityRef::contains::<Frozen>).unwrap();
        commands.entity(frozen.id()).despawn();
    }
    let mut world = world();
    world.run_system_once(system).unwrap();
    assert_eq!(world.view::<Entity>().count(), 4);
}

#[test]
fn writers_run_before_or_after_and_never_beside() {
    #[derive(Resource, Default)]
    struct Seen(Vec<u32>);
    fn write(mut healths: Query<&mut Health>) {
        for mut health in &mut healths {
            health.0 += 1;
        }
    }
    fn read(all: Query<EntityRef>) -> u32 {
        all.iter().filter_map(|entity| entity.get::<Health>()).map(|health| health.0).sum()
    }
    fn note(In(sum): In<u32>, mut seen: ResMut<Seen>) {
        seen.0.push(sum);
    }
    let mut app = App::new();
    app.init_resource::<Seen>();
    app.world_mut().spawn(Health(1));
    app.add_systems(Update, (write, read.pipe(note), write).chain_ignore_deferred());
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Seen>().0, [2, 4]);
}

fn refused<M>(system: impl IntoSystem<(), (), M>) -> String {
    let mut world = world();
    world.run_system_once(system).unwrap_err().to_string()
}

#[test]
fn a_system_that_also_writes_is_refused_by_name() {
    let text = refused(|_: Query<EntityRef>, _: Query<&mut Health>| {});
    assert!(text.contains("EntityRef") && text.contains("`Health`"), "{text}");
    let text = refused(|_: ResMut<Score>, _: Query<EntityRef>| {});
    assert!(text.contains("EntityRef") && text.contains("`Score`"), "{text}");
    let text = refused(|_: Query<(EntityRef, &mut Health)>| {});
    assert!(text.contains("`EntityRef`") && text.contains("`&mut Health`"), "{text}");
}

#[test]
fn a_query_that_also_writes_is_refused_by_name() {
    let conflict = world().try_query::<(&mut Health, EntityRef)>().err().unwrap();
    assert_eq!((conflict.first.as_str(), conflict.second.as_str()), ("EntityRef", "&mut Health"));
}

#[test]
#[should_panic(
    expected = "a query for `EntityRef` reads the whole world, so nothing may be written beside it"
)]
fn a_view_for_writing_cannot_read_everything() {
    world().view_mut::<EntityRef>().iter_mut().count();
    world().view_mut::<EntityRef>().iter_mut().next();
}
