//! Hooks: functions that belong to a component, and keep something in step with it.
//!
//! Here an index from names to entities. `on_insert` and `on_discard` are counterparts: each value that comes is told
//! once, and so is each value that goes, be it replaced, removed or despawned, while it can still be read.

use std::collections::BTreeMap;

use phalanx::prelude::*;

#[derive(Component, Debug)]
#[component(on_insert = Title::enter, on_discard = Title::leave)]
struct Title(&'static str);

#[derive(Resource, Default, Debug)]
struct Index(BTreeMap<&'static str, Entity>);

impl Title {
    fn enter(mut world: DeferredWorld, context: HookContext) {
        let name = world.get::<Title>(context.entity).expect("it has come").0;
        let before = world.resource_mut::<Index>().0.insert(name, context.entity);
        if let Some(before) = before {
            // Hooks change no structure: what they queue is applied when the change is complete.
            world.commands().entity(before).despawn();
        }
    }

    fn leave(mut world: DeferredWorld, context: HookContext) {
        let name = world.get::<Title>(context.entity).expect("it is still there").0;
        let mut index = world.resource_mut::<Index>();
        if index.0.get(name) == Some(&context.entity) {
            index.0.remove(name);
        }
    }
}

fn main() {
    let mut world = World::new();
    world.init_resource::<Index>();

    let hull = world.spawn(Title("hull")).id();
    let mast = world.spawn(Title("mast")).id();
    world.insert(mast, Title("sail")).expect("it is alive");
    println!("{:?}", world.resource::<Index>());
    assert_eq!(world.resource::<Index>().0, BTreeMap::from([("hull", hull), ("sail", mast)]));

    // A second hull takes the place of the first one.
    let other = world.spawn(Title("hull")).id();
    assert!(!world.contains(hull));
    world.despawn(mast);
    println!("{:?}", world.resource::<Index>());
    assert_eq!(world.resource::<Index>().0, BTreeMap::from([("hull", other)]));
}
