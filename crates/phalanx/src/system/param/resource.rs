//! `Res` and `ResMut`: one resource, read or written.
//!
//! Writing through [`ResMut`] marks the resource as changed at the first `&mut` taken, not before: a system that only
//! reads leaves no trace. `Option<Res<T>>` is `None` where with the plain form the system is not run, and fails.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use phalanx_store::{RowTicks, SlotMut, SlotRef, Stamp, Tick};

use super::super::access::{Access, Part};
use super::super::failed::ParamError;
use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::SystemParam;
use crate::resources::{Occupied, Resource, ResourceId, ResourceTicks};
use crate::tracking::{Mut, MutPart, Ref, detect_changes, detect_changes_mut};
use crate::world::{SharedWorld, World};

/// A resource, to be read.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Resource)]
/// struct Gravity(f32);
///
/// fn show(gravity: Res<Gravity>) {
///     println!("things fall with {}", gravity.0);
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Gravity(9.81));
/// world.run_system_once(show).unwrap();
/// ```
pub struct Res<'w, R> {
    value: &'w R,
    ticks: ResourceTicks,
    since: Tick,
}

/// A resource, to be written.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Resource, Default)]
/// struct Score(u32);
///
/// fn score(mut score: ResMut<Score>) {
///     score.0 += 10;
/// }
///
/// let mut world = World::new();
/// world.init_resource::<Score>();
/// world.run_system_once(score).unwrap();
/// assert_eq!(world.resource::<Score>().0, 10);
/// ```
pub struct ResMut<'w, R> {
    value: &'w mut R,
    ticks: &'w mut ResourceTicks,
    since: Tick,
    now: Tick,
}

impl<'w, R> Res<'w, R> {
    pub(super) fn new(value: &'w R, ticks: ResourceTicks, since: Tick) -> Self {
        Self { value, ticks, since }
    }

    /// Whether the resource came since the system's last run.
    pub fn is_added(&self) -> bool {
        self.ticks.added.is_after(self.since)
    }

    /// Whether the resource came or was written since the system's last run.
    pub fn is_changed(&self) -> bool {
        self.ticks.changed.is_after(self.since)
    }

    /// When the resource was last written.
    pub fn last_changed(&self) -> Tick {
        self.ticks.changed
    }

    /// When the resource came.
    pub fn added(&self) -> Tick {
        self.ticks.added
    }

    /// Whether the resource came after a tick.
    pub fn is_added_after(&self, tick: Tick) -> bool {
        self.ticks.added.is_after(tick)
    }

    /// Whether the resource came or was written after a tick.
    pub fn is_changed_after(&self, tick: Tick) -> bool {
        self.ticks.changed.is_after(tick)
    }

    /// The system's last run.
    pub fn last_run(&self) -> Tick {
        self.since
    }

    /// The plain reference.
    pub fn into_inner(self) -> &'w R {
        self.value
    }
}

impl<R> Clone for Res<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<R> Copy for Res<'_, R> {}

impl<'w, R> ResMut<'w, R> {
    pub(super) fn new(value: &'w mut R, ticks: &'w mut ResourceTicks, since: Tick, now: Tick) -> Self {
        Self { value, ticks, since, now }
    }

    /// Whether the resource came since the system's last run.
    pub fn is_added(&self) -> bool {
        self.ticks.added.is_after(self.since)
    }

    /// Whether the resource came or was written since the system's last run.
    pub fn is_changed(&self) -> bool {
        self.ticks.changed.is_after(self.since)
    }

    /// When the resource was last written.
    pub fn last_changed(&self) -> Tick {
        self.ticks.changed
    }

    /// When the resource came.
    pub fn added(&self) -> Tick {
        self.ticks.added
    }

    /// Whether the resource came after a tick.
    pub fn is_added_after(&self, tick: Tick) -> bool {
        self.ticks.added.is_after(tick)
    }

    /// Whether the resource came or was written after a tick.
    pub fn is_changed_after(&self, tick: Tick) -> bool {
        self.ticks.changed.is_after(tick)
    }

