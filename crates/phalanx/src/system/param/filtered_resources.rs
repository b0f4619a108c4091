//! `FilteredResources` and `FilteredResourcesMut`: resources that a builder names, not the parameter's type.
//!
//! Without a builder they reach nothing. What they may use is declared like that of any other parameter, so a system with
//! them runs beside others that use other resources.

use std::any::{Any, TypeId};
use std::error::Error;
use std::fmt;

use phalanx_store::{SlotMut, SlotRef, Tick};

use super::super::access::{Access, Part};
use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::SystemParam;
use crate::resources::{Occupied, Resource, ResourceId};
use crate::tracking::{Mut, Ref};
use crate::world::{SharedWorld, World};

pub use builder::{
    FilteredResourcesBuilder, FilteredResourcesMutBuilder, FilteredResourcesMutParamBuilder,
    FilteredResourcesParamBuilder,
};

mod builder;

/// A resource that could not be had.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceFetchError {
    /// The world has none; the name of its type.
    DoesNotExist(String),
    /// The builder did not name it, or not for writing; the name of its type.
    NoResourceAccess(String),
}

impl fmt::Display for ResourceFetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DoesNotExist(name) => {
                write!(f, "the world has no resource `{name}`: insert it with `insert_resource`")
            }
            Self::NoResourceAccess(name) => write!(
                f,
                "the resource `{name}` was not asked for, or not for this use: name it with `add_read` or `add_write` \
                 where the parameter is built"
            ),
        }
    }
}

impl Error for ResourceFetchError {}

/// One resource that may be used.
#[derive(Clone, Copy)]
struct Named {
    id: ResourceId,
    of: TypeId,
    writes: bool,
}

/// What a parameter may use.
#[derive(Default)]
pub struct NamedResources {
    named: Vec<Named>,
    access: Access,
}

impl NamedResources {
    fn add(&mut self, world: &World, id: ResourceId, writes: bool) {
        let Some(of) = world.resources.type_of(id) else { return };
        let part = Part::Resource(id);
        if writes {
            self.access.write(part);
        } else {
            self.access.read(part);
        }
        match self.named.iter_mut().find(|named| named.id == id) {
            Some(named) => named.writes |= writes,
            None => self.named.push(Named { id, of, writes }),
        }
    }

    fn add_all(&mut self, world: &World, writes: bool) {
        world.resources.ids_by_name().into_iter().for_each(|id| self.add(world, id, writes));
    }

    fn declared<P>(self, world: &World, meta: &mut SystemMeta) -> Self {
        meta.declare(world, short_type::<P>(), self.access.clone());
        self
    }
}

/// Which of the resources is meant.
#[derive(Clone, Copy)]
enum Wanted {
    Type(TypeId, fn() -> String),
    Number(ResourceId),
}

impl Wanted {
    fn of<R: Resource>() -> Self {
        Self::Type(TypeId::of::<R>(), short_type::<R>)
    }

    fn is(self, named: Named) -> bool {
        match self {
            Self::Type(of, _) => named.of == of,
            Self::Number(id) => named.id == id,
        }
    }

    fn name(self) -> String {
        match self {
            Self::Type(_, name) => name(),
            Self::Number(id) => format!("number {}", id.index()),
        }
    }
}

/// The resources that a builder named, to be read.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::system::FilteredResourcesParamBuilder;
///
/// #[derive(Resource)]
/// struct Gravity(f32);
/// #[derive(Resource)]
/// struct Wind(f32);
///
/// fn show(resources: FilteredResources) {
///     assert_eq!(resources.get::<Gravity>().unwrap().0, 9.81);
///     assert!(!resources.has_read::<Wind>() && resources.get::<Wind>().is_err());
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Gravity(9.81));
/// world.insert_resource(Wind(3.0));
/// let system = (FilteredResourcesParamBuilder::new(|builder| {
///     builder.add_read::<Gravity>();
/// }),)
///     .build_state(&mut world)
///     .build_system(show);
/// world.run_system_once(system).unwrap();
/// ```
#[derive(Clone)]
pub struct FilteredResources<'w, 's> {
    lent: Vec<(Named, Option<&'w Occupied>)>,
    access: &'s Access,
    since: Tick,
}

impl<'w> FilteredResources<'w, '_> {
    /// What may be used.
    pub fn access(&self) -> &Access {
        self.access
    }

    /// Whether the builder named the resource; the world may lack it all the same.
    pub fn has_read<R: Resource>(&self) -> bool {
        self.lent.iter().any(|(named, _)| named.of == TypeId::of::<R>())
    }

