//! Queries along relations: what a parent has, the nearest of all above, and parents before children.

use phalanx::prelude::*;
use phalanx::world::CascadeOrder;

#[derive(Component, Clone, Debug, PartialEq)]
struct Own(u32);
#[derive(Component, Clone, Debug, PartialEq)]
struct Sum(u32);
#[derive(Component, Clone, Debug, PartialEq)]
#[component(storage = "sparse")]
struct Sparse(u32);
#[derive(Component)]
struct Hull;

#[derive(Component)]
#[relationship(relationship_target = FollowedBy, cyclic)]
struct Follows(Entity);
#[derive(Component)]
#[relationship_target(relationship = Follows)]
struct FollowedBy(Vec<Entity>);

fn sorted(mut all: Vec<(Entity, u32)>) -> Vec<(Entity, u32)> {
    all.sort_unstable();
    all
}

#[test]
fn parent_reads_the_target_wherever_it_is() {
    let mut world = World::new();
    let ship = world.spawn((Own(1), Hull)).id();
    let bare = world.spawn_empty().id();
    let sparse = world.spawn(Sparse(7)).id();
    let a = world.spawn((Own(2), ChildOf(ship))).id();
    let b = world.spawn((Sum(0), ChildOf(a))).id();
    let c = world.spawn(ChildOf(bare)).id();
    let d = world.spawn(ChildOf(sparse)).id();
    let own = world.view::<(Entity, Parent<ChildOf, &Own>)>();
    assert_eq!(sorted(own.iter().map(|(e, own)| (e, own.0)).collect()), [(a, 1), (b, 2)]);
    assert_eq!((own.get(b).unwrap().1.0, own.get(c).is_err(), own.get(ship).is_err()), (2, true, true));
    let optional = world.view::<(Entity, Option<Parent<ChildOf, &Own>>)>();
    assert_eq!(optional.iter().filter(|(_, own)| own.is_none()).count(), 5);
    assert_eq!(world.view::<(Entity, Parent<ChildOf, &Sparse>)>().single().unwrap(), (d, &Sparse(7)));
    let ids = world.view::<(Entity, Parent<ChildOf, Entity>)>();
    assert_eq!(ids.get(c).unwrap(), (c, bare), "a parent without a row");
    assert_eq!(ids.get(d).unwrap(), (d, sparse));
    assert_eq!(ids.iter().count(), 4);
    let mixed = world.view::<Parent<ChildOf, (Entity, &Own, Option<&Hull>, Has<Sum>)>>();
    assert!(matches!(mixed.get(a).unwrap(), (e, Own(1), Some(Hull), false) if e == ship));
}

#[test]
fn parent_may_be_read_beside_other_writes_and_not_beside_its_own() {
    let mut world = World::new();
    let ship = world.spawn((Own(5), Sum(0))).id();
    let a = world.spawn((Own(1), Sum(0), ChildOf(ship))).id();
    for (mut sum, own) in &mut world.view_mut::<(&mut Sum, Parent<ChildOf, &Own>)>() {
        sum.0 = own.0;
    }
    assert_eq!((world.get::<Sum>(a), world.get::<Sum>(ship)), (Some(&Sum(5)), Some(&Sum(0))));
    let refused = world.try_query::<(&mut Own, Parent<ChildOf, &Own>)>().err().unwrap().to_string();
    assert!(refused.contains("Parent<ChildOf, &Own>"), "{refused}");
    // The ticks of a parent are those of a row that may be lent for writing at the same time.
    #[derive(Component)]
    #[component(track = "row")]
    struct Seen(u32);
    fn ticks(mut all: Query<&mut Seen, WithParent<ChildOf, Changed<Seen>>>) {
        all.iter_mut().for_each(|mut seen| seen.0 += 1);
    }
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.run_system_once(ticks)));
    assert!(
        refused.is_err() || refused.unwrap().is_err(),
        "ticks of other rows are not copied beside writes"
    );
    // Other tables do not help: the parent may be in any of them.
    fn two(_: Query<&mut Own, With<Hull>>, _: Query<(&Own, Parent<ChildOf, &Own>), Without<Hull>>) {}
    assert!(world.run_system_once(two).is_err());
    fn lens(mut all: Query<(&Own, &ChildOf)>) {
        all.transmute_lens::<Parent<ChildOf, &Own>>();
    }
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.run_system_once(lens)));
    assert!(refused.is_err() || refused.unwrap().is_err(), "a lens has the tables of its query alone");
}

