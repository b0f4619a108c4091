//! What derived query data yield: a struct for one entity, and one for a run of rows.
//!
//! ```text
//!   MoverItem<'w>      position: <&mut Position as QueryData>::Item<'w>
//!   MoverChunk<'w>     position: <&mut Position as QueryData>::Chunk<'w>
//! ```
//!
//! They have the shape of the struct: named fields, or numbered ones. They can be shown, and copied where
//! they only read, if all of their fields can.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Generics, parse_quote};

use super::data::Half;
use super::{Field, each_once};
use crate::column::quiet;
use crate::target::param_ident;

/// One of the two types.
#[derive(Clone, Copy)]
pub enum Yielded {
    Item,
    Chunk,
}

impl Yielded {
    /// The type's name: `MoverItem`.
    fn ident(self, half: &Half<'_>) -> Ident {
        match self {
            Self::Item => format_ident!("{}Item", half.ident),
            Self::Chunk => format_ident!("{}Chunk", half.ident),
        }
    }

    /// The type with its parameters: `MoverItem<'w, T>`.
    pub fn path(self, half: &Half<'_>) -> TokenStream {
        let ident = self.ident(half);
        let params = half.parts.target.generics.params.iter().filter_map(param_ident);
        quote!(#ident<'w, #(#params),*>)
    }

    /// A value, made of the local variables of the fields.
    pub fn make(self, half: &Half<'_>) -> TokenStream {
        let ident = self.ident(half);
        let members = half.parts.fields.iter().map(|field| &field.member);
        let locals = half.parts.fields.iter().map(|field| &field.local);
        quote!(#ident { #(#members: #locals),* })
    }

    /// The type of each field.
    fn types(self, half: &Half<'_>) -> Vec<TokenStream> {
        let each = |(field, ty): (&Field, &TokenStream)| {
            let (span, p) = (field.span(), half.parts.target.private_at(field.span()));
            match self {
                Self::Item => quote_spanned!(span=> <#ty as #p::QueryData>::Item<'w>),
                Self::Chunk => quote_spanned!(span=> <#ty as #p::QueryData>::Chunk<'w>),
            }
        };
        half.parts.fields.iter().zip(&half.types).map(each).collect()
    }

    fn doc(self, name: &str) -> String {
        match self {
            Self::Item => format!("What `{name}` yields for one entity."),
            Self::Chunk => format!("What `{name}` yields for a run of rows of one table."),
        }
    }
}

/// Both types with their implementations.
pub fn emit(half: &Half<'_>) -> TokenStream {
    let types = [Yielded::Item, Yielded::Chunk].map(|yielded| {
        let (definition, debug) = (definition(half, yielded), debug(half, yielded));
        let copy = half.is_read_only().then(|| copy(half, yielded));
        quote!(#definition #debug #copy)
    });
    quote!(#(#types)*)
}

/// The struct's generics with the lifetime of the query before them, and `bounds` added.
fn generics(half: &Half<'_>, bounds: Vec<TokenStream>) -> Generics {
    let mut generics = half.parts.target.generics.clone();
    generics.params.insert(0, parse_quote!('w));
    generics.where_clause = half.parts.clause(bounds);
    generics
}

fn definition(half: &Half<'_>, yielded: Yielded) -> TokenStream {
    let parts = half.parts;
    let p = &parts.target.private;
    let generics = generics(half, parts.dependent(&quote!(#p::QueryData)));
    let (vis, ident) = (&parts.target.vis, yielded.ident(half));
    let clause = &generics.where_clause;
    let doc = yielded.doc(&half.ident.unraw().to_string());
    let fields = parts.fields.iter().zip(yielded.types(half)).map(|(field, ty)| {
        let doc = doc_of(field);
        match &field.member {
            syn::Member::Named(name) => quote!(#doc #vis #name: #ty),
            syn::Member::Unnamed(_) => quote!(#doc #vis #ty),
        }
    });
    let body =
        if parts.is_named { quote!(#clause { #(#fields),* }) } else { quote!((#(#fields),*) #clause;) };
    quote! {
        #[doc = #doc]
        #[allow(
            dead_code, deprecated, unreachable_pub, private_interfaces, private_bounds, non_camel_case_types,
            clippy::all, clippy::pedantic, clippy::nursery
        )]
        #vis struct #ident #generics #body
    }
}

/// What the user says about a field, or else its name.
fn doc_of(field: &Field) -> TokenStream {
    let docs = &field.docs;
    if docs.is_empty() {
        let doc = format!("The field `{}`.", field.name);
        quote!(#[doc = #doc])
    } else {
        quote!(#(#docs)*)
    }
}

/// The head of an implementation that holds where `trait_path` holds for each field.
fn header(half: &Half<'_>, yielded: Yielded, trait_path: &TokenStream) -> TokenStream {
    let types = yielded.types(half).into_iter();
    let mut bounds = half.parts.each_is_data();
    bounds.extend(each_once(types.map(|ty| quote!(for<'any> #ty: #trait_path))));
    let (generics, path, quiet) = (generics(half, bounds), yielded.path(half), quiet());
    let (params, _, clause) = generics.split_for_impl();
    quote!(#quiet impl #params #trait_path for #path #clause)
}

fn debug(half: &Half<'_>, yielded: Yielded) -> TokenStream {
    let header = header(half, yielded, &quote!(::core::fmt::Debug));
    let name = yielded.ident(half).unraw().to_string();
    let fields = half.parts.fields.iter();
    let body = if half.parts.is_named {
        let each = fields.map(|Field { name, member, .. }| quote!(.field(#name, &self.#member)));
        quote!(__f.debug_struct(#name) #(#each)*)
    } else {
        let each = fields.map(|Field { member, .. }| quote!(.field(&self.#member)));
        quote!(__f.debug_tuple(#name) #(#each)*)
    };
    quote! {
        #header {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #body.finish()
            }
        }
    }
}

fn copy(half: &Half<'_>, yielded: Yielded) -> TokenStream {
    let clone = header(half, yielded, &quote!(::core::clone::Clone));
    let copy = header(half, yielded, &quote!(::core::marker::Copy));
    let members = half.parts.fields.iter().map(|field| &field.member);
    quote! {
        #clone {
            #[inline]
            fn clone(&self) -> Self {
                Self { #(#members: ::core::clone::Clone::clone(&self.#members)),* }
            }
        }
        #copy {}
    }
}
