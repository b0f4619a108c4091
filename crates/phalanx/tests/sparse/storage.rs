//! Components in sparse sets: what they share with table components, and what they spare.
//!
//! Adding and removing moves no row and makes no archetype; queries find sparse and table components alike,
//! in the order their plan documents.
#![allow(missing_docs, clippy::unwrap_used)]

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Stun(f32);

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", layout = "soa")]
struct Burn {
    dps: f32,
    by: String,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse", track = "row")]
struct Mark;

#[derive(Component, Clone, Debug, Default, PartialEq)]
#[component(storage = "sparse")]
struct Aura(u8);

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Aura(7))]
struct Mage;

#[derive(Component, Clone, Copy)]
struct Table<const N: usize>(#[allow(dead_code)] u64);

fn burn() -> Burn {
    Burn { dps: 2.0, by: "fire".to_owned() }
}

fn hundred() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let ids: Vec<Entity> =
        (0u8..100).map(|i| world.spawn(Position { x: f32::from(i), y: 0.0 }).id()).collect();
    ids.iter().step_by(3).for_each(|&e| world.insert(e, Stun(1.0)).unwrap());
    ids.iter().step_by(10).for_each(|&e| world.insert(e, burn()).unwrap());
    world.check().unwrap();
    (world, ids)
}

// E-001, E-011, E-080.
#[test]
fn sparse_components_of_ten_thousand_entities_touch_no_table() {
    let mut world = World::new();
    let ten = (Table::<0>(0), Table::<1>(0), Table::<2>(0), Table::<3>(0), Table::<4>(0));
    let more = (Table::<5>(0), Table::<6>(0), Table::<7>(0), Table::<8>(0), Table::<9>(0));
    let ids: Vec<Entity> = world.spawn_batch((0..10_000).map(|_| (ten, more))).collect();
    let (archetypes, moves) = (world.archetypes().len(), world.stats().moves);
    let before = world.read_change_tick();
    world.increment_change_tick();
    for &e in &ids {
        world.insert(e, Stun(1.0)).unwrap();
    }
    assert_eq!(world.sparse::<Stun>().len(), 10_000);
    for &e in &ids {
        world.remove::<Stun>(e).unwrap();
    }
    assert_eq!((world.archetypes().len(), world.stats().moves), (archetypes, moves));
    assert!(world.sparse::<Stun>().is_empty());
    // No block of any column was written, and no row came, went or moved.
    let touched = world.view::<(&Table<0>, &Table<9>)>().chunks_changed_since(before).count();
    assert_eq!(touched, 0);
    assert_eq!(world.view::<&Table<5>>().chunks_changed_since(before).count(), 0);
    world.check().unwrap();
}

/// How often pages are asked while `f` runs; always none where nothing is counted.
fn lookups<R>(f: impl FnOnce() -> R) -> (R, u64) {
    let asked = || phalanx_store::page_lookups_for_tests().map_or(0, |(checked, direct)| checked + direct);
    let before = asked();
    let result = f();
    (result, asked() - before)
}

/// As `lookups`, and how many rows and entries of sets are looked at in any other way.
fn looked_at<R>(f: impl FnOnce() -> R) -> (R, u64) {
    let rows = || phalanx_store::rows_looked_at_for_tests().unwrap_or(0);
    let before = rows();
    let (result, asked) = lookups(f);
    (result, asked + rows() - before)
}

// E-011: a search through the rows of a set, or through its pages, would look at more in the larger one.
#[test]
fn adding_and_removing_touch_as_much_in_a_large_set_as_in_a_small_one() {
    let mut asked = Vec::new();
    for len in [10, 10_000] {
        let mut world = World::new();
        let ids: Vec<Entity> = (0..len).map(|_| world.spawn(Stun(0.0)).id()).collect();
        let late = world.spawn_empty().id();
        let order = |world: &World| world.sparse::<Stun>().entities().to_vec();
        let before = order(&world);
        let ((), adding) = looked_at(|| world.insert(late, Stun(1.0)).unwrap());
        let with = order(&world);
        assert_eq!((&with[..before.len()], &with[before.len()..]), (&before[..], &[late][..]));
        let ((), removing) = looked_at(|| world.remove::<Stun>(ids[len / 2]).unwrap());
        let without = order(&world);
        let moved: Vec<usize> = (0..without.len()).filter(|&at| with[at] != without[at]).collect();
        assert_eq!((moved, without.len()), (vec![len / 2], len), "one row fills the gap");
        // Nor does it matter how many other entities there are: as many rows and entries are looked at.
        asked.push((adding, removing));
    }
    assert_eq!(asked[0], asked[1]);
    if cfg!(debug_assertions) {
        assert!(asked[0].0 > 0 && asked[0].1 > 0, "{asked:?}: counted");
    }
}

