//! Indexes by value and names: right after every path that can write, in the world and in systems. Hazards 77 and 78.

use std::collections::BTreeMap;

use phalanx::prelude::*;
use phalanx::world::NamedError;

use crate::random::Random;

#[derive(Component, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Faction(u32);

#[derive(Component, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[component(storage = "sparse")]
struct Rank(u32);

#[derive(Component, Clone, Debug, PartialEq, Eq, Hash)]
#[component(track = "none")]
struct Team(u32);

#[derive(Component, Clone)]
struct Frozen;

// Hazard 77.
#[test]
fn an_index_is_right_after_every_path_that_writes() {
    let mut world = World::new();
    world.index_by::<Faction>();
    let all: Vec<Entity> = world.spawn_batch((0..3_000).map(|n| Faction(n % 3))).collect();
    assert_eq!(world.entities_with(&Faction(0)).len(), 1_000);
    world.get_mut::<Faction>(all[0]).unwrap().0 = 7;
    assert_eq!(world.entities_with(&Faction(7)), [all[0]]);
    for mut faction in world.view_mut::<&mut Faction>() {
        if faction.0 == 1 {
            faction.0 = 8;
        }
    }
    assert_eq!((world.entities_with(&Faction(1)).len(), world.entities_with(&Faction(8)).len()), (0, 1_000));
    for slice in world.view_mut::<&mut Faction>().chunks_mut() {
        slice[2].0 = 9;
    }
    assert_eq!(world.entities_with(&Faction(9)), [all[2]]);
    let id = world.component_id::<Faction>().unwrap();
    world.set_field(all[5], id, "0", Value::U32(10)).unwrap();
    assert_eq!(world.entities_with(&Faction(10)), [all[5]]);
    world.insert(all[6], Faction(11)).unwrap();
    world.insert(all[7], Frozen).unwrap();
    assert_eq!(world.entities_with(&Faction(11)), [all[6]]);
    world.despawn(all[6]);
    assert!(world.entities_with(&Faction(11)).is_empty());
    let successor = world.spawn(Faction(12)).id();
    assert_eq!(successor.index(), all[6].index());
    assert_eq!(world.entities_with(&Faction(12)), [successor]);
    world.remove::<Faction>(all[5]).unwrap();
    assert!(world.entities_with(&Faction(10)).is_empty());
}

#[test]
fn sparse_and_untracked_components_have_indexes_too() {
    let mut world = World::new();
    let all: Vec<Entity> = (0..10).map(|n| world.spawn((Rank(n), Team(n))).id()).collect();
    assert_eq!(world.entities_with(&Rank(3)), [all[3]]);
    assert_eq!(world.entities_with(&Team(3)), [all[3]]);
    world.get_mut::<Rank>(all[4]).unwrap().0 = 3;
    world.get_mut::<Team>(all[4]).unwrap().0 = 3;
    assert_eq!(world.entities_with(&Rank(3)), [all[3], all[4]]);
    assert_eq!(world.entities_with(&Team(3)), [all[3], all[4]]);
    assert_eq!(world.entities_in_range(Rank(8)..), [all[8], all[9]]);
}

#[test]
fn a_range_comes_in_the_order_of_values() {
    let mut world = World::new();
    let [a, b, c] = [5, 1, 3].map(|n| world.spawn(Faction(n)).id());
    assert_eq!(world.entities_in_range::<Faction>(..), [b, c, a]);
    assert_eq!(world.entities_in_range(Faction(2)..=Faction(3)), [c]);
    world.get_mut::<Faction>(c).unwrap().0 = 9;
    assert_eq!(world.entities_in_range::<Faction>(..), [b, a, c]);
}

#[test]
fn a_range_that_ends_before_it_begins_is_empty_and_keeps_the_index() {
    use std::ops::Bound::{Excluded, Included};
    let mut world = World::new();
    let [a, b] = [1, 3].map(|n| world.spawn(Faction(n)).id());
    let three = || Faction(3);
    let backwards =
        [world.entities_in_range(three()..Faction(1)), world.entities_in_range(three()..=Faction(2))];
    assert!(backwards.iter().all(Vec::is_empty));
    assert!(world.entities_in_range((Excluded(three()), Excluded(three()))).is_empty());
    assert!(world.entities_in_range((Excluded(three()), Included(three()))).is_empty());
    assert!(world.entities_in_range((Included(three()), Excluded(three()))).is_empty());
    assert_eq!(world.entities_in_range(three()..=three()), [b]);
    assert_eq!(world.entities_in_range((Excluded(Faction(0)), Excluded(three()))), [a]);
    assert_eq!(world.entities_in_range::<Faction>(..), [a, b]);
}

