//! Derive macros for Phalanx: `Component`, `Bundle`, `Pool`, `Resource`, `Message`, `QueryData`, `QueryFilter`,
//! `SystemParam`, `ScheduleLabel`, `SystemSet`, `States`, `SubStates` and `Digestible`.
//!
//! The macros write declarations only: types, and trait functions that forward. How columns are kept and
//! visited is left to the libraries. Emitted code names everything by absolute path
//! (`::core::..`, `::phalanx::__private::..`), holds no unsafe code, and works where the prelude is
//! shadowed or the library is renamed (`#[component(crate = "path")]`).
//!
//! ```text
//!   attr, require      what stands in the attributes
//!   target             the type a derive stands on: names, generics, the library's path
//!   column, nest       one column; many columns as nested tuples
//!   split, split/*     a struct taken apart into columns; its rows and slices
//!   component, whole, soa    bundle    pool    plain    message    save    query, query/*    label    system_param
//!                      what is emitted
//! ```
#![forbid(unsafe_code)]

use proc_macro2::TokenStream;
use syn::{DeriveInput, parse_macro_input};

mod attr;
mod bundle;
mod capture;
mod column;
mod component;
mod copying;
mod deref;
mod event;
mod label;
mod message;
mod names;
mod nest;
mod plain;
mod pool;
mod query;
mod relation;
mod require;
mod save;
mod soa;
mod split;
mod states;
mod system_param;
mod target;
mod threads;
mod value_fields;
mod whole;

