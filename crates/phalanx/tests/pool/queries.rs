//! Queries and pools: filters by pool, the order of pools, and what matching looks at.
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use crate::common::pool_kinds::{
    Burning, Clan, Crowd, Elves, Frozen, Ghosts, Health, Name, Orcs, Position, Rage, Side, elf, ok, orc,
    position,
};
use phalanx::prelude::*;

fn ids<F: QueryFilter + 'static>(world: &World) -> Vec<Entity> {
    world.view_filtered::<Entity, F>().iter().collect()
}

struct Cast {
    world: World,
    general: Entity,
    empty: Entity,
    orc: Entity,
    angry: Entity,
    elf: Entity,
}

fn cast() -> Cast {
    let mut world = World::new();
    let elf = world.spawn_in(elf("a"));
    let orc_ = world.spawn_in(orc(1));
    let angry = world.spawn_in(Orcs { rage: Some(Rage(1)), ..orc(2) });
    let general = world.spawn(Health(3)).id();
    let empty = world.spawn_empty().id();
    Cast { world, general, empty, orc: orc_, angry, elf }
}

// Z-040, Z-041, Z-042: ordinary queries see the entities of all pools.
#[test]
fn a_query_without_a_pool_sees_all_of_them() {
    let Cast { world, general, orc, angry, elf, .. } = cast();
    let all: Vec<Entity> = world.view_filtered::<Entity, With<Health>>().iter().collect();
    assert_eq!(all, [general, orc, angry]);
    assert_eq!(
        world.view::<(Entity, &Position)>().iter().map(|(e, _)| e).collect::<Vec<_>>(),
        [elf, orc, angry]
    );
    let sum: u32 = world.view::<&Health>().iter().map(|health| health.0).sum();
    assert_eq!(sum, 6);
}

#[test]
fn in_and_not_in_tell_pools_apart() {
    let Cast { mut world, general, empty, orc, angry, elf } = cast();
    assert_eq!(ids::<InPool<Orcs>>(&world), [orc, angry]);
    assert_eq!(ids::<InPool<Elves>>(&world), [elf]);
    assert_eq!(ids::<InPool<General>>(&world), [general, empty]);
    assert_eq!(ids::<NotInPool<General>>(&world), [elf, orc, angry]);
    assert_eq!(ids::<NotInPool<Orcs>>(&world), [general, elf, empty]);
    assert_eq!(ids::<(NotInPool<Orcs>, NotInPool<General>)>(&world), [elf]);
    assert_eq!(ids::<(InPool<Orcs>, InPool<Elves>)>(&world), []);
    assert_eq!(ids::<(InPool<Orcs>, NotInPool<Orcs>)>(&world), []);
    assert_eq!(ids::<(InPool<Orcs>, Without<Rage>)>(&world), [orc]);
    assert_eq!(ids::<Or<(InPool<Elves>, With<Rage>)>>(&world), [elf, angry]);
    assert_eq!(ids::<Or<(InPool<Elves>, InPool<General>)>>(&world), [general, elf, empty]);
    assert_eq!(ids::<Or<(NotInPool<Orcs>, With<Rage>)>>(&world), [general, elf, angry, empty]);
    assert_eq!(world.view_filtered_mut::<&mut Health, InPool<Orcs>>().chunks_mut().count(), 2);
}

// The archetype does not decide alone: pools are told apart row by row.
#[test]
fn pools_stand_beside_row_filters_in_an_or() {
    let Cast { mut world, general, empty, orc, angry, elf } = cast();
    world.clear_trackers();
    assert_eq!(ids::<Or<(InPool<Elves>, Changed<Rage>)>>(&world), [elf]);
    assert_eq!(ids::<Or<(InPool<General>, Changed<Rage>)>>(&world), [general, empty]);
    assert_eq!(ids::<Or<(NotInPool<General>, Changed<Rage>)>>(&world), [elf, orc, angry]);
    world.get_mut::<Rage>(angry).unwrap().0 = 5;
    assert_eq!(ids::<Or<(InPool<Elves>, Changed<Rage>)>>(&world), [elf, angry]);
    assert_eq!(ids::<Or<(With<Burning>, NotInPool<Orcs>)>>(&world), [general, elf, empty]);
    world.pool_mut::<Orcs>().insert(orc, Burning(1)).unwrap();
    assert_eq!(ids::<Or<(With<Burning>, InPool<General>)>>(&world).len(), 3);
    assert_eq!(ids::<(InPool<Orcs>, With<Burning>)>(&world), [orc]);
    assert_eq!(ids::<(InPool<Orcs>, Without<Burning>)>(&world), [angry]);
}

