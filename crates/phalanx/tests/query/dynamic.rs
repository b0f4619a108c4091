//! Proves queries built at run time: what they match, how they compose, and columns by name and checked type.
//!
//! A dynamic query is a value. Composing leaves the parts as they were, the order of composing does not matter,
//! and equal filters share one prepared state with each other and with typed queries. Its tables give
//! columns of typed and run-time components alike, or an error that says what is wrong.

use crate::common::cast::{
    Armour, Boss, Burning, Frozen, Health, Label, Name, Position, Slot, label, name, position, visited,
};
use phalanx::ComponentId;
use phalanx::prelude::{Changed, Entity, FieldType, Or, Schema, Tick, Value, With, Without, World};
use phalanx::query::{ColumnError, DynamicQuery, QueryBuilder};

/// How many queries the world keeps prepared, and how many different filters they have.
fn prepared(world: &World) -> (usize, usize) {
    let stats = world.stats();
    (stats.prepared_queries, stats.prepared_filters)
}

/// A world with some archetypes, and the ids of `Health`, `Frozen`, `Burning` and `Position`.
fn scene() -> (World, [ComponentId; 4]) {
    let mut world = World::new();
    let ids = [
        world.register_component::<Health>(),
        world.register_component::<Frozen>(),
        world.register_component::<Burning>(),
        world.register_component::<Position>(),
    ];
    world.spawn_empty();
    world.spawn_batch((0..3).map(Health));
    world.spawn_batch((3..5).map(|n| (Health(n), Frozen)));
    world.spawn((Health(5), Burning, position(5.0)));
    world.spawn((Frozen, Burning));
    world.spawn((position(7.0), Frozen));
    (world, ids)
}

fn found(query: &DynamicQuery, world: &World) -> Vec<Entity> {
    let entities: Vec<Entity> = query.entities(world).collect();
    assert_eq!(query.count(world), entities.len());
    for entity in world.entities().iter() {
        assert_eq!(query.contains(world, entity), entities.contains(&entity), "{entity}");
    }
    entities
}

// O-162, O-163, O-165: all of these, none of those, any of these.
#[test]
fn built_queries_match_what_typed_ones_match() {
    let (world, [health, frozen, burning, pos]) = scene();
    let built =
        |build: &dyn Fn(QueryBuilder) -> QueryBuilder| found(&build(world.query_builder()).build(), &world);
    assert_eq!(built(&|q| q), visited::<()>(&world));
    assert_eq!(built(&|q| q.with(health)), visited::<With<Health>>(&world));
    assert_eq!(built(&|q| q.without(health)), visited::<Without<Health>>(&world));
    assert_eq!(
        built(&|q| q.with(health).without(frozen)),
        visited::<(With<Health>, Without<Frozen>)>(&world)
    );
    assert_eq!(built(&|q| q.any_of([frozen, burning])), visited::<Or<(With<Frozen>, With<Burning>)>>(&world));
    assert_eq!(
        built(&|q| q.with(frozen).any_of([burning, pos])),
        visited::<(With<Frozen>, Or<(With<Burning>, With<Position>)>)>(&world)
    );
    assert_eq!(
        built(&|q| q.any_of([health, frozen]).any_of([burning, pos])),
        visited::<(Or<(With<Health>, With<Frozen>)>, Or<(With<Burning>, With<Position>)>)>(&world),
        "every group must be met"
    );
    assert_eq!(
        built(&|q| q.any_of([health, frozen]).without(frozen)),
        visited::<(With<Health>, Without<Frozen>)>(&world)
    );
    assert_eq!(built(&|q| q.with(health).without(health)), [], "a contradiction matches nothing");
    assert_eq!(built(&|q| q.any_of([health]).without(health)), []);
}