    /// A resource.
    ///
    /// # Errors
    /// When the builder did not name it, or the world lacks it.
    pub fn get<R: Resource>(&self) -> Result<Ref<'w, R>, ResourceFetchError> {
        let (value, ticks) = self.find(Wanted::of::<R>())?.parts();
        Ok(Ref::new(value, ticks.added, ticks.changed, self.since))
    }

    /// As [`FilteredResources::get`], by the resource's number.
    ///
    /// # Errors
    /// When the builder did not name it, or the world lacks it.
    pub fn get_by_id(&self, id: ResourceId) -> Result<&'w dyn Any, ResourceFetchError> {
        self.find(Wanted::Number(id)).map(Occupied::value)
    }

    fn find(&self, wanted: Wanted) -> Result<&'w Occupied, ResourceFetchError> {
        match self.lent.iter().find(|(named, _)| wanted.is(*named)) {
            Some((_, Some(occupied))) => Ok(occupied),
            Some((_, None)) => Err(ResourceFetchError::DoesNotExist(wanted.name())),
            None => Err(ResourceFetchError::NoResourceAccess(wanted.name())),
        }
    }
}

/// A resource that is lent for one run.
enum Lent<'w> {
    Read(Option<&'w Occupied>),
    Write(Option<&'w mut Occupied>),
}

impl Lent<'_> {
    fn reborrow(&mut self) -> Lent<'_> {
        match self {
            Self::Read(occupied) => Lent::Read(*occupied),
            Self::Write(occupied) => Lent::Write(occupied.as_deref_mut()),
        }
    }

    fn read(&self) -> Option<&Occupied> {
        match self {
            Self::Read(occupied) => *occupied,
            Self::Write(occupied) => occupied.as_deref(),
        }
    }
}

/// The resources that a builder named, to be read or written.
///
/// ```
/// use phalanx::prelude::*;
/// use phalanx::system::FilteredResourcesMutParamBuilder;
///
/// #[derive(Resource)]
/// struct Gravity(f32);
///
/// fn change(mut resources: FilteredResourcesMut) {
///     resources.get_mut::<Gravity>().unwrap().0 = 1.62;
/// }
///
/// let mut world = World::new();
/// world.insert_resource(Gravity(9.81));
/// let system = (FilteredResourcesMutParamBuilder::new(|builder| {
///     builder.add_write::<Gravity>();
/// }),)
///     .build_state(&mut world)
///     .build_system(change);
/// world.run_system_once(system).unwrap();
/// assert_eq!(world.resource::<Gravity>().0, 1.62);
/// ```
pub struct FilteredResourcesMut<'w, 's> {
    lent: Vec<(Named, Lent<'w>)>,
    access: &'s Access,
    since: Tick,
    now: Tick,
}

impl<'w, 's> FilteredResourcesMut<'w, 's> {
    /// The same resources, to be read.
    pub fn as_readonly(&self) -> FilteredResources<'_, 's> {
        let lent = self.lent.iter().map(|(named, lent)| (*named, lent.read())).collect();
        FilteredResources { lent, access: self.access, since: self.since }
    }

    /// The same access for a shorter time.
    pub fn reborrow(&mut self) -> FilteredResourcesMut<'_, 's> {
        let Self { lent, access, since, now } = self;
        let lent = lent.iter_mut().map(|(named, lent)| (*named, lent.reborrow())).collect();
        FilteredResourcesMut { lent, access, since: *since, now: *now }
    }

    /// What may be used.
    pub fn access(&self) -> &Access {
        self.access
    }

    /// Whether the builder named the resource; the world may lack it all the same.
    pub fn has_read<R: Resource>(&self) -> bool {
        self.lent.iter().any(|(named, _)| named.of == TypeId::of::<R>())
    }

    /// Whether the builder named the resource for writing; the world may lack it all the same.
    pub fn has_write<R: Resource>(&self) -> bool {
        self.lent.iter().any(|(named, _)| named.of == TypeId::of::<R>() && named.writes)
    }

    /// A resource.
    ///
    /// # Errors
    /// When the builder did not name it, or the world lacks it.
    pub fn get<R: Resource>(&self) -> Result<Ref<'_, R>, ResourceFetchError> {
        self.as_readonly().get()
    }

    /// As [`FilteredResourcesMut::get`], by the resource's number.
    ///
    /// # Errors
    /// When the builder did not name it, or the world lacks it.
    pub fn get_by_id(&self, id: ResourceId) -> Result<&dyn Any, ResourceFetchError> {
        self.as_readonly().get_by_id(id)
    }

