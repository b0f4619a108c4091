// Components that bring others with them.

use std::fmt::Write;

#[derive(Component, Debug, Default, PartialEq)]
struct Position(i32);
#[derive(Component, Debug, PartialEq)]
struct Mass(i32);
#[derive(Component, Debug, Default)]
#[require(Position)]
struct Visible;
#[derive(Component, Debug, Default)]
#[require(Visible, Mass(7))]
struct Body;

#[derive(Component)]
struct Other;

fn line(out: &mut String, what: &str, world: &World, entity: Entity) {
    let entity = world.entity(entity);
    writeln!(
        out,
        "{what}: body {} visible {} position {:?} mass {:?}",
        entity.contains::<Body>(),
        entity.contains::<Visible>(),
        entity.get::<Position>(),
        entity.get::<Mass>()
    )
    .unwrap();
}

pub fn program() -> String {
    let mut out = String::new();
    let mut world = World::new();
    let body = world.spawn(Body).id();
    line(&mut out, "body", &world, body);
    let given = world.spawn((Body, Position(3))).id();
    line(&mut out, "given", &world, given);
    let before = world.spawn(Mass(1)).id();
    world.entity_mut(before).insert(Body);
    line(&mut out, "before", &world, before);
    world.entity_mut(before).remove::<Body>();
    line(&mut out, "removed", &world, before);
    world.entity_mut(given).remove::<Position>();
    line(&mut out, "without", &world, given);
    let later = world.commands().spawn(Visible).id();
    world.flush();
    world.commands().entity(later).insert(Body);
    world.flush();
    line(&mut out, "later", &world, later);
    let kept = world.spawn((Body, Position(9), Other)).id();
    world.entity_mut(kept).retain::<Visible>();
    line(&mut out, "retained", &world, kept);
    writeln!(out, "other {}", world.entity(kept).contains::<Other>()).unwrap();
    out
}
