//! Messages: values that systems leave for each other, from one frame to the end of the next.
//!
//! A [`MessageWriter`](crate::system::MessageWriter) leaves them, every [`MessageReader`](crate::system::MessageReader) sees
//! each of them once, whether it runs before or after the writer. What is not read ends with the next frame.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[derive(Message)]
//! struct Died(Entity);
//!
//! fn reap(mut deaths: MessageWriter<Died>, all: Query<Entity>) {
//!     deaths.write_batch(all.iter().map(Died));
//! }
//! fn mourn(mut deaths: MessageReader<Died>) {
//!     assert_eq!(deaths.read().count(), 1);
//! }
//!
//! let mut app = App::new();
//! app.world_mut().spawn_empty();
//! app.add_systems(Update, (reap, mourn).chain());
//! app.step(0.1);
//! ```

//   sequence    0 .. expired .. first                    first + live.len()
//   live                        [m, m, m, m, m, m, m, m]    one slice, oldest first
//   ends                              ^        ^            where earlier frames ended, at most `keep`
//   a cursor                             ^                  the next message its reader will see
//
// Every message has a number that is never given again. A cursor is such a number, so a reader sees
// each message once, and nothing has to be noted down per reader. What expires does so by frames, read
// or not: no reader can make a channel grow. User code runs last: expired messages first leave the live
// ones, of all channels when a world ends its frame, and only then are dropped.
//
// `live` is one vector, or one per field with `#[message(layout = "soa")]`: [`Columns`]. All that is kept is in one
// piece, however many frames it is from, so what is unread is one slice, or one per field.
// This file knows no world; [`MessageRegistry`] holds the channels of one.

use std::collections::VecDeque;
use std::fmt;

use phalanx_store::FirstPanic;

pub use columns::Columns;
pub use cursor::{Cursor, Iter, Unread, UnreadWithId};
pub(crate) use registry::{Channel, ChannelsImage, SharedChannels, typed, typed_mut};
pub use registry::{ChannelId, MessageRegistry};
#[cfg(feature = "serde")]
pub(crate) use saving::{ChannelState, LoadedChannel};
#[cfg(feature = "serde")]
pub use saving::{MessageSaving, SavedMessage};

mod capture;
mod columns;
mod cursor;
mod registry;
#[cfg(feature = "serde")]
mod saving;
#[cfg(test)]
mod tests;

/// A type of which systems send values to each other. A unit struct is a signal.
///
/// Derive it: [`#[derive(Message)]`](derive@crate::Message). The derive says how messages are kept: whole, or field
/// by field. What a reader yields follows from that; numbers, cursors and frames are the same.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Message)]
/// struct Died(Entity);
///
/// let mut world = World::new();
/// let entity = world.spawn_empty().id();
/// world.write_message(Died(entity));
/// assert_eq!(world.messages::<Died>().unwrap().len(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "expected a message",
    note = "add `#[derive(Message)]` to `{Self}`"
)]
pub trait Message: Send + Sync + Sized + 'static {
    /// What a channel keeps: a vector of whole messages, or one per field.
    type Columns: Columns;
    /// One message in a channel: `&Self`, or a struct with one reference per field.
    type Ref<'a>;
    /// Consecutive messages in a channel: `&[Self]`, or a struct with one slice per field.
    type Slices<'a>;

    /// Takes the message apart.
    fn into_values(self) -> <Self::Columns as Columns>::Values;
    /// Puts a message together again.
    fn from_values(values: <Self::Columns as Columns>::Values) -> Self;
    /// Turns what the columns yield for a message into what the user sees.
    fn wrap_ref<'a>(refs: <Self::Columns as Columns>::Refs<'a>) -> Self::Ref<'a>;
    /// Turns slices of the columns into what the user sees.
    fn wrap_slices<'a>(slices: <Self::Columns as Columns>::Slices<'a>) -> Self::Slices<'a>;
    /// What checkpoints and digests can do with the columns. Derived; nothing by default.
    fn captures() -> <Self::Columns as Columns>::Captures {
        Default::default()
    }

    /// How messages are saved, with `#[message(save)]`.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    fn saving() -> Option<MessageSaving> {
        None
    }
}

/// The number of a message in its channel: the first is 0, and no number is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(u64);

