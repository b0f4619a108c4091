//! A list of entities that keeps its order, and from which any one is removed in constant time.
//!
//! ```text
//!   few         [a b c . . . . .] 3           up to eight, in the list itself
//!   some        [a b c d e f g h i j]         up to 32, in memory of their own
//!   slots       [a] [ ] [c] [d] [ ] [f]       more; a removal from a long list leaves a hole; half of the slots are no holes
//!   positions   a→0  c→2  d→3  f→5            made by the first removal that nothing else tells the position of
//!   packed      [a] [c] [d] [f]               made by the first reader of a slice, gone with the next change
//! ```
//!
//! A list of up to 32 entities is searched, and closes the gap. In a longer one, removal looks the position up, and leaves a
//! hole; when holes outnumber entities the list is packed. [`Places`] tell positions without any map: the owner of lists
//! notes there where each entity came to stand. Places may be old, since the user sets the order; so the slot is looked at
//! before it is believed, and the map is made where it is not. Removal is constant, spread over many. Taking a slice of
//! a list with holes packs it once, which costs as much as reading it. The list does not know what its
//! entities mean (ADR 0055).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::OnceLock;

use hashbrown::HashMap;
use phalanx_store::Entity;

use crate::steps;

/// Lists up to this length need no memory but their own.
const FEW: usize = 8;

/// Lists up to this length are searched.
const SHORT: usize = 32;

/// What stands in a hole.
const HOLE: Entity = Entity::PLACEHOLDER;

/// Entities in an order that the user sets, with removal in constant time.
///
/// It dereferences to a slice. [`Children`](crate::relation::Children) is one; use it in relations of your own
/// where single entities leave long lists.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::relation::EntityList;
///
/// let mut world = World::new();
/// let [a, b, c] = [(); 3].map(|()| world.spawn_empty().id());
/// let mut list: EntityList = [a, b, c].into_iter().collect();
/// assert!(list.remove(b));
/// assert_eq!(list[..], [a, c]);
/// list.insert(1, b);
/// assert_eq!(list[..], [a, b, c]);
/// ```
pub struct EntityList {
    held: Held,
}

/// Where the entities are.
enum Held {
    /// In the list itself: the first ones of these.
    Few(u32, [Entity; FEW]),
    /// In memory of their own, without holes; no more than are searched.
    Some(Vec<Entity>),
    Many(Box<Many>),
}

/// A long list.
#[derive(Default)]
struct Many {
    slots: Vec<Entity>,
    holes: usize,
    /// The slots of all entities, if anything is in it.
    positions: HashMap<Entity, u32>,
    /// The entities without holes, for callers that need a slice. There whenever it was asked for while there were holes.
    packed: OnceLock<Vec<Entity>>,
}

/// Where entities of long lists came to stand, by their index: what a world notes beside the lists of one relation.
///
/// A place may be old, or another list's.
#[doc(hidden)]
#[derive(Default)]
pub struct Places(Vec<u32>);

impl Places {
    #[inline]
    fn note(&mut self, entity: Entity, at: usize) {
        let index = entity.index() as usize;
        if self.0.len() <= index {
            self.grow(index);
        }
        self.0[index] = number(at);
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.0.resize((index + 1).next_power_of_two(), 0);
    }

    #[inline]
    fn of(&self, entity: Entity) -> usize {
        self.0.get(entity.index() as usize).map_or(0, |&at| at as usize)
    }
}

impl EntityList {
    /// An empty list.
    pub const fn new() -> Self {
        Self { held: Held::Few(0, [HOLE; FEW]) }
    }

