//! A checkpoint as an ONNX file, for programs that run networks without this one.
//!
//! One file serves the three boards and any batch: both are open dimensions, and the layers that need the board's side
//! read it off the input. The file has the network's steps ([`crate::graph`]) one by one, and its weights keep the
//! names they have in the safetensors file. `docs/NETWORK.md` describes inputs and outputs.

mod graph;
mod proto;

use hnefi_engine::BoardSize;
use prost::Message;

use self::graph::{Dimension, OnnxGraph, Value, float, int, ints};
use self::proto::{AttributeProto, ModelProto, OperatorSetIdProto, StringStringEntryProto};
use crate::architecture::NORM_EPSILON;
use crate::graph::{Graph, Op};
use crate::{Checkpoint, CheckpointError, GLOBALS, PLANES, POLICY_PLANES, PolicyIndex};

/// Version of the operators: the newest that takes axes of reductions as attributes, so that old runtimes read the file
/// too.
const OPSET: i64 = 17;

/// Version of the file format that goes with it.
const IR_VERSION: i64 = 8;

impl Checkpoint {
    /// The network as the bytes of an ONNX file, with the facts of the card in its metadata.
    ///
    /// # Errors
    /// When a part of the graph has no weights, which a whole checkpoint rules out.
    pub fn onnx_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let unwritable = |problem: String| CheckpointError::Unwritable { problem };
        let mut graph = OnnxGraph::new("hnefi", self.weights.tensors().clone());
        write_network(&mut graph, &self.weights.config().graph()).map_err(unwritable)?;
        let card = &self.card;
        let notes = [
            ("id", card.id.clone()),
            ("encoding", self.weights.encoding.version().to_string()),
            ("rulesets", card.rulesets.join(",")),
            ("generation", card.generation.to_string()),
        ];
        let model = ModelProto {
            ir_version: Some(IR_VERSION),
            producer_name: "hnefi".to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            doc_string: "A Hnefatafl network. Inputs and outputs are described in docs/NETWORK.md of the program."
                .to_owned(),
            graph: Some(graph.finish()),
            opset_import: vec![OperatorSetIdProto { domain: String::new(), version: Some(OPSET) }],
            metadata_props: notes
                .into_iter()
                .map(|(key, value)| StringStringEntryProto { key: key.to_owned(), value })
                .collect(),
        };
        Ok(model.encode_to_vec())
    }
}

/// Writes the network step by step.
fn write_network(file: &mut OnnxGraph, network: &Graph) -> Result<(), String> {
    use Dimension::{Fixed, Open};
    let board = |channels: usize| [Open("batch"), Fixed(channels), Open("side"), Open("side")];
    let planes = file.input("planes", "input planes of each position, 0 or 1; rank 0 first", &board(PLANES));
    let vector = [Open("batch"), Fixed(GLOBALS)];
    let globals = file.input("globals", "global input; entry 0 is 1 with the attackers to move, 0 else", &vector);
    let side = side(file, &planes);
    let scale = side_scale(file, &side);
    let attacking = slice(file, "attacking", &globals, 0, 1);
    let half = file.number("half", 0.5);
    let attacking = file.node("Greater", "attacking", &[&attacking, &half], Vec::new());
    let attacking_board = per_channel(file, "attacking", &attacking);

    let mut values: Vec<Value> = Vec::new();
    for (at, step) in network.steps.iter().enumerate() {
        let name = step.name.as_str();
        let inputs: Vec<&Value> = step.inputs.iter().map(|&input| &values[input]).collect();
        let value = match step.op {
            Op::Planes => planes.clone(),
            Op::Globals => globals.clone(),
            Op::ConvNorm { .. } => conv_norm(file, name, inputs[0])?,
            Op::Pointwise { bias, .. } => convolution(file, name, inputs[0], 1, bias)?,
            Op::Linear { bias, .. } => with_weights(file, "Gemm", name, inputs[0], bias, Vec::new())?,
            Op::Relu => file.node("Relu", name, &[inputs[0]], Vec::new()),
            Op::Pool => global_pool(file, name, inputs[0], &scale),
            Op::ByRole => {
                let attacking = if network.is_board(at) { &attacking_board } else { &attacking };
                file.node("Where", name, &[attacking, inputs[1], inputs[2]], Vec::new())
            }
            Op::Destinations { .. } => destinations(file, &side, &inputs),
            Op::Add => {
                let mut sum = inputs[0].clone();
                for (number, &term) in step.inputs.iter().enumerate().skip(1) {
                    let name = format!("{name}.{number}");
                    let flat = network.is_board(at) && !network.is_board(term);
                    let term = if flat { per_channel(file, &name, inputs[number]) } else { inputs[number].clone() };
                    sum = file.node("Add", &name, &[&sum, &term], Vec::new());
                }
                sum
            }
        };
        values.push(value);
    }

    let wdl = slice(file, "wdl", &values[network.value], 0, 3);
    let moves_left = slice(file, "moves_left", &values[network.value], 3, 4);
    let policy = "policy logits of the side to move: direction * 10 + distance - 1, at the origin";
    file.output(&values[network.policy], "policy", policy, &board(POLICY_PLANES));
    file.output(&wdl, "wdl", "win, draw and loss logits of the side to move", &[Open("batch"), Fixed(3)]);
    file.output(&moves_left, "moves_left", "ln(1 + plies to the end of the game)", &[Open("batch"), Fixed(1)]);
    let occupancy = "logits of each square's final content: empty, attacker, defender, king";
    file.output(&values[network.occupancy], "occupancy", occupancy, &board(4));
    Ok(())
}

