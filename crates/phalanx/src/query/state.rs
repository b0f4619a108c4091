//! A query kept ready: its columns, and the archetypes it visits.
//!
//! Bringing a state up to date is one comparison when no archetype came or went; otherwise its matches
//! catch up, and the tables that are new are admitted. A term that names a component the world has not
//! met leaves the state open: it is resolved when components are registered.

use std::fmt;
use std::sync::Arc;

use phalanx_store::{Access, Admission, Alias, DriverChoice, Fetch, Prepared, Preparing, Store};

use super::condition::{Condition, Filter};
use super::data::{QueryData, Term, columns_of};
use super::filter::QueryFilter;
use super::matches::{Caught, Matches};
#[cfg(feature = "parallel")]
use super::parallel::EarlierRuns;
use crate::archetype::{ArchetypeId, Archetypes};
use crate::component::AnyComponent;
use crate::registry::Components;
use crate::steps;

/// The store's view of a query: the row filter, which looks at ticks first, and then the data, which may write
/// them.
pub(crate) type Both<D, F> = (<F as QueryFilter>::Fetch, <D as QueryData>::Fetch);

/// A query that is prepared once and used again.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
///
/// let mut world = World::new();
/// let mut wounded = world.query::<&Health>();
/// world.spawn(Health(3.0));
/// assert_eq!(wounded.iter(&world).count(), 1);
/// ```
pub struct QueryState<D: QueryData, F: QueryFilter = ()> {
    pub(crate) fetch: FetchState<Both<D, F>>,
}

/// What a prepared query keeps, whatever references it was written with.
///
/// Columns and conditions are the same for `&'a T` of every `'a`, so this lives as long as its owner likes.
pub(crate) struct FetchState<C: Fetch> {
    pub(crate) prepared: Prepared<C>,
    pub(crate) asked: Box<Asked>,
}

/// A query as it was written, without its types.
#[derive(Clone, Copy)]
pub(crate) struct Written {
    /// Of the data and of the filter.
    pub(crate) conditions: [fn() -> Condition; 2],
    /// The terms of the data.
    pub(crate) terms: fn(&mut Vec<Term>),
    /// How many columns the filter uses.
    filter: fn() -> usize,
}

impl Written {
    /// The query for `D` with the filter `F`.
    pub(crate) const fn of<D: QueryData, F: QueryFilter>() -> Self {
        Self { conditions: [D::condition, F::condition], terms: D::terms, filter: filter_columns::<F> }
    }

    /// What the query asks for, unless it contradicts itself.
    pub(crate) fn checked(
        &self,
        columns: Result<Admission<'_>, Alias>,
        store: &Store,
        archetypes: &Archetypes,
        components: &Components,
    ) -> Result<Box<Asked>, QueryConflict> {
        let mut columns = match columns {
            Ok(columns) => columns,
            Err(alias) => return Err(QueryConflict::new(alias, (self.filter)(), self.terms)),
        };
        if let Some(conflict) = QueryConflict::with_whole(columns.uses(), self.filter, self.terms) {
            return Err(conflict);
        }
        Ok(Box::new(Asked::new(self.conditions, &mut columns, store, archetypes, components)))
    }
}

fn filter_columns<F: QueryFilter>() -> usize {
    columns_of::<F::Fetch>(F::ids())
}

/// A query that is being prepared: all that does not depend on its types.
struct Making<'w> {
    written: Written,
    store: &'w Store,
    archetypes: &'w Archetypes,
    components: &'w Components,
    made: Option<Result<Box<Asked>, QueryConflict>>,
}

impl Preparing for Making<'_> {
    fn checked(&mut self, columns: Result<Admission<'_>, Alias>) {
        self.made = Some(self.written.checked(columns, self.store, self.archetypes, self.components));
    }
}

/// What a query asks for and what matches it: all that does not depend on its types, compiled once for all queries.
pub(crate) struct Asked {
    /// What was written, and that the components are lacking which disable entities and are not mentioned.
    pub(crate) condition: Condition,
    /// How many components disabled entities at the last look.
    disabling: usize,
    matches: Arc<Matches>,
    /// Set while a term names an unregistered component or pool: how many were registered at the last look.
    open: Option<usize>,
    /// Set when the admitted tables are not those of `matches`.
    stale: bool,
    /// What drives the walk.
    pub(crate) driver: DriverChoice,
    /// What is remembered of its parallel loops.
    #[cfg(feature = "parallel")]
    pub(super) earlier_runs: EarlierRuns,
}

