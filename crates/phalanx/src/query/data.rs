//! What a query yields: the data half of `Query<D, F>`.
//!
//! [`QueryData`] maps what the user writes (`(&mut Position, Option<&Health>)`) to the store's fetch and
//! wraps the items. Everything here inlines away; the loops are the store's.

use std::any::type_name;

use phalanx_store::{Access, AnyColId, Entity, EntityIds, Fetch, Opt, ReadFetch, Tick};

use super::condition::Condition;
use super::moment::Moment;
use crate::component::{AnyComponent, Component, Queryable, RowTracked};
use crate::storage::Storage;
use crate::tracking::{Mut, Ref};

/// Something a query can yield per entity.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health(f32);
/// #[derive(Component)]
/// struct Armour(f32);
///
/// #[derive(QueryData)]
/// struct Toughness {
///     health: &'static Health,
///     armour: Option<&'static Armour>,
/// }
///
/// let mut world = World::new();
/// world.spawn((Health(2.0), Armour(1.0)));
/// for one in world.view::<Toughness>() {
///     assert_eq!(one.health.0 + one.armour.map_or(0.0, |armour| armour.0), 3.0);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be asked for in a query",
    label = "not query data",
    note = "query data are `Entity`, `EntityRef`, `EntityMut`, `&Archetype`, `&T`, `&mut T`, `Option<..>`, `Has<T>`, `Ref<T>`, `Mut<T>`, `AnyOf<(..)>`, tuples of them and `#[derive(QueryData)]` structs",
    note = "components are named by reference: write `&{Self}` or `&mut {Self}`; filters stand second, as in `Query<Entity, With<T>>`",
    note = "a tuple has at most 15 parts: nest tuples for more, as in `((&A, &B), (&C, &D))`"
)]
pub trait QueryData {
    /// The columns visited.
    type Fetch: Fetch;
    /// The same data without write access.
    type ReadOnly: ReadOnlyQueryData<Fetch = <Self::Fetch as Fetch>::ReadOnly>;
    /// What one entity yields.
    type Item<'w>;
    /// What a run of rows of one table yields.
    type Chunk<'w>;

    /// The column ids of [`QueryData::Fetch`].
    fn ids() -> <Self::Fetch as Fetch>::Ids;
    /// What an entity must have.
    fn condition() -> Condition;
    /// How each term is written, with the number of columns it uses.
    fn terms(out: &mut Vec<Term>);
    /// Wraps a row. `since` is the moment after which changes count as new.
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w>;
    /// Wraps a run of rows.
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w>;
}

/// [`QueryData`] that writes nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not data that a query can read without writing",
    label = "not data to be read",
    note = "to read, ask for `&T` instead of `&mut T`; to write, use `view_mut` or `iter_mut`",
    note = "components are named by reference, and have `#[derive(Component)]`"
)]
pub trait ReadOnlyQueryData: QueryData<Fetch: ReadFetch, ReadOnly = Self> {}

/// One term of a query, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The term's text.
    pub text: String,
    /// How many column uses it stands for.
    pub columns: usize,
    /// Whether it reads whatever an entity has.
    pub whole: bool,
}

impl Term {
    /// Adds a term that names a component by its type, `before` and `after` it.
    fn add(out: &mut Vec<Self>, before: &str, type_name: &'static str, after: &str, columns: usize) {
        let name = last_part(type_name);
        out.push(Self { text: format!("{before}{name}{after}"), columns, whole: false });
    }
}

/// How many columns a fetch uses.
pub(crate) fn columns_of<F: Fetch>(ids: F::Ids) -> usize {
    let mut columns = 0;
    F::visit(ids, &mut counting(&mut columns));
    columns
}

/// A closure that is compiled once, since it stands in no generic function.
fn counting(columns: &mut usize) -> impl FnMut(Access) {
    |_| *columns += 1
}

/// The terms of all parts of a tuple: no code is compiled for each tuple.
fn terms_of_all(parts: &[fn(&mut Vec<Term>)], out: &mut Vec<Term>) {
    parts.iter().for_each(|terms| terms(out));
}

/// The data of a query, as they were written.
pub(crate) fn written<D: QueryData>() -> String {
    let mut terms = Vec::new();
    D::terms(&mut terms);
    terms.into_iter().map(|term| term.text).collect::<Vec<_>>().join(", ")
}

/// That an entity has the component with this first column.
fn having(sparse: bool, key: AnyColId, type_name: &'static str) -> Condition {
    let name = last_part(type_name);
    if sparse { Condition::InSet(key, name) } else { Condition::With(key, name) }
}

/// The last part of a type's path.
pub(crate) fn short_name<T>() -> &'static str {
    last_part(type_name::<T>())
}

