//! The puzzles, set to a person. Nothing is kept between two requests: an attempt brings all moves that the person has
//! made, and the defence is found anew.

use std::sync::OnceLock;

use hnefi_engine::{Ending, Game, Move, Position, Preset, Side};
use hnefi_puzzles::{OutOfBudget, Puzzle, Solver, Theme, shipped};
use serde::{Deserialize, Serialize};

use crate::exchange::request;
use crate::position_view::{FrameView, PositionView, frames, play};
use crate::view::RulesView;
use crate::{EndingView, Refusal, problem};

/// Positions that a question to the solver may cost: some hundred times what the shipped puzzles ask.
const BUDGET: u64 = 500_000;

/// Levels of difficulty.
const LEVELS: usize = 5;

/// The moves that a person has made.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MovesRequest {
    moves: Vec<String>,
}

/// All that can be set, the easiest first.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BookView {
    /// The rulesets that have puzzles.
    rulesets: Vec<RulesView>,
    puzzles: Vec<EntryView>,
}

#[derive(Clone, Debug, Serialize)]
struct EntryView {
    id: &'static str,
    rules: &'static str,
    theme: Theme,
    plies: u32,
    level: usize,
}

/// A puzzle without its solution.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PuzzleView {
    id: &'static str,
    rules: RulesView,
    theme: Theme,
    /// For a win, the plies that it takes; for an only move, those in which every other move loses.
    plies: u32,
    /// 1 to 5.
    level: usize,
    scene: PositionView,
}

/// What a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AttemptResult {
    /// The right one, and there is more to find.
    Right,
    /// The right one, and the last.
    Solved,
    /// One that wins, but not in time.
    Slow,
    /// Another.
    Wrong,
}

/// What came of an attempt.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AttemptView {
    pub(crate) verdict: AttemptResult,
    /// The person's last move and, after a right one, the defence.
    frames: Vec<FrameView>,
    scene: PositionView,
    /// How the opponent wins: after a wrong move at a puzzle of an only move, and after the right one what it prevents.
    threat: Option<ThreatView>,
}

/// A win of the opponent's.
#[derive(Clone, Debug, Serialize)]
struct ThreatView {
    ending: EndingView,
    /// Moves that the opponent takes.
    moves: usize,
}

/// The rest of a solution.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SolutionView {
    pub(crate) frames: Vec<FrameView>,
    scene: PositionView,
}

/// The collection in order of difficulty: longer ones later, and of equally long ones those with more legal moves.
fn book() -> &'static [Puzzle] {
    static BOOK: OnceLock<Vec<Puzzle>> = OnceLock::new();
    BOOK.get_or_init(|| {
        let mut puzzles = shipped();
        puzzles.sort_by_cached_key(|puzzle| {
            let moves = puzzle.position().map_or(0, |position| position.count_legal_moves());
            (60 * puzzle.plies as usize + moves, puzzle.id.clone())
        });
        puzzles
    })
}

impl EntryView {
    fn of(place: usize, puzzle: &'static Puzzle) -> EntryView {
        let level = 1 + place * LEVELS / book().len();
        EntryView { id: &puzzle.id, rules: puzzle.rules.name(), theme: puzzle.theme, plies: puzzle.plies, level }
    }
}

/// The ruleset whose puzzles are for players of `rules`: its own or, where it has none, another ruleset on
/// the same board with the same goal, or on another board with the same goal and the same king.
pub(crate) fn puzzles_of(rules: Preset) -> Option<Preset> {
    let with_puzzles = |preset: &Preset| book().iter().any(|puzzle| puzzle.rules == *preset);
    let options = rules.rules();
    let alike = |preset: &Preset| preset.rules().resembles(&options);
    let akin = |preset: &Preset| {
        let other = preset.rules();
        (other.escape, other.king_capture) == (options.escape, options.king_capture)
    };
    let first = Some(rules).filter(with_puzzles);
    let like = || Preset::ALL.into_iter().filter(alike).find(with_puzzles);
    first.or_else(like).or_else(|| Preset::ALL.into_iter().filter(akin).find(with_puzzles))
}

