//! Putting values into place of which only their makers know the type.
//!
//! A value was captured as functions that make it. They run while the new row does not count yet, so that a panic in
//! the user's `Clone` leaves the entity as it was. Values in tables come with one move, sparse ones set by set.

use phalanx_store::{Entity, Existing, FirstPanic, Init};

use crate::component::{Copier, EntityMapper};
use crate::registry::{ComponentId, Components, RegisterError};
use crate::signature::Signature;
use crate::value::Value;
use crate::world::World;
use crate::world::reactions::Changes;

/// A value of one component, to be put into place any number of times.
pub(super) struct Made {
    pub(super) id: ComponentId,
    pub(super) inits: Vec<Init>,
    /// The fields of a component that was made from a schema.
    pub(super) fields: Vec<(String, Value)>,
}

impl Made {
    /// The value that an entity has of a component; `None` when it has none, or it cannot be copied, or not wanted.
    pub(super) fn capture(
        world: &World,
        entity: Entity,
        id: ComponentId,
        mapper: &mut dyn EntityMapper,
        wanted: &dyn Fn(&Copier) -> bool,
    ) -> Option<Self> {
        let info = world.components.info(id);
        if let Some(copier) = info.attached::<Copier>() {
            if !wanted(copier) {
                return None;
            }
            let init = (copier.capture)(&world.store, entity, mapper)?;
            return Some(Self { id, inits: vec![init], fields: Vec::new() });
        }
        info.schema()?;
        let mut fields = Vec::new();
        for field in info.fields() {
            let value = match world.get_field(entity, id, field.name()).ok()? {
                Value::Entity(held) => Value::Entity(mapper.get_mapped(held)),
                value => value,
            };
            fields.push((field.name().to_owned(), value));
        }
        Some(Self { id, inits: info.defaults().to_vec(), fields })
    }

    pub(super) fn inits(&self) -> &[Init] {
        &self.inits
    }
}

impl World {
    /// Gives values to an entity, in the place of those that it has. Its table part moves once.
    pub(super) fn insert_made(&mut self, entity: Entity, made: Vec<Made>) {
        let mut panics = FirstPanic::default();
        for made in &made {
            if self.get_entity(entity).is_ok_and(|entity| entity.contains_id(made.id)) {
                // Refused only by a pool, which then keeps its value. A handler that panics keeps no value from coming.
                panics.guard(|| drop(self.remove_by_id(entity, made.id)));
            }
        }
        panics.guard(|| self.insert_made_anew(entity, made));
        panics.resume();
    }

    /// As `insert_made`, of values that the entity does not have.
    fn insert_made_anew(&mut self, entity: Entity, made: Vec<Made>) {
        let Some(from) = self.archetype_of(entity) else { return };
        let pool = self.archetypes.pool_of(from);
        let record = self.archetypes.pools().record(pool);
        let present = self.archetypes.signature(from).clone();
        // What a handler put back when it went stays, too.
        let is_there = |id| self.get_entity(entity).is_ok_and(|entity| entity.contains_id(id));
        let fits = |made: &Made| record.allows(made.id) && !is_there(made.id);
        let made: Vec<Made> = made.into_iter().filter(fits).collect();
        let (sparse, table): (Vec<Made>, Vec<Made>) =
            made.into_iter().partition(|made| self.components.info(made.id).is_sparse());
        let ids: Signature = table.iter().chain(&sparse).map(|made| made.id).collect();
        self.announce_made(entity, &ids, |world| {
            if !table.is_empty() {
                let inits: Vec<Init> = table.iter().flat_map(|made| made.inits.clone()).collect();
                let target = present.union(&table.iter().map(|made| made.id).collect());
                let target = world.archetype(pool, target);
                let edge = world.edge(from, target, |store, source, target| {
                    store.insert_edge::<()>(source, target, (), &inits)
                });
                world.grouped(entity, |world| {
                    let inserted = world.store.insert(entity, &edge, (), Existing::Keep);
                    inserted.expect("the entity stands where the edge begins");
                });
            }
            for made in &sparse {
                world.put_made(entity, made.id, &made.inits);
            }
            for made in table.iter().chain(&sparse) {
                for (field, value) in &made.fields {
                    world
                        .set_field(entity, made.id, field, *value)
                        .expect("the fields are those of the schema");
                }
            }
        });
    }

    /// Puts a value into the set of a sparse component.
    pub(super) fn put_made(&mut self, entity: Entity, id: ComponentId, inits: &[Init]) {
        let set = self.set_of(id).expect("a sparse component has a set");
        self.store.set_insert_made(set, entity, inits).expect("a component's values fill its columns");
    }

    /// Makes a change that gives an entity components it lacked, and announces them.
    fn announce_made(&mut self, entity: Entity, ids: &Signature, change: impl FnOnce(&mut Self)) {
        let heard = self.reactions.heard().intersection(ids);
        self.announced(entity, &Changes::coming(heard), change);
    }

    /// Announces entities that came with components.
    pub(super) fn announce_spawned_made(&mut self, entities: &[Entity], ids: &Signature) {
        let heard = self.reactions.heard().intersection(ids);
        if !heard.is_empty() {
            self.announce_spawned(entities, &heard);
        }
    }

    /// Registers a component by the function that knows its type.
    pub(super) fn try_register_as(
        &mut self,
        register: fn(&mut Components) -> Result<ComponentId, RegisterError>,
    ) -> Result<ComponentId, RegisterError> {
        let id = register(&mut self.components)?;
        self.declare_columns();
        Ok(id)
    }
}