    /// An empty list with room for `capacity` entities.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut list = Self::new();
        list.reserve(capacity);
        list
    }

    /// How many entities there are.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.held {
            Held::Few(len, _) => *len as usize,
            Held::Some(some) => some.len(),
            Held::Many(many) => many.len(),
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entities as a slice. The first call after a removal from the middle of a long list packs a copy of it.
    #[inline]
    pub fn as_slice(&self) -> &[Entity] {
        match &self.held {
            Held::Few(len, few) => few.get(..*len as usize).unwrap_or(few),
            Held::Some(some) => some,
            Held::Many(many) => many.as_slice(),
        }
    }

    /// The slots, holes included.
    #[inline]
    fn slots(&self) -> &[Entity] {
        match &self.held {
            Held::Few(len, few) => few.get(..*len as usize).unwrap_or(few),
            Held::Some(some) => some,
            Held::Many(many) => &many.slots,
        }
    }

    /// The entities in order. Nothing is packed for it.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter { slots: self.slots().iter(), left: self.len() }
    }

    /// The first entity.
    pub fn first(&self) -> Option<Entity> {
        self.iter().next()
    }

    /// The last entity.
    pub fn last(&self) -> Option<Entity> {
        self.iter().next_back()
    }

    /// Whether the entity is in the list.
    pub fn contains(&self, entity: Entity) -> bool {
        entity != HOLE
            && match &self.held {
                Held::Many(many) if !many.positions.is_empty() => many.positions.contains_key(&entity),
                _ => self.slots().contains(&entity),
            }
    }

    /// Puts an entity at the end. It must not be in the list.
    #[inline]
    pub fn push(&mut self, entity: Entity) {
        debug_assert!(entity != HOLE, "the placeholder is not an entity");
        match &mut self.held {
            Held::Few(len, few) if (*len as usize) < FEW => {
                few[*len as usize] = entity;
                *len += 1;
            }
            Held::Some(some) if some.len() < SHORT => some.push(entity),
            Held::Many(many) => many.push(entity),
            _ => {
                self.move_out(FEW);
                self.push(entity);
            }
        }
    }

    /// As [`EntityList::push`]; takes note of where the entity stands if the list is long.
    #[inline]
    pub(crate) fn push_noting(&mut self, entity: Entity, places: &mut Places) {
        self.push(entity);
        if let Held::Many(many) = &self.held {
            places.note(entity, many.slots.len() - 1);
        }
    }

    /// Moves the list to where there is room for so many more.
    #[cold]
    fn move_out(&mut self, additional: usize) {
        let mut slots = Vec::with_capacity(self.len() + additional);
        slots.extend(self.iter());
        self.held = match slots.len() + additional > SHORT {
            true => Held::Many(Box::new(Many { slots, ..Many::default() })),
            false => Held::Some(slots),
        };
    }

    /// Takes an entity out; the others keep their order. False when it is not in the list.
    pub fn remove(&mut self, entity: Entity) -> bool {
        self.remove_noted(entity, None)
    }

    /// As [`EntityList::remove`], where the place of the entity was noted when it came.
    #[inline]
    pub(crate) fn remove_noted(&mut self, entity: Entity, places: Option<&mut Places>) -> bool {
        if entity == HOLE {
            return false;
        }
        match &mut self.held {
            Held::Few(len, few) => {
                // Those that came last often go first.
                let Some(at) = few[..*len as usize].iter().rposition(|&other| other == entity) else {
                    return false;
                };
                few.copy_within(at + 1.., at);
                few[FEW - 1] = HOLE;
                *len -= 1;
                true
            }
            Held::Some(some) => {
                let Some(at) = some.iter().rposition(|&other| other == entity) else { return false };
                some.remove(at);
                if some.len() <= FEW / 2 {
                    self.come_home();
                }
                true
            }
            Held::Many(many) => {
                let was_there = many.remove(entity, places);
                if many.len() <= SHORT / 2 {
                    self.come_home();
                }
                was_there
            }
        }
    }

    /// Gives memory back that a list has become too short for.
    #[cold]
    fn come_home(&mut self) {
        if self.len() <= FEW {
            let mut few = [HOLE; FEW];
            few.iter_mut().zip(self.iter()).for_each(|(slot, entity)| *slot = entity);
            self.held = Held::Few(number(self.len()), few);
        } else if self.len() <= SHORT
            && let Held::Many(_) = self.held
        {
            self.held = Held::Some(self.iter().collect());
        }
    }

    /// The entities without holes, to be put in another order.
    pub(crate) fn order(&mut self) -> &mut [Entity] {
        match &mut self.held {
            Held::Few(len, few) => &mut few[..*len as usize],
            Held::Some(some) => some,
            Held::Many(many) => {
                many.pack();
                &mut many.slots
            }
        }
    }

    /// Puts an entity that is not in the list at an index, or at the end if there are not as many.
    pub fn insert(&mut self, index: usize, entity: Entity) {
        self.push(entity);
        if index + 1 < self.len() {
            self.order()[index..].rotate_right(1);
        }
    }

    /// Moves an entity of the list to an index, or to the end if there are not as many.
    pub fn place(&mut self, entity: Entity, index: usize) {
        if self.remove(entity) {
            self.insert(index, entity);
        }
    }

    /// Takes the entity at an index out; the others keep their order.
    pub fn remove_at(&mut self, index: usize) -> Option<Entity> {
        let entity = *self.as_slice().get(index)?;
        self.remove(entity);
        Some(entity)
    }

    /// Makes room for `additional` more entities.
    pub fn reserve(&mut self, additional: usize) {
        match &mut self.held {
            Held::Few(len, _) if *len as usize + additional <= FEW => {}
            Held::Some(some) if some.len() + additional <= SHORT => some.reserve(additional),
            Held::Many(many) => many.slots.reserve(additional),
            _ => self.move_out(additional),
        }
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        *self = Self::new();
    }

    /// Gives memory back that holds nothing.
    pub fn shrink_to_fit(&mut self) {
        self.come_home();
        match &mut self.held {
            Held::Few(..) => {}
            Held::Some(some) => some.shrink_to_fit(),
            Held::Many(many) => {
                many.pack();
                many.slots.shrink_to_fit();
            }
        }
    }

    /// Verifies what the list knows about itself. Slow: for tests.
    ///
    /// # Errors
    /// Says what does not hold.
    pub(crate) fn check(&self) -> Result<(), String> {
        match &self.held {
            Held::Few(len, few) => {
                let is_right = |(at, slot): (usize, &Entity)| (*slot == HOLE) == (at >= *len as usize);
                let right = few.iter().enumerate().all(is_right);
                if right { Ok(()) } else { Err(format!("{len} of {few:?}")) }
            }
            Held::Some(some) if some.len() > SHORT || some.contains(&HOLE) => Err(format!("some: {some:?}")),
            Held::Some(_) => Ok(()),
            Held::Many(many) => many.check(),
        }
    }
}

