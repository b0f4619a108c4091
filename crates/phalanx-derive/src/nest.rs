//! Many columns as nested tuples.
//!
//! The libraries implement their traits for tuples of at most twelve parts, and the parts may be tuples
//! again. Types, patterns and expressions of tuples are written alike, so one function makes all three
//! in the same shape.
//!
//! ```text
//!   1        a
//!   2..=12   (a, b, ..)
//!   13..     ((a, .., f), (g, .., m))        even groups, in order
//! ```

use proc_macro2::TokenStream;
use quote::quote;

const WIDEST: usize = 12;

/// `parts` in their order, as one type, pattern or expression.
pub fn nest(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => one.clone(),
        _ if parts.len() <= WIDEST => quote!((#(#parts),*)),
        _ => {
            let groups = parts.len().div_ceil(WIDEST).min(WIDEST);
            let even: Vec<TokenStream> = parts.chunks(parts.len().div_ceil(groups)).map(nest).collect();
            nest(&even)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::{Delimiter, TokenTree};

    /// The widest tuple and the number of leaves.
    fn measure(tokens: TokenStream) -> (usize, usize) {
        let (mut width, mut widest, mut leaves) = (0, 0, 0);
        for token in tokens {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                    let inner = measure(group.stream());
                    width += 1;
                    widest = widest.max(inner.0);
                    leaves += inner.1;
                }
                TokenTree::Ident(_) => {
                    width += 1;
                    leaves += 1;
                }
                _ => {}
            }
        }
        (widest.max(width), leaves)
    }

    #[test]
    fn no_tuple_is_wider_than_twelve_and_no_part_is_lost() {
        for n in 0..400 {
            let parts = vec![quote!(a); n];
            let (widest, leaves) = measure(nest(&parts));
            assert!(widest <= WIDEST, "{n} parts: {widest}");
            assert_eq!(leaves, n);
        }
    }
}
