// What queries yield, which entities they visit, and the ways to look at single entities.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource)]
struct Ids(Vec<Entity>);
#[derive(Component, Debug, PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
struct Number(i32);
#[derive(Component, Debug)]
struct Even;
#[derive(Component, Debug)]
#[component(storage = "SparseSet")]
struct Third;

fn spawn(mut commands: Commands) {
    let ids = (0..7).map(|i| {
        let mut entity = commands.spawn(Number(i));
        if i % 2 == 0 {
            entity.insert(Even);
        }
        if i % 3 == 0 {
            entity.insert(Third);
        }
        entity.id()
    });
    let ids = ids.collect();
    commands.insert_resource(Ids(ids));
}

fn filters(
    even: Query<&Number, With<Even>>,
    neither: Query<&Number, (Without<Even>, Without<Third>)>,
    either: Query<(&Number, Has<Even>, Option<&Third>), Or<(With<Even>, With<Third>)>>,
    mut out: ResMut<Out>,
) {
    let sorted = |mut numbers: Vec<i32>| {
        numbers.sort();
        numbers
    };
    writeln!(out.0, "even {:?}", sorted(even.iter().map(|n| n.0).collect())).unwrap();
    writeln!(out.0, "neither {:?}", sorted(neither.iter().map(|n| n.0).collect())).unwrap();
    let mut rows: Vec<_> = either.iter().map(|(n, even, third)| (n.0, even, third.is_some())).collect();
    rows.sort();
    writeln!(out.0, "either {rows:?}").unwrap();
}

fn single_entities(
    mut all: Query<&mut Number>,
    even: Query<Entity, With<Even>>,
    ids: Res<Ids>,
    mut out: ResMut<Out>,
) {
    let [mut a, mut b] = all.get_many_mut([ids.0[1], ids.0[2]]).unwrap();
    std::mem::swap(&mut a.0, &mut b.0);
    writeln!(out.0, "twice {}", all.get_many_mut([ids.0[1], ids.0[1]]).is_err()).unwrap();
    writeln!(out.0, "first {:?}, odd {}", all.get(ids.0[1]).unwrap(), even.get(ids.0[3]).is_err()).unwrap();
    writeln!(out.0, "single {} contains {}", all.single().is_err(), even.contains(ids.0[4])).unwrap();
}

/// Entities by list: those that do not match are errors, or passed over.
fn listed(all: Query<&Number>, even: Query<&Number, With<Even>>, ids: Res<Ids>, mut out: ResMut<Out>) {
    let found: Vec<_> = all.iter_many([ids.0[6], ids.0[1], ids.0[6]]).matched().map(|n| n.0).collect();
    let errors = even.iter_many(&ids.0).filter(|row| row.is_err()).count();
    writeln!(out.0, "listed {found:?}, {errors} errors").unwrap();
}

/// In an order of their values, and by kinds of data.
fn sorted(all: Query<(&Number, AnyOf<(&Even, &Third)>)>, numbers: Query<&Number>, mut out: ResMut<Out>) {
    let down: Vec<_> = numbers.iter().sort_by::<&Number>(|a, b| b.cmp(a)).map(|n| n.0).collect();
    let up: Vec<_> = numbers.iter().sort::<&Number>().map(|n| n.0).collect();
    writeln!(out.0, "down {down:?}, up {up:?}").unwrap();
    let mut any: Vec<_> =
        all.iter().map(|(n, (even, third))| (n.0, even.is_some(), third.is_some())).collect();
    any.sort();
    writeln!(out.0, "any {any:?}").unwrap();
}

fn pairs(all: Query<&Number>, mut out: ResMut<Out>) {
    let mut sums: Vec<i32> = all.iter_combinations().map(|[a, b]| a.0 + b.0).collect();
    sums.sort();
    writeln!(out.0, "{} pairs, sums {:?}", sums.len(), sums).unwrap();
}

fn despawn(mut commands: Commands, ids: Res<Ids>) {
    commands.entity(ids.0[0]).despawn();
    commands.entity(ids.0[4]).remove::<Even>().insert(Third);
}

fn dead(all: Query<&Number>, ids: Res<Ids>, mut out: ResMut<Out>) {
    writeln!(out.0, "dead {}", all.get(ids.0[0]).is_err()).unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();
    app.add_systems(Startup, spawn);
    app.add_systems(
        Update,
        (filters, single_entities, listed, sorted, pairs, despawn, dead, filters).chain().run_if(run_once),
    );
    app.update();
    app.update();
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
