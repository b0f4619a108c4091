//! Resources: values of which a world has at most one per type, such as a score, a clock or the settings.
//!
//! ```
//! use phalanx::prelude::*;
//!
//! #[derive(Resource, Default)]
//! struct Score(u32);
//!
//! fn count(mut score: ResMut<Score>) {
//!     score.0 += 1;
//! }
//!
//! let mut app = App::new();
//! app.init_resource::<Score>().add_systems(Update, count);
//! app.step(0.1);
//! assert_eq!(app.world().resource::<Score>().0, 1);
//! ```

//   index: TypeId -> ResourceId      only ever looked up, never walked
//   slots: [value?, ticks], ...      one per type seen, in the order they were first seen
//
// Invariant: a slot holds nothing or a value of the type whose id it is; a slot, once given to a type,
// stays its own. Whatever touches all values, dropping included, goes by slot, so nothing depends on
// hash order. User code runs last: an old value is handed out, or dropped, when the new one is in place.

use std::any::{Any, TypeId};
use std::sync::Arc;

use hashbrown::HashMap;
use phalanx_store::sorting;
use phalanx_store::{
    BoxedValue, FirstPanic, RowTicks, SharedSlots, SlotMut, SlotRef, Slots, Stamp, ThreadSafe, Tick,
};

use crate::capture::{CanCopy, Capture, Copying, Digest, DigestHasher, Shown};
use crate::tracking::{ComponentTicks, Mut, Readable, Tracked};

pub(crate) use image::ResourcesImage;

mod by_number;
mod image;
#[cfg(feature = "serde")]
pub use saving::ResourceSaving;
#[cfg(feature = "serde")]
pub(crate) use saving::{LoadedResource, SavedAs};

#[cfg(feature = "serde")]
mod saving;

/// A type of which a world holds one value, or none.
///
/// ```
/// # use phalanx::prelude::*;
/// #[derive(Resource, Default)]
/// struct Score(u32);
///
/// let mut world = World::new();
/// world.init_resource::<Score>();
/// world.resource_mut::<Score>().0 += 1;
/// assert_eq!(world.resource::<Score>().0, 1);
/// assert!(world.remove_resource::<Score>().is_some());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource",
    label = "expected a resource",
    note = "add `#[derive(Resource)]` to `{Self}`"
)]
pub trait Resource: Tracked<Track = RowTicks> + for<'a> Readable<Ref<'a> = &'a Self> + ThreadSafe {
    /// What checkpoints and digests can do with the value. Derived; nothing by default.
    fn capture() -> Capture<Self> {
        Capture::none()
    }

    /// What to do when the world lacks the resource, in words.
    #[doc(hidden)]
    fn how_to_add() -> String {
        "insert it with `insert_resource`".to_owned()
    }

    /// How the value is saved, with `#[resource(save)]`.
    #[cfg(feature = "serde")]
    #[doc(hidden)]
    fn saving() -> Option<ResourceSaving> {
        None
    }
}

/// The number of a resource type in one world, given when the type is first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(usize);

impl ResourceId {
    /// The number, from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// When a resource came and when it was last written.
pub type ResourceTicks = ComponentTicks;

/// The resources of a world.
pub struct Resources {
    index: HashMap<TypeId, ResourceId>,
    /// The types' names, by number.
    names: Vec<&'static str>,
    /// What can be done with the values, by number.
    captures: Vec<Box<dyn AnyValue>>,
    /// How the types are saved, by number.
    #[cfg(feature = "serde")]
    saving: Vec<Option<ResourceSaving>>,
    slots: Slots<Option<Occupied>>,
}

pub(crate) struct Occupied {
    value: BoxedValue,
    ticks: ResourceTicks,
    /// The copy that the value is equal to, until it is lent for writing.
    copy: Option<Arc<image::Copied>>,
}

const TYPED: &str = "a slot holds a value of the type whose id it is";

impl Resources {
    pub(crate) fn new() -> Self {
        Self {
            index: HashMap::new(),
            names: Vec::new(),
            captures: Vec::new(),
            #[cfg(feature = "serde")]
            saving: Vec::new(),
            slots: Slots::new(),
        }
    }

