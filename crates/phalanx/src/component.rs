//! What a component is: a Rust type, or a run-time schema, that owns columns.
//!
//! [`Queryable`] is what `&T` and `&mut T` ask for in a query; components implement it, and so do the
//! field markers of `layout = "soa"` components (`position::x`). [`Component`] adds how a value is taken
//! apart into column values and put together again. Both are written by `#[derive(Component)]`.
//!
//! ```text
//!   Position { x, y }  --into_leaves-->  (Col(x), Col(y))     two columns
//!   Health(f32)        --into_leaves-->  Col(Health)          one column of whole values
//!   Frozen             --into_leaves-->  Col(Frozen)          a column without memory: a tag
//! ```
//!
//! This file knows nothing of worlds: ids given to components by a world live in `registry`.

use crate::storage::Storage;
use phalanx_store::{AnyColId, ColId, Fetch, ReadFetch, Tick, Values};

pub(crate) use descriptor::DeclareSet;
pub use descriptor::{Descriptor, FieldDescriptor, Layout, Requirement, Track};

mod descriptor;

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
    type Owner: Component;
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
    fn wrap_mut<'a>(item: <Self::Write as Fetch>::Item<'a>) -> Self::Mut<'a>;
    /// Turns what the store yields for a run of rows into what the user sees.
    fn wrap_slice<'a>(slices: <Self::Read as Fetch>::Slices<'a>) -> Self::Slice<'a>;
    /// As [`Queryable::wrap_slice`], exclusive.
    fn wrap_slice_mut<'a>(slices: <Self::Write as Fetch>::Slices<'a>) -> Self::SliceMut<'a>;
}

/// A type that entities can carry.
///
/// Derived: `#[derive(Component)]`. The attributes `#[component(..)]` choose how it is stored, and
/// `#[require(..)]` names components that are added with it when missing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component",
    label = "expected a component",
    note = "add `#[derive(Component)]` to `{Self}`"
)]
pub trait Component: Queryable<Owner = Self> + Send + Sync + Sized {
    /// The values of one row, column by column.
    type Leaves: Values;
    /// Where the component lives: [`TableStorage`](crate::storage::TableStorage) or
    /// [`SparseStorage`](crate::storage::SparseStorage).
    type Storage: Storage;

    /// The column ids of [`Component::Leaves`].
    fn leaf_ids() -> <Self::Leaves as Values>::Ids;
    /// The component's first column, which stands for the component before a world gave it an id.
    fn key() -> AnyColId;
    /// Takes the value apart. `now` is the tick written by components with row tracking.
    fn into_leaves(self, now: Tick) -> Self::Leaves;
    /// Puts a value together again.
    fn from_leaves(leaves: Self::Leaves) -> Self;
    /// Tells a world about the type: name, columns, tracking, requirements.
    fn describe(descriptor: &mut Descriptor);
}

/// A component that keeps the ticks of each row: `#[component(track = "row")]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep ticks per row",
    label = "`Changed` and `Added` need row ticks",
    note = "add `#[component(track = \"row\")]` to `{Self}`"
)]
pub trait RowTracked: Component {
    /// The column of the ticks at which each row received the component.
    fn added_id() -> ColId<Tick>;
    /// The column of the ticks at which each row was last written.
    fn changed_id() -> ColId<Tick>;
}
