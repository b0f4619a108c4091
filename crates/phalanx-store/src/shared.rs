//! Sharing sessions: many threads, one store, flags instead of a borrow.
//!
//! [`Store::share`] borrows the store exclusively, so the structure stands still; inside the session any
//! thread with `&Shared` may lock a prepared query. A lock takes one flag per column, once per run; while
//! it lives, no other lock can write what it reads or touch what it writes (I8). Columns that a query splits are
//! shared with locks of other tables instead (`split`). The scheduler above never lets conflicting systems meet, so
//! a column that cannot be taken is a bug, reported with the column.

use std::fmt;

use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::fetch::{Access, Fetch, ReadFetch};
use crate::flags::BorrowFlags;
use crate::prepared::{Prepared, Visits};
use crate::split::Split;
use crate::store::Store;
use crate::tick::Tick;
use crate::view::View;

/// A store that several threads may query.
pub struct Shared<'s> {
    store: &'s Store,
    /// Otherwise no query can write, and no flags are needed.
    writable: bool,
}

impl Store {
    /// Opens a session. Flags left over from guards that were forgotten are taken back.
    pub fn share(&mut self) -> Shared<'_> {
        self.flags.reset();
        self.splits.reset();
        Shared { store: self, writable: true }
    }

    /// Opens a session in which queries only read; it lives beside other readers of the store.
    pub fn share_read(&self) -> Shared<'_> {
        Shared { store: self, writable: false }
    }
}

/// A column that is in use by another lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The column that could not be taken.
    pub column: AnyColId,
    /// Whether it was to be written.
    pub writes: bool,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.writes { "written" } else { "read" };
        write!(f, "a column of {} cannot be {how}: another query uses it", self.column.type_name())
    }
}

impl std::error::Error for Conflict {}

/// Who panics when a column is in use that should not be.
pub trait InUse {
    /// Says so.
    fn panic(&self, conflict: Conflict) -> !;
}

impl Shared<'_> {
    /// The store, for what needs no lock: liveness, places, reservation.
    pub fn contains(&self, entity: Entity) -> bool {
        self.store.entities.contains(entity)
    }

    /// The entities.
    pub fn entities(&self) -> &crate::entities::Entities {
        &self.store.entities
    }

    /// Whether an id can never be alive any more.
    pub fn is_past(&self, entity: Entity) -> bool {
        self.store.entities.is_past(entity)
    }

    /// Reserves an id; alive after the flush that follows the session.
    ///
    /// # Errors
    /// When all indices are in use.
    pub fn reserve_entity(&self) -> Result<Entity, crate::Exhausted> {
        self.store.reserve_entity()
    }

    /// Takes the query's columns.
    ///
    /// # Errors
    /// When another lock uses one of them in a way that cannot go together; then none is taken.
    ///
    /// # Panics
    /// When the query is stale.
    pub fn lock<'a, F: Fetch>(&'a self, query: &'a Prepared<F>) -> Result<Locked<'a, F>, Conflict> {
        self.lock_at(query, self.store.tick)
    }

    /// As [`Shared::lock`]; what is written carries the tick `now`.
    ///
    /// # Errors
    /// As for [`Shared::lock`].
    ///
    /// # Panics
    /// When the query is stale.
    #[inline]
    pub fn lock_at<'a, F: Fetch>(
        &'a self,
        query: &'a Prepared<F>,
        now: Tick,
    ) -> Result<Locked<'a, F>, Conflict> {
        match self.hold(&query.visits) {
            Ok(held) => Ok(Locked { held, query, now }),
            Err(conflict) => Err(conflict),
        }
    }

    /// As [`Shared::lock_at`]; a column that is in use ends in a panic of the caller's.
    ///
    /// # Panics
    /// When the query is stale.
    #[inline]
    pub fn expect_lock_at<'a, F: Fetch>(
        &'a self,
        query: &'a Prepared<F>,
        now: Tick,
        in_use: &dyn InUse,
    ) -> Locked<'a, F> {
        Locked { held: self.expect_hold(&query.visits, in_use), query, now }
    }

    #[inline(never)]
    fn expect_hold<'a>(&'a self, visits: &'a Visits, in_use: &dyn InUse) -> Held<'a> {
        match self.hold(visits) {
            Ok(held) => held,
            Err(conflict) => in_use.panic(conflict),
        }
    }

    /// Takes the flags of a query of whatever type.
    fn hold<'a>(&'a self, visits: &'a Visits) -> Result<Held<'a>, Conflict> {
        self.store.expect_stamp(visits.stamp);
        let flags = &self.store.flags;
        // Dropped early, it gives back what was taken.
        let mut held = Held { store: self.store, visits, taken: 0, whole: false, lock: 0 };
        for access in &visits.flagged {
            let column = access.column.index();
            let ok = if !self.writable {
                // No query writes, so reading needs no flag.
                !access.writes
            } else if column >= flags.len() {
                // A column that this store never met has no flag, and no values to guard.
                true
            } else {
                let ok = if access.writes { flags.try_write(column) } else { flags.try_read(column) };
                held.taken += usize::from(ok);
                ok
            };
            if !ok {
                return Err(Conflict { column: access.column, writes: access.writes });
            }
        }
        if let Some(whole) = &visits.whole {
            held.whole = self.take_whole(whole)?;
        }
        if let Some(split) = &visits.split {
            held.lock = self.enter(visits, split)?;
        }
        Ok(held)
    }

    /// Takes the flags of all columns but some, and tells whether there is something to give back.
    #[cold]
    #[inline(never)]
    fn take_whole(&self, whole: &Access) -> Result<bool, Conflict> {
        let flags = &self.store.flags;
        if !self.writable {
            let refused = Conflict { column: whole.column, writes: true };
            return if whole.writes { Err(refused) } else { Ok(false) };
        }
        for at in 0..flags.len() {
            let taken =
                !reached(whole, at) || if whole.writes { flags.try_write(at) } else { flags.try_read(at) };
            if !taken {
                release_whole(flags, whole, at);
                return Err(Conflict {
                    column: AnyColId::at(at).unwrap_or(whole.column),
                    writes: whole.writes,
                });
            }
        }
        Ok(true)
    }

    /// Takes the columns that a query splits.
    #[cold]
    #[inline(never)]
    fn enter(&self, visits: &Visits, split: &Split) -> Result<u64, Conflict> {
        if self.writable {
            return self.store.splits.enter(&self.store.flags, &split.uses, split.tables(&visits.tables));
        }
        match split.uses.iter().find(|access| access.writes) {
            Some(access) => Err(Conflict { column: access.column, writes: true }),
            None => Ok(0),
        }
    }
}