// DESIGN 8: an absent any-of matches everything.
#[test]
fn an_empty_any_of_asks_for_nothing() {
    let (world, [health, ..]) = scene();
    let query = world.query_builder().any_of([]).build();
    assert_eq!(found(&query, &world), visited::<()>(&world));
    assert_eq!(found(&query.and([health]).any_of([]), &world), visited::<With<Health>>(&world));
    assert_eq!(found(&query.and([]).not([]), &world), visited::<()>(&world));
    assert_eq!(query, QueryBuilder::new().build());
    assert_eq!(visited::<()>(&world), visited::<()>(&world));
}

// O-166, O-179.
#[test]
fn composing_leaves_the_first_query_as_it_was() {
    let (world, [health, frozen, burning, pos]) = scene();
    let base = world.query_builder().with(health).build();
    let before = found(&base, &world);
    let narrow = base.and([pos]);
    let cold = base.not([frozen]);
    let hot = base.any_of([burning, frozen]);
    assert_eq!(found(&narrow, &world), visited::<(With<Health>, With<Position>)>(&world));
    assert_eq!(found(&cold, &world), visited::<(With<Health>, Without<Frozen>)>(&world));
    assert_eq!(found(&hot, &world), visited::<(With<Health>, Or<(With<Burning>, With<Frozen>)>)>(&world));
    assert_eq!(found(&base, &world), before);
    assert_eq!(base, world.query_builder().with(health).build());
}

// O-167, O-168, O-171: the same sets, however they were put together, are one query.
#[test]
fn the_order_of_composing_does_not_matter() {
    let (world, [health, frozen, burning, pos]) = scene();
    let queries = [
        world.query_builder().with(health).with(pos).without(frozen).any_of([burning, frozen]).build(),
        world.query_builder().any_of([frozen, burning]).without(frozen).with(pos).with(health).build(),
        world
            .query_builder()
            .build()
            .not([frozen])
            .any_of([burning, frozen, burning])
            .and([pos, health, pos]),
        world.query_builder().with(health).build().and([pos]).any_of([frozen, burning]).not([frozen, frozen]),
    ];
    for query in &queries {
        assert_eq!(query.filter(), queries[0].filter());
        assert_eq!(found(query, &world), found(&queries[0], &world));
    }
    assert_eq!(prepared(&world), (1, 1), "one state for all of them");
    let other = queries[0].not([health]);
    assert_ne!(other.filter(), queries[0].filter());
}

#[test]
fn filters_that_ask_for_the_same_are_equal_in_normal_form() {
    let (world, [health, frozen, burning, _]) = scene();
    let build = || world.query_builder().build();
    let same: [(DynamicQuery, DynamicQuery); 5] = [
        (build().any_of([health]), build().and([health])),
        (build().and([health]).any_of([health, frozen]), build().and([health])),
        (build().any_of([health, frozen]).not([frozen]), build().and([health]).not([frozen])),
        (build().any_of([health, frozen]).any_of([frozen, health]), build().any_of([health, frozen])),
        (build().any_of([health]).any_of([health, frozen, burning]), build().and([health])),
    ];
    for (at, (a, b)) in same.iter().enumerate() {
        assert_eq!(a.filter(), b.filter(), "pair {at}");
        assert_eq!(found(a, &world), found(b, &world), "pair {at}");
    }
}

// O-168, O-169: one cache for typed and dynamic queries.
#[test]
fn dynamic_and_typed_queries_share_prepared_filters() {
    let (world, [health, frozen, burning, _]) = scene();
    let dynamic = world.query_builder().with(health).without(frozen).any_of([burning, health]).build();
    assert_eq!(dynamic.count(&world), 4);
    let typed = world.view_filtered::<&Health, (Or<(With<Health>, With<Burning>)>, Without<Frozen>)>();
    assert_eq!(typed.count(), 4);
    assert_eq!(typed.filter(), dynamic.filter());
    assert_eq!(prepared(&world), (2, 1));
    world.view_filtered::<Entity, (Without<Frozen>, With<Health>)>();
    assert_eq!(prepared(&world), (3, 1));
    world.view_filtered::<Entity, With<Health>>();
    assert_eq!(prepared(&world), (4, 2));
}

