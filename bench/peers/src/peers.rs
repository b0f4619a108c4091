//! The libraries that take part.
//!
//! One module per library; each answers, per workload, with its lines. Libraries that cannot do a workload answer
//! with none.

use crate::contender::Contender;
use crate::workload::Workload;

mod bevy;
mod flecs;
mod gecs;
mod hecs;
mod limit;
mod phalanx;
mod shipyard;
mod sparsey;

/// Libraries in the order of the tables: the limit first, Phalanx last.
pub const LIBRARIES: &[&str] = &["limit", "bevy", "hecs", "shipyard", "flecs", "sparsey", "gecs", "phalanx"];

/// All contenders of a workload, in the order of the tables.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    let libraries = [
        limit::contenders,
        bevy::contenders,
        hecs::contenders,
        shipyard::contenders,
        flecs::contenders,
        sparsey::contenders,
        gecs::contenders,
        phalanx::contenders,
    ];
    libraries.into_iter().flat_map(|library| library(workload)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ALL;

    #[test]
    fn names_within_a_workload_are_unique() {
        for &workload in ALL {
            let mut names: Vec<String> = contenders(workload).iter().map(Contender::name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", workload.name());
        }
    }
}
