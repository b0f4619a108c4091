//! One random history: the real world and the naive one, side by side.
//!
//! Each step does one operation to both. Then the real world checks itself, and what the step touched is
//! compared; every entity is compared now and then, and in each step while there are few.

use phalanx::ComponentId;
use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{Entity, World};

use crate::ledger::living_texts;
use crate::naive::Naive;
use crate::operations::deferred::Recorded;
use crate::operations::{self, OPERATIONS};
use crate::parts::{Cell, DYNAMIC, Key, PARTS, Part, schema, with_part};
use crate::queries::Kept;
use crate::rng::Rng;

/// How many steps a bound on the number of entities lasts.
const SEASON: u64 = 400;

pub struct Run {
    pub rng: Rng,
    pub world: World,
    pub naive: Naive,
    /// The ids of the components that were registered at run time.
    pub dynamic: Vec<ComponentId>,
    /// What the commands that were recorded will do, and how many texts they hold.
    pub recorded: Vec<Recorded>,
    pub recorded_texts: usize,
    /// Some of the ids that died.
    pub dead: Vec<Entity>,
    /// Every archetype id that was seen, dropped ones included.
    pub archetypes: Vec<ArchetypeId>,
    queries: Kept,
    population: usize,
    progress: Progress,
    /// How often each operation did something.
    pub effects: Vec<u64>,
}

/// Where the history stands; printed when it ends in a panic.
struct Progress {
    seed: u64,
    step: u64,
    operation: &'static str,
}

impl Drop for Progress {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { seed, step, operation } = self;
            eprintln!("the model failed in step {step} of seed {seed}: {operation}");
            eprintln!("PHALANX_MODEL_SEED={seed} PHALANX_MODEL_STEPS={} shows it again", *step + 1);
        }
    }
}

