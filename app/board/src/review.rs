//! The review of a game at the board: a [`hnefi_record::Review`], and a move that a person tries instead.

use hnefi_engine::{Game, Move, Rules, Side};
use hnefi_record::{Chances, MoveQuality, REVIEW_PLAYOUTS, Searched, Session, SideReview, words};
use hnefi_search::SearchReport;
use serde::Serialize;

use crate::Refusal;
use crate::players::PlayerId;
use crate::refusal::no_move;
use crate::report::ChancesView;

/// What is searched next: a position of the game, by the plies before it, or the move that a person tries instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReviewStep {
    Position(usize),
    Tried { ply: usize, mv: Move },
}

/// A move that a person tries in the place of one that was played.
#[derive(Clone, Copy, Debug)]
struct Tried {
    ply: usize,
    mv: Move,
    /// What it costs; none until it is searched.
    loss: Option<f32>,
}

/// The review of one line of a game.
#[derive(Clone, Debug)]
pub(super) struct Review {
    review: hnefi_record::Review,
    /// Who judges all of it, whoever advises meanwhile: values of two networks do not compare.
    judge: PlayerId,
    tried: Option<Tried>,
}

/// A move as a page shows it.
#[derive(Clone, Debug, Serialize)]
struct PlyView {
    verdict: MoveQuality,
    /// What it cost its side, in expected score.
    loss: f32,
    /// What the search would have played.
    best: MoveView,
    /// How that goes on, from that move on.
    line: Vec<String>,
    /// The position, of a bad move: what it takes to try it anew another day.
    fen: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct MoveView {
    from: String,
    to: String,
    text: String,
}

impl MoveView {
    fn of(mv: Move, rules: &Rules) -> MoveView {
        let size = rules.size();
        MoveView { from: mv.from().name(size), to: mv.to().name(size), text: words::mv(mv, rules) }
    }
}

#[derive(Clone, Debug, Serialize)]
struct TriedView {
    ply: usize,
    #[serde(flatten)]
    mv: MoveView,
    /// None until it is searched.
    loss: Option<f32>,
    verdict: Option<MoveQuality>,
}

/// The review as a page shows it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ReviewView {
    /// Positions searched, and all of them.
    done: usize,
    total: usize,
    playouts: u32,
    /// The moves of the line that is reviewed, as in the history.
    moves: Vec<String>,
    plies: Vec<Option<PlyView>>,
    /// Chances of all positions, one more than plies.
    chances: Vec<Option<ChancesView>>,
    sides: [SideReview; 2],
    tried: Option<TriedView>,
}

impl Review {
    /// A review of the line on the board, with what was taken back.
    pub(super) fn new(session: &Session, judge: PlayerId) -> Review {
        let mut game = Game::from_position(session.game().start().clone());
        for ply in session.all_plies() {
            if game.play(ply.mv).is_err() {
                break;
            }
        }
        Review { review: hnefi_record::Review::new(game), judge, tried: None }
    }

    /// Who searches its positions.
    pub(super) fn judge(&self) -> &PlayerId {
        &self.judge
    }

    /// What is to be searched next: first what somebody waits for.
    pub(super) fn next(&self) -> Option<ReviewStep> {
        if let Some(Tried { ply, mv, loss: None }) = self.tried {
            return Some(ReviewStep::Tried { ply, mv });
        }
        self.review.positions().iter().position(Option::is_none).map(ReviewStep::Position)
    }

    /// The game up to the position that is searched.
    pub(super) fn game_at(&self, step: ReviewStep) -> Game {
        match step {
            ReviewStep::Position(plies) => self.review.game_after(plies),
            ReviewStep::Tried { ply, mv } => {
                let mut game = self.review.game_after(ply);
                game.play(mv).expect("a move that was tested");
                game
            }
        }
    }

    /// Takes in what a search found.
    pub(super) fn take(&mut self, step: ReviewStep, side: Side, found: &SearchReport) {
        let chances = Chances::of(found.wdl, side);
        match step {
            ReviewStep::Position(plies) => {
                self.review.take(plies, Searched { chances, best: Some(found.best), line: found.pv.clone() });
            }
            ReviewStep::Tried { ply, mv } => self.note_tried(ply, mv, chances),
        }
    }

    /// Whether a page should hear of the position that was searched last: of every fourth, and of the last one.
    pub(super) fn is_news(&self) -> bool {
        let done = self.done();
        done == self.review.positions().len() || done.is_multiple_of(4) || self.tried.is_some()
    }

    fn done(&self) -> usize {
        self.review.positions().iter().flatten().count()
    }

    /// Lets a person try another move in the place of ply `ply`.
    ///
    /// # Errors
    /// When the position is not searched yet or the move is illegal there; the message says so.
    pub(super) fn attempt(&mut self, ply: usize, mv: Move) -> Result<(), Refusal> {
        let played = self.review.game().plies().get(ply).map(|played| played.mv);
        let (Some(played), Some(best)) = (played, self.review.best(ply)) else {
            return Err(no_move(format!("ply {ply} is not reviewed")));
        };
        let mut game = self.review.game_after(ply);
        game.play(mv).map_err(no_move)?;
        self.tried = Some(Tried { ply, mv, loss: (mv == best).then_some(0.0) });
        if played == mv {
            self.tried = Some(Tried { ply, mv, loss: self.review.loss(ply) });
        } else if let Some(ending) = game.ending() {
            self.note_tried(ply, mv, Chances::of_winner(ending.winner()));
        }
        Ok(())
    }

