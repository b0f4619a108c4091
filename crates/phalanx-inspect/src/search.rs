//! Searches: a query whose candidates are asked part by part, while the app goes on between the parts.
//!
//! ```text
//!   tables   all rows of the candidates' tables, block by block; each slot that was looked at is noted
//!   slots    those not noted: entities without a row, and those whose row moved past the search meanwhile
//! ```
//!
//! Rows move when entities come, go and change their components, but an entity never changes its slot. So an entity that
//! lives from the begin of a search to its end is asked once, wherever it went. One that comes meanwhile may be asked or
//! not. Whether a match still matches is not asked again: it did at the moment of its part, and [`Page::parts`] tells
//! whether there were several.

use std::time::{Duration, Instant};

use phalanx::prelude::{Entity, Value, World};
use phalanx::query::DynamicTable;

use crate::find::Plan;

/// No more matches of a search are kept.
const MAX_MATCHES: usize = 100_000;
/// How many rows are looked at between two looks at the clock.
const BLOCK: usize = 64;
/// A search that was not asked for so long does not go on.
const WANTED_FOR: Duration = Duration::from_secs(2);

/// See the module.
pub struct Search {
    pub text: String,
    plan: Plan,
    at: At,
    seen: Slots,
    matches: Vec<Entity>,
    asked: usize,
    parts: usize,
    wanted: Instant,
    room: (Vec<usize>, Vec<Value>),
}

/// How far a search is.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// In this table, by its position among those of the candidates, at this row.
    Table(usize, usize),
    /// At this slot.
    Slot(u32),
    End,
}

/// A part of what a search found.
pub struct Page {
    pub total: usize,
    pub scanned: usize,
    pub complete: bool,
    /// In how many parts the search looked so far.
    pub parts: usize,
    pub entities: Vec<Entity>,
}

impl Search {
    pub fn new(text: &str, plan: Plan) -> Self {
        Self {
            text: text.to_owned(),
            at: if plan.is_counted() { At::End } else { At::Table(0, 0) },
            plan,
            seen: Slots::default(),
            matches: Vec::new(),
            asked: 0,
            parts: 0,
            wanted: Instant::now(),
            room: (Vec::new(), Vec::new()),
        }
    }

    /// Whether nothing was looked at yet.
    pub fn is_new(&self) -> bool {
        self.parts == 0
    }

    /// A client asked for it.
    pub fn want(&mut self) {
        self.wanted = Instant::now();
    }

    /// Whether there is more to look at, and a client waits for it.
    pub fn goes_on(&self) -> bool {
        self.at != At::End && self.wanted.elapsed() < WANTED_FOR
    }

    /// Looks at a part of the world, until a moment; at least at a few entities.
    pub fn go_on(&mut self, world: &World, until: Instant) {
        if self.at == At::End {
            return;
        }
        self.parts += 1;
        if let Some(only) = self.plan.only() {
            let found = only.filter(|&entity| world.contains(entity) && self.plan.holds(world, entity));
            self.matches = found.into_iter().collect();
            self.at = At::End;
            return;
        }
        if let At::Table(nth, row) = self.at
            && self.look_at_tables(world, nth, row, until)
        {
            // In one part no entity moves.
            let all = self.parts == 1 && self.plan.rowless(world) == 0;
            self.at = if all { At::End } else { At::Slot(0) };
        }
        if let At::Slot(slot) = self.at {
            self.look_at_slots(world, slot, until);
        }
        if self.matches.len() >= MAX_MATCHES {
            self.matches.truncate(MAX_MATCHES);
            self.at = At::End;
        }
        if self.at == At::End {
            (self.seen, self.room) = (Slots::default(), (Vec::new(), Vec::new()));
        }
    }

    /// True when all tables are done.
    fn look_at_tables(&mut self, world: &World, nth: usize, mut row: usize, until: Instant) -> bool {
        self.seen.grow(world);
        for (nth, table) in (nth..).zip(self.plan.tables(world).skip(nth)) {
            while row < table.len() {
                let end = table.len().min(row + BLOCK);
                self.look_at(world, &table, row..end);
                row = end;
                if Instant::now() >= until || self.matches.len() >= MAX_MATCHES {
                    self.at = At::Table(nth, row);
                    return false;
                }
            }
            row = 0;
        }
        true
    }

