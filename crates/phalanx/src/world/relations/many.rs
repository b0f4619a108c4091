//! Relations of many to many, with a value on each edge.
//!
//! ```text
//!   alice   Links<Likes>      [Likes { whom: bob, amount: 2.0 }, Likes { whom: carol, amount: 1.0 }]
//!   bob     LinkedBy<Likes>   [alice, dave]
//! ```
//!
//! Both ends are sparse components, so linking makes no archetype. Beside each entry stands the place of its counterpart
//! at the other end: an edge is taken away in constant time, once it is found, and it is looked for at the end with
//! fewer edges. Entries have no order of their own: the last takes the place of one that goes (ADR 0058).

use std::ops::Deref;

use phalanx_derive::Component;
use phalanx_store::{Entity, FirstPanic};

use super::LinkError;
use crate::names::short_type;
use crate::relation::ManyRelationship;
use crate::world::batch::for_each_despite_panics;
use crate::world::{Commands, DeferredWorld, HookContext, World};

pub(crate) use describe::EdgeKind;
pub use describe::{describe_linked_by, describe_links};

mod describe;
#[cfg(feature = "serde")]
pub(crate) mod saving;

/// The edges of an entity: what it is related to. It dereferences to a slice of edge values.
///
/// The world keeps it, and it is there as long as there are edges: `With<Links<Likes>>` finds all that like anything.
#[derive(Component, Debug)]
#[component(on_discard = links_go::<R>)]
#[relationship(edges, links)]
pub struct Links<R: ManyRelationship> {
    edges: Vec<R>,
    /// Beside each edge its place in the list of its target.
    places: Vec<u32>,
}

/// The entities that are related to this one. It dereferences to a slice.
///
/// The world keeps it: `With<LinkedBy<Likes>>` finds all that are liked.
#[derive(Component, Debug)]
#[component(on_discard = linked_by_goes::<R>)]
#[relationship(edges)]
pub struct LinkedBy<R: ManyRelationship> {
    sources: Vec<Entity>,
    /// Beside each source the place of the edge in its list.
    places: Vec<u32>,
    relation: std::marker::PhantomData<fn() -> R>,
}

impl<R: ManyRelationship> Deref for Links<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        &self.edges
    }
}

impl<R: ManyRelationship> Deref for LinkedBy<R> {
    type Target = [Entity];

    fn deref(&self) -> &[Entity] {
        &self.sources
    }
}

// Not `Clone`: a clone of an entity would have edges that the other ends know nothing of.
impl<R: ManyRelationship> Links<R> {
    fn empty() -> Self {
        Self { edges: Vec::new(), places: Vec::new() }
    }

    fn copied(&self) -> Self {
        Self { edges: self.edges.clone(), places: self.places.clone() }
    }
}

impl<R: ManyRelationship> LinkedBy<R> {
    fn empty() -> Self {
        Self { sources: Vec::new(), places: Vec::new(), relation: std::marker::PhantomData }
    }

    /// The last entry: a source, and the place of its edge.
    fn last(&self) -> Option<(Entity, usize)> {
        Some((*self.sources.last()?, *self.places.last()? as usize))
    }

    fn copied(&self) -> Self {
        Self { sources: self.sources.clone(), places: self.places.clone(), ..Self::empty() }
    }
}

/// The place of an entry that is added to a list.
fn place(len: usize) -> u32 {
    u32::try_from(len).expect("there are fewer entities than places")
}

impl World {
    /// Relates an entity to the target of an edge. An edge that is there already gets the new value; of an exclusive
    /// relation, another one goes.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Clone, Debug, PartialEq)]
    /// #[relationship(many)]
    /// struct Likes {
    ///     #[target]
    ///     whom: Entity,
    ///     amount: f32,
    /// }
    ///
    /// let mut world = World::new();
    /// let [alice, bob, carol] = [(); 3].map(|()| world.spawn_empty().id());
    /// world.link(alice, Likes { whom: bob, amount: 2.0 }).unwrap();
    /// world.link(alice, Likes { whom: carol, amount: 1.0 }).unwrap();
    /// assert_eq!(world.related::<Likes>(alice).iter().map(|likes| likes.amount).sum::<f32>(), 3.0);
    /// assert_eq!(world.relating::<Likes>(bob), [alice]);
    ///
    /// world.despawn(bob);
    /// assert_eq!(world.related::<Likes>(alice), [Likes { whom: carol, amount: 1.0 }]);
    /// ```
    ///
    /// # Errors
    /// When one of the two entities is dead.
    pub fn link<R: ManyRelationship>(&mut self, source: Entity, edge: R) -> Result<(), LinkError> {
        self.register_edges::<R>();
        let target = edge.target();
        let back = (R::SYMMETRIC && source != target).then(|| {
            let mut back = edge.clone();
            back.set_target(source);
            back
        });
        self.link_one(source, edge)?;
        match back {
            Some(back) => self.link_one(target, back),
            None => Ok(()),
        }
    }

