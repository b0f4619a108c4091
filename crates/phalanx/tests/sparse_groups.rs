//! Groups over sparse sets stay right whatever happens to their entities.
//!
//! Named cases first, then random histories: after each step the world's own check compares every group's
//! members with what each entity has, and the alignment of owned sets.
#![forbid(unsafe_code)]
#![allow(missing_docs, clippy::unwrap_used)]

use phalanx::prelude::*;

macro_rules! sparse_components {
    ($($name:ident)*) => {$(
        #[derive(Component, Clone, Debug, PartialEq)]
        #[component(storage = "sparse")]
        struct $name(u32);
    )*};
}
sparse_components!(A B C D);

#[derive(Component, Clone)]
struct Frozen;

#[derive(Component, Clone)]
struct Other(#[allow(dead_code)] String);

type Ab = Group<Own<(A, B)>, Get<()>, Without<Frozen>>;

// E-019..E-024, E-027.
#[test]
fn members_come_first_in_every_owned_set_and_in_one_order() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..10).map(|n| world.spawn(A(n)).id()).collect();
    ids.iter().rev().step_by(2).for_each(|&e| world.insert(e, B(e.index())).unwrap());
    let group: Ab = world.group().unwrap();
    assert_eq!((group.len(&world), group.is_empty(&world)), (5, false));
    let (a, b) = group.slices(&world);
    assert!(a.iter().zip(b).all(|(a, b)| a.0 == b.0));
    assert_eq!(world.sparse::<A>().entities()[..5], world.sparse::<B>().entities()[..5]);
    let late = ids[0];
    world.insert(late, B(0)).unwrap();
    assert!(group.contains(&world, late));
    world.insert(late, Frozen).unwrap();
    assert!(!group.contains(&world, late), "excluded by a table component");
    world.remove::<Frozen>(late).unwrap();
    assert!(group.contains(&world, late));
    let (a, b) = group.slices_mut(&mut world);
    a.iter_mut().zip(b).for_each(|(a, b)| (a.0, b.0) = (a.0 + 100, b.0 + 100));
    assert_eq!(world.get::<A>(late), Some(&A(100)));
    assert_eq!(world.sparse::<A>().len(), 10, "others stay behind the members");
    world.check().unwrap();
}

// E-025, E-076.
#[test]
fn a_second_owner_is_an_error_that_names_both_groups() {
    let mut world = World::new();
    let first: Ab = world.group().unwrap();
    let error = world.group::<Own<(B, C)>, Get<()>, ()>().err().unwrap().to_string();
    assert!(error.contains("Own<(sparse_groups::B, sparse_groups::C)>"), "{error}");
    assert!(error.contains("Own<(sparse_groups::A, sparse_groups::B)>"), "{error}");
    let again: Ab = world.group().unwrap();
    assert_eq!(first.len(&world), again.len(&world));
    let partial = world.group::<Own<(C,)>, Get<(A,)>, ()>().unwrap();
    let free = world.group::<Own<()>, Get<(A, B)>, ()>().unwrap();
    let e = world.spawn((A(1), B(2), C(3))).id();
    assert!(first.contains(&world, e) && partial.contains(&world, e) && free.contains(&world, e));
    assert!(world.group::<Own<()>, Get<()>, ()>().is_err());
    assert!(world.group::<Own<(D,)>, Get<(D,)>, ()>().is_err());
    world.ungroup(first).unwrap();
    assert!(world.ungroup(first).is_err());
    world.group::<Own<(B,)>, Get<()>, ()>().unwrap();
    world.check().unwrap();
}

// E-028..E-031.
#[test]
fn a_partial_group_orders_what_it_owns_and_nothing_else() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..8).map(|n| world.spawn((A(n), B(n))).id()).collect();
    for &e in ids.iter().filter(|e| e.index() % 3 == 1) {
        world.remove::<A>(e).unwrap();
    }
    let order = world.sparse::<B>().entities().to_vec();
    let group = world.group::<Own<(A,)>, Get<(B,)>, ()>().unwrap();
    let late = world.spawn(A(50)).id();
    world.insert(ids[1], A(1)).unwrap();
    world.remove::<B>(ids[0]).unwrap();
    assert_eq!((group.len(&world), group.contains(&world, late)), (5, false));
    let (a,) = group.slices(&world);
    assert_eq!(a.len(), 5);
    assert_eq!(world.sparse::<A>().entities()[..5], *group.entities(&world), "members first");
    for ((entity, (a,), (b,)), slice) in group.iter(&world).zip(a) {
        assert_eq!((world.get::<A>(entity), world.get::<B>(entity)), (Some(a), Some(b)));
        assert!(std::ptr::eq(a, slice), "what is owned is walked in memory order");
    }
    let mut kept = order;
    kept.swap_remove(0);
    assert_eq!(world.sparse::<B>().entities(), kept, "only its own removal moved anything in `B`");
    world.check().unwrap();
}

