//! Programs written once for both libraries: each file is compiled twice, and only the `use` lines above it differ.
//!
//! A file defines `program`, which returns what the program prints. `tracked!` stands for `#[derive(Component)]` with
//! change detection, which here is an attribute: the one line of a program that is not the same. Programs about clocks and
//! states run on bevy's own `App`; `app_with_clocks`, `frame_of` and `app_with_states` make an app whose time is given.

macro_rules! topics {
    ($($name:ident)* ; of apps: $($of_app:ident)*) => {
        /// Their names, with both programs.
        pub const ALL: &[(&str, fn() -> String, fn() -> String)] = &[
            $((stringify!($name), bevy::$name::program, phalanx::$name::program),)*
            $((stringify!($of_app), bevy::$of_app::program, phalanx::$of_app::program),)*
        ];

        mod bevy {
            macro_rules! tracked {
                ($item:item) => {
                    #[derive(Component)]
                    $item
                };
            }
            $(pub mod $name {
                #[allow(unused_imports)]
                use {
                    bevy_ecs::entity::EntityCloner,
                    bevy_ecs::entity_disabling::Disabled,
                    bevy_ecs::prelude::*,
                    bevy_ecs::schedule::ScheduleLabel,
                    bevy_ecs::system::{
                        QueryLens, RunSystemOnce, SystemBuffer, SystemId, SystemMeta, SystemParam,
                    },
                    bevy_ecs::world::DeferredWorld,
                    crate::bevy_app::*,
                };
                include!(concat!("topics/", stringify!($name), ".rs"));
            })*
            $(pub mod $of_app {
                #[allow(unused_imports)]
                use {
                    crate::apps::bevy::*,
                    ::bevy_app::{PluginGroupBuilder, prelude::*},
                    ::bevy_derive::{Deref, DerefMut},
                    ::bevy_state::prelude::*,
                    ::bevy_time::Stopwatch,
                    ::bevy_time::common_conditions::*,
                    ::bevy_time::prelude::*,
                    bevy_ecs::prelude::*,
                    bevy_ecs::system::RunSystemOnce,
                };
                include!(concat!("topics/", stringify!($of_app), ".rs"));
            })*
        }

        mod phalanx {
            macro_rules! tracked {
                ($item:item) => {
                    #[derive(Component)]
                    #[component(track = "row")]
                    $item
                };
            }
            $(pub mod $name {
                #[allow(unused_imports)]
                use ::phalanx::{entity::EntityCloner, prelude::*, system::SystemMeta};
                include!(concat!("topics/", stringify!($name), ".rs"));
            })*
            $(pub mod $of_app {
                #[allow(unused_imports)]
                use {::phalanx::prelude::*, crate::apps::phalanx::*};
                include!(concat!("topics/", stringify!($of_app), ".rs"));
            })*
        }
    };
}

topics! {
    bubbling
    change_detection
    cloning
    combinations
    conditions
    custom_params
    custom_schedules
    deferred_buffers
    disabling
    disjoint_queries
    entity_commands
    fixed_step
    generic_systems
    hierarchy
    hooks
    lenses
    messages
    observers
    one_shot
    optional_params
    ordering
    own_relations
    param_sets
    piping
    queries
    removal
    requirements
    resources
    world_access
    ; of apps:
    fallible
    fixed_update
    plugins
    screens
    states
    timers
}

/// Runs all programs, prints where the two sides differ, and returns how many there are and how many differ.
pub fn compare() -> (usize, usize) {
    let mut differing = 0;
    for (name, bevy, phalanx) in ALL {
        let (bevy, phalanx) = (bevy(), phalanx());
        // A program that prints nothing shows nothing.
        if bevy != phalanx || bevy.is_empty() {
            differing += 1;
            println!("{name}\n--- bevy_ecs\n{bevy}--- phalanx\n{phalanx}");
        }
    }
    (ALL.len(), differing)
}
