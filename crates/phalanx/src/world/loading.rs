//! What loading a saved world needs of a world: rows filled by columns, groups made from ids.
//!
//! Everything here was checked before: which entity has which component, in which pool, in which order. Hooks,
//! observers and commands do not run.

use phalanx_store::{AnyColId, ColumnRows, Entity, SetGroupId, SetId, TableId, sorting};

use super::World;
use crate::component::{Leftover, LoadedColumns};
use crate::pool::{PoolId, PoolMark, pooled};
use crate::registry::ComponentId;
use crate::signature::Signature;

/// A group, for saving.
pub(crate) struct SavedGroup<'w> {
    pub(crate) name: String,
    pub(crate) owned: Vec<ComponentId>,
    pub(crate) seen: Vec<ComponentId>,
    pub(crate) without: Vec<ComponentId>,
    pub(crate) members: &'w [Entity],
}

impl World {
    /// Brings entities without a row into an archetype, all at once, one row each in order. The columns are those of the
    /// archetype's components, with a value for each entity.
    pub(crate) fn load_table(
        &mut self,
        pool: PoolId,
        signature: Signature,
        entities: &[Entity],
        columns: &mut [LoadedColumns],
    ) {
        let target = self.archetype(pool, signature);
        let table = self.archetypes.table(target).expect("the archetype was found or made just now");
        if entities.is_empty() || table == TableId::ROWLESS {
            return;
        }
        let given: Vec<AnyColId> =
            columns.iter().flat_map(LoadedColumns::ids).chain(self.pool_marks(pool)).collect();
        let edge = self.store.fill_edge(TableId::ROWLESS, table, &given, &[]);
        let edge = edge.expect("the columns are those of the archetype");
        let marks = self.pool_marks(pool).into_iter().map(|mark| {
            let mark = mark.typed().expect("pools mark their tables so");
            ColumnRows::new(mark, entities.iter().map(|_| PoolMark).collect())
        });
        let rows = columns.iter_mut().flat_map(LoadedColumns::take_rows).chain(marks).collect();
        self.store.reserve_rows(table, entities.len());
        self.store.insert_columns(entities, &edge, rows);
    }

    /// As `load_table`, for entities whose values are the next ones of the columns.
    pub(crate) fn load_rows(
        &mut self,
        pool: PoolId,
        signature: Signature,
        entities: &[Entity],
        columns: &mut [LoadedColumns],
    ) {
        let target = self.archetype(pool, signature);
        let table = self.archetypes.table(target).expect("the archetype was found or made just now");
        if entities.is_empty() || table == TableId::ROWLESS {
            return;
        }
        let mut given = Vec::new();
        let mut places = Vec::new();
        for (at, loaded) in columns.iter().enumerate() {
            for (column, id) in loaded.ids().enumerate() {
                given.push(id);
                places.push((at, column));
            }
        }
        let marks = self.pool_marks(pool);
        given.extend(&marks);
        let edge = self.store.fill_edge(TableId::ROWLESS, table, &given, &[]);
        let edge = edge.expect("the columns are those of the archetype");
        self.store.reserve_rows(table, entities.len());
        for &entity in entities {
            self.store.insert_filled(entity, &edge, |at, open| match places.get(at) {
                Some(&(loaded, column)) => columns[loaded].fill(column, open),
                None => open.fill(given[at].typed().expect("pools mark their tables so"), PoolMark),
            });
        }
    }

    /// The columns that mark the tables of a pool.
    fn pool_marks(&self, pool: PoolId) -> Vec<AnyColId> {
        if pool == PoolId::GENERAL {
            return Vec::new();
        }
        vec![pooled().any(), self.archetypes.pools().record(pool).tag()]
    }

