//! Resources in checkpoints.
//!
//! A value is copied when it was lent for writing since the last copy, whether or not its tick says that it changed; else
//! the copy is shared. Types that checkpoints skip stay as they are.

use std::any::Any;
use std::sync::Arc;

use phalanx_store::{FirstPanic, Tick};

use super::{Occupied, Resource, ResourceTicks, Resources};
use crate::capture::{CanCopy, Copying};

/// A copy of a value.
pub(crate) struct Copied(Box<dyn Any + Send + Sync>);

/// The values at one moment, by number.
pub(crate) struct ResourcesImage(Vec<Option<(Arc<Copied>, ResourceTicks)>>);

/// Copies for slots that will not be as they are.
pub(crate) struct Prepared(Vec<Option<Box<dyn Any + Send + Sync>>>);

impl Prepared {
    /// The slots that get another value.
    pub(crate) fn renewed(&self) -> Vec<usize> {
        self.0.iter().enumerate().filter(|(_, fresh)| fresh.is_some()).map(|(at, _)| at).collect()
    }
}

impl Resources {
    /// Marks values as changed.
    pub(crate) fn mark_changed(&mut self, slots: &[usize], now: Tick) {
        for &at in slots {
            if let Some(Some(occupied)) = self.slots.get_mut(at) {
                occupied.ticks.changed = now;
            }
        }
    }

    /// Says how values of a type come into checkpoints.
    pub(crate) fn set_copying<R: Resource>(&mut self, copying: Copying<R>) {
        let id = self.register::<R>();
        self.captures[id.0].set_copying(Box::new(copying));
    }

    /// The types that cannot be copied.
    pub(crate) fn uncopied(&self) -> impl Iterator<Item = &'static str> + '_ {
        let impossible = |(at, _): &(usize, &&'static str)| self.captures[*at].copying() == CanCopy::No;
        self.names.iter().enumerate().filter(impossible).map(|(_, name)| *name)
    }

    /// Copies all values that were lent since they were last copied.
    pub(crate) fn image(&mut self) -> ResourcesImage {
        let Self { captures, slots, .. } = self;
        let values = slots.iter_mut().zip(captures).map(|(slot, capture)| {
            let occupied = slot.as_mut()?;
            let copy = match &occupied.copy {
                Some(copy) => Arc::clone(copy),
                None => Arc::new(Copied(capture.copy(&*occupied.value)?)),
            };
            occupied.copy = Some(Arc::clone(&copy));
            Some((copy, occupied.ticks))
        });
        ResourcesImage(values.collect())
    }

    /// Copies what the slots will need.
    pub(crate) fn prepare(&self, image: &ResourcesImage) -> Prepared {
        let copies = self.slots.iter().zip(&self.captures).enumerate().map(|(at, (slot, capture))| {
            let (copy, _) = image.0.get(at)?.as_ref()?;
            let there = slot.as_ref().and_then(|occupied| occupied.copy.as_ref());
            let is_there = there.is_some_and(|there| Arc::ptr_eq(there, copy));
            if is_there { None } else { capture.copy(&*copy.0) }
        });
        Prepared(copies.collect())
    }

    /// Makes all values what they were, and returns those that are gone.
    pub(crate) fn restore(&mut self, image: &ResourcesImage, prepared: Prepared) -> Gone {
        let mut gone = Vec::new();
        let Self { captures, slots, .. } = self;
        for (at, ((slot, capture), fresh)) in slots.iter_mut().zip(captures).zip(prepared.0).enumerate() {
            if capture.copying() == CanCopy::Skipped {
                continue;
            }
            match (image.0.get(at).and_then(Option::as_ref), fresh, &mut *slot) {
                (None, ..) => gone.extend(slot.take()),
                (Some((_, ticks)), None, Some(occupied)) => occupied.ticks = *ticks,
                (Some((copy, ticks)), Some(value), _) => {
                    let occupied =
                        Occupied { value: value.into(), ticks: *ticks, copy: Some(Arc::clone(copy)) };
                    gone.extend(slot.replace(occupied));
                }
                (Some(_), None, None) => {}
            }
        }
        Gone(gone)
    }
}

/// Values that are no part of the world any more.
pub(crate) struct Gone(Vec<Occupied>);

impl Gone {
    pub(crate) fn drop_all(self, panics: &mut FirstPanic) {
        self.0.into_iter().for_each(|value| panics.guard(|| drop(value)));
    }
}
