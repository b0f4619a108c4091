//! Sparse sets: rows of one component, found by entity, apart from the entity's table.
//!
//! ```text
//!   pages    [ --, page, --, .. ]              by entity index / 1,024, allocated on first use
//!   page     [ (generation, row), .. ]         one read tells both whether and where
//!   table    owners [ e7 e2 e9 ]               the dense side is an ordinary table:
//!            columns [ v7 v2 v9 ]              contiguous, aligned, with block ticks
//! ```
//!
//! Adding appends a row, removing closes the gap with the last one; neither touches any other component.
//! Only living entities are in sets (I10): despawning takes them out of every one. The order of rows
//! belongs to the user, who may swap and sort; groups, above the store, use the same operations.

use std::any::TypeId;
use std::ptr;

use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::fetch::{ReadFetch, SetFetch};
use crate::headers::ColumnRef;
use crate::place::TableId;
use crate::plan::{Init, PlanError, distinct_leaves, slots};
use crate::prepared::find_alias;
use crate::store::Store;
use crate::values::{Existing, Values};

/// Entity indices per page.
pub const PAGE_ENTRIES: usize = 1024;
const PAGE_SHIFT: u32 = PAGE_ENTRIES.trailing_zeros();

/// The id of a sparse set in one store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetId(u32);

impl SetId {
    /// The id as an array position.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where an entity's row is; generation 0 is no entity's.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Entry {
    generation: u32,
    row: u32,
}

impl Entry {
    const ABSENT: Self = Self { generation: 0, row: 0 };
}

#[doc(hidden)]
pub type Page = Box<[Entry; PAGE_ENTRIES]>;

/// One sparse set: the way from entities to rows of its table.
pub(crate) struct SparseSet {
    pub(crate) table: TableId,
    pages: Vec<Option<Page>>,
    /// How many entries of each page are in use.
    used: Vec<u32>,
}

#[inline(always)]
fn split(entity: Entity) -> (usize, usize) {
    let index = entity.index() as usize;
    (index >> PAGE_SHIFT, index & (PAGE_ENTRIES - 1))
}

/// The row of an entity in a set with these pages.
#[inline(always)]
pub(crate) fn find(pages: &[Option<Page>], entity: Entity) -> Option<usize> {
    let (page, at) = split(entity);
    let entry = pages.get(page)?.as_ref()?[at];
    (entry.generation == entity.raw_generation().get()).then_some(entry.row as usize)
}

impl SparseSet {
    fn new(table: TableId) -> Self {
        Self { table, pages: Vec::new(), used: Vec::new() }
    }

    pub(crate) fn pages(&self) -> &[Option<Page>] {
        &self.pages
    }

    #[inline(always)]
    fn find(&self, entity: Entity) -> Option<usize> {
        find(&self.pages, entity)
    }

    #[inline]
    fn set(&mut self, entity: Entity, row: usize) {
        let (page, at) = split(entity);
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
            self.used.resize(page + 1, 0);
        }
        let entry = &mut self.pages[page].get_or_insert_with(|| Box::new([Entry::ABSENT; PAGE_ENTRIES]))[at];
        self.used[page] += u32::from(entry.generation == 0);
        *entry = Entry {
            generation: entity.raw_generation().get(),
            row: u32::try_from(row).expect("rows fit in 32 bits"),
        };
    }

    #[inline]
    fn unset(&mut self, entity: Entity) {
        let (page, at) = split(entity);
        if let Some(Some(entries)) = self.pages.get_mut(page) {
            entries[at] = Entry::ABSENT;
            self.used[page] -= 1;
        }
    }

    pub(crate) fn clear(&mut self) {
        for page in self.pages.iter_mut().flatten() {
            page.fill(Entry::ABSENT);
        }
        self.used.fill(0);
    }

    fn bytes(&self) -> usize {
        let pages = self.pages.iter().flatten().count();
        pages * size_of::<[Entry; PAGE_ENTRIES]>() + self.pages.capacity() * size_of::<Option<Page>>()
    }

    fn shrink(&mut self) {
        for (page, &used) in self.pages.iter_mut().zip(&self.used) {
            if used == 0 {
                *page = None;
            }
        }
        let kept = self.pages.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        self.pages.truncate(kept);
        self.used.truncate(kept);
        self.pages.shrink_to_fit();
    }
}

