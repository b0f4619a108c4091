//! Common conditions for `run_if`.
//!
//! A condition is a system that returns `bool`. What it reads is part of the access of the systems that it
//! decides about.

use crate::component::AnyComponent;
use crate::messages::Message;
use crate::query::{Query, QueryFilter, With};
use crate::resources::Resource;
use crate::system::{
    ConditionShape, IntoSystem, Local, MessageReader, RemovedComponents, Res, System, SystemCondition,
};

/// Whether the resource exists.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_exists::<Score>));
/// app.step(0.1);
/// ```
pub fn resource_exists<R: Resource>(resource: Option<Res<'_, R>>) -> bool {
    resource.is_some()
}

/// Whether the resource was written since the condition was last evaluated. Without the resource, evaluating it is an
/// error.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.init_resource::<Score>();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_changed::<Score>));
/// app.step(0.1);
/// ```
#[allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
pub fn resource_changed<R: Resource>(resource: Res<'_, R>) -> bool {
    resource.is_changed()
}

/// Whether the resource exists and was written since the condition was last evaluated.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_exists_and_changed::<Score>));
/// app.step(0.1);
/// ```
pub fn resource_exists_and_changed<R: Resource>(resource: Option<Res<'_, R>>) -> bool {
    resource.is_some_and(|resource| resource.is_changed())
}

/// Whether the resource came since the condition was last evaluated.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_added::<Score>));
/// app.step(0.1);
/// ```
pub fn resource_added<R: Resource>(resource: Option<Res<'_, R>>) -> bool {
    resource.is_some_and(|resource| resource.is_added())
}

/// Whether the resource was there when the condition was last evaluated, and is gone.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_removed::<Score>));
/// app.step(0.1);
/// ```
pub fn resource_removed<R: Resource>(resource: Option<Res<'_, R>>, mut was: Local<'_, bool>) -> bool {
    std::mem::replace(&mut *was, resource.is_some()) && !*was
}

/// Whether the resource was written, or went, since the condition was last evaluated.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.init_resource::<Score>();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_changed_or_removed::<Score>));
/// app.step(0.1);
/// ```
pub fn resource_changed_or_removed<R: Resource>(
    resource: Option<Res<'_, R>>,
    mut was: Local<'_, bool>,
) -> bool {
    let gone = std::mem::replace(&mut *was, resource.is_some()) && !*was;
    gone || resource.is_some_and(|resource| resource.is_changed())
}

/// Whether the resource has this value. Without the resource, evaluating it is an error.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.init_resource::<Score>();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_equals(Score(3))));
/// app.step(0.1);
/// ```
pub fn resource_equals<R: Resource + PartialEq>(value: R) -> impl FnMut(Res<'_, R>) -> bool {
    move |resource| *resource == value
}

/// Whether the resource exists and has this value.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.init_resource::<Score>();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_exists_and_equals(Score(3))));
/// app.step(0.1);
/// ```
pub fn resource_exists_and_equals<R: Resource + PartialEq>(
    value: R,
) -> impl FnMut(Option<Res<'_, R>>) -> bool {
    move |resource| resource.is_some_and(|resource| *resource == value)
}

/// Whether the resource exists and passes a test.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.init_resource::<Score>();
/// app.add_systems(Update, (|| println!("it holds")).run_if(resource_exists_and(|score: &Score| score.0 > 3)));
/// app.step(0.1);
/// ```
pub fn resource_exists_and<R: Resource>(test: impl Fn(&R) -> bool) -> impl FnMut(Option<Res<'_, R>>) -> bool {
    move |resource| resource.is_some_and(|resource| test(&resource))
}

/// Whether another condition answers otherwise than when it was last evaluated; at first it counts as false.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(condition_changed(resource_exists::<Score>)));
/// app.step(0.1);
/// ```
pub fn condition_changed<M>(
    condition: impl ConditionShape<M> + SystemCondition<M>,
) -> impl System<In = (), Out = bool> {
    let mut before = false;
    condition.into_condition().map(move |now: bool| std::mem::replace(&mut before, now) != now)
}

/// Whether another condition answers this, and otherwise when it was last evaluated; at first it counts as false.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Resource, PartialEq, Default)] struct Score(u32);
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(condition_changed_to(true, resource_exists::<Score>)));
/// app.step(0.1);
/// ```
pub fn condition_changed_to<M>(
    to: bool,
    condition: impl ConditionShape<M> + SystemCondition<M>,
) -> impl System<In = (), Out = bool> {
    let mut before = false;
    condition.into_condition().map(move |now: bool| std::mem::replace(&mut before, now) != now && now == to)
}

/// Whether messages were written since the condition was last evaluated.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Message)] struct Died;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(on_message::<Died>));
/// app.step(0.1);
/// ```
pub fn on_message<M: Message>(mut reader: MessageReader<'_, '_, M>) -> bool {
    let any = !reader.is_empty();
    reader.clear();
    any
}

/// True the first time it is evaluated.
///
/// ```
/// # use phalanx::prelude::*;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(run_once));
/// app.step(0.1);
/// ```
pub fn run_once(mut asked: Local<'_, bool>) -> bool {
    !std::mem::replace(&mut *asked, true)
}

/// Whether an entity has the component.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Enemy;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(any_with_component::<Enemy>));
/// app.step(0.1);
/// ```
#[allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
pub fn any_with_component<C: AnyComponent>(query: Query<'_, '_, (), With<C>>) -> bool {
    !query.is_empty()
}

/// Whether a component was removed from an entity, or went with one, since the condition was last evaluated.
pub fn any_component_removed<C: AnyComponent>(mut removed: RemovedComponents<'_, '_, C>) -> bool {
    let any = !removed.is_empty();
    removed.clear();
    any
}

/// Whether an entity passes the filter.
///
/// ```
/// # use phalanx::prelude::*;
/// # #[derive(Component)] struct Enemy;
/// # #[derive(Component)] struct Dead;
/// let mut app = App::new();
/// app.add_systems(Update, (|| println!("it holds")).run_if(any_match_filter::<(With<Enemy>, Without<Dead>)>));
/// app.step(0.1);
/// ```
#[allow(clippy::needless_pass_by_value, reason = "systems take their parameters by value")]
pub fn any_match_filter<F: QueryFilter + 'static>(query: Query<'_, '_, (), F>) -> bool {
    !query.is_empty()
}
