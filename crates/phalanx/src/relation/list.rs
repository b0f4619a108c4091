//! A list of entities that keeps its order, and from which any one is removed in constant time.
//!
//! ```text
//!   slots       [a] [ ] [c] [d] [ ] [f]      a removal leaves a hole; half of the slots are no holes
//!   positions   a→0  c→2  d→3  f→5           made by the first removal from a long list, but for one near its end
//!   packed      [a] [c] [d] [f]              made by the first reader of a slice, gone with the next change
//! ```
//!
//! Removal looks the position up, and leaves a hole; when holes outnumber entities the list is packed. So removal is
//! constant, spread over many: making the positions takes as long as adding the entities did. Who wants a slice of a list with holes pays once for packing it, which costs as much as
//! reading it. A short list has no positions: it is searched. The list does not know what its entities mean (ADR 0055).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::OnceLock;

use hashbrown::HashMap;
use phalanx_store::Entity;

use crate::steps;

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
#[derive(Default)]
pub struct EntityList {
    slots: Vec<Entity>,
    holes: usize,
    /// There whenever there are holes.
    extra: Option<Box<Extra>>,
}

#[derive(Default)]
struct Extra {
    /// The slots of all entities, if anything is in it.
    positions: HashMap<Entity, u32>,
    /// The entities without holes, for those who want a slice.
    packed: OnceLock<Vec<Entity>>,
}

