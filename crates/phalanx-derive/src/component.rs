//! `#[derive(Component)]`: checks what was asked for, and emits what every kind of component shares.
//!
//! The kinds (`whole`, `soa`) say which columns there are and how a value is taken apart into them, in a
//! [`Parts`]. From that the implementations of `Component` and, with row tracking, `RowTracked` follow
//! here: ticks are two more columns after those of the value.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Result, WhereClause};

use crate::attr::{self, ComponentAttr, Layout, Track};
use crate::column::{id, quiet};
use crate::nest::nest;
use crate::require::{self, Requirement};
use crate::target::Target;
use crate::{soa, whole};

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["component", "require"])?;
    let attr = ComponentAttr::parse(&input.attrs)?;
    let requirements = require::parse(&input.attrs, &input.ident)?;
    let target = Target::new(input, &attr.krate, "a component")?;
    let is_soa = attr.layout.as_ref().is_some_and(|layout| layout.value == Layout::Soa);
    if let (Some(fields), false) = (&attr.fields, is_soa) {
        return Err(Error::new(
            fields.span(),
            "`fields` needs `layout = \"soa\"`: only then are there field markers",
        ));
    }
    let soa_span = attr.layout.as_ref().filter(|_| is_soa).map_or_else(Span::call_site, |layout| layout.span);
    match &input.data {
        Data::Union(data) => Err(Error::new(
            data.union_token.span,
            "a union cannot be a component: what it holds is not known; wrap it in a struct or use an enum",
        )),
        Data::Enum(_) if is_soa => {
            Err(Error::new(soa_span, "`layout = \"soa\"` needs a struct: an enum has no fields of its own"))
        }
        Data::Struct(data) if is_soa && data.fields.is_empty() => Err(Error::new(
            soa_span,
            "`layout = \"soa\"` needs a struct with fields: here is nothing to split",
        )),
        Data::Struct(data) if is_soa => soa::derive(&target, &attr, &requirements, &data.fields),
        Data::Struct(data) if matches!(data.fields, Fields::Unit) => {
            whole::derive_tag(&target, &attr, &requirements)
        }
        _ => whole::derive(&target, &attr, &requirements),
    }
}

/// How the value of a component is spread over columns.
pub struct Parts {
    /// The type of each column.
    pub types: Vec<TokenStream>,
    /// An expression for each column's id.
    pub ids: Vec<TokenStream>,
    /// A pattern for `self`, and for what it binds an expression per column.
    pub apart: TokenStream,
    pub values: Vec<TokenStream>,
    /// The same backwards: a pattern per column, and the component made of what they bind.
    pub patterns: Vec<TokenStream>,
    pub together: TokenStream,
    /// Statements that declare the columns to `__descriptor`.
    pub columns: TokenStream,
    pub bounds: Option<WhereClause>,
}

