//! Change detection for generic code: the methods of [`Ref`], [`Mut`] and their kin as traits.
//!
//! The methods are those of the types; a program that names the type needs no trait. What keeps no ticks, a [`Mut`] of a
//! component without `#[component(track = "row")]` among them, does not implement them.

use super::{Mut, Readable, Ref, RowTicks, Tick, Tracked};

/// What can tell when it was added and changed.
///
/// ```
/// use phalanx::prelude::*;
///
/// fn is_news(value: &impl DetectChanges) -> bool {
///     value.is_changed()
/// }
///
/// #[derive(Resource)]
/// struct Score(u32);
///
/// let mut app = App::new();
/// app.insert_resource(Score(1));
/// app.add_systems(Update, |score: Res<Score>| assert!(is_news(&score)));
/// app.step(0.1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot tell whether it changed",
    note = "resources can, and components with `#[component(track = \"row\")]`"
)]
pub trait DetectChanges {
    /// Whether it was added since the system last ran.
    fn is_added(&self) -> bool;
    /// Whether it was added or changed since the system last ran.
    fn is_changed(&self) -> bool;
    /// Whether it was added after a tick.
    fn is_added_after(&self, tick: Tick) -> bool;
    /// Whether it was added or changed after a tick.
    fn is_changed_after(&self, tick: Tick) -> bool;
    /// When it was last changed.
    fn last_changed(&self) -> Tick;
    /// When it was added.
    fn added(&self) -> Tick;
    /// When the system last ran.
    fn last_run(&self) -> Tick;
}

/// What can tell when it changed, and can be changed.
///
/// ```
/// use phalanx::prelude::*;
///
/// fn heal(mut health: impl DetectChangesMut<Inner = Health>) {
///     health.set_if_neq(Health(10));
/// }
///
/// #[derive(Component, PartialEq)]
/// #[component(track = "row")]
/// struct Health(u32);
///
/// let mut world = World::new();
/// let entity = world.spawn(Health(3)).id();
/// heal(world.get_mut::<Health>(entity).unwrap());
/// assert_eq!(world.get::<Health>(entity).unwrap().0, 10);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot tell whether it changed, or cannot be changed",
    note = "`ResMut` can, and `Mut` of components with `#[component(track = \"row\")]`"
)]
pub trait DetectChangesMut: DetectChanges {
    /// The value.
    type Inner;

    /// Counts as changed from now on.
    fn set_changed(&mut self);
    /// The value, to be changed without counting as changed.
    fn bypass_change_detection(&mut self) -> &mut Self::Inner;
    /// Sets the value if it is another one, and says whether it was.
    fn set_if_neq(&mut self, value: Self::Inner) -> bool
    where
        Self::Inner: PartialEq;
    /// Sets the value if it is another one, and returns the one before.
    fn replace_if_neq(&mut self, value: Self::Inner) -> Option<Self::Inner>
    where
        Self::Inner: PartialEq;
}

/// Implements [`DetectChanges`] by the methods of the type.
macro_rules! detect_changes {
    ($(impl[$($generics:tt)*] for $type:ty;)*) => {$(
        impl<$($generics)*> $crate::tracking::DetectChanges for $type {
            fn is_added(&self) -> bool {
                <$type>::is_added(self)
            }
            fn is_changed(&self) -> bool {
                <$type>::is_changed(self)
            }
            fn is_added_after(&self, tick: $crate::tracking::Tick) -> bool {
                <$type>::is_added_after(self, tick)
            }
            fn is_changed_after(&self, tick: $crate::tracking::Tick) -> bool {
                <$type>::is_changed_after(self, tick)
            }
            fn last_changed(&self) -> $crate::tracking::Tick {
                <$type>::last_changed(self)
            }
            fn added(&self) -> $crate::tracking::Tick {
                <$type>::added(self)
            }
            fn last_run(&self) -> $crate::tracking::Tick {
                <$type>::last_run(self)
            }
        }
    )*};
}
pub(crate) use detect_changes;

/// Implements [`DetectChangesMut`] by the methods of the type.
macro_rules! detect_changes_mut {
    ($(impl[$($generics:tt)*] of $value:ty, for $type:ty;)*) => {$(
        impl<$($generics)*> $crate::tracking::DetectChangesMut for $type {
            type Inner = $value;

            fn set_changed(&mut self) {
                <$type>::set_changed(self);
            }
            fn bypass_change_detection(&mut self) -> &mut $value {
                <$type>::bypass_change_detection(self)
            }
            fn set_if_neq(&mut self, value: $value) -> bool
            where
                $value: PartialEq,
            {
                <$type>::set_if_neq(self, value)
            }
            fn replace_if_neq(&mut self, value: $value) -> Option<$value>
            where
                $value: PartialEq,
            {
                <$type>::replace_if_neq(self, value)
            }
        }
    )*};
}
pub(crate) use detect_changes_mut;

detect_changes! {
    impl['a, T: Readable] for Ref<'a, T>;
    impl['a, T: Tracked<Track = RowTicks>] for Mut<'a, T>;
}
detect_changes_mut! {
    impl['a, T: Tracked<Track = RowTicks>] of T, for Mut<'a, T>;
}
