//! Where a component lives: in its entity's table, or in a sparse set of its own.
//!
//! [`Storage`] is the one place that knows what follows from the choice, as types, so that nothing is
//! decided at run time: what filters read, which part of a bundle goes into the table row, and which part
//! goes into sets. A component chooses with `#[component(storage = "sparse")]`, or
//! `#[component(storage = "sparse", stable)]` for a set that leaves holes instead of moving rows.

use phalanx_store::{
    AnyColId, ColId, Entity, Existing, Fetch, HasCol, HasSet, InSet, Member, NotMember, Read, ReadFetch,
    RowTick, SetFetch, SetId, SetPlan, SetWriter, Store, Tick, Values,
};

use crate::component::{AnyComponent, DeclareSet};
use crate::schema::StorageKind;

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

    /// The kind of set that a component lives in, and how a store learns of it; `None` where it lives in tables. By type,
    /// since the compiler goes through the branches of an `if` for each component.
    #[doc(hidden)]
    fn declaration<C: AnyComponent<Storage = Self>>() -> Option<(StorageKind, DeclareSet)>;
    /// The column ids of [`Storage::With`].
    fn with_ids(key: AnyColId) -> <Self::With as Fetch>::Ids;
    /// The column ids of [`Storage::Without`].
    fn without_ids(key: AnyColId) -> <Self::Without as Fetch>::Ids;
    /// The column ids of [`Storage::Values`].
    fn value_ids<V: Values>(ids: V::Ids) -> <Self::Values<V> as Values>::Ids;
    /// Divides values between table and set.
    fn split<C: AnyComponent<Storage = Self>>(
        values: C::ColumnValues,
    ) -> (Self::Values<C::ColumnValues>, Self::Part<C>);
    /// Puts them together again.
    fn join<C: AnyComponent<Storage = Self>>(
        values: Self::Values<C::ColumnValues>,
        part: Self::Part<C>,
    ) -> C::ColumnValues;
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
    type TickRef = Read<Tick>;
    type Values<V: Values> = V;
    type Part<C: AnyComponent<Storage = Self>> = ();

    fn declaration<C: AnyComponent<Storage = Self>>() -> Option<(StorageKind, DeclareSet)> {
        None
    }
    fn with_ids(_: AnyColId) {}
    fn without_ids(_: AnyColId) {}
    #[inline(always)]
    fn value_ids<V: Values>(ids: V::Ids) -> V::Ids {
        ids
    }
    #[inline(always)]
    fn split<C: AnyComponent<Storage = Self>>(values: C::ColumnValues) -> (C::ColumnValues, ()) {
        (values, ())
    }
    #[inline(always)]
    fn join<C: AnyComponent<Storage = Self>>(values: C::ColumnValues, (): ()) -> C::ColumnValues {
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
            type TickRef = InSet<Read<Tick>>;
            type Values<V: Values> = ();
            type Part<C: AnyComponent<Storage = Self>> = SparsePart<C>;

            fn declaration<C: AnyComponent<Storage = Self>>() -> Option<(StorageKind, DeclareSet)> {
                let kind = if $stable { StorageKind::Stable } else { StorageKind::Sparse };
                Some((kind, declare_set::<C>))
            }
            fn with_ids(key: AnyColId) -> AnyColId {
                key
            }
            fn without_ids(key: AnyColId) -> AnyColId {
                key
            }
            fn value_ids<V: Values>(_: V::Ids) {}
            #[inline(always)]
            fn split<C: AnyComponent<Storage = Self>>(values: C::ColumnValues) -> ((), SparsePart<C>) {
                ((), SparsePart { values })
            }
            #[inline(always)]
            fn join<C: AnyComponent<Storage = Self>>((): (), part: SparsePart<C>) -> C::ColumnValues {
                part.values
            }
        }
        impl SetStorage for $storage {}
    };
}
set_storage!(SparseStorage, stable: false);
set_storage!(StableStorage, stable: true);

/// Declares the set of a component.
fn declare_set<C: AnyComponent>(store: &mut Store, columns: &[AnyColId]) -> (SetId, Option<SetPlan>) {
    let set = if C::Storage::STABLE { store.declare_stable_set(columns) } else { store.declare_set(columns) };
    let plan = store.set_plan::<C::ColumnValues>(set, C::column_ids());
    (set, Some(plan.expect("a component's leaves are its columns")))
}

