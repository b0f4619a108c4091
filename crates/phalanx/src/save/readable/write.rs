//! Writing the readable form: rows with names, one table, set or resource after the other.
//!
//! The values of a column are written down as bytes when the turn of its table comes, and handed on to the format row by
//! row, so that a save never needs memory for all of a world.

use phalanx_store::{Entity, SlotState};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

use super::FORM;
use crate::codec::{CodecError, Data, Run, Shape, shape_of, write_run};
use crate::save::image::STORAGE;
use crate::save::plan::{Plan, SetPlan, TablePlan, id};

/// A world to be written with names.
pub(in crate::save) struct Document<'p>(pub(in crate::save) &'p Plan<'p>);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = self.0;
        let mut document = serializer.serialize_struct("World", 11)?;
        document.serialize_field("phalanx", &FORM)?;
        let left_out: Vec<&str> = plan.report.names().collect();
        document.serialize_field("not_saved", &left_out)?;
        document.serialize_field("components", &Each(plan.components.len(), |at| Ok(plan.component(at))))?;
        document.serialize_field("pools", &plan.pools)?;
        document.serialize_field("slots", &plan.slots())?;
        document.serialize_field("tables", &Each(plan.tables.len(), |at| plan.table(at)))?;
        document.serialize_field("sets", &Each(plan.sets.len(), |at| plan.set(at)))?;
        document.serialize_field("groups", &Each(plan.groups.len(), |at| Ok(plan.group(at))))?;
        document.serialize_field("resources", &Each(plan.resources.len(), |at| plan.resource(at)))?;
        document.serialize_field("messages", &Each(plan.messages.len(), |at| plan.channel(at)))?;
        document.serialize_field("kept", &Each(plan.kept.len(), |at| Ok(plan.kept(at))))?;
        document.end()
    }
}

/// A list whose items are made one by one.
struct Each<F>(usize, F);

impl<T: Serialize, F: Fn(usize) -> Result<T, CodecError>> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0))?;
        for at in 0..self.0 {
            list.serialize_element(&(self.1)(at).map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

/// A map with these keys, whatever its values.
struct Two<'a, A, B>(&'a str, A, &'a str, B);

impl<A: Serialize, B: Serialize> Serialize for Two<'_, A, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(self.0, &self.1)?;
        map.serialize_entry(self.2, &self.3)?;
        map.end()
    }
}

/// An entity as readable formats have it.
struct Id(Entity);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Two numbers and a letter, from the end.
        let mut text = [b'v'; 21];
        let letter = put_digits(self.0.generation(), &mut text) - 1;
        let start = put_digits(self.0.index(), &mut text[..letter]);
        let text = std::str::from_utf8(&text[start..]).map_err(S::Error::custom)?;
        serializer.serialize_str(text)
    }
}

/// Writes a number at the end of a text that has room for it. Returns where it begins.
fn put_digits(mut number: u32, text: &mut [u8]) -> usize {
    let mut start = text.len();
    loop {
        start -= 1;
        text[start] = b"0123456789"[(number % 10) as usize];
        number /= 10;
        if number == 0 {
            return start;
        }
    }
}

fn entity(entity: Entity) -> Data {
    Data::Text(entity.to_string())
}

fn list<T>(items: &[T], each: impl FnMut(&T) -> Data) -> Data {
    Data::List(items.iter().map(each).collect())
}

/// A table with its values.
struct Table<'p> {
    plan: &'p Plan<'p>,
    table: &'p TablePlan,
    /// The names of components, and their values.
    columns: Vec<(&'p str, Run)>,
}

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { plan, table, columns } = self;
        let mut map = serializer.serialize_map(None)?;
        if let Some(pool) = table.pool.checked_sub(1) {
            map.serialize_entry("pool", plan.pools[pool])?;
        }
        map.serialize_entry("components", &plan.names(&table.components))?;
        let row = |at: usize| Ok(Two("entity", Id(table.entities[at]), "values", Values(columns)));
        map.serialize_entry("rows", &Each(table.entities.len(), row))?;
        map.end()
    }
}

/// The next value of each column.
struct Values<'r>(&'r [(&'r str, Run)]);

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, run) in self.0 {
            map.serialize_entry(name, run)?;
        }
        map.end()
    }
}

/// A set with its values.
struct Set<'p> {
    name: &'p str,
    set: &'p SetPlan,
    values: Run,
}

impl Serialize for Set<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { name, set, values } = self;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("component", name)?;
        let row = |at: usize| Ok(Two("entity", Id(set.entities[at]), "value", values));
        map.serialize_entry("rows", &Each(set.entities.len(), row))?;
        map.serialize_entry("holes", &set.holes)?;
        map.end()
    }
}

/// A resource or a channel: what is known of it, and then its values.
struct Tail<'p> {
    fields: Vec<(&'p str, Data)>,
    name: &'p str,
    values: Run,
    /// How many values there are, where they are a list.
    count: Option<usize>,
}

impl Serialize for Tail<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len() + 1))?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        match self.count {
            Some(count) => map.serialize_entry(self.name, &Each(count, |_| Ok(&self.values)))?,
            None => map.serialize_entry(self.name, &self.values)?,
        }
        map.end()
    }
}

