//! Files of finished games, and games as text.

use hnefi_data::replay_line;
use hnefi_record::pgn;
use hnefi_record::{GameId, GameRecord, PgnReader, json_line};
use hnefi_run::codec::GAMES;
use hnefi_run::{decode_games, encode_games};

use crate::{envelope, sample, within};

/// The longest game whose texts are tried.
const LONGEST: usize = 500;

/// The memory that data of this many bytes may take: the file, a game, and all games.
pub fn allowed(data: usize) -> usize {
    (24 << 20) + 24 * data
}

/// A file of games: what is read is written and read as the same.
pub fn records(input: &[u8]) {
    let Some((file, data)) = envelope::file(GAMES, input) else { return };
    let Ok(games) = within(allowed(data), || decode_games("a file", &file)) else { return };
    let written = encode_games(&games);
    let read = decode_games("its copy", &written).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(encode_games(&read), written);
    games.iter().take(8).for_each(texts);
}

/// A game that is right can be written as text and as JSON, and is read back.
pub fn texts(game: &GameRecord) {
    if game.plies.len() > LONGEST || game.check().is_err() {
        return;
    }
    let text = pgn::text(game, None).unwrap_or_else(|error| panic!("{error}"));
    let read: Vec<_> = PgnReader::new(text.as_bytes()).collect();
    let [Ok(read)] = read.as_slice() else { panic!("{read:?} of {text}") };
    let moves = |game: &GameRecord| game.plies.iter().map(|ply| ply.mv).collect::<Vec<_>>();
    assert_eq!((read.rules, moves(read), read.ending()), (game.rules, moves(game), game.ending()), "{text}");
    assert_eq!(fen(read), fen(game), "{text}");
    assert_eq!(pgn::text(read, None).ok().as_deref(), Some(text.as_str()));
    assert_eq!(GameId::of(read), GameId::of(game), "{text}");

    let line = json_line(game, None).unwrap_or_else(|error| panic!("{error}"));
    let answer = replay_line(&line);
    assert_eq!((answer.error, answer.plies.len()), (None, game.plies.len()), "{line}");
}

fn fen(game: &GameRecord) -> String {
    game.start_position().unwrap_or_else(|error| panic!("{error}")).fen()
}

pub fn seeds() -> Vec<Vec<u8>> {
    let games = sample::games();
    let files = games.iter().map(|game| encode_games(std::slice::from_ref(game))).chain([encode_games(&[])]);
    files.flat_map(envelope::seeds).collect()
}