    /// Gives an entity the next value of a component, in the place of the one it has, if any.
    pub(crate) fn load_value(
        &mut self,
        entity: Entity,
        id: ComponentId,
        columns: &mut LoadedColumns,
        leftovers: &mut Vec<Leftover>,
    ) {
        let Some(from) = self.archetype_of(entity) else { return };
        if self.archetypes.signature(from).has(id) || self.has_sparse(entity, id) {
            return columns.replace(&mut self.store, entity, leftovers);
        }
        let given: Vec<AnyColId> = columns.ids().collect();
        if let Some(set) = self.set_of(id) {
            let inserted =
                self.store.set_insert_filled(set, entity, &given, |at, open| columns.fill(at, open));
            inserted.expect("the columns are those of the component");
            return;
        }
        let target = self.archetypes.signature(from).with(id);
        let target = self.archetype(self.archetypes.pool_of(from), target);
        let (source, target) = (self.archetypes.table(from), self.archetypes.table(target));
        let (source, target) = source.zip(target).expect("both archetypes exist");
        let edge = self.store.fill_edge(source, target, &given, &[]);
        let edge = edge.expect("the columns are those of the component");
        self.grouped(entity, |world| {
            world.store.insert_filled(entity, &edge, |at, open| columns.fill(at, open));
        });
    }

    /// All groups, in order of creation.
    pub(crate) fn saved_groups(&self) -> Vec<SavedGroup<'_>> {
        let of_set = |set: &SetId| self.set_components.get(set.index()).copied().flatten();
        let groups = self.groups.iter().filter_map(|(id, name)| {
            let terms = self.store.group_terms(id).ok()?;
            let in_tables = terms.without.iter().filter_map(|&column| self.components.by_key(column));
            Some(SavedGroup {
                name: name.to_owned(),
                owned: terms.owned.iter().filter_map(of_set).collect(),
                seen: terms.seen.iter().filter_map(of_set).collect(),
                without: terms.without_sets.iter().filter_map(of_set).chain(in_tables).collect(),
                members: self.store.group_entities(id).ok()?,
            })
        });
        groups.collect()
    }

    /// Makes a group, unless there is one. `None` when it cannot be: a component to be owned is not in a set, is
    /// stable or has an owner, one occurs twice, or none is needed.
    pub(crate) fn load_group(
        &mut self,
        owned: &[ComponentId],
        seen: &[ComponentId],
        without: &[ComponentId],
    ) -> Option<SetGroupId> {
        let needed: Vec<ComponentId> = owned.iter().chain(seen).copied().collect();
        let all: Vec<ComponentId> = needed.iter().chain(without).copied().collect();
        let repeated = all.iter().enumerate().any(|(at, id)| all[..at].contains(id));
        if needed.is_empty() || repeated || needed.iter().any(|&id| self.set_of(id).is_none()) {
            return None;
        }
        let terms = self.group_terms(owned, seen, without);
        if let Some(id) = self.store.find_group(&terms) {
            return Some(id);
        }
        let is_free = |&set: &SetId| !self.store.set_is_stable(set) && self.store.owner_of_set(set).is_none();
        if !terms.owned.iter().all(is_free) {
            return None;
        }
        let name = self.group_name(owned, seen, without);
        let id = self.store.add_group(terms);
        self.groups.add(id, name);
        self.set_components.resize(self.store.sets().count(), None);
        Some(id)
    }

    /// Brings the members of a group into an order. False when these are not its members.
    pub(crate) fn order_group(&mut self, id: SetGroupId, order: &[Entity]) -> bool {
        let Ok(members) = self.store.group_entities(id) else { return false };
        let mut at: Vec<(Entity, usize)> = members.iter().copied().zip(0..).collect();
        at.sort_unstable();
        let place = |entity: &Entity| {
            let found = at.binary_search_by_key(entity, |(member, _)| *member);
            found.ok().map(|found| at[found].1)
        };
        let Some(places) = order.iter().map(place).collect::<Option<Vec<usize>>>() else { return false };
        let mut taken = vec![false; members.len()];
        let once = places.iter().all(|&place| !std::mem::replace(&mut taken[place], true));
        if !once || places.len() != members.len() {
            return false;
        }
        sorting::arrange(places, |a, b| {
            let _ = self.store.group_swap(id, a, b);
        });
        true
    }
}
