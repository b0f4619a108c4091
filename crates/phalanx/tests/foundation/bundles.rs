//! Hunts what bundles and batches get wrong at their edges: nothing in them, the same twice, a full table, a
//! size that was announced wrongly, half of them used (hazards 20 to 23).
//!
//! A bundle can also be written by hand, and then lie about its components: the last part of this file.
#![allow(missing_docs)]

use crate::common::faults::is_usable;
use crate::common::ledger::{Ledger, panic_of};
use crate::common::zoo::{
    Grain, Kind, Left, Menagerie, Right, Specimen, Tag, Tracked, Whole, assert_held, assert_lacks,
    for_each_counted, for_each_kind, name,
};
use phalanx::BundleError;
use phalanx::archetype::ArchetypeId;
use phalanx::bundle::BundleKey;
use phalanx::prelude::{AnyComponent, Bundle, Component, Entity, Schema, World};
use phalanx::registry::{ComponentId, Components, RegisterError};
use phalanx_store::{Tick, Values};

#[track_caller]
fn checked(world: &World) {
    world.check().expect("the world is consistent");
}

#[derive(Bundle)]
struct Bare {}

#[derive(Bundle)]
struct Hollow {
    inner: ((), Bare),
}

// Hazard 20.
#[test]
fn an_empty_bundle_is_spawned_inserted_removed_and_taken() {
    fn scenario<E: Bundle + Clone, K: Kind>(empty: fn() -> E) {
        let ledger = Ledger::open();
        let mut world = World::new();
        let bare = world.spawn(empty()).id();
        assert_eq!(world.archetype_of(bare), Some(ArchetypeId::EMPTY));
        let batch: Vec<Entity> = world.spawn_batch((0..3).map(|_| empty())).collect();
        assert_eq!((batch.len(), world.entities().len(), world.entities().rowless_len()), (3, 4, 4));
        assert_eq!(world.spawn_batch(std::iter::empty::<E>()).len(), 0);

        let full: Vec<Entity> =
            (0..3).map(|seed| world.spawn((K::make(seed), empty(), Left::make(seed))).id()).collect();
        let home = world.archetype_of(full[0]).expect("alive");
        let archetypes = world.archetypes().len();
        world.entity_mut(full[1]).insert(empty()).insert_if_new(empty()).remove::<E>();
        assert!(world.entity_mut(full[1]).take::<E>().is_some());
        assert!(world.entity_mut(bare).insert(empty()).remove::<E>().take::<E>().is_some());
        assert_eq!(world.insert_batch(full.iter().chain(&batch).map(|&entity| (entity, empty()))), 6);
        assert_eq!(world.remove_batch::<E>(full.iter().copied()), 3);
        assert_eq!(world.insert_into_archetype(home, &empty()), 3);
        assert_eq!(world.insert_into_archetype(ArchetypeId::EMPTY, &empty()), 4);
        assert_eq!(world.remove_from_archetype::<E>(home), 3);
        assert_eq!(world.remove_from_archetype::<E>(ArchetypeId::EMPTY), 4);
        world.reserve_rows::<E>(10);
        assert_eq!(world.archetypes().len(), archetypes, "nothing new came of nothing");
        assert!(full.iter().all(|&entity| world.archetype_of(entity) == Some(home)));
        assert_held::<K>(&world, full.iter().copied().zip(0..));
        checked(&world);
        assert!(
            world.take::<E>(Entity::PLACEHOLDER).is_none() && world.remove::<E>(Entity::PLACEHOLDER).is_err()
        );

        world.retain::<E>(full[0]).expect("alive");
        assert_eq!(world.archetype_of(full[0]), Some(ArchetypeId::EMPTY));
        assert_eq!(ledger.live(), 2 * (K::COUNTED + 1), "{}", name::<K>());
        checked(&world);
        is_usable(&mut world);
        drop(world);
        ledger.all_dropped_once();
    }
    fn over_kinds<K: Kind>() {
        scenario::<(), K>(|| ());
    }
    for_each_counted!(over_kinds);
    scenario::<((), ((), ())), Whole<Tracked>>(|| ((), ((), ())));
}

