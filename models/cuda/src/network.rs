//! A network on a card, for evaluation: activations in half precision, sums in single precision.

use std::sync::Arc;

use hnefi_inference::{EvalRequest, GLOBALS, PLANES, Weights};

use crate::card::{Arg, Buffer, Card, CardError, Grid, Stream, args};
use crate::layers::{Boards, Convolution, Half, Operands, Padded, Sizes};
use crate::requests::{Answered, Asked};

/// The most squares of a batch; more are evaluated in turns.
const MOST_ROWS: usize = 1 << 19;

/// A layer of the tower with its normalisation folded in.
struct Layer {
    convolution: Convolution,
    /// `[channels]`.
    bias: Buffer,
    /// Where the layer pools, weights `[3 channels, channels]`; its bias is in `bias`.
    pool: Option<Buffer>,
}

/// A network's weights on a card. Any number of threads evaluate with them, each by a lane of its own.
pub struct CardNetwork {
    card: Arc<Card>,
    sizes: Sizes,
    /// `[GLOBALS, channels]`; its bias is the stem's.
    globals: Buffer,
    /// The stem, then two layers a block.
    layers: Vec<Layer>,
    policy_pool: Buffer,
    heads: Convolution,
    heads_bias: Buffer,
    head_weights: Buffer,
}

impl CardNetwork {
    /// Copies a network to a card.
    ///
    /// # Errors
    /// When the network is too large, or the card fails.
    pub fn new(card: &Arc<Card>, weights: &Weights) -> Result<CardNetwork, CardError> {
        let sizes = Sizes::of(weights.config())?;
        let mut stream = card.stream()?;
        let padded = Padded { weights, sizes };
        let channels = sizes.channels;
        let mut layer = |name: &str, added: Option<Vec<f32>>, pool: Option<Vec<f32>>| -> Result<Layer, CardError> {
            let (scale, mut bias) = padded.folded(name);
            for (bias, added) in bias.iter_mut().zip(added.iter().flatten()) {
                *bias += added;
            }
            let cin = if name == "stem" { PLANES } else { channels };
            let convolution = convolution(&mut stream, &padded.convolution(name), Some(&scale), [cin, channels, 9])?;
            let pool = pool.map(|pool| stream.upload(&pool)).transpose()?;
            Ok(Layer { convolution, bias: stream.upload(&bias)?, pool })
        };
        let mut layers = vec![layer("stem", Some(padded.channels("globals.bias", 0.0)), None)?];
        for block in 0..sizes.config.blocks {
            layers.push(layer(&format!("blocks.{block}.first"), None, None)?);
            let pool = format!("blocks.{block}.pool");
            let pools = sizes.config.block_pools(block);
            let added = pools.then(|| padded.channels(&format!("{pool}.bias"), 0.0));
            let pool = pools.then(|| padded.linear(&pool, true, true));
            layers.push(layer(&format!("blocks.{block}.second"), added, pool)?);
        }
        let (heads, heads_bias) = padded.head_convolutions();
        let heads = convolution(&mut stream, &heads, None, [channels, sizes.width, 1])?;
        let network = CardNetwork {
            card: Arc::clone(card),
            sizes,
            globals: stream.upload(&padded.globals())?,
            layers,
            policy_pool: stream.upload(&padded.policy_pool())?,
            heads,
            heads_bias: stream.upload(&heads_bias)?,
            head_weights: stream.upload(&padded.head_weights())?,
        };
        stream.wait()?;
        Ok(network)
    }
}

/// A convolution of these weights `[cout, cin, taps]`.
fn convolution(
    stream: &mut Stream,
    weights: &[f32],
    scale: Option<&[f32]>,
    shape: [usize; 3],
) -> Result<Convolution, CardError> {
    let weights = stream.upload(weights)?;
    let scale = scale.map(|scale| stream.upload(scale)).transpose()?;
    let convolution = stream.convolution(shape)?;
    stream.pack(Half::F16, (weights.pointer(), scale.as_ref()), &convolution.weights, shape, false)?;
    // What was packed may go only when that is done.
    stream.wait()?;
    Ok(convolution)
}

