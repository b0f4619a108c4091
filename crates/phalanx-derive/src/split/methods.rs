//! What can be done with rows and slices of what is kept field by field.
//!
//! | type | functions |
//! |---|---|
//! | `Ref` | `get` |
//! | `Mut` | `get`, `set`, `reborrow`, `as_shared` |
//! | `Slices` | `len`, `is_empty`, `get`, `iter` |
//! | `SlicesMut` | `len`, `is_empty`, `get`, `get_mut`, `as_shared`, `iter_mut` |
//!
//! `get` of a row clones the fields, and exists only where all of them can be cloned.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Member;

use super::Split;
use super::proxies::{Proxy, each_field_is, generics};
use crate::column::quiet;

/// The inherent implementations of the types named by `chosen`.
pub fn emit(split: &Split<'_>, chosen: &[Proxy]) -> TokenStream {
    let generics = generics(split);
    let (params, _, clause) = generics.split_for_impl();
    let impls = chosen.iter().map(|&proxy| {
        let (path, quiet) = (proxy.path(split, &quote!('row)), quiet());
        let body = match proxy {
            Proxy::Ref => row_ref(split),
            Proxy::Mut => row_mut(split),
            Proxy::Slices => slices(split),
            Proxy::SlicesMut => slices_mut(split),
        };
        quote! {
            #quiet
            #[allow(dead_code, unreachable_pub)]
            impl #params #path #clause {
                #body
            }
        }
    });
    quote!(#(#impls)*)
}

/// `Name { x: <value>, y: <value> }`, where `value` is made for each field.
fn build(split: &Split<'_>, name: &TokenStream, value: impl Fn(&Member) -> TokenStream) -> TokenStream {
    let members = split.fields.iter().map(|field| &field.member);
    let values = split.fields.iter().map(|field| value(&field.member));
    quote!(#name { #(#members: #values),* })
}

fn build_proxy(split: &Split<'_>, proxy: Proxy, value: impl Fn(&Member) -> TokenStream) -> TokenStream {
    let ident = proxy.ident(split);
    build(split, &quote!(#ident), value)
}

fn get(split: &Split<'_>) -> TokenStream {
    let (ident, owner) = (&split.target.ident, split.target.path());
    let clone = each_field_is(split, &quote!(::core::clone::Clone));
    let value = build(split, &quote!(#ident), |member| quote!(::core::clone::Clone::clone(&*self.#member)));
    quote! {
        /// The row as a value, by cloning each field.
        #[inline]
        pub fn get(&self) -> #owner
        where
            #clone
        {
            #value
        }
    }
}

fn row_ref(split: &Split<'_>) -> TokenStream {
    get(split)
}

fn row_mut(split: &Split<'_>) -> TokenStream {
    let (ident, owner, get) = (&split.target.ident, split.target.path(), get(split));
    let braces = split.braces();
    let members = split.fields.iter().map(|field| &field.member);
    let locals = split.fields.iter().map(|field| &field.local);
    let (short_mut, short_ref) = (Proxy::Mut.path(split, &quote!('_)), Proxy::Ref.path(split, &quote!('_)));
    let reborrow = build_proxy(split, Proxy::Mut, |member| quote!(&mut *self.#member));
    let shared = build_proxy(split, Proxy::Ref, |member| quote!(&*self.#member));
    quote! {
        #get

        /// Writes all fields.
        #[inline]
        pub fn set(&mut self, __value: #owner) {
            let #ident #braces = __value;
            #(*self.#members = #locals;)*
        }

        /// The same row for a shorter time, so that this one can be used again.
        #[inline]
        pub fn reborrow(&mut self) -> #short_mut {
            #reborrow
        }

        /// The same row, shared.
        #[inline]
        pub fn as_shared(&self) -> #short_ref {
            #shared
        }
    }
}

fn len(split: &Split<'_>) -> TokenStream {
    let first = &split.fields[0].member;
    quote! {
        /// The number of rows.
        #[inline]
        pub fn len(&self) -> ::core::primitive::usize {
            <[_]>::len(&*self.#first)
        }

        /// Whether there are no rows.
        #[inline]
        pub fn is_empty(&self) -> ::core::primitive::bool {
            <[_]>::is_empty(&*self.#first)
        }
    }
}

fn slices(split: &Split<'_>) -> TokenStream {
    let (len, row) = (len(split), Proxy::Ref.path(split, &quote!('row)));
    let at = build_proxy(split, Proxy::Ref, |member| quote!(<[_]>::get(self.#member, __index)?));
    let zipped = zip(split, |member| quote!(<[_]>::iter(self.#member)));
    let (pattern, made) = (zip_pattern(split), Proxy::Ref.ident(split));
    let braces = split.braces();
    quote! {
        #len

        /// The row at `index`, if there is one.
        #[inline]
        pub fn get(&self, __index: ::core::primitive::usize) -> ::core::option::Option<#row> {
            ::core::option::Option::Some(#at)
        }

        /// All rows in order.
        #[inline]
        pub fn iter(self) -> impl ::core::iter::ExactSizeIterator<Item = #row> + ::core::iter::DoubleEndedIterator {
            ::core::iter::Iterator::map(#zipped, |#pattern| #made #braces)
        }
    }
}

fn slices_mut(split: &Split<'_>) -> TokenStream {
    let len = len(split);
    let [row, row_mut, shared] =
        [Proxy::Ref, Proxy::Mut, Proxy::Slices].map(|proxy| proxy.path(split, &quote!('_)));
    let at = build_proxy(split, Proxy::Ref, |member| quote!(<[_]>::get(&*self.#member, __index)?));
    let at_mut =
        build_proxy(split, Proxy::Mut, |member| quote!(<[_]>::get_mut(&mut *self.#member, __index)?));
    let as_shared = build_proxy(split, Proxy::Slices, |member| quote!(&*self.#member));
    let zipped = zip(split, |member| quote!(<[_]>::iter_mut(&mut *self.#member)));
    let (pattern, made) = (zip_pattern(split), Proxy::Mut.ident(split));
    let braces = split.braces();
    quote! {
        #len

        /// The row at `index`, if there is one.
        #[inline]
        pub fn get(&self, __index: ::core::primitive::usize) -> ::core::option::Option<#row> {
            ::core::option::Option::Some(#at)
        }

        /// The row at `index`, if there is one, to be written.
        #[inline]
        pub fn get_mut(&mut self, __index: ::core::primitive::usize) -> ::core::option::Option<#row_mut> {
            ::core::option::Option::Some(#at_mut)
        }

        /// The same rows, shared.
        #[inline]
        pub fn as_shared(&self) -> #shared {
            #as_shared
        }

        /// All rows in order, to be written.
        #[inline]
        pub fn iter_mut(
            &mut self,
        ) -> impl ::core::iter::ExactSizeIterator<Item = #row_mut> + ::core::iter::DoubleEndedIterator {
            ::core::iter::Iterator::map(#zipped, |#pattern| #made #braces)
        }
    }
}

/// The slices of all fields side by side: `zip(zip(x, y), z)`, which the compiler fuses.
fn zip(split: &Split<'_>, iter: impl Fn(&Member) -> TokenStream) -> TokenStream {
    let fields = split.fields.iter().map(|field| iter(&field.member));
    fields.reduce(|before, next| quote!(::core::iter::zip(#before, #next))).unwrap_or_default()
}

/// A pattern for what `zip` yields: `((x, y), z)`.
fn zip_pattern(split: &Split<'_>) -> TokenStream {
    let locals = split.fields.iter().map(|field| {
        let local = &field.local;
        quote!(#local)
    });
    locals.reduce(|before, next| quote!((#before, #next))).unwrap_or_default()
}
