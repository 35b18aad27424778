//! Every exercise of every ruleset is played: the engine does what its text says.

use hnefi_engine::{
    Encirclement, KingArmed, KingCapture, KingOnEdge, MoveList, NoLegalMove, Outcome, Repetition, RepetitionCompares,
    ThroneHostileToAttackers, ThroneHostileToDefenders, ThronePass,
};

use super::course::{Lesson, lessons};
use super::task::Task;
use super::*;

/// Plays the solution of every exercise of a course.
fn play_through(rules: &Rules, name: &str) {
    for lesson in lessons(rules) {
        for exercise in &lesson.exercises {
            let label = format!("{name}, {}, {}", lesson.id, exercise.id);
            let mut game =
                exercise.game(rules).unwrap_or_else(|refusal| panic!("{label}: {}", refusal.problem.message()));
            assert_eq!(game.outcome(), None, "{label}: over before it begins\n{}", game.position().diagram());
            let mv = exercise.solution(rules).expect("a move");
            let played = game.play(mv).map(|_| ());
            assert_eq!(played, Ok(()), "{label}\n{}", game.position().diagram());
            let (happened, _) = exercise.task.judge(&game, mv, exercise.pattern.anchor);
            assert_eq!(happened, Happened::Fulfilled, "{label}\n{}", game.position().diagram());
            // What is to be captured is captured while the game goes on.
            if matches!(exercise.task, Task::Capture(_) | Task::Reach(_) | Task::GoOn) {
                assert_eq!(game.outcome(), None, "{label}\n{}", game.position().diagram());
            }
            let captured = game.last().expect("a ply").captured.len() as u32;
            match exercise.task {
                Task::Capture(count) => assert_eq!(captured, count, "{label}"),
                Task::Reach(_) => assert_eq!(captured, 0, "{label}"),
                _ => {}
            }
        }
    }
}

fn ids(rules: &Rules) -> Vec<&'static str> {
    lessons(rules).iter().map(|lesson| lesson.id).collect()
}

fn exercises(rules: &Rules) -> Vec<&'static str> {
    lessons(rules).iter().flat_map(|lesson| lesson.exercises.iter().map(|exercise| exercise.id)).collect()
}

#[test]
fn every_solution_of_every_ruleset_does_what_its_task_says() {
    for preset in Preset::ALL {
        play_through(&preset.rules(), preset.name());
    }
}

#[test]
fn every_option_alone_is_taught_as_it_is_played() {
    for preset in Preset::ALL {
        let rules = preset.rules();
        let mut others = Vec::new();
        for king_capture in [KingCapture::Strong, KingCapture::StrongNearThrone, KingCapture::Weak] {
            others.push(Rules { king_capture, ..rules });
        }
        others.push(Rules { king_capture: KingCapture::Strong, king_on_edge: KingOnEdge::CapturedByThree, ..rules });
        for king_armed in [KingArmed::Armed, KingArmed::HammerOnly, KingArmed::AnvilOnly, KingArmed::Unarmed] {
            others.push(Rules { king_armed, ..rules });
        }
        for throne_pass in [ThronePass::All, ThronePass::King, ThronePass::Nobody] {
            others.push(Rules { throne_pass, ..rules });
        }
        for throne_hostile_to_attackers in
            [ThroneHostileToAttackers::Always, ThroneHostileToAttackers::WhenEmpty, ThroneHostileToAttackers::Never]
        {
            others.push(Rules { throne_hostile_to_attackers, ..rules });
        }
        others.push(Rules { throne_hostile_to_defenders: ThroneHostileToDefenders::Never, ..rules });
        others.push(Rules { corner_hostile_to_king: !rules.corner_hostile_to_king, ..rules });
        others.push(Rules { shieldwall: true, ..rules });
        others.push(Rules { exit_fort: true, ..rules });
        for encirclement in [Encirclement::Off, Encirclement::AnyPocket, Encirclement::SingleRegion] {
            others.push(Rules { encirclement, ..rules });
        }
        for no_legal_move in [NoLegalMove::Loss, NoLegalMove::Draw] {
            others.push(Rules { no_legal_move, ..rules });
        }
        for repetition in [
            Repetition::Ignore,
            Repetition::Draw,
            Repetition::DefendersLose,
            Repetition::MoverLoses,
            Repetition::DefendersMayNot,
        ] {
            for repetition_occurrence in 2..=4 {
                others.push(Rules { repetition, repetition_occurrence, ..rules });
            }
        }
        others.push(Rules { draw_fort_occurrence: 3, repetition: Repetition::Ignore, ..rules });
        for other in others {
            play_through(&other, &format!("{} with {other:?}", preset.name()));
        }
    }
}

