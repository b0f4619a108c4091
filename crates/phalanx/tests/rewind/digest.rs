//! What enters a digest and what does not, and what a difference says.

use std::collections::HashMap;

use phalanx::capture::{Digest, DigestHasher};
use phalanx::prelude::*;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Position {
    x: f32,
    y: f32,
}

#[derive(Component, Debug)]
#[component(layout = "soa")]
struct Velocity {
    dx: f32,
    dy: f64,
}

#[derive(Component, Debug)]
#[component(storage = "sparse")]
struct Burning(u32);

#[derive(Component, Debug)]
#[component(storage = "sparse", stable)]
struct Marked(u16);

#[derive(Component)]
struct Tag;

#[derive(Component, Debug)]
enum Mood {
    Calm,
    Angry { at: Entity, since: u64 },
}

#[derive(Resource, Default, Debug)]
struct Score {
    points: i64,
    names: Vec<String>,
}

#[derive(Message, Debug)]
struct Hit(Entity, f32);

#[derive(Message, Debug)]
#[message(layout = "soa")]
struct Heal {
    who: Entity,
    by: f32,
}

/// A type with three bytes of padding.
#[derive(Component, Clone, Copy)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u32,
}

fn position(x: f32) -> Position {
    Position { x, y: 0.0 }
}

/// One of everything, built in one way.
fn full_world() -> World {
    let mut world = World::new();
    let a = world.spawn((position(1.0), Velocity { dx: 1.0, dy: 2.0 }, Tag)).id();
    let b = world.spawn((position(2.0), Burning(3), Marked(4))).id();
    world.spawn((Mood::Angry { at: a, since: 9 }, Marked(5)));
    world.spawn_empty();
    let gone = world.spawn(position(7.0)).id();
    world.despawn(gone);
    world.entity_mut(b).remove::<Marked>();
    world.insert_resource(Score { points: 3, names: vec!["a".into()] });
    world.write_message(Hit(a, 1.0));
    world.write_message(Heal { who: b, by: 2.0 });
    world
}

#[test]
fn equal_worlds_have_equal_digests_and_no_difference() {
    let (one, other) = (full_world(), full_world());
    assert_eq!(one.digest(), other.digest());
    assert_eq!(one.first_difference(&other), None);
    assert_ne!(one.digest(), World::new().digest());
}

#[test]
fn history_of_capacity_and_registration_do_not_enter() {
    let one = full_world();
    let mut other = World::new();
    other.register_component::<Padded>();
    other.register_component::<Mood>();
    other.register_component::<Marked>();
    other.reserve(5_000);
    other.reserve_rows::<(Position, Velocity, Tag)>(10_000);
    other.insert_resource(Score { points: 3, names: Vec::with_capacity(400) });
    other.increment_change_tick();
    let a = other.spawn((position(1.0), Velocity { dx: 1.0, dy: 2.0 }, Tag)).id();
    let b = other.spawn((position(2.0), Burning(3), Marked(4))).id();
    other.spawn((Mood::Angry { at: a, since: 9 }, Marked(5)));
    other.spawn_empty();
    let gone = other.spawn(position(7.0)).id();
    other.despawn(gone);
    other.entity_mut(b).remove::<Marked>();
    other.resource_mut::<Score>().names.push("a".into());
    other.write_message(Heal { who: b, by: 2.0 });
    other.write_message(Hit(a, 1.0));
    assert_eq!(one.first_difference(&other), None);
    assert_eq!(one.digest(), other.digest());
}

#[test]
fn each_kind_of_part_enters_and_is_named() {
    type Change = fn(&mut World);
    let changes: &[(&str, Change)] = &[
        ("Position`, field `x`", |world| {
            world.view_mut::<&mut Position>().iter_mut().for_each(|mut p| p.x = 9.0);
        }),
        ("Velocity`, field `dy`", |world| {
            world.view_mut::<&mut Velocity>().iter_mut().for_each(|v| *v.dy = 9.0);
        }),
        ("Burning`, field `0`", |world| {
            world.view_mut::<&mut Burning>().iter_mut().for_each(|mut b| b.0 = 9);
        }),
        ("Marked`, field `0`", |world| world.view_mut::<&mut Marked>().iter_mut().for_each(|mut m| m.0 = 9)),
        ("Mood`", |world| world.view_mut::<&mut Mood>().iter_mut().for_each(|mut m| *m = Mood::Calm)),
        ("Score`, field `points`", |world| world.resource_mut::<Score>().points = 4),
        ("Hit`", |world| {
            world.write_message(Hit(Entity::PLACEHOLDER, 0.0));
        }),
        ("Heal`", |world| {
            let id = world.entities().iter().next().expect("there are entities");
            world.write_message(Heal { who: id, by: 1.0 });
        }),
        ("Tag`: absent", |world| {
            let tagged: Vec<Entity> = world.view_filtered::<Entity, With<Tag>>().iter().collect();
            world.entity_mut(tagged[0]).remove::<Tag>();
        }),
        ("free ids", |world| {
            let gone = world.spawn_empty().id();
            world.despawn(gone);
        }),
        ("entity", |world| {
            world.spawn_empty();
        }),
    ];
    for (named, change) in changes {
        let (mut one, other) = (full_world(), full_world());
        change(&mut one);
        assert_ne!(one.digest(), other.digest(), "{named}");
        let difference = one.first_difference(&other).unwrap_or_else(|| panic!("{named} is not found"));
        assert!(difference.to_string().contains(named), "{difference} does not name {named}");
    }
}

