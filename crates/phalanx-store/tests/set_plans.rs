//! Plans of sets: which values they serve, and what goes in and out of a set of one column.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;

use phalanx_store::*;

fn store_with<T: Send + Sync + 'static>(id: ColId<T>, stable: bool) -> (Store, SetPlan) {
    let mut store = Store::new();
    store.declare(id.any());
    let set = if stable { store.declare_stable_set(&[id.any()]) } else { store.declare_set(&[id.any()]) };
    let plan = store.set_plan::<Col<T>>(set, id).unwrap();
    (store, plan)
}

fn spawn(store: &mut Store, count: usize) -> Vec<Entity> {
    (0..count).map(|_| store.spawn_rowless().unwrap()).collect()
}

fn read<T: Copy + Send + Sync + 'static>(store: &Store, id: ColId<T>, entity: Entity) -> Option<T> {
    store.get::<InSet<Read<T>>>(entity, id).copied()
}

/// Whether a plan serves values of `V`: it inserts them, and they can be taken.
fn serves<V: Values>(store: &mut Store, plan: &SetPlan, ids: V::Ids, entity: Entity, values: V) -> bool {
    catch_unwind(AssertUnwindSafe(|| {
        assert!(store.set_insert(plan, ids, entity, values, Existing::Replace).is_ok());
        assert!(store.set_take::<V>(plan, ids, entity).is_some());
    }))
    .is_ok()
}

/// Exchanges the row of an entity in a set with another one.
fn bring(store: &mut Store, set: SetId, entity: Entity, to: usize) -> bool {
    store.set_row(set, entity).is_some_and(|row| store.set_swap(set, row, to))
}

#[test]
fn a_plan_serves_values_of_its_type_and_no_others() {
    let (one, other) = (ColId::<u32>::named("plan one"), ColId::<u32>::named("plan other"));
    let (mut store, plan) = store_with(one, false);
    let entity = spawn(&mut store, 1)[0];
    assert!(serves(&mut store, &plan, one, entity, Col(1u32)));
    assert!(
        serves(&mut store, &plan, (one,), entity, (Col(1u32),)),
        "the same value_column in another shape"
    );
    assert!(serves(&mut store, &plan, ((), one), entity, ((), Keep(1u32))));
    assert!(!serves(&mut store, &plan, other, entity, Col(1u32)));
    let text = ColId::<String>::named("plan one");
    assert!(!serves(&mut store, &plan, text, entity, Col(String::new())));
    assert!(!serves(&mut store, &plan, (one, one), entity, (Col(1u32), Col(1u32))));
    assert!(!serves(&mut store, &plan, (), entity, ()));
    assert!(store.set_plan::<Col<u32>>(plan.set(), other).is_err());
    assert!(store.set_plan::<Maybe<Col<u32>>>(plan.set(), one).is_err(), "it might not fill the row");
    assert!(store.set_plan::<()>(plan.set(), ()).is_err());
    let mut writer = store.set_writer(entity).unwrap();
    assert_eq!(writer.insert(&plan, one, Col(5u32), Existing::Keep), None);
    writer.finish();
    assert_eq!(read(&store, one, entity), Some(5));
    let wrong = || {
        let mut writer = store.set_writer(entity).unwrap();
        writer.insert(&plan, other, Col(1u32), Existing::Keep);
        writer.finish();
    };
    assert!(catch_unwind(AssertUnwindSafe(wrong)).is_err());
    assert!(store.despawn(entity) && store.set_writer(entity).is_none());
    store.check().unwrap();

    let mut store = Store::new();
    [one, other].iter().for_each(|id| store.declare(id.any()));
    let set = store.declare_set(&[one.any(), other.any()]);
    let plan = store.set_plan::<(Col<u32>, Col<u32>)>(set, (one, other)).unwrap();
    let entity = spawn(&mut store, 1)[0];
    assert!(serves(&mut store, &plan, (one, other), entity, (Col(1u32), Col(2u32))));
    assert!(!serves(&mut store, &plan, one, entity, Col(1u32)));
    let kept = (Keep(1u32), Col(1u32));
    assert!(!serves(&mut store, &plan, (one, other), entity, kept), "several values go by their type");
    assert!(store.set_plan::<Col<u32>>(set, one).is_err(), "it leaves a column open");
    store.check().unwrap();
}

