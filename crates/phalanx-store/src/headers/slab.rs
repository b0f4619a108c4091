//! Memory for the records of tables, apart from that of their columns.
//!
//! A record is small and read now and then, when rows move. In the heap it would lie between the columns of small
//! tables, and spread them over more pages than they need. Pieces stay where they are; a piece that is
//! given back serves the next table that asks for as much, which one of the same shape does.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// What pieces are measured in, aligned for pointers.
pub(super) type Word = MaybeUninit<usize>;

/// The words of the first chunk; each further one has as many as all before it together, up to `MOST`.
const FIRST: usize = 128;
const MOST: usize = 4096;

/// The memory of the records of one store.
#[derive(Default)]
pub(crate) struct Slab {
    chunks: Vec<NonNull<[Word]>>,
    /// The words of all chunks.
    words: usize,
    /// How many words at the end of the last chunk are unused.
    left: usize,
    /// Pieces that were given back, and their lengths.
    free: Vec<(usize, NonNull<Word>)>,
}

impl Slab {
    /// A piece of memory that nothing else uses until it is given back, or the slab is dropped.
    pub(super) fn take(&mut self, words: usize) -> NonNull<Word> {
        if words == 0 {
            return NonNull::dangling();
        }
        if let Some(at) = self.free.iter().rposition(|&(len, _)| len == words) {
            return self.free.swap_remove(at).1;
        }
        if words > self.left {
            self.add_chunk(words);
        }
        let chunk = self.chunks.last().expect("there is a chunk with words left");
        let start = chunk.len() - self.left;
        self.left -= words;
        // SAFETY: locally: the chunk has `left` unused words from `start`, at least as many as are asked for.
        unsafe { chunk.cast::<Word>().add(start) }
    }

    /// Takes a piece back.
    ///
    /// # Safety
    /// It is one of `words` words that this slab gave, and nobody uses it any more.
    pub(super) unsafe fn give(&mut self, piece: NonNull<Word>, words: usize) {
        if words > 0 {
            self.free.push((words, piece));
        }
    }

    fn add_chunk(&mut self, words: usize) {
        let len = self.words.clamp(FIRST, MOST).max(words);
        // Raw, because records are reached by pointers that plans keep, not through the slab.
        self.chunks.push(NonNull::from(Box::leak(Box::new_uninit_slice(len))));
        self.words += len;
        self.left = len;
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            // SAFETY: locally: this is the box that was leaked in `add_chunk`. Records own nothing that would have to be dropped.
            drop(unsafe { Box::from_raw(chunk.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_do_not_overlap_and_are_used_again() {
        let mut slab = Slab::default();
        let sizes = [3, 1, 200, 7, 5000, 3, 0];
        let pieces: Vec<_> = sizes.iter().map(|&words| slab.take(words)).collect();
        let mut spans: Vec<_> = pieces.iter().zip(sizes).filter(|(_, words)| *words > 0).collect();
        spans.sort_by_key(|(piece, _)| piece.addr());
        for pair in spans.windows(2) {
            assert!(pair[0].0.addr().get() + pair[0].1 * size_of::<Word>() <= pair[1].0.addr().get());
        }
        for (&piece, words) in pieces.iter().zip(sizes) {
            // SAFETY: locally: each piece came from this slab and is given back once.
            unsafe { slab.give(piece, words) };
        }
        assert_eq!(slab.take(200), pieces[2]);
        assert!([pieces[0], pieces[5]].contains(&slab.take(3)));
        assert_ne!(slab.take(200), pieces[2]);
    }
}
