//! Values on their way to columns.
//!
//! The bundles of several commands on one entity are taken apart into cells, one per column, where a later value
//! replaces an earlier one. From there they go into a new row, or into the place of the values that the entity has.
//! Values that are not kept are left over, to be dropped when the entity is what its commands make of it. This file
//! knows neither commands nor archetypes.

use std::any::Any;

use phalanx_store::sorting;
use phalanx_store::{AnyColId, ColId, ColumnSink, Entity, Existing, FirstPanic, OpenColumn, Store};

/// A value that is not kept.
type Leftover = Box<dyn Any + Send + Sync>;

/// A value that waits for its column.
trait Cell: Any + Send + Sync {
    fn is_full(&self) -> bool;
    /// Takes the value away.
    fn clear(&mut self) -> Option<Leftover>;
    /// Puts the value into a row that is being made.
    fn fill(&mut self, column: OpenColumn<'_>);
    /// Puts the value in the place of the one that the entity has, and returns that.
    fn replace(&mut self, store: &mut Store, entity: Entity) -> Option<Leftover>;
}

struct Typed<T> {
    id: ColId<T>,
    value: Option<T>,
}

impl<T: Send + Sync + 'static> Cell for Typed<T> {
    fn is_full(&self) -> bool {
        self.value.is_some()
    }
    #[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
    fn clear(&mut self) -> Option<Leftover> {
        let Some(value) = self.value.take() else { return None };
        leftover(value)
    }
    fn fill(&mut self, column: OpenColumn<'_>) {
        if let Some(value) = self.value.take() {
            column.fill(self.id, value);
        }
    }
    #[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
    fn replace(&mut self, store: &mut Store, entity: Entity) -> Option<Leftover> {
        let Some(value) = self.value.take() else { return None };
        leftover(match store.row_value_mut(entity, self.id) {
            Some(place) => std::mem::replace(place, value),
            None => value,
        })
    }
}

/// Boxes a value whose drop may run the user's code; any other is forgotten at once.
fn leftover<T: Send + Sync + 'static>(value: T) -> Option<Leftover> {
    if const { std::mem::needs_drop::<T>() } { Some(Box::new(value)) } else { None }
}

/// The cells of one entity's values.
#[derive(Default)]
pub(crate) struct Cells {
    /// Indexed by column.
    cells: Vec<Option<Box<dyn Cell>>>,
    /// The columns whose cells were filled for the present entity.
    touched: Vec<AnyColId>,
    /// The columns that the entity has, or that a required component will bring.
    pub(crate) held: Vec<AnyColId>,
    /// What the bundle taken apart at present says about values that are there.
    pub(crate) existing: Option<Existing>,
    /// Values that are not kept.
    leftovers: Vec<Leftover>,
}

impl ColumnSink for Cells {
    fn column<T: Send + Sync + 'static>(&mut self, id: ColId<T>, value: T, existing: Existing) {
        let spare = match self.place(id.any(), existing) {
            None => Some(value),
            Some(cell) => match cell {
                None => {
                    *cell = Some(Box::new(Typed { id, value: Some(value) }));
                    return;
                }
                Some(cell) => {
                    let cell: &mut dyn Any = &mut **cell;
                    let Some(cell) = cell.downcast_mut::<Typed<T>>() else {
                        unreachable!("a column has one type")
                    };
                    cell.value.replace(value)
                }
            },
        };
        self.leave_over(spare);
    }
}

impl Cells {
    /// The cell that is to hold a value; `None` when the value is not kept.
    fn place(&mut self, column: AnyColId, existing: Existing) -> Option<&mut Option<Box<dyn Cell>>> {
        if self.cells.len() <= column.index() {
            self.cells.resize_with(column.index() + 1, || None);
        }
        let cell = &mut self.cells[column.index()];
        let keeps = existing == Existing::Keep || self.existing == Some(Existing::Keep);
        let is_full = || cell.as_ref().is_some_and(|cell| cell.is_full());
        if keeps && (self.held.contains(&column) || is_full()) {
            return None;
        }
        self.touched.push(column);
        Some(cell)
    }

    /// Forgets what the cells hold; it is left over.
    pub(crate) fn clear(&mut self) {
        self.held.clear();
        while let Some(column) = self.touched.pop() {
            self.empty(column);
        }
    }

    /// Takes the value of a column away.
    pub(crate) fn empty(&mut self, column: AnyColId) {
        if let Some(Some(cell)) = self.cells.get_mut(column.index()) {
            self.leftovers.extend(cell.clear());
        }
    }

    /// A value that is not kept.
    pub(crate) fn leave_over<T: Send + Sync + 'static>(&mut self, value: Option<T>) {
        if let Some(value) = value
            && let Some(leftover) = leftover(value)
        {
            self.leftovers.push(leftover);
        }
    }

    /// Drops what is not kept, all of it; the first panic is passed on.
    pub(crate) fn drop_leftovers(&mut self) {
        let mut panics = FirstPanic::default();
        while let Some(leftover) = self.leftovers.pop() {
            panics.guard(|| drop(leftover));
        }
        panics.resume();
    }

    /// The columns whose cells hold a value, in ascending order.
    pub(crate) fn full(&self) -> Vec<AnyColId> {
        let is_full = |column: &AnyColId| {
            self.cells.get(column.index()).and_then(Option::as_ref).is_some_and(|cell| cell.is_full())
        };
        let mut full: Vec<AnyColId> = self.touched.iter().copied().filter(is_full).collect();
        sorting::sort(&mut full);
        full.dedup();
        full
    }

    /// Puts the value of a column into a row that is being made.
    pub(crate) fn fill(&mut self, column: AnyColId, open: OpenColumn<'_>) {
        if let Some(Some(cell)) = self.cells.get_mut(column.index()) {
            cell.fill(open);
        }
    }

    /// Puts all values in the places of those that the entity has.
    pub(crate) fn replace_all(&mut self, store: &mut Store, entity: Entity) {
        for column in &self.touched {
            if let Some(Some(cell)) = self.cells.get_mut(column.index()) {
                self.leftovers.extend(cell.replace(store, entity));
            }
        }
    }
}
