//! The boards with their opening positions.

use std::hash::{Hash, Hasher};

use crate::BoardSize;

/// A board and where its pieces stand when a game begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// 7x7: a cross, as in Brandubh.
    Seven,
    /// 9x9: a cross, as in Tablut.
    Nine,
    /// 11x11: the diamond of Copenhagen and Fetlar.
    Eleven,
    /// 11x11: the cross of Historical Hnefatafl, with the attackers in blocks of six.
    LewisCross,
}

impl Layout {
    /// All layouts, the smallest board first.
    pub const ALL: [Layout; 4] = [Layout::Seven, Layout::Nine, Layout::Eleven, Layout::LewisCross];

    /// The board's size.
    #[inline]
    pub const fn size(self) -> BoardSize {
        match self {
            Layout::Seven => BoardSize::Seven,
            Layout::Nine => BoardSize::Nine,
            Layout::Eleven | Layout::LewisCross => BoardSize::Eleven,
        }
    }

    /// The ranks from the top, as in a FEN.
    pub(crate) const fn rows(self) -> &'static str {
        match self {
            Layout::Seven => "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3",
            Layout::Nine => "3aaa3/4a4/4d4/a3d3a/aaddkddaa/a3d3a/4d4/4a4/3aaa3",
            Layout::Eleven => "3aaaaa3/5a5/11/a4d4a/a3ddd3a/aa1ddkdd1aa/a3ddd3a/a4d4a/11/5a5/3aaaaa3",
            Layout::LewisCross => "4aaa4/4aaa4/5d5/5d5/aa3d3aa/aadddkdddaa/aa3d3aa/5d5/5d5/4aaa4/4aaa4",
        }
    }
}

/// Where a game began says nothing about a position, so only the size counts: rules that differ in their layouts have
/// the same fingerprint.
impl Hash for Layout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.size().hash(state);
    }
}

/// A layout in files. The first three were numbers, 7, 9 and 11, before there was a fourth, and stay so.
#[cfg(feature = "serde")]
mod text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Layout;

    /// What errors say is accepted.
    const EXPECTED: &str = "expected 7, 9, 11 or \"lewis-cross\"";

    /// The number of [`Layout::LewisCross`] in binary files: the side of the board, and a bit above all sides.
    const LEWIS_CROSS: u8 = 11 + 16;

    impl Serialize for Layout {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                Layout::LewisCross if serializer.is_human_readable() => serializer.serialize_str("lewis-cross"),
                Layout::LewisCross => serializer.serialize_u8(LEWIS_CROSS),
                Layout::Seven | Layout::Nine | Layout::Eleven => serializer.serialize_u8(self.size() as u8),
            }
        }
    }

    impl<'de> Deserialize<'de> for Layout {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Layout, D::Error> {
            #[derive(Deserialize)]
            #[serde(untagged)]
            enum Text {
                Side(u64),
                Name(String),
            }
            let readable = deserializer.is_human_readable();
            let found = if readable {
                Text::deserialize(deserializer)?
            } else {
                Text::Side(u8::deserialize(deserializer)?.into())
            };
            match &found {
                Text::Side(7) => Ok(Layout::Seven),
                Text::Side(9) => Ok(Layout::Nine),
                Text::Side(11) => Ok(Layout::Eleven),
                Text::Side(side) if !readable && *side == u64::from(LEWIS_CROSS) => Ok(Layout::LewisCross),
                Text::Name(name) if name == "lewis-cross" => Ok(Layout::LewisCross),
                Text::Side(side) => Err(D::Error::custom(format!("board size {side}: {EXPECTED}"))),
                Text::Name(name) => Err(D::Error::custom(format!("board {name:?}: {EXPECTED}"))),
            }
        }
    }
}
