//! Components of one column: tags, and whole values.
//!
//! Both are a column of the type itself. A tag holds no data, so its column only marks presence and no
//! block of it is ever written.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Result, WhereClause};

use crate::attr::{ComponentAttr, Track};
use crate::capture;
use crate::column::{Column, RowAccess, Stamp, id_of, quiet, write_term};
use crate::component::{self, Parts};
use crate::require::Requirement;
use crate::save;
use crate::target::Target;
use crate::value_fields;

/// A unit struct.
pub fn derive_tag(
    input: &DeriveInput,
    target: &Target,
    attr: &ComponentAttr,
    requirements: &[Requirement],
) -> Result<TokenStream> {
    if let Some(layout) = &attr.layout {
        return Err(Error::new(layout.span, "a unit struct is a tag: it has no data to lay out"));
    }
    let track = match &attr.track {
        Some(track) if track.value == Track::Block => {
            let message =
                "a unit struct is a tag: its data is never written; expected `\"none\"` or `\"row\"`";
            return Err(Error::new(track.span, message));
        }
        Some(track) => track.value,
        None => Track::None,
    };
    let value = value_fields::describe_tag(target);
    emit(input, target, attr, track, requirements, (Kind::Tag, &value))
}

/// A struct or enum with data.
pub fn derive(
    input: &DeriveInput,
    target: &Target,
    attr: &ComponentAttr,
    requirements: &[Requirement],
) -> Result<TokenStream> {
    let track = attr.track.as_ref().map_or(Track::Block, |track| track.value);
    if attr.relation.is_some() || attr.immutable {
        // Written only through the world, which keeps both halves, or runs the hooks.
        return emit(input, target, attr, track, requirements, (Kind::Whole, &TokenStream::new()));
    }
    let (fields, methods) = value_fields::describe_whole(target, input);
    let default = value_fields::describe_default(target);
    let described = quote!(#fields #default);
    let component = emit(input, target, attr, track, requirements, (Kind::Whole, &described))?;
    let (params, _, _) = target.generics.split_for_impl();
    let (p, who, bounds, quiet) =
        (&target.private, target.path(), bounds(target, attr.save.is_some()), quiet());
    Ok(quote! {
        #component
        #quiet
        impl #params #p::Fields for #who #bounds {
            #methods
        }
    })
}

#[derive(Clone, Copy)]
enum Kind {
    Tag,
    Whole,
}

fn emit(
    input: &DeriveInput,
    target: &Target,
    attr: &ComponentAttr,
    track: Track,
    requirements: &[Requirement],
    (kind, value): (Kind, &TokenStream),
) -> Result<TokenStream> {
    let p = &target.private;
    let owner = target.path();
    let id = id_of(p, &quote!(Self), track);
    let (write, declare) = match kind {
        Kind::Tag => (write_term(Track::None), quote!(tag)),
        Kind::Whole => (write_term(track), quote!(whole)),
    };
    // Halves of relations are not written in place.
    let in_place = attr.relation.is_none() && !attr.immutable;
    let any = if in_place { quote!(any) } else { quote!(any_shared) };
    let parts = Parts {
        types: vec![owner.clone()],
        ids: vec![id.clone()],
        apart: quote!(__value),
        values: vec![quote!(__value)],
        patterns: vec![quote!(__value)],
        together: quote!(__value),
        columns: quote! {
            let __own = #id;
            #p::Descriptor::#declare(__descriptor, #p::ColId::any(__own));
            #p::Descriptor::#any(__descriptor, __own);
            #value
        },
        captures: vec![capture::whole(input, target, &attr.capture)?],
        with_value: quote!(__f(__row);),
        bounds: bounds(target, attr.save.is_some()),
    };
    let column = Column {
        target,
        who: owner.clone(),
        value: owner,
        write,
        stamp: if track == Track::Row { Stamp::OnWrite } else { Stamp::No },
        row: match &attr.relation {
            Some(relation) => relation.row_access(),
            None if attr.immutable => RowAccess::Shared,
            None => RowAccess::Mut,
        },
        sparse: attr.sparse,
        bounds: parts.bounds.as_ref(),
        span: target.span(),
    };
    let queryable = column.queryable();
    let component = component::emit(target, attr, track, requirements, &parts);
    let tracking = match track {
        Track::Row => quote!(RowTicks),
        Track::None | Track::Block => quote!(Untracked),
    };
    let (params, _, _) = target.generics.split_for_impl();
    let (who, bounds, quiet) = (target.path(), &parts.bounds, quiet());
    let kind = match &attr.relation {
        Some(relation) => relation.emit(target, track, parts.bounds.as_ref()),
        None if attr.immutable => TokenStream::new(),
        None => quote!(#quiet impl #params #p::Component for #who #bounds {}),
    };
    Ok(quote! {
        #queryable
        #component
        #quiet
        impl #params #p::Tracked for #who #bounds {
            type Track = #p::#tracking;
        }
        #kind
    })
}

/// What must hold for the type to be a column.
///
/// A type without parameters needs no bound; it is there so that a type which cannot be shared between
/// threads is reported once, at its column, and not again for each associated type. `for<'any>` keeps the
/// compiler from refusing the bound itself.
fn bounds(target: &Target, saved: bool) -> Option<WhereClause> {
    if target.is_generic() {
        return save::extend(target, target.whole_bounds(), saved);
    }
    let path = target.path();
    target.bounds([quote!(for<'any> #path: ::core::marker::Send + ::core::marker::Sync)])
}
