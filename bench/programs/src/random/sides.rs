//! The machine, once with bevy_ecs and once with Phalanx, and what differs between the two.

use std::collections::BTreeMap;

use super::program::{Condition, Hop, Kind, Op, Part, Program, SystemSpec, Target, Test, Tree};
use super::trace::{Log, Trace, Who, family_of};

/// A tuple of as many parts as there are, configured.
macro_rules! tuple_of {
    ($parts:ident, $into:ident) => {{
        let mut parts: std::collections::VecDeque<_> = $parts;
        let count = parts.len();
        let mut next = || parts.pop_front().expect("as many as counted");
        match count {
            1 => (next(),).$into(),
            2 => (next(), next()).$into(),
            3 => (next(), next(), next()).$into(),
            4 => (next(), next(), next(), next()).$into(),
            _ => unreachable!("tuples have one to four parts"),
        }
    }};
}

/// The function with a number, as a name for an expression.
macro_rules! with_function {
    ($index:expr, $function:ident => $use:expr) => {
        with_function!(@each $index, $function => $use, 0 1 2 3 4 5 6 7 8 9 10)
    };
    (@each $index:expr, $function:ident => $use:expr, $($number:literal)*) => {
        match $index {
            $($number => {
                let $function = reports::<$number>;
                $use
            })*
            _ => unreachable!("there are at most eleven systems"),
        }
    };
}

/// Says about systems or sets what is said about a tree.
macro_rules! say {
    ($configs:ident, $tree:ident, $program:ident, $log:ident) => {
        for set in &$tree.said.sets {
            $configs = $configs.in_set(Named(*set));
        }
        for (target, hop) in &$tree.said.before {
            $configs = match (target, hop) {
                (Target::System(i), Hop::Sync) if $program.systems[*i].kind == Kind::Function => {
                    with_function!(*i, function => $configs.before(function))
                }
                (Target::System(i), Hop::Sync) => $configs.before(Own(*i)),
                (Target::System(i), Hop::Ignore) => $configs.before_ignore_deferred(Own(*i)),
                (Target::Set(i), Hop::Sync) => $configs.before(Named(*i)),
                (Target::Set(i), Hop::Ignore) => $configs.before_ignore_deferred(Named(*i)),
            };
        }
        for (target, hop) in &$tree.said.after {
            $configs = match (target, hop) {
                (Target::System(i), Hop::Sync) if $program.systems[*i].kind == Kind::Function => {
                    with_function!(*i, function => $configs.after(function))
                }
                (Target::System(i), Hop::Sync) => $configs.after(Own(*i)),
                (Target::System(i), Hop::Ignore) => $configs.after_ignore_deferred(Own(*i)),
                (Target::Set(i), Hop::Sync) => $configs.after(Named(*i)),
                (Target::Set(i), Hop::Ignore) => $configs.after_ignore_deferred(Named(*i)),
            };
        }
        for Condition { id, test, negated } in &$tree.said.conditions {
            let (log, id, who) = ($log.clone(), *id, Who::Condition(*id));
            // Every closure writes down that it was asked.
            macro_rules! gate {
                ($holds:expr) => {
                    if *negated { $configs.run_if(not($holds)) } else { $configs.run_if($holds) }
                };
            }
            let _ = id;
            $configs = match *test {
                Test::Every(n) => gate!(move |mut asked: Local<u32>| {
                    *asked += 1;
                    log.say(who, format!("asked {}", *asked));
                    *asked % n == 0
                }),
                Test::Frames(frames) => gate!(move |frame: Res<Frame>| {
                    log.say(who, "asked".to_owned());
                    frames >> frame.0 & 1 == 1
                }),
                Test::Exists(0) => gate!(resource_exists::<First>),
                Test::Exists(_) => gate!(resource_exists::<Second>),
                Test::Changed(0) => gate!(move |resource: Option<Res<First>>| {
                    let changed = resource.is_some_and(|resource| resource.is_changed());
                    log.say(who, format!("changed {changed}"));
                    changed
                }),
                Test::Changed(_) => gate!(move |resource: Option<Res<Second>>| {
                    let changed = resource.is_some_and(|resource| resource.is_changed());
                    log.say(who, format!("changed {changed}"));
                    changed
                }),
                Test::Any(0) => gate!(any_with_component::<A>),
                Test::Any(1) => gate!(any_with_component::<B>),
                Test::Any(_) => gate!(any_with_component::<D>),
                Test::Heard(0) => gate!(on_message::<Ping>),
                Test::Heard(_) => gate!(on_message::<Pong>),
            };
        }
    };
}