    /// Gives the type a number if it has none yet.
    pub fn register<R: Resource>(&mut self) -> ResourceId {
        let Self { index, names, captures, slots, .. } = self;
        #[cfg(feature = "serde")]
        let saving = &mut self.saving;
        *index.entry(TypeId::of::<R>()).or_insert_with(|| {
            names.push(std::any::type_name::<R>());
            captures.push(Box::new(R::capture()));
            #[cfg(feature = "serde")]
            saving.push(R::saving());
            ResourceId(slots.push(None))
        })
    }

    /// The numbers of all types seen, in the order of their names: the same in every world with the same types.
    pub(crate) fn ids_by_name(&self) -> Vec<ResourceId> {
        let mut ids: Vec<ResourceId> = (0..self.names.len()).map(ResourceId).collect();
        sorting::sort_by_key(&mut ids, |id| self.names[id.0]);
        ids
    }

    /// The digest of a value: `None` where there is no value, an error where its type has no digest.
    pub(crate) fn digest(&self, id: ResourceId) -> Option<Result<Digest, Vec<Shown>>> {
        let occupied = self.slots.get(id.0)?.as_ref()?;
        let capture = &self.captures[id.0];
        if capture.is_skipped() {
            return None;
        }
        Some(capture.digest(&*occupied.value).ok_or_else(|| capture.show(&*occupied.value)))
    }

    /// The fields of a value, if there is one.
    pub(crate) fn show(&self, id: ResourceId) -> Option<Vec<Shown>> {
        let occupied = self.slots.get(id.0)?.as_ref()?;
        Some(self.captures[id.0].show(&*occupied.value))
    }

    /// The number of the type, if it was ever registered or inserted.
    pub fn id<R: Resource>(&self) -> Option<ResourceId> {
        self.index.get(&TypeId::of::<R>()).copied()
    }

    /// Sets the value and returns the one it replaces.
    ///
    /// A replaced value counts as changed, not as added.
    pub fn insert<R: Resource>(&mut self, value: R, now: Tick) -> Option<R> {
        let id = self.register::<R>();
        match self.slot_mut(id) {
            Some(occupied) => {
                occupied.ticks.changed = now;
                Some(std::mem::replace(occupied.value_mut(), value))
            }
            vacant => {
                *vacant = Some(Occupied::new(value, now));
                None
            }
        }
    }

    /// Takes the value out.
    pub fn remove<R: Resource>(&mut self) -> Option<R> {
        let id = self.id::<R>()?;
        let occupied = self.slot_mut(id).take()?;
        Some(*occupied.value.into_box().downcast().expect(TYPED))
    }

    /// Drops all values, though some panic.
    pub(crate) fn drop_all(&mut self, panics: &mut FirstPanic) {
        self.slots.iter_mut().for_each(|slot| panics.guard(|| drop(slot.take())));
    }

    /// Whether there is a value.
    pub fn contains<R: Resource>(&self) -> bool {
        self.slot(TypeId::of::<R>()).is_some()
    }

    /// The value.
    pub fn get<R: Resource>(&self) -> Option<&R> {
        self.get_with_ticks().map(|(value, _)| value)
    }

    /// The value, for writing: the first write sets its tick to `now`, and what came after `since` is new.
    pub fn get_mut<R: Resource>(&mut self, since: Tick, now: Tick) -> Option<Mut<'_, R>> {
        let id = self.id::<R>()?;
        self.slot_mut(id).as_mut().map(|occupied| occupied.lend(since, now))
    }

