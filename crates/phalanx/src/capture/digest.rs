//! Digests: a number that is equal for equal values, whatever memory they lie in.
//!
//! Values go in as numbers, never as memory, so padding and capacity cannot enter, and byte order does not matter.
//! Floats count by their bits: `-0.0` and `0.0` differ. All NaNs count as one, since which one an operation yields is
//! up to the machine. Strings and lists carry their length, so that `["a", "bc"]` differs from `["ab", "c"]`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::{NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64};
use std::time::Duration;

use phalanx_store::{Entity, Tick};

use super::Shown;

/// A number that is equal for equal values; different values almost never share one.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Component, Clone, Hash)]
/// struct Health(u32);
///
/// let (mut a, mut b) = (World::new(), World::new());
/// a.spawn(Health(3));
/// b.spawn(Health(3));
/// assert_eq!(a.digest(), b.digest());
/// b.spawn(Health(4));
/// assert_ne!(a.digest(), b.digest());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u64);

impl Digest {
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The digest of one value.
    pub fn of<T: Digestible + ?Sized>(value: &T) -> Self {
        let mut hasher = DigestHasher::new();
        value.digest(&mut hasher);
        hasher.finish()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Takes values in and yields their [`Digest`].
#[derive(Clone, Debug)]
pub struct DigestHasher(u64);

const SEED: u64 = 0x243f_6a88_85a3_08d3;
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl DigestHasher {
    /// A hasher that has taken nothing in.
    #[expect(clippy::new_without_default, reason = "a hasher is begun on purpose")]
    pub const fn new() -> Self {
        Self(SEED)
    }

    /// Takes in a number.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both halves of the product are used")]
    pub fn number(&mut self, value: u64) {
        // Both halves of a wide product: each bit of the state and of the value reaches every bit of the next state.
        let wide = u128::from(self.0 ^ value) * u128::from(FACTOR);
        self.0 = (wide as u64) ^ ((wide >> 64) as u64).rotate_left(23) ^ SEED;
    }

    /// Takes in bytes, with their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|&word| self.number(u64::from_le_bytes(word)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.number(u64::from_le_bytes(last));
        }
    }

    /// Takes in another digest.
    pub fn digest(&mut self, digest: Digest) {
        self.number(digest.0);
    }

    /// Takes in what `Debug` writes.
    pub fn debug<T: fmt::Debug + ?Sized>(&mut self, value: &T) {
        self.bytes(format!("{value:?}").as_bytes());
    }

    /// Takes in what `Hash` gives.
    #[inline]
    pub fn hash<T: Hash + ?Sized>(&mut self, value: &T) {
        value.hash(&mut ViaHash(self));
    }

    /// The digest of all that was taken in.
    pub fn finish(&self) -> Digest {
        let mut last = self.clone();
        last.number(FACTOR);
        Digest(last.0 ^ (last.0 >> 29))
    }
}

/// A digest as `Hash` sees it: numbers count by their value, not by their bytes.
struct ViaHash<'a>(&'a mut DigestHasher);

impl Hasher for ViaHash<'_> {
    fn finish(&self) -> u64 {
        self.0.finish().0
    }
    fn write(&mut self, bytes: &[u8]) {
        self.0.bytes(bytes);
    }
    fn write_u8(&mut self, value: u8) {
        self.0.number(value.into());
    }
    fn write_u16(&mut self, value: u16) {
        self.0.number(value.into());
    }
    fn write_u32(&mut self, value: u32) {
        self.0.number(value.into());
    }
    fn write_u64(&mut self, value: u64) {
        self.0.number(value);
    }
    fn write_u128(&mut self, value: u128) {
        value.digest(self.0);
    }
    fn write_usize(&mut self, value: usize) {
        self.0.number(value as u64);
    }
}

/// A type whose values have a [`Digest`].
///
/// Numbers, strings, entities, and what the standard library builds of them, have one; so has what implements it by
/// `#[derive(Digestible)]`. Fields of components, resources and messages need it, or `Hash`.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::capture::{Digest, Digestible};
///
/// #[derive(Digestible)]
/// struct Stats { strength: f32, tags: Vec<String> }
///
/// let stats = |strength, capacity| {
///     let mut tags = Vec::with_capacity(capacity);
///     tags.push("orc".to_owned());
///     Stats { strength, tags }
/// };
/// assert_eq!(Digest::of(&stats(1.0, 1)), Digest::of(&stats(1.0, 50)));
/// assert_ne!(Digest::of(&stats(0.0, 1)), Digest::of(&stats(-0.0, 1)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no digest",
    label = "cannot be hashed as a part of a world",
    note = "add `#[derive(Digestible)]` to `{Self}`, or `#[digest(hash)]`, `#[digest(debug)]` or `#[digest(skip)]` to the field"
)]
pub trait Digestible {
    /// Takes the value in.
    fn digest(&self, hasher: &mut DigestHasher);
}

