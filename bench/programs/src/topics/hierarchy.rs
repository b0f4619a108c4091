// Parents and children: every way to link them, and what happens when one goes.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Id(u32);

fn tell(world: &mut World, what: &str) {
    let mut rows: Vec<(u32, Option<Entity>, Vec<Entity>)> = Vec::new();
    let mut all = world.query::<(&Id, Option<&ChildOf>, Option<&Children>)>();
    for (id, parent, children) in all.iter(world) {
        let children = children.map_or(Vec::new(), |children| children.iter().collect());
        rows.push((id.0, parent.map(ChildOf::parent), children));
    }
    rows.sort_by_key(|row| row.0);
    let id = |entity: Entity| world.get::<Id>(entity).map_or(0, |id| id.0);
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(own, parent, children)| {
            (own, parent.map(id), children.into_iter().map(id).collect::<Vec<_>>())
        })
        .collect();
    writeln!(world.resource_mut::<Out>().0, "{what}: {rows:?}").unwrap();
}

fn walk(
    roots: Query<(Entity, &Id), Without<ChildOf>>,
    children: Query<&Children>,
    ids: Query<&Id>,
    mut out: ResMut<Out>,
) {
    let mut roots: Vec<(u32, Entity)> = roots.iter().map(|(entity, id)| (id.0, entity)).collect();
    roots.sort();
    for (id, root) in roots {
        let below: Vec<u32> =
            children.iter_descendants(root).filter_map(|one| ids.get(one).ok()).map(|id| id.0).collect();
        let leaves = children.iter_leaves(root).count();
        writeln!(out.0, "below {id}: {below:?}, {leaves} leaves").unwrap();
    }
}

fn climb(parents: Query<&ChildOf>, ids: Query<(Entity, &Id)>, mut out: ResMut<Out>) {
    let mut all: Vec<(u32, Vec<u32>)> = Vec::new();
    for (entity, id) in &ids {
        let above = parents.iter_ancestors(entity).map(|one| ids.get(one).unwrap().1.0).collect();
        all.push((id.0, above));
    }
    all.sort();
    writeln!(out.0, "above: {all:?}").unwrap();
}

pub fn program() -> String {
    let mut world = World::new();
    world.init_resource::<Out>();
    let root = world.spawn(Id(1)).id();
    let [a, b, c] = [2, 3, 4].map(|id| world.spawn(Id(id)).id());
    world.entity_mut(root).add_child(a).add_children(&[b, c]);
    tell(&mut world, "added");
    world.entity_mut(a).with_children(|parent| {
        parent.spawn(Id(5)).with_child(Id(6));
        parent.spawn(Id(7));
    });
    tell(&mut world, "spawned below");
    world.entity_mut(b).insert(ChildOf(a));
    tell(&mut world, "another parent");
    world.entity_mut(root).insert_children(0, &[c, b]);
    tell(&mut world, "inserted in front");
    world.entity_mut(root).detach_child(c);
    tell(&mut world, "detached");
    world.commands().entity(c).with_child(Id(8)).add_child(root);
    world.flush();
    tell(&mut world, "by commands");
    let mut schedule = Schedule::default();
    schedule.add_systems((walk, climb).chain());
    schedule.run(&mut world);
    world.entity_mut(a).remove::<ChildOf>();
    world.entity_mut(c).replace_children(&[a]);
    tell(&mut world, "replaced");
    world.entity_mut(a).remove::<ChildOf>();
    tell(&mut world, "removed");
    let tree = world.spawn((Id(20), children![Id(21), (Id(22), children![Id(23)])])).id();
    tell(&mut world, "as a bundle");
    world.entity_mut(tree).detach_all_children();
    tell(&mut world, "all detached");
    world.entity_mut(a).despawn();
    tell(&mut world, "despawned with all below");
    world.entity_mut(root).despawn_children();
    tell(&mut world, "children despawned");
    schedule.run(&mut world);
    std::mem::take(&mut world.resource_mut::<Out>().0)
}