    fn look_at(&mut self, world: &World, table: &DynamicTable<'_>, rows: std::ops::Range<usize>) {
        let owners = table.entities();
        let (unseen, values) = &mut self.room;
        unseen.clear();
        unseen.extend(rows.filter(|&row| self.seen.insert(owners[row].index())));
        self.asked += unseen.len();
        self.plan.retain(world, table, unseen, values);
        self.matches.extend(unseen.iter().map(|&row| owners[row]));
    }

    fn look_at_slots(&mut self, world: &World, from: u32, until: Instant) {
        self.seen.grow(world);
        let mut looked = 0;
        for slot in self.seen.missing(from) {
            let entity =
                world.entities().at_slot(slot).filter(|&entity| self.plan.is_candidate(world, entity));
            if let Some(entity) = entity {
                self.asked += 1;
                self.matches.extend(Some(entity).filter(|&entity| self.plan.holds(world, entity)));
            }
            looked += 1;
            let enough = looked % BLOCK == 0 && Instant::now() >= until;
            if enough || self.matches.len() >= MAX_MATCHES {
                self.at = At::Slot(slot + 1);
                return;
            }
        }
        self.at = At::End;
    }

    /// A part of what was found so far.
    pub fn page(&self, world: &World, offset: usize, limit: usize) -> Page {
        if self.plan.is_counted() {
            let entities = self.plan.candidates(world, offset).take(limit).collect();
            let total = self.plan.count(world);
            return Page { total, scanned: total, complete: true, parts: 1, entities };
        }
        let found =
            self.matches.iter().skip(offset).take(limit).copied().filter(|&entity| world.contains(entity));
        let (total, scanned, complete) = (self.matches.len(), self.asked, self.at == At::End);
        Page { total, scanned, complete, parts: self.parts, entities: found.collect() }
    }
}

/// A set of slots, one bit each.
#[derive(Default)]
struct Slots {
    words: Vec<u64>,
    len: u32,
}

impl Slots {
    /// Has room for all slots that there are now.
    fn grow(&mut self, world: &World) {
        self.len = self.len.max(world.entities().slots());
        self.words.resize(self.len.div_ceil(64) as usize, 0);
    }

