//! The types that a program can load.
//!
//! A world knows how to save what it holds. One that is to be loaded holds nothing yet: the registry lists the types
//! that may come, under the names that saves have for them, with the migrations from their older versions.

use std::any::{TypeId, type_name};
use std::borrow::Cow;

use hashbrown::HashMap;

use super::migration::Migration;
use crate::app::{Fixed, Real, Time, Virtual};
use crate::component::{AnyComponent, ComponentSaving, Descriptor, Disabled, DisabledByTree, DisabledTree};
use crate::messages::{Message, MessageSaving};
use crate::name::Name;
use crate::pool::{Pool, PoolId};
use crate::registry::{ComponentId, Components, RegisterError};
use crate::relation::{ChildOf, Children, ManyRelationship};
use crate::resources::{Resource, ResourceSaving};
use crate::state::{ComputedStates, States};
use crate::world::{LinkedBy, Links, PoolError, World};

/// What is saved: `#[component(save)]`, `#[resource(save)]`, `#[message(save)]`, `#[states(save)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not saved",
    label = "needs the attribute `save`",
    note = "add `#[component(save)]`, `#[resource(save)]` or `#[message(save)]` to `{Self}`, which also needs \
            `Serialize` and `Deserialize`"
)]
pub trait Save {
    /// Adds the type to a registry.
    fn register(registry: &mut SaveRegistry);
}

/// What to do with components of a save that the registry does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// Loading fails with an error that names the component.
    #[default]
    Refuse,
    /// Values are kept as they are, in [`KeptComponents`](super::KeptComponents), and saved again with the world.
    Keep,
}

/// The types that can be loaded.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::save::SaveRegistry;
///
/// #[derive(Component, serde::Serialize, serde::Deserialize)]
/// #[component(save)]
/// struct Health(f32);
/// #[derive(Resource, serde::Serialize, serde::Deserialize)]
/// #[resource(save, name = "score")]
/// struct Score(u32);
///
/// let mut types = SaveRegistry::new();
/// types.register::<Health>().register::<Score>();
/// ```
pub struct SaveRegistry {
    components: HashMap<String, ComponentEntry>,
    resources: HashMap<String, (TypeId, ResourceSaving)>,
    messages: HashMap<String, (TypeId, MessageSaving)>,
    pools: HashMap<&'static str, RegisterPool>,
    pub(super) migrations: Vec<Migration>,
    unknown: Unknown,
}

impl Default for SaveRegistry {
    fn default() -> Self {
        Self::new()
    }
}

type RegisterPool = fn(&mut World) -> Result<PoolId, PoolError>;

#[derive(Clone, Copy)]
pub(super) struct ComponentEntry {
    pub(super) saving: ComponentSaving,
    pub(super) register: fn(&mut Components) -> Result<ComponentId, RegisterError>,
}

impl SaveRegistry {
    /// A registry with the types of this library that are saved: [`ChildOf`](crate::relation::ChildOf),
    /// [`Children`](crate::relation::Children), [`Name`], [`Disabled`] and its siblings, and the clocks of apps ([`Time`]).
    pub fn new() -> Self {
        let mut registry = Self {
            components: HashMap::new(),
            resources: HashMap::new(),
            messages: HashMap::new(),
            pools: HashMap::new(),
            migrations: Vec::new(),
            unknown: Unknown::Refuse,
        };
        registry.component::<ChildOf>();
        registry.component::<Children>();
        registry.component::<Name>();
        registry.component::<Disabled>();
        registry.component::<DisabledTree>();
        registry.component::<DisabledByTree>();
        registry.resource::<Time>();
        registry.resource::<Time<Real>>();
        registry.resource::<Time<Virtual>>();
        registry.resource::<Time<Fixed>>();
        registry
    }

    /// Adds a component, resource, message or state. Adding it again changes nothing.
    ///
    /// # Panics
    /// When another type has the name.
    #[track_caller]
    pub fn register<T: Save>(&mut self) -> &mut Self {
        T::register(self);
        self
    }

    /// Adds a pool, so that its entities can be loaded.
    pub fn register_pool<P: Pool>(&mut self) -> &mut Self {
        self.pools.insert(P::name(), World::try_register_pool::<P>);
        self
    }