/// The implementations that follow from the columns of a component.
pub fn emit(
    target: &Target,
    attr: &ComponentAttr,
    track: Track,
    requirements: &[Requirement],
    parts: &Parts,
) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let Parts { types, ids, apart, values, patterns, together, columns, bounds } = parts;
    let key = &ids[0];
    let storage = match (attr.sparse, attr.stable) {
        (false, _) => quote!(TableStorage),
        (true, false) => quote!(SparseStorage),
        (true, true) => quote!(StableStorage),
    };

    let mut leaves: Vec<TokenStream> = types.iter().map(|ty| quote!(#p::Col<#ty>)).collect();
    let mut leaf_ids = ids.clone();
    let mut leaf_values: Vec<TokenStream> = values.iter().map(|value| quote!(#p::Col(#value))).collect();
    let mut leaf_patterns: Vec<TokenStream> =
        patterns.iter().map(|pattern| quote!(#p::Col(#pattern))).collect();
    if track == Track::Row {
        leaves.extend([quote!(#p::Keep<#p::Tick>), quote!(#p::Col<#p::Tick>)]);
        leaf_ids.extend([added(target), changed(target)]);
        leaf_values.extend([quote!(#p::Keep(__now)), quote!(#p::Col(__now))]);
        leaf_patterns.extend([quote!(_), quote!(_)]);
    }
    let (leaves, leaf_ids) = (nest(&leaves), nest(&leaf_ids));
    let (leaf_values, leaf_patterns) = (nest(&leaf_values), nest(&leaf_patterns));

    let describe = describe(target, attr, track, requirements);
    let row_tracked = (track == Track::Row).then(|| row_tracked(target, bounds.as_ref()));
    let quiet = quiet();
    quote! {
        #quiet
        impl #params #p::AnyComponent for #owner #bounds {
            type Storage = #p::#storage;
            type Leaves = #leaves;
            #[inline]
            fn leaf_ids() -> <Self::Leaves as #p::Values>::Ids {
                #leaf_ids
            }
            #[inline]
            fn key() -> #p::AnyColId {
                #p::ColId::any(#key)
            }
            #[inline(always)]
            fn into_leaves(self, __now: #p::Tick) -> Self::Leaves {
                let #apart = self;
                #leaf_values
            }
            #[inline(always)]
            fn from_leaves(__leaves: Self::Leaves) -> Self {
                let #leaf_patterns = __leaves;
                #together
            }
            fn describe(__descriptor: &mut #p::Descriptor) {
                #columns
                #describe
            }
        }
        #row_tracked
    }
}

/// An expression for the id of the ticks at which rows were added.
pub fn added(target: &Target) -> TokenStream {
    let p = &target.private;
    quote!(<Self as #p::RowTracked>::added_id())
}

/// An expression for the id of the ticks at which rows were changed.
pub fn changed(target: &Target) -> TokenStream {
    let p = &target.private;
    quote!(<Self as #p::RowTracked>::changed_id())
}

fn row_tracked(target: &Target, bounds: Option<&WhereClause>) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let ticks = |n: usize| {
        let marker = quote!(::core::marker::PhantomData<(#owner, [(); #n])>);
        id(target, &quote!(#p::Tick), &marker, Span::call_site())
    };
    let (added, changed, quiet) = (ticks(0), ticks(1), quiet());
    quote! {
        #quiet
        impl #params #p::RowTracked for #owner #bounds {
            #[inline]
            fn added_id() -> #p::ColId<#p::Tick> {
                #added
            }
            #[inline]
            fn changed_id() -> #p::ColId<#p::Tick> {
                #changed
            }
        }
    }
}

/// Statements that tell the name, the tracking and the requirements.
fn describe(
    target: &Target,
    attr: &ComponentAttr,
    track: Track,
    requirements: &[Requirement],
) -> TokenStream {
    let p = &target.private;
    let name = name(target, attr);
    let track = match track {
        Track::None => quote!(#p::Descriptor::track(__descriptor, #p::Track::None)),
        Track::Block => quote!(#p::Descriptor::track(__descriptor, #p::Track::Block)),
        Track::Row => {
            let (added, changed) = (added(target), changed(target));
            quote!(#p::Descriptor::row_ticks(__descriptor, #p::ColId::any(#added), #p::ColId::any(#changed)))
        }
    };
    let requirements = requirements.iter().map(
        |Requirement { component, make }| quote!(#p::Descriptor::require::<#component>(__descriptor, #make);),
    );
    quote! {
        #p::Descriptor::name(__descriptor, #name);
        #track;
        #(#requirements)*
    }
}

/// An expression for the name: as given, else the path of the type. Instances of one generic type differ
/// in their parameters.
fn name(target: &Target, attr: &ComponentAttr) -> TokenStream {
    let own = target.name();
    match &attr.name {
        None if target.is_generic() => quote!(::core::any::type_name::<Self>()),
        None => quote!(::core::concat!(::core::module_path!(), "::", #own)),
        Some(name) if target.is_generic() => {
            let arguments: Vec<TokenStream> =
                target.generics.params.iter().filter_map(argument_name).collect();
            let format = format!("{{}}<{}>", vec!["{}"; arguments.len()].join(", "));
            quote!(::std::format!(#format, #name, #(#arguments),*))
        }
        Some(name) => quote!(#name),
    }
}

fn argument_name(param: &GenericParam) -> Option<TokenStream> {
    match param {
        GenericParam::Type(param) => {
            let ident = &param.ident;
            Some(quote!(::core::any::type_name::<#ident>()))
        }
        GenericParam::Const(param) => {
            let ident = &param.ident;
            Some(quote!(#ident))
        }
        _ => None,
    }
}
