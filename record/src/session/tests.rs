//! Games back and forth, and their variations.

use hnefi_engine::Preset;

use super::*;

fn session(seats: [Seat; 2], moves: &[&str]) -> Session {
    let mut session = Session::new(Preset::Brandubh.rules(), None, seats).expect("the start");
    moves.iter().for_each(|text| play(&mut session, text));
    session
}

fn mv(text: &str) -> Move {
    Move::parse(text, Preset::Brandubh.rules().size()).expect("a move")
}

fn play(session: &mut Session, text: &str) {
    session.play(mv(text)).expect("a legal move");
}

fn moves(session: &Session) -> Vec<String> {
    session.game().moves().map(|mv| mv.text(session.rules().size())).collect()
}

#[test]
fn plies_taken_back_are_played_again_in_order_with_their_views() {
    let mut session = session([Seat::Person, Seat::Player("random".to_owned())], &[]);
    let chances = Chances { attackers: 0.25, draw: 0.5, defenders: 0.25 };
    session.note_view(chances, 8);
    ["d6c6", "d5f5", "c6c5"].iter().for_each(|text| play(&mut session, text));
    assert!(session.undo() && moves(&session) == ["d6c6", "d5f5"], "back to the person's last decision");
    assert!(session.undo() && moves(&session).is_empty() && !session.can_undo() && !session.undo());
    assert_eq!(session.view(), Some((chances, true)));
    assert!(session.redo() && moves(&session) == ["d6c6", "d5f5"]);
    assert!(session.step_to(3) && moves(&session) == ["d6c6", "d5f5", "c6c5"]);
    assert!(!session.step_to(3) && !session.step_to(4) && !session.has_taken_back());
    assert_eq!(session.view(), Some((chances, false)));
    assert_eq!(session.views().count(), 4);
}

#[test]
fn an_opponents_first_move_cannot_be_taken_back() {
    let mut session = session([Seat::Player("random".to_owned()), Seat::Person], &["d6c6"]);
    assert!(!session.can_undo() && !session.undo());
    play(&mut session, "d5f5");
    assert!(session.can_undo() && session.undo() && moves(&session) == ["d6c6"]);
}

fn texts(session: &Session) -> Vec<String> {
    let size = session.rules().size();
    let text = |place: Place| {
        let node = session.tree().node(place);
        format!("{}>{} {}", node.parent, place, node.ply.expect("a move").mv.text(size))
    };
    session.tree().in_order().into_iter().map(text).collect()
}

/// A game that is looked at, of the moves a text has.
fn study(text: &str) -> Session {
    let tree = crate::pgn::read_tree(text, &[Preset::Brandubh.rules()]).expect("a tree");
    Session::of_tree(&tree).expect("a sound tree")
}

#[test]
fn in_a_game_what_is_played_last_is_the_main_line_and_nothing_is_lost() {
    let mut session = session([Seat::Person, Seat::Player("random".to_owned())], &["d6c6", "d5f5", "c6c5"]);
    session.undo();
    play(&mut session, "c6b6");
    assert_eq!(texts(&session), ["0>1 d6c6", "1>2 d5f5", "2>4 c6b6", "2>3 c6c5"]);
    assert!(!session.has_taken_back() && session.is_main() && session.tree().len() == 4);
    // What was played before is played again: the player answers anew, and it is the main line again.
    session.undo();
    play(&mut session, "c6c5");
    assert_eq!((texts(&session)[2].as_str(), session.tree().len()), ("2>3 c6c5", 4));
    play(&mut session, "d4d6");
    assert_eq!(session.game_tree(0).record.plies.len(), 4);
    // Once the game is over what is tried is a variation.
    session.resign().expect("a person resigns");
    session.step_to(2);
    assert_eq!(session.ending(), None);
    play(&mut session, "c6a6");
    assert!(!session.is_main() && session.ending().is_none());
    let tree = session.game_tree(0);
    assert_eq!((tree.record.plies.len(), tree.record.resigned), (4, Some(Side::Attackers)));
    assert!(session.resign().is_err(), "it is over");
    assert!(session.go_to_main() && session.has_taken_back() && !session.go_to_main());
    assert!(session.step_to(4) && session.ending() == Some(Ending::Resigned(Side::Attackers)));
    assert!(session.undo() && session.ending().is_none(), "only the resignation is taken back");
}

#[test]
fn a_game_that_is_looked_at_stays_the_main_line() {
    let mut session = study("1. d6-c6 d5-e5 2. c6-c5 (2. c6-b6 e5-e6) d4-d5");
    assert_eq!(texts(&session).len(), 6);
    session.step_to(2);
    play(&mut session, "c6b6");
    assert_eq!((session.line().len(), session.tree().len(), session.is_main()), (4, 6, false), "it goes into it");
    session.step_to(1);
    play(&mut session, "d5f5");
    assert_eq!((session.line().len(), session.tree().len()), (2, 7), "a new one");
    let place = session.place();
    session.step_to(1);
    assert!(session.has_taken_back(), "the line is still the variation's");
    session.go_to_place(place).expect("a place");
    assert!(session.go_to_main());
    assert_eq!((moves(&session), session.line().len()), (vec!["d6c6".to_owned()], 4));
    session.promote(place, false).expect("a variation");
    assert_eq!(session.tree().node(1).children, [place, 2]);
    // The line on the screen is what it was, and off the main line now.
    session.step_to(2);
    assert!(!session.is_main());
}

