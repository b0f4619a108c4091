//! Names that are made from names.
//!
//! `Position` has the module `position`, `Position2D` has `position2d`, `HTTPServer` has `http_server`.
//! A module that would hide a primitive type, or that no identifier can name, is an error which asks for
//! another name.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::{Error, Result};

/// Names in the type namespace that a module would hide in the user's scope.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// Keywords that cannot be written as raw identifiers.
const NEVER_IDENTIFIERS: [&str; 3] = ["crate", "self", "super"];

/// The module of field markers of the struct `name`.
pub fn module(name: &Ident) -> Result<Ident> {
    let text = snake_case(&name.unraw().to_string());
    if is_primitive(&text) || NEVER_IDENTIFIERS.contains(&text.as_str()) {
        let message = format!(
            "the fields of `{name}` would be in a module `{text}`, which is a name of the language; \
             choose another with `fields = \"..\"`"
        );
        return Err(Error::new(name.span(), message));
    }
    Ok(identifier(&text, name.span()))
}

/// Whether `text` is a primitive type, unless something else took its name.
pub fn is_primitive(text: &str) -> bool {
    PRIMITIVES.contains(&text)
}

/// An identifier, raw where `text` is a keyword.
fn identifier(text: &str, span: Span) -> Ident {
    match syn::parse_str::<Ident>(text) {
        Ok(_) => Ident::new(text, span),
        Err(_) => Ident::new_raw(text, span),
    }
}

fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (i, &letter) in letters.iter().enumerate() {
        if letter.is_uppercase() && i > 0 {
            let before = letters[i - 1];
            let next_is_lower = letters.get(i + 1).is_some_and(|next| next.is_lowercase());
            if before.is_lowercase() || (before != '_' && next_is_lower) {
                snake.push('_');
            }
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_capitals() {
        for (camel, snake) in [
            ("Position", "position"),
            ("MaxHealth", "max_health"),
            ("Position2D", "position2d"),
            ("Vec3Array", "vec3_array"),
            ("HTTPServer", "http_server"),
            ("Snake_Case", "snake_case"),
            ("already_snake", "already_snake"),
            ("A", "a"),
        ] {
            assert_eq!(snake_case(camel), snake);
        }
    }

    #[test]
    fn keywords_become_raw_and_names_of_the_language_are_refused() {
        let ident = |text| Ident::new(text, Span::call_site());
        assert_eq!(module(&ident("Type")).unwrap().to_string(), "r#type");
        assert_eq!(module(&ident("Gen")).unwrap().to_string().trim_start_matches("r#"), "gen");
        assert!(module(&ident("Crate")).is_err());
        assert!(module(&ident("Str")).is_err());
    }
}