/// All puzzles in short.
pub(crate) fn list() -> BookView {
    let with_puzzles = Preset::ALL.into_iter().filter(|preset| book().iter().any(|puzzle| puzzle.rules == *preset));
    BookView {
        rulesets: with_puzzles.map(|preset| RulesView::of(&preset.rules())).collect(),
        puzzles: book().iter().enumerate().map(|(place, puzzle)| EntryView::of(place, puzzle)).collect(),
    }
}

fn find(id: &str) -> Result<(usize, &'static Puzzle), Refusal> {
    let found = book().iter().enumerate().find(|(_, puzzle)| puzzle.id == id);
    found.ok_or_else(|| Refusal::missing(problem!("error.puzzle", "there is no such puzzle")))
}

/// A puzzle.
///
/// # Errors
/// When there is none of that id.
pub(crate) fn set(id: &str) -> Result<PuzzleView, Refusal> {
    let (place, puzzle) = find(id)?;
    let EntryView { id, theme, plies, level, .. } = EntryView::of(place, puzzle);
    let rules = RulesView::of(&puzzle.rules.rules());
    Ok(PuzzleView { id, rules, theme, plies, level, scene: PositionView::of(&position(puzzle)?) })
}

fn position(puzzle: &Puzzle) -> Result<Position, Refusal> {
    puzzle.position().map_err(Refusal::fault)
}

fn solved() -> Refusal {
    Refusal::conflict(problem!("error.solved", "the puzzle is solved already"))
}

fn too_hard(error: OutOfBudget) -> Refusal {
    Refusal::fault(error)
}

/// A puzzle as far as a person has solved it.
struct Trial {
    puzzle: &'static Puzzle,
    game: Game,
    solver: Solver,
}

impl Trial {
    fn begin(id: &str) -> Result<Trial, Refusal> {
        let (_, puzzle) = find(id)?;
        Ok(Trial { puzzle, game: Game::from_position(position(puzzle)?), solver: Solver::new(BUDGET) })
    }

    /// Plies in which the person has to win from here.
    fn left(&self) -> u32 {
        self.puzzle.plies.saturating_sub(self.game.len() as u32)
    }

    /// Whether nothing is left to find.
    fn is_solved(&self) -> bool {
        self.game.outcome().is_some() || (self.puzzle.theme.is_only_move() && !self.game.is_empty())
    }

    /// Whether the line of the collection was played so far.
    fn on_line(&self) -> bool {
        self.game.moves().zip(&self.puzzle.line).all(|(played, mv)| played == *mv)
    }

    /// Plays a move of the person's, and says what it is.
    fn try_move(&mut self, text: &str) -> Result<AttemptResult, Refusal> {
        if self.is_solved() {
            return Err(solved());
        }
        let (before, left) = (self.game.position().clone(), self.left());
        let mv = play(&mut self.game, text)?;
        let is_first = self.game.len() == 1;
        let is_right = match is_first {
            true => self.puzzle.answers.contains(&mv),
            false => self.solver.wins_by(&before, mv, left).map_err(too_hard)?,
        };
        Ok(match is_right {
            true if self.is_solved() => AttemptResult::Solved,
            true => AttemptResult::Right,
            // Looked for where it costs little; a first move is to win in the plies that are asked for.
            false if !is_first && left == 1 && self.solver.wins_by(&before, mv, 3) == Ok(true) => AttemptResult::Slow,
            false => AttemptResult::Wrong,
        })
    }

    /// Plays the defence that resists longest.
    fn answer(&mut self) -> Result<(), Refusal> {
        let known = self.puzzle.line.get(self.game.len()).filter(|_| self.on_line()).copied();
        let reply = match known {
            Some(mv) => Some(mv),
            None => self.solver.defence(self.game.position(), self.left().saturating_sub(1)).map_err(too_hard)?,
        };
        let missing = || Refusal::fault("a defence that has no move");
        self.game.play(reply.ok_or_else(missing)?).map_err(Refusal::fault)?;
        Ok(())
    }

    /// Plays moves that must all be right, and the defence after each.
    fn repeat(&mut self, moves: &[String]) -> Result<(), Refusal> {
        if moves.len() > self.puzzle.plies.div_ceil(2) as usize {
            let most = self.puzzle.plies.div_ceil(2);
            return Err(Refusal::bad(request(format!("{} moves; the puzzle asks for at most {most}", moves.len()))));
        }
        for text in moves {
            match self.try_move(text)? {
                AttemptResult::Solved => {}
                AttemptResult::Right => self.answer()?,
                AttemptResult::Slow | AttemptResult::Wrong => {
                    return Err(Refusal::bad(request(format!("{text} is not the right move"))));
                }
            }
        }
        Ok(())
    }

