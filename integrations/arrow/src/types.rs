//! The component types that an export can write and an import can make.

use std::collections::BTreeMap;

use arrow_array::Array;
use arrow_buffer::BooleanBuffer;
use phalanx::prelude::Resource;
use phalanx::registry::ComponentId;
use phalanx::save::SavedComponent;
use phalanx::world::CheckpointTable;
use phalanx::{Entity, World};

use crate::column::Column;
use crate::deserialize::Cell;
use crate::error::ValueError;

/// Types of components, by the names that worlds have for them.
///
/// Fields of `layout = "soa"` and of components that were described at run time are exported without being listed here,
/// and so are the numbers and texts of whole components. What is listed can have more: enums, arrays, lists, nested
/// structs, options; it has a version; and it can be made from a batch.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx_arrow::ArrowTypes;
///
/// #[derive(Component, serde::Serialize, serde::Deserialize)]
/// #[component(save)]
/// enum Faction { Red, Blue }
///
/// let types = ArrowTypes::new().with::<Faction>();
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct ArrowTypes {
    by_name: BTreeMap<String, TypeEntry>,
}

/// What is known of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypeEntry {
    pub(crate) version: u32,
    /// Appends the value of an entity; false when it has none.
    pub(crate) write: fn(&World, Entity, &mut Column) -> Result<bool, ValueError>,
    /// Appends the values of a block of a checkpoint.
    pub(crate) write_block:
        fn(&CheckpointTable<'_>, ComponentId, usize, &mut Column) -> Result<(), ValueError>,
    /// Makes the values of those rows that have the component; an error comes with its row.
    pub(crate) read: fn(&dyn Array, &BooleanBuffer) -> Result<Box<dyn Rows>, (usize, ValueError)>,
}

/// Values that wait for their entities, row by row.
pub(crate) trait Rows {
    /// Records that an entity gets the value of the next row, if that has one.
    fn insert_next(&mut self, world: &mut World, entity: Entity);
}

impl ArrowTypes {
    /// No types.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a type.
    #[must_use]
    pub fn with<C: SavedComponent>(mut self) -> Self {
        let mut probe = World::new();
        let id = probe.register_component::<C>();
        let name = probe.components().get_info(id).map_or("", |info| info.name()).to_owned();
        let entry = TypeEntry {
            version: C::VERSION,
            write: write::<C>,
            write_block: write_block::<C>,
            read: read::<C>,
        };
        self.by_name.insert(name, entry);
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<TypeEntry> {
        self.by_name.get(name).copied()
    }
}

fn write<C: SavedComponent>(world: &World, entity: Entity, column: &mut Column) -> Result<bool, ValueError> {
    let Some(row) = world.get::<C>(entity) else { return Ok(false) };
    let mut done = Ok(());
    C::with_value(row, &mut |value| done = value.serialize(&mut *column));
    done.map(|()| true)
}

fn write_block<C: SavedComponent>(
    table: &CheckpointTable<'_>,
    component: ComponentId,
    block: usize,
    column: &mut Column,
) -> Result<(), ValueError> {
    let rows = table.column::<C>(component, "", block).map_err(|error| ValueError(error.to_string()))?;
    rows.iter().try_for_each(|value| value.serialize(&mut *column))
}

fn read<C: SavedComponent>(
    array: &dyn Array,
    present: &BooleanBuffer,
) -> Result<Box<dyn Rows>, (usize, ValueError)> {
    let mut values: Vec<Option<C>> = Vec::with_capacity(present.len());
    for (row, present) in present.iter().enumerate() {
        let value = present.then(|| C::deserialize(Cell { array, row }));
        values.push(value.transpose().map_err(|error| (row, error))?);
    }
    Ok(Box::new(values.into_iter()))
}

impl<C: SavedComponent> Rows for std::vec::IntoIter<Option<C>> {
    fn insert_next(&mut self, world: &mut World, entity: Entity) {
        if let Some(value) = self.next().flatten() {
            world.commands().entity(entity).insert(value);
        }
    }
}
