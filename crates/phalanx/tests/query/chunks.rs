//! Proves iteration by table: equally long slices, one set per table that has rows, and skipping by block.
//!
//! A chunk holds what the rows of one table hold, field by field where the component is kept so, and tells
//! its entities. `chunks_changed_since` may only leave out blocks in which nothing was written, came, went
//! or moved: anything else would hide a change.

use crate::common::cast::{
    Armour, Boss, Burning, Frozen, Health, Label, Name, Position, Quiet, Slot, Stunned, Velocity, label,
    name, position,
};
use phalanx::prelude::{Entity, Has, Or, Query, Ref, Tick, With, Without, World};
use phalanx::query::{ArchetypeFilter, QueryData};

const BLOCK: u32 = 1_024;

/// Three tables with rows, one without, and two entities without components.
fn scene() -> World {
    let mut world = World::new();
    world.spawn_empty();
    let gone = world.spawn((Health(0), position(0.0), Boss)).id();
    world.spawn_batch((0..5_u8).map(|n| (Health(n.into()), position(n.into()))));
    world.spawn_batch((5..8_u8).map(|n| (Health(n.into()), position(n.into()), Frozen)));
    world.spawn((Health(8), Burning));
    world.spawn_empty();
    world.despawn(gone);
    world
}

// O-185, O-186, Z-059, Z-062: slices of the tables that have rows, in the order of the rows.
#[test]
fn chunks_are_equally_long_slices_of_every_table_with_rows() {
    let world = scene();
    let query = world.view::<(Entity, &Health, &Position)>();
    let mut rows = query.iter();
    let mut lens = Vec::new();
    for (ids, healths, positions) in query.chunks() {
        assert_eq!((healths.len(), positions.x.len(), positions.y.len()), (ids.len(), ids.len(), ids.len()));
        assert_eq!((positions.len(), positions.is_empty()), (ids.len(), false));
        for at in 0..ids.len() {
            let (id, health, pos) = rows.next().expect("as many rows as chunks hold");
            assert_eq!((ids[at], &healths[at]), (id, health));
            assert_eq!((&positions.x[at], &positions.y[at]), (pos.x, pos.y));
        }
        lens.push(ids.len());
    }
    assert_eq!(lens, [5, 3], "the table without rows is not visited");
    assert!(rows.next().is_none());
}

// O-189.
#[test]
fn chunks_mut_write_in_place() {
    let mut world = scene();
    for (positions, healths) in world.view_mut::<(&mut Position, &mut Health)>().chunks_mut() {
        for (at, health) in healths.iter_mut().enumerate() {
            positions.x[at] += positions.y[at] + 1.0;
            health.0 += 100;
        }
    }
    assert!(world.view::<&Position>().into_iter().all(|pos| *pos.x == 1.0));
    let healths: Vec<u32> = world.view::<&Health>().into_iter().map(|health| health.0).collect();
    assert_eq!(healths, [100, 101, 102, 103, 104, 105, 106, 107, 8]);
}

#[test]
fn single_fields_are_plain_slices() {
    use crate::common::cast::position as field;
    let mut world = scene();
    for xs in world.view_mut::<&mut field::x>().chunks_mut() {
        xs.fill(3.0);
    }
    for (xs, ys) in world.view_filtered_mut::<(&field::x, &mut field::y), With<Frozen>>().chunks_mut() {
        ys.copy_from_slice(xs);
    }
    let sums: Vec<f32> = world.view::<&Position>().into_iter().map(|pos| *pos.x + *pos.y).collect();
    assert_eq!(sums, [3.0, 2.0, 1.0, 0.0, -1.0, 6.0, 6.0, 6.0]);
}

#[test]
fn optional_data_and_presence_are_told_once_per_chunk() {
    let world = scene();
    let query = world.view::<(&Health, Option<&Position>, Has<Frozen>, Option<&Name>)>();
    let seen: Vec<_> = query
        .chunks()
        .map(|(healths, positions, frozen, names)| {
            (healths.len(), positions.map(|positions| positions.len()), frozen, names.is_some())
        })
        .collect();
    assert_eq!(seen, [(5, Some(5), false, false), (3, Some(3), true, false), (1, None, false, false)]);
}

