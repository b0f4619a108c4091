//! Checkpoints: the whole state of a world in memory, and how it becomes that again.
//!
//! ```text
//!   checkpoint   rows by blocks (the store), archetypes, groups, resources, messages, clocks
//!   restore      1 copies of all that is needed    2 everything is exchanged    3 what is gone is dropped
//! ```
//!
//! Taking one costs what was written since the last one was taken or restored: the rest is shared. What types and
//! functions are known (components, pools, hooks, queries) is no state: it stays. Observers are state.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use phalanx_store::{
    AnyColId, BLOCK_ROWS, ColumnCopy, Copies, Duplicate, FirstPanic, Image, ImageStats, InSet, Rewritten,
    Tick, Write,
};

use super::World;
use super::reactions::ReactionsImage;
use crate::archetype::{ArchetypesImage, Cursor};
use crate::capture::{CanCopy, Copying};
use crate::component::{Component, Track};
use crate::group::Groups;
use crate::messages::ChannelsImage;
use crate::pool::{PoolMark, PoolRecord, pooled};
use crate::resources::{Resource, ResourcesImage};

mod tables;

pub use tables::CheckpointTable;

/// The state of a world at one moment. Cheap to clone; kept as long as there is a clone of it.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Clone)]
/// struct Health(f32);
///
/// let mut world = World::new();
/// let e = world.spawn(Health(10.0)).id();
/// let before = world.checkpoint();
/// world.get_mut::<Health>(e).unwrap().0 = 3.0;
/// world.spawn(Health(1.0));
/// world.restore(&before).unwrap();
/// assert_eq!(world.get::<Health>(e).unwrap().0, 10.0);
/// assert_eq!(world.entities().len(), 1);
/// ```
#[derive(Clone)]
pub struct Checkpoint(Arc<State>);

struct State {
    world: u64,
    image: Arc<Image>,
    archetypes: Arc<ArchetypesImage>,
    resources: ResourcesImage,
    messages: ChannelsImage,
    groups: Groups,
    reactions: ReactionsImage,
    last_tick: Tick,
}

/// What a world keeps for taking checkpoints.
#[derive(Default)]
pub(crate) struct Taking {
    copies: Copies,
    /// How many components, and marks of how many pools, the copies are of.
    known: (usize, usize),
    archetypes: Option<(Cursor, Arc<ArchetypesImage>)>,
    /// How often the world was restored: ticks before and after are not to be compared.
    restored: u64,
}

/// What ticks say after a restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marking {
    /// What they said then.
    AsThen,
    /// That what differs from before the restore has changed.
    WhatDiffers,
}

/// Why no checkpoint can be taken: values of some types cannot be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotCaptured {
    /// The components, resources, messages and values of systems, one line each.
    pub types: Vec<String>,
}

impl fmt::Display for NotCaptured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no checkpoint can be taken, because these cannot be copied: {}. Add `Clone` to the type; for a generic type, \
             call `register_checkpoint`; or say `checkpoint = \"default\"` in its attribute, or `\"skip\"` for a \
             resource or a message",
            self.types.join(", ")
        )
    }
}

impl std::error::Error for NotCaptured {}

/// Why a checkpoint cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// It was taken of another world.
    OtherWorld,
    /// It was taken of an app with other systems, or of a world alone.
    OtherSystems,
    /// Nothing that old is kept.
    NotKept {
        /// How many frames can be rewound.
        kept: usize,
    },
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherWorld => write!(f, "the checkpoint was taken of another world"),
            Self::OtherSystems => {
                write!(
                    f,
                    "the checkpoint was taken of an app with other systems: add all of them before taking one"
                )
            }
            Self::NotKept { kept } => {
                write!(
                    f,
                    "only {kept} frames are kept: ask for more with `keep_history`, or for a larger budget"
                )
            }
        }
    }
}

impl std::error::Error for RestoreError {}

impl Checkpoint {
    /// The tick from which on the world's writes are newer than the checkpoint.
    pub fn tick(&self) -> Tick {
        self.0.image.tick()
    }

    /// What taking it copied, and what it shares with the one before.
    pub fn stats(&self) -> ImageStats {
        self.0.image.stats()
    }

