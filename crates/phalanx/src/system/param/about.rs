//! What a system may know of itself: its name, and when it ran.
//!
//! Neither takes a flag nor declares access. The name is that of the function, also when the schedule calls the system
//! by another one.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use phalanx_store::Tick;

use super::super::meta::{Run, SystemMeta};
use super::SystemParam;
use crate::world::{SharedWorld, World};

/// The name of the system.
///
/// ```
/// use phalanx::prelude::*;
///
/// fn hello(name: SystemName) -> String {
///     format!("I am {name}")
/// }
/// assert_eq!(World::new().run_system_once(hello).unwrap(), "I am hello");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SystemName(Arc<str>);

impl SystemName {
    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Deref for SystemName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl SystemParam for SystemName {
    type State = Arc<str>;
    type Guard<'w> = &'w Arc<str>;
    type Item<'g> = Self;

    fn init(_: &mut World, meta: &mut SystemMeta) -> Arc<str> {
        meta.name().into()
    }
    fn lock<'w>(state: &'w Arc<str>, _: &'w SharedWorld<'w>, _: Run<'w>) -> &'w Arc<str> {
        state
    }
    fn item(guard: &mut Self::Guard<'_>) -> Self {
        Self(Arc::clone(guard))
    }
}

/// The ticks of a run: what changed after the last one is new to the system, and its own changes carry this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemChangeTick {
    this_run: Tick,
    last_run: Tick,
}

impl SystemChangeTick {
    /// The tick of this run.
    pub fn this_run(&self) -> Tick {
        self.this_run
    }

    /// The tick of the run before.
    pub fn last_run(&self) -> Tick {
        self.last_run
    }
}

impl SystemParam for SystemChangeTick {
    type State = ();
    type Guard<'w> = Self;
    type Item<'g> = Self;

    fn init(_: &mut World, _: &mut SystemMeta) {}
    fn lock<'w>((): &'w (), _: &'w SharedWorld<'w>, run: Run<'w>) -> Self {
        Self { this_run: run.now, last_run: run.since }
    }
    fn item(guard: &mut Self::Guard<'_>) -> Self {
        *guard
    }
}
