//! `#[derive(QueryData)]` and `#[derive(QueryFilter)]`: a struct as a tuple with names.
//!
//! The libraries know what tuples of query data and of filters mean, so both derives forward to the tuple of
//! the fields' types, nested where it is wide. Query data also get types of their own for what is yielded
//! (`yielded`).
//!
//! A lifetime of the struct says nothing here: what a query yields has the lifetime of the query. It is
//! replaced by `'static` wherever it is written, and the traits are implemented for all lifetimes.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::Parse;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, GenericParam, Member, Path, Result, Type, WhereClause,
};

use crate::target::{Target, param_ident};

pub use data::derive as data;
pub use filter::derive as filter;

mod data;
mod filter;
mod yielded;

/// One field, which is a part of the query.
struct Field {
    member: Member,
    ty: Type,
    /// The field's name as text: `x`, or `0`.
    name: String,
    /// What the user says about it.
    docs: Vec<Attribute>,
    /// A local variable that holds what the field yields.
    local: Ident,
}

/// A struct whose fields are the parts of a query.
struct Parts {
    target: Target,
    fields: Vec<Field>,
    /// Whether fields have names, rather than numbers.
    is_named: bool,
    /// How many lifetimes the struct has.
    lifetimes: usize,
}

impl Parts {
    /// `what` names the derive in an error: "query data", "a query filter".
    fn new(input: &DeriveInput, krate: &Path, what: &str) -> Result<Self> {
        let refuse = |span, kind| Err(Error::new(span, format!("{what} must be a struct, not {kind}")));
        let fields = match &input.data {
            Data::Struct(data) => &data.fields,
            Data::Enum(data) => return refuse(data.enum_token.span, "an enum"),
            Data::Union(data) => return refuse(data.union_token.span, "a union"),
        };
        let lifetimes: Vec<&Ident> = input.generics.lifetimes().map(|param| &param.lifetime.ident).collect();
        let target = Target::new(&without_lifetimes(input, &lifetimes)?, krate, what)?;
        let make = |(i, (member, field)): (usize, (Member, &syn::Field))| {
            let ty: Type = target.without_self(&to_static(&field.ty, &lifetimes)?)?;
            let docs = field.attrs.iter().filter(|attr| attr.path().is_ident("doc")).cloned().collect();
            Ok(Field::new(i, member, ty, docs))
        };
        let parts = fields.members().zip(fields).enumerate().map(make).collect::<Result<_>>()?;
        let is_named = matches!(fields, Fields::Named(_));
        Ok(Self { target, fields: parts, is_named, lifetimes: lifetimes.len() })
    }

