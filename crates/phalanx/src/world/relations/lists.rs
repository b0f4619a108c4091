//! Bundles that spawn other entities: `children![..]`, `related!(..)` and what they are made of.
//!
//! A list of entities to spawn travels with its bundle as a component of its own, [`Pending`], which lives no longer
//! than the change that brought it: its hook has the list spawned when the entity is in its place. So lists work on
//! every path on which a bundle can come: spawning, inserting, batches, commands.

use std::marker::PhantomData;

use phalanx_derive::Component;
use phalanx_store::{Entity, Tick, Values};

use super::RelatedSpawner;
use crate::bundle::{Bundle, BundleKey};
use crate::registry::{ComponentId, Components, RegisterError};
use crate::relation::{Relationship, RelationshipTarget};
use crate::world::{DeferredWorld, HookContext, World};

/// Entities that can be spawned pointing at one entity.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of entities to spawn",
    note = "write `Spawn(bundle)`, `SpawnIter(iterator)`, `SpawnWith(|spawner| ..)`, a vector of bundles, or a tuple of lists"
)]
pub trait SpawnableList<R: Relationship>: Sized {
    /// Spawns all of them.
    fn spawn(self, world: &mut World, target: Entity);
    /// How many there are at least.
    fn size_hint(&self) -> usize;
}

/// Spawns one entity with a bundle.
pub struct Spawn<B: Bundle>(pub B);

impl<R: Relationship, B: Bundle> SpawnableList<R> for Spawn<B> {
    fn spawn(self, world: &mut World, target: Entity) {
        world.spawn((R::from(target), self.0));
    }
    fn size_hint(&self) -> usize {
        1
    }
}

impl<R: Relationship, B: Bundle> SpawnableList<R> for Vec<B> {
    fn spawn(self, world: &mut World, target: Entity) {
        world.spawn_batch(self.into_iter().map(|bundle| (R::from(target), bundle)));
    }
    fn size_hint(&self) -> usize {
        self.len()
    }
}

/// Spawns an entity per bundle of an iterator.
pub struct SpawnIter<I>(pub I);

impl<R: Relationship, B: Bundle, I: Iterator<Item = B> + Send + Sync + 'static> SpawnableList<R>
    for SpawnIter<I>
{
    fn spawn(self, world: &mut World, target: Entity) {
        for bundle in self.0 {
            world.spawn((R::from(target), bundle));
        }
    }
    fn size_hint(&self) -> usize {
        self.0.size_hint().0
    }
}

/// Lets a function spawn entities.
pub struct SpawnWith<F>(pub F);

impl<R: Relationship, F> SpawnableList<R> for SpawnWith<F>
where
    F: FnOnce(&mut RelatedSpawner<'_, R>) + Send + Sync + 'static,
{
    fn spawn(self, world: &mut World, target: Entity) {
        (self.0)(&mut RelatedSpawner::new(world, target));
    }
    fn size_hint(&self) -> usize {
        1
    }
}

/// Makes entities that exist already point at the new one.
pub struct WithRelated<I>(pub I);

impl<I: Iterator<Item = Entity>> WithRelated<I> {
    /// From anything that can be iterated.
    pub fn new(entities: impl IntoIterator<IntoIter = I>) -> Self {
        Self(entities.into_iter())
    }
}

impl<R: Relationship, I: Iterator<Item = Entity>> SpawnableList<R> for WithRelated<I> {
    fn spawn(self, world: &mut World, target: Entity) {
        let related: Vec<Entity> = self.0.collect();
        world.entity_mut(target).add_related::<R>(&related);
    }
    fn size_hint(&self) -> usize {
        self.0.size_hint().0
    }
}

/// Makes an entity that exists already point at the new one.
pub struct WithOneRelated(pub Entity);

impl<R: Relationship> SpawnableList<R> for WithOneRelated {
    fn spawn(self, world: &mut World, target: Entity) {
        world.entity_mut(target).add_one_related::<R>(self.0);
    }
    fn size_hint(&self) -> usize {
        1
    }
}

macro_rules! list_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables)]
        impl<R: Relationship, $($name: SpawnableList<R>),*> SpawnableList<R> for ($($name,)*) {
            fn spawn(self, world: &mut World, target: Entity) {
                $(self.$at.spawn(world, target);)*
            }
            fn size_hint(&self) -> usize {
                0 $(+ self.$at.size_hint())*
            }
        }
    };
}
phalanx_store::for_each_tuple!(list_tuple);

type SpawnList = Box<dyn FnOnce(&mut World, Entity) + Send + Sync>;

/// Entities to be spawned when the entity that brings them is in its place.
#[derive(Component)]
#[component(storage = "sparse", track = "none", checkpoint = "skip", on_insert = spawn_pending::<R>)]
pub struct Pending<R: Relationship> {
    spawn: SpawnList,
    relation: PhantomData<fn() -> R>,
}

