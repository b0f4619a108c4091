//! The methods that look at the world and change it; see [`protocol`](crate::protocol).
//!
//! Each takes the world and the parameters of a call. Everything is checked before anything is changed.

use phalanx::archetype::ArchetypeId;
use phalanx::component::Layout;
use phalanx::fields::FieldKind;
use phalanx::pool::{PoolId, PoolRecord};
use phalanx::prelude::{ChildOf, Children, Entity, StorageKind, Time, World};
use phalanx::registry::{ComponentId, ComponentInfo};

use crate::advisor::{Advisor, having};
use crate::find::name_of;
use crate::json::{Cell, Json};
use crate::protocol::Failure;
use crate::search::Page;
use crate::values::{self, component, debug, entity, field, short};

/// No answer has more children.
const MAX_CHILDREN: usize = 200;
/// No answer has more points.
const MAX_POINTS: usize = 5000;

fn text<'p>(params: &'p Json, key: &str) -> Result<&'p str, Failure> {
    let found = params.get(key).and_then(Json::as_text);
    found.ok_or_else(|| Failure::params(format!("`{key}` is missing, or not a text")))
}

fn the_entity(world: &World, params: &Json) -> Result<Entity, Failure> {
    entity(world, params.get("entity").unwrap_or(&Json::Null))
}

fn the_component<'w>(world: &'w World, params: &Json) -> Result<&'w ComponentInfo, Failure> {
    component(world, text(params, "component")?).map_err(Failure::params)
}

/// A page of a search.
pub fn found(world: &World, page: Page) -> Json {
    let entities = page.entities.into_iter().map(|entity| {
        let ids = world.entity(entity).component_ids();
        let names = ids.filter_map(|id| world.components().get_info(id)).map(|info| short(info.name()));
        Json::object([
            ("entity", entity.to_string().into()),
            ("name", name_of(world, entity).into()),
            ("components", Json::list(names)),
        ])
    });
    Json::object([
        ("total", page.total.into()),
        ("scanned", page.scanned.into()),
        ("complete", page.complete.into()),
        ("parts", page.parts.into()),
        ("entities", Json::list(entities)),
    ])
}

/// `world.get`
pub fn get(world: &World, params: &Json) -> Result<Json, Failure> {
    let entity = the_entity(world, params)?;
    Ok(whole_entity(world, entity))
}

fn whole_entity(world: &World, entity: Entity) -> Json {
    let found = world.entity(entity);
    let archetype = found.archetype();
    let pool = pool_name(world, archetype);
    let parent = world.get::<ChildOf>(entity).map(ChildOf::parent);
    let children = world.get::<Children>(entity).map_or(&[][..], |children| &**children);
    let child_count = children.len();
    let children = children.iter().take(MAX_CHILDREN).map(|&child| link(world, child));
    let components = found.component_ids().filter_map(|id| world.components().get_info(id));
    let components = components.map(|info| {
        let fields = info.named_fields().map(|field| {
            Json::object([
                ("name", field.name.into()),
                ("type", type_name(field.kind, field.type_name).into()),
                ("value", values::get(world, entity, info, &field)),
                ("editable", (!matches!(field.kind, FieldKind::Other)).into()),
            ])
        });
        let fields = Json::list(fields);
        let needs_text = info.named_fields().next().is_none()
            || info.named_fields().any(|field| field.kind == FieldKind::Other);
        let text = debug(world, entity, info).filter(|_| needs_text && info.layout() != Layout::Tag);
        Json::object([
            ("component", info.name().into()),
            ("short", short(info.name()).into()),
            ("storage", storage(info).into()),
            ("fields", fields),
            ("text", text.into()),
        ])
    });
    Json::object([
        ("entity", entity.to_string().into()),
        ("bits", values::exact(entity.to_bits().into())),
        ("name", name_of(world, entity).into()),
        ("archetype", format!("{archetype:?}").into()),
        ("pool", pool.into()),
        ("parent", parent.map(|parent| link(world, parent)).into()),
        ("children", Json::list(children)),
        ("childCount", child_count.into()),
        ("components", Json::list(components)),
    ])
}

/// An entity that another one leads to, and how many it leads to itself.
fn link(world: &World, entity: Entity) -> Json {
    let children = world.get::<Children>(entity).map_or(0, |children| children.len());
    Json::object([
        ("entity", entity.to_string().into()),
        ("name", name_of(world, entity).into()),
        ("children", children.into()),
    ])
}

/// The name of an archetype's pool, unless that is General.
fn pool_name(world: &World, archetype: ArchetypeId) -> Option<&'static str> {
    let pool = world.archetypes().pool_of(archetype);
    let mut others = world.archetypes().pools().iter().filter(|pool| pool.id() != PoolId::GENERAL);
    others.find(|record| record.id() == pool).map(PoolRecord::name)
}

