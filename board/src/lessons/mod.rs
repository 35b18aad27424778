//! How a ruleset is played, in lessons. Which of them there are and what they say follows from the rule options; what
//! a move does in their positions is left to the engine. The texts are the page's, by the keys that a lesson names.

mod course;
mod exercises;
mod pattern;
mod task;
#[cfg(test)]
mod tests;

use hnefi_engine::{Game, Preset, Rules, Side};
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::board::ruleset;
use crate::exchange::request;
use crate::puzzle_book::puzzles_of;
use crate::scene::{FrameView, SceneView, frames, play};
use crate::view::RulesView;

use exercises::Exercise;
use task::{Happened, TaskView};

/// Which course.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CourseQuery {
    /// A preset's name.
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
    /// Plies without a capture that make a draw, and the moves of each side in them.
    quiet_plies: u16,
    quiet_moves: u16,
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
    scene: SceneView,
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
    scene: SceneView,
}

impl ValuesView {
    fn of(rules: &Rules) -> ValuesView {
        let start = Game::new(rules);
        let board = start.start().board();
        let quiet_plies = rules.no_capture_draw_plies;
        ValuesView {
            side: rules.size().side(),
            attackers: board.attackers().len(),
            defenders: board.defenders().len(),
            occurrence: rules.repetition_occurrence,
            fort_occurrence: rules.draw_fort_occurrence,
            quiet_plies,
            quiet_moves: quiet_plies / 2,
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
            scene: SceneView::of(game.position()),
            solution: exercise.solution(rules)?.text(rules.size()),
        })
    }
}

/// The course of a ruleset.
///
/// # Errors
/// When there is no such ruleset.
pub(crate) fn course(asked: &CourseQuery) -> Result<CourseView, Refusal> {
    let preset = ruleset(&asked.rules)?;
    let rules = preset.rules();
    let lessons = course::lessons(&rules).into_iter().map(|lesson| {
        let exercises = lesson.exercises.iter().map(|exercise| ExerciseView::of(exercise, &rules));
        Ok(LessonView { id: lesson.id, texts: lesson.texts, exercises: exercises.collect::<Result<_, Refusal>>()? })
    });
    Ok(CourseView {
        rules: RulesView::of(&rules),
        rulesets: Preset::ALL.iter().map(|preset| RulesView::of(&preset.rules())).collect(),
        values: ValuesView::of(&rules),
        puzzles: puzzles_of(preset).map(Preset::name),
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
        scene: SceneView::of(game.position()),
    })
}
