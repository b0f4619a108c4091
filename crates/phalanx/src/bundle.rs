//! Several components that are spawned, inserted or removed together.
//!
//! A bundle is a component, a tuple of bundles (to 12, nest for more) or a struct with
//! `#[derive(Bundle)]`. The world resolves the final archetype of a whole bundle once and moves an entity
//! once, however many components it brings.

use std::any::TypeId;

use crate::component::Component;
use crate::registry::{ComponentId, Components, RegisterError};
use phalanx_store::{AnyColId, Tick, Values};

/// What tells bundle types apart: the first column of a single component, or the type of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleKey {
    /// A single component, by its first column.
    Component(AnyColId),
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
    /// The values of one row, column by column.
    type Values: Values;

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
    fn into_values(self, now: Tick) -> Self::Values;
    /// Puts a bundle together again.
    fn from_values(values: Self::Values) -> Self;
}

impl<C: Component> Bundle for C {
    type Values = C::Leaves;

    fn key() -> BundleKey {
        BundleKey::Component(C::key())
    }
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
        ids.push(components.register::<C>()?);
        Ok(())
    }
    fn value_ids() -> <Self::Values as Values>::Ids {
        C::leaf_ids()
    }
    fn into_values(self, now: Tick) -> Self::Values {
        C::into_leaves(self, now)
    }
    fn from_values(values: Self::Values) -> Self {
        C::from_leaves(values)
    }
}

macro_rules! bundle_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: Bundle),*> Bundle for ($($name,)*) {
            type Values = ($($name::Values,)*);

            fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
                $($name::register(components, ids)?;)*
                Ok(())
            }
            fn value_ids() -> <Self::Values as Values>::Ids {
                ($($name::value_ids(),)*)
            }
            fn into_values(self, now: Tick) -> Self::Values {
                ($(self.$at.into_values(now),)*)
            }
            fn from_values(values: Self::Values) -> Self {
                ($($name::from_values(values.$at),)*)
            }
        }
    };
}
phalanx_store::for_each_tuple!(bundle_tuple);
