//! Several observers that are added together, in an order of their own.
//!
//! A tuple of functions becomes a list of observers; `chain` orders each after the one before it, by what tells their
//! functions apart.

use std::any::TypeId;

use super::{Observer, On};
use crate::system::output::SystemOutput;
use crate::system::traits::{IntoSystem, System as _};
use crate::world::EventPattern;

/// Several observers, with the configuration of all of them; see [`observers`].
#[must_use = "observers hear nothing until they are added to a world"]
pub struct Observers(pub(super) Vec<Observer>, Vec<TypeId>);

/// Several observers that are added together.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Event)]
/// struct Dawn;
/// #[derive(Resource, Default)]
/// struct Log(Vec<&'static str>);
/// fn wake(_: On<Dawn>, mut log: ResMut<Log>) { log.0.push("wake") }
/// fn rise(_: On<Dawn>, mut log: ResMut<Log>) { log.0.push("rise") }
///
/// let mut world = World::new();
/// world.init_resource::<Log>();
/// world.add_observer(rise);
/// world.add_observers(observers((wake, |_: On<Dawn>, mut log: ResMut<Log>| log.0.push("yawn"))).chain());
/// world.trigger(Dawn);
/// assert_eq!(world.resource::<Log>().0, ["rise", "wake", "yawn"]);
/// ```
pub fn observers<M>(observers: impl IntoObservers<M>) -> Observers {
    let (mut list, mut keys) = (Vec::new(), Vec::new());
    observers.list(&mut list, &mut keys);
    Observers(list, keys)
}

impl Observers {
    /// Each runs after the one before it.
    pub fn chain(mut self) -> Self {
        for at in 1..self.0.len() {
            let before = self.1[at - 1];
            self.0[at].after.push(before);
        }
        self
    }
}

/// A tuple of functions that can be observers.
pub trait IntoObservers<Marker> {
    /// Lists them, with what tells their functions apart.
    #[doc(hidden)]
    fn list(self, into: &mut Vec<Observer>, keys: &mut Vec<TypeId>);
}

macro_rules! observer_tuple {
    ($(($name:ident $event:ident $out:ident $marker:ident $at:tt))*) => {
        impl<$($name, $event, $out, $marker),*> IntoObservers<($(($event, $out, $marker),)*)> for ($($name,)*)
        where
            $($event: EventPattern + 'static, $out: SystemOutput + 'static,
            $name: IntoSystem<On<'static, 'static, $event>, $out, $marker>),*
        {
            fn list(self, into: &mut Vec<Observer>, keys: &mut Vec<TypeId>) {
                $(
                    let system = self.$at.into_system();
                    keys.push(system.key());
                    into.push(Observer::new(system));
                )*
            }
        }
    };
}
observer_tuple!((A EA OA MA 0));
observer_tuple!((A EA OA MA 0)(B EB OB MB 1));
observer_tuple!((A EA OA MA 0)(B EB OB MB 1)(C EC OC MC 2));
observer_tuple!((A EA OA MA 0)(B EB OB MB 1)(C EC OC MC 2)(D ED OD MD 3));
observer_tuple!((A EA OA MA 0)(B EB OB MB 1)(C EC OC MC 2)(D ED OD MD 3)(F EF OF MF 4));
observer_tuple!((A EA OA MA 0)(B EB OB MB 1)(C EC OC MC 2)(D ED OD MD 3)(F EF OF MF 4)(G EG OG MG 5));
