//! Further steps of the model: values that are indexed, names, batches, pools, moments that come back, saves, and panics of
//! drops and handlers.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx::component::DisabledByTree;
use phalanx::prelude::*;
use phalanx::save::SaveRegistry;
use serde::{Deserialize, Serialize};

use super::{FollowedBy, Follows, Mark, MarriedTo, Model, Owned, OwnedBy, Spouse, State, listed, pointing};
use crate::random::Random;

thread_local! {
    /// Whether fuses and observers panic.
    static ARMED: Cell<bool> = const { Cell::new(false) };
}

/// Indexed.
#[derive(Component, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[component(save)]
struct Team(u32);

/// Panics in its drop when it is armed.
#[derive(Component, Clone, Debug, Serialize, Deserialize)]
#[component(save)]
struct Fuse(u32);
impl Drop for Fuse {
    fn drop(&mut self) {
        assert!(!ARMED.get() || std::thread::panicking(), "fuse {}", self.0);
    }
}

/// Lets its entities be whatever the others are.
#[derive(Pool)]
#[pool(name = "crew")]
struct Crew {
    mark: Mark,
    team: Option<Team>,
    name: Option<Name>,
    fuse: Option<Fuse>,
    child_of: Option<ChildOf>,
    children: Option<Children>,
    owned_by: Option<OwnedBy>,
    owned: Option<Owned>,
    follows: Option<Follows>,
    followed_by: Option<FollowedBy>,
    married_to: Option<MarriedTo>,
    spouse: Option<Spouse>,
    disabled: Option<Disabled>,
    disabled_tree: Option<DisabledTree>,
    disabled_by_tree: Option<DisabledByTree>,
}

/// How many links observers have seen come and not go: of children, and of owners.
#[derive(Resource, Clone, Default, Serialize, Deserialize)]
#[resource(save)]
struct Seen([i64; 2]);

fn registry() -> SaveRegistry {
    let mut types = SaveRegistry::new();
    types.register::<Mark>().register::<Team>().register::<Fuse>().register::<Seen>();
    types.register::<OwnedBy>().register::<Owned>().register::<Follows>().register::<FollowedBy>();
    types.register::<MarriedTo>().register::<Spouse>().register_pool::<Crew>();
    types.register::<Disabled>().register::<DisabledTree>().register::<DisabledByTree>();
    types
}

const NAMES: [&str; 3] = ["ash", "birch", "cedar"];
const TEAMS: u32 = 4;

/// Counts a link, and panics if that is asked for.
fn counted<R: Relationship>(
    kind: usize,
) -> (impl Fn(On<Insert<R>>, ResMut<Seen>), impl Fn(On<Discard<R>>, ResMut<Seen>)) {
    let count = move |seen: &mut Seen, by: i64| {
        seen.0[kind] += by;
        assert!(!ARMED.get(), "an observer");
    };
    (
        move |_: On<Insert<R>>, mut seen: ResMut<Seen>| count(&mut seen, 1),
        move |_: On<Discard<R>>, mut seen: ResMut<Seen>| count(&mut seen, -1),
    )
}

impl Model {
    /// Adds the listeners to a new world, or one that was loaded.
    pub(super) fn listen(&mut self) {
        self.world.set_error_handler(phalanx::error::ignore);
        if self.observed {
            self.world.init_resource::<Seen>();
            let (came, goes) = counted::<ChildOf>(0);
            self.world.add_observer(came);
            self.world.add_observer(goes);
            let (came, goes) = counted::<OwnedBy>(1);
            self.world.add_observer(came);
            self.world.add_observer(goes);
        }
    }

    pub(super) fn further_step(&mut self, random: &mut Random, source: Entity) {
        match random.below(10) {
            0 | 1 => self.write_team(random, source),
            2 => self.rename(random, source),
            3 => {
                self.kept = Some((self.world.checkpoint(), self.now.clone()));
            }
            4 if random.chance(3) => {
                if let Some((checkpoint, state)) = &self.kept {
                    self.world.restore(checkpoint).unwrap();
                    self.now = State::clone(state);
                }
            }
            5 if random.chance(3) => self.save_and_load(),
            6 => self.despawn_armed(source),
            7 => self.link_armed(random, source),
            8 => self.spawn_many(random, source),
            _ => {
                let mark = self.mark();
                let entity = self.world.spawn_in(Crew {
                    mark: Mark(mark),
                    team: None,
                    name: None,
                    fuse: Some(Fuse(mark)),
                    child_of: None,
                    children: None,
                    owned_by: None,
                    owned: None,
                    follows: None,
                    followed_by: None,
                    married_to: None,
                    spouse: None,
                    disabled: None,
                    disabled_tree: None,
                    disabled_by_tree: None,
                });
                self.spawned(entity, mark);
            }
        }
    }

    /// Takes over what a clone has of this file's components.
    pub(super) fn cloned(&mut self, source: Entity, clone: Entity) {
        if let Some(&team) = self.now.teams.get(&source) {
            self.now.teams.insert(clone, team);
        }
        if let Some(&name) = self.now.names.get(&source) {
            self.now.names.insert(clone, name);
        }
    }

