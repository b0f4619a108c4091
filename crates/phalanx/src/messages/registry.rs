//! The channels of a world, each with the type of its messages erased.
//!
//! Channels are numbered in the order their types were first seen, and whatever goes through all of
//! them goes by number; the index by type is only ever looked up. The end of a frame takes two rounds:
//! first every channel sets its expired messages aside, then they are dropped, so that a message which
//! panics in its drop finds all channels in the new frame.
//! This file does not know when a frame ends: the world's owner says so.

use std::any::{Any, TypeId};

use hashbrown::HashMap;
use phalanx_store::sorting;
use phalanx_store::{FirstPanic, SharedSlots, SlotMut, SlotRef, Slots};

use super::{Message, Messages};
use crate::capture::{CanCopy, Digest, Shown};
use crate::resources::SharedResources;

/// The number of a message type in one world, given when the type is first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(usize);

impl ChannelId {
    /// The number, from 0.
    pub fn index(self) -> usize {
        self.0
    }
}

/// The message channels of a world.
pub struct MessageRegistry {
    index: HashMap<TypeId, ChannelId>,
    /// The types' names, by number.
    pub(super) names: Vec<&'static str>,
    /// How the types are saved, by number.
    #[cfg(feature = "serde")]
    pub(super) saving: Vec<Option<super::MessageSaving>>,
    pub(super) channels: Slots<Box<dyn Channel>>,
}

const TYPED: &str = "a channel has the type whose id it is";

impl MessageRegistry {
    pub(crate) fn new() -> Self {
        Self {
            index: HashMap::new(),
            names: Vec::new(),
            #[cfg(feature = "serde")]
            saving: Vec::new(),
            channels: Slots::new(),
        }
    }

    /// Makes a channel for the type if there is none yet, and returns its number.
    pub fn register<M: Message>(&mut self) -> ChannelId {
        let Self { index, names, channels, .. } = self;
        #[cfg(feature = "serde")]
        let saving = &mut self.saving;
        *index.entry(TypeId::of::<M>()).or_insert_with(|| {
            #[cfg(feature = "serde")]
            saving.push(M::saving());
            names.push(std::any::type_name::<M>());
            ChannelId(channels.push(Box::new(Messages::<M>::new())))
        })
    }

    /// The number of the type's channel, if there is one.
    pub fn id<M: Message>(&self) -> Option<ChannelId> {
        self.index.get(&TypeId::of::<M>()).copied()
    }

    /// The channel of the type, if there is one.
    pub fn get<M: Message>(&self) -> Option<&Messages<M>> {
        self.channels.get(self.id::<M>()?.0).map(|channel| typed(&**channel))
    }

    /// The channel of the type, if there is one, for writing.
    pub fn get_mut<M: Message>(&mut self) -> Option<&mut Messages<M>> {
        let id = self.id::<M>()?;
        Some(self.channel_mut(id))
    }

    /// The channel of the type, made if there is none yet, for writing.
    pub fn get_or_register<M: Message>(&mut self) -> &mut Messages<M> {
        let id = self.register::<M>();
        self.channel_mut(id)
    }

    /// Ends the frame of every channel, in the order they were made.
    pub fn end_frame_all(&mut self) {
        for channel in self.channels.iter_mut() {
            channel.expire();
        }
        for channel in self.channels.iter_mut() {
            channel.sweep();
        }
    }

    /// Drops all messages, though some panic.
    pub(crate) fn drop_all(&mut self, panics: &mut FirstPanic) {
        self.channels.iter_mut().for_each(|channel| channel.drop_all(panics));
    }

    /// How many channels there are.
    pub fn len(&self) -> usize {
        self.channels.len()
    }

    /// Whether there is no channel.
    pub fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    fn channel_mut<M: Message>(&mut self, id: ChannelId) -> &mut Messages<M> {
        typed_mut(&mut **self.channels.get_mut(id.0).expect("a number is given with its channel"))
    }

