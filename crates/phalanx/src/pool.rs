//! Pools: closed kinds of entities, declared as a struct and checked by the compiler.
//!
//! ```text
//!   #[derive(Pool)]
//!   struct Orcs {
//!       position: Position,       slot 0, required: always there, cannot be removed
//!       health: Health,           slot 1, required
//!       rage: Option<Rage>,       slot 2, optional: comes and goes
//!   }
//! ```
//!
//! Every entity is in exactly one pool; [`General`] allows everything and is where `world.spawn` puts entities. Ordinary
//! queries see the entities of all pools.

// This file holds what a pool is as a type: which components it declares, and where each one's bit is. What a world
// knows of its pools is in `pool/record`, handles to their entities in `pool/handle`.

use phalanx_store::{AnyColId, ColCell, ColId, Tick, Values};

use crate::bundle::Bundle;
use crate::component::AnyComponent;
use crate::registry::{ComponentId, Components, RegisterError};
use crate::storage::SparseParts;

pub use handle::{Handle, PoolKey};
pub use record::{PoolRecord, Pools};
pub(crate) use record::{Refusal, Registration, SpawnEdge};

mod handle;
mod masks;
mod record;

/// The number of a pool in one world, in order of registration; [`General`] is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(u32);

impl PoolId {
    /// The pool of entities that were spawned without naming one.
    pub const GENERAL: Self = Self(0);
    /// No pool, for those that are not registered.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The id as an array position.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How the archetypes of a pool keep the headers of their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// The headers of all declared components stand in the archetype: no indirection, more memory.
    Inline,
    /// One optional pointer per declared component, allocated for those that are present.
    Boxed,
}

/// Marks the tables of a pool; it takes no memory.
#[derive(Clone, Copy, Debug)]
pub struct PoolMark;

/// A set of declared components as bits: `u64`, or `u128` for more than 64.
pub trait Mask: Copy + PartialEq + Into<u128> + sealed::Sealed {}
impl Mask for u64 {}
impl Mask for u128 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for u128 {}
}

/// A kind of entities; [`General`], or a struct with `#[derive(Pool)]`.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// # #[derive(Component)] struct Rage(f32);
/// #[derive(Pool)]
/// struct Orcs {
///     health: Health,     // required: cannot be missing, cannot be removed
///     rage: Option<Rage>, // optional: may come and go
/// }
///
/// let mut world = World::new();
/// let orc = world.spawn_in(Orcs { health: Health(9), rage: None });
/// world.pool_mut::<Orcs>().insert(orc, Rage(3.0)).unwrap();
/// assert!(world.pool::<Orcs>().contains(orc));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pool",
    label = "expected a pool",
    note = "add `#[derive(Pool)]` to the struct, or use `General`"
)]
pub trait Pool: Sized + 'static {
    /// The bits of components: one per declared one.
    type Mask: Mask;
    /// The values of an entity that go into its table row; none for [`General`].
    type Values: Values;
    /// The bits of all declared components.
    const DECLARED: Self::Mask;
    /// The bits of the required components.
    const REQUIRED: Self::Mask;
    /// How archetypes keep their columns.
    const STRATEGY: Strategy;
    /// The rows that are reserved when a world first meets the pool.
    const CAPACITY: usize = 0;
    /// Whether this is [`General`].
    #[doc(hidden)]
    const IS_GENERAL: bool = false;

    /// The pool's name in messages.
    fn name() -> &'static str;
    /// The column that marks the pool's tables, which stands for the pool in the whole process.
    fn tag() -> ColId<PoolMark>;
    /// Registers the declared components in slot order, appending their ids.
    ///
    /// # Errors
    /// When a component cannot be registered.
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError>;
}

/// A pool whose value is one entity: written by `#[derive(Pool)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a struct that declares a pool",
    label = "expected a struct with `#[derive(Pool)]`",
    note = "add `#[derive(Pool)]` to `{Self}`, or spawn a bundle with `spawn`"
)]
pub trait DeclaredPool: Pool + Send + Sync {
    /// The values that go into sparse sets.
    type Sparse: SparseParts;

    /// The column ids of [`Pool::Values`].
    fn value_ids() -> <Self::Values as Values>::Ids;
    /// Which components the value has.
    fn presence(&self) -> Self::Mask;
    /// Takes the value apart.
    fn into_values(self, now: Tick) -> (Self::Values, Self::Sparse);
}

/// The pool declares the component `C`, as required or optional.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not declare `{C}`",
    label = "entities of `{Self}` never have `{C}`",
    note = "add a field of type `{C}` or `Option<{C}>` to `{Self}`"
)]
pub trait Declares<C>: Pool {
    /// The position of the component's bit; means nothing for [`General`].
    const SLOT: u32;
}

/// The pool declares the component `C` as optional, so that it may be removed.
#[diagnostic::on_unimplemented(
    message = "`{C}` is not optional in `{Self}` and cannot be removed",
    label = "required in `{Self}`, or not declared there",
    note = "declare it as `Option<{C}>` in `{Self}` to let it come and go"
)]
pub trait Optional<C>: Declares<C> {}

/// A bundle of components that the pool declares.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has components that `{P}` does not declare",
    label = "cannot be inserted into entities of `{P}`"
)]
pub trait BundleIn<P>: Bundle {}

impl<P: Declares<C>, C: AnyComponent> BundleIn<P> for C {}

macro_rules! bundle_in_tuple {
    ($(($name:ident $at:tt))*) => {
        impl<P_, $($name: BundleIn<P_>),*> BundleIn<P_> for ($($name,)*) {}
    };
}
phalanx_store::for_each_tuple!(bundle_in_tuple);

macro_rules! long_bundle_in_tuple {
    ([$(($first:ident $at:tt))*] [$(($second:ident $then:tt))*]) => {
        impl<P_, $($first: BundleIn<P_>,)* $($second: BundleIn<P_>),*> BundleIn<P_>
            for ($($first,)* $($second,)*)
        {
        }
    };
}
phalanx_store::for_each_long_tuple!(long_bundle_in_tuple);

/// The pool that allows everything: entities that `world.spawn` makes are here.
#[derive(Debug)]
pub enum General {}

/// Marks the tables of all pools but [`General`].
static POOLED: ColCell<PoolMark> = ColCell::new();

pub(crate) fn pooled() -> ColId<PoolMark> {
    POOLED.id()
}

impl Pool for General {
    type Mask = u64;
    type Values = ();
    const DECLARED: u64 = 0;
    const REQUIRED: u64 = 0;
    const STRATEGY: Strategy = Strategy::Inline;
    const IS_GENERAL: bool = true;

    fn name() -> &'static str {
        "General"
    }
    fn tag() -> ColId<PoolMark> {
        POOLED.id()
    }
    fn register(_: &mut Components, _: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
        Ok(())
    }
}

impl<C: AnyComponent> Declares<C> for General {
    const SLOT: u32 = 0;
}
impl<C: AnyComponent> Optional<C> for General {}

/// The key of a pool before a world gave it an id.
pub(crate) fn key<P: Pool>() -> AnyColId {
    P::tag().any()
}
