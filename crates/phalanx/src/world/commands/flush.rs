//! Applying recorded commands.
//!
//! Functions divide the commands into runs. Within a run, the changes of each entity are merged into one move,
//! entities in the order in which they were first named; then those that end are despawned, in the order of
//! the commands that end them. That leaves the components, and the ids that come next, which applying the
//! commands one by one would leave; the order of rows may differ. [`FlushOrder::Staged`] makes one run of
//! everything: inserts, then removes, then despawns, then functions.
//!
//! A command whose entity is dead is skipped and counted, and so is one that the entity's pool refuses. A panic in
//! the user's code ends the flush: what was applied stays, the command that panicked is gone, the others wait for
//! the next flush.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use phalanx_store::{Entity, Existing, FirstPanic, sorting};

use super::merge::{self, Merge};
use super::queue::{Queue, Step, What};
use crate::world::batch::for_each_despite_panics;
use crate::world::{ChangeError, Failed, NoSuchEntity, SystemError, World};

/// In which order recorded commands take effect.
///
/// All commands on one entity between two functions are one move. So the order of rows may differ from that
/// of applying the commands one by one; components do not, nor do the ids that are given next. Both orders
/// depend on nothing but what was recorded.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut world = World::new();
/// world.set_flush_order(FlushOrder::Staged);
/// assert_eq!(world.flush_order(), FlushOrder::Staged);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlushOrder {
    /// As they were recorded.
    #[default]
    Recorded,
    /// All inserts, then all removes, then all despawns, then all functions; each as recorded.
    Staged,
}

/// What flushing did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandStats {
    /// How many commands took effect.
    pub applied: u64,
    /// How many were skipped because their entity was dead.
    pub skipped: u64,
    /// How many were skipped because the entity's pool forbids the change; see [`World::last_refused_command`].
    pub refused: u64,
}

/// The commands of a world that wait for a flush.
#[derive(Default)]
pub(crate) struct Deferred {
    pub(crate) queue: Queue,
    pub(crate) order: FlushOrder,
    pub(crate) stats: CommandStats,
    pub(crate) last_refused: Option<ChangeError>,
    /// Whether the error handler is called for commands on despawned entities, and for which it still has to be.
    report_dead: bool,
    dead: Vec<Entity>,
    /// The function that ran last.
    pub(super) running: &'static str,
    /// Memory kept between flushes.
    spare: Queue,
    pub(crate) merge: Merge,
    chains: Chains,
}

/// Which steps of a run belong to the same entity.
#[derive(Default)]
struct Chains {
    /// Indexed by entity: the last step so far, plus one.
    tails: Vec<u32>,
    /// Beside the steps of the run: the next step of the same entity, plus one.
    next: Vec<u32>,
    /// The first step of each entity, in order.
    firsts: Vec<u32>,
    /// The steps of one entity.
    steps: Vec<usize>,
    /// The entities that end in this run: the command that ends them, and their first step.
    deaths: Vec<(usize, usize)>,
}

impl World {
    /// Brings reserved ids to life and applies recorded commands; commands recorded by a command come after
    /// those recorded before. Then runs what waits from other threads ([`World::remote`]).
    ///
    /// Commands that queue themselves without end are an error for the error handler, which names the last one; they
    /// are forgotten then.
    ///
    /// # Panics
    /// When a command does, or a value in its drop. What was applied stays, the command that panicked is gone,
    /// the others are applied by the next flush.
    pub fn flush(&mut self) {
        self.flush_commands();
        self.run_remote();
    }

