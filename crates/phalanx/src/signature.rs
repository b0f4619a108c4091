//! A set of component ids as bits: the identity of an archetype, and the terms of a filter.
//!
//! ```text
//!   head: [u64; 2]   ids 0..128, inside the value: most worlds never follow a pointer
//!   tail: Box<[u64]> ids 128.., as many words as the highest id needs, none when all are below 128
//! ```
//!
//! Invariant: the last word of `tail` is never zero, so equal sets have equal words, and equality and
//! hashing can be those of the words. A signature is written once: every operation makes a new one.
//! This file knows nothing of archetypes, nor of what an id stands for.

use std::array;
use std::fmt;

use crate::registry::ComponentId;

const BITS: usize = 64;
const HEAD: usize = 2;

/// A set of component ids, without a limit on their number.
#[derive(Default, PartialEq, Eq, Hash)]
pub struct Signature {
    head: [u64; HEAD],
    tail: Box<[u64]>,
}

impl Signature {
    /// The empty set.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The set of these ids; one given twice counts once.
    pub fn from_ids(ids: impl IntoIterator<Item = ComponentId>) -> Self {
        let mut words = Vec::new();
        for id in ids {
            add_to(&mut words, id);
        }
        Self::from_words(&words)
    }

    fn from_words(words: &[u64]) -> Self {
        Self::build(words.len(), |i| words.get(i).copied().unwrap_or(0))
    }

    /// Whether the id is in the set.
    #[inline]
    pub fn has(&self, id: ComponentId) -> bool {
        let (word, bit) = location(id);
        self.word(word) & bit != 0
    }

    /// A copy that has the id.
    #[must_use]
    pub fn with(&self, id: ComponentId) -> Self {
        let (word, bit) = location(id);
        Self::build(self.words().max(word + 1), |i| self.word(i) | if i == word { bit } else { 0 })
    }

    /// A copy that lacks the id.
    #[must_use]
    pub fn without(&self, id: ComponentId) -> Self {
        let (word, bit) = location(id);
        Self::build(self.words(), |i| self.word(i) & if i == word { !bit } else { u64::MAX })
    }

    /// The ids in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::build(self.words().max(other.words()), |i| self.word(i) | other.word(i))
    }

    /// The ids in this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self::build(self.words(), |i| self.word(i) & !other.word(i))
    }

    /// The ids in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self::build(self.words().min(other.words()), |i| self.word(i) & other.word(i))
    }

    /// Whether every id of the other set is in this one. Everything contains the empty set.
    #[inline]
    pub fn contains(&self, other: &Self) -> bool {
        // The last word of a tail is not zero, so a longer tail has an id that this set lacks.
        other.tail.len() <= self.tail.len()
            && self.head.iter().zip(&other.head).all(|(a, b)| a & b == *b)
            && self.tail.iter().zip(&other.tail).all(|(a, b)| a & b == *b)
    }

    /// Whether some id is in both sets. Nothing overlaps the empty set.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.head.iter().zip(&other.head).any(|(a, b)| a & b != 0)
            || self.tail.iter().zip(&other.tail).any(|(a, b)| a & b != 0)
    }

    /// Whether the set has no id.
    pub fn is_empty(&self) -> bool {
        self.head == [0; HEAD] && self.tail.is_empty()
    }

    /// How many ids are in the set.
    pub fn len(&self) -> usize {
        self.head.iter().chain(&self.tail).map(|word| word.count_ones() as usize).sum()
    }

    /// The ids, lowest first.
    pub fn iter(&self) -> Ids<'_> {
        Ids { signature: self, word: 0, bits: self.head[0] }
    }

    /// A hash that depends on the ids alone and is the same in every process: 64-bit FNV-1a over the
    /// bytes of the words, lowest first, without the zero words at the end.
    pub fn fingerprint(&self) -> u64 {
        // Byte by byte: a whole word per step would let the top bits of neighbouring words cancel out.
        let used = (0..self.words()).rev().find(|&i| self.word(i) != 0).map_or(0, |last| last + 1);
        let bytes = (0..used).flat_map(|i| self.word(i).to_le_bytes());
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// The set whose `i`-th word is `word(i)`. Words from `count` on must be zero.
    #[inline]
    fn build(count: usize, word: impl Fn(usize) -> u64) -> Self {
        if count <= HEAD {
            return Self { head: array::from_fn(word), tail: Box::default() };
        }
        let mut tail: Vec<u64> = (HEAD..count).map(&word).collect();
        while tail.last() == Some(&0) {
            tail.pop();
        }
        Self { head: array::from_fn(word), tail: tail.into_boxed_slice() }
    }

    fn words(&self) -> usize {
        HEAD + self.tail.len()
    }

    #[inline]
    fn word(&self, i: usize) -> u64 {
        match self.head.get(i) {
            Some(word) => *word,
            None => self.tail.get(i - HEAD).copied().unwrap_or(0),
        }
    }
}

