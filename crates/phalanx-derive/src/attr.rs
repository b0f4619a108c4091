//! What stands in the attributes: `#[component(..)]`, `#[bundle(..)]`, `#[query_data(..)]` and the others.
//!
//! All of them are lists of `key = "value"`, some with a number for a value, some with a flag, which is a key alone. A
//! key that is unknown or given twice, and a value outside its choices, is an error at that key or value which says
//! what is allowed.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprPath, Field, LitInt, LitStr, Meta, Path, Result, Token,
};

use crate::relation::Relation;

/// How a component or a message is laid out, as far as the attribute can say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Whole,
    Soa,
}

/// How precisely writes are remembered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Track {
    None,
    Block,
    Row,
}

/// A value with the place where it was written.
pub struct At<T> {
    pub value: T,
    pub span: Span,
}

/// The content of all `#[component(..)]` on a type.
pub struct ComponentAttr {
    /// Whether values live in a sparse set.
    pub sparse: bool,
    /// Whether rows of that set stay where they are when others go.
    pub stable: bool,
    /// Whether values are replaced, and never written in place.
    pub immutable: bool,
    pub name: Option<LitStr>,
    pub layout: Option<At<Layout>>,
    pub track: Option<At<Track>>,
    pub fields: Option<Ident>,
    /// The hooks, by key.
    pub hooks: Vec<(Ident, Expr)>,
    pub capture: CaptureAttr,
    /// The version, if values are saved.
    pub save: Option<u32>,
    pub krate: Path,
    /// The half of a relation that the component is.
    pub relation: Option<Relation>,
    /// The functions that copy values, and map the entities they hold.
    pub copying: TokenStream,
}

impl ComponentAttr {
    /// What stands beside the derive, with what follows from being half of a relation.
    pub fn of(input: &DeriveInput) -> Result<Self> {
        let mut attr = Self::parse(&input.attrs)?;
        attr.relation = Relation::parse(input)?;
        if let Some(relation) = &attr.relation {
            let layout = attr.layout.as_ref().filter(|layout| layout.value == Layout::Soa);
            if let Some(layout) = layout {
                let message = "half of a relation is kept as whole values";
                return Err(Error::new(layout.span, message));
            }
            let taken = attr.hooks.iter().find(|(key, _)| key == "on_insert" || key == "on_discard");
            if let Some((key, _)) = taken.filter(|_| !relation.allows_hooks()) {
                let message = format!("the relation itself needs `{key}`: use an observer");
                return Err(Error::new(key.span(), message));
            }
            attr.sparse = true;
        }
        Ok(attr)
    }

    /// What stands beside the derive of the value of an edge, which is no component by itself: its name, whether it is
    /// saved, and its digest.
    pub fn of_edge(input: &DeriveInput) -> Result<Self> {
        Self::parse(&input.attrs)
    }

    fn parse(attrs: &[Attribute]) -> Result<Self> {
        let own =
            ["name", "layout", "track", "fields", "storage", "version", "checkpoint", "digest", "crate"];
        let keys = [&own, HOOKS].concat();
        let pairs = Pairs::parse_with_flags(attrs, "component", &["stable", "immutable", "save"], &keys)?;
        let storage = pairs.choice(
            "storage",
            &[("table", false), ("sparse", true), ("Table", false), ("SparseSet", true)],
        )?;
        let sparse = storage.is_some_and(|storage| storage.value);
        if let (Some(stable), false) = (pairs.flag("stable"), sparse) {
            let message = "`stable` needs `storage = \"sparse\"`: in tables, rows move";
            return Err(Error::new(stable.span(), message));
        }
        let layout = pairs.layout()?;
        let soa = layout.as_ref().is_some_and(|layout| layout.value == Layout::Soa);
        if let (Some(immutable), true) = (pairs.flag("immutable"), soa) {
            let message = "`immutable` is for whole values: fields are columns to be written";
            return Err(Error::new(immutable.span(), message));
        }
        Ok(Self {
            sparse,
            stable: pairs.has("stable"),
            immutable: pairs.has("immutable"),
            name: pairs.get("name").map(|name| not_empty(name, "name")).transpose()?.cloned(),
            layout,
            track: pairs
                .choice("track", &[("none", Track::None), ("block", Track::Block), ("row", Track::Row)])?,
            fields: pairs.get("fields").map(identifier).transpose()?,
            hooks: pairs.hooks(),
            capture: CaptureAttr::read(&pairs)?,
            save: pairs.save()?,
            krate: pairs.krate()?,
            relation: None,
            copying: TokenStream::new(),
        })
    }
}

/// How values come into a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CheckpointAttr {
    /// As the type can.
    Asked,
    /// As the default value.
    Default,
    /// Not at all.
    Skip,
}

