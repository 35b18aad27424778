//! What an evaluator is asked and what it answers.

use crate::Handicap;
use hnefi_engine::{Move, Position, Side};
use serde::{Deserialize, Serialize};

/// Chances of win, draw and loss, from the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wdl {
    /// Chance that the side to move wins.
    pub win: f32,
    /// Chance of a draw.
    pub draw: f32,
    /// Chance that the side to move loses.
    pub loss: f32,
}

impl Wdl {
    /// A certain win for the side to move.
    pub const WIN: Wdl = Wdl { win: 1.0, draw: 0.0, loss: 0.0 };
    /// A certain draw.
    pub const DRAW: Wdl = Wdl { win: 0.0, draw: 1.0, loss: 0.0 };
    /// A certain loss for the side to move.
    pub const LOSS: Wdl = Wdl { win: 0.0, draw: 0.0, loss: 1.0 };
    /// No opinion: nothing is likelier than anything else.
    pub const UNKNOWN: Wdl = Wdl { win: 1.0 / 3.0, draw: 1.0 / 3.0, loss: 1.0 / 3.0 };

    /// Expected score of the side to move: P(win) + P(draw)/2, in 0..=1.
    #[inline]
    pub fn score(self) -> f32 {
        self.win + 0.5 * self.draw
    }

    /// The same chances from the other side. With [`Wdl::of_winner`] the only place where the viewpoint changes.
    #[inline]
    #[must_use]
    pub fn flipped(self) -> Wdl {
        Wdl { win: self.loss, draw: self.draw, loss: self.win }
    }

    /// Chances from a network's win, draw and loss logits.
    pub fn from_logits(logits: [f32; 3]) -> Wdl {
        let mut chances = logits;
        softmax(&mut chances);
        let [win, draw, loss] = chances;
        Wdl { win, draw, loss }
    }

    /// The chances of `mover` as `viewer` sees them.
    #[inline]
    #[must_use]
    pub fn seen_by(self, mover: Side, viewer: Side) -> Wdl {
        if mover == viewer { self } else { self.flipped() }
    }

    /// The end of a game that this side won (`None`: a draw), as `viewer` sees it.
    #[inline]
    pub fn of_winner(winner: Option<Side>, viewer: Side) -> Wdl {
        winner.map_or(Wdl::DRAW, |winner| Wdl::WIN.seen_by(winner, viewer))
    }
}

/// One position to evaluate.
#[derive(Clone, Copy, Debug)]
pub struct EvalRequest<'a> {
    /// The position; the game is not over.
    pub position: &'a Position,
    /// Its legal moves in generation order.
    pub moves: &'a [Move],
    /// What favours a side in the game to come; among equals [`Handicap::NONE`].
    pub handicap: Handicap,
    /// Whether the auxiliary heads are wanted.
    pub auxiliary: bool,
}

/// The answer for one position, without the priors.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// From the side to move.
    pub wdl: Wdl,
    /// Expected plies to the end of the game.
    pub moves_left: f32,
    /// Where this position's priors begin in [`Evaluations::priors`].
    priors: std::ops::Range<usize>,
    /// Chance of each final content of each square, `[N*N][empty, attacker, defender, king]`; only when asked for.
    pub occupancy: Option<Vec<[f32; 4]>>,
}

impl Evaluation {
    /// An answer whose priors lie elsewhere.
    pub fn new(wdl: Wdl, moves_left: f32) -> Evaluation {
        Evaluation { wdl, moves_left, priors: 0..0, occupancy: None }
    }
}

/// Answers to a batch of requests. Kept and reused, so that a playout allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Evaluations {
    answers: Vec<Evaluation>,
    priors: Vec<f32>,
}

impl Evaluations {
    /// An empty buffer.
    pub fn new() -> Evaluations {
        Evaluations::default()
    }

    /// Forgets all answers and keeps the memory.
    pub fn clear(&mut self) {
        self.answers.clear();
        self.priors.clear();
    }

    /// Number of answers.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether there is no answer.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// The answer to request `index`.
    pub fn get(&self, index: usize) -> &Evaluation {
        &self.answers[index]
    }

    /// Priors over the legal moves of request `index`, in generation order, summing to 1.
    pub fn priors(&self, index: usize) -> &[f32] {
        &self.priors[self.answers[index].priors.clone()]
    }

    /// Adds an answer. `write_logits` appends one logit per legal move to the vector it is given; the softmax is taken
    /// here.
    pub fn push(
        &mut self,
        wdl: Wdl,
        moves_left: f32,
        occupancy: Option<Vec<[f32; 4]>>,
        write_logits: impl FnOnce(&mut Vec<f32>),
    ) {
        let begin = self.priors.len();
        write_logits(&mut self.priors);
        softmax(&mut self.priors[begin..]);
        self.answers.push(Evaluation { wdl, moves_left, priors: begin..self.priors.len(), occupancy });
    }

    /// Adds an answer with the priors of the legal moves.
    pub fn push_with_priors(&mut self, wdl: Wdl, moves_left: f32, occupancy: Option<Vec<[f32; 4]>>, priors: &[f32]) {
        let begin = self.priors.len();
        self.priors.extend(priors);
        self.answers.push(Evaluation { wdl, moves_left, priors: begin..self.priors.len(), occupancy });
    }
}

/// Plies to the end from the network's `ln(1 + plies)`; what an untrained network makes up stays within a long game.
pub fn plies_left(log: f32) -> f32 {
    const LONGEST: f32 = 1000.0;
    log.exp_m1().clamp(0.0, LONGEST)
}

/// Softmax in place, stable for large logits.
pub fn softmax(values: &mut [f32]) {
    let max = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for value in values.iter_mut() {
        *value = (*value - max).exp();
        sum += *value;
    }
    for value in values.iter_mut() {
        *value /= sum;
    }
}

/// Why an evaluation failed.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The device or the network failed.
    #[error("evaluating {count} positions on {device}: {problem}")]
    Device {
        /// Size of the batch.
        count: usize,
        /// Where it ran.
        device: String,
        /// What went wrong.
        problem: String,
    },
    /// A name that is no device.
    #[error("device {found:?}: expected {expected}, N counting from 0{}", crate::devices::suggestion(found))]
    UnknownDevice {
        /// What was read.
        found: String,
        /// What could have been there.
        expected: &'static str,
    },
    /// A name that is no precision.
    #[error(
        "precision {found:?}: expected auto, f32 or int8{}",
        crate::names::did_you_mean(found, crate::PrecisionChoice::NAMES)
    )]
    UnknownPrecision {
        /// What was read.
        found: String,
    },
    /// A device that this build or this machine does not have.
    #[error("device {device}: {problem}")]
    Unavailable {
        /// Which device was asked for.
        device: String,
        /// Why it cannot be used, and what would help.
        problem: String,
    },
}

/// Turns positions into evaluations. One per thread, with its own scratch memory.
pub trait Evaluator: Send {
    /// Evaluates a batch; `out` is cleared first and then holds one answer per request, in order. The answer to a
    /// position does not depend on the rest of the batch.
    ///
    /// # Errors
    /// When the device fails.
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError>;
}
