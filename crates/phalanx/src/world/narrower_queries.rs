//! Kept queries made from kept queries: over the same entities, for less, or over those of two.
//!
//! The rules are those of lenses (ADR 0047): nothing is asked for that the first query lacks, and a sparse term is named
//! again, since it is looked up per row.

use super::World;
use crate::query::{
    Asked, Condition, FetchState, QueryData, QueryFilter, QueryState, columns_of, forgotten, reads_whole,
    written,
};
use crate::registry::ComponentId;
use crate::signature::Signature;
use phalanx_store::Access;

/// The components that a query reads and writes; see [`QueryState::component_access`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComponentAccess {
    reads: Signature,
    writes: Signature,
    reads_all: bool,
    writes_all: bool,
}

impl ComponentAccess {
    /// Whether values of the component are read, or written, which includes that.
    pub fn has_component_read(&self, id: ComponentId) -> bool {
        self.reads_all || self.reads.has(id) || self.has_component_write(id)
    }

    /// Whether values of the component are written.
    pub fn has_component_write(&self, id: ComponentId) -> bool {
        self.writes_all || self.writes.has(id)
    }

    /// Whether whatever an entity has is read, as by `EntityRef`.
    pub fn has_read_all(&self) -> bool {
        self.reads_all || self.writes_all
    }

    /// The components that are named, to be read or written, in ascending order of their ids, with whether they are
    /// written.
    pub fn iter(&self) -> impl Iterator<Item = (ComponentId, bool)> {
        let named = self.reads.union(&self.writes);
        let ids: Vec<ComponentId> = named.iter().collect();
        ids.into_iter().map(|id| (id, self.writes.has(id)))
    }
}

impl<D: QueryData, F: QueryFilter> QueryState<D, F> {
    /// A query for less of what this one asks for, over the entities that it visits.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    /// #[derive(Component)]
    /// struct Armour(u32);
    ///
    /// let mut world = World::new();
    /// world.spawn((Health(1), Armour(2)));
    /// world.spawn(Health(5));
    /// let both = world.query::<(&mut Health, &Armour)>();
    /// let mut healths = both.transmute::<&Health>(&world);
    /// assert_eq!(healths.single(&world).unwrap().0, 1);
    /// ```
    ///
    /// # Panics
    /// When it asks for something that this query does not, or another world made this query.
    #[must_use]
    #[track_caller]
    pub fn transmute<N: QueryData>(&self, world: &World) -> QueryState<N> {
        self.transmute_filtered::<N, ()>(world)
    }

    /// A query over the same entities that only reads. Functions that read take any state by `state.query(&world)`; this
    /// is for those that take a state which reads.
    ///
    /// # Panics
    /// When another world made this query.
    #[must_use]
    #[track_caller]
    pub fn as_readonly(&self, world: &World) -> QueryState<D::ReadOnly, F> {
        self.validate_world(world);
        match world.try_query_filtered() {
            Ok(state) => state,
            Err(conflict) => unreachable!("what only reads has no conflict: {conflict}"),
        }
    }

    /// What the query reads and writes of its entities.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    ///
    /// let mut world = World::new();
    /// let health = world.register_component::<Health>();
    /// let query = world.query::<&mut Health>();
    /// assert!(query.component_access(&world).has_component_write(health));
    /// ```
    ///
    /// # Panics
    /// When another world made this query.
    #[track_caller]
    pub fn component_access(&self, world: &World) -> ComponentAccess {
        self.validate_world(world);
        let mut access = ComponentAccess { reads_all: reads_whole(D::terms), ..ComponentAccess::default() };
        for used in self.fetch.prepared.uses() {
            if used.whole.is_some() {
                access.reads_all |= !used.writes;
                access.writes_all |= used.writes;
            } else if let Some(info) = world.components.of_column(used.column) {
                let ids = if used.writes { &mut access.writes } else { &mut access.reads };
                *ids = ids.with(info.id());
            }
        }
        access
    }

    /// As [`QueryState::transmute`], with a filter.
    ///
    /// # Panics
    /// As for [`QueryState::transmute`].
    #[must_use]
    #[track_caller]
    pub fn transmute_filtered<N: QueryData, G: QueryFilter>(&self, world: &World) -> QueryState<N, G> {
        self.validate_world(world);
        let asked = &self.fetch.asked;
        narrower(world, self.fetch.prepared.uses(), vec![asked.condition.clone()])
    }

    /// A query for what this one and another ask for, over the entities that both visit.
    ///
    /// # Panics
    /// As for [`QueryState::transmute`].
    #[must_use]
    #[track_caller]
    pub fn join<O: QueryData, N: QueryData>(&self, world: &World, other: &QueryState<O>) -> QueryState<N> {
        self.join_filtered::<O, (), N, ()>(world, other)
    }

    /// As [`QueryState::join`], with filters.
    ///
    /// # Panics
    /// As for [`QueryState::transmute`].
    #[must_use]
    #[track_caller]
    pub fn join_filtered<O: QueryData, P: QueryFilter, N: QueryData, G: QueryFilter>(
        &self,
        world: &World,
        other: &QueryState<O, P>,
    ) -> QueryState<N, G> {
        self.validate_world(world);
        other.validate_world(world);
        let uses = [self.fetch.prepared.uses(), other.fetch.prepared.uses()].concat();
        let conditions = vec![self.fetch.asked.condition.clone(), other.fetch.asked.condition.clone()];
        narrower(world, &uses, conditions)
    }
}

#[track_caller]
fn narrower<N: QueryData, G: QueryFilter>(
    world: &World,
    granted: &[Access],
    mut conditions: Vec<Condition>,
) -> QueryState<N, G> {
    let own = Condition::All(vec![N::condition(), G::condition()]);
    for condition in &conditions {
        if let Some(part) = forgotten(condition, &own) {
            panic!(
                "a query for `{}` forgets `{part}`, which is looked up per row: name it in the filter of \
                 `transmute_filtered` or `join_filtered`",
                written::<N>()
            );
        }
    }
    let mut prepared = match world.store.prepare((G::ids(), N::ids())) {
        Ok(prepared) => prepared,
        Err(alias) => panic!("{alias}"),
    };
    let filter = columns_of::<G::Fetch>(G::ids());
    for asked in prepared.uses().iter().skip(filter) {
        assert!(
            granted.iter().any(|granted| granted.covers(asked)),
            "a query for `{}` asks for something that the query it is made from does not: ask for it there",
            written::<N>()
        );
    }
    conditions.push(own);
    let condition = Condition::All(conditions);
    let World { store, archetypes, components, .. } = world;
    let asked = Asked::narrowed(condition, &mut prepared.admission(), store, archetypes, components);
    QueryState { fetch: FetchState { prepared, asked: Box::new(asked) } }
}
