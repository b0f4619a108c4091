//! The plan of a set: how values of one type go in and out, worked out and checked once.
//!
//! A plan is made for one type of values, and for one set of one store. It is kept without that type, so that the plans
//! of many sets fit in one array; what is asked for each value is whether store and type are the right ones.

use std::any::TypeId;
use std::fmt;

use super::SetId;
use crate::column_id::AnyColId;
use crate::plan::{PlanError, distinct_columns};
use crate::store::Store;
use crate::table_columns::ColumnList;
use crate::values::Values;

/// How values go in and out of one set.
#[derive(Clone)]
pub struct SetPlan {
    store: u64,
    pub(super) set: SetId,
    /// The columns of the values, all of them there.
    slots: ColumnList,
    values: TypeId,
    /// The number of the column of the only value; no column's where there are several.
    lone: u32,
}

/// The number of no column.
const NO_COLUMN: u32 = u32::MAX;

impl SetPlan {
    /// A plan for no values of no store, to stand where there is none.
    pub fn closed() -> Self {
        /// Nobody's values.
        struct Nothing;
        Self {
            store: 0,
            set: SetId(u32::MAX),
            slots: ColumnList::default(),
            values: TypeId::of::<Nothing>(),
            lone: NO_COLUMN,
        }
    }

    /// The set.
    pub fn set(&self) -> SetId {
        self.set
    }

    /// Where the columns of the values are.
    ///
    /// # Safety
    /// The plan is for `V`.
    #[inline(always)]
    pub(super) unsafe fn pointers<V: Values>(&self) -> V::Pointers {
        // SAFETY: forwarded: a column was found for each value of `V` (I7).
        V::pointers(&mut unsafe { self.slots.exactly(V::COLUMNS) })
    }
}

impl fmt::Debug for SetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetPlan").field("set", &self.set).finish_non_exhaustive()
    }
}

impl Store {
    /// How values of `V` go in and out of a set, checked once.
    ///
    /// # Errors
    /// When the columns of `V` are not exactly those of the set.
    ///
    /// # Panics
    /// When the set is that of a group's members.
    pub fn set_plan<V: Values>(&self, set: SetId, ids: V::Ids) -> Result<SetPlan, PlanError> {
        self.expect_writable(set);
        let table = self.set(set).table;
        let columns = &self.tables[table.index()];
        let value_columns = distinct_columns::<V>(ids)?;
        if let Some(&column) = value_columns.iter().find(|&&column| !columns.has(column)) {
            return Err(PlanError::ColumnMismatch(column));
        }
        let mut optional = Vec::new();
        V::optional(&mut optional);
        if let Some(at) = optional.iter().position(|&may_lack| may_lack) {
            return Err(PlanError::ColumnMismatch(value_columns[at]));
        }
        if let Some(column) = columns.ids().find(|column| !value_columns.contains(column)) {
            return Err(PlanError::Unfilled(column));
        }
        Ok(SetPlan {
            store: self.id,
            set,
            slots: columns.select(&value_columns),
            values: TypeId::of::<V>(),
            lone: V::lone(ids).map_or(NO_COLUMN, AnyColId::number),
        })
    }

    #[inline(always)]
    pub(super) fn expect_set_plan<V: Values>(&self, plan: &SetPlan, ids: V::Ids) {
        let fits = match V::lone(ids) {
            // A column holds one type (I1), so that the only column tells as much as the type of the values.
            Some(column) => plan.lone == column.number(),
            None => plan.values == TypeId::of::<V>(),
        };
        assert!(
            fits && plan.store == self.id,
            "a set plan serves only the store and the values it was made for"
        );
    }
}
