//! Parents and children: a tree is built, moved about, walked and despawned.
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
fn propagate(
    roots: Query<Entity, (With<Children>, Without<ChildOf>)>,
    children: Query<&Children>,
    parents: Query<&ChildOf>,
    mut parts: Query<(&Local, &mut Global)>,
) {
    for root in &roots {
        for part in std::iter::once(root).chain(children.iter_descendants::<Children>(root)) {
            let above = parents.related::<ChildOf>(part).and_then(|parent| Some(parts.get(parent).ok()?.1.0));
            if let Ok((local, mut global)) = parts.get_mut(part) {
                global.0 = above.unwrap_or(0.0) + local.0;
            }
        }
    }
}

fn show(parts: Query<(NameOrEntity, &Global, Option<&ChildOf>)>, names: Query<NameOrEntity>) {
    for (part, global, parent) in &parts {
        match parent.and_then(|parent| names.get(parent.parent()).ok()) {
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
    world.despawn(mast);
    println!("without the mast, {} part is left", world.entities().len());
    assert_eq!(world.entities().len(), 1);
}