impl MessageId {
    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// The channel of one message type: what was written, oldest first, until it expires.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Message)]
/// struct Died(Entity);
///
/// let mut world = World::new();
/// let orc = world.spawn_empty().id();
/// world.write_message(Died(orc));
/// let deaths = world.messages::<Died>().unwrap();
/// assert!(deaths.iter().all(|death| death.0 == orc));
/// ```
pub struct Messages<M: Message> {
    live: M::Columns,
    /// The number of the first live message, or of the next message when nothing is live.
    first: u64,
    /// Where the frames ended whose messages are still kept: numbers, oldest first.
    ends: VecDeque<u64>,
    keep: usize,
    /// Expired messages that are still to be dropped.
    spent: M::Columns,
    /// What can be done with messages.
    captures: <M::Columns as Columns>::Captures,
}

impl<M: Message> Messages<M> {
    /// A channel whose messages are gone at the end of the frame after the one they were written in, so that a reader
    /// which runs in every frame misses none, wherever in the frame it runs.
    pub fn new() -> Self {
        Self::with_keep(1)
    }

    /// A channel whose messages live for `frames` more frames.
    pub fn with_keep(frames: usize) -> Self {
        let (live, spent) = (M::Columns::default(), M::Columns::default());
        Self { live, first: 0, ends: VecDeque::new(), keep: frames, spent, captures: M::captures() }
    }

    /// For how many frames messages outlive the one they were written in.
    pub fn keep(&self) -> usize {
        self.keep
    }

    /// Sets for how many frames messages outlive the one they were written in, from the next end of a
    /// frame on: 1 unless it is set. Readers that do not run in every frame need more.
    pub fn set_keep(&mut self, frames: usize) {
        self.keep = frames;
    }

    /// Appends a message. Every cursor will come by it.
    pub fn write(&mut self, message: M) -> MessageId {
        let id = MessageId(self.end());
        self.live.push(message.into_values());
        id
    }

    /// Appends messages in order.
    pub fn write_batch(&mut self, messages: impl IntoIterator<Item = M>) {
        self.live.push_all(messages.into_iter().map(M::into_values));
    }

    /// The messages that `cursor` has not seen yet, oldest first.
    ///
    /// A message counts as seen when the iterator yields it: those left in it come again next time.
    pub fn read<'a>(&'a self, cursor: &'a mut Cursor<M>) -> Unread<'a, M> {
        let seen = self.seen(cursor);
        Unread::new(self.iter_from(seen), self.first + seen as u64, cursor)
    }

    /// The messages that `cursor` has not seen yet, oldest first, in one slice, or in one per field with
    /// `#[message(layout = "soa")]`.
    ///
    /// They are the channel's own memory, and all of them count as seen.
    pub fn columns(&self, cursor: &mut Cursor<M>) -> M::Slices<'_> {
        let seen = self.seen(cursor);
        *cursor = self.get_cursor_current();
        M::wrap_slices(self.live.slices_from(seen))
    }

    /// How many messages `cursor` has not seen yet.
    pub fn unread(&self, cursor: &Cursor<M>) -> usize {
        self.live.len() - self.seen(cursor)
    }

    /// How many messages expired, or were taken out, between what `cursor` saw last and what is live now. Reading
    /// begins with what is live, so ask before.
    pub fn missed(&self, cursor: &Cursor<M>) -> u64 {
        self.first.saturating_sub(cursor.next())
    }

    /// A cursor that will see what is live and what is written from now on, and has missed nothing.
    pub fn get_cursor(&self) -> Cursor<M> {
        Cursor::at(self.first)
    }

    /// A cursor that will see what is written from now on. `Cursor::default()` sees what is live as well.
    pub fn get_cursor_current(&self) -> Cursor<M> {
        Cursor::at(self.end())
    }