pub(super) fn by_trait<T: Digestible>(value: &T, hasher: &mut DigestHasher) -> bool {
    value.digest(hasher);
    true
}

pub(super) fn show_by_trait<T: Digestible>(value: &T, fields: &mut Vec<Shown>) {
    fields.push(Shown { digest: Some(Digest::of(value)), ..Shown::unknown::<T>("") });
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Digestible for $type {
            #[inline]
            fn digest(&self, hasher: &mut DigestHasher) {
                hasher.number(u64::from(*self));
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64 bool);

macro_rules! signed {
    ($($type:ty)*) => {$(
        impl Digestible for $type {
            #[inline]
            fn digest(&self, hasher: &mut DigestHasher) {
                hasher.number(i64::from(*self).cast_unsigned());
            }
        }
    )*};
}
signed!(i8 i16 i32 i64);

macro_rules! through {
    ($($type:ty, $value:ident => $as:expr;)*) => {$(
        impl Digestible for $type {
            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "halves are cut out on purpose")]
            fn digest(&self, hasher: &mut DigestHasher) {
                let $value = self;
                Digestible::digest(&$as, hasher);
            }
        }
    )*};
}
through! {
    usize, value => *value as u64;
    isize, value => *value as i64;
    char, value => u32::from(*value);
    u128, value => [(*value >> 64) as u64, *value as u64];
    i128, value => value.cast_unsigned();
    Entity, value => value.to_bits();
    Tick, value => value.get();
    Duration, value => (value.as_secs(), value.subsec_nanos());
    NonZeroU8, value => value.get();
    NonZeroU16, value => value.get();
    NonZeroU32, value => value.get();
    NonZeroU64, value => value.get();
    String, value => **value;
    Digest, value => value.0;
}

impl Digestible for f32 {
    #[inline]
    fn digest(&self, hasher: &mut DigestHasher) {
        let bits = if self.is_nan() { Self::NAN.to_bits() & 0x7fff_ffff } else { self.to_bits() };
        hasher.number(bits.into());
    }
}

impl Digestible for f64 {
    #[inline]
    fn digest(&self, hasher: &mut DigestHasher) {
        let bits = if self.is_nan() { Self::NAN.to_bits() & (u64::MAX >> 1) } else { self.to_bits() };
        hasher.number(bits);
    }
}

impl Digestible for str {
    fn digest(&self, hasher: &mut DigestHasher) {
        hasher.bytes(self.as_bytes());
    }
}

impl Digestible for () {
    #[inline]
    fn digest(&self, _: &mut DigestHasher) {}
}

impl<T: ?Sized> Digestible for std::marker::PhantomData<T> {
    #[inline]
    fn digest(&self, _: &mut DigestHasher) {}
}

impl<T: Digestible + ?Sized> Digestible for &T {
    #[inline]
    fn digest(&self, hasher: &mut DigestHasher) {
        (**self).digest(hasher);
    }
}

impl<T: Digestible> Digestible for Option<T> {
    #[inline]
    fn digest(&self, hasher: &mut DigestHasher) {
        hasher.number(u64::from(self.is_some()));
        if let Some(value) = self {
            value.digest(hasher);
        }
    }
}

impl<T: Digestible> Digestible for [T] {
    fn digest(&self, hasher: &mut DigestHasher) {
        list(self.len(), self, hasher);
    }
}

impl<T: Digestible, const N: usize> Digestible for [T; N] {
    #[inline]
    fn digest(&self, hasher: &mut DigestHasher) {
        self.iter().for_each(|value| value.digest(hasher));
    }
}

fn list<T: Digestible>(len: usize, values: impl IntoIterator<Item = T>, hasher: &mut DigestHasher) {
    hasher.number(len as u64);
    values.into_iter().for_each(|value| value.digest(hasher));
}

macro_rules! lists {
    ($($type:ident<$($param:ident),+>)*) => {$(
        impl<$($param: Digestible),+> Digestible for $type<$($param),+> {
            fn digest(&self, hasher: &mut DigestHasher) {
                list(self.len(), self, hasher);
            }
        }
    )*};
}
lists!(Vec<T> VecDeque<T> BTreeSet<T> BTreeMap<K, V>);

macro_rules! boxes {
    ($($type:ty)*) => {$(
        impl<T: Digestible + ?Sized> Digestible for $type {
            #[inline]
            fn digest(&self, hasher: &mut DigestHasher) {
                (**self).digest(hasher);
            }
        }
    )*};
}
boxes!(Box<T> std::sync::Arc<T>);

macro_rules! tuples {
    () => {};
    ($(($T:ident $n:tt))+) => {
        impl<$($T: Digestible),+> Digestible for ($($T,)+) {
            #[inline]
            fn digest(&self, hasher: &mut DigestHasher) {
                $(self.$n.digest(hasher);)+
            }
        }
    };
}
phalanx_store::for_each_tuple!(tuples);
