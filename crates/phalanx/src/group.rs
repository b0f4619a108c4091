//! Groups: orderings over sparse sets that are kept up to date by every structural change.
//!
//! ```text
//!   owned sets      | members, in one order ........ | others |      the first `len` rows of each
//!   non-owning      members set: entities only, with an order of its own
//! ```
//!
//! Entering swaps an entity's rows to the end of the member part and moves the border right; leaving swaps
//! them with the last member and moves the border left. A set has at most one owner. Membership is decided
//! in one place, `Groups::refresh`, from what the entity has now: it does not matter what changed.
//! This file does not know worlds; `world/groups` calls it around each change.

use std::fmt;

use phalanx_store::{Col, ColId, Entity, Existing, SetId, SetPlan, Store};

use crate::archetype::Archetypes;
use crate::signature::Signature;

pub use parts::{Get, Group, GroupFilter, GroupParts, Own};

mod parts;

/// What a group asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) owned: Vec<SetId>,
    pub(crate) seen: Vec<SetId>,
    pub(crate) without_sets: Vec<SetId>,
    pub(crate) without: Signature,
}

struct GroupState {
    name: String,
    terms: Terms,
    /// Where the member part of owned sets ends.
    len: usize,
    /// The members of a group that owns nothing.
    members: Option<SetPlan>,
}

/// Why a group cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupError {
    /// Another group owns one of the components.
    Owned {
        /// The group that was asked for.
        group: String,
        /// The component.
        component: String,
        /// The group that owns it.
        owner: String,
    },
    /// A component occurs twice, or is both wanted and excluded.
    Repeated {
        /// The component.
        component: String,
    },
    /// The group asks for no sparse component at all.
    Empty,
    /// A component cannot be registered.
    Register(crate::registry::RegisterError),
    /// The group was dissolved, or belongs to another world.
    NoSuchGroup,
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owned { group, component, owner } => write!(
                f,
                "{group} cannot own `{component}`, which {owner} owns: name it in `Get`, or dissolve the other group"
            ),
            Self::Repeated { component } => write!(f, "a group names `{component}` twice"),
            Self::Empty => write!(f, "a group needs at least one sparse component in `Own` or `Get`"),
            Self::Register(error) => error.fmt(f),
            Self::NoSuchGroup => write!(f, "the group was dissolved, or belongs to another world"),
        }
    }
}

impl std::error::Error for GroupError {}

/// Why the rows of a set cannot be brought into another order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OrderError {
    /// A group owns the component, and with it the order.
    Owned {
        /// The component.
        component: String,
        /// The group that owns it.
        group: String,
    },
    /// The set is stable and has holes.
    Holes {
        /// The component.
        component: String,
    },
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owned { component, group } => {
                write!(f, "`{component}` is owned by {group}: sort the group instead")
            }
            Self::Holes { component } => {
                write!(f, "the stable set of `{component}` has holes: call `compact` before ordering it")
            }
        }
    }
}

impl std::error::Error for OrderError {}

/// All groups of a world.
#[derive(Default)]
pub(crate) struct Groups {
    groups: Vec<Option<GroupState>>,
    living: usize,
    /// Indexed by set: the groups that name it.
    naming: Vec<Naming>,
}

/// The groups that name one set.
#[derive(Default)]
struct Naming {
    needing: Vec<usize>,
    excluding: Vec<usize>,
}

/// What an entity is about to lose.
#[derive(Clone, Copy)]
pub(crate) enum Losing<'a> {
    Nothing,
    Sets(&'a [SetId]),
    Everything,
}

