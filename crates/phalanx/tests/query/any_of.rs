//! `AnyOf` as data, and tuples of up to fifteen parts.
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component, Debug, PartialEq)]
struct Anchor;

macro_rules! over {
    ($module:ident, $first:literal, $second:literal) => {
        mod $module {
            use super::*;

            #[derive(Component, Debug, PartialEq)]
            #[component(storage = $first)]
            struct Sword(u32);
            #[derive(Component, Debug, PartialEq)]
            #[component(storage = $second)]
            struct Bow(u32);
            #[derive(Component, Debug, PartialEq)]
            struct Horse;

            type Found<'w> = (Option<&'w Sword>, Option<&'w Bow>);

            /// A sword, a bow, both, a horse alone, and nothing at all; each with and without a table row.
            fn world() -> World {
                let mut world = World::new();
                world.spawn((Sword(1), Anchor));
                world.spawn((Bow(2), Anchor));
                world.spawn((Sword(3), Bow(4), Anchor));
                world.spawn((Horse, Anchor));
                world.spawn(Sword(5));
                world.spawn(Bow(6));
                world.spawn((Sword(7), Bow(8)));
                world.spawn(Anchor);
                world.spawn_empty();
                world
            }

            fn shown((sword, bow): Found) -> (u32, u32) {
                (sword.map_or(0, |sword| sword.0), bow.map_or(0, |bow| bow.0))
            }

            const ALL: [(u32, u32); 6] = [(0, 2), (0, 6), (1, 0), (3, 4), (5, 0), (7, 8)];

            #[test]
            fn at_least_one_part_is_there() {
                world()
                    .run_system_once(|armed: Query<(Entity, AnyOf<(&Sword, &Bow)>)>| {
                        let mut found: Vec<_> = armed.iter().map(|(_, found)| shown(found)).collect();
                        found.sort_unstable();
                        assert_eq!(found, ALL);
                        assert_eq!(armed.count(), 6);
                        for (entity, found) in &armed {
                            assert_eq!(armed.get(entity).unwrap().1, found);
                            assert!(armed.contains(entity));
                        }
                    })
                    .unwrap();
            }

            #[test]
            fn those_without_a_part_are_not_visited() {
                world()
                    .run_system_once(|all: Query<Entity>, armed: Query<AnyOf<(&Sword, &Bow)>>| {
                        let lacking: Vec<_> =
                            all.iter().filter(|&entity| armed.get(entity).is_err()).collect();
                        assert_eq!(lacking.len(), 3);
                        let why = armed.get(lacking[0]).unwrap_err().to_string();
                        assert!(why.contains("it fails `(with Sword or with Bow)`"), "{why}");
                    })
                    .unwrap();
            }

            #[test]
            fn parts_are_written() {
                let mut world = world();
                world
                    .run_system_once(|mut armed: Query<AnyOf<(&mut Sword, &Bow)>, With<Anchor>>| {
                        for (sword, bow) in &mut armed {
                            if let (Some(mut sword), Some(bow)) = (sword, bow) {
                                sword.0 += 10 * bow.0;
                            }
                        }
                    })
                    .unwrap();
                world
                    .run_system_once(|swords: Query<&Sword>| {
                        assert_eq!(swords.iter().map(|sword| sword.0).sum::<u32>(), 1 + 43 + 5 + 7);
                    })
                    .unwrap();
            }

            #[test]
            fn nested_in_an_option_it_is_none_without_a_part() {
                world()
                    .run_system_once(|all: Query<Option<AnyOf<(&Sword, &Bow)>>>| {
                        let found: Vec<_> = all.iter().flatten().map(shown).collect();
                        assert_eq!((all.count(), found.len()), (9, 6));
                        assert!(found.iter().all(|&found| found != (0, 0)));
                    })
                    .unwrap();
            }

            #[test]
            fn a_tuple_counts_as_one_part() {
                world()
                    .run_system_once(|armed: Query<AnyOf<((&Sword, &Bow), &Horse)>>| {
                        assert_eq!(armed.iter().filter(|(both, _)| both.is_some()).count(), 2);
                        assert_eq!(armed.iter().filter(|(_, horse)| horse.is_some()).count(), 1);
                        assert_eq!(armed.count(), 3);
                    })
                    .unwrap();
            }
        }
    };
}
over!(tables, "table", "table");
over!(sets, "sparse", "sparse");
over!(mixed, "table", "sparse");

#[test]
fn tables_yield_slices_of_the_parts_they_have() {
    #[derive(Component, Debug, PartialEq)]
    struct Sword(u32);
    let mut world = World::new();
    world.spawn_batch((0..3).map(|i| (Sword(i), Anchor)));
    world.spawn(Sword(9));
    world.spawn_empty();
    world
        .run_system_once(|armed: Query<AnyOf<(&Sword, &Anchor)>>| {
            let lens: Vec<_> = armed
                .chunks()
                .map(|(swords, anchors)| (swords.map(<[Sword]>::len), anchors.map(<[Anchor]>::len)))
                .collect();
            assert_eq!(lens, [(Some(3), Some(3)), (Some(1), None)]);
        })
        .unwrap();
}

