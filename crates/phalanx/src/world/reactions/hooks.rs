//! Component hooks: functions that belong to a component type and run whenever it comes or goes.
//!
//! A component has at most one hook per event. They are declared with `#[component(on_add = function)]`, or registered
//! with [`World::register_component_hooks`] before or after the first entity has the component. A second hook for the
//! same event is an error that names both.

use std::panic::Location;

use phalanx_store::Entity;

use super::{DeferredWorld, Lifecycle};
use crate::component::AnyComponent;
use crate::registry::ComponentId;
use crate::world::World;

/// A function that runs when a component comes or goes.
pub type ComponentHook = for<'w> fn(DeferredWorld<'w>, HookContext);

/// What a hook runs for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HookContext {
    /// The entity.
    pub entity: Entity,
    /// The component that comes or goes.
    pub component_id: ComponentId,
}

/// A hook, and what declared it.
#[derive(Clone, Copy)]
pub(crate) struct Hook {
    pub(super) run: ComponentHook,
    /// How it was declared, for messages.
    declared: Declared,
}

#[derive(Clone, Copy)]
enum Declared {
    ByAttribute(&'static str),
    At(&'static Location<'static>),
}

impl std::fmt::Display for Declared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ByAttribute(function) => write!(f, "`{function}`, by the component's attribute"),
            Self::At(location) => write!(f, "registered at {location}"),
        }
    }
}

/// The hooks of one component, by event.
pub(super) type Hooks = [Option<Hook>; Lifecycle::COUNT];

/// The hooks of one component.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Component)]
/// struct Score(u32);
/// #[derive(Resource, Default)]
/// struct Total(u32);
///
/// let mut world = World::new();
/// world.init_resource::<Total>();
/// world
///     .register_component_hooks::<Score>()
///     .on_insert(|mut world, context| {
///         let score = world.get::<Score>(context.entity).unwrap().0;
///         world.resource_mut::<Total>().0 += score;
///     })
///     .on_discard(|mut world, context| {
///         let score = world.get::<Score>(context.entity).unwrap().0;
///         world.resource_mut::<Total>().0 -= score;
///     });
///
/// let e = world.spawn(Score(3)).id();
/// world.insert(e, Score(5)).unwrap();
/// assert_eq!(world.resource::<Total>().0, 5);
/// world.despawn(e);
/// assert_eq!(world.resource::<Total>().0, 0);
/// ```
#[derive(Clone, Copy, Default)]
pub struct ComponentHooks {
    pub(super) hooks: Hooks,
    /// The first hook that came second, and the one that was there.
    clash: Option<(Lifecycle, Hook, Hook)>,
}

/// The hooks of a component of a world, to be added to. What was added is taken over when this is dropped.
pub struct HooksMut<'w> {
    world: &'w mut World,
    id: ComponentId,
    hooks: ComponentHooks,
}

macro_rules! events {
    ($($on:ident $try_on:ident $declare:ident $event:ident $when:literal;)*) => {
        impl ComponentHooks {
            $(
                /// Declares a hook, with the words that the attribute has for it.
                #[doc(hidden)]
                pub fn $declare(&mut self, hook: ComponentHook, text: &'static str) {
                    self.add(Lifecycle::$event, Hook { run: hook, declared: Declared::ByAttribute(text) });
                }
            )*
        }

        impl HooksMut<'_> {
            $(
                #[doc = concat!("Adds a hook that runs when ", $when, ".")]
                ///
                /// # Panics
                /// When the component has such a hook already; both are named.
                #[track_caller]
                pub fn $on(&mut self, hook: ComponentHook) -> &mut Self {
                    let hook = Hook { run: hook, declared: Declared::At(Location::caller()) };
                    self.hooks.add(Lifecycle::$event, hook);
                    if let Some((event, first, second)) = self.hooks.clash.take() {
                        let component = self.world.components.info(self.id).name();
                        panic!(
                            "`{component}` has a hook for `{}` already ({}), so this one cannot be added ({}): \
                             use an observer, of which there can be several",
                            event.name(),
                            first.declared,
                            second.declared,
                        );
                    }
                    self
                }

                #[doc = concat!("As [`", stringify!($on), "`](Self::", stringify!($on), "); `None` when the component has such a hook already.")]
                #[track_caller]
                pub fn $try_on(&mut self, hook: ComponentHook) -> Option<&mut Self> {
                    let hook = Hook { run: hook, declared: Declared::At(Location::caller()) };
                    self.hooks.add(Lifecycle::$event, hook);
                    if self.hooks.clash.take().is_some() { None } else { Some(self) }
                }
            )*
        }
    };
}
events! {
    on_add try_on_add declare_on_add Add "the component comes to an entity that lacked it";
    on_insert try_on_insert declare_on_insert Insert "the component gets a value, be it in the place of another one";
    on_discard try_on_discard declare_on_discard Discard "a value of the component is about to go or to be replaced";
    on_remove try_on_remove declare_on_remove Remove "the component is about to go";
    on_despawn try_on_despawn declare_on_despawn Despawn "an entity with the component is about to be despawned";
}

impl ComponentHooks {
    fn add(&mut self, event: Lifecycle, hook: Hook) {
        match &mut self.hooks[event as usize] {
            Some(first) => self.clash = Some((event, *first, hook)),
            none => *none = Some(hook),
        }
    }
}

impl Drop for HooksMut<'_> {
    fn drop(&mut self) {
        self.world.set_hooks(self.id, self.hooks.hooks);
    }
}

impl World {
    /// The hooks of a component, to be added to.
    ///
    /// They run from the next change on; they do not run for entities that have the component already.
    ///
    /// # Panics
    /// When another component has the name.
    #[track_caller]
    pub fn register_component_hooks<C: AnyComponent>(&mut self) -> HooksMut<'_> {
        let id = self.register_component::<C>();
        self.hooks_mut(id)
    }

    /// As [`World::register_component_hooks`], for a component that is known by its id, such as one made from a schema.
    /// `None` when the world has no such component.
    pub fn register_component_hooks_by_id(&mut self, id: ComponentId) -> Option<HooksMut<'_>> {
        self.components.get_info(id).is_some().then(|| self.hooks_mut(id))
    }

    fn hooks_mut(&mut self, id: ComponentId) -> HooksMut<'_> {
        let hooks = self.reactions.hooks.get(id.index()).copied().unwrap_or_default();
        HooksMut { world: self, id, hooks: ComponentHooks { hooks, clash: None } }
    }

    /// Takes over the hooks of a component, of which there may be more than before, but not less.
    pub(super) fn set_hooks(&mut self, id: ComponentId, hooks: Hooks) {
        let reactions = &mut self.reactions;
        reactions.plans.forget();
        if reactions.hooks.len() <= id.index() {
            reactions.hooks.resize(id.index() + 1, Hooks::default());
        }
        let before = std::mem::replace(&mut reactions.hooks[id.index()], hooks);
        for (hooked, hook) in reactions.hooked.iter_mut().zip(&hooks) {
            if hook.is_some() {
                *hooked = hooked.with(id);
            }
        }
        let is_hooked = |hooks: &Hooks| hooks.iter().any(Option::is_some);
        if !is_hooked(&before) && is_hooked(&hooks) {
            self.listen(id);
        } else {
            self.update_loud();
        }
    }
}