// Z-043, Z-046, Z-050: what is known stays right while pools and archetypes appear.
#[test]
fn a_query_of_an_unregistered_pool_is_empty_and_wakes_up() {
    let mut world = World::new();
    let mut kept = world.query_filtered::<Entity, InPool<Orcs>>();
    let mut others = world.query_filtered::<Entity, NotInPool<Orcs>>();
    assert_eq!((kept.iter(&world).count(), ids::<InPool<Orcs>>(&world).len()), (0, 0));
    let general = world.spawn(Frozen).id();
    assert_eq!(others.iter(&world).collect::<Vec<_>>(), [general]);
    let one = world.spawn_in(orc(1));
    assert_eq!(kept.iter(&world).collect::<Vec<_>>(), [one]);
    assert_eq!(others.iter(&world).collect::<Vec<_>>(), [general]);
    let two = world.spawn_in(Orcs { frozen: Some(Frozen), ..orc(1) });
    assert_eq!(kept.iter(&world).collect::<Vec<_>>(), [one, two]);
    assert_eq!(ids::<InPool<Orcs>>(&world), [one, two]);
    assert_eq!(others.iter(&world).collect::<Vec<_>>(), [general]);
}

// Z-047, Z-080: General first, then pools in order of registration, archetypes in order of creation within each.
#[test]
fn order_is_by_pool_and_then_by_age_whenever_archetypes_appear() {
    let mut world = World::new();
    world.register_pool::<Ghosts>();
    world.register_pool::<Crowd<1>>();
    let mut kept = world.query_filtered::<Entity, Or<(With<Frozen>, With<Health>)>>();
    let (mut general, mut ghosts, mut crowd) = (Vec::new(), Vec::new(), Vec::new());
    for step in 0..4 {
        // The last pool gets its archetypes first.
        if step == 0 {
            crowd.push(world.spawn_in(Crowd::<1> { side: Side, health: Some(Health(1)) }));
        }
        if step == 1 {
            ghosts.push(world.spawn_in(Ghosts { frozen: Some(Frozen), burning: None }));
        }
        general.push(match step {
            0 => world.spawn(Frozen).id(),
            1 => world.spawn(Health(2)).id(),
            2 => world.spawn((Frozen, Health(3))).id(),
            _ => world.spawn((Frozen, Rage(1))).id(),
        });
        let expected: Vec<Entity> = [&general[..], &ghosts, &crowd].concat();
        let query = ids::<Or<(With<Frozen>, With<Health>)>>(&world);
        assert_eq!(query, expected, "step {step}");
        assert_eq!(kept.iter(&world).collect::<Vec<_>>(), expected, "step {step}");
        let afresh = world.query_filtered::<Entity, Or<(With<Frozen>, With<Health>)>>();
        assert!(afresh.matched_archetypes().eq(kept.matched_archetypes()));
        let chunks: Vec<Entity> = kept.query(&world).chunks().flatten().copied().collect();
        assert_eq!(chunks, expected);
        let holders = world.archetypes().with_component(world.component_id::<Frozen>().unwrap());
        assert!(holders.is_sorted_by_key(|&id| world.archetypes().pool_of(id)));
    }
    // Ids of dropped archetypes come again in another pool.
    for entity in general.drain(..) {
        world.despawn(entity);
    }
    world.drop_empty_archetypes();
    crowd.push(world.spawn_in(Crowd::<1> { side: Side, health: Some(Health(1)) }));
    general.push(world.spawn((Health(1), Name("n".to_owned()))).id());
    let expected: Vec<Entity> = [&general[..], &ghosts, &crowd].concat();
    assert_eq!(kept.iter(&world).collect::<Vec<_>>(), expected);
    assert_eq!(ids::<Or<(With<Frozen>, With<Health>)>>(&world), expected);
    ok(&world);
}

