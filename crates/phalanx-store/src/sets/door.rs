//! The plans and doors of sets: what is asked once, for many values that go in and out.
//!
//! A plan is made for one type of values, and for one set of one store. A door is a plan of which the type of the
//! values is known; what is left to ask for each value is whether the store is the right one.

use std::any::TypeId;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use super::{SetId, SparseSet};
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::headers::ColumnRef;
use crate::place::TableId;
use crate::plan::{PlanError, distinct_leaves, slots};
use crate::store::Store;
use crate::values::{Existing, Values};

/// How values go in and out of one set.
#[derive(Clone, Debug)]
pub struct SetPlan {
    store: u64,
    values: TypeId,
    /// The column of the values' only leaf; no column's number where there are several.
    lone: usize,
    pub(super) id: SetId,
    /// Sets are never dropped, so this lives as long as the store, and so do the columns.
    pub(super) set: NonNull<SparseSet>,
    pub(super) table: TableId,
    pub(super) stable: bool,
    /// The leaves' columns.
    slots: Arc<[ColumnRef]>,
}

// SAFETY: a plan only points at sets and headers, which are reached through the store that made it (I7).
unsafe impl Send for SetPlan {}
// SAFETY: as above.
unsafe impl Sync for SetPlan {}

impl SetPlan {
    /// A plan for no values of no store, to stand where there is none.
    pub fn closed() -> Self {
        /// Nobody's values.
        struct Nothing;
        Self {
            store: 0,
            values: TypeId::of::<Nothing>(),
            lone: usize::MAX,
            id: SetId(u32::MAX),
            set: NonNull::dangling(),
            table: TableId::DEAD,
            stable: false,
            slots: Arc::default(),
        }
    }

    /// The set.
    pub fn set(&self) -> SetId {
        self.id
    }

    /// The plan for many values of `V`, whose columns are these; `None` when it is for others.
    #[inline(always)]
    pub fn door<V: Values>(&self, ids: V::Ids) -> Option<&SetDoor<V>> {
        let fits = match V::lone(ids) {
            // A column holds one type (I1), so that the only column tells as much as the type of the values.
            Some(column) => self.lone == column.index(),
            None => self.values == TypeId::of::<V>(),
        };
        // SAFETY: locally: a door is a plan and nothing else. The leaves of `V` are the plan's, all of them there.
        fits.then(|| unsafe { &*std::ptr::from_ref(self).cast() })
    }

    /// The base pointers of the leaves' columns.
    ///
    /// # Safety
    /// The plan is for `V`, and its store lives.
    #[inline(always)]
    pub(super) unsafe fn pointers<V: Values>(&self) -> V::Pointers {
        debug_assert_eq!(self.slots.len(), V::LEAVES);
        // SAFETY: a slot per leaf, each a column of the set, whose table lives as long as the store (I1, I7).
        unsafe {
            for at in 0..V::LEAVES {
                std::hint::assert_unchecked(!self.slots.get_unchecked(at).is_absent());
            }
            V::pointers(&mut self.slots.iter())
        }
    }
}

/// A set plan whose values are known to be `V`, so that this is not asked for each of many.
#[derive(Debug)]
#[repr(transparent)]
pub struct SetDoor<V> {
    plan: SetPlan,
    /// Neither more nor less than `V`.
    values: PhantomData<fn(V) -> V>,
}

impl<V> SetDoor<V> {
    /// The set.
    #[inline]
    pub fn set(&self) -> SetId {
        self.plan.id
    }
}

impl<V> Clone for SetDoor<V> {
    fn clone(&self) -> Self {
        Self { plan: self.plan.clone(), values: PhantomData }
    }
}

impl Store {
    /// How values of `V` go in and out of a set, checked once.
    ///
    /// # Errors
    /// When the columns of `V` are not exactly those of the set.
    pub fn set_plan<V: Values>(&self, set: SetId, ids: V::Ids) -> Result<SetPlan, PlanError> {
        let SparseSet { table, stable, .. } = *self.set(set);
        let columns = &self.tables[table.index()];
        let leaves = distinct_leaves::<V>(ids)?;
        if let Some(&column) = leaves.iter().find(|&&column| !columns.has(column)) {
            return Err(PlanError::Misplaced(column));
        }
        let mut optional = Vec::new();
        V::optional(&mut optional);
        if let Some(at) = optional.iter().position(|&may_lack| may_lack) {
            return Err(PlanError::Misplaced(leaves[at]));
        }
        if let Some(column) = columns.ids().find(|column| !leaves.contains(column)) {
            return Err(PlanError::Unfilled(column));
        }
        Ok(SetPlan {
            store: self.id,
            values: TypeId::of::<V>(),
            lone: V::lone(ids).map_or(usize::MAX, AnyColId::index),
            id: set,
            set: self.sets[set.index()].0,
            table,
            stable,
            slots: slots(columns, &leaves).into(),
        })
    }

    /// The plan for many values of `V`.
    ///
    /// # Panics
    /// When the plan is another store's or made for other values.
    pub fn set_door<V: Values>(&self, plan: &SetPlan) -> SetDoor<V> {
        self.expect_plan::<V>(plan);
        SetDoor { plan: plan.clone(), values: PhantomData }
    }

    #[inline(always)]
    fn expect_door<V: Values>(&self, door: &SetDoor<V>) {
        assert!(door.plan.store == self.id, "a set plan serves only the store it was made for");
    }

    /// As [`Store::set_insert`].
    ///
    /// # Errors
    /// Gives the values back when the entity is dead.
    ///
    /// # Panics
    /// When the door is another store's.
    #[inline(always)]
    pub fn door_insert<V: Values>(
        &mut self,
        door: &SetDoor<V>,
        entity: Entity,
        values: V,
        existing: Existing,
    ) -> Result<bool, V> {
        Ok(self.door_replace(door, entity, values, existing)?.is_none())
    }

    /// As [`Store::set_replace`].
    ///
    /// # Errors
    /// Gives the values back when the entity is dead.
    ///
    /// # Panics
    /// When the door is another store's.
    #[inline(always)]
    pub fn door_replace<V: Values>(
        &mut self,
        door: &SetDoor<V>,
        entity: Entity,
        values: V,
        existing: Existing,
    ) -> Result<Option<V::Old>, V> {
        self.expect_door(door);
        // SAFETY: the plan is this store's, for `V` (I7).
        unsafe { self.replace_in_set(&door.plan, entity, values, existing) }
    }

    /// As [`Store::set_take`].
    ///
    /// # Panics
    /// When the door is another store's.
    #[inline(always)]
    pub fn door_take<V: Values>(&mut self, door: &SetDoor<V>, entity: Entity) -> Option<V> {
        self.expect_door(door);
        // SAFETY: the plan is this store's, for `V` (I7).
        unsafe { self.take_from_set(&door.plan, entity) }
    }

    #[inline(always)]
    pub(super) fn expect_plan<V: Values>(&self, plan: &SetPlan) {
        assert!(
            plan.store == self.id && plan.values == TypeId::of::<V>(),
            "a set plan serves only the store and the values it was made for"
        );
    }
}
