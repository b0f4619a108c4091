//! Random histories of links, lists, orders, despawns, clones and disabling, and what `model_steps` adds, agree with a naive
//! world of vectors: both halves, the order and depth of trees, indexes and names are compared after each step.
//!
//! `PHALANX_MODEL_STEPS` sets the number of steps in all, `PHALANX_MODEL_SEED` one seed instead of the usual ones.

use std::collections::{BTreeMap, BTreeSet};

use phalanx::component::DisabledByTree;
use phalanx::prelude::*;
use phalanx::relation::EntityList;
use phalanx::world::{CascadeOrder, Checkpoint, EntityCloner};

use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::steps::{model_steps, setting};

#[path = "model_steps.rs"]
mod steps;

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(save)]
struct Mark(u32);

#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save)]
#[relationship(relationship_target = Owned)]
struct OwnedBy(Entity);
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save)]
#[relationship_target(relationship = OwnedBy)]
struct Owned(Vec<Entity>);

#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save)]
#[relationship(relationship_target = FollowedBy, cyclic)]
struct Follows(Entity);
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save)]
#[relationship_target(relationship = Follows)]
struct FollowedBy(EntityList);

#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save)]
#[relationship(relationship_target = Spouse, cyclic)]
struct MarriedTo(Entity);
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save)]
#[relationship_target(relationship = MarriedTo)]
struct Spouse(Entity);

/// Lets a query visit disabled entities as well.
type All = (Allow<Disabled>, Allow<DisabledTree>, Allow<DisabledByTree>);

/// One relation of the naive world.
#[derive(Clone, Default)]
struct Naive {
    lists: BTreeMap<Entity, Vec<Entity>>,
    targets: BTreeMap<Entity, Entity>,
    cyclic: bool,
    exclusive: bool,
    linked: bool,
}

impl Naive {
    fn unlink(&mut self, source: Entity) {
        if let Some(target) = self.targets.remove(&source)
            && let Some(list) = self.lists.get_mut(&target)
        {
            list.retain(|&other| other != source);
            if list.is_empty() {
                self.lists.remove(&target);
            }
        }
    }

    fn is_refused(&self, source: Entity, target: Entity, alive: &[Entity]) -> bool {
        if !alive.contains(&target) {
            return true;
        }
        let mut at = Some(target);
        while let Some(entity) = at.filter(|_| !self.cyclic) {
            if entity == source {
                return true;
            }
            at = self.targets.get(&entity).copied();
        }
        false
    }

    fn link(&mut self, source: Entity, target: Entity, alive: &[Entity]) {
        self.unlink(source);
        if self.is_refused(source, target, alive) {
            return;
        }
        if self.exclusive
            && let Some(rival) = self.lists.get(&target).map(|list| list[0])
        {
            self.unlink(rival);
        }
        self.targets.insert(source, target);
        self.lists.entry(target).or_default().push(source);
    }

    fn detach_all(&mut self, target: Entity) {
        for source in self.lists.get(&target).cloned().unwrap_or_default() {
            self.unlink(source);
        }
    }

    fn below(&self, entity: Entity) -> Vec<Entity> {
        let mut found = Vec::new();
        let mut waiting = vec![entity];
        while let Some(next) = waiting.pop() {
            for &source in self.lists.get(&next).into_iter().flatten() {
                if source != entity && !found.contains(&source) {
                    found.push(source);
                    waiting.push(source);
                }
            }
        }
        found
    }
}

/// What the naive world knows.
#[derive(Clone, Default)]
struct State {
    alive: Vec<Entity>,
    dead: Vec<Entity>,
    marks: BTreeMap<Entity, u32>,
    teams: BTreeMap<Entity, u32>,
    names: BTreeMap<Entity, &'static str>,
    relations: [Naive; 4],
    /// Which entities are disabled alone, and which with all below.
    disabled: [BTreeSet<Entity>; 2],
    next: u32,
}

