//! The rule options. The published rulesets are presets of them.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{Bitboard, BoardSize, Marks, Piece, Position, Side, Special, Speed, Start};

/// How many enemies it takes to capture the king. Squares hostile to him count as enemies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum KingCapture {
    /// Four.
    Strong,
    /// Four on and beside a throne, like a man elsewhere.
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
    /// Three capture him, or two in a corner of the board.
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

/// Where the king escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Escape {
    /// On any square marked as a corner.
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
    /// Who made the repeating move wins.
    MoverWins,
    /// A defenders' move that would repeat is illegal.
    DefendersMayNot,
}

impl Repetition {
    /// All.
    pub const ALL: [Repetition; 6] = [
        Repetition::Ignore,
        Repetition::Draw,
        Repetition::DefendersLose,
        Repetition::MoverLoses,
        Repetition::MoverWins,
        Repetition::DefendersMayNot,
    ];
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
    /// The board and where the pieces begin; in files the ranks from the top, as in a FEN.
    pub start: Start,
    /// Who moves first.
    pub first: Side,
    /// How many enemies capture the king.
    pub king_capture: KingCapture,
    /// The king on the edge.
    pub king_on_edge: KingOnEdge,
    /// Whether the king captures.
    pub king_armed: KingArmed,
    /// How far pieces go.
    pub speed: Speed,
    /// Where the special squares are.
    pub marks: Marks,
    /// What thrones do.
    pub throne: Special,
    /// What corners do.
    pub corners: Special,
    /// What forts of the attackers do.
    pub attacker_forts: Special,
    /// What forts of the defenders do.
    pub defender_forts: Special,
    /// Linnaeus' capture against the occupied throne.
    pub linnaean_capture: bool,
    /// The king's goal.
    pub escape: Escape,
    /// Rows on the edge can be captured by a shieldwall.
    pub shieldwall: bool,
    /// Corners close a shieldwall as men do.
    pub shieldwall_corners: bool,
    /// A shieldwall is only closed by a move to its end, on the edge.
    pub shieldwall_flank: bool,
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
        self.start.size()
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
        let size = self.size().side();
        if self.marks.size() != self.size() {
            let found = self.marks.size().side();
            faults.push(format!("marks: a board of {found}x{found}; expected {size}x{size} as the start has"));
            return faults;
        }
        if self.start.board().attackers().is_empty() {
            faults.push("start: no attackers; expected some".to_owned());
        }
        let goals = self.goals() - self.closed_to_king();
        if goals.is_empty() {
            faults.push(
                "escape: the king may stop on none of his goals; expected marked corners, or the edge".to_owned(),
            );
        } else if goals.contains(self.start.king()) {
            faults.push("start: the king stands on a goal; expected him elsewhere".to_owned());
        } else if (Position::start(self).king_wanders() & goals).is_empty() {
            faults.push("escape: the king comes to none of his goals, even alone on the board".to_owned());
        } else if let Some(outcome) = Position::start(self).outcome() {
            faults.push(format!("start: the game is over before the first move ({outcome})"));
        }
        faults
    }

    /// Squares on which the king wins by arriving.
    pub const fn goals(&self) -> Bitboard {
        match self.escape {
            Escape::Corner => self.marks.corners(),
            Escape::Edge => Bitboard::edge(self.size()),
        }
    }

    /// What each kind of special square does, and where it is: thrones, corners, forts of the attackers and of the
    /// defenders.
    pub fn special_squares(&self) -> impl Iterator<Item = (Special, Bitboard)> {
        self.kinds().into_iter().zip(*self.marks.squares())
    }

    /// Special squares that are hostile to a piece, be it always or only while they are empty or occupied.
    pub fn hostile_squares(&self, piece: Piece) -> Bitboard {
        self.squares_where(|kind| kind.hostile_empty.or(kind.hostile_occupied).contains(piece))
    }

    /// Special squares on which the king may not stop.
    pub fn closed_to_king(&self) -> Bitboard {
        self.squares_where(|kind| !(kind.stop.contains(Piece::King) && kind.enter.contains(Piece::King)))
    }

    fn squares_where(&self, mut holds: impl FnMut(&Special) -> bool) -> Bitboard {
        let found = self.special_squares().filter(|(kind, _)| holds(kind));
        found.fold(Bitboard::EMPTY, |all, (_, squares)| all | squares)
    }

    /// What each kind of special square does, in the order of the marks.
    pub(crate) const fn kinds(&self) -> [Special; Marks::KINDS] {
        [self.throne, self.corners, self.attacker_forts, self.defender_forts]
    }

    /// A hash of all options, the same within a process.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}
