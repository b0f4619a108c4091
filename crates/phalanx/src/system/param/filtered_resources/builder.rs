//! What names the resources of a parameter, and what makes the parameter of that.
//!
//! A builder sees the world once, when the system is built: resources that come later are not among those that it names
//! by "all". What it named is declared to the system, which is refused if another of its parameters is in the way.

use super::super::super::access::Access;
use super::super::super::meta::SystemMeta;
use super::super::super::state::SystemParamBuilder;
use super::{FilteredResources, FilteredResourcesMut, NamedResources};
use crate::resources::{Resource, ResourceId};
use crate::world::World;

/// Says which resources a [`FilteredResources`] may use.
pub struct FilteredResourcesBuilder<'w> {
    world: &'w mut World,
    named: NamedResources,
}

/// Says which resources a [`FilteredResourcesMut`] may use.
pub struct FilteredResourcesMutBuilder<'w> {
    world: &'w mut World,
    named: NamedResources,
}

/// What both builders have.
macro_rules! reading {
    ($builder:ident) => {
        impl<'w> $builder<'w> {
            /// A builder that names nothing yet.
            pub fn new(world: &'w mut World) -> Self {
                Self { world, named: NamedResources::default() }
            }

            /// What was named so far.
            pub fn access(&self) -> &Access {
                &self.named.access
            }

            /// Names all resources that the world knows by now, to be read.
            pub fn add_read_all(&mut self) -> &mut Self {
                self.named.add_all(self.world, false);
                self
            }

            /// Names a resource, to be read.
            pub fn add_read<R: Resource>(&mut self) -> &mut Self {
                let id = self.world.resources.register::<R>();
                self.add_read_by_id(id)
            }

            /// Names a resource by its number, to be read; a number that the world did not give names nothing.
            pub fn add_read_by_id(&mut self, id: ResourceId) -> &mut Self {
                self.named.add(self.world, id, false);
                self
            }

            /// What was named.
            pub fn build(self) -> Access {
                self.named.access
            }
        }
    };
}
reading!(FilteredResourcesBuilder);
reading!(FilteredResourcesMutBuilder);

impl FilteredResourcesMutBuilder<'_> {
    /// Names all resources that the world knows by now, to be written.
    pub fn add_write_all(&mut self) -> &mut Self {
        self.named.add_all(self.world, true);
        self
    }

    /// Names a resource, to be written.
    pub fn add_write<R: Resource>(&mut self) -> &mut Self {
        let id = self.world.resources.register::<R>();
        self.add_write_by_id(id)
    }

    /// Names a resource by its number, to be written; a number that the world did not give names nothing.
    pub fn add_write_by_id(&mut self, id: ResourceId) -> &mut Self {
        self.named.add(self.world, id, true);
        self
    }
}

/// Builds a [`FilteredResources`].
#[derive(Clone)]
pub struct FilteredResourcesParamBuilder<T>(T);

/// Builds a [`FilteredResourcesMut`].
#[derive(Clone)]
pub struct FilteredResourcesMutParamBuilder<T>(T);

macro_rules! param_builder {
    ($of:ident, $builder:ident, $param:ident) => {
        impl<T: FnOnce(&mut $builder<'_>)> $of<T> {
            /// A builder of the parameter; `name` names the resources.
            pub fn new(name: T) -> Self {
                Self(name)
            }
        }

        impl<'a> $of<Box<dyn FnOnce(&mut $builder<'_>) + 'a>> {
            /// As [`Self::new`], of one type whatever the function is.
            pub fn new_box(name: impl FnOnce(&mut $builder<'_>) + 'a) -> Self {
                Self(Box::new(name))
            }
        }

        impl<'w, 's, T: FnOnce(&mut $builder<'_>)> SystemParamBuilder<$param<'w, 's>> for $of<T> {
            fn build(self, world: &mut World, meta: &mut SystemMeta) -> NamedResources {
                let mut builder = $builder::new(world);
                (self.0)(&mut builder);
                let named = builder.named;
                named.declared::<$param<'w, 's>>(world, meta)
            }
        }
    };
}
param_builder!(FilteredResourcesParamBuilder, FilteredResourcesBuilder, FilteredResources);
param_builder!(FilteredResourcesMutParamBuilder, FilteredResourcesMutBuilder, FilteredResourcesMut);
