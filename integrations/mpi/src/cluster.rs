//! What happens between two frames, on all ranks together.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use phalanx::prelude::*;

use crate::checkpoint::Saved;
use crate::error::ClusterError;
use crate::ids::{GlobalId, Newborn};
use crate::messages::{Letter, Outbox, To, deliver};
use crate::partition::Partition;
use crate::sent::{self, Sent};
use crate::transport::Transport;
use crate::types::{ClusterTypes, unpack_rows};
use crate::wire::{Reader, mix, put};

/// A read-only copy of an entity that another rank owns. It is replaced by each exchange: what a system writes to it is
/// lost.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ghost {
    /// The rank that owns it.
    pub owner: u32,
}

/// What exchanges did, since the beginning, on this rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClusterStats {
    /// How many owned entities went to other ranks.
    pub migrated: u64,
    /// How many bytes that took.
    pub migrated_bytes: u64,
    /// How many ghosts were sent because they are new or changed.
    pub ghosts_sent: u64,
    /// How many ghosts were not sent because the other rank has them already.
    pub ghosts_kept: u64,
    /// How many bytes ghosts took.
    pub ghost_bytes: u64,
    /// How many messages arrived.
    pub messages: u64,
    /// How often cells were handed out anew.
    pub rebalanced: u64,
    /// How many bytes the files of checkpoints took.
    pub checkpoint_bytes: u64,
}

/// This rank among the others.
pub struct Cluster<T> {
    pub(crate) transport: T,
    pub(crate) types: ClusterTypes,
    pub(crate) partition: Partition,
    /// For each cell, the other ranks that must see it.
    near: Vec<Vec<usize>>,
    radius: f64,
    rebalance_every: u64,
    pub(crate) frame: u64,
    /// The id of the next newborn.
    pub(crate) next_id: u64,
    /// For each rank, what it has as ghosts, and with which values.
    sent: Vec<Sent>,
    /// How long an entity took in the frames that were reported, in nanoseconds.
    cost: Option<u64>,
    /// For each rank, its entities here.
    ghosts: Vec<HashMap<GlobalId, Entity>>,
    /// The last checkpoint, from which the next one is a difference.
    pub(crate) saved: Option<Saved>,
    pub(crate) whole_every: u64,
    pub(crate) stats: ClusterStats,
}

impl<T: Transport> Cluster<T> {
    /// A rank that sees entities of others within `radius` of its own cells. Ids of newborns begin with `first_id`.
    pub fn new(transport: T, types: ClusterTypes, partition: Partition, radius: f64, first_id: u64) -> Self {
        let ranks = transport.ranks();
        let near = partition.near(radius);
        Self {
            transport,
            types,
            partition,
            near,
            radius,
            rebalance_every: 0,
            frame: 0,
            next_id: first_id,
            sent: vec![Sent::default(); ranks],
            cost: None,
            ghosts: vec![HashMap::new(); ranks],
            saved: None,
            whole_every: 16,
            stats: ClusterStats::default(),
        }
    }

    /// Hands out cells anew every so many frames, by the number of entities in them; never with 0.
    #[must_use]
    pub fn rebalance_every(mut self, frames: u64) -> Self {
        self.rebalance_every = frames;
        self
    }

    /// Has every so manyth checkpoint hold all rows, and those between what became another since the one before: 16 unless it
    /// is set. With 1 each holds all.
    #[must_use]
    pub fn whole_every(mut self, checkpoints: u64) -> Self {
        self.whole_every = checkpoints.max(1);
        self
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.transport.ranks()
    }

    /// How many exchanges there were.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Which rank owns what.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// What exchanges did so far.
    pub fn stats(&self) -> ClusterStats {
        self.stats
    }

    /// What carries bytes between ranks.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// Whether this rank owns a place: for spawning, where all ranks know what there is to spawn.
    pub fn owns(&self, place: [f64; 3]) -> bool {
        self.partition.owner(place) == self.rank()
    }

