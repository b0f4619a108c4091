//! A ledger of values: each is made once, dropped once, and may be told to panic on the way.
//!
//! Every [`Serial`] has a number of its own, so the ledger can say which value was dropped twice or leaked;
//! zero-sized values have no room for a number and are counted. The ledger belongs to the thread, because a
//! `Drop` can be handed nothing: a test opens one, and tests of other threads have their own.
//!
//! Faults never panic twice: the book is written before the panic, and one arming is one panic. What is wrong
//! is recorded, not raised, inside `Drop`: a second panic during the first would end the process.
#![allow(dead_code, reason = "each test file uses a part")]

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a panic can be planned at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A value known to the ledger is dropped.
    Drop,
    /// A value known to the ledger is cloned.
    Clone,
    /// An iterator of the test yields.
    Step,
    /// A function of the test makes or takes apart a value.
    Make,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Live,
    Dropped,
}

#[derive(Default)]
struct Book {
    serials: Vec<State>,
    grains_made: usize,
    grains_dropped: usize,
    faults: Vec<String>,
    plan: Option<(Event, usize)>,
    fired: bool,
}

thread_local! {
    static BOOK: RefCell<Book> = RefCell::new(Book::default());
}

fn write<R>(change: impl FnOnce(&mut Book) -> R) -> R {
    BOOK.with(|book| change(&mut book.borrow_mut()))
}

/// Tells the ledger of an event, which panics if a panic was planned for it.
pub fn happens(event: Event) {
    let fires = write(|book| match &mut book.plan {
        Some((planned, left)) if *planned == event => {
            *left -= 1;
            let fires = *left == 0 && !std::thread::panicking();
            if fires {
                book.plan = None;
                book.fired = true;
            }
            fires
        }
        _ => false,
    });
    if fires {
        panic!("planned at {event:?}");
    }
}

/// The values that the test made since it opened the ledger.
#[must_use]
pub struct Ledger(());

impl Ledger {
    /// Begins a ledger for this thread; what was written before is forgotten.
    pub fn open() -> Self {
        write(|book| *book = Book::default());
        Self(())
    }

    /// Plans a panic at the `n`-th event from now on, counted from 1.
    pub fn plan(&self, event: Event, n: usize) {
        assert!(n > 0, "events are counted from 1");
        write(|book| (book.plan, book.fired) = (Some((event, n)), false));
    }

    /// Calls the plan off, and tells whether its panic came.
    pub fn call_off(&self) -> bool {
        write(|book| {
            book.plan = None;
            book.fired
        })
    }

    /// How many values were made and not dropped.
    pub fn live(&self) -> usize {
        write(|book| {
            let serials = book.serials.iter().filter(|&&state| state == State::Live).count();
            serials + (book.grains_made - book.grains_dropped)
        })
    }

    /// How many values were dropped.
    pub fn dropped(&self) -> usize {
        write(|book| {
            let serials = book.serials.iter().filter(|&&state| state == State::Dropped).count();
            serials + book.grains_dropped
        })
    }

    /// Fails if a value was dropped twice, or something was dropped that never was a value.
    #[track_caller]
    pub fn nothing_dropped_twice(&self) {
        let faults = write(|book| book.faults.clone());
        assert!(faults.is_empty(), "{faults:?}");
    }

    /// Fails unless every value was dropped exactly once.
    #[track_caller]
    pub fn all_dropped_once(&self) {
        self.nothing_dropped_twice();
        let leaked: Vec<usize> = write(|book| {
            let live = book.serials.iter().enumerate().filter(|&(_, &state)| state == State::Live);
            live.map(|(number, _)| number).collect()
        });
        assert!(leaked.is_empty(), "values {leaked:?} were never dropped");
        let (made, dropped) = write(|book| (book.grains_made, book.grains_dropped));
        assert_eq!(made, dropped, "zero-sized values made, and dropped");
    }
}

/// A value that the ledger knows by a number. A clone is a value of its own.
#[derive(Debug)]
pub struct Serial {
    number: usize,
    /// Tells a value from memory that holds none.
    seal: usize,
}

const SEAL: usize = 0x5EA1_5EA1;

impl Serial {
    pub fn new() -> Self {
        let number = write(|book| {
            book.serials.push(State::Live);
            book.serials.len() - 1
        });
        Self { number, seal: number ^ SEAL }
    }

    /// Whether the value is sound and not dropped yet.
    pub fn is_live(&self) -> bool {
        self.seal == self.number ^ SEAL && write(|book| book.serials.get(self.number) == Some(&State::Live))
    }
}

impl Clone for Serial {
    fn clone(&self) -> Self {
        happens(Event::Clone);
        Self::new()
    }
}

impl Drop for Serial {
    fn drop(&mut self) {
        let Self { number, seal } = *self;
        write(|book| {
            let fault = match book.serials.get_mut(number) {
                Some(state @ State::Live) if seal == number ^ SEAL => {
                    *state = State::Dropped;
                    return;
                }
                Some(State::Dropped) if seal == number ^ SEAL => format!("value {number} was dropped twice"),
                _ => format!("a value was dropped that never was one: {number:#x}, seal {seal:#x}"),
            };
            book.faults.push(fault);
        });
        happens(Event::Drop);
    }
}

/// Counts a zero-sized value that was made.
pub fn grain_made() {
    write(|book| book.grains_made += 1);
}

/// Counts a zero-sized value that was dropped.
pub fn grain_dropped() {
    write(|book| {
        if book.grains_dropped == book.grains_made {
            book.faults.push("more zero-sized values were dropped than made".into());
        } else {
            book.grains_dropped += 1;
        }
    });
    happens(Event::Drop);
}

/// Runs `f` and returns the message of its panic, if it panicked.
pub fn panic_of<R>(f: impl FnOnce() -> R) -> Option<String> {
    let (mut f, mut value) = (Some(f), None);
    caught(&mut || value = f.take().map(|f| f()))
}

/// Not generic: what catches panics is compiled once.
fn caught(f: &mut dyn FnMut()) -> Option<String> {
    catch_unwind(AssertUnwindSafe(f)).err().map(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
