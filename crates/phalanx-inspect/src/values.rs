//! Names and values between JSON and the world: entities, components, fields.
//!
//! Nothing is guessed: a number that does not fit its field, a name that two components share, or an entity that was
//! never there is an error that says so. Text is cut off at [`MAX_TEXT`], so that one value cannot fill an answer.
//! Whole numbers that a browser would round ([`MAX_EXACT`]) leave as texts, and are taken back as such.

use std::fmt::{self, Write};

use phalanx::fields::{FieldKind, NamedField};
use phalanx::prelude::{Entity, FieldType, Value, World};
use phalanx::registry::ComponentInfo;

use crate::json::{Cell, Json};
use crate::protocol::Failure;

/// No text of a value is longer in an answer.
const MAX_TEXT: usize = 2000;

/// JavaScript keeps whole numbers exact up to here, 2^53 - 1.
const MAX_EXACT: u128 = (1 << 53) - 1;

/// The last part of a name: `Health` of `game::units::Health` or `game.Health`, `Slot<f32>` of `game::Slot<f32>`.
pub fn short(name: &str) -> &str {
    let generic = name.find('<').unwrap_or(name.len());
    // Names that are given in an attribute often have dots: `game.Health`.
    name[..generic].rfind([':', '.']).map_or(name, |at| &name[at + 1..])
}

/// Whether a part of a system's access is of a component: `Health` or `Position.x`, by a name that may have dots itself.
pub fn is_part_of(info: &ComponentInfo, part: &str) -> bool {
    let is_own =
        |name: &str| part.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    is_own(info.name()) || is_own(short(info.name()))
}

/// The component with a name, in full or by its last part.
pub fn component<'w>(world: &'w World, name: &str) -> Result<&'w ComponentInfo, String> {
    let components = world.components();
    if let Some(info) = components.by_name(name).and_then(|id| components.get_info(id)) {
        return Ok(info);
    }
    let mut found = components.iter().filter(|info| short(info.name()) == name);
    match (found.next(), found.next()) {
        (Some(info), None) => Ok(info),
        (Some(first), Some(second)) => {
            Err(format!("`{name}` may be `{}` or `{}`: write the full name", first.name(), second.name()))
        }
        (None, _) => {
            let near =
                components.iter().map(|info| short(info.name())).min_by_key(|known| distance(known, name));
            let near = near.filter(|known| distance(known, name) <= known.len().max(name.len()) / 2);
            let hint = near.map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
            Err(format!("there is no component `{name}`{hint}"))
        }
    }
}

/// How many letters have to change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().take(64).enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

/// The field with a name.
pub fn field<'i>(info: &'i ComponentInfo, name: &str) -> Result<NamedField<'i>, String> {
    info.named_fields().find(|field| field.name == name).ok_or_else(|| {
        let known: Vec<&str> = info.named_fields().map(|field| field.name).collect();
        let known = if known.is_empty() { "no fields".to_owned() } else { known.join(", ") };
        format!("`{}` has no field `{name}`; it has {known}", short(info.name()))
    })
}

/// An entity as `12v0`, as bits, or, as text, by the slot it has now.
pub fn entity(world: &World, json: &Json) -> Result<Entity, Failure> {
    let entity = any_entity(world, json)?;
    if world.contains(entity) {
        return Ok(entity);
    }
    Err(Failure::params(format!("entity {entity} is not alive")))
}

/// An entity, alive or not.
pub fn any_entity(world: &World, json: &Json) -> Result<Entity, Failure> {
    let found = match json {
        Json::Int(bits) => u64::try_from(*bits).ok().and_then(Entity::from_bits),
        Json::Text(text) => parse_entity(world, text).or_else(|| {
            // The bits of an entity whose slot was used often.
            let bits = text.parse::<u64>().ok().filter(|bits| u128::from(*bits) > MAX_EXACT);
            bits.and_then(Entity::from_bits)
        }),
        _ => None,
    };
    found.ok_or_else(|| Failure::params("an entity is written as \"12v0\", or as its bits"))
}

/// An entity as `12v0`, or `12` for the entity that has the slot now.
pub fn parse_entity(world: &World, text: &str) -> Option<Entity> {
    if let Some((index, generation)) = text.split_once('v') {
        let (index, generation): (u32, u32) = (index.parse().ok()?, generation.parse().ok()?);
        return Entity::from_bits((u64::from(generation) + 1) << 32 | u64::from(index));
    }
    world.entities().at_slot(text.parse().ok()?)
}

