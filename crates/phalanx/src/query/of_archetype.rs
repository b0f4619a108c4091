//! `&Archetype` as query data: which components an entity has, without looking at them.
//!
//! The store tells the table of each row, and the archetypes of the world which of them has that table. No column is
//! used, so such a query stands beside any other.

use phalanx_store::{Fetch, TableOf};

use super::condition::Condition;
use super::data::{QueryData, ReadOnlyQueryData, Term};
use super::moment::Moment;
use crate::archetype::{ArchetypeId, Archetypes};
use crate::component::AnyComponent;
use crate::registry::{ComponentId, Components};

/// Stands for the archetype of an entity in a query: `Query<&Archetype>` yields an [`ArchetypeView`] for each.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
/// #[derive(Component)]
/// struct Frozen;
///
/// fn count(all: Query<(Entity, &Archetype), With<Health>>) -> usize {
///     all.iter().filter(|(_, archetype)| archetype.has::<Frozen>()).count()
/// }
///
/// let mut world = World::new();
/// world.spawn(Health(1));
/// world.spawn((Health(2), Frozen));
/// assert_eq!(world.run_system_once(count).unwrap(), 1);
/// ```
#[derive(Debug)]
pub enum Archetype {}

/// One archetype: a set of components that some entities have. Sparse components are no part of it.
#[derive(Clone, Copy)]
pub struct ArchetypeView<'w> {
    id: ArchetypeId,
    archetypes: &'w Archetypes,
    components: &'w Components,
}

impl<'w> ArchetypeView<'w> {
    /// Its id.
    pub fn id(&self) -> ArchetypeId {
        self.id
    }

    /// Its components, ascending by id.
    pub fn components(&self) -> impl Iterator<Item = ComponentId> + use<'w> {
        self.archetypes.signature(self.id).iter()
    }

    /// How many components it has.
    pub fn component_count(&self) -> usize {
        self.components().count()
    }

    /// Whether it has the component with this id.
    pub fn contains(&self, id: ComponentId) -> bool {
        self.archetypes.signature(self.id).has(id)
    }

    /// Whether it has a component.
    pub fn has<C: AnyComponent>(&self) -> bool {
        self.components.component_id::<C>().is_some_and(|id| self.contains(id))
    }
}

impl std::fmt::Debug for ArchetypeView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.components().map(|id| self.components.info(id).name())).finish()
    }
}

impl QueryData for &Archetype {
    type Fetch = TableOf;
    type ReadOnly = Self;
    type Item<'w> = ArchetypeView<'w>;
    type Chunk<'w> = phalanx_store::TableId;

    fn ids() {}
    fn condition() -> Condition {
        Condition::always()
    }
    fn terms(out: &mut Vec<Term>) {
        out.push(Term { text: "&Archetype".to_owned(), columns: 0, whole: false });
    }
    #[inline]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
        let (archetypes, components) = since.around();
        ArchetypeView { id: archetypes.of_table(row), archetypes, components }
    }
    #[inline]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        rows
    }
}
impl ReadOnlyQueryData for &Archetype {}
