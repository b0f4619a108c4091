//! The memory of one column: raw, without a length of its own.
//!
//! A table decides how many rows exist; a column only knows where they are. The ticks of blocks lie *before* the data,
//! so that the data pointer alone reaches both:
//!
//! ```text
//!   base                                      data (64-byte aligned)
//!   | unused | tick n | ... | tick 1 | tick 0 | row 0 | row 1 | ...            |
//!   '--------------- tick area --------------' '------ capacity rows ----------'
//! ```
//!
//! Block 0 has a second tick beside the data pointer ([`ColumnCell`]): a visit of many rows marks that one, so that
//! small tables are not written to before their data; a visit of one row marks the one before the data, because no
//! question has to be asked for it. The later of both counts. Zero-sized values have an aligned dangling pointer, no
//! memory, and the tick beside the pointer alone, for all rows. Up to 512 bytes are a piece of the store's slab,
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
/// The bytes of the largest column that is a piece of a slab, with its line of ticks.
const SMALL: usize = 512 + COLUMN_ALIGN;

/// What the column index keeps per column and table: where the column's rows are, and when many of block 0 were last
/// written.
#[doc(hidden)]
pub struct ColumnCell {
    /// Null when the table lacks the column.
    pub(crate) data: *mut u8,
    /// Atomic so that jobs on different rows of one block may mark it side by side; all accesses are relaxed.
    pub(crate) tick: AtomicU64,
}

impl ColumnCell {
    #[expect(clippy::declare_interior_mutable_const, reason = "each use is meant to be a new cell")]
    pub(crate) const ABSENT: Self = Self { data: ptr::null_mut(), tick: AtomicU64::new(0) };

    /// Whether the table lacks the column.
    #[inline(always)]
    pub(crate) fn is_absent(&self) -> bool {
        self.data.is_null()
    }

    /// Marks the blocks of rows `start..start + len` as written at `now`.
    ///
    /// # Safety
    /// `self.data` is the data of a column that lives, with room for those rows; `sized` tells whether its values have a
    /// size.
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
        // SAFETY: forwarded: the values have a size, and the blocks behind block 0 have rows to be marked, which are within
        // the capacity, so the tick area holds their ticks (I3).
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

    /// As [`ColumnCell::mark`], for one row.
    ///
    /// # Safety
    /// As for [`ColumnCell::mark`].
    #[inline(always)]
    pub(crate) unsafe fn mark_single(&self, row: usize, sized: bool, now: Tick) {
        if sized {
            // SAFETY: forwarded: the column has room for the row, and its values have a size.
            unsafe { self.mark_row(row, now) };
        } else {
            self.tick.store(now.get(), Ordering::Relaxed);
        }
    }

    /// As [`ColumnCell::mark`], for one row of sized values.
    ///
    /// # Safety
    /// As for [`ColumnCell::mark`]; the values have a size.
    #[inline(always)]
    pub(crate) unsafe fn mark_row(&self, row: usize, now: Tick) {
        // SAFETY: forwarded: the column has room for the row, and its values have a size.
        unsafe { self.tick_of(row) }.store(now.get(), Ordering::Relaxed);
    }

    /// The tick of a row's block, for sized values.
    ///
    /// # Safety
    /// As for [`ColumnCell::mark`], with sized values; the column's memory stays while the tick is borrowed.
    #[inline(always)]
    pub(crate) unsafe fn tick_of(&self, row: usize) -> &AtomicU64 {
        // SAFETY: forwarded: the row is within the capacity, so the tick area holds a tick for its block (I3).
        unsafe { tick_before(self.data, row >> BLOCK_SHIFT) }
    }

    /// # Safety
    /// As for [`ColumnCell::mark`], with sized values that reach into the blocks from `first`, above zero, to `last`.
    #[cold]
    #[inline(never)]
    unsafe fn mark_later(&self, first: usize, last: usize, now: Tick) {
        for block in first..=last {
            // SAFETY: forwarded: the rows are within the capacity, so the tick area holds a tick for each of their blocks
            // (I3).
            unsafe { tick_before(self.data, block) }.store(now.get(), Ordering::Relaxed);
        }
    }

