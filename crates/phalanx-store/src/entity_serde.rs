//! Entity ids in serde formats, and the map that ids pass through while a world is loaded into another one.
//!
//! Readable formats get the text that [`Display`](std::fmt::Display) writes (`12v3`), others the number of
//! [`Entity::to_bits`]. Reading an id consults the map of the present scope, on this thread: so whatever type an id
//! lies in, it comes out as the id of this world, and mapping cannot be forgotten. Ids that the map lacks become
//! [`Entity::PLACEHOLDER`], which is never alive. Outside of a scope ids stay as they are.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::entity::Entity;

/// The name by which formats that are not readable know that a number is an entity.
pub const ENTITY_NEWTYPE: &str = "$phalanx::Entity";

/// Which id stands for which, sorted by the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntityMap(Vec<(Entity, Entity)>);

impl EntityMap {
    /// The map of these pairs. Of several with the same first id, the last one counts.
    pub fn new(pairs: impl IntoIterator<Item = (Entity, Entity)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.reverse();
        pairs.sort_by_key(|pair| pair.0);
        pairs.dedup_by_key(|pair| pair.0);
        Self(pairs)
    }

    /// What an id stands for.
    pub fn get(&self, entity: Entity) -> Option<Entity> {
        let at = self.0.binary_search_by_key(&entity, |pair| pair.0).ok()?;
        Some(self.0[at].1)
    }

    /// All pairs, sorted by the first id.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, Entity)> + '_ {
        self.0.iter().copied()
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

thread_local! {
    static MAP: RefCell<Option<Rc<EntityMap>>> = const { RefCell::new(None) };
}

/// Puts the map back that was there before, also when the scope ends by a panic.
struct Scope(Option<Rc<EntityMap>>);

impl Drop for Scope {
    fn drop(&mut self) {
        MAP.set(self.0.take());
    }
}

/// Runs `f` while ids that are read on this thread pass through `map`, or stay as they are with `None`.
pub fn entity_map_scope<R>(map: Option<EntityMap>, f: impl FnOnce() -> R) -> R {
    let _scope = Scope(MAP.replace(map.map(Rc::new)));
    f()
}

/// The id as the present scope has it.
fn mapped(entity: Entity) -> Entity {
    let map = MAP.with_borrow(Option::clone);
    map.map_or(entity, |map| map.get(entity).unwrap_or(Entity::PLACEHOLDER))
}

impl Serialize for Entity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        serializer.serialize_newtype_struct(ENTITY_NEWTYPE, &self.to_bits())
    }
}

impl<'de> Deserialize<'de> for Entity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return deserializer.deserialize_str(Id).map(mapped);
        }
        deserializer.deserialize_newtype_struct(ENTITY_NEWTYPE, Id).map(mapped)
    }
}

struct Id;

impl<'de> Visitor<'de> for Id {
    type Value = Entity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entity, as `12v3` or as its bits")
    }

    fn visit_u64<E: Error>(self, bits: u64) -> Result<Entity, E> {
        Entity::from_bits(bits).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(bits), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Entity, E> {
        parse(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Entity, D::Error> {
        deserializer.deserialize_u64(self)
    }
}

/// The id that is written so.
fn parse(text: &str) -> Option<Entity> {
    if text == "PLACEHOLDER" {
        return Some(Entity::PLACEHOLDER);
    }
    let (index, generation) = text.split_once('v')?;
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        plain.then(|| digits.parse::<u32>().ok()).flatten()
    };
    let (index, generation) = (number(index)?, number(generation)?);
    Entity::from_bits(u64::from(generation.checked_add(1)?) << 32 | u64::from(index))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_printed() {
        for bits in [1 << 32, 4 << 32 | 12, u64::MAX, (u64::from(u32::MAX) << 32) | 5] {
            let entity = Entity::from_bits(bits).expect("an id");
            assert_eq!(parse(&entity.to_string()), Some(entity));
        }
        for text in ["", "v", "1v", "v1", "+1v0", "1v4294967295", "4294967296v0", "1v0v0"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_scope_ends_with_its_function_also_by_a_panic() {
        let id = |index: u64| Entity::from_bits(1 << 32 | index).expect("an id");
        let map = EntityMap::new([(id(1), id(5)), (id(2), id(6)), (id(1), id(7))]);
        assert_eq!(map.len(), 2);
        entity_map_scope(Some(map), || {
            assert_eq!(mapped(id(1)), id(7));
            assert_eq!(mapped(id(3)), Entity::PLACEHOLDER);
            entity_map_scope(None, || assert_eq!(mapped(id(3)), id(3)));
            let inner = || entity_map_scope(None, || panic!("told to panic"));
            assert!(std::panic::catch_unwind(inner).is_err());
            assert_eq!(mapped(id(2)), id(6));
        });
        assert_eq!(mapped(id(1)), id(1));
    }
}
