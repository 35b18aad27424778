//! Recorded games by seeded random play, with policies and values made up from the same numbers.

use hnefi_engine::{MoveList, NamedRules, Position, Preset, Rules, Side};
use hnefi_inference::{Handicap, Wdl};
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_search::{Rng, rng_for};
use rand::RngExt;

/// Game `number` under `rules`, at most `most_plies` long (a ply cap ends it then).
pub fn random_game(rules: Rules, number: u64, most_plies: u16) -> GameRecord {
    let mut rng = rng_for(&[77, number]);
    let rules = Rules { ply_cap: most_plies, ..rules };
    let mut position = Position::start(&rules);
    let mut moves = MoveList::new();
    let mut plies = Vec::new();
    while position.outcome().is_none() {
        position.legal_moves(&mut moves);
        let mv = moves[rng.random_range(0..moves.len())];
        let searched = !rng.random_bool(0.25);
        let policy = if searched {
            let other = moves[rng.random_range(0..moves.len())];
            if other == mv { vec![(mv, 1.0)] } else { vec![(mv, 0.75), (other, 0.25)] }
        } else {
            Vec::new()
        };
        plies.push(PlyRecord {
            mv,
            policy,
            playouts: if searched { 64 } else { 0 },
            raw: wdl(&mut rng),
            searched: wdl(&mut rng),
            trains: searched,
        });
        position.play_unchecked(mv);
    }
    GameRecord {
        game: number,
        seed: 77,
        rules,
        start: None,
        players: ["one \"quoted\" \\ name".to_owned(), "000002-deadbeef".to_owned()],
        handicap: Handicap::NONE,
        plies,
        outcome: position.outcome(),
        resigned: None,
        would_have_resigned: number.is_multiple_of(3).then_some(Side::Defenders),
    }
}

/// Games under every preset and under Magpie, some resigned, one begun from a position of its own with the defenders to
/// move.
pub fn mixed_games() -> Vec<GameRecord> {
    let magpie: NamedRules = "magpie".parse().expect("a published ruleset");
    let presets = Preset::ALL.iter().cycle().map(|preset| preset.rules());
    let rules = presets.take(23).chain([magpie.rules()]);
    let mut games: Vec<GameRecord> = (0..).zip(rules).map(|(number, rules)| random_game(rules, number, 60)).collect();
    for (index, side) in [(3, Side::Attackers), (10, Side::Defenders)] {
        let game = &mut games[index];
        game.plies.truncate(7);
        game.outcome = None;
        game.resigned = Some(side);
    }
    let played = random_game(Preset::Brandubh.rules(), 100, 40);
    games.push(from_ply(&played, 3));
    let own = Rules { shieldwall: true, no_capture_draw_plies: 20, ..Preset::Brandubh.rules() };
    games.push(random_game(own, 101, 50));
    games
}

/// The game as if it had begun at that ply.
fn from_ply(game: &GameRecord, ply: usize) -> GameRecord {
    let mut position = Position::start(&Rules { ply_cap: 0, ..game.rules });
    for played in &game.plies[..ply] {
        position.play_unchecked(played.mv);
    }
    let mut later = game.clone();
    later.rules.ply_cap = 0;
    later.start = Some(position.fen());
    later.plies.drain(..ply);
    // Replayed without the cap, the end is whatever the moves lead to, or the winner's opponent gives up.
    let mut last = position.clone();
    for played in &later.plies {
        last.play_unchecked(played.mv);
    }
    later.outcome = last.outcome();
    later.resigned = later.outcome.is_none().then_some(Side::Attackers);
    later
}

fn wdl(rng: &mut Rng) -> Wdl {
    let (win, draw) = (rng.random::<f32>() / 2.0, rng.random::<f32>() / 2.0);
    Wdl { win, draw, loss: 1.0 - win - draw }
}