impl EntityList {
    /// An empty list.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), holes: 0, extra: None }
    }

    /// An empty list with room for `capacity` entities.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { slots: Vec::with_capacity(capacity), holes: 0, extra: None }
    }

    /// How many entities there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len() - self.holes
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entities as a slice. The first call after a removal from the middle packs a copy of the list.
    #[inline]
    pub fn as_slice(&self) -> &[Entity] {
        if self.holes == 0 { &self.slots } else { self.packed() }
    }

    #[cold]
    fn packed(&self) -> &[Entity] {
        let extra = self.extra.as_ref().expect("a list with holes has its extra part");
        extra.packed.get_or_init(|| self.iter().inspect(|_| steps::count()).collect())
    }

    /// The entities in order. Nothing is packed for it.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter { slots: self.slots.iter(), left: self.len() }
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
            && match &self.extra {
                Some(extra) if !extra.positions.is_empty() => extra.positions.contains_key(&entity),
                _ => self.slots.contains(&entity),
            }
    }

    /// Puts an entity at the end. It must not be in the list.
    pub fn push(&mut self, entity: Entity) {
        debug_assert!(entity != HOLE, "the placeholder is not an entity");
        if let Some(extra) = &mut self.extra {
            if !extra.positions.is_empty() {
                extra.positions.insert(entity, number(self.slots.len()));
            }
            extra.packed = OnceLock::new();
        }
        self.slots.push(entity);
    }

    /// Takes an entity out; the others keep their order. False when it is not in the list.
    pub fn remove(&mut self, entity: Entity) -> bool {
        let Some(at) = self.position_to_remove(entity) else { return false };
        self.leave(at);
        true
    }

    /// Where an entity is that is removed.
    fn position_to_remove(&mut self, entity: Entity) -> Option<usize> {
        if entity == HOLE {
            return None;
        }
        if self.slots.len() <= SHORT {
            if let Some(extra) = &mut self.extra {
                extra.positions = HashMap::new();
            }
            // Those that came last often go first.
            return self.slots.iter().rposition(|&other| other == entity);
        }
        let knows_positions = self.extra.as_ref().is_some_and(|extra| !extra.positions.is_empty());
        if !knows_positions {
            // Whoever takes the last ones again and again needs no positions.
            let end = self.slots.len() - SHORT;
            if let Some(at) = self.slots[end..].iter().rposition(|&other| other == entity) {
                steps::count();
                return Some(end + at);
            }
        }
        let extra = self.extra.get_or_insert_default();
        if !knows_positions {
            let numbered = self.slots.iter().enumerate().filter(|&(_, &entity)| entity != HOLE);
            extra.positions = numbered.inspect(|_| steps::count()).map(|(at, &e)| (e, number(at))).collect();
        }
        steps::count();
        extra.positions.remove(&entity).map(|at| at as usize)
    }

    /// Leaves a hole at a position of which nobody knows any more.
    fn leave(&mut self, at: usize) {
        if at + 1 == self.slots.len() {
            self.slots.pop();
            while self.slots.last() == Some(&HOLE) {
                self.slots.pop();
                self.holes -= 1;
            }
            if let Some(extra) = &mut self.extra {
                extra.packed = OnceLock::new();
            }
            return;
        }
        self.slots[at] = HOLE;
        self.holes += 1;
        self.extra.get_or_insert_default().packed = OnceLock::new();
        if self.holes * 2 > self.slots.len() {
            self.pack();
        }
    }

    /// Closes all holes. Positions are forgotten: they change.
    fn pack(&mut self) {
        if self.holes > 0 {
            let packed = self.extra.as_mut().and_then(|extra| extra.packed.take());
            match packed {
                Some(packed) => self.slots = packed,
                None => self.slots.retain(|&entity| {
                    steps::count();
                    entity != HOLE
                }),
            }
            self.holes = 0;
        }
        self.extra = None;
    }

    /// The entities without holes, to be put in another order.
    pub(crate) fn order(&mut self) -> &mut [Entity] {
        self.pack();
        &mut self.slots
    }

    /// Puts an entity that is not in the list at an index, or at the end if there are not as many.
    pub fn insert(&mut self, index: usize, entity: Entity) {
        if index >= self.len() {
            return self.push(entity);
        }
        self.pack();
        self.slots.insert(index, entity);
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
        self.slots.reserve(additional);
    }

    /// Takes everything out.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.holes = 0;
        self.extra = None;
    }

    /// Gives memory back that holds nothing.
    pub fn shrink_to_fit(&mut self) {
        self.pack();
        self.slots.shrink_to_fit();
    }

    /// Verifies what the list knows about itself. Slow: for tests.
    ///
    /// # Errors
    /// Says what does not hold.
    pub(crate) fn check(&self) -> Result<(), String> {
        let holes = self.slots.iter().filter(|&&entity| entity == HOLE).count();
        if holes != self.holes {
            return Err(format!("{holes} holes, but {} are counted", self.holes));
        }
        if self.slots.last() == Some(&HOLE) {
            return Err("the last slot is a hole".to_owned());
        }
        let Some(extra) = &self.extra else {
            return if holes == 0 { Ok(()) } else { Err("holes without the extra part".to_owned()) };
        };
        if !extra.positions.is_empty() {
            let known = |(at, entity): (usize, &Entity)| {
                *entity == HOLE || extra.positions.get(entity).is_some_and(|&known| known as usize == at)
            };
            if extra.positions.len() != self.len() || !self.slots.iter().enumerate().all(known) {
                return Err("positions and slots disagree".to_owned());
            }
        }
        match extra.packed.get() {
            Some(packed) if !self.iter().eq(packed.iter().copied()) => {
                Err("the packed copy is old".to_owned())
            }
            _ => Ok(()),
        }
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
        Self { slots: entities.into_iter().collect(), holes: 0, extra: None }
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
mod tests {
    use super::*;

    fn entities(count: u32) -> Vec<Entity> {
        let bits = |index: u32| (1 << 32) | u64::from(index);
        (0..count).map(|index| Entity::from_bits(bits(index)).expect("a first generation")).collect()
    }

    #[test]
    fn removing_one_of_many_takes_constant_steps() {
        for count in [1_000, 100_000] {
            let all = entities(count);
            let mut list: EntityList = all.iter().copied().collect();
            let steps = steps::of(|| (1..30).for_each(|at| assert!(list.remove(all[all.len() - at]))));
            assert_eq!(steps, 29, "those near the end need no positions");
            let steps = steps::of(|| list.remove(all[7]));
            assert_eq!(steps, u64::from(count) - 28, "the first one of the others makes them");
            let steps = steps::of(|| (8..58).for_each(|at| assert!(list.remove(all[at]))));
            assert_eq!(steps, 50, "positions are known from the first removal on");
            list.check().unwrap();
        }
    }

    #[test]
    fn removing_all_in_any_order_takes_linear_steps() {
        let all = entities(50_000);
        for stride in [1, 7, 49_999, 24_999] {
            let mut list: EntityList = all.iter().copied().collect();
            let steps = steps::of(|| {
                (0..all.len()).for_each(|at| assert!(list.remove(all[at * stride % all.len()])));
            });
            assert!(list.is_empty());
            assert!(steps < 8 * all.len() as u64, "{steps} steps");
        }
    }

    #[test]
    fn a_random_history_agrees_with_a_vector() {
        let all = entities(300);
        let mut state = 7_u64;
        let mut next = |end: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).expect("31 bits") % end
        };
        let (mut list, mut model) = (EntityList::new(), Vec::new());
        for step in 0..60_000 {
            let entity = all[next(all.len())];
            let there = model.iter().position(|&other| other == entity);
            match (next(12), there) {
                (0..6, None) => {
                    list.push(entity);
                    model.push(entity);
                }
                (6, None) => {
                    let at = next(model.len() + 2);
                    list.insert(at, entity);
                    model.insert(at.min(model.len()), entity);
                }
                (7, Some(from)) => {
                    let to = next(model.len() + 2);
                    list.place(entity, to);
                    model.remove(from);
                    model.insert(to.min(model.len()), entity);
                }
                (8, _) if !model.is_empty() => {
                    let at = next(model.len());
                    assert_eq!(list.remove_at(at), Some(model.remove(at)));
                }
                (9, _) => assert_eq!(list.as_slice(), model),
                (10, _) if next(200) == 0 => {
                    list.order().sort_unstable();
                    model.sort_unstable();
                }
                (11, _) if next(2_000) == 0 => {
                    list.clear();
                    model.clear();
                }
                _ => {
                    assert_eq!(list.remove(entity), there.is_some());
                    there.map(|at| model.remove(at));
                }
            }
            list.check().unwrap_or_else(|error| panic!("step {step}: {error}"));
            assert_eq!(list.len(), model.len());
            if step % 64 == 0 {
                assert!(list.iter().eq(model.iter().copied()));
                assert!(list.iter().rev().eq(model.iter().rev().copied()));
                assert_eq!((list.first(), list.last()), (model.first().copied(), model.last().copied()));
                assert_eq!(list.contains(entity), model.contains(&entity));
                assert_eq!(list.clone(), list);
            }
        }
    }
}