    /// Adds a migration from an older version of a type.
    pub fn migrate(&mut self, migration: Migration) -> &mut Self {
        self.migrations.push(migration);
        self
    }

    /// Says what to do with components that are not registered: loading fails, unless set otherwise.
    pub fn unknown(&mut self, unknown: Unknown) -> &mut Self {
        self.unknown = unknown;
        self
    }

    /// For types with `#[component(save)]`.
    #[doc(hidden)]
    #[track_caller]
    pub fn component<C: AnyComponent>(&mut self) {
        let mut descriptor = Descriptor::new();
        C::describe(&mut descriptor);
        let saving = descriptor.saving.expect("a derived component with `save` says how");
        let entry = ComponentEntry { saving, register: Components::register::<C> };
        let known = self.components.insert(descriptor.name.to_string(), entry);
        let is_same = known.map(|known| std::ptr::fn_addr_eq(known.register, entry.register));
        expect_one("components", is_same, &descriptor.name);
    }

    /// For edges with `#[component(save)]`: both of their ends.
    #[doc(hidden)]
    #[track_caller]
    pub fn edges<R: ManyRelationship>(&mut self) {
        self.component::<Links<R>>();
        self.component::<LinkedBy<R>>();
    }

    /// For types with `#[resource(save)]`.
    #[doc(hidden)]
    #[track_caller]
    pub fn resource<R: Resource>(&mut self) {
        let saving = R::saving().expect("a derived resource with `save` says how");
        let (name, type_id) = (saving.name().into_owned(), TypeId::of::<R>());
        let known = self.resources.insert(name, (type_id, saving));
        expect_one("resources", known.map(|(known, _)| known == type_id), &saving.name());
    }

    /// For types with `#[states(save)]`.
    #[doc(hidden)]
    #[track_caller]
    pub fn state<S: States>(&mut self) {
        let saving = S::saving().expect("a derived state with `save` says how");
        for saving in saving.all() {
            let known = self.resources.insert(saving.name().into_owned(), (TypeId::of::<S>(), saving));
            expect_one("states", known.map(|(known, _)| known == TypeId::of::<S>()), &saving.name());
        }
    }

    /// Adds a computed state that says how it is [saved](crate::state::ComputedStates::saving).
    ///
    /// # Panics
    /// When it does not.
    #[track_caller]
    pub fn register_computed<S: ComputedStates>(&mut self) -> &mut Self {
        let saving = <S as ComputedStates>::saving();
        assert!(saving.is_some(), "`{}` is not saved: write `ComputedStates::saving`", type_name::<S>());
        self.state::<S>();
        self
    }

    /// For types with `#[message(save)]`.
    #[doc(hidden)]
    #[track_caller]
    pub fn message<M: Message>(&mut self) {
        let saving = M::saving().expect("a derived message with `save` says how");
        let (name, type_id) = (saving.name().into_owned(), TypeId::of::<M>());
        let known = self.messages.insert(name, (type_id, saving));
        expect_one("messages", known.map(|(known, _)| known == type_id), &saving.name());
    }

    pub(super) fn find_component(&self, name: &str) -> Option<ComponentEntry> {
        self.components.get(name).copied()
    }

    pub(super) fn find_resource(&self, name: &str) -> Option<ResourceSaving> {
        self.resources.get(name).map(|(_, saving)| *saving)
    }

    pub(super) fn find_message(&self, name: &str) -> Option<MessageSaving> {
        self.messages.get(name).map(|(_, saving)| *saving)
    }

    pub(super) fn find_pool(&self, name: &str) -> Option<RegisterPool> {
        self.pools.get(name).copied()
    }

    pub(super) fn keeps_unknown(&self) -> bool {
        self.unknown == Unknown::Keep
    }
}

/// Panics where another type has the name already.
#[track_caller]
fn expect_one(kind: &str, is_same: Option<bool>, name: &str) {
    assert!(is_same != Some(false), "two {kind} are called `{name}`: give one of them another name");
}

/// The name of a resource or message in saves: as given, else the path of the type.
#[doc(hidden)]
pub fn name_or_type<T>(given: &'static str) -> Cow<'static, str> {
    if given.is_empty() { type_name::<T>().into() } else { given.into() }
}