/// Makes a type a component, which entities can carry.
///
/// A unit struct becomes a tag. Any other struct or enum is kept as whole values, or field by field
/// with `layout = "soa"`.
///
/// | `#[component(..)]` | meaning |
/// |---|---|
/// | `name = "game.Position"` | the name in a world; the path of the type unless given |
/// | `layout = "whole"` | one column of whole values (the default); rows are `&T` and `&mut T` |
/// | `layout = "soa"` | one column per field; see below |
/// | `track = "block"` | remember the last write per 1,024 rows (the default) |
/// | `track = "row"` | also remember for each row when it was added and changed |
/// | `track = "none"` | remember nothing |
/// | `fields = "pos"` | the name of the module of field markers, with `layout = "soa"` |
/// | `storage = "table"` | kept in the tables of archetypes (the default) |
/// | `storage = "sparse"` | kept in a sparse set: adding and removing moves nothing else |
/// | `stable` | with `storage = "sparse"`: rows of the set stay where they are when others go; see below |
/// | `immutable` | values are inserted anew and never written in place, so hooks and observers see every change; `&mut T` in a query yields `&T` |
/// | `digest = "fields"` | values count field by field in `world.digest()` (the default); a field by `Digestible`, else `Hash` |
/// | `digest = "hash"`, `"debug"`, `"skip"` | they count by `Hash`, by the text of `Debug`, or not at all |
/// | `checkpoint = "default"` | a restored checkpoint has `Default` values; else `Copy` or `Clone` is needed, or fields that are `Copy` |
/// | `on_add = function`, `on_insert`, `on_discard`, `on_remove`, `on_despawn` | a hook: it runs when the component comes or goes |
/// | `checkpoint = "skip"` | there are no values when a checkpoint is taken; those that came since are dropped by a restore |
/// | `save` | values are saved; needs `Serialize`, `Deserialize`, and with `layout = "soa"` fields that are `Clone` |
/// | `version = 2` | with `save`: the version of the type, 1 unless given |
/// | `crate = "path"` | where the library is found; `::phalanx` unless given |
///
/// Single fields can have `#[digest(skip)]`, `#[digest(hash)]`, `#[digest(debug)]` or `#[digest(with = "function")]`.
///
/// `#[require(Other, Third(3), Fourth { a: 1 }, Fifth = expression)]` names components that are added
/// with this one where they are missing: by `Default`, as the given value, or as the given expression.
///
/// For `layout = "soa"` on `struct Position { x: f32, y: f32 }` there appear beside it:
/// - the module `position` with one type per field: `&position::x` in a query reads that field alone;
///   the fields of a tuple struct are called `_0`, `_1`;
/// - `PositionRef` and `PositionMut`, one row, whose fields are references;
/// - `PositionSlices` and `PositionSlicesMut`, a run of rows, whose fields are slices.
///
/// They are as visible as the struct, so the types of its fields must be, too. A type with a `Drop` of
/// its own cannot be taken apart into fields.
///
/// In a `stable` set, removing leaves a hole, which the next value to come fills, the hole made last first;
/// the position of an entity (`world.sparse::<T>().index_of(entity)`) stays the same until the set is
/// compacted, sorted or swapped. The price: no slice of all values while there are holes, and no group can
/// own the component.
#[proc_macro_derive(
    Component,
    attributes(component, require, digest, relationship, relationship_target, target, entities)
)]
pub fn derive_component(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(component::derive(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a struct whose fields are components or bundles a bundle: they are spawned, inserted and
/// removed together.
///
/// `#[bundle(crate = "path")]` says where the library is found; `::phalanx` unless given.
#[proc_macro_derive(Bundle, attributes(bundle))]
pub fn derive_bundle(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(bundle::derive(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a struct with named fields a pool: a closed kind of entities, each of which has a value of the struct.
///
/// A field of type `T` declares the component `T` as required: it cannot be missing, and cannot be removed. A field
/// of type `Option<T>` declares it as optional. Every component has at most one field, and there are at most 128.
/// What the pool does not declare, its entities never have; the compiler refuses it in calls of the pool itself
/// (`world.pool_mut::<Orcs>()`), and all other calls refuse it with an error that names it.
///
/// | `#[pool(..)]` | meaning |
/// |---|---|
/// | `storage = "inline"` | archetypes keep the headers of all declared columns side by side (the default) |
/// | `storage = "boxed"` | archetypes keep one pointer per declared component, allocated for those they have |
/// | `name = "orcs"` | the name in messages; that of the type unless given |
/// | `capacity = 1024` | rows to reserve for entities with the required components alone |
/// | `crate = "path"` | where the library is found; `::phalanx` unless given |
///
/// `Option` is known by its name: a type alias for an `Option` is not seen as optional.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Clone, Copy)]
/// struct Position(f32);
/// #[derive(Component)]
/// struct Health(u32);
/// #[derive(Component)]
/// struct Rage(f32);
///
/// #[derive(Pool)]
/// struct Orcs {
///     position: Position,
///     health: Health,
///     rage: Option<Rage>,
/// }
///
/// let mut world = World::new();
/// let orc = world.spawn_in(Orcs { position: Position(1.0), health: Health(9), rage: None });
/// let mut orcs = world.pool_mut::<Orcs>();
/// orcs.insert(orc, Rage(3.0)).unwrap();
/// assert_eq!(orcs.get::<Health>(orc).unwrap().0, 9);
/// assert_eq!(orcs.query::<(&mut Position, &Rage)>().count(), 1);
/// ```
#[proc_macro_derive(Pool, attributes(pool))]
pub fn derive_pool(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(pool::derive(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type a resource, of which a world holds at most one value.
///
/// | `#[resource(..)]` | meaning |
/// |---|---|
/// | `save` | the value is saved; needs `Serialize` and `Deserialize` |
/// | `version = 2` | with `save`: the version of the type, 1 unless given |
/// | `name = "game.Score"` | with `save`: the name in saves; the path of the type unless given |
/// | `digest`, `checkpoint` | as for components |
/// | `crate = "path"` | where the library is found; `::phalanx` unless given |
#[proc_macro_derive(Resource, attributes(resource, digest))]
pub fn derive_resource(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(plain::resource(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type an event: observers are called when a program triggers it.
///
/// `#[event(trigger = Type)]` says how it finds its observers; without, all observers of the type are called.
#[proc_macro_derive(Event, attributes(event))]
pub fn derive_event(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(event::derive(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a struct an event that happens to an entity: the one in its field `entity`, in the field with
/// `#[event_target]`, or in its only field.
///
/// | `#[entity_event(..)]` | meaning |
/// |---|---|
/// | `propagate` | an observer may let it go on to the parent of the entity |
/// | `propagate = Type` | an observer may let it go on to another entity, which the traversal `Type` finds |
/// | `auto_propagate` | it goes on unless an observer says otherwise |
/// | `trigger = Type` | how it finds its observers |
#[proc_macro_derive(EntityEvent, attributes(entity_event, event_target))]
pub fn derive_entity_event(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(event::derive_entity(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type a message, which systems write and read.
///
/// A unit struct is a signal, which is only counted. Any other type is kept as whole values, or field by field
/// with `layout = "soa"`.
///
/// | `#[message(..)]` | meaning |
/// |---|---|
/// | `layout = "whole"` | one array of whole messages (the default); `read` yields `&T` |
/// | `layout = "soa"` | one array per field, for structs with named fields; see below |
/// | `save` | messages are saved; needs `Serialize`, `Deserialize`, and with `layout = "soa"` fields that are `Clone` |
/// | `version = 2` | with `save`: the version of the type, 1 unless given |
/// | `name = "game.Hit"` | with `save`: the name in saves; the path of the type unless given |
/// | `crate = "path"` | where the library is found; `::phalanx` unless given |
///
/// For `layout = "soa"` on `struct Hit { who: Entity, damage: f32 }` there appear beside it:
/// - `HitRef<'_>`, one message, whose fields are references: this is what `read` yields;
/// - `HitSlices<'_>`, consecutive messages, whose fields are equally long slices: `columns` yields one with all
///   that the reader has not read yet, and counts them as read.
///
/// Writers take the struct itself, whatever the layout. The two types are as visible as the struct, so the types
/// of its fields must be, too. They have the names of those of a component with `layout = "soa"`, so a type can
/// have that layout in one of both roles only. A type with a `Drop` of its own cannot be taken apart into fields.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Message)]
/// #[message(layout = "soa")]
/// struct Hit {
///     who: Entity,
///     damage: f32,
/// }
///
/// fn strike(mut hits: MessageWriter<Hit>, targets: Query<Entity>) {
///     for who in &targets {
///         hits.write(Hit { who, damage: 1.5 });
///     }
/// }
/// fn sum_up(mut hits: MessageReader<Hit>) {
///     let HitSlices { who, damage } = hits.columns();
///     assert_eq!((who.len(), damage.iter().sum::<f32>()), (2, 3.0));
/// }
/// fn one_by_one(mut hits: MessageReader<Hit>) {
///     for HitRef { who, damage } in hits.read() {
///         println!("{who} takes {damage}");
///     }
/// }
///
/// let mut app = App::new();
/// app.world_mut().spawn_empty();
/// app.world_mut().spawn_empty();
/// app.add_systems(Update, (strike, sum_up, one_by_one).chain());
/// app.step(0.1);
/// ```
#[proc_macro_derive(Message, attributes(message, digest))]
pub fn derive_message(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(message::derive(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a struct whose fields are query data itself query data: what it yields has fields with names.
///
/// Fields are written with `&'static`, or with a lifetime of the struct, which stands for the same. For
/// `struct Mover { .. }` there appear beside it:
/// - `MoverItem<'w>`, what one entity yields, with the fields of the struct;
/// - `MoverChunk<'w>`, what a run of rows yields;
/// - with `mutable` also `MoverReadOnly`, the same data without write access, with `MoverReadOnlyItem<'w>`
///   and `MoverReadOnlyChunk<'w>`: this is what `iter` and `get` yield.
///
/// They and their fields are as visible as the struct, so the types of its fields must be, too.
///
/// | `#[query_data(..)]` | meaning |
/// |---|---|
/// | `mutable` | fields may write; without it a field that writes is an error |
/// | `crate = "path"` | where the library is found; `::phalanx` unless given |
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Position(f32);
/// #[derive(Component)]
/// struct Velocity(f32);
/// #[derive(Component)]
/// struct Health(u32);
///
/// #[derive(QueryData)]
/// #[query_data(mutable)]
/// struct Mover {
///     entity: Entity,
///     position: &'static mut Position,
///     velocity: &'static Velocity,
///     health: Option<&'static Health>,
/// }
///
/// // The names serve functions, too.
/// fn is_alive(mover: &MoverReadOnlyItem<'_>) -> bool {
///     mover.health.is_none_or(|health| health.0 > 0)
/// }
///
/// let mut world = World::new();
/// let id = world.spawn((Position(1.0), Velocity(2.0))).id();
/// for mut mover in world.view_mut::<Mover>() {
///     mover.position.0 += mover.velocity.0;
/// }
/// for mover in world.view_mut::<Mover>().iter() {
///     assert!(is_alive(&mover));
///     assert_eq!((mover.entity, mover.position.0), (id, 3.0));
/// }
/// ```
///
/// Without `mutable` the struct itself only reads, and serves wherever reading is asked for:
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)]
/// # struct Position(f32);
/// #[derive(QueryData)]
/// struct Placed<T: Component> {
///     position: &'static Position,
///     other: Option<&'static T>,
/// }
///
/// # #[derive(Component)]
/// # struct Name(&'static str);
/// let mut world = World::new();
/// world.spawn((Position(1.0), Name("a")));
/// let named = world.view::<Placed<Name>>().iter().filter(|placed| placed.other.is_some()).count();
/// assert_eq!(named, 1);
/// ```
#[proc_macro_derive(QueryData, attributes(query_data))]
pub fn derive_query_data(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(query::data(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a struct whose fields are query filters a filter: it holds where all of them hold.
///
/// `chunks` and exact counts need a filter that decides per archetype; the struct does when all of its
/// fields do. `#[query_filter(crate = "path")]` says where the library is found; `::phalanx` unless given.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Velocity(f32);
/// #[derive(Component)]
/// struct Frozen;
///
/// #[derive(QueryFilter)]
/// struct Movable {
///     _with: With<Velocity>,
///     _not: Without<Frozen>,
/// }
/// #[derive(QueryFilter)]
/// struct Only<T: Component>(With<T>);
///
/// let mut world = World::new();
/// world.spawn(Velocity(1.0));
/// world.spawn((Velocity(2.0), Frozen));
/// assert_eq!(world.view_filtered::<Entity, Movable>().count(), 1);
/// assert_eq!(world.view_filtered::<Entity, Or<(Movable, Only<Frozen>)>>().count(), 2);
/// ```
#[proc_macro_derive(QueryFilter, attributes(query_filter))]
pub fn derive_query_filter(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(query::filter(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a struct stand for one of its fields: `*value`, and the methods of the field.
///
/// A struct with several fields marks one with `#[deref]`.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Deref, DerefMut)]
/// struct Inventory(Vec<u32>);
/// #[derive(Resource, Deref, DerefMut)]
/// struct Scores {
///     #[deref]
///     all: Vec<u32>,
///     best: u32,
/// }
///
/// let mut inventory = Inventory(vec![1]);
/// inventory.push(2);
/// assert_eq!(inventory.len(), 2);
/// # let mut scores = Scores { all: vec![], best: 0 };
/// # scores.push(1);
/// # assert_eq!((scores.len(), scores.best), (1, 0));
/// ```
#[proc_macro_derive(Deref, attributes(deref))]
pub fn derive_deref(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(deref::derive(&parse_macro_input!(input as DeriveInput)))
}

/// As [`macro@Deref`], for writing.
#[proc_macro_derive(DerefMut, attributes(deref))]
pub fn derive_deref_mut(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(deref::derive_mut(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a struct whose fields are system parameters a system parameter.
///
/// Fields are written with lifetimes of the struct, `'w` and `'s` by custom; what a query asks for is `'static`.
/// `#[system_param(crate = "path")]` says where the library is found; `::phalanx` unless given.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Resource)]
/// struct Gravity(f32);
/// #[derive(Component)]
/// struct Speed(f32);
///
/// #[derive(SystemParam)]
/// struct Physics<'w, 's> {
///     gravity: Res<'w, Gravity>,
///     speeds: Query<'w, 's, &'static mut Speed>,
/// }
///
/// fn fall(mut physics: Physics) {
///     for mut speed in &mut physics.speeds {
///         speed.0 -= physics.gravity.0;
///     }
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Gravity(9.0));
/// let e = world.spawn(Speed(10.0)).id();
/// world.run_system_once(fall).unwrap();
/// assert_eq!(world.get::<Speed>(e).unwrap().0, 1.0);
/// ```
#[proc_macro_derive(SystemParam, attributes(system_param))]
pub fn derive_system_param(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(system_param::derive(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type name phases: `app.add_phase_after(Update, Render)`. The type must have `Debug`.
///
/// `#[schedule_label(crate = "path")]` says where the library is found; `::phalanx` unless given.
#[proc_macro_derive(ScheduleLabel, attributes(schedule_label))]
pub fn derive_schedule_label(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(label::schedule_label(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type name apps beside an app: `app.insert_sub_app(Sound, sound)`. The type must have `Debug`.
///
/// `#[app_label(crate = "path")]` says where the library is found; `::phalanx` unless given.
#[proc_macro_derive(AppLabel, attributes(app_label))]
pub fn derive_app_label(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(label::app_label(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type name sets of systems: `movement.in_set(Physics)`. The type must have `Debug`.
///
/// `#[system_set(crate = "path")]` says where the library is found; `::phalanx` unless given.
#[proc_macro_derive(SystemSet, attributes(system_set))]
pub fn derive_system_set(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(label::system_set(&parse_macro_input!(input as DeriveInput)))
}

/// Makes an enum or a struct the values of a state, which an app has once.
///
/// The type also needs `Clone`, `Debug`, `PartialEq`, `Eq` and `Hash`. With `#[states(crate = "path")]` the library may
/// have another name. With `#[states(save, name = "game.Screen", version = 2)]` the state is part of saves: its value, the
/// one before and the one to come; the type then needs `Serialize` and `Deserialize`.
#[proc_macro_derive(States, attributes(states))]
pub fn derive_states(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(states::states(&parse_macro_input!(input as DeriveInput)))
}

/// Makes a type the values of a state that exists while another one has a certain value.
///
/// `#[source(Screen = Screen::Game)]` says which state and which values, as a pattern. The type also needs `Default`, its
/// first value, and what [`macro@States`] needs.
#[proc_macro_derive(SubStates, attributes(source, states))]
pub fn derive_sub_states(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(states::sub_states(&parse_macro_input!(input as DeriveInput)))
}

/// Gives values of a type a digest, made of those of its fields: for types that are fields of components, resources and
/// messages.
///
/// | on a field | meaning |
/// |---|---|
/// | `#[digest(skip)]` | it does not count |
/// | `#[digest(hash)]` | it counts by `Hash` |
/// | `#[digest(debug)]` | it counts by the text that `Debug` writes |
/// | `#[digest(with = "path")]` | the function `path(&field, &mut DigestHasher)` takes it in |
///
/// `#[digest(crate = "path")]` on the type says where the library is found; `::phalanx` unless given.
#[proc_macro_derive(Digestible, attributes(digest))]
pub fn derive_digestible(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    finish(capture::derive_digestible(&parse_macro_input!(input as DeriveInput)))
}

fn finish(tokens: syn::Result<TokenStream>) -> proc_macro::TokenStream {
    tokens.unwrap_or_else(|error| error.to_compile_error()).into()
}
