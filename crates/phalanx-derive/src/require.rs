//! What stands in `#[require(..)]`: required components, and how their values are made.
//!
//! ```text
//!   Other               <Other as Default>::default
//!   Third(3)            || Third(3)
//!   Fourth { a: 1 }     || Fourth { a: 1 }
//!   Fifth = expression  || expression
//! ```

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::discouraged::Speculative;
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
            let fields: TokenTree = input.parse()?;
            quote!(|| #constructor #fields)
        } else if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            let value = expression(input)?;
            quote!(|| #value)
        } else if input.is_empty() || input.peek(Token![,]) {
            quote_spanned!(component.span()=> <#component as ::core::default::Default>::default)
        } else {
            return Err(input.error("expected `,`, `(..)`, `{ .. }` or `= expression` after the component"));
        };
        Ok(Self { component, make })
    }
}

/// An expression, up to the next comma or the end.
///
/// Without its feature `full`, which takes as long to compile as all the rest of it, `syn` reads paths, literals, calls and
/// operators. Anything else, closures and blocks above all, is kept as it stands, and the compiler reads it.
pub fn expression(input: ParseStream<'_>) -> Result<Expr> {
    let ahead = input.fork();
    let read = ahead.parse::<Expr>();
    let ends = ahead.is_empty() || ahead.peek(Token![,]);
    if input.is_empty() || input.peek(Token![,]) || (read.is_ok() && ends) {
        input.advance_to(&ahead);
        return read;
    }
    let mut tokens = TokenStream::new();
    // The commas between the arguments of a closure are its own.
    if input.peek(Token![move]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    if input.peek(Token![|]) && !input.peek(Token![||]) {
        tokens.extend([input.parse::<TokenTree>()?]);
        while !input.is_empty() && !input.peek(Token![|]) {
            tokens.extend([input.parse::<TokenTree>()?]);
        }
    }
    while !input.is_empty() && !input.peek(Token![,]) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    Ok(Expr::Verbatim(tokens))
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
