//! Indexes by value: which entities have a component that equals a value, without a scan.
//!
//! An index is asked for once, and kept from then on. It hears of no change: when it is asked, it looks at the blocks
//! that were written since it was asked last, whatever path wrote them, and then verifies what it found against the
//! components themselves. So it is right after writes through rows, chunks, fields and names of fields alike, and a
//! component that is written but not asked for costs nothing. Entities come in ascending order (ADR 0056).

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::Hash;
use std::ops::RangeBounds;

use hashbrown::HashMap;
use phalanx_store::{Entity, FirstPanic, Tick};

use super::World;
use crate::component::{Component, Track};
use crate::name::Name;
use crate::query::Everyone;
use crate::relation::ChildOf;
use crate::steps;

/// The indexes of a world, by type.
#[derive(Default)]
pub(crate) struct Indexes {
    kept: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
}

impl Indexes {
    /// Forgets everything: the world is another one than that which was looked at.
    pub(crate) fn forget(&mut self, panics: &mut FirstPanic) {
        for (_, index) in self.kept.drain() {
            panics.guard(|| drop(index));
        }
    }
}

/// The entities by value.
trait Buckets<C>: Default + Send + Sync + 'static {
    fn add(&mut self, value: &C, entity: Entity);
    fn remove(&mut self, value: &C, entity: Entity);
}

type Hashed<C> = HashMap<C, BTreeSet<Entity>>;
type Ordered<C> = BTreeMap<C, BTreeSet<Entity>>;

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
        }
    };
}
buckets!(Hashed, Eq + Hash);
buckets!(Ordered, Ord);

/// One index: what it found when it looked last.
struct Index<C, B> {
    buckets: B,
    /// The value under which each entity stands.
    known: HashMap<Entity, C>,
    /// What was written up to this moment is known. `None`: nothing is.
    seen: Option<Tick>,
}

impl<C: Component + Clone + PartialEq, B: Buckets<C>> Index<C, B> {
    fn new() -> Self {
        Self { buckets: B::default(), known: HashMap::new(), seen: None }
    }

    /// Looks at what was written since the last time.
    fn catch_up(&mut self, world: &World) {
        let id = world.component_id::<C>();
        let tracks = id.is_some_and(|id| world.components.info(id).track() != Track::None);
        let rows = world.view_filtered::<(Entity, &C), Everyone>();
        // A clock that went back belongs to a world that was restored.
        match self.seen.filter(|seen| tracks && !seen.is_after(world.tick())) {
            Some(seen) => rows
                .chunks_changed_since(seen)
                .for_each(|block| block.rows().for_each(|(entity, value)| self.see(entity, value))),
            None => rows.iter().for_each(|(entity, value)| self.see(entity, value)),
        }
        self.seen = Some(world.tick());
        if self.known.len() > 2 * rows.count() + 64 {
            self.forget_gone(world);
        }
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
    fn forget_gone(&mut self, world: &World) {
        let Self { buckets, known, .. } = self;
        known.retain(|&entity, value| {
            let stays = world.get::<C>(entity).is_some();
            if !stays {
                buckets.remove(value, entity);
            }
            stays
        });
    }
}

/// Those entities of a bucket that have the value.
fn verified<C: Component + PartialEq>(world: &World, value: &C, bucket: &BTreeSet<Entity>) -> Vec<Entity> {
    bucket
        .iter()
        .copied()
        .filter(|&entity| world.get::<C>(entity).is_some_and(|held| held == value))
        .collect()
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
    pub fn index_by<C: Component + Clone + Eq + Hash>(&mut self) {
        self.with_index::<C, Hashed<C>, _>(|_, _| ());
    }

    /// The entities whose component equals a value, in ascending order. The first call makes the index.
    ///
    /// It costs what was written of the component since the last question, and what is found. A component with
    /// `track = "none"`, or in a sparse set, is looked at as a whole each time.
    pub fn entities_with<C: Component + Clone + Eq + Hash>(&mut self, value: &C) -> Vec<Entity> {
        self.with_index::<C, Hashed<C>, _>(|index, world| {
            index.buckets.get(value).map(|bucket| verified(world, value, bucket)).unwrap_or_default()
        })
    }

    /// The entities whose component lies in a range, in the order of values. The first call makes an ordered index.
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
        self.with_index::<C, Ordered<C>, _>(|index, world| {
            index.buckets.range(range).flat_map(|(value, bucket)| verified(world, value, bucket)).collect()
        })
    }

