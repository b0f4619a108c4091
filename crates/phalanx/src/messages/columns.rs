//! The memory of a channel: one `Vec` of whole messages, or one per field.
//!
//! ```text
//!   #[derive(Message)]                        Vec<Hit>                [hit, hit, hit]
//!   #[message(layout = "soa")]                (Vec<Entity>,           [e, e, e]
//!   struct Hit { who: Entity, by: f32 }        Vec<f32>)              [f, f, f]
//! ```
//!
//! More than twelve fields are tuples of tuples. The vectors of one channel are equally long before and
//! after each function here, whatever panics: functions that run user code (`drain_front`, and what drops it) first
//! take the values out of all vectors. This file does not know what the values mean; [`Message`] does.
//!
//! [`Message`]: super::Message

use std::iter::FusedIterator;
use std::slice;
use std::vec;

use crate::capture::{CanCopy, Capture, Copying, DigestHasher, Shown};

/// Equally long vectors. Implemented for `Vec<T>` and for tuples of such, not to be implemented elsewhere.
pub trait Columns: Default + Send + Sync + 'static {
    /// One value per column: a message, taken apart.
    type Values;
    /// One reference per column.
    type Refs<'a>;
    /// One slice per column.
    type Slices<'a>;
    /// The references of one message after the other.
    type Iter<'a>: DoubleEndedIterator<Item = Self::Refs<'a>> + ExactSizeIterator;
    /// The values of one message after the other.
    type Drain<'a>: DoubleEndedIterator<Item = Self::Values> + ExactSizeIterator;

    /// What checkpoints and digests can do with each column.
    type Captures: Default + Send + Sync;

    /// Copies of all messages; `None` when a column cannot be copied.
    fn duplicate(&self, captures: &Self::Captures) -> Option<Self>;
    /// Whether all columns can be copied.
    fn can_copy(captures: &Self::Captures) -> CanCopy;
    /// The columns' digest; false when one has none.
    fn digest(&self, captures: &Self::Captures, hasher: &mut DigestHasher) -> bool;
    /// Whether digests leave all columns out.
    fn is_digest_skipped(captures: &Self::Captures) -> bool;
    /// The fields of the message at `index`.
    fn show(&self, captures: &Self::Captures, index: usize, fields: &mut Vec<Shown>);
    /// How many messages there are.
    fn len(&self) -> usize;
    /// Whether there are no messages.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Appends a message.
    fn push(&mut self, values: Self::Values);
    /// Appends messages in order.
    fn push_all(&mut self, values: impl Iterator<Item = Self::Values>);
    /// The message at `index`, if there is one.
    fn get(&self, index: usize) -> Option<Self::Refs<'_>>;
    /// The messages from `from` on, column by column.
    fn slices_from(&self, from: usize) -> Self::Slices<'_>;
    /// The messages from `from` on, one by one.
    fn iter_from(&self, from: usize) -> Self::Iter<'_>;
    /// Takes out the first `count` messages. They are gone from all columns before the first is yielded.
    fn drain_front(&mut self, count: usize) -> Self::Drain<'_>;
}

impl<T: Send + Sync + 'static> Columns for Vec<T> {
    type Values = T;
    type Refs<'a> = &'a T;
    type Slices<'a> = &'a [T];
    type Iter<'a> = slice::Iter<'a, T>;
    type Drain<'a> = vec::Drain<'a, T>;
    type Captures = Capture<T>;

    fn duplicate(&self, capture: &Capture<T>) -> Option<Self> {
        match &capture.copy {
            Copying::By(copy) => Some(copy.many(self)),
            Copying::Skip | Copying::Impossible => None,
        }
    }
    fn can_copy(capture: &Capture<T>) -> CanCopy {
        capture.copy.kind()
    }
    fn digest(&self, capture: &Capture<T>, hasher: &mut DigestHasher) -> bool {
        self.iter().all(|value| capture.digest(value, hasher))
    }
    fn is_digest_skipped(capture: &Capture<T>) -> bool {
        capture.digest_skipped
    }
    fn show(&self, capture: &Capture<T>, index: usize, fields: &mut Vec<Shown>) {
        if let Some(value) = self.as_slice().get(index) {
            fields.extend(capture.show(value));
        }
    }
    fn len(&self) -> usize {
        self.len()
    }
    #[inline]
    fn push(&mut self, value: T) {
        self.push(value);
    }
    fn push_all(&mut self, values: impl Iterator<Item = T>) {
        self.extend(values);
    }
    fn get(&self, index: usize) -> Option<&T> {
        self.as_slice().get(index)
    }
    fn slices_from(&self, from: usize) -> &[T] {
        &self[from..]
    }
    fn iter_from(&self, from: usize) -> slice::Iter<'_, T> {
        self[from..].iter()
    }
    fn drain_front(&mut self, count: usize) -> vec::Drain<'_, T> {
        self.drain(..count)
    }
}

/// Equally long iterators, side by side.
#[derive(Debug)]
pub struct Abreast<T>(T);

