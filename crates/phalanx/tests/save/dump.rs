//! All that can be seen of a world, as text: two worlds with the same dump are the same to every program.

use std::fmt::Write as _;

use phalanx::group::{Get, Own};
use phalanx::messages::Messages;
use phalanx::prelude::*;
use phalanx::registry::ComponentInfo;
use phalanx::world::{LinkedBy, Links};

use super::cast::*;

pub type Hot = Group<Own<(Burning, Marked)>, Get<(Armour,)>, Without<Frozen>>;
pub type Listed = Group<Own<()>, Get<(Armour, Seat)>>;

pub fn dump(world: &World) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "next {:?}", world.entities().next_ids(1_000));
    let _ = writeln!(out, "count {} {}", world.entities().len(), world.entities().slots());
    for archetype in world.archetypes().pools().iter().flat_map(|pool| pool.archetypes().to_vec()) {
        let names: Vec<&str> = world
            .archetypes()
            .signature(archetype)
            .iter()
            .filter_map(|id| world.components().get_info(id))
            .map(ComponentInfo::name)
            .collect();
        let _ = writeln!(out, "archetype {:?} {names:?}", world.archetypes().pool_of(archetype));
    }
    let mut order = Vec::new();
    order.extend(world.view::<Entity>().iter());
    for &entity in &order {
        let _ = writeln!(out, "{entity} {}", values(world, entity));
    }
    sets(world, &mut out);
    let _ = writeln!(out, "{:?}", world.get_resource::<Score>());
    if let Some(hits) = world.messages::<Hit>() {
        let _ = writeln!(out, "{hits:?} {}", hits.keep());
    }
    let heard = world
        .messages::<Heard>()
        .map(|heard| heard.iter().map(|heard| (heard.what.clone(), *heard.loud)).collect::<Vec<_>>());
    let _ = writeln!(out, "{heard:?} {:?}", world.messages::<Signal>().map(Messages::len));
    out
}

fn values(world: &World, entity: Entity) -> String {
    let whole = (
        world.get::<Health>(entity),
        world.get::<Position>(entity).map(|position| (position.x.to_bits(), position.y.to_bits())),
        world.get::<Frozen>(entity),
        world.get::<Mind>(entity),
        world.get::<Slot<i32>>(entity),
        world.get::<Rage>(entity),
    );
    let family = (world.get::<ChildOf>(entity), world.get::<Children>(entity));
    let edges =
        (world.related::<Likes>(entity), world.related::<Obeys>(entity), world.related::<Knows>(entity));
    let back = (
        world.edges_to::<Likes>(entity).collect::<Vec<_>>(),
        world.relating::<Obeys>(entity),
        world.relating::<Knows>(entity),
    );
    let mut text = format!("{whole:?} {:?} {family:?} {edges:?} {back:?}", world.pool_of(entity));
    for info in world.components().iter() {
        let Some(schema) = info.schema() else { continue };
        for name in schema.field_names() {
            let _ = write!(text, " {name} {:?}", world.get_field(entity, info.id(), name).ok());
        }
        let _ = write!(text, " {}", world.entity(entity).contains_id(info.id()));
    }
    text
}

fn sets(world: &World, out: &mut String) {
    let burning = world.sparse::<Burning>();
    let values: Vec<_> = burning.iter().map(|(entity, value)| (entity, value.0.to_bits())).collect();
    let _ = writeln!(out, "burning {values:?}");
    let marked: Vec<_> = world.sparse::<Marked>().entities().to_vec();
    let _ = writeln!(out, "marked {marked:?}");
    let armour = world.sparse::<Armour>();
    let values: Vec<_> = armour.iter().map(|(entity, row)| (entity, *row.class, *row.given_by)).collect();
    let _ = writeln!(out, "armour {values:?}");
    let likes: Vec<Entity> = world.view_filtered::<Entity, With<Links<Likes>>>().iter().collect();
    let liked: Vec<Entity> = world.view_filtered::<Entity, With<LinkedBy<Likes>>>().iter().collect();
    let _ = writeln!(out, "likes {likes:?} {liked:?}");
    let seats = world.sparse::<Seat>();
    let rows: Vec<_> = seats.entities().iter().map(|&entity| (entity, seats.get(entity))).collect();
    let _ = writeln!(out, "seats {rows:?}");
}

/// The orders of the groups, which are made where there are none.
pub fn groups(world: &mut World) -> String {
    let hot: Hot = world.group().expect("no other group owns these");
    let listed: Listed = world.group().expect("it owns nothing");
    format!("{:?} {:?}", hot.entities(world), listed.entities(world))
}
