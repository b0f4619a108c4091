//! `MessageReader` and `MessageWriter`.
//!
//! A reader's cursor stays with the system, so it sees each message once, whatever else reads. Writers of one type
//! run one after the other, in the order of the schedule: messages have one order, whatever the threads.
//! How messages are kept, whole or field by field, only shows in what `read` and `columns` yield.

use std::cell::{RefCell, RefMut};
use std::marker::PhantomData;

use phalanx_store::{SlotMut, SlotRef};

use super::super::access::{Access, Part};
use super::super::kept::StateVisitor;
use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::SystemParam;
use crate::messages::{
    Channel, ChannelId, Cursor, Message, MessageId, Messages, Unread, UnreadWithId, typed, typed_mut,
};
#[cfg(feature = "parallel")]
use crate::query::ParItems;
use crate::world::{SharedWorld, World};

/// Reads the messages that the system has not seen yet.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Message)]
/// struct Hit(u32);
///
/// fn strike(mut hits: MessageWriter<Hit>) {
///     hits.write(Hit(3));
/// }
/// fn hurt(mut hits: MessageReader<Hit>, mut total: Local<u32>) {
///     *total += hits.read().map(|hit| hit.0).sum::<u32>();
///     assert_eq!(*total, 3);
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, (strike, hurt).chain());
/// app.step(0.1);
/// ```
pub struct MessageReader<'w, 's, M: Message> {
    messages: &'w Messages<M>,
    cursor: &'s mut Cursor<M>,
}

impl<'w, M: Message> MessageReader<'w, '_, M> {
    /// The unread messages, oldest first. Each counts as read when it is yielded.
    ///
    /// A message is `&M`, or with `#[message(layout = "soa")]` a struct with a reference to each field.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[derive(Message)]
    /// struct Died(Entity);
    ///
    /// fn mourn(mut deaths: MessageReader<Died>) {
    ///     for death in deaths.read() { // each one once
    ///         println!("{} died", death.0);
    ///     }
    /// }
    /// ```
    pub fn read(&mut self) -> Unread<'_, M> {
        self.messages.read(self.cursor)
    }

    /// As [`MessageReader::read`], each message with its number.
    pub fn read_with_id(&mut self) -> UnreadWithId<'_, M> {
        UnreadWithId(self.read())
    }

    /// The unread messages on several threads. All of them count as read.
    #[cfg(feature = "parallel")]
    pub fn par_read(&mut self) -> ParItems<M::Ref<'_>>
    where
        for<'a> M::Ref<'a>: Send,
    {
        ParItems::new(self.read())
    }

    /// How many messages are unread.
    pub fn len(&self) -> usize {
        self.messages.unread(self.cursor)
    }

    /// Whether no message is unread.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages expired since the system last read, without being read. Ask before reading, which goes on
    /// with what is live.
    pub fn missed(&self) -> u64 {
        self.messages.missed(self.cursor)
    }

    /// Skips what is unread.
    pub fn clear(&mut self) {
        *self.cursor = self.messages.get_cursor_current();
    }

    /// The unread messages field by field: for `#[message(layout = "soa")]` a struct with one slice per field, for
    /// whole messages `&[M]`. All of them count as read.
    ///
    /// The slices are the channel's own memory, equally long and in one piece, oldest first: also when the reader
    /// did not run for some frames and messages are kept as long.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Message)]
    /// #[message(layout = "soa")]
    /// struct Hit {
    ///     who: Entity,
    ///     damage: f32,
    /// }
    ///
    /// fn total(mut hits: MessageReader<Hit>) -> f32 {
    ///     let HitSlices { damage, .. } = hits.columns();
    ///     damage.iter().sum()
    /// }
    ///
    /// let mut world = World::new();
    /// let who = world.spawn_empty().id();
    /// world.write_message(Hit { who, damage: 2.0 });
    /// world.write_message(Hit { who, damage: 3.0 });
    /// assert_eq!(world.run_system_once(total).unwrap(), 5.0);
    /// ```
    pub fn columns(&mut self) -> M::Slices<'w> {
        self.messages.columns(self.cursor)
    }
}

