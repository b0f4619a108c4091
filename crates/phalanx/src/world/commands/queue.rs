//! Recorded commands: an order list, and one vector per type of bundle.
//!
//! ```text
//!   steps     [insert 7v1 (A, 0)] [insert 9v0 (B, 0)] [call 0] [insert 7v1 (A, 1)] [despawn 9v0]
//!   kinds     A: [a0, a1]   B: [b0]
//!   calls     [f0]
//! ```
//!
//! Recording is a push to a vector of the bundle's own type: nothing is boxed but functions, and the memory
//! stays for the next frame. A step that was carried out is marked, so that after a panic the rest is known.
//! This file does not know what the commands mean.

use std::any::{Any, TypeId};
use std::sync::{Mutex, PoisonError};

use phalanx_store::{Entity, Existing, FirstPanic};

use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::component::Cells;
use crate::pool::DeclaredPool;
use crate::storage::SparseParts;
use crate::world::{ChangeError, World};

pub(crate) type Call = Box<dyn FnOnce(&mut World) + Send>;

/// What a recorded command does to its entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The bundle at `slot` of `kind` comes.
    Insert {
        kind: u32,
        slot: u32,
        existing: Existing,
    },
    /// What there is of the bundle goes.
    Remove {
        kind: u32,
    },
    Despawn,
    /// The entity, which was reserved for it, enters a pool with the value at `slot` of `kind`.
    Enter {
        kind: u32,
        slot: u32,
    },
    /// The function at this position runs; the entity means nothing.
    Call(u32),
    /// Carried out, or given up.
    Done,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) entity: Entity,
    pub(crate) what: What,
    /// Whether it is not to be reported when the entity is dead.
    pub(crate) quiet: bool,
    /// How deep in a chain of reactions it was queued, if a panic left it behind.
    pub(super) depth: u16,
}

impl Step {
    fn new(entity: Entity, what: What) -> Self {
        Self { entity, what, quiet: false, depth: 0 }
    }
}

/// The recorded bundles of one type.
pub(crate) trait Kind: Any + Send + Sync {
    /// A vector of the same type, empty.
    fn fresh(&self) -> Box<dyn Kind>;
    fn len(&self) -> usize;
    fn clear(&mut self);
    /// Drops all bundles, though some panic.
    fn drop_all(&mut self, panics: &mut FirstPanic);
    /// Moves all bundles of `other`, which has the same type, to the end.
    fn append(&mut self, other: &mut dyn Kind);
    fn discard(&mut self, slot: u32);
    fn insert(
        &mut self,
        slot: u32,
        world: &mut World,
        entity: Entity,
        existing: Existing,
    ) -> Result<(), ChangeError>;
    fn remove(&self, world: &mut World, entity: Entity) -> Result<(), ChangeError>;
    fn bundle(&self, world: &mut World) -> BundleId;
    /// Takes the bundle apart into cells; its sparse parts go into their sets.
    fn scatter(&mut self, slot: u32, world: &mut World, entity: Entity, existing: Existing, into: &mut Cells);
    /// Hands a bundle that is refused over, to be dropped when everything else is done.
    fn refuse(&mut self, slot: u32, into: &mut Cells);
    /// Takes what the entity has of the sparse parts, to be dropped.
    fn remove_sparse(&self, world: &mut World, entity: Entity, into: &mut Cells);
}

struct Bundles<B>(Vec<Option<B>>);

impl<B: Bundle> Bundles<B> {
    fn take(&mut self, slot: u32) -> Option<B> {
        self.0.get_mut(slot as usize)?.take()
    }
}

