//! A struct that is split into its fields, each of which is a column.
//!
//! Components and messages with `layout = "soa"` share what is here: the fields as members, local variables
//! and types, the rows and slices made of them (`proxies`, with their functions in `methods`), and what a
//! type must be to be taken apart. Whose columns they are is said by `soa` and `message`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Fields, Member, Result, Type, WhereClause};

use crate::names;
use crate::target::Target;

mod methods;
pub mod proxies;

/// One field, which is one column.
pub struct Field {
    pub member: Member,
    pub ty: Type,
    /// The field's name as text: `x`, or `0`.
    pub name: String,
    /// The field's name as a type or a field of its own: `x`, or `_0`.
    pub marker: Ident,
    /// A local variable that holds the field.
    pub local: Ident,
}

/// A struct with at least one field, taken apart.
pub struct Split<'a> {
    pub target: &'a Target,
    pub fields: Vec<Field>,
    /// Whether fields have names, rather than numbers.
    pub is_named: bool,
    /// What must hold for the fields to be columns.
    pub bounds: Option<WhereClause>,
}

impl<'a> Split<'a> {
    pub fn new(target: &'a Target, fields: &Fields) -> Result<Self> {
        let is_named = matches!(fields, Fields::Named(_));
        let fields: Vec<Field> = fields
            .members()
            .zip(fields)
            .enumerate()
            .map(|(i, (member, field))| Ok(Field::new(i, member, target.without_self(&field.ty)?)))
            .collect::<Result<_>>()?;
        let bounds = target.bounds(column_bounds(target, &fields));
        Ok(Self { target, fields, is_named, bounds })
    }

    /// Refuses a `Drop` of the struct, which would run whenever a value is taken apart: two implementations
    /// that conflict exactly when there is one.
    pub fn no_drop(&self) -> TokenStream {
        let Self { target, bounds, .. } = self;
        let owner = target.path();
        if !target.is_generic() {
            return no_drop_by_name(target);
        }
        let (params, _, _) = target.generics.split_for_impl();
        let conflict = quote_spanned! {target.span()=>
            #[allow(deprecated)]
            impl #params MustNotImplementDrop for #owner #bounds {}
        };
        quote! {
            const _: () = {
                trait MustNotImplementDrop {}
                #[allow(drop_bounds)]
                impl<__T: ::core::ops::Drop> MustNotImplementDrop for __T {}
                #conflict
            };
        }
    }

    pub fn each(&self, make: impl Fn(&Field) -> TokenStream) -> Vec<TokenStream> {
        self.fields.iter().map(make).collect()
    }

    /// `{ x: __f0, y: __f1 }`: a struct over the fields, as a pattern or from local variables.
    pub fn braces(&self) -> TokenStream {
        let members = self.fields.iter().map(|field| &field.member);
        let locals = self.fields.iter().map(|field| &field.local);
        quote!({ #(#members: #locals),* })
    }
}

/// As [`Split::no_drop`], with a text of our own: an inherent constant, which a type has that implements `Drop`, hides
/// the one that all types have. Needs a type without parameters.
fn no_drop_by_name(target: &Target) -> TokenStream {
    let owner = target.path();
    let message = format!(
        "`{}` implements `Drop` and has `layout = \"soa\"`, which takes it apart: implement `Drop` for the type of a \
         field, or leave the layout out",
        target.name()
    );
    let check = quote_spanned! {target.span()=>
        ::core::assert!(!__Of::<#owner>::DROPS, #message)
    };
    quote! {
        const _: () = {
            struct __Of<__T>(::core::marker::PhantomData<__T>);
            trait __Never {
                const DROPS: ::core::primitive::bool = false;
            }
            impl<__T> __Never for __Of<__T> {}
            #[allow(drop_bounds, dead_code)]
            impl<__T: ::core::ops::Drop> __Of<__T> {
                const DROPS: ::core::primitive::bool = true;
            }
            #check
        };
    }
}

/// What must hold for the fields to be columns: their types can be shared between threads.
///
/// As for whole values, a type without parameters has its bound only to be reported once where it does
/// not hold; for the plain numbers, which most fields are, it is left out.
fn column_bounds(target: &Target, fields: &[Field]) -> Vec<TokenStream> {
    let mut bounds: Vec<TokenStream> = Vec::new();
    for Field { ty, .. } in fields {
        let text = quote!(#ty).to_string();
        let any = if target.is_dependent(ty) { None } else { Some(quote!(for<'any>)) };
        let bound = quote!(#any #ty: ::core::marker::Send + ::core::marker::Sync);
        if !names::is_primitive(&text) && bounds.iter().all(|known| known.to_string() != bound.to_string()) {
            bounds.push(bound);
        }
    }
    bounds
}

impl Field {
    fn new(position: usize, member: Member, ty: Type) -> Self {
        let (name, marker) = match &member {
            Member::Named(ident) => (ident.unraw().to_string(), ident.clone()),
            Member::Unnamed(index) => (index.index.to_string(), format_ident!("_{}", index.index)),
        };
        let local = format_ident!("__f{position}", span = Span::mixed_site());
        Self { member, ty, name, marker, local }
    }
}
