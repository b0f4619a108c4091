//! Worlds and types that are as awkward as a program may make them.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;
use phalanx::save::{LoadError, Loader, SaveRegistry};
use serde::{Deserialize, Serialize};

use super::cast::*;
use super::dump::{dump, groups};

fn load(loader: &mut Loader, world: &mut World, level: &World) -> Result<(), LoadError> {
    let bytes = to_postcard(level);
    let done = loader.load_into(world, &mut postcard::Deserializer::from_bytes(&bytes), &registry());
    world.check().expect("whole");
    done.map(drop)
}

#[test]
fn disabled_entities_are_disabled_in_the_loaded_world() {
    let mut world = World::new();
    let ship = world.spawn((Frozen, DisabledTree)).id();
    let engine = world.spawn((Frozen, ChildOf(ship))).id();
    let sleeper = world.spawn((Frozen, Disabled)).id();
    world.flush();
    assert_eq!(world.view::<&Frozen>().count(), 0);
    // The types of the library need no word from the program.
    for loaded in [from_json(&to_json(&world), &registry()), from_postcard(&to_postcard(&world), &registry())]
    {
        let mut loaded = loaded.expect("loaded");
        loaded.check().expect("whole");
        assert_eq!(loaded.digest(), world.digest());
        assert_eq!(loaded.view::<&Frozen>().count(), 0);
        loaded.entity_mut(ship).remove::<DisabledTree>();
        assert!(!loaded.entity(engine).is_disabled() && loaded.entity(sleeper).is_disabled());
    }
}

#[test]
fn a_loader_leaves_groups_pools_indexes_and_disabled_entities_right() {
    let mut level = World::new();
    let hot = level.spawn((Burning(1.0), Marked, Armour { class: 1, given_by: Entity::PLACEHOLDER })).id();
    let named = level.spawn((Name::new("gate"), Burning(2.0), Disabled)).id();
    let orc = level.spawn_in(Orcs { health: Health { current: 1.0, max: 2.0 }, rage: None, burning: None });
    let below = level.spawn((Marked, ChildOf(named))).id();

    let mut world = World::new();
    let strangers: Vec<Entity> = (0..5)
        .map(|_| world.spawn((Marked, Burning(0.5), Armour { class: 9, given_by: Entity::PLACEHOLDER })).id())
        .collect();
    world.insert(strangers[2], Frozen).expect("alive");
    groups(&mut world);
    let door = world.spawn((Name::new("door"), Disabled)).id();
    assert_eq!(world.named("door"), Ok(door));
    let mut loader = Loader::new();
    for round in 0..3 {
        load(&mut loader, &mut world, &level).expect("loaded");
        let here = |saved| loader.get(saved).expect("loaded");
        let group: super::dump::Hot = world.group().expect("it is there");
        let of_group: BTreeSet<Entity> = group.entities(&world).iter().copied().collect();
        let mut expected: BTreeSet<Entity> =
            strangers.iter().copied().filter(|&one| one != strangers[2]).collect();
        expected.insert(here(hot));
        assert_eq!(of_group, expected, "round {round}");
        assert_eq!(world.named(if round == 0 { "gate" } else { "wall" }), Ok(here(named)), "round {round}");
        assert_eq!(world.named("door"), Ok(door));
        assert!(world.entity(here(named)).is_disabled());
        assert_eq!(world.pool_of(here(orc)), world.pool_id::<Orcs>());
        assert_eq!(world.get::<ChildOf>(here(below)).map(ChildOf::parent), Some(here(named)));
        level.insert(named, Name::new("wall")).expect("alive");
    }
    level.despawn(named);
    load(&mut loader, &mut world, &level).expect("loaded");
    assert!(world.named("wall").is_err());
}

#[derive(Component, Clone, Serialize, Deserialize)]
#[component(save, name = "game.Bomb", storage = "sparse")]
struct Bomb(u32);

static ARMED: AtomicU32 = AtomicU32::new(0);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 == 13 && ARMED.swap(0, Ordering::Relaxed) == 1 {
            panic!("told to panic");
        }
    }
}

// What a replaced value does when it is dropped cannot come between a loader and the links it has to put back.
#[test]
fn a_panic_in_drop_is_passed_on_when_everything_is_loaded() {
    let mut types = registry();
    types.register::<Bomb>();
    let mut level = World::new();
    let (a, b) = (level.spawn(Bomb(13)).id(), level.spawn(Bomb(1)).id());
    level.insert(b, ChildOf(a)).expect("alive");
    let mut world = World::new();
    let mut loader = Loader::new();
    let mut load = |world: &mut World, level: &World| {
        let bytes = to_postcard(level);
        let load =
            || loader.load_into(world, &mut postcard::Deserializer::from_bytes(&bytes), &types).map(drop);
        let outcome = catch_unwind(AssertUnwindSafe(load));
        (outcome, loader.get(a).expect("loaded"))
    };
    let (first, here) = load(&mut world, &level);
    assert!(matches!(first, Ok(Ok(()))));
    let own = world.spawn(ChildOf(here)).id();
    level.get_mut::<Bomb>(a).expect("alive").0 = 2;
    ARMED.store(1, Ordering::Relaxed);
    let (outcome, again) = load(&mut world, &level);
    assert!(outcome.is_err(), "the old value panicked");
    world.check().expect("whole");
    assert_eq!(again, here);
    assert_eq!(world.get::<Bomb>(here).map(|bomb| bomb.0), Some(2));
    assert_eq!(world.get::<ChildOf>(own).map(ChildOf::parent), Some(here), "the world's own link is back");
}

