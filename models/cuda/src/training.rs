//! The gradients of a training step on a card: forward and back in bfloat16 with sums in single precision, batch
//! renormalisation as in `hnefi_models`. Parameters, optimiser and averages stay where they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use hnefi_engine::BoardSize;
use hnefi_inference::{GLOBALS, NORM_EPSILON, NetworkConfig, PLANES, POLICY_ROWS, PolicyIndex, Weights};

use crate::card::{Arg, Buffer, Card, CardError, Grid, Stream, args};
use crate::layers::{Boards, Convolution, GRADIENT_ROWS, Half, Operands, Padded, Sizes};
use crate::requests::move_word;

/// How far batch renormalisation goes: the largest ratio of deviations, and the largest offset in deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Renormalisation {
    /// The ratio is at most this and at least one over it.
    pub ratio: f32,
    /// The offset is at most this either way.
    pub offset: f32,
}

/// Training samples of one board size.
#[derive(Clone, Debug)]
pub struct Samples {
    size: BoardSize,
    squares: Vec<u32>,
    globals: Vec<f32>,
    moves: Vec<u32>,
    chances: Vec<f32>,
    first_moves: Vec<u32>,
    targets: Vec<f32>,
    contents: Vec<u8>,
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

/// What a step comes to.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// Of every parameter, by its name in [`Weights`].
    pub tensors: BTreeMap<String, Vec<f32>>,
    /// Mean and (biased) variance of the batch, by the name of the layer, such as `blocks.0.first`.
    pub statistics: BTreeMap<String, [Vec<f32>; 2]>,
    /// Means of the unweighted losses: policy, value, moves left, occupancy.
    pub losses: [f32; 4],
}

/// Places in a buffer of floats.
#[derive(Default)]
struct Layout {
    len: usize,
}

impl Layout {
    fn take(&mut self, count: usize) -> usize {
        // Whole groups of 16 bytes, as some kernels read them.
        let begin = self.len;
        self.len = (begin + count).next_multiple_of(4);
        begin
    }
}

/// Where a layer of the tower has its numbers, in parameters and gradients alike.
struct Layer {
    name: String,
    cin: usize,
    weights: usize,
    gamma: usize,
    beta: usize,
    /// The running mean and variance; in the gradients the batch's.
    statistics: usize,
    /// Weights and, behind them, the bias of the layer on pooled features.
    pool: Option<usize>,
}

/// Where the numbers of a network are.
struct Places {
    layers: Vec<Layer>,
    globals: usize,
    policy_pool: usize,
    heads: usize,
    heads_bias: usize,
    head_weights: usize,
    /// Of the gradients alone: `[2, 72, units + 1]`, and for each role `[3 units + 1, hidden]` and `[hidden + 1, 4]`.
    policy_out: usize,
    value_hidden: [usize; 2],
    value_out: [usize; 2],
    losses: usize,
    len: usize,
}

impl Places {
    fn of(sizes: &Sizes) -> Places {
        let Sizes { config, channels, units, width, hidden } = *sizes;
        let mut layout = Layout::default();
        let mut layer = |name: String, cin: usize, pools: bool| {
            let (weights, gamma, beta) =
                (layout.take(channels * cin * 9), layout.take(channels), layout.take(channels));
            let statistics = layout.take(2 * channels);
            let pool = pools.then(|| layout.take((3 * channels + 1) * channels));
            Layer { name, cin, weights, gamma, beta, statistics, pool }
        };
        let mut layers = vec![layer("stem".to_owned(), PLANES, false)];
        for block in 0..config.blocks {
            layers.push(layer(format!("blocks.{block}.first"), channels, false));
            layers.push(layer(format!("blocks.{block}.second"), channels, config.block_pools(block)));
        }
        let value = [(3 * units + 1) * hidden, (hidden + 1) * 4];
        Places {
            layers,
            globals: layout.take((GLOBALS + 1) * channels),
            policy_pool: layout.take((3 * channels + 1) * 2 * units),
            heads: layout.take(width * channels),
            heads_bias: layout.take(width),
            head_weights: layout.take(sizes.head_weights()),
            policy_out: layout.take(2 * POLICY_ROWS * (units + 1)),
            value_hidden: [layout.take(value[0]), layout.take(value[0])],
            value_out: [layout.take(value[1]), layout.take(value[1])],
            losses: layout.take(4),
            len: layout.len,
        }
    }

