//! Images of stores, and what they may not do: make two of a value that cannot be copied.

use phalanx_store::{Col, ColId, Copies, Duplicate, FirstPanic, Store, TableId};

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
    copies.set(phalanx_store::ColumnCopy::new(id, Duplicate::with(|Token(())| Token(())), true));
    let image = store.image(&copies).expect("tokens can be copied now");
    let mut panics = FirstPanic::default();
    store.clear_entities();
    store.prepare_restore(&image).expect("its own image").commit().drop_all(&mut panics);
    panics.resume();
    assert_eq!(store.table_len(table), 1);
}
