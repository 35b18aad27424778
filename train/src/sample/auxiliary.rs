//! Targets of the auxiliary heads: what came after a ply.
//!
//! | target | from |
//! |---|---|
//! | reply | the policy target of the next ply; none where that ply has none or does not exist |
//! | soft policy | the policy target to the power 1/4, made to sum to 1 again; moves that the record leaves out stay at 0 |
//! | short values | `(1 - k) (v1 + k v2 + k^2 v3 + ...)` with `k = exp(-1 / horizon)`, over the searched values of the coming plies, the result standing for all beyond the end |
//! | captured | whether the piece is captured by one of the next so many plies; not where a resignation came before |
//! | ending | how the game ended, and the king's square where that was with him; not in resigned games |

use hnefi_engine::{Position, Reason, Side, Square, Symmetry};
use hnefi_inference::Wdl;
use hnefi_selfplay::{GameRecord, PlyRecord, RecordError, Replay};

use crate::auxiliary::AuxiliaryTargets;
use crate::batch::{AuxiliaryRow, Ending};

/// Power of the policy target that makes the soft one (KataGo's temperature of 4).
const SOFTNESS: f32 = 0.25;

/// What came after a position.
pub(super) struct Sequel<'a> {
    /// The position that the opponent answered in, and his ply; `None` where the game ended before or nobody asks.
    reply: Option<(Position, &'a PlyRecord)>,
    /// Squares of the pieces that were captured soon.
    captured: Vec<Square>,
    /// Where the king stood last.
    king: Option<Square>,
}

impl<'a> Sequel<'a> {
    /// Plays on to the end of the game.
    pub(super) fn play(replay: &mut Replay<'a>, targets: &AuxiliaryTargets) -> Result<Sequel<'a>, RecordError> {
        let mut board = *replay.position().board();
        // Where each piece stood at first, by the square it has come to.
        let mut origins = vec![None; board.size().squares()];
        board.occupied().for_each(|square| origins[square.index()] = Some(square));
        let mut sequel = Sequel { reply: None, captured: Vec::new(), king: board.king() };
        let mut plies = 0;
        while let Some(ply) = replay.step()? {
            let after = *replay.position().board();
            if targets.captured.is_some_and(|soon| plies < soon) {
                origins[ply.mv.to().index()] = origins[ply.mv.from().index()].take();
                let gone = board.occupied().filter(|&square| !after.occupied().contains(square));
                sequel.captured.extend(gone.filter_map(|square| origins[square.index()].take()));
            }
            if plies == 0 && targets.reply {
                sequel.reply = replay.ply().map(|reply| (replay.position().clone(), reply));
            }
            sequel.king = after.king().or(sequel.king);
            board = after;
            plies += 1;
        }
        Ok(sequel)
    }

    /// The targets of the position, which is that of ply `index`; `policy` gives a position's moves with their places
    /// and weights, `moves` are those of this one.
    pub(super) fn row(
        self,
        (game, index, position): (&GameRecord, usize, &Position),
        symmetry: Symmetry,
        targets: &AuxiliaryTargets,
        moves: &[(usize, f32)],
        policy: impl Fn(&Position, &PlyRecord) -> Vec<(usize, f32)>,
    ) -> AuxiliaryRow {
        AuxiliaryRow {
            reply: targets.reply.then(|| match &self.reply {
                Some((position, reply)) if !reply.policy.is_empty() => policy(position, reply),
                _ => Vec::new(),
            }),
            soft_policy: targets.soft_policy.then(|| softened(moves)),
            short_values: (!targets.short_values.is_empty()).then(|| {
                let average = |&horizon| short_value(game, index, position.side_to_move(), horizon);
                targets.short_values.iter().map(average).collect()
            }),
            captured: targets.captured.map(|soon| {
                let seen = game.resigned.is_none() || game.plies.len() - index >= soon as usize;
                if seen { self.fates(position, symmetry) } else { vec![0; position.size().squares()] }
            }),
            ending: targets.ending.then(|| self.ending(game, symmetry)),
        }
    }

    /// For every square 0 without a piece, 1 where it stays, 2 where it is captured.
    fn fates(&self, position: &Position, symmetry: Symmetry) -> Vec<u8> {
        let size = position.size();
        let mut fates = vec![0; size.squares()];
        for square in position.board().occupied() {
            fates[symmetry.square(square, size).index()] = if self.captured.contains(&square) { 2 } else { 1 };
        }
        fates
    }

    fn ending(&self, game: &GameRecord, symmetry: Symmetry) -> Ending {
        let (Some(outcome), None, Some(king)) = (game.outcome, game.resigned, self.king) else { return Ending::Unseen };
        let square = symmetry.square(king, game.rules.size).index();
        match outcome.reason() {
            Reason::KingEscaped => Ending::King(0, square),
            Reason::ExitFort => Ending::King(1, square),
            Reason::KingCaptured => Ending::King(2, square),
            Reason::Encirclement => Ending::Other(0),
            Reason::Repetition => Ending::Other(1),
            Reason::DrawFort => Ending::Other(2),
            Reason::NoMoves => Ending::Other(3),
            Reason::NoCapture => Ending::Other(4),
            Reason::PlyCap => Ending::Other(5),
        }
    }
}

/// The weights of a policy target made soft; all 0 where they are.
fn softened(moves: &[(usize, f32)]) -> Vec<f32> {
    let powers: Vec<f32> = moves.iter().map(|&(_, weight)| weight.powf(SOFTNESS)).collect();
    let sum: f32 = powers.iter().sum();
    powers.into_iter().map(|power| if sum > 0.0 { power / sum } else { 0.0 }).collect()
}

/// The average of the coming searched values and the result, as `viewer`, to move at ply `index`, sees them.
fn short_value(game: &GameRecord, index: usize, viewer: Side, horizon: u32) -> [f32; 3] {
    let keep = (-1.0 / horizon as f32).exp();
    let mut average = Wdl::of_winner(game.winner(), viewer);
    // From the end backwards; sides alternate, so that the ply after the next one is the viewer's again.
    for (ahead, ply) in game.plies[index + 1..].iter().enumerate().rev() {
        let searched = if ahead % 2 == 0 { ply.searched.flipped() } else { ply.searched };
        let mix = |average: f32, value: f32| keep * average + (1.0 - keep) * value;
        average = Wdl {
            win: mix(average.win, searched.win),
            draw: mix(average.draw, searched.draw),
            loss: mix(average.loss, searched.loss),
        };
    }
    [average.win, average.draw, average.loss]
}
