// Copies of entities: with everything, with some of it, with their children.

use std::fmt::Write;

#[derive(Component, Clone, Debug, Default)]
struct Health(i32);
#[derive(Component, Clone, Debug)]
struct Title(String);
#[derive(Component, Clone, Debug, Default)]
#[require(Health)]
struct Armour(i32);
#[derive(Component, Debug)]
struct Unique(i32);

fn tell(world: &World, entity: Entity, out: &mut String) {
    let entity = world.entity(entity);
    let title = entity.get::<Title>().map(|title| title.0.as_str());
    let (health, armour) =
        (entity.get::<Health>().map(|health| health.0), entity.get::<Armour>().map(|armour| armour.0));
    let unique = entity.get::<Unique>().map(|unique| unique.0);
    let children = entity.get::<Children>().map_or(0, |children| children.len());
    writeln!(out, "{title:?} {health:?} {armour:?} {unique:?}, {children} children").unwrap();
}

pub fn program() -> String {
    let mut out = String::new();
    let mut world = World::new();
    let knight = world.spawn((Title("knight".into()), Health(10), Armour(3), Unique(1))).id();
    world.entity_mut(knight).with_children(|parent| {
        parent.spawn(Title("sword".into()));
        parent.spawn((Title("shield".into()), Armour(7)));
    });

    let copy = world.entity_mut(knight).clone_and_spawn();
    tell(&world, copy, &mut out);
    let bare = world.entity_mut(knight).clone_and_spawn_with_opt_out(|builder| {
        builder.deny::<(Title, Armour)>();
    });
    tell(&world, bare, &mut out);
    let only = world.entity_mut(knight).clone_and_spawn_with_opt_in(|builder| {
        builder.allow::<Title>();
    });
    tell(&world, only, &mut out);
    let with_required = world.entity_mut(knight).clone_and_spawn_with_opt_in(|builder| {
        builder.allow::<Armour>();
    });
    tell(&world, with_required, &mut out);
    let tree = world.entity_mut(knight).clone_and_spawn_with_opt_out(|builder| {
        builder.linked_cloning(true);
    });
    tell(&world, tree, &mut out);
    let parts: Vec<Entity> = world.get::<Children>(tree).unwrap().iter().collect();
    for part in parts {
        writeln!(out, "below: {}", world.get::<ChildOf>(part).unwrap().parent() == tree).unwrap();
        tell(&world, part, &mut out);
    }

    let other = world.spawn((Title("squire".into()), Health(1))).id();
    EntityCloner::build_opt_out(&mut world).deny::<Title>().clone_entity(knight, other);
    tell(&world, other, &mut out);
    world.entity_mut(other).clone_components::<Title>(copy);
    tell(&world, copy, &mut out);
    world.entity_mut(knight).move_components::<(Unique, Armour)>(other);
    tell(&world, knight, &mut out);
    tell(&world, other, &mut out);

    let late = world.commands().entity(knight).clone_and_spawn().id();
    world.commands().entity(late).insert(Health(99));
    world.flush();
    tell(&world, late, &mut out);
    out
}
