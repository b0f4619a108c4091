//! A program, as both libraries get it: systems with what they do, sets, order, conditions.
//!
//! Nothing here knows a library. Systems are numbered, and so are sets, conditions, components, families of entities,
//! resources and messages.

/// How many components, families, resources and messages there are.
pub const COMPONENTS: usize = 3;
pub const FAMILIES: usize = 2;
pub const RESOURCES: usize = 2;
pub const MESSAGES: usize = 2;

#[derive(Clone, Debug)]
pub struct Program {
    pub systems: Vec<SystemSpec>,
    /// How many sets there are; some may have no systems.
    pub sets: usize,
    /// One call of `add_systems` each.
    pub added: Vec<Tree>,
    /// One call of `configure_sets` each.
    pub configured: Vec<Tree>,
    /// What is done to the world before each frame.
    pub frames: Vec<Vec<Op>>,
}

#[derive(Clone, Debug)]
pub struct SystemSpec {
    pub kind: Kind,
    pub ops: Vec<Op>,
}

/// Which parameters a system has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Queries, resources and messages, for reading.
    Look,
    /// The same, for writing.
    Write,
    /// `Commands`, and entities by family.
    Command,
    /// Both of `Look` and `Command`.
    LookCommand,
    /// `&mut World`.
    Exclusive,
    /// A function that only says that it ran; orders name it by the function, not by a set.
    Function,
    /// `ApplyDeferred`.
    Apply,
}

/// One step of a system. `nth` chooses an entity of a family, by the order of their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    See {
        component: usize,
    },
    SeeChanged {
        component: usize,
    },
    SeeAdded {
        component: usize,
    },
    SeeSpawned {
        component: usize,
    },
    /// A query over two components; which two, and how, follows from the number.
    SeePair {
        pair: usize,
    },
    SeeResource {
        resource: usize,
    },
    Receive {
        message: usize,
    },
    /// Adds to every value whose key is even, or odd.
    Add {
        component: usize,
        odd: bool,
        value: i32,
    },
    AddResource {
        resource: usize,
        value: i32,
    },
    /// Writes only when the value differs.
    SetResource {
        resource: usize,
        value: i32,
    },
    Send {
        message: usize,
        value: i32,
    },
    Spawn {
        family: usize,
        components: usize,
        value: i32,
    },
    Insert {
        family: usize,
        nth: usize,
        component: usize,
        value: i32,
    },
    InsertIfNew {
        family: usize,
        nth: usize,
        component: usize,
        value: i32,
    },
    Remove {
        family: usize,
        nth: usize,
        component: usize,
    },
    Despawn {
        family: usize,
        nth: usize,
    },
    /// Twice, of which the second finds nothing, and then an insertion that finds nothing.
    TryDespawn {
        family: usize,
        nth: usize,
    },
    /// Removes a component and inserts it again.
    Replace {
        family: usize,
        nth: usize,
        component: usize,
        value: i32,
    },
    /// Inserts all components as one bundle.
    InsertAll {
        family: usize,
        nth: usize,
        value: i32,
    },
    /// Several entities with the first two components.
    SpawnBatch {
        family: usize,
        count: usize,
        value: i32,
    },
    /// A message written by a command.
    SendLater {
        message: usize,
        value: i32,
    },
    InsertResource {
        resource: usize,
        value: i32,
    },
    RemoveResource {
        resource: usize,
    },
    /// A command that is a function: adds to a resource where there is one.
    Queue {
        resource: usize,
        value: i32,
    },
}

/// Pairs of components of `SeePair`.
pub const PAIRS: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

/// What is read and written, as bits: components, families, resources, messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uses {
    pub reads: u32,
    pub writes: u32,
}

const fn component(i: usize) -> u32 {
    1 << i
}
const fn family(i: usize) -> u32 {
    1 << (8 + i)
}
const fn resource(i: usize) -> u32 {
    1 << (16 + i)
}
const fn message(i: usize) -> u32 {
    1 << (24 + i)
}

impl Uses {
    fn read(reads: u32) -> Self {
        Self { reads, writes: 0 }
    }
    fn write(writes: u32) -> Self {
        Self { reads: 0, writes }
    }
    pub fn and(self, other: Self) -> Self {
        Self { reads: self.reads | other.reads, writes: self.writes | other.writes }
    }
    pub fn conflicts(self, other: Self) -> bool {
        self.writes & (other.reads | other.writes) != 0 || other.writes & self.reads != 0
    }
}

