//! A live world as tables of DataFusion: one per component, with a column `entity` and one per field.
//!
//! ```text
//!   Health { hp }     table health    entity | hp
//!   enum Faction      table faction   entity | faction
//! ```
//!
//! A query reads the world when it is run, not when the table was made: each scan locks the world, exports the columns of one
//! component, and lets go. Rows of one scan are of one moment; a join of two components is, if the world is not stepped
//! between.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::Session;
use datafusion::common::TableReference;
use datafusion::datasource::{MemTable, TableProvider, TableType};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use phalanx::World;
use phalanx::registry::ComponentId;
use phalanx_arrow::names::{ENTITY_COLUMN, FIELD};
use phalanx_arrow::{ArrowTypes, Export};

/// A world that systems and queries share.
pub type SharedWorld = Arc<RwLock<World>>;

/// One component of a world as a table.
pub struct ComponentTable {
    world: SharedWorld,
    types: ArrowTypes,
    component: ComponentId,
    name: String,
    schema: SchemaRef,
}

impl ComponentTable {
    /// The component's table; none where no entity has the component yet, or nothing of it can be exported.
    fn new(
        world: &SharedWorld,
        types: &ArrowTypes,
        component: ComponentId,
        name: &str,
    ) -> Result<Option<Self>> {
        let mut table = Self {
            world: Arc::clone(world),
            types: types.clone(),
            component,
            name: name.to_owned(),
            schema: Arc::new(Schema::empty()),
        };
        let found = table.read()?;
        let Some(batch) = found.first().filter(|batch| batch.num_columns() > 1) else { return Ok(None) };
        // Whether there are nulls depends on the moment.
        let fields = batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.as_ref().clone().with_nullable(true))
            .collect::<Vec<Field>>();
        table.schema = Arc::new(Schema::new(fields));
        Ok(Some(table))
    }

    /// The rows of this moment, with columns named as in SQL.
    fn read(&self) -> Result<Vec<RecordBatch>> {
        let world = self.world.read().unwrap_or_else(PoisonError::into_inner);
        let with = world.query_builder().with(self.component).build();
        let exported = Export::new(&self.types).matching(with).components([self.component]).run(&world);
        let exported = exported.map_err(|error| DataFusionError::External(Box::new(error)))?;
        let named = |field: &Field| {
            let part = field.metadata().get(FIELD).map_or(ENTITY_COLUMN, String::as_str);
            let name = if part.is_empty() { self.name.clone() } else { part.to_lowercase() };
            Field::new(name, field.data_type().clone(), true)
        };
        let fields: Vec<Field> = exported.schema.fields().iter().map(|field| named(field)).collect();
        let schema = Arc::new(Schema::new(fields));
        let renamed =
            |batch: &RecordBatch| Ok(RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec())?);
        exported.batches.iter().map(renamed).collect()
    }
}

impl fmt::Debug for ComponentTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentTable").field("name", &self.name).finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl TableProvider for ComponentTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rows = MemTable::try_new(self.schema(), vec![self.read()?])?;
        rows.scan(state, projection, filters, limit).await
    }
}

/// Registers a table for each component that an entity has, by its name in lower case, as SQL reads names without quotes.
/// Returns the names.
pub fn register(context: &SessionContext, world: &SharedWorld, types: &ArrowTypes) -> Result<Vec<String>> {
    let known: Vec<(ComponentId, String)> = {
        let world = world.read().unwrap_or_else(PoisonError::into_inner);
        let short = |name: &str| name.rsplit([':', '.']).next().unwrap_or(name).to_lowercase();
        world.components().iter().map(|info| (info.id(), short(info.name()))).collect()
    };
    let mut names = Vec::new();
    for (component, name) in known {
        if let Some(table) = ComponentTable::new(world, types, component, &name)? {
            context.register_table(TableReference::bare(name.as_str()), Arc::new(table))?;
            names.push(name);
        }
    }
    Ok(names)
}
