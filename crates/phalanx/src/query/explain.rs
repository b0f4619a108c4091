//! Why a query finds what it finds.
//!
//! A query can show its plan, and tell for any entity which of its terms the entity fails. Nothing here is on a
//! hot path: it is asked when a result surprises.

use std::fmt::Write;

use phalanx_store::{Entities, Entity, Fetch, Sets};

use super::data::{QueryData, written};
use super::error::QueryEntityError;
use super::filter::QueryFilter;
use super::state::Both;
use super::{Context, Filter, Query};
use crate::pool::PoolId;
use crate::registry::ComponentInfo;

impl Context<'_> {
    /// Why a query does not visit an entity.
    #[inline(always)]
    pub(super) fn why(&self, entity: Entity, entities: &Entities, sets: Sets<'_>) -> QueryEntityError {
        // An error that a call returns as it is lies where the result of the lookup lies; the compiler would ask it anew
        // whether it is one, and with it each item that was found.
        self.mismatch(entity, entities, sets).unwrap_or(QueryEntityError::NoSuchEntity { entity })
    }

    /// Why a query does not visit a living entity; `None` for a dead one.
    #[cold]
    #[inline(never)]
    fn mismatch(&self, entity: Entity, entities: &Entities, sets: Sets<'_>) -> Option<QueryEntityError> {
        let location = entities.locate(entity)?;
        let archetype = self.archetypes.of_table(location.table);
        let (signature, pool) = (self.archetypes.signature(archetype), self.archetypes.pool_of(archetype));
        let has = |key| match self.archetypes.pools().by_key(key) {
            Some(asked) => asked == pool,
            None => self.components.by_key(key).is_some_and(|id| signature.has(id)) || sets.has(key, entity),
        };
        let fails = match self.asked.condition.first_failure(&has) {
            Some(condition) => condition.to_string(),
            None => "a tick of change".to_owned(),
        };
        Some(QueryEntityError::DoesNotMatch { entity, fails })
    }
}

impl<D: QueryData, F: QueryFilter> Query<'_, '_, D, F> {
    /// What the query asks for, in normal form: queries that ask for the same have equal filters.
    pub fn filter(&self) -> &Filter {
        self.context.asked.filter()
    }

    /// Which term an entity fails; `None` when the query visits it.
    pub fn why_not(&self, entity: Entity) -> Option<QueryEntityError> {
        self.as_readonly().get_inner(entity).err()
    }

    /// What drives the walk, in words.
    fn driver(&self) -> String {
        let Some((mut columns, entities)) = self.view.driver_set() else {
            return "driven by tables, sparse sets are looked up per row".to_owned();
        };
        let owner = columns.find_map(|column| self.context.components.of_column(column));
        let name = owner.map_or("a component not met yet", ComponentInfo::name);
        format!(
            "driven by the sparse set of {name} with {} rows, tables are looked up per entity",
            entities.len()
        )
    }

    /// The query's plan in words: terms, condition, what drives the walk, tables in the order of their visit with
    /// their rows.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        let rows = match (<Both<D, F> as Fetch>::DENSE, F::ARCHETYPAL) {
            (true, true) => "no check per row".to_owned(),
            (true, false) => "row ticks are checked per row".to_owned(),
            (false, _) => self.driver(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "data:   {}", written::<D>());
        let _ = writeln!(text, "where:  {} ({rows})", self.context.asked.condition);
        let _ = writeln!(
            text,
            "visits: {} of {} archetypes",
            self.view.tables().count(),
            self.context.archetypes.len()
        );
        for (table, len) in self.view.tables() {
            let (archetypes, components) = (self.context.archetypes, self.context.components);
            let id = archetypes.of_table(table);
            let names: Vec<&str> =
                archetypes.signature(id).iter().map(|id| components.info(id).name()).collect();
            let pool = match archetypes.pools().record(archetypes.pool_of(id)) {
                general if general.id() == PoolId::GENERAL => String::new(),
                pool => format!(" in {}", pool.name()),
            };
            let _ = writeln!(text, "  {len:>8} rows of {{{}}}{pool}", names.join(", "));
        }
        text
    }
}
