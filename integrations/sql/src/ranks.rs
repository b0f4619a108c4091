//! Several ranks write their histories, each its own Parquet file.

use std::fs::File;
use std::path::Path;

use phalanx::prelude::*;
use phalanx_arrow::{Export, History, record_batches};
use phalanx_mpi::{
    Bounds, Cluster, ClusterTypes, Ghost, GlobalId, GlobalOrder, Outbox, Partition, Transport, run_local,
};

use crate::model::{self, Count, Faction, Health, Position, SIDE};

/// How many ranks there are, and frames.
pub const RANKS: usize = 3;
pub const FRAMES: u64 = 20;

/// Runs the battle on threads as ranks, and returns what was counted in each frame on all of them, and how many fighters went
/// from rank to rank. Under `mpirun` it is the same program with another transport.
pub fn write(folder: &Path) -> (Vec<Count>, u64) {
    let results = run_local(RANKS, |transport| write_rank(transport, folder));
    let mut frames = vec![Count::new(); usize::try_from(FRAMES).expect("few frames")];
    let mut migrated = 0;
    for (counts, moved) in results {
        migrated += moved;
        for (frame, count) in frames.iter_mut().zip(counts) {
            for (faction, (fighters, sum)) in count {
                let all = frame.entry(faction).or_default();
                *all = (all.0 + fighters, all.1 + sum);
            }
        }
    }
    (frames, migrated)
}

fn write_rank(transport: impl Transport, folder: &Path) -> (Vec<Count>, u64) {
    let (rank, ranks) = (transport.rank(), transport.ranks());
    let mut app = App::new();
    app.insert_resource(Outbox::default()).insert_resource(GlobalOrder::default());
    app.add_systems(Update, (model::fight, model::walk).chain());
    let travels =
        ClusterTypes::located::<Position>().saved::<Position>().saved::<Faction>().saved::<Health>();
    // Strips along x, so that walking entities go from rank to rank.
    let cells = Partition::strips(Bounds::square(SIDE.into()), [60, 1, 1], ranks);
    let mut cluster = Cluster::new(transport, travels.halo::<Position>(), cells, 2.0, model::FIGHTERS);
    model::populate(app.world_mut(), |place| cluster.owns(place));

    let types = model::types();
    let path = folder.join(format!("rank-{rank}.parquet"));
    let file = File::create(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let sample = sample(&types);
    let mut history = None;
    let mut counts = Vec::new();
    for frame in 0..FRAMES {
        cluster.exchange(app.world_mut()).expect("all ranks are there");
        let world = app.world_mut();
        let (id, ghost) = (world.register_component::<GlobalId>(), world.register_component::<Ghost>());
        // Ghosts are in the history of the rank that owns them.
        let owned = world.query_builder().with(id).without(ghost).build();
        let history = history.get_or_insert_with(|| {
            let file = file.try_clone().expect("a handle");
            History::parquet(file, Export::new(&types).matching(owned)).with_schema(&sample)
        });
        history.append_at(app.world(), frame).expect("a frame is written");
        counts.push(model::count(app.world()));
        app.step(0.02);
    }
    history.expect("there were frames").finish().expect("the file is written");
    (counts, cluster.stats().migrated)
}

/// The columns of all files, whatever a rank owns in its first frame.
fn sample(types: &phalanx_arrow::ArrowTypes) -> std::sync::Arc<datafusion::arrow::datatypes::Schema> {
    let mut world = World::new();
    world.spawn((GlobalId(0), Position { x: 0.0, y: 0.0 }, Faction::Red, Health { hp: 0.0 }));
    record_batches(&world, types).expect("all types can be exported").schema
}
