//! Row ticks as the user sees them: exclusive access that remembers being used.
//!
//! [`Mut`] is what `&mut T` yields for a component that is kept as whole values. For most types it is a plain
//! `&mut T` inside. Where the type keeps row ticks (`track = "row"`), reading through it leaves no trace and the
//! first write sets the row's tick. [`Ref`] is the reading half, which tells how new a row is.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Deref, DerefMut};

pub use phalanx_store::{RowTicks, Stamp, Tick, Tracking, Untracked};

pub use changes::{DetectChanges, DetectChangesMut};
pub(crate) use changes::{detect_changes, detect_changes_mut};
pub use part::MutPart;

mod changes;
mod part;

use crate::component::Queryable;

/// A type to which [`Mut`] gives exclusive access: whole components and resources.
///
/// Derived by `#[derive(Component)]` and `#[derive(Resource)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a whole component nor a resource",
    label = "`Mut` needs a whole component or a resource",
    note = "a component with `layout = \"soa\"` yields a struct with a reference per field instead of `Mut`",
    note = "add `#[derive(Component)]` or `#[derive(Resource)]` to `{Self}`"
)]
pub trait Tracked: Sized + 'static {
    /// Whether single rows keep ticks: [`Untracked`] or [`RowTicks`].
    type Track: Tracking;
}

/// When a value came, and when it was last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComponentTicks {
    /// When a value was put where none was.
    pub added: Tick,
    /// When the value was last replaced or written.
    pub changed: Tick,
}

impl ComponentTicks {
    /// Whether the value came after `last_run`. The tick of the present run is not needed: ticks do not wrap.
    pub fn is_added(&self, last_run: Tick, _this_run: Tick) -> bool {
        self.added.is_after(last_run)
    }

    /// Whether the value came or was written after `last_run`.
    pub fn is_changed(&self, last_run: Tick, _this_run: Tick) -> bool {
        self.changed.is_after(last_run)
    }
}

/// Exclusive access to a component of one entity, or to a resource.
///
/// It dereferences to the value. For a type without row ticks it is as large and as fast as `&mut T`.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
///
/// fn heal(mut wounded: Query<&mut Health>) {
///     for mut health in &mut wounded {
///         health.0 = 100.0;
///     }
/// }
///
/// let mut world = World::new();
/// let hero = world.spawn(Health(1.0)).id();
/// let mut health = world.get_mut::<Health>(hero).unwrap();
/// health.0 += 1.0;
/// assert_eq!(health.0, 2.0);
/// # let _ = heal;
/// ```
pub struct Mut<'a, T: Tracked> {
    value: &'a mut T,
    stamp: Stamp<'a, T::Track>,
}

impl<'a, T: Tracked> Mut<'a, T> {
    /// Access to `value`, whose use is noted in the stamp.
    #[inline(always)]
    pub fn new(value: &'a mut T, stamp: Stamp<'a, T::Track>) -> Self {
        Self { value, stamp }
    }

    /// Marks the value as changed now.
    #[inline]
    pub fn set_changed(&mut self) {
        self.stamp.mark();
    }

    /// Writes without leaving a trace.
    #[inline]
    pub fn bypass_change_detection(&mut self) -> &mut T {
        self.value
    }

    /// Writes, and marks the value, only if it differs. Returns whether it did.
    pub fn set_if_neq(&mut self, value: T) -> bool
    where
        T: PartialEq,
    {
        let differs = *self.value != value;
        if differs {
            **self = value;
        }
        differs
    }

    /// As [`Mut::set_if_neq`], giving back the value that was replaced.
    pub fn replace_if_neq(&mut self, value: T) -> Option<T>
    where
        T: PartialEq,
    {
        (*self.value != value).then(|| std::mem::replace(&mut **self, value))
    }

    /// Writes a clone, and marks the value, only if it differs. Returns whether it did.
    pub fn clone_from_if_neq<S>(&mut self, value: &S) -> bool
    where
        S: ToOwned<Owned = T> + ?Sized,
        T: PartialEq<S>,
    {
        let differs = *self.value != *value;
        if differs {
            value.clone_into(&mut **self);
        }
        differs
    }

    /// The plain reference; marks the value as changed.
    #[inline]
    pub fn into_inner(mut self) -> &'a mut T {
        self.stamp.mark();
        self.value
    }

    /// The same access for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> Mut<'_, T> {
        Mut { value: self.value, stamp: self.stamp.reborrow() }
    }
}

impl<T: Tracked<Track = RowTicks>> Mut<'_, T> {
    /// Whether the value came after the system's last run, or after the query's moment.
    pub fn is_added(&self) -> bool {
        self.stamp.added().is_after(self.stamp.since())
    }

    /// Whether the value came or was written after the system's last run, or after the query's moment.
    pub fn is_changed(&self) -> bool {
        self.stamp.changed().is_after(self.stamp.since())
    }

    /// When the value was last written.
    pub fn last_changed(&self) -> Tick {
        self.stamp.changed()
    }

    /// When the value came.
    pub fn added(&self) -> Tick {
        self.stamp.added()
    }
}