#[derive(Component)]
struct Health(u32);

#[derive(Resource, Default)]
struct Found(Vec<Entity>);

fn find(factions: Index<Faction>, mut found: ResMut<Found>) {
    found.0 = factions.with(&Faction(7)).collect();
}

fn double(mut all: Query<&mut Faction>) {
    all.iter_mut().for_each(|mut faction| faction.0 *= 2);
}

#[test]
fn an_index_in_a_system_sees_what_systems_before_it_wrote() {
    for threads in [Threads::Serial, Threads::N(4)] {
        let mut app = App::new();
        app.configure(AppConfig { threads, ..Default::default() });
        app.init_resource::<Found>();
        app.add_systems(Update, (double, find, double).chain());
        let all: Vec<Entity> = [7, 14, 28].map(|n| app.world_mut().spawn(Faction(n)).id()).into();
        app.step(0.1);
        assert!(app.world().resource::<Found>().0.is_empty(), "seven was doubled");
        app.world_mut().get_mut::<Faction>(all[1]).unwrap().0 = 3;
        app.world_mut().spawn(Faction(3));
        app.step(0.1);
        assert!(app.world().resource::<Found>().0.is_empty());
        for faction in &mut app.world_mut().view_mut::<&mut Faction>() {
            let mut faction = faction;
            faction.0 = 5;
        }
        app.world_mut().run_system_once(find).unwrap();
        assert!(app.world().resource::<Found>().0.is_empty());
        app.world_mut().get_mut::<Faction>(all[0]).unwrap().0 = 7;
        app.world_mut().run_system_once(find).unwrap();
        assert_eq!(app.world().resource::<Found>().0, [all[0]]);
        app.world_mut().despawn(all[0]);
        app.world_mut().run_system_once(find).unwrap();
        assert!(app.world().resource::<Found>().0.is_empty(), "the dead are not found");
    }
}

