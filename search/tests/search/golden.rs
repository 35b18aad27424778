//! Whole search trees in text files, so that a change of the search shows as a difference that people can read.
//!
//! `HNEFI_BLESS=1 cargo test --release --test search` writes the files anew.

use std::path::Path;

use hnefi_engine::{Position, Preset};
use hnefi_inference::HashEvaluator;
use hnefi_search::{RootKind, Search, rng_for};

use crate::{config, run};

/// A Brandubh position a few moves into a game, with nothing to win by force.
const QUIET: &str = "3a3/7/3d3/aadkd1a/3d3/1a1a3/4a2 d";
/// The king on g3 threatens to reach g7, and the attackers are to move.
const TACTICAL: &str = "2a4/5a1/2da3/7/a3d1k/6a/1da4 a";

/// The report and the tree of 32 playouts.
fn tree(root: RootKind, fen: &str, noisy: bool) -> String {
    let rules = Preset::Brandubh.rules();
    let position = Position::from_fen(&rules, fen).expect("a FEN of this test");
    let mut search = Search::new(config(root));
    let mut rng = rng_for(&[1]);
    search.begin(&position, 32, noisy.then_some(&mut rng));
    let report = run(&mut search, &mut HashEvaluator::new(1));
    let size = position.size();
    let pv: Vec<String> = report.pv.iter().map(|mv| mv.text(size)).collect();
    let mut target = report.policy_target.clone();
    target.sort_by(|a, b| b.1.total_cmp(&a.1));
    let target: Vec<String> =
        target.iter().take(8).map(|(mv, weight)| format!("{} {weight:.3}", mv.text(size))).collect();
    format!(
        "{}\n{}\nplayouts {} evaluations {} nodes {} depth {}\nplays {}\nscore {:.4}\ntarget {}\n\n{}",
        position.fen(),
        position.diagram(),
        report.playouts,
        report.evaluations,
        report.nodes,
        report.max_depth,
        pv.join(" "),
        report.wdl.score(),
        target.join(", "),
        search.tree_text(4),
    )
}

#[test]
fn trees_are_those_of_the_files() {
    for (name, root, fen, noisy) in [
        ("gumbel.txt", RootKind::Gumbel, QUIET, false),
        ("gumbel_noise.txt", RootKind::Gumbel, QUIET, true),
        ("gumbel_solver.txt", RootKind::Gumbel, TACTICAL, false),
        ("puct.txt", RootKind::Puct, QUIET, false),
        ("puct_solver.txt", RootKind::Puct, TACTICAL, false),
    ] {
        let found = tree(root, fen, noisy);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        if std::env::var_os("HNEFI_BLESS").is_some() {
            std::fs::write(&path, &found).expect("the data folder can be written");
        }
        let expected = std::fs::read_to_string(&path).expect("the golden file is there");
        assert!(expected == found, "{name} differs; the search found\n{found}");
    }
}
