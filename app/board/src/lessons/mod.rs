//! How a ruleset is played, in lessons. Which of them there are and what they say follows from the rule options; what
//! a move does in their positions is left to the engine. The texts are the page's, by the keys that a lesson names.

mod course;
mod exercises;
mod pattern;
mod task;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hnefi_engine::{Game, NamedRules, Pieces, Preset, Rules, Side, Special};
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::exchange::request;
use crate::position_view::{FrameView, PositionView, frames, play};
use crate::puzzle_book::puzzles_of;
use crate::rulesets::ruleset;
use crate::view::RulesView;

use exercises::Exercise;
use task::{Happened, TaskView};

/// Which course.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CourseQuery {
    /// A ruleset's name or a rules record.
    rules: String,
}

/// A move at an exercise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttemptRequest {
    rules: String,
    /// The lesson's id.
    lesson: String,
    /// Place of the exercise in it, from 0.
    exercise: usize,
    #[serde(rename = "move")]
    mv: String,
}

/// All lessons of a ruleset.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CourseView {
    rules: RulesView,
    /// The rulesets that there are courses of.
    rulesets: Vec<RulesView>,
    values: ValuesView,
    /// Thrones, corners, and forts of the attackers and of the defenders.
    squares: BTreeMap<&'static str, SquaresView>,
    /// The ruleset whose puzzles come next.
    puzzles: Option<&'static str>,
    lessons: Vec<LessonView>,
}

/// Numbers of the rules that texts name.
#[derive(Clone, Copy, Debug, Serialize)]
struct ValuesView {
    side: usize,
    attackers: usize,
    defenders: usize,
    /// The occurrence of a position at which the rule of repetition applies.
    occurrence: u8,
    /// The occurrence at which the draw fort is lost.
    fort_occurrence: u8,
    /// Moves of each side without a capture that make a draw.
    quiet_moves: u16,
    /// The most squares of a move, 0 where there is no limit.
    attackers_speed: u8,
    defenders_speed: u8,
    king_speed: u8,
}

/// What special squares of a kind do, by the letters of pieces.
#[derive(Clone, Debug, Serialize)]
struct SquaresView {
    /// Who may stop there.
    stop: String,
    /// Who is captured against one.
    hostile: String,
}

impl SquaresView {
    fn of(special: &Special) -> SquaresView {
        let letters = |pieces: Pieces| pieces.iter().map(|piece| ['a', 'd', 'k'][piece as usize]).collect();
        SquaresView {
            stop: letters(special.stop.iter().filter(|&piece| special.enter.contains(piece)).collect()),
            hostile: letters(special.hostile_empty.or(special.hostile_occupied)),
        }
    }
}

/// A lesson.
#[derive(Clone, Debug, Serialize)]
struct LessonView {
    id: &'static str,
    /// Keys of its paragraphs.
    texts: Vec<&'static str>,
    exercises: Vec<ExerciseView>,
}

/// A position with a task.
#[derive(Clone, Debug, Serialize)]
struct ExerciseView {
    /// Key of its texts.
    id: &'static str,
    side: Side,
    task: TaskView,
    /// The board before what was played already, and that.
    before: String,
    frames: Vec<FrameView>,
    scene: PositionView,
    /// A move that does it, such as `a1a4`.
    solution: String,
}

/// What came of a move.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AttemptView {
    pub(crate) fulfilled: bool,
    pub(crate) happened: Happened,
    /// The move and, where it matters, the opponent's answer.
    frames: Vec<FrameView>,
    scene: PositionView,
}

impl ValuesView {
    fn of(rules: &Rules) -> ValuesView {
        let start = Game::new(rules);
        let board = start.start().board();
        ValuesView {
            side: rules.size().side(),
            attackers: board.attackers().len(),
            defenders: board.defenders().len(),
            occurrence: rules.repetition_occurrence,
            fort_occurrence: rules.draw_fort_occurrence,
            quiet_moves: rules.no_capture_draw_plies / 2,
            attackers_speed: rules.speed.attackers,
            defenders_speed: rules.speed.defenders,
            king_speed: rules.speed.king,
        }
    }
}

impl ExerciseView {
    fn of(exercise: &Exercise, rules: &Rules) -> Result<ExerciseView, Refusal> {
        let game = exercise.game(rules)?;
        Ok(ExerciseView {
            id: exercise.id,
            side: game.position().side_to_move(),
            task: exercise.task.view(exercise.pattern.anchor, rules),
            before: crate::view::board(game.start()),
            frames: frames(&game, 0),
            scene: PositionView::of(game.position()),
            solution: exercise.solution(rules)?.text(rules.size()),
        })
    }
}

/// The course of a ruleset.
///
/// # Errors
/// When there is no such ruleset.
pub(crate) fn course(asked: &CourseQuery) -> Result<CourseView, Refusal> {
    let named = ruleset(&asked.rules)?;
    let rules = named.rules();
    let lessons = course::lessons(&rules).into_iter().map(|lesson| {
        let exercises = lesson.exercises.iter().map(|exercise| ExerciseView::of(exercise, &rules));
        Ok(LessonView { id: lesson.id, texts: lesson.texts, exercises: exercises.collect::<Result<_, Refusal>>()? })
    });
    Ok(CourseView {
        rules: RulesView::of(&rules),
        rulesets: NamedRules::published().map(|known| RulesView::of(&known.rules())).collect(),
        values: ValuesView::of(&rules),
        squares: BTreeMap::from([
            ("throne", SquaresView::of(&rules.throne)),
            ("corners", SquaresView::of(&rules.corners)),
            ("attacker_forts", SquaresView::of(&rules.attacker_forts)),
            ("defender_forts", SquaresView::of(&rules.defender_forts)),
        ]),
        puzzles: named.preset().and_then(puzzles_of).map(Preset::name),
        lessons: lessons.collect::<Result<_, Refusal>>()?,
    })
}

/// Says what a move does at an exercise, and whether that was the task.
///
/// # Errors
/// When there is no such exercise, or the move is illegal.
pub(crate) fn attempt(asked: &AttemptRequest) -> Result<AttemptView, Refusal> {
    let rules = ruleset(&asked.rules)?.rules();
    let lesson = course::lessons(&rules).into_iter().find(|lesson| lesson.id == asked.lesson);
    let lesson =
        lesson.ok_or_else(|| Refusal::missing(request(format!("{:?} is no lesson of these rules", asked.lesson))))?;
    let missing = || Refusal::missing(request(format!("the lesson has {} exercises", lesson.exercises.len())));
    let exercise = lesson.exercises.get(asked.exercise).ok_or_else(missing)?;
    let mut game = exercise.game(&rules)?;
    let first = game.len();
    let mv = play(&mut game, &asked.mv)?;
    let (happened, answer) = exercise.task.judge(&game, mv, exercise.pattern.anchor);
    if let Some(answer) = answer {
        game.play(answer).map_err(Refusal::fault)?;
    }
    Ok(AttemptView {
        fulfilled: happened == Happened::Fulfilled,
        happened,
        frames: frames(&game, first),
        scene: PositionView::of(game.position()),
    })
}
