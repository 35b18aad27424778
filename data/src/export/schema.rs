//! The description of a column: its type, its name and meaning, and how Parquet, Arrow and numpy call it.

use hnefi_inference::policy_planes;

/// Type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    UInt8,
    UInt32,
    UInt64,
    Int32,
    Float32,
    Text,
}

/// Number of values in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    One,
    /// One or null.
    Optional,
    List,
    /// A list of this length.
    Fixed(usize),
    /// A list with this many values per square of the board.
    PerSquare(usize),
    /// A list with a value per place of the policy.
    PerPlace,
}

impl Cell {
    /// Whether it is a list of any kind.
    pub(super) const fn is_list(self) -> bool {
        matches!(self, Cell::List | Cell::Fixed(_) | Cell::PerSquare(_) | Cell::PerPlace)
    }

    /// The sides of the array that a cell of fixed length is, none of others: numbers, the side of the board, and the
    /// planes of the policy.
    fn sides<T: Clone>(self, number: fn(usize) -> T, side: T, planes: T) -> Vec<T> {
        match self {
            Cell::One | Cell::Optional | Cell::List => Vec::new(),
            Cell::Fixed(length) => vec![number(length)],
            Cell::PerSquare(1) => vec![side.clone(), side],
            Cell::PerSquare(values) => vec![number(values), side.clone(), side],
            Cell::PerPlace => vec![planes, side.clone(), side],
        }
    }

    /// The sides on a board of `side` squares a side.
    pub(super) fn shape(self, side: usize) -> Vec<usize> {
        self.sides(|number| number, side, policy_planes(side))
    }

    /// The sides as texts, with N for the side of the board.
    pub(super) fn described(self) -> Vec<String> {
        self.sides(|number| number.to_string(), "N".to_owned(), "4(N - 1)".to_owned())
    }

    /// The length of the lists on a board of `side` squares a side, if it is fixed.
    pub(super) fn length(self, side: usize) -> Option<usize> {
        let shape = self.shape(side);
        (!shape.is_empty()).then(|| shape.iter().product())
    }
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) scalar: Scalar,
    pub(super) cell: Cell,
    /// For the dataset card; `N` stands for the side of the board.
    pub(super) meaning: &'static str,
}

impl Scalar {
    /// Physical type and annotation in Parquet's schema language, with a space before the name.
    fn parquet(self) -> (&'static str, &'static str) {
        match self {
            Scalar::Bool => ("boolean", ""),
            Scalar::UInt8 => ("int32", "(INTEGER(8,false))"),
            Scalar::UInt32 => ("int32", "(INTEGER(32,false))"),
            Scalar::UInt64 => ("int64", "(INTEGER(64,false))"),
            Scalar::Int32 => ("int32", ""),
            Scalar::Float32 => ("float", ""),
            Scalar::Text => ("binary", "(STRING)"),
        }
    }

    /// Bits of a value in memory; a text counts as its handle.
    pub(super) const fn bits(self) -> usize {
        match self {
            Scalar::Bool => 1,
            Scalar::UInt8 => 8,
            Scalar::UInt32 | Scalar::Int32 | Scalar::Float32 | Scalar::Text => 32,
            Scalar::UInt64 => 64,
        }
    }

    /// Its name on the Hugging Face hub and in Arrow.
    pub(super) const fn dtype(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::UInt8 => "uint8",
            Scalar::UInt32 => "uint32",
            Scalar::UInt64 => "uint64",
            Scalar::Int32 => "int32",
            Scalar::Float32 => "float32",
            Scalar::Text => "string",
        }
    }
}

impl Field {
    /// The column in Parquet's schema language.
    pub(super) fn declaration(&self) -> String {
        let (physical, annotation) = self.scalar.parquet();
        let name = self.name;
        match self.cell {
            Cell::One => format!("required {physical} {name} {annotation};"),
            Cell::Optional => format!("optional {physical} {name} {annotation};"),
            Cell::List | Cell::Fixed(_) | Cell::PerSquare(_) | Cell::PerPlace => format!(
                "required group {name} (LIST) {{ repeated group list {{ required {physical} element {annotation}; }} }}"
            ),
        }
    }

    /// The name of the numpy array that says where each row's list begins: for `x_index` it is `x_offset`, which other
    /// columns `x_...` share.
    pub(super) fn offsets(&self) -> Option<String> {
        let lists = self.name.strip_suffix("_index").filter(|_| self.cell == Cell::List)?;
        Some(format!("{lists}_offset"))
    }
}
