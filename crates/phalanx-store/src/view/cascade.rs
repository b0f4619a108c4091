//! Rows in the order of a tree: each entity after the one above it, which is lent beside it, to be read.
//!
//! ```text
//!   a ── b ── f       descent   a: [b, c]   b: [f]   d: [e]   e: [g, h]      one thread: what was visited last is near
//!   └─── c            level 1   a: [b, c]   d: [e]                           several threads: level by level
//!   d ── e ── g, h    level 2   b: [f]      e: [g, h]
//! ```
//!
//! [`Descent`] lends one row at a time, beside the row of another entity. [`Levels`] are worked out from it where they are
//! asked for: they name each entity once (I16), so the rows of a level may be written by several threads, while those of
//! the level above are read. What the tree means is known above the store.

use std::ops::Range;
use std::sync::OnceLock;

use super::View;
use super::single::Found;
use crate::entities::Entities;
use crate::entity::Entity;
use crate::fetch::{Fetch, Known};
use crate::location::{EntityLocation, Row, TableId};

/// Entities with the one above each: no entity is below two others, nor below itself. Each entity stands after the one
/// above it, and what is below an entity stands together.
#[derive(Clone, Debug, Default)]
pub struct Descent {
    children: Vec<Entity>,
    families: Vec<Family>,
    /// By index of an entity: the level in which it is a child, from 1 on; 0 where it is none.
    level_of: Vec<u32>,
    /// How many levels there are.
    depth: u32,
    /// Made when the tree is first shared between threads.
    levels: OnceLock<Levels>,
}

/// The children of one entity: up to an end, from that of the family before.
#[derive(Clone, Debug)]
struct Family {
    parent: Entity,
    end: usize,
}

impl Descent {
    /// No entities.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entity with its children, after the family in which it is a child itself.
    ///
    /// # Panics
    /// When an entity is a child twice, or its own.
    pub fn add_family(&mut self, parent: Entity, children: impl IntoIterator<Item = Entity>) {
        self.levels.take();
        // What a panic left behind belongs to no family.
        self.children.truncate(self.families.last().map_or(0, |family| family.end));
        let level = self.level_of.get(parent.index() as usize).copied().unwrap_or(0) + 1;
        for child in children {
            let index = child.index() as usize;
            if self.level_of.len() <= index {
                self.level_of.resize(index + 1, 0);
            }
            assert!(self.level_of[index] == 0, "{child} is below two entities of a tree");
            assert!(child != parent, "{child} is below itself");
            self.level_of[index] = level;
            self.children.push(child);
        }
        if self.families.last().map_or(0, |family| family.end) < self.children.len() {
            self.depth = self.depth.max(level);
        }
        self.families.push(Family { parent, end: self.children.len() });
    }

    /// How many levels there are.
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// How many children there are.
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Whether no entity is below another one.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// For each level, how many of its children are among the first ones of the tree: these come first in the level, too.
    pub fn first_by_level(&self, children: usize) -> Vec<usize> {
        let mut first = vec![0; self.depth()];
        for child in &self.children[..children] {
            first[self.level_of[child.index() as usize] as usize - 1] += 1;
        }
        first
    }

    /// Whether an entity, or another one with its index, is below one.
    #[inline]
    pub fn is_child(&self, entity: Entity) -> bool {
        self.level_of.get(entity.index() as usize).is_some_and(|&level| level > 0)
    }

    /// The same tree level by level.
    pub fn levels(&self) -> &Levels {
        self.levels.get_or_init(|| {
            let mut families: Vec<Vec<(Entity, &[Entity])>> = vec![Vec::new(); self.depth()];
            let mut start = 0;
            for family in &self.families {
                let children = &self.children[start..family.end];
                start = family.end;
                if let Some(first) = children.first() {
                    let level = self.level_of[first.index() as usize] as usize;
                    families[level - 1].push((family.parent, children));
                }
            }
            let mut levels = Levels::new();
            for level in families {
                levels.add_level(
                    level.into_iter().map(|(parent, children)| (parent, children.iter().copied())),
                );
            }
            levels
        })
    }
}

