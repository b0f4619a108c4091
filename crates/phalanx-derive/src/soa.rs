//! Components with one column per field: `#[component(layout = "soa")]`.
//!
//! For `struct Position { x: f32, y: f32 }` this emits the module `position` with the marker types `x` and
//! `y`, the rows and slices (`split/proxies`), and implementations over the fields' columns. Each field's
//! column belongs to its marker; the component reaches it through the marker.
//!
//! The struct may stand in a function body, where a module sees nothing of what surrounds it. So the
//! module holds only the markers, and all implementations stand beside it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Fields, GenericParam, Result};

use crate::attr::{ComponentAttr, Track};
use crate::capture;
use crate::column::{Column, RowAccess, Stamp, id_of, in_set, quiet, write_term};
use crate::component::{self, Parts};
use crate::names;
use crate::nest::nest;
use crate::require::Requirement;
use crate::save;
use crate::split::proxies::{self, Proxy};
use crate::split::{Field, Split};
use crate::target::{Target, param_ident};
use crate::value_fields;

/// A component that is split into its fields.
struct Soa<'a> {
    target: &'a Target,
    split: Split<'a>,
    module: Ident,
    track: Track,
    sparse: bool,
}

pub fn derive(
    target: &Target,
    attr: &ComponentAttr,
    requirements: &[Requirement],
    fields: &Fields,
) -> Result<TokenStream> {
    let soa = Soa::new(target, attr, fields)?;
    let (module, markers) = (soa.module(), soa.markers());
    let (proxies, queryable) = (proxies::emit(&soa.split, &Proxy::ALL), soa.queryable());
    let component = component::emit(target, attr, soa.track, requirements, &soa.parts(attr, fields)?);
    let no_drop = soa.split.no_drop();
    Ok(quote!(#no_drop #module #proxies #markers #queryable #component))
}

impl<'a> Soa<'a> {
    fn new(target: &'a Target, attr: &ComponentAttr, fields: &Fields) -> Result<Self> {
        let module = match &attr.fields {
            Some(module) => module.clone(),
            None => names::module(&target.ident)?,
        };
        let track = attr.track.as_ref().map_or(Track::Block, |track| track.value);
        let mut split = Split::new(target, fields)?;
        split.bounds = save::extend(target, split.bounds, attr.save.is_some());
        split.bounds = save::extend_clone(&split, attr.save.is_some());
        Ok(Self { target, split, module, track, sparse: attr.sparse })
    }

    /// The module of field markers. The markers are types only, so that they never get in the way of
    /// variables with the same names; and exactly as visible as the struct, which their traits name.
    fn module(&self) -> TokenStream {
        let Self { target, module, .. } = self;
        let (vis, inner_vis) = (&target.vis, target.vis_in_module());
        let doc = format!("The fields of `{}`, to be queried one by one.", target.name());
        let params = self.marker_params();
        let idents = target.generics.params.iter().filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            _ => None,
        });
        let holds = quote!(::core::marker::PhantomData<fn() -> (#(::core::marker::PhantomData<#idents>,)*)>);
        let markers = self.split.fields.iter().map(|field| {
            let (marker, doc) =
                (&field.marker, format!("The field `{}` of `{}`.", field.name, target.name()));
            if target.is_generic() {
                quote!(#[doc = #doc] #inner_vis struct #marker<#params> { _p: #holds })
            } else {
                quote!(#[doc = #doc] #inner_vis enum #marker {})
            }
        });
        quote! {
            #[doc = #doc]
            #[allow(
                non_camel_case_types, non_snake_case, dead_code, unreachable_pub,
                missing_debug_implementations, missing_copy_implementations,
                clippy::all, clippy::pedantic, clippy::nursery
            )]
            #vis mod #module {
                #(#markers)*
            }
        }
    }

    /// The struct's parameters without bounds and defaults, which may name what the module cannot see.
    fn marker_params(&self) -> TokenStream {
        let params = self.target.generics.params.iter().map(|param| match param {
            GenericParam::Const(param) => {
                let (ident, ty) = (&param.ident, &param.ty);
                quote!(const #ident: #ty)
            }
            param => {
                let ident = param_ident(param);
                quote!(#ident: ?::core::marker::Sized)
            }
        });
        quote!(#(#params),*)
    }

    /// The path of a field's marker, with parameters.
    fn marker(&self, field: &Field) -> TokenStream {
        let (module, marker) = (&self.module, &field.marker);
        let (_, arguments, _) = self.target.generics.split_for_impl();
        quote!(#module::#marker #arguments)
    }

    /// The implementations of `Queryable` for the markers, which own the columns' ids.
    fn markers(&self) -> TokenStream {
        let columns = self.split.fields.iter().map(|field| {
            let ty = &field.ty;
            let column = Column {
                target: self.target,
                who: self.marker(field),
                value: quote!(#ty),
                write: write_term(self.track),
                stamp: if self.track == Track::Row { Stamp::OnAccess } else { Stamp::No },
                row: RowAccess::Reference,
                sparse: self.sparse,
                bounds: self.split.bounds.as_ref(),
                span: ty.span().resolved_at(Span::call_site()),
            };
            column.queryable()
        });
        quote!(#(#columns)*)
    }

    /// An expression for the id of each field's column.
    fn ids(&self) -> Vec<TokenStream> {
        let p = &self.target.private;
        self.split.each(|field| {
            let marker = self.marker(field);
            id_of(p, &marker, self.track)
        })
    }

    fn queryable(&self) -> TokenStream {
        let (target, bounds) = (self.target, &self.split.bounds);
        let p = &target.private;
        let owner = target.path();
        let (params, _, _) = target.generics.split_for_impl();
        let [of_ref, of_mut, of_slices, of_slices_mut] =
            Proxy::ALL.map(|proxy| proxy.path(&self.split, &quote!('row)));
        let [make_ref, make_mut, make_slices, make_slices_mut] =
            Proxy::ALL.map(|proxy| proxy.ident(&self.split));
        let term = write_term(self.track);

        let mut reads = self.split.each(|Field { ty, .. }| quote!(#p::Read<#ty>));
        let mut writes = self.split.each(|Field { ty, .. }| quote!(#p::#term<#ty>));
        let mut ids = self.ids();
        let mut pattern = self.split.each(|Field { local, .. }| quote!(#local));
        let (mut stamp, mut stamp_all) = (TokenStream::new(), TokenStream::new());
        if self.track == Track::Row {
            reads.extend([quote!(#p::Read<#p::Tick>), quote!(#p::Now)]);
            writes.extend([quote!(#p::Write<#p::Tick>), quote!(#p::Now)]);
            ids.extend([component::changed(target), quote!(())]);
            pattern.extend([quote!(__changed), quote!(__now)]);
            stamp = quote!(*__changed = __now;);
            stamp_all = quote!(<[_]>::fill(__changed, __now););
        }
        let (reads, writes) = (in_set(p, self.sparse, nest(&reads)), in_set(p, self.sparse, nest(&writes)));
        let (ids, pattern) = (nest(&ids), nest(&pattern));
        let (braces, quiet) = (self.split.braces(), quiet());
        quote! {
            #quiet
            impl #params #p::Queryable for #owner #bounds {
                type Owner = Self;
                type Read = #reads;
                type Write = #writes;
                type Ref<'row> = #of_ref;
                type Mut<'row> = #of_mut;
                type Slice<'row> = #of_slices;
                type SliceMut<'row> = #of_slices_mut;
                #[inline]
                fn ids() -> <Self::Read as #p::Fetch>::Ids {
                    #ids
                }
                #[inline(always)]
                fn wrap_ref<'row>(__item: <Self::Read as #p::Fetch>::Item<'row>) -> Self::Ref<'row> {
                    let #pattern = __item;
                    #make_ref #braces
                }
                #[inline(always)]
                fn wrap_mut<'row>(
                    __item: <Self::Write as #p::Fetch>::Item<'row>,
                    _: #p::Tick,
                ) -> Self::Mut<'row> {
                    let #pattern = __item;
                    #stamp
                    #make_mut #braces
                }
                #[inline(always)]
                fn wrap_slice<'row>(__slices: <Self::Read as #p::Fetch>::Slices<'row>) -> Self::Slice<'row> {
                    let #pattern = __slices;
                    #make_slices #braces
                }
                #[inline(always)]
                fn wrap_slice_mut<'row>(__slices: <Self::Write as #p::Fetch>::Slices<'row>) -> Self::SliceMut<'row> {
                    let #pattern = __slices;
                    #stamp_all
                    #make_slices_mut #braces
                }
            }
        }
    }

    fn parts(&self, attr: &ComponentAttr, fields: &Fields) -> Result<Parts> {
        let p = &self.target.private;
        let braces = self.split.braces();
        let default = value_fields::describe_default(self.target);
        let columns = self.split.fields.iter().zip(self.ids()).map(|(Field { name, .. }, id)| {
            quote!(#p::Descriptor::field(__descriptor, #name, #p::ColId::any(#id));)
        });
        let named = fields.iter().zip(&self.split.fields);
        let captures =
            named.map(|(of, Field { name, .. })| capture::column(self.target, of, name, &attr.capture));
        Ok(Parts {
            captures: captures.collect::<Result<_>>()?,
            types: self.split.each(|Field { ty, .. }| quote!(#ty)),
            ids: self.ids(),
            apart: quote!(Self #braces),
            values: self.split.each(|Field { local, .. }| quote!(#local)),
            patterns: self.split.each(|Field { local, .. }| quote!(#local)),
            together: quote!(Self #braces),
            columns: quote!(#(#columns)* #default),
            with_value: save::whole_of_row(&self.split, &Proxy::ALL[0].ident(&self.split)),
            bounds: self.split.bounds.clone(),
        })
    }
}
