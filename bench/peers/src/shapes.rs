//! The components of all contenders, as macros: each library wants its own derives on its own types, and all
//! get the same fields, sizes and starting values.

use crate::workload::{HUNDRED_THOUSAND, INVERSIONS, LOOKUPS, WRITTEN};

/// Seconds per step wherever something moves.
pub const DT: f32 = 1.0 / 60.0;

/// Declares `Transform` (64 bytes), `Position`, `Rotation` and `Velocity` (12 bytes each).
macro_rules! motion {
    ($(#[$attribute:meta])*) => {
        /// A 4x4 matrix.
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        pub struct Transform {
            pub columns: [[f32; 4]; 4],
        }

        $crate::shapes::motion!(@vector Position $(#[$attribute])*);
        $crate::shapes::motion!(@vector Rotation $(#[$attribute])*);
        $crate::shapes::motion!(@vector Velocity $(#[$attribute])*);

        impl Transform {
            pub fn nth(index: usize) -> Self {
                Self { columns: $crate::shapes::matrix(index) }
            }
        }
    };
    (@vector $name:ident $(#[$attribute:meta])*) => {
        /// Three numbers.
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        #[allow(dead_code)]
        pub struct $name {
            pub x: f32,
            pub y: f32,
            pub z: f32,
        }

        #[allow(dead_code)]
        impl $name {
            pub fn nth(index: usize) -> Self {
                let [x, y, z] = $crate::shapes::vector(stringify!($name), index);
                Self { x, y, z }
            }

            pub fn row(self) -> [f32; 3] {
                [self.x, self.y, self.z]
            }
        }
    };
}

/// Declares `Place` and `Speed`, two numbers each.
macro_rules! flat_motion {
    ($(#[$attribute:meta])*) => {
        $crate::shapes::flat_motion!(@pair Place $(#[$attribute])*);
        $crate::shapes::flat_motion!(@pair Speed $(#[$attribute])*);
    };
    (@pair $name:ident $(#[$attribute:meta])*) => {
        /// Two numbers.
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        #[allow(dead_code)]
        pub struct $name {
            pub x: f32,
            pub y: f32,
        }

        #[allow(dead_code)]
        impl $name {
            pub fn nth(index: usize) -> Self {
                let [x, y, _] = $crate::shapes::vector(stringify!($name), index);
                Self { x, y }
            }

            pub fn row(self) -> [f32; 2] {
                [self.x, self.y]
            }
        }
    };
}

/// Declares components of one number each.
macro_rules! letters {
    ($(#[$attribute:meta])* ; $first:ident $($rest:ident)*) => {
        /// One number.
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        #[allow(dead_code)]
        pub struct $first(pub f32);

        $crate::shapes::letters!($(#[$attribute])* ; $($rest)*);
    };
    ($(#[$attribute:meta])* ;) => {};
}

/// Declares the ten components without data by which `fragmented_iter_wide` makes its tables.
macro_rules! tags {
    ($(#[$attribute:meta])*) => {
        $crate::shapes::tags!(@each $(#[$attribute])* ; M0 M1 M2 M3 M4 M5 M6 M7 M8 M9);
    };
    (@each $(#[$attribute:meta])* ; $first:ident $($rest:ident)*) => {
        /// No data.
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        pub struct $first;

        $crate::shapes::tags!(@each $(#[$attribute])* ; $($rest)*);
    };
    (@each $(#[$attribute:meta])* ;) => {};
}

/// Calls a macro once per letter of the alphabet.
macro_rules! for_each_letter {
    ($call:ident) => {
        $call!(A B C D E F G H I J K L M N O P Q R S T U V W X Y Z);
    };
}

/// Runs a statement for each of the ten tags whose bit is set in a number.
macro_rules! for_each_tag {
    ($number:expr, $add:ident) => {
        $crate::shapes::for_each_tag!(@each $number, $add,
            (0 M0) (1 M1) (2 M2) (3 M3) (4 M4) (5 M5) (6 M6) (7 M7) (8 M8) (9 M9));
    };
    (@each $number:expr, $add:ident, $(($bit:literal $tag:ident))*) => {
        $(if $number & (1 << $bit) != 0 { $add!($tag); })*
    };
}

/// Declares the ten systems of the frame as functions: each adds half of its partner to its own component.
macro_rules! for_each_frame_pair {
    ($call:ident) => {
        $call!((A B) (B A) (C D) (D C) (E F) (F E) (G H) (H G) (I J) (J I));
    };
}

pub(crate) use {flat_motion, for_each_frame_pair, for_each_letter, for_each_tag, letters, motion, tags};

/// The starting value of a matrix: invertible, and different for each entity.
pub fn matrix(index: usize) -> [[f32; 4]; 4] {
    let shift = (index % 97) as f32 * 0.01;
    [[1.0, shift, 0.0, 0.0], [0.0, 1.5, 0.25, 0.0], [0.125, 0.0, 0.75, 0.0], [shift, 0.5, 0.0, 1.0]]
}

/// The starting value of three numbers.
pub fn vector(name: &str, index: usize) -> [f32; 3] {
    let index = (index % 4096) as f32;
    match name {
        "Position" | "Place" => [index, index * 0.5, 1.0],
        "Velocity" | "Speed" => [1.0, index * 0.25, -1.0],
        _ => [0.0, 1.0, index],
    }
}

/// The starting value of one number.
pub fn scalar(index: usize) -> f32 {
    (index % 1024) as f32
}

/// What `heavy_compute` does with one entity.
#[inline(always)]
pub fn invert(columns: &mut [[f32; 4]; 4], position: &mut [f32; 3]) {
    let mut matrix = glam::Mat4::from_cols_array_2d(columns);
    for _ in 0..INVERSIONS {
        matrix = matrix.inverse();
    }
    *columns = matrix.to_cols_array_2d();
    *position = matrix.transform_vector3(glam::Vec3::from_array(*position)).to_array();
}

/// What `five_components` does with one entity after it moved.
#[inline(always)]
pub fn place(columns: &mut [[f32; 4]; 4], position: [f32; 3], rotation: [f32; 3], scale: f32) {
    columns[0][0] = scale;
    columns[1][1] = rotation[1] * scale;
    columns[2][2] = rotation[2];
    columns[3] = [position[0], position[1], position[2], 1.0];
}

/// What `filtered` adds to A: B, C where there is one, and one where there is D.
#[inline(always)]
pub fn filtered(a: &mut f32, b: f32, c: Option<f32>, d: bool) {
    *a += b;
    if let Some(c) = c {
        *a -= c;
    }
    if d {
        *a += 1.0;
    }
}

/// Which rows are written before each run of `changed_spread` and `changed_clustered`.
pub fn written(spread: bool) -> impl Iterator<Item = usize> {
    let step = HUNDRED_THOUSAND / WRITTEN;
    (0..WRITTEN).map(move |index| if spread { index * step + step / 2 } else { HUNDRED_THOUSAND / 2 + index })
}

/// The order in which `pair_iter_sparse` gives its entities their second component: one half of them, shuffled.
pub fn partners() -> Vec<usize> {
    let mut partners: Vec<usize> = (0..HUNDRED_THOUSAND).step_by(2).collect();
    crate::random::Random::new(7).shuffle(&mut partners);
    partners
}

/// The order in which `random_get` looks entities up: positions in the list of all entities, which are as many.
pub fn lookups() -> Vec<usize> {
    let mut random = crate::random::Random::new(42);
    (0..LOOKUPS).map(|_| random.below(LOOKUPS)).collect()
}

/// What `random_get` does with the numbers it finds: a sum of integers, since one of floats would wait for each
/// addition and hide the lookup.
#[inline(always)]
pub fn total(values: impl Iterator<Item = f32>) -> u64 {
    values.fold(0, |sum, value| sum + u64::from(value.to_bits()))
}
