//! Groups of a store: random histories of four sets, one of them stable, and of groups that come and go.
//!
//! After each step the store checks itself, which includes that members are exactly those that qualify; then each group is
//! walked, and what it yields is compared with what single lookups yield.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

use crate::steps::model_steps;

static A: ColCell<u32> = ColCell::new();
static B: ColCell<String> = ColCell::new();
static C: ColCell<[u64; 3]> = ColCell::new();
static PINNED: ColCell<u32> = ColCell::new();
static TAG: ColCell<u8> = ColCell::new();

struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap()
    }
}

struct Scene {
    store: Store,
    plans: [SetPlan; 4],
    into_table: Edge,
    out_of_table: Edge,
}

impl Scene {
    fn new() -> Self {
        let mut store = Store::new();
        let set = |store: &mut Store, id: AnyColId| store.declare_set(&[id]);
        let (a, b, c) = (A.id().any(), B.id().any(), C.id().any());
        let (a, b, c) = (set(&mut store, a), set(&mut store, b), set(&mut store, c));
        let pinned = store.declare_stable_set(&[PINNED.id().any()]);
        let table = store.new_table(&[TAG.id().any()]);
        Self {
            plans: [
                store.set_plan::<Col<u32>>(a, A.id()).unwrap(),
                store.set_plan::<Col<String>>(b, B.id()).unwrap(),
                store.set_plan::<Col<[u64; 3]>>(c, C.id()).unwrap(),
                store.set_plan::<Col<u32>>(pinned, PINNED.id()).unwrap(),
            ],
            into_table: store.insert_edge::<Col<u8>>(TableId::ROWLESS, table, TAG.id(), &[]).unwrap(),
            out_of_table: store.remove_edge::<Col<u8>>(table, TableId::ROWLESS, TAG.id()).unwrap(),
            store,
        }
    }

    fn sets(&self) -> [SetId; 4] {
        [0, 1, 2, 3].map(|at: usize| self.plans[at].set())
    }

    fn insert(&mut self, which: usize, entity: Entity) -> bool {
        let n = entity.index();
        let (store, plan) = (&mut self.store, &self.plans[which]);
        match which {
            0 => store.set_insert(plan, A.id(), entity, Col(n), Existing::Replace).is_ok(),
            1 => store.set_insert(plan, B.id(), entity, Col(n.to_string()), Existing::Keep).is_ok(),
            2 => store.set_insert(plan, C.id(), entity, Col([n.into(); 3]), Existing::Replace).is_ok(),
            _ => store.set_insert(plan, PINNED.id(), entity, Col(n), Existing::Keep).is_ok(),
        }
    }

    /// Some terms, with names in any order.
    fn terms(&self, dice: &mut Dice) -> Option<GroupTerms> {
        let mut terms = GroupTerms::default();
        for (at, set) in self.sets().into_iter().enumerate() {
            match dice.roll(5) {
                0 | 1 if at < 3 => terms.owned.insert(0, set),
                0..=2 => terms.seen.push(set),
                3 => terms.without_sets.push(set),
                _ => {}
            }
        }
        if dice.roll(3) == 0 {
            terms.without.push(TAG.id().any());
        }
        (!terms.owned.is_empty() || !terms.seen.is_empty()).then_some(terms)
    }

    fn check(&mut self, groups: &[(SetGroupId, GroupTerms)]) {
        self.store.check().unwrap();
        for (id, terms) in groups {
            let entities = self.store.group_entities(*id).unwrap().to_vec();
            assert_eq!(self.store.group_len(*id), Ok(entities.len()));
            let [a, b, _, pinned] = self.sets();
            // What each group yields, by which of two sets it owns and sees.
            if terms.owned.contains(&a) && terms.seen.contains(&pinned) {
                let members = self.store.group_members_mut::<(InSet<Write<u32>>,), (InSet<Write<u32>>,)>(
                    *id,
                    (A.id(),),
                    (PINNED.id(),),
                );
                let mut walked = Vec::new();
                for (entity, (own,), (seen,)) in members.unwrap() {
                    (*own, *seen) = (entity.index(), entity.index());
                    walked.push(entity);
                }
                assert_eq!(walked, entities);
            }
            if terms.seen.contains(&a) && terms.seen.contains(&b) {
                let members = self.store.group_members::<(), (InSet<Read<u32>>, InSet<Read<String>>)>(
                    *id,
                    (),
                    (A.id(), B.id()),
                );
                for ((entity, (), (a, b)), &member) in members.unwrap().zip(&entities) {
                    assert_eq!((entity, *a), (member, entity.index()));
                    assert_eq!(*b, entity.index().to_string());
                }
            }
            if terms.owned.contains(&b) {
                let members = self.store.group_members::<InSet<Read<String>>, ()>(*id, B.id(), ()).unwrap();
                assert!(members.map(|(entity, b, ())| (entity, b)).all(|(e, b)| *b == e.index().to_string()));
            }
        }
    }
}

