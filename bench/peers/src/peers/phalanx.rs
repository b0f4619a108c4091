//! Phalanx, as a user would write it: one module per storage, each way of using it a line of its own.
//!
//! A storage that comes later gets a module beside the others and one line per workload below.

use super::limit;
use crate::cache::evict;
use crate::contender::Contender;
use crate::workload::{MANY, Workload};

mod change;
mod fields;
mod frames;
mod group;
mod parallel;
mod plain;
mod pool;
mod sparse;
mod table;
mod ticks;

const LIBRARY: &str = "phalanx";

/// The contenders of a workload.
pub fn contenders(workload: Workload) -> Vec<Contender> {
    match workload {
        Workload::SimpleInsert => {
            vec![table::simple_insert(), fields::simple_insert(), pool::simple_insert()]
        }
        Workload::InsertLoop => {
            vec![
                table::insert_loop().plain(),
                fields::insert_loop(),
                pool::insert_loop(),
                pool::insert_loop_plain(),
            ]
        }
        Workload::InsertEight => vec![plain::insert_eight()],
        Workload::InsertSparse => vec![sparse::insert_loop()],
        Workload::InsertGroup => vec![sparse::insert_loop_group()],
        Workload::SimpleIter => vec![
            table::simple_iter(MANY),
            plain::simple_iter(),
            table::simple_iter_chunks(),
            fields::simple_iter(),
            fields::simple_iter_chunks(MANY),
            pool::simple_iter(),
            group::simple_iter(),
            sparse::simple_iter(),
        ],
        Workload::IterCold => {
            vec![
                table::iter_1m(evict),
                plain::iter_1m(evict),
                table::iter_1m_chunks(evict),
                fields::iter_1m(evict),
                fields::iter_1m_chunks(evict),
                pool::iter_1m(evict),
            ]
        }
        Workload::IterWarm => vec![
            table::iter_1m(|| ()),
            plain::iter_1m(|| ()),
            table::iter_1m_chunks(|| ()),
            fields::iter_1m(|| ()),
            fields::iter_1m_chunks(|| ()),
            pool::iter_1m(|| ()),
        ],
        Workload::FragmentedIter => {
            vec![
                table::fragmented(),
                plain::fragmented(),
                table::fragmented_chunks(),
                pool::fragmented(),
                sparse::fragmented(),
                sparse::fragmented_slices(),
            ]
        }
        Workload::FragmentedWide => {
            vec![
                table::wide(),
                plain::wide(),
                table::wide_chunks(),
                pool::wide(),
                sparse::wide(),
                sparse::wide_slices(),
            ]
        }
        Workload::FiveComponents => plain::five_components().into(),
        Workload::Filtered => plain::filtered().into(),
        Workload::PairSparse => sparse::pair_iter().into(),
        Workload::AddRemove => {
            vec![
                change::add_remove(MANY).plain(),
                pool::add_remove(),
                change::add_remove_sparse(),
                group::add_remove(),
            ]
        }
        Workload::AddRemoveSparse => vec![change::add_remove_sparse(), change::add_remove_sparse_writer()],
        Workload::AddRemoveGroup => vec![group::add_remove().plain()],
        Workload::RandomGet => vec![
            table::random_get().plain(),
            table::random_get_many(),
            fields::random_get(),
            fields::random_get_many(),
            fields::random_get_handle(),
            pool::random_get(),
            pool::random_get_handle(),
            sparse::random_get(),
        ],
        Workload::RandomGetWorld => {
            vec![
                table::random_get_world().plain(),
                fields::random_get_world(),
                pool::random_get_world(),
                pool::random_get_world_handle(),
                sparse::random_get_world(),
            ]
        }
        Workload::RandomGetMut => vec![plain::random_get_mut()],
        Workload::RandomGetMutWorld => vec![plain::random_get_mut_world()],
        Workload::SpawnDespawn => {
            vec![
                change::spawn_despawn().plain(),
                change::spawn_despawn_batch(),
                fields::spawn_despawn(),
                pool::spawn_despawn(),
                pool::spawn_despawn_batch(),
                sparse::spawn_despawn(),
            ]
        }
        Workload::Schedule => vec![
            frames::schedule(false),
            frames::schedule(true),
            frames::plain_schedule(false),
            frames::plain_schedule(true),
        ],
        Workload::HeavyCompute => vec![table::heavy_compute(), parallel::heavy_compute()],
        Workload::ParLight(size) => parallel::light(size).into(),
        Workload::GroupIter => {
            vec![
                table::group_iter(),
                plain::group_iter(),
                table::group_iter_chunks(),
                pool::group_iter(),
                sparse::group_iter(),
                group::group_iter(),
            ]
        }
        Workload::FrameEmpty => vec![frames::empty(false), frames::empty(true), frames::empty_app()],
        Workload::BulkInsert => vec![change::bulk_insert(), change::bulk_insert_loop()],
        Workload::Commands => vec![change::commands().plain()],
        Workload::Changed => vec![change::changed()],
        Workload::ChangedSpread => ticks::changed(true),
        Workload::ChangedClustered => ticks::changed(false),
        Workload::FrameOne => vec![frames::frame(false)],
        Workload::FrameTwo => vec![frames::frame(true)],
        Workload::GrowIter(size) => vec![table::simple_iter(size), fields::simple_iter_chunks(size)],
        Workload::GrowSpawn(size) => vec![change::grow_spawn(size)],
        Workload::GrowAddRemove(size) => vec![change::add_remove(size)],
    }
}