impl Run {
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut world = World::new();
        // Ids of components differ from run to run.
        for &key in PARTS {
            if rng.once_in(3) {
                with_part!(key, register(&mut world));
            }
        }
        let dynamic = (0..DYNAMIC.len()).map(|number| {
            world.register_dynamic(schema(number)).expect("the schema is right, its name is free")
        });
        let dynamic = dynamic.collect();
        let queries = Kept::new(&world);
        Self {
            dynamic,
            naive: Naive::new(world.read_change_tick()),
            rng,
            world,
            recorded: Vec::new(),
            recorded_texts: 0,
            dead: Vec::new(),
            archetypes: vec![ArchetypeId::EMPTY],
            queries,
            population: 0,
            progress: Progress { seed, step: 0, operation: "nothing yet" },
            effects: vec![0; OPERATIONS.len()],
        }
    }

    pub fn steps(&mut self, count: u64) {
        for step in 0..count {
            self.progress.step = step;
            if step.is_multiple_of(SEASON) {
                self.population = self.rng.pick(&[8, 20, 40, 90, 90, 250, 500]).expect("a choice");
            }
            self.step();
            self.compare(step.is_multiple_of(16) || self.naive.entities.len() < 16);
        }
    }

    fn step(&mut self) {
        if self.naive.entities.len() > self.population {
            self.progress.operation = "despawn, there are too many";
            operations::despawn_some(self);
            return;
        }
        let total = OPERATIONS.iter().map(|operation| operation.weight).sum();
        let mut at = self.rng.below(total);
        let chosen = OPERATIONS.iter().position(|operation| {
            let found = at < operation.weight;
            at = at.wrapping_sub(operation.weight);
            found
        });
        let chosen = chosen.expect("the number is below the sum of all weights");
        self.progress.operation = OPERATIONS[chosen].name;
        self.effects[chosen] += u64::from((OPERATIONS[chosen].run)(self));
    }

    fn compare(&mut self, all: bool) {
        self.world.check().expect("the world is consistent");
        let entities = self.world.entities();
        if entities.needs_flush() {
            assert!(self.naive.pending.iter().all(|&entity| !entities.contains(entity)));
            assert!(!self.naive.pending.is_empty(), "nothing is reserved");
        } else {
            self.naive.wake();
            assert_eq!(entities.slots() as usize, self.naive.slots());
            assert_eq!(entities.free_len(), self.naive.free_slots());
        }
        assert_eq!(entities.len(), self.naive.entities.len());
        assert_eq!(self.world.read_change_tick(), self.naive.now);
        assert_eq!(living_texts(), self.naive.texts() + self.recorded_texts, "every text is dropped once");
        for entity in std::mem::take(&mut self.naive.touched) {
            self.compare_entity(entity);
        }
        for entity in std::mem::take(&mut self.naive.died) {
            self.remember_dead(entity);
        }
        if all {
            self.compare_all();
        }
    }

    fn remember_dead(&mut self, entity: Entity) {
        if self.dead.len() < 64 {
            self.dead.push(entity);
        } else {
            let at = self.rng.below(64);
            self.dead[at] = entity;
        }
    }

    fn compare_entity(&mut self, entity: Entity) {
        let Some(expected) = self.naive.entities.get(&entity) else {
            assert!(!self.world.contains(entity), "{entity} is dead");
            return;
        };
        let keys: Vec<Key> = expected.keys().copied().collect();
        let mut ids: Vec<ComponentId> = keys
            .iter()
            .map(|&key| self.id(key).unwrap_or_else(|| panic!("{key:?} is registered, {entity} has it")))
            .collect();
        ids.sort();
        assert!(self.world.entity(entity).component_ids().eq(ids), "{entity} has {keys:?}");
        for &key in PARTS {
            let real = with_part!(key, read(&mut self.world, entity));
            assert_eq!(real.as_ref(), self.naive.entities[&entity].get(&key), "{key:?} of {entity}");
        }
        for (number, &id) in self.dynamic.iter().enumerate() {
            let expected = self.naive.entities[&entity].get(&Key::Dynamic(number));
            for (name, _) in DYNAMIC[number].1 {
                let real = self.world.get_field(entity, id, name).ok();
                let expected = expected.map(|cell| match cell {
                    Cell::Fields(fields) => fields[name],
                    other => unreachable!("a run-time component is not {other:?}"),
                });
                assert_eq!(real, expected, "{name} of {entity}");
            }
        }
    }

    /// Compares every entity, what queries see, and what the world says of its archetypes.
    pub fn compare_all(&mut self) {
        for entity in self.naive.entities.keys().copied().collect::<Vec<_>>() {
            self.compare_entity(entity);
        }
        for at in 0..self.dead.len() {
            assert!(!self.world.contains(self.dead[at]), "{} is dead", self.dead[at]);
        }
        self.queries.compare(&self.world, &self.naive);
        let mut listed: Vec<Entity> = self.world.entities().iter().collect();
        listed.sort();
        assert!(self.naive.entities.keys().eq(&listed));
        let archetypes = self.naive.archetypes();
        let stats = self.world.stats();
        assert_eq!(stats.entities, listed.len());
        for archetype in &stats.archetypes {
            if !self.archetypes.contains(&archetype.id) {
                self.archetypes.push(archetype.id);
            }
        }
        for (keys, members) in &archetypes {
            let id = self.world.archetype_of(members[0]).expect("it is alive");
            assert!(members.iter().all(|&member| self.world.archetype_of(member) == Some(id)));
            let stats = stats.archetypes.iter().find(|stats| stats.id == id).expect("it has entities");
            assert_eq!(stats.entities, members.len(), "{keys:?}");
        }
        let occupied = stats.archetypes.iter().filter(|archetype| archetype.entities > 0).count();
        assert_eq!(occupied, archetypes.len(), "each set of components has one archetype");
    }

    /// The id of a component, when the world has met it.
    pub fn id(&self, key: Key) -> Option<ComponentId> {
        match key {
            Key::Dynamic(number) => Some(self.dynamic[number]),
            typed => with_part!(typed, component_id(&self.world)),
        }
    }

    pub fn any_alive(&mut self) -> Option<Entity> {
        let count = self.naive.entities.len();
        if count == 0 {
            return None;
        }
        let at = self.rng.below(count);
        self.naive.entities.keys().nth(at).copied()
    }

    /// A component that the entity has, mostly; of `all` otherwise.
    pub fn any_key(&mut self, entity: Entity, all: &[Key]) -> Key {
        let has: Vec<Key> =
            self.naive.entities[&entity].keys().copied().filter(|key| all.contains(key)).collect();
        let one = if self.rng.once_in(4) { None } else { self.rng.pick(&has) };
        one.unwrap_or_else(|| self.rng.pick(all).expect("there is a choice"))
    }

    /// An id that was alive, or never was, and is neither alive nor reserved now.
    pub fn any_dead(&mut self) -> Entity {
        let slots = self.naive.slots() as u64;
        let forged = match self.rng.below(4) {
            0 => self.rng.pick(&self.dead),
            // The right slot with another generation: one of the past, of the next entity, or far off.
            1 if slots > 0 => {
                Entity::from_bits(((1 + self.rng.bits() % 12) << 32) | (self.rng.bits() % slots))
            }
            // Beyond all slots, or anything.
            2 => Entity::from_bits((1 << 32) | (slots + self.rng.bits() % 4)),
            _ => Entity::from_bits(self.rng.bits()),
        };
        let usable = |entity: &Entity| !self.naive.is_alive(*entity) && !self.naive.pending.contains(entity);
        forged.filter(usable).unwrap_or(Entity::PLACEHOLDER)
    }

    /// Ends the history: nothing may be left behind.
    pub fn finish(mut self) -> Vec<u64> {
        self.progress.operation = "the end";
        self.compare_all();
        drop(self.world);
        assert_eq!(living_texts(), 0, "a world drops what it holds, recorded commands included");
        self.effects
    }
}

fn register<P: Part>(world: &mut World) {
    world.register_component::<P>();
}

fn component_id<P: Part>(world: &World) -> Option<ComponentId> {
    world.component_id::<P>()
}

fn read<P: Part>(world: &mut World, entity: Entity) -> Option<Cell> {
    P::read(world, entity)
}
