//! Which system waits for which because both use the same part of the world, and one of them writes.
//!
//! For each part a writer waits for the last writer and the readers since, a reader for the last writer. What follows from
//! that by way of a third user is left out, so the number of waits grows with what users declare, not with their pairs.
//!
//! Columns of tables are finer. Their users are sorted into kinds, those that use the column in the same tables in the
//! same way, and kinds that never meet in a table do not wait for each other:
//!
//! ```text
//!   kind                              users          waits for
//!   &mut Health, With<Player>         a   c          c for a
//!   &mut Health, Without<Player>        b   d        d for b
//!   &Health                                   e      e for c and d
//! ```
//!
//! A system that does not wait because of that has to split the column, so that the store compares tables when they meet in time
//! (ADR 0046). A column with very many kinds of use is one part like others.

use std::collections::BTreeMap;

use phalanx_store::AnyColId;

use crate::system::{Access, Part};

/// More kinds of use than this are not compared with each other.
const MOST_KINDS: usize = 64;

/// What was found among the users of a stage, each by its position.
#[derive(Default)]
pub(super) struct Found {
    /// An earlier user, and one that waits for it.
    pub(super) waits: Vec<(u32, u32)>,
    pub(super) apart: Vec<Apart>,
}

/// Two kinds of users of a column that never meet in a table, though one of them writes.
pub(super) struct Apart {
    pub(super) column: AnyColId,
    pub(super) one: Vec<u32>,
    pub(super) other: Vec<u32>,
}

/// Works out which system waits for which, in the order of the users.
pub(super) fn find(users: &[&Access]) -> Found {
    let mut parts: BTreeMap<Part, Vec<(u32, bool)>> = BTreeMap::new();
    for (at, user) in (0_u32..).zip(users) {
        for &(part, writes) in user.uses() {
            parts.entry(part).or_default().push((at, writes));
        }
    }
    let mut found = Found::default();
    for (part, uses) in parts {
        if uses.len() < 2 || !uses.iter().any(|(_, writes)| *writes) {
            continue;
        }
        match part {
            Part::Column(column) => match Kinds::of(column, &uses, users) {
                Some(kinds) => kinds.find(&mut found),
                None => find_whole(&uses, &mut found),
            },
            _ => find_whole(&uses, &mut found),
        }
    }
    found
}

/// The waits for a part that is used as a whole.
fn find_whole(uses: &[(u32, bool)], found: &mut Found) {
    let (mut writer, mut readers) = (None, Vec::new());
    for &(at, writes) in uses {
        if !writes {
            found.waits.extend(writer.map(|writer| (writer, at)));
            readers.push(at);
            continue;
        }
        if readers.is_empty() {
            found.waits.extend(writer.map(|writer| (writer, at)));
        }
        found.waits.extend(readers.drain(..).map(|reader| (reader, at)));
        writer = Some(at);
    }
}

/// The users of a column, by how they use it.
struct Kinds<'a> {
    column: AnyColId,
    /// For each kind, a user that stands for it, whether it writes, and all its users.
    kinds: Vec<(&'a Access, bool, Vec<u32>)>,
    /// The users in their order, each with its kind.
    uses: Vec<(u32, usize)>,
    /// For each two kinds, whether their users wait for each other.
    meet: Vec<Vec<bool>>,
}

impl<'a> Kinds<'a> {
    /// `None` when all users that could wait for each other do, or there are too many kinds.
    fn of(column: AnyColId, users: &[(u32, bool)], accesses: &[&'a Access]) -> Option<Self> {
        let mut kinds: Vec<(&Access, bool, Vec<u32>)> = Vec::new();
        let mut uses = Vec::new();
        for &(at, writes) in users {
            let access = accesses[at as usize];
            let same = |(known, writing, _): &(&Access, bool, _)| {
                *writing == writes && known.uses_alike(access, column)
            };
            let kind = match kinds.iter().position(same) {
                Some(kind) => kind,
                None if kinds.len() == MOST_KINDS => return None,
                None => {
                    kinds.push((access, writes, Vec::new()));
                    kinds.len() - 1
                }
            };
            kinds[kind].2.push(at);
            uses.push((at, kind));
        }
        let part = Part::Column(column);
        let waits = |one: usize, other: usize| {
            let ((some, writes, _), (others, written, _)) = (&kinds[one], &kinds[other]);
            (*writes || *written) && (one == other || !some.shares(others, part))
        };
        let meet: Vec<Vec<bool>> =
            (0..kinds.len()).map(|one| (0..kinds.len()).map(|other| waits(one, other)).collect()).collect();
        let kinds = Self { column, kinds, uses, meet };
        let any_apart = kinds.apart().next().is_some();
        any_apart.then_some(kinds)
    }

    /// The pairs of kinds that would wait for each other if they met in a table.
    fn apart(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let pairs = (0..self.kinds.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
        pairs.filter(|&(one, other)| {
            let one_writes = self.kinds[one].1 || self.kinds[other].1;
            one_writes && !self.meet[one][other]
        })
    }

    fn find(&self, found: &mut Found) {
        // For each kind, its users so far; of writers only the last one, which waits for those before.
        let mut so_far: Vec<Vec<u32>> = vec![Vec::new(); self.kinds.len()];
        for &(at, kind) in &self.uses {
            let writes = self.kinds[kind].1;
            // The last writer of the same kind waits for all that this one would wait for, up to there.
            let covered = if writes { so_far[kind].last().copied() } else { None };
            for earlier in (0..self.kinds.len()).filter(|&earlier| self.meet[kind][earlier]) {
                let users =
                    so_far[earlier].iter().rev().take_while(|&&user| covered.is_none_or(|end| user >= end));
                found.waits.extend(users.map(|&user| (user, at)));
            }
            if writes {
                so_far[kind].clear();
            }
            so_far[kind].push(at);
        }
        found.apart.extend(self.apart().map(|(one, other)| Apart {
            column: self.column,
            one: self.kinds[one].2.clone(),
            other: self.kinds[other].2.clone(),
        }));
    }
}
