//! A store whose values tell whose they are: the types, the columns, and the check that each is in its owner's row.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use phalanx_store::*;

thread_local! {
    pub static LIVE: RefCell<BTreeSet<u64>> = const { RefCell::new(BTreeSet::new()) };
    pub static SIZELESS: Cell<usize> = const { Cell::new(0) };
    pub static NEXT: Cell<u64> = const { Cell::new(1) };
    /// How many more drops return before one panics.
    pub static FUSE: Cell<Option<u32>> = const { Cell::new(None) };
}

pub fn user_code() {
    let left = FUSE.take();
    FUSE.set(left.and_then(|left| left.checked_sub(1)));
    if left == Some(0) && !std::thread::panicking() {
        std::panic::panic_any("planted");
    }
}

/// A value that knows its owner's key.
pub struct Token {
    pub serial: u64,
    pub key: Box<u64>,
}

pub fn token(key: u64) -> Token {
    let serial = NEXT.replace(NEXT.get() + 1);
    LIVE.with_borrow_mut(|live| live.insert(serial));
    Token { serial, key: Box::new(key) }
}

impl Drop for Token {
    fn drop(&mut self) {
        assert!(*self.key < u64::MAX);
        assert!(LIVE.with_borrow_mut(|live| live.remove(&self.serial)), "{} is dropped twice", self.serial);
        user_code();
    }
}

pub struct Sizeless;
pub fn sizeless() -> Sizeless {
    SIZELESS.set(SIZELESS.get() + 1);
    Sizeless
}
impl Drop for Sizeless {
    fn drop(&mut self) {
        SIZELESS.set(SIZELESS.get().checked_sub(1).expect("no more drops than values"));
        user_code();
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(128))]
pub struct Wide(pub [u64; 3]);
#[derive(Clone, Copy)]
pub struct Tag;
pub type Large = [u64; 25];

pub static KEY: ColCell<u64> = ColCell::new();
pub static TOKEN: ColCell<Token> = ColCell::new();
pub static WIDE: ColCell<Wide> = ColCell::new();
pub static LARGE: ColCell<Large> = ColCell::new();
pub static SMALL: ColCell<[u8; 3]> = ColCell::new();
pub static NOTHING: ColCell<Sizeless> = ColCell::new();
pub static TAG: ColCell<Tag> = ColCell::new();
pub static SET: ColCell<Token> = ColCell::new();
pub static STABLE: ColCell<Token> = ColCell::new();
pub static STABLE_WIDE: ColCell<Wide> = ColCell::new();
pub static PLAIN_SET: ColCell<u64> = ColCell::new();

pub type Keyed = Col<u64>;
pub type Big = (Col<u64>, Col<Large>, Col<Tag>);
pub type Rich = (Col<u64>, Col<Token>);
pub type Full = (Col<u64>, Col<Token>, Col<Wide>, Col<[u8; 3]>, Col<Sizeless>);
pub type Perhaps = (Col<u64>, Maybe<(Col<Wide>, Col<[u8; 3]>)>);

pub fn small(key: u64) -> [u8; 3] {
    [key.to_le_bytes()[0], key.to_le_bytes()[1], 7]
}
pub fn full(key: u64) -> Full {
    (Col(key), Col(token(key)), Col(Wide([key; 3])), Col(small(key)), Col(sizeless()))
}

/// A store, its tables, and plans for its sets.
pub struct Side {
    pub store: Store,
    pub tables: [TableId; 5],
    pub sets: Option<(SetPlan, SetPlan, SetPlan)>,
}

pub fn columns(at: usize) -> Vec<AnyColId> {
    let (key, token, wide) = (KEY.id().any(), TOKEN.id().any(), WIDE.id().any());
    let (large, small, nothing) = (LARGE.id().any(), SMALL.id().any(), NOTHING.id().any());
    match at {
        0 => vec![key],
        1 => vec![key, large, TAG.id().any()],
        2 => vec![key, token],
        3 => vec![key, token, wide, small, nothing],
        _ => vec![key, wide, small],
    }
}

