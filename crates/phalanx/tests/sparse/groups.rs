//! Groups over sparse sets stay right whatever happens to their entities.
//!
//! Named cases first, then random histories: after each step the world's own check compares every group's
//! members with what each entity has, and the alignment of owned sets.
#![allow(missing_docs, clippy::unwrap_used)]

use phalanx::group::GroupError;
use phalanx::prelude::*;

use crate::common::steps::model_steps;

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

#[derive(Component, Clone)]
struct Number<const N: usize>;

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", stable)]
struct Pinned(u32);

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

#[test]
fn stats_tell_what_a_group_orders_and_how_many_are_in_it() {
    let mut world = World::new();
    let group: Ab = world.group().unwrap();
    world.group::<Own<()>, Get<(A, C)>, Without<D>>().unwrap();
    world.spawn((A(1), B(1)));
    world.spawn((A(2), B(2), Frozen));
    world.spawn((A(3), C(3)));
    world.spawn((A(3), C(3), D(1)));
    let told = |world: &World| {
        let short =
            |names: &[String]| names.iter().map(|name| name.rsplit(':').next().unwrap().to_owned()).collect();
        let groups = world.stats().groups.into_iter().map(|group| {
            let parts: [Vec<String>; 3] =
                [&group.owned, &group.guaranteed, &group.without].map(|names| short(names));
            (parts.map(|names| names.join(" ")), group.entities)
        });
        groups.collect::<Vec<_>>()
    };
    let second = (["", "A C", "D"].map(str::to_owned), 1);
    assert_eq!(told(&world), [(["A B", "", "Frozen"].map(str::to_owned), 1), second.clone()]);
    world.ungroup(group).unwrap();
    assert_eq!(told(&world), [second]);
}

// E-025, E-076.
#[test]
fn a_second_owner_is_an_error_that_names_both_groups() {
    let mut world = World::new();
    let first: Ab = world.group().unwrap();
    let error = world.group::<Own<(B, C)>, Get<()>, ()>().err().unwrap().to_string();
    assert!(error.contains("Own<(sparse::groups::B, sparse::groups::C)>"), "{error}");
    assert!(error.contains("Own<(sparse::groups::A, sparse::groups::B)>"), "{error}");
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

/// How often pages are asked whether an entity is in a set, and how often only where, while `f` runs.
fn lookups<R>(f: impl FnOnce() -> R) -> (u64, u64) {
    let before = phalanx_store::page_lookups_for_tests().unwrap_or_default();
    std::hint::black_box(f());
    let after = phalanx_store::page_lookups_for_tests().unwrap_or_default();
    (after.0 - before.0, after.1 - before.1)
}

// E-022, E-030, E-031, E-034, E-036.
#[test]
fn walking_a_group_asks_for_the_place_of_what_it_does_not_own_and_never_for_presence() {
    let mut world = World::new();
    for n in 0..300 {
        let e = world.spawn(B(n)).id();
        if n % 3 > 0 {
            world.insert(e, (A(n), C(n))).unwrap();
        }
    }
    let owning = world.group::<Own<(A, C)>, Get<()>, ()>().unwrap();
    let free = world.group::<Own<()>, Get<(A, B, C)>, ()>().unwrap();
    let counts = [
        lookups(|| owning.iter(&world).map(|(_, (a, c), ())| u64::from(a.0 + c.0)).sum::<u64>()),
        lookups(|| owning.iter_mut(&mut world).for_each(|(_, (mut a, _), ())| a.0 += 1)),
        lookups(|| free.iter(&world).map(|(_, (), (_, b, _))| u64::from(b.0)).sum::<u64>()),
    ];
    let partial = world.ungroup(owning).and_then(|()| world.group::<Own<(A,)>, Get<(B, C)>, ()>()).unwrap();
    let partly = [
        lookups(|| partial.iter(&world).map(|(_, (a,), (b, _))| u64::from(a.0 + b.0)).sum::<u64>()),
        lookups(|| partial.iter_mut(&mut world).for_each(|(_, _, (mut b, _))| b.0 += 1)),
    ];
    if cfg!(debug_assertions) {
        assert_eq!(counts, [(0, 0), (0, 0), (0, 600)]);
        assert_eq!(partly, [(0, 400), (0, 400)]);
        // The counter counts: the same rows through a query are looked up, and checked.
        let (checked, _) = lookups(|| world.view::<(&A, &B)>().iter().count());
        assert_eq!(checked, 200, "one question for each of the smaller set");
    }
    // What is owned is walked in memory order, what is seen belongs to the same entity.
    let (a,) = partial.slices(&world);
    for ((entity, (item,), (b, c)), slice) in partial.iter(&world).zip(a) {
        assert!(std::ptr::eq(item, slice));
        assert_eq!((world.get::<B>(entity), world.get::<C>(entity)), (Some(b), Some(c)));
    }
    assert_eq!(partial.iter(&world).len(), 200);
    assert!(partial.iter(&world).all(|(_, (a,), (b, c))| a.0 == c.0 + 1 && b.0 == c.0 + 1));
    world.check().unwrap();
}

#[track_caller]
fn panics_with(text: &str, f: impl FnOnce()) {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).expect_err("it must not work");
    let told = panic.downcast_ref::<String>().map_or("", String::as_str);
    assert!(told.contains(text), "{told}");
}

