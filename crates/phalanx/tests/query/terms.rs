//! Proves which terms may stand together in a query, and what filters mean.
//!
//! Terms that alias are refused by name (hazards 29 and 35). Filters decide alike wherever they stand, reach beyond
//! any fixed number of components (hazard 25), and are never taken for disjoint (hazard 28).

use crate::common::cast::{
    Armour, Boss, Burning, Frozen, Health, Label, Name, Position, Slot, Velocity, label, panic_message,
    position, visited,
};
use phalanx::ComponentId;
use phalanx::prelude::{Added, Changed, Entity, Has, Or, Ref, Schema, With, Without, World};
use phalanx::query::{QueryConflict, QueryData, QueryFilter};

/// How many queries the world keeps prepared, and how many different filters they have.
fn prepared(world: &World) -> (usize, usize) {
    let stats = world.stats();
    (stats.prepared_queries, stats.prepared_filters)
}

fn conflict<D: QueryData, F: QueryFilter>(world: &World) -> Option<(String, String)> {
    let error: QueryConflict = world.try_query_filtered::<D, F>().err()?;
    let text = error.to_string();
    assert!(text.contains(&error.first) && text.contains(&error.second), "{text}");
    Some((error.first, error.second))
}

// Hazards 29 and 35: a whole component covers its fields, and a `Ref` its ticks.
#[test]
fn two_terms_on_one_column_are_refused_by_name_when_one_writes() {
    use crate::common::cast::label as tag;
    use crate::common::cast::position as field;
    let world = World::new();
    let named = |first: &str, second: &str| Some((first.to_owned(), second.to_owned()));
    assert_eq!(conflict::<(&mut Health, &Health), ()>(&world), named("&mut Health", "&Health"));
    assert_eq!(conflict::<(&Health, &mut Health), ()>(&world), named("&Health", "&mut Health"));
    assert_eq!(conflict::<(&mut Health, &mut Health), ()>(&world), named("&mut Health", "&mut Health"));
    assert_eq!(conflict::<(&mut Position, &Position), ()>(&world), named("&mut Position", "&Position"));
    assert_eq!(conflict::<(&mut Position, &field::y), ()>(&world), named("&mut Position", "&position::y"));
    assert_eq!(conflict::<(&mut field::y, &Position), ()>(&world), named("&mut position::y", "&Position"));
    assert_eq!(
        conflict::<(&mut field::x, &mut field::x), ()>(&world),
        named("&mut position::x", "&mut position::x")
    );
    assert_eq!(
        conflict::<(Entity, Has<Health>, (&Velocity, (&Frozen, &mut Velocity))), ()>(&world),
        named("&Velocity", "&mut Velocity"),
        "nested, between others"
    );
    assert_eq!(
        conflict::<(Option<&mut Health>, &Health), ()>(&world),
        named("Option<&mut Health>", "&Health"),
        "an optional term writes as well (hazard 28)"
    );
    assert_eq!(
        conflict::<(&Health, Option<(&Name, &mut Health)>), ()>(&world),
        named("&Health", "Option<&mut Health>")
    );
    assert_eq!(conflict::<(&mut Armour, Ref<Armour>), ()>(&world), named("&mut Armour", "Ref<Armour>"));
    assert_eq!(conflict::<(Ref<Label>, &mut tag::size), ()>(&world), named("Ref<Label>", "&mut label::size"));
    assert_eq!(
        conflict::<(&mut Slot<u8, 2>, &Slot<u8, 2>), ()>(&world),
        named("&mut Slot<u8, 2>", "&Slot<u8, 2>")
    );
    let filter = conflict::<(&mut Health, &Health), Without<Boss>>(&world);
    assert_eq!(filter, named("&mut Health", "&Health"), "filters do not help");
}

#[test]
fn terms_on_different_columns_or_reading_ones_go_together() {
    use crate::common::cast::position as field;
    let world = World::new();
    assert_eq!(conflict::<(&Health, &Health, Option<&Health>), ()>(&world), None);
    assert_eq!(conflict::<(&mut Health, &mut Position, &mut Velocity), ()>(&world), None);
    assert_eq!(conflict::<(&mut field::x, &mut field::y), ()>(&world), None);
    assert_eq!(conflict::<(&mut field::x, &field::y), ()>(&world), None);
    assert_eq!(conflict::<(&Position, &field::x), ()>(&world), None);
    assert_eq!(
        conflict::<(&mut Health, Has<Health>, Entity), (With<Health>, Or<(With<Health>, Without<Boss>)>)>(
            &world
        ),
        None
    );
    assert_eq!(conflict::<(&mut Slot<u8, 2>, &mut Slot<u8, 3>, &mut Slot<u16, 2>), ()>(&world), None);
    assert_eq!(conflict::<&mut Armour, Added<Armour>>(&world), None);
    assert_eq!(conflict::<(&Armour, Ref<Armour>), Changed<Armour>>(&world), None);
    assert_eq!(conflict::<(&mut Frozen, &mut Boss), ()>(&world), None);
}

