//! What `#[require]` means: what is missing comes along, from the nearest that asks for it.

use std::sync::atomic::{AtomicU32, Ordering};

use phalanx::prelude::*;

use super::checked;

#[derive(Component, Clone, Debug, Default, PartialEq)]
struct Base(u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Base(1))]
struct Middle(u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Middle(2))]
struct Top;

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Middle(3), Base(4))]
struct Nearer;

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Base(5))]
struct First;

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Base)]
struct ByDefault;

fn base(world: &World, entity: Entity) -> Option<u32> {
    world.get::<Base>(entity).map(|base| base.0)
}

#[test]
fn requirements_are_transitive() {
    let mut world = World::new();
    let entity = world.spawn(Top).id();
    assert_eq!(world.get::<Middle>(entity), Some(&Middle(2)));
    assert_eq!(base(&world, entity), Some(1));
    // One archetype, reached at once: nothing in between was made.
    assert_eq!(world.archetypes().len(), 2);
    let top = world.component_id::<Top>().expect("spawned");
    let middle = world.component_id::<Middle>().expect("required");
    let required: Vec<_> = world.components().get_info(top).expect("registered").required().collect();
    assert_eq!(required, [middle], "directly required ones");
}

#[test]
fn the_nearest_value_wins_and_then_the_first() {
    let mut world = World::new();
    assert_eq!(world.spawn(Nearer).get::<Base>(), Some(&Base(4)), "its own, not that of `Middle`");
    assert_eq!(world.spawn((Middle(9), First)).get::<Base>(), Some(&Base(1)), "equally near: the first");
    assert_eq!(world.spawn((First, Middle(9))).get::<Base>(), Some(&Base(5)));
    assert_eq!(world.spawn((Top, First)).get::<Base>(), Some(&Base(5)), "`Top` asks through `Middle`");
    assert_eq!(world.spawn(ByDefault).get::<Base>(), Some(&Base(0)));
}

// Hazard 27.
#[test]
fn what_is_present_or_given_is_not_replaced() {
    let mut world = World::new();
    assert_eq!(world.spawn((Top, Base(7))).get::<Base>(), Some(&Base(7)));
    let entity = world.spawn(Base(8)).id();
    world.entity_mut(entity).insert(Top);
    assert_eq!((base(&world, entity), world.get::<Middle>(entity)), (Some(8), Some(&Middle(2))));
    world.entity_mut(entity).insert(Nearer);
    assert_eq!((base(&world, entity), world.get::<Middle>(entity)), (Some(8), Some(&Middle(2))));
    world.entity_mut(entity).insert_if_new((First, Base(9)));
    assert_eq!(base(&world, entity), Some(8));
    checked(&world);
}

#[test]
fn what_was_removed_comes_again_with_the_next_insert() {
    let mut world = World::new();
    let entity = world.spawn(Top).id();
    world.entity_mut(entity).remove::<Base>();
    assert!(world.entity(entity).contains::<Middle>(), "removing asks for nothing");
    world.entity_mut(entity).insert(Middle(6));
    assert_eq!((base(&world, entity), world.get::<Middle>(entity)), (Some(1), Some(&Middle(6))));
    world.entity_mut(entity).remove::<(Middle, Base)>();
    assert!(world.entity(entity).contains::<Top>());
    checked(&world);
}

#[test]
fn what_is_present_still_asks_for_what_it_requires() {
    let mut world = World::new();
    let entity = world.spawn(Top).id();
    world.entity_mut(entity).remove::<(Top, Base)>();
    world.entity_mut(entity).insert(Top);
    assert_eq!((base(&world, entity), world.get::<Middle>(entity)), (Some(1), Some(&Middle(2))));
    // Inserting something else asks for nothing.
    world.entity_mut(entity).remove::<Base>().insert(Egg(1));
    assert_eq!(base(&world, entity), None);
}

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Hen(1))]
struct Egg(u32);