// Issue: a dissolved handle acted on the group that came in its place.
#[test]
fn a_handle_of_a_dissolved_group_acts_on_no_later_one() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0..4).map(|n| world.spawn((A(3 - n), B(n))).id()).collect();
    let old = world.group::<Own<(A,)>, Get<()>, ()>().unwrap();
    assert!(old.exists(&world));
    world.ungroup(old).unwrap();
    let new = world.group::<Own<(A, B)>, Get<()>, ()>().unwrap();
    let same_terms = world.group::<Own<(A, B)>, Get<()>, ()>().unwrap();
    assert!(!old.exists(&world) && new.exists(&world) && same_terms.exists(&world));
    panics_with("the group was dissolved", || _ = old.len(&world));
    panics_with("the group was dissolved", || _ = old.is_empty(&world));
    panics_with("the group was dissolved", || drop(old.entities(&world).to_vec()));
    panics_with("the group was dissolved", || _ = old.contains(&world, ids[0]));
    panics_with("the group was dissolved", || _ = old.slices(&world));
    panics_with("the group was dissolved", || {
        old.slices_mut(&mut world);
    });
    panics_with("the group was dissolved", || _ = old.iter(&world).count());
    panics_with("the group was dissolved", || _ = old.iter_mut(&mut world).count());
    let order = new.entities(&world).to_vec();
    assert_eq!(old.sort_by(&mut world, |(a,), (b,)| a.0.cmp(&b.0)), Err(GroupError::Dissolved));
    assert_eq!(world.ungroup(old), Err(GroupError::Dissolved));
    assert_eq!((new.entities(&world), new.len(&world)), (&order[..], 4));
    // Even the same group made anew is another one.
    world.ungroup(new).unwrap();
    let again = world.group::<Own<(A,)>, Get<()>, ()>().unwrap();
    assert!(!old.exists(&world) && !same_terms.exists(&world) && again.exists(&world));
    world.check().unwrap();
}

#[test]
fn a_handle_of_another_world_is_refused() {
    let (mut world, mut other) = (World::new(), World::new());
    let foreign = other.group::<Own<(A,)>, Get<()>, ()>().unwrap();
    let own = world.group::<Own<(A,)>, Get<()>, ()>().unwrap();
    world.spawn_batch((0..3).map(A)).count();
    panics_with("belongs to another world", || _ = foreign.len(&world));
    panics_with("belongs to another world", || _ = foreign.iter(&world).count());
    let sorted = foreign.sort_by(&mut world, |(a,), (b,)| b.0.cmp(&a.0));
    assert_eq!(sorted, Err(GroupError::OtherWorld));
    assert_eq!(world.ungroup(foreign), Err(GroupError::OtherWorld));
    assert_eq!((own.len(&world), foreign.len(&other)), (3, 0));
}

#[test]
fn naming_components_in_another_order_gives_the_same_group() {
    let mut world = World::new();
    let ab = world.group::<Own<(A, B)>, Get<(C, D)>, (Without<Frozen>, Without<Other>)>().unwrap();
    let ba = world.group::<Own<(B, A)>, Get<(D, C)>, (Without<Other>, Without<Frozen>)>().unwrap();
    let e = world.spawn((A(1), B(2), C(3), D(4))).id();
    world.spawn((A(5), B(6), C(7), D(8), Frozen));
    assert_eq!(ba.slices(&world), (&[B(2)][..], &[A(1)][..]), "each as it was named");
    assert_eq!(ba.iter(&world).next(), Some((e, (&B(2), &A(1)), (&D(4), &C(3)))));
    assert_eq!(ab.iter(&world).next(), Some((e, (&A(1), &B(2)), (&C(3), &D(4)))));
    world.ungroup(ba).unwrap();
    assert!(!ab.exists(&world), "there was one group");
    world.check().unwrap();
}

