//! SQL over the histories of several ranks: by Ballista, which would spread it over machines, and by DataFusion alone.

use std::path::Path;

use datafusion::error::Result;
use datafusion::prelude::{ParquetReadOptions, SessionContext};

use crate::model::Count;
use crate::ranks::FRAMES;
use crate::rows::{JOIN, averages, expect, number, show, totals};

/// Asks the histories of all ranks, frame by frame, and of all frames together.
pub async fn run(context: &SessionContext, folder: &Path, counted: &[Count]) -> Result<()> {
    let folder = folder.to_str().expect("a path in UTF-8");
    context.register_parquet("history", folder, ParquetReadOptions::default()).await?;
    let all: u64 = counted.iter().flat_map(|frame| frame.values()).map(|(fighters, _)| fighters).sum();
    let rows = "select count(*) from history where \"Faction\" is not null and \"Health.hp\" is not null";
    assert_eq!(
        number(&context.sql(rows).await?.collect().await?),
        all,
        "every row is in the history of one rank"
    );

    for frame in [0, FRAMES / 2, FRAMES - 1] {
        tables_of(context, &format!("tick = {frame}")).await?;
        let batches = context.sql(JOIN).await?.collect().await?;
        println!("tick {frame}: {JOIN}");
        show(&batches)?;
        expect(&averages(&batches), &counted[usize::try_from(frame).expect("few frames")]);
    }
    tables_of(context, "true").await?;
    let over_time = "select health.tick as tick, faction, count(*) as fighters, sum(hp) as hp from Health \
                     join Faction using (tick, entity) where health.tick % 10 = 9 group by 1, 2 order by 1, 2";
    let batches = context.sql(over_time).await?.collect().await?;
    println!("{over_time}");
    show(&batches)?;
    let mut by_hand = Vec::new();
    for (tick, frame) in (0_u64..).zip(counted).filter(|(tick, _)| tick % 10 == 9) {
        by_hand
            .extend(frame.iter().map(|(faction, (fighters, sum))| (tick, faction.clone(), *fighters, *sum)));
    }
    assert_eq!(totals(&batches), by_hand, "SQL and queries of the worlds agree");
    Ok(())
}

/// The history as one table per component, as a live world is: entities by the ids that all ranks know.
async fn tables_of(context: &SessionContext, rows: &str) -> Result<()> {
    for (table, column, field) in [("health", "Health.hp", "hp"), ("faction", "Faction", "faction")] {
        let view = format!(
            "create or replace view {table} as select tick, \"phalanx.mpi.GlobalId\" as entity, \"{column}\" as {field} from history \
             where \"{column}\" is not null and {rows}"
        );
        // Done when it is asked for: it has no rows.
        context.sql(&view).await?;
    }
    Ok(())
}