impl Plan<'_> {
    fn component_name(&self, component: usize) -> &str {
        self.components[component].info.name()
    }

    fn names(&self, components: &[usize]) -> Vec<&str> {
        components.iter().map(|&component| self.component_name(component)).collect()
    }

    fn run(&self, component: usize, entities: &[Entity]) -> Result<(&str, Run), CodecError> {
        let name = self.component_name(component);
        let written = write_run(|sink| self.write_values(component, entities, sink));
        Ok((name, written.map_err(|error| error.within(format_args!("component `{name}`")))?))
    }

    fn component(&self, at: usize) -> Data {
        let component = &self.components[at];
        let mut fields = vec![
            ("name", Data::from(component.info.name())),
            ("version", component.version.into()),
            ("storage", storage_name(component.info.storage())),
        ];
        if let Some(schema) = component.info.schema() {
            let each: Vec<_> = schema.iter().collect();
            let pair = |(name, field): &(&str, _)| {
                Data::List(vec![Data::from(*name), Data::Text(format!("{field}"))])
            };
            fields.push(("fields", list(&each, pair)));
            return Data::map(fields);
        }
        let tables = self.tables.iter().filter(|table| table.components.contains(&at));
        let sets = self.sets.iter().filter(|set| set.component == at);
        let first = tables.map(|table| &table.entities).chain(sets.map(|set| &set.entities));
        if let Some(first) = first.flatten().next() {
            let shape = shape_of(|sink| self.write_values(at, &[*first], sink));
            fields.push(("type", type_name(&shape)));
        }
        Data::map(fields)
    }

    fn slots(&self) -> Data {
        let free = self.directory.free.iter().filter_map(|&index| {
            let slot = self.directory.slots.get(index as usize);
            let Some(SlotState::Free(generation)) = slot else { return None };
            id(index, *generation).map(entity)
        });
        let retired = (0u32..).zip(&self.directory.slots).filter(|(_, slot)| **slot == SlotState::Retired);
        Data::map([
            ("count", Data::from(self.directory.slots.len() as u64)),
            ("free", Data::List(free.collect())),
            ("retired", Data::List(retired.map(|(index, _)| index.into()).collect())),
            ("without_row", list(&self.rowless(), |&rowless| entity(rowless))),
        ])
    }

    fn table(&self, at: usize) -> Result<Table<'_>, CodecError> {
        let table = &self.tables[at];
        let columns = table.components.iter().map(|&component| self.run(component, &table.entities));
        Ok(Table { plan: self, table, columns: columns.collect::<Result<_, _>>()? })
    }

    fn set(&self, at: usize) -> Result<Set<'_>, CodecError> {
        let set = &self.sets[at];
        let (name, values) = self.run(set.component, &set.entities)?;
        Ok(Set { name, set, values })
    }

    fn group(&self, at: usize) -> Data {
        let group = &self.groups[at];
        let names =
            |components: &[usize]| list(components, |&component| Data::from(self.component_name(component)));
        let mut fields = vec![
            ("own", names(&group.owned)),
            ("get", names(&group.seen)),
            ("without", names(&group.without)),
        ];
        if let Some(order) = &group.order {
            fields.push(("order", list(order, |&member| entity(member))));
        }
        Data::map(fields)
    }

    fn resource(&self, at: usize) -> Result<Tail<'_>, CodecError> {
        let (name, saving) = &self.resources[at];
        let values = write_run(|sink| (saving.write)(&self.world.resources, sink));
        let values = values.map_err(|error| error.within(format_args!("resource `{name}`")))?;
        let shape = shape_of(|sink| (saving.write)(&self.world.resources, sink));
        let fields = vec![
            ("name", Data::from(&**name)),
            ("version", saving.version.into()),
            ("type", type_name(&shape)),
        ];
        Ok(Tail { fields, name: "value", values, count: None })
    }

    fn channel(&self, at: usize) -> Result<Tail<'_>, CodecError> {
        let (name, saving, state) = &self.messages[at];
        let values = write_run(|sink| (saving.write)(&self.world.messages, sink));
        let values = values.map_err(|error| error.within(format_args!("message `{name}`")))?;
        let fields = vec![
            ("name", Data::from(&**name)),
            ("version", saving.version.into()),
            ("first", state.first.into()),
            ("ends", list(&state.ends, |&end| end.into())),
            ("keep", (state.keep as u64).into()),
        ];
        Ok(Tail { fields, name: "values", values, count: Some(state.len) })
    }

    fn kept(&self, at: usize) -> Data {
        let kept = &self.kept[at];
        let row = |(owner, value): &(Entity, &Data)| {
            Data::map([("entity", entity(*owner)), ("value", (*value).clone())])
        };
        Data::map([
            ("name", Data::from(kept.name)),
            ("version", kept.version.into()),
            ("readable", kept.readable.into()),
            ("rows", list(&kept.values, row)),
        ])
    }
}

fn type_name(shape: &Shape) -> Data {
    Data::Text(shape.to_string())
}

fn storage_name(kind: crate::schema::StorageKind) -> Data {
    let name = STORAGE.iter().find(|(known, _)| *known == kind);
    Data::from(name.map_or("table", |(_, name)| *name))
}
