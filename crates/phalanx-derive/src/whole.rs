//! Components of one column: tags, and whole values.
//!
//! Both are a column of the type itself. A tag holds no data, so its column only marks presence and no
//! block of it is ever written.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Result, WhereClause};

use crate::attr::{ComponentAttr, Track};
use crate::column::{Column, RowAccess, Stamp, id_of, quiet, write_leaf};
use crate::component::{self, Parts};
use crate::require::Requirement;
use crate::target::Target;

/// A unit struct.
pub fn derive_tag(
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
    Ok(emit(target, attr, track, requirements, Kind::Tag))
}

/// A struct or enum with data.
pub fn derive(target: &Target, attr: &ComponentAttr, requirements: &[Requirement]) -> Result<TokenStream> {
    let track = attr.track.as_ref().map_or(Track::Block, |track| track.value);
    Ok(emit(target, attr, track, requirements, Kind::Whole))
}

#[derive(Clone, Copy)]
enum Kind {
    Tag,
    Whole,
}

fn emit(
    target: &Target,
    attr: &ComponentAttr,
    track: Track,
    requirements: &[Requirement],
    kind: Kind,
) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let id = id_of(p, &quote!(Self), track);
    let (write, declare) = match kind {
        Kind::Tag => (write_leaf(Track::None), quote!(tag)),
        Kind::Whole => (write_leaf(track), quote!(whole)),
    };
    let parts = Parts {
        types: vec![owner.clone()],
        ids: vec![id.clone()],
        apart: quote!(__value),
        values: vec![quote!(__value)],
        patterns: vec![quote!(__value)],
        together: quote!(__value),
        columns: quote!(#p::Descriptor::#declare(__descriptor, #p::ColId::any(#id));),
        bounds: bounds(target),
    };
    let column = Column {
        target,
        who: owner.clone(),
        value: owner,
        write,
        stamp: if track == Track::Row { Stamp::OnWrite } else { Stamp::No },
        row: RowAccess::Mut,
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
    quote! {
        #queryable
        #component
        #quiet
        impl #params #p::Tracked for #who #bounds {
            type Track = #p::#tracking;
        }
        #quiet
        impl #params #p::Component for #who #bounds {}
    }
}

/// What must hold for the type to be a column.
///
/// A type without parameters needs no bound; it is there so that a type which cannot be shared between
/// threads is reported once, at its column, and not again for each associated type. `for<'any>` keeps the
/// compiler from refusing the bound itself.
fn bounds(target: &Target) -> Option<WhereClause> {
    if target.is_generic() {
        return target.whole_bounds();
    }
    let path = target.path();
    target.bounds([quote!(for<'any> #path: ::core::marker::Send + ::core::marker::Sync)])
}
