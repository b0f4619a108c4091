//! Panics of the user's code that have to wait until every structure is valid again.
//!
//! Several values may be dropped by one operation, and each may panic: the first panic is passed on when the work
//! is done, the others are let go.

#![forbid(unsafe_code)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The first panic of several, kept while the others' work is finished.
#[doc(hidden)]
#[derive(Default)]
#[must_use]
pub struct FirstPanic(Option<Box<dyn Any + Send>>);

impl FirstPanic {
    /// Runs the user's code, keeping its panic for later.
    pub fn guard(&mut self, f: impl FnOnce()) {
        // Without optimisation, catching is compiled once and not for each of hundreds of callers in a program; with it, what
        // cannot panic costs nothing.
        #[cfg(debug_assertions)]
        {
            let mut f = Some(f);
            self.guard_any(&mut || {
                if let Some(f) = f.take() {
                    f();
                }
            });
        }
        #[cfg(not(debug_assertions))]
        if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
            self.keep(panic);
        }
    }

    #[cfg(debug_assertions)]
    fn guard_any(&mut self, f: &mut dyn FnMut()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
            self.keep(panic);
        }
    }

    /// Runs the user's code while another panic is being passed on: one of its own is let go.
    pub fn ignore<T>(f: impl FnOnce() -> T) {
        let mut panics = Self::default();
        panics.guard(|| drop(f()));
        panics.forget();
    }

    #[cold]
    fn keep(&mut self, panic: Box<dyn Any + Send>) {
        match self.0 {
            None => self.0 = Some(panic),
            Some(_) => let_go(panic),
        }
    }

    /// Adds what another guard kept.
    pub fn join(&mut self, other: Self) {
        if let Some(panic) = other.0 {
            self.keep(panic);
        }
    }

    /// Lets the panic be: another one is being passed on.
    pub fn forget(self) {
        if let Some(panic) = self.0 {
            let_go(panic);
        }
    }

    /// Goes on with the first panic, if there was one; not while another one is being passed on, which would end the
    /// process.
    pub fn resume_unless_panicking(self) {
        if std::thread::panicking() {
            self.forget();
        } else {
            self.resume();
        }
    }

    /// Goes on with the first panic, if there was one.
    pub fn resume(self) {
        if let Some(panic) = self.0 {
            resume_unwind(panic);
        }
    }
}

/// Drops what a panic carries, which is the user's code once more and may panic itself: work goes on all the same.
fn let_go(panic: Box<dyn Any + Send>) {
    let mut left = Some(panic);
    while let Some(panic) = left {
        left = catch_unwind(AssertUnwindSafe(|| drop(panic))).err();
    }
}