    /// As [`Resources::get_mut`]; where there is none, `make` gives the value.
    pub fn get_or_insert_with<R: Resource>(
        &mut self,
        since: Tick,
        now: Tick,
        make: impl FnOnce() -> R,
    ) -> Mut<'_, R> {
        let id = self.register::<R>();
        self.slot_mut(id).get_or_insert_with(|| Occupied::new(make(), now)).lend(since, now)
    }

    /// Takes the value out, with its ticks, to be put back by [`Resources::put_back`].
    pub(crate) fn take<R: Resource>(&mut self) -> Option<(ResourceId, Occupied)> {
        let id = self.id::<R>()?;
        Some((id, self.slot_mut(id).take()?))
    }

    /// Puts a value back where it was taken from, and returns one that came there meanwhile.
    pub(crate) fn put_back(&mut self, id: ResourceId, taken: Occupied) -> Option<Occupied> {
        self.slot_mut(id).replace(taken)
    }

    /// The value and its ticks.
    pub fn get_with_ticks<R: Resource>(&self) -> Option<(&R, ResourceTicks)> {
        let occupied = self.slot(TypeId::of::<R>())?;
        Some((occupied.value.downcast_ref().expect(TYPED), occupied.ticks))
    }

    /// The value and its ticks, which the caller sets when it does write.
    pub fn get_mut_with_ticks<R: Resource>(&mut self) -> Option<(&mut R, &mut ResourceTicks)> {
        let id = self.id::<R>()?;
        self.slot_mut(id).as_mut().map(Occupied::parts_mut)
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many types have a number.
    pub(crate) fn types(&self) -> usize {
        self.names.len()
    }

    /// The name of the type with this number.
    pub fn name(&self, id: ResourceId) -> Option<&'static str> {
        self.names.get(id.0).copied()
    }

    /// Opens a session in which resources are lent one by one.
    pub(crate) fn share(&mut self) -> SharedResources<'_> {
        SharedResources(self.slots.share())
    }

    /// As [`Resources::share`], for this thread alone.
    #[inline]
    pub(crate) fn share_alone(&mut self) -> SharedResources<'_> {
        SharedResources(self.slots.share_alone())
    }

    /// As [`Resources::share`], for reading alone.
    pub(crate) fn share_read(&self) -> SharedResources<'_> {
        SharedResources(self.slots.share_read())
    }

    fn slot(&self, type_id: TypeId) -> Option<&Occupied> {
        self.slots.get(self.index.get(&type_id)?.0)?.as_ref()
    }

    fn slot_mut(&mut self, id: ResourceId) -> &mut Option<Occupied> {
        self.slots.get_mut(id.0).expect("a number is given with its slot")
    }
}

/// What can be done with a value whose type is erased.
trait AnyValue: Send + Sync {
    fn is_skipped(&self) -> bool;
    fn copying(&self) -> CanCopy;
    /// Says that values are copied by `Clone`, or are not part of checkpoints.
    fn set_copying(&mut self, copying: Box<dyn Any>);
    fn copy(&self, value: &dyn Any) -> Option<Box<dyn Any + Send + Sync>>;
    fn digest(&self, value: &dyn Any) -> Option<Digest>;
    fn show(&self, value: &dyn Any) -> Vec<Shown>;
}

impl<R: Resource> AnyValue for Capture<R> {
    fn is_skipped(&self) -> bool {
        self.digest_skipped
    }

    fn copying(&self) -> CanCopy {
        self.copy.kind()
    }

    fn set_copying(&mut self, copying: Box<dyn Any>) {
        self.copy = *copying.downcast().expect(TYPED);
    }

    fn copy(&self, value: &dyn Any) -> Option<Box<dyn Any + Send + Sync>> {
        let Copying::By(copy) = &self.copy else { return None };
        Some(Box::new(copy.one(value.downcast_ref::<R>().expect(TYPED))))
    }

    fn digest(&self, value: &dyn Any) -> Option<Digest> {
        let mut hasher = DigestHasher::new();
        Capture::digest(self, value.downcast_ref().expect(TYPED), &mut hasher).then(|| hasher.finish())
    }

    fn show(&self, value: &dyn Any) -> Vec<Shown> {
        Capture::show(self, value.downcast_ref().expect(TYPED))
    }
}

/// Resources that threads borrow one by one.
pub(crate) struct SharedResources<'w>(SharedSlots<'w, Option<Occupied>>);

impl SharedResources<'_> {
    /// The session of their slots.
    #[inline]
    pub(crate) fn slots(&self) -> &SharedSlots<'_, Option<Occupied>> {
        &self.0
    }

    /// The slot of a resource; `None` while it is written.
    pub(crate) fn read(&self, id: ResourceId) -> Option<SlotRef<'_, Option<Occupied>>> {
        self.0.read(id.0)
    }

    /// The slot of a resource, for writing; `None` while it is in use.
    pub(crate) fn write(&self, id: ResourceId) -> Option<SlotMut<'_, Option<Occupied>>> {
        self.0.write(id.0)
    }
}

