//! Groups: orders over sparse sets, which every change of a set keeps up.
//!
//! ```text
//!   owned sets      | members, in one order ........ | others |      the first `len` rows of each
//!   without owner   a set of members alone: entities, no values, with an order of its own
//! ```
//!
//! Entering swaps an entity's rows to the end of the member part and moves the border right; leaving swaps them with
//! the last member and moves the border left. A set tells in two masks which groups name it, so that a set which no
//! group names pays one test, and nothing is searched. An entity that loses a set that a group needs leaves the group
//! first, in the same call: members always have what their group promises (I13), which is what lets `members` walk them
//! unchecked.
//!
//! A group may also exclude columns of tables. Rows move between tables without asking groups; the caller that moves them
//! calls [`Store::refresh_groups`] afterwards. Who enters and leaves is decided in `upkeep`.

use super::{Entry, PinnedSet, SetId, SparseSet};
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::sorting;
use crate::store::Store;

mod image;
mod upkeep;

pub(crate) use image::GroupsImage;

/// The id of a group, for good: a group that was dissolved is not another one's id later, nor is that of another store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SetGroupId {
    store: u64,
    index: u32,
    generation: u32,
}

/// Why an id names no group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupGone {
    /// The group was dissolved.
    Dissolved,
    /// The group belongs to another store.
    OtherStore,
}

/// What a group asks for. Two groups are the same when they ask for the same, in whatever order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupTerms {
    /// The sets that members are in, and whose rows the group orders.
    pub owned: Vec<SetId>,
    /// The other sets that members are in.
    pub seen: Vec<SetId>,
    /// The sets that members are not in.
    pub without_sets: Vec<SetId>,
    /// The columns that the tables of members lack.
    pub without: Vec<AnyColId>,
}

impl GroupTerms {
    fn sort(&mut self) {
        sorting::sort(&mut self.owned);
        sorting::sort(&mut self.seen);
        sorting::sort(&mut self.without_sets);
        sorting::sort(&mut self.without);
    }
}

/// All groups of a store.
#[derive(Default)]
pub(crate) struct SetGroups {
    slots: Vec<Slot>,
    /// How many exclude columns of tables.
    watching_tables: usize,
    /// How many groups were made so far, those of other branches included: a number that never goes back.
    made: u32,
}

#[derive(Default)]
struct Slot {
    /// The number of the group that is here, or was here last.
    generation: u32,
    /// The set for members of a group that owns nothing, made on first use and kept.
    members: Option<SetId>,
    group: Option<Group>,
}

struct Group {
    terms: GroupTerms,
    /// The sets that members are in, owned ones first.
    needed: Box<[SetId]>,
    /// How many members there are, at the front of each owned set.
    len: u32,
    /// The members of a group that owns nothing.
    members: Option<SetId>,
    /// Whether it owns sets and excludes nothing: most do.
    plain: bool,
}

/// How many bits a mask of groups has.
const BITS: usize = u64::BITS as usize;

impl Group {
    /// Whether an entity is a member.
    #[inline(always)]
    fn has(&self, sets: &[PinnedSet], entity: Entity) -> bool {
        let first = self.members.unwrap_or(self.needed[0]);
        let row = sets[first.index()].find(entity);
        row.is_some_and(|row| self.members.is_some() || row < self.len as usize)
    }
}

impl Store {
    fn group(&self, id: SetGroupId) -> Result<&Group, GroupGone> {
        if id.store != self.id {
            return Err(GroupGone::OtherStore);
        }
        let slot = self.groups.slots.get(id.index as usize).filter(|slot| slot.generation == id.generation);
        slot.and_then(|slot| slot.group.as_ref()).ok_or(GroupGone::Dissolved)
    }

    fn group_id(&self, at: usize) -> SetGroupId {
        let index = u32::try_from(at).expect("fewer than 2^32 groups");
        SetGroupId { store: self.id, index, generation: self.groups.slots[at].generation }
    }

    /// The group with these terms, if there is one.
    pub fn find_group(&self, terms: &GroupTerms) -> Option<SetGroupId> {
        let mut terms = terms.clone();
        terms.sort();
        let same = |slot: &Slot| slot.group.as_ref().is_some_and(|group| group.terms == terms);
        self.groups.slots.iter().position(same).map(|at| self.group_id(at))
    }

    /// The group that orders the rows of a set.
    pub fn owner_of_set(&self, set: SetId) -> Option<SetGroupId> {
        self.set(set).owner.map(|at| self.group_id(at as usize))
    }

