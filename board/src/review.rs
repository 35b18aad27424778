//! The review of a game: every position is searched alike, and every move is judged by what it cost.
//!
//! The loss of a move is the expected score (draws half) that its side had before it, less what it has after it, both
//! by searches of [`PLAYOUTS`] playouts; the move that the search would have played loses nothing. A side's accuracy is
//! the mean over its moves of Lichess' curve, 103.1668 exp(-4.354 loss) - 3.1669 percent.

use hnefi_engine::{Ending, Game, Move, Rules, Side};
use hnefi_search::SearchReport;
use serde::Serialize;

use crate::report::ChancesView;
use crate::session::Session;
use crate::{Chances, words};

/// Playouts of every search.
pub(super) const PLAYOUTS: u32 = 400;

/// Plies of the line that is shown beside a better move.
const LINE: usize = 6;

/// What is searched next: a position of the game, by the plies before it, or the move that a person tries instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Position(usize),
    Tried { ply: usize, mv: Move },
}

/// What a search found in a position.
#[derive(Clone, Debug)]
struct Looked {
    chances: Chances,
    best: Option<Move>,
    line: Vec<Move>,
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
    /// The game at the end of the line.
    game: Game,
    /// One more than plies.
    looked: Vec<Option<Looked>>,
    tried: Option<Tried>,
}

/// How good a move was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Best,
    Good,
    Inaccuracy,
    Mistake,
    Blunder,
}

impl Verdict {
    fn of(loss: f32, is_best: bool) -> Verdict {
        match loss {
            _ if is_best => Verdict::Best,
            0.2.. => Verdict::Blunder,
            0.1.. => Verdict::Mistake,
            0.05.. => Verdict::Inaccuracy,
            _ => Verdict::Good,
        }
    }
}

/// A move as a page shows it.
#[derive(Clone, Debug, Serialize)]
struct PlyView {
    verdict: Verdict,
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

/// A side's sum.
#[derive(Clone, Copy, Debug, Serialize)]
struct SideView {
    /// In percent; none before any of its moves is judged.
    accuracy: Option<f32>,
    inaccuracies: usize,
    mistakes: usize,
    blunders: usize,
}

#[derive(Clone, Debug, Serialize)]
struct TriedView {
    ply: usize,
    #[serde(flatten)]
    mv: MoveView,
    /// None until it is searched.
    loss: Option<f32>,
    verdict: Option<Verdict>,
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
    sides: [SideView; 2],
    tried: Option<TriedView>,
}

impl Review {
    /// A review of the line on the board, with what was taken back.
    pub(super) fn new(session: &Session) -> Review {
        let mut game = Game::from_position(session.game().start().clone());
        for ply in session.all_plies() {
            if game.play(ply.mv).is_err() {
                break;
            }
        }
        let mut looked = vec![None; game.len() + 1];
        // How a game ended nobody needs to search.
        if let Some(Ending::Board(outcome)) = game.ending() {
            let chances = Chances::of_winner(outcome.winner());
            looked[game.len()] = Some(Looked { chances, best: None, line: Vec::new() });
        }
        Review { game, looked, tried: None }
    }

    /// What is to be searched next: first what somebody waits for.
    pub(super) fn next(&self) -> Option<Look> {
        if let Some(Tried { ply, mv, loss: None }) = self.tried {
            return Some(Look::Tried { ply, mv });
        }
        self.looked.iter().position(Option::is_none).map(Look::Position)
    }

    /// The game up to the position that is searched.
    pub(super) fn game_at(&self, look: Look) -> Game {
        let mut game = Game::from_position(self.game.start().clone());
        let (plies, then) = match look {
            Look::Position(plies) => (plies, None),
            Look::Tried { ply, mv } => (ply, Some(mv)),
        };
        for mv in self.game.moves().take(plies).chain(then) {
            game.play(mv).expect("moves of the game, or one that was tested");
        }
        game
    }

