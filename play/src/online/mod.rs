//! A player at a server that speaks the protocol of hnefatafl.org: lines of text over TCP.
//!
//! | file | what it does |
//! |---|---|
//! | `line` | what the server's lines say, and the lines it is sent |
//!
//! One game after another: it is offered, or asked for by its number; the server says whose move it is and tells the
//! other side's moves, and at the end who has won. The rules are [`Preset::CopenhagenHnefataflOrg`] with a draw after
//! [`LONGEST_HTP_GAME`] plies. The server keeps the clocks; a player knows only its own limit. A line that does not fit
//! the game ends it with an error: nothing that was not played is saved.

mod line;

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hnefi_arena::players::{LONGEST_HTP_GAME, Player};
use hnefi_engine::{Game, GameResult, Move, Preset, Rules, Side};
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_search::rng_for;
use serde::Serialize;

use line::Line;

/// What a client tells the server of hnefatafl.org to show that it speaks its protocol, since version 6 of the crate
/// `hnefatafl-copenhagen`.
pub const PROTOCOL: &str = "32d9a140";

/// The port of hnefatafl.org.
pub const PORT: u16 = 49_152;

/// The longest line that is read, in bytes.
const LONGEST_LINE: u64 = 1 << 22;

/// How long a connection may take.
const CONNECTING: Duration = Duration::from_secs(20);

/// How long a line is waited for before the observer is asked again whether to leave.
const ATTENTION: Duration = Duration::from_millis(100);

/// Who plays where.
#[derive(Clone, Debug, PartialEq)]
pub struct OnlineParams {
    /// Host and port.
    pub server: String,
    /// What the server checks before the name: [`PROTOCOL`].
    pub protocol: String,
    /// The account's name.
    pub user: String,
    /// Its password; may be empty.
    pub password: String,
    /// Make the account first.
    pub create_account: bool,
    /// Where the games come from.
    pub games: Games,
    /// Seed of the player's choices.
    pub seed: u64,
}

/// Where the games come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Games {
    /// Offer games, one after another, and play whoever accepts.
    Offered {
        /// How many.
        count: u32,
        /// Our side.
        side: Side,
        /// Whether they count for the ratings.
        rated: bool,
        /// The time of each side for the game and what every move adds; `None` for games without clocks.
        time: Option<[Duration; 2]>,
    },
    /// Play one game that somebody offers, by its number.
    Asked(u128),
}

/// Is told what happens.
pub trait OnlineObserver {
    /// Something that a person may want to know, in words.
    fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// A game has ended; the result is ours.
    fn game_finished(&mut self, game: &GameRecord, result: GameResult) {
        let _ = (game, result);
    }

    /// Whether to leave. Asked all the time while no game is under way; a game that has begun is played to its end.
    fn should_stop(&mut self) -> bool {
        false
    }
}

impl OnlineObserver for () {}

/// Why playing at a server ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnlineError {
    /// No connection, or it broke.
    #[error("server {server}: {doing}: {source}")]
    Connection {
        /// Host and port.
        server: String,
        /// What was being done.
        doing: &'static str,
        /// What the system says.
        source: std::io::Error,
    },
    /// The server refuses something.
    #[error("the server refuses {asked:?}: {answer}")]
    Refused {
        /// What was asked, without the password.
        asked: String,
        /// Its answer.
        answer: String,
    },
    /// The server's game is not the game of our rules.
    #[error("game {game}, ply {ply}: {problem}")]
    Game {
        /// The game's number at the server.
        game: u128,
        /// Plies played.
        ply: usize,
        /// What was found and expected.
        problem: String,
    },
    /// Our player failed; it has resigned.
    #[error("game {game}: {player} resigns, since it chose no move: {problem}")]
    Player {
        /// The game's number at the server.
        game: u128,
        /// The player's name.
        player: String,
        /// What it says.
        problem: String,
    },
}

/// Plays the games that `params` asks for, or as many as there are until the observer stops it, and returns their
/// records, in which players have their names at the server.
///
/// # Errors
/// When the server cannot be reached or refuses the account or a move, the connection breaks, or the player fails.
pub fn run(
    params: &OnlineParams,
    player: &mut dyn Player,
    observer: &mut dyn OnlineObserver,
) -> Result<Vec<GameRecord>, OnlineError> {
    let mut client = Client::connect(params)?;
    if !client.log_in(params, observer)? {
        return Ok(Vec::new());
    }
    observer.note(&format!("logged in at {} as {}", params.server, params.user));
    let count = match params.games {
        Games::Offered { count, .. } => count,
        Games::Asked(_) => 1,
    };
    let mut records = Vec::new();
    for number in 0..count {
        if observer.should_stop() {
            break;
        }
        let Some(mut table) = client.sit_down(params, observer)? else { break };
        player.new_game();
        let record = client.play(&mut table, params, u64::from(number), player)?;
        observer.game_finished(&record, line::result(table.winner, table.side));
        records.push(record);
    }
    Ok(records)
}

