//! Several components that are spawned, inserted or removed together.
//!
//! A bundle is a component, a tuple of bundles (to 12, nest for more) or a struct with
//! `#[derive(Bundle)]`. The world resolves the final archetype of a whole bundle once and moves an entity
//! once, however many components it brings.

use std::any::TypeId;

use crate::component::AnyComponent;
use crate::registry::{ComponentId, Components, RegisterError};
use crate::storage::{SparseParts, Storage};
use phalanx_store::{AnyColId, Tick, Values};

/// What tells bundle types apart: the first column of a single component, or the type of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleKey {
    /// A single component, by its first column.
    AnyComponent(AnyColId),
    /// Any other bundle, by its type.
    Type(TypeId),
}

/// A set of components with their values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component or a bundle of components",
    label = "expected a component, a tuple of components or a `#[derive(Bundle)]` struct",
    note = "add `#[derive(Component)]` to the type, or to each part of it"
)]
pub trait Bundle: Sized + Send + Sync + 'static {
    /// The values that go into the table row, column by column.
    type Values: Values;
    /// The values that go into sparse sets.
    type Sparse: SparseParts;

    /// What tells this bundle type apart from others.
    fn key() -> BundleKey {
        BundleKey::Type(TypeId::of::<Self>())
    }
    /// Registers the components in declaration order, appending their ids.
    ///
    /// # Errors
    /// When a component cannot be registered.
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError>;
    /// The column ids of [`Bundle::Values`].
    fn value_ids() -> <Self::Values as Values>::Ids;
    /// Takes the bundle apart.
    fn into_values(self, now: Tick) -> (Self::Values, Self::Sparse);
    /// Puts a bundle together again.
    fn from_values(values: Self::Values, sparse: Self::Sparse) -> Self;
}

impl<C: AnyComponent> Bundle for C {
    type Values = <C::Storage as Storage>::Values<C::Leaves>;
    type Sparse = <C::Storage as Storage>::Part<C>;

    fn key() -> BundleKey {
        BundleKey::AnyComponent(C::key())
    }
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
        ids.push(components.register::<C>()?);
        Ok(())
    }
    fn value_ids() -> <Self::Values as Values>::Ids {
        C::Storage::value_ids::<C::Leaves>(C::leaf_ids())
    }
    #[inline(always)]
    fn into_values(self, now: Tick) -> (Self::Values, Self::Sparse) {
        C::Storage::split::<C>(C::into_leaves(self, now))
    }
    #[inline(always)]
    fn from_values(values: Self::Values, sparse: Self::Sparse) -> Self {
        C::from_leaves(C::Storage::join::<C>(values, sparse))
    }
}

macro_rules! bundle_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, non_snake_case, clippy::unused_unit)]
        impl<$($name: Bundle),*> Bundle for ($($name,)*) {
            type Values = ($($name::Values,)*);
            type Sparse = ($($name::Sparse,)*);

            fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
                $($name::register(components, ids)?;)*
                Ok(())
            }
            fn value_ids() -> <Self::Values as Values>::Ids {
                ($($name::value_ids(),)*)
            }
            #[inline(always)]
            fn into_values(self, now: Tick) -> (Self::Values, Self::Sparse) {
                // One variable per part, not a tuple of them: that would be copied once more.
                $(let $name = self.$at.into_values(now);)*
                (($($name.0,)*), ($($name.1,)*))
            }
            #[inline(always)]
            fn from_values(values: Self::Values, sparse: Self::Sparse) -> Self {
                ($($name::from_values(values.$at, sparse.$at),)*)
            }
        }
    };
}
phalanx_store::for_each_tuple!(bundle_tuple);
