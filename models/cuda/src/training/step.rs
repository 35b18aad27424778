//! A step on its way: the passes over a batch, layer by layer.

use hnefi_inference::{GLOBALS, NORM_EPSILON, PLANES, POLICY_ROWS};

use super::memory::{Scratch, WeightGradient, parts};
use super::{Renormalisation, Sent};
use crate::card::{Arg, Buffer, CardError, Grid, Stream, args};
use crate::layers::{Boards, GRADIENT_ROWS, Half, Operands, Sizes};

/// A step on its way: a network, memory, and where the batch lies.
pub(super) struct Step<'a> {
    pub sent: &'a Sent,
    pub scratch: &'a Scratch,
    pub boards: Boards,
    pub squares: u64,
    pub globals: u64,
    pub moves: u64,
    pub first_moves: u64,
    pub chances: u64,
    pub targets: u64,
    pub part_weights: u64,
    pub contents: u64,
    pub renormalisation: Renormalisation,
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
    pub fn forward(&self, stream: &mut Stream) -> Result<(), CardError> {
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
    pub fn heads(&self, stream: &mut Stream) -> Result<(), CardError> {
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
    pub fn back(&self, stream: &mut Stream) -> Result<(), CardError> {
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
