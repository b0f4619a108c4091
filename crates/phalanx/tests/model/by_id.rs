//! Components and fields by id and name.

use phalanx::RegisterError;
use phalanx::prelude::{Entity, FieldType, Value};
use phalanx::world::FieldError;

use crate::parts::{Cell, DYNAMIC, Key, PARTS, Part, random_value, schema, with_part, zeroed};
use crate::run::Run;

/// One of the run-time components, and an entity, which may have it.
fn some_dynamic(run: &mut Run) -> Option<(Entity, usize)> {
    Some((run.any_alive()?, run.rng.below(DYNAMIC.len())))
}

/// Random values for some of the fields.
fn some_fields(run: &mut Run, number: usize) -> Vec<(&'static str, Value)> {
    let mut fields = Vec::new();
    for &(name, field_type) in DYNAMIC[number].1 {
        if run.rng.once_in(2) {
            fields.push((name, random_value(field_type, &mut run.rng)));
        }
    }
    fields
}

pub fn insert_dynamic(run: &mut Run) -> bool {
    let Some((entity, number)) = some_dynamic(run) else { return false };
    let fields = some_fields(run, number);
    let mut expected = match run.naive.entities[&entity].get(&Key::Dynamic(number)) {
        Some(Cell::Fields(present)) => present.clone(),
        _ => zeroed(number),
    };
    expected.extend(fields.iter().copied());
    run.naive.set(entity, Key::Dynamic(number), Cell::Fields(expected));
    let id = run.dynamic[number];
    if run.rng.once_in(2) {
        run.world.insert_dynamic(entity, id, &fields).expect("the fields fit");
    } else {
        run.world.entity_mut(entity).insert_dynamic(id, &fields).expect("the fields fit");
    }
    true
}

/// Nothing changes, however many of the fields were right.
pub fn insert_dynamic_wrong(run: &mut Run) -> bool {
    let Some((entity, number)) = some_dynamic(run) else { return false };
    let mut fields = some_fields(run, number);
    fields.push(match run.rng.below(3) {
        0 => ("no such field", Value::I32(1)),
        1 => (DYNAMIC[number].1[0].0, Value::U64(1)),
        _ => match fields.first() {
            Some(&first) => first,
            None => ("", Value::Bool(true)),
        },
    });
    assert!(run.world.insert_dynamic(entity, run.dynamic[number], &fields).is_err());
    run.naive.touched.insert(entity);
    true
}

/// Fields of run-time components, and of typed ones.
pub fn set_field(run: &mut Run) -> bool {
    let Some((entity, number)) = some_dynamic(run) else { return false };
    let key = run.any_key(entity, &[Key::Position, Key::Label, Key::Dynamic(number)]);
    let (name, field_type) = match key {
        Key::Position => ("y", FieldType::I32),
        Key::Label => ("rank", FieldType::U8),
        _ => run.rng.pick(DYNAMIC[number].1).expect("there are fields"),
    };
    let Some(id) = run.id(key) else { return false };
    let value = random_value(field_type, &mut run.rng);
    let set = run.world.set_field(entity, id, name, value);
    let Some(cell) = run.naive.entities[&entity].get(&key).cloned() else {
        assert!(matches!(set, Err(FieldError::Missing { .. })), "{entity} has no {key:?}");
        return false;
    };
    set.expect("entity, component, field and type are right");
    let written = match (cell, value) {
        (Cell::Pair(x, _), Value::I32(y)) => Cell::Pair(x, y),
        (Cell::Label(text, _), Value::U8(rank)) => Cell::Label(text, rank),
        (Cell::Fields(mut fields), value) => {
            fields.insert(name, value);
            Cell::Fields(fields)
        }
        (cell, _) => unreachable!("{cell:?} has no field {name}"),
    };
    run.naive.set(entity, key, written);
    assert!(run.world.set_field(entity, id, name, Value::I64(0)).is_err(), "nothing is an i64");
    true
}

pub fn remove_by_id(run: &mut Run) -> bool {
    let Some((entity, number)) = some_dynamic(run) else { return false };
    let mut keys = PARTS.to_vec();
    keys.push(Key::Dynamic(number));
    let key = run.any_key(entity, &keys);
    let Some(id) = run.id(key) else { return false };
    let had = run.naive.entities[&entity].contains_key(&key);
    assert!(run.naive.remove(entity, &[key]));
    if run.rng.once_in(2) {
        assert_eq!(run.world.remove_by_id(entity, id), Ok(had));
    } else {
        run.world.entity_mut(entity).remove_by_id(id);
    }
    had
}

pub fn register_again(run: &mut Run) -> bool {
    fn again<P: Part>(run: &mut Run) {
        let known = run.world.component_id::<P>();
        let id = run.world.register_component::<P>();
        assert!(known.is_none_or(|known| known == id));
    }
    let key = run.rng.pick(PARTS).expect("there are parts");
    with_part!(key, again(run));
    let number = run.rng.below(DYNAMIC.len());
    let count = run.world.components().len();
    assert_eq!(run.world.register_dynamic(schema(number)), Ok(run.dynamic[number]));
    let other = schema(number).field("another", FieldType::F32);
    assert!(matches!(run.world.register_dynamic(other), Err(RegisterError::OtherSchema { .. })));
    assert_eq!(run.world.components().len(), count);
    true
}
