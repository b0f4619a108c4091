//! Structural change of one entity: which archetype comes next.
//!
//! Here the target archetype of a change is found, or created, and the edge to it worked out, once per
//! (archetype, bundle), together with the edge back: what comes often goes again, and the other way round.
//! Moving the row is the store's business. Who follows these edges is in `insert` and `remove`.

use phalanx_store::{Edge, Entity, Init, PlanError, Store, TableId, Values};

use super::{NoSuchEntity, World};
use crate::archetype::{ArchetypeId, Kind};
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::pool::{PoolId, Refusal};
use crate::registry::ComponentId;
use crate::signature::Signature;
use crate::storage::SparseParts;

mod insert;
mod remove;

/// What a row had of a bundle.
type OldValues<B> = <<B as Bundle>::Values as Values>::Old;

impl World {
    #[inline]
    #[track_caller]
    pub(crate) fn bundle<B: Bundle>(&mut self) -> BundleId {
        match self.bundles.find(B::bundle_key()) {
            Some(id) => id,
            None => self.meet_bundle::<B>(),
        }
    }

    /// The bundle, unless the entity is dead: then even a bundle that cannot be used is only dropped.
    #[inline]
    #[track_caller]
    fn bundle_for<B: Bundle>(&mut self, entity: Entity) -> Result<BundleId, NoSuchEntity> {
        self.plain_bundle_for::<B>(entity).map(|(id, _)| id)
    }

    /// As `bundle_for`, and whether the bundle is plain.
    #[inline]
    #[track_caller]
    fn plain_bundle_for<B: Bundle>(&mut self, entity: Entity) -> Result<(BundleId, bool), NoSuchEntity> {
        match self.bundles.find_plain(B::bundle_key()) {
            Some(found) => Ok(found),
            None if self.contains(entity) => {
                let id = self.meet_bundle::<B>();
                Ok((id, self.bundles.info(id).plain))
            }
            None => Err(NoSuchEntity::new(entity)),
        }
    }

    #[cold]
    #[track_caller]
    fn meet_bundle<B: Bundle>(&mut self) -> BundleId {
        if let Err(error) = self.register_bundle::<B>() {
            panic!("{error}");
        }
        self.bundles.find(B::bundle_key()).expect("the bundle was registered just now")
    }

    /// The edge on which a bundle comes into an archetype's entities, unless its pool refuses the bundle.
    #[inline]
    #[track_caller]
    pub(crate) fn insertion<B: Bundle>(&mut self, from: ArchetypeId) -> Result<usize, Refusal> {
        let bundle = self.bundle::<B>();
        self.insertion_of::<B>(from, bundle)
    }

    #[inline]
    fn insertion_of<B: Bundle>(&mut self, from: ArchetypeId, bundle: BundleId) -> Result<usize, Refusal> {
        match self.archetypes.edges.position(Kind::Insert, from, bundle.index()) {
            Some(at) => Ok(at),
            None => {
                self.may_insert(self.archetypes.pool_of(from), bundle)?;
                Ok(self.plan_insertion::<B>(from, bundle))
            }
        }
    }

    /// The edge on which a bundle comes into new entities of General.
    #[inline]
    #[track_caller]
    pub(crate) fn first_insertion<B: Bundle>(&mut self) -> usize {
        let at = self.insertion::<B>(ArchetypeId::EMPTY);
        at.unwrap_or_else(|_| unreachable!("General allows everything"))
    }

    #[cold]
    #[inline(never)]
    fn plan_insertion<B: Bundle>(&mut self, from: ArchetypeId, bundle: BundleId) -> usize {
        self.add_insertion(from, bundle, Edges::of::<B>())
    }

    fn add_insertion(&mut self, from: ArchetypeId, bundle: BundleId, edges: Edges) -> usize {
        let (present, pool) = (self.archetypes.signature(from).clone(), self.archetypes.pool_of(from));
        let info = self.bundles.info(bundle);
        let missing = info.required.iter().filter(|(id, _)| !present.has(*id));
        let (added, inits): (Vec<ComponentId>, Vec<Init>) = missing.cloned().unzip();
        let brought = info.signature.clone();
        let target = self.archetype(pool, present.union(&brought).union(&added.into_iter().collect()));
        let edge =
            self.edge(from, target, |store, source, target| (edges.insert)(store, source, target, &inits));
        // The edge back, when it leads exactly here.
        let returns = inits.is_empty()
            && !present.overlaps(&brought)
            && !brought.is_empty()
            && self.may_remove(pool, bundle).is_ok();
        let kind = self.removal_kind(bundle);
        if returns && self.archetypes.edges.position(kind, target, bundle.index()).is_none() {
            self.add_removal(target, from, bundle, edges);
        }
        self.archetypes.edges.add(Kind::Insert, from, bundle.index(), edge)
    }

