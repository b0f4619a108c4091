//! Different entities of a store, each read and written for itself.
//!
//! ```text
//!   &mut Store ──▶ EntityCell 7v0   get::<A>() -> &A     get_mut::<B>() -> &mut B
//!              └─▶ EntityCell 9v2   ..                    rows of their own, so both live at once
//! ```
//!
//! The store is borrowed exclusively for as long as any of the cells lives, or a query lends the rows and has the columns
//! (`fetch/whole`), so its structure stands still. Cells of one borrow are of different entities, and these have different
//! rows. Columns that a query leaves out are not lent. A cell stays on its thread. An [`EntityPeek`] is
//! the same for reading: there may be several of one entity.

use std::any::Any;
use std::marker::PhantomData;

use crate::column_id::AnyColId;
use crate::column_value::ErasedColumn;
use crate::entity::Entity;
use crate::fetch::{Access, Fetch, ReadFetch};
use crate::location::{EntityLocation, TableId};
use crate::prepared::find_alias;
use crate::store::Store;
use crate::tick::Tick;

/// One entity of a store that is borrowed for several of them.
pub struct EntityCell<'s> {
    store: &'s Store,
    entity: Entity,
    /// What is written carries this tick.
    now: Tick,
    /// The columns that are not lent.
    except: &'static [AnyColId],
    /// Neither `Send` nor `Sync`.
    on_thread: PhantomData<*mut ()>,
}

impl Store {
    /// A cell for one entity; `None` when it is dead.
    pub fn entity_cell(&mut self, entity: Entity) -> Option<EntityCell<'_>> {
        // SAFETY: the store is borrowed exclusively, for this cell alone (I8).
        self.entities.contains(entity).then(|| unsafe { EntityCell::new(self, entity, self.tick, &[]) })
    }

    /// A cell for each entity.
    ///
    /// # Errors
    /// An entity that is dead, or is named twice.
    pub fn entity_cells(&mut self, entities: &[Entity]) -> Result<Vec<EntityCell<'_>>, CellError> {
        let mut sorted = entities.to_vec();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(CellError::Repeated(pair[0]));
        }
        if let Some(&dead) = entities.iter().find(|&&entity| !self.entities.contains(entity)) {
            return Err(CellError::Dead(dead));
        }
        let store = &*self;
        // SAFETY: the store is borrowed exclusively, for these cells alone, which are of different entities (I5, I8).
        let cell = |&entity: &Entity| unsafe { EntityCell::new(store, entity, store.tick, &[]) };
        Ok(entities.iter().map(cell).collect())
    }
}

/// Why there are no cells for a list of entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellError {
    /// This one is dead.
    Dead(Entity),
    /// This one is named twice.
    Repeated(Entity),
}

impl<'s> EntityCell<'s> {
    /// # Safety
    /// The entity is alive. For `'s` the structure of the store stands still, nothing else writes the columns of the
    /// entity's rows, in tables and sets, but those left out, and nothing else reads them.
    #[inline]
    pub(crate) unsafe fn new(
        store: &'s Store,
        entity: Entity,
        now: Tick,
        except: &'static [AnyColId],
    ) -> Self {
        Self { store, entity, now, except, on_thread: PhantomData }
    }

