//! Relations of many to many, with values on their edges: both ends agree whatever happens.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::prelude::*;
use phalanx::world::{EntityCloner, LinkError, LinkedBy, Links};

use crate::hazards::{flush_despite_panics, panic_in_command};
use crate::random::Random;
use crate::steps::model_steps;

#[derive(Component, Clone, Debug, PartialEq)]
#[relationship(many)]
struct Likes {
    #[target]
    whom: Entity,
    amount: u32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[relationship(many, exclusive)]
struct Obeys(Entity);

#[derive(Component, Clone, Debug, PartialEq)]
#[relationship(many, symmetric)]
struct Knows {
    #[target]
    whom: Entity,
    years: u32,
}

#[derive(Component, Clone, Debug, PartialEq)]
#[relationship(many, exclusive, symmetric)]
struct Married(Entity);

#[derive(Component, Clone)]
struct Mark;

fn three() -> (World, [Entity; 3]) {
    let mut world = World::new();
    let all = [(); 3].map(|()| world.spawn(Mark).id());
    (world, all)
}

#[test]
fn edges_are_seen_from_both_ends_as_slices() {
    let (mut world, [a, b, c]) = three();
    world.link(a, Likes { whom: b, amount: 2 }).unwrap();
    world.link(a, Likes { whom: c, amount: 3 }).unwrap();
    world.link(b, Likes { whom: c, amount: 4 }).unwrap();
    world.link(a, Likes { whom: b, amount: 5 }).unwrap();
    assert_eq!(world.related::<Likes>(a), [Likes { whom: b, amount: 5 }, Likes { whom: c, amount: 3 }]);
    assert_eq!((world.relating::<Likes>(c), world.relating::<Likes>(a)), (&[a, b][..], &[][..]));
    assert_eq!(
        world.edges_to::<Likes>(c).map(|(e, likes)| (e, likes.amount)).collect::<Vec<_>>(),
        [(a, 3), (b, 4)]
    );
    assert_eq!(world.edge_between::<Likes>(b, c).unwrap().amount, 4);
    assert!(world.modify_edge::<Likes>(b, c, |likes| *likes = Likes { whom: a, amount: 9 }));
    assert_eq!(world.related::<Likes>(b), [Likes { whom: c, amount: 9 }], "the target stays");
    assert!(!world.modify_edge::<Likes>(c, a, |_| ()));
    assert_eq!(world.unlink::<Likes>(a, b).unwrap().amount, 5);
    assert_eq!(world.unlink::<Likes>(a, b), None);
    world.check().unwrap();
}

#[test]
fn all_sources_of_edges_are_found_by_a_query() {
    let (mut world, [a, b, c]) = three();
    world.link(a, Likes { whom: b, amount: 2 }).unwrap();
    world.link(c, Likes { whom: b, amount: 2 }).unwrap();
    let mut likers: Vec<Entity> = world.view_filtered::<Entity, With<Links<Likes>>>().iter().collect();
    likers.sort_unstable();
    assert_eq!(likers, [a, c]);
    assert_eq!(world.view_filtered::<Entity, With<LinkedBy<Likes>>>().single().unwrap(), b);
    let total: u32 =
        world.view::<&Links<Likes>>().iter().flat_map(|all| all.iter()).map(|one| one.amount).sum();
    assert_eq!(total, 4);
    world.unlink::<Likes>(a, b);
    world.unlink::<Likes>(c, b);
    assert_eq!(
        world.view_filtered::<Entity, Or<(With<Links<Likes>>, With<LinkedBy<Likes>>)>>().iter().count(),
        0
    );
    world.check().unwrap();
}

#[test]
fn the_death_of_either_end_takes_the_edge_away() {
    let (mut world, [a, b, c]) = three();
    for (source, whom) in [(a, b), (a, c), (b, c), (c, a), (a, a)] {
        world.link(source, Likes { whom, amount: 1 }).unwrap();
        world.link(source, Knows { whom, years: 1 }).unwrap();
    }
    world.despawn(a);
    world.check().unwrap();
    assert_eq!(world.related::<Likes>(b), [Likes { whom: c, amount: 1 }]);
    assert_eq!((world.related::<Likes>(c).len(), world.relating::<Likes>(c)), (0, &[b][..]));
    assert_eq!((world.related::<Knows>(b).len(), world.related::<Knows>(c).len()), (1, 1));
    let successor = world.spawn(Mark).id();
    assert_eq!(successor.index(), a.index());
    assert!(world.related::<Likes>(successor).is_empty() && world.relating::<Likes>(successor).is_empty());
    assert!(matches!(world.link(b, Likes { whom: a, amount: 1 }), Err(LinkError::DeadTarget { .. })));
    assert!(matches!(world.link(a, Likes { whom: b, amount: 1 }), Err(LinkError::DeadSource { .. })));
    world.entity_mut(b).remove::<Links<Knows>>();
    assert!(world.related::<Knows>(c).is_empty(), "symmetric ones go at both ends");
    world.entity_mut(c).remove::<LinkedBy<Likes>>();
    assert!(world.related::<Likes>(b).is_empty());
    world.check().unwrap();
}

#[test]
fn ends_without_edges_go_though_commands_of_handlers_panic() {
    let (mut world, [a, b, c]) = three();
    for (source, whom) in [(a, c), (b, c), (c, a), (c, b)] {
        world.link(source, Likes { whom, amount: 1 }).unwrap();
    }
    world
        .add_observer(|_: On<Remove<Links<Likes>>>, mut commands: Commands| commands.queue(panic_in_command));
    world.add_observer(|_: On<Remove<LinkedBy<Likes>>>, mut commands: Commands| {
        commands.queue(panic_in_command);
    });
    assert!(catch_unwind(AssertUnwindSafe(|| world.despawn(c))).is_err(), "the panic is passed on");
    flush_despite_panics(&mut world);
    assert!(!world.contains(c));
    assert_eq!(world.view::<&Links<Likes>>().count() + world.view::<&LinkedBy<Likes>>().count(), 0);
    world.check().unwrap();
}

#[test]
fn exclusive_and_symmetric_relations_keep_their_promise() {
    let (mut world, [a, b, c]) = three();
    world.link(a, Obeys(b)).unwrap();
    world.link(a, Obeys(c)).unwrap();
    assert_eq!((world.related::<Obeys>(a), world.relating::<Obeys>(b).len()), (&[Obeys(c)][..], 0));
    world.link(a, Knows { whom: b, years: 3 }).unwrap();
    assert_eq!(world.related::<Knows>(b), [Knows { whom: a, years: 3 }]);
    world.modify_edge::<Knows>(b, a, |knows| knows.years = 4);
    assert_eq!(world.edge_between::<Knows>(a, b).unwrap().years, 4);
    world.unlink::<Knows>(b, a);
    assert!(world.edge_between::<Knows>(a, b).is_none());
    world.link(a, Married(b)).unwrap();
    world.link(c, Married(b)).unwrap();
    assert_eq!((world.related::<Married>(a).len(), world.related::<Married>(b)), (0, &[Married(c)][..]));
    world.check().unwrap();
}

#[test]
fn linking_makes_no_archetype() {
    let (mut world, all) = three();
    world.link(all[0], Likes { whom: all[1], amount: 0 }).unwrap();
    let (archetypes, moves) = (world.archetypes().len(), world.moves());
    for source in all {
        for whom in all {
            world.link(source, Likes { whom, amount: 0 }).unwrap();
        }
    }
    assert_eq!((world.archetypes().len(), world.moves()), (archetypes, moves));
}

#[test]
fn commands_link_and_report_the_dead() {
    let (mut world, [a, b, c]) = three();
    let errors = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let kept = std::sync::Arc::clone(&errors);
    world.set_error_handler(move |_, error| kept.lock().unwrap().push(error.error.to_string()));
    world.commands().link(a, Likes { whom: b, amount: 1 });
    world.commands().entity(c).despawn();
    world.commands().link(a, Likes { whom: c, amount: 1 });
    world.flush();
    assert_eq!(world.related::<Likes>(a), [Likes { whom: b, amount: 1 }]);
    assert!(errors.lock().unwrap()[0].contains(&format!("{c} does not exist")), "{errors:?}");
    world.commands().unlink::<Likes>(a, b);
    world.flush();
    assert!(world.related::<Likes>(a).is_empty());
    world.check().unwrap();
}

/// A tree of three that like one another, and an outsider that they like.
fn fond_family(world: &mut World) -> [Entity; 4] {
    let root = world.spawn(Mark).id();
    let [a, b] = [(); 2].map(|()| world.spawn((Mark, ChildOf(root))).id());
    let outsider = world.spawn(Mark).id();
    for (source, whom, amount) in [(root, a, 1), (a, b, 2), (b, b, 3), (a, outsider, 4), (outsider, b, 5)] {
        world.link(source, Likes { whom, amount }).unwrap();
    }
    world.link(a, Knows { whom: b, years: 6 }).unwrap();
    world.link(b, Married(a)).unwrap();
    [root, a, b, outsider]
}

/// What a copy of that family must be.
fn is_fond(world: &World, root: Entity) {
    let [a, b] = world.get::<Children>(root).unwrap()[..] else { panic!("two children") };
    assert_eq!(world.related::<Likes>(root), [Likes { whom: a, amount: 1 }]);
    assert_eq!(world.related::<Likes>(a), [Likes { whom: b, amount: 2 }], "not the outsider");
    assert_eq!(world.related::<Likes>(b), [Likes { whom: b, amount: 3 }]);
    assert_eq!(world.relating::<Likes>(b), [a, b]);
    assert_eq!(world.edge_between::<Knows>(b, a).unwrap().years, 6);
    assert_eq!(world.related::<Married>(a), [Married(b)]);
    world.check().unwrap();
}

#[test]
fn edges_among_those_that_are_cloned_together_are_cloned() {
    let mut world = World::new();
    let [root, _, b, outsider] = fond_family(&mut world);
    let mut builder = EntityCloner::build_opt_out(&mut world);
    builder.linked_cloning(true);
    let clone = builder.finish().spawn_clone(&mut world, root);
    is_fond(&world, clone);
    for clone in world.spawn_clones(root, 3) {
        is_fond(&world, clone);
    }
    assert_eq!(world.relating::<Likes>(outsider).len(), 1, "who is not cloned is not asked");
    let alone = world.entity_mut(b).clone_and_spawn();
    assert_eq!(world.related::<Likes>(alone), [Likes { whom: alone, amount: 3 }]);
    assert!(world.related::<Married>(alone).is_empty());
    let mut builder = EntityCloner::build_opt_out(&mut world);
    builder.linked_cloning(true).deny::<Links<Likes>>();
    let cold = builder.finish().spawn_clone(&mut world, root);
    assert!(world.related::<Likes>(cold).is_empty());
    let child = world.get::<Children>(cold).unwrap()[0];
    assert_eq!(world.related::<Knows>(child).len(), 1, "only one relation was denied");
    world.check().unwrap();
}

#[test]
fn edges_among_those_that_move_together_move() {
    let (mut here, mut there) = (World::new(), World::new());
    there.spawn_batch((0..9).map(|_| Mark));
    let [root, _, _, outsider] = fond_family(&mut here);
    let moved = here.move_entity(root, &mut there).unwrap();
    is_fond(&there, moved);
    assert!(here.related::<Likes>(outsider).is_empty() && here.relating::<Likes>(outsider).is_empty());
    assert_eq!(here.entities().len(), 1);
    here.check().unwrap();
}

#[test]
fn a_clone_has_no_edges_to_others_and_checkpoints_have_all() {
    let (mut world, [a, b, c]) = three();
    world.link(a, Likes { whom: b, amount: 1 }).unwrap();
    let clone = world.entity_mut(a).clone_and_spawn();
    assert!(world.related::<Likes>(clone).is_empty());
    world.check().unwrap();
    let before = world.checkpoint();
    world.link(b, Likes { whom: c, amount: 2 }).unwrap();
    world.despawn(b);
    world.restore(&before).unwrap();
    assert_eq!((world.related::<Likes>(a).len(), world.relating::<Likes>(b)), (1, &[a][..]));
    world.check().unwrap();
}

/// One kind of edge in the naive world: by source and target.
type Edges = BTreeMap<(Entity, Entity), u32>;

#[test]
fn random_histories_of_edges_agree_with_the_naive_world() {
    let steps = model_steps(300, 600) as u64;
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let mut world = World::new();
        let mut all: Vec<Entity> = (0..8).map(|_| world.spawn(Mark).id()).collect();
        let (mut likes, mut knows, mut married) = (Edges::new(), Edges::new(), Edges::new());
        for step in 0..steps {
            let [a, b] = [(); 2].map(|()| all[random.below(all.len())]);
            let value = step as u32;
            match random.below(9) {
                0..3 => {
                    world.link(a, Likes { whom: b, amount: value }).unwrap();
                    likes.insert((a, b), value);
                }
                3 => {
                    world.link(a, Knows { whom: b, years: value }).unwrap();
                    knows.extend([((a, b), value), ((b, a), value)]);
                }
                4 if a != b => {
                    world.link(a, Married(b)).unwrap();
                    married.retain(|&(one, other), _| ![a, b].contains(&one) && ![a, b].contains(&other));
                    married.extend([((a, b), 0), ((b, a), 0)]);
                }
                5 => assert_eq!(world.unlink::<Likes>(a, b).map(|likes| likes.amount), likes.remove(&(a, b))),
                6 => {
                    assert_eq!(world.unlink::<Knows>(a, b).is_some(), knows.remove(&(a, b)).is_some());
                    knows.remove(&(b, a));
                }
                7 => {
                    let _ = world.remove::<Links<Likes>>(a);
                    likes.retain(|(source, _), _| *source != a);
                }
                8 if random.below(3) == 0 => {
                    world.despawn(a);
                    for edges in [&mut likes, &mut knows, &mut married] {
                        edges.retain(|&(source, target), _| source != a && target != a);
                    }
                    all.retain(|&entity| entity != a);
                    all.push(world.spawn(Mark).id());
                }
                _ => {}
            }
            world.check().unwrap();
            for &entity in &all {
                let of = |edges: &Edges| -> BTreeMap<Entity, u32> {
                    edges
                        .iter()
                        .filter(|((source, _), _)| *source == entity)
                        .map(|((_, to), n)| (*to, *n))
                        .collect()
                };
                let told = world.related::<Likes>(entity).iter().map(|one| (one.whom, one.amount)).collect();
                assert_eq!(of(&likes), told, "seed {seed}, step {step}");
                let told = world.related::<Knows>(entity).iter().map(|one| (one.whom, one.years)).collect();
                assert_eq!(of(&knows), told, "seed {seed}, step {step}");
                let told = world.related::<Married>(entity).iter().map(|one| (one.0, 0)).collect();
                assert_eq!(of(&married), told, "seed {seed}, step {step}");
            }
        }
    }
}
