//! Saves that are damaged, or made to do harm: each is an error that says where, or a world that is whole; and memory
//! follows the length of what is read. Hazard 80.

use phalanx::prelude::*;
use phalanx::save::{LoadError, Loader};

use super::cast::*;
use super::dump::{dump, groups};
use super::model::Sim;
use super::random::Random;
use super::steps::model_steps;

/// A small world with a bit of everything.
fn sample() -> World {
    let mut world = World::new();
    let mut sim = Sim::new(7, &mut world);
    for _ in 0..120 {
        sim.step(&mut world);
    }
    groups(&mut world);
    world.flush();
    world
}

/// Loads, and if that works, looks at all of the world.
fn probe(bytes: &[u8], load: impl FnOnce(&[u8]) -> Result<World, LoadError>) -> bool {
    match load(bytes) {
        Ok(world) => {
            world.check().expect("what was loaded is whole");
            let _ = dump(&world);
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn a_save_that_ends_at_any_byte_is_an_error() {
    let (types, world) = (registry(), sample());
    let compact = to_postcard(&world);
    let stride = (compact.len() / 700).max(1);
    for end in (0..compact.len()).step_by(stride) {
        assert!(!probe(&compact[..end], |bytes| from_postcard(bytes, &types)), "postcard, {end} bytes");
    }
    let text = to_json(&world);
    for end in (0..text.len()).step_by((text.len() / 60).max(1)) {
        assert!(!probe(&text[..end], |bytes| from_json(bytes, &types)), "JSON, {end} bytes");
    }
}

#[test]
fn flipped_bits_and_other_bytes_never_break_a_world() {
    let (types, mut random) = (registry(), Random::new(3));
    let compact = to_postcard(&sample());
    let text = to_json(&sample());
    for round in 0..model_steps(300, 900) {
        let form = if round % 4 == 0 { &text } else { &compact };
        let mut bytes = form.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
                2 => drop(bytes.remove(at)),
                3 => bytes.insert(at, bytes[at]),
                _ => {
                    let from = random.below(bytes.len());
                    bytes[at] = bytes[from];
                }
            }
        }
        if round % 4 == 0 {
            probe(&bytes, |bytes| from_json(bytes, &types));
        } else {
            probe(&bytes, |bytes| from_postcard(bytes, &types));
        }
    }
}

#[test]
fn counts_that_are_only_claimed_end_at_once() {
    let types = registry();
    // A head whose slots, rows and lists are as many as numbers can say.
    for huge in [&[0xff; 9][..], &[0xff, 0xff, 0xff, 0xff, 0x0f], &[0x80, 0x80, 0x80, 0x80, 0x10]] {
        let mut head = vec![0, 0, 0, 0, 1, 0, 0];
        head.extend_from_slice(huge);
        for rest in 0..8 {
            let mut piece = head.clone();
            piece.extend(vec![0; rest]);
            let mut bytes = vec![1, u8::try_from(piece.len()).expect("short")];
            bytes.extend(piece);
            assert!(!probe(&bytes, |bytes| from_postcard(bytes, &types)));
        }
        assert!(!probe(huge, |bytes| from_postcard(bytes, &types)));
    }
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} is not in {text}");
    text.replacen(from, to, 1)
}

