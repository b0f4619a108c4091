//! Removals that wait for their readers.
//!
//! A component is written down here when it goes, from the first time that a system asks for it. An entry stays until
//! every reader has passed it: a system that runs every tenth frame misses none. A reader that never reads holds up to
//! a limit of entries; what it did not read of older ones is counted as missed. The world is a reader of what
//! [`World::removed`] asked for.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use phalanx_store::Entity;

use crate::component::AnyComponent;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;

/// How many removals of one component wait at most.
const LIMIT: usize = 1 << 16;

/// The removals of one world.
pub(crate) struct Removals {
    /// Indexed by component.
    pub(super) logs: Vec<Log>,
    /// The components of which removals are written down.
    pub(super) logged: Signature,
    limit: usize,
    /// The places of the world's own reader.
    own: Vec<(ComponentId, Arc<AtomicU64>)>,
}

impl Default for Removals {
    fn default() -> Self {
        Self { logs: Vec::new(), logged: Signature::empty(), limit: LIMIT, own: Vec::new() }
    }
}

/// The removals that wait for their readers; see [`World::removed_components`].
#[derive(Clone, Copy)]
pub struct RemovedComponentLogs<'w> {
    removals: &'w Removals,
}

impl<'w> RemovedComponentLogs<'w> {
    /// The entities that lost a component, oldest first, which at least one reader has not read yet; entries that all
    /// have read are dropped now and then. `None` for a component whose removals are not read.
    pub fn get(&self, id: ComponentId) -> Option<&'w [Entity]> {
        let removals = self.removals;
        removals.logged.has(id).then(|| removals.logs[id.index()].entities.as_slice())
    }

    /// All components whose removals have a reader, in ascending order of their ids, with the entities.
    pub fn iter(&self) -> impl Iterator<Item = (ComponentId, &'w [Entity])> {
        let logs = *self;
        let ids: Vec<ComponentId> = logs.removals.logged.iter().collect();
        ids.into_iter().filter_map(move |id| Some((id, logs.get(id)?)))
    }
}

impl fmt::Debug for RemovedComponentLogs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[derive(Default)]
pub(super) struct Log {
    /// Shared with checkpoints.
    pub(super) entities: Arc<Vec<Entity>>,
    /// How many removals came before the first of `entities`.
    pub(super) first: u64,
    /// How many removals each reader has passed.
    pub(super) readers: Vec<Arc<AtomicU64>>,
    /// At which length old entries are looked for.
    pub(super) tidy_at: usize,
}

impl Log {
    /// Forgets what all readers have passed, and what is too much.
    fn tidy(&mut self, limit: usize) {
        // A reader that is not held elsewhere has ended.
        self.readers.retain(|reader| Arc::strong_count(reader) > 1);
        let end = self.first + self.entities.len() as u64;
        let passed = self.readers.iter().map(|reader| reader.load(Ordering::Relaxed)).min().unwrap_or(end);
        let too_many = end.saturating_sub(limit as u64);
        let gone = passed.max(too_many).saturating_sub(self.first);
        let gone = usize::try_from(gone).expect("entries that are there").min(self.entities.len());
        if gone > 0 {
            Arc::make_mut(&mut self.entities).drain(..gone);
        }
        self.first += gone as u64;
        let most = limit.max(1).saturating_mul(2);
        self.tidy_at = (2 * self.entities.len()).clamp(most.min(64), most);
    }
}

impl Removals {
    /// The removals that a reader has not passed, with the number of the first, and how many it missed.
    pub(crate) fn unread(&self, id: ComponentId, passed: u64) -> (&[Entity], u64, u64) {
        let Some(log) = self.logs.get(id.index()) else { return (&[], passed, 0) };
        let missed = log.first.saturating_sub(passed);
        let from = passed.max(log.first);
        let skip = usize::try_from(from - log.first).expect("a position in the log");
        (log.entities.get(skip..).unwrap_or(&[]), from, missed)
    }
}

