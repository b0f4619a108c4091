//! `#[derive(QueryFilter)]`: a filter that holds where all fields hold.
//!
//! It decides per archetype when each field does, which the compiler finds out where it is asked: the bounds
//! of that implementation may be false.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{DeriveInput, Result};

use super::Parts;
use crate::attr;
use crate::column::quiet;
use crate::nest::nest;

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["query_filter"])?;
    let krate = attr::only_crate(&input.attrs, "query_filter")?;
    let parts = Parts::new(input, &krate, "a query filter")?;
    let p = &parts.target.private;
    let owner = parts.owner(&quote!('_));
    let (params, _, _) = parts.target.generics.split_for_impl();
    let bounds = parts.clause(parts.each(&quote!(#p::QueryFilter)));
    let archetypal = parts.clause(parts.each(&quote!(#p::ArchetypeFilter)));
    let all = nest(&parts.fields.iter().map(|field| field.ty.to_token_stream()).collect::<Vec<_>>());
    let all = quote!(<#all as #p::QueryFilter>);
    let check = check(&parts);
    let reads = parts.reads();
    let pooled = parts.target.with_pool();
    let (pool_params, _, _) = pooled.split_for_impl();
    let types: Vec<TokenStream> = parts.fields.iter().map(|field| field.ty.to_token_stream()).collect();
    let scoped = parts.target.bounds_in_pool(&types, &quote!(#p::FilterIn));
    let scoped = parts.clause(parts.each(&quote!(#p::QueryFilter)).into_iter().chain(scoped));
    let quiet = quiet();
    Ok(quote! {
        #quiet
        impl #pool_params #p::FilterIn<__P> for #owner #scoped {}
        #check
        #reads
        #quiet
        impl #params #p::QueryFilter for #owner #bounds {
            type Fetch = #all::Fetch;
            type OrFetch = #all::OrFetch;
            const ARCHETYPAL: ::core::primitive::bool = #all::ARCHETYPAL;
            #[inline]
            fn ids() -> <Self::Fetch as #p::Fetch>::Ids {
                #all::ids()
            }
            #[inline]
            fn or_ids() -> <Self::OrFetch as #p::Fetch>::Ids {
                #all::or_ids()
            }
            fn condition() -> #p::Condition {
                #all::condition()
            }
            #[inline(always)]
            fn keep(__row: <Self::Fetch as #p::Fetch>::Item<'_>, __since: #p::Tick) -> ::core::primitive::bool {
                #all::keep(__row, __since)
            }
            #[inline(always)]
            fn keep_or(__row: <Self::OrFetch as #p::Fetch>::Item<'_>, __since: #p::Tick) -> ::core::primitive::bool {
                #all::keep_or(__row, __since)
            }
        }
        #quiet
        impl #params #p::ArchetypeFilter for #owner #archetypal {}
    })
}

/// A type that exists where the fields are filters. It is there for the errors, which appear at the fields.
/// What depends on a parameter is refused where the parameter is chosen.
fn check(parts: &Parts) -> TokenStream {
    let checked = parts.fields.iter().filter(|field| !parts.target.is_dependent(&field.ty)).map(|field| {
        let (ty, p) = (&field.ty, parts.target.private_at(field.span()));
        quote_spanned!(field.span()=> <#ty as #p::QueryFilter>::Fetch)
    });
    quote! {
        const _: () = {
            #[allow(dead_code, deprecated, clippy::all, clippy::pedantic, clippy::nursery)]
            struct __Checked(#(#checked),*);
        };
    }
}
