//! A value of any type in a box, with the id of its type beside it.
//!
//! `Box<dyn Any>` asks the value for its type by a call that is not known before; here two words are compared. For values
//! that are looked at more often than they are made, as resources are.

use std::any::{Any, TypeId};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A value of any type.
pub struct BoxedValue {
    type_id: TypeId,
    value: Box<dyn Any + Send + Sync>,
}

impl BoxedValue {
    /// A value in a box.
    pub fn new<T: Any + Send + Sync>(value: T) -> Self {
        Self { type_id: TypeId::of::<T>(), value: Box::new(value) }
    }

    /// The value, if it is of this type.
    #[inline]
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        if self.type_id != TypeId::of::<T>() {
            return None;
        }
        let value: *const (dyn Any + Send + Sync) = &*self.value;
        // SAFETY: the id is that of the value's type (I17), so this is a `T`; it is borrowed as the box is.
        Some(unsafe { &*value.cast::<T>() })
    }

    /// The value for writing, if it is of this type.
    #[inline]
    pub fn downcast_mut<T: Any>(&mut self) -> Option<&mut T> {
        if self.type_id != TypeId::of::<T>() {
            return None;
        }
        let value: *mut (dyn Any + Send + Sync) = &mut *self.value;
        // SAFETY: the id is that of the value's type (I17), so this is a `T`; it is borrowed exclusively, as the box is.
        Some(unsafe { &mut *value.cast::<T>() })
    }

    /// The box alone.
    pub fn into_box(self) -> Box<dyn Any + Send + Sync> {
        self.value
    }
}

impl From<Box<dyn Any + Send + Sync>> for BoxedValue {
    fn from(value: Box<dyn Any + Send + Sync>) -> Self {
        // Of the value, not of the box, which is `Any` as well.
        Self { type_id: (*value).type_id(), value }
    }
}

impl Deref for BoxedValue {
    type Target = dyn Any + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.value
    }
}

impl DerefMut for BoxedValue {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.value
    }
}

impl fmt::Debug for BoxedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxedValue").field("type_id", &self.type_id).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_own_type_alone() {
        let mut value = BoxedValue::new(7_u32);
        assert_eq!(value.downcast_ref::<u32>(), Some(&7));
        assert!(value.downcast_ref::<i32>().is_none() && value.downcast_mut::<[u8; 4]>().is_none());
        *value.downcast_mut::<u32>().expect("it is one") = 8;
        assert!(value.is::<u32>());
        assert_eq!(value.into_box().downcast_ref::<u32>(), Some(&8));
    }

    #[test]
    fn a_box_is_known_by_what_is_in_it() {
        let boxed: Box<dyn Any + Send + Sync> = Box::new(String::from("a"));
        let value = BoxedValue::from(boxed);
        assert_eq!(value.downcast_ref::<String>().map(String::as_str), Some("a"));
        assert!(value.downcast_ref::<Box<dyn Any + Send + Sync>>().is_none());
    }

    #[test]
    fn a_value_of_no_size_is_one() {
        struct Unit;
        let mut value = BoxedValue::new(Unit);
        assert!(value.downcast_ref::<Unit>().is_some() && value.downcast_mut::<()>().is_none());
    }
}
