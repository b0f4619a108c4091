//! What a system declares about itself while its parameters are made.
//!
//! Each parameter adds its access under its own name. The first two that cannot go together are remembered;
//! adding the system refuses it then, and names both.

use std::fmt;
use std::sync::Arc;

use phalanx_store::{Conflict, InUse, Tick};

use super::access::Access;
use super::reach::{Reach, SplitColumns};
use crate::query::Extent;
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
    // By parts: what is passed on as a whole lies in memory, also where nothing is in use.
    #[inline(always)]
    pub(crate) fn busy(self, what: &dyn fmt::Display) -> ! {
        busy(self.name, what)
    }
}

impl InUse for Run<'_> {
    fn panic(&self, conflict: Conflict) -> ! {
        self.busy(&format_args!("a column ({conflict})"))
    }
}

#[cold]
#[inline(never)]
fn busy(system: &str, what: &dyn fmt::Display) -> ! {
    panic!("system `{system}` cannot use {what}: another system uses it at the same time")
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
    /// What both use; of a sparse component it says so.
    pub part: String,
    /// The one parameter of which both are parts, a query.
    pub within: Option<String>,
}

/// What stands behind the name of a sparse component.
const SPARSE: &str = " (sparse)";
/// For parts that filters do not divide.
const MERGE: &str = "merge them, or put them into a `ParamSet`";
/// For columns of tables that two queries use.
const KEEP_APART: &str = "keep the queries in different tables with `With<X>` in one and `Without<X>` in the other, where \
                          `X` is not sparse, or put them into a `ParamSet`";

/// For parameters that read everything.
const EXCLUSIVE: &str = "ask for what is read by queries of their own, or take `&mut World` alone";

impl ParamConflict {
    /// Apart, so that each system is compiled with a call of this alone.
    #[expect(clippy::boxed_local, reason = "taking it out of the box is all there is to do")]
    #[inline(never)]
    pub(crate) fn unboxed(self: Box<Self>) -> Self {
        *self
    }

    /// What to do about it.
    fn way_out(&self) -> &'static str {
        if [&self.first, &self.second]
            .into_iter()
            .any(|param| param == "&World" || param.contains("EntityRef") || param.contains("EntityMut"))
        {
            return EXCLUSIVE;
        }
        let queries = self.first.contains("Query<") && self.second.contains("Query<");
        if queries && !self.part.ends_with(SPARSE) { KEEP_APART } else { MERGE }
    }
}

impl fmt::Display for ParamConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, first, second, part, within } = self;
        if let Some(query) = within {
            return write!(
                f,
                "`{first}` and `{second}` in `{query}` of system `{system}` use the same data, and one of them writes: \
                 ask for it once"
            );
        }
        let way_out = self.way_out();
        write!(
            f,
            "parameters `{first}` and `{second}` of system `{system}` both use `{part}`, and one of them writes: {way_out}"
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
    split: Arc<SplitColumns>,
    /// What it was before its parameters are made.
    before: Option<Box<Self>>,
}

impl SystemMeta {
    pub(crate) fn new(name: String) -> Self {
        let split = Arc::default();
        let (declared, access) = (Vec::new(), Access::new());
        Self { name, declared, access, conflict: None, defers: false, split, before: None }
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
            let (first, second, mut part_name) = (first.clone(), param.clone(), part.name(world));
            if access.is_sparse(part) {
                part_name.push_str(SPARSE);
            }
            self.refuse(first, second, part_name);
        }
        self.declared.iter().for_each(|(_, known)| known.split_shared(&access));
        self.access.extend(&access);
        self.declared.push((param, access));
    }

    /// As [`SystemMeta::declare`], for a query that uses columns, or reads whatever its entities have. Returns the
    /// columns that it has to split.
    pub(crate) fn declare_query(
        &mut self,
        world: &World,
        param: String,
        uses: &[phalanx_store::Access],
        reads_whole: bool,
        extent: Extent,
    ) -> Arc<SplitColumns> {
        let mut access = Access::new();
        if reads_whole {
            access.read_all();
        }
        access.use_query(uses, Reach::new(extent, uses, Arc::clone(&self.split)));
        self.declare(world, param, access);
        Arc::clone(&self.split)
    }

    /// Says that the system keeps something to be applied at the next sync point.
    pub fn declare_deferred(&mut self) {
        self.defers = true;
    }

    /// Says that a parameter contradicts itself.
    pub(crate) fn refuse_query(&mut self, first: String, second: String, query: String) {
        let (system, part) = (self.name.clone(), first.clone());
        let within = Some(query);
        self.conflict.get_or_insert_with(|| Box::new(ParamConflict { system, first, second, part, within }));
    }

    fn refuse(&mut self, first: String, second: String, part: String) {
        let system = self.name.clone();
        let conflict = ParamConflict { system, first, second, part, within: None };
        self.conflict.get_or_insert_with(|| Box::new(conflict));
    }

    /// Adds parameters of which only one is in use at a time; `each` is what each of them declared.
    pub(crate) fn declare_set(&mut self, world: &World, name: String, each: Vec<Self>) {
        let mut all = Access::new();
        // A parameter that reads everything runs beside no writer, so it cannot be in one set with a writer, either.
        let reader = each.iter().position(|part| part.access.reads_everything());
        let writer = each.iter().position(|part| part.access.writes_visibly());
        if let (Some(reader), Some(writer)) = (reader, writer) {
            let param =
                |at: usize| each[at].declared.first().map_or_else(String::new, |(name, _)| name.clone());
            let written = each[writer].access.first_conflict(&each[reader].access);
            let part = written.map_or_else(String::new, |part| part.name(world));
            self.refuse(param(reader), param(writer), part);
        }
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
        Self { split: Arc::clone(&self.split), ..Self::new(self.name.clone()) }
    }

    /// Begins anew, with nothing declared yet; what was declared before is kept until [`SystemMeta::checked`].
    pub(crate) fn begin(&mut self) {
        let fresh = self.fork();
        self.before = Some(Box::new(std::mem::replace(self, fresh)));
    }

    /// What stands against the system; then it is again as before [`SystemMeta::begin`].
    pub(crate) fn checked(&mut self) -> Option<Box<ParamConflict>> {
        let before = self.before.take();
        let conflict = self.conflict.take();
        if let (true, Some(before)) = (conflict.is_some(), before) {
            *self = *before;
        }
        conflict
    }
}
