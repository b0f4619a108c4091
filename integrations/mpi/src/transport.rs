//! What carries bytes between ranks: one operation, in which all take part.

use std::ops::Range;

use crate::error::ClusterError;

/// The largest piece that is sent at once. MPI counts elements in 32 bits with a sign, so 2 GiB is the limit; half of it
/// is far from it.
pub const MAX_PIECE: usize = 1 << 30;

/// Carries bytes between ranks.
pub trait Transport {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;
    /// How many ranks there are.
    fn ranks(&self) -> usize;
    /// Sends the n-th part to the n-th rank, and returns what each rank sent here. All ranks must call it.
    ///
    /// # Errors
    /// When a rank is gone.
    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, ClusterError>;

    /// Sends the same to every rank, this one included.
    ///
    /// # Errors
    /// When a rank is gone.
    fn gather(&mut self, part: Vec<u8>) -> Result<Vec<Vec<u8>>, ClusterError> {
        let parts = vec![part; self.ranks()];
        self.exchange(parts)
    }
}

/// The pieces in which so many bytes are sent, none larger than the limit.
///
/// ```
/// let pieces: Vec<_> = phalanx_mpi::pieces(7, 3).collect();
/// assert_eq!(pieces, [0..3, 3..6, 6..7]);
/// ```
pub fn pieces(len: usize, limit: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(limit).map(move |start| start..len.min(start + limit))
}