fn type_name(kind: FieldKind, name: &'static str) -> String {
    match kind {
        FieldKind::Scalar(scalar) => scalar.name().to_owned(),
        FieldKind::Text => "text".to_owned(),
        _ => short(name).to_owned(),
    }
}

fn storage(info: &ComponentInfo) -> &'static str {
    match (info.layout(), info.storage()) {
        (_, StorageKind::Sparse) => "sparse",
        (_, StorageKind::Stable) => "stable",
        (Layout::Tag, _) => "tag",
        (Layout::Fields, _) => "fields",
        _ => "table",
    }
}

/// `world.set`
pub fn set(world: &mut World, params: &Json) -> Result<Json, Failure> {
    let entity = the_entity(world, params)?;
    let (name, path) = (text(params, "component")?, text(params, "field")?);
    let value = params.get("value").ok_or_else(|| Failure::params("`value` is missing"))?;
    let read = |world: &World| -> Result<Json, Failure> {
        let info = component(world, name).map_err(Failure::params)?;
        let found = field(info, path).map_err(Failure::params)?;
        Ok(values::get(world, entity, info, &found))
    };
    let old = read(world)?;
    values::set(world, entity, name, path, value).map_err(Failure::params)?;
    Ok(Json::object([("old", old), ("new", read(world)?)]))
}

/// `world.spawn`
pub fn spawn(world: &mut World, params: &Json) -> Result<Json, Failure> {
    let none = Vec::new();
    let components = match params.get("components") {
        None => none.as_slice(),
        Some(given) => {
            given.as_object().ok_or_else(|| Failure::params("`components` is an object: names to fields"))?
        }
    };
    let entity = world.spawn_empty().id();
    for (name, fields) in components {
        if let Err(failure) = put(world, entity, name, fields) {
            world.despawn(entity);
            return Err(failure);
        }
    }
    Ok(Json::object([("entity", entity.to_string().into())]))
}

/// `world.despawn`
pub fn despawn(world: &mut World, params: &Json) -> Result<Json, Failure> {
    let entity = the_entity(world, params)?;
    Ok(Json::object([("despawned", world.despawn(entity).into())]))
}

/// `world.insert`
pub fn insert(world: &mut World, params: &Json) -> Result<Json, Failure> {
    let entity = the_entity(world, params)?;
    let name = text(params, "component")?;
    let id = the_component(world, params)?.id();
    let had = world.entity(entity).contains_id(id);
    if let Err(failure) = put(world, entity, name, params.get("fields").unwrap_or(&Json::Null)) {
        if !had {
            // What is required stays, since another component may need it by now.
            let _ = world.remove_by_id(entity, id);
        }
        return Err(failure);
    }
    Ok(whole_entity(world, entity))
}

/// Gives an entity a component with its default values, and these fields.
fn put(world: &mut World, entity: Entity, name: &str, fields: &Json) -> Result<(), Failure> {
    let id = component(world, name).map_err(Failure::params)?.id();
    world.insert_default(entity, id).map_err(Failure::params)?;
    let fields = match fields {
        Json::Null => &[],
        fields => {
            fields.as_object().ok_or_else(|| Failure::params("fields are an object: names to values"))?
        }
    };
    for (path, value) in fields {
        values::set(world, entity, name, path, value).map_err(Failure::params)?;
    }
    Ok(())
}

/// `world.remove`
pub fn remove(world: &mut World, params: &Json) -> Result<Json, Failure> {
    let entity = the_entity(world, params)?;
    let id = the_component(world, params)?.id();
    let removed = world.remove_by_id(entity, id).map_err(Failure::params)?;
    Ok(Json::object([("removed", removed.into())]))
}

/// `world.components`
pub fn components(world: &World) -> Json {
    let stats = world.stats();
    let all = world.components().iter().map(|info| {
        let fields = info.named_fields().map(|field| {
            let kind = type_name(field.kind, field.type_name);
            Json::object([("name", field.name.into()), ("type", kind.into())])
        });
        Json::object([
            ("component", info.name().into()),
            ("short", short(info.name()).into()),
            ("storage", storage(info).into()),
            ("entities", having(world, &stats, info).into()),
            ("default", info.has_default().into()),
            ("fields", Json::list(fields)),
        ])
    });
    Json::list(all.collect::<Vec<_>>())
}