/// A bundle that spawns entities which point at the entity it comes to. Made by `children![..]`, `related!(..)` and
/// [`SpawnRelated::spawn`].
pub struct SpawnRelatedBundle<R: Relationship, L> {
    list: Listed<R, L>,
}

enum Listed<R: Relationship, L> {
    Given(L),
    /// Given back by a world, which cannot tell what it is.
    Taken(Pending<R>),
}

impl<R: Relationship, L: SpawnableList<R> + Send + Sync + 'static> Bundle for SpawnRelatedBundle<R, L> {
    type Values = <Pending<R> as Bundle>::Values;
    type Sparse = <Pending<R> as Bundle>::Sparse;
    const SPAWNS: bool = true;

    fn bundle_key() -> BundleKey {
        Pending::<R>::bundle_key()
    }
    fn register(components: &mut Components, ids: &mut Vec<ComponentId>) -> Result<(), RegisterError> {
        Pending::<R>::register(components, ids)
    }
    fn value_ids() -> <Self::Values as Values>::Ids {}
    fn into_values(self, now: Tick) -> (Self::Values, Self::Sparse) {
        let pending = match self.list {
            Listed::Given(list) => Pending {
                spawn: Box::new(move |world, target| list.spawn(world, target)),
                relation: PhantomData,
            },
            Listed::Taken(pending) => pending,
        };
        pending.into_values(now)
    }
    fn from_values(values: Self::Values, sparse: Self::Sparse) -> Self {
        Self { list: Listed::Taken(Pending::from_values(values, sparse)) }
    }
}

/// Makes bundles that spawn related entities: `Children::spawn((Spawn(A), Spawn(B)))`.
///
/// ```
/// use phalanx::prelude::*;
///
/// let mut world = World::new();
/// let ship = world.spawn(Children::spawn((Spawn(Name::new("engine")), Spawn(Name::new("sail"))))).id();
/// assert_eq!(world.get::<Children>(ship).unwrap().len(), 2);
/// ```
pub trait SpawnRelated: RelationshipTarget {
    /// A bundle that spawns the entities of a list.
    fn spawn<L: SpawnableList<Self::Relationship>>(list: L) -> SpawnRelatedBundle<Self::Relationship, L> {
        SpawnRelatedBundle { list: Listed::Given(list) }
    }
    /// A bundle that spawns one entity.
    fn spawn_one<B: Bundle>(bundle: B) -> SpawnRelatedBundle<Self::Relationship, Spawn<B>> {
        SpawnRelatedBundle { list: Listed::Given(Spawn(bundle)) }
    }
}

impl<S: RelationshipTarget> SpawnRelated for S {}

/// The hook of [`Pending`].
fn spawn_pending<R: Relationship>(mut world: DeferredWorld<'_>, context: HookContext) {
    let entity = context.entity;
    world.commands().queue(move |world: &mut World| {
        if let Some(pending) = world.take::<Pending<R>>(entity) {
            (pending.spawn)(world, entity);
        }
    });
}

/// A bundle that spawns children of the entity it comes to, one per argument.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Engine;
///
/// let mut world = World::new();
/// let ship = world.spawn((Name::new("ship"), children![(Engine, Name::new("engine")), Name::new("sail")])).id();
/// assert_eq!(world.get::<Children>(ship).unwrap().len(), 2);
/// ```
#[macro_export]
macro_rules! children {
    [$($child:expr),* $(,)?] => {
        $crate::related!($crate::relation::Children [$($child),*])
    };
}

/// A bundle that spawns entities which point at the entity it comes to, one per argument:
/// `related!(Crew [Name::new("cook"), Name::new("captain")])`.
#[macro_export]
macro_rules! related {
    ($target:ty [$($source:expr),* $(,)?]) => {
        <$target as $crate::world::SpawnRelated>::spawn($crate::__spawn_list!($($source),*))
    };
}

/// Nests what is to be spawned, so that there may be more than a tuple has.
#[doc(hidden)]
#[macro_export]
macro_rules! __spawn_list {
    () => { () };
    ($a:expr) => { $crate::world::Spawn($a) };
    ($a:expr, $b:expr) => { ($crate::world::Spawn($a), $crate::world::Spawn($b)) };
    ($a:expr, $b:expr, $c:expr) => {
        ($crate::world::Spawn($a), $crate::world::Spawn($b), $crate::world::Spawn($c))
    };
    ($a:expr, $b:expr, $c:expr, $d:expr) => {
        (
            $crate::world::Spawn($a),
            $crate::world::Spawn($b),
            $crate::world::Spawn($c),
            $crate::world::Spawn($d),
        )
    };
    ($a:expr, $b:expr, $c:expr, $d:expr, $($rest:expr),+) => {
        (
            $crate::world::Spawn($a),
            $crate::world::Spawn($b),
            $crate::world::Spawn($c),
            $crate::world::Spawn($d),
            $crate::__spawn_list!($($rest),+),
        )
    };
}