    /// The entity, for reading only.
    #[inline]
    pub fn peek(&self) -> EntityPeek<'_> {
        EntityPeek { store: self.store, entity: self.entity, except: self.except }
    }

    /// As [`EntityCell::peek`], for as long as the cell would have lived.
    #[inline]
    pub fn into_peek(self) -> EntityPeek<'s> {
        EntityPeek { store: self.store, entity: self.entity, except: self.except }
    }

    /// The entity.
    #[inline]
    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// The table that the entity is in.
    pub fn table(&self) -> TableId {
        self.peek().table()
    }

    /// Whether the entity has a value in this column, of its table or of a set.
    pub fn has_column(&self, column: AnyColId) -> bool {
        self.peek().has_column(column)
    }

    /// The same cell for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> EntityCell<'_> {
        // SAFETY: as this cell, which is borrowed exclusively meanwhile (I6).
        unsafe { EntityCell::new(self.store, self.entity, self.now, self.except) }
    }

    /// Reads columns of the entity. `None` when it lacks one that is not optional.
    #[inline]
    pub fn get<F: ReadFetch>(&self, ids: F::Ids) -> Option<F::Item<'_>> {
        self.peek().get::<F>(ids)
    }

    /// As [`EntityCell::get`], for as long as the cell would have lived.
    #[inline]
    pub fn into_get<F: ReadFetch>(self, ids: F::Ids) -> Option<F::Item<'s>> {
        self.into_peek().get::<F>(ids)
    }

    /// Reads and writes columns of the entity. `None` when it lacks one that is not optional, or they alias each other.
    #[inline]
    pub fn get_mut<F: Fetch>(&mut self, ids: F::Ids) -> Option<F::Item<'_>> {
        self.reborrow().into_get_mut::<F>(ids)
    }

    /// As [`EntityCell::get_mut`], for as long as the cell would have lived.
    #[inline]
    pub fn into_get_mut<F: Fetch>(self, ids: F::Ids) -> Option<F::Item<'s>> {
        if find_alias::<F>(ids).is_some() || !lends::<F>(ids, self.except) {
            return None;
        }
        // SAFETY: the cell is gone, or borrowed exclusively by the caller, so this is the only item of its entity, and no
        // two parts of it alias (I6). It reaches no column that is left out, and no row of another entity (I14). Other cells
        // are of other entities, which have other rows (I5, I10), and nothing else uses the columns (I8). Ticks of blocks,
        // which are those of many rows, are atomic.
        unsafe { self.store.get_unchecked::<F>(self.entity, ids, self.now) }
    }

    /// The value of a column, to be written, without its type. `None` when the entity lacks it, or it is not lent.
    pub fn into_erased_mut(self, column: ErasedColumn) -> Option<&'s mut dyn Any> {
        if !column.is_apart_from(self.except) {
            return None;
        }
        // SAFETY: the cell is gone, or borrowed exclusively by the caller, so that nothing else uses the value and the tick of
        // its entity for `'s` (I6). Other cells are of other entities, which have other rows (I5, I10), and nothing else uses
        // columns that are lent (I8).
        unsafe { self.store.erased_unchecked(self.entity, column, self.now).map(|value| &mut *value) }
    }
}

/// Whether a fetch reaches no column that is left out, no whole entity, and no other entity: another cell may write that.
#[inline]
fn lends<F: Fetch>(ids: F::Ids, except: &[AnyColId]) -> bool {
    let mut lends = !F::FAR;
    F::visit(ids, &mut lending(&mut lends, except));
    lends
}

/// A closure that is compiled once, since it stands in no generic function.
#[inline(always)]
fn lending<'a>(lends: &'a mut bool, except: &'a [AnyColId]) -> impl FnMut(Access) {
    move |access| *lends &= access.whole.is_none() && (except.is_empty() || !except.contains(&access.column))
}

/// One entity of a store, for reading.
#[derive(Clone, Copy)]
pub struct EntityPeek<'s> {
    store: &'s Store,
    entity: Entity,
    /// The columns that are not lent.
    except: &'static [AnyColId],
}

impl<'s> EntityPeek<'s> {
    /// # Safety
    /// The entity is alive. For `'s` the structure of the store stands still, and nothing writes the columns of the
    /// entity's rows, in tables and sets, but those left out.
    #[inline]
    pub(crate) unsafe fn new(store: &'s Store, entity: Entity, _: Tick, except: &'static [AnyColId]) -> Self {
        Self { store, entity, except }
    }

    /// The entity.
    #[inline]
    pub fn entity(&self) -> Entity {
        self.entity
    }

    /// When the entity was spawned, as [`Store::spawn_tick`] tells.
    pub fn spawn_tick(&self) -> Option<Tick> {
        self.store.spawn_tick(self.entity)
    }

    /// Where the entity is.
    pub fn location(&self) -> EntityLocation {
        self.store.locate(self.entity).expect("the store is borrowed, so the entity is alive")
    }

