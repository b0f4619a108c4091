//! A query seen through another one: fewer data, or those of two queries together.
//!
//! A [`QueryLens`] has the access of the queries it was made from, and visits their archetypes, as far as these match
//! what is asked now. Sparse components and row ticks are looked up per row, which a lens does not do for queries it
//! knows only the access of. So a lens is refused that would forget a sparse component which the query it comes from
//! asks for; [`Changed`](super::Changed) and [`Added`](super::Added) are forgotten, as in bevy, unless named again.

use phalanx_store::{Grant, NotGranted, TableId};

use super::condition::Condition;
use super::data::{QueryData, Term, columns_of, written};
use super::filter::QueryFilter;
use super::moment::Moment;
use super::state::{Asked, Both, FetchState, QueryConflict};
use super::{Context, Query};
use crate::archetype::{ArchetypeId, Archetypes};
use crate::registry::Components;

/// Access to what a query visits, for queries that ask for less.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
/// #[derive(Component)]
/// struct Armor(f32);
///
/// fn total(lens: &mut QueryLens<&Health>) -> f32 {
///     lens.query().iter().map(|health| health.0).sum()
/// }
///
/// fn sum_up(mut all: Query<(&mut Health, &Armor)>) {
///     assert_eq!(total(&mut all.transmute_lens::<&Health>()), 3.0);
/// }
/// # let mut world = World::new();
/// # world.spawn((Health(3.0), Armor(1.0)));
/// # world.run_system_once(sum_up).unwrap();
/// ```
pub struct QueryLens<'w, D: QueryData, F: QueryFilter = ()> {
    grant: Grant<'w>,
    state: FetchState<Both<D, F>>,
    since: Moment<'w>,
    archetypes: &'w Archetypes,
    components: &'w Components,
}

impl<'w, D: QueryData, F: QueryFilter> QueryLens<'w, D, F> {
    /// The query.
    pub fn query(&mut self) -> Query<'_, '_, D, F> {
        let context = self.state.asked.context(self.archetypes, self.components);
        Query::new(self.grant.view(&self.state.prepared), self.since, context)
    }

    #[track_caller]
    fn new(grant: Grant<'w>, since: Moment<'w>, from: &[Context<'w>]) -> Self {
        let Context { archetypes, components, .. } = *from.first().expect("a lens is made from a query");
        let asked = Asked::unvisited([D::condition, F::condition], archetypes, components);
        for context in from {
            if let Some(part) = forgotten(&context.asked.condition, &asked.condition) {
                panic!(
                    "a lens of `{}` forgets `{part}`, which is looked up per row: name it in the filter of \
                     `transmute_lens_filtered` or `join_filtered`",
                    written::<D>()
                )
            }
        }
        let wanted = |table| {
            let id = if table == TableId::ROWLESS { ArchetypeId::EMPTY } else { archetypes.of_table(table) };
            asked.filter().admits(id, archetypes)
        };
        match grant.prepare::<Both<D, F>>((F::ids(), D::ids()), wanted) {
            Ok(prepared) => {
                let state = FetchState { prepared, asked: Box::new(asked) };
                Self { grant, state, since, archetypes, components }
            }
            Err(NotGranted::Column { position, .. }) => {
                let term = lacking::<F>(D::terms, position);
                panic!("`{term}` is not covered by the query of which a lens is made: ask for it there")
            }
            Err(NotGranted::Alias(alias)) => {
                panic!("{}", QueryConflict::new(alias, columns_of::<F::Fetch>(F::ids()), D::terms))
            }
            Err(error) => panic!("{error}"),
        }
    }
}

impl<'s, D: QueryData, F: QueryFilter> From<&'s mut QueryLens<'_, D, F>> for Query<'s, 's, D, F> {
    fn from(lens: &'s mut QueryLens<'_, D, F>) -> Self {
        lens.query()
    }
}

/// The term to which a use of a column belongs.
pub(super) fn lacking<F: QueryFilter>(terms_of: impl Fn(&mut Vec<Term>), position: usize) -> String {
    let mut terms =
        vec![Term { text: "the filter".to_owned(), columns: columns_of::<F::Fetch>(F::ids()), whole: false }];
    terms_of(&mut terms);
    let mut before = 0;
    let found = terms.into_iter().find(|term| {
        before += term.columns;
        position < before
    });
    found.map_or_else(|| "a term".to_owned(), |term| term.text)
}