    /// Takes the edge between two entities away, and returns its value.
    pub fn unlink<R: ManyRelationship>(&mut self, source: Entity, target: Entity) -> Option<R> {
        if R::SYMMETRIC && source != target {
            self.unlink_one::<R>(target, source);
        }
        self.unlink_one(source, target)
    }

    /// The edges of an entity, each with its target.
    pub fn related<R: ManyRelationship>(&self, source: Entity) -> &[R] {
        self.get::<Links<R>>(source).map_or(&[], |links| &links.edges)
    }

    /// The entities that are related to one.
    pub fn relating<R: ManyRelationship>(&self, target: Entity) -> &[Entity] {
        self.get::<LinkedBy<R>>(target).map_or(&[], |list| &list.sources)
    }

    /// The entities that are related to one, each with the value of its edge.
    pub fn edges_to<R: ManyRelationship>(&self, target: Entity) -> impl Iterator<Item = (Entity, &R)> {
        let list = self.get::<LinkedBy<R>>(target);
        list.into_iter().flat_map(|list| list.sources.iter().zip(&list.places)).filter_map(
            |(&source, &at)| Some((source, self.get::<Links<R>>(source)?.edges.get(at as usize)?)),
        )
    }

    /// The edge between two entities. It is looked for at the end with fewer edges.
    pub fn edge_between<R: ManyRelationship>(&self, source: Entity, target: Entity) -> Option<&R> {
        let at = self.find_edge::<R>(source, target)?;
        self.get::<Links<R>>(source)?.edges.get(at)
    }

    /// Changes the value of an edge, at both ends of a symmetric relation. The target stays what it is. False when there
    /// is no such edge.
    pub fn modify_edge<R: ManyRelationship>(
        &mut self,
        source: Entity,
        target: Entity,
        change: impl FnOnce(&mut R),
    ) -> bool {
        let Some(mut edge) = self.edge_between::<R>(source, target).cloned() else { return false };
        change(&mut edge);
        edge.set_target(target);
        self.link(source, edge).is_ok()
    }

    /// Makes both ends known.
    fn register_edges<R: ManyRelationship>(&mut self) {
        if self.component_id::<Links<R>>().is_none() || self.component_id::<LinkedBy<R>>().is_none() {
            self.register_component::<Links<R>>();
            self.register_component::<LinkedBy<R>>();
        }
    }

    /// The place of an edge in the list of its source.
    fn find_edge<R: ManyRelationship>(&self, source: Entity, target: Entity) -> Option<usize> {
        let (links, list) = (self.get::<Links<R>>(source)?, self.get::<LinkedBy<R>>(target)?);
        if links.edges.len() <= list.sources.len() {
            links.edges.iter().position(|edge| edge.target() == target)
        } else {
            let at = list.sources.iter().position(|&known| known == source)?;
            Some(list.places[at] as usize)
        }
    }

    fn link_one<R: ManyRelationship>(&mut self, source: Entity, edge: R) -> Result<(), LinkError> {
        let target = edge.target();
        if let Some(at) = self.find_edge::<R>(source, target) {
            if let Some(links) = self.get_mut::<Links<R>>(source) {
                let old = std::mem::replace(&mut links.into_mut().edges[at], edge);
                drop(old);
            }
            return Ok(());
        }
        if R::EXCLUSIVE {
            while let Some(other) = self.related::<R>(source).first().map(R::target) {
                self.unlink::<R>(source, other);
            }
        }
        // Lists come first, while they are empty: a handler that hears of them may change the world.
        // A pool that does not declare a list refuses it; then it is not there.
        if self.contains(target) && self.get::<Links<R>>(source).is_none() {
            let _ = self.insert(source, Links::<R>::empty());
        }
        if self.contains(source) && self.get::<LinkedBy<R>>(target).is_none() {
            let _ = self.insert(target, LinkedBy::<R>::empty());
        }
        let places = (self.related::<R>(source).len(), self.relating::<R>(target).len());
        let ready = self.get::<Links<R>>(source).is_some() && self.get::<LinkedBy<R>>(target).is_some();
        if !ready {
            self.remove_empty::<R>(source, target);
            let relation = short_type::<R>();
            return Err(if self.contains(target) {
                LinkError::DeadSource { relation, source, target }
            } else {
                LinkError::DeadTarget { relation, source, target }
            });
        }
        if let Some(list) = self.get_mut::<LinkedBy<R>>(target) {
            let mut list = list.into_mut();
            list.sources.push(source);
            list.places.push(place(places.0));
        }
        if let Some(links) = self.get_mut::<Links<R>>(source) {
            let mut links = links.into_mut();
            links.edges.push(edge);
            links.places.push(place(places.1));
        }
        Ok(())
    }

