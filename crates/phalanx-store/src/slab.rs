//! Small pieces of memory that lie close together, in chunks that hold nothing else.
//!
//! A store has two slabs: one for the columns of small tables, one for the headers of all. In the heap they would
//! lie between each other, plans and whatever else, and a walk through many small tables would touch a page for each.
//! Pieces stay where they are; one that is given back serves whoever asks for as much next.
//!
//! With `--cfg phalanx_heap` each piece is an allocation of its own, for tools that watch over the heap: whoever uses
//! one after it was given back is seen.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// What a slab of headers is made of.
pub(crate) type Word = MaybeUninit<usize>;

/// What a slab of columns is made of: a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Line {
    _bytes: [MaybeUninit<u8>; 64],
}

/// The bytes of the first chunk; each further one has as many as all before it together, up to `MOST`.
const FIRST: usize = 1 << 10;
const MOST: usize = 1 << 16;

/// Memory for pieces of whole `U`s.
pub(crate) struct Slab<U> {
    chunks: Vec<NonNull<[MaybeUninit<U>]>>,
    /// The units of all chunks.
    units: usize,
    /// How many units at the end of the last chunk are unused.
    left: usize,
    /// Indexed by length: the pieces that were given back.
    free: Vec<Vec<NonNull<U>>>,
}

impl<U> Slab<U> {
    pub(crate) const fn new() -> Self {
        Self { chunks: Vec::new(), units: 0, left: 0, free: Vec::new() }
    }

    /// A piece of memory that nothing else uses until it is given back, or the slab is dropped. It holds nothing yet.
    pub(crate) fn take(&mut self, units: usize) -> NonNull<U> {
        if units == 0 {
            return NonNull::dangling();
        }
        if cfg!(phalanx_heap) {
            return self.add_exact(units).cast();
        }
        if let Some(piece) = self.free.get_mut(units).and_then(Vec::pop) {
            return piece;
        }
        if units > self.left {
            self.add_chunk(units);
        }
        let chunk = self.chunks.last().expect("there is a chunk with units left");
        let start = chunk.len() - self.left;
        self.left -= units;
        // SAFETY: locally: the chunk has `left` unused units from `start`, at least as many as are asked for.
        unsafe { chunk.cast::<U>().add(start) }
    }

    /// Takes a piece back.
    ///
    /// # Safety
    /// It is one of `units` units that this slab gave, and nobody uses it any more.
    pub(crate) unsafe fn give(&mut self, piece: NonNull<U>, units: usize) {
        if units == 0 {
            return;
        }
        if cfg!(phalanx_heap) {
            let at = self.chunks.iter().position(|chunk| chunk.cast() == piece).expect("this slab gave it");
            // SAFETY: locally: this is the box that was leaked in `add_exact`, and the caller gives it up.
            return drop(unsafe { Box::from_raw(self.chunks.swap_remove(at).as_ptr()) });
        }
        if self.free.len() <= units {
            self.free.resize_with(units + 1, Vec::new);
        }
        self.free[units].push(piece);
    }

    #[cold]
    fn add_chunk(&mut self, units: usize) {
        let size = size_of::<U>();
        let len = self.units.clamp(FIRST / size, MOST / size).max(units);
        self.add_exact(len);
        self.units += len;
        self.left = len;
    }

    fn add_exact(&mut self, len: usize) -> NonNull<[MaybeUninit<U>]> {
        // Raw, because pieces are reached by pointers of their own, not through the slab.
        let chunk = NonNull::from(Box::leak(Box::new_uninit_slice(len)));
        self.chunks.push(chunk);
        chunk
    }
}

impl<U> Drop for Slab<U> {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            // SAFETY: locally: this is the box that was leaked in `add_exact`.
            drop(unsafe { Box::from_raw(chunk.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces_do_not_overlap<U>() {
        let mut slab = Slab::<U>::new();
        let sizes = [3, 1, 200, 7, 5000, 3, 0];
        let pieces: Vec<_> = sizes.iter().map(|&units| slab.take(units)).collect();
        let mut spans: Vec<_> = pieces.iter().zip(sizes).filter(|(_, units)| *units > 0).collect();
        spans.sort_by_key(|(piece, _)| piece.addr());
        for pair in spans.windows(2) {
            assert!(pair[0].0.addr().get() + pair[0].1 * size_of::<U>() <= pair[1].0.addr().get());
        }
        assert!(pieces.iter().all(|piece| piece.is_aligned()));
        for (&piece, units) in pieces.iter().zip(sizes) {
            // SAFETY: locally: each piece came from this slab and is given back once.
            unsafe { slab.give(piece, units) };
        }
        if !cfg!(phalanx_heap) {
            assert_eq!(slab.take(200), pieces[2]);
            assert!([pieces[0], pieces[5]].contains(&slab.take(3)));
            assert_ne!(slab.take(200), pieces[2]);
        }
    }

    #[test]
    fn pieces_do_not_overlap_and_are_used_again() {
        pieces_do_not_overlap::<Word>();
        pieces_do_not_overlap::<Line>();
    }
}
