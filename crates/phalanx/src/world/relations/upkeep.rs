//! The hooks of both halves of a relation.
//!
//! Hooks change no structure. They add to and take from lists that are there; they queue the insertion of a first list,
//! the removal of an empty one, and the removal of links that were refused or lost their target. Each queued function
//! looks again at what it finds, because others may have come before it.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::{HashMap, HashSet};
#[cfg(feature = "serde")]
use phalanx_store::AnyColId;
use phalanx_store::{Entity, FirstPanic};

use super::LinkError;
use super::despawn::{Linked, is_cyclic};
use super::direct::{Direct, QuietLink, list_of};
use super::many::EdgeKind;
#[cfg(feature = "serde")]
use crate::component::AnyComponent;
use crate::component::Descriptor;
use crate::names::short_type;
use crate::query::Everyone;
use crate::registry::ComponentId;
use crate::relation::{ChildOf, Places, Relationship, RelationshipSourceCollection, RelationshipTarget};
use crate::world::batch::for_each_despite_panics;
use crate::world::{ComponentHooks, DeferredWorld, Failed, HookContext, SystemError, World};

/// What a world knows of its relations besides the components.
#[derive(Default)]
pub(crate) struct Relations {
    /// First lists of targets, which are inserted when the change that brought them is complete.
    waiting: HashMap<(TypeId, Entity), Box<dyn Any + Send + Sync>>,
    /// The relations whose sources die with their target.
    pub(super) linked: Vec<Linked>,
    /// Indexed by the pointing half of a relation: how often links of it came or went.
    changes: Vec<u64>,
    /// How often links of any relation came or went.
    all_changes: u64,
    /// Which time this is that the number of changes begins anew: one for all worlds.
    epoch: u64,
    /// The relations of many to many.
    pub(super) edges: Vec<EdgeKind>,
    /// Indexed by the pointing half of a relation: where entities stand in long lists.
    places: Vec<Places>,
    /// The relations that need no announcement.
    pub(super) quiet: Vec<QuietLink>,
}

static NEXT_EPOCH: AtomicU64 = AtomicU64::new(1);

impl Relations {
    /// Takes note of the relations to which their upkeep alone listens.
    pub(crate) fn set_quiet(&mut self, quiet: Vec<QuietLink>) {
        self.quiet = quiet;
    }

    /// Where the sources of a relation stand in long lists.
    #[inline]
    pub(super) fn places(&mut self, relation: ComponentId) -> &mut Places {
        if self.places.len() <= relation.index() {
            self.places.resize_with(relation.index() + 1, Places::default);
        }
        &mut self.places[relation.index()]
    }

    /// The list of a target that waits to be inserted, and the places of the relation.
    #[inline]
    pub(super) fn waiting_list<S: RelationshipTarget>(
        &mut self,
        target: Entity,
        relation: ComponentId,
    ) -> Option<(&mut S::Collection, &mut Places)> {
        if self.waiting.is_empty() {
            return None;
        }
        self.places(relation);
        let list = self.waiting.get_mut(&(TypeId::of::<S>(), target))?;
        Some((list.downcast_mut::<S>()?.collection_mut_risky(), &mut self.places[relation.index()]))
    }

