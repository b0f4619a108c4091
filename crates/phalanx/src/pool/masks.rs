//! The masks of a pool's archetypes, and what a query compares them with.
//!
//! A mask has one bit per component of its pool, so that a whole archetype is tested with a single AND. Up to 64
//! components fit into 8 bytes, up to 128 into 16; eight or four masks share a cache line.

/// The masks of a pool's archetypes, as wide as the pool needs.
#[derive(Debug)]
pub(super) enum Masks {
    Narrow(Vec<u64>),
    Wide(Vec<u128>),
}

impl Masks {
    pub(super) fn get(&self, at: usize) -> u128 {
        match self {
            Self::Narrow(masks) => u128::from(masks[at]),
            Self::Wide(masks) => masks[at],
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(masks) => masks.len(),
            Self::Wide(masks) => masks.len(),
        }
    }

    pub(super) fn push(&mut self, mask: u128) {
        match self {
            Self::Narrow(masks) => {
                masks.push(u64::try_from(mask).expect("a pool of up to 64 components has narrow masks"));
            }
            Self::Wide(masks) => masks.push(mask),
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Narrow(masks) => masks.clear(),
            Self::Wide(masks) => masks.clear(),
        }
    }

    /// Keeps those masks for which `stays` says so, when it is asked about one after the other.
    pub(super) fn retain(&mut self, mut stays: impl FnMut() -> bool) {
        match self {
            Self::Narrow(masks) => masks.retain(|_| stays()),
            Self::Wide(masks) => masks.retain(|_| stays()),
        }
    }

    pub(super) fn position(&self, mask: u128) -> Option<usize> {
        match self {
            Self::Narrow(masks) => masks.iter().position(|&known| u128::from(known) == mask),
            Self::Wide(masks) => masks.iter().position(|&known| known == mask),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Narrow(masks) => masks.capacity() * size_of::<u64>(),
            Self::Wide(masks) => masks.capacity() * size_of::<u128>(),
        }
    }
}

/// What a query must look at to know whether an archetype of one pool matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// No archetype of the pool can match.
    Never,
    /// Every archetype of the pool matches.
    Always,
    /// The masked bits must be exactly these.
    Bits { mask: u128, wanted: u128 },
}