#[test]
fn every_kind_of_component_has_slices() {
    let mut world = World::new();
    world.spawn_batch((0..3_u8).map(|n| {
        let text = n.to_string();
        ((name(&text), Slot([n; 4]), Quiet(n.into())), (Armour(n.into()), label(&text), Stunned, Frozen))
    }));
    let query = world.view::<(
        (&Name, &Slot<u8, 4>, &Quiet),
        (&Armour, &Label, &Stunned, &Frozen),
        (Ref<Armour>, Option<Ref<Label>>),
    )>();
    let mut chunks = query.chunks();
    let ((names, slots, quiet), (armour, labels, stunned, frozen), (armour_ref, label_ref)) =
        chunks.next().expect("one table");
    assert_eq!(names, ["0", "1", "2"].map(name));
    assert_eq!((slots, quiet), (&[0, 1, 2].map(|n| Slot([n; 4]))[..], &[0, 1, 2].map(Quiet)[..]));
    assert_eq!(armour, [0, 1, 2].map(Armour));
    assert_eq!((labels.text.len(), labels.size), (3, &[1, 1, 1][..]));
    assert_eq!((stunned.len(), frozen.len()), (3, 3), "tags have slices, without memory");
    assert_eq!(
        (armour_ref.0, armour_ref.1, armour_ref.2),
        (armour, &[world.read_change_tick(); 3][..], &[world.read_change_tick(); 3][..])
    );
    assert_eq!(
        label_ref.map(|(labels, added, changed)| (labels.len(), added.len(), changed.len())),
        Some((3, 3, 3))
    );
    assert!(chunks.next().is_none());
}

// The promise behind vectorised loops: column data is aligned to 64 bytes, after growth too.
#[test]
fn slices_begin_at_cache_lines() {
    let mut world = World::new();
    let aligned = |query: &Query<'_, '_, (&Position, &Health, &Slot<u8, 3>)>| {
        for (positions, healths, slots) in query.chunks() {
            for at in [
                positions.x.as_ptr().addr(),
                positions.y.as_ptr().addr(),
                healths.as_ptr().addr(),
                slots.as_ptr().addr(),
            ] {
                assert_eq!(at % 64, 0);
            }
        }
        query.count()
    };
    for rows in [1, 8, 9, 1_024, 1_025, 3_000] {
        while aligned(&world.view()) < rows {
            world.spawn((position(1.0), Health(1), Slot([1_u8; 3])));
        }
    }
}

#[test]
fn tables_tell_entities_slices_and_rows() {
    let mut world = scene();
    let by_rows: Vec<(Entity, u32)> =
        world.view::<(Entity, &Health)>().into_iter().map(|(id, health)| (id, health.0)).collect();
    let query = world.view::<&Health>();
    let mut by_tables = Vec::new();
    for table in query.tables() {
        assert!(!table.is_empty());
        let (ids, len) = (table.entities(), table.len());
        let mut rows = table.rows();
        assert_eq!((rows.len(), rows.size_hint()), (len, (len, Some(len))));
        by_tables.extend(ids.iter().zip(rows.by_ref()).map(|(&id, health)| (id, health.0)));
        assert_eq!(rows.len(), 0);
    }
    assert_eq!(by_tables, by_rows);
    let mut by_slices = Vec::new();
    for table in query.tables() {
        let ids = table.entities();
        by_slices.extend(ids.iter().zip(table.slices()).map(|(&id, health)| (id, health.0)));
    }
    assert_eq!(by_slices, by_rows);
    let mut query = world.view_mut::<&mut Health>();
    for table in query.tables_mut() {
        table.rows().for_each(|mut health| health.0 += 1);
    }
    for table in query.into_tables() {
        for mut health in table.rows() {
            health.0 += 1;
        }
    }
    let after: Vec<u32> = world.view::<&Health>().into_iter().map(|health| health.0).collect();
    assert_eq!(after, by_rows.iter().map(|(_, health)| health + 2).collect::<Vec<_>>());
}

#[test]
fn rows_of_a_table_fold_from_the_middle() {
    let mut world = World::new();
    world.spawn_batch((0..10).map(Health));
    let query = world.view::<&Health>();
    for taken in 0..=11 {
        let table = query.tables().next().expect("one table");
        let mut rows = table.rows();
        let mut seen: Vec<u32> = rows.by_ref().take(taken).map(|health| health.0).collect();
        rows.for_each(|health| seen.push(health.0));
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
    }
}

