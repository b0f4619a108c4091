//! The upkeep of relations without other listeners: no announcement, and nothing waits for the end of one.
//!
//! ```text
//!   announced   observers, hook │ the change │ hook, observers, commands: a first list comes, an empty one goes
//!   direct      the old target? │ the change │ leaves the one list, joins the other, which comes or goes at once
//! ```
//!
//! Both do the same. The hooks in `upkeep` are for relations whose changes have listeners, since these must be told in
//! order, while structure stands still. Here the change is complete when the lists follow: no code can see what is between.

use phalanx_store::{Entity, Existing, FirstPanic, Store, Tick};

use super::upkeep::is_hierarchy;
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::registry::ComponentId;
use crate::relation::{Places, Relationship, RelationshipSourceCollection, RelationshipTarget};
use crate::storage::SparseParts;
use crate::world::World;
use crate::world::batch::for_each_despite_panics;

/// How the lists of a relation follow its links.
#[derive(Clone, Copy)]
pub(crate) struct Direct {
    /// The target of an entity.
    target: fn(&World, Entity) -> Option<Entity>,
    /// Brings lists in line with the link of an entity.
    follow: fn(&mut World, Entity, ComponentId, Turn),
    /// The component that lists those that point, if the world has met it.
    list: fn(&World) -> Option<ComponentId>,
    /// Whether the list of its target names an entity.
    is_listed: fn(&World, Entity) -> bool,
}

/// At whom an entity pointed before a change, and at whom it points now; `None` is no entity.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    pub(crate) before: Option<Entity>,
    pub(crate) now: Option<Entity>,
}

/// A relation of a bundle, without other listeners.
#[derive(Clone, Copy)]
pub(crate) struct QuietLink {
    pub(crate) id: ComponentId,
    pub(crate) direct: Direct,
}

impl QuietLink {
    /// The target of an entity.
    #[inline]
    pub(crate) fn target(self, world: &World, entity: Entity) -> Option<Entity> {
        self.direct.target_of(world, entity)
    }

    /// Brings lists in line with entities that were spawned together, although values or handlers panic.
    pub(crate) fn follow_new(self, world: &mut World, entities: &[Entity]) {
        let mut relinked = false;
        for_each_despite_panics(entities.iter(), |&entity| {
            // A handler that hears of one that was refused, or is disabled, may have linked others: these are listed already.
            if relinked && (self.direct.is_listed)(world, entity) {
                return;
            }
            let (epoch, changes) = world.version_of_all_links();
            let mut panics = FirstPanic::default();
            let now = self.target(world, entity);
            panics.guard(|| self.follow(world, entity, Turn { before: None, now }));
            relinked |= world.version_of_all_links() != (epoch, changes + 1);
            panics.resume();
        });
    }

    /// Brings lists in line, after a change of an entity.
    #[inline]
    pub(crate) fn follow(self, world: &mut World, entity: Entity, turn: Turn) {
        debug_assert_eq!(self.target(world, entity), turn.now, "at whom {entity} points");
        (self.direct.follow)(world, entity, self.id, turn);
    }
}

impl Direct {
    pub(super) fn of<R: Relationship>() -> Self {
        Self {
            target: |world, entity| world.target_of::<R>(entity),
            follow: follow::<R>,
            list: |world| world.component_id::<R::RelationshipTarget>(),
            is_listed: |world, entity| {
                let target = world.target_of::<R>(entity);
                let list = target.and_then(|target| world.sources_of::<R::RelationshipTarget>(target));
                list.is_some_and(|list| list.iter().any(|source| source == entity))
            },
        }
    }

    /// The target of an entity.
    #[inline]
    pub(crate) fn target_of(self, world: &World, entity: Entity) -> Option<Entity> {
        (self.target)(world, entity)
    }

    /// The component that lists those that point, if the world has met it.
    pub(crate) fn list_of(self, world: &World) -> Option<ComponentId> {
        (self.list)(world)
    }
}