    fn unlink_one<R: ManyRelationship>(&mut self, source: Entity, target: Entity) -> Option<R> {
        let at = self.find_edge::<R>(source, target)?;
        let edge = self.take_edge::<R>(source, at)?;
        self.remove_empty::<R>(source, target);
        Some(edge)
    }

    /// Takes an edge out of both lists, and mends the places of those that take its place.
    fn take_edge<R: ManyRelationship>(&mut self, source: Entity, at: usize) -> Option<R> {
        let mut links = self.get_mut::<Links<R>>(source)?.into_mut();
        let (edge, back) = (links.edges.swap_remove(at), links.places.swap_remove(at));
        let moved = links.edges.get(at).map(|moved| (moved.target(), links.places[at]));
        if let Some((target, back)) = moved
            && let Some(list) = self.get_mut::<LinkedBy<R>>(target)
        {
            list.into_mut().places[back as usize] = place(at);
        }
        self.take_source::<R>(edge.target(), back as usize);
        Some(edge)
    }

    /// Takes an entry out of the list of a target, and mends the edge of the one that takes its place.
    fn take_source<R: ManyRelationship>(&mut self, target: Entity, at: usize) {
        let Some(list) = self.get_mut::<LinkedBy<R>>(target) else { return };
        let mut list = list.into_mut();
        list.sources.swap_remove(at);
        list.places.swap_remove(at);
        let moved = list.sources.get(at).map(|&moved| (moved, list.places[at]));
        if let Some((source, edge)) = moved
            && let Some(links) = self.get_mut::<Links<R>>(source)
        {
            links.into_mut().places[edge as usize] = place(at);
        }
    }

    /// Removes lists in which nothing is left.
    fn remove_empty<R: ManyRelationship>(&mut self, source: Entity, target: Entity) {
        // Handlers of one may queue what panics.
        let mut panics = FirstPanic::default();
        if self.get::<Links<R>>(source).is_some_and(|links| links.is_empty()) {
            panics.guard(|| drop(self.remove::<Links<R>>(source)));
        }
        if self.get::<LinkedBy<R>>(target).is_some_and(|list| list.is_empty()) {
            panics.guard(|| drop(self.remove::<LinkedBy<R>>(target)));
        }
        panics.resume();
    }
}

impl Commands<'_, '_> {
    /// Relates an entity to the target of an edge at the next sync point; see [`World::link`].
    pub fn link<R: ManyRelationship>(&mut self, source: Entity, edge: R) {
        self.queue(move |world: &mut World| world.link(source, edge));
    }

    /// Takes the edge between two entities away at the next sync point; see [`World::unlink`].
    pub fn unlink<R: ManyRelationship>(&mut self, source: Entity, target: Entity) {
        self.queue(move |world: &mut World| {
            world.unlink::<R>(source, target);
        });
    }
}

/// The edges of an entity go, most often because it dies: the other ends forget them.
fn links_go<R: ManyRelationship>(mut world: DeferredWorld<'_>, context: HookContext) {
    let source = context.entity;
    let mut gone = Vec::new();
    while let Some(last) = world.related::<R>(source).len().checked_sub(1) {
        let edge = world.world_mut().take_edge::<R>(source, last);
        gone.extend(edge.map(|edge| (source, edge)));
    }
    end_edges(world, gone);
}

/// The list of those that are related to an entity goes: their edges go.
fn linked_by_goes<R: ManyRelationship>(mut world: DeferredWorld<'_>, context: HookContext) {
    let mut gone = Vec::new();
    while let Some((source, at)) = world.get::<LinkedBy<R>>(context.entity).and_then(LinkedBy::last) {
        let edge = world.world_mut().take_edge::<R>(source, at);
        gone.extend(edge.map(|edge| (source, edge)));
    }
    end_edges(world, gone);
}

/// After edges were taken because one end goes: the other halves of symmetric ones follow, and lists in which nothing is
/// left when the change is complete.
fn end_edges<R: ManyRelationship>(mut world: DeferredWorld<'_>, mut gone: Vec<(Entity, R)>) {
    if R::SYMMETRIC {
        for number in 0..gone.len() {
            let (source, target) = (gone[number].0, gone[number].1.target());
            if let Some(at) = world.find_edge::<R>(target, source) {
                let edge = world.world_mut().take_edge::<R>(target, at);
                gone.extend(edge.map(|edge| (target, edge)));
            }
        }
    }
    let ends: Vec<(Entity, Entity)> = gone.iter().map(|(source, edge)| (*source, edge.target())).collect();
    if !ends.is_empty() {
        world.commands().queue(move |world: &mut World| {
            for_each_despite_panics(ends.into_iter(), |(source, target)| {
                world.remove_empty::<R>(source, target);
            });
        });
    }
    // Values of edges are the user's: they go last.
    drop(gone);
}
