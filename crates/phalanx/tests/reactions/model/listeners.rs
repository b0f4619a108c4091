//! The listeners of the model: hooks and observers that write down what they get, and their order as the naive world
//! knows it.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

use phalanx::lifecycle::{ComponentHook, HooksMut};
use phalanx::prelude::*;

use super::naive::{A, B, C, D, NAMES, PARTS, S, T, Tag, value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    Add,
    Insert,
    Discard,
    Remove,
    Despawn,
    Matched,
    Unmatched,
}
pub(super) const EVENTS: [Event; 5] =
    [Event::Add, Event::Insert, Event::Discard, Event::Remove, Event::Despawn];

/// The queries whose matches are observed, as the naive world knows them.
pub(super) const QUERIES: usize = 4;
pub(super) fn matches(query: usize, parts: &BTreeMap<usize, u32>) -> bool {
    let has = |part: usize| parts.contains_key(&part);
    match query {
        0 => has(0) && !has(4),
        1 => has(4) && has(5),
        2 => has(1) || has(3),
        _ => has(0) && has(2),
    }
}
pub(super) type Query0 = (&'static A, Without<S>);
pub(super) type Query1 = ((&'static S, &'static T), ());
pub(super) type Query2 = (Entity, Or<(With<B>, With<D>)>);
pub(super) type Query3 = ((&'static A, Option<&'static T>), With<C>);

/// Whether observers with a condition run.
#[derive(Resource)]
pub(super) struct Open(pub(super) bool);

/// Entities with `S` and `T`, kept together.
pub(super) type Pairs = Group<Own<(S,)>, Get<(T,)>, ()>;
#[derive(Resource)]
pub(super) struct Grouped(pub(super) Pairs);

/// What was announced: to which listener (0 is a hook), the event, the components as bits, the entity and the sum of
/// the values.
pub(super) type Heard = (u32, Event, u32, Entity, u32);

#[derive(Resource, Default, Clone)]
pub(super) struct Trace(pub(super) Arc<Mutex<Vec<Heard>>>);

impl Trace {
    pub(super) fn push(&self, heard: Heard) {
        self.0.lock().expect("not poisoned").push(heard);
    }
    pub(super) fn take(&self) -> Vec<Heard> {
        std::mem::take(&mut *self.0.lock().expect("not poisoned"))
    }
    pub(super) fn entities(&self) -> Vec<Entity> {
        self.0.lock().expect("not poisoned").iter().map(|heard| heard.3).collect()
    }
}

/// What an observer queues for the entity that it is called for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reaction {
    None,
    /// `insert_if_new(Tag)`.
    Tag,
    /// `remove::<D>()`.
    RemoveD,
    /// `despawn()`, of entities with an odd index.
    DespawnOdd,
    /// It panics, after it queued something.
    Panic,
}

/// What a handler panics with. Nothing is printed, because no panic hook is called.
pub(super) const PANIC: &str = "handler";
pub(super) fn panic_in_handler() -> ! {
    resume_unwind(Box::new(PANIC))
}

/// An observer, as the naive world knows it.
#[derive(Clone, Debug)]
pub(super) struct Observing {
    pub(super) number: u32,
    pub(super) id: Option<ObserverId>,
    pub(super) event: Event,
    /// The components as bits, or the query.
    pub(super) parts: u32,
    pub(super) entity: Option<Entity>,
    pub(super) reaction: Reaction,
    /// Whether it is called once for a run.
    pub(super) batched: bool,
    /// Whether it runs under a condition.
    pub(super) gated: bool,
    /// Which of the functions with a name it is made from.
    pub(super) name: Option<u32>,
    /// Which of these functions it runs before and after.
    pub(super) before: Option<u32>,
    pub(super) after: Option<u32>,
}

impl Observing {
    pub(super) fn is_before(&self, other: &Self) -> bool {
        let names = |named: Option<u32>, other: &Self| named.is_some() && named == other.name;
        !std::ptr::eq(self, other) && (names(self.before, other) || names(other.after, self))
    }

    pub(super) fn takes_runs(&self) -> bool {
        self.batched && self.entity.is_none()
    }
}

/// The observers in order, from the order of registration; `None` when that goes in a circle.
pub(super) fn in_order(observing: &[Observing]) -> Option<Vec<Observing>> {
    let mut left: Vec<&Observing> = observing.iter().collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let next = left.iter().position(|one| !left.iter().any(|other| other.is_before(one)))?;
        order.push(left.remove(next).clone());
    }
    Some(order)
}

/// Handlers find groups in line with what they are called for.
pub(super) fn check_group(world: &World, entity: Entity) {
    if let Some(Grouped(group)) = world.get_resource::<Grouped>() {
        let is_pair = world.get::<S>(entity).is_some() && world.get::<T>(entity).is_some();
        assert_eq!(group.contains(world, entity), is_pair);
    }
}

pub(super) fn hear(world: &World, context: HookContext, event: Event) {
    check_group(world, context.entity);
    let part = world.components().get_info(context.component_id).expect("it is registered").name();
    let part = NAMES.iter().position(|name| part.ends_with(&format!("::{name}"))).expect("it is one of ours");
    let value = value(world, context.entity, part).expect("the value can be read");
    world.resource::<Trace>().push((0, event, 1 << part, context.entity, value));
}

