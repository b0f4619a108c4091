//! The scalar types a run-time schema can name, and one value of any of them.
//!
//! [`FieldType`] is the tag, [`Value`] a tagged value, [`Scalar`] the Rust type behind a tag. The three
//! lists are one: `scalars!` at the end writes every table from a single row per type.
//! Nothing converts between types: an `i32` is never taken for an `f32`, a caller that asks gets `None` or an
//! error. This file knows neither schemas nor columns.

use std::any::TypeId;
use std::error::Error;
use std::fmt;

use phalanx_store::Entity;

/// The type of one field of a run-time schema.
///
/// ```
/// # use phalanx::prelude::*;
/// let schema = Schema::new("hp").field("current", FieldType::I32);
/// assert_eq!(schema.field_type("current"), Some(FieldType::I32));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FieldType {
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// `u8`, 0 to 255
    U8,
    /// `u16`, 0 to 65,535
    U16,
    /// `u32`, 0 to 2^32 - 1
    U32,
    /// `u64`, 0 to 2^64 - 1
    U64,
    /// `i8`, -128 to 127
    I8,
    /// `i16`, -32,768 to 32,767
    I16,
    /// `i32`, -2^31 to 2^31 - 1
    I32,
    /// `i64`, -2^63 to 2^63 - 1
    I64,
    /// `bool`
    Bool,
    /// An [`Entity`]
    Entity,
}

/// One value of a field: a scalar that carries its type.
///
/// Numbers come in through `into()`: `10.into()` is an `I32` and `1.5.into()` an `F64`, as for any Rust
/// literal; write `10_u8.into()` or `Value::U8(10)` for the others.
///
/// ```
/// # use phalanx::prelude::*;
/// let hp: Value = 10.into();
/// assert_eq!(hp, Value::I32(10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// An `f32`.
    F32(f32),
    /// An `f64`.
    F64(f64),
    /// A `u8`.
    U8(u8),
    /// A `u16`.
    U16(u16),
    /// A `u32`.
    U32(u32),
    /// A `u64`.
    U64(u64),
    /// An `i8`.
    I8(i8),
    /// An `i16`.
    I16(i16),
    /// An `i32`.
    I32(i32),
    /// An `i64`.
    I64(i64),
    /// A `bool`.
    Bool(bool),
    /// An entity.
    Entity(Entity),
}

/// A Rust type that a field of a run-time schema can have. Sealed: the twelve of [`FieldType`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a field type",
    label = "cannot be a field of a schema",
    note = "the field types are f32 f64 u8 u16 u32 u64 i8 i16 i32 i64 bool and Entity"
)]
pub trait Scalar: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The tag of this type.
    const TYPE: FieldType;
    /// What a field holds before it is written: zero, `false` or [`Entity::PLACEHOLDER`].
    const ZERO: Self;

    /// The value with its type.
    fn into_value(self) -> Value;
    /// The value without its type, or `None` when it is of another type.
    fn from_value(value: Value) -> Option<Self>;
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A [`Value`] was asked for as a type it does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrongValueType {
    /// The type that was asked for.
    pub expected: FieldType,
    /// The type the value has.
    pub found: FieldType,
}

impl fmt::Display for WrongValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, found } = self;
        write!(
            f,
            "expected a value of type {expected}, found {found}; convert it before, nothing is converted silently"
        )
    }
}

impl Error for WrongValueType {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! scalars {
    ($($variant:ident $type:ty, $name:literal, $as:ident, $zero:expr;)*) => {
        impl FieldType {
            /// Every field type, in declaration order.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name: `f32`, `entity`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// The number of bytes one value takes in a column.
            pub const fn size(self) -> usize {
                match self { $(Self::$variant => size_of::<$type>(),)* }
            }
            /// The tag of a Rust type, or `None` when no field can have it.
            pub fn of<T: 'static>() -> Option<Self> {
                Self::of_id(TypeId::of::<T>())
            }
            /// As [`FieldType::of`], for a type known by its id.
            pub fn of_id(wanted: TypeId) -> Option<Self> {
                $(if wanted == TypeId::of::<$type>() { return Some(Self::$variant); })*
                None
            }
        }

        impl Value {
            /// What a field of the type holds before it is written: zero, `false` or
            /// [`Entity::PLACEHOLDER`].
            pub const fn zero(field_type: FieldType) -> Self {
                match field_type { $(FieldType::$variant => Self::$variant($zero),)* }
            }
            /// The type of the value.
            pub const fn field_type(self) -> FieldType {
                match self { $(Self::$variant(_) => FieldType::$variant,)* }
            }
            $(
                #[doc = concat!("The value, if it is of type `", $name, "`.")]
                pub const fn $as(self) -> Option<$type> {
                    match self { Self::$variant(value) => Some(value), _ => None }
                }
            )*
        }

        impl fmt::Display for Value {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // Debug, so that a float keeps its point and an entity prints as everywhere.
                match self { $(Self::$variant(value) => fmt::Debug::fmt(value, f),)* }
            }
        }