type Choices<T> = &'static [(&'static str, T)];

impl CheckpointAttr {
    const CHOICES: Choices<Self> = &[("default", Self::Default), ("skip", Self::Skip)];
}

/// How a value comes into a digest.
#[derive(Clone)]
pub enum DigestAttr {
    /// As the type can.
    Asked,
    Skip,
    Hash,
    Debug,
    With(Path),
}

impl DigestAttr {
    /// What `#[digest(..)]` on a field says.
    pub fn parse(attrs: &[Attribute]) -> Result<Self> {
        let flags = ["skip", "hash", "debug"];
        let pairs = Pairs::parse_with_flags(attrs, "digest", &flags, &["with"])?;
        match pairs.0.as_slice() {
            [] => Ok(Self::Asked),
            [(_, Given::Text(path))] => Ok(Self::With(crate::capture::path(path)?)),
            [(flag, _)] if flag == "skip" => Ok(Self::Skip),
            [(flag, _)] if flag == "hash" => Ok(Self::Hash),
            [_] => Ok(Self::Debug),
            [_, (second, _), ..] => Err(Error::new(second.span(), "a field has one way to be hashed")),
        }
    }
}

/// What an attribute of a type says of checkpoints and digests.
pub struct CaptureAttr {
    pub checkpoint: CheckpointAttr,
    /// `None` where values are hashed field by field.
    pub digest: Option<DigestAttr>,
}

impl CaptureAttr {
    fn read(pairs: &Pairs) -> Result<Self> {
        let digests = [("fields", 0), ("skip", 1), ("hash", 2), ("debug", 3)];
        let digest = match pairs.choice("digest", &digests)?.map(|digest| digest.value) {
            Some(1) => Some(DigestAttr::Skip),
            Some(2) => Some(DigestAttr::Hash),
            Some(3) => Some(DigestAttr::Debug),
            _ => None,
        };
        let checkpoint = pairs.choice("checkpoint", CheckpointAttr::CHOICES)?;
        let checkpoint = checkpoint.map_or(CheckpointAttr::Asked, |checkpoint| checkpoint.value);
        Ok(Self { checkpoint, digest })
    }
}

/// The content of all `#[resource(..)]` on a type.
pub struct ResourceAttr {
    pub name: Option<LitStr>,
    /// The version, if the value is saved.
    pub save: Option<u32>,
    /// For resources of the library: the function that says how the value is saved.
    pub saving: Option<ExprPath>,
    /// For resources of the library: the function that says how a program gets one.
    pub added: Option<ExprPath>,
    pub capture: CaptureAttr,
    pub krate: Path,
}

impl ResourceAttr {
    pub fn parse(attrs: &[Attribute]) -> Result<Self> {
        let keys = ["name", "version", "checkpoint", "digest", "crate", "saving", "added"];
        let pairs = Pairs::parse_with_flags(attrs, "resource", &["save"], &keys)?;
        let capture = CaptureAttr::read(&pairs)?;
        let saving = pairs.get("saving").map(LitStr::parse).transpose()?;
        let added = pairs.get("added").map(LitStr::parse).transpose()?;
        let (name, save, krate) = (pairs.saved_name()?, pairs.save()?, pairs.krate()?);
        Ok(Self { name, save, saving, added, capture, krate })
    }
}

/// The content of all `#[states(..)]` on a type.
pub struct StatesAttr {
    pub name: Option<LitStr>,
    /// The version, if the state is saved.
    pub save: Option<u32>,
    pub krate: Path,
}

impl StatesAttr {
    pub fn parse(attrs: &[Attribute]) -> Result<Self> {
        let pairs = Pairs::parse_with_flags(attrs, "states", &["save"], &["name", "version", "crate"])?;
        Ok(Self { name: pairs.saved_name()?, save: pairs.save()?, krate: pairs.krate()? })
    }
}

/// The path in `#[digest(crate = "path")]` on a type.
pub fn crate_of_digest(attrs: &[Attribute]) -> Result<Path> {
    only_crate(attrs, "digest")
}

/// The path in `#[<attribute>(crate = "path")]`, for attributes with no other key.
pub fn only_crate(attrs: &[Attribute], attribute: &str) -> Result<Path> {
    Pairs::parse(attrs, attribute, &["crate"])?.krate()
}

/// The content of all `#[message(..)]` on a type.
pub struct MessageAttr {
    pub name: Option<LitStr>,
    /// The version, if messages are saved.
    pub save: Option<u32>,
    pub layout: Option<At<Layout>>,
    pub capture: CaptureAttr,
    pub krate: Path,
}

