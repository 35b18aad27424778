//! A checkpoint as an ONNX file, for programs that run networks without this one.
//!
//! One file serves every board and any batch: both are open dimensions, and the one layer that needs the board's side
//! reads it off the input. The graph is the network layer by layer, and its weights keep the names they
//! have in the safetensors file. `docs/NETWORK.md` describes inputs and outputs.

mod graph;
mod proto;

use prost::Message;

use self::graph::{Dimension, Graph, Value, float, int, ints};
use self::proto::{ModelProto, OperatorSetIdProto, StringStringEntryProto};
use crate::architecture::NORM_EPSILON;
use crate::{Checkpoint, CheckpointError, Encoding, GLOBALS, NetworkConfig, PLANES, POLICY_PLANES};

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
        let mut graph = Graph::new("hnefi", self.weights.tensors().clone());
        write_network(&mut graph, self.weights.config()).map_err(unwritable)?;
        let card = &self.card;
        let mut notes = vec![
            ("id", card.id.clone()),
            ("encoding", self.weights.encoding.version().to_string()),
            ("rulesets", card.rulesets.join(",")),
            ("generation", card.generation.to_string()),
        ];
        if let Encoding::V1 { ply_caps } = self.weights.encoding {
            notes.push(("ply_caps", ply_caps.map(|cap| cap.to_string()).join(",")));
        }
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

fn write_network(graph: &mut Graph, config: &NetworkConfig) -> Result<(), String> {
    use Dimension::{Fixed, Open};
    let board = |channels: usize| [Open("batch"), Fixed(channels), Open("side"), Open("side")];
    let planes = graph.input("planes", "input planes of each position, 0 or 1; rank 0 first", &board(PLANES));
    let vector = [Open("batch"), Fixed(GLOBALS)];
    let globals = graph.input("globals", "global input; entry 0 is 1 with the attackers to move, 0 else", &vector);

    let bias = linear(graph, "globals", &globals)?;
    let stem = conv_norm(graph, "stem", &planes)?;
    let bias = per_channel(graph, "globals", &bias);
    let stem = graph.node("Add", "stem", &[&stem, &bias], Vec::new());
    let mut x = graph.node("Relu", "stem", &[&stem], Vec::new());
    let scale = side_scale(graph, &planes);
    for index in 0..config.blocks {
        x = block(graph, &format!("blocks.{index}"), &x, &scale)?;
    }

    let pooled = global_pool(graph, "trunk", &x, &scale);
    let (mut policy, mut value) = role_heads(graph, "roles.0", &x, &pooled, &scale)?;
    if config.role_heads {
        let (other_policy, other_value) = role_heads(graph, "roles.1", &x, &pooled, &scale)?;
        let attacking = slice(graph, "attacking", &globals, 0, 1);
        let half = graph.number("half", 0.5);
        let attacking = graph.node("Greater", "attacking", &[&attacking, &half], Vec::new());
        value = graph.node("Where", "value", &[&attacking, &value, &other_value], Vec::new());
        let attacking = per_channel(graph, "attacking", &attacking);
        policy = graph.node("Where", "policy", &[&attacking, &policy, &other_policy], Vec::new());
    }
    let wdl = slice(graph, "wdl", &value, 0, 3);
    let moves_left = slice(graph, "moves_left", &value, 3, 4);
    let occupancy = convolution(graph, "occupancy", &x, 0)?;
    graph.output(
        &policy,
        "policy",
        "policy logits of the side to move: direction * 10 + distance - 1, at the origin",
        &board(POLICY_PLANES),
    );
    graph.output(&wdl, "wdl", "win, draw and loss logits of the side to move", &[Open("batch"), Fixed(3)]);
    graph.output(&moves_left, "moves_left", "ln(1 + plies to the end of the game)", &[Open("batch"), Fixed(1)]);
    graph.output(
        &occupancy,
        "occupancy",
        "logits of each square's final content: empty, attacker, defender, king",
        &board(4),
    );
    Ok(())
}

/// A residual block.
fn block(graph: &mut Graph, name: &str, x: &Value, scale: &Value) -> Result<Value, String> {
    let first = conv_norm(graph, &format!("{name}.first"), x)?;
    let y = graph.node("Relu", &format!("{name}.first"), &[&first], Vec::new());
    let second = conv_norm(graph, &format!("{name}.second"), &y)?;
    let mut sum = graph.node("Add", &format!("{name}.second"), &[&second, x], Vec::new());
    let pool = format!("{name}.pool");
    if graph.has_weight(&format!("{pool}.weight")) {
        let pooled = global_pool(graph, &pool, &y, scale);
        let bias = linear(graph, &pool, &pooled)?;
        let bias = per_channel(graph, &pool, &bias);
        sum = graph.node("Add", &pool, &[&sum, &bias], Vec::new());
    }
    Ok(graph.node("Relu", name, &[&sum], Vec::new()))
}

