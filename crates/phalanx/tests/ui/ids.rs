//! Ids of entities, components, archetypes, systems, messages and pools are types of their own, and no numbers.

use phalanx::ComponentId;
use phalanx::archetype::ArchetypeId;
use phalanx::messages::MessageId;
use phalanx::pool::PoolId;
use phalanx::prelude::*;

#[derive(Component)]
struct Frozen;

#[derive(Message)]
struct Hit(u32);

fn freeze() {}

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
    let hit: MessageId = world.write_message(Hit(1));
    let system = phalanx::schedule::Schedule::default().try_add_systems(&mut world, freeze).expect("no conflict")[0];
    let _: MessageId = system;
    let _: Entity = system;
    let _: ArchetypeId = hit;
    let _: PoolId = ArchetypeId::EMPTY;
    let _: u64 = system;
    let _: u64 = hit;
}
