//! Operations on many entities, on whole archetypes, and on memory.

use phalanx::archetype::ArchetypeId;
use phalanx::prelude::Entity;

use crate::naive::Existing;
use crate::parts::Sample;
use crate::run::Run;

/// Mostly a few; now and then more than a column has room for, rarely more than a block of 1,024 rows.
fn batch_size(run: &mut Run) -> usize {
    match run.rng.below(200) {
        0 => 1000 + run.rng.below(100),
        1..10 => 40 + run.rng.below(90),
        _ => run.rng.below(9),
    }
}

pub fn spawn_batch_as<B: Sample>(run: &mut Run) -> bool {
    let count = batch_size(run);
    let bundles: Vec<B> = (0..count).map(|_| B::random(&mut run.rng)).collect();
    let expected: Vec<Entity> = bundles.iter().map(|bundle| run.naive.spawn(bundle.cells())).collect();
    let spawned: Vec<Entity> = if run.rng.once_in(2) {
        let batch = run.world.spawn_batch(bundles);
        assert_eq!(batch.len(), count);
        batch.collect()
    } else {
        // An iterator that does not know its length.
        run.world.spawn_batch(bundles.into_iter().filter(|_| true)).collect()
    };
    assert_eq!(spawned, expected, "the ids of a batch");
    count > 0
}

/// Living and dead entities, some of them twice.
fn some_entities(run: &mut Run) -> Vec<Entity> {
    let mut entities = Vec::new();
    for _ in 0..run.rng.below(10) {
        let alive = if run.rng.once_in(5) { None } else { run.any_alive() };
        entities.push(alive.unwrap_or_else(|| run.any_dead()));
    }
    entities
}

pub fn insert_batch_as<B: Sample>(run: &mut Run) -> bool {
    let entities = some_entities(run);
    let batch: Vec<(Entity, B)> =
        entities.into_iter().map(|entity| (entity, B::random(&mut run.rng))).collect();
    let naive = &mut run.naive;
    let alive = batch
        .iter()
        .filter(|(entity, bundle)| naive.insert(*entity, bundle.cells(), Existing::Replace))
        .count();
    assert_eq!(run.world.insert_batch(batch), alive);
    alive > 0
}

pub fn remove_batch_as<B: Sample>(run: &mut Run) -> bool {
    let entities = some_entities(run);
    let alive = entities.iter().filter(|entity| run.naive.remove(**entity, &B::keys())).count();
    assert_eq!(run.world.remove_batch::<B>(entities), alive);
    alive > 0
}

pub fn despawn_batch(run: &mut Run) -> bool {
    let entities = some_entities(run);
    let alive = entities.iter().filter(|entity| run.naive.despawn(**entity)).count();
    assert_eq!(run.world.despawn_batch(entities), alive);
    alive > 0
}

/// An archetype and its entities: mostly one that has some, else any that was ever seen.
fn some_archetype(run: &mut Run) -> (ArchetypeId, Vec<Entity>) {
    let of_one = if run.rng.once_in(6) { None } else { run.any_alive() };
    let id = match of_one.and_then(|entity| run.world.archetype_of(entity)) {
        Some(id) => id,
        None => run.rng.pick(&run.archetypes).expect("the empty one was seen"),
    };
    let all = run.naive.entities.keys().copied();
    (id, all.filter(|&entity| run.world.archetype_of(entity) == Some(id)).collect())
}

pub fn insert_into_archetype_as<B: Sample>(run: &mut Run) -> bool {
    let (archetype, members) = some_archetype(run);
    let bundle = B::random(&mut run.rng);
    for &member in &members {
        assert!(run.naive.insert(member, bundle.cells(), Existing::Replace));
    }
    assert_eq!(run.world.insert_into_archetype(archetype, &bundle), members.len());
    !members.is_empty()
}

pub fn remove_from_archetype_as<B: Sample>(run: &mut Run) -> bool {
    let (archetype, members) = some_archetype(run);
    for &member in &members {
        assert!(run.naive.remove(member, &B::keys()));
    }
    assert_eq!(run.world.remove_from_archetype::<B>(archetype), members.len());
    !members.is_empty()
}

pub fn clear_entities(run: &mut Run) -> bool {
    run.naive.clear();
    run.world.clear_entities();
    assert!(run.world.entities().is_empty());
    true
}

pub fn drop_empty_archetypes(run: &mut Run) -> bool {
    let before = run.world.archetypes().len();
    // The empty archetype stays, whether it has entities or not.
    let kept = 1 + run.naive.archetypes().keys().filter(|keys| !keys.is_empty()).count();
    assert_eq!(run.world.drop_empty_archetypes(), before - kept);
    assert_eq!(run.world.archetypes().len(), kept);
    before > kept
}

pub fn shrink_to_fit(run: &mut Run) -> bool {
    let spare = |run: &Run| {
        let stats = run.world.stats();
        stats.archetypes.iter().map(|archetype| archetype.capacity.saturating_sub(archetype.entities)).sum()
    };
    let before: usize = spare(run);
    run.world.shrink_to_fit();
    assert_eq!(spare(run), 0, "no table has room to spare");
    before > 0
}

pub fn reserve(run: &mut Run) -> bool {
    let additional = run.rng.below(300);
    run.world.reserve(additional);
    true
}

pub fn reserve_rows_as<B: Sample>(run: &mut Run) -> bool {
    let additional = run.rng.below(60);
    run.world.reserve_rows::<B>(additional);
    true
}