/// The first part of a condition that is looked up per row, and that another one does not ask for.
pub(crate) fn forgotten<'c>(before: &'c Condition, now: &Condition) -> Option<&'c Condition> {
    match before {
        Condition::All(parts) => parts.iter().find_map(|part| forgotten(part, now)),
        _ if !before.is_per_row() || now.asks_for(before) => None,
        _ => Some(before),
    }
}

impl<'w, D: QueryData, F: QueryFilter> Query<'w, '_, D, F> {
    /// A lens for queries of `N`, which this query's data cover: `&T` where there is `&mut T`, fewer terms, `Entity`,
    /// `Has`.
    ///
    /// # Panics
    /// When `N` asks for more than this query, or forgets a sparse component.
    #[track_caller]
    pub fn transmute_lens<N: QueryData>(&mut self) -> QueryLens<'_, N> {
        self.transmute_lens_filtered::<N, ()>()
    }

    /// As [`Query::transmute_lens`], with a filter.
    ///
    /// # Panics
    /// As for [`Query::transmute_lens`].
    #[track_caller]
    pub fn transmute_lens_filtered<N: QueryData, G: QueryFilter>(&mut self) -> QueryLens<'_, N, G> {
        self.reborrow().transmute_lens_filtered_inner()
    }

    /// As [`Query::transmute_lens`], for as long as the query would have lived.
    ///
    /// # Panics
    /// As for [`Query::transmute_lens`].
    #[track_caller]
    pub fn transmute_lens_inner<N: QueryData>(self) -> QueryLens<'w, N> {
        self.transmute_lens_filtered_inner::<N, ()>()
    }

    /// As [`Query::transmute_lens_filtered`], for as long as the query would have lived.
    ///
    /// # Panics
    /// As for [`Query::transmute_lens`].
    #[track_caller]
    pub fn transmute_lens_filtered_inner<N: QueryData, G: QueryFilter>(self) -> QueryLens<'w, N, G> {
        QueryLens::new(self.view.into_grant(), self.since, &[self.context])
    }

    /// A lens for the data of this query, without its filter; the archetypes stay those of the query.
    ///
    /// # Panics
    /// When the filter asks for a sparse component.
    #[track_caller]
    pub fn as_query_lens(&mut self) -> QueryLens<'_, D> {
        self.transmute_lens()
    }

    /// As [`Query::as_query_lens`], for as long as the query would have lived.
    ///
    /// # Panics
    /// As for [`Query::as_query_lens`].
    #[track_caller]
    pub fn into_query_lens(self) -> QueryLens<'w, D> {
        self.transmute_lens_inner()
    }

    /// A lens for queries of `N`, which the data of both queries cover, on the entities of both.
    ///
    /// # Panics
    /// When `N` asks for more than the two queries, or forgets a sparse component.
    #[track_caller]
    pub fn join<'a, O: QueryData, N: QueryData>(
        &'a mut self,
        other: &'a mut Query<'_, '_, O>,
    ) -> QueryLens<'a, N> {
        self.join_filtered(other)
    }

    /// As [`Query::join`], for as long as the queries would have lived.
    ///
    /// # Panics
    /// As for [`Query::join`].
    #[track_caller]
    pub fn join_inner<O: QueryData, N: QueryData>(self, other: Query<'w, '_, O>) -> QueryLens<'w, N> {
        self.join_filtered_inner(other)
    }

    /// As [`Query::join`], with a filter.
    ///
    /// # Panics
    /// As for [`Query::join`].
    #[track_caller]
    pub fn join_filtered<'a, O: QueryData, P: QueryFilter, N: QueryData, G: QueryFilter>(
        &'a mut self,
        other: &'a mut Query<'_, '_, O, P>,
    ) -> QueryLens<'a, N, G> {
        self.reborrow().join_filtered_inner(other.reborrow())
    }

    /// As [`Query::join_filtered`], for as long as the queries would have lived.
    ///
    /// # Panics
    /// As for [`Query::join`].
    #[track_caller]
    pub fn join_filtered_inner<O: QueryData, P: QueryFilter, N: QueryData, G: QueryFilter>(
        self,
        other: Query<'w, '_, O, P>,
    ) -> QueryLens<'w, N, G> {
        let grant = self.view.into_grant().and(other.view.into_grant());
        QueryLens::new(grant, self.since, &[self.context, other.context])
    }
}
