//! What a system uses: sets of columns, resources and message channels.
//!
//! The column is the unit, so two systems that write different fields of one component do not conflict. Nor do queries
//! that write the same column and never meet in a table.
//! Ids of entities count as one more part, written by systems that spawn through commands: two spawners keep
//! their order, and with it the ids they get.
//!
//! A set is a sorted list without repetitions. It does not know names: the world gives them when asked.

use phalanx_store::AnyColId;

use super::reach::Reach;
use crate::messages::ChannelId;
use crate::query::Condition;
use crate::resources::ResourceId;
use crate::world::World;

/// One thing of a world that is read or written as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Part {
    /// One column: a whole component, or one field.
    Column(AnyColId),
    /// A resource.
    Resource(ResourceId),
    /// The messages of one type.
    Messages(ChannelId),
    /// The order in which ids are given to new entities.
    EntityIds,
    /// Whatever components an entity has, but for those that are left out.
    Components,
}

impl Part {
    /// The part's name in a world: `Position.x`, or the type of a resource or message.
    pub fn name(self, world: &World) -> String {
        let short = super::names::without_paths;
        match self {
            Self::Column(column) => {
                let owner = world.components().iter().find(|info| info.columns().contains(&column));
                let Some(owner) = owner else { return short(column.type_name()) };
                let field = owner.fields().iter().find(|field| field.column() == column);
                match field.map_or("", |field| field.name()) {
                    "" => short(owner.name()),
                    name => format!("{}.{name}", short(owner.name())),
                }
            }
            Self::Resource(id) => short(world.resources.name(id).unwrap_or("a resource")),
            Self::Messages(id) => short(world.messages.name(id).unwrap_or("messages")),
            Self::EntityIds => "ids of new entities".to_owned(),
            Self::Components => "all components".to_owned(),
        }
    }

    /// Whether access to the whole world includes the part.
    fn is_visible(self) -> bool {
        self != Self::EntityIds
    }
}

/// What a system, or a part of one, reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Sorted by part; whether it is written.
    uses: Vec<(Part, bool)>,
    /// The queries among that, by which columns of tables are used.
    reaches: Vec<Reach>,
    /// The columns that are used otherwise as well.
    whole: Vec<AnyColId>,
    /// Uses of all columns but some: whether they are written, and those left out.
    rows: Vec<(bool, &'static [AnyColId])>,
    reads_all: bool,
    exclusive: bool,
    /// Whether it changes no structure, though it is exclusive.
    deferred: bool,
    /// Whether it can only be used on the thread that runs the schedule.
    pinned: bool,
}

impl Access {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything, for writing.
    pub const fn exclusive() -> Self {
        Self {
            uses: Vec::new(),
            reaches: Vec::new(),
            whole: Vec::new(),
            rows: Vec::new(),
            reads_all: false,
            exclusive: true,
            deferred: false,
            pinned: false,
        }
    }

    /// Every value, for writing, while structure stands still.
    pub fn deferred() -> Self {
        Self { deferred: true, ..Self::exclusive() }
    }

    /// Adds everything, for reading.
    pub fn read_all(&mut self) {
        self.reads_all = true;
    }

    /// Says that the system must run on the thread that runs the schedule.
    pub fn pin(&mut self) {
        self.pinned = true;
    }

    /// Whether the system must run on the thread that runs the schedule.
    pub fn is_pinned(&self) -> bool {
        self.pinned
    }

    /// Adds a part for reading.
    pub fn read(&mut self, part: Part) {
        self.add_whole(part, false);
    }

    /// Adds a part for writing.
    pub fn write(&mut self, part: Part) {
        self.add_whole(part, true);
    }

    fn add_whole(&mut self, part: Part, writes: bool) {
        self.add(part, writes);
        if let Part::Column(column) = part {
            self.whole.push(column);
        }
    }

    /// Adds what a query uses.
    pub(crate) fn use_query(&mut self, uses: &[phalanx_store::Access], reach: Reach) {
        for used in uses {
            if let Some(except) = used.whole {
                self.use_rows(used.writes, except);
            } else if !used.in_set && reach.use_of(used.column).is_some() {
                self.add(Part::Column(used.column), used.writes);
            } else {
                self.add_whole(Part::Column(used.column), used.writes);
            }
        }
        self.reaches.push(reach);
    }

    /// Adds all columns but some. Which columns there are shows when they are used, so it is done alone.
    fn use_rows(&mut self, writes: bool, except: &'static [AnyColId]) {
        self.add(Part::Components, writes);
        self.rows.push((writes, except));
        self.pin();
    }

    fn add(&mut self, part: Part, writes: bool) {
        match self.uses.binary_search_by_key(&part, |(known, _)| *known) {
            Ok(at) => self.uses[at].1 |= writes,
            Err(at) => self.uses.insert(at, (part, writes)),
        }
    }

