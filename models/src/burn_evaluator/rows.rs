//! Requests as the numbers that cross to a device, and the numbers that come back as answers.

use hnefi_engine::BoardSize;

use hnefi_inference::{EvalRequest, Evaluations, Features, GLOBALS, PLANES, PolicyIndex, Wdl};
use hnefi_inference::{plies_left, policy_planes, softmax};

/// What is asked about positions of one board size.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub size: BoardSize,
    /// Positions.
    pub count: usize,
    /// `[count, PLANES, N, N]`.
    pub planes: Vec<f32>,
    /// `[count, GLOBALS]`.
    pub globals: Vec<f32>,
    /// Whether the final occupancy is wanted of any of them.
    pub auxiliary: bool,
}

impl Asked {
    /// The requests of each size there is, in their order.
    pub fn by_size<'a>(requests: &'a [EvalRequest<'_>]) -> impl Iterator<Item = Asked> + 'a {
        BoardSize::ALL.into_iter().map(|size| Asked::of(requests, size)).filter(|asked| asked.count > 0)
    }

    fn of(requests: &[EvalRequest<'_>], size: BoardSize) -> Asked {
        let of_size = || requests.iter().filter(|request| request.position.size() == size);
        let (count, squares) = (of_size().count(), size.squares());
        let mut asked = Asked {
            size,
            count,
            planes: vec![0.0; count * PLANES * squares],
            globals: vec![0.0; count * GLOBALS],
            auxiliary: of_size().any(|request| request.auxiliary),
        };
        let planes = asked.planes.chunks_exact_mut(PLANES * squares);
        for ((request, planes), globals) in of_size().zip(planes).zip(asked.globals.chunks_exact_mut(GLOBALS)) {
            let features = Features::of(request.position, request.handicap);
            features.write_planes(squares, planes);
            globals.copy_from_slice(&features.globals);
        }
        asked
    }

    /// Numbers of one position's row: policy, the three results, plies left, and occupancy when asked for.
    pub fn row_width(&self) -> usize {
        let squares = self.size.squares();
        policy_planes(self.size.side()) * squares + 4 + if self.auxiliary { 4 * squares } else { 0 }
    }
}

/// What the network said of the positions of one board size: a row each.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    size: BoardSize,
    width: usize,
    values: Vec<f32>,
    taken: usize,
}

impl Answered {
    /// The rows that answer `asked`.
    pub fn of(asked: &Asked, values: Vec<f32>) -> Answered {
        assert_eq!(values.len(), asked.count * asked.row_width(), "numbers for {} positions", asked.count);
        Answered { size: asked.size, width: asked.row_width(), values, taken: 0 }
    }

    fn take(&mut self) -> &[f32] {
        let begin = self.taken * self.width;
        self.taken += 1;
        &self.values[begin..begin + self.width]
    }
}

/// Writes an answer to every request; `answered` holds the rows of every size among them.
///
/// # Errors
/// When a number is not finite.
pub(super) fn write(
    requests: &[EvalRequest<'_>],
    mut answered: Vec<Answered>,
    out: &mut Evaluations,
) -> Result<(), String> {
    out.clear();
    for request in requests {
        let size = request.position.size();
        let rows = answered.iter_mut().find(|rows| rows.size == size).expect("every size that was asked is answered");
        let row = rows.take();
        if !row.iter().all(|value| value.is_finite()) {
            return Err("the network gave a value that is not a finite number".to_owned());
        }
        push(request, row, out);
    }
    Ok(())
}

/// Reads one row as the answer to one request.
fn push(request: &EvalRequest<'_>, row: &[f32], out: &mut Evaluations) {
    let size = request.position.size();
    let squares = size.squares();
    let (policy, rest) = row.split_at(policy_planes(size.side()) * squares);
    let (value, occupancy) = rest.split_at(4);
    let occupancy = request.auxiliary.then(|| {
        let content = |square: usize| {
            let mut chances = [0, 1, 2, 3].map(|kind| occupancy[kind * squares + square]);
            softmax(&mut chances);
            chances
        };
        (0..squares).map(content).collect()
    });
    out.push(Wdl::from_logits([value[0], value[1], value[2]]), plies_left(value[3]), occupancy, |logits| {
        logits.extend(request.moves.iter().map(|mv| policy[PolicyIndex::of(*mv, size).flat(size)]));
    });
}
