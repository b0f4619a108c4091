//! Groups whose terms name sets of other stores, or sets that belong to groups.

use super::*;

static X: ColCell<String> = ColCell::new();
static Y: ColCell<String> = ColCell::new();

/// A store with two sets, in which as many entities are.
fn with_sets(entities: usize) -> (Store, [SetId; 2], Vec<Entity>) {
    let mut store = Store::new();
    let sets = [store.declare_set(&[X.id().any()]), store.declare_set(&[Y.id().any()])];
    let entities: Vec<Entity> =
        (0..entities).map(|_| store.spawn_rowless().expect("there are ids")).collect();
    for &entity in &entities {
        for (set, id) in sets.into_iter().zip([X.id(), Y.id()]) {
            let value = Init::new(id, move |_| Col(entity.to_string()));
            assert_eq!(store.set_insert_made(set, entity, &[value]), Ok(true));
        }
    }
    (store, sets, entities)
}

// When this panics half-way, sets must not forget which groups name them.
#[test]
fn a_set_of_another_store_is_refused_before_anything_changes() {
    let (mut other, ..) = with_sets(0);
    // Far behind all sets that the groups below may need for their members.
    let foreign =
        (0..9).map(|at| other.declare_set(&[ColId::<u8>::named(&format!("foreign {at}")).any()])).last();
    let foreign = foreign.expect("there are some");
    let (mut store, [x, y], entities) = with_sets(3);
    let group = store.add_group(GroupTerms { owned: vec![x, y], ..GroupTerms::default() });
    let terms = [
        GroupTerms { seen: vec![x], without_sets: vec![foreign], ..GroupTerms::default() },
        GroupTerms { seen: vec![x, foreign], ..GroupTerms::default() },
    ];
    for terms in terms {
        panic_of(|| store.add_group(terms));
        store.check().expect("consistent");
    }
    assert!(store.set_remove(x, entities[0]));
    store.check().expect("consistent");
    assert_eq!(store.group_len(group), Ok(2));
}

// Only groups know when their members come and go, and no other group is notified.
#[test]
fn the_set_of_a_groups_members_is_written_by_that_group_alone() {
    let (mut store, [x, y], entities) = with_sets(2);
    store.add_group(GroupTerms { seen: vec![x], ..GroupTerms::default() });
    let members = store.sets().last().expect("it was made for the group");
    assert_eq!(store.set_entities(members), entities);
    for terms in [
        GroupTerms { owned: vec![members, y], ..GroupTerms::default() },
        GroupTerms { owned: vec![y], seen: vec![members], ..GroupTerms::default() },
        GroupTerms { owned: vec![y], without_sets: vec![members], ..GroupTerms::default() },
    ] {
        panic_of(|| store.add_group(terms));
    }
    panic_of(|| store.set_remove(members, entities[0]));
    let edge = store.remove_edge::<()>(TableId::ROWLESS, TableId::ROWLESS, ()).expect("nothing is removed");
    panic_of(|| store.remove_with_sets::<()>(entities[0], &edge, [x, members]));
    store.check().expect("consistent");
}