#[test]
fn a_difference_shows_both_values_and_the_entity() {
    let (mut one, other) = (full_world(), full_world());
    let entity = one.entities().iter().next().expect("there are entities");
    one.get_mut::<Position>(entity).expect("it has one").y = 4.5;
    let difference = one.first_difference(&other).expect("a value differs");
    assert_eq!(difference.entity, Some(entity));
    assert_eq!((difference.left.as_str(), difference.right.as_str()), ("4.5", "0.0"));
    let mut swapped = full_world();
    swapped.despawn(entity);
    let difference = swapped.first_difference(&other).expect("an entity is gone");
    assert_eq!((difference.entity, difference.left.as_str()), (Some(entity), "absent"));
}

// Row order decides in which order systems see entities, so worlds that differ in it are not equal.
#[test]
fn the_order_of_rows_enters() {
    let build = |remove: bool| {
        let mut world = World::new();
        let ids: Vec<Entity> = (0..3u8).map(|n| world.spawn(position(f32::from(n))).id()).collect();
        if remove {
            world.entity_mut(ids[0]).insert(Tag);
            world.entity_mut(ids[0]).remove::<Tag>();
        }
        world
    };
    let (one, other) = (build(false), build(true));
    assert_ne!(one.digest(), other.digest());
    assert!(one.first_difference(&other).expect("rows differ").part.starts_with("row 0"));
}

// Hazard 84.
#[test]
fn zero_and_minus_zero_differ_and_all_nans_are_one() {
    let with = |x: f32| {
        let mut world = World::new();
        world.spawn(position(x));
        world.digest()
    };
    assert_ne!(with(0.0), with(-0.0));
    let (quiet, negative) = (f32::NAN, -f32::NAN);
    let payload = f32::from_bits(0x7fc0_1234);
    assert!(payload.is_nan() && payload.to_bits() != quiet.to_bits());
    assert_eq!(with(quiet), with(payload));
    assert_eq!(with(quiet), with(negative));
    assert_eq!(Digest::of(&f64::NAN), Digest::of(&f64::from_bits(f64::NAN.to_bits() | 7)));
    assert_ne!(with(quiet), with(f32::INFINITY));
}

// Hazard 84: padding is whatever was in memory before.
#[test]
fn padding_does_not_enter() {
    let with = |noise: u64| {
        let mut world = World::new();
        // The rows lie in memory that held other bytes before.
        let ids: Vec<Entity> = (0..100).map(|_| world.spawn(Noise(noise)).id()).collect();
        assert!(ids.iter().all(|&id| world.despawn(id)));
        world.shrink_to_fit();
        for n in 0..100 {
            world.spawn(Padded { small: n, large: u32::from(n) });
        }
        world.digest()
    };
    assert_eq!(with(0), with(u64::MAX));
}

#[derive(Component)]
struct Noise(u64);

struct Opaque;

#[derive(Component)]
struct Unhashable {
    known: u32,
    opaque: Opaque,
    table: HashMap<u32, u32>,
}

#[derive(Resource)]
struct Shy(Opaque);

// Hazard 85, for digests.
#[test]
fn what_cannot_be_hashed_is_named_with_field_and_type() {
    let mut world = World::new();
    assert!(world.try_digest().is_ok());
    world.register_component::<Unhashable>();
    assert!(world.try_digest().is_ok(), "there is no value yet");
    world.spawn(Unhashable { known: 1, opaque: Opaque, table: HashMap::new() });
    world.insert_resource(Shy(Opaque));
    let error = world.try_digest().expect_err("two fields and a resource cannot be hashed");
    assert_eq!(error.values.len(), 3);
    let text = error.to_string();
    for part in ["Unhashable`, field `opaque`", "Opaque`", "field `table`", "HashMap", "Shy`, field `0`"] {
        assert!(text.contains(part), "{text} does not name {part}");
    }
    assert!(!text.contains("known"));
    let unhashable = world.view::<&Unhashable>().iter().map(|all| (all.known, all.table.len())).next();
    assert_eq!(unhashable, Some((1, 0)));
    let Shy(Opaque) = world.remove_resource::<Shy>().expect("inserted above");
}

#[derive(Component, Debug)]
struct Chosen {
    counted: u8,
    #[digest(skip)]
    skipped: u8,
    #[digest(debug)]
    shown: Text,
    #[digest(hash)]
    hashed: u8,
    #[digest(with = "length")]
    listed: HashMap<u8, u8>,
}

