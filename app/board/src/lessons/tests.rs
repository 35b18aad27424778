//! Every exercise of every ruleset is played: the engine does what its text says.

use hnefi_engine::{
    Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, MoveList, NoLegalMove, Outcome, Repetition,
    RepetitionCompares,
};

use super::course::{Lesson, lessons, lessons_for};
use super::task::Task;
use super::*;

/// Plays the solution of every exercise of a course.
fn play_through(rules: &Rules, name: &str) {
    for lesson in lessons_for(rules) {
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
            assert!(exercise.holds(rules), "{label}: a course has it");
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
        for pass in [Pieces::ALL, Pieces::KING, Pieces::NONE] {
            others.push(Rules { throne: Special { pass, ..rules.throne }, ..rules });
        }
        for hostile_empty in [Pieces::ALL, Pieces::KING.or(Pieces::DEFENDERS), Pieces::KING.or(Pieces::ATTACKERS)] {
            for hostile_occupied in [Pieces::NONE, hostile_empty] {
                others.push(Rules { throne: Special { hostile_empty, hostile_occupied, ..rules.throne }, ..rules });
            }
        }
        let against_all = Special { hostile_empty: Pieces::ALL, hostile_occupied: Pieces::ALL, ..rules.corners };
        others.push(Rules { corners: against_all, ..rules });
        others.push(Rules { shieldwall: true, ..rules });
        others.push(Rules { exit_fort: true, ..rules });
        for encirclement in [Encirclement::Off, Encirclement::AnyPocket, Encirclement::SingleRegion] {
            others.push(Rules { encirclement, ..rules });
        }
        for no_legal_move in [NoLegalMove::Loss, NoLegalMove::Draw] {
            others.push(Rules { no_legal_move, ..rules });
        }
        for repetition in Repetition::ALL {
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
        assert_eq!(ids.contains(&"corners"), rules.corners.is_royal());
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

/// Every ruleset that is published, and boards that no preset has.
#[test]
fn other_boards_are_taught_only_what_they_have() {
    let edge = "dim:13 esc:e ks:c cor: start:/4ttttt4/6t6/13/6T6/t4T1T4t/t3T3T3t/tt1T2K2T1tt/\
                t3T3T3t/t4T1T4t/6T6/13/6t6/4ttttt4/";
    let forts = "dim:11 esc:e ks:w cor: cen: afor:a6,k6 aforh:TK afors:t dfor:d4 dfors:T spd:2,2,2,2,-1,-1,-1,1 \
                 start:/3ttttt3/5t5/11/t4T4t/t3TTT3t/1t1TTKTT1t1/t3TTT3t/t4T4t/11/5t5/3ttttt3/";
    let marked = "dim:9 cor:e1,e9 cen: start:/9/9/4t4/4T4/t2TKT2t/4T4/4t4/9/9/";
    let [edge, forts, marked] = [edge, forts, marked]
        .map(|text| ruleset(text).unwrap_or_else(|refusal| panic!("{text}: {}", refusal.problem.message())));
    let tiny = ruleset("dim:5 esc:e start:/2t2/2T2/tTKTt/2T2/2t2/").expect("rules");
    for named in NamedRules::published().chain([edge, forts, marked, tiny]) {
        let rules = named.rules();
        for lesson in lessons(&rules) {
            assert!(lesson.exercises.iter().all(|exercise| exercise.holds(&rules)), "{named}: {}", lesson.id);
        }
        let course = course(&CourseQuery { rules: named.name() }).expect("a course");
        assert!(course.lessons.len() > 6, "{named}");
    }
    let texts = |named: NamedRules| -> Vec<&str> {
        lessons(&named.rules()).into_iter().flat_map(|lesson| lesson.texts).collect()
    };
    // Thirteen squares, no corners: nothing of the corners, and the king flees to the edge.
    let told = texts(edge);
    assert_eq!(edge.rules().escape, Escape::Edge);
    for text in ["board.aim_edge", "escape.edge", "king_captured.near", "moves.throne_king", "stop.edge"] {
        assert!(told.contains(&text), "{text}: {told:?}");
    }
    assert!(!told.iter().any(|text| text.contains("corner") || text.starts_with("squares.")), "{told:?}");
    assert!(exercises(&edge.rules()).contains(&"two_ways_edge"));
    // Forts, no throne, a slow king: no way out is free by one move.
    let told = texts(forts);
    for text in ["squares.attacker_forts", "squares.defender_forts", "moves.limit_attackers", "moves.limit_king"] {
        assert!(told.contains(&text), "{text}: {told:?}");
    }
    for text in
        ["moves.straight", "moves.limit_defenders", "escape.edge", "stop.edge", "throne.hostile", "squares.throne"]
    {
        assert!(!told.contains(&text), "{text}: {told:?}");
    }
    // Goals that are no corners of the board.
    let told = texts(marked);
    assert!(told.contains(&"board.aim_marked") && told.contains(&"squares.corners"), "{told:?}");
    assert!(!told.contains(&"board.aim_corner") && !told.contains(&"corners.hostile"), "{told:?}");
    // Where the corner is special, the drawings stand further in.
    let alea = ruleset("alea-evangelii").unwrap_or_else(|refusal| panic!("{}", refusal.problem.message()));
    assert!(exercises(&alea.rules()).contains(&"capture_attackers"), "{:?}", exercises(&alea.rules()));
    // Too small for the drawings, not for the words.
    assert!(exercises(&tiny.rules()).is_empty() && texts(tiny).contains(&"capture.custodial"));
}
