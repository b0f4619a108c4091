//! `#[derive(States)]` and `#[derive(SubStates)]`: traits without items to write, or with one made from `#[source(..)]`.
//!
//! `#[source(Screen = Screen::Game)]` names another state and a pattern: the sub-state exists while the pattern fits, and
//! begins with its default value.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, DeriveInput, Error, Path, Result, Token};

use crate::attr::{self, StatesAttr};
use crate::column::quiet;
use crate::save;
use crate::target::Target;

pub fn states(input: &DeriveInput) -> Result<TokenStream> {
    let (target, attr) = target(input)?;
    Ok(emit(&target, &attr, &quote!()))
}

pub fn sub_states(input: &DeriveInput) -> Result<TokenStream> {
    let (target, attr) = target(input)?;
    let Source { state, values } = source(input)?;
    let p = &target.private;
    let owner = target.path();
    let (params, _, bounds) = target.generics.split_for_impl();
    let depth = quote! {
        const DEPENDENCY_DEPTH: usize =
            <<Self as #p::SubStates>::SourceStates as #p::StateSet>::SET_DEPENDENCY_DEPTH + 1;
    };
    let states = emit(&target, &attr, &depth);
    let quiet = quiet();
    Ok(quote! {
        #states
        #quiet
        impl #params #p::SubStates for #owner #bounds {
            type SourceStates = #state;
            fn should_exist(__sources: #state) -> ::core::option::Option<Self> {
                match __sources {
                    #[allow(unreachable_patterns)]
                    #values => ::core::option::Option::Some(<Self as ::core::default::Default>::default()),
                    #[allow(unreachable_patterns)]
                    _ => ::core::option::Option::None,
                }
            }
        }
    })
}

fn target(input: &DeriveInput) -> Result<(Target, StatesAttr)> {
    attr::refuse_inside(&input.data, &["states", "source"])?;
    let attr = StatesAttr::parse(&input.attrs)?;
    Ok((Target::new(input, &attr.krate, "a state")?, attr))
}

fn emit(target: &Target, attr: &StatesAttr, depth: &TokenStream) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let (params, _, bounds) = target.generics.split_for_impl();
    let bounds = save::extend(target, bounds.cloned(), attr.save.is_some());
    let (mut saved, mut saving) = (TokenStream::new(), TokenStream::new());
    if let Some(version) = attr.save {
        saved = save::implementation(target, bounds.as_ref(), None, "state");
        saving = save::saving(target, "StateSaving", attr.name.as_ref(), version);
    }
    let quiet = quiet();
    quote! {
        #quiet
        impl #params #p::States for #owner #bounds {
            #depth
            #saving
        }
        #saved
        #quiet
        impl #params #p::FreelyMutableState for #owner #bounds {}
    }
}

/// `Screen = Screen::Game`
struct Source {
    state: Path,
    /// A pattern, as it stands: the compiler reads it.
    values: TokenStream,
}

impl Parse for Source {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let state = input.parse()?;
        input.parse::<Token![=]>()?;
        let mut values = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            values.extend([input.parse::<TokenTree>()?]);
        }
        if values.is_empty() {
            return Err(input.error("expected a pattern"));
        }
        Ok(Self { state, values })
    }
}

fn source(input: &DeriveInput) -> Result<Source> {
    let mut sources = input.attrs.iter().filter(|attr| attr.path().is_ident("source"));
    let Some(first) = sources.next() else {
        return Err(Error::new(
            input.ident.span(),
            "a sub-state needs the state on which it depends: add `#[source(Other = Other::Value)]`",
        ));
    };
    if let Some(second) = sources.next() {
        return Err(Error::new_spanned(
            second,
            "a sub-state has one `#[source(..)]`: for several, implement `SubStates` by hand",
        ));
    }
    first.parse_args().map_err(|error| explain(first, &error))
}

fn explain(attr: &Attribute, error: &Error) -> Error {
    Error::new_spanned(attr, format!("write `#[source(Other = Other::Value)]`: {error}"))
}
