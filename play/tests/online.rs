//! Playing at a server: against a scripted one, and against the real one of the crate `hnefatafl-copenhagen` where the
//! variable `HNEFI_TAFL_SERVER` names its program (`cargo install hnefatafl-copenhagen --no-default-features --features
//! server --bin hnefatafl-server`). It listens at its one port, 49152.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hnefi_arena::players::{Choice, LONGEST_HTP_GAME, ModelCache, Player, PlayerError, PlayerSpec};
use hnefi_arena::random_opening;
use hnefi_engine::{Game, GameResult, Move, MoveList, Outcome, Position, Preset, Reason, Rules, Side};
use hnefi_inference::DeviceChoice;
use hnefi_play::online::{Games, OnlineError, OnlineObserver, OnlineParams, PROTOCOL, run};
use hnefi_run::GameRecord;
use hnefi_search::{Rng, SearchConfig};

fn params(server: &str, user: &str, games: Games) -> OnlineParams {
    OnlineParams {
        server: server.to_owned(),
        protocol: PROTOCOL.to_owned(),
        user: user.to_owned(),
        password: "secret".to_owned(),
        create_account: true,
        games,
        seed: 1,
    }
}

fn offer(side: Side) -> Games {
    Games::Offered { count: 1, side, rated: false, time: Some([Duration::from_secs(900), Duration::from_secs(10)]) }
}

/// Plays as `player` says.
fn play(
    params: &OnlineParams,
    player: &str,
    observer: &mut dyn OnlineObserver,
) -> Result<Vec<GameRecord>, OnlineError> {
    let spec: PlayerSpec = player.parse().expect("a player");
    let mut models = ModelCache::new(DeviceChoice::Cpu, SearchConfig::default());
    run(params, spec.build(&mut models).expect("a player").as_mut(), observer)
}

/// A server that expects and says these lines (`< ` and `> `) and then closes. Returns its address.
fn scripted(script: &'static [&'static str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        let mut reader = BufReader::new(stream);
        for line in script {
            match line.split_at(2) {
                ("> ", said) => writeln!(reader.get_mut(), "{said}").expect("a client that listens"),
                (_, expected) => {
                    let mut found = String::new();
                    reader.read_line(&mut found).expect("a line");
                    if found.trim_end() != expected {
                        writeln!(reader.get_mut(), "? {expected:?} was expected").expect("a client that listens");
                        return;
                    }
                }
            }
        }
    });
    address
}

/// The last result.
#[derive(Default)]
struct Seen(Option<GameResult>);

impl OnlineObserver for Seen {
    fn game_finished(&mut self, _: &GameRecord, result: GameResult) {
        self.0 = Some(result);
    }
}

const LOGIN: &str = "< 32d9a140 create_account me secret";
const OFFER: &str = "< new_game {\"role\":\"Defender\",\"rated\":false,\"time_settings\":{\"Timed\":\
                     {\"add_seconds\":10,\"milliseconds_left\":900000}},\"board_size\":11}";

#[test]
fn a_game_is_offered_and_won_when_the_other_side_resigns() {
    let server = scripted(&[
        LOGIN,
        "> = login",
        "> = display_users me you",
        OFFER,
        "> = new_game 7",
        "> = challenge_requested 7",
        "< join_game 7",
        "> = join_game you me unrated fischer 900000 10 11",
        "> game 7 play attacker a4 b4",
        "> game 8 generate_move defender",
        "> game 7 play attacker resigns ",
        "> = game_over 7 defender_wins",
    ]);
    let mut seen = Seen::default();
    let games = play(&params(&server, "me", offer(Side::Defenders)), "random", &mut seen).expect("a game");
    let [game] = &games[..] else { panic!("{games:?}") };
    assert_eq!((game.players.as_slice(), game.plies.len()), (&["you".to_owned(), "me".to_owned()][..], 1));
    assert_eq!((game.resigned, game.outcome, seen.0), (Some(Side::Attackers), None, Some(GameResult::Win)));
}

#[test]
fn the_server_may_judge_a_game_lost_before_the_board_does() {
    let server = scripted(&[
        LOGIN,
        "> = login",
        OFFER,
        "> = new_game 7",
        "> = join_game you me unrated fischer 900000 10 11",
        "> game 7 play attacker a4 b4",
        "> = game_over 7 attacker_wins",
    ]);
    let mut seen = Seen::default();
    let games = play(&params(&server, "me", offer(Side::Defenders)), "random", &mut seen).expect("a game");
    let [game] = &games[..] else { panic!("{games:?}") };
    assert_eq!((game.outcome, game.resigned, seen.0), (None, Some(Side::Defenders), Some(GameResult::Loss)));
}

/// Plays a game that is written down.
struct Reciter(Vec<Move>);

impl Player for Reciter {
    fn name(&self) -> &str {
        "reciter"
    }

    fn new_game(&mut self) {}

    fn choose(&mut self, game: &Game, _: &mut Rng) -> Result<Choice, PlayerError> {
        Ok(Choice { mv: self.0[game.len()], wdl: None, playouts: 0, evaluations: 0 })
    }
}