// Documented in `query.rs`: entities without components come last, each by itself.
#[test]
fn entities_without_components_are_chunks_of_one() {
    let world = scene();
    let query = world.view::<(Entity, Option<&Health>, Has<Frozen>)>();
    let lens: Vec<(usize, bool)> =
        query.chunks().map(|(ids, healths, _)| (ids.len(), healths.is_some())).collect();
    assert_eq!(lens, [(5, true), (3, true), (1, true), (1, false), (1, false)]);
    let by_rows: Vec<Entity> = query.iter().map(|(id, ..)| id).collect();
    let by_tables: Vec<Entity> = query.tables().flat_map(|table| table.entities().to_vec()).collect();
    let by_slices: Vec<Entity> = query.chunks().flat_map(|(ids, ..)| ids.to_vec()).collect();
    assert_eq!((by_tables, by_slices), (by_rows.clone(), by_rows));
}

#[test]
fn filters_on_archetypes_choose_whole_chunks() {
    fn lens<F: ArchetypeFilter + 'static>(world: &World) -> Vec<usize> {
        world.view_filtered::<Entity, F>().chunks().map(<[Entity]>::len).collect()
    }
    let world = scene();
    assert_eq!(lens::<With<Frozen>>(&world), [3]);
    assert_eq!(lens::<Without<Frozen>>(&world), [5, 1, 1, 1]);
    assert_eq!(lens::<(With<Health>, Without<Frozen>)>(&world), [5, 1]);
    assert_eq!(lens::<Or<(With<Frozen>, With<Burning>)>>(&world), [3, 1]);
    assert_eq!(lens::<Or<(With<Burning>, With<Boss>)>>(&world), [1]);
    assert_eq!(lens::<With<Boss>>(&world), [0; 0]);
}

#[test]
fn the_number_of_chunks_is_bounded_by_the_hint() {
    let world = scene();
    let query = world.view::<Entity>();
    let mut chunks = query.chunks();
    let mut left = query.chunks().count();
    loop {
        let (least, most) = chunks.size_hint();
        assert!(least <= left && most.is_some_and(|most| most >= left), "{least} {most:?} for {left}");
        if chunks.next().is_none() {
            break;
        }
        left -= 1;
    }
    assert!(chunks.next().is_none(), "an end stays an end");
}

// O-182, O-183, O-184: what a callback per table would get, without a callback.
#[test]
fn tables_are_visited_once_each_and_empty_ones_not_at_all() {
    let mut world = scene();
    world.reserve_rows::<(Health, Name)>(100);
    let mut calls = 0;
    world.view_mut::<&mut Health>().tables_mut().for_each(|table| {
        assert!(!table.is_empty());
        calls += 1;
    });
    assert_eq!(calls, 3);
    let all: Vec<Entity> = world.view::<Entity>().into_iter().collect();
    world.despawn_batch(all);
    assert_eq!(world.view::<&Health>().tables().count(), 0);
}

/// The first row of each block that a query has seen change.
fn changed<D: QueryData + 'static>(world: &mut World, since: Tick) -> Vec<(usize, usize)> {
    let query = world.view_mut::<D>();
    let firsts: Vec<Vec<Entity>> = query.tables().map(|table| table.entities().to_vec()).collect();
    query
        .chunks_changed_since(since)
        .map(|block| {
            let (first, len) = (block.entities()[0], block.len());
            let at = firsts.iter().find_map(|table| table.iter().position(|&id| id == first));
            let at = at.expect("a block is a part of a table");
            assert!(at.is_multiple_of(BLOCK as usize) && len <= BLOCK as usize, "{at}, {len}");
            (at / BLOCK as usize, len)
        })
        .collect()
}

fn three_blocks() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let ids = world
        .spawn_batch(
            (0..2 * BLOCK + 10).map(|n| (Health(n), Velocity::default(), Quiet(n), Armour(n), Frozen)),
        )
        .collect();
    world.increment_change_tick();
    (world, ids)
}

#[test]
fn nothing_changed_is_no_block_and_everything_new_is_every_block() {
    let (mut world, _) = three_blocks();
    let all = [(0, 1_024), (1, 1_024), (2, 10)];
    assert_eq!(changed::<&Health>(&mut world, Tick::ZERO), all, "rows that came");
    assert_eq!(changed::<&Frozen>(&mut world, Tick::ZERO), all, "tags as well");
    assert_eq!(changed::<Entity>(&mut world, Tick::ZERO), all);
    let before = world.read_change_tick();
    assert_eq!(changed::<&Health>(&mut world, before), []);
    assert_eq!(changed::<Entity>(&mut world, before), []);
}