#[test]
fn tables_give_typed_columns_by_name() {
    let (world, [health, frozen, burning, pos]) = scene();
    let query = world.query_builder().with(pos).build();
    let mut rows = Vec::new();
    for table in query.tables(&world) {
        let xs: &[f32] = table.column(pos, "x").expect("a field of the component");
        let ys = table.column::<f32>(pos, "y").expect("a field of the component");
        assert_eq!((xs.len(), ys.len(), table.entities().len()), (table.len(), table.len(), table.len()));
        assert!(!table.is_empty());
        rows.extend(table.entities().iter().zip(xs).map(|(&id, &x)| (id, x)));
    }
    let typed: Vec<(Entity, f32)> =
        world.view::<(Entity, &Position)>().into_iter().map(|(id, pos)| (id, *pos.x)).collect();
    assert_eq!(rows, typed);
    // A whole component has one column without a name, a tag one without memory.
    let query = world.query_builder().with(health).with(burning).build();
    let table = query.tables(&world).next().expect("one table");
    assert_eq!(table.column::<Health>(health, ""), Ok(&[Health(5)][..]));
    assert_eq!(table.column::<Burning>(burning, ""), Ok(&[Burning][..]));
    assert!(matches!(table.column::<Frozen>(frozen, ""), Err(ColumnError::NoComponent { .. })));
    // Columns live as long as the world is borrowed, not as long as the table or the query.
    let column: &[Health] = {
        let query = world.query_builder().with(health).build();
        query.tables(&world).last().and_then(|table| table.column(health, "").ok()).expect("a column")
    };
    assert_eq!(column, [Health(5)]);
}

// API.md, "Dynamic components".
#[test]
fn components_from_a_schema_are_queried_like_typed_ones() {
    let mut world = World::new();
    let hp = world
        .register_dynamic(Schema::new("hp").field("current", FieldType::I32).field("max", FieldType::I32))
        .expect("a new name");
    let frozen = world.register_dynamic(Schema::new("frozen")).expect("a new name");
    let [fire, ice] =
        ["fire", "ice"].map(|tag| world.register_dynamic(Schema::new(tag)).expect("a new name"));
    let spawn = |world: &mut World, current: i32, tags: &[ComponentId]| {
        let e = world.spawn_empty().id();
        world.insert_dynamic(e, hp, &[("current", current.into()), ("max", 10.into())]).expect("it fits");
        for &tag in tags {
            world.insert_dynamic(e, tag, &[]).expect("a tag has no fields");
        }
        e
    };
    spawn(&mut world, 1, &[]);
    let burning = spawn(&mut world, 2, &[fire]);
    spawn(&mut world, 3, &[ice, frozen]);
    let cold = spawn(&mut world, 4, &[ice]);
    let both = spawn(&mut world, 5, &[fire, ice]);
    let q = world.query_builder().with(hp).without(frozen).any_of([fire, ice]).build();
    assert_eq!(found(&q, &world), [burning, cold, both]);
    let mut seen = Vec::new();
    for table in q.tables(&world) {
        let current: &[i32] = table.column(hp, "current").expect("the schema has it");
        seen.extend_from_slice(current);
    }
    assert_eq!(seen, [2, 4, 5]);
    q.for_each_table_mut(&mut world, |mut table| {
        let max: Vec<i32> = table.as_ref().column::<i32>(hp, "max").expect("the schema has it").to_vec();
        table.column_mut::<i32>(hp, "current").expect("the schema has it").copy_from_slice(&max);
    });
    assert_eq!(world.get_field(cold, hp, "current"), Ok(Value::I32(10)));
    assert!(matches!(
        q.tables(&world).next().map(|t| t.column::<()>(fire, "").map(<[()]>::len)),
        Some(Ok(1))
    ));
}

