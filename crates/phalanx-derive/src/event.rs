//! `#[derive(Event)]` and `#[derive(EntityEvent)]`: what observers are called for.
//!
//! An event is any type that can be shared between threads. One that happens to an entity names it in the field `entity`,
//! in the field with `#[event_target]`, or in its only field. With `#[entity_event(propagate = T)]` it goes from entity
//! to entity, along the traversal `T`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Data, DeriveInput, Error, Fields, Index, LitStr, Meta, Path, Result, Token, Type};

use crate::column::quiet;
use crate::target::Target;
use crate::threads;

/// What stands in `#[event(..)]` or `#[entity_event(..)]`.
#[derive(Default)]
struct EventAttr {
    trigger: Option<Type>,
    /// Whether the event propagates, and along what.
    propagate: Option<(Ident, Option<Type>)>,
    auto_propagate: Option<Ident>,
    krate: Option<Path>,
}

impl EventAttr {
    fn parse(attrs: &[Attribute], attribute: &str) -> Result<Self> {
        let mut found = Self::default();
        for attr in attrs.iter().filter(|attr| attr.path().is_ident(attribute)) {
            let Meta::List(list) = &attr.meta else {
                return Err(Error::new_spanned(&attr.meta, format!("expected `#[{attribute}(..)]`")));
            };
            let parser = |input: ParseStream<'_>| found.read(input, attribute == "entity_event");
            parser.parse2(list.tokens.clone())?;
        }
        Ok(found)
    }

    fn read(&mut self, input: ParseStream<'_>, of_entity: bool) -> Result<()> {
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let has_value = input.peek(Token![=]);
            if has_value {
                input.parse::<Token![=]>()?;
            }
            match key.to_string().as_str() {
                "crate" if has_value => {
                    let text: LitStr = input.parse()?;
                    self.krate = Some(text.parse_with(Path::parse_mod_style)?);
                }
                "trigger" if has_value => self.trigger = Some(input.parse()?),
                "propagate" if of_entity => {
                    let along = if has_value { Some(input.parse()?) } else { None };
                    self.propagate = Some((key, along));
                }
                "auto_propagate" if of_entity && !has_value => self.auto_propagate = Some(key),
                _ => {
                    let known = if of_entity {
                        "`propagate`, `propagate = Type`, `auto_propagate`, `trigger = Type` or `crate = \"path\"`"
                    } else {
                        "`trigger = Type` or `crate = \"path\"`"
                    };
                    return Err(Error::new(key.span(), format!("unknown key `{key}`; expected {known}")));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    fn krate(&self) -> Path {
        self.krate.clone().unwrap_or_else(|| syn::parse_quote!(::phalanx))
    }
}

pub fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let attr = EventAttr::parse(&input.attrs, "event")?;
    let target = Target::new(input, &attr.krate(), "an event")?;
    let p = &target.private;
    let trigger = attr.trigger.as_ref().map_or_else(|| quote!(#p::GlobalTrigger), |trigger| quote!(#trigger));
    let event = emit(&target, &trigger);
    let threads = threads::check_fields(input, &target);
    Ok(quote!(#threads #event))
}

pub fn derive_entity(input: &DeriveInput) -> Result<TokenStream> {
    let attr = EventAttr::parse(&input.attrs, "entity_event")?;
    let target = Target::new(input, &attr.krate(), "an event")?;
    let p = &target.private;
    let field = target_field(input)?;
    let trigger = match (&attr.trigger, &attr.propagate, &attr.auto_propagate) {
        (Some(trigger), None, None) => quote!(#trigger),
        (Some(_), Some((key, _)), _) | (Some(_), None, Some(key)) => {
            return Err(Error::new(key.span(), "`trigger` says already how the event finds its observers"));
        }
        (None, None, None) => quote!(#p::EntityTrigger),
        (None, None, Some(key)) => {
            return Err(Error::new(key.span(), "`auto_propagate` needs `propagate`: it says along what"));
        }
        (None, Some((_, along)), auto) => {
            // From child to parent, unless said otherwise.
            let along = along.as_ref().map_or_else(|| quote!(&'static #p::ChildOf), |along| quote!(#along));
            let auto = auto.is_some();
            quote!(#p::PropagateEntityTrigger<#auto, Self, #along>)
        }
    };
    let event = emit(&target, &trigger);
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let bounds = target.whole_bounds();
    let quiet = quiet();
    let threads = threads::check_fields(input, &target);
    Ok(quote! {
        #event
        #quiet
        impl #params #p::EntityEvent for #owner #bounds {
            fn event_target(&self) -> #p::Entity {
                self.#field
            }
        }
        #quiet
        impl #params #p::SetEntityEventTarget for #owner #bounds {
            fn set_event_target(&mut self, __entity: #p::Entity) {
                self.#field = __entity;
            }
        }
        #threads
    })
}

fn emit(target: &Target, trigger: &TokenStream) -> TokenStream {
    let p = &target.private;
    let owner = target.path();
    let (params, _, _) = target.generics.split_for_impl();
    let (bounds, quiet) = (target.whole_bounds(), quiet());
    quote! {
        #quiet
        impl #params #p::Event for #owner #bounds {
            type Trigger = #trigger;
        }
    }
}

/// The field with the entity.
fn target_field(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        let message = "an event of an entity is a struct: it has a field with the entity";
        return Err(Error::new(input.ident.span(), message));
    };
    let marked: Vec<usize> = (0..data.fields.len())
        .filter(|&at| {
            let field = data.fields.iter().nth(at).expect("in range");
            field.attrs.iter().any(|attr| attr.path().is_ident("event_target"))
        })
        .collect();
    let named =
        |name: &str| data.fields.iter().position(|field| field.ident.as_ref().is_some_and(|id| id == name));
    let at = match (marked.as_slice(), &data.fields) {
        ([at], _) => *at,
        ([_, second, ..], fields) => {
            let field = fields.iter().nth(*second).expect("in range");
            return Err(Error::new_spanned(field, "another field has `#[event_target]` already"));
        }
        ([], Fields::Unnamed(fields)) if fields.unnamed.len() == 1 => 0,
        ([], _) => named("entity").ok_or_else(|| {
            let message =
                "which entity does it happen to? Name a field `entity`, or add `#[event_target]` to one";
            Error::new(input.ident.span(), message)
        })?,
    };
    let field = data.fields.iter().nth(at).expect("in range");
    Ok(match &field.ident {
        Some(ident) => quote!(#ident),
        None => {
            let index = Index::from(at);
            quote!(#index)
        }
    })
}
