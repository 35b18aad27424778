//! Recorded human games, found through the environment variable `HNEFI_GAMES` (a folder; the games are not ours to
//! distribute). Every move must be legal, capture what the record says and end the game only on the last ply, with
//! the recorded winner.

use std::path::{Path, PathBuf};

use hnefi_engine::{Move, MoveList, Position, Preset, Repetition, Rules, Side, Square};

/// What a folder of games came to.
#[derive(Debug, Default)]
struct Totals {
    games: usize,
    plies: usize,
    /// Games that ended on the board.
    ended: usize,
    /// Legal moves wherever a side was to move.
    moves: [Vec<usize>; 2],
    /// Plies of each game.
    lengths: Vec<usize>,
}

#[test]
#[ignore = "needs recorded games, which are other people's data (HNEFI_GAMES)"]
fn recorded_games_on_11x11_replay() {
    let folder = games_folder();
    let rules = without_draws(Preset::Copenhagen);
    let mut totals = Totals::default();
    for file in ["games.csv", "games_test.csv"] {
        replay_file(&rules, &folder.join(file), &mut totals);
    }
    assert_eq!((totals.games, totals.plies, totals.ended), (1752, 87_274, 372));
    // What docs/RULES.md tells of these games.
    let [attackers, defenders] = [Side::Attackers, Side::Defenders].map(|side| &totals.moves[side.index()]);
    let mean = |counts: &[usize]| (counts.iter().sum::<usize>() as f64 / counts.len() as f64).round() as usize;
    let largest = |counts: &[usize]| counts.iter().max().copied();
    assert_eq!((mean(attackers), largest(attackers)), (152, Some(256)));
    assert_eq!((mean(defenders), largest(defenders)), (74, Some(143)));
    totals.lengths.sort_unstable();
    assert_eq!((totals.lengths[totals.games / 2], largest(&totals.lengths)), (41, Some(341)));
}

#[test]
#[ignore = "needs recorded games, which are other people's data (HNEFI_GAMES)"]
fn recorded_games_on_7x7_replay() {
    let folder = games_folder();
    let rules = without_draws(Preset::Brandubh);
    let mut totals = Totals::default();
    for file in ["games_brandubh.csv", "games_brandubh_test.csv"] {
        replay_file(&rules, &folder.join(file), &mut totals);
    }
    assert_eq!((totals.games, totals.plies), (525, 11_226));
    assert!(totals.ended > 100, "{totals:?}");
}

fn games_folder() -> PathBuf {
    std::env::var_os("HNEFI_GAMES").map(PathBuf::from).expect("HNEFI_GAMES, the folder of games.csv and its siblings")
}

/// People played on where these rules would have ended the game.
fn without_draws(preset: Preset) -> Rules {
    Rules { repetition: Repetition::Ignore, draw_fort_occurrence: 0, no_capture_draw_plies: 0, ..preset.rules() }
}

fn replay_file(rules: &Rules, path: &Path, totals: &mut Totals) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("game,moves,captures_by_attackers,captures_by_defenders,result"), "{path:?}");
    for line in lines {
        let columns: Vec<&str> = line.split(',').collect();
        let [game, moves, by_attackers, by_defenders, result] = columns[..] else {
            panic!("{}: {line:?}: expected five columns", path.display());
        };
        let context = format!("{}, game {game}", path.display());
        let counts = [by_attackers, by_defenders].map(|count| count.parse().unwrap());
        replay_game(rules, moves, counts, result, &context, totals);
    }
}

fn replay_game(rules: &Rules, moves: &str, captures: [usize; 2], result: &str, context: &str, totals: &mut Totals) {
    let mut position = Position::start(rules);
    let mut counted = [0; 2];
    let mut legal = MoveList::new();
    for text in moves.split_whitespace().filter(|&text| text != "timeout") {
        let context = format!("{context}, ply {} ({text})", position.ply() + 1);
        assert_eq!(position.outcome(), None, "{context}: the game was over");
        let side = position.side_to_move();
        let king = position.board().king();
        position.legal_moves(&mut legal);
        totals.moves[side.index()].push(legal.len());
        let (mv, recorded) = Move::parse_with_captures(text, rules.size()).unwrap();
        let captured = position.play(mv).unwrap_or_else(|error| panic!("{context}: {error}\n{}", position.diagram()));
        // Records do not mark the capture of the king.
        let mut men: Vec<Square> = captured.filter(|&square| side == Side::Defenders || Some(square) != king).collect();
        let mut recorded = recorded;
        // A man taken both custodially and by a shieldwall is named, and counted, twice.
        counted[side.index()] += recorded.len();
        recorded.sort();
        recorded.dedup();
        men.sort();
        assert_eq!(men, recorded, "{context}: captures\n{}", position.diagram());
        totals.plies += 1;
    }
    totals.games += 1;
    totals.lengths.push(position.ply() as usize);
    assert_eq!(counted, captures, "{context}: captures by each side");
    if let Some(outcome) = position.outcome() {
        totals.ended += 1;
        let winner = match result {
            "White" => Some(Side::Defenders),
            "Black" => Some(Side::Attackers),
            _ => None,
        };
        assert_eq!(outcome.winner(), winner, "{context}: recorded as {result:?}, {outcome:?}\n{}", position.diagram());
    }
}
