//! Export and import as methods of a world, which keeps the list of types as a resource.

use arrow_array::RecordBatch;
use phalanx::query::DynamicQuery;
use phalanx::{Entity, World};

use crate::error::ArrowError;
use crate::export::{Export, Exported};
use crate::import::Import;
use crate::types::ArrowTypes;

/// Record batches of a world, and back. The types come from the resource [`ArrowTypes`], if there is one.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::query::DynamicQuery;
/// use phalanx_arrow::{ArrowTypes, ArrowWorld};
///
/// #[derive(Component, serde::Serialize, serde::Deserialize, PartialEq, Debug)]
/// #[component(save)]
/// enum Faction { Red, Blue }
///
/// let types = ArrowTypes::new().with::<Faction>();
/// let mut world = World::new();
/// world.insert_resource(types.clone());
/// world.spawn(Faction::Blue);
/// let exported = world.record_batches(&DynamicQuery::default()).unwrap();
///
/// let mut other = World::new();
/// other.insert_resource(types);
/// let entities = other.spawn_from(&exported.batches[0]).unwrap();
/// assert_eq!(other.get::<Faction>(entities[0]), Some(&Faction::Blue));
/// ```
pub trait ArrowWorld {
    /// The entities that a query matches, with all components that can be exported; see [`Export`] for more.
    ///
    /// # Errors
    /// When Arrow refuses the columns, which is a defect.
    fn record_batches(&self, query: &DynamicQuery) -> Result<Exported, ArrowError>;

    /// Spawns an entity for each row of a batch, with new ids; see [`spawn_from`](crate::spawn_from), and [`Import`] for more.
    ///
    /// # Errors
    /// When a component is unknown or a row cannot become a value; then the world has no entity more.
    fn spawn_from(&mut self, batch: &RecordBatch) -> Result<Vec<Entity>, ArrowError>;
}

impl ArrowWorld for World {
    fn record_batches(&self, query: &DynamicQuery) -> Result<Exported, ArrowError> {
        let none = ArrowTypes::new();
        let types = self.get_resource::<ArrowTypes>().unwrap_or(&none);
        Export::new(types).matching(query.clone()).run(self)
    }

    fn spawn_from(&mut self, batch: &RecordBatch) -> Result<Vec<Entity>, ArrowError> {
        let types = self.get_resource::<ArrowTypes>().cloned().unwrap_or_default();
        Import::new(&types).spawn(self, batch)
    }
}