    /// Adds a slot; false when it was there.
    fn insert(&mut self, slot: u32) -> bool {
        let (word, bit) = (&mut self.words[slot as usize / 64], 1 << (slot % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// The slots from one on that are not in the set.
    fn missing(&self, from: u32) -> impl Iterator<Item = u32> + '_ {
        let mut next = from;
        std::iter::from_fn(move || {
            while next < self.len {
                let free = !self.words[next as usize / 64] >> (next % 64);
                if free != 0 {
                    let found = next + free.trailing_zeros();
                    next = found + 1;
                    return Some(found).filter(|&found| found < self.len);
                }
                next = (next / 64 + 1) * 64;
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::query_text::parse;
    use phalanx::prelude::*;

    #[derive(Component)]
    struct Health {
        hp: i32,
    }
    #[derive(Component)]
    struct Tall;
    #[derive(Component)]
    struct Wide;
    #[derive(Component)]
    #[component(storage = "sparse")]
    struct Marked(i32);

    fn search(world: &World, text: &str) -> Search {
        let terms = parse(text).expect("well formed");
        Search::new(text, Plan::new(world, &terms).expect("known names"))
    }

    /// Looks at 64 candidates.
    fn look(search: &mut Search, world: &World) {
        search.go_on(world, Instant::now());
    }

    fn all(search: &Search, world: &World) -> Page {
        search.page(world, 0, usize::MAX)
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 33).expect("31 bits") % end
        }
    }

    /// Entities of several tables, some of them in the set, some without a row.
    fn scene(count: i32) -> (World, Vec<Entity>) {
        let mut world = World::new();
        world.register_component::<Tall>();
        world.register_component::<Wide>();
        world.register_component::<Marked>();
        let mut entities = Vec::new();
        for n in 0..count {
            let id = world.spawn(Health { hp: n % 10 }).id();
            if n % 3 == 0 {
                world.entity_mut(id).insert(Tall);
            }
            if n % 2 == 0 {
                world.entity_mut(id).insert(Marked(n % 10));
            }
            entities.push(id);
        }
        (world, entities)
    }

    /// One of many ways to change the structure of a world, which leaves all values alone.
    fn disturb(world: &mut World, random: &mut Random, entities: &mut Vec<Entity>) {
        let at = random.below(entities.len());
        let id = entities[at];
        match random.below(8) {
            0 | 1 => {
                world.despawn(id);
                entities.swap_remove(at);
            }
            2 => {
                world.entity_mut(id).insert(Tall);
            }
            3 => {
                world.entity_mut(id).remove::<Tall>();
            }
            4 => {
                world.entity_mut(id).insert(Wide);
            }
            5 => {
                world.entity_mut(id).remove::<Wide>();
            }
            6 => {
                world.spawn((Health { hp: 3 }, Wide));
            }
            _ => {
                world.spawn((Health { hp: 8 }, Marked(3)));
            }
        }
    }

    #[test]
    fn an_entity_that_lives_all_the_time_is_found_once_wherever_it_moves() {
        for seed in 1..=30 {
            let mut random = Random(seed * 7919);
            let (mut world, mut entities) = scene(2000);
            let texts =
                ["Health.hp < 5", "Marked.0 < 5", "Health.hp < 5, !Marked", "Marked.0 < 5, Health.hp < 9"];
            let text = texts[random.below(texts.len())];
            let mut search = search(&world, text);
            let mut parts = 0;
            while search.at != At::End {
                look(&mut search, &world);
                parts += 1;
                for _ in 0..random.below(60) {
                    disturb(&mut world, &mut random, &mut entities);
                }
            }
            let page = all(&search, &world);
            assert!(page.complete && page.parts == parts && parts > 10, "{} of {parts}", page.parts);
            let found: BTreeSet<Entity> = page.entities.iter().copied().collect();
            assert_eq!(found.len(), page.entities.len(), "no entity twice");
            for &entity in &entities {
                let holds = search.plan.holds(&world, entity);
                assert_eq!(found.contains(&entity), holds, "{entity}, {text}, seed {seed}");
            }
        }
    }

    #[test]
    fn a_row_that_fills_a_gap_behind_the_search_is_not_missed() {
        let (mut world, entities) = scene(300);
        let only = *entities.last().expect("there are some");
        world.get_mut::<Health>(only).expect("it has").hp = 77;
        let mut search = search(&world, "Health.hp = 77");
        look(&mut search, &world);
        // The table of the last one has more rows than were looked at; the first of them goes.
        let table = world.archetype_of(only);
        let gone =
            entities.iter().copied().find(|&id| world.archetype_of(id) == table).expect("it has others");
        world.despawn(gone);
        while search.at != At::End {
            look(&mut search, &world);
        }
        assert_eq!(all(&search, &world).entities, [only]);
    }

    #[test]
    fn values_count_at_the_moment_at_which_they_are_looked_at() {
        let (mut world, entities) = scene(500);
        let mut search = search(&world, "Health.hp >= 0");
        look(&mut search, &world);
        for &entity in &entities {
            world.get_mut::<Health>(entity).expect("it has").hp = -1;
        }
        while search.at != At::End {
            look(&mut search, &world);
        }
        let page = all(&search, &world);
        assert_eq!((page.total, page.scanned), (64, 500), "those of the first part");
        assert!(page.parts > 1, "and the answer tells that there were several");
    }

    #[test]
    fn a_search_in_one_part_is_of_one_moment_and_has_entities_without_rows() {
        let (mut world, _) = scene(100);
        let rowless: Vec<Entity> = (0..3).map(|n| world.spawn(Marked(n)).id()).collect();
        world.spawn_empty();
        let later = Instant::now() + Duration::from_secs(3600);
        let mut search = search(&world, "Marked.0 < 2, !Health");
        search.go_on(&world, later);
        let page = all(&search, &world);
        assert_eq!((page.complete, page.parts), (true, 1));
        assert_eq!(page.entities, rowless[..2]);
        let mut search = self::search(&world, "!Marked, !Health");
        search.go_on(&world, later);
        let page = all(&search, &world);
        assert_eq!((page.complete, page.parts, page.total), (true, 1, 1), "the one with nothing at all");
    }

    #[test]
    fn slots_that_are_missing_are_found_word_by_word() {
        let mut slots = Slots { words: vec![0; 4], len: 200 };
        let holes = [0, 63, 64, 70, 127, 128, 191, 199];
        (0..200).filter(|slot| !holes.contains(slot)).for_each(|slot| assert!(slots.insert(slot)));
        assert!(!slots.insert(5));
        assert_eq!(slots.missing(0).collect::<Vec<_>>(), holes);
        assert_eq!(slots.missing(65).collect::<Vec<_>>(), holes[3..]);
        assert_eq!(slots.missing(199).collect::<Vec<_>>(), [199]);
        assert_eq!(slots.missing(200).next(), None);
    }
}
