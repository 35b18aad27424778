//! What a program says that we play against.

#[path = "../../../../arena/src/players/uci/answer.rs"]
mod answer;

use answer::{BestMove, Thought};

pub(super) fn read(line: &str) {
    let mut thought = Thought::default();
    thought.read(line);
    if let Some(wdl) = thought.wdl {
        let sum = wdl.win + wdl.draw + wdl.loss;
        assert!((sum - 1.0).abs() < 1e-4 && wdl.win >= 0.0 && wdl.draw >= 0.0 && wdl.loss >= 0.0, "{wdl:?}");
    }
    if let Some(BestMove::Text(text)) = answer::best_move(line) {
        assert!(!text.is_empty() && !text.contains(char::is_whitespace));
    }
    let _ = answer::is_option(line, "Rules");
}
