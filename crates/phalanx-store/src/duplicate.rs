//! How values of a column are copied: as bytes, or by a function.
//!
//! A [`Duplicate`] is the proof that values of `T` may be copied at all: as bytes only where `T` is `Copy`, so that
//! copying a block of them needs no further promise. Functions are the user's code, and may panic.

#![forbid(unsafe_code)]

use std::fmt;

/// How values of `T` are copied.
pub struct Duplicate<T> {
    one: fn(&T) -> T,
    /// Adds copies of all values; present where `T` is `Copy`.
    many: Option<fn(&mut Vec<T>, &[T])>,
}

impl<T: Copy> Duplicate<T> {
    /// As bytes.
    pub const fn bytes() -> Self {
        Self { one: copied::<T>, many: Some(Vec::extend_from_slice) }
    }
}

/// Not a closure, for which a second function would be compiled that calls it.
fn copied<T: Copy>(value: &T) -> T {
    *value
}

impl<T> Duplicate<T> {
    /// By a function, mostly `Clone::clone`.
    pub const fn with(copy: fn(&T) -> T) -> Self {
        Self { one: copy, many: None }
    }

    /// Whether values are copied as bytes: then none of them has drop glue, and copying runs no code of the user.
    pub const fn is_bytes(&self) -> bool {
        self.many.is_some()
    }

    /// A copy of one value.
    pub fn one(&self, value: &T) -> T {
        (self.one)(value)
    }

    /// Copies of all values, in their order.
    pub fn many(&self, values: &[T]) -> Vec<T> {
        let mut copies = Vec::new();
        self.append(&mut copies, values);
        copies
    }

    /// Adds copies of all values, in their order.
    // Not inlined: compiled once per component of a program.
    #[inline(never)]
    pub(crate) fn append(&self, copies: &mut Vec<T>, values: &[T]) {
        match self.many {
            Some(many) => many(copies, values),
            None => {
                copies.reserve_exact(values.len());
                for value in values {
                    copies.push((self.one)(value));
                }
            }
        }
    }
}

impl<T> Clone for Duplicate<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Duplicate<T> {}

impl<T> fmt::Debug for Duplicate<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_bytes() { "as bytes" } else { "by a function" })
    }
}