    /// The tick of the last write to `block`.
    ///
    /// # Safety
    /// As for [`ColumnCell::mark`], for a block that begins within the capacity.
    pub(crate) unsafe fn block_tick(&self, block: usize, sized: bool) -> Tick {
        let beside = if block == 0 || !sized { self.tick.load(Ordering::Relaxed) } else { 0 };
        if !sized {
            return Tick::new(beside);
        }
        // SAFETY: forwarded: the values have a size, and the block begins within the capacity, so the tick area holds its
        // tick (I3).
        let before = unsafe { tick_before(self.data, block) }.load(Ordering::Relaxed);
        Tick::new(beside.max(before))
    }
}

/// # Safety
/// `data` is the data of a column of sized values whose capacity reaches into `block`, and which stays where it is for
/// `'a`.
#[inline(always)]
unsafe fn tick_before<'a>(data: *mut u8, block: usize) -> &'a AtomicU64 {
    // The complement is one instruction, and leaves the scaling to the address.
    // SAFETY: forwarded: the tick area before `data` holds one aligned, initialised tick per block, counted backwards (I3),
    // and all accesses to it are atomic, but for those of who has the column to himself.
    unsafe { &*data.cast::<AtomicU64>().offset(!block.cast_signed()) }
}

fn blocks(capacity: usize) -> usize {
    capacity.div_ceil(BLOCK_ROWS)
}

/// The bytes of the tick area: a tick per block.
fn tick_bytes(capacity: usize) -> usize {
    blocks(capacity) * size_of::<AtomicU64>()
}

/// The memory of `capacity` rows, and the bytes before the data.
///
/// # Panics
/// When it would exceed the address space.
fn allocation(of: &ColumnType, capacity: usize) -> (Layout, usize) {
    let align = of.layout.align().max(COLUMN_ALIGN);
    // Alignments are powers of two: this is a mask, and no division.
    let before = (tick_bytes(capacity) + align - 1) & !(align - 1);
    let size = of.layout.size().checked_mul(capacity).and_then(|rows| rows.checked_add(before));
    match size.and_then(|size| Layout::from_size_align(size, align).ok()) {
        Some(layout) => (layout, before),
        None => panic!("a column of {} cannot hold {capacity} rows", of.type_name),
    }
}

/// Checks that a column of this type can have this capacity.
pub(crate) fn assert_capacity(of: &ColumnType, capacity: usize) {
    if of.layout.size() > 0 {
        allocation(of, capacity);
    }
}

/// The bytes that a column with this capacity occupies, but for the one line of ticks that a column of one block has.
pub(crate) fn bytes(of: &ColumnType, capacity: usize) -> usize {
    if of.layout.size() == 0 || capacity == 0 {
        return 0;
    }
    let before = if blocks(capacity) > 1 { allocation(of, capacity).1 } else { 0 };
    before + of.layout.size() * capacity
}

/// The data pointer of a column without memory: aligned, not null.
pub(crate) fn dangling(of: &ColumnType) -> *mut u8 {
    ptr::without_provenance_mut(of.layout.align().max(COLUMN_ALIGN))
}

/// How many lines an allocation takes in a slab; `None` when it is none for a slab.
fn lines_of(layout: Layout) -> Option<usize> {
    let fits = layout.size() <= SMALL && layout.align() <= align_of::<Line>();
    fits.then(|| layout.size().div_ceil(size_of::<Line>()))
}

/// Allocates room for `capacity` rows, with zeroed block ticks.
fn allocate(slab: &mut Slab, of: &ColumnType, capacity: usize) -> *mut u8 {
    if of.layout.size() == 0 || capacity == 0 {
        return dangling(of);
    }
    let (layout, before) = allocation(of, capacity);
    // SAFETY: locally: the layout has a size, because the values have one and the capacity is not zero. The memory has the
    // layout, or is a piece of as many lines; it begins with the bytes before the data, which end with the ticks, for which
    // zero is a valid value.
    unsafe {
        let base: NonNull<u8> = match lines_of(layout) {
            Some(lines) => slab.take(lines).cast(),
            None => NonNull::new(alloc(layout)).unwrap_or_else(|| handle_alloc_error(layout)),
        };
        let data = base.as_ptr().add(before);
        data.sub(tick_bytes(capacity)).write_bytes(0, tick_bytes(capacity));
        data
    }
}