#[test]
fn systems_and_the_world_share_one_index_after_a_restore() {
    let mut world = World::new();
    let a = world.spawn(Faction(7)).id();
    let mut state = SystemState::<Index<Faction>>::new(&mut world);
    let mut ask = |world: &mut World, value: u32| {
        state.lend(world, |factions| factions.with(&Faction(value)).collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(ask(&mut world, 7), [a]);
    let before = world.checkpoint();
    world.get_mut::<Faction>(a).unwrap().0 = 8;
    assert_eq!(ask(&mut world, 8), [a]);
    world.restore(&before).unwrap();
    (0..100).for_each(|_| {
        world.increment_change_tick();
    });
    assert_eq!((ask(&mut world, 7), ask(&mut world, 8)), (vec![a], vec![]));
    assert_eq!(world.entities_with(&Faction(7)), [a]);
}

#[test]
fn a_query_is_driven_by_an_index_and_passes_over_what_does_not_match() {
    let mut world = World::new();
    let [hit, hidden] = [(); 2].map(|()| world.spawn((Faction(1), Health(5))).id());
    world.spawn(Faction(1));
    world.spawn((Faction(2), Health(5)));
    world.insert(hidden, Disabled).unwrap();
    let heal = |factions: Index<Faction>, mut healths: Query<(Entity, &mut Health)>| {
        healths.iter_where_mut(&factions, &Faction(1)).for_each(|(_, mut health)| health.0 += 1);
        healths
            .iter_where(&factions, &Faction(1))
            .map(|(entity, health)| (entity, health.0))
            .collect::<Vec<_>>()
    };
    assert_eq!(world.run_system_once(heal).unwrap(), [(hit, 6)]);
}

#[test]
fn a_system_that_writes_what_its_index_reads_is_refused_by_name() {
    fn both(_: Index<Faction>, _: Query<&mut Faction>) {}
    let mut world = World::new();
    let text = world.run_system_once(both).unwrap_err().to_string();
    assert!(text.contains("Index<Faction>") && text.contains("Query<&mut Faction>"), "{text}");
}

#[test]
fn a_set_of_parameters_sees_its_own_writes_through_the_index() {
    let mut world = World::new();
    let a = world.spawn(Faction(1)).id();
    let found = world.run_system_once(move |mut set: ParamSet<(Index<Faction>, Query<&mut Faction>)>| {
        let before: Vec<Entity> = set.p0().with(&Faction(1)).collect();
        set.p1().get_mut(a).unwrap().0 = 2;
        let after: Vec<Entity> = set.p0().with(&Faction(2)).collect();
        set.p1().get_mut(a).unwrap().0 = 3;
        let factions = set.p0();
        [before, after, factions.with(&Faction(3)).collect(), factions.with(&Faction(2)).collect()]
    });
    assert_eq!(found.unwrap(), [vec![a], vec![a], vec![a], vec![]]);
}

#[test]
fn systems_read_one_index_beside_one_another_and_twice() {
    fn twice(ranks: Index<Rank>, again: Index<Rank>, teams: Index<Team>, rows: Query<&Rank>) {
        rows.iter_where(&ranks, &Rank(1)).for_each(|rank| assert_eq!(rank.0, 1));
        assert_eq!(ranks.with(&Rank(1)).count(), again.with(&Rank(1)).count());
        assert_eq!(teams.with(&Team(1)).count(), 1_000);
    }
    let mut app = App::new();
    app.configure(AppConfig { threads: Threads::N(4), ..Default::default() });
    app.world_mut().spawn_batch((0..4_000).map(|n| (Rank(n % 4), Team(n % 4))));
    for _ in 0..6 {
        app.add_systems(Update, |first: Index<Rank>, all: Query<&Rank>| {
            assert_eq!(first.with(&Rank(1)).count(), 1_000);
            #[cfg(feature = "parallel")]
            all.par_iter().for_each(|rank| assert!(rank.0 < 4 && first.with(&Rank(9)).count() == 0));
            let _ = all;
        });
        app.add_systems(Update, twice);
    }
    (0..5).for_each(|_| app.step(0.1));
}

#[test]
fn an_ordered_index_in_a_system_gives_ranges() {
    let mut world = World::new();
    let [a, b, c] = [5, 1, 3].map(|n| world.spawn(Rank(n)).id());
    let ask = |ranks: OrderedIndex<Rank>| {
        let backwards = ranks.range((std::ops::Bound::Included(Rank(3)), std::ops::Bound::Included(Rank(1))));
        assert_eq!(backwards.count(), 0);
        (ranks.range(Rank(2)..).collect::<Vec<_>>(), ranks.with(&Rank(1)).collect::<Vec<_>>())
    };
    assert_eq!(world.run_system_once(ask).unwrap(), (vec![c, a], vec![b]));
}

/// Panics when it is compared with a number that was chosen.
#[derive(Component, Clone, Debug)]
struct Touchy(u32);
static TOUCHED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(u32::MAX);
impl PartialEq for Touchy {
    fn eq(&self, other: &Self) -> bool {
        assert_ne!(self.0, TOUCHED.load(std::sync::atomic::Ordering::Relaxed), "touched");
        self.0 == other.0
    }
}
impl Eq for Touchy {}
impl std::hash::Hash for Touchy {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[test]
fn an_index_is_whole_after_a_comparison_that_panicked() {
    use std::sync::atomic::Ordering::Relaxed;
    let mut world = World::new();
    let all: Vec<Entity> = (0..10).map(|n| world.spawn(Touchy(n)).id()).collect();
    assert_eq!(world.entities_with(&Touchy(3)), [all[3]]);
    world.view_mut::<&mut Touchy>().iter_mut().for_each(|mut touchy| touchy.0 += 1);
    TOUCHED.store(5, Relaxed);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.entities_with(&Touchy(4))));
    assert!(outcome.is_err());
    TOUCHED.store(u32::MAX, Relaxed);
    for (n, &entity) in all.iter().enumerate() {
        assert_eq!(world.entities_with(&Touchy(n as u32 + 1)), [entity]);
    }
    assert!(world.entities_with(&Touchy(0)).is_empty());
}

#[test]
fn random_writes_agree_with_a_scan() {
    let (mut world, mut random) = (World::new(), Random::new(3));
    let mut alive: Vec<Entity> = Vec::new();
    for _ in 0..3_000 {
        match random.below(8) {
            0..3 => alive.push(world.spawn(Faction(random.below(6) as u32)).id()),
            3 if !alive.is_empty() => {
                world.despawn(alive.swap_remove(random.below(alive.len())));
            }
            4 if !alive.is_empty() => {
                let _ = world.insert(alive[random.below(alive.len())], Frozen);
            }
            5 if !alive.is_empty() => {
                let _ = world.remove::<Faction>(alive[random.below(alive.len())]);
            }
            6 if !alive.is_empty() => {
                let value = random.below(6) as u32;
                if let Some(mut faction) = world.get_mut::<Faction>(alive[random.below(alive.len())]) {
                    faction.0 = value;
                }
            }
            _ => {
                let mut scan: BTreeMap<u32, Vec<Entity>> = BTreeMap::new();
                for (entity, faction) in world.view::<(Entity, &Faction)>() {
                    scan.entry(faction.0).or_default().push(entity);
                }
                scan.values_mut().for_each(|entities| entities.sort_unstable());
                for value in 0..6 {
                    assert_eq!(world.entities_with(&Faction(value)), scan.remove(&value).unwrap_or_default());
                }
            }
        }
    }
}

// Hazard 78.
#[test]
fn names_are_found_by_path_and_after_renaming() {
    let mut world = World::new();
    let ship =
        world.spawn((Name::new("ship"), children![(Name::new("engine"), children![Name::new("pump")])])).id();
    let car = world.spawn((Name::new("car"), children![Name::new("engine")])).id();
    assert_eq!(world.named("ship"), Ok(ship));
    let engine = world.named("ship/engine").unwrap();
    assert_eq!(world.get::<ChildOf>(engine), Some(&ChildOf(ship)));
    assert!(world.named("ship/engine/pump").is_ok() && world.named("ship/pump").is_err());
    let error = world.named("engine").unwrap_err();
    assert!(matches!(&error, NamedError::Several { entities, .. } if entities.len() == 2), "{error}");
    assert!(
        error.to_string().starts_with("2 entities are called \"engine\": 1v0, 4v0; name an ancestor"),
        "{error}"
    );
    world.get_mut::<Name>(ship).unwrap().set("wreck");
    assert_eq!(world.named("ship"), Err(NamedError::NotFound { path: "ship".to_owned() }));
    assert_eq!(world.named("wreck/engine"), Ok(engine));
    world.entity_mut(car).add_child(engine);
    assert!(world.named("wreck/engine").is_err());
    for path in ["", "/", "car/", "/car", "car//engine"] {
        assert!(matches!(world.named(path), Err(NamedError::EmptyPart { .. })), "{path:?}");
    }
}

#[test]
fn an_error_about_a_name_of_many_lists_the_first_and_says_that_there_are_more() {
    let mut world = World::new();
    let all: Vec<Entity> = (0..9).map(|_| world.spawn(Name::new("sheep")).id()).collect();
    let message = world.named("sheep").unwrap_err().to_string();
    assert!(message.starts_with("9 entities") && message.contains(&format!("{}, ..;", all[7])), "{message}");
    world.despawn(all[8]);
    let message = world.named("sheep").unwrap_err().to_string();
    assert!(message.contains(&format!("{};", all[7])) && !message.contains(".."), "{message}");
}

#[test]
fn relations_and_indexes_are_right_after_a_restore() {
    let mut world = World::new();
    let root = world.spawn((Faction(1), children![Faction(2), Faction(3)])).id();
    let children = world.get::<Children>(root).unwrap().to_vec();
    assert_eq!(world.entities_with(&Faction(2)), [children[0]]);
    let before = world.checkpoint();
    world.entity_mut(children[0]).remove::<ChildOf>().insert(Faction(9));
    world.despawn(children[1]);
    assert!(world.entities_with(&Faction(2)).is_empty());
    world.restore(&before).unwrap();
    world.check().unwrap();
    assert_eq!(world.get::<Children>(root).unwrap()[..], children);
    assert_eq!(world.entities_with(&Faction(2)), [children[0]]);
    assert!(world.entities_with(&Faction(9)).is_empty());
    world.despawn(root);
    assert_eq!(world.entities().len(), 0);
}
