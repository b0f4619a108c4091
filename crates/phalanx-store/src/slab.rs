//! Small pieces of memory that lie close together, in chunks that hold nothing else.
//!
//! A store has a slab for the rows of small columns. In the heap they would lie between records, plans and whatever
//! else, and a walk through many small tables would touch a page for each. Pieces stay where they are; one that is
//! given back serves the next request for as much.
//!
//! Use of a piece after it was given back is found in tests: where debug assertions are on, it is
//! overwritten, and with `--cfg phalanx_asan` the address sanitizer is told that it may not be touched.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// What small columns are made of: a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Line {
    _bytes: [MaybeUninit<u8>; 64],
}

/// The bytes of the first chunk; each further one has as many as all before it together, up to `MOST`.
const FIRST: usize = 1 << 10;
const MOST: usize = 1 << 16;

/// Memory for pieces of whole lines.
#[derive(Default)]
pub(crate) struct Slab {
    chunks: Vec<NonNull<[MaybeUninit<Line>]>>,
    /// The lines of all chunks.
    lines: usize,
    /// How many lines at the end of the last chunk are unused.
    left: usize,
    /// Indexed by length: the pieces that were given back.
    free: Vec<Vec<NonNull<Line>>>,
}

impl Slab {
    /// A piece of memory that nothing else uses until it is given back, or the slab is dropped. It holds nothing yet.
    pub(crate) fn take(&mut self, lines: usize) -> NonNull<Line> {
        if lines == 0 {
            return NonNull::dangling();
        }
        if let Some(piece) = self.free.get_mut(lines).and_then(Vec::pop) {
            guard::open(piece.cast(), lines * size_of::<Line>());
            return piece;
        }
        if lines > self.left {
            self.add_chunk(lines);
        }
        let chunk = self.chunks.last().expect("there is a chunk with lines left");
        let start = chunk.len() - self.left;
        self.left -= lines;
        // SAFETY: locally: the chunk has `left` unused lines from `start`, at least as many as are asked for, as was
        // ensured just now.
        let piece = unsafe { chunk.cast::<Line>().add(start) };
        guard::open(piece.cast(), lines * size_of::<Line>());
        piece
    }

    /// Takes a piece back.
    ///
    /// # Safety
    /// It is one of `lines` lines that this slab gave, and nothing uses it any more.
    pub(crate) unsafe fn give(&mut self, piece: NonNull<Line>, lines: usize) {
        if lines == 0 {
            return;
        }
        if cfg!(debug_assertions) {
            // SAFETY: forwarded: the piece is as many lines of a chunk, which lives as long as the slab, and nothing uses them
            // any more.
            unsafe { piece.write_bytes(0xD5, lines) };
        }
        guard::shut(piece.cast(), lines * size_of::<Line>());
        if self.free.len() <= lines {
            self.free.resize_with(lines + 1, Vec::new);
        }
        self.free[lines].push(piece);
    }

    #[cold]
    fn add_chunk(&mut self, lines: usize) {
        let size = size_of::<Line>();
        let len = self.lines.clamp(FIRST / size, MOST / size).max(lines);
        // Raw, because pieces are reached by pointers of their own, not through the slab.
        let chunk = NonNull::from(Box::leak(Box::new_uninit_slice(len)));
        guard::shut(chunk.cast(), len * size);
        self.chunks.push(chunk);
        self.lines += len;
        self.left = len;
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            guard::open(chunk.cast(), chunk.len() * size_of::<Line>());
            // SAFETY: locally: this is a box that was leaked in `add_chunk`, and is listed once; pieces are not used after the
            // slab is dropped.
            drop(unsafe { Box::from_raw(chunk.as_ptr()) });
        }
    }
}

/// Tells the address sanitizer which memory is in use.
mod guard {
    use std::ptr::NonNull;

    #[cfg(phalanx_asan)]
    unsafe extern "C" {
        fn __asan_poison_memory_region(start: *const u8, bytes: usize);
        fn __asan_unpoison_memory_region(start: *const u8, bytes: usize);
    }

    /// The memory may be used.
    #[inline(always)]
    pub(super) fn open(_start: NonNull<u8>, _bytes: usize) {
        // SAFETY: locally: the sanitizer only notes the region, and reads and writes nothing there.
        #[cfg(phalanx_asan)]
        unsafe {
            __asan_unpoison_memory_region(_start.as_ptr(), _bytes);
        }
    }

    /// Whether the memory may be used; `None` where that is not watched.
    #[cfg(test)]
    pub(super) fn is_open(_start: NonNull<u8>) -> Option<bool> {
        #[cfg(phalanx_asan)]
        {
            unsafe extern "C" {
                fn __asan_address_is_poisoned(start: *const u8) -> i32;
            }
            // SAFETY: locally: the sanitizer only looks the address up.
            return Some(unsafe { __asan_address_is_poisoned(_start.as_ptr()) } == 0);
        }
        #[cfg(not(phalanx_asan))]
        None
    }

    /// Any use of the memory is reported.
    #[inline(always)]
    pub(super) fn shut(_start: NonNull<u8>, _bytes: usize) {
        // SAFETY: locally: the sanitizer only notes the region, and reads and writes nothing there.
        #[cfg(phalanx_asan)]
        unsafe {
            __asan_poison_memory_region(_start.as_ptr(), _bytes);
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
        let pieces: Vec<_> = sizes.iter().map(|&units| slab.take(units)).collect();
        let mut spans: Vec<_> = pieces.iter().zip(sizes).filter(|(_, units)| *units > 0).collect();
        spans.sort_by_key(|(piece, _)| piece.addr());
        for pair in spans.windows(2) {
            assert!(pair[0].0.addr().get() + pair[0].1 * size_of::<Line>() <= pair[1].0.addr().get());
        }
        assert!(pieces.iter().all(|piece| piece.is_aligned()));
        for (&piece, units) in pieces.iter().zip(sizes) {
            // SAFETY: locally: each piece came from this slab and is given back once.
            unsafe { slab.give(piece, units) };
        }
        assert_eq!(slab.take(200), pieces[2]);
        assert!([pieces[0], pieces[5]].contains(&slab.take(3)));
        assert_ne!(slab.take(200), pieces[2]);
    }

    #[test]
    fn a_piece_that_was_given_back_must_not_be_used() {
        let mut slab = Slab::default();
        let (kept, given) = (slab.take(1), slab.take(2));
        // SAFETY: locally: the piece came from this slab and is given back once.
        unsafe { slab.give(given, 2) };
        match guard::is_open(given.cast()) {
            Some(open) => assert!(!open && guard::is_open(kept.cast()) == Some(true)),
            None if cfg!(debug_assertions) => {
                // SAFETY: locally: the memory is the slab's still, and was overwritten.
                assert_eq!(unsafe { given.cast::<u8>().read() }, 0xD5);
            }
            None => {}
        }
        assert_eq!(slab.take(2), given);
        assert_ne!(guard::is_open(given.cast()), Some(false));
    }
}