#[test]
fn variations_are_promoted_removed_and_commented() {
    let mut session = study("1. d6-c6 d5-e5 (1... d5-f5 2. c6-c5 (2. c6-b6 f5-f6)) 2. c6-c5");
    let [b6, f6] = [6, 7];
    session.promote(f6, false).expect("a place");
    assert_eq!(session.tree().node(session.tree().node(b6).parent).children[0], b6);
    assert!(!session.tree().is_main(f6));
    session.promote(f6, true).expect("a place");
    assert!(session.tree().is_main(f6) && session.game_tree(0).record.plies.len() == 4);
    session.go_to_place(f6).expect("a place");
    let stamps = (session.stamp(), session.tree_stamp());
    session.comment(f6, " why {not}\n? ").expect("a comment");
    assert_eq!(session.tree().node(f6).comment, "why (not) ?");
    assert_eq!((session.stamp(), session.tree_stamp()), (stamps.0, stamps.1 + 1), "no search begins anew");
    session.remove(b6).expect("a place");
    assert_eq!((moves(&session), session.tree().len()), (vec!["d6c6".to_owned(), "d5f5".to_owned()], 5));
    assert!(session.has_taken_back(), "what else was played there is ahead");
    for (error, words) in [
        (session.remove(b6), "no move 6"),
        (session.remove(START), "the start is no move"),
        (session.promote(99, true), "no move 99"),
        (session.go_to_place(99), "no move 99"),
        (session.comment(1, &"x".repeat(LONGEST_COMMENT + 1)), "4001 characters; expected at most 4000"),
    ] {
        assert!(error.expect_err(words).to_string().contains(words));
    }
    for place in 0..5 {
        let told = session.comment(place, &"\u{1f6e1}".repeat(LONGEST_COMMENT));
        assert_eq!(told.is_err(), place == 4, "bounded together");
    }
}

#[test]
fn a_tree_comes_back_as_it_was() {
    let text = "{so} 1. d6-c6 $1 {first} d5-e5 (1... d5-f5 2. c6-c5 (2. c6-b6 f5-f6)) 2. c6-c5 0-1";
    let session = study(text);
    let tree = session.game_tree(0);
    assert_eq!(tree.record.resigned, Some(Side::Attackers), "who gave up is known, though one may play on");
    assert!(
        crate::pgn::tree_text(&tree)
            .expect("sound")
            .replace('\n', " ")
            .contains(&text.replace(" d5-e5", " 1... d5-e5"))
    );
    assert_eq!(Session::of_tree(&tree).expect("sound").game_tree(0), tree);
    let mut shorter = tree.clone();
    shorter.record.plies.pop();
    let problem = Session::of_tree(&shorter).expect_err("a tree of another game").to_string();
    assert!(problem.contains("its main line is not the game"), "{problem}");
    let mut wrong = tree;
    wrong.moves[3].after = Some(1);
    assert!(Session::of_tree(&wrong).expect_err("no such move").to_string().contains("move 4 of the tree"));
}

#[test]
fn a_resignation_is_taken_back_alone_and_recorded() {
    let mut session = session([Seat::Person, Seat::Person], &["d6c6"]);
    assert_eq!(session.resign().expect("a person resigns"), Ending::Resigned(Side::Defenders));
    let record = session.record(1);
    assert_eq!(
        (record.resigned, record.outcome, record.winner()),
        (Some(Side::Defenders), None, Some(Side::Attackers))
    );
    assert!(session.play(mv("d5f5")).is_err());
    assert!(session.undo() && session.ending().is_none() && moves(&session) == ["d6c6"]);
    let opened = Session::of_record(&record).expect("a sound record");
    assert_eq!((opened.ending(), opened.game().len(), opened.all_plies().count()), (None, 0, 1));
}

#[test]
fn a_game_that_begins_again_knows_nothing_of_the_last_one() {
    let mut played = session([Seat::Person, Seat::Person], &["d6c6"]);
    played.resign().expect("a person resigns");
    let mut opened = Session::of_record(&played.record(1)).expect("a sound record");
    let stamps = (opened.stamp(), opened.tree_stamp(), opened.number());
    opened.restart(false);
    assert_eq!((opened.stamp(), opened.tree_stamp(), opened.number()), (stamps.0 + 1, stamps.1 + 1, stamps.2 + 1));
    play(&mut opened, "d6b6");
    assert_eq!((opened.result(), opened.is_main()), (None, true));
    // It is played, not looked at: another move is the game's.
    opened.step_to(0);
    play(&mut opened, "d6c6");
    assert!(opened.is_main());
}