// E-017.
#[test]
fn each_candidate_is_looked_up_once_in_each_other_set() {
    let mut world = World::new();
    for n in 0..500_u16 {
        let e = world.spawn(Stun(f32::from(n))).id();
        if n % 5 == 0 {
            world.insert(e, (Aura(1), burn())).unwrap();
        } else if n % 5 == 1 {
            world.insert(e, Aura(2)).unwrap();
        }
    }
    // 100 have `Burn`, 200 `Aura`, 500 `Stun`: the smallest leads, and asks one or two others about each.
    let (pairs, asked) = lookups(|| world.view::<(&Stun, &Burn)>().iter().count());
    let (triples, asked_more) = lookups(|| world.view::<(&Stun, &Burn, &Aura)>().iter().count());
    assert_eq!((pairs, triples), (100, 100));
    if cfg!(debug_assertions) {
        assert_eq!((asked, asked_more), (100, 200));
    }
}

// E-002..E-009, E-012.
#[test]
fn adding_appends_and_removing_swaps_and_pops_in_all_three_arrays() {
    let mut world = World::new();
    let ids: Vec<Entity> = (0u8..5).map(|n| world.spawn((Table::<0>(u64::from(n)), Aura(n))).id()).collect();
    let state = |world: &World| {
        let set = world.sparse::<Aura>();
        let rows: Vec<(Entity, u8)> =
            set.entities().iter().copied().zip(set.slice().unwrap().iter().map(|aura| aura.0)).collect();
        for (row, &(e, value)) in rows.iter().enumerate() {
            assert_eq!((set.index_of(e), set.get(e)), (Some(row), Some(&Aura(value))));
        }
        world.check().unwrap();
        rows
    };
    assert_eq!(state(&world), [(ids[0], 0), (ids[1], 1), (ids[2], 2), (ids[3], 3), (ids[4], 4)]);
    world.remove::<Aura>(ids[1]).unwrap();
    assert_eq!(state(&world), [(ids[0], 0), (ids[4], 4), (ids[2], 2), (ids[3], 3)]);
    assert_eq!(world.sparse::<Aura>().index_of(ids[1]), None, "its sparse slot is empty");
    world.remove::<Aura>(ids[3]).unwrap();
    assert_eq!(state(&world), [(ids[0], 0), (ids[4], 4), (ids[2], 2)], "the last one leaves no gap");
    world.insert(ids[1], Aura(9)).unwrap();
    assert_eq!(state(&world), [(ids[0], 0), (ids[4], 4), (ids[2], 2), (ids[1], 9)]);
    world.insert(ids[4], Aura(5)).unwrap();
    assert_eq!(state(&world)[1], (ids[4], 5), "replaced in place");
}

#[test]
fn a_set_is_sorted_by_key_and_patched_in_place() {
    let mut world = World::new();
    let ids: Vec<Entity> = [3u8, 1, 2, 1].map(|n| world.spawn(Aura(n)).id()).to_vec();
    world.sparse_mut::<Aura>().sort_by_key(|aura| std::cmp::Reverse(aura.0)).unwrap();
    assert_eq!(
        world.sparse::<Aura>().entities(),
        [ids[0], ids[2], ids[1], ids[3]],
        "equal keys keep their order"
    );
    world.sparse_mut::<Aura>().sort_unstable_by_key(|aura| aura.0).unwrap();
    assert_eq!(world.sparse::<Aura>().slice().unwrap(), [Aura(1), Aura(1), Aura(2), Aura(3)]);
    world.sparse_mut::<Aura>().sort_by(|a, b| b.0.cmp(&a.0)).unwrap();
    assert_eq!(world.sparse::<Aura>().slice().unwrap(), [Aura(3), Aura(2), Aura(1), Aura(1)]);
    world.patch::<Aura>(ids[0], |mut aura| aura.0 = 30).unwrap();
    world.sparse_mut::<Aura>().get_mut(ids[2]).unwrap().0 = 20;
    assert_eq!(world.sparse::<Aura>().iter().map(|(_, aura)| aura.0).collect::<Vec<_>>(), [30, 20, 1, 1]);
    for &e in &ids {
        world.insert(e, Stun(f32::from(world.get::<Aura>(e).unwrap().0))).unwrap();
    }
    world.sparse_mut::<Stun>().sort_as::<Aura>().unwrap();
    assert_eq!(world.sparse::<Stun>().entities(), world.sparse::<Aura>().entities());
    // The last of many goes to the front, and the first of many to the back: each row moves at most once.
    for first in [0u8, 255] {
        let mut world = World::new();
        world.spawn_batch((1..=250).map(Aura));
        let e = world.spawn(Aura(first)).id();
        world.sort_by::<Aura>(|a, b| a.0.cmp(&b.0)).unwrap();
        assert!(world.sparse::<Aura>().slice().unwrap().is_sorted_by_key(|aura| aura.0));
        assert_eq!(world.sparse::<Aura>().index_of(e), Some(if first == 0 { 0 } else { 250 }));
        world.check().unwrap();
    }
    world.check().unwrap();
}

