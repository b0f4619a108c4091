//! The queries that a world has met, always up to date.
//!
//! A query asked from `&World` must find a state that outlives the call. States are therefore kept in
//! boxes that do not move: known ones in `states`, found through a map; new ones in a tree that can
//! grow through `&self` without a lock. When the set of archetypes or components changes, which takes
//! `&mut World` and is rare, the tree is emptied into `states`.
//!
//! States with equal filters share their matches. A new archetype is shown to the filters that may match it, and to
//! no others; a state that still waits for a component is looked at when one is registered. Asking again is one
//! lookup, and no check.

use std::any::{Any, TypeId};
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{Equivalent, HashMap, HashSet};
use phalanx_store::Store;

use super::condition::Filter;
use super::data::QueryData;
use super::filter::QueryFilter;
use super::matches::{Matches, only_created};
use super::state::{QueryConflict, QueryState};
use crate::archetype::{ArchetypeId, Archetypes, Cursor};
use crate::registry::Components;
use crate::steps;

mod fresh;
mod watch;

use fresh::Fresh;
use watch::Watch;

trait Kept: Any + Send + Sync {
    /// Brings the filter in line with the components that are registered by now.
    fn resolve(&mut self, archetypes: &Archetypes, components: &Components);
    /// Whether registering a component may change the filter.
    fn is_open(&self) -> bool;
    fn matches(&self) -> &Arc<Matches>;
    fn share(&mut self, matches: Arc<Matches>);
    /// Admits the table of one more match.
    fn admit(&mut self, id: ArchetypeId, store: &Store, archetypes: &Archetypes);
    /// Admits the tables of all matches anew.
    fn admit_all(&mut self, store: &Store, archetypes: &Archetypes);
    fn as_any(&self) -> &dyn Any;
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> Kept for QueryState<D, F> {
    fn resolve(&mut self, archetypes: &Archetypes, components: &Components) {
        self.fetch.asked.resolve(components, archetypes);
    }
    fn is_open(&self) -> bool {
        self.fetch.asked.is_open()
    }
    fn matches(&self) -> &Arc<Matches> {
        self.fetch.asked.matches()
    }
    fn share(&mut self, matches: Arc<Matches>) {
        self.fetch.asked.share(matches);
    }
    fn admit(&mut self, id: ArchetypeId, store: &Store, archetypes: &Archetypes) {
        self.fetch.admit(id, store, archetypes);
    }
    fn admit_all(&mut self, store: &Store, archetypes: &Archetypes) {
        self.fetch.admit_all(store, archetypes);
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A filter asked for at run time: matches without columns.
impl Kept for Arc<Matches> {
    fn resolve(&mut self, _: &Archetypes, _: &Components) {}
    fn is_open(&self) -> bool {
        false
    }
    fn matches(&self) -> &Arc<Matches> {
        self
    }
    fn share(&mut self, matches: Arc<Matches>) {
        *self = matches;
    }
    fn admit(&mut self, _: ArchetypeId, _: &Store, _: &Archetypes) {}
    fn admit_all(&mut self, _: &Store, _: &Archetypes) {}
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Type(TypeId),
    Filter(Filter),
}

/// A key that is looked for, without owning it. It hashes as the key does: equal variants in equal order.
#[derive(Clone, Copy, Hash)]
enum Wanted<'a> {
    Type(TypeId),
    Filter(&'a Filter),
}

impl Wanted<'_> {
    fn to_key(self) -> Key {
        match self {
            Self::Type(id) => Key::Type(id),
            Self::Filter(filter) => Key::Filter(filter.clone()),
        }
    }
}

impl Equivalent<Key> for Wanted<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        match (self, key) {
            (Self::Type(wanted), Key::Type(id)) => wanted == id,
            (Self::Filter(wanted), Key::Filter(filter)) => *wanted == filter,
            _ => false,
        }
    }
}

/// A filter of kept queries.
struct Shared {
    matches: Arc<Matches>,
    /// The states that have it, as positions.
    followers: Vec<usize>,
}

/// The prepared queries of a world.
#[derive(Default)]
pub(crate) struct QueryCache {
    index: HashMap<Key, usize>,
    states: Vec<Box<dyn Kept>>,
    /// The filters of `states`; one that a state has outgrown may have no followers.
    filters: Vec<Shared>,
    /// Positions in `filters`.
    by_filter: HashMap<Filter, usize>,
    watch: Watch,
    /// The states that wait for a component, as positions.
    open: Vec<usize>,
    /// How many components and pools were registered at the last update.
    registered: usize,
    /// How many components disabled entities at the last update.
    disabling: usize,
    /// What the filters have seen.
    seen: Cursor,
    fresh: Fresh<Key, Box<dyn Kept>>,
    /// What states share while their matches are written.
    nothing: Arc<Matches>,
}

impl QueryCache {
    /// The state of a query, made on first use.
    pub(crate) fn get<D: QueryData + 'static, F: QueryFilter + 'static>(
        &self,
        store: &Store,
        archetypes: &Archetypes,
        components: &Components,
    ) -> Result<&QueryState<D, F>, QueryConflict> {
        let wanted = Wanted::Type(TypeId::of::<QueryState<D, F>>());
        let state = match self.index.get(&wanted) {
            Some(&at) => &*self.states[at],
            None => self.find_or_add(wanted, &|| {
                Ok(Box::new(QueryState::<D, F>::prepared(store, archetypes, components)?))
            })?,
        };
        Ok(state.as_any().downcast_ref().expect("a state is kept under its own type"))
    }

