//! Why an entity does not meet a condition, asked without a query.
//!
//! Systems tell the conditions of their queries ([`SystemView`](crate::schedule::SystemView)); tools ask here which parts
//! of one an entity fails.

use phalanx_store::{AnyColId, Entity};

use super::World;
use crate::query::Condition;

impl World {
    /// The parts of a condition that an entity does not meet, in the order they were written; `None` when it is dead.
    ///
    /// A component that disables the entity, and that the condition does not mention, counts as a part that is not met.
    /// Whether a component was changed or added is no part of a condition.
    pub fn unmet<'c>(&'c self, condition: &'c Condition, entity: Entity) -> Option<Vec<&'c Condition>> {
        let archetype = self.archetype_of(entity)?;
        let (signature, pool) = (self.archetypes.signature(archetype), self.archetypes.pool_of(archetype));
        let has = |key: AnyColId| match self.archetypes.pools().by_key(key) {
            Some(asked) => asked == pool,
            None => {
                let id = self.components.by_key(key);
                id.is_some_and(|id| signature.has(id) || self.has_sparse(entity, id))
            }
        };
        let hides = |part: &&Condition| match part {
            Condition::Without(key, _) => !condition.mentions(*key) && has(*key),
            _ => false,
        };
        let hidden = self.disabling_conditions.iter().filter(hides);
        Some(condition.failures(&has).into_iter().chain(hidden).collect())
    }

    /// How often a single entity went from one archetype to another so far.
    pub fn moves(&self) -> u64 {
        self.store.moves()
    }
}
