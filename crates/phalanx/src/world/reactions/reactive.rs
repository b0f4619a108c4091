//! Reactive sets: entities to which something happened since their reader last looked.
//!
//! A set belongs to one reader, which shares it with the world. Each entity is in it once, in the order in which it came
//! to be there; whoever is dead is passed over. The set is written where structure changes, never while systems run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashSet;
use phalanx_store::Entity;

use super::Lifecycle;
use crate::bundle::Bundle;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;

/// Entities that were collected.
#[derive(Default)]
pub(crate) struct Collected {
    /// In the order in which they came.
    pub(crate) entities: Vec<Entity>,
    members: HashSet<Entity>,
}

impl Collected {
    fn add(&mut self, entity: Entity) {
        if self.members.insert(entity) {
            self.entities.push(entity);
        }
    }

    /// Takes all.
    pub(crate) fn take(&mut self) -> Vec<Entity> {
        self.members.clear();
        std::mem::take(&mut self.entities)
    }
}

/// A set, as its reader and the world hold it.
pub(crate) type SharedSet = Arc<Mutex<Collected>>;

/// The content of a set; nobody panics while holding it.
pub(crate) fn open(set: &Mutex<Collected>) -> MutexGuard<'_, Collected> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A set, and what entities get into it by.
pub(crate) struct Collector {
    set: SharedSet,
    /// Indexed by event: the components.
    events: [Signature; Lifecycle::COUNT],
}

/// What a reactive set collects: `Add<T>`, `Insert<T>`, `Discard<T>`, `Remove<T>`, `Despawn<T>`, and tuples of them.
#[diagnostic::on_unimplemented(
    message = "a reactive set cannot collect `{Self}`",
    label = "expected `Add<T>`, `Insert<T>`, `Discard<T>`, `Remove<T>`, `Despawn<T>`, or a tuple of them"
)]
pub trait Collects: 'static {
    /// Lists the events with their components.
    #[doc(hidden)]
    fn list(world: &mut World, into: &mut Vec<(Lifecycle, ComponentId)>);
}

macro_rules! collects {
    ($($pattern:ident)*) => {
        $(
            impl<B: Bundle> Collects for super::$pattern<B> {
                fn list(world: &mut World, into: &mut Vec<(Lifecycle, ComponentId)>) {
                    let ids = world.components_of::<B>();
                    into.extend(ids.iter().map(|id| (Lifecycle::$pattern, id)));
                }
            }
        )*
    };
}
collects!(Add Insert Discard Remove Despawn);

macro_rules! collects_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables)]
        impl<$($name: Collects),*> Collects for ($($name,)*) {
            fn list(world: &mut World, into: &mut Vec<(Lifecycle, ComponentId)>) {
                $($name::list(world, into);)*
            }
        }
    };
}
phalanx_store::for_each_tuple!(collects_tuple);

impl World {
    /// A new set, which collects from now on.
    pub(crate) fn collect_reactive<C: Collects>(&mut self) -> SharedSet {
        let mut listed = Vec::new();
        C::list(self, &mut listed);
        let set = SharedSet::default();
        let mut events: [Signature; Lifecycle::COUNT] = Default::default();
        for (event, id) in listed {
            let ids = &mut events[event as usize];
            if !ids.has(id) {
                *ids = ids.with(id);
                self.listen(id);
            }
        }
        self.reactions.collectors.push(Collector { set: set.clone(), events });
        set
    }

    /// Puts an entity into the sets that collect this event.
    pub(super) fn collect(&mut self, event: Lifecycle, entity: Entity, ids: &Signature) {
        for collector in &self.reactions.collectors {
            if collector.events[event as usize].overlaps(ids) {
                open(&collector.set).add(entity);
            }
        }
    }

    /// Forgets sets whose reader is gone.
    pub(crate) fn forget_collectors(&mut self) {
        for at in (0..self.reactions.collectors.len()).rev() {
            if Arc::strong_count(&self.reactions.collectors[at].set) == 1 {
                let collector = self.reactions.collectors.remove(at);
                for ids in &collector.events {
                    ids.iter().for_each(|id| self.stop_listening(id));
                }
            }
        }
    }
}