/// What a query of a world yields with a filter, by key.
macro_rules! see {
    ($world:expr, $component:ty, $filter:ty) => {{
        let rows: Vec<(u32, i32)> =
            collect!($world, (&Key, &$component), $filter, |(key, component)| (key.0, component.0));
        listed(rows.into_iter())
    }};
}

pub mod bevy {
    use bevy_ecs::prelude::*;
    use bevy_ecs::query::Spawned;
    use bevy_ecs::schedule::{InternedSystemSet, ScheduleConfigs, SingleThreadedExecutor};
    use bevy_ecs::system::ScheduleSystem;

    use super::*;

    type Systems = ScheduleConfigs<ScheduleSystem>;
    type Sets = ScheduleConfigs<InternedSystemSet>;

    macro_rules! tracked {
        ($item:item) => {
            #[derive(Component)]
            $item
        };
    }

    macro_rules! collect {
        ($world:expr, $data:ty, $filter:ty, $map:expr) => {
            $world.query_filtered::<$data, $filter>().iter($world).map($map).collect()
        };
    }

    macro_rules! tuple {
        ($parts:ident) => {
            tuple_of!($parts, into_configs)
        };
    }
    use tuple as set_tuple;

    fn set_configs(set: Named) -> Sets {
        set.into_configs()
    }

    struct Host {
        world: World,
        schedule: Schedule,
    }

    impl Host {
        fn new() -> Self {
            let mut world = World::new();
            world.init_resource::<Messages<Ping>>();
            world.init_resource::<Messages<Pong>>();
            let mut schedule = Schedule::default();
            schedule.set_executor(SingleThreadedExecutor::new());
            Self { world, schedule }
        }

        fn add(&mut self, systems: Systems) {
            self.schedule.add_systems(systems);
        }

        fn configure(&mut self, sets: Sets) {
            self.schedule.configure_sets(sets);
        }

        fn run(&mut self) {
            self.schedule.run(&mut self.world);
        }

        /// What `bevy_app` does around a frame.
        fn end_frame(&mut self) {
            self.world.resource_mut::<Messages<Ping>>().update();
            self.world.resource_mut::<Messages<Pong>>().update();
            self.world.clear_trackers();
        }
    }

    include!("machine.rs");
}

pub mod phalanx {
    use ::phalanx::prelude::*;
    use ::phalanx::schedule::{Schedule, SetConfigs, SystemConfigs};

    use super::*;

    type Systems = SystemConfigs;
    type Sets = SetConfigs;

    macro_rules! tracked {
        ($item:item) => {
            #[derive(Component)]
            #[component(track = "row")]
            $item
        };
    }

    macro_rules! collect {
        ($world:expr, $data:ty, $filter:ty, $map:expr) => {
            $world.query_filtered::<$data, $filter>().iter($world).map($map).collect()
        };
    }

    macro_rules! tuple {
        ($parts:ident) => {
            tuple_of!($parts, into_configs)
        };
    }

    macro_rules! set_tuple {
        ($parts:ident) => {
            tuple_of!($parts, into_set_configs)
        };
    }

    fn set_configs(set: Named) -> Sets {
        set.into_set_configs()
    }

    struct Host {
        world: World,
        schedule: Schedule,
    }

    impl Host {
        fn new() -> Self {
            Self { world: World::new(), schedule: Schedule::default() }
        }

        fn add(&mut self, systems: Systems) {
            self.schedule.add_systems(systems);
        }

        fn configure(&mut self, sets: Sets) {
            self.schedule.configure_sets(sets);
        }

        fn run(&mut self) {
            self.schedule.run(&mut self.world);
        }

        fn end_frame(&mut self) {
            self.world.end_frame();
            self.world.clear_trackers();
        }
    }

    include!("machine.rs");
}
