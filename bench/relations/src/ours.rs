//! Phalanx: the shared words, and transforms handed down in a kept order.

use phalanx::prelude::*;
use phalanx::world::CascadeOrder;
include!("shared.rs");

/// Parents before children, in an order that is kept.
pub struct Cascading {
    pub world: World,
    order: CascadeOrder<ChildOf>,
    parts: QueryState<(&'static Local, &'static mut Global)>,
}

impl Cascading {
    pub fn new(world: World) -> Self {
        let (order, parts) = (CascadeOrder::new(&world), world.query());
        Self { world, order, parts }
    }

    pub fn run(&mut self) {
        self.order.update(&self.world);
        let nothing = Global([0.0; 4]);
        self.parts.query_mut(&mut self.world).cascade(&self.order, |above, (local, mut global)| {
            *global = sum(local, above.map_or(&nothing, |(_, above)| above));
        });
    }

    /// The entities of a level on all cores.
    pub fn run_parallel(&mut self) {
        self.order.update(&self.world);
        let nothing = Global([0.0; 4]);
        self.parts.query_mut(&mut self.world).par_cascade(&self.order, |above, (local, mut global)| {
            *global = sum(local, above.map_or(&nothing, |(_, above)| above));
        });
    }
}
