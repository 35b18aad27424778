//! `Game` against lists kept beside a `Position`, along seeded random games of all presets.

use hnefi_engine::{
    Bitboard, Ending, Game, GameOver, GameResult, IllegalMoveReason, Move, NamedRules, Outcome, Ply, Position, Preset,
    Reason, Rules, Side, Symmetry,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;

/// A random game of at most `plies` plies, with the lists that it must agree with.
fn random_game(preset: Preset, plies: usize, rng: &mut Rng) -> (Game, Vec<Position>, Vec<Ply>) {
    let mut position = Position::start(&preset.rules());
    let (mut game, mut positions, mut listed) = (Game::new(&preset.rules()), vec![position.clone()], Vec::new());
    while listed.len() < plies {
        let Some(mv) = position.random_move(|count| rng.random_range(0..count)) else { break };
        let (side, captured) = (position.side_to_move(), position.play(mv).unwrap());
        listed.push(Ply { side, mv, captured });
        positions.push(position.clone());
        assert_eq!(game.play(mv).unwrap(), &listed[listed.len() - 1]);
    }
    (game, positions, listed)
}

/// What tells positions of a game apart.
fn key(position: &Position) -> (String, u64, u32, Option<Outcome>) {
    (position.fen(), position.state_key(), position.occurrences(), position.outcome())
}

#[test]
fn a_game_is_the_list_of_its_plies_and_positions() {
    let mut rng = Rng::seed_from_u64(30);
    for preset in Preset::ALL {
        let (game, positions, plies) = random_game(preset, 300, &mut rng);
        assert_eq!(
            (game.plies(), game.len(), game.outcome()),
            (&plies[..], plies.len(), positions[plies.len()].outcome())
        );
        assert!(game.moves().eq(plies.iter().map(|ply| ply.mv)));
        assert!(game.position().moves().eq(game.moves()));
        assert_eq!(game.ending(), game.outcome().map(Ending::Board));
        assert!(game.positions().map(|position| key(&position)).eq(positions.iter().map(key)), "{preset}");
        for ply in [0, 1, plies.len() / 2, plies.len()] {
            let mut position = game.position_at(ply).unwrap();
            assert_eq!(key(&position), key(&positions[ply]), "{preset}, ply {ply}");
            // It can be played on: counting and repetition know the same past.
            if let Some(next) = plies.get(ply) {
                position.play(next.mv).unwrap();
                assert_eq!(key(&position), key(&positions[ply + 1]));
            }
        }
        assert!(game.position_at(plies.len() + 1).is_none());
    }
}

#[test]
fn plies_are_taken_back_to_the_start_and_played_again() {
    let mut rng = Rng::seed_from_u64(31);
    for preset in Preset::ALL {
        let (mut game, positions, plies) = random_game(preset, 120, &mut rng);
        for ply in (0..plies.len()).rev() {
            assert_eq!(game.undo(), Some(plies[ply]));
            assert_eq!(key(game.position()), key(&positions[ply]));
        }
        assert_eq!((game.undo(), game.is_empty(), game.last()), (None, true, None));
        for ply in &plies {
            game.play(ply.mv).unwrap();
        }
        assert_eq!(key(game.position()), key(&positions[plies.len()]));
    }
}

#[test]
fn a_game_may_begin_anywhere() {
    let rules = Preset::Brandubh.rules();
    let fen = "3a3/7/7/a2k3/7/7/3a3 d";
    let game = Game::from_fen(&rules, fen).unwrap();
    assert_eq!((game.start_fen().as_deref(), game.position().fen()), (Some(fen), fen.to_owned()));
    assert_eq!(Game::new(&rules).start_fen(), None);
    let standard = Game::new(&rules).start().fen();
    assert_eq!(Game::from_fen(&rules, &standard).unwrap().start_fen(), None);
    assert!(Game::from_fen(&rules, "7/7/7/7/7/7/7 a").is_err());

    let mut rng = Rng::seed_from_u64(32);
    let (earlier, ..) = random_game(Preset::Brandubh, 20, &mut rng);
    let symmetry = Symmetry::ALL[5];
    let mut game = Game::from_position(earlier.position().transformed(symmetry));
    assert_eq!((game.len(), game.position().ply()), (0, earlier.position().ply()));
    while let Some(mv) = game.position().random_move(|count| rng.random_range(0..count)) {
        game.play(mv).unwrap();
    }
    assert_eq!(key(&game.position_at(0).unwrap()), key(game.start()));
    assert!(game.positions().nth(game.len()).is_some_and(|last| key(&last) == key(game.position())));
}

#[test]
fn a_game_goes_on_from_itself_and_from_no_other() {
    let game = |rules, fen: Option<&str>, moves: &[&str]| {
        let mut game = fen.map_or(Game::new(rules), |fen| Game::from_fen(rules, fen).unwrap());
        for text in moves {
            game.play(Move::parse(text, rules.size()).unwrap()).unwrap();
        }
        game
    };
    let rules = Preset::Brandubh.rules();
    let since = |later: &Game, earlier: &Game| later.plies_since(earlier).map(<[Ply]>::len);
    let earlier = game(&rules, None, &["d6f6"]);
    let later = game(&rules, None, &["d6f6", "d5f5"]);
    assert_eq!((since(&later, &earlier), since(&later, &later), since(&earlier, &later)), (Some(1), Some(0), None));
    assert_eq!(since(&game(&rules, None, &["d6e6", "d5f5"]), &earlier), None);
    let capped = hnefi_engine::Rules { ply_cap: 9, ..rules };
    assert_eq!(since(&game(&capped, None, &["d6f6", "d5f5"]), &earlier), None, "other rules");
    let fen = "3a3/3a3/3d3/aadkda1/3d3/3a3/3a3 a";
    assert_eq!(since(&game(&rules, Some(fen), &["d6f6", "d5f5"]), &earlier), None, "another start");
}

#[test]
fn the_end_by_resignation_is_an_end() {
    let rules = Preset::Brandubh.rules();
    let mut game = Game::new(&rules);
    game.play(Move::parse("d6f6", rules.size()).unwrap()).unwrap();
    assert_eq!((game.ending(), game.result_for(Side::Attackers)), (None, None));
    game.resign(Side::Defenders).unwrap();
    let resigned = Ending::Resigned(Side::Defenders);
    assert_eq!((game.ending(), game.outcome()), (Some(resigned), None));
    assert_eq!(game.result_for(Side::Attackers), Some(GameResult::Win));
    assert_eq!(game.resign(Side::Attackers), Err(GameOver(resigned)));
    let refused = game.play(Move::parse("d5f5", rules.size()).unwrap()).unwrap_err();
    assert_eq!(refused.reason, IllegalMoveReason::GameOver(resigned));
    assert_eq!(refused.to_string(), "illegal move d5f5: the game is over, the defenders have resigned");
    assert!(game.withdraw_resignation() && !game.withdraw_resignation());
    assert_eq!((game.ending(), game.len()), (None, 1));
    game.play(Move::parse("d5f5", rules.size()).unwrap()).unwrap();
    game.resign(Side::Attackers).unwrap();
    assert_eq!(game.undo().map(|ply| ply.mv.text(rules.size())).as_deref(), Some("d5f5"));
    assert_eq!((game.ending(), game.len()), (None, 1));
}

#[test]
fn the_end_on_the_board_cannot_be_resigned() {
    let rules = Preset::Brandubh.rules();
    let mut game = Game::from_fen(&rules, "7/k6/7/7/7/7/3a3 d").unwrap();
    game.play(Move::parse("a6a7", rules.size()).unwrap()).unwrap();
    let ending = Ending::Board(Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped });
    assert_eq!((game.ending(), game.resign(Side::Attackers)), (Some(ending), Err(GameOver(ending))));
    assert_eq!(
        [Side::Attackers, Side::Defenders].map(|side| game.result_for(side)),
        [Some(GameResult::Loss), Some(GameResult::Win)]
    );
}

