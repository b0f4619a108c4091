//! Columns that several locks use at once, each in tables of its own.
//!
//! A plain lock takes a column as a whole, by its flag. A query that splits a column ([`Prepared::split`]) enters a
//! list instead, with the tables that it visits:
//!
//! ```text
//!   column   tables      writes
//!   Health   2, 5, 9     yes       Query<&mut Health, With<Player>>
//!   Health   3, 4        yes       Query<&mut Health, Without<Player>>: no table in common, so both may write
//! ```
//!
//! A user that has a table in common with one on the list, where one of the two writes, is refused. The list holds the
//! column's flag for all that are on it: for writing as soon as one of them writes, so plain locks stay out, and else for
//! reading, beside plain readers. The tables are compared whenever a lock is taken, on whatever thread: soundness (I8)
//! rests on that, and on views of such locks staying in their tables. Why the tables of two queries have nothing in common
//! is known above the store.

#![forbid(unsafe_code)]

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, PoisonError};

use crate::column_id::AnyColId;
use crate::fetch::{Access, Fetch};
use crate::flags::BorrowFlags;
use crate::location::TableId;
use crate::prepared::Prepared;
use crate::shared::Conflict;
use crate::sync::{Mutex, MutexGuard, Ordering};

/// What a prepared query splits.
#[derive(Clone)]
pub(crate) struct Split {
    /// The uses of split columns.
    pub(crate) uses: Box<[Access]>,
    /// One bit per table that the query visits; worked out for the first lock after these changed.
    tables: OnceLock<Arc<[u64]>>,
}

impl Split {
    pub(crate) fn new(uses: Box<[Access]>) -> Self {
        Self { uses, tables: OnceLock::new() }
    }

    /// Takes note that the query visits other tables from now on.
    pub(crate) fn forget_tables(&mut self) {
        self.tables = OnceLock::new();
    }

    /// The tables as bits; `visited` are those that the query visits.
    pub(crate) fn tables(&self, visited: &[TableId]) -> &Arc<[u64]> {
        self.tables.get_or_init(|| {
            let words = visited.iter().map(|table| table.index() / 64 + 1).max().unwrap_or(0);
            let mut bits = vec![0_u64; words];
            visited.iter().for_each(|table| bits[table.index() / 64] |= 1 << (table.index() % 64));
            bits.into()
        })
    }
}

impl<F: Fetch> Prepared<F> {
    /// From now on locks of this query share these columns with locks of other queries that split them as well, as long
    /// as no table is visited by both. Columns of sparse sets cannot be split, and stay as they are.
    ///
    /// Plain locks are cheaper: only columns that would otherwise conflict should be split.
    pub fn split(&mut self, columns: &[AnyColId]) {
        self.visits.split(columns);
    }
}

/// The split columns in use.
#[derive(Default)]
pub(crate) struct Splits {
    list: Mutex<List>,
    /// Whether a lock was on the list since the last reset: most sessions have none, and do not look there.
    used: AtomicBool,
}

#[derive(Default)]
struct List {
    holders: Vec<Holder>,
    /// How many locks there were.
    locks: u64,
}

/// One lock's use of one column.
struct Holder {
    column: usize,
    writes: bool,
    /// Owned, so that a lock that is forgotten leaves nothing that dangles.
    tables: Arc<[u64]>,
    lock: u64,
}

impl Splits {
    fn list(&self) -> MutexGuard<'_, List> {
        // No code of users runs while the list is borrowed; what a panic of ours left behind is still a list.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets locks that were leaked.
    #[inline]
    pub(crate) fn reset(&mut self) {
        if *self.used.get_mut() {
            self.forget_leaked();
        }
    }

    #[cold]
    #[inline(never)]
    fn forget_leaked(&mut self) {
        *self.used.get_mut() = false;
        self.list.get_mut().unwrap_or_else(PoisonError::into_inner).holders.clear();
    }

