//! The memory of one column: raw, without a length of its own.
//!
//! A table decides how many rows exist; a column only knows where they are. The ticks of blocks lie *before* the data,
//! so that the data pointer alone reaches both:
//!
//! ```text
//!   base                                            data (64-byte aligned)
//!   | pad | unused | tick n | ... | tick 1 | tick 0 | row 0 | row 1 | ...            |
//!         '--------------- header ----------------' '------ capacity rows --------'
//! ```
//!
//! Small columns are allocated with their alignment, and have no pad. Large ones are allocated with that of the
//! allocator, and aligned by hand: the last word of the pad tells its length. So the allocator finds the memory of a
//! column again that was freed, and may grow it in place, or by moving pages instead of bytes. The header has room
//! for more ticks than there are blocks, so that the data rarely shifts when the column grows.
//!
//! Block 0 has a second tick beside the lane pointer ([`LaneCell`]): whoever visits many rows marks that one, so that
//! small tables are not written to before their data; whoever visits one row marks the one before the data, because no
//! question has to be asked for it. The later of both counts. Zero-sized values have an aligned dangling pointer, no
//! memory, and the tick beside the pointer alone, for all rows. Up to 512 bytes are a piece of the store's slab,
//! so that the columns of many small tables lie close together.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
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
/// The bytes from which on a column is aligned by hand.
const PADDED: usize = 4096;
/// The alignment that allocators give without more ado.
const PADDED_ALIGN: usize = 16;
/// The bytes that such a column is larger: for the pad, at most the alignment, less the word that allocators keep.
const PAD: usize = 2 * COLUMN_ALIGN - size_of::<usize>();
/// The bytes of the largest column that is a piece of a slab, with its line of ticks.
const SMALL: usize = 512 + COLUMN_ALIGN;

/// What a lane keeps per table: where the column's rows are, and when many of block 0 were last written.
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
        // SAFETY: forwarded: behind block 0 there are rows in the block, so the header holds its tick (I3).
        unsafe {
            let first =
                if start < BLOCK_ROWS { &self.tick } else { tick_before(self.data, start >> BLOCK_SHIFT) };
            first.store(now.get(), Ordering::Relaxed);
            // Most tables are one block: a single comparison tells, where `start` is known to be zero.
            if start % BLOCK_ROWS + len > BLOCK_ROWS {
                self.mark_later((start >> BLOCK_SHIFT) + 1, (start + len - 1) >> BLOCK_SHIFT, now);
            }
        }
    }

    /// As [`LaneCell::mark`], for one row.
    ///
    /// # Safety
    /// As for [`LaneCell::mark`].
    #[inline(always)]
    pub(crate) unsafe fn mark_single(&self, row: usize, sized: bool, now: Tick) {
        if sized {
            // SAFETY: forwarded.
            unsafe { self.mark_row(row, now) };
        } else {
            self.tick.store(now.get(), Ordering::Relaxed);
        }
    }

    /// As [`LaneCell::mark`], for one row of sized values.
    ///
    /// # Safety
    /// As for [`LaneCell::mark`].
    #[inline(always)]
    pub(crate) unsafe fn mark_row(&self, row: usize, now: Tick) {
        // SAFETY: forwarded.
        unsafe { self.tick_of(row) }.store(now.get(), Ordering::Relaxed);
    }

    /// The tick of a row's block, for sized values.
    ///
    /// # Safety
    /// As for [`LaneCell::mark`].
    #[inline(always)]
    pub(crate) unsafe fn tick_of(&self, row: usize) -> &AtomicU64 {
        // SAFETY: the row is within the capacity, so the header holds a tick for its block (I3).
        unsafe { tick_before(self.data, row >> BLOCK_SHIFT) }
    }

    /// # Safety
    /// As for [`LaneCell::mark`], with sized values that reach into the blocks from `first`, above zero, to `last`.
    #[cold]
    #[inline(never)]
    unsafe fn mark_later(&self, first: usize, last: usize, now: Tick) {
        for block in first..=last {
            // SAFETY: the rows are within the capacity, so the header holds a tick for each of their blocks (I3).
            unsafe { tick_before(self.data, block) }.store(now.get(), Ordering::Relaxed);
        }
    }

    /// The tick of the last write to `block`.
    ///
    /// # Safety
    /// As for [`LaneCell::mark`], for a block that begins within the capacity.
    pub(crate) unsafe fn block_tick(&self, block: usize, sized: bool) -> Tick {
        let beside = if block == 0 || !sized { self.tick.load(Ordering::Relaxed) } else { 0 };
        if !sized {
            return Tick::new(beside);
        }
        // SAFETY: the block begins within the capacity, so the header holds its tick (I3).
        let before = unsafe { tick_before(self.data, block) }.load(Ordering::Relaxed);
        Tick::new(beside.max(before))
    }
}