#[test]
fn random_histories_keep_every_group_right() {
    let steps = model_steps(1_500, 6_000);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    let mut scene = Scene::new();
    let (mut ids, mut groups): (Vec<Entity>, Vec<(SetGroupId, GroupTerms)>) = Default::default();
    let mut gone: Vec<SetGroupId> = Vec::new();
    for _ in 0..steps {
        let entity = if ids.is_empty() { Entity::PLACEHOLDER } else { ids[dice.roll(ids.len())] };
        let alive = scene.store.locate(entity).is_some();
        let which = dice.roll(4);
        match dice.roll(16) {
            0 | 1 => ids.push(scene.store.spawn_rowless().unwrap()),
            2..=6 => assert_eq!(scene.insert(which, entity), alive),
            7 if alive => {
                let plans = scene.plans.clone();
                let mut writer = scene.store.set_writer(entity).unwrap();
                let n = entity.index();
                writer.insert(&plans[0], A.id(), Col(n), Existing::Replace);
                writer.insert(&plans[1], B.id(), Col(n.to_string()), Existing::Replace);
                writer.insert(&plans[3], PINNED.id(), Col(n), Existing::Replace);
                writer.finish();
            }
            8 => drop(scene.store.set_take::<Col<u32>>(&scene.plans[0], A.id(), entity)),
            9 => drop(scene.store.set_remove(scene.plans[which].set(), entity)),
            10 if dice.roll(3) == 0 => drop(scene.store.despawn(entity)),
            11 => {
                // Rows that move between tables are told of.
                let _ = scene.store.insert(entity, &scene.into_table, Col(1u8), Existing::Keep);
                scene.store.refresh_groups(entity);
            }
            12 => {
                scene.store.remove::<Col<u8>>(entity, &scene.out_of_table);
                scene.store.refresh_groups(entity);
            }
            13 if groups.len() < 6 => {
                let Some(terms) = scene.terms(&mut dice) else { continue };
                let known = scene.store.find_group(&terms);
                let free = terms.owned.iter().all(|&set| scene.store.owner_of_set(set).is_none());
                let terms = (sorted(terms.clone()), terms);
                assert_eq!(known, groups.iter().find(|(_, same)| *same == terms.0).map(|(id, _)| *id));
                if known.is_none() && free {
                    groups.push((scene.store.add_group(terms.1), terms.0));
                }
            }
            14 if !groups.is_empty() && dice.roll(4) == 0 => {
                let (id, _) = groups.swap_remove(dice.roll(groups.len()));
                assert_eq!(scene.store.remove_group(id), Ok(()));
                gone.push(id);
            }
            15 if dice.roll(100) == 0 => scene.store.clear_entities(),
            _ if !groups.is_empty() => {
                let (id, _) = groups[dice.roll(groups.len())];
                let len = scene.store.group_len(id).unwrap();
                let (a, b) = (dice.roll(len + 2), dice.roll(len + 2));
                assert_eq!(scene.store.group_swap(id, a, b), Ok(a.max(b) < len));
                // What belongs to a group is not swapped by others.
                scene.store.set_swap(scene.plans[which].set(), a, b);
            }
            _ => {}
        }
        scene.check(&groups);
        assert!(gone.iter().all(|&id| scene.store.group_len(id) == Err(GroupGone::Dissolved)));
    }
    assert!(!gone.is_empty() && !groups.is_empty());
}

/// Terms are kept in ascending order: groups are the same in whatever order sets are named.
fn sorted(mut terms: GroupTerms) -> GroupTerms {
    terms.owned.sort_unstable();
    terms.seen.sort_unstable();
    terms.without_sets.sort_unstable();
    terms
}

#[test]
fn what_a_group_does_not_have_is_refused() {
    let mut scene = Scene::new();
    let [a, b, c, pinned] = scene.sets();
    let entity = scene.store.spawn_rowless().unwrap();
    (0..4).for_each(|which| assert!(scene.insert(which, entity)));
    let terms = GroupTerms { owned: vec![a], seen: vec![b], ..GroupTerms::default() };
    let group = scene.store.add_group(terms);
    let mut refused = |f: &mut dyn FnMut(&mut Store)| {
        catch_unwind(AssertUnwindSafe(|| f(&mut scene.store))).is_err() && scene.store.check().is_ok()
    };
    // Sets that the group does not own, or does not need.
    assert!(refused(&mut |s| drop(s.group_members::<InSet<Read<String>>, ()>(group, B.id(), ()))));
    assert!(refused(&mut |s| drop(s.group_members::<(), InSet<Read<[u64; 3]>>>(group, (), C.id()))));
    // Columns that alias each other.
    type Twice = InSet<Write<u32>>;
    assert!(refused(&mut |s| drop(s.group_members_mut::<Twice, Twice>(group, A.id(), A.id()))));
    // A set with an owner, a stable one, one that is named twice, none.
    for (owned, seen) in [(vec![a], vec![]), (vec![pinned], vec![]), (vec![c, c], vec![]), (vec![], vec![])] {
        let terms = GroupTerms { owned, seen, ..GroupTerms::default() };
        assert!(refused(&mut |s| _ = s.add_group(terms.clone())));
    }
    // The members of a group that owns nothing are written by nothing else.
    let free = scene.store.add_group(GroupTerms { seen: vec![a, b], ..GroupTerms::default() });
    let members = scene.store.sets().last().unwrap();
    assert_eq!(scene.store.set_entities(members), [entity]);
    assert!(catch_unwind(AssertUnwindSafe(|| scene.store.set_plan::<()>(members, ()).is_ok())).is_err());
    let other = scene.store.spawn_rowless().unwrap();
    let made = catch_unwind(AssertUnwindSafe(|| scene.store.set_insert_made(members, other, &[])));
    assert!(made.is_err());
    assert_eq!(scene.store.group_entities(free), Ok(&[entity][..]));
    // Another store's.
    let mut foreign = Scene::new();
    assert_eq!(foreign.store.group_len(group), Err(GroupGone::OtherStore));
    assert_eq!(foreign.store.remove_group(group), Err(GroupGone::OtherStore));
    scene.store.check().unwrap();
}

