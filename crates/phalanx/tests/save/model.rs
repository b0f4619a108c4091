//! Random worlds of every storage are saved and loaded again: the loaded one is the same, and stays the same when both
//! go on. `PHALANX_MODEL_STEPS` sets the number of steps.

use phalanx::prelude::*;

use super::cast::*;
use super::dump::{dump, groups};
use super::random::Random;
use super::steps::model_steps;

/// Between two saves.
const STRIDE: usize = 60;

fn steps() -> usize {
    model_steps(1_000, 6_000)
}

pub struct Sim {
    pub random: Random,
    pub alive: Vec<Entity>,
    pub dynamic: Vec<phalanx::ComponentId>,
}

impl Sim {
    pub fn new(seed: u64, world: &mut World) -> Self {
        let mut dynamic = Vec::new();
        for (name, storage) in [
            ("mod.Table", StorageKind::Table),
            ("mod.Sparse", StorageKind::Sparse),
            ("mod.Stable", StorageKind::Stable),
        ] {
            let schema = Schema::new(name)
                .storage(storage)
                .field("hp", FieldType::F32)
                .field("who", FieldType::Entity)
                .field("big", FieldType::U64);
            dynamic.push(world.register_dynamic(schema).expect("the names are free"));
        }
        dynamic.push(world.register_dynamic(Schema::new("mod.Tag")).expect("the name is free"));
        Self { random: Random::new(seed), alive: Vec::new(), dynamic }
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.random.below(end)
    }

    fn any(&mut self) -> Option<Entity> {
        let count = self.alive.len();
        (count > 0).then(|| {
            let at = self.below(count);
            self.alive[at]
        })
    }

    fn float(&mut self) -> f32 {
        match self.below(12) {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2 => -0.0,
            3 => f32::from_bits(0xffc0_1234),
            4 => f32::MIN_POSITIVE / 3.0,
            _ => f32::from_bits(u32::try_from(self.below(0x7f00_0000)).expect("32 bits")),
        }
    }

    fn mind(&mut self) -> Mind {
        let who = self.any().unwrap_or(Entity::PLACEHOLDER);
        match self.below(5) {
            0 => Mind::Idle,
            1 => Mind::Hunting(who),
            2 => Mind::Pair(7, (self.below(2) == 0).then(|| "näh \"so\" was\n".to_owned())),
            3 => Mind::Torn {
                between: vec![who; self.below(3)],
                since: [None, Some(Some(u64::MAX))][self.below(2)],
                words: (0..self.below(3)).map(|at| (-3 + i32::try_from(at).expect("small"), 'ß')).collect(),
            },
            _ => Mind::Counting(u64::MAX, i64::MIN, -1, true),
        }
    }

    fn health(&mut self) -> Health {
        Health { current: 1.5, max: f32::from(u8::try_from(self.below(200)).expect("small")) }
    }

    /// One random change.
    pub fn step(&mut self, world: &mut World) {
        let (x, y) = (self.float(), f64::from(self.float()));
        let position = Position { x, y };
        match self.below(30) {
            0..3 => {
                let spawned = world.spawn((self.health(), position)).id();
                self.alive.push(spawned);
            }
            3 => self.alive.push(world.spawn_empty().id()),
            4 => {
                let rage = (self.below(2) == 0).then_some(Rage(-3));
                let burning = (self.below(2) == 0).then_some(Burning(x));
                let health = self.health();
                self.alive.push(world.spawn_in(Orcs { health, rage, burning }));
            }
            5 => {
                let seat = (self.below(2) == 0).then(|| Seat("ghost".into()));
                self.alive.push(world.spawn_in(Ghosts { position, seat }));
            }
            6 => {
                let reserved = world.reserve_entity();
                if self.below(2) == 0 {
                    world.flush();
                }
                self.alive.push(reserved);
            }
            7 => {
                world.drop_empty_archetypes();
            }
            8 => {
                world.insert_resource(Score { points: u64::MAX - 3, leader: self.any() });
            }
            9 => {
                let (who, count) = (self.any().unwrap_or(Entity::PLACEHOLDER), self.below(3));
                for _ in 0..count {
                    world.write_message(Hit(who, x));
                }
                world.write_message(Heard { what: "bang".into(), loud: 3 });
                world.write_message(Signal);
            }
            10 => world.end_frame(),
            11 if self.below(4) == 0 => {
                groups(world);
            }
            _ => {
                if let Some(entity) = self.any() {
                    self.change(world, entity, position);
                }
            }
        }
    }

