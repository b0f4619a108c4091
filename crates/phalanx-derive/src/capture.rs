//! What a type can do beyond being kept: whether it can be copied, hashed and shown.
//!
//! The answer is an expression of `Capture<T>`, whose parts the compiler picks where the expression stands
//! (`phalanx::capture::probe`). Values are hashed and shown field by field. `#[derive(Digestible)]` emits the same hash as
//! an implementation of the trait, for types that are fields of others; there a field that cannot be hashed is an error.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Field, Fields, Member, Path, Result, Type};

use crate::attr::{self, CaptureAttr, CheckpointAttr, DigestAttr};
use crate::column::quiet;
use crate::names;
use crate::target::Target;

/// The fields of a struct or of one variant: a pattern that binds them, and what is known of each.
struct Bound {
    pattern: TokenStream,
    fields: Vec<One>,
}

struct One {
    member: Member,
    ty: Type,
    /// Whether the type is a number, a `bool` or a `char`, of which nothing has to be asked.
    plain: bool,
    local: Ident,
    name: String,
    digest: DigestAttr,
    span: Span,
}

impl One {
    /// An expression that takes the field in, and tells whether it could be.
    fn digest(&self, p: &TokenStream) -> TokenStream {
        let local = &self.local;
        match &self.digest {
            // The compiler looks a method up for long where it is asked which trait has it.
            DigestAttr::Asked if self.plain => quote!({ #p::Digestible::digest(#local, __hasher); true }),
            how => digest_of(p, how, &quote!(#local)),
        }
    }
}

/// An expression of `Capture<Self>`: what can be done with whole values of the type.
pub fn whole(input: &DeriveInput, target: &Target, capture: &CaptureAttr) -> Result<TokenStream> {
    let p = &target.private;
    let variants = variants(input, target)?;
    let copying = match capture.checkpoint {
        CheckpointAttr::Skip => quote!(#p::Copying::Skip),
        CheckpointAttr::Default => default_copying(p),
        CheckpointAttr::Asked => copying(p, &variants),
    };
    let (digest, show) = match &capture.digest {
        Some(how) => {
            let digest = digest_of(p, how, &quote!(__value));
            let name = "";
            (digest, shown(p, name, &quote!(__value), how))
        }
        None if variants.is_none() => {
            let how = DigestAttr::Asked;
            (digest_of(p, &how, &quote!(__value)), shown(p, "", &quote!(__value), &how))
        }
        None => by_fields(p, &variants.unwrap_or_default(), matches!(input.data, Data::Enum(_))),
    };
    let skip = capture.digest.as_ref().filter(|how| matches!(how, DigestAttr::Skip));
    Ok(expression(p, &quote!(Self), &copying, &digest, &show, skip.is_some()))
}

/// An expression of `Capture<F>` for a field that has a column of its own.
pub fn column(target: &Target, field: &Field, name: &str, capture: &CaptureAttr) -> Result<TokenStream> {
    let p = &target.private;
    let ty = target.without_self(&field.ty)?;
    let how = match (DigestAttr::parse(&field.attrs)?, &capture.digest) {
        (DigestAttr::Asked, Some(all)) => all.clone(),
        (own, _) => own,
    };
    let copying = match capture.checkpoint {
        CheckpointAttr::Skip => quote!(#p::Copying::Skip),
        CheckpointAttr::Default => default_copying(p),
        CheckpointAttr::Asked => quote!((&&&#p::CaptureProbe::<#ty>::new()).__copying()),
    };
    let (digest, show) = (digest_of(p, &how, &quote!(__value)), shown(p, name, &quote!(__value), &how));
    let skips = matches!(how, DigestAttr::Skip);
    Ok(expression(p, &quote!(#ty), &copying, &digest, &show, skips))
}

/// `#[derive(Digestible)]`.
pub fn derive_digestible(input: &DeriveInput) -> Result<TokenStream> {
    let krate = attr::crate_of_digest(&input.attrs)?;
    let target = Target::new(input, &krate, "a digestible type")?;
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let is_enum = matches!(input.data, Data::Enum(_));
    let arms =
        variants(input, &target)?.unwrap_or_default().into_iter().zip(0u64..).map(|(bound, number)| {
            let Bound { pattern, fields } = &bound;
            let number = is_enum.then(|| quote!(#p::DigestHasher::number(__hasher, #number);));
            let fields = fields.iter().map(|one| {
                let local = &one.local;
                match &one.digest {
                    DigestAttr::Asked => {
                        quote_spanned!(one.span=> #p::Digestible::digest(#local, __hasher);)
                    }
                    how => {
                        let digest = digest_of(p, how, &quote!(#local));
                        quote!(let _ = #digest;)
                    }
                }
            });
            quote!(#pattern => { #number #(#fields)* })
        });
    let parameters = target.generics.type_params().map(|param| {
        let ident = &param.ident;
        quote!(#ident: #p::Digestible)
    });
    let bounds = target.bounds(parameters);
    let quiet = quiet();
    Ok(quote! {
        #quiet
        impl #params #p::Digestible for #owner #bounds {
            #[allow(unused_variables)]
            fn digest(&self, __hasher: &mut #p::DigestHasher) {
                match *self { #(#arms)* }
            }
        }
    })
}

fn expression(
    p: &TokenStream,
    ty: &TokenStream,
    copying: &TokenStream,
    digest: &TokenStream,
    show: &TokenStream,
    skips: bool,
) -> TokenStream {
    let skip = skips.then(|| quote!(let __capture = #p::Capture::without_digest(__capture);));
    quote! {{
        #[allow(unused_imports)]
        use #p::{
            CopyBytes as _, CopyClone as _, CopyNot as _, DigestHash as _, DigestNot as _, DigestOwn as _,
            FieldCopied as _, FieldKept as _, ShowDebug as _, ShowNot as _,
        };
        let __capture = #p::Capture::<#ty>::copying(#p::Capture::none(), #copying);
        let __capture = #p::Capture::digesting(
            __capture,
            |__value: &#ty, __hasher: &mut #p::DigestHasher| -> ::core::primitive::bool { #digest },
            |__value: &#ty, __fields: &mut ::std::vec::Vec<#p::Shown>| { #show },
        );
        #skip
        __capture
    }}
}

fn default_copying(p: &TokenStream) -> TokenStream {
    quote!(#p::Copying::By(#p::Duplicate::with(|_| ::core::default::Default::default())))
}

/// How whole values are copied: as the type can, else field by field.
fn copying(p: &TokenStream, variants: &Option<Vec<Bound>>) -> TokenStream {
    let own = quote!((&&&#p::CaptureProbe::<Self>::new()).__copying());
    let Some(variants) = variants else { return own };
    let arms = variants.iter().map(|Bound { pattern, fields }| {
        let make = pattern_path(pattern);
        let values = fields.iter().map(|One { member, local, plain, .. }| {
            if *plain {
                return quote!(#member: *#local);
            }
            quote!(#member: #p::copied((&&#p::CaptureProbe::of(#local)).__copied(#local)))
        });
        quote!(#pattern => #make { #(#values),* },)
    });
    let asked = variants.iter().flat_map(|bound| bound.fields.iter().filter(|one| !one.plain));
    let types = asked.map(|one| &one.ty);
    let all_copy = types.map(|ty| quote!(&& (&&#p::CaptureProbe::<#ty>::new()).__is_copy()));
    quote!(#p::by_fields(#own, true #(#all_copy)*, |__value: &Self| match *__value { #(#arms)* }))
}

/// The path before the braces of a pattern.
fn pattern_path(pattern: &TokenStream) -> TokenStream {
    let is_braces = |token: &proc_macro2::TokenTree| matches!(token, proc_macro2::TokenTree::Group(_));
    pattern.clone().into_iter().take_while(|token| !is_braces(token)).collect()
}

/// The bodies that hash and show a value field by field.
fn by_fields(p: &TokenStream, variants: &[Bound], is_enum: bool) -> (TokenStream, TokenStream) {
    let digests = variants.iter().zip(0u64..).map(|(Bound { pattern, fields }, number)| {
        let number = is_enum.then(|| quote!(#p::DigestHasher::number(__hasher, #number);));
        let all = fields.iter().map(|one| {
            let digest = one.digest(p);
            quote!(&& #digest)
        });
        quote!(#pattern => { #number true #(#all)* })
    });
    let digest = quote!(match *__value { #(#digests)* });
    let show = if is_enum {
        show_field(p, "", &quote!(__value), &digest)
    } else {
        let arms = variants.iter().map(|Bound { pattern, fields }| {
            let all = fields.iter().map(|one| {
                let (local, name) = (&one.local, &one.name);
                match &one.digest {
                    DigestAttr::Asked if one.plain => quote!(#p::show_plain(__fields, #name, #local);),
                    how => shown(p, name, &quote!(#local), how),
                }
            });
            quote!(#pattern => { #(#all)* })
        });
        quote!(match *__value { #(#arms)* })
    };
    (digest, show)
}

/// An expression that takes a value in, and tells whether it could be.
fn digest_of(p: &TokenStream, how: &DigestAttr, value: &TokenStream) -> TokenStream {
    match how {
        DigestAttr::Asked => quote!((&&&#p::CaptureProbe::of(#value)).__digest(#value, __hasher)),
        DigestAttr::Skip => quote!(true),
        DigestAttr::Hash => quote!({ #p::DigestHasher::hash(__hasher, #value); true }),
        DigestAttr::Debug => quote!({ #p::DigestHasher::debug(__hasher, #value); true }),
        DigestAttr::With(path) => quote!({ #path(#value, __hasher); true }),
    }
}

/// A statement that adds a field to `__fields`.
fn shown(p: &TokenStream, name: &str, value: &TokenStream, how: &DigestAttr) -> TokenStream {
    if matches!(how, DigestAttr::Skip) {
        return TokenStream::new();
    }
    show_field(p, name, value, &digest_of(p, how, value))
}

/// The same for a digest that is written out. Statements and no closure, which would be compiled for each field.
fn show_field(p: &TokenStream, name: &str, value: &TokenStream, digest: &TokenStream) -> TokenStream {
    quote! {{
        let mut __digest = #p::DigestHasher::new();
        let __hasher = &mut __digest;
        let __has_digest = #digest;
        let __text = (&&#p::CaptureProbe::of(#value)).__text(#value);
        ::std::vec::Vec::push(__fields, #p::shown(#name, #value, __text, (__has_digest, __digest)));
    }}
}

/// The variants of an enum, or the one of a struct; `None` where fields cannot be lent.
fn variants(input: &DeriveInput, target: &Target) -> Result<Option<Vec<Bound>>> {
    let is_packed = |attr: &&Attribute| {
        let mut packed = false;
        let _ = attr.path().is_ident("repr").then(|| {
            attr.parse_nested_meta(|meta| {
                packed |= meta.path.is_ident("packed");
                if meta.input.peek(syn::token::Paren) {
                    let content;
                    syn::parenthesized!(content in meta.input);
                    content.parse::<TokenStream>()?;
                }
                Ok(())
            })
        });
        packed
    };
    match &input.data {
        _ if input.attrs.iter().any(|attr| is_packed(&attr)) => Ok(None),
        Data::Struct(data) => Ok(Some(vec![bound(target, &quote!(Self), &data.fields)?])),
        Data::Enum(data) => {
            let variants = data.variants.iter().map(|variant| {
                let ident = &variant.ident;
                bound(target, &quote!(Self::#ident), &variant.fields)
            });
            Ok(Some(variants.collect::<Result<_>>()?))
        }
        Data::Union(_) => Ok(None),
    }
}

fn bound(target: &Target, path: &TokenStream, fields: &Fields) -> Result<Bound> {
    let all = fields.members().zip(fields).enumerate().map(|(at, (member, field))| {
        let name = match &member {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        };
        let local = format_ident!("__f{at}", span = Span::mixed_site());
        let span = field.ty.span().resolved_at(Span::call_site());
        let ty = target.without_self(&field.ty)?;
        let plain = names::is_primitive(&quote!(#ty).to_string());
        Ok(One { member, ty, plain, local, name, digest: DigestAttr::parse(&field.attrs)?, span })
    });
    let fields: Vec<One> = all.collect::<Result<_>>()?;
    let members = fields.iter().map(|one| &one.member);
    let locals = fields.iter().map(|one| &one.local);
    Ok(Bound { pattern: quote!(#path { #(#members: ref #locals),* }), fields })
}

/// A path that may be called.
pub fn path(text: &syn::LitStr) -> Result<Path> {
    text.parse_with(Path::parse_mod_style).map_err(|_| {
        syn::Error::new(text.span(), "`with` must be the path of a function, such as \"my_digest\"")
    })
}