/// # Safety
/// `data` is data of sized values whose capacity reaches into `block`.
#[inline(always)]
unsafe fn tick_before<'a>(data: *mut u8, block: usize) -> &'a AtomicU64 {
    // The complement is one instruction, and leaves the scaling to the address.
    // SAFETY: the header before `data` holds one aligned, initialised tick per block (I3).
    unsafe { &*data.cast::<AtomicU64>().offset(!block.cast_signed()) }
}

fn blocks(capacity: usize) -> usize {
    capacity.div_ceil(BLOCK_ROWS)
}

/// The bytes of the header, which has room for 8, 64, 512, .. ticks.
fn header_bytes(capacity: usize) -> usize {
    // Behind the first ones at most eight times as many as there are blocks, which are a thousandth of the rows.
    let mut ticks = 8;
    while ticks < blocks(capacity) {
        ticks *= 8;
    }
    ticks * size_of::<AtomicU64>()
}

/// How the memory of a column is allocated.
struct Allocation {
    layout: Layout,
    /// The bytes between pad and data.
    header: usize,
    /// Whether there is a pad.
    padded: bool,
}

/// The allocation of `capacity` rows.
///
/// # Panics
/// When it would exceed the address space.
fn allocation(of: &ColumnType, capacity: usize) -> Allocation {
    let align = of.layout.align().max(COLUMN_ALIGN);
    let header = header_bytes(capacity).next_multiple_of(align);
    let fits = || {
        let size = of.layout.size().checked_mul(capacity)?.checked_add(header)?;
        let padded = size >= PADDED && align == COLUMN_ALIGN;
        // Sizes that leave allocators which keep a word of their own with multiples of the alignment, so that what is
        // allocated next, or again, has the same pad.
        let size = if padded { size.checked_next_multiple_of(COLUMN_ALIGN)?.checked_add(PAD)? } else { size };
        let layout = Layout::from_size_align(size, if padded { PADDED_ALIGN } else { align }).ok()?;
        Some(Allocation { layout, header, padded })
    };
    fits().unwrap_or_else(|| panic!("a column of {} cannot hold {capacity} rows", of.type_name))
}

/// The bytes to the next aligned address after `base`: from one to four times the allocation's alignment.
fn pad_at(base: *mut u8) -> usize {
    COLUMN_ALIGN - base.addr() % COLUMN_ALIGN
}

impl Allocation {
    /// Where the data begins, in memory at `base`, whose pad is noted.
    ///
    /// # Safety
    /// `base` has this layout.
    unsafe fn data_at(&self, base: *mut u8) -> *mut u8 {
        if !self.padded {
            // SAFETY: the header is a part of the allocation (I3).
            return unsafe { base.add(self.header) };
        }
        let pad = pad_at(base);
        // SAFETY: the pad has a word at least; pad and header are parts of the allocation (I3).
        unsafe {
            base.add(pad).cast::<usize>().sub(1).write(pad);
            base.add(pad + self.header)
        }
    }

    /// Where the memory begins whose data is at `data`.
    ///
    /// # Safety
    /// `data` came from `data_at`.
    unsafe fn base_of(&self, data: *mut u8) -> *mut u8 {
        // SAFETY: `data_at` left the pad before the header, if there is one (I3).
        unsafe {
            let header = data.sub(self.header);
            if self.padded { header.sub(header.cast::<usize>().sub(1).read()) } else { header }
        }
    }
}

/// Checks that a column of this type can have this capacity.
pub(crate) fn assert_capacity(of: &ColumnType, capacity: usize) {
    if of.layout.size() > 0 {
        allocation(of, capacity);
    }
}

