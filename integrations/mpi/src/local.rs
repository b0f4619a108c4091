//! Ranks as threads of one process, with channels between them: for tests, and for machines without MPI.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::error::ClusterError;
use crate::transport::{MAX_PIECE, Transport, pieces};

/// What goes through a channel: how many bytes come, or some of them.
enum Packet {
    Len(usize),
    Piece(Vec<u8>),
}

/// One of several ranks in one process.
pub struct LocalTransport {
    rank: usize,
    to: Vec<Sender<Packet>>,
    from: Vec<Receiver<Packet>>,
    limit: usize,
}

/// So many ranks, connected with each other, that send pieces of at most `limit` bytes.
pub fn local_transports(ranks: usize, limit: usize) -> Vec<LocalTransport> {
    let mut to: Vec<Vec<Sender<Packet>>> = (0..ranks).map(|_| Vec::new()).collect();
    let mut from: Vec<Vec<Receiver<Packet>>> = (0..ranks).map(|_| Vec::new()).collect();
    for source in &mut to {
        for target in &mut from {
            let (sender, receiver) = channel();
            source.push(sender);
            target.push(receiver);
        }
    }
    let ends = to.into_iter().zip(from).enumerate();
    ends.map(|(rank, (to, from))| LocalTransport { rank, to, from, limit }).collect()
}

/// Runs a function on so many ranks, each a thread, and returns what they return.
///
/// # Panics
/// When a rank panics.
pub fn run_local<R: Send>(ranks: usize, run: impl Fn(LocalTransport) -> R + Sync) -> Vec<R> {
    let run = &run;
    std::thread::scope(|scope| {
        let transports = local_transports(ranks, MAX_PIECE);
        let threads: Vec<_> =
            transports.into_iter().map(|transport| scope.spawn(move || run(transport))).collect();
        let results = threads.into_iter().map(|thread| thread.join());
        results.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

impl Transport for LocalTransport {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.to.len()
    }

    fn exchange(&mut self, parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, ClusterError> {
        assert_eq!(parts.len(), self.ranks(), "one part for each rank");
        let here = self.rank;
        for (rank, (part, to)) in parts.into_iter().zip(&self.to).enumerate() {
            let lost = |_| ClusterError::Lost { here, rank };
            to.send(Packet::Len(part.len())).map_err(lost)?;
            for piece in pieces(part.len(), self.limit) {
                to.send(Packet::Piece(part[piece].to_vec())).map_err(lost)?;
            }
        }
        let mut received = Vec::with_capacity(self.ranks());
        for (rank, from) in self.from.iter().enumerate() {
            let next = || from.recv().map_err(|_| ClusterError::Lost { here, rank });
            let Packet::Len(len) = next()? else {
                return Err(ClusterError::damaged(format_args!("rank {rank}"), "a piece without its length"));
            };
            let mut part = Vec::with_capacity(len);
            while part.len() < len {
                match next()? {
                    Packet::Piece(piece) => part.extend(piece),
                    Packet::Len(_) => {
                        return Err(ClusterError::damaged(format_args!("rank {rank}"), "a piece is missing"));
                    }
                }
            }
            received.push(part);
        }
        Ok(received)
    }
}