impl Clone for Signature {
    #[inline]
    fn clone(&self) -> Self {
        // Most have no tail: nothing is asked of the allocator then, and a copy is a few moves.
        let tail = if self.tail.is_empty() { Box::default() } else { self.tail.clone() };
        Self { head: self.head, tail }
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(ComponentId::index)).finish()
    }
}

impl FromIterator<ComponentId> for Signature {
    fn from_iter<I: IntoIterator<Item = ComponentId>>(ids: I) -> Self {
        Self::from_ids(ids)
    }
}

impl<'a> IntoIterator for &'a Signature {
    type Item = ComponentId;
    type IntoIter = Ids<'a>;

    fn into_iter(self) -> Ids<'a> {
        self.iter()
    }
}

/// The ids of a [`Signature`], lowest first.
#[derive(Clone, Debug)]
pub struct Ids<'a> {
    signature: &'a Signature,
    word: usize,
    bits: u64,
}

impl Iterator for Ids<'_> {
    type Item = ComponentId;

    #[inline]
    fn next(&mut self) -> Option<ComponentId> {
        while self.bits == 0 {
            if self.word + 1 == self.signature.words() {
                return None;
            }
            self.word += 1;
            self.bits = self.signature.word(self.word);
        }
        let lowest = self.bits & self.bits.wrapping_neg();
        self.bits ^= lowest;
        Some(ComponentId::from_index(self.word * BITS + lowest.trailing_zeros() as usize))
    }
}

impl std::iter::FusedIterator for Ids<'_> {}

/// The word an id lies in, and its bit there.
#[inline]
fn location(id: ComponentId) -> (usize, u64) {
    (id.index() / BITS, 1 << (id.index() % BITS))
}

