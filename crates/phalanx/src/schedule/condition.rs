//! Common conditions for `run_if`.
//!
//! A condition is a system that returns `bool`. What it reads is part of the access of the systems that it
//! decides about.

use crate::component::AnyComponent;
use crate::messages::Message;
use crate::query::{Query, QueryFilter, With};
use crate::resources::Resource;
use crate::system::{Local, MessageReader, Res};

/// Whether the resource exists.
pub fn resource_exists<R: Resource>(resource: Option<Res<'_, R>>) -> bool {
    resource.is_some()
}

/// Whether the resource exists and was written since the condition was last asked.
pub fn resource_changed<R: Resource>(resource: Option<Res<'_, R>>) -> bool {
    resource.is_some_and(|resource| resource.is_changed())
}

/// Whether the resource came since the condition was last asked.
pub fn resource_added<R: Resource>(resource: Option<Res<'_, R>>) -> bool {
    resource.is_some_and(|resource| resource.is_added())
}

/// Whether the resource exists and has this value.
pub fn resource_equals<R: Resource + PartialEq>(value: R) -> impl FnMut(Option<Res<'_, R>>) -> bool {
    move |resource| resource.is_some_and(|resource| *resource == value)
}

/// Whether messages were written since the condition was last asked.
pub fn on_message<M: Message>(mut reader: MessageReader<'_, M>) -> bool {
    let any = !reader.is_empty();
    reader.clear();
    any
}

/// True the first time it is asked.
pub fn run_once(mut asked: Local<'_, bool>) -> bool {
    !std::mem::replace(&mut *asked, true)
}

/// Whether an entity has the component.
#[allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
pub fn any_with_component<C: AnyComponent>(query: Query<'_, (), With<C>>) -> bool {
    !query.is_empty()
}

/// Whether an entity passes the filter.
#[allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
pub fn any_match_filter<F: QueryFilter + 'static>(query: Query<'_, (), F>) -> bool {
    !query.is_empty()
}
