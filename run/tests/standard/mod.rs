//! A reader of bincode 2's standard configuration for serde's types, ours from `docs/RECORDS.md` ("The data"): should
//! the crate have to go, this takes its place in `run/src/codec.rs`. Tests hold the two against each other.

use std::fmt;

use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};

/// What is wrong with the data.
#[derive(Debug, PartialEq)]
pub struct Problem(pub String);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(text: T) -> Problem {
        Problem(text.to_string())
    }
}

/// Reads one value and returns it with the number of bytes that it took.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, usize), Problem> {
    let mut reader = Reader { left: bytes };
    let value = T::deserialize(&mut reader)?;
    Ok((value, bytes.len() - reader.left.len()))
}

/// The bytes not read yet.
struct Reader<'a> {
    left: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], Problem> {
        let found = self.left.len();
        // No memory is taken before the bytes are known to be there.
        match usize::try_from(count).ok().and_then(|count| self.left.split_at_checked(count)) {
            Some((taken, left)) => {
                self.left = left;
                Ok(taken)
            }
            None => Err(Problem(format!("{found} bytes are left; expected {count}"))),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        Ok(self.take(N as u64)?.try_into().expect("as many bytes as asked for"))
    }

    fn byte(&mut self) -> Result<u8, Problem> {
        Ok(self.array::<1>()?[0])
    }

    /// A number of at most `widest` bytes: one byte below 251, or a mark and two, four or eight.
    fn number(&mut self, widest: usize) -> Result<u64, Problem> {
        let first = self.byte()?;
        let wide = match first {
            0..=250 => return Ok(first.into()),
            251 => 2,
            252 => 4,
            253 => 8,
            254.. => return Err(Problem(format!("a number begins with {first}; expected at most 253"))),
        };
        if wide > widest {
            return Err(Problem(format!("a number of {wide} bytes; expected at most {widest}")));
        }
        let mut eight = [0; 8];
        eight[..wide].copy_from_slice(self.take(wide as u64)?);
        Ok(u64::from_le_bytes(eight))
    }

    /// A number with a sign: twice its size, less one for the ones below 0.
    fn signed(&mut self, widest: usize) -> Result<i64, Problem> {
        let number = self.number(widest)?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// No or yes: 0 or 1.
    fn flag(&mut self, what: &str) -> Result<bool, Problem> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Problem(format!("{what} is {other}; expected 0 or 1"))),
        }
    }

    fn text(&mut self) -> Result<&'a str, Problem> {
        let length = self.number(8)?;
        std::str::from_utf8(self.take(length)?).map_err(|error| Problem(error.to_string()))
    }
}

/// Methods that read a number of this many bytes and give it to the visitor.
macro_rules! numbers {
    ($($method:ident $visit:ident $read:ident $wide:literal $type:ty,)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            visitor.$visit(self.$read($wide)? as $type)
        }
    )* };
}

impl<'de> de::Deserializer<'de> for &mut Reader<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Problem> {
        Err(Problem("the data do not say what they are".to_owned()))
    }

    numbers! {
        deserialize_u16 visit_u16 number 2 u16,
        deserialize_u32 visit_u32 number 4 u32,
        deserialize_u64 visit_u64 number 8 u64,
        deserialize_i16 visit_i16 signed 2 i16,
        deserialize_i32 visit_i32 signed 4 i32,
        deserialize_i64 visit_i64 signed 8 i64,
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_u8(self.byte()?)
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_i8(self.byte()? as i8)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_bool(self.flag("a yes or no")?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_f32(f32::from_le_bytes(self.array()?))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_f64(f64::from_le_bytes(self.array()?))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.flag("an option")? { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let left = self.number(8)?;
        visitor.visit_seq(Entries { reader: self, left })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let left = self.number(8)?;
        visitor.visit_map(Entries { reader: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_seq(Entries { reader: self, left: length as u64 })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! { char bytes byte_buf identifier ignored_any }

    fn is_human_readable(&self) -> bool {
        false
    }
}

/// The entries of a list, a map or a struct.
struct Entries<'a, 'de> {
    reader: &'a mut Reader<'de>,
    left: u64,
}

impl<'de> Entries<'_, 'de> {
    fn next<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        match self.left.checked_sub(1) {
            None => Ok(None),
            Some(left) => {
                self.left = left;
                seed.deserialize(&mut *self.reader).map(Some)
            }
        }
    }
}

impl<'de> de::SeqAccess<'de> for Entries<'_, 'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        self.next(seed)
    }
}

impl<'de> de::MapAccess<'de> for Entries<'_, 'de> {
    type Error = Problem;

    fn next_key_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Problem> {
        self.next(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Problem> {
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> de::EnumAccess<'de> for &mut Reader<'de> {
    type Error = Problem;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Problem> {
        let choice = self.number(4)? as u32;
        Ok((seed.deserialize(choice.into_deserializer())?, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Reader<'de> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Problem> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Problem> {
        de::Deserializer::deserialize_tuple(self, length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Problem> {
        de::Deserializer::deserialize_tuple(self, fields.len(), visitor)
    }
}