impl Many {
    #[inline]
    fn len(&self) -> usize {
        self.slots.len() - self.holes
    }

    #[inline]
    fn as_slice(&self) -> &[Entity] {
        if self.holes == 0 { &self.slots } else { self.packed() }
    }

    fn entities(&self) -> impl Iterator<Item = Entity> {
        self.slots.iter().copied().filter(|&entity| entity != HOLE)
    }

    #[cold]
    fn packed(&self) -> &[Entity] {
        self.packed.get_or_init(|| self.entities().inspect(|_| steps::count()).collect())
    }

    fn push(&mut self, entity: Entity) {
        if !self.positions.is_empty() {
            self.positions.insert(entity, number(self.slots.len()));
        }
        if self.holes > 0 {
            self.packed.take();
        }
        self.slots.push(entity);
    }

    fn remove(&mut self, entity: Entity, places: Option<&mut Places>) -> bool {
        steps::count();
        let Some(at) = self.position_to_remove(entity, places.as_deref()) else { return false };
        self.leave(at, places);
        true
    }

    /// Where an entity of a long list is that is removed.
    fn position_to_remove(&mut self, entity: Entity, places: Option<&Places>) -> Option<usize> {
        if self.positions.is_empty() {
            let noted = places.map_or(0, |places| places.of(entity));
            if self.slots.get(noted) == Some(&entity) {
                return Some(noted);
            }
            // No place is noted for the first ones, and code that takes the last ones again and again needs none.
            let (end, is_it) = (self.slots.len().saturating_sub(SHORT), |other: &Entity| *other == entity);
            if let Some(at) = self.slots[end..].iter().rposition(is_it) {
                return Some(end + at);
            }
            if let Some(at) = self.slots[..end.min(SHORT)].iter().position(is_it) {
                return Some(at);
            }
            let numbered = self.slots.iter().enumerate().filter(|&(_, &entity)| entity != HOLE);
            self.positions = numbered.inspect(|_| steps::count()).map(|(at, &e)| (e, number(at))).collect();
        }
        self.positions.remove(&entity).map(|at| at as usize)
    }

