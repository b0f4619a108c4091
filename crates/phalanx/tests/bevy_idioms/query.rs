//! `Query`, method by method, in systems.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq, Default)]
struct Armor(i32);
#[derive(Component, Default)]
struct Player;
#[derive(Resource, Debug, PartialEq, Default)]
struct Ids(Vec<Entity>);

/// Three entities: the first with armour, the second a player.
fn app() -> App {
    let mut app = App::new();
    let world = app.world_mut();
    let first = world.spawn((Health(1), Armor(10))).id();
    let second = world.spawn((Health(2), Player)).id();
    let third = world.spawn(Health(3)).id();
    world.insert_resource(Ids(vec![first, second, third]));
    app
}

/// Runs a system once, and returns the health of the three entities.
macro_rules! run {
    ($system:expr) => {{
        let mut app = app();
        app.add_systems(Update, $system);
        app.update();
        healths(app.world())
    }};
}

fn healths(world: &World) -> [i32; 3] {
    let ids = &world.resource::<Ids>().0;
    [0, 1, 2].map(|i| world.get::<Health>(ids[i]).expect("it has one").0)
}

#[test]
fn query_iter() {
    fn system(query: Query<(Entity, &Health)>, ids: Res<Ids>) {
        let mut seen: Vec<_> = query.iter().map(|(entity, health)| (entity, health.0)).collect();
        seen.sort_unstable();
        assert_eq!(seen, [(ids.0[0], 1), (ids.0[1], 2), (ids.0[2], 3)]);
        assert_eq!((&query).into_iter().count(), 3);
    }
    run!(system);
}

#[test]
fn query_iter_mut() {
    fn system(mut query: Query<&mut Health>) {
        for mut health in query.iter_mut() {
            health.0 *= 10;
        }
        for mut health in &mut query {
            health.0 += 1;
        }
    }
    assert_eq!(run!(system), [11, 21, 31]);
}

#[test]
fn query_iter_combinations() {
    fn system(query: Query<&Health>) {
        let mut sums: Vec<_> = query.iter_combinations().map(|[a, b]| a.0 + b.0).collect();
        sums.sort_unstable();
        assert_eq!(sums, [3, 4, 5]);
    }
    run!(system);
}

#[test]
fn query_iter_combinations_mut() {
    fn system(mut query: Query<&mut Health>) {
        let mut pairs = query.iter_combinations_mut();
        while let Some([mut a, mut b]) = pairs.fetch_next() {
            a.0 += 10;
            b.0 += 10;
        }
    }
    assert_eq!(run!(system), [21, 22, 23]);
}

#[test]
fn query_iter_many() {
    fn system(query: Query<&Health>, ids: Res<Ids>) {
        let list = [ids.0[2], ids.0[0], ids.0[2]];
        let seen: Vec<_> = query.iter_many(list).matched().map(|health| health.0).collect();
        assert_eq!(seen, [3, 1, 3]);
        assert_eq!(query.iter_many(&ids.0).matched().count(), 3);
    }
    run!(system);
}

#[test]
fn query_iter_many_mut() {
    fn system(mut query: Query<&mut Health>, ids: Res<Ids>) {
        let mut many = query.iter_many_mut([ids.0[2], ids.0[2], ids.0[0]]).matched();
        while let Some(mut health) = many.fetch_next() {
            health.0 += 10;
        }
    }
    assert_eq!(run!(system), [11, 2, 23]);
}

