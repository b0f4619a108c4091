//! The owners of places: a grid of cells, each with the rank that owns it.
//!
//! Strips of cells are one way to hand them out, recursive bisection by the number of entities another. Both end in the
//! same table, which all ranks compute alike from the same counts.

/// The space that is divided. What lies outside belongs to the nearest cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lowest coordinates.
    pub low: [f64; 3],
    /// The highest coordinates.
    pub high: [f64; 3],
}

impl Bounds {
    /// A square from 0 to `side` in two dimensions.
    pub fn square(side: f64) -> Self {
        Self { low: [0.0; 3], high: [side, side, 0.0] }
    }
}

/// The owners of places.
///
/// ```
/// use phalanx_mpi::{Bounds, Partition};
///
/// let halves = Partition::strips(Bounds::square(10.0), [10, 10, 1], 2);
/// assert_eq!(halves.owner([1.0, 3.0, 0.0]), 0);
/// assert_eq!(halves.owner([1.0, 7.0, 0.0]), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    bounds: Bounds,
    cells: [usize; 3],
    ranks: usize,
    owners: Vec<u32>,
}

/// A box of cells: from, and up to.
#[derive(Clone, Copy)]
struct Block {
    low: [usize; 3],
    high: [usize; 3],
}

impl Partition {
    /// Cells in their order, as many to each rank.
    ///
    /// # Panics
    /// Without cells or ranks.
    pub fn strips(bounds: Bounds, cells: [usize; 3], ranks: usize) -> Self {
        let count = cells.iter().product::<usize>();
        assert!(count > 0 && ranks > 0, "a partition has cells and ranks");
        let owners = (0..count).map(|cell| rank_number(cell * ranks / count)).collect();
        Self { bounds, cells, ranks, owners }
    }

    /// Recursive bisection: the space is cut across its longer side so that both parts have entities as their ranks, and
    /// each part again. The counts are those of the cells.
    ///
    /// # Panics
    /// When there is not one count for each cell.
    #[must_use]
    pub fn bisect(&self, counts: &[u64]) -> Self {
        assert_eq!(counts.len(), self.owners.len(), "one count for each cell");
        let mut owners = vec![0; self.owners.len()];
        let whole = Block { low: [0; 3], high: self.cells };
        self.cut(counts, whole, 0, self.ranks, &mut owners);
        Self { owners, ..self.clone() }
    }

    fn cut(&self, counts: &[u64], block: Block, first: usize, ranks: usize, owners: &mut [u32]) {
        let sides: [usize; 3] = std::array::from_fn(|axis| block.high[axis] - block.low[axis]);
        let axis = (0..3).rev().max_by_key(|&axis| sides[axis]).expect("three axes");
        if ranks == 1 || sides[axis] < 2 {
            // A cell is not cut: ranks beyond the first own nothing.
            self.each(block, |cell| owners[cell] = rank_number(first));
            return;
        }
        let mut layers = vec![0_u64; sides[axis]];
        for (at, layer) in layers.iter_mut().enumerate() {
            let mut slice = block;
            (slice.low[axis], slice.high[axis]) = (block.low[axis] + at, block.low[axis] + at + 1);
            self.each(slice, |cell| *layer += counts[cell]);
        }
        let left = ranks / 2;
        let total: u64 = layers.iter().sum();
        let wanted = total * left as u64 / ranks as u64;
        let (mut at, mut sum) = (1, layers[0]);
        while at + 1 < layers.len() && sum < wanted {
            sum += layers[at];
            at += 1;
        }
        let (mut low, mut high) = (block, block);
        low.high[axis] = block.low[axis] + at;
        high.low[axis] = block.low[axis] + at;
        self.cut(counts, low, first, left, owners);
        self.cut(counts, high, first + left, ranks - left, owners);
    }

    fn each(&self, block: Block, mut f: impl FnMut(usize)) {
        for z in block.low[2]..block.high[2] {
            for y in block.low[1]..block.high[1] {
                for x in block.low[0]..block.high[0] {
                    f(self.number([x, y, z]));
                }
            }
        }
    }

    fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (z * self.cells[1] + y) * self.cells[0] + x
    }

    /// The cell of a place along each axis.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the cells")]
    fn coordinates(&self, place: [f64; 3]) -> [usize; 3] {
        std::array::from_fn(|axis| {
            let (low, high) = (self.bounds.low[axis], self.bounds.high[axis]);
            let part = if high > low { (place[axis] - low) / (high - low) } else { 0.0 };
            let cells = self.cells[axis];
            ((part * cells as f64).floor().max(0.0) as usize).min(cells - 1)
        })
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    /// Whether there is no cell, which is never so.
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// The number of a place's cell.
    pub fn cell(&self, place: [f64; 3]) -> usize {
        self.number(self.coordinates(place))
    }

    /// The rank that owns a place.
    pub fn owner(&self, place: [f64; 3]) -> usize {
        self.owners[self.cell(place)] as usize
    }

    /// For each cell, the other ranks that own a cell within `radius` of it.
    pub fn near(&self, radius: f64) -> Vec<Vec<usize>> {
        let mut near = Vec::with_capacity(self.len());
        let reach: [usize; 3] = std::array::from_fn(|axis| {
            let side = (self.bounds.high[axis] - self.bounds.low[axis]) / self.cells[axis] as f64;
            let mut reach = 0;
            while reach < self.cells[axis] && side > 0.0 && (reach as f64) * side < radius {
                reach += 1;
            }
            reach
        });
        for cell in 0..self.len() {
            let at = [
                cell % self.cells[0],
                cell / self.cells[0] % self.cells[1],
                cell / (self.cells[0] * self.cells[1]),
            ];
            let block = Block {
                low: std::array::from_fn(|axis| at[axis].saturating_sub(reach[axis])),
                high: std::array::from_fn(|axis| (at[axis] + reach[axis] + 1).min(self.cells[axis])),
            };
            let mut ranks = Vec::new();
            self.each(block, |other| ranks.push(self.owners[other] as usize));
            ranks.sort_unstable();
            ranks.dedup();
            ranks.retain(|&rank| rank != self.owners[cell] as usize);
            near.push(ranks);
        }
        near
    }
}

fn rank_number(rank: usize) -> u32 {
    u32::try_from(rank).expect("fewer than 2^32 ranks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_gives_each_rank_about_as_many() {
        let grid = Partition::strips(Bounds::square(16.0), [16, 16, 1], 5);
        // All in one corner.
        let counts: Vec<u64> =
            (0..256).map(|cell| if cell % 16 < 6 && cell / 16 < 6 { 10 } else { 0 }).collect();
        let cut = grid.bisect(&counts);
        let mut of_rank = [0_u64; 5];
        counts.iter().zip(&cut.owners).for_each(|(count, &owner)| of_rank[owner as usize] += count);
        assert_eq!(of_rank.iter().sum::<u64>(), 360);
        assert!(of_rank.iter().all(|&count| (30..=130).contains(&count)), "{of_rank:?}");
        assert_eq!(cut, grid.bisect(&counts));
    }

    #[test]
    fn more_ranks_than_cells_leaves_some_without() {
        let grid = Partition::strips(Bounds::square(1.0), [2, 1, 1], 4).bisect(&[1, 1]);
        assert!(grid.owners.iter().all(|&owner| owner < 4));
    }

    #[test]
    fn what_is_near_a_border_is_near_the_other_rank() {
        let halves = Partition::strips(Bounds::square(8.0), [8, 8, 1], 2);
        let near = halves.near(1.0);
        assert_eq!(near[halves.cell([0.5, 3.5, 0.0])], [1]);
        assert_eq!(near[halves.cell([0.5, 2.5, 0.0])], [] as [usize; 0]);
        assert_eq!(near[halves.cell([0.5, 4.5, 0.0])], [0]);
        assert_eq!(halves.near(1.5)[halves.cell([0.5, 2.5, 0.0])], [1]);
    }

    #[test]
    fn places_outside_belong_to_the_nearest_cell() {
        let grid = Partition::strips(Bounds::square(4.0), [4, 4, 1], 4);
        assert_eq!(grid.owner([-9.0, -9.0, 0.0]), 0);
        assert_eq!(grid.owner([99.0, 99.0, f64::NAN]), 3);
    }
}