impl MessageAttr {
    pub fn parse(attrs: &[Attribute]) -> Result<Self> {
        let keys = ["name", "layout", "version", "checkpoint", "digest", "crate"];
        let pairs = Pairs::parse_with_flags(attrs, "message", &["save"], &keys)?;
        let capture = CaptureAttr::read(&pairs)?;
        let (name, save) = (pairs.saved_name()?, pairs.save()?);
        Ok(Self { name, save, layout: pairs.layout()?, capture, krate: pairs.krate()? })
    }
}

/// The content of all `#[query_data(..)]` on a struct.
pub struct QueryDataAttr {
    /// Whether fields may write.
    pub is_mutable: bool,
    pub krate: Path,
}

impl QueryDataAttr {
    pub fn parse(attrs: &[Attribute]) -> Result<Self> {
        let pairs = Pairs::parse_with_flags(attrs, "query_data", &["mutable"], &["crate"])?;
        Ok(Self { is_mutable: pairs.has("mutable"), krate: pairs.krate()? })
    }
}

/// The content of all `#[pool(..)]` on a struct.
pub struct PoolAttr {
    /// Whether archetypes keep pointers to column headers, rather than the headers.
    pub boxed: bool,
    pub name: Option<LitStr>,
    /// The rows to reserve.
    pub capacity: usize,
    pub krate: Path,
}

impl PoolAttr {
    pub fn parse(attrs: &[Attribute]) -> Result<Self> {
        let pairs = Pairs::parse(attrs, "pool", &["storage", "name", "capacity", "crate"])?;
        let boxed = pairs.choice("storage", &[("inline", false), ("boxed", true)])?;
        Ok(Self {
            boxed: boxed.is_some_and(|boxed| boxed.value),
            name: pairs.get("name").map(|name| not_empty(name, "name")).transpose()?.cloned(),
            capacity: pairs.number("capacity").map_or(Ok(0), LitInt::base10_parse)?,
            krate: pairs.krate()?,
        })
    }
}

/// Refuses `names` on fields and variants, where they would say nothing.
pub fn refuse_inside(data: &Data, names: &[&str]) -> Result<()> {
    let refuse = |attrs: &[Attribute]| match attrs.iter().find(|a| names.iter().any(|n| a.path().is_ident(n)))
    {
        Some(attr) => Err(Error::new_spanned(
            &attr.meta,
            "this attribute belongs on the type, before `struct` or `enum`",
        )),
        None => Ok(()),
    };
    let refuse_field = |field: &Field| refuse(&field.attrs);
    match data {
        Data::Struct(data) => data.fields.iter().try_for_each(refuse_field),
        Data::Enum(data) => data.variants.iter().try_for_each(|variant| {
            refuse(&variant.attrs)?;
            variant.fields.iter().try_for_each(refuse_field)
        }),
        Data::Union(data) => data.fields.named.iter().try_for_each(refuse_field),
    }
}

/// Keys whose value is a number.
const NUMBERS: &[&str] = &["capacity", "version"];

/// Keys whose value is a function; the key alone stands for the associated function of that name.
const HOOKS: &[&str] = &["on_add", "on_insert", "on_discard", "on_remove", "on_despawn"];

/// What stands behind a key.
enum Given {
    Text(LitStr),
    Number(LitInt),
    Function(Expr),
    /// The key is a flag.
    Nothing,
}

/// The keys of one attribute with their values, which may be written in several pieces.
struct Pairs(Vec<(Ident, Given)>);

impl Pairs {
    fn parse(attrs: &[Attribute], attribute: &str, keys: &[&str]) -> Result<Self> {
        Self::parse_with_flags(attrs, attribute, &[], keys)
    }

    fn parse_with_flags(attrs: &[Attribute], attribute: &str, flags: &[&str], keys: &[&str]) -> Result<Self> {
        let mut pairs = Self(Vec::new());
        for attr in attrs.iter().filter(|attr| attr.path().is_ident(attribute)) {
            let Meta::List(list) = &attr.meta else {
                // Where several keys have values, flags are the exception.
                let form = flags.first().copied().filter(|_| keys.len() < 2).unwrap_or("key = \"value\"");
                let known = listed(&[flags, keys].concat(), "and");
                let message = format!("expected `#[{attribute}({form})]` with {known}");
                return Err(Error::new_spanned(&attr.meta, message));
            };
            let parser = |input: ParseStream<'_>| pairs.read(input, flags, keys);
            parser.parse2(list.tokens.clone())?;
        }
        Ok(pairs)
    }

