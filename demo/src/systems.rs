//! What happens in a frame, one function each.
//!
//! Walking along x and along y are systems of their own: they write different columns, so they may run at the same
//! time. Aiming uses several threads inside one system and writes only its own rows; blows are messages, which
//! have one order; fighters die and come through commands, which are applied before the next system that is
//! ordered after. Arrows walk by the same systems as fighters do.

use phalanx::prelude::*;

use crate::battle::{
    Arrow, Arrows, Bandages, Bow, Burning, Died, FIELD, Health, Hit, Position, Seed, Sword, Tally, Team,
    Velocity, Weapon, Wounded, bow, fighter, mixed, position, sword, velocity,
};
use crate::grid::{Grid, Standing};

pub fn walk_x(time: Res<Time>, mut all: Query<(&mut position::x, &velocity::x, Has<Wounded>)>) {
    for (x, v, wounded) in all.chunks_mut() {
        let dt = time.delta_secs() * if wounded { 0.5 } else { 1.0 };
        x.iter_mut().zip(v).for_each(|(x, v)| *x += v * dt);
    }
}

pub fn walk_y(time: Res<Time>, mut all: Query<(&mut position::y, &velocity::y, Has<Wounded>)>) {
    for (y, v, wounded) in all.chunks_mut() {
        let dt = time.delta_secs() * if wounded { 0.5 } else { 1.0 };
        y.iter_mut().zip(v).for_each(|(y, v)| *y += v * dt);
    }
}

/// Turns fighters around that leave the field.
fn turn(at: f32, v: &mut f32) {
    if at.abs() > FIELD && at * *v > 0.0 {
        *v = -*v;
    }
}

pub fn turn_x(mut all: Query<(&position::x, &mut velocity::x)>) {
    for (x, v) in all.chunks_mut() {
        x.iter().zip(v).for_each(|(x, v)| turn(*x, v));
    }
}

pub fn turn_y(mut all: Query<(&position::y, &mut velocity::y)>) {
    for (y, v) in all.chunks_mut() {
        y.iter().zip(v).for_each(|(y, v)| turn(*y, v));
    }
}

pub fn survey(mut grid: ResMut<Grid>, all: Query<(Entity, &Position, &Team, &Health)>) {
    let standing = |(entity, pos, team, health): (Entity, _, &Team, &Health)| {
        let pos: crate::battle::PositionRef<'_> = pos;
        (team.0, Standing { entity, x: *pos.x, y: *pos.y, health: health.0 })
    };
    let all: Vec<(u8, Standing)> = all.iter().map(standing).collect();
    grid.rebuild(all.iter().copied());
}

pub fn aim(grid: Res<Grid>, mut all: Query<(&mut Weapon, &Position, &Team)>) {
    let grid = &*grid;
    all.par_iter_mut().for_each(|(mut weapon, pos, team)| {
        weapon.target = None;
        if weapon.wait <= 0.0 {
            weapon.target = grid.nearest(1 - team.0, *pos.x, *pos.y, weapon.range).map(|one| one.entity);
        }
    });
}

pub fn reload(time: Res<Time>, mut all: Query<&mut Weapon>) {
    for mut weapon in &mut all {
        weapon.wait = if weapon.target.is_some() { weapon.reload } else { weapon.wait - time.delta_secs() };
    }
}

pub fn strike(all: Query<&Weapon, With<Sword>>, mut hits: MessageWriter<Hit>) {
    for weapon in &all {
        if let Some(target) = weapon.target {
            hits.write(Hit { target, damage: weapon.damage });
        }
    }
}

/// The seconds that an arrow flies.
const FLIGHT: f32 = 0.2;

/// Every archer with a target lets an arrow go; every eighth of them burns.
pub fn shoot(
    mut commands: Commands,
    archers: Query<(&Position, &Weapon), With<Bow>>,
    places: Query<&Position, With<Team>>,
    mut tally: ResMut<Tally>,
) {
    for (from, weapon) in &archers {
        if let Some(target) = weapon.target
            && let Ok(to) = places.get(target)
        {
            tally.arrows += 1;
            commands.spawn_in(Arrows {
                position: Position { x: *from.x, y: *from.y },
                velocity: Velocity { x: (to.x - from.x) / FLIGHT, y: (to.y - from.y) / FLIGHT },
                arrow: Arrow {
                    target,
                    damage: weapon.damage,
                    left: FLIGHT,
                    fire: tally.arrows.is_multiple_of(8),
                },
            });
        }
    }
}