impl Side {
    pub fn new(limit: u32) -> Self {
        let mut store = Store::with_entities(Entities::with_limit(limit));
        let tables = std::array::from_fn(|at| store.new_table(&columns(at)));
        Self { store, tables, sets: None }
    }

    pub fn declare_sets(&mut self) {
        if self.sets.is_some() {
            return;
        }
        let store = &mut self.store;
        let one = store.declare_set(&[SET.id().any()]);
        let two = store.declare_stable_set(&[STABLE.id().any(), STABLE_WIDE.id().any()]);
        let three = store.declare_set(&[PLAIN_SET.id().any()]);
        self.sets = Some((
            store.set_plan::<Col<Token>>(one, SET.id()).unwrap(),
            store.set_plan::<(Col<Token>, Col<Wide>)>(two, (STABLE.id(), STABLE_WIDE.id())).unwrap(),
            store.set_plan::<Col<u64>>(three, PLAIN_SET.id()).unwrap(),
        ));
    }

    pub fn edge<V: Values>(&self, at: usize, ids: V::Ids) -> Edge {
        self.store.insert_edge::<V>(TableId::ROWLESS, self.tables[at], ids, &[]).unwrap()
    }
    pub fn keyed(&self) -> Edge {
        self.edge::<Keyed>(0, KEY.id())
    }
    pub fn big(&self) -> Edge {
        self.edge::<Big>(1, (KEY.id(), LARGE.id(), TAG.id()))
    }
    pub fn rich(&self) -> Edge {
        self.edge::<Rich>(2, (KEY.id(), TOKEN.id()))
    }
    pub fn full(&self) -> Edge {
        self.edge::<Full>(3, (KEY.id(), TOKEN.id(), WIDE.id(), SMALL.id(), NOTHING.id()))
    }
    pub fn perhaps(&self, at: usize) -> Edge {
        self.edge::<Perhaps>(at, (KEY.id(), (WIDE.id(), SMALL.id())))
    }

    /// Verifies that each value is its owner's; returns the values with drop glue that there are.
    pub fn verify(&self) -> (BTreeSet<u64>, usize) {
        let store = &self.store;
        store.check().unwrap();
        let (mut seen, mut sizeless) = (BTreeSet::new(), 0);
        let mut see = |token: &Token| assert!(seen.insert(token.serial), "in two places");
        for table in self.tables {
            let rows = store.table_len(table);
            let keys = store.column(table, KEY.id()).unwrap();
            assert_eq!(keys.len(), rows);
            for (key, token) in keys.iter().zip(store.column(table, TOKEN.id()).unwrap_or_default()) {
                assert_eq!(*token.key, *key);
                see(token);
            }
            for (key, wide) in keys.iter().zip(store.column(table, WIDE.id()).unwrap_or_default()) {
                assert_eq!(*wide, Wide([*key; 3]));
            }
            for (key, large) in keys.iter().zip(store.column(table, LARGE.id()).unwrap_or_default()) {
                assert_eq!(*large, [*key; 25]);
            }
            for (key, value) in keys.iter().zip(store.column(table, SMALL.id()).unwrap_or_default()) {
                assert_eq!(*value, small(*key));
            }
            sizeless += store.column(table, NOTHING.id()).map_or(0, <[Sizeless]>::len);
        }
        if let Some((one, two, three)) = &self.sets {
            for &entity in store.set_entities(one.set()) {
                let token = store.get::<InSet<Read<Token>>>(entity, SET.id()).unwrap();
                assert_eq!(*token.key, entity.to_bits());
                see(token);
            }
            for &entity in store.set_entities(two.set()).iter().filter(|&&e| e != Entity::PLACEHOLDER) {
                let ids = (STABLE.id(), STABLE_WIDE.id());
                let (token, wide) = store.get::<InSet<(Read<Token>, Read<Wide>)>>(entity, ids).unwrap();
                assert_eq!((*token.key, wide.0), (entity.to_bits(), [entity.to_bits(); 3]));
                see(token);
            }
            for &entity in store.set_entities(three.set()) {
                let value = store.get::<InSet<Read<u64>>>(entity, PLAIN_SET.id()).unwrap();
                assert_eq!(*value, entity.to_bits());
            }
        }
        (seen, sizeless)
    }
}
