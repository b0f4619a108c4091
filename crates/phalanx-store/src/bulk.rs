//! Many rows at once: batches, whole tables, clearing, and the store's end.
//!
//! Rows are written behind the end of a table and made to count in one step. If the user's iterator
//! panics, the rows of a batch that are complete still count; a whole-table move either happens or not.
//! A whole-table move copies columns, not rows.

use std::ops::Range;

use crate::column::BLOCK_ROWS;
use crate::entities::Exhausted;
use crate::entity::Entity;
use crate::location::{EntityLocation, Row, TableId};
use crate::panics::FirstPanic;
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
        // SAFETY: the edge is fresh, for `V`, and leads from nowhere to a table (I7), as was checked above.
        unsafe { batch.fill(values) }?;
        Ok(first..batch.next)
    }

    /// For how many rows to make room ahead when an iterator promises this many: promises cost nothing, and may be
    /// wrong.
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
        // SAFETY: the edge is fresh, for `V` (I7), as was checked above, and its source has as many rows.
        unsafe {
            if count == 0 {
            } else if edge.source == edge.target {
                self.merge_in_place(edge, existing, make, count);
            } else if edge.present.contains(&true) {
                self.merge_and_move(edge, existing, make, count);
            } else {
                self.write_and_move(edge, make, count);
            }
        }
        count
    }

    /// # Safety
    /// The edge is fresh, for `V`, and leads back to its source, which has `count` rows.
    unsafe fn merge_in_place<V: Values>(
        &mut self,
        edge: &Edge,
        existing: Existing,
        mut make: impl FnMut(Tick) -> V,
        count: usize,
    ) {
        let mask = V::mask(&mut edge.present.iter());
        self.mark_rows(edge.target, 0, count);
        for row in 0..count {
            let values = make(self.tick);
            edge.expect_fit(&values);
            // SAFETY: forwarded: the value columns are columns of this table (I1, I7), where the row is in range, and the
            // masked ones, which are all that are there, have a value (I2). What is replaced is dropped when the row has the
            // new one.
            drop(unsafe { values.merge(edge.pointers::<V>(), mask, row, existing) });
        }
    }

    /// # Safety
    /// The edge is fresh, for `V`, and leads from its source, which has `count` rows, to another table.
    unsafe fn merge_and_move<V: Values>(
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
        let mask = V::mask(&mut edge.present.iter());
        // SAFETY: forwarded: the edge is fresh, so its target lives (I7), and has room for the rows now (I3). The value
        // columns are columns of the target (I1, I7); masked ones are moved there (I2), the others get their first value
        // before any of the user's code runs. Removed values stay in the source, behind its end, where nothing else
        // refers to them (I2).
        let mut panics = unsafe {
            self.prepare_rows::<V>(edge, first).run_inits(count).counts();
            self.move_columns(edge, count);
            let pointers = edge.pointers::<V>();
            for (row, values) in (first..).zip(values) {
                replaced.push(values.merge(pointers, mask, row, existing));
            }
            self.drop_removed(edge.source, &edge.removed, count)
        };
        replaced.into_iter().for_each(|old| panics.guard(|| drop(old)));
        panics.resume();
    }

    /// # Safety
    /// As for `merge_and_move`; the source has none of the columns of `V`.
    unsafe fn write_and_move<V: Values>(&mut self, edge: &Edge, make: impl FnMut(Tick) -> V, count: usize) {
        if edge.target != TableId::ROWLESS {
            self.make_room(edge.target, count);
        }
        let first = self.table_len(edge.target);
        // SAFETY: forwarded; the target has room for the rows now (I3), which do not count yet. All its columns have values
        // then: of the functions, of `make`, or moved (I7). Removed values stay in the source, behind its end, where nothing
        // else refers to them (I2).
        unsafe {
            self.prepare_rows::<V>(edge, first).run_inits(count).write(make, count).counts();
            self.move_columns(edge, count);
            self.drop_removed(edge.source, &edge.removed, count).resume();
        }
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
            // SAFETY: the edge is fresh, its source has as many rows, and its target has room for them now (I3, I7).
            // It lacks nothing that the source has not (I7). Removed values stay in the source, behind its end, where
            // nothing else refers to them (I2).
            unsafe {
                self.move_columns(edge, count);
                self.drop_removed(edge.source, &edge.removed, count).resume();
            }
        }
        count
    }

    /// Copies the shared columns of all `count` rows to the end of the target, where there is room, and makes
    /// them count there. Removed values stay in the source, behind its new end, which is its beginning.
    ///
    /// # Safety
    /// The edge is fresh, and leads from its source, which has `count` rows, to another table, with room for them in
    /// which all that the source lacks was written, or will be before it is read.
    unsafe fn move_columns(&mut self, edge: &Edge, count: usize) {
        let (source, target) = (edge.source, edge.target);
        let first = self.table_len(target);
        // SAFETY: forwarded: each is the same column in two tables that live (I1, I7): `count` rows are initialised in the
        // source (I2), whose owners are alive (I5), and the target has room for as many after its own (I3), where they stand
        // from now on. Nothing panics before both lengths say so.
        unsafe {
            for (from, into) in edge.copies() {
                let size = from.size;
                from.data().copy_to_nonoverlapping(into.data().add(first * size), count * size);
            }
            let owners = self.owner_at(source, 0);
            if target == TableId::ROWLESS {
                for row in 0..count {
                    let location = EntityLocation { table: target, row: Row::from_index(row) };
                    self.entities.set_location(owners.add(row).read().index(), location);
                }
            } else {
                let places = self.owner_at(target, first);
                for row in 0..count {
                    let entity = owners.add(row).read();
                    places.add(row).write(entity);
                    let location = EntityLocation { table: target, row: Row::from_index(first + row) };
                    self.entities.move_location(entity.index(), location);
                }
                self.push_rows(target, self.metas[source.index()].len);
            }
        }
        self.mark_rows(source, 0, count);
        self.metas[source.index()].len = 0;
    }

    /// # Safety
    /// The edge is fresh, for `V`, and its target has room for all rows from `first` that will be written, which do not
    /// count yet.
    unsafe fn prepare_rows<'s, V: Values>(&'s self, edge: &'s Edge, first: usize) -> Unpushed<'s, V> {
        // SAFETY: forwarded: the edge is for `V`.
        let pointers = unsafe { edge.pointers::<V>() };
        Unpushed { store: self, edge, pointers, first, inits: 0, values: 0 }
    }

    /// Despawns everything. Ids from before are dead; tables stay, empty.
    pub fn clear_entities(&mut self) {
        self.entities.clear();
        self.clear_groups();
        // SAFETY: no entity is alive or in a group since just now, and no page leads to a row when the rows are dropped, all of
        // them (I5, I10, I13).
        let panics = unsafe {
            self.sets.iter_mut().for_each(|set| set.clear());
            self.drop_all_rows()
        };
        panics.resume();
    }

    /// Drops all rows, whose entities are gone already.
    ///
    /// # Safety
    /// No directory, page or group leads to a row any more, or none is asked again (I5, I10, I13).
    unsafe fn drop_all_rows(&mut self) -> FirstPanic {
        let lens: Vec<u32> = self.metas.iter_mut().map(|meta| std::mem::take(&mut meta.len)).collect();
        let mut panics = FirstPanic::default();
        for (at, &len) in lens.iter().enumerate().filter(|&(_, &len)| len > 0) {
            let table = TableId::from_index(at);
            self.mark_rows(table, 0, len as usize);
            // SAFETY: the table had as many rows, with values but for the holes (I2, I11). They do not count any more, since
            // before the first value was dropped.
            panics.join(unsafe { self.drop_rows(table, len as usize) });
        }
        panics
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: locally: the store is dropped, and nothing is looked up in it again.
        let panics = unsafe { self.drop_all_rows() };
        for at in 0..self.tables.len() {
            if self.tables[at].live {
                self.set_capacity(TableId::from_index(at), 0);
            }
        }
        panics.resume_unless_panicking();
    }
}