    /// The live messages, oldest first.
    pub fn iter(&self) -> Iter<'_, M> {
        self.iter_from(0)
    }

    /// The live messages in one slice, oldest first, or in one per field with `#[message(layout = "soa")]`.
    pub fn as_columns(&self) -> M::Slices<'_> {
        M::wrap_slices(self.live.slices_from(0))
    }

    /// How many messages are live.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// The number of the oldest message that is live, or of the next one.
    pub fn oldest_message_count(&self) -> u64 {
        self.first
    }

    /// Appends the default message.
    pub fn write_default(&mut self) -> MessageId
    where
        M: Default,
    {
        self.write(M::default())
    }

    /// Ends the frame, and hands out the messages whose frames are over.
    pub fn update_drain(&mut self) -> impl Iterator<Item = M> + '_ {
        self.expire();
        self.spent.drain_front(self.spent.len()).map(M::from_values)
    }

    /// The messages that were written since the last end of a frame.
    pub fn iter_current_update_messages(&self) -> Iter<'_, M> {
        let from = self.ends.back().map_or(0, |&end| self.offset(end));
        self.iter_from(from)
    }

    /// The message of this number, while it is live, with its number.
    pub fn get_message(&self, id: MessageId) -> Option<(M::Ref<'_>, MessageId)> {
        let offset = id.0.checked_sub(self.first)?;
        let message = self.live.get(usize::try_from(offset).ok()?)?;
        Some((M::wrap_ref(message), id))
    }

    /// Whether no message is live.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Takes all live messages out, oldest first. Readers that have not seen them never will.
    pub fn drain(&mut self) -> impl DoubleEndedIterator<Item = M> + ExactSizeIterator {
        self.first = self.end();
        self.live.drain_front(self.live.len()).map(M::from_values)
    }

    /// Drops all live messages.
    pub fn clear(&mut self) {
        self.first = self.end();
        let mut panics = FirstPanic::default();
        drop_each(&mut self.live, &mut panics);
        panics.resume();
    }

    /// Ends the frame: messages whose frames are over are dropped, read or not.
    ///
    /// Where it is not called, as after start-up, the frame goes on, and its messages with it.
    pub fn update(&mut self) {
        self.expire();
        self.sweep();
    }

    /// The first half of ending a frame: sets expired messages aside. Runs no user code.
    fn expire(&mut self) {
        self.ends.push_back(self.end());
        let surplus = self.ends.len().saturating_sub(self.keep);
        let Some(border) = self.ends.drain(..surplus).next_back() else { return };
        let count = self.offset(border);
        self.first += count as u64;
        if count == self.live.len() && self.spent.is_empty() {
            std::mem::swap(&mut self.live, &mut self.spent);
        } else {
            self.spent.push_all(self.live.drain_front(count));
        }
    }

    /// The second half: drops what was set aside. A message may panic in its drop; the others still go.
    fn sweep(&mut self) {
        let mut panics = FirstPanic::default();
        drop_each(&mut self.spent, &mut panics);
        panics.resume();
    }

    /// Drops all messages, live and expired.
    fn drop_all(&mut self, panics: &mut FirstPanic) {
        self.first = self.end();
        drop_each(&mut self.spent, panics);
        drop_each(&mut self.live, panics);
    }

    /// The live messages from the `from`-th on.
    fn iter_from(&self, from: usize) -> Iter<'_, M> {
        Iter::new(self.live.iter_from(from))
    }

    /// The number of the next message.
    fn end(&self) -> u64 {
        self.first + self.live.len() as u64
    }

    /// How many live messages have a number below `number`.
    fn offset(&self, number: u64) -> usize {
        let offset = number.saturating_sub(self.first);
        usize::try_from(offset).map_or(self.live.len(), |offset| offset.min(self.live.len()))
    }

    /// How many live messages `cursor` has seen.
    fn seen(&self, cursor: &Cursor<M>) -> usize {
        // A cursor ahead of its channel has another channel's numbers: it begins anew rather than miss one.
        if cursor.next() > self.end() { 0 } else { self.offset(cursor.next()) }
    }
}

/// Drops messages one by one, all of them though some panic.
fn drop_each<C: Columns>(columns: &mut C, panics: &mut FirstPanic) {
    let count = columns.len();
    let drain = columns.drain_front(count);
    if std::mem::needs_drop::<C::Values>() {
        drain.for_each(|values| panics.guard(|| drop(values)));
    }
}

impl<M: Message<Columns = Vec<M>>> Messages<M> {
    /// The messages that `cursor` has not seen yet, to be changed. All of them count as seen.
    pub fn read_mut(&mut self, cursor: &mut Cursor<M>) -> &mut [M] {
        let seen = self.seen(cursor);
        *cursor = self.get_cursor_current();
        &mut self.live[seen..]
    }

    /// The live messages in one slice, oldest first.
    pub fn as_slice(&self) -> &[M] {
        &self.live
    }
}

impl<M: Message> Default for Messages<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Message> fmt::Debug for Messages<M>
where
    for<'a> M::Ref<'a>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Messages").field("first", &self.first).field("live", &Live(self)).finish()
    }
}

/// The live messages, to be shown as a list.
struct Live<'a, M: Message>(&'a Messages<M>);

impl<M: Message> fmt::Debug for Live<'_, M>
where
    for<'a> M::Ref<'a>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

impl<'a, M: Message> IntoIterator for &'a Messages<M> {
    type Item = M::Ref<'a>;
    type IntoIter = Iter<'a, M>;

    fn into_iter(self) -> Iter<'a, M> {
        self.iter()
    }
}
