//! Where a component lives: in its entity's table, or in a sparse set of its own.
//!
//! [`Storage`] is the one place that knows what follows from the choice, as types, so that nothing is
//! decided at run time: what filters read, which part of a bundle goes into the table row, and which part
//! goes into sets. A component chooses with `#[component(storage = "sparse")]`, or
//! `#[component(storage = "sparse", stable)]` for a set that leaves holes instead of moving rows.

use std::convert::Infallible;

use phalanx_store::{
    AnyColId, ColId, Entity, Existing, Fetch, HasCol, HasSet, InSet, Member, NotMember, R, ReadFetch,
    RowTick, SetDoor, SetId, SetPlan, Store, Tick, Values,
};

use crate::component::AnyComponent;

mod sealed {
    pub trait Sealed {}
}

/// A kind of storage: [`TableStorage`], [`SparseStorage`] or [`StableStorage`].
pub trait Storage: sealed::Sealed + Sized + 'static {
    /// Whether components live in sparse sets.
    const SPARSE: bool;
    /// Whether rows of its sets stay where they are when others go.
    const STABLE: bool;
    /// What `With` reads per row.
    type With: ReadFetch;
    /// What `Without` reads per row.
    type Without: ReadFetch;
    /// What tells per row whether a component is there.
    type Has: ReadFetch<Ids = AnyColId> + for<'a> Fetch<Item<'a> = bool, Slices<'a> = bool>;
    /// What copies a tick per row.
    type Tick: ReadFetch<Ids = ColId<Tick>> + for<'a> Fetch<Item<'a> = Tick>;
    /// What reads a tick per row.
    type TickRef: ReadFetch<Ids = ColId<Tick>> + for<'a> Fetch<Item<'a> = &'a Tick, Slices<'a> = &'a [Tick]>;
    /// The part of a component's values that goes into the table row.
    type Values<V: Values>: Values;
    /// The part of a component's values that goes into a set.
    type Part<C: AnyComponent<Storage = Self>>: SparseParts;

    /// The column ids of [`Storage::With`].
    fn with_ids(key: AnyColId) -> <Self::With as Fetch>::Ids;
    /// The column ids of [`Storage::Without`].
    fn without_ids(key: AnyColId) -> <Self::Without as Fetch>::Ids;
    /// The column ids of [`Storage::Values`].
    fn value_ids<V: Values>(ids: V::Ids) -> <Self::Values<V> as Values>::Ids;
    /// Divides values between table and set.
    fn split<C: AnyComponent<Storage = Self>>(leaves: C::Leaves) -> (Self::Values<C::Leaves>, Self::Part<C>);
    /// Puts them together again.
    fn join<C: AnyComponent<Storage = Self>>(
        values: Self::Values<C::Leaves>,
        part: Self::Part<C>,
    ) -> C::Leaves;
}

/// Components in the table of their entity: fast to iterate in any combination.
pub enum TableStorage {}
/// Components in a sparse set: cheap to add and remove, nothing moves and no archetype comes of it.
pub enum SparseStorage {}
/// Components in a sparse set whose rows stay where they are when others go, until the set is compacted.
pub enum StableStorage {}

impl sealed::Sealed for TableStorage {}
impl Storage for TableStorage {
    const SPARSE: bool = false;
    const STABLE: bool = false;
    type With = ();
    type Without = ();
    type Has = HasCol;
    type Tick = RowTick;
    type TickRef = R<Tick>;
    type Values<V: Values> = V;
    type Part<C: AnyComponent<Storage = Self>> = ();

    fn with_ids(_: AnyColId) {}
    fn without_ids(_: AnyColId) {}
    #[inline(always)]
    fn value_ids<V: Values>(ids: V::Ids) -> V::Ids {
        ids
    }
    #[inline(always)]
    fn split<C: AnyComponent<Storage = Self>>(leaves: C::Leaves) -> (C::Leaves, ()) {
        (leaves, ())
    }
    #[inline(always)]
    fn join<C: AnyComponent<Storage = Self>>(values: C::Leaves, (): ()) -> C::Leaves {
        values
    }
}

