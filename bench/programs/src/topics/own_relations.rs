// Relations of a program's own: who works for whom, who is docked where.

use std::fmt::Write;

#[derive(Component, Debug)]
struct Id(u32);

#[derive(Component, Debug)]
#[relationship(relationship_target = Workers)]
struct WorksFor(Entity);
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = WorksFor)]
struct Workers(Vec<Entity>);

#[derive(Component, Debug)]
#[relationship(relationship_target = Docked)]
struct DockedAt {
    #[relationship]
    port: Entity,
    berth: u8,
}
#[derive(Component, Debug)]
#[relationship_target(relationship = DockedAt, linked_spawn)]
struct Docked(Vec<Entity>);

#[derive(Component)]
#[relationship(relationship_target = Partner)]
struct PartnerOf(Entity);
#[derive(Component)]
#[relationship_target(relationship = PartnerOf)]
struct Partner(Entity);

fn ids(world: &World, entities: impl IntoIterator<Item = Entity>) -> Vec<u32> {
    entities.into_iter().map(|entity| world.get::<Id>(entity).map_or(0, |id| id.0)).collect()
}
fn tell(world: &mut World, out: &mut String) {
    let mut all =
        world.query::<(&Id, Option<&WorksFor>, Option<&Workers>, Option<&DockedAt>, Option<&Docked>)>();
    let mut rows = Vec::new();
    for (id, employer, workers, port, docked) in all.iter(world) {
        rows.push((
            id.0,
            employer.map(|employer| ids(world, [employer.0])),
            workers.map(|workers| ids(world, workers.iter())),
            port.map(|port| (ids(world, [port.port]), port.berth)),
            docked.map(|docked| ids(world, docked.iter())),
        ));
    }
    rows.sort_by_key(|row| row.0);
    for (id, employer, workers, port, docked) in rows {
        writeln!(out, "{id}: for {employer:?}, has {workers:?}, at {port:?}, holds {docked:?}").unwrap();
    }
    out.push('\n');
}

pub fn program() -> String {
    let mut out = String::new();
    let mut world = World::new();
    let boss = world.spawn((Id(1), related!(Workers[Id(2), (Id(3), Workers::spawn(Spawn(Id(4))))]))).id();
    let port = world.spawn(Id(10)).id();
    world.spawn((Id(11), DockedAt { port, berth: 3 }));
    let ship = world.spawn((Id(12), DockedAt { port, berth: 4 }, WorksFor(boss))).id();
    tell(&mut world, &mut out);

    let other = world.spawn(Id(5)).id();
    world.entity_mut(ship).insert(WorksFor(other));
    world.entity_mut(boss).with_related::<WorksFor>(Id(6));
    world.entity_mut(boss).with_related_entities::<WorksFor>(|spawner| {
        spawner.spawn(Id(7));
        spawner.spawn(Id(8));
    });
    tell(&mut world, &mut out);

    let found = world.run_system_once(move |workers: Query<&Workers>, employers: Query<&WorksFor>| {
        let below: Vec<Entity> = workers.iter_descendants(boss).collect();
        let root = below.last().map(|&last| employers.root_ancestor(last));
        let related = employers.related::<WorksFor>(below[0]);
        (below.len(), root == Some(boss), related == Some(boss))
    });
    writeln!(out, "{:?}", found.unwrap()).unwrap();

    // Workers outlive their employer; ships go with their port.
    world.entity_mut(boss).despawn();
    world.entity_mut(port).despawn();
    tell(&mut world, &mut out);

    let (a, b, c) = (world.spawn(Id(21)).id(), world.spawn(Id(22)).id(), world.spawn(Id(23)).id());
    world.entity_mut(a).insert(PartnerOf(c));
    world.entity_mut(b).insert(PartnerOf(c));
    let of = |world: &World, entity| world.get::<Partner>(entity).map(|partner| ids(world, [partner.0]));
    writeln!(out, "{:?} {:?}", of(&world, c), world.get::<PartnerOf>(a).is_some()).unwrap();
    world.entity_mut(b).remove::<PartnerOf>();
    writeln!(out, "{:?}", of(&world, c)).unwrap();
    out
}
