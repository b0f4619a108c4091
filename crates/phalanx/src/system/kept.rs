//! What systems keep from run to run, for checkpoints: the tick of the last run, `Local`s and the cursors of readers.
//!
//! A system is visited part by part, in an order that never changes. Numbers are copied as they are. Values of `Local` can
//! be of any type, of which nothing is known here: those of common types are copied, others once their type is
//! registered (`register_checkpoint_of_local`), and the rest is named. What a closure captured is out of reach.

use std::any::{Any, TypeId};
use std::time::Duration;

use hashbrown::HashMap;
use phalanx_store::{Entity, Tick};

pub use crate::capture::StateVisitor;

/// Visits a tick.
pub(crate) fn visit_tick(tick: &mut Tick, visitor: &mut dyn StateVisitor) {
    let mut number = tick.get();
    visitor.number(&mut number);
    *tick = Tick::new(number);
}

type CopyFn = fn(&dyn Any) -> Option<Box<dyn Any + Send>>;
type SwapFn = fn(&mut dyn Any, &mut dyn Any);

/// How values of `Local` are copied, by type.
#[derive(Clone)]
pub(crate) struct LocalCopies(HashMap<TypeId, (CopyFn, SwapFn)>);

impl Default for LocalCopies {
    fn default() -> Self {
        // One list, so that no function is compiled for adding each; and numbers are exchanged without `swap`.
        macro_rules! known {
            ($($type:ty)*) => {[$(
                (TypeId::of::<$type>(), (copy_plain::<$type> as CopyFn, put_plain::<$type> as SwapFn)),
                (TypeId::of::<Option<$type>>(), (copy_plain::<Option<$type>>, put_plain::<Option<$type>>)),
                (TypeId::of::<[$type; 2]>(), (copy_plain::<[$type; 2]>, put_plain::<[$type; 2]>)),
                (TypeId::of::<[$type; 3]>(), (copy_plain::<[$type; 3]>, put_plain::<[$type; 3]>)),
                (TypeId::of::<[$type; 4]>(), (copy_plain::<[$type; 4]>, put_plain::<[$type; 4]>)),
                (TypeId::of::<Vec<$type>>(), (copy::<Vec<$type>>, swap::<Vec<$type>>)),
            )*]};
        }
        let plain = known!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char Entity Tick Duration);
        let mut copies = Self(plain.into_iter().collect());
        copies.add::<()>();
        copies.add::<String>();
        copies.add::<Option<String>>();
        copies.add::<Vec<String>>();
        copies.add::<[String; 2]>();
        copies.add::<[String; 3]>();
        copies.add::<[String; 4]>();
        copies
    }
}

impl LocalCopies {
    pub(crate) fn add<T: Clone + Send + 'static>(&mut self) {
        self.0.insert(TypeId::of::<T>(), (copy::<T>, swap::<T>));
    }

    fn of(&self, value: &dyn Any) -> Option<(CopyFn, SwapFn)> {
        self.0.get(&value.type_id()).copied()
    }
}

fn copy<T: Clone + Send + 'static>(value: &dyn Any) -> Option<Box<dyn Any + Send>> {
    match value.downcast_ref::<T>() {
        Some(value) => Some(Box::new(value.clone())),
        None => None,
    }
}

fn swap<T: 'static>(one: &mut dyn Any, other: &mut dyn Any) {
    if let (Some(one), Some(other)) = (one.downcast_mut::<T>(), other.downcast_mut::<T>()) {
        std::mem::swap(one, other);
    }
}

/// As `copy`, without `Clone`.
fn copy_plain<T: Copy + Send + 'static>(value: &dyn Any) -> Option<Box<dyn Any + Send>> {
    match value.downcast_ref::<T>() {
        Some(value) => Some(Box::new(*value)),
        None => None,
    }
}

/// As `swap`, for a value whose old one need not be kept, because nothing happens when it is dropped.
fn put_plain<T: Copy + 'static>(one: &mut dyn Any, other: &mut dyn Any) {
    if let (Some(one), Some(other)) = (one.downcast_mut::<T>(), other.downcast_ref::<T>()) {
        *one = *other;
    }
}

/// One part of what a system keeps.
pub(crate) enum Kept {
    Number(u64),
    Value(Box<dyn Any + Send>),
}

/// Copies what systems keep.
pub(crate) struct Taking<'c> {
    pub(crate) copies: &'c LocalCopies,
    pub(crate) kept: Vec<Kept>,
    /// The types that cannot be copied.
    pub(crate) unknown: Vec<&'static str>,
}

impl StateVisitor for Taking<'_> {
    fn number(&mut self, number: &mut u64) {
        self.kept.push(Kept::Number(*number));
    }

    fn value(&mut self, value: &mut (dyn Any + Send), type_name: &'static str) {
        let value: &dyn Any = value;
        match self.copies.of(value).and_then(|(copy, _)| copy(value)) {
            Some(copy) => self.kept.push(Kept::Value(copy)),
            None => self.unknown.push(type_name),
        }
    }
}

/// Finds the types that cannot be copied.
pub(crate) struct Naming<'c> {
    pub(crate) copies: &'c LocalCopies,
    pub(crate) unknown: Vec<&'static str>,
}

impl StateVisitor for Naming<'_> {
    fn number(&mut self, _: &mut u64) {}

    fn value(&mut self, value: &mut (dyn Any + Send), type_name: &'static str) {
        if self.copies.of(value).is_none() {
            self.unknown.push(type_name);
        }
    }
}

/// Copies of what was kept, to be put back.
pub(crate) fn again(kept: &[Kept], copies: &LocalCopies) -> Option<Vec<Kept>> {
    let copy = |kept: &Kept| match kept {
        Kept::Number(number) => Some(Kept::Number(*number)),
        Kept::Value(value) => {
            let value: &dyn Any = &**value;
            copies.of(value).and_then(|(copy, _)| copy(value)).map(Kept::Value)
        }
    };
    kept.iter().map(copy).collect()
}

/// How a message about a type that cannot be copied names it.
pub(crate) fn uncopied(name: &str) -> String {
    format!(
        "value `{name}` of a `Local` or a `Deferred` (add `app.register_checkpoint_of_local::<{name}>()`)"
    )
}

/// Counts the parts, to see whether they are those of a checkpoint.
#[derive(Default)]
pub(crate) struct Counting(pub(crate) usize);

impl StateVisitor for Counting {
    fn number(&mut self, _: &mut u64) {
        self.0 += 1;
    }

    fn value(&mut self, _: &mut (dyn Any + Send), _: &'static str) {
        self.0 += 1;
    }
}

/// Exchanges what systems keep with copies, in the same order. What the copies are afterwards does not matter.
pub(crate) struct Exchanging<'c> {
    pub(crate) copies: &'c LocalCopies,
    pub(crate) kept: std::slice::IterMut<'c, Kept>,
}

impl StateVisitor for Exchanging<'_> {
    fn number(&mut self, number: &mut u64) {
        if let Some(Kept::Number(kept)) = self.kept.next() {
            *number = *kept;
        }
    }

    fn value(&mut self, value: &mut (dyn Any + Send), _: &'static str) {
        if let Some(Kept::Value(kept)) = self.kept.next() {
            let (value, kept): (&mut dyn Any, &mut dyn Any) = (value, &mut **kept);
            if let Some((_, swap)) = self.copies.of(value) {
                swap(value, kept);
            }
        }
    }
}