// Hazard 20, derived.
#[test]
fn an_empty_derived_bundle_is_an_empty_bundle() {
    let mut world = World::new();
    let bare = world.spawn(Bare {}).id();
    let hollow = world.spawn(Hollow { inner: ((), Bare {}) }).id();
    let full = world.spawn((Left::make(1), Hollow { inner: ((), Bare {}) })).id();
    assert_eq!(world.entities().rowless_len(), 2);
    world.entity_mut(full).insert(Bare {}).remove::<Hollow>();
    assert!(world.entity_mut(bare).take::<Hollow>().is_some_and(|Hollow { inner: ((), Bare {}) }| true));
    assert_eq!(world.spawn_batch((0..5).map(|_| Bare {})).len(), 5);
    assert_held::<Left>(&world, [(full, 1)]);
    assert!(world.despawn(hollow));
    checked(&world);
}

// Hazard 21: the places where values wait for their world are an iterator and a command.
#[test]
fn a_batch_given_up_half_way_drops_exactly_what_was_not_spawned() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let waiting: Vec<(K, Left)> = (0..20).map(|seed| (K::make(seed), Left::make(seed))).collect();
        let per_row = K::COUNTED + 1;
        {
            let mut spawned = world.spawn_batch(waiting.into_iter().take(12));
            // Looking at some of the ids spawns neither fewer nor more.
            assert!(spawned.next().is_some() && spawned.next().is_some());
            assert_eq!(spawned.len(), 10);
        }
        assert_eq!((ledger.live(), ledger.dropped()), (12 * per_row, 8 * per_row), "{}", name::<K>());
        assert_eq!(world.entities().len(), 12);
        world.commands().spawn((K::make(30), Left::make(30))).insert(Right::make(30));
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_counted!(scenario);
}

/// An iterator that announces what it is told to.
struct Announcing<I>(I, usize);

impl<I: Iterator> Iterator for Announcing<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.1, None)
    }
}

// Hazard 22: 8 rows come first, then twice as many, again and again; 1,024 rows begin a block.
#[test]
fn spawns_and_batches_mix_around_the_edges_of_capacity() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        for edge in [8, 16, 64, 1_024] {
            for singles in [edge - 1, edge, edge + 1] {
                for batch in [0, 1, 2, 9] {
                    for announced in [0, batch, 40] {
                        let mut world = World::new();
                        let row = |seed| (K::make(seed), Left::make(seed));
                        // Rows up to the edge are spawned in one go, which is not what is tested here.
                        world.reserve_rows::<(K, Left)>(edge as usize);
                        let mut entities: Vec<Entity> = world.spawn_batch((0..edge - 2).map(row)).collect();
                        entities.extend((edge - 2..singles).map(|seed| world.spawn(row(seed)).id()));
                        let seeds = singles..singles + batch;
                        let batch: Vec<Entity> = world
                            .spawn_batch(Announcing(seeds.clone().map(row), announced as usize))
                            .collect();
                        assert_eq!(batch.len(), seeds.len());
                        entities.extend(batch);
                        entities.extend((seeds.end..seeds.end + 2).map(|seed| world.spawn(row(seed)).id()));
                        assert_eq!(world.entities().len(), entities.len());
                        let tail = entities.len().saturating_sub(14);
                        assert_held::<K>(
                            &world,
                            entities.iter().copied().zip(0..).skip(tail).chain([(entities[0], 0)]),
                        );
                        checked(&world);
                    }
                }
            }
        }
        ledger.all_dropped_once();
    }
    // Cheap kinds; what a row holds makes no difference to where it stands.
    scenario::<Whole<Tracked>>();
    scenario::<Whole<Grain>>();
    scenario::<Tag>();
}

// Hazard 22 for the whole zoo, at the first edges.
#[test]
fn every_kind_survives_batches_across_growth() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        let mut entities: Vec<Entity> = Vec::new();
        let row = |seed| (K::make(seed), Left::make(seed));
        for (count, together) in
            [(7, false), (1, true), (1, false), (7, true), (3, true), (14, true), (1, false), (40, true)]
        {
            let seeds = u32::try_from(entities.len()).expect("few")..;
            if together {
                // Announced as nothing, so that growth happens on the way.
                let batch = Announcing(seeds.take(count).map(row), 0);
                entities.extend(world.spawn_batch(batch).collect::<Vec<_>>());
            } else {
                entities
                    .extend(seeds.take(count).map(|seed| world.spawn(row(seed)).id()).collect::<Vec<_>>());
            }
            assert_held::<K>(&world, entities.iter().copied().zip(0..));
            assert_held::<Left>(&world, entities.iter().copied().zip(0..));
            checked(&world);
        }
        assert_eq!(ledger.dropped(), 0, "{}", name::<K>());
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_kind!(scenario);
}

