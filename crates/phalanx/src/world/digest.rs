//! The digest of a world: one number, equal for worlds that are equal and will go on equally.
//!
//! ```text
//!   ids          how many slots there are, and the free ones in the order they will be used
//!   archetypes   those with rows, in the order of queries: names of components, entities, columns by blocks
//!   sets         by name: entities in their order, holes, columns by blocks
//!   groups       by name: members in their order
//!   resources    by name of type            messages     by name of type: numbers and values
//! ```
//!
//! What does not enter: capacity, padding, ticks, ids of components and tables, archetypes without rows, and the order
//! in which types became known.

use std::fmt;

use phalanx_store::sorting;
use phalanx_store::{BLOCK_ROWS, Entity, TableId};

use super::World;
use crate::archetype::ArchetypeId;
use crate::capture::{Digest, DigestHasher, Shown};
use crate::messages::Channel;
use crate::registry::ComponentInfo;

/// Why a world has no digest: some values cannot be hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotDigestible {
    /// What cannot be hashed, one line each: a component, resource or message, its field, and the field's type.
    pub values: Vec<String>,
}

impl fmt::Display for NotDigestible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "these values have no digest: {}. Add `#[derive(Digestible)]` or `Hash` to the type, or `#[digest(debug)]`, \
             `#[digest(skip)]` or `#[digest(with = \"function\")]` to the field",
            self.values.join("; ")
        )
    }
}

impl std::error::Error for NotDigestible {}

impl World {
    /// The digest of the world: a number that is equal for equal worlds, whatever their history of capacity and
    /// however many threads made them.
    ///
    /// Worlds are equal when they hold the same and will go on in the same way: ids and those to come, the order of rows
    /// and archetypes, values of components, resources and messages. Ticks do not count. Floats count by their bits, so
    /// `0.0` and `-0.0` differ, but all NaNs are one. Numbers are comparable between processes of the same program.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Health(f32);
    ///
    /// let build = |health| {
    ///     let mut world = World::new();
    ///     world.spawn(Health(health));
    ///     world
    /// };
    /// assert_eq!(build(1.0).digest(), build(1.0).digest());
    /// assert_ne!(build(0.0).digest(), build(-0.0).digest());
    /// ```
    ///
    /// # Panics
    /// When values have no digest, with their names; see [`World::try_digest`].
    #[track_caller]
    pub fn digest(&self) -> Digest {
        match self.try_digest() {
            Ok(digest) => digest,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`World::digest`], with an error instead of a panic.
    ///
    /// # Errors
    /// When values have no digest; it names all of them.
    pub fn try_digest(&self) -> Result<Digest, NotDigestible> {
        let mut digester = Digester { world: self, hasher: DigestHasher::new(), missing: Vec::new() };
        digester.ids();
        digester.archetypes();
        digester.sets();
        digester.groups();
        digester.resources();
        digester.messages();
        let Digester { hasher, missing, .. } = digester;
        if missing.is_empty() { Ok(hasher.finish()) } else { Err(NotDigestible { values: missing }) }
    }

    /// The components of an archetype, in the order of their names.
    pub(super) fn named_components(&self, archetype: ArchetypeId) -> Vec<&ComponentInfo> {
        let ids = self.archetypes.signature(archetype).iter();
        let mut infos: Vec<&ComponentInfo> = ids.map(|id| self.components.info(id)).collect();
        sorting::sort_by_key(&mut infos, |info| info.name());
        infos
    }

    /// The groups with their members, in the order of their names.
    pub(super) fn named_groups(&self) -> impl Iterator<Item = (&str, &[Entity])> {
        let members = |id| self.store.group_entities(id).unwrap_or_default();
        self.groups.by_name().into_iter().map(move |(name, id)| (name, members(id)))
    }

    /// The sparse components that are registered, in the order of their names.
    pub(super) fn named_sparse(&self) -> Vec<&ComponentInfo> {
        let ids = self.components.sparse().iter();
        let mut infos: Vec<&ComponentInfo> = ids.map(|id| self.components.info(id)).collect();
        sorting::sort_by_key(&mut infos, |info| info.name());
        infos
    }
}

struct Digester<'w> {
    world: &'w World,
    hasher: DigestHasher,
    missing: Vec<String>,
}

