//! How values of components get from one entity to others: copies, and the entities that values name.
//!
//! The derive asks the compiler whether a type, or each field of one, can be cloned ([`CopyProbe`]), and finds the
//! fields that hold entities. A [`Copier`] is the same without the type: it takes the value of an entity and becomes an
//! [`Init`], which makes as many copies as are wanted; and it takes a boxed value apart into columns. Nothing here knows
//! worlds.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::marker::PhantomData;

use hashbrown::HashMap;
use phalanx_store::{Entity, Existing, Init, Store, Tick, Values};

use super::{AnyComponent, Cells};
use crate::bundle::Bundle;
use crate::registry::{ComponentId, Components, RegisterError};
use crate::storage::{SetEntries, SparseParts};

/// Says which entity stands for another one: in a clone of a tree, in another world.
pub trait EntityMapper {
    /// The entity that stands for `source`; itself when no other does.
    fn get_mapped(&mut self, source: Entity) -> Entity;
    /// Lets `target` stand for `source`.
    fn set_mapped(&mut self, source: Entity, target: Entity);
}

impl EntityMapper for () {
    fn get_mapped(&mut self, source: Entity) -> Entity {
        source
    }
    fn set_mapped(&mut self, _: Entity, _: Entity) {}
}

impl EntityMapper for (Entity, Entity) {
    fn get_mapped(&mut self, source: Entity) -> Entity {
        if source == self.0 { self.1 } else { source }
    }
    fn set_mapped(&mut self, _: Entity, _: Entity) {}
}

impl EntityMapper for &mut dyn EntityMapper {
    fn get_mapped(&mut self, source: Entity) -> Entity {
        (**self).get_mapped(source)
    }
    fn set_mapped(&mut self, source: Entity, target: Entity) {
        (**self).set_mapped(source, target);
    }
}

/// Which entity stands for which.
pub type EntityMap = HashMap<Entity, Entity>;

impl EntityMapper for EntityMap {
    fn get_mapped(&mut self, source: Entity) -> Entity {
        self.get(&source).copied().unwrap_or(source)
    }
    fn set_mapped(&mut self, source: Entity, target: Entity) {
        self.insert(source, target);
    }
}

/// A type that holds entities, which are others in a copy.
///
/// Fields of a component that are an [`Entity`], or an `Option`, `Vec` or array of them, are mapped by themselves; mark
/// others with `#[entities]`.
///
/// ```
/// use phalanx::component::{EntityMapper, MapEntities};
/// use phalanx::prelude::*;
///
/// #[derive(Clone)]
/// struct Path { from: Entity, to: Entity }
///
/// impl MapEntities for Path {
///     fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
///         self.from = mapper.get_mapped(self.from);
///         self.to = mapper.get_mapped(self.to);
///     }
/// }
///
/// #[derive(Component, Clone)]
/// struct Walks {
///     #[entities]
///     path: Path,
///     speed: f32,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which entities it holds",
    note = "implement `MapEntities` for `{Self}`, or take `#[entities]` away"
)]
pub trait MapEntities {
    /// Replaces every entity by the one that stands for it.
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M);
}

impl MapEntities for Entity {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        *self = mapper.get_mapped(*self);
    }
}

impl MapEntities for () {
    fn map_entities<M: EntityMapper>(&mut self, _: &mut M) {}
}

macro_rules! each_item {
    ($(($($params:tt)*) $type:ty;)*) => {
        $(impl<T: MapEntities, $($params)*> MapEntities for $type {
            fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
                self.iter_mut().for_each(|item| item.map_entities(mapper));
            }
        })*
    };
}
each_item! {
    () Option<T>;
    () Vec<T>;
    () VecDeque<T>;
    (const N: usize) [T; N];
}

impl<T: MapEntities + Ord> MapEntities for BTreeSet<T> {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        let mapped = |mut item: T| {
            item.map_entities(mapper);
            item
        };
        *self = std::mem::take(self).into_iter().map(mapped).collect();
    }
}

