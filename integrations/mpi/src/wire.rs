//! Numbers in bytes, little end first, and a reader that trusts nothing.

use crate::error::ClusterError;

pub(crate) fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads what was written, from one place.
pub(crate) struct Reader<'b> {
    left: &'b [u8],
    source: String,
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8], source: impl Into<String>) -> Self {
        Self { left: bytes, source: source.into() }
    }

    pub(crate) fn error(&self, message: impl std::fmt::Display) -> ClusterError {
        ClusterError::damaged(&self.source, message)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'b [u8], ClusterError> {
        let Some((taken, left)) = self.left.split_at_checked(len) else {
            return Err(self.error(format_args!("{len} bytes expected, {} left", self.left.len())));
        };
        self.left = left;
        Ok(taken)
    }

    pub(crate) fn number(&mut self) -> Result<u64, ClusterError> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("eight bytes were taken")))
    }

    /// A count of things that take at least one bit each.
    pub(crate) fn count(&mut self) -> Result<usize, ClusterError> {
        let count = self.number()?;
        let most = (self.left.len() as u64).saturating_mul(8);
        if count > most {
            return Err(self.error(format_args!("{count} things claimed, {most} at most are there")));
        }
        usize::try_from(count).map_err(|_| self.error("a count beyond memory"))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'b [u8], ClusterError> {
        let len = self.count()?;
        self.take(len)
    }

    /// Bytes that are read by themselves.
    pub(crate) fn part(&mut self) -> Result<Self, ClusterError> {
        let left = self.bytes()?;
        Ok(Self { left, source: self.source.clone() })
    }
}

/// A hash that is the same on every machine: FNV-1a over 64-bit words, mixed at the end.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ (bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
        hash ^= hash >> 29;
    }
    mix(hash)
}

pub(crate) fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