    /// The parameters in their places.
    fn parameters(&self, padded: &Padded<'_>) -> Vec<u32> {
        let mut all = vec![0; self.len];
        let mut put = |at: usize, values: Vec<f32>| {
            all[at..][..values.len()].iter_mut().zip(values).for_each(|(word, value)| *word = value.to_bits());
        };
        for layer in &self.layers {
            let of = |part: &str, fill| padded.channels(&format!("{}.norm.{part}", layer.name), fill);
            put(layer.weights, padded.convolution(&layer.name));
            put(layer.gamma, of("gamma", 0.0));
            put(layer.beta, of("beta", 0.0));
            put(layer.statistics, [of("running_mean", 0.0), of("running_var", 1.0)].concat());
            if let Some(at) = layer.pool {
                let name = layer.name.replace("second", "pool");
                put(at, padded.linear(&name, true, true));
                put(
                    at + 3 * padded.sizes.channels * padded.sizes.channels,
                    padded.channels(&format!("{name}.bias"), 0.0),
                );
            }
        }
        put(self.globals, padded.globals());
        put(self.globals + GLOBALS * padded.sizes.channels, padded.channels("globals.bias", 0.0));
        put(self.policy_pool, padded.policy_pool());
        let (heads, bias) = padded.head_convolutions();
        put(self.heads, heads);
        put(self.heads_bias, bias);
        put(self.head_weights, padded.head_weights());
        all
    }
}

/// Memory of a step for batches of up to a number of boards of one size.
struct Scratch {
    boards: Boards,
    /// What the host sends.
    input: Buffer,
    /// `[rows, channels]` of every layer: convolved, and activated.
    convolved: Vec<Buffer>,
    activated: Vec<Buffer>,
    /// `[rows, channels]`: gradients of a block's outputs, of what its layers made, of what is between its layers.
    outer: Buffer,
    convolved_gradient: Buffer,
    inner: Buffer,
    /// `[rows, width]` each.
    heads: Buffer,
    heads_gradient: Buffer,
    /// `[boards, 3, channels]`, of every layer that pools, then of the whole tower.
    pooled: Vec<Buffer>,
    pooled_gradient: Buffer,
    /// `[boards, channels]`.
    bias: Buffer,
    bias_gradient: Buffer,
    /// `[boards, 2, units]` each.
    policy_bias: Buffer,
    policy_bias_gradient: Buffer,
    /// Of the value head, `[boards, 3 units]`, `[boards, hidden]` twice, `[boards, 4]`.
    value_pooled: Buffer,
    value_hidden: Buffer,
    hidden_gradient: Buffer,
    value_gradient: Buffer,
    /// Of each board its losses, `[boards, 4]`, and of each move its logit's gradient.
    losses: Buffer,
    move_gradients: Buffer,
    /// Sums of parts of the batch.
    partial: Buffer,
}

/// A network as it was sent to the card, in the forms that a step needs.
struct Sent {
    sizes: Sizes,
    places: Places,
    parameters: Buffer,
    gradients: Buffer,
    /// Of every layer, and turned; the stem is not turned.
    layers: Vec<Convolution>,
    turned: Vec<Convolution>,
    heads: Convolution,
    heads_turned: Convolution,
    /// Six numbers a channel of every layer.
    norms: Vec<Buffer>,
    /// `[3, channels]`.
    factors: Buffer,
    /// Zeros, `[width or channels]`.
    zeros: Buffer,
}

/// Makes gradients on a card.
pub struct CardTrainer {
    stream: Stream,
    sent: Option<Sent>,
    scratch: Option<Scratch>,
}

impl CardTrainer {
    /// On this card.
    ///
    /// # Errors
    /// When the card fails.
    pub fn new(card: &Arc<Card>) -> Result<CardTrainer, CardError> {
        Ok(CardTrainer { stream: card.stream()?, sent: None, scratch: None })
    }

