//! What tools may ask of a component: its fields by name, its text, its default value.
//!
//! For `struct Health { current: f32, max: f32 }` this emits two functions that lead from a value and a position to a
//! field, and the list of names and types. Arrays and tuples are taken apart into their elements (`at.0`), up to
//! [`MOST`]. What the fields are is found out by the library, from their types.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Attribute, Data, DeriveInput, Expr, Index, Lit, Type};

use crate::target::Target;

/// No more fields than this are listed: a tool could not show them.
const MOST: usize = 64;

/// A field, or an element of one.
struct Leaf<'a> {
    name: String,
    access: TokenStream,
    ty: &'a Type,
}

/// What a whole component tells of its fields and text: statements for `__descriptor`, and the way to each field.
pub fn describe_whole(target: &Target, input: &DeriveInput) -> (TokenStream, TokenStream) {
    let p = &target.private;
    let leaves = leaves_of(input);
    let fields = leaves.iter().map(|Leaf { name, ty, .. }| quote!(#p::ValueField::of::<#ty>(#name)));
    let arms = |reference: TokenStream| {
        let arms = leaves.iter().enumerate().map(|(at, Leaf { access, .. })| {
            let at = Literal::usize_unsuffixed(at);
            quote!(#at => ::core::option::Option::Some(#reference self #access),)
        });
        quote!(match __at { #(#arms)* _ => ::core::option::Option::None })
    };
    let (get, get_mut) = (arms(quote!(&)), arms(quote!(&mut)));
    let statements = quote! {
        #p::Descriptor::value::<Self>(__descriptor, &[#(#fields),*], {
            use #p::{DebugFound as _, DebugMissing as _};
            (&#p::Probe::<Self>(::core::marker::PhantomData)).debug_fn()
        });
    };
    let methods = quote! {
        fn field(&self, __at: ::core::primitive::usize) -> ::core::option::Option<&dyn ::core::any::Any> {
            #get
        }
        fn field_mut(&mut self, __at: ::core::primitive::usize) -> ::core::option::Option<&mut dyn ::core::any::Any> {
            #get_mut
        }
    };
    (statements, methods)
}

/// A statement that tells how a default value is made, if the type has one.
pub fn describe_default(target: &Target) -> TokenStream {
    let p = &target.private;
    quote! {
        #p::Descriptor::default_value(__descriptor, {
            use #p::{DefaultFound as _, DefaultMissing as _};
            (&#p::Probe::<Self>(::core::marker::PhantomData)).default_init()
        });
    }
}

/// A statement that tells how a tag is made.
pub fn describe_tag(target: &Target) -> TokenStream {
    let p = &target.private;
    quote! {
        #p::Descriptor::default_value(
            __descriptor,
            ::core::option::Option::Some(#p::Init::new(
                <Self as #p::AnyComponent>::column_ids(),
                |__now: #p::Tick| <Self as #p::AnyComponent>::into_column_values(Self, __now),
            )),
        );
    }
}

fn leaves_of(input: &DeriveInput) -> Vec<Leaf<'_>> {
    let Data::Struct(data) = &input.data else { return Vec::new() };
    // There are no references to fields of packed structs.
    if input.attrs.iter().any(is_packed) {
        return Vec::new();
    }
    let mut leaves = Vec::new();
    for (at, field) in data.fields.iter().enumerate() {
        let (name, access) = match &field.ident {
            Some(ident) => (ident.unraw().to_string(), quote!(.#ident)),
            None => {
                let index = Index::from(at);
                (at.to_string(), quote!(.#index))
            }
        };
        take_apart(name, &access, &field.ty, &mut leaves);
    }
    leaves.truncate(MOST);
    leaves
}

fn take_apart<'a>(name: String, access: &TokenStream, ty: &'a Type, leaves: &mut Vec<Leaf<'a>>) {
    match ty {
        Type::Group(group) => take_apart(name, access, &group.elem, leaves),
        Type::Paren(paren) => take_apart(name, access, &paren.elem, leaves),
        Type::Tuple(tuple) if !tuple.elems.is_empty() => {
            for (at, element) in tuple.elems.iter().enumerate() {
                let index = Index::from(at);
                take_apart(format!("{name}.{at}"), &quote!(#access.#index), element, leaves);
            }
        }
        Type::Array(array) if length(&array.len).is_some_and(|len| len <= MOST) => {
            for at in 0..length(&array.len).unwrap_or(0) {
                let index = Literal::usize_unsuffixed(at);
                take_apart(format!("{name}.{at}"), &quote!(#access[#index]), &array.elem, leaves);
            }
        }
        _ => leaves.push(Leaf { name, access: access.clone(), ty }),
    }
}

/// The length of an array that is written as a number.
fn length(len: &Expr) -> Option<usize> {
    match len {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        Expr::Group(group) => length(&group.expr),
        Expr::Paren(paren) => length(&paren.expr),
        _ => None,
    }
}

fn is_packed(attribute: &Attribute) -> bool {
    let mut packed = false;
    if attribute.path().is_ident("repr") {
        // What the compiler refuses, it refuses with a message of its own.
        let _ = attribute.parse_nested_meta(|meta| {
            packed |= meta.path.is_ident("packed");
            if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<TokenStream>()?;
            }
            Ok(())
        });
    }
    packed
}
