//! Ids where they belong, and the number behind one when it is asked for.

use phalanx::archetype::ArchetypeId;
use phalanx::prelude::*;

#[derive(Component)]
struct Frozen;

pub fn main() {
    let mut world = World::new();
    let frozen = world.register_component::<Frozen>();
    let entity = world.spawn(Frozen).id();
    assert!(world.archetypes().contains(ArchetypeId::EMPTY));
    assert!(world.components().get_info(frozen).is_some());
    assert!(world.contains(entity));
    assert_eq!(world.remove_by_id(entity, frozen), Ok(true));
    assert_eq!((frozen.index(), entity.index(), ArchetypeId::EMPTY.index()), (0, 0, 0));
}
