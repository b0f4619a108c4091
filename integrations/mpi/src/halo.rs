//! Neighbours in the order of their global ids, whichever rank owns them.

use std::collections::HashMap;

use phalanx::prelude::*;

use crate::ids::GlobalId;
use crate::types::Located;

/// An entity near, owned or a ghost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Its id on all ranks.
    pub id: GlobalId,
    /// Its id here.
    pub entity: Entity,
    /// Where it was at the last exchange.
    pub place: [f64; 3],
}

/// All entities of this rank, ghosts included, by where they are; each exchange makes it anew.
///
/// [`GlobalOrder::within`] yields neighbours in the order of their ids. What a system sums up over them has the same bits
/// on any number of ranks, as long as its radius is not above that of the halo.
#[derive(Resource, Default)]
pub struct GlobalOrder {
    side: f64,
    cells: HashMap<[i64; 3], Vec<Neighbour>>,
}

impl GlobalOrder {
    fn new(side: f64, all: impl IntoIterator<Item = Neighbour>) -> Self {
        let mut cells: HashMap<[i64; 3], Vec<Neighbour>> = HashMap::new();
        for neighbour in all {
            cells.entry(cell(neighbour.place, side)).or_default().push(neighbour);
        }
        cells.values_mut().for_each(|list| list.sort_unstable_by_key(|neighbour| neighbour.id));
        Self { side, cells }
    }

    /// Makes the index of a world anew, with cells of this side. An exchange does so; without ranks it can be called alone.
    pub fn refresh<P: Located>(world: &mut World, side: f64) {
        let mut all = Vec::new();
        for (entity, id, row) in world.view::<(Entity, &GlobalId, &P)>().iter() {
            P::with_value(row, &mut |value| all.push(Neighbour { id: *id, entity, place: value.place() }));
        }
        world.insert_resource(Self::new(side.max(f64::MIN_POSITIVE), all));
    }

    /// Everyone whose distance is at most `radius`, in the order of ids.
    pub fn within(&self, place: [f64; 3], radius: f64) -> Vec<Neighbour> {
        let mut found = Vec::new();
        if self.cells.is_empty() {
            return found;
        }
        let low = cell(place.map(|at| at - radius), self.side);
        let high = cell(place.map(|at| at + radius), self.side);
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                for z in low[2]..=high[2] {
                    let list = self.cells.get(&[x, y, z]).into_iter().flatten();
                    found
                        .extend(list.filter(|other| distance_squared(place, other.place) <= radius * radius));
                }
            }
        }
        found.sort_unstable_by_key(|neighbour| neighbour.id);
        found
    }
}

fn distance_squared(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]) * (a[axis] - b[axis])).sum()
}

#[expect(clippy::cast_possible_truncation, reason = "far away places share the last cell")]
fn cell(place: [f64; 3], side: f64) -> [i64; 3] {
    place.map(|at| (at / side).floor() as i64)
}