fn last_part(name: &'static str) -> &'static str {
    let end = name.find('<').unwrap_or(name.len());
    let start = name[..end].rfind("::").map_or(0, |at| at + 2);
    // A field marker is only understood with its module.
    match name[..start.saturating_sub(2)].rfind("::") {
        Some(module) if name[start..].starts_with(|first: char| first.is_lowercase() || first == '_') => {
            &name[module + 2..]
        }
        _ => &name[start..],
    }
}

impl QueryData for Entity {
    type Fetch = EntityIds;
    type ReadOnly = Self;
    type Item<'w> = Entity;
    type Chunk<'w> = &'w [Entity];

    fn ids() {}
    fn condition() -> Condition {
        Condition::always()
    }
    fn terms(out: &mut Vec<Term>) {
        out.push(Term { text: "Entity".to_owned(), columns: 0, whole: false });
    }
    #[inline(always)]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, _: Moment<'w>) -> Self::Item<'w> {
        row
    }
    #[inline(always)]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        rows
    }
}
impl ReadOnlyQueryData for Entity {}

impl<'t, T: Queryable> QueryData for &'t T {
    type Fetch = T::Read;
    type ReadOnly = &'t T;
    type Item<'w> = T::Ref<'w>;
    type Chunk<'w> = T::Slice<'w>;

    fn ids() -> <Self::Fetch as Fetch>::Ids {
        T::ids()
    }
    fn condition() -> Condition {
        having(<T::Owner as AnyComponent>::Storage::SPARSE, T::Owner::key(), type_name::<T::Owner>())
    }
    fn terms(out: &mut Vec<Term>) {
        Term::add(out, "&", type_name::<T>(), "", columns_of::<T::Read>(T::ids()));
    }
    #[inline(always)]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, _: Moment<'w>) -> Self::Item<'w> {
        T::wrap_ref(row)
    }
    #[inline(always)]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        T::wrap_slice(rows)
    }
}
impl<T: Queryable> ReadOnlyQueryData for &T {}

impl<'t, T: Queryable> QueryData for &'t mut T {
    type Fetch = T::Write;
    type ReadOnly = &'t T;
    type Item<'w> = T::Mut<'w>;
    type Chunk<'w> = T::SliceMut<'w>;

    fn ids() -> <Self::Fetch as Fetch>::Ids {
        T::ids()
    }
    fn condition() -> Condition {
        <&T as QueryData>::condition()
    }
    fn terms(out: &mut Vec<Term>) {
        Term::add(out, "&mut ", type_name::<T>(), "", columns_of::<T::Write>(T::ids()));
    }
    #[inline(always)]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
        T::wrap_mut(row, since.tick)
    }
    #[inline(always)]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        T::wrap_slice_mut(rows)
    }
}

/// The same as `&mut T`, by the name of what it yields.
impl<'t, T: Component> QueryData for Mut<'t, T> {
    type Fetch = T::Write;
    type ReadOnly = &'t T;
    type Item<'w> = Mut<'w, T>;
    type Chunk<'w> = &'w mut [T];

    fn ids() -> <Self::Fetch as Fetch>::Ids {
        T::ids()
    }
    fn condition() -> Condition {
        <&T as QueryData>::condition()
    }
    fn terms(out: &mut Vec<Term>) {
        Term::add(out, "Mut<", type_name::<T>(), ">", columns_of::<T::Write>(T::ids()));
    }
    #[inline(always)]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
        T::wrap_mut(row, since.tick)
    }
    #[inline(always)]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        T::wrap_slice_mut(rows)
    }
}

impl<D: QueryData> QueryData for Option<D> {
    type Fetch = Opt<D::Fetch>;
    type ReadOnly = Option<D::ReadOnly>;
    type Item<'w> = Option<D::Item<'w>>;
    type Chunk<'w> = Option<D::Chunk<'w>>;

    fn ids() -> <Self::Fetch as Fetch>::Ids {
        D::ids()
    }
    fn condition() -> Condition {
        Condition::always()
    }
    fn terms(out: &mut Vec<Term>) {
        let before = out.len();
        D::terms(out);
        for term in &mut out[before..] {
            term.text = format!("Option<{}>", term.text);
        }
    }
    #[inline(always)]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
        row.map(|row| D::item(row, since))
    }
    #[inline(always)]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        rows.map(D::chunk)
    }
}
impl<D: ReadOnlyQueryData> ReadOnlyQueryData for Option<D> {}

/// Yields whether the entity has a component.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Frozen;
/// # #[derive(Component)] struct Health(f32);
/// let mut world = World::new();
/// world.spawn((Health(1.0), Frozen));
/// for (health, frozen) in world.view::<(&Health, Has<Frozen>)>() {
///     println!("{} {}", health.0, if frozen { "frozen" } else { "" });
/// }
/// ```
pub struct Has<T>(std::marker::PhantomData<fn() -> T>);

