//! A checkpoint as an ONNX file, for programs that run networks without this one.
//!
//! One file serves boards of any side and any batch: both are open dimensions, and the layers that need the board's
//! side read it off the input. The file has the network's steps ([`crate::graph`]) one by one, and its weights keep the
//! names they have in the safetensors file. `docs/NETWORK.md` describes inputs and outputs.

mod graph;
mod proto;

use prost::Message;

use self::graph::{Dimension, OnnxGraph, Value, float, int, ints};
use self::proto::{AttributeProto, ModelProto, OperatorSetIdProto, StringStringEntryProto};
use crate::architecture::NORM_EPSILON;
use crate::graph::{Graph, Op};
use crate::policy::{DIRECTIONS, DISTANCES};
use crate::{Checkpoint, ENCODING_VERSION, GLOBALS, PLANES};

/// Version of the operators: the newest that takes axes of reductions as attributes, so that old runtimes read the file
/// too.
const OPSET: i64 = 17;

/// Version of the file format that goes with it.
const IR_VERSION: i64 = 8;

impl Checkpoint {
    /// The network as the bytes of an ONNX file, with the facts of the card in its metadata.
    pub fn onnx_bytes(&self) -> Vec<u8> {
        let mut graph = OnnxGraph::new("hnefi", &self.weights);
        write_network(&mut graph, &self.weights.config().graph());
        let card = &self.card;
        let notes = [
            ("id", card.id.clone()),
            ("encoding", ENCODING_VERSION.to_string()),
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
        model.encode_to_vec()
    }
}

/// Writes the network step by step.
fn write_network(file: &mut OnnxGraph, network: &Graph) {
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
            Op::ConvNorm { .. } => conv_norm(file, name, inputs[0]),
            Op::Pointwise { bias, .. } => convolution(file, name, inputs[0], 1, bias),
            Op::Linear { bias, .. } => with_weights(file, "Gemm", name, inputs[0], bias, Vec::new()),
            Op::Relu => file.node("Relu", name, &[inputs[0]], Vec::new()),
            Op::Pool => global_pool(file, name, inputs[0], &scale),
            Op::ByRole => {
                let attacking = if network.is_board(at) { &attacking_board } else { &attacking };
                file.node("Where", name, &[attacking, inputs[1], inputs[2]], Vec::new())
            }
            Op::Distances => distances(file, &side, inputs[0]),
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
    let policy = "policy logits of the side to move: direction * (side - 1) + distance - 1, at the origin";
    let moves = [Open("batch"), Open("planes"), Open("side"), Open("side")];
    file.output(&values[network.policy], "policy", policy, &moves);
    file.output(&wdl, "wdl", "win, draw and loss logits of the side to move", &[Open("batch"), Fixed(3)]);
    file.output(&moves_left, "moves_left", "ln(1 + plies to the end of the game)", &[Open("batch"), Fixed(1)]);
    let occupancy = "logits of each square's final content: empty, attacker, defender, king";
    file.output(&values[network.occupancy], "occupancy", occupancy, &board(4));
}

/// The rows of the policy for the distances of the board: in each direction the first N - 1.
fn distances(graph: &mut OnnxGraph, side: &Value, rows: &Value) -> Value {
    let name = "policy_origin";
    let by_distance = graph.integers("by_distance", &[0, DIRECTIONS as i64, DISTANCES as i64, -1]);
    let rows = graph.node("Reshape", "policy_rows", &[rows, &by_distance], Vec::new());
    let [zero, one, axis] = [("0", 0), ("1", 1), ("2", 2)].map(|(name, value)| graph.integers(name, &[value]));
    let end = graph.node("Sub", "last_distance", &[side, &one], Vec::new());
    let rows = graph.node("Slice", name, &[&rows, &zero, &end, &axis], Vec::new());
    let shape = planes_of_board(graph, side, name);
    graph.node("Reshape", name, &[&rows, &shape], Vec::new())
}

/// For each move its plane at its origin: the product of `hidden` at the origin and `keys` at the destination, zero
/// where a move would leave the board. One matrix product makes all pairs of squares, of which the moves are gathered.
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
    let places = places(graph, side);
    let moves = graph.node("Gather", "moves", &[&pairs, &places], Vec::new());
    let moves = graph.node("Transpose", "moves", &[&moves], swapped());
    let shape = planes_of_board(graph, side, "moves");
    graph.node("Reshape", "moves", &[&moves, &shape], Vec::new())
}