/// Storage in sparse sets, of either kind.
pub trait SetStorage: Storage {}

/// A sparse component whose values can be had as slices; true for every derived one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not kept in a sparse set",
    label = "needs a component with `storage = \"sparse\"`",
    note = "add `#[component(storage = \"sparse\")]` to `{Self}`"
)]
pub trait SparseComponent: AnyComponent<Storage: SetStorage, Read: SetFetch, Write: SetFetch> {}
#[diagnostic::do_not_recommend]
impl<C: AnyComponent<Storage: SetStorage, Read: SetFetch, Write: SetFetch>> SparseComponent for C {}

/// A sparse component whose rows a group may order.
#[diagnostic::on_unimplemented(
    message = "a group cannot own `{Self}`",
    label = "owned components need `storage = \"sparse\"` without `stable`",
    note = "a group that owns a component moves its rows: rows of tables, and those of stable sets, do not follow it",
    note = "add `#[component(storage = \"sparse\")]` to `{Self}`; a component with `stable` can stand in `Get<..>`"
)]
pub trait OwnableComponent: SparseComponent<Storage: OwnableStorage> {}
#[diagnostic::do_not_recommend]
impl<C: SparseComponent<Storage: OwnableStorage>> OwnableComponent for C {}

/// Storage whose rows a group may order.
#[diagnostic::on_unimplemented(
    message = "a group cannot own a component with `{Self}`",
    label = "owned components need `storage = \"sparse\"` without `stable`",
    note = "a group that owns a component moves its rows, and the rows of a stable set stay where they are",
    note = "name the component in `Get<..>` instead"
)]
pub trait OwnableStorage: SetStorage {}
impl OwnableStorage for SparseStorage {}

/// What has to be checked before values go in and out of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetPolicy {
    /// Nothing: no pool can refuse the component, and it brings nothing along. Groups are handled by the set.
    Open,
    /// Whether the entity's pool allows it, and what has to be added.
    Checked,
}

/// The set of one sparse component, as a world knows it: one line of memory.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct SetEntry {
    pub(crate) plan: SetPlan,
    pub(crate) policy: SetPolicy,
}

impl SetEntry {
    pub(crate) fn new(plan: SetPlan) -> Self {
        Self { plan, policy: SetPolicy::Checked }
    }

    pub(crate) fn set_policy(&mut self, policy: SetPolicy) {
        self.policy = policy;
        self.plan.set_open(policy == SetPolicy::Open);
    }
}

/// The sets of a world, indexed by the first column of their component; plans for nothing elsewhere.
pub type SetEntries = [SetEntry];

/// The parts of a bundle that go into sparse sets: `()`, [`SparsePart`], and tuples of them.
pub trait SparseParts: Sized + 'static {
    /// Whether there is any part at all.
    const ANY: bool;
    /// What is left over of values that were there.
    type Replaced: Send + Sync + 'static;
    /// Inserts every part. Nothing is dropped meanwhile.
    fn insert(self, writer: &mut SetWriter<'_>, sets: &SetEntries, existing: Existing) -> Self::Replaced;
    /// The parts that an entity had: one optional value each.
    type Taken: Send + Sync + 'static;
    /// Takes the parts that the entity has.
    fn take(store: &mut Store, sets: &SetEntries, entity: Entity) -> Self::Taken;
    /// All parts, when none is missing.
    fn complete(taken: Self::Taken) -> Option<Self>;

    /// The columns of the only part.
    type Ids: Copy;
    /// The plan and the columns of the only part, if its set is open; `None` where there are several parts.
    #[inline(always)]
    fn open_plan(_: &SetEntries) -> Option<(&SetPlan, Self::Ids)> {
        None
    }
    /// Inserts the only part.
    ///
    /// # Errors
    /// Gives it back when the entity is dead, or it is not the only one.
    #[inline(always)]
    fn insert_alone(
        self,
        _: &mut Store,
        _: (&SetPlan, Self::Ids),
        _: Entity,
        _: Existing,
    ) -> Result<Self::Replaced, Self> {
        Err(self)
    }
    /// Takes the only part, if the entity has it.
    #[inline(always)]
    fn take_alone(_: &mut Store, _: (&SetPlan, Self::Ids), _: Entity) -> Option<Self> {
        None
    }
}