/// Two terms of a query that use the same column, one of them to write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueryConflict {
    /// The first term.
    pub first: String,
    /// The second term.
    pub second: String,
}

impl QueryConflict {
    /// `filter` is how many columns the filter uses.
    #[cold]
    pub(super) fn new(alias: Alias, filter: usize, terms_of: fn(&mut Vec<Term>)) -> Self {
        let terms = all_terms(filter, terms_of);
        Self { first: term_of(alias.first, &terms), second: term_of(alias.second, &terms) }
    }

    /// The conflict of a query that writes something and also reads whatever its entities have.
    fn with_whole(uses: &[Access], filter: fn() -> usize, terms_of: fn(&mut Vec<Term>)) -> Option<Self> {
        let writes = uses.iter().position(|access| access.writes)?;
        let terms = all_terms(filter(), terms_of);
        let whole = terms.iter().find(|term| term.whole)?;
        Some(Self { first: whole.text.clone(), second: term_of(writes, &terms) })
    }
}

/// The terms of a query after its filter, which uses so many columns.
fn all_terms(filter: usize, terms_of: fn(&mut Vec<Term>)) -> Vec<Term> {
    let mut terms = vec![Term { text: "the filter".to_owned(), columns: filter, whole: false }];
    terms_of(&mut terms);
    terms
}

/// The term to which a use of a column belongs.
fn term_of(mut use_number: usize, terms: &[Term]) -> String {
    for term in terms {
        if use_number < term.columns {
            return term.text.clone();
        }
        use_number -= term.columns;
    }
    unreachable!("every column use belongs to a term")
}

/// Whether a query reads whatever its entities have.
pub(crate) fn reads_whole(terms_of: fn(&mut Vec<Term>)) -> bool {
    all_terms(0, terms_of).iter().any(|term| term.whole)
}

impl fmt::Display for QueryConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = (&self.first, &self.second);
        write!(
            f,
            "`{first}` and `{second}` of one query use the same data, and one of them writes: ask for it once"
        )
    }
}

impl std::error::Error for QueryConflict {}

impl<D: QueryData, F: QueryFilter> QueryState<D, F> {
    pub(crate) fn prepared(
        store: &Store,
        archetypes: &Archetypes,
        components: &Components,
    ) -> Result<Self, QueryConflict> {
        Ok(Self { fetch: prepare::<D, F>(store, archetypes, components)? })
    }

    /// Panics unless the archetypes are of the world that the query was made by.
    #[inline]
    #[track_caller]
    pub(crate) fn expect_own(&self, archetypes: &Archetypes) {
        if self.fetch.asked.matches.is_foreign(archetypes) {
            foreign(D::terms);
        }
    }

    /// What the query asks for, in normal form: queries that ask for the same have equal filters.
    pub fn filter(&self) -> &Filter {
        self.fetch.asked.filter()
    }

    /// The archetypes that the query visits, in order; the empty one stands for entities without a row.
    pub(crate) fn archetypes(&self) -> &[ArchetypeId] {
        self.fetch.asked.archetypes()
    }

    /// From now on the set of `T` drives the walk; see [`Query::driven_by`](super::Query::driven_by).
    ///
    /// # Panics
    /// When `T` is not a sparse component that every match must have.
    #[track_caller]
    pub fn driven_by<T: AnyComponent>(&mut self) -> &mut Self {
        self.fetch.asked.driver = super::driver_of::<T>(&self.fetch.asked.condition);
        self
    }

    /// From now on tables drive the walk.
    pub fn driven_by_tables(&mut self) -> &mut Self {
        self.fetch.asked.driver = DriverChoice::Tables;
        self
    }