#[test]
fn a_closed_plan_serves_no_store() {
    let id = ColId::<u32>::named("plan closed");
    let (mut store, plan) = store_with(id, false);
    let closed = SetPlan::closed();
    assert_ne!(closed.set(), plan.set());
    let entity = spawn(&mut store, 1)[0];
    assert!(!serves(&mut store, &closed, id, entity, Col(1u32)));
    store.check().unwrap();
}

#[test]
fn a_plan_of_another_store_is_refused() {
    let id = ColId::<u32>::named("plan foreign");
    let ((mut store, plan), (_other, foreign)) = (store_with(id, false), store_with(id, false));
    let entity = spawn(&mut store, 1)[0];
    assert!(catch_unwind(AssertUnwindSafe(|| store.set_take::<Col<u32>>(&foreign, id, entity))).is_err());
    let insert = || store.set_insert(&foreign, id, entity, Col(1), Existing::Replace);
    assert!(catch_unwind(AssertUnwindSafe(insert)).is_err());
    assert_eq!(store.set_len(plan.set()), 0);
    store.check().unwrap();
}

#[test]
fn values_of_any_size_go_in_and_out_over_many_blocks() {
    fn go<T: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static>(name: &str, value: fn(usize) -> T) {
        const COUNT: usize = 3 * BLOCK_ROWS + 5;
        for stable in [false, true] {
            let id = ColId::<T>::named(&format!("{name} {stable}"));
            let (mut store, plan) = store_with(id, stable);
            let ids = spawn(&mut store, COUNT);
            for (n, &entity) in ids.iter().enumerate() {
                assert!(
                    store.set_insert(&plan, id, entity, Col(value(n)), Existing::Replace).unwrap().is_none()
                );
            }
            for (n, &entity) in ids.iter().enumerate().filter(|(n, _)| n % 3 > 0) {
                assert_eq!(store.set_take::<Col<_>>(&plan, id, entity), Some(Col(value(n))));
                assert_eq!(store.set_take::<Col<_>>(&plan, id, entity), None);
            }
            store.check().unwrap();
            for (n, &entity) in ids.iter().enumerate() {
                assert_eq!(read(&store, id, entity), (n % 3 == 0).then(|| value(n)), "{name} {n}");
            }
            // What is there is replaced or kept; what is not comes anew, into holes first.
            for (n, &entity) in ids.iter().enumerate() {
                let there = n % 3 == 0;
                let kept = store.set_insert(&plan, id, entity, Col(value(n + 1)), Existing::Keep).unwrap();
                assert_eq!(kept, there.then(|| Some(value(n + 1))));
                let old = store.set_insert(&plan, id, entity, Col(value(n + 2)), Existing::Replace).unwrap();
                assert_eq!(old, Some(Some(value(if there { n } else { n + 1 }))));
            }
            assert_eq!((store.set_rows(plan.set()), store.set_holes(plan.set())), (COUNT, 0));
            assert!(ids.iter().enumerate().all(|(n, &e)| read(&store, id, e) == Some(value(n + 2))));
            store.check().unwrap();
        }
    }
    go("plan of bytes", |n| n.to_le_bytes()[0]);
    go("plan of words", |n| u32::try_from(n).unwrap());
    go("plan of triples", |n| [n as f32, 1.0, 2.0]);
    go("plan of lines", |n| [n; 9]);
    go("plan of nothing", |_| ());
}