#[derive(Debug, Clone)]
struct Text(#[expect(dead_code, reason = "shown by `Debug`")] &'static str);

fn length(map: &HashMap<u8, u8>, hasher: &mut DigestHasher) {
    hasher.number(map.len() as u64);
}

#[derive(Resource)]
#[resource(digest = "skip", checkpoint = "skip")]
struct Left(Opaque);

#[test]
fn fields_enter_as_their_attributes_say() {
    let chosen = || Chosen { counted: 1, skipped: 1, shown: Text("a"), hashed: 1, listed: HashMap::new() };
    let digest = |chosen: Chosen| {
        let mut world = World::new();
        world.insert_resource(Left(Opaque));
        world.spawn(chosen);
        world.digest()
    };
    let first = digest(chosen());
    assert_eq!(first, digest(Chosen { skipped: 2, ..chosen() }));
    assert_ne!(first, digest(Chosen { counted: 2, ..chosen() }));
    assert_ne!(first, digest(Chosen { shown: Text("b"), ..chosen() }));
    assert_ne!(first, digest(Chosen { hashed: 2, ..chosen() }));
    assert_ne!(first, digest(Chosen { listed: HashMap::from([(1, 1)]), ..chosen() }));
}

#[derive(Digestible, Debug)]
struct Pair<T>(T, Option<T>);

#[derive(Digestible, Debug)]
enum Shape {
    Point,
    Circle { radius: f32 },
    Both(Box<Shape>, [u8; 2]),
}

#[test]
fn derived_digests_tell_values_apart() {
    assert_ne!(Digest::of(&Pair(1, None)), Digest::of(&Pair(1, Some(1))));
    assert_eq!(Digest::of(&Pair("a", None)), Digest::of(&Pair("a", None)));
    let shapes = [
        Shape::Point,
        Shape::Circle { radius: 0.0 },
        Shape::Circle { radius: 1.0 },
        Shape::Both(Box::new(Shape::Point), [0, 1]),
        Shape::Both(Box::new(Shape::Point), [1, 0]),
    ];
    let digests: std::collections::BTreeSet<Digest> = shapes.iter().map(Digest::of).collect();
    assert_eq!(digests.len(), shapes.len());
    assert_ne!(Digest::of(&["a", "bc"][..]), Digest::of(&["ab", "c"][..]));
    assert_ne!(Digest::of(&vec![vec![1u8], vec![]]), Digest::of(&vec![vec![], vec![1u8]]));
}

#[test]
fn run_time_components_enter_by_themselves() {
    let build = |mana: f32| {
        let mut world = World::new();
        let id =
            world.register_dynamic(Schema::new("mana").field("now", FieldType::F32)).expect("a new name");
        let entity = world.spawn_empty().id();
        world.insert_dynamic(entity, id, &[("now", mana.into())]).expect("the field exists");
        world
    };
    assert_eq!(build(1.0).digest(), build(1.0).digest());
    let difference = build(1.0).first_difference(&build(2.0)).expect("a field differs");
    assert_eq!((difference.field.as_str(), difference.right.as_str()), ("now", "2.0"));
}

#[test]
fn threads_do_not_enter() {
    #[derive(Message)]
    struct Spawned(u32);
    fn run(threads: Threads) -> Digest {
        let mut app = App::new();
        app.configure(AppConfig { threads, small_phase: Default::default(), ..Default::default() });
        fn spawn(mut commands: Commands, mut writer: MessageWriter<Spawned>, mut n: Local<u32>) {
            for _ in 0..5 {
                *n += 1;
                commands.spawn((position(*n as f32), Burning(*n)));
                writer.write(Spawned(*n));
            }
        }
        fn walk(mut all: Query<&mut Position>) {
            all.par_iter_mut().for_each(|mut p| p.x *= 1.5);
        }
        fn burn(mut commands: Commands, mut all: Query<(Entity, &mut Burning)>) {
            for (entity, mut burning) in &mut all {
                burning.0 -= 1;
                if burning.0 % 7 == 0 {
                    commands.entity(entity).despawn();
                }
            }
        }
        app.add_systems(Update, (spawn, walk, burn));
        for _ in 0..20 {
            app.step(0.02);
        }
        app.world().digest()
    }
    assert_eq!(run(Threads::Serial), run(Threads::N(4)));
}

// Two groups are the same when they ask for the same, in whatever order.
#[test]
fn the_order_in_which_a_group_is_written_does_not_enter() {
    #[derive(Component, Clone)]
    #[component(storage = "sparse")]
    struct Fast(u8);
    #[derive(Component, Clone)]
    #[component(storage = "sparse")]
    struct Angry(u8);

    let (mut one, mut other) = (World::new(), World::new());
    one.spawn((Fast(1), Angry(2)));
    other.spawn((Fast(1), Angry(2)));
    one.group::<Own<(Fast, Angry)>, Get<()>, ()>().expect("both are free");
    other.group::<Own<(Angry, Fast)>, Get<()>, ()>().expect("both are free");
    assert_eq!(one.digest(), other.digest());
    assert_eq!(one.first_difference(&other), None);
}
