//! Evaluation by burn on any of its devices: the slow and sure one on a CPU, the only one on a GPU.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use hnefi_engine::BoardSize;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::evaluation::{plies_left, softmax};
use crate::{
    EvalError, EvalRequest, Evaluations, Evaluator, Features, GLOBALS, Network, PLANES, POLICY_PLANES, PolicyIndex, Wdl,
};

/// Runs a [`Network`] through burn. A batch may mix board sizes: each size crosses to the device once.
pub struct BurnEvaluator {
    network: Network,
    device: Device,
    /// burn's CPU backend spreads its work over the thread pool it is called in. With an evaluator per thread that pool
    /// must be the evaluator's own, of one thread, or the evaluators would wait for each other. `None` on other devices.
    pool: Option<ThreadPool>,
    on_cpu: bool,
    /// GPU kernels are compiled and tuned per shape, so batches are padded there to powers of two.
    pads: bool,
}

/// What the network said of the requests of one board size: a row each.
struct Rows {
    width: usize,
    values: Vec<f32>,
    taken: usize,
}

impl BurnEvaluator {
    /// Moves a copy of the network to the device, without its training state.
    pub fn new(network: Network, device: Device) -> BurnEvaluator {
        let device = device.without_autodiff();
        let on_cpu = device == Device::flex();
        BurnEvaluator { network: network.valid().to_device(&device), device, pool: None, on_cpu, pads: !on_cpu }
    }

    fn failed(&self, count: usize, problem: impl ToString) -> EvalError {
        EvalError::Device { count, device: format!("{:?}", self.device), problem: problem.to_string() }
    }

    /// Evaluates the requests of one board size, in their order.
    fn evaluate_size(&self, requests: &[EvalRequest<'_>], size: BoardSize) -> Result<Rows, EvalError> {
        let of_size = || requests.iter().filter(|request| request.position.size() == size);
        let count = of_size().count();
        let auxiliary = of_size().any(|request| request.auxiliary);
        let squares = size.squares();
        let width = row_width(squares, auxiliary);
        if count == 0 {
            return Ok(Rows { width, values: Vec::new(), taken: 0 });
        }

        let batch = if self.pads { count.next_power_of_two() } else { count };
        let mut planes = vec![0.0; batch * PLANES * squares];
        let mut globals = vec![0.0; batch * GLOBALS];
        for ((request, planes), globals) in
            of_size().zip(planes.chunks_exact_mut(PLANES * squares)).zip(globals.chunks_exact_mut(GLOBALS))
        {
            let features = Features::of(request.position);
            features.write_planes(squares, planes);
            globals.copy_from_slice(&features.globals);
        }

        let side = size.side();
        let run = || self.forward(planes, globals, [batch, PLANES, side, side], auxiliary);
        let values = match &self.pool {
            Some(pool) => pool.install(run),
            None => run(),
        }
        .map_err(|problem| self.failed(count, problem))?;
        Ok(Rows { width, values, taken: 0 })
    }

    /// One row a position: policy, the three results, plies left, and occupancy when asked for. Everything in one tensor,
    /// because each tensor read back from a GPU costs a wait.
    fn forward(
        &self,
        planes: Vec<f32>,
        globals: Vec<f32>,
        shape: [usize; 4],
        auxiliary: bool,
    ) -> Result<Vec<f32>, String> {
        let batch = shape[0];
        let planes = Tensor::<4>::from_data(TensorData::new(planes, shape), &self.device);
        let globals = Tensor::<2>::from_data(TensorData::new(globals, [batch, GLOBALS]), &self.device);
        let heads = self.network.forward(planes, globals);
        let mut parts = vec![heads.policy.flatten::<2>(1, 3), heads.wdl, heads.moves_left];
        if auxiliary {
            parts.push(heads.occupancy.flatten::<2>(1, 3));
        }
        let data = Tensor::cat(parts, 1).try_into_data().map_err(|error| format!("{error:?}"))?;
        data.try_into_vec::<f32>().map_err(|error| format!("{error:?}"))
    }
}

impl Evaluator for BurnEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        out.clear();
        if self.on_cpu && self.pool.is_none() {
            let pool = ThreadPoolBuilder::new().num_threads(1).build();
            self.pool = Some(pool.map_err(|error| self.failed(requests.len(), error))?);
        }
        let mut seven = self.evaluate_size(requests, BoardSize::Seven)?;
        let mut nine = self.evaluate_size(requests, BoardSize::Nine)?;
        let mut eleven = self.evaluate_size(requests, BoardSize::Eleven)?;
        for request in requests {
            let row = match request.position.size() {
                BoardSize::Seven => seven.take(),
                BoardSize::Nine => nine.take(),
                BoardSize::Eleven => eleven.take(),
            };
            if !row.iter().all(|value| value.is_finite()) {
                return Err(self.failed(requests.len(), "the network gave a value that is not a finite number"));
            }
            push(request, row, out);
        }
        Ok(())
    }
}

impl Rows {
    /// The next position's row.
    fn take(&mut self) -> &[f32] {
        let begin = self.taken * self.width;
        self.taken += 1;
        &self.values[begin..begin + self.width]
    }
}

fn row_width(squares: usize, auxiliary: bool) -> usize {
    POLICY_PLANES * squares + 4 + if auxiliary { 4 * squares } else { 0 }
}

/// Reads one row as the answer to one request.
fn push(request: &EvalRequest<'_>, row: &[f32], out: &mut Evaluations) {
    let size = request.position.size();
    let squares = size.squares();
    let (policy, rest) = row.split_at(POLICY_PLANES * squares);
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

#[cfg(test)]
mod tests {
    use hnefi_engine::{MoveList, Position, Preset};

    use super::*;
    use crate::NetworkConfig;

    #[test]
    fn padding_a_batch_changes_no_answer() {
        let config = NetworkConfig {
            blocks: 1,
            channels: 8,
            pool_every: 1,
            head_channels: 8,
            value_hidden: 8,
            role_heads: true,
        };
        let network = config.init(&Device::flex());
        let positions: Vec<(Position, MoveList)> =
            [Preset::Brandubh, Preset::Tablut, Preset::Brandubh, Preset::Brandubh]
                .iter()
                .map(|preset| {
                    let position = Position::start(&preset.rules());
                    let mut moves = MoveList::new();
                    position.legal_moves(&mut moves);
                    (position, moves)
                })
                .collect();
        let requests: Vec<EvalRequest<'_>> =
            positions.iter().map(|(position, moves)| EvalRequest { position, moves, auxiliary: true }).collect();

        let answers = |pads: bool| {
            let mut evaluator = BurnEvaluator::new(network.clone(), Device::flex());
            evaluator.pads = pads;
            let mut out = Evaluations::new();
            evaluator.evaluate(&requests, &mut out).unwrap();
            out
        };
        let (plain, padded) = (answers(false), answers(true));
        assert_eq!(padded.len(), requests.len());
        for index in 0..requests.len() {
            assert!((plain.get(index).wdl.win - padded.get(index).wdl.win).abs() < 1e-6);
            for (a, b) in plain.priors(index).iter().zip(padded.priors(index)) {
                assert!((a - b).abs() < 1e-6);
            }
        }
    }
}
