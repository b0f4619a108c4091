//! Messages to other ranks: systems put them into the [`Outbox`], and after the exchange they are ordinary messages there.

use phalanx::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ClusterError;
use crate::ids::GlobalId;
use crate::wire::{Reader, put, put_bytes};

/// The receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// One rank.
    Rank(usize),
    /// All ranks, this one included.
    All,
    /// The rank that owns an entity after the exchange.
    Owner(GlobalId),
}

/// Messages that wait for the next exchange. They arrive in the order of their senders' ids, and of those of one sender
/// in the order in which they were sent: so on any number of ranks alike.
#[derive(Resource, Default)]
pub struct Outbox {
    waiting: Vec<Letter>,
}

#[derive(Clone)]
pub(crate) struct Letter {
    pub(crate) to: To,
    from: u64,
    kind: u64,
    bytes: Vec<u8>,
}

/// How one type of message travels.
#[derive(Clone, Copy)]
pub(crate) struct MessageEntry {
    kind: u64,
    deliver: fn(&mut World, &[u8]) -> Result<(), postcard::Error>,
}

impl MessageEntry {
    pub(crate) fn of<M: Message + DeserializeOwned>() -> Self {
        let deliver = |world: &mut World, bytes: &[u8]| {
            let message: M = postcard::from_bytes(bytes)?;
            world.write_message(message);
            Ok(())
        };
        Self { kind: kind_of(std::any::type_name::<M>()), deliver }
    }
}

/// The number of a message type, the same on all ranks.
fn kind_of(name: &str) -> u64 {
    crate::wire::hash(name.as_bytes())
}

impl Outbox {
    /// Sends a message with the next exchange. Its type must be listed with
    /// [`ClusterTypes::message`](crate::ClusterTypes::message).
    ///
    /// # Panics
    /// When the message cannot be serialized.
    pub fn send<M: Message + Serialize>(&mut self, from: GlobalId, to: To, message: &M) {
        let name = std::any::type_name::<M>();
        let bytes =
            postcard::to_stdvec(message).unwrap_or_else(|error| panic!("a `{name}` cannot be sent: {error}"));
        self.waiting.push(Letter { to, from: from.0, kind: kind_of(name), bytes });
    }

    pub(crate) fn take(&mut self) -> Vec<Letter> {
        std::mem::take(&mut self.waiting)
    }

    pub(crate) fn put_back(&mut self, letters: Vec<Letter>) {
        self.waiting.extend(letters);
    }

    pub(crate) fn letters(&self) -> &[Letter] {
        &self.waiting
    }
}

impl Letter {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let (kind, number) = match self.to {
            To::Rank(rank) => (0, rank as u64),
            To::All => (1, 0),
            To::Owner(id) => (2, id.0),
        };
        [kind, number, self.from, self.kind].into_iter().for_each(|number| put(out, number));
        put_bytes(out, &self.bytes);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, ClusterError> {
        let to = match (reader.number()?, reader.number()?) {
            (0, rank) => To::Rank(usize::try_from(rank).map_err(|_| reader.error("no such rank"))?),
            (1, _) => To::All,
            (2, id) => To::Owner(GlobalId(id)),
            (other, _) => return Err(reader.error(format_args!("{other} is no address"))),
        };
        Ok(Self { to, from: reader.number()?, kind: reader.number()?, bytes: reader.bytes()?.to_vec() })
    }
}

/// Delivers what arrived, in order of the senders' ids.
pub(crate) fn deliver(
    world: &mut World,
    entries: &[MessageEntry],
    mut letters: Vec<Letter>,
) -> Result<u64, ClusterError> {
    letters.sort_by_key(|letter| letter.from);
    for letter in &letters {
        let entry = entries.iter().find(|entry| entry.kind == letter.kind);
        let source = || format!("a message of {:?}", GlobalId(letter.from));
        let entry = entry.ok_or_else(|| {
            ClusterError::damaged(source(), "its type is unknown: list it with `ClusterTypes::message`")
        })?;
        (entry.deliver)(world, &letter.bytes).map_err(|error| ClusterError::damaged(source(), error))?;
    }
    Ok(letters.len() as u64)
}