    /// The table that the entity is in.
    pub fn table(&self) -> TableId {
        self.location().table
    }

    /// Whether the entity has a value in this column, of its table or of a set.
    pub fn has_column(&self, column: AnyColId) -> bool {
        match self.store.set_of(column) {
            Some(set) => self.store.set_row(set, self.entity).is_some(),
            None => self.store.table_has(self.table(), column),
        }
    }

    /// The value of a column, without its type. `None` when the entity lacks it, or it is not lent.
    pub fn erased(&self, column: ErasedColumn) -> Option<&'s dyn Any> {
        // Nothing writes a column that is lent.
        if column.is_apart_from(self.except) { self.store.erased(self.entity, column) } else { None }
    }

    /// Reads columns of the entity. `None` when it lacks one that is not optional, or one is not lent.
    #[inline]
    pub fn get<F: ReadFetch>(&self, ids: F::Ids) -> Option<F::Item<'s>> {
        if !lends::<F>(ids, self.except) {
            return None;
        }
        // SAFETY: the promise of `EntityPeek::new`, or of the cell that it is made of: nothing writes the columns of the
        // entity for `'s`, other than those left out. The fetch reaches neither these nor another entity (I14).
        unsafe { self.store.get_unchecked::<F>(self.entity, ids, self.store.tick) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn cells_are_of_different_living_entities() {
        let mut store = Store::new();
        let a = store.spawn_rowless().expect("there is room");
        let b = store.spawn_rowless().expect("there is room");
        assert_eq!(store.entity_cells(&[a, b, a]).err(), Some(CellError::Repeated(a)));
        assert_eq!(store.entity_cells(&[a, b]).map(|cells| cells.len()), Ok(2));
        store.despawn(b);
        assert_eq!(store.entity_cells(&[a, b]).err(), Some(CellError::Dead(b)));
        assert!(store.entity_cell(b).is_none());
        assert_eq!(store.entity_cell(a).map(|cell| cell.entity()), Some(a));
    }

    // One cell may write what another one would reach through a link: neither it nor its peek follows links.
    #[test]
    fn a_cell_does_not_reach_the_entity_that_a_link_leads_to() {
        use crate::column_id::ColId;
        use crate::fetch::{InSet, Link, Opt, Read, Via, Write};
        use crate::location::TableId;
        use crate::plan::Init;
        use crate::values::Col;

        struct Along;
        impl Link for Along {
            type Fetch = InSet<Read<Entity>>;
            const NEAREST: bool = false;
            fn target(link: &Entity) -> Entity {
                *link
            }
        }

        let (value, link) = (ColId::<u32>::named("cells.value"), ColId::<Entity>::named("cells.link"));
        let mut store = Store::new();
        let table = store.new_table(&[value.any()]);
        let edge = store.insert_edge::<Col<u32>>(TableId::ROWLESS, table, value, &[]).expect("it fits");
        let [from, to] = [1_u32, 2].map(|n| store.spawn(&edge, Col(n)).expect("there is room"));
        let set = store.declare_set(&[link.any()]);
        assert_eq!(store.set_insert_made(set, from, &[Init::new(link, move |_| Col(to))]), Ok(true));
        // A store that is only read lends it.
        assert_eq!(store.get::<Via<Along, Read<u32>>>(from, (link, value)), Some(&2));

        let mut cells = store.entity_cells(&[from, to]).expect("both are alive");
        let [one, other] = &mut cells[..] else { panic!("two cells") };
        let reached = one.get::<Via<Along, Read<u32>>>((link, value));
        let written = other.get_mut::<Write<u32>>(value).expect("it has a value");
        let before = reached.copied();
        *written += 1;
        assert_eq!(reached.copied(), before, "what is borrowed to be read was written");
        assert_eq!(reached, None);
        assert!(one.get::<(Read<u32>, Opt<Via<Along, Read<u32>>>)>((value, (link, value))).is_none());
        assert!(one.peek().get::<Via<Along, Read<u32>>>((link, value)).is_none());
        assert!(one.get_mut::<(Write<u32>, Opt<Via<Along, Read<Entity>>>)>((value, (link, link))).is_none());
    }
}