    /// Notes what the move that was tried costs, by the chances after it.
    fn note_tried(&mut self, ply: usize, mv: Move, after: Chances) {
        if let Some(tried) = self.tried.as_mut().filter(|tried| tried.ply == ply && tried.mv == mv) {
            tried.loss = self.review.loss_of(ply, mv, after);
        }
    }

    fn ply_view(&self, ply: usize) -> Option<PlyView> {
        let (loss, verdict) = (self.review.loss(ply)?, self.review.quality(ply)?);
        let (best, rules) = (self.review.best(ply)?, self.review.game().rules());
        let line = self.review.positions()[ply].iter().flat_map(|searched| &searched.line);
        let is_bad = matches!(verdict, MoveQuality::Mistake | MoveQuality::Blunder);
        Some(PlyView {
            verdict,
            fen: is_bad.then(|| self.review.game_after(ply).position().fen()),
            loss: rounded(loss),
            best: MoveView::of(best, rules),
            line: line.map(|&mv| words::mv(mv, rules)).collect(),
        })
    }

    /// The review as a page shows it.
    pub(super) fn view(&self) -> ReviewView {
        let (game, positions) = (self.review.game(), self.review.positions());
        let rules = game.rules();
        let tried = self.tried.map(|tried| TriedView {
            ply: tried.ply,
            mv: MoveView::of(tried.mv, rules),
            loss: tried.loss.map(rounded),
            verdict: tried.loss.map(|loss| MoveQuality::of(loss, self.review.best(tried.ply) == Some(tried.mv))),
        });
        ReviewView {
            done: self.done(),
            total: positions.len(),
            playouts: REVIEW_PLAYOUTS,
            moves: game.plies().iter().map(|ply| words::ply(ply, rules)).collect(),
            chances: positions.iter().map(|searched| searched.as_ref().map(|found| found.chances.into())).collect(),
            sides: Side::BOTH.map(|side| self.review.side(side)),
            plies: (0..game.len()).map(|ply| self.ply_view(ply)).collect(),
            tried,
        }
    }
}

fn rounded(loss: f32) -> f32 {
    (loss * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;
    use hnefi_record::Seat;

    use super::*;

    fn mv(text: &str) -> Move {
        Move::parse(text, Preset::Brandubh.rules().size()).expect("a move")
    }

    /// A review of two plies: `values` of the positions for the attackers, and the moves that the search would play.
    fn reviewed(values: [f32; 3], best: [&str; 3]) -> Review {
        let mut session = Session::new(Preset::Brandubh.rules(), None, [Seat::Person, Seat::Person]).expect("a start");
        for text in ["d6c6", "d5f5"] {
            session.play(mv(text)).expect("a legal move");
        }
        session.step_to(0);
        let mut review = Review::new(&session, PlayerId::Random);
        assert_eq!(review.next(), Some(ReviewStep::Position(0)));
        for (plies, (value, best)) in values.into_iter().zip(best).enumerate() {
            let chances = Chances { attackers: value, draw: 0.0, defenders: 1.0 - value };
            review.review.take(plies, Searched { chances, best: Some(mv(best)), line: vec![mv(best)] });
        }
        review
    }

    #[test]
    fn another_move_is_tried_and_judged() {
        let mut review = reviewed([0.6, 0.3, 0.5], ["d6e6", "d5f5", "c6c5"]);
        assert_eq!(review.next(), None);
        review.attempt(0, mv("d6d7")).expect_err("nobody passes through others");
        review.attempt(9, mv("d6e6")).expect_err("there is no such ply");
        review.attempt(2, mv("c6c5")).expect_err("nothing was played in the last position");
        review.attempt(0, mv("d6e6")).expect("legal");
        assert_eq!(review.view().tried.and_then(|tried| tried.verdict), Some(MoveQuality::Best));
        review.attempt(0, mv("d6c6")).expect("legal");
        assert_eq!(review.view().tried.and_then(|tried| tried.verdict), Some(MoveQuality::Blunder), "as it was played");
        review.attempt(0, mv("d6b6")).expect("legal");
        assert_eq!(review.next(), Some(ReviewStep::Tried { ply: 0, mv: mv("d6b6") }));
        assert_eq!(review.game_at(ReviewStep::Tried { ply: 0, mv: mv("d6b6") }).len(), 1);
        review.note_tried(0, mv("d6b6"), Chances { attackers: 0.54, draw: 0.0, defenders: 0.46 });
        assert_eq!(review.view().tried.and_then(|tried| tried.verdict), Some(MoveQuality::Inaccuracy));
        assert_eq!(review.next(), None);
    }
}
