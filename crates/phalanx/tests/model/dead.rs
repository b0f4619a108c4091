//! Everything that can be asked of a dead entity: an error, `None` or `false`, and nothing changes.

use phalanx::prelude::{Entity, Value};
use phalanx::world::FieldError;

use crate::parts::{Cell, PARTS, Part, Sample, with_part};
use crate::run::Run;

pub fn everything_as<B: Sample>(run: &mut Run) -> bool {
    let entity = run.any_dead();
    let key = run.rng.pick(PARTS).expect("there are parts");
    assert_eq!(with_part!(key, read_and_write(run, entity)), (None, None));
    single::<B>(run, entity);
    by_name(run, entity);
    let bundle = B::random(&mut run.rng);
    assert_eq!(run.world.insert_batch([(entity, bundle)]), 0);
    assert_eq!(run.world.remove_batch::<B>([entity]), 0);
    assert_eq!(run.world.despawn_batch([entity]), 0);
    assert!(!run.world.despawn(entity));
    assert_eq!(run.world.try_despawn(entity).map_err(|error| error.entity), Err(entity));
    true
}

fn read_and_write<P: Part>(run: &mut Run, entity: Entity) -> (Option<Cell>, Option<Cell>) {
    (P::read(&mut run.world, entity), P::write(&mut run.world, entity, &mut run.rng))
}

fn single<B: Sample>(run: &mut Run, entity: Entity) {
    let bundle = B::random(&mut run.rng);
    let world = &mut run.world;
    assert!(!world.contains(entity));
    assert_eq!(world.archetype_of(entity), None);
    assert_eq!(world.get_entity(entity).err().map(|error| error.entity), Some(entity));
    assert_eq!(world.get_entity_mut(entity).err().map(|error| error.entity), Some(entity));
    assert_eq!(world.insert(entity, bundle).map_err(|error| error.entity()), Err(entity));
    assert_eq!(world.remove::<B>(entity).map_err(|error| error.entity()), Err(entity));
    assert_eq!(world.retain::<B>(entity).map_err(|error| error.entity()), Err(entity));
    assert!(world.take::<B>(entity).is_none());
}

fn by_name(run: &mut Run, entity: Entity) {
    let number = run.rng.below(run.dynamic.len());
    let (id, world) = (run.dynamic[number], &mut run.world);
    let error = FieldError::NoSuchEntity { entity };
    assert_eq!(world.get_field(entity, id, "current"), Err(error.clone()));
    assert_eq!(world.set_field(entity, id, "current", Value::I32(1)), Err(error.clone()));
    assert_eq!(world.insert_dynamic(entity, id, &[]), Err(error));
    assert_eq!(world.remove_by_id(entity, id).map_err(|error| error.entity()), Err(entity));
}
