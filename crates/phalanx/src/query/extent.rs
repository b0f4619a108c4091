//! Where a query can be: which tables its condition lets it visit, whatever the world.
//!
//! A [`Filter`](super::Filter) names components by the ids of one world, and knows only those that are registered.
//! [`Extent`] names them by their columns, so that two queries can be compared before the world registers their
//! components: they never meet in a table when each alternative of one contradicts each of the other.
//!
//! ```text
//!   With<A>                   Without<A>                  never meet
//!   Or<(With<A>, With<B>)>    Without<A>                  meet where there is a B
//!   InPool<P>                 InPool<Q>                   never meet
//!   With<S>, S sparse         Without<S>                  meet: tables do not know S
//! ```

use phalanx_store::AnyColId;
use phalanx_store::sorting;

use super::condition::Condition;
use crate::component::{AnyComponent, Disabled};

/// More alternatives than this are not compared: the query may be anywhere.
const MOST: usize = 64;

/// The tables that a query can visit, as alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    condition: Condition,
    /// `None` when there are too many.
    alternatives: Option<Vec<Alternative>>,
}

/// What all tables of one kind have in common: sorted keys of components and of pools.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Alternative {
    with: Vec<AnyColId>,
    without: Vec<AnyColId>,
    pool: Option<AnyColId>,
    other_pools: Vec<AnyColId>,
}

impl Extent {
    pub(crate) fn of(condition: &Condition) -> Self {
        // No query visits disabled entities unless it mentions that, in any world.
        let disabled = [(Disabled::key(), "Disabled")];
        let parts = [condition.clone()].into_iter().chain(condition.enabled(&disabled)).collect();
        let mut alternatives = alternatives(&Condition::All(parts));
        if let Some(alternatives) = &mut alternatives {
            sorting::sort(alternatives);
            alternatives.dedup();
        }
        Self { condition: condition.clone(), alternatives }
    }

    /// What the query asks of an entity.
    pub(crate) fn condition(&self) -> &Condition {
        &self.condition
    }

    /// Whether no table is one of both, in any world.
    pub(crate) fn never_meet(&self, other: &Self) -> bool {
        match (&self.alternatives, &other.alternatives) {
            (Some(some), Some(others)) => {
                some.iter().all(|one| others.iter().all(|other| one.and(other).is_none()))
            }
            _ => false,
        }
    }
}

fn alternatives(condition: &Condition) -> Option<Vec<Alternative>> {
    let any = Alternative::default;
    match condition {
        Condition::With(key, _) => Some(vec![Alternative { with: vec![*key], ..any() }]),
        Condition::Without(key, _) => Some(vec![Alternative { without: vec![*key], ..any() }]),
        Condition::InPool(key, _) => Some(vec![Alternative { pool: Some(*key), ..any() }]),
        Condition::NotInPool(key, _) => Some(vec![Alternative { other_pools: vec![*key], ..any() }]),
        Condition::InSet(..) | Condition::NotInSet(..) | Condition::Allow(..) | Condition::AllowAll => {
            Some(vec![any()])
        }
        Condition::All(parts) => {
            let mut so_far = vec![any()];
            for part in parts {
                let more = alternatives(part)?;
                so_far =
                    so_far.iter().flat_map(|one| more.iter().filter_map(|other| one.and(other))).collect();
                if so_far.len() > MOST {
                    return None;
                }
            }
            Some(so_far)
        }
        Condition::Any(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(alternatives(part)?);
                if all.len() > MOST {
                    return None;
                }
            }
            Some(all)
        }
    }
}

impl Alternative {
    /// What tables of both kinds have in common; `None` when no table is of both.
    fn and(&self, other: &Self) -> Option<Self> {
        let both = Self {
            with: joined(&self.with, &other.with),
            without: joined(&self.without, &other.without),
            pool: self.pool.or(other.pool),
            other_pools: joined(&self.other_pools, &other.other_pools),
        };
        let two_pools = self.pool.is_some() && other.pool.is_some() && self.pool != other.pool;
        let contradicts = two_pools
            || both.pool.is_some_and(|pool| both.other_pools.contains(&pool))
            || both.with.iter().any(|key| both.without.contains(key));
        (!contradicts).then_some(both)
    }
}

fn joined(some: &[AnyColId], more: &[AnyColId]) -> Vec<AnyColId> {
    let mut all = [some, more].concat();
    sorting::sort(&mut all);
    all.dedup();
    all
}
