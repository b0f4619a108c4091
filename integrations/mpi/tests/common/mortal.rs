//! A transport that fails, to see what is left then.

use phalanx_mpi::{ClusterError, LocalTransport, Transport};

/// A rank that is gone after so many exchanges.
pub struct Mortal {
    pub transport: LocalTransport,
    pub left: usize,
}

impl Transport for Mortal {
    fn rank(&self) -> usize {
        self.transport.rank()
    }

    fn ranks(&self) -> usize {
        self.transport.ranks()
    }

    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, ClusterError> {
        let here = self.rank();
        self.left = self.left.checked_sub(1).ok_or(ClusterError::Lost { here, rank: here })?;
        self.transport.exchange(parts)
    }
}
