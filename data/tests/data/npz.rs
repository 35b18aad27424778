//! Arrays of an `.npz` file, by the format that NumPy documents (`numpy.lib.format`). `scripts/check_files.py` has NumPy
//! itself read such files.

use std::fs::File;
use std::io::Read;
use std::ops::Index;
use std::path::Path;

/// An array in C order.
pub struct Array<T> {
    pub shape: Vec<usize>,
    pub values: Vec<T>,
}

impl<T> Array<T> {
    /// What lies under each index of the first axis, flattened.
    pub fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.values.chunks(self.shape[1..].iter().product())
    }

    /// One of the rows.
    pub fn row(&self, row: usize) -> &[T] {
        self.rows().nth(row).expect("a row")
    }
}

impl<T> Index<usize> for Array<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        assert_eq!(self.shape.len(), 1);
        &self.values[index]
    }
}

pub trait Element: Sized {
    /// NumPy's name of the type.
    const NAME: &str;

    fn of(bytes: &[u8]) -> Self;

    fn number(self) -> f64;
}

macro_rules! elements {
    ($($kind:ty, $name:literal;)*) => {$(
        impl Element for $kind {
            const NAME: &str = $name;

            fn of(bytes: &[u8]) -> Self {
                <$kind>::from_le_bytes(bytes.try_into().expect("the size of a number"))
            }

            fn number(self) -> f64 {
                self as f64
            }
        }
    )*};
}

elements! { u8, "|u1"; u32, "<u4"; u64, "<u8"; i32, "<i4"; i64, "<i8"; f32, "<f4"; }

impl Element for bool {
    const NAME: &str = "|b1";

    fn of(bytes: &[u8]) -> Self {
        assert!(bytes[0] < 2);
        bytes[0] == 1
    }

    fn number(self) -> f64 {
        self.into()
    }
}

/// The array of a name.
pub fn array<T: Element>(file: &Path, name: &str) -> Array<T> {
    let mut archive = zip::ZipArchive::new(File::open(file).expect("the file")).expect("a zip archive");
    let mut bytes = Vec::new();
    let mut entry = archive.by_name(&format!("{name}.npy")).unwrap_or_else(|error| panic!("{name}: {error}"));
    entry.read_to_end(&mut bytes).expect("the array");
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\x00", "{name}: version 1.0");
    let (header, numbers) = bytes[10..].split_at(usize::from(u16::from_le_bytes([bytes[8], bytes[9]])));
    let header = std::str::from_utf8(header).expect("ASCII");
    let after = |key: &str| header.split_once(key).unwrap_or_else(|| panic!("{name}: no {key} in {header}")).1;
    assert!(after("'descr': ").starts_with(&format!("'{}'", T::NAME)), "{name}: {header}");
    assert!(after("'fortran_order': ").starts_with("False"), "{name}: {header}");
    let (shape, _) = after("'shape': (").split_once(')').expect("a tuple");
    let shape: Vec<usize> = shape.split(',').filter_map(|length| length.trim().parse().ok()).collect();
    let values: Vec<T> = numbers.chunks(size_of::<T>()).map(T::of).collect();
    assert_eq!(shape.iter().product::<usize>(), values.len(), "{name}: {header}");
    Array { shape, values }
}

/// The numbers of an array row by row, each flattened.
pub fn numbers<T: Element + Copy>(file: &Path, name: &str) -> Vec<Vec<f64>> {
    array::<T>(file, name).rows().map(|row| row.iter().map(|&value| value.number()).collect()).collect()
}

/// The list of each row, by the array that says where they begin.
pub fn lists<T: Element + Copy>(file: &Path, offsets: &str, name: &str) -> Vec<Vec<T>> {
    let values = array::<T>(file, name).values;
    let ends = array::<i64>(file, offsets).values;
    ends.windows(2).map(|ends| values[ends[0] as usize..ends[1] as usize].to_vec()).collect()
}