impl World {
    /// A place in the removals of a component, which are written down from now on.
    pub(crate) fn read_removals(&mut self, id: ComponentId) -> Arc<AtomicU64> {
        if !self.reactions.removals.logged.has(id) {
            self.reactions.removals.logged = self.reactions.removals.logged.with(id);
            self.reactions.plans.forget();
            self.listen(id);
        }
        let logs = &mut self.reactions.removals.logs;
        if logs.len() <= id.index() {
            logs.resize_with(id.index() + 1, Log::default);
        }
        let log = &mut logs[id.index()];
        let reader = Arc::new(AtomicU64::new(log.first + log.entities.len() as u64));
        log.readers.push(reader.clone());
        reader
    }

    /// The entities that lost a component, or were despawned with it, since the last [`World::clear_trackers`], in the
    /// order in which they did. Removals are written down from the first call on, which finds none.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(f32);
    ///
    /// let mut world = World::new();
    /// let e = world.spawn(Health(1.0)).id();
    /// assert_eq!(world.removed::<Health>().count(), 0); // from now on they are written down
    /// world.entity_mut(e).remove::<Health>();
    /// assert_eq!(world.removed::<Health>().collect::<Vec<_>>(), [e]);
    /// world.clear_trackers();
    /// assert_eq!(world.removed::<Health>().count(), 0);
    /// ```
    pub fn removed<C: AnyComponent>(&mut self) -> impl Iterator<Item = Entity> + '_ {
        let id = self.register_component::<C>();
        self.removed_with_id(id)
    }

    /// As [`World::removed`], by id. Nothing for an id that the world does not know.
    pub fn removed_with_id(&mut self, id: ComponentId) -> impl Iterator<Item = Entity> + '_ {
        let mut place = self.reactions.removals.own.iter().position(|(known, _)| *known == id);
        if place.is_none() && self.components.get_info(id).is_some() {
            let reader = self.read_removals(id);
            self.reactions.removals.own.push((id, reader));
            place = Some(self.reactions.removals.own.len() - 1);
        }
        let removals = &self.reactions.removals;
        let unread = place.map(|place| {
            let passed = removals.own[place].1.load(Ordering::Relaxed);
            removals.unread(id, passed).0
        });
        unread.unwrap_or_default().iter().copied()
    }

    /// The removals that are written down, of all components whose removals a system or [`World::removed`] reads.
    pub fn removed_components(&self) -> RemovedComponentLogs<'_> {
        RemovedComponentLogs { removals: &self.reactions.removals }
    }

    /// Passes what [`World::removed`] has yielded.
    pub(in crate::world) fn pass_removals(&mut self) {
        let Removals { own, logs, .. } = &self.reactions.removals;
        for (id, place) in own {
            let log = &logs[id.index()];
            place.store(log.first + log.entities.len() as u64, Ordering::Relaxed);
        }
    }

    /// Sets how many removals of one component wait for their readers at most; 65,536 unless set. Of older ones,
    /// readers that did not read them are told how many they missed.
    pub fn set_removal_limit(&mut self, limit: usize) {
        self.reactions.removals.limit = limit;
        self.reactions.removals.logs.iter_mut().for_each(|log| log.tidy(limit));
    }

    /// Writes down that components of an entity go.
    pub(super) fn log_removals(&mut self, entity: Entity, ids: &Signature) {
        let removals = &mut self.reactions.removals;
        if !removals.logged.overlaps(ids) {
            return;
        }
        for id in &removals.logged.intersection(ids) {
            let log = &mut removals.logs[id.index()];
            Arc::make_mut(&mut log.entities).push(entity);
            if log.entities.len() > log.tidy_at {
                log.tidy(removals.limit);
            }
        }
    }

    /// Stops writing removals down that are not read any more.
    pub(crate) fn forget_unread_removals(&mut self) {
        let logged = self.reactions.removals.logged.clone();
        for id in &logged {
            let log = &mut self.reactions.removals.logs[id.index()];
            log.tidy(self.reactions.removals.limit);
            if log.readers.is_empty() {
                self.reactions.removals.logged = self.reactions.removals.logged.without(id);
                self.reactions.plans.forget();
                self.stop_listening(id);
            }
        }
    }
}
