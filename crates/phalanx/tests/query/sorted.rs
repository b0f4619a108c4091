//! Sorted queries, lists of entities and combinations, over table, sparse and stable storage.
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;
use phalanx::query::QueryEntityError;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Anchor(u32);
#[derive(Resource)]
struct Ids(Vec<Entity>);

#[derive(Pool)]
struct Elves {
    anchor: Anchor,
}

macro_rules! over {
    ($module:ident, $($storage:tt)*) => {
        mod $module {
            use super::*;

            #[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
            #[component($($storage)*)]
            struct Rank(u32);
            #[derive(Component, Clone, Copy, Debug, PartialEq)]
            #[component(track = "row", $($storage)*)]
            struct Watched(u32);

            /// Twenty entities in two tables; ranks are pairwise different, and the last five are watched.
            fn world() -> World {
                let mut world = World::new();
                let mut ids = Vec::new();
                for i in 0..20_u32 {
                    let rank = Rank(i * 7 % 20);
                    let entity = if i % 2 == 0 { world.spawn(rank) } else { world.spawn((rank, Anchor(i))) };
                    ids.push(entity.id());
                }
                for &entity in &ids[15..] {
                    world.entity_mut(entity).insert(Watched(1));
                }
                world.insert_resource(Ids(ids));
                world
            }

            #[test]
            fn sorting_follows_the_lens() {
                world().run_system_once(|ranks: Query<(Entity, &Rank)>| {
                    let sorted: Vec<u32> = ranks.iter().sort::<&Rank>().map(|(_, rank)| rank.0).collect();
                    assert!(sorted.iter().copied().eq(0..20));
                    let by_entity = ranks.iter().sort::<Entity>().map(|(entity, _)| entity);
                    assert!(by_entity.is_sorted());
                    assert!(ranks.iter().sort_unstable::<&Rank>().map(|(_, rank)| rank.0).eq(0..20));
                    let down = ranks.iter().sort_by::<&Rank>(|a, b| b.cmp(a)).map(|(_, rank)| rank.0);
                    assert!(down.eq((0..20).rev()));
                    let down = ranks.iter().sort_unstable_by::<&Rank>(|a, b| b.cmp(a)).rev();
                    assert!(down.map(|(_, rank)| rank.0).eq(0..20));
                    let keyed = ranks.iter().sort_unstable_by_key::<&Rank, _>(|rank| 100 - rank.0);
                    assert!(keyed.map(|(_, rank)| rank.0).eq((0..20).rev()));
                    let mut made = 0;
                    let cached = ranks.iter().sort_by_cached_key::<&Rank, _>(|rank| {
                        made += 1;
                        rank.0
                    });
                    assert!(cached.map(|(_, rank)| rank.0).eq(0..20));
                    assert_eq!(made, 20, "each key is made once");
                }).unwrap();
            }

            #[test]
            fn equal_keys_keep_the_order_of_the_query() {
                world().run_system_once(|ranks: Query<(Entity, &Rank)>| {
                    let order: Vec<Entity> = ranks.iter().map(|(entity, _)| entity).collect();
                    let sorted = ranks.iter().sort_by_key::<&Rank, _>(|_| 0).map(|(entity, _)| entity);
                    assert!(sorted.eq(order.iter().copied()));
                }).unwrap();
            }

            #[test]
            fn sorted_matches_are_written_and_counted_from_both_ends() {
                let mut world = world();
                world.run_system_once(|mut ranks: Query<&mut Rank>| {
                    let mut sorted = ranks.iter_mut().sort::<&Rank>();
                    assert_eq!(sorted.len(), 20);
                    assert_eq!(sorted.next().unwrap().0, 0);
                    assert_eq!(sorted.next_back().unwrap().0, 19);
                    assert_eq!(sorted.len(), 18);
                    let mut all: Vec<Mut<Rank>> = sorted.collect();
                    for (i, rank) in (0..).zip(&mut all) {
                        rank.0 = 1_000 + i;
                    }
                    let changed = ranks.iter().filter(|rank| rank.0 >= 1_000).count();
                    assert_eq!(changed, 18);
                }).unwrap();
            }

            #[test]
            fn a_filter_by_ticks_holds_while_sorting() {
                let mut world = world();
                let last = world.resource::<Ids>().0[19];
                world.clear_trackers();
                world.get_mut::<Watched>(last).unwrap().0 = 5;
                let mut state = world.query_filtered::<(Entity, &mut Rank), Changed<Watched>>();
                let found = state.iter_mut(&mut world).sort::<&Rank>().map(|(entity, _)| entity);
                assert!(found.eq([last]));
            }

            #[test]
            fn a_list_yields_an_error_for_each_stranger() {
                world().run_system_once(|ranks: Query<&Rank, With<Anchor>>, ids: Res<Ids>| {
                    let list = [ids.0[1], ids.0[0], ids.0[1]];
                    let found: Vec<_> = ranks.iter_many(list).collect();
                    assert_eq!(found[0], Ok(&Rank(7)));
                    assert!(matches!(found[1], Err(QueryEntityError::DoesNotMatch { entity, .. }) if entity == list[1]));
                    assert_eq!(found[2], Ok(&Rank(7)));
                    assert_eq!(ranks.iter_many(list).matched().map(|rank| rank.0).collect::<Vec<_>>(), [7, 7]);
                    assert_eq!(ranks.iter_many(list).size_hint(), (3, Some(3)));
                    let known = [list[0], list[2]];
                    assert_eq!(ranks.iter_many(known).unwrapped().count(), 2);
                }).unwrap();
            }

            #[test]
            fn a_list_is_written_one_entity_at_a_time() {
                let mut world = world();
                world.run_system_once(|mut ranks: Query<&mut Rank>, ids: Res<Ids>| {
                    let mut many = ranks.iter_many_mut([ids.0[3], ids.0[3]]);
                    while let Some(rank) = many.fetch_next() {
                        rank.unwrap().0 += 100;
                    }
                    let mut matched = ranks.iter_many_mut([ids.0[3], Entity::PLACEHOLDER, ids.0[4]]).matched();
                    while let Some(mut rank) = matched.fetch_next() {
                        rank.0 += 1_000;
                    }
                    assert_eq!(ranks.get(ids.0[3]).unwrap().0, 1_201);
                    assert_eq!(ranks.get(ids.0[4]).unwrap().0, 1_008);
                }).unwrap();
            }

            #[test]
            fn a_list_without_repetitions_is_written_together() {
                let mut world = world();
                world.run_system_once(|mut ranks: Query<&mut Rank>, ids: Res<Ids>| {
                    let list = [ids.0[2], Entity::PLACEHOLDER, ids.0[5], ids.0[2]];
                    let mut found: Vec<_> = ranks.iter_many_unique_mut(list).collect();
                    assert!(matches!(found[1], Err(QueryEntityError::NoSuchEntity { .. })));
                    assert!(matches!(found[3], Err(QueryEntityError::Repeated { entity }) if entity == list[3]));
                    for rank in found.iter_mut().flatten() {
                        rank.0 += 50;
                    }
                    let seen: Vec<u32> = ranks.iter_many_unique([ids.0[2], ids.0[5]]).flatten().map(|r| r.0).collect();
                    assert_eq!(seen, [64, 65]);
                    assert!(ranks.get_many_unique([ids.0[2], ids.0[2]]).is_err());
                    assert!(ranks.get_many_unique_mut([ids.0[2], ids.0[5]]).is_ok());
                }).unwrap();
            }

            #[test]
            fn combinations_are_counted_before_they_are_made() {
                world().run_system_once(|mut ranks: Query<(Entity, &mut Rank), Without<Anchor>>| {
                    let mut pairs = ranks.iter_combinations::<2>();
                    assert_eq!(pairs.len(), 45);
                    let [(a, _), (b, _)] = pairs.next().unwrap();
                    assert_ne!(a, b);
                    assert_eq!(pairs.size_hint(), (44, Some(44)));
                    assert_eq!(pairs.count(), 44);
                    assert_eq!(ranks.iter_combinations::<11>().len(), 0);
                    let mut triples = ranks.iter_combinations_mut::<3>();
                    let mut made = 0;
                    while let Some([(_, mut a), _, (_, mut c)]) = triples.fetch_next() {
                        std::mem::swap(&mut *a, &mut *c);
                        made += 1;
                    }
                    assert_eq!(made, 120);
                }).unwrap();
            }

            #[test]
            fn combinations_see_only_what_ticks_let_through() {
                let mut world = world();
                let ids = world.resource::<Ids>().0.clone();
                world.clear_trackers();
                for &entity in &ids[17..] {
                    world.get_mut::<Watched>(entity).unwrap().0 = 9;
                }
                let mut state = world.query_filtered::<(Entity, &mut Rank), Changed<Watched>>();
                let mut query = state.query_mut(&mut world);
                assert_eq!(query.iter_combinations::<2>().count(), 3);
                let mut pairs = query.iter_combinations_mut::<2>();
                let mut made = 0;
                while pairs.fetch_next().is_some() {
                    made += 1;
                }
                assert_eq!(made, 3);
            }

            #[test]
            fn what_a_query_by_value_yields_outlives_the_query() {
                world().run_system_once(|ranks: Query<&Rank>, mut anchors: Query<&mut Anchor>, ids: Res<Ids>| {
                    let first = { ranks.as_readonly().get_inner(ids.0[0]).unwrap() };
                    assert_eq!(first.0, 0);
                    let (copy, all) = (ranks, ranks.iter_inner());
                    assert_eq!(all.count(), copy.into_iter().count());
                    assert_eq!(ranks.get_many_inner([ids.0[1], ids.0[1]]).unwrap(), [&Rank(7), &Rank(7)]);
                    let mut both = anchors.reborrow().get_many_mut_inner([ids.0[1], ids.0[3]]).unwrap();
                    both[0].0 = both[1].0;
                    assert!(anchors.reborrow().single_inner().is_err());
                    let read = anchors.into_readonly();
                    assert_eq!(read.get(ids.0[1]), Ok(&Anchor(3)));
                    assert_eq!(read.iter_combinations_inner::<2>().len(), 45);
                }).unwrap();
            }
        }
    };
}
over!(table, storage = "table");
over!(sparse, storage = "sparse");
over!(stable, storage = "sparse", stable);

