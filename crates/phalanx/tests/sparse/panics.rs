//! Hunts what a panic in the user's `Drop`, `Clone` or constructor leaves half done where a change has a table part
//! and sparse parts.
//!
//! Each operation runs with a panic at its first event, its second, and so on. Whatever panicked: values that are
//! dropped are dropped when table, sets and groups are all in their new state; values that cannot be made leave the
//! world as it was.
#![allow(missing_docs, clippy::unwrap_used)]

use crate::common::faults::{Run, inject};
use crate::common::ledger::{Event, Serial, happens};
use phalanx::archetype::ArchetypeId;
use phalanx::prelude::*;

macro_rules! parts {
    ($($(#[$attribute:meta])* $name:ident)*) => {$(
        #[derive(Component, Clone, Debug)]
        $(#[$attribute])*
        #[allow(dead_code, reason = "some are only dropped")]
        struct $name(u32, Serial);

        impl $name {
            fn new(n: u32) -> Self {
                Self(n, Serial::new())
            }
        }
    )*};
}
parts!(
    Table
    Other
    #[component(storage = "sparse")] Sparse
    #[component(storage = "sparse")] Second
    #[component(storage = "sparse", stable)] Stable
    #[component(storage = "sparse")] Needed
    #[component(storage = "sparse")] NeededToo
);

type Mixed = (Table, Sparse, Stable, Second);

fn mixed(n: u32) -> Mixed {
    (Table::new(n), Sparse::new(n), Stable::new(n), Second::new(n))
}

fn values(world: &World, e: Entity) -> [Option<u32>; 4] {
    let live = |serial: &Serial| assert!(serial.is_live(), "a value that was dropped is still there");
    [
        world.get::<Table>(e).map(|v| (live(&v.1), v.0).1),
        world.get::<Sparse>(e).map(|v| (live(&v.1), v.0).1),
        world.get::<Stable>(e).map(|v| (live(&v.1), v.0).1),
        world.get::<Second>(e).map(|v| (live(&v.1), v.0).1),
    ]
}

/// Three entities with all parts, and groups that watch them.
fn arrange(world: &mut World) -> Vec<Entity> {
    world.group::<Own<(Sparse,)>, Get<(Stable,)>, Without<Other>>().unwrap();
    world.group::<Own<()>, Get<(Second, Stable)>, ()>().unwrap();
    (0..3).map(|n| world.spawn((mixed(n), Other::new(n))).id()).collect()
}

#[track_caller]
fn others_are_untouched(world: &World, ids: &[Entity]) {
    for (n, &e) in (0..).zip(ids).filter(|&(n, _)| n != 1) {
        assert_eq!(values(world, e), [Some(n); 4]);
    }
}

#[test]
fn inserting_over_a_mixed_bundle_brings_every_part_whatever_the_old_ones_do() {
    let panics = inject(
        Event::Drop,
        arrange,
        |world, ids| world.insert(ids[1], mixed(9)).unwrap(),
        |world, ids, _| {
            assert_eq!(values(world, ids[1]), [Some(9); 4]);
            others_are_untouched(world, ids);
        },
    );
    assert_eq!(panics, 4, "four old values are dropped");
    // Keeping what is there drops the new values instead.
    let panics = inject(
        Event::Drop,
        arrange,
        |world, ids| {
            world.entity_mut(ids[1]).insert_if_new(mixed(9));
        },
        |world, ids, _| assert_eq!(values(world, ids[1]), [Some(1); 4]),
    );
    assert_eq!(panics, 4);
}

#[test]
fn removing_a_mixed_bundle_takes_every_part_whatever_their_drops_do() {
    let operations: [(&str, fn(&mut World, Entity), usize); 5] = [
        ("remove", |world, e| world.remove::<Mixed>(e).unwrap(), 4),
        ("retain", |world, e| world.retain::<Other>(e).unwrap(), 4),
        (
            "clear",
            |world, e| {
                world.entity_mut(e).clear();
            },
            5,
        ),
        (
            "despawn",
            |world, e| {
                world.despawn(e);
            },
            5,
        ),
        (
            "commands",
            |world, e| {
                world.commands().entity(e).remove::<Mixed>();
                world.flush();
            },
            4,
        ),
    ];
    for (name, operate, drops) in operations {
        let panics = inject(
            Event::Drop,
            arrange,
            |world, ids| operate(world, ids[1]),
            |world, ids, _| {
                assert_eq!(values(world, ids[1]), [None; 4], "{name}");
                assert_eq!(world.contains(ids[1]), name != "despawn");
                others_are_untouched(world, ids);
            },
        );
        assert_eq!(panics, drops, "{name}");
    }
}

#[test]
fn several_commands_on_one_entity_lose_nothing_to_a_sparse_drop() {
    let panics = inject(
        Event::Drop,
        arrange,
        |world, ids| {
            world.commands().entity(ids[1]).insert((Sparse::new(9), Stable::new(9))).remove::<Second>();
            world.flush();
        },
        |world, ids, _| {
            assert_eq!(values(world, ids[1]), [Some(1), Some(9), Some(9), None]);
            others_are_untouched(world, ids);
        },
    );
    assert_eq!(panics, 3);
    // The same with table parts that are replaced, replaced again, and removed.
    let panics = inject(
        Event::Drop,
        arrange,
        |world, ids| {
            let mut commands = world.commands();
            commands
                .entity(ids[1])
                .insert((Table::new(8), Sparse::new(8)))
                .insert((Sparse::new(9), Table::new(9)));
            commands.entity(ids[1]).remove::<(Other, Second)>().insert(Stable::new(9));
            world.flush();
        },
        |world, ids, _| {
            assert!(world.get::<Other>(ids[1]).is_none());
            assert_eq!(values(world, ids[1]), [Some(9), Some(9), Some(9), None]);
            others_are_untouched(world, ids);
        },
    );
    assert_eq!(panics, 7);
}

#[test]
fn a_clone_that_panics_leaves_every_entity_of_an_archetype_as_it_was() {
    for archetype_is_empty in [false, true] {
        let panics = inject(
            Event::Clone,
            |world: &mut World| {
                let ids: Vec<Entity> = (0..3u32)
                    .map(|n| {
                        let mut e = world.spawn_empty();
                        if !archetype_is_empty {
                            e.insert(Other::new(n));
                        }
                        e.insert(Second::new(n)).id()
                    })
                    .collect();
                (ids, mixed(9))
            },
            |world, (ids, bundle)| {
                let archetype = world.archetype_of(ids[0]).unwrap();
                assert_eq!(archetype == ArchetypeId::EMPTY, archetype_is_empty);
                assert_eq!(world.insert_into_archetype(archetype, bundle), 3);
            },
            |world, (ids, _), run| {
                for (n, &e) in (0..).zip(ids) {
                    let expected =
                        if run == Run::Finished { [Some(9); 4] } else { [None, None, None, Some(n)] };
                    assert_eq!(values(world, e), expected);
                }
            },
        );
        assert_eq!(panics, 12, "four parts for three entities");
    }
}

#[test]
fn removing_from_an_archetype_takes_sparse_parts_along() {
    for archetype_is_empty in [false, true] {
        let panics = inject(
            Event::Drop,
            |world: &mut World| {
                let ids: Vec<Entity> = if archetype_is_empty {
                    (0..3).map(|n| world.spawn((Sparse::new(n), Stable::new(n))).id()).collect()
                } else {
                    (0..3)
                        .map(|n| world.spawn((Sparse::new(n), Stable::new(n), Table::new(n))).id())
                        .collect()
                };
                let other = world.spawn((Other::new(7), Sparse::new(7))).id();
                (ids, other)
            },
            |world, (ids, _)| {
                let archetype = world.archetype_of(ids[0]).unwrap();
                assert_eq!(world.remove_from_archetype::<(Sparse, Table)>(archetype), 3);
            },
            |world, (ids, other), _| {
                for (n, &e) in (0..).zip(ids) {
                    assert_eq!(values(world, e), [None, None, Some(n), None]);
                }
                assert_eq!(values(world, *other), [None, Some(7), None, None], "another archetype");
            },
        );
        assert_eq!(panics, if archetype_is_empty { 3 } else { 6 });
    }
}

impl Default for Needed {
    fn default() -> Self {
        happens(Event::Make);
        Self::new(1)
    }
}
impl Default for NeededToo {
    fn default() -> Self {
        happens(Event::Make);
        Self::new(2)
    }
}
impl Default for Other {
    fn default() -> Self {
        happens(Event::Make);
        Self::new(3)
    }
}

#[derive(Component, Clone, Debug)]
#[require(Needed, NeededToo, Other)]
struct Demanding(#[allow(dead_code)] Serial);

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse")]
#[require(Needed, NeededToo, Other)]
struct SparseDemanding(#[allow(dead_code)] Serial);

fn has_nothing(world: &World, e: Entity) -> bool {
    let needed = world.get::<Needed>(e).is_none() && world.get::<NeededToo>(e).is_none();
    let demanding = world.get::<Demanding>(e).is_none() && world.get::<SparseDemanding>(e).is_none();
    needed && demanding && world.get::<Other>(e).is_none()
}

#[test]
fn a_required_component_that_cannot_be_made_leaves_the_entity_as_it_was() {
    for sparse in [false, true] {
        let panics = inject(
            Event::Make,
            |world: &mut World| world.spawn(Table::new(1)).id(),
            |world, &e| {
                if sparse {
                    world.insert(e, SparseDemanding(Serial::new())).unwrap();
                } else {
                    world.insert(e, Demanding(Serial::new())).unwrap();
                }
            },
            |world, &e, run| {
                assert_eq!(world.get::<Table>(e).map(|table| table.0), Some(1));
                assert_eq!(has_nothing(world, e), run != Run::Finished);
                if run == Run::Finished {
                    assert!(world.get::<Needed>(e).is_some() && world.get::<Other>(e).is_some());
                }
            },
        );
        assert_eq!(panics, 3);
        let panics = inject(
            Event::Make,
            |_| {},
            |world, ()| {
                if sparse {
                    world.spawn(SparseDemanding(Serial::new()));
                } else {
                    world.spawn((Demanding(Serial::new()), Table::new(1)));
                }
            },
            |world, (), run| assert_eq!(world.entities().len(), usize::from(run == Run::Finished)),
        );
        assert_eq!(panics, 3);
    }
}

#[test]
fn a_drop_that_panics_twice_does_not_abort() {
    struct Grumpy;
    impl Drop for Grumpy {
        fn drop(&mut self) {
            panic!("grumpy");
        }
    }
    #[derive(Component)]
    struct InTable(#[allow(dead_code)] Grumpy);
    #[derive(Component)]
    #[component(storage = "sparse")]
    struct InSet(#[allow(dead_code)] Grumpy);

    let mut world = World::new();
    let e = world.spawn((InTable(Grumpy), InSet(Grumpy))).id();
    let panics = crate::common::ledger::panic_of(|| world.remove::<(InTable, InSet)>(e));
    assert_eq!(panics.as_deref(), Some("grumpy"));
    assert!(world.is_orphan(e));
    let e = world.spawn((InTable(Grumpy), InSet(Grumpy))).id();
    assert!(crate::common::ledger::panic_of(|| world.entity_mut(e).clear().id()).is_some());
    assert!(world.is_orphan(e));
    world.check().unwrap();
}
