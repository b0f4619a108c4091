//! How many parameters a system may have, as one list for every trait over them.
//!
//! Sixteen, as in bevy_ecs; more go into a tuple, which is one parameter. Longer than the list of the store, because
//! nothing here is worked out per row.

/// Calls a macro with `(A 0) (B 1) ..` for each number of parameters from 0 to 16.
macro_rules! for_each_params {
    ($m:ident) => {
        $crate::system::tuples::for_each_params!(@ $m [] (A 0) (B 1) (C 2) (D 3) (E 4) (F 5) (G 6) (H 7) (I 8)
            (J 9) (K 10) (L 11) (M 12) (N 13) (O 14) (P 15));
    };
    (@ $m:ident [$($have:tt)*]) => {
        $m!($($have)*);
    };
    (@ $m:ident [$($have:tt)*] $next:tt $($rest:tt)*) => {
        $m!($($have)*);
        $crate::system::tuples::for_each_params!(@ $m [$($have)* $next] $($rest)*);
    };
}
pub(crate) use for_each_params;
