//! Reactive sets: entities to which something happened since their reader last looked.
//!
//! A set belongs to one reader, which shares it with the world. Each entity is in it once, in the order in which it came
//! to be there; the dead are passed over, and forgotten before the set has grown to twice its living. The set is
//! written where structure changes and at sync points, never while systems run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hashbrown::HashSet;
use phalanx_store::Entity;

use super::matches::Border;
use super::observers::Observers;
use super::polls::FindMutated;
use super::{Lifecycle, ObserverId};
use crate::bundle::Bundle;
use crate::component::RowTracked;
use crate::query::{Condition, QueryData, QueryFilter};
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::steps;
use crate::world::World;

/// How many entities a set has at least before those that died are looked for.
const FEW: usize = 64;

/// Entities that were collected.
#[derive(Default)]
pub(crate) struct Collected {
    /// In the order in which they came.
    pub(crate) entities: Vec<Entity>,
    members: HashSet<Entity>,
    /// At which length those that died are looked for.
    prune_at: usize,
}

impl Collected {
    fn add(&mut self, entity: Entity, is_alive: impl Fn(Entity) -> bool) {
        if self.members.insert(entity) {
            self.entities.push(entity);
            if self.entities.len() > self.prune_at.max(FEW) {
                self.prune(is_alive);
            }
        }
    }

    /// Forgets the dead, so that a set that is not read grows with the living. Twice as many as are left come
    /// before the next time.
    #[cold]
    fn prune(&mut self, is_alive: impl Fn(Entity) -> bool) {
        let Self { entities, members, prune_at } = self;
        entities.retain(|&entity| {
            steps::count();
            let stays = is_alive(entity);
            if !stays {
                members.remove(&entity);
            }
            stays
        });
        *prune_at = 2 * entities.len();
    }

    /// Takes all.
    pub(crate) fn take(&mut self) -> Vec<Entity> {
        self.members.clear();
        self.prune_at = 0;
        std::mem::take(&mut self.entities)
    }

    /// Makes the set what it was.
    pub(super) fn restore(&mut self, entities: &[Entity]) {
        self.entities.clear();
        self.entities.extend_from_slice(entities);
        self.members = entities.iter().copied().collect();
    }
}

/// A set, as its reader and the world hold it.
pub(crate) type SharedSet = Arc<Mutex<Collected>>;

/// The content of a set; nothing panics while holding it.
pub(crate) fn open(set: &Mutex<Collected>) -> MutexGuard<'_, Collected> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A listener to written values, or to entities that begin or cease to match.
#[derive(Clone)]
pub(crate) enum Listener {
    Observer(ObserverId),
    /// A set that its reader may have left.
    Set(Weak<Mutex<Collected>>),
}

impl Listener {
    /// Its place in the order; that of a set does not matter, because a set only collects for its reader.
    pub(super) fn rank(&self, observers: &Observers) -> u64 {
        match self {
            Self::Observer(id) => observers.rank(id.slot),
            Self::Set(_) => 0,
        }
    }

    /// Whether it listens to all entities, and not to single ones.
    pub(super) fn hears_of_all(&self, observers: &Observers) -> bool {
        match self {
            Self::Observer(id) => observers.hears_of_all(id.slot),
            Self::Set(_) => true,
        }
    }

    fn is_left(&self) -> bool {
        matches!(self, Self::Set(set) if set.strong_count() == 0)
    }
}

impl PartialEq for Listener {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Observer(one), Self::Observer(other)) => one == other,
            (Self::Set(one), Self::Set(other)) => one.ptr_eq(other),
            _ => false,
        }
    }
}

/// A set, and what entities get into it by.
pub(crate) struct Collector {
    pub(super) set: SharedSet,
    /// Indexed by event: the components.
    events: [Signature; Lifecycle::COUNT],
}

impl Collector {
    /// Whether an event of some components brings entities into the set.
    pub(super) fn collects(&self, event: Lifecycle, ids: &Signature) -> bool {
        self.events[event as usize].overlaps(ids)
    }
}

/// What a set collects, as its type lists it.
#[derive(Default)]
pub struct Collecting {
    events: Vec<(Lifecycle, ComponentId)>,
    written: Vec<FindMutated>,
    matches: Vec<(Border, Condition)>,
}