/// A whole number as it is sent: a text where a browser would round it.
pub fn exact(number: i128) -> Json {
    if number.unsigned_abs() > MAX_EXACT { Json::Text(number.to_string()) } else { Json::Int(number) }
}

/// A value as it is sent.
pub fn sent(value: Value) -> Json {
    match to_json(value) {
        Json::Int(number) => exact(number),
        json => json,
    }
}

/// A value as it is sent, in a long list.
pub fn cell(value: Value) -> Cell {
    match value {
        Value::F32(value) => Cell::Single(value),
        Value::F64(value) => Cell::Number(value),
        Value::U8(value) => Cell::Int(value.into()),
        Value::U16(value) => Cell::Int(value.into()),
        Value::U32(value) => Cell::Int(value.into()),
        Value::I8(value) => Cell::Int(value.into()),
        Value::I16(value) => Cell::Int(value.into()),
        Value::I32(value) => Cell::Int(value.into()),
        Value::Bool(value) => Cell::Bool(value),
        value => sent(value).into(),
    }
}

/// A value as JSON: whole numbers stay numbers.
fn to_json(value: Value) -> Json {
    match value {
        Value::F32(value) => Json::Single(value),
        Value::F64(value) => Json::Number(value),
        Value::U8(value) => Json::Int(value.into()),
        Value::U16(value) => Json::Int(value.into()),
        Value::U32(value) => Json::Int(value.into()),
        Value::U64(value) => Json::Int(value.into()),
        Value::I8(value) => Json::Int(value.into()),
        Value::I16(value) => Json::Int(value.into()),
        Value::I32(value) => Json::Int(value.into()),
        Value::I64(value) => Json::Int(value.into()),
        Value::Bool(value) => Json::Bool(value),
        Value::Entity(value) => Json::Text(value.to_string()),
        _ => Json::Text(value.to_string()),
    }
}

/// JSON as a value of a type.
pub fn to_value(world: &World, json: &Json, wanted: FieldType) -> Result<Value, String> {
    let wrong = || format!("{json} is no {wanted}");
    fn int<T: TryFrom<i128>>(json: &Json) -> Option<T> {
        match json {
            Json::Int(number) => T::try_from(*number).ok(),
            // 3.0 is a whole number, however it is written.
            Json::Number(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                T::try_from(number.to_string().parse::<i128>().ok()?).ok()
            }
            // As it was sent.
            Json::Text(text) => T::try_from(text.parse::<i128>().ok()?).ok(),
            _ => None,
        }
    }
    fn float(json: &Json) -> Option<f64> {
        match json {
            Json::Int(number) => number.to_string().parse().ok(),
            Json::Number(number) => Some(*number),
            Json::Text(text) if matches!(text.as_str(), "NaN" | "inf" | "-inf") => text.parse().ok(),
            _ => None,
        }
    }
    let value = match wanted {
        FieldType::F32 => float(json).and_then(|value| value.to_string().parse::<f32>().ok()).map(Value::F32),
        FieldType::F64 => float(json).map(Value::F64),
        FieldType::U8 => int(json).map(Value::U8),
        FieldType::U16 => int(json).map(Value::U16),
        FieldType::U32 => int(json).map(Value::U32),
        FieldType::U64 => int(json).map(Value::U64),
        FieldType::I8 => int(json).map(Value::I8),
        FieldType::I16 => int(json).map(Value::I16),
        FieldType::I32 => int(json).map(Value::I32),
        FieldType::I64 => int(json).map(Value::I64),
        FieldType::Bool => match json {
            Json::Bool(value) => Some(Value::Bool(*value)),
            _ => None,
        },
        FieldType::Entity => json.as_text().and_then(|text| parse_entity(world, text)).map(Value::Entity),
        _ => None,
    };
    value.ok_or_else(wrong)
}

