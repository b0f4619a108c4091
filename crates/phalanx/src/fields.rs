//! The fields of a whole component by name, for tools, scripts and messages.
//!
//! A whole component is one column of a Rust type, so nothing but the type itself can reach a field. The derive
//! therefore writes two small functions, from a value and a position to the field, and a list of names; everything
//! else is here, once for all types. Numbers, `bool`, `Entity` and `String` are recognised by their type id, so fields
//! of generic types are, too. `Debug` and `Default` are used where the type has them.
//!
//! Nothing here runs unless a field is asked for by name: a component carries one pointer more in its record.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use phalanx_store::{AnyColId, Entity, ErasedColumn, Init, Store, TableId, Tick};

use crate::component::{AnyComponent, Component};
use crate::value::{FieldType, Scalar, Value};

/// What can be done with a field by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// It is read and written as a [`Value`]. `usize` and `isize` are taken for `u64` and `i64`.
    Scalar(FieldType),
    /// It is a `String`, read and written as text.
    Text,
    /// Its type is not one that tools know.
    Other,
}

impl FieldKind {
    /// The kind of a type's fields.
    pub(crate) fn of_id(of: TypeId) -> Self {
        match FieldType::of_id(of) {
            Some(scalar) => Self::Scalar(scalar),
            None if of == TypeId::of::<usize>() => Self::Scalar(FieldType::U64),
            None if of == TypeId::of::<isize>() => Self::Scalar(FieldType::I64),
            None if of == TypeId::of::<String>() => Self::Text,
            None => Self::Other,
        }
    }
}

/// One field of a component, whether it has a column of its own or is a part of a whole value.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Health { current: f32, max: f32 }
///
/// let mut world = World::new();
/// let id = world.register_component::<Health>();
/// let info = world.components().get_info(id).unwrap();
/// let names: Vec<_> = info.named_fields().map(|field| field.name).collect();
/// assert_eq!(names, ["current", "max"]);
///
/// let e = world.spawn(Health { current: 3.0, max: 10.0 }).id();
/// world.set_field(e, id, "current", 4.0_f32).unwrap();
/// assert_eq!(world.get_field(e, id, "current"), Ok(Value::F32(4.0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamedField<'a> {
    /// The name: `current`, `0` in a tuple struct, `at.1` for a part of an array or tuple.
    pub name: &'a str,
    /// The field's type.
    pub type_name: &'static str,
    /// What can be done with it by name.
    pub kind: FieldKind,
}

/// A field of a whole component, as the derive declares it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ValueField {
    name: &'static str,
    type_name: &'static str,
    kind: FieldKind,
}

impl ValueField {
    /// A field of type `T`.
    pub fn of<T: 'static>(name: &'static str) -> Self {
        Self { name, type_name: type_name::<T>(), kind: FieldKind::of_id(TypeId::of::<T>()) }
    }

    pub(crate) fn named(&self) -> NamedField<'_> {
        let &Self { name, type_name, kind } = self;
        NamedField { name, type_name, kind }
    }
}

/// The fields of a whole component by position, as the derive lists them.
#[doc(hidden)]
pub trait Fields: Component {
    /// A field of the value.
    fn field(&self, at: usize) -> Option<&dyn Any>;
    /// A field of the value, to be written.
    fn field_mut(&mut self, at: usize) -> Option<&mut dyn Any>;
}

/// Prints the value of a column for an entity.
#[doc(hidden)]
pub type DebugFn = fn(&Store, Entity, AnyColId, &mut fmt::Formatter<'_>) -> fmt::Result;

/// A whole component type, without its type: the fields, and how one of an entity is reached.
pub(crate) struct WholeValue {
    pub(crate) fields: Vec<ValueField>,
    /// The values, without their type; what is written marks its block.
    column: Option<ErasedColumn>,
    read: fn(&dyn Any, usize) -> Option<&dyn Any>,
    write: fn(&mut dyn Any, usize) -> Option<&mut dyn Any>,
    debug: Option<DebugFn>,
}

impl WholeValue {
    pub(crate) fn of<C: Fields>(fields: &[ValueField], debug: Option<DebugFn>) -> Self {
        let column = C::key().typed::<C>().map(|id| ErasedColumn::of(id).marking(true, None));
        Self { fields: copied(fields), column, read: read::<C>, write: write::<C>, debug }
    }

    /// A field of the entity's value; `column` is that of the component.
    pub(crate) fn field<'s>(
        &self,
        store: &'s Store,
        entity: Entity,
        column: AnyColId,
        at: usize,
    ) -> Option<&'s dyn Any> {
        debug_assert!(self.column.is_some_and(|own| own.id() == column), "it is the component's");
        (self.read)(store.erased(entity, self.column?)?, at)
    }

    /// Appends the values of a scalar field in some rows of a table that has the column, as [`column_values`] does. False
    /// when it is no scalar.
    pub(crate) fn values(
        &self,
        store: &Store,
        place: (TableId, AnyColId),
        within: Range<usize>,
        rows: &mut dyn Iterator<Item = usize>,
        at: usize,
        out: &mut Vec<Value>,
    ) -> bool {
        let is_scalar = self.fields.get(at).is_some_and(|field| matches!(field.kind, FieldKind::Scalar(_)));
        let Some(column) = self.column.filter(|own| is_scalar && own.id() == place.1) else { return false };
        let Some(column) = store.erased_rows(place.0, column, within) else { return true };
        for row in rows {
            let Some(value) = (self.read)(column.get(row), at).and_then(value_of) else { return false };
            out.push(value);
        }
        true
    }

    /// As [`WholeValue::field`], to be written; the value counts as written in its block.
    pub(crate) fn field_mut<'s>(
        &self,
        store: &'s mut Store,
        entity: Entity,
        column: AnyColId,
        at: usize,
    ) -> Option<&'s mut dyn Any> {
        debug_assert!(self.column.is_some_and(|own| own.id() == column), "it is the component's");
        (self.write)(store.erased_mut(entity, self.column?)?, at)
    }

    pub(crate) fn debug(&self) -> Option<DebugFn> {
        self.debug
    }
}

