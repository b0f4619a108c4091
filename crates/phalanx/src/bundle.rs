//! Several components that are spawned, inserted or removed together.
//!
//! A bundle is a component, a tuple of bundles (to 15, nest for more) or a struct with
//! `#[derive(Bundle)]`. `#[derive(Component)]` writes the implementation of components: an implementation for all
//! of them would keep the compiler from naming the part of a tuple that is none.
//!
//! The world resolves the final archetype of a whole bundle once and moves an entity
//! once, however many components it brings.

use std::any::TypeId;

pub use phalanx_derive::Bundle;

use crate::component::AnyComponent;
use crate::registry::{ComponentId, Components, RegisterError};
use crate::storage::{SparseParts, Storage};
use phalanx_store::{AnyColId, Entity, Tick, Values};

/// What tells bundle types apart: the first column of a single component, or the type of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleKey {
    /// A single component, by its first column.
    AnyComponent(AnyColId),
    /// Any other bundle, by its type.
    Type(TypeId),
}

/// A set of components with their values.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(f32);
/// # #[derive(Component)] struct Armour(f32);
/// #[derive(Bundle)]
/// struct Knight {
///     health: Health,
///     armour: Armour,
/// }
///
/// let mut world = World::new();
/// world.spawn(Knight { health: Health(10.0), armour: Armour(3.0) });
/// world.spawn((Health(1.0), Armour(0.0))); // a tuple is a bundle, too
/// assert_eq!(world.view::<(&Health, &Armour)>().count(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component or a bundle of components",
    label = "expected a component, a tuple of components or a `#[derive(Bundle)]` struct",
    note = "add `#[derive(Component)]` to `{Self}`; a type that is not yours goes into a struct of your own",
    note = "a tuple has at most 15 parts: nest tuples for more"
)]
pub trait Bundle: Sized + Send + Sync + 'static {
    /// The values that go into the table row, column by column.
    type Values: Values;
    /// The values that go into sparse sets.
    type Sparse: SparseParts;

    /// Whether the bundle spawns other entities when it comes, as `children![..]` does.
    const SPAWNS: bool = false;

    /// What tells this bundle type apart from others.
    fn bundle_key() -> BundleKey {
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
    /// The target of the first relation among the parts, where it is known without a world.
    #[doc(hidden)]
    #[inline]
    fn link_target(&self) -> Option<Entity> {
        None
    }
}

/// Registers a component as a bundle of one.
///
/// # Errors
/// When it cannot be registered.
#[doc(hidden)]
pub fn register_one<C: AnyComponent>(
    components: &mut Components,
    ids: &mut Vec<ComponentId>,
) -> Result<(), RegisterError> {
    ids.push(components.register::<C>()?);
    Ok(())
}

type ValuesOf<C> = <<C as AnyComponent>::Storage as Storage>::Values<<C as AnyComponent>::ColumnValues>;
type PartOf<C> = <<C as AnyComponent>::Storage as Storage>::Part<C>;

/// The column ids of a component that go into the table row.
#[doc(hidden)]
pub fn one_value_ids<C: AnyComponent>() -> <ValuesOf<C> as Values>::Ids {
    C::Storage::value_ids::<C::ColumnValues>(C::column_ids())
}

/// Takes a component apart.
#[doc(hidden)]
#[inline(always)]
pub fn one_into_values<C: AnyComponent>(component: C, now: Tick) -> (ValuesOf<C>, PartOf<C>) {
    C::Storage::split::<C>(C::into_column_values(component, now))
}

/// Puts a component together again.
#[doc(hidden)]
#[inline(always)]
pub fn one_from_values<C: AnyComponent>(values: ValuesOf<C>, sparse: PartOf<C>) -> C {
    C::from_column_values(C::Storage::join::<C>(values, sparse))
}

macro_rules! bundle_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, non_snake_case, clippy::unused_unit)]
        impl<$($name: Bundle),*> Bundle for ($($name,)*) {
            type Values = ($($name::Values,)*);
            type Sparse = ($($name::Sparse,)*);
            const SPAWNS: bool = false $(|| $name::SPAWNS)*;

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
            #[inline]
            fn link_target(&self) -> Option<Entity> {
                None$(.or_else(|| self.$at.link_target()))*
            }
        }
    };
}
phalanx_store::for_each_tuple!(bundle_tuple);

macro_rules! long_bundle_tuple {
    ([$(($first:ident $at:tt))*] [$(($second:ident $then:tt))*]) => {
        #[allow(non_snake_case)]
        impl<$($first: Bundle,)* $($second: Bundle),*> Bundle for ($($first,)* $($second,)*) {
            type Values = (($($first::Values,)*), ($($second::Values,)*));
            type Sparse = (($($first::Sparse,)*), ($($second::Sparse,)*));
            const SPAWNS: bool = false $(|| $first::SPAWNS)* $(|| $second::SPAWNS)*;

            fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
                <($($first,)*)>::register(components, ids)?;
                <($($second,)*)>::register(components, ids)
            }
            fn value_ids() -> <Self::Values as Values>::Ids {
                (<($($first,)*)>::value_ids(), <($($second,)*)>::value_ids())
            }
            #[inline(always)]
            fn into_values(self, now: Tick) -> (Self::Values, Self::Sparse) {
                let ($($first,)* $($second,)*) = self;
                let (first, second) = (($($first,)*).into_values(now), ($($second,)*).into_values(now));
                ((first.0, second.0), (first.1, second.1))
            }
            #[inline(always)]
            fn from_values(values: Self::Values, sparse: Self::Sparse) -> Self {
                let ($($first,)*) = <($($first,)*)>::from_values(values.0, sparse.0);
                let ($($second,)*) = <($($second,)*)>::from_values(values.1, sparse.1);
                ($($first,)* $($second,)*)
            }
        }
    };
}
phalanx_store::for_each_long_tuple!(long_bundle_tuple);