impl Digester<'_> {
    fn text(&mut self, text: &str) {
        self.hasher.bytes(text.as_bytes());
    }

    fn entities(&mut self, entities: impl ExactSizeIterator<Item = Entity>) {
        self.hasher.number(entities.len() as u64);
        entities.for_each(|entity| self.hasher.number(entity.to_bits()));
    }

    fn ids(&mut self) {
        let entities = self.world.store.entities();
        self.hasher.number(u64::from(entities.slots()));
        let free: Vec<Entity> = entities.free_list().collect();
        self.entities(free.into_iter());
        self.entities(entities.rowless().copied());
    }

    fn archetypes(&mut self) {
        let world = self.world;
        for id in world.archetypes.in_order() {
            let Some(table) = world.archetypes.table(id).filter(|table| table.has_rows()) else { continue };
            if world.store.table_len(table) == 0 {
                continue;
            }
            let pool = world.archetypes.pools().get(world.archetypes.pool_of(id));
            self.text(pool.map_or("", |pool| pool.name()));
            self.entities(world.store.table_entities(table).iter().copied());
            for info in world.named_components(id) {
                self.component(info, table);
            }
        }
    }

    fn component(&mut self, info: &ComponentInfo, table: TableId) {
        self.text(info.name());
        let store = &self.world.store;
        let rows = store.table_len(table);
        for (at, field) in info.fields().iter().enumerate().filter(|(_, field)| !field.column().is_virtual())
        {
            let Some(capture) = info.captures().get(at).map(|capture| &*capture.0) else {
                self.missing.push(missing("component", info.name(), None, field.column().type_name()));
                continue;
            };
            if capture.is_skipped() {
                continue;
            }
            for start in (0..rows).step_by(BLOCK_ROWS) {
                let end = rows.min(start + BLOCK_ROWS);
                // Where nothing was written since the last checkpoint, its digest is known, or is noted for the next time.
                let note = store.block_note(table, field.column(), start / BLOCK_ROWS);
                let known = note.and_then(|note| note.get().copied()).map(Digest::new);
                if let Some(digest) = known.or_else(|| capture.digest(store, table, start..end)) {
                    if let Some(note) = note {
                        let _ = note.set(digest.get());
                    }
                    self.hasher.digest(digest);
                    continue;
                }
                let full = |row: &usize| store.table_entities(table)[*row] != Entity::PLACEHOLDER;
                let first = (start..end).find(full).unwrap_or(start);
                self.lacking("component", info.name(), &capture.show(store, table, first));
                break;
            }
        }
    }

    fn sets(&mut self) {
        let world = self.world;
        for info in world.named_sparse() {
            let Some(set) = world.store.set_of(info.columns()[0]) else { continue };
            let table = world.store.set_table(set);
            if world.store.table_len(table) > 0 {
                self.entities(world.store.table_entities(table).iter().copied());
                world.store.set_hole_rows(set).iter().for_each(|&row| self.hasher.number(u64::from(row)));
                self.component(info, table);
            }
        }
    }

    fn groups(&mut self) {
        for (name, members) in self.world.named_groups() {
            self.text(name);
            self.entities(members.iter().copied());
        }
    }

    fn resources(&mut self) {
        let resources = &self.world.resources;
        for id in resources.ids_by_name() {
            let Some(digest) = resources.digest(id) else { continue };
            let name = resources.name(id).unwrap_or_default();
            self.value("resource", name, digest);
        }
    }

    fn messages(&mut self) {
        let messages = &self.world.messages;
        for id in messages.ids_by_name() {
            let Some(digest) = messages.channel(id).and_then(Channel::digest) else { continue };
            let name = messages.name(id).unwrap_or_default();
            self.value("message", name, digest);
        }
    }

    fn value(&mut self, kind: &str, name: &str, digest: Result<Digest, Vec<Shown>>) {
        match digest {
            Ok(digest) => {
                self.text(name);
                self.hasher.digest(digest);
            }
            Err(fields) => self.lacking(kind, name, &fields),
        }
    }

    /// Notes which fields of a value have no digest.
    fn lacking(&mut self, kind: &str, name: &str, fields: &[Shown]) {
        let lacking = fields.iter().filter(|shown| shown.digest.is_none());
        self.missing.extend(lacking.map(|shown| missing(kind, name, Some(shown.field), shown.type_name)));
    }
}

fn missing(kind: &str, name: &str, field: Option<&str>, type_name: &str) -> String {
    match field.filter(|field| !field.is_empty()) {
        Some(field) => format!("{kind} `{name}`, field `{field}` of type `{type_name}`"),
        None => format!("{kind} `{name}` of type `{type_name}`"),
    }
}