    /// The bytes of rows that are not yet in `seen`, which notes what was counted: blocks are shared by checkpoints.
    pub fn bytes_beyond(&self, seen: &mut BTreeSet<usize>) -> usize {
        self.0.image.bytes_beyond(&mut |block| seen.insert(block))
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint")
            .field("tick", &self.tick())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl World {
    /// Copies the state of the world, but for what was not written since the last checkpoint was taken or restored, which
    /// is shared.
    ///
    /// Pending commands are applied first, and the clock moves on by one. Values are copied as bytes (`Copy`), by `Clone`,
    /// or field by field where all fields are `Copy`. What is changed through shared references (`Mutex`, atomics, what an
    /// `Arc` leads to) is not noticed, and not restored. A panic in `Clone` leaves the world as it was.
    ///
    /// A command that takes a checkpoint cannot apply those that wait behind it in the same flush. What these were to do is
    /// no part of the checkpoint, nor are lists of relations that such a change is about to bring or take: take checkpoints
    /// between changes, as systems and frames do, and not in commands of observers.
    ///
    /// # Panics
    /// When values of a type cannot be copied, with the names of all such types; see [`World::try_checkpoint`].
    #[track_caller]
    pub fn checkpoint(&mut self) -> Checkpoint {
        match self.try_checkpoint() {
            Ok(checkpoint) => checkpoint,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`World::checkpoint`], with an error instead of a panic.
    ///
    /// # Errors
    /// When values of a type that the world knows cannot be copied; it names all such types.
    pub fn try_checkpoint(&mut self) -> Result<Checkpoint, NotCaptured> {
        let types = self.uncopied();
        if !types.is_empty() {
            return Err(NotCaptured { types });
        }
        self.flush();
        self.update_copies();
        let messages = self.messages.image();
        let resources = self.resources.image();
        let image = self.store.image(&self.taking.copies);
        let image = image.map_err(|missing| {
            let component = self.components.of_column(missing.column).map(|info| info.name().to_owned());
            NotCaptured { types: vec![component.unwrap_or_else(|| missing.column.type_name().to_owned())] }
        })?;
        let cursor = self.archetypes.cursor();
        let archetypes = match &self.taking.archetypes {
            Some((known, archetypes)) if *known == cursor => Arc::clone(archetypes),
            _ => Arc::new(self.archetypes.image()),
        };
        self.taking.archetypes = Some((cursor, Arc::clone(&archetypes)));
        let (groups, last_tick) = (self.groups.clone(), self.last_tick);
        let reactions = self.reactions_image();
        let world = self.id;
        let state = State { world, image, archetypes, resources, messages, groups, reactions, last_tick };
        Ok(Checkpoint(Arc::new(state)))
    }

    /// Makes the world what it was when the checkpoint was taken, bit for bit: ids and those to come, the order of rows
    /// and archetypes, sets, groups, ticks, resources and messages, observers, and what waits for readers of removals and
    /// of reactive sets. `Changed` says what it said then.
    ///
    /// Nothing is announced: no hook, observer or message tells of the restore. Pending commands are forgotten. A panic in
    /// `Clone` leaves the world as it was; one in `Drop` is passed on when the world is restored.
    ///
    /// Systems keep values, too: use [`App::restore`](crate::app::App::restore) where they matter.
    ///
    /// # Errors
    /// When the checkpoint is another world's.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), RestoreError> {
        let mut panics = FirstPanic::default();
        self.restore_then(checkpoint, Marking::AsThen, &mut panics)?;
        panics.resume();
        Ok(())
    }

    /// As [`World::restore`], and marks what may differ from what was there just before as changed now: for a renderer, or
    /// other mirrors of the world, and for undo in an editor.
    ///
    /// Components are marked by blocks of 1,024 rows: all rows of a block in which something differs. `Changed`,
    /// `is_changed` and the ticks of blocks show it, also for entities that are back; those that are gone are shown by
    /// nothing. Resources that are restored to another value are marked as well. Running on is the same bit for bit as
    /// after [`World::restore`] for systems that do not ask what changed.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Clone)]
    /// #[component(track = "row")]
    /// struct Position(f32);
    ///
    /// let mut world = World::new();
    /// let e = world.spawn(Position(1.0)).id();
    /// world.clear_trackers(); // everything is on the screen
    /// let before = world.checkpoint();
    /// world.get_mut::<Position>(e).unwrap().0 = 2.0;
    ///
    /// world.restore_marking(&before).unwrap();
    /// let again: Vec<Entity> = world.view_filtered::<Entity, Changed<Position>>().iter().collect();
    /// assert_eq!(again, [e]);
    /// ```
    ///
    /// # Errors
    /// When the checkpoint is another world's.
    pub fn restore_marking(&mut self, checkpoint: &Checkpoint) -> Result<(), RestoreError> {
        let mut panics = FirstPanic::default();
        self.restore_then(checkpoint, Marking::WhatDiffers, &mut panics)?;
        panics.resume();
        Ok(())
    }

    /// As [`World::restore`]; a panic of values that are dropped is kept.
    pub(crate) fn restore_then(
        &mut self,
        checkpoint: &Checkpoint,
        marking: Marking,
        panics: &mut FirstPanic,
    ) -> Result<(), RestoreError> {
        let state = &*checkpoint.0;
        if state.world != self.id {
            return Err(RestoreError::OtherWorld);
        }
        // First whatever runs the user's code and may panic: nothing has changed yet.
        let mut messages = self.messages.prepare(&state.messages);
        let resources = self.resources.prepare(&state.resources);
        let rows = self.store.prepare_restore(&state.image).map_err(|_| RestoreError::OtherWorld)?;
        let marks = match marking {
            Marking::AsThen => None,
            Marking::WhatDiffers => Some((rows.rewritten(), resources.renewed())),
        };
        // Then what cannot fail.
        let rows = rows.commit();
        self.taking.restored += 1;
        let changed = self.archetypes.restore(&state.archetypes, rows.tables_changed);
        self.taking.archetypes = Some((self.archetypes.cursor(), Arc::clone(&state.archetypes)));
        let resources = self.resources.restore(&state.resources, resources);
        self.messages.exchange(&mut messages);
        self.groups.clone_from(&state.groups);
        self.last_tick = state.last_tick;
        if changed {
            self.commands.merge.forget_edges();
            self.update_queries();
        }
        if let Some((rewritten, renewed)) = marks {
            self.mark_rewritten(&rewritten);
            self.resources.mark_changed(&renewed, self.store.tick());
        }
        // Values that are gone come last: they are the user's code once more.
        self.restore_reactions(&state.reactions, panics);
        self.indexes.forget(panics);
        self.relations.forget_waiting();
        self.commands.queue.drop_all(panics);
        rows.drop_all(panics);
        resources.drop_all(panics);
        messages.iter_mut().flatten().for_each(|channel| channel.drop_all(panics));
        Ok(())
    }

    /// Marks blocks as written now, and their rows where rows are marked.
    fn mark_rewritten(&mut self, rewritten: &[Rewritten]) {
        let now = self.store.tick();
        // Whatever column of a component differs, its rows are marked once.
        let mut marked = BTreeSet::new();
        for &Rewritten { table, column, block } in rewritten {
            self.store.mark_block(table, column, block);
            let Some(info) = self.components.of_column(column) else { continue };
            let Some((_, changed)) = info.tick_columns() else { continue };
            if !marked.insert((table, changed.any(), block)) {
                continue;
            }
            let is_sparse = info.is_sparse();
            let rows =
                self.store.table_entities(table).chunks(BLOCK_ROWS).nth(block).unwrap_or_default().to_vec();
            for entity in rows {
                let tick = match is_sparse {
                    false => self.store.get_mut::<Write<Tick>>(entity, changed),
                    true => self.store.get_mut::<InSet<Write<Tick>>>(entity, changed),
                };
                if let Some(tick) = tick {
                    *tick = now;
                }
            }
        }
    }

    /// Has values of a generic component copied by `Clone`. Where the derive sees the type, it finds out by itself.
    pub fn register_checkpoint<C: Component + Clone>(&mut self) {
        let id = self.register_component::<C>();
        self.components.set_copy(id, Duplicate::with(C::clone));
        self.taking.known = (0, 0);
    }

    /// Has a generic resource copied by `Clone`. Where the derive sees the type, it finds out by itself.
    pub fn register_checkpoint_of_resource<R: Resource + Clone>(&mut self) {
        self.resources.set_copying::<R>(Copying::By(Duplicate::with(R::clone)));
    }

    /// Leaves a resource out of checkpoints: a restore does not touch it.
    pub fn skip_resource_in_checkpoints<R: Resource>(&mut self) {
        self.resources.set_copying::<R>(Copying::Skip);
    }

    /// Which world this is, and how often its clock was set back. Where both are equal, ticks can be compared.
    #[cfg(feature = "serde")]
    pub(crate) fn branch(&self) -> (u64, u64) {
        (self.id, self.taking.restored)
    }

    /// What the world knows and cannot copy.
    pub(crate) fn uncopied(&self) -> Vec<String> {
        let lacks = |info: &&crate::registry::ComponentInfo| {
            let cannot =
                |at: usize| info.captures().get(at).is_none_or(|capture| capture.0.can_copy() == CanCopy::No);
            (0..info.columns().len()).any(cannot)
        };
        let components =
            self.components.iter().filter(lacks).map(|info| format!("component `{}`", info.name()));
        let resources = self.resources.uncopied().map(|name| format!("resource `{name}`"));
        let messages = self.messages.uncopied().map(|name| format!("message `{name}`"));
        components.chain(resources).chain(messages).collect()
    }

    /// Learns how columns are copied that became known since the last checkpoint.
    fn update_copies(&mut self) {
        let known = (self.components.len(), self.archetypes.pools().len());
        if self.taking.known == known {
            return;
        }
        let marks = self.archetypes.pools().iter().map(PoolRecord::tag).chain([pooled().any()]);
        for mark in marks.filter_map(AnyColId::typed::<PoolMark>) {
            self.taking.copies.set(ColumnCopy::new(mark, Duplicate::bytes(), false));
        }
        for info in self.components.iter() {
            let tracked = info.track() != Track::None;
            let copies = info.captures().iter().filter_map(|capture| capture.0.copy(tracked));
            copies.for_each(|copy| self.taking.copies.set(copy));
        }
        self.taking.known = known;
    }
}
