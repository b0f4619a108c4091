//! Ids of entities, components and archetypes are types of their own, and no numbers.

use phalanx::ComponentId;
use phalanx::archetype::ArchetypeId;
use phalanx::prelude::*;

#[derive(Component)]
struct Frozen;

fn main() {
    let mut world = World::new();
    let frozen = world.register_component::<Frozen>();
    let entity = world.spawn(Frozen).id();
    let _: ArchetypeId = frozen;
    let _: ComponentId = ArchetypeId::EMPTY;
    let _: Entity = frozen;
    let _: ComponentId = entity;
    let _: Entity = 0_u64;
    let _: usize = frozen;
}