#[test]
fn the_server_draws_a_game_by_its_length() {
    let rules = Rules { ply_cap: LONGEST_HTP_GAME, ..Preset::CopenhagenHnefataflOrg.rules() };
    let mut moves = random_opening(&rules, u32::from(LONGEST_HTP_GAME) - 1, 1, 1);
    let mut position = Position::start(&rules);
    for &mv in &moves {
        position.play(mv).expect("legal");
    }
    let mut legal = MoveList::new();
    position.legal_moves(&mut legal);
    let draws = |mv: &Move| position.outcome_after(*mv) == Some(Outcome::Draw { reason: Reason::PlyCap });
    let last = legal.iter().copied().find(draws);
    moves.push(last.expect("one of many moves"));
    let mut script = [LOGIN, "> = login", OFFER, "> = new_game 7", "> = join_game you me unrated un-timed 11"]
        .map(str::to_owned)
        .to_vec();
    for (ply, mv) in moves.iter().enumerate() {
        let (sign, side) = if ply % 2 == 0 { (">", "attacker") } else { ("<", "defender") };
        let [from, to] = [mv.from(), mv.to()].map(|square| square.name(rules.size()));
        script.push(format!("{sign} game 7 play {side} {from} {to}"));
        if ply % 2 == 0 {
            script.push("> game 7 generate_move defender".to_owned());
        }
    }
    script.push("> = draw accept".to_owned());
    let script: Vec<&str> = script.into_iter().map(|line| &*line.leak()).collect();
    let mut seen = Seen::default();
    let games = run(&params(&scripted(script.leak()), "me", offer(Side::Defenders)), &mut Reciter(moves), &mut seen);
    let games = games.expect("a game");
    let [game] = &games[..] else { panic!("{games:?}") };
    assert_eq!((game.plies.len(), game.outcome), (142, Some(Outcome::Draw { reason: Reason::PlyCap })));
    assert_eq!((game.resigned, seen.0), (None, Some(GameResult::Draw)));
    game.check().expect("a sound record");
}

/// Leaves once the second game is offered.
#[derive(Default)]
struct Leaving {
    offered: u32,
    finished: u32,
}

impl OnlineObserver for Leaving {
    fn note(&mut self, text: &str) {
        self.offered += u32::from(text.ends_with("is offered; waiting for an opponent"));
    }

    fn game_finished(&mut self, _: &GameRecord, _: GameResult) {
        self.finished += 1;
    }

    fn should_stop(&mut self) -> bool {
        self.offered == 2
    }
}

#[test]
fn who_leaves_waits_for_no_opponent_and_has_the_games_so_far() {
    let server = scripted(&[
        LOGIN,
        "> = login",
        OFFER,
        "> = new_game 7",
        "> = join_game you me unrated fischer 900000 10 11",
        "> game 7 play attacker resigns ",
        "> = game_over 7 defender_wins",
        OFFER,
        "> = new_game 8",
        "< nothing more, and the server waits",
    ]);
    let games = Games::Offered {
        count: 3,
        side: Side::Defenders,
        rated: false,
        time: Some([Duration::from_secs(900), Duration::from_secs(10)]),
    };
    let mut leaving = Leaving::default();
    let games = play(&params(&server, "me", games), "random", &mut leaving).expect("the games so far");
    assert_eq!((games.len(), leaving.finished, leaving.offered), (1, 1, 2));
}

#[test]
fn a_line_may_come_in_pieces() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        // More than the client waits for a line before it looks whether to leave.
        for piece in ["= lo", "gin\n? no", " offers\n"] {
            stream.write_all(piece.as_bytes()).expect("a client that listens");
            std::thread::sleep(Duration::from_millis(250));
        }
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let error = play(&params(&address, "me", offer(Side::Defenders)), "random", &mut ()).expect_err("refused");
    assert!(error.to_string().ends_with(": no offers"), "{error}");
}

