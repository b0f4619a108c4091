//! How the values of a component are written down and read again.
//!
//! `#[component(save)]` says that a type can: [`Saved`] gives a whole value for each row, also where fields are columns,
//! so that the type's own `Serialize` decides what is written. What is read lies in [`LoadedColumns`], one typed column
//! each, until all of a save is known to be good; then it goes into rows, column by column.

use std::any::Any;
use std::collections::VecDeque;

use hashbrown::HashSet;
use phalanx_store::{
    AnyColId, ColId, ColumnRows, ColumnSink, Entity, Existing, InSet, OpenColumn, Store, Tick, Values, Write,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{AnyComponent, Queryable};
use crate::codec::{CodecError, Halt, ValueSink, ValueSource};

/// A component that is saved: `#[component(save)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a component that is saved",
    label = "needs `#[component(save)]`",
    note = "add `#[component(save)]` to `{Self}`, which also needs `Serialize` and `Deserialize`"
)]
pub trait Saved: AnyComponent + Serialize + DeserializeOwned {
    /// The version of the type, from 1: a save tells it, and migrations lead from an older one to this.
    const VERSION: u32;

    /// Calls `f` with the value of a row.
    fn with_value(row: <Self as Queryable>::Ref<'_>, f: &mut dyn FnMut(&Self));

    /// Whether the component is half of a relation: it does not mention an entity that is not saved.
    #[doc(hidden)]
    const IN_RELATION: bool = false;

    /// What is left of a value without the entities that are not saved.
    #[doc(hidden)]
    fn rest(_: <Self as Queryable>::Ref<'_>, _: &dyn Fn(Entity) -> bool) -> Rest<Self> {
        Rest::Whole
    }
}

/// What is left of a value that mentions entities which are not saved.
#[doc(hidden)]
pub enum Rest<C> {
    /// All of it.
    Whole,
    /// This.
    Part(C),
    /// Nothing: the entity does not have the component in the save.
    Nothing,
}

impl<C> Rest<C> {
    /// Of a list of which so many entries are left.
    pub(crate) fn of_so_many(left: usize, all: usize, make: impl FnOnce() -> C) -> Self {
        match left {
            0 => Self::Nothing,
            left if left == all => Self::Whole,
            _ => Self::Part(make()),
        }
    }
}

/// How the values of one component type are written and read.
#[derive(Clone, Copy, Debug)]
pub struct ComponentSaving {
    pub(crate) version: u32,
    /// Whether a value is a list of what the version and the migrations are of.
    pub(crate) of_lists: bool,
    /// Writes the values of these entities, all of which have the component, without those that are left out.
    pub(crate) write: fn(&Store, &[Entity], &LeftOut, &mut ValueSink<'_>) -> Result<(), Halt>,
    /// Whether anything is left of the value of an entity without those that are left out.
    pub(crate) keeps: fn(&Store, Entity, &LeftOut) -> bool,
    /// Reads as many values; an error comes with the position of the value.
    pub(crate) read: fn(&mut ValueSource, usize, Tick) -> Result<LoadedColumns, (usize, CodecError)>,
}

impl ComponentSaving {
    pub(crate) fn of<C: Saved>() -> Self {
        Self { version: C::VERSION, of_lists: false, write: write::<C>, keeps: keeps::<C>, read: read::<C> }
    }
}

/// The entities that are not saved.
pub(crate) type LeftOut = HashSet<Entity>;

/// What is saved of the value of a row.
fn rest<C: Saved>(row: C::Ref<'_>, left_out: &LeftOut) -> Rest<C> {
    if C::IN_RELATION && !left_out.is_empty() {
        C::rest(row, &|entity| !left_out.contains(&entity))
    } else {
        Rest::Whole
    }
}

fn keeps<C: Saved>(store: &Store, entity: Entity, left_out: &LeftOut) -> bool {
    let row = store.get::<C::Read>(entity, C::ids()).map(C::wrap_ref);
    row.is_some_and(|row| !matches!(rest::<C>(row, left_out), Rest::Nothing))
}

fn write<C: Saved>(
    store: &Store,
    entities: &[Entity],
    left_out: &LeftOut,
    sink: &mut ValueSink<'_>,
) -> Result<(), Halt> {
    let get = |entity| {
        let row = store.get::<C::Read>(entity, C::ids()).map(C::wrap_ref);
        row.ok_or_else(|| Halt::Failed(CodecError::new("an entity lacks the component")))
    };
    let some_are_left_out = C::IN_RELATION && !left_out.is_empty();
    for &entity in entities {
        if some_are_left_out && let Rest::Part(rest) = rest::<C>(get(entity)?, left_out) {
            sink.push(&rest)?;
            continue;
        }
        let mut outcome = Ok(());
        C::with_value(get(entity)?, &mut |value| outcome = sink.push(value));
        outcome?;
    }
    Ok(())
}

fn read<C: Saved>(
    source: &mut ValueSource,
    count: usize,
    now: Tick,
) -> Result<LoadedColumns, (usize, CodecError)> {
    let mut loaded = LoadedColumns::default();
    for at in 0..count {
        let value: C = source.next().map_err(|error| (at, error))?;
        value.into_column_values(now).scatter(C::column_ids(), &mut Scatter { loaded: &mut loaded, at: 0 });
    }
    source.finish().map_err(|error| (count, error))?;
    Ok(loaded)
}

/// A value whose drop may run the user's code, and that is not kept.
pub(crate) type Leftover = Box<dyn Any + Send + Sync>;

/// The columns of a component's values, to be put into rows in order.
#[derive(Default)]
pub(crate) struct LoadedColumns {
    columns: Vec<Box<dyn LoadedColumn>>,
}

impl LoadedColumns {
    /// The columns, none if there is no value.
    pub(crate) fn ids(&self) -> impl Iterator<Item = AnyColId> + '_ {
        self.columns.iter().map(|column| column.id())
    }

