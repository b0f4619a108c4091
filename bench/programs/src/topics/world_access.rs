// A world without systems: scopes, queries that are kept, several entities at once, whole worlds of entities.

use std::fmt::Write;

#[derive(Resource, Debug, Default, PartialEq)]
struct Bank(i32);
#[derive(Resource, Debug)]
struct Rate(i32);
impl FromWorld for Rate {
    fn from_world(world: &mut World) -> Self {
        Self(world.get_resource::<Bank>().map_or(1, |bank| bank.0 / 10))
    }
}
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Money(i32);
#[derive(Component, Debug)]
struct Debt(i32);
#[derive(Component)]
struct Hidden;

pub fn program() -> String {
    let mut out = String::new();
    let mut world = World::new();
    world.insert_resource(Bank(50));
    world.init_resource::<Rate>();
    let entities: Vec<Entity> = world.spawn_batch((1..=4).map(|n| Money(n * 10))).collect();
    world.entity_mut(entities[0]).insert(Debt(5));
    world.entity_mut(entities[2]).insert((Debt(7), Hidden));

    let moved = world.resource_scope(|world, mut bank: Mut<Bank>| {
        let rate = world.resource::<Rate>().0;
        let mut debtors = world.query_filtered::<(&mut Money, &Debt), Without<Hidden>>();
        for (mut money, debt) in debtors.iter_mut(world) {
            money.0 -= debt.0;
            bank.0 += debt.0 * rate;
        }
        world.get_resource::<Bank>().is_none()
    });
    writeln!(out, "{moved} {:?} {:?}", world.resource::<Bank>(), world.resource::<Rate>()).unwrap();

    let [mut a, mut b] = world.entity_mut([entities[0], entities[1]]);
    std::mem::swap(&mut *a.get_mut::<Money>().unwrap(), &mut *b.get_mut::<Money>().unwrap());
    let mut all = world.query::<(Entity, &Money, Option<&Debt>)>();
    let mut rows: Vec<_> =
        all.iter(&world).map(|(_, money, debt)| (money.0, debt.map(|debt| debt.0))).collect();
    rows.sort();
    writeln!(out, "{rows:?} {}", all.iter(&world).len()).unwrap();
    writeln!(out, "{:?}", all.get(&world, entities[3]).map(|(_, money, _)| money.0)).unwrap();
    let mut rich = world.query_filtered::<&Money, (With<Money>, Or<(With<Debt>, With<Hidden>)>)>();
    let best = rich.iter(&world).max().copied();
    writeln!(out, "{best:?} {}", rich.single(&world).is_err()).unwrap();

    world.insert_batch([(entities[1], Debt(1)), (entities[3], Debt(2))]);
    let taken = world.entity_mut(entities[1]).take::<Debt>().map(|debt| debt.0);
    let (kept, gone) = (world.get::<Money>(entities[1]).is_some(), world.get::<Debt>(entities[1]).is_none());
    writeln!(out, "{taken:?} {kept} {gone}").unwrap();
    world.entity_mut(entities[2]).retain::<Money>();
    world.modify_component(entities[2], |money: &mut Money| money.0 += 1).unwrap();
    let left = world.entity(entities[2]);
    writeln!(out, "{:?} {} {}", left.get::<Money>(), left.contains::<Debt>(), left.contains::<Hidden>())
        .unwrap();
    let entry = world.entity_mut(entities[2]).entry::<Debt>().or_insert(Debt(3)).get().0;
    let default = world.get_resource_or_init::<Bank>().0;
    writeln!(out, "{entry} {default}").unwrap();

    let removed = world.remove_resource::<Bank>();
    writeln!(out, "{removed:?} {:?}", world.get_resource_or_init::<Bank>()).unwrap();
    let gone = entities[0];
    writeln!(out, "{} {} {}", world.despawn(gone), world.despawn(gone), world.get_entity(gone).is_err())
        .unwrap();
    world.entity_mut(entities[1]).world_scope(|world| {
        world.spawn((Money(99), Hidden));
    });
    let count = world.query::<&Money>().iter(&world).count();
    let total =
        world.run_system_once(|all: Query<&Money>| all.iter().map(|money| money.0).sum::<i32>()).unwrap();
    writeln!(out, "{count} {total}").unwrap();
    out
}
