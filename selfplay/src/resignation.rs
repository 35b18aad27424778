//! Resignation of hopeless games, and verification of the rule.
//!
//! A side resigns after several consecutive turns with a searched score below a threshold. To verify the rule, at first
//! all games and later a share of them are played to the end, and the record notes the side that would have resigned. A
//! side may resign only while fewer than `max_wrong` of its latest verified games were not lost (a draw counts as not
//! lost). The counts change only at the end of a generation, in order of game number, so the number of threads does not
//! affect them.

use std::collections::VecDeque;

use hnefi_engine::Side;
use serde::{Deserialize, Serialize};

use hnefi_run::config::ResignConfig;
use hnefi_run::{GameRecord, ResignSummary};

/// The latest verified games of both sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Verification {
    /// For each side, oldest first: whether resigning would have been wrong.
    wrong: [VecDeque<bool>; 2],
}

impl Verification {
    /// Adds finished games, in order of their numbers.
    pub(super) fn observe(&mut self, games: &[GameRecord], config: &ResignConfig) {
        for game in games {
            let (Some(side), Some(outcome)) = (game.would_have_resigned, game.outcome) else { continue };
            let latest = &mut self.wrong[side.index()];
            latest.push_back(outcome.winner() != Some(side.opponent()));
            while latest.len() > config.min_verified as usize {
                latest.pop_front();
            }
        }
    }

    /// Counts and state of the rule.
    pub(super) fn summary(&self, config: &ResignConfig) -> ResignSummary {
        let verified = self.wrong.each_ref().map(|latest| latest.len() as u32);
        let wrong = self.wrong.each_ref().map(|latest| latest.iter().filter(|&&wrong| wrong).count() as u32);
        let active = std::array::from_fn(|side| {
            let share = wrong[side] as f32 / verified[side].max(1) as f32;
            config.enabled && verified[side] >= config.min_verified && share < config.max_wrong
        });
        ResignSummary { verified, wrong, active }
    }
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

/// Applies the rule after a ply by `mover`: the side resigns, or the record notes that it would have.
pub(super) fn apply(record: &mut GameRecord, mover: Side, active: bool, verifies: bool, config: &ResignConfig) {
    if record.is_finished() || !is_hopeless(record, config) {
        return;
    }
    if active && !verifies {
        record.resigned = Some(mover);
        record.would_have_resigned = None;
    } else if record.would_have_resigned.is_none() {
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
        GameRecord {
            game: 0,
            seed: 0,
            rules: Preset::Brandubh.rules(),
            start: None,
            players: [String::new(), String::new()],
            plies: scores.iter().map(ply).collect(),
            outcome: None,
            resigned: None,
            would_have_resigned: None,
        }
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

    #[test]
    fn a_game_ends_only_where_the_rule_is_active_and_not_verified() {
        let hopeless = || game(&[0.01, 0.9, 0.01]);
        let mut played_on = hopeless();
        apply(&mut played_on, Side::Attackers, true, true, &CONFIG);
        assert_eq!((played_on.resigned, played_on.would_have_resigned), (None, Some(Side::Attackers)));
        apply(&mut played_on, Side::Defenders, false, false, &CONFIG);
        assert_eq!(played_on.would_have_resigned, Some(Side::Attackers), "the first to give up is noted");
        let mut given_up = hopeless();
        apply(&mut given_up, Side::Attackers, true, false, &CONFIG);
        assert_eq!((given_up.winner(), given_up.outcome), (Some(Side::Defenders), None));
    }

    #[test]
    fn the_rule_is_active_while_it_is_rarely_wrong() {
        let finished = |side: Side, winner: Option<Side>| {
            let reason = Reason::KingEscaped;
            let outcome = winner.map_or(Outcome::Draw { reason }, |side| Outcome::Win { side, reason });
            GameRecord { outcome: Some(outcome), would_have_resigned: Some(side), ..game(&[]) }
        };
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
