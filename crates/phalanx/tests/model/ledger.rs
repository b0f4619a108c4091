//! A text that is entered in a book when it is made and struck out when it is dropped.
//!
//! The book tells how many texts live, and notices one that is dropped twice or was never made. It belongs
//! to the thread, because values made by `#[require]` have no other way to find it.

use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static LEDGER: RefCell<Ledger> = const { RefCell::new(Ledger { living: BTreeSet::new(), next: 0, faults: 0 }) };
}

struct Ledger {
    living: BTreeSet<u64>,
    next: u64,
    faults: usize,
}

/// A string whose life is written down.
pub struct Text {
    text: String,
    number: u64,
}

impl Text {
    pub fn new(text: impl Into<String>) -> Self {
        let number = LEDGER.with_borrow_mut(|ledger| {
            ledger.next += 1;
            ledger.living.insert(ledger.next);
            ledger.next
        });
        Self { text: text.into(), number }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn push(&mut self, c: char) {
        self.text.push(c);
    }
}

impl Clone for Text {
    fn clone(&self) -> Self {
        Self::new(self.text.clone())
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        LEDGER.with_borrow_mut(|ledger| {
            if !ledger.living.remove(&self.number) {
                ledger.faults += 1;
            }
        });
    }
}

/// How many texts of this thread live.
///
/// # Panics
/// When one was dropped that did not live.
pub fn living_texts() -> usize {
    LEDGER.with_borrow(|ledger| {
        assert_eq!(ledger.faults, 0, "texts were dropped twice");
        ledger.living.len()
    })
}
