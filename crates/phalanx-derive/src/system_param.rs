//! `#[derive(SystemParam)]`: a struct whose fields are system parameters is one.
//!
//! Everything is forwarded to the tuple of the fields, in which the struct's lifetimes are `'static`; only the item is
//! put together again, from fields with the lifetime of one run. The struct's own lifetimes all stand for that.

use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Error, GenericParam, Member, Result, parse_quote};

use crate::attr;
use crate::column::quiet;
use crate::nest::nest;

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["system_param"])?;
    let krate = attr::only_crate(&input.attrs, "system_param")?;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "a system parameter must be a struct"));
    };
    let p = quote!(#krate::__private);
    let lifetimes: Vec<Ident> =
        input.generics.lifetimes().map(|param| param.lifetime.ident.clone()).collect();
    let fields_for = |lifetime: &str| {
        let types =
            data.fields.iter().map(|field| replaced(field.ty.to_token_stream(), &lifetimes, lifetime));
        nest(&types.collect::<Vec<_>>())
    };
    let (all, lent) = (fields_for("static"), fields_for("__g"));
    let members: Vec<Member> = data.fields.members().collect();
    let locals: Vec<Ident> =
        (0..members.len()).map(|i| format_ident!("__f{i}", span = Span::mixed_site())).collect();
    let pattern = nest(&locals.iter().map(ToTokens::to_token_stream).collect::<Vec<_>>());

    let ident = &input.ident;
    let mut generics = input.generics.clone();
    generics.params =
        generics.params.into_iter().filter(|p| !matches!(p, GenericParam::Lifetime(_))).collect();
    for param in input.generics.type_params() {
        let param = &param.ident;
        generics.make_where_clause().predicates.push(parse_quote!(#param: 'static));
    }
    let (params, _, bounds) = generics.split_for_impl();
    let arguments = |lifetime: TokenStream| {
        let lifetimes = lifetimes.iter().map(|_| lifetime.clone());
        let others = input.generics.params.iter().filter_map(|param| match param {
            GenericParam::Lifetime(_) => None,
            GenericParam::Type(param) => Some(param.ident.to_token_stream()),
            GenericParam::Const(param) => Some(param.ident.to_token_stream()),
        });
        let arguments: Vec<TokenStream> = lifetimes.chain(others).collect();
        if arguments.is_empty() { quote!(#ident) } else { quote!(#ident<#(#arguments),*>) }
    };
    let (owner, item) = (arguments(quote!('_)), arguments(quote!('__g)));
    let quiet = quiet();
    let mut reading = generics.clone();
    // Bound to a lifetime, the condition may be false for a struct without parameters: then there is no implementation.
    reading.make_where_clause().predicates.push(parse_quote!(for<'__r> #all: #p::ReadOnlySystemParam));
    let (_, _, all_read) = reading.split_for_impl();
    Ok(quote! {
        #quiet
        impl #params #p::ReadOnlySystemParam for #owner #all_read {}

        #quiet
        impl #params #p::SystemParam for #owner #bounds {
            type State = <#all as #p::SystemParam>::State;
            type Guard<'__w> = <#all as #p::SystemParam>::Guard<'__w>;
            type Item<'__g> = #item;

            fn init(__world: &mut #p::World, __meta: &mut #p::SystemMeta) -> Self::State {
                <#all as #p::SystemParam>::init(__world, __meta)
            }
            fn update(__state: &mut Self::State, __world: &#p::World) {
                <#all as #p::SystemParam>::update(__state, __world)
            }
            fn lock<'__w>(
                __state: &'__w Self::State,
                __world: &'__w #p::SharedWorld<'__w>,
                __run: #p::Run<'__w>,
            ) -> Self::Guard<'__w> {
                <#all as #p::SystemParam>::lock(__state, __world, __run)
            }
            fn check(__guard: &mut Self::Guard<'_>) -> ::core::result::Result<(), #p::ParamError> {
                <#all as #p::SystemParam>::check(__guard)
            }
            fn item<'__g>(__guard: &'__g mut Self::Guard<'_>) -> Self::Item<'__g> {
                let #pattern = <#lent as #p::SystemParam>::item(__guard);
                #ident { #(#members: #locals),* }
            }
            fn apply(__state: &mut Self::State, __world: &mut #p::World) {
                <#all as #p::SystemParam>::apply(__state, __world)
            }
            fn discard(__state: &mut Self::State) {
                <#all as #p::SystemParam>::discard(__state)
            }
            fn visit_state(__state: &mut Self::State, __visitor: &mut dyn #p::StateVisitor) {
                <#all as #p::SystemParam>::visit_state(__state, __visitor)
            }
        }
    })
}

/// The same tokens with another lifetime in the place of the given ones.
fn replaced(tokens: TokenStream, lifetimes: &[Ident], with: &str) -> TokenStream {
    let mut out = TokenStream::new();
    let mut after_quote = false;
    for token in tokens {
        let token = match token {
            TokenTree::Group(group) => {
                let mut inner =
                    proc_macro2::Group::new(group.delimiter(), replaced(group.stream(), lifetimes, with));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            TokenTree::Ident(ident) if after_quote && lifetimes.contains(&ident) => {
                TokenTree::Ident(Ident::new(with, ident.span()))
            }
            token => token,
        };
        after_quote =
            matches!(&token, TokenTree::Punct(p) if p.as_char() == '\'' && p.spacing() == Spacing::Joint);
        out.extend([token]);
    }
    out
}
