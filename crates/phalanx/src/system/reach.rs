//! What one query of a system uses, and in which tables.
//!
//! Two systems, or two parameters of one, may use a column at once although one of them writes, if each uses it through
//! queries that never meet in a table. The column is then marked as *split* in the store: every system has a
//! list of such columns, which its queries look at when they are brought up to date.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use phalanx_store::AnyColId;

use crate::query::{Condition, Extent};

/// The columns that the queries of one system share with others, each in tables of its own.
#[derive(Debug, Default)]
pub(crate) struct SplitColumns {
    columns: Mutex<Vec<AnyColId>>,
    /// How many there are: it only grows.
    count: AtomicUsize,
}

impl SplitColumns {
    /// How many columns are split: a query that knows as many knows all.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, column: AnyColId) {
        let mut columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        if !columns.contains(&column) {
            columns.push(column);
            self.count.store(columns.len(), Ordering::Relaxed);
        }
    }

    pub(crate) fn all(&self) -> Vec<AnyColId> {
        self.columns.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The columns of tables that one query uses.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    extent: Arc<Extent>,
    /// Sorted by column; whether it is written.
    uses: Vec<(AnyColId, bool)>,
    split: Arc<SplitColumns>,
}

impl PartialEq for Reach {
    fn eq(&self, other: &Self) -> bool {
        self.extent == other.extent && self.uses == other.uses
    }
}

impl Eq for Reach {}

impl Reach {
    pub(crate) fn new(extent: Extent, uses: &[phalanx_store::Access], split: Arc<SplitColumns>) -> Self {
        let mut columns: Vec<(AnyColId, bool)> = Vec::new();
        for used in uses.iter().filter(|used| !used.in_set && used.whole.is_none()) {
            match columns.binary_search_by_key(&used.column, |(column, _)| *column) {
                Ok(at) => columns[at].1 |= used.writes,
                Err(at) => columns.insert(at, (used.column, used.writes)),
            }
        }
        Self { extent: Arc::new(extent), uses: columns, split }
    }

    /// What the query asks of an entity.
    pub(crate) fn condition(&self) -> &Condition {
        self.extent.condition()
    }

    /// Whether a column is used, and if so, whether it is written.
    pub(crate) fn use_of(&self, column: AnyColId) -> Option<bool> {
        self.uses.binary_search_by_key(&column, |(known, _)| *known).ok().map(|at| self.uses[at].1)
    }

    /// Whether two queries use a column in the same way, in the same tables.
    pub(crate) fn is_alike(&self, other: &Self, column: AnyColId) -> bool {
        let same_extent = Arc::ptr_eq(&self.extent, &other.extent) || self.extent == other.extent;
        same_extent && self.use_of(column) == other.use_of(column)
    }

    /// Whether two queries can use a column at once: one of them does not use it, both read, or they never meet.
    pub(crate) fn goes_with(&self, other: &Self, column: AnyColId) -> bool {
        match (self.use_of(column), other.use_of(column)) {
            (Some(writes), Some(written)) if writes || written => self.extent.never_meet(&other.extent),
            _ => true,
        }
    }

    /// Tells the query that it shares a column with others.
    pub(crate) fn split(&self, column: AnyColId) {
        if self.use_of(column).is_some() {
            self.split.add(column);
        }
    }
}
