//! One column, and what a query sees of it.
//!
//! A tag, a whole component and one field of a component are each a single column of values; they differ
//! in the fetch term that writes and in how a write reaches the ticks of the row.

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
    /// When the value is first written to.
    OnWrite,
    /// When exclusive access is given.
    OnAccess,
}

/// What exclusive access to a row is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RowAccess {
    /// `Mut<'_, T>`: the column is a whole component.
    Mut,
    /// `&mut T`: the column is a field.
    Reference,
    /// `&T`: the component is never written in place.
    Shared,
    /// `OrderMut<'_, T>`: the component is a list of which the order may be changed.
    Order,
}

/// A type that stands for one column.
pub struct Column<'a> {
    pub target: &'a Target,
    /// The type that queries name: the component, or a field's marker.
    pub who: TokenStream,
    /// The type of the values.
    pub value: TokenStream,
    /// The fetch term that writes: `Write`, or `WriteUntracked` where blocks keep no ticks.
    pub write: Ident,
    pub stamp: Stamp,
    /// What exclusive access to a row is.
    pub row: RowAccess,
    /// Whether the column is one of a sparse set.
    pub sparse: bool,
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
        let [added, changed] =
            [quote!(added_id), quote!(changed_id)].map(|tick| quote!(<#owner as #p::RowTracked>::#tick()));
        let value_of = |all: TokenStream| quote!({ let (__value, ..) = #all; __value });
        let (ids, wrap_ref, wrap_slice) = match self.stamp {
            Stamp::No => (id, quote!(__item), quote!(__slices)),
            Stamp::OnWrite => (
                quote!(({ #id }, #added, #changed, ())),
                value_of(quote!(__item)),
                value_of(quote!(__slices)),
            ),
            Stamp::OnAccess => {
                (quote!(({ #id }, #changed, ())), value_of(quote!(__item)), value_of(quote!(__slices)))
            }
        };
        let fill = quote!(<[_]>::fill(__changed, __now); __value);
        let wrap_mut = match (self.stamp, self.row) {
            (_, RowAccess::Shared) => wrap_ref.clone(),
            (Stamp::No, RowAccess::Reference) => quote!(__item),
            (Stamp::No, _) => quote!(#p::Mut::new(__item, #p::Stamp::none())),
            (Stamp::OnWrite, _) => quote!({
                let (__value, __added, __changed, __now) = __item;
                #p::Mut::new(__value, #p::Stamp::new(__added, __changed, __since, __now))
            }),
            (Stamp::OnAccess, _) => {
                quote!({
                    let (__value, __changed, __now) = __item;
                    *__changed = __now;
                    __value
                })
            }
        };
        let wrap_mut = match self.row {
            RowAccess::Order => quote!(#p::OrderMut::new(#wrap_mut)),
            _ => wrap_mut,
        };
        let wrap_slice_mut = match self.stamp {
            _ if self.row == RowAccess::Shared => wrap_slice.clone(),
            Stamp::No => quote!(__slices),
            Stamp::OnWrite => quote!({ let (__value, _, __changed, __now) = __slices; #fill }),
            Stamp::OnAccess => quote!({ let (__value, __changed, __now) = __slices; #fill }),
        };
        quote! {
            #quiet
            impl #params #p::Queryable for #who #bounds {
                type Owner = #owner;
                #types
                #[inline]
                fn ids() -> <Self::Read as #p::Fetch>::Ids {
                    #ids
                }
                #[inline(always)]
                fn wrap_ref<'row>(__item: <Self::Read as #p::Fetch>::Item<'row>) -> Self::Ref<'row> {
                    #wrap_ref
                }
                #[inline(always)]
                fn wrap_mut<'row>(
                    __item: <Self::Write as #p::Fetch>::Item<'row>,
                    __since: #p::Tick,
                ) -> Self::Mut<'row> {
                    #wrap_mut
                }
                #[inline(always)]
                fn wrap_slice<'row>(__slices: <Self::Read as #p::Fetch>::Slices<'row>) -> Self::Slice<'row> {
                    #wrap_slice
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
        let ticked = |term: TokenStream, tick: TokenStream| match self.stamp {
            Stamp::No => term,
            Stamp::OnWrite => quote!((#term, #p::Read<#p::Tick>, #p::#tick<#p::Tick>, #p::Now)),
            Stamp::OnAccess => quote!((#term, #p::#tick<#p::Tick>, #p::Now)),
        };
        let read = in_set(&p, self.sparse, ticked(quote!(#p::Read<#value>), quote!(Read)));
        let write = match self.row {
            RowAccess::Shared => read.clone(),
            _ => in_set(&p, self.sparse, ticked(quote!(#p::#write<#value>), quote!(Write))),
        };
        let row = match self.row {
            RowAccess::Mut => quote!(#p::Mut<'row, #value>),
            RowAccess::Reference => quote!(&'row mut #value),
            RowAccess::Shared => quote!(&'row #value),
            RowAccess::Order => quote!(#p::OrderMut<'row, #value>),
        };
        let slice = match self.row {
            RowAccess::Mut | RowAccess::Reference => quote!(&'row mut [#value]),
            RowAccess::Shared | RowAccess::Order => quote!(&'row [#value]),
        };
        quote_spanned! {*span=>
            type Read = #read;
            type Write = #write;
            type Ref<'row> = &'row #value;
            type Mut<'row> = #row;
            type Slice<'row> = &'row [#value];
            type SliceMut<'row> = #slice;
        }
    }
}

/// The fetch of a component's columns where they are.
pub fn in_set(p: &TokenStream, sparse: bool, fetch: TokenStream) -> TokenStream {
    if sparse { quote!(#p::InSet<#fetch>) } else { fetch }
}

/// An expression for the id of the column that a `Queryable` type owns.
pub fn id_of(p: &TokenStream, who: &TokenStream, track: Track) -> TokenStream {
    match track {
        // The ids of a row's tick columns are added.
        Track::Row => quote!(<#who as #p::Queryable>::ids().0),
        Track::None | Track::Block => quote!(<#who as #p::Queryable>::ids()),
    }
}

/// The fetch term that writes a column.
pub fn write_term(track: Track) -> Ident {
    match track {
        Track::None => format_ident!("WriteUntracked"),
        Track::Block | Track::Row => format_ident!("Write"),
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
