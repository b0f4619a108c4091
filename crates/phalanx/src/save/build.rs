//! From values to a world: nothing here fails but for what only a world knows, such as what its pools allow.
//!
//! Components, pools and archetypes come in the order in which the saved world had them, then rows and sets in theirs,
//! groups at last, which find their members at the front of the sets already.

use hashbrown::HashMap;
use phalanx_store::Entity;

use super::decode::{Decoded, DecodedSet, DecodedTable, Resolved};
use super::error::LoadError;
use super::image::GroupImage;
use super::kept::KeptComponents;
use super::registry::SaveRegistry;
use crate::pool::PoolId;
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::world::World;

/// Makes a world of a save.
pub(super) fn build(decoded: Decoded, registry: &SaveRegistry) -> Result<World, LoadError> {
    let mut world = World::new();
    fill(&mut world, decoded, registry)?;
    Ok(world)
}

/// Fills a world that never had an entity. After an error it is as good as empty.
pub(super) fn fill(world: &mut World, decoded: Decoded, registry: &SaveRegistry) -> Result<(), LoadError> {
    let ids = register(world, &decoded.components)?;
    let pools = register_pools(world, &decoded.pools, registry)?;
    check_pools(world, &decoded, &ids, &pools)?;
    let loaded = world.store.load_entities(&decoded.directory);
    loaded.map_err(|error| LoadError::invalid("the entity slots", error))?;
    for table in decoded.tables {
        load_table(world, table, &ids, pools.as_slice());
    }
    for set in decoded.sets {
        load_set(world, set, &ids)?;
    }
    for set in decoded.late {
        load_late(world, set, &ids);
    }
    for (at, group) in decoded.groups.into_iter().enumerate() {
        load_group(world, &group, &ids).ok_or_else(|| {
            LoadError::invalid(format_args!("group {at}"), "it cannot be made of its members")
        })?;
    }
    for resource in decoded.resources {
        drop(resource.insert(world));
    }
    for channel in decoded.messages {
        drop(channel.insert(&mut world.messages));
    }
    if !decoded.kept.is_empty() {
        let mut kept = KeptComponents::default();
        for component in decoded.kept {
            kept.push(&component.name, component.version, component.readable, component.values);
        }
        world.insert_resource(kept);
    }
    world.relations.all_changed();
    let sound = world.index_edges().and_then(|()| world.check_relations());
    sound.map_err(|fault| LoadError::invalid("the relations", fault))
}

/// Registers the components of a save. Returns the id of each; none for unknown ones.
pub(super) fn register(
    world: &mut World,
    components: &[Resolved],
) -> Result<Vec<Option<ComponentId>>, LoadError> {
    let mut ids = Vec::new();
    for component in components {
        let id = match component {
            Resolved::Typed { entry, .. } => (entry.register)(&mut world.components).map(Some),
            Resolved::Dynamic(schema) => world.components.register_schema(schema.clone()).map(Some),
            Resolved::Unknown { .. } => Ok(None),
        };
        let place = format_args!("component `{}`", component.name());
        ids.push(id.map_err(|error| LoadError::invalid(place, error))?);
    }
    world.declare_components();
    Ok(ids)
}

pub(super) fn register_pools(
    world: &mut World,
    pools: &[String],
    registry: &SaveRegistry,
) -> Result<Vec<PoolId>, LoadError> {
    let mut ids = vec![PoolId::GENERAL];
    for pool in pools {
        let register = registry.find_pool(pool);
        let register = register.ok_or_else(|| LoadError::Unknown { kind: "pool", name: pool.clone() })?;
        let id = register(world).map_err(|error| LoadError::invalid(format_args!("pool `{pool}`"), error))?;
        ids.push(id);
    }
    Ok(ids)
}

