//! Queries built at run time, asked of a world.
//!
//! Archetypes decide what they can; sparse components are looked up entity by entity. Where only some rows of
//! a table match, the table is given in runs of rows that lie side by side, so that a column never holds a
//! value of an entity that does not match.

use phalanx_store::{Entity, SetId, Store, TableId};

use super::World;
use crate::archetype::{ArchetypeId, Archetypes};
use crate::query::cache::QueryCache;
use crate::query::{DynamicQuery, DynamicTable, DynamicTableMut, QueryBuilder};
use crate::registry::{ComponentId, Components};
use crate::signature::Signature;

impl World {
    /// Begins a query built at run time, from component ids.
    pub fn query_builder(&self) -> QueryBuilder {
        QueryBuilder::new()
    }

    /// The rows of a sparse component by id, in the set's order: all at once, or the runs between the holes of a
    /// stable set. Nothing for a component that is not sparse.
    pub fn sparse_runs(&self, id: ComponentId) -> impl Iterator<Item = DynamicTable<'_>> {
        let (store, components) = (&self.store, &self.components);
        let set = self.set_of(id);
        set.into_iter().flat_map(|set| store.set_runs(set).into_iter().map(move |run| (set, run))).map(
            move |(set, run)| DynamicTable {
                store,
                components,
                table: store.set_table(set),
                start: run.start,
                len: run.len(),
            },
        )
    }
}

/// Looks up what archetypes do not know.
#[derive(Clone, Copy)]
struct Lookup<'w> {
    store: &'w Store,
    archetypes: &'w Archetypes,
    components: &'w Components,
}

impl<'w> Lookup<'w> {
    fn new(world: &'w World) -> Self {
        Self { store: &world.store, archetypes: &world.archetypes, components: &world.components }
    }

    fn set_of(&self, id: ComponentId) -> Option<SetId> {
        let info = self.components.get_info(id).filter(|info| info.is_sparse())?;
        self.store.set_of(info.columns()[0])
    }

    fn keeps(&self, query: &DynamicQuery, signature: &Signature, entity: Entity) -> bool {
        query.holds(|id| {
            signature.has(id) || self.set_of(id).is_some_and(|set| self.store.set_row(set, entity).is_some())
        })
    }

    /// The next rows of a table, from `start` on, that match and lie side by side: start and number. Without a query
    /// all rows match.
    fn next_run(&self, query: Option<&DynamicQuery>, table: TableId, start: usize) -> Option<(usize, usize)> {
        let rows = &self.store.table_entities(table)[start..];
        let Some(query) = query else { return (!rows.is_empty()).then_some((start, rows.len())) };
        let signature = self.archetypes.signature(self.archetypes.of_table(table));
        let keeps = |&entity: &Entity| self.keeps(query, signature, entity);
        let skipped = rows.iter().position(keeps)?;
        let len = rows[skipped..].iter().take_while(|&entity| keeps(entity)).count();
        Some((start + skipped, len))
    }

    /// The shortest set of a component that every match has, where it is shorter than `rows`.
    fn driver(&self, query: &DynamicQuery, rows: usize) -> Option<&'w [Entity]> {
        let sets = query.required().iter().filter_map(|id| self.set_of(id));
        let shortest = sets.map(|set| self.store.set_entities(set)).min_by_key(|entities| entities.len())?;
        (shortest.len() < rows).then_some(shortest)
    }
}

