//! Where two worlds differ first, in words.
//!
//! A digest says that worlds differ; this says where: entity by entity in the order of their indices, component by
//! component in the order of names, field by field as declared; then the ids to come, the order of rows, resources and
//! messages. Fields are compared by their digests and shown by `Debug`.

use std::fmt;

use phalanx_store::sorting;
use phalanx_store::{Entity, TableId};

use super::World;
use crate::capture::Shown;
use crate::registry::ComponentInfo;

/// The first difference between two worlds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Whose part differs; `None` for what belongs to the whole world.
    pub entity: Option<Entity>,
    /// The name of the component, resource or message, or what else differs: `free ids`, `row order`.
    pub part: String,
    /// The field; empty where the part as a whole differs.
    pub field: String,
    /// The value in the world that was asked.
    pub left: String,
    /// The value in the other world.
    pub right: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(entity) = self.entity {
            write!(f, "entity {entity}, ")?;
        }
        f.write_str(&self.part)?;
        if !self.field.is_empty() {
            write!(f, ", field `{}`", self.field)?;
        }
        write!(f, ": {} in one world, {} in the other", self.left, self.right)
    }
}

impl Difference {
    #[expect(clippy::needless_pass_by_value, reason = "numbers and texts are written as values")]
    fn new(part: impl Into<String>, left: impl ToString, right: impl ToString) -> Self {
        let (left, right) = (left.to_string(), right.to_string());
        Self { entity: None, part: part.into(), field: String::new(), left, right }
    }

    fn of(self, entity: Entity) -> Self {
        Self { entity: Some(entity), ..self }
    }
}

const ABSENT: &str = "absent";
const PRESENT: &str = "present";

impl World {
    /// The first difference between this world and another one; `None` when there is none that a digest would see.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health { current: f32, max: f32 }
    ///
    /// let build = |current| {
    ///     let mut world = World::new();
    ///     world.spawn(Health { current, max: 9.0 });
    ///     world
    /// };
    /// let difference = build(1.0).first_difference(&build(2.0)).expect("the healths differ");
    /// assert_eq!((difference.field.as_str(), difference.left.as_str(), difference.right.as_str()), ("current", "1.0", "2.0"));
    /// assert_eq!(build(1.0).first_difference(&build(1.0)), None);
    /// ```
    pub fn first_difference(&self, other: &Self) -> Option<Difference> {
        self.entity_difference(other)
            .or_else(|| self.id_difference(other))
            .or_else(|| self.order_difference(other))
            .or_else(|| self.resource_difference(other))
            .or_else(|| self.message_difference(other))
    }

    fn entity_difference(&self, other: &Self) -> Option<Difference> {
        let (mut left, mut right) = (self.entities().iter().peekable(), other.entities().iter().peekable());
        loop {
            let entity = match (left.peek(), right.peek()) {
                (None, None) => return None,
                (Some(&a), Some(&b)) if a == b => a,
                (Some(&a), Some(&b)) if b.index() < a.index() => {
                    return Some(Difference::new("entity", ABSENT, PRESENT).of(b));
                }
                (Some(&a), _) => return Some(Difference::new("entity", PRESENT, ABSENT).of(a)),
                (None, Some(&b)) => return Some(Difference::new("entity", ABSENT, PRESENT).of(b)),
            };
            if let Some(difference) = self.component_difference(other, entity) {
                return Some(difference.of(entity));
            }
            left.next();
            right.next();
        }
    }

    fn component_difference(&self, other: &Self, entity: Entity) -> Option<Difference> {
        let (left, right) = (self.places(entity), other.places(entity));
        let mut right = right.into_iter().peekable();
        for (info, table, row) in left {
            let name = info.name();
            match right.peek().map(|(info, ..)| info.name()) {
                Some(there) if there == name => {}
                Some(there) if there < name => {
                    return Some(Difference::new(component(there), ABSENT, PRESENT));
                }
                _ => return Some(Difference::new(component(name), PRESENT, ABSENT)),
            }
            let (there, table_there, row_there) = right.next().expect("it was looked at just now");
            let fields = self.fields_at(info, table, row).into_iter();
            let fields_there = other.fields_at(there, table_there, row_there).into_iter();
            if let Some(difference) = field_difference(&component(name), fields, fields_there) {
                return Some(difference);
            }
        }
        let (info, ..) = right.next()?;
        Some(Difference::new(component(info.name()), ABSENT, PRESENT))
    }

