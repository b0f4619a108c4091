//! Worlds of Phalanx over MPI: one per rank, and the same result on any number of ranks.
//!
//! ```text
//!   each frame   Cluster::exchange                          then an ordinary App::step
//!                  newborn entities get their GlobalId
//!                  rebalance: the owners of cells (Partition)
//!                  links:     those to entities that are gone are forgotten
//!                  migrate:   owners move with all listed components and relations
//!                  halo:      read-only copies (Ghost) of what lies near the border
//!                  messages:  to a rank, to all, to the owner of an entity
//! ```
//!
//! Systems stay ordinary systems: they read owned entities and ghosts, and write those [`Without<Ghost>`](Ghost). With
//! [`GlobalOrder`] they see neighbours in the order of global ids, so that sums of floats have the same bits wherever the
//! borders run. The protocol knows nothing of MPI: it runs over any [`Transport`], as [threads](run_local) of one process
//! or as ranks (`MpiTransport`).
#![forbid(unsafe_code)]

mod checkpoint;
mod cluster;
mod columns;
mod error;
mod exact;
mod halo;
mod ids;
mod local;
mod messages;
#[cfg(feature = "mpi")]
mod over_mpi;
mod partition;
mod reduce;
mod relations;
mod sent;
mod transport;
mod types;
mod wire;

/// The page of the guide, whose program is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/cluster.md")]
struct Guide;

pub use checkpoint::latest_checkpoint;
pub use cluster::{Cluster, ClusterStats, Ghost};
pub use error::ClusterError;
pub use exact::ExactSum;
pub use halo::{GlobalOrder, Neighbour};
pub use ids::{GlobalId, Newborn};
pub use local::{LocalTransport, local_transports, run_local};
pub use messages::{Outbox, To};
#[cfg(feature = "mpi")]
pub use over_mpi::{MpiTransport, run_mpi};
pub use partition::{Bounds, Partition};
pub use relations::Apart;
pub use transport::{MAX_PIECE, Transport, pieces};
pub use types::{ClusterTypes, Located};
