//! How values of a component are copied, and which entities they hold.
//!
//! Whether a type can be cloned is asked of the compiler where the type is known: for a whole component of the type
//! itself, for one that is kept by fields of each field. Fields that are an `Entity`, or an `Option`, `Vec` or array of
//! them, are known by their names; others that hold entities are marked with `#[entities]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Field, Fields, GenericArgument, PathArguments, Type};

/// The functions of `AnyComponent` that copy, and the one that maps entities. `p` is the library's private part.
pub fn emit(input: &DeriveInput, p: &TokenStream, is_soa: bool) -> TokenStream {
    let probes = quote!(
        #[allow(unused_imports)]
        use #p::{CopyByClone as _, CopyNothing as _};
    );
    let copies = match &input.data {
        Data::Struct(data) if is_soa => {
            let each = |from: &TokenStream| -> TokenStream {
                let copy = |(member, field): (syn::Member, &Field)| {
                    let ty = &field.ty;
                    quote!(#member: (&#p::CopyProbe::<#ty>::NEW).copy(&#from.#member)?,)
                };
                data.fields.members().zip(&data.fields).map(copy).collect()
            };
            let (from_row, from_self) = (each(&quote!(*__row)), each(&quote!(self)));
            quote! {
                fn copy_row(__row: Self::Ref<'_>) -> ::core::option::Option<Self> {
                    #probes
                    ::core::option::Option::Some(Self { #from_row })
                }
                fn copy_value(&self) -> ::core::option::Option<Self> {
                    #probes
                    ::core::option::Option::Some(Self { #from_self })
                }
            }
        }
        _ => quote! {
            fn copy_row(__row: Self::Ref<'_>) -> ::core::option::Option<Self> {
                <Self as #p::AnyComponent>::copy_value(__row)
            }
            fn copy_value(&self) -> ::core::option::Option<Self> {
                #probes
                (&#p::CopyProbe::<Self>::NEW).copy(self)
            }
        },
    };
    let maps = maps(input, p);
    quote!(#copies #maps)
}

/// The function that maps entities, if there are any.
fn maps(input: &DeriveInput, p: &TokenStream) -> TokenStream {
    // The world keeps the lists of relations itself.
    if input.attrs.iter().any(|attr| attr.path().is_ident("relationship_target")) {
        return TokenStream::new();
    }
    let arms: Vec<TokenStream> = match &input.data {
        Data::Struct(data) => arm(&quote!(Self), &data.fields, p).into_iter().collect(),
        Data::Enum(data) => data
            .variants
            .iter()
            .filter_map(|variant| {
                let ident = &variant.ident;
                arm(&quote!(Self::#ident), &variant.fields, p)
            })
            .collect(),
        Data::Union(_) => Vec::new(),
    };
    if arms.is_empty() {
        return TokenStream::new();
    }
    quote! {
        const HAS_ENTITIES: ::core::primitive::bool = true;
        fn map_entities(&mut self, mut __mapper: &mut dyn #p::EntityMapper) {
            #[allow(unreachable_patterns)]
            match self {
                #(#arms)*
                _ => {}
            }
        }
    }
}

/// The arm that maps the entities of a struct or variant; `None` when it holds none.
fn arm(name: &TokenStream, fields: &Fields, p: &TokenStream) -> Option<TokenStream> {
    let holds = fields.members().zip(fields).filter(|(_, field)| holds_entities(field));
    let (patterns, calls): (Vec<TokenStream>, Vec<TokenStream>) = holds
        .enumerate()
        .map(|(at, (member, _))| {
            let local = format_ident!("__e{at}");
            (quote!(#member: #local), quote!(#p::MapEntities::map_entities(#local, &mut __mapper);))
        })
        .unzip();
    (!patterns.is_empty()).then(|| quote!(#name { #(#patterns,)* .. } => { #(#calls)* }))
}

fn holds_entities(field: &Field) -> bool {
    field.attrs.iter().any(|attr| attr.path().is_ident("entities")) || is_entities(&field.ty)
}

/// Whether a type is `Entity`, or an `Option`, `Vec` or array of it.
fn is_entities(ty: &Type) -> bool {
    match ty {
        Type::Array(array) => is_entities(&array.elem),
        Type::Path(path) if path.qself.is_none() => {
            let Some(last) = path.path.segments.last() else { return false };
            match &last.arguments {
                PathArguments::None => last.ident == "Entity",
                PathArguments::AngleBracketed(arguments) => {
                    let mut arguments = arguments.args.iter();
                    (last.ident == "Option" || last.ident == "Vec")
                        && matches!(arguments.next(), Some(GenericArgument::Type(ty)) if is_entities(ty))
                        && arguments.next().is_none()
                }
                PathArguments::Parenthesized(_) => false,
            }
        }
        _ => false,
    }
}
