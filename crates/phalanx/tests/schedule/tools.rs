//! Tools around schedules: ambiguities, weak orders, why systems did not run or waited, stepping.
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[path = "tools/ambiguity.rs"]
mod ambiguity;
#[path = "tools/manage.rs"]
mod manage;
#[path = "tools/skips.rs"]
mod skips;
#[path = "tools/stepping.rs"]
mod stepping;
#[path = "tools/weak.rs"]
mod weak;

#[derive(Resource, Default, Debug, PartialEq)]
struct Score(u32);
#[derive(Resource, Default)]
struct Other;
#[derive(Resource, Default, Debug)]
struct Log(Vec<&'static str>);

#[derive(Component, Clone, Copy, Default)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}

#[derive(SystemSet, Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Sets {
    A,
    B,
}

fn log(app: &mut App) -> Vec<&'static str> {
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}

fn app() -> App {
    let mut app = App::new();
    app.init_resource::<Score>().init_resource::<Other>().init_resource::<Log>();
    app.world_mut().register_component::<Position>();
    app
}