    fn read(&mut self, input: ParseStream<'_>, flags: &[&str], keys: &[&str]) -> Result<()> {
        while !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            let is_flag = flags.iter().any(|known| key == known);
            if !is_flag && !keys.iter().any(|known| key == known) {
                let known = listed(&[flags, keys].concat(), "or");
                return Err(Error::new(key.span(), format!("unknown key `{key}`; expected {known}")));
            }
            if self.has(&key.to_string()) {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
            let is_hook = HOOKS.iter().any(|known| key == known);
            let value = match input.peek(Token![=]) {
                true if is_flag => {
                    return Err(Error::new(key.span(), format!("`{key}` stands alone: it has no value")));
                }
                false if is_hook => Given::Function(syn::parse_quote!(Self::#key)),
                false if !is_flag => {
                    let value = if NUMBERS.iter().any(|known| key == known) { "1024" } else { "\"value\"" };
                    return Err(Error::new(key.span(), format!("expected `{key} = {value}`")));
                }
                true => {
                    input.parse::<Token![=]>()?;
                    if is_hook {
                        Given::Function(crate::require::expression(input)?)
                    } else if NUMBERS.iter().any(|known| key == known) {
                        Given::Number(input.parse()?)
                    } else {
                        Given::Text(input.parse()?)
                    }
                }
                false => Given::Nothing,
            };
            self.0.push((key, value));
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    fn has(&self, key: &str) -> bool {
        self.flag(key).is_some()
    }

    /// Where a key stands.
    fn flag(&self, key: &str) -> Option<&Ident> {
        self.0.iter().map(|(known, _)| known).find(|known| *known == key)
    }

    fn get(&self, key: &str) -> Option<&LitStr> {
        self.0.iter().find(|(known, _)| known == key).and_then(|(_, value)| match value {
            Given::Text(text) => Some(text),
            _ => None,
        })
    }

    fn number(&self, key: &str) -> Option<&LitInt> {
        self.0.iter().find(|(known, _)| known == key).and_then(|(_, value)| match value {
            Given::Number(number) => Some(number),
            _ => None,
        })
    }

    fn hooks(&self) -> Vec<(Ident, Expr)> {
        let function = |(key, value): &(Ident, Given)| match value {
            Given::Function(function) => Some((key.clone(), function.clone())),
            _ => None,
        };
        self.0.iter().filter_map(function).collect()
    }

    /// The version of a type that is saved: 1 unless given.
    fn save(&self) -> Result<Option<u32>> {
        let version = self.number("version");
        match (self.flag("save"), version) {
            (None, None) => Ok(None),
            (None, Some(version)) => {
                Err(Error::new(version.span(), "`version` needs `save`: only saves tell versions"))
            }
            (Some(_), None) => Ok(Some(1)),
            (Some(_), Some(version)) => match version.base10_parse()? {
                0 => Err(Error::new(version.span(), "versions begin with 1")),
                number => Ok(Some(number)),
            },
        }
    }

    /// The name in saves of a type that has no name elsewhere.
    fn saved_name(&self) -> Result<Option<LitStr>> {
        let name = self.get("name").map(|name| not_empty(name, "name")).transpose()?;
        match (name, self.flag("save")) {
            (Some(name), None) => Err(Error::new(name.span(), "`name` needs `save`: only saves have names")),
            (name, _) => Ok(name.cloned()),
        }
    }

    fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<Option<At<T>>> {
        self.get(key).map(|text| Ok(At { value: choice(text, key, choices)?, span: text.span() })).transpose()
    }

    fn layout(&self) -> Result<Option<At<Layout>>> {
        self.choice("layout", &[("soa", Layout::Soa), ("whole", Layout::Whole)])
    }

    fn krate(&self) -> Result<Path> {
        match self.get("crate") {
            Some(text) => text.parse_with(Path::parse_mod_style).map_err(|_| {
                Error::new(text.span(), "`crate` must be a path, such as \"::phalanx\" or \"crate::ecs\"")
            }),
            None => Ok(syn::parse_quote!(::phalanx)),
        }
    }
}

fn choice<T: Copy>(text: &LitStr, key: &str, choices: &[(&str, T)]) -> Result<T> {
    let value = text.value();
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Error::new(text.span(), format!("`{key}` cannot be \"{value}\"; expected {}", listed(&names, "or")))
    })
}

fn not_empty<'a>(text: &'a LitStr, key: &str) -> Result<&'a LitStr> {
    if text.value().is_empty() {
        return Err(Error::new(text.span(), format!("`{key}` cannot be empty")));
    }
    Ok(text)
}

fn identifier(text: &LitStr) -> Result<Ident> {
    text.parse()
        .map_err(|_| Error::new(text.span(), "`fields` must be the name of a module, such as \"pos\""))
}

/// `` `a`, `b` or `c` ``
fn listed(names: &[&str], conjunction: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} {conjunction} {last}", most.join(", ")),
    }
}
