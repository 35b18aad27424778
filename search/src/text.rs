//! The tree as text, for people and for golden tests.

use std::fmt::Write;

use hnefi_engine::BoardSize;
use hnefi_inference::Wdl;

use super::Search;
use super::solver::{Proven, ProvenResult};
use super::tree::{Edge, NodeId, generation_order};

impl Search {
    /// The tree down to `depth` plies: a line per move that was visited or has a proven result, indented by ply, in
    /// generation order. Values are win/draw/loss in thousandths, from the view of the side that makes the move.
    pub fn tree_text(&self, depth: u32) -> String {
        let Some(root) = &self.root else { return String::new() };
        let node = self.tree.node(NodeId::ROOT);
        let mut text = format!("root visits {} value {} raw {}", node.visits, chances(node.value), chances(node.raw));
        text.push_str(&node.proven.map_or(String::new(), certain));
        text.push('\n');
        self.write_moves(NodeId::ROOT, 1, depth, root.size(), &mut text);
        text
    }

    fn write_moves(&self, id: NodeId, ply: u32, depth: u32, size: BoardSize, text: &mut String) {
        if ply > depth {
            return;
        }
        let known = |edge: &&Edge| edge.visits > 0 || edge.proven().is_some();
        let mut edges: Vec<&Edge> = self.tree.edges(id).iter().filter(known).collect();
        edges.sort_unstable_by_key(|edge| generation_order(edge.mv()));
        for edge in edges {
            let indent = "  ".repeat(ply as usize);
            let value = self.tree.edge_value(edge).map_or("-".to_owned(), chances);
            let proven = edge.proven().map_or(String::new(), certain);
            let prior = edge.prior;
            writeln!(
                text,
                "{indent}{} visits {} prior {prior:.4} value {value}{proven}",
                edge.mv().text(size),
                edge.visits
            )
            .expect("a string takes everything");
            if let Some(child) = edge.child {
                self.write_moves(child, ply + 1, depth, size, text);
            }
        }
    }
}

fn chances(wdl: Wdl) -> String {
    let thousandths = |chance: f32| (chance * 1000.0).round() as u32;
    format!("{}/{}/{}", thousandths(wdl.win), thousandths(wdl.draw), thousandths(wdl.loss))
}

fn certain(proven: Proven) -> String {
    let result = match proven.result {
        ProvenResult::Win => "wins",
        ProvenResult::Draw => "draws",
        ProvenResult::Loss => "loses",
    };
    format!(" {result} in {}", proven.plies)
}
