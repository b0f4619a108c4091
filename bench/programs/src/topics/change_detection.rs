// What was added or changed since a system last ran, of components and of a resource.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource, Default, PartialEq)]
struct Score(i32);
tracked! { #[derive(PartialEq, Debug)] struct Health(i32); }
#[derive(Component)]
struct Name(&'static str);

fn spawn(mut commands: Commands) {
    commands.spawn((Name("orc"), Health(10)));
    commands.spawn((Name("elf"), Health(20)));
    commands.spawn(Name("rock"));
}

/// Hurts the orc in every second frame, and touches the elf without changing it.
fn hurt(mut frame: Local<u32>, mut all: Query<(&Name, &mut Health)>) {
    *frame += 1;
    for (name, mut health) in &mut all {
        match name.0 {
            "orc" if *frame % 2 == 0 => health.0 -= 1,
            "elf" => {
                let same = health.0;
                health.set_if_neq(Health(same));
                health.bypass_change_detection().0 += 100;
            }
            _ => {}
        }
    }
}

fn score(mut frame: Local<u32>, mut score: ResMut<Score>) {
    *frame += 1;
    let value = if *frame < 3 { 7 } else { 8 };
    score.set_if_neq(Score(value));
}

fn report(
    added: Query<&Name, Added<Health>>,
    changed: Query<(&Name, &Health), Changed<Health>>,
    all: Query<(&Name, Ref<Health>)>,
    score: Res<Score>,
    mut out: ResMut<Out>,
) {
    let mut lines = Vec::new();
    lines.extend(added.iter().map(|name| format!("  added {}", name.0)));
    lines.extend(changed.iter().map(|(name, health)| format!("  changed {} to {}", name.0, health.0)));
    lines.extend(
        all.iter().filter(|(_, health)| health.is_changed()).map(|(name, _)| format!("  ref {}", name.0)),
    );
    lines.sort();
    writeln!(out.0, "score {} changed {} added {}", score.0, score.is_changed(), score.is_added()).unwrap();
    writeln!(out.0, "{}", lines.join("\n")).unwrap();
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>().init_resource::<Score>();
    app.add_systems(Startup, spawn).add_systems(Update, (hurt, score, report).chain());
    for _ in 0..5 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
