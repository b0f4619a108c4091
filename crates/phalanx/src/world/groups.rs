//! Groups of a world.
//!
//! Sets keep their groups right on their own. All that is left for the world is a group that excludes a component in
//! tables: code that changes an entity's table does so through [`World::grouped`], which costs one test while there is no
//! such group.

use std::cmp::Ordering;

use phalanx_store::{Entity, GroupGone, GroupTerms, SetId, sorting};

use super::World;
use crate::group::{Group, GroupError, GroupFilter, GroupParts};
use crate::registry::ComponentId;

/// Brings groups in line with the table of an entity at the end of a change, however that ends.
struct Regroup<'w> {
    world: &'w mut World,
    entity: Entity,
    watched: bool,
}

impl Drop for Regroup<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.watched {
            self.world.store.refresh_groups(self.entity);
        }
    }
}

impl World {
    /// Makes a change that may bring an entity into another table, and keeps groups right around it, also when it
    /// panics.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn grouped<R>(&mut self, entity: Entity, change: impl FnOnce(&mut Self) -> R) -> R {
        // One call of `change`, whether groups watch or not: it is inlined then, and nothing goes through memory.
        let watched = self.store.groups_watch_tables();
        let regroup = Regroup { world: self, entity, watched };
        change(regroup.world)
    }

    /// Makes a group, over what exists and what will come. Asking for the same group again gives the same one, in
    /// whatever order its components are named.
    ///
    /// `Own` names the components whose sets the group orders, `Get` those it only guarantees; with `Own<()>` the
    /// group keeps an order of its own. Owning speeds up iteration and slows adding and removing of exactly these
    /// components: which to own is worth a thought about the data.
    ///
    /// # Errors
    /// When another group owns a component that this one wants to own, a component is named twice, or none is.
    pub fn group<O: GroupParts, G: GroupParts, F: GroupFilter>(
        &mut self,
    ) -> Result<Group<O, G, F>, GroupError> {
        let (mut owned, mut seen, mut without) = (Vec::new(), Vec::new(), Vec::new());
        let register = |world: &mut Self, owned: &mut _, seen: &mut _, without: &mut _| {
            O::register(&mut world.components, owned)?;
            G::register(&mut world.components, seen)?;
            F::register(&mut world.components, without)
        };
        register(self, &mut owned, &mut seen, &mut without).map_err(GroupError::Register)?;
        self.declare_columns();
        let all: Vec<ComponentId> = owned.iter().chain(&seen).chain(&without).copied().collect();
        if let Some((_, id)) = all.iter().enumerate().find(|&(at, id)| all[..at].contains(id)) {
            return Err(GroupError::Repeated { component: self.components.info(*id).name().to_owned() });
        }
        if owned.is_empty() && seen.is_empty() {
            return Err(GroupError::Empty);
        }
        let terms = self.group_terms(&owned, &seen, &without);
        if let Some(id) = self.store.find_group(&terms) {
            return Ok(Group::new(id));
        }
        let name = self.group_name(&owned, &seen, &without);
        for (&set, &id) in terms.owned.iter().zip(&owned) {
            if let Some(owner) = self.owner_of(set) {
                let (component, owner) = (self.components.info(id).name().to_owned(), owner.to_owned());
                return Err(GroupError::Owned { group: name, component, owner });
            }
        }
        let id = self.store.add_group(terms);
        self.groups.add(id, name);
        // A group that owns nothing has a set of its own, which belongs to no component.
        self.set_components.resize(self.store.sets().count(), None);
        Ok(Group::new(id))
    }

    /// The name of the group that owns a set.
    pub(crate) fn owner_of(&self, set: SetId) -> Option<&str> {
        self.store.owner_of_set(set).map(|id| self.groups.name(id))
    }

    pub(super) fn group_terms(
        &self,
        owned: &[ComponentId],
        seen: &[ComponentId],
        without: &[ComponentId],
    ) -> GroupTerms {
        let sets = |ids: &[ComponentId]| ids.iter().filter_map(|&id| self.set_of(id)).collect();
        let in_tables = without.iter().copied().filter(|&id| self.set_of(id).is_none());
        GroupTerms {
            owned: sets(owned),
            seen: sets(seen),
            without_sets: sets(without),
            // A table has all columns of a component, or none.
            without: in_tables.map(|id| self.components.info(id).columns()[0]).collect(),
        }
    }

    /// The name of a group, the same for equal groups: components stand in it in the order of their names.
    pub(super) fn group_name(
        &self,
        owned: &[ComponentId],
        seen: &[ComponentId],
        without: &[ComponentId],
    ) -> String {
        let names = |ids: &[ComponentId]| {
            let mut names: Vec<&str> = ids.iter().map(|&id| self.components.info(id).name()).collect();
            sorting::sort(&mut names);
            names.join(", ")
        };
        format!("the group of Own<({})>, Get<({})>, Without<({})>", names(owned), names(seen), names(without))
    }

    /// Dissolves a group. The sets keep the order they have.
    ///
    /// # Errors
    /// When it was dissolved before, or belongs to another world.
    pub fn ungroup<O, G, F>(&mut self, group: Group<O, G, F>) -> Result<(), GroupError> {
        self.store.remove_group(group.id)?;
        self.groups.remove(group.id);
        Ok(())
    }
}