#[test]
fn columns_of_every_scalar_type_are_checked_by_type() {
    let types = [
        FieldType::F32,
        FieldType::F64,
        FieldType::U8,
        FieldType::U16,
        FieldType::U32,
        FieldType::U64,
        FieldType::I8,
        FieldType::I16,
        FieldType::I32,
        FieldType::I64,
        FieldType::Bool,
        FieldType::Entity,
    ];
    let mut world = World::new();
    let fields = types.iter().map(|scalar| (format!("{scalar}"), *scalar));
    let all = world.register_dynamic(Schema::new("all").fields(fields)).expect("a new name");
    let e = world.spawn_empty().id();
    world.insert_dynamic(e, all, &[]).expect("zero values");
    let query = world.query_builder().with(all).build();
    let table = query.tables(&world).next().expect("one table");
    for scalar in types {
        let name = format!("{scalar}");
        let fits = [
            table.column::<f32>(all, &name).is_ok(),
            table.column::<f64>(all, &name).is_ok(),
            table.column::<u8>(all, &name).is_ok(),
            table.column::<u16>(all, &name).is_ok(),
            table.column::<u32>(all, &name).is_ok(),
            table.column::<u64>(all, &name).is_ok(),
            table.column::<i8>(all, &name).is_ok(),
            table.column::<i16>(all, &name).is_ok(),
            table.column::<i32>(all, &name).is_ok(),
            table.column::<i64>(all, &name).is_ok(),
            table.column::<bool>(all, &name).is_ok(),
            table.column::<Entity>(all, &name).is_ok(),
        ];
        assert_eq!(fits, types.map(|other| other == scalar), "{name}");
    }
}

#[test]
fn columns_that_are_not_there_are_errors_that_say_why() {
    let (mut world, [health, _, burning, pos]) = scene();
    let foreign = {
        let mut other = World::new();
        for n in 0..20_u8 {
            other.register_dynamic(Schema::new(format!("tag {n}"))).expect("a new name");
        }
        other.register_component::<Name>()
    };
    let query = world.query_builder().with(health).with(burning).build();
    let table = query.tables(&world).next().expect("one table");
    let told = |error: Option<ColumnError>| error.map(|error| error.to_string()).unwrap_or_default();
    let health_name = world.components().get_info(health).expect("registered").name().to_owned();
    let pos_name = world.components().get_info(pos).expect("registered").name().to_owned();
    assert_eq!(
        told(table.column::<f64>(pos, "x").err()),
        format!("column `x` of `{pos_name}` holds f32, not f64")
    );
    assert_eq!(told(table.column::<f32>(pos, "z").err()), format!("`{pos_name}` has no field `z`"));
    assert_eq!(told(table.column::<f32>(pos, "").err()), format!("`{pos_name}` has no field ``"));
    assert_eq!(told(table.column::<u32>(health, "0").err()), format!("`{health_name}` has no field `0`"));
    assert!(matches!(table.column::<u32>(health, ""), Err(ColumnError::WrongType { asked: "u32", .. })));
    assert!(matches!(table.column::<Name>(foreign, ""), Err(ColumnError::NoComponent { .. })));
    let query = world.query_builder().with(health).without(pos).build();
    let table = query.tables(&world).next().expect("a table");
    assert_eq!(
        told(table.column::<f32>(pos, "x").err()),
        format!("this table has no `{pos_name}`: ask for it with `with`")
    );
    let mut calls = 0;
    query.for_each_table_mut(&mut world, |mut table| {
        calls += 1;
        assert!(matches!(table.column_mut::<f32>(pos, "x"), Err(ColumnError::NoComponent { .. })));
        assert!(matches!(table.column_mut::<u32>(health, ""), Err(ColumnError::WrongType { .. })));
        assert!(matches!(table.column_mut::<Health>(health, "hp"), Err(ColumnError::UnknownField { .. })));
        assert_eq!((table.len(), table.is_empty()), (table.as_ref().entities().len(), false));
    });
    assert_eq!(calls, 2);
    assert_eq!(
        world.query_builder().with(foreign).build().count(&world),
        0,
        "an id of another world finds nothing"
    );
    assert_eq!(world.query_builder().without(foreign).build().count(&world), world.entities().len());
}

