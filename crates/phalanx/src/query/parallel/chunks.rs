//! Slices on several threads: parallel iteration by runs of rows instead of single ones.
//!
//! The jobs are those of [`ParQuery`]; each is handed over as the slices that [`Query::chunks`] yields.

use super::super::chunks::QueryTable;
use super::super::inner::QueryNotDenseError;
use super::{ArchetypeFilter, ParQuery, Query, QueryData, QueryFilter};
use phalanx_store::{DenseFetch, Fetch};

/// Runs of rows on several threads, as slices of equal length; made by [`Query::contiguous_par_iter`].
pub struct ParChunks<'w, D: QueryData, F: QueryFilter = ()>(ParQuery<'w, D, F>);

impl<'w, D: QueryData<Fetch: DenseFetch>, F: ArchetypeFilter> ParChunks<'w, D, F> {
    pub(crate) fn new(query: Query<'w, '_, D, F>) -> Self {
        Self(ParQuery::new(query))
    }

    /// Calls a function for each run of rows. A table may come in several runs. A panic is passed on when all jobs have
    /// ended.
    pub fn for_each(self, f: impl Fn(D::Chunk<'w>) + Send + Sync) {
        match self.0.pace() {
            None => self.0.query.into_chunks().for_each(f),
            Some(pace) => self.0.for_each_run(pace, |rows: QueryTable<'w, D, F>| f(rows.slices())),
        }
    }
}

impl<'w, D: QueryData, F: ArchetypeFilter> Query<'w, '_, D, F> {
    /// Reads every table that matches on several threads, as slices of equal length.
    ///
    /// # Errors
    /// Never: a query with a part that is not in tables does not compile here.
    pub fn contiguous_par_iter(&self) -> Result<ParChunks<'_, D::ReadOnly, F>, QueryNotDenseError>
    where
        <D::Fetch as Fetch>::ReadOnly: DenseFetch,
    {
        Ok(ParChunks::new(self.as_readonly()))
    }

    /// As [`Query::contiguous_par_iter`], for writing.
    ///
    /// # Errors
    /// Never, as for [`Query::contiguous_par_iter`].
    pub fn contiguous_par_iter_mut(&mut self) -> Result<ParChunks<'_, D, F>, QueryNotDenseError>
    where
        D::Fetch: DenseFetch,
    {
        Ok(ParChunks::new(self.reborrow()))
    }

    /// As [`Query::contiguous_par_iter_mut`], for as long as the query would have lived.
    ///
    /// # Errors
    /// Never, as for [`Query::contiguous_par_iter`].
    pub fn contiguous_par_iter_inner(self) -> Result<ParChunks<'w, D, F>, QueryNotDenseError>
    where
        D::Fetch: DenseFetch,
    {
        Ok(ParChunks::new(self))
    }
}
