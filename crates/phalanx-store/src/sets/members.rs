//! The members of a group, one by one.
//!
//! Nothing is asked per member (I13): owned sets are walked by position, all at the same one; of the other sets the
//! page tells the row, and it is not asked whether there is one.

use std::iter::FusedIterator;
use std::marker::PhantomData;

use super::{GroupGone, SetGroupId};
use crate::column_id::AnyColId;
use crate::entity::Entity;
use crate::fetch::{ReadFetch, SetFetch};
use crate::prepared::find_alias;
use crate::store::Store;

/// The members of a group, with the parts `O` of sets that it owns and `G` of sets that it only sees.
pub struct Members<'w, O: SetFetch, G: SetFetch> {
    entities: &'w [Entity],
    next: usize,
    own: O::Ptrs,
    get: G::Ptrs,
    access: PhantomData<&'w ()>,
}

// SAFETY: stands for references to values that are `Send` and `Sync` (I1), each handed out once unless they are only read
// (I13). What the fetches keep may be used on any thread (I14).
unsafe impl<O: SetFetch, G: SetFetch> Send for Members<'_, O, G> {}
// SAFETY: nothing is handed out through `&Members`.
unsafe impl<O: SetFetch, G: SetFetch> Sync for Members<'_, O, G> {}

impl Store {
    /// Reads the members of a group, in its order. `O` is of sets that the group owns, `G` of others that it needs.
    ///
    /// # Errors
    /// When there is no such group.
    ///
    /// # Panics
    /// When a part is of another set than that.
    pub fn group_members<O: SetFetch + ReadFetch, G: SetFetch + ReadFetch>(
        &self,
        id: SetGroupId,
        own: O::Ids,
        get: G::Ids,
    ) -> Result<Members<'_, O, G>, GroupGone> {
        // SAFETY: the fetches only read, and no column is written while the store is borrowed shared (I8).
        unsafe { self.members_unchecked(id, own, get) }
    }

    /// Reads and writes the members of a group, in its order; as [`Store::group_members`].
    ///
    /// # Errors
    /// When there is no such group.
    ///
    /// # Panics
    /// When a part is of another set than it has to be, or parts alias each other.
    pub fn group_members_mut<O: SetFetch, G: SetFetch>(
        &mut self,
        id: SetGroupId,
        own: O::Ids,
        get: G::Ids,
    ) -> Result<Members<'_, O, G>, GroupGone> {
        assert!(find_alias::<(O, G)>((own, get)).is_none(), "parts of a group alias each other");
        // SAFETY: the store is borrowed exclusively, and no two parts alias (I6).
        unsafe { self.members_unchecked(id, own, get) }
    }

    /// # Safety
    /// As for `view_unchecked`; fetches that write name no column twice.
    unsafe fn members_unchecked<O: SetFetch, G: SetFetch>(
        &self,
        id: SetGroupId,
        own: O::Ids,
        get: G::Ids,
    ) -> Result<Members<'_, O, G>, GroupGone> {
        let (owned, seen) = self.group_sets(id)?;
        let is_of = |column: AnyColId, sets: &[super::SetId]| {
            self.set_of(column).is_some_and(|set| sets.contains(&set))
        };
        let mut fits = true;
        O::visit(own, &mut |access| fits &= is_of(access.column, owned));
        G::visit(get, &mut |access| fits &= is_of(access.column, seen) || is_of(access.column, owned));
        let (own, get) = (O::cells(self, own, self.tick), G::cells(self, get, self.tick));
        assert!(fits && O::is_whole(own) && G::is_whole(get), "members are asked for what their group has");
        let entities = self.group_entities(id)?;
        // SAFETY: the cells are whole, and of this store. Members are the first rows of each owned set, which has as many
        // (I13). A fetch of sets reaches no column of a table, so that any table will do for its pointers (I14). The caller
        // grants access.
        unsafe {
            O::mark_members(own, entities.len());
            let get = G::drive(get, entities.len());
            let (own, get) = (O::ptrs(own, 0), G::ptrs(get, 0));
            Ok(Members { entities, next: 0, own, get, access: PhantomData })
        }
    }
}

impl<'w, O: SetFetch, G: SetFetch> Members<'w, O, G> {
    /// # Safety
    /// The position is in range, and was not asked for before, unless the fetches only read.
    #[inline(always)]
    unsafe fn at(&self, at: usize) -> (Entity, O::Item<'w>, G::Item<'w>) {
        // SAFETY: forwarded: members have the position in each owned set, and are in the others (I13), each of them once
        // (I10), where no row that a page names is a hole (I11). The parts were found whole, and have the access.
        unsafe {
            let entity = *self.entities.get_unchecked(at);
            (entity, O::at_row(self.own, at), G::of_member(self.get, entity))
        }
    }
}

impl<'w, O: SetFetch, G: SetFetch> Iterator for Members<'w, O, G> {
    type Item = (Entity, O::Item<'w>, G::Item<'w>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.next;
        if at >= self.entities.len() {
            return None;
        }
        self.next = at + 1;
        // SAFETY: in range, and each position comes once (I13).
        Some(unsafe { self.at(at) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.entities.len() - self.next;
        (left, Some(left))
    }

    #[inline(always)]
    fn fold<B, H: FnMut(B, Self::Item) -> B>(self, init: B, mut f: H) -> B {
        let mut folded = init;
        for at in self.next..self.entities.len() {
            // SAFETY: in range, and each position comes once (I13).
            folded = f(folded, unsafe { self.at(at) });
        }
        folded
    }
}
impl<O: SetFetch, G: SetFetch> ExactSizeIterator for Members<'_, O, G> {}
impl<O: SetFetch, G: SetFetch> FusedIterator for Members<'_, O, G> {}