    /// Adds what another one uses.
    pub fn extend(&mut self, other: &Self) {
        self.reads_all |= other.reads_all;
        // Structure stands still where each part that has everything leaves it.
        let changes = self.changes_structure() || other.changes_structure();
        self.exclusive |= other.exclusive;
        self.deferred = self.exclusive && !changes;
        self.pinned |= other.pinned;
        for &(part, writes) in &other.uses {
            self.add(part, writes);
        }
        self.reaches.extend_from_slice(&other.reaches);
        self.whole.extend_from_slice(&other.whole);
        self.rows.extend_from_slice(&other.rows);
    }

    /// The parts in use, each with whether it is written.
    pub fn uses(&self) -> &[(Part, bool)] {
        &self.uses
    }

    /// What each query among that asks of an entity.
    pub fn queries(&self) -> impl Iterator<Item = &Condition> {
        self.reaches.iter().map(Reach::condition)
    }

    /// Whether everything is read.
    pub fn reads_everything(&self) -> bool {
        self.reads_all
    }

    /// Whether everything may be written.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive
    }

    /// Whether entities and components may come and go while it is in use.
    pub fn changes_structure(&self) -> bool {
        self.exclusive && !self.deferred
    }

    /// Whether something is written that a look at the whole world would show.
    pub(crate) fn writes_visibly(&self) -> bool {
        self.uses.iter().any(|(part, writes)| *writes && part.is_visible())
    }

    /// Whether the two cannot be in use at the same time.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.exclusive || other.exclusive || self.first_conflict(other).is_some()
    }

    /// The first part that both use and one of them writes.
    pub fn first_conflict(&self, other: &Self) -> Option<Part> {
        self.conflicts(other).next()
    }

    /// All parts that both use and one of them writes; not columns that are only used by queries which never meet.
    pub fn conflicts<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Part> + 'a {
        let written = |access: &'a Self, when: bool| {
            access.uses.iter().filter(move |(part, writes)| when && *writes && part.is_visible())
        };
        let seen = written(self, other.reads_all).chain(written(other, self.reads_all));
        let shared = self.uses.iter().filter(|(part, writes)| {
            let same = other.uses.binary_search_by_key(part, |(known, _)| *known);
            same.is_ok_and(|at| *writes || other.uses[at].1)
        });
        let rows = self.conflicts_by_rows(other).chain(other.conflicts_by_rows(self));
        rows.chain(seen.chain(shared.filter(|(part, _)| !self.shares(other, *part))).map(|(part, _)| *part))
    }

    /// The columns that another one uses and that whole rows reach here, where one of the two writes.
    fn conflicts_by_rows<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Part> + 'a {
        let reached = |part: Part, written: bool| {
            let Part::Column(column) = part else { return false };
            self.rows.iter().any(|(writes, except)| (*writes || written) && !except.contains(&column))
        };
        other.uses.iter().filter(move |(part, writes)| reached(*part, *writes)).map(|(part, _)| *part)
    }

    /// Whether a part is a column of a sparse set that a query uses.
    pub(crate) fn is_sparse(&self, part: Part) -> bool {
        matches!(part, Part::Column(column) if self.whole.contains(&column))
    }

    /// Whether a part is a column of tables that only queries use.
    fn is_by_queries(&self, part: Part) -> bool {
        matches!(part, Part::Column(column) if !self.whole.contains(&column) && !self.reads_all)
    }

    /// Whether a part is a column that both use in different tables.
    pub(crate) fn shares(&self, other: &Self, part: Part) -> bool {
        let Part::Column(column) = part else { return false };
        let by_queries = self.is_by_queries(part) && other.is_by_queries(part);
        by_queries
            && self.reaches.iter().all(|one| other.reaches.iter().all(|other| one.goes_with(other, column)))
    }

    /// The queries that use a column.
    fn reaches_of(&self, column: AnyColId) -> impl Iterator<Item = &Reach> {
        self.reaches.iter().filter(move |reach| reach.use_of(column).is_some())
    }

    /// Whether both use a column in the same way: by queries of the same tables, or both as a whole.
    pub(crate) fn uses_alike(&self, other: &Self, column: AnyColId) -> bool {
        let part = Part::Column(column);
        match (self.is_by_queries(part), other.is_by_queries(part)) {
            (true, true) => {
                self.reaches_of(column).count() == other.reaches_of(column).count()
                    && self
                        .reaches_of(column)
                        .zip(other.reaches_of(column))
                        .all(|(one, other)| one.is_alike(other, column))
            }
            (false, false) => true,
            _ => false,
        }
    }

    /// Tells the queries that use a column that others use it at the same time, in different tables.
    pub(crate) fn split(&self, column: AnyColId) {
        self.reaches.iter().for_each(|reach| reach.split(column));
    }

    /// Tells the queries of both which columns they use at once, in different tables.
    pub(crate) fn split_shared(&self, other: &Self) {
        for &(part, writes) in &self.uses {
            let Part::Column(column) = part else { continue };
            let Ok(at) = other.uses.binary_search_by_key(&part, |(known, _)| *known) else { continue };
            if (writes || other.uses[at].1) && self.shares(other, part) {
                self.split(column);
                other.split(column);
            }
        }
    }
}