impl<B: Bundle> Kind for Bundles<B> {
    fn fresh(&self) -> Box<dyn Kind> {
        Box::new(Self(Vec::new()))
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn clear(&mut self) {
        self.0.clear();
    }
    fn drop_all(&mut self, panics: &mut FirstPanic) {
        drop_each(&mut self.0, panics);
    }
    fn append(&mut self, other: &mut dyn Kind) {
        self.0.append(&mut of_type::<B>(other).0);
    }
    fn discard(&mut self, slot: u32) {
        drop(self.take(slot));
    }
    fn insert(
        &mut self,
        slot: u32,
        world: &mut World,
        entity: Entity,
        existing: Existing,
    ) -> Result<(), ChangeError> {
        match self.take(slot) {
            Some(bundle) => world.insert_with(entity, bundle, existing),
            None => Ok(()),
        }
    }
    fn remove(&self, world: &mut World, entity: Entity) -> Result<(), ChangeError> {
        world.remove::<B>(entity)
    }
    fn bundle(&self, world: &mut World) -> BundleId {
        world.bundle::<B>()
    }
    fn scatter(
        &mut self,
        slot: u32,
        world: &mut World,
        entity: Entity,
        existing: Existing,
        into: &mut Cells,
    ) {
        let Some(bundle) = self.take(slot) else { return };
        let (values, sparse) = bundle.into_values(world.store.tick());
        let id = world.bundle::<B>();
        let replaced = world.with_required(entity, id, |world| world.put_sparse(entity, sparse, existing));
        into.leave_over(Some(replaced));
        phalanx_store::Values::scatter(values, B::value_ids(), into);
    }
    fn refuse(&mut self, slot: u32, into: &mut Cells) {
        into.leave_over(self.take(slot));
    }
    fn remove_sparse(&self, world: &mut World, entity: Entity, into: &mut Cells) {
        if B::Sparse::ANY {
            into.leave_over(Some(B::Sparse::take(&mut world.store, &world.sets, entity)));
        }
    }
}

fn of_type<B: Bundle>(kind: &mut dyn Kind) -> &mut Bundles<B> {
    typed(kind)
}

fn typed<K: Kind>(kind: &mut dyn Kind) -> &mut K {
    let kind: &mut dyn Any = kind;
    kind.downcast_mut().expect("what is recorded is kept under its own type")
}

/// The recorded entities of one pool.
struct Entering<P>(Vec<Option<P>>);

impl<P: DeclaredPool> Kind for Entering<P> {
    fn fresh(&self) -> Box<dyn Kind> {
        Box::new(Self(Vec::new()))
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn clear(&mut self) {
        self.0.clear();
    }
    fn drop_all(&mut self, panics: &mut FirstPanic) {
        drop_each(&mut self.0, panics);
    }
    fn append(&mut self, other: &mut dyn Kind) {
        self.0.append(&mut typed::<Self>(other).0);
    }
    fn discard(&mut self, slot: u32) {
        drop(self.0.get_mut(slot as usize).and_then(Option::take));
    }
    fn insert(
        &mut self,
        slot: u32,
        world: &mut World,
        entity: Entity,
        _: Existing,
    ) -> Result<(), ChangeError> {
        if let Some(value) = self.0.get_mut(slot as usize).and_then(Option::take) {
            world.enter(entity, value);
        }
        Ok(())
    }
    fn remove(&self, _: &mut World, _: Entity) -> Result<(), ChangeError> {
        Ok(())
    }
    fn bundle(&self, world: &mut World) -> BundleId {
        world.bundle::<()>()
    }
    fn scatter(&mut self, slot: u32, _: &mut World, _: Entity, _: Existing, _: &mut Cells) {
        self.discard(slot);
    }
    fn refuse(&mut self, slot: u32, _: &mut Cells) {
        self.discard(slot);
    }
    fn remove_sparse(&self, _: &mut World, _: Entity, _: &mut Cells) {}
}

/// Commands in the order they were recorded.
#[derive(Default)]
pub(crate) struct Queue {
    pub(crate) steps: Vec<Step>,
    types: Vec<TypeId>,
    pub(crate) kinds: Vec<Box<dyn Kind>>,
    /// How many of the kinds the world whose queue this is has met.
    met: usize,
    /// Behind a lock that is never taken: functions need not be `Sync`, and a world is.
    calls: Mutex<Vec<Option<Call>>>,
    /// Whether some of the steps say how deep they were queued.
    pub(super) has_depths: bool,
}

impl Queue {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub(crate) fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B, existing: Existing) {
        if B::SPAWNS {
            // Not merged with others: each such bundle spawns what it has to.
            return self.call(Box::new(move |world| {
                if let Err(error) = world.insert_with(entity, bundle, existing) {
                    world.note_not_applied(error, false);
                }
            }));
        }
        let at = self.kind::<B>();
        let bundles = &mut of_type::<B>(&mut *self.kinds[at]).0;
        bundles.push(Some(bundle));
        let slot = number(bundles.len() - 1);
        self.steps.push(Step::new(entity, What::Insert { kind: number(at), slot, existing }));
    }

    pub(crate) fn remove<B: Bundle>(&mut self, entity: Entity) {
        let kind = number(self.kind::<B>());
        self.steps.push(Step::new(entity, What::Remove { kind }));
    }

    pub(crate) fn despawn(&mut self, entity: Entity) {
        self.steps.push(Step::new(entity, What::Despawn));
    }

