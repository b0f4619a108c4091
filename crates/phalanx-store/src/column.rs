//! The memory of one column: raw, without a length of its own.
//!
//! A table decides how many rows exist; a column only knows where they are. The ticks of blocks after the
//! first lie *before* the data, so that the data pointer alone reaches both:
//!
//! ```text
//!   base                                    data (64-byte aligned)
//!   | pad | tick n | ... | tick 2 | tick 1 | row 0 | row 1 | ...            |
//!   '------ header: only beyond 1,024 rows -' '------ capacity rows --------'
//! ```
//!
//! The tick of block 0 lies beside the lane pointer ([`LaneCell`]). Zero-sized values have an aligned
//! dangling pointer, no memory, and a single tick for all rows. Up to 512 bytes are a piece of the store's slab,
//! so that the columns of many small tables lie close together.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::column_id::ColumnType;
use crate::slab::{Line, Slab};
use crate::tick::Tick;

/// Rows per block: the grain of change tracking and of parallel splitting.
pub const BLOCK_ROWS: usize = 1024;
pub(crate) const BLOCK_SHIFT: u32 = BLOCK_ROWS.trailing_zeros();
const COLUMN_ALIGN: usize = 64;
/// The bytes of the largest column that is a piece of a slab.
const SMALL: usize = 512;

/// What a lane keeps per table: where the column's rows are, and when block 0 was last written.
#[doc(hidden)]
pub struct LaneCell {
    /// Null when the table lacks the column.
    pub(crate) data: *mut u8,
    /// Atomic so that jobs on different rows of one block may mark it side by side; all accesses are relaxed.
    pub(crate) tick: AtomicU64,
}

impl LaneCell {
    #[expect(clippy::declare_interior_mutable_const, reason = "each use is meant to be a new cell")]
    pub(crate) const ABSENT: Self = Self { data: ptr::null_mut(), tick: AtomicU64::new(0) };

    /// Marks the blocks of rows `start..start + len` as written at `now`.
    ///
    /// # Safety
    /// `self.data` is column data with room for those rows; `sized` tells whether its values have a size.
    #[inline(always)]
    pub(crate) unsafe fn mark(&self, start: usize, len: usize, sized: bool, now: Tick) {
        if !sized {
            self.tick.store(now.get(), Ordering::Relaxed);
            return;
        }
        if start >= BLOCK_ROWS && len == 0 {
            // There may be no such block. Block 0 has a tick in any case.
            return;
        }
        let (first, last) = (start >> BLOCK_SHIFT, (start + len).saturating_sub(1) >> BLOCK_SHIFT);
        // SAFETY: forwarded.
        unsafe {
            self.mark_row(start, now);
            if first < last {
                self.mark_later(first + 1, last, now);
            }
        }
    }

    /// As [`LaneCell::mark`], for one row of sized values.
    ///
    /// # Safety
    /// As for [`LaneCell::mark`].
    #[inline(always)]
    pub(crate) unsafe fn mark_row(&self, row: usize, now: Tick) {
        let tick = if row < BLOCK_ROWS {
            &self.tick
        } else {
            // SAFETY: the row is within the capacity, so the header holds a tick for its block (I3).
            unsafe { later_tick(self.data, row >> BLOCK_SHIFT) }
        };
        tick.store(now.get(), Ordering::Relaxed);
    }

    /// # Safety
    /// As for [`LaneCell::mark`], with sized values that reach into the blocks from `first`, above zero, to `last`.
    #[inline]
    unsafe fn mark_later(&self, first: usize, last: usize, now: Tick) {
        for block in first..=last {
            // SAFETY: the rows are within the capacity, so the header holds a tick for each of their blocks (I3).
            unsafe { later_tick(self.data, block) }.store(now.get(), Ordering::Relaxed);
        }
    }

    /// The tick of the last write to `block`.
    ///
    /// # Safety
    /// As for [`LaneCell::mark`], for a block that begins within the capacity.
    pub(crate) unsafe fn block_tick(&self, block: usize, sized: bool) -> Tick {
        if block == 0 || !sized {
            return Tick::new(self.tick.load(Ordering::Relaxed));
        }
        // SAFETY: the block begins within the capacity, so the header holds its tick (I3).
        Tick::new(unsafe { later_tick(self.data, block) }.load(Ordering::Relaxed))
    }
}

/// # Safety
/// `data` is column data whose capacity reaches into `block`, and `block > 0`.
unsafe fn later_tick<'a>(data: *mut u8, block: usize) -> &'a AtomicU64 {
    // SAFETY: the header before `data` holds one aligned, initialised tick per block after the first (I3).
    unsafe { &*data.cast::<AtomicU64>().sub(block) }
}

fn later_blocks(capacity: usize) -> usize {
    capacity.saturating_sub(1) >> BLOCK_SHIFT
}

/// The allocation of `capacity` rows, and the offset of the data in it.
///
/// # Panics
/// When the allocation would exceed the address space.
fn allocation(of: &ColumnType, capacity: usize) -> (Layout, usize) {
    let align = of.layout.align().max(COLUMN_ALIGN);
    let header = (later_blocks(capacity) * size_of::<AtomicU64>()).next_multiple_of(align);
    let layout = of
        .layout
        .size()
        .checked_mul(capacity)
        .and_then(|rows| rows.checked_add(header))
        .and_then(|size| Layout::from_size_align(size, align).ok())
        .unwrap_or_else(|| panic!("a column of {} cannot hold {capacity} rows", of.type_name));
    (layout, header)
}