    /// How the side to move wins at `position` within three plies.
    fn threat(&mut self, position: &Position) -> Option<ThreatView> {
        let line = self.solver.line(position, 3).ok().flatten()?;
        let mut end = position.clone();
        for &mv in &line {
            end.advance(mv);
        }
        let ending = EndingView::of(Ending::Board(end.outcome()?), end.rules());
        Some(ThreatView { ending, moves: line.len().div_ceil(2) })
    }
}

/// Says whether the last of `moves` is right, and plays the defence.
///
/// # Errors
/// When there is no such puzzle, or a move is illegal or comes after a wrong one.
pub(crate) fn attempt(id: &str, asked: &MovesRequest) -> Result<AttemptView, Refusal> {
    let Some((last, earlier)) = asked.moves.split_last() else {
        return Err(Refusal::bad(request("no moves; expected at least one".to_owned())));
    };
    let mut trial = Trial::begin(id)?;
    trial.repeat(earlier)?;
    let first = trial.game.len();
    let verdict = trial.try_move(last)?;
    if verdict == AttemptResult::Right {
        trial.answer()?;
    }
    let is_only_move = trial.puzzle.theme.is_only_move();
    let threat = match verdict {
        AttemptResult::Wrong if is_only_move => {
            let position = trial.game.position().clone();
            trial.threat(&position)
        }
        // What happens if nothing is done about it.
        AttemptResult::Solved if is_only_move => {
            passed(trial.game.start()).and_then(|position| trial.threat(&position))
        }
        _ => None,
    };
    Ok(AttemptView {
        verdict,
        frames: frames(&trial.game, first),
        scene: PositionView::of(trial.game.position()),
        threat,
    })
}

/// The position with the other side to move.
fn passed(position: &Position) -> Option<Position> {
    let fen = position.fen();
    let (board, _) = fen.rsplit_once(' ')?;
    let side = match position.side_to_move() {
        Side::Attackers => 'd',
        Side::Defenders => 'a',
    };
    Position::from_fen(position.rules(), &format!("{board} {side}")).ok()
}

