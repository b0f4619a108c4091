//! DataFusion reads a world while it runs.

use std::sync::{Arc, RwLock};

use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use phalanx::prelude::*;

use crate::model::{self, count};
use crate::rows::{JOIN, averages, expect, show};
use crate::tables::register;

/// Asks the same question of the same tables, while the world goes on between.
pub async fn run() -> Result<()> {
    let mut world = World::new();
    model::populate(&mut world, |_| true);
    let world = Arc::new(RwLock::new(world));
    let mut schedule = Schedule::default();
    schedule.add_systems((model::fight, model::walk).chain());

    let context = SessionContext::new();
    let tables = register(&context, &world, &model::types())?;
    println!("a live world with the tables {}", tables.join(", "));
    let mut before = None;
    for frames in [0, 10, 10] {
        for _ in 0..frames {
            schedule.run(&mut world.write().expect("no system panicked"));
        }
        let batches = context.sql(JOIN).await?.collect().await?;
        let tick = world.read().expect("no system panicked").read_change_tick().get();
        println!("tick {tick}: {JOIN}");
        show(&batches)?;
        let found = averages(&batches);
        expect(&found, &count(&world.read().expect("no system panicked")));
        assert_ne!(Some(&found), before.as_ref(), "the tables show the world of now");
        before = Some(found);
    }
    // Three components, a filter on a number, and entities that lack one of them.
    let left = "select count(*) from Position p left join Faction f using (entity) where f.entity is null and x < 30";
    let batches = context.sql(left).await?.collect().await?;
    println!("{left}");
    show(&batches)?;
    let world = world.read().expect("no system panicked");
    let by_hand = world.view_filtered::<&model::Position, Without<model::Faction>>();
    let by_hand = by_hand.iter().filter(|position| position.x < 30.0).count();
    assert_eq!(crate::rows::number(&batches), by_hand as u64);
    Ok(())
}
