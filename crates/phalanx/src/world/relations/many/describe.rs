//! What a world records of the edges of a relation when one of their ends is registered.
//!
//! Both ends are described by the type of the edge: its name is that of [`Links`], its values are hashed, shown and
//! saved as the type can. [`EdgeKind`] is what a world does with edges whose type it does not know.

use hashbrown::HashMap;
use phalanx_store::{AnyColId, ColId, Duplicate, Entity};

use super::{LinkedBy, Links, place};
use crate::capture::{Capture, ColumnCapture, Copying, DigestHasher, Digestible, Shown};
use crate::component::{AnyComponent, Descriptor};
use crate::names::short_type;
use crate::query::Everyone;
use crate::registry::ComponentId;
use crate::relation::ManyRelationship;
use crate::world::World;

/// Edges that were copied, to be put into a world.
type PutEdges = Box<dyn FnOnce(&mut World)>;

/// What a world does with the edges of a relation whose type it does not know.
#[derive(Clone, Copy)]
pub(crate) struct EdgeKind {
    /// The columns of [`Links`] and of [`LinkedBy`].
    ends: [AnyColId; 2],
    /// Verifies that both ends agree.
    pub(in crate::world::relations) check: fn(&World) -> Result<(), String>,
    /// Copies the edges among some entities, for those that stand for them.
    copy_among: fn(&World, &HashMap<Entity, Entity>, &[(Entity, Entity)]) -> Option<PutEdges>,
    #[cfg(feature = "serde")]
    pub(super) loading: super::saving::EdgeLoading,
}

impl EdgeKind {
    fn of<R: ManyRelationship>() -> Self {
        Self {
            ends: [Links::<R>::key(), LinkedBy::<R>::key()],
            check: check_edges::<R>,
            copy_among: copy_among::<R>,
            #[cfg(feature = "serde")]
            loading: super::saving::EdgeLoading::of::<R>(),
        }
    }
}

/// Tells a world that a component has the edges of its entity.
#[doc(hidden)]
pub fn describe_links<R: ManyRelationship>(descriptor: &mut Descriptor) {
    let capture = Capture::none()
        .copying(Copying::By(Duplicate::with(Links::<R>::copied)))
        .digesting(digest_links::<R>, show_links::<R>);
    descriptor.name(R::name()).attach(EdgeKind::of::<R>());
    descriptor.captures = vec![ColumnCapture::new(only_column::<Links<R>>(), capture)];
    #[cfg(feature = "serde")]
    {
        descriptor.saving = R::saving().map(|saving| saving.links);
    }
}

/// Tells a world that a component lists those that have an edge to its entity.
#[doc(hidden)]
pub fn describe_linked_by<R: ManyRelationship>(descriptor: &mut Descriptor) {
    let capture = Capture::none()
        .copying(Copying::By(Duplicate::with(LinkedBy::<R>::copied)))
        .digesting(digest_linked_by::<R>, show_linked_by::<R>);
    descriptor.name(format!("LinkedBy<{}>", R::name())).attach(EdgeKind::of::<R>());
    descriptor.captures = vec![ColumnCapture::new(only_column::<LinkedBy<R>>(), capture)];
    #[cfg(feature = "serde")]
    {
        descriptor.saving = R::saving().map(|saving| saving.linked_by);
    }
}

fn only_column<C: AnyComponent>() -> ColId<C> {
    C::key().typed().expect("an end of edges is one column of whole values")
}

// Places follow from the orders of both ends: they need not be hashed.
fn digest_links<R: ManyRelationship>(links: &Links<R>, hasher: &mut DigestHasher) -> bool {
    let capture = R::capture();
    hasher.number(links.edges.len() as u64);
    links.edges.iter().all(|edge| capture.digest(edge, hasher))
}

fn show_links<R: ManyRelationship>(links: &Links<R>, fields: &mut Vec<Shown>) {
    let capture = R::capture();
    fields.push(shown("number of edges", &links.edges.len()));
    links.edges.iter().for_each(|edge| fields.extend(capture.show(edge)));
}

fn digest_linked_by<R: ManyRelationship>(list: &LinkedBy<R>, hasher: &mut DigestHasher) -> bool {
    list.sources.digest(hasher);
    true
}

fn show_linked_by<R: ManyRelationship>(list: &LinkedBy<R>, fields: &mut Vec<Shown>) {
    fields.push(shown("sources", &list.sources));
}