// Z-008, Z-037, Z-045, Z-061, Z-067: a query of required components looks at no mask, another one at each once.
#[test]
fn matching_in_a_pool_compares_masks_only_where_it_must() {
    let mut world = World::new();
    world.spawn_in(orc(1));
    world.spawn_in(Orcs { rage: Some(Rage(1)), ..orc(1) });
    world.spawn_in(Orcs { frozen: Some(Frozen), ..orc(1) });
    world.spawn_in(elf("a"));
    let checks = |world: &World| world.archetypes().pools().mask_checks();
    assert_eq!(checks(&world), 0);
    assert_eq!(world.pool::<Orcs>().query::<(&Position, &Health)>().count(), 3);
    assert_eq!(world.pool::<Orcs>().query::<(&Clan, Option<&Rage>, Has<Frozen>)>().count(), 3);
    assert_eq!(checks(&world), 0, "required components need no check");
    assert_eq!(world.pool::<Orcs>().query::<(&Position, &Rage)>().count(), 1);
    assert_eq!(checks(&world), 3, "one comparison per archetype of the pool");
    assert_eq!(world.pool::<Orcs>().query_filtered::<&Health, (Without<Rage>, Without<Frozen>)>().count(), 1);
    assert_eq!(checks(&world), 6);
    assert_eq!(ids::<(InPool<Orcs>, Without<Health>)>(&world), []);
    assert_eq!(ids::<(InPool<Orcs>, With<Side<3>>)>(&world), []);
    assert_eq!(checks(&world), 6, "what the pool rules out is not looked at");
    // A new archetype is looked at once by each filter that must, by no other pool's.
    world.spawn_in(Orcs { rage: Some(Rage(1)), frozen: Some(Frozen), ..orc(1) });
    assert_eq!(checks(&world), 8);
    world.spawn_in(Elves { health: Some(Health(1)), ..elf("b") });
    world.spawn((Health(1), Rage(1)));
    assert_eq!(checks(&world), 8);
    // What is known is not looked up again.
    assert_eq!(world.pool::<Orcs>().query::<(&Position, &Rage)>().count(), 2);
    assert_eq!(checks(&world), 8);
}

#[test]
fn explain_and_why_not_name_the_pool() {
    let Cast { world, general, orc, elf, .. } = cast();
    let query = world.view_filtered::<&Health, (InPool<Orcs>, Without<Rage>)>();
    let text = query.explain();
    assert!(text.contains("where:  with Health, in Orcs, without Rage"), "{text}");
    assert!(text.contains("} in Orcs\n"), "{text}");
    let why = query.why_not(general).unwrap().to_string();
    assert_eq!(why, format!("entity {general} is not in the query: it fails `in Orcs`"));
    assert!(query.why_not(elf).is_some() && query.why_not(orc).is_none());
    let query = world.view_filtered::<Entity, NotInPool<Elves>>();
    assert!(query.why_not(elf).unwrap().to_string().contains("not in the elves"));
    assert!(query.get(orc).is_ok());
}

#[test]
fn equal_questions_about_pools_share_what_they_match() {
    let Cast { world, .. } = cast();
    let one = world.query_filtered::<&Health, (InPool<Orcs>, NotInPool<Elves>)>();
    let other = world.query_filtered::<Entity, (With<Health>, InPool<Orcs>)>();
    assert_eq!(one.filter(), other.filter());
    let nothing = world.query_filtered::<Entity, (InPool<Orcs>, InPool<General>)>();
    let none = world.query_filtered::<Entity, Or<()>>();
    assert_eq!(nothing.filter(), none.filter());
    let wide = world.query_filtered::<Entity, Or<(InPool<Orcs>, (InPool<Orcs>, With<Rage>))>>();
    assert_eq!(wide.filter(), world.query_filtered::<Entity, InPool<Orcs>>().filter());
    let not = world.query_filtered::<Entity, Or<(NotInPool<Elves>, InPool<Orcs>)>>();
    assert_eq!(not.filter(), world.query_filtered::<Entity, NotInPool<Elves>>().filter());
}

#[derive(QueryData)]
#[query_data(mutable)]
struct Fighter {
    entity: Entity,
    health: &'static mut Health,
    x: &'static position::x,
    rage: Option<&'static Rage>,
}

#[derive(QueryFilter)]
struct Calm(Without<Frozen>, NotInPool<Elves>);