    /// The name of the message type with this number.
    pub fn name(&self, id: ChannelId) -> Option<&'static str> {
        self.names.get(id.0).copied()
    }

    /// The numbers of all channels, in the order of their types' names: the same in every world with the same types.
    pub(crate) fn ids_by_name(&self) -> Vec<ChannelId> {
        let mut ids: Vec<ChannelId> = (0..self.names.len()).map(ChannelId).collect();
        sorting::sort_by_key(&mut ids, |id| self.names[id.0]);
        ids
    }

    /// The types that cannot be copied.
    pub(crate) fn uncopied(&self) -> impl Iterator<Item = &'static str> + '_ {
        let impossible =
            self.channels.iter().zip(&self.names).filter(|(channel, _)| channel.can_copy() == CanCopy::No);
        impossible.map(|(_, name)| *name)
    }

    /// Copies of all channels that can be copied, by number.
    pub(crate) fn image(&self) -> ChannelsImage {
        ChannelsImage(self.channels.iter().map(|channel| channel.duplicate()).collect())
    }

    /// Copies for all channels as they were, those that came since without messages.
    pub(crate) fn prepare(&self, image: &ChannelsImage) -> Vec<Option<Box<dyn Channel>>> {
        let copies = self.channels.iter().enumerate().map(|(at, channel)| match image.0.get(at) {
            Some(copy) => copy.as_ref()?.duplicate(),
            None => (channel.can_copy() == CanCopy::Yes).then(|| channel.emptied()),
        });
        copies.collect()
    }

    /// Exchanges all channels with their copies.
    pub(crate) fn exchange(&mut self, copies: &mut [Option<Box<dyn Channel>>]) {
        for (channel, copy) in self.channels.iter_mut().zip(copies) {
            if let Some(copy) = copy {
                channel.exchange(&mut **copy);
            }
        }
    }

    /// A channel, whatever its type.
    pub(crate) fn channel(&self, id: ChannelId) -> Option<&dyn Channel> {
        self.channels.get(id.0).map(|channel| &**channel)
    }

    /// Opens a session in which channels are lent one by one, to those to whom the resources of a world are lent.
    #[inline]
    pub(crate) fn share(&mut self, resources: &SharedResources<'_>) -> SharedChannels<'_> {
        SharedChannels(self.channels.share_as(resources.slots()))
    }

    /// As [`MessageRegistry::share`], for reading alone.
    pub(crate) fn share_read(&self) -> SharedChannels<'_> {
        SharedChannels(self.channels.share_read())
    }
}

/// The channels at one moment, by number.
pub(crate) struct ChannelsImage(Vec<Option<Box<dyn Channel>>>);

/// Channels that threads borrow one by one.
pub(crate) struct SharedChannels<'w>(SharedSlots<'w, Box<dyn Channel>>);

impl SharedChannels<'_> {
    /// A channel; `None` while it is written.
    pub(crate) fn read(&self, id: ChannelId) -> Option<SlotRef<'_, Box<dyn Channel>>> {
        self.0.read(id.0)
    }

    /// A channel, for writing; `None` while it is in use.
    pub(crate) fn write(&self, id: ChannelId) -> Option<SlotMut<'_, Box<dyn Channel>>> {
        self.0.write(id.0)
    }
}

/// The channel as what it is.
pub(crate) fn typed<M: Message>(channel: &dyn Channel) -> &Messages<M> {
    let channel: &dyn Any = channel;
    channel.downcast_ref().expect(TYPED)
}

/// As [`typed`], for writing.
pub(crate) fn typed_mut<M: Message>(channel: &mut dyn Channel) -> &mut Messages<M> {
    let channel: &mut dyn Any = channel;
    channel.downcast_mut().expect(TYPED)
}

/// What a channel does whatever its messages are.
pub(crate) trait Channel: Any + Send + Sync {
    fn expire(&mut self);
    fn sweep(&mut self);
    fn drop_all(&mut self, panics: &mut FirstPanic);
    fn can_copy(&self) -> CanCopy;
    fn duplicate(&self) -> Option<Box<dyn Channel>>;
    /// Exchanges the content with that of a channel of the same type.
    fn exchange(&mut self, other: &mut dyn Channel);
    /// An empty channel of the same type.
    fn emptied(&self) -> Box<dyn Channel>;
    fn digest(&self) -> Option<Result<Digest, Vec<Shown>>>;
    fn show(&self, index: usize) -> Vec<Shown>;
    fn len(&self) -> usize;
}

impl<M: Message> Channel for Messages<M> {
    fn expire(&mut self) {
        Messages::expire(self);
    }

    fn sweep(&mut self) {
        Messages::sweep(self);
    }

    fn drop_all(&mut self, panics: &mut FirstPanic) {
        Messages::drop_all(self, panics);
    }

    fn can_copy(&self) -> CanCopy {
        Messages::can_copy(self)
    }

    fn duplicate(&self) -> Option<Box<dyn Channel>> {
        Some(Box::new(Messages::duplicate(self)?))
    }

    fn exchange(&mut self, other: &mut dyn Channel) {
        Messages::exchange(self, typed_mut(other));
    }

