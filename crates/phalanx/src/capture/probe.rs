//! Which traits a type has, asked by derived code where the type is known.
//!
//! The compiler looks methods up on `&&&Probe<T>` before it looks on `&&Probe<T>` and so on. Each trait here has one
//! method of the same name on another number of references, under another bound; the first whose bound holds is the
//! one that is called. In generic code only the bounds that are written there count.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use phalanx_store::Duplicate;

use super::{Copying, DigestHasher, Digestible, Shown};

/// Stands for a type that is asked about.
pub struct Probe<T>(PhantomData<fn() -> T>);

impl<T> Probe<T> {
    /// The probe of a value's type.
    #[inline(always)]
    pub fn of(_: &T) -> Self {
        Self(PhantomData)
    }

    /// The probe of a type.
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "a probe stands for a type, not for a value")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// `Copy`: as bytes.
pub trait CopyBytes<T> {
    /// How values are copied.
    fn __copying(&self) -> Copying<T>;
}
impl<T: Copy> CopyBytes<T> for &&Probe<T> {
    #[inline]
    fn __copying(&self) -> Copying<T> {
        Copying::By(Duplicate::bytes())
    }
}

/// `Clone`.
pub trait CopyClone<T> {
    /// How values are copied.
    fn __copying(&self) -> Copying<T>;
}
impl<T: Clone> CopyClone<T> for &Probe<T> {
    #[inline]
    fn __copying(&self) -> Copying<T> {
        Copying::By(Duplicate::with(T::clone))
    }
}

/// Neither.
pub trait CopyNot<T> {
    /// How values are copied.
    fn __copying(&self) -> Copying<T>;
}
impl<T> CopyNot<T> for Probe<T> {
    #[inline]
    fn __copying(&self) -> Copying<T> {
        Copying::Impossible
    }
}

/// A copy of a field that is `Copy`.
pub trait FieldCopied<T> {
    /// The copy.
    fn __copied(&self, value: &T) -> Option<T>;
    /// Whether there is one.
    fn __is_copy(&self) -> bool {
        true
    }
}
impl<T: Copy> FieldCopied<T> for &Probe<T> {
    #[inline(always)]
    fn __copied(&self, value: &T) -> Option<T> {
        Some(*value)
    }
}

/// No copy of a field that is not.
pub trait FieldKept<T> {
    /// The copy.
    fn __copied(&self, value: &T) -> Option<T>;
    /// Whether there is one.
    fn __is_copy(&self) -> bool {
        false
    }
}
impl<T> FieldKept<T> for Probe<T> {
    #[inline(always)]
    fn __copied(&self, _: &T) -> Option<T> {
        None
    }
}

/// [`Digestible`].
pub trait DigestOwn<T> {
    /// Takes the value in, if it can be.
    fn __digest(&self, value: &T, hasher: &mut DigestHasher) -> bool;
}
impl<T: Digestible> DigestOwn<T> for &&Probe<T> {
    #[inline(always)]
    fn __digest(&self, value: &T, hasher: &mut DigestHasher) -> bool {
        value.digest(hasher);
        true
    }
}

/// `Hash`.
pub trait DigestHash<T> {
    /// Takes the value in, if it can be.
    fn __digest(&self, value: &T, hasher: &mut DigestHasher) -> bool;
}
impl<T: Hash> DigestHash<T> for &Probe<T> {
    #[inline(always)]
    fn __digest(&self, value: &T, hasher: &mut DigestHasher) -> bool {
        hasher.hash(value);
        true
    }
}

/// Neither.
pub trait DigestNot<T> {
    /// Takes the value in, if it can be.
    fn __digest(&self, value: &T, hasher: &mut DigestHasher) -> bool;
}
impl<T> DigestNot<T> for Probe<T> {
    #[inline(always)]
    fn __digest(&self, _: &T, _: &mut DigestHasher) -> bool {
        false
    }
}

/// `Debug`.
pub trait ShowDebug<T> {
    /// The value as text.
    fn __text(&self, value: &T) -> Option<String>;
}
impl<T: Debug> ShowDebug<T> for &Probe<T> {
    fn __text(&self, value: &T) -> Option<String> {
        Some(format!("{value:?}"))
    }
}

/// Not `Debug`.
pub trait ShowNot<T> {
    /// The value as text.
    fn __text(&self, value: &T) -> Option<String>;
}
impl<T> ShowNot<T> for Probe<T> {
    fn __text(&self, _: &T) -> Option<String> {
        None
    }
}

/// How a plain type is copied that is neither `Copy` nor `Clone`: field by field, if all fields are `Copy` and the type
/// has no `Drop`.
pub fn by_fields<T>(known: Copying<T>, all_copy: bool, copy: fn(&T) -> T) -> Copying<T> {
    match known {
        Copying::Impossible if all_copy && !std::mem::needs_drop::<T>() => Copying::By(Duplicate::with(copy)),
        known => known,
    }
}

/// The copy of a field, where all fields are known to have one.
#[inline(always)]
pub fn copied<T>(copy: Option<T>) -> T {
    copy.expect("fields are copied one by one only where all of them are `Copy`")
}

/// One field, shown: with its digest, if the value could be taken in.
pub fn shown<T>(
    field: &'static str,
    _: &T,
    text: Option<String>,
    (has_digest, hasher): (bool, DigestHasher),
) -> Shown {
    with_digest(Shown { text, ..Shown::unknown::<T>(field) }, has_digest, &hasher)
}

/// One field that is a number, a `bool` or a `char`, shown.
pub fn show_plain<T: Digestible + Debug>(fields: &mut Vec<Shown>, field: &'static str, value: &T) {
    let mut hasher = DigestHasher::new();
    value.digest(&mut hasher);
    let shown = Shown { text: Some(format!("{value:?}")), ..Shown::unknown::<T>(field) };
    fields.push(with_digest(shown, true, &hasher));
}

fn with_digest(shown: Shown, has_digest: bool, hasher: &DigestHasher) -> Shown {
    Shown { digest: has_digest.then(|| hasher.finish()), ..shown }
}
