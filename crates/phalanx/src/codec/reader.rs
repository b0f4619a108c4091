//! Bytes that are read one after the other, and the numbers and texts that everything is made of.
//!
//! Numbers take as many bytes as they need, seven bits each, the lowest first. Nothing is read behind the end, and an
//! error says at which byte it happened.

use phalanx_store::Entity;

use super::CodecError;

/// Reads bytes from the front.
#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Reads from a position on.
    pub(crate) fn at(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at: at.min(bytes.len()) }
    }

    /// How many bytes were read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[cold]
    pub(crate) fn error(&self, what: impl std::fmt::Display) -> CodecError {
        CodecError::new(format_args!("byte {}: {what}", self.at))
    }

    #[cold]
    fn ended(&self, wanted: usize) -> CodecError {
        self.error(format_args!("{wanted} bytes wanted, {} left", self.left()))
    }

    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], CodecError> {
        if count > self.left() {
            return Err(self.ended(count));
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], CodecError> {
        match self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(array) => {
                self.at += N;
                Ok(*array)
            }
            None => Err(self.ended(N)),
        }
    }

    /// The next byte, which is not read yet.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8, CodecError> {
        Ok(self.array::<1>()?[0])
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, CodecError> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(byte.into())
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, CodecError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                // The shortest way to write a number is the only one.
                if byte == 0 && shift > 0 {
                    break;
                }
                return Ok(value);
            }
        }
        Err(self.error("not a number"))
    }

    /// A number that fits into the type.
    pub(crate) fn number<T: TryFrom<u64>>(&mut self) -> Result<T, CodecError> {
        let value = self.varint()?;
        T::try_from(value).map_err(|_| self.error(format_args!("{value} is too large")))
    }

    /// How many things follow, each of which takes a byte at least.
    pub(crate) fn count(&mut self) -> Result<usize, CodecError> {
        let count: usize = self.number()?;
        if count > self.left() {
            return Err(self.error(format_args!("{count} things claimed, {} bytes left", self.left())));
        }
        Ok(count)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, CodecError> {
        let len = self.count()?;
        let bytes = self.take(len)?;
        std::str::from_utf8(bytes).map_err(|_| self.error("a text that is not UTF-8"))
    }

    pub(crate) fn entity(&mut self) -> Result<Entity, CodecError> {
        let (index, generation): (u32, u32) = (self.number()?, self.number()?);
        let entity = Entity::from_bits(u64::from(generation) << 32 | u64::from(index));
        entity.ok_or_else(|| self.error("an entity without a generation"))
    }

    /// Refuses bytes that were not asked for.
    pub(crate) fn finish(&self) -> Result<(), CodecError> {
        match self.left() {
            0 => Ok(()),
            left => Err(self.error(format_args!("{left} bytes too many"))),
        }
    }
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

pub(crate) fn put_entity(out: &mut Vec<u8>, entity: Entity) {
    let bits = entity.to_bits();
    put_varint(out, bits & u64::from(u32::MAX));
    put_varint(out, bits >> 32);
}

pub(super) fn zigzag(value: i64) -> u64 {
    value.cast_unsigned() << 1 ^ (value >> 63).cast_unsigned()
}

pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            let mut reader = Reader::new(&out);
            assert_eq!(reader.varint(), Ok(value));
            assert!(reader.finish().is_ok());
            for end in 0..out.len() {
                assert!(Reader::new(&out[..end]).varint().is_err());
            }
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }

    #[test]
    fn a_number_has_one_form() {
        for wrong in
            [&[0x80, 0x00][..], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]]
        {
            assert!(Reader::new(wrong).varint().is_err(), "{wrong:?}");
        }
    }
}