macro_rules! set_storage {
    ($storage:ident, stable: $stable:expr) => {
        impl sealed::Sealed for $storage {}
        impl Storage for $storage {
            const SPARSE: bool = true;
            const STABLE: bool = $stable;
            type With = Member;
            type Without = NotMember;
            type Has = HasSet;
            type Tick = InSet<RowTick>;
            type TickRef = InSet<R<Tick>>;
            type Values<V: Values> = ();
            type Part<C: AnyComponent<Storage = Self>> = SparsePart<C>;

            fn with_ids(key: AnyColId) -> AnyColId {
                key
            }
            fn without_ids(key: AnyColId) -> AnyColId {
                key
            }
            fn value_ids<V: Values>(_: V::Ids) {}
            #[inline(always)]
            fn split<C: AnyComponent<Storage = Self>>(leaves: C::Leaves) -> ((), SparsePart<C>) {
                ((), SparsePart { leaves })
            }
            #[inline(always)]
            fn join<C: AnyComponent<Storage = Self>>((): (), part: SparsePart<C>) -> C::Leaves {
                part.leaves
            }
        }
        impl SetStorage for $storage {}
    };
}
set_storage!(SparseStorage, stable: false);
set_storage!(StableStorage, stable: true);

/// Storage in sparse sets, of either kind.
pub trait SetStorage: Storage {}

/// Storage whose rows a group may order.
#[diagnostic::on_unimplemented(
    message = "a group cannot own a component with `{Self}`",
    label = "owned components need `storage = \"sparse\"` without `stable`",
    note = "a group that owns a component moves its rows, and the rows of a stable set stay where they are",
    note = "name the component in `Get<..>` instead"
)]
pub trait OwnableStorage: SetStorage {}
impl OwnableStorage for SparseStorage {}

/// The plans of a world's sets, indexed by the first column of their component; closed ones elsewhere.
pub type Plans = [SetPlan];

