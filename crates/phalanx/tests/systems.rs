//! What systems take and give: parameters, resources, messages, commands, errors.
#![forbid(unsafe_code)]

#[allow(dead_code, unused_macros, unused_imports, reason = "this program uses a part")]
#[path = "common"]
mod common {
    pub mod random;
    pub mod steps;
}

#[path = "systems/commands.rs"]
mod commands;
#[path = "systems/commands_model.rs"]
mod commands_model;
#[path = "systems/disjoint.rs"]
mod disjoint;
#[path = "systems/error_texts.rs"]
mod error_texts;
#[path = "systems/generic.rs"]
mod generic;
#[path = "systems/message_columns.rs"]
mod message_columns;
#[path = "systems/messages.rs"]
mod messages;
#[path = "systems/params.rs"]
mod params;
#[path = "systems/registered.rs"]
mod registered;
#[path = "systems/registered_model.rs"]
mod registered_model;
#[path = "systems/resources_lent.rs"]
mod resources_lent;
