//! Process-wide identity of columns.
//!
//! A column id stands for one Rust type for as long as the process lives: [`ColId<T>`] can only be made
//! here, and every way to make one records `T` first. That is what lets the rest of the store follow a
//! column id to memory and read it as `T` without asking again (invariant I1).
//!
//! ```text
//!   static cell (ColCell<T>)        one load          types without parameters
//!   marker (ColId::of_marker)       a map lookup      generic types, which cannot own a static
//!   name (ColId::named)             a map lookup      columns declared at run time
//! ```
//!
//! Two columns of the same type (`x: f32` and `y: f32`) are two ids. This file knows nothing of tables.

use std::alloc::Layout;
use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::panics::FirstPanic;

/// What the store must know of a column's type to keep its values without naming it.
pub(crate) struct ColumnType {
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) layout: Layout,
    /// Drops `len` consecutive values, all of them though some panic; the first panic is passed on. `None` when there
    /// is nothing to drop.
    pub(crate) drop: Option<unsafe fn(*mut u8, usize)>,
}

impl ColumnType {
    fn of<T: Send + Sync + 'static>() -> Self {
        Self {
            type_id: TypeId::of::<T>(),
            type_name: std::any::type_name::<T>(),
            layout: Layout::new::<T>(),
            drop: Glue::<T>::DROP,
        }
    }

    /// Whether rows of this type need neither memory nor drop glue: only presence counts.
    pub(crate) fn is_virtual(&self) -> bool {
        self.layout.size() == 0 && self.drop.is_none()
    }
}

/// The drop glue of a type. A constant, so that none is compiled for types without.
struct Glue<T>(PhantomData<T>);

impl<T> Glue<T> {
    const DROP: Option<unsafe fn(*mut u8, usize)> =
        if std::mem::needs_drop::<T>() { Some(drop_values::<T>) } else { None };
}

/// # Safety
/// `values` points to `len` initialised values of `T` that nothing else will drop or read.
unsafe fn drop_values<T>(values: *mut u8, len: usize) {
    let values = values.cast::<T>();
    let (mut panics, mut next) = (FirstPanic::default(), 0);
    // Not as a slice: its glue goes on after a panic, too, but a second one would end the process.
    while next < len {
        panics.guard(|| {
            while next < len {
                next += 1;
                // SAFETY: forwarded: the caller hands over `len` initialised values of `T`, which nothing else uses (I1, I2);
                // each is dropped once, because it is passed over first, even if it panics.
                unsafe { values.add(next - 1).drop_in_place() };
            }
        });
    }
    panics.resume();
}

#[derive(Default)]
struct Registry {
    /// Indexed by id minus one: no column has the id zero.
    types: Vec<&'static ColumnType>,
    markers: HashMap<(TypeId, TypeId), u32>,
    names: HashMap<(TypeId, String), u32>,
}

impl Registry {
    fn add(&mut self, column: ColumnType) -> u32 {
        // Column types live as long as the process, as their ids do.
        self.types.push(Box::leak(Box::new(column)));
        u32::try_from(self.types.len()).expect("fewer than 2^32 column types")
    }
}

// Not in generic functions: these are compiled once, and not for each type of column.

fn id_of_marker(marker: TypeId, column: ColumnType) -> u32 {
    let key = (marker, column.type_id);
    with_registry(|registry| match registry.markers.get(&key) {
        Some(&id) => id,
        None => {
            let id = registry.add(column);
            registry.markers.insert(key, id);
            id
        }
    })
}

fn id_of_name(name: &str, column: ColumnType) -> u32 {
    let key = (column.type_id, name.to_owned());
    with_registry(|registry| match registry.names.get(&key) {
        Some(&id) => id,
        None => {
            let id = registry.add(column);
            registry.names.insert(key, id);
            id
        }
    })
}

/// The id in a cell, which is given now if the cell has none.
#[cold]
fn assign(cell: &AtomicU32, column: ColumnType) -> u32 {
    with_registry(|registry| {
        // Another thread may have been first; the lock decides.
        let known = cell.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let id = registry.add(column);
        cell.store(id, Ordering::Relaxed);
        id
    })
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

fn with_registry<R>(f: impl FnOnce(&mut Registry) -> R) -> R {
    let mut guard = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    f(guard.get_or_insert_with(Registry::default))
}

/// The id of a column that holds values of `T`, and of no type that `T` could pass for.
///
/// ```
/// # use phalanx_store::ColId;
/// fn same(id: ColId<for<'a> fn(&'a str)>) -> ColId<for<'a> fn(&'a str)> { id }
/// ```
/// ```compile_fail
/// # use phalanx_store::ColId;
/// // A `fn(&'static str)` written under this id could be read back and called with any `&str`.
/// fn narrower(id: ColId<for<'a> fn(&'a str)>) -> ColId<fn(&'static str)> { id }
/// ```
pub struct ColId<T> {
    index: u32,
    holds: PhantomData<Exactly<T>>,
}

/// Invariant: an id serves reading and writing, so neither a subtype nor a supertype of `T` may take its place (I1).
type Exactly<T> = fn(T) -> T;

impl<T> Clone for ColId<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for ColId<T> {}
impl<T> PartialEq for ColId<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}
impl<T> Eq for ColId<T> {}
impl<T> fmt::Debug for ColId<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ColId({}: {})", self.index, std::any::type_name::<T>())
    }
}

