//! Many entities leave at once.
//!
//! One by one, each row that is left is filled with the last one, which may have to leave next. Here rows of one table
//! are left as they are at first. Their owners, which are not needed any more, become a list; when the last one has
//! gone, rows from behind the new end fill what is left before it:
//!
//! ```text
//!   rows      a  b  c  d  e  f  g           first = 4 ──▶ 1 ──▶ 5
//!                x        x  x              three of seven leave: the new end is row 4
//!             a  g  c  d │ x  x  x          g lay behind it, and fills 1
//! ```
//!
//! So a row moves once at most, and none does where a table becomes empty. Tables whose values have to be dropped are
//! left one by one, because drops are the user's code; so are all where entities may be in sets.

use crate::entities::{Ending, Slot};
use crate::entity::Entity;
use crate::location::{Row, TableId};
use crate::panics::FirstPanic;
use crate::store::Store;
use crate::table::{Table, TableMeta};
use crate::tick::Tick;

impl Store {
    /// Despawns each entity, and returns how many were alive.
    ///
    /// Ids are used again as if [`Store::despawn`] were called for each; rows may be in another order.
    ///
    /// # Panics
    /// When the iterator panics: those that came before are gone. When a value does in its drop: all are gone.
    pub fn despawn_batch(&mut self, entities: impl IntoIterator<Item = Entity>) -> usize {
        // The iterator is the user's code: it has ended before a row is left.
        let (mut list, mut panics) = (Vec::new(), FirstPanic::default());
        panics.guard(|| {
            let mut entities = entities.into_iter();
            if entities.size_hint().0 > HINT {
                // Promises cost nothing, and may be wrong: what is promised first has to come.
                list.extend(entities.by_ref().take(HINT));
            }
            list.extend(entities);
        });
        let count = self.despawn_list(&list, &mut panics);
        panics.resume();
        count
    }

    fn despawn_list(&mut self, mut list: &[Entity], panics: &mut FirstPanic) -> usize {
        let (mut count, mut apart) = (0, 0);
        while let Some((&entity, others)) = list.split_first() {
            if apart > 0 {
                apart -= 1;
            } else if let Some(leaving) = self.leave_table_of(entity) {
                let left = leaving.end_all(list);
                count += left;
                list = &list[left..];
                if left == 1 {
                    apart = APART;
                }
                // Not even one when the first slot has to be retired.
                if left > 0 {
                    continue;
                }
            }
            // A value that panics in its drop keeps no other entity alive.
            panics.guard(|| count += usize::from(self.despawn(entity)));
            list = others;
        }
        count
    }

    /// Opens the table of an entity to be left by many, if it can be: its values have no drop glue, and no entity is in a
    /// set.
    fn leave_table_of(&mut self, entity: Entity) -> Option<Leaving<'_>> {
        let table = self.entities.locate(entity)?.table;
        let plain = table.has_rows() && self.tables[table.index()].droppers.is_empty();
        if !plain || !self.sets_are_empty() {
            return None;
        }
        let (columns, meta) = (&self.tables[table.index()], &mut self.metas[table.index()]);
        Some(Leaving {
            entities: self.entities.end_many(),
            columns,
            meta,
            table,
            first: NONE,
            count: 0,
            now: self.tick,
        })
    }
}

/// For how many entities of an iterator room is made ahead.
const HINT: usize = 1 << 24;

/// How many are removed one by one after one that was alone in its table: opening a table for one takes longer.
const APART: u32 = 8;

/// Ends the list of rows that were left.
const NONE: u32 = u32::MAX;

/// One table, some rows of which were left and not filled yet.
struct Leaving<'s> {
    entities: Ending<'s>,
    columns: &'s Table,
    meta: &'s mut TableMeta,
    table: TableId,
    /// The row that was left last; its owner tells which one before that, and so on.
    first: u32,
    count: u32,
    now: Tick,
}

