//! Stand-in for the store's seats.
//!
//! It asks the directory each time.
//! Replaced by the store's own.
use phalanx_store::{Entity, Fetch, ReadFetch, Row, Store, TableId};

/// Where an entity was last seen.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// The entity.
    pub entity: Entity,
    /// Its table.
    pub table: TableId,
    /// Its row.
    pub row: Row,
}

pub(crate) fn seat(store: &Store, entity: Entity) -> Option<Seat> {
    let place = store.locate(entity)?;
    Some(Seat { entity, table: place.table, row: place.row })
}

pub(crate) fn get_at<'s, F: ReadFetch>(store: &'s Store, at: &mut Seat, ids: F::Ids) -> Option<F::Item<'s>> {
    *at = seat(store, at.entity)?;
    store.get::<F>(at.entity, ids)
}

pub(crate) fn get_at_mut<'s, F: Fetch>(
    store: &'s mut Store,
    at: &mut Seat,
    ids: F::Ids,
) -> Option<F::Item<'s>> {
    *at = seat(store, at.entity)?;
    store.get_mut::<F>(at.entity, ids)
}