impl<T> ColId<T> {
    const fn new(index: u32) -> Self {
        Self { index, holds: PhantomData }
    }

    /// The id without its type.
    #[inline]
    pub const fn any(self) -> AnyColId {
        AnyColId(self.index)
    }
}

impl<T: Send + Sync + 'static> ColId<T> {
    /// The column of `T` that belongs to the marker type `M`, the same in every call.
    pub fn of_marker<M: 'static>() -> Self {
        Self::new(id_of_marker(TypeId::of::<M>(), ColumnType::of::<T>()))
    }

    /// The column of `T` that belongs to `name`, the same in every call.
    ///
    /// Equal names with different types are different columns.
    pub fn named(name: &str) -> Self {
        Self::new(id_of_name(name, ColumnType::of::<T>()))
    }
}

/// The id of a column, whatever its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AnyColId(u32);

impl AnyColId {
    /// The id as an array position.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The id as a number, which is never `u32::MAX`.
    #[inline(always)]
    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// The column with an id, if there is one.
    pub(crate) fn at(index: usize) -> Option<Self> {
        let known = with_registry(|registry| (1..=registry.types.len()).contains(&index));
        u32::try_from(index).ok().filter(|_| known).map(Self)
    }

    pub(crate) fn column_type(self) -> &'static ColumnType {
        with_registry(|registry| registry.types[self.index() - 1])
    }

    /// The typed id, when the column holds `T`.
    pub fn typed<T: 'static>(self) -> Option<ColId<T>> {
        if self.column_type().type_id == TypeId::of::<T>() { Some(ColId::new(self.0)) } else { None }
    }

    /// The name of the column's type.
    pub fn type_name(self) -> &'static str {
        self.column_type().type_name
    }

    /// The type that the column holds.
    pub fn type_id(self) -> TypeId {
        self.column_type().type_id
    }

    /// Whether rows of the column need neither memory nor drop glue: only presence counts.
    pub fn is_virtual(self) -> bool {
        self.column_type().is_virtual()
    }
}

/// A type whose values may be kept by a world, which several threads use: the same as `Send + Sync`, with a text that says
/// what to do.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept by a world: it cannot be shared between threads",
    label = "not `Send` or not `Sync`",
    note = "use `Arc` for `Rc`, `Mutex` or an atomic for `RefCell` or `Cell`",
    note = "or keep the value on one thread, with `world.insert_non_send`"
)]
pub trait ThreadSafe: Send + Sync {}
#[diagnostic::do_not_recommend]
impl<T: Send + Sync + ?Sized> ThreadSafe for T {}

/// A place for a column's id, to be put in a `static`.
///
/// ```compile_fail
/// # use phalanx_store::ColCell;
/// fn narrower(cell: &'static ColCell<for<'a> fn(&'a str)>) -> &'static ColCell<fn(&'static str)> { cell }
/// ```
pub struct ColCell<T> {
    /// Zero before the first use.
    id: AtomicU32,
    holds: PhantomData<Exactly<T>>,
}

impl<T: ThreadSafe + 'static> ColCell<T> {
    /// A cell without an id yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self { id: AtomicU32::new(0), holds: PhantomData }
    }

    /// The column's id, given on first use.
    #[inline]
    pub fn id(&'static self) -> ColId<T> {
        // Relaxed: the id is only a number; what it stands for is read under the registry's lock.
        match self.id.load(Ordering::Relaxed) {
            0 => self.first_id(),
            id => ColId::new(id),
        }
    }

    /// Apart, so that `id` is no more than a load where it is asked for.
    #[cold]
    #[inline(never)]
    fn first_id(&'static self) -> ColId<T> {
        ColId::new(assign(&self.id, ColumnType::of::<T>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_keeps_its_id_and_two_cells_differ() {
        static A: ColCell<f32> = ColCell::new();
        static B: ColCell<f32> = ColCell::new();
        assert_eq!(A.id(), A.id());
        assert_ne!(A.id(), B.id());
        assert!(A.id().any().typed::<f32>().is_some());
        assert!(A.id().any().typed::<u32>().is_none());
    }

    #[test]
    fn markers_and_names_are_stable_and_typed() {
        struct M;
        assert_eq!(ColId::<u8>::of_marker::<M>(), ColId::<u8>::of_marker::<M>());
        assert_ne!(ColId::<u8>::of_marker::<M>().any(), ColId::<u16>::of_marker::<M>().any());
        assert_eq!(ColId::<i32>::named("hp.max"), ColId::<i32>::named("hp.max"));
        assert_ne!(ColId::<i32>::named("hp.max").any(), ColId::<i64>::named("hp.max").any());
    }
}
