//! `#[derive(Component)]`: checks what was asked for, and emits what every kind of component shares.
//!
//! The kinds (`whole`, `soa`) say which columns there are and how a value is taken apart into them, in a
//! [`Parts`]. From that the implementations of `Component` and, with row tracking, `RowTracked` follow
//! here: ticks are two more columns after those of the value.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Expr, Fields, GenericParam, Result, WhereClause};

use crate::attr::{self, ComponentAttr, Layout, Track};
use crate::column::{id, quiet};
use crate::nest::nest;
use crate::require::{self, Requirement};
use crate::target::Target;
use crate::{copying, relation, save, soa, threads, whole};

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["component", "require"])?;
    if let Some(edge) = relation::many(input)? {
        return Ok(edge);
    }
    let mut attr = ComponentAttr::of(input)?;
    let requirements = require::parse(&input.attrs, &input.ident)?;
    let target = Target::new(input, &attr.krate, "a component")?;
    let is_soa = attr.layout.as_ref().is_some_and(|layout| layout.value == Layout::Soa);
    attr.copying = copying::emit(input, &target.private, is_soa);
    if let (Some(fields), false) = (&attr.fields, is_soa) {
        return Err(Error::new(
            fields.span(),
            "`fields` needs `layout = \"soa\"`: only then are there field markers",
        ));
    }
    let soa_span = attr.layout.as_ref().filter(|_| is_soa).map_or_else(Span::call_site, |layout| layout.span);
    let emitted = match &input.data {
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
            whole::derive_tag(input, &target, &attr, &requirements)
        }
        _ => whole::derive(input, &target, &attr, &requirements),
    }?;
    let threads = threads::check_fields(input, &target);
    Ok(quote!(#threads #emitted))
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
    /// An expression of `Capture` for each column.
    pub captures: Vec<TokenStream>,
    /// For a row `__row`, a statement that calls `__f` with the value.
    pub with_value: TokenStream,
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
    let Parts { types, ids, apart, values, patterns, together, columns, captures, with_value, bounds } =
        parts;
    let key = &ids[0];
    let storage = match (attr.sparse, attr.stable) {
        (false, _) => quote!(TableStorage),
        (true, false) => quote!(SparseStorage),
        (true, true) => quote!(StableStorage),
    };

    let mut value_types: Vec<TokenStream> = types.iter().map(|ty| quote!(#p::Col<#ty>)).collect();
    let mut column_ids = ids.clone();
    let mut value_exprs: Vec<TokenStream> = values.iter().map(|value| quote!(#p::Col(#value))).collect();
    let mut value_patterns: Vec<TokenStream> =
        patterns.iter().map(|pattern| quote!(#p::Col(#pattern))).collect();
    if track == Track::Row {
        value_types.extend([quote!(#p::Keep<#p::Tick>), quote!(#p::Col<#p::Tick>)]);
        column_ids.extend([added(target), changed(target)]);
        value_exprs.extend([quote!(#p::Keep(__now)), quote!(#p::Col(__now))]);
        value_patterns.extend([quote!(_), quote!(_)]);
    }
    let (value_types, column_ids) = (nest(&value_types), nest(&column_ids));
    let (value_exprs, value_patterns) = (nest(&value_exprs), nest(&value_patterns));

    let describe = describe(target, attr, track, requirements);
    let row_tracked = (track == Track::Row).then(|| row_tracked(target, bounds.as_ref()));
    let (quiet, copying) = (quiet(), &attr.copying);
    let link_target = attr.relation.as_ref().map(|relation| relation.link_target(target));
    let (mut saved, mut declare_saved) = (TokenStream::new(), TokenStream::new());
    if let Some(version) = attr.save {
        let row = quote!(__row: <Self as #p::Queryable>::Ref<'_>);
        let rest = attr.relation.as_ref().and_then(|relation| relation.rest(target, &row));
        let body = quote!(const VERSION: ::core::primitive::u32 = #version; #[inline] fn with_value(#row, __f: &mut dyn ::core::ops::FnMut(&Self)) { #with_value } #rest);
        saved = save::implementation(target, bounds.as_ref(), Some((quote!(Saved), body)), "component");
        declare_saved = quote!(#p::if_saving! { #p::Descriptor::saved::<Self>(__descriptor); });
    }
    quote! {
        #quiet
        impl #params #p::Bundle for #owner #bounds {
            type Values =
                <#p::#storage as #p::Storage>::Values<<Self as #p::AnyComponent>::ColumnValues>;
            type Sparse = <#p::#storage as #p::Storage>::Part<Self>;
            fn bundle_key() -> #p::BundleKey {
                #p::BundleKey::AnyComponent(<Self as #p::AnyComponent>::key())
            }
            fn register(
                __components: &mut #p::Components,
                __ids: &mut ::std::vec::Vec<#p::ComponentId>,
            ) -> ::core::result::Result<(), #p::RegisterError> {
                #p::register_one::<Self>(__components, __ids)
            }
            #[inline]
            fn value_ids() -> <Self::Values as #p::Values>::Ids {
                #p::one_value_ids::<Self>()
            }
            #[inline(always)]
            fn into_values(self, __now: #p::Tick) -> (Self::Values, Self::Sparse) {
                #p::one_into_values(self, __now)
            }
            #[inline(always)]
            fn from_values(__values: Self::Values, __sparse: Self::Sparse) -> Self {
                #p::one_from_values(__values, __sparse)
            }
            #link_target
        }
        #quiet
        impl #params #p::AnyComponent for #owner #bounds {
            type Storage = #p::#storage;
            type ColumnValues = #value_types;
            #[inline]
            fn column_ids() -> <Self::ColumnValues as #p::Values>::Ids {
                #column_ids
            }
            #[inline]
            fn key() -> #p::AnyColId {
                #p::ColId::any(#key)
            }
            #[inline(always)]
            fn into_column_values(self, __now: #p::Tick) -> Self::ColumnValues {
                let #apart = self;
                #value_exprs
            }
            #[inline(always)]
            fn from_column_values(__values: Self::ColumnValues) -> Self {
                let #value_patterns = __values;
                #together
            }
            fn describe(__descriptor: &mut #p::Descriptor) {
                #columns
                #(#p::Descriptor::capture(__descriptor, #ids, #captures);)*
                #describe
                #declare_saved
            }
            #copying
        }
        #row_tracked
        #saved
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
    let hooks = hooks(target, attr);
    quote! {
        #p::Descriptor::name(__descriptor, #name);
        #track;
        #(#requirements)*
        #hooks
    }
}

/// Statements that declare the hooks.
fn hooks(target: &Target, attr: &ComponentAttr) -> Option<TokenStream> {
    let p = &target.private;
    let declared = attr.hooks.iter().map(|(key, function)| {
        let declare = format_ident!("declare_{key}");
        let text = quote!(#function).to_string().replace(" :: ", "::");
        // A call makes the function anew each time, as it cannot be kept.
        let function = match function {
            Expr::Call(call) => quote!(|__world, __context| (#call)(__world, __context)),
            function => quote!(#function),
        };
        quote!(#p::ComponentHooks::#declare(&mut __hooks, #function, #text);)
    });
    let relation = attr.relation.as_ref().map(|relation| relation.describe(target));
    let declared: Vec<TokenStream> = relation.into_iter().chain(declared).collect();
    (!declared.is_empty()).then(|| {
        quote! {
            let mut __hooks = <#p::ComponentHooks as ::core::default::Default>::default();
            #(#declared)*
            #p::Descriptor::attach(__descriptor, __hooks);
        }
    })
}

/// An expression for the name: as given, else the path of the type. Instances of one generic type differ
/// in their parameters.
pub fn name(target: &Target, attr: &ComponentAttr) -> TokenStream {
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
