//! Finding entities: a query text looked up in a world, and searches that go on from frame to frame.
//!
//! What archetypes or a sparse set decide is not searched but counted: a page of a million entities costs a walk over the
//! list of tables. Where values of fields, names or sparse components decide, each candidate has to be asked: a
//! [`Search`] does so within the budget of a frame and goes on in the next one. The world may change meanwhile; what it
//! found is true of the moment at which it looked.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::time::Instant;

use phalanx::fields::FieldKind;
use phalanx::prelude::{Entity, Name, Value, World};
use phalanx::query::DynamicQuery;
use phalanx::registry::ComponentId;

use crate::json::Json;
use crate::query_text::{Literal, Op, Term};
use crate::values::{component, debug, field, parse_entity, short, to_json};

/// No more matches of a search are kept.
const MAX_MATCHES: usize = 100_000;

/// A query text with its names looked up.
pub struct Plan {
    /// What archetypes decide.
    tables: DynamicQuery,
    /// A sparse component that every match has: its set is walked instead of tables.
    set: Option<ComponentId>,
    /// Whether entities without a row may match.
    rowless: bool,
    tests: Vec<Test>,
    /// A single entity, if one was named.
    only: Option<Option<Entity>>,
}

enum Test {
    AnyOf(Vec<ComponentId>),
    Without(ComponentId),
    Compare { id: ComponentId, field: String, op: Op, with: With },
    Named(String),
}

enum With {
    /// What a field of 32 bits is compared with: 0.1 is the nearest such number, as it is in a program.
    Single(f32),
    Number(f64),
    Int(i128),
    Bool(bool),
    Entity(Option<Entity>),
    Text(String),
}

impl Plan {
    /// Looks up the names of a query.
    ///
    /// # Errors
    /// When there is no such component or field, or a field cannot be compared so.
    pub fn new(world: &World, terms: &[Term]) -> Result<Self, String> {
        let mut builder = world.query_builder();
        let mut plan =
            Self { tables: DynamicQuery::default(), set: None, rowless: true, tests: Vec::new(), only: None };
        let with = |plan: &mut Self, builder: phalanx::query::QueryBuilder, id: ComponentId, sparse: bool| {
            if !sparse {
                plan.rowless = false;
                return builder.with(id);
            }
            if plan.set.is_none() {
                plan.set = Some(id);
            } else {
                plan.tests.push(Test::AnyOf(vec![id]));
            }
            builder
        };
        for term in terms {
            match term {
                Term::Any(names) if names.len() == 1 => {
                    let info = component(world, &names[0])?;
                    builder = with(&mut plan, builder, info.id(), info.is_sparse());
                }
                Term::Any(names) => {
                    let ids = names
                        .iter()
                        .map(|name| component(world, name).map(phalanx::registry::ComponentInfo::id));
                    plan.tests.push(Test::AnyOf(ids.collect::<Result<_, _>>()?));
                }
                Term::Not(name) => {
                    let info = component(world, name)?;
                    if info.is_sparse() {
                        plan.tests.push(Test::Without(info.id()));
                    } else {
                        builder = builder.without(info.id());
                    }
                }
                Term::Compare { component: name, field: path, op, value } => {
                    let info = component(world, name)?;
                    builder = with(&mut plan, builder, info.id(), info.is_sparse());
                    let kind = field(info, path)?.kind;
                    let with = comparable(world, kind, *op, value)
                        .map_err(|error| format!("{}.{path}: {error}", short(info.name())))?;
                    plan.tests.push(Test::Compare { id: info.id(), field: path.clone(), op: *op, with });
                }
                Term::Named(text) => plan.tests.push(Test::Named(text.to_lowercase())),
                Term::Entity(text) => plan.only = Some(parse_entity(world, text)),
            }
        }
        plan.tables = builder.build();
        if plan.set.is_some() {
            // The set is walked, so tables have to be asked per entity.
            plan.rowless = false;
        }
        Ok(plan)
    }

    /// Whether every candidate matches.
    fn is_counted(&self) -> bool {
        self.tests.is_empty()
            && self.only.is_none()
            && (self.set.is_none() || self.tables == DynamicQuery::default())
    }