// Hazard 29: refused for good, on every path, and the world is as before.
#[test]
fn conflicts_panic_with_both_terms_where_no_error_can_be_returned() {
    let mut world = World::new();
    let e = world.spawn((Health(1), position(2.0))).id();
    let text =
        "`&mut Health` and `&Health` of one query use the same data, and one of them writes: ask for it once";
    for _ in 0..2 {
        let message = panic_message(|| world.view_mut::<(&mut Health, &Health)>().count());
        assert_eq!(message, text, "as often as it is asked");
    }
    let message =
        panic_message(|| world.view_filtered_mut::<(&mut Health, &Health), Without<Boss>>().count());
    assert_eq!(message, text);
    assert_eq!(panic_message(|| world.query::<(&mut Health, &Health)>()), text);
    assert_eq!(panic_message(|| world.query_filtered::<(&mut Health, &Health), With<Boss>>()), text);
    assert_eq!(prepared(&world), (0, 0), "nothing half-made is kept");
    assert_eq!(world.view::<(Entity, &Health)>().into_iter().collect::<Vec<_>>(), [(e, &Health(1))]);
}

#[test]
fn filters_that_ask_for_different_things_are_different() {
    let mut world = World::new();
    world.spawn((Health(1), Frozen, Burning));
    fn filter<F: QueryFilter + 'static>(world: &World) -> phalanx::query::Filter {
        world.view_filtered::<(), F>().filter().clone()
    }
    let all = [
        filter::<()>(&world),
        filter::<Or<()>>(&world),
        filter::<With<Health>>(&world),
        filter::<Without<Health>>(&world),
        filter::<(With<Health>, With<Frozen>)>(&world),
        filter::<(With<Health>, Without<Frozen>)>(&world),
        filter::<Or<(With<Health>, With<Frozen>)>>(&world),
        filter::<Or<(With<Health>, Without<Frozen>)>>(&world),
        filter::<Or<(Without<Health>, Without<Frozen>)>>(&world),
        filter::<(Or<(With<Health>, With<Frozen>)>, With<Burning>)>(&world),
    ];
    for (at, one) in all.iter().enumerate() {
        for other in &all[..at] {
            assert_ne!(one, other);
        }
    }
    assert_eq!(filter::<(With<Health>, Without<Health>)>(&world), filter::<Or<()>>(&world), "no entity can");
}

// Hazard 28: an entity that has one of the two passes both; the two queries overlap and may not be held together
// for writing (`ui/query_two_writers.rs`).
#[test]
fn or_of_two_withouts_is_not_disjoint_from_anything() {
    let mut world = World::new();
    let neither = world.spawn(Health(0)).id();
    let a = world.spawn((Health(1), Frozen)).id();
    let b = world.spawn((Health(2), Burning)).id();
    let both = world.spawn((Health(3), Frozen, Burning)).id();
    assert_eq!(visited::<Or<(Without<Frozen>, Without<Burning>)>>(&world), [neither, a, b]);
    assert_eq!(visited::<With<Frozen>>(&world), [a, both]);
    assert_eq!(
        visited::<(With<Frozen>, Or<(Without<Frozen>, Without<Burning>)>)>(&world),
        [a],
        "they overlap"
    );
    assert_eq!(visited::<(With<Burning>, Or<(Without<Frozen>, Without<Burning>)>)>(&world), [b]);
    assert_eq!(
        visited::<(Or<(With<Frozen>, Without<Burning>)>, Or<(Without<Frozen>, With<Burning>)>)>(&world),
        [neither, both]
    );
}

// Hazard 28, the second half.
#[test]
fn any_of_and_optional_terms_are_not_disjoint_from_anything() {
    let mut world = World::new();
    let a = world.spawn((Health(1), Frozen)).id();
    let b = world.spawn((Health(2), Burning)).id();
    let c = world.spawn(Health(3)).id();
    let rowless = world.spawn_empty().id();
    assert_eq!(visited::<Or<(With<Frozen>, With<Burning>)>>(&world), [a, b]);
    assert_eq!(
        visited::<(Or<(With<Frozen>, With<Burning>)>, Without<Frozen>)>(&world),
        [b],
        "one of them is enough"
    );
    assert_eq!(visited::<(Or<(With<Frozen>, With<Boss>)>, Or<(With<Boss>, With<Frozen>)>)>(&world), [a]);
    assert_eq!(visited::<Or<(Or<(With<Frozen>, With<Boss>)>, Without<Burning>)>>(&world), [a, c, rowless]);
    let query = world.view::<(Entity, Option<&Frozen>, Option<&Burning>)>();
    let seen: Vec<(Entity, bool, bool)> =
        query.iter().map(|(id, frozen, burning)| (id, frozen.is_some(), burning.is_some())).collect();
    assert_eq!(seen, [(a, true, false), (b, false, true), (c, false, false), (rowless, false, false)]);
    let query = world.view_filtered::<(Entity, Option<&Health>), Without<Health>>();
    assert_eq!(query.iter().collect::<Vec<_>>(), [(rowless, None)], "an optional term is no `With`");
}

