//! What the programs need of `bevy_app`, on `bevy_ecs` alone: an app with phases that run in bevy's order.
//!
//! Startup phases run once, before the first frame. Messages are brought up to date before the others, as bevy's
//! `First` does it; change trackers are cleared at the end of a frame.

use bevy_ecs::message::Message;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{InternedSystemSet, ScheduleLabel};
use bevy_ecs::system::ScheduleSystem;

macro_rules! phases {
    ($($name:ident)*) => {$(
        #[derive(ScheduleLabel, Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name;
    )*};
}
phases!(PreStartup Startup PostStartup PreUpdate Update PostUpdate);

pub struct App {
    world: World,
    started: bool,
    messages: Vec<fn(&mut World)>,
}

impl App {
    pub fn new() -> Self {
        let mut world = World::new();
        world.init_resource::<Schedules>();
        Self { world, started: false, messages: Vec::new() }
    }

    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    pub fn add_systems<M>(
        &mut self,
        label: impl ScheduleLabel,
        systems: impl IntoScheduleConfigs<ScheduleSystem, M>,
    ) -> &mut Self {
        self.world.resource_mut::<Schedules>().add_systems(label, systems);
        self
    }

    pub fn configure_sets<M>(
        &mut self,
        label: impl ScheduleLabel,
        sets: impl IntoScheduleConfigs<InternedSystemSet, M>,
    ) -> &mut Self {
        self.world.resource_mut::<Schedules>().configure_sets(label, sets);
        self
    }

    pub fn insert_resource<R: Resource>(&mut self, resource: R) -> &mut Self {
        self.world.insert_resource(resource);
        self
    }

    pub fn init_resource<R: Resource + FromWorld>(&mut self) -> &mut Self {
        self.world.init_resource::<R>();
        self
    }

    pub fn add_message<M: Message>(&mut self) -> &mut Self {
        self.world.init_resource::<Messages<M>>();
        self.messages.push(|world| world.resource_mut::<Messages<M>>().update());
        self
    }

    pub fn update(&mut self) {
        if !std::mem::replace(&mut self.started, true) {
            self.run(PreStartup);
            self.run(Startup);
            self.run(PostStartup);
        }
        for update in &self.messages {
            update(&mut self.world);
        }
        self.run(PreUpdate);
        self.run(Update);
        self.run(PostUpdate);
        self.world.clear_trackers();
    }

    /// Runs a phase, if anything was added to it.
    fn run(&mut self, label: impl ScheduleLabel) {
        let _ = self.world.try_run_schedule(label);
    }
}
