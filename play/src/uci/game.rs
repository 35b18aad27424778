//! The game that the client has set up.

use hnefi_engine::{Game, Move, Rules};

use super::command::shown;

/// Reads what a `position` line says.
///
/// # Errors
/// When the FEN cannot stand or a move is none or illegal.
pub(super) fn read(rules: &Rules, fen: Option<&str>, moves: &[String]) -> Result<Game, String> {
    let mut game = match fen {
        None => Game::new(rules),
        Some(fen) => Game::from_fen(rules, fen).map_err(|error| error.to_string())?,
    };
    for (index, text) in moves.iter().enumerate() {
        let played = Move::parse(text, rules.size())
            .map_err(|error| error.to_string())
            .and_then(|mv| game.play(mv).map(drop).map_err(|error| error.to_string()));
        played.map_err(|problem| format!("move {} of the position, {}: {problem}", index + 1, shown(text)))?;
    }
    Ok(game)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Ply, Preset};

    use super::*;

    /// The start without the attacker on d1.
    const FEN: &str = "3a3/3a3/3d3/aadkdaa/3d3/3a3/7 a";

    fn game(fen: Option<&str>, moves: &[&str]) -> Result<Game, String> {
        let moves: Vec<String> = moves.iter().map(|&mv| mv.to_owned()).collect();
        read(&Preset::Brandubh.rules(), fen, &moves)
    }

    #[test]
    fn a_game_goes_on_from_itself_and_from_no_other() {
        let earlier = game(None, &["d6f6"]).expect("legal");
        let later = game(None, &["d6f6", "d5f5"]).expect("legal");
        assert_eq!(later.plies_since(&earlier).map(<[Ply]>::len), Some(1));
        assert_eq!(later.plies_since(&later).map(<[Ply]>::len), Some(0));
        assert_eq!(earlier.plies_since(&later), None);
        assert_eq!(game(None, &["d6e6", "d5f5"]).expect("legal").plies_since(&earlier), None);
        let from_fen = game(Some(FEN), &["d6f6", "d5f5"]).expect("legal");
        assert_eq!(from_fen.plies_since(&earlier), None);
        assert_eq!(from_fen.plies_since(&game(Some(FEN), &[]).expect("legal")).map(<[Ply]>::len), Some(2));
        let start = earlier.start().fen();
        let spelt_out = game(Some(&start), &["d6f6", "d5f5"]).expect("legal");
        assert_eq!(spelt_out.plies_since(&earlier).map(<[Ply]>::len), Some(1), "the start is one, however it is named");
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
