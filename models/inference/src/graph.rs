//! The network as a list of steps: its one description. Names and shapes of the weights, their first values, what an
//! evaluation costs, how a network grows, the ONNX file and the check in NumPy are made from it; burn, the CPU
//! evaluator and the kernels of cards implement its layers.
//!
//! Size-agnostic: no step depends on the number of squares, so the same weights serve every board.

use serde::Serialize;

use crate::{GLOBALS, NetworkConfig, PLANES, POLICY_ROWS, policy_planes};

/// A step of the network: its value is made of the values of earlier steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Unique. The tensors of a layer begin with it.
    pub name: String,
    /// What is computed.
    pub op: Op,
    /// The steps that it reads, by their place in the list.
    pub inputs: Vec<usize>,
    /// Which part of the network it belongs to.
    pub part: Part,
    /// Whether it is the last layer of a head, whose weights begin small
    /// ([`LAST_LAYER_SCALE`](crate::LAST_LAYER_SCALE)).
    pub last: bool,
}

/// A part of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What every evaluation computes.
    Trunk,
    /// The heads of the attackers (0) and of the defenders (1): an evaluation takes the heads of the side to move.
    Heads(usize),
    /// What training alone looks at.
    Auxiliary,
}

/// What a step computes. A *board* is `[B, C, N, N]`, a *vector* `[B, C]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Op {
    /// The input planes, a board of [`PLANES`] channels.
    Planes,
    /// The global vector, [`GLOBALS`] numbers.
    Globals,
    /// A 3x3 convolution of a board without bias, with zeros around it, and its batch normalisation: `NAME.conv.weight`
    /// `[to, from, 3, 3]` and `NAME.norm.{gamma,beta,running_mean,running_var}`.
    ConvNorm {
        /// Input channels.
        from: usize,
        /// Output channels.
        to: usize,
    },
    /// A 1x1 convolution of a board: `NAME.weight` `[to, from, 1, 1]`, `NAME.bias`.
    Pointwise {
        /// Input channels.
        from: usize,
        /// Output channels.
        to: usize,
        /// Whether it has a bias.
        bias: bool,
    },
    /// A linear layer on a vector: `NAME.weight` `[from, to]`, `NAME.bias`.
    Linear {
        /// Inputs.
        from: usize,
        /// Outputs.
        to: usize,
        /// Whether it has a bias.
        bias: bool,
    },
    /// The larger of each number and zero.
    Relu,
    /// The sum of its inputs; a vector is added to every square of a board.
    Add,
    /// Mean, mean scaled by the board's side, `(N - 9) / 2`, and maximum over the squares of a board: a vector of three
    /// times the channels (KataGo's pooling, arXiv 1902.10565, section 3.3).
    Pool,
    /// Of the global vector and two values: the first value where the attackers are to move, else the second.
    ByRole,
    /// Of a board of [`POLICY_ROWS`] channels those whose distances the board has: in each direction the first N - 1.
    Distances,
    /// Of two boards of `width` channels: for each move, at its plane and origin, the product of the first at the
    /// origin and the second at the destination; zero where the move would leave the board.
    Destinations {
        /// Channels of both.
        width: usize,
    },
}

/// The steps of a network and its outputs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Graph {
    /// In the order in which they can be computed.
    pub steps: Vec<Step>,
    /// Policy logits of the side to move, a board of `4 (N - 1)` channels
    /// ([`policy_planes`]).
    pub policy: usize,
    /// Win, draw and loss logits of the side to move and ln(1 + plies to the end), a vector of 4.
    pub value: usize,
    /// Logits of each square's final content (empty, attacker, defender, king), a board of 4 channels.
    pub occupancy: usize,
}

