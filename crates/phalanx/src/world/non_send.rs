//! Resources that belong to one thread.
//!
//! A value that is not `Send` must be used and dropped where it was made, but a world may go anywhere. So the value
//! does not lie in the world: it lies with the thread, filed under the world's number, and is found again only
//! there. Exclusive systems and those with a [`NonSend`] parameter run on the thread that runs the schedule.
//!
//! A value is lent under a count: shared by many, or by one writer, which takes it out meanwhile.
//! Values whose world is gone are dropped by their thread, at its next use of such a value or at its end.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::{Arc, Weak};

use super::World;
use super::from_world::FromWorld;

pub use by_id::NonSendId;

mod by_id;

/// Lives as long as its world.
pub(crate) type Alive = Arc<()>;

struct Filed {
    world: u64,
    alive: Weak<()>,
    of: TypeId,
    value: Place,
}

/// Where a value is, unless it is lent for writing.
type Place = Rc<RefCell<Option<Rc<dyn Any>>>>;

thread_local! {
    static FILED: RefCell<Vec<Filed>> = const { RefCell::new(Vec::new()) };
}

/// Takes values out whose world is gone; the caller drops them when nothing is borrowed.
fn sweep() {
    let gone: Vec<Filed> = FILED
        .with_borrow_mut(|filed| filed.extract_if(.., |entry| entry.alive.strong_count() == 0).collect());
    drop(gone);
}

/// A resource that belongs to this thread, to be read. As a parameter, it makes a system run on the thread that runs the
/// schedule.
///
/// ```
/// # use phalanx::prelude::*;
/// use std::rc::Rc;
///
/// struct Window(Rc<str>); // belongs to the thread that made it
///
/// fn title(window: NonSend<Window>) {
///     assert_eq!(&*window.0, "Phalanx");
/// }
///
/// let mut app = App::new();
/// app.insert_non_send(Window("Phalanx".into())).add_systems(Update, title);
/// app.step(0.1);
/// ```
pub struct NonSend<'w, R: ?Sized + 'static> {
    value: Rc<R>,
    world: PhantomData<&'w World>,
}

impl<R: ?Sized> Deref for NonSend<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.value
    }
}

impl<R: fmt::Debug + ?Sized> fmt::Debug for NonSend<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NonSend").field(&&**self).finish()
    }
}

/// A resource that belongs to this thread, to be written. As a parameter, it makes a system run on the thread that runs
/// the schedule.
///
/// ```
/// # use phalanx::prelude::*;
/// use std::rc::Rc;
///
/// struct Window(Rc<str>); // belongs to the thread that made it
///
/// fn rename(mut window: NonSendMut<Window>) {
///     window.0 = "Phalanx, running".into();
/// }
///
/// let mut app = App::new();
/// app.insert_non_send(Window("Phalanx".into())).add_systems(Update, rename);
/// app.step(0.1);
/// ```
pub struct NonSendMut<'w, R: ?Sized + 'static> {
    /// There until this is dropped.
    value: Option<Rc<R>>,
    place: Place,
    erase: fn(Rc<R>) -> Rc<dyn Any>,
    world: PhantomData<&'w mut World>,
}

const THERE: &str = "the value is there until the access ends";

impl<R: ?Sized> Deref for NonSendMut<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        self.value.as_ref().expect(THERE)
    }
}

impl<R: ?Sized> DerefMut for NonSendMut<'_, R> {
    fn deref_mut(&mut self) -> &mut R {
        Rc::get_mut(self.value.as_mut().expect(THERE)).expect("it was taken out, so nothing else has it")
    }
}

impl<R: fmt::Debug + ?Sized> fmt::Debug for NonSendMut<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NonSendMut").field(&&**self).finish()
    }
}

impl<R: ?Sized> Drop for NonSendMut<'_, R> {
    fn drop(&mut self) {
        let value = self.value.take().expect(THERE);
        *self.place.borrow_mut() = Some((self.erase)(value));
    }
}