    /// Takes in what a search found.
    pub(super) fn take(&mut self, look: Look, side: Side, found: &SearchReport) {
        let chances = Chances::of(found.wdl, side);
        match look {
            Look::Position(plies) => {
                let line = found.pv.iter().copied().take(LINE).collect();
                self.looked[plies] = Some(Looked { chances, best: Some(found.best), line });
            }
            Look::Tried { ply, mv } => self.judge(ply, mv, chances),
        }
    }

    /// Whether a page should hear of the position that was searched last: of every fourth, and of the last one.
    pub(super) fn is_news(&self) -> bool {
        let done = self.done();
        done == self.looked.len() || done.is_multiple_of(4) || self.tried.is_some()
    }

    fn done(&self) -> usize {
        self.looked.iter().flatten().count()
    }

    /// Lets a person try another move in the place of ply `ply`.
    ///
    /// # Errors
    /// When the position is not searched yet or the move is illegal there; the message says so.
    pub(super) fn attempt(&mut self, ply: usize, mv: Move) -> Result<(), String> {
        let before = (ply < self.game.len()).then(|| self.looked[ply].as_ref()).flatten();
        let best = before.and_then(|looked| looked.best).ok_or_else(|| format!("ply {ply} is not reviewed"))?;
        let mut game = self.game_at(Look::Position(ply));
        game.play(mv).map_err(|illegal| illegal.to_string())?;
        self.tried = Some(Tried { ply, mv, loss: (mv == best).then_some(0.0) });
        if self.game.plies()[ply].mv == mv {
            self.tried = Some(Tried { ply, mv, loss: self.loss(ply) });
        } else if let Some(ending) = game.ending() {
            self.judge(ply, mv, Chances::of_winner(ending.winner()));
        }
        Ok(())
    }

    /// Notes what the move that was tried costs, by the chances after it.
    fn judge(&mut self, ply: usize, mv: Move, after: Chances) {
        let Some(before) = &self.looked[ply] else { return };
        let side = self.game.plies()[ply].side;
        let loss = (before.chances.score(side) - after.score(side)).max(0.0);
        if let Some(tried) = self.tried.as_mut().filter(|tried| tried.ply == ply && tried.mv == mv) {
            tried.loss = Some(loss);
        }
    }

    /// What the move after `ply` plies cost its side.
    fn loss(&self, ply: usize) -> Option<f32> {
        let [before, after] = [self.looked[ply].as_ref()?, self.looked[ply + 1].as_ref()?];
        let played = self.game.plies()[ply];
        let lost = before.chances.score(played.side) - after.chances.score(played.side);
        Some(if before.best == Some(played.mv) { 0.0 } else { lost.max(0.0) })
    }

    fn ply_view(&self, ply: usize) -> Option<PlyView> {
        let loss = self.loss(ply)?;
        let looked = self.looked[ply].as_ref()?;
        let (best, rules) = (looked.best?, self.game.rules());
        let verdict = Verdict::of(loss, best == self.game.plies()[ply].mv);
        let is_bad = matches!(verdict, Verdict::Mistake | Verdict::Blunder);
        Some(PlyView {
            verdict,
            fen: is_bad.then(|| self.game_at(Look::Position(ply)).position().fen()),
            loss: rounded(loss),
            best: MoveView::of(best, rules),
            line: looked.line.iter().map(|&mv| words::mv(mv, rules)).collect(),
        })
    }