    /// Makes a group, over the entities that there are and those that will come.
    ///
    /// # Panics
    /// When no set is needed, a set occurs twice, is another store's or that of a group's members, or one that is to be
    /// owned is stable or has an owner.
    pub fn add_group(&mut self, mut terms: GroupTerms) -> SetGroupId {
        terms.sort();
        let needed: Vec<SetId> = terms.owned.iter().chain(&terms.seen).copied().collect();
        assert!(!needed.is_empty(), "a group needs a set");
        let all: Vec<SetId> = needed.iter().chain(&terms.without_sets).copied().collect();
        let repeated = all.iter().enumerate().any(|(at, set)| all[..at].contains(set));
        assert!(!repeated, "a group names each set once");
        // Other groups would miss members that come and go (I13).
        let of_group = |&set: &SetId| self.set(set).of_group;
        assert!(!all.iter().any(of_group), "a group cannot name the set of another group's members");
        let free = |&set: &SetId| !self.set(set).stable && self.set(set).owner.is_none();
        assert!(terms.owned.iter().all(free), "a set that is to be owned has no owner, and is not stable");
        let at = self.groups.slots.iter().position(|slot| slot.group.is_none());
        let at = at.unwrap_or(self.groups.slots.len());
        if at == self.groups.slots.len() {
            self.groups.slots.push(Slot::default());
        }
        let shortest = needed.iter().copied().min_by_key(|&set| self.set_len(set));
        let candidates = shortest.map(|set| self.set_entities(set).to_vec()).unwrap_or_default();
        // SAFETY: a group without members asks for no rows (I13).
        let group = unsafe { self.group_of(at, terms, 0) };
        self.groups.made = self.groups.made.checked_add(1).expect("fewer than 2^32 groups are made");
        self.groups.slots[at].generation = self.groups.made;
        self.groups.slots[at].group = Some(group);
        self.update_naming();
        for entity in candidates {
            self.settle_group(at, entity);
        }
        self.group_id(at)
    }

    /// The set of members of a group that owns nothing: it has no columns, only entities and their order, and
    /// nothing else reaches it by a plan.
    fn members_set(&mut self, at: usize) -> SetId {
        if let Some(set) = self.groups.slots[at].members {
            return set;
        }
        let table = self.new_set_table(&[]);
        let set = self.push_set(SparseSet { of_group: true, ..SparseSet::new(table, false) });
        self.groups.slots[at].members = Some(set);
        set
    }

