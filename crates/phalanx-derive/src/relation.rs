//! Relations: `#[relationship(..)]` and `#[relationship_target(..)]` beside `#[derive(Component)]`.
//!
//! Both halves of a relation are sparse components of one column. The half that points cannot be written in place,
//! and the half that lists lets its order be changed, and nothing else. Which field holds the target or the list is
//! found here: the only one, or the one with `#[relationship]`; all others are filled by `Default`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Data, DeriveInput, Error, Field, Member, Meta, Result, Token, Type, Visibility, WhereClause,
};

use crate::attr::{ComponentAttr, Track};
use crate::column::{RowAccess, id_of, quiet};
use crate::target::Target;
use crate::{capture, component, save};

/// The half of a relation that a component is.
pub struct Relation {
    half: Half,
    /// The field with the target or the list, and its type.
    field: Member,
    ty: Type,
    others: Vec<Member>,
}

enum Half {
    Source {
        target: Type,
        cyclic: bool,
        allow_self: bool,
    },
    Target {
        relationship: Type,
        linked: bool,
    },
    /// One end of the edges of a relation of many to many; the library's own. The end that has the values, or the other.
    Edges {
        links: bool,
    },
}

impl Relation {
    /// What the attributes say, if they say anything.
    pub fn parse(input: &DeriveInput) -> Result<Option<Self>> {
        if let Some(words) = words(input)?.filter(|words| words.iter().any(|word| word == "edges")) {
            let (field, ty) = (Member::Named(input.ident.clone()), Type::Verbatim(TokenStream::new()));
            let half = Half::Edges { links: words.iter().any(|word| word == "links") };
            return Ok(Some(Self { half, field, ty, others: Vec::new() }));
        }
        let source = Keys::parse(
            &input.attrs,
            "relationship",
            "relationship_target",
            &["cyclic", "allow_self_referential"],
        )?;
        let target = Keys::parse(&input.attrs, "relationship_target", "relationship", &["linked_spawn"])?;
        let half = match (source, target) {
            (None, None) => return Ok(None),
            (Some(_), Some(keys)) => {
                let message =
                    "a component is one half of a relation: `relationship` or `relationship_target`";
                return Err(Error::new(keys.name.span(), message));
            }
            (Some(keys), None) => Half::Source {
                cyclic: keys.has("cyclic"),
                allow_self: keys.has("allow_self_referential"),
                target: keys.other,
            },
            (None, Some(keys)) => Half::Target { linked: keys.has("linked_spawn"), relationship: keys.other },
        };
        let Data::Struct(data) = &input.data else {
            return Err(Error::new(input.ident.span(), "half of a relation must be a struct"));
        };
        let members: Vec<(Member, &Field)> = data.fields.members().zip(&data.fields).collect();
        let marked = |(_, field): &&(Member, &Field)| {
            field.attrs.iter().any(|attr| attr.path().is_ident("relationship"))
        };
        let chosen = match members.as_slice() {
            [only] => only,
            all => all.iter().find(marked).ok_or_else(|| {
                let message = "mark the field that holds the target or the list with `#[relationship]`";
                Error::new(input.ident.span(), message)
            })?,
        };
        if let (Half::Target { .. }, Visibility::Public(vis)) = (&half, &chosen.1.vis) {
            let message = "the list of a relation must be private: only the world changes it";
            return Err(Error::new(vis.span, message));
        }
        let others = members.iter().map(|(member, _)| member).filter(|&member| *member != chosen.0);
        Ok(Some(Self {
            half,
            field: chosen.0.clone(),
            ty: chosen.1.ty.clone(),
            others: others.cloned().collect(),
        }))
    }

    /// What exclusive access to the component is.
    pub fn row_access(&self) -> RowAccess {
        match self.half {
            Half::Source { .. } => RowAccess::Shared,
            Half::Target { .. } | Half::Edges { .. } => RowAccess::Order,
        }
    }

    /// Whether the component may have hooks of its own.
    pub fn allows_hooks(&self) -> bool {
        matches!(self.half, Half::Edges { .. })
    }

