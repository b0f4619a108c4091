//! `EntityRef` as query data: all of an entity, to be read.
//!
//! Such a query looks at the world itself, not at columns, so nothing may be written while it lives: it is asked of
//! `&World`, or by a system that reads everything, as with `&World`. What conflicts with that is refused by name.

use phalanx_store::{EntityIds, Fetch};

use super::{EntityRef, World};
use crate::pool::Pool;
use crate::query::{Condition, Moment, QueryData, QueryIn, ReadOnlyQueryData, Term};

impl QueryData for EntityRef<'_> {
    type Fetch = EntityIds;
    type ReadOnly = Self;
    type Item<'w> = EntityRef<'w>;
    type Chunk<'w> = <EntityIds as Fetch>::Slices<'w>;

    fn ids() {}
    fn condition() -> Condition {
        Condition::always()
    }
    fn terms(out: &mut Vec<Term>) {
        out.push(Term { text: "EntityRef".to_owned(), columns: 0, whole: true });
    }
    #[inline]
    fn item<'w>(row: <Self::Fetch as Fetch>::Item<'w>, since: Moment<'w>) -> Self::Item<'w> {
        match since.whole().and_then(|whole| whole.downcast_ref::<World>()) {
            Some(world) => EntityRef::new(world, row),
            None => cannot_read_all(),
        }
    }
    #[inline]
    fn chunk<'w>(rows: <Self::Fetch as Fetch>::Slices<'w>) -> Self::Chunk<'w> {
        rows
    }
}
impl ReadOnlyQueryData for EntityRef<'_> {}
impl<P: Pool> QueryIn<P> for EntityRef<'_> {}

#[cold]
#[inline(never)]
fn cannot_read_all() -> ! {
    panic!(
        "a query for `EntityRef` reads the whole world, so nothing may be written beside it: ask with `view` or \
         `QueryState::query` instead of their `_mut` forms, and not in a `ParamSet` with something that writes"
    )
}