impl fmt::Debug for WholeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.fields).finish()
    }
}

#[inline(never)]
fn copied(fields: &[ValueField]) -> Vec<ValueField> {
    fields.to_vec()
}

#[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
fn read<C: Fields>(value: &dyn Any, at: usize) -> Option<&dyn Any> {
    let Some(value) = value.downcast_ref::<C>() else { return None };
    value.field(at)
}

#[allow(clippy::question_mark, reason = "a `?` is compiled for each type")]
fn write<C: Fields>(value: &mut dyn Any, at: usize) -> Option<&mut dyn Any> {
    let Some(value) = value.downcast_mut::<C>() else { return None };
    value.field_mut(at)
}

/// Calls an expression for each scalar type, with `$scalar` standing for the type.
macro_rules! each_scalar {
    ($scalar:ident => $do:expr) => {
        each_scalar!(@all $scalar $do; f32 f64 u8 u16 u32 u64 i8 i16 i32 i64 bool Entity)
    };
    (@all $scalar:ident $do:expr; $($type:ty)*) => {
        $({ type $scalar = $type; $do })*
    };
}

/// The value of a field, if its type is a scalar.
pub(crate) fn value_of(field: &dyn Any) -> Option<Value> {
    each_scalar!(S => if let Some(value) = field.downcast_ref::<S>() { return Some(value.into_value()); });
    if let Some(&value) = field.downcast_ref::<usize>() {
        return Some(Value::U64(value as u64));
    }
    field.downcast_ref::<isize>().map(|&value| Value::I64(value as i64))
}

/// Appends the values of a column whose type is a scalar, in the order of `rows`, which count from the start of `within`.
/// False when it holds another type.
pub(crate) fn column_values(
    store: &Store,
    (table, column): (TableId, AnyColId),
    within: Range<usize>,
    rows: &mut dyn Iterator<Item = usize>,
    out: &mut Vec<Value>,
) -> bool {
    each_scalar!(S => if let Some(id) = column.typed::<S>() {
        let column = store.column_rows(table, id, within).expect("the table has the column and these rows");
        for row in rows {
            out.push(column[row].into_value());
        }
        return true;
    });
    false
}

/// Writes a field. False when the value does not fit its type.
pub(crate) fn set_value(field: &mut dyn Any, value: Value) -> bool {
    each_scalar!(S => if let Some(field) = field.downcast_mut::<S>() {
        return S::from_value(value).map(|value| *field = value).is_some();
    });
    if let Some(field) = field.downcast_mut::<usize>() {
        let value = value.as_u64().and_then(|value| usize::try_from(value).ok());
        return value.map(|value| *field = value).is_some();
    }
    let Some(field) = field.downcast_mut::<isize>() else { return false };
    let value = value.as_i64().and_then(|value| isize::try_from(value).ok());
    value.map(|value| *field = value).is_some()
}

/// Asks a type, in derived code, for traits that it may have: `(&Probe::<T>(PhantomData)).debug_fn()`.
///
/// The first of two traits with the method is found where `T` has what it asks for, the second takes one reference
/// more and is found otherwise. In generic code only what the bounds say is known.
#[doc(hidden)]
pub struct Probe<T>(pub PhantomData<fn() -> T>);

/// Found where `T: Debug`.
#[doc(hidden)]
pub trait DebugFound {
    /// How to print a value.
    fn debug_fn(&self) -> Option<DebugFn>;
}
impl<T: fmt::Debug + Send + Sync + 'static> DebugFound for Probe<T> {
    fn debug_fn(&self) -> Option<DebugFn> {
        Some(|store, entity, column, f| match column.typed::<T>().and_then(|id| store.value(entity, id)) {
            Some(value) => value.fmt(f),
            None => Ok(()),
        })
    }
}

/// Found otherwise.
#[doc(hidden)]
pub trait DebugMissing {
    /// Nothing.
    fn debug_fn(&self) -> Option<DebugFn>;
}
impl<T> DebugMissing for &Probe<T> {
    fn debug_fn(&self) -> Option<DebugFn> {
        None
    }
}

/// Found where `T: Default`.
#[doc(hidden)]
pub trait DefaultFound {
    /// How to make a value.
    fn default_init(&self) -> Option<Init>;
}
impl<T: AnyComponent + Default> DefaultFound for Probe<T> {
    fn default_init(&self) -> Option<Init> {
        Some(Init::new(T::column_ids(), |now: Tick| T::default().into_column_values(now)))
    }
}

/// Found otherwise.
#[doc(hidden)]
pub trait DefaultMissing {
    /// Nothing.
    fn default_init(&self) -> Option<Init>;
}
impl<T> DefaultMissing for &Probe<T> {
    fn default_init(&self) -> Option<Init> {
        None
    }
}