// E-014..E-018.
#[test]
fn queries_join_sets_and_tables() {
    let (mut world, ids) = hundred();
    assert_eq!(world.view::<&Stun>().count(), 34);
    assert_eq!(world.view::<(&Stun, &Burn)>().count(), 4);
    assert_eq!(world.view_filtered::<&Position, (With<Stun>, Without<Burn>)>().count(), 30);
    assert_eq!(world.view_filtered::<Entity, Or<(With<Stun>, With<Burn>)>>().count(), 40);
    assert_eq!(world.view_filtered::<Entity, Or<(With<Stun>, With<Burn>)>>().count(), 40);
    let both = world.view::<(Option<&Burn>, Has<Stun>)>();
    assert_eq!(both.iter().filter(|(burn, stunned)| burn.is_some() && *stunned).count(), 4);
    for (position, mut stun) in world.view_mut::<(&mut Position, &mut Stun)>() {
        *position.x += stun.0;
        stun.0 = 5.0;
    }
    for dps in world.view_mut::<&mut burn::dps>() {
        *dps = 9.0;
    }
    assert_eq!(world.get::<Burn>(ids[0]).unwrap().get(), Burn { dps: 9.0, ..burn() });
    assert_eq!(world.get::<Stun>(ids[3]), Some(&Stun(5.0)));
    assert_eq!(world.view::<&Stun>().get(ids[3]), Ok(&Stun(5.0)));
    assert!(world.view::<&Stun>().get(ids[1]).is_err());
    let mut seen = world.view::<(Entity, &Burn, &Position)>().iter().map(|(e, ..)| e).collect::<Vec<_>>();
    assert_eq!(seen, world.sparse::<Burn>().entities(), "the smallest set leads");
    seen.sort_unstable();
    assert_eq!(seen, ids.iter().copied().step_by(10).collect::<Vec<_>>());
    let visits = std::sync::atomic::AtomicUsize::new(0);
    world.view_mut::<(&mut Stun, &Position)>().par_iter_mut().small_below(0).for_each(|(mut stun, _)| {
        stun.0 = 0.0;
        visits.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(visits.into_inner(), 34);
    assert!(world.view::<(&Stun, &Position)>().explain().contains("sparse set"));
}

// E-010, E-039.
#[test]
fn despawning_and_clearing_leave_every_set() {
    let (mut world, ids) = hundred();
    assert!(world.despawn(ids[0]));
    assert_eq!((world.sparse::<Stun>().len(), world.sparse::<Burn>().len()), (33, 9));
    // Hazard 45: the index is used again, the old id finds nothing.
    let again = world.spawn(Stun(3.0)).id();
    assert_eq!(again.index(), ids[0].index());
    assert!(!world.sparse::<Stun>().contains(ids[0]) && world.sparse::<Stun>().contains(again));
    world.check().unwrap();
    world.clear_entities();
    world.check().unwrap();
    assert!(world.sparse::<Stun>().is_empty() && world.view::<&Stun>().is_empty());
}

#[test]
fn rowless_entities_can_carry_sparse_components() {
    let mut world = World::new();
    let e = world.spawn_empty().id();
    world.insert(e, Stun(7.0)).unwrap();
    assert_eq!(world.view::<(Entity, &Stun)>().single(), Ok((e, &Stun(7.0))));
    assert!(!world.is_orphan(e) && world.all_of::<Stun>(e) && !world.any_of::<(Burn, Position)>(e));
    world.entity_mut(e).clear();
    assert!(world.is_orphan(e));
    world.check().unwrap();
}

#[test]
fn bundles_batches_and_commands_treat_them_like_any_other() {
    let mut world = World::new();
    let ids: Vec<Entity> =
        world.spawn_batch((0u8..50).map(|i| (Position { x: 0.0, y: 0.0 }, Aura(i)))).collect();
    assert_eq!(world.get::<Aura>(ids[9]), Some(&Aura(9)));
    assert_eq!(world.take::<(Aura, Position)>(ids[9]), Some((Aura(9), Position { x: 0.0, y: 0.0 })));
    assert_eq!(world.take::<(Aura, Position)>(ids[9]), None);
    world.entity_mut(ids[1]).insert_if_new(Aura(99)).insert(Stun(1.0)).retain::<Aura>();
    assert_eq!((world.get::<Aura>(ids[1]), world.get::<Stun>(ids[1])), (Some(&Aura(1)), None));
    let mage = world.spawn(Mage).id();
    assert_eq!(world.get::<Aura>(mage), Some(&Aura(7)), "required");
    let later = world.commands().spawn((Stun(2.0), Mage)).id();
    world.commands().entity(ids[2]).insert(Stun(3.0)).remove::<Aura>();
    world.flush();
    assert_eq!((world.get::<Stun>(later), world.get::<Aura>(later)), (Some(&Stun(2.0)), Some(&Aura(7))));
    assert_eq!((world.get::<Stun>(ids[2]), world.get::<Aura>(ids[2])), (Some(&Stun(3.0)), None));
    world.check().unwrap();
}

#[test]
fn row_ticks_of_sparse_components_are_kept() {
    let mut world = World::new();
    let e = world.spawn(Mark).id();
    assert_eq!(world.view_filtered::<Entity, Added<Mark>>().count(), 1);
    world.clear_trackers();
    assert_eq!(world.view_filtered::<Entity, Added<Mark>>().count(), 0);
    world.get_mut::<Mark>(e).unwrap().set_changed();
    assert_eq!(world.view_filtered::<Entity, Changed<Mark>>().count(), 1);
}

// E-037..E-040.
#[test]
fn a_high_index_costs_one_page_and_its_row() {
    let mut world = World::new();
    let last = world.spawn_batch((0..1_000_001).map(|_| ())).last().unwrap();
    assert_eq!(last.index(), 1_000_000);
    world.insert(last, Aura(1)).unwrap();
    let stats = world.stats();
    let set = stats.sets.iter().find(|set| set.component.ends_with("Aura")).unwrap();
    assert_eq!((set.entities, set.pages), (1, 1));
    // One page of 1,024 entries of 8 bytes, and a list of at most twice 977 page pointers.
    assert!(set.page_bytes <= 1024 * 8 + 2 * 977 * 8, "{set:?}");
    assert!(set.row_bytes <= 8 * (8 + 1) + 64, "{set:?}");
    world.remove::<Aura>(last).unwrap();
    world.shrink_to_fit();
    let set = world.stats().sets.into_iter().find(|set| set.component.ends_with("Aura")).unwrap();
    assert_eq!((set.pages, set.page_bytes, set.row_bytes), (0, 0, 0));
}

// E-013. Hazard 44.
#[test]
fn a_set_can_be_sorted_swapped_and_ordered_like_another() {
    let mut world = World::new();
    let ids: Vec<Entity> =
        [3u8, 1, 2, 0].iter().map(|&n| world.spawn((Aura(n), Stun(f32::from(n)))).id()).collect();
    world.sort_by::<Aura>(|a, b| a.0.cmp(&b.0)).unwrap();
    assert_eq!(world.sparse::<Aura>().slice().unwrap(), [Aura(0), Aura(1), Aura(2), Aura(3)]);
    assert_eq!(world.sparse::<Aura>().entities(), [ids[3], ids[1], ids[2], ids[0]]);
    world.sort_as::<Stun, Aura>().unwrap();
    assert_eq!(world.sparse::<Stun>().entities(), world.sparse::<Aura>().entities());
    assert!(world.sparse_mut::<Stun>().swap(0, 3).unwrap());
    assert!(!world.sparse_mut::<Stun>().swap(0, 4).unwrap());
    assert_eq!(world.sparse::<Stun>().index_of(ids[0]), Some(0));
    world.sparse_mut::<Stun>().slice_mut().unwrap()[0].0 = 9.0;
    assert_eq!(world.get::<Stun>(ids[0]), Some(&Stun(9.0)));
    world.check().unwrap();
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = world.sort_by::<Aura>(|_, _| panic!("cannot compare"));
    }));
    assert!(panics.is_err());
    world.check().unwrap();
}