/// The bytes that a column with this capacity occupies, but for the pad, and for the one line of ticks that a column of
/// one block has.
pub(crate) fn bytes(of: &ColumnType, capacity: usize) -> usize {
    if of.layout.size() == 0 || capacity == 0 {
        return 0;
    }
    let header = if blocks(capacity) > 1 { allocation(of, capacity).header } else { 0 };
    header + of.layout.size() * capacity
}

/// The data pointer of a column without memory: aligned, not null.
pub(crate) fn dangling(of: &ColumnType) -> *mut u8 {
    ptr::without_provenance_mut(of.layout.align().max(COLUMN_ALIGN))
}

/// How many lines an allocation takes in a slab; `None` when it is none for a slab.
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
    let allocation = allocation(of, capacity);
    let base = match lines_of(allocation.layout) {
        Some(lines) => slab.take(lines).cast(),
        None => {
            // SAFETY: locally: the layout has a size, because the values have one and the capacity is not zero.
            let base = unsafe { alloc(allocation.layout) };
            NonNull::new(base).unwrap_or_else(|| handle_alloc_error(allocation.layout))
        }
    };
    // SAFETY: the memory was allocated so just now, in a slab without a pad; the header has room for the ticks (I3).
    unsafe {
        let data = allocation.data_at(base.as_ptr());
        zero_ticks(data, 0, blocks(capacity));
        data
    }
}

/// Zeroes the ticks of the blocks from `from`, to the one before `to`.
///
/// # Safety
/// The header before `data` has room for `to` ticks.
unsafe fn zero_ticks(data: *mut u8, from: usize, to: usize) {
    if from < to {
        // SAFETY: forwarded; zero is a valid tick (I3).
        unsafe { data.cast::<AtomicU64>().sub(to).write_bytes(0, to - from) };
    }
}

