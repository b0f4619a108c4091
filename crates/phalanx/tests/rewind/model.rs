//! Random histories with checkpoints, restores and branches, over every kind of storage.
//!
//! What a world shows is written down at each checkpoint and again after each restore: entities, values, the order of
//! rows, ids to come, row ticks, sets with their holes, groups, archetypes, relations, components made at run time,
//! resources and messages must be the same. Some checkpoints also keep the steps that followed: played again after a
//! restore they must end in the same world. Steps also ask indexes, and read removals and reactive sets, some at a time.

use std::fmt::Write as _;
use std::sync::Arc;

use phalanx::ComponentId;
use phalanx::prelude::*;
use phalanx::world::Checkpoint;

use super::random::Random;
use super::steps::model_steps;

#[derive(Component, Clone, Copy, Debug, PartialEq)]
struct Plain {
    x: f32,
    small: u8,
}

#[derive(Component, Clone, Debug, Digestible)]
struct Text(String);

/// Counts its copies by the reference it holds.
#[derive(Component, Clone, Debug)]
#[component(digest = "debug")]
struct Counted(Arc<u32>);

#[derive(Component, Clone, Debug)]
#[component(layout = "soa")]
struct Fields {
    a: u64,
    b: String,
}

#[derive(Component, Clone, Debug, PartialEq, Eq, Hash)]
#[component(track = "row")]
struct Tracked(u32);

#[derive(Component, Clone, Copy, Debug)]
#[component(track = "none")]
struct Untracked(u32);

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse")]
struct SparseA(u32);

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse", track = "row")]
struct SparseB(String);

#[derive(Component, Clone, Debug)]
#[component(storage = "sparse", stable)]
struct Stable(Box<u32>);

#[derive(Component, Clone)]
struct Tag;

#[derive(Component, Clone, Debug)]
#[relationship(many)]
struct Likes {
    #[target]
    whom: Entity,
    amount: u32,
}

/// A component without size that has drop glue.
#[derive(Component, Clone, Debug)]
struct Empty {
    _guard: [Arc<u32>; 0],
}

#[derive(Pool)]
struct Orcs {
    plain: Plain,
    tracked: Tracked,
    rage: Option<Text>,
}

#[derive(Resource, Clone, Debug, Digestible)]
struct Log(Vec<u32>);

#[derive(Message, Clone, Debug)]
struct Note(String);

type Owning = Group<Own<(SparseA, SparseB)>, Get<()>, Without<Tag>>;
type Seeing = Group<Own<()>, Get<(SparseA, Stable)>, ()>;

struct Run {
    world: World,
    rng: Random,
    count: Arc<u32>,
    owning: Option<Owning>,
    seeing: Option<Seeing>,
    /// Components made at run time, in a table and in a set.
    dynamic: [ComponentId; 2],
    /// Reads some of the entities that lost components.
    removed: SystemId<In<usize>>,
    /// Reads a set.
    reacting: SystemId,
}

/// Reads some of the removals that wait, and writes them down.
fn read_removed(
    In(most): In<usize>,
    mut plain: RemovedComponents<Plain>,
    mut sparse: RemovedComponents<SparseA>,
    mut log: ResMut<Log>,
) {
    log.0.push(u32::try_from(plain.len()).expect("a few"));
    log.0.extend(plain.read().take(most).map(Entity::index));
    log.0.extend(sparse.read().take(most).map(Entity::index));
}

fn react(mut set: Reactive<(Add<Tracked>, Remove<Stable>)>, mut log: ResMut<Log>) {
    log.0.extend(set.read().map(Entity::index));
}