/// The children of one entity, as a range of all children.
#[derive(Clone, Debug)]
struct Siblings {
    parent: Entity,
    children: Range<usize>,
}

/// Entities with the one above each, level by level: no entity is below two others, nor its own parent's sibling.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    children: Vec<Entity>,
    siblings: Vec<Siblings>,
    /// For each level where it ends, in `siblings` and in `children`.
    ends: Vec<(usize, usize)>,
    /// By index of an entity: the level in which it is a child, from 1 on; 0 where it is none.
    level_of: Vec<u32>,
}

impl Levels {
    /// No entities.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a level: entities of earlier levels, or such that are no entity's child, each with its children.
    ///
    /// # Panics
    /// When an entity is a child twice, or child and parent in this level.
    pub fn add_level<C: IntoIterator<Item = Entity>>(
        &mut self,
        families: impl IntoIterator<Item = (Entity, C)>,
    ) {
        // Behind the last level that is complete: what a panic left behind belongs to this one.
        let first = self.ends.last().map_or(0, |(families, _)| *families);
        let level =
            u32::try_from(self.ends.len() + 1).expect("a level has an entity, of which there are fewer");
        for (parent, children) in families {
            let start = self.children.len();
            for child in children {
                let index = child.index() as usize;
                if self.level_of.len() <= index {
                    self.level_of.resize(index + 1, 0);
                }
                assert!(self.level_of[index] == 0, "{child} is below two entities of a tree");
                self.level_of[index] = level;
                self.children.push(child);
            }
            self.siblings.push(Siblings { parent, children: start..self.children.len() });
        }
        let is_child_here = |parent: Entity| self.level_of.get(parent.index() as usize) == Some(&level);
        let wrong = self.siblings[first..].iter().find(|family| is_child_here(family.parent));
        if let Some(Siblings { parent, .. }) = wrong {
            panic!("{parent} is parent and child in one level of a tree");
        }
        self.ends.push((self.siblings.len(), self.children.len()));
    }

    /// How many levels there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn part(&self, level: usize) -> (Range<usize>, Range<usize>) {
        let (families, children) = match level.checked_sub(1) {
            Some(before) => self.ends[before],
            None => (0, 0),
        };
        (families..self.ends[level].0, children..self.ends[level].1)
    }
}

/// Some rows of a level.
pub struct LevelPart<'a, F: Fetch> {
    view: View<'a, F>,
    levels: &'a Levels,
    /// The families of the level.
    families: Range<usize>,
    /// The children that are lent by this part.
    children: Range<usize>,
}

