//! Reductions over all ranks. Each gives the same bits on any number of ranks.

use phalanx::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cluster::Cluster;
use crate::error::ClusterError;
use crate::exact::ExactSum;
use crate::messages::To;
use crate::transport::Transport;
use crate::wire::{Reader, put};

fn words(numbers: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() * 8);
    numbers.iter().for_each(|&number| put(&mut bytes, number));
    bytes
}

impl<T: Transport> Cluster<T> {
    /// Adds up lists of numbers, place by place, wrapping around. Each rank adds up its share of the places and tells the
    /// others, so that a rank receives each place twice, and not once from every rank.
    pub(crate) fn sum_counts(&mut self, counts: &[u64]) -> Result<Vec<u64>, ClusterError> {
        let (ranks, here, len) = (self.ranks(), self.rank(), counts.len());
        let share = |rank: usize| rank * len / ranks..(rank + 1) * len / ranks;
        let parts = (0..ranks).map(|rank| words(&counts[share(rank)])).collect();
        let mut sums = vec![0_u64; share(here).len()];
        for (rank, part) in self.transport.exchange(parts)?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("what rank {rank} counted"));
            for sum in &mut sums {
                *sum = sum.wrapping_add(reader.number()?);
            }
        }
        let mut all = Vec::with_capacity(len);
        for (rank, part) in self.transport.gather(words(&sums))?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("what rank {rank} added up"));
            for _ in share(rank) {
                all.push(reader.number()?);
            }
        }
        Ok(all)
    }

    /// The sum of values on all ranks, exact until it is rounded at the end: their order does not matter.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn sum(&mut self, values: impl IntoIterator<Item = f64>) -> Result<f64, ClusterError> {
        let mut here = ExactSum::new();
        values.into_iter().for_each(|value| here.add(value));
        let part = words(&here.words().collect::<Vec<u64>>());
        let mut total = ExactSum::new();
        for (rank, part) in self.transport.gather(part)?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("the sum of rank {rank}"));
            let sum = ExactSum::from_words(|| reader.number().ok());
            total.merge(&sum.ok_or_else(|| reader.error("it is too short"))?);
        }
        Ok(total.get())
    }

    /// The least value on all ranks, by the total order of floats; `None` if there is none.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn min(&mut self, values: impl IntoIterator<Item = f64>) -> Result<Option<f64>, ClusterError> {
        self.pick(values, |a, b| if b.total_cmp(&a).is_lt() { b } else { a })
    }

    /// The greatest value on all ranks, by the total order of floats; `None` if there is none.
    ///
    /// # Errors
    /// When a rank is gone.
    pub fn max(&mut self, values: impl IntoIterator<Item = f64>) -> Result<Option<f64>, ClusterError> {
        self.pick(values, |a, b| if b.total_cmp(&a).is_gt() { b } else { a })
    }

    fn pick(
        &mut self,
        values: impl IntoIterator<Item = f64>,
        better: fn(f64, f64) -> f64,
    ) -> Result<Option<f64>, ClusterError> {
        let mut part = Vec::new();
        if let Some(value) = values.into_iter().reduce(better) {
            put(&mut part, value.to_bits());
        }
        let mut best: Option<f64> = None;
        for (rank, part) in self.transport.gather(part)?.iter().enumerate() {
            let mut reader = Reader::new(part, format!("the value of rank {rank}"));
            if !reader.is_empty() {
                let value = f64::from_bits(reader.number()?);
                best = Some(best.map_or(value, |best| better(best, value)));
            }
        }
        Ok(best)
    }

    /// How many values on all ranks fall into each of `bins` equal parts from `low` to `high`; those outside count for the
    /// first and the last.
    ///
    /// # Errors
    /// When a rank is gone.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the bins")]
    pub fn histogram(
        &mut self,
        values: impl IntoIterator<Item = f64>,
        low: f64,
        high: f64,
        bins: usize,
    ) -> Result<Vec<u64>, ClusterError> {
        let mut counts = vec![0_u64; bins.max(1)];
        let last = counts.len() - 1;
        for value in values {
            let part = (value - low) / (high - low) * bins as f64;
            counts[(part.floor().max(0.0) as usize).min(last)] += 1;
        }
        self.sum_counts(&counts)
    }

    /// Gives a resource of one rank to all.
    ///
    /// # Errors
    /// When a rank is gone, the rank has no such resource, or it cannot be read.
    pub fn share<R: Resource + Serialize + DeserializeOwned>(
        &mut self,
        world: &mut World,
        from: usize,
    ) -> Result<(), ClusterError> {
        self.send_resource::<R>(world, from, To::All)
    }

    /// Gives a resource of one rank to another one, to all, or to the rank that owns an entity; none gets it where no rank
    /// owns that. All ranks must call it, with the same `from` and `to`.
    ///
    /// # Errors
    /// When a rank is gone, the rank has no such resource, there is no rank to give it to, or it cannot be read.
    pub fn send_resource<R: Resource + Serialize + DeserializeOwned>(
        &mut self,
        world: &mut World,
        from: usize,
        to: To,
    ) -> Result<(), ClusterError> {
        let (name, here) = (std::any::type_name::<R>(), self.rank());
        let is_for = match to {
            To::All => vec![1],
            To::Rank(rank) if rank < self.ranks() => vec![u8::from(rank == here)],
            To::Rank(rank) => {
                return Err(ClusterError::damaged(name, format_args!("there is no rank {rank}")));
            }
            To::Owner(id) => {
                vec![u8::from(self.owned(world).binary_search_by_key(&id, |(id, _)| *id).is_ok())]
            }
        };
        // The rank that has it learns the receiver, and sends it to no other.
        let wanted = self.transport.gather(is_for)?;
        let mut parts = vec![Vec::new(); self.ranks()];
        if from == here {
            let mut bytes = Vec::new();
            if let Some(resource) = world.get_resource::<R>() {
                bytes.push(1);
                let value = postcard::to_stdvec(resource);
                bytes.extend(value.map_err(|error| ClusterError::damaged(name, error))?);
            }
            let chosen = parts.iter_mut().zip(&wanted).filter(|(_, wanted)| **wanted == [1]);
            chosen.for_each(|(part, _)| part.clone_from(&bytes));
        }
        let received = self.transport.exchange(parts)?;
        if wanted[here] != [1] {
            return Ok(());
        }
        let bytes = received.get(from).and_then(|part| part.split_first());
        let Some((_, bytes)) = bytes else {
            return Err(ClusterError::damaged(name, format_args!("rank {from} has no such resource")));
        };
        if from != here {
            let resource: R =
                postcard::from_bytes(bytes).map_err(|error| ClusterError::damaged(name, error))?;
            world.insert_resource(resource);
        }
        Ok(())
    }
}