impl<K: MapEntities + Ord, V: MapEntities> MapEntities for BTreeMap<K, V> {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        let mapped = |(mut key, mut value): (K, V)| {
            key.map_entities(mapper);
            value.map_entities(mapper);
            (key, value)
        };
        *self = std::mem::take(self).into_iter().map(mapped).collect();
    }
}

impl<A: MapEntities, B: MapEntities> MapEntities for (A, B) {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.0.map_entities(mapper);
        self.1.map_entities(mapper);
    }
}

/// Asks the compiler, where a type is known, whether it can be cloned.
#[doc(hidden)]
pub struct CopyProbe<T>(PhantomData<fn() -> T>);

impl<T> CopyProbe<T> {
    #[doc(hidden)]
    pub const NEW: Self = Self(PhantomData);
}

/// The answer for types that can.
#[doc(hidden)]
pub trait CopyByClone<T> {
    fn copy(&self, value: &T) -> Option<T>;
}
impl<T: Clone> CopyByClone<T> for CopyProbe<T> {
    fn copy(&self, value: &T) -> Option<T> {
        Some(value.clone())
    }
}

/// The answer for all others.
#[doc(hidden)]
pub trait CopyNothing<T> {
    fn copy(&self, value: &T) -> Option<T>;
}
impl<T> CopyNothing<T> for &CopyProbe<T> {
    fn copy(&self, _: &T) -> Option<T> {
        None
    }
}

/// A value whose type is known at run time only.
pub(crate) type Boxed = Box<dyn Any + Send + Sync>;

/// How the value of one component is copied and moved, whatever its type.
#[derive(Clone, Copy)]
pub(crate) struct Copier {
    /// What makes copies of an entity's value, with its entities mapped. `None` when the entity lacks the component, or
    /// its type cannot be cloned.
    pub(crate) capture: fn(&Store, Entity, &mut dyn EntityMapper) -> Option<Init>,
    /// Whether values hold entities.
    pub(crate) has_entities: bool,
    /// Registers the component.
    pub(crate) register: fn(&mut Components) -> Result<ComponentId, RegisterError>,
    /// Takes a value of the component's type apart: into cells, or into its set in the place of the one that is there.
    pub(crate) unbox: fn(Boxed, &mut Store, &SetEntries, Entity, &mut Cells),
}

impl Copier {
    pub(crate) fn of<C: AnyComponent>() -> Self {
        Self {
            capture: capture::<C>,
            has_entities: C::HAS_ENTITIES,
            register: Components::register::<C>,
            unbox: unbox::<C>,
        }
    }
}

// Functions and not closures, for which a second function each would be compiled that calls it; and no `?`, which is
// compiled for each type as well.

#[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
fn capture<C: AnyComponent>(store: &Store, entity: Entity, mapper: &mut dyn EntityMapper) -> Option<Init> {
    let Some(row) = store.get::<C::Read>(entity, C::ids()) else { return None };
    let Some(mut value) = C::copy_row(C::wrap_ref(row)) else { return None };
    value.map_entities(mapper);
    Some(Init::new(C::column_ids(), move |now: Tick| match value.copy_value() {
        Some(copy) => copy.into_column_values(now),
        None => unreachable!("what was copied once is copied again"),
    }))
}

fn unbox<C: AnyComponent>(
    value: Boxed,
    store: &mut Store,
    sets: &SetEntries,
    entity: Entity,
    cells: &mut Cells,
) {
    let Ok(value) = value.downcast::<C>() else { unreachable!("its type was asked") };
    let (values, sparse) = value.into_values(store.tick());
    if <C as Bundle>::Sparse::ANY {
        let Some(mut writer) = store.set_writer(entity) else { unreachable!("the entity was found alive") };
        let replaced = sparse.insert(&mut writer, sets, Existing::Replace);
        writer.finish();
        cells.leave_over(Some(replaced));
    }
    values.scatter(C::value_ids(), cells);
}