/// Policy and value of one role.
fn role_heads(
    graph: &mut Graph,
    role: &str,
    x: &Value,
    pooled: &Value,
    scale: &Value,
) -> Result<(Value, Value), String> {
    let name = |part: &str| format!("{role}.{part}");
    let hidden = convolution(graph, &name("policy_conv"), x, 0)?;
    let bias = linear(graph, &name("policy_pool"), pooled)?;
    let bias = per_channel(graph, &name("policy_pool"), &bias);
    let hidden = graph.node("Add", &name("policy_pool"), &[&hidden, &bias], Vec::new());
    let hidden = graph.node("Relu", &name("policy_conv"), &[&hidden], Vec::new());
    let mut policy = convolution(graph, &name("policy_out"), &hidden, 0)?;
    if graph.has_weight(&format!("{}.weight", name("policy_destination"))) {
        let keys = convolution(graph, &name("policy_destination"), x, 0)?;
        let pairs = destinations(graph, &name("policy_destination"), &hidden, &keys);
        policy = graph.node("Add", &name("policy_destination"), &[&policy, &pairs], Vec::new());
    }

    let value = convolution(graph, &name("value_conv"), x, 0)?;
    let value = graph.node("Relu", &name("value_conv"), &[&value], Vec::new());
    let value = global_pool(graph, &name("value_conv"), &value, scale);
    let value = linear(graph, &name("value_hidden"), &value)?;
    let value = graph.node("Relu", &name("value_hidden"), &[&value], Vec::new());
    let value = linear(graph, &name("value_out"), &value)?;
    Ok((policy, value))
}

/// For each move its plane at its origin: the product of `hidden` at the origin and `keys` at the destination, zero
/// where a move would leave the board.
fn destinations(graph: &mut Graph, name: &str, hidden: &Value, keys: &Value) -> Value {
    const REACH: i64 = POLICY_PLANES as i64 / 4;
    let border = graph.integers("border", &[0, 0, REACH, REACH, 0, 0, REACH, REACH]);
    let keys = graph.node("Pad", name, &[keys, &border], Vec::new());
    let squares = graph.integers("squares", &[2, 3]);
    let channels = graph.integers("channels", &[1]);
    let planes: Vec<Value> = (0..POLICY_PLANES as i64)
        .map(|plane| {
            let distance = plane % REACH + 1;
            let (ranks, files) =
                [(distance, 0), (0, distance), (-distance, 0), (0, -distance)][(plane / REACH) as usize];
            let name = format!("{name}.{plane}");
            let begin = graph.integers(&format!("begin.{plane}"), &[REACH + ranks, REACH + files]);
            // Ends count from behind, where the last is beyond every board.
            let end = [ranks, files].map(|step| if step < REACH { step - REACH } else { i64::MAX });
            let end = graph.integers(&format!("end.{plane}"), &end);
            let at = graph.node("Slice", &name, &[&keys, &begin, &end, &squares], Vec::new());
            let product = graph.node("Mul", &name, &[hidden, &at], Vec::new());
            graph.node("ReduceSum", &name, &[&product, &channels], Vec::new())
        })
        .collect();
    let planes: Vec<&str> = planes.iter().map(String::as_str).collect();
    graph.node("Concat", name, &planes, vec![int("axis", 1)])
}