        $(
            impl sealed::Sealed for $type {}

            impl Scalar for $type {
                const TYPE: FieldType = FieldType::$variant;
                const ZERO: Self = $zero;

                #[inline]
                fn into_value(self) -> Value {
                    Value::$variant(self)
                }
                #[inline]
                fn from_value(value: Value) -> Option<Self> {
                    value.$as()
                }
            }

            impl From<$type> for Value {
                fn from(value: $type) -> Self {
                    Self::$variant(value)
                }
            }

            impl TryFrom<Value> for $type {
                type Error = WrongValueType;

                fn try_from(value: Value) -> Result<Self, WrongValueType> {
                    value.$as().ok_or(WrongValueType {
                        expected: FieldType::$variant,
                        found: value.field_type(),
                    })
                }
            }
        )*
    };
}

scalars! {
    F32 f32, "f32", as_f32, 0.0;
    F64 f64, "f64", as_f64, 0.0;
    U8 u8, "u8", as_u8, 0;
    U16 u16, "u16", as_u16, 0;
    U32 u32, "u32", as_u32, 0;
    U64 u64, "u64", as_u64, 0;
    I8 i8, "i8", as_i8, 0;
    I16 i16, "i16", as_i16, 0;
    I32 i32, "i32", as_i32, 0;
    I64 i64, "i64", as_i64, 0;
    Bool bool, "bool", as_bool, false;
    Entity Entity, "entity", as_entity, Entity::PLACEHOLDER;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One value of each type, none of them zero.
    fn samples() -> [Value; 12] {
        let entity = Entity::from_bits((3 << 32) | 12).expect("the upper half is not zero");
        [
            (-1.5_f32).into(),
            2.5_f64.into(),
            u8::MAX.into(),
            u16::MAX.into(),
            u32::MAX.into(),
            u64::MAX.into(),
            i8::MIN.into(),
            i16::MIN.into(),
            i32::MIN.into(),
            i64::MIN.into(),
            true.into(),
            entity.into(),
        ]
    }

    fn round_trip<T: Scalar + PartialEq + fmt::Debug>() {
        assert_eq!(FieldType::of::<T>(), Some(T::TYPE));
        assert_eq!(T::TYPE.size(), size_of::<T>());
        assert_eq!(T::ZERO.into_value(), Value::zero(T::TYPE));
        for value in samples() {
            let back = T::from_value(value).map(T::into_value);
            assert_eq!(back, (value.field_type() == T::TYPE).then_some(value));
        }
    }

    // O-049 to O-051: every tag, over its full range, and no silent conversion.
    #[test]
    fn each_scalar_comes_back_as_its_own_type_only() {
        round_trip::<f32>();
        round_trip::<f64>();
        round_trip::<u8>();
        round_trip::<u16>();
        round_trip::<u32>();
        round_trip::<u64>();
        round_trip::<i8>();
        round_trip::<i16>();
        round_trip::<i32>();
        round_trip::<i64>();
        round_trip::<bool>();
        round_trip::<Entity>();
    }

    #[test]
    fn samples_and_zeros_cover_every_type_in_order() {
        assert_eq!(samples().map(Value::field_type), FieldType::ALL);
        assert_eq!(FieldType::ALL.map(|t| Value::zero(t).field_type()), FieldType::ALL);
    }

    #[test]
    fn names_and_sizes_are_those_of_the_rust_types() {
        let names: Vec<String> = FieldType::ALL.iter().map(ToString::to_string).collect();
        assert_eq!(names.join(" "), "f32 f64 u8 u16 u32 u64 i8 i16 i32 i64 bool entity");
        assert_eq!(FieldType::ALL.map(FieldType::size), [4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1, 8]);
        assert_eq!(format!("{:>5}|", FieldType::F32), "  f32|");
    }

    #[test]
    fn other_rust_types_have_no_field_type() {
        assert_eq!(FieldType::of::<String>(), None);
        assert_eq!(FieldType::of::<usize>(), None);
        assert_eq!(FieldType::of::<Value>(), None);
    }

    #[test]
    fn bare_literals_are_i32_and_f64() {
        let fields: &[(&str, Value)] = &[("current", 10.into()), ("ratio", 0.5.into())];
        assert_eq!(fields[0].1, Value::I32(10));
        assert_eq!(fields[1].1, Value::F64(0.5));
    }

    #[test]
    fn an_unset_entity_field_is_the_placeholder() {
        assert_eq!(Value::zero(FieldType::Entity).as_entity(), Some(Entity::PLACEHOLDER));
    }

    #[test]
    fn asking_for_another_type_is_an_error_that_names_both() {
        assert_eq!(i32::try_from(Value::I32(7)), Ok(7));
        let error = f32::try_from(Value::I32(7)).expect_err("an i32 is not an f32");
        assert_eq!((error.expected, error.found), (FieldType::F32, FieldType::I32));
        assert!(error.to_string().starts_with("expected a value of type f32, found i32;"));
        assert_eq!(Value::I32(7).as_i64(), None);
    }

    #[test]
    fn values_print_as_rust_prints_them() {
        assert_eq!(Value::F32(1.0).to_string(), "1.0");
        assert_eq!(Value::I8(-3).to_string(), "-3");
        assert_eq!(Value::Bool(true).to_string(), "true");
        assert_eq!(samples()[11].to_string(), format!("{:?}", samples()[11].as_entity().expect("an entity")));
    }
}
