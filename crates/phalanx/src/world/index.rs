//! Indexes by value: which entities have a component that equals a value, without a scan.
//!
//! An index is asked for once, and kept from then on, for the world and all systems alike. It is not notified of
//! changes: when it is asked, it looks at the blocks that were written since it was asked last, whatever path wrote
//! them, and then verifies what it found against the components themselves. So it is right after writes through rows,
//! chunks, fields and names of fields alike, and a component that is written but not asked for costs nothing. Entities
//! come in ascending order (ADR 0056).

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::ops::{Bound, RangeBounds};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use hashbrown::HashMap;
use phalanx_store::{Entity, FirstPanic, Tick};

use super::World;
use crate::component::{Component, Track};
use crate::query::{Everyone, Query};
use crate::registry::Components;
use crate::steps;

pub use named::NamedError;

mod named;

/// The indexes of a world, by type.
#[derive(Default)]
pub(crate) struct Indexes {
    kept: HashMap<TypeId, Kept>,
}

struct Kept {
    /// A [`SharedIndex`].
    index: Arc<dyn Any + Send + Sync>,
    forget: fn(&(dyn Any + Send + Sync), &mut FirstPanic),
}

impl Indexes {
    /// Forgets everything: the world is another one than that which was looked at.
    pub(crate) fn forget(&mut self, panics: &mut FirstPanic) {
        for kept in self.kept.values() {
            (kept.forget)(&*kept.index, panics);
        }
    }
}

/// The entities by value.
pub(crate) trait Buckets<C>: Default + Send + Sync + 'static {
    fn add(&mut self, value: &C, entity: Entity);
    fn remove(&mut self, value: &C, entity: Entity);
    fn bucket(&self, value: &C) -> Option<&BTreeSet<Entity>>;
}

pub(crate) type Hashed<C> = HashMap<C, BTreeSet<Entity>>;
pub(crate) type Ordered<C> = BTreeMap<C, BTreeSet<Entity>>;

macro_rules! buckets {
    ($map:ident, $($bound:tt)*) => {
        impl<C: Component + Clone + $($bound)*> Buckets<C> for $map<C> {
            fn add(&mut self, value: &C, entity: Entity) {
                match self.get_mut(value) {
                    Some(bucket) => {
                        bucket.insert(entity);
                    }
                    None => {
                        self.insert(value.clone(), BTreeSet::from([entity]));
                    }
                }
            }
            fn remove(&mut self, value: &C, entity: Entity) {
                if let Some(bucket) = self.get_mut(value) {
                    bucket.remove(&entity);
                    if bucket.is_empty() {
                        $map::remove(self, value);
                    }
                }
            }
            fn bucket(&self, value: &C) -> Option<&BTreeSet<Entity>> {
                self.get(value)
            }
        }
    };
}
buckets!(Hashed, Eq + Hash);
buckets!(Ordered, Ord);

