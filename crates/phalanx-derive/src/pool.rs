//! `#[derive(Pool)]`: a struct that is at once the schema, the bundle and the documentation of a kind of entities.
//!
//! Each field declares a component, at the slot of its position: `T` is required, `Option<T>` optional. Emitted
//! are the masks as constants, one `Declares` per field, one `Optional` per optional field, and how a value is
//! taken apart. Whether a type is a component twice under two names is left to the compiler: two `Declares` of
//! one type conflict.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, GenericArgument, PathArguments, Result, Type};

use crate::attr::{self, PoolAttr};
use crate::column::{self, quiet};
use crate::nest::nest;
use crate::target::Target;

/// The bits of the widest mask.
const MOST: usize = 128;

/// One declared component.
struct Field {
    name: Ident,
    /// The component.
    ty: Type,
    is_optional: bool,
    local: Ident,
    sparse: Ident,
}

impl Field {
    fn span(&self) -> Span {
        self.ty.span().resolved_at(Span::call_site())
    }
}

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["pool"])?;
    let attr = PoolAttr::parse(&input.attrs)?;
    let target = Target::new(input, &attr.krate, "a pool")?;
    let fields = fields(input, &target)?;
    let masks = masks(&fields);
    let (pool, value) = (pool(&target, &attr, &fields, &masks), value(&target, &fields));
    let declares = fields.iter().enumerate().map(|(slot, field)| declares(&target, slot, field));
    Ok(quote!(#pool #value #(#declares)*))
}

fn fields(input: &DeriveInput, target: &Target) -> Result<Vec<Field>> {
    let refuse = |span, kind| {
        Err(Error::new(
            span,
            format!("a pool must be a struct with named fields, one per component, not {kind}"),
        ))
    };
    let named = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(named) => &named.named,
            Fields::Unnamed(_) => return refuse(input.ident.span(), "a tuple struct"),
            Fields::Unit => return refuse(input.ident.span(), "a unit struct"),
        },
        Data::Enum(data) => return refuse(data.enum_token.span, "an enum"),
        Data::Union(data) => return refuse(data.union_token.span, "a union"),
    };
    if named.len() > MOST {
        let message = format!(
            "a pool declares at most {MOST} components, `{}` has {}: put rare ones into a component of their own",
            input.ident,
            named.len()
        );
        return Err(Error::new(input.ident.span(), message));
    }
    let mut fields: Vec<Field> = Vec::with_capacity(named.len());
    for (i, field) in named.iter().enumerate() {
        let ty: Type = target.without_self(&field.ty)?;
        let (ty, is_optional) = match optional(&ty) {
            Some(inner) => (inner.clone(), true),
            None => (ty, false),
        };
        let text = ty.to_token_stream().to_string();
        if let Some(known) = fields.iter().find(|known| known.ty.to_token_stream().to_string() == text) {
            let message = format!(
                "`{}` is declared twice in `{}`: field `{}` has it already",
                text, input.ident, known.name
            );
            return Err(Error::new(field.ty.span(), message));
        }
        fields.push(Field {
            name: field.ident.clone().expect("the field has a name"),
            ty,
            is_optional,
            local: format_ident!("__f{i}", span = Span::mixed_site()),
            sparse: format_ident!("__s{i}", span = Span::mixed_site()),
        });
    }
    Ok(fields)
}

/// `T` of `Option<T>`, written with whatever path.
fn optional(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option" && path.qself.is_none())?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(inner),
        _ => None,
    }
}

/// The type of a pool's masks, and its bits.
struct Masks {
    ty: TokenStream,
    declared: Literal,
    required: Literal,
    bits: Vec<Literal>,
}

fn masks(fields: &[Field]) -> Masks {
    let wide = fields.len() > 64;
    let literal = |bits: u128| match u64::try_from(bits) {
        Ok(bits) if !wide => Literal::u64_suffixed(bits),
        _ => Literal::u128_suffixed(bits),
    };
    let all = |keep: &dyn Fn(&Field) -> bool| {
        fields
            .iter()
            .enumerate()
            .filter(|(_, field)| keep(field))
            .fold(0, |mask, (slot, _)| mask | (1u128 << slot))
    };
    Masks {
        ty: if wide { quote!(::core::primitive::u128) } else { quote!(::core::primitive::u64) },
        declared: literal(all(&|_| true)),
        required: literal(all(&|field| !field.is_optional)),
        bits: (0..fields.len()).map(|slot| literal(1 << slot)).collect(),
    }
}

