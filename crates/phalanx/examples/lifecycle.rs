//! Systems that come and go while the app runs, with hooks, and phases of one's own.
//!
//! Run with `cargo run -p phalanx --example lifecycle`.

use phalanx::prelude::*;

#[derive(ScheduleLabel, Debug)]
struct Render;

#[derive(Resource, Default)]
struct Drawn(u32);

fn draw(mut drawn: ResMut<Drawn>) {
    drawn.0 += 1;
}

fn main() {
    let mut app = App::new();
    app.init_resource::<Drawn>().add_phase_after(PostUpdate, Render);
    let id = app.add_system(
        Render,
        draw.on_added(|world| println!("added to a world of {}", world.entities().len()))
            .on_removed(|world| println!("removed after {} frames", world.resource::<Drawn>().0)),
    );
    app.add_systems(Update, (|| ()).named("quiet").on_dispose(|_| println!("the app ends")));
    (0..3).for_each(|_| app.step(0.1));
    app.remove_system(id).expect("it was added above");
    app.step(0.1);
    assert_eq!(app.world().resource::<Drawn>().0, 3);
    app.dispose();
}