impl Store {
    /// The set that holds these columns, made on first use. Columns belong to one set for good.
    ///
    /// # Panics
    /// When there is no column.
    pub fn declare_set(&mut self, columns: &[AnyColId]) -> SetId {
        let first = *columns.first().expect("a set has a column");
        if let Some(known) = self.set_of(first) {
            return known;
        }
        let table = self.new_table(columns);
        self.tables[table.index()].is_set = true;
        let id = SetId(u32::try_from(self.sets.len()).expect("fewer than 2^32 sets"));
        self.sets.push(SparseSet::new(table));
        for column in columns {
            if self.set_of_column.len() <= column.index() {
                self.set_of_column.resize(column.index() + 1, None);
            }
            self.set_of_column[column.index()] = Some(id);
        }
        id
    }

    /// The set that holds a column.
    #[inline]
    pub fn set_of(&self, column: AnyColId) -> Option<SetId> {
        self.set_of_column.get(column.index()).copied().flatten()
    }

    /// How many sets there are; ids are below it, in order of declaration.
    pub fn sets(&self) -> impl Iterator<Item = SetId> + use<> {
        (0..u32::try_from(self.sets.len()).expect("fewer than 2^32 sets")).map(SetId)
    }

    fn set(&self, id: SetId) -> &SparseSet {
        self.sets.get(id.index()).expect("a set id serves only its store")
    }

    /// The table of a set's rows.
    pub fn set_table(&self, id: SetId) -> TableId {
        self.set(id).table
    }

    /// How many entities are in a set.
    #[inline]
    pub fn set_len(&self, id: SetId) -> usize {
        self.table_len(self.set(id).table)
    }

    /// The entities of a set, row by row.
    pub fn set_entities(&self, id: SetId) -> &[Entity] {
        self.table_entities(self.set(id).table)
    }

    /// The row of an entity in a set.
    #[inline]
    pub fn set_row(&self, id: SetId, entity: Entity) -> Option<usize> {
        self.set(id).find(entity)
    }

    /// The bytes of a set's pages; its rows count as a table.
    pub fn set_page_bytes(&self, id: SetId) -> usize {
        self.set(id).bytes()
    }

    /// How many pages of a set are allocated.
    pub fn set_pages(&self, id: SetId) -> usize {
        self.set(id).pages.iter().flatten().count()
    }

    /// How values of `V` go in and out of a set, checked once.
    ///
    /// # Errors
    /// When the columns of `V` are not exactly those of the set.
    pub fn set_plan<V: Values>(&self, set: SetId, ids: V::Ids) -> Result<SetPlan, PlanError> {
        let table = &self.tables[self.set(set).table.index()];
        let leaves = distinct_leaves::<V>(ids)?;
        if let Some(&column) = leaves.iter().find(|&&column| !table.has(column)) {
            return Err(PlanError::Misplaced(column));
        }
        let mut optional = Vec::new();
        V::optional(&mut optional);
        if let Some(at) = optional.iter().position(|&may_lack| may_lack) {
            return Err(PlanError::Misplaced(leaves[at]));
        }
        if let Some(column) = table.ids().find(|column| !leaves.contains(column)) {
            return Err(PlanError::Unfilled(column));
        }
        Ok(SetPlan { store: self.id, values: TypeId::of::<V>(), set, slots: slots(table, &leaves) })
    }

    #[inline(always)]
    fn expect_plan<V: Values>(&self, plan: &SetPlan) {
        assert!(
            plan.store == self.id && plan.values == TypeId::of::<V>(),
            "a set plan serves only the store and the values it was made for"
        );
    }

