//! `Res<Messages<M>>` and `ResMut<Messages<M>>`: the channel of a message type as it stands.
//!
//! Channels are no resources: they are there as soon as a system names their messages, and keep no ticks of their own. Both
//! spellings are parameters all the same, since that is how bevy's programs get at a channel.

use phalanx_store::{SlotMut, SlotRef, Tick};

use super::super::access::{Access, Part};
use super::super::meta::{Run, SystemMeta};
use super::super::names::short_type;
use super::SystemParam;
use super::resource::{Res, ResMut};
use crate::messages::{Channel, ChannelId, Message, Messages, typed, typed_mut};
use crate::resources::ResourceTicks;
use crate::world::{SharedWorld, World};

/// The flag of a channel that is looked at.
pub struct ChannelGuard<'w> {
    channel: SlotRef<'w, Box<dyn Channel>>,
    run: Run<'w>,
}

/// The flag of a channel that is changed.
pub struct ChannelMutGuard<'w> {
    channel: SlotMut<'w, Box<dyn Channel>>,
    ticks: ResourceTicks,
    run: Run<'w>,
}

/// A channel changes with every frame, which is what its ticks say.
fn ticks(run: Run<'_>) -> ResourceTicks {
    ResourceTicks { added: Tick::ZERO, changed: run.now }
}

fn declare<M: Message, P>(world: &mut World, meta: &mut SystemMeta, writes: bool) -> ChannelId {
    let channel = world.messages.register::<M>();
    let mut access = Access::new();
    if writes {
        access.write(Part::Messages(channel));
    } else {
        access.read(Part::Messages(channel));
    }
    meta.declare(world, short_type::<P>(), access);
    channel
}

impl<M: Message> SystemParam for Res<'_, Messages<M>> {
    type State = ChannelId;
    type Guard<'w> = ChannelGuard<'w>;
    type Item<'g> = Res<'g, Messages<M>>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> ChannelId {
        declare::<M, Self>(world, meta, false)
    }
    fn lock<'w>(state: &'w ChannelId, world: &'w SharedWorld<'w>, run: Run<'w>) -> ChannelGuard<'w> {
        let channel = world.messages.read(*state).unwrap_or_else(|| run.busy(&short_type::<M>()));
        ChannelGuard { channel, run }
    }
    fn item<'g>(guard: &'g mut ChannelGuard<'_>) -> Res<'g, Messages<M>> {
        Res::new(typed(&**guard.channel), ticks(guard.run), guard.run.since)
    }
}

impl<M: Message> SystemParam for ResMut<'_, Messages<M>> {
    type State = ChannelId;
    type Guard<'w> = ChannelMutGuard<'w>;
    type Item<'g> = ResMut<'g, Messages<M>>;

    fn init(world: &mut World, meta: &mut SystemMeta) -> ChannelId {
        declare::<M, Self>(world, meta, true)
    }
    fn lock<'w>(state: &'w ChannelId, world: &'w SharedWorld<'w>, run: Run<'w>) -> ChannelMutGuard<'w> {
        let channel = world.messages.write(*state).unwrap_or_else(|| run.busy(&short_type::<M>()));
        ChannelMutGuard { channel, ticks: ticks(run), run }
    }
    fn item<'g>(guard: &'g mut ChannelMutGuard<'_>) -> ResMut<'g, Messages<M>> {
        let ChannelMutGuard { channel, ticks, run } = guard;
        ResMut::new(typed_mut(&mut ***channel), ticks, run.since, run.now)
    }
}
