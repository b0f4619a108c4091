//! Commands with names: types that change a world, or one entity, when they are applied.
//!
//! A function or closure is a command as it is; a type implements [`Command`] or [`EntityCommand`]. What a command
//! returns is nothing or a `Result`, whose error goes to the world's error handler, or to one of the command's own.

use phalanx_store::Entity;

use crate::names::short_function;
use crate::world::failure::{CommandOutput, Failed, SystemError};
use crate::world::{EntityWorldMut, World};

/// A change of a world, to be queued.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Resource, Default)]
/// struct Score(u32);
/// struct AddScore(u32);
///
/// impl Command for AddScore {
///     type Out = ();
///
///     fn apply(self, world: &mut World) {
///         world.get_resource_or_init::<Score>().0 += self.0;
///     }
/// }
///
/// let mut world = World::new();
/// world.commands().queue(AddScore(3));
/// world.flush();
/// assert_eq!(world.resource::<Score>().0, 3);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command",
    label = "cannot be queued",
    note = "a command is a function or closure such as `|world: &mut World| {{ .. }}` that returns nothing or a `Result<(), E>`, or a type that implements `Command`"
)]
pub trait Command: Send + 'static {
    /// Nothing, or a `Result`.
    type Out: CommandOutput;

    /// Changes the world.
    fn apply(self, world: &mut World) -> Self::Out;

    /// The same command, with an error handler of its own.
    fn handle_error_with(
        self,
        handler: impl FnOnce(&mut World, SystemError) + Send + 'static,
    ) -> impl Command<Out = ()>
    where
        Self: Sized,
    {
        move |world: &mut World| {
            if let Err(error) = self.apply(world).into_result() {
                handler(world, SystemError::new(Failed::Command, short_function::<Self>(), error));
            }
        }
    }

    /// The same command, whose error goes to the world's error handler.
    fn handle_error(self) -> impl Command<Out = ()>
    where
        Self: Sized,
    {
        self.handle_error_with(World::fail)
    }

    /// The same command, whose error is not reported.
    fn ignore_error(self) -> impl Command<Out = ()>
    where
        Self: Sized,
    {
        move |world: &mut World| {
            // An error is what was to be ignored.
            let _ = self.apply(world).into_result();
        }
    }
}

impl<F, Out> Command for F
where
    F: FnOnce(&mut World) -> Out + Send + 'static,
    Out: CommandOutput,
{
    type Out = Out;

    fn apply(self, world: &mut World) -> Out {
        self(world)
    }
}

/// A change of one entity, to be queued.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component, Debug, PartialEq)]
/// struct Health(u32);
/// struct Hurt(u32);
///
/// impl EntityCommand for Hurt {
///     type Out = ();
///
///     fn apply(self, mut entity: EntityWorldMut) {
///         if let Some(mut health) = entity.get_mut::<Health>() {
///             health.0 = health.0.saturating_sub(self.0);
///         }
///     }
/// }
///
/// let mut world = World::new();
/// let entity = world.spawn(Health(5)).id();
/// world.commands().entity(entity).queue(Hurt(2));
/// world.flush();
/// assert_eq!(world.get::<Health>(entity), Some(&Health(3)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command for an entity",
    label = "cannot be queued for an entity",
    note = "it is a function or closure such as `|mut entity: EntityWorldMut| {{ .. }}` that returns nothing or a `Result<(), E>`, or a type that implements `EntityCommand`"
)]
pub trait EntityCommand: Send + 'static {
    /// Nothing, or a `Result`.
    type Out: CommandOutput;

    /// Changes the entity.
    fn apply(self, entity: EntityWorldMut<'_>) -> Self::Out;

    /// The command for this entity; skipped, and counted, if it is dead by then.
    fn with_entity(self, entity: Entity) -> impl Command<Out = Result<(), super::BoxedError>>
    where
        Self: Sized,
    {
        move |world: &mut World| match world.get_entity_mut(entity) {
            Ok(entity) => self.apply(entity).into_result(),
            Err(_) => {
                world.note_dead(entity, false);
                Ok(())
            }
        }
    }
}

impl<F, Out> EntityCommand for F
where
    F: FnOnce(EntityWorldMut<'_>) -> Out + Send + 'static,
    Out: CommandOutput,
{
    type Out = Out;

    fn apply(self, entity: EntityWorldMut<'_>) -> Out {
        self(entity)
    }
}