#[test]
fn a_name_that_two_types_claim_is_refused_when_it_is_claimed() {
    #[derive(Resource, Serialize, Deserialize)]
    #[resource(save, name = "game.One")]
    struct One(u32);
    #[derive(Resource, Serialize, Deserialize)]
    #[resource(save, name = "game.One")]
    struct AlsoOne(u32);
    #[derive(Message, Serialize, Deserialize)]
    #[message(save, name = "game.Word")]
    struct Word;
    #[derive(Message, Serialize, Deserialize)]
    #[message(save, name = "game.Word")]
    struct AlsoWord;
    #[derive(Component, Serialize, Deserialize)]
    #[component(save, name = "game.Frozen")]
    struct AlsoFrozen;
    #[derive(Component, Clone, Serialize, Deserialize)]
    #[component(save, name = "game.Likes")]
    #[relationship(many)]
    struct AlsoLikes(Entity);
    let refused = |register: fn(&mut SaveRegistry)| {
        let panic = catch_unwind(|| {
            let mut types = registry();
            types.register::<One>().register::<Word>().register::<One>().register::<Word>();
            register(&mut types);
        });
        let message = panic.expect_err("two types of one name");
        message.downcast::<String>().map(|message| *message).unwrap_or_default()
    };
    assert!(
        refused(|types| {
            types.register::<AlsoOne>();
        })
        .contains("two resources are called `game.One`")
    );
    assert!(
        refused(|types| {
            types.register::<AlsoWord>();
        })
        .contains("two messages are called `game.Word`")
    );
    assert!(
        refused(|types| {
            types.register::<AlsoFrozen>();
        })
        .contains("two components are called `game.Frozen`")
    );
    assert!(
        refused(|types| {
            types.register::<AlsoLikes>();
        })
        .contains("two components are called `game.Likes`")
    );
    // A world that has both writes nothing that could not be loaded.
    let mut world = World::new();
    world.insert_resource(One(1));
    to_json(&world);
    world.insert_resource(AlsoOne(2));
    let error = world.save(serde_json::value::Serializer).expect_err("one name").to_string();
    assert!(error.contains("game.One"), "{error}");
    assert!(world.write_file(std::env::temp_dir().join("phalanx-never-written")).is_err());
}

#[test]
fn a_resource_that_is_not_registered_is_refused_and_told_so() {
    let mut world = World::new();
    world.insert_resource(Score { points: 3, leader: None });
    let mut few = SaveRegistry::new();
    few.unknown(phalanx::save::Unknown::Keep);
    let error = from_json(&to_json(&world), &few).map(|_| ()).expect_err("a resource is missing");
    assert_eq!(error, LoadError::Unknown { kind: "resource", name: "game.Score".into() });
    assert!(!error.to_string().contains("unknown"), "only components can be kept: {error}");
    // A save without the resource leaves that of the world alone.
    let mut into = World::new();
    into.insert_resource(Score { points: 7, leader: None });
    load(&mut Loader::new(), &mut into, &World::new()).expect("loaded");
    assert_eq!(into.resource::<Score>().points, 7);
}

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.Nothing")]
struct Nothing {}

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, name = "game.NothingInSet", storage = "sparse")]
struct NothingInSet((), [u8; 0]);

#[test]
fn values_without_size_come_back_however_many_there_are() {
    let mut types = registry();
    types.register::<Nothing>().register::<NothingInSet>();
    let mut world = World::new();
    world.spawn_batch((0..3_000).map(|_| (Nothing {}, NothingInSet((), []), Frozen)));
    for loaded in [from_json(&to_json(&world), &types), from_postcard(&to_postcard(&world), &types)] {
        let loaded = loaded.expect("loaded");
        loaded.check().expect("whole");
        assert_eq!(loaded.digest(), world.digest());
        assert_eq!(loaded.view::<(&Nothing, &NothingInSet, &Frozen)>().count(), 3_000);
    }
}

#[test]
fn numbers_that_are_none_are_kept_bit_for_bit_also_as_keys_and_in_lists() {
    #[derive(Component, Clone, Serialize, Deserialize)]
    #[component(save, name = "game.Odd")]
    struct Odd {
        list: Vec<f64>,
        by_name: std::collections::BTreeMap<String, f32>,
        pairs: std::collections::BTreeMap<(u8, bool), Option<f32>>,
        maybe: Option<Option<f32>>,
    }
    let odd = Odd {
        list: vec![f64::NAN, -f64::NAN, f64::INFINITY, f64::from_bits(0x7ff0_0000_0000_0001), -0.0, 5e-324],
        by_name: [("a".to_owned(), f32::NAN), ("NaN".to_owned(), f32::NEG_INFINITY)].into(),
        pairs: [((1, true), Some(f32::from_bits(0xffc0_0001))), ((2, false), None)].into(),
        maybe: Some(Some(f32::NAN)),
    };
    let bits = |odd: &Odd| {
        let list: Vec<u64> = odd.list.iter().map(|value| value.to_bits()).collect();
        let names: Vec<_> = odd.by_name.iter().map(|(name, value)| (name.clone(), value.to_bits())).collect();
        let pairs: Vec<_> = odd.pairs.iter().map(|(key, value)| (*key, value.map(f32::to_bits))).collect();
        (list, names, pairs, odd.maybe.map(|value| value.map(f32::to_bits)))
    };
    let mut types = registry();
    types.register::<Odd>();
    let mut world = World::new();
    let e = world.spawn(odd.clone()).id();
    let forms = [
        from_json(&to_json(&world), &types),
        from_postcard(&to_postcard(&world), &types),
        from_ron(&to_ron(&world), &types),
    ];
    for loaded in forms {
        let loaded = loaded.expect("loaded");
        assert_eq!(loaded.get::<Odd>(e).map(bits), Some(bits(&odd)));
        let _ = dump(&loaded);
    }
}