/// Which blocks of a set's column were written while `f` ran.
fn written(store: &mut Store, set: SetId, column: AnyColId, f: impl FnOnce(&mut Store)) -> Vec<bool> {
    let now = store.advance_tick();
    f(store);
    let table = store.set_table(set);
    let blocks = store.set_rows(set).div_ceil(BLOCK_ROWS);
    (0..blocks).map(|block| store.column_tick(table, column, block) == Some(now)).collect()
}

#[test]
fn walks_mark_the_blocks_they_write_and_no_others_where_rows_are_few() {
    let mut scene = Scene::new();
    let [a, _, _, pinned] = scene.sets();
    let ids: Vec<Entity> = (0..4 * BLOCK_ROWS).map(|_| scene.store.spawn_rowless().unwrap()).collect();
    for (at, &entity) in ids.iter().enumerate() {
        assert!(scene.insert(0, entity));
        // Few of the second and the last block, which lead the walk.
        if at % 100 == 0 && (at / BLOCK_ROWS) % 2 == 1 {
            assert!(scene.insert(3, entity));
        }
    }
    let query = scene.store.prepare::<(InSet<Write<u32>>, InSet<Read<u32>>)>((A.id(), PINNED.id())).unwrap();
    let walk = |store: &mut Store, plain: bool| {
        let rows = store.view_mut(&query).into_rows_anywhere();
        let mut count = 0;
        if plain {
            for (value, _) in rows {
                *value += 1;
                count += 1;
            }
        } else {
            rows.for_each(|(value, _)| {
                *value += 1;
                count += 1;
            });
        }
        count
    };
    for plain in [true, false] {
        let marks = written(&mut scene.store, a, A.id().any(), |store| assert_eq!(walk(store, plain), 20));
        assert_eq!(marks, [false, true, false, true]);
    }
    // So many that all blocks are marked at once, as those of a table are.
    ids.iter().step_by(3).for_each(|&entity| assert!(scene.insert(3, entity)));
    for plain in [true, false] {
        let marks = written(&mut scene.store, a, A.id().any(), |store| assert!(walk(store, plain) > 1_000));
        assert_eq!(marks, [true; 4]);
    }
    let marks =
        written(&mut scene.store, pinned, PINNED.id().any(), |store| assert!(walk(store, true) > 1_000));
    assert!(!marks.contains(&true), "what is only read is not marked");

    let terms = GroupTerms { owned: vec![a], seen: vec![pinned], ..GroupTerms::default() };
    let group = scene.store.add_group(terms);
    let members = scene.store.group_len(group).unwrap();
    let own = |store: &mut Store| {
        store
            .group_members_mut::<InSet<Write<u32>>, InSet<Read<u32>>>(group, A.id(), PINNED.id())
            .unwrap()
            .count();
    };
    let marks = written(&mut scene.store, a, A.id().any(), own);
    assert_eq!(marks, [0, 1, 2, 3].map(|block: usize| block * BLOCK_ROWS < members));
    // One member marks its block of a set that is only seen; as many as there are mark all of it.
    let all = |store: &mut Store| {
        store
            .group_members_mut::<InSet<Read<u32>>, InSet<Write<u32>>>(group, A.id(), PINNED.id())
            .unwrap()
            .count();
    };
    let marks = written(&mut scene.store, pinned, PINNED.id().any(), all);
    assert!(marks.len() > 1 && !marks.contains(&false));
    assert!(scene.insert(2, ids[0]) && scene.insert(3, ids[0]));
    let terms = GroupTerms { owned: vec![scene.sets()[2]], seen: vec![pinned], ..GroupTerms::default() };
    let small = scene.store.add_group(terms);
    let one = |store: &mut Store| {
        type Parts = InSet<Write<u32>>;
        assert_eq!(store.group_members_mut::<(), Parts>(small, (), PINNED.id()).unwrap().count(), 1);
    };
    let marks = written(&mut scene.store, pinned, PINNED.id().any(), one);
    assert_eq!(marks.iter().filter(|&&marked| marked).count(), 1);
    scene.store.check().unwrap();
}
