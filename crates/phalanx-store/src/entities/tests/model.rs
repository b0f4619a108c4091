//! Random operations on the directory and on a naive one, compared after each step.
//!
//! The model keeps every slot as an open enum and the free list as a plain stack. It shares no idea with
//! the real directory but the required behaviour.

use super::*;

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Alive(EntityLocation),
    Rowless,
    Reserved,
    Free,
    Retired,
}

#[derive(Default)]
struct Model {
    slots: Vec<(u32, State)>,
    stack: Vec<u32>,
    limit: usize,
}

impl Model {
    fn take(&mut self, state: State) -> Option<Entity> {
        if let Some(index) = self.stack.pop() {
            self.slots[index as usize].1 = state;
            return Some(id(index, self.slots[index as usize].0));
        }
        if self.slots.len() == self.limit {
            return None;
        }
        self.slots.push((0, state));
        Some(id(self.slots.len() as u32 - 1, 0))
    }

    fn flush(&mut self) {
        for (_, state) in &mut self.slots {
            if *state == State::Reserved {
                *state = State::Rowless;
            }
        }
    }

    fn kill(&mut self, index: u32) {
        let (generation, state) = &mut self.slots[index as usize];
        *generation += 1;
        if *generation == u32::MAX - 1 {
            *state = State::Retired;
        } else {
            *state = State::Free;
            self.stack.push(index);
        }
    }

    fn locate(&self, entity: Entity) -> Option<EntityLocation> {
        let (generation, state) = self.slots.get(entity.index() as usize)?;
        match state {
            _ if *generation != entity.generation() => None,
            State::Alive(location) => Some(*location),
            State::Rowless => {
                let own = Row::new(entity.index());
                Some(EntityLocation::new(TableId::ROWLESS, own))
            }
            State::Reserved | State::Free | State::Retired => None,
        }
    }

    fn count(&self, which: impl Fn(State) -> bool) -> usize {
        self.slots.iter().filter(|slot| which(slot.1)).count()
    }
}

/// Marsaglia's xorshift: enough for tests, the same on every machine.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn location(&mut self) -> EntityLocation {
        let table = TableId::new(2 + self.below(3) as u32);
        EntityLocation::new(table, Row::new(self.below(50) as u32))
    }
}