/// A moment that was written down.
struct Kept {
    checkpoint: Checkpoint,
    shown: String,
    rng: Random,
    owning: Option<Owning>,
    seeing: Option<Seeing>,
    /// What the world showed after as many more steps.
    later: Option<(u64, String)>,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut world = World::new();
        world.insert_resource(Log(Vec::new()));
        let dynamic = [("mod.Table", StorageKind::Table), ("mod.Sparse", StorageKind::Sparse)].map(
            |(name, storage)| {
                let schema = Schema::new(name)
                    .storage(storage)
                    .field("hp", FieldType::F32)
                    .field("who", FieldType::Entity);
                world.register_dynamic(schema).expect("the names are free")
            },
        );
        let (removed, reacting) = (world.register_system(read_removed), world.register_system(react));
        world.run_system_with(removed, 0).expect("it has what it needs");
        world.run_system(reacting).expect("it has what it needs");
        let rng = Random::new(seed);
        Self { world, rng, count: Arc::new(7), owning: None, seeing: None, dynamic, removed, reacting }
    }

    fn any(&mut self) -> Option<Entity> {
        let all: Vec<Entity> = self.world.entities().iter().collect();
        (!all.is_empty()).then(|| all[self.rng.below(all.len())])
    }

    fn number(&mut self, below: usize) -> u32 {
        u32::try_from(self.rng.below(below)).expect("a small bound")
    }

    fn step(&mut self) {
        let n = self.number(1000);
        let text = format!("t{n}");
        match self.rng.below(42) {
            0 => drop(self.world.spawn((Plain { x: n as f32, small: 1 }, Text(text)))),
            1 => drop(self.world.spawn((Counted(Arc::clone(&self.count)), Tracked(n)))),
            2 => drop(self.world.spawn((Fields { a: u64::from(n), b: text }, Untracked(n)))),
            3 => drop(self.world.spawn((SparseA(n), SparseB(text), Plain { x: 0.0, small: 2 }))),
            4 => drop(self.world.spawn(Stable(Box::new(n)))),
            5 => drop(self.world.spawn_empty()),
            6 => {
                let many = self.number(1500);
                let batch = (0..many).map(|at| (Plain { x: at as f32, small: 0 }, Untracked(at)));
                self.world.spawn_batch(batch).for_each(|_| ());
            }
            7 => {
                let plain = Plain { x: n as f32, small: 9 };
                let rage = n.is_multiple_of(2).then_some(Text(text));
                self.world.spawn_in(Orcs { plain, tracked: Tracked(n), rage });
            }
            8..=10 => {
                if let Some(entity) = self.any() {
                    self.world.despawn(entity);
                }
            }
            11..=17 => {
                if let Some(entity) = self.any() {
                    self.insert(entity, n, text);
                }
            }
            18..=22 => {
                if let Some(entity) = self.any() {
                    self.remove(entity);
                }
            }
            23 => self.world.view_mut::<&mut Plain>().iter_mut().for_each(|mut plain| plain.x += 1.0),
            24 => {
                self.world.view_mut::<&mut Untracked>().iter_mut().for_each(|mut one| one.0 += 1);
                self.world.view_mut::<&mut Fields>().iter_mut().for_each(|fields| fields.b.push('x'));
            }
            25 => self.world.view_mut::<&mut Tracked>().iter_mut().for_each(|mut one| {
                if one.0.is_multiple_of(3) {
                    one.0 += 1;
                }
            }),
            26 => {
                self.world.resource_mut::<Log>().0.push(n);
                self.world.write_message(Note(text));
            }
            27 => drop(self.world.increment_change_tick()),
            28 => self.world.clear_trackers(),
            29 => drop(self.world.drop_empty_archetypes()),
            30 => self.order(),
            31 => self.groups(),
            32 => self.world.shrink_to_fit(),
            33..=35 => self.relate(),
            36 => {
                if let (Some(source), Some(whom)) = (self.any(), self.any()) {
                    // A pool that declares no edges refuses them.
                    let _ = self.world.link(source, Likes { whom, amount: n });
                    let first = self.world.related::<Likes>(whom).first().map(|likes| likes.whom);
                    first
                        .filter(|_| n.is_multiple_of(3))
                        .map(|first| self.world.unlink::<Likes>(whom, first));
                }
            }
            37 => self.change_dynamic(n as f32),
            38 => {
                let (value, most) = (Tracked(n % 40), n as usize % 30);
                let found = self.world.entities_with(&value);
                let scan = |(entity, tracked): (Entity, &Tracked)| (*tracked == value).then_some(entity);
                let mut scanned: Vec<Entity> =
                    self.world.view::<(Entity, &Tracked)>().iter().filter_map(scan).collect();
                scanned.sort_unstable();
                assert_eq!(found, scanned, "an index finds what a scan finds");
                self.world
                    .resource_mut::<Log>()
                    .0
                    .extend(found.iter().take(most).map(|entity| entity.index()));
            }
            39 => {
                let most = n as usize % 30;
                self.world.run_system_with(self.removed, most).expect("it has what it needs");
            }
            40 => self.world.run_system(self.reacting).expect("it has what it needs"),
            _ => match n % 10 {
                0 => self.world.clear_entities(),
                1 | 2 => self.world.end_frame(),
                _ => {
                    if let Some(entity) = self.any()
                        && let Some(mut plain) = self.world.get_mut::<Plain>(entity)
                    {
                        plain.bypass_change_detection().small = 77;
                    }
                }
            },
        }
    }

    fn insert(&mut self, entity: Entity, n: u32, text: String) {
        let mut entity = self.world.entity_mut(entity);
        // A pool refuses what it does not declare: the same steps are refused again.
        let _ = match n % 9 {
            0 => entity.try_insert(Tag).is_ok(),
            1 => entity.try_insert(SparseA(n)).is_ok(),
            2 => entity.try_insert(SparseB(text)).is_ok(),
            3 => entity.try_insert(Stable(Box::new(n))).is_ok(),
            4 => entity.try_insert(Tracked(n)).is_ok(),
            5 => entity.try_insert((Text(text), Counted(Arc::clone(&self.count)))).is_ok(),
            6 => entity.try_insert(Empty { _guard: [] }).is_ok(),
            7 => entity.try_insert(Fields { a: 1, b: text }).is_ok(),
            _ => entity.try_insert((Plain { x: 4.0, small: 1 }, Untracked(n), SparseA(n))).is_ok(),
        };
    }

    fn remove(&mut self, entity: Entity) {
        let world = &mut self.world;
        let _ = match self.rng.below(8) {
            0 => world.remove::<Tag>(entity).is_ok(),
            1 => world.remove::<SparseA>(entity).is_ok(),
            2 => world.remove::<SparseB>(entity).is_ok(),
            3 => world.remove::<Stable>(entity).is_ok(),
            4 => world.remove::<Plain>(entity).is_ok(),
            5 => world.remove::<(Text, Counted)>(entity).is_ok(),
            6 => world.remove::<Empty>(entity).is_ok(),
            _ => world.remove::<(Tracked, Fields)>(entity).is_ok(),
        };
    }

    /// Links two entities, takes a link away, or despawns a tree.
    fn relate(&mut self) {
        let (Some(one), Some(other)) = (self.any(), self.any()) else { return };
        // Pools refuse what they do not declare.
        let orcs = self.world.pool_id::<Orcs>();
        let is_orc = |entity| orcs.is_some() && self.world.pool_of(entity) == orcs;
        if is_orc(one) || is_orc(other) || self.world.check_link::<ChildOf>(one, other).is_err() {
            return;
        }
        match self.rng.below(6) {
            0 => drop(self.world.remove::<ChildOf>(one)),
            1 => drop(self.world.entity_mut(one).despawn_related::<Children>()),
            2 => drop(self.world.entity_mut(one).with_child(Tracked(3))),
            _ => drop(self.world.entity_mut(one).insert(ChildOf(other))),
        }
    }

    fn change_dynamic(&mut self, hp: f32) {
        let (Some(one), Some(other)) = (self.any(), self.any()) else { return };
        let id = self.dynamic[self.rng.below(2)];
        let _ = match self.rng.below(3) {
            0 => self.world.insert_dynamic(one, id, &[("hp", hp.into()), ("who", other.into())]).is_ok(),
            1 => self.world.set_field(one, id, "hp", hp).is_ok(),
            _ => self.world.remove_by_id(one, id).is_ok(),
        };
    }

    fn order(&mut self) {
        match self.rng.below(3) {
            0 => drop(self.world.sparse_mut::<SparseA>().sort_by_key(|a| a.0)),
            1 => drop(self.world.sparse_mut::<SparseB>().swap(0, 1)),
            _ => drop(self.world.sparse_mut::<Stable>().compact()),
        }
    }

    fn groups(&mut self) {
        match self.rng.below(4) {
            0 => self.owning = self.world.group().ok(),
            1 => self.seeing = self.world.group().ok(),
            2 => {
                if let Some(group) = self.owning.take() {
                    let _ = self.world.ungroup(group);
                }
            }
            _ => {
                if let Some(group) = self.seeing.take() {
                    let _ = self.world.ungroup(group);
                }
            }
        }
    }

    /// Everything that can be seen of the world.
    fn show(&self) -> String {
        let world = &self.world;
        let mut text = format!("tick {:?} digest {}\n", world.read_change_tick(), world.digest());
        for id in world.archetypes().iter() {
            let names = world
                .archetypes()
                .signature(id)
                .iter()
                .map(|c| world.components().get_info(c).expect("known").name());
            let _ = writeln!(
                text,
                "{id:?} in {:?}: {:?}",
                world.archetypes().pool_of(id),
                names.collect::<Vec<_>>()
            );
        }
        let order: Vec<Entity> = world.view::<Entity>().iter().collect();
        let _ = writeln!(text, "order {order:?} free {:?}", world.entities().free_list().collect::<Vec<_>>());
        for entity in world.entities().iter() {
            let one = world.entity(entity);
            let _ = writeln!(
                text,
                "{entity} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {} {:?} {:?} {:?} {:?}",
                world.archetype_of(entity),
                one.get::<Plain>(),
                one.get::<Text>(),
                one.get::<Counted>(),
                world.get::<Fields>(entity).map(|fields| (*fields.a, fields.b.clone())),
                one.get::<Tracked>(),
                one.get::<Untracked>(),
                one.get::<SparseB>(),
                one.get::<Stable>(),
                one.contains::<Tag>(),
                one.get::<ChildOf>(),
                one.get::<Children>().map(|children| children.iter().collect::<Vec<_>>()),
                (world.related::<Likes>(entity), world.edges_to::<Likes>(entity).collect::<Vec<_>>()),
                self.dynamic.map(|id| ["hp", "who"].map(|field| world.get_field(entity, id, field).ok())),
            );
        }
        let ticks: Vec<_> =
            world.view::<Ref<Tracked>>().iter().map(|one| (one.added(), one.last_changed())).collect();
        let changed: Vec<Entity> = world.view_filtered::<Entity, Changed<Tracked>>().iter().collect();
        let _ = writeln!(text, "row ticks {ticks:?} changed {changed:?}");
        let sets = (world.sparse::<SparseA>(), world.sparse::<SparseB>(), world.sparse::<Stable>());
        let _ =
            writeln!(text, "sets {:?} {:?} {:?}", sets.0.entities(), sets.1.entities(), sets.2.entities());
        let members = |group: &Option<Owning>| group.as_ref().map(|group| group.entities(world).to_vec());
        let _ = writeln!(text, "owning {:?}", members(&self.owning));
        let _ =
            writeln!(text, "seeing {:?}", self.seeing.as_ref().map(|group| group.entities(world).to_vec()));
        let log = world.get_resource_ref::<Log>().map(|log| (log.0.clone(), log.last_changed()));
        let _ = writeln!(text, "{log:?} {:?}", world.messages::<Note>().filter(|notes| !notes.is_empty()));
        text
    }

    fn keep(&mut self) -> Kept {
        let checkpoint = self.world.checkpoint();
        let shown = self.show();
        let (owning, seeing) = (self.owning, self.seeing);
        Kept { checkpoint, shown, rng: self.rng.clone(), owning, seeing, later: None }
    }

    fn restore(&mut self, kept: &Kept) {
        self.world.restore(&kept.checkpoint).expect("a checkpoint of this world");
        (self.owning, self.seeing) = (kept.owning, kept.seeing);
        self.check();
        same(&kept.shown, &self.show());
    }

    fn check(&self) {
        if let Err(fault) = self.world.check() {
            panic!("{fault}");
        }
    }
}