/// Writes a field: a scalar or a text.
pub fn set(world: &mut World, entity: Entity, name: &str, path: &str, json: &Json) -> Result<(), String> {
    let info = component(world, name)?;
    let (id, kind, type_name) = {
        let found = field(info, path)?;
        (info.id(), found.kind, found.type_name)
    };
    match (kind, json) {
        (FieldKind::Scalar(wanted), json) => {
            let value = to_value(world, json, wanted)?;
            world.set_field(entity, id, path, value).map_err(|error| error.to_string())
        }
        (FieldKind::Text, Json::Text(text)) => {
            world.set_field_text(entity, id, path, text.as_str()).map_err(|error| error.to_string())
        }
        (FieldKind::Text, _) => Err(format!("{json} is no text")),
        _ => Err(format!("a field of type {} cannot be written", short(type_name))),
    }
}

/// Reads a field as JSON; `null` when its type is not known.
pub fn get(world: &World, entity: Entity, info: &ComponentInfo, found: &NamedField<'_>) -> Json {
    match found.kind {
        FieldKind::Scalar(_) => world.get_field(entity, info.id(), found.name).map_or(Json::Null, sent),
        FieldKind::Text => {
            world.get_field_text(entity, info.id(), found.name).map_or(Json::Null, |text| cut(text).into())
        }
        _ => Json::Null,
    }
}

/// The beginning of a text that is too long for an answer.
pub fn cut(text: &str) -> String {
    let mut short = Cut(String::new());
    let _ = short.write_str(text);
    short.0
}

/// The text of a component that can be printed.
pub fn debug(world: &World, entity: Entity, info: &ComponentInfo) -> Option<String> {
    let debug = world.component_debug(entity, info.id())?;
    let mut text = Cut(String::new());
    // Printing ends with an error when there is enough of it.
    let _ = write!(text, "{debug:?}");
    Some(text.0)
}

/// A text that takes no more than [`MAX_TEXT`].
struct Cut(String);

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_TEXT.saturating_sub(self.0.len());
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        let end = (0..=room).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        self.0.push_str(&text[..end]);
        self.0.push('…');
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_near_ones_are_found() {
        assert_eq!((short("a::b::C"), short("game.Health"), short("C")), ("C", "Health", "C"));
        assert_eq!(short("a::Slot<b::C>"), "Slot<b::C>");
        assert_eq!((distance("Health", "Helth"), distance("a", "a"), distance("", "abc")), (1, 0, 3));
    }

    #[test]
    fn values_fit_their_type_or_are_refused() {
        let world = World::new();
        let value = |text: &str, of| to_value(&world, &Json::parse(text).expect("well formed"), of);
        assert_eq!(value("3", FieldType::U8), Ok(Value::U8(3)));
        assert_eq!(value("3.0", FieldType::I32), Ok(Value::I32(3)));
        assert_eq!(value("0.1", FieldType::F32), Ok(Value::F32(0.1)));
        assert_eq!(value("18446744073709551615", FieldType::U64), Ok(Value::U64(u64::MAX)));
        assert!(value("\"NaN\"", FieldType::F32).is_ok_and(|value| value.as_f32().is_some_and(f32::is_nan)));
        for (text, of) in [
            ("300", FieldType::U8),
            ("-1", FieldType::U64),
            ("1.5", FieldType::I32),
            ("true", FieldType::F32),
            ("\"1.0\"", FieldType::U64),
            ("\"18446744073709551616\"", FieldType::U64),
            ("\"\"", FieldType::I64),
        ] {
            assert!(value(text, of).is_err(), "{text}");
        }
        assert_eq!(to_json(Value::F32(0.1)).to_string(), "0.1");
    }

    #[test]
    fn whole_numbers_that_a_browser_would_round_are_texts_both_ways() {
        let world = World::new();
        for (value, of, text) in [
            (Value::U64(u64::MAX), FieldType::U64, "\"18446744073709551615\""),
            (Value::I64(i64::MIN), FieldType::I64, "\"-9223372036854775808\""),
            (Value::U64((1 << 53) + 1), FieldType::U64, "\"9007199254740993\""),
            (Value::U64(1 << 53), FieldType::U64, "\"9007199254740992\""),
            (Value::I64(1 - (1 << 53)), FieldType::I64, "-9007199254740991"),
        ] {
            let json = sent(value);
            assert_eq!(json.to_string(), text);
            assert_eq!(to_value(&world, &json, of), Ok(value));
        }
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let text = cut(&"ä".repeat(5000));
        assert!(text.len() <= MAX_TEXT + 4 && text.ends_with('…'));
        assert_eq!(cut("short"), "short");
    }
}