    /// Whether any first list waits to be inserted.
    #[inline]
    pub(super) fn lists_wait(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the first list of a target waits to be inserted.
    #[inline]
    pub(super) fn has_waiting_list<S: RelationshipTarget>(&self, target: Entity) -> bool {
        !self.waiting.is_empty() && self.waiting.contains_key(&(TypeId::of::<S>(), target))
    }

    /// Takes note that links of a relation come or go.
    pub(super) fn link_changes(&mut self, relation: ComponentId) {
        if self.changes.len() <= relation.index() {
            self.changes.resize(relation.index() + 1, 0);
        }
        self.changes[relation.index()] += 1;
        self.all_changes += 1;
        if self.epoch == 0 {
            self.all_changed();
        }
    }

    /// Takes note that the links of all relations are others than before.
    pub(crate) fn all_changed(&mut self) {
        self.epoch = NEXT_EPOCH.fetch_add(1, Ordering::Relaxed);
    }

    /// Forgets lists that wait for a change which is not there any more.
    pub(crate) fn forget_waiting(&mut self) {
        self.waiting.clear();
        self.all_changed();
    }
}

/// What a component declares of a relation.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    linked: Option<Linked>,
    /// How lists follow links, for the half that points.
    pub(crate) direct: Option<Direct>,
    /// Whether the component lists those that point.
    is_list: bool,
    /// Whether the sources of the relation die with their target, so that a whole tree of them needs no upkeep.
    pub(crate) dies_as_tree: bool,
    pub(crate) check: fn(&World) -> Result<(), String>,
    /// The column of the other half.
    #[cfg(feature = "serde")]
    other: fn() -> AnyColId,
    /// Takes away the links that this half of an entity is about.
    #[cfg(feature = "serde")]
    unlink: fn(&mut World, Entity, &mut Vec<Relink>),
}

/// Brings a link back that was taken away.
#[cfg(feature = "serde")]
pub(crate) type Relink = Box<dyn FnOnce(&mut World)>;

/// Tells a world that a component points at others.
#[doc(hidden)]
pub fn describe_relationship<R: Relationship>(descriptor: &mut Descriptor, hooks: &mut ComponentHooks) {
    hooks.declare_on_insert(linked::<R>, "the upkeep of a relation");
    hooks.declare_on_discard(unlinking::<R>, "the upkeep of a relation");
    let dies_as_tree = R::RelationshipTarget::LINKED_SPAWN && !is_cyclic::<R>();
    descriptor.attach(Declared {
        linked: None,
        direct: Some(Direct::of::<R>()),
        is_list: false,
        dies_as_tree,
        check: check_links::<R>,
        #[cfg(feature = "serde")]
        other: R::RelationshipTarget::key,
        #[cfg(feature = "serde")]
        unlink: |world, source, _| drop(world.take::<R>(source)),
    });
}

/// Tells a world that a component lists the sources of its entity.
#[doc(hidden)]
pub fn describe_relationship_target<S: RelationshipTarget>(
    descriptor: &mut Descriptor,
    hooks: &mut ComponentHooks,
) {
    hooks.declare_on_insert(listed::<S>, "the upkeep of a relation");
    hooks.declare_on_discard(unlisting::<S>, "the upkeep of a relation");
    let linked = S::LINKED_SPAWN.then(Linked::of::<S>);
    let dies_as_tree = S::LINKED_SPAWN && !is_cyclic::<S::Relationship>();
    descriptor.attach(Declared {
        linked,
        direct: None,
        is_list: true,
        dies_as_tree,
        check: check_lists::<S>,
        #[cfg(feature = "serde")]
        other: S::Relationship::key,
        #[cfg(feature = "serde")]
        unlink: |world, target, put_back| {
            let sources: Vec<Entity> =
                world.get::<S>(target).map(|list| list.iter().collect()).unwrap_or_default();
            for source in sources {
                let Some(link) = world.take::<S::Relationship>(source) else { continue };
                put_back.push(Box::new(move |world| {
                    // What cannot be linked any more goes to the error handler, as any refused link does.
                    if world.contains(source) {
                        let _ = world.insert(source, link);
                    }
                }));
            }
        },
    });
}

/// Whether a relation is that of children and parents, along which trees are disabled.
pub(super) fn is_hierarchy<R: 'static>() -> bool {
    TypeId::of::<R>() == TypeId::of::<ChildOf>()
}

