// What both libraries are asked to do, in the words they share: included once for each, after its prelude.

#[derive(Component, Clone, Copy)]
pub struct Local([f32; 4]);
#[derive(Component, Clone, Copy)]
pub struct Global([f32; 4]);

fn part(number: usize) -> (Local, Global) {
    let value = (number % 16) as f32;
    (Local([value, 1.0, value, 2.0]), Global([0.0; 4]))
}

fn sum(local: &Local, above: &Global) -> Global {
    Global(std::array::from_fn(|at| local.0[at] + above.0[at]))
}

/// A tree in which each entity has eight children, as far as there are so many.
pub fn tree(size: usize) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let mut all: Vec<Entity> = Vec::with_capacity(size);
    for number in 0..size {
        let entity = match number.checked_sub(1) {
            None => world.spawn(part(number)).id(),
            Some(before) => world.spawn((part(number), ChildOf(all[before / 8]))).id(),
        };
        all.push(entity);
    }
    (world, all)
}

/// Chains of a length: each entity has one child, but for the last.
pub fn chains(size: usize, length: usize) -> World {
    let mut world = World::new();
    let mut last = None;
    for number in 0..size {
        let entity = match last.filter(|_| number % length != 0) {
            None => world.spawn(part(number)).id(),
            Some(above) => world.spawn((part(number), ChildOf(above))).id(),
        };
        last = Some(entity);
    }
    world
}

/// Gives ten thousand leaves other parents, and back again.
pub struct Moves {
    world: World,
    moves: Vec<(Entity, [Entity; 2])>,
    turn: usize,
}

impl Moves {
    pub fn new(size: usize, count: usize) -> Self {
        let (world, all) = tree(size);
        let inner = size / 8;
        let moves = (0..count).map(|n| {
            let leaf = size - 1 - n * 7 % (size / 2);
            (all[leaf], [all[(n * 31) % inner], all[(leaf - 1) / 8]])
        });
        Self { moves: moves.collect(), world, turn: 0 }
    }

    pub fn run(&mut self) {
        for (leaf, parents) in &self.moves {
            self.world.entity_mut(*leaf).insert(ChildOf(parents[self.turn]));
        }
        self.turn = 1 - self.turn;
    }

    pub fn checksum(&mut self) -> u64 {
        let moved = |(leaf, parents): &&(Entity, [Entity; 2])| {
            self.world.get::<ChildOf>(*leaf).is_some_and(|link| link.parent() == parents[1 - self.turn])
        };
        self.moves.iter().filter(moved).count() as u64
    }
}

/// How many children there are, but for the first: each is looked at.
pub fn children(world: &mut World, query: &mut QueryState<&'static Children>) -> u64 {
    let mut sum = 0;
    let first = query.iter(world).next().map(|children| children[0]);
    for children in query.iter(world) {
        for child in &children[..] {
            sum += u64::from(Some(child) != first.as_ref());
        }
    }
    sum
}

pub fn checksum(world: &mut World) -> u64 {
    let mut all = world.query::<&Global>();
    all.iter(world).map(|global| global.0.iter().map(|&value| value as u64).sum::<u64>()).sum()
}

/// What people write for it: a stack of entities, each with what is above it.
pub struct ByHand {
    pub world: World,
    roots: QueryState<Entity, Without<ChildOf>>,
    parts: QueryState<(&'static Local, &'static mut Global, Option<&'static Children>)>,
    stack: Vec<(Entity, Global)>,
}

impl ByHand {
    #[allow(unused_mut, reason = "one of the libraries prepares queries with exclusive access")]
    pub fn new(mut world: World) -> Self {
        let (roots, parts) = (world.query_filtered(), world.query());
        Self { world, roots, parts, stack: Vec::new() }
    }

    pub fn run(&mut self) {
        let Self { world, roots, parts, stack } = self;
        let nothing = Global([0.0; 4]);
        stack.extend(roots.iter(world).map(|root| (root, nothing)));
        while let Some((entity, above)) = stack.pop() {
            let Ok((local, mut global, children)) = parts.get_mut(world, entity) else { continue };
            let value = sum(local, &above);
            *global = value;
            if let Some(children) = children {
                stack.extend(children[..].iter().map(|&child| (child, value)));
            }
        }
    }
}
