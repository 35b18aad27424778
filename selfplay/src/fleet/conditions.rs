//! What a generation is played under beside the newest network: how far the run is, whom that network meets, and the
//! earlier games from whose positions new ones may begin. All of it stays the same until the generation ends.

use hnefi_inference::{EvalError, Evaluator};

use crate::record::GameRecord;

/// The conditions of a generation. By default the run has just begun, and there is nothing earlier.
#[derive(Clone, Default)]
pub struct Conditions<'a> {
    /// Part of the run's budget used up at the generation's beginning, 0 to 1: it decides which rulesets new games may
    /// have and whether sides are still handicapped.
    pub progress: f64,
    /// Who takes one side in a share of the games; without one, the newest network takes both.
    pub past: Option<PastCheckpoint<'a>>,
    /// Finished games of earlier generations, oldest first.
    pub earlier: Vec<&'a GameRecord>,
}

/// A checkpoint from before the newest.
#[derive(Clone, Copy)]
pub struct PastCheckpoint<'a> {
    /// What the records name as the player.
    pub id: &'a str,
    /// Makes an evaluator of it; called once on each thread.
    pub make_evaluator: &'a (dyn Fn() -> Result<Box<dyn Evaluator>, EvalError> + Sync),
}
