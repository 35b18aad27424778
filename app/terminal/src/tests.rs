//! The terminal board without a terminal: what keys and clicks do, and what the screen shows, as golden texts.
//!
//! `HNEFI_GOLDEN=write cargo test --release -p hnefi-terminal` writes the golden screens anew; look at the difference.

use std::path::Path;
use std::time::{Duration, Instant};

use hnefi_engine::{BoardSize, Ending, NamedRules, Preset, Side, Square};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::{Position as Point, Rect};
use ratatui::style::Color;

use super::app::{App, Front};
use super::board::Geometry;
use super::theme::{Ground, Theme};
use super::{input, screen};
use crate::scripted::Scripted;
use hnefi_play::PlaySetup;
use hnefi_record::Seat;

/// A person as attackers against a player with a script.
fn table(preset: Preset, script: &[&'static str]) -> PlaySetup {
    PlaySetup {
        rules: preset.rules(),
        start: None,
        seats: [Seat::Person, Seat::Player(Scripted::boxed("model:brandubh", script))],
        adviser: None,
        seed: 1,
        folder: std::env::temp_dir(),
        pace: Duration::ZERO,
    }
}

fn app(table: PlaySetup) -> App {
    App::new(table).expect("a sound table")
}

/// Presses keys by letter; `>` is Enter.
fn press(app: &mut App, keys: &str) {
    for letter in keys.chars() {
        let code = if letter == '>' { KeyCode::Enter } else { KeyCode::Char(letter) };
        app.apply(input::key(KeyEvent::new(code, KeyModifiers::NONE)).unwrap_or(input::Action::Cancel), None);
    }
}

/// Moves as a person does: cursor to the piece, Enter, cursor to the target, Enter.
fn play(app: &mut App, from: &str, to: &str) {
    for name in [from, to] {
        app.cursor = square(name, app.session.rules().size());
        press(app, ">");
    }
}

fn square(name: &str, size: BoardSize) -> Square {
    (0..size.squares()).map(Square::new).find(|square| square.name(size) == name).expect("a square")
}

/// Lets the players think until `done`, for ten seconds at most.
fn wait(app: &mut App, done: impl Fn(&App) -> bool) {
    let begin = Instant::now();
    while !done(app) {
        assert!(begin.elapsed() < Duration::from_secs(10), "nothing happened; notice: {:?}", app.notice);
        app.tick(Instant::now());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn plies(app: &App) -> usize {
    app.session.game().len()
}

fn taken_back(app: &App) -> usize {
    app.session.all_plies().count() - plies(app)
}

fn draw(app: &App, theme: &Theme, width: u16, height: u16) -> (Buffer, Option<Geometry>) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen in memory");
    let mut geometry = None;
    let drawn = terminal.draw(|frame| geometry = screen::draw(frame, app, theme, Instant::now()));
    (drawn.expect("drawing in memory").buffer.clone(), geometry)
}

fn text(buffer: &Buffer) -> String {
    let rows = buffer.content().chunks(usize::from(buffer.area.width));
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>();
    rows.map(|cells| row(cells).trim_end().to_owned() + "\n").collect()
}

/// Compares a screen with `golden/NAME.txt`.
fn check(name: &str, app: &App, theme: &Theme, width: u16, height: u16) {
    let found = text(&draw(app, theme, width, height).0);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/golden/{name}.txt"));
    if std::env::var_os("HNEFI_GOLDEN").is_some_and(|value| value == "write") {
        std::fs::write(&path, &found).expect("the golden folder");
    }
    let expected = std::fs::read_to_string(&path).expect("a golden screen");
    assert_eq!(found, expected, "{name} is\n{found}\ninstead of\n{expected}");
}

/// Brandubh after `d2-c2 d5-e5 d6-c6`, the person to move.
fn begun() -> App {
    let mut app = app(table(Preset::Brandubh, &["d5e5", "e5e6"]));
    play(&mut app, "d2", "c2");
    wait(&mut app, |app| plies(app) == 2);
    app
}

#[test]
fn start_screens() {
    let colours = Theme::TRUE_COLOUR;
    check("start-7-large", &app(table(Preset::Brandubh, &[])), &colours, 100, 30);
    check("start-9-small", &app(table(Preset::Tablut, &[])), &colours, 66, 22);
    check("start-11-medium", &app(table(Preset::Copenhagen, &[])), &colours, 80, 24);
    check("start-11-monochrome", &app(table(Preset::Copenhagen, &[])), &Theme::MONOCHROME, 70, 22);
    check("no-panel", &app(table(Preset::Copenhagen, &[])), &colours, 40, 16);
    check("too-small", &app(table(Preset::Copenhagen, &[])), &colours, 30, 8);
}

#[test]
fn any_tafl_is_drawn() {
    let under = |record: &str| {
        let rules = record.parse::<NamedRules>().unwrap_or_else(|error| panic!("{error}")).rules();
        app(PlaySetup { rules, ..table(Preset::Brandubh, &[]) })
    };
    let large = "dim:19 esc:e start:/6ttttttt6/9t9/19/19/19/9T9/t8T8t/t8T8t/t8T8t/tt2TTTTTKTTTTT2tt/t8T8t/t8T8t/t8T8t/9T9/19/\
                 19/19/9t9/6ttttttt6/";
    check("start-19", &under(large), &Theme::TRUE_COLOUR, 80, 24);
    check("start-19-large", &under(large), &Theme::TRUE_COLOUR, 200, 60);
    let forts = "dim:8 cor:a1,h8 cen:d4,e5 afor:a5,h4 dfor:d7,e2 start:/8/2tt4/3T1t2/3T1T2/1tT1KT1t/3TT3/2t1t3/8/";
    check("forts", &under(forts), &Theme::TRUE_COLOUR, 80, 30);
    check("forts-monochrome", &under(forts), &Theme::MONOCHROME, 60, 18);
}

#[test]
fn screens_of_a_game() {
    let mut app = begun();
    app.cursor = square("a4", BoardSize::SEVEN);
    press(&mut app, ">");
    check("selected", &app, &Theme::TRUE_COLOUR, 100, 30);
    check("selected-monochrome", &app, &Theme::MONOCHROME, 70, 20);
    press(&mut app, "?");
    check("help", &app, &Theme::TRUE_COLOUR, 100, 30);
    press(&mut app, " R");
    check("question", &app, &Theme::TRUE_COLOUR, 100, 30);
    press(&mut app, "y");
    check("resigned", &app, &Theme::TRUE_COLOUR, 100, 30);
    press(&mut app, "uu");
    check("taken-back", &app, &Theme::TRUE_COLOUR, 100, 30);
}

#[test]
fn captures_and_the_end_are_shown() {
    let start = |fen: &str| PlaySetup { start: Some(fen.to_owned()), ..table(Preset::Brandubh, &["d4d1"]) };
    let mut app = app(start("7/4a2/2ad3/3k3/7/7/1a5 a"));
    play(&mut app, "e6", "e5");
    check("captured", &app, &Theme::TRUE_COLOUR, 100, 30);
    wait(&mut app, |app| plies(app) == 2);
    press(&mut app, "f");
    check("flipped", &app, &Theme::TRUE_COLOUR, 100, 30);
    let mut app = super::tests::app(start("3a3/4ka1/7/7/3d3/3a3/1a5 a"));
    play(&mut app, "d7", "d6");
    check("king-captured", &app, &Theme::TRUE_COLOUR, 100, 30);
    play(&mut app, "f6", "f5");
    assert_eq!(app.notice.as_deref(), Some("The game is over: n begins another, u takes back."));
}

#[test]
fn no_screen_size_breaks_the_drawing() {
    let mut app = begun();
    press(&mut app, "?");
    for preset in [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen] {
        let other = super::tests::app(table(preset, &[]));
        for width in (1..140).step_by(6) {
            for height in (1..45).step_by(2) {
                draw(&other, &Theme::INDEXED, width, height);
                draw(&app, &Theme::MONOCHROME, width, height);
            }
        }
    }
}

#[test]
fn every_square_is_found_where_it_is_drawn() {
    for size in BoardSize::ALL {
        for area in [Rect::new(3, 1, 90, 40), Rect::new(0, 0, 50, 24), Rect::new(7, 2, 40, 14)] {
            for flipped in [false, true] {
                let Some(geometry) = Geometry::fit(area, size, flipped) else {
                    assert!(size.side() > 11, "a board of {} squares a side fits", size.side());
                    continue;
                };
                assert_eq!(area.intersection(geometry.area()), geometry.area(), "it stays inside");
                for square in (0..size.squares()).map(Square::new) {
                    let cell = geometry.cell(square);
                    assert!(cell.positions().all(|point| geometry.square_at(point) == Some(square)));
                }
                let last = geometry.area();
                for outside in [
                    Point::new(last.x, last.y),
                    Point::new(last.right(), last.y),
                    Point::new(last.x + 4, last.bottom()),
                ] {
                    assert_eq!(geometry.square_at(outside), None);
                }
            }
        }
    }
}

#[test]
fn the_mouse_clicks_and_drags() {
    let mut app = app(table(Preset::Brandubh, &["d5e5"]));
    let (_, geometry) = draw(&app, &Theme::TRUE_COLOUR, 100, 30);
    let geometry = geometry.expect("a board");
    let mouse = |app: &mut App, kind, name: &str| {
        let cell = geometry.cell(square(name, BoardSize::SEVEN));
        let event = MouseEvent { kind, column: cell.x + 1, row: cell.y, modifiers: KeyModifiers::NONE };
        app.apply(input::mouse(event).expect("an action"), Some(&geometry));
    };
    let (down, up) = (MouseEventKind::Down(MouseButton::Left), MouseEventKind::Up(MouseButton::Left));
    for (kind, name) in [(down, "d2"), (up, "d2"), (down, "c2"), (up, "c2")] {
        mouse(&mut app, kind, name);
    }
    assert_eq!(plies(&app), 1);
    wait(&mut app, |app| plies(app) == 2);
    mouse(&mut app, down, "d6");
    mouse(&mut app, up, "e7");
    assert!(app.selected.is_some(), "a drag to nowhere keeps the piece in hand");
    mouse(&mut app, up, "c6");
    assert_eq!(plies(&app), 3);
}

#[test]
fn the_cursor_follows_the_screen_and_stays_on_the_board() {
    let mut app = app(table(Preset::Brandubh, &[]));
    app.cursor = square("b3", BoardSize::SEVEN);
    press(&mut app, "LK");
    assert_eq!(app.cursor.name(BoardSize::SEVEN), "c4");
    press(&mut app, "HHHHHJJJJJ");
    assert_eq!(app.cursor.name(BoardSize::SEVEN), "a1");
    press(&mut app, "fLK");
    assert_eq!(app.cursor.name(BoardSize::SEVEN), "a1", "seen from the other side this is the top right corner");
    press(&mut app, "H");
    assert_eq!(app.cursor.name(BoardSize::SEVEN), "b1");
}

#[test]
fn tab_visits_pieces_and_then_targets() {
    let mut app = app(table(Preset::Brandubh, &[]));
    let tab = input::key(KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE)).expect("an action");
    let mut visited = Vec::new();
    for _ in 0..app.session.movable().len() {
        app.apply(tab, None);
        visited.push(app.cursor);
    }
    visited.sort();
    assert_eq!(visited, app.session.movable().collect::<Vec<_>>());
    press(&mut app, ">");
    app.apply(tab, None);
    assert!(app.targets().contains(app.cursor));
}

#[test]
fn what_cannot_be_done_is_explained() {
    let mut app = app(table(Preset::Brandubh, &[]));
    let mut notice_at = |names: [&str; 2], words: &str| {
        press(&mut app, "f");
        app.selected = None;
        play(&mut app, names[0], names[1]);
        let notice = app.notice.clone().unwrap_or_default();
        assert!(notice.contains(words), "{names:?}: {notice:?} does not say {words:?}");
        assert_eq!(plies(&app), 0);
    };
    notice_at(["a1", "a1"], "Pick one of the attackers' pieces");
    notice_at(["d4", "d4"], "The attackers are to move");
    notice_at(["d2", "b3"], "illegal move d2b3");
    notice_at(["d2", "d3"], "illegal move d2d3");
    press(&mut app, "h");
    assert_eq!(app.notice.as_deref(), Some("Nobody is here to give a hint."));
    press(&mut app, "u");
    assert_eq!(app.notice.as_deref(), Some("There is nothing to take back."));
}

#[test]
fn undo_goes_back_to_the_person_and_redo_forth_again() {
    let mut app = begun();
    press(&mut app, "u");
    assert_eq!((plies(&app), taken_back(&app)), (0, 2));
    press(&mut app, "r");
    assert_eq!((plies(&app), taken_back(&app)), (2, 0));
    press(&mut app, "u");
    play(&mut app, "d6", "c6");
    assert_eq!((plies(&app), taken_back(&app)), (1, 0), "another move forgets what was taken back");
}

#[test]
fn an_answer_to_a_position_taken_back_is_dropped() {
    let mut app = app(table(Preset::Brandubh, &["d5e5", "e4e5"]));
    play(&mut app, "d2", "c2");
    app.tick(Instant::now());
    press(&mut app, "u");
    play(&mut app, "d6", "c6");
    wait(&mut app, |app| plies(app) == 2);
    assert_eq!(app.notice, None, "the stale answer does not disturb");
}

#[test]
fn the_view_is_absolute_whoever_gives_it() {
    let app = begun();
    let (chances, present) = app.session.view().expect("the player judged");
    // The player chose as defenders: its 62 % are theirs.
    assert_eq!((chances.defenders, chances.attackers, present), (0.62, 0.35, false));
    assert!((chances.score(Side::Defenders) - 0.635).abs() < 1e-6);
}

#[test]
fn a_hint_comes_from_the_adviser_and_goes_with_the_position() {
    let adviser = Scripted::boxed("adviser", &["d6c6"]);
    let mut app = app(PlaySetup { adviser: Some(adviser), ..table(Preset::Brandubh, &["d5e5"]) });
    wait(&mut app, |app| app.session.view().is_some());
    assert_eq!(app.hint(), None, "advice waits until it is asked for");
    press(&mut app, "h");
    assert_eq!(app.hint().map(|mv| mv.text(BoardSize::SEVEN)).as_deref(), Some("d6c6"));
    check("hint", &app, &Theme::TRUE_COLOUR, 100, 30);
    play(&mut app, "d2", "c2");
    assert_eq!(app.hint(), None);
}

#[test]
fn the_same_key_again_plays_the_hint() {
    let adviser = Scripted::boxed("adviser", &["d6c6"]);
    let mut app = app(PlaySetup { adviser: Some(adviser), ..table(Preset::Brandubh, &["d5e5"]) });
    wait(&mut app, |app| app.session.view().is_some());
    press(&mut app, "h");
    assert_eq!(app.session.game().len(), 0);
    press(&mut app, "h");
    assert_eq!(app.session.game().len(), 1);
    assert_eq!(app.hint(), None);
}

#[test]
fn a_game_in_progress_is_not_left_by_one_key() {
    let mut app = app(table(Preset::Brandubh, &["d5e5", "d2c2"]));
    play(&mut app, "d2", "c2");
    wait(&mut app, |app| plies(app) == 2);
    press(&mut app, "q");
    assert!(matches!(app.front, Front::Question(_)) && !app.quit);
    press(&mut app, "n");
    assert!(app.front == Front::Board && !app.quit && plies(&app) == 2, "any other key means no");
    press(&mut app, "uq");
    assert!(plies(&app) == 0 && matches!(app.front, Front::Question(_)) && !app.quit, "redo would bring it back");
    press(&mut app, "nr");
    press(&mut app, "Ry");
    assert_eq!(app.session.ending(), Some(Ending::Resigned(Side::Attackers)));
    press(&mut app, "x");
    assert_eq!((plies(&app), app.session.number()), (0, 2));
    assert_eq!(app.session.seat(Side::Defenders), &Seat::Person);
    wait(&mut app, |app| plies(app) == 1);
    press(&mut app, "qy");
    assert!(app.quit);
}

#[test]
fn control_c_leaves_at_once() {
    let mut app = begun();
    let event = KeyEvent::new_with_kind(KeyCode::Char('c'), KeyModifiers::CONTROL, KeyEventKind::Press);
    app.apply(input::key(event).expect("an action"), None);
    assert!(app.quit);
}

#[test]
fn a_player_that_cheats_or_breaks_is_shown_and_the_game_stays() {
    for (script, words) in [("a1a1", "model:brandubh chose an illegal move a1a1"), ("panic", "its thread broke off")] {
        let mut app = app(table(Preset::Brandubh, &[script]));
        play(&mut app, "d2", "c2");
        wait(&mut app, |app| app.notice.is_some());
        let notice = app.notice.clone().unwrap_or_default();
        assert!(notice.contains(words), "{notice}");
        assert!(app.paused && plies(&app) == 1);
        press(&mut app, "u");
        assert_eq!(plies(&app), 0);
    }
}

#[test]
fn an_adviser_that_breaks_does_not_disturb_the_game() {
    let adviser = Scripted::boxed("adviser", &["panic"]);
    let mut app = app(PlaySetup { adviser: Some(adviser), ..table(Preset::Brandubh, &["d5e5"]) });
    wait(&mut app, |app| app.notice.is_some());
    assert!(app.notice.clone().unwrap_or_default().contains("no more hints"), "{:?}", app.notice);
    play(&mut app, "d2", "c2");
    wait(&mut app, |app| plies(app) == 2);
}

#[test]
fn two_players_play_at_their_pace_and_can_be_stopped() {
    let seat = || Seat::Player(Scripted::boxed("first", &[]));
    let pace = Duration::from_secs(3600);
    let mut app = app(PlaySetup { seats: [seat(), seat()], pace, ..table(Preset::Brandubh, &[]) });
    wait(&mut app, |app| plies(app) == 1);
    for _ in 0..20 {
        app.tick(Instant::now());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(plies(&app), 1, "the next move waits its hour");
    let later = Instant::now() + pace + Duration::from_secs(1);
    app.tick(later);
    wait(&mut app, |app| plies(app) == 2);
    press(&mut app, "u");
    assert!(app.paused && plies(&app) == 1);
    press(&mut app, "q");
    assert!(app.quit, "nobody's game is lost");
}

#[test]
fn saving_writes_a_game_that_reads_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut app = app(PlaySetup { folder: folder.path().to_owned(), ..table(Preset::Brandubh, &["d5e5"]) });
    play(&mut app, "d2", "c2");
    wait(&mut app, |app| plies(app) == 2);
    press(&mut app, "ss");
    let notice = app.notice.clone().unwrap_or_default();
    assert!(notice.contains("game-0002.pgn") && notice.contains("game-0002.jsonl"), "{notice}");
    let text = std::fs::read_to_string(folder.path().join("game-0001.pgn")).expect("a file");
    let game = hnefi_record::PgnReader::new(text.as_bytes()).next().expect("a game").expect("a sound game");
    assert_eq!(game.players, ["person", "model:brandubh"]);
    assert_eq!(game.plies.len(), 2);
    app = super::tests::app(PlaySetup { folder: folder.path().join("missing/\0"), ..table(Preset::Brandubh, &[]) });
    press(&mut app, "s");
    assert!(app.notice.clone().unwrap_or_default().contains("not saved"), "{:?}", app.notice);
}

/// Relative luminance (WCAG 2.2).
fn luminance(colour: Color) -> f64 {
    let Color::Rgb(red, green, blue) = colour else { panic!("{colour:?} is no true colour") };
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

#[test]
fn pieces_stand_out_from_every_ground_and_from_each_other() {
    let theme = Theme::TRUE_COLOUR;
    let contrast = |a: Color, b: Color| {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        f64::max(a / b, b / a)
    };
    let piece = [theme.attacker(), theme.defender(), theme.king()].map(|style| style.fg.expect("a colour"));
    let grounds = [
        Ground::Selected,
        Ground::Hint,
        Ground::LastMove,
        Ground::Special,
        Ground::Plain { light: true },
        Ground::Plain { light: false },
    ];
    for ground in grounds {
        let behind = theme.ground(ground).bg.expect("a colour");
        for piece in piece {
            assert!(contrast(piece, behind) > 2.0, "{piece:?} on {ground:?}: {:.2}", contrast(piece, behind));
        }
    }
    assert!(contrast(piece[0], piece[1]) > 7.0);
}

#[test]
fn a_pause_is_told_also_on_the_turn_of_a_person() {
    let mut app = begun();
    press(&mut app, "p");
    assert_eq!(app.notice.as_deref(), Some("Paused: p goes on."));
}