/// For each move its plane at its origin: the product of `hidden` at the origin and `keys` at the destination, zero
/// where a move would leave the board. One matrix product makes all pairs of squares, and a table for the board's side
/// says where in it each move is; no table is there for other boards than the three, so they fail.
fn destinations(graph: &mut OnnxGraph, side: &Value, inputs: &[&Value]) -> Value {
    let [hidden, keys] = [inputs[0], inputs[1]];
    let name = "destinations";
    let flat = graph.integers("channels_by_squares", &[0, 0, -1]);
    let origins = graph.node("Reshape", "origins", &[hidden, &flat], Vec::new());
    let origins = graph.node("Transpose", "origins", &[&origins], vec![ints("perm", &[0, 2, 1])]);
    // A last square where everything is zero, for the moves that leave the board.
    let keys = graph.node("Reshape", name, &[keys, &flat], Vec::new());
    let outside = graph.integers("outside", &[0, 0, 0, 0, 0, 1]);
    let keys = graph.node("Pad", name, &[&keys, &outside], Vec::new());
    let pairs = graph.node("MatMul", name, &[&origins, &keys], Vec::new());
    let flat = graph.integers("pairs", &[0, -1]);
    let pairs = graph.node("Reshape", "pairs", &[&pairs, &flat], Vec::new());
    // With the batch last, a move is gathered for all boards at once, which is three times as fast.
    let swapped = || vec![ints("perm", &[1, 0])];
    let pairs = graph.node("Transpose", "pairs", &[&pairs], swapped());

    let (places, ranges) = places();
    let [begin, end] = [("begin", 0), ("end", 1)].map(|(name, which)| {
        let by_side: Vec<i64> = ranges.iter().map(|range| range[which]).collect();
        let by_side = graph.integers(name, &by_side);
        graph.node("Gather", name, &[&by_side, side], Vec::new())
    });
    let places = graph.integers("places", &places);
    let places = graph.node("Slice", name, &[&places, &begin, &end], Vec::new());
    let moves = graph.node("Gather", "moves", &[&pairs, &places], Vec::new());
    let moves = graph.node("Transpose", "moves", &[&moves], swapped());
    let planes = graph.integers("batch_by_planes", &[0, POLICY_PLANES as i64]);
    let shape = graph.node("Concat", "moves", &[&planes, side, side], vec![int("axis", 0)]);
    graph.node("Reshape", "moves", &[&moves, &shape], Vec::new())
}

/// For each board, one after another: for each plane and origin, the place of the move's pair among all pairs of an
/// origin and a destination, of which there is one more than the board has squares. Beside them, by the side of the
/// board, where its places begin and end; nothing for a side that no board has.
fn places() -> (Vec<i64>, [[i64; 2]; 12]) {
    let (mut places, mut ranges) = (Vec::new(), [[0; 2]; 12]);
    for size in BoardSize::ALL {
        let (side, squares) = (size.side(), size.squares());
        let begin = places.len() as i64;
        for plane in 0..POLICY_PLANES {
            places.extend((0..squares).map(|square| {
                let to = PolicyIndex { plane, square }.destination(side).unwrap_or(squares);
                (square * (squares + 1) + to) as i64
            }));
        }
        ranges[side] = [begin, places.len() as i64];
    }
    (places, ranges)
}

