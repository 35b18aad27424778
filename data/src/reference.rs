//! Reference inputs and outputs of a network, to check other implementations.

use std::io::Cursor;
use std::path::Path;

use hnefi_engine::{BoardSize, MoveList, Position, Preset};
use hnefi_inference::{CpuNetwork, Encoding, Features, GLOBALS, PLANES, POLICY_PLANES, Weights};
use ndarray::{ArrayView, Dimension, StrideShape};
use ndarray_npy::NpzWriter;

use crate::DataError;

/// Positions per board size.
const POSITIONS: usize = 16;

/// Plies between two positions of the random game.
const PLIES_BETWEEN: usize = 3;

/// A numpy archive with positions on all three boards and the network's outputs: for each board N x N the arrays
/// `planes_NxN`, `globals_NxN` (inputs) and `policy_NxN`, `wdl_NxN`, `moves_left_NxN`, `occupancy_NxN` (outputs, as in
/// [`hnefi_inference::RawOutputs`]), and in `graph` the bytes of a JSON text with the steps of the network
/// ([`hnefi_inference::graph`]). The positions are the same for every network, the inputs for every network of one
/// encoding.
///
/// # Errors
/// When a weight is not finite; `out` names the archive in the error.
pub fn reference_bytes(weights: &Weights, out: &Path) -> Result<Vec<u8>, DataError> {
    let problem = |problem: Box<dyn std::error::Error>| DataError::write(out, problem);
    let network = CpuNetwork::new(weights).map_err(|error| problem(error.into()))?;
    let mut file = NpzWriter::new(Cursor::new(Vec::new()));
    for (preset, size) in [
        (Preset::Brandubh, BoardSize::Seven),
        (Preset::Tablut, BoardSize::Nine),
        (Preset::Copenhagen, BoardSize::Eleven),
    ] {
        let features = positions(preset, weights.encoding);
        let outputs = network.raw_outputs(&features, size);
        let (count, n) = (features.len(), size.side());
        let mut planes = vec![0.0; count * PLANES * size.squares()];
        for (features, out) in features.iter().zip(planes.chunks_exact_mut(PLANES * size.squares())) {
            features.write_planes(size.squares(), out);
        }
        let globals: Vec<f32> = features.iter().flat_map(|features| features.globals).collect();
        let mut add = |name: &str, shape: [usize; 4], values: &[f32]| {
            let shape: Vec<usize> = shape.into_iter().filter(|&dim| dim > 0).collect();
            array(&mut file, &format!("{name}_{n}x{n}"), shape, values).map_err(problem)
        };
        add("planes", [count, PLANES, n, n], &planes)?;
        add("globals", [count, GLOBALS, 0, 0], &globals)?;
        add("policy", [count, POLICY_PLANES, n, n], &outputs.policy)?;
        add("wdl", [count, 3, 0, 0], &outputs.wdl)?;
        add("moves_left", [count, 1, 0, 0], &outputs.moves_left)?;
        add("occupancy", [count, 4, n, n], &outputs.occupancy)?;
    }
    let graph = serde_json::to_vec(&weights.config().graph()).map_err(|error| problem(error.into()))?;
    file.add_array("graph", &ArrayView::from(&graph)).map_err(|error| problem(error.into()))?;
    Ok(file.finish().map_err(|error| problem(error.into()))?.into_inner())
}

fn array<D: Dimension>(
    file: &mut NpzWriter<Cursor<Vec<u8>>>,
    name: &str,
    shape: impl Into<StrideShape<D>>,
    values: &[f32],
) -> Result<(), Box<dyn std::error::Error>> {
    file.add_array(name, &ArrayView::from_shape(shape, values)?)?;
    Ok(())
}

/// Positions of random games under a ruleset, with attackers and defenders to move in turns, in the network's encoding.
fn positions(preset: Preset, encoding: Encoding) -> Vec<Features> {
    let mut found = Vec::with_capacity(POSITIONS);
    let mut moves = MoveList::new();
    let (mut position, mut ply) = (Position::start(&preset.rules()), 0usize);
    while found.len() < POSITIONS {
        if position.outcome().is_some() {
            position = Position::start(&preset.rules());
        }
        if ply.is_multiple_of(PLIES_BETWEEN) {
            found.push(encoding.features(&position));
        }
        position.legal_moves(&mut moves);
        // A sequence of move indices without random numbers that does not repeat soon.
        position.play_unchecked(moves[(ply * ply + 7 * ply + 3) % moves.len()]);
        ply += 1;
    }
    found
}