impl NetworkConfig {
    /// The network of this shape. Nothing of the size of a tensor is allocated.
    pub fn graph(&self) -> Graph {
        let (channels, head, hidden) = (self.channels, self.head_channels, self.value_hidden);
        let mut steps = Steps { steps: Vec::new(), part: Part::Trunk };
        let planes = steps.push("planes", Op::Planes, &[]);
        let globals = steps.push("globals_in", Op::Globals, &[]);
        let stem = steps.push("stem", Op::ConvNorm { from: PLANES, to: channels }, &[planes]);
        let bias = steps.push("globals", Op::Linear { from: GLOBALS, to: channels, bias: true }, &[globals]);
        let mut x = steps.relu_of_sum("stem", &[stem, bias]);
        for block in 0..self.blocks {
            let name = |part: &str| format!("blocks.{block}.{part}");
            let convolution = Op::ConvNorm { from: channels, to: channels };
            let first = steps.push(&name("first"), convolution, &[x]);
            let y = steps.push(&name("first.relu"), Op::Relu, &[first]);
            let mut sum = vec![steps.push(&name("second"), convolution, &[y]), x];
            if self.block_pools(block) {
                let pooled = steps.push(&name("pooled"), Op::Pool, &[y]);
                let layer = Op::Linear { from: 3 * channels, to: channels, bias: true };
                sum.push(steps.push(&name("pool"), layer, &[pooled]));
            }
            x = steps.relu_of_sum(&format!("blocks.{block}"), &sum);
        }

        let pooled = steps.push("pooled", Op::Pool, &[x]);
        let heads = [0, 1].map(|role| {
            steps.part = Part::Heads(role);
            let name = |part: &str| format!("roles.{role}.{part}");
            let to_head = |bias| Op::Pointwise { from: channels, to: head, bias };
            let conv = steps.push(&name("policy_conv"), to_head(true), &[x]);
            let pool = Op::Linear { from: 3 * channels, to: head, bias: false };
            let pool = steps.push(&name("policy_pool"), pool, &[pooled]);
            let origin = steps.relu_of_sum(&name("policy_hidden"), &[conv, pool]);
            let out = Op::Pointwise { from: head, to: POLICY_ROWS, bias: true };
            let policy = steps.push_last(&name("policy_out"), out, origin);
            let destination = steps.push_last(&name("policy_destination"), to_head(false), x);
            let conv = steps.push(&name("value_conv"), to_head(true), &[x]);
            let relu = steps.push(&name("value_conv.relu"), Op::Relu, &[conv]);
            let pooled = steps.push(&name("value_pooled"), Op::Pool, &[relu]);
            let units = Op::Linear { from: 3 * head, to: hidden, bias: true };
            let units = steps.push(&name("value_hidden"), units, &[pooled]);
            let units = steps.push(&name("value_hidden.relu"), Op::Relu, &[units]);
            let value = steps.push_last(&name("value_out"), Op::Linear { from: hidden, to: 4, bias: true }, units);
            [origin, policy, destination, value]
        });
        steps.part = Part::Trunk;
        let mut by_role = |name: &str, at: usize| steps.push(name, Op::ByRole, &[globals, heads[0][at], heads[1][at]]);
        let (origin, rows) = (by_role("origin", 0), by_role("policy_rows", 1));
        let (destination, value) = (by_role("destination", 2), by_role("value", 3));
        let policy = steps.push("policy_origin", Op::Distances, &[rows]);
        let moves = steps.push("destinations", Op::Destinations { width: head }, &[origin, destination]);
        let policy = steps.push("policy", Op::Add, &[policy, moves]);
        steps.part = Part::Auxiliary;
        let occupancy = steps.push_last("occupancy", Op::Pointwise { from: channels, to: 4, bias: true }, x);
        Graph { steps: steps.steps, policy, value, occupancy }
    }
}