#[test]
fn what_does_not_fit_together_is_told() {
    let mut world = World::new();
    let a = world.spawn((Health { current: 1.0, max: 2.0 }, Burning(1.0))).id();
    world.spawn((Health { current: 3.0, max: 4.0 }, Burning(2.0)));
    world.spawn((Frozen, Health { current: 3.0, max: 4.0 }));
    let gone = world.spawn_empty().id();
    world.despawn(gone);
    world.write_message(Hit(a, 1.0));
    let text = String::from_utf8(to_json(&world)).expect("JSON is UTF-8");
    let cases = [
        (r#""entity":"1v0","values""#, r#""entity":"0v0","values""#, "slot 0 is there twice"),
        (r#""entity":"1v0","value":"#, r#""entity":"0v0","value":"#, "is there twice"),
        (r#""entity":"1v0","value":"#, r#""entity":"1v1","value":"#, "is not alive"),
        (r#""free":["3v1"]"#, r#""free":["3v1","3v1"]"#, "slot 3 is there twice"),
        (r#""free":["3v1"]"#, r#""free":[]"#, "slots claimed"),
        (r#""free":["3v1"]"#, r#""free":["3v4294967294"]"#, "a generation that no entity can have"),
        (r#""count":4"#, r#""count":4294967295"#, "slots claimed"),
        (r#""components":["game.Health"]"#, r#""components":["game.Health","game.Health"]"#, "missing"),
        (r#""name":"game.Burning""#, r#""name":"game.Health""#, "listed"),
        (r#""holes":[]"#, r#""holes":[7]"#, "holes"),
        (r#""version":2"#, r#""version":9"#, "version 9"),
        (r#""storage":"table""#, r#""storage":"tables""#, "no kind of storage"),
        (r#""first":0"#, r#""first":18446744073709551615"#, "numbers of messages"),
        (r#""current":1.0"#, r#""current":[]"#, "field `current`"),
        (r#""groups":[]"#, r#""groups":[{"own":["game.Health"],"get":[],"without":[]}]"#, "group 0"),
        (r#""phalanx":1"#, r#""phalanx":2"#, "form 2"),
        (r#""kept":[]"#, r#""kept":[],"more":1"#, "`more` means nothing"),
    ];
    for (from, to, told) in cases {
        let error = from_json(changed(&text, from, to).as_bytes(), &registry()).map(|_| ());
        let error = error.expect_err(to).to_string();
        assert!(error.contains(told), "{to}: {error}");
    }
}

// Hazard 87.
#[test]
fn a_world_that_is_loaded_into_is_untouched_by_errors() {
    let types = registry();
    let compact = to_postcard(&sample());
    let mut world = sample();
    let before = dump(&world);
    let mut loader = Loader::new();
    let mut random = Random::new(5);
    let mut refused = 0;
    for _ in 0..150 {
        let mut bytes = compact.clone();
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        let mut deserializer = postcard::Deserializer::from_bytes(&bytes);
        let mut probe = Loader::new();
        std::mem::swap(&mut probe, &mut loader);
        if probe.load_into(&mut world, &mut deserializer, &types).is_ok() {
            world = sample();
            continue;
        }
        refused += 1;
        assert!(dump(&world) == before, "the world is not as it was");
        world.check().expect("whole");
    }
    assert!(refused > 20, "{refused}");
}

// Hazard 87.
#[test]
fn a_panic_while_saving_or_loading_leaves_both_sides_whole() {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[derive(Component, PartialEq, Debug)]
    #[component(save, name = "game.Touchy")]
    struct Touchy(u32);
    impl Serialize for Touchy {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            assert!(self.0 != 13, "told to panic");
            serializer.serialize_u32(self.0)
        }
    }
    impl<'de> Deserialize<'de> for Touchy {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let value = u32::deserialize(deserializer)?;
            assert!(value != 7, "told to panic");
            Ok(Self(value))
        }
    }
    let mut types = phalanx::save::SaveRegistry::new();
    types.register::<Touchy>();
    let mut world = World::new();
    let entities: Vec<Entity> = (0..9).map(|at| world.spawn(Touchy(at)).id()).collect();
    let bytes = to_postcard(&world);
    let mut other = World::new();
    other.spawn(Touchy(1));
    let load =
        || Loader::new().load_into(&mut other, &mut postcard::Deserializer::from_bytes(&bytes), &types);
    assert!(catch_unwind(AssertUnwindSafe(load)).is_err());
    other.check().expect("whole");
    assert_eq!(other.entities().len(), 1);
    world.get_mut::<Touchy>(entities[3]).expect("alive").0 = 13;
    assert!(catch_unwind(AssertUnwindSafe(|| to_postcard(&world))).is_err());
    world.check().expect("whole");
    // Ids that are read from now on are not those of the load that ended by a panic.
    assert_eq!(serde_json::from_str::<Entity>("\"5v2\"").expect("an id").to_string(), "5v2");
}

/// A world of few bytes with a row, a set, a link, a resource and a message.
fn tiny() -> World {
    let mut world = World::new();
    let a = world.spawn((Health { current: 1.0, max: 2.0 }, Seat("s".into()))).id();
    world.spawn((Mind::Hunting(a), ChildOf(a)));
    let gone = world.spawn_empty().id();
    world.despawn(gone);
    world.insert_resource(Score { points: 3, leader: Some(a) });
    world.write_message(Hit(a, 1.0));
    world
}

fn tiny_file() -> Vec<u8> {
    let path = std::env::temp_dir().join(format!(
        "phalanx-tiny-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    tiny().write_file(&path).expect("written");
    let bytes = std::fs::read(&path).expect("it was written");
    let _ = std::fs::remove_file(&path);
    bytes
}

// Hazard 80: truncated at every byte, in every form.
#[test]
fn a_small_save_that_ends_at_any_byte_is_an_error() {
    let types = registry();
    let (compact, text, file) = (to_postcard(&tiny()), to_json(&tiny()), tiny_file());
    for end in 0..compact.len() {
        assert!(!probe(&compact[..end], |bytes| from_postcard(bytes, &types)), "postcard, {end} bytes");
    }
    for end in 0..text.len() {
        assert!(!probe(&text[..end], |bytes| from_json(bytes, &types)), "JSON, {end} bytes");
    }
    for end in 0..file.len() {
        assert!(!probe(&file[..end], |bytes| World::read_file_bytes([bytes], &types)), "file, {end} bytes");
    }
    assert!(probe(&compact, |bytes| from_postcard(bytes, &types)));
    assert!(probe(&text, |bytes| from_json(bytes, &types)));
    assert!(probe(&file, |bytes| World::read_file_bytes([bytes], &types)));
}

// Hazard 80: every bit flipped. A file has checksums: no flip goes unnoticed.
#[test]
fn each_flipped_bit_of_a_small_save_is_found_or_does_no_harm() {
    let types = registry();
    let (compact, text, file) = (to_postcard(&tiny()), to_json(&tiny()), tiny_file());
    for (at, bit) in (0..file.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = file.clone();
        bytes[at] ^= 1 << bit;
        assert!(!probe(&bytes, |bytes| World::read_file_bytes([bytes], &types)), "bit {bit} of byte {at}");
    }
    for (at, bit) in (0..compact.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = compact.clone();
        bytes[at] ^= 1 << bit;
        probe(&bytes, |bytes| from_postcard(bytes, &types));
    }
    for (at, bit) in (0..text.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut bytes = text.clone();
        bytes[at] ^= 1 << bit;
        probe(&bytes, |bytes| from_json(bytes, &types));
    }
}

// Hazard 80: columns with more or fewer values than the table has rows, pieces that are missing, doubled, or too many.
#[test]
fn columns_of_a_wrong_length_are_refused() {
    let types = registry();
    let mut world = World::new();
    world.spawn_batch((0..3u8).map(|at| Health { current: f32::from(at), max: 2.0 }));
    let bytes = to_postcard(&world);
    let pieces: Vec<Vec<u8>> = postcard::from_bytes(&bytes).expect("a list of byte strings");
    let column = pieces.iter().position(|piece| piece[0] == 4).expect("a column");
    let load = |pieces: &Vec<Vec<u8>>| {
        let bytes = postcard::to_stdvec(pieces).expect("a vector takes everything");
        from_postcard(&bytes, &types).map(|_| ()).expect_err("refused").to_string()
    };
    for count in [0, 1, 2, 4, 200] {
        let mut wrong = pieces.clone();
        assert_eq!(wrong[column][4], 3, "the number of values");
        wrong[column][4] = count;
        let told = load(&wrong);
        assert!(told.contains("game.Health"), "{count}: {told}");
    }
    for at in 0..pieces.len() {
        let mut wrong = pieces.clone();
        let piece = wrong.remove(at);
        assert!(load(&wrong).contains("missing"), "piece {at}");
        wrong.insert(at, piece.clone());
        wrong.push(piece);
        assert!(load(&wrong).contains("twice"), "piece {at}");
    }
    let mut more = pieces;
    more.push(vec![8, 7, 0, 0]);
    assert!(load(&more).contains("nothing else in the save speaks of it"));
}

// Hazard 80: a living id whose generation was used up, and one in a slot that is retired.
#[test]
fn ids_of_retired_slots_are_refused() {
    let mut world = World::new();
    world.spawn(Frozen);
    let text = String::from_utf8(to_json(&world)).expect("JSON is UTF-8");
    for (from, to) in [
        (r#""entity":"0v0""#, r#""entity":"0v4294967295""#),
        (r#""entity":"0v0""#, r#""entity":"0v4294967294""#),
        (r#""retired":[]"#, r#""retired":[0]"#),
        (r#""retired":[]"#, r#""retired":[4294967295]"#),
    ] {
        let error = from_json(changed(&text, from, to).as_bytes(), &registry()).map(|_| ()).expect_err(to);
        assert!(error.to_string().contains("the save"), "{error}");
    }
}