impl Op {
    pub fn uses(self) -> Uses {
        match self {
            Self::See { component: c }
            | Self::SeeChanged { component: c }
            | Self::SeeAdded { component: c } => Uses::read(component(c)),
            // Which entities are spawned before it runs, and which after, matters also for those that get the component
            // later.
            Self::SeeSpawned { component: c } => {
                Uses::read(component(c) | (0..FAMILIES).map(family).sum::<u32>())
            }
            Self::SeePair { pair } => Uses::read(component(PAIRS[pair].0) | component(PAIRS[pair].1)),
            Self::SeeResource { resource: r } => Uses::read(resource(r)),
            Self::Receive { message: m } => Uses::read(message(m)),
            Self::Add { component: c, .. } => Uses::write(component(c)),
            Self::AddResource { resource: r, .. }
            | Self::SetResource { resource: r, .. }
            | Self::InsertResource { resource: r, .. }
            | Self::RemoveResource { resource: r }
            | Self::Queue { resource: r, .. } => Uses::write(resource(r)),
            Self::Send { message: m, .. } | Self::SendLater { message: m, .. } => Uses::write(message(m)),
            Self::Spawn { family: f, components, .. } => {
                let bits = (0..COMPONENTS).filter(|c| components >> c & 1 == 1).map(component);
                Uses::write(family(f) | bits.sum::<u32>())
            }
            Self::Insert { family: f, component: c, .. }
            | Self::InsertIfNew { family: f, component: c, .. }
            | Self::Replace { family: f, component: c, .. }
            | Self::Remove { family: f, component: c, .. } => Uses { reads: family(f), writes: component(c) },
            Self::InsertAll { family: f, .. } => {
                Uses { reads: family(f), writes: (0..COMPONENTS).map(component).sum() }
            }
            Self::SpawnBatch { family: f, .. } => Uses::write(family(f) | component(0) | component(1)),
            Self::Despawn { family: f, .. } | Self::TryDespawn { family: f, .. } => {
                Uses::write(family(f) | (0..COMPONENTS).map(component).sum::<u32>())
            }
        }
    }

    /// The family whose entities the step names.
    pub fn family(self) -> Option<usize> {
        match self {
            Self::Insert { family, .. }
            | Self::InsertIfNew { family, .. }
            | Self::Remove { family, .. }
            | Self::Replace { family, .. }
            | Self::InsertAll { family, .. }
            | Self::Despawn { family, .. }
            | Self::TryDespawn { family, .. } => Some(family),
            _ => None,
        }
    }

    pub fn despawns(self) -> bool {
        matches!(self, Self::Despawn { .. } | Self::TryDespawn { .. })
    }
}

impl SystemSpec {
    pub fn uses(&self) -> Uses {
        self.ops.iter().fold(Uses::default(), |uses, op| uses.and(op.uses()))
    }
}

/// A system or a set, or a tuple of such, with what is said about it.
#[derive(Clone, Debug)]
pub struct Tree {
    pub part: Part,
    pub said: Said,
}

#[derive(Clone, Debug)]
pub enum Part {
    One(usize),
    Tuple { parts: Vec<Tree>, chained: Option<Hop> },
}

#[derive(Clone, Debug, Default)]
pub struct Said {
    pub sets: Vec<usize>,
    pub before: Vec<(Target, Hop)>,
    pub after: Vec<(Target, Hop)>,
    pub conditions: Vec<Condition>,
}

/// What an order is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    System(usize),
    Set(usize),
}

/// Whether an order is also a sync point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    Sync,
    Ignore,
}

#[derive(Clone, Debug)]
pub struct Condition {
    pub id: usize,
    pub test: Test,
    pub negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// True in every n-th evaluation: counts how often it is asked.
    Every(u32),
    /// True in the frames whose bit is set.
    Frames(u32),
    Exists(usize),
    Changed(usize),
    Any(usize),
    Heard(usize),
}

impl Test {
    pub fn uses(self) -> Uses {
        match self {
            Self::Every(_) | Self::Frames(_) => Uses::default(),
            Self::Exists(r) | Self::Changed(r) => Uses::read(resource(r)),
            Self::Any(c) => Uses::read(component(c)),
            Self::Heard(m) => Uses::read(message(m)),
        }
    }
}

impl Tree {
    /// The numbers of the systems or sets in it.
    pub fn members(&self) -> Vec<usize> {
        match &self.part {
            Part::One(index) => vec![*index],
            Part::Tuple { parts, .. } => parts.iter().flat_map(Self::members).collect(),
        }
    }

    /// Visits it and all its parts.
    pub fn each<'a>(&'a self, f: &mut impl FnMut(&'a Self)) {
        f(self);
        if let Part::Tuple { parts, .. } = &self.part {
            parts.iter().for_each(|part| part.each(f));
        }
    }

    /// The same, to be changed.
    pub fn each_mut(&mut self, f: &mut impl FnMut(&mut Self)) {
        f(self);
        if let Part::Tuple { parts, .. } = &mut self.part {
            parts.iter_mut().for_each(|part| part.each_mut(f));
        }
    }
}
