//! The board: where each square lies on the screen, and what is drawn there.

use hnefi_engine::{Bitboard, Board, BoardSize, Escape, Move, Rules, Special, Square};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position as Point, Rect};
use ratatui::style::Style;

use super::glyphs::{Figure, Scale, brackets, rows};
use super::theme::{Ground, Theme};

/// Columns left of the board, for the ranks.
const RANKS: u16 = 3;
/// Rows below the board, for the files.
const FILES: u16 = 1;

/// Where the squares lie on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    size: BoardSize,
    scale: Scale,
    flipped: bool,
    /// Top left of the top left square.
    origin: Point,
}

impl Geometry {
    /// The largest board that fits into `area`, at its top left; `None` when none does.
    pub(super) fn fit(area: Rect, size: BoardSize, flipped: bool) -> Option<Geometry> {
        let scale = Scale::ALL.into_iter().find(|&scale| {
            let (width, height) = extent(size, scale);
            width <= area.width && height <= area.height
        })?;
        Some(Geometry { size, scale, flipped, origin: Point::new(area.x + RANKS, area.y) })
    }

    /// The screen taken, coordinates included.
    pub(super) fn area(&self) -> Rect {
        let (width, height) = extent(self.size, self.scale);
        Rect::new(self.origin.x - RANKS, self.origin.y, width, height)
    }

    /// The square drawn at a point of the screen.
    pub(super) fn square_at(&self, point: Point) -> Option<Square> {
        let n = self.size.side();
        let column = usize::from(point.x.checked_sub(self.origin.x)? / self.scale.width());
        let row = usize::from(point.y.checked_sub(self.origin.y)? / self.scale.height());
        if column >= n || row >= n {
            return None;
        }
        let (file, rank) = if self.flipped { (n - 1 - column, row) } else { (column, n - 1 - row) };
        Some(Square::new(rank * n + file))
    }

    /// Where a square is drawn.
    pub(super) fn cell(&self, square: Square) -> Rect {
        let n = self.size.side();
        let (file, rank) = (square.index() % n, square.index() / n);
        let (column, row) = if self.flipped { (n - 1 - file, rank) } else { (file, n - 1 - rank) };
        let (width, height) = (self.scale.width(), self.scale.height());
        Rect::new(self.origin.x + column as u16 * width, self.origin.y + row as u16 * height, width, height)
    }
}

/// Columns and rows of a board with its coordinates.
pub(super) fn extent(size: BoardSize, scale: Scale) -> (u16, u16) {
    let n = size.side() as u16;
    (RANKS + n * scale.width(), n * scale.height() + FILES)
}

/// The smallest board's extent.
pub(super) fn least_extent(size: BoardSize) -> (u16, u16) {
    extent(size, Scale::Small)
}

/// Everything the board shows.
pub(super) struct BoardView<'a> {
    pub(super) board: Board,
    pub(super) rules: &'a Rules,
    pub(super) last_move: Option<Move>,
    pub(super) captured: Bitboard,
    pub(super) cursor: Option<Square>,
    pub(super) selected: Option<Square>,
    pub(super) targets: Bitboard,
    pub(super) hint: Option<Move>,
}

impl BoardView<'_> {
    pub(super) fn draw(&self, geometry: &Geometry, theme: &Theme, buffer: &mut Buffer) {
        for index in 0..geometry.size.squares() {
            self.square(Square::new(index), geometry, theme, buffer);
        }
        coordinates(geometry, theme, buffer);
    }

    fn square(&self, square: Square, geometry: &Geometry, theme: &Theme, buffer: &mut Buffer) {
        let cell = geometry.cell(square);
        let ground = theme.ground(self.ground(square, geometry.size));
        buffer.set_style(cell, ground);
        if let Some((figure, style)) = self.figure(square, theme) {
            for (row, text) in (cell.y..).zip(rows(figure, geometry.scale)) {
                buffer.set_string(cell.x, row, text, ground.patch(style));
            }
        }
        if self.cursor == Some(square) {
            for &(symbol, column, row) in brackets(geometry.scale) {
                buffer[(cell.x + column, cell.y + row)].set_char(symbol).set_style(ground.patch(theme.cursor()));
            }
        }
    }

    fn ground(&self, square: Square, size: BoardSize) -> Ground {
        let ends = |mv: Option<Move>| mv.is_some_and(|mv| mv.from() == square || mv.to() == square);
        if self.selected == Some(square) {
            Ground::Selected
        } else if self.targets.contains(square) {
            Ground::Target
        } else if ends(self.hint) {
            Ground::Hint
        } else if ends(self.last_move) {
            Ground::LastMove
        } else if self.special(square).is_some() {
            Ground::Special
        } else {
            let n = size.side();
            Ground::Plain { light: (square.index() % n + square.index() / n) % 2 == 1 }
        }
    }

    fn figure(&self, square: Square, theme: &Theme) -> Option<(Figure, Style)> {
        if let Some(piece) = self.board.piece_at(square) {
            let style = match piece {
                hnefi_engine::Piece::Attacker => theme.attacker(),
                hnefi_engine::Piece::Defender => theme.defender(),
                hnefi_engine::Piece::King => theme.king(),
            };
            Some((Figure::Piece(piece), style))
        } else if self.targets.contains(square) {
            Some((Figure::Target, theme.attacker()))
        } else if self.captured.contains(square) {
            Some((Figure::Captured, theme.captured()))
        } else if let Some(figure) = self.special(square) {
            Some((figure, theme.ornament()))
        } else {
            (!theme.has_colours()).then(|| (Figure::Dot, theme.quiet()))
        }
    }

    /// A special square, where it is the king's goal or the rules give it a meaning.
    fn special(&self, square: Square) -> Option<Figure> {
        let Rules { marks, escape, .. } = self.rules;
        let is_goal = *escape == Escape::Corner;
        let kinds = [
            (marks.throne(), Figure::Throne, true),
            (marks.corners(), Figure::Corner, is_goal || self.rules.corners != Special::ORDINARY),
            (marks.attacker_forts(), Figure::AttackerFort, true),
            (marks.defender_forts(), Figure::DefenderFort, true),
        ];
        kinds
            .into_iter()
            .find(|(squares, _, is_drawn)| *is_drawn && squares.contains(square))
            .map(|(_, figure, _)| figure)
    }
}

/// Ranks at the left, files below.
fn coordinates(geometry: &Geometry, theme: &Theme, buffer: &mut Buffer) {
    let n = geometry.size.side();
    for step in 0..n {
        let rank = geometry.cell(Square::new(step * n));
        let y = rank.y + rank.height / 2;
        buffer.set_string(geometry.area().x, y, format!("{:>2}", step + 1), theme.quiet());
        let file = geometry.cell(Square::new(step));
        let letter = Square::new(step).name(geometry.size);
        let x = file.x + (file.width - 1) / 2;
        buffer.set_string(x, geometry.area().bottom() - FILES, &letter[..1], theme.quiet());
    }
}
