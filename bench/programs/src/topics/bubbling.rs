// Events that climb from what was hit to what it belongs to, and observers that come and go.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Component)]
struct Armour(u16);
#[derive(Component)]
struct HitPoints(u16);

#[derive(Clone, EntityEvent)]
#[entity_event(propagate, auto_propagate)]
struct Attack {
    entity: Entity,
    damage: u16,
}
#[derive(EntityEvent)]
struct Died {
    entity: Entity,
}

fn attacked(on: On<Attack>, names: Query<&Name>, mut out: ResMut<Out>) {
    let name = names.get(on.entity).map_or("somebody", |name| name.as_str());
    writeln!(out.0, "{name} is attacked with {}", on.damage).unwrap();
}
fn block(mut attack: On<Attack>, armour: Query<(&Armour, &Name)>, mut out: ResMut<Out>) {
    let (armour, name) = armour.get(attack.entity).unwrap();
    let passed = attack.damage.saturating_sub(armour.0);
    if passed > 0 {
        writeln!(out.0, "{passed} pass {name}").unwrap();
        attack.damage = passed;
    } else {
        writeln!(out.0, "{name} blocks").unwrap();
        attack.propagate(false);
    }
}
fn hurt(
    attack: On<Attack>,
    mut health: Query<(&mut HitPoints, &Name)>,
    mut commands: Commands,
    mut out: ResMut<Out>,
) {
    let Ok((mut points, name)) = health.get_mut(attack.entity) else { return };
    points.0 = points.0.saturating_sub(attack.damage);
    writeln!(out.0, "{name} has {}", points.0).unwrap();
    if points.0 == 0 {
        let entity = attack.event_target();
        commands.trigger(Died { entity });
        commands.entity(entity).despawn();
    }
}
fn died(died: On<Died>, names: Query<NameOrEntity>, mut out: ResMut<Out>) {
    writeln!(out.0, "{} died", names.get(died.entity).unwrap()).unwrap();
}

fn set_up(mut commands: Commands) {
    commands.spawn((Name::new("goblin"), HitPoints(25))).observe(hurt).with_children(|parent| {
        parent.spawn((Name::new("helmet"), Armour(5))).observe(block);
        parent.spawn((Name::new("socks"), Armour(10))).observe(block);
        parent.spawn((Name::new("shirt"), Armour(15))).observe(block);
    });
}
fn attack(pieces: Query<(Entity, &Name), With<Armour>>, mut round: Local<usize>, mut commands: Commands) {
    let mut pieces: Vec<(&str, Entity)> =
        pieces.iter().map(|(entity, name)| (name.as_str(), entity)).collect();
    pieces.sort();
    if pieces.is_empty() {
        return;
    }
    let damages = [3, 12, 20, 9, 30];
    let (piece, damage) = (pieces[*round % pieces.len()].1, damages[*round % damages.len()]);
    *round += 1;
    commands.trigger(Attack { entity: piece, damage });
    commands.entity(piece).trigger(|entity| Attack { entity, damage: 1 });
}

pub fn program() -> String {
    let mut app = App::new();
    app.init_resource::<Out>();
    app.world_mut().add_observer(attacked);
    app.world_mut().add_observer(died);
    app.add_systems(Startup, set_up);
    app.add_systems(Update, attack);
    for _ in 0..7 {
        app.update();
    }
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
