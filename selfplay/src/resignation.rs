//! Resignation of hopeless games, and verification of the rule.
//!
//! A side resigns after several consecutive turns with a searched score below a threshold. To verify the rule, at first
//! all games and later a share of them are played to the end, and the record notes the side that would have resigned. A
//! side may resign only while fewer than `max_wrong` of its latest verified games were not lost (a draw counts as not
//! lost). Every board has its own games: a network that knows which games on 7x7 are lost may know nothing of 11x11.
//! The counts change only at the end of a generation, in the order of its games: the fleet's own by number, so that the
//! number of threads does not affect them, then those of workers.

use std::collections::{BTreeMap, VecDeque};

use hnefi_engine::{BoardSize, Side};
use serde::{Deserialize, Serialize};

use hnefi_run::config::ResignConfig;
use hnefi_run::{GameRecord, ResignSummary};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Verification {
    /// For each side, oldest first: whether resigning would have been wrong.
    boards: BTreeMap<BoardSize, [VecDeque<bool>; 2]>,
}

impl Verification {
    /// Adds finished games, in the order of [`super::Generation::games`].
    pub(super) fn observe(&mut self, games: &[GameRecord], config: &ResignConfig) {
        for game in games {
            let (Some(side), Some(outcome)) = (game.would_have_resigned, game.outcome) else { continue };
            let latest = &mut self.boards.entry(game.rules.size()).or_default()[side.index()];
            latest.push_back(outcome.winner() != Some(side.opponent()));
            while latest.len() > config.min_verified as usize {
                latest.pop_front();
            }
        }
    }

    pub(super) fn is_active(&self, board: BoardSize, side: Side, config: &ResignConfig) -> bool {
        let Some(latest) = self.boards.get(&board).map(|sides| &sides[side.index()]) else { return false };
        let share = count_wrong(latest) as f32 / latest.len().max(1) as f32;
        config.enabled && latest.len() >= config.min_verified as usize && share < config.max_wrong
    }

    /// Counts and state of the rule over all boards.
    pub(super) fn summary(&self, config: &ResignConfig) -> ResignSummary {
        let sum = |side: Side, count: fn(&VecDeque<bool>) -> u32| {
            self.boards.values().map(|sides| count(&sides[side.index()])).sum()
        };
        let sides = [Side::Attackers, Side::Defenders];
        ResignSummary {
            verified: sides.map(|side| sum(side, |latest| latest.len() as u32)),
            wrong: sides.map(|side| sum(side, count_wrong)),
            active: sides.map(|side| self.boards.keys().any(|&board| self.is_active(board, side, config))),
        }
    }
}

fn count_wrong(latest: &VecDeque<bool>) -> u32 {
    latest.iter().filter(|&&wrong| wrong).count() as u32
}

/// Whether the side that made the last ply has been hopeless for enough turns. Sides alternate, so every second ply is
/// its own.
pub(super) fn is_hopeless(record: &GameRecord, config: &ResignConfig) -> bool {
    let own_turns = record.plies.iter().rev().step_by(2);
    let hopeless = own_turns
        .take(config.plies as usize)
        .filter(|ply| (ply.trains || ply.playouts > 0) && ply.searched.score() < config.threshold)
        .count();
    hopeless == config.plies as usize
}