    /// The components of an entity by name, with the table and row of each.
    fn places(&self, entity: Entity) -> Vec<(&ComponentInfo, TableId, usize)> {
        let Some(location) = self.store.locate(entity) else { return Vec::new() };
        let archetype = self.archetypes.of_table(location.table);
        let infos = self.named_components(archetype).into_iter();
        let mut places: Vec<_> = infos.map(|info| (info, location.table, location.row.index())).collect();
        for info in self.named_sparse() {
            let set = self.store.set_of(info.columns()[0]);
            let row = set.and_then(|set| Some((self.store.set_table(set), self.store.set_row(set, entity)?)));
            places.extend(row.map(|(table, row)| (info, table, row)));
        }
        sorting::sort_by_key(&mut places, |(info, ..)| info.name());
        places
    }

    /// The fields of a component in one row, with their names.
    fn fields_at(&self, info: &ComponentInfo, table: TableId, row: usize) -> Vec<(String, Shown)> {
        let mut fields = Vec::new();
        for (field, capture) in info.fields().iter().zip(info.captures()) {
            if field.column().is_virtual() || capture.0.is_skipped() {
                continue;
            }
            let shown = capture.0.show(&self.store, table, row).into_iter();
            let name = |shown: &Shown| {
                if shown.field.is_empty() { field.name().to_owned() } else { shown.field.to_owned() }
            };
            fields.extend(shown.map(|shown| (name(&shown), shown)));
        }
        fields
    }

    fn id_difference(&self, other: &Self) -> Option<Difference> {
        let (left, right) = (self.entities(), other.entities());
        if left.slots() != right.slots() {
            return Some(Difference::new("number of ids", left.slots(), right.slots()));
        }
        let (mut free, mut free_there) = (left.free_list(), right.free_list());
        let text = |entity: Option<Entity>| entity.map_or("none".to_owned(), |entity| entity.to_string());
        loop {
            match (free.next(), free_there.next()) {
                (None, None) => return None,
                (a, b) if a == b => {}
                (a, b) => return Some(Difference::new("free ids", text(a), text(b))),
            }
        }
    }

    fn order_difference(&self, other: &Self) -> Option<Difference> {
        let rows = |world: &Self| -> Vec<(String, Vec<Entity>)> {
            let tables = world.archetypes.in_order().filter_map(|id| world.archetypes.table(id));
            let tables = tables.filter(|&table| world.store.table_len(table) > 0);
            let sets = world.named_sparse().into_iter().filter_map(|info| {
                let table = world.store.set_table(world.store.set_of(info.columns()[0])?);
                (world.store.table_len(table) > 0).then(|| (info.name().to_owned(), table))
            });
            let named = tables.map(|table| ("a table".to_owned(), table)).chain(sets);
            let rows = named.map(|(name, table)| (name, world.store.table_entities(table).to_vec()));
            let groups = world.named_groups().map(|(name, members)| (name.to_owned(), members.to_vec()));
            rows.chain(groups).collect()
        };
        let (left, right) = (rows(self), rows(other));
        for ((name, rows), (name_there, rows_there)) in left.iter().zip(&right) {
            if name != name_there {
                return Some(Difference::new("sets and groups", name, name_there));
            }
            let differs = rows.iter().zip(rows_there).position(|(a, b)| a != b);
            if let Some(at) = differs {
                return Some(Difference::new(format!("row {at} of {name}"), rows[at], rows_there[at]));
            }
            if rows.len() != rows_there.len() {
                return Some(Difference::new(format!("rows of {name}"), rows.len(), rows_there.len()));
            }
        }
        (left.len() != right.len()).then(|| Difference::new("number of tables", left.len(), right.len()))
    }

    fn resource_difference(&self, other: &Self) -> Option<Difference> {
        let all = |world: &Self| -> Vec<(&'static str, Vec<Shown>)> {
            let ids = world.resources.ids_by_name().into_iter();
            let shown = ids
                .filter(|&id| world.resources.digest(id).is_some())
                .filter_map(|id| Some((world.resources.name(id)?, world.resources.show(id)?)));
            shown.collect()
        };
        let (left, right) = (all(self), all(other));
        let mut right = right.into_iter().peekable();
        for (name, fields) in left {
            match right.peek().map(|(name, _)| *name) {
                Some(there) if there == name => {}
                Some(there) if there < name => {
                    return Some(Difference::new(resource(there), ABSENT, PRESENT));
                }
                _ => return Some(Difference::new(resource(name), PRESENT, ABSENT)),
            }
            let there = right.next().map(|(_, fields)| fields).unwrap_or_default();
            if let Some(difference) = field_difference(&resource(name), named(fields), named(there)) {
                return Some(difference);
            }
        }
        right.next().map(|(name, _)| Difference::new(resource(name), ABSENT, PRESENT))
    }