/// Rows of one table that are being written: complete from `first`, which is its length, to `next`, and not counted yet.
///
/// The edge is fresh for as long as this lives, because the store is borrowed. Only `fill` moves `next` on.
struct Batch<'s> {
    store: &'s mut Store,
    edge: &'s Edge,
    first: usize,
    next: usize,
}

impl Batch<'_> {
    /// # Safety
    /// The edge is fresh, for `V`, and leads from nowhere to a table.
    unsafe fn fill<V: Values>(&mut self, mut values: impl Iterator<Item = V>) -> Result<(), Exhausted> {
        // SAFETY: forwarded: the value columns are columns of the target, which lives (I1, I7) and has room for the row (I3),
        // which does not count yet and holds nothing (I2). It is complete when `next` says so: the edge's functions and the
        // values, which fit, fill all columns (I7).
        unsafe {
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
                values.write(self.edge.pointers::<V>(), self.next);
                self.next += 1;
            }
        }
        self.publish()
    }

    /// Writes rows for as long as there is room; true when the iterator has ended. The edge has no functions.
    ///
    /// A loop of its own: with a call in it, even one that is never made, values would not stay in registers.
    ///
    /// # Safety
    /// As for `fill`; the edge has no functions.
    #[inline(always)]
    unsafe fn fill_room<V: Values>(&mut self, values: &mut impl Iterator<Item = V>) -> bool {
        let edge = self.edge;
        let capacity = self.store.table_capacity(edge.target);
        let mut rows = Written { next: self.next, told: &mut self.next };
        // SAFETY: forwarded: the edge is for `V`. The value columns are all columns of the target (I1, I7), which has room for
        // the row (I3), where there is nothing yet (I2), and which does not grow while the pointers are used.
        unsafe {
            let pointers = edge.pointers::<V>();
            while rows.next < capacity {
                let Some(values) = values.next() else { return true };
                edge.expect_fit(&values);
                values.write(pointers, rows.next);
                rows.next += 1;
            }
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
        // SAFETY: the rows are within the capacity (I3), and complete, as `fill` left them: they count next, as those of the
        // entities (I5), and writing owners cannot panic. Without ids they do not: their values lie behind the end of the
        // table, and nothing refers to them, since `next` goes back first (I2).
        unsafe {
            let owners = self.store.owner_at(table, first);
            let write = |at: u32, entity| owners.add(at as usize).write(entity);
            let allocated = self.store.entities.alloc_run(table, Row::from_index(first), write, rows);
            if let Err(error) = allocated {
                self.next = first;
                self.store.drop_removed(table, &self.store.tables[table.index()].droppers, count).resume();
                return Err(error);
            }
            self.store.push_rows(table, rows);
        }
        self.first = self.next;
        Ok(())
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // Only after a panic of the user's iterator is anything left to publish. Without enough ids the rows are
        // dropped; there is no caller to be told, not even of a drop that panics: the first panic is passed on.
        let mut panics = FirstPanic::default();
        panics.guard(|| {
            let _ = self.publish();
        });
        panics.forget();
    }
}

