//! Groups of a world.
//!
//! Every change of an entity goes through [`World::grouped`], which costs one test while there is no group.
//! Around the change the entity leaves groups that need what it loses, and enters those it qualifies for.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use phalanx_store::{Entity, SetId, Tick};

use super::World;
use crate::bundles::BundleId;
use crate::group::{Group, GroupError, GroupFilter, GroupParts, Losing, Terms};
use crate::registry::ComponentId;

/// What a change takes from an entity, so far as groups must know.
#[derive(Clone, Copy)]
pub(crate) enum Takes {
    Nothing,
    AnyComponent(ComponentId),
    Bundle(BundleId),
    Everything,
}

impl World {
    /// Makes a change of one entity, and keeps groups right around it, also when it panics.
    #[inline(never)]
    pub(crate) fn grouped<R>(
        &mut self,
        entity: Entity,
        takes: Takes,
        change: impl FnOnce(&mut Self) -> R,
    ) -> R {
        if self.groups.is_empty() {
            return change(self);
        }
        self.leave_groups(entity, takes);
        let result = catch_unwind(AssertUnwindSafe(|| change(self)));
        self.refresh_groups(entity);
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }

    pub(crate) fn leave_groups(&mut self, entity: Entity, takes: Takes) {
        let sets: Vec<SetId>;
        let losing = match takes {
            Takes::Nothing => Losing::Nothing,
            Takes::Everything => Losing::Everything,
            Takes::AnyComponent(id) => {
                sets = self.set_of(id).into_iter().collect();
                Losing::Sets(&sets)
            }
            Takes::Bundle(id) => {
                sets = self.bundles.info(id).sparse.iter().filter_map(|id| self.set_of(id)).collect();
                Losing::Sets(&sets)
            }
        };
        self.groups.leave(&mut self.store, entity, losing);
    }

    pub(crate) fn refresh_groups(&mut self, entity: Entity) {
        if !self.groups.is_empty() {
            self.groups.refresh(&mut self.store, &self.archetypes, entity);
        }
    }

    /// Makes a group, over what exists and what will come. Asking for the same group again gives the same one.
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
        if let Some(id) = self.groups.find(&terms) {
            return Ok(Group::new(id));
        }
        let name = self.group_name(&owned, &seen, &without);
        for (&set, &id) in terms.owned.iter().zip(&owned) {
            if let Some(owner) = self.groups.owner(set) {
                let component = self.components.info(id).name().to_owned();
                return Err(GroupError::Owned { group: name, component, owner: owner.to_owned() });
            }
        }
        let id = self.groups.add(name, terms, &mut self.store, &self.archetypes);
        // A group that owns nothing has a set of its own, which belongs to no component.
        self.set_components.resize(self.store.sets().count(), None);
        self.update_open_plans();
        Ok(Group::new(id))
    }

    fn group_terms(&self, owned: &[ComponentId], seen: &[ComponentId], without: &[ComponentId]) -> Terms {
        let sets = |ids: &[ComponentId]| ids.iter().filter_map(|&id| self.set_of(id)).collect();
        Terms {
            owned: sets(owned),
            seen: sets(seen),
            without_sets: sets(without),
            without: without.iter().copied().filter(|&id| self.set_of(id).is_none()).collect(),
        }
    }

    fn group_name(&self, owned: &[ComponentId], seen: &[ComponentId], without: &[ComponentId]) -> String {
        let names = |ids: &[ComponentId]| {
            ids.iter().map(|&id| self.components.info(id).name()).collect::<Vec<_>>().join(", ")
        };
        format!("the group of Own<({})>, Get<({})>, Without<({})>", names(owned), names(seen), names(without))
    }

    /// Dissolves a group. The sets keep the order they have.
    ///
    /// # Errors
    /// When it was dissolved before.
    pub fn ungroup<O, G, F>(&mut self, group: Group<O, G, F>) -> Result<(), GroupError> {
        if !self.groups.remove(group.id, &mut self.store) {
            return Err(GroupError::NoSuchGroup);
        }
        self.update_open_plans();
        Ok(())
    }
}

