//! The rule options. The published rulesets are presets of them.

use std::hash::{Hash, Hasher};

use crate::tables::mix;
use crate::{BoardSize, Layout, Side};

/// How many enemies it takes to capture the king.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum KingCapture {
    /// Four attackers, or three and the throne.
    Strong,
    /// Strong on and beside the throne, like a man elsewhere.
    StrongNearThrone,
    /// Always like a man.
    Weak,
}

/// What happens on the edge to a king who is captured like [`KingCapture::Strong`] says. One who is captured like a
/// man gets no help from the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum KingOnEdge {
    /// He cannot be captured there.
    Safe,
    /// Three attackers capture him.
    CapturedByThree,
}

/// Whether the king takes part in captures. The far side of a shieldwall and the pieces in front of its row count as
/// far sides, the moving piece as the moving one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum KingArmed {
    /// As the moving piece and as the piece on the far side.
    Armed,
    /// Only as the moving piece.
    HammerOnly,
    /// Only as the piece on the far side.
    AnvilOnly,
    /// Never.
    Unarmed,
}

/// Who may stop on the throne.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ThroneStop {
    /// The king.
    King,
    /// Nobody, once it is empty.
    Nobody,
}

/// Who may pass over the empty throne.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ThronePass {
    /// Every piece.
    All,
    /// The king.
    King,
    /// Nobody.
    Nobody,
}

/// When the throne helps to capture attackers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ThroneHostileToAttackers {
    /// Occupied by the king or not.
    Always,
    /// Only when empty.
    WhenEmpty,
    /// Never.
    Never,
}

/// When the throne helps to capture defenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum ThroneHostileToDefenders {
    /// Only when empty.
    WhenEmpty,
    /// Never.
    Never,
}

/// Where the king escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Escape {
    /// On a corner.
    Corner,
    /// On any edge square.
    Edge,
}

/// When enclosing the defenders wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Encirclement {
    /// Never.
    Off,
    /// When no defender reaches the edge; several pockets count.
    AnyPocket,
    /// Only when all defenders share one enclosed region.
    SingleRegion,
}

/// What a side without a legal move gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum NoLegalMove {
    /// It loses.
    Loss,
    /// A draw.
    Draw,
}

/// What repeating a position does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Repetition {
    /// Nothing.
    Ignore,
    /// A draw.
    Draw,
    /// The defenders lose.
    DefendersLose,
    /// Who made the repeating move loses.
    MoverLoses,
    /// A defenders' move that would repeat is illegal.
    DefendersMayNot,
}

/// What counts as the same position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum RepetitionCompares {
    /// The board and the side to move.
    BoardAndSide,
    /// The board, whichever side is to move.
    BoardAlone,
}

/// Every rule option. A published ruleset is a [`Preset`](crate::Preset) of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Rules {
    /// The board and where the pieces begin. In files the key is `size`.
    #[cfg_attr(feature = "serde", serde(rename = "size"))]
    pub layout: Layout,
    /// Who moves first.
    pub first: Side,
    /// How many enemies capture the king.
    pub king_capture: KingCapture,
    /// The king on the edge.
    pub king_on_edge: KingOnEdge,
    /// Whether the king captures.
    pub king_armed: KingArmed,
    /// Who may stop on the throne.
    pub throne_stop: ThroneStop,
    /// Who may pass the empty throne.
    pub throne_pass: ThronePass,
    /// The throne's hostility to attackers.
    pub throne_hostile_to_attackers: ThroneHostileToAttackers,
    /// The throne's hostility to defenders.
    pub throne_hostile_to_defenders: ThroneHostileToDefenders,
    /// Linnaeus' capture against the occupied throne.
    pub linnaean_capture: bool,
    /// Corners are for the king only and hostile to all men.
    pub corners: bool,
    /// Corners are hostile to a king who is captured like a man.
    pub corner_hostile_to_king: bool,
    /// The king's goal.
    pub escape: Escape,
    /// Rows on the edge can be captured by a shieldwall.
    pub shieldwall: bool,
    /// The king wins by an edge fort.
    pub exit_fort: bool,
    /// Enclosing the defenders.
    pub encirclement: Encirclement,
    /// A side without a legal move.
    pub no_legal_move: NoLegalMove,
    /// Repetition of positions.
    pub repetition: Repetition,
    /// The occurrence (the first one counts) at which `repetition` applies; at least 2, see [`Rules::faults`].
    pub repetition_occurrence: u8,
    /// What is compared for repetition.
    pub repetition_compares: RepetitionCompares,
    /// Plies without a capture that make a draw; 0 is off.
    pub no_capture_draw_plies: u16,
    /// The occurrence of a defenders' configuration that loses for them; 0 is off.
    pub draw_fort_occurrence: u8,
    /// Plies after which the game is a technical draw; 0 is off.
    pub ply_cap: u16,
}

impl Rules {
    /// The board's size.
    #[inline]
    pub const fn size(&self) -> BoardSize {
        self.layout.size()
    }

    /// Whether the board has the same size as under `other`, and the king the same goal: a network that knows one of
    /// two such games knows something about the other.
    pub fn resembles(&self, other: &Rules) -> bool {
        (self.size(), self.escape) == (other.size(), other.escape)
    }

    /// What is impossible about these rules, one line a fault with the key, the value and what is allowed; empty for
    /// rules that can be played. Positions do not check this: code that reads rules from a file should.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let occurrence = self.repetition_occurrence;
        if self.repetition != Repetition::Ignore && occurrence < 2 {
            faults
                .push(format!("repetition_occurrence = {occurrence}: expected 2 to 255, the first occurrence counts"));
        }
        if self.draw_fort_occurrence == 1 {
            faults
                .push("draw_fort_occurrence = 1: expected 0 (off) or 2 to 255, the first occurrence counts".to_owned());
        }
        faults
    }

    /// A hash of all options. The same on every machine.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = Fingerprint(0);
        self.hash(&mut hasher);
        hasher.0
    }
}

/// A hasher that, unlike the standard one, promises to stay as it is.
struct Fingerprint(u64);

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0.wrapping_add(1) ^ u64::from(byte));
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