#[test]
fn results_of_the_two_sides_are_each_others_reverse() {
    for winner in [None, Some(Side::Attackers), Some(Side::Defenders)] {
        let [attackers, defenders] = Side::BOTH.map(|side| GameResult::of_winner(winner, side));
        assert_eq!((attackers.score() + defenders.score(), attackers.reversed()), (1.0, defenders));
        assert_eq!(attackers.cmp(&GameResult::Draw), winner.map_or(0, |side| 1 - 2 * side.index() as i32).cmp(&0));
    }
}

#[test]
fn a_captured_king_is_among_the_captured() {
    let rules = Preset::Brandubh.rules();
    let mut game = Game::from_fen(&rules, "7/2a4/1aka3/7/2a3a/7/7 a").unwrap();
    let mv = Move::parse("c3c4", rules.size()).unwrap();
    let king = Bitboard::of(game.position().board().king().unwrap());
    let ply = *game.play(mv).unwrap();
    assert_eq!((ply.side, ply.captured), (Side::Attackers, king));
    assert_eq!(game.undo(), Some(ply));
    assert_eq!(game.position().board().king(), king.first());
}

/// A board without corners or throne, and with these words beside.
fn hall(words: &str) -> Rules {
    let start = "start:/3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3/";
    format!("dim:9 {words} {start}").parse::<NamedRules>().expect("rules").rules()
}

#[test]
fn a_fort_that_one_move_breaks_is_none() {
    for (words, fen) in [
        // The attacker on d3 stands where nobody may go, but he stands there.
        ("efe:y surf:n afor:d3 aforre: aforh:", "5a3/9/9/9/9/9/3ad4/3dkd3/3d1d3 d"),
        // The empty fort captures, too.
        ("efe:y surf:n afor:d3", "5a3/9/9/9/9/9/4d4/3dkd3/3d1d3 d"),
    ] {
        let rules = hall(words);
        let mut game = Game::from_fen(&rules, fen).expect("a position");
        let mut play = |text: &str| game.play(Move::parse(text, rules.size()).unwrap()).expect("legal").captured.len();
        play("e2e1");
        assert_eq!(play("f9f3"), 1, "{words}");
    }
}

#[test]
fn an_enemy_on_a_closing_corner_does_not_save_his_row() {
    for flank in ["", "swf:n "] {
        let rules = hall(&format!("sw:s {flank}esc:e cors:tTK corp:tTK corh:"));
        let mut game = Game::from_fen(&rules, "9/9/9/4k4/9/9/3a5/aaa6/ddd6 a").expect("a position");
        let played = game.play(Move::parse("d3d1", rules.size()).unwrap()).expect("legal");
        assert_eq!(played.captured.len(), 2, "{flank}");
    }
}
