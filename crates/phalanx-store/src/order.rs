//! Sorting what is short, or rarely sorted, with one sort for all types.
//!
//! The standard library's sorts are some twenty functions per type and comparison, all of them compiled in each crate that
//! sorts. Here only the comparison and the exchange of two values are compiled per use.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

/// Lists up to this length are sorted where they are, without memory of their own.
const SHORT: usize = 20;

/// What the sort knows of a list.
trait Places {
    fn compare(&mut self, a: usize, b: usize) -> Ordering;

    fn swap(&mut self, a: usize, b: usize);
}

struct List<'a, T, C> {
    list: &'a mut [T],
    compare: C,
}

impl<T, C: FnMut(&T, &T) -> Ordering> Places for List<'_, T, C> {
    fn compare(&mut self, a: usize, b: usize) -> Ordering {
        (self.compare)(&self.list[a], &self.list[b])
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.list.swap(a, b);
    }
}

/// As `sort` of slices: equal values keep their order.
#[doc(hidden)]
pub fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// As `sort_by_key` of slices: equal values keep their order.
#[doc(hidden)]
pub fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// As `sort_by` of slices: equal values keep their order.
#[doc(hidden)]
pub fn sort_by<T>(list: &mut [T], compare: impl FnMut(&T, &T) -> Ordering) {
    let len = list.len();
    if len > 1 {
        sort_places(len, &mut List { list, compare });
    }
}

fn sort_places(len: usize, places: &mut dyn Places) {
    if len <= SHORT {
        for end in 1..len {
            let mut at = end;
            while at > 0 && places.compare(at - 1, at).is_gt() {
                places.swap(at - 1, at);
                at -= 1;
            }
        }
        return;
    }
    let order = sorted(len, |a, b| places.compare(a, b));
    arrange(order, |a, b| places.swap(a, b));
}

/// The positions of `len` things in stable ascending order.
#[doc(hidden)]
pub fn sorted(len: usize, mut compare: impl FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Brings things into an order by exchanging two at a time: each place gets what stood at `order[place]`.
#[doc(hidden)]
pub fn arrange(mut order: Vec<usize>, mut swap: impl FnMut(usize, usize)) {
    for start in 0..order.len() {
        // Along a circle of places, what stood at its start is passed on until it is where it belongs.
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
    fn equal_values_keep_their_order_in_short_and_in_long_lists() {
        for len in [0, 1, 2, 3, SHORT, SHORT + 1, 200] {
            let list: Vec<(usize, usize)> = (0..len).map(|at| (at * 7919 % 11, at)).collect();
            let (mut ours, mut theirs) = (list.clone(), list.clone());
            sort_by_key(&mut ours, |one| one.0);
            theirs.sort_by_key(|one| one.0);
            assert_eq!(ours, theirs);
            let (mut ours, mut theirs) = (list.clone(), list);
            sort_by(&mut ours, |a, b| b.cmp(a));
            theirs.sort_by(|a, b| b.cmp(a));
            assert_eq!(ours, theirs);
            sort(&mut ours);
            theirs.sort();
            assert_eq!(ours, theirs);
        }
    }
}
