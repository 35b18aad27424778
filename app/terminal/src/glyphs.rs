//! The shapes of pieces and marks, drawn with block characters in three sizes. Every piece has a shape of its own, so
//! the board can be read without colours.

use hnefi_engine::Piece;

/// How large a square is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// 7 columns by 3 rows.
    Large,
    /// 4 columns by 2 rows.
    Medium,
    /// 3 columns by 1 row.
    Small,
}

impl Scale {
    /// All scales, largest first.
    pub(super) const ALL: [Scale; 3] = [Scale::Large, Scale::Medium, Scale::Small];

    /// Columns of a square.
    pub(super) const fn width(self) -> u16 {
        match self {
            Scale::Large => 7,
            Scale::Medium => 4,
            Scale::Small => 3,
        }
    }

    /// Rows of a square.
    pub(super) const fn height(self) -> u16 {
        match self {
            Scale::Large => 3,
            Scale::Medium => 2,
            Scale::Small => 1,
        }
    }
}

/// What fills a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// A piece.
    Piece(Piece),
    /// A square a piece was captured from just now.
    Captured,
    /// A square the selected piece may go to.
    Target,
    /// An empty corner.
    Corner,
    /// An empty throne.
    Throne,
    /// An empty fort of the attackers.
    AttackerFort,
    /// An empty fort of the defenders.
    DefenderFort,
    /// An empty square that needs a mark because there are no colours.
    Dot,
}

/// The rows of a figure; blanks let the ground through.
pub(super) const fn rows(figure: Figure, scale: Scale) -> &'static [&'static str] {
    match scale {
        Scale::Large => match figure {
            Figure::Piece(Piece::Attacker) => &["  ▄▄▄  ", " ▐███▌ ", "  ▀▀▀  "],
            Figure::Piece(Piece::Defender) => &["  ▗█▖  ", " ▐█ █▌ ", "  ▝█▘  "],
            Figure::Piece(Piece::King) => &[" ▙▄█▄▟ ", " █████ ", " ▀▀▀▀▀ "],
            Figure::Captured => &["       ", "   ×   ", "       "],
            Figure::Target => &["       ", "   •   ", "       "],
            Figure::Corner => &[" ╲   ╱ ", "   ╳   ", " ╱   ╲ "],
            Figure::Throne => &[" ╭───╮ ", " │ ◇ │ ", " ╰───╯ "],
            Figure::AttackerFort => &[" ┌┴┴┴┐ ", " │ a │ ", " └───┘ "],
            Figure::DefenderFort => &[" ┌┴┴┴┐ ", " │ d │ ", " └───┘ "],
            Figure::Dot => &["       ", "   ·   ", "       "],
        },
        Scale::Medium => match figure {
            Figure::Piece(Piece::Attacker) => &["▗▄▄▖", "▝▀▀▘"],
            Figure::Piece(Piece::Defender) => &["▗▟▙▖", "▝▜▛▘"],
            Figure::Piece(Piece::King) => &["▙▟▙▟", "▀▀▀▀"],
            Figure::Captured => &[" ╲╱ ", " ╱╲ "],
            Figure::Target => &[" ▗▖ ", " ▝▘ "],
            Figure::Corner => &["╲  ╱", "╱  ╲"],
            Figure::Throne => &["╭──╮", "╰──╯"],
            Figure::AttackerFort => &["┌┴┴┐", "└a─┘"],
            Figure::DefenderFort => &["┌┴┴┐", "└d─┘"],
            Figure::Dot => &["    ", " ·  "],
        },
        Scale::Small => match figure {
            Figure::Piece(Piece::Attacker) => &[" ● "],
            Figure::Piece(Piece::Defender) => &[" ◇ "],
            Figure::Piece(Piece::King) => &[" ♚ "],
            Figure::Captured => &[" × "],
            Figure::Target => &[" • "],
            Figure::Corner => &[" ╳ "],
            Figure::Throne => &[" □ "],
            Figure::AttackerFort => &[" a "],
            Figure::DefenderFort => &[" d "],
            Figure::Dot => &[" · "],
        },
    }
}

/// The brackets of the cursor, drawn over a square: character, column, row.
pub(super) const fn brackets(scale: Scale) -> &'static [(char, u16, u16)] {
    match scale {
        Scale::Large => &[('┏', 0, 0), ('┓', 6, 0), ('┗', 0, 2), ('┛', 6, 2)],
        Scale::Medium => &[('┏', 0, 0), ('┓', 3, 0), ('┗', 0, 1), ('┛', 3, 1)],
        Scale::Small => &[('[', 0, 0), (']', 2, 0)],
    }
}

/// A small sign for a piece in running text.
pub(super) const fn sign(piece: Piece) -> &'static str {
    match piece {
        Piece::Attacker => "●",
        Piece::Defender => "◇",
        Piece::King => "♚",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every figure fills its square exactly, or the board would shear.
    #[test]
    fn figures_have_the_size_of_their_scale() {
        let figures = [
            Figure::Piece(Piece::Attacker),
            Figure::Piece(Piece::Defender),
            Figure::Piece(Piece::King),
            Figure::Captured,
            Figure::Target,
            Figure::Corner,
            Figure::Throne,
            Figure::AttackerFort,
            Figure::DefenderFort,
            Figure::Dot,
        ];
        for scale in Scale::ALL {
            for figure in figures {
                let rows = rows(figure, scale);
                assert_eq!(rows.len(), usize::from(scale.height()), "{figure:?} {scale:?}");
                for row in rows {
                    assert_eq!(row.chars().count(), usize::from(scale.width()), "{figure:?} {scale:?} {row:?}");
                }
            }
        }
    }
}
