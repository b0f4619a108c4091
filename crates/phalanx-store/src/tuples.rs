//! One list of tuple arities for every trait that is implemented for tuples.
//!
//! A macro that implements a trait for `(A, B, C)` is called with `(A 0) (B 1) (C 2)`: a type name and
//! the position of each part, from the empty tuple to twelve parts. Queries and bundles go to fifteen, as two shorter
//! tuples that are seen as one.

#![forbid(unsafe_code)]

/// Calls a macro with `(A 0) (B 1) ...` for each tuple length from 0 to 12.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_tuple {
    ($m:ident) => {
        $m!();
        $m!((A 0));
        $m!((A 0) (B 1));
        $m!((A 0) (B 1) (C 2));
        $m!((A 0) (B 1) (C 2) (D 3));
        $m!((A 0) (B 1) (C 2) (D 3) (E 4));
        $m!((A 0) (B 1) (C 2) (D 3) (E 4) (F 5));
        $m!((A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6));
        $m!((A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7));
        $m!((A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7) (I 8));
        $m!((A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7) (I 8) (J 9));
        $m!((A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7) (I 8) (J 9) (K 10));
        $m!((A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7) (I 8) (J 9) (K 10) (L 11));
    };
}

/// Calls a macro with `[(A 0) (B 1) ..] [(I 0) (J 1) ..]` for each tuple length from 13 to 15.
///
/// These are two shorter tuples side by side: what is implemented for them forwards to those, so that the longest
/// tuples cost little to compile.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_long_tuple {
    ($m:ident) => {
        $m!([(A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7)] [(I 0) (J 1) (K 2) (L 3) (M 4)]);
        $m!([(A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7)] [(I 0) (J 1) (K 2) (L 3) (M 4) (N 5)]);
        $m!([(A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7)] [(I 0) (J 1) (K 2) (L 3) (M 4) (N 5) (O 6)]);
    };
}

/// The first of two tokens; repeats something once per part of a tuple.
#[doc(hidden)]
#[macro_export]
macro_rules! keep_first {
    ($first:ty, $second:ident) => {
        $first
    };
}
