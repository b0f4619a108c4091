//! Sparse sets: rows of one component, found by entity, apart from the entity's table.
//!
//! ```text
//!   pages    [ --, page, --, .. ]              by entity index / 1,024, allocated on first use
//!   page     [ (generation, row), .. ]         one read tells both whether and where
//!   table    owners [ e7 e2 e9 ]               the dense side is an ordinary table:
//!            columns [ v7 v2 v9 ]              contiguous, aligned, with block ticks
//! ```
//!
//! Only living entities are in sets (I10): despawning takes them out of every one. What goes in and out is
//! in `change`, how values do so in `plan`, the order of rows in `order`; `groups` keeps the members of groups at the
//! front of the sets they own (I13), and `members` walks them. A *stable* set never moves a row on its own: removing
//! leaves a hole, whose owner is the placeholder and whose values are gone (I11); the next row to come fills the hole
//! made last.

use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::location::{Row, TableId};
use crate::steps;
use crate::store::Store;

pub use change::SetWriter;
pub use groups::{GroupGone, GroupTerms, SetGroupId};
pub(crate) use groups::{GroupsImage, SetGroups};
pub use members::Members;
pub(crate) use pinned::PinnedSet;
pub use plan::SetPlan;
pub use value::SetValues;

mod change;
mod check;
mod fill;
mod groups;
mod holes;
mod members;
mod order;
mod pinned;
mod plan;
mod value;

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

    #[inline(always)]
    fn new(entity: Entity, row: usize) -> Self {
        Self { generation: entity.raw_generation().get(), row: Row::from_index(row).get() }
    }

    /// The row, if it is that of this entity.
    #[inline(always)]
    fn row_of(self, entity: Entity) -> Option<usize> {
        (self.generation == entity.raw_generation().get()).then_some(self.row as usize)
    }
}

#[doc(hidden)]
pub type Page = Box<[Entry; PAGE_ENTRIES]>;

/// One sparse set: the way from entities to rows of its table.
pub(crate) struct SparseSet {
    pub(crate) table: TableId,
    /// Whether rows stay where they are when others go.
    pub(crate) stable: bool,
    /// Whether nothing but the set itself is concerned when rows go: it is not stable, and no group names it.
    plain: bool,
    pages: Vec<Option<Page>>,
    /// The groups whose members are in the set: bit n stands for the groups n, n + 64, and so on.
    needing: u64,
    /// The groups whose members are not in the set, likewise.
    excluding: u64,
    /// Both of them.
    naming: u64,
    /// The group that orders the set's rows.
    owner: Option<u32>,
    /// The same, if no other group needs the set.
    only_owner: Option<u32>,
    /// Whether the rows are the members of a group that owns nothing, which only groups write.
    of_group: bool,
}

#[inline(always)]
fn split(entity: Entity) -> (usize, usize) {
    let index = entity.index() as usize;
    (index >> PAGE_SHIFT, index & (PAGE_ENTRIES - 1))
}

#[cfg(debug_assertions)]
thread_local! {
    /// How often pages were asked whether and where an entity is, and how often only where.
    static LOOKUPS: std::cell::Cell<(u64, u64)> = const { std::cell::Cell::new((0, 0)) };
}

/// How often pages were asked on this thread whether an entity is in a set, and how often only where it is, since its
/// presence was known: so that tests can count. `None` where debug assertions are off, and nothing is counted.
#[doc(hidden)]
pub fn page_lookups_for_tests() -> Option<(u64, u64)> {
    #[cfg(debug_assertions)]
    return Some(LOOKUPS.get());
    #[cfg(not(debug_assertions))]
    None
}

/// The row of an entity in a set with these pages.
#[inline(always)]
pub(crate) fn find(pages: &[Option<Page>], entity: Entity) -> Option<usize> {
    #[cfg(debug_assertions)]
    LOOKUPS.set((LOOKUPS.get().0 + 1, LOOKUPS.get().1));
    let (page, at) = split(entity);
    pages.get(page)?.as_ref()?[at].row_of(entity)
}

