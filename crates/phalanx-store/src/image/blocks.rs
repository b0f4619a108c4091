//! The blocks of one column in an image, in groups that are shared as a whole.
//!
//! ```text
//!   blocks ─▶ [group, group, ..]     group ─▶ [block, block, ..]     16 blocks each, the last one fewer
//! ```
//!
//! Most images differ from the one before in few blocks. A group without a new block is shared by one reference count
//! instead of one per block. With one block in a hundred written, wherever they lie, groups of 8 to 16 touch the fewest
//! reference counts: a larger group is seldom without a new block.

#![forbid(unsafe_code)]

use std::sync::Arc;

use super::column::Block;

/// How many blocks are in a group.
const GROUP: usize = 16;

/// The blocks of a column, in order.
#[derive(Default)]
pub(super) struct Blocks {
    groups: Vec<Arc<[Arc<Block>]>>,
    len: usize,
}

impl Blocks {
    /// `len` blocks: those for which `is_same` says so are shared with `before`, the others are made. Also says how many
    /// are shared.
    pub(super) fn new<E>(
        len: usize,
        before: Option<&Self>,
        is_same: impl Fn(usize) -> bool,
        mut make: impl FnMut(usize) -> Result<Block, E>,
    ) -> Result<(Self, usize), E> {
        let mut shared = 0;
        let mut groups = Vec::with_capacity(len.div_ceil(GROUP));
        for start in (0..len).step_by(GROUP) {
            let range = start..len.min(start + GROUP);
            let known = before.and_then(|before| before.groups.get(start / GROUP));
            if let Some(known) =
                known.filter(|known| known.len() == range.len() && range.clone().all(&is_same))
            {
                shared += known.len();
                groups.push(Arc::clone(known));
                continue;
            }
            let mut group = Vec::with_capacity(range.len());
            for at in range {
                group.push(match before.and_then(|before| before.get(at)).filter(|_| is_same(at)) {
                    Some(known) => {
                        shared += 1;
                        Arc::clone(known)
                    }
                    None => Arc::new(make(at)?),
                });
            }
            groups.push(group.into());
        }
        Ok((Self { groups, len }, shared))
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, at: usize) -> Option<&Arc<Block>> {
        self.groups.get(at / GROUP)?.get(at % GROUP)
    }

    /// Whether both have the same block at a position, not just an equal one. Where a group is shared, none of its blocks is
    /// looked at.
    pub(super) fn shares(&self, other: &Self, at: usize) -> bool {
        match (self.groups.get(at / GROUP), other.groups.get(at / GROUP)) {
            (Some(one), Some(other)) if Arc::ptr_eq(one, other) => at % GROUP < one.len(),
            _ => self.get(at).zip(other.get(at)).is_some_and(|(one, other)| Arc::ptr_eq(one, other)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Block>> {
        self.groups.iter().flat_map(|group| group.iter())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn blocks(len: usize, before: Option<&Blocks>, changed: &[usize]) -> (Blocks, usize) {
        let make = |at| Ok::<_, Infallible>(Block::new(vec![at], 8));
        let Ok(made) = Blocks::new(len, before, |at| !changed.contains(&at), make);
        made
    }

    #[test]
    fn what_did_not_change_is_shared_block_by_block_and_group_by_group() {
        let (first, shared) = blocks(200, None, &[]);
        assert_eq!((first.len(), first.iter().count(), shared), (200, 200, 0));
        let (second, shared) = blocks(200, Some(&first), &[70]);
        assert_eq!(shared, 199);
        for at in 0..200 {
            let same = Arc::ptr_eq(first.get(at).expect("in range"), second.get(at).expect("in range"));
            assert_eq!(same, at != 70, "block {at}");
            assert_eq!(first.shares(&second, at), same, "block {at}");
        }
        for (at, (one, other)) in first.groups.iter().zip(&second.groups).enumerate() {
            assert_eq!(Arc::ptr_eq(one, other), at != 70 / GROUP, "group {at}");
        }
        // Longer, and shorter: the last group is another one.
        let (longer, shared) = blocks(210, Some(&second), &[]);
        assert_eq!((shared, longer.iter().count()), (200, 210));
        assert!(longer.shares(&second, 199) && !longer.shares(&second, 200) && !longer.shares(&longer, 210));
        let (shorter, shared) = blocks(65, Some(&longer), &[]);
        assert_eq!((shared, shorter.iter().count()), (65, 65));
        assert!(shorter.get(65).is_none());
    }
}
