//! How rows of sets are found in a run of rows.
//!
//! Where nothing but sets is asked, the table of the set that drives a walk is a run of rows as any other one: parts of
//! that set are at the row that is walked, and parts of others are looked up by entity. Most walks ask nothing else per
//! row. The exceptions are met apart, by [`careful_row`], so that the loops have their registers for themselves.

use super::View;
use crate::entities::{Entities, Slot};
use crate::entity::Entity;
use crate::fetch::{Driver, Fetch, Known};
use crate::location::TableId;

/// Along which set a run goes, and what has to be asked of its rows.
#[derive(Clone, Copy)]
pub(super) struct Along<'w> {
    /// The table of the set; nowhere for rows of visited tables, and where rows may be holes.
    pub(super) set: TableId,
    /// Whether rows are marked one by one, or may be holes, or of entities in tables that are not visited.
    pub(super) careful: bool,
    visited: Option<Visited<'w>>,
}

/// Which tables are visited, where not all of them are.
#[derive(Clone, Copy)]
struct Visited<'w> {
    slots: &'w [Slot],
    member: &'w [bool],
    rowless: bool,
}

impl Visited<'_> {
    fn has(&self, entity: Entity) -> bool {
        let location = Entities::find_in(self.slots, entity);
        location.is_some_and(|location| match location.table {
            TableId::ROWLESS => self.rowless,
            table => self.member.get(table.index()) == Some(&true),
        })
    }
}

impl<'w> Along<'w> {
    /// Along a visited table.
    #[inline(always)]
    pub(super) fn table(careful: bool) -> Self {
        Self { set: TableId::NOWHERE, careful, visited: None }
    }

    /// Along no rows.
    #[inline(always)]
    pub(super) fn nothing() -> Self {
        Self { set: TableId::NOWHERE, careful: false, visited: None }
    }

    /// Along the set that drives a view, with entities of all tables, or of visited ones; without one, along the tables of
    /// the view. A hole is in no set, so that nothing is found where each part is looked up.
    pub(super) fn set<F: Fetch>(
        view: &View<'w, F>,
        ptrs: F::Ptrs,
        driver: Option<Driver>,
        anywhere: bool,
    ) -> Self {
        let visited =
            Visited { slots: view.base.slots, member: view.base.member, rowless: view.base.rowless };
        let visited = (driver.is_some() && !anywhere).then_some(visited);
        let holes = driver.is_some_and(|driver| driver.holes);
        let careful = visited.is_some() || holes || !F::is_marked(ptrs);
        let set = driver.filter(|_| !holes).map_or(TableId::NOWHERE, |driver| driver.table);
        Self { set, careful, visited }
    }
}

/// The item of a row along a set, whatever has to be asked.
///
/// # Safety
/// The fetch asks for sets alone. The pointers are those of the run, which has the row and the access to it, and the
/// entity is that of the row.
#[inline(never)]
pub(super) unsafe fn careful_row<'w, F: Fetch>(
    ptrs: F::Ptrs,
    entity: &Entity,
    row: usize,
    along: Along<'w>,
) -> Option<F::Item<'w>> {
    if along.visited.is_some_and(|visited| !visited.has(*entity)) {
        return None;
    }
    let ptrs = F::rowless(ptrs, entity);
    // The row may be a hole, whose placeholder is in no set (I11).
    let known = if along.set == TableId::NOWHERE { Known::Nothing } else { Known::Row(along.set, row) };
    // SAFETY: forwarded: a fetch that asks for sets alone reaches no row of a table (I14), so that any pointers serve; what is
    // known is true, since the run goes along that set and has no holes.
    unsafe { F::sparse_rows(ptrs, *entity, known).map(|rows| F::item(ptrs, 0, rows)) }
}
