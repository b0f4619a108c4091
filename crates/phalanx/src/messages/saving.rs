//! How the messages of a channel are written down and read again.
//!
//! A channel is saved with the numbers of its messages and the ends of frames, so that what is live goes on to live as
//! long as it would have. Cursors belong to readers, not to the channel, and are not saved.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Columns, Message, MessageRegistry, Messages};
use crate::codec::{CodecError, Halt, ValueSink, ValueSource};

/// A message that is saved: `#[message(save)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message that is saved",
    label = "needs `#[message(save)]`",
    note = "add `#[message(save)]` to `{Self}`, which also needs `Serialize` and `Deserialize`"
)]
pub trait SavedMessage: Message + Serialize + DeserializeOwned {
    /// Calls `f` with a message of a channel.
    fn with_value(row: Self::Ref<'_>, f: &mut dyn FnMut(&Self));
}

/// What is known of a channel beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChannelState {
    /// The number of the first live message.
    pub(crate) first: u64,
    pub(crate) len: usize,
    /// Where earlier frames ended, as numbers of messages.
    pub(crate) ends: Vec<u64>,
    pub(crate) keep: usize,
}

impl ChannelState {
    /// Whether a channel can be so.
    pub(crate) fn is_valid(&self) -> bool {
        let end = u64::try_from(self.len).ok().and_then(|len| self.first.checked_add(len));
        let Some(end) = end.filter(|&end| end < u64::MAX / 2) else { return false };
        self.ends.is_sorted() && self.ends.last().is_none_or(|&last| last <= end)
    }
}

/// How the messages of one type are written and read.
#[derive(Clone, Copy, Debug)]
pub struct MessageSaving {
    name: fn() -> Cow<'static, str>,
    pub(crate) version: u32,
    pub(crate) state: fn(&MessageRegistry) -> Option<ChannelState>,
    pub(crate) write: fn(&MessageRegistry, &mut ValueSink<'_>) -> Result<(), Halt>,
    pub(crate) read:
        fn(&ChannelState, &mut ValueSource) -> Result<Box<dyn LoadedChannel>, (usize, CodecError)>,
}

impl MessageSaving {
    /// For types with `#[message(save)]`.
    #[doc(hidden)]
    pub fn of<M: SavedMessage>(name: fn() -> Cow<'static, str>, version: u32) -> Self {
        Self {
            name,
            version,
            state: |channels| channels.get::<M>().map(Messages::state),
            write: write::<M>,
            read: read::<M>,
        }
    }

    /// The name in saves.
    pub fn name(&self) -> Cow<'static, str> {
        (self.name)()
    }
}

fn write<M: SavedMessage>(channels: &MessageRegistry, sink: &mut ValueSink<'_>) -> Result<(), Halt> {
    for row in channels.get::<M>().into_iter().flatten() {
        let mut outcome = Ok(());
        M::with_value(row, &mut |value| outcome = sink.push(value));
        outcome?;
    }
    Ok(())
}

fn read<M: SavedMessage>(
    state: &ChannelState,
    source: &mut ValueSource,
) -> Result<Box<dyn LoadedChannel>, (usize, CodecError)> {
    let mut live = M::Columns::default();
    for at in 0..state.len {
        let message: M = source.next().map_err(|error| (at, error))?;
        live.push(message.into_values());
    }
    source.finish().map_err(|error| (state.len, error))?;
    let (first, ends, keep) = (state.first, VecDeque::from(state.ends.clone()), state.keep);
    Ok(Box::new(Messages::<M> { live, first, ends, keep, ..Messages::new() }))
}

/// A channel that was read.
pub(crate) trait LoadedChannel: Send {
    /// Puts it in the place of the channel that there is, which is dropped by the caller.
    fn insert(self: Box<Self>, channels: &mut MessageRegistry) -> Box<dyn std::any::Any + Send>;
}

impl<M: Message> LoadedChannel for Messages<M> {
    fn insert(self: Box<Self>, channels: &mut MessageRegistry) -> Box<dyn std::any::Any + Send> {
        Box::new(std::mem::replace(channels.get_or_register::<M>(), *self))
    }
}

impl<M: Message> Messages<M> {
    fn state(&self) -> ChannelState {
        let ends = self.ends.iter().copied().collect();
        ChannelState { first: self.first, len: self.len(), ends, keep: self.keep }
    }
}

impl MessageRegistry {
    /// All types that were seen, with their names and, where they are saved, how; and whether a message is live.
    pub(crate) fn iter_saving(
        &self,
    ) -> impl Iterator<Item = (&'static str, Option<MessageSaving>, bool)> + '_ {
        let live = self.channels.iter().map(|channel| channel.len() > 0);
        self.names.iter().zip(&self.saving).zip(live).map(|((name, saving), live)| (*name, *saving, live))
    }
}
