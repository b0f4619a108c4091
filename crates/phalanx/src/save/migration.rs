//! From the versions of types in an old save to those of today.
//!
//! A migration leads from one version of a type to a later one and says what changes in each value. Those that follow
//! each other are applied one after the other. They see values as trees, whatever form the save has, one value after the
//! other: a step is a call per value, not one per column.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::registry::SaveRegistry;
use crate::codec::Data;

type Step = Box<dyn Fn(&mut Data) -> Result<(), String> + Send + Sync>;

/// How values of one version of a type become those of a later one.
///
/// Steps are applied value by value, to a tree ([`Data`]) that is made of each. Only types of an older version pay for
/// that; a large world is loaded faster after it was saved anew.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::save::{Data, Migration, SaveRegistry};
///
/// #[derive(Component, serde::Serialize, serde::Deserialize, PartialEq, Debug)]
/// #[component(save, version = 2, name = "game.Health")]
/// struct Health {
///     current: f32,
///     max: f32,
/// }
///
/// let mut types = SaveRegistry::new();
/// types.register::<Health>();
/// types.migrate(Migration::new("game.Health", 1..2).rename("hp", "current").default("max", 100.0));
/// ```
pub struct Migration {
    name: Cow<'static, str>,
    renamed: Option<Cow<'static, str>>,
    versions: Range<u32>,
    steps: Vec<Step>,
}

impl Migration {
    /// From the first version of the range to the second, for the component, resource or message of this name.
    ///
    /// # Panics
    /// When the second version is not later than the first.
    #[track_caller]
    pub fn new(name: impl Into<Cow<'static, str>>, versions: Range<u32>) -> Self {
        let name = name.into();
        assert!(
            versions.start < versions.end,
            "a migration of `{name}` leads to a later version: write `1..2` for the step from 1 to 2"
        );
        Self { name, renamed: None, versions, steps: Vec::new() }
    }

    /// The type has another name from the later version on.
    #[must_use]
    pub fn becomes(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.renamed = Some(name.into());
        self
    }

    /// A field has another name from the later version on.
    #[must_use]
    pub fn rename(self, from: &'static str, to: &'static str) -> Self {
        self.change(move |value| {
            let field = value.take(from).ok_or_else(|| format!("there is no field `{from}` to rename"))?;
            value.set(to, field);
            Ok(())
        })
    }

    /// A field is new in the later version, with this value where it is missing.
    #[must_use]
    pub fn default(self, field: &'static str, value: impl Into<Data>) -> Self {
        let default = value.into();
        self.change(move |value| {
            if value.get(field).is_none() {
                value.set(field, default.clone());
            }
            Ok(())
        })
    }

    /// A field is gone in the later version.
    #[must_use]
    pub fn remove(self, field: &'static str) -> Self {
        self.change(move |value| {
            value.take(field);
            Ok(())
        })
    }

    /// A field means something else in the later version: `f` makes the new value of the old one.
    #[must_use]
    pub fn convert<D: Into<Data>>(
        self,
        field: &'static str,
        f: impl Fn(&Data) -> D + Send + Sync + 'static,
    ) -> Self {
        self.change(move |value| {
            let old = value.get(field).ok_or_else(|| format!("there is no field `{field}` to convert"))?;
            let new = f(old).into();
            value.set(field, new);
            Ok(())
        })
    }

    /// The value changes as a whole.
    #[must_use]
    pub fn change(mut self, f: impl Fn(&mut Data) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.steps.push(Box::new(f));
        self
    }

    pub(super) fn apply(&self, value: &mut Data) -> Result<(), String> {
        self.steps.iter().try_for_each(|step| step(value)).map_err(|error| {
            format!("the migration {}..{} failed: {error}", self.versions.start, self.versions.end)
        })
    }
}

impl fmt::Debug for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Migration")
            .field("name", &self.name)
            .field("versions", &self.versions)
            .finish_non_exhaustive()
    }
}

/// Where a type of a save leads: its name and version at the end, and the migrations on the way.
pub(super) struct Path<'r> {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) migrations: Vec<&'r Migration>,
}

impl SaveRegistry {
    pub(super) fn path(&self, name: &str, version: u32) -> Path<'_> {
        let mut path = Path { name: name.to_owned(), version, migrations: Vec::new() };
        // Versions rise with each step, so there is an end.
        let next = |path: &Path<'_>| {
            let fits = |migration: &&Migration| {
                migration.name == path.name && migration.versions.start == path.version
            };
            self.migrations.iter().find(fits)
        };
        while let Some(migration) = next(&path) {
            path.version = migration.versions.end;
            if let Some(renamed) = &migration.renamed {
                path.name = renamed.clone().into_owned();
            }
            path.migrations.push(migration);
        }
        path
    }
}