#[test]
fn what_goes_wrong_is_named() {
    const BEGIN: [&str; 6] = [
        LOGIN,
        "> = login",
        OFFER,
        "> = new_game 7",
        "> = join_game you me unrated fischer 900000 10 11",
        "> game 7 generate_move attacker",
    ];
    const A4B4: &str = "> game 7 play attacker a4 b4";
    let failures: [(&'static [&'static str], &str); 11] = [
        (&[LOGIN, "> ? login wrong_version"], "the server refuses \"32d9a140 create_account me\": login wrong_version"),
        (&[LOGIN], "waiting for a line: it was closed"),
        (
            &[BEGIN[0], BEGIN[1], BEGIN[2], BEGIN[3], BEGIN[4], BEGIN[5], "> game 7 play attacker a4 a5"],
            "game 7, ply 0: the other side plays a4-a5: illegal move a4a5: the way is blocked at a5",
        ),
        // Each would move men whose turn it is not, or whose they are not.
        (
            &[BEGIN[0], BEGIN[1], BEGIN[2], BEGIN[3], BEGIN[4], "> game 7 generate_move defender"],
            "game 7, ply 0: the server waits for our move, but it is the turn of the attackers",
        ),
        (
            &[BEGIN[0], BEGIN[1], BEGIN[2], BEGIN[3], BEGIN[4], A4B4, "> game 7 play attacker f4 d4"],
            "game 7, ply 1: the other side plays f4-d4: but it is the turn of the defenders",
        ),
        (
            &[BEGIN[0], BEGIN[1], BEGIN[2], BEGIN[3], BEGIN[4], A4B4, "> game 7 play defender f4 d4"],
            "game 7, ply 1: the server plays our move, f4-d4",
        ),
        (
            &[BEGIN[0], BEGIN[1], BEGIN[2], BEGIN[3], BEGIN[4], "> game 7 play defender resigns "],
            "game 7, ply 0: the server has us resign",
        ),
        (
            &[
                BEGIN[0],
                BEGIN[1],
                BEGIN[2],
                BEGIN[3],
                BEGIN[4],
                "> game 7 play attacker resigns ",
                "> = game_over 7 attacker_wins",
            ],
            "game 7, ply 0: the server counts a win of the attackers; the attackers have resigned",
        ),
        (
            &[BEGIN[0], BEGIN[1], BEGIN[2], BEGIN[3], BEGIN[4], A4B4, "> = draw accept"],
            "game 7, ply 1: the server counts a draw; on the board the game goes on",
        ),
        (
            &[BEGIN[0], BEGIN[1], BEGIN[2], BEGIN[3], "> = join_game you me unrated fischer 900000 10 13"],
            "game 7, ply 0: a board of side 13; expected 11",
        ),
        (
            &[BEGIN[0], BEGIN[1], BEGIN[2], BEGIN[3], "> = join_game you him unrated un-timed 11"],
            "game 7, ply 0: me is not among you and him",
        ),
    ];
    for (script, message) in failures {
        let error =
            play(&params(&scripted(script), "me", offer(Side::Defenders)), "random", &mut ()).expect_err(message);
        assert!(error.to_string().contains(message), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let error = play(&params("127.0.0.1:1", "me", Games::Asked(3)), "random", &mut ()).expect_err("nobody listens");
    assert!(error.to_string().starts_with("server 127.0.0.1:1: connecting: "), "{error}");
}

/// Says which games are offered.
struct Offers(mpsc::Sender<u128>);

impl OnlineObserver for Offers {
    fn note(&mut self, text: &str) {
        if let Some(number) =
            text.strip_prefix("game ").and_then(|rest| rest.strip_suffix(" is offered; waiting for an opponent"))
        {
            self.0.send(number.parse().expect("a number")).expect("the test listens");
        }
    }
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn two_players_meet_at_the_real_server() {
    let Some(program) = std::env::var_os("HNEFI_TAFL_SERVER") else {
        eprintln!("skipped: HNEFI_TAFL_SERVER does not name the program hnefatafl-server");
        return;
    };
    const ADDRESS: &str = "127.0.0.1:49152";
    assert!(TcpStream::connect(ADDRESS).is_err(), "another server listens at {ADDRESS}");
    let home = tempfile::tempdir().expect("a folder");
    let child = Command::new(program)
        .args(["--skip-the-data-file", "--skip-advertising-updates"])
        .env("HOME", home.path())
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .current_dir(home.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let _server = Server(child);
    let end = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(ADDRESS).is_err() {
        assert!(Instant::now() < end, "the server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }

    let (offers, offered) = mpsc::channel();
    let host = std::thread::spawn(move || {
        let games = Games::Offered { count: 2, side: Side::Defenders, rated: true, time: None };
        play(&params(ADDRESS, "host", games), "random", &mut Offers(offers))
    });
    let mut guests = Vec::new();
    for number in 0..2 {
        let game = offered.recv_timeout(Duration::from_secs(60)).expect("a game is offered");
        let mut guest = params(ADDRESS, "guest", Games::Asked(game));
        guest.create_account = number == 0;
        guests.extend(play(&guest, "alphabeta:1", &mut ()).expect("a game to the end"));
    }
    let hosts = host.join().expect("no panic").expect("two games to the end");
    // Both sides saw the same games; where our rules end one, the server does.
    for (ours, theirs) in hosts.iter().zip(&guests) {
        assert_eq!((&ours.plies, ours.outcome, ours.resigned), (&theirs.plies, theirs.outcome, theirs.resigned));
        assert_eq!(ours.players, ["guest", "host"]);
        let mut position = Position::start(&ours.rules);
        for ply in &ours.plies {
            position.play(ply.mv).expect("legal");
        }
        assert_eq!(position.outcome(), ours.outcome);
        match ours.outcome {
            Some(outcome) => assert_ne!(outcome, Outcome::Draw { reason: Reason::Repetition }),
            // The server has judged that the king cannot escape any more.
            None => assert_eq!(ours.resigned, Some(Side::Defenders)),
        }
        println!("{} plies, {:?}, {:?} resigned", ours.plies.len(), ours.outcome, ours.resigned);
    }
    assert_eq!(hosts.len(), 2);
}