// Hazard 22: a hint is a hint.
#[test]
fn a_batch_that_announces_too_much_reserves_and_spawns_what_comes() {
    let mut world = World::new();
    assert_eq!(world.spawn_batch(Announcing((0..3).map(Left::make), 5_000)).len(), 3);
    assert_eq!(world.entities().len(), 3);
    checked(&world);
    // More than any table holds: what comes is spawned all the same.
    let ledger = Ledger::open();
    let mut world = World::new();
    let kept = world.spawn(Left::make(1)).id();
    let batch: Vec<Left> = (0..3).map(Left::make).collect();
    assert_eq!(world.spawn_batch(Announcing(batch.into_iter(), usize::MAX / 2)).len(), 3);
    assert_eq!((world.entities().len(), ledger.live()), (4, 4));
    assert_held::<Left>(&world, [(kept, 1)]);
    is_usable(&mut world);
    drop(world);
    ledger.all_dropped_once();
}

#[derive(Bundle)]
struct Couple<A: AnyComponent, B: Bundle> {
    one: A,
    rest: B,
}

/// Fails unless using the bundle is refused everywhere, with the component's name, and nothing is lost.
#[track_caller]
fn is_refused<B: Bundle + Clone, K: Kind>(make: fn() -> B) {
    let ledger = Ledger::open();
    let mut world = World::new();
    let entities: Vec<Entity> =
        (0..3).map(|seed| world.spawn((K::make(seed), Left::make(seed))).id()).collect();
    let home = world.archetype_of(entities[0]).expect("alive");
    let live = ledger.live();
    let component = world.component_id::<K>().expect("spawned before");
    let component = world.components().get_info(component).expect("registered").name().to_owned();
    match world.register_bundle::<B>() {
        Err(BundleError::Repeated { component: named, bundle }) => {
            assert_eq!((named.as_str(), bundle), (component.as_str(), std::any::type_name::<B>()));
        }
        other => panic!("{other:?}"),
    }
    let attempts: [&dyn Fn(&mut World); 10] = [
        &|world| {
            world.spawn(make());
        },
        &|world| {
            world.spawn_batch((0..4).map(|_| make()));
        },
        &|world| world.insert(entities[0], make()).expect("alive"),
        &|world| {
            world.entity_mut(entities[0]).insert_if_new(make());
        },
        &|world| world.remove::<B>(entities[1]).expect("alive"),
        &|world| drop(world.take::<B>(entities[1])),
        &|world| world.retain::<B>(entities[1]).expect("alive"),
        &|world| {
            world.insert_batch([(entities[2], make())]);
        },
        &|world| {
            world.insert_into_archetype(home, &make());
        },
        &|world| {
            world.remove_from_archetype::<B>(home);
        },
    ];
    for attempt in attempts {
        let panic = panic_of(|| attempt(&mut world));
        assert!(panic.is_some_and(|message| message.contains(&component) && message.contains("twice")));
        assert_eq!((ledger.live(), world.entities().len()), (live, 3), "{}", name::<K>());
        checked(&world);
    }
    assert!(entities.iter().all(|&entity| world.archetype_of(entity) == Some(home)));
    assert_held::<K>(&world, entities.iter().copied().zip(0..));
    is_usable(&mut world);
    drop(world);
    ledger.all_dropped_once();
}

// Hazard 23.
#[test]
fn a_component_twice_in_a_bundle_is_refused_by_name() {
    fn scenario<K: Kind>() {
        is_refused::<(K, K), K>(|| (K::make(1), K::make(2)));
    }
    for_each_counted!(scenario);
}

// Hazard 23, nested.
#[test]
fn a_component_twice_in_a_nested_bundle_is_refused_by_name() {
    type K = Menagerie;
    is_refused::<(Left, (Right, (K, ())), K), K>(|| {
        (Left::make(1), (Right::make(2), (K::make(3), ())), K::make(4))
    });
}

impl<A: AnyComponent + Clone, B: Bundle + Clone> Clone for Couple<A, B> {
    fn clone(&self) -> Self {
        Self { one: self.one.clone(), rest: self.rest.clone() }
    }
}