    /// The archetypes that match a filter, kept up to date from now on.
    pub(crate) fn matches(&self, filter: &Filter, archetypes: &Archetypes) -> &Matches {
        let wanted = Wanted::Filter(filter);
        let state = match self.index.get(&wanted) {
            Some(&at) => Ok(&*self.states[at]),
            None => {
                self.find_or_add(wanted, &|| Ok(Box::new(Arc::new(Matches::new(filter.clone(), archetypes)))))
            }
        };
        state.unwrap_or_else(|_| unreachable!("a filter alone has no conflicts")).matches()
    }

    /// Not generic: compiled once, instead of for each query.
    fn find_or_add(
        &self,
        wanted: Wanted<'_>,
        make: &dyn Fn() -> Result<Box<dyn Kept>, QueryConflict>,
    ) -> Result<&dyn Kept, QueryConflict> {
        let hash = self.index.hasher().hash_one(wanted);
        let make = || Ok((wanted.to_key(), make()?));
        self.fresh.find_or_add(hash, |key| wanted.equivalent(key), make).map(|state| &**state)
    }

    /// Brings every state up to date.
    pub(crate) fn update(&mut self, store: &Store, archetypes: &Archetypes, components: &Components) {
        self.catch_up(store, archetypes);
        let registered = components.len() + archetypes.pools().len();
        if std::mem::replace(&mut self.registered, registered) != registered {
            self.resolve_open(store, archetypes, components);
        }
        let disabling = components.disabling().len();
        if std::mem::replace(&mut self.disabling, disabling) != disabling {
            // Any query may visit less than before.
            self.open = (0..self.states.len()).collect();
            self.resolve_open(store, archetypes, components);
        }
        for (key, mut state) in self.fresh.take() {
            state.resolve(archetypes, components);
            let at = self.states.len();
            self.index.insert(key, at);
            if state.is_open() {
                self.open.push(at);
            }
            self.states.push(state);
            self.enrol(at, store, archetypes);
        }
    }

    /// Shows the filters which archetypes came and went.
    fn catch_up(&mut self, store: &Store, archetypes: &Archetypes) {
        let seen = std::mem::replace(&mut self.seen, archetypes.cursor());
        let Some(created) = archetypes.changes_since(seen).and_then(only_created) else {
            for at in 0..self.filters.len() {
                self.write(
                    at,
                    |matches| matches.renew(archetypes),
                    |state| state.admit_all(store, archetypes),
                );
            }
            return;
        };
        for id in created {
            for at in self.watch.candidates(archetypes.signature(id)) {
                if self.filters[at].matches.filter().admits(id, archetypes) {
                    self.write(
                        at,
                        |matches| matches.insert(id, archetypes),
                        |state| state.admit(id, store, archetypes),
                    );
                }
            }
        }
    }

    /// Changes the matches of a filter, and then the states that have it.
    fn write(
        &mut self,
        filter: usize,
        change: impl FnOnce(&mut Matches),
        mut follow: impl FnMut(&mut dyn Kept),
    ) {
        let Shared { matches, followers } = &mut self.filters[filter];
        // The states let go of the matches for a moment, so that they can be written without a copy.
        for &at in &*followers {
            self.states[at].share(Arc::clone(&self.nothing));
        }
        change(Arc::make_mut(matches));
        for &at in &*followers {
            steps::count();
            self.states[at].share(Arc::clone(matches));
            follow(&mut *self.states[at]);
        }
    }

    /// Lets states look for the components that they wait for.
    fn resolve_open(&mut self, store: &Store, archetypes: &Archetypes, components: &Components) {
        for at in std::mem::take(&mut self.open) {
            steps::count();
            let state = &mut self.states[at];
            let known = self.by_filter[state.matches().filter()];
            state.resolve(archetypes, components);
            if state.is_open() {
                self.open.push(at);
            }
            if !Arc::ptr_eq(state.matches(), &self.filters[known].matches) {
                self.filters[known].followers.retain(|&follower| follower != at);
                self.enrol(at, store, archetypes);
            }
        }
    }

    /// Lets a state share the matches of its filter.
    fn enrol(&mut self, at: usize, store: &Store, archetypes: &Archetypes) {
        let state = &mut self.states[at];
        if let Some(&known) = self.by_filter.get(state.matches().filter()) {
            self.filters[known].followers.push(at);
            state.share(Arc::clone(&self.filters[known].matches));
        } else {
            let mut matches = Arc::clone(state.matches());
            if !matches.is_current(archetypes) {
                let _ = Arc::make_mut(&mut matches).catch_up(archetypes);
                state.share(Arc::clone(&matches));
            }
            self.watch.add(matches.filter());
            self.by_filter.insert(matches.filter().clone(), self.filters.len());
            self.filters.push(Shared { matches, followers: vec![at] });
        }
        state.admit_all(store, archetypes);
    }

    /// How many queries are kept, and how many different filters they have.
    pub(crate) fn count(&self) -> (usize, usize) {
        let fresh = self.fresh.values();
        let queries = self.states.len() + fresh.len();
        let states = self.states.iter().chain(fresh);
        let filters: HashSet<&Filter> = states.map(|state| state.matches().filter()).collect();
        (queries, filters.len())
    }
}
