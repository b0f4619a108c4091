//! `#[derive(Message)]`: messages kept whole, or field by field.
//!
//! ```text
//!   whole    Vec<Hit>                    &Hit              &[Hit]
//!   soa      (Vec<Entity>, Vec<f32>)     HitRef<'_>        HitSlices<'_>
//! ```
//!
//! Whole messages may be of any type that can be shared between threads. `layout = "soa"` needs a struct with
//! named fields, for which it emits rows and slices as components have them, shared only.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataStruct, DeriveInput, Error, Fields, Result, WhereClause};

use crate::attr::{self, At, Layout, MessageAttr};
use crate::column::quiet;
use crate::nest::nest;
use crate::split::proxies::{self, Proxy};
use crate::split::{Field, Split};
use crate::target::Target;

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["message"])?;
    let attr = MessageAttr::parse(&input.attrs)?;
    let target = Target::new(input, &attr.krate, "a message")?;
    let Some(At { value: Layout::Soa, span }) = attr.layout else {
        return Ok(whole(&target));
    };
    match &input.data {
        Data::Struct(DataStruct { fields: fields @ Fields::Named(_), .. }) if !fields.is_empty() => {
            by_field(&target, fields)
        }
        Data::Struct(DataStruct { fields: Fields::Unnamed(_), .. }) => Err(Error::new(
            span,
            "`layout = \"soa\"` needs fields with names, which become those of the columns: write `{ .. }`",
        )),
        Data::Struct(_) => Err(Error::new(
            span,
            "`layout = \"soa\"` needs a struct with fields: a signal is only counted, and has nothing to split",
        )),
        Data::Enum(_) | Data::Union(_) => Err(Error::new(
            span,
            "`layout = \"soa\"` needs a struct with named fields: only those can be columns",
        )),
    }
}

/// What the implementation of `Message` is made of.
struct Parts<'a> {
    columns: TokenStream,
    row: TokenStream,
    slices: TokenStream,
    /// A pattern for the message, and an expression of what it binds, as nested tuples; and backwards.
    whole: TokenStream,
    nested: TokenStream,
    /// The row and the slices made of what `nested` binds.
    make_row: TokenStream,
    make_slices: TokenStream,
    bounds: Option<&'a WhereClause>,
}

fn whole(target: &Target) -> TokenStream {
    let value = quote!(__message);
    let bounds = target.whole_bounds();
    emit(
        target,
        &Parts {
            columns: quote!(::std::vec::Vec<Self>),
            row: quote!(&'row Self),
            slices: quote!(&'row [Self]),
            whole: value.clone(),
            nested: value.clone(),
            make_row: value.clone(),
            make_slices: value,
            bounds: bounds.as_ref(),
        },
    )
}

fn by_field(target: &Target, fields: &Fields) -> Result<TokenStream> {
    let split = Split::new(target, fields)?;
    let (types, no_drop) = (proxies::emit(&split, &Proxy::SHARED), split.no_drop());
    let [row, slices] = Proxy::SHARED.map(|proxy| proxy.path(&split, &quote!('row)));
    let [make_row, make_slices] = Proxy::SHARED.map(|proxy| proxy.ident(&split));
    let braces = split.braces();
    let message = emit(
        target,
        &Parts {
            columns: nest(&split.each(|Field { ty, .. }| quote!(::std::vec::Vec<#ty>))),
            row,
            slices,
            whole: quote!(Self #braces),
            nested: nest(&split.each(|Field { local, .. }| quote!(#local))),
            make_row: quote!(#make_row #braces),
            make_slices: quote!(#make_slices #braces),
            bounds: split.bounds.as_ref(),
        },
    );
    Ok(quote!(#no_drop #types #message))
}

fn emit(target: &Target, parts: &Parts<'_>) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let Parts { columns, row, slices, whole, nested, make_row, make_slices, bounds } = parts;
    let quiet = quiet();
    quote! {
        #quiet
        impl #params #p::Message for #owner #bounds {
            type Columns = #columns;
            type Ref<'row> = #row;
            type Slices<'row> = #slices;
            #[inline(always)]
            fn into_values(self) -> <Self::Columns as #p::Columns>::Values {
                let #whole = self;
                #nested
            }
            #[inline(always)]
            fn from_values(__values: <Self::Columns as #p::Columns>::Values) -> Self {
                let #nested = __values;
                #whole
            }
            #[inline(always)]
            fn wrap_ref<'row>(__refs: <Self::Columns as #p::Columns>::Refs<'row>) -> Self::Ref<'row> {
                let #nested = __refs;
                #make_row
            }
            #[inline(always)]
            fn wrap_slices<'row>(__slices: <Self::Columns as #p::Columns>::Slices<'row>) -> Self::Slices<'row> {
                let #nested = __slices;
                #make_slices
            }
        }
    }
}
