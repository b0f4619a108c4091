//! Saves and loads of 200,000 entities with two components of three floats each, in postcard and in JSON.
//!
//! hecs' serialization and the `Vec` know at compile time which types there are, and say nothing about them in the save:
//! no names, versions or free ids.

use phalanx::prelude::*;
use phalanx::save::SaveRegistry;
use phalanx_measuring::contender::Contender;
use serde::{Deserialize, Serialize};

use crate::Case;

const ROWS: usize = 200_000;

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
#[component(save, name = "Position")]
struct Position {
    x: f32,
    y: f32,
    z: f32,
}

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
#[component(save, name = "Velocity")]
struct Velocity {
    x: f32,
    y: f32,
    z: f32,
}

fn row(at: usize) -> (Position, Velocity) {
    let x = at as f32 * 0.37;
    (Position { x, y: x + 0.5, z: -x }, Velocity { x: 1.0 / (x + 1.0), y: x, z: 3.25 })
}

fn here() -> World {
    let mut world = World::new();
    world.spawn_batch((0..ROWS).map(row));
    world
}

fn types() -> SaveRegistry {
    let mut types = SaveRegistry::new();
    types.register::<Position>().register::<Velocity>();
    types
}

fn theirs() -> hecs::World {
    let mut world = hecs::World::new();
    world.spawn_batch((0..ROWS).map(row));
    world
}

type Rows = Vec<(u64, Position, Velocity)>;

fn rows() -> Rows {
    (0..ROWS).map(|at| (at as u64, row(at).0, row(at).1)).collect()
}

#[derive(Serialize, Deserialize, Clone, Copy)]
enum Id {
    Position,
    Velocity,
}

mod columns {
    use hecs::serialize::column::*;
    use hecs::{Archetype, ColumnBatchBuilder, ColumnBatchType};
    use serde::de::SeqAccess;
    use serde::ser::SerializeTuple;

    use super::{Id, Position, Velocity};

    #[derive(Default)]
    pub struct Context(Vec<Id>);

    impl SerializeContext for Context {
        fn component_count(&self, archetype: &Archetype) -> usize {
            archetype.component_types().count()
        }
        fn serialize_component_ids<S: SerializeTuple>(
            &mut self,
            archetype: &Archetype,
            mut out: S,
        ) -> Result<S::Ok, S::Error> {
            try_serialize_id::<Position, _, _>(archetype, &Id::Position, &mut out)?;
            try_serialize_id::<Velocity, _, _>(archetype, &Id::Velocity, &mut out)?;
            out.end()
        }
        fn serialize_components<S: SerializeTuple>(
            &mut self,
            archetype: &Archetype,
            mut out: S,
        ) -> Result<S::Ok, S::Error> {
            try_serialize::<Position, _>(archetype, &mut out)?;
            try_serialize::<Velocity, _>(archetype, &mut out)?;
            out.end()
        }
    }

    impl DeserializeContext for Context {
        fn deserialize_component_ids<'de, A: SeqAccess<'de>>(
            &mut self,
            mut seq: A,
        ) -> Result<ColumnBatchType, A::Error> {
            self.0.clear();
            let mut batch = ColumnBatchType::new();
            while let Some(id) = seq.next_element()? {
                match id {
                    Id::Position => drop(batch.add::<Position>()),
                    Id::Velocity => drop(batch.add::<Velocity>()),
                }
                self.0.push(id);
            }
            Ok(batch)
        }
        fn deserialize_components<'de, A: SeqAccess<'de>>(
            &mut self,
            count: u32,
            mut seq: A,
            batch: &mut ColumnBatchBuilder,
        ) -> Result<(), A::Error> {
            for id in &self.0 {
                match id {
                    Id::Position => deserialize_column::<Position, _>(count, &mut seq, batch)?,
                    Id::Velocity => deserialize_column::<Velocity, _>(count, &mut seq, batch)?,
                }
            }
            Ok(())
        }
    }
}

mod by_row {
    use hecs::serialize::row::*;
    use hecs::{EntityBuilder, EntityRef};
    use serde::de::MapAccess;
    use serde::ser::SerializeMap;

    use super::{Id, Position, Velocity};

    pub struct Context;

    impl SerializeContext for Context {
        fn serialize_entity<S: SerializeMap>(
            &mut self,
            entity: EntityRef<'_>,
            mut map: S,
        ) -> Result<S::Ok, S::Error> {
            try_serialize::<Position, _, _>(&entity, &Id::Position, &mut map)?;
            try_serialize::<Velocity, _, _>(&entity, &Id::Velocity, &mut map)?;
            map.end()
        }
        fn component_count(&self, entity: EntityRef<'_>) -> Option<usize> {
            Some(entity.len())
        }
    }

    impl DeserializeContext for Context {
        fn deserialize_entity<'de, M: MapAccess<'de>>(
            &mut self,
            mut map: M,
            entity: &mut EntityBuilder,
        ) -> Result<(), M::Error> {
            while let Some(key) = map.next_key()? {
                match key {
                    Id::Position => drop(entity.add::<Position>(map.next_value()?)),
                    Id::Velocity => drop(entity.add::<Velocity>(map.next_value()?)),
                }
            }
            Ok(())
        }
    }
}

type Postcard = postcard::Serializer<postcard::ser_flavors::StdVec>;

fn to_postcard(write: impl FnOnce(&mut Postcard) -> Result<(), postcard::Error>) -> Vec<u8> {
    let mut serializer = Postcard { output: postcard::ser_flavors::StdVec::new() };
    write(&mut serializer).expect("all of it can be written");
    postcard::ser_flavors::Flavor::finalize(serializer.output).expect("a vector takes everything")
}

