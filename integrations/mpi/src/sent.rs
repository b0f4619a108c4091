//! What another rank has as ghosts, and what it lacks.
//!
//! ```text
//!   sent     | id 3: numbers of Position, Velocity | id 8: .. |       sorted by id
//!   a part   | ids that go | how many groups | a group: which components changed, rows with these alone | .. |
//! ```
//!
//! A number stands for the value of a component: where it is the same as the one that was sent, the value is not sent again.
//! Rows that changed in the same components travel together, column by column.

use std::collections::BTreeMap;

use phalanx::prelude::*;

use crate::columns::Rows;
use crate::ids::GlobalId;
use crate::types::{ComponentEntry, pack_rows};
use crate::wire::put;

/// In a set of components: the ghost is new, and has all of them.
const NEW: u64 = 1 << 63;

/// The components in a set.
pub(crate) fn chosen(entries: &[ComponentEntry], set: u64) -> Vec<ComponentEntry> {
    let is_in = |at: usize| set & NEW != 0 || at < 63 && set >> at & 1 == 1;
    entries.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, entry)| *entry).collect()
}

/// For each entity, a number per component.
pub(crate) fn hashes(world: &World, entities: &[Entity], entries: &[ComponentEntry]) -> Vec<u64> {
    let rows = Rows::of(world, entities);
    let mut of_one = vec![0; entities.len()];
    let mut all = vec![0; entities.len() * entries.len()];
    for (at, entry) in entries.iter().enumerate() {
        (entry.hash)(&rows, &mut of_one);
        for (row, hash) in all.chunks_mut(entries.len()).zip(&of_one) {
            row[at] = *hash;
        }
    }
    all
}

/// What a rank has as ghosts.
#[derive(Clone, Default)]
pub(crate) struct Sent {
    ids: Vec<GlobalId>,
    /// The numbers of each, side by side.
    hashes: Vec<u64>,
}

/// What a rank lacks.
#[derive(Default)]
pub(crate) struct Difference {
    gone: Vec<GlobalId>,
    /// By the set of components that changed, the entities, as positions in the list of all.
    pub(crate) groups: BTreeMap<u64, Vec<usize>>,
}

impl Sent {
    /// Remembers what a rank is to have now, sorted by id, and tells what it lacks.
    pub(crate) fn replace(&mut self, seen: &[(GlobalId, usize)], hashes: &[u64], width: usize) -> Difference {
        let old = std::mem::take(self);
        let mut difference = Difference::default();
        let mut before = 0;
        for &(id, at) in seen {
            while old.ids.get(before).is_some_and(|old| *old < id) {
                difference.gone.push(old.ids[before]);
                before += 1;
            }
            let now = &hashes[at * width..(at + 1) * width];
            let mut set = NEW;
            if old.ids.get(before) == Some(&id) {
                let then = &old.hashes[before * width..(before + 1) * width];
                let changed = now.iter().zip(then).enumerate().filter(|(_, (now, then))| now != then);
                // Beyond the components that a set can name all are sent.
                set = changed.fold(0, |set, (at, _)| set | if at < 63 { 1 << at } else { NEW });
                before += 1;
            }
            if set != 0 {
                difference.groups.entry(set).or_default().push(at);
            }
            self.ids.push(id);
            self.hashes.extend_from_slice(now);
        }
        difference.gone.extend(&old.ids[before..]);
        difference
    }
}

impl Difference {
    /// What is sent: nothing where nothing is lacking.
    pub(crate) fn pack(&self, world: &World, all: &[Entity], entries: &[ComponentEntry]) -> Vec<u8> {
        let mut part = Vec::new();
        if self.gone.is_empty() && self.groups.is_empty() {
            return part;
        }
        put(&mut part, self.gone.len() as u64);
        self.gone.iter().for_each(|id| put(&mut part, id.0));
        put(&mut part, self.groups.len() as u64);
        for (&set, rows) in &self.groups {
            put(&mut part, set);
            let mut rows = rows.clone();
            // As they lie in tables, so that rows side by side are copied together.
            rows.sort_unstable();
            let entities: Vec<Entity> = rows.iter().map(|&at| all[at]).collect();
            pack_rows(&Rows::of(world, &entities), &chosen(entries, set), &mut part);
        }
        part
    }
}
