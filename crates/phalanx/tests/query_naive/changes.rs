//! One random history: changes to the real world and the naive one, and queries in between.

use phalanx::ComponentId;
use phalanx::archetype::ArchetypeId;
use phalanx::prelude::{Entity, FieldType, Schema, Tick, World};

use crate::asked::{Scene, Subject, subjects};
use crate::common::cast::{
    Armour, Boss, Frozen, Health, Label, Name, Position, Random, Slot, label, name, position,
};
use crate::dynamic::Built;
use crate::naive::{ARMOUR, BOSS, COUNT, FROZEN, HEALTH, KINDS, LABEL, MARK, NAME, Naive, POSITION, SLOT};

/// Numbers that a row is filled with: small enough to be exact in every type.
const VALUES: usize = 60_000;

pub struct Run {
    rng: Random,
    world: World,
    naive: Naive,
    subjects: Vec<Subject>,
    built: Vec<Built>,
    /// How many entities there may be.
    room: usize,
    matched: usize,
    progress: Progress,
}

/// Where the history stands; printed when it ends in a panic.
struct Progress {
    seed: u64,
    step: u64,
    change: usize,
}

impl Drop for Progress {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { seed, step, change } = self;
            eprintln!("the model failed in step {step} of seed {seed}, after change {change}");
            eprintln!("PHALANX_MODEL_SEED={seed} PHALANX_MODEL_STEPS={} shows it again", *step + 1);
        }
    }
}

fn place(value: u32) -> Position {
    position(f32::from(u16::try_from(value).expect("values are small")))
}

fn slot(value: u32) -> Slot<u8, 3> {
    Slot([u8::try_from(value % 251).expect("less than 251"); 3])
}