#[derive(Component, Clone, Debug, PartialEq)]
#[require(Egg(2))]
struct Hen(u32);

#[test]
fn a_circle_of_requirements_ends() {
    let mut world = World::new();
    let egg = world.spawn(Egg(7)).id();
    assert_eq!((world.get::<Egg>(egg), world.get::<Hen>(egg)), (Some(&Egg(7)), Some(&Hen(1))));
    let hen = world.spawn(Hen(8)).id();
    assert_eq!((world.get::<Egg>(hen), world.get::<Hen>(hen)), (Some(&Egg(2)), Some(&Hen(8))));
    assert_eq!(world.archetype_of(egg), world.archetype_of(hen));
    let both = world.spawn((Egg(3), Hen(4))).id();
    assert_eq!((world.get::<Egg>(both), world.get::<Hen>(both)), (Some(&Egg(3)), Some(&Hen(4))));
    checked(&world);
}

static MADE: AtomicU32 = AtomicU32::new(0);

#[derive(Component, Debug, PartialEq)]
struct Serial(u32);

#[derive(Component, Clone)]
#[require(Serial = Serial(MADE.fetch_add(1, Ordering::Relaxed)))]
struct Numbered;

#[test]
fn a_value_is_made_for_each_entity_that_lacks_it_and_no_other() {
    let mut world = World::new();
    let entities: Vec<Entity> = world.spawn_batch([Numbered, Numbered, Numbered]).collect();
    let serials: Vec<_> = entities.iter().map(|&e| world.get::<Serial>(e).expect("required").0).collect();
    assert_eq!(serials, [0, 1, 2]);
    world.spawn((Numbered, Serial(70)));
    world.entity_mut(entities[0]).insert(Numbered);
    assert_eq!(MADE.load(Ordering::Relaxed), 3, "no other lacked it");
    world.spawn_batch([Base(1), Base(2)]);
    let archetype = world.spawn(Base(3)).archetype();
    assert_eq!(world.insert_into_archetype(archetype, &Numbered), 3);
    assert_eq!(MADE.load(Ordering::Relaxed), 6);
    let mut commands = world.commands();
    commands.spawn(Numbered);
    assert_eq!(MADE.load(Ordering::Relaxed), 6, "not before the flush");
    world.flush();
    assert_eq!(MADE.load(Ordering::Relaxed), 7);
    checked(&world);
}

#[test]
fn what_is_kept_keeps_what_it_requires() {
    let mut world = World::new();
    let entity = world.spawn((Top, First, Loose)).id();
    world.entity_mut(entity).retain::<Top>();
    checked(&world);
    let kept = world.entity(entity);
    assert!(kept.contains::<Top>() && !kept.contains::<First>() && !kept.contains::<Loose>());
    assert_eq!(kept.get::<Middle>(), Some(&Middle(2)), "required by what stays");
    assert_eq!(kept.get::<Base>(), Some(&Base(5)), "required by what is required");
    world.entity_mut(entity).insert(Base(9)).retain::<Middle>();
    assert_eq!(base(&world, entity), Some(9), "the value stays as it is");
    assert!(!world.entity(entity).contains::<Top>());
    world.entity_mut(entity).retain::<()>();
    assert_eq!(base(&world, entity), None);
}

#[derive(Component)]
#[component(storage = "sparse")]
#[require(Hot)]
struct Burning;
#[derive(Component, Default)]
#[component(storage = "sparse")]
struct Hot;
#[derive(Component)]
struct Loose;

#[test]
fn what_is_kept_in_a_set_keeps_what_it_requires() {
    let mut world = World::new();
    let entity = world.spawn((Burning, Loose, Base(1))).id();
    world.entity_mut(entity).retain::<Burning>();
    let kept = world.entity(entity);
    assert!(kept.contains::<Burning>() && kept.contains::<Hot>());
    assert!(!kept.contains::<Loose>() && !kept.contains::<Base>());
}