/// Writes messages, which everyone can read until the end of the next frame.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Message)]
/// struct Hit(u32);
///
/// fn strike(mut hits: MessageWriter<Hit>) {
///     hits.write(Hit(3));
/// }
/// fn hurt(mut hits: MessageReader<Hit>, mut total: Local<u32>) {
///     *total += hits.read().map(|hit| hit.0).sum::<u32>();
///     assert_eq!(*total, 3);
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, (strike, hurt).chain());
/// app.step(0.1);
/// ```
pub struct MessageWriter<'w, M: Message> {
    messages: &'w mut Messages<M>,
}

impl<M: Message> MessageWriter<'_, M> {
    /// Writes a message.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// #[derive(Message)]
    /// struct Died(Entity);
    ///
    /// fn reap(mut deaths: MessageWriter<Died>, all: Query<Entity>) {
    ///     for entity in &all {
    ///         deaths.write(Died(entity));
    ///     }
    /// }
    /// ```
    pub fn write(&mut self, message: M) -> MessageId {
        self.messages.write(message)
    }

    /// Writes messages in order.
    pub fn write_batch(&mut self, messages: impl IntoIterator<Item = M>) {
        self.messages.write_batch(messages);
    }

    /// Writes the default message.
    pub fn write_default(&mut self) -> MessageId
    where
        M: Default,
    {
        self.write(M::default())
    }
}

/// A reader's place, kept by its system.
pub struct ReaderState<M> {
    channel: ChannelId,
    cursor: RefCell<Cursor<M>>,
}

impl<M> ReaderState<M> {
    pub(super) fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.number(self.cursor.get_mut().number_mut());
    }
}

/// The flag of a channel that is read.
pub struct ReaderGuard<'w, M> {
    channel: SlotRef<'w, Box<dyn Channel>>,
    cursor: RefMut<'w, Cursor<M>>,
}

/// The flag of a channel that is written.
pub struct WriterGuard<'w, M> {
    channel: SlotMut<'w, Box<dyn Channel>>,
    of: PhantomData<fn() -> M>,
}

impl<M: Message> SystemParam for MessageReader<'_, '_, M> {
    type State = ReaderState<M>;
    type Guard<'w> = ReaderGuard<'w, M>;
    type Item<'g> = MessageReader<'g, 'g, M>;

    fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
        state.visit(visitor);
    }
    fn init(world: &mut World, meta: &mut SystemMeta) -> ReaderState<M> {
        let channel = world.messages.register::<M>();
        let mut access = Access::new();
        access.read(Part::Messages(channel));
        meta.declare(world, short_type::<Self>(), access);
        // What is gone by now was not missed.
        let cursor = world.messages.get::<M>().map_or_else(Cursor::default, Messages::get_cursor);
        ReaderState { channel, cursor: RefCell::new(cursor) }
    }
    fn lock<'w>(state: &'w ReaderState<M>, world: &'w SharedWorld<'w>, run: Run<'w>) -> ReaderGuard<'w, M> {
        let channel = world.messages.read(state.channel).unwrap_or_else(|| run.busy(&short_type::<M>()));
        ReaderGuard { channel, cursor: state.cursor.borrow_mut() }
    }
    fn item<'g>(guard: &'g mut ReaderGuard<'_, M>) -> MessageReader<'g, 'g, M> {
        MessageReader { messages: typed(&**guard.channel), cursor: &mut guard.cursor }
    }
}

impl<M: Message> SystemParam for MessageWriter<'_, M> {
    type State = ChannelId;
    type Guard<'w> = WriterGuard<'w, M>;
    type Item<'g> = MessageWriter<'g, M>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> ChannelId {
        let channel = world.messages.register::<M>();
        let mut access = Access::new();
        access.write(Part::Messages(channel));
        meta.declare(world, short_type::<Self>(), access);
        channel
    }
    fn lock<'w>(state: &'w ChannelId, world: &'w SharedWorld<'w>, run: Run<'w>) -> WriterGuard<'w, M> {
        let channel = world.messages.write(*state).unwrap_or_else(|| run.busy(&short_type::<M>()));
        WriterGuard { channel, of: PhantomData }
    }
    fn item<'g>(guard: &'g mut WriterGuard<'_, M>) -> MessageWriter<'g, M> {
        MessageWriter { messages: typed_mut(&mut **guard.channel) }
    }
}
