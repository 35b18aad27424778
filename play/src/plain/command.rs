//! What a person may type.

use std::path::PathBuf;

use hnefi_engine::{BoardSize, Move};

/// The commands, for `help`.
pub(super) const HELP: &str = "\
a4b4         move the piece on a4 to b4
moves        list the legal moves, piece by piece
hint         ask for a good move
undo, redo   take back to your last decision, or play it again
board, fen   show the position, as a board or as FEN
save [FILE]  save the game as FILE.pgn or FILE.jsonl (as both under a free number without a name)
resign       give the game up
new, swap    begin again, on the same side or on the other
quit         leave";

/// One line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Nothing,
    Play(Move),
    Moves,
    Hint,
    Undo,
    Redo,
    Board,
    Fen,
    Save(Option<PathBuf>),
    Resign,
    New { swap: bool },
    Help,
    Quit,
}

impl Command {
    /// Reads a line; anything that is no command must be a move.
    ///
    /// # Errors
    /// A message for the person.
    pub(super) fn parse(line: &str, size: BoardSize) -> Result<Command, String> {
        let (word, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(word, rest)| (word, rest.trim()));
        let command = match word {
            "" => Command::Nothing,
            "moves" => Command::Moves,
            "hint" => Command::Hint,
            "undo" => Command::Undo,
            "redo" => Command::Redo,
            "board" => Command::Board,
            "fen" => Command::Fen,
            "resign" => Command::Resign,
            "new" => Command::New { swap: false },
            "swap" => Command::New { swap: true },
            "help" | "?" => Command::Help,
            "quit" | "exit" => Command::Quit,
            // The one command that takes something; a file name may hold spaces.
            "save" => return Ok(Command::Save((!rest.is_empty()).then(|| PathBuf::from(rest)))),
            _ => Command::Play(parse_move(line, size)?),
        };
        match (rest, &command) {
            ("", _) | (_, Command::Play(_)) => Ok(command),
            _ => Err(format!("{word} takes nothing after it; found {rest:?}.")),
        }
    }
}

/// Squares may be apart, as in `a4 b4`.
fn parse_move(line: &str, size: BoardSize) -> Result<Move, String> {
    let squeezed: String = line.split_whitespace().collect();
    Move::parse(&squeezed, size).map_err(|error| {
        let starts_as_move =
            line.starts_with(|c: char| c.is_ascii_alphabetic()) && line.contains(|c: char| c.is_ascii_digit());
        if starts_as_move { format!("{error}.") } else { format!("Unknown command {line:?}; `help` lists them.") }
    })
}
