//! bevy_ecs: the shared words, and transforms handed down as bevy's own systems do it.

use bevy_ecs::prelude::*;
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;
include!("shared.rs");

type Parts = QueryState<(&'static Local, &'static mut Global, Option<&'static Children>), With<ChildOf>>;

/// As `bevy_transform` does it on one thread: those without parents and children in one loop, then each tree from its root
/// by recursion.
pub struct Recursive {
    pub world: World,
    alone: QueryState<(&'static Local, &'static mut Global), (Without<ChildOf>, Without<Children>)>,
    roots: QueryState<(&'static Local, &'static mut Global, &'static Children), Without<ChildOf>>,
    parts: Parts,
}

impl Recursive {
    pub fn new(mut world: World) -> Self {
        let (alone, roots, parts) = (world.query_filtered(), world.query_filtered(), world.query_filtered());
        Self { world, alone, roots, parts }
    }

    pub fn run(&mut self) {
        let Self { world, alone, roots, parts } = self;
        let nothing = Global([0.0; 4]);
        for (local, mut global) in alone.iter_mut(world) {
            *global = sum(local, &nothing);
        }
        roots.update_archetypes(world);
        parts.update_archetypes(world);
        let cell = world.as_unsafe_world_cell();
        // SAFETY: `roots` visits entities without a parent, each once; `below` gets entities with one, each once, because
        // a child has one parent. So no value is borrowed twice.
        for (local, mut global, children) in unsafe { roots.iter_unchecked(cell) } {
            let value = sum(local, &nothing);
            *global = value;
            // SAFETY: as above.
            unsafe { below(cell, parts, children, value) };
        }
    }
}

/// # Safety
/// The parts of these children, and of those below them, are not borrowed, and each of them has one parent.
unsafe fn below(world: UnsafeWorldCell<'_>, parts: &mut Parts, children: &Children, above: Global) {
    for &child in &children[..] {
        // SAFETY: as the caller says.
        let Ok((local, mut global, children)) = (unsafe { parts.get_unchecked(world, child) }) else {
            continue;
        };
        let value = sum(local, &above);
        *global = value;
        if let Some(children) = children {
            // SAFETY: as the caller says.
            unsafe { below(world, parts, children, value) };
        }
    }
}