/// Whether pools allow what their entities have, and these have what pools require.
pub(super) fn check_pools(
    world: &World,
    decoded: &Decoded,
    ids: &[Option<ComponentId>],
    pools: &[PoolId],
) -> Result<(), LoadError> {
    if pools.len() == 1 {
        return Ok(());
    }
    let mut pool_of: HashMap<Entity, usize> = HashMap::new();
    for table in decoded.tables.iter().filter(|table| table.pool > 0) {
        pool_of.extend(table.entities.iter().map(|&entity| (entity, table.pool)));
    }
    let name = |id: ComponentId| world.components.info(id).name();
    for (at, table) in decoded.tables.iter().enumerate().filter(|(_, table)| table.pool > 0) {
        let pool = world.archetypes.pools().record(pools[table.pool]);
        let place = format_args!("table {at}");
        let has: Signature = table.components.iter().filter_map(|&component| ids[component]).collect();
        if let Some(id) = has.iter().find(|&id| !pool.allows(id)) {
            let message = format!("pool `{}` does not declare `{}`", pool.name(), name(id));
            return Err(LoadError::invalid(place, message));
        }
        let missing = pool.required().difference(&has);
        for id in &missing {
            let set = decoded.sets.iter().find(|set| ids[set.component] == Some(id));
            let members: hashbrown::HashSet<Entity> =
                set.map(|set| set.entities.iter().copied().collect()).unwrap_or_default();
            if let Some(entity) = table.entities.iter().find(|entity| !members.contains(*entity)) {
                let (pool, name) = (pool.name(), name(id));
                let message = format!(
                    "entity {entity} is in pool `{pool}`, which requires `{name}`, and lacks it: save `{name}` as well"
                );
                return Err(LoadError::invalid(place, message));
            }
        }
    }
    for set in decoded.sets.iter().chain(&decoded.late) {
        let Some(id) = ids[set.component] else { continue };
        for entity in &set.entities {
            let Some(&pool) = pool_of.get(entity) else { continue };
            let pool = world.archetypes.pools().record(pools[pool]);
            if !pool.allows(id) {
                let message =
                    format!("entity {entity} is in pool `{}`, which does not declare it", pool.name());
                return Err(LoadError::invalid(format_args!("the set of `{}`", name(id)), message));
            }
        }
    }
    Ok(())
}

fn load_table(world: &mut World, table: DecodedTable, ids: &[Option<ComponentId>], pools: &[PoolId]) {
    let DecodedTable { pool, components, entities, columns } = table;
    let (mut in_table, mut rows, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
    for (component, column) in components.into_iter().zip(columns) {
        let Some(id) = ids[component] else { continue };
        // The component may live in a set by now.
        if world.set_of(id).is_some() {
            elsewhere.push((component, column));
        } else {
            in_table.push(id);
            rows.push(column);
        }
    }
    world.load_table(pools[pool], in_table.into_iter().collect(), &entities, &mut rows);
    for (component, column) in elsewhere {
        load_late(
            world,
            DecodedSet { component, entities: entities.clone(), holes: Vec::new(), column },
            ids,
        );
    }
}

fn load_set(world: &mut World, set: DecodedSet, ids: &[Option<ComponentId>]) -> Result<(), LoadError> {
    let Some(id) = ids[set.component] else { return Ok(()) };
    let holes = set.holes.clone();
    load_late(world, set, ids);
    // The component may live in tables by now, or in a set that does not leave holes.
    let Some(in_set) = world.set_of(id).filter(|&set| world.store.set_is_stable(set)) else { return Ok(()) };
    if world.store.set_spread(in_set, &holes) {
        return Ok(());
    }
    let name = world.components.info(id).name();
    Err(LoadError::invalid(format_args!("the set of `{name}`"), "its holes are not rows of it"))
}

/// Gives entities the values of a component one by one.
fn load_late(world: &mut World, mut set: DecodedSet, ids: &[Option<ComponentId>]) {
    let Some(id) = ids[set.component] else { return };
    let mut leftovers = Vec::new();
    for &entity in &set.entities {
        world.load_value(entity, id, &mut set.column, &mut leftovers);
    }
}

pub(super) fn load_group(world: &mut World, group: &GroupImage, ids: &[Option<ComponentId>]) -> Option<()> {
    let named = |positions: &[usize]| positions.iter().map(|&at| ids[at]).collect::<Option<Vec<_>>>();
    let (owned, seen, without) = (named(&group.owned)?, named(&group.seen)?, named(&group.without)?);
    // Members of a group that owns sets stand first in each of them.
    let first = owned.first().and_then(|&id| world.set_of(id));
    let standing = first.map(|set| world.store.set_entities(set).to_vec());
    let id = world.load_group(&owned, &seen, &without)?;
    let order = match (standing, &group.order) {
        (Some(mut standing), None) => {
            standing.truncate(world.store.group_len(id).ok()?);
            standing
        }
        (None, Some(order)) => order.clone(),
        _ => return None,
    };
    world.order_group(id, &order).then_some(())
}