// E-032..E-036.
#[test]
fn a_group_that_owns_nothing_moves_nothing() {
    let mut world = World::new();
    for n in 0..6 {
        let e = world.spawn(A(n)).id();
        if n % 2 == 0 {
            world.insert(e, B(n)).unwrap();
        }
    }
    let (a, b) = (world.sparse::<A>().entities().to_vec(), world.sparse::<B>().entities().to_vec());
    let group = world.group::<Own<()>, Get<(A, B)>, ()>().unwrap();
    group.sort_by_get(&mut world, |(a, _), (b, _)| b.0.cmp(&a.0)).unwrap();
    assert_eq!(group.iter(&world).map(|(_, (), (a, _))| a.0).collect::<Vec<_>>(), [4, 2, 0]);
    assert_eq!((world.sparse::<A>().entities(), world.sparse::<B>().entities()), (&a[..], &b[..]));
    // It shares its components with a group that owns them, and keeps its order beside it.
    let owner: Ab = world.group().unwrap();
    owner.sort_by(&mut world, |(a, _), (b, _)| a.0.cmp(&b.0)).unwrap();
    assert_eq!(group.iter(&world).map(|(_, (), (a, _))| a.0).collect::<Vec<_>>(), [4, 2, 0]);
    assert_eq!(world.stats().sets.len(), 2, "it keeps entities, and no values");
    world.check().unwrap();
}

// Hazard 43.
#[test]
fn every_kind_of_change_keeps_groups_right() {
    let changes: [fn(&mut World, Entity); 12] = [
        |world, e| world.insert(e, (A(7), B(7))).unwrap(),
        |world, e| {
            world.take::<A>(e);
        },
        |world, e| world.remove::<(B, C)>(e).unwrap(),
        |world, e| world.retain::<A>(e).unwrap(),
        |world, e| {
            world.despawn(e);
        },
        |world, e| {
            world.despawn_batch([e, e]);
        },
        |world, e| {
            world.insert_batch([(e, Frozen)]);
        },
        |world, e| {
            world.remove_batch::<(A, Frozen)>([e]);
        },
        |world, e| {
            world.insert_into_archetype(world.archetype_of(e).unwrap(), &(Frozen, A(3)));
        },
        |world, e| {
            world.remove_from_archetype::<B>(world.archetype_of(e).unwrap());
        },
        |world, e| {
            world.commands().entity(e).remove::<A>().insert(A(4)).insert(Frozen).remove::<Frozen>();
            world.flush();
        },
        |world, _| world.clear_entities(),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut world = World::new();
        let group: Ab = world.group().unwrap();
        world.group::<Own<(C,)>, Get<(A,)>, Without<D>>().unwrap();
        world.group::<Own<()>, Get<(A, B)>, ()>().unwrap();
        let ids: Vec<Entity> =
            (0..5).map(|n| world.spawn((A(n), B(n), C(n), Other(String::new()))).id()).collect();
        for &e in &ids {
            change(&mut world, e);
            world.check().unwrap_or_else(|fault| panic!("change {at}: {fault}"));
            if world.entities().is_empty() {
                break;
            }
        }
        let late = world.spawn((A(9), B(9))).id();
        assert!(group.contains(&world, late));
        world.check().unwrap();
    }
}

// E-026, E-035. Hazard 44.
#[test]
fn sorting_a_group_moves_owned_sets_together_and_leaves_the_tail() {
    let mut world = World::new();
    let tail = world.spawn(A(0)).id();
    for n in [3, 1, 2] {
        world.spawn((A(n), B(10 - n), C(n)));
    }
    let group: Ab = world.group().unwrap();
    let error = world.sort_by::<A>(|a, b| a.0.cmp(&b.0)).unwrap_err().to_string();
    assert!(error.contains("sort the group instead"), "{error}");
    group.sort_by(&mut world, |(a, _), (b, _)| a.0.cmp(&b.0)).unwrap();
    let (a, b) = group.slices(&world);
    assert_eq!((a, b), (&[A(1), A(2), A(3)][..], &[B(9), B(8), B(7)][..]));
    assert_eq!(world.sparse::<A>().entities()[3], tail);
    let free = world.group::<Own<()>, Get<(C,)>, ()>().unwrap();
    free.sort_by_get(&mut world, |(a,), (b,)| b.0.cmp(&a.0)).unwrap();
    assert_eq!(free.iter(&world).map(|(_, (), (c,))| c.0).collect::<Vec<_>>(), [3, 2, 1]);
    free.iter_mut(&mut world).for_each(|(_, (), (mut c,))| c.0 += 1);
    assert_eq!(free.iter(&world).map(|(_, (), (c,))| c.0).collect::<Vec<_>>(), [4, 3, 2]);
    world.check().unwrap();
}

