//! Many rows at once: batches, whole tables, clearing, and the store's end.
//!
//! Rows are written behind the end of a table and made to count in one step. If the user's iterator
//! panics, the rows of a batch that are complete still count; a whole-table move either happens or not.
//! A whole-table move copies columns, not rows.

use std::ops::Range;

use crate::column::BLOCK_ROWS;
use crate::entities::Exhausted;
use crate::entity::Entity;
use crate::panics::FirstPanic;
use crate::place::{Row, TableId};
use crate::plan::Edge;
use crate::rows::Pending;
use crate::store::Store;
use crate::tick::Tick;
use crate::values::{Existing, Values};

/// The bytes of rows that room is made for at most before they come.
const AHEAD: usize = 1 << 28;

impl Store {
    /// Spawns an entity per value, and returns the rows they got in the edge's target.
    ///
    /// With an edge that ends at [`TableId::ROWLESS`] there are no rows: the range only tells how many, and the
    /// entities are handed to `rowless`.
    ///
    /// # Errors
    /// When there are not enough entity indices; entities spawned before stay.
    ///
    /// # Panics
    /// When the edge is stale or does not begin at [`TableId::ROWLESS`], and when the iterator panics: the
    /// entities it was complete for live.
    pub fn spawn_batch<V: Values>(
        &mut self,
        edge: &Edge,
        values: impl IntoIterator<Item = V>,
        mut rowless: impl FnMut(Entity),
    ) -> Result<Range<usize>, Exhausted> {
        self.expect_edge::<V>(edge, false);
        assert!(edge.source == TableId::ROWLESS, "spawning follows an edge from nowhere");
        let values = values.into_iter();
        if edge.target == TableId::ROWLESS {
            let mut count = 0;
            for _ in values {
                rowless(self.entities.alloc()?);
                count += 1;
            }
            return Ok(0..count);
        }
        let expected = self.bounded_hint(edge.target, values.size_hint().0);
        self.make_room(edge.target, expected);
        self.entities.reserve_slots(expected);
        let first = self.table_len(edge.target);
        let mut batch = Batch { store: self, edge, first, next: first };
        batch.fill(values)?;
        Ok(first..batch.next)
    }

    /// For how many rows to make room ahead when an iterator promises this many: promises cost nothing, and may be wrong.
    fn bounded_hint(&self, table: TableId, hint: usize) -> usize {
        let row: usize = self.tables[table.index()].columns.iter().map(|column| column.size).sum();
        hint.min(AHEAD / (row + size_of::<Entity>())).max(hint.min(BLOCK_ROWS))
    }

    /// Takes all rows of the edge's source along the edge, with values made by `make` for each row.
    ///
    /// Where the edge leads back to its source, the values are merged in place. Returns how many rows there were.
    ///
    /// # Panics
    /// When the edge is stale, and when `make` panics: then no row has moved; rows merged in place before the
    /// panic keep their new values.
    pub fn insert_all<V: Values>(
        &mut self,
        edge: &Edge,
        existing: Existing,
        make: impl FnMut(Tick) -> V,
    ) -> usize {
        self.expect_edge::<V>(edge, false);
        let count = self.table_len(edge.source);
        if count == 0 {
        } else if edge.source == edge.target {
            self.merge_in_place(edge, existing, make, count);
        } else if edge.present.contains(&true) {
            self.merge_and_move(edge, existing, make, count);
        } else {
            self.write_and_move(edge, make, count);
        }
        count
    }

    fn merge_in_place<V: Values>(
        &mut self,
        edge: &Edge,
        existing: Existing,
        mut make: impl FnMut(Tick) -> V,
        count: usize,
    ) {
        let mask = V::mask(&mut edge.present.iter());
        // SAFETY: the edge is fresh, so its target lives (I7).
        let pointers = unsafe { V::pointers(&mut edge.slots.iter()) };
        self.mark_rows(edge.target, 0, count);
        for row in 0..count {
            let values = make(self.tick);
            edge.expect_fit(&values);
            // SAFETY: the leaves are columns of this table (I1, I7), and the row is in range (I2).
            drop(unsafe { values.merge(pointers, mask, row, existing) });
        }
    }

    fn merge_and_move<V: Values>(
        &mut self,
        edge: &Edge,
        existing: Existing,
        mut make: impl FnMut(Tick) -> V,
        count: usize,
    ) {
        // All of the user's functions run before anything moves; what is replaced is dropped when all is done.
        let values: Vec<V> = (0..count).map(|_| make(self.tick)).collect();
        values.iter().for_each(|values| edge.expect_fit(values));
        let mut replaced = Vec::with_capacity(count);
        // Optional values that are absent may lead out of all tables.
        if edge.target != TableId::ROWLESS {
            self.make_room(edge.target, count);
        }
        let first = self.table_len(edge.target);
        self.prepare_rows::<V>(edge, first).run_inits(count).counts();
        self.move_columns(edge, count);
        let mask = V::mask(&mut edge.present.iter());
        // SAFETY: the edge is fresh, so its target lives (I7).
        let pointers = unsafe { V::pointers(&mut edge.slots.iter()) };
        for (row, values) in (first..).zip(values) {
            // SAFETY: the leaves are columns of the target (I1, I7); masked ones were moved there (I2), the others get
            // their first value now, before any of the user's code runs.
            replaced.push(unsafe { values.merge(pointers, mask, row, existing) });
        }
        let mut panics = self.drop_doomed(edge.source, &edge.doomed, count);
        replaced.into_iter().for_each(|old| panics.guard(|| drop(old)));
        panics.resume();
    }