#[test]
fn the_dead_and_those_of_another_generation_have_nothing_and_get_nothing() {
    for stable in [false, true] {
        let id = ColId::<Arc<u32>>::named(&format!("plan dead {stable}"));
        let (mut store, plan) = store_with(id, stable);
        let value = Arc::new(7);
        let dead = spawn(&mut store, 1)[0];
        assert!(store.set_insert(&plan, id, dead, Col(value.clone()), Existing::Replace).unwrap().is_none());
        assert!(store.despawn(dead));
        assert_eq!(Arc::strong_count(&value), 1);
        let next = spawn(&mut store, 1)[0];
        assert_eq!(next.index(), dead.index());
        let far = Entity::from_bits(dead.to_bits() | 0x00ff_ff00).unwrap();
        for entity in [dead, far, Entity::PLACEHOLDER] {
            let refused = store.set_insert(&plan, id, entity, Col(value.clone()), Existing::Replace);
            assert_eq!(refused.unwrap_err(), Col(value.clone()));
            assert_eq!(store.set_take::<Col<_>>(&plan, id, entity), None);
        }
        assert!(store.set_insert(&plan, id, next, Col(value.clone()), Existing::Replace).unwrap().is_none());
        let refused = store.set_insert(&plan, id, dead, Col(value.clone()), Existing::Replace);
        assert!(refused.is_err() && store.set_take::<Col<_>>(&plan, id, dead).is_none());
        drop(refused);
        assert_eq!(store.set_len(plan.set()), 1);
        assert_eq!(store.set_pages(plan.set()), 1, "nothing is allocated for those that are absent");
        store.check().unwrap();
        // An id that is only reserved is not alive, though its slot has this generation.
        let reserved = store.reserve_entity().unwrap();
        assert!(store.set_insert(&plan, id, reserved, Col(value.clone()), Existing::Replace).is_err());
        store.flush();
        assert!(
            store.set_insert(&plan, id, reserved, Col(value.clone()), Existing::Replace).unwrap().is_none()
        );
        drop(store);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}

thread_local! {
    static DROPS: Rc<Cell<usize>> = Rc::new(Cell::new(0));
}

/// Has no size, and a drop that panics every other time.
struct Grain;

impl Drop for Grain {
    fn drop(&mut self) {
        DROPS.with(|drops| {
            drops.set(drops.get() + 1);
            assert!(drops.get() % 2 == 1 || std::thread::panicking(), "every other drop");
        });
    }
}

#[test]
fn a_value_without_size_whose_drop_panics_is_out_of_the_set_before() {
    for stable in [false, true] {
        DROPS.with(|drops| drops.set(0));
        let id = ColId::<Grain>::named(&format!("plan grain {stable}"));
        let (mut store, plan) = store_with(id, stable);
        let ids = spawn(&mut store, 8);
        let mut panics = 0;
        let mut count =
            |run: &mut dyn FnMut()| panics += usize::from(catch_unwind(AssertUnwindSafe(run)).is_err());
        for &entity in &ids {
            assert!(
                store
                    .set_insert(&plan, id, entity, Col(Grain), Existing::Replace)
                    .is_ok_and(|old| old.is_none())
            );
        }
        for &entity in &ids[2..6] {
            count(&mut || drop(store.set_insert(&plan, id, entity, Col(Grain), Existing::Replace)));
            store.check().unwrap();
        }
        for &entity in &ids[..4] {
            count(&mut || drop(store.set_take::<Col<_>>(&plan, id, entity)));
            assert_eq!(store.set_row(plan.set(), entity), None);
            store.check().unwrap();
        }
        assert_eq!((store.set_len(plan.set()), DROPS.with(|drops| drops.get()), panics), (4, 8, 4));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(store))).is_err());
        assert_eq!(DROPS.with(|drops| drops.get()), 12);
    }
}

