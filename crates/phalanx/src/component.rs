//! What a component is: a Rust type, or a run-time schema, that owns columns.
//!
//! [`Queryable`] is what `&T` and `&mut T` ask for in a query; components implement it, and so do the
//! field markers of `layout = "soa"` components (`position::x`). [`AnyComponent`] adds how a value is taken
//! apart into column values and put together again. [`Component`] is a component kept as whole values, so that
//! queries yield references to it: the bound of generic systems. All are written by `#[derive(Component)]`.
//!
//! ```text
//!   Position { x, y }  --into_column_values-->  (Col(x), Col(y))     two columns
//!   Health(f32)        --into_column_values-->  Col(Health)          one column of whole values
//!   Frozen             --into_column_values-->  Col(Frozen)          a column without memory: a tag
//! ```
//!
//! This file knows nothing of worlds: ids given to components by a world live in `registry`.

use crate::bundle::Bundle;
use crate::storage::Storage;
use crate::tracking::{Mut, Tracked};
use phalanx_store::{AnyColId, ColId, Fetch, ReadFetch, ThreadSafe, Tick, Values};

pub use crate::registry::{ComponentId, ComponentInfo, Components};
pub(crate) use cells::Cells;
pub(crate) use copying::{Boxed, Copier};
pub use phalanx_derive::Component;

pub use copying::{CopyByClone, CopyNothing, CopyProbe, EntityMap, EntityMapper, MapEntities};
pub(crate) use descriptor::{Attached, DeclareSet};
pub use descriptor::{Descriptor, FieldDescriptor, Layout, Requirement, Track};
pub(crate) use disabling::disabling_name;
pub use disabling::{Disabled, DisabledByTree, DisabledTree};
#[cfg(feature = "serde")]
pub use saving::{ComponentSaving, Rest, Saved};
#[cfg(feature = "serde")]
pub(crate) use saving::{LeftOut, Leftover, LoadedColumns};

mod cells;
mod copying;
mod descriptor;
mod disabling;
#[cfg(feature = "serde")]
mod saving;

/// Something a query can read as `&T` and write as `&mut T`: a component, or one field of one.
///
/// Derive [`Component`] instead of writing this by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component, nor a field of one",
    label = "cannot be read or written by a query",
    note = "add `#[derive(Component)]` to `{Self}`"
)]
pub trait Queryable: 'static {
    /// The component the columns belong to; for a component, itself.
    type Owner: AnyComponent;
    /// The columns a shared access visits.
    type Read: ReadFetch;
    /// The columns an exclusive access visits.
    type Write: Fetch<ReadOnly = Self::Read, Ids = <Self::Read as Fetch>::Ids>;
    /// One row, shared.
    type Ref<'a>;
    /// One row, exclusive.
    type Mut<'a>;
    /// A run of rows, shared.
    type Slice<'a>;
    /// A run of rows, exclusive.
    type SliceMut<'a>;

    /// The column ids, of both kinds of access.
    fn ids() -> <Self::Read as Fetch>::Ids;
    /// Turns what the store yields for a row into what the user sees.
    fn wrap_ref<'a>(item: <Self::Read as Fetch>::Item<'a>) -> Self::Ref<'a>;
    /// As [`Queryable::wrap_ref`], exclusive.
    /// What came after `since` counts as new.
    fn wrap_mut<'a>(item: <Self::Write as Fetch>::Item<'a>, since: Tick) -> Self::Mut<'a>;
    /// Turns what the store yields for a run of rows into what the user sees.
    fn wrap_slice<'a>(slices: <Self::Read as Fetch>::Slices<'a>) -> Self::Slice<'a>;
    /// As [`Queryable::wrap_slice`], exclusive.
    fn wrap_slice_mut<'a>(slices: <Self::Write as Fetch>::Slices<'a>) -> Self::SliceMut<'a>;
}

