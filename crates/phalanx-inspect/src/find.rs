//! Finding entities: a query text looked up in a world, its candidates, and which of them match.
//!
//! What archetypes or a sparse set decide is not searched but counted: a page of a million entities costs a walk over the
//! list of tables. Where values of fields, names or sparse components decide, each candidate has to be asked, which is
//! what a [`Search`](crate::search::Search) does. Fields that are numbers are read from their columns, many rows at a time;
//! everything else is looked up entity by entity.

use std::cmp::Ordering;

use phalanx::fields::FieldKind;
use phalanx::prelude::{Entity, Name, Value, World};
use phalanx::query::{DynamicQuery, DynamicTable};
use phalanx::registry::ComponentId;

use crate::json::Json;
use crate::query_text::{Literal, Op, Term};
use crate::values::{component, debug, field, parse_entity, short};

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

    /// The single entity that was named, if one was; nothing where its name was wrong.
    pub fn only(&self) -> Option<Option<Entity>> {
        self.only
    }

    /// Whether every candidate matches.
    pub fn is_counted(&self) -> bool {
        self.tests.is_empty()
            && self.only.is_none()
            && (self.set.is_none() || self.tables == DynamicQuery::default())
    }

    /// The candidates, table by table, or by runs of the set; entities without a row are not among them.
    pub fn tables<'w>(&self, world: &'w World) -> Box<dyn Iterator<Item = DynamicTable<'w>> + 'w> {
        match self.set {
            Some(id) => Box::new(world.sparse_runs(id)),
            None => Box::new(self.tables.tables(world)),
        }
    }

    /// How many candidates have no row.
    pub fn rowless(&self, world: &World) -> usize {
        if self.rowless { world.entities().rowless_len() } else { 0 }
    }

    /// The candidates from a position on.
    pub fn candidates<'w>(
        &self,
        world: &'w World,
        mut from: usize,
    ) -> impl Iterator<Item = Entity> + use<'w> {
        let mut parts = Vec::new();
        for slice in self.tables(world).map(|table| table.entities()) {
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
        self.tables(world).map(|table| table.len()).sum::<usize>() + self.rowless(world)
    }

    /// Keeps those of a table's rows that match: what made them candidates is not asked again. `values` is room to work in.
    pub fn retain(
        &self,
        world: &World,
        table: &DynamicTable<'_>,
        rows: &mut Vec<usize>,
        values: &mut Vec<Value>,
    ) {
        let owners = table.entities();
        if self.set.is_some() {
            rows.retain(|&row| self.tables.contains(world, owners[row]));
        }
        for test in &self.tests {
            values.clear();
            match test {
                _ if rows.is_empty() => return,
                Test::Compare { id, field, op, with }
                    if table.field_values(*id, field, rows.iter().copied(), values).is_ok() =>
                {
                    let mut values = values.iter();
                    rows.retain(|_| values.next().is_some_and(|&value| op.admits(compare(value, with))));
                }
                test => rows.retain(|&row| test.holds(world, owners[row])),
            }
        }
    }

    /// Whether an entity is a candidate.
    pub fn is_candidate(&self, world: &World, entity: Entity) -> bool {
        self.tables.contains(world, entity) && self.set.is_none_or(|id| world.entity(entity).contains_id(id))
    }

    /// Whether an entity matches.
    pub fn holds(&self, world: &World, entity: Entity) -> bool {
        self.only.is_none_or(|only| only == Some(entity))
            && self.is_candidate(world, entity)
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

/// Called for each candidate of a search: nothing here allocates.
fn compare(value: Value, with: &With) -> Option<Ordering> {
    let int = match value {
        Value::F32(value) => {
            return if let With::Single(with) = with { value.partial_cmp(with) } else { None };
        }
        Value::F64(value) => {
            return match with {
                With::Int(with) => value.partial_cmp(&(*with as f64)),
                With::Number(with) => value.partial_cmp(with),
                _ => None,
            };
        }
        Value::Bool(value) => {
            return if let With::Bool(with) = with { Some(value.cmp(with)) } else { None };
        }
        Value::Entity(value) => {
            let With::Entity(with) = with else { return None };
            return Some(if *with == Some(value) { Ordering::Equal } else { Ordering::Less });
        }
        Value::U8(value) => value.into(),
        Value::U16(value) => value.into(),
        Value::U32(value) => value.into(),
        Value::U64(value) => value.into(),
        Value::I8(value) => value.into(),
        Value::I16(value) => value.into(),
        Value::I32(value) => value.into(),
        Value::I64(value) => i128::from(value),
        _ => return None,
    };
    match with {
        With::Int(with) => Some(int.cmp(with)),
        With::Number(with) => (int as f64).partial_cmp(with),
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