/// The flags of a query, held until dropped.
struct Held<'a> {
    store: &'a Store,
    visits: &'a Visits,
    /// How many of the flags were taken.
    taken: usize,
    /// Whether the flags of all columns but some were taken.
    whole: bool,
    /// The number under which split columns were taken, if any were.
    lock: u64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let flags = &self.store.flags;
        let known = self.visits.flagged.iter().filter(|access| access.column.index() < flags.len());
        for access in known.take(self.taken) {
            if access.writes {
                flags.release_write(access.column.index());
            } else {
                flags.release_read(access.column.index());
            }
        }
        if let (true, Some(whole)) = (self.whole, &self.visits.whole) {
            release_whole(flags, whole, flags.len());
        }
        if self.lock != 0 {
            self.store.splits.leave(flags, self.lock);
        }
    }
}

/// Whether the use of all columns but some uses the one with this index.
fn reached(whole: &Access, index: usize) -> bool {
    whole.whole.is_some_and(|except| except.iter().all(|column| column.index() != index))
}

/// Gives back the flags of all columns but some, before one.
fn release_whole(flags: &BorrowFlags, whole: &Access, end: usize) {
    for at in (0..end).filter(|&at| reached(whole, at)) {
        if whole.writes {
            flags.release_write(at);
        } else {
            flags.release_read(at);
        }
    }
}

/// The columns of a query, held until dropped.
pub struct Locked<'a, F: Fetch> {
    held: Held<'a>,
    query: &'a Prepared<F>,
    now: Tick,
}

impl<F: Fetch> Locked<'_, F> {
    /// Reads and writes what the query visits.
    pub fn view(&mut self) -> View<'_, F> {
        // SAFETY: all columns are held until the lock is dropped, those that are split in the tables in which the view stays;
        // or the session cannot write, and this query only reads (I8). The view borrows the lock exclusively, so that no other
        // view of it is alive.
        unsafe { self.held.store.view_locked(self.query, self.now) }
    }

    /// Reads what the query visits.
    pub fn view_shared(&self) -> View<'_, F>
    where
        F: ReadFetch,
    {
        // SAFETY: all columns are held for reading, those that are split in the tables in which the view stays; or the
        // session cannot write (I8). The fetch only reads, so that there may be several such views.
        unsafe { self.held.store.view_locked(self.query, self.now) }
    }
}
