//! Places in a readable save that is read.
//!
//! The save stands in one piece of memory as bytes that say what they hold. A [`Place`] is where a value begins. Errors are
//! told where they lie on the way back, so that nothing is written down about places while all is well.

use serde::de::DeserializeOwned;

use super::super::error::LoadError;
use crate::codec::{CodecError, FromTagged, Reader, Token, read_token, skip_tagged};

/// Where a value begins.
#[derive(Clone, Copy)]
pub(super) struct Place<'d> {
    document: &'d [u8],
    start: usize,
}

fn wrong(error: CodecError) -> LoadError {
    LoadError::invalid("", error)
}

impl<'d> Place<'d> {
    pub(super) fn root(document: &'d [u8]) -> Self {
        Self { document, start: 0 }
    }

    /// Where it is in the document.
    pub(super) fn start(self) -> usize {
        self.start
    }

    fn reader(self) -> Reader<'d> {
        Reader::at(self.document, self.start)
    }

    /// Passes over the value that comes next, and says where it was.
    fn pass(self, reader: &mut Reader<'d>) -> Result<Self, LoadError> {
        let start = reader.position();
        skip_tagged(reader).map_err(wrong)?;
        Ok(Self { start, ..self })
    }

    /// A value of a plain type.
    pub(super) fn plain<T: DeserializeOwned>(self) -> Result<T, LoadError> {
        T::deserialize(FromTagged::new(&mut self.reader(), true)).map_err(wrong)
    }

    /// The number of a name among these.
    pub(super) fn one_of(self, names: &[String]) -> Result<usize, LoadError> {
        let name: String = self.plain()?;
        let at = names.iter().position(|known| *known == name);
        at.ok_or_else(|| LoadError::invalid("", format_args!("`{name}` is not listed above")))
    }

    /// The elements of a list.
    pub(super) fn list<T>(
        self,
        mut each: impl FnMut(Self) -> Result<T, LoadError>,
    ) -> Result<Vec<T>, LoadError> {
        let mut reader = self.reader();
        let count = match read_token(&mut reader).map_err(wrong)? {
            Token::List(count) => count,
            other => {
                let message = format_args!("a list was expected, not {}", other.kind());
                return Err(LoadError::invalid("", message));
            }
        };
        let mut items = Vec::new();
        for at in 0..count {
            let place = self.pass(&mut reader)?;
            items.push(each(place).map_err(|error| error.inside(&format!("[{at}]")))?);
        }
        Ok(items)
    }

    /// The number of entries of a map, and where they begin.
    fn entries(self) -> Result<(usize, Reader<'d>), LoadError> {
        let mut reader = self.reader();
        match read_token(&mut reader).map_err(wrong)? {
            Token::Map(count) => Ok((count, reader)),
            other => {
                let message = format_args!("a map was expected, not {}", other.kind());
                Err(LoadError::invalid("", message))
            }
        }
    }

    /// The next entry of a map; a key that is no text is none that anybody asks for.
    fn entry(self, reader: &mut Reader<'d>) -> Result<(&'d str, Self), LoadError> {
        let mut ahead = reader.clone();
        let key = match read_token(&mut ahead).map_err(wrong)? {
            Token::Text(text) => {
                *reader = ahead;
                text
            }
            _ => {
                skip_tagged(reader).map_err(wrong)?;
                "a key"
            }
        };
        Ok((key, self.pass(reader)?))
    }

    /// The entries of a map.
    pub(super) fn map(self) -> Result<Map<'d>, LoadError> {
        let (count, mut reader) = self.entries()?;
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(self.entry(&mut reader)?);
        }
        Ok(Map { entries })
    }

    /// The two values of a map that has nothing else.
    pub(super) fn fields(self, names: [&str; 2]) -> Result<[Self; 2], LoadError> {
        let (count, mut reader) = self.entries()?;
        let mut found = [None; 2];
        for _ in 0..count {
            let (key, place) = self.entry(&mut reader)?;
            match names.iter().position(|name| *name == key) {
                Some(at) if found[at].is_none() => found[at] = Some(place),
                _ => return Err(unexpected(key)),
            }
        }
        match found {
            [Some(one), Some(other)] => Ok([one, other]),
            [None, _] => Err(missing(names[0])),
            _ => Err(missing(names[1])),
        }
    }

    /// Adds where the values of a map begin to columns with these names, of which it has each once.
    pub(super) fn columns(self, names: &[&str], columns: &mut [Vec<usize>]) -> Result<(), LoadError> {
        let (count, mut reader) = self.entries()?;
        let rows = columns.first().map_or(0, Vec::len) + 1;
        for nth in 0..count {
            let (key, place) = self.entry(&mut reader)?;
            // Most often they stand in the order of the columns.
            let known = names.get(nth).is_some_and(|name| *name == key);
            let at = if known { Some(nth) } else { names.iter().position(|name| *name == key) };
            let column = at.and_then(|at| columns.get_mut(at)).filter(|column| column.len() < rows);
            column.ok_or_else(|| unexpected(key))?.push(place.start);
        }
        match columns.iter().position(|column| column.len() < rows) {
            Some(at) => Err(missing(names[at])),
            None => Ok(()),
        }
    }
}

fn missing(name: &str) -> LoadError {
    LoadError::invalid("", format_args!("`{name}` is missing"))
}

fn unexpected(key: &str) -> LoadError {
    LoadError::invalid("", format_args!("`{key}` means nothing here, or is there twice"))
}

/// The entries of a map that were not asked for yet.
pub(super) struct Map<'d> {
    entries: Vec<(&'d str, Place<'d>)>,
}

impl<'d> Map<'d> {
    /// A field that may be missing.
    pub(super) fn optional(&mut self, name: &str) -> Option<Place<'d>> {
        let at = self.entries.iter().position(|(key, _)| *key == name)?;
        Some(self.entries.remove(at).1)
    }

    pub(super) fn read_optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Place<'d>) -> Result<T, LoadError>,
    ) -> Result<Option<T>, LoadError> {
        let field = self.optional(name).map(read).transpose();
        field.map_err(|error| error.inside(name))
    }

    pub(super) fn read<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Place<'d>) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        self.read_optional(name, read)?.ok_or_else(|| missing(name))
    }

    /// Refuses fields that were not asked for.
    pub(super) fn finish(&self) -> Result<(), LoadError> {
        match self.entries.first() {
            Some((key, _)) => Err(unexpected(key)),
            None => Ok(()),
        }
    }
}