#[test]
fn each_change_marks_the_blocks_in_which_rows_came_went_or_moved() {
    let id = ColId::<u32>::named("plan ticks");
    let (mut store, plan) = store_with(id, false);
    let table = store.set_table(plan.set());
    let ids = spawn(&mut store, 3 * BLOCK_ROWS);
    for &entity in &ids {
        assert!(store.set_insert(&plan, id, entity, Col(1), Existing::Replace).unwrap().is_none());
    }
    let mut marked = |change: &mut dyn FnMut(&mut Store)| {
        let now = store.advance_tick();
        change(&mut store);
        (0..3).map(|block| store.rows_tick(table, block) == Some(now)).collect::<Vec<_>>()
    };
    let replaced = ids[BLOCK_ROWS + 1];
    let replace = |store: &mut Store| {
        assert!(store.set_insert(&plan, id, replaced, Col(2), Existing::Replace).unwrap().is_some());
    };
    assert_eq!(marked(&mut { replace }), [false, true, false]);
    // The last row fills the gap: two blocks.
    assert_eq!(
        marked(&mut |store| assert!(store.set_take::<Col<_>>(&plan, id, ids[3]).is_some())),
        [true, false, true]
    );
    assert_eq!(
        marked(&mut |store| assert!(store.set_take::<Col<_>>(&plan, id, replaced).is_some())),
        [false, true, true]
    );
    let last = ids[3 * BLOCK_ROWS - 3];
    assert_eq!(
        marked(&mut |store| assert!(store.set_take::<Col<_>>(&plan, id, last).is_some())),
        [false, false, true]
    );
    let come = |store: &mut Store| {
        assert!(store.set_insert(&plan, id, last, Col(1), Existing::Keep).unwrap().is_none());
    };
    assert_eq!(marked(&mut { come }), [false, false, true]);
    assert_eq!(marked(&mut |store| assert!(bring(store, plan.set(), last, 0))), [true, false, true]);
    assert_eq!(marked(&mut |_| ()), [false; 3]);
    store.check().unwrap();
}

#[test]
fn an_entity_is_brought_to_a_row_by_exchange() {
    let id = ColId::<[u32; 3]>::named("plan brought");
    let (mut store, plan) = store_with(id, true);
    let set = plan.set();
    let ids = spawn(&mut store, 5);
    for (n, &entity) in (0..).zip(&ids[..4]) {
        assert!(store.set_insert(&plan, id, entity, Col([n; 3]), Existing::Replace).unwrap().is_none());
    }
    assert!(bring(&mut store, set, ids[3], 1) && bring(&mut store, set, ids[0], 0));
    assert_eq!(store.set_entities(set), [ids[0], ids[3], ids[2], ids[1]]);
    assert!((0..4).all(|n| read(&store, id, ids[n as usize]) == Some([n; 3])));
    assert!(!bring(&mut store, set, ids[4], 0) && !bring(&mut store, set, ids[0], 4));
    assert!(store.set_take::<Col<_>>(&plan, id, ids[2]).is_some());
    assert!(!bring(&mut store, set, ids[0], 1), "there is a hole");
    store.check().unwrap();
}

#[test]
fn a_plan_leads_to_its_set_however_many_sets_come_later() {
    let id = ColId::<u32>::named("plan early");
    let (mut store, plan) = store_with(id, false);
    let entities = spawn(&mut store, 100);
    for (at, &entity) in (0u32..).zip(&entities) {
        let later = ColId::<u32>::named(&format!("plan late {at}"));
        store.declare(later.any());
        store.declare_set(&[later.any()]);
        assert_eq!(store.set_insert(&plan, id, entity, Col(at), Existing::Replace), Ok(None));
    }
    store.check().unwrap();
    for (at, &entity) in (0u32..).zip(&entities) {
        assert_eq!(read(&store, id, entity), Some(at));
        assert!(matches!(store.set_take::<Col<u32>>(&plan, id, entity), Some(Col(value)) if value == at));
    }
    assert_eq!(store.set_len(plan.set()), 0);
    store.check().unwrap();
}

#[test]
fn a_plan_that_is_open_says_so_for_its_column_alone() {
    let (one, other) = (ColId::<u32>::named("plan open"), ColId::<u32>::named("plan shut"));
    let (mut store, mut plan) = store_with(one, false);
    let entity = spawn(&mut store, 1)[0];
    for open in [false, true, false] {
        plan.set_open(open);
        assert_eq!((plan.is_open_for(one.any()), plan.is_open_for(other.any())), (open, false));
        assert!(serves(&mut store, &plan, one, entity, Col(1u32)), "it serves values in any case");
        assert!(!serves(&mut store, &plan, other, entity, Col(1u32)));
    }
}
