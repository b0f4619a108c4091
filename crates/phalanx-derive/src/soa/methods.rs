//! What can be done with rows and slices of a component that is kept field by field.
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

use super::Soa;
use super::proxies::{Proxy, each_field_is, generics};
use crate::column::quiet;

/// The inherent implementations of the four types.
pub fn emit(soa: &Soa<'_>) -> TokenStream {
    let bodies = [
        (Proxy::Ref, row_ref(soa)),
        (Proxy::Mut, row_mut(soa)),
        (Proxy::Slices, slices(soa)),
        (Proxy::SlicesMut, slices_mut(soa)),
    ];
    let generics = generics(soa);
    let (params, _, clause) = generics.split_for_impl();
    let impls = bodies.map(|(proxy, body)| {
        let (path, quiet) = (proxy.path(soa, &quote!('row)), quiet());
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
fn build(soa: &Soa<'_>, name: &TokenStream, value: impl Fn(&Member) -> TokenStream) -> TokenStream {
    let members = soa.fields.iter().map(|field| &field.member);
    let values = soa.fields.iter().map(|field| value(&field.member));
    quote!(#name { #(#members: #values),* })
}

fn build_proxy(soa: &Soa<'_>, proxy: Proxy, value: impl Fn(&Member) -> TokenStream) -> TokenStream {
    let ident = proxy.ident(soa);
    build(soa, &quote!(#ident), value)
}

fn get(soa: &Soa<'_>) -> TokenStream {
    let (ident, owner) = (&soa.target.ident, soa.target.path());
    let clone = each_field_is(soa, &quote!(::core::clone::Clone));
    let value = build(soa, &quote!(#ident), |member| quote!(::core::clone::Clone::clone(&*self.#member)));
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

fn row_ref(soa: &Soa<'_>) -> TokenStream {
    get(soa)
}

fn row_mut(soa: &Soa<'_>) -> TokenStream {
    let (ident, owner, get) = (&soa.target.ident, soa.target.path(), get(soa));
    let braces = soa.braces();
    let members = soa.fields.iter().map(|field| &field.member);
    let locals = soa.fields.iter().map(|field| &field.local);
    let (short_mut, short_ref) = (Proxy::Mut.path(soa, &quote!('_)), Proxy::Ref.path(soa, &quote!('_)));
    let reborrow = build_proxy(soa, Proxy::Mut, |member| quote!(&mut *self.#member));
    let shared = build_proxy(soa, Proxy::Ref, |member| quote!(&*self.#member));
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

fn len(soa: &Soa<'_>) -> TokenStream {
    let first = &soa.fields[0].member;
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

fn slices(soa: &Soa<'_>) -> TokenStream {
    let (len, row) = (len(soa), Proxy::Ref.path(soa, &quote!('row)));
    let at = build_proxy(soa, Proxy::Ref, |member| quote!(<[_]>::get(self.#member, __index)?));
    let zipped = zip(soa, |member| quote!(<[_]>::iter(self.#member)));
    let (pattern, made) = (zip_pattern(soa), Proxy::Ref.ident(soa));
    let braces = soa.braces();
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

fn slices_mut(soa: &Soa<'_>) -> TokenStream {
    let len = len(soa);
    let [row, row_mut, shared] =
        [Proxy::Ref, Proxy::Mut, Proxy::Slices].map(|proxy| proxy.path(soa, &quote!('_)));
    let at = build_proxy(soa, Proxy::Ref, |member| quote!(<[_]>::get(&*self.#member, __index)?));
    let at_mut = build_proxy(soa, Proxy::Mut, |member| quote!(<[_]>::get_mut(&mut *self.#member, __index)?));
    let as_shared = build_proxy(soa, Proxy::Slices, |member| quote!(&*self.#member));
    let zipped = zip(soa, |member| quote!(<[_]>::iter_mut(&mut *self.#member)));
    let (pattern, made) = (zip_pattern(soa), Proxy::Mut.ident(soa));
    let braces = soa.braces();
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
fn zip(soa: &Soa<'_>, iter: impl Fn(&Member) -> TokenStream) -> TokenStream {
    let fields = soa.fields.iter().map(|field| iter(&field.member));
    fields.reduce(|before, next| quote!(::core::iter::zip(#before, #next))).unwrap_or_default()
}

/// A pattern for what `zip` yields: `((x, y), z)`.
fn zip_pattern(soa: &Soa<'_>) -> TokenStream {
    let locals = soa.fields.iter().map(|field| {
        let local = &field.local;
        quote!(#local)
    });
    locals.reduce(|before, next| quote!((#before, #next))).unwrap_or_default()
}