/// The rest of the solution after `moves`, which must be right.
///
/// # Errors
/// When there is no such puzzle, or a move is illegal or wrong.
pub(crate) fn solution(id: &str, asked: &MovesRequest) -> Result<SolutionView, Refusal> {
    let mut trial = Trial::begin(id)?;
    trial.repeat(&asked.moves)?;
    let first = trial.game.len();
    if trial.is_solved() {
        return Err(solved());
    }
    let rest: Vec<Move> = match trial.on_line() {
        true => trial.puzzle.line[first..].to_vec(),
        false => {
            let (position, left) = (trial.game.position().clone(), trial.left());
            let line = trial.solver.line(&position, left).map_err(too_hard)?;
            line.ok_or_else(|| Refusal::fault("a win that cannot be found again"))?
        }
    };
    for mv in rest {
        trial.game.play(mv).map_err(Refusal::fault)?;
    }
    Ok(SolutionView { frames: frames(&trial.game, first), scene: PositionView::of(trial.game.position()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn json(value: &impl Serialize) -> Value {
        serde_json::to_value(value).expect("plain values")
    }

    fn moves(texts: &[&str]) -> MovesRequest {
        MovesRequest { moves: texts.iter().map(|text| (*text).to_owned()).collect() }
    }

    fn text(puzzle: &Puzzle, mv: Move) -> String {
        mv.text(puzzle.rules.rules().size())
    }

    #[test]
    fn every_puzzle_is_solved_by_its_own_line() {
        for puzzle in book() {
            let own: Vec<String> = puzzle.line.iter().step_by(2).map(|&mv| text(puzzle, mv)).collect();
            for count in 1..=own.len() {
                let asked = MovesRequest { moves: own[..count].to_vec() };
                let answer = attempt(&puzzle.id, &asked).expect("an answer");
                let expected = if count == own.len() { AttemptResult::Solved } else { AttemptResult::Right };
                assert_eq!(answer.verdict, expected, "{}", puzzle.id);
                assert_eq!(answer.frames.len(), if count == own.len() { 1 } else { 2 }, "{}", puzzle.id);
                let is_win = count == own.len() && !puzzle.theme.is_only_move();
                assert_eq!(json(&answer)["scene"]["ending"].is_null(), !is_win, "{}", puzzle.id);
            }
            let shown = solution(&puzzle.id, &moves(&[])).expect("a solution");
            assert_eq!(shown.frames.len(), puzzle.line.len());
        }
    }

    #[test]
    fn other_first_moves_are_wrong_and_nothing_goes_on_from_there() {
        for puzzle in book().iter().step_by(40) {
            let scene = json(&set(&puzzle.id).expect("a puzzle"))["scene"].clone();
            let all = scene["moves"].as_object().expect("moves").iter();
            let all = all.flat_map(|(from, to)| {
                let to = to.as_array().expect("targets").clone();
                to.into_iter().map(move |to| format!("{from}{}", to.as_str().expect("a square")))
            });
            let answer = text(puzzle, puzzle.answers[0]);
            let wrong = all.filter(|mv| *mv != answer).nth(7).expect("a wrong move");
            let tried = attempt(&puzzle.id, &moves(&[&wrong])).expect("an answer");
            assert_eq!(tried.verdict, AttemptResult::Wrong, "{} {wrong}", puzzle.id);
            // What an only move prevents is said, for every other move loses.
            assert_eq!(tried.threat.is_some(), puzzle.theme.is_only_move(), "{} {wrong}", puzzle.id);
            if puzzle.plies >= 3 && !puzzle.theme.is_only_move() {
                let refused = attempt(&puzzle.id, &moves(&[&wrong, &answer])).expect_err("after a wrong move");
                assert!(refused.problem.message().contains("not the right move"), "{refused:?}");
            }
        }
    }

    #[test]
    fn whatever_wins_in_time_is_right_after_the_first_move() {
        let mut others = 0;
        for puzzle in book().iter().filter(|puzzle| puzzle.plies == 3 && !puzzle.theme.is_only_move()).step_by(5) {
            let mut game = Game::from_position(puzzle.position().expect("a position"));
            for &mv in &puzzle.line[..2] {
                game.play(mv).expect("a legal move");
            }
            let mut solver = Solver::new(BUDGET);
            let winning = solver.winning_moves(game.position(), 1).expect("within the budget");
            for &mv in winning.iter().filter(|mv| **mv != puzzle.line[2]) {
                let asked = moves(&[&text(puzzle, puzzle.line[0]), &text(puzzle, mv)]);
                assert_eq!(attempt(&puzzle.id, &asked).expect("an answer").verdict, AttemptResult::Solved);
                others += 1;
            }
        }
        assert!(others > 10, "{others} other moves are too few to tell");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let puzzle = &book()[0];
        let message = |moves: &[&str]| {
            let asked = MovesRequest { moves: moves.iter().map(|text| (*text).to_owned()).collect() };
            attempt(&puzzle.id, &asked)
                .map(|answer| answer.verdict)
                .expect_err("a refusal")
                .problem
                .message()
                .to_owned()
        };
        assert!(message(&[]).contains("no moves"));
        assert!(message(&["z9z9"]).contains("z9"));
        assert!(message(&["a1a2"; 9]).contains("8 moves"), "{}", message(&["a1a2"; 9]));
        assert_eq!(set("0000").map(|_| ()).expect_err("no puzzle").status, 404);
    }

    #[test]
    fn every_ruleset_has_puzzles_of_its_own_or_of_one_like_it() {
        assert_eq!(puzzles_of(Preset::Tablut), Some(Preset::Tablut));
        assert_eq!(puzzles_of(Preset::CopenhagenPlaytafl), Some(Preset::Copenhagen));
        assert_eq!(puzzles_of(Preset::Historical), Some(Preset::Tablut));
        let levels: Vec<usize> = list().puzzles.iter().map(|entry| entry.level).collect();
        assert_eq!((levels.first(), levels.last()), (Some(&1), Some(&LEVELS)));
        assert!(levels.is_sorted());
    }
}
