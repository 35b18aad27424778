//! The review of a game: every position is searched alike, and every move is judged by what it cost.
//!
//! The loss of a move is the expected score (draws half) that its side had before it, less the score that it has after
//! it; the move that the search would have played loses nothing. A side's accuracy is the mean over its moves of
//! Lichess' curve, 103.1668 exp(-4.354 loss) - 3.1669 percent.

use hnefi_engine::{Ending, Game, Move, Side};
use serde::Serialize;

use crate::{Chances, GameRecord, GameTree, TreeMove};

/// Playouts of every search, unless a person asks for others.
pub const REVIEW_PLAYOUTS: u32 = 400;

/// Plies of the line that is shown beside a better move.
const LINE: usize = 6;

/// How good a move was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MoveQuality {
    /// What the search would have played.
    Best,
    /// Costs less than 0.05 of expected score.
    Good,
    /// Costs 0.05 or more.
    Inaccuracy,
    /// Costs 0.1 or more.
    Mistake,
    /// Costs 0.2 or more.
    Blunder,
}

impl MoveQuality {
    /// The quality of a move that costs `loss`.
    pub fn of(loss: f32, is_best: bool) -> MoveQuality {
        match loss {
            _ if is_best => MoveQuality::Best,
            0.2.. => MoveQuality::Blunder,
            0.1.. => MoveQuality::Mistake,
            0.05.. => MoveQuality::Inaccuracy,
            _ => MoveQuality::Good,
        }
    }

    /// The mark of PGN: `?!`, `?` or `??`.
    const fn nag(self) -> Option<u8> {
        match self {
            MoveQuality::Best | MoveQuality::Good => None,
            MoveQuality::Inaccuracy => Some(6),
            MoveQuality::Mistake => Some(2),
            MoveQuality::Blunder => Some(4),
        }
    }
}

/// What a search found in a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// What is to be expected.
    pub chances: Chances,
    /// The move to play; `None` where the game is over.
    pub best: Option<Move>,
    /// How it goes on, from that move on.
    pub line: Vec<Move>,
}

/// A game with what searches found in its positions.
#[derive(Clone, Debug)]
pub struct Review {
    game: Game,
    /// One more than plies.
    positions: Vec<Option<Searched>>,
}

impl Review {
    /// A review of which nothing is searched yet but how the game ended.
    pub fn new(game: Game) -> Review {
        let mut positions = vec![None; game.len() + 1];
        if let Some(Ending::Board(outcome)) = game.ending() {
            let chances = Chances::of_winner(outcome.winner());
            positions[game.len()] = Some(Searched { chances, best: None, line: Vec::new() });
        }
        Review { game, positions }
    }

    /// The game.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The game after its first `plies` plies.
    pub fn game_after(&self, plies: usize) -> Game {
        let mut game = Game::from_position(self.game.start().clone());
        for mv in self.game.moves().take(plies) {
            game.play(mv).expect("a move of the game");
        }
        game
    }

    /// The positions, by the plies before them: one more than plies. `None` is not searched yet.
    pub fn positions(&self) -> &[Option<Searched>] {
        &self.positions
    }

    /// Takes in what a search found after `plies` plies, for the side to move there.
    pub fn take(&mut self, plies: usize, mut found: Searched) {
        found.line.truncate(LINE);
        self.positions[plies] = Some(found);
    }

    /// The best move after `plies` plies; `None` where nothing is searched or the game is over.
    pub fn best(&self, plies: usize) -> Option<Move> {
        self.positions.get(plies)?.as_ref()?.best
    }

    /// What a move after `plies` plies costs the side to move there, by the chances after it.
    pub fn loss_of(&self, plies: usize, mv: Move, after: Chances) -> Option<f32> {
        let before = self.positions.get(plies)?.as_ref()?;
        let side = self.game.plies().get(plies)?.side;
        let lost = (before.chances.score(side) - after.score(side)).max(0.0);
        Some(if before.best == Some(mv) { 0.0 } else { lost })
    }

    /// What the move that was played after `plies` plies cost its side; `None` until both positions are searched.
    pub fn loss(&self, plies: usize) -> Option<f32> {
        let after = self.positions.get(plies + 1)?.as_ref()?;
        self.loss_of(plies, self.game.plies().get(plies)?.mv, after.chances)
    }

    /// How good that move was.
    pub fn quality(&self, plies: usize) -> Option<MoveQuality> {
        let is_best = self.best(plies) == self.game.plies().get(plies).map(|ply| ply.mv);
        Some(MoveQuality::of(self.loss(plies)?, is_best))
    }

    /// The moves of a side that are judged, summed up.
    pub fn side(&self, side: Side) -> SideReview {
        let of_side = (0..self.game.len()).filter(|&ply| self.game.plies()[ply].side == side);
        let judged: Vec<(f32, MoveQuality)> =
            of_side.filter_map(|ply| Some((self.loss(ply)?, self.quality(ply)?))).collect();
        let count = |quality| judged.iter().filter(|&&(_, found)| found == quality).count();
        let sum: f32 = judged.iter().map(|&(loss, _)| accuracy(loss)).sum();
        SideReview {
            accuracy: (!judged.is_empty()).then(|| (10.0 * sum / judged.len() as f32).round() / 10.0),
            inaccuracies: count(MoveQuality::Inaccuracy),
            mistakes: count(MoveQuality::Mistake),
            blunders: count(MoveQuality::Blunder),
        }
    }