    fn write_and_move<V: Values>(&mut self, edge: &Edge, make: impl FnMut(Tick) -> V, count: usize) {
        if edge.target != TableId::ROWLESS {
            self.make_room(edge.target, count);
        }
        let first = self.table_len(edge.target);
        self.prepare_rows::<V>(edge, first).run_inits(count).write(make, count).counts();
        self.move_columns(edge, count);
        self.drop_doomed(edge.source, &edge.doomed, count).resume();
    }

    /// Removes the values that the edge's target lacks from all rows of its source. Returns how many rows moved.
    ///
    /// # Panics
    /// When the edge is stale.
    pub fn remove_all(&mut self, edge: &Edge) -> usize {
        self.expect_edge::<()>(edge, true);
        let count = self.table_len(edge.source);
        if count > 0 && edge.source != edge.target {
            if edge.target != TableId::ROWLESS {
                self.make_room(edge.target, count);
            }
            self.move_columns(edge, count);
            self.drop_doomed(edge.source, &edge.doomed, count).resume();
        }
        count
    }

    /// Copies the shared columns of all `count` rows to the end of the target, where there is room, and makes
    /// them count there. Doomed values stay in the source, behind its new end, which is its beginning.
    fn move_columns(&mut self, edge: &Edge, count: usize) {
        let (source, target) = (edge.source, edge.target);
        let first = self.table_len(target);
        for &(from, into) in &edge.copies {
            // SAFETY: the same column in two tables that live (I1, I7): `count` rows are initialised in the source (I2),
            // and the target has room for as many after its own (I3).
            unsafe {
                let size = from.size();
                from.data().copy_to_nonoverlapping(into.data().add(first * size), count * size);
            }
        }
        for row in 0..count {
            // SAFETY: the row is in range in the source (I5).
            let entity = unsafe { self.owner_at(source, row).read() };
            if target == TableId::ROWLESS {
                self.put_at(entity, target, entity.index() as usize);
            } else {
                // SAFETY: there is room for the row in the target (I3).
                unsafe { self.owner_at(target, first + row).write(entity) };
                self.put_at(entity, target, first + row);
            }
        }
        self.mark_rows(source, 0, count);
        self.heads[source.index()].len = 0;
        if target != TableId::ROWLESS {
            self.heads[target.index()].len +=
                u32::try_from(count).expect("a table holds fewer than 2^32 rows");
            self.mark_rows(target, first, count);
        }
    }

    fn prepare_rows<'s, V: Values>(&'s self, edge: &'s Edge, first: usize) -> Uncounted<'s, V> {
        // SAFETY: callers follow a fresh edge, whose target lives (I7).
        let pointers = unsafe { V::pointers(&mut edge.slots.iter()) };
        Uncounted { store: self, edge, pointers, first, inits: 0, values: 0 }
    }

    /// Despawns everything. Ids from before are dead; tables stay, empty.
    pub fn clear_entities(&mut self) {
        self.entities.clear();
        self.sets.iter_mut().for_each(|set| set.clear());
        self.clear_groups();
        self.drop_all_rows().resume();
    }

    /// Drops all rows, whose entities are gone already.
    fn drop_all_rows(&mut self) -> FirstPanic {
        let lens: Vec<u32> = self.heads.iter_mut().map(|head| std::mem::take(&mut head.len)).collect();
        let mut panics = FirstPanic::default();
        for (at, &len) in lens.iter().enumerate().filter(|&(_, &len)| len > 0) {
            let table = TableId::from_index(at);
            self.mark_rows(table, 0, len as usize);
            panics.join(self.drop_rows(table, len as usize));
        }
        panics
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let panics = self.drop_all_rows();
        for at in 0..self.tables.len() {
            if self.tables[at].live {
                self.set_capacity(TableId::from_index(at), 0);
            }
        }
        panics.resume_unless_panicking();
    }
}

/// Rows of one table that are being written: complete from `first` to `next`, and not counted yet.
struct Batch<'s> {
    store: &'s mut Store,
    edge: &'s Edge,
    first: usize,
    next: usize,
}

