//! `#[derive(Resource)]` and `#[derive(Message)]`: traits without items.
//!
//! Both ask only that values may be kept and shared between threads, so any struct, enum or union can have
//! them; generic types have them for the parameters with which that holds.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{DeriveInput, Path, Result};

use crate::attr;
use crate::column::quiet;
use crate::target::Target;

pub fn resource(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["resource"])?;
    let krate = attr::only_crate(&input.attrs, "resource")?;
    emit(input, &krate, &format_ident!("Resource"), "a resource")
}

pub fn message(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["message"])?;
    let krate = attr::message(&input.attrs)?;
    emit(input, &krate, &format_ident!("Message"), "a message")
}

fn emit(input: &DeriveInput, krate: &Path, implemented: &Ident, what: &str) -> Result<TokenStream> {
    let target = Target::new(input, krate, what)?;
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let bounds = target.whole_bounds();
    let quiet = quiet();
    Ok(quote! {
        #quiet
        impl #params #p::#implemented for #owner #bounds {}
    })
}