// A mask of 64 bits tells which groups name a set: more than 64 groups share bits.
#[test]
fn more_groups_than_a_mask_has_bits_stay_right() {
    macro_rules! groups {
        ($world:ident: $($n:literal)*) => { vec![$({
            let free = $world.group::<Own<()>, Get<(A, B)>, Without<Number<$n>>>().unwrap();
            let other = $world.group::<Own<()>, Get<(A, C)>, Without<Number<$n>>>().unwrap();
            (free.len(&$world), other.len(&$world))
        }),*] };
    }
    let mut world = World::new();
    let ids: Vec<Entity> = (0..20).map(|n| world.spawn((A(n), B(n))).id()).collect();
    let lens = groups!(world: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29
        30 31 32 33 34 35 36 37 38 39);
    assert_eq!(lens, vec![(20, 0); 40]);
    let owner = world.group::<Own<(A,)>, Get<()>, Without<D>>().unwrap();
    for (n, &e) in ids.iter().enumerate() {
        match n % 5 {
            0 => world.remove::<B>(e).unwrap(),
            1 => world.insert(e, C(1)).unwrap(),
            2 => world.insert(e, (C(1), D(1))).unwrap(),
            3 => world.insert(e, (Number::<7>, Number::<39>)).unwrap(),
            _ => drop(world.take::<A>(e)),
        }
        world.check().unwrap();
    }
    assert_eq!(owner.len(&world), 12);
    ids.iter().step_by(2).for_each(|&e| _ = world.despawn(e));
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
fn removing_one_of_two_excluded_components_admits_no_entity() {
    let mut world = World::new();
    let group = world.group::<Own<(A,)>, Get<()>, (Without<Frozen>, Without<D>)>().unwrap();
    let e = world.spawn((A(1), Frozen, D(1))).id();
    world.remove::<Frozen>(e).unwrap();
    assert!(!group.contains(&world, e));
    world.remove::<D>(e).unwrap();
    assert!(group.contains(&world, e));
}

/// What a group has to yield, found the slow way.
fn naive(world: &World, wanted: impl Fn(&World, Entity) -> bool) -> Vec<Entity> {
    let mut found: Vec<Entity> = world.entities().iter().filter(|&e| wanted(world, e)).collect();
    found.sort_unstable();
    found
}

fn sorted(mut entities: Vec<Entity>) -> Vec<Entity> {
    entities.sort_unstable();
    entities
}

// Hazard 43, E-023, E-024.
#[test]
fn random_histories_keep_every_group_right() {
    let steps = model_steps(2_000, 4_000) as u64;
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
    let mut ba: Option<Group<Own<(B, A)>, Get<()>, Without<Frozen>>> = None;
    let mut cd = None;
    let mut free = None;
    let mut pinned = None;
    let mut dissolved: Vec<Ab> = Vec::new();
    for step in 0..steps {
        let n = u32::try_from(step % 1000).unwrap();
        let e = if ids.is_empty() {
            Entity::PLACEHOLDER
        } else {
            ids[usize::try_from(roll(ids.len() as u64)).unwrap()]
        };
        // Dead entities are met as well: their operations fail and change nothing.
        match roll(30) {
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
            19 if roll(6) == 0 => {
                if let Some(group) = ab.take() {
                    world.ungroup(group).unwrap();
                    dissolved.push(group);
                    // The same group, or another one, may get its place.
                    ba = None;
                }
            }
            20 if roll(40) == 0 => world.clear_entities(),
            21 => {
                // With the names in another order: the same group, or, where there is none, a new one.
                ba = world.group().ok();
                ab = ab.or_else(|| world.group().ok());
            }
            22 => drop(world.insert(e, (Pinned(n), B(n)))),
            23 => drop(world.remove::<Pinned>(e)),
            24 => pinned = pinned.or_else(|| world.group::<Own<(D,)>, Get<(Pinned,)>, Without<C>>().ok()),
            25 if roll(5) == 0 => drop(pinned.take().map(|group| world.ungroup(group))),
            26 => {
                let mut set = world.sparse_mut::<B>();
                drop(if roll(2) == 0 { set.insert(e, B(n)) } else { set.remove(e) });
            }
            27 => drop(world.sparse_mut::<Pinned>().compact()),
            28 => drop(world.despawn_batch(ids.iter().copied().filter(|e| e.index() % 64 == n % 64))),
            _ => drop(world.drop_empty_archetypes()),
        }
        if let Err(error) = world.check() {
            panic!("step {step}: {error}");
        }
        assert!(dissolved.iter().all(|group| !group.exists(&world)), "step {step}");
        if let Some(group) = ab {
            let wanted = |world: &World, e| {
                world.get::<A>(e).is_some()
                    && world.get::<B>(e).is_some()
                    && !world.entity(e).contains::<Frozen>()
            };
            assert_eq!(sorted(group.entities(&world).to_vec()), naive(&world, wanted), "step {step}");
            for (e, (a, b), ()) in group.iter(&world) {
                assert_eq!((world.get::<A>(e), world.get::<B>(e)), (Some(a), Some(b)), "step {step}");
            }
            if let Some(ba) = ba {
                let (b, a) = ba.slices(&world);
                assert_eq!(group.slices(&world), (a, b), "step {step}: one group under two names");
            }
        }
        if let Some(group) = pinned {
            for (e, (d,), (pin,)) in group.iter(&world) {
                assert_eq!((world.get::<D>(e), world.get::<Pinned>(e)), (Some(d), Some(pin)), "step {step}");
            }
            group.iter_mut(&mut world).for_each(|(_, (mut d,), (mut pin,))| (d.0, pin.0) = (n, n));
        }
        if let Some(group) = free {
            for (e, (), (b, d)) in group.iter(&world) {
                assert_eq!((world.get::<B>(e), world.get::<D>(e)), (Some(b), Some(d)), "step {step}");
            }
        }
    }
}