/// Applies the rule after a ply by `mover`: the side resigns, or the record notes that it would have. A game with such
/// a note is played to the end whatever follows. If the other side could resign, the games that prove the first one
/// wrong would be missing from its counts.
pub(super) fn apply(
    record: &mut GameRecord,
    mover: Side,
    verifies: bool,
    verification: &Verification,
    config: &ResignConfig,
) {
    if record.is_finished() || record.would_have_resigned.is_some() || !is_hopeless(record, config) {
        return;
    }
    if !verifies && verification.is_active(record.rules.size(), mover, config) {
        record.resigned = Some(mover);
    } else {
        record.would_have_resigned = Some(mover);
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Move, Outcome, Preset, Reason, Square};
    use hnefi_inference::Wdl;

    use super::*;
    use hnefi_run::PlyRecord;

    const CONFIG: ResignConfig =
        ResignConfig { enabled: true, threshold: 0.05, plies: 2, verify_share: 0.1, min_verified: 20, max_wrong: 0.05 };

    fn game(scores: &[f32]) -> GameRecord {
        let ply = |&score: &f32| PlyRecord {
            mv: Move::new(Square::new(0), Square::new(1)),
            policy: vec![],
            playouts: 8,
            raw: Wdl::DRAW,
            searched: Wdl { win: score, draw: 0.0, loss: 1.0 - score },
            trains: true,
        };
        GameRecord { plies: scores.iter().map(ply).collect(), ..GameRecord::new(0, 0, Preset::Brandubh.rules()) }
    }

    #[test]
    fn only_turns_of_ones_own_in_a_row_count() {
        assert!(is_hopeless(&game(&[0.01, 0.9, 0.04]), &CONFIG));
        assert!(!is_hopeless(&game(&[0.01, 0.01]), &CONFIG), "one turn each");
        assert!(!is_hopeless(&game(&[0.01, 0.9, 0.3, 0.9, 0.01]), &CONFIG), "hope in between");
        assert!(!is_hopeless(&game(&[0.01, 0.9, 0.05]), &CONFIG), "not below the threshold");
        let mut opening = game(&[0.01, 0.9, 0.01]);
        (opening.plies[0].playouts, opening.plies[0].trains) = (0, false);
        assert!(!is_hopeless(&opening, &CONFIG), "an opening ply was not searched");
    }

    /// A verified game that `side` would have resigned.
    fn finished(side: Side, winner: Option<Side>) -> GameRecord {
        let reason = Reason::KingEscaped;
        let outcome = winner.map_or(Outcome::Draw { reason }, |side| Outcome::Win { side, reason });
        GameRecord { outcome: Some(outcome), would_have_resigned: Some(side), ..game(&[]) }
    }

    #[test]
    fn a_game_ends_only_where_the_rule_is_active_and_not_verified() {
        let (none, mut both) = (Verification::default(), Verification::default());
        for side in [Side::Attackers, Side::Defenders] {
            both.observe(&vec![finished(side, Some(side.opponent())); 20], &CONFIG);
        }
        let hopeless = || game(&[0.01, 0.9, 0.01]);
        let mut played_on = hopeless();
        apply(&mut played_on, Side::Attackers, true, &both, &CONFIG);
        assert_eq!((played_on.resigned, played_on.would_have_resigned), (None, Some(Side::Attackers)));
        apply(&mut played_on, Side::Defenders, false, &none, &CONFIG);
        assert_eq!(played_on.would_have_resigned, Some(Side::Attackers), "the first to give up is noted");
        apply(&mut played_on, Side::Defenders, false, &both, &CONFIG);
        assert_eq!(played_on.resigned, None, "it goes on to show whether the attackers would have been wrong");
        let mut given_up = hopeless();
        apply(&mut given_up, Side::Attackers, false, &both, &CONFIG);
        assert_eq!((given_up.winner(), given_up.outcome), (Some(Side::Defenders), None));
    }

    #[test]
    fn every_board_is_verified_by_its_own_games() {
        let mut verification = Verification::default();
        verification.observe(&vec![finished(Side::Attackers, Some(Side::Defenders)); 20], &CONFIG);
        let mut large = GameRecord { rules: Preset::Copenhagen.rules(), ..game(&[0.01, 0.9, 0.01]) };
        apply(&mut large, Side::Attackers, false, &verification, &CONFIG);
        assert_eq!((large.resigned, large.would_have_resigned), (None, Some(Side::Attackers)));
        let drawn = GameRecord { rules: Preset::Copenhagen.rules(), ..finished(Side::Attackers, None) };
        verification.observe(&vec![drawn; 20], &CONFIG);
        assert!(verification.is_active(BoardSize::SEVEN, Side::Attackers, &CONFIG));
        assert!(!verification.is_active(BoardSize::ELEVEN, Side::Attackers, &CONFIG));
        let summary = verification.summary(&CONFIG);
        assert_eq!((summary.verified, summary.wrong, summary.active), ([40, 0], [20, 0], [true, false]));
        let text = serde_json::to_string(&verification).expect("JSON");
        assert_eq!(serde_json::from_str::<Verification>(&text).expect("JSON"), verification);
    }

    #[test]
    fn the_rule_is_active_while_it_is_rarely_wrong() {
        let lost = finished(Side::Attackers, Some(Side::Defenders));
        let mut verification = Verification::default();
        verification.observe(&vec![lost.clone(); 19], &CONFIG);
        assert_eq!(verification.summary(&CONFIG).active, [false, false], "too few games");
        verification.observe(std::slice::from_ref(&lost), &CONFIG);
        let summary = verification.summary(&CONFIG);
        assert_eq!((summary.verified, summary.wrong, summary.active), ([20, 0], [0, 0], [true, false]));
        verification.observe(&[finished(Side::Attackers, None)], &CONFIG);
        assert_eq!(verification.summary(&CONFIG).active, [false, false], "one in twenty is not under 5 %");
        verification.observe(&vec![lost.clone(); 20], &CONFIG);
        assert_eq!(verification.summary(&CONFIG).active, [true, false], "only the latest games count");
        let off = ResignConfig { enabled: false, ..CONFIG };
        assert_eq!(verification.summary(&off).active, [false, false]);
    }
}
