//! Channels as checkpoints, digests and comparisons see them.
//!
//! The state of a channel is its live messages, the number of the first, where the kept frames ended, and for how many
//! frames messages are kept. Expired messages that wait to be dropped are no part of it.

use super::{Columns, Message, Messages};
use crate::capture::{CanCopy, Digest, DigestHasher, Shown};

impl<M: Message> Messages<M> {
    /// The digest of the channel: `None` where digests leave it out, or nothing was written, an error where messages have none.
    pub(super) fn digest(&self) -> Option<Result<Digest, Vec<Shown>>> {
        // A channel to which nothing was ever written is as good as none.
        let is_unused = self.first == 0 && self.live.is_empty();
        if is_unused || M::Columns::is_digest_skipped(&self.captures) {
            return None;
        }
        let mut hasher = DigestHasher::new();
        hasher.number(self.first);
        hasher.number(self.keep as u64);
        self.ends.iter().for_each(|&end| hasher.number(end));
        hasher.number(self.live.len() as u64);
        let complete = self.live.digest(&self.captures, &mut hasher);
        Some(if complete { Ok(hasher.finish()) } else { Err(self.show(0)) })
    }

    /// The fields of the message at `index`.
    pub(super) fn show(&self, index: usize) -> Vec<Shown> {
        let mut fields = Vec::new();
        self.live.show(&self.captures, index, &mut fields);
        fields
    }

    /// Whether the messages come into checkpoints.
    pub(super) fn can_copy(&self) -> CanCopy {
        M::Columns::can_copy(&self.captures)
    }

    /// A channel with the same content; `None` when messages cannot be copied.
    pub(super) fn duplicate(&self) -> Option<Self> {
        Some(Self {
            live: self.live.duplicate(&self.captures)?,
            first: self.first,
            ends: self.ends.clone(),
            keep: self.keep,
            spent: M::Columns::default(),
            captures: M::captures(),
        })
    }

    /// Exchanges the content with that of another channel.
    pub(super) fn exchange(&mut self, other: &mut Self) {
        std::mem::swap(self, other);
    }
}