/// Checks that a column of this type can have this capacity.
pub(crate) fn assert_capacity(of: &ColumnType, capacity: usize) {
    if of.layout.size() > 0 {
        allocation(of, capacity);
    }
}

/// The bytes that a column with this capacity occupies.
pub(crate) fn bytes(of: &ColumnType, capacity: usize) -> usize {
    if of.layout.size() == 0 || capacity == 0 { 0 } else { allocation(of, capacity).0.size() }
}

/// The data pointer of a column without memory: aligned, not null.
pub(crate) fn dangling(of: &ColumnType) -> *mut u8 {
    ptr::without_provenance_mut(of.layout.align().max(COLUMN_ALIGN))
}

/// How many lines an allocation takes in a slab; `None` when it is none for a slab. One for a slab has no ticks: more rows
/// than a block has take more memory.
///
/// Tools that watch over each allocation of the heap are given all of them by `--cfg phalanx_heap`.
fn lines_of(layout: Layout) -> Option<usize> {
    let fits = layout.size() <= SMALL && layout.align() <= align_of::<Line>() && !cfg!(phalanx_heap);
    fits.then(|| layout.size().div_ceil(size_of::<Line>()))
}

/// Allocates room for `capacity` rows, with zeroed block ticks.
fn allocate(slab: &mut Slab<Line>, of: &ColumnType, capacity: usize) -> *mut u8 {
    if of.layout.size() == 0 || capacity == 0 {
        return dangling(of);
    }
    let (layout, header) = allocation(of, capacity);
    if let Some(lines) = lines_of(layout) {
        return slab.take(lines).as_ptr().cast();
    }
    // SAFETY: locally: the layout has a size, because the values have one and the capacity is not zero.
    let base = unsafe { alloc(layout) };
    let Some(base) = NonNull::new(base) else { handle_alloc_error(layout) };
    // SAFETY: the header lies within the allocation; zero is a valid tick (I3).
    unsafe { base.as_ptr().write_bytes(0, header) };
    // SAFETY: the header is a part of the allocation, the data begins right after it (I3).
    unsafe { base.as_ptr().add(header) }
}

/// Frees what [`allocate`] gave.
///
/// # Safety
/// `data` came from `allocate(slab, of, capacity)` and was not freed; its values were moved out or dropped.
unsafe fn free(slab: &mut Slab<Line>, of: &ColumnType, data: *mut u8, capacity: usize) {
    if of.layout.size() == 0 || capacity == 0 {
        return;
    }
    let (layout, header) = allocation(of, capacity);
    if let Some(lines) = lines_of(layout) {
        if let Some(piece) = NonNull::new(data) {
            // SAFETY: `allocate` took as many lines from the slab for the same type and capacity (I3).
            unsafe { slab.give(piece.cast(), lines) };
        }
        return;
    }
    // SAFETY: `allocate` returned `base + header` for the same type and capacity (I3).
    unsafe { dealloc(data.sub(header), layout) }
}

/// Moves `len` rows, and their block ticks, to an allocation of another capacity.
///
/// # Safety
/// `data` came from `allocate(slab, of, old)`, `len <= old`, `len <= new`; the old pointer is not used again.
pub(crate) unsafe fn reallocate(
    slab: &mut Slab<Line>,
    of: &ColumnType,
    data: *mut u8,
    len: usize,
    old: usize,
    new: usize,
) -> *mut u8 {
    let moved = allocate(slab, of, new);
    if of.layout.size() == 0 {
        return moved;
    }
    let ticks = later_blocks(old).min(later_blocks(new));
    // SAFETY: both allocations hold `len` rows and `ticks` header ticks, and they do not overlap (I3); with a
    // capacity of zero, both counts are zero and the pointers are aligned.
    unsafe {
        ptr::copy_nonoverlapping(data, moved, len * of.layout.size());
        if ticks > 0 {
            let from = data.cast::<AtomicU64>().sub(ticks);
            ptr::copy_nonoverlapping(from, moved.cast::<AtomicU64>().sub(ticks), ticks);
        }
    }
    // SAFETY: the rows were moved out, and the caller gives the old allocation up.
    unsafe { free(slab, of, data, old) };
    moved
}

/// Copies one value, quickly for the sizes that components have most.
///
/// # Safety
/// Both point to `size` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_value(from: *const u8, to: *mut u8, size: usize) {
    // Not a number: bytes may be padding, which no number has, or parts of pointers, which are more than numbers.
    type Half = MaybeUninit<u64>;
    // Two halves that may overlap serve a whole range of sizes. Ranges, because a list of sizes becomes a jump table,
    // which is slower here.
    // SAFETY: the caller's promise, for exactly `size` bytes (I2).
    unsafe {
        if (8..=16).contains(&size) {
            let last = from.add(size - 8).cast::<Half>().read_unaligned();
            to.cast::<Half>().write_unaligned(from.cast::<Half>().read_unaligned());
            to.add(size - 8).cast::<Half>().write_unaligned(last);
        } else if size == 4 {
            ptr::copy_nonoverlapping(from, to, 4);
        } else {
            ptr::copy_nonoverlapping(from, to, size);
        }
    }
}