    /// The system's last run.
    pub fn last_run(&self) -> Tick {
        self.since
    }

    /// The system's present run: what is written carries this tick.
    pub fn this_run(&self) -> Tick {
        self.now
    }

    /// Makes the resource one that came now, and changed with that.
    pub fn set_added(&mut self) {
        *self.ticks = ResourceTicks { added: self.now, changed: self.now };
    }

    /// Sets when the resource was last written.
    pub fn set_last_changed(&mut self, tick: Tick) {
        self.ticks.changed = tick;
    }

    /// Sets when the resource came.
    pub fn set_last_added(&mut self, tick: Tick) {
        *self.ticks = ResourceTicks { added: tick, changed: tick };
    }

    /// Writes a clone, and marks the resource, only if the value differs. Returns whether it did.
    pub fn clone_from_if_neq<S>(&mut self, value: &S) -> bool
    where
        S: ToOwned<Owned = R> + ?Sized,
        R: PartialEq<S>,
    {
        let differs = *self.value != *value;
        if differs {
            value.clone_into(&mut **self);
        }
        differs
    }

    /// Marks the resource as changed now.
    pub fn set_changed(&mut self) {
        self.ticks.changed = self.now;
    }

    /// Writes without leaving a trace.
    pub fn bypass_change_detection(&mut self) -> &mut R {
        self.value
    }

    /// Writes, and marks the resource, only if the value differs. Returns whether it did.
    pub fn set_if_neq(&mut self, value: R) -> bool
    where
        R: PartialEq,
    {
        if *self.value == value {
            return false;
        }
        **self = value;
        true
    }

    /// As [`set_if_neq`](Self::set_if_neq); returns the value that was there, if it differed.
    pub fn replace_if_neq(&mut self, value: R) -> Option<R>
    where
        R: PartialEq,
    {
        (*self.value != value).then(|| std::mem::replace(&mut **self, value))
    }

    /// The plain reference; marks the resource as changed.
    pub fn into_inner(self) -> &'w mut R {
        self.ticks.changed = self.now;
        self.value
    }
}

detect_changes! {
    impl['w, R] for Res<'w, R>;
    impl['w, R] for ResMut<'w, R>;
}
detect_changes_mut! {
    impl['w, R] of R, for ResMut<'w, R>;
}

impl<R> Deref for Res<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.value
    }
}

impl<R> Deref for ResMut<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.value
    }
}

impl<R> DerefMut for ResMut<'_, R> {
    fn deref_mut(&mut self) -> &mut R {
        self.ticks.changed = self.now;
        self.value
    }
}

impl<R: fmt::Debug> fmt::Debug for Res<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Res").field(&self.value).finish()
    }
}

impl<R: fmt::Debug> fmt::Debug for ResMut<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResMut").field(&self.value).finish()
    }
}

impl<'w, R: Resource> ResMut<'w, R> {
    /// The same access for a shorter time, as what queries and worlds give.
    pub fn reborrow(&mut self) -> Mut<'_, R> {
        Mut::new(self.value, Stamp::new(&self.ticks.added, &mut self.ticks.changed, self.since, self.now))
    }

    /// Access to a part of the resource, which is marked when the part is written.
    pub fn map_unchanged<U: ?Sized>(self, f: impl FnOnce(&mut R) -> &mut U) -> MutPart<'w, U, RowTicks> {
        Mut::from(self).map_unchanged(f)
    }
}

impl<'w, R: Resource> From<ResMut<'w, R>> for Mut<'w, R> {
    fn from(ResMut { value, ticks, since, now }: ResMut<'w, R>) -> Self {
        Self::new(value, Stamp::new(&ticks.added, &mut ticks.changed, since, now))
    }
}

impl<'w, R> From<ResMut<'w, R>> for Res<'w, R> {
    fn from(ResMut { value, ticks, since, .. }: ResMut<'w, R>) -> Self {
        Self { value, ticks: *ticks, since }
    }
}

impl<'w, R: Resource> From<Res<'w, R>> for Ref<'w, R> {
    fn from(Res { value, ticks, since }: Res<'w, R>) -> Self {
        Self::new(value, ticks.added, ticks.changed, since)
    }
}