/// As [`find`]: an entry for the entity's index is that entity's, since only the living are in sets (I10), and no two of
/// them have one index.
///
/// # Safety
/// The entity lives.
#[inline(always)]
pub(crate) unsafe fn find_living(pages: &[Option<Page>], entity: Entity) -> Option<usize> {
    #[cfg(debug_assertions)]
    LOOKUPS.set((LOOKUPS.get().0 + 1, LOOKUPS.get().1));
    let (page, at) = split(entity);
    let entry = pages.get(page)?.as_ref()?[at];
    debug_assert!([0, entity.raw_generation().get()].contains(&entry.generation));
    (entry.generation != 0).then_some(entry.row as usize)
}

/// The entry of an entity's index in a set with these pages; `None` while there is no page for it.
#[inline(always)]
fn entry_in(pages: &mut [Option<Page>], entity: Entity) -> Option<&mut Entry> {
    steps::count(1);
    let (page, at) = split(entity);
    Some(&mut pages.get_mut(page)?.as_mut()?[at])
}

/// The row of an entity that is in the set with these pages.
///
/// # Safety
/// The pages are all those of a set, and the entity is in it.
#[inline(always)]
pub(crate) unsafe fn row_of_member(pages: *const Option<Page>, entity: Entity) -> usize {
    #[cfg(debug_assertions)]
    LOOKUPS.set((LOOKUPS.get().0, LOOKUPS.get().1 + 1));
    let (page, at) = split(entity);
    // SAFETY: forwarded: an entity in the set has an entry, so there is a page with it (I10).
    unsafe { (*pages.add(page)).as_ref().unwrap_unchecked()[at].row as usize }
}

impl SparseSet {
    fn new(table: TableId, stable: bool) -> Self {
        Self {
            table,
            stable,
            plain: !stable,
            pages: Vec::new(),
            needing: 0,
            excluding: 0,
            naming: 0,
            owner: None,
            only_owner: None,
            of_group: false,
        }
    }

    pub(crate) fn pages(&self) -> &[Option<Page>] {
        &self.pages
    }

    #[inline(always)]
    fn find(&self, entity: Entity) -> Option<usize> {
        find(&self.pages, entity)
    }

    /// The row of an entity that is in the set.
    ///
    /// # Safety
    /// The entity is in the set.
    #[inline(always)]
    unsafe fn row_of_member(&self, entity: Entity) -> usize {
        // SAFETY: forwarded.
        unsafe { row_of_member(self.pages.as_ptr(), entity) }
    }

    /// The entry of an entity, whose page is allocated if need be.
    ///
    /// # Safety
    /// The entity lives, and has the row that is written when the set is used next (I10).
    unsafe fn entry(&mut self, entity: Entity) -> &mut Entry {
        let (page, at) = split(entity);
        if self.pages.get(page).is_none_or(Option::is_none) {
            self.add_page(page);
        }
        &mut self.pages[page].as_mut().expect("the page was made where it was missing")[at]
    }

    #[cold]
    #[inline(never)]
    fn add_page(&mut self, page: usize) {
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        self.pages[page] = Some(Box::new([Entry::ABSENT; PAGE_ENTRIES]));
    }

    /// The entry of an entity that is in the set.
    ///
    /// # Safety
    /// The entity is in the set, and what is written is true when the set is used next (I10).
    #[inline(always)]
    unsafe fn member_entry(&mut self, entity: Entity) -> &mut Entry {
        let (page, at) = split(entity);
        // SAFETY: forwarded: an entity in the set has an entry, so there is a page with it (I10).
        unsafe { &mut self.pages.get_unchecked_mut(page).as_mut().unwrap_unchecked()[at] }
    }

    /// Notes another row of an entity that is in the set.
    ///
    /// # Safety
    /// The entity is in the set, and has this row when the set is used next (I10).
    #[inline(always)]
    unsafe fn move_member(&mut self, entity: Entity, row: usize) {
        // SAFETY: forwarded.
        unsafe { self.member_entry(entity).row = Row::from_index(row).get() };
    }

    /// Forgets the row of an entity, if it has one.
    ///
    /// # Safety
    /// The entity is in no row of the set when it is used next (I10, I13).
    #[inline(always)]
    unsafe fn unset(&mut self, entity: Entity) {
        if let Some(entry) = entry_in(&mut self.pages, entity) {
            *entry = Entry::ABSENT;
        }
    }