#[test]
fn derived_data_and_filters_can_be_asked_of_a_pool() {
    let Cast { mut world, orc, angry, .. } = cast();
    let mut orcs = world.pool_mut::<Orcs>();
    for mut fighter in orcs.query_filtered::<Fighter, Calm>() {
        fighter.health.0 += fighter.rage.map_or(10, |rage| rage.0);
        assert!(*fighter.x == 1.0 && (fighter.entity == orc || fighter.entity == angry));
    }
    assert_eq!(orcs.as_ref().query_filtered::<Ref<Rage>, Added<Rage>>().count(), 1);
    assert_eq!(
        orcs.as_ref().query_filtered::<(), Or<(Changed<Rage>, Or<(With<Frozen>, With<Burning>)>)>>().count(),
        1
    );
    assert_eq!((world.get::<Health>(orc), world.get::<Health>(angry)), (Some(&Health(11)), Some(&Health(3))));
}

#[derive(Resource, Default)]
struct Seen(Vec<usize>);

fn rally(
    mut orcs: Query<&mut Health, InPool<Orcs>>,
    others: Query<Entity, NotInPool<Orcs>>,
    mut seen: ResMut<Seen>,
) {
    for mut health in &mut orcs {
        health.0 += 1;
    }
    seen.0.extend([orcs.count(), others.count()]);
}

#[test]
fn systems_ask_for_pools_before_and_after_they_are_met() {
    let mut app = App::new();
    app.world_mut().init_resource::<Seen>();
    app.add_systems(Update, rally);
    app.step(0.1);
    let general = app.world_mut().spawn(Health(0)).id();
    let orc = app.world_mut().spawn_in(orc(5));
    app.step(0.1);
    assert_eq!(app.world().resource::<Seen>().0, [0, 0, 1, 1]);
    assert_eq!(app.world().get::<Health>(orc), Some(&Health(6)));
    assert_eq!(app.world().get::<Health>(general), Some(&Health(0)));
}

// Z-097, Z-098, Z-099, Z-106.
#[cfg(feature = "parallel")]
#[test]
fn parallel_iteration_over_pools_equals_serial() {
    let mut world = World::new();
    world.spawn_batch((0..3000).map(|n| (Health(n), Position { x: 0.0, y: 0.0 })));
    let orcs = (0..5000).map(|n| Orcs { rage: (n % 3 == 0).then_some(Rage(n)), ..orc(n) });
    world.spawn_batch_in(orcs);
    world.spawn_batch_in((0..3000).map(|n| Elves { health: Some(Health(n)), ..elf("x") }));
    fn step<F: QueryFilter + 'static>(world: &mut World, parallel: bool) {
        let change = |(mut health, position): (Mut<'_, Health>, phalanx_position::Mut<'_>)| {
            *position.x += health.0 as f32;
            health.0 = health.0.wrapping_mul(31).wrapping_add(7);
        };
        let mut query = world.view_filtered_mut::<(&mut Health, &mut Position), F>();
        if parallel { query.par_iter_mut().for_each(change) } else { query.iter_mut().for_each(change) }
    }
    let values = |world: &World| -> Vec<(u32, f32)> {
        world.view::<(&Health, &position::x)>().iter().map(|(health, x)| (health.0, *x)).collect()
    };
    let before = values(&world);
    step::<NotInPool<General>>(&mut world, true);
    step::<InPool<Orcs>>(&mut world, true);
    let parallel = values(&world);
    // The same once more from the same beginning.
    for (mut health, (value, x)) in
        world.view_mut::<(&mut Health, &mut position::x)>().iter_mut().zip(&before)
    {
        health.0.0 = *value;
        *health.1 = *x;
    }
    step::<NotInPool<General>>(&mut world, false);
    step::<InPool<Orcs>>(&mut world, false);
    assert_eq!(values(&world), parallel);
    assert_ne!(before, parallel);
}

mod phalanx_position {
    pub type Mut<'a> = crate::common::pool_kinds::PositionMut<'a>;
}

#[test]
fn a_dynamic_query_sees_pools_in_the_same_order() {
    let Cast { world, general, orc, angry, .. } = cast();
    let health = world.component_id::<Health>().unwrap();
    let query = world.query_builder().with(health).build();
    assert_eq!(query.entities(&world).collect::<Vec<_>>(), [general, orc, angry]);
    assert!(query.contains(&world, orc));
}
