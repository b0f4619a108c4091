//! The name of one entity: which slot of the directory, and which use of that slot.
//!
//! ```text
//!   bits   63 ............ 32   31 ............ 0
//!          generation + 1       index               8 bytes, aligned to 4
//! ```
//!
//! The upper half is never zero, which leaves `Option<Entity>` its niche: 8 bytes too. Two ids are equal
//! only when both halves are, so an id kept after its entity died never passes for the slot's next one.
//! All comparisons go through [`Entity::to_bits`] and cost one 64-bit comparison.
//!
//! An id carries no data and knows no world: whether it is alive, only the directory (`Entities`) can say.

#![forbid(unsafe_code)]

use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;

/// Names one entity, for as long as it lives and never another one afterwards.
///
/// Ids are ordered by generation first and index second, as their [bits](Entity::to_bits) are. The
/// order means nothing beyond being total and stable.
///
/// # Examples
///
/// ```
/// use phalanx_store::Entity;
///
/// let entity = Entity::from_bits(4 << 32 | 12).expect("the upper half is not zero");
/// assert_eq!((entity.index(), entity.generation()), (12, 3));
/// assert_eq!(entity.to_string(), "12v3");
/// assert_eq!(size_of::<Option<Entity>>(), 8);
/// ```
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Entity {
    index: u32,
    raw_generation: NonZeroU32,
}

impl Entity {
    /// An id that is never alive, for fields which are filled in later.
    ///
    /// It has the largest index, which no directory hands out, and the largest generation, with which
    /// a slot is already retired.
    pub const PLACEHOLDER: Self = Self::new(u32::MAX, NonZeroU32::MAX);

    /// Joins an index and a raw generation, which is the generation plus one.
    #[inline]
    pub(crate) const fn new(index: u32, raw_generation: NonZeroU32) -> Self {
        Self { index, raw_generation }
    }

    /// What stands in the place of an owner that a row has lost, and leads to another such row: for the store alone.
    #[inline]
    pub(crate) const fn unowned(next: u32) -> Self {
        Self::new(next, Self::PLACEHOLDER.raw_generation)
    }

    /// Whether this is what [`Entity::unowned`] made, or the placeholder: nothing else has that generation.
    #[inline]
    pub(crate) const fn is_unowned(self) -> bool {
        self.raw_generation.get() == Self::PLACEHOLDER.raw_generation.get()
    }

    /// Returns the number of the slot that the entity occupies.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The same as [`Entity::index`].
    #[inline]
    pub const fn index_u32(self) -> u32 {
        self.index
    }

    /// Returns the id of the first entity with this slot, or `None` for the index that no slot has.
    ///
    /// A made-up id is safe to use; see [`Entity::from_bits`].
    #[inline]
    pub const fn from_raw_u32(index: u32) -> Option<Self> {
        if index == u32::MAX { None } else { Some(Self::new(index, NonZeroU32::MIN)) }
    }

    /// Returns how many entities had this slot before; 0 for the first one.
    #[inline]
    pub const fn generation(self) -> u32 {
        self.raw_generation.get() - 1
    }

    /// Returns the generation as it is stored: plus one, never zero.
    #[inline]
    pub(crate) const fn raw_generation(self) -> NonZeroU32 {
        self.raw_generation
    }

    /// Returns the id as a number: the index in the low 32 bits, the generation plus one in the high.
    ///
    /// The format is stable, on every platform, and may be written to files.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        (self.raw_generation.get() as u64) << 32 | self.index as u64
    }

    /// Returns the id that [`to_bits`](Entity::to_bits) turned into this number, or `None` if no id has it.
    ///
    /// Any number with a non-zero upper half is an id. A made-up one is safe to use: at worst it names
    /// an entity that its maker did not mean, and mostly none.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "each half is cut out on purpose")]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match NonZeroU32::new((bits >> 32) as u32) {
            Some(raw_generation) => Some(Self::new(bits as u32, raw_generation)),
            None => None,
        }
    }
}

impl PartialEq for Entity {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Eq for Entity {}

impl PartialOrd for Entity {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entity {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_bits().cmp(&other.to_bits())
    }
}

impl Hash for Entity {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.to_bits());
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::PLACEHOLDER {
            return f.write_str("PLACEHOLDER");
        }
        write!(f, "{}v{}", self.index, self.generation())
    }
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn entity(index: u32, raw_generation: u32) -> Entity {
        Entity::new(index, NonZeroU32::new(raw_generation).expect("not zero"))
    }

    // O-036: the generation costs no memory beside the id.
    #[test]
    fn an_id_and_an_optional_id_take_eight_bytes() {
        assert_eq!(size_of::<Entity>(), 8);
        assert_eq!(align_of::<Entity>(), 4);
        assert_eq!(size_of::<Option<Entity>>(), 8);
    }

    // O-009, O-016..O-018, E-041, E-044: one integer, two parts, at 32 + 32 bits.
    #[test]
    fn bits_hold_the_index_low_and_the_raw_generation_high() {
        assert_eq!(entity(12, 4).to_bits(), 0x0000_0004_0000_000c);
        assert_eq!(entity(u32::MAX - 1, 1).to_bits(), 0x0000_0001_ffff_fffe);
        assert_eq!(entity(12, 4).index(), 12);
        assert_eq!(entity(12, 4).generation(), 3);
    }

    // O-014: a high generation does not turn negative.
    #[test]
    fn bits_and_back_is_the_same_id_at_every_extreme() {
        for index in [0, 1, 12, u32::MAX - 1, u32::MAX] {
            for raw in [1, 2, 1 << 31, u32::MAX - 1, u32::MAX] {
                let e = entity(index, raw);
                assert_eq!(Entity::from_bits(e.to_bits()), Some(e));
                assert_eq!((e.index(), e.generation()), (index, raw - 1));
            }
        }
    }

    #[test]
    fn a_number_without_a_generation_is_no_id() {
        assert_eq!(Entity::from_bits(0), None);
        assert_eq!(Entity::from_bits(u64::from(u32::MAX)), None);
        assert!(Entity::from_bits(1 << 32).is_some());
    }

    // O-021, O-022, E-043
    #[test]
    fn ids_are_equal_only_in_both_parts() {
        assert_eq!(entity(3, 1), entity(3, 1));
        assert_ne!(entity(3, 1), entity(3, 2));
        assert_ne!(entity(3, 1), entity(4, 1));
        let set: HashSet<_> = [entity(3, 1), entity(3, 2), entity(4, 1), entity(3, 1)].into();
        assert_eq!(set.len(), 3);
    }

    #[test]
    fn order_is_that_of_the_bits() {
        let mut ids = [entity(0, 2), entity(9, 1), entity(1, 2), entity(0, 1)];
        ids.sort();
        assert_eq!(ids, [entity(0, 1), entity(9, 1), entity(0, 2), entity(1, 2)]);
        assert!(ids.iter().all(|e| *e < Entity::PLACEHOLDER));
    }

    #[test]
    fn ids_print_as_index_and_generation() {
        assert_eq!(format!("{} {:?}", entity(12, 4), entity(0, 1)), "12v3 0v0");
        assert_eq!(Entity::PLACEHOLDER.to_string(), "PLACEHOLDER");
        assert_eq!(format!("{:?}", Some(Entity::PLACEHOLDER)), "Some(PLACEHOLDER)");
        assert_eq!(entity(u32::MAX, 1).to_string(), "4294967295v0");
    }
}
