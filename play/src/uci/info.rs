//! What is said of a search: `info` lines.

use std::time::Duration;

use hnefi_engine::{BoardSize, Move};
use hnefi_inference::Wdl;
use hnefi_search::{Proven, ProvenResult, RootMove, Search, SearchReport};

/// The most centipawns that an estimate is worth.
const ESTIMATE: f32 = 10_000.0;

/// A search at one moment: the report and the lines of play that are to be shown, the best one first.
pub(super) struct Findings {
    pub(super) report: SearchReport,
    lines: Vec<(RootMove, Vec<Move>)>,
}

impl Findings {
    /// Looks at a search and takes up to `count` lines out of it: the best move, then the others of which anything is
    /// known.
    pub(super) fn of(search: &Search, count: usize) -> Findings {
        let report = search.report();
        let mut moves: Vec<&RootMove> =
            report.moves.iter().filter(|mv| mv.mv == report.best || mv.wdl.is_some()).collect();
        moves.sort_by(|a, b| rank(&report, b).partial_cmp(&rank(&report, a)).unwrap_or(std::cmp::Ordering::Equal));
        let lines = moves.into_iter().take(count).map(|mv| (mv.clone(), search.line(mv.mv))).collect();
        Findings { report, lines }
    }

    /// Plies of the best line.
    pub(super) fn depth(&self) -> usize {
        self.lines.first().map_or(0, |(_, line)| line.len())
    }

    /// The moves of our own within which the best line wins for certain.
    pub(super) fn wins_within(&self) -> Option<u32> {
        match self.lines.first()?.0.proven? {
            Proven { result: ProvenResult::Win, plies } => Some(u32::from(plies).div_ceil(2)),
            _ => None,
        }
    }

    /// The `info` lines after so much time.
    pub(super) fn text(&self, time: Duration, size: BoardSize) -> Vec<String> {
        let nodes = self.report.playouts;
        let milliseconds = time.as_millis();
        let speed = (f64::from(nodes) / time.as_secs_f64().max(1e-3)).round();
        let lines = self.lines.iter().enumerate();
        lines
            .map(|(index, (mv, line))| {
                // Before anything is known of the best move, the position's own value stands for it.
                let wdl = mv.wdl.unwrap_or(self.report.wdl);
                let moves: Vec<String> = line.iter().map(|mv| mv.text(size)).collect();
                format!(
                    "info depth {} seldepth {} score {} wdl {} winrate {:.4} nodes {nodes} time {milliseconds} \
                     nps {speed} multipv {} pv {}",
                    line.len(),
                    (self.report.max_depth as usize).max(line.len()),
                    score(wdl, mv.proven),
                    thousandths(wdl),
                    wdl.score(),
                    index + 1,
                    moves.join(" ")
                )
            })
            .collect()
    }
}

/// Orders moves as they are shown: the one that will be played, certain wins, then by visits, certain losses last.
fn rank(report: &SearchReport, mv: &RootMove) -> (bool, i32, u32, f32) {
    let certain = match mv.proven {
        Some(proven) if proven.result != ProvenResult::Draw => proven.preference(),
        _ => 0,
    };
    (mv.mv == report.best, certain, mv.visits, mv.score.unwrap_or(0.0))
}

/// `cp N`, on the scale that clients draw: 100 is an expected score of 64 %, as a lead of 100 Elo. Of a proven end
/// `mate N`, in moves of one side; the loser has the minus.
fn score(wdl: Wdl, proven: Option<Proven>) -> String {
    match proven {
        Some(Proven { result: ProvenResult::Win, plies }) => format!("mate {}", plies.div_ceil(2)),
        Some(Proven { result: ProvenResult::Loss, plies }) => format!("mate -{}", plies.div_ceil(2)),
        Some(Proven { result: ProvenResult::Draw, .. }) => "cp 0".to_owned(),
        None => {
            let score = wdl.score();
            let lead = 400.0 * (score / (1.0 - score)).log10();
            format!("cp {}", lead.clamp(-ESTIMATE, ESTIMATE).round() as i32)
        }
    }
}