#[test]
fn every_filter_decides_alike_alone_nested_and_within_or() {
    let mut world = World::new();
    world.spawn_empty();
    for bits in 0..16 {
        let e = world.spawn_empty().id();
        let mut e = world.entity_mut(e);
        if bits & 1 != 0 {
            e.insert(Health(bits));
        }
        if bits & 2 != 0 {
            e.insert(Frozen);
        }
        if bits & 4 != 0 {
            e.insert(position(0.0));
        }
        if bits & 8 != 0 {
            e.insert(label("l"));
        }
    }
    let naive = |keep: &dyn Fn(bool, bool, bool, bool) -> bool| -> Vec<Entity> {
        let all = world.view::<(Entity, Has<Health>, Has<Frozen>, Has<Position>, Has<Label>)>();
        all.iter().filter(|&(_, h, f, p, l)| keep(h, f, p, l)).map(|(id, ..)| id).collect()
    };
    type H = With<Health>;
    type NoH = Without<Health>;
    type F = With<Frozen>;
    type NoF = Without<Frozen>;
    type P = With<Position>;
    type L = With<Label>;
    type NoL = Without<Label>;
    assert_eq!(visited::<(H, F)>(&world), naive(&|h, f, _, _| h && f));
    assert_eq!(visited::<Or<(H, F)>>(&world), naive(&|h, f, _, _| h || f));
    assert_eq!(visited::<Or<(H, (F, P))>>(&world), naive(&|h, f, p, _| h || f && p));
    assert_eq!(visited::<(Or<(H, F)>, Or<(P, NoL)>)>(&world), naive(&|h, f, p, l| (h || f) && (p || !l)));
    assert_eq!(visited::<Or<((H, NoF), (NoH, F))>>(&world), naive(&|h, f, _, _| h != f));
    assert_eq!(visited::<Or<(Or<(H, F)>, Or<(P, L)>)>>(&world), naive(&|h, f, p, l| h || f || p || l));
    assert_eq!(visited::<Or<(NoH, NoF, NoL)>>(&world), naive(&|h, f, _, l| !h || !f || !l));
    assert_eq!(visited::<Or<(With<Health>, With<Label>)>>(&world), naive(&|h, _, _, l| h || l));
    assert_eq!(
        visited::<(Or<(With<Health>, With<Label>)>, Or<(With<Frozen>, With<Label>)>)>(&world),
        naive(&|h, f, _, l| l || h && f)
    );
    assert_eq!(
        visited::<Or<(Or<(With<Health>, With<Label>)>, NoF)>>(&world),
        naive(&|h, f, _, l| h || l || !f)
    );
    assert_eq!(visited::<Or<(H, NoH)>>(&world), naive(&|_, _, _, _| true));
    assert_eq!(visited::<(H, NoH)>(&world), naive(&|_, _, _, _| false));
    assert_eq!(visited::<Or<()>>(&world), naive(&|_, _, _, _| false));
    assert_eq!(visited::<Or<(Or<()>, H)>>(&world), naive(&|h, _, _, _| h));
    assert_eq!(visited::<(((H,), ()), (NoF, (P,)))>(&world), naive(&|h, f, p, _| h && !f && p));
    assert_eq!(visited::<Or<((), H)>>(&world), naive(&|_, _, _, _| true));
}

// Hazard 25: filters beyond any fixed number of bits.
#[test]
fn filters_reach_beyond_256_components() {
    let mut world = World::new();
    let ids: Vec<ComponentId> = (0..300)
        .map(|n| world.register_dynamic(Schema::new(format!("tag {n}"))).expect("a new name"))
        .collect();
    let mut spawn = |tags: &[usize]| {
        let e = world.spawn(Health(1)).id();
        for &tag in tags {
            world.insert_dynamic(e, ids[tag], &[]).expect("alive");
        }
        e
    };
    let low = spawn(&[0]);
    let high = spawn(&[299]);
    let all = spawn(&[0, 63, 64, 127, 128, 255, 256, 299]);
    let build = || world.query_builder().build();
    let found = |query: phalanx::query::DynamicQuery| query.entities(&world).collect::<Vec<_>>();
    assert_eq!(found(build().and([ids[299]])), [high, all]);
    assert_eq!(found(build().and([ids[0]]).not([ids[256]])), [low]);
    assert_eq!(found(build().and([ids[63], ids[64], ids[255]])), [all]);
    assert_eq!(found(build().any_of([ids[0], ids[299]])), [low, high, all]);
    assert_eq!(
        found(build().any_of([ids[1], ids[43], ids[235]])),
        [],
        "bits of other words are not taken for these"
    );
    assert_eq!(world.view::<&Health>().count(), 3);
}