impl<T: Tracked<Track = RowTicks>> Mut<'_, T> {
    /// Whether the value came after a tick.
    pub fn is_added_after(&self, tick: Tick) -> bool {
        self.stamp.added().is_after(tick)
    }

    /// Whether the value came or was written after a tick.
    pub fn is_changed_after(&self, tick: Tick) -> bool {
        self.stamp.changed().is_after(tick)
    }

    /// The moment after which something is new: the system's last run.
    pub fn last_run(&self) -> Tick {
        self.stamp.since()
    }
}

impl<T: Tracked> Deref for Mut<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        self.value
    }
}

impl<T: Tracked> DerefMut for Mut<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        self.stamp.mark();
        self.value
    }
}

impl<T: Tracked> AsRef<T> for Mut<'_, T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: Tracked> AsMut<T> for Mut<'_, T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: Tracked + fmt::Debug> fmt::Debug for Mut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mut").field(&self.value).finish()
    }
}

impl<T: Tracked + fmt::Display> fmt::Display for Mut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Tracked + PartialEq> PartialEq for Mut<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        *self.value == *other.value
    }
}
impl<T: Tracked + Eq> Eq for Mut<'_, T> {}

impl<T: Tracked + PartialOrd> PartialOrd for Mut<'_, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (*self.value).partial_cmp(&*other.value)
    }
}
impl<T: Tracked + Ord> Ord for Mut<'_, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (*self.value).cmp(&*other.value)
    }
}

impl<'a, 'm, T: Tracked> IntoIterator for &'m Mut<'a, T>
where
    &'m T: IntoIterator,
{
    type Item = <&'m T as IntoIterator>::Item;
    type IntoIter = <&'m T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&*self.value).into_iter()
    }
}

impl<'a, 'm, T: Tracked> IntoIterator for &'m mut Mut<'a, T>
where
    &'m mut T: IntoIterator,
{
    type Item = <&'m mut T as IntoIterator>::Item;
    type IntoIter = <&'m mut T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&mut **self).into_iter()
    }
}

/// A type to which [`Ref`] gives shared access: components and resources.
///
/// Derived by `#[derive(Component)]` and `#[derive(Resource)]`.
pub trait Readable: 'static {
    /// One value, shared: `&T`, or for a component with `layout = "soa"` a struct with a reference per field.
    type Ref<'a>;
}

impl<T: Queryable> Readable for T {
    type Ref<'a> = <T as Queryable>::Ref<'a>;
}

/// Shared access to a resource, or to one row of a component with row ticks, which also tells how new it is.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Component)]
/// #[component(track = "row")]
/// struct Health(f32);
///
/// fn show(all: Query<Ref<Health>>) {
///     for health in &all {
///         println!("{}{}", health.0, if health.is_changed() { " (new)" } else { "" });
///     }
/// }
/// # let mut world = World::new();
/// # world.spawn(Health(1.0));
/// # world.run_system_once(show).unwrap();
/// ```
pub struct Ref<'a, T: Readable> {
    value: T::Ref<'a>,
    added: Tick,
    changed: Tick,
    since: Tick,
}

impl<'a, T: Readable> Ref<'a, T> {
    pub(crate) fn new(value: T::Ref<'a>, added: Tick, changed: Tick, since: Tick) -> Self {
        Self { value, added, changed, since }
    }

    /// Whether the value came after the system's last run, or after the query's moment.
    pub fn is_added(&self) -> bool {
        self.added.is_after(self.since)
    }

    /// Whether the value came or was written after the system's last run, or after the query's moment.
    pub fn is_changed(&self) -> bool {
        self.changed.is_after(self.since)
    }

    /// When the value was last written.
    pub fn last_changed(&self) -> Tick {
        self.changed
    }

    /// When the value came.
    pub fn added(&self) -> Tick {
        self.added
    }

    /// Whether the value came after a tick.
    pub fn is_added_after(&self, tick: Tick) -> bool {
        self.added.is_after(tick)
    }

    /// Whether the value came or was written after a tick.
    pub fn is_changed_after(&self, tick: Tick) -> bool {
        self.changed.is_after(tick)
    }

    /// The moment after which something is new: the system's last run.
    pub fn last_run(&self) -> Tick {
        self.since
    }

    /// The plain access.
    pub fn into_inner(self) -> T::Ref<'a> {
        self.value
    }
}

impl<'a, T: Readable<Ref<'a>: fmt::Debug>> fmt::Debug for Ref<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.value).finish()
    }
}

impl<'a, T: Readable> Deref for Ref<'a, T> {
    type Target = T::Ref<'a>;

    fn deref(&self) -> &T::Ref<'a> {
        &self.value
    }
}
