//! Why a query finds what it finds.
//!
//! A query can show its plan, and tell for any entity which of its terms the entity fails. Nothing here is on a
//! hot path: it is asked when a result surprises.

use std::fmt::Write;

use phalanx_store::{Entity, Fetch};

use super::data::QueryData;
use super::error::QueryEntityError;
use super::filter::QueryFilter;
use super::state::Both;
use super::{Context, Filter, Query};
use crate::pool::PoolId;

impl Context<'_> {
    /// Why a query that fetches `C` does not visit an entity.
    #[cold]
    pub(super) fn why<C: Fetch>(
        &self,
        entity: Entity,
        place: Option<phalanx_store::Place>,
    ) -> QueryEntityError {
        let Some(place) = place else { return QueryEntityError::NoSuchEntity { entity } };
        let archetype = self.archetypes.of_table(place.table);
        let fails = match self.condition.first_failure(archetype, self.archetypes, self.components) {
            Some(condition) => condition.to_string(),
            None if C::DENSE => "a tick of change".to_owned(),
            None => "a sparse component, or a tick of change".to_owned(),
        };
        QueryEntityError::DoesNotMatch { entity, fails }
    }
}

impl<D: QueryData, F: QueryFilter> Query<'_, D, F> {
    /// What the query asks for, in normal form: queries that ask for the same have equal filters.
    pub fn filter(&self) -> &Filter {
        self.context.filter
    }

    /// Which term an entity fails; `None` when the query visits it.
    pub fn why_not(&self, entity: Entity) -> Option<QueryEntityError> {
        self.as_readonly().into_get(entity).err()
    }

    /// The query's plan in words: terms, condition, tables in the order of their visit with their rows.
    pub fn explain(&self) -> String {
        let mut terms = Vec::new();
        D::terms(&mut terms);
        let terms: Vec<String> = terms.into_iter().map(|term| term.text).collect();
        let mut text = String::new();
        let rows = match (<Both<D, F> as Fetch>::DENSE, F::ARCHETYPAL) {
            (true, true) => "no check per row",
            (true, false) => "row ticks are checked per row",
            (false, _) if self.view.is_set_driven() => {
                "led by the smallest sparse set, tables are looked up per entity"
            }
            (false, _) => "led by tables, sparse sets are looked up per row",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "data:   {}", terms.join(", "));
        let _ = writeln!(text, "where:  {} ({rows})", self.context.condition);
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
