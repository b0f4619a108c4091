//! One column, and what a query sees of it.
//!
//! A tag, a whole component and one field of a component are each a single column of values; they differ
//! in the leaf that writes and in how a write reaches the ticks of the row.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::WhereClause;

use crate::attr::Track;
use crate::target::Target;

/// How a write is remembered for its row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// Not at all.
    No,
    /// When the value is first written to: rows are `Mut<'_, T>`.
    OnWrite,
    /// When exclusive access is given: rows are `&mut T`.
    OnAccess,
}

/// A type that stands for one column.
pub struct Column<'a> {
    pub target: &'a Target,
    /// The type that queries name: the component, or a field's marker.
    pub who: TokenStream,
    /// The type of the values.
    pub value: TokenStream,
    /// The leaf that writes: `W`, or `Wn` where blocks keep no ticks.
    pub write: Ident,
    pub stamp: Stamp,
    pub bounds: Option<&'a WhereClause>,
    /// Where errors about the type of the values belong.
    pub span: Span,
}

impl Column<'_> {
    /// The implementation of `Queryable`, which also owns the column's id.
    pub fn queryable(&self) -> TokenStream {
        let Self { target, who, value, bounds, .. } = self;
        let p = &target.private;
        let owner = target.path();
        let (params, _, _) = target.generics.split_for_impl();
        let id = id(target, value, who, self.span);
        let types = self.types();
        let quiet = quiet();
        let read_ids = quote!(<Self as #p::Queryable>::read_ids());
        let (write_ids, wrap_mut, wrap_slice_mut) = match self.stamp {
            Stamp::No => (read_ids, quote!(__item), quote!(__slices)),
            stamp => {
                let wrap = if stamp == Stamp::OnWrite {
                    quote!(#p::Mut::new(__value, __changed, __now))
                } else {
                    quote!({
                        *__changed = __now;
                        __value
                    })
                };
                (
                    quote!((#read_ids, <#owner as #p::RowTracked>::changed_id(), ())),
                    quote!({ let (__value, __changed, __now) = __item; #wrap }),
                    quote!({
                        let (__values, __changed, __now) = __slices;
                        <[_]>::fill(__changed, __now);
                        __values
                    }),
                )
            }
        };
        quote! {
            #quiet
            impl #params #p::Queryable for #who #bounds {
                type Owner = #owner;
                #types
                #[inline]
                fn read_ids() -> <Self::Read as #p::Fetch>::Ids {
                    #id
                }
                #[inline]
                fn write_ids() -> <Self::Write as #p::Fetch>::Ids {
                    #write_ids
                }
                #[inline(always)]
                fn wrap_ref<'row>(__item: <Self::Read as #p::Fetch>::Item<'row>) -> Self::Ref<'row> {
                    __item
                }
                #[inline(always)]
                fn wrap_mut<'row>(__item: <Self::Write as #p::Fetch>::Item<'row>) -> Self::Mut<'row> {
                    #wrap_mut
                }
                #[inline(always)]
                fn wrap_slice<'row>(__slices: <Self::Read as #p::Fetch>::Slices<'row>) -> Self::Slice<'row> {
                    __slices
                }
                #[inline(always)]
                fn wrap_slice_mut<'row>(__slices: <Self::Write as #p::Fetch>::Slices<'row>) -> Self::SliceMut<'row> {
                    #wrap_slice_mut
                }
            }
        }
    }

    fn types(&self) -> TokenStream {
        let Self { value, write, span, .. } = self;
        let p = self.target.private_at(*span);
        let (leaf, row) = (quote!(#p::#write<#value>), quote!(&'row mut #value));
        let (write, row) = match self.stamp {
            Stamp::No => (leaf, row),
            Stamp::OnWrite => (quote!((#leaf, #p::Wn<#p::Tick>, #p::Now)), quote!(#p::Mut<'row, #value>)),
            Stamp::OnAccess => (quote!((#leaf, #p::Wn<#p::Tick>, #p::Now)), row),
        };
        quote_spanned! {*span=>
            type Read = #p::R<#value>;
            type Write = #write;
            type Ref<'row> = &'row #value;
            type Mut<'row> = #row;
            type Slice<'row> = &'row [#value];
            type SliceMut<'row> = &'row mut [#value];
        }
    }
}

/// The leaf that writes a column.
pub fn write_leaf(track: Track) -> Ident {
    match track {
        Track::None => format_ident!("Wn"),
        Track::Block | Track::Row => format_ident!("W"),
    }
}

/// An expression for the id of the column of `value` that `marker` stands for.
///
/// The expression must be emitted once per column: where the type has no parameters it holds the `static`
/// that is the column's identity.
pub fn id(target: &Target, value: &TokenStream, marker: &TokenStream, span: Span) -> TokenStream {
    let p = target.private_at(span);
    if target.is_generic() {
        quote!(#p::ColId::<#value>::of_marker::<#marker>())
    } else {
        quote_spanned! {span=>
            static COLUMN: #p::ColCell<#value> = #p::ColCell::new();
            #p::ColCell::id(&COLUMN)
        }
    }
}

/// Attributes of emitted implementations: lints about the user's types are not repeated for them.
pub fn quiet() -> TokenStream {
    quote! {
        #[automatically_derived]
        #[allow(deprecated, private_interfaces, private_bounds, clippy::all, clippy::pedantic, clippy::nursery)]
    }
}
