//! `#[derive(Resource)]`: a trait without items.
//!
//! It asks only that values may be kept and shared between threads, so any struct, enum or union can have
//! it; generic types have it for the parameters with which that holds.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

use crate::attr;
use crate::column::quiet;
use crate::target::Target;

pub fn resource(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["resource"])?;
    let krate = attr::only_crate(&input.attrs, "resource")?;
    let target = Target::new(input, &krate, "a resource")?;
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let bounds = target.whole_bounds();
    let quiet = quiet();
    Ok(quote! {
        #quiet
        impl #params #p::Resource for #owner #bounds {}
        #quiet
        impl #params #p::Tracked for #owner #bounds {
            type Track = #p::RowTicks;
        }
    })
}
