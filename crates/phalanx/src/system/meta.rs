//! What a system declares about itself while its parameters are made.
//!
//! Each parameter adds its access under its own name. The first two that cannot go together are remembered;
//! whoever adds the system refuses it then, and names both.

use std::fmt;

use phalanx_store::{Conflict, Tick};

use super::access::{Access, Part};
use crate::world::World;

/// One run of a system, as its parameters see it.
#[derive(Clone, Copy, Debug)]
pub struct Run<'w> {
    /// The system's name.
    pub name: &'w str,
    /// The tick that writes of this run carry.
    pub now: Tick,
    /// The tick of the run before: what is newer counts as changed.
    pub since: Tick,
}

impl Run<'_> {
    /// Says that a part is in use which the schedule should have kept free.
    #[cold]
    pub(crate) fn busy(self, what: &dyn fmt::Display) -> ! {
        panic!("system `{}` cannot use {what}: another system uses it at the same time", self.name)
    }

    /// As [`Run::busy`], for a column of a query.
    #[cold]
    pub(crate) fn busy_column(self, conflict: Conflict) -> ! {
        self.busy(&format_args!("a column ({conflict})"))
    }
}

/// Two parameters of one system that use the same part, and one of them writes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParamConflict {
    /// The system.
    pub system: String,
    /// The first parameter.
    pub first: String,
    /// The second parameter.
    pub second: String,
    /// What both use.
    pub part: String,
}

impl fmt::Display for ParamConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, first, second, part } = self;
        write!(
            f,
            "parameters `{first}` and `{second}` of system `{system}` both use `{part}`, and one of them writes: \
             merge them, or put them into a `ParamSet`"
        )
    }
}

impl std::error::Error for ParamConflict {}

/// What is known of a system.
#[derive(Clone, Debug)]
pub struct SystemMeta {
    pub(crate) name: String,
    declared: Vec<(String, Access)>,
    access: Access,
    conflict: Option<Box<ParamConflict>>,
    pub(crate) defers: bool,
}

impl SystemMeta {
    pub(crate) fn new(name: String) -> Self {
        Self { name, declared: Vec::new(), access: Access::new(), conflict: None, defers: false }
    }

    /// The system's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What all parameters together use.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Adds what a parameter uses.
    pub fn declare(&mut self, world: &World, param: String, access: Access) {
        let clash = self.declared.iter().find_map(|(name, known)| {
            let part = known.first_conflict(&access)?;
            Some((name, part))
        });
        if let (None, Some((first, part))) = (&self.conflict, clash) {
            let first = first.clone();
            self.refuse(world, first, param.clone(), part);
        }
        self.access.extend(&access);
        self.declared.push((param, access));
    }

    /// As [`SystemMeta::declare`], for a parameter that uses columns.
    pub(crate) fn declare_columns(&mut self, world: &World, param: String, uses: &[phalanx_store::Access]) {
        let mut access = Access::new();
        uses.iter().for_each(|used| access.use_column(used.column, used.writes));
        self.declare(world, param, access);
    }

    /// Says that the system keeps something to be applied at the next sync point.
    pub fn declare_deferred(&mut self) {
        self.defers = true;
    }

    /// Says that a parameter contradicts itself.
    pub(crate) fn refuse_query(&mut self, first: String, second: String, part: String) {
        let system = self.name.clone();
        self.conflict.get_or_insert_with(|| Box::new(ParamConflict { system, first, second, part }));
    }

    fn refuse(&mut self, world: &World, first: String, second: String, part: Part) {
        self.refuse_query(first, second, part.name(world));
    }

    /// Adds parameters of which only one is in use at a time; `each` is what each of them declared.
    pub(crate) fn declare_set(&mut self, world: &World, name: String, each: Vec<Self>) {
        let mut all = Access::new();
        for part in each {
            all.extend(&part.access);
            self.defers |= part.defers;
            if let (None, Some(conflict)) = (&self.conflict, part.conflict) {
                self.conflict = Some(conflict);
            }
        }
        self.declare(world, name, all);
    }

    /// The same system, with nothing declared yet.
    pub(crate) fn fork(&self) -> Self {
        Self::new(self.name.clone())
    }

    /// What stands against the system; then it is again as `before`.
    pub(crate) fn checked(&mut self, before: Self) -> Result<(), ParamConflict> {
        match self.conflict.take() {
            Some(conflict) => {
                *self = before;
                Err(*conflict)
            }
            None => Ok(()),
        }
    }
}