#[test]
fn a_write_changes_its_block_for_queries_that_use_its_column() {
    let (mut world, ids) = three_blocks();
    let before = world.read_change_tick();
    world.increment_change_tick();
    world.get_mut::<Health>(ids[1_500]).expect("alive").0 = 7;
    assert_eq!(changed::<&Health>(&mut world, before), [(1, 1_024)]);
    assert_eq!(changed::<(&Health, &Velocity)>(&mut world, before), [(1, 1_024)]);
    assert_eq!(changed::<Option<&Health>>(&mut world, before), [(1, 1_024)]);
    assert_eq!(changed::<&mut Health>(&mut world, before), [(1, 1_024)], "looking through it writes nothing");
    assert_eq!(changed::<&Velocity>(&mut world, before), [], "another column is as it was");
    assert_eq!(changed::<Entity>(&mut world, before), []);
    let now = world.read_change_tick();
    assert_eq!(changed::<&Health>(&mut world, now), [], "not after it");
}

#[test]
fn a_write_to_one_field_does_not_change_the_other() {
    use crate::common::cast::velocity as field;
    let (mut world, ids) = three_blocks();
    let before = world.read_change_tick();
    world.increment_change_tick();
    *world.get_mut::<field::x>(ids[2_050]).expect("alive") = 1.0;
    assert_eq!(changed::<&field::x>(&mut world, before), [(2, 10)]);
    assert_eq!(changed::<&Velocity>(&mut world, before), [(2, 10)]);
    assert_eq!(changed::<&field::y>(&mut world, before), []);
}

#[test]
fn every_way_of_writing_changes_blocks() {
    let ways: [(&str, fn(&mut World, &[Entity]), &[(usize, usize)]); 8] = [
        (
            "rows",
            |world, _| world.view_mut::<&mut Health>().into_iter().for_each(drop),
            &[(0, 1_024), (1, 1_024), (2, 10)],
        ),
        (
            "chunks",
            |world, _| world.view_mut::<&mut Health>().chunks_mut().for_each(drop),
            &[(0, 1_024), (1, 1_024), (2, 10)],
        ),
        (
            "get_mut",
            |world, ids| {
                world.view_mut::<&mut Health>().get_mut(ids[1_030]).expect("alive");
            },
            &[(1, 1_024)],
        ),
        (
            "get_many_mut",
            |world, ids| {
                world.view_mut::<&mut Health>().get_many_mut([ids[3], ids[2_049]]).expect("alive");
            },
            &[(0, 1_024), (2, 10)],
        ),
        (
            "iter_many_mut",
            |world, ids| {
                let mut query = world.view_mut::<&mut Health>();
                let mut rows = query.iter_many_mut([ids[2_049]]).matched();
                while rows.fetch_next().is_some() {}
            },
            &[(2, 10)],
        ),
        (
            "insert",
            |world, ids| {
                world.entity_mut(ids[1_030]).insert(Health(1));
            },
            &[(1, 1_024)],
        ),
        (
            "parallel",
            |world, _| world.view_mut::<&mut Health>().par_iter_mut().small_below(0).for_each(drop),
            &[(0, 1_024), (1, 1_024), (2, 10)],
        ),
        (
            "dynamic",
            |world, _| {
                let health = world.component_id::<Health>().expect("registered");
                let query = world.query_builder().with(health).build();
                query.for_each_table_mut(world, |mut table| {
                    table.column_mut::<Health>(health, "").expect("there").reverse();
                });
            },
            &[(0, 1_024), (1, 1_024), (2, 10)],
        ),
    ];
    for (way, write, expected) in ways {
        let (mut world, ids) = three_blocks();
        let before = world.read_change_tick();
        world.increment_change_tick();
        write(&mut world, &ids);
        assert_eq!(changed::<&Health>(&mut world, before), expected, "{way}");
        assert_eq!(
            changed::<&Velocity>(&mut world, before),
            if way == "insert" { expected } else { &[] },
            "{way}"
        );
    }
}

