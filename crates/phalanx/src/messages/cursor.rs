//! A reader's place in a channel, and the iterators over messages: with and without moving it.
//!
//! A cursor is the number of the next message its reader will see. It moves by one with each message
//! that is yielded, not when reading begins, so a loop that breaks early loses nothing.
//! This file does not know what is live: the channel finds the messages a number stands for.

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::{Columns, Message, MessageId, Messages};

/// How far one reader has come in the channel of `M`. The default has seen nothing.
///
/// It belongs to the channel it is used with; in that of another world its number means nothing.
pub struct Cursor<M> {
    next: u64,
    of: PhantomData<fn() -> M>,
}

impl<M> Cursor<M> {
    pub(super) fn at(next: u64) -> Self {
        Self { next, of: PhantomData }
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The number of the next message, to be set by a checkpoint.
    pub(crate) fn number_mut(&mut self) -> &mut u64 {
        &mut self.next
    }
}

impl<M: Message> Cursor<M> {
    /// The messages of a channel that this has not seen, oldest first; see [`Messages::read`].
    pub fn read<'a>(&'a mut self, messages: &'a Messages<M>) -> Unread<'a, M> {
        messages.read(self)
    }

    /// How many messages of a channel this has not seen.
    pub fn len(&self, messages: &Messages<M>) -> usize {
        messages.unread(self)
    }

    /// Whether this has seen all messages of a channel.
    pub fn is_empty(&self, messages: &Messages<M>) -> bool {
        self.len(messages) == 0
    }

    /// Skips what is unseen.
    pub fn clear(&mut self, messages: &Messages<M>) {
        *self = messages.get_cursor_current();
    }
}

impl<M> Default for Cursor<M> {
    fn default() -> Self {
        Self::at(0)
    }
}

impl<M> Clone for Cursor<M> {
    fn clone(&self) -> Self {
        Self::at(self.next)
    }
}

impl<M> fmt::Debug for Cursor<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cursor").field(&self.next).finish()
    }
}

/// Messages of a channel, oldest first: `&M`, or a struct of references with `#[message(layout = "soa")]`.
pub struct Iter<'a, M: Message>(<M::Columns as Columns>::Iter<'a>);

impl<'a, M: Message> Iter<'a, M> {
    pub(super) fn new(columns: <M::Columns as Columns>::Iter<'a>) -> Self {
        Self(columns)
    }
}

impl<'a, M: Message> Iterator for Iter<'a, M> {
    type Item = M::Ref<'a>;

    #[inline]
    fn next(&mut self) -> Option<M::Ref<'a>> {
        self.0.next().map(M::wrap_ref)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<M: Message> DoubleEndedIterator for Iter<'_, M> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(M::wrap_ref)
    }
}

impl<M: Message> ExactSizeIterator for Iter<'_, M> {}

impl<M: Message> FusedIterator for Iter<'_, M> {}

/// The messages a cursor has not seen; it moves on with each one yielded.
pub struct Unread<'a, M: Message> {
    unread: Iter<'a, M>,
    cursor: &'a mut Cursor<M>,
}

impl<'a, M: Message> Unread<'a, M> {
    /// The first of `unread` has the number `next`.
    pub(super) fn new(unread: Iter<'a, M>, next: u64, cursor: &'a mut Cursor<M>) -> Self {
        cursor.next = next;
        Self { unread, cursor }
    }
}

impl<'a, M: Message> Iterator for Unread<'a, M> {
    type Item = M::Ref<'a>;

    #[inline]
    fn next(&mut self) -> Option<M::Ref<'a>> {
        let message = self.unread.next()?;
        self.cursor.next += 1;
        Some(message)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.unread.size_hint()
    }
}

impl<M: Message> ExactSizeIterator for Unread<'_, M> {}

/// As [`Unread`], each message with its number.
pub struct UnreadWithId<'a, M: Message>(pub(crate) Unread<'a, M>);

impl<'a, M: Message> Iterator for UnreadWithId<'a, M> {
    type Item = (M::Ref<'a>, MessageId);

    fn next(&mut self) -> Option<Self::Item> {
        let id = MessageId(self.0.cursor.next);
        Some((self.0.next()?, id))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<M: Message> ExactSizeIterator for UnreadWithId<'_, M> {}

impl<M: Message> FusedIterator for Unread<'_, M> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(phalanx_derive::Message, Debug, PartialEq)]
    struct Letter(char);

    #[test]
    fn a_cursor_moves_with_each_message_yielded_and_no_further() {
        let mut cursor = Cursor::<Letter>::at(0);
        let letters = ['a', 'b', 'c'].map(Letter);
        let mut unread = Unread::new(Iter::new(letters.iter()), 10, &mut cursor);
        assert_eq!((unread.next(), unread.len()), (Some(&Letter('a')), 2));
        assert_eq!((unread.nth(1), unread.next(), unread.next()), (Some(&Letter('c')), None, None));
        assert_eq!(cursor.next(), 13);
    }

    #[test]
    fn a_cursor_is_copied_sent_and_shown_whatever_its_message_is() {
        fn sendable<T: Send + Sync>(value: T) -> T {
            value
        }
        let cursor = sendable(Cursor::<std::rc::Rc<()>>::at(4)).clone();
        assert_eq!(format!("{cursor:?}"), "Cursor(4)");
    }
}