    /// As [`World::flush`], without what waits from other threads: for the middle of a change.
    pub(crate) fn flush_commands(&mut self) {
        self.store.flush();
        self.make_room_for_archetypes();
        let mut rounds = 0;
        while !self.commands.queue.is_empty() {
            rounds += 1;
            if is_endless(rounds, self.commands.queue.steps.len()) {
                return self.give_up(rounds);
            }
            let mut work = std::mem::take(&mut self.commands.spare);
            std::mem::swap(&mut work, &mut self.commands.queue);
            let depth = self.reactions.chain_depth();
            let outcome = catch_unwind(AssertUnwindSafe(|| apply_all(self, &mut work)));
            if let Err(panic) = outcome {
                work.steps.retain(|step| step.what != What::Done);
                self.leave_behind(work, depth);
                resume_unwind(panic);
            }
            work.clear();
            self.commands.spare = work;
            self.store.flush();
        }
        if !self.commands.dead.is_empty() {
            return self.report_dead();
        }
        if self.reactions.is_polled() {
            self.tell_at_sync_point();
        }
    }

    /// Forgets commands that would never end, and hands the error to the handler.
    #[cold]
    fn give_up(&mut self, rounds: usize) {
        let (name, waiting) = (self.commands.running, self.commands.queue.steps.len());
        self.commands.queue.clear();
        self.fail(SystemError::new(Failed::Command, name, EndlessCommands { rounds, waiting }.into()));
    }

    /// Hands commands on despawned entities to the error handler, all of them though it panics, and ends the flush.
    #[cold]
    fn report_dead(&mut self) {
        let mut panics = FirstPanic::default();
        for entity in std::mem::take(&mut self.commands.dead) {
            let error = SystemError::new(Failed::Command, "of an entity", NoSuchEntity::new(entity).into());
            panics.guard(|| self.fail(error));
        }
        if self.reactions.is_polled() {
            panics.guard(|| self.tell_at_sync_point());
        }
        panics.resume();
    }

    /// Counts a command whose entity is dead, and keeps it for the error handler if that is wanted.
    pub(super) fn note_dead(&mut self, entity: Entity, quiet: bool) {
        self.commands.stats.skipped += 1;
        if self.commands.report_dead && !quiet {
            self.commands.dead.push(entity);
        }
    }

    /// Sets whether a command on a despawned entity is an error for the error handler; otherwise it is only skipped
    /// and counted.
    pub fn set_report_dead(&mut self, report: bool) {
        self.commands.report_dead = report;
    }

    /// How many commands were applied and skipped so far.
    pub fn command_stats(&self) -> CommandStats {
        self.commands.stats
    }

    /// Why the last command that a pool refused was refused.
    pub fn last_refused_command(&self) -> Option<&ChangeError> {
        self.commands.last_refused.as_ref()
    }

    /// Counts a command as refused that was counted as applied.
    #[cold]
    pub(super) fn note_refused(&mut self, error: ChangeError, quiet: bool) {
        self.commands.stats.applied -= 1;
        self.note_not_applied(error, quiet);
    }

    /// Counts a command that is not counted yet as refused.
    #[cold]
    pub(super) fn note_not_applied(&mut self, error: ChangeError, quiet: bool) {
        if let ChangeError::NoSuchEntity(dead) = error {
            self.note_dead(dead.entity, quiet);
        } else {
            self.commands.stats.refused += 1;
            self.commands.last_refused = Some(error);
        }
    }

    /// The order in which commands take effect.
    pub fn flush_order(&self) -> FlushOrder {
        self.commands.order
    }

    /// Sets the order in which commands take effect, from the next flush on.
    pub fn set_flush_order(&mut self, order: FlushOrder) {
        self.commands.order = order;
    }
}

/// Commands that queue commands that queue commands, further than any program means to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EndlessCommands {
    /// How often commands were applied that were queued by those before.
    pub rounds: usize,
    /// How many were waiting then; they are forgotten.
    pub waiting: usize,
}

impl fmt::Display for EndlessCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, waiting } = self;
        write!(
            f,
            "commands that it queued queued commands, {rounds} times over, and {waiting} wait: a command that queues \
             itself never ends; queue it from a system, once per frame"
        )
    }
}

impl std::error::Error for EndlessCommands {}

/// Whether commands queue themselves: after so many rounds, or so many at once that they must have doubled.
fn is_endless(rounds: usize, waiting: usize) -> bool {
    rounds > 16 && (rounds > 100_000 || waiting > 1_000_000)
}

