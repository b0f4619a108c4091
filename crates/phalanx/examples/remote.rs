//! A world that runs in its own thread, and another that asks it: through a handle, with answers.
//!
//! The handle is `Send`, `Sync` and `Clone`, so it goes wherever a network task or a tool window runs. What it is given
//! runs on the world at the next sync point; the answer is a future, or is waited for.

use std::thread;

use phalanx::prelude::*;

#[derive(Component, Debug, Clone, Copy, PartialEq)]
struct Health(i32);

#[derive(Resource, Default)]
struct Stop(bool);

fn hurt(mut healths: Query<&mut Health>) {
    for mut health in &mut healths {
        health.0 -= 1;
    }
}

/// Runs a closure on the world, and waits for what it returns.
fn ask<T: Send + 'static>(remote: &Remote, f: impl FnOnce(&mut World) -> T + Send + 'static) -> T {
    let answer = remote.run(f).expect("the world lives as long as it is asked");
    answer.wait().expect("the closure does not panic")
}

fn main() {
    let mut app = App::new();
    app.init_resource::<Stop>().add_systems(Update, hurt);
    let remote = app.world_mut().remote();

    let tool = thread::spawn(move || {
        // Spawns, and waits until it has happened.
        let hero = ask(&remote, |world| world.spawn(Health(100)).id());
        println!("spawned {hero}");

        // Asks again and again; the world goes on meanwhile.
        loop {
            match ask(&remote, move |world| world.get::<Health>(hero).copied()) {
                Some(Health(left)) if left > 50 => {}
                now => {
                    println!("the hero has {now:?}");
                    break;
                }
            }
        }
        ask(&remote, |world| world.resource_mut::<Stop>().0 = true);
        remote
    });

    while !app.world().resource::<Stop>().0 {
        app.step(1.0 / 60.0);
    }
    let remote = tool.join().expect("the tool ends without a panic");

    // A handle may outlive its world, and says so.
    drop(app);
    assert!(remote.is_closed());
    assert!(remote.run(|world| world.entities().len()).is_err());
    println!("the world is gone, the handle knows");
}