    /// Brings an index up to date, and asks it.
    fn with_index<C: Component + Clone + PartialEq, B: Buckets<C>, R>(
        &mut self,
        ask: impl FnOnce(&Index<C, B>, &World) -> R,
    ) -> R {
        let key = TypeId::of::<Index<C, B>>();
        // Taken out, so that the world can be read meanwhile; a panic of the user's code leaves no index.
        let kept = self.indexes.kept.remove(&key);
        let mut index = kept.unwrap_or_else(|| Box::new(Index::<C, B>::new()));
        let typed: &mut Index<C, B> = index.downcast_mut().expect("an index is kept under its own type");
        typed.catch_up(self);
        let answer = ask(typed, self);
        self.indexes.kept.insert(key, index);
        // What is written from now on is newer than what the index has seen.
        self.advance_tick();
        answer
    }

    /// The entity with a name. Parts before a slash are the names of its ancestors, the parent's last: `ship/engine` is
    /// the engine of the ship. The first call makes an index of all names.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// let mut world = World::new();
    /// world.spawn((Name::new("ship"), children![Name::new("engine")]));
    /// world.spawn((Name::new("car"), children![Name::new("engine")]));
    /// let engine = world.named("ship/engine").unwrap();
    /// assert_eq!(world.get::<Name>(engine).unwrap().as_str(), "engine");
    /// assert!(world.named("engine").is_err(), "there are two");
    /// ```
    ///
    /// # Errors
    /// When nobody, or more than one entity, has it, or a part of the path is empty.
    pub fn named(&mut self, path: &str) -> Result<Entity, NamedError> {
        let parts: Vec<&str> = path.split('/').collect();
        if parts.iter().any(|part| part.is_empty()) {
            return Err(NamedError::EmptyPart { path: path.to_owned() });
        }
        let (own, ancestors) = parts.split_last().expect("a split text has a last part");
        let mut found = self.entities_with(&Name::new((*own).to_owned()));
        found.retain(|&entity| self.has_ancestors(entity, ancestors));
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(NamedError::Nobody { path: path.to_owned() }),
            _ => Err(NamedError::Several { path: path.to_owned(), entities: found }),
        }
    }

    fn has_ancestors(&self, entity: Entity, names: &[&str]) -> bool {
        let mut at = entity;
        names.iter().rev().all(|name| match self.get::<ChildOf>(at) {
            Some(link) => {
                at = link.parent();
                self.get::<Name>(at).is_some_and(|held| held.as_str() == *name)
            }
            None => false,
        })
    }
}

/// Why a name leads to no entity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedError {
    /// No entity has the name.
    Nobody {
        /// The name that was looked for.
        path: String,
    },
    /// Several entities have the name.
    Several {
        /// The name that was looked for.
        path: String,
        /// Those who have it.
        entities: Vec<Entity>,
    },
    /// A part of the path is empty.
    EmptyPart {
        /// The name that was looked for.
        path: String,
    },
}

impl fmt::Display for NamedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody { path } => write!(f, "no entity is called \"{path}\""),
            Self::Several { path, entities } => {
                write!(f, "{} entities are called \"{path}\": ", entities.len())?;
                for entity in entities.iter().take(8) {
                    write!(f, "{entity}, ")?;
                }
                write!(f, "..; name an ancestor before it, as in \"ship/engine\"")
            }
            Self::EmptyPart { path } => {
                write!(f, "\"{path}\" has an empty part: write names with one slash between them")
            }
        }
    }
}

impl std::error::Error for NamedError {}
