//! `#[derive(Deref, DerefMut)]`: a struct stands for one of its fields.
//!
//! A struct with one field stands for that; one with several marks the field with `#[deref]`. Nothing of the library is
//! named, so these work in any crate.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Index, Member, Result};

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let (member, field) = target(input)?;
    let (ty, owner) = (&field.ty, &input.ident);
    let (params, args, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #params ::core::ops::Deref for #owner #args #bounds {
            type Target = #ty;
            #[inline]
            fn deref(&self) -> &Self::Target {
                &self.#member
            }
        }
    })
}

pub fn derive_mut(input: &DeriveInput) -> Result<TokenStream> {
    let (member, _) = target(input)?;
    let owner = &input.ident;
    let (params, args, bounds) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #params ::core::ops::DerefMut for #owner #args #bounds {
            #[inline]
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.#member
            }
        }
    })
}

/// The field that the struct stands for.
fn target(input: &DeriveInput) -> Result<(Member, &Field)> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "only a struct can stand for one of its fields"));
    };
    let marked = |field: &&Field| field.attrs.iter().any(|attr| attr.path().is_ident("deref"));
    let fields = &data.fields;
    let several = fields.iter().filter(marked).nth(1);
    if let Some(second) = several {
        return Err(Error::new_spanned(second, "two fields are marked with `#[deref]`: mark one"));
    }
    let found = match fields.len() {
        0 => return Err(Error::new(Span::call_site(), "a struct without fields has none to stand for")),
        1 => 0,
        _ => fields.iter().position(|field| marked(&field)).ok_or_else(|| {
            Error::new(Span::call_site(), "the struct has several fields: mark one with `#[deref]`")
        })?,
    };
    let field = fields.iter().nth(found).expect("the position is one of the fields");
    let member = field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(found)), Member::Named);
    Ok((member, field))
}
