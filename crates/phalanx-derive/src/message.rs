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
use crate::capture;
use crate::column::quiet;
use crate::nest::nest;
use crate::save;
use crate::split::proxies::{self, Proxy};
use crate::split::{Field, Split};
use crate::target::Target;

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["message"])?;
    let attr = MessageAttr::parse(&input.attrs)?;
    let target = Target::new(input, &attr.krate, "a message")?;
    let Some(At { value: Layout::Soa, span }) = attr.layout else {
        return whole(input, &target, &attr);
    };
    match &input.data {
        Data::Struct(DataStruct { fields: fields @ Fields::Named(_), .. }) if !fields.is_empty() => {
            by_field(&target, &attr, fields)
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
    /// An expression of `Capture` for each column, as nested tuples.
    captures: TokenStream,
    /// For a message `__row`, a statement that calls `__f` with its value.
    with_value: TokenStream,
    bounds: Option<&'a WhereClause>,
}

fn whole(input: &DeriveInput, target: &Target, attr: &MessageAttr) -> Result<TokenStream> {
    let value = quote!(__message);
    let bounds = save::extend(target, target.whole_bounds(), attr.save.is_some());
    Ok(emit(
        target,
        attr,
        &Parts {
            columns: quote!(::std::vec::Vec<Self>),
            row: quote!(&'row Self),
            slices: quote!(&'row [Self]),
            whole: value.clone(),
            nested: value.clone(),
            make_row: value.clone(),
            make_slices: value,
            captures: capture::whole(input, target, &attr.capture)?,
            with_value: quote!(__f(__row);),
            bounds: bounds.as_ref(),
        },
    ))
}

fn by_field(target: &Target, attr: &MessageAttr, fields: &Fields) -> Result<TokenStream> {
    let mut split = Split::new(target, fields)?;
    split.bounds = save::extend(target, split.bounds, attr.save.is_some());
    split.bounds = save::extend_clone(&split, attr.save.is_some());
    let (types, no_drop) = (proxies::emit(&split, &Proxy::SHARED), split.no_drop());
    let [row, slices] = Proxy::SHARED.map(|proxy| proxy.path(&split, &quote!('row)));
    let [make_row, make_slices] = Proxy::SHARED.map(|proxy| proxy.ident(&split));
    let braces = split.braces();
    let named = fields.iter().zip(&split.fields);
    let captures = named.map(|(of, Field { name, .. })| capture::column(target, of, name, &attr.capture));
    let captures: Vec<TokenStream> = captures.collect::<Result<_>>()?;
    let with_value = save::whole_of_row(&split, &make_row);
    let message = emit(
        target,
        attr,
        &Parts {
            columns: nest(&split.each(|Field { ty, .. }| quote!(::std::vec::Vec<#ty>))),
            row,
            slices,
            whole: quote!(Self #braces),
            nested: nest(&split.each(|Field { local, .. }| quote!(#local))),
            make_row: quote!(#make_row #braces),
            make_slices: quote!(#make_slices #braces),
            captures: nest(&captures),
            with_value,
            bounds: split.bounds.as_ref(),
        },
    );
    Ok(quote!(#no_drop #types #message))
}

fn emit(target: &Target, attr: &MessageAttr, parts: &Parts<'_>) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let Parts { columns, row, slices, whole, nested, make_row, make_slices, captures, with_value, bounds } =
        parts;
    let quiet = quiet();
    let (mut saved, mut saving) = (TokenStream::new(), TokenStream::new());
    if let Some(version) = attr.save {
        let row = quote!(__row: <Self as #p::Message>::Ref<'_>);
        let body =
            quote!(#[inline] fn with_value(#row, __f: &mut dyn ::core::ops::FnMut(&Self)) { #with_value });
        saved = save::implementation(target, *bounds, Some((quote!(SavedMessage), body)), "message");
        saving = save::saving(target, "MessageSaving", attr.name.as_ref(), version);
    }
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
            fn captures() -> <Self::Columns as #p::Columns>::Captures {
                #captures
            }
            #saving
        }
        #saved
    }
}