/// How many rows of a batch are complete: counted apart, so that the number stays in a register, and stored at the end,
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
struct Unpushed<'s, V: Values> {
    store: &'s Store,
    edge: &'s Edge,
    pointers: V::Pointers,
    first: usize,
    /// Rows with values made by the edge's functions.
    inits: usize,
    /// Rows with values of `V`.
    values: usize,
}

impl<V: Values> Unpushed<'_, V> {
    /// # Safety
    /// The target of the edge has room for `count` rows from the first on, which hold no values of its functions yet.
    unsafe fn run_inits(mut self, count: usize) -> Self {
        while self.inits < count {
            // SAFETY: forwarded: there is room for the row, which holds no values of the functions; the edge is fresh, as it
            // was for `prepare_rows`, since the store is borrowed (I7).
            unsafe { self.store.run_inits(self.edge, self.first + self.inits) }.keep();
            self.inits += 1;
        }
        self
    }

    /// # Safety
    /// As for `run_inits`, for values of `V`.
    unsafe fn write(mut self, mut make: impl FnMut(Tick) -> V, count: usize) -> Self {
        while self.values < count {
            let values = make(self.store.tick);
            self.edge.expect_fit(&values);
            // SAFETY: forwarded: there is room for the row in the value columns, which are columns of the target (I1, I7), and
            // did not move since the pointers were taken, because the store is borrowed.
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

impl<V: Values> Drop for Unpushed<'_, V> {
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        for row in self.first..self.first + self.inits {
            // SAFETY: the edge's functions made values for the row, which does not count (I2); the edge is fresh still, since
            // the store is borrowed (I7).
            panics.guard(|| unsafe { Pending::of(self.edge, row).abandon() });
        }
        let all = vec![true; V::COLUMNS];
        for row in self.first..self.first + self.values {
            // SAFETY: the row has values of `V` in all columns of it that are there (I7), which do not count (I2), and are
            // forgotten there now.
            panics.guard(|| drop(unsafe { V::take(self.pointers, V::mask(&mut all.iter()), row) }));
        }
        // This runs while the user's panic unwinds: that one is passed on.
        panics.forget();
    }
}