#[test]
fn query_par_iter() {
    fn system(query: Query<&Health>) {
        let sum = std::sync::atomic::AtomicI32::new(0);
        query.par_iter().for_each(|health| {
            sum.fetch_add(health.0, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 6);
    }
    run!(system);
}

#[test]
fn query_par_iter_mut() {
    fn system(mut query: Query<&mut Health>) {
        query.par_iter_mut().for_each(|mut health| health.0 += 1);
    }
    assert_eq!(run!(system), [2, 3, 4]);
}

#[test]
fn query_get() {
    fn system(query: Query<&Health, With<Player>>, ids: Res<Ids>) {
        assert_eq!(query.get(ids.0[1]).unwrap(), &Health(2));
        assert!(query.get(ids.0[0]).is_err());
    }
    run!(system);
}

#[test]
fn query_get_mut() {
    fn system(mut query: Query<&mut Health>, ids: Res<Ids>) {
        if let Ok(mut health) = query.get_mut(ids.0[1]) {
            health.0 = 9;
        }
    }
    assert_eq!(run!(system), [1, 9, 3]);
}

#[test]
fn query_get_many() {
    fn system(query: Query<&Health>, ids: Res<Ids>) {
        let [a, b] = query.get_many([ids.0[2], ids.0[0]]).unwrap();
        assert_eq!((a.0, b.0), (3, 1));
    }
    run!(system);
}

#[test]
fn query_get_many_mut() {
    fn system(mut query: Query<&mut Health>, ids: Res<Ids>) {
        let [mut a, mut b] = query.get_many_mut([ids.0[0], ids.0[1]]).unwrap();
        std::mem::swap(&mut *a, &mut *b);
        assert!(query.get_many_mut([ids.0[0], ids.0[0]]).is_err());
    }
    assert_eq!(run!(system), [2, 1, 3]);
}

#[test]
fn query_single() {
    fn system(player: Query<&Health, With<Player>>, all: Query<&Health>) {
        assert_eq!(player.single().unwrap().0, 2);
        assert!(all.single().is_err());
    }
    run!(system);
}

#[test]
fn query_single_mut() {
    fn system(mut player: Query<&mut Health, With<Player>>) {
        player.single_mut().unwrap().0 = 7;
    }
    assert_eq!(run!(system), [1, 7, 3]);
}

#[test]
fn query_is_empty() {
    fn system(none: Query<(), (With<Player>, With<Armor>)>, some: Query<(), With<Player>>) {
        assert!(none.is_empty());
        assert!(!some.is_empty());
    }
    run!(system);
}

#[test]
fn query_contains() {
    fn system(query: Query<&Armor>, ids: Res<Ids>) {
        assert!(query.contains(ids.0[0]));
        assert!(!query.contains(ids.0[1]));
    }
    run!(system);
}

#[test]
fn query_reborrow() {
    fn system(mut query: Query<&mut Health>) {
        fn add(mut query: Query<&mut Health>) {
            for mut health in &mut query {
                health.0 += 1;
            }
        }
        add(query.reborrow());
        add(query);
    }
    assert_eq!(run!(system), [3, 4, 5]);
}

#[test]
fn query_as_readonly() {
    fn system(query: Query<&mut Health>) {
        fn sum(query: Query<&Health>) -> i32 {
            query.iter().map(|health| health.0).sum()
        }
        assert_eq!(sum(query.as_readonly()), 6);
    }
    run!(system);
}

#[test]
fn query_data_option() {
    fn system(query: Query<(&Health, Option<&Armor>)>) {
        let sum: i32 = query.iter().map(|(health, armor)| health.0 + armor.map_or(0, |armor| armor.0)).sum();
        assert_eq!(sum, 16);
    }
    run!(system);
}

#[test]
fn query_data_has() {
    fn system(query: Query<(&Health, Has<Player>)>) {
        let players: Vec<_> =
            query.iter().filter(|(_, player)| *player).map(|(health, _)| health.0).collect();
        assert_eq!(players, [2]);
    }
    run!(system);
}

#[test]
fn query_filter_with_without_or() {
    fn system(
        with: Query<&Health, With<Player>>,
        without: Query<&Health, (Without<Player>, Without<Armor>)>,
        or: Query<&Health, Or<(With<Player>, With<Armor>)>>,
    ) {
        assert_eq!(with.iter().count(), 1);
        assert_eq!(without.iter().map(|health| health.0).collect::<Vec<_>>(), [3]);
        assert_eq!(or.iter().count(), 2);
    }
    run!(system);
}

#[test]
fn query_filter_changed_added() {
    #[derive(Component)]
    #[component(track = "row")]
    struct Watched(i32);
    #[derive(Resource, Default)]
    struct Log(Vec<(usize, usize)>);

    fn watch(
        changed: Query<&Watched, Changed<Watched>>,
        added: Query<&Watched, Added<Watched>>,
        mut log: ResMut<Log>,
    ) {
        log.0.push((added.iter().count(), changed.iter().count()));
    }
    let mut app = App::new();
    app.init_resource::<Log>().add_systems(Update, watch);
    let entity = app.world_mut().spawn(Watched(1)).id();
    app.update();
    app.update();
    app.world_mut().get_mut::<Watched>(entity).unwrap().0 = 2;
    app.update();
    assert_eq!(app.world().resource::<Log>().0, [(1, 1), (0, 0), (0, 1)]);
}