fn apply_all(world: &mut World, work: &mut Queue) {
    // Before listeners are looked up: relations, and hooks that a component declares, come with it.
    work.meet_kinds(world);
    if work.has_depths {
        return apply_left_behind(world, work);
    }
    match world.commands.order {
        FlushOrder::Recorded => {
            let mut at = 0;
            while at < work.steps.len() {
                let calls = work.steps[at..].iter().position(|step| matches!(step.what, What::Call(_)));
                let end = calls.map_or(work.steps.len(), |more| at + more);
                apply_run(world, work, at..end);
                if end < work.steps.len() {
                    call(world, work, end);
                }
                at = end + 1;
            }
        }
        FlushOrder::Staged => {
            apply_run(world, work, 0..work.steps.len());
            for at in 0..work.steps.len() {
                call(world, work, at);
            }
        }
    }
}

/// As `apply_all`, where a panic left some behind: those of one depth and their functions after one another.
#[cold]
fn apply_left_behind(world: &mut World, work: &mut Queue) {
    if world.commands.order == FlushOrder::Staged {
        let deepest = work.steps.iter().copied().max_by_key(|step| step.depth);
        if let Some(deepest) = deepest {
            world.at_depth(deepest, |world| apply_run(world, work, 0..work.steps.len()));
        }
        for at in 0..work.steps.len() {
            world.at_depth(work.steps[at], |world| call(world, work, at));
        }
        return;
    }
    let mut at = 0;
    while at < work.steps.len() {
        let first = work.steps[at];
        let is_alike = |step: &Step| step.depth == first.depth && !matches!(step.what, What::Call(_));
        let alike = work.steps[at..].iter().take_while(|step| is_alike(step)).count();
        world.at_depth(first, |world| match alike {
            0 => call(world, work, at),
            _ => apply_run(world, work, at..at + alike),
        });
        at += alike.max(1);
    }
}

fn call(world: &mut World, work: &mut Queue, at: usize) {
    if let What::Call(call) = work.steps[at].what {
        work.begin(at);
        if let Some(call) = work.take_call(call) {
            world.commands.stats.applied += 1;
            call(world);
            world.store.flush();
        }
    }
}

/// Applies a run of commands, entity by entity.
fn apply_run(world: &mut World, work: &mut Queue, run: std::ops::Range<usize>) {
    let mut chains = std::mem::take(&mut world.commands.chains);
    chains.firsts.clear();
    chains.next.clear();
    chains.next.resize(run.len(), 0);
    for at in run.clone() {
        let entity = work.steps[at].entity;
        if matches!(work.steps[at].what, What::Call(_) | What::Done) {
            continue;
        }
        if !world.contains(entity) {
            let quiet = work.steps[at].quiet;
            world.note_dead(entity, quiet);
            work.discard(at);
            continue;
        }
        // Of each index one generation lives, so steps of one index belong to one entity.
        chains.link(entity.index() as usize, at - run.start);
    }
    chains.forget_tails(work, run.start);
    let firsts = std::mem::take(&mut chains.firsts);
    let mut deaths = std::mem::take(&mut chains.deaths);
    deaths.clear();
    let mut merge = std::mem::take(&mut world.commands.merge);
    for &first in &firsts {
        let first = first as usize;
        chains.collect(first, run.start);
        match chains.steps.iter().find(|&&at| work.steps[at].what == What::Despawn) {
            Some(&death) => deaths.push((death, first)),
            None => apply_chain(world, &mut merge, work, &mut chains.steps),
        }
    }
    world.commands.merge = merge;
    // The order of the despawns is the order in which their ids come again.
    deaths.sort_unstable();
    let (begun, outcome) = despawn(world, work, &deaths);
    for_each_despite_panics(deaths[..begun].iter(), |&(death, first)| {
        chains.collect(first, run.start);
        drop_despawned(world, work, &chains.steps, death);
    });
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
    chains.firsts = firsts;
    chains.deaths = deaths;
    world.commands.chains = chains;
}