impl Batch<'_> {
    fn fill<V: Values>(&mut self, mut values: impl Iterator<Item = V>) -> Result<(), Exhausted> {
        loop {
            if self.edge.inits.is_empty() && self.fill_room(&mut values) {
                break;
            }
            let Some(values) = values.next() else { break };
            if self.next == self.store.table_capacity(self.edge.target) {
                // Growth moves only rows that count.
                self.publish()?;
                self.store.make_room(self.edge.target, 1);
            }
            self.edge.expect_fit(&values);
            self.store.run_inits(self.edge, self.next).keep();
            // SAFETY: the leaves are columns of the target, which lives (I1, I7) and has room for the row (I3).
            unsafe { values.write(V::pointers(&mut self.edge.slots.iter()), self.next) };
            self.next += 1;
        }
        self.publish()
    }

    /// Writes rows for as long as there is room; true when the iterator has ended. The edge has no functions.
    ///
    /// A loop of its own: with a call in it, even one that is never made, values would not stay in registers.
    #[inline(always)]
    fn fill_room<V: Values>(&mut self, values: &mut impl Iterator<Item = V>) -> bool {
        let edge = self.edge;
        let capacity = self.store.table_capacity(edge.target);
        // SAFETY: the batch follows a fresh edge, whose target lives (I7).
        let pointers = unsafe { V::pointers(&mut edge.slots.iter()) };
        let mut rows = Written { next: self.next, told: &mut self.next };
        while rows.next < capacity {
            let Some(values) = values.next() else { return true };
            edge.expect_fit(&values);
            // SAFETY: the leaves are columns of the target (I1, I7), which has room for the row (I3).
            unsafe { values.write(pointers, rows.next) };
            rows.next += 1;
        }
        false
    }

    /// Gives each row an entity and makes it count; without enough ids, drops the rows.
    fn publish(&mut self) -> Result<(), Exhausted> {
        let count = self.next - self.first;
        if count == 0 {
            return Ok(());
        }
        let (table, first) = (self.edge.target, self.first);
        let rows = u32::try_from(count).expect("a table holds fewer than 2^32 rows");
        // SAFETY: the rows are within the capacity (I3).
        let owners = unsafe { self.store.owner_at(table, first) };
        // SAFETY: the rows are within the capacity (I3).
        let write = |at: u32, entity| unsafe { owners.add(at as usize).write(entity) };
        let allocated = self.store.entities.alloc_run(table, Row::from_index(first), write, rows);
        if let Err(error) = allocated {
            self.next = first;
            self.store.drop_doomed(table, &self.store.tables[table.index()].droppers, count).resume();
            return Err(error);
        }
        self.store.heads[table.index()].len += rows;
        self.store.mark_rows(table, first, count);
        self.first = self.next;
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // Only after a panic of the user's iterator is anything left to publish. Without enough ids the rows are
        // dropped; nobody is left to be told, not even of a drop that panics: the first panic is passed on.
        let mut panics = FirstPanic::default();
        panics.guard(|| {
            let _ = self.publish();
        });
        panics.forget();
    }
}

/// How many rows of a batch are complete: counted apart, so that the number stays in a register, and told at the end,
/// which may be a panic of the user's iterator.
struct Written<'b> {
    next: usize,
    told: &'b mut usize,
}

impl Drop for Written<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.told = self.next;
    }
}

/// Values in rows of the edge's target that do not count yet; dropped unless they are made to count.
struct Uncounted<'s, V: Values> {
    store: &'s Store,
    edge: &'s Edge,
    pointers: V::Pointers,
    first: usize,
    /// Rows with values made by the edge's functions.
    inits: usize,
    /// Rows with values of `V`.
    values: usize,
}

impl<V: Values> Uncounted<'_, V> {
    fn run_inits(mut self, count: usize) -> Self {
        while self.inits < count {
            self.store.run_inits(self.edge, self.first + self.inits).keep();
            self.inits += 1;
        }
        self
    }

    fn write(mut self, mut make: impl FnMut(Tick) -> V, count: usize) -> Self {
        while self.values < count {
            let values = make(self.store.tick);
            self.edge.expect_fit(&values);
            // SAFETY: the leaves are columns of the target (I1, I7), which has room for the row (I3).
            unsafe { values.write(self.pointers, self.first + self.values) };
            self.values += 1;
        }
        self
    }

    /// The rows will count.
    fn counts(mut self) {
        (self.inits, self.values) = (0, 0);
    }
}

impl<V: Values> Drop for Uncounted<'_, V> {
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        for row in self.first..self.first + self.inits {
            panics.guard(|| Pending::of(self.edge, row).abandon());
        }
        let all = vec![true; self.edge.slots.len()];
        for row in self.first..self.first + self.values {
            // SAFETY: the row has a value of `V` that does not count (I2), and is forgotten now.
            panics.guard(|| drop(unsafe { V::take(self.pointers, V::mask(&mut all.iter()), row) }));
        }
        // This runs while the user's panic unwinds: that one is passed on.
        panics.forget();
    }
}
