//! What the server's lines say. Most are news of other games, which are passed over.

use hnefi_engine::{GameResult, Move, Rules, Side};

/// A line that a player needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The password is right.
    LoggedIn,
    /// The server refuses what it was sent.
    Refused(String),
    /// Our offer has this number.
    Offered(u128),
    /// Somebody wants to play the game that we offered.
    Challenged(u128),
    /// We have asked to play this game.
    Asked(u128),
    /// A game begins between these players, attackers first.
    Begun { attackers: String, defenders: String, board: String },
    /// This side is to move.
    ToMove { game: u128, side: Side },
    /// The other side has moved.
    Moved { game: u128, side: Side, from: String, to: String },
    /// The other side has resigned.
    Resigned { game: u128, side: Side },
    /// The game is over; the winner, or none for a draw.
    Over { game: u128, winner: Option<Side> },
    /// The game under way is drawn, by its length or because both sides agree.
    Drawn,
    /// News.
    Other,
}

impl Line {
    pub(super) fn read(text: &str) -> Line {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        read_words(&words).unwrap_or(Line::Other)
    }
}

fn read_words(words: &[&str]) -> Option<Line> {
    let number = |word: &str| word.parse::<u128>().ok();
    Some(match words {
        ["=", "login", ..] => Line::LoggedIn,
        ["?", rest @ ..] => Line::Refused(rest.join(" ")),
        ["=", "new_game", game] => Line::Offered(number(game)?),
        ["=", "challenge_requested", game] => Line::Challenged(number(game)?),
        ["=", "join_game_pending", game] => Line::Asked(number(game)?),
        ["=", "join_game", attackers, defenders, .., board] => Line::Begun {
            attackers: (*attackers).to_owned(),
            defenders: (*defenders).to_owned(),
            board: (*board).to_owned(),
        },
        ["game", game, "generate_move", role] => Line::ToMove { game: number(game)?, side: side_of(role)? },
        ["game", game, "play", role, "resigns", ..] => Line::Resigned { game: number(game)?, side: side_of(role)? },
        ["game", game, "play", role, from, to] => {
            Line::Moved { game: number(game)?, side: side_of(role)?, from: (*from).to_owned(), to: (*to).to_owned() }
        }
        ["=", "draw", "accept"] => Line::Drawn,
        ["=", "game_over", game, status] => {
            let winner = match *status {
                "attacker_wins" => Some(Side::Attackers),
                "defender_wins" => Some(Side::Defenders),
                "draw" => None,
                _ => return None,
            };
            Line::Over { game: number(game)?, winner }
        }
        _ => return None,
    })
}

fn side_of(role: &str) -> Option<Side> {
    Side::BOTH.into_iter().find(|&side| role_of(side) == role)
}

/// What the server calls a side.
pub(super) fn role_of(side: Side) -> &'static str {
    match side {
        Side::Attackers => "attacker",
        Side::Defenders => "defender",
    }
}

/// The line that makes our move.
pub(super) fn play(game: u128, side: Side, mv: Move, rules: &Rules) -> String {
    let (from, to) = (mv.from().name(rules.size()), mv.to().name(rules.size()));
    format!("game {game} play {} {from} {to}", role_of(side))
}

/// The line that gives a game up.
pub(super) fn resign(game: u128, side: Side) -> String {
    format!("game {game} play {} resigns _", role_of(side))
}

/// The result for `side` of a game that `winner` won.
pub(super) fn result(winner: Option<Side>, side: Side) -> GameResult {
    GameResult::of_winner(winner, side)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the sources and tests of hnefatafl-copenhagen 6.4.1 have them.
    #[test]
    fn the_servers_lines_are_understood() {
        let begun = |board: &str| Line::Begun {
            attackers: "alice".to_owned(),
            defenders: "bob".to_owned(),
            board: board.to_owned(),
        };
        let side = Side::Attackers;
        for (text, line) in [
            ("= login", Line::LoggedIn),
            ("? login wrong_version", Line::Refused("login wrong_version".to_owned())),
            ("= new_game 0", Line::Offered(0)),
            ("= join_game_pending 7", Line::Asked(7)),
            ("= challenge_requested 7", Line::Challenged(7)),
            ("= join_game alice bob rated fischer 900000 10 11", begun("11")),
            ("= join_game alice bob unrated un-timed 11", begun("11")),
            ("game 7 generate_move attacker", Line::ToMove { game: 7, side }),
            ("game 7 play attacker a4 b4", Line::Moved { game: 7, side, from: "a4".into(), to: "b4".into() }),
            ("game 7 play defender resigns ", Line::Resigned { game: 7, side: Side::Defenders }),
            ("= game_over 7 defender_wins", Line::Over { game: 7, winner: Some(Side::Defenders) }),
            ("= game_over 7 draw", Line::Over { game: 7, winner: None }),
            ("= game_over 7 nonsense", Line::Other),
            ("= draw accept", Line::Drawn),
            ("= draw decline", Line::Other),
            ("game x generate_move attacker", Line::Other),
            ("game 7 generate_move roleless", Line::Other),
            ("= display_users alice bob", Line::Other),
            ("", Line::Other),
        ] {
            assert_eq!(Line::read(text), line, "{text}");
        }
    }
}