impl Groups {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.living == 0
    }

    /// Whether a group names this set.
    pub(crate) fn name(&self, set: SetId) -> bool {
        let naming = self.naming.get(set.index());
        naming.is_some_and(|groups| !groups.needing.is_empty() || !groups.excluding.is_empty())
    }

    /// Finds out anew which groups name which sets.
    fn update_naming(&mut self) {
        self.naming.clear();
        for (id, state) in self.groups.iter().enumerate() {
            let Some(Terms { owned, seen, without_sets, .. }) = state.as_ref().map(|state| &state.terms)
            else {
                continue;
            };
            let needed = owned.iter().chain(seen).map(|&set| (set, true));
            for (set, needs) in needed.chain(without_sets.iter().map(|&set| (set, false))) {
                if self.naming.len() <= set.index() {
                    self.naming.resize_with(set.index() + 1, Naming::default);
                }
                let naming = &mut self.naming[set.index()];
                if needs { naming.needing.push(id) } else { naming.excluding.push(id) }
            }
        }
    }

    fn state(&self, id: usize) -> Option<&GroupState> {
        self.groups.get(id)?.as_ref()
    }

    /// The group that owns a set, by name.
    pub(crate) fn owner(&self, set: SetId) -> Option<&str> {
        let owner = self.groups.iter().flatten().find(|group| group.terms.owned.contains(&set));
        owner.map(|group| group.name.as_str())
    }

    /// The group with these terms, if there is one.
    pub(crate) fn find(&self, terms: &Terms) -> Option<usize> {
        self.groups.iter().position(|group| group.as_ref().is_some_and(|group| group.terms == *terms))
    }

    /// Adds a group over what the sets hold already.
    pub(crate) fn add(
        &mut self,
        name: String,
        terms: Terms,
        store: &mut Store,
        archetypes: &Archetypes,
    ) -> usize {
        let id = self.groups.iter().position(Option::is_none).unwrap_or(self.groups.len());
        let members = terms.owned.is_empty().then(|| {
            // A set without memory for values: only its entities and their order count.
            let column = ColId::<()>::named(&format!("\0group {id}"));
            store.declare(column.any());
            let set = store.declare_set(&[column.any()]);
            store.set_plan::<Col<()>>(set, column).expect("the set has this column alone")
        });
        let shortest = terms.owned.iter().chain(&terms.seen).copied().min_by_key(|&set| store.set_len(set));
        let candidates = shortest.map(|set| store.set_entities(set).to_vec()).unwrap_or_default();
        let state = GroupState { name, terms, len: 0, members };
        if id == self.groups.len() {
            self.groups.push(None);
        }
        self.groups[id] = Some(state);
        self.living += 1;
        self.update_naming();
        for entity in candidates {
            self.refresh_one(id, store, archetypes, entity);
        }
        id
    }

    /// Dissolves a group; the rows of its sets stay where they are.
    pub(crate) fn remove(&mut self, id: usize, store: &mut Store) -> bool {
        let Some(state) = self.groups.get_mut(id).and_then(Option::take) else { return false };
        self.living -= 1;
        self.update_naming();
        if let Some(members) = state.members {
            for entity in store.set_entities(members.set()).to_vec() {
                store.set_remove(members.set(), entity);
            }
        }
        true
    }

    pub(crate) fn len(&self, id: usize, store: &Store) -> Option<usize> {
        let state = self.state(id)?;
        Some(state.members.as_ref().map_or(state.len, |members| store.set_len(members.set())))
    }

    /// The members, in the group's order.
    pub(crate) fn entities<'s>(&self, id: usize, store: &'s Store) -> Option<&'s [Entity]> {
        let state = self.state(id)?;
        Some(match (&state.members, state.terms.owned.first()) {
            (Some(members), _) => store.set_entities(members.set()),
            (None, Some(&set)) => &store.set_entities(set)[..state.len],
            (None, None) => &[],
        })
    }

    pub(crate) fn contains(&self, id: usize, store: &Store, entity: Entity) -> bool {
        self.state(id).is_some_and(|state| state.has(store, entity))
    }

    /// Exchanges two members, in every set that the group orders.
    pub(crate) fn swap(&self, id: usize, store: &mut Store, a: usize, b: usize) {
        let Some(state) = self.state(id) else { return };
        let members = state.members.as_ref().map(SetPlan::set);
        for &set in state.terms.owned.iter().chain(&members) {
            store.set_swap(set, a, b);
        }
    }

    /// Takes an entity out of the groups that need what it is about to lose.
    pub(crate) fn leave(&mut self, store: &mut Store, entity: Entity, losing: Losing<'_>) {
        for state in self.groups.iter_mut().flatten() {
            let loses = match losing {
                Losing::Nothing => false,
                Losing::Sets(sets) => {
                    sets.iter().any(|set| state.terms.owned.contains(set) || state.terms.seen.contains(set))
                }
                Losing::Everything => true,
            };
            if loses && state.has(store, entity) {
                state.expel(store, entity);
            }
        }
    }

    /// Keeps groups right before an entity loses its row in one set, and nothing else.
    pub(crate) fn before_loss(&mut self, store: &mut Store, entity: Entity, set: SetId) {
        let Some(Naming { needing, .. }) = self.naming.get(set.index()) else { return };
        for &id in needing {
            if let Some(Some(state)) = self.groups.get_mut(id)
                && state.has(store, entity)
            {
                state.expel(store, entity);
            }
        }
    }

    /// Keeps groups right after an entity lost its row in one set, and nothing else.
    #[inline]
    pub(crate) fn after_loss(
        &mut self,
        store: &mut Store,
        archetypes: &Archetypes,
        entity: Entity,
        set: SetId,
    ) {
        let Some(Naming { excluding, .. }) = self.naming.get(set.index()) else { return };
        for &id in excluding {
            if let Some(Some(state)) = self.groups.get_mut(id) {
                state.refresh(store, archetypes, entity);
            }
        }
    }

    /// Keeps groups right after an entity, which was not there before, came into one set, and nothing else happened.
    pub(crate) fn after_gain(
        &mut self,
        store: &mut Store,
        archetypes: &Archetypes,
        entity: Entity,
        set: SetId,
    ) {
        let Some(Naming { needing, excluding }) = self.naming.get(set.index()) else { return };
        for &id in needing {
            // Who was not in the set was in none of these groups.
            if let Some(Some(state)) = self.groups.get_mut(id)
                && state.wants(store, archetypes, entity)
            {
                state.admit(store, entity);
            }
        }
        for &id in excluding {
            if let Some(Some(state)) = self.groups.get_mut(id)
                && state.has(store, entity)
            {
                state.expel(store, entity);
            }
        }
    }

    /// Brings an entity's membership in line with what it has now.
    pub(crate) fn refresh(&mut self, store: &mut Store, archetypes: &Archetypes, entity: Entity) {
        for id in 0..self.groups.len() {
            self.refresh_one(id, store, archetypes, entity);
        }
    }

    fn refresh_one(&mut self, id: usize, store: &mut Store, archetypes: &Archetypes, entity: Entity) {
        let Some(Some(state)) = self.groups.get_mut(id) else { return };
        state.refresh(store, archetypes, entity);
    }

    /// Forgets all members: every entity is gone.
    pub(crate) fn clear(&mut self) {
        for state in self.groups.iter_mut().flatten() {
            state.len = 0;
        }
    }

    /// Verifies that members are exactly those who qualify, and owned sets are aligned.
    pub(crate) fn check(&self, store: &Store, archetypes: &Archetypes) -> Result<(), String> {
        for state in self.groups.iter().flatten() {
            for entity in store.entities().iter() {
                if state.wants(store, archetypes, entity) != state.has(store, entity) {
                    return Err(format!("{}: the membership of {entity} is wrong", state.name));
                }
            }
            for pair in state.terms.owned.windows(2) {
                if store.set_entities(pair[0])[..state.len] != store.set_entities(pair[1])[..state.len] {
                    return Err(format!("{}: owned sets are not aligned", state.name));
                }
            }
        }
        Ok(())
    }
}

