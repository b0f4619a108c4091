//! What queries see: each entity that matches, once, with its own values.
//!
//! One query is kept for the whole history, so it lives through archetypes that are dropped and come again;
//! the others are those that the world keeps.

use std::collections::BTreeMap;

use phalanx::prelude::{Entity, QueryState, With, Without, World};

use crate::naive::{Cells, Naive};
use crate::parts::{Cell, Frozen, Key, Label, Part, Position, Small, Watched};

type Data = (Entity, &'static Position, Option<&'static Small>);

pub struct Kept(QueryState<Data, Without<Frozen>>);

impl Kept {
    pub fn new(world: &World) -> Self {
        Self(world.query_filtered())
    }

    pub fn compare(&mut self, world: &World, naive: &Naive) {
        let loose = |cells: &Cells| cells.contains_key(&Key::Position) && !cells.contains_key(&Key::Frozen);
        let expected =
            expected(naive, loose, |cells| (cells[&Key::Position].clone(), cells.get(&Key::Small).cloned()));
        let kept = self.0.query(world);
        let items =
            kept.iter().map(|(entity, row, small)| (entity, (row.get().cell(), small.map(Part::cell))));
        assert_eq!(once_each(items), expected, "the query that is kept");
        let cached = world.view_filtered::<Data, Without<Frozen>>();
        let items =
            cached.iter().map(|(entity, row, small)| (entity, (row.get().cell(), small.map(Part::cell))));
        assert_eq!(once_each(items), expected, "the query that the world keeps");

        let all = once_each(world.view::<Entity>().iter().map(|entity| (entity, ())));
        assert!(all.keys().eq(naive.entities.keys()), "a query that requires nothing");

        let labelled = |cells: &Cells| cells.contains_key(&Key::Label) && cells.contains_key(&Key::Watched);
        let expected = self::expected(naive, labelled, |cells| cells[&Key::Label].clone());
        let tables = world.view_filtered::<&Label, With<Watched>>();
        let items = tables.tables().flat_map(|table| {
            let entities = table.entities();
            let labels = table.slices();
            let cell = move |row: usize| Cell::Label(labels.text[row].as_str().to_owned(), labels.rank[row]);
            entities.iter().enumerate().map(move |(row, &entity)| (entity, cell(row)))
        });
        assert_eq!(once_each(items), expected, "a query by tables");
    }
}

fn expected<T>(
    naive: &Naive,
    matches: impl Fn(&Cells) -> bool,
    value: impl Fn(&Cells) -> T,
) -> BTreeMap<Entity, T> {
    let matching = naive.entities.iter().filter(|(_, cells)| matches(cells));
    matching.map(|(&entity, cells)| (entity, value(cells))).collect()
}

fn once_each<T>(items: impl Iterator<Item = (Entity, T)>) -> BTreeMap<Entity, T> {
    let mut seen = BTreeMap::new();
    for (entity, item) in items {
        assert!(seen.insert(entity, item).is_none(), "{entity} is yielded twice");
    }
    seen
}