impl<'w, F: Fetch> View<'w, F> {
    /// Lends the rows of all entities that are no entity's child.
    pub fn for_each_root(&mut self, tree: &Descent, mut each: impl FnMut(F::Item<'_>)) {
        if tree.level_of.is_empty() {
            return self.reborrow().with_driver(super::DriverChoice::Tables).into_rows().for_each(each);
        }
        for &table in self.base.tables {
            // SAFETY: a table that is visited exists, and has the columns (I6). The row is the entity's (I5). The item is gone
            // when the next one is lent, and the view is borrowed exclusively (I6).
            unsafe {
                let ptrs = F::ptrs(self.cells, table.index());
                for (row, &entity) in self.base.store.table_entities(table).iter().enumerate() {
                    if tree.is_child(entity) {
                        continue;
                    }
                    let location = EntityLocation::new(table, Row::from_index(row));
                    if let Some(found) = Found::in_row(ptrs, location, entity, Known::Alive) {
                        each(self.lend(&found));
                    }
                }
            }
        }
        for &entity in self.base.entities.rowless().filter(|_| self.base.rowless) {
            if !tree.is_child(entity)
                && let Some(found) = self.find(entity)
            {
                // SAFETY: the item is gone when the next one is lent, and the view is borrowed exclusively (I6).
                each(unsafe { self.lend(&found) });
            }
        }
    }

    /// Lends the rows of some children of a tree, each after the one above it if that is among them, with the row of that one
    /// where the view visits it.
    ///
    /// # Panics
    /// When there are not as many children.
    pub fn for_each_below(
        &mut self,
        tree: &Descent,
        children: Range<usize>,
        mut each: impl FnMut(Option<<F::ReadOnly as Fetch>::Item<'_>>, F::Item<'_>),
    ) {
        let reader = self.read_only();
        let (mut known, mut known_above) = (LastTable::new(self), LastTable::new(&reader));
        let Range { mut start, end } = children;
        let first = tree.families.partition_point(|family| family.end <= start);
        for family in &tree.families[first..] {
            if start >= end {
                break;
            }
            let above = known_above.find(family.parent);
            for &child in &tree.children[start..family.end.min(end)] {
                let Some(found) = known.find(child) else { continue };
                // SAFETY: the view is borrowed exclusively, and no entity is its own child (I16), so that the row of the
                // one above is another one, which is only read. Both items are gone when the next are lent (I6).
                unsafe { each(above.as_ref().map(|above| reader.lend(above)), self.lend(&found)) };
            }
            start = family.end;
        }
    }

    /// The rows of one level.
    ///
    /// # Panics
    /// When there are not as many levels.
    pub fn level<'a>(&'a mut self, levels: &'a Levels, level: usize) -> LevelPart<'a, F> {
        let (families, children) = levels.part(level);
        LevelPart { view: self.reborrow(), levels, families, children }
    }
}

impl<F: Fetch> LevelPart<'_, F> {
    /// How many entities the part names.
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// The part without its first entities.
    #[must_use]
    pub fn without_first(self, entities: usize) -> Self {
        let Range { start, end } = self.children;
        LevelPart { children: start.saturating_add(entities).min(end)..end, ..self }
    }

    /// Two parts of about the same size.
    #[must_use]
    pub fn split(self) -> (Self, Self) {
        let Range { start, end } = self.children;
        let middle = start.midpoint(end);
        // Both have the access of this part, and name different entities (I16).
        let first = LevelPart {
            view: View { ..self.view },
            levels: self.levels,
            families: self.families.clone(),
            children: start..middle,
        };
        (first, LevelPart { children: middle..end, ..self })
    }

    /// Lends the rows, each with that of the entity above it where the view visits that one.
    pub fn for_each(self, mut each: impl FnMut(Option<<F::ReadOnly as Fetch>::Item<'_>>, F::Item<'_>)) {
        let Self { view, levels, families, children } = self;
        let families = &levels.siblings[families];
        let first = families.partition_point(|family| family.children.end <= children.start);
        let reader = view.read_only();
        let (mut known, mut known_above) = (LastTable::new(&view), LastTable::new(&reader));
        for family in &families[first..] {
            if family.children.start >= children.end {
                break;
            }
            let above = known_above.find(family.parent);
            let own = family.children.start.max(children.start)..family.children.end.min(children.end);
            for &child in &levels.children[own] {
                let Some(found) = known.find(child) else { continue };
                // SAFETY: each entity is a child once, and no other part of the level names this one; the one above is no
                // child of this level, so its row is only read (I16). Both items are gone when the next are lent (I6).
                unsafe { each(above.as_ref().map(|above| reader.lend(above)), view.lend(&found)) };
            }
        }
    }
}

/// The table in which an entity was last found, with its pointers: siblings are often in one table.
struct LastTable<'v, F: Fetch> {
    view: &'v View<'v, F>,
    table: TableId,
    ptrs: Option<F::Ptrs>,
}

impl<'v, F: Fetch> LastTable<'v, F> {
    fn new(view: &'v View<'_, F>) -> Self {
        Self { view, table: TableId::NOWHERE, ptrs: None }
    }

