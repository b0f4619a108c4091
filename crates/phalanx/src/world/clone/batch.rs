//! Many clones at once: instances of a template.
//!
//! The values of each entity of the template are captured once. Those that hold no entities are the same for all
//! instances, so the rows of one kind are made as one batch; links and other values that name entities differ, and are
//! put into place one by one.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use phalanx_store::{Entity, FirstPanic, Init, TableId};

use super::place::Made;
use super::{Choice, EntityCloner};
use crate::archetype::ArchetypeId;
use crate::component::EntityMap;
use crate::pool::PoolId;
use crate::signature::Signature;
use crate::world::World;
use crate::world::batch::for_each_despite_panics;

impl World {
    /// Spawns `count` clones of an entity with all that are linked to it, such as its children, and returns the clones
    /// of the entity itself. Entities with the same place in the template are spawned as one batch.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[derive(Component, Clone)]
    /// struct Wheel;
    ///
    /// let mut world = World::new();
    /// let cart = world.spawn((Name::new("cart"), children![Wheel, Wheel])).id();
    /// let carts = world.spawn_clones(cart, 1_000);
    /// assert_eq!(carts.len(), 1_000);
    /// assert_eq!(world.get::<Children>(carts[7]).unwrap().len(), 2);
    /// assert_eq!(world.view::<&Wheel>().count(), 2_002);
    /// ```
    ///
    /// # Panics
    /// When the entity is dead, or entity indices run out. When a value panics in its `Clone`: the clones that were
    /// complete so far live, and so do those without the values that were not made.
    #[track_caller]
    pub fn spawn_clones(&mut self, template: Entity, count: usize) -> Vec<Entity> {
        if let Err(error) = self.get_entity(template) {
            panic!("{error}");
        }
        let cloner = EntityCloner { choice: Choice::default(), linked: true, keeps_existing: false };
        let mut sources = vec![template];
        sources.extend(self.all_linked(template));
        // All values that are shared are captured before anything is spawned: the user's code may panic.
        let shared: Vec<Vec<Made>> = sources
            .iter()
            .map(|&source| cloner.capture(self, source, &mut (), |copier| !copier.has_entities))
            .collect();
        // Each is made, announced and linked although handlers of others panic.
        let mut panics = FirstPanic::default();
        let instances: Vec<Vec<Entity>> =
            shared.iter().map(|made| self.spawn_made(made, count, &mut panics)).collect();
        let mut map = EntityMap::with_capacity(sources.len());
        for instance in 0..count {
            for (source, clones) in sources.iter().zip(&instances) {
                map.insert(*source, clones[instance]);
            }
            for (source, clones) in sources.iter().zip(&instances) {
                panics.guard(|| {
                    let made = cloner.capture(self, *source, &mut map, |copier| copier.has_entities);
                    self.insert_made(clones[instance], made);
                });
            }
            let pairs = sources.iter().zip(&instances).map(|(source, clones)| (*source, clones[instance]));
            let pairs: Vec<(Entity, Entity)> = pairs.collect();
            panics.guard(|| {
                let edges = self.copy_edges(&pairs, |_| true);
                for_each_despite_panics(edges.into_iter(), |put| put(self));
            });
        }
        // Before the result is made: it would leak if the drop of a local variable panicked.
        panics.guard(|| drop(shared));
        panics.resume();
        instances.into_iter().next().expect("the template itself is the first")
    }

    /// Spawns entities that all have the same values. A panic of handlers is kept, one of values is passed on.
    fn spawn_made(&mut self, made: &[Made], count: usize, panics: &mut FirstPanic) -> Vec<Entity> {
        let (sparse, table): (Vec<&Made>, Vec<&Made>) =
            made.iter().partition(|made| self.components.info(made.id).is_sparse());
        let inits: Vec<Init> = table.iter().flat_map(|made| made.inits().to_vec()).collect();
        let signature: Signature = table.iter().map(|made| made.id).collect();
        let target = self.archetype(PoolId::GENERAL, signature);
        let edge = self.edge(ArchetypeId::EMPTY, target, |store, source, target| {
            store.insert_edge::<()>(source, target, (), &inits)
        });
        let ids: Signature = made.iter().map(|made| made.id).collect();
        let before = self.store.table_entities(edge.target()).len();
        let mut rowless = Vec::new();
        let mut outcome = catch_unwind(AssertUnwindSafe(|| {
            let values = std::iter::repeat_n((), count);
            if let Err(error) = self.store.spawn_batch(&edge, values, |entity| rowless.push(entity)) {
                panic!("{error}");
            }
        }));
        let entities = if edge.target() == TableId::ROWLESS {
            rowless
        } else {
            self.store.table_entities(edge.target())[before..].to_vec()
        };
        if outcome.is_ok() {
            outcome = catch_unwind(AssertUnwindSafe(|| {
                for made in &sparse {
                    entities.iter().for_each(|&entity| self.put_made(entity, made.id, made.inits()));
                }
            }));
        }
        match outcome {
            Ok(()) => panics.guard(|| self.announce_spawned_made(&entities, &ids)),
            Err(panic) => {
                // Some have not got all values. Handlers may panic, too: all clones are announced, and the first panic is that
                // of the value.
                for &entity in &entities {
                    let there = self.present_of(entity, &ids);
                    FirstPanic::ignore(|| self.announce_spawned_made(&[entity], &there));
                }
                resume_unwind(panic);
            }
        }
        entities
    }
}
