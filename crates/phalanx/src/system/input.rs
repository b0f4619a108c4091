//! What a system is given: [`In`], [`InRef`], [`InMut`], tuples and options of them.
//!
//! An input is the first parameter of a function. A pipe fills it with what the system before returned, and
//! `run_system_once_with` with what the caller brings: a value for `In<T>`, a reference for the other two. It is no
//! system parameter: it takes no flag, has no state and cannot stand elsewhere than first.

use std::ops::{Deref, DerefMut};

use super::traits::System;

/// Something that a system can be given when it runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a system",
    label = "not an input",
    note = "inputs are `In<T>`, `InRef<T>`, `InMut<T>`, tuples and options of them; the input is the first parameter"
)]
pub trait SystemInput: Sized {
    /// What the function gets.
    type Param<'i>: SystemInput;
    /// What the caller gives.
    type Inner<'i>;

    /// Makes the one from the other.
    fn wrap(inner: Self::Inner<'_>) -> Self::Param<'_>;
}

/// What the caller of a system gives.
pub type SystemIn<'i, S> = <<S as System>::In as SystemInput>::Inner<'i>;

/// A value that a system is given.
///
/// ```
/// use phalanx::prelude::*;
///
/// fn half(In(n): In<u32>) -> u32 {
///     n / 2
/// }
/// fn print(In(n): In<u32>) {
///     println!("{n}");
/// }
///
/// let mut world = World::new();
/// assert_eq!(world.run_system_once_with(half, 6).unwrap(), 3);
/// world.run_system_once_with(half.pipe(print), 8).unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct In<T>(pub T);

/// A reference that a system is given.
///
/// ```
/// use phalanx::prelude::*;
///
/// fn length(InRef(text): InRef<str>) -> usize {
///     text.len()
/// }
/// assert_eq!(World::new().run_system_once_with(length, "four").unwrap(), 4);
/// ```
#[derive(Debug)]
pub struct InRef<'i, T: ?Sized>(pub &'i T);

/// An exclusive reference that a system is given.
///
/// ```
/// use phalanx::prelude::*;
///
/// fn double(InMut(n): InMut<u32>) {
///     *n *= 2;
/// }
/// let mut n = 4;
/// World::new().run_system_once_with(double, &mut n).unwrap();
/// assert_eq!(n, 8);
/// ```
#[derive(Debug)]
pub struct InMut<'i, T: ?Sized>(pub &'i mut T);

impl<T: 'static> SystemInput for In<T> {
    type Param<'i> = Self;
    type Inner<'i> = T;

    #[inline]
    fn wrap(inner: Self::Inner<'_>) -> Self::Param<'_> {
        In(inner)
    }
}

impl<T: ?Sized + 'static> SystemInput for InRef<'_, T> {
    type Param<'i> = InRef<'i, T>;
    type Inner<'i> = &'i T;

    #[inline]
    fn wrap(inner: Self::Inner<'_>) -> Self::Param<'_> {
        InRef(inner)
    }
}

impl<T: ?Sized + 'static> SystemInput for InMut<'_, T> {
    type Param<'i> = InMut<'i, T>;
    type Inner<'i> = &'i mut T;

    #[inline]
    fn wrap(inner: Self::Inner<'_>) -> Self::Param<'_> {
        InMut(inner)
    }
}

impl<I: SystemInput> SystemInput for Option<I> {
    type Param<'i> = Option<I::Param<'i>>;
    type Inner<'i> = Option<I::Inner<'i>>;

    #[inline]
    fn wrap(inner: Self::Inner<'_>) -> Self::Param<'_> {
        inner.map(I::wrap)
    }
}

macro_rules! input_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(clippy::unused_unit)]
        impl<$($name: SystemInput),*> SystemInput for ($($name,)*) {
            type Param<'i> = ($($name::Param<'i>,)*);
            type Inner<'i> = ($($name::Inner<'i>,)*);

            #[inline]
            #[allow(unused_variables, clippy::semicolon_if_nothing_returned)]
            fn wrap(inner: Self::Inner<'_>) -> Self::Param<'_> {
                ($($name::wrap(inner.$at),)*)
            }
        }
    };
}
phalanx_store::for_each_tuple!(input_tuple);

impl<T> Deref for In<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for In<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: ?Sized> Deref for InRef<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: ?Sized> Deref for InMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: ?Sized> DerefMut for InMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0
    }
}