#[cfg(feature = "parallel")]
#[test]
fn parents_are_read_by_several_threads() {
    let mut world = World::new();
    let parents: Vec<Entity> = (0..100).map(|n| world.spawn(Own(n)).id()).collect();
    for n in 0..20_000 {
        world.spawn((Sum(0), ChildOf(parents[n % 100])));
    }
    world
        .view_mut::<(&mut Sum, Parent<ChildOf, &Own>)>()
        .par_iter_mut()
        .for_each(|(mut sum, own)| sum.0 = own.0 + 1);
    let total: u32 = world.view::<&Sum>().iter().map(|sum| sum.0).sum();
    assert_eq!(total, 200 * (1..=100).sum::<u32>());
}

#[test]
fn up_finds_the_nearest_above_and_not_the_entity_itself() {
    let mut world = World::new();
    let root = world.spawn(Own(1)).id();
    let plain = world.spawn(ChildOf(root)).id();
    let own = world.spawn((Own(3), ChildOf(plain))).id();
    let leaf = world.spawn(ChildOf(own)).id();
    let alone = world.spawn(Own(9)).id();
    let up = world.view::<(Entity, Up<ChildOf, &Own>)>();
    assert_eq!(sorted(up.iter().map(|(e, own)| (e, own.0)).collect()), [(plain, 1), (own, 1), (leaf, 3)]);
    assert!(up.get(alone).is_err() && up.get(root).is_err());
    let both = world.view::<(Option<&Own>, Option<Up<ChildOf, &Own>>)>();
    assert_eq!(both.get(own).unwrap(), (Some(&Own(3)), Some(&Own(1))));
}

#[test]
fn up_ends_where_links_form_a_cycle() {
    let mut world = World::new();
    let all: Vec<Entity> = (0..7).map(|_| world.spawn_empty().id()).collect();
    for at in 0..7 {
        world.insert(all[at], Follows(all[(at + 1) % 7])).unwrap();
    }
    let tail = world.spawn(Follows(all[0])).id();
    assert_eq!(world.view::<Up<Follows, &Own>>().iter().count(), 0);
    world.insert(all[3], Own(4)).unwrap();
    let up = world.view::<Up<Follows, &Own>>();
    assert_eq!((up.get(tail).unwrap().0, up.iter().count()), (4, 8), "every path to it, all around");
}

#[test]
fn filters_look_at_the_parent() {
    let mut world = World::new();
    let ship = world.spawn(Hull).id();
    let wreck = world.spawn((Hull, Sparse(1))).id();
    let a = world.spawn((Own(1), ChildOf(ship))).id();
    let b = world.spawn((Own(2), ChildOf(wreck))).id();
    let c = world.spawn((Own(3), ChildOf(a))).id();
    type On<F> = WithParent<ChildOf, F>;
    let found = |all: Vec<Entity>, wanted: &[Entity]| assert_eq!(all, wanted);
    found(world.view_filtered::<Entity, On<With<Hull>>>().iter().collect(), &[a, b]);
    found(world.view_filtered::<Entity, On<(With<Hull>, Without<Sparse>)>>().iter().collect(), &[a]);
    found(world.view_filtered::<Entity, On<Without<Hull>>>().iter().collect(), &[c]);
    found(world.view_filtered::<Entity, (With<Own>, On<On<With<Hull>>>)>().iter().collect(), &[c]);
    let either = world.view_filtered::<Entity, Or<(On<With<Sparse>>, With<Sparse>)>>();
    assert_eq!(either.iter().count(), 2);
    assert!(either.get(b).is_ok() && either.get(wreck).is_ok() && either.get(a).is_err());
    assert_eq!(world.view_filtered::<&Own, On<With<Hull>>>().count(), 2);
}

/// `Sum` is the sum of `Own` on the way down from the root.
fn add(above: Option<(&Own, &Sum)>, (own, mut sum): (&Own, Mut<Sum>)) {
    sum.0 = own.0 + above.map_or(0, |(_, above)| above.0);
}

fn cascade(order: Cascade<ChildOf>, mut all: Query<(&Own, &mut Sum)>) {
    all.cascade(&order, add);
}

fn expected(world: &World, entity: Entity) -> u32 {
    let mut sum = 0;
    let mut at = Some(entity);
    while let Some(entity) = at {
        sum += world.get::<Own>(entity).unwrap().0;
        at = world.get::<ChildOf>(entity).map(ChildOf::parent);
    }
    sum
}