    /// Inserts a row, or merges with the one there is. Returns whether the entity is new in the set.
    ///
    /// # Errors
    /// Gives the values back when the entity is dead.
    ///
    /// # Panics
    /// When the plan is another store's or made for other values.
    #[inline]
    pub fn set_insert<V: Values>(
        &mut self,
        plan: &SetPlan,
        entity: Entity,
        values: V,
        existing: Existing,
    ) -> Result<bool, V> {
        self.expect_plan::<V>(plan);
        if !self.entities.contains(entity) {
            return Err(values);
        }
        let set = &self.sets[plan.set.index()];
        let table = set.table;
        if let Some(row) = set.find(entity) {
            // SAFETY: the leaves are the set's columns (I1, I7), initialised at the entity's row (I2, I10).
            let old = unsafe { values.merge(V::pointers(&mut plan.slots.iter()), V::ALL, row, existing) };
            self.mark_rows(table, row, 1);
            drop(old);
            return Ok(false);
        }
        let row = self.next_row(table);
        // SAFETY: the leaves are the set's columns (I1, I7), with room for the row (I3).
        unsafe {
            values.write(V::pointers(&mut plan.slots.iter()), row);
            self.count_row(table, entity);
        }
        self.sets[plan.set.index()].set(entity, row);
        Ok(true)
    }

    /// Inserts a row made by functions, unless the entity has one. Returns whether it was made.
    ///
    /// # Errors
    /// When the functions do not fill the set's columns exactly.
    pub fn set_insert_made(&mut self, set: SetId, entity: Entity, inits: &[Init]) -> Result<bool, PlanError> {
        let table = self.set(set).table;
        if !self.entities.contains(entity) || self.set(set).find(entity).is_some() {
            return Ok(false);
        }
        let edge = self.set_edge(table, inits)?;
        let row = self.next_row(table);
        self.run_inits(&edge, row).keep();
        // SAFETY: there is room for the row (I3), and the functions filled it (I7).
        unsafe { self.count_row(table, entity) };
        self.sets[set.index()].set(entity, row);
        Ok(true)
    }

    /// Takes an entity's row out of a set. `None` when it has none there.
    ///
    /// # Panics
    /// When the plan is another store's or made for other values.
    #[inline]
    pub fn set_take<V: Values>(&mut self, plan: &SetPlan, entity: Entity) -> Option<V> {
        self.expect_plan::<V>(plan);
        let set = &self.sets[plan.set.index()];
        let row = set.find(entity)?;
        // SAFETY: the leaves are the set's columns (I1, I7), initialised at the row (I2, I10), which is closed next.
        let values = unsafe { V::take(V::pointers(&mut plan.slots.iter()), V::ALL, row) };
        self.leave_set(plan.set, entity, row, &[]);
        V::complete(values)
    }

    /// Drops an entity's row in a set. False when it has none there.
    pub fn set_remove(&mut self, set: SetId, entity: Entity) -> bool {
        let table = self.set(set).table;
        let Some(row) = self.set(set).find(entity) else { return false };
        // Lent out for the call, as in `despawn`.
        let doomed = std::mem::take(&mut self.tables[table.index()].droppers);
        self.leave_set(set, entity, row, &doomed);
        let panics = self.drop_doomed(table, &doomed, 1);
        self.tables[table.index()].droppers = doomed;
        panics.resume();
        true
    }

    /// Takes a row out of a set; doomed values end up right behind the end of its table.
    #[inline]
    fn leave_set(&mut self, set: SetId, entity: Entity, row: usize, doomed: &[u16]) {
        let table = self.sets[set.index()].table;
        // SAFETY: the set names a row in range (I10), whose values were taken or are doomed.
        let moved = unsafe { self.close_gap(table, row, doomed) };
        let set = &mut self.sets[set.index()];
        set.unset(entity);
        if let Some(moved) = moved {
            set.set(moved, row);
        }
    }

    /// Takes an entity out of every set, leaving its values behind the ends of their tables, which are listed.
    pub(crate) fn leave_all_sets(&mut self, entity: Entity) -> Vec<TableId> {
        let mut left = Vec::new();
        for set in self.sets() {
            let table = self.sets[set.index()].table;
            if let Some(row) = self.sets[set.index()].find(entity) {
                let doomed = std::mem::take(&mut self.tables[table.index()].droppers);
                self.leave_set(set, entity, row, &doomed);
                self.tables[table.index()].droppers = doomed;
                left.push(table);
            }
        }
        left
    }

