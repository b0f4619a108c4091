//! The table of typed queries, and the ways in which each of them is asked.

use std::any::Any;
use std::sync::{Mutex, OnceLock};

use phalanx::prelude::{
    Added, AnyOf, Changed, Entity, Has, Or, Query, QueryState, Ref, Tick, With, Without, World,
};
use phalanx::query::ArchetypeFilter;
use rayon_core::ThreadPool;

use crate::common::cast::{
    Armour, Boss, Frozen, Health, Label, Name, Position, Random, Slot, label as label_field,
    position as position_field,
};
use crate::naive::Naive;
use crate::terms::{Asked, Kept};

/// An entity, and what it yields as numbers.
type Row = (Entity, Vec<u64>);

/// What a check sees.
pub struct Scene<'a> {
    pub world: &'a mut World,
    pub naive: &'a Naive,
    pub rng: &'a mut Random,
}

/// One query of the table, with the state that is kept outside the world.
pub struct Subject {
    check: fn(&mut Scene<'_>, &mut Option<Box<dyn Any>>) -> usize,
    kept: Option<Box<dyn Any>>,
}

impl Subject {
    /// Asks in every way, and returns how many rows matched.
    pub fn check(&mut self, scene: &mut Scene<'_>) -> usize {
        (self.check)(scene, &mut self.kept)
    }
}

macro_rules! subjects {
    ($check:ident: $($data:ty, $filter:ty;)*) => {
        [$(Subject { check: $check::<$data, $filter>, kept: None }),*]
    };
}

/// The table of queries.
pub fn subjects() -> Vec<Subject> {
    type X = &'static Position;
    type Y = &'static position_field::y;
    type Text = &'static label_field::text;
    let by_archetype = subjects! {
        by_archetype:
        (), ();
        &'static Health, ();
        (&'static Health, X), ();
        (X, &'static Health), Without<Frozen>;
        (&'static Name, (&'static Slot<u8, 3>,)), ();
        Option<&'static Health>, ();
        (Option<&'static Name>, Has<Boss>, Option<Y>), With<Health>;
        (Has<Health>, Has<Frozen>, Has<Armour>), Without<Boss>;
        Option<(X, &'static Armour)>, Or<(With<Boss>, With<Frozen>)>;
        (Y, Option<Text>), (Without<Boss>, With<Armour>);
        &'static Frozen, ();
        Ref<'static, Armour>, ();
        (Option<Ref<'static, Label>>, &'static Armour), Without<Name>;
        (), Or<(Without<Health>, Without<Frozen>)>;
        &'static Health, Or<(With<Frozen>, With<Boss>)>;
        (), Or<((With<Health>, Without<Armour>), (With<Name>, Without<Position>))>;
        (), (Or<(With<Health>, With<Name>)>, Or<(With<Frozen>, With<Label>, With<Boss>)>);
        (), Or<(Or<(With<Label>, With<Boss>)>, Without<Position>)>;
        &'static Label, (Or<(With<Slot<u8, 3>>, Without<Name>)>, Without<Boss>);
        (), Or<()>;
        AnyOf<(&'static Frozen, &'static Name)>, ();
        (AnyOf<(X, Ref<'static, Armour>, Text)>, Has<Boss>), Without<Health>;
        (), (With<Health>, Without<Health>);
    };
    let by_row = subjects! {
        by_row:
        &'static Armour, Changed<Armour>;
        (&'static Armour, Option<X>), Added<Armour>;
        (), (Changed<Armour>, Without<Frozen>);
        (), Or<(Changed<Armour>, Changed<Label>)>;
        Option<Ref<'static, Label>>, Or<(Added<Label>, Without<Armour>)>;
        Has<Boss>, Or<((Changed<Label>, With<Health>), (Without<Label>, With<Frozen>))>;
        Text, (Changed<Label>, Or<(Added<Armour>, Without<Name>)>);
    };
    by_archetype.into_iter().chain(by_row).collect()
}

fn pool() -> &'static ThreadPool {
    static POOL: OnceLock<ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        rayon_core::ThreadPoolBuilder::new().num_threads(3).build().expect("threads can be started")
    })
}

fn shown<D: Asked>(item: &D::Item<'_>) -> Vec<u64> {
    let mut out = Vec::new();
    D::of_item(item, &mut out);
    out
}

/// The naive answer: every entity asked by itself.
fn expected<D: Asked, F: Kept>(naive: &Naive, since: Tick) -> Vec<Row> {
    let mut rows = Vec::new();
    for entity in naive.in_order() {
        let entry = naive.entry(entity).expect("alive");
        if D::has(entry) && F::keeps(entry, since) {
            let mut out = Vec::new();
            D::expected(entity, entry, since, &mut out);
            rows.push((entity, out));
        }
    }
    rows
}

fn by_row<D: Asked, F: Kept>(scene: &mut Scene<'_>, kept: &mut Option<Box<dyn Any>>) -> usize {
    // Any moment will do; the world's own is the usual one.
    let since = match scene.rng.below(4) {
        0 => Tick::ZERO,
        1 => Tick::new(scene.world.read_change_tick().get().saturating_sub(3)),
        _ => scene.world.last_change_tick(),
    };
    let rows = expected::<D, F>(scene.naive, since);
    let mut fresh = scene.world.query_filtered::<(Entity, D), F>();
    let kept = kept.get_or_insert_with(|| Box::new(scene.world.query_filtered::<(Entity, D), F>()));
    let kept: &mut QueryState<(Entity, D), F> = kept.downcast_mut().expect("kept under its own type");
    for (who, query) in [
        ("cached", scene.world.view_filtered::<(Entity, D), F>()),
        ("fresh", fresh.query(scene.world)),
        ("kept", kept.query(scene.world)),
    ] {
        let query = query.since(since);
        let seen: Vec<Row> = query.iter().map(|(entity, item)| (entity, shown::<D>(&item))).collect();
        assert_eq!(seen, rows, "{who}: {}", query.explain());
    }
    assert!(kept.matched_archetypes().eq(fresh.matched_archetypes()));
    one_by_one::<D, F>(scene, &rows, since);
    in_other_ways::<D, F>(&scene.world.view_filtered().since(since), &rows);
    let mut query = scene.world.view_filtered_mut::<(Entity, D), F>().since(since);
    let seen: Vec<Row> = query.iter_mut().map(|(entity, item)| (entity, shown::<D>(&item))).collect();
    assert_eq!(seen, rows, "asked of an exclusive world");
    rows.len()
}

/// Contains, get and their relatives, for the living and the dead.
fn one_by_one<D: Asked, F: Kept>(scene: &mut Scene<'_>, rows: &[Row], since: Tick) {
    let query = scene.world.view_filtered::<(Entity, D), F>().since(since);
    let mut asked = scene.naive.in_order();
    asked.extend(&scene.naive.dead);
    let mut inside = rows.iter();
    for &entity in &asked {
        // The living come in the order of the rows.
        let row = inside.clone().next().filter(|row| row.0 == entity);
        let item = query.get(entity).ok().map(|(_, item)| shown::<D>(&item));
        assert_eq!(item.as_ref(), row.map(|row| &row.1), "get {entity}: {}", query.explain());
        assert_eq!(query.contains(entity), row.is_some(), "contains {entity}: {}", query.explain());
        assert_eq!(query.why_not(entity).is_none(), row.is_some());
        if row.is_some() {
            inside.next();
        }
    }
    let list: Vec<Entity> =
        (0..10).filter_map(|_| asked.get(scene.rng.below(asked.len().max(1)))).copied().collect();
    let seen: Vec<Row> =
        query.iter_many(list.clone()).matched().map(|(entity, item)| (entity, shown::<D>(&item))).collect();
    let wanted: Vec<&Row> =
        list.iter().filter_map(|entity| rows.iter().find(|row| row.0 == *entity)).collect();
    assert!(seen.iter().eq(wanted), "iter_many");
    let mut folded: Vec<Row> = Vec::new();
    query.iter_many(&list).matched().for_each(|(entity, item)| folded.push((entity, shown::<D>(&item))));
    assert_eq!(folded, seen, "iter_many, at once");
}

fn in_other_ways<D: Asked, F: Kept>(query: &Query<'_, '_, (Entity, D), F>, rows: &[Row]) {
    let mut folded = Vec::new();
    query.iter().for_each(|(entity, item)| folded.push((entity, shown::<D>(&item))));
    assert_eq!(folded, rows, "folded");
    assert_eq!(query.count(), rows.len());
    assert_eq!(query.is_empty(), rows.is_empty());
    assert_eq!(query.single().is_ok(), rows.len() == 1);
    let (least, most) = query.iter().size_hint();
    assert!(least <= rows.len() && most.is_some_and(|most| most >= rows.len()));
    let half = rows.len() / 2;
    let mut iter = query.iter();
    let taken = iter.by_ref().take(half).count();
    assert_eq!(taken + iter.fold(0, |count, _| count + 1), rows.len(), "from the middle");
    let seen = Mutex::new(Vec::new());
    pool().install(|| {
        query.par_iter().small_below(0).for_each(|(entity, item)| {
            let row = (entity, shown::<D>(&item));
            seen.lock().expect("no closure panicked").push(row);
        });
    });
    let mut seen = seen.into_inner().expect("no closure panicked");
    let mut sorted = rows.to_vec();
    seen.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(seen, sorted, "in parallel");
    let by_key: Vec<Entity> = query.sort_by_key(|(entity, _)| *entity).map(|(entity, _)| entity).collect();
    assert!(by_key.iter().eq(sorted.iter().map(|(entity, _)| entity)), "sorted");
}

/// What only filters on archetypes allow: exact sizes, tables and chunks.
fn by_archetype<D: Asked<Fetch: phalanx::query::DenseFetch>, F: Kept + ArchetypeFilter>(
    scene: &mut Scene<'_>,
    kept: &mut Option<Box<dyn Any>>,
) -> usize {
    let matched = by_row::<D, F>(scene, kept);
    let since = scene.world.last_change_tick();
    let rows = expected::<D, F>(scene.naive, since);
    let query = scene.world.view_filtered::<(Entity, D), F>();
    assert_eq!(query.iter().len(), rows.len());
    let (mut by_rows, mut by_slices, mut by_chunks) = (Vec::new(), Vec::new(), Vec::new());
    let mut lens = Vec::new();
    for (table, again) in query.tables().zip(query.tables()) {
        let entities = table.entities();
        assert_eq!((table.len(), table.is_empty()), (entities.len(), false));
        lens.push(table.len());
        for (at, (entity, item)) in table.rows().enumerate() {
            assert_eq!(entities[at], entity);
            by_rows.push((entity, shown::<D>(&item)));
        }
        let (slice, chunk) = again.slices();
        for (at, &entity) in entities.iter().enumerate() {
            assert_eq!(slice[at], entity);
            let mut out = Vec::new();
            D::of_chunk(&chunk, at, since, &mut out);
            by_slices.push((entity, out));
        }
    }
    for (entities, chunk) in query.chunks() {
        for (at, &entity) in entities.iter().enumerate() {
            let mut out = Vec::new();
            D::of_chunk(&chunk, at, since, &mut out);
            by_chunks.push((entity, out));
        }
    }
    assert_eq!(by_rows, rows, "tables by rows");
    assert_eq!(by_slices, rows, "tables by slices");
    assert_eq!(by_chunks, rows, "chunks");
    // One chunk per table with rows, one per entity without components.
    let tables = scene.naive.tables().filter(|(_, ids)| {
        let entry = scene.naive.entry(ids[0]).expect("alive");
        D::has(entry) && F::keeps(entry, since)
    });
    let mut wanted: Vec<usize> = tables.map(|(_, ids)| ids.len()).collect();
    let in_tables: usize = wanted.iter().sum();
    wanted.extend(std::iter::repeat_n(1, rows.len() - in_tables));
    assert_eq!(lens, wanted);
    matched
}
