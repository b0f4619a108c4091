//! How groups are written: `Own<(A, B)>`, `Get<(C,)>`, `Without<D>`.
//!
//! A [`Group`] is a small handle; what it stands for is kept by the world. The parts are tuples of sparse
//! components, which a group yields as slices when it owns them.

use std::marker::PhantomData;

use phalanx_store::{Fetch, ReadFetch, SetFetch, SetGroupId, Tick};

use crate::component::AnyComponent;
use crate::query::Without;
use crate::registry::{ComponentId, Components, RegisterError};
use crate::storage::{OwnableComponent, SparseComponent};

/// The components whose sets a group reorders, so that members come first.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] #[component(storage = "sparse")] struct Stunned(f32);
/// # #[derive(Component)] #[component(storage = "sparse")] struct Burning(f32);
/// let mut world = World::new();
/// let group = world.group::<Own<(Stunned,)>, Get<(Burning,)>, ()>()?; // orders the set of `Stunned` alone
/// world.spawn((Stunned(1.0), Burning(2.0)));
/// assert_eq!(group.len(&world), 1);
/// # Ok::<(), phalanx::group::GroupError>(())
/// ```
pub struct Own<T>(PhantomData<fn() -> T>);

/// The components that members have, whose sets keep their order.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] #[component(storage = "sparse")] struct Stunned(f32);
/// # #[derive(Component)] #[component(storage = "sparse")] struct Burning(f32);
/// let mut world = World::new();
/// let group = world.group::<Own<(Stunned,)>, Get<(Burning,)>, ()>()?; // orders the set of `Stunned` alone
/// world.spawn((Stunned(1.0), Burning(2.0)));
/// assert_eq!(group.len(&world), 1);
/// # Ok::<(), phalanx::group::GroupError>(())
/// ```
pub struct Get<T>(PhantomData<fn() -> T>);

/// A group of entities that have certain sparse components, kept up to date by the world that made it.
///
/// The handle is good for this group in this world alone: after the group was dissolved, and in any other world,
/// methods that return a `Result` fail, and the others panic.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] #[component(storage = "sparse")] struct Stunned(f32);
/// # #[derive(Component)] #[component(storage = "sparse")] struct Burning(f32);
/// let mut world = World::new();
/// let group = world.group::<Own<(Stunned, Burning)>, Get<()>, ()>()?; // kept up to date from now on
/// world.spawn((Stunned(1.0), Burning(2.0)));
/// world.spawn(Stunned(5.0));
/// let (stunned, burning) = group.slices_mut(&mut world); // equal, aligned slices
/// for (stunned, burning) in stunned.iter_mut().zip(burning) {
///     stunned.0 += burning.0;
/// }
/// assert_eq!(group.len(&world), 1);
/// # Ok::<(), phalanx::group::GroupError>(())
/// ```
pub struct Group<O, G = Get<()>, F = ()> {
    pub(crate) id: SetGroupId,
    terms: PhantomData<fn() -> (O, G, F)>,
}

impl<O, G, F> Group<O, G, F> {
    pub(crate) fn new(id: SetGroupId) -> Self {
        Self { id, terms: PhantomData }
    }
}

impl<O, G, F> Clone for Group<O, G, F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<O, G, F> Copy for Group<O, G, F> {}

/// The part of a group that names components: `Own<(A, B)>`, `Get<(A, B)>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no part of a group",
    label = "expected `Own<(..)>` or `Get<(..)>` with a tuple of sparse components",
    note = "a tuple also for one component, with a comma, `Own<(A,)>`, and for none, `Get<()>`"
)]
pub trait GroupParts: 'static {
    /// The columns, for reading.
    type Read: SetFetch + ReadFetch;
    /// The columns, for writing.
    type Write: SetFetch<ReadOnly = Self::Read, Ids = <Self::Read as Fetch>::Ids>;
    /// One member, shared.
    type Ref<'a>;
    /// One member, exclusive.
    type Mut<'a>;
    /// All members, shared.
    type Slices<'a>;
    /// All members, exclusive.
    type SlicesMut<'a>;

    /// The column ids.
    fn ids() -> <Self::Read as Fetch>::Ids;
    /// Registers the components, appending their ids.
    ///
    /// # Errors
    /// When a component cannot be registered.
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError>;
    /// Wraps one member.
    fn wrap_ref<'a>(item: <Self::Read as Fetch>::Item<'a>) -> Self::Ref<'a>;
    /// Wraps one member, exclusive.
    fn wrap_mut<'a>(item: <Self::Write as Fetch>::Item<'a>, since: Tick) -> Self::Mut<'a>;
    /// Wraps all members.
    fn wrap_slices<'a>(slices: <Self::Read as Fetch>::Slices<'a>) -> Self::Slices<'a>;
    /// Wraps all members, exclusive.
    fn wrap_slices_mut<'a>(slices: <Self::Write as Fetch>::Slices<'a>) -> Self::SlicesMut<'a>;
}

/// The part of a group that excludes: `()`, `Without<T>`, or a tuple of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the filter of a group",
    label = "expected `()`, `Without<T>` or a tuple of these",
    note = "what members have stands in `Own<(..)>` or `Get<(..)>`; a filter excludes: `Without<T>`"
)]
pub trait GroupFilter: 'static {
    /// Registers the components, appending their ids.
    ///
    /// # Errors
    /// When a component cannot be registered.
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError>;
}

impl<T: AnyComponent> GroupFilter for Without<T> {
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
        ids.push(components.register::<T>()?);
        Ok(())
    }
}

macro_rules! group_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables)]
        impl<$($name: GroupFilter),*> GroupFilter for ($($name,)*) {
            fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
                $($name::register(components, ids)?;)*
                Ok(())
            }
        }
        group_tuple!(@parts Own OwnableComponent $(($name $at))*);
        group_tuple!(@parts Get SparseComponent $(($name $at))*);
    };
    (@parts $part:ident $storage:ident $(($name:ident $at:tt))*) => {
        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name),*> GroupParts for $part<($($name,)*)>
        where
            $($name: $storage,)*
        {
            type Read = ($($name::Read,)*);
            type Write = ($($name::Write,)*);
            type Ref<'a> = ($($name::Ref<'a>,)*);
            type Mut<'a> = ($($name::Mut<'a>,)*);
            type Slices<'a> = ($($name::Slice<'a>,)*);
            type SlicesMut<'a> = ($($name::SliceMut<'a>,)*);

            fn ids() -> <Self::Read as Fetch>::Ids {
                ($($name::ids(),)*)
            }
            fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
                $(ids.push(components.register::<$name>()?);)*
                Ok(())
            }
            #[inline(always)]
            fn wrap_ref<'a>(item: <Self::Read as Fetch>::Item<'a>) -> Self::Ref<'a> {
                ($($name::wrap_ref(item.$at),)*)
            }
            #[inline(always)]
            fn wrap_mut<'a>(item: <Self::Write as Fetch>::Item<'a>, since: Tick) -> Self::Mut<'a> {
                ($($name::wrap_mut(item.$at, since),)*)
            }
            fn wrap_slices<'a>(slices: <Self::Read as Fetch>::Slices<'a>) -> Self::Slices<'a> {
                ($($name::wrap_slice(slices.$at),)*)
            }
            fn wrap_slices_mut<'a>(slices: <Self::Write as Fetch>::Slices<'a>) -> Self::SlicesMut<'a> {
                ($($name::wrap_slice_mut(slices.$at),)*)
            }
        }
    };
}
phalanx_store::for_each_tuple!(group_tuple);
