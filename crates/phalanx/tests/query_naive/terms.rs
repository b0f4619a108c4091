//! What each kind of query term means to the naive world.
//!
//! [`Asked`] tells, for data, which entities have it, what is expected of an entity, and how an item and a row of a chunk
//! look; [`Kept`] tells which entities a filter keeps. Everything is written as numbers, so that it can be compared.

use phalanx::prelude::{Added, AnyComponent, AnyOf, Changed, Entity, Has, Or, Ref, Tick, With, Without};
use phalanx::query::{QueryFilter, ReadOnlyQueryData};

use crate::common::cast::{Armour, Boss, Frozen, Health, Label, Name, Position, Slot, label, position};
use crate::naive::{ARMOUR, BOSS, Entry, FROZEN, HEALTH, LABEL, NAME, POSITION, SLOT};
use phalanx::component::{Queryable, RowTracked};

/// A component, or a field of one, as a number.
pub trait Part: Queryable {
    const KIND: usize;

    /// What a value in the naive world looks like here.
    fn expected(value: u32) -> u64 {
        u64::from(value)
    }
    fn of_row(row: &Self::Ref<'_>) -> u64;
    fn of_slice(rows: &Self::Slice<'_>, at: usize) -> u64;
}

fn number(text: &str) -> u64 {
    text.parse().expect("texts of the model are numbers")
}

/// Exact: the numbers of the model are small.
fn whole(value: f32) -> u64 {
    format!("{value:.0}").parse().expect("a natural number")
}

macro_rules! part {
    ($name:ty, $kind:expr, $row:ident => $value:expr) => {
        impl Part for $name {
            const KIND: usize = $kind;

            fn of_row(&$row: &Self::Ref<'_>) -> u64 {
                $value
            }
            fn of_slice(rows: &Self::Slice<'_>, at: usize) -> u64 {
                let $row = &rows[at];
                $value
            }
        }
    };
}
part!(Health, HEALTH, row => u64::from(row.0));
part!(Name, NAME, row => number(&row.0));
part!(Armour, ARMOUR, row => u64::from(row.0));
part!(position::y, POSITION, row => whole(-row));

macro_rules! flag {
    ($name:ty, $kind:expr) => {
        impl Part for $name {
            const KIND: usize = $kind;

            fn expected(_: u32) -> u64 {
                1
            }
            fn of_row(_: &Self::Ref<'_>) -> u64 {
                1
            }
            fn of_slice(rows: &Self::Slice<'_>, at: usize) -> u64 {
                u64::from(at < rows.len())
            }
        }
    };
}
flag!(Frozen, FROZEN);
flag!(Boss, BOSS);

impl Part for Slot<u8, 3> {
    const KIND: usize = SLOT;

    fn expected(value: u32) -> u64 {
        u64::from(value % 251)
    }
    fn of_row(row: &Self::Ref<'_>) -> u64 {
        u64::from(row.0[2])
    }
    fn of_slice(rows: &Self::Slice<'_>, at: usize) -> u64 {
        u64::from(rows[at].0[2])
    }
}

impl Part for Position {
    const KIND: usize = POSITION;

    fn of_row(row: &Self::Ref<'_>) -> u64 {
        assert_eq!(*row.x, -*row.y);
        whole(*row.x)
    }
    fn of_slice(rows: &Self::Slice<'_>, at: usize) -> u64 {
        assert_eq!(rows.x[at], -rows.y[at]);
        whole(rows.x[at])
    }
}

impl Part for Label {
    const KIND: usize = LABEL;

    fn of_row(row: &Self::Ref<'_>) -> u64 {
        assert_eq!(*row.size, 1);
        number(row.text)
    }
    fn of_slice(rows: &Self::Slice<'_>, at: usize) -> u64 {
        assert_eq!(rows.size[at], 1);
        number(&rows.text[at])
    }
}

impl Part for label::text {
    const KIND: usize = LABEL;

    fn of_row(row: &Self::Ref<'_>) -> u64 {
        number(row)
    }
    fn of_slice(rows: &Self::Slice<'_>, at: usize) -> u64 {
        number(&rows[at])
    }
}

/// Data that the naive world understands.
pub trait Asked: ReadOnlyQueryData + 'static {
    fn has(entry: &Entry) -> bool;
    fn expected(entity: Entity, entry: &Entry, since: Tick, out: &mut Vec<u64>);
    fn of_item(item: &Self::Item<'_>, out: &mut Vec<u64>);
    fn of_chunk(chunk: &Self::Chunk<'_>, at: usize, since: Tick, out: &mut Vec<u64>);
}

impl Asked for Entity {
    fn has(_: &Entry) -> bool {
        true
    }
    fn expected(entity: Entity, _: &Entry, _: Tick, out: &mut Vec<u64>) {
        out.push(entity.to_bits());
    }
    fn of_item(item: &Self::Item<'_>, out: &mut Vec<u64>) {
        out.push(item.to_bits());
    }
    fn of_chunk(chunk: &Self::Chunk<'_>, at: usize, _: Tick, out: &mut Vec<u64>) {
        out.push(chunk[at].to_bits());
    }
}

impl<P: Part> Asked for &'static P {
    fn has(entry: &Entry) -> bool {
        entry.has(P::KIND)
    }
    fn expected(_: Entity, entry: &Entry, _: Tick, out: &mut Vec<u64>) {
        out.push(P::expected(entry.values[P::KIND]));
    }
    fn of_item(item: &Self::Item<'_>, out: &mut Vec<u64>) {
        out.push(P::of_row(item));
    }
    fn of_chunk(chunk: &Self::Chunk<'_>, at: usize, _: Tick, out: &mut Vec<u64>) {
        out.push(P::of_slice(chunk, at));
    }
}

impl<P: Part + AnyComponent> Asked for Has<P> {
    fn has(_: &Entry) -> bool {
        true
    }
    fn expected(_: Entity, entry: &Entry, _: Tick, out: &mut Vec<u64>) {
        out.push(u64::from(entry.has(P::KIND)));
    }
    fn of_item(item: &Self::Item<'_>, out: &mut Vec<u64>) {
        out.push(u64::from(*item));
    }
    fn of_chunk(chunk: &Self::Chunk<'_>, _: usize, _: Tick, out: &mut Vec<u64>) {
        out.push(u64::from(*chunk));
    }
}

impl<P: Part + RowTracked> Asked for Ref<'static, P> {
    fn has(entry: &Entry) -> bool {
        entry.has(P::KIND)
    }
    fn expected(_: Entity, entry: &Entry, since: Tick, out: &mut Vec<u64>) {
        out.push(P::expected(entry.values[P::KIND]));
        let (added, changed) = (entry.added[P::KIND], entry.changed[P::KIND]);
        out.extend([added.get(), changed.get(), u64::from(added > since), u64::from(changed > since)]);
    }
    fn of_item(item: &Self::Item<'_>, out: &mut Vec<u64>) {
        out.push(P::of_row(item));
        out.extend([item.added().get(), item.last_changed().get()]);
        out.extend([u64::from(item.is_added()), u64::from(item.is_changed())]);
    }
    fn of_chunk(chunk: &Self::Chunk<'_>, at: usize, since: Tick, out: &mut Vec<u64>) {
        let (rows, added, changed) = chunk;
        out.push(P::of_slice(rows, at));
        out.extend([added[at].get(), changed[at].get()]);
        out.extend([u64::from(added[at] > since), u64::from(changed[at] > since)]);
    }
}

impl<D: Asked> Asked for Option<D> {
    fn has(_: &Entry) -> bool {
        true
    }
    fn expected(entity: Entity, entry: &Entry, since: Tick, out: &mut Vec<u64>) {
        out.push(u64::from(D::has(entry)));
        if D::has(entry) {
            D::expected(entity, entry, since, out);
        }
    }
    fn of_item(item: &Self::Item<'_>, out: &mut Vec<u64>) {
        out.push(u64::from(item.is_some()));
        if let Some(item) = item {
            D::of_item(item, out);
        }
    }
    fn of_chunk(chunk: &Self::Chunk<'_>, at: usize, since: Tick, out: &mut Vec<u64>) {
        out.push(u64::from(chunk.is_some()));
        if let Some(chunk) = chunk {
            D::of_chunk(chunk, at, since, out);
        }
    }
}

/// A filter that the naive world understands.
pub trait Kept: QueryFilter + 'static {
    fn keeps(entry: &Entry, since: Tick) -> bool;
}