fn same(expected: &str, found: &str) {
    if expected != found {
        let lines = expected.lines().zip(found.lines()).filter(|(a, b)| a != b);
        panic!("a restored world differs: {:#?}", lines.take(4).collect::<Vec<_>>());
    }
}

fn steps() -> u64 {
    model_steps(400, 1_000) as u64
}

fn play(seed: u64, steps: u64) {
    let mut run = Run::new(seed);
    let mut kept: Vec<Kept> = Vec::new();
    let mut done = 0;
    while done < steps {
        match run.rng.below(12) {
            // A checkpoint, and what follows: played on, taken back, and played again.
            0 => {
                let mut moment = run.keep();
                let count = run.rng.clone().below(40) as u64;
                for _ in 0..count {
                    run.step();
                }
                done += count;
                moment.later = Some((count, run.show()));
                kept.push(moment);
            }
            1 | 2 => {
                let moment = run.keep();
                kept.push(moment);
            }
            3 if !kept.is_empty() => {
                let at = run.rng.below(kept.len());
                let after = run.rng.clone();
                run.restore(&kept[at]);
                if let Some((count, later)) = &kept[at].later {
                    run.rng = kept[at].rng.clone();
                    for _ in 0..*count {
                        run.step();
                    }
                    done += count;
                    same(later, &run.show());
                    run.check();
                }
                run.rng = after;
            }
            4 if kept.len() > 6 => {
                let at = run.rng.below(kept.len());
                kept.swap_remove(at);
            }
            _ => {
                for _ in 0..10 {
                    run.step();
                }
                done += 10;
                run.check();
            }
        }
    }
    let count = Arc::clone(&run.count);
    drop((run, kept));
    assert_eq!(Arc::strong_count(&count), 1, "each copy is dropped once");
}

// Hazards 81, 83.
#[test]
fn random_histories_are_restored_bit_for_bit() {
    for seed in 0..4 {
        play(seed, steps());
    }
}
