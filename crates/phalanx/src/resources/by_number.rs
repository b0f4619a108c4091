//! Resources by their numbers, without their types: values are lent, taken and given as [`Any`].
//!
//! The caller that puts a value in has asked whether it has the type of its number.

use std::any::{Any, TypeId};

use phalanx_store::Tick;

use super::{Occupied, ResourceId, ResourceTicks, Resources};

impl Resources {
    /// The value with this number, and its ticks.
    pub(crate) fn get_any(&self, id: ResourceId) -> Option<(&dyn Any, ResourceTicks)> {
        let occupied = self.slots.get(id.0)?.as_ref()?;
        Some((occupied.value(), occupied.ticks))
    }

    /// The value with this number, which counts as changed at `now`.
    pub(crate) fn get_any_mut(&mut self, id: ResourceId, now: Tick) -> Option<&mut dyn Any> {
        Some(self.slots.get_mut(id.0)?.as_mut()?.write(now))
    }

    /// Whether values with this number have a type.
    pub(crate) fn is_of_type(&self, id: ResourceId, of: TypeId) -> bool {
        self.index.get(&of) == Some(&id)
    }

    /// The type whose values have this number.
    pub(crate) fn type_of(&self, id: ResourceId) -> Option<TypeId> {
        // Each number is given once, so one entry has it, wherever it stands in the map.
        self.index.iter().find(|(_, known)| **known == id).map(|(of, _)| *of)
    }

    /// The name of a type that has a number.
    pub(crate) fn name_of(&self, of: TypeId) -> Option<&'static str> {
        self.name(*self.index.get(&of)?)
    }

    /// Sets the value with this number, which has its type, and returns the one it replaces.
    pub(crate) fn insert_any(
        &mut self,
        id: ResourceId,
        value: Box<dyn Any + Send + Sync>,
        now: Tick,
    ) -> Option<Box<dyn Any + Send + Sync>> {
        match self.slot_mut(id) {
            Some(occupied) => {
                occupied.ticks.changed = now;
                occupied.copy = None;
                Some(std::mem::replace(&mut occupied.value, value.into()).into_box())
            }
            vacant => {
                let ticks = ResourceTicks { added: now, changed: now };
                *vacant = Some(Occupied { value: value.into(), ticks, copy: None });
                None
            }
        }
    }

    /// Drops the value with this number.
    pub(crate) fn remove_any(&mut self, id: ResourceId) -> bool {
        self.slots.get_mut(id.0).and_then(Option::take).is_some()
    }

    /// All values, with their numbers and their types' names.
    pub(crate) fn iter_any(&self) -> impl Iterator<Item = (ResourceId, &'static str, &dyn Any)> {
        let named = self.slots.iter().zip(&self.names).enumerate();
        named.filter_map(|(at, (slot, name))| Some((ResourceId(at), *name, slot.as_ref()?.value())))
    }

    /// As [`Resources::iter_any`], for writing.
    pub(crate) fn iter_any_mut(
        &mut self,
        now: Tick,
    ) -> impl Iterator<Item = (ResourceId, &'static str, &mut dyn Any)> {
        let named = self.slots.iter_mut().zip(&self.names).enumerate();
        named.filter_map(move |(at, (slot, name))| Some((ResourceId(at), *name, slot.as_mut()?.write(now))))
    }
}
