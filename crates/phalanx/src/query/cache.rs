//! The queries that a world has met, always up to date.
//!
//! A query asked from `&World` must find a state that outlives the call. States are therefore kept in
//! boxes that do not move: known ones in `states`, found through a map; new ones in a chain that can
//! grow through `&self` without a lock. When the set of archetypes or components changes, which takes
//! `&mut World` and is rare, the chain is emptied into `states` and all of them catch up; states with
//! equal filters share their matches, which are updated once. Asking again is one lookup, and no check.

use std::any::{Any, TypeId};
use std::sync::{Arc, OnceLock};

use hashbrown::{Equivalent, HashMap};
use phalanx_store::Store;

use super::condition::Filter;
use super::data::QueryData;
use super::filter::QueryFilter;
use super::matches::Matches;
use super::state::{QueryConflict, QueryState};
use crate::archetype::Archetypes;
use crate::registry::Components;

trait Kept: Any + Send + Sync {
    fn resolve(&mut self, archetypes: &Archetypes, components: &Components);
    fn matches(&self) -> &Arc<Matches>;
    fn follow(&mut self, matches: Arc<Matches>, store: &Store, archetypes: &Archetypes);
    fn as_any(&self) -> &dyn Any;
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> Kept for QueryState<D, F> {
    fn resolve(&mut self, archetypes: &Archetypes, components: &Components) {
        self.fetch.resolve(components, archetypes);
    }
    fn matches(&self) -> &Arc<Matches> {
        self.fetch.matches()
    }
    fn follow(&mut self, matches: Arc<Matches>, store: &Store, archetypes: &Archetypes) {
        self.fetch.follow(matches, store, archetypes);
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A filter asked for at run time: matches without columns.
impl Kept for Arc<Matches> {
    fn resolve(&mut self, _: &Archetypes, _: &Components) {}
    fn matches(&self) -> &Arc<Matches> {
        self
    }
    fn follow(&mut self, matches: Arc<Matches>, _: &Store, _: &Archetypes) {
        *self = matches;
    }
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

struct Link {
    key: Key,
    state: Box<dyn Kept>,
    next: OnceLock<Box<Link>>,
}

/// The prepared queries of a world.
#[derive(Default)]
pub(crate) struct QueryCache {
    index: HashMap<Key, usize>,
    states: Vec<Box<dyn Kept>>,
    /// The different matches of `states`.
    matches: Vec<Arc<Matches>>,
    fresh: OnceLock<Box<Link>>,
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
            None => self.find_or_add(wanted, || {
                Ok(Box::new(QueryState::<D, F>::try_new(store, archetypes, components)?))
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
                self.find_or_add(wanted, || Ok(Box::new(Arc::new(Matches::new(filter.clone(), archetypes)))))
            }
        };
        state.unwrap_or_else(|_| unreachable!("a filter alone has no conflicts")).matches()
    }

    fn find_or_add(
        &self,
        wanted: Wanted<'_>,
        make: impl FnOnce() -> Result<Box<dyn Kept>, QueryConflict>,
    ) -> Result<&dyn Kept, QueryConflict> {
        let mut end = &self.fresh;
        while let Some(link) = end.get() {
            if wanted.equivalent(&link.key) {
                return Ok(&*link.state);
            }
            end = &link.next;
        }
        let mut link = Box::new(Link { key: wanted.to_key(), state: make()?, next: OnceLock::new() });
        // Other threads may add links meanwhile, even one with the same key.
        while let Err(ours) = end.set(link) {
            let theirs = end.get().expect("setting fails only where something is set");
            if wanted.equivalent(&theirs.key) {
                return Ok(&*theirs.state);
            }
            end = &theirs.next;
            link = ours;
        }
        Ok(&*end.get().expect("it was set just now").state)
    }

    /// Brings every state up to date.
    pub(crate) fn update(&mut self, store: &Store, archetypes: &Archetypes, components: &Components) {
        let mut fresh = self.fresh.take();
        while let Some(mut link) = fresh {
            fresh = link.next.take();
            self.index.insert(link.key, self.states.len());
            self.states.push(link.state);
        }
        let mut current: Vec<Arc<Matches>> = Vec::with_capacity(self.matches.len());
        for state in &mut self.states {
            state.resolve(archetypes, components);
            let filter = state.matches().filter();
            let known = current.iter().find(|matches| matches.filter() == filter);
            let matches = known.cloned().unwrap_or_else(|| {
                let mut matches = Arc::clone(state.matches());
                if !matches.is_current(archetypes) {
                    Arc::make_mut(&mut matches).catch_up(archetypes);
                }
                current.push(Arc::clone(&matches));
                matches
            });
            state.follow(matches, store, archetypes);
        }
        self.matches = current;
    }

    /// How many queries are kept, and how many different filters they have.
    pub(crate) fn count(&self) -> (usize, usize) {
        let mut fresh = Vec::new();
        let mut end = &self.fresh;
        while let Some(link) = end.get() {
            fresh.push(&link.state);
            end = &link.next;
        }
        let mut filters: Vec<&Filter> = Vec::new();
        let mut queries = 0;
        for state in self.states.iter().chain(fresh) {
            queries += 1;
            if !filters.contains(&state.matches().filter()) {
                filters.push(state.matches().filter());
            }
        }
        (queries, filters.len())
    }
}
