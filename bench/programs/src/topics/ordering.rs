// Order by systems, chains, nested tuples and sets; empty sets; visibility of commands along it.

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Unit;
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    Input,
    Nothing,
    Physics,
    Narrow,
    Output,
}

fn say<const WHAT: char>(mut out: ResMut<Out>) {
    out.0.push(WHAT);
}
fn spawn(mut commands: Commands) {
    commands.spawn(Unit);
}
fn count(units: Query<&Unit>, mut out: ResMut<Out>) {
    out.0 += &units.iter().count().to_string();
}
fn alone(world: &mut World) {
    world.spawn(Unit);
    world.resource_mut::<Out>().0.push('!');
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();
    app.configure_sets(Update, (Step::Input, Step::Nothing, Step::Physics, Step::Output).chain());
    app.configure_sets(Update, Step::Narrow.in_set(Step::Physics));
    app.add_systems(Update, (say::<'z'>, say::<'y'>).chain().in_set(Step::Output));
    app.add_systems(Update, say::<'a'>.in_set(Step::Input).before(say::<'b'>));
    app.add_systems(Update, say::<'b'>.in_set(Step::Input));
    app.add_systems(
        Update,
        (
            (say::<'m'>, spawn, count).chain(),
            alone,
            (say::<'n'>.after(say::<'o'>), say::<'o'>),
            count,
            (spawn, ApplyDeferred, count).chain_ignore_deferred(),
        )
            .chain()
            .in_set(Step::Narrow),
    );
    app.add_systems(PostUpdate, (|mut out: ResMut<Out>| out.0.push('\n')).into_configs());
    app.add_systems(PreUpdate, (say::<'['>, say::<']'>).chain());
    for _ in 0..3 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