impl DynamicQuery {
    /// The archetypes that may match, and whether each of their entities has to be asked as well.
    fn candidates<'w>(
        &self,
        queries: &'w QueryCache,
        archetypes: &Archetypes,
        components: &Components,
    ) -> (&'w [ArchetypeId], bool) {
        let part = self.table_part(components.sparse());
        let filter = part.as_ref().map_or(self.filter(), Self::filter);
        (queries.matches(filter, archetypes).archetypes(), part.is_some())
    }

    /// Reads the matching rows of tables, in order of their creation. A table whose rows all match is given as a
    /// whole. Where sparse components decide, each run of matching rows that lie side by side comes for itself.
    /// Entities without a row are in no table; [`DynamicQuery::entities`] has them all.
    pub fn tables<'w>(&self, world: &'w World) -> impl Iterator<Item = DynamicTable<'w>> + use<'w> {
        let this = self.enabled(&world.components);
        let (candidates, asks) = this.candidates(&world.queries, &world.archetypes, &world.components);
        let query = asks.then(|| this.into_owned());
        let lookup = Lookup::new(world);
        let mut tables = candidates.iter().filter_map(|&id| lookup.archetypes.table(id));
        let mut next: Option<(TableId, usize)> = None;
        std::iter::from_fn(move || {
            loop {
                let (table, from) = match next.take() {
                    Some(next) => next,
                    None => (tables.next()?, 0),
                };
                if let Some((start, len)) = lookup.next_run(query.as_ref(), table, from) {
                    next = Some((table, start + len));
                    let Lookup { store, components, .. } = lookup;
                    return Some(DynamicTable { store, components, table, start, len });
                }
            }
        })
    }

    /// Calls a function with the matching rows of tables, to be written, as [`DynamicQuery::tables`] gives them.
    pub fn for_each_table_mut(&self, world: &mut World, mut f: impl FnMut(DynamicTableMut<'_>)) {
        let World { store, archetypes, components, queries, .. } = world;
        let this = self.enabled(components);
        let (candidates, asks) = this.candidates(queries, archetypes, components);
        for table in candidates.iter().filter_map(|&id| archetypes.table(id)) {
            let mut from = 0;
            // The function changes values only, so the runs that are left stay what they are.
            loop {
                let lookup = Lookup { store, archetypes, components };
                let Some((start, len)) = lookup.next_run(asks.then_some(&*this), table, from) else { break };
                f(DynamicTableMut { store, components, table, start, len });
                from = start + len;
            }
        }
    }

    /// The entities that match: those with rows table by table, then those without a row. Where every match has a
    /// sparse component whose set is shorter than those tables, they come in the order of the shortest such set.
    pub fn entities<'w>(&self, world: &'w World) -> impl Iterator<Item = Entity> + use<'w> {
        let this = self.enabled(&world.components);
        let (candidates, asks) = this.candidates(&world.queries, &world.archetypes, &world.components);
        let lookup = Lookup::new(world);
        let tables = candidates.iter().filter_map(|&id| lookup.archetypes.table(id));
        let visits_rowless = candidates.contains(&ArchetypeId::EMPTY);
        let mut driver = None;
        if asks {
            let rows: usize = tables.clone().map(|table| lookup.store.table_len(table)).sum();
            let rowless = if visits_rowless { world.store.entities().rowless_len() } else { 0 };
            driver = lookup.driver(&this, rows + rowless);
        }
        let query = asks.then(|| this.into_owned());
        let rowless = (driver.is_none() && visits_rowless).then(|| world.store.entities().rowless());
        let rows = driver.is_none().then(|| tables.flat_map(|table| lookup.store.table_entities(table)));
        let driven = driver.into_iter().flatten();
        let all = driven.chain(rows.into_iter().flatten()).chain(rowless.into_iter().flatten());
        all.copied().filter(move |&entity| query.as_ref().is_none_or(|query| query.contains(world, entity)))
    }

    /// How many entities match.
    pub fn count(&self, world: &World) -> usize {
        self.entities(world).count()
    }

    /// Whether an entity matches.
    pub fn contains(&self, world: &World, entity: Entity) -> bool {
        let Some(archetype) = world.archetype_of(entity) else { return false };
        let signature = world.archetypes.signature(archetype);
        let this = self.enabled(&world.components);
        if world.components.sparse().is_empty() {
            return this.filter().admits(archetype, &world.archetypes);
        }
        Lookup::new(world).keeps(&this, signature, entity)
    }
}
