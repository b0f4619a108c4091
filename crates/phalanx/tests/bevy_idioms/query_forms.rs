//! `Query` by value, in order, by list, through a lens, and its rarer data.

use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Health(i32);
#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Armor(i32);
#[derive(Component)]
struct Player;
#[derive(Resource)]
struct Ids([Entity; 3]);

/// Runs a system on three entities: the first with armour, the second a player.
macro_rules! run {
    ($system:expr) => {{
        let mut world = World::new();
        let first = world.spawn((Health(3), Armor(10))).id();
        let second = world.spawn((Health(1), Player)).id();
        let third = world.spawn(Health(2)).id();
        world.insert_resource(Ids([first, second, third]));
        world.run_system_once($system).unwrap();
    }};
}

#[test]
fn query_iter_sort() {
    fn system(query: Query<(Entity, &Health)>) {
        let sorted: Vec<_> = query.iter().sort::<&Health>().map(|(_, health)| health.0).collect();
        assert_eq!(sorted, [1, 2, 3]);
        let sorted: Vec<_> =
            query.iter().sort_unstable::<&Health>().rev().map(|(_, health)| health.0).collect();
        assert_eq!(sorted, [3, 2, 1]);
    }
    run!(system);
}

#[test]
fn query_iter_sort_by() {
    fn system(mut query: Query<&mut Health>) {
        for mut health in query.iter_mut().sort_by::<&Health>(|a, b| b.cmp(a)) {
            health.0 *= 10;
        }
        let sorted = query.iter().sort_unstable_by::<&Health>(|a, b| a.cmp(b));
        assert_eq!(sorted.len(), 3);
    }
    run!(system);
}

#[test]
fn query_iter_sort_by_key() {
    fn system(query: Query<(&Health, Option<&Armor>)>) {
        let keyed = query.iter().sort_by_key::<&Health, _>(|health| -health.0);
        assert_eq!(keyed.map(|(health, _)| health.0).collect::<Vec<_>>(), [3, 2, 1]);
        let keyed = query.iter().sort_unstable_by_key::<&Health, _>(|health| health.0);
        assert_eq!(keyed.count(), 3);
        let keyed = query.iter().sort_by_cached_key::<&Health, _>(|health| health.0.to_string());
        assert_eq!(keyed.count(), 3);
    }
    run!(system);
}

#[test]
fn query_iter_fetch_next() {
    fn system(mut query: Query<&mut Health>) {
        let mut rows = query.iter_mut();
        while let Some(mut health) = rows.fetch_next() {
            health.0 += 1;
        }
        assert_eq!(query.iter().map(|health| health.0).sum::<i32>(), 9);
    }
    run!(system);
}

#[test]
fn query_inner() {
    fn system(query: Query<&Health>, player: Query<&Armor>, ids: Res<Ids>) {
        assert_eq!(query.iter_inner().count(), 3);
        assert_eq!(query.get_inner(ids.0[0]).unwrap(), &Health(3));
        assert_eq!(query.get_many_inner([ids.0[0], ids.0[0]]).unwrap(), [&Health(3); 2]);
        assert_eq!(query.iter_many_inner(ids.0).matched().count(), 3);
        assert_eq!(query.iter_combinations_inner::<2>().count(), 3);
        query.par_iter_inner().for_each(|health| assert!(health.0 > 0));
        assert_eq!(player.single_inner().unwrap(), &Armor(10));
        assert_eq!(query.into_iter().count(), query.count());
    }
    run!(system);
}

#[test]
fn query_into_readonly() {
    fn system(query: Query<&mut Health>, ids: Res<Ids>) {
        let read: Query<&Health> = query.into_readonly();
        assert_eq!(read.get(ids.0[1]).unwrap(), &Health(1));
    }
    run!(system);
}

#[test]
fn query_get_many_mut_inner() {
    fn system(query: Query<&mut Health>, ids: Res<Ids>) {
        let [mut a, b] = query.get_many_mut_inner([ids.0[0], ids.0[1]]).unwrap();
        a.0 += b.0;
        assert_eq!(a.0, 4);
    }
    run!(system);
}

#[test]
fn query_many_unique() {
    fn system(mut query: Query<&mut Health>, ids: Res<Ids>) {
        for health in query.iter_many_unique_mut([ids.0[2], ids.0[0]]) {
            health.unwrap().0 += 10;
        }
        let seen: Vec<_> = query.iter_many_unique(ids.0).map(|health| health.unwrap().0).collect();
        assert_eq!(seen, [13, 1, 12]);
        assert!(query.get_many_unique([ids.0[0], ids.0[1]]).is_ok());
        assert!(query.get_many_unique_mut([ids.0[0], ids.0[0]]).is_err());
        assert_eq!(query.reborrow().iter_many_unique_inner(ids.0).count(), 3);
        assert!(query.get_many_unique_inner([ids.0[0], ids.0[1]]).is_ok());
    }
    run!(system);
}

#[test]
fn query_contiguous() {
    fn system(mut query: Query<&mut Health>) {
        for healths in query.contiguous_iter_mut().unwrap() {
            healths.iter_mut().for_each(|health| health.0 *= 2);
        }
        let sum: i32 = query.contiguous_iter().unwrap().flatten().map(|health| health.0).sum();
        assert_eq!(sum, 12);
        assert_eq!(query.contiguous_iter_inner().unwrap().count(), 3);
    }
    run!(system);
}

