//! The programs by which the public surface was designed, one function per topic: they compile as they were written down,
//! and do what is said there.
#![forbid(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
#![allow(clippy::float_cmp, reason = "sums of small numbers are exact")]

use std::error::Error;
use std::time::Duration;

use phalanx::prelude::*;
use phalanx::save::SaveRegistry;
use serde::{Deserialize, Serialize};

type Outcome = std::result::Result<(), Box<dyn Error>>;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Position {
    x: f32,
    y: f32,
}
#[derive(Component, Clone, Copy, Debug, PartialEq)]
#[component(layout = "soa")]
struct Velocity {
    x: f32,
    y: f32,
}
#[derive(Component)]
struct Frozen;
#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save, version = 2, track = "row")]
struct Health(f32);
#[derive(Component, Debug, PartialEq)]
struct Rage(f32);
#[derive(Component)]
struct Wings;

#[test]
fn first_program() {
    fn movement(time: Res<Time>, mut movers: Query<(&mut Position, &Velocity), Without<Frozen>>) {
        let dt = time.delta_secs();
        for (pos, vel) in movers.chunks_mut() {
            for i in 0..pos.len() {
                pos.x[i] += vel.x[i] * dt;
                pos.y[i] += vel.y[i] * dt;
            }
        }
    }
    let mut app = App::new();
    app.add_systems(Update, movement);
    let e = app.world_mut().spawn((Position { x: 0.0, y: 0.0 }, Velocity { x: 60.0, y: 0.0 })).id();
    app.startup();
    app.step(1.0 / 60.0);
    assert_eq!(app.world().get::<Position>(e).unwrap().get(), Position { x: 1.0, y: 0.0 });
}

#[test]
fn names_that_mean_what_they_mean_in_bevy() {
    #[derive(Resource, Default)]
    struct Seen(u32);
    fn input(In(number): In<u32>, mut seen: ResMut<Seen>) -> u32 {
        seen.0 += number;
        seen.0
    }
    fn one_of(all: Query<AnyOf<(&Health, &mut Rage)>>) -> usize {
        all.iter().filter(|(health, rage)| health.is_some() || rage.is_some()).count()
    }
    let mut world = World::new();
    world.init_resource::<Seen>();
    let system: SystemId<In<u32>, u32> = world.register_system(input);
    assert_eq!(world.run_system_with(system, 3).unwrap(), 3);
    let seen: Mut<Seen> = world.resource_mut::<Seen>();
    assert!(seen.is_changed());
    world.spawn((Health(1.0), Rage(1.0)));
    world.spawn(Rage(2.0));
    assert_eq!(world.run_system_once(one_of).unwrap(), 2);
    let mut kept: QueryState<&mut Rage> = world.query::<&mut Rage>();
    for mut rage in kept.iter_mut(&mut world) {
        rage.0 += 1.0;
    }
    assert_eq!(world.view_filtered::<&Rage, With<Health>>().single().unwrap(), &Rage(2.0));
    let mut clock = Time::<Virtual>::default();
    clock.pause();
    assert_eq!((clock.delta(), clock.delta_secs(), clock.elapsed_secs()), (Duration::ZERO, 0.0, 0.0));
    assert_eq!(Time::<Fixed>::from_hz(50.0).timestep(), Duration::from_millis(20));
    let mut app = App::new();
    app.configure(AppConfig { sync: SyncPoints::PhaseEnd, ..Default::default() });
    let key: SystemKey = app.add_system(Update, || ());
    app.update();
    app.remove_system(key).unwrap();
}

#[test]
fn worlds_and_entities() {
    let mut world = World::new();
    world.spawn_batch((0..1000).map(|i| (Position { x: i as f32, y: 0.0 }, Velocity { x: 1.0, y: 0.0 })));
    for (pos, vel) in world.view_mut::<(&mut Position, &Velocity)>() {
        *pos.x += *vel.x;
    }
    for x in world.view_mut::<&mut position::x>() {
        *x *= 2.0;
    }
    let n = world.view_filtered::<Entity, (With<Position>, Without<Frozen>)>().count();
    assert_eq!(n, 1000);
    assert_eq!(world.view::<&position::x>().iter().sum::<f32>(), 1_001_000.0);
    assert_eq!(size_of::<Option<Entity>>(), 8);
}