/// The value of one sparse component.
pub struct SparsePart<C: AnyComponent> {
    values: C::ColumnValues,
}

/// The set of a component, and its columns.
#[inline(always)]
pub(crate) fn entry<C: AnyComponent>(
    sets: &SetEntries,
) -> Option<(&SetEntry, <C::ColumnValues as Values>::Ids)> {
    let ids = C::column_ids();
    // The only column is the first one.
    let entry = sets.get(C::ColumnValues::lone(ids).unwrap_or_else(C::key).index())?;
    Some((entry, ids))
}

/// The plan of a component's set, if that is open, and its columns.
#[inline(always)]
pub(crate) fn open_plan<C: AnyComponent>(
    sets: &SetEntries,
) -> Option<(&SetPlan, <C::ColumnValues as Values>::Ids)> {
    let (entry, ids) = entry::<C>(sets)?;
    let open = match C::ColumnValues::lone(ids) {
        Some(column) => entry.plan.is_open_for(column),
        None => entry.policy == SetPolicy::Open,
    };
    open.then_some((&entry.plan, ids))
}

impl<C: AnyComponent> SparseParts for SparsePart<C> {
    const ANY: bool = true;

    type Replaced = Option<<C::ColumnValues as Values>::Old>;
    #[inline(always)]
    fn insert(self, writer: &mut SetWriter<'_>, sets: &SetEntries, existing: Existing) -> Self::Replaced {
        let (entry, ids) = entry::<C>(sets).expect("a bundle's components are registered");
        writer.insert(&entry.plan, ids, self.values, existing)
    }
    type Taken = Option<Self>;
    #[inline]
    fn take(store: &mut Store, sets: &SetEntries, entity: Entity) -> Option<Self> {
        let (entry, ids) = entry::<C>(sets)?;
        Self::take_alone(store, (&entry.plan, ids), entity)
    }
    fn complete(taken: Option<Self>) -> Option<Self> {
        taken
    }

    type Ids = <C::ColumnValues as Values>::Ids;
    #[inline(always)]
    fn open_plan(sets: &SetEntries) -> Option<(&SetPlan, Self::Ids)> {
        open_plan::<C>(sets)
    }
    #[inline(always)]
    fn insert_alone(
        self,
        store: &mut Store,
        (plan, ids): (&SetPlan, Self::Ids),
        entity: Entity,
        existing: Existing,
    ) -> Result<Self::Replaced, Self> {
        store.set_insert(plan, ids, entity, self.values, existing).map_err(|values| Self { values })
    }
    #[inline(always)]
    fn take_alone(store: &mut Store, (plan, ids): (&SetPlan, Self::Ids), entity: Entity) -> Option<Self> {
        let values = store.set_take(plan, ids, entity)?;
        Some(Self { values })
    }
}

/// Parts that an optional component of a pool brings.
impl<P: SparseParts> SparseParts for Option<P> {
    const ANY: bool = P::ANY;

    type Replaced = Option<P::Replaced>;
    #[inline]
    fn insert(self, writer: &mut SetWriter<'_>, sets: &SetEntries, existing: Existing) -> Self::Replaced {
        self.map(|parts| parts.insert(writer, sets, existing))
    }
    type Taken = P::Taken;
    fn take(store: &mut Store, sets: &SetEntries, entity: Entity) -> P::Taken {
        P::take(store, sets, entity)
    }
    fn complete(taken: P::Taken) -> Option<Self> {
        Some(P::complete(taken))
    }
    type Ids = ();
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
                writer: &mut SetWriter<'_>,
                sets: &SetEntries,
                existing: Existing,
            ) -> Self::Replaced {
                ($(self.$at.insert(writer, sets, existing),)*)
            }
            type Taken = ($($name::Taken,)*);
            #[inline(always)]
            fn take(store: &mut Store, sets: &SetEntries, entity: Entity) -> Self::Taken {
                ($($name::take(store, sets, entity),)*)
            }
            fn complete(taken: Self::Taken) -> Option<Self> {
                Some(($($name::complete(taken.$at)?,)*))
            }
            type Ids = ();
        }
    };
}
phalanx_store::for_each_tuple!(parts_tuple);
