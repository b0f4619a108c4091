//! The difference of an entity between two moments: its fields, and which components it has.
//!
//! Both moments are frames of the history, or the present. `App::look_back` restores a frame, and the present after it.

use phalanx::component::Layout;
use phalanx::prelude::{App, Entity, Time, World};

use crate::json::Json;
use crate::protocol::Failure;
use crate::values::{self, any_entity, debug, short};

/// An entity at one moment: its components by name, each with what can be shown of its value.
struct Snapshot(Vec<(String, Vec<(String, Json)>)>);

/// `world.difference`
pub fn difference(app: &mut App, params: &Json) -> Result<Json, Failure> {
    let frames = |key: &str, usual| params.get(key).map_or(Some(usual), Json::as_usize);
    let (Some(from), Some(to)) = (frames("from", 1), frames("to", 0)) else {
        return Err(Failure::params("`from` and `to` are numbers of frames to look back"));
    };
    let entity = any_entity(app.world(), params.get("entity").unwrap_or(&Json::Null))?;
    let look = |world: &World| (world.resource::<Time>().frame(), Snapshot::of(world, entity));
    let mut at = |frames: usize| match frames {
        // What was edited since the last frame counts, too.
        0 => Ok(look(app.world())),
        frames => app.look_back(frames, look).map_err(Failure::params),
    };
    let ((from_frame, before), (to_frame, after)) = (at(from)?, at(to)?);
    Ok(Json::object([
        ("entity", entity.to_string().into()),
        ("fromFrame", from_frame.into()),
        ("toFrame", to_frame.into()),
        ("livedBefore", before.is_some().into()),
        ("livesAfter", after.is_some().into()),
        ("changes", Json::List(changes(before.as_ref(), after.as_ref()))),
    ]))
}

impl Snapshot {
    /// Nothing when it is not alive.
    fn of(world: &World, entity: Entity) -> Option<Self> {
        let found = world.get_entity(entity).ok()?;
        let components = found.component_ids().filter_map(|id| world.components().get_info(id)).map(|info| {
            let mut parts: Vec<(String, Json)> = info
                .named_fields()
                .map(|field| (field.name.to_owned(), values::get(world, entity, info, &field)))
                .collect();
            // Fields that cannot be shown one by one may be shown by the text of the whole.
            if info.layout() != Layout::Tag && parts.iter().all(|(_, value)| *value == Json::Null) {
                parts =
                    debug(world, entity, info).map(|text| (String::new(), text.into())).into_iter().collect();
            }
            (info.name().to_owned(), parts)
        });
        Some(Self(components.collect()))
    }

    fn component(&self, name: &str) -> Option<&[(String, Json)]> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, parts)| parts.as_slice())
    }
}

/// One entry for each component that came or went, and for each value that is another one.
fn changes(before: Option<&Snapshot>, after: Option<&Snapshot>) -> Vec<Json> {
    let list = |snapshot: Option<&Snapshot>| -> Vec<String> {
        snapshot.map_or_else(Vec::new, |snapshot| snapshot.0.iter().map(|(name, _)| name.clone()).collect())
    };
    let mut names = list(before);
    let came: Vec<String> = list(after).into_iter().filter(|name| !names.contains(name)).collect();
    names.extend(came);
    let mut found = Vec::new();
    for name in names {
        let entry = |what: &str, field: &str, old: Json, new: Json| {
            Json::object([
                ("component", name.as_str().into()),
                ("short", short(&name).into()),
                ("what", what.into()),
                ("field", field.into()),
                ("before", old),
                ("after", new),
            ])
        };
        let was = before.and_then(|snapshot| snapshot.component(&name));
        let is = after.and_then(|snapshot| snapshot.component(&name));
        match (was, is) {
            (None, _) => found.push(entry("added", "", Json::Null, Json::Null)),
            (_, None) => found.push(entry("removed", "", Json::Null, Json::Null)),
            (Some(was), Some(is)) => {
                for ((field, old), (_, new)) in was.iter().zip(is).filter(|(old, new)| old.1 != new.1) {
                    found.push(entry("changed", field, old.clone(), new.clone()));
                }
            }
        }
    }
    found
}
