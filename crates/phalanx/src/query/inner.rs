//! Queries that are used up: what they yield lives as long as the query would have.
//!
//! A method with `_inner` in its name does what the one without it does, and takes the query by value. A query that
//! only reads can be copied, so nothing is lost by it.

use phalanx_store::{DenseFetch, Fetch};

use super::data::{QueryData, ReadOnlyQueryData};
use super::filter::{ArchetypeFilter, QueryFilter};
use super::{Query, QueryChunks, QueryIter};

impl<D: ReadOnlyQueryData, F: QueryFilter> Clone for Query<'_, '_, D, F> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<D: ReadOnlyQueryData, F: QueryFilter> Copy for Query<'_, '_, D, F> {}

impl<'w, 's, D: QueryData, F: QueryFilter> Query<'w, 's, D, F> {
    /// The same query without write access, for as long as this one would have lived.
    #[inline]
    pub fn into_readonly(self) -> Query<'w, 's, D::ReadOnly, F> {
        Query::new(self.view.into_read_only(), self.since, self.context)
    }

    /// As [`Query::iter_mut`], for as long as the query would have lived.
    #[inline]
    pub fn iter_inner(self) -> QueryIter<'w, D, F> {
        self.into_iter()
    }

    /// Reads every table that matches, as slices of equal length: [`Query::chunks`] by bevy's name.
    ///
    /// # Errors
    /// Never: a query with a part that is not in tables does not compile here.
    pub fn contiguous_iter(&self) -> Result<QueryChunks<'_, D::ReadOnly, F>, QueryNotDenseError>
    where
        F: ArchetypeFilter,
        <D::Fetch as Fetch>::ReadOnly: DenseFetch,
    {
        Ok(self.chunks())
    }

    /// Reads and writes every table that matches, as slices of equal length: [`Query::chunks_mut`] by bevy's name.
    ///
    /// # Errors
    /// Never, as for [`Query::contiguous_iter`].
    pub fn contiguous_iter_mut(&mut self) -> Result<QueryChunks<'_, D, F>, QueryNotDenseError>
    where
        F: ArchetypeFilter,
        D::Fetch: DenseFetch,
    {
        Ok(self.chunks_mut())
    }

    /// As [`Query::contiguous_iter_mut`], for as long as the query would have lived.
    ///
    /// # Errors
    /// Never, as for [`Query::contiguous_iter`].
    pub fn contiguous_iter_inner(self) -> Result<QueryChunks<'w, D, F>, QueryNotDenseError>
    where
        F: ArchetypeFilter,
        D::Fetch: DenseFetch,
    {
        Ok(self.into_chunks())
    }
}

/// A query with a part that does not lie in tables; the compiler finds those, so there is no such value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryNotDenseError {}

impl std::fmt::Display for QueryNotDenseError {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {}
    }
}

impl std::error::Error for QueryNotDenseError {}