struct Model {
    world: World,
    now: State,
    /// An earlier moment of both worlds.
    kept: Option<(Checkpoint, State)>,
    /// Whether observers listen to relations.
    observed: bool,
    /// Kept from step to step.
    order: CascadeOrder<ChildOf>,
}

/// Does the same to a relation that is known by its number.
macro_rules! with_relation {
    ($number:expr, $f:ident($($arguments:expr),*)) => {
        match $number {
            0 => $f::<ChildOf>($($arguments),*),
            1 => $f::<OwnedBy>($($arguments),*),
            2 => $f::<Follows>($($arguments),*),
            _ => $f::<MarriedTo>($($arguments),*),
        }
    };
}

fn link<R: Relationship>(world: &mut World, source: Entity, target: Entity) {
    world.insert(source, R::from(target)).unwrap();
}
fn unlink<R: Relationship>(world: &mut World, source: Entity) {
    world.remove::<R>(source).unwrap();
}
fn detach_all<R: Relationship>(world: &mut World, target: Entity) {
    world.entity_mut(target).detach_all_related::<R>();
}
fn add<R: Relationship>(world: &mut World, target: Entity, sources: &[Entity]) {
    world.entity_mut(target).add_related::<R>(sources);
}
fn record<R: Relationship>(world: &mut World, source: Entity, target: Option<Entity>) {
    match target {
        Some(target) => world.commands().entity(source).insert(R::from(target)),
        None => world.commands().entity(source).remove::<R>(),
    };
}
fn listed<R: Relationship>(world: &World) -> BTreeMap<Entity, Vec<Entity>> {
    let lists = world.view_filtered::<(Entity, &R::RelationshipTarget), All>();
    lists.into_iter().map(|(entity, list)| (entity, list.iter().collect())).collect()
}
fn pointing<R: Relationship>(world: &World) -> BTreeMap<Entity, Entity> {
    world
        .view_filtered::<(Entity, &R), All>()
        .into_iter()
        .map(|(entity, link)| (entity, link.get()))
        .collect()
}

impl Model {
    fn new(observed: bool) -> Self {
        let relation = |cyclic, exclusive, linked| Naive { cyclic, exclusive, linked, ..Naive::default() };
        let relations = [
            relation(false, false, true),
            relation(false, false, false),
            relation(true, false, false),
            relation(true, true, false),
        ];
        let mut model = Self {
            world: World::new(),
            now: State { relations, ..State::default() },
            kept: None,
            observed,
            order: CascadeOrder::default(),
        };
        model.listen();
        model
    }

    fn any(&self, random: &mut Random) -> Entity {
        if !self.now.dead.is_empty() && random.chance(20) {
            return self.now.dead[random.below(self.now.dead.len())];
        }
        self.living(random)
    }

    fn living(&self, random: &mut Random) -> Entity {
        self.now.alive[random.below(self.now.alive.len())]
    }

    fn mark(&mut self) -> u32 {
        self.now.next += 1;
        self.now.next
    }

    fn despawned(&mut self, entity: Entity) {
        let mut gone: Vec<Entity> = vec![entity];
        gone.extend(
            self.now.relations.iter().filter(|naive| naive.linked).flat_map(|naive| naive.below(entity)),
        );
        for entity in gone {
            self.now.alive.retain(|&other| other != entity);
            self.now.marks.remove(&entity);
            self.now.teams.remove(&entity);
            self.now.names.remove(&entity);
            self.now.disabled.iter_mut().for_each(|set| set.retain(|&other| other != entity));
            self.now.dead.push(entity);
            for naive in &mut self.now.relations {
                naive.unlink(entity);
                naive.detach_all(entity);
            }
        }
    }

    fn spawned(&mut self, entity: Entity, mark: u32) {
        self.now.alive.push(entity);
        self.now.marks.insert(entity, mark);
    }