#[derive(Component)]
#[component(storage = "sparse")]
struct Stunned {
    left: f32,
}
#[derive(Component)]
#[component(storage = "sparse")]
struct Burning {
    dps: f32,
}

#[test]
fn sparse_sets_and_groups() -> Outcome {
    let mut world = World::new();
    world.spawn_batch((0..4u8).map(|i| (Stunned { left: f32::from(4 - i) }, Burning { dps: f32::from(i) })));
    world.spawn((Stunned { left: 0.5 }, Burning { dps: 9.0 }, Frozen));
    let group = world.group::<Own<(Stunned, Burning)>, Get<()>, Without<Frozen>>()?;
    let (stunned, burning) = group.slices_mut(&mut world);
    assert_eq!((stunned.len(), burning.len()), (4, 4));
    assert!(world.sort_by::<Stunned>(|a, b| a.left.total_cmp(&b.left)).is_err(), "the group owns it");
    group.sort_by(&mut world, |(a, _), (b, _)| a.left.total_cmp(&b.left))?;
    assert_eq!(
        world.sparse::<Burning>().slice().unwrap()[..4].iter().map(|burning| burning.dps).sum::<f32>(),
        6.0
    );
    world.ungroup(group)?;
    world.sort_by::<Stunned>(|a, b| a.left.total_cmp(&b.left))?;
    world.sort_as::<Burning, Stunned>()?;
    assert_eq!(world.sparse::<Burning>().slice().unwrap()[0].dps, 9.0);
    Ok(())
}

#[derive(Pool)]
#[pool(storage = "inline")]
struct Orcs {
    position: Position,
    health: Health,
    rage: Option<Rage>,
}
#[derive(Pool)]
struct Elites {
    position: Position,
    health: Health,
    rage: Option<Rage>,
}

#[test]
fn pools() -> Outcome {
    fn rally(mut orcs: Query<&mut Position, InPool<Orcs>>) {
        orcs.iter_mut().for_each(|orc| *orc.x = 7.0);
    }
    let mut world = World::new();
    let (position, health) = (Position { x: 0.0, y: 0.0 }, Health(3.0));
    let orc = world.spawn_in(Orcs { position, health, rage: None });
    let mut orcs = world.pool_mut::<Orcs>();
    orcs.insert(orc, Rage(3.0))?;
    assert_eq!(
        orcs.query::<(&mut Position, Option<&Rage>)>().iter().filter(|(_, rage)| rage.is_some()).count(),
        1
    );
    orcs.remove::<Rage>(orc)?;
    let mut h: Handle<Orcs> = orcs.handle(orc)?;
    assert_eq!(orcs.get::<Health>(&mut h)?, &Health(3.0));
    world.run_system_once(rally)?;
    world.migrate::<Orcs, Elites>(orc)?;
    assert_eq!(world.view_filtered::<&position::x, InPool<Elites>>().single()?, &7.0);
    let error = world.insert(orc, Wings).unwrap_err();
    assert!(error.to_string().contains("Wings") && error.to_string().contains("Elites"), "{error}");
    Ok(())
}

