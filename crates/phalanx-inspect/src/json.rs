//! JSON, as much of it as a small interface needs: a value, a parser that trusts nothing, a writer.
//!
//! Objects keep the order of their keys, which makes answers readable and the same in every run. The parser refuses
//! what is nested deeper than [`DEPTH`]; the size of a text is bounded by its reader. Integers are kept exactly up
//! to 64 bits, since entity ids need all of them.

use std::fmt::{self, Write};

/// How deep arrays and objects may be nested.
const DEPTH: usize = 32;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Number(f64),
    /// A number that was a `f32`: written as short as that allows. The parser makes none.
    Single(f32),
    /// A text.
    Text(String),
    /// `[..]`
    List(Vec<Json>),
    /// `[[..], [..]]`: lists of three in one small piece of memory. The parser makes none.
    Triples(Vec<[Cell; 3]>),
    /// `{..}`
    Object(Vec<(String, Json)>),
}

/// A value in a long list, kept small: what most of them are needs no memory of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// As [`Json::Single`].
    Single(f32),
    /// As [`Json::Number`].
    Number(f64),
    /// As [`Json::Int`].
    Int(i64),
    /// Anything else.
    Other(Box<Json>),
}

impl From<Json> for Cell {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Single(number) => Self::Single(number),
            Json::Number(number) => Self::Number(number),
            Json::Int(number) => {
                i64::try_from(number).map_or_else(|_| Self::Other(Box::new(json)), Self::Int)
            }
            json => Self::Other(Box::new(json)),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Json::Null.fmt(f),
            Self::Bool(value) => Json::Bool(*value).fmt(f),
            Self::Single(number) => Json::Single(*number).fmt(f),
            Self::Number(number) => Json::Number(*number).fmt(f),
            Self::Int(number) => Json::Int((*number).into()).fmt(f),
            Self::Other(json) => json.fmt(f),
        }
    }
}

impl Json {
    /// An object from pairs.
    pub fn object<const N: usize>(pairs: [(&str, Self); N]) -> Self {
        Self::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// A list.
    pub fn list<T: Into<Self>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// The value of a key of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(pairs) => pairs.iter().find(|(known, _)| known == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if it is one that fits.
    pub fn as_usize(&self) -> Option<usize> {
        match self {
            Self::Int(number) => usize::try_from(*number).ok(),
            _ => None,
        }
    }

    /// The pairs of an object.
    pub fn as_object(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// Reads a text that holds one value and nothing else.
    ///
    /// # Errors
    /// Says what is wrong, and at which byte.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        parser.space();
        if parser.at < text.len() {
            return Err(parser.wrong("the end"));
        }
        Ok(value)
    }
}

macro_rules! from {
    ($($type:ty => |$value:ident| $json:expr;)*) => {$(
        impl From<$type> for Json {
            fn from($value: $type) -> Self {
                $json
            }
        }
    )*};
}
from! {
    bool => |value| Self::Bool(value);
    u32 => |value| Self::Int(value.into());
    u64 => |value| Self::Int(value.into());
    usize => |value| Self::Int(value as i128);
    f64 => |value| Self::Number(value);
    &str => |value| Self::Text(value.to_owned());
    String => |value| Self::Text(value);
    &String => |value| Self::Text(value.clone());
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(number) => write!(f, "{number}"),
            // JSON has no word for these.
            Self::Number(number) if !number.is_finite() => write!(f, "\"{number}\""),
            Self::Number(number) => write!(f, "{number}"),
            Self::Single(number) if !number.is_finite() => write!(f, "\"{number}\""),
            Self::Single(number) => write!(f, "{number}"),
            Self::Text(text) => write_text(f, text),
            Self::List(items) => write_list(f, items, |f, item| write!(f, "{item}")),
            Self::Triples(lists) => {
                write_list(f, lists, |f, list| write_list(f, list, |f, item| write!(f, "{item}")))
            }
            Self::Object(pairs) => {
                f.write_char('{')?;
                for (at, (key, value)) in pairs.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    write_text(f, key)?;
                    write!(f, ":{value}")?;
                }
                f.write_char('}')
            }
        }
    }
}

fn write_list<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    mut write: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_char('[')?;
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            f.write_char(',')?;
        }
        write(f, item)?;
    }
    f.write_char(']')
}

