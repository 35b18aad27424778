//! What a program's lines say. Programs are not ours: anything that is not understood is passed over.

use hnefi_inference::Wdl;

/// What a program thinks of the position, from its latest `info` lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Thought {
    pub(super) wdl: Option<Wdl>,
    pub(super) nodes: u32,
}

/// The move of a `bestmove` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BestMove {
    /// `(none)`, or nothing at all.
    None,
    Text(String),
}

impl Thought {
    /// Takes in an `info` line on the best line of play.
    pub(super) fn read(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        if words.next() != Some("info") {
            return;
        }
        let (mut wdl, mut nodes) = (None, None);
        while let Some(word) = words.next() {
            match word {
                "string" | "pv" => break,
                "multipv" if words.next() != Some("1") => return,
                "nodes" => nodes = words.next().and_then(|count| count.parse().ok()),
                "wdl" => {
                    let mut number = || words.next()?.parse::<u32>().ok();
                    wdl = number().zip(number()).zip(number()).map(|((win, draw), loss)| [win, draw, loss]);
                }
                _ => {}
            }
        }
        self.nodes = nodes.unwrap_or(self.nodes);
        if let Some(wdl) = wdl.filter(|parts| parts.iter().all(|&part| part <= 1000) && parts.iter().sum::<u32>() > 0) {
            let [win, draw, loss] = wdl.map(|part| part as f32 / wdl.iter().sum::<u32>() as f32);
            self.wdl = Some(Wdl { win, draw, loss });
        }
    }
}

/// The move, if this is a `bestmove` line.
pub(super) fn best_move(line: &str) -> Option<BestMove> {
    let mut words = line.split_whitespace();
    if words.next() != Some("bestmove") {
        return None;
    }
    Some(match words.next() {
        None | Some("(none)" | "none" | "0000") => BestMove::None,
        Some(text) => BestMove::Text(text.to_owned()),
    })
}

/// Whether the line declares an option of that name.
pub(super) fn is_option(line: &str, name: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words[..], ["option", "name", found, "type", ..] if found.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_line_on_the_best_move_counts() {
        let mut thought = Thought::default();
        for line in [
            "info depth 3 seldepth 5 score cp 10 wdl 500 100 400 winrate 0.55 nodes 40 time 3 x 9 multipv 1 pv a4b4",
            "info depth 2 score cp 1 wdl 1 1 998 nodes 77 multipv 2 pv a5b5",
            "info string wdl 1 2 3 nodes 5",
            "info depth x wdl 9 nodes many",
            "info wdl 0 0 0 nodes 64",
            "bestmove a4b4",
            "",
        ] {
            thought.read(line);
        }
        assert_eq!(thought, Thought { wdl: Some(Wdl { win: 0.5, draw: 0.1, loss: 0.4 }), nodes: 64 });
    }

    #[test]
    fn best_moves_are_found_and_only_they() {
        let text = |mv: &str| Some(BestMove::Text(mv.to_owned()));
        assert_eq!(best_move("bestmove a4b4"), text("a4b4"));
        assert_eq!(best_move("  bestmove a4b4 ponder b5b6"), text("a4b4"));
        assert_eq!(best_move("bestmove (none)"), Some(BestMove::None));
        assert_eq!(best_move("bestmove"), Some(BestMove::None));
        assert_eq!(best_move("info string bestmove a4b4"), None);
    }

    #[test]
    fn options_are_known_by_name() {
        assert!(is_option("option name Rules type combo default brandubh var brandubh", "Rules"));
        assert!(is_option("option name rules type string", "Rules"));
        assert!(!is_option("option name Rules Book type string", "Rules"));
        assert!(!is_option("info string option name Rules type x", "Rules"));
    }
}
