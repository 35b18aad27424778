//! The game that the client has set up.

use hnefi_engine::{Move, Position, Rules};

use super::command::shown;

/// A start, the moves since, and where they lead.
#[derive(Clone, Debug)]
pub(super) struct Game {
    /// FEN of the start; `None` for the standard one.
    start: Option<String>,
    moves: Vec<Move>,
    pub(super) position: Position,
}

impl Game {
    /// The standard start.
    pub(super) fn start(rules: &Rules) -> Game {
        Game { start: None, moves: Vec::new(), position: Position::start(rules) }
    }

    /// Reads what a `position` line says.
    ///
    /// # Errors
    /// When the FEN cannot stand or a move is none or illegal.
    pub(super) fn read(rules: &Rules, fen: Option<&str>, moves: &[String]) -> Result<Game, String> {
        let mut game = match fen {
            None => Game::start(rules),
            Some(fen) => {
                let position = Position::from_fen(rules, fen).map_err(|error| error.to_string())?;
                Game { start: Some(position.fen()), moves: Vec::new(), position }
            }
        };
        for (index, text) in moves.iter().enumerate() {
            let played = Move::parse(text, rules.size)
                .map_err(|error| error.to_string())
                .and_then(|mv| game.position.play(mv).map(|_| mv).map_err(|error| error.to_string()));
            match played {
                Ok(mv) => game.moves.push(mv),
                Err(problem) => return Err(format!("move {} of the position, {}: {problem}", index + 1, shown(text))),
            }
        }
        Ok(game)
    }

    /// The moves from `earlier` to here, if that is this game at an earlier time.
    pub(super) fn since(&self, earlier: &Game) -> Option<&[Move]> {
        let same = self.start == earlier.start && self.position.rules() == earlier.position.rules();
        self.moves.strip_prefix(earlier.moves.as_slice()).filter(|_| same)
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    const FEN: &str = "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a";

    fn game(fen: Option<&str>, moves: &[&str]) -> Result<Game, String> {
        let moves: Vec<String> = moves.iter().map(|&mv| mv.to_owned()).collect();
        Game::read(&Preset::Brandubh.rules(), fen, &moves)
    }

    #[test]
    fn a_game_goes_on_from_itself_and_from_no_other() {
        let earlier = game(None, &["d6f6"]).expect("legal");
        let later = game(None, &["d6f6", "d5f5"]).expect("legal");
        assert_eq!(later.since(&earlier).map(<[Move]>::len), Some(1));
        assert_eq!(later.since(&later).map(<[Move]>::len), Some(0));
        assert_eq!(earlier.since(&later), None);
        assert_eq!(game(None, &["d6e6", "d5f5"]).expect("legal").since(&earlier), None);
        let from_fen = game(Some(FEN), &["d6f6", "d5f5"]).expect("legal");
        assert_eq!(from_fen.since(&earlier), None);
        assert_eq!(from_fen.since(&game(Some(FEN), &[]).expect("legal")).map(<[Move]>::len), Some(2));
    }

    #[test]
    fn refusals_name_the_move() {
        let large = "3aaaaa3/5a5/11/a4d4a/a3ddd3a/aa1ddkdd1aa/a3ddd3a/a4d4a/11/5a5/3aaaaa3 a";
        for (fen, moves, message) in [
            (None, "d6f6 d6f6", "move 2 of the position, \"d6f6\": "),
            (None, "d6f9", "f9 lies off the 7x7 board"),
            (None, "resign", "move 1 of the position, \"resign\""),
            (Some("7/7/7/7/7/7/7 a"), "", "no king"),
            (Some("3a3 a"), "", "1 rows; expected 7"),
            (Some(large), "", "11 rows; expected 7"),
        ] {
            let moves: Vec<&str> = moves.split_whitespace().collect();
            let problem = game(fen, &moves).expect_err(message);
            assert!(problem.contains(message), "{problem}");
        }
    }
}