fn shown<T: Digestible + std::fmt::Debug>(field: &'static str, value: &T) -> Shown {
    let mut hasher = DigestHasher::new();
    value.digest(&mut hasher);
    crate::capture::probe::shown(field, value, Some(format!("{value:?}")), (true, hasher))
}

impl World {
    /// Takes over that a newly registered component is one end of edges.
    pub(in crate::world::relations) fn declare_edges(&mut self, id: ComponentId) {
        let Some(&kind) = self.components.info(id).attached::<EdgeKind>() else { return };
        self.declare_upkeep(id);
        if self.relations.edges.iter().all(|known| known.ends != kind.ends) {
            self.relations.edges.push(kind);
        }
    }

    /// The columns of the component at both ends of the edges that a component is one end of.
    #[cfg(feature = "serde")]
    pub(in crate::world::relations) fn ends_of_edges(&self, id: ComponentId) -> Option<[AnyColId; 2]> {
        self.components.info(id).attached::<EdgeKind>().map(|kind| kind.ends)
    }

    /// Whether a component is one end of the edges of a relation of many to many.
    pub(crate) fn is_end_of_edges(&self, id: ComponentId) -> bool {
        self.components.info(id).attached::<EdgeKind>().is_some()
    }

    /// Copies the edges among entities, each named with the one that stands for it, of the relations whose
    /// [`Links`] are wanted. The functions put them into this world or another one.
    pub(crate) fn copy_edges(
        &self,
        pairs: &[(Entity, Entity)],
        wanted: impl Fn(ComponentId) -> bool,
    ) -> Vec<PutEdges> {
        let is_wanted = |kind: &&EdgeKind| self.components.by_key(kind.ends[0]).is_some_and(&wanted);
        let kinds: Vec<&EdgeKind> = self.relations.edges.iter().filter(is_wanted).collect();
        if kinds.is_empty() {
            return Vec::new();
        }
        let map: HashMap<Entity, Entity> = pairs.iter().copied().collect();
        kinds.into_iter().filter_map(|kind| (kind.copy_among)(self, &map, pairs)).collect()
    }
}

fn copy_among<R: ManyRelationship>(
    world: &World,
    map: &HashMap<Entity, Entity>,
    pairs: &[(Entity, Entity)],
) -> Option<PutEdges> {
    let mut copies: Vec<(Entity, R)> = Vec::new();
    for &(source, copy) in pairs {
        for edge in world.related::<R>(source) {
            let Some(&target) = map.get(&edge.target()) else { continue };
            let mut edge = edge.clone();
            edge.set_target(target);
            copies.push((copy, edge));
        }
    }
    let has_any = !copies.is_empty();
    let put = move |world: &mut World| {
        for (source, edge) in copies {
            // Refused where one of them died while the others were linked, or is in a pool that declares no edges.
            let _ = world.link(source, edge);
        }
    };
    has_any.then(|| Box::new(put) as PutEdges)
}

/// Verifies that both ends of all edges agree.
fn check_edges<R: ManyRelationship>(world: &World) -> Result<(), String> {
    let relation = short_type::<R>();
    let mut count = 0;
    for (source, links) in world.view_filtered::<(Entity, &Links<R>), Everyone>() {
        if links.edges.is_empty() || links.edges.len() != links.places.len() {
            return Err(format!("the edges of {source} for `{relation}` have no places, or there are none"));
        }
        if R::EXCLUSIVE && links.edges.len() > 1 {
            return Err(format!(
                "{source} has {} edges of `{relation}`, which is exclusive",
                links.edges.len()
            ));
        }
        for (at, (edge, &back)) in links.edges.iter().zip(&links.places).enumerate() {
            let target = edge.target();
            let list = world.get::<LinkedBy<R>>(target);
            let entry = list
                .and_then(|list| Some((*list.sources.get(back as usize)?, *list.places.get(back as usize)?)));
            if entry != Some((source, place(at))) {
                return Err(format!("{target} does not know that {source} has `{relation}` to it"));
            }
            if R::SYMMETRIC && world.edge_between::<R>(target, source).is_none() {
                return Err(format!("{source} has `{relation}` to {target}, but not the other way round"));
            }
            count += 1;
        }
    }
    let mut listed = 0;
    for (target, list) in world.view_filtered::<(Entity, &LinkedBy<R>), Everyone>() {
        if list.sources.is_empty() || list.sources.len() != list.places.len() {
            return Err(format!("the list of {target} for `{relation}` is empty, or has no places"));
        }
        listed += list.sources.len();
    }
    if count == listed { Ok(()) } else { Err(format!("{count} edges of `{relation}`, {listed} are listed")) }
}
