// Systems for any component or resource, by type parameters.

use std::fmt::{Debug, Write};

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Hunger(i32);
#[derive(Component)]
struct Thirst(i32);
#[derive(Resource, Debug, Default)]
struct Clock(u32);
#[derive(Component)]
struct Name(&'static str);

trait Need {
    fn text(&self) -> String;
}
impl Need for Hunger {
    fn text(&self) -> String {
        format!("hunger {}", self.0)
    }
}
impl Need for Thirst {
    fn text(&self) -> String {
        format!("thirst {}", self.0)
    }
}

fn print<T: Component + Need>(all: Query<(&Name, &T)>, mut out: ResMut<Out>) {
    let mut rows: Vec<_> = all.iter().map(|(name, value)| format!("{} {}", name.0, value.text())).collect();
    rows.sort();
    writeln!(out.0, "{}", rows.join(", ")).unwrap();
}

fn remove_all<T: Component>(mut commands: Commands, all: Query<Entity, With<T>>) {
    for entity in &all {
        commands.entity(entity).remove::<T>();
    }
}

fn count<T: Component, U: Component>(both: Query<(), (With<T>, With<U>)>, mut out: ResMut<Out>) {
    writeln!(out.0, "both: {}", both.iter().count()).unwrap();
}

fn show<R: Resource + Debug>(resource: Res<R>, mut out: ResMut<Out>) {
    writeln!(out.0, "{:?}", *resource).unwrap();
}

fn add<const STEP: u32>(mut clock: ResMut<Clock>) {
    clock.0 += STEP;
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().init_resource::<Clock>();
    app.world_mut().spawn((Name("ann"), Hunger(1), Thirst(2)));
    app.world_mut().spawn((Name("bob"), Hunger(3)));
    app.add_systems(
        Update,
        (
            (print::<Hunger>, print::<Thirst>, count::<Hunger, Thirst>).chain(),
            add::<2>,
            add::<5>,
            show::<Clock>,
            remove_all::<Thirst>,
        )
            .chain(),
    );
    app.update();
    app.update();
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