/// A component whose values are kept whole: queries yield `&T` and [`Mut<T>`](Mut) for it.
///
/// Derived: `#[derive(Component)]`. The attributes `#[component(..)]` choose how it is stored, and
/// `#[require(..)]` names components that are added with it when missing. This is the bound that generic
/// systems need, whatever storage and tracking the type chooses:
///
/// ```
/// use phalanx::prelude::*;
///
/// fn clear<T: Component + Default>(mut all: Query<&mut T>) {
///     for mut value in &mut all {
///         *value = T::default();
///     }
/// }
/// # #[derive(Component, Default, PartialEq, Debug)] struct Score(u32);
/// # let mut app = App::new();
/// # let e = app.world_mut().spawn(Score(3)).id();
/// # app.world_mut().run_system_once(clear::<Score>).unwrap();
/// # assert_eq!(app.world().get::<Score>(e), Some(&Score(0)));
/// ```
///
/// A component with `layout = "soa"` is an [`AnyComponent`] only, because its rows are structs of references.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component of whole values",
    label = "expected a component that queries lend as `&T` and `Mut<T>`",
    note = "add `#[derive(Component)]` to `{Self}`",
    note = "a component with `layout = \"soa\"` is kept by fields: ask for `AnyComponent` to allow those, too",
    note = "immutable components, and links as `ChildOf`, are not lent as `Mut<T>`: insert a new value instead"
)]
pub trait Component:
    AnyComponent
    + Tracked
    + for<'a> Queryable<
        Ref<'a> = &'a Self,
        Mut<'a> = Mut<'a, Self>,
        Slice<'a> = &'a [Self],
        SliceMut<'a> = &'a mut [Self],
    >
{
}

/// A type that entities can carry, kept as whole values or by fields.
///
/// Derived: `#[derive(Component)]`.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Component)]
/// #[component(layout = "soa")]
/// struct Position { x: f32, y: f32 }
///
/// fn count<T: AnyComponent>(world: &World) -> usize {
///     world.view_filtered::<Entity, With<T>>().count()
/// }
///
/// let mut world = World::new();
/// world.spawn(Position { x: 1.0, y: 2.0 });
/// assert_eq!(count::<Position>(&world), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component",
    label = "expected a component",
    note = "add `#[derive(Component)]` to `{Self}`"
)]
pub trait AnyComponent: Bundle + Queryable<Owner = Self> + ThreadSafe + Sized {
    /// The values of one row, column by column.
    type ColumnValues: Values;
    /// Where the component lives: [`TableStorage`](crate::storage::TableStorage) or
    /// [`SparseStorage`](crate::storage::SparseStorage).
    type Storage: Storage;

    /// The column ids of [`AnyComponent::ColumnValues`].
    fn column_ids() -> <Self::ColumnValues as Values>::Ids;
    /// The component's first column, which stands for the component before a world gave it an id.
    fn key() -> AnyColId;
    /// Takes the value apart. `now` is the tick written by components with row tracking.
    fn into_column_values(self, now: Tick) -> Self::ColumnValues;
    /// Puts a value together again.
    fn from_column_values(values: Self::ColumnValues) -> Self;
    /// Tells a world about the type: name, columns, tracking, requirements.
    fn describe(descriptor: &mut Descriptor);

    /// Whether values hold entities.
    const HAS_ENTITIES: bool = false;
    /// A copy of the value in a row; `None` when the type cannot be cloned.
    fn copy_row(_: Self::Ref<'_>) -> Option<Self> {
        None
    }
    /// A copy; `None` when the type cannot be cloned.
    fn copy_value(&self) -> Option<Self> {
        None
    }
    /// Replaces the entities that the value holds by those that stand for them.
    fn map_entities(&mut self, _: &mut dyn EntityMapper) {}
}

/// A component that keeps the ticks of each row: `#[component(track = "row")]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep ticks per row",
    label = "`Changed` and `Added` need row ticks",
    note = "add `#[component(track = \"row\")]` to `{Self}`"
)]
pub trait RowTracked: AnyComponent {
    /// The column of the ticks at which each row received the component.
    fn added_id() -> ColId<Tick>;
    /// The column of the ticks at which each row was last written.
    fn changed_id() -> ColId<Tick>;
}
