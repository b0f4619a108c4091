//! Structural change of one entity: which archetype comes next.
//!
//! Here the target archetype of a change is found, or created, and the way to it worked out, once per
//! (archetype, bundle). Inserting also works out the way back, since what comes often goes again.
//! Moving the row is the store's business.

use phalanx_store::{Edge, Entity, Existing, Init};

use super::{NoSuchEntity, World};
use crate::archetype::{ArchetypeId, Kind};
use crate::bundle::Bundle;
use crate::bundles::BundleId;
use crate::registry::ComponentId;
use crate::signature::Signature;

impl World {
    #[inline]
    #[track_caller]
    pub(crate) fn bundle<B: Bundle>(&mut self) -> BundleId {
        match self.bundles.find(B::key()) {
            Some(id) => id,
            None => self.meet_bundle::<B>(),
        }
    }

    #[cold]
    #[track_caller]
    fn meet_bundle<B: Bundle>(&mut self) -> BundleId {
        if let Err(error) = self.register_bundle::<B>() {
            panic!("{error}");
        }
        self.bundles.find(B::key()).expect("the bundle was registered just now")
    }

    /// The way on which a bundle comes into an archetype's entities.
    #[inline]
    #[track_caller]
    pub(crate) fn insertion<B: Bundle>(&mut self, from: ArchetypeId) -> usize {
        let bundle = self.bundle::<B>();
        match self.archetypes.transitions.position(Kind::Insert, from, bundle.index()) {
            Some(at) => at,
            None => self.plan_insertion::<B>(from, bundle),
        }
    }

    #[cold]
    #[inline(never)]
    fn plan_insertion<B: Bundle>(&mut self, from: ArchetypeId, bundle: BundleId) -> usize {
        let present = self.archetypes.signature(from).clone();
        let info = self.bundles.info(bundle);
        let required = self.components.missing_requirements(&info.components, |id| present.has(id));
        let added = Signature::from_ids(required.iter().map(|(id, _)| *id));
        let brought = info.signature.clone();
        let target = self.archetype(present.union(&brought).union(&added));
        let inits: Vec<Init> = required.into_iter().map(|(_, init)| init).collect();
        let edge = self.edge(from, target, |store, source, target| {
            store.insert_edge::<B::Values>(source, target, B::value_ids(), &inits)
        });
        // The way back, when it leads exactly here.
        let returns = inits.is_empty() && !present.overlaps(&brought) && !brought.is_empty();
        if returns && self.archetypes.transitions.position(Kind::Remove, target, bundle.index()).is_none() {
            self.add_removal::<B>(target, from, bundle);
        }
        self.archetypes.transitions.add(Kind::Insert, from, bundle.index(), edge)
    }

