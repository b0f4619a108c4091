//! What a system uses: sets of columns, resources and message channels.
//!
//! The column is the unit, so two systems that write different fields of one component do not conflict.
//! Ids of entities count as one more part, written by whoever spawns through commands: two spawners keep
//! their order, and with it the ids they get.
//!
//! A set is a sorted list without repetitions. It does not know names: the world gives them when asked.

use phalanx_store::AnyColId;

use crate::messages::ChannelId;
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
        }
    }

    /// Whether somebody who looks at the whole world sees the part.
    fn is_visible(self) -> bool {
        self != Self::EntityIds
    }
}

/// What a system, or a part of one, reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Sorted by part; whether it is written.
    uses: Vec<(Part, bool)>,
    reads_all: bool,
    exclusive: bool,
}

impl Access {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything, for writing.
    pub const fn exclusive() -> Self {
        Self { uses: Vec::new(), reads_all: false, exclusive: true }
    }

    /// Adds everything, for reading.
    pub fn read_all(&mut self) {
        self.reads_all = true;
    }

    /// Adds a part for reading.
    pub fn read(&mut self, part: Part) {
        self.add(part, false);
    }

    /// Adds a part for writing.
    pub fn write(&mut self, part: Part) {
        self.add(part, true);
    }

    /// Adds a column.
    pub(crate) fn use_column(&mut self, column: AnyColId, writes: bool) {
        self.add(Part::Column(column), writes);
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
        self.exclusive |= other.exclusive;
        for &(part, writes) in &other.uses {
            self.add(part, writes);
        }
    }

    /// The parts in use, each with whether it is written.
    pub fn uses(&self) -> &[(Part, bool)] {
        &self.uses
    }

    /// Whether everything is read.
    pub fn reads_everything(&self) -> bool {
        self.reads_all
    }

    /// Whether everything may be written.
    pub fn is_exclusive(&self) -> bool {
        self.exclusive
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

    /// All parts that both use and one of them writes.
    pub fn conflicts<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Part> + 'a {
        let written = |access: &'a Self, when: bool| {
            access.uses.iter().filter(move |(part, writes)| when && *writes && part.is_visible())
        };
        let seen = written(self, other.reads_all).chain(written(other, self.reads_all));
        let shared = self.uses.iter().filter(|(part, writes)| {
            let same = other.uses.binary_search_by_key(part, |(known, _)| *known);
            same.is_ok_and(|at| *writes || other.uses[at].1)
        });
        seen.chain(shared).map(|(part, _)| *part)
    }
}