    #[inline(always)]
    fn find(&mut self, entity: Entity) -> Option<Found<F>> {
        let location = Entities::find_in(self.view.base.slots, entity)?;
        if let Some(ptrs) = self.ptrs
            && location.table == self.table
        {
            // SAFETY: the pointers are those of a table that the view visits (I6), and stands still since; the directory's row
            // is in range (I5).
            return unsafe { Found::in_row(ptrs, location, entity, Known::Alive) };
        }
        let found = self.view.find(entity)?;
        if location.table.has_rows() {
            (self.table, self.ptrs) = (location.table, Some(found.ptrs));
        }
        Some(found)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::store::Store;

    fn entities<const N: usize>() -> [Entity; N] {
        let mut store = Store::new();
        [(); N].map(|()| store.spawn_rowless().expect("there is room"))
    }

    #[test]
    fn an_entity_is_below_one_other() {
        let [a, b, c] = entities();
        let mut levels = Levels::new();
        levels.add_level([(a, vec![c])]);
        assert!(catch_unwind(AssertUnwindSafe(|| levels.add_level([(b, vec![c])]))).is_err());
        assert_eq!(levels.len(), 1);
    }

    #[test]
    fn a_descent_names_each_child_once_and_none_below_itself() {
        let [a, b, c, d] = entities();
        let mut tree = Descent::new();
        tree.add_family(a, [b]);
        tree.add_family(b, [c]);
        assert!(catch_unwind(AssertUnwindSafe(|| tree.add_family(c, [d, b]))).is_err());
        assert_eq!(tree.children, [b, c, d]);
        assert!(catch_unwind(AssertUnwindSafe(|| tree.add_family(a, [a]))).is_err());
        assert_eq!(tree.children, [b, c], "what a panic left behind is cut off");
        tree.add_family(c, []);
        assert_eq!((tree.children.as_slice(), tree.depth(), tree.levels().len()), (&[b, c][..], 2, 2));
        assert_eq!([a, b, c].map(|entity| tree.is_child(entity)), [false, true, true]);
    }

    #[test]
    fn a_descent_in_a_wrong_order_has_no_levels() {
        let [a, b, c] = entities();
        let mut tree = Descent::new();
        tree.add_family(b, [c]);
        tree.add_family(a, [b]);
        assert!(catch_unwind(AssertUnwindSafe(|| tree.levels().len())).is_err());
    }

    #[test]
    fn no_level_has_an_entity_as_parent_and_child_even_after_a_panic() {
        let [a, b, c, d] = entities();
        for wrong in [vec![(a, vec![a])], vec![(a, vec![b]), (b, vec![c])], vec![(b, vec![c]), (a, vec![b])]]
        {
            let mut levels = Levels::new();
            assert!(catch_unwind(AssertUnwindSafe(|| levels.add_level(wrong))).is_err());
            // What was added before the panic belongs to the next level, and is looked at again.
            assert!(catch_unwind(AssertUnwindSafe(|| levels.add_level([(c, vec![d])]))).is_err());
            assert!(levels.is_empty());
        }
    }

    #[test]
    fn parts_of_a_level_share_no_child() {
        let all: [Entity; 9] = entities();
        let mut levels = Levels::new();
        levels.add_level([(all[0], all[2..5].to_vec()), (all[1], all[5..9].to_vec())]);
        let mut store = Store::new();
        let query = store.prepare::<crate::fetch::EntityIds>(()).expect("nothing aliases");
        let mut view = store.view_mut(&query);
        let mut parts = vec![view.level(&levels, 0)];
        while parts.iter().any(|part| part.len() > 1) {
            parts = parts.into_iter().flat_map(|part| <[_; 2]>::from(part.split())).collect();
        }
        let ranges: Vec<usize> = parts.iter().flat_map(|part| part.children.clone()).collect();
        assert_eq!(ranges, (0..7).collect::<Vec<_>>());
    }
}