/// What an index looks at.
pub(crate) type Rows<'w, 's, C> = Query<'w, 's, (Entity, &'static C), Everyone>;

/// An index that a world and its systems share. A caller brings it up to date first.
pub(crate) type SharedIndex<C, B> = RwLock<ValueIndex<C, B>>;

/// One index: what it found when it looked last.
pub(crate) struct ValueIndex<C, B> {
    pub(crate) buckets: B,
    /// The value under which each entity stands.
    known: HashMap<Entity, C>,
    /// What was written up to this moment is known. `None`: nothing is.
    seen: Option<Tick>,
    /// Whether it is being changed: the user's code panicked when another caller finds that.
    is_changing: bool,
}

impl<C, B: Default> Default for ValueIndex<C, B> {
    fn default() -> Self {
        Self { buckets: B::default(), known: HashMap::new(), seen: None, is_changing: false }
    }
}

impl<C: Component + Clone + PartialEq, B: Buckets<C>> ValueIndex<C, B> {
    /// Looks at what was written since the last time. What is written after `now` is new the next time.
    pub(crate) fn catch_up(&mut self, rows: &Rows<'_, '_, C>, components: &Components, now: Tick) {
        if self.is_changing {
            FirstPanic::ignore(|| std::mem::take(self));
        }
        self.is_changing = true;
        let tracks =
            components.component_id::<C>().is_some_and(|id| components.info(id).track() != Track::None);
        match self.seen.filter(|_| tracks) {
            Some(seen) => rows
                .chunks_changed_since(seen)
                .for_each(|block| block.rows().for_each(|(entity, value)| self.see(entity, value))),
            None => rows.iter().for_each(|(entity, value)| self.see(entity, value)),
        }
        // Systems that read the component beside one another may ask in another order than that of their ticks.
        self.seen = self.seen.max(Some(now));
        if self.known.len() > 2 * rows.count() + 64 {
            self.forget_gone(rows);
        }
        self.is_changing = false;
    }

    fn see(&mut self, entity: Entity, value: &C) {
        steps::count();
        match self.known.get_mut(&entity) {
            Some(known) if known == value => return,
            Some(known) => {
                self.buckets.remove(known, entity);
                *known = value.clone();
            }
            None => {
                self.known.insert(entity, value.clone());
            }
        }
        self.buckets.add(value, entity);
    }

    /// Forgets entities that lost the component since. Those that are asked for are verified anyway.
    fn forget_gone(&mut self, rows: &Rows<'_, '_, C>) {
        let Self { buckets, known, .. } = self;
        known.retain(|&entity, value| {
            let stays = rows.get(entity).is_ok();
            if !stays {
                buckets.remove(value, entity);
            }
            stays
        });
    }

    /// The entities with a value, in ascending order.
    pub(crate) fn with<'a>(
        &'a self,
        rows: &'a Rows<'_, '_, C>,
        value: &'a C,
    ) -> impl Iterator<Item = Entity> + 'a {
        self.buckets.bucket(value).into_iter().flat_map(move |bucket| verified(rows, value, bucket))
    }
}

impl<C: Component + Clone + Ord> ValueIndex<C, Ordered<C>> {
    /// The entities with a value in a range, in the order of values. None when it ends before it begins.
    pub(crate) fn range<'a>(
        &'a self,
        rows: &'a Rows<'_, '_, C>,
        range: impl RangeBounds<C>,
    ) -> impl Iterator<Item = Entity> + 'a {
        let is_empty = match (range.start_bound(), range.end_bound()) {
            (Bound::Excluded(start), Bound::Excluded(end)) => start >= end,
            (
                Bound::Included(start) | Bound::Excluded(start),
                Bound::Included(end) | Bound::Excluded(end),
            ) => start > end,
            _ => false,
        };
        let found = (!is_empty).then(|| self.buckets.range(range));
        found.into_iter().flatten().flat_map(move |(value, bucket)| verified(rows, value, bucket))
    }
}

/// Those entities of a bucket that have the value.
fn verified<'a, C: Component + PartialEq>(
    rows: &'a Rows<'_, '_, C>,
    value: &'a C,
    bucket: &'a BTreeSet<Entity>,
) -> impl Iterator<Item = Entity> + 'a {
    bucket.iter().copied().filter(move |&entity| rows.get(entity).is_ok_and(|(_, held)| held == value))
}

/// Brings an index up to date during a session, and opens it to be read.
///
/// It never waits for a reader, which could be the same thread: a reader has brought it up to date, and
/// keeps those away who write the component.
pub(crate) fn read_current<'g, C: Component + Clone + PartialEq, B: Buckets<C>>(
    index: &'g SharedIndex<C, B>,
    rows: &Rows<'_, '_, C>,
    components: &Components,
    now: Tick,
) -> RwLockReadGuard<'g, ValueIndex<C, B>> {
    loop {
        match index.try_write() {
            Ok(mut index) => index.catch_up(rows, components, now),
            Err(TryLockError::Poisoned(index)) => index.into_inner().catch_up(rows, components, now),
            Err(TryLockError::WouldBlock) => {}
        }
        let current = read(index);
        // Another thread panicked while it brought the index up to date.
        if !current.is_changing {
            return current;
        }
    }
}

