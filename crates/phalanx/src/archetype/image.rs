//! The set of archetypes in checkpoints.
//!
//! The order of queries follows from when archetypes were created, so a restored world has the archetypes it had, with
//! their ids and ages: those that came since are gone, those that were dropped are back. Tables belong to the store,
//! and have been restored when this is called. Whatever was derived from the set is worked out again.

use phalanx_store::TableId;
use phalanx_store::sorting;

use super::room::Room;
use super::{ArchetypeId, Archetypes, Home, hash_of};
use crate::pool::PoolId;
use crate::signature::Signature;

/// The archetypes of a world at one moment.
pub(crate) struct ArchetypesImage {
    signatures: Vec<Signature>,
    tables: Vec<TableId>,
    homes: Vec<Home>,
    free: Vec<ArchetypeId>,
    created: u64,
    room: Room,
}

impl ArchetypesImage {
    /// The archetypes that there were, in the order of queries: the table, pool and components of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TableId, PoolId, &Signature)> {
        let mut living: Vec<usize> =
            (0..self.tables.len()).filter(|&at| self.tables[at] != TableId::DEAD).collect();
        sorting::sort_by_key(&mut living, |&at| self.homes[at]);
        living.into_iter().map(|at| (self.tables[at], self.homes[at].pool, &self.signatures[at]))
    }
}

impl Archetypes {
    pub(crate) fn image(&self) -> ArchetypesImage {
        ArchetypesImage {
            signatures: self.signatures.clone(),
            tables: self.tables.clone(),
            homes: self.homes.clone(),
            free: self.free.clone(),
            created: self.created,
            room: self.room.clone(),
        }
    }

    /// Makes the set what it was. False when it is the same already, with the same tables unless they are `renewed`.
    pub(crate) fn restore(&mut self, image: &ArchetypesImage, renewed: bool) -> bool {
        self.created = image.created;
        self.room.clone_from(&image.room);
        if !renewed
            && (&self.tables, &self.homes, &self.free) == (&image.tables, &image.homes, &image.free)
            && self.signatures == image.signatures
        {
            return false;
        }
        self.signatures.clone_from(&image.signatures);
        self.tables.clone_from(&image.tables);
        self.homes.clone_from(&image.homes);
        self.free.clone_from(&image.free);
        self.by_table.fill(ArchetypeId::EMPTY);
        self.pool_by_table.fill(PoolId::GENERAL);
        self.heard_by_table.fill(false);
        self.by_signature.clear();
        self.holders.iter_mut().for_each(Vec::clear);
        self.pools.forget_archetypes();
        let mut living: Vec<ArchetypeId> = self.iter().collect();
        sorting::sort_by_key(&mut living, |id| self.homes[id.index()]);
        for &id in &living {
            self.index_table(id);
            let pool = self.homes[id.index()].pool;
            let signature = self.signatures[id.index()].clone();
            for component in &signature {
                if self.holders.len() <= component.index() {
                    self.holders.resize_with(component.index() + 1, Vec::new);
                }
                self.holders[component.index()].push(id);
            }
            self.pools.record_mut(pool).add(id, &signature);
            if pool == PoolId::GENERAL {
                let signatures = &self.signatures;
                let fingerprint = hash_of(&signature);
                self.by_signature.insert_unique(fingerprint, id, |id| hash_of(&signatures[id.index()]));
            }
        }
        sorting::sort_by_key(&mut living, |id| self.homes[id.index()].born);
        self.journal.restart(living);
        self.edges.clear();
        self.pools.forget_edges();
        true
    }
}
