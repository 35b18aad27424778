//! Reference inputs and outputs of a network, to check other implementations.

use std::path::Path;

use hnefi_engine::{MoveList, Position, Preset, Rules, Start};
use hnefi_inference::{CpuNetwork, Features, GLOBALS, Handicap, PLANES, Weights, policy_planes};

use crate::DataError;
use crate::npz::NpzWriter;

/// Starts of boards that no preset has: a cross of defenders, attackers at the middle of each edge.
const LARGE: [&str; 2] = [
    "5aaa5/13/13/6d6/6d6/a5d5a/a2dddkddd2a/a5d5a/6d6/6d6/13/13/5aaa5",
    "8aaa8/19/19/19/19/9d9/9d9/9d9/a8d8a/a4ddddkdddd4a/a8d8a/9d9/9d9/9d9/19/19/19/19/8aaa8",
];

/// Positions per board size.
const POSITIONS: usize = 16;

/// Plies between two positions of the random game.
const PLIES_BETWEEN: usize = 3;

/// A numpy archive with positions on boards of 7, 9, 11, 13 and 19 squares a side and the network's outputs: for each
/// board N x N the arrays `planes_NxN`, `globals_NxN` (inputs) and `policy_NxN`, `wdl_NxN`, `moves_left_NxN`,
/// `occupancy_NxN` (outputs, as in [`hnefi_inference::RawOutputs`]), and in `graph` the bytes of a JSON text with the
/// steps of the network ([`hnefi_inference::graph`]). Positions and inputs are the same for every network.
///
/// # Errors
/// When a weight is not finite; `out` names the archive in the error.
pub fn reference_bytes(weights: &Weights, out: &Path) -> Result<Vec<u8>, DataError> {
    let problem = |problem: Box<dyn std::error::Error>| DataError::write(out, problem);
    let network = CpuNetwork::new(weights).map_err(|error| problem(error.into()))?;
    let mut file = NpzWriter::new(0);
    let presets = [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen].map(Preset::rules);
    let large = LARGE.map(|rows| Rules { start: Start::of(rows), ..Preset::Copenhagen.rules() });
    for rules in presets.iter().chain(&large) {
        let (features, size) = (positions(rules), rules.size());
        let outputs = network.raw_outputs(&features, size);
        let (count, n) = (features.len(), size.side());
        let mut planes = vec![0.0; count * PLANES * size.squares()];
        for (features, out) in features.iter().zip(planes.chunks_exact_mut(PLANES * size.squares())) {
            features.write_planes(size.squares(), out);
        }
        let globals: Vec<f32> = features.iter().flat_map(|features| features.globals).collect();
        let mut add = |name: &str, shape: &[usize], values: &[f32]| {
            file.add(&format!("{name}_{n}x{n}"), shape, values).map_err(|error| problem(error.into()))
        };
        add("planes", &[count, PLANES, n, n], &planes)?;
        add("globals", &[count, GLOBALS], &globals)?;
        add("policy", &[count, policy_planes(n), n, n], &outputs.policy)?;
        add("wdl", &[count, 3], &outputs.wdl)?;
        add("moves_left", &[count, 1], &outputs.moves_left)?;
        add("occupancy", &[count, 4, n, n], &outputs.occupancy)?;
    }
    let graph = serde_json::to_vec(&weights.config().graph()).map_err(|error| problem(error.into()))?;
    file.add("graph", &[graph.len()], &graph).map_err(|error| problem(error.into()))?;
    file.finish().map_err(|error| problem(error.into()))
}

/// Positions of random games under a ruleset, with attackers and defenders to move in turns.
fn positions(rules: &Rules) -> Vec<Features> {
    let mut found = Vec::with_capacity(POSITIONS);
    let mut moves = MoveList::new();
    let (mut position, mut ply) = (Position::start(rules), 0usize);
    while found.len() < POSITIONS {
        if position.outcome().is_some() {
            position = Position::start(rules);
        }
        if ply.is_multiple_of(PLIES_BETWEEN) {
            found.push(Features::of(&position, Handicap::NONE));
        }
        position.legal_moves(&mut moves);
        // A sequence of move indices without random numbers that does not repeat soon.
        position.play_unchecked(moves[(ply * ply + 7 * ply + 3) % moves.len()]);
        ply += 1;
    }
    found
}