impl World {
    /// Files a resource that may be used on this thread only, and returns the one it replaces.
    ///
    /// # Panics
    /// When the one it replaces is in use.
    #[track_caller]
    pub fn insert_non_send<R: 'static>(&mut self, resource: R) -> Option<R> {
        let before = self.remove_non_send::<R>();
        self.file(TypeId::of::<R>(), Rc::new(resource));
        before
    }

    fn file(&mut self, of: TypeId, value: Rc<dyn Any>) {
        let (world, alive) = (self.id(), Arc::downgrade(&self.alive));
        let value: Place = Rc::new(RefCell::new(Some(value)));
        FILED.with_borrow_mut(|filed| filed.push(Filed { world, alive, of, value }));
    }

    /// Files the first value of a resource for this thread, unless there is one.
    pub fn init_non_send<R: FromWorld + 'static>(&mut self) -> NonSendId {
        if !self.contains_non_send::<R>() {
            let resource = R::from_world(self);
            self.insert_non_send(resource);
        }
        NonSendId::of::<R>()
    }

    /// Takes a resource back that was filed on this thread.
    ///
    /// # Panics
    /// When it is in use.
    #[track_caller]
    pub fn remove_non_send<R: 'static>(&mut self) -> Option<R> {
        sweep();
        let place = self.place(TypeId::of::<R>())?;
        let Some(value) = take(&place).map(|value| Rc::try_unwrap(typed::<R>(value))) else { in_use::<R>() };
        let Ok(value) = value else { unreachable!("it was taken out, so nothing else has it") };
        self.forget(|of| of == TypeId::of::<R>());
        Some(value)
    }

    /// Whether such a resource was filed on this thread.
    pub fn contains_non_send<R: 'static>(&self) -> bool {
        sweep();
        self.place(TypeId::of::<R>()).is_some()
    }

    /// Reads a resource that belongs to this thread.
    ///
    /// # Panics
    /// When none was filed on this thread, or it is lent for writing.
    #[track_caller]
    pub fn non_send<R: 'static>(&self) -> NonSend<'_, R> {
        match self.get_non_send() {
            Some(value) => value,
            None => missing::<R>(),
        }
    }

    /// Writes a resource that belongs to this thread.
    ///
    /// # Panics
    /// When none was filed on this thread, or it is in use.
    #[track_caller]
    pub fn non_send_mut<R: 'static>(&mut self) -> NonSendMut<'_, R> {
        match self.get_non_send_mut() {
            Some(value) => value,
            None => missing::<R>(),
        }
    }

    /// Reads a resource that belongs to this thread, if one was filed here.
    ///
    /// # Panics
    /// When it is lent for writing.
    #[track_caller]
    pub fn get_non_send<R: 'static>(&self) -> Option<NonSend<'_, R>> {
        self.lend_non_send()
    }

    /// Writes a resource that belongs to this thread, if one was filed here.
    ///
    /// # Panics
    /// When it is in use.
    #[track_caller]
    pub fn get_non_send_mut<R: 'static>(&mut self) -> Option<NonSendMut<'_, R>> {
        lend_mut_of(self.id())
    }

    /// Uses a resource that belongs to this thread, together with the world.
    ///
    /// # Panics
    /// When none was filed on this thread, or it is in use already.
    #[track_caller]
    pub fn non_send_scope<R: 'static, T>(&mut self, f: impl FnOnce(&mut Self, &mut R) -> T) -> T {
        match lend_mut_of::<R>(self.id()) {
            Some(mut value) => f(self, &mut value),
            None => missing::<R>(),
        }
    }

    /// Drops all resources of this world that belong to this thread.
    ///
    /// # Panics
    /// When a value does in its drop.
    pub fn clear_non_send(&mut self) {
        self.forget(|_| true);
    }

    #[track_caller]
    fn lend_non_send<'a, R: 'static>(&self) -> Option<NonSend<'a, R>> {
        lend_of(self.id())
    }

    fn place(&self, of: TypeId) -> Option<Place> {
        place_of(self.id(), of)
    }

    /// Forgets values of this world and drops them when nothing is borrowed.
    fn forget(&mut self, goes: impl Fn(TypeId) -> bool) {
        let world = self.id();
        let gone: Vec<Filed> = FILED.with_borrow_mut(|filed| {
            filed.extract_if(.., |entry| entry.world == world && goes(entry.of)).collect()
        });
        drop(gone);
    }
}

/// A world's resource of this thread, to be read.
#[track_caller]
pub(crate) fn lend_of<'a, R: 'static>(world: u64) -> Option<NonSend<'a, R>> {
    sweep();
    let place = place_of(world, TypeId::of::<R>())?;
    let Some(value) = place.borrow().clone() else { in_use::<R>() };
    Some(NonSend { value: typed(value), world: PhantomData })
}

/// A world's resource of this thread, to be written.
#[track_caller]
pub(crate) fn lend_mut_of<'a, R: 'static>(world: u64) -> Option<NonSendMut<'a, R>> {
    sweep();
    let place = place_of(world, TypeId::of::<R>())?;
    let Some(value) = take(&place) else { in_use::<R>() };
    Some(NonSendMut { value: Some(typed(value)), place, erase: |value| value, world: PhantomData })
}

fn place_of(world: u64, of: TypeId) -> Option<Place> {
    FILED.with_borrow(|filed| {
        let entry = filed.iter().find(|entry| entry.world == world && entry.of == of)?;
        Some(Rc::clone(&entry.value))
    })
}

/// Takes a value out that nothing else has.
fn take(place: &Place) -> Option<Rc<dyn Any>> {
    let mut held = place.borrow_mut();
    match held.as_ref() {
        Some(value) if Rc::strong_count(value) == 1 => held.take(),
        _ => None,
    }
}

fn typed<R: 'static>(value: Rc<dyn Any>) -> Rc<R> {
    value.downcast().unwrap_or_else(|_| unreachable!("values are filed under their type"))
}

#[cold]
#[track_caller]
fn in_use<R>() -> ! {
    in_use_named(std::any::type_name::<R>())
}

#[cold]
#[track_caller]
fn in_use_named(name: &str) -> ! {
    panic!("the resource `{name}` is in use already: end that use first")
}

#[cold]
#[track_caller]
fn missing<R>() -> ! {
    panic!(
        "no resource `{}` on this thread: insert it with `insert_non_send` on the thread that uses it",
        std::any::type_name::<R>()
    )
}
