//! Parents and children: a tree is built, moved about, disabled and despawned, and positions are handed down in it.
//!
//! Run with `cargo run -p phalanx --example hierarchy`.

#![expect(clippy::unwrap_used, reason = "what is missing here is a mistake of the example")]
#![allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]

use phalanx::prelude::*;

#[derive(Component, Clone, Copy)]
struct Local(f32);
#[derive(Component, Default)]
#[component(track = "none")]
struct Global(f32);

fn build(mut commands: Commands) {
    commands.spawn((
        Name::new("ship"),
        Local(100.0),
        Global::default(),
        children![
            (
                Name::new("mast"),
                Local(1.0),
                Global::default(),
                children![(Name::new("flag"), Local(0.5), Global::default())]
            ),
            (Name::new("engine"), Local(-2.0), Global::default()),
        ],
    ));
}

/// Every part stands where its parent stands, and a bit further: parents come before children.
fn propagate(order: Cascade<ChildOf>, mut parts: Query<(&Local, &mut Global)>) {
    parts.cascade(&order, |above, (local, mut global)| {
        global.0 = local.0 + above.map_or(0.0, |(_, above)| above.0);
    });
}

/// Names what hangs on something by its parent's name.
fn show(parts: Query<(&Name, &Global, Option<Parent<ChildOf, &Name>>)>) {
    for (part, global, parent) in &parts {
        match parent {
            Some(parent) => println!("{part} at {}, part of the {parent}", global.0),
            None => println!("{part} at {}", global.0),
        }
    }
}

fn main() {
    let mut app = App::new();
    app.add_systems(Startup, build);
    app.add_systems(Update, (propagate, show).chain());
    app.startup();
    app.step(1.0);

    let world = app.world_mut();
    let (mast, engine) = (world.named("ship/mast").unwrap(), world.named("engine").unwrap());
    println!("the engine is carried up the mast");
    world.entity_mut(mast).add_child(engine);
    // A ship cannot hang on its own flag; without a handler the error would be a panic.
    let (ship, flag) = (world.named("ship").unwrap(), world.named("flag").unwrap());
    println!("refused: {}", world.check_link::<ChildOf>(ship, flag).unwrap_err());
    app.step(1.0);

    let world = app.world_mut();
    println!("the mast is folded, with all that hangs on it");
    world.entity_mut(mast).insert(DisabledTree);
    assert_eq!(world.view::<&Local>().count(), 1);
    world.despawn(mast);
    println!("without the mast, {} part is left", world.entities().len());
    assert_eq!(world.entities().len(), 1);
}