    /// From now on the shortest drives the walk, as it does by default.
    pub fn driven_by_shortest(&mut self) -> &mut Self {
        self.fetch.asked.driver = DriverChoice::Shortest;
        self
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn foreign(terms_of: fn(&mut Vec<Term>)) -> ! {
    let mut terms = Vec::new();
    terms_of(&mut terms);
    let data: Vec<String> = terms.into_iter().map(|term| term.text).collect();
    let data = data.join(", ");
    panic!(
        "a `QueryState` for `{data}` was asked of another world than the one that made it: it serves that world only; \
         call `query` or `query_filtered` of this world to make one for it"
    )
}

/// Prepares a query: the state does not depend on how long its references live.
pub(crate) fn prepare<D: QueryData, F: QueryFilter>(
    store: &Store,
    archetypes: &Archetypes,
    components: &Components,
) -> Result<FetchState<Both<D, F>>, QueryConflict> {
    let mut making = Making { written: Written::of::<D, F>(), store, archetypes, components, made: None };
    let prepared = store.prepare_with::<Both<D, F>>((F::ids(), D::ids()), &mut making);
    match (prepared, making.made) {
        (Some(prepared), Some(Ok(asked))) => Ok(FetchState { prepared, asked }),
        (_, Some(Err(conflict))) => Err(conflict),
        _ => unreachable!("columns that are checked are heard of"),
    }
}

/// A condition of two parts, data and filter, and that the components are lacking which disable entities and are not
/// mentioned by them.
fn enabled(condition: Condition, components: &Components) -> Condition {
    let lacking = condition.enabled(components.disabling());
    match condition {
        Condition::All(parts) => Condition::All(parts.into_iter().chain(lacking).collect()),
        other => other,
    }
}

/// How many components and pools are registered, while one that the condition names is not.
fn open(condition: &Condition, components: &Components, archetypes: &Archetypes) -> Option<usize> {
    let pools = archetypes.pools();
    condition.is_open(components, pools).then_some(components.len() + pools.len())
}

impl<C: Fetch> FetchState<C> {
    /// Catches up with the archetypes that came and went. One comparison when none did.
    #[inline]
    pub(crate) fn update(&mut self, store: &Store, archetypes: &Archetypes, components: &Components) {
        self.asked.update(&mut self.prepared.admission(), store, archetypes, components);
    }

    /// Admits the table of one more match, in its place among those that are visited.
    pub(crate) fn admit(&mut self, id: ArchetypeId, store: &Store, archetypes: &Archetypes) {
        admit(id, &mut self.prepared.admission(), store, archetypes);
    }

    /// Admits the tables of all matches, and no others.
    pub(crate) fn admit_all(&mut self, store: &Store, archetypes: &Archetypes) {
        self.asked.admit_all(&mut self.prepared.admission(), store, archetypes);
    }
}

impl Asked {
    fn new(
        [data, filter]: [fn() -> Condition; 2],
        prepared: &mut Admission<'_>,
        store: &Store,
        archetypes: &Archetypes,
        components: &Components,
    ) -> Self {
        let condition = Condition::All(vec![data(), filter()]);
        Self::narrowed(condition, prepared, store, archetypes, components)
    }

    /// A query of which entities must also meet another condition.
    pub(crate) fn narrowed(
        condition: Condition,
        prepared: &mut Admission<'_>,
        store: &Store,
        archetypes: &Archetypes,
        components: &Components,
    ) -> Self {
        let condition = enabled(condition, components);
        let matches = Arc::new(Matches::new(condition.filter(components, archetypes.pools()), archetypes));
        let open = open(&condition, components, archetypes);
        let disabling = components.disabling().len();
        let driver = DriverChoice::Shortest;
        let mut asked = Self {
            condition,
            disabling,
            matches,
            open,
            stale: true,
            driver,
            #[cfg(feature = "parallel")]
            earlier_runs: EarlierRuns::default(),
        };
        asked.admit_all(prepared, store, archetypes);
        asked
    }

    /// As [`FetchState::update`].
    #[inline]
    pub(crate) fn update(
        &mut self,
        prepared: &mut Admission<'_>,
        store: &Store,
        archetypes: &Archetypes,
        components: &Components,
    ) {
        if !self.is_current(archetypes) {
            self.catch_up(prepared, store, archetypes, components);
        }
    }

    /// A query of which no table is admitted yet, nor will be when archetypes come.
    pub(crate) fn unvisited(
        [data, filter]: [fn() -> Condition; 2],
        archetypes: &Archetypes,
        components: &Components,
    ) -> Self {
        let condition = Condition::All(vec![data(), filter()]);
        let matches = Arc::new(Matches::new(condition.filter(components, archetypes.pools()), archetypes));
        let (disabling, driver) = (components.disabling().len(), DriverChoice::Shortest);
        Self {
            condition,
            disabling,
            matches,
            open: None,
            stale: false,
            driver,
            #[cfg(feature = "parallel")]
            earlier_runs: EarlierRuns::default(),
        }
    }

    /// What the query asks for, in normal form: queries that ask for the same have equal filters.
    pub(crate) fn filter(&self) -> &Filter {
        self.matches.filter()
    }

    /// The archetypes that the query visits, in order; the empty one stands for entities without a row.
    pub(crate) fn archetypes(&self) -> &[ArchetypeId] {
        self.matches.archetypes()
    }

    /// Whether no archetype came or went, and no component that is asked for can have come.
    #[inline]
    pub(crate) fn is_current(&self, archetypes: &Archetypes) -> bool {
        self.matches.is_current(archetypes) && self.open.is_none()
    }

    #[cold]
    #[inline(never)]
    fn catch_up(
        &mut self,
        prepared: &mut Admission<'_>,
        store: &Store,
        archetypes: &Archetypes,
        components: &Components,
    ) {
        self.resolve(components, archetypes);
        let caught = if self.matches.is_current(archetypes) {
            Caught::Added(Vec::new())
        } else {
            // Without a copy: the matches are shared in a world's cache only, which updates its states itself.
            Arc::make_mut(&mut self.matches).catch_up(archetypes)
        };
        match caught {
            Caught::Added(ids) if !self.stale => {
                ids.into_iter().for_each(|id| admit(id, prepared, store, archetypes));
            }
            _ => self.admit_all(prepared, store, archetypes),
        }
    }

    /// Brings the filter in line with the world's components: those that are registered by now, and those of
    /// another world when it is another one than last time.
    pub(crate) fn resolve(&mut self, components: &Components, archetypes: &Archetypes) {
        let registered = components.len() + archetypes.pools().len();
        let grown = self.open.is_some_and(|known| known != registered);
        let foreign = self.matches.is_foreign(archetypes);
        let disabling = components.disabling().len();
        let more_disable = std::mem::replace(&mut self.disabling, disabling) != disabling;
        if foreign || more_disable {
            self.condition = enabled(self.written(), components);
        }
        if grown || foreign || more_disable {
            self.open = open(&self.condition, components, archetypes);
            let filter = self.condition.filter(components, archetypes.pools());
            if foreign || filter != *self.filter() {
                self.matches = Arc::new(Matches::new(filter, archetypes));
                // Whatever was admitted belonged to another filter.
                self.stale = true;
            }
        }
    }

    /// The condition as it was written, without what concerns disabled entities.
    pub(crate) fn written(&self) -> Condition {
        match &self.condition {
            Condition::All(parts) => Condition::All(parts.iter().take(2).cloned().collect()),
            other => other.clone(),
        }
    }

    /// Whether a term names a component or pool that is not registered yet.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub(crate) fn matches(&self) -> &Arc<Matches> {
        &self.matches
    }

    /// Takes over other matches, without admitting their tables.
    pub(crate) fn share(&mut self, matches: Arc<Matches>) {
        self.matches = matches;
    }

    fn admit_all(&mut self, prepared: &mut Admission<'_>, store: &Store, archetypes: &Archetypes) {
        prepared.reset(store);
        // Tables that have the columns may be skipped, once there are entities that can be disabled.
        prepared.confine(self.disabling > 0);
        self.stale = false;
        for &id in self.matches.archetypes() {
            steps::count();
            if id == ArchetypeId::EMPTY {
                prepared.admit_rowless(store);
            } else if let Some(table) = archetypes.table(id) {
                prepared.admit(store, table);
            }
        }
    }
}

fn admit(id: ArchetypeId, prepared: &mut Admission<'_>, store: &Store, archetypes: &Archetypes) {
    if id == ArchetypeId::EMPTY {
        prepared.admit_rowless(store);
    } else if let Some(table) = archetypes.table(id) {
        let home = archetypes.home(id);
        let at = prepared.tables().partition_point(|&known| {
            steps::count();
            archetypes.home(archetypes.of_table(known)) < home
        });
        prepared.admit_at(store, at, table);
    }
}
