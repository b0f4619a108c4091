//! Single moves of a history: an entity goes along an edge from wherever it stands, and in and out of sets.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phalanx_store::*;

use super::sides::*;
use super::{Dice, Kept, pick};

/// Takes an entity along some edge from its table.
pub fn walk(side: &mut Side, dice: &mut Dice, entity: Entity, table: TableId) {
    let store = &mut side.store;
    let t = side.tables;
    let key = store.get::<Read<u64>>(entity, KEY.id()).copied();
    let Some(at) = t.iter().position(|&it| it == table) else { return };
    let key = key.unwrap();
    let existing = if dice.roll(2) == 0 { Existing::Keep } else { Existing::Replace };
    let is_ok = match (at, dice.roll(4)) {
        (0, 0 | 1) => {
            let edge = store.insert_edge::<(Col<Large>, Col<Tag>)>(t[0], t[1], (LARGE.id(), TAG.id()), &[]);
            store.insert(entity, &edge.unwrap(), (Col([key; 25]), Col(Tag)), existing).is_ok()
        }
        (0, _) => {
            let edge = store.insert_edge::<Keep<Token>>(t[0], t[2], TOKEN.id(), &[]).unwrap();
            store.insert(entity, &edge, Keep(token(key)), existing).is_ok()
        }
        (1, 0) => {
            let edge =
                store.remove_edge::<(Col<Large>, Col<Tag>)>(t[1], t[0], (LARGE.id(), TAG.id())).unwrap();
            store.take::<(Col<Large>, Col<Tag>)>(entity, &edge).is_some_and(|(large, _)| large.0 == [key; 25])
        }
        (1, 1) => {
            // What is left behind has no drop glue.
            let edge = store.insert_edge::<Col<Token>>(t[1], t[2], TOKEN.id(), &[]).unwrap();
            store.insert(entity, &edge, Col(token(key)), existing).is_ok()
        }
        (1, _) => {
            type V = Maybe<(Col<Wide>, Col<[u8; 3]>)>;
            let edge = store.insert_edge::<V>(t[1], t[4], (WIDE.id(), SMALL.id()), &[]).unwrap();
            store.insert(entity, &edge, Maybe(Some((Col(Wide([key; 3])), Col(small(key))))), existing).is_ok()
        }
        (2, 0) => {
            let edge = store.insert_edge::<(Col<Token>, Col<Wide>, Col<[u8; 3]>, Keep<Sizeless>)>(
                t[2],
                t[3],
                (TOKEN.id(), WIDE.id(), SMALL.id(), NOTHING.id()),
                &[],
            );
            let values = (Col(token(key)), Col(Wide([key; 3])), Col(small(key)), Keep(sizeless()));
            store.insert(entity, &edge.unwrap(), values, existing).is_ok()
        }
        (2, 1) => {
            let edge = store.remove_edge::<Col<Token>>(t[2], t[0], TOKEN.id()).unwrap();
            store.take::<Col<Token>>(entity, &edge).is_some_and(|token| *token.0.key == key)
        }
        (2, 2) => {
            let edge = store.remove_edge::<()>(t[2], t[0], ()).unwrap();
            store.remove::<()>(entity, &edge)
        }
        (2, _) => {
            let edge = store.insert_edge::<Col<Token>>(t[2], t[2], TOKEN.id(), &[]).unwrap();
            store.insert(entity, &edge, Col(token(key)), existing).is_ok()
        }
        (3, 0) => {
            type V = (Maybe<(Col<Token>, Col<Sizeless>)>, Col<Large>);
            let ids = ((TOKEN.id(), NOTHING.id()), LARGE.id());
            let edge = store.remove_edge::<V>(t[3], t[4], ids).unwrap();
            store.remove::<V>(entity, &edge)
        }
        (3, 1) => {
            type V = (Col<Wide>, Col<[u8; 3]>, Col<Sizeless>);
            let edge = store.remove_edge::<V>(t[3], t[2], (WIDE.id(), SMALL.id(), NOTHING.id())).unwrap();
            store.take::<V>(entity, &edge).is_some_and(|(wide, ..)| wide.0.0 == [key; 3])
        }
        (3, 2) => {
            let edge = store.remove_edge::<Col<Sizeless>>(t[3], t[0], NOTHING.id()).unwrap();
            store.remove::<Col<Sizeless>>(entity, &edge)
        }
        (3, _) => {
            let edge = store.remove_edge::<Col<Token>>(t[3], TableId::ROWLESS, TOKEN.id()).unwrap();
            store.take::<Col<Token>>(entity, &edge).is_some()
        }
        (_, 0 | 1) => {
            type V = (Col<Token>, Col<Sizeless>);
            let edge = store.insert_edge::<V>(t[4], t[3], (TOKEN.id(), NOTHING.id()), &[]).unwrap();
            store.insert(entity, &edge, (Col(token(key)), Col(sizeless())), existing).is_ok()
        }
        _ => {
            let edge = store.remove_edge::<Keep<Wide>>(t[4], t[0], WIDE.id()).unwrap();
            store.take::<Keep<Wide>>(entity, &edge).is_some_and(|wide| wide.0.0 == [key; 3])
        }
    };
    assert!(is_ok, "{at}");
}