    fn emptied(&self) -> Box<dyn Channel> {
        Box::new(Self::with_keep(self.keep()))
    }

    fn digest(&self) -> Option<Result<Digest, Vec<Shown>>> {
        Messages::digest(self)
    }

    fn show(&self, index: usize) -> Vec<Shown> {
        Messages::show(self, index)
    }

    fn len(&self) -> usize {
        Messages::len(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Cursor;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::{Arc, Mutex};

    #[derive(phalanx_derive::Message, Debug, PartialEq)]
    struct Hit(u32);

    /// Writes down that it was dropped; panics then, when set to.
    #[derive(phalanx_derive::Message)]
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

    // O-250: one channel per type, whichever call asks first.
    #[test]
    fn each_type_has_one_channel() {
        let mut registry = MessageRegistry::new();
        assert!(registry.is_empty());
        assert!(registry.get::<Hit>().is_none() && registry.get_mut::<Hit>().is_none());
        assert_eq!(registry.id::<Hit>(), None);
        let hit = registry.register::<Hit>();
        registry.get_mut::<Hit>().expect("registered").write(Hit(1));
        assert_eq!(registry.register::<Hit>(), hit);
        registry.get_or_register::<Noisy<1>>();
        assert_eq!(registry.get_or_register::<Hit>().as_slice(), [Hit(1)]);
        assert_eq!((hit.index(), registry.id::<Noisy<1>>().map(ChannelId::index)), (0, Some(1)));
        assert_eq!((registry.len(), registry.is_empty()), (2, false));
    }

    // O-248, O-260.
    #[test]
    fn the_end_of_a_frame_reaches_every_channel_and_respects_its_keep() {
        let mut registry = MessageRegistry::new();
        let log = Arc::default();
        registry.get_or_register::<Hit>().set_keep(1);
        registry.get_or_register().write(Hit(1));
        registry.get_or_register().write(Noisy::<1> { log: Arc::clone(&log), panics: false });
        registry.get_or_register::<Noisy<1>>().set_keep(0);
        registry.end_frame_all();
        assert_eq!(registry.get::<Hit>().map(Messages::len), Some(1));
        assert_eq!(registry.get::<Noisy<1>>().map(Messages::len), Some(0));
        registry.end_frame_all();
        assert_eq!(registry.get::<Hit>().map(Messages::len), Some(0));
    }

    // Determinism: the order comes from registration, not from a hash.
    #[test]
    fn messages_are_dropped_channel_by_channel_in_registration_order() {
        let mut registry = MessageRegistry::new();
        let log = Arc::default();
        let fill = |registry: &mut MessageRegistry| {
            registry.get_or_register().write(Noisy::<3> { log: Arc::clone(&log), panics: false });
            registry.get_or_register().write(Noisy::<1> { log: Arc::clone(&log), panics: false });
            registry.get_or_register().write(Noisy::<2> { log: Arc::clone(&log), panics: false });
        };
        fill(&mut registry);
        registry.get_or_register::<Noisy<1>>().set_keep(0);
        registry.get_or_register::<Noisy<2>>().set_keep(0);
        registry.get_or_register::<Noisy<3>>().set_keep(0);
        registry.end_frame_all();
        fill(&mut registry);
        drop(registry);
        assert_eq!(*log.lock().expect("not poisoned"), [3, 1, 2, 3, 1, 2]);
    }

    // User code runs last: a panic in one channel keeps no other in the old frame, and drops nothing twice.
    #[test]
    fn a_message_that_panics_in_drop_finds_every_channel_in_the_new_frame() {
        let mut registry = MessageRegistry::new();
        let log = Arc::default();
        registry.get_or_register().write(Noisy::<1> { log: Arc::clone(&log), panics: true });
        registry.get_or_register().write(Noisy::<2> { log: Arc::clone(&log), panics: false });
        registry.get_or_register::<Noisy<1>>().set_keep(0);
        registry.get_or_register::<Noisy<2>>().set_keep(0);
        assert!(catch_unwind(AssertUnwindSafe(|| registry.end_frame_all())).is_err());
        let mut cursor = Cursor::default();
        let late = registry.get_mut::<Noisy<2>>().expect("registered");
        assert_eq!(late.len(), 0);
        late.write(Noisy::<2> { log: Arc::clone(&log), panics: false });
        assert_eq!(late.read(&mut cursor).count(), 1);
        registry.end_frame_all();
        assert_eq!(*log.lock().expect("not poisoned"), [1, 2, 2]);
    }
}
