//! One value of a column, by entity: for tools, which reach values through ids alone.
//!
//! Where the value is, in the entity's table or in the set of the column, is found without its type; only the last
//! step is generic, so that a program with many types compiles little of it. Writing marks the block of the row.

use crate::column_id::{AnyColId, ColId};
use crate::entity::Entity;
use crate::location::TableId;
use crate::store::Store;

impl Store {
    /// The value of a column for an entity, from its table or from the column's set. `None` when the entity is dead or
    /// lacks the column.
    pub fn value<T: Send + Sync + 'static>(&self, entity: Entity, id: ColId<T>) -> Option<&T> {
        let (table, row) = self.place_of(entity, id.any())?;
        match self.column_rows(table, id, row..row + 1) {
            Some([value]) => Some(value),
            _ => None,
        }
    }

    /// As [`Store::value`], to be written. Marks the block of the row.
    pub fn value_mut<T: Send + Sync + 'static>(&mut self, entity: Entity, id: ColId<T>) -> Option<&mut T> {
        let (table, row) = self.place_of(entity, id.any())?;
        let cell = self.whole_cell(id.any(), table, &(row..row + 1))?;
        // SAFETY: the table has the column, as `whole_cell` found (I4), which holds `T` (I1), and the row, which is in range and
        // no hole (I3, I11): its value is initialised (I2). The store is borrowed exclusively for as long as the value is.
        unsafe {
            cell.mark_single(row, size_of::<T>() > 0, self.tick);
            Some(&mut *cell.data.cast::<T>().add(row))
        }
    }

    /// The table and row that would hold an entity's value of a column; `None` when the entity is dead, or not in the
    /// column's set.
    pub fn place_of(&self, entity: Entity, id: AnyColId) -> Option<(TableId, usize)> {
        match self.set_of(id) {
            None => self.locate(entity).map(|location| (location.table, location.row.index())),
            Some(set) => Some((self.set_table(set), self.set_row(set, entity)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tick::Tick;
    use crate::values::Col;

    #[test]
    fn a_value_is_found_in_table_or_set_and_only_its_block_is_marked() {
        let (own, sparse) = (ColId::<u32>::named("value.own"), ColId::<String>::named("value.sparse"));
        let mut store = Store::new();
        store.declare(own.any());
        let set = store.declare_set(&[sparse.any()]);
        let table = store.new_table(&[own.any()]);
        let edge = store.insert_edge::<Col<u32>>(TableId::ROWLESS, table, own, &[]).expect("it fits");
        let entities: Vec<Entity> =
            (0..2000_u32).map(|n| store.spawn(&edge, Col(n)).expect("there is room")).collect();
        let init = crate::plan::Init::new(sparse, |_| Col("a".to_owned()));
        assert_eq!(store.set_insert_made(set, entities[7], &[init]), Ok(true));

        let now = store.advance_tick();
        assert_eq!(store.value(entities[1500], own), Some(&1500));
        *store.value_mut(entities[1500], own).expect("it is there") = 9;
        assert_eq!(store.value(entities[1500], own), Some(&9));
        assert_eq!(store.column_tick(table, own.any(), 1), Some(now));
        assert!(store.column_tick(table, own.any(), 0).is_some_and(|tick: Tick| tick < now));

        store.value_mut(entities[7], sparse).expect("it is in the set").push('b');
        assert_eq!(store.value(entities[7], sparse).map(String::as_str), Some("ab"));
        assert_eq!(store.value(entities[8], sparse), None);
        store.despawn(entities[7]);
        assert_eq!(store.value(entities[7], own), None);
        assert!(store.value_mut(entities[7], sparse).is_none());
        store.check().expect("the store is consistent");
    }
}
