//! Queries as text: `Position, !Frozen, Health.hp < 10`.
//!
//! The grammar stands in [`protocol`](crate::protocol). A text is taken apart into terms first, which know nothing of a
//! world; names are looked up afterwards. Errors say what was expected, and where.

use crate::json::Json;

/// One of the terms of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// Has one of these components; several where they were separated by `|`.
    Any(Vec<String>),
    /// Lacks the component.
    Not(String),
    /// A field compares with a value.
    Compare { component: String, field: String, op: Op, value: Literal },
    /// The entity's name contains this.
    Named(String),
    /// This entity, as it was written.
    Entity(String),
}

/// How a field compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Contains,
}

/// What a field is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    Value(Json),
    Entity(String),
}

const OPS: &[(&str, Op)] = &[
    ("<=", Op::LessEqual),
    (">=", Op::GreaterEqual),
    ("==", Op::Equal),
    ("!=", Op::NotEqual),
    ("<", Op::Less),
    (">", Op::Greater),
    ("=", Op::Equal),
    ("~", Op::Contains),
];

/// Reads a query. An empty one asks for nothing.
///
/// # Errors
/// Says what was expected, and where.
pub fn parse(text: &str) -> Result<Vec<Term>, String> {
    let mut parser = Parser { text, at: 0 };
    let mut terms = Vec::new();
    parser.space();
    if parser.rest().is_empty() {
        return Ok(terms);
    }
    loop {
        terms.push(parser.term()?);
        parser.space();
        if parser.rest().is_empty() {
            return Ok(terms);
        }
        if !parser.take(",") {
            return Err(parser.wrong("`,` or the end"));
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, word: &str) -> bool {
        let taken = self.rest().starts_with(word);
        self.at += if taken { word.len() } else { 0 };
        taken
    }

    fn wrong(&self, expected: &str) -> String {
        let place = self.text[..self.at].chars().count() + 1;
        match self.rest().chars().next() {
            Some(found) => format!("expected {expected} at character {place}, found `{found}`"),
            None => format!("expected {expected} at the end of the query"),
        }
    }

    fn term(&mut self) -> Result<Term, String> {
        self.space();
        if self.take("!") {
            self.space();
            return self.name().map(Term::Not);
        }
        if self.rest().starts_with('"') {
            return self.quoted().map(Term::Named);
        }
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return self.entity().map(Term::Entity);
        }
        let component = self.name()?;
        if self.take(".") {
            let field = self.field()?;
            self.space();
            let Some(&(word, op)) = OPS.iter().find(|(word, _)| self.rest().starts_with(word)) else {
                return Err(self.wrong("a comparison (< <= > >= = != ~)"));
            };
            self.at += word.len();
            let value = self.literal()?;
            return Ok(Term::Compare { component, field, op, value });
        }
        let mut any = vec![component];
        loop {
            self.space();
            if !self.take("|") {
                return Ok(Term::Any(any));
            }
            self.space();
            any.push(self.name()?);
        }
    }

    /// The name of a component: letters, digits, `_`, `::`, and whatever stands in balanced `<>`.
    fn name(&mut self) -> Result<String, String> {
        let (mut depth, mut end) = (0_usize, self.rest().len());
        for (at, c) in self.rest().char_indices() {
            match c {
                '<' if at > 0 && self.generic_at(at) => depth += 1,
                '>' if depth > 0 => depth -= 1,
                _ if depth > 0 || c.is_alphanumeric() || c == '_' || c == ':' => {}
                _ => {
                    end = at;
                    break;
                }
            }
        }
        let name = &self.rest()[..end];
        if name.is_empty() || name.starts_with(|c: char| c.is_numeric() || c == ':') {
            return Err(self.wrong("the name of a component"));
        }
        if depth > 0 {
            self.at = self.text.len();
            return Err(self.wrong("`>`"));
        }
        self.at += end;
        Ok(name.to_owned())
    }

    /// Whether a `<` right after a name begins parameters, and is no comparison: a component alone is not compared.
    fn generic_at(&self, at: usize) -> bool {
        self.rest()[at + 1..].starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '&' | '(' | '['))
    }

    fn field(&mut self) -> Result<String, String> {
        let end = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        let field = &self.rest()[..end.unwrap_or(self.rest().len())];
        if field.is_empty() || field.ends_with('.') {
            return Err(self.wrong("the name of a field"));
        }
        self.at += field.len();
        Ok(field.to_owned())
    }

    fn entity(&mut self) -> Result<String, String> {
        let end = self.rest().find(|c: char| !c.is_ascii_alphanumeric());
        let word = &self.rest()[..end.unwrap_or(self.rest().len())];
        let parts = word.split_once('v').unwrap_or((word, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(parts.0) || !digits(parts.1) {
            return Err(self.wrong("an entity such as 12v0"));
        }
        self.at += word.len();
        Ok(word.to_owned())
    }

    fn quoted(&mut self) -> Result<String, String> {
        let Some(len) = self.rest()[1..].find('"') else {
            self.at = self.text.len();
            return Err(self.wrong("`\"`"));
        };
        let text = self.rest()[1..=len].to_owned();
        self.at += len + 2;
        Ok(text)
    }

    fn literal(&mut self) -> Result<Literal, String> {
        self.space();
        if self.rest().starts_with('"') {
            return Ok(Literal::Value(Json::Text(self.quoted()?)));
        }
        let end = self.rest().find(|c: char| c == ',' || c.is_whitespace());
        let word = &self.rest()[..end.unwrap_or(self.rest().len())];
        let is_entity = word.split_once('v').is_some_and(|(index, generation)| {
            [index, generation]
                .iter()
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        });
        let literal = match Json::parse(word) {
            Ok(json @ (Json::Int(_) | Json::Number(_) | Json::Bool(_))) => Literal::Value(json),
            _ if is_entity => Literal::Entity(word.to_owned()),
            _ => return Err(self.wrong("a number, true, false, an entity or a \"text\"")),
        };
        self.at += word.len();
        Ok(literal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_taken_apart() {
        let terms = parse(" Position, !Frozen , Health.hp < 10, a::Slot<f32>|Bow, \"orc\", 12v3, T.0 = 4v1 ")
            .expect("well formed");
        let value = Literal::Value(Json::Int(10));
        assert_eq!(terms[0], Term::Any(vec!["Position".to_owned()]));
        assert_eq!(terms[1], Term::Not("Frozen".to_owned()));
        let compare = |component: &str, field: &str, op, value| Term::Compare {
            component: component.to_owned(),
            field: field.to_owned(),
            op,
            value,
        };
        assert_eq!(terms[2], compare("Health", "hp", Op::Less, value));
        assert_eq!(terms[3], Term::Any(vec!["a::Slot<f32>".to_owned(), "Bow".to_owned()]));
        assert_eq!(terms[4], Term::Named("orc".to_owned()));
        assert_eq!(terms[5], Term::Entity("12v3".to_owned()));
        assert_eq!(terms[6], compare("T", "0", Op::Equal, Literal::Entity("4v1".to_owned())));
        assert_eq!(parse("  "), Ok(Vec::new()));
        assert_eq!(
            parse("A.b.0>=-1.5"),
            Ok(vec![compare("A", "b.0", Op::GreaterEqual, Literal::Value(Json::Number(-1.5)))])
        );
    }

    #[test]
    fn errors_say_what_was_expected_and_where() {
        for (text, part) in [
            ("Position,", "the name of a component at the end"),
            ("Position Velocity", "`,` or the end at character 10, found `V`"),
            ("Health.hp", "a comparison"),
            ("Health.hp < ", "a number, true"),
            ("Health.hp < many", "found `m`"),
            ("!", "the name of a component"),
            ("\"orc", "`\"`"),
            ("Health. < 3", "the name of a field"),
            ("12x", "an entity"),
            ("Slot<f32", "`>`"),
            ("ö, $", "at character 4"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