#[test]
fn cascade_visits_parents_before_children_whatever_their_tables() {
    let mut world = World::new();
    let run = world.register_system(cascade);
    let mut random = crate::random::Random::new(7);
    let mut all: Vec<Entity> = Vec::new();
    for n in 0..500 {
        let entity = world.spawn((Own(n), Sum(0))).id();
        if random.below(3) == 0 {
            world.insert(entity, Hull).unwrap();
        }
        all.push(entity);
    }
    for round in 0..20 {
        for _ in 0..100 {
            let [a, b] = [(); 2].map(|()| all[random.below(all.len())]);
            match random.below(4) {
                0 => drop(world.remove::<ChildOf>(a)),
                1 if round > 10 => {
                    world.entity_mut(a).detach_all_children();
                    world.despawn(a);
                    all.retain(|&entity| entity != a);
                }
                _ if world.check_link::<ChildOf>(a, b).is_ok() => world.insert(a, ChildOf(b)).unwrap(),
                _ => {}
            }
        }
        world.run_system(run).unwrap();
        for &entity in &all {
            assert_eq!(world.get::<Sum>(entity).unwrap().0, expected(&world, entity), "round {round}");
        }
        #[cfg(feature = "parallel")]
        {
            all.iter().for_each(|&entity| world.get_mut::<Sum>(entity).unwrap().0 = 0);
            let order = CascadeOrder::<ChildOf>::new(&world);
            world.view_mut::<(&Own, &mut Sum)>().par_cascade(&order, add);
            for &entity in &all {
                assert_eq!(world.get::<Sum>(entity).unwrap().0, expected(&world, entity), "round {round}");
            }
        }
    }
    world.check().unwrap();
}

#[test]
fn cascade_passes_over_what_the_query_does_not_visit() {
    let mut world = World::new();
    let root = world.spawn((Own(1), Sum(0))).id();
    let gap = world.spawn((Own(2), ChildOf(root))).id();
    let leaf = world.spawn((Own(4), Sum(0), ChildOf(gap))).id();
    let asleep = world.spawn((Own(8), Sum(0), ChildOf(root), Disabled)).id();
    let below = world.spawn((Own(16), Sum(0), ChildOf(asleep))).id();
    world.run_system_once(cascade).unwrap();
    let sums = [root, leaf, asleep, below].map(|entity| world.get::<Sum>(entity).unwrap().0);
    assert_eq!(sums, [1, 4, 0, 16], "who is above is read where the query visits it");
    assert_eq!(CascadeOrder::<ChildOf>::new(&world).depth(), 2);
}

#[cfg(feature = "parallel")]
#[test]
fn heavy_rows_of_wide_levels_are_split_between_threads() {
    fn add_slowly(above: Option<(&Own, &Sum)>, row: (&Own, Mut<'_, Sum>)) {
        (0..30).for_each(|_| std::hint::spin_loop());
        add(above, row);
    }
    let mut world = World::new();
    let root = world.spawn((Own(1), Sum(0))).id();
    let mut last = Vec::new();
    for n in 0..10_000 {
        let child = world.spawn((Own(n), Sum(0), ChildOf(root))).id();
        last.push(world.spawn((Own(1), Sum(0), ChildOf(child))).id());
    }
    let order = CascadeOrder::<ChildOf>::new(&world);
    world.view_mut::<(&Own, &mut Sum)>().par_cascade(&order, add_slowly);
    for (n, &entity) in last.iter().enumerate() {
        assert_eq!(world.get::<Sum>(entity).unwrap().0, n as u32 + 2);
    }
}

#[test]
fn a_restored_world_has_its_own_order() {
    let mut world = World::new();
    let run = world.register_system(cascade);
    let a = world.spawn((Own(1), Sum(0))).id();
    let b = world.spawn((Own(2), Sum(0), ChildOf(a))).id();
    let before = world.checkpoint();
    world.run_system(run).unwrap();
    world.entity_mut(b).remove::<ChildOf>();
    world.insert(a, ChildOf(b)).unwrap();
    world.run_system(run).unwrap();
    assert_eq!(world.get::<Sum>(a), Some(&Sum(3)));
    world.restore(&before).unwrap();
    world.run_system(run).unwrap();
    assert_eq!((world.get::<Sum>(a), world.get::<Sum>(b)), (Some(&Sum(1)), Some(&Sum(3))));
}

#[derive(Resource, Default)]
struct Deepest(usize);

#[test]
fn the_order_of_a_scheduled_system_follows_links_that_make_no_archetype() {
    let mut app = App::new();
    app.init_resource::<Deepest>();
    app.add_systems(Update, |order: Cascade<ChildOf>, mut deepest: ResMut<Deepest>| {
        deepest.0 = order.depth();
    });
    let [a, b, c] = [(); 3].map(|()| app.world_mut().spawn_empty().id());
    let depth = |app: &mut App| {
        app.step(0.1);
        app.world().resource::<Deepest>().0
    };
    assert_eq!(depth(&mut app), 0);
    app.world_mut().insert(b, ChildOf(a)).unwrap();
    assert_eq!(depth(&mut app), 1);
    app.world_mut().insert(c, ChildOf(b)).unwrap();
    assert_eq!(depth(&mut app), 2);
    app.world_mut().remove::<ChildOf>(b).unwrap();
    assert_eq!(depth(&mut app), 1);
}