    /// Takes columns in some tables, and returns the number of the lock, which is not zero.
    ///
    /// # Errors
    /// When one of them is in use, as a whole or in one of the tables; then none is taken.
    pub(crate) fn enter(
        &self,
        flags: &BorrowFlags,
        uses: &[Access],
        tables: &Arc<[u64]>,
    ) -> Result<u64, Conflict> {
        let mut list = self.list();
        // Seen by the next session, which has the store to itself.
        self.used.store(true, Ordering::Relaxed);
        list.locks += 1;
        let lock = list.locks;
        for access in uses {
            let (column, writes) = (access.column.index(), access.writes);
            if column >= flags.len() {
                // A column that this store never met has no flag, and no values to guard.
                continue;
            }
            if !list.can_enter(flags, column, writes, tables) {
                list.leave(flags, lock);
                return Err(Conflict { column: access.column, writes });
            }
            list.holders.push(Holder { column, writes, tables: Arc::clone(tables), lock });
        }
        Ok(lock)
    }

    /// Gives back what a lock took.
    pub(crate) fn leave(&self, flags: &BorrowFlags, lock: u64) {
        self.list().leave(flags, lock);
    }
}

impl List {
    fn of(&self, column: usize) -> impl Iterator<Item = &Holder> {
        self.holders.iter().filter(move |holder| holder.column == column)
    }

    /// Whether one more may hold a column in some tables; then the flag says so.
    fn can_enter(&self, flags: &BorrowFlags, column: usize, writes: bool, tables: &[u64]) -> bool {
        let goes_with = |holder: &Holder| (!holder.writes && !writes) || !meet(&holder.tables, tables);
        if !self.of(column).all(goes_with) {
            return false;
        }
        match (self.of(column).next(), writes) {
            (None, true) => flags.try_write(column),
            (None, false) => flags.try_read(column),
            (Some(_), true) if !self.of(column).any(|holder| holder.writes) => flags.try_upgrade(column),
            (Some(_), _) => true,
        }
    }

    fn leave(&mut self, flags: &BorrowFlags, lock: u64) {
        for at in (0..self.holders.len()).rev() {
            if self.holders[at].lock != lock {
                continue;
            }
            let Holder { column, writes, .. } = self.holders.swap_remove(at);
            let (is_held, is_written) =
                (self.of(column).next().is_some(), self.of(column).any(|other| other.writes));
            match (is_held, writes) {
                (false, true) => flags.release_write(column),
                (false, false) => flags.release_read(column),
                (true, true) if !is_written => flags.downgrade(column),
                (true, _) => {}
            }
        }
    }
}

