//! Values that are added through a shared reference, and found again by their key.
//!
//! A tree that grows without a lock. Each node has the key it was added for; whatever is added where a node stands
//! goes to one of its children, by the next bits of the hash. So looking up takes about as many steps as the number of
//! nodes has octal digits, and no node ever moves.

use std::sync::OnceLock;

use crate::steps;

const BITS: u32 = 3;
const WIDTH: usize = 1 << BITS;

/// A tree of values, each under its key.
pub(super) struct Fresh<K, V>([OnceLock<Box<Node<K, V>>>; WIDTH]);

struct Node<K, V> {
    key: K,
    value: V,
    children: Fresh<K, V>,
}

impl<K, V> Default for Fresh<K, V> {
    fn default() -> Self {
        Self([const { OnceLock::new() }; WIDTH])
    }
}

impl<K, V> Fresh<K, V> {
    /// The value whose key passes `is_it`, made where there is none. The key must have this hash.
    pub(super) fn find_or_add<E>(
        &self,
        mut hash: u64,
        is_it: impl Fn(&K) -> bool,
        make: impl FnOnce() -> Result<(K, V), E>,
    ) -> Result<&V, E> {
        let mut place = self.child(hash);
        while let Some(node) = place.get() {
            steps::count();
            if is_it(&node.key) {
                return Ok(&node.value);
            }
            hash >>= BITS;
            place = node.children.child(hash);
        }
        let (key, value) = make()?;
        let mut new = Box::new(Node { key, value, children: Self::default() });
        // Other threads may add nodes meanwhile, even one with the same key.
        while let Err(ours) = place.set(new) {
            let theirs = place.get().expect("setting fails only where something is set");
            if is_it(&theirs.key) {
                return Ok(&theirs.value);
            }
            hash >>= BITS;
            place = theirs.children.child(hash);
            new = ours;
        }
        Ok(&place.get().expect("it was set just now").value)
    }

    /// Equal hashes, of which no bits are left in the end, make a list.
    fn child(&self, hash: u64) -> &OnceLock<Box<Node<K, V>>> {
        let at = usize::try_from(hash % WIDTH as u64).expect("a remainder is smaller than its divisor");
        &self.0[at]
    }

    /// Takes everything out, those that others stand behind first.
    pub(super) fn take(&mut self) -> Vec<(K, V)> {
        let mut taken = Vec::new();
        let mut left: Vec<Box<Node<K, V>>> = self.0.iter_mut().filter_map(OnceLock::take).collect();
        while let Some(node) = left.pop() {
            let Node { key, value, mut children } = *node;
            left.extend(children.0.iter_mut().filter_map(OnceLock::take));
            taken.push((key, value));
        }
        taken
    }

    pub(super) fn values(&self) -> Vec<&V> {
        let mut found = Vec::new();
        let mut left: Vec<&Self> = vec![self];
        while let Some(tree) = left.pop() {
            for node in tree.0.iter().filter_map(OnceLock::get) {
                found.push(&node.value);
                left.push(&node.children);
            }
        }
        found
    }
}

impl<K, V> Drop for Fresh<K, V> {
    /// In a loop: the tree may be deep where hashes are equal, and the stack small.
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(tree: &Fresh<u64, u64>, key: u64, hash: u64) -> u64 {
        let made: Result<&u64, ()> = tree.find_or_add(hash, |&known| known == key, || Ok((key, key + 1)));
        *made.expect("made")
    }

    fn mixed(key: u64) -> u64 {
        key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    #[test]
    fn asking_again_finds_what_was_added_in_few_steps() {
        let tree = Fresh::default();
        let all = |tree: &Fresh<u64, u64>| {
            (0..8_000).for_each(|key| assert_eq!(add(tree, key, mixed(key)), key + 1));
        };
        all(&tree);
        let steps = steps::of(|| all(&tree));
        assert!(steps < 8_000 * 8, "{steps} steps");
        assert_eq!(tree.values().len(), 8_000);
    }

    #[test]
    fn equal_hashes_are_told_apart_and_dropped_on_a_small_stack() {
        let run = || {
            let mut tree = Fresh::default();
            (0..3_000).for_each(|key| assert_eq!(add(&tree, key, 7), key + 1));
            assert_eq!(add(&tree, 5, 7), 6);
            assert_eq!(tree.take().len(), 3_000);
            assert_eq!(tree.values().len(), 0);
            (0..3_000).for_each(|key| assert_eq!(add(&tree, key, 7), key + 1));
        };
        let small = std::thread::Builder::new().stack_size(64 * 1024);
        small.spawn(run).expect("a thread").join().expect("no overflow");
    }
}