// O-158, O-159, O-160, hazard 26: a dynamic query is always up to date, though it is kept outside the world.
#[test]
fn dynamic_queries_follow_the_world() {
    let (mut world, [health, frozen, ..]) = scene();
    let query = world.query_builder().with(health).without(frozen).build();
    assert_eq!(query.count(&world), 4);
    let boss = world.spawn((Health(9), Boss)).id();
    assert_eq!(found(&query, &world).last(), Some(&boss), "a new archetype");
    world.entity_mut(boss).insert(Frozen);
    assert_eq!(query.count(&world), 4);
    let all: Vec<Entity> = query.entities(&world).collect();
    world.despawn_batch(all);
    assert_eq!((query.count(&world), query.tables(&world).count()), (0, 0));
    assert!(world.drop_empty_archetypes() > 0);
    assert_eq!(found(&query, &world), []);
    let reborn = world.spawn((Health(1), name("n"))).id();
    assert_eq!(found(&query, &world), [reborn], "ids of dropped archetypes are used again");
}

// O-188: the documented order, with the rowless last.
#[test]
fn entities_come_table_by_table_and_the_rowless_last() {
    let mut world = World::new();
    let first = world.spawn_empty().id();
    let frozen = world.register_component::<Frozen>();
    let a = world.spawn(Health(1)).id();
    world.spawn(Frozen);
    let b = world.spawn((Health(1), Boss)).id();
    let c = world.spawn(Health(1)).id();
    let query = world.query_builder().without(frozen).build();
    assert_eq!(found(&query, &world), [a, c, b, first]);
    assert_eq!(query.tables(&world).map(|table| table.len()).collect::<Vec<_>>(), [2, 1], "tables have rows");
}

#[test]
fn components_with_drops_are_written_in_place() {
    let mut world = World::new();
    world.spawn_batch((0..3).map(|n| (name(&n.to_string()), Slot([n; 2]))));
    let id = world.component_id::<Name>().expect("registered");
    let slot = world.component_id::<Slot<i32, 2>>().expect("registered");
    let query = world.query_builder().with(id).build();
    query.for_each_table_mut(&mut world, |mut table| {
        for name in table.column_mut::<Name>(id, "").expect("whole") {
            name.0 = format!("<{}>", name.0);
        }
        table.column_mut::<Slot<i32, 2>>(slot, "").expect("whole").reverse();
    });
    let seen: Vec<(&str, i32)> = world
        .view::<(&Name, &Slot<i32, 2>)>()
        .into_iter()
        .map(|(name, slot)| (name.0.as_str(), slot.0[0]))
        .collect();
    assert_eq!(seen, [("<0>", 2), ("<1>", 1), ("<2>", 0)]);
}

// What is written by name is written: row ticks must tell, as they do for every other way.
#[test]
fn writing_a_column_of_a_component_with_row_ticks_counts_as_change() {
    let mut world = World::new();
    let e = world.spawn((Armour(1), label("l"))).id();
    let [armour, tag] =
        [world.component_id::<Armour>(), world.component_id::<Label>()].map(|id| id.expect("registered"));
    let query = world.query_builder().with(armour).build();
    world.clear_trackers();
    let before = world.last_change_tick();
    query.for_each_table_mut(&mut world, |table| {
        assert_eq!(table.as_ref().column::<Armour>(armour, ""), Ok(&[Armour(1)][..]));
    });
    assert_eq!(visited::<Or<(Changed<Armour>, Changed<Label>)>>(&world), [], "reading is no change");
    query.for_each_table_mut(&mut world, |mut table| {
        table.column_mut::<Armour>(armour, "").expect("whole")[0].0 = 2;
    });
    assert_eq!(visited::<Changed<Armour>>(&world), [e]);
    assert_eq!(visited::<Changed<Label>>(&world), []);
    query.for_each_table_mut(&mut world, |mut table| {
        table.column_mut::<u8>(tag, "size").expect("a field")[0] = 2;
    });
    assert_eq!(visited::<Changed<Label>>(&world), [e]);
    assert!(
        world
            .view::<phalanx::prelude::Ref<Label>>()
            .into_iter()
            .all(|tag| !tag.is_added() && tag.is_changed())
    );
    assert!(before > Tick::ZERO);
}