macro_rules! impl_columns {
    () => {};
    ($(($T:ident $n:tt))+) => {
        impl<$($T: Columns),+> Columns for ($($T,)+) {
            type Values = ($($T::Values,)+);
            type Refs<'a> = ($($T::Refs<'a>,)+);
            type Slices<'a> = ($($T::Slices<'a>,)+);
            type Iter<'a> = Abreast<($($T::Iter<'a>,)+)>;
            type Drain<'a> = Abreast<($($T::Drain<'a>,)+)>;
            type Captures = ($($T::Captures,)+);

            fn duplicate(&self, captures: &Self::Captures) -> Option<Self> {
                Some(($(self.$n.duplicate(&captures.$n)?,)+))
            }
            fn can_copy(captures: &Self::Captures) -> CanCopy {
                let all = [$($T::can_copy(&captures.$n)),+];
                let one = |kind| all.iter().find(|known| **known == kind).copied();
                one(CanCopy::No).or(one(CanCopy::Skipped)).unwrap_or(CanCopy::Yes)
            }
            fn digest(&self, captures: &Self::Captures, hasher: &mut DigestHasher) -> bool {
                true $(&& self.$n.digest(&captures.$n, hasher))+
            }
            fn is_digest_skipped(captures: &Self::Captures) -> bool {
                true $(&& $T::is_digest_skipped(&captures.$n))+
            }
            fn show(&self, captures: &Self::Captures, index: usize, fields: &mut Vec<Shown>) {
                $(self.$n.show(&captures.$n, index, fields);)+
            }

            fn len(&self) -> usize {
                self.0.len()
            }
            #[inline]
            fn push(&mut self, values: Self::Values) {
                $(self.$n.push(values.$n);)+
            }
            fn push_all(&mut self, values: impl Iterator<Item = Self::Values>) {
                values.for_each(|values| self.push(values));
            }
            fn get(&self, index: usize) -> Option<Self::Refs<'_>> {
                Some(($(self.$n.get(index)?,)+))
            }
            fn slices_from(&self, from: usize) -> Self::Slices<'_> {
                ($(self.$n.slices_from(from),)+)
            }
            fn iter_from(&self, from: usize) -> Self::Iter<'_> {
                Abreast(($(self.$n.iter_from(from),)+))
            }
            fn drain_front(&mut self, count: usize) -> Self::Drain<'_> {
                Abreast(($(self.$n.drain_front(count),)+))
            }
        }

        impl<$($T: Iterator),+> Iterator for Abreast<($($T,)+)> {
            type Item = ($($T::Item,)+);

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                Some(($(self.0.$n.next()?,)+))
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.0.0.size_hint()
            }
        }

        impl<$($T: DoubleEndedIterator),+> DoubleEndedIterator for Abreast<($($T,)+)> {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                Some(($(self.0.$n.next_back()?,)+))
            }
        }

        impl<$($T: ExactSizeIterator),+> ExactSizeIterator for Abreast<($($T,)+)> {}

        impl<$($T: FusedIterator),+> FusedIterator for Abreast<($($T,)+)> {}
    };
}
phalanx_store::for_each_tuple!(impl_columns);

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    type Nested = ((Vec<u8>, Vec<String>), Vec<()>);

    fn filled() -> Nested {
        let mut columns = Nested::default();
        columns.push(((1, "a".into()), ()));
        columns.push_all([((2, "b".into()), ()), ((3, "c".into()), ())].into_iter());
        columns
    }

    #[test]
    fn nested_columns_keep_messages_in_order() {
        let columns = filled();
        assert_eq!((columns.len(), columns.is_empty()), (3, false));
        assert_eq!(columns.get(1), Some(((&2, &"b".to_string()), &())));
        assert_eq!(columns.get(3), None);
        let ((numbers, names), units) = columns.slices_from(1);
        assert_eq!((numbers, names, units.len()), (&[2, 3][..], &["b".to_string(), "c".into()][..], 2));
        assert!(columns.iter_from(0).rev().map(|((n, _), ())| *n).eq([3, 2, 1]));
        assert_eq!(columns.iter_from(1).len(), 2);
    }

    #[test]
    fn draining_a_part_leaves_the_rest_equally_long() {
        let mut columns = filled();
        assert_eq!(columns.drain_front(2).next(), Some(((1, "a".into()), ())));
        assert_eq!((columns.len(), columns.0.0.len(), columns.0.1.len(), columns.1.len()), (1, 1, 1, 1));
        assert_eq!(columns.get(0), Some(((&3, &"c".to_string()), &())));
    }

    #[test]
    fn columns_stay_equally_long_when_a_value_panics_in_its_drop() {
        struct Panics(bool);
        impl Drop for Panics {
            fn drop(&mut self) {
                assert!(!self.0, "told to panic");
            }
        }
        let mut columns = <(Vec<Panics>, Vec<String>)>::default();
        columns.push_all([true, false, false].map(|panics| (Panics(panics), "text".into())).into_iter());
        assert!(catch_unwind(AssertUnwindSafe(|| drop(columns.drain_front(2)))).is_err());
        assert_eq!((columns.0.len(), columns.1.len()), (1, 1));
    }
}