impl<P: Part + AnyComponent> Kept for With<P> {
    fn keeps(entry: &Entry, _: Tick) -> bool {
        entry.has(P::KIND)
    }
}
impl<P: Part + AnyComponent> Kept for Without<P> {
    fn keeps(entry: &Entry, _: Tick) -> bool {
        !entry.has(P::KIND)
    }
}
impl<P: Part + RowTracked> Kept for Changed<P> {
    fn keeps(entry: &Entry, since: Tick) -> bool {
        entry.has(P::KIND) && entry.changed[P::KIND] > since
    }
}
impl<P: Part + RowTracked> Kept for Added<P> {
    fn keeps(entry: &Entry, since: Tick) -> bool {
        entry.has(P::KIND) && entry.added[P::KIND] > since
    }
}

macro_rules! tuples {
    ($($name:ident $at:tt),*) => {
        #[allow(unused_variables, reason = "the empty tuple")]
        impl<$($name: Asked),*> Asked for ($($name,)*) {
            fn has(entry: &Entry) -> bool {
                true $(&& $name::has(entry))*
            }
            fn expected(entity: Entity, entry: &Entry, since: Tick, out: &mut Vec<u64>) {
                $($name::expected(entity, entry, since, out);)*
            }
            fn of_item(item: &Self::Item<'_>, out: &mut Vec<u64>) {
                $($name::of_item(&item.$at, out);)*
            }
            fn of_chunk(chunk: &Self::Chunk<'_>, at: usize, since: Tick, out: &mut Vec<u64>) {
                $($name::of_chunk(&chunk.$at, at, since, out);)*
            }
        }

        #[allow(unused_variables, reason = "the empty tuple")]
        impl<$($name: Kept),*> Kept for ($($name,)*) {
            fn keeps(entry: &Entry, since: Tick) -> bool {
                true $(&& $name::keeps(entry, since))*
            }
        }

        #[allow(unused_variables, reason = "the empty tuple")]
        impl<$($name: Kept),*> Kept for Or<($($name,)*)> {
            fn keeps(entry: &Entry, since: Tick) -> bool {
                false $(|| $name::keeps(entry, since))*
            }
        }
    };
}
tuples!();
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);

/// Parts of which one is there: the same options, of fewer entities.
macro_rules! any_of {
    ($($name:ident $at:tt),*) => {
        impl<$($name: Asked),*> Asked for AnyOf<($($name,)*)> {
            fn has(entry: &Entry) -> bool {
                false $(|| $name::has(entry))*
            }
            fn expected(entity: Entity, entry: &Entry, since: Tick, out: &mut Vec<u64>) {
                $(Option::<$name>::expected(entity, entry, since, out);)*
            }
            fn of_item(item: &Self::Item<'_>, out: &mut Vec<u64>) {
                $(Option::<$name>::of_item(&item.$at, out);)*
            }
            fn of_chunk(chunk: &Self::Chunk<'_>, at: usize, since: Tick, out: &mut Vec<u64>) {
                $(Option::<$name>::of_chunk(&chunk.$at, at, since, out);)*
            }
        }
    };
}
any_of!(A 0, B 1);
any_of!(A 0, B 1, C 2);
