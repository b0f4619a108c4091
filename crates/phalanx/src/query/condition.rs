//! What an archetype must have to be visited by a query.
//!
//! A query's terms form a [`Condition`], a small tree that can be shown and asked which part an entity
//! fails. For matching it is brought to one normal form, a set of alternatives of (all of, none of), so
//! that two queries that ask for the same thing in different words are the same [`Filter`], and share
//! what was found.

use std::fmt;

use phalanx_store::AnyColId;

use crate::archetype::{ArchetypeId, Archetypes};
use crate::registry::Components;
use crate::signature::Signature;

/// A condition on the components of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Has the component with this first column.
    With(AnyColId, &'static str),
    /// Lacks the component with this first column.
    Without(AnyColId, &'static str),
    /// Has the sparse component with this first column, which archetypes do not know.
    InSet(AnyColId, &'static str),
    /// Lacks the sparse component with this first column.
    NotInSet(AnyColId, &'static str),
    /// All of these hold.
    All(Vec<Condition>),
    /// At least one of these holds.
    Any(Vec<Condition>),
}

impl Condition {
    /// The condition that always holds.
    pub fn always() -> Self {
        Self::All(Vec::new())
    }

    fn is_always(&self) -> bool {
        match self {
            Self::With(..) | Self::Without(..) | Self::InSet(..) | Self::NotInSet(..) => false,
            Self::All(parts) => parts.iter().all(Self::is_always),
            Self::Any(parts) => parts.iter().any(Self::is_always),
        }
    }

    /// Whether an entity meets the condition. `has` tells of a component, by its first column, whether it is there.
    pub fn holds(&self, has: &dyn Fn(AnyColId) -> bool) -> bool {
        match self {
            Self::With(key, _) | Self::InSet(key, _) => has(*key),
            Self::Without(key, _) | Self::NotInSet(key, _) => !has(*key),
            Self::All(parts) => parts.iter().all(|part| part.holds(has)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(has)),
        }
    }

    /// The first part that an entity does not meet.
    pub fn first_failure(&self, has: &dyn Fn(AnyColId) -> bool) -> Option<&Self> {
        match self {
            Self::All(parts) => parts.iter().find_map(|part| part.first_failure(has)),
            _ => (!self.holds(has)).then_some(self),
        }
    }

    /// The sparse components that every match must have.
    pub(crate) fn leaders(&self) -> Vec<(AnyColId, &'static str)> {
        match self {
            Self::InSet(key, name) => vec![(*key, *name)],
            Self::All(parts) => parts.iter().flat_map(Self::leaders).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a component in it is not registered yet, so that its filter may still change.
    pub(crate) fn is_open(&self, components: &Components) -> bool {
        match self {
            Self::With(key, _) | Self::Without(key, _) => components.by_key(*key).is_none(),
            Self::InSet(..) | Self::NotInSet(..) => false,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.is_open(components)),
        }
    }

    /// The normal form of what archetypes decide; sparse components are looked up per entity.
    pub(crate) fn filter(&self, components: &Components) -> Filter {
        Filter::normal(match self {
            Self::With(key, _) => match components.by_key(*key) {
                Some(id) => vec![Alternative { all: Signature::from_ids([id]), none: Signature::empty() }],
                // Nobody has a component that the world has not met.
                None => Vec::new(),
            },
            Self::Without(key, _) => {
                let none = components.by_key(*key).into_iter().collect();
                vec![Alternative { all: Signature::empty(), none }]
            }
            Self::InSet(..) | Self::NotInSet(..) => vec![Alternative::default()],
            Self::Any(parts) => parts.iter().flat_map(|part| part.filter(components).alternatives).collect(),
            Self::All(parts) => parts.iter().fold(vec![Alternative::default()], |so_far, part| {
                let more = part.filter(components).alternatives;
                so_far.iter().flat_map(|one| more.iter().map(|other| one.and(other))).collect()
            }),
        })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = |parts: &[Self], between: &str| {
            let texts = parts.iter().filter(|part| !part.is_always()).map(ToString::to_string);
            texts.collect::<Vec<_>>().join(between)
        };
        match self {
            Self::With(_, name) | Self::InSet(_, name) => write!(f, "with {name}"),
            Self::Without(_, name) | Self::NotInSet(_, name) => write!(f, "without {name}"),
            _ if self.is_always() => write!(f, "anything"),
            Self::All(parts) => write!(f, "{}", texts(parts, ", ")),
            Self::Any(parts) if parts.is_empty() => write!(f, "nothing"),
            Self::Any(parts) => write!(f, "({})", texts(parts, " or ")),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Alternative {
    all: Signature,
    none: Signature,
}

impl Alternative {
    fn and(&self, other: &Self) -> Self {
        Self { all: self.all.union(&other.all), none: self.none.union(&other.none) }
    }

    /// How many components it asks about.
    fn size(&self) -> usize {
        self.all.len() + self.none.len()
    }

    /// Whether whatever meets this alternative meets the other one, too.
    fn implies(&self, other: &Self) -> bool {
        self.all.contains(&other.all) && self.none.contains(&other.none)
    }
}

/// A condition in normal form: equal filters match the same archetypes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    alternatives: Vec<Alternative>,
}

impl Filter {
    pub(crate) fn from_parts(all: Signature, none: Signature, any_of: &[Signature]) -> Self {
        let mut alternatives = vec![Alternative { all, none }];
        for group in any_of {
            let with = |one: &Alternative| {
                group
                    .iter()
                    .map(|id| Alternative { all: one.all.with(id), none: one.none.clone() })
                    .collect::<Vec<_>>()
            };
            alternatives = Self::normal(alternatives.iter().flat_map(with).collect()).alternatives;
        }
        Self::normal(alternatives)
    }

    /// Brings alternatives into one order, without those that cannot be met or that another one implies.
    fn normal(mut alternatives: Vec<Alternative>) -> Self {
        alternatives.retain(|one| !one.all.overlaps(&one.none));
        alternatives.sort_by_cached_key(|one| {
            (one.size(), one.all.iter().collect::<Vec<_>>(), one.none.iter().collect::<Vec<_>>())
        });
        alternatives.dedup();
        let mut kept: Vec<Alternative> = Vec::with_capacity(alternatives.len());
        let mut smaller = 0;
        for one in alternatives {
            if kept.last().is_some_and(|last| last.size() < one.size()) {
                smaller = kept.len();
            }
            // What another one implies is larger than that one, so few have to be compared.
            if !kept[..smaller].iter().any(|other| one.implies(other)) {
                kept.push(one);
            }
        }
        Self { alternatives: kept }
    }

    /// Whether an archetype with this signature matches.
    pub fn matches(&self, signature: &Signature) -> bool {
        self.alternatives.iter().any(|one| signature.contains(&one.all) && !signature.overlaps(&one.none))
    }

    /// The archetypes that match, in order of creation. Where all alternatives share components, only the
    /// archetypes of the rarest of these are looked at.
    pub(crate) fn find(&self, archetypes: &Archetypes) -> Vec<ArchetypeId> {
        let Some((first, rest)) = self.alternatives.split_first() else { return Vec::new() };
        let shared = rest.iter().fold(first.all.clone(), |shared, one| shared.intersection(&one.all));
        let candidates = archetypes.matching(&shared, &Signature::empty(), &Signature::empty());
        candidates.into_iter().filter(|&id| self.matches(archetypes.signature(id))).collect()
    }
}