    fn change(&mut self, world: &mut World, entity: Entity, position: Position) {
        world.flush();
        let (mind, x, who) = (self.mind(), position.x, self.any().unwrap_or(entity));
        let health = self.health();
        let slot = Slot { left: (self.below(2) == 0).then_some(3), right: -9 };
        let chosen = self.below(4);
        let dynamic = self.dynamic[chosen];
        let fields = [("hp", Value::F32(x)), ("who", Value::Entity(who)), ("big", Value::U64(u64::MAX))];
        let fields = if dynamic == self.dynamic[3] { &[] } else { &fields[..] };
        // What a pool refuses is refused in both worlds.
        let _: Option<()> = match self.below(32) {
            0 | 1 => {
                world.despawn(entity);
                self.alive.retain(|&alive| alive != entity);
                None
            }
            2 => world.insert(entity, health).ok().map(drop),
            3 => world.insert(entity, position).ok().map(drop),
            4 => world.insert(entity, Frozen).ok().map(drop),
            5 => world.insert(entity, mind).ok().map(drop),
            6 => world.insert(entity, slot).ok().map(drop),
            7 | 8 => world.insert(entity, Burning(x)).ok().map(drop),
            9 => world.insert(entity, Armour { class: 3, given_by: who }).ok().map(drop),
            10 => world.insert(entity, (Marked, Burning(2.0))).ok().map(drop),
            11 | 12 => world.insert(entity, Seat(format!("{who}"))).ok().map(drop),
            13 | 14 => world.insert_dynamic(entity, dynamic, fields).ok(),
            15 => world.remove::<Burning>(entity).ok().map(drop),
            16 => world.remove::<(Seat, Frozen)>(entity).ok().map(drop),
            17 => world.remove::<(Armour, Marked)>(entity).ok().map(drop),
            18 => world.remove::<(Health, Mind)>(entity).ok().map(drop),
            19 => {
                if let Ok(mut entity) = world.get_entity_mut(entity) {
                    entity.remove_by_id(dynamic);
                }
                None
            }
            22 | 23 => {
                // A pool whose entities may not have children refuses their list, not the link.
                let general = |entity| world.pool_of(entity) == Some(phalanx::pool::PoolId::GENERAL);
                if general(entity) && general(who) && world.check_link::<ChildOf>(entity, who).is_ok() {
                    let _ = world.insert(entity, ChildOf(who));
                }
                None
            }
            24 => world.remove::<ChildOf>(entity).ok().map(drop),
            25 | 26 => {
                let likes = Likes { whom: who, amount: x, introduced_by: Some(entity) };
                world.link(entity, likes).ok()
            }
            27 => world.link(entity, Obeys(who)).ok(),
            28 => world.link(entity, Knows { whom: who, years: 3 }).ok(),
            29 | 30 => {
                let likes = world.related::<Likes>(entity).first().map(|likes| likes.whom);
                likes.and_then(|whom| world.unlink::<Likes>(entity, whom)).map(drop)
            }
            31 => world.unlink::<Knows>(who, entity).map(drop),
            20 => world.sparse_mut::<Armour>().sort_by(|a, b| a.class.cmp(b.class)).ok(),
            _ => {
                if self.below(6) == 0 {
                    world.sparse_mut::<Seat>().compact();
                }
                None
            }
        };
    }
}

fn compare(form: &str, at: usize, saved: &mut World, loaded: &mut World) {
    loaded.check().unwrap_or_else(|fault| panic!("{form}, step {at}: {fault}"));
    let (a, b) = (dump(saved), dump(loaded));
    for (a, b) in a.lines().zip(b.lines()) {
        assert_eq!(a, b, "{form}, step {at}");
    }
    assert_eq!(a.lines().count(), b.lines().count(), "{form}, step {at}");
    assert_eq!(saved.digest(), loaded.digest(), "{form}, step {at}: {:?}", saved.first_difference(loaded));
    assert_eq!(saved.entities().next_ids(1_000), loaded.entities().next_ids(1_000), "{form}, step {at}");
}

// Hazard 81; E-072, E-073.
#[test]
fn a_loaded_world_is_the_saved_one_and_goes_on_as_it_would() {
    let types = registry();
    let path = std::env::temp_dir().join(format!("phalanx-save-model-{}", std::process::id()));
    for seed in 0..(steps() / 1_000).max(1) {
        let mut world = World::new();
        let mut sim = Sim::new(seed as u64, &mut world);
        for at in 0..1_000 {
            sim.step(&mut world);
            if at % STRIDE != STRIDE - 1 {
                continue;
            }
            world.flush();
            let json = from_json(&to_json(&world), &types);
            let mut json = json.unwrap_or_else(|error| panic!("seed {seed}, step {at}, JSON: {error}"));
            compare("JSON", at, &mut world, &mut json);
            let postcard = from_postcard(&to_postcard(&world), &types);
            let mut postcard =
                postcard.unwrap_or_else(|error| panic!("seed {seed}, step {at}, postcard: {error}"));
            compare("postcard", at, &mut world, &mut postcard);
            let ron = from_ron(&to_ron(&world), &types);
            let mut ron = ron.unwrap_or_else(|error| panic!("seed {seed}, step {at}, RON: {error}"));
            compare("RON", at, &mut world, &mut ron);
            world.write_file(&path).expect("every value can be saved");
            let file = World::read_file(&path, &types);
            let mut file = file.unwrap_or_else(|error| panic!("seed {seed}, step {at}, file: {error}"));
            compare("file", at, &mut world, &mut file);
            // From here the simulation goes on in the loaded world, and for a while in the saved one, too.
            let (random, alive) = (sim.random.clone(), sim.alive.clone());
            for _ in 0..20 {
                sim.step(&mut world);
            }
            (sim.random, sim.alive) = (random, alive);
            for _ in 0..20 {
                sim.step(&mut postcard);
            }
            world.flush();
            postcard.flush();
            compare("going on", at, &mut world, &mut postcard);
            assert_eq!(groups(&mut world), groups(&mut postcard), "seed {seed}, step {at}");
            world = postcard;
        }
    }
    let _ = std::fs::remove_file(path);
}
