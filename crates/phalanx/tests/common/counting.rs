//! An allocator that counts, for each thread by itself: how often memory was asked for, how much is held, how much was
//! held at most, and how much was asked for as zeroed memory, of which only what is written takes pages. The test binary that uses it has it as its global allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static PLAIN: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work; counting neither allocates nor fails.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout);
        PLAIN.set(PLAIN.get() + layout.size());
        // SAFETY: forwarded.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout);
        // SAFETY: forwarded.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: forwarded.
        unsafe { System.dealloc(ptr, layout) }
    }
}

fn count(layout: Layout) {
    COUNT.set(COUNT.get() + 1);
    HELD.set(HELD.get() + layout.size().cast_signed());
    PEAK.set(PEAK.get().max(HELD.get()));
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often `f` allocates on this thread.
#[allow(dead_code, reason = "not every test counts how often")]
pub fn allocations<R>(f: impl FnOnce() -> R) -> usize {
    let before = COUNT.get();
    black_box(f());
    COUNT.get() - before
}

/// How many bytes this thread holds.
#[allow(dead_code, reason = "not every test asks")]
pub fn held() -> isize {
    HELD.get()
}

/// How many bytes this thread held at most while `f` ran, beyond those before, and what `f` returns.
#[allow(dead_code, reason = "not every test asks")]
pub fn peak<R>(f: impl FnOnce() -> R) -> (usize, R) {
    let before = HELD.get();
    PEAK.set(before);
    let result = f();
    (usize::try_from(PEAK.get() - before).unwrap_or(0), result)
}

/// How many bytes this thread asks for while `f` runs, zeroed memory aside.
#[allow(dead_code, reason = "not every test asks")]
pub fn asked<R>(f: impl FnOnce() -> R) -> usize {
    let before = PLAIN.get();
    black_box(f());
    PLAIN.get() - before
}