/// Frees what [`allocate`] gave.
///
/// # Safety
/// `data` came from `allocate(slab, of, capacity)` and was not freed; its values were moved out or dropped.
unsafe fn free(slab: &mut Slab<Line>, of: &ColumnType, data: *mut u8, capacity: usize) {
    if of.layout.size() == 0 || capacity == 0 {
        return;
    }
    let allocation = allocation(of, capacity);
    // SAFETY: `allocate` placed the data in memory of this layout, for the same type and capacity (I3).
    let base = unsafe { allocation.base_of(data) };
    match (lines_of(allocation.layout), NonNull::new(base)) {
        // SAFETY: `allocate` took as many lines from the slab for the same type and capacity (I3).
        (Some(lines), Some(piece)) => unsafe { slab.give(piece.cast(), lines) },
        // SAFETY: as above; the memory is no piece of a slab.
        _ => unsafe { dealloc(base, allocation.layout) },
    }
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
    if of.layout.size() == 0 || old == 0 {
        return allocate(slab, of, new);
    }
    if new > 0 {
        let (from, to) = (allocation(of, old), allocation(of, new));
        if from.padded && to.padded && from.header == to.header {
            // SAFETY: forwarded; both capacities give memory (I3).
            return unsafe { reallocate_padded(&from, &to, of, data, len, [old, new]) };
        }
    }
    let moved = allocate(slab, of, new);
    let ticks = blocks(old).min(blocks(new));
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

/// As [`reallocate`], where both allocations have a pad, and headers of the same size: the allocator may not have to
/// move anything.
///
/// # Safety
/// As for [`reallocate`]; the allocations are those of the capacities.
unsafe fn reallocate_padded(
    from: &Allocation,
    to: &Allocation,
    of: &ColumnType,
    data: *mut u8,
    len: usize,
    [old, new]: [usize; 2],
) -> *mut u8 {
    // SAFETY: the memory has the old layout, and the new one has the same alignment and a size (I3). Header and rows lie
    // behind the old pad still, whatever moved; they go behind the new one, which has room for them in either size.
    unsafe {
        let base = from.base_of(data);
        let before = data.offset_from_unsigned(base);
        let Some(base) = NonNull::new(realloc(base, from.layout, to.layout.size())) else {
            handle_alloc_error(to.layout)
        };
        let moved = base.as_ptr().add(before);
        // Not noted yet: that may overwrite the header.
        let data = base.as_ptr().add(pad_at(base.as_ptr()) + to.header);
        if data != moved {
            ptr::copy(moved.sub(to.header), data.sub(to.header), to.header + len * of.layout.size());
        }
        let data = to.data_at(base.as_ptr());
        zero_ticks(data, blocks(old), blocks(new));
        data
    }
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

/// Exchanges two values, as quickly as [`copy_value`] copies one.
///
/// # Safety
/// Both point to `size` bytes and do not overlap.
#[inline(always)]
pub(crate) unsafe fn swap_values(a: *mut u8, b: *mut u8, size: usize) {
    type Half = MaybeUninit<u64>;
    type Quarter = MaybeUninit<u32>;
    // SAFETY: the caller's promise, for exactly `size` bytes (I2); all is read before anything is written.
    unsafe {
        if (8..=16).contains(&size) {
            let (a, b) = (a.cast::<Half>(), b.cast::<Half>());
            let (a_last, b_last) = (a.byte_add(size - 8), b.byte_add(size - 8));
            let from_a = (a.read_unaligned(), a_last.read_unaligned());
            let from_b = (b.read_unaligned(), b_last.read_unaligned());
            a.write_unaligned(from_b.0);
            a_last.write_unaligned(from_b.1);
            b.write_unaligned(from_a.0);
            b_last.write_unaligned(from_a.1);
        } else if size == 4 {
            let (a, b) = (a.cast::<Quarter>(), b.cast::<Quarter>());
            let from_a = a.read_unaligned();
            a.write_unaligned(b.read_unaligned());
            b.write_unaligned(from_a);
        } else {
            ptr::swap_nonoverlapping(a, b, size);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::column_id::ColId;

    #[repr(align(128))]
    #[derive(Clone, Copy)]
    struct Wide(#[expect(dead_code, reason = "read as bytes")] [u8; 128]);

    fn byte(at: usize) -> u8 {
        u8::try_from(at % 251).expect("less than a byte holds")
    }

    /// Takes a column through capacities on both sides of every border: of blocks, of headers, of the pad.
    fn grows_and_shrinks<T: Send + Sync + 'static>() {
        let of = ColId::<T>::named(std::any::type_name::<T>()).any().column_type();
        let size = of.layout.size();
        let (mut slab, mut data, mut capacity) = (Slab::new(), dangling(of), 0);
        let steps =
            [8, 16, 100, 1024, 1025, 5_000, 8_192, 9_216, 9_217, 20_000, 66_560, 66_561, 70_000, 66_600];
        for new in steps.into_iter().chain([9_300, 9_217, 9_216, 8_192, 6_000, 1_025, 1_024, 90, 8, 8_500, 0])
        {
            let len = capacity.min(new);
            // SAFETY: the data has the capacity, and each row is written before it is read; locally for the rest.
            unsafe {
                for at in 0..capacity * size {
                    data.add(at).write(byte(at));
                }
                let cell = LaneCell { data, tick: AtomicU64::new(0) };
                for block in 0..blocks(capacity) {
                    cell.mark_row(block * BLOCK_ROWS, Tick::new(block as u64 + 7));
                }
                data = reallocate(&mut slab, of, data, len, capacity, new);
                assert_eq!(data.addr() % of.layout.align().max(64), 0);
                assert!((0..len * size).all(|at| data.add(at).read() == byte(at)), "{capacity} to {new}");
                let cell = LaneCell { data, tick: AtomicU64::new(0) };
                for block in 0..blocks(new) {
                    let tick = if block < blocks(capacity) { block as u64 + 7 } else { 0 };
                    assert_eq!(cell.block_tick(block, true), Tick::new(tick), "{capacity} to {new}");
                }
            }
            capacity = new;
        }
        assert_eq!(data, dangling(of));
    }

    #[test]
    fn rows_and_ticks_survive_every_change_of_capacity() {
        grows_and_shrinks::<u8>();
        grows_and_shrinks::<[u8; 3]>();
        grows_and_shrinks::<f32>();
        grows_and_shrinks::<[u64; 3]>();
        grows_and_shrinks::<Wide>();
    }

    #[test]
    fn headers_hold_a_tick_for_every_block() {
        for capacity in (0..200_000).step_by(509).chain([1_024, 1_025, 9_216, 9_217, u32::MAX as usize]) {
            let header = header_bytes(capacity);
            assert!(header >= blocks(capacity) * 8, "{capacity}");
            assert!(header <= blocks(capacity).max(1) * 64, "{capacity}");
            assert_eq!(header % COLUMN_ALIGN, 0);
        }
    }
}
