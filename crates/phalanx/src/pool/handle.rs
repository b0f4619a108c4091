//! Handles: an entity of a pool together with the place where it was last seen.
//!
//! Reading through a handle looks at the remembered row first: when the row still belongs to the entity, the
//! entity directory is not asked. Otherwise the directory tells, and a handle lent as `&mut` remembers the new
//! place. A handle of a dead entity reads nothing, never another entity's data.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use phalanx_store::{CachedLocation, Entity};

/// An entity of the pool `P`, in 16 bytes, with its last known place.
///
/// Two handles are equal when they name the same entity, wherever they believe it to be.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Health(u32);
/// # #[derive(Pool)] struct Orcs { health: Health }
/// let mut world = World::new();
/// let orc = world.spawn_in(Orcs { health: Health(9) });
/// let pool = world.pool::<Orcs>();
/// let handle: Handle<Orcs> = pool.handle(orc)?;
/// assert_eq!(pool.get::<Health>(handle)?.0, 9);
/// # Ok::<(), phalanx::world::PoolEntityError>(())
/// ```
pub struct Handle<P> {
    cached_location: CachedLocation,
    pool: PhantomData<fn() -> P>,
}

impl<P> Handle<P> {
    pub(crate) fn new(cached_location: CachedLocation) -> Self {
        Self { cached_location, pool: PhantomData }
    }

    /// The entity.
    #[inline]
    pub fn entity(&self) -> Entity {
        self.cached_location.entity()
    }
}

impl<P> Clone for Handle<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Handle<P> {}

impl<P> PartialEq for Handle<P> {
    fn eq(&self, other: &Self) -> bool {
        self.entity() == other.entity()
    }
}
impl<P> Eq for Handle<P> {}

impl<P> Hash for Handle<P> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.entity().hash(state);
    }
}

impl<P> fmt::Debug for Handle<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", self.entity())
    }
}

impl<P> From<Handle<P>> for Entity {
    fn from(handle: Handle<P>) -> Self {
        handle.entity()
    }
}

mod sealed {
    pub trait Sealed {}
}

/// What names an entity of the pool `P`: an [`Entity`], a [`Handle<P>`], or `&mut Handle<P>`, which is brought up to
/// date when the entity has moved.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name an entity of `{P}`",
    label = "expected an `Entity`, a `Handle<{P}>` or a `&mut Handle<{P}>`",
    note = "a handle of another pool names no entity here: ask `handle` of this pool, or pass its `entity()`"
)]
pub trait PoolKey<P>: sealed::Sealed {
    /// The entity.
    fn entity(&self) -> Entity;
    /// Where it was last seen, to be looked at and to be corrected.
    #[doc(hidden)]
    fn cached_location(&mut self) -> Option<&mut CachedLocation>;
}

impl sealed::Sealed for Entity {}
impl<P> PoolKey<P> for Entity {
    #[inline]
    fn entity(&self) -> Entity {
        *self
    }
    #[inline]
    fn cached_location(&mut self) -> Option<&mut CachedLocation> {
        None
    }
}

impl<P> sealed::Sealed for Handle<P> {}
impl<P> PoolKey<P> for Handle<P> {
    #[inline]
    fn entity(&self) -> Entity {
        self.cached_location.entity()
    }
    #[inline]
    fn cached_location(&mut self) -> Option<&mut CachedLocation> {
        Some(&mut self.cached_location)
    }
}

impl<P> sealed::Sealed for &mut Handle<P> {}
impl<P> PoolKey<P> for &mut Handle<P> {
    #[inline]
    fn entity(&self) -> Entity {
        self.cached_location.entity()
    }
    #[inline]
    fn cached_location(&mut self) -> Option<&mut CachedLocation> {
        Some(&mut self.cached_location)
    }
}