/// An arrow that arrives hits, and may set its target on fire.
pub fn fly(
    time: Res<Time>,
    mut commands: Commands,
    mut arrows: Query<(Entity, &mut Arrow), InPool<Arrows>>,
    fighters: Query<(), With<Team>>,
    mut hits: MessageWriter<Hit>,
    mut tally: ResMut<Tally>,
) {
    for (entity, mut arrow) in &mut arrows {
        arrow.left -= time.delta_secs();
        if arrow.left > 0.0 {
            continue;
        }
        commands.entity(entity).despawn();
        if fighters.contains(arrow.target) {
            hits.write(Hit { target: arrow.target, damage: arrow.damage });
            if arrow.fire {
                commands.entity(arrow.target).insert(Burning { left: 1.5 });
                tally.ignited += 1;
            }
        }
    }
}

/// Burning fighters lose health, until the fire is out.
pub fn burn(time: Res<Time>, mut commands: Commands, mut all: Query<(Entity, &mut Burning, &mut Health)>) {
    for (entity, mut burning, mut health) in &mut all {
        health.0 -= 10.0 * time.delta_secs();
        burning.left -= time.delta_secs();
        if burning.left <= 0.0 {
            commands.entity(entity).remove::<Burning>();
        }
    }
}

pub fn suffer(mut hits: MessageReader<Hit>, mut all: Query<&mut Health>, mut tally: ResMut<Tally>) {
    for hit in hits.read() {
        if let Ok(mut health) = all.get_mut(hit.target) {
            health.0 -= hit.damage;
            tally.hits += 1;
        }
    }
}

/// A medic helps the nearest of its own that needs it.
pub fn heal(
    grid: Res<Grid>,
    medics: Query<(&Position, &Team, &Bandages)>,
    mut all: Query<&mut Health>,
    mut tally: ResMut<Tally>,
) {
    for (pos, team, bandages) in &medics {
        let Some(near) = grid.nearest(team.0, *pos.x, *pos.y, 8.0) else { continue };
        if near.health < 60.0
            && let Ok(mut health) = all.get_mut(near.entity)
            && health.0 > 0.0
        {
            health.0 = (health.0 + bandages.0).min(100.0);
            tally.healed += 1;
        }
    }
}

pub fn bury(mut commands: Commands, all: Query<(Entity, &Health, &Team)>, mut deaths: MessageWriter<Died>) {
    for (entity, health, team) in &all {
        if health.0 <= 0.0 {
            commands.entity(entity).despawn();
            deaths.write(Died { team: team.0 });
        }
    }
}

pub fn mark_wounded(mut commands: Commands, all: Query<(Entity, &Health, Has<Wounded>)>) {
    for (entity, health, wounded) in &all {
        match (wounded, health.0) {
            (false, ..50.0) => drop(commands.entity(entity).insert(Wounded).id()),
            (true, 80.0..) => drop(commands.entity(entity).remove::<Wounded>().id()),
            _ => {}
        }
    }
}

/// For every two of the dead, one comes anew on its own side of the field.
pub fn recruit(
    mut commands: Commands,
    mut deaths: MessageReader<Died>,
    seed: Res<Seed>,
    mut missing: Local<[u64; 2]>,
    mut number: Local<u64>,
) {
    deaths.read().for_each(|died| missing[usize::from(died.team)] += 1);
    for team in [0, 1] {
        while missing[team] >= 2 {
            missing[team] -= 2;
            *number += 1;
            let n = (1 << 40) + *number * 2 + team as u64;
            match mixed(seed.0, !n) % 5 {
                0..=2 => drop(commands.spawn((fighter(seed.0, n), sword())).id()),
                3 => drop(commands.spawn((fighter(seed.0, n), bow())).id()),
                _ => drop(commands.spawn((fighter(seed.0, n), Bandages(15.0))).id()),
            }
        }
    }
}

pub fn tally(
    mut deaths: MessageReader<Died>,
    fresh: Query<&Team>,
    mut tally: ResMut<Tally>,
    mut alive: Local<u64>,
) {
    let mut died = 0;
    for death in deaths.read() {
        tally.deaths[usize::from(death.team)] += 1;
        died += 1;
    }
    let now = fresh.count() as u64;
    if *alive > 0 {
        tally.recruits += now + died - *alive;
    }
    *alive = now;
}