    /// Brings all ranks together: call it before each frame, on every rank.
    ///
    /// # Errors
    /// When a rank is gone, or what it sent cannot be read.
    pub fn exchange(&mut self, world: &mut World) -> Result<(), ClusterError> {
        self.name_newborn(world)?;
        if self.rebalance_every > 0 && self.frame.is_multiple_of(self.rebalance_every) {
            self.rebalance(world)?;
        }
        self.settle_links(world)?;
        self.migrate(world)?;
        self.exchange_ghosts(world)?;
        (self.types.places.index)(world, self.radius);
        self.exchange_messages(world)?;
        self.frame += 1;
        Ok(())
    }

    /// The entities that this rank owns, with their ids, in the order of these.
    pub(crate) fn owned(&self, world: &World) -> Vec<(GlobalId, Entity)> {
        let view = world.view_filtered::<(Entity, &GlobalId), Without<Ghost>>();
        let mut owned: Vec<(GlobalId, Entity)> = view.iter().map(|(entity, id)| (*id, entity)).collect();
        owned.sort_unstable();
        owned
    }

    /// Numbers the newborns of all ranks.
    pub(crate) fn name_newborn(&mut self, world: &mut World) -> Result<(), ClusterError> {
        let view = world.view_filtered::<(Entity, &Newborn), Without<GlobalId>>();
        let mut here: Vec<(Newborn, Entity)> =
            view.iter().map(|(entity, newborn)| (*newborn, entity)).collect();
        here.sort_unstable();
        let mut keys = Vec::new();
        for (newborn, _) in &here {
            put(&mut keys, newborn.parent.0);
            put(&mut keys, newborn.nth.into());
        }
        let mut all: Vec<(u64, u64)> = Vec::new();
        for (rank, part) in self.transport.gather(keys)?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("what rank {rank} sent of newborns"));
            while !reader.is_empty() {
                all.push((reader.number()?, reader.number()?));
            }
        }
        all.sort_unstable();
        if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            let (parent, nth) = pair[0];
            let message = format!("{:?} has two newborns with the number {nth}", GlobalId(parent));
            return Err(ClusterError::damaged("the list of newborns", message));
        }
        for (newborn, entity) in here {
            let key = (newborn.parent.0, u64::from(newborn.nth));
            let at = all.binary_search(&key).expect("its own part is among them") as u64;
            world.entity_mut(entity).insert(GlobalId(self.next_id + at)).remove::<Newborn>();
        }
        self.next_id += all.len() as u64;
        Ok(())
    }

    /// Tells how long the last frame took on this rank. From the next rebalancing on, an entity counts by the time that it took
    /// where it was, so that a rank on a slower machine, or with more expensive entities, gets fewer. Without it each counts
    /// alike. What is computed does not depend on it, only where.
    pub fn report_frame_time(&mut self, world: &World, time: Duration) {
        let owned = world.view_filtered::<Entity, (With<GlobalId>, Without<Ghost>)>().iter().count();
        let cost = time.as_nanos() / owned.max(1) as u128;
        self.cost = Some(u64::try_from(cost).unwrap_or(u64::MAX).clamp(1, 1 << 32));
    }

    /// Hands out cells by the number of entities in them, or by the time that these take.
    pub(crate) fn rebalance(&mut self, world: &World) -> Result<(), ClusterError> {
        let mut counts = vec![0_u64; self.partition.len()];
        let cost = self.cost.unwrap_or(1);
        (self.types.places.owned)(world, &mut |_, _, place| counts[self.partition.cell(place)] += cost);
        let counts = self.sum_counts(&counts)?;
        self.partition = self.partition.bisect(&counts);
        self.near = self.partition.near(self.radius);
        self.stats.rebalanced += 1;
        Ok(())
    }

    /// Forgets links to entities that no rank has any more, and despawns what goes with them.
    fn settle_links(&mut self, world: &mut World) -> Result<(), ClusterError> {
        let relations = self.types.relations.clone();
        if relations.is_empty() {
            return Ok(());
        }
        relations.iter().for_each(|relation| (relation.part_ghosts)(world));
        loop {
            let mut awaited = Vec::new();
            relations.iter().for_each(|relation| (relation.awaited)(world, &mut awaited));
            awaited.sort_unstable();
            awaited.dedup();
            let mut asked = self.gather_ids(&awaited)?;
            if asked.is_empty() {
                return Ok(());
            }
            let owned = self.owned(world);
            asked.retain(|id| owned.binary_search_by_key(id, |(id, _)| *id).is_ok());
            asked.sort_unstable();
            asked.dedup();
            let alive: HashSet<GlobalId> = self.gather_ids(&asked)?.into_iter().collect();
            let despawned = relations.iter().map(|relation| (relation.forget)(world, &alive)).sum::<u64>();
            // Others may have waited for those that went now.
            if self.sum_counts(&[despawned])? == [0] {
                return Ok(());
            }
        }
    }

    /// The ids of all ranks.
    fn gather_ids(&mut self, ids: &[GlobalId]) -> Result<Vec<GlobalId>, ClusterError> {
        let mut part = Vec::with_capacity(ids.len() * 8);
        ids.iter().for_each(|id| put(&mut part, id.0));
        let mut all = Vec::new();
        for (rank, part) in self.transport.gather(part)?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("the ids that rank {rank} waits for"));
            while !reader.is_empty() {
                all.push(GlobalId(reader.number()?));
            }
        }
        Ok(all)
    }

    /// Links entities again that met on this rank.
    pub(crate) fn relink(&self, world: &mut World) -> Result<(), ClusterError> {
        if self.types.relations.is_empty() {
            return Ok(());
        }
        let owned = self.owned(world);
        self.types.relations.iter().try_for_each(|relation| (relation.relink)(world, &owned))
    }

    /// Sends entities to the ranks that own their places.
    pub(crate) fn migrate(&mut self, world: &mut World) -> Result<(), ClusterError> {
        let mut leaving: Vec<Vec<Entity>> = vec![Vec::new(); self.ranks()];
        let here = self.rank();
        let mut send = |entity: Entity, place: [f64; 3]| {
            let owner = self.partition.owner(place);
            if owner != here {
                leaving[owner].push(entity);
            }
        };
        (self.types.places.owned)(world, &mut |_, entity, place| send(entity, place));
        if !self.types.relations.is_empty() {
            let owned = world.view_filtered::<Entity, (With<GlobalId>, Without<Ghost>)>();
            for entity in owned.iter().filter(|&entity| (self.types.places.of)(world, entity).is_none()) {
                if let Some(place) = self.types.place(world, entity) {
                    send(entity, place);
                }
            }
        }
        let mut parts = Vec::with_capacity(self.ranks());
        for entities in &leaving {
            let mut part = Vec::new();
            if !entities.is_empty() {
                self.types.refuse(world, entities)?;
                self.types.pack_whole(world, entities, &mut part);
            }
            self.stats.migrated += entities.len() as u64;
            self.stats.migrated_bytes += part.len() as u64;
            parts.push(part);
        }
        let leaving = leaving.concat();
        // An entity that goes away despawns no other: that is what a link to a target would do.
        self.types.relations.iter().for_each(|relation| (relation.part)(world, &leaving));
        world.despawn_batch(leaving);
        for (rank, part) in self.transport.exchange(parts)?.iter().enumerate() {
            if part.is_empty() {
                continue;
            }
            let mut reader = Reader::new(part, format!("what rank {rank} sent of migrants"));
            self.types.unpack_whole(world, &mut reader)?;
        }
        self.relink(world)
    }

    /// Sends what others must see, as far as they do not have it, and what they need no longer.
    fn exchange_ghosts(&mut self, world: &mut World) -> Result<(), ClusterError> {
        let entries = self.types.halo_entries();
        // Each entity once, however many ranks see it.
        let mut all = Vec::new();
        let mut seen: Vec<Vec<(GlobalId, usize)>> = vec![Vec::new(); self.ranks()];
        (self.types.places.owned)(world, &mut |id, entity, place| {
            let near = &self.near[self.partition.cell(place)];
            if !near.is_empty() {
                near.iter().for_each(|&rank| seen[rank].push((id, all.len())));
                all.push(entity);
            }
        });
        let hashes = sent::hashes(world, &all, &entries);
        let mut parts = Vec::with_capacity(self.ranks());
        for (sent, seen) in self.sent.iter_mut().zip(&mut seen) {
            seen.sort_unstable();
            let difference = sent.replace(seen, &hashes, entries.len());
            let changed: usize = difference.groups.values().map(Vec::len).sum();
            self.stats.ghosts_sent += changed as u64;
            self.stats.ghosts_kept += (seen.len() - changed) as u64;
            let part = difference.pack(world, &all, &entries);
            self.stats.ghost_bytes += part.len() as u64;
            parts.push(part);
        }
        for (rank, part) in self.transport.exchange(parts)?.iter().enumerate() {
            if !part.is_empty() {
                let mut reader = Reader::new(part, format!("what rank {rank} sent of ghosts"));
                self.receive_ghosts(world, rank, &mut reader)?;
            }
        }
        Ok(())
    }

    fn receive_ghosts(
        &mut self,
        world: &mut World,
        rank: usize,
        reader: &mut Reader<'_>,
    ) -> Result<(), ClusterError> {
        let known = &mut self.ghosts[rank];
        for _ in 0..reader.count()? {
            let gone = known.remove(&GlobalId(reader.number()?));
            let gone = gone.ok_or_else(|| reader.error("a ghost is to go that was never sent"))?;
            world.despawn(gone);
        }
        let owner = u32::try_from(rank).expect("fewer than 2^32 ranks");
        let entries = self.types.halo_entries();
        for _ in 0..reader.count()? {
            let changed = sent::chosen(&entries, reader.number()?);
            unpack_rows(world, reader, &changed, |world, id| {
                *known.entry(id).or_insert_with(|| world.spawn(Ghost { owner }).id())
            })?;
        }
        world.flush();
        Ok(())
    }

    /// Delivers the messages of all ranks.
    fn exchange_messages(&mut self, world: &mut World) -> Result<(), ClusterError> {
        let letters = world.get_resource_mut::<Outbox>().map(|mut outbox| outbox.take()).unwrap_or_default();
        let mut parts = vec![Vec::new(); self.ranks()];
        for letter in letters {
            match letter.to {
                To::Rank(rank) if rank < parts.len() => letter.write(&mut parts[rank]),
                To::Rank(rank) => {
                    return Err(ClusterError::damaged("a message", format_args!("there is no rank {rank}")));
                }
                // Its owner keeps it. Only ghosts tell which rank that is, and few are ghosts.
                To::All | To::Owner(_) => parts.iter_mut().for_each(|part| letter.write(part)),
            }
        }
        let mut arrived = Vec::new();
        for (rank, part) in self.transport.exchange(parts)?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("what rank {rank} sent of messages"));
            while !reader.is_empty() {
                arrived.push(Letter::read(&mut reader)?);
            }
        }
        if arrived.iter().any(|letter| matches!(letter.to, To::Owner(_))) {
            let owned = self.owned(world);
            let is_owned = |id: GlobalId| owned.binary_search_by_key(&id, |(id, _)| *id).is_ok();
            arrived.retain(|letter| !matches!(letter.to, To::Owner(id) if !is_owned(id)));
        }
        self.stats.messages += deliver(world, &self.types.messages, arrived)?;
        Ok(())
    }

    /// A number that is equal for equal worlds on any number of ranks: ids and all components that travel, of all ranks.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn digest(&mut self, world: &World) -> Result<u64, ClusterError> {
        let entities: Vec<Entity> = self.owned(world).into_iter().map(|(_, entity)| entity).collect();
        let sum = self.types.row_digests(world, &entities).fold(0_u64, u64::wrapping_add);
        let parts = self.sum_counts(&[sum, entities.len() as u64, 0])?;
        Ok(mix(parts[0] ^ mix(parts[1]) ^ mix(self.next_id)))
    }
}
