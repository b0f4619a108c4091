//! Images of stores, and what they may not do: make two of a value that cannot be copied.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use phalanx_store::{Col, ColId, ColumnCopy, Copies, Duplicate, FirstPanic, Store, TableId};

/// A value without bytes, of which its owner makes one.
struct Token(());

#[test]
fn a_tag_that_cannot_be_copied_comes_into_no_image() {
    let id = ColId::<Token>::named("images.token");
    let mut store = Store::new();
    let table = store.new_table(&[id.any()]);
    let edge =
        store.insert_edge::<Col<Token>>(TableId::ROWLESS, table, id, &[]).expect("a column of the table");
    assert!(store.image(&Copies::default()).is_ok(), "there is none of it yet");
    store.spawn(&edge, Col(Token(()))).expect("ids are left");
    let error = store.image(&Copies::default()).map(|_| ()).expect_err("one token would become two");
    assert_eq!(error.column, id.any());

    let mut copies = Copies::default();
    copies.set(ColumnCopy::new(id, Duplicate::with(|Token(())| Token(())), true));
    let image = store.image(&copies).expect("tokens can be copied now");
    let mut panics = FirstPanic::default();
    store.clear_entities();
    store.prepare_restore(&image).expect("its own image").commit().drop_all(&mut panics);
    panics.resume();
    assert_eq!(store.table_len(table), 1);
}

// A function that does not return has made no copy, and one that counts them has made as many as there are.
#[test]
fn each_tag_that_a_restore_brings_was_made_by_the_function() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    fn counted(Token(()): &Token) -> Token {
        MADE.fetch_add(1, Ordering::Relaxed);
        Token(())
    }
    let copies_by = |id, copy| {
        let mut copies = Copies::default();
        copies.set(ColumnCopy::new(id, Duplicate::with(copy), true));
        copies
    };
    let id = ColId::<Token>::named("images.counted");
    let mut store = Store::new();
    let table = store.new_table(&[id.any()]);
    let edge = store.insert_edge::<Col<Token>>(TableId::ROWLESS, table, id, &[]).expect("its column");
    let back = store.remove_edge::<Col<Token>>(table, TableId::ROWLESS, id).expect("its column");
    let entities = [(); 5].map(|()| store.spawn(&edge, Col(Token(()))).expect("ids are left"));

    let never = copies_by(id, |_| panic!("there is one token"));
    assert!(catch_unwind(AssertUnwindSafe(|| store.image(&never).is_ok())).is_err());

    // The image holds one token to be copied. Tokens that were taken out stay out, so a restore makes others.
    let image = store.image(&copies_by(id, counted)).expect("tokens can be copied");
    assert_eq!(MADE.swap(0, Ordering::Relaxed), 1);
    let restore = |store: &mut Store| {
        let mut panics = FirstPanic::default();
        store.prepare_restore(&image).expect("its own image").commit().drop_all(&mut panics);
        panics.resume();
        store.check().expect("consistent");
        assert_eq!(store.table_len(table), 5);
        MADE.swap(0, Ordering::Relaxed)
    };
    let taken = [entities[1], entities[4]].map(|entity| store.take::<Col<Token>>(entity, &back));
    assert!(taken.iter().all(Option::is_some));
    assert_eq!([restore(&mut store), restore(&mut store)], [2, 0]);
    assert!(store.despawn(entities[0]));
    store.spawn(&edge, Col(Token(()))).expect("ids are left");
    assert_eq!(restore(&mut store), 0, "there are as many");
    store.clear_entities();
    assert_eq!(restore(&mut store), 5);
    store.clear_entities();
    assert!(store.drop_table(table));
    assert_eq!(restore(&mut store), 5);
    // The next image keeps the token that the one before has.
    store.advance_tick();
    assert!(store.despawn(entities[2]));
    store.image(&copies_by(id, counted)).expect("tokens can be copied");
    assert_eq!(MADE.load(Ordering::Relaxed), 0);
}

// The copies of the image before may be the last ones, and go when the new image is there.
#[test]
fn a_panic_in_the_drop_of_an_older_image_leaks_no_newer_one() {
    static FAILS: AtomicBool = AtomicBool::new(false);
    #[derive(Clone)]
    struct Counted(#[expect(dead_code, reason = "it counts the copies")] Arc<()>);
    impl Drop for Counted {
        fn drop(&mut self) {
            assert!(!FAILS.swap(false, Ordering::Relaxed), "the drop");
        }
    }
    let (count, id) = (Arc::new(()), ColId::<Counted>::named("images.dropped"));
    let mut copies = Copies::default();
    copies.set(ColumnCopy::new(id, Duplicate::with(Counted::clone), true));
    let mut store = Store::new();
    let table = store.new_table(&[id.any()]);
    let edge = store.insert_edge::<Col<Counted>>(TableId::ROWLESS, table, id, &[]).expect("its column");
    let entity = store.spawn(&edge, Col(Counted(Arc::clone(&count)))).expect("ids are left");
    drop(store.image(&copies).expect("values can be copied"));
    assert!(store.value_mut(entity, id).is_some(), "and counts as written");
    FAILS.store(true, Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| store.image(&copies).is_ok())).is_err());
    store.check().expect("consistent");
    assert_eq!(Arc::strong_count(&count), 3, "the value, its copy, and this one");
    drop(store);
    assert_eq!(Arc::strong_count(&count), 1);
}
