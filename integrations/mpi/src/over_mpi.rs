//! Ranks as processes that MPI started.

use std::rc::Rc;

use mpi::environment::Universe;
use mpi::request::{Request, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};

use crate::error::ClusterError;
use crate::transport::{MAX_PIECE, Transport, pieces};

/// This process among those that `mpirun` started.
pub struct MpiTransport {
    world: SimpleCommunicator,
    limit: usize,
    /// Ends MPI when the last one is dropped.
    universe: Rc<Universe>,
}

impl MpiTransport {
    /// Starts MPI. `None` when it was started before.
    pub fn start() -> Option<Self> {
        let (universe, _) = mpi::initialize_with_threading(mpi::Threading::Funneled)?;
        Some(Self { world: universe.world(), limit: MAX_PIECE, universe: Rc::new(universe) })
    }

    /// Sends pieces of at most so many bytes: for tests of what happens to messages beyond 2 GiB.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit.clamp(1, MAX_PIECE);
        self
    }

    /// Ends all ranks.
    pub fn abort(&self) -> ! {
        self.world.abort(1)
    }
}

/// Runs a function on this rank. When it panics or fails, the rank says its name and ends the whole job: others would wait
/// for it for ever.
///
/// # Panics
/// When MPI was started before.
pub fn run_mpi(run: impl FnOnce(MpiTransport) -> Result<(), ClusterError>) {
    let transport = MpiTransport::start().expect("MPI is started once");
    let (rank, ranks) = (transport.rank(), transport.ranks());
    let universe = Rc::clone(&transport.universe);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(transport)));
    let why = match outcome {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it panicked, as told above".to_owned(),
    };
    eprintln!("rank {rank} of {ranks} failed: {why}. The job ends; restart from the last checkpoint.");
    universe.world().abort(1)
}

fn number(rank: i32) -> usize {
    usize::try_from(rank).expect("ranks are not negative")
}

impl Transport for MpiTransport {
    fn rank(&self) -> usize {
        number(self.world.rank())
    }

    fn ranks(&self) -> usize {
        number(self.world.size())
    }

    fn exchange(&mut self, mut parts: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, ClusterError> {
        assert_eq!(parts.len(), self.ranks(), "one part for each rank");
        let here = self.rank();
        let own = std::mem::take(&mut parts[here]);
        let send: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
        let mut receive = vec![0_u64; send.len()];
        self.world.all_to_all_into(&send[..], &mut receive[..]);
        let mut received: Vec<Vec<u8>> = Vec::with_capacity(receive.len());
        for (rank, &len) in receive.iter().enumerate() {
            let len = usize::try_from(len)
                .map_err(|_| ClusterError::damaged(format_args!("rank {rank}"), "more than memory holds"));
            received.push(vec![0; len?]);
        }
        scope(|scope| {
            let mut waiting: Vec<Request<'_, [u8], _>> = Vec::new();
            for (rank, part) in (0_i32..).zip(&mut received) {
                // Pieces between two ranks arrive in the order in which they were sent.
                for piece in part.chunks_mut(self.limit) {
                    waiting.push(self.world.process_at_rank(rank).immediate_receive_into(scope, piece));
                }
            }
            for (rank, part) in (0_i32..).zip(&parts) {
                for piece in pieces(part.len(), self.limit) {
                    waiting.push(self.world.process_at_rank(rank).immediate_send(scope, &part[piece]));
                }
            }
            for request in waiting {
                request.wait();
            }
        });
        received[here] = own;
        Ok(received)
    }
}