    fn calls(&mut self) -> &mut Vec<Option<Call>> {
        self.calls.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The function at this position, unless it was taken before.
    pub(crate) fn take_call(&mut self, at: u32) -> Option<Call> {
        self.calls()[at as usize].take()
    }

    pub(crate) fn call(&mut self, call: Call) {
        self.calls().push(Some(call));
        let at = number(self.calls().len() - 1);
        self.steps.push(Step::new(Entity::PLACEHOLDER, What::Call(at)));
    }

    pub(crate) fn enter<P: DeclaredPool>(&mut self, entity: Entity, value: P) {
        let at = self.kind_of(|| Entering::<P>(Vec::new()));
        let values = &mut typed::<Entering<P>>(&mut *self.kinds[at]).0;
        values.push(Some(value));
        let slot = number(values.len() - 1);
        self.steps.push(Step::new(entity, What::Enter { kind: number(at), slot }));
    }

    /// It is not to be reported when the entity of the last command is dead.
    pub(crate) fn quiet_last(&mut self) {
        if let Some(last) = self.steps.last_mut() {
            last.quiet = true;
        }
    }

    fn kind<B: Bundle>(&mut self) -> usize {
        self.kind_of(|| Bundles::<B>(Vec::new()))
    }

    fn kind_of<K: Kind>(&mut self, make: impl FnOnce() -> K) -> usize {
        let wanted = TypeId::of::<K>();
        // A system records few types, the same ones again and again.
        match self.types.iter().position(|known| *known == wanted) {
            Some(at) => at,
            None => self.add_kind(wanted, Box::new(make())),
        }
    }

    fn add_kind(&mut self, of: TypeId, kind: Box<dyn Kind>) -> usize {
        self.types.push(of);
        self.kinds.push(kind);
        self.kinds.len() - 1
    }

    /// Moves all commands of `other` to the end. Both keep their memory.
    pub(crate) fn append(&mut self, other: &mut Self) {
        if self.is_empty() {
            std::mem::swap(self, other);
            // They may be of different worlds.
            (self.met, other.met) = (0, 0);
            return;
        }
        self.has_depths |= std::mem::take(&mut other.has_depths);
        // Where each kind of `other` goes, and after how many bundles.
        let mut places = Vec::with_capacity(other.kinds.len());
        for (of, kind) in other.types.iter().zip(&mut other.kinds) {
            let at = match self.types.iter().position(|known| known == of) {
                Some(at) => at,
                None => self.add_kind(*of, kind.fresh()),
            };
            places.push((number(at), number(self.kinds[at].len())));
            self.kinds[at].append(&mut **kind);
        }
        let calls = number(self.calls().len());
        self.calls().append(other.calls());
        let moved = other.steps.drain(..).map(|step| {
            let what = match step.what {
                What::Insert { kind, slot, existing } => {
                    let (kind, before) = places[kind as usize];
                    What::Insert { kind, slot: before + slot, existing }
                }
                What::Enter { kind, slot } => {
                    let (kind, before) = places[kind as usize];
                    What::Enter { kind, slot: before + slot }
                }
                What::Remove { kind } => What::Remove { kind: places[kind as usize].0 },
                What::Call(at) => What::Call(calls + at),
                what => what,
            };
            Step { what, ..step }
        });
        self.steps.extend(moved);
    }

    /// Forgets all commands; the memory stays. What they carried is dropped.
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.has_depths = false;
        for kind in &mut self.kinds {
            kind.clear();
        }
        self.calls().clear();
    }

    /// Drops what all commands carry, though some of it panics.
    pub(crate) fn drop_all(&mut self, panics: &mut FirstPanic) {
        self.steps.clear();
        self.has_depths = false;
        self.kinds.iter_mut().for_each(|kind| kind.drop_all(panics));
        drop_each(self.calls(), panics);
    }

    /// Lets a world meet all kinds of bundles: their components may be the first ones that have listeners.
    pub(crate) fn meet_kinds(&mut self, world: &mut World) {
        while let Some(kind) = self.kinds.get(self.met) {
            // Counted first: a kind that cannot be registered is refused with its command.
            self.met += 1;
            kind.bundle(world);
        }
    }

    /// Marks a step as done and says what it was.
    pub(crate) fn begin(&mut self, at: usize) -> What {
        std::mem::replace(&mut self.steps[at].what, What::Done)
    }

    /// Gives a step up, and drops what it carries.
    pub(crate) fn discard(&mut self, at: usize) {
        match self.begin(at) {
            What::Insert { kind, slot, .. } | What::Enter { kind, slot } => {
                self.kinds[kind as usize].discard(slot);
            }
            What::Call(call) => drop(self.take_call(call)),
            _ => {}
        }
    }
}

fn drop_each<T>(values: &mut Vec<T>, panics: &mut FirstPanic) {
    values.drain(..).for_each(|value| panics.guard(|| drop(value)));
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 commands between two flushes")
}
