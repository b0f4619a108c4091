//! Lists against a plain vector, and counts of steps.
//!
//! What a long list costs is counted, not measured: steps per removal.

use super::*;

fn entities(count: u32) -> Vec<Entity> {
    let bits = |index: u32| (1 << 32) | u64::from(index);
    (0..count).map(|index| Entity::from_bits(bits(index)).expect("a first generation")).collect()
}

#[test]
fn removing_one_of_many_takes_constant_steps() {
    for count in [1_000, 100_000] {
        let all = entities(count);
        let mut list: EntityList = all.iter().copied().collect();
        let steps = steps::of(|| (1..30).for_each(|at| assert!(list.remove(all[all.len() - at]))));
        assert_eq!(steps, 29, "those near the end need no positions");
        let steps = steps::of(|| list.remove(all[100]));
        assert_eq!(steps, u64::from(count) - 28, "the first one of the others makes them");
        let steps = steps::of(|| (101..151).for_each(|at| assert!(list.remove(all[at]))));
        assert_eq!(steps, 50, "positions are known from the first removal on");
        list.check().unwrap();
    }
}

#[test]
fn removing_all_in_any_order_takes_linear_steps() {
    let all = entities(50_000);
    for stride in [1, 7, 49_999, 24_999] {
        let mut list: EntityList = all.iter().copied().collect();
        let steps = steps::of(|| {
            (0..all.len()).for_each(|at| assert!(list.remove(all[at * stride % all.len()])));
        });
        assert!(list.is_empty());
        assert!(steps < 8 * all.len() as u64, "{steps} steps");
    }
}

#[test]
fn a_random_history_agrees_with_a_vector() {
    let all = entities(300);
    let mut state = 7_u64;
    let mut next = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % end
    };
    let (mut list, mut model) = (EntityList::new(), Vec::new());
    for step in 0..60_000 {
        let entity = all[next(all.len())];
        let there = model.iter().position(|&other| other == entity);
        match (next(12), there) {
            (0..6, None) => {
                list.push(entity);
                model.push(entity);
            }
            (6, None) => {
                let at = next(model.len() + 2);
                list.insert(at, entity);
                model.insert(at.min(model.len()), entity);
            }
            (7, Some(from)) => {
                let to = next(model.len() + 2);
                list.place(entity, to);
                model.remove(from);
                model.insert(to.min(model.len()), entity);
            }
            (8, _) if !model.is_empty() => {
                let at = next(model.len());
                assert_eq!(list.remove_at(at), Some(model.remove(at)));
            }
            (9, _) => assert_eq!(list.as_slice(), model),
            (10, _) if next(200) == 0 => {
                list.order().sort_unstable();
                model.sort_unstable();
            }
            (11, _) if next(2_000) == 0 => {
                list.clear();
                model.clear();
            }
            _ => {
                assert_eq!(list.remove(entity), there.is_some());
                there.map(|at| model.remove(at));
            }
        }
        list.check().unwrap_or_else(|error| panic!("step {step}: {error}"));
        assert_eq!(list.len(), model.len());
        if step % 64 == 0 {
            assert!(list.iter().eq(model.iter().copied()));
            assert!(list.iter().rev().eq(model.iter().rev().copied()));
            assert_eq!((list.first(), list.last()), (model.first().copied(), model.last().copied()));
            assert_eq!(list.contains(entity), model.contains(&entity));
            assert_eq!(list.clone(), list);
        }
    }
}

#[test]
fn removing_one_whose_place_was_noted_takes_one_step() {
    for count in [1_000, 100_000] {
        let (all, mut places) = (entities(count), Places::default());
        let mut list = EntityList::new();
        all.iter().for_each(|&entity| list.push_noting(entity, &mut places));
        let half = all.iter().copied().step_by(2);
        let steps = steps::of(|| {
            half.clone().for_each(|entity| assert!(list.remove_noted(entity, Some(&mut places))));
        });
        assert_eq!(steps, u64::from(count) / 2, "no map is made, not even for the first one");
        list.check().unwrap();
        // One more leaves more holes than entities: the list is packed, and places are noted anew.
        let steps = steps::of(|| assert!(list.remove_noted(all[501], Some(&mut places))));
        assert!(steps > 1, "it is packed now");
        let others = [503, 777, 901].map(|at| all[at]);
        let steps = steps::of(|| others.map(|entity| assert!(list.remove_noted(entity, Some(&mut places)))));
        assert_eq!(steps, 3);
        // An order that the user sets makes places old: the map is made once.
        list.order().reverse();
        assert!(list.remove_noted(all[301], Some(&mut places)));
        let steps = steps::of(|| assert!(list.remove_noted(all[401], Some(&mut places))));
        assert_eq!(steps, 1);
        assert!(!list.remove_noted(all[0], Some(&mut places)), "it has left already");
        list.check().unwrap();
    }
}

#[test]
fn few_entities_need_no_memory_and_come_back_to_that() {
    let all = entities(40);
    let mut list: EntityList = all[..8].iter().copied().collect();
    assert!(matches!(list.held, Held::Few(8, _)));
    list.extend(all[8..20].iter().copied());
    assert!(matches!(list.held, Held::Some(_)));
    list.extend(all[20..].iter().copied());
    assert!(matches!(list.held, Held::Many(_)));
    for (gone, &entity) in all[..36].iter().enumerate() {
        let fits = match list.held {
            Held::Many(_) => gone < 24,
            Held::Some(_) => (24..36).contains(&gone),
            Held::Few(..) => false,
        };
        assert!(fits, "{gone} are gone");
        assert!(list.remove(entity));
        list.check().unwrap();
    }
    assert!(matches!(list.held, Held::Few(4, _)));
    assert_eq!(list[..], all[36..]);
}
