// What bevy_ecs and Phalanx are asked to do, in the words they share: included once for each, after its prelude.

use crate::{BRANCHES, CHILDREN, DETACHED, SIZE, Tree, part};

#[derive(Component, Clone, Copy)]
pub struct Local([f32; 4]);
#[derive(Component, Clone, Copy)]
pub struct Global([f32; 4]);

fn parts(number: usize) -> (Local, Global) {
    (Local(part(number)), Global([0.0; 4]))
}

fn sum(local: &Local, above: &Global) -> Global {
    Global(std::array::from_fn(|at| local.0[at] + above.0[at]))
}

/// A world with such a tree, entity by entity, and its entities by number.
pub fn build(tree: Tree) -> (World, Vec<Entity>) {
    let mut world = World::new();
    let mut all: Vec<Entity> = Vec::with_capacity(SIZE);
    for number in 0..SIZE {
        let entity = match tree.parent(number) {
            None => world.spawn(parts(number)).id(),
            Some(parent) => world.spawn((parts(number), ChildOf(all[parent]))).id(),
        };
        all.push(entity);
    }
    (world, all)
}

/// The bushy tree again, one batch per level.
pub fn build_batches() -> (World, Vec<Entity>) {
    let mut world = World::new();
    let mut all: Vec<Entity> = Vec::with_capacity(SIZE);
    all.push(world.spawn(parts(0)).id());
    while all.len() < SIZE {
        let (first, end) = (all.len(), (all.len() * BRANCHES + 1).min(SIZE));
        let level = (first..end).map(|number| {
            let parent = Tree::Bushy.parent(number).expect("only the first has none");
            (parts(number), ChildOf(all[parent]))
        });
        let level: Vec<Entity> = world.spawn_batch(level.collect::<Vec<_>>()).collect();
        all.extend(level);
    }
    (world, all)
}

/// A sum over all links, read from the side of the child, and how many children the parents know.
pub fn links(world: &World, all: &[Entity]) -> u64 {
    let number: std::collections::HashMap<Entity, u64> = all.iter().copied().zip(0..).collect();
    let link = |entity: &Entity| {
        let above = world.get::<ChildOf>(*entity).map_or(0, |link| number[&link.parent()] + 1);
        let below = world.get::<Children>(*entity).map_or(0, |children| children[..].len() as u64);
        above.wrapping_mul(number[entity] + 1).wrapping_add(below << 48)
    };
    all.iter().map(link).fold(0, u64::wrapping_add)
}

/// Gives leaves other parents, and back again.
pub struct Moves {
    world: World,
    all: Vec<Entity>,
    moves: Vec<(Entity, [Entity; 2])>,
    turn: usize,
}

impl Moves {
    pub fn new() -> Self {
        let (world, all) = build(Tree::Bushy);
        let moves = crate::moves().map(|(leaf, parents)| (all[leaf], parents.map(|parent| all[parent])));
        Self { moves: moves.collect(), world, all, turn: 0 }
    }

    pub fn run(&mut self) {
        for (leaf, parents) in &self.moves {
            self.world.entity_mut(*leaf).insert(ChildOf(parents[self.turn]));
        }
        self.turn = 1 - self.turn;
    }

    pub fn checksum(&mut self) -> u64 {
        links(&self.world, &self.all)
    }
}

pub fn despawn((world, all): &mut (World, Vec<Entity>)) {
    for &root in &all[crate::CUT] {
        world.despawn(root);
    }
}

pub fn alive((world, all): &mut (World, Vec<Entity>)) -> u64 {
    all.iter().filter(|&&entity| world.get_entity(entity).is_ok()).count() as u64
}

/// Looks at each child of each parent.
pub struct Walk {
    world: World,
    parents: QueryState<&'static Children>,
    root: Entity,
    pub found: u64,
}

impl Walk {
    #[allow(unused_mut, reason = "one of the libraries prepares queries with exclusive access")]
    pub fn new() -> Self {
        let (mut world, all) = build(Tree::Bushy);
        let parents = world.query();
        Self { world, parents, root: all[0], found: 0 }
    }

    pub fn run(&mut self) {
        self.found = 0;
        for children in self.parents.iter(&self.world) {
            for &child in &children[..] {
                self.found += u64::from(child != self.root);
            }
        }
    }
}

pub fn checksum(world: &mut World) -> u64 {
    let mut all = world.query::<&Global>();
    all.iter(world).map(|global| global.0.iter().map(|&value| value as u64).sum::<u64>()).sum()
}

/// What people write for handing down: a stack of entities, each with what is above it.
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

/// Children that leave their parents one by one, others in each run, and come back in between.
pub struct Detaching {
    world: World,
    parents: Vec<Entity>,
    children: Vec<Entity>,
    siblings: usize,
    turn: usize,
}

impl Detaching {
    pub fn new(siblings: usize) -> Self {
        let mut world = World::new();
        let parents: Vec<Entity> =
            (0..CHILDREN / siblings).map(|number| world.spawn(parts(number)).id()).collect();
        let child = |number: usize| world.spawn((parts(number), ChildOf(parents[number / siblings]))).id();
        let children = (0..CHILDREN).map(child).collect();
        Self { world, parents, children, siblings, turn: 0 }
    }

    fn detached(turn: usize) -> impl Iterator<Item = usize> {
        (0..DETACHED).map(move |n| n * (CHILDREN / DETACHED) + turn % (CHILDREN / DETACHED))
    }

    /// The children that were taken away in the last run are put back.
    pub fn attach(&mut self) {
        let Some(last) = self.turn.checked_sub(1) else { return };
        for number in Self::detached(last) {
            let parent = self.parents[number / self.siblings];
            self.world.entity_mut(self.children[number]).insert(ChildOf(parent));
        }
    }

    #[inline(never)]
    pub fn run(&mut self) {
        for number in Self::detached(self.turn) {
            self.world.entity_mut(self.children[number]).remove::<ChildOf>();
        }
        self.turn += 1;
    }

    /// The entities without a parent, and how many children the parents know.
    pub fn checksum(&mut self) -> u64 {
        let alone = |number: &usize| self.world.get::<ChildOf>(self.children[*number]).is_none();
        let alone: usize = (0..CHILDREN).filter(alone).sum();
        let known =
            |parent: &Entity| self.world.get::<Children>(*parent).map_or(0, |children| children[..].len());
        (alone + self.parents.iter().map(known).sum::<usize>()) as u64
    }
}