    /// The gradients of the mean of the losses over the samples, weighted: policy, value, moves left, occupancy.
    ///
    /// # Errors
    /// When the network is too large, or the card fails.
    ///
    /// # Panics
    /// Without samples.
    pub fn gradients(
        &mut self,
        weights: &Weights,
        samples: &Samples,
        part_weights: [f32; 4],
        renormalisation: Renormalisation,
    ) -> Result<Gradients, CardError> {
        assert!(!samples.is_empty(), "a step needs samples");
        self.stream.bind()?;
        self.send(weights)?;
        let (stream, sent) = (&mut self.stream, self.sent.as_mut().expect("the network was sent"));
        let boards = Boards { count: samples.len(), side: samples.size.side() };
        let moves = samples.moves.len();

        // What goes up, and where each part of it begins.
        let mut words = Vec::new();
        let mut put = |part: &mut dyn Iterator<Item = u32>| {
            let begin = words.len();
            words.extend(part);
            begin
        };
        let squares = put(&mut samples.squares.iter().copied());
        let globals = put(&mut samples.globals.iter().map(|value| value.to_bits()));
        let move_words = put(&mut samples.moves.iter().copied());
        let first_moves = put(&mut samples.first_moves.iter().copied());
        let chances = put(&mut samples.chances.iter().map(|value| value.to_bits()));
        let targets = put(&mut samples.targets.iter().map(|value| value.to_bits()));
        let part_weights = put(&mut part_weights.iter().map(|value| value.to_bits()));
        let contents = put(&mut samples
            .contents
            .chunks(4)
            .map(|four| four.iter().rev().fold(0, |word, &content| word << 8 | u32::from(content))));

        let fits = self.scratch.as_ref().is_some_and(|scratch| {
            let same = scratch.boards.side == boards.side && scratch.boards.count >= boards.count;
            same && scratch.input.len() >= 4 * words.len() && scratch.move_gradients.len() >= 4 * moves
        });
        if !fits {
            self.scratch = None;
            self.scratch = Some(Scratch::new(stream, &sent.sizes, boards, words.len(), moves)?);
        }
        let scratch = self.scratch.as_mut().expect("there is room");
        stream.write(&words, &mut scratch.input)?;
        let at = |word: usize| scratch.input.pointer() + 4 * word as u64;
        let step = Step {
            sent,
            scratch,
            boards,
            squares: at(squares),
            globals: at(globals),
            moves: at(move_words),
            first_moves: at(first_moves),
            chances: at(chances),
            targets: at(targets),
            part_weights: at(part_weights),
            contents: at(contents),
            renormalisation,
        };
        step.forward(stream)?;
        step.heads(stream)?;
        step.back(stream)?;
        let numbers = stream.read(&sent.gradients, sent.places.len)?;
        Ok(sent.gradients(&numbers, weights.config(), boards.count))
    }

    /// Sends a network and puts its weights in order.
    fn send(&mut self, weights: &Weights) -> Result<(), CardError> {
        let stream = &mut self.stream;
        let sizes = Sizes::of(weights.config())?;
        if self.sent.as_ref().is_none_or(|sent| sent.sizes.config != sizes.config) {
            self.sent = None;
            self.scratch = None;
            self.sent = Some(Sent::new(stream, sizes)?);
        }
        let sent = self.sent.as_mut().expect("there is room for the network");
        let words = sent.places.parameters(&Padded { weights, sizes });
        stream.write(&words, &mut sent.parameters)?;
        let at = |place: usize| sent.parameters.pointer() + 4 * place as u64;
        let channels = sizes.channels;
        for (number, layer) in sent.places.layers.iter().enumerate() {
            let (from, shape) = ((at(layer.weights), None), [layer.cin, channels, 9]);
            stream.pack(Half::Bf16, from, &sent.layers[number].weights, shape, false)?;
            if number > 0 {
                stream.pack(Half::Bf16, from, &sent.turned[number - 1].weights, shape, true)?;
            }
        }
        let (from, shape) = ((at(sent.places.heads), None), [channels, sizes.width, 1]);
        stream.pack(Half::Bf16, from, &sent.heads.weights, shape, false)?;
        stream.pack(Half::Bf16, from, &sent.heads_turned.weights, shape, true)
    }
}

impl Sent {
    fn new(stream: &mut Stream, sizes: Sizes) -> Result<Sent, CardError> {
        let places = Places::of(&sizes);
        let Sizes { channels, width, .. } = sizes;
        let count = places.layers.len();
        let tower = [channels, channels, 9];
        let stem = stream.convolution([PLANES, channels, 9])?;
        let layers = (1..count).map(|_| stream.convolution(tower)).collect::<Result<Vec<_>, _>>()?;
        let layers = std::iter::once(stem).chain(layers).collect();
        let turned = (1..count).map(|_| stream.convolution(tower)).collect::<Result<_, _>>()?;
        Ok(Sent {
            sizes,
            parameters: stream.allocate(4 * places.len)?,
            gradients: stream.allocate(4 * places.len)?,
            layers,
            turned,
            heads: stream.convolution([channels, width, 1])?,
            heads_turned: stream.convolution([width, channels, 1])?,
            norms: (0..count).map(|_| stream.allocate(4 * 6 * channels)).collect::<Result<_, _>>()?,
            factors: stream.allocate(4 * 3 * channels)?,
            zeros: stream.upload(&vec![0.0; channels.max(width)])?,
            places,
        })
    }

