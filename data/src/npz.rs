//! NumPy's archives (`.npz`): a zip file of uncompressed arrays in
//! [NumPy's format 1.0](https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).

use std::io::{self, Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Arrays begin at multiples of this many bytes.
const ALIGNMENT: usize = 64;

/// Values that are turned into bytes at once.
const CHUNK: usize = 4096;

/// Makes an archive array by array, in memory: an archive that could not be written tries again, and prints what it
/// thinks of that.
pub(crate) struct NpzWriter(ZipWriter<Cursor<Vec<u8>>>);

impl NpzWriter {
    /// An archive without arrays, with room for this many bytes.
    pub(crate) fn new(bytes: usize) -> NpzWriter {
        NpzWriter(ZipWriter::new(Cursor::new(Vec::with_capacity(bytes))))
    }

    /// Adds an array of this shape, `[]` for a scalar, with its values in row-major order.
    ///
    /// # Errors
    /// When writing fails.
    ///
    /// # Panics
    /// When the number of values is not the product of the shape.
    pub(crate) fn add<T: Element>(&mut self, name: &str, shape: &[usize], values: &[T]) -> io::Result<()> {
        assert_eq!(values.len(), shape.iter().product::<usize>(), "values of an array {name} of shape {shape:?}");
        let is_large = u32::try_from(size_of_val(values)).is_err();
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(is_large);
        self.0.start_file(format!("{name}.npy"), options)?;
        self.0.write_all(&header::<T>(shape))?;
        let mut bytes = Vec::with_capacity(CHUNK * size_of::<T>());
        for chunk in values.chunks(CHUNK) {
            bytes.clear();
            chunk.iter().for_each(|value| value.append_to(&mut bytes));
            self.0.write_all(&bytes)?;
        }
        Ok(())
    }

    /// The bytes of the whole archive.
    ///
    /// # Errors
    /// When it is too large for its format.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        Ok(self.0.finish()?.into_inner())
    }
}

/// What precedes the values: magic, version, and the description as the text of a Python dictionary.
fn header<T: Element>(shape: &[usize]) -> Vec<u8> {
    let mut sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    sides.truncate(sides.trim_end().len());
    let text = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({sides}), }}", T::TYPE);
    let mut bytes = b"\x93NUMPY\x01\x00\0\0".to_vec();
    let length = (bytes.len() + text.len() + 1).next_multiple_of(ALIGNMENT) - bytes.len();
    bytes[8..].copy_from_slice(&(length as u16).to_le_bytes());
    bytes.extend(format!("{text:<width$}\n", width = length - 1).into_bytes());
    bytes
}

/// A number that NumPy knows.
pub(crate) trait Element: Copy {
    /// NumPy's name of the type, in little-endian order.
    const TYPE: &'static str;

    /// Appends the number's bytes.
    fn append_to(self, bytes: &mut Vec<u8>);
}

macro_rules! elements {
    ($($number:ty = $name:literal),*) => {$(
        impl Element for $number {
            const TYPE: &'static str = $name;

            fn append_to(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

impl Element for bool {
    const TYPE: &'static str = "|b1";

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.push(self.into());
    }
}

elements!(u8 = "|u1", i32 = "<i4", u32 = "<u4", i64 = "<i8", u64 = "<u8", f32 = "<f4");