/// `world.tables`
pub fn tables(world: &World, advisor: &Advisor) -> Json {
    let stats = world.stats();
    let used = stats.archetypes.iter().filter(|archetype| archetype.entities > 0 || archetype.bytes > 0);
    let archetypes = used.map(|archetype| {
        let ids = world.archetypes().signature(archetype.id).iter();
        let names =
            ids.filter_map(|id: ComponentId| world.components().get_info(id)).map(|info| short(info.name()));
        let columns = archetype.columns.iter().map(|column| {
            let name = match column.field.as_str() {
                "" => short(&column.component).to_owned(),
                field => format!("{}.{field}", short(&column.component)),
            };
            Json::object([("name", name.into()), ("bytes", column.bytes.into())])
        });
        Json::object([
            ("archetype", format!("{:?}", archetype.id).into()),
            ("components", Json::list(names)),
            ("rows", archetype.entities.into()),
            ("capacity", archetype.capacity.into()),
            ("bytes", archetype.bytes.into()),
            ("pool", pool_name(world, archetype.id).into()),
            ("columns", Json::list(columns)),
        ])
    });
    let sets = stats.sets.iter().map(|set| {
        Json::object([
            ("component", short(&set.component).into()),
            ("entities", set.entities.into()),
            ("holes", set.holes.into()),
            ("pages", set.pages.into()),
            ("bytes", (set.page_bytes + set.row_bytes).into()),
        ])
    });
    let groups = stats.groups.iter().map(|group| {
        let names = |names: &[String]| Json::list(names.iter().map(|name| short(name)));
        Json::object([
            ("owned", names(&group.owned)),
            ("guaranteed", names(&group.guaranteed)),
            ("without", names(&group.without)),
            ("entities", group.entities.into()),
        ])
    });
    let pools = stats.pools.iter().map(|pool| {
        Json::object([
            ("pool", pool.name.into()),
            ("strategy", format!("{:?}", pool.strategy).into()),
            ("entities", pool.entities.into()),
            ("archetypes", pool.archetypes.len().into()),
        ])
    });
    Json::object([
        ("archetypes", Json::list(archetypes)),
        ("sets", Json::list(sets)),
        ("groups", Json::list(groups)),
        ("pools", Json::list(pools)),
        ("entities", stats.entities.into()),
        ("bytes", stats.bytes().into()),
        ("directory", (stats.directory_bytes + stats.index_bytes).into()),
        ("freeSlots", stats.free_slots.into()),
        (
            "emptyArchetypes",
            stats.archetypes.iter().filter(|archetype| archetype.entities == 0).count().into(),
        ),
        ("advisor", advisor.to_json(world, &stats)),
    ])
}

/// `world.points`
pub fn points(world: &World, params: &Json) -> Result<Json, Failure> {
    let path = |key: &str| -> Result<(ComponentId, &str), Failure> {
        let (name, path) = text(params, key)?
            .split_once('.')
            .ok_or_else(|| Failure::params(format!("`{key}` is a component and a field: `Position.x`")))?;
        let info = component(world, name).map_err(Failure::params)?;
        field(info, path).map_err(Failure::params)?;
        Ok((info.id(), path))
    };
    let ((x, x_field), (y, y_field)) = (path("x")?, path("y")?);
    let colour = params.get("colour").and_then(Json::as_text).filter(|text| !text.is_empty());
    let colour = colour.map(|text| {
        let (name, path) = text.split_once('.').map_or((text, None), |(name, path)| (name, Some(path)));
        component(world, name).map(|info| (info.id(), path)).map_err(Failure::params)
    });
    let colour = colour.transpose()?;
    let limit = params.get("limit").and_then(Json::as_usize).unwrap_or(MAX_POINTS).clamp(1, MAX_POINTS);
    let query = world.query_builder().with(x).with(y).build();
    let total: usize = query.tables(world).map(|table| table.len()).sum();
    let step = total.div_ceil(limit).max(1);
    let (mut list, mut skip) = (Vec::with_capacity(total.div_ceil(step)), 0);
    let parts = [Some((x, Some(x_field))), Some((y, Some(y_field))), colour];
    let mut columns = [const { Vec::new() }; 3];
    for table in query.tables(world) {
        let rows = (skip..table.len()).step_by(step);
        // Where the table holds the numbers, they are read from it; else each entity is looked up.
        for (part, column) in parts.iter().zip(&mut columns) {
            column.clear();
            if let &Some((id, Some(field))) = part {
                let _ = table.field_values(id, field, rows.clone(), column);
            }
        }
        let cell = |part: usize, nth: usize, row: usize| match (columns[part].get(nth), parts[part]) {
            (Some(&value), _) => values::cell(value),
            (None, Some((id, Some(field)))) => {
                world.get_field(table.entities()[row], id, field).map_or(Cell::Null, values::cell)
            }
            (None, Some((id, None))) => Cell::Bool(world.entity(table.entities()[row]).contains_id(id)),
            (None, None) => Cell::Null,
        };
        let points = rows.clone().enumerate();
        list.extend(points.map(|(nth, row)| [cell(0, nth, row), cell(1, nth, row), cell(2, nth, row)]));
        skip += rows.len() * step;
        skip -= table.len();
    }
    let frame = world.resource::<Time>().frame();
    let points = Json::Triples(list);
    Ok(Json::object([("total", total.into()), ("points", points), ("frame", frame.into())]))
}