impl GroupState {
    #[inline]
    fn wants(&self, store: &Store, archetypes: &Archetypes, entity: Entity) -> bool {
        let has = |set: &SetId| store.set_row(*set, entity).is_some();
        // A group needs at least one set, and only the living are in sets.
        self.terms.owned.iter().all(has)
            && self.terms.seen.iter().all(has)
            && !self.terms.without_sets.iter().any(has)
            && (self.terms.without.is_empty() || !self.is_excluded(store, archetypes, entity))
    }

    /// Whether an entity has a component in its table that the group excludes.
    fn is_excluded(&self, store: &Store, archetypes: &Archetypes, entity: Entity) -> bool {
        store.locate(entity).is_none_or(|place| {
            archetypes.signature(archetypes.of_table(place.table)).overlaps(&self.terms.without)
        })
    }

    #[inline]
    fn refresh(&mut self, store: &mut Store, archetypes: &Archetypes, entity: Entity) {
        match (self.wants(store, archetypes, entity), self.has(store, entity)) {
            (true, false) => self.admit(store, entity),
            (false, true) => self.expel(store, entity),
            _ => {}
        }
    }

    #[inline]
    fn has(&self, store: &Store, entity: Entity) -> bool {
        match (&self.members, self.terms.owned.first()) {
            (Some(members), _) => store.set_row(members.set(), entity).is_some(),
            (None, Some(&set)) => store.set_row(set, entity).is_some_and(|row| row < self.len),
            (None, None) => false,
        }
    }

    fn admit(&mut self, store: &mut Store, entity: Entity) {
        if let Some(members) = &self.members {
            // The entity lives: a dead one qualifies for nothing.
            let _ = store.set_insert(members, entity, Col(()), Existing::Keep);
            return;
        }
        for &set in &self.terms.owned {
            let there = store.set_bring(set, entity, self.len);
            debug_assert!(there, "who qualifies is in every owned set");
        }
        self.len += 1;
    }

    fn expel(&mut self, store: &mut Store, entity: Entity) {
        if let Some(members) = &self.members {
            store.set_remove(members.set(), entity);
            return;
        }
        self.len -= 1;
        for &set in &self.terms.owned {
            let there = store.set_bring(set, entity, self.len);
            debug_assert!(there, "a member is in every owned set");
        }
    }
}