/// The parts of a bundle that go into sparse sets: `()`, [`SparsePart`], and tuples of them.
pub trait SparseParts: Sized + 'static {
    /// Whether there is any part at all.
    const ANY: bool;
    /// What is left over of values that were there.
    type Replaced: Send + Sync + 'static;
    /// Inserts every part; the entity must be alive. Nothing is dropped meanwhile.
    fn insert(self, store: &mut Store, plans: &Plans, entity: Entity, existing: Existing) -> Self::Replaced;
    /// The parts that an entity had: one optional value each.
    type Taken: Send + Sync + 'static;
    /// Takes the parts that the entity has.
    fn take(store: &mut Store, plans: &Plans, entity: Entity) -> Self::Taken;
    /// All parts, when none is missing.
    fn complete(taken: Self::Taken) -> Option<Self>;

    /// The way in and out of the set of the only part; nobody's where there are several.
    type Door<'p>: Copy;
    /// The set to which it leads.
    fn set(door: Self::Door<'_>) -> SetId;
    /// The way, if it is among these.
    fn door(plans: &Plans) -> Option<Self::Door<'_>>;
    /// Inserts the only part.
    ///
    /// # Errors
    /// Gives it back when the entity is dead.
    fn insert_at(
        self,
        store: &mut Store,
        door: Self::Door<'_>,
        entity: Entity,
        existing: Existing,
    ) -> Result<Self::Replaced, Self>;
    /// Whether the only part had nothing to replace.
    fn is_new(replaced: &Self::Replaced) -> bool;
    /// Takes the only part, if the entity has it.
    fn take_at(store: &mut Store, door: Self::Door<'_>, entity: Entity) -> Option<Self>;
}

/// As the methods of [`SparseParts`] about its only part, where there is none.
macro_rules! no_door {
    () => {
        type Door<'p> = Infallible;
        #[inline(always)]
        fn set(door: Infallible) -> SetId {
            match door {}
        }
        #[inline(always)]
        fn door(_: &Plans) -> Option<Infallible> {
            None
        }
        #[inline(always)]
        fn insert_at(
            self,
            _: &mut Store,
            door: Infallible,
            _: Entity,
            _: Existing,
        ) -> Result<Self::Replaced, Self> {
            match door {}
        }
        #[inline(always)]
        fn is_new(_: &Self::Replaced) -> bool {
            false
        }
        #[inline(always)]
        fn take_at(_: &mut Store, door: Infallible, _: Entity) -> Option<Self> {
            match door {}
        }
    };
}

/// The value of one sparse component.
pub struct SparsePart<C: AnyComponent> {
    leaves: C::Leaves,
}

#[inline(always)]
fn door<C: AnyComponent>(plans: &Plans) -> Option<&SetDoor<C::Leaves>> {
    let ids = C::leaf_ids();
    // The only column is the first one, and asked for its number once.
    let key = C::Leaves::lone(ids).unwrap_or_else(C::key);
    plans.get(key.index())?.door(ids)
}

impl<C: AnyComponent> SparseParts for SparsePart<C> {
    const ANY: bool = true;

    type Replaced = Option<<C::Leaves as Values>::Old>;
    #[inline]
    fn insert(self, store: &mut Store, plans: &Plans, entity: Entity, existing: Existing) -> Self::Replaced {
        let door = door::<C>(plans).expect("a bundle's components are registered");
        // Dead entities were sorted out before; for one that died since, the value is dropped.
        store.door_replace(door, entity, self.leaves, existing).ok().flatten()
    }
    type Taken = Option<Self>;
    #[inline]
    fn take(store: &mut Store, plans: &Plans, entity: Entity) -> Option<Self> {
        Self::take_at(store, door::<C>(plans)?, entity)
    }
    fn complete(taken: Option<Self>) -> Option<Self> {
        taken
    }

    type Door<'p> = &'p SetDoor<C::Leaves>;
    #[inline(always)]
    fn set(door: Self::Door<'_>) -> SetId {
        door.set()
    }
    #[inline(always)]
    fn door(plans: &Plans) -> Option<Self::Door<'_>> {
        door::<C>(plans)
    }
    #[inline(always)]
    fn insert_at(
        self,
        store: &mut Store,
        door: Self::Door<'_>,
        entity: Entity,
        existing: Existing,
    ) -> Result<Self::Replaced, Self> {
        match store.door_replace(door, entity, self.leaves, existing) {
            Ok(old) => Ok(old),
            Err(leaves) => Err(Self { leaves }),
        }
    }
    #[inline(always)]
    fn is_new(replaced: &Self::Replaced) -> bool {
        replaced.is_none()
    }
    #[inline(always)]
    fn take_at(store: &mut Store, door: Self::Door<'_>, entity: Entity) -> Option<Self> {
        let leaves = store.door_take(door, entity)?;
        Some(Self { leaves })
    }
}

/// Parts that an optional component of a pool brings.
impl<P: SparseParts> SparseParts for Option<P> {
    const ANY: bool = P::ANY;

    type Replaced = Option<P::Replaced>;
    #[inline]
    fn insert(self, store: &mut Store, plans: &Plans, entity: Entity, existing: Existing) -> Self::Replaced {
        self.map(|parts| parts.insert(store, plans, entity, existing))
    }
    type Taken = P::Taken;
    fn take(store: &mut Store, plans: &Plans, entity: Entity) -> P::Taken {
        P::take(store, plans, entity)
    }
    fn complete(taken: P::Taken) -> Option<Self> {
        Some(P::complete(taken))
    }
    no_door!();
}

macro_rules! parts_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: SparseParts),*> SparseParts for ($($name,)*) {
            const ANY: bool = false $(|| $name::ANY)*;

            type Replaced = ($($name::Replaced,)*);
            #[inline(always)]
            fn insert(
                self,
                store: &mut Store,
                plans: &Plans,
                entity: Entity,
                existing: Existing,
            ) -> Self::Replaced {
                ($(self.$at.insert(store, plans, entity, existing),)*)
            }
            type Taken = ($($name::Taken,)*);
            #[inline(always)]
            fn take(store: &mut Store, plans: &Plans, entity: Entity) -> Self::Taken {
                ($($name::take(store, plans, entity),)*)
            }
            fn complete(taken: Self::Taken) -> Option<Self> {
                Some(($($name::complete(taken.$at)?,)*))
            }
            no_door!();
        }
    };
}
phalanx_store::for_each_tuple!(parts_tuple);