    /// Appends a value to the column at a position, which is new or has the id.
    pub(crate) fn push<T: Send + Sync + 'static>(
        &mut self,
        at: usize,
        id: ColId<T>,
        value: T,
        existing: Existing,
    ) {
        if at == self.columns.len() {
            self.columns.push(Box::new(Typed { id, values: VecDeque::new(), existing }));
        }
        let column: &mut dyn Any = &mut *self.columns[at];
        let column: &mut Typed<T> = column.downcast_mut().expect("each value has the same columns");
        column.values.push_back(value);
    }

    /// Puts the next value of a column into a row.
    pub(crate) fn fill(&mut self, at: usize, open: OpenColumn<'_>) {
        self.columns[at].fill(open);
    }

    /// All values that are left, by column.
    pub(crate) fn take_rows(&mut self) -> impl Iterator<Item = ColumnRows> + '_ {
        self.columns.iter_mut().map(|column| column.take_rows())
    }

    /// Puts the next value in the place of the one that an entity has.
    pub(crate) fn replace(&mut self, store: &mut Store, entity: Entity, leftovers: &mut Vec<Leftover>) {
        for column in &mut self.columns {
            leftovers.extend(column.replace(store, entity));
        }
    }
}

trait LoadedColumn: Any + Send + Sync {
    fn id(&self) -> AnyColId;
    fn fill(&mut self, open: OpenColumn<'_>);
    fn take_rows(&mut self) -> ColumnRows;
    fn replace(&mut self, store: &mut Store, entity: Entity) -> Option<Leftover>;
}

struct Typed<T> {
    id: ColId<T>,
    values: VecDeque<T>,
    existing: Existing,
}

impl<T: Send + Sync + 'static> LoadedColumn for Typed<T> {
    fn id(&self) -> AnyColId {
        self.id.any()
    }

    fn fill(&mut self, open: OpenColumn<'_>) {
        if let Some(value) = self.values.pop_front() {
            open.fill(self.id, value);
        }
    }

    fn take_rows(&mut self) -> ColumnRows {
        ColumnRows::new(self.id, Vec::from(std::mem::take(&mut self.values)))
    }

    fn replace(&mut self, store: &mut Store, entity: Entity) -> Option<Leftover> {
        let mut value = self.values.pop_front()?;
        let place = match store.set_of(self.id.any()) {
            None => store.get_mut::<Write<T>>(entity, self.id),
            Some(_) => store.get_mut::<InSet<Write<T>>>(entity, self.id),
        };
        if let (Some(place), Existing::Replace) = (place, self.existing) {
            std::mem::swap(place, &mut value);
        }
        if std::mem::needs_drop::<T>() { Some(Box::new(value)) } else { None }
    }
}

/// Takes a value apart into columns.
struct Scatter<'a> {
    loaded: &'a mut LoadedColumns,
    at: usize,
}

impl ColumnSink for Scatter<'_> {
    fn column<T: Send + Sync + 'static>(&mut self, id: ColId<T>, value: T, existing: Existing) {
        self.loaded.push(self.at, id, value, existing);
        self.at += 1;
    }
}