/// The flag of a resource that is read.
pub struct ResGuard<'w, R> {
    slot: SlotRef<'w, Option<Occupied>>,
    run: Run<'w>,
    of: PhantomData<fn() -> R>,
}

/// The flag of a resource that is written.
pub struct ResMutGuard<'w, R> {
    slot: SlotMut<'w, Option<Occupied>>,
    run: Run<'w>,
    of: PhantomData<fn() -> R>,
}

impl<R: Resource> ResGuard<'_, R> {
    fn get(&self) -> Option<Res<'_, R>> {
        let (value, ticks) = self.slot.as_ref()?.parts();
        Some(Res { value, ticks, since: self.run.since })
    }
}

impl<R: Resource> ResMutGuard<'_, R> {
    fn get(&mut self) -> Option<ResMut<'_, R>> {
        let (value, ticks) = self.slot.as_mut()?.parts_mut();
        Some(ResMut { value, ticks, since: self.run.since, now: self.run.now })
    }
}

#[cold]
fn missing<R: Resource>(param: &str) -> ParamError {
    let resource = short_type::<R>();
    let add = R::how_to_add();
    let reason = format!(
        "the resource `{resource}`, which the world lacks: {add}, or ask for `Option<{param}<{resource}>>`"
    );
    ParamError::new(format!("{param}<{resource}>"), reason)
}

#[inline]
fn read<'w, R: Resource>(id: ResourceId, world: &'w SharedWorld<'w>, run: Run<'w>) -> ResGuard<'w, R> {
    let slot = world.resources.read(id).unwrap_or_else(|| run.busy(&short_type::<R>()));
    ResGuard { slot, run, of: PhantomData }
}

#[inline]
fn write<'w, R: Resource>(id: ResourceId, world: &'w SharedWorld<'w>, run: Run<'w>) -> ResMutGuard<'w, R> {
    let slot = world.resources.write(id).unwrap_or_else(|| run.busy(&short_type::<R>()));
    ResMutGuard { slot, run, of: PhantomData }
}

const CHECKED: &str = "a system whose resource is missing is not run";

impl<R: Resource> SystemParam for Res<'_, R> {
    type State = ResourceId;
    type Guard<'w> = ResGuard<'w, R>;
    type Item<'g> = Res<'g, R>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> ResourceId {
        let id = world.resources.register::<R>();
        let mut access = Access::new();
        access.read(Part::Resource(id));
        meta.declare(world, short_type::<Self>(), access);
        id
    }
    fn lock<'w>(state: &'w ResourceId, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
        read(*state, world, run)
    }
    #[inline]
    fn check(guard: &mut Self::Guard<'_>) -> Result<(), ParamError> {
        if guard.slot.is_some() { Ok(()) } else { Err(missing::<R>("Res")) }
    }
    #[inline]
    fn is_available(guard: &mut Self::Guard<'_>) -> bool {
        guard.slot.is_some()
    }
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> Res<'g, R> {
        guard.get().expect(CHECKED)
    }
}

impl<R: Resource> SystemParam for ResMut<'_, R> {
    type State = ResourceId;
    type Guard<'w> = ResMutGuard<'w, R>;
    type Item<'g> = ResMut<'g, R>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> ResourceId {
        let id = world.resources.register::<R>();
        let mut access = Access::new();
        access.write(Part::Resource(id));
        meta.declare(world, short_type::<Self>(), access);
        id
    }
    fn lock<'w>(state: &'w ResourceId, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
        write(*state, world, run)
    }
    #[inline]
    fn check(guard: &mut Self::Guard<'_>) -> Result<(), ParamError> {
        if guard.slot.is_some() { Ok(()) } else { Err(missing::<R>("ResMut")) }
    }
    #[inline]
    fn is_available(guard: &mut Self::Guard<'_>) -> bool {
        guard.slot.is_some()
    }
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> ResMut<'g, R> {
        guard.get().expect(CHECKED)
    }
}