    /// The numbers of the gradients by their names, without what pads them.
    fn gradients(&self, numbers: &[f32], config: &NetworkConfig, boards: usize) -> Gradients {
        let Sizes { channels: padded, units, hidden, .. } = self.sizes;
        let channels = config.channels;
        let (mut tensors, mut statistics) = (BTreeMap::new(), BTreeMap::new());
        // [outer, padded, inner] to [outer, channels, inner]
        let cut = |at: usize, outer: usize, inner: usize| -> Vec<f32> {
            let parts = numbers[at..][..outer * padded * inner].chunks_exact(padded * inner);
            parts.flat_map(|part| &part[..channels * inner]).copied().collect()
        };
        let columns = |values: Vec<f32>| -> Vec<f32> {
            values.chunks_exact(padded).flat_map(|row| &row[..channels]).copied().collect()
        };
        for layer in &self.places.layers {
            let name = &layer.name;
            let weights = cut(layer.weights, 1, layer.cin * 9);
            let weights = if layer.cin == PLANES && name == "stem" {
                weights
            } else {
                let rows = weights.chunks_exact(padded * 9);
                rows.flat_map(|row| &row[..channels * 9]).copied().collect()
            };
            tensors.insert(format!("{name}.conv.weight"), weights);
            tensors.insert(format!("{name}.norm.gamma"), cut(layer.gamma, 1, 1));
            tensors.insert(format!("{name}.norm.beta"), cut(layer.beta, 1, 1));
            let both = [layer.statistics, layer.statistics + padded].map(|at| cut(at, 1, 1));
            statistics.insert(name.clone(), both);
            if let Some(at) = layer.pool {
                let name = name.replace("second", "pool");
                tensors.insert(format!("{name}.weight"), columns(cut(at, 3, padded)));
                tensors.insert(format!("{name}.bias"), cut(at + 3 * padded * padded, 1, 1));
            }
        }
        let globals = numbers[self.places.globals..][..GLOBALS * padded].to_vec();
        tensors.insert("globals.weight".to_owned(), columns(globals));
        tensors.insert("globals.bias".to_owned(), cut(self.places.globals + GLOBALS * padded, 1, 1));

        let mut row = 0;
        let rows = |begin: usize, count: usize| -> Vec<f32> {
            let rows = numbers[self.places.heads + begin * padded..][..count * padded].chunks_exact(padded);
            rows.flat_map(|row| &row[..channels]).copied().collect()
        };
        for role in [0, 1] {
            for (name, bias) in [("policy_conv", true), ("policy_destination", false), ("value_conv", true)] {
                tensors.insert(format!("roles.{role}.{name}.weight"), rows(row, units));
                if bias {
                    let bias = numbers[self.places.heads_bias + row..][..units].to_vec();
                    tensors.insert(format!("roles.{role}.{name}.bias"), bias);
                }
                row += units;
            }
            let pool = cut(self.places.policy_pool, 3, 2 * units);
            let own = pool.chunks_exact(2 * units).flat_map(|row| &row[role * units..][..units]).copied();
            tensors.insert(format!("roles.{role}.policy_pool.weight"), own.collect());
            let all = POLICY_ROWS * (units + 1);
            let policy = numbers[self.places.policy_out + role * all..][..all].chunks_exact(units + 1);
            let weights = policy.clone().flat_map(|row| &row[..units]).copied().collect();
            tensors.insert(format!("roles.{role}.policy_out.weight"), weights);
            let bias = policy.map(|row| row[units]).collect();
            tensors.insert(format!("roles.{role}.policy_out.bias"), bias);
            for (name, at, inputs, outputs) in [
                ("value_hidden", self.places.value_hidden[role], 3 * units, hidden),
                ("value_out", self.places.value_out[role], hidden, 4),
            ] {
                let weights = numbers[at..][..inputs * outputs].to_vec();
                tensors.insert(format!("roles.{role}.{name}.weight"), weights);
                let bias = numbers[at + inputs * outputs..][..outputs].to_vec();
                tensors.insert(format!("roles.{role}.{name}.bias"), bias);
            }
        }
        tensors.insert("occupancy.weight".to_owned(), rows(row, 4));
        tensors.insert("occupancy.bias".to_owned(), numbers[self.places.heads_bias + row..][..4].to_vec());
        let losses = std::array::from_fn(|at| numbers[self.places.losses + at] / boards as f32);
        Gradients { tensors, statistics, losses }
    }
}

/// Parts in which sums over a batch are made: enough to keep a card busy, and the same on every card.
fn parts(boards: Boards) -> usize {
    boards.count.div_ceil(8).clamp(1, 64)
}

/// How the gradients of a convolution's weights are made (`kernels/training.h`).
#[derive(Clone, Copy)]
struct WeightGradient {
    wide: usize,
    groups: usize,
    parts: usize,
    blocks: usize,
}