    /// Exchanges two rows of a set. Nothing happens when one is out of range.
    pub fn set_swap(&mut self, set: SetId, a: usize, b: usize) {
        let table = self.set(set).table;
        let len = self.table_len(table);
        if a == b || a >= len || b >= len {
            return;
        }
        for column in self.tables[table.index()].columns.iter() {
            let (a, b) = (a * column.size, b * column.size);
            // SAFETY: both rows are in range and differ (I2).
            unsafe { ptr::swap_nonoverlapping(column.data.add(a), column.data.add(b), column.size) };
        }
        // SAFETY: both rows are in range (I2), and differ.
        let (first, second) = unsafe {
            ptr::swap(self.owner_at(table, a), self.owner_at(table, b));
            (*self.owner_at(table, a), *self.owner_at(table, b))
        };
        self.sets[set.index()].set(first, a);
        self.sets[set.index()].set(second, b);
        self.mark_rows(table, a, 1);
        self.mark_rows(table, b, 1);
    }

    /// The first `len` rows of the sets that `F` names, as slices of equal length, to be read and written.
    ///
    /// `None` when a set is missing or shorter, or parts of `F` alias each other.
    pub fn set_slices_mut<F: SetFetch>(&mut self, ids: F::Ids, len: usize) -> Option<F::Slices<'_>> {
        if find_alias::<F>(ids).is_some() {
            return None;
        }
        // SAFETY: the store is borrowed exclusively, and no two parts of the fetch alias (I6).
        unsafe { self.set_slices_unchecked::<F>(ids, len) }
    }

    /// As [`Store::set_slices_mut`], for reading.
    pub fn set_slices<F: SetFetch + ReadFetch>(&self, ids: F::Ids, len: usize) -> Option<F::Slices<'_>> {
        // SAFETY: the fetch only reads, and nobody writes while the store is borrowed shared (I8).
        unsafe { self.set_slices_unchecked::<F>(ids, len) }
    }

    /// # Safety
    /// As for `view_unchecked`; a fetch that writes names no column twice.
    unsafe fn set_slices_unchecked<F: SetFetch>(&self, ids: F::Ids, len: usize) -> Option<F::Slices<'_>> {
        let mut fits = true;
        F::visit(ids, &mut |access| {
            fits &= self.set_of(access.column).is_some_and(|set| self.set_len(set) >= len);
        });
        // SAFETY: each column is one of a set with at least `len` rows, all initialised (I2); the caller grants access.
        if fits { unsafe { F::set_slices(self, ids, len) } } else { None }
    }

    /// Gives back pages that no entity uses.
    pub(crate) fn shrink_sets(&mut self) {
        self.sets.iter_mut().for_each(SparseSet::shrink);
    }

    /// Verifies that entries and rows point at each other, and only the living are in sets.
    pub(crate) fn check_sets(&self) -> Result<(), String> {
        for (at, set) in self.sets.iter().enumerate() {
            let owners = self.table_entities(set.table);
            for (row, &entity) in owners.iter().enumerate() {
                if set.find(entity) != Some(row) {
                    return Err(format!(
                        "I10: set {at} row {row} is {entity}, found at {:?}",
                        set.find(entity)
                    ));
                }
                if !self.entities.contains(entity) {
                    return Err(format!("I10: {entity} is in set {at} but not alive"));
                }
            }
            let entries =
                set.pages.iter().flatten().flat_map(|page| page.iter()).filter(|entry| entry.generation != 0);
            let used: u32 = set.used.iter().sum();
            let count = entries.count();
            if count != owners.len() || used as usize != count {
                return Err(format!(
                    "I10: set {at} has {} rows, {count} entries, counted {used}",
                    owners.len()
                ));
            }
        }
        Ok(())
    }
}

/// How values go in and out of one set.
#[derive(Debug)]
pub struct SetPlan {
    store: u64,
    values: TypeId,
    set: SetId,
    /// The leaves' columns. Sets are never dropped, so they live as long as the store.
    slots: Box<[ColumnRef]>,
}

// SAFETY: a plan only points at headers, which are reached through the store that made it (I7).
unsafe impl Send for SetPlan {}
// SAFETY: as above.
unsafe impl Sync for SetPlan {}

impl SetPlan {
    /// The set.
    pub fn set(&self) -> SetId {
        self.set
    }
}