    /// A resource, to be written. It counts as changed when it is written, not before.
    ///
    /// # Errors
    /// When the builder did not name it for writing, or the world lacks it.
    pub fn get_mut<R: Resource>(&mut self) -> Result<Mut<'_, R>, ResourceFetchError> {
        self.reborrow().into_mut()
    }

    /// As [`FilteredResourcesMut::get_mut`], by the resource's number; it counts as changed at once.
    ///
    /// # Errors
    /// When the builder did not name it for writing, or the world lacks it.
    pub fn get_mut_by_id(&mut self, id: ResourceId) -> Result<&mut dyn Any, ResourceFetchError> {
        self.reborrow().into_mut_by_id(id)
    }

    /// As [`FilteredResourcesMut::get_mut`], for as long as the parameter could be used.
    ///
    /// # Errors
    /// When the builder did not name it for writing, or the world lacks it.
    pub fn into_mut<R: Resource>(self) -> Result<Mut<'w, R>, ResourceFetchError> {
        let (since, now) = (self.since, self.now);
        Ok(self.find(Wanted::of::<R>())?.lend(since, now))
    }

    /// As [`FilteredResourcesMut::get_mut_by_id`], for as long as the parameter could be used.
    ///
    /// # Errors
    /// When the builder did not name it for writing, or the world lacks it.
    pub fn into_mut_by_id(self, id: ResourceId) -> Result<&'w mut dyn Any, ResourceFetchError> {
        let now = self.now;
        Ok(self.find(Wanted::Number(id))?.write(now))
    }

    fn find(self, wanted: Wanted) -> Result<&'w mut Occupied, ResourceFetchError> {
        match self.lent.into_iter().find(|(named, _)| wanted.is(*named)) {
            Some((_, Lent::Write(Some(occupied)))) => Ok(occupied),
            Some((_, Lent::Write(None))) => Err(ResourceFetchError::DoesNotExist(wanted.name())),
            _ => Err(ResourceFetchError::NoResourceAccess(wanted.name())),
        }
    }
}

/// The flags of resources that are read.
pub struct ReadGuard<'w> {
    slots: Vec<(Named, SlotRef<'w, Option<Occupied>>)>,
    access: &'w Access,
    run: Run<'w>,
}

impl SystemParam for FilteredResources<'_, '_> {
    type State = NamedResources;
    type Guard<'w> = ReadGuard<'w>;
    type Item<'g> = FilteredResources<'g, 'g>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> NamedResources {
        NamedResources::default().declared::<Self>(world, meta)
    }
    fn lock<'w>(state: &'w NamedResources, world: &'w SharedWorld<'w>, run: Run<'w>) -> ReadGuard<'w> {
        let slots = state.named.iter().map(|named| (*named, read(*named, world, run))).collect();
        ReadGuard { slots, access: &state.access, run }
    }
    fn item<'g>(guard: &'g mut ReadGuard<'_>) -> FilteredResources<'g, 'g> {
        let lent = guard.slots.iter().map(|(named, slot)| (*named, slot.as_ref())).collect();
        FilteredResources { lent, access: guard.access, since: guard.run.since }
    }
}

/// The flag of a resource.
enum Slot<'w> {
    Read(SlotRef<'w, Option<Occupied>>),
    Write(SlotMut<'w, Option<Occupied>>),
}

/// The flags of resources that are read or written.
pub struct WriteGuard<'w> {
    slots: Vec<(Named, Slot<'w>)>,
    access: &'w Access,
    run: Run<'w>,
}

impl SystemParam for FilteredResourcesMut<'_, '_> {
    type State = NamedResources;
    type Guard<'w> = WriteGuard<'w>;
    type Item<'g> = FilteredResourcesMut<'g, 'g>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> NamedResources {
        NamedResources::default().declared::<Self>(world, meta)
    }
    fn lock<'w>(state: &'w NamedResources, world: &'w SharedWorld<'w>, run: Run<'w>) -> WriteGuard<'w> {
        let slots = state.named.iter().map(|named| {
            let slot = match named.writes {
                true => Slot::Write(world.resources.write(named.id).unwrap_or_else(|| busy(*named, run))),
                false => Slot::Read(read(*named, world, run)),
            };
            (*named, slot)
        });
        WriteGuard { slots: slots.collect(), access: &state.access, run }
    }
    fn item<'g>(guard: &'g mut WriteGuard<'_>) -> FilteredResourcesMut<'g, 'g> {
        let lent = guard.slots.iter_mut().map(|(named, slot)| {
            let lent = match slot {
                Slot::Read(slot) => Lent::Read(slot.as_ref()),
                Slot::Write(slot) => Lent::Write(slot.as_mut()),
            };
            (*named, lent)
        });
        let Run { since, now, .. } = guard.run;
        FilteredResourcesMut { lent: lent.collect(), access: guard.access, since, now }
    }
}

fn read<'w>(named: Named, world: &'w SharedWorld<'w>, run: Run<'w>) -> SlotRef<'w, Option<Occupied>> {
    world.resources.read(named.id).unwrap_or_else(|| busy(named, run))
}

#[cold]
fn busy(named: Named, run: Run<'_>) -> ! {
    run.busy(&format_args!("resource number {}", named.id.index()))
}
