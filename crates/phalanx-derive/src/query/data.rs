//! `#[derive(QueryData)]`: query data with named parts.
//!
//! ```text
//!   Mover                the fields as written     -> MoverItem, MoverChunk
//!   MoverReadOnly        their read-only halves    -> MoverReadOnlyItem, MoverReadOnlyChunk
//! ```
//!
//! The second exists with `mutable` alone. Without it the struct is its own read-only half, and a field that
//! writes is an error at that field.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{DeriveInput, Error, Result};

use super::yielded::{self, Yielded};
use super::{Field, Parts, each_once};
use crate::attr::{self, QueryDataAttr};
use crate::column::quiet;
use crate::nest::nest;

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["query_data"])?;
    let attr = QueryDataAttr::parse(&input.attrs)?;
    let parts = Parts::new(input, &attr.krate, "query data")?;
    if parts.fields.is_empty() {
        let message =
            format!("`{}` asks for nothing: give it a field, such as `entity: Entity`", input.ident);
        return Err(Error::new(input.ident.span(), message));
    }
    let reads = parts.reads();
    if attr.is_mutable {
        let read_only = Half::read_only(&parts);
        let both = Half::as_written(&parts, &read_only);
        let (marker, both, read_only) = (marker(&parts, &read_only), both.emit(), read_only.emit());
        Ok(quote!(#reads #both #marker #read_only))
    } else {
        let (check, half) = (check(&parts), Half::itself(&parts).emit());
        Ok(quote!(#reads #check #half))
    }
}

/// Query data to be implemented: the struct, or its half that only reads.
pub struct Half<'a> {
    pub parts: &'a Parts,
    pub ident: Ident,
    /// The type that stands in queries, with its parameters.
    owner: TokenStream,
    /// The type of each field's part.
    pub types: Vec<TokenStream>,
    /// What must hold of the parts.
    bounds: Vec<TokenStream>,
    /// The type of the half that only reads, unless this is it.
    read_only: Option<TokenStream>,
}

impl<'a> Half<'a> {
    /// The struct, when it is `mutable`.
    fn as_written(parts: &'a Parts, read_only: &Self) -> Self {
        Self {
            parts,
            ident: parts.target.ident.clone(),
            owner: parts.owner(&quote!('_)),
            types: parts.fields.iter().map(|field| field.ty.to_token_stream()).collect(),
            bounds: parts.each_is_data(),
            read_only: Some(read_only.owner.clone()),
        }
    }

    /// The half of a `mutable` struct that only reads.
    fn read_only(parts: &'a Parts) -> Self {
        let ident = format_ident!("{}ReadOnly", parts.target.ident);
        let (_, arguments, _) = parts.target.generics.split_for_impl();
        let owner = quote!(#ident #arguments);
        let types = parts.fields.iter().map(|field| read_half(parts, field)).collect();
        Self { parts, ident, owner, types, bounds: parts.each_is_data(), read_only: None }
    }

    /// The struct, when it is not `mutable` and so the same as its half.
    ///
    /// Its fields are their own halves as well, and the implementations name these, about which more is known
    /// without a bound: bounds that say a part only reads lead the compiler into ambiguities.
    fn itself(parts: &'a Parts) -> Self {
        let only_reads = parts.fields.iter().filter(|field| parts.target.is_dependent(&field.ty));
        let only_reads = each_once(only_reads.map(|field| {
            let (p, ty, half) = (&parts.target.private, &field.ty, read_half(parts, field));
            quote!(#half: #p::OnlyReads<#ty>)
        }));
        Self {
            ident: parts.target.ident.clone(),
            owner: parts.owner(&quote!('_)),
            bounds: [parts.each_is_data(), only_reads].concat(),
            ..Self::read_only(parts)
        }
    }

    /// Whether the data write nothing.
    pub fn is_read_only(&self) -> bool {
        self.read_only.is_none()
    }

    /// The implementations, and the types of what is yielded.
    fn emit(&self) -> TokenStream {
        let Self { parts, owner, .. } = self;
        let p = &parts.target.private;
        let (params, _, _) = parts.target.generics.split_for_impl();
        let bounds = parts.clause(self.bounds.iter().cloned());
        let all = nest(&self.types);
        let all = quote!(<#all as #p::QueryData>);
        let read_only = self.read_only.clone().unwrap_or_else(|| quote!(Self));
        let pattern =
            nest(&parts.fields.iter().map(|field| field.local.to_token_stream()).collect::<Vec<_>>());
        let (item, chunk) = (Yielded::Item.path(self), Yielded::Chunk.path(self));
        let (make_item, make_chunk) = (Yielded::Item.make(self), Yielded::Chunk.make(self));
        let quiet = quiet();
        let reads = self.is_read_only().then(|| {
            quote! {
                #quiet
                impl #params #p::ReadOnlyQueryData for #owner #bounds {}
            }
        });
        let yielded = yielded::emit(self);
        let pooled = parts.target.with_pool();
        let (pool_params, _, _) = pooled.split_for_impl();
        let scoped = parts.target.bounds_in_pool(&self.types, &quote!(#p::QueryIn));
        let scoped = parts.clause(self.bounds.iter().cloned().chain(scoped));
        quote! {
            #quiet
            impl #pool_params #p::QueryIn<__P> for #owner #scoped {}
            #yielded
            #quiet
            impl #params #p::QueryData for #owner #bounds {
                type Fetch = #all::Fetch;
                type ReadOnly = #read_only;
                type Item<'w> = #item;
                type Chunk<'w> = #chunk;
                #[inline]
                fn ids() -> <Self::Fetch as #p::Fetch>::Ids {
                    #all::ids()
                }
                fn condition() -> #p::Condition {
                    #all::condition()
                }
                fn terms(__out: &mut ::std::vec::Vec<#p::Term>) {
                    #all::terms(__out)
                }
                #[inline(always)]
                fn item<'w>(__row: <Self::Fetch as #p::Fetch>::Item<'w>, __since: #p::Moment<'w>) -> Self::Item<'w> {
                    let #pattern = #all::item(__row, __since);
                    #make_item
                }
                #[inline(always)]
                fn chunk<'w>(__rows: <Self::Fetch as #p::Fetch>::Slices<'w>) -> Self::Chunk<'w> {
                    let #pattern = #all::chunk(__rows);
                    #make_chunk
                }
            }
            #reads
        }
    }
}

/// The type of the read-only half. It only stands in queries, and has no values.
fn marker(parts: &Parts, half: &Half<'_>) -> TokenStream {
    let (vis, generics, ident) = (&parts.target.vis, &parts.target.generics, &half.ident);
    let (clause, owner) = (&generics.where_clause, parts.owner(&quote!('static)));
    let doc = format!("What `{}` asks for, without write access.", parts.target.name());
    quote! {
        #[doc = #doc]
        #[allow(
            dead_code, deprecated, private_bounds, missing_debug_implementations, non_camel_case_types,
            clippy::all, clippy::pedantic, clippy::nursery
        )]
        #vis struct #ident #generics #clause {
            _p: ::core::marker::PhantomData<fn() -> #owner>,
        }
    }
}

/// The half of a field's part that only reads.
fn read_half(parts: &Parts, field: &Field) -> TokenStream {
    let (ty, p) = (&field.ty, parts.target.private_at(field.span()));
    quote_spanned!(field.span()=> <#ty as #p::QueryData>::ReadOnly)
}

/// Refuses fields that write: those that are not their own halves. What depends on a parameter is refused
/// where the parameter is chosen.
fn check(parts: &Parts) -> TokenStream {
    let checked = parts.fields.iter().filter(|field| !parts.target.is_dependent(&field.ty)).map(|field| {
        let (ty, half, p) = (&field.ty, read_half(parts, field), parts.target.private_at(field.span()));
        quote_spanned!(field.span()=> <#half as #p::OnlyReads<#ty>>::Checked)
    });
    quote! {
        const _: () = {
            #[allow(dead_code, deprecated, clippy::all, clippy::pedantic, clippy::nursery)]
            struct __Checked(#(#checked),*);
        };
    }
}
