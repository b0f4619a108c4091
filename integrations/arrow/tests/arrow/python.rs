//! pyarrow and DuckDB read what was written, and count and sum as we do.
//!
//! `PHALANX_PYTHON` names a Python that has both; `.ci/run arrow` makes one. Without it the test says that it is skipped.

use std::path::PathBuf;
use std::process::Command;

use phalanx::prelude::*;
use phalanx_arrow::{Export, History, write_file, write_stream};

use crate::types::*;

const SCRIPT: &str = r#"
import sys, pyarrow as pa, pyarrow.ipc as ipc, pyarrow.compute as pc, duckdb
folder = sys.argv[1]
table = ipc.open_file(folder + '/world.arrow').read_all()
assert table.equals(ipc.open_stream(folder + '/world.arrows').read_all())
column = lambda name: table.column(name)
print(table.num_rows, pc.sum(column('Position.x')).as_py(), column('Position.x').null_count)
print(pc.sum(column('Unit.hp')).as_py(), pc.sum(pc.cast(pc.equal(column('Faction'), 'Red'), pa.int64())).as_py())
db = duckdb.connect()
db.register('world', table)
row = db.sql('select count(*), sum("Position.x"), sum(cast("Position.x" is null as int)) from world').fetchall()[0]
print(row[0], row[1], row[2])
row = db.sql('''select sum("Unit.hp"), sum(cast(Faction = 'Red' as int)) from world''').fetchall()[0]
print(row[0], row[1])
if len(sys.argv) > 2:
    row = db.sql(f"select count(distinct tick), count(*), sum(\"Position.x\") from '{folder}/history.parquet'").fetchall()[0]
    print(row[0], row[1], row[2])
"#;

fn world() -> World {
    let mut random = Random(77);
    let mut world = World::new();
    for at in 0..5000_i32 {
        let mut entity = world.spawn_empty();
        if random.chance() {
            // Whole numbers, so that sums are exact in any order.
            entity.insert(Position { x: at as f32, y: 0.0 });
        }
        if random.chance() {
            entity.insert(if random.chance() { Faction::Red } else { Faction::Blue });
        }
        if random.chance() {
            let name = at.to_string();
            let (at, kind, scars) = ([0.0; 3], Kind::Rider, vec![1]);
            let hp = random.below(50) as i16;
            entity.insert(Unit { hp, name, at, kind, boss: true, scars, target: None });
        }
    }
    world
}

#[test]
fn pyarrow_and_duckdb_agree_with_us() {
    let Some(python) = std::env::var_os("PHALANX_PYTHON") else {
        println!("skipped: PHALANX_PYTHON names no Python with pyarrow and duckdb");
        return;
    };
    let world = world();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("python");
    std::fs::create_dir_all(&folder).unwrap();
    let create = |name: &str| std::fs::File::create(folder.join(name)).unwrap();
    let types = types();
    let exported = Export::new(&types).run(&world).unwrap();
    write_file(create("world.arrow"), &exported).unwrap();
    write_stream(create("world.arrows"), &exported).unwrap();

    let xs: f64 = world.view::<&Position>().iter().map(|position| f64::from(*position.x)).sum();
    let missing = 5000 - world.view::<&Position>().iter().count();
    let hp: i64 = world.view::<&Unit>().iter().map(|unit| i64::from(unit.hp)).sum();
    let red = world.view::<&Faction>().iter().filter(|&&faction| faction == Faction::Red).count();
    let once = format!("5000 {xs:?} {missing}\n{hp} {red}\n");
    let mut expected = format!("{once}{once}");
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]).arg(&folder);
    if cfg!(feature = "parquet") {
        history(&world, &folder);
        command.arg("history");
        expected += &format!("4 20000 {:?}\n", xs * 4.0);
    }
    let output = command.output().expect("PHALANX_PYTHON can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[cfg(feature = "parquet")]
fn history(world: &World, folder: &std::path::Path) {
    let types = types();
    let path = folder.join("history.parquet");
    let mut history = History::parquet(std::fs::File::create(&path).unwrap(), Export::new(&types));
    (0..4).for_each(|tick| assert_eq!(history.append_at(world, tick).unwrap(), []));
    history.finish().unwrap();
    let read = phalanx_arrow::read_parquet(std::fs::File::open(&path).unwrap()).unwrap();
    assert_eq!(read.iter().map(|batch| batch.num_rows()).sum::<usize>(), 20_000);
}

#[cfg(not(feature = "parquet"))]
fn history(_: &World, _: &std::path::Path) {
    let _ = History::<Vec<u8>>::stream;
}
