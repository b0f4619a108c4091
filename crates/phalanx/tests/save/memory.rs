//! Memory while loading follows the length of what is read, whatever that claims. Hazard 80.

use phalanx::prelude::*;
use phalanx::save::{SaveRegistry, Unknown};

use super::cast::*;
use super::counting::peak;
use super::model::Sim;
use super::random::Random;

/// What a load of this many bytes may hold at most: a small multiple of them, and what an empty world takes.
fn limit(bytes: usize) -> usize {
    64 * bytes + (256 << 10)
}

fn peak_of(bytes: &[u8], types: &SaveRegistry, form: char) -> usize {
    let (most, _) = peak(|| match form {
        'j' => from_json(bytes, types).is_ok(),
        'r' => std::str::from_utf8(bytes).is_ok_and(|text| from_ron(text, types).is_ok()),
        'f' => World::read_file_bytes([bytes], types).is_ok(),
        _ => from_postcard(bytes, types).is_ok(),
    });
    most
}

fn keeping() -> SaveRegistry {
    let mut types = registry();
    types.unknown(Unknown::Keep);
    types
}

#[test]
fn a_few_bytes_that_claim_everything_cost_nearly_nothing() {
    let types = keeping();
    let most = |bytes: &[u8]| {
        ['p', 'j', 'r', 'f'].into_iter().map(|form| peak_of(bytes, &types, form)).max().expect("four forms")
    };
    let mut random = Random::new(4);
    for _ in 0..2_000 {
        let three: [u8; 3] = std::array::from_fn(|_| [0, 1, 3, 0x0f, 0x7f, 0x80, 0xff][random.below(7)]);
        assert!(most(&three) < 1 << 20, "{three:?}");
    }
    // 2^32, and more, as the number of slots, of free ones, of rows and of values.
    for count in [&[0x80, 0x80, 0x80, 0x80, 0x10][..], &[0xff; 9], &[0xff, 0xff, 0xff, 0xff, 0x0f]] {
        for zeros in 0..12 {
            let mut head = vec![0, 0, 0, 0, 1];
            head.extend(vec![0; zeros]);
            head.extend_from_slice(count);
            head.extend(vec![0; 12]);
            let mut bytes = vec![1, u8::try_from(head.len()).expect("short")];
            bytes.extend(head);
            assert!(most(&bytes) < 1 << 20, "{bytes:?}");
            assert!(most(count) < 1 << 20, "{count:?}");
        }
    }
    let text =
        br#"{"phalanx":1,"components":[],"pools":[],"slots":{"count":4294967296,"free":[],"retired":[],
        "without_row":[]},"tables":[],"sets":[],"groups":[],"resources":[],"messages":[],"kept":[]}"#;
    assert!(most(text) < 1 << 20);
}

#[test]
fn memory_is_bounded_by_a_small_multiple_of_damaged_input() {
    let types = keeping();
    let mut world = World::new();
    let mut sim = Sim::new(11, &mut world);
    (0..600).for_each(|_| sim.step(&mut world));
    world.flush();
    let (compact, text, ron) = (to_postcard(&world), to_json(&world), to_ron(&world).into_bytes());
    let mut random = Random::new(8);
    let mut worst = 0.0f64;
    for round in 0..400 {
        let (form, whole) = [('p', &compact), ('j', &text), ('r', &ron)][round % 3];
        let mut bytes = whole.clone();
        for _ in 0..round % 4 {
            let at = random.below(bytes.len());
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff, bytes[at] ^ 4][random.below(6)];
        }
        let most = peak_of(&bytes, &types, form);
        worst = worst.max(most as f64 / bytes.len() as f64);
        assert!(most <= limit(bytes.len()), "{form}: {most} bytes for {}", bytes.len());
    }
    println!("at most {worst:.1} bytes for each byte of a save of {} or {} bytes", compact.len(), text.len());
}

/// Inputs of which each byte is to become as much memory as possible.
#[test]
fn memory_is_bounded_for_input_that_is_made_to_swell() {
    let types = keeping();
    for part in
        ["0,", "[],", "{},", "null,", "[[[[]]]],", "{\"\":0},", "\"\",", "1e9,", "{\"entity\":\"0v0\"},"]
    {
        let inner = part.repeat(60_000 / part.len());
        let list = format!("[{}]", inner.trim_end_matches(','));
        let mut cases = vec![list.clone()];
        for key in
            ["components", "pools", "slots", "tables", "sets", "groups", "resources", "messages", "kept"]
        {
            cases.push(format!("{{\"phalanx\":1,\"{key}\":{list}}}"));
        }
        let kept = r#"{"phalanx":1,"components":[],"pools":[],"slots":{"count":1,"free":[],"retired":[],
            "without_row":["0v0"]},"tables":[],"sets":[],"groups":[],"resources":[],"messages":[],"kept":[{
            "name":"x","version":1,"readable":true,"rows":[{"entity":"0v0","value":"#;
        cases.push(format!("{kept}{list}}}]}}]}}"));
        for case in cases {
            let most = peak_of(case.as_bytes(), &types, 'j');
            assert!(most <= limit(case.len()), "{most} bytes for {} of {part}", case.len());
        }
    }
    // The same byte over and over, in each part of a compact save.
    for byte in [0u8, 1, 2, 0x7f, 0x80] {
        for part in 0..12u8 {
            let mut piece = vec![part, 0, 0, 0];
            piece.extend(vec![byte; 100_000]);
            let save =
                postcard::to_stdvec(&[&piece[..], &[0, 0, 0, 0, 1]]).expect("a vector takes everything");
            let most = peak_of(&save, &types, 'p');
            assert!(most <= limit(save.len()), "{most} bytes for {} of part {part}", save.len());
        }
    }
}
