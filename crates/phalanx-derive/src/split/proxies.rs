//! The rows and slices of what is kept field by field.
//!
//! ```text
//!   PositionRef        x: &f32          one row
//!   PositionMut        x: &mut f32
//!   PositionSlices     x: &[f32]        a run of rows
//!   PositionSlicesMut  x: &mut [f32]
//! ```
//!
//! They have the shape of the struct: named fields, or numbered ones. Components have all four, messages the
//! shared ones. Here are the types and the standard traits; what can be done with them stands in `methods`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Generics, parse_quote};

use super::{Field, Split, methods};
use crate::column::quiet;
use crate::target::param_ident;

/// One of the four types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Proxy {
    Ref,
    Mut,
    Slices,
    SlicesMut,
}

impl Proxy {
    pub const ALL: [Proxy; 4] = [Proxy::Ref, Proxy::Mut, Proxy::Slices, Proxy::SlicesMut];
    pub const SHARED: [Proxy; 2] = [Proxy::Ref, Proxy::Slices];

    fn suffix(self) -> &'static str {
        match self {
            Self::Ref => "Ref",
            Self::Mut => "Mut",
            Self::Slices => "Slices",
            Self::SlicesMut => "SlicesMut",
        }
    }

    /// The type's name: `PositionRef`.
    pub fn ident(self, split: &Split<'_>) -> Ident {
        format_ident!("{}{}", split.target.ident, self.suffix())
    }

    /// The type with its parameters: `PositionRef<'row, T>`.
    pub fn path(self, split: &Split<'_>, lifetime: &TokenStream) -> TokenStream {
        let ident = self.ident(split);
        let params = split.target.generics.params.iter().filter_map(param_ident);
        quote!(#ident<#lifetime, #(#params),*>)
    }

    fn field(self, field: &Field) -> TokenStream {
        let ty = &field.ty;
        match self {
            Self::Ref => quote!(&'row #ty),
            Self::Mut => quote!(&'row mut #ty),
            Self::Slices => quote!(&'row [#ty]),
            Self::SlicesMut => quote!(&'row mut [#ty]),
        }
    }

    fn doc(self, name: &str) -> String {
        match self {
            Self::Ref => format!("One row of `{name}`, shared."),
            Self::Mut => format!("One row of `{name}`, exclusive."),
            Self::Slices => format!("A run of rows of `{name}`, shared: a slice for each field."),
            Self::SlicesMut => format!("A run of rows of `{name}`, exclusive: a slice for each field."),
        }
    }
}

/// The types named by `chosen`, with their implementations.
pub fn emit(split: &Split<'_>, chosen: &[Proxy]) -> TokenStream {
    let types = chosen.iter().map(|&proxy| {
        let (definition, debug) = (definition(split, proxy), debug(split, proxy));
        let copy = matches!(proxy, Proxy::Ref | Proxy::Slices).then(|| copy(split, proxy));
        quote!(#definition #copy #debug)
    });
    let (eq, methods) = (eq(split), methods::emit(split, chosen));
    quote!(#(#types)* #eq #methods)
}

/// The struct's generics with the lifetime of the row before them.
pub fn generics(split: &Split<'_>) -> Generics {
    let mut generics = split.target.generics.clone();
    generics.params.insert(0, parse_quote!('row));
    generics
}

/// Bounds that let `trait_path` hold for every field.
///
/// A field's type may simply not have the trait, and a plain bound that is false for a known type is an error
/// where it stands. Under `for<'any>` it is looked at only where the function is used.
pub fn each_field_is(split: &Split<'_>, trait_path: &TokenStream) -> TokenStream {
    let mut seen = Vec::new();
    let bounds = split.fields.iter().filter_map(|Field { ty, .. }| {
        let bound = quote!(for<'any> #ty: #trait_path);
        let text = bound.to_string();
        (!seen.contains(&text)).then(|| {
            seen.push(text);
            bound
        })
    });
    quote!(#(#bounds,)*)
}

/// The where clause of the struct, with `extra` at its end.
fn bounds(split: &Split<'_>, extra: &TokenStream) -> TokenStream {
    match &split.target.generics.where_clause {
        Some(clause) => {
            let predicates = clause.predicates.iter();
            quote!(where #(#predicates,)* #extra)
        }
        None => quote!(where #extra),
    }
}

fn definition(split: &Split<'_>, proxy: Proxy) -> TokenStream {
    let (vis, ident, generics) = (&split.target.vis, proxy.ident(split), generics(split));
    let clause = &split.target.generics.where_clause;
    let doc = proxy.doc(&split.target.name());
    let fields = split.fields.iter().map(|field| {
        let (doc, ty) = (format!("The field `{}`.", field.name), proxy.field(field));
        if split.is_named {
            let marker = &field.marker;
            quote!(#[doc = #doc] pub #marker: #ty)
        } else {
            quote!(#[doc = #doc] pub #ty)
        }
    });
    let body =
        if split.is_named { quote!(#clause { #(#fields),* }) } else { quote!((#(#fields),*) #clause;) };
    quote! {
        #[doc = #doc]
        #[allow(
            dead_code, deprecated, unreachable_pub, private_interfaces, private_bounds,
            clippy::all, clippy::pedantic, clippy::nursery
        )]
        #vis struct #ident #generics #body
    }
}

fn copy(split: &Split<'_>, proxy: Proxy) -> TokenStream {
    let (generics, path, quiet) = (generics(split), proxy.path(split, &quote!('row)), quiet());
    let (params, _, clause) = generics.split_for_impl();
    quote! {
        #quiet
        impl #params ::core::clone::Clone for #path #clause {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }
        #quiet
        impl #params ::core::marker::Copy for #path #clause {}
    }
}

fn debug(split: &Split<'_>, proxy: Proxy) -> TokenStream {
    let (generics, path, quiet) = (generics(split), proxy.path(split, &quote!('row)), quiet());
    let (params, _, _) = generics.split_for_impl();
    let bounds = bounds(split, &each_field_is(split, &quote!(::core::fmt::Debug)));
    let name = split.target.name() + proxy.suffix();
    let members = split.fields.iter().map(|field| &field.member);
    let fields = if split.is_named {
        let names = split.fields.iter().map(|field| &field.name);
        quote!(__f.debug_struct(#name) #(.field(#names, &self.#members))*)
    } else {
        quote!(__f.debug_tuple(#name) #(.field(&self.#members))*)
    };
    quote! {
        #quiet
        impl #params ::core::fmt::Debug for #path #bounds {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #fields.finish()
            }
        }
    }
}

fn eq(split: &Split<'_>) -> TokenStream {
    let (generics, path, quiet) = (generics(split), Proxy::Ref.path(split, &quote!('row)), quiet());
    let (params, _, _) = generics.split_for_impl();
    let bounds = bounds(split, &each_field_is(split, &quote!(::core::cmp::PartialEq)));
    let members = split.fields.iter().map(|field| &field.member);
    quote! {
        #quiet
        #[allow(unpredictable_function_pointer_comparisons)]
        impl #params ::core::cmp::PartialEq for #path #bounds {
            fn eq(&self, __other: &Self) -> ::core::primitive::bool {
                #(::core::cmp::PartialEq::eq(self.#members, __other.#members))&&*
            }
        }
    }
}
