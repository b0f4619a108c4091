//! `#[derive(Resource)]`: a trait whose one item tells what checkpoints and digests can do with the type.
//!
//! It asks only that values may be kept and shared between threads, so any struct, enum or union can have
//! it; generic types have it for the parameters with which that holds.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

use crate::attr::{self, ResourceAttr};
use crate::capture;
use crate::column::quiet;
use crate::save;
use crate::target::Target;
use crate::threads;

pub fn resource(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["resource"])?;
    let attr = ResourceAttr::parse(&input.attrs)?;
    let target = Target::new(input, &attr.krate, "a resource")?;
    let capture = capture::whole(input, &target, &attr.capture)?;
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let bounds = save::extend(&target, target.whole_bounds(), attr.save.is_some());
    let (mut saved, mut saving) = (TokenStream::new(), TokenStream::new());
    if let Some(version) = attr.save {
        saved = save::implementation(&target, bounds.as_ref(), None, "resource");
        saving = save::saving(&target, "ResourceSaving", attr.name.as_ref(), version);
    } else if let Some(function) = &attr.saving {
        saving = quote! {
            fn saving() -> ::core::option::Option<#p::ResourceSaving> {
                #function()
            }
        };
    }
    let added = attr.added.map(|function| quote!(fn how_to_add() -> ::std::string::String { #function() }));
    let quiet = quiet();
    let threads = threads::check_fields(input, &target);
    Ok(quote! {
        #threads
        #quiet
        impl #params #p::Resource for #owner #bounds {
            fn capture() -> #p::Capture<Self> {
                #capture
            }
            #saving
            #added
        }
        #saved
        #quiet
        impl #params #p::Tracked for #owner #bounds {
            type Track = #p::RowTicks;
        }
        #quiet
        impl #params #p::Readable for #owner #bounds {
            type Ref<'__a> = &'__a Self;
        }
    })
}
