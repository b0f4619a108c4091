//! Checkpoints and restores of 1,000,000 entities with 24 bytes each, of whose blocks a part was written.
//!
//! What a rollback of frames does: a checkpoint per frame, of which the last few are kept. The copy that it is compared
//! with goes into memory that is there already; the clone is what rollback plugins do, a map from entities to values.

use std::collections::VecDeque;

use hashbrown::HashMap;
use phalanx::prelude::*;
use phalanx_measuring::contender::Contender;

use crate::Case;

const ROWS: usize = 1_000_000;
const BLOCK: usize = 1_024;
const KEPT: usize = 4;

#[derive(Component, Clone, Copy)]
struct Body([f32; 6]);

struct Game {
    world: World,
    entities: Vec<Entity>,
    checkpoints: VecDeque<phalanx::world::Checkpoint>,
    snapshots: VecDeque<HashMap<Entity, Body>>,
    frame: f32,
}

impl Game {
    fn new() -> Self {
        let mut world = World::new();
        let rows = (0..ROWS).map(|row| Body([row as f32; 6]));
        let entities = world.spawn_batch(rows).collect();
        Self { world, entities, checkpoints: VecDeque::new(), snapshots: VecDeque::new(), frame: 0.0 }
    }

    /// Writes a row of every n-th block.
    fn write(&mut self, every: usize) {
        self.frame += 1.0;
        for row in (0..ROWS).step_by(every * BLOCK) {
            let mut body = self.world.get_mut::<Body>(self.entities[row]).expect("alive");
            body.0[0] = self.frame;
        }
    }

    fn checkpoint(&mut self) {
        self.checkpoints.push_back(self.world.checkpoint());
    }

    fn snapshot(&mut self) {
        let all = self.world.view::<(Entity, &Body)>();
        self.snapshots.push_back(all.iter().map(|(entity, body)| (entity, *body)).collect());
    }

    fn forget(&mut self) {
        self.checkpoints.drain(..self.checkpoints.len().saturating_sub(KEPT));
        self.snapshots.drain(..self.snapshots.len().saturating_sub(KEPT));
    }

    fn put_back(&mut self) {
        let kept = self.snapshots.back().expect("there is one");
        for (entity, mut body) in self.world.view_mut::<(Entity, &mut Body)>().iter_mut() {
            if let Some(value) = kept.get(&entity) {
                *body = *value;
            }
        }
    }
}

/// The bytes of all rows, and room for a copy of them.
struct Bytes {
    rows: Vec<Body>,
    copy: Vec<Body>,
}

impl Bytes {
    fn new() -> Self {
        Self { rows: vec![Body([1.0; 6]); ROWS], copy: vec![Body([2.0; 6]); ROWS] }
    }

    fn copy(&mut self, every: usize) {
        let blocks = self.rows.chunks(BLOCK).zip(self.copy.chunks_mut(BLOCK));
        blocks.step_by(every).for_each(|(from, to)| to.copy_from_slice(from));
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (share, every) in [("1 %", 100), ("10 %", 10), ("100 %", 1)] {
        let copy = || {
            Contender::staged(
                ("memcpy", "of the written blocks"),
                Bytes::new,
                |bytes| bytes.rows[0].0[0] += 1.0,
                move |bytes| bytes.copy(every),
                |_| 1,
            )
        };
        let start = || {
            let mut game = Game::new();
            game.checkpoint();
            game
        };
        let checkpoint = Contender::staged(
            ("phalanx", "checkpoint"),
            start,
            move |game| {
                game.forget();
                game.write(every);
            },
            Game::checkpoint,
            |_| 1,
        );
        let snapshot = Contender::staged(
            ("clones", "in a map"),
            Game::new,
            move |game| {
                game.forget();
                game.write(every);
            },
            Game::snapshot,
            |_| 1,
        );
        cases.push(Case {
            name: format!("checkpoint, {share} written"),
            rows: ROWS,
            lines: vec![copy(), checkpoint, snapshot],
        });
        let restore = Contender::staged(
            ("phalanx", "restore"),
            start,
            move |game| game.write(every),
            |game| game.world.restore(&game.checkpoints[0]).expect("of this world"),
            |game| u64::from(game.world.get::<Body>(game.entities[0]).is_some_and(|body| body.0[0] == 0.0)),
        );
        let put_back = Contender::staged(
            ("clones", "in a map"),
            || {
                let mut game = Game::new();
                game.snapshot();
                game
            },
            move |game| game.write(every),
            Game::put_back,
            |game| u64::from(game.world.get::<Body>(game.entities[0]).is_some_and(|body| body.0[0] == 0.0)),
        );
        cases.push(Case {
            name: format!("restore, {share} written"),
            rows: ROWS,
            lines: vec![copy(), restore, put_back],
        });
    }
    cases
}