/// What was asked of a group.
///
/// # Panics
/// When there is no such group.
#[inline]
#[track_caller]
fn expect<T>(answer: Result<T, GroupGone>) -> T {
    match answer {
        Ok(answer) => answer,
        Err(gone) => panic!("{}", GroupError::from(gone)),
    }
}

/// # Panics
/// Methods that do not return a `Result` panic when the group was dissolved, or belongs to another world.
impl<O: GroupParts, G: GroupParts, F: GroupFilter> Group<O, G, F> {
    /// Whether the group is one of this world, and was not dissolved.
    pub fn exists(&self, world: &World) -> bool {
        world.store.group_len(self.id).is_ok()
    }

    /// How many entities are in the group.
    #[track_caller]
    pub fn len(&self, world: &World) -> usize {
        expect(world.store.group_len(self.id))
    }

    /// Whether no entity is in the group.
    #[track_caller]
    pub fn is_empty(&self, world: &World) -> bool {
        self.len(world) == 0
    }

    /// The members, in the group's order.
    #[track_caller]
    pub fn entities<'w>(&self, world: &'w World) -> &'w [Entity] {
        expect(world.store.group_entities(self.id))
    }

    /// Whether an entity is in the group.
    #[track_caller]
    pub fn contains(&self, world: &World, entity: Entity) -> bool {
        expect(world.store.group_contains(self.id, entity))
    }

    /// The owned components of all members: slices of equal length in the same order.
    #[track_caller]
    pub fn slices<'w>(&self, world: &'w World) -> O::Slices<'w> {
        let slices = world.store.set_slices::<O::Read>(O::ids(), 0..self.len(world));
        O::wrap_slices(slices.expect("members are in every owned set"))
    }

    /// The owned components of all members, to be written.
    #[track_caller]
    pub fn slices_mut<'w>(&self, world: &'w mut World) -> O::SlicesMut<'w> {
        let len = self.len(world);
        let slices = world.store.set_slices_mut::<O::Write>(O::ids(), 0..len);
        O::wrap_slices_mut(slices.expect("members are in every owned set"))
    }

    /// Each member with its owned and its guaranteed components, in the group's order.
    ///
    /// Owned components are walked by position, the others found without asking whether they are there: membership says
    /// so. Where a group owns everything, [`Group::slices`] is as fast, and vectorises.
    #[inline]
    #[track_caller]
    pub fn iter<'w>(
        &self,
        world: &'w World,
    ) -> impl ExactSizeIterator<Item = (Entity, O::Ref<'w>, G::Ref<'w>)> + use<'w, O, G, F> {
        let members = expect(world.store.group_members::<O::Read, G::Read>(self.id, O::ids(), G::ids()));
        members.map(|(entity, own, get)| (entity, O::wrap_ref(own), G::wrap_ref(get)))
    }

    /// As [`Group::iter`], to be written.
    #[inline]
    #[track_caller]
    pub fn iter_mut<'w>(
        &self,
        world: &'w mut World,
    ) -> impl ExactSizeIterator<Item = (Entity, O::Mut<'w>, G::Mut<'w>)> + use<'w, O, G, F> {
        let since = world.last_tick;
        let members = world.store.group_members_mut::<O::Write, G::Write>(self.id, O::ids(), G::ids());
        expect(members)
            .map(move |(entity, own, get)| (entity, O::wrap_mut(own, since), G::wrap_mut(get, since)))
    }

    /// Sorts the members; equal ones keep their order, and entities outside the group stay where they are. A group
    /// that owns nothing is sorted by what it guarantees ([`Group::sort_by_get`]).
    ///
    /// # Errors
    /// When the group was dissolved, or belongs to another world.
    pub fn sort_by(
        &self,
        world: &mut World,
        mut compare: impl FnMut(&O::Ref<'_>, &O::Ref<'_>) -> Ordering,
    ) -> Result<(), GroupError> {
        self.sort_members(world, |(_, a, _), (_, b, _)| compare(a, b))
    }

    /// As [`Group::sort_by`], by the components that the group does not own.
    ///
    /// # Errors
    /// When the group was dissolved, or belongs to another world.
    pub fn sort_by_get(
        &self,
        world: &mut World,
        mut compare: impl FnMut(&G::Ref<'_>, &G::Ref<'_>) -> Ordering,
    ) -> Result<(), GroupError> {
        self.sort_members(world, |(_, _, a), (_, _, b)| compare(a, b))
    }

    fn sort_members(
        &self,
        world: &mut World,
        mut compare: impl FnMut(&(Entity, O::Ref<'_>, G::Ref<'_>), &(Entity, O::Ref<'_>, G::Ref<'_>)) -> Ordering,
    ) -> Result<(), GroupError> {
        world.store.group_len(self.id)?;
        let items: Vec<_> = self.iter(world).collect();
        let order = sorting::in_order(items.len(), |a, b| compare(&items[a], &items[b]));
        drop(items);
        sorting::arrange(order, |a, b| {
            expect(world.store.group_swap(self.id, a, b));
        });
        Ok(())
    }
}