/// The shape that makes of anything a batch of planes of boards.
fn planes_of_board(graph: &mut OnnxGraph, side: &Value, name: &str) -> Value {
    let planes = graph.integers("batch_by_planes", &[0, -1]);
    graph.node("Concat", name, &[&planes, side, side], vec![int("axis", 0)])
}

/// For each plane and origin, the place of the move's pair among all pairs of an origin and a destination, of which
/// there is one more than the board has squares: the one for moves that leave the board.
fn places(graph: &mut OnnxGraph, side: &Value) -> Value {
    let node = |graph: &mut OnnxGraph, op: &str, name: &str, inputs: &[&Value]| {
        let inputs: Vec<&str> = inputs.iter().map(|input| input.as_str()).collect();
        graph.node(op, name, &inputs, Vec::new())
    };
    let [one, minus_one] = [("1", 1), ("-1", -1)].map(|(name, value)| graph.integers(name, &[value]));
    let squares = node(graph, "Mul", "squares", &[side, side]);
    let up_to = |graph: &mut OnnxGraph, name: &str, begin: i64, end: &Value| {
        let end = node(graph, "Squeeze", name, &[end]);
        let (begin, step) = (graph.integer("begin", begin), graph.integer("step", 1));
        node(graph, "Range", name, &[&begin, &end, &step])
    };
    let square = up_to(graph, "square", 0, &squares);
    let rank = node(graph, "Div", "rank", &[&square, side]);
    let below = node(graph, "Mul", "rank", &[&rank, side]);
    let file = node(graph, "Sub", "file", &[&square, &below]);
    let last = node(graph, "Sub", "last", &[side, &one]);
    let (above, right) = (node(graph, "Sub", "above", &[&last, &rank]), node(graph, "Sub", "right", &[&last, &file]));
    let joined = |graph: &mut OnnxGraph, name: &str, parts: [&Value; DIRECTIONS], shape: [i64; 3]| {
        let all = graph.node("Concat", name, &parts.map(String::as_str), vec![int("axis", 0)]);
        let shape = graph.integers(&format!("{name}_shape"), &shape);
        graph.node("Reshape", name, &[&all, &shape], Vec::new())
    };
    // Up, right, down, left: how far it is to the edge, and from one square to the next.
    let room = joined(graph, "room", [&above, &right, &rank, &file], [DIRECTIONS as i64, 1, -1]);
    let back = node(graph, "Neg", "back", &[side]);
    let step = joined(graph, "step", [side, &one, &back, &minus_one], [DIRECTIONS as i64, 1, 1]);
    let distance = up_to(graph, "distance", 1, side);
    let shape = graph.integers("distance_shape", &[-1, 1]);
    let distance = node(graph, "Reshape", "distance", &[&distance, &shape]);
    let way = node(graph, "Mul", "way", &[&distance, &step]);
    let to = node(graph, "Add", "to", &[&square, &way]);
    let stays = node(graph, "LessOrEqual", "stays", &[&distance, &room]);
    let to = node(graph, "Where", "to", &[&stays, &to, &squares]);
    let row = node(graph, "Add", "row", &[&squares, &one]);
    let row = node(graph, "Mul", "row", &[&square, &row]);
    let places = node(graph, "Add", "places", &[&row, &to]);
    node(graph, "Reshape", "places", &[&places, &minus_one])
}

/// A 3x3 convolution and its normalisation.
fn conv_norm(graph: &mut OnnxGraph, name: &str, x: &Value) -> Value {
    let y = convolution(graph, &format!("{name}.conv"), x, 3, false);
    let norm = format!("{name}.norm");
    let mut inputs = vec![y];
    for part in ["gamma", "beta", "running_mean", "running_var"] {
        inputs.push(graph.weight(&format!("{norm}.{part}")));
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    graph.node("BatchNormalization", &norm, &inputs, vec![float("epsilon", NORM_EPSILON as f32)])
}

/// A convolution with a kernel of this side, which keeps the board's.
fn convolution(graph: &mut OnnxGraph, name: &str, x: &Value, side: i64, bias: bool) -> Value {
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
) -> Value {
    let mut inputs = vec![x.clone(), graph.weight(&format!("{name}.weight"))];
    if bias {
        inputs.push(graph.weight(&format!("{name}.bias")));
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    graph.node(op, name, &inputs, attributes)
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
        let bytes = checkpoint.onnx_bytes();
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
        assert_eq!(note("encoding").as_deref(), Some("3"));
        assert_eq!(note("id").as_deref(), Some(checkpoint.card.id.as_str()));
    }
}