    /// Forgets all rows.
    ///
    /// # Safety
    /// The set has no rows when it is used next, and no group has members in it (I10, I13).
    pub(crate) unsafe fn clear(&mut self) {
        for page in self.pages.iter_mut().flatten() {
            steps::count(PAGE_ENTRIES);
            page.fill(Entry::ABSENT);
        }
    }

    fn bytes(&self) -> usize {
        let pages = self.pages.iter().flatten().count();
        pages * size_of::<[Entry; PAGE_ENTRIES]>() + self.pages.capacity() * size_of::<Option<Page>>()
    }

    fn shrink(&mut self) {
        for page in &mut self.pages {
            page.take_if(|page| page.iter().all(|entry| entry.generation == 0));
        }
        let kept = self.pages.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        self.pages.truncate(kept);
        self.pages.shrink_to_fit();
    }
}

impl Store {
    /// The set that holds these columns, made on first use. Columns belong to one set for good.
    ///
    /// # Panics
    /// When there is no column, or some but not the first are in another set.
    pub fn declare_set(&mut self, columns: &[AnyColId]) -> SetId {
        self.declare_any_set(columns, false)
    }

    /// As [`Store::declare_set`], for a set whose rows stay where they are when others go.
    ///
    /// # Panics
    /// When there is no column, or some but not the first are in another set.
    pub fn declare_stable_set(&mut self, columns: &[AnyColId]) -> SetId {
        self.declare_any_set(columns, true)
    }

    fn declare_any_set(&mut self, columns: &[AnyColId], stable: bool) -> SetId {
        let first = *columns.first().expect("a set has a column");
        if let Some(known) = self.set_of(first) {
            return known;
        }
        let foreign = columns.iter().find(|&&column| self.set_of(column).is_some());
        assert!(foreign.is_none(), "a column of a new set is in another set already");
        let table = self.new_set_table(columns);
        let id = self.push_set(SparseSet::new(table, stable));
        for column in columns {
            if self.set_of_column.len() <= column.index() {
                self.set_of_column.resize(column.index() + 1, None);
            }
            self.set_of_column[column.index()] = Some(id);
        }
        id
    }

    fn push_set(&mut self, set: SparseSet) -> SetId {
        let id = SetId(u32::try_from(self.sets.len()).expect("fewer than 2^32 sets"));
        self.sets.push(PinnedSet::new(set));
        // Entities may be in it from now on.
        self.close_cursors();
        id
    }

    /// The set that holds a column.
    #[inline]
    pub fn set_of(&self, column: AnyColId) -> Option<SetId> {
        self.set_of_column.get(column.index()).copied().flatten()
    }

    /// All sets, in order of declaration.
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

    /// Whether rows of a set stay where they are when others go.
    pub fn set_is_stable(&self, id: SetId) -> bool {
        self.set(id).stable
    }

    /// How many entities are in a set.
    #[inline]
    pub fn set_len(&self, id: SetId) -> usize {
        self.set_rows(id) - self.set_holes(id)
    }

    /// How many rows a set has, holes included.
    #[inline]
    pub fn set_rows(&self, id: SetId) -> usize {
        self.table_len(self.set(id).table)
    }

    /// How many rows of a set are holes. Only stable sets have any.
    #[inline]
    pub fn set_holes(&self, id: SetId) -> usize {
        self.tables[self.set(id).table.index()].holes.len()
    }

    /// Whether an entity is in some set.
    #[inline]
    pub(crate) fn is_in_sets(&self, entity: Entity) -> bool {
        !self.sets.is_empty() && self.sets.iter().any(|set| set.find(entity).is_some())
    }

    /// Whether no entity is in any set.
    pub(crate) fn sets_are_empty(&self) -> bool {
        self.sets.iter().all(|set| self.metas[set.table.index()].len == 0)
    }

    /// The entities of a set, row by row; a hole shows the placeholder.
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

    /// Gives back pages that no entity uses.
    pub(crate) fn shrink_sets(&mut self) {
        self.sets.iter_mut().for_each(|set| set.shrink());
    }
}