impl Leaving<'_> {
    /// Ends entities of the table, up to the first that is not there, or whose slot has to be retired. Tells how many.
    fn end_all(mut self, list: &[Entity]) -> usize {
        for &entity in list {
            // SAFETY: the store has no entity in a set, as was checked when the table was opened. The directory gives
            // the row, which is in range (I5), so that there is an owner (I3), which is dead then; all rows that were
            // left are taken out below.
            let row = unsafe {
                let Some(row) = self.entities.end(self.table, entity) else { break };
                self.owners().add(row.index()).write(Entity::unowned(self.first));
                row
            };
            (self.first, self.count) = (row.get(), self.count + 1);
        }
        if self.count > 0 {
            // What is changed in the loop is passed by value: so it can stay in registers there.
            // SAFETY: the slots, columns and meta are those of one store and table. The rows in the list are those that were
            // left, each once, which the directory named (I5), and only tables without drop glue are left by many. Nothing
            // else was done since the first was left.
            unsafe {
                Self::fill(self.entities.slots(), self.columns, self.meta, self.first, self.count, self.now);
            }
        }
        self.count as usize
    }

    #[inline(always)]
    fn owners(&self) -> *mut Entity {
        self.meta.owners.data.cast()
    }

    /// Fills the rows that were left before the new end with those behind it.
    ///
    /// # Safety
    /// The slots are those of the directory, and the meta that of the table. `count` of its rows were left, whose entities
    /// are dead; they are listed from `left` on, each once, by their owners. None of its values has drop glue.
    #[inline(never)]
    unsafe fn fill(
        slots: &mut [Slot],
        columns: &Table,
        meta: &mut TableMeta,
        mut left: u32,
        count: u32,
        now: Tick,
    ) {
        let (owners, end) = (meta.owners.data.cast::<Entity>(), meta.len - count);
        // SAFETY: forwarded: rows up to the old length are in range, and within the capacity (I3). As many were left as there
        // are behind the new end. Of those, some were left themselves; for each of the others there is one in the list
        // that lies before the end, which is not the same: the list does not end before it is found. Its values have no drop
        // glue and may be overwritten (I2), and the owner of a row that was not left is alive, so that it has a slot (I5), and
        // has the other row from now on. No entity that lives has the last generation, which tells those that were left
        // apart (I5).
        unsafe {
            meta.owners.mark(end as usize, count as usize, true, now);
            let tail = if end == 0 { 0..0 } else { end..meta.len };
            for last in tail {
                let owner = owners.add(last as usize).read();
                if owner.is_unowned() {
                    continue;
                }
                while left >= end {
                    left = owners.add(left as usize).read().index();
                }
                let (from, to) = (last as usize, left as usize);
                columns.copy_row(from, to);
                meta.owners.mark_row(to, now);
                let before = owners.add(to).replace(owner);
                slots.get_unchecked_mut(owner.index() as usize).set_row(Row::new(left));
                left = before.index();
            }
        }
        meta.len = end;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::column_id::ColCell;
    use crate::values::Col;

    static KEY: ColCell<u32> = ColCell::new();

    // Hazard 2: a slot that has used up its generations is retired here, too.
    #[test]
    fn a_slot_that_is_used_up_is_retired() {
        for at in [0, 1, 3, 5] {
            let mut store = Store::new();
            let table = store.new_table(&[KEY.id().any()]);
            let edge = store.insert_edge::<Col<u32>>(TableId::ROWLESS, table, KEY.id(), &[]);
            let edge = edge.expect("the table has the column");
            let spawn = |store: &mut Store| store.spawn(&edge, Col(7u32)).expect("there is room");
            let mut entities: Vec<Entity> = (0..6).map(|_| spawn(&mut store)).collect();
            assert!(store.despawn(entities[at]));
            store.entities.set_generation_for_tests(entities[at].index(), u32::MAX - 1);
            entities[at] = spawn(&mut store);
            let stays = entities.remove(if at == 5 { 0 } else { 5 });
            assert_eq!(store.despawn_batch(entities.iter().copied()), 5);
            assert_eq!((store.entities().retired_len(), store.entities().free_len()), (1, 4));
            assert_eq!(store.table_entities(table), [stays]);
            assert_eq!(store.despawn_batch(entities), 0);
            store.check().expect("consistent");
        }
    }
}