    /// The candidates, in slices; entities without a row are not among them.
    fn slices<'w>(&self, world: &'w World) -> Box<dyn Iterator<Item = &'w [Entity]> + 'w> {
        match self.set {
            Some(id) => Box::new(world.sparse_runs(id).map(|run| run.entities())),
            None => Box::new(self.tables.tables(world).map(|table| table.entities())),
        }
    }

    fn rowless(&self, world: &World) -> usize {
        if self.rowless { world.entities().rowless_len() } else { 0 }
    }

    /// The candidates from a position on.
    pub fn candidates<'w>(
        &self,
        world: &'w World,
        mut from: usize,
    ) -> impl Iterator<Item = Entity> + use<'w> {
        let mut parts = Vec::new();
        for slice in self.slices(world) {
            let skipped = from.min(slice.len());
            from -= skipped;
            if skipped < slice.len() {
                parts.push(&slice[skipped..]);
            }
        }
        let rowless = if self.rowless { usize::MAX } else { 0 };
        let last = world.entities().rowless().copied().take(rowless).skip(from);
        parts.into_iter().flatten().copied().chain(last)
    }

    /// How many candidates there are.
    pub fn count(&self, world: &World) -> usize {
        self.slices(world).map(<[Entity]>::len).sum::<usize>() + self.rowless(world)
    }

    /// Whether one of the candidates matches: what made it one need not be asked again.
    fn holds_of_candidate(&self, world: &World, entity: Entity) -> bool {
        (self.set.is_none() || self.tables.contains(world, entity))
            && self.tests.iter().all(|test| test.holds(world, entity))
    }

    /// Whether an entity matches.
    pub fn holds(&self, world: &World, entity: Entity) -> bool {
        self.only.is_none_or(|only| only == Some(entity))
            && self.tables.contains(world, entity)
            && self.set.is_none_or(|id| world.entity(entity).contains_id(id))
            && self.tests.iter().all(|test| test.holds(world, entity))
    }
}

fn comparable(world: &World, kind: FieldKind, op: Op, value: &Literal) -> Result<With, String> {
    use phalanx::prelude::FieldType;
    let with = match (kind, value) {
        (FieldKind::Scalar(FieldType::Bool), Literal::Value(Json::Bool(value))) => With::Bool(*value),
        (FieldKind::Scalar(FieldType::Entity), Literal::Entity(text)) => {
            With::Entity(parse_entity(world, text))
        }
        (FieldKind::Scalar(FieldType::Bool | FieldType::Entity), _) => {
            return Err("compare it with true, false or an entity".to_owned());
        }
        (FieldKind::Scalar(FieldType::F32), Literal::Value(value @ (Json::Int(_) | Json::Number(_)))) => {
            With::Single(value.to_string().parse().map_err(|_| "compare it with a number".to_owned())?)
        }
        (FieldKind::Scalar(_), Literal::Value(Json::Int(value))) => With::Int(*value),
        (FieldKind::Scalar(_), Literal::Value(Json::Number(value))) => With::Number(*value),
        (FieldKind::Scalar(_), _) => return Err("compare it with a number".to_owned()),
        (FieldKind::Text, Literal::Value(Json::Text(text))) => With::Text(text.clone()),
        (FieldKind::Text, _) => return Err("compare it with a \"text\"".to_owned()),
        _ => return Err("its type is not known, so it cannot be compared".to_owned()),
    };
    let equality = matches!(op, Op::Equal | Op::NotEqual);
    match with {
        With::Bool(_) | With::Entity(_) if !equality => Err("only = and != compare it".to_owned()),
        With::Single(_) | With::Number(_) | With::Int(_) if op == Op::Contains => {
            Err("`~` is for texts".to_owned())
        }
        with => Ok(with),
    }
}

impl Test {
    fn holds(&self, world: &World, entity: Entity) -> bool {
        match self {
            Self::AnyOf(ids) => ids.iter().any(|&id| world.entity(entity).contains_id(id)),
            Self::Without(id) => !world.entity(entity).contains_id(*id),
            Self::Compare { id, field, op, with: With::Text(text) } => {
                world.get_field_text(entity, *id, field).is_ok_and(|found| match op {
                    Op::Contains => found.contains(text.as_str()),
                    op => op.admits(Some(found.cmp(text))),
                })
            }
            Self::Compare { id, field, op, with } => {
                let value = world.get_field(entity, *id, field);
                value.is_ok_and(|value| op.admits(compare(value, with)))
            }
            Self::Named(text) => {
                name_of(world, entity).is_some_and(|name| name.to_lowercase().contains(text))
            }
        }
    }
}