impl Run {
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Random::new(seed + 1),
            world: World::new(),
            naive: Naive::default(),
            subjects: subjects(),
            built: Vec::new(),
            // One of the histories has tables of several blocks.
            room: if seed == 3 { 1_400 } else { 60 },
            matched: 0,
            progress: Progress { seed, step: 0, change: 0 },
        }
    }

    /// How many rows all queries have matched so far.
    pub fn matched(&self) -> usize {
        self.matched
    }

    pub fn steps(&mut self, count: u64) {
        for step in 0..count {
            self.progress.step = step;
            // Queries are asked between every few changes, so that they meet many at once as well.
            for _ in 0..=self.rng.below(4) {
                self.change();
            }
            self.ask(step);
        }
    }

    fn ask(&mut self, step: u64) {
        let ids = self.ids();
        let chosen = self.rng.below(self.subjects.len());
        let Self { world, naive, rng, subjects, .. } = self;
        let mut scene = Scene { world, naive, rng };
        for (at, subject) in subjects.iter_mut().enumerate() {
            // Most of them sleep most of the time.
            if at == chosen || step % 40 == 39 {
                self.matched += subject.check(&mut scene);
            }
        }
        if self.built.len() < 12 || self.rng.chance(8) {
            let built = Built::random(&self.world, &ids, &mut self.rng);
            let at = self.rng.below(12).min(self.built.len());
            if at == self.built.len() {
                self.built.push(built);
            } else {
                self.built[at] = built;
            }
        }
        let at = self.rng.below(self.built.len());
        self.matched += self.built[at].check(&mut self.world, &self.naive, &ids);
        if step % 40 == 39 {
            for built in &self.built {
                self.matched += built.check(&mut self.world, &self.naive, &ids);
            }
            self.world.check().expect("the world is consistent");
        }
        assert_eq!(self.world.entities().len(), self.naive.len());
    }

    /// The ids of the components that the world has met.
    fn ids(&self) -> [Option<ComponentId>; KINDS] {
        let world = &self.world;
        [
            world.component_id::<Health>(),
            world.component_id::<Position>(),
            world.component_id::<Name>(),
            world.component_id::<Armour>(),
            world.component_id::<Label>(),
            world.component_id::<Frozen>(),
            world.component_id::<Boss>(),
            world.component_id::<Slot<u8, 3>>(),
            world.components().by_name("mark"),
            world.components().by_name("count"),
        ]
    }

    fn value(&mut self) -> u32 {
        u32::try_from(self.rng.below(VALUES)).expect("small")
    }

    fn now(&self) -> Tick {
        self.world.read_change_tick()
    }

    fn some_entity(&mut self) -> Option<Entity> {
        let all: Vec<Entity> = self.world.entities().iter().collect();
        if all.is_empty() { None } else { Some(all[self.rng.below(all.len())]) }
    }

    fn change(&mut self) {
        let crowded = self.naive.len() >= self.room;
        let change = if crowded { 8 + self.rng.below(2) } else { self.rng.below(24) };
        self.progress.change = change;
        match change {
            0..=2 => self.spawn(change),
            3 => self.spawn_many(),
            4..=6 => self.insert(),
            7 => self.insert_several(),
            8 => self.despawn(),
            9 => self.despawn_archetype(),
            10..=11 => self.remove(),
            12 => self.remove_several(),
            13 => self.insert_into_all(),
            14 => self.remove_from_all(),
            15..=16 => self.write_one(),
            17 => self.write_rows(),
            18 => self.write_chunks(),
            19 => self.write_by_name(),
            20 => self.world.clear_trackers(),
            21 => {
                self.world.increment_change_tick();
            }
            22 => assert_eq!(self.world.drop_empty_archetypes(), self.naive.drop_empty()),
            _ if self.rng.chance(10) => {
                self.world.clear_entities();
                self.naive.clear();
            }
            _ => {
                self.world.reserve_rows::<(Health, Slot<u8, 3>)>(5);
                self.naive.make_table(1 << HEALTH | 1 << SLOT);
            }
        }
    }

    fn spawn(&mut self, change: usize) {
        let (value, now) = (self.value(), self.now());
        let (entity, parts): (Entity, &[usize]) = match change {
            0 => (self.world.spawn_empty().id(), &[]),
            1 => (self.world.spawn((Health(value), place(value))).id(), &[HEALTH, POSITION]),
            _ => {
                let bundle = (name(&value.to_string()), Armour(value), Frozen);
                (self.world.spawn(bundle).id(), &[NAME, ARMOUR, FROZEN])
            }
        };
        let parts: Vec<(usize, u32)> = parts.iter().map(|&kind| (kind, value)).collect();
        self.naive.spawn(entity, &parts, now);
    }

    fn spawn_many(&mut self) {
        let many = if self.room > 100 && self.rng.chance(3) { 1_100 } else { 1 + self.rng.below(12) };
        let (first, now) = (self.value(), self.now());
        let values: Vec<u32> = (first..).take(many).map(|value| value % 60_000).collect();
        let bundles = values.iter().map(|&value| (Health(value), Armour(value)));
        let entities: Vec<Entity> = self.world.spawn_batch(bundles).collect();
        for (entity, value) in entities.into_iter().zip(values) {
            self.naive.spawn(entity, &[(HEALTH, value), (ARMOUR, value)], now);
        }
    }

    fn insert(&mut self) {
        let Some(entity) = self.some_entity() else { return };
        let (kind, value, now) = (self.rng.below(KINDS), self.value(), self.now());
        let schema = match kind {
            MARK => Schema::new("mark"),
            COUNT => Schema::new("count").field("n", FieldType::U32),
            _ => {
                let mut target = self.world.entity_mut(entity);
                match kind {
                    HEALTH => target.insert(Health(value)),
                    POSITION => target.insert(place(value)),
                    NAME => target.insert(name(&value.to_string())),
                    ARMOUR => target.insert(Armour(value)),
                    LABEL => target.insert(label(&value.to_string())),
                    FROZEN => target.insert(Frozen),
                    BOSS => target.insert(Boss),
                    _ => target.insert(slot(value)),
                };
                return self.naive.insert(entity, &[(kind, value)], now);
            }
        };
        let id = self.world.register_dynamic(schema).expect("the same schema each time");
        let fields: &[_] = if kind == MARK { &[] } else { &[("n", value.into())] };
        self.world.insert_dynamic(entity, id, fields).expect("it fits");
        self.naive.insert(entity, &[(kind, value)], now);
    }

    fn insert_several(&mut self) {
        let Some(entity) = self.some_entity() else { return };
        let (value, now) = (self.value(), self.now());
        self.world.entity_mut(entity).insert((label(&value.to_string()), (Boss, Armour(value))));
        self.naive.insert(entity, &[(LABEL, value), (BOSS, value), (ARMOUR, value)], now);
    }

    fn despawn(&mut self) {
        if let Some(entity) = self.some_entity() {
            assert!(self.world.despawn(entity));
            self.naive.despawn(entity);
        }
    }

    fn despawn_archetype(&mut self) {
        let Some(entity) = self.some_entity() else { return };
        let has = self.naive.entry(entity).expect("alive").has;
        let all = self.naive.with_exactly(has);
        assert_eq!(self.world.despawn_batch(all.iter().copied()), all.len());
        for entity in all {
            self.naive.despawn(entity);
        }
    }

    fn remove(&mut self) {
        let Some(entity) = self.some_entity() else { return };
        let kind = self.rng.below(KINDS);
        if let Some(id) = self.ids()[kind].filter(|_| kind >= MARK || self.rng.chance(2)) {
            self.world.remove_by_id(entity, id).expect("alive");
        } else {
            let mut target = self.world.entity_mut(entity);
            match kind {
                HEALTH => target.remove::<Health>(),
                POSITION => target.remove::<Position>(),
                NAME => target.remove::<Name>(),
                ARMOUR => target.remove::<Armour>(),
                LABEL => target.remove::<Label>(),
                FROZEN => target.remove::<Frozen>(),
                BOSS => target.remove::<Boss>(),
                SLOT => target.remove::<Slot<u8, 3>>(),
                _ => return,
            };
        }
        self.naive.remove(entity, &[kind]);
    }

    fn remove_several(&mut self) {
        if let Some(entity) = self.some_entity() {
            self.world.entity_mut(entity).remove::<(Health, Frozen, Position)>();
            self.naive.remove(entity, &[HEALTH, FROZEN, POSITION]);
        }
    }

    /// The archetype of some entity, and the entities in it.
    fn some_archetype(&mut self) -> Option<(ArchetypeId, Vec<Entity>)> {
        let entity = self.some_entity()?;
        let archetype = self.world.archetype_of(entity)?;
        Some((archetype, self.naive.with_exactly(self.naive.entry(entity)?.has)))
    }

    fn insert_into_all(&mut self) {
        let Some((archetype, all)) = self.some_archetype() else { return };
        let (value, now) = (self.value(), self.now());
        assert_eq!(self.world.insert_into_archetype(archetype, &(Armour(value), Boss)), all.len());
        for entity in all {
            self.naive.insert(entity, &[(ARMOUR, value), (BOSS, value)], now);
        }
    }

    fn remove_from_all(&mut self) {
        let Some((archetype, all)) = self.some_archetype() else { return };
        assert_eq!(self.world.remove_from_archetype::<(Frozen, Name)>(archetype), all.len());
        for entity in all {
            self.naive.remove(entity, &[FROZEN, NAME]);
        }
    }

    fn write_one(&mut self) {
        let Some(entity) = self.some_entity() else { return };
        let (value, now) = (self.value(), self.now());
        let has = *self.naive.entry(entity).expect("alive");
        if let Some(mut armour) = self.world.get_mut::<Armour>(entity) {
            armour.0 = value;
        }
        if let Some(tag) = self.world.get_mut::<Label>(entity) {
            *tag.text = value.to_string();
        }
        for kind in [ARMOUR, LABEL] {
            if has.has(kind) {
                self.naive.write(entity, kind, value, now);
            }
        }
    }

    fn write_rows(&mut self) {
        let now = self.now();
        for (entity, mut armour, health) in
            self.world.view_mut::<(Entity, &mut Armour, Option<&mut Health>)>()
        {
            let value = (armour.0 + 1) % 60_000;
            if armour.0.is_multiple_of(3) {
                armour.0 = value;
                self.naive.write(entity, ARMOUR, value, now);
            }
            if let Some(mut health) = health {
                health.0 = value;
                self.naive.write(entity, HEALTH, value, now);
            }
        }
    }

    fn write_chunks(&mut self) {
        let now = self.now();
        let mut query = self.world.view_mut::<(Entity, &mut Armour, &mut Health)>();
        for (entities, armour, healths) in query.chunks_mut() {
            for (at, &entity) in entities.iter().enumerate() {
                let value = (healths[at].0 * 7 + 1) % 60_000;
                (armour[at].0, healths[at].0) = (value, value);
                self.naive.write(entity, ARMOUR, value, now);
                self.naive.write(entity, HEALTH, value, now);
            }
        }
    }

    /// Writes a column of all tables that a query built at run time matches.
    fn write_by_name(&mut self) {
        let ids = self.ids();
        let (Some(armour), false) = (ids[ARMOUR], self.built.is_empty()) else { return };
        let (at, value, now) = (self.rng.below(self.built.len()), self.value(), self.now());
        let built = &self.built[at];
        built.query().for_each_table_mut(&mut self.world, |mut table| {
            if let Ok(column) = table.column_mut::<Armour>(armour, "") {
                column.fill(Armour(value));
            }
        });
        for entity in self.naive.in_order() {
            let entry = self.naive.entry(entity).expect("alive");
            if built.matches(entry.has) && entry.has(ARMOUR) {
                self.naive.write(entity, ARMOUR, value, now);
            }
        }
    }
}