    /// Writes an indexed value in one of the ways in which that can be done, or takes it away.
    fn write_team(&mut self, random: &mut Random, entity: Entity) {
        let value = random.below(TEAMS as usize) as u32;
        match random.below(4) {
            0 => {
                self.world.remove::<Team>(entity).unwrap();
                self.now.teams.remove(&entity);
            }
            1 => {
                for mut team in self.world.view_filtered_mut::<&mut Team, super::All>() {
                    team.0 = (team.0 + value) % TEAMS;
                }
                self.now.teams.values_mut().for_each(|team| *team = (*team + value) % TEAMS);
            }
            _ => {
                match self.world.get_mut::<Team>(entity) {
                    Some(mut team) => team.0 = value,
                    None => self.world.insert(entity, Team(value)).unwrap(),
                }
                self.now.teams.insert(entity, value);
            }
        }
    }

    fn rename(&mut self, random: &mut Random, entity: Entity) {
        let name = NAMES[random.below(NAMES.len())];
        match self.world.get_mut::<Name>(entity) {
            Some(mut held) => held.set(name),
            None => self.world.insert(entity, Name::new(name)).unwrap(),
        }
        self.now.names.insert(entity, name);
    }

    /// Goes on with a world that was made from a save of this one.
    fn save_and_load(&mut self) {
        let mut text = Vec::new();
        let saved = self.world.save(&mut serde_json::Serializer::new(&mut text)).unwrap();
        assert!(saved.report.is_complete(), "{}", saved.report);
        let mut deserializer = serde_json::Deserializer::from_slice(&text);
        self.world = World::load(&mut deserializer, &registry()).unwrap();
        self.listen();
        self.order = phalanx::world::CascadeOrder::default();
        // A checkpoint belongs to the world it was taken of.
        self.kept = None;
    }

    /// Despawns an entity while all values with a fuse panic in their drop, and all observers.
    fn despawn_armed(&mut self, entity: Entity) {
        let world = &mut self.world;
        ARMED.set(true);
        let _ = catch_unwind(AssertUnwindSafe(|| world.despawn(entity)));
        ARMED.set(false);
        world.flush();
        self.despawned(entity);
    }

    /// Links while all observers panic.
    fn link_armed(&mut self, random: &mut Random, source: Entity) {
        let target = self.any(random);
        let world = &mut self.world;
        ARMED.set(true);
        let outcome = catch_unwind(AssertUnwindSafe(|| world.insert(source, ChildOf(target)).unwrap()));
        ARMED.set(false);
        outcome.expect("panics of observers go to the error handler");
        self.now.relations[0].link(source, target, &self.now.alive);
    }

    /// A batch with a relation is as good as a loop.
    fn spawn_many(&mut self, random: &mut Random, parent: Entity) {
        if self.now.alive.len() > 80 {
            return;
        }
        let marks: Vec<u32> = (0..random.below(4)).map(|_| self.mark()).collect();
        let bundles = marks.clone().into_iter().map(|mark| (Mark(mark), Team(mark % TEAMS), ChildOf(parent)));
        let spawned: Vec<Entity> = self.world.spawn_batch(bundles).collect();
        for (entity, mark) in spawned.into_iter().zip(marks) {
            self.spawned(entity, mark);
            self.now.teams.insert(entity, mark % TEAMS);
            self.now.relations[0].link(entity, parent, &self.now.alive);
        }
    }

    /// Compares indexes, names and depth, and what observers counted.
    pub(super) fn compare_indexes(&mut self) {
        let with = |state: &State, value: u32| -> Vec<Entity> {
            state.teams.iter().filter(|(_, team)| **team == value).map(|(entity, _)| *entity).collect()
        };
        let mut by_value = Vec::new();
        for value in 0..TEAMS {
            let naive = with(&self.now, value);
            assert_eq!(self.world.entities_with(&Team(value)), naive, "team {value}");
            by_value.extend(naive);
        }
        assert_eq!(self.world.entities_in_range(Team(0)..), by_value);
        for name in NAMES {
            let naive: Vec<Entity> =
                self.now.names.iter().filter(|(_, held)| **held == name).map(|(entity, _)| *entity).collect();
            let found = self.world.named(name);
            assert_eq!(found.is_ok(), naive.len() == 1, "{name}: {found:?}");
            for above in NAMES {
                let parent_is_above = |entity: &&Entity| {
                    let parent = self.now.relations[0].targets.get(*entity);
                    parent.and_then(|parent| self.now.names.get(parent)) == Some(&above)
                };
                let below: Vec<Entity> = naive.iter().filter(parent_is_above).copied().collect();
                let found = self.world.named(&format!("{above}/{name}")).ok();
                assert_eq!(found, (below.len() == 1).then(|| below[0]), "{above}/{name}");
            }
        }
        let parents = &self.now.relations[0].targets;
        let depth =
            |entity: &Entity| std::iter::successors(parents.get(entity), |at| parents.get(at)).count();
        assert_eq!(self.order.depth(), self.now.alive.iter().map(depth).max().unwrap_or(0));
        if self.observed {
            let links = [pointing::<ChildOf>(&self.world).len(), pointing::<OwnedBy>(&self.world).len()];
            assert_eq!(self.world.resource::<Seen>().0.map(|seen| seen as usize), links);
        }
        let sources: BTreeSet<Entity> = listed::<ChildOf>(&self.world).into_values().flatten().collect();
        assert_eq!(sources.len(), parents.len(), "no entity is listed twice");
    }
}
