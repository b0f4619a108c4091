//! SQL over worlds: DataFusion reads one that runs, Ballista the histories that several ranks wrote.
//!
//! `cargo run -- histories`: prints the answers, each compared with counts made by queries of the worlds, and leaves the
//! Parquet files in the folder.

use std::path::PathBuf;

use datafusion::error::Result;
use datafusion::prelude::SessionContext;

mod histories;
mod live;
mod model;
mod ranks;
mod rows;
mod tables;

async fn run(folder: PathBuf) -> Result<()> {
    println!("-- DataFusion, a live world");
    live::run().await?;

    let (counted, migrated) = ranks::write(&folder);
    println!(
        "-- {} ranks wrote {} frames; {migrated} fighters went to other ranks\n",
        ranks::RANKS,
        counted.len()
    );
    assert!(migrated > 0, "histories of one fighter are in several files");

    println!("-- DataFusion, the histories");
    histories::run(&SessionContext::new(), &folder, &counted).await?;
    #[cfg(feature = "ballista")]
    {
        use ballista::prelude::SessionContextExt;
        println!("-- Ballista in its standalone form, the histories");
        histories::run(&SessionContext::standalone().await?, &folder, &counted).await?;
    }
    println!("SQL agrees with counts of the worlds");
    Ok(())
}

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "histories".into()));
    std::fs::create_dir_all(&folder)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(folder))
}