    /// A statement that tells a world of the relation, and adds to its hooks.
    pub fn describe(&self, target: &Target) -> TokenStream {
        let p = &target.private;
        match self.half {
            Half::Edges { links } => {
                let edge = target.generics.type_params().map(|param| &param.ident);
                let describe =
                    format_ident!("{}", if links { "describe_links" } else { "describe_linked_by" });
                quote!(#p::#describe::<#(#edge),*>(__descriptor);)
            }
            Half::Source { .. } => {
                quote!(#p::describe_relationship::<Self>(__descriptor, &mut __hooks);)
            }
            Half::Target { .. } => {
                quote!(#p::describe_relationship_target::<Self>(__descriptor, &mut __hooks);)
            }
        }
    }

    /// What gives the target of the component to a bundle.
    pub fn link_target(&self, target: &Target) -> TokenStream {
        let p = &target.private;
        let field = &self.field;
        match self.half {
            Half::Target { .. } | Half::Edges { .. } => TokenStream::new(),
            Half::Source { .. } => quote! {
                #[inline]
                fn link_target(&self) -> ::core::option::Option<#p::Entity> {
                    ::core::option::Option::Some(self.#field)
                }
            },
        }
    }

    /// What says which part of a value is saved when some entities are not.
    pub fn rest(&self, target: &Target, row: &TokenStream) -> Option<TokenStream> {
        let p = &target.private;
        let of = match self.half {
            Half::Edges { .. } => return None,
            Half::Source { .. } => quote!(rest_of_link),
            Half::Target { .. } => quote!(rest_of_list),
        };
        Some(quote! {
            const IN_RELATION: ::core::primitive::bool = true;
            fn rest(
                #row,
                __is_saved: &dyn ::core::ops::Fn(#p::Entity) -> ::core::primitive::bool,
            ) -> #p::Rest<Self> {
                #p::#of(__row, __is_saved)
            }
        })
    }

    /// The implementation of `Relationship` or `RelationshipTarget`.
    pub fn emit(&self, target: &Target, track: Track, bounds: Option<&WhereClause>) -> TokenStream {
        let p = &target.private;
        let owner = target.path();
        let (params, _, _) = target.generics.split_for_impl();
        let (field, ty, quiet) = (&self.field, &self.ty, quiet());
        let id = id_of(p, &quote!(Self), track);
        let changed = match track {
            Track::Row => quote!(::core::option::Option::Some(<Self as #p::RowTracked>::changed_id())),
            Track::Block | Track::None => quote!(::core::option::Option::None),
        };
        // Without ticks of blocks there are none to be written.
        let columns = match track {
            Track::None => quote!(::core::option::Option::None),
            Track::Block | Track::Row => quote!(::core::option::Option::Some((#id, #changed))),
        };
        let others: TokenStream =
            self.others.iter().map(|other| quote!(#other: ::core::default::Default::default(),)).collect();
        match &self.half {
            Half::Edges { .. } => TokenStream::new(),
            Half::Source { target, cyclic, allow_self } => {
                let allow_self = *allow_self;
                quote! {
                    #quiet
                    impl #params #p::Relationship for #owner #bounds {
                        type RelationshipTarget = #target;
                        const ALLOW_SELF_REFERENTIAL: bool = #allow_self;
                        const CYCLIC: bool = #cyclic;
                        #[inline]
                        fn get(&self) -> #p::Entity {
                            self.#field
                        }
                        #[inline]
                        fn from(__entity: #p::Entity) -> Self {
                            Self { #field: __entity, #others }
                        }
                        #[inline]
                        fn set_risky(&mut self, __entity: #p::Entity) {
                            self.#field = __entity;
                        }
                        #[inline]
                        fn column() -> ::core::option::Option<#p::ColId<Self>> {
                            ::core::option::Option::Some(#id)
                        }
                    }
                }
            }
            Half::Target { relationship, linked } => quote! {
                #quiet
                impl #params #p::RelationshipTarget for #owner #bounds {
                    const LINKED_SPAWN: bool = #linked;
                    type Relationship = #relationship;
                    type Collection = #ty;
                    #[inline]
                    fn collection(&self) -> &#ty {
                        &self.#field
                    }
                    #[inline]
                    fn collection_mut_risky(&mut self) -> &mut #ty {
                        &mut self.#field
                    }
                    #[inline]
                    fn from_collection_risky(__collection: #ty) -> Self {
                        Self { #field: __collection, #others }
                    }
                    #[inline]
                    fn columns() -> ::core::option::Option<#p::ListColumns<Self>> {
                        #columns
                    }
                }
            },
        }
    }
}

/// `other = Type` and flags, in one attribute.
struct Keys {
    name: Ident,
    other: Type,
    flags: Vec<Ident>,
}

impl Keys {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|known| known == flag)
    }

    fn parse(attrs: &[Attribute], name: &str, key: &str, flags: &[&str]) -> Result<Option<Self>> {
        let Some(attr) = attrs.iter().find(|attr| attr.path().is_ident(name)) else { return Ok(None) };
        let usage = || Error::new_spanned(&attr.meta, format!("expected `#[{name}({key} = Type)]`"));
        let Meta::List(list) = &attr.meta else { return Err(usage()) };
        let (mut other, mut given) = (None, Vec::new());
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                let word: Ident = input.parse()?;
                if word == key {
                    input.parse::<Token![=]>()?;
                    other = Some(input.parse()?);
                } else if flags.iter().any(|flag| word == flag) {
                    given.push(word);
                } else {
                    let known = flags.iter().map(|flag| format!("`{flag}`")).collect::<Vec<_>>().join(", ");
                    let message = format!("unknown key `{word}`; expected `{key}`, {known}");
                    return Err(Error::new(word.span(), message));
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        parser.parse2(list.tokens.clone())?;
        let name = attr.path().get_ident().ok_or_else(usage)?.clone();
        Ok(Some(Self { name, other: other.ok_or_else(usage)?, flags: given }))
    }
}

/// The words of `#[relationship(..)]`, where it has nothing but words.
fn words(input: &DeriveInput) -> Result<Option<Vec<Ident>>> {
    let Some(attr) = input.attrs.iter().find(|attr| attr.path().is_ident("relationship")) else {
        return Ok(None);
    };
    let Meta::List(list) = &attr.meta else { return Ok(None) };
    let parser = syn::punctuated::Punctuated::<Ident, Token![,]>::parse_terminated;
    Ok(parser.parse2(list.tokens.clone()).ok().map(|words| words.into_iter().collect()))
}

/// `#[relationship(many)]`: the value of an edge. `None` for all other components.
pub fn many(input: &DeriveInput) -> Result<Option<TokenStream>> {
    let Some(words) = words(input)? else { return Ok(None) };
    if !words.iter().any(|word| word == "many") {
        return Ok(None);
    }
    let known = ["many", "exclusive", "symmetric"];
    if let Some(word) = words.iter().find(|word| !known.iter().any(|known| word == known)) {
        let message = format!("unknown key `{word}`; expected `many`, `exclusive`, `symmetric`");
        return Err(Error::new(word.span(), message));
    }
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "the value of an edge must be a struct"));
    };
    let members: Vec<(Member, &Field)> = data.fields.members().zip(&data.fields).collect();
    let is_target =
        |(_, field): &&(Member, &Field)| field.attrs.iter().any(|attr| attr.path().is_ident("target"));
    let chosen = match members.as_slice() {
        [only] => only,
        all => all.iter().find(is_target).ok_or_else(|| {
            Error::new(input.ident.span(), "mark the field with the other entity with `#[target]`")
        })?,
    };
    let attr = ComponentAttr::of_edge(input)?;
    let target = Target::new(input, &attr.krate, "an edge")?;
    let (p, owner, field, quiet) = (&target.private, target.path(), &chosen.0, quiet());
    let (params, _, _) = target.generics.split_for_impl();
    let bounds = save::extend(&target, target.generics.where_clause.clone(), attr.save.is_some());
    let (name, capture) = (component::name(&target, &attr), capture::whole(input, &target, &attr.capture)?);
    let saving = attr.save.map(|version| {
        quote! {
            #p::if_saving! {
                fn saving() -> ::core::option::Option<#p::EdgeSaving> {
                    ::core::option::Option::Some(#p::edge_saving::<Self>(#version))
                }
            }
        }
    });
    let save = attr.save.map(|_| save::implementation(&target, bounds.as_ref(), None, "edges"));
    let [exclusive, symmetric] = ["exclusive", "symmetric"].map(|key| words.iter().any(|word| word == key));
    Ok(Some(quote! {
        #quiet
        impl #params #p::ManyRelationship for #owner #bounds {
            const EXCLUSIVE: bool = #exclusive;
            const SYMMETRIC: bool = #symmetric;
            #[inline]
            fn target(&self) -> #p::Entity {
                self.#field
            }
            #[inline]
            fn set_target(&mut self, __entity: #p::Entity) {
                self.#field = __entity;
            }
            fn name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                ::core::convert::Into::into(#name)
            }
            fn capture() -> #p::Capture<Self> {
                #capture
            }
            #saving
        }
        #save
    }))
}