impl<T: AnyComponent> QueryData for Has<T> {
    type Fetch = <T::Storage as Storage>::Has;
    type ReadOnly = Self;
    type Item<'w> = bool;
    type Chunk<'w> = bool;

    fn ids() -> <Self::Fetch as Fetch>::Ids {
        T::key()
    }
    fn condition() -> Condition {
        if T::Storage::SPARSE {
            return Condition::always();
        }
        Condition::Allow(T::key(), short_name::<T>())
    }
    fn terms(out: &mut Vec<Term>) {
        Term::add(out, "Has<", type_name::<T>(), ">", 0);
    }
    #[inline(always)]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, _: Moment<'w>) -> Self::Item<'w> {
        row
    }
    #[inline(always)]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        rows
    }
}
impl<T: AnyComponent> ReadOnlyQueryData for Has<T> {}

impl<'t, T: RowTracked> QueryData for Ref<'t, T> {
    type Fetch = (T::Read, <T::Storage as Storage>::TickRef, <T::Storage as Storage>::TickRef);
    type ReadOnly = Self;
    type Item<'w> = Ref<'w, T>;
    type Chunk<'w> = (T::Slice<'w>, &'w [Tick], &'w [Tick]);

    fn ids() -> <Self::Fetch as Fetch>::Ids {
        (T::ids(), T::added_id(), T::changed_id())
    }
    fn condition() -> Condition {
        <&T as QueryData>::condition()
    }
    fn terms(out: &mut Vec<Term>) {
        Term::add(out, "Ref<", type_name::<T>(), ">", columns_of::<Self::Fetch>(Self::ids()));
    }
    #[inline(always)]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
        let (value, added, changed) = row;
        Ref::new(T::wrap_ref(value), *added, *changed, since.tick)
    }
    #[inline(always)]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        let (values, added, changed) = rows;
        (T::wrap_slice(values), added, changed)
    }
}
impl<T: RowTracked> ReadOnlyQueryData for Ref<'_, T> {}

macro_rules! data_tuple {
    ($(($name:ident $at:tt))*) => {
        #[allow(unused_variables, clippy::unused_unit)]
        impl<$($name: QueryData),*> QueryData for ($($name,)*) {
            type Fetch = ($($name::Fetch,)*);
            type ReadOnly = ($($name::ReadOnly,)*);
            type Item<'w> = ($($name::Item<'w>,)*);
            type Chunk<'w> = ($($name::Chunk<'w>,)*);

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                ($($name::ids(),)*)
            }
            fn condition() -> Condition {
                Condition::all_of(&[$($name::condition),*])
            }
            fn terms(out: &mut Vec<Term>) {
                terms_of_all(&[$($name::terms),*], out);
            }
            #[inline(always)]
            fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
                ($($name::item(row.$at, since),)*)
            }
            #[inline(always)]
            fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
                ($($name::chunk(rows.$at),)*)
            }
        }
        impl<$($name: ReadOnlyQueryData),*> ReadOnlyQueryData for ($($name,)*) {}
    };
}
phalanx_store::for_each_tuple!(data_tuple);

macro_rules! long_data_tuple {
    ([$(($first:ident $at:tt))*] [$(($second:ident $then:tt))*]) => {
        impl<$($first: QueryData,)* $($second: QueryData),*> QueryData for ($($first,)* $($second,)*) {
            type Fetch = (($($first::Fetch,)*), ($($second::Fetch,)*));
            type ReadOnly = ($($first::ReadOnly,)* $($second::ReadOnly,)*);
            type Item<'w> = ($($first::Item<'w>,)* $($second::Item<'w>,)*);
            type Chunk<'w> = ($($first::Chunk<'w>,)* $($second::Chunk<'w>,)*);

            fn ids() -> <Self::Fetch as Fetch>::Ids {
                <(($($first,)*), ($($second,)*))>::ids()
            }
            fn condition() -> Condition {
                <(($($first,)*), ($($second,)*))>::condition()
            }
            fn terms(out: &mut Vec<Term>) {
                <(($($first,)*), ($($second,)*))>::terms(out);
            }
            #[inline(always)]
            fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
                let (first, second) = row;
                ($($first::item(first.$at, since),)* $($second::item(second.$then, since),)*)
            }
            #[inline(always)]
            fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
                let (first, second) = rows;
                ($($first::chunk(first.$at),)* $($second::chunk(second.$then),)*)
            }
        }
        impl<$($first: ReadOnlyQueryData,)* $($second: ReadOnlyQueryData),*> ReadOnlyQueryData
            for ($($first,)* $($second,)*)
        {
        }
    };
}
phalanx_store::for_each_long_tuple!(long_data_tuple);
