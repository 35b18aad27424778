//! Where the numbers of a network and of its gradients are in a card's memory, and what they are called.

use std::collections::BTreeMap;

use hnefi_inference::{GLOBALS, NetworkConfig, PLANES, POLICY_ROWS};

use super::{Gradients, Sent};
use crate::layers::{Padded, Sizes, head_convolutions};

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
pub(super) struct Layer {
    pub name: String,
    pub cin: usize,
    pub weights: usize,
    pub gamma: usize,
    pub beta: usize,
    /// The running mean and variance; in the gradients the batch's.
    pub statistics: usize,
    /// Weights and, behind them, the bias of the layer on pooled features.
    pub pool: Option<usize>,
}

/// Where the numbers of a network are.
pub(super) struct Places {
    pub layers: Vec<Layer>,
    pub globals: usize,
    pub policy_pool: usize,
    pub heads: usize,
    pub heads_bias: usize,
    pub head_weights: usize,
    /// Of the gradients alone: `[2, 72, units + 1]`, and for each role `[3 units + 1, hidden]` and `[hidden + 1, 4]`.
    pub policy_out: usize,
    pub value_hidden: [usize; 2],
    pub value_out: [usize; 2],
    pub losses: usize,
    pub len: usize,
}

impl Places {
    pub fn of(sizes: &Sizes) -> Places {
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
    pub fn parameters(&self, padded: &Padded<'_>) -> Vec<u32> {
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

impl Sent {
    /// The numbers of the gradients by their names, without what pads them.
    pub(super) fn gradients(&self, numbers: &[f32], config: &NetworkConfig, boards: usize) -> Gradients {
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
            let inputs = if name == "stem" { PLANES } else { channels };
            let rows = weights.chunks_exact(layer.cin * 9);
            let weights = rows.flat_map(|row| &row[..inputs * 9]).copied().collect();
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
        for name in head_convolutions() {
            let outputs = if name == "occupancy" { 4 } else { units };
            let weights = &numbers[self.places.heads + row * padded..][..outputs * padded];
            tensors.insert(format!("{name}.weight"), columns(weights.to_vec()));
            if !name.ends_with("destination") {
                tensors.insert(format!("{name}.bias"), numbers[self.places.heads_bias + row..][..outputs].to_vec());
            }
            row += outputs;
        }
        for role in [0, 1] {
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
        let losses = std::array::from_fn(|at| numbers[self.places.losses + at] / boards as f32);
        Gradients { tensors, statistics, losses }
    }
}
