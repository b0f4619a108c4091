//! What a world's own systems keep, for checkpoints: its observers, and those that are registered.
//!
//! Unlike the systems of schedules they come and go while a program runs. The world brings its observers back by itself;
//! registered systems are brought back here. One that went is kept as long as a checkpoint knows it.

use std::any::TypeId;
use std::sync::Arc;

use hashbrown::HashMap;
use phalanx_store::FirstPanic;
use phalanx_store::sorting;

use super::kept::{self, Exchanging, Kept, LocalCopies, StateVisitor, Taking};
use super::registered::{Place, Registered};
use crate::world::World;

/// What the systems that a world has for itself keep.
pub(crate) struct WorldKept {
    observers: Vec<Kept>,
    registered: Vec<RegisteredKept>,
    cached: HashMap<TypeId, u64>,
}

struct RegisteredKept {
    number: u64,
    token: Arc<()>,
    /// Whether it had been made ready.
    ready: bool,
    parts: Vec<Kept>,
}

/// Copies of what was kept, to be put back.
pub(crate) struct WorldAgain {
    observers: Vec<Kept>,
    registered: Vec<Vec<Kept>>,
}

/// Shows what observers and registered systems keep.
pub(crate) fn visit(world: &mut World, visitor: &mut dyn StateVisitor) {
    world.visit_observers(visitor);
    let Some(mut registered) = world.get_resource_mut::<Registered>() else { return };
    let systems = registered.bypass_change_detection().kept().values_mut();
    systems.filter_map(|place| place.system.as_mut()).for_each(|system| system.visit_state(visitor));
}

impl WorldAgain {
    /// All parts, to be dropped.
    pub(crate) fn into_parts(self) -> impl Iterator<Item = Kept> {
        self.observers.into_iter().chain(self.registered.into_iter().flatten())
    }
}

impl WorldKept {
    /// Copies what observers and registered systems keep; `unknown` gets the types that cannot be copied.
    pub(crate) fn take(world: &mut World, copies: &LocalCopies, unknown: &mut Vec<&'static str>) -> Self {
        let mut taking = Taking { copies, kept: Vec::new(), unknown: Vec::new() };
        world.visit_observers(&mut taking);
        unknown.append(&mut taking.unknown);
        let mut all = Self { observers: taking.kept, registered: Vec::new(), cached: HashMap::new() };
        // Registered systems are no part of digests, so looking at them is no change.
        let Some(mut registered) = world.get_resource_mut::<Registered>() else { return all };
        let registered = registered.bypass_change_detection();
        let unused = registered.take_unused();
        all.cached.clone_from(&registered.cached);
        let mut numbers: Vec<u64> = registered.kept().keys().copied().collect();
        sorting::sort(&mut numbers);
        for number in numbers {
            let Some(Place { system: Some(system), token, .. }) = registered.kept().get_mut(&number) else {
                continue;
            };
            let mut taking = Taking { copies, kept: Vec::new(), unknown: Vec::new() };
            system.visit_state(&mut taking);
            unknown.append(&mut taking.unknown);
            let (token, ready) = (Arc::clone(token), system.is_ready());
            all.registered.push(RegisteredKept { number, token, ready, parts: taking.kept });
        }
        let gone = registered.retired().extract_if(.., |(_, place)| Arc::strong_count(&place.token) == 1);
        // What systems hold is dropped last: it may be anything.
        drop((unused, gone.collect::<Vec<_>>()));
        all
    }

    /// Copies once more, for a restore.
    pub(crate) fn again(&self, copies: &LocalCopies) -> Option<WorldAgain> {
        let registered = self.registered.iter().map(|one| kept::again(&one.parts, copies));
        Some(WorldAgain {
            observers: kept::again(&self.observers, copies)?,
            registered: registered.collect::<Option<_>>()?,
        })
    }

    /// Makes the systems what they were. The world has the observers of that time already.
    pub(crate) fn restore(
        &self,
        world: &mut World,
        again: &mut WorldAgain,
        copies: &LocalCopies,
        panics: &mut FirstPanic,
    ) {
        world.visit_observers(&mut Exchanging { copies, kept: again.observers.iter_mut() });
        let Some(mut registered) = world.get_resource_mut::<Registered>() else { return };
        let registered = registered.bypass_change_detection();
        let mut gone = registered.take_unused();
        let is_known = |number: &u64, place: &Place| {
            let at = self.registered.binary_search_by_key(number, |one| one.number);
            at.is_ok_and(|at| Arc::ptr_eq(&self.registered[at].token, &place.token))
        };
        let kept = registered.kept();
        let others: Vec<u64> = kept
            .iter()
            .filter(|(number, place)| !is_known(number, place))
            .map(|(number, _)| *number)
            .collect();
        gone.extend(others.into_iter().filter_map(|number| registered.take(number)));
        registered.cached.clone_from(&self.cached);
        for (one, parts) in self.registered.iter().zip(&mut again.registered) {
            let is_it = |(_, place): &(u64, Place)| Arc::ptr_eq(&place.token, &one.token);
            if let Some(at) = registered.retired().iter().position(is_it) {
                let (number, place) = registered.retired().swap_remove(at);
                registered.kept().insert(number, place);
            }
            let place = registered.kept().get_mut(&one.number);
            let Some(system) = place.and_then(|place| place.system.as_mut()) else { continue };
            if !one.ready && system.is_ready() {
                panics.guard(|| system.forget_state());
            }
            system.visit_state(&mut Exchanging { copies, kept: parts.iter_mut() });
        }
        gone.into_iter().for_each(|place| panics.guard(|| drop(place)));
    }
}
