//! The hot loops of the documentation, each as a function with a name that survives compilation.
//!
//! `bench/check-asm` compiles this crate to assembly and looks for packed arithmetic in each function:
//! `addps` and `mulps` work on four numbers at once, `addss` and `mulss` on one.

use phalanx::prelude::*;

/// One column per field.
#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
pub struct Position {
    /// Across.
    pub x: f32,
    /// Up.
    pub y: f32,
}

/// One column per field.
#[derive(Component, Clone, Copy)]
#[component(layout = "soa")]
pub struct Velocity {
    /// Across.
    pub x: f32,
    /// Up.
    pub y: f32,
}

/// Excludes an entity from movement.
#[derive(Component)]
pub struct Frozen;

/// A whole component.
#[derive(Component, Clone, Copy)]
pub struct Health(pub f32);

/// A whole component.
#[derive(Component, Clone, Copy)]
pub struct Regeneration(pub f32);

/// The chunk loop of the README.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn asm_movement_chunks(
    movers: &mut Query<'_, '_, (&'static mut Position, &'static Velocity), Without<Frozen>>,
    dt: f32,
) {
    for (pos, vel) in movers.chunks_mut() {
        for i in 0..pos.len() {
            pos.x[i] += vel.x[i] * dt;
            pos.y[i] += vel.y[i] * dt;
        }
    }
}

/// Rows of field components through `for_each`.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn asm_movement_rows(movers: &mut Query<'_, '_, (&'static mut Position, &'static Velocity)>, dt: f32) {
    movers.iter_mut().for_each(|(pos, vel)| {
        *pos.x += *vel.x * dt;
        *pos.y += *vel.y * dt;
    });
}

/// Rows of whole components through `for_each`.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn asm_regeneration_rows(
    living: &mut Query<'_, '_, (&'static mut Health, &'static Regeneration)>,
    dt: f32,
) {
    living.iter_mut().for_each(|(mut health, regeneration)| health.0 += regeneration.0 * dt);
}

/// Rows of whole components in nested plain loops.
#[unsafe(no_mangle)]
#[inline(never)]
pub fn asm_regeneration_tables(
    living: &mut Query<'_, '_, (&'static mut Health, &'static Regeneration)>,
    dt: f32,
) {
    for table in living.tables_mut() {
        for (mut health, regeneration) in table.rows() {
            health.0 += regeneration.0 * dt;
        }
    }
}