// Hazard 23, derived and nested.
#[test]
fn a_component_twice_in_a_derived_bundle_is_refused_by_name() {
    type K = Whole<Tracked>;
    is_refused::<Couple<K, Couple<Right, K>>, K>(|| Couple {
        one: K::make(1),
        rest: Couple { one: Right::make(2), rest: K::make(3) },
    });
}

// Hazard 23: instances of one generic type are different components.
#[test]
fn instances_of_a_generic_component_are_not_the_same_twice() {
    use crate::common::zoo::{Byte, Text};
    let mut world = World::new();
    let entity = world.spawn((Whole(Byte(1)), Whole(Text("a".into())))).id();
    assert_eq!(world.get::<Whole<Byte>>(entity).map(|byte| byte.0.0), Some(1));
    assert_eq!(world.get::<Whole<Text>>(entity).map(|text| text.0.0.as_str()), Some("a"));
    assert_eq!(world.register_bundle::<(Whole<Byte>, Whole<Text>)>(), Ok(()));
    checked(&world);
}

// A component in a bundle and among what another part requires is not twice: the given value counts.
#[test]
fn a_required_component_that_is_given_as_well_is_not_twice() {
    #[derive(Component)]
    #[require(Left(Tracked::make(7)))]
    struct Needs;
    let ledger = Ledger::open();
    let mut world = World::new();
    let given = world.spawn((Needs, Left::make(1))).id();
    let required = world.spawn(Needs).id();
    assert_held::<Left>(&world, [(given, 1), (required, 7)]);
    assert_eq!(ledger.live(), 2, "no value was made for nothing");
    drop(world);
    ledger.all_dropped_once();
}

/// What a bundle written by hand says of itself.
trait Story: Send + Sync + 'static {
    fn register(components: &mut Components) -> Result<Vec<ComponentId>, RegisterError>;
    fn key() -> Option<BundleKey> {
        None
    }
}

/// Values of `Left` and `Right`, under a story.
struct Told<S: Story>(Left, Right, std::marker::PhantomData<S>);

impl<S: Story> Told<S> {
    fn new(seed: u32) -> Self {
        Self(Left::make(seed), Right::make(seed), std::marker::PhantomData)
    }
}

impl<S: Story> Bundle for Told<S> {
    type Values = (<Left as AnyComponent>::ColumnValues, <Right as AnyComponent>::ColumnValues);
    type Sparse = ();

    fn bundle_key() -> BundleKey {
        S::key().unwrap_or(BundleKey::Type(std::any::TypeId::of::<Self>()))
    }
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
        ids.extend(S::register(components)?);
        Ok(())
    }
    fn value_ids() -> <Self::Values as Values>::Ids {
        (Left::column_ids(), Right::column_ids())
    }
    fn into_values(self, now: Tick) -> (Self::Values, ()) {
        ((self.0.into_column_values(now), self.1.into_column_values(now)), ())
    }
    fn from_values(values: Self::Values, (): ()) -> Self {
        Self(
            Left::from_column_values(values.0),
            Right::from_column_values(values.1),
            std::marker::PhantomData,
        )
    }
}

struct TooFew;
impl Story for TooFew {
    fn register(components: &mut Components) -> Result<Vec<ComponentId>, RegisterError> {
        Ok(vec![components.register::<Left>()?])
    }
}

struct TooMany;
impl Story for TooMany {
    fn register(components: &mut Components) -> Result<Vec<ComponentId>, RegisterError> {
        Ok(vec![
            components.register::<Left>()?,
            components.register::<Right>()?,
            components.register::<Whole<Tracked>>()?,
        ])
    }
}

struct Others;
impl Story for Others {
    fn register(components: &mut Components) -> Result<Vec<ComponentId>, RegisterError> {
        Ok(vec![components.register::<Whole<Tracked>>()?])
    }
}

/// Goes by the key of a bundle of other values.
struct Stolen;
impl Story for Stolen {
    fn register(components: &mut Components) -> Result<Vec<ComponentId>, RegisterError> {
        TooMany::register(components)
    }
    fn key() -> Option<BundleKey> {
        Some(<Whole<Tracked> as Bundle>::bundle_key())
    }
}

/// Names a component that no world has registered.
struct Foreign;
impl Story for Foreign {
    fn register(components: &mut Components) -> Result<Vec<ComponentId>, RegisterError> {
        let mut elsewhere = Components::default();
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            elsewhere.register_schema(Schema::new(name))?;
        }
        let last = elsewhere.by_name("h").expect("registered just now");
        assert!(components.get_info(last).is_none());
        Ok(vec![components.register::<Left>()?, last])
    }
}