/// A 3x3 convolution and its normalisation.
fn conv_norm(graph: &mut OnnxGraph, name: &str, x: &Value) -> Result<Value, String> {
    let y = convolution(graph, &format!("{name}.conv"), x, 3, false)?;
    let norm = format!("{name}.norm");
    let mut inputs = vec![y];
    for part in ["gamma", "beta", "running_mean", "running_var"] {
        inputs.push(graph.weight(&format!("{norm}.{part}"))?);
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    Ok(graph.node("BatchNormalization", &norm, &inputs, vec![float("epsilon", NORM_EPSILON as f32)]))
}

/// A convolution with a kernel of this side, which keeps the board's.
fn convolution(graph: &mut OnnxGraph, name: &str, x: &Value, side: i64, bias: bool) -> Result<Value, String> {
    let attributes = vec![ints("kernel_shape", &[side, side]), ints("pads", &[side / 2; 4])];
    with_weights(graph, "Conv", name, x, bias, attributes)
}

/// An operator with a weight and, if it has one, a bias.
fn with_weights(
    graph: &mut OnnxGraph,
    op: &str,
    name: &str,
    x: &Value,
    bias: bool,
    attributes: Vec<AttributeProto>,
) -> Result<Value, String> {
    let mut inputs = vec![x.clone(), graph.weight(&format!("{name}.weight"))?];
    if bias {
        inputs.push(graph.weight(&format!("{name}.bias"))?);
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    Ok(graph.node(op, name, &inputs, attributes))
}

/// The side of the board, a vector of one, read off the input.
fn side(graph: &mut OnnxGraph, planes: &Value) -> Value {
    let shape = graph.node("Shape", "side", &[planes], Vec::new());
    let axis = graph.integers("two", &[2]);
    graph.node("Gather", "side", &[&shape, &axis], vec![int("axis", 0)])
}

/// `(N - 9) / 2` for boards of side N.
fn side_scale(graph: &mut OnnxGraph, side: &Value) -> Value {
    let side = graph.node("Cast", "side", &[side], vec![int("to", 1)]);
    let (nine, half) = (graph.number("nine", 9.0), graph.number("half", 0.5));
    let side = graph.node("Sub", "side", &[&side, &nine], Vec::new());
    graph.node("Mul", "side", &[&side, &half], Vec::new())
}

/// Mean, scaled mean and maximum over the squares: `[B, C, N, N]` to `[B, 3C]`.
fn global_pool(graph: &mut OnnxGraph, name: &str, x: &Value, scale: &Value) -> Value {
    let over_squares = || vec![ints("axes", &[2, 3]), int("keepdims", 0)];
    let mean = graph.node("ReduceMean", name, &[x], over_squares());
    let max = graph.node("ReduceMax", name, &[x], over_squares());
    let scaled = graph.node("Mul", name, &[&mean, scale], Vec::new());
    graph.node("Concat", name, &[&mean, &scaled, &max], vec![int("axis", 1)])
}

/// `[B, C]` as `[B, C, 1, 1]`.
fn per_channel(graph: &mut OnnxGraph, name: &str, x: &Value) -> Value {
    let axes = graph.integers("squares", &[2, 3]);
    graph.node("Unsqueeze", name, &[x, &axes], Vec::new())
}

/// Columns `begin..end` of `[B, C]`.
fn slice(graph: &mut OnnxGraph, name: &str, x: &Value, begin: i64, end: i64) -> Value {
    let begin = graph.integers(&format!("{begin}"), &[begin]);
    let end = graph.integers(&format!("{end}"), &[end]);
    let axis = graph.integers("1", &[1]);
    graph.node("Slice", name, &[x, &begin, &end, &axis], Vec::new())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Card, NetworkConfig, Weights};

    fn model() -> (ModelProto, Checkpoint) {
        let config = NetworkConfig { blocks: 3, channels: 8, pool_every: 3, head_channels: 8, value_hidden: 8 };
        let checkpoint = Checkpoint::new(Card::new(config), Weights::fresh(&config, 5)).expect("bytes");
        let bytes = checkpoint.onnx_bytes().expect("a whole network");
        (ModelProto::decode(bytes.as_slice()).expect("our own bytes"), checkpoint)
    }

    #[test]
    fn every_name_is_made_before_it_is_used_and_once() {
        let (model, _) = model();
        let graph = model.graph.expect("a graph");
        let mut known: HashSet<String> = graph.input.iter().map(|input| input.name.clone()).collect();
        for tensor in &graph.initializer {
            assert!(known.insert(tensor.name.clone()), "{} twice", tensor.name);
        }
        for node in &graph.node {
            for input in &node.input {
                assert!(known.contains(input), "{} uses {input} before it is made", node.name);
            }
            for output in &node.output {
                assert!(known.insert(output.clone()), "{output} twice");
            }
        }
        let outputs: Vec<_> = graph.output.iter().map(|output| output.name.as_str()).collect();
        assert_eq!(outputs, ["policy", "wdl", "moves_left", "occupancy"]);
        assert!(outputs.iter().all(|&output| known.contains(output)));
    }

    #[test]
    fn every_weight_of_the_file_is_used_unchanged() {
        let (model, checkpoint) = model();
        let graph = model.graph.expect("a graph");
        for (name, tensor) in checkpoint.weights.tensors() {
            let found = graph.initializer.iter().find(|known| known.name == *name);
            let found = found.unwrap_or_else(|| panic!("{name} is not in the graph"));
            let values: Vec<f32> = found
                .raw_data
                .chunks_exact(4)
                .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four")))
                .collect();
            assert_eq!(values, tensor.values, "{name}");
            assert_eq!(found.dims, tensor.shape.iter().map(|&dim| dim as i64).collect::<Vec<_>>(), "{name}");
        }
    }

    #[test]
    fn the_metadata_says_how_inputs_are_made() {
        let (model, checkpoint) = model();
        let note = |key: &str| model.metadata_props.iter().find(|note| note.key == key).map(|note| note.value.clone());
        assert_eq!(note("encoding").as_deref(), Some("2"));
        assert_eq!(note("id").as_deref(), Some(checkpoint.card.id.as_str()));
    }
}
