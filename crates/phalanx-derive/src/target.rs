//! The type a derive stands on, prepared for emitting code about it.
//!
//! `Self` in bounds and field types is replaced by the type's own name, because the same bounds and types
//! appear again on other types (rows, slices, field markers) where `Self` would mean those. Lifetime
//! parameters are refused: whatever a world keeps is `'static`.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::Parse;
use syn::{
    DeriveInput, Error, GenericParam, Generics, Path, Result, Type, Visibility, WhereClause, parse_quote,
};

/// A type under derive.
pub struct Target {
    pub ident: Ident,
    pub vis: Visibility,
    pub generics: Generics,
    /// `::phalanx::__private`, or the same below another path.
    pub private: TokenStream,
}

impl Target {
    /// `what` names the derive in an error: "a component", "a bundle".
    pub fn new(input: &DeriveInput, krate: &Path, what: &str) -> Result<Self> {
        if let Some(lifetime) = input.generics.lifetimes().next() {
            let message =
                format!("{what} is kept by a world and cannot borrow: give `{}` no lifetime", input.ident);
            return Err(Error::new_spanned(lifetime, message));
        }
        let mut target = Self {
            ident: input.ident.clone(),
            vis: input.vis.clone(),
            generics: input.generics.clone(),
            private: quote!(#krate::__private),
        };
        // The parts are replaced one by one: a where clause is not part of the printed generics.
        let clause = input.generics.where_clause.as_ref();
        target.generics = target.without_self(&input.generics)?;
        target.generics.where_clause =
            clause.map(|clause| target.without_self::<WhereClause>(clause)).transpose()?;
        Ok(target)
    }

    /// Whether the type has parameters, so that it cannot own a `static`.
    pub fn is_generic(&self) -> bool {
        !self.generics.params.is_empty()
    }

    /// The type's name as text, without `r#`.
    pub fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// The path of the library's private part, written so that errors appear at `span`.
    pub fn private_at(&self, span: Span) -> TokenStream {
        let at_span = |mut token: TokenTree| {
            token.set_span(span);
            token
        };
        self.private.clone().into_iter().map(at_span).collect()
    }

    /// Where errors about the type as a whole belong.
    pub fn span(&self) -> Span {
        self.ident.span().resolved_at(Span::call_site())
    }

    /// The type with its parameters: `Position<T, N>`.
    pub fn path(&self) -> TokenStream {
        let ident = &self.ident;
        let (_, arguments, _) = self.generics.split_for_impl();
        quote!(#ident #arguments)
    }

    /// The type's visibility as it is written inside a module that stands beside the type.
    pub fn vis_in_module(&self) -> TokenStream {
        match &self.vis {
            Visibility::Inherited => quote!(pub(super)),
            Visibility::Restricted(restricted) => {
                let path = &restricted.path;
                match path.segments.first() {
                    Some(first) if first.ident == "super" => quote!(pub(in super::#path)),
                    Some(first) if first.ident == "self" => {
                        let rest = path.segments.iter().skip(1);
                        quote!(pub(in super #(::#rest)*))
                    }
                    _ => quote!(#restricted),
                }
            }
            vis => quote!(#vis),
        }
    }

    /// A field's type, or any other part of the type, that means the same wherever it is written.
    pub fn without_self<T: ToTokens + Parse>(&self, part: &T) -> Result<T> {
        let tokens = part.to_token_stream();
        syn::parse2(replace_self(tokens, &self.path()))
    }

    /// Whether a type depends on a parameter of the target.
    pub fn is_dependent(&self, ty: &Type) -> bool {
        let params: Vec<&Ident> = self.generics.params.iter().filter_map(param_ident).collect();
        mentions(ty.to_token_stream(), &params)
    }

    /// The where clause with `T: 'static` for each type parameter and `extra` added.
    pub fn bounds(&self, extra: impl IntoIterator<Item = TokenStream>) -> Option<WhereClause> {
        let mut generics = self.generics.clone();
        let statics = self.generics.type_params().map(|param| {
            let ident = &param.ident;
            quote!(#ident: 'static)
        });
        for bound in statics.chain(extra) {
            generics.make_where_clause().predicates.push(parse_quote!(#bound));
        }
        generics.where_clause
    }

    /// The generics with one more parameter, `__P`, for implementations that hold of a pool.
    pub fn with_pool(&self) -> Generics {
        let mut generics = self.generics.clone();
        generics.params.push(parse_quote!(__P));
        generics
    }

    /// `bound` for each type, of which some depend on `__P`.
    ///
    /// A plain bound whose parts are false for a known type is an error where it stands. Under `for<'any>` the
    /// compiler believes it, so that a type which breaks it is reported elsewhere, and once.
    pub fn bounds_in_pool(&self, types: &[TokenStream], bound: &TokenStream) -> Vec<TokenStream> {
        types.iter().map(|ty| quote!(for<'any> #ty: #bound<__P>)).collect()
    }

    /// The bounds under which values of the whole type may be shared between threads.
    ///
    /// Only generic types need them: a bound without parameters that does not hold is an error of its own,
    /// and a less clear one than that of the trait.
    pub fn whole_bounds(&self) -> Option<WhereClause> {
        let path = self.path();
        let shared = quote!(#path: ::core::marker::Send + ::core::marker::Sync);
        self.bounds(self.is_generic().then_some(shared))
    }
}

/// The name of a type or constant parameter.
pub fn param_ident(param: &GenericParam) -> Option<&Ident> {
    match param {
        GenericParam::Type(param) => Some(&param.ident),
        GenericParam::Const(param) => Some(&param.ident),
        _ => None,
    }
}

fn mentions(tokens: TokenStream, idents: &[&Ident]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => idents.iter().any(|known| ident == **known),
        TokenTree::Group(group) => mentions(group.stream(), idents),
        _ => false,
    })
}

fn replace_self(tokens: TokenStream, path: &TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(ident) if ident == "Self" => path.clone(),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace_self(group.stream(), path));
                inner.set_span(group.span());
                TokenTree::Group(inner).into()
            }
            token => token.into(),
        })
        .collect()
}
