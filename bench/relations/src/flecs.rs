//! flecs: pairs of `ChildOf` and a parent, which is the hierarchy that version 4.1 has; each parent makes a table.

use std::collections::HashMap;

use flecs_ecs::prelude::*;

use crate::{BRANCHES, CHILDREN, DETACHED, SIZE, Tree, part};

#[derive(Component, Clone, Copy)]
pub struct Local([f32; 4]);
#[derive(Component, Clone, Copy)]
pub struct Global([f32; 4]);

const NOTHING: Global = Global([0.0; 4]);

fn sum(local: &Local, above: &Global) -> Global {
    Global(std::array::from_fn(|at| local.0[at] + above.0[at]))
}

/// A world with such a tree, entity by entity. The pair comes last, so that each entity changes its table once for it.
pub fn build(tree: Tree) -> (World, Vec<Entity>) {
    let world = World::new();
    let mut all: Vec<Entity> = Vec::with_capacity(SIZE);
    for number in 0..SIZE {
        let entity = world.entity().set(Local(part(number))).set(NOTHING);
        if let Some(parent) = tree.parent(number) {
            entity.child_of(all[parent]);
        }
        all.push(entity.id());
    }
    (world, all)
}

/// The bushy tree again: the children of a parent at once, in the table that they stay in.
pub fn build_bulk() -> (World, Vec<Entity>) {
    let world = World::new();
    let mut all: Vec<Entity> = Vec::with_capacity(SIZE);
    all.push(world.entity().set(Local(part(0))).set(NOTHING).id());
    let mut parent = 0;
    while all.len() < SIZE {
        let (first, end) = (all.len(), (all.len() + BRANCHES).min(SIZE));
        let locals: Vec<Local> = (first..end).map(|number| Local(part(number))).collect();
        let globals = vec![NOTHING; locals.len()];
        let mut bulk = world.entity_bulk(locals.len() as u32);
        let children = bulk.add_id((flecs::ChildOf, all[parent])).set(&locals).set(&globals).build();
        all.extend(children);
        parent += 1;
    }
    (world, all)
}

/// How many children an entity has. `count_children` of flecs_ecs 0.2.2 crashes where there are none.
fn children(entity: EntityView<'_>) -> u64 {
    let mut count = 0;
    entity.each_child(|_| count += 1);
    count
}

/// As `shared.rs` has it.
pub fn links(world: &World, all: &[Entity]) -> u64 {
    let number: HashMap<u64, u64> = all.iter().map(|entity| **entity).zip(0..).collect();
    let link = |entity: &Entity| {
        let entity = world.entity_from_id(*entity);
        let above = entity.parent().map_or(0, |parent| number[&*parent.id()] + 1);
        let below = children(entity);
        above.wrapping_mul(number[&*entity.id()] + 1).wrapping_add(below << 48)
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
            self.world.entity_from_id(*leaf).child_of(parents[self.turn]);
        }
        self.turn = 1 - self.turn;
    }

    pub fn checksum(&mut self) -> u64 {
        links(&self.world, &self.all)
    }
}

pub fn despawn((world, all): &mut (World, Vec<Entity>)) {
    for &root in &all[crate::CUT] {
        world.entity_from_id(root).destruct();
    }
}

pub fn alive((world, all): &mut (World, Vec<Entity>)) -> u64 {
    all.iter().filter(|&&entity| world.is_alive(entity)).count() as u64
}

/// Looks at each child of each parent: parent by parent, or table by table.
pub struct Walk {
    // Dropped before its world.
    tables: Query<()>,
    world: World,
    parents: Vec<Entity>,
    root: Entity,
    pub found: u64,
}

impl Walk {
    pub fn new() -> Self {
        let (world, all) = build(Tree::Bushy);
        let tables = world
            .query::<()>()
            .with((flecs::ChildOf, flecs::Wildcard))
            .with(Local::id())
            .set_cached()
            .build();
        let parent = |entity: &Entity| children(world.entity_from_id(*entity)) > 0;
        let parents = all.iter().copied().filter(parent).collect();
        Self { tables, parents, root: all[0], found: 0, world }
    }

    pub fn run_children(&mut self) {
        let Self { world, parents, root, .. } = self;
        let mut found = 0;
        for &parent in parents.iter() {
            world.entity_from_id(parent).each_child(|child| found += u64::from(child.id() != *root));
        }
        self.found = found;
    }

    pub fn run_tables(&mut self) {
        let root = self.root;
        let mut found = 0;
        self.tables.run(|mut it| {
            while it.next() {
                found += it.entities().iter().map(|&child| u64::from(child != root)).sum::<u64>();
            }
        });
        self.found = found;
    }
}

/// Transforms handed down by a query that visits tables in the order of their depth.
pub struct Cascading {
    // Dropped before its world.
    query: Query<(&'static Local, Option<&'static Global>, &'static mut Global)>,
    pub world: World,
}

impl Cascading {
    pub fn new(world: World) -> Self {
        let mut query = world.query::<(&Local, Option<&Global>, &mut Global)>();
        let query = query.term_at(1).parent().cascade().set_cached().build();
        Self { query, world }
    }

    pub fn run_each(&mut self) {
        self.query.each(|(local, above, global)| *global = sum(local, above.unwrap_or(&NOTHING)));
    }

    /// All rows of a table have the same parent.
    pub fn run_tables(&mut self) {
        self.query.run(|mut it| {
            while it.next() {
                let above = if it.is_set(1) { it.field::<Global>(1)[0] } else { NOTHING };
                let (local, mut global) = (it.field::<Local>(0), it.field_mut::<Global>(2));
                for row in it.iter() {
                    global[row] = sum(&local[row], &above);
                }
            }
        });
    }

    pub fn checksum(&mut self) -> u64 {
        let mut total = 0;
        self.world.new_query::<&Global>().each(|global| {
            total += global.0.iter().map(|&value| value as u64).sum::<u64>();
        });
        total
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
        let world = World::new();
        let entity = |number: usize| world.entity().set(Local(part(number))).set(NOTHING);
        let parents: Vec<Entity> = (0..CHILDREN / siblings).map(|number| entity(number).id()).collect();
        let child = |number: usize| entity(number).child_of(parents[number / siblings]).id();
        let children = (0..CHILDREN).map(child).collect();
        Self { parents, children, siblings, turn: 0, world }
    }

    fn detached(turn: usize) -> impl Iterator<Item = usize> {
        (0..DETACHED).map(move |n| n * (CHILDREN / DETACHED) + turn % (CHILDREN / DETACHED))
    }

    /// The children that were taken away in the last run are put back.
    pub fn attach(&mut self) {
        let Some(last) = self.turn.checked_sub(1) else { return };
        for number in Self::detached(last) {
            let parent = self.parents[number / self.siblings];
            self.world.entity_from_id(self.children[number]).child_of(parent);
        }
    }

    #[inline(never)]
    pub fn run(&mut self) {
        for number in Self::detached(self.turn) {
            let parent = self.parents[number / self.siblings];
            self.world.entity_from_id(self.children[number]).remove((flecs::ChildOf, parent));
        }
        self.turn += 1;
    }

    /// The entities without a parent, and how many children the parents know.
    pub fn checksum(&mut self) -> u64 {
        let alone = |number: &usize| self.world.entity_from_id(self.children[*number]).parent().is_none();
        let alone: usize = (0..CHILDREN).filter(alone).sum();
        let known = |parent: &Entity| children(self.world.entity_from_id(*parent));
        alone as u64 + self.parents.iter().map(known).sum::<u64>()
    }
}
