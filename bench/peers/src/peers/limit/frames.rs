//! Frames without a scheduler: the loops of all systems, called one after the other.

use super::NAME;
use crate::checksum::of_rows;
use crate::contender::Contender;
use crate::shapes::scalar;
use crate::workload::{HUNDRED_THOUSAND, MANY};

/// Swaps two columns value by value.
fn swap(a: &mut [f32], b: &mut [f32]) {
    for (a, b) in a.iter_mut().zip(b) {
        std::mem::swap(a, b);
    }
}

/// Four tables with the components A to E; absent ones are empty.
pub fn schedule() -> Contender {
    type Table = [Vec<f32>; 5];
    Contender::steady(
        (NAME, "components"),
        || {
            let column =
                |shift: usize| -> Vec<f32> { (0..MANY).map(|index| scalar(index + shift)).collect() };
            let table = |columns: [bool; 5]| -> Table {
                std::array::from_fn(|at| if columns[at] { column(at) } else { Vec::new() })
            };
            [
                table([true, true, false, false, false]),
                table([true, true, true, false, false]),
                table([true, true, true, true, false]),
                table([true, true, true, false, true]),
            ]
        },
        |tables| {
            for [a, b, ..] in tables.iter_mut() {
                swap(a, b);
            }
            for [_, _, c, d, _] in tables.iter_mut() {
                swap(c, d);
            }
            for [_, _, c, _, e] in tables.iter_mut() {
                swap(c, e);
            }
        },
        |tables| {
            let at = |column: &Vec<f32>, row: usize| column.get(row).copied().unwrap_or(-1.0);
            of_rows(tables.iter().flat_map(|table| {
                (0..MANY).map(move |row| std::array::from_fn::<f32, 5, _>(|column| at(&table[column], row)))
            }))
        },
    )
}

/// Ten columns; each system adds half of its partner to its own.
pub fn frame(threads: usize) -> Contender {
    let add = |own: &mut [f32], other: &[f32]| {
        for (own, other) in own.iter_mut().zip(other) {
            *own = *own * 0.5 + *other;
        }
    };
    let pair = move |pair: &mut [Vec<f32>]| {
        let [a, b] = pair else { unreachable!("columns come in pairs") };
        add(a, b);
        add(b, a);
    };
    Contender::steady(
        (NAME, "components"),
        || {
            let column = |shift: usize| -> Vec<f32> {
                (0..HUNDRED_THOUSAND).map(|index| scalar(index + shift)).collect()
            };
            (0..10).map(column).collect::<Vec<_>>()
        },
        move |columns| {
            if threads == 1 {
                columns.chunks_mut(2).for_each(pair);
            } else {
                rayon::scope(|scope| {
                    columns.chunks_mut(2).for_each(|columns| scope.spawn(move |_| pair(columns)));
                });
            }
        },
        |columns| {
            of_rows((0..HUNDRED_THOUSAND).map(|row| std::array::from_fn::<f32, 10, _>(|at| columns[at][row])))
        },
    )
}
