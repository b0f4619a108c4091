// Systems, conditions, commands and observers that end early with `?`, and what becomes of their errors.

use std::fmt::Write;

#[derive(Resource, Default)]
struct Out(String);
#[derive(Resource)]
struct Input(&'static str);
#[derive(Resource, Default)]
struct Total(i32);
#[derive(Component)]
struct Health(i32);
#[derive(Component)]
struct Player;
#[derive(Event)]
struct Parse(&'static str);

#[derive(Debug)]
struct TooLarge(i32);
impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is too large", self.0)
    }
}
impl std::error::Error for TooLarge {}

fn parse(input: Res<Input>) -> Result<i32, TooLarge> {
    let number = input.0.parse().unwrap_or(1000);
    if number > 100 { Err(TooLarge(number)) } else { Ok(number) }
}
fn add(In(number): In<Result<i32, TooLarge>>, mut total: ResMut<Total>, mut out: ResMut<Out>) {
    match number {
        Ok(number) => total.0 += number,
        Err(error) => writeln!(out.0, "{error}").unwrap(),
    }
}
fn parse_or_fail(input: Res<Input>, mut total: ResMut<Total>) -> Result {
    let number: i32 = input.0.parse()?;
    total.0 += number;
    Ok(())
}
fn damage(mut players: Query<&mut Health, With<Player>>) -> Result<(), BevyError> {
    let mut health = players.single_mut()?;
    health.0 -= 1;
    if health.0 < 0 {
        return Err("below zero".into());
    }
    Ok(())
}
fn is_high(total: Res<Total>) -> Result<bool> {
    if total.0 < 0 {
        Err(TooLarge(total.0))?
    }
    Ok(total.0 > 5)
}
fn look_up(world: &mut World) -> Result {
    let entity = world.query_filtered::<Entity, With<Player>>().single(world)?;
    let mut entity = world.get_entity_mut(entity)?;
    entity.get_mut::<Health>().ok_or("no health")?.0 += 10;
    Ok(())
}
fn queue(mut commands: Commands, players: Query<Entity, With<Player>>) {
    commands.queue(|world: &mut World| -> Result {
        let total: &Total = world.get_resource().ok_or("no total")?;
        let total = total.0;
        writeln!(world.resource_mut::<Out>().0, "command saw {total}")?;
        Ok(())
    });
    for player in &players {
        commands.entity(player).queue(|mut entity: EntityWorldMut| {
            entity.get_mut::<Health>().unwrap().0 += 100;
        });
        commands.entity(player).despawn();
        // It is gone by then.
        commands.entity(player).queue_silenced(|mut entity: EntityWorldMut| {
            entity.insert(Health(1));
        });
        commands.entity(player).try_insert(Health(3));
    }
}
fn observe(on: On<Parse>, mut total: ResMut<Total>) -> Result {
    total.0 += on.0.parse::<i32>()?;
    Ok(())
}

pub fn program() -> String {
    let mut app = app_that_ignores_errors();
    app.init_resource::<Out>().init_resource::<Total>().insert_resource(Input("7"));
    app.world_mut().add_observer(observe);
    app.world_mut().spawn((Player, Health(2)));
    app.add_systems(
        Update,
        (
            parse.pipe(add),
            parse_or_fail,
            damage,
            (|mut out: ResMut<Out>| out.0.push_str("high\n")).run_if(is_high),
            parse.map(|parsed| drop(parsed)),
            |total: Res<Total>, healths: Query<&Health>, mut out: ResMut<Out>| {
                let healths: Vec<i32> = healths.iter().map(|health| health.0).collect();
                writeln!(out.0, "total {}, {healths:?}", total.0).unwrap();
            },
        )
            .chain(),
    );
    app.update();
    for input in ["3", "many", "-60", "200"] {
        app.insert_resource(Input(input));
        app.world_mut().trigger(Parse(input));
        app.update();
    }
    look_up(app.world_mut()).unwrap();
    app.update();
    app.world_mut().run_system_once(queue).unwrap();
    app.update();
    app.world_mut().spawn_batch([(Player, Health(5)), (Player, Health(6))]);
    app.update();
    let failed = app.world_mut().run_system_once(parse).unwrap().is_err();
    let missing = app.world_mut().run_system_once(|_: Single<&Health, Without<Player>>| ()).is_err();
    writeln!(app.world_mut().resource_mut::<Out>().0, "{failed} {missing}").unwrap();
    std::mem::take(&mut app.world_mut().resource_mut::<Out>().0)
}