#[test]
fn what_the_rules_do_not_have_is_not_taught() {
    let on_all_boards = |rules: &Rules| {
        let ids = ids(rules);
        assert_eq!(ids.contains(&"shieldwall"), rules.shieldwall);
        assert_eq!(ids.contains(&"fort"), rules.exit_fort);
        assert_eq!(ids.contains(&"encirclement"), rules.encirclement != Encirclement::Off);
        assert_eq!(ids.contains(&"corners"), rules.corners);
        assert_eq!(ids.contains(&"linnaean"), rules.linnaean_capture);
        assert_eq!(ids.contains(&"walls"), rules.draw_fort_occurrence > 0);
        assert_eq!(ids.contains(&"repetition"), rules.repetition != Repetition::Ignore);
    };
    for preset in Preset::ALL {
        on_all_boards(&preset.rules());
        // Every lesson that shows something to do has something to do.
        for Lesson { id, exercises, .. } in lessons(&preset.rules()) {
            assert!(id == "board" || !exercises.is_empty(), "{preset}: {id}");
        }
    }
    let strong = exercises(&Preset::Copenhagen.rules());
    assert!(strong.contains(&"king_by_four") && !strong.contains(&"king_by_two"));
    let weak = exercises(&Preset::Brandubh.rules());
    assert!(weak.contains(&"king_by_two") && weak.contains(&"king_against_corner") && !weak.contains(&"king_by_four"));
    assert!(!exercises(&Preset::Tablut.rules()).contains(&"king_against_corner"));
}

/// What is said not to happen does not: texts name more than their exercises show.
#[test]
fn what_the_texts_deny_does_not_happen() {
    let outcome = |preset: Preset, fen: &str, text: &str| {
        let mut game = Game::from_fen(&preset.rules(), fen).expect("a position");
        play(&mut game, text).expect("a legal move");
        game.outcome().map(Outcome::reason)
    };
    // On the edge the strong king is safe, and three attackers in the open do not take him.
    assert_eq!(outcome(Preset::Copenhagen, "11/11/11/11/11/11/5d5/2a8/11/11/1aka7 a", "c4c2"), None);
    assert_eq!(outcome(Preset::Copenhagen, "11/11/11/11/11/2a8/11/11/1ak2d5/2a8/11 a", "c6c4"), None);
    // The edge does not help against a king who is captured like a man.
    assert_eq!(outcome(Preset::Brandubh, "7/7/5d1/2a4/7/7/1ak4 a", "c4c2"), None);
    // A king who walks between two attackers stays free.
    assert_eq!(outcome(Preset::Brandubh, "7/7/5d1/7/2k4/7/1a1a3 d", "c3c1"), None);
}

#[test]
fn wrong_moves_are_told_by_what_they_do() {
    let attempt = |rules: &str, lesson: &str, exercise: usize, mv: &str| {
        let asked = AttemptRequest { rules: rules.to_owned(), lesson: lesson.to_owned(), exercise, mv: mv.to_owned() };
        attempt(&asked)
    };
    let happened = |rules: &str, lesson: &str, exercise: usize, mv: &str| {
        attempt(rules, lesson, exercise, mv).expect("an answer").happened
    };
    assert_eq!(happened("brandubh", "moves", 0, "b2b5"), Happened::Elsewhere);
    assert_eq!(happened("brandubh", "capture", 0, "f2e2"), Happened::NothingCaptured);
    assert_eq!(happened("brandubh", "escape", 0, "c1c2"), Happened::GoesOn);
    assert_eq!(happened("brandubh", "stop", 0, "g5f5"), Happened::Lost { reason: "king_escaped" });
    assert_eq!(happened("brandubh", "two_ways", 0, "c3c2"), Happened::Answered);
    assert_eq!(happened("brandubh", "repetition", 0, "b2b3"), Happened::Ended { reason: "repetition" });
    assert_eq!(happened("copenhagen", "walls", 0, "b3b2"), Happened::Ended { reason: "draw_fort" });
    assert_eq!(happened("fetlar", "repetition", 0, "b2b3"), Happened::Fulfilled);
    let shown = attempt("brandubh", "stop", 0, "g5f5").expect("an answer");
    assert_eq!((shown.fulfilled, shown.frames.len()), (false, 2));
    // A move that the rules forbid is not among those to choose from.
    let refused = attempt("copenhagen-hnefatafl-org", "repetition", 0, "b2b3").expect_err("a refusal");
    assert_eq!(refused.status, 400);
    assert_eq!(attempt("brandubh", "fort", 0, "a1a2").expect_err("a refusal").status, 404);
    assert_eq!(attempt("brandubh", "moves", 9, "a1a2").expect_err("a refusal").status, 404);
    assert_eq!(attempt("chess", "moves", 0, "a1a2").expect_err("a refusal").status, 400);
}

#[test]
fn every_position_leaves_a_choice() {
    for preset in Preset::ALL {
        let rules = preset.rules();
        for exercise in lessons(&rules).iter().flat_map(|lesson| &lesson.exercises) {
            let game = exercise.game(&rules).expect("a position");
            let mut moves = MoveList::new();
            game.position().legal_moves(&mut moves);
            let anchor = exercise.pattern.anchor;
            let wrong = moves.iter().filter(|&&mv| {
                let mut after = game.clone();
                after.play(mv).expect("a legal move");
                exercise.task.judge(&after, mv, anchor).0 != Happened::Fulfilled
            });
            assert!(exercise.task == Task::GoOn || wrong.count() >= 4, "{preset}: {}", exercise.id);
        }
    }
    // The compared positions differ, and so does what repeats them.
    assert_eq!(Preset::CopenhagenHnefataflOrg.rules().repetition_compares, RepetitionCompares::BoardAlone);
}