/// A batch that is evaluated again and again, to be timed.
pub struct CardLoad {
    lane: Lane,
    asked: Vec<Asked>,
}

impl CardLoad {
    /// The batch, ready to go to the card.
    ///
    /// # Errors
    /// When the card fails.
    pub fn new(network: &Arc<CardNetwork>, requests: &[EvalRequest<'_>]) -> Result<CardLoad, CardError> {
        Ok(CardLoad { lane: Lane::new(network)?, asked: Asked::by_size(requests) })
    }

    /// Sends the batch to the card, evaluates it and gets the answers.
    ///
    /// # Errors
    /// When the card fails.
    pub fn run(&mut self) -> Result<(), CardError> {
        self.asked.iter().try_for_each(|asked| self.lane.run(asked).map(drop))
    }
}

/// Memory for the activations of a batch.
struct Scratch {
    /// What the host sends: planes, global vectors, moves and where each board's begin.
    input: Buffer,
    /// `[rows, channels]` each.
    x: Buffer,
    y: Buffer,
    /// `[rows, width]`.
    heads: Buffer,
    /// `[boards, 3, channels]`.
    pooled: Buffer,
    /// `[boards, channels]`.
    bias: Buffer,
    /// `[boards, 2, units]`.
    policy_bias: Buffer,
    /// What the host gets: priors, values, occupancies.
    output: Buffer,
}

/// One thread's evaluations with a network on a card.
pub(crate) struct Lane {
    network: Arc<CardNetwork>,
    stream: Stream,
    scratch: Option<Scratch>,
    /// What is sent, word by word.
    words: Vec<u32>,
}

impl Lane {
    pub fn new(network: &Arc<CardNetwork>) -> Result<Lane, CardError> {
        Ok(Lane { network: Arc::clone(network), stream: network.card.stream()?, scratch: None, words: Vec::new() })
    }

    /// Evaluates positions of one board size.
    pub fn run(&mut self, asked: &Asked) -> Result<Answered, CardError> {
        self.stream.bind()?;
        let most = MOST_ROWS / asked.size.squares();
        let mut answered = Answered::new(asked.size);
        if asked.count <= most {
            self.run_part(asked, &mut answered)?;
            return Ok(answered);
        }
        for first in (0..asked.count).step_by(most) {
            self.run_part(&asked.part(first, most.min(asked.count - first)), &mut answered)?;
        }
        Ok(answered)
    }