    /// The review as a page shows it.
    pub(super) fn view(&self) -> ReviewView {
        let rules = self.game.rules();
        let plies: Vec<Option<PlyView>> = (0..self.game.len()).map(|ply| self.ply_view(ply)).collect();
        let side = |side: Side| {
            let of_side = self.game.plies().iter().zip(&plies).filter(|(ply, _)| ply.side == side);
            let judged: Vec<&PlyView> = of_side.filter_map(|(_, view)| view.as_ref()).collect();
            let count = |verdict: Verdict| judged.iter().filter(|view| view.verdict == verdict).count();
            let sum: f32 = judged.iter().map(|view| accuracy(view.loss)).sum();
            SideView {
                accuracy: (!judged.is_empty()).then(|| (10.0 * sum / judged.len() as f32).round() / 10.0),
                inaccuracies: count(Verdict::Inaccuracy),
                mistakes: count(Verdict::Mistake),
                blunders: count(Verdict::Blunder),
            }
        };
        let tried = self.tried.map(|tried| {
            let is_best = self.looked[tried.ply].as_ref().and_then(|looked| looked.best) == Some(tried.mv);
            TriedView {
                ply: tried.ply,
                mv: MoveView::of(tried.mv, rules),
                loss: tried.loss.map(rounded),
                verdict: tried.loss.map(|loss| Verdict::of(loss, is_best)),
            }
        });
        ReviewView {
            done: self.done(),
            total: self.looked.len(),
            playouts: PLAYOUTS,
            moves: self.game.plies().iter().map(|ply| words::ply(ply, rules)).collect(),
            chances: self.looked.iter().map(|looked| looked.as_ref().map(|looked| looked.chances.into())).collect(),
            sides: Side::BOTH.map(side),
            plies,
            tried,
        }
    }
}

fn rounded(loss: f32) -> f32 {
    (loss * 1000.0).round() / 1000.0
}

/// Accuracy of a move, in percent.
fn accuracy(loss: f32) -> f32 {
    (103.1668 * (-4.354 * loss).exp() - 3.1669).clamp(0.0, 100.0)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;
    use crate::Seat;

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
        let mut review = Review::new(&session);
        assert_eq!(review.next(), Some(Look::Position(0)));
        for (looked, (value, best)) in review.looked.iter_mut().zip(values.into_iter().zip(best)) {
            let chances = Chances { attackers: value, draw: 0.0, defenders: 1.0 - value };
            *looked = Some(Looked { chances, best: Some(mv(best)), line: vec![mv(best)] });
        }
        review
    }

    #[test]
    fn a_move_loses_what_its_side_expected_before() {
        let view = reviewed([0.6, 0.45, 0.5], ["d6e6", "d5f5", "c6c5"]).view();
        let plies: Vec<(Verdict, f32)> = view.plies.iter().flatten().map(|ply| (ply.verdict, ply.loss)).collect();
        assert_eq!(plies, [(Verdict::Mistake, 0.15), (Verdict::Best, 0.0)], "the second is what the search would play");
        assert_eq!((view.sides[0].mistakes, view.sides[1].accuracy), (1, Some(100.0)));
        // Lichess gives a move that loses 15 percent of winning chances 50.5 percent.
        assert_eq!(view.sides[0].accuracy, Some(50.5));
        assert_eq!((view.done, view.total), (3, 3));
    }

    #[test]
    fn another_move_is_tried_and_judged() {
        let mut review = reviewed([0.6, 0.3, 0.5], ["d6e6", "d5f5", "c6c5"]);
        assert_eq!(review.next(), None);
        review.attempt(0, mv("d6d7")).expect_err("nobody passes through others");
        review.attempt(9, mv("d6e6")).expect_err("there is no such ply");
        review.attempt(0, mv("d6e6")).expect("legal");
        assert_eq!(review.view().tried.and_then(|tried| tried.verdict), Some(Verdict::Best));
        review.attempt(0, mv("d6c6")).expect("legal");
        assert_eq!(review.view().tried.and_then(|tried| tried.verdict), Some(Verdict::Blunder), "as it was played");
        review.attempt(0, mv("d6b6")).expect("legal");
        assert_eq!(review.next(), Some(Look::Tried { ply: 0, mv: mv("d6b6") }));
        assert_eq!(review.game_at(Look::Tried { ply: 0, mv: mv("d6b6") }).len(), 1);
        review.judge(0, mv("d6b6"), Chances { attackers: 0.54, draw: 0.0, defenders: 0.46 });
        assert_eq!(review.view().tried.and_then(|tried| tried.verdict), Some(Verdict::Inaccuracy));
        assert_eq!(review.next(), None);
    }
}