/// Whether two sets of tables have one in common.
fn meet(some: &[u64], others: &[u64]) -> bool {
    some.iter().zip(others).any(|(some, others)| some & others != 0)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::column_id::ColCell;
    use crate::flags::Borrow;

    static A: ColCell<u64> = ColCell::new();
    static B: ColCell<u32> = ColCell::new();

    fn flags() -> BorrowFlags {
        let mut flags = BorrowFlags::new();
        flags.grow(A.id().any().index().max(B.id().any().index()) + 1);
        flags
    }

    fn uses(columns: &[(AnyColId, bool)]) -> Vec<Access> {
        let access = |&(column, writes): &(AnyColId, bool)| Access {
            column,
            writes,
            optional: false,
            in_set: false,
            copies: false,
            whole: None,
        };
        columns.iter().map(access).collect()
    }

    fn tables(visited: &[u64]) -> Arc<[u64]> {
        visited.into()
    }

    #[test]
    fn holders_of_one_column_have_no_table_in_common_unless_all_read() {
        let (flags, splits) = (flags(), Splits::default());
        let (a, column) = (A.id().any(), A.id().any().index());
        let (writes, reads) = (uses(&[(a, true)]), uses(&[(a, false)]));
        let first = splits.enter(&flags, &writes, &tables(&[0b0110])).expect("free");
        assert_eq!(flags.state(column), Borrow::Written, "plain locks stay out");
        let second = splits.enter(&flags, &reads, &tables(&[0b1000, 1])).expect("other tables");
        assert!(splits.enter(&flags, &reads, &tables(&[0b0010])).is_err());
        assert!(splits.enter(&flags, &writes, &tables(&[0b1000])).is_err());
        assert!(splits.enter(&flags, &writes, &tables(&[0, 1])).is_err());
        let third = splits.enter(&flags, &reads, &tables(&[0b1000, 1])).expect("both read");
        splits.leave(&flags, first);
        assert_eq!(flags.state(column), Borrow::Read(1), "those who are left read");
        let fourth = splits.enter(&flags, &reads, &tables(&[0b0010])).expect("the writer is gone");
        for lock in [second, fourth] {
            splits.leave(&flags, lock);
            assert_eq!(flags.state(column), Borrow::Read(1), "one holds it still");
        }
        splits.leave(&flags, third);
        assert_eq!(flags.state(column), Borrow::Free);
    }

    // Two readers never wait for each other, whether they split the column or not.
    #[test]
    fn readers_of_a_split_column_go_beside_plain_readers_and_writers_do_not() {
        let (flags, splits) = (flags(), Splits::default());
        let (a, column) = (A.id().any(), A.id().any().index());
        let (writes, reads) = (uses(&[(a, true)]), uses(&[(a, false)]));
        assert!(flags.try_read(column), "a plain reader");
        let reader = splits.enter(&flags, &reads, &tables(&[0b01])).expect("both read");
        assert!(splits.enter(&flags, &writes, &tables(&[0b10])).is_err(), "the plain reader may be anywhere");
        assert_eq!(flags.state(column), Borrow::Read(2));
        flags.release_read(column);
        let writer = splits.enter(&flags, &writes, &tables(&[0b10])).expect("other tables");
        assert!(!flags.try_read(column), "a plain reader would meet the writer");
        let second = splits.enter(&flags, &writes, &tables(&[0b100])).expect("other tables");
        splits.leave(&flags, writer);
        assert_eq!(flags.state(column), Borrow::Written, "one writes still");
        splits.leave(&flags, second);
        assert!(flags.try_read(column), "the writers are gone");
        splits.leave(&flags, reader);
        flags.release_read(column);
        assert_eq!(flags.state(column), Borrow::Free);
    }

    #[test]
    fn a_refused_lock_leaves_nothing_behind() {
        let (flags, splits) = (flags(), Splits::default());
        let (a, b) = (A.id().any(), B.id().any());
        assert!(flags.try_read(b.index()), "a plain lock reads the other column");
        assert!(splits.enter(&flags, &uses(&[(a, true), (b, true)]), &tables(&[1])).is_err());
        assert_eq!((flags.state(a.index()), flags.state(b.index())), (Borrow::Free, Borrow::Read(1)));
        flags.release_read(b.index());
        let held = splits.enter(&flags, &uses(&[(b, true)]), &tables(&[1])).expect("free");
        assert!(splits.enter(&flags, &uses(&[(a, true), (b, false)]), &tables(&[1])).is_err());
        assert_eq!((flags.state(a.index()), flags.state(b.index())), (Borrow::Free, Borrow::Written));
        splits.leave(&flags, held);
        assert_eq!(flags.state(b.index()), Borrow::Free);
    }

    #[test]
    fn a_column_that_a_lock_reads_twice_is_given_back_once() {
        let (flags, splits) = (flags(), Splits::default());
        let a = A.id().any();
        let lock = splits.enter(&flags, &uses(&[(a, false), (a, false)]), &tables(&[1])).expect("free");
        splits.leave(&flags, lock);
        assert_eq!(flags.state(a.index()), Borrow::Free);
    }

    #[test]
    fn queries_that_visit_no_table_meet_no_other() {
        assert!(!meet(&[], &[u64::MAX]) && !meet(&[0, 1], &[u64::MAX]));
        assert!(meet(&[0, 1], &[0, 3]));
        let split = Split::new(Box::from([]));
        assert!(split.tables(&[]).is_empty());
    }
}
