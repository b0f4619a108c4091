//! What stands in `#[require(..)]`: components that come along, and how their values are made.
//!
//! ```text
//!   Other               <Other as Default>::default
//!   Third(3)            || Third(3)
//!   Fourth { a: 1 }     || Fourth { a: 1 }
//!   Fifth = expression  || expression
//! ```

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Path, PathArguments, Result, Token, token};

/// One required component.
pub struct Requirement {
    pub component: Path,
    /// A function or closure without arguments that gives the value.
    pub make: TokenStream,
}

/// The requirements of all `#[require(..)]` on the component `own`.
pub fn parse(attrs: &[Attribute], own: &Ident) -> Result<Vec<Requirement>> {
    let mut requirements: Vec<Requirement> = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("require")) {
        let list = attr.parse_args_with(Punctuated::<Requirement, Token![,]>::parse_terminated)?;
        for requirement in list {
            let component = &requirement.component;
            let name = component.to_token_stream().to_string();
            if component.is_ident(own) || component.is_ident("Self") {
                return Err(Error::new(component.span(), "a component cannot require itself"));
            }
            if requirements.iter().any(|known| known.component.to_token_stream().to_string() == name) {
                return Err(Error::new(component.span(), format!("`{name}` is required twice")));
            }
            requirements.push(requirement);
        }
    }
    Ok(requirements)
}

impl Parse for Requirement {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let component: Path = input.parse()?;
        let make = if input.peek(token::Paren) || input.peek(token::Brace) {
            // One token tree: the fields of the value, kept as they stand.
            let constructor = turbofish(component.clone());
            let fields: proc_macro2::TokenTree = input.parse()?;
            quote!(|| #constructor #fields)
        } else if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            let value: Expr = input.parse()?;
            quote!(|| #value)
        } else if input.is_empty() || input.peek(Token![,]) {
            quote_spanned!(component.span()=> <#component as ::core::default::Default>::default)
        } else {
            return Err(input.error("expected `,`, `(..)`, `{ .. }` or `= expression` after the component"));
        };
        Ok(Self { component, make })
    }
}

/// The same path as it must be written in an expression: `Third::<T>` for `Third<T>`.
fn turbofish(mut path: Path) -> Path {
    for segment in &mut path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token.get_or_insert_with(<Token![::]>::default);
        }
    }
    path
}
