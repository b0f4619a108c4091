//! Reading a checkpoint: its tables, block by block, with values that are shared and not copied.
//!
//! For tools that want the state of one moment for longer than the world stands still: exports, plots, other threads.

use std::fmt;

use phalanx_store::{Entity, Image, SharedRows, TableId};

use super::{Checkpoint, RestoreError, World};
use crate::pool::PoolId;
use crate::query::{ColumnError, DynamicQuery, find_column};
use crate::registry::{ComponentId, Components};
use crate::signature::Signature;

/// The rows of one archetype in a checkpoint, in blocks of up to 1,024.
#[derive(Clone, Copy)]
pub struct CheckpointTable<'c> {
    image: &'c Image,
    components: &'c Components,
    table: TableId,
    pool: PoolId,
    signature: &'c Signature,
}

impl Checkpoint {
    /// The tables of a checkpoint that have rows, in the order in which queries visited them.
    ///
    /// Entities without a row are in no table: those that have nothing, or sparse components alone.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Clone)]
    /// #[component(layout = "soa")]
    /// struct Position { x: f32, y: f32 }
    ///
    /// let mut world = World::new();
    /// let e = world.spawn(Position { x: 1.0, y: 2.0 }).id();
    /// let then = world.checkpoint();
    /// *world.get_mut::<Position>(e).unwrap().x = 9.0;
    ///
    /// let id = world.component_id::<Position>().unwrap();
    /// let table = then.tables(&world).unwrap().next().unwrap();
    /// let x = table.column::<f32>(id, "x", 0).unwrap();
    /// assert_eq!(*x, [1.0]);
    /// drop(then); // the rows stay
    /// assert_eq!(x.len(), 1);
    /// ```
    ///
    /// # Errors
    /// When the checkpoint is another world's, whose components are not known here.
    pub fn tables<'c>(
        &'c self,
        world: &'c World,
    ) -> Result<impl Iterator<Item = CheckpointTable<'c>>, RestoreError> {
        let state = &*self.0;
        if state.world != world.id {
            return Err(RestoreError::OtherWorld);
        }
        let (image, components) = (&*state.image, &world.components);
        let tables = state.archetypes.iter().map(move |(table, pool, signature)| CheckpointTable {
            image,
            components,
            table,
            pool,
            signature,
        });
        Ok(tables.filter(|table| table.blocks() > 0))
    }
}

impl CheckpointTable<'_> {
    /// The components of all its entities, sparse ones excepted.
    pub fn components(&self) -> impl Iterator<Item = ComponentId> + '_ {
        self.signature.iter()
    }

    /// Whether its entities have a component; of sparse ones a table knows nothing.
    pub fn contains(&self, component: ComponentId) -> bool {
        self.signature.has(component)
    }

    /// Whether a query matches its entities; `None` where the query asks for sparse components, which tables do not decide.
    pub fn matches(&self, query: &DynamicQuery) -> Option<bool> {
        let query = query.enabled(self.components);
        let decides = query.table_part(self.components.sparse()).is_none();
        decides.then(|| query.filter().matches(self.pool, self.signature))
    }

    /// How many blocks of rows there are.
    pub fn blocks(&self) -> usize {
        self.image.block_count(self.table)
    }

    /// The entities of a block; none where there is no such block.
    pub fn entities(&self, block: usize) -> impl Iterator<Item = Entity> + '_ {
        self.image.block_entities(self.table, block)
    }

    /// The values of a column in a block, by component and field; the field of a whole component is `""`. They are those of
    /// the checkpoint itself, and stay as long as they are held.
    ///
    /// # Errors
    /// When the table lacks the component, the component lacks the field, or the field is not a `T`.
    ///
    /// # Panics
    /// When there is no such block.
    pub fn column<T: Send + Sync + 'static>(
        &self,
        component: ComponentId,
        field: &str,
        block: usize,
    ) -> Result<SharedRows<T>, ColumnError> {
        let column = find_column::<T>(self.components, |_| self.contains(component), component, field)?;
        Ok(self.image.block_rows(self.table, column, block).expect("the table has such a block"))
    }
}

impl fmt::Debug for CheckpointTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckpointTable").field("blocks", &self.blocks()).finish_non_exhaustive()
    }
}