/// The list of a target, marked as changed.
#[inline]
pub(super) fn list_of<S: RelationshipTarget>(
    store: &mut Store,
    target: Entity,
    since: Tick,
) -> Option<&mut S::Collection> {
    if let Some((column, changed)) = S::columns() {
        return store.set_value_mut(column, changed, target).map(S::collection_mut_risky);
    }
    let item = store.get_mut::<S::Write>(target, S::ids())?;
    Some(S::wrap_mut(item, since).into_mut().into_inner().collection_mut_risky())
}

fn follow<R: Relationship>(world: &mut World, source: Entity, id: ComponentId, Turn { before, now }: Turn) {
    world.relations.link_changes(id);
    if let (Some(before), Some(now)) = (before, now)
        && let Some(moved) = move_between::<R>(world, source, id, before, now)
    {
        if moved.emptied {
            world.take_empty_list::<R::RelationshipTarget>(before);
        }
        if let Some(rival) = moved.rival {
            take_rival::<R>(world, rival, now);
        }
    } else {
        leave_and_join::<R>(world, source, id, Turn { before, now });
    }
    // Last, because a handler that hears of it may change the link, or panic. A link that was refused is renewed as it goes.
    if is_hierarchy::<R>() && world.has_disabled_trees() {
        world.renew_disabled(vec![source]);
    }
}

/// What follows from a move between lists.
struct Moved {
    /// Whether the list that was left is empty.
    emptied: bool,
    /// The source that has to leave the list that was joined.
    rival: Option<Entity>,
}

/// Moves a source between two lists that are there, where nothing can be refused: all of them are found at once. `None` when
/// more has to be asked, and nothing was done.
#[inline]
fn move_between<R: Relationship>(
    world: &mut World,
    source: Entity,
    id: ComponentId,
    before: Entity,
    now: Entity,
) -> Option<Moved> {
    let World { store, relations, .. } = world;
    let (column, changed) = R::RelationshipTarget::columns()?;
    if before == now || source == now || relations.lists_wait() {
        return None;
    }
    let mut lists = store.set_values(column, changed)?;
    // As `check_link`: who has a list lives, and who has none is above no entity.
    if !lists.has(before) || !lists.has(now) || (!R::CYCLIC && lists.has(source)) {
        return None;
    }
    let places = relations.places(id);
    let list = lists.get_mut(before)?.collection_mut_risky();
    let emptied = list.remove_noted(source, places) && list.is_empty();
    let rival = add(lists.get_mut(now)?.collection_mut_risky(), source, places);
    Some(Moved { emptied, rival })
}

/// Adds a source to a list, and returns the source that has to leave it, if it is full.
#[inline]
fn add<C: RelationshipSourceCollection>(list: &mut C, source: Entity, places: &mut Places) -> Option<Entity> {
    let rival = list.source_to_remove_before_add().filter(|&rival| rival != source);
    list.add_noting(source, places);
    rival
}

/// Takes the link of one that had to leave the list of a target.
fn take_rival<R: Relationship>(world: &mut World, rival: Entity, target: Entity) {
    if world.target_of::<R>(rival) == Some(target) {
        let _ = world.remove::<R>(rival);
    }
}

/// Leaves the one list, which goes when it is empty, and joins the other, which may have to come.
fn leave_and_join<R: Relationship>(
    world: &mut World,
    source: Entity,
    id: ComponentId,
    Turn { before, now }: Turn,
) {
    let mut emptied = None;
    if let Some(target) = before {
        let World { store, relations, last_tick, .. } = &mut *world;
        if let Some(list) = list_of::<R::RelationshipTarget>(store, target, *last_tick) {
            let left = list.remove_noted(source, relations.places(id));
            emptied = (left && list.is_empty() && now != before).then_some(target);
        } else if let Some((list, places)) = relations.waiting_list::<R::RelationshipTarget>(target, id) {
            list.remove_noted(source, places);
        }
    }
    if let Some(target) = emptied {
        world.take_empty_list::<R::RelationshipTarget>(target);
    }
    if let Some(target) = now {
        join::<R>(world, source, id, target);
    }
}