/// `W D L`, three whole numbers that sum to 1000.
fn thousandths(wdl: Wdl) -> String {
    let share = |chance: f32| ((1000.0 * chance).round() as i32).clamp(0, 1000);
    let (win, loss) = (share(wdl.win), share(wdl.loss));
    // Rounding may give one too many; the larger of the two bears it.
    let excess = (win + loss - 1000).max(0);
    let (win, loss) = if win > loss { (win - excess, loss) } else { (win, loss - excess) };
    format!("{win} {} {loss}", 1000 - win - loss)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Position, Preset};
    use hnefi_inference::{Evaluations, HashEvaluator};
    use hnefi_search::{RootKind, SearchConfig, run_to_end};

    use super::*;

    #[test]
    fn centipawns_are_elo_and_certain_results_are_mates() {
        let wdl = |win: f32, draw: f32| Wdl { win, draw, loss: 1.0 - win - draw };
        let estimates = [(0.5, 0.0, 0), (0.25, 0.5, 0), (0.64, 0.0, 100), (0.36, 0.0, -100), (1.0, 0.0, 10_000)];
        for (win, draw, lead) in estimates {
            assert_eq!(score(wdl(win, draw), None), format!("cp {lead}"));
        }
        assert_eq!(score(Wdl::LOSS, None), "cp -10000");
        // Our move wins; ours, theirs, ours wins. Whatever we play, they win; they need two moves.
        for (result, plies, text) in [
            (ProvenResult::Win, 1, "mate 1"),
            (ProvenResult::Win, 3, "mate 2"),
            (ProvenResult::Loss, 2, "mate -1"),
            (ProvenResult::Loss, 4, "mate -2"),
            (ProvenResult::Draw, 1, "cp 0"),
        ] {
            assert_eq!(score(Wdl::DRAW, Some(Proven { result, plies })), text);
        }
    }

    #[test]
    fn thousandths_sum_to_a_thousand() {
        for win in 0..=40 {
            for loss in 0..=40 - win {
                let (win, loss) = (win as f32 / 40.0, loss as f32 / 40.0 * 0.999);
                let text = thousandths(Wdl { win, draw: 1.0 - win - loss, loss });
                let parts: Vec<i32> = text.split(' ').map(|part| part.parse().expect("a number")).collect();
                assert_eq!(parts.iter().sum::<i32>(), 1000, "{text}");
                assert!(parts.iter().all(|part| (0..=1000).contains(part)), "{text}");
            }
        }
        assert_eq!(thousandths(Wdl { win: 0.9996, draw: 0.0, loss: 0.0004 }), "1000 0 0");
        assert_eq!(thousandths(Wdl { win: 0.5006, draw: 0.0, loss: 0.4996 }), "500 0 500");
    }

    fn findings(fen: &str, playouts: u32, count: usize) -> (Findings, Position) {
        let position = Position::from_fen(&Preset::Brandubh.rules(), fen).expect("a legal position");
        let mut search = Search::new(SearchConfig { root: RootKind::Puct, ..SearchConfig::default() });
        search.begin(&position, playouts, None);
        run_to_end(&mut search, &mut HashEvaluator::new(3), &mut Evaluations::new()).expect("never fails");
        (Findings::of(&search, count), position)
    }

    #[test]
    fn lines_are_legal_and_ordered() {
        let (findings, position) = findings("3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a", 200, 3);
        let text = findings.text(Duration::from_millis(100), position.size());
        assert_eq!(text.len(), 3);
        for (index, line) in text.iter().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let after = |key: &str| words[1 + words.iter().position(|&word| word == key).expect(key)];
            assert_eq!((after("nodes"), after("time"), after("nps")), ("200", "100", "2000"));
            assert_eq!(after("multipv"), (index + 1).to_string());
            let depth: usize = after("depth").parse().expect("a number");
            let pv = &words[1 + words.iter().position(|&word| word == "pv").expect("pv")..];
            assert_eq!(pv.len(), depth);
            let mut game = position.clone();
            for text in pv {
                game.play(Move::parse(text, game.size()).expect("a move")).expect("legal");
            }
        }
        let visits = |index: usize| findings.lines[index].0.visits;
        assert_eq!(findings.lines[0].0.mv, findings.report.best);
        assert!(visits(1) >= visits(2), "the others by visits");
    }

    #[test]
    fn a_win_in_one_is_shown_without_any_playout() {
        let (findings, position) = findings("7/1ak4/7/2d4/7/7/3a3 a", 10, 2);
        let text = findings.text(Duration::ZERO, position.size());
        assert!(text[0].starts_with("info depth 1 seldepth 1 score mate 1 wdl 1000 0 0 winrate 1.0000 nodes 0 time 0"));
        assert!(text[0].ends_with("multipv 1 pv d1d6"), "{}", text[0]);
    }
}