// `Bundle` is a safe trait: a false story may cost a panic, never a value in the wrong column.
#[test]
fn a_bundle_that_lies_about_its_components_is_refused() {
    fn scenario<S: Story>() {
        type Other = Whole<Tracked>;
        let ledger = Ledger::open();
        let mut world = World::new();
        let other = world.spawn(Other::make(1)).id();
        let both = world.spawn((Left::make(2), Right::make(2))).id();
        let attempts: [&dyn Fn(&mut World); 9] = [
            &|world| {
                world.spawn(Told::<S>::new(9));
            },
            &|world| {
                world.spawn_batch((0..4).map(Told::<S>::new));
            },
            &|world| world.insert(other, Told::<S>::new(9)).expect("alive"),
            &|world| {
                world.entity_mut(other).insert_if_new(Told::<S>::new(9));
            },
            &|world| {
                world.insert_batch([(other, Told::<S>::new(9))]);
            },
            &|world| world.remove::<Told<S>>(both).expect("alive"),
            &|world| drop(world.take::<Told<S>>(both)),
            &|world| drop(world.take::<Told<S>>(other)),
            &|world| world.retain::<Told<S>>(both).expect("alive"),
        ];
        for attempt in attempts {
            // Some of these happen to do no harm, and may then do what they say.
            let _ = panic_of(|| attempt(&mut world));
            ledger.nothing_dropped_twice();
            checked(&world);
        }
        if world.get::<Other>(other).is_some() {
            assert_held::<Other>(&world, [(other, 1)]);
        }
        if world.get::<Left>(both).is_some() {
            assert_held::<Left>(&world, [(both, 2)]);
        }
        is_usable(&mut world);
        drop(world);
        ledger.all_dropped_once();
    }
    scenario::<TooFew>();
    scenario::<TooMany>();
    scenario::<Others>();
    scenario::<Stolen>();
    scenario::<Foreign>();
}

#[test]
fn a_bundle_with_values_that_its_archetype_lacks_is_not_spawned() {
    fn refused<S: Story>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        world.spawn(Whole(Tracked::make(0)));
        for _ in 0..2 {
            assert!(panic_of(|| world.spawn(Told::<S>::new(1)).id()).is_some());
            assert!(panic_of(|| world.spawn_batch([Told::<S>::new(1)]).len()).is_some());
            assert_eq!((world.entities().len(), ledger.live()), (1, 1));
            checked(&world);
        }
        drop(world);
        ledger.all_dropped_once();
    }
    refused::<TooFew>();
    refused::<TooMany>();
    refused::<Others>();
    refused::<Stolen>();
    refused::<Foreign>();
}

// O-147, O-150: parts that are there are replaced, parts that are not come, in one call.
#[test]
fn a_bundle_overlaps_what_is_there_in_every_combination() {
    fn scenario<K: Kind>() {
        let ledger = Ledger::open();
        let mut world = World::new();
        for present in 0..8u32 {
            let entity = world.spawn_empty().id();
            if present & 1 != 0 {
                world.entity_mut(entity).insert(K::make(1));
            }
            if present & 2 != 0 {
                world.entity_mut(entity).insert(Left::make(2));
            }
            if present & 4 != 0 {
                world.entity_mut(entity).insert(Right::make(3));
            }
            let dropped = ledger.dropped();
            world.entity_mut(entity).insert((K::make(11), Left::make(12)));
            let replaced = (present & 1) as usize * K::COUNTED + (present >> 1 & 1) as usize;
            assert_eq!(ledger.dropped() - dropped, replaced, "{}: {present:#b}", name::<K>());
            assert_held::<K>(&world, [(entity, 11)]);
            assert_held::<Left>(&world, [(entity, 12)]);
            if present & 4 != 0 {
                assert_held::<Right>(&world, [(entity, 3)]);
            } else {
                assert_lacks::<Right>(&world, entity);
            }
            assert_eq!(world.take::<(K, Left, Right)>(entity).is_some(), present & 4 != 0);
            world.remove::<(K, Left)>(entity).expect("alive");
            assert_eq!(world.archetype_of(entity), Some(ArchetypeId::EMPTY));
            checked(&world);
        }
        drop(world);
        ledger.all_dropped_once();
    }
    for_each_counted!(scenario);
}
