//! Random queries built at run time, some of them kept.

use phalanx::ComponentId;
use phalanx::prelude::{Entity, World};
use phalanx::query::DynamicQuery;

use crate::common::cast::{Position, Random};
use crate::naive::{COUNT, KINDS, Naive, POSITION};

/// A query, and what it asks for as sets of bits.
pub struct Built {
    query: DynamicQuery,
    all: u32,
    none: u32,
    any_of: Vec<u32>,
}

impl Built {
    /// A random query over the components that are registered, put together in random order.
    pub fn random(world: &World, ids: &[Option<ComponentId>; KINDS], rng: &mut Random) -> Self {
        let mut built = Self { query: world.query_builder().build(), all: 0, none: 0, any_of: Vec::new() };
        for _ in 0..rng.below(5) {
            let kinds: Vec<usize> = (0..KINDS).filter(|&kind| ids[kind].is_some() && rng.chance(4)).collect();
            let bits = kinds.iter().fold(0, |bits, kind| bits | 1 << kind);
            let named = kinds.iter().filter_map(|&kind| ids[kind]);
            match rng.below(3) {
                0 => {
                    built.query = built.query.and(named.take(2));
                    built.all |= kinds.iter().take(2).fold(0, |bits, kind| bits | 1 << kind);
                }
                1 => {
                    built.query = built.query.not(named);
                    built.none |= bits;
                }
                _ => {
                    built.query = built.query.any_of(named);
                    if bits != 0 {
                        built.any_of.push(bits);
                    }
                }
            }
        }
        built
    }

    fn keeps(&self, has: u32) -> bool {
        has & self.all == self.all && has & self.none == 0 && self.any_of.iter().all(|group| has & group != 0)
    }

    /// Compares with the naive answer, and returns how many entities matched.
    pub fn check(&self, world: &mut World, naive: &Naive, ids: &[Option<ComponentId>; KINDS]) -> usize {
        let order = naive.in_order();
        let expected: Vec<Entity> =
            order.iter().copied().filter(|&id| self.keeps(naive.entry(id).expect("alive").has)).collect();
        assert_eq!(self.query.entities(world).collect::<Vec<_>>(), expected, "{:?}", self.query);
        assert_eq!(self.query.count(world), expected.len());
        for &entity in order.iter().chain(&naive.dead) {
            assert_eq!(self.query.contains(world, entity), expected.contains(&entity));
        }
        let tables: Vec<(u32, &[Entity])> = naive.tables().filter(|&(has, _)| self.keeps(has)).collect();
        let found: Vec<&[Entity]> = self.query.tables(world).map(|table| table.entities()).collect();
        assert!(found.iter().eq(tables.iter().map(|(_, entities)| entities)), "tables");
        let value = |kind: usize| move |id: &Entity| naive.entry(*id).expect("alive").values[kind];
        for (table, &(has, entities)) in self.query.tables(world).zip(&tables) {
            if let Some(id) = ids[POSITION] {
                let xs = table.column::<f32>(id, "x").ok();
                assert_eq!(xs.is_some(), has & (1 << POSITION) != 0);
                let expected = entities.iter().map(value(POSITION)).map(f64::from);
                assert!(xs.is_none_or(|xs| xs.iter().map(|&x| f64::from(x)).eq(expected)));
                assert!(table.column::<Position>(id, "").is_err(), "it is kept by fields");
            }
            if let Some(id) = ids[COUNT] {
                let counts = table.column::<u32>(id, "n").ok();
                assert_eq!(counts.is_some(), has & (1 << COUNT) != 0);
                assert!(
                    counts.is_none_or(|counts| counts.iter().copied().eq(entities.iter().map(value(COUNT))))
                );
            }
        }
        let mut lens = Vec::new();
        self.query.for_each_table_mut(world, |table| lens.push(table.len()));
        assert!(
            lens.into_iter().eq(tables.iter().map(|(_, entities)| entities.len())),
            "tables to be written"
        );
        expected.len()
    }

    /// The entities that match, to be written.
    pub fn query(&self) -> &DynamicQuery {
        &self.query
    }

    /// Whether a set of components matches.
    pub fn matches(&self, has: u32) -> bool {
        self.keeps(has)
    }
}
