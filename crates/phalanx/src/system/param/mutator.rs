//! `MessageMutator` and `PopulatedMessageReader`: messages that are changed on the way, and readers that wait for some.
//!
//! A system that changes messages counts as writing their channel, so it keeps its order with writers and readers.

use std::cell::{RefCell, RefMut};
use std::ops::{Deref, DerefMut};

use phalanx_store::SlotMut;

use super::super::access::{Access, Part};
use super::super::failed::ParamError;
use super::super::kept::StateVisitor;
use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::SystemParam;
use super::message::{MessageReader, ReaderGuard, ReaderState};
use crate::messages::{Channel, ChannelId, Cursor, Message, Messages, typed_mut};
use crate::world::{SharedWorld, World};

/// Reads and changes the messages that the system has not seen yet; for messages that are kept whole.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Message)]
/// struct Hit(u32);
///
/// fn soften(mut hits: MessageMutator<Hit>) {
///     for hit in hits.read() {
///         hit.0 /= 2;
///     }
/// }
/// fn total(mut hits: MessageReader<Hit>) -> u32 {
///     hits.read().map(|hit| hit.0).sum()
/// }
///
/// let mut world = World::new();
/// world.write_message(Hit(8));
/// world.run_system_once(soften).unwrap();
/// assert_eq!(world.run_system_once(total).unwrap(), 4);
/// ```
pub struct MessageMutator<'w, 's, M: Message> {
    messages: &'w mut Messages<M>,
    cursor: &'s mut Cursor<M>,
}

impl<M: Message<Columns = Vec<M>>> MessageMutator<'_, '_, M> {
    /// The unread messages, oldest first, to be changed. All of them count as read.
    pub fn read(&mut self) -> std::slice::IterMut<'_, M> {
        self.messages.read_mut(self.cursor).iter_mut()
    }

    /// How many messages are unread.
    pub fn len(&self) -> usize {
        self.messages.unread(self.cursor)
    }

    /// Whether no message is unread.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Skips what is unread.
    pub fn clear(&mut self) {
        *self.cursor = self.messages.get_cursor_current();
    }
}

/// A mutator's place, kept by its system.
pub struct MutatorState<M> {
    channel: ChannelId,
    cursor: RefCell<Cursor<M>>,
}

impl<M> MutatorState<M> {
    pub(super) fn visit(&mut self, visitor: &mut dyn StateVisitor) {
        visitor.number(self.cursor.get_mut().number_mut());
    }
}

/// The flag of a channel whose messages are changed.
pub struct MutatorGuard<'w, M> {
    channel: SlotMut<'w, Box<dyn Channel>>,
    cursor: RefMut<'w, Cursor<M>>,
}

impl<M: Message<Columns = Vec<M>>> SystemParam for MessageMutator<'_, '_, M> {
    type State = MutatorState<M>;
    type Guard<'w> = MutatorGuard<'w, M>;
    type Item<'g> = MessageMutator<'g, 'g, M>;

    fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
        state.visit(visitor);
    }
    fn init(world: &mut World, meta: &mut SystemMeta) -> MutatorState<M> {
        let channel = world.messages.register::<M>();
        let mut access = Access::new();
        access.write(Part::Messages(channel));
        meta.declare(world, short_type::<Self>(), access);
        let cursor = world.messages.get::<M>().map_or_else(Cursor::default, Messages::get_cursor);
        MutatorState { channel, cursor: RefCell::new(cursor) }
    }
    fn lock<'w>(state: &'w Self::State, world: &'w SharedWorld<'w>, run: Run<'w>) -> Self::Guard<'w> {
        let channel = world.messages.write(state.channel).unwrap_or_else(|| run.busy(&short_type::<M>()));
        MutatorGuard { channel, cursor: state.cursor.borrow_mut() }
    }
    fn item<'g>(guard: &'g mut Self::Guard<'_>) -> MessageMutator<'g, 'g, M> {
        MessageMutator { messages: typed_mut(&mut **guard.channel), cursor: &mut guard.cursor }
    }
}

/// A reader that has messages. The system is not run while there is none.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Message)]
/// struct Hit(u32);
///
/// fn react(mut hits: PopulatedMessageReader<Hit>) {
///     assert!(hits.read().count() > 0);
/// }
///
/// let mut app = App::new();
/// app.add_systems(Update, react);
/// app.step(0.0);
/// app.world_mut().write_message(Hit(1));
/// app.step(0.0);
/// ```
pub struct PopulatedMessageReader<'w, 's, M: Message>(MessageReader<'w, 's, M>);

impl<'w, 's, M: Message> Deref for PopulatedMessageReader<'w, 's, M> {
    type Target = MessageReader<'w, 's, M>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<M: Message> DerefMut for PopulatedMessageReader<'_, '_, M> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

type Reader<M> = MessageReader<'static, 'static, M>;

impl<M: Message> SystemParam for PopulatedMessageReader<'_, '_, M> {
    type State = ReaderState<M>;
    type Guard<'w> = ReaderGuard<'w, M>;
    type Item<'g> = PopulatedMessageReader<'g, 'g, M>;

    fn visit_state(state: &mut Self::State, visitor: &mut dyn StateVisitor) {
        state.visit(visitor);
    }
    fn init(world: &mut World, meta: &mut SystemMeta) -> ReaderState<M> {
        <Reader<M> as SystemParam>::init(world, meta)
    }
    fn lock<'w>(state: &'w ReaderState<M>, world: &'w SharedWorld<'w>, run: Run<'w>) -> ReaderGuard<'w, M> {
        <Reader<M> as SystemParam>::lock(state, world, run)
    }
    fn check(guard: &mut ReaderGuard<'_, M>) -> Result<(), ParamError> {
        if <Reader<M> as SystemParam>::item(guard).is_empty() {
            return Err(ParamError::skip(short_type::<Self>(), "a message that was not read"));
        }
        Ok(())
    }
    fn item<'g>(guard: &'g mut ReaderGuard<'_, M>) -> PopulatedMessageReader<'g, 'g, M> {
        PopulatedMessageReader(<Reader<M> as SystemParam>::item(guard))
    }
}