/// What the pool is, without a value of it.
fn pool(target: &Target, attr: &PoolAttr, fields: &[Field], masks: &Masks) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let bounds = bounds(target, fields);
    let Masks { ty, declared, required, .. } = masks;
    let strategy = if attr.boxed { quote!(Boxed) } else { quote!(Inline) };
    let capacity = attr.capacity;
    let name = match &attr.name {
        Some(name) => quote!(#name),
        None if target.is_generic() => quote!(::core::any::type_name::<Self>()),
        None => target.name().to_token_stream(),
    };
    let tag = column::id(target, &quote!(#p::PoolMark), &owner, target.span());
    let registered = fields.iter().map(|field| {
        let (ty, p) = (&field.ty, target.private_at(field.span()));
        quote_spanned!(field.span()=> #p::Components::register::<#ty>(__components)?)
    });
    let (quiet, values) = (quiet(), values(p, fields));
    quote! {
        #quiet
        impl #params #p::Pool for #owner #bounds {
            type Mask = #ty;
            type Values = #values;
            const DECLARED: #ty = #declared;
            const REQUIRED: #ty = #required;
            const STRATEGY: #p::Strategy = #p::Strategy::#strategy;
            const CAPACITY: ::core::primitive::usize = #capacity;
            fn name() -> &'static ::core::primitive::str {
                #name
            }
            #[inline]
            fn tag() -> #p::ColId<#p::PoolMark> {
                #tag
            }
            fn register(
                __components: &mut #p::Components,
                __ids: &mut ::std::vec::Vec<#p::ComponentId>,
            ) -> ::core::result::Result<(), #p::RegisterError> {
                #(__ids.push(#registered);)*
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// The type of a table row's values.
fn values(p: &TokenStream, fields: &[Field]) -> TokenStream {
    each(fields, &|field| {
        let bundle = bundle(p, field);
        if field.is_optional { quote!(#p::Maybe<#bundle::Values>) } else { quote!(#bundle::Values) }
    })
}

/// One part per field, as nested tuples.
fn each(fields: &[Field], part: &dyn Fn(&Field) -> TokenStream) -> TokenStream {
    nest(&fields.iter().map(part).collect::<Vec<_>>())
}

fn bundle(p: &TokenStream, field: &Field) -> TokenStream {
    let ty = &field.ty;
    quote!(<#ty as #p::Bundle>)
}

/// How a value of the struct becomes an entity.
fn value(target: &Target, fields: &[Field]) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let bounds = bounds(target, fields);
    let each = |part: &dyn Fn(&Field) -> TokenStream| each(fields, part);
    let bundle = |field: &Field| bundle(p, field);
    let sparse = each(&|field| {
        let bundle = bundle(field);
        if field.is_optional {
            quote!(::core::option::Option<#bundle::Sparse>)
        } else {
            quote!(#bundle::Sparse)
        }
    });
    let ids = each(&|field| {
        let bundle = bundle(field);
        quote!(#bundle::value_ids())
    });
    let pattern = each(&|field| field.local.to_token_stream());
    let sparse_pattern = each(&|field| field.sparse.to_token_stream());
    let apart = fields.iter().map(|field| {
        let (bundle, Field { local, sparse, .. }) = (bundle(field), field);
        if !field.is_optional {
            return quote!(let (#local, #sparse) = #bundle::into_values(#local, __now););
        }
        quote! {
            let (#local, #sparse) = match #local {
                ::core::option::Option::Some(__value) => {
                    let (__values, __parts) = #bundle::into_values(__value, __now);
                    (#p::Maybe(::core::option::Option::Some(__values)), ::core::option::Option::Some(__parts))
                }
                ::core::option::Option::None => {
                    (#p::Maybe(::core::option::Option::None), ::core::option::Option::None)
                }
            };
        }
    });
    let names = fields.iter().map(|field| &field.name);
    let locals = fields.iter().map(|field| &field.local);
    let masks = masks(fields);
    let present =
        fields.iter().zip(&masks.bits).filter(|(field, _)| field.is_optional).map(|(field, bit)| {
            let name = &field.name;
            quote! {
                if ::core::option::Option::is_some(&self.#name) {
                    __mask |= #bit;
                }
            }
        });
    let quiet = quiet();
    quote! {
        #quiet
        impl #params #p::DeclaredPool for #owner #bounds {
            type Sparse = #sparse;
            #[inline]
            fn value_ids() -> <Self::Values as #p::Values>::Ids {
                #ids
            }
            #[cfg_attr(not(debug_assertions), inline(always))]
            fn presence(&self) -> <Self as #p::Pool>::Mask {
                #[allow(unused_mut)]
                let mut __mask = <Self as #p::Pool>::REQUIRED;
                #(#present)*
                __mask
            }
            #[inline(always)]
            fn into_values(self, __now: #p::Tick) -> (Self::Values, Self::Sparse) {
                let Self { #(#names: #locals),* } = self;
                #(#apart)*
                (#pattern, #sparse_pattern)
            }
        }
    }
}

fn declares(target: &Target, slot: usize, field: &Field) -> TokenStream {
    let p = target.private_at(field.span());
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let ty = &field.ty;
    let bounds = target.bounds(target.is_dependent(ty).then(|| quote!(#ty: #p::AnyComponent)));
    let slot = Literal::u32_suffixed(u32::try_from(slot).expect("there are at most 128 slots"));
    let quiet = quiet();
    let optional = field.is_optional.then(|| {
        quote_spanned! {field.span()=>
            #quiet
            impl #params #p::Optional<#ty> for #owner #bounds {}
        }
    });
    quote_spanned! {field.span()=>
        #quiet
        impl #params #p::Declares<#ty> for #owner #bounds {
            const SLOT: ::core::primitive::u32 = #slot;
        }
        #optional
    }
}

fn bounds(target: &Target, fields: &[Field]) -> Option<syn::WhereClause> {
    let p = &target.private;
    let dependent = fields.iter().map(|field| &field.ty).filter(|ty| target.is_dependent(ty));
    target.bounds(dependent.map(|ty| quote!(#ty: #p::AnyComponent)))
}