/// Opens an index to change it. One that was left half-changed by a panic is made anew by the caller that catches up.
fn write<T>(index: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    index.write().unwrap_or_else(PoisonError::into_inner)
}

/// Opens an index to read it.
fn read<T>(index: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    index.read().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    /// Keeps an index of the values of a component from now on, so that [`World::entities_with`] needs no scan.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Clone, PartialEq, Eq, Hash)]
    /// struct Faction(u8);
    ///
    /// let mut world = World::new();
    /// world.index_by::<Faction>();
    /// let orc = world.spawn(Faction(3)).id();
    /// assert_eq!(world.entities_with(&Faction(3)), [orc]);
    /// world.get_mut::<Faction>(orc).unwrap().0 = 4;
    /// assert!(world.entities_with(&Faction(3)).is_empty());
    /// ```
    ///
    /// Systems ask the same index as a parameter, [`Index`](crate::system::Index).
    pub fn index_by<C: Component + Clone + Eq + Hash>(&mut self) {
        self.with_index::<C, Hashed<C>, _>(|_, _| ());
    }

    /// The entities whose component equals a value, in ascending order. The first call makes the index.
    ///
    /// It costs what was written of the component since the last question, and what is found. A component with
    /// `track = "none"`, or in a sparse set, is looked at as a whole each time.
    pub fn entities_with<C: Component + Clone + Eq + Hash>(&mut self, value: &C) -> Vec<Entity> {
        self.with_index::<C, Hashed<C>, _>(|index, rows| index.with(rows, value).collect())
    }

    /// The entities whose component lies in a range, in the order of values. The first call makes an ordered index.
    /// A range that ends before it begins has none.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Clone, PartialEq, Eq, PartialOrd, Ord)]
    /// struct Level(u32);
    ///
    /// let mut world = World::new();
    /// let levels = [7, 2, 5].map(|level| world.spawn(Level(level)).id());
    /// assert_eq!(world.entities_in_range(Level(3)..), [levels[2], levels[0]]);
    /// ```
    pub fn entities_in_range<C: Component + Clone + Ord>(
        &mut self,
        range: impl RangeBounds<C>,
    ) -> Vec<Entity> {
        self.with_index::<C, Ordered<C>, _>(|index, rows| index.range(rows, range).collect())
    }

    /// The index of a component, which is made when it is asked for first.
    pub(crate) fn shared_index<C: Component + Clone + PartialEq, B: Buckets<C>>(
        &mut self,
    ) -> Arc<SharedIndex<C, B>> {
        let kept = self.indexes.kept.entry(TypeId::of::<SharedIndex<C, B>>()).or_insert_with(|| Kept {
            index: Arc::new(SharedIndex::<C, B>::default()),
            forget: |index, panics| {
                if let Some(index) = index.downcast_ref::<SharedIndex<C, B>>() {
                    let old = std::mem::take(&mut *write(index));
                    panics.guard(|| drop(old));
                }
            },
        });
        Arc::clone(&kept.index).downcast().expect("an index is kept under its own type")
    }

    /// Brings an index up to date, and asks it.
    fn with_index<C: Component + Clone + PartialEq, B: Buckets<C>, R>(
        &mut self,
        ask: impl FnOnce(&ValueIndex<C, B>, &Rows<'_, '_, C>) -> R,
    ) -> R {
        let index = self.shared_index::<C, B>();
        let answer = {
            let rows = self.view_filtered::<(Entity, &'static C), Everyone>();
            write(&index).catch_up(&rows, &self.components, self.store.tick());
            ask(&read(&index), &rows)
        };
        // What is written from now on is newer than what the index has seen.
        self.store.advance_tick();
        answer
    }
}