/// A 3x3 convolution and its normalisation.
fn conv_norm(graph: &mut Graph, name: &str, x: &Value) -> Result<Value, String> {
    let y = convolution(graph, &format!("{name}.conv"), x, 1)?;
    let norm = format!("{name}.norm");
    let mut inputs = vec![y];
    for part in ["gamma", "beta", "running_mean", "running_var"] {
        inputs.push(graph.weight(&format!("{norm}.{part}"))?);
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    Ok(graph.node("BatchNormalization", &norm, &inputs, vec![float("epsilon", NORM_EPSILON as f32)]))
}

/// A convolution with that many zeros around the board, and its bias if it has one.
fn convolution(graph: &mut Graph, name: &str, x: &Value, padding: i64) -> Result<Value, String> {
    let weight = graph.weight(&format!("{name}.weight"))?;
    let mut inputs = vec![x.clone(), weight];
    let bias = format!("{name}.bias");
    if graph.has_weight(&bias) {
        inputs.push(graph.weight(&bias)?);
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let side = 1 + 2 * padding;
    Ok(graph.node("Conv", name, &inputs, vec![ints("kernel_shape", &[side, side]), ints("pads", &[padding; 4])]))
}

/// A linear layer; weights are `[inputs, outputs]`.
fn linear(graph: &mut Graph, name: &str, x: &Value) -> Result<Value, String> {
    let weight = graph.weight(&format!("{name}.weight"))?;
    let mut inputs = vec![x.clone(), weight];
    let bias = format!("{name}.bias");
    if graph.has_weight(&bias) {
        inputs.push(graph.weight(&bias)?);
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    Ok(graph.node("Gemm", name, &inputs, Vec::new()))
}

/// `(N - 9) / 2` for boards of side N, read off the input.
fn side_scale(graph: &mut Graph, planes: &Value) -> Value {
    let shape = graph.node("Shape", "side", &[planes], Vec::new());
    let axis = graph.integers("two", &[2]);
    let side = graph.node("Gather", "side", &[&shape, &axis], vec![int("axis", 0)]);
    let side = graph.node("Cast", "side", &[&side], vec![int("to", 1)]);
    let (nine, half) = (graph.number("nine", 9.0), graph.number("half", 0.5));
    let side = graph.node("Sub", "side", &[&side, &nine], Vec::new());
    graph.node("Mul", "side", &[&side, &half], Vec::new())
}

/// Mean, scaled mean and maximum over the squares: `[B, C, N, N]` to `[B, 3C]`.
fn global_pool(graph: &mut Graph, name: &str, x: &Value, scale: &Value) -> Value {
    let over_squares = || vec![ints("axes", &[2, 3]), int("keepdims", 0)];
    let mean = graph.node("ReduceMean", name, &[x], over_squares());
    let max = graph.node("ReduceMax", name, &[x], over_squares());
    let scaled = graph.node("Mul", name, &[&mean, scale], Vec::new());
    graph.node("Concat", name, &[&mean, &scaled, &max], vec![int("axis", 1)])
}

/// `[B, C]` as `[B, C, 1, 1]`.
fn per_channel(graph: &mut Graph, name: &str, x: &Value) -> Value {
    let axes = graph.integers("squares", &[2, 3]);
    graph.node("Unsqueeze", name, &[x, &axes], Vec::new())
}

/// Columns `begin..end` of `[B, C]`.
fn slice(graph: &mut Graph, name: &str, x: &Value, begin: i64, end: i64) -> Value {
    let begin = graph.integers(&format!("{begin}"), &[begin]);
    let end = graph.integers(&format!("{end}"), &[end]);
    let axis = graph.integers("1", &[1]);
    graph.node("Slice", name, &[x, &begin, &end, &axis], Vec::new())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{Card, Weights};

    fn model(role_heads: bool) -> (ModelProto, Checkpoint) {
        let config = NetworkConfig {
            blocks: 3,
            channels: 8,
            pool_every: 3,
            head_channels: 8,
            value_hidden: 8,
            role_heads,
            destinations: role_heads,
        };
        let checkpoint = Checkpoint::new(Card::new(config), Weights::fresh(&config, 5)).expect("bytes");
        let bytes = checkpoint.onnx_bytes().expect("a whole network");
        (ModelProto::decode(bytes.as_slice()).expect("our own bytes"), checkpoint)
    }

    #[test]
    fn every_name_is_made_before_it_is_used_and_once() {
        for role_heads in [true, false] {
            let (model, _) = model(role_heads);
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
    }

    #[test]
    fn every_weight_of_the_file_is_used_unchanged() {
        let (model, checkpoint) = model(true);
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
        let (model, checkpoint) = model(true);
        let note = |model: &ModelProto, key: &str| {
            model.metadata_props.iter().find(|note| note.key == key).map(|note| note.value.clone())
        };
        assert_eq!((note(&model, "encoding").as_deref(), note(&model, "ply_caps")), (Some("2"), None));
        let mut first = checkpoint;
        first.weights.encoding = Encoding::FIRST;
        let bytes = first.onnx_bytes().expect("a whole network");
        let old = ModelProto::decode(bytes.as_slice()).expect("our own bytes");
        assert_eq!(note(&old, "encoding").as_deref(), Some("1"));
        assert_eq!(note(&old, "ply_caps").as_deref(), Some("150,200,300"));
    }
}
