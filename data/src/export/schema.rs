//! The definitions of all columns. The Parquet schema and the dataset card are generated from them.

use hnefi_inference::{GLOBALS as GLOBAL_NUMBERS, PLANES as INPUT_PLANES, POLICY_PLANES};

use super::{BoardColumns, PolicyColumns};

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
}

impl Cell {
    /// Whether it is a list of any kind.
    pub(super) const fn is_list(self) -> bool {
        matches!(self, Cell::List | Cell::Fixed(_) | Cell::PerSquare(_))
    }

    /// The length of the lists on a board of `squares` squares, if it is fixed.
    pub(super) const fn length(self, squares: usize) -> Option<usize> {
        match self {
            Cell::Fixed(length) => Some(length),
            Cell::PerSquare(values) => Some(values * squares),
            Cell::One | Cell::Optional | Cell::List => None,
        }
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

const fn field(name: &'static str, cell: Cell, scalar: Scalar, meaning: &'static str) -> Field {
    Field { name, scalar, cell, meaning }
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
            Cell::List | Cell::Fixed(_) | Cell::PerSquare(_) => format!(
                "required group {name} (LIST) {{ repeated group list {{ required {physical} element {annotation}; }} }}"
            ),
        }
    }
}

pub(super) const GAME_ID: Field =
    field("game_id", Cell::One, Scalar::Text, "identity of the game: same moves, same id; the split follows from it");
pub(super) const GAME: Field = field("game", Cell::One, Scalar::UInt64, "number of the game in its run");
pub(super) const SEED: Field = field("seed", Cell::One, Scalar::UInt64, "seed of the run");
pub(super) const GENERATION: Field =
    field("generation", Cell::Optional, Scalar::UInt32, "generation of the run, null where there is none");
pub(super) const RULES: Field =
    field("rules", Cell::One, Scalar::Text, "name of the ruleset, `own` for a mixture of options");
pub(super) const REASON: Field =
    field("reason", Cell::One, Scalar::Text, "how the game ended, such as `king_captured`; empty while ongoing");
pub(super) const PLY: Field = field("ply", Cell::One, Scalar::UInt32, "ply in the game, from 0");
pub(super) const SIDE: Field = field("side", Cell::One, Scalar::Text, "side to move: `attackers` or `defenders`");
pub(super) const PLANES: Field = field(
    "planes",
    Cell::PerSquare(INPUT_PLANES),
    Scalar::UInt8,
    "the network's input planes, 16 x N x N, each value 0 or 1",
);
pub(super) const BOARD: Field =
    field("board", Cell::PerSquare(1), Scalar::UInt8, "N x N contents: 0 empty, 1 attacker, 2 defender, 3 king");
pub(super) const GLOBALS: Field =
    field("globals", Cell::Fixed(GLOBAL_NUMBERS), Scalar::Float32, "the network's global input");
pub(super) const MOVE: Field = field("move", Cell::One, Scalar::Text, "the move played, such as `a4b4`");
pub(super) const PLAYED: Field =
    field("played", Cell::One, Scalar::Int32, "the move played, as an index into a flattened 40 x N x N policy");
pub(super) const POLICY_INDEX: Field =
    field("policy_index", Cell::List, Scalar::Int32, "policy target: indices into a flattened 40 x N x N policy");
pub(super) const POLICY_WEIGHT: Field =
    field("policy_weight", Cell::List, Scalar::Float32, "policy target: their weights, which sum to 1, or none");
pub(super) const POLICY: Field = field(
    "policy",
    Cell::PerSquare(POLICY_PLANES),
    Scalar::Float32,
    "policy target, 40 x N x N weights that sum to 1, or all 0",
);
pub(super) const LEGAL: Field =
    field("legal", Cell::List, Scalar::Int32, "the legal moves, as indices into a flattened 40 x N x N policy");