    /// Dissolves a group; the rows of its sets stay where they are.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn remove_group(&mut self, id: SetGroupId) -> Result<(), GroupGone> {
        let members = self.group(id)?.members;
        let slot = &mut self.groups.slots[id.index as usize];
        slot.group = None;
        self.update_naming();
        if let Some(set) = members {
            while let Some(&entity) = self.set_entities(set).last() {
                // SAFETY: the set is that of the members of a group, which is gone (I13).
                unsafe { self.remove_member(set, entity) };
            }
        }
        Ok(())
    }

    /// Adds an entity to the set of members of a group that owns nothing.
    ///
    /// # Safety
    /// The entity lives, and is in each set that the group needs, but not in this one (I10, I13).
    unsafe fn push_member(&mut self, set: SetId, entity: Entity) {
        let table = self.set(set).table;
        let row = self.next_row(table);
        // SAFETY: forwarded: there is room for the row now (I3), which the entity gets (I10); the table has no columns (I13).
        unsafe {
            *self.sets[set.index()].entry(entity) = Entry::new(entity, row);
            self.push_row(table, entity);
        }
    }

    /// Takes an entity out of the set of members of a group that owns nothing.
    ///
    /// # Safety
    /// The set is that of a group's members (I13).
    unsafe fn remove_member(&mut self, set: SetId, entity: Entity) {
        let Some(row) = self.set(set).find(entity) else { return };
        let table = self.set(set).table;
        // SAFETY: forwarded: the set led to the row, which is in range (I10), has no values (I13), and goes. The entity that gets
        // its place is in the set.
        unsafe {
            self.sets[set.index()].unset(entity);
            if let Some(moved) = self.close_gap(table, row, None) {
                self.sets[set.index()].move_member(moved, row);
            }
        }
    }

    /// Writes into each set which groups name it.
    fn update_naming(&mut self) {
        for set in &mut self.sets {
            (set.needing, set.excluding, set.owner) = (0, 0, None);
        }
        self.groups.watching_tables = 0;
        for (at, slot) in self.groups.slots.iter().enumerate() {
            let Some(Group { terms, .. }) = &slot.group else { continue };
            let bit = 1u64 << (at % BITS);
            let set = |sets: &mut [PinnedSet], id: SetId, change: &dyn Fn(&mut SparseSet)| {
                change(&mut sets[id.index()]);
            };
            let index = u32::try_from(at).ok();
            terms.owned.iter().for_each(|&id| set(&mut self.sets, id, &|set| set.owner = index));
            let needed = terms.owned.iter().chain(&terms.seen);
            needed.for_each(|&id| set(&mut self.sets, id, &|set| set.needing |= bit));
            terms.without_sets.iter().for_each(|&id| set(&mut self.sets, id, &|set| set.excluding |= bit));
            self.groups.watching_tables += usize::from(!terms.without.is_empty());
        }
        for set in &mut self.sets {
            set.naming = set.needing | set.excluding;
            // Where there are many groups, one bit of a mask stands for several.
            let alone = set.needing.is_power_of_two() && self.groups.slots.len() <= BITS;
            set.only_owner = set.owner.filter(|_| alone);
            set.plain = !set.stable && set.naming == 0;
        }
    }

    /// How many members a group has.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn group_len(&self, id: SetGroupId) -> Result<usize, GroupGone> {
        Ok(self.group_entities(id)?.len())
    }

    /// The members of a group, in its order.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn group_entities(&self, id: SetGroupId) -> Result<&[Entity], GroupGone> {
        let group = self.group(id)?;
        let first = group.members.unwrap_or(group.needed[0]);
        let entities = self.set_entities(first);
        Ok(if group.members.is_some() { entities } else { &entities[..group.len as usize] })
    }

    /// What a group asks for.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn group_terms(&self, id: SetGroupId) -> Result<&GroupTerms, GroupGone> {
        Ok(&self.group(id)?.terms)
    }

    /// Whether an entity is in a group.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn group_contains(&self, id: SetGroupId, entity: Entity) -> Result<bool, GroupGone> {
        Ok(self.group(id)?.has(&self.sets, entity))
    }

    /// Exchanges two members, in every set that the group orders. False when one is out of range.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn group_swap(&mut self, id: SetGroupId, a: usize, b: usize) -> Result<bool, GroupGone> {
        if a.max(b) >= self.group_len(id)? {
            return Ok(false);
        }
        let group = self.group(id)?;
        let ordered = group.members.map_or_else(|| group.terms.owned.clone(), |members| vec![members]);
        for set in ordered.into_iter().filter(|_| a != b) {
            // SAFETY: both are members, which are the first rows of each owned set, or all rows of the group's own (I13);
            // neither has holes, and the rows differ.
            unsafe { self.swap_set_rows(set, a, b) };
        }
        Ok(true)
    }

    /// How many rows of a set belong to members of the group that owns it.
    pub(super) fn members_in(&self, set: SetId) -> usize {
        let owner = self.set(set).owner.and_then(|at| self.groups.slots[at as usize].group.as_ref());
        owner.map_or(0, |group| group.len as usize)
    }

    /// The sets that members of a group are in: owned ones, and all of them.
    pub(super) fn group_sets(&self, id: SetGroupId) -> Result<(&[SetId], &[SetId]), GroupGone> {
        let group = self.group(id)?;
        Ok((&group.terms.owned, &group.terms.seen))
    }

    /// Whether a group excludes columns of tables, so that it must be told of rows that move.
    #[inline(always)]
    pub fn groups_watch_tables(&self) -> bool {
        self.groups.watching_tables > 0
    }

    /// Brings an entity's membership in line with the table where it stands now.
    pub fn refresh_groups(&mut self, entity: Entity) {
        if self.groups_watch_tables() {
            self.settle_groups(entity, u64::MAX);
        }
    }

    /// Forgets all members, since every entity is gone.
    pub(crate) fn clear_groups(&mut self) {
        for group in self.groups.slots.iter_mut().filter_map(|slot| slot.group.as_mut()) {
            group.len = 0;
        }
    }

    /// Verifies that members are those that qualify, at the front of each owned set and in one order.
    pub(super) fn check_groups(&self) -> Result<(), String> {
        for (at, slot) in self.groups.slots.iter().enumerate() {
            let Some(group) = &slot.group else { continue };
            let owned: Vec<_> = group.terms.owned.iter().map(|&set| self.set_entities(set)).collect();
            let len = group.len as usize;
            if owned.iter().any(|entities| entities.len() < len || entities[..len] != owned[0][..len]) {
                return Err(format!("I13: the owned sets of group {at} are not aligned"));
            }
            for entity in self.entities.iter() {
                let is_in = |&set: &SetId| self.set(set).find(entity).is_some();
                let qualifies = group.needed.iter().all(is_in) && !self.is_excluded(group, entity);
                if qualifies != group.has(&self.sets, entity) {
                    return Err(format!("I13: the membership of {entity} in group {at} is wrong"));
                }
            }
        }
        Ok(())
    }
}