    fn step(&mut self, random: &mut Random) {
        if self.now.alive.len() < 3 || (self.now.alive.len() < 60 && random.chance(6)) {
            let mark = self.mark();
            let entity = self.world.spawn(Mark(mark)).id();
            return self.spawned(entity, mark);
        }
        let number = random.below(4);
        let (source, target) = (self.living(random), self.any(random));
        match random.below(24) {
            0..4 => {
                with_relation!(number, link(&mut self.world, source, target));
                self.now.relations[number].link(source, target, &self.now.alive);
            }
            4 => {
                with_relation!(number, unlink(&mut self.world, source));
                self.now.relations[number].unlink(source);
            }
            5 => {
                with_relation!(number, detach_all(&mut self.world, source));
                self.now.relations[number].detach_all(source);
            }
            6 => self.order(random, source),
            7 => {
                self.world.despawn(source);
                self.despawned(source);
            }
            8 => self.clone_tree(source),
            9 => {
                let sources: Vec<Entity> = (0..random.below(4)).map(|_| self.living(random)).collect();
                with_relation!(number, add(&mut self.world, source, &sources));
                sources
                    .iter()
                    .for_each(|&other| self.now.relations[number].link(other, source, &self.now.alive));
            }
            10 => self.spawn_tree(source),
            11 => self.disable(0, source),
            12 => self.disable(1, source),
            13 => self.flush(random),
            _ => self.further_step(random, source),
        }
    }

    /// Disables an entity, or enables it again.
    fn disable(&mut self, which: usize, entity: Entity) {
        let is_new = self.now.disabled[which].insert(entity);
        if !is_new {
            self.now.disabled[which].remove(&entity);
        }
        let mut entity = self.world.entity_mut(entity);
        match (which, is_new) {
            (0, true) => entity.insert(Disabled),
            (0, false) => entity.remove::<Disabled>(),
            (_, true) => entity.insert(DisabledTree),
            (_, false) => entity.remove::<DisabledTree>(),
        };
    }

    /// Whether an entity is disabled by itself, or by one above it.
    fn is_disabled(&self, entity: Entity) -> bool {
        let mut at = Some(entity);
        while let Some(above) = at {
            if self.now.disabled[1].contains(&above) {
                return true;
            }
            at = self.now.relations[0].targets.get(&above).copied();
        }
        self.now.disabled[0].contains(&entity)
    }

    /// Follows the order of parents and children.
    fn cascade(&mut self) {
        self.order.update(&self.world);
        let mut seen: BTreeSet<Entity> = BTreeSet::new();
        let parents = &self.now.relations[0].targets;
        self.world.view_filtered_mut::<Entity, All>().cascade(&self.order, |above, entity| {
            assert_eq!(above, parents.get(&entity).copied());
            assert!(above.is_none_or(|above| seen.contains(&above)), "the one above comes first");
            assert!(seen.insert(entity), "each comes once");
        });
        assert_eq!(seen, self.now.alive.iter().copied().collect());
    }

    /// Puts a child elsewhere in the list of its parent, and entities at an index.
    fn order(&mut self, random: &mut Random, parent: Entity) {
        let Some(list) = self.now.relations[0].lists.get_mut(&parent) else { return };
        let (child, index) = (list[random.below(list.len())], random.below(list.len() + 1));
        if random.chance(2) {
            self.world.entity_mut(parent).insert_child(index, child);
        } else {
            self.world.get_mut::<Children>(parent).unwrap().place(child, index);
        }
        list.retain(|&other| other != child);
        list.insert(index.min(list.len()), child);
    }

    /// Several links in one flush, each of an entity of its own, so that the naive world sees the same order.
    fn flush(&mut self, random: &mut Random) {
        let number = random.below(4);
        let mut sources: Vec<Entity> = Vec::new();
        for _ in 0..random.below(5) {
            let (source, target) = (self.living(random), self.any(random));
            if sources.contains(&source) {
                continue;
            }
            sources.push(source);
            let target = (!random.chance(4)).then_some(target);
            with_relation!(number, record(&mut self.world, source, target));
            match target {
                Some(target) => self.now.relations[number].link(source, target, &self.now.alive),
                None => self.now.relations[number].unlink(source),
            }
        }
        self.world.flush();
    }

