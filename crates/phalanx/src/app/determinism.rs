//! Whether frames depend on nothing but the state of the app.
//!
//! Each frame is run twice from the same checkpoint, with the digest of the world noted after each system. Where the two
//! runs part, the system before is the one that did something different: it asked a clock, a random source, the order of
//! a hash map, or something that no checkpoint brings back.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::App;
use crate::capture::Digest;
use crate::schedule::Watch;
use crate::world::{Difference, World};

/// Where two runs of a frame part that began equally.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Nondeterminism {
    /// The frame, counted from the first that was checked.
    pub frame: usize,
    /// The system after which the two runs differ; `commands`, when it is what was applied at the end.
    pub system: String,
    /// What differs first, if a further run showed it.
    pub difference: Option<Box<Difference>>,
}

impl fmt::Display for Nondeterminism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "frame {} gives another world when it is run again: the runs part after `{}`",
            self.frame, self.system
        )?;
        match &self.difference {
            Some(difference) => write!(f, "; {difference}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Nondeterminism {}

/// The digests of one frame, system by system.
type Digests = Vec<(String, Digest)>;

impl App {
    /// Runs so many frames of `dt` seconds, each twice from the same state, and tells where two runs of one frame part.
    ///
    /// The app goes on from the second run of each frame. Systems run one after the other meanwhile.
    ///
    /// # Errors
    /// Names the frame, the system, and what differs.
    ///
    /// # Panics
    /// When something can be neither copied nor hashed, or a system panics.
    pub fn check_determinism(&mut self, frames: usize, dt: f64) -> Result<(), Nondeterminism> {
        self.startup();
        for frame in 0..frames {
            let before = self.checkpoint();
            let first = self.digests_of_frame(dt);
            self.restore(&before).expect("a checkpoint of this app");
            let second = self.digests_of_frame(dt);
            let Some(at) = first.iter().zip(&second).position(|(one, other)| one != other) else { continue };
            let system = second[at].0.clone();
            // What differs is looked for in further runs, since none was kept of these.
            let mut listings = Vec::new();
            for _ in 0..4 {
                self.restore(&before).expect("a checkpoint of this app");
                listings.push(self.listing_after(at, dt));
            }
            let pairs = listings.windows(2).filter_map(|pair| pair[0].first_difference(&pair[1]));
            return Err(Nondeterminism { frame, system, difference: pairs.into_iter().next().map(Box::new) });
        }
        Ok(())
    }

    /// Runs a frame, and returns the digest after each system, and at the end.
    fn digests_of_frame(&mut self, dt: f64) -> Digests {
        let noted: Arc<Mutex<Digests>> = Arc::default();
        let watched = Arc::clone(&noted);
        self.run_watched(dt, move |name, world| {
            lock(&watched).push((name.to_owned(), world.digest()));
        });
        let mut digests = std::mem::take(&mut *lock(&noted));
        digests.push(("commands".to_owned(), self.world.digest()));
        digests
    }

    /// Runs a frame, and lists the world as it was after the system at a position.
    fn listing_after(&mut self, at: usize, dt: f64) -> crate::world::Listing {
        let found: Arc<Mutex<(usize, Option<crate::world::Listing>)>> = Arc::default();
        let watched = Arc::clone(&found);
        self.run_watched(dt, move |_, world| {
            let mut found = lock(&watched);
            if found.0 == at {
                found.1 = Some(world.listing());
            }
            found.0 += 1;
        });
        let listing = lock(&found).1.take();
        listing.unwrap_or_else(|| self.world.listing())
    }

    fn run_watched(&mut self, dt: f64, watch: impl FnMut(&str, &World) + Send + 'static) {
        let watch: Watch = Arc::new(Mutex::new(watch));
        self.each_schedule(|schedule| schedule.set_watch(Some(Arc::clone(&watch))));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.step(dt)));
        self.each_schedule(|schedule| schedule.set_watch(None));
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
