//! Despawning along linked relations: which entities die with another, and in which order.
//!
//! ```text
//!   army ── squad ── minion, minion        collected first, as listed now: army, squad, minion 1, minion 2
//!                                          despawned from behind: minion 2, minion 1, squad, army
//! ```
//!
//! So those that point go before their target, and no entity ever points at a dead one. Everything that was collected goes,
//! whatever handlers change meanwhile and whatever panics; the first panic is passed on at the end. What handlers link to
//! an entity of the tree that is alive still goes with that entity; a link to one that has gone is refused as any other
//! link to the dead. Where the upkeep of the relation alone listens, a tree goes as one batch.

use hashbrown::HashSet;
use phalanx_store::{Entity, FirstPanic};

use crate::relation::{Relationship, RelationshipSourceCollection, RelationshipTarget};
use crate::world::{QuietLink, Turn, World};

/// A relation whose sources die with their target.
#[derive(Clone, Copy)]
pub(super) struct Linked {
    /// Adds the sources of an entity to a list.
    sources: fn(&World, Entity, &mut Vec<Entity>),
    /// Whether an entity points at another one.
    points: fn(&World, Entity) -> bool,
    /// Empties the list of a target whose sources are gone.
    forget_sources: fn(&mut World, Entity),
    cyclic: bool,
}

impl Linked {
    pub(super) fn of<S: RelationshipTarget>() -> Self {
        Self {
            sources: |world, target, out| {
                if let Some(list) = world.sources_of::<S>(target) {
                    out.extend(list.iter());
                }
            },
            points: |world, entity| world.target_of::<S::Relationship>(entity).is_some(),
            forget_sources: |world, target| {
                if let Some(list) = world.get_mut::<S>(target) {
                    list.into_mut().collection_mut_risky().clear();
                    let _ = world.remove::<S>(target);
                }
                if let Some(id) = world.component_id::<S::Relationship>() {
                    world.relations.link_changes(id);
                }
            },
            cyclic: is_cyclic::<S::Relationship>(),
        }
    }
}

/// Whether a way along a relation may come back to where it began.
pub(super) fn is_cyclic<R: Relationship>() -> bool {
    R::CYCLIC || R::ALLOW_SELF_REFERENTIAL
}

impl World {
    /// Whether despawning an entity may take others along.
    #[inline]
    pub(crate) fn has_linked_relations(&self) -> bool {
        !self.relations.linked.is_empty()
    }

    /// Despawns an entity and all that are linked to it, over any number of links. False when it was dead.
    pub(crate) fn despawn_linked(&mut self, entity: Entity) -> bool {
        let tree = self.collect_linked(entity);
        let [_, others @ ..] = &tree[..] else { return self.despawn_alone(entity) };
        let (mut panics, mut was_alive) = (FirstPanic::default(), false);
        if self.ends_unheard(others) {
            panics.guard(|| {
                self.store.despawn_batch(others.iter().rev().copied());
            });
            for linked in self.relations.linked.clone() {
                panics.guard(|| (linked.forget_sources)(self, entity));
            }
            panics.guard(|| was_alive = self.despawn_alone(entity));
        } else {
            for next in tree.iter().rev() {
                panics.guard(|| was_alive = self.despawn_announced(next));
            }
        }
        panics.resume();
        was_alive
    }

    /// Despawns an entity that takes no other along: without an announcement where only a list has to follow.
    fn despawn_alone(&mut self, entity: Entity) -> bool {
        let Some(link) = self.only_quiet_link(entity) else { return self.despawn_announced(entity) };
        let (mut panics, mut was_alive) = (FirstPanic::default(), false);
        let before = link.target(self, entity);
        panics.guard(|| was_alive = self.store.despawn(entity));
        panics.guard(|| link.follow(self, entity, Turn { before, now: None }));
        panics.resume();
        was_alive
    }

    /// The link of an entity, if it has one, and the lists of that relation alone have to hear of the entity's end.
    fn only_quiet_link(&self, entity: Entity) -> Option<QuietLink> {
        let mut links = self.relations.quiet.iter().filter(|link| link.target(self, entity).is_some());
        let (Some(&link), None) = (links.next(), links.next()) else { return None };
        (!self.is_end_heard_besides(entity, self.set_of(link.id)?)).then_some(link)
    }

    /// An entity and all that die with it, each before those that point at it, in the order of their lists.
    fn collect_linked(&self, entity: Entity) -> Vec<Entity> {
        let linked = &self.relations.linked;
        // Two relations can form a cycle that neither has.
        let may_meet = linked.len() > 1 || linked.iter().any(|linked| linked.cyclic);
        let mut seen: HashSet<Entity> = HashSet::new();
        let (mut tree, mut waiting) = (Vec::new(), vec![entity]);
        while let Some(next) = waiting.pop() {
            if may_meet && !seen.insert(next) {
                continue;
            }
            tree.push(next);
            let before = waiting.len();
            self.linked_sources(next, &mut waiting);
            waiting[before..].reverse();
        }
        tree
    }

    /// Whether the upkeep of linked relations alone has to hear of the end of entities, each of which points at
    /// another one of them, or at one that dies with them.
    fn ends_unheard(&self, entities: &[Entity]) -> bool {
        let linked = &self.relations.linked;
        // An entity with two links may have one that leads out of the tree.
        let has_one_link = |entity| {
            linked.len() == 1 || linked.iter().filter(|linked| (linked.points)(self, entity)).count() == 1
        };
        !linked.iter().any(|linked| linked.cyclic)
            && entities.iter().all(|&entity| !self.is_end_heard_by_others(entity) && has_one_link(entity))
    }

    /// Adds the entities that die with another one, directly.
    pub(crate) fn linked_sources(&self, entity: Entity, out: &mut Vec<Entity>) {
        for linked in &self.relations.linked {
            crate::steps::count();
            (linked.sources)(self, entity, out);
        }
    }

    /// All entities that die with another one, nearest first.
    pub(crate) fn all_linked(&self, entity: Entity) -> Vec<Entity> {
        let mut seen: HashSet<Entity> = HashSet::from([entity]);
        let (mut found, mut sources, mut current, mut at) = (Vec::new(), Vec::new(), entity, 0);
        loop {
            self.linked_sources(current, &mut sources);
            found.extend(sources.drain(..).filter(|&source| seen.insert(source)));
            match found.get(at) {
                Some(&next) => current = next,
                None => return found,
            }
            at += 1;
        }
    }
}