/// A link came.
fn linked<R: Relationship>(mut world: DeferredWorld<'_>, context: HookContext) {
    let source = context.entity;
    let Some(target) = world.get::<R>(source).map(R::get) else { return };
    world.world_mut().relations.link_changes(context.component_id);
    if is_hierarchy::<R>() {
        world.renew_disabled_child(source);
    }
    if let Err(error) = world.check_link::<R>(source, target) {
        // Until it goes, the link points at none: no walk that a handler begins meets a cycle.
        let mut held = target;
        if let Some(column) = R::column()
            && let Some(link) = world.world_mut().store.set_value_mut(column, None, source)
        {
            held = Entity::PLACEHOLDER;
            link.set_risky(held);
        }
        return world.commands().queue(move |world: &mut World| world.refuse_link::<R>(source, held, error));
    }
    let id = context.component_id;
    if let Some(rival) = world.with_list::<R::RelationshipTarget, _>(target, id, |list, places| {
        let rival = list.source_to_remove_before_add().filter(|&rival| rival != source);
        list.add_noting(source, places);
        rival
    }) {
        world.commands().queue(move |world: &mut World| {
            if world.get::<R>(rival).is_some_and(|link| link.get() == target) {
                let _ = world.remove::<R>(rival);
            }
        });
    }
}

/// A link is about to go.
fn unlinking<R: Relationship>(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(target) = world.get::<R>(context.entity).map(R::get) else { return };
    world.world_mut().relations.link_changes(context.component_id);
    if is_hierarchy::<R>() {
        world.renew_disabled_child(context.entity);
    }
    let World { store, relations, last_tick, .. } = world.world_mut();
    if let Some(list) = list_of::<R::RelationshipTarget>(store, target, *last_tick) {
        if list.remove_noted(context.entity, relations.places(context.component_id)) && list.is_empty() {
            world.commands().queue(move |world: &mut World| {
                if world.get::<R::RelationshipTarget>(target).is_some_and(RelationshipTarget::is_empty) {
                    let _ = world.remove::<R::RelationshipTarget>(target);
                }
            });
        }
    } else if let Some((list, places)) =
        relations.waiting_list::<R::RelationshipTarget>(target, context.component_id)
    {
        list.remove_noted(context.entity, places);
    }
}

/// A list came. An entity that does not point here has no place in it.
fn listed<S: RelationshipTarget>(mut world: DeferredWorld<'_>, context: HookContext) {
    let target = context.entity;
    let points_here =
        |world: &World, source| world.get::<S::Relationship>(source).is_some_and(|link| link.get() == target);
    let Some(list) = world.get::<S>(target) else { return };
    if list.iter().all(|source| points_here(&world, source)) && !list.is_empty() {
        return;
    }
    let kept: Vec<Entity> = list.iter().filter(|&source| points_here(&world, source)).collect();
    let is_empty = kept.is_empty();
    if let Some(list) = world.get_mut::<S>(target) {
        let mut list = list.into_mut();
        list.collection_mut_risky().clear();
        list.collection_mut_risky().extend_from_iter(kept);
    }
    if is_empty {
        world.commands().queue(move |world: &mut World| {
            if world.get::<S>(target).is_some_and(RelationshipTarget::is_empty) {
                let _ = world.remove::<S>(target);
            }
        });
    }
}

/// A list is about to go: the sources lose their link, or die if they are linked and the target does.
fn unlisting<S: RelationshipTarget>(mut world: DeferredWorld<'_>, context: HookContext) {
    let target = context.entity;
    let Some(sources) = world.get::<S>(target).map(|list| list.iter().collect::<Vec<_>>()) else { return };
    if sources.is_empty() {
        return;
    }
    world.commands().queue(move |world: &mut World| {
        let dies = S::LINKED_SPAWN && !world.contains(target);
        for_each_despite_panics(sources.into_iter().rev(), |source| {
            if world.get::<S::Relationship>(source).is_none_or(|link| link.get() != target) {
                return;
            }
            // A list that came instead keeps those that it names.
            let is_listed =
                world.get::<S>(target).is_some_and(|list| list.iter().any(|other| other == source));
            if dies {
                world.despawn(source);
            } else if !is_listed {
                let _ = world.remove::<S::Relationship>(source);
            }
        });
    });
}

