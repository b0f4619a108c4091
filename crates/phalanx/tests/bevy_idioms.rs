//! Programs that know bevy_ecs 0.20 and not Phalanx: one function per idiom, named for the method it shows.
//!
//! Every file sees `use phalanx::prelude::*` and the standard library, and nothing else: what compiles here compiles
//! for a user that changed the `use` line. `docs/from-bevy.md` lists every public method of bevy's types and
//! names the function that shows it; `table` holds the two together.
#![forbid(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
#![allow(clippy::explicit_iter_loop, clippy::unnecessary_mut_passed, reason = "written as for bevy")]
#![allow(clippy::redundant_closure_for_method_calls, reason = "written as for bevy")]

#[path = "bevy_idioms/app.rs"]
mod app;
#[path = "bevy_idioms/by_id.rs"]
mod by_id;
#[path = "bevy_idioms/commands.rs"]
mod commands;
#[path = "bevy_idioms/commands_more.rs"]
mod commands_more;
#[path = "bevy_idioms/entity.rs"]
mod entity;
#[path = "bevy_idioms/entity_more.rs"]
mod entity_more;
#[path = "bevy_idioms/generic.rs"]
mod generic;
#[path = "bevy_idioms/names.rs"]
mod names;
#[path = "bevy_idioms/params_built.rs"]
mod params_built;
#[path = "bevy_idioms/params_more.rs"]
mod params_more;
#[path = "bevy_idioms/plugins.rs"]
mod plugins;
#[path = "bevy_idioms/prelude.rs"]
mod prelude;
#[path = "bevy_idioms/queries_more.rs"]
mod queries_more;
#[path = "bevy_idioms/query.rs"]
mod query;
#[path = "bevy_idioms/query_forms.rs"]
mod query_forms;
#[path = "bevy_idioms/query_state.rs"]
mod query_state;
#[path = "bevy_idioms/reactions.rs"]
mod reactions;
#[path = "bevy_idioms/relations.rs"]
mod relations;
#[path = "bevy_idioms/schedule.rs"]
mod schedule;
#[path = "bevy_idioms/state.rs"]
mod state;
#[path = "bevy_idioms/stepping.rs"]
mod stepping;
#[path = "bevy_idioms/table.rs"]
mod table;
#[path = "bevy_idioms/time.rs"]
mod time;
#[path = "bevy_idioms/tools.rs"]
mod tools;
#[path = "bevy_idioms/traits.rs"]
mod traits;
#[path = "bevy_idioms/whole.rs"]
mod whole;
#[path = "bevy_idioms/world.rs"]
mod world;
#[path = "bevy_idioms/world_more.rs"]
mod world_more;