impl WeightGradient {
    fn of(boards: Boards, cin: usize, cout: usize) -> WeightGradient {
        let sixteens = cin / 16;
        let wide = (1..=8).rev().find(|wide| sixteens.is_multiple_of(*wide)).expect("one divides all");
        let blocks = sixteens / wide * (cout / 32);
        let parts = (256 / blocks).clamp(1, boards.rows().div_ceil(GRADIENT_ROWS));
        WeightGradient { wide, groups: 8 / wide, parts, blocks }
    }

    /// Floats of all parts together.
    fn floats(self, cin: usize, cout: usize, taps: usize) -> usize {
        self.parts * self.groups * taps * cin * cout
    }
}

impl Scratch {
    fn new(stream: &Stream, sizes: &Sizes, boards: Boards, words: usize, moves: usize) -> Result<Scratch, CardError> {
        let Sizes { config, channels, units, width, hidden } = *sizes;
        let (rows, count) = (boards.rows(), boards.count);
        let layers = 1 + 2 * config.blocks;
        let pools = 1 + (0..config.blocks).filter(|&block| config.block_pools(block)).count();
        let halves = |columns: usize| stream.allocate(2 * rows * columns);
        let floats = |columns: usize| stream.allocate(4 * count * columns);
        let many = |number: usize, make: &dyn Fn() -> Result<Buffer, CardError>| -> Result<Vec<Buffer>, CardError> {
            (0..number).map(|_| make()).collect()
        };
        let weights = |cin, cout, taps| WeightGradient::of(boards, cin, cout).floats(cin, cout, taps);
        let partial = [
            weights(PLANES, channels, 9),
            weights(channels, channels, 9),
            weights(channels, width, 1),
            parts(boards) * (2 * channels).max(width),
            parts(boards) * 2 * POLICY_ROWS * (units + 1),
        ];
        Ok(Scratch {
            boards,
            input: stream.allocate(4 * (words + words / 4))?,
            convolved: many(layers, &|| halves(channels))?,
            activated: many(layers, &|| halves(channels))?,
            outer: halves(channels)?,
            convolved_gradient: halves(channels)?,
            inner: halves(channels)?,
            heads: halves(width)?,
            heads_gradient: halves(width)?,
            pooled: many(pools, &|| floats(3 * channels))?,
            pooled_gradient: floats(3 * channels)?,
            bias: floats(channels)?,
            bias_gradient: floats(channels)?,
            policy_bias: floats(2 * units)?,
            policy_bias_gradient: floats(2 * units)?,
            value_pooled: floats(3 * units)?,
            value_hidden: floats(hidden)?,
            hidden_gradient: floats(hidden)?,
            value_gradient: floats(4)?,
            losses: floats(4)?,
            move_gradients: stream.allocate(4 * (moves + moves / 4))?,
            partial: stream.allocate(4 * partial.into_iter().max().unwrap_or(0))?,
        })
    }
}

/// A step on its way: a network, memory, and where the batch lies.
struct Step<'a> {
    sent: &'a Sent,
    scratch: &'a Scratch,
    boards: Boards,
    squares: u64,
    globals: u64,
    moves: u64,
    first_moves: u64,
    chances: u64,
    targets: u64,
    part_weights: u64,
    contents: u64,
    renormalisation: Renormalisation,
}