/// Called for each candidate of a search: nothing here allocates, but for entities.
fn compare(value: Value, with: &With) -> Option<Ordering> {
    match (to_json(value), with) {
        (Json::Int(value), With::Int(with)) => Some(value.cmp(with)),
        (Json::Int(value), With::Number(with)) => (value as f64).partial_cmp(with),
        (Json::Number(value), With::Int(with)) => value.partial_cmp(&(*with as f64)),
        (Json::Number(value), With::Number(with)) => value.partial_cmp(with),
        (Json::Single(value), With::Single(with)) => value.partial_cmp(with),
        (Json::Bool(value), With::Bool(with)) => Some(value.cmp(with)),
        (Json::Text(_), With::Entity(with)) => {
            let same = *with == value.as_entity() && with.is_some();
            Some(if same { Ordering::Equal } else { Ordering::Less })
        }
        _ => None,
    }
}

impl Op {
    /// Whether an order is one that was asked for; what cannot be ordered, such as a NaN, is only different.
    fn admits(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Less => order == Some(Ordering::Less),
            Self::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Contains => false,
        }
    }
}

/// What a component called `Name` says of an entity.
pub fn name_of(world: &World, entity: Entity) -> Option<String> {
    if let Some(name) = world.get::<Name>(entity) {
        return Some(crate::values::cut(name.as_str()));
    }
    let info = world.components().iter().find(|info| short(info.name()) == "Name")?;
    if !world.entity(entity).contains_id(info.id()) {
        return None;
    }
    let text = info.named_fields().find(|field| field.kind == FieldKind::Text);
    match text {
        Some(field) => world.get_field_text(entity, info.id(), field.name).ok().map(crate::values::cut),
        None => debug(world, entity, info),
    }
}

/// A query that is being looked up.
pub struct Search {
    pub text: String,
    plan: Plan,
    scanned: usize,
    complete: bool,
    matches: Vec<Entity>,
    met: HashSet<Entity>,
}

/// A part of what a search found.
pub struct Page {
    pub total: usize,
    pub scanned: usize,
    pub complete: bool,
    pub entities: Vec<Entity>,
}

impl Search {
    pub fn new(text: &str, plan: Plan) -> Self {
        let complete = plan.is_counted();
        Self { text: text.to_owned(), plan, scanned: 0, complete, matches: Vec::new(), met: HashSet::new() }
    }

    /// Goes on until a moment; at least a few entities are looked at.
    pub fn go_on(&mut self, world: &World, until: Instant) {
        if self.complete {
            return;
        }
        if let Some(only) = self.plan.only {
            let found = only.filter(|&entity| world.contains(entity) && self.plan.holds(world, entity));
            self.matches = found.into_iter().collect();
            self.complete = true;
            return;
        }
        let mut looked = 0;
        for entity in self.plan.candidates(world, self.scanned) {
            // Whoever moved while the search paused may come again.
            if self.plan.holds_of_candidate(world, entity) && self.met.insert(entity) {
                self.matches.push(entity);
            }
            looked += 1;
            let enough = looked % 64 == 0 && Instant::now() >= until;
            if enough || self.matches.len() >= MAX_MATCHES {
                self.scanned += looked;
                self.complete = self.matches.len() >= MAX_MATCHES;
                return;
            }
        }
        self.scanned += looked;
        self.complete = true;
    }

    /// A part of what was found so far.
    pub fn page(&self, world: &World, offset: usize, limit: usize) -> Page {
        if self.plan.is_counted() {
            let entities = self.plan.candidates(world, offset).take(limit).collect();
            let total = self.plan.count(world);
            return Page { total, scanned: total, complete: true, entities };
        }
        let found =
            self.matches.iter().skip(offset).take(limit).copied().filter(|&entity| world.contains(entity));
        let (total, scanned, complete) = (self.matches.len(), self.scanned, self.complete);
        Page { total, scanned, complete, entities: found.collect() }
    }
}
