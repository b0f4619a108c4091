//! What an archetype must have to be visited by a query.
//!
//! A query's terms form a [`Condition`], a small tree that can be shown and asked which part an entity
//! fails. For matching it is brought to one normal form, a set of alternatives of (all of, none of, pools), so
//! that two queries that ask for the same thing in different words are the same [`Filter`], and share
//! what was found.

use std::fmt;

use phalanx_store::AnyColId;
use phalanx_store::sorting;

use crate::archetype::{ArchetypeId, Archetypes};
use crate::pool::{PoolId, Pools};
use crate::registry::Components;
use crate::signature::Signature;
use crate::steps;

/// A condition on the components of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Has the component with this first column.
    With(AnyColId, &'static str),
    /// Lacks the component with this first column.
    Without(AnyColId, &'static str),
    /// Is in the pool whose tables this column marks.
    InPool(AnyColId, &'static str),
    /// Is in another pool.
    NotInPool(AnyColId, &'static str),
    /// Has the sparse component with this first column, which archetypes do not know.
    InSet(AnyColId, &'static str),
    /// Lacks the sparse component with this first column.
    NotInSet(AnyColId, &'static str),
    /// Holds always, and mentions the component with this first column: if it disables entities, they are visited.
    Allow(AnyColId, &'static str),
    /// Holds always, and mentions all components that disable entities.
    AllowAll,
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

    /// The condition that all of some conditions hold.
    pub fn all<const N: usize>(parts: [Self; N]) -> Self {
        Self::All(Vec::from(parts))
    }

    /// As [`Condition::all`], of conditions that are not made yet: no code is compiled for each list of them.
    pub(crate) fn all_of(parts: &[fn() -> Self]) -> Self {
        Self::All(parts.iter().map(|part| part()).collect())
    }

    fn is_always(&self) -> bool {
        match self {
            Self::With(..) | Self::Without(..) | Self::InPool(..) | Self::NotInPool(..) => false,
            Self::InSet(..) | Self::NotInSet(..) => false,
            Self::Allow(..) | Self::AllowAll => true,
            Self::All(parts) => parts.iter().all(Self::is_always),
            Self::Any(parts) => parts.iter().any(Self::is_always),
        }
    }

    /// Whether an entity meets the condition. `has` tells of a component, by its first column, whether it is there, and
    /// of a pool, by the column that marks it, whether the entity is in it.
    pub fn holds(&self, has: &dyn Fn(AnyColId) -> bool) -> bool {
        match self {
            Self::With(key, _) | Self::InSet(key, _) | Self::InPool(key, _) => has(*key),
            Self::Without(key, _) | Self::NotInSet(key, _) | Self::NotInPool(key, _) => !has(*key),
            Self::Allow(..) | Self::AllowAll => true,
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

    /// All parts that an entity does not meet; of alternatives, all of them together.
    pub fn failures(&self, has: &dyn Fn(AnyColId) -> bool) -> Vec<&Self> {
        match self {
            Self::All(parts) => parts.iter().flat_map(|part| part.failures(has)).collect(),
            _ if self.holds(has) => Vec::new(),
            _ => vec![self],
        }
    }

    /// The sparse components that every match must have.
    pub(crate) fn drivers(&self) -> Vec<(AnyColId, &'static str)> {
        match self {
            Self::InSet(key, name) => vec![(*key, *name)],
            Self::All(parts) => parts.iter().flat_map(Self::drivers).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a component is mentioned, by its first column.
    pub(crate) fn mentions(&self, component: AnyColId) -> bool {
        match self {
            Self::With(key, _) | Self::Without(key, _) | Self::Allow(key, _) => *key == component,
            Self::InSet(..) | Self::NotInSet(..) | Self::InPool(..) | Self::NotInPool(..) => false,
            Self::AllowAll => true,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.mentions(component)),
        }
    }

    /// That those components are lacking which disable entities and are not mentioned here.
    pub(crate) fn enabled(&self, disabling: &[(AnyColId, &'static str)]) -> Vec<Self> {
        let unmentioned = disabling.iter().filter(|(key, _)| !self.mentions(*key));
        unmentioned.map(|&(key, name)| Self::Without(key, name)).collect()
    }

    /// Whether a sparse component is asked for, which is looked up per entity.
    pub(super) fn is_per_row(&self) -> bool {
        match self {
            Self::InSet(..) | Self::NotInSet(..) => true,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_per_row),
            _ => false,
        }
    }

    /// Whether another condition is one that must hold for this one.
    pub(super) fn asks_for(&self, other: &Self) -> bool {
        self == other || matches!(self, Self::All(parts) if parts.iter().any(|part| part.asks_for(other)))
    }

    /// Whether a component or pool in it is not registered yet, so that its filter may still change.
    pub(crate) fn is_open(&self, components: &Components, pools: &Pools) -> bool {
        match self {
            Self::With(key, _) | Self::Without(key, _) => components.by_key(*key).is_none(),
            Self::InPool(key, _) | Self::NotInPool(key, _) => pools.by_key(*key).is_none(),
            Self::InSet(..) | Self::NotInSet(..) | Self::Allow(..) | Self::AllowAll => false,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(|part| part.is_open(components, pools)),
        }
    }

    /// The normal form of what archetypes decide; sparse components are looked up per entity.
    pub(crate) fn filter(&self, components: &Components, pools: &Pools) -> Filter {
        let one = |all, none, scope| vec![Alternative { all, none, scope }];
        let nothing = Signature::empty;
        Filter::normal(match self {
            Self::With(key, _) => match components.by_key(*key) {
                Some(id) => one(Signature::from_ids([id]), nothing(), Scope::default()),
                // No entity has a component that the world has not met.
                None => Vec::new(),
            },
            Self::Without(key, _) => {
                one(nothing(), components.by_key(*key).into_iter().collect(), Scope::default())
            }
            Self::InPool(key, _) => match pools.by_key(*key) {
                Some(pool) => one(nothing(), nothing(), Scope::Only(pool)),
                None => Vec::new(),
            },
            Self::NotInPool(key, _) => {
                one(nothing(), nothing(), Scope::AllBut(pools.by_key(*key).into_iter().collect()))
            }
            Self::Any(parts) => {
                parts.iter().flat_map(|part| part.filter(components, pools).alternatives).collect()
            }
            Self::InSet(..) | Self::NotInSet(..) | Self::Allow(..) | Self::AllowAll => {
                vec![Alternative::default()]
            }
            Self::All(parts) => parts.iter().fold(vec![Alternative::default()], |so_far, part| {
                let more = part.filter(components, pools).alternatives;
                so_far.iter().flat_map(|one| more.iter().filter_map(|other| one.and(other))).collect()
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
            Self::InPool(_, name) => write!(f, "in {name}"),
            Self::NotInPool(_, name) => write!(f, "not in {name}"),
            _ if self.is_always() => write!(f, "anything"),
            Self::Allow(..) | Self::AllowAll => write!(f, "anything"),
            Self::All(parts) => write!(f, "{}", texts(parts, ", ")),
            Self::Any(parts) if parts.is_empty() => write!(f, "nothing"),
            Self::Any(parts) => write!(f, "({})", texts(parts, " or ")),
        }
    }
}

/// The pools that an alternative looks at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Scope {
    /// All but these, in ascending order.
    AllBut(Vec<PoolId>),
    Only(PoolId),
}

impl Default for Scope {
    fn default() -> Self {
        Self::AllBut(Vec::new())
    }
}

impl Scope {
    fn admits(&self, pool: PoolId) -> bool {
        match self {
            Self::AllBut(others) => !others.contains(&pool),
            Self::Only(only) => *only == pool,
        }
    }

    /// The pools of both; `None` when there is none.
    fn and(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::AllBut(some), Self::AllBut(more)) => {
                let mut all = [some.as_slice(), more].concat();
                sorting::sort(&mut all);
                all.dedup();
                Some(Self::AllBut(all))
            }
            (Self::Only(pool), scope) | (scope, Self::Only(pool)) => {
                scope.admits(*pool).then_some(Self::Only(*pool))
            }
        }
    }

    /// Whether all pools of this one are pools of the other one, too.
    fn implies(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Only(pool), scope) => scope.admits(*pool),
            (Self::AllBut(some), Self::AllBut(fewer)) => fewer.iter().all(|pool| some.contains(pool)),
            (Self::AllBut(_), Self::Only(_)) => false,
        }
    }

    /// A number that is larger for a scope which implies another one.
    fn size(&self) -> usize {
        match self {
            Self::AllBut(others) => others.len(),
            Self::Only(_) => 1 << 24,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Alternative {
    all: Signature,
    none: Signature,
    scope: Scope,
}

impl Alternative {
    fn and(&self, other: &Self) -> Option<Self> {
        let scope = self.scope.and(&other.scope)?;
        Some(Self { all: self.all.union(&other.all), none: self.none.union(&other.none), scope })
    }

    /// How many components and pools it asks about.
    fn size(&self) -> usize {
        self.all.len() + self.none.len() + self.scope.size()
    }

    /// Whether whatever meets this alternative meets the other one, too.
    fn implies(&self, other: &Self) -> bool {
        self.all.contains(&other.all) && self.none.contains(&other.none) && self.scope.implies(&other.scope)
    }

    fn matches(&self, pool: PoolId, signature: &Signature) -> bool {
        self.scope.admits(pool) && signature.contains(&self.all) && !signature.overlaps(&self.none)
    }

    /// The pool whose masks decide.
    fn masked(&self) -> Option<PoolId> {
        match self.scope {
            Scope::Only(pool) if pool != PoolId::GENERAL => Some(pool),
            _ => None,
        }
    }
}

/// A condition in normal form: equal filters match the same archetypes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    alternatives: Vec<Alternative>,
}

impl Filter {
    pub(crate) fn from_parts(all: Signature, none: Signature, any_of: &[Signature]) -> Self {
        let mut alternatives = vec![Alternative { all, none, scope: Scope::default() }];
        for group in any_of {
            let with = |one: &Alternative| {
                group
                    .iter()
                    .map(|id| Alternative { all: one.all.with(id), ..one.clone() })
                    .collect::<Vec<_>>()
            };
            alternatives = Self::normal(alternatives.iter().flat_map(with).collect()).alternatives;
        }
        Self::normal(alternatives)
    }

    /// Brings alternatives into one order, without those that cannot be met or that another one implies.
    fn normal(mut alternatives: Vec<Alternative>) -> Self {
        alternatives.retain(|one| !one.all.overlaps(&one.none));
        let key = |one: &Alternative| {
            let ids = |set: &Signature| set.iter().collect::<Vec<_>>();
            (one.size(), ids(&one.all), ids(&one.none), one.scope.clone())
        };
        // Mostly there is one.
        if alternatives.len() > 1 {
            let mut keyed: Vec<_> = alternatives.into_iter().map(|one| (key(&one), one)).collect();
            sorting::sort_by(&mut keyed, |(a, _), (b, _)| a.cmp(b));
            alternatives = keyed.into_iter().map(|(_, one)| one).collect();
        }
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

    /// The components that each alternative asks for: what matches has all of one of these sets.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Signature> {
        self.alternatives.iter().map(|one| &one.all)
    }

    /// Whether an archetype of a pool with this signature matches.
    pub fn matches(&self, pool: PoolId, signature: &Signature) -> bool {
        self.alternatives.iter().any(|one| one.matches(pool, signature))
    }

    /// Whether an archetype matches. Where a pool is named, its masks decide.
    pub(crate) fn admits(&self, id: ArchetypeId, archetypes: &Archetypes) -> bool {
        steps::count();
        let (pools, own) = (archetypes.pools(), archetypes.pool_of(id));
        self.alternatives.iter().any(|one| match one.masked() {
            Some(pool) => pool == own && pools.passes(pool, id, pools.record(pool).test(&one.all, &one.none)),
            None => one.matches(own, archetypes.signature(id)),
        })
    }

    /// Whether an archetype with these components would match, outside of pools.
    pub(crate) fn admits_set(&self, components: &Signature) -> bool {
        self.alternatives.iter().any(|one| one.matches(PoolId::GENERAL, components))
    }

    /// The archetypes that match, in the order of queries. Where all alternatives share components, only the
    /// archetypes of the rarest of these are looked at; where one names a pool, only the masks of that pool.
    pub(crate) fn find(&self, archetypes: &Archetypes) -> Vec<ArchetypeId> {
        let (masked, open): (Vec<_>, Vec<_>) =
            self.alternatives.iter().partition(|one| one.masked().is_some());
        let mut found = match open.split_first() {
            None => Vec::new(),
            Some((first, rest)) => {
                let shared = rest.iter().fold(first.all.clone(), |shared, one| shared.intersection(&one.all));
                let mut found = archetypes.matching(&shared, &Signature::empty(), &Signature::empty());
                found.retain(|&id| {
                    open.iter().any(|one| one.matches(archetypes.pool_of(id), archetypes.signature(id)))
                });
                found
            }
        };
        let pools = archetypes.pools();
        for (one, pool) in masked.iter().filter_map(|one| Some((one, one.masked()?))) {
            found.extend(pools.passing(pool, pools.record(pool).test(&one.all, &one.none)));
        }
        if masked.len() > 1 || !open.is_empty() {
            sorting::sort_by_key(&mut found, |&id| archetypes.home(id));
            found.dedup();
        }
        found
    }
}
