//! What the items of a query are made with, beside their rows.
//!
//! A [`Moment`] is a tick, after which changes count as new. Where nothing can be written while the query lives, it also
//! knows the whole world, for data that read all of an entity. This module does not know what a world is: the maker
//! of the query hands it over, and the maker of such an item knows its type. What archetypes and components there are
//! is known to every query.

use std::any::Any;

use phalanx_store::Tick;

use crate::archetype::Archetypes;
use crate::registry::Components;

/// The moment of a query, and the world it is asked of where all of that may be read.
#[derive(Clone, Copy)]
pub struct Moment<'w> {
    /// What came or changed after it is new.
    pub tick: Tick,
    whole: Option<&'w (dyn Any + Send + Sync)>,
    around: Option<(&'w Archetypes, &'w Components)>,
}

impl<'w> Moment<'w> {
    /// The moment of a query that may read everything there is in `whole`.
    pub(crate) fn in_whole<W: Any + Send + Sync>(tick: Tick, whole: Option<&'w W>) -> Self {
        Self { tick, whole: whole.map(|whole| whole as _), around: None }
    }

    /// The same moment, of a query over these archetypes and components.
    #[inline(always)]
    pub(crate) fn among(self, archetypes: &'w Archetypes, components: &'w Components) -> Self {
        Self { around: Some((archetypes, components)), ..self }
    }

    /// The archetypes and components that there are.
    pub(crate) fn around(self) -> (&'w Archetypes, &'w Components) {
        self.around.expect("the moment of a query knows what is around it")
    }

    /// The world, if all of it may be read.
    pub(crate) fn whole(self) -> Option<&'w (dyn Any + Send + Sync)> {
        self.whole
    }
}

impl From<Tick> for Moment<'_> {
    fn from(tick: Tick) -> Self {
        Self { tick, whole: None, around: None }
    }
}