/// Writes a text with everything escaped that could end it, or mean something in a page.
fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{7f}' => write!(f, "\\u{:04x}", c as u32)?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn wrong(&self, expected: &str) -> String {
        match self.text[self.at..].chars().next() {
            Some(found) => format!("expected {expected} at byte {}, found {found:?}", self.at),
            None => format!("expected {expected}, found the end of the text"),
        }
    }

    fn space(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.wrong("a value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEPTH {
            return Err(format!("nested deeper than {DEPTH}"));
        }
        self.space();
        match self.peek() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                self.items(b']', |parser| {
                    items.push(parser.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(Json::List(items))
            }
            Some(b'{') => {
                self.at += 1;
                let mut pairs: Vec<(String, Json)> = Vec::new();
                self.items(b'}', |parser| {
                    let key = parser.string()?;
                    parser.space();
                    if !parser.take(b':') {
                        return Err(parser.wrong("`:`"));
                    }
                    let value = parser.value(depth + 1)?;
                    pairs.push((key, value));
                    Ok(())
                })?;
                Ok(Json::Object(pairs))
            }
            _ => Err(self.wrong("a value")),
        }
    }

    fn items(
        &mut self,
        end: u8,
        mut item: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.space();
        if self.take(end) {
            return Ok(());
        }
        loop {
            self.space();
            item(self)?;
            self.space();
            if self.take(end) {
                return Ok(());
            }
            if !self.take(b',') {
                return Err(self.wrong("`,`"));
            }
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let rest = &self.text.as_bytes()[self.at..];
        let len =
            rest.iter().take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9'));
        let text = &self.text[self.at..self.at + len.count()];
        let value = match text.parse::<i128>() {
            Ok(number) if !text.starts_with('+') => Json::Int(number),
            _ => Json::Number(
                text.parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())
                    .ok_or_else(|| self.wrong("a number"))?,
            ),
        };
        self.at += text.len();
        Ok(value)
    }

    fn string(&mut self) -> Result<String, String> {
        if !self.take(b'"') {
            return Err(self.wrong("a text"));
        }
        let mut text = String::new();
        loop {
            let mut chars = self.text[self.at..].chars();
            let Some(c) = chars.next() else { return Err(self.wrong("`\"`")) };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => {
                    self.at += 1;
                    text.push(self.escaped()?);
                }
                c if c < ' ' => return Err(self.wrong("a character that is no control character")),
                c => {
                    text.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let Some(byte) = self.peek() else { return Err(self.wrong("an escape")) };
        let plain = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                let first = self.hex()?;
                if !(0xD800..0xDC00).contains(&first) {
                    return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                // Half of a pair; without the other half it is no character.
                if !self.text[self.at..].starts_with("\\u") {
                    return Ok(char::REPLACEMENT_CHARACTER);
                }
                self.at += 2;
                let second = self.hex()?;
                let joined = 0x10000 + ((first - 0xD800) << 10) + (second.wrapping_sub(0xDC00) & 0x3FF);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            _ => return Err(self.wrong("an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self
            .text
            .as_bytes()
            .get(self.at..self.at + 4)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let text = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let number = text
            .and_then(|text| u32::from_str_radix(text, 16).ok())
            .ok_or_else(|| self.wrong("four hex digits"))?;
        self.at += 4;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let text = r#"{"a":[1,-2.5,true,null,"x\"\\\n"],"b":{"c":18446744073709551615}}"#;
        let value = Json::parse(text).expect("well formed");
        assert_eq!(value.get("b").and_then(|b| b.get("c")), Some(&Json::Int(u64::MAX.into())));
        assert_eq!(Json::parse(&value.to_string()), Ok(value));
    }

    #[test]
    fn triples_are_lists_of_lists() {
        let rows = Json::Triples(vec![
            [Json::Int(1), Json::Null, Json::from("a")].map(Cell::from),
            [Json::Int(u64::MAX.into()), Json::Int(-3), Json::Bool(true)].map(Cell::from),
            [Json::Single(0.1), Json::Number(0.5), Json::Single(f32::NAN)].map(Cell::from),
        ]);
        let text = "[[1,null,\"a\"],[18446744073709551615,-3,true],[0.1,0.5,\"NaN\"]]";
        assert_eq!(rows.to_string(), text);
        assert_eq!(size_of::<Cell>(), 16, "a map of 5,000 points is 240 kB");
        assert_eq!(Json::Triples(Vec::new()).to_string(), "[]");
    }

    #[test]
    fn markup_is_escaped() {
        let text = Json::from("</script><b>&").to_string();
        assert!(!text.contains('<') && !text.contains('>') && !text.contains('&'), "{text}");
        assert_eq!(Json::parse(&text), Ok(Json::from("</script><b>&")));
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "nul",
            "1 2",
            "\"\\x\"",
            "\"\u{1}\"",
            "+1",
            "1e999",
            "\"\\u12\"",
            "-",
        ] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err_and(|error| error.contains("nested")));
        assert_eq!(Json::parse("\"\\ud83d\\ude00\\ud800\""), Ok(Json::from("\u{1f600}\u{fffd}")));
    }

    #[test]
    fn numbers_without_a_word_are_texts() {
        assert_eq!(Json::Number(f64::NAN).to_string(), "\"NaN\"");
        assert_eq!(Json::Single(f32::INFINITY).to_string(), "\"inf\"");
        assert_eq!(Json::Number(0.5).to_string(), "0.5");
        assert_eq!(Json::Single(0.1).to_string(), "0.1", "and not as 0.10000000149011612");
    }
}