/// Frees what [`allocate`] gave.
///
/// # Safety
/// `data` came from `allocate(slab, of, capacity)`, was not freed, and is not used again; its values were moved out or
/// dropped.
unsafe fn free(slab: &mut Slab, of: &ColumnType, data: *mut u8, capacity: usize) {
    if of.layout.size() == 0 || capacity == 0 {
        return;
    }
    let (layout, before) = allocation(of, capacity);
    // SAFETY: forwarded: `allocate` put the data this far behind the beginning of memory of this layout, a piece of the slab
    // or not, for the same type and capacity (I3), which nothing uses any more.
    unsafe {
        let base = NonNull::new_unchecked(data.sub(before));
        match lines_of(layout) {
            Some(lines) => slab.give(base.cast(), lines),
            None => dealloc(base.as_ptr(), layout),
        }
    }
}

/// Moves `len` rows, and their block ticks, to an allocation of another capacity.
///
/// # Safety
/// `data` came from `allocate(slab, of, old)` and was not freed, `len <= old`, `len <= new`, and no row from `len` on holds
/// a value that is still needed. The old pointer is not used again.
pub(crate) unsafe fn reallocate(
    slab: &mut Slab,
    of: &ColumnType,
    data: *mut u8,
    len: usize,
    old: usize,
    new: usize,
) -> *mut u8 {
    let moved = allocate(slab, of, new);
    if of.layout.size() == 0 || old == 0 {
        return moved;
    }
    let ticks = tick_bytes(old.min(new));
    // SAFETY: forwarded: both allocations hold `len` rows and as many bytes of ticks (I3), and they do not overlap, since one
    // is new; with a new capacity of zero, both counts are zero. The rows are moved then, and the caller gives the old
    // allocation up.
    unsafe {
        ptr::copy_nonoverlapping(data, moved, len * of.layout.size());
        ptr::copy_nonoverlapping(data.sub(ticks), moved.sub(ticks), ticks);
        free(slab, of, data, old);
    }
    moved
}

/// Copies one value, quickly for the sizes that components have most.
///
/// # Safety
/// `from` is valid for reads of `size` bytes, `to` for writes of as many, and these do not overlap.
#[inline(always)]
pub(crate) unsafe fn copy_value(from: *const u8, to: *mut u8, size: usize) {
    // Not a number: bytes may be padding, which no number has, or parts of pointers, which are more than numbers.
    type Half = MaybeUninit<u64>;
    // Two halves that may overlap serve a whole range of sizes. Ranges, because a list of sizes becomes a jump table,
    // which is slower here.
    // SAFETY: the caller's promise: exactly the `size` bytes of `from` are read, and those of `to` written; neither has to be
    // aligned.
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
/// Both are valid for reads and writes of `size` bytes, and these do not overlap.
#[inline(always)]
pub(crate) unsafe fn swap_values(a: *mut u8, b: *mut u8, size: usize) {
    type Half = MaybeUninit<u64>;
    type Quarter = MaybeUninit<u32>;
    // SAFETY: the caller's promise: exactly the `size` bytes of each are read and written, all of them read first.
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
            swap_long(a, b, size);
        }
    }
}

/// As [`swap_values`]; apart, because it needs many registers, which are not to be cleared ahead of it.
///
/// # Safety
/// As for [`swap_values`].
#[cold]
#[inline(never)]
unsafe fn swap_long(a: *mut u8, b: *mut u8, size: usize) {
    // SAFETY: forwarded: both are valid for `size` bytes, which are aligned as bytes and do not overlap.
    unsafe { ptr::swap_nonoverlapping(a, b, size) };
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

    /// Takes a column through capacities on both sides of every border: of blocks, of lines of ticks, of the slab.
    fn grows_and_shrinks<T: Send + Sync + 'static>() {
        let of = ColId::<T>::named(std::any::type_name::<T>()).any().column_type();
        let size = of.layout.size();
        let (mut slab, mut data, mut capacity) = (Slab::default(), dangling(of), 0);
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
                let cell = ColumnCell { data, tick: AtomicU64::new(0) };
                for block in 0..blocks(capacity) {
                    cell.mark_row(block * BLOCK_ROWS, Tick::new(block as u64 + 7));
                }
                data = reallocate(&mut slab, of, data, len, capacity, new);
                assert_eq!(data.addr() % of.layout.align().max(64), 0);
                assert!((0..len * size).all(|at| data.add(at).read() == byte(at)), "{capacity} to {new}");
                let cell = ColumnCell { data, tick: AtomicU64::new(0) };
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
}
