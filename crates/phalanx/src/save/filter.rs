//! Which part of a world is saved, and what is left out.
//!
//! A filter chooses components by type and entities by a function. The report names everything that a save lacks: what
//! the filter leaves out, and types that cannot be saved because they lack the `save` attribute. Nothing is dropped in
//! silence.

use std::fmt;

use phalanx_store::AnyColId;

use crate::component::AnyComponent;
use crate::registry::ComponentInfo;
use crate::world::EntityRef;

type EntityFilter<'f> = Box<dyn Fn(EntityRef<'_>) -> bool + 'f>;

/// What to save of a world: everything, unless set otherwise.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::save::SaveFilter;
///
/// #[derive(Component, serde::Serialize, serde::Deserialize)]
/// #[component(save)]
/// struct Health(f32);
/// #[derive(Component)]
/// struct Ghost;
///
/// let mut world = World::new();
/// world.spawn(Health(1.0));
/// world.spawn((Health(2.0), Ghost));
/// let filter = SaveFilter::new().entities(|entity| !entity.contains::<Ghost>());
/// let mut text = Vec::new();
/// let saved = world.save_filtered(&mut serde_json::Serializer::new(&mut text), &filter).unwrap();
/// assert_eq!(saved.report.entities, 1);
/// ```
#[derive(Default)]
pub struct SaveFilter<'f> {
    without: Vec<AnyColId>,
    only: Vec<AnyColId>,
    entities: Option<EntityFilter<'f>>,
    no_resources: bool,
    no_messages: bool,
}

impl<'f> SaveFilter<'f> {
    /// Saves everything that can be saved.
    pub fn new() -> Self {
        Self::default()
    }

    /// Leaves a component out. Of a relation, both halves are left out.
    #[must_use]
    pub fn without<C: AnyComponent>(mut self) -> Self {
        self.without.push(C::key());
        self
    }

    /// Leaves all components out but those for which this is called.
    #[must_use]
    pub fn only<C: AnyComponent>(mut self) -> Self {
        self.only.push(C::key());
        self
    }

    /// Saves those entities for which the function returns true. In the loaded world the others are dead, and the links
    /// and edges between them and those that are saved are not there. Other fields may still name them.
    #[must_use]
    pub fn entities(mut self, keep: impl Fn(EntityRef<'_>) -> bool + 'f) -> Self {
        self.entities = Some(Box::new(keep));
        self
    }

    /// Leaves all resources out.
    #[must_use]
    pub fn without_resources(mut self) -> Self {
        self.no_resources = true;
        self
    }

    /// Leaves all messages out.
    #[must_use]
    pub fn without_messages(mut self) -> Self {
        self.no_messages = true;
        self
    }

    pub(super) fn has_component(&self, info: &ComponentInfo) -> bool {
        let key = info.columns()[0];
        !self.without.contains(&key) && (self.only.is_empty() || self.only.contains(&key))
    }

    pub(super) fn entity_filter(&self) -> Option<&EntityFilter<'f>> {
        self.entities.as_ref()
    }

    pub(super) fn has_resources(&self) -> bool {
        !self.no_resources
    }

    pub(super) fn has_messages(&self) -> bool {
        !self.no_messages
    }
}

/// What a save holds, and what it lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SaveReport {
    /// How many entities are in the save.
    pub entities: usize,
    /// How many living entities are not.
    pub entities_left_out: usize,
    /// Components of entities in the save that are not saved, by name.
    pub components_left_out: Vec<String>,
    /// Resources that are not saved, by name.
    pub resources_left_out: Vec<String>,
    /// Messages that are live and not saved, by name.
    pub messages_left_out: Vec<String>,
    /// Groups that are not saved, because one of their components is not.
    pub groups_left_out: Vec<String>,
}

impl SaveReport {
    /// Whether nothing was left out.
    pub fn is_complete(&self) -> bool {
        self.entities_left_out == 0 && self.names().next().is_none()
    }

    /// The names of all types and groups that were left out.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let lists = [
            &self.components_left_out,
            &self.resources_left_out,
            &self.messages_left_out,
            &self.groups_left_out,
        ];
        lists.into_iter().flatten().map(String::as_str)
    }
}

impl fmt::Display for SaveReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entities = if self.entities == 1 { "entity" } else { "entities" };
        write!(f, "{} {entities} saved", self.entities)?;
        if self.entities_left_out > 0 {
            write!(f, ", {} left out", self.entities_left_out)?;
        }
        let lists = [
            ("components", &self.components_left_out),
            ("resources", &self.resources_left_out),
            ("messages", &self.messages_left_out),
            ("groups", &self.groups_left_out),
        ];
        for (kind, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
            write!(f, "; {kind} not saved: {}", names.join(", "))?;
        }
        Ok(())
    }
}

/// What came of saving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved<T> {
    /// What the serializer returned.
    pub output: T,
    /// What is in the save, and what is not.
    pub report: SaveReport,
}
