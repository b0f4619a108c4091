//! The keys of metadata, and the names of columns.
//!
//! ```text
//!   entity        the ids, as the numbers of `Entity::to_bits`
//!   Health        a component with one value; or, where all fields can be null, whether it is there: tags
//!   Health.max    a field of a component
//! ```

use std::collections::HashMap;

/// The column of entity ids.
pub const ENTITY_COLUMN: &str = "entity";
/// The column of histories that says when a row was written.
pub const TICK_COLUMN: &str = "tick";
/// Schema: the tick of the world.
pub const TICK: &str = "phalanx.tick";
/// Schema: followed by a component's name, its version.
pub const VERSION: &str = "phalanx.version.";
/// Field: the full name of the component.
pub const COMPONENT: &str = "phalanx.component";
/// Field: the name of the component's field; [`VALUE`] or [`PRESENCE`] where the column is none.
pub const FIELD: &str = "phalanx.field";
/// Field: what the column's values are, where Arrow's type does not tell: [`ENTITY`].
pub const TYPE: &str = "phalanx.type";
/// Field: the storage of a component that was described at run time.
pub const SCHEMA: &str = "phalanx.schema";
/// The type of columns whose numbers are entities.
pub const ENTITY: &str = "entity";
/// Stands for the component as one value.
pub const VALUE: &str = "";
/// Stands for whether the component is there.
pub const PRESENCE: &str = "?";

/// A name for each component that is short where it can be: the last part of its path, unless two share it.
pub(crate) fn short<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let last = |name: &'n str| match name.contains('<') {
        true => name,
        false => name.rsplit("::").next().unwrap_or(name),
    };
    let mut count: HashMap<&str, usize> = HashMap::from([(ENTITY_COLUMN, 1), (TICK_COLUMN, 1)]);
    names.iter().for_each(|name| *count.entry(last(name)).or_default() += 1);
    names.iter().map(|name| if count[last(name)] == 1 { last(name) } else { *name }).collect()
}