impl Graph {
    /// The tensors, layer by layer: names and shapes.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.steps.iter().flat_map(Step::tensors)
    }

    /// The layer to which a tensor of this name belongs.
    pub fn layer_of(&self, tensor: &str) -> Option<&Step> {
        self.steps.iter().find(|step| {
            let part = tensor.strip_prefix(step.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
            part.is_some_and(|part| step.op.tensors().iter().any(|(known, _)| *known == part))
        })
    }

    /// Whether a layer reads pooled features, whose inputs are the channels three times over.
    pub fn reads_pooled(&self, layer: &Step) -> bool {
        layer.inputs.first().is_some_and(|&input| self.steps[input].op == Op::Pool)
    }

    /// Whether the value of a layer is a term of a sum, so that the network says without it what it says with a layer
    /// of zeros.
    pub fn is_added(&self, layer: &Step) -> bool {
        self.steps.iter().filter(|step| step.op == Op::Add).any(|sum| self.reads(sum, layer))
    }

    /// Whether the outputs of a layer are what moves' origins are multiplied by.
    pub fn is_multiplied(&self, layer: &Step) -> bool {
        let products = self.steps.iter().filter(|step| matches!(step.op, Op::Destinations { .. }));
        products.map(|product| &self.steps[product.inputs[1]]).any(|by_role| self.reads(by_role, layer))
    }

    fn reads(&self, step: &Step, layer: &Step) -> bool {
        step.inputs.iter().any(|&input| self.steps[input].name == layer.name)
    }

    /// Whether the value of a step is a board; a vector otherwise.
    pub fn is_board(&self, step: usize) -> bool {
        let Step { op, inputs, .. } = &self.steps[step];
        match op {
            Op::Planes | Op::ConvNorm { .. } | Op::Pointwise { .. } | Op::Distances | Op::Destinations { .. } => true,
            Op::Globals | Op::Linear { .. } | Op::Pool => false,
            Op::Relu | Op::Add => self.is_board(inputs[0]),
            Op::ByRole => self.is_board(inputs[1]),
        }
    }
}

impl Step {
    /// The tensors of the layer: names and shapes.
    pub fn tensors(&self) -> impl Iterator<Item = (String, Vec<usize>)> {
        self.op.tensors().into_iter().map(|(part, shape)| (format!("{}.{part}", self.name), shape))
    }
}

impl Op {
    /// Its tensors: the ends of their names, and their shapes.
    fn tensors(&self) -> Vec<(&'static str, Vec<usize>)> {
        let with_bias = |weight: Vec<usize>, to: usize, bias: bool| {
            let mut tensors = vec![("weight", weight)];
            tensors.extend(bias.then(|| ("bias", vec![to])));
            tensors
        };
        match *self {
            Op::ConvNorm { from, to } => {
                let norm = ["norm.gamma", "norm.beta", "norm.running_mean", "norm.running_var"];
                let norm = norm.map(|part| (part, vec![to]));
                std::iter::once(("conv.weight", vec![to, from, 3, 3])).chain(norm).collect()
            }
            Op::Pointwise { from, to, bias } => with_bias(vec![to, from, 1, 1], to, bias),
            Op::Linear { from, to, bias } => with_bias(vec![from, to], to, bias),
            _ => Vec::new(),
        }
    }

    /// Multiply-adds on a board of `side` squares a side, by the definition of the step.
    pub fn multiply_adds(&self, side: usize) -> usize {
        let squares = side * side;
        match *self {
            Op::ConvNorm { from, to } => 9 * from * to * squares,
            Op::Pointwise { from, to, .. } => from * to * squares,
            Op::Linear { from, to, .. } => from * to,
            Op::Destinations { width } => width * policy_planes(side) * squares,
            _ => 0,
        }
    }
}

/// Steps as they are put together.
struct Steps {
    steps: Vec<Step>,
    part: Part,
}

impl Steps {
    fn push(&mut self, name: &str, op: Op, inputs: &[usize]) -> usize {
        let step = Step { name: name.to_owned(), op, inputs: inputs.to_vec(), part: self.part, last: false };
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn push_last(&mut self, name: &str, op: Op, input: usize) -> usize {
        let at = self.push(name, op, &[input]);
        self.steps[at].last = true;
        at
    }

    fn relu_of_sum(&mut self, name: &str, terms: &[usize]) -> usize {
        let sum = self.push(&format!("{name}.sum"), Op::Add, terms);
        self.push(&format!("{name}.relu"), Op::Relu, &[sum])
    }
}
