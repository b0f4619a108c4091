//! The workloads: names, numbers, how many items one run handles, and what is done.

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// A fresh world is filled in one batch.
    SimpleInsert,
    /// A fresh world is filled one entity at a time.
    InsertLoop,
    /// The same with eight components.
    InsertEight,
    /// The same with four components in sparse sets.
    InsertSparse,
    /// The same, and a group owns the four sets.
    InsertGroup,
    /// Position changes by velocity.
    SimpleIter,
    /// A million positions; caches hold something else.
    IterCold,
    /// A million positions, again and again.
    IterWarm,
    /// Few entities in many tables.
    FragmentedIter,
    /// Very many tables.
    FragmentedWide,
    /// Five components, one of them a matrix.
    FiveComponents,
    /// A query with `With`, `Option` and `Has`.
    Filtered,
    /// Two sparse sets without a group.
    PairSparse,
    /// A component comes and goes.
    AddRemove,
    /// A component comes and goes, the fastest way a library has for it.
    AddRemoveSparse,
    /// A component comes and goes in a group.
    AddRemoveGroup,
    /// Random lookups through a prepared accessor.
    RandomGet,
    /// Random lookups through the world.
    RandomGetWorld,
    /// Random writes through a prepared accessor.
    RandomGetMut,
    /// Random writes through the world.
    RandomGetMutWorld,
    /// Entities come and go in a warm world.
    SpawnDespawn,
    /// Three systems through the scheduler.
    Schedule,
    /// Much arithmetic per entity, on all cores.
    HeavyCompute,
    /// Little arithmetic per entity, on all cores.
    ParLight(usize),
    /// A query over components that some have.
    GroupIter,
    /// A frame of a hundred systems without work.
    FrameEmpty,
    /// A component for every entity of a table.
    BulkInsert,
    /// Recorded changes of all kinds, applied at once.
    Commands,
    /// Finding the little that changed.
    Changed,
    /// Finding one row in a hundred, all over a table.
    ChangedSpread,
    /// Finding one row in a hundred, all in one place.
    ChangedClustered,
    /// A frame of ten systems on one thread.
    FrameOne,
    /// The same frame on two threads.
    FrameTwo,
    /// `simple_iter` at another size.
    GrowIter(usize),
    /// Spawning one by one, at another size.
    GrowSpawn(usize),
    /// `add_remove` at another size.
    GrowAddRemove(usize),
}

/// Entities in most workloads.
pub const MANY: usize = 10_000;
/// Entities of `iter_1m`.
pub const MILLION: usize = 1_000_000;
/// Entities per table in `fragmented_iter`.
pub const PER_LETTER: usize = 20;
/// Tables of `fragmented_iter_wide` and `changed`.
pub const WIDE_TABLES: usize = 1_000;
/// Entities per table there.
pub const PER_WIDE_TABLE: usize = 10;
/// Lookups of `random_get`, and the entities there are.
pub const LOOKUPS: usize = 100_000;
/// Entities of `heavy_compute`.
pub const HEAVY: usize = 1_000;
/// Inversions per entity there.
pub const INVERSIONS: usize = 100;
/// Entities of `group_iter` and of the frames.
pub const HUNDRED_THOUSAND: usize = 100_000;
/// Rows that are written before each run of `changed_spread` and `changed_clustered`, of a hundred thousand.
pub const WRITTEN: usize = 1_000;
/// Systems of `frame_100_empty`.
pub const EMPTY_SYSTEMS: usize = 100;

use Workload::*;

/// All workloads, in the order of the tables.
pub const ALL: &[Workload] = &[
    SimpleInsert,
    InsertLoop,
    InsertEight,
    InsertSparse,
    InsertGroup,
    SimpleIter,
    IterCold,
    IterWarm,
    FragmentedIter,
    FragmentedWide,
    FiveComponents,
    Filtered,
    PairSparse,
    AddRemove,
    AddRemoveSparse,
    AddRemoveGroup,
    RandomGet,
    RandomGetWorld,
    RandomGetMut,
    RandomGetMutWorld,
    SpawnDespawn,
    Schedule,
    HeavyCompute,
    ParLight(10_000),
    ParLight(1_000_000),
    GroupIter,
    FrameEmpty,
    BulkInsert,
    Commands,
    Changed,
    ChangedSpread,
    ChangedClustered,
    FrameOne,
    FrameTwo,
    GrowIter(1_000),
    GrowIter(10_000),
    GrowIter(100_000),
    GrowIter(1_000_000),
    GrowSpawn(1_000),
    GrowSpawn(10_000),
    GrowSpawn(100_000),
    GrowSpawn(1_000_000),
    GrowAddRemove(1_000),
    GrowAddRemove(10_000),
    GrowAddRemove(100_000),
    GrowAddRemove(1_000_000),
];

