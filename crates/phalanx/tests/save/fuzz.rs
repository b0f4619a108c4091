//! The short form of the fuzzer: its corpus, and mutations of it by a generator with a seed. Hazard 80.
//!
//! What the fuzzer finds becomes a file of the corpus, which is loaded here in every run.

use super::random::Random;
use super::steps::model_steps;

#[path = "../../../../fuzz/fuzz_targets/forms.rs"]
mod forms;

fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/load");
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(folder)
        .expect("the corpus is part of the repository")
        .map(|file| {
            let path = file.expect("it can be listed").path();
            (path.display().to_string(), std::fs::read(path).expect("it can be read"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn the_corpus_is_loaded_without_harm() {
    let corpus = corpus();
    assert!(corpus.len() >= 7, "one file for each form: {}", corpus.len());
    for (path, bytes) in corpus {
        let outcome = std::panic::catch_unwind(|| forms::load(&bytes));
        assert!(outcome.is_ok(), "{path}");
    }
}

#[test]
fn mutations_of_the_corpus_are_loaded_without_harm() {
    let (corpus, mut random) = (corpus(), Random::new(19));
    for round in 0..model_steps(400, 3_000) {
        let mut bytes = corpus[random.below(corpus.len())].1.clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &corpus, &mut random);
        }
        let outcome = std::panic::catch_unwind(|| forms::load(&bytes));
        assert!(outcome.is_ok(), "round {round}: {bytes:?}");
    }
}

/// Changes anything but the first byte, which is the form.
fn mutate(bytes: &mut Vec<u8>, corpus: &[(String, Vec<u8>)], random: &mut Random) {
    if bytes.len() < 3 {
        return;
    }
    let at = 1 + random.below(bytes.len() - 1);
    match random.below(7) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff][random.below(7)],
        2 => drop(bytes.remove(at)),
        3 => bytes.insert(at, [0, 1, 0x80, 0xff][random.below(4)]),
        4 => bytes[at] = bytes[at].wrapping_add(1),
        5 => {
            // A part of the same input once more.
            let from = 1 + random.below(bytes.len() - 1);
            let part = bytes[from..bytes.len().min(from + 1 + random.below(24))].to_vec();
            bytes.splice(at..at, part);
        }
        _ => {
            // A part of another input in the place of this one's.
            let other = &corpus[random.below(corpus.len())].1;
            let from = random.below(other.len());
            let part = &other[from..other.len().min(from + 1 + random.below(24))];
            let end = bytes.len().min(at + part.len());
            bytes.splice(at..end, part.iter().copied());
        }
    }
}