#[test]
fn query_par_iter_batching() {
    fn system(mut query: Query<&mut Health>) {
        query
            .par_iter_mut()
            .batching_strategy(BatchingStrategy::fixed(1))
            .for_each(|mut health| health.0 += 1);
        let strategy = BatchingStrategy::new().min_batch_size(8).max_batch_size(64).batches_per_thread(2);
        query
            .par_iter()
            .batching_strategy(strategy)
            .for_each_init(Vec::new, |seen, health| seen.push(health.0));
        assert_eq!(query.iter().map(|health| health.0).sum::<i32>(), 9);
    }
    run!(system);
}

#[test]
fn query_transmute_lens() {
    fn total(mut lens: QueryLens<&Health>) -> i32 {
        lens.query().iter().map(|health| health.0).sum()
    }
    fn system(mut query: Query<(&mut Health, Option<&Armor>)>) {
        assert_eq!(total(query.transmute_lens::<&Health>()), 6);
        let mut armored = query.transmute_lens_filtered::<&Health, With<Armor>>();
        assert_eq!(armored.query().single().unwrap(), &Health(3));
        assert_eq!(query.as_query_lens().query().count(), 3);
        assert_eq!(query.reborrow().into_query_lens().query().count(), 3);
        assert_eq!(
            query.reborrow().transmute_lens_filtered_inner::<Entity, With<Player>>().query().count(),
            1
        );
        assert_eq!(total(query.transmute_lens_inner()), 6);
    }
    run!(system);
}

#[test]
fn query_join() {
    fn system(
        mut healths: Query<&mut Health>,
        mut armors: Query<&Armor>,
        mut players: Query<(), With<Player>>,
    ) {
        let mut both: QueryLens<(&Health, &Armor)> = healths.join(&mut armors);
        assert_eq!(both.query().single().unwrap(), (&Health(3), &Armor(10)));
        let mut player: QueryLens<&mut Health, Without<Armor>> = healths.join_filtered(&mut players);
        player.query().single_mut().unwrap().0 = 9;
        let mut none: QueryLens<Entity, ()> = healths.reborrow().join_filtered_inner(players.reborrow());
        assert_eq!(none.query().count(), 1);
        let mut both: QueryLens<Entity> = healths.join_inner(armors);
        assert_eq!(both.query().count(), 1);
    }
    run!(system);
}

#[test]
fn query_data_any_of() {
    fn system(query: Query<AnyOf<(&Armor, &Player)>>) {
        for (armor, player) in &query {
            assert!(armor.is_some() != player.is_some());
        }
        assert_eq!(query.iter().count(), 2);
    }
    run!(system);
}

#[test]
fn query_data_entity_ref() {
    fn system(query: Query<EntityRef, With<Health>>, healths: Query<&Health>) {
        for entity in &query {
            assert_eq!(entity.get::<Health>(), healths.get(entity.id()).ok());
        }
        assert_eq!(query.iter().filter(EntityRef::contains::<Armor>).count(), 1);
    }
    run!(system);
}

#[test]
fn query_data_mut_and_ref() {
    #[derive(Component)]
    #[component(track = "row")]
    struct Watched(i32);

    fn system(mut query: Query<Mut<Watched>>) {
        for mut watched in &mut query {
            watched.0 += 1;
        }
    }
    fn look(query: Query<Ref<Watched>>) {
        assert!(query.iter().all(|watched| watched.is_added() && watched.is_changed() && watched.0 == 2));
    }
    let mut world = World::new();
    world.spawn(Watched(1));
    world.run_system_once(system).unwrap();
    world.run_system_once(look).unwrap();
}

#[test]
fn query_tuples_of_fifteen() {
    type Fifteen<'w> = (
        Entity,
        &'w Health,
        Has<Armor>,
        Has<Player>,
        Entity,
        Entity,
        Entity,
        Entity,
        Entity,
        Entity,
        Entity,
        Entity,
        Entity,
        Entity,
        Option<&'w Armor>,
    );
    fn system(query: Query<Fifteen>) {
        assert_eq!(query.iter().filter(|row| row.14.is_some() == row.2).count(), 3);
    }
    run!(system);
}

#[test]
fn when_entities_were_spawned() {
    fn greet(new: Query<Entity, Spawned>, all: Query<(Entity, SpawnDetails)>) -> (usize, usize) {
        let details = all.iter().filter(|(_, details)| details.is_spawned()).count();
        (new.iter().count(), details)
    }
    let mut world = World::new();
    let before = world.spawn(Health(1)).id();
    let greet = world.register_system(greet);
    assert_eq!(world.run_system(greet).unwrap(), (1, 1));
    let after = world.spawn(Health(2)).id();
    assert_eq!(world.run_system(greet).unwrap(), (1, 1));
    assert_eq!(world.run_system(greet).unwrap(), (0, 0));

    let [old, new] = [before, after].map(|entity| world.entity(entity).spawn_tick());
    assert!(old < new);
    assert_eq!(world.entity_mut(after).spawn_tick(), new);
    let mut changed = world.query::<EntityMut>();
    assert_eq!(changed.get_mut(&mut world, after).unwrap().spawn_tick(), new);
    let mut details = world.query::<SpawnDetails>();
    let details = details.get(&world, after).unwrap();
    assert!(details.is_spawned_after(old.unwrap()));
    assert_eq!(Some(details.spawn_tick()), new);
}