#[test]
fn rows_that_come_change_their_block() {
    let (mut world, _) = three_blocks();
    let before = world.read_change_tick();
    world.increment_change_tick();
    world.spawn((Health(1), Velocity::default(), Quiet(1), Armour(1), Frozen));
    assert_eq!(changed::<&Velocity>(&mut world, before), [(2, 11)]);
    let boss = world.spawn((Health(1), Velocity::default(), Quiet(1), Armour(1), Frozen, Boss)).id();
    assert_eq!(changed::<&Velocity>(&mut world, before), [(2, 11), (0, 1)], "in a table of their own too");
    world.increment_change_tick();
    let before = world.increment_change_tick();
    world.entity_mut(boss).remove::<Boss>();
    assert_eq!(changed::<&Velocity>(&mut world, before), [(2, 12)]);
}

#[test]
fn rows_that_go_change_the_block_they_leave_and_the_block_that_is_filled_up() {
    let (mut world, ids) = three_blocks();
    let before = world.read_change_tick();
    world.increment_change_tick();
    world.despawn(*ids.last().expect("many"));
    assert_eq!(changed::<&Velocity>(&mut world, before), [(2, 9)], "the last row");
    let before = world.read_change_tick();
    world.increment_change_tick();
    // The last row moves from the third block into the first.
    world.despawn(ids[5]);
    assert_eq!(changed::<&Velocity>(&mut world, before), [(0, 1_024), (2, 8)]);
    let before = world.read_change_tick();
    world.increment_change_tick();
    world.entity_mut(ids[1_025]).insert(Boss);
    assert_eq!(changed::<&Velocity>(&mut world, before), [(1, 1_024), (2, 7), (0, 1)]);
}

#[test]
fn untracked_components_change_only_with_their_rows() {
    let (mut world, ids) = three_blocks();
    let before = world.read_change_tick();
    world.increment_change_tick();
    world.view_mut::<&mut Quiet>().into_iter().for_each(|mut quiet| quiet.0 += 1);
    world.get_mut::<Quiet>(ids[0]).expect("alive").0 = 1;
    assert_eq!(changed::<&Quiet>(&mut world, before), []);
    world.spawn((Health(1), Velocity::default(), Quiet(1), Armour(1), Frozen));
    assert_eq!(changed::<&Quiet>(&mut world, before), [(2, 11)]);
}

#[test]
fn changed_blocks_give_their_rows_and_slices() {
    let (mut world, ids) = three_blocks();
    let before = world.read_change_tick();
    world.increment_change_tick();
    world.get_mut::<Health>(ids[2_055]).expect("alive").0 = 0;
    let query = world.view::<(Entity, &Health)>();
    let rows: Vec<(Entity, u32)> = query
        .chunks_changed_since(before)
        .flat_map(phalanx::query::QueryTable::rows)
        .map(|(id, health)| (id, health.0))
        .collect();
    let expected: Vec<(Entity, u32)> =
        (2_048..2_058_u32).zip(&ids[2_048..]).map(|(n, &id)| (id, if n == 2_055 { 0 } else { n })).collect();
    assert_eq!(rows, expected);
    for block in query.chunks_changed_since(before) {
        let (entities, (slice, healths)) = (block.entities(), block.slices());
        assert_eq!((entities, healths.len()), (slice, 10));
    }
}

#[test]
fn writers_of_changed_blocks_mark_only_those() {
    let (mut world, ids) = three_blocks();
    let before = world.read_change_tick();
    world.increment_change_tick();
    world.get_mut::<Health>(ids[2_055]).expect("alive").0 = 0;
    let first = world.read_change_tick();
    world.increment_change_tick();
    let mut query = world.view_mut::<&mut Health>();
    assert_eq!(query.chunks_changed_since_mut(first).count(), 0);
    for block in query.chunks_changed_since_mut(before) {
        block.slices().iter_mut().for_each(|health| health.0 += 1_000_000);
    }
    let rows =
        |found: &Query<'_, '_, &Health>| found.chunks_changed_since(first).map(|block| block.len()).sum();
    let found: Vec<usize> = vec![rows(&world.view::<&Health>())];
    assert_eq!(found, [10], "what was lent for writing is changed, and nothing else");
    let written = world.view::<&Health>().iter().filter(|health| health.0 >= 1_000_000).count();
    assert_eq!(written, 10);
}