    fn message_difference(&self, other: &Self) -> Option<Difference> {
        for id in self.messages.ids_by_name() {
            let name = self.messages.name(id)?;
            let there =
                other.messages.ids_by_name().into_iter().find(|&id| other.messages.name(id) == Some(name));
            let (left, right) = (self.messages.channel(id)?, there.and_then(|id| other.messages.channel(id)));
            let part = format!("message `{name}`");
            let Some(right) = right else {
                if left.len() > 0 {
                    return Some(Difference::new(part, left.len(), ABSENT));
                }
                continue;
            };
            if left.digest() == right.digest() {
                continue;
            }
            for at in 0..left.len().min(right.len()) {
                let part = format!("{part} number {at}");
                if let Some(found) = field_difference(&part, named(left.show(at)), named(right.show(at))) {
                    return Some(found);
                }
            }
            let what = "the numbers of messages";
            return Some(Difference::new(format!("{part}, {what}"), left.len(), right.len()));
        }
        None
    }
}

fn named(fields: Vec<Shown>) -> impl Iterator<Item = (String, Shown)> {
    fields.into_iter().map(|shown| (shown.field.to_owned(), shown))
}

/// The first field that differs; fields without a digest count by their text.
fn field_difference(
    part: &str,
    left: impl Iterator<Item = (String, Shown)>,
    right: impl Iterator<Item = (String, Shown)>,
) -> Option<Difference> {
    for ((field, a), (_, b)) in left.zip(right) {
        let same = match (a.digest, b.digest) {
            (Some(a), Some(b)) => a == b,
            _ => a.text == b.text,
        };
        if !same {
            let text = |shown: Shown| match (shown.text, shown.digest) {
                (Some(text), _) => text,
                (None, Some(digest)) => format!("a value with the digest {digest}"),
                (None, None) => "a value".to_owned(),
            };
            return Some(Difference { field, ..Difference::new(part, text(a), text(b)) });
        }
    }
    None
}

fn component(name: &str) -> String {
    format!("component `{name}`")
}

fn resource(name: &str) -> String {
    format!("resource `{name}`")
}

/// All that a comparison looks at, written down: for comparing a world with what it was.
pub struct Listing(Vec<Listed>);

struct Listed {
    entity: Option<Entity>,
    part: String,
    fields: Vec<(String, Shown)>,
}

impl World {
    /// Writes down all entities, components, resources and messages with their fields. Slow: for tools and tests.
    pub fn listing(&self) -> Listing {
        let mut all = Vec::new();
        for entity in self.entities().iter() {
            all.push(Listed { entity: Some(entity), part: "entity".to_owned(), fields: Vec::new() });
            for (info, table, row) in self.places(entity) {
                let fields = self.fields_at(info, table, row);
                all.push(Listed { entity: Some(entity), part: component(info.name()), fields });
            }
        }
        for id in self.resources.ids_by_name() {
            if self.resources.digest(id).is_some()
                && let (Some(name), Some(fields)) = (self.resources.name(id), self.resources.show(id))
            {
                all.push(Listed { entity: None, part: resource(name), fields: named(fields).collect() });
            }
        }
        for id in self.messages.ids_by_name() {
            let (Some(name), Some(channel)) = (self.messages.name(id), self.messages.channel(id)) else {
                continue;
            };
            for at in 0..channel.len() {
                let part = format!("message `{name}` number {at}");
                all.push(Listed { entity: None, part, fields: named(channel.show(at)).collect() });
            }
        }
        Listing(all)
    }
}

impl Listing {
    /// The first difference to another listing.
    pub fn first_difference(&self, other: &Self) -> Option<Difference> {
        let mut there = other.0.iter();
        for one in &self.0 {
            let Some(other) = there.next() else { return Some(one.only(PRESENT, ABSENT)) };
            if (one.entity, &one.part) != (other.entity, &other.part) {
                // Entities come first, in the order of their indices; the one that is named first is in one listing alone.
                let key =
                    |listed: &Listed| (listed.entity.map_or(u32::MAX, Entity::index), listed.part.clone());
                let here = key(one) <= key(other);
                return Some(if here { one.only(PRESENT, ABSENT) } else { other.only(ABSENT, PRESENT) });
            }
            let (fields, fields_there) = (one.fields.iter().cloned(), other.fields.iter().cloned());
            if let Some(difference) = field_difference(&one.part, fields, fields_there) {
                return Some(Difference { entity: one.entity, ..difference });
            }
        }
        there.next().map(|other| other.only(ABSENT, PRESENT))
    }
}

impl Listed {
    fn only(&self, left: &str, right: &str) -> Difference {
        Difference { entity: self.entity, ..Difference::new(self.part.clone(), left, right) }
    }
}