fn add_to(words: &mut Vec<u64>, id: ComponentId) {
    let (word, bit) = location(id);
    if word >= words.len() {
        words.resize(word + 1, 0);
    }
    words[word] |= bit;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    fn set(indices: impl IntoIterator<Item = usize>) -> Signature {
        indices.into_iter().map(ComponentId::from_index).collect()
    }

    fn indices(signature: &Signature) -> Vec<usize> {
        signature.iter().map(ComponentId::index).collect()
    }

    fn std_hash(signature: &Signature) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(signature)
    }

    #[test]
    fn empty_set_has_nothing_and_is_in_everything() {
        let empty = Signature::empty();
        assert!(empty.is_empty());
        assert_eq!((empty.len(), empty.iter().next()), (0, None));
        assert!(!empty.has(ComponentId::from_index(0)));
        assert!(!empty.has(ComponentId::from_index(100_000)));
        assert!(set([7]).contains(&empty) && empty.contains(&empty));
        assert!(!set([7]).overlaps(&empty));
    }

    #[test]
    fn an_id_given_twice_counts_once() {
        assert_eq!(set([5, 300, 5, 300]).len(), 2);
    }

    // O-288, hazard 25: more than 64, 128 and 256 component types.
    #[test]
    fn ids_on_both_sides_of_every_word_border_are_kept_apart() {
        let borders = [0, 1, 62, 63, 64, 65, 127, 128, 191, 192, 255, 256, 257, 319, 320, 5000];
        for &a in &borders {
            let one = set([a]);
            assert_eq!(indices(&one), [a]);
            for &b in &borders {
                assert_eq!(one.has(ComponentId::from_index(b)), a == b);
                assert_eq!(one.contains(&set([b])), a == b);
                assert_eq!(one.overlaps(&set([b])), a == b);
                assert_eq!(one == set([b]), a == b);
                assert_eq!(one.fingerprint() == set([b]).fingerprint(), a == b);
            }
        }
        assert_eq!(indices(&set(borders)), borders);
    }

    // O-130, O-131: a signature is written once; the operations make copies.
    #[test]
    fn with_and_without_leave_the_original_alone() {
        let base = set([1, 200]);
        assert_eq!(indices(&base.with(ComponentId::from_index(500))), [1, 200, 500]);
        assert_eq!(indices(&base.without(ComponentId::from_index(200))), [1]);
        assert_eq!(base.with(ComponentId::from_index(1)), base);
        assert_eq!(base.without(ComponentId::from_index(999)), base);
        assert_eq!(indices(&base), [1, 200]);
    }

    // O-294: equal bits are equal and hash equally, whatever words were needed on the way.
    #[test]
    fn sets_reached_by_different_paths_are_equal_and_hash_equally() {
        let plain = set([3, 70]);
        let big = set([3, 70, 129, 4000]);
        let shrunk = [
            big.without(ComponentId::from_index(4000)).without(ComponentId::from_index(129)),
            big.difference(&set([129, 4000])),
            big.intersection(&set([3, 70, 3999])),
            set([3]).union(&set([70])),
        ];
        for other in &shrunk {
            assert_eq!(*other, plain);
            assert_eq!(other.tail.len(), 0);
            assert_eq!(other.fingerprint(), plain.fingerprint());
            assert_eq!(std_hash(other), std_hash(&plain));
        }
    }

    // O-293.
    #[test]
    fn fingerprint_is_fnv_1a_over_the_used_words() {
        assert_eq!(set([]).fingerprint(), 0xcbf2_9ce4_8422_2325);
        assert_eq!(set([0]).fingerprint(), 0x89cd_3129_1d2a_efa4);
        assert_eq!(set([64]).fingerprint(), 0x6925_58b0_5610_1a44);
    }

    #[test]
    fn fingerprints_of_all_pairs_of_300_ids_differ() {
        let mut seen = BTreeSet::new();
        for a in 0..300 {
            for b in a..300 {
                assert!(seen.insert(set([a, b]).fingerprint()), "{a} and {b} collide");
            }
        }
    }

    // O-295.
    #[test]
    fn iteration_is_lowest_first_and_stays_at_its_end() {
        let signature = set([130, 2, 64]);
        let mut ids = signature.iter().map(ComponentId::index);
        assert_eq!([ids.next(), ids.next(), ids.next()], [Some(2), Some(64), Some(130)]);
        assert_eq!([ids.next(), ids.next()], [None, None]);
    }

    #[test]
    fn debug_prints_a_set_of_indices() {
        assert_eq!(format!("{:?}", set([130, 2])), "{2, 130}");
    }

    // O-290, O-291, O-292: the same answers as a plain set, for ids far above 256 too.
    #[test]
    fn random_sets_agree_with_a_btree_set() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).expect("31 bits fit") % below
        };
        for round in 0..3000 {
            let range = [8, 64, 130, 700][round % 4];
            let mut draw = || (0..random(24)).map(|_| random(range)).collect::<BTreeSet<usize>>();
            let (a, b) = (draw(), draw());
            let (sa, sb) = (set(a.iter().copied()), set(b.iter().copied()));
            assert_eq!(indices(&sa), a.iter().copied().collect::<Vec<_>>());
            assert_eq!((sa.len(), sa.is_empty()), (a.len(), a.is_empty()));
            assert_eq!(sa.contains(&sb), a.is_superset(&b));
            assert_eq!(sa.overlaps(&sb), !a.is_disjoint(&b));
            assert_eq!(sa == sb, a == b);
            assert_eq!(sa.fingerprint() == sb.fingerprint(), a == b);
            assert_eq!(sa.union(&sb), set(&a | &b));
            assert_eq!(sa.difference(&sb), set(&a - &b));
            assert_eq!(sa.intersection(&sb), set(&a & &b));
            let id = random(range);
            let mut edited = a.clone();
            edited.insert(id);
            assert_eq!(sa.with(ComponentId::from_index(id)), set(edited.iter().copied()));
            edited.remove(&id);
            assert_eq!(sa.without(ComponentId::from_index(id)), set(edited));
        }
    }
}