type Json = serde_json::Serializer<Vec<u8>>;

fn to_json(write: impl FnOnce(&mut Json) -> Result<(), serde_json::Error>) -> Vec<u8> {
    let mut serializer = serde_json::Serializer::new(Vec::new());
    write(&mut serializer).expect("all of it can be written");
    serializer.into_inner()
}

/// A line that writes the same thing again and again. What it wrote is dropped outside of the timed part.
fn writing<W: 'static>(
    name: (&'static str, &'static str),
    make: fn() -> W,
    write: fn(&W) -> Vec<u8>,
) -> Contender {
    Contender::staged(
        name,
        move || (make(), Vec::new()),
        |(_, bytes)| *bytes = Vec::new(),
        move |(world, bytes)| *bytes = write(world),
        |(_, bytes)| u64::from(bytes.len() > 24 * ROWS / 2),
    )
}

/// A line that reads the same bytes again and again.
fn reading<W: 'static>(
    name: (&'static str, &'static str),
    bytes: fn() -> Vec<u8>,
    read: fn(&[u8]) -> W,
    count: fn(&W) -> usize,
) -> Contender {
    Contender::staged(
        name,
        move || (bytes(), None),
        |(_, world)| *world = None,
        move |(bytes, world)| *world = Some(read(bytes)),
        move |(_, world)| world.as_ref().map_or(0, count) as u64,
    )
}

fn rows_postcard(rows: &Rows) -> Vec<u8> {
    postcard::to_stdvec(rows).expect("a vector takes everything")
}
fn columns_postcard(world: &hecs::World) -> Vec<u8> {
    to_postcard(|out| hecs::serialize::column::serialize(world, &mut columns::Context::default(), out))
}
fn by_row_postcard(world: &hecs::World) -> Vec<u8> {
    to_postcard(|out| hecs::serialize::row::serialize(world, &mut by_row::Context, out))
}
fn here_postcard(world: &World) -> Vec<u8> {
    to_postcard(|out| world.save(out).map(drop))
}
fn rows_json(rows: &Rows) -> Vec<u8> {
    serde_json::to_vec(rows).expect("a vector takes everything")
}
fn by_row_json(world: &hecs::World) -> Vec<u8> {
    to_json(|out| hecs::serialize::row::serialize(world, &mut by_row::Context, out))
}
fn here_json(world: &World) -> Vec<u8> {
    to_json(|out| world.save(out).map(drop))
}

pub fn cases() -> Vec<Case> {
    let len = |world: &hecs::World| world.len() as usize;
    let entities = |world: &World| world.entities().len();
    let case = |name: &str, lines| Case { name: name.to_owned(), rows: ROWS, lines };
    vec![
        case(
            "save, postcard",
            vec![
                writing(("Vec", "of rows"), rows, rows_postcard),
                writing(("hecs", "columns"), theirs, columns_postcard),
                writing(("hecs", "rows"), theirs, by_row_postcard),
                writing(("phalanx", ""), here, here_postcard),
            ],
        ),
        case(
            "load, postcard",
            vec![
                reading(
                    ("Vec", "of rows"),
                    || rows_postcard(&rows()),
                    |bytes| postcard::from_bytes::<Rows>(bytes).expect("its own bytes"),
                    Vec::len,
                ),
                reading(
                    ("hecs", "columns"),
                    || columns_postcard(&theirs()),
                    |bytes| {
                        let mut reader = postcard::Deserializer::from_bytes(bytes);
                        hecs::serialize::column::deserialize(&mut columns::Context::default(), &mut reader)
                            .expect("its own bytes")
                    },
                    len,
                ),
                reading(
                    ("hecs", "rows"),
                    || by_row_postcard(&theirs()),
                    |bytes| {
                        let mut reader = postcard::Deserializer::from_bytes(bytes);
                        hecs::serialize::row::deserialize(&mut by_row::Context, &mut reader)
                            .expect("its own bytes")
                    },
                    len,
                ),
                reading(
                    ("phalanx", ""),
                    || here_postcard(&here()),
                    |bytes| {
                        World::load(&mut postcard::Deserializer::from_bytes(bytes), &types())
                            .expect("its own bytes")
                    },
                    entities,
                ),
            ],
        ),
        case(
            "save, JSON",
            vec![
                writing(("Vec", "of rows"), rows, rows_json),
                writing(("hecs", "rows"), theirs, by_row_json),
                writing(("phalanx", ""), here, here_json),
            ],
        ),
        case(
            "load, JSON",
            vec![
                reading(
                    ("Vec", "of rows"),
                    || rows_json(&rows()),
                    |bytes| serde_json::from_slice::<Rows>(bytes).expect("its own bytes"),
                    Vec::len,
                ),
                reading(
                    ("hecs", "rows"),
                    || by_row_json(&theirs()),
                    |bytes| {
                        let mut reader = serde_json::Deserializer::from_slice(bytes);
                        hecs::serialize::row::deserialize(&mut by_row::Context, &mut reader)
                            .expect("its own bytes")
                    },
                    len,
                ),
                reading(
                    ("phalanx", ""),
                    || here_json(&here()),
                    |bytes| {
                        World::load(&mut serde_json::Deserializer::from_slice(bytes), &types())
                            .expect("its own bytes")
                    },
                    entities,
                ),
            ],
        ),
    ]
}
