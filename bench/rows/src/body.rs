//! What the loops do with a row, and how many rows there are.

/// Rows that a loop visits, in most cases.
pub const ROWS: usize = 10_000;
/// Tables of the case `tables`.
pub const TABLES: usize = 25;
/// Rows in each of them.
pub const PER_TABLE: usize = 20;
/// Seconds per step.
pub const DT: f32 = 1.0 / 60.0;

/// How many rows a loop of a case visits.
pub fn rows(case: &str) -> usize {
    if case == "tables" { TABLES * PER_TABLE } else { ROWS }
}

/// Declares the components.
macro_rules! components {
    ($(#[$attribute:meta])*) => {
        $crate::body::components!(@vector Position $(#[$attribute])*);
        $crate::body::components!(@vector Velocity $(#[$attribute])*);
        $crate::body::components!(@letter A $(#[$attribute])*);
        $crate::body::components!(@letter B $(#[$attribute])*);
        $crate::body::components!(@letter Drag $(#[$attribute])*);
        $crate::body::components!(@letter Frozen $(#[$attribute])*);
        $crate::body::components!(@letter Marked $(#[$attribute])*);
    };
    (@vector $name:ident $(#[$attribute:meta])*) => {
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        pub struct $name {
            pub x: f32,
            pub y: f32,
            pub z: f32,
        }

        impl $name {
            pub fn nth(index: usize) -> Self {
                let number = (index % 1000) as f32;
                Self { x: number, y: 1.0, z: number * 0.5 }
            }
        }
    };
    (@letter $name:ident $(#[$attribute:meta])*) => {
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        #[allow(dead_code)]
        pub struct $name(pub f32);
    };
}

/// Position changes by velocity.
macro_rules! advance {
    ($position:expr, $velocity:expr) => {{
        $position.x += $velocity.x * $crate::body::DT;
        $position.y += $velocity.y * $crate::body::DT;
        $position.z += $velocity.z * $crate::body::DT;
    }};
}

/// The same for components with a column per field.
macro_rules! advance_fields {
    ($position:expr, $velocity:expr) => {{
        *$position.x += *$velocity.x * $crate::body::DT;
        *$position.y += *$velocity.y * $crate::body::DT;
        *$position.z += *$velocity.z * $crate::body::DT;
    }};
}

/// Position changes by velocity, and by drag where there is some.
macro_rules! advance_with_drag {
    ($position:expr, $velocity:expr, $drag:expr) => {{
        $crate::body::advance!($position, $velocity);
        if let Some(drag) = $drag {
            $position.y -= drag.0;
        }
    }};
}

/// Position changes by velocity, and once more where something is frozen.
macro_rules! advance_unless {
    ($position:expr, $velocity:expr, $frozen:expr) => {{
        $crate::body::advance!($position, $velocity);
        if $frozen {
            $position.y -= 1.0;
        }
    }};
}

/// A number changes by another, by a third where there is one, and by a flag.
macro_rules! filtered {
    ($a:expr, $b:expr, $drag:expr, $frozen:expr) => {{
        $a.0 += $b.0;
        if let Some(drag) = $drag {
            $a.0 -= drag.0;
        }
        if $frozen {
            $a.0 += 1.0;
        }
    }};
}

/// Spawns what the cases `with`, `option`, `has` and `filtered` visit: 10,000 rows of each query in two tables, and a
/// table that `With` leaves out.
macro_rules! spawn_filtered {
    ($world:expr) => {
        for index in 0..$crate::body::ROWS {
            let number = (index % 1000) as f32;
            let mover = (Position::nth(index), Velocity::nth(index));
            if index % 2 == 0 {
                $world.spawn((mover.0, mover.1, A(number), B(1.0), Marked(0.0), Drag(0.5), Frozen(0.0)));
            } else {
                $world.spawn((mover.0, mover.1, A(number), B(1.0), Marked(0.0)));
            }
        }
    };
}

/// Spawns 25 tables of 20 rows with `A` and `B`: one per combination of five more components, as far as they go.
macro_rules! spawn_tables {
    ($world:expr, $insert:ident) => {
        for index in 0..$crate::body::TABLES * $crate::body::PER_TABLE {
            let table = index / $crate::body::PER_TABLE;
            #[allow(unused_mut)]
            let mut entity = $world.spawn((A((index % 1000) as f32), B(1.0)));
            if table & 1 != 0 {
                $insert!($world, entity, Drag(0.0));
            }
            if table & 2 != 0 {
                $insert!($world, entity, Frozen(0.0));
            }
            if table & 4 != 0 {
                $insert!($world, entity, Marked(0.0));
            }
            if table & 8 != 0 {
                $insert!($world, entity, Position::nth(index));
            }
            if table & 16 != 0 {
                $insert!($world, entity, Velocity::nth(index));
            }
        }
    };
}

pub(crate) use {
    advance, advance_fields, advance_unless, advance_with_drag, components, filtered, spawn_filtered,
    spawn_tables,
};
