//! The doubts about sets: whether pages, rows and holes agree.
//!
//! Part of [`Store::check`], which model tests call after each step.

#![forbid(unsafe_code)]

use super::SparseSet;
use crate::entity::Entity;
use crate::sorting;
use crate::store::Store;

impl Store {
    /// Verifies that entries and rows point at each other, holes are where they are listed, and only living entities
    /// are in sets, and that groups have the members they should.
    pub(crate) fn check_sets(&self) -> Result<(), String> {
        for (at, set) in self.sets.iter().enumerate() {
            if set.plain != (!set.stable && set.naming == 0) {
                return Err(format!("I10: set {at} is wrong about whether rows go without further ado"));
            }
            self.check_holes(set).map_err(|fault| format!("I11: set {at} {fault}"))?;
            let owners = self.table_entities(set.table);
            let holes = self.tables[set.table.index()].holes.len();
            for (row, &entity) in owners.iter().enumerate().filter(|&(_, &e)| e != Entity::PLACEHOLDER) {
                if set.find(entity) != Some(row) {
                    return Err(format!(
                        "I10: set {at} row {row} is {entity}, found at {:?}",
                        set.find(entity)
                    ));
                }
                if !self.entities.contains(entity) {
                    return Err(format!("I10: {entity} is in set {at} but not alive"));
                }
            }
            let entries =
                set.pages.iter().flatten().flat_map(|page| page.iter()).filter(|entry| entry.generation != 0);
            let count = entries.count();
            if count + holes != owners.len() {
                return Err(format!(
                    "I10: set {at} has {} rows and {holes} holes, {count} entries",
                    owners.len()
                ));
            }
        }
        self.check_groups()?;
        let strays = self.tables.iter().filter(|table| !table.is_set && !table.holes.is_empty());
        if strays.count() > 0 { Err("I11: a table that is no set has holes".to_owned()) } else { Ok(()) }
    }

    fn check_holes(&self, set: &SparseSet) -> Result<(), String> {
        let (owners, holes) = (self.table_entities(set.table), &self.tables[set.table.index()].holes);
        if !set.stable && !holes.is_empty() {
            return Err(format!("is not stable, but has {} holes", holes.len()));
        }
        let mut listed: Vec<usize> = holes.iter().map(|&hole| hole as usize).collect();
        sorting::sort(&mut listed);
        let found = owners.iter().enumerate().filter(|&(_, &e)| e == Entity::PLACEHOLDER);
        let found: Vec<usize> = found.map(|(row, _)| row).collect();
        if found == listed { Ok(()) } else { Err(format!("has holes at {found:?}, but lists {listed:?}")) }
    }
}