impl DeferredWorld<'_> {
    /// Changes the list of a target, which is made if there is none. Where a target has none, the new one waits for
    /// the end of the change.
    fn with_list<S: RelationshipTarget, T>(
        &mut self,
        target: Entity,
        relation: ComponentId,
        change: impl FnOnce(&mut S::Collection, &mut Places) -> T,
    ) -> T {
        let World { store, relations, last_tick, .. } = self.world_mut();
        if let Some(list) = list_of::<S>(store, target, *last_tick) {
            return change(list, relations.places(relation));
        }
        if let Some((list, places)) = relations.waiting_list::<S>(target, relation) {
            return change(list, places);
        }
        let mut list = S::Collection::new();
        let result = change(&mut list, relations.places(relation));
        let world = self.world_mut();
        let list = Box::new(S::from_collection_risky(list));
        world.relations.waiting.insert((TypeId::of::<S>(), target), list);
        world.commands().queue(move |world: &mut World| world.insert_waiting::<S>(target));
        result
    }
}

impl World {
    /// Gives a target the list that waits for it.
    fn insert_waiting<S: RelationshipTarget>(&mut self, target: Entity) {
        let Some(list) = self.relations.waiting.remove(&(TypeId::of::<S>(), target)) else { return };
        let Ok(list) = list.downcast::<S>() else { return };
        if list.is_empty() {
            return;
        }
        if let Some(held) = self.get_mut::<S>(target) {
            return held.into_mut().collection_mut_risky().extend_from_iter(list.iter());
        }
        self.insert_list(target, *list);
    }

    /// Gives a target that has none a list; if it is refused, the links go.
    pub(super) fn insert_list<S: RelationshipTarget>(&mut self, target: Entity, list: S) {
        // Only a pool refuses a list, and the target may have died meanwhile.
        let may_fail = self.archetypes.pools().len() > 1 || !self.contains(target);
        let sources: Vec<Entity> = if may_fail { list.iter().collect() } else { Vec::new() };
        if let Err(error) = self.insert(target, list) {
            let mut panics = FirstPanic::default();
            for source in sources {
                // Handlers of one may queue what panics, or what gives another one a new target.
                panics.guard(|| {
                    if self.get::<S::Relationship>(source).is_some_and(|link| link.get() == target) {
                        let _ = self.remove::<S::Relationship>(source);
                    }
                });
            }
            if self.contains(target) {
                let name = short_type::<S::Relationship>();
                panics.guard(|| self.fail(SystemError::new(Failed::Command, name, error.into())));
            }
            panics.resume();
        }
    }

    /// Takes away a link that must not be, unless its source points at another entity by now, and tells the error handler.
    #[cold]
    pub(super) fn refuse_link<R: Relationship>(&mut self, source: Entity, held: Entity, error: LinkError) {
        if self.get::<R>(source).is_some_and(|link| link.get() == held) {
            let _ = self.remove::<R>(source);
        }
        let name = format!("insert {}", short_type::<R>());
        self.fail(SystemError::new(Failed::Command, name, error.into()));
    }

    /// Takes over what newly registered components declare.
    pub(crate) fn declare_relation(&mut self, id: ComponentId) {
        self.declare_edges(id);
        let Some(&declared) = self.components.info(id).attached::<Declared>() else { return };
        self.declare_upkeep(id);
        self.relations.linked.extend(declared.linked);
    }

    /// What differs whenever links of a relation came or went.
    pub(crate) fn version_of_links<R: Relationship>(&self) -> (u64, u64) {
        let id = self.component_id::<R>();
        let changes = id.and_then(|id| self.relations.changes.get(id.index()));
        (self.relations.epoch, changes.copied().unwrap_or(0))
    }

    /// What differs whenever links of any relation came or went.
    #[inline]
    pub(crate) fn version_of_all_links(&self) -> (u64, u64) {
        (self.relations.epoch, self.relations.all_changes)
    }

    /// Whether a component lists those that point at its entity.
    pub(crate) fn is_list(&self, id: ComponentId) -> bool {
        self.components.info(id).attached::<Declared>().is_some_and(|declared| declared.is_list)
    }

    /// The entity that a link of an entity points at; `None` for a component that is no link.
    pub(crate) fn link_of(&self, entity: Entity, id: ComponentId) -> Option<Entity> {
        let declared = self.components.info(id).attached::<Declared>()?;
        declared.direct?.target_of(self, entity)
    }