/// What an observer of some entities does.
pub(super) fn handle(
    world: &World,
    commands: &mut Commands,
    observing: &Observing,
    entities: &[Entity],
    heard: &[usize],
) {
    let bits = if matches!(observing.event, Event::Matched | Event::Unmatched) {
        observing.parts
    } else {
        heard.iter().fold(0, |bits, part| bits | 1 << part)
    };
    for &entity in entities {
        check_group(world, entity);
        let values = heard.iter().map(|&part| value(world, entity, part).expect("the value can be read"));
        world.resource::<Trace>().push((observing.number, observing.event, bits, entity, values.sum()));
    }
    for &entity in entities {
        let mut recorder = commands.entity(entity);
        match observing.reaction {
            Reaction::None => {}
            Reaction::Tag => drop(recorder.insert_if_new(Tag)),
            Reaction::RemoveD => drop(recorder.remove::<D>()),
            Reaction::DespawnOdd if entity.index() % 2 == 1 => recorder.despawn(),
            Reaction::DespawnOdd => {}
            Reaction::Panic => {
                recorder.insert_if_new(Tag);
                panic_in_handler()
            }
        }
    }
}

/// Functions that others can run before and after.
pub(super) const NAMED: u32 = 3;
#[allow(clippy::needless_pass_by_value, reason = "observers take what they hear by value")]
pub(super) fn named<const N: u32>(on: On<Add<A>>, world: &World) {
    let a = world.get::<A>(on.entity).expect("the value can be read").0;
    world.resource::<Trace>().push((10_000 + N, Event::Add, 1, on.entity, a));
}

/// The observer that is described.
pub(super) fn observer(world: &World, observing: &Observing) -> Observer {
    let ids: Vec<_> =
        world.components().iter().map(phalanx::registry::ComponentInfo::id).take(PARTS).collect();
    let parts = observing.parts;
    let told = observing.clone();
    macro_rules! of_components {
        ($pattern:ident) => {{
            let ids = ids.clone();
            Observer::new(move |on: On<$pattern<()>>, world: &World, mut commands: Commands| {
                let heard = |part: &usize| parts & (1 << part) != 0 && on.trigger().has_component(ids[*part]);
                let heard: Vec<usize> = (0..PARTS).filter(heard).collect();
                handle(world, &mut commands, &told, on.entities(), &heard);
            })
        }};
    }
    macro_rules! of_query {
        ($pattern:ident) => {
            match parts.trailing_zeros() {
                0 => of_query!($pattern, Query0),
                1 => of_query!($pattern, Query1),
                2 => of_query!($pattern, Query2),
                _ => of_query!($pattern, Query3),
            }
        };
        ($pattern:ident, $query:ty) => {
            Observer::new(
                move |on: On<$pattern<<$query as Parts>::Data, <$query as Parts>::Filter>>,
                      world: &World,
                      mut commands: Commands| {
                    handle(world, &mut commands, &told, on.entities(), &[]);
                },
            )
        };
    }
    let mut observer = match (observing.name, observing.event) {
        (Some(0), _) => Observer::new(named::<0>),
        (Some(1), _) => Observer::new(named::<1>),
        (Some(_), _) => Observer::new(named::<2>),
        (None, Event::Add) => of_components!(Add),
        (None, Event::Insert) => of_components!(Insert),
        (None, Event::Discard) => of_components!(Discard),
        (None, Event::Remove) => of_components!(Remove),
        (None, Event::Despawn) => of_components!(Despawn),
        (None, Event::Matched) => of_query!(Matched),
        (None, Event::Unmatched) => of_query!(Unmatched),
    };
    observer = match observing.before {
        None => observer,
        Some(0) => observer.before(named::<0>),
        Some(1) => observer.before(named::<1>),
        Some(_) => observer.before(named::<2>),
    };
    observer = match observing.after {
        None => observer,
        Some(0) => observer.after(named::<0>),
        Some(1) => observer.after(named::<1>),
        Some(_) => observer.after(named::<2>),
    };
    if observing.batched {
        observer = observer.batched();
    }
    if observing.gated {
        observer = observer.run_if(|open: Res<Open>| open.0);
    }
    if observing.name.is_none() && !matches!(observing.event, Event::Matched | Event::Unmatched) {
        let watched = (0..PARTS).filter(|&part| parts & (1 << part) != 0).map(|part| ids[part]);
        observer = observer.with_components(watched);
    }
    observer.with_entities(observing.entity)
}

/// What a query is made of.
pub(super) trait Parts {
    type Data;
    type Filter;
}
impl<D, F> Parts for (D, F) {
    type Data = D;
    type Filter = F;
}

pub(super) fn register(hooks: &mut HooksMut<'_>, event: Event, panics: bool) {
    macro_rules! hook {
        ($event:ident) => {
            if panics {
                |world, context| {
                    hear(&world, context, Event::$event);
                    panic_in_handler()
                }
            } else {
                |world, context| hear(&world, context, Event::$event)
            }
        };
    }
    let hook: ComponentHook = match event {
        Event::Add => hook!(Add),
        Event::Insert => hook!(Insert),
        Event::Discard => hook!(Discard),
        Event::Remove => hook!(Remove),
        _ => hook!(Despawn),
    };
    match event {
        Event::Add => hooks.on_add(hook),
        Event::Insert => hooks.on_insert(hook),
        Event::Discard => hooks.on_discard(hook),
        Event::Remove => hooks.on_remove(hook),
        _ => hooks.on_despawn(hook),
    };
}
