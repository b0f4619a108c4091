//! Resources that belong to one thread.
//!
//! A value that is not `Send` must be used and dropped where it was made, but a world may go anywhere. So the value
//! does not lie in the world: it lies with the thread, filed under the world's number, and is found again only
//! there. Exclusive systems run on the thread that runs the app and can use it; other systems have no way to.
//!
//! Values whose world is gone are dropped by their thread, at its next use of such a value or at its end.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use super::World;

/// Lives as long as its world.
pub(crate) type Alive = Arc<()>;

struct Filed {
    world: u64,
    alive: Weak<()>,
    of: TypeId,
    value: Rc<dyn Any>,
}

thread_local! {
    static FILED: RefCell<Vec<Filed>> = const { RefCell::new(Vec::new()) };
}

/// Takes values out whose world is gone; the caller drops them when nothing is borrowed.
fn sweep() {
    let gone: Vec<Filed> = FILED
        .with_borrow_mut(|filed| filed.extract_if(.., |entry| entry.alive.strong_count() == 0).collect());
    drop(gone);
}

impl World {
    /// Files a resource that may be used on this thread only, and returns the one it replaces.
    ///
    /// # Panics
    /// When the one it replaces is in use.
    pub fn insert_non_send_resource<R: 'static>(&mut self, resource: R) -> Option<R> {
        let before = self.remove_non_send_resource::<R>();
        let (world, alive) = (self.id(), Arc::downgrade(&self.alive));
        let value: Rc<dyn Any> = Rc::new(RefCell::new(resource));
        FILED.with_borrow_mut(|filed| filed.push(Filed { world, alive, of: TypeId::of::<R>(), value }));
        before
    }

    /// Takes a resource back that was filed on this thread.
    ///
    /// # Panics
    /// When it is in use.
    #[track_caller]
    pub fn remove_non_send_resource<R: 'static>(&mut self) -> Option<R> {
        sweep();
        let (world, of) = (self.id(), TypeId::of::<R>());
        let filed = FILED.with_borrow_mut(|filed| {
            let at = filed.iter().position(|entry| entry.world == world && entry.of == of)?;
            Some(filed.remove(at))
        })?;
        let value: Rc<RefCell<R>> = filed.value.downcast().expect("values are filed under their type");
        let value = Rc::try_unwrap(value).unwrap_or_else(|_| in_use::<R>());
        Some(value.into_inner())
    }

    /// Whether such a resource was filed on this thread.
    pub fn contains_non_send_resource<R: 'static>(&self) -> bool {
        self.filed::<R>().is_some()
    }

    /// Uses a resource that belongs to this thread, together with the world.
    ///
    /// # Panics
    /// When none was filed on this thread, or it is in use already.
    #[track_caller]
    pub fn non_send_resource_scope<R: 'static, T>(&mut self, f: impl FnOnce(&mut Self, &mut R) -> T) -> T {
        let Some(value) = self.filed::<R>() else {
            panic!(
                "no resource `{}` on this thread: insert it with `insert_non_send_resource` on the thread that uses it",
                std::any::type_name::<R>()
            )
        };
        let mut value = value.try_borrow_mut().unwrap_or_else(|_| in_use::<R>());
        f(self, &mut value)
    }

    fn filed<R: 'static>(&self) -> Option<Rc<RefCell<R>>> {
        sweep();
        let (world, of) = (self.id(), TypeId::of::<R>());
        FILED.with_borrow(|filed| {
            let entry = filed.iter().find(|entry| entry.world == world && entry.of == of)?;
            Rc::clone(&entry.value).downcast().ok()
        })
    }
}

#[cold]
#[track_caller]
fn in_use<R>() -> ! {
    panic!("the resource `{}` is in use already: end that use first", std::any::type_name::<R>())
}