    /// Leaves a hole at a position that is not known any more.
    fn leave(&mut self, at: usize, places: Option<&mut Places>) {
        self.packed.take();
        if at + 1 == self.slots.len() {
            self.slots.pop();
            while self.slots.last() == Some(&HOLE) {
                self.slots.pop();
                self.holes -= 1;
            }
            return;
        }
        self.slots[at] = HOLE;
        self.holes += 1;
        if self.holes * 2 > self.slots.len() {
            self.pack();
            if let Some(places) = places {
                let noted = self.slots.iter().enumerate().skip(SHORT);
                noted.for_each(|(at, &entity)| places.note(entity, at));
            }
        }
    }

    /// Closes all holes. Positions are forgotten: they change.
    fn pack(&mut self) {
        if self.holes > 0 {
            match self.packed.take() {
                Some(packed) => self.slots = packed,
                None => self.slots.retain(|&entity| {
                    steps::count();
                    entity != HOLE
                }),
            }
            self.holes = 0;
        }
        if !self.positions.is_empty() {
            self.positions = HashMap::new();
        }
    }

    fn check(&self) -> Result<(), String> {
        let holes = self.slots.iter().filter(|&&entity| entity == HOLE).count();
        if holes != self.holes {
            return Err(format!("{holes} holes, but {} are counted", self.holes));
        }
        if self.slots.last() == Some(&HOLE) {
            return Err("the last slot is a hole".to_owned());
        }
        if !self.positions.is_empty() {
            let known = |(at, entity): (usize, &Entity)| {
                *entity == HOLE || self.positions.get(entity).is_some_and(|&known| known as usize == at)
            };
            if self.positions.len() != self.len() || !self.slots.iter().enumerate().all(known) {
                return Err("positions and slots disagree".to_owned());
            }
        }
        match self.packed.get() {
            Some(packed) if !self.entities().eq(packed.iter().copied()) => {
                Err("the packed copy is old".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Default for EntityList {
    fn default() -> Self {
        Self::new()
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("entities have 32-bit indices, so a list has fewer than 2^32")
}

impl Deref for EntityList {
    type Target = [Entity];

    #[inline]
    fn deref(&self) -> &[Entity] {
        self.as_slice()
    }
}

impl Clone for EntityList {
    fn clone(&self) -> Self {
        self.iter().collect()
    }
}

impl fmt::Debug for EntityList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for EntityList {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}
impl Eq for EntityList {}

impl Hash for EntityList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.len().hash(state);
        self.iter().for_each(|entity| entity.hash(state));
    }
}

impl Extend<Entity> for EntityList {
    fn extend<I: IntoIterator<Item = Entity>>(&mut self, entities: I) {
        let entities = entities.into_iter();
        self.reserve(entities.size_hint().0);
        entities.for_each(|entity| self.push(entity));
    }
}

impl FromIterator<Entity> for EntityList {
    fn from_iter<I: IntoIterator<Item = Entity>>(entities: I) -> Self {
        let mut list = Self::new();
        list.extend(entities);
        list
    }
}

impl<'a> IntoIterator for &'a EntityList {
    type Item = Entity;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The entities of an [`EntityList`], in order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    slots: std::slice::Iter<'a, Entity>,
    left: usize,
}

impl Iterator for Iter<'_> {
    type Item = Entity;

    #[inline]
    fn next(&mut self) -> Option<Entity> {
        let entity = self.slots.by_ref().copied().find(|&entity| entity != HOLE)?;
        self.left -= 1;
        Some(entity)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Entity> {
        let entity = self.slots.by_ref().copied().rfind(|&entity| entity != HOLE)?;
        self.left -= 1;
        Some(entity)
    }
}

impl ExactSizeIterator for Iter<'_> {}
impl std::iter::FusedIterator for Iter<'_> {}

/// Saved as the entities in order.
#[cfg(feature = "serde")]
mod saving {
    use serde::de::{Deserialize, Deserializer};
    use serde::ser::{Serialize, Serializer};

    use super::{Entity, EntityList};

    impl Serialize for EntityList {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.iter())
        }
    }

    impl<'de> Deserialize<'de> for EntityList {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            Vec::<Entity>::deserialize(deserializer).map(|list| list.into_iter().collect())
        }
    }
}

#[cfg(test)]
mod tests;