#[test]
fn parts_that_alias_are_refused_by_name() {
    let error = World::new().try_query::<AnyOf<(&mut Anchor, &Anchor)>>().err().unwrap();
    assert_eq!(error.first, "AnyOf<(&mut Anchor, ..)>");
}

mod fifteen {
    use super::*;

    macro_rules! parts {
        ($($name:ident $storage:literal),*) => {
            $(
                #[derive(Component, Clone, Copy, Debug, Default, PartialEq)]
                #[component(storage = $storage)]
                struct $name(u32);
            )*
        };
    }
    parts!(A "table", B "table", C "table", D "table", E "table", F "table", G "table", H "sparse", I "table",
        J "table", K "table", L "table", M "table", N "table", O "sparse");

    type All = (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O);

    fn all() -> All {
        (A(1), B(2), C(3), D(4), E(5), F(6), G(7), H(8), I(9), J(10), K(11), L(12), M(13), N(14), O(15))
    }

    #[test]
    fn a_bundle_of_fifteen_comes_and_goes_as_one() {
        let mut world = World::new();
        let entity = world.spawn(all()).id();
        assert_eq!((world.get::<A>(entity), world.get::<I>(entity)), (Some(&A(1)), Some(&I(9))));
        assert_eq!(world.get::<O>(entity), Some(&O(15)));
        let (a, .., h, i, _, _, _, _, n, o) = world.entity_mut(entity).take::<All>().unwrap();
        assert_eq!((a, h, i, n, o), (A(1), H(8), I(9), N(14), O(15)));
        assert_eq!(world.entity(entity).component_ids().count(), 0);
        world.entity_mut(entity).insert((
            A(0),
            B(0),
            C(0),
            D(0),
            E(0),
            F(0),
            G(0),
            H(0),
            I(0),
            J(0),
            K(0),
            L(0),
            M(0),
        ));
        assert_eq!(world.entity(entity).component_ids().count(), 13);
    }

    #[test]
    fn a_query_of_fifteen_yields_a_flat_tuple() {
        let mut world = World::new();
        world.spawn(all());
        world.spawn(A(0));
        type Data<'w> = (
            &'w A,
            &'w B,
            &'w C,
            &'w D,
            &'w E,
            &'w F,
            &'w G,
            &'w mut H,
            &'w I,
            &'w J,
            &'w K,
            &'w L,
            &'w M,
            &'w mut N,
            Option<&'w O>,
        );
        world
            .run_system_once(|mut query: Query<Data<'static>>| {
                for (a, .., mut h, i, _, _, _, _, mut n, o) in &mut query {
                    h.0 = a.0 + i.0;
                    n.0 = o.unwrap().0;
                }
                let (_, _, _, _, _, _, _, h, _, _, _, _, m, n, _) = query.single().unwrap();
                assert_eq!((h.0, m.0, n.0), (10, 13, 15));
            })
            .unwrap();
        world
            .run_system_once(|query: Query<(&A, &B, &C, &D, &E, &F, &G, &I, &J, &K, &L, &M, &N)>| {
                let (a, .., n) = query.chunks().next().unwrap();
                assert_eq!((a, n), (&[A(1)][..], &[N(15)][..]));
            })
            .unwrap();
    }

    #[test]
    fn filters_of_fifteen_decide_together() {
        type Every = (
            With<A>,
            With<B>,
            With<C>,
            With<D>,
            With<E>,
            With<F>,
            With<G>,
            With<H>,
            With<I>,
            With<J>,
            With<K>,
            With<L>,
            With<M>,
            With<N>,
            With<O>,
        );
        type Some = Or<(
            With<A>,
            With<B>,
            With<C>,
            With<D>,
            With<E>,
            With<F>,
            With<G>,
            With<H>,
            With<I>,
            With<J>,
            With<K>,
            With<L>,
            With<M>,
            With<N>,
            With<O>,
        )>;
        let mut world = World::new();
        let whole = world.spawn(all()).id();
        let last = world.spawn(O(1)).id();
        let first = world.spawn(A(1)).id();
        world.spawn_empty();
        world
            .run_system_once(move |every: Query<Entity, Every>, some: Query<Entity, Some>| {
                assert!(every.iter().eq([whole]));
                let mut found: Vec<_> = some.iter().collect();
                found.sort_unstable();
                assert_eq!(found, [whole, last, first]);
            })
            .unwrap();
    }

    #[test]
    fn any_of_fifteen_is_enough() {
        type Data<'w> = AnyOf<(
            &'w A,
            &'w B,
            &'w C,
            &'w D,
            &'w E,
            &'w F,
            &'w G,
            &'w H,
            &'w I,
            &'w J,
            &'w K,
            &'w L,
            &'w M,
            &'w N,
            &'w O,
        )>;
        let mut world = World::new();
        world.spawn(all());
        world.spawn(O(1));
        world.spawn(A(1));
        world.spawn_empty();
        world
            .run_system_once(|query: Query<Data<'static>>| {
                assert_eq!(query.count(), 3);
                assert_eq!(query.iter().filter(|found| found.0.is_some()).count(), 2);
                assert_eq!(query.iter().filter(|found| found.14.is_some()).count(), 2);
            })
            .unwrap();
    }
}
