//! Which key asks for what.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position as Point;

/// What a person asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Move the cursor by columns to the right and rows down, as the screen shows them.
    Step(i16, i16),
    /// Pick up the piece under the cursor, or put it down there.
    Pick,
    /// The same at a point of the screen.
    PickAt(Point),
    /// Put the piece down at a point of the screen, at the end of a drag.
    DropAt(Point),
    /// Let go of the piece, or close the page or question in front.
    Cancel,
    /// To the next piece that may move.
    NextPiece,
    Undo,
    Redo,
    Hint,
    Flip,
    Pause,
    Resign,
    New {
        swap: bool,
    },
    Save,
    Help,
    Quit,
    /// Leave at once.
    Abort,
    /// Yes to the question in front.
    Confirm,
}

/// Keys and what they do, for the help page.
pub(super) const KEYS: [(&str, &str); 13] = [
    ("arrows, HJKL", "move the cursor"),
    ("Enter, Space", "pick a piece up, put it down"),
    ("Tab", "to the next piece that may move"),
    ("mouse", "click or drag a piece to its target"),
    ("Esc", "let go of the piece"),
    ("h", "hint; once more plays it"),
    ("u, r", "undo, redo"),
    ("f", "flip the board"),
    ("p", "pause the players"),
    ("R", "resign"),
    ("n, x", "new game; on the other side"),
    ("s", "save as PGN and JSON line"),
    ("q", "quit"),
];

/// What a key asks for.
pub(super) fn key(event: KeyEvent) -> Option<Action> {
    if event.modifiers.contains(KeyModifiers::CONTROL) {
        return match event.code {
            KeyCode::Char('c') => Some(Action::Abort),
            KeyCode::Char('r') => Some(Action::Redo),
            _ => None,
        };
    }
    Some(match event.code {
        KeyCode::Left | KeyCode::Char('H') => Action::Step(-1, 0),
        KeyCode::Down | KeyCode::Char('J') => Action::Step(0, 1),
        KeyCode::Up | KeyCode::Char('K') => Action::Step(0, -1),
        KeyCode::Right | KeyCode::Char('L') => Action::Step(1, 0),
        KeyCode::Enter | KeyCode::Char(' ') => Action::Pick,
        KeyCode::Esc => Action::Cancel,
        KeyCode::Tab => Action::NextPiece,
        KeyCode::Char(letter) => match letter {
            'h' => Action::Hint,
            'u' => Action::Undo,
            'r' => Action::Redo,
            'f' => Action::Flip,
            'p' => Action::Pause,
            'R' => Action::Resign,
            'n' => Action::New { swap: false },
            'x' => Action::New { swap: true },
            's' => Action::Save,
            'q' => Action::Quit,
            'y' => Action::Confirm,
            '?' => Action::Help,
            _ => return None,
        },
        _ => return None,
    })
}

/// What the mouse asks for.
pub(super) fn mouse(event: MouseEvent) -> Option<Action> {
    let point = Point::new(event.column, event.row);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => Some(Action::PickAt(point)),
        MouseEventKind::Up(MouseButton::Left) => Some(Action::DropAt(point)),
        MouseEventKind::Down(MouseButton::Right) => Some(Action::Cancel),
        _ => None,
    }
}
