//! Which components disable entities, and the upkeep of those that a whole tree is disabled by.
//!
//! Queries do the rest: their conditions ask that the components are lacking which they do not mention. A component that
//! begins to disable lets all kept queries match afresh (ADR 0057).

use phalanx_store::{Entity, FirstPanic};

use super::{DeferredWorld, EntityRef, EntityWorldMut, HookContext, World};
use crate::component::{AnyComponent, DisabledByTree, DisabledTree, disabling_name};
use crate::query::{Condition, short_name};
use crate::registry::ComponentId;
use crate::relation::{ChildOf, Children};
use crate::storage::TableStorage;

impl World {
    /// Lets a component hide its entities, from now on, from all queries that do not mention it; see
    /// [`Disabled`](crate::component::Disabled).
    /// Queries that are kept already are reached as well.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Prefab;
    ///
    /// let mut world = World::new();
    /// world.spawn(Prefab);
    /// assert_eq!(world.view::<Entity>().count(), 1);
    /// world.register_disabling_component::<Prefab>();
    /// assert_eq!(world.view::<Entity>().count(), 0);
    /// assert_eq!(world.view::<&Prefab>().count(), 1);
    /// ```
    ///
    /// # Panics
    /// When another component has the name.
    #[track_caller]
    pub fn register_disabling_component<C: AnyComponent<Storage = TableStorage>>(&mut self) {
        let id = self.register_component::<C>();
        if self.components.add_disabling(id, short_name::<C>()) {
            self.disabling_changed();
            self.update_queries();
        }
    }

    /// Whether a component disables the entity, whichever.
    pub fn is_disabled(&self, entity: Entity) -> bool {
        let Some(archetype) = self.archetype_of(entity) else { return false };
        let signature = self.archetypes.signature(archetype);
        let ids = self.components.disabling().iter().filter_map(|(key, _)| self.components.by_key(*key));
        ids.into_iter().any(|id| signature.has(id))
    }

    /// Takes notice of a new component that disables entities in every world.
    pub(super) fn declare_disabling(&mut self, id: ComponentId) {
        let type_id = self.components.info(id).type_id();
        let Some(name) = type_id.and_then(disabling_name) else { return };
        if self.components.add_disabling(id, name) {
            self.disabling_changed();
        }
        let upkeep: Option<fn(DeferredWorld<'_>, HookContext)> = match id {
            _ if self.component_id::<DisabledTree>() == Some(id) => Some(tree_changes),
            _ if self.component_id::<DisabledByTree>() == Some(id) => Some(inherited_changes),
            _ => None,
        };
        if let Some(upkeep) = upkeep {
            let mut hooks = self.register_component_hooks_by_id(id).expect("the component is registered");
            hooks.on_insert(upkeep).on_discard(upkeep);
            drop(hooks);
            self.declare_upkeep(id);
        }
    }

    fn disabling_changed(&mut self) {
        self.disabling_conditions =
            self.components.disabling().iter().map(|&(key, name)| Condition::Without(key, name)).collect();
        self.archetypes.match_afresh();
        self.renew_matchers();
    }

    /// Whether entities may be disabled by one above them.
    #[inline]
    pub(super) fn has_disabled_trees(&self) -> bool {
        !self.components.disabling().is_empty() && self.component_id::<DisabledTree>().is_some()
    }

    /// Brings entities, and all below them, in line with what is above them.
    pub(super) fn renew_disabled(&mut self, mut entities: Vec<Entity>) {
        let mut panics = FirstPanic::default();
        while let Some(entity) = entities.pop() {
            let disables = |above: Entity| {
                self.get::<DisabledTree>(above).is_some() || self.get::<DisabledByTree>(above).is_some()
            };
            let inherits = self.get::<ChildOf>(entity).is_some_and(|link| disables(link.parent()));
            if !self.contains(entity) || inherits == self.get::<DisabledByTree>(entity).is_some() {
                continue;
            }
            // A pool that does not declare the component refuses it: its entities cannot be disabled. Handlers called
            // for one entity may queue what panics; those below it follow all the same.
            panics.guard(|| {
                let _ = match inherits {
                    true => self.insert(entity, DisabledByTree),
                    false => self.remove::<DisabledByTree>(entity),
                };
            });
            let changed = inherits == self.get::<DisabledByTree>(entity).is_some();
            if changed && let Some(children) = self.get::<Children>(entity) {
                entities.extend(children.iter().copied());
            }
        }
        panics.resume();
    }
}

impl EntityRef<'_> {
    /// Whether a component disables the entity, so that queries which do not mention it pass it over.
    pub fn is_disabled(&self) -> bool {
        self.world().is_disabled(self.id())
    }
}

impl EntityWorldMut<'_> {
    /// Whether a component disables the entity, so that queries which do not mention it pass it over.
    pub fn is_disabled(&self) -> bool {
        self.world().is_disabled(self.id())
    }
}

/// An entity gets or loses its `DisabledTree`: those below it follow when the change is complete.
fn tree_changes(mut world: DeferredWorld<'_>, context: HookContext) {
    let entity = context.entity;
    world.commands().queue(move |world: &mut World| {
        let children = world.get::<Children>(entity).map(|children| children.to_vec());
        world.renew_disabled(children.unwrap_or_default());
    });
}

/// An entity gets or loses its `DisabledByTree`: if that was not the world, it is undone.
fn inherited_changes(mut world: DeferredWorld<'_>, context: HookContext) {
    world.renew_disabled_child(context.entity);
}

impl DeferredWorld<'_> {
    /// After a link of `ChildOf` came or went: the child may be below a disabled tree now, or no more.
    pub(super) fn renew_disabled_child(&mut self, child: Entity) {
        if self.has_disabled_trees() {
            self.commands().queue(move |world: &mut World| world.renew_disabled(vec![child]));
        }
    }
}