/// The positions of `len` things in stable ascending order.
pub(super) fn sorted(len: usize, mut compare: impl FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Brings things into an order by exchanging two at a time: each place gets what stood at `order[place]`.
pub(super) fn arrange(mut order: Vec<usize>, mut swap: impl FnMut(usize, usize)) {
    for start in 0..order.len() {
        // Along a circle of places, what stood at its start is passed on until it is where it belongs.
        let mut at = start;
        while order[at] != start {
            let from = std::mem::replace(&mut order[at], at);
            swap(at, from);
            at = from;
        }
        order[at] = at;
    }
}

impl<O: GroupParts, G: GroupParts, F: GroupFilter> Group<O, G, F> {
    /// How many entities are in the group; none after it was dissolved.
    pub fn len(&self, world: &World) -> usize {
        world.groups.len(self.id, &world.store).unwrap_or(0)
    }

    /// Whether no entity is in the group.
    pub fn is_empty(&self, world: &World) -> bool {
        self.len(world) == 0
    }

    /// The members, in the group's order.
    pub fn entities<'w>(&self, world: &'w World) -> &'w [Entity] {
        world.groups.entities(self.id, &world.store).unwrap_or(&[])
    }

    /// Whether an entity is in the group.
    pub fn contains(&self, world: &World, entity: Entity) -> bool {
        world.groups.contains(self.id, &world.store, entity)
    }

    /// The owned components of all members: slices of equal length in the same order.
    pub fn slices<'w>(&self, world: &'w World) -> O::Slices<'w> {
        let slices = world.store.set_slices::<O::Read>(O::ids(), 0..self.len(world));
        O::wrap_slices(slices.expect("members are in every owned set"))
    }

    /// The owned components of all members, to be written.
    pub fn slices_mut<'w>(&self, world: &'w mut World) -> O::SlicesMut<'w> {
        let len = self.len(world);
        let slices = world.store.set_slices_mut::<O::Write>(O::ids(), 0..len);
        O::wrap_slices_mut(slices.expect("members are in every owned set"))
    }

    /// Each member with its owned and its guaranteed components, in the group's order.
    pub fn iter<'w>(
        &self,
        world: &'w World,
    ) -> impl Iterator<Item = (Entity, O::Ref<'w>, G::Ref<'w>)> + use<'w, O, G, F> {
        self.entities(world).iter().map(|&entity| {
            let item = world.store.get::<(O::Read, G::Read)>(entity, (O::ids(), G::ids()));
            let (own, get) = item.expect("members have every component of the group");
            (entity, O::wrap_ref(own), G::wrap_ref(get))
        })
    }

    /// Calls a function with each member, in the group's order, to be written.
    pub fn for_each_mut(&self, world: &mut World, mut f: impl FnMut(Entity, O::Mut<'_>, G::Mut<'_>)) {
        for at in 0..self.len(world) {
            let entity = self.entities(world)[at];
            let item = world.store.get_mut::<(O::Write, G::Write)>(entity, (O::ids(), G::ids()));
            let (own, get) = item.expect("members have every component of the group");
            f(entity, O::wrap_mut(own, Tick::ZERO), G::wrap_mut(get, Tick::ZERO));
        }
    }

    /// Sorts the members; equal ones keep their order, and entities outside the group stay where they are. A group
    /// that owns nothing is sorted by what it guarantees ([`Group::sort_by_get`]).
    ///
    /// # Errors
    /// When the group was dissolved.
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
    /// When the group was dissolved.
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
        world.groups.len(self.id, &world.store).ok_or(GroupError::NoSuchGroup)?;
        let items: Vec<_> = self.iter(world).collect();
        let order = sorted(items.len(), |a, b| compare(&items[a], &items[b]));
        drop(items);
        arrange(order, |a, b| world.groups.swap(self.id, &mut world.store, a, b));
        Ok(())
    }
}