    /// The way on which what entities of an archetype have of a bundle goes.
    #[inline]
    #[track_caller]
    pub(crate) fn removal<B: Bundle>(&mut self, from: ArchetypeId) -> usize {
        let bundle = self.bundle::<B>();
        match self.archetypes.transitions.position(Kind::Remove, from, bundle.index()) {
            Some(at) => at,
            None => {
                let left = self.archetypes.signature(from).difference(&self.bundles.info(bundle).signature);
                let target = self.archetype(left);
                self.add_removal::<B>(from, target, bundle)
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn add_removal<B: Bundle>(&mut self, from: ArchetypeId, target: ArchetypeId, bundle: BundleId) -> usize {
        let edge = self.edge(from, target, |store, source, target| {
            store.remove_edge::<B::Values>(source, target, B::value_ids())
        });
        self.archetypes.transitions.add(Kind::Remove, from, bundle.index(), edge)
    }

    /// A way on which components are dropped without being named by a type.
    pub(crate) fn dropping(
        &mut self,
        kind: Kind,
        from: ArchetypeId,
        index: usize,
        left: impl FnOnce(&Signature) -> Signature,
    ) -> usize {
        if let Some(at) = self.archetypes.transitions.position(kind, from, index) {
            return at;
        }
        let target = self.archetype(left(self.archetypes.signature(from)));
        let edge =
            self.edge(from, target, |store, source, target| store.remove_edge::<()>(source, target, ()));
        self.archetypes.transitions.add(kind, from, index, edge)
    }

    /// The way on which a run-time component comes, with zero values.
    pub(crate) fn zeroed_insertion(&mut self, from: ArchetypeId, id: ComponentId) -> usize {
        if let Some(at) = self.archetypes.transitions.position(Kind::InsertZeroed, from, id.index()) {
            return at;
        }
        let present = self.archetypes.signature(from);
        let inits = if present.has(id) { Vec::new() } else { self.components.info(id).defaults().to_vec() };
        let target = self.archetype(present.with(id));
        let edge = self
            .edge(from, target, |store, source, target| store.insert_edge::<()>(source, target, (), &inits));
        self.archetypes.transitions.add(Kind::InsertZeroed, from, id.index(), edge)
    }

    fn archetype(&mut self, signature: Signature) -> ArchetypeId {
        let before = self.archetypes.cursor();
        let id = self.archetypes.get_or_create(signature, &self.components, &mut self.store);
        if self.archetypes.cursor() != before {
            self.update_queries();
        }
        id
    }

    fn edge(
        &self,
        from: ArchetypeId,
        target: ArchetypeId,
        plan: impl FnOnce(
            &phalanx_store::Store,
            phalanx_store::TableId,
            phalanx_store::TableId,
        ) -> Result<Edge, phalanx_store::PlanError>,
    ) -> Edge {
        let table = |id| self.archetypes.table(id).expect("both ends of a transition exist");
        plan(&self.store, table(from), table(target)).expect("signatures and tables agree on columns")
    }

    /// Spawns an entity with a bundle of components.
    ///
    /// # Panics
    /// When the bundle has a component twice, a name is taken, or all entity indices are in use.
    #[inline]
    #[track_caller]
    pub fn spawn<B: Bundle>(&mut self, bundle: B) -> super::EntityWorldMut<'_> {
        let at = self.insertion::<B>(ArchetypeId::EMPTY);
        let values = bundle.into_values(self.store.tick());
        let entity = match self.store.spawn(self.archetypes.transitions.at(at), values) {
            Ok(entity) => entity,
            Err(error) => panic!("{error}"),
        };
        super::EntityWorldMut::new(self, entity)
    }

    /// Spawns an entity without components. It occupies no row until the first one comes.
    ///
    /// # Panics
    /// When all entity indices are in use.
    #[track_caller]
    pub fn spawn_empty(&mut self) -> super::EntityWorldMut<'_> {
        let entity = self.store.spawn_rowless().unwrap_or_else(|error| panic!("{error}"));
        super::EntityWorldMut::new(self, entity)
    }

    /// Inserts a bundle. Components that the entity has are replaced, in place.
    ///
    /// # Errors
    /// When the entity is dead; the bundle is dropped.
    #[inline]
    #[track_caller]
    pub fn insert<B: Bundle>(&mut self, entity: Entity, bundle: B) -> Result<(), NoSuchEntity> {
        self.insert_with(entity, bundle, Existing::Replace)
    }

    #[inline]
    #[track_caller]
    pub(crate) fn insert_with<B: Bundle>(
        &mut self,
        entity: Entity,
        bundle: B,
        existing: Existing,
    ) -> Result<(), NoSuchEntity> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let at = self.insertion::<B>(from);
        let values = bundle.into_values(self.store.tick());
        let inserted = self.store.insert(entity, self.archetypes.transitions.at(at), values, existing);
        inserted.map_err(|_| NoSuchEntity::new(entity))
    }

    /// Removes what the entity has of a bundle, and drops it. Components it lacks are no error.
    ///
    /// # Errors
    /// When the entity is dead.
    #[inline]
    #[track_caller]
    pub fn remove<B: Bundle>(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let at = self.removal::<B>(from);
        self.store.remove::<B::Values>(entity, self.archetypes.transitions.at(at));
        Ok(())
    }

    /// Removes a whole bundle and returns it. `None`, and nothing happens, when the entity is dead or lacks a part.
    #[track_caller]
    pub fn take<B: Bundle>(&mut self, entity: Entity) -> Option<B> {
        let from = self.archetype_of(entity)?;
        let bundle = self.bundle::<B>();
        if !self.archetypes.signature(from).contains(&self.bundles.info(bundle).signature) {
            return None;
        }
        let at = self.removal::<B>(from);
        let values = self.store.take::<B::Values>(entity, self.archetypes.transitions.at(at))?;
        Some(B::from_values(values))
    }

    /// Drops every component that is not in the bundle.
    ///
    /// # Errors
    /// When the entity is dead.
    #[track_caller]
    pub fn retain<B: Bundle>(&mut self, entity: Entity) -> Result<(), NoSuchEntity> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        let bundle = self.bundle::<B>();
        let kept = self.bundles.info(bundle).signature.clone();
        let at = self.dropping(Kind::Retain, from, bundle.index(), |present| present.intersection(&kept));
        self.store.remove::<()>(entity, self.archetypes.transitions.at(at));
        Ok(())
    }

    /// Removes a component by its id. False when the entity lacks it.
    ///
    /// # Errors
    /// When the entity is dead.
    pub fn remove_by_id(&mut self, entity: Entity, id: ComponentId) -> Result<bool, NoSuchEntity> {
        let from = self.archetype_of(entity).ok_or(NoSuchEntity::new(entity))?;
        if !self.archetypes.signature(from).has(id) {
            return Ok(false);
        }
        let at = self.dropping(Kind::Drop, from, id.index(), |present| present.without(id));
        Ok(self.store.remove::<()>(entity, self.archetypes.transitions.at(at)))
    }
}
