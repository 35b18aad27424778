//! Training samples as numbers for a card.

use hnefi_engine::BoardSize;
use hnefi_inference::{GLOBALS, PLANES, PolicyIndex};

use crate::requests::move_word;

/// Training samples of one board size.
#[derive(Clone, Debug)]
pub struct Samples {
    pub(super) size: BoardSize,
    pub(super) squares: Vec<u32>,
    pub(super) globals: Vec<f32>,
    pub(super) moves: Vec<u32>,
    pub(super) chances: Vec<f32>,
    pub(super) first_moves: Vec<u32>,
    pub(super) targets: Vec<f32>,
    pub(super) contents: Vec<u8>,
}

/// What a sample is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Targets {
    /// Weight of the policy's loss.
    pub policy_weight: f32,
    /// Win, draw, loss.
    pub value: [f32; 3],
    /// ln(1 + plies left).
    pub moves_left: f32,
    /// Weight of the losses that need the end of the game.
    pub end_weight: f32,
}

impl Samples {
    /// No samples yet.
    pub fn new(size: BoardSize) -> Samples {
        Samples {
            size,
            squares: Vec::new(),
            globals: Vec::new(),
            moves: Vec::new(),
            chances: Vec::new(),
            first_moves: vec![0],
            targets: Vec::new(),
            contents: Vec::new(),
        }
    }

    /// Adds a sample: planes `[PLANES, squares]` that are 0 or 1, the global vector, each legal move with its chance,
    /// the targets, and the content of each square at the end, 0 to 3.
    ///
    /// # Panics
    /// When a length does not fit the board.
    pub fn push(
        &mut self,
        planes: &[f32],
        globals: &[f32],
        moves: impl IntoIterator<Item = (PolicyIndex, f32)>,
        targets: Targets,
        contents: impl IntoIterator<Item = u8>,
    ) {
        let squares = self.size.squares();
        assert_eq!((planes.len(), globals.len()), (PLANES * squares, GLOBALS), "lengths of a sample");
        let begin = self.squares.len();
        self.squares.resize(begin + squares, 0);
        for (plane, values) in planes.chunks_exact(squares).enumerate() {
            for (word, &value) in self.squares[begin..].iter_mut().zip(values) {
                *word |= u32::from(value != 0.0) << plane;
            }
        }
        self.globals.extend(globals);
        for (place, chance) in moves {
            self.moves.push(move_word(place, self.size.side()));
            self.chances.push(chance);
        }
        self.first_moves.push(self.moves.len() as u32);
        let [win, draw, loss] = targets.value;
        // Eight numbers a board (`kernels/training.h`).
        let end = [targets.moves_left, targets.end_weight, 0.0, 0.0];
        self.targets.extend([targets.policy_weight, win, draw, loss].into_iter().chain(end));
        self.contents.extend(contents);
        assert_eq!(self.contents.len(), self.squares.len(), "squares of a sample");
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.first_moves.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