/// A game at the server.
struct Table {
    game: u128,
    side: Side,
    /// Attackers first.
    names: [String; 2],
    winner: Option<Side>,
}

/// An offer, as the server reads it.
#[derive(Serialize)]
struct Offer {
    role: &'static str,
    rated: bool,
    time_settings: TimeSettings,
    board_size: usize,
}

#[derive(Serialize)]
enum TimeSettings {
    Timed { add_seconds: u64, milliseconds_left: u128 },
    UnTimed,
}

struct Client {
    server: String,
    reader: BufReader<TcpStream>,
    /// The last line sent, for errors.
    asked: String,
}

impl Client {
    fn connect(params: &OnlineParams) -> Result<Client, OnlineError> {
        use std::net::ToSocketAddrs;
        let failed = |source| OnlineError::Connection { server: params.server.clone(), doing: "connecting", source };
        let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address");
        for address in params.server.to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&address, CONNECTING) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(ATTENTION)).map_err(failed)?;
                    let reader = BufReader::new(stream);
                    return Ok(Client { server: params.server.clone(), reader, asked: String::new() });
                }
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }

    fn send(&mut self, text: &str) -> Result<(), OnlineError> {
        self.asked = text.to_owned();
        let sent = self.reader.get_mut().write_all(format!("{text}\n").as_bytes());
        sent.map_err(|source| self.broken("sending", source))
    }

    /// The next line for a player; none if `stop` says so before it has come. A refusal is an error.
    fn next(&mut self, mut stop: impl FnMut() -> bool) -> Result<Option<Line>, OnlineError> {
        let mut bytes = Vec::new();
        while !stop() {
            let room = LONGEST_LINE - bytes.len() as u64;
            match (&mut self.reader).take(room).read_until(b'\n', &mut bytes) {
                Ok(_) => {}
                // Windows has the other name for it. What has come of a line remains.
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
                Err(source) => return Err(self.broken("waiting for a line", source)),
            }
            if bytes.last() != Some(&b'\n') {
                let problem = if bytes.len() as u64 == LONGEST_LINE { "the line is too long" } else { "it was closed" };
                return Err(self.broken("waiting for a line", std::io::Error::other(problem)));
            }
            match Line::read(&String::from_utf8_lossy(&bytes)) {
                Line::Other => {}
                Line::Refused(answer) => return Err(OnlineError::Refused { asked: self.asked.clone(), answer }),
                line => return Ok(Some(line)),
            }
            bytes.clear();
        }
        Ok(None)
    }

    fn broken(&self, doing: &'static str, source: std::io::Error) -> OnlineError {
        OnlineError::Connection { server: self.server.clone(), doing, source }
    }

    /// Returns false if stopped before the server has answered.
    fn log_in(&mut self, params: &OnlineParams, observer: &mut dyn OnlineObserver) -> Result<bool, OnlineError> {
        let command = if params.create_account { "create_account" } else { "login" };
        let asked = format!("{} {command} {}", params.protocol, params.user);
        self.send(format!("{asked} {}", params.password).trim_end())?;
        self.asked = asked;
        while let Some(line) = self.next(|| observer.should_stop())? {
            if line == Line::LoggedIn {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Offers a game or asks for one, and waits until it begins; none if stopped before.
    fn sit_down(
        &mut self,
        params: &OnlineParams,
        observer: &mut dyn OnlineObserver,
    ) -> Result<Option<Table>, OnlineError> {
        let mut ours = match &params.games {
            Games::Offered { side, rated, time, .. } => {
                let time_settings = time.map_or(TimeSettings::UnTimed, |[main, added]| TimeSettings::Timed {
                    add_seconds: added.as_secs(),
                    milliseconds_left: main.as_millis(),
                });
                let role = match side {
                    Side::Attackers => "Attacker",
                    Side::Defenders => "Defender",
                };
                let offer = Offer { role, rated: *rated, time_settings, board_size: 11 };
                let offer = serde_json::to_string(&offer).expect("plain data");
                self.send(&format!("new_game {offer}"))?;
                None
            }
            Games::Asked(game) => {
                self.send(&format!("join_game_pending {game}"))?;
                Some(*game)
            }
        };
        // Whoever has been accepted is not left alone.
        let mut accepted = false;
        while let Some(line) = self.next(|| !accepted && observer.should_stop())? {
            match line {
                Line::Offered(game) => {
                    observer.note(&format!("game {game} is offered; waiting for an opponent"));
                    ours = Some(game);
                }
                Line::Asked(game) => observer.note(&format!("asked to play game {game}; waiting for an answer")),
                Line::Challenged(game) if ours == Some(game) => {
                    self.send(&format!("join_game {game}"))?;
                    accepted = true;
                }
                Line::Begun { attackers, defenders, board } => {
                    let Some(game) = ours else { continue };
                    let names = [attackers, defenders];
                    let side = Side::BOTH.into_iter().find(|side| names[side.index()] == params.user);
                    let problem = match (side, board.as_str()) {
                        (Some(side), "11") => {
                            observer.note(&format!("game {game} begins: {} against {}", names[0], names[1]));
                            return Ok(Some(Table { game, side, names, winner: None }));
                        }
                        (None, _) => format!("{} is not among {} and {}", params.user, names[0], names[1]),
                        (_, other) => format!("a board of side {other}; expected 11"),
                    };
                    return Err(OnlineError::Game { game, ply: 0, problem });
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Plays one game to its end.
    fn play(
        &mut self,
        table: &mut Table,
        params: &OnlineParams,
        number: u64,
        player: &mut dyn Player,
    ) -> Result<GameRecord, OnlineError> {
        let rules = Rules { ply_cap: LONGEST_HTP_GAME, ..Preset::CopenhagenHnefataflOrg.rules() };
        let mut game = Game::new(&rules);
        let mut plies = Vec::new();
        let mut resigned = None;
        loop {
            let (id, ply, outcome, mover) = (table.game, game.len(), game.outcome(), game.position().side_to_move());
            let fault = |problem: String| OnlineError::Game { game: id, ply, problem };
            let turn = |side: Side| match outcome {
                Some(outcome) => Err(format!("but the game is over: {outcome}")),
                None if mover != side => Err(format!("but it is the turn of the {mover}")),
                None => Ok(()),
            };
            let Some(line) = self.next(|| false)? else { continue };
            match line {
                Line::ToMove { game: named, side } if named == id && side == table.side => {
                    turn(side).map_err(|problem| fault(format!("the server waits for our move, {problem}")))?;
                    let mut rng = rng_for(&[params.seed, number, plies.len() as u64]);
                    let choice = match player.choose(&game, &mut rng) {
                        Ok(choice) => choice,
                        Err(error) => {
                            self.send(&line::resign(id, side))?;
                            let player = player.name().to_owned();
                            return Err(OnlineError::Player { game: id, player, problem: error.to_string() });
                        }
                    };
                    game.play(choice.mv).map_err(|error| fault(error.to_string()))?;
                    self.send(&line::play(id, side, choice.mv, &rules))?;
                    plies.push(PlyRecord::unsearched(choice.mv));
                }
                Line::Moved { game: named, side, from, to } if named == id => {
                    if side == table.side {
                        return Err(fault(format!("the server plays our move, {from}-{to}")));
                    }
                    let told = |problem: String| fault(format!("the other side plays {from}-{to}: {problem}"));
                    turn(side).map_err(told)?;
                    let mv =
                        Move::parse(&format!("{from}-{to}"), rules.size()).map_err(|error| told(error.to_string()))?;
                    game.play(mv).map_err(|error| told(error.to_string()))?;
                    plies.push(PlyRecord::unsearched(mv));
                }
                Line::Resigned { game: named, side } if named == id => {
                    if side == table.side {
                        return Err(fault("the server has us resign".to_owned()));
                    }
                    resigned = Some(side);
                }
                line @ (Line::Over { .. } | Line::Drawn) => {
                    let winner = match line {
                        Line::Over { game: named, .. } if named != id => continue,
                        Line::Over { winner, .. } => winner,
                        _ => None,
                    };
                    table.winner = winner;
                    let board = outcome.map(|outcome| (outcome.winner(), format!("on the board it is {outcome}")));
                    let resigned_side =
                        resigned.map(|side| (Some(side.opponent()), format!("the {side} have resigned")));
                    // Nothing but the board ends a game that nobody has won.
                    let open = winner.is_none().then(|| (Some(mover), "on the board the game goes on".to_owned()));
                    if let Some((expected, known)) = board.or(resigned_side).or(open)
                        && expected != winner
                    {
                        let said = winner.map_or("a draw".to_owned(), |side| format!("a win of the {side}"));
                        return Err(fault(format!("the server counts {said}; {known}")));
                    }
                    // A resignation, a clock that has run out, or the server's judgement that the king cannot escape
                    // any more; a record knows them as one.
                    if outcome.is_none() {
                        resigned = resigned.or(winner.map(Side::opponent));
                    }
                    return Ok(GameRecord {
                        game: number,
                        seed: params.seed,
                        rules,
                        start: None,
                        players: table.names.clone(),
                        plies,
                        outcome,
                        resigned,
                        would_have_resigned: None,
                    });
                }
                _ => {}
            }
        }
    }
}