#[test]
fn commands_messages_and_schedules() -> Outcome {
    #[derive(Message)]
    struct Died(Entity);
    #[derive(Resource, Default)]
    struct Log(Vec<&'static str>);
    #[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
    struct Physics;
    fn reap(mut commands: Commands, dying: Query<(Entity, &Health)>, mut deaths: MessageWriter<Died>) {
        for (e, health) in &dying {
            if health.0 <= 0.0 {
                commands.entity(e).despawn();
                deaths.write(Died(e));
            }
        }
    }
    fn count(mut deaths: MessageReader<Died>, mut log: ResMut<Log>) {
        deaths
            .read()
            .for_each(|died| log.0.push(if died.0 == Entity::PLACEHOLDER { "none" } else { "died" }));
    }
    fn input() {}
    fn movement() {}
    fn collide() {}
    fn physics(mut log: ResMut<Log>) {
        log.0.push("physics");
    }
    fn spawner(mut commands: Commands) {
        commands.spawn(Health(0.0));
    }
    fn not_paused() -> bool {
        true
    }
    let mut app = App::new();
    app.init_resource::<Log>();
    app.add_systems(Update, (input, movement.after(input), (collide, reap).chain()).run_if(not_paused));
    app.add_systems(FixedUpdate, physics.in_set(Physics));
    app.configure(AppConfig {
        fixed_timestep: 1.0 / 50.0,
        max_fixed_steps: 4,
        flush_order: FlushOrder::Recorded,
        threads: Threads::Auto,
        ..Default::default()
    });
    app.add_systems(PostUpdate, count);
    let id = app.add_system(PreUpdate, spawner.on_added(|_| {}).on_removed(|_| {}).on_dispose(|_| {}));
    app.step(0.02);
    app.remove_system(id)?;
    app.step(0.0);
    assert_eq!(app.world().resource::<Log>().0, ["physics", "died"]);
    assert_eq!(app.schedule(Update).order()?, ["input", "movement", "collide", "reap"]);
    assert!(app.try_step(f64::NAN).is_err() && app.try_step(-1.0).is_err());
    Ok(())
}

#[test]
fn dynamic_components() -> Outcome {
    let mut world = World::new();
    let hp = world
        .register_dynamic(Schema::new("hp").field("current", FieldType::I32).field("max", FieldType::I32))?;
    let [frozen, fire, ice] =
        ["frozen", "fire", "ice"].map(|tag| world.register_dynamic(Schema::new(tag)).unwrap());
    let e = world.spawn_empty().id();
    world.entity_mut(e).insert_dynamic(hp, &[("current", 10.into()), ("max", 10.into())])?;
    world.entity_mut(e).insert_dynamic(ice, &[])?;
    assert!(world.entity_mut(e).insert_dynamic(hp, &[("mana", 1.into())]).is_err());
    assert_eq!(world.get_field(e, hp, "current")?, Value::I32(10));
    let q = world.query_builder().with(hp).without(frozen).any_of([fire, ice]).build();
    for table in q.tables(&world) {
        let current: &[i32] = table.column(hp, "current")?;
        assert_eq!(current, [10]);
    }
    Ok(())
}

#[test]
fn reactions() {
    #[derive(Component)]
    #[component(on_add = Armour::greet)]
    struct Armour;
    #[derive(Component)]
    struct Greeted;
    impl Armour {
        fn greet(mut world: DeferredWorld, context: HookContext) {
            world.commands().entity(context.entity).insert(Greeted);
        }
    }
    #[derive(Component)]
    struct Alive;
    #[derive(Resource, Default)]
    struct Log(Vec<&'static str>);
    #[derive(EntityEvent)]
    struct Opened {
        entity: Entity,
    }
    fn gone(mut removed: RemovedComponents<Health>, mut log: ResMut<Log>) {
        removed.read().for_each(|_| log.0.push("gone"));
    }
    let mut world = World::new();
    world.init_resource::<Log>();
    let mut schedule = Schedule::default();
    schedule.add_systems(gone);
    schedule.run(&mut world);
    world.add_observer(|on: On<Add<Health>>, mut commands: Commands| {
        commands.entity(on.entity).insert(Alive);
    });
    world.add_observer(|on: On<Remove<Health>>, q: Query<&Health>, mut log: ResMut<Log>| {
        assert_eq!(q.get(on.entity).unwrap(), &Health(2.0), "still readable");
        log.0.push("remove");
    });
    world.add_observer(|_: On<Mutate<Health>>, mut log: ResMut<Log>| log.0.push("mutate"));
    world.add_observer(|_: On<Matched<(&Health, &Burning)>>, mut log: ResMut<Log>| log.0.push("matched"));
    world.add_observer(|_: On<Unmatched<(&Health, &Burning)>>, mut log: ResMut<Log>| log.0.push("unmatched"));
    let door = world.spawn((Health(1.0), Armour)).id();
    world.entity_mut(door).observe(|_: On<Opened>, mut log: ResMut<Log>| log.0.push("opened"));
    world.trigger(Opened { entity: door });
    assert!(world.get::<Alive>(door).is_some() && world.get::<Greeted>(door).is_some());
    world.get_mut::<Health>(door).unwrap().0 = 2.0;
    world.entity_mut(door).insert(Burning { dps: 1.0 });
    world.flush();
    world.entity_mut(door).remove::<Health>();
    schedule.run(&mut world);
    let mut log = std::mem::take(&mut world.resource_mut::<Log>().0);
    log.sort_unstable();
    assert_eq!(log, ["gone", "matched", "mutate", "opened", "remove", "unmatched"]);
}

#[test]
fn relations() -> Outcome {
    #[derive(Component)]
    struct Ship;
    #[derive(Component)]
    struct Engine;
    #[derive(Component)]
    struct Sail;
    #[derive(Component, Clone, PartialEq, Eq, Hash)]
    struct Faction(u8);
    #[derive(Component, Clone)]
    #[relationship(many)]
    struct Likes {
        #[target]
        whom: Entity,
        amount: f32,
    }
    let mut world = World::new();
    let ship = world.spawn((Ship, Name::new("ship"), children![(Engine, Name::new("engine")), Sail])).id();
    let sail = world.spawn((Sail, Faction(3))).id();
    world.entity_mut(sail).insert(ChildOf(ship));
    world.set_error_handler(phalanx::error::ignore);
    world.entity_mut(ship).insert(ChildOf(sail));
    assert!(world.get::<ChildOf>(ship).is_none(), "a cycle is refused");
    let [alice, bob] = [(); 2].map(|()| world.spawn_empty().id());
    world.link(alice, Likes { whom: bob, amount: 2.0 })?;
    for likes in world.related::<Likes>(alice) {
        assert_eq!((likes.whom, likes.amount), (bob, 2.0));
    }
    assert!(world.named("ship/engine").is_ok());
    world.index_by::<Faction>();
    assert_eq!(world.entities_with(&Faction(3)), [sail]);
    Ok(())
}

#[test]
fn saves_and_rewinds() -> Outcome {
    let mut world = World::new();
    let e = world.spawn(Health(4.0)).id();
    let mut file = Vec::new();
    world.save(&mut serde_json::Serializer::pretty(&mut file))?;
    let mut registry = SaveRegistry::new();
    registry.register::<Health>();
    let mut deserializer = serde_json::Deserializer::from_slice(&file);
    let mut other = World::load(&mut deserializer, &registry)?;
    assert_eq!(other.view::<&Health>().single()?, &Health(4.0));
    let c = world.checkpoint();
    world.get_mut::<Health>(e).unwrap().0 = 1.0;
    assert!(world.first_difference(&other).is_some());
    world.restore(&c)?;
    assert_eq!(world.digest(), other.digest());
    assert!(other.despawn(e));

    let mut app = App::new();
    app.keep_history(600);
    app.add_systems(Update, |mut all: Query<&mut Health>| {
        all.iter_mut().for_each(|mut health| health.0 += 1.0);
    });
    let e = app.world_mut().spawn(Health(0.0)).id();
    (0..40).for_each(|_| app.step(0.1));
    app.rewind(30)?;
    assert_eq!(app.world().get::<Health>(e), Some(&Health(10.0)));
    Ok(())
}