impl Occupied {
    fn new<R: Resource>(value: R, now: Tick) -> Self {
        Self { value: BoxedValue::new(value), ticks: ResourceTicks { added: now, changed: now }, copy: None }
    }

    /// The value, for writing.
    pub(crate) fn lend<R: Resource>(&mut self, since: Tick, now: Tick) -> Mut<'_, R> {
        let (value, ResourceTicks { added, changed }) = self.parts_mut();
        Mut::new(value, Stamp::new(added, changed, since, now))
    }

    fn value_mut<R: Resource>(&mut self) -> &mut R {
        self.copy = None;
        self.value.downcast_mut().expect(TYPED)
    }

    /// The value, without its type.
    pub(crate) fn value(&self) -> &dyn Any {
        &*self.value
    }

    /// As [`Occupied::value`]; it counts as changed at `now`.
    pub(crate) fn write(&mut self, now: Tick) -> &mut dyn Any {
        self.ticks.changed = now;
        self.copy = None;
        &mut *self.value
    }

    /// The value and its ticks.
    pub(crate) fn parts<R: Resource>(&self) -> (&R, ResourceTicks) {
        (self.value.downcast_ref().expect(TYPED), self.ticks)
    }

    /// The value and its ticks, to be written.
    pub(crate) fn parts_mut<R: Resource>(&mut self) -> (&mut R, &mut ResourceTicks) {
        self.copy = None;
        (self.value.downcast_mut().expect(TYPED), &mut self.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, Mutex};

    #[derive(crate::Resource, Debug, PartialEq)]
    struct Score(u32);

    #[derive(crate::Resource, Debug, PartialEq)]
    struct Name(String);

    /// Writes down that it was dropped; panics then, when set to.
    #[derive(crate::Resource)]
    struct Noisy<const N: usize> {
        log: Arc<Mutex<Vec<usize>>>,
        panics: bool,
    }
    impl<const N: usize> Drop for Noisy<N> {
        fn drop(&mut self) {
            self.log.lock().expect("no test panics while it writes").push(N);
            assert!(!self.panics, "told to panic");
        }
    }

    fn at(tick: u64) -> Tick {
        Tick::new(tick)
    }

    fn ticks<R: Resource>(resources: &Resources) -> Option<(Tick, Tick)> {
        resources.get_with_ticks::<R>().map(|(_, ticks)| (ticks.added, ticks.changed))
    }

    // O-261: one value per type.
    #[test]
    fn each_type_has_one_value_of_its_own() {
        let mut resources = Resources::new();
        assert!(resources.is_empty());
        assert_eq!(resources.insert(Score(1), at(1)), None);
        assert_eq!(resources.insert(Name("a".into()), at(1)), None);
        assert_eq!(resources.insert(Score(2), at(1)), Some(Score(1)));
        assert_eq!(resources.get(), Some(&Score(2)));
        assert_eq!(resources.get(), Some(&Name("a".into())));
        assert_eq!((resources.len(), resources.is_empty()), (2, false));
        assert!(resources.contains::<Score>() && resources.contains::<Name>());
    }

    // O-264, O-265: a write is seen by the next read.
    #[test]
    fn writes_are_seen_at_once() {
        let mut resources = Resources::new();
        resources.insert(Score(1), at(1));
        resources.get_mut::<Score>(at(0), at(2)).expect("inserted above").0 = 5;
        assert_eq!(resources.get(), Some(&Score(5)));
    }

    // O-269: an absent resource is told apart by every accessor.
    #[test]
    fn absent_resource_is_none_everywhere() {
        let mut resources = Resources::new();
        for _ in 0..2 {
            assert!(!resources.contains::<Score>());
            assert!(resources.get::<Score>().is_none());
            assert!(resources.get_mut::<Score>(at(0), at(1)).is_none());
            assert!(resources.get_with_ticks::<Score>().is_none());
            assert!(resources.get_mut_with_ticks::<Score>().is_none());
            assert!(resources.remove::<Score>().is_none());
            assert_eq!(resources.len(), 0);
            // The second round: known by number, still without a value.
            resources.register::<Score>();
        }
    }

    #[test]
    fn removed_value_comes_back_and_its_number_stays() {
        let mut resources = Resources::new();
        assert_eq!(resources.id::<Score>(), None);
        let score = resources.register::<Score>();
        let name = resources.register::<Name>();
        assert_eq!((score.index(), name.index()), (0, 1));
        resources.insert(Score(7), at(1));
        assert_eq!(resources.remove(), Some(Score(7)));
        assert_eq!(resources.remove::<Score>(), None);
        resources.insert(Score(8), at(2));
        assert_eq!(resources.id::<Score>(), Some(score));
        assert_eq!(ticks::<Score>(&resources), Some((at(2), at(2))));
    }

    #[test]
    fn replacing_changes_and_does_not_add() {
        let mut resources = Resources::new();
        resources.insert(Score(1), at(3));
        resources.insert(Score(2), at(5));
        assert_eq!(ticks::<Score>(&resources), Some((at(3), at(5))));
        let mut lent = resources.get_mut::<Score>(at(0), at(8)).expect("inserted above");
        lent.bypass_change_detection().0 = 3;
        assert_eq!(ticks::<Score>(&resources), Some((at(3), at(5))), "lent is not written");
        resources.get_mut::<Score>(at(0), at(8)).expect("inserted above").0 = 4;
        assert_eq!(ticks::<Score>(&resources), Some((at(3), at(8))));
    }

    #[test]
    fn reading_changes_nothing_and_ticks_are_left_to_the_caller() {
        let mut resources = Resources::new();
        resources.insert(Score(1), at(3));
        resources.get::<Score>();
        let (score, _) = resources.get_mut_with_ticks::<Score>().expect("inserted above");
        score.0 = 2;
        assert_eq!(ticks::<Score>(&resources), Some((at(3), at(3))));
        let (_, marks) = resources.get_mut_with_ticks::<Score>().expect("inserted above");
        marks.changed = at(9);
        assert_eq!(ticks::<Score>(&resources), Some((at(3), at(9))));
    }

    #[test]
    fn get_or_insert_makes_a_value_only_where_there_is_none() {
        let mut resources = Resources::new();
        assert_eq!(*resources.get_or_insert_with(at(0), at(1), || Score(4)), Score(4));
        let again = resources.get_or_insert_with::<Score>(at(1), at(2), || unreachable!("there is a value"));
        assert_eq!(*again, Score(4));
        assert_eq!(ticks::<Score>(&resources), Some((at(1), at(1))));
    }

    #[test]
    fn a_maker_that_panics_leaves_the_resource_absent() {
        let mut resources = Resources::new();
        let make = || -> Score { panic!("told to panic") };
        let outcome = catch_unwind(AssertUnwindSafe(|| resources.get_or_insert_with(at(0), at(1), make).0));
        assert!(outcome.is_err());
        assert!(!resources.contains::<Score>());
        assert_eq!(resources.insert(Score(1), at(2)), None);
    }

    // Hazard 9, for resources: the new value is in place before the old one is dropped.
    #[test]
    fn old_value_that_panics_in_drop_leaves_the_new_one_in_place() {
        let log = Arc::default();
        let noisy = |panics| Noisy::<1> { log: Arc::clone(&log), panics };
        let mut resources = Resources::new();
        resources.insert(noisy(true), at(1));
        let outcome = catch_unwind(AssertUnwindSafe(|| drop(resources.insert(noisy(false), at(2)))));
        assert!(outcome.is_err());
        assert_eq!(ticks::<Noisy<1>>(&resources), Some((at(1), at(2))));
        drop(resources);
        assert_eq!(*log.lock().expect("not poisoned"), [1, 1]);
    }

    // Determinism: the order of drops does not come from a hash, and one panic spares no other value.
    #[test]
    fn values_are_dropped_in_the_order_their_types_came() {
        let log = Arc::default();
        let mut resources = Resources::new();
        resources.register::<Noisy<4>>();
        resources.insert(Noisy::<3> { log: Arc::clone(&log), panics: false }, at(1));
        resources.insert(Noisy::<1> { log: Arc::clone(&log), panics: true }, at(1));
        resources.insert(Noisy::<2> { log: Arc::clone(&log), panics: false }, at(1));
        resources.insert(Noisy::<4> { log: Arc::clone(&log), panics: false }, at(1));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(resources))).is_err());
        assert_eq!(*log.lock().expect("not poisoned"), [4, 3, 1, 2]);
    }
}
