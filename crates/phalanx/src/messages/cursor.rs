//! A reader's place in a channel, and the iterator that moves it.
//!
//! A cursor is the number of the next message its reader will see. It moves by one with each message
//! that is yielded, not when reading begins, so a loop that breaks early loses nothing.
//! This file does not know what is live: the channel finds the messages a number stands for.

use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::slice;

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

/// The messages a cursor has not seen; it moves on with each one yielded.
#[derive(Debug)]
pub struct Unread<'a, M> {
    unread: slice::Iter<'a, M>,
    cursor: &'a mut Cursor<M>,
}

impl<'a, M> Unread<'a, M> {
    /// The first of `unread` has the number `next`.
    pub(super) fn new(unread: &'a [M], next: u64, cursor: &'a mut Cursor<M>) -> Self {
        cursor.next = next;
        Self { unread: unread.iter(), cursor }
    }
}

impl<'a, M> Iterator for Unread<'a, M> {
    type Item = &'a M;

    #[inline]
    fn next(&mut self) -> Option<&'a M> {
        let message = self.unread.next()?;
        self.cursor.next += 1;
        Some(message)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.unread.size_hint()
    }
}

impl<M> ExactSizeIterator for Unread<'_, M> {}

impl<M> FusedIterator for Unread<'_, M> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_moves_with_each_message_yielded_and_no_further() {
        let mut cursor = Cursor::at(0);
        let mut unread = Unread::new(&["a", "b", "c"], 10, &mut cursor);
        assert_eq!((unread.next(), unread.len()), (Some(&"a"), 2));
        assert_eq!((unread.nth(1), unread.next(), unread.next()), (Some(&"c"), None, None));
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