    /// The edge on which what entities of an archetype have of a bundle goes, unless their pool refuses that.
    #[inline]
    #[track_caller]
    pub(crate) fn removal<B: Bundle>(&mut self, from: ArchetypeId) -> Result<usize, Refusal> {
        let bundle = self.bundle::<B>();
        let kind = self.removal_kind(bundle);
        match self.archetypes.edges.position(kind, from, bundle.index()) {
            Some(at) => Ok(at),
            None => {
                self.may_remove(self.archetypes.pool_of(from), bundle)?;
                Ok(self.plan_removal::<B>(from, bundle))
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn plan_removal<B: Bundle>(&mut self, from: ArchetypeId, bundle: BundleId) -> usize {
        self.add_both_ways(from, bundle, Edges::of::<B>())
    }

    fn add_both_ways(&mut self, from: ArchetypeId, bundle: BundleId, edges: Edges) -> usize {
        let (present, info) = (self.archetypes.signature(from), self.bundles.info(bundle));
        let pool = self.archetypes.pool_of(from);
        let left = present.difference(&info.signature);
        // The edge back, when it leads exactly here: nothing else would come along.
        let returns = !info.signature.is_empty()
            && present.contains(&info.signature)
            && info.required.iter().all(|(id, _)| left.has(*id))
            && self.may_insert(pool, bundle).is_ok();
        let target = self.archetype(pool, left);
        let at = self.add_removal(from, target, bundle, edges);
        if returns && self.archetypes.edges.position(Kind::Insert, target, bundle.index()).is_none() {
            self.add_insertion(target, bundle, edges);
        }
        at
    }

    fn add_removal(
        &mut self,
        from: ArchetypeId,
        target: ArchetypeId,
        bundle: BundleId,
        edges: Edges,
    ) -> usize {
        let edge = self.edge(from, target, edges.remove);
        self.archetypes.edges.add(self.removal_kind(bundle), from, bundle.index(), edge)
    }

    /// Which edges a bundle leaves on: where somebody listens, not those that the fast path finds.
    fn removal_kind(&self, bundle: BundleId) -> Kind {
        if self.bundles.info(bundle).heard.is_empty() { Kind::Remove } else { Kind::RemoveHeard }
    }

    /// An edge on which components are dropped without being named by a type.
    pub(crate) fn dropping(
        &mut self,
        kind: Kind,
        from: ArchetypeId,
        index: usize,
        left: impl FnOnce(&Signature) -> Signature,
    ) -> usize {
        if let Some(at) = self.archetypes.edges.position(kind, from, index) {
            return at;
        }
        let left = left(self.archetypes.signature(from));
        let target = self.archetype(self.archetypes.pool_of(from), left);
        let edge =
            self.edge(from, target, |store, source, target| store.remove_edge::<()>(source, target, ()));
        self.archetypes.edges.add(kind, from, index, edge)
    }

    /// The edge on which a run-time component comes, with zero values.
    pub(crate) fn zeroed_insertion(&mut self, from: ArchetypeId, id: ComponentId) -> usize {
        if let Some(at) = self.archetypes.edges.position(Kind::InsertZeroed, from, id.index()) {
            return at;
        }
        let present = self.archetypes.signature(from);
        let inits = if present.has(id) { Vec::new() } else { self.components.info(id).defaults().to_vec() };
        let target = self.archetype(self.archetypes.pool_of(from), present.with(id));
        let edge = self
            .edge(from, target, |store, source, target| store.insert_edge::<()>(source, target, (), &inits));
        self.archetypes.edges.add(Kind::InsertZeroed, from, id.index(), edge)
    }

    /// The archetype of a pool with these components, created where it does not exist.
    pub(crate) fn archetype(&mut self, pool: PoolId, signature: Signature) -> ArchetypeId {
        let before = self.archetypes.cursor();
        let id = self.archetypes.get_or_create(pool, signature, &self.components, &mut self.store);
        if self.archetypes.cursor() != before {
            self.update_queries();
        }
        id
    }

    pub(crate) fn edge(
        &self,
        from: ArchetypeId,
        target: ArchetypeId,
        plan: impl FnOnce(&Store, TableId, TableId) -> Result<Edge, PlanError>,
    ) -> Edge {
        let table = |id| self.archetypes.table(id).expect("both ends of a transition exist");
        plan(&self.store, table(from), table(target)).expect("signatures and tables agree on columns")
    }

    /// Whether a bundle only concerns sets, and no group, pool or requirement watches these.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_only_sparse<B: Bundle>(&self, bundle: BundleId) -> bool {
        B::Sparse::ANY
            && <B::Values as Values>::COLUMNS == 0
            && self.bundles.info(bundle).only_sparse
            && self.archetypes.pools().len() == 1
    }
}

/// How the edges of a bundle are made, for functions that need not know its type.
#[derive(Clone, Copy)]
struct Edges {
    insert: fn(&Store, TableId, TableId, &[Init]) -> Result<Edge, PlanError>,
    remove: fn(&Store, TableId, TableId) -> Result<Edge, PlanError>,
}

impl Edges {
    fn of<B: Bundle>() -> Self {
        Self {
            insert: |store, source, target, inits| {
                store.insert_edge::<B::Values>(source, target, B::value_ids(), inits)
            },
            remove: |store, source, target| store.remove_edge::<B::Values>(source, target, B::value_ids()),
        }
    }
}
