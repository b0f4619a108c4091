//! Requirements between components that are made known at run time.
//!
//! As `#[require(..)]` does for the author of a type, these make one component bring another. Entities must not differ
//! by when they came, so a component that was used before gets no further requirement.

use phalanx_store::{Init, Tick};

use super::World;
use crate::component::AnyComponent;
use crate::registry::{ComponentId, RequiredComponentsError};

impl World {
    /// From now on `C` requires `R`: it is added with its default value where an entity lacks it.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Ship;
    /// #[derive(Component, Default, Debug, PartialEq)]
    /// struct Hull(u32);
    ///
    /// let mut world = World::new();
    /// world.register_required_components_with::<Ship, Hull>(|| Hull(100));
    /// let ship = world.spawn(Ship).id();
    /// assert_eq!(world.get::<Hull>(ship), Some(&Hull(100)));
    /// ```
    ///
    /// # Panics
    /// When `C` was used before, requires `R` already, or `R` requires it; see
    /// [`World::try_register_required_components`].
    #[track_caller]
    pub fn register_required_components<C: AnyComponent, R: AnyComponent + Default>(&mut self) {
        self.register_required_components_with::<C, R>(R::default);
    }

    /// As [`World::register_required_components`], with a function that gives the value.
    ///
    /// # Panics
    /// As [`World::register_required_components`].
    #[track_caller]
    pub fn register_required_components_with<C: AnyComponent, R: AnyComponent>(
        &mut self,
        make: impl Fn() -> R + Send + Sync + 'static,
    ) {
        if let Err(error) = self.try_register_required_components_with::<C, R>(make) {
            panic!("{error}");
        }
    }

    /// As [`World::register_required_components`], with an error instead of a panic.
    ///
    /// # Errors
    /// When `C` was used before, requires `R` already, or `R` requires it.
    pub fn try_register_required_components<C: AnyComponent, R: AnyComponent + Default>(
        &mut self,
    ) -> Result<(), RequiredComponentsError> {
        self.try_register_required_components_with::<C, R>(R::default)
    }

    /// As [`World::register_required_components_with`], with an error instead of a panic.
    ///
    /// # Errors
    /// When `C` was used before, requires `R` already, or `R` requires it.
    pub fn try_register_required_components_with<C: AnyComponent, R: AnyComponent>(
        &mut self,
        make: impl Fn() -> R + Send + Sync + 'static,
    ) -> Result<(), RequiredComponentsError> {
        let of = self.try_register_component::<C>().map_err(RequiredComponentsError::Register)?;
        let required = self.try_register_component::<R>().map_err(RequiredComponentsError::Register)?;
        self.require(
            of,
            required,
            Init::new(R::column_ids(), move |now: Tick| make().into_column_values(now)),
        )
    }

    fn require(
        &mut self,
        of: ComponentId,
        required: ComponentId,
        init: Init,
    ) -> Result<(), RequiredComponentsError> {
        if self.bundles.brings(of) {
            let component = self.components.info(of).name().to_owned();
            return Err(RequiredComponentsError::InUse { component });
        }
        self.components.add_requirement(of, required, init)
    }

    /// The components that `C` requires, nearest first, and those that these bring; `None` when `C` is not
    /// registered.
    pub fn get_required_components<C: AnyComponent>(&self) -> Option<Vec<ComponentId>> {
        self.get_required_components_by_id(self.components.component_id::<C>()?)
    }

    /// As [`World::get_required_components`], by id.
    pub fn get_required_components_by_id(&self, id: ComponentId) -> Option<Vec<ComponentId>> {
        self.components.get_info(id)?;
        Some(self.components.requirements(&[id]).into_iter().map(|(id, _)| id).collect())
    }
}