pub fn sets(side: &mut Side, kept: &mut Kept, dice: &mut Dice) {
    let Some((one, two, three)) = side.sets.clone() else { return };
    let store = &mut side.store;
    if kept.plans.len() < 40 {
        kept.plans.extend([one.clone(), three.clone()]);
    }
    let existing = if dice.roll(2) == 0 { Existing::Keep } else { Existing::Replace };
    for _ in 0..dice.roll(30) {
        let Some(entity) = pick(dice, &kept.ids) else { return };
        let bits = entity.to_bits();
        let alive = store.locate(entity).is_some();
        match dice.roll(12) {
            0 | 1 => {
                let done = store.set_insert(&one, SET.id(), entity, Col(token(bits)), existing);
                assert_eq!(done.is_ok(), alive);
            }
            2 => {
                let taken = store.set_take::<Col<Token>>(&one, SET.id(), entity);
                assert!(taken.is_none_or(|token| alive && *token.0.key == bits));
            }
            3 | 4 => {
                let values = (Col(token(bits)), Col(Wide([bits; 3])));
                assert_eq!(
                    store.set_insert(&two, (STABLE.id(), STABLE_WIDE.id()), entity, values, existing).is_ok(),
                    alive
                );
            }
            5 => {
                let taken =
                    store.set_take::<(Col<Token>, Col<Wide>)>(&two, (STABLE.id(), STABLE_WIDE.id()), entity);
                assert!(taken.is_none_or(|(token, _)| alive && *token.0.key == bits));
            }
            6 => {
                // Plans of either store.
                let plan = pick(dice, &kept.plans).unwrap();
                let insert = || store.set_insert(&plan, PLAIN_SET.id(), entity, Col(bits), existing).is_ok();
                if let Ok(done) = catch_unwind(AssertUnwindSafe(insert)) {
                    assert_eq!(done, alive);
                }
            }
            7 => drop(store.set_take::<Col<u64>>(&three, PLAIN_SET.id(), entity)),
            8 => {
                let plan = [&one, &two, &three][dice.roll(3)];
                store.set_remove(plan.set(), entity);
            }
            9 => {
                let (a, b) = (dice.roll(50), dice.roll(50));
                store.set_swap([&one, &two, &three][dice.roll(3)].set(), a, b);
            }
            10 if dice.roll(5) == 0 => drop(store.set_compact(two.set())),
            10 => {
                let init = Init::new::<(Col<Token>, Col<Wide>)>((STABLE.id(), STABLE_WIDE.id()), move |_| {
                    user_code();
                    (Col(token(bits)), Col(Wide([bits; 3])))
                });
                assert!(store.set_insert_made(two.set(), entity, &[init]).unwrap() <= alive);
            }
            _ => {
                let Some(location) = store.locate(entity) else { continue };
                let Ok(edge) = store.remove_edge::<()>(location.table, location.table, ()) else { continue };
                store.remove_with_sets::<()>(entity, &edge, [one.set(), two.set(), one.set(), three.set()]);
            }
        }
    }
}
