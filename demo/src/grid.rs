//! Where fighters stand: the field cut into squares, rebuilt each frame.
//!
//! Fighters are sorted by square with one counting pass, in the order of the query, so the grid depends on nothing but
//! the world. A square knows the fighters of each team as two runs of one array.

use phalanx::prelude::*;

use crate::battle::FIELD;

/// The side of a square; no weapon reaches further.
pub const SQUARE: f32 = 16.0;
const SIDE: usize = 125;

/// One fighter in the grid.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    pub entity: Entity,
    pub x: f32,
    pub y: f32,
    pub health: f32,
}

/// The squares of the field.
#[derive(Resource, Clone, Default)]
#[resource(digest = "skip")]
pub struct Grid {
    /// Where each square's run begins, team by team; one more entry at the end.
    starts: Vec<u32>,
    standing: Vec<Standing>,
    places: Vec<u32>,
}

#[allow(clippy::cast_possible_truncation, reason = "a place outside the field counts as its edge")]
fn square(x: f32, y: f32) -> (usize, usize) {
    let along = |value: f32| (((value + FIELD) / SQUARE) as usize).min(SIDE - 1);
    (along(x), along(y))
}

fn run(team: u8, column: usize, row: usize) -> usize {
    (usize::from(team) * SIDE + row) * SIDE + column
}

impl Grid {
    /// Sorts all fighters into squares.
    pub fn rebuild(&mut self, fighters: impl Iterator<Item = (u8, Standing)> + Clone) {
        self.starts.clear();
        self.starts.resize(2 * SIDE * SIDE + 1, 0);
        self.places.clear();
        for (team, one) in fighters.clone() {
            let (column, row) = square(one.x, one.y);
            let at = run(team, column, row);
            self.starts[at + 1] += 1;
            self.places.push(u32::try_from(at).expect("few squares"));
        }
        for at in 1..self.starts.len() {
            self.starts[at] += self.starts[at - 1];
        }
        let nobody = Standing { entity: Entity::PLACEHOLDER, x: 0.0, y: 0.0, health: 0.0 };
        self.standing.clear();
        self.standing.resize(self.places.len(), nobody);
        let mut next = self.starts.clone();
        for ((_, one), &at) in fighters.zip(&self.places) {
            self.standing[next[at as usize] as usize] = one;
            next[at as usize] += 1;
        }
    }

    fn of(&self, team: u8, column: usize, row: usize) -> &[Standing] {
        let at = run(team, column, row);
        &self.standing[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The nearest fighter of a team around a place, no further than `range`; of equally near ones the first.
    pub fn nearest(&self, team: u8, x: f32, y: f32, range: f32) -> Option<Standing> {
        if self.starts.is_empty() {
            return None;
        }
        let (low, high) = (square(x - range, y - range), square(x + range, y + range));
        let mut best: Option<(f32, Standing)> = None;
        for row in low.1..=high.1 {
            for column in low.0..=high.0 {
                // In a crowd the first few of a square are near enough.
                for one in self.of(team, column, row).iter().take(8) {
                    let (dx, dy) = (one.x - x, one.y - y);
                    let far = dx * dx + dy * dy;
                    if far <= range * range && best.is_none_or(|(least, _)| far < least) {
                        best = Some((far, *one));
                    }
                }
            }
        }
        best.map(|(_, one)| one)
    }
}