    fn clone_tree(&mut self, source: Entity) {
        let tree = self.now.relations[0].below(source).len();
        if tree > 10 || self.now.alive.len() > 100 {
            return;
        }
        let mut map = phalanx::component::EntityMap::new();
        let target = self.world.spawn_empty().id();
        let mut builder = EntityCloner::build_opt_out(&mut self.world);
        builder
            .deny::<(MarriedTo, OwnedBy, Follows, Disabled, DisabledTree, DisabledByTree)>()
            .linked_cloning(true);
        builder.finish().clone_entity_mapped(&mut self.world, source, target, &mut map);
        // By levels, as they are cloned.
        let mut waiting = vec![source];
        let mut at = 0;
        while let Some(&entity) = waiting.get(at) {
            let mark = self.now.marks[&entity];
            self.spawned(map[&entity], mark);
            self.cloned(entity, map[&entity]);
            if let Some(&parent) = self.now.relations[0].targets.get(&entity) {
                let parent = map.get(&parent).copied().unwrap_or(parent);
                self.now.relations[0].link(map[&entity], parent, &self.now.alive);
            }
            waiting.extend(self.now.relations[0].lists.get(&entity).into_iter().flatten().copied());
            // A clone of the root may have become a child of the tree that is walked.
            waiting.retain(|entity| map.contains_key(entity));
            at += 1;
        }
    }

    fn spawn_tree(&mut self, parent: Entity) {
        if self.now.alive.len() > 100 {
            return;
        }
        let [a, b, c] = [(); 3].map(|()| self.mark());
        let root = self.world.spawn((Mark(a), ChildOf(parent), children![Mark(b), Mark(c)])).id();
        self.spawned(root, a);
        self.now.relations[0].link(root, parent, &self.now.alive);
        for (child, mark) in self.world.get::<Children>(root).unwrap().to_vec().into_iter().zip([b, c]) {
            self.spawned(child, mark);
            self.now.relations[0].link(child, root, &self.now.alive);
        }
    }

    fn compare(&mut self) {
        self.world.check().unwrap();
        let marks = self.world.view_filtered::<(Entity, &Mark), All>();
        let marks: BTreeMap<Entity, u32> = marks.into_iter().map(|(entity, mark)| (entity, mark.0)).collect();
        assert_eq!(marks, self.now.marks);
        let awake: BTreeSet<Entity> =
            self.world.view::<(Entity, &Mark)>().iter().map(|(entity, _)| entity).collect();
        let naive = self.now.alive.iter().copied().filter(|&entity| !self.is_disabled(entity));
        assert_eq!(awake, naive.collect());
        self.cascade();
        self.compare_indexes();
        for (number, naive) in self.now.relations.iter().enumerate() {
            assert_eq!(
                with_relation!(number, pointing(&self.world)),
                naive.targets,
                "links of relation {number}"
            );
            assert_eq!(
                with_relation!(number, listed(&self.world)),
                naive.lists,
                "lists of relation {number}"
            );
        }
    }
}

#[test]
fn random_histories_of_relations_agree_with_the_naive_world() {
    let steps = model_steps(2_000, 12_000) as u64;
    let seeds = match setting("PHALANX_MODEL_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..20,
    };
    let each = steps / (seeds.end - seeds.start);
    for seed in seeds {
        let (mut model, mut random) = (Model::new(seed % 2 == 1), Random::new(seed));
        for step in 0..each {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                model.step(&mut random);
                model.compare();
            }));
            if let Err(panic) = outcome {
                eprintln!("PHALANX_MODEL_SEED={seed} PHALANX_MODEL_STEPS={} shows it again", step + 1);
                std::panic::resume_unwind(panic);
            }
        }
    }
}
