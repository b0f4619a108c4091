//! Resources of one thread by their ids, without naming their types: for tools and generic code.
//!
//! Such values are filed by their type, so an id is the type with its name: it means the same in every world and on
//! every thread. Values are lent as [`Any`], to be downcast.

use std::any::{Any, TypeId};
use std::marker::PhantomData;

use super::{NonSend, NonSendMut, in_use_named, sweep, take};
use crate::world::{InsertByIdError, World};

/// The id of a type of resources that belong to one thread.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::world::NonSendId;
/// use std::rc::Rc;
///
/// struct Window(Rc<str>);
///
/// let mut world = World::new();
/// let id = NonSendId::of::<Window>();
/// world.insert_non_send_by_id(id, Box::new(Window("Phalanx".into()))).unwrap();
/// assert_eq!(&*world.non_send::<Window>().0, "Phalanx");
/// assert!(world.get_non_send_by_id(id).is_some_and(|window| window.is::<Window>()));
/// assert!(world.remove_non_send_by_id(id));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NonSendId {
    of: TypeId,
    name: &'static str,
}

impl NonSendId {
    /// The id of a type.
    pub fn of<R: 'static>() -> Self {
        Self { of: TypeId::of::<R>(), name: std::any::type_name::<R>() }
    }

    /// The name of the type.
    pub fn name(self) -> &'static str {
        self.name
    }
}

impl World {
    /// Whether a resource with this id was filed on this thread.
    pub fn contains_non_send_by_id(&self, id: NonSendId) -> bool {
        sweep();
        self.place(id.of).is_some()
    }

    /// Files a resource that may be used on this thread only, in the place of the one that is there.
    ///
    /// # Errors
    /// When the value has another type than the id.
    ///
    /// # Panics
    /// When the one it replaces is in use.
    #[track_caller]
    pub fn insert_non_send_by_id(
        &mut self,
        id: NonSendId,
        value: Box<dyn Any>,
    ) -> Result<(), InsertByIdError> {
        if (*value).type_id() != id.of {
            return Err(self.wrong_type(id.name, (*value).type_id()));
        }
        let before = self.take_non_send_by_id(id);
        self.file(id.of, value.into());
        drop(before);
        Ok(())
    }

    /// Drops the resource with this id that was filed on this thread. False when there is none.
    ///
    /// # Panics
    /// When it is in use.
    #[track_caller]
    pub fn remove_non_send_by_id(&mut self, id: NonSendId) -> bool {
        self.take_non_send_by_id(id).is_some()
    }

    #[track_caller]
    fn take_non_send_by_id(&mut self, id: NonSendId) -> Option<std::rc::Rc<dyn Any>> {
        sweep();
        let place = self.place(id.of)?;
        let Some(value) = take(&place) else { in_use_named(id.name) };
        self.forget(|of| of == id.of);
        Some(value)
    }

    /// Reads the resource with this id, if one was filed on this thread.
    ///
    /// # Panics
    /// When it is lent for writing.
    #[track_caller]
    pub fn get_non_send_by_id(&self, id: NonSendId) -> Option<NonSend<'_, dyn Any>> {
        sweep();
        let place = self.place(id.of)?;
        let Some(value) = place.borrow().clone() else { in_use_named(id.name) };
        Some(NonSend { value, world: PhantomData })
    }

    /// Writes the resource with this id, if one was filed on this thread.
    ///
    /// # Panics
    /// When it is in use.
    #[track_caller]
    pub fn get_non_send_mut_by_id(&mut self, id: NonSendId) -> Option<NonSendMut<'_, dyn Any>> {
        sweep();
        let place = self.place(id.of)?;
        let Some(value) = take(&place) else { in_use_named(id.name) };
        Some(NonSendMut { value: Some(value), place, erase: |value| value, world: PhantomData })
    }
}
