//! `#[derive(ScheduleLabel)]`, `#[derive(SystemSet)]` and `#[derive(AppLabel)]`: names for phases, for sets of systems and
//! for apps.
//!
//! All are traits without items to write: a label is known by its type and by what `{:?}` prints, so the type
//! must have `Debug`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{DeriveInput, Result};

use crate::attr;
use crate::column::quiet;
use crate::target::Target;

pub fn schedule_label(input: &DeriveInput) -> Result<TokenStream> {
    emit(input, "schedule_label", &format_ident!("ScheduleLabel"), "a label")
}

pub fn app_label(input: &DeriveInput) -> Result<TokenStream> {
    emit(input, "app_label", &format_ident!("AppLabel"), "a label")
}

pub fn system_set(input: &DeriveInput) -> Result<TokenStream> {
    emit(input, "system_set", &format_ident!("SystemSet"), "a set")
}

fn emit(input: &DeriveInput, attribute: &str, implemented: &Ident, what: &str) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &[attribute])?;
    let krate = attr::only_crate(&input.attrs, attribute)?;
    let target = Target::new(input, &krate, what)?;
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let shown = quote!(#owner: ::core::fmt::Debug + ::core::marker::Send + ::core::marker::Sync);
    let bounds = target.bounds(target.is_generic().then_some(shown));
    let quiet = quiet();
    Ok(quote! {
        #quiet
        impl #params #p::#implemented for #owner #bounds {}
    })
}
