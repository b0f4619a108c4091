//! `#[derive(Bundle)]`: a struct whose fields are bundles is a bundle.
//!
//! The values of the fields are concatenated in declaration order, as nested tuples. A unit struct is the
//! bundle of nothing.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Error, Member, Result, Type};

use crate::attr;
use crate::column::quiet;
use crate::nest::nest;
use crate::target::Target;

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    attr::refuse_inside(&input.data, &["bundle"])?;
    let krate = attr::only_crate(&input.attrs, "bundle")?;
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => {
            return Err(Error::new(data.enum_token.span, "a bundle must be a struct, not an enum"));
        }
        Data::Union(data) => {
            return Err(Error::new(data.union_token.span, "a bundle must be a struct, not a union"));
        }
    };
    let target = Target::new(input, &krate, "a bundle")?;
    let p = &target.private;
    let owner = target.path();
    let types: Vec<Type> =
        fields.iter().map(|field| target.without_self(&field.ty)).collect::<Result<_>>()?;
    let members: Vec<Member> = fields.members().collect();
    let locals: Vec<_> =
        (0..types.len()).map(|i| format_ident!("__f{i}", span = Span::mixed_site())).collect();

    let parts: Vec<TokenStream> = types.iter().map(|ty| quote!(<#ty as #p::Bundle>)).collect();
    let values = nest_each(&parts, |part| quote!(#part::Values));
    let ids = nest_each(&parts, |part| quote!(#part::value_ids()));
    let sparse = nest_each(&parts, |part| quote!(#part::Sparse));
    let sets: Vec<_> = (0..types.len()).map(|i| format_ident!("__s{i}", span = Span::mixed_site())).collect();
    let pattern = nest_each(&locals, |local| quote!(#local));
    let sparse_pattern = nest_each(&sets, |set| quote!(#set));
    let dependent = types.iter().filter(|ty| target.is_dependent(ty));
    let bounds = target.bounds(dependent.map(|ty| quote!(#ty: #p::Bundle)));
    let (params, _, _) = target.generics.split_for_impl();
    let pooled = target.with_pool();
    let (pool_params, _, _) = pooled.split_for_impl();
    let tokens: Vec<TokenStream> = types.iter().map(ToTokens::to_token_stream).collect();
    let pool_bounds = target.bounds(target.bounds_in_pool(&tokens, &quote!(#p::BundleIn)));
    let quiet = quiet();
    Ok(quote! {
        #quiet
        impl #pool_params #p::BundleIn<__P> for #owner #pool_bounds {}
        #quiet
        impl #params #p::Bundle for #owner #bounds {
            type Values = #values;
            type Sparse = #sparse;
            const SPAWNS: ::core::primitive::bool = false #(|| #parts::SPAWNS)*;
            fn register(
                __components: &mut #p::Components,
                __ids: &mut ::std::vec::Vec<#p::ComponentId>,
            ) -> ::core::result::Result<(), #p::RegisterError> {
                #(#parts::register(__components, __ids)?;)*
                ::core::result::Result::Ok(())
            }
            #[inline]
            fn value_ids() -> <Self::Values as #p::Values>::Ids {
                #ids
            }
            #[inline(always)]
            fn into_values(self, __now: #p::Tick) -> (Self::Values, Self::Sparse) {
                let Self { #(#members: #locals),* } = self;
                #(let (#locals, #sets) = #parts::into_values(#locals, __now);)*
                (#pattern, #sparse_pattern)
            }
            #[inline(always)]
            fn from_values(__values: Self::Values, __sparse: Self::Sparse) -> Self {
                let #pattern = __values;
                let #sparse_pattern = __sparse;
                Self { #(#members: #parts::from_values(#locals, #sets)),* }
            }
        }
    })
}

fn nest_each<T>(items: impl IntoIterator<Item = T>, each: impl Fn(T) -> TokenStream) -> TokenStream {
    nest(&items.into_iter().map(each).collect::<Vec<_>>())
}
