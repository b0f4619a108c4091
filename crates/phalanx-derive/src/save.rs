//! What `save` adds to components, resources and messages.
//!
//! All of it stands in `if_saving!`, a macro of the library which passes it on where the feature `serde` is on, and says
//! that it is missing where it is off. Values that are kept by fields are put together for saving from clones of these,
//! so that `Serialize` of the struct itself is what counts.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{LitStr, WhereClause, parse_quote};

use crate::column::quiet;
use crate::split::{Field, Split};
use crate::target::Target;

/// The implementation of `Save`, and of a trait with this name and content.
pub fn implementation(
    target: &Target,
    bounds: Option<&WhereClause>,
    of: Option<(TokenStream, TokenStream)>,
    kind: &str,
) -> TokenStream {
    let (p, owner, quiet) = (&target.private, target.path(), quiet());
    let (params, _, _) = target.generics.split_for_impl();
    let kind = format_ident!("{kind}");
    let of = of.map(|(name, content)| quote!(#quiet impl #params #p::#name for #owner #bounds { #content }));
    quote! {
        #p::if_saving! {
            #of
            #quiet
            impl #params #p::Save for #owner #bounds {
                fn register(__registry: &mut #p::SaveRegistry) {
                    #p::SaveRegistry::#kind::<Self>(__registry);
                }
            }
        }
    }
}

/// The function of `Resource` and `Message` that says how values are saved.
pub fn saving(target: &Target, of: &str, name: Option<&LitStr>, version: u32) -> TokenStream {
    let (p, of) = (&target.private, format_ident!("{of}"));
    let name = name.map_or_else(String::new, LitStr::value);
    quote! {
        #p::if_saving! {
            fn saving() -> ::core::option::Option<#p::#of> {
                ::core::option::Option::Some(#p::#of::of::<Self>(|| #p::name_or_type::<Self>(#name), #version))
            }
        }
    }
}

/// The bounds of a generic type that is saved: those of its parts, and that it can be.
pub fn extend(target: &Target, bounds: Option<WhereClause>, saved: bool) -> Option<WhereClause> {
    if !saved || !target.is_generic() {
        return bounds;
    }
    let (p, owner) = (&target.private, target.path());
    let mut bounds = bounds.unwrap_or_else(|| parse_quote!(where));
    bounds.predicates.push(parse_quote!(#owner: #p::Serialize + #p::DeserializeOwned));
    Some(bounds)
}

/// As [`extend`], for the fields of a type that is put together for saving.
pub fn extend_clone(split: &Split<'_>, saved: bool) -> Option<WhereClause> {
    let mut bounds = split.bounds.clone();
    if saved && split.target.is_generic() {
        let clause = bounds.get_or_insert_with(|| parse_quote!(where));
        for Field { ty, .. } in split.fields.iter().filter(|field| split.target.is_dependent(&field.ty)) {
            clause.predicates.push(parse_quote!(#ty: ::core::clone::Clone));
        }
    }
    bounds
}

/// Calls `__f` with a value that is made of clones of the fields of `__row`.
pub fn whole_of_row(split: &Split<'_>, row: &Ident) -> TokenStream {
    let braces = split.braces();
    let members = split.fields.iter().map(|field| &field.member);
    let locals = split.fields.iter().map(|field| &field.local);
    quote! {
        let #row #braces = __row;
        __f(&Self { #(#members: ::core::clone::Clone::clone(#locals)),* });
    }
}
