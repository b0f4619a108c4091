//! That the fields of a type can be shared between threads, said field by field.
//!
//! The compiler would find out anyway, and blame the whole type; here it blames the field and says what to do, before
//! anything else: types of fields are looked at before implementations and functions are. Types that depend on a
//! parameter are left to the bounds of the implementations.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field};

use crate::names;
use crate::target::Target;

/// A check of every field whose type could be something else than shareable.
pub fn check_fields(input: &DeriveInput, target: &Target) -> TokenStream {
    let fields: Vec<&Field> = match &input.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| &variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    let mut seen: Vec<String> = Vec::new();
    let mut checks: Vec<TokenStream> = Vec::new();
    for field in fields {
        let Ok(ty) = target.without_self(&field.ty) else { continue };
        let text = quote!(#ty).to_string();
        if names::is_primitive(&text) || target.is_dependent(&ty) || seen.contains(&text) {
            continue;
        }
        // The type itself keeps its span, so that the error stands under it.
        checks.push(quote_spanned!(ty.span()=> __Shared<#ty>));
        seen.push(text);
    }
    if checks.is_empty() {
        return TokenStream::new();
    }
    let p = &target.private;
    quote! {
        const _: () = {
            #[allow(dead_code)]
            struct __Shared<__T: #p::ThreadSafe + ?::core::marker::Sized>(::core::marker::PhantomData<__T>);
            #[allow(deprecated, dead_code, clippy::all, clippy::pedantic)]
            struct __Fields(#(#checks),*);
        };
    }
}