impl Chains {
    fn link(&mut self, entity: usize, step: usize) {
        if self.tails.len() <= entity {
            self.tails.resize(entity + 1, 0);
        }
        let number = u32::try_from(step + 1).expect("fewer than 2^32 commands between two flushes");
        match std::mem::replace(&mut self.tails[entity], number) {
            0 => self.firsts.push(number - 1),
            before => self.next[before as usize - 1] = number,
        }
    }

    /// Makes the tails ready for the next run.
    fn forget_tails(&mut self, work: &Queue, start: usize) {
        for &first in &self.firsts {
            self.tails[work.steps[start + first as usize].entity.index() as usize] = 0;
        }
    }

    fn collect(&mut self, first: usize, start: usize) {
        self.steps.clear();
        let mut at = first;
        loop {
            self.steps.push(start + at);
            match self.next[at] {
                0 => break,
                next => at = next as usize - 1,
            }
        }
    }
}

fn apply_one(world: &mut World, work: &mut Queue, at: usize) {
    let Step { entity, quiet, .. } = work.steps[at];
    world.commands.stats.applied += 1;
    let done = match work.begin(at) {
        What::Insert { kind, slot, existing } => {
            work.kinds[kind as usize].insert(slot, world, entity, existing)
        }
        What::Enter { kind, slot } => {
            work.kinds[kind as usize].insert(slot, world, entity, Existing::Replace)
        }
        What::Remove { kind } => work.kinds[kind as usize].remove(world, entity),
        What::Despawn | What::Call(_) | What::Done => Ok(()),
    };
    if let Err(error) = done {
        world.note_refused(error, quiet);
    }
}

/// Applies the commands on one entity that stays alive.
fn apply_chain(world: &mut World, merge: &mut Merge, work: &mut Queue, steps: &mut [usize]) {
    if let [one] = *steps {
        return apply_one(world, work, one);
    }
    if world.commands.order == FlushOrder::Staged {
        sorting::sort_by_key(steps, |&at| match work.steps[at].what {
            What::Enter { .. } => 0,
            What::Remove { .. } => 2,
            _ => 1,
        });
    }
    let entity = work.steps[steps[0]].entity;
    // Entering a pool comes first: what else may happen depends on the pool.
    let entering = steps.iter().take_while(|&&at| matches!(work.steps[at].what, What::Enter { .. })).count();
    let (first, rest) = steps.split_at(entering);
    first.iter().for_each(|&at| apply_one(world, work, at));
    let applied = rest.len() as u64;
    world.commands.stats.applied += applied;
    if !merge::apply(world, merge, work, entity, rest) {
        // A handler that heard of a change before has despawned it.
        world.commands.stats.applied -= applied;
        for &at in rest {
            world.note_dead(entity, work.steps[at].quiet);
            work.discard(at);
        }
    }
}

/// Despawns the entities that end, at once. Returns how many were despawned, and the panic of a value's drop, if there
/// was one; those behind it wait for the next flush.
fn despawn(
    world: &mut World,
    work: &mut Queue,
    deaths: &[(usize, usize)],
) -> (usize, std::thread::Result<()>) {
    let mut begun = 0;
    let ending = deaths.iter().map(|&(death, _)| {
        begun += 1;
        work.begin(death);
        work.steps[death].entity
    });
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        world.despawn_batch(ending);
    }));
    (begun, outcome)
}

/// Counts the commands on an entity that is gone. What they would have inserted need not be: no code can see it.
fn drop_despawned(world: &mut World, work: &mut Queue, steps: &[usize], death: usize) {
    let staged = world.commands.order == FlushOrder::Staged;
    let comes_before =
        |work: &Queue, at: usize| at <= death || (staged && work.steps[at].what != What::Despawn);
    let applied = steps.iter().filter(|&&at| comes_before(work, at)).count();
    world.commands.stats.applied += applied as u64;
    for &at in steps {
        if !comes_before(work, at) {
            world.note_dead(work.steps[at].entity, work.steps[at].quiet);
        }
    }
    for &at in steps {
        work.discard(at);
    }
}
