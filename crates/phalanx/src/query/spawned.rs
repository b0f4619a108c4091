//! When entities were spawned: a filter and query data.
//!
//! The store keeps the tick of each spawn from the moment on at which a query asks for it (ADR 0091). Entities that were
//! there before count as spawned at the beginning, so that a system's first run sees them, as it should.

use phalanx_store::{Fetch, SpawnTick, Tick};

use super::condition::Condition;
use super::data::{QueryData, ReadOnlyQueryData, Term};
use super::filter::QueryFilter;
use super::moment::Moment;
use super::scope::FilterIn;

/// Entities that were spawned after the query's moment.
///
/// Blocks to which no row came since are passed over.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
///
/// fn greet(new: Query<Entity, (With<Health>, Spawned)>) -> usize {
///     new.iter().count()
/// }
///
/// let mut world = World::new();
/// world.spawn(Health(1.0));
/// let greet = world.register_system(greet);
/// assert_eq!(world.run_system(greet).unwrap(), 1); // the first run sees all
/// assert_eq!(world.run_system(greet).unwrap(), 0);
/// world.spawn(Health(2.0));
/// assert_eq!(world.run_system(greet).unwrap(), 1);
/// ```
pub struct Spawned;

impl QueryFilter for Spawned {
    type Fetch = SpawnTick<true>;
    type OrFetch = SpawnTick<false>;
    const ARCHETYPAL: bool = false;
    const ANY_TABLE: bool = true;

    fn ids() {}
    fn or_ids() {}
    fn condition() -> Condition {
        Condition::always()
    }
    #[inline]
    fn keep(spawned: Tick, since: Tick) -> bool {
        spawned.is_after(since)
    }
    #[inline]
    fn keep_or(spawned: Tick, since: Tick) -> bool {
        spawned.is_after(since)
    }
}

impl<P> FilterIn<P> for Spawned {}

/// When an entity was spawned, as query data.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
///
/// fn count_new(all: Query<SpawnDetails, With<Health>>) -> usize {
///     all.iter().filter(|details| details.is_spawned()).count()
/// }
///
/// let mut world = World::new();
/// let count_new = world.register_system(count_new);
/// world.run_system(count_new).unwrap();
/// world.spawn_batch([Health(1.0), Health(2.0)]);
/// assert_eq!(world.run_system(count_new).unwrap(), 2);
/// assert_eq!(world.run_system(count_new).unwrap(), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpawnDetails {
    tick: Tick,
    since: Tick,
}

impl SpawnDetails {
    /// Whether the entity was spawned since the system last ran.
    pub fn is_spawned(self) -> bool {
        self.is_spawned_after(self.since)
    }

    /// Whether the entity was spawned after a tick.
    pub fn is_spawned_after(self, other: Tick) -> bool {
        self.tick.is_after(other)
    }

    /// The tick at which the entity was spawned. For entities from before it was first asked for, it is the first of
    /// the world.
    pub fn spawn_tick(self) -> Tick {
        self.tick
    }
}

impl QueryData for SpawnDetails {
    type Fetch = SpawnTick<false>;
    type ReadOnly = Self;
    type Item<'w> = Self;
    type Chunk<'w> = ();

    fn ids() {}
    fn condition() -> Condition {
        Condition::always()
    }
    fn terms(out: &mut Vec<Term>) {
        out.push(Term { text: "SpawnDetails".to_owned(), columns: 0, whole: false });
    }
    #[inline]
    fn item<'w>(tick: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
        Self { tick, since: since.tick }
    }
    fn chunk<'w>((): <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {}
}
impl ReadOnlyQueryData for SpawnDetails {}