    /// Whether a component is half of a relation, or one end of edges.
    #[cfg(feature = "serde")]
    pub(crate) fn is_half_of_relation(&self, id: ComponentId) -> bool {
        self.components.info(id).attached::<Declared>().is_some() || self.is_end_of_edges(id)
    }

    /// The other half of the relation that a component is half of, if the world knows it.
    #[cfg(feature = "serde")]
    pub(crate) fn other_half(&self, id: ComponentId) -> Option<ComponentId> {
        let declared = self.components.info(id).attached::<Declared>();
        let pair = declared.map(|declared| [(declared.other)(); 2]).or_else(|| self.ends_of_edges(id))?;
        pair.into_iter().filter_map(|column| self.components.by_key(column)).find(|&other| other != id)
    }

    /// Takes away the links that half of a relation, which an entity has, is about: its own one, which does not come
    /// back, or those of all that point at it.
    #[cfg(feature = "serde")]
    pub(crate) fn unlink_half(&mut self, entity: Entity, id: ComponentId, put_back: &mut Vec<Relink>) {
        if let Some(declared) = self.components.info(id).attached::<Declared>().copied() {
            (declared.unlink)(self, entity, put_back);
        }
    }

    /// Verifies that both halves of all relations agree. Slow: for tests, and for what was loaded.
    pub(crate) fn check_relations(&self) -> Result<(), String> {
        if !self.relations.waiting.is_empty() && self.commands.queue.is_empty() {
            return Err("a list waits for its target, and will not be inserted".to_owned());
        }
        self.relations.edges.iter().try_for_each(|kind| (kind.check)(self))?;
        let declared = self.components.iter().filter_map(|info| info.attached::<Declared>());
        declared.copied().collect::<Vec<_>>().into_iter().try_for_each(|declared| (declared.check)(self))
    }
}

/// Verifies that each link is listed by its target, and that there is no cycle where none may be.
fn check_links<R: Relationship>(world: &World) -> Result<(), String> {
    let relation = std::any::type_name::<R>();
    let mut links: BTreeMap<Entity, Entity> = BTreeMap::new();
    for (source, link) in world.view_filtered::<(Entity, &R), Everyone>() {
        links.insert(source, link.get());
        if !world.contains(link.get()) {
            return Err(format!("{source} has `{relation}({})`, which is dead", link.get()));
        }
    }
    let mut listed: BTreeMap<Entity, Entity> = BTreeMap::new();
    for (target, list) in world.view_filtered::<(Entity, &R::RelationshipTarget), Everyone>() {
        for source in list.iter() {
            if listed.insert(source, target).is_some() {
                return Err(format!("{source} is listed twice for `{relation}`"));
            }
        }
    }
    if links != listed {
        let differs = links.iter().find(|&(source, target)| listed.get(source) != Some(target));
        return Err(format!("links and lists of `{relation}` differ, such as {differs:?}"));
    }
    if R::CYCLIC || R::ALLOW_SELF_REFERENTIAL {
        return Ok(());
    }
    let mut sound: HashSet<Entity> = HashSet::new();
    for &source in links.keys() {
        let (mut way, mut at) = (Vec::new(), source);
        while !sound.contains(&at) {
            way.push(at);
            if way.len() > links.len() + 1 {
                return Err(format!("`{relation}` has a cycle through {source}"));
            }
            match links.get(&at) {
                Some(&next) => at = next,
                None => break,
            }
        }
        sound.extend(way);
    }
    Ok(())
}

/// Verifies each list for itself.
fn check_lists<S: RelationshipTarget>(world: &World) -> Result<(), String> {
    for (target, list) in world.view_filtered::<(Entity, &S), Everyone>() {
        if list.is_empty() {
            return Err(format!("{target} has an empty `{}`", std::any::type_name::<S>()));
        }
        list.collection().check().map_err(|error| format!("the list of {target}: {error}"))?;
    }
    Ok(())
}