#[test]
#[should_panic(expected = "a query is sorted before its first match is taken")]
fn a_query_that_has_begun_is_not_sorted() {
    let mut world = World::new();
    world.spawn(Anchor(1));
    world
        .run_system_once(|anchors: Query<(Entity, &Anchor)>| {
            let mut matches = anchors.iter();
            matches.next();
            matches.sort::<Entity>();
        })
        .unwrap();
}

#[test]
#[should_panic(expected = "cannot be sorted by `&Key`: ask for it as well")]
fn a_lens_that_the_query_cannot_read_is_named() {
    #[derive(Component, PartialEq, Eq, PartialOrd, Ord)]
    struct Key(u32);
    let mut world = World::new();
    world
        .run_system_once(|anchors: Query<&Anchor>| {
            anchors.iter().sort::<&Key>();
        })
        .unwrap();
}

#[test]
fn entities_of_a_pool_are_sorted_among_the_others() {
    let mut world = World::new();
    world.spawn(Anchor(2));
    world.spawn_in(Elves { anchor: Anchor(1) });
    world.spawn(Anchor(0));
    world
        .run_system_once(|all: Query<&Anchor>, elves: Query<&Anchor, InPool<Elves>>| {
            let sorted = all.iter().sort_by_key::<&Anchor, _>(|anchor| anchor.0).map(|anchor| anchor.0);
            assert!(sorted.eq([0, 1, 2]));
            assert_eq!(elves.iter().sort_by_key::<&Anchor, _>(|anchor| anchor.0).len(), 1);
        })
        .unwrap();
}

#[test]
fn entities_without_a_row_are_sorted_and_combined() {
    let mut world = World::new();
    let ids = [(); 3].map(|()| world.spawn_empty().id());
    world
        .run_system_once(move |all: Query<Entity>| {
            assert!(all.iter().sort_by::<Entity>(|a, b| b.cmp(a)).eq([ids[2], ids[1], ids[0]]));
            assert_eq!(all.iter_combinations::<2>().len(), 3);
            assert!(all.iter_combinations().eq([[ids[0], ids[1]], [ids[0], ids[2]], [ids[1], ids[2]]]));
        })
        .unwrap();
}

#[test]
fn slices_have_two_names() {
    let mut world = World::new();
    world.spawn_batch((0..10).map(Anchor));
    world
        .run_system_once(|mut anchors: Query<&mut Anchor>| {
            for slice in anchors.contiguous_iter_mut().unwrap() {
                slice.iter_mut().for_each(|anchor| anchor.0 *= 2);
            }
            let sum: u32 = anchors.contiguous_iter().unwrap().flatten().map(|anchor| anchor.0).sum();
            assert_eq!(sum, 90);
            assert_eq!(anchors.contiguous_iter_inner().unwrap().count(), 1);
        })
        .unwrap();
}
