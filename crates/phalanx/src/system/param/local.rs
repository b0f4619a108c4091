//! `Local`: a value that belongs to one system and stays from run to run.
//!
//! It is made by `Default` or [`FromWorld`] when the system is added, and dropped with the system. Nothing else can reach it,
//! so it takes no flag and declares no access.

use std::cell::{RefCell, RefMut};
use std::fmt;
use std::ops::{Deref, DerefMut};

use super::super::kept::StateVisitor;
use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{FromWorld, SharedWorld, World};

/// A value of the system's own.
///
/// ```
/// # use phalanx::prelude::*;
/// fn count(mut runs: Local<u32>) {
///     *runs += 1; // this system's own, kept from run to run
///     println!("run {}", *runs);
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, count);
/// app.step(0.1);
/// app.step(0.1);
/// ```
pub struct Local<'s, T>(pub(crate) &'s mut T);

impl<T> Deref for Local<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T> DerefMut for Local<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Local<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'a, T> IntoIterator for &'a Local<'_, T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (&*self.0).into_iter()
    }
}

impl<T: FromWorld + Send + 'static> SystemParam for Local<'_, T> {
    type State = RefCell<T>;
    type Guard<'w> = RefMut<'w, T>;
    type Item<'g> = Local<'g, T>;

    fn init(world: &mut World, _: &mut SystemMeta) -> RefCell<T> {
        RefCell::new(T::from_world(world))
    }
    fn lock<'w>(state: &'w RefCell<T>, _: &'w SharedWorld<'w>, _: Run<'w>) -> RefMut<'w, T> {
        state.borrow_mut()
    }
    fn item<'g>(guard: &'g mut RefMut<'_, T>) -> Local<'g, T> {
        Local(guard)
    }
    fn visit_state(state: &mut RefCell<T>, visitor: &mut dyn StateVisitor) {
        visitor.value(state.get_mut(), std::any::type_name::<T>());
    }
}