/// What a reactive set collects: `Add<T>`, `Insert<T>`, `Discard<T>`, `Remove<T>`, `Despawn<T>`, `Mutate<T>`,
/// `Matched<..>`, `Unmatched<..>`, and tuples of them.
///
/// Entities get into the set when it happens; those whose values were written, at the next sync point, as observers
/// of `Mutate` are called.
#[diagnostic::on_unimplemented(
    message = "a reactive set cannot collect `{Self}`",
    label = "expected `Add<T>`, `Insert<T>`, `Discard<T>`, `Remove<T>`, `Despawn<T>`, `Mutate<T>`, `Matched<..>`, `Unmatched<..>`, or a tuple of them"
)]
pub trait Collects: 'static {
    /// Lists the events with their components.
    #[doc(hidden)]
    fn list(world: &mut World, into: &mut Collecting);
}

macro_rules! collects {
    ($($pattern:ident)*) => {
        $(
            impl<B: Bundle> Collects for super::$pattern<B> {
                fn list(world: &mut World, into: &mut Collecting) {
                    let ids = world.components_of::<B>();
                    into.events.extend(ids.iter().map(|id| (Lifecycle::$pattern, id)));
                }
            }
        )*
    };
}
collects!(Add Insert Discard Remove Despawn);

impl<T: RowTracked> Collects for super::Mutate<T> {
    fn list(_: &mut World, into: &mut Collecting) {
        into.written.push(FindMutated::of::<T>());
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> Collects for super::Matched<D, F> {
    fn list(_: &mut World, into: &mut Collecting) {
        into.matches.push((Border::Begins, Condition::all([D::condition(), F::condition()])));
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> Collects for super::Unmatched<D, F> {
    fn list(_: &mut World, into: &mut Collecting) {
        into.matches.push((Border::Ceases, Condition::all([D::condition(), F::condition()])));
    }
}

macro_rules! collects_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables)]
        impl<$($name: Collects),*> Collects for ($($name,)*) {
            fn list(world: &mut World, into: &mut Collecting) {
                $($name::list(world, into);)*
            }
        }
    };
}
phalanx_store::for_each_tuple!(collects_tuple);

impl World {
    /// A new set, which collects from now on.
    ///
    /// # Panics
    /// When it collects matches of a query that cannot be observed.
    #[track_caller]
    pub(crate) fn collect_reactive<C: Collects>(&mut self) -> SharedSet {
        let mut listed = Collecting::default();
        C::list(self, &mut listed);
        let set = SharedSet::default();
        let listener = Listener::Set(Arc::downgrade(&set));
        for (border, condition) in listed.matches {
            self.add_matcher(listener.clone(), border, condition);
        }
        for find in listed.written {
            self.add_poll(listener.clone(), find);
        }
        let mut events: [Signature; Lifecycle::COUNT] = Default::default();
        for (event, id) in listed.events {
            let ids = &mut events[event as usize];
            if !ids.has(id) {
                *ids = ids.with(id);
                self.listen(id);
            }
        }
        self.reactions.plans.forget();
        self.reactions.collectors.push(Collector { set: set.clone(), events });
        set
    }

    /// Puts an entity into the sets that collect this event.
    pub(super) fn collect(&mut self, event: Lifecycle, entity: Entity, ids: &Signature) {
        for collector in &self.reactions.collectors {
            if collector.collects(event, ids) {
                open(&collector.set).add(entity, |entity| self.contains(entity));
            }
        }
    }

    /// Puts entities into a set, unless its reader is gone.
    pub(super) fn put_into_set(&self, set: &Weak<Mutex<Collected>>, entities: &[Entity]) {
        if let Some(set) = set.upgrade() {
            let mut set = open(&set);
            entities.iter().for_each(|&entity| set.add(entity, |entity| self.contains(entity)));
        }
    }

    /// Forgets sets whose reader is gone.
    pub(crate) fn forget_collectors(&mut self) {
        for at in (0..self.reactions.collectors.len()).rev() {
            if Arc::strong_count(&self.reactions.collectors[at].set) == 1 {
                let collector = self.reactions.collectors.remove(at);
                self.reactions.plans.forget();
                for ids in &collector.events {
                    ids.iter().for_each(|id| self.stop_listening(id));
                }
            }
        }
        self.remove_matchers(Listener::is_left);
        self.remove_polls(Listener::is_left);
    }
}
