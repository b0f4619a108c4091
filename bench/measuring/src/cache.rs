//! Emptying the caches: walking over more memory than they hold.

use std::cell::RefCell;
use std::hint::black_box;

/// Twice the largest cache this is meant for.
const BYTES: usize = 96 << 20;

thread_local! {
    static MEMORY: RefCell<Vec<u64>> = RefCell::new(vec![1; BYTES / 8]);
}

/// Drives everything else out of the caches.
pub fn evict() {
    MEMORY.with_borrow_mut(|memory| {
        for line in memory.chunks_exact_mut(8) {
            line[0] = line[0].wrapping_mul(3);
        }
        black_box(memory.as_ptr());
    });
}