    /// The struct with its parameters, and `lifetime` for each of its lifetimes.
    fn owner(&self, lifetime: &TokenStream) -> TokenStream {
        let ident = &self.target.ident;
        let lifetimes = vec![lifetime; self.lifetimes];
        let params = self.target.generics.params.iter().filter_map(param_ident);
        if self.lifetimes == 0 { self.target.path() } else { quote!(#ident<#(#lifetimes,)* #(#params),*>) }
    }

    /// The where clause of the struct with `extra` added.
    fn clause(&self, extra: impl IntoIterator<Item = TokenStream>) -> Option<WhereClause> {
        let mut generics = self.target.generics.clone();
        for bound in extra {
            generics.make_where_clause().predicates.push(syn::parse_quote!(#bound));
        }
        generics.where_clause
    }

    /// `bound` for each field whose type depends on a parameter.
    fn dependent(&self, bound: &TokenStream) -> Vec<TokenStream> {
        let types = self.fields.iter().map(|field| &field.ty).filter(|ty| self.target.is_dependent(ty));
        each_once(types.map(|ty| quote!(#ty: #bound)))
    }

    /// `bound` for each field.
    ///
    /// A plain bound that is false for a known type is an error where it stands. Under `for<'any>` the
    /// compiler believes it, so that a field which breaks it is reported elsewhere, and once.
    fn each(&self, bound: &TokenStream) -> Vec<TokenStream> {
        each_once(self.fields.iter().map(|Field { ty, .. }| {
            let any = if self.target.is_dependent(ty) { None } else { Some(quote!(for<'any>)) };
            quote!(#any #ty: #bound)
        }))
    }

    /// The bound that makes each field query data.
    fn each_is_data(&self) -> Vec<TokenStream> {
        let p = &self.target.private;
        self.each(&quote!(#p::QueryData))
    }

    /// A function, never called, that reads the fields: no value of the struct is ever made, and the compiler
    /// would call the struct and its fields unused.
    fn reads(&self) -> TokenStream {
        let (params, _, clause) = self.target.generics.split_for_impl();
        let owner = self.owner(&quote!('static));
        let members = self.fields.iter().map(|field| &field.member);
        quote! {
            const _: () = {
                #[allow(dead_code, deprecated, clippy::all, clippy::pedantic, clippy::nursery)]
                fn __reads #params (__parts: &#owner) #clause {
                    #(let _ = &__parts.#members;)*
                }
            };
        }
    }
}

impl Field {
    fn new(position: usize, member: Member, ty: Type, docs: Vec<Attribute>) -> Self {
        let name = match &member {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let local = format_ident!("__f{position}", span = Span::mixed_site());
        Self { member, ty, name, docs, local }
    }

    /// Where errors about the field belong.
    fn span(&self) -> Span {
        self.ty.span().resolved_at(Span::call_site())
    }
}

/// Bounds without repetition, which the compiler would only check again.
fn each_once(bounds: impl Iterator<Item = TokenStream>) -> Vec<TokenStream> {
    let mut seen: Vec<String> = Vec::new();
    let mut once = Vec::new();
    for bound in bounds {
        let text = bound.to_string();
        if !seen.contains(&text) {
            seen.push(text);
            once.push(bound);
        }
    }
    once
}

/// The same type without lifetime parameters; bounds that name them say `'static`.
fn without_lifetimes(input: &DeriveInput, lifetimes: &[&Ident]) -> Result<DeriveInput> {
    let mut input = input.clone();
    if lifetimes.is_empty() {
        return Ok(input);
    }
    let params = std::mem::take(&mut input.generics.params);
    for param in params.iter().filter(|param| !matches!(param, GenericParam::Lifetime(_))) {
        input.generics.params.push(to_static(param, lifetimes)?);
    }
    if let Some(clause) = &mut input.generics.where_clause {
        *clause = to_static(clause, lifetimes)?;
    }
    Ok(input)
}

/// The same with `'static` in the place of `lifetimes`.
fn to_static<T: ToTokens + Parse>(part: &T, lifetimes: &[&Ident]) -> Result<T> {
    syn::parse2(replace_lifetimes(part.to_token_stream(), lifetimes))
}

fn replace_lifetimes(tokens: TokenStream, lifetimes: &[&Ident]) -> TokenStream {
    let mut after_quote = false;
    let replace = |token| match token {
        TokenTree::Ident(ident) if after_quote && lifetimes.contains(&&ident) => {
            after_quote = false;
            TokenTree::Ident(Ident::new("static", ident.span()))
        }
        TokenTree::Group(group) => {
            after_quote = false;
            let mut inner = Group::new(group.delimiter(), replace_lifetimes(group.stream(), lifetimes));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        token => {
            after_quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
            token
        }
    };
    tokens.into_iter().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_given_lifetimes_become_static() {
        let (w, t) = (format_ident!("w"), format_ident!("t"));
        let given: TokenStream = quote!((&'w mut Name<'t, w>, Option<&'other T>, for<'a> fn(&'a w)));
        let expected = quote!((&'static mut Name<'static, w>, Option<&'other T>, for<'a> fn(&'a w)));
        assert_eq!(replace_lifetimes(given, &[&w, &t]).to_string(), expected.to_string());
    }
}