    fn run_part(&mut self, asked: &Asked, answered: &mut Answered) -> Result<(), CardError> {
        let network = Arc::clone(&self.network);
        let _working = network.card.working();
        let Sizes { channels, units, width, hidden, .. } = network.sizes;
        let boards = Boards { count: asked.count, side: asked.size.side() };
        let (rows, moves) = (boards.rows(), asked.moves.len());
        let occupancies = if asked.auxiliary { 4 * rows } else { 0 };
        let outputs = moves + 4 * boards.count + occupancies;

        self.words.clear();
        self.words.extend(&asked.squares);
        let globals = self.words.len();
        self.words.extend(asked.globals.iter().map(|value| value.to_bits()));
        let first_move = self.words.len();
        self.words.extend(asked.first_moves());
        let first_word = self.words.len();
        self.words.extend(&asked.moves);

        let sizes =
            [4 * self.words.len(), 2 * rows * channels, 2 * rows * width, 4 * boards.count * channels, 4 * outputs];
        self.make_room(sizes, 4 * boards.count * 2 * units)?;
        let scratch = self.scratch.as_mut().expect("room was made");
        let stream = &mut self.stream;
        stream.write(&self.words, &mut scratch.input)?;
        let at = |word: usize| scratch.input.pointer() + 4 * word as u64;
        let (globals, first_move, moves_at) = (at(globals), at(first_move), at(first_word));

        let (stem, blocks) = network.layers.split_first().expect("a network has a stem");
        let weights = (network.globals.pointer(), stem.bias.pointer());
        stream.linear(boards.count, globals, weights, scratch.bias.pointer(), [GLOBALS, channels])?;
        let (x, y) = (scratch.x.pointer(), scratch.y.pointer());
        let into = |x, out| Operands { x, bits: false, bias: 0, by_board: false, skip: 0, out, relu: true };
        let board_bias = |operands| Operands { bias: scratch.bias.pointer(), by_board: true, ..operands };
        let operands = Operands { bits: true, ..board_bias(into(at(0), x)) };
        stream.convolve(Half::F16, &stem.convolution, boards, &operands)?;
        for block in blocks.chunks_exact(2) {
            let [first, second] = block else { unreachable!("chunks of two") };
            let operands = Operands { bias: first.bias.pointer(), ..into(x, y) };
            stream.convolve(Half::F16, &first.convolution, boards, &operands)?;
            // Each thread reads the skip connection where it writes, so the sum takes its place.
            let mut operands = Operands { bias: second.bias.pointer(), skip: x, ..into(y, x) };
            if let Some(pool) = &second.pool {
                stream.pool(Half::F16, boards, channels, y, &scratch.pooled)?;
                let weights = (pool.pointer(), second.bias.pointer());
                let (input, out) = (scratch.pooled.pointer(), scratch.bias.pointer());
                stream.linear(boards.count, input, weights, out, [3 * channels, channels])?;
                operands = board_bias(operands);
            }
            stream.convolve(Half::F16, &second.convolution, boards, &operands)?;
        }

        stream.pool(Half::F16, boards, channels, x, &scratch.pooled)?;
        let policy_bias = scratch.policy_bias.pointer();
        let weights = (network.policy_pool.pointer(), 0);
        stream.linear(boards.count, scratch.pooled.pointer(), weights, policy_bias, [3 * channels, 2 * units])?;
        let operands = Operands { bias: network.heads_bias.pointer(), relu: false, ..into(x, scratch.heads.pointer()) };
        stream.convolve(Half::F16, &network.heads, boards, &operands)?;
        let out = |number: usize| Arg::Pointer(scratch.output.pointer() + 4 * number as u64);
        let occupancy = if asked.auxiliary { out(moves + 4 * boards.count) } else { Arg::Pointer(0) };
        let [globals, moves_at, first_move] = [globals, moves_at, first_move].map(Arg::Pointer);
        stream.start(
            "answers",
            Grid::boards(boards.count, 128, 4 * (32 + 3 * units + hidden)),
            args![
                &scratch.heads,
                &scratch.policy_bias,
                globals,
                &network.head_weights,
                moves_at,
                first_move,
                out(0),
                out(moves),
                occupancy,
                boards.side,
                width,
                units,
                hidden,
            ],
        )?;
        let numbers = stream.read(&scratch.output, outputs)?;
        answered.extend(&numbers, moves, boards);
        Ok(())
    }

    /// Makes the memory as large as a batch needs, by at least half where it grows again.
    fn make_room(&mut self, sizes: [usize; 5], policy_bias: usize) -> Result<(), CardError> {
        let [input, activations, heads, bias, output] = sizes;
        let all = [input, activations, activations, heads, 3 * bias, bias, policy_bias, output];
        let present = self.scratch.as_ref().map_or([0; 8], |scratch| {
            let Scratch { input, x, y, heads, pooled, bias, policy_bias, output } = scratch;
            [input, x, y, heads, pooled, bias, policy_bias, output].map(Buffer::len)
        });
        if all.iter().zip(&present).all(|(wanted, present)| wanted <= present) {
            return Ok(());
        }
        // The memory before goes first, so that both need not fit.
        self.scratch = None;
        let mut sizes = all
            .into_iter()
            .zip(present)
            .map(|(wanted, present)| if wanted <= present { present } else { wanted.max(present + present / 2) });
        let mut next = || self.stream.allocate(sizes.next().expect("eight sizes"));
        self.scratch = Some(Scratch {
            input: next()?,
            x: next()?,
            y: next()?,
            heads: next()?,
            pooled: next()?,
            bias: next()?,
            policy_bias: next()?,
            output: next()?,
        });
        Ok(())
    }
}