/// A source joins the list of its target, or its link is refused.
#[inline]
fn join<R: Relationship>(world: &mut World, source: Entity, id: ComponentId, target: Entity) {
    // As `check_link`; an entity with a list lives, and the list is looked up here anyway.
    let no_cycle = R::CYCLIC || !world.has_sources::<R::RelationshipTarget>(source);
    if (source == target || !no_cycle)
        && let Err(error) = world.check_link::<R>(source, target)
    {
        return world.refuse_link::<R>(source, target, error);
    }
    let World { store, relations, last_tick, .. } = &mut *world;
    let rival = if let Some(list) = list_of::<R::RelationshipTarget>(store, target, *last_tick) {
        add(list, source, relations.places(id))
    } else if let Err(error) = world.check_link::<R>(source, target) {
        return world.refuse_link::<R>(source, target, error);
    } else if let Some((list, places)) = world.relations.waiting_list::<R::RelationshipTarget>(target, id) {
        add(list, source, places)
    } else {
        let mut list = <R::RelationshipTarget as RelationshipTarget>::Collection::new();
        list.add(source);
        world.give_first_list(target, R::RelationshipTarget::from_collection_risky(list));
        None
    };
    if let Some(rival) = rival {
        take_rival::<R>(world, rival, target);
    }
}

impl World {
    /// The relation of a bundle, if its lists are all that listens to the bundle.
    #[inline]
    pub(crate) fn quiet_link(&self, bundle: BundleId) -> Option<QuietLink> {
        let id = self.bundles.info(bundle).link?;
        self.relations.quiet.iter().find(|link| link.id == id).copied()
    }

    /// The target of an entity.
    #[inline]
    pub(super) fn target_of<R: Relationship>(&self, source: Entity) -> Option<Entity> {
        match R::column() {
            Some(column) => self.store.set_value(column, source).map(R::get),
            None => self.get::<R>(source).map(R::get),
        }
    }

    /// The list of those that point at an entity.
    #[inline]
    pub(super) fn sources_of<S: RelationshipTarget>(&self, target: Entity) -> Option<&S> {
        match S::columns() {
            Some((column, _)) => self.store.set_value(column, target),
            None => self.get::<S>(target),
        }
    }

    /// Whether any entity points at this one, whose list may still wait to be inserted.
    #[inline]
    pub(super) fn has_sources<S: RelationshipTarget>(&self, target: Entity) -> bool {
        self.sources_of::<S>(target).is_some() || self.relations.has_waiting_list::<S>(target)
    }

    /// Gives a target its first list, at once where there is no listener.
    #[inline]
    pub(super) fn give_first_list<S: RelationshipTarget>(&mut self, target: Entity, list: S) {
        let bundle = self.bundle::<S>();
        let info = self.bundles.info(bundle);
        let alone = info.required.is_empty() && info.required_sparse.is_empty();
        if !alone || self.archetypes.pools().len() > 1 || !self.is_quiet_list::<S>() {
            return self.insert_list(target, list);
        }
        let (_, parts) = list.into_values(self.store.tick());
        self.put_sparse(target, parts, Existing::Replace);
    }

    /// Takes a list away that has become empty.
    #[inline]
    fn take_empty_list<S: RelationshipTarget>(&mut self, target: Entity) {
        if self.sources_of::<S>(target).is_none_or(|list| !list.is_empty()) {
            return;
        }
        if self.archetypes.pools().len() > 1 || !self.is_quiet_list::<S>() {
            let _ = self.remove::<S>(target);
            return;
        }
        drop(<S as Bundle>::Sparse::take(&mut self.store, &self.sets, target));
    }

    /// Whether their upkeep alone listens to lists of this kind.
    #[inline]
    fn is_quiet_list<S: RelationshipTarget>(&self) -> bool {
        self.component_id::<S>().is_some_and(|id| self.is_quiet(id))
    }
}
