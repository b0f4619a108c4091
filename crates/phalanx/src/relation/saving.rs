//! What is saved of relations.
//!
//! Both halves of a relation are components like others. Where some entities are not saved, a half does without them: a
//! link to one is left out, and a list names only those that are there. Edges have two ends, which are saved together.

use phalanx_store::Entity;

use super::{Relationship, RelationshipSourceCollection, RelationshipTarget};
use crate::component::{ComponentSaving, Rest};

/// How both ends of the edges of a relation are saved.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct EdgeSaving {
    pub(crate) links: ComponentSaving,
    pub(crate) linked_by: ComponentSaving,
}

/// What is saved of a link.
#[doc(hidden)]
pub fn rest_of_link<R: Relationship>(link: &R, is_saved: &dyn Fn(Entity) -> bool) -> Rest<R> {
    if is_saved(link.get()) { Rest::Whole } else { Rest::Nothing }
}

/// What is saved of the list of those that point at an entity.
#[doc(hidden)]
pub fn rest_of_list<S: RelationshipTarget>(list: &S, is_saved: &dyn Fn(Entity) -> bool) -> Rest<S> {
    let saved: Vec<Entity> = list.iter().filter(|&source| is_saved(source)).collect();
    Rest::of_so_many(saved.len(), list.len(), || {
        let mut rest = S::Collection::with_capacity(saved.len());
        rest.extend_from_iter(saved);
        S::from_collection_risky(rest)
    })
}