impl Step<'_> {
    fn parameter(&self, place: usize) -> u64 {
        self.sent.parameters.pointer() + 4 * place as u64
    }

    fn gradient(&self, place: usize) -> u64 {
        self.sent.gradients.pointer() + 4 * place as u64
    }

    /// A convolution without bias.
    fn plain(&self, x: u64, out: u64) -> Operands {
        Operands { x, bits: false, bias: self.sent.zeros.pointer(), by_board: false, skip: 0, out, relu: false }
    }

    /// The number of the pooled features of a layer that pools.
    fn pool_number(&self, layer: usize) -> usize {
        self.sent.places.layers[..layer].iter().filter(|layer| layer.pool.is_some()).count()
    }

    /// The tower, layer by layer.
    fn forward(&self, stream: &mut Stream) -> Result<(), CardError> {
        let Step { sent, scratch, boards, .. } = self;
        let (channels, count) = (sent.sizes.channels, boards.count);
        let globals = self.parameter(sent.places.globals);
        let bias = self.parameter(sent.places.globals + GLOBALS * channels);
        let to = scratch.bias.pointer();
        stream.linear(count, self.globals, (globals, bias), to, [GLOBALS, channels])?;
        for (number, layer) in sent.places.layers.iter().enumerate() {
            let (z, out) = (&scratch.convolved[number], &scratch.activated[number]);
            let operands = match number {
                0 => Operands { bits: true, ..self.plain(self.squares, z.pointer()) },
                _ => self.plain(scratch.activated[number - 1].pointer(), z.pointer()),
            };
            stream.convolve(Half::Bf16, &sent.layers[number], *boards, &operands)?;
            if let Some(at) = layer.pool {
                let pooled = &scratch.pooled[self.pool_number(number)];
                stream.pool(Half::Bf16, *boards, channels, scratch.activated[number - 1].pointer(), pooled)?;
                let weights = (self.parameter(at), self.parameter(at + 3 * channels * channels));
                stream.linear(count, pooled.pointer(), weights, to, [3 * channels, channels])?;
            }
            let sums = Grid { blocks: (channels / 32, parts(*boards)), threads: 256, shared: 2048 };
            let parts = parts(*boards);
            stream.start(
                "batch_moments",
                sums,
                args![z, &scratch.partial, count, boards.squares(), channels, parts],
            )?;
            let [gamma, beta, running] =
                [layer.gamma, layer.beta, layer.statistics].map(|place| Arg::Pointer(self.parameter(place)));
            let statistics = Arg::Pointer(self.gradient(layer.statistics));
            let Renormalisation { ratio, offset } = self.renormalisation;
            stream.start(
                "batch_normalisation",
                Grid::over(channels),
                args![
                    &scratch.partial,
                    parts,
                    boards.rows() as f64,
                    gamma,
                    beta,
                    running,
                    NORM_EPSILON,
                    f64::from(ratio),
                    f64::from(offset),
                    &sent.norms[number],
                    statistics,
                    channels,
                ],
            )?;
            let has_bias = number == 0 || layer.pool.is_some();
            let is_second = number > 0 && number.is_multiple_of(2);
            let bias = Arg::Pointer(if has_bias { to } else { 0 });
            let skip = Arg::Pointer(if is_second { scratch.activated[number - 2].pointer() } else { 0 });
            let rows = boards.rows();
            stream.start(
                "normalised",
                Grid::over(rows * channels / 2),
                args![z, &sent.norms[number], bias, skip, out, rows, boards.squares(), channels],
            )?;
        }
        Ok(())
    }

    fn trunk(&self) -> &Buffer {
        self.scratch.activated.last().expect("a network has a stem")
    }

    /// The heads with their losses, back to the gradient of the trunk.
    fn heads(&self, stream: &mut Stream) -> Result<(), CardError> {
        let Step { sent, scratch, boards, .. } = self;
        let Sizes { channels, units, width, hidden, .. } = sent.sizes;
        let (places, count, rows) = (&sent.places, boards.count, boards.rows());
        let pooled = scratch.pooled.last().expect("the trunk is pooled");
        stream.pool(Half::Bf16, *boards, channels, self.trunk().pointer(), pooled)?;
        let policy_pool = self.parameter(places.policy_pool);
        let to = scratch.policy_bias.pointer();
        stream.linear(count, pooled.pointer(), (policy_pool, 0), to, [3 * channels, 2 * units])?;
        let operands = Operands {
            bias: self.parameter(places.heads_bias),
            ..self.plain(self.trunk().pointer(), scratch.heads.pointer())
        };
        stream.convolve(Half::Bf16, &sent.heads, *boards, &operands)?;
        let pointers = [self.globals, self.parameter(places.head_weights), self.moves, self.first_moves, self.chances];
        let [globals, weights, moves, first_moves, chances] = pointers.map(Arg::Pointer);
        let [targets, contents, part_weights] = [self.targets, self.contents, self.part_weights].map(Arg::Pointer);
        let shared = 4 * (32 + 6 * units + hidden + 4);
        stream.start(
            "batch_losses",
            Grid::boards(count, 128, shared),
            args![
                &scratch.heads,
                &scratch.policy_bias,
                globals,
                weights,
                moves,
                first_moves,
                chances,
                targets,
                contents,
                part_weights,
                &scratch.losses,
                &scratch.move_gradients,
                &scratch.heads_gradient,
                &scratch.policy_bias_gradient,
                &scratch.value_pooled,
                &scratch.value_hidden,
                &scratch.hidden_gradient,
                &scratch.value_gradient,
                count,
                boards.side,
                width,
                units,
                hidden,
            ],
        )?;
        let losses = Arg::Pointer(self.gradient(places.losses));
        stream.start("add_up", Grid::over(4), args![&scratch.losses, losses, count, 4_usize])?;

        // The gradients of the heads' weights.
        let parts = parts(*boards);
        let policy = 2 * POLICY_ROWS * (units + 1);
        stream.start(
            "policy_gradient",
            Grid { blocks: (parts, 1), threads: 256, shared: 4 * policy },
            args![
                &scratch.heads,
                &scratch.policy_bias,
                globals,
                moves,
                first_moves,
                &scratch.move_gradients,
                &scratch.partial,
                count,
                boards.squares(),
                width,
                units,
                parts,
            ],
        )?;
        self.add_up(stream, places.policy_out, parts, policy)?;
        for role in [0, 1] {
            let (pooled, behind) = (scratch.value_pooled.pointer(), scratch.hidden_gradient.pointer());
            self.linear_gradient(stream, pooled, behind, places.value_hidden[role], [3 * units, hidden], Some(role))?;
            let (values, behind) = (scratch.value_hidden.pointer(), scratch.value_gradient.pointer());
            self.linear_gradient(stream, values, behind, places.value_out[role], [hidden, 4], Some(role))?;
        }
        let behind = scratch.policy_bias_gradient.pointer();
        self.linear_gradient(stream, pooled.pointer(), behind, places.policy_pool, [3 * channels, 2 * units], None)?;
        let gradient = &scratch.heads_gradient;
        self.weight_gradient(stream, (self.trunk().pointer(), false), gradient, places.heads, [channels, width, 1])?;
        stream.start(
            "bias_gradient",
            Grid { blocks: (parts, 1), threads: 256, shared: 0 },
            args![gradient, &scratch.partial, rows, width, parts],
        )?;
        self.add_up(stream, places.heads_bias, parts, width)?;

        // The gradient of the trunk.
        let operands = self.plain(gradient.pointer(), scratch.outer.pointer());
        stream.convolve(Half::Bf16, &sent.heads_turned, *boards, &operands)?;
        self.linear_back(stream, behind, policy_pool, [3 * channels, 2 * units])?;
        self.pooled_back(stream, self.trunk(), pooled, &scratch.outer)
    }

    /// Back through the tower.
    fn back(&self, stream: &mut Stream) -> Result<(), CardError> {
        let Step { sent, scratch, boards, .. } = self;
        let (channels, places) = (sent.sizes.channels, &sent.places);
        let (outer, inner, convolved) = (&scratch.outer, &scratch.inner, &scratch.convolved_gradient);
        for second in (2..places.layers.len()).step_by(2).rev() {
            let first = second - 1;
            let pool = places.layers[second].pool;
            self.layer_back(stream, second, outer, pool.is_some())?;
            let activated = &scratch.activated[first];
            let shape = [channels, channels, 9];
            let to = places.layers[second].weights;
            self.weight_gradient(stream, (activated.pointer(), false), convolved, to, shape)?;
            let operands = self.plain(convolved.pointer(), inner.pointer());
            stream.convolve(Half::Bf16, &sent.turned[second - 1], *boards, &operands)?;
            if let Some(at) = pool {
                let (pooled, behind) = (&scratch.pooled[self.pool_number(second)], scratch.bias_gradient.pointer());
                self.linear_gradient(stream, pooled.pointer(), behind, at, [3 * channels, channels], None)?;
                self.linear_back(stream, behind, self.parameter(at), [3 * channels, channels])?;
                self.pooled_back(stream, activated, pooled, inner)?;
            }
            self.layer_back(stream, first, inner, false)?;
            let x = scratch.activated[first - 1].pointer();
            self.weight_gradient(stream, (x, false), convolved, places.layers[first].weights, shape)?;
            // The gradient along the skip connection is there already.
            let operands = Operands { skip: outer.pointer(), ..self.plain(convolved.pointer(), outer.pointer()) };
            stream.convolve(Half::Bf16, &sent.turned[first - 1], *boards, &operands)?;
        }
        self.layer_back(stream, 0, outer, true)?;
        let shape = [PLANES, channels, 9];
        self.weight_gradient(stream, (self.squares, true), convolved, places.layers[0].weights, shape)?;
        let behind = scratch.bias_gradient.pointer();
        self.linear_gradient(stream, self.globals, behind, places.globals, [GLOBALS, channels], None)
    }

    /// Back through a layer's ReLU, in place, and its normalisation, to `convolved_gradient`; with `has_bias` the sums
    /// over each board go to `bias_gradient`.
    fn layer_back(
        &self,
        stream: &mut Stream,
        number: usize,
        gradient: &Buffer,
        has_bias: bool,
    ) -> Result<(), CardError> {
        let Step { sent, scratch, boards, .. } = self;
        let (channels, parts, rows) = (sent.sizes.channels, parts(*boards), boards.rows());
        let layer = &sent.places.layers[number];
        let (z, out) = (&scratch.convolved[number], &scratch.activated[number]);
        let sums = Arg::Pointer(if has_bias { scratch.bias_gradient.pointer() } else { 0 });
        stream.start(
            "gated",
            Grid { blocks: (channels / 32, parts), threads: 256, shared: 2048 },
            args![gradient, out, z, &scratch.partial, sums, boards.count, boards.squares(), channels, parts],
        )?;
        let [gamma, beta] = [layer.gamma, layer.beta].map(|place| Arg::Pointer(self.gradient(place)));
        let norm = &sent.norms[number];
        stream.start(
            "batch_normalisation_back",
            Grid::over(channels),
            args![&scratch.partial, parts, rows as f32, norm, gamma, beta, &sent.factors, channels],
        )?;
        stream.start(
            "normalised_back",
            Grid::over(rows * channels / 2),
            args![gradient, z, &sent.factors, &scratch.convolved_gradient, rows, channels],
        )
    }

    /// The gradients of a convolution's weights, from what it read, planes as bits or not, and what is behind it.
    fn weight_gradient(
        &self,
        stream: &mut Stream,
        (x, bits): (u64, bool),
        gradient: &Buffer,
        to: usize,
        [cin, cout, taps]: [usize; 3],
    ) -> Result<(), CardError> {
        let Step { scratch, boards, .. } = self;
        let WeightGradient { wide, groups, parts, blocks } = WeightGradient::of(*boards, cin, cout);
        let shared = 2 * GRADIENT_ROWS * 40 + 2 * boards.most_places(GRADIENT_ROWS, taps) * (16 * wide + 8);
        let (x, partial) = (Arg::Pointer(x), &scratch.partial);
        stream.start(
            "weight_gradient",
            Grid { blocks: (blocks, parts), threads: 32 * wide * groups, shared },
            args![x, bits, gradient, partial, boards.rows(), boards.side, cin, cout, taps, parts, wide],
        )?;
        let to = Arg::Pointer(self.gradient(to));
        let parts = parts * groups;
        stream.start("add_weight_gradient", Grid::over(taps * cin * cout), args![partial, to, parts, cin, cout, taps])
    }

    /// The gradients of a linear layer's weights and, behind them, of its bias, over the boards of a role or all.
    fn linear_gradient(
        &self,
        stream: &mut Stream,
        input: u64,
        gradient: u64,
        to: usize,
        [inputs, outputs]: [usize; 2],
        role: Option<usize>,
    ) -> Result<(), CardError> {
        let pointers = [input, gradient, self.globals, self.gradient(to)];
        let [input, gradient, globals, to] = pointers.map(Arg::Pointer);
        let grid = Grid::boards(inputs + 1, outputs.next_multiple_of(32).min(128), 0);
        let role = Arg::Int(role.map_or(-1, |role| role as i32));
        stream.start(
            "linear_gradient",
            grid,
            args![input, gradient, globals, to, self.boards.count, inputs, outputs, role],
        )
    }

    /// The gradient of what a linear layer reads, to `pooled_gradient`.
    fn linear_back(
        &self,
        stream: &mut Stream,
        gradient: u64,
        weights: u64,
        [inputs, outputs]: [usize; 2],
    ) -> Result<(), CardError> {
        let [gradient, weights] = [gradient, weights].map(Arg::Pointer);
        let grid = Grid::boards(self.boards.count, 256, 4 * outputs);
        let args = args![gradient, weights, &self.scratch.pooled_gradient, inputs, outputs];
        stream.start("linear_layer_back", grid, args)
    }

    /// Adds the gradient of pooled features, `pooled_gradient`, to the gradient of what was pooled.
    fn pooled_back(&self, stream: &mut Stream, x: &Buffer, pooled: &Buffer, to: &Buffer) -> Result<(), CardError> {
        let Step { sent, scratch, boards, .. } = self;
        let channels = sent.sizes.channels;
        let grid = Grid { blocks: (boards.count, channels / 32), threads: 32, shared: 0 };
        let (gradient, squares, scale) = (&scratch.pooled_gradient, boards.squares(), boards.pool_scale());
        stream.start("pooled_back", grid, args![x, pooled, gradient, to, squares, channels, scale])
    }

    /// Adds up parts in `partial`.
    fn add_up(&self, stream: &mut Stream, to: usize, parts: usize, count: usize) -> Result<(), CardError> {
        let to = Arg::Pointer(self.gradient(to));
        stream.start("add_up", Grid::over(count), args![&self.scratch.partial, to, parts, count])
    }
}
