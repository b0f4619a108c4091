//! What queries answer, beside what was counted by hand.

use std::collections::BTreeMap;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type, UInt64Type};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;

use crate::model::Count;

/// The question of both parts of the example.
pub const JOIN: &str = "select faction, avg(hp) from Health join Faction using (entity) group by 1";

/// Prints a table.
pub fn show(batches: &[RecordBatch]) -> Result<()> {
    println!("{}\n", pretty_format_batches(batches)?);
    Ok(())
}

fn column(batch: &RecordBatch, at: usize, kind: &DataType) -> ArrayRef {
    cast(batch.column(at), kind).expect("a column of such values")
}

/// The rows of [`JOIN`].
pub fn averages(batches: &[RecordBatch]) -> BTreeMap<String, f64> {
    let mut rows = BTreeMap::new();
    for batch in batches {
        let (names, values) = (column(batch, 0, &DataType::Utf8), column(batch, 1, &DataType::Float64));
        let (names, values) = (names.as_string::<i32>(), values.as_primitive::<Float64Type>());
        for row in 0..batch.num_rows() {
            assert!(names.is_valid(row) && values.is_valid(row), "a join has no nulls");
            assert!(
                rows.insert(names.value(row).to_owned(), values.value(row)).is_none(),
                "one row per faction"
            );
        }
    }
    rows
}

/// Rows of a time, a faction, a count and a sum.
pub fn totals(batches: &[RecordBatch]) -> Vec<(u64, String, u64, f64)> {
    let mut rows = Vec::new();
    for batch in batches {
        let kinds = [DataType::UInt64, DataType::Utf8, DataType::UInt64, DataType::Float64];
        let columns: Vec<ArrayRef> = (0..).zip(&kinds).map(|(at, kind)| column(batch, at, kind)).collect();
        for row in 0..batch.num_rows() {
            rows.push((
                columns[0].as_primitive::<UInt64Type>().value(row),
                columns[1].as_string::<i32>().value(row).to_owned(),
                columns[2].as_primitive::<UInt64Type>().value(row),
                columns[3].as_primitive::<Float64Type>().value(row),
            ));
        }
    }
    rows
}

/// The one number of an answer.
pub fn number(batches: &[RecordBatch]) -> u64 {
    let batch = batches.iter().find(|batch| batch.num_rows() > 0).expect("a row");
    let value = column(batch, 0, &DataType::Int64).as_primitive::<Int64Type>().value(0);
    u64::try_from(value).expect("a count")
}

/// Both are the same, exactly: sums of whole numbers, divided once.
pub fn expect(found: &BTreeMap<String, f64>, counted: &Count) {
    assert_eq!(counted.len(), 3, "all factions fight");
    let by_hand = counted.iter().map(|(name, (fighters, sum))| (name.clone(), sum / *fighters as f64));
    assert_eq!(*found, by_hand.collect::<BTreeMap<_, _>>(), "SQL and a query of the world agree");
}