// Hazard 41.
#[test]
fn a_late_group_includes_every_match() {
    let mut world = World::new();
    for n in 0..50 {
        world.spawn(A(n));
        world.spawn((B(n), A(n)));
        world.spawn((A(n), B(n), Frozen));
    }
    let group: Ab = world.group().unwrap();
    assert_eq!(group.len(&world), 50);
    world.check().unwrap();
}

// Hazard 42.
#[test]
fn removing_one_of_two_excluded_components_admits_nobody() {
    let mut world = World::new();
    let group = world.group::<Own<(A,)>, Get<()>, (Without<Frozen>, Without<D>)>().unwrap();
    let e = world.spawn((A(1), Frozen, D(1))).id();
    world.remove::<Frozen>(e).unwrap();
    assert!(!group.contains(&world, e));
    world.remove::<D>(e).unwrap();
    assert!(group.contains(&world, e));
}

// Hazard 43, E-023, E-024.
#[test]
fn random_histories_keep_every_group_right() {
    let steps: u64 = std::env::var("PHALANX_MODEL_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(4_000);
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut roll = move |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    let mut world = World::new();
    let mut ids: Vec<Entity> = Vec::new();
    let mut ab: Option<Ab> = None;
    let mut cd = None;
    let mut free = None;
    for step in 0..steps {
        let n = u32::try_from(step % 1000).unwrap();
        let e = if ids.is_empty() {
            Entity::PLACEHOLDER
        } else {
            ids[usize::try_from(roll(ids.len() as u64)).unwrap()]
        };
        // Dead entities are met as well: their operations fail and change nothing.
        match roll(22) {
            0 => ids.push(world.spawn((A(n), B(n))).id()),
            1 => ids.push(world.spawn((A(n), C(n), Frozen)).id()),
            2 => ids.push(world.spawn((B(n), D(n), Other(n.to_string()))).id()),
            3 => ids.push(world.spawn_empty().id()),
            4 => drop(world.insert(e, A(n))),
            5 => drop(world.insert(e, (B(n), C(n)))),
            6 => drop(world.insert(e, (D(n), Frozen))),
            7 => drop(world.remove::<A>(e)),
            8 => drop(world.remove::<(B, Frozen)>(e)),
            9 => drop(world.take::<(C, D)>(e)),
            10 => drop(world.retain::<(A, Frozen)>(e)),
            11 => drop(world.despawn(e)),
            12 => drop(world.remove::<(D, Other)>(e)),
            13 => {
                world.commands().entity(e).insert((A(n), B(n))).remove::<C>();
                world.flush();
            }
            14 => {
                let archetypes: Vec<_> = world.archetypes().iter().collect();
                let at = archetypes[usize::try_from(roll(archetypes.len() as u64)).unwrap()];
                if roll(2) == 0 {
                    world.insert_into_archetype(at, &Frozen);
                } else {
                    world.remove_from_archetype::<Frozen>(at);
                }
            }
            15 => ab = ab.or_else(|| world.group().ok()),
            16 => cd = cd.or_else(|| world.group::<Own<(C,)>, Get<(A, D)>, Without<B>>().ok()),
            17 => free = free.or_else(|| world.group::<Own<()>, Get<(B, D)>, ()>().ok()),
            18 => {
                if let Some(group) = ab {
                    group.sort_by(&mut world, |(a, _), (b, _)| a.0.cmp(&b.0)).unwrap();
                }
                let _ = world.sort_by::<D>(|a, b| b.0.cmp(&a.0));
            }
            19 if roll(10) == 0 => drop(ab.take().map(|group| world.ungroup(group))),
            20 if roll(40) == 0 => world.clear_entities(),
            _ => drop(world.drop_empty_archetypes()),
        }
        if let Err(error) = world.check() {
            panic!("step {step}: {error}");
        }
    }
}