pub(super) const LEGAL_MASK: Field = field(
    "legal_mask",
    Cell::PerSquare(POLICY_PLANES),
    Scalar::UInt8,
    "the legal moves, 40 x N x N: 1 where a move is legal, else 0",
);
pub(super) const WDL: Field = field(
    "wdl",
    Cell::Fixed(3),
    Scalar::Float32,
    "how the game ended, for the side to move: win, draw, loss, one of them 1",
);
pub(super) const RAW: Field =
    field("raw", Cell::Fixed(3), Scalar::Float32, "the network's chances of win, draw, loss for the side to move");
pub(super) const SEARCHED: Field =
    field("searched", Cell::Fixed(3), Scalar::Float32, "the same chances after the search");
pub(super) const MOVES_LEFT: Field =
    field("moves_left", Cell::One, Scalar::Float32, "plies to the end of the game, this one included");
pub(super) const PLAYOUTS: Field = field("playouts", Cell::One, Scalar::UInt32, "playouts of the search");
pub(super) const TRAINS: Field =
    field("trains", Cell::One, Scalar::Bool, "whether the ply is a training sample: it has a policy target");
pub(super) const OPTIONS: Field =
    field("options", Cell::Optional, Scalar::Text, "every option as JSON where `rules` is `own`, else null");
pub(super) const PLY_CAP: Field =
    field("ply_cap", Cell::One, Scalar::UInt32, "plies after which the game is a technical draw, 0 for none");
pub(super) const FEN: Field =
    field("fen", Cell::Optional, Scalar::Text, "where the game began, null for the standard start");
pub(super) const ATTACKERS: Field = field("attackers", Cell::One, Scalar::Text, "who played the attackers");
pub(super) const DEFENDERS: Field = field("defenders", Cell::One, Scalar::Text, "who played the defenders");
pub(super) const PLIES: Field = field("plies", Cell::One, Scalar::UInt32, "number of plies");
pub(super) const MOVES: Field = field("moves", Cell::List, Scalar::Text, "the moves, such as `a4b4`");
pub(super) const CAPTURES: Field =
    field("captures", Cell::List, Scalar::Text, "for each move the squares it emptied, a space between them");
pub(super) const ALL_PLAYOUTS: Field =
    field("playouts", Cell::List, Scalar::UInt32, "for each move the search's playouts");
pub(super) const SCORES: Field = field(
    "scores",
    Cell::List,
    Scalar::Float32,
    "for each move the search's expected score of the side to move, P(win) + P(draw)/2",
);
pub(super) const STATUS: Field =
    field("status", Cell::One, Scalar::Text, "`attackers` or `defenders` (who won), `draw` or `ongoing`");
pub(super) const WOULD_HAVE_RESIGNED: Field =
    field("would_have_resigned", Cell::Optional, Scalar::Text, "side that would have resigned in a game played on");

/// The columns of the table of games, in order.
pub(super) const GAME_FIELDS: &[Field] = &[
    GAME_ID,
    GAME,
    SEED,
    GENERATION,
    RULES,
    OPTIONS,
    PLY_CAP,
    FEN,
    ATTACKERS,
    DEFENDERS,
    PLIES,
    MOVES,
    CAPTURES,
    ALL_PLAYOUTS,
    SCORES,
    STATUS,
    REASON,
    WOULD_HAVE_RESIGNED,
];

/// The columns of a table of positions, in order.
pub(super) fn position_fields(board: BoardColumns, policy: PolicyColumns) -> Vec<Field> {
    let mut fields = vec![GAME_ID, GAME, GENERATION, PLY, RULES, SIDE];
    fields.push(match board {
        BoardColumns::Planes => PLANES,
        BoardColumns::Compact => BOARD,
    });
    fields.extend([GLOBALS, MOVE, PLAYED]);
    match policy {
        PolicyColumns::Sparse => fields.extend([POLICY_INDEX, POLICY_WEIGHT, LEGAL]),
        PolicyColumns::Dense => fields.extend([POLICY, LEGAL_MASK]),
    }
    fields.extend([WDL, RAW, SEARCHED, MOVES_LEFT, PLAYOUTS, TRAINS, REASON]);
    fields
}
