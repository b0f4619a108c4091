//! Sorting what is sorted seldom, in little code.
//!
//! The standard library compiles some twenty functions for each type that is sorted, 8 KB of machine code, to be fast for
//! millions of values. Lists of systems, conditions and columns are short, and sorted when a program begins. Here short lists
//! are sorted by insertion, and of longer ones the positions, in one place for all types. Equal values keep their order.
//!
//! Lists that are long in each frame are sorted by the standard library. The rows of sets and groups are ordered by the same two
//! steps, [`in_order`] and [`arrange`], because their values lie in several columns.

#![forbid(unsafe_code)]

use std::cmp::Ordering;

/// Up to so many values are sorted by insertion.
const SHORT: usize = 20;

/// Sorts a list.
pub fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// Sorts a list by a key, which is asked for often.
pub fn sort_by_key<T, K: Ord>(list: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// Sorts a list by a comparison.
pub fn sort_by<T>(list: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    if list.len() > SHORT {
        // Without their types, so that both are compiled once.
        let compare: &mut dyn FnMut(usize, usize) -> Ordering = &mut |a, b| compare(&list[a], &list[b]);
        let order = in_order(list.len(), compare);
        let swap: &mut dyn FnMut(usize, usize) = &mut |a, b| list.swap(a, b);
        return arrange(order, swap);
    }
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && compare(&list[at - 1], &list[at]) == Ordering::Greater {
            list.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// The positions of so many values, in the order of what stands there; equal ones as they stand.
pub fn in_order(len: usize, mut compare: impl FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Brings values into an order by exchanging two at a time: each position gets what stood at `order[position]`.
pub fn arrange(mut order: Vec<usize>, mut swap: impl FnMut(usize, usize)) {
    for start in 0..order.len() {
        // Along a cycle of positions, what stood at its start is passed on until it is where it belongs.
        let mut at = start;
        while order[at] != start {
            let from = std::mem::replace(&mut order[at], at);
            swap(at, from);
            at = from;
        }
        order[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_each_length_are_sorted_as_by_the_standard_library() {
        let mut state = 1_u64;
        for len in 0..200 {
            let mut list: Vec<(u64, usize)> = (0..len)
                .map(|at| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    ((state >> 33) % (1 + len as u64 / 2), at)
                })
                .collect();
            let mut model = list.clone();
            model.sort_by_key(|(key, _)| *key);
            sort_by_key(&mut list, |(key, _)| *key);
            assert_eq!(list, model);
            list.reverse();
            sort(&mut list);
            model.sort();
            assert_eq!(list, model);
        }
    }
}