    /// The game with marks, the attackers' expected score after every move in percent, and the better line as a
    /// variation of every mistake. `record` is the record of the same game.
    pub fn tree(&self, record: GameRecord) -> GameTree {
        let mut moves: Vec<TreeMove> = Vec::with_capacity(2 * self.game.len());
        for (ply, played) in self.game.plies().iter().enumerate() {
            let score = self.positions[ply + 1].as_ref().map(|after| after.chances.score(Side::Attackers));
            moves.push(TreeMove {
                comment: score.map_or_else(String::new, |score| format!("{:.0} %", 100.0 * score)),
                nags: self.quality(ply).and_then(MoveQuality::nag).into_iter().collect(),
                ..TreeMove::new(ply.checked_sub(1), played.mv)
            });
        }
        // Behind the game, the last variation first: the order of a tree.
        for ply in (0..self.game.len()).rev() {
            let is_bad = matches!(self.quality(ply), Some(MoveQuality::Mistake | MoveQuality::Blunder));
            let mut after = ply.checked_sub(1);
            for &mv in self.positions[ply].iter().filter(|_| is_bad).flat_map(|searched| &searched.line) {
                moves.push(TreeMove::new(after, mv));
                after = Some(moves.len() - 1);
            }
        }
        let accuracy = |side| self.side(side).accuracy.map_or_else(|| "-".to_owned(), |percent| format!("{percent} %"));
        let [attackers, defenders] = Side::BOTH.map(accuracy);
        let comment = format!("Accuracy: attackers {attackers}, defenders {defenders}");
        GameTree { record, comment, moves }
    }
}

/// The moves of one side, summed up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SideReview {
    /// In percent; `None` before any of its moves is judged.
    pub accuracy: Option<f32>,
    /// Moves that cost 0.05 to 0.1 of expected score.
    pub inaccuracies: usize,
    /// Moves that cost 0.1 to 0.2.
    pub mistakes: usize,
    /// Moves that cost 0.2 or more.
    pub blunders: usize,
}

/// Accuracy of a move, in percent.
fn accuracy(loss: f32) -> f32 {
    (103.1668 * (-4.354 * loss).exp() - 3.1669).clamp(0.0, 100.0)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    /// A review of two plies: `values` of the positions for the attackers, and the moves that the search would play.
    fn reviewed(values: [f32; 3], best: [&str; 3]) -> Review {
        let mv = |text: &str| Move::parse(text, Preset::Brandubh.rules().size()).expect("a move");
        let mut game = Game::new(&Preset::Brandubh.rules());
        for text in ["d6c6", "d5f5"] {
            game.play(mv(text)).expect("a legal move");
        }
        let mut review = Review::new(game);
        for (plies, (value, best)) in values.into_iter().zip(best).enumerate() {
            let chances = Chances { attackers: value, draw: 0.0, defenders: 1.0 - value };
            review.take(plies, Searched { chances, best: Some(mv(best)), line: vec![mv(best)] });
        }
        review
    }

    #[test]
    fn a_move_loses_what_its_side_expected_before() {
        let review = reviewed([0.6, 0.45, 0.5], ["d6e6", "d5f5", "c6c5"]);
        assert_eq!(review.quality(0), Some(MoveQuality::Mistake));
        assert!((review.loss(0).unwrap() - 0.15).abs() < 1e-6);
        assert_eq!((review.quality(1), review.loss(1)), (Some(MoveQuality::Best), Some(0.0)), "what the search plays");
        assert_eq!(review.side(Side::Attackers).mistakes, 1);
        // Lichess gives a move that loses 15 percent of winning chances 50.5 percent.
        assert_eq!(review.side(Side::Attackers).accuracy, Some(50.5));
        assert_eq!(review.side(Side::Defenders).accuracy, Some(100.0));
    }

    #[test]
    fn a_reviewed_game_is_written_with_marks_and_better_lines() {
        let review = reviewed([0.6, 0.45, 0.8], ["d6e6", "c4c5", "c6c5"]);
        let session = crate::Session::new(Preset::Brandubh.rules(), None, Side::BOTH.map(|_| crate::Seat::Person));
        let mut session = session.expect("a start");
        review.game().moves().for_each(|mv| session.play(mv).map(|_| ()).expect("a legal move"));
        let text = crate::pgn::tree_text(&review.tree(session.record(0))).expect("a text");
        let moves = text.split_once("\n\n").expect("tags and moves").1;
        let expected = "{Accuracy: attackers 50.5 %, defenders 19.3 %} 1. d6-c6 $2 {45 %} (1. d6-e6) 1... d5-f5 $4 \
                        {80 %} (1... c4-c5) *";
        assert_eq!(moves.split_whitespace().collect::<Vec<_>>().join(" "), expected);
    }
}
