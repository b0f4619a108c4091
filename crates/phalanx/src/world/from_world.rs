//! Values that a world is asked for: the first value of a resource, or of a system's `Local`.
//!
//! Whatever has a default value is made by it. A type without one implements [`FromWorld`] and may read the world.

use super::World;

/// A type whose first value can be made from a world.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Resource)]
/// struct Seed(u64);
/// #[derive(Resource)]
/// struct Dice(u64);
///
/// impl FromWorld for Dice {
///     fn from_world(world: &mut World) -> Self {
///         Self(world.resource::<Seed>().0 | 1)
///     }
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Seed(6));
/// world.init_resource::<Dice>();
/// assert_eq!(world.resource::<Dice>().0, 7);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no first value",
    label = "neither `Default` nor `FromWorld`",
    note = "add `#[derive(Default)]` to `{Self}`, or implement `FromWorld` for it"
)]
pub trait FromWorld {
    /// Makes the value.
    fn from_world(world: &mut World) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> FromWorld for T {
    fn from_world(_: &mut World) -> Self {
        Self::default()
    }
}
