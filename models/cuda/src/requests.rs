//! Requests as the numbers that go to a card, and the numbers that come back as answers.

use hnefi_engine::BoardSize;
use hnefi_inference::{EvalRequest, Evaluations, Features, GLOBALS, PolicyIndex, Wdl, plies_left};

use crate::layers::Boards;

/// What is asked about positions of one board size.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub size: BoardSize,
    /// Positions.
    pub count: usize,
    /// `[count, squares]`: the planes of each square as the bits of a word.
    pub squares: Vec<u32>,
    /// `[count, GLOBALS]`.
    pub globals: Vec<f32>,
    /// The legal moves of all positions, each as its row of the policy, its origin and its destination
    /// (`kernels/heads.h`).
    pub moves: Vec<u32>,
    /// How many moves each position has.
    pub move_counts: Vec<usize>,
    /// Whether the final occupancy is wanted of any of them.
    pub auxiliary: bool,
}

/// A move as a word.
pub(crate) fn move_word(place: PolicyIndex, side: usize) -> u32 {
    let destination = place.destination(side).expect("a legal move stays on the board");
    (place.row() | place.square << 8 | destination << 20) as u32
}

impl Asked {
    /// Nothing yet.
    pub fn new(size: BoardSize) -> Asked {
        let (squares, globals, moves, move_counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Asked { size, count: 0, squares, globals, moves, move_counts, auxiliary: false }
    }

    /// The requests of each size there is, in their order.
    pub fn by_size(requests: &[EvalRequest<'_>]) -> Vec<Asked> {
        let mut all: Vec<Asked> = Vec::new();
        for request in requests {
            let size = request.position.size();
            let place = all.iter().position(|asked| asked.size == size).unwrap_or_else(|| {
                all.push(Asked::new(size));
                all.len() - 1
            });
            all[place].push(request);
        }
        all
    }

    fn push(&mut self, request: &EvalRequest<'_>) {
        let features = Features::of(request.position, request.handicap);
        let begin = self.squares.len();
        self.squares.resize(begin + self.size.squares(), 0);
        for (plane, squares) in features.planes.iter().enumerate() {
            for square in *squares {
                self.squares[begin + square.index()] |= 1 << plane;
            }
        }
        self.globals.extend(features.globals);
        let side = self.size.side();
        self.moves.extend(request.moves.iter().map(|mv| move_word(PolicyIndex::of(*mv, self.size), side)));
        self.move_counts.push(request.moves.len());
        self.auxiliary |= request.auxiliary;
        self.count += 1;
    }

    /// Appends what another asks about positions of the same size.
    pub fn append(&mut self, other: &Asked) {
        assert_eq!(self.size, other.size, "board sizes in one batch");
        self.count += other.count;
        self.squares.extend(&other.squares);
        self.globals.extend(&other.globals);
        self.moves.extend(&other.moves);
        self.move_counts.extend(&other.move_counts);
        self.auxiliary |= other.auxiliary;
    }

    /// `count` positions from `first` on.
    pub fn part(&self, first: usize, count: usize) -> Asked {
        let squares = self.size.squares();
        let before: usize = self.move_counts[..first].iter().sum();
        let move_counts = self.move_counts[first..first + count].to_vec();
        Asked {
            size: self.size,
            count,
            squares: self.squares[first * squares..][..count * squares].to_vec(),
            globals: self.globals[first * GLOBALS..][..count * GLOBALS].to_vec(),
            moves: self.moves[before..][..move_counts.iter().sum()].to_vec(),
            move_counts,
            auxiliary: self.auxiliary,
        }
    }

    /// Where each position's moves begin, and behind them the number of all.
    pub fn first_moves(&self) -> impl Iterator<Item = u32> {
        let begins = self.move_counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum as u32)
        });
        std::iter::once(0).chain(begins)
    }
}

/// What the network said of the positions of one board size.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub size: BoardSize,
    /// Of all moves.
    priors: Vec<f32>,
    /// Of each position: logits of win, draw and loss, and ln(1 + plies left).
    values: Vec<[f32; 4]>,
    /// Of each square, the chances of its final content; empty where nobody asked.
    occupancies: Vec<[f32; 4]>,
}

impl Answered {
    /// Nothing yet.
    pub fn new(size: BoardSize) -> Answered {
        Answered { size, priors: Vec::new(), values: Vec::new(), occupancies: Vec::new() }
    }

    /// Appends numbers as they come from a card: priors, values, occupancies.
    pub fn extend(&mut self, numbers: &[f32], moves: usize, boards: Boards) {
        let (priors, rest) = numbers.split_at(moves);
        let (values, occupancies) = rest.split_at(4 * boards.count);
        self.priors.extend(priors);
        self.values.extend(values.as_chunks().0);
        self.occupancies.extend(occupancies.as_chunks().0);
    }

    /// The answers to the first positions, apart.
    pub fn take(&mut self, asked: &Asked) -> Answered {
        let rest = |all: &mut Vec<[f32; 4]>, count: usize| {
            let rest = all.split_off(count.min(all.len()));
            std::mem::replace(all, rest)
        };
        let priors = self.priors.split_off(asked.moves.len());
        let occupancies = rest(&mut self.occupancies, asked.count * asked.size.squares());
        Answered {
            size: self.size,
            priors: std::mem::replace(&mut self.priors, priors),
            values: rest(&mut self.values, asked.count),
            occupancies,
        }
    }
}

/// Writes an answer to every request; `answered` has the answers of every size among them.
///
/// # Errors
/// When a number is not finite.
pub(crate) fn write(requests: &[EvalRequest<'_>], answered: &[Answered], out: &mut Evaluations) -> Result<(), String> {
    out.clear();
    let mut taken = vec![(0, 0); answered.len()];
    for request in requests {
        let size = request.position.size();
        let place = answered.iter().position(|one| one.size == size).expect("every size that was asked is answered");
        let (of_size, (position, moves)) = (&answered[place], &mut taken[place]);
        let priors = &of_size.priors[*moves..][..request.moves.len()];
        let value = of_size.values[*position];
        let squares = size.squares();
        let occupancy = request.auxiliary.then(|| of_size.occupancies[*position * squares..][..squares].to_vec());
        if !priors.iter().chain(&value).chain(occupancy.iter().flatten().flatten()).all(|number| number.is_finite()) {
            return Err("the network gave a value that is not a finite number".to_owned());
        }
        let wdl = Wdl::from_logits([value[0], value[1], value[2]]);
        out.push_with_priors(wdl, plies_left(value[3]), occupancy, priors);
        *moves += request.moves.len();
        *position += 1;
    }
    Ok(())
}