impl Workload {
    /// What `--workload` takes.
    pub fn name(self) -> &'static str {
        match self {
            SimpleInsert => "simple_insert",
            InsertLoop => "insert_loop",
            InsertEight => "insert_loop_8",
            InsertSparse => "insert_loop_sparse",
            InsertGroup => "insert_loop_group",
            SimpleIter => "simple_iter",
            IterCold => "iter_1m_cold",
            IterWarm => "iter_1m_warm",
            FragmentedIter => "fragmented_iter",
            FragmentedWide => "fragmented_iter_wide",
            FiveComponents => "five_components",
            Filtered => "filtered",
            PairSparse => "pair_iter_sparse",
            AddRemove => "add_remove",
            AddRemoveSparse => "add_remove_sparse",
            AddRemoveGroup => "add_remove_group",
            RandomGet => "random_get",
            RandomGetWorld => "random_get_world",
            RandomGetMut => "random_get_mut",
            RandomGetMutWorld => "random_get_mut_world",
            SpawnDespawn => "spawn_despawn",
            Schedule => "schedule",
            HeavyCompute => "heavy_compute",
            ParLight(size) => {
                sized(size, ["par_light_1e3", "par_light_1e4", "par_light_1e5", "par_light_1e6"])
            }
            GroupIter => "group_iter",
            FrameEmpty => "frame_100_empty",
            BulkInsert => "bulk_insert",
            Commands => "commands",
            Changed => "changed",
            ChangedSpread => "changed_spread",
            ChangedClustered => "changed_clustered",
            FrameOne => "frame_10_one_thread",
            FrameTwo => "frame_10_two_threads",
            GrowIter(size) => {
                sized(size, ["grow_iter_1e3", "grow_iter_1e4", "grow_iter_1e5", "grow_iter_1e6"])
            }
            GrowSpawn(size) => {
                sized(size, ["grow_spawn_1e3", "grow_spawn_1e4", "grow_spawn_1e5", "grow_spawn_1e6"])
            }
            GrowAddRemove(size) => sized(
                size,
                ["grow_add_remove_1e3", "grow_add_remove_1e4", "grow_add_remove_1e5", "grow_add_remove_1e6"],
            ),
        }
    }

    /// The number by which the documentation speaks of it.
    pub fn number(self) -> &'static str {
        match self {
            SimpleInsert => "1",
            InsertLoop => "1b",
            InsertEight => "1c",
            InsertSparse => "1d",
            InsertGroup => "1e",
            SimpleIter => "2",
            IterCold => "3 cold",
            IterWarm => "3 warm",
            FragmentedIter => "4",
            FragmentedWide => "4b",
            FiveComponents => "4c",
            Filtered => "4d",
            PairSparse => "4e",
            AddRemove => "5",
            AddRemoveSparse => "6",
            AddRemoveGroup => "6b",
            RandomGet => "7",
            RandomGetWorld => "7b",
            RandomGetMut => "7c",
            RandomGetMutWorld => "7d",
            SpawnDespawn => "8",
            Schedule => "9",
            HeavyCompute => "10",
            ParLight(_) => "10b",
            GroupIter => "11",
            FrameEmpty => "12",
            BulkInsert => "13",
            Commands => "14",
            Changed => "15",
            ChangedSpread => "15b",
            ChangedClustered => "15c",
            FrameOne => "16",
            FrameTwo => "16b",
            GrowIter(_) => "17",
            GrowSpawn(_) => "18",
            GrowAddRemove(_) => "19",
        }
    }

    /// What one run does.
    pub fn about(self) -> &'static str {
        match self {
            SimpleInsert => "a new world, 10,000 entities (64 B matrix + 3 x 12 B), in one batch",
            InsertLoop => "the same, one spawn per entity",
            InsertEight => {
                "a new world, 10,000 entities of eight components with one f32 each, one spawn per entity"
            }
            InsertSparse => "as insert_loop, with all four components in sparse sets",
            InsertGroup => "the same, and a group owns the four sets",
            SimpleIter => "10,000 entities: position += velocity * dt, 3 x f32",
            IterCold => {
                "1,000,000 entities: position += velocity * dt, 2 x f32, caches emptied before each run"
            }
            IterWarm => "the same, run after run",
            FragmentedIter => "26 tables x 20 entities: add to one f32",
            FragmentedWide => "1,000 tables x 10 entities: add to one f32",
            FiveComponents => {
                "10,000 entities: position += velocity * dt, then into a 64 B matrix with rotation and scale"
            }
            Filtered => "10,000 of 20,000 entities: A += B, by an optional C and whether there is D, with E",
            PairSparse => "two sparse sets filled in different orders, no group: 50,000 with both, A += B",
            AddRemove => "10,000 entities with A: add B to each, then remove B from each",
            AddRemoveSparse => "the same through each library's fastest documented way",
            AddRemoveGroup => "the same in sparse sets that a group owns",
            RandomGet => "100,000 lookups in random order among 100,000 entities, accessor made before",
            RandomGetWorld => "the same, each through the world",
            RandomGetMut => "100,000 writes in random order among 100,000 entities, accessor made before",
            RandomGetMutWorld => "the same, each through the world",
            SpawnDespawn => "spawn 10,000 entities with two components, then despawn them, in a warm world",
            Schedule => "three systems swap pairs over 4 x 10,000 entities, through the scheduler",
            HeavyCompute => "1,000 entities: 100 inversions of a 4x4 matrix each, on all cores",
            ParLight(_) => "position += velocity * dt, 3 x f32, on all cores where that pays",
            GroupIter => "100,000 entities with A, half with B, a quarter with C: (mut A, B, C)",
            FrameEmpty => "one frame of 100 systems that do nothing, per system",
            BulkInsert => "10,000 entities of one table get another component",
            Commands => "10,000 recorded changes: spawn, insert, remove, despawn by turns; record and apply",
            Changed => "1,000 tables x 10 entities, one table written: visit what changed, per run",
            ChangedSpread => "1,000 of 100,000 rows written, all over the table: visit them, per row written",
            ChangedClustered => "the same, written side by side",
            FrameOne => "ten systems over 100,000 entities through the scheduler, one thread",
            FrameTwo => "the same, two threads",
            GrowIter(_) => "position += velocity * dt, 3 x f32, warm",
            GrowSpawn(_) => "a new world, one spawn per entity with two components",
            GrowAddRemove(_) => "entities with A: add B to each, then remove B from each",
        }
    }

    /// How many items one run handles: times are given per item.
    pub fn items(self) -> usize {
        match self {
            SimpleInsert | InsertLoop | InsertEight | InsertSparse | InsertGroup | SimpleIter | AddRemove
            | AddRemoveSparse | AddRemoveGroup | SpawnDespawn | BulkInsert | Commands | FiveComponents
            | Filtered => MANY,
            IterCold | IterWarm => MILLION,
            FragmentedIter => 26 * PER_LETTER,
            FragmentedWide => WIDE_TABLES * PER_WIDE_TABLE,
            PairSparse => HUNDRED_THOUSAND / 2,
            RandomGet | RandomGetWorld | RandomGetMut | RandomGetMutWorld => LOOKUPS,
            Schedule => 6 * MANY,
            HeavyCompute => HEAVY,
            GroupIter => HUNDRED_THOUSAND / 4,
            FrameEmpty => EMPTY_SYSTEMS,
            Changed => 1,
            ChangedSpread | ChangedClustered => WRITTEN,
            FrameOne | FrameTwo => 10 * HUNDRED_THOUSAND,
            GrowIter(size) | GrowSpawn(size) | GrowAddRemove(size) | ParLight(size) => size,
        }
    }

    /// Whether a run that is not timed goes before each sample.
    pub fn warms_up(self) -> bool {
        self != IterCold
    }

    /// Whether this belongs to the growth curves.
    pub fn is_curve(self) -> bool {
        matches!(self, GrowIter(_) | GrowSpawn(_) | GrowAddRemove(_))
    }
}

fn sized(size: usize, names: [&'static str; 4]) -> &'static str {
    match size {
        0..=1_000 => names[0],
        1_001..=10_000 => names[1],
        10_001..=100_000 => names[2],
        _ => names[3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = ALL.iter().map(|workload| workload.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
    }
}