#[derive(phalanx::prelude::Component)]
struct Stats {
    level: u16,
    owner: Entity,
    title: String,
    grid: [i64; 2],
}

#[derive(phalanx::prelude::Component)]
#[component(storage = "sparse")]
struct Heat {
    degrees: f64,
}

#[test]
fn values_of_a_field_are_read_for_many_rows_of_any_storage() {
    let mut world = World::new();
    let schema = Schema::new("Cargo").field("mass", FieldType::U64);
    let cargo = world.register_dynamic(schema).expect("a new name");
    let (stats, pos) = (world.register_component::<Stats>(), world.register_component::<Position>());
    let heat = world.register_component::<Heat>();
    let mut entities = Vec::new();
    for n in 0..10_u16 {
        let owner = entities.last().copied().unwrap_or(Entity::PLACEHOLDER);
        let own = Stats { level: n, owner, title: String::new(), grid: [n.into(), -i64::from(n)] };
        let id = world.spawn((own, position(n.into()), Heat { degrees: f64::from(n) / 4.0 })).id();
        world.insert_dynamic(id, cargo, &[("mass", Value::U64(u64::from(n) << 40))]).expect("it fits");
        entities.push(id);
    }
    let query = world.query_builder().with(stats).build();
    let table = query.tables(&world).next().expect("they have one table");
    let values = |id, field: &str, rows: &[usize]| {
        let mut out = vec![Value::Bool(true)];
        table.field_values(id, field, rows.iter().copied(), &mut out).map(|()| out.split_off(1))
    };
    let rows = [9, 0, 4, 4];
    for (id, field) in
        [(stats, "level"), (stats, "owner"), (stats, "grid.1"), (pos, "x"), (pos, "y"), (cargo, "mass")]
    {
        let one = |row: &usize| world.get_field(entities[*row], id, field).expect("a scalar");
        assert_eq!(values(id, field, &rows), Ok(rows.iter().map(one).collect()), "{field}");
    }
    assert_eq!(values(stats, "level", &[]), Ok(Vec::new()));

    // The rows of a set are a table, too, but not of other tables.
    let run = world.sparse_runs(heat).next().expect("all of them");
    let mut out = Vec::new();
    run.field_values(heat, "degrees", 2..4, &mut out).expect("a number");
    assert_eq!(out, [Value::F64(0.5), Value::F64(0.75)]);
    assert!(matches!(values(heat, "degrees", &[0]), Err(ColumnError::Sparse { .. })));

    assert!(matches!(values(stats, "none", &[0]), Err(ColumnError::UnknownField { .. })));
    let health = world.register_component::<Health>();
    let without = world.query_builder().with(stats).build();
    let table = without.tables(&world).next().expect("as before");
    let error = table.field_values(health, "0", 0..1, &mut Vec::new()).expect_err("it is in no table");
    assert!(matches!(error, ColumnError::NoComponent { .. }), "{error}");
    let error = table.field_values(stats, "title", 0..1, &mut Vec::new()).expect_err("a text is no value");
    assert!(
        error.to_string().ends_with("holds alloc::string::String, not a number, a bool or an entity"),
        "{error}"
    );
}

#[test]
#[should_panic(expected = "out of bounds")]
fn values_of_a_row_that_is_not_there_are_refused() {
    let (world, [health, ..]) = scene();
    let query = world.query_builder().with(health).build();
    let table = query.tables(&world).next().expect("some have health");
    let _ = table.field_values(health, "0", [table.len()], &mut Vec::new());
}