struct Run {
    rng: Xorshift,
    real: Entities,
    model: Model,
    /// Every id ever handed out.
    seen: Vec<Entity>,
    unique: HashSet<Entity>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let limit = 60;
        Self {
            rng: Xorshift(seed),
            real: Entities::with_limit(limit as u32),
            model: Model { limit, ..Model::default() },
            seen: Vec::new(),
            unique: HashSet::new(),
        }
    }

    fn given(&mut self, entity: Entity) {
        assert!(self.unique.insert(entity), "{entity} was given out twice");
        self.seen.push(entity);
    }

    fn created(&mut self, real: Result<Entity, Exhausted>, model: Option<Entity>) {
        assert_eq!(real.ok(), model);
        if let Some(entity) = model {
            self.given(entity);
        }
    }

    fn any_seen(&mut self) -> Option<Entity> {
        let n = self.seen.len();
        (n > 0).then(|| self.seen[self.rng.below(n)])
    }

    fn step(&mut self) {
        match self.rng.below(100) {
            0..20 => self.create(),
            20..28 => self.batch(),
            28..40 => {
                let (real, model) = (self.real.reserve(), self.model.take(State::Reserved));
                self.created(real, model);
            }
            40..44 => {
                self.real.flush();
                self.model.flush();
            }
            44..78 => self.destroy(),
            78..92 => self.moved(),
            92..95 => self.age(),
            95..97 => self.memory(),
            97 => self.clear(),
            _ => {
                // Even a vain attempt to change something flushes.
                assert_eq!(self.real.free_alone(Entity::PLACEHOLDER), None);
                self.model.flush();
            }
        }
    }

    fn create(&mut self) {
        self.model.flush();
        let location = self.rng.location();
        let (real, model) = if self.rng.below(2) == 0 {
            (self.real.alloc(), self.model.take(State::Rowless))
        } else {
            let model = self.model.take(State::Alive(location));
            // SAFETY: locally: the directory stands alone, without rows to be wrong about.
            (unsafe { self.real.alloc_at(location) }, model)
        };
        self.created(real, model);
    }

    fn batch(&mut self) {
        self.model.flush();
        let n = self.rng.below(12);
        let first = self.rng.location();
        let mut given = Vec::new();
        let out = |at: u32, entity| {
            assert_eq!(at as usize, given.len());
            given.push(entity);
        };
        // SAFETY: locally: the directory stands alone, without rows to be wrong about.
        let result = unsafe { self.real.alloc_run(first.table, first.row, out, n as u32) };
        let room = self.model.stack.len() + self.model.limit - self.model.slots.len();
        assert_eq!(result.is_ok(), n <= room);
        assert_eq!(given.len(), if n <= room { n } else { 0 });
        for (row, entity) in (first.row.get()..).zip(given) {
            let location = EntityLocation::new(first.table, Row::new(row));
            assert_eq!(self.model.take(State::Alive(location)), Some(entity));
            self.given(entity);
        }
    }

    /// Any id of the past: most are dead already.
    fn destroy(&mut self) {
        let Some(entity) = self.any_seen() else {
            return;
        };
        self.model.flush();
        let location = self.model.locate(entity);
        assert_eq!(self.real.free_alone(entity), location);
        if location.is_some() {
            self.model.kill(entity.index());
        }
    }

    fn moved(&mut self) {
        let alive: Vec<Entity> = self.real.iter().collect();
        if alive.is_empty() {
            return;
        }
        let index = alive[self.rng.below(alive.len())].index();
        let location = self.rng.location();
        let state = &mut self.model.slots[index as usize].1;
        match (self.rng.below(3), *state) {
            (0, _) => {
                let rowless = EntityLocation::new(TableId::ROWLESS, location.row);
                // SAFETY: locally: the directory stands alone, without rows to be wrong about.
                unsafe { self.real.set_location(index, rowless) };
                *state = State::Rowless;
            }
            (1, State::Alive(old)) => {
                // SAFETY: locally: the model has such a slot.
                unsafe { self.real.set_row(index, location.row) };
                *state = State::Alive(EntityLocation::new(old.table, location.row));
            }
            _ => {
                // SAFETY: locally: the directory stands alone, without rows to be wrong about.
                unsafe { self.real.set_location(index, location) };
                *state = State::Alive(location);
            }
        }
    }

    /// Puts some slot near the end of its generations.
    fn age(&mut self) {
        self.real.flush();
        self.model.flush();
        let Some(entity) = self.any_seen() else {
            return;
        };
        let (generation, state) = &mut self.model.slots[entity.index() as usize];
        if *state == State::Retired || *generation > u32::MAX - 5 {
            return;
        }
        *generation = u32::MAX - 4;
        let alive = *state != State::Free;
        let renamed = self.real.set_generation_for_tests(entity.index(), u32::MAX - 3);
        if alive {
            self.given(renamed);
        }
    }

    fn memory(&mut self) {
        self.model.flush();
        self.real.reserve_slots(self.rng.below(40));
        self.real.shrink_to_fit();
    }

    fn clear(&mut self) {
        self.model.flush();
        self.real.clear();
        self.model.stack.clear();
        for index in (0..self.model.slots.len() as u32).rev() {
            match self.model.slots[index as usize].1 {
                State::Retired => {}
                State::Free => self.model.stack.push(index),
                _ => self.model.kill(index),
            }
        }
    }

    fn compare(&self) {
        checked(&self.real);
        let (real, model) = (&self.real, &self.model);
        let alive = |state| matches!(state, State::Alive(_) | State::Rowless);
        assert_eq!(real.len(), model.count(alive));
        assert_eq!(real.rowless_len(), model.count(|s| s == State::Rowless));
        assert_eq!(real.retired_len(), model.count(|s| s == State::Retired));
        assert_eq!(real.next_free(), model.stack.last().copied());
        assert_eq!(real.needs_flush(), model.count(|s| s == State::Reserved) > 0);
        if !real.needs_flush() {
            assert_eq!(real.slots() as usize, model.slots.len());
            assert_eq!(real.free_len(), model.stack.len());
        }
        let all = (0..).zip(&model.slots);
        let ids = all.filter(|(_, slot)| alive(slot.1));
        assert!(real.iter().eq(ids.map(|(index, slot)| id(index, slot.0))));
        let rowless = real.iter().filter(|e| {
            let location = real.locate(*e).expect("it is alive");
            location.table == TableId::ROWLESS
        });
        assert!(real.rowless().copied().eq(rowless));
        for entity in &self.seen {
            assert_eq!(real.locate(*entity), model.locate(*entity), "{entity}");
            assert_eq!(real.contains(*entity), model.locate(*entity).is_some());
            let rowless = model.locate(*entity).filter(|location| location.table == TableId::ROWLESS);
            assert_eq!(real.rowless_id(*entity), rowless.map(|_| entity));
        }
    }
}

#[test]
fn random_histories_agree_with_the_naive_directory() {
    for seed in 1..=24 {
        let mut run = Run::new(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed));
        for _ in 0..600 {
            run.step();
            run.compare();
        }
        assert!(run.model.count(|s| s == State::Retired) > 0, "retirement was reached");
    }
}
