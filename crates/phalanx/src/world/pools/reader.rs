//! One component of single entities of a pool.
//!
//! What a read has in common with the next one, where the component's columns are, is found when the reader is made.
//! What is left is to look at the remembered row of a handle, or at the place of an entity.

use phalanx_store::LocationReader;

use super::{PoolEntityError, PoolRef};
use crate::component::Queryable;
use crate::pool::{Declares, Pool, PoolId, PoolKey};

/// A component, or one field of one, of the entities of a pool; from [`PoolRef::reader`].
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Component)]
/// struct Health(u32);
/// #[derive(Pool)]
/// struct Orcs {
///     health: Health,
/// }
///
/// let mut world = World::new();
/// let orc = world.spawn_in(Orcs { health: Health(9) });
/// let mut handle = world.pool::<Orcs>().handle(orc)?;
/// let healths = world.pool::<Orcs>().reader::<Health>();
/// assert_eq!(healths.get(&mut handle)?.0, 9);
/// assert_eq!(healths.get(orc)?.0, 9);
/// # Ok::<(), phalanx::world::PoolEntityError>(())
/// ```
pub struct PoolReader<'w, P, T: Queryable> {
    reader: LocationReader<'w, T::Read>,
    pool: PoolRef<'w, P>,
    id: PoolId,
    /// Whose rows a table has.
    pools: &'w [PoolId],
}

impl<P, T: Queryable> Clone for PoolReader<'_, P, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P, T: Queryable> Copy for PoolReader<'_, P, T> {}

impl<'w, P: Pool + Declares<T::Owner>, T: Queryable> PoolReader<'w, P, T> {
    pub(super) fn new(pool: PoolRef<'w, P>) -> Self {
        let pools = pool.world.archetypes.pools_by_table();
        Self { reader: pool.world.store.read_locations(T::ids()), id: pool.id(), pool, pools }
    }

    /// Reads the component of an entity.
    ///
    /// # Errors
    /// When the entity is dead, in another pool, or lacks an optional component.
    #[inline]
    pub fn get(&self, mut key: impl PoolKey<P>) -> Result<T::Ref<'w>, PoolEntityError> {
        // Where the handle was right last time, the entity is in its pool: tables stay in theirs.
        if let Some(at) = key.cached_location() {
            return match self.reader.get(*at) {
                Some(item) => Ok(T::wrap_ref(item)),
                None => self.pool.find::<T>(at).ok_or_else(|| self.pool.why::<T>(at.entity())),
            };
        }
        let entity = key.entity();
        match self.reader.get_where(entity, |table| self.pools.get(table.index()) == Some(&self.id)) {
            Some(item) => Ok(T::wrap_ref(item)),
            None => Err(self.pool.why::<T>(entity)),
        }
    }
}
