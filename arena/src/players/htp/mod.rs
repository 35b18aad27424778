//! External programs as players, by the Hnefatafl Text Protocol of the `hnefatafl-copenhagen` programs.
//!
//! Such a program is started with `--ai NAME --host HOST` and *connects* to a server, always at port 49152. So for
//! every game the player opens that port on this machine, starts the program, takes its call and closes the port again;
//! games at the same time take turns at it. Then lines go to and fro:
//!
//! ```text
//! -> play attacker a4 b4       a move that was made, by either side before the program came in, by the opponent after
//! -> generate_move
//! <- play defender F4 D4       the program's move
//! ```
//!
//! The program begins at the standard start and knows the rules of hnefatafl.org's Copenhagen alone. It ends when its
//! game is over, and says nothing of the result. By the board the game is over for us, too, and after [`LONGEST_GAME`]
//! plies. Else it has judged that the king cannot escape any more, which no text of the rules says: the attackers have
//! won. Errors are those of [`super::uci`], a resignation, and this end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hnefi_engine::{BoardSize, Game, Move, Ply};

use super::program::Process;
use super::{Choice, Player, PlayerError, ProgramError, ProgramErrorKind};
use hnefi_search::Rng;

mod answer;
mod spec;

use answer::{Answer, role};
pub use spec::HtpSpec;

/// Where the protocol's clients call; no option changes it.
const PORT: u16 = 49152;

/// Plies after which the programs take a game for a draw, since version 6.3.0.
pub const LONGEST_GAME: u16 = 142;

/// Only one game at a time may wait for its program at the port.
static PORT_LOCK: Mutex<()> = Mutex::new(());

/// How often the program's other output is emptied while its move is awaited, so that it never waits for us.
const POLL: Duration = Duration::from_millis(20);

/// A longer line is no move.
const LINE_BYTES: usize = 1 << 12;

/// A program behind the protocol.
pub struct HtpPlayer {
    name: String,
    spec: HtpSpec,
    words: Vec<String>,
    connection: Option<Connection>,
}

/// A program in the middle of a game.
struct Connection {
    process: Process,
    stream: TcpStream,
    /// What it has sent beyond the last whole line.
    heard: Vec<u8>,
    /// The moves it knows.
    told: Vec<Move>,
}

impl HtpPlayer {
    /// Starts the program and takes its call, so that a wrong command shows before any game.
    ///
    /// # Errors
    /// When the program cannot be started or does not call.
    pub fn start(name: String, spec: &HtpSpec) -> Result<HtpPlayer, PlayerError> {
        let refused = |problem: String| PlayerError::Spec { spec: name.clone(), problem };
        let words = spec.words().map_err(refused)?;
        let connection = Connection::begin(&words, Instant::now() + spec.timeout);
        let connection = Some(connection.map_err(|error| refused(error.problem))?);
        Ok(HtpPlayer { name, spec: spec.clone(), words, connection })
    }

    fn answer(&mut self, game: &Game) -> Result<Choice, ProgramError> {
        let size = game.rules().size();
        if size != BoardSize::Eleven || game.start_fen().is_some() {
            let problem = "the protocol knows games from the start on 11x11 only".to_owned();
            return Err(ProgramError { kind: ProgramErrorKind::Crash, problem });
        }
        // A program that knows other moves, taken back ones say, cannot be told; a new one can.
        let knows = |told: &[Move]| told.len() <= game.len() && game.moves().zip(told).all(|(mv, &told)| mv == told);
        if self.connection.as_ref().is_some_and(|connection| !knows(&connection.told)) {
            self.connection = None;
        }
        let deadline = Instant::now() + self.spec.timeout;
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(Connection::begin(&self.words, deadline)?),
        };
        for ply in &game.plies()[connection.told.len()..] {
            connection.play(ply, size)?;
        }
        connection.send("generate_move")?;
        let answer = connection.hear(deadline)?;
        let mv = match answer::read(&answer, game.position()).map_err(illegal)? {
            Answer::Move(mv) => mv,
            Answer::Resignation => {
                return Err(ProgramError { kind: ProgramErrorKind::Resigned, problem: "it resigned".to_owned() });
            }
        };
        game.position().check(mv).map_err(|error| illegal(error.to_string()))?;
        connection.told.push(mv);
        Ok(Choice { mv, wdl: None, playouts: 0, evaluations: 0 })
    }
}

/// Opens the port. Systems lend it to outgoing calls too, so it may be somebody else's for a while.
fn open_port(deadline: Instant) -> std::io::Result<TcpListener> {
    loop {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && Instant::now() < deadline => {
                std::thread::sleep(POLL);
            }
            opened => return opened,
        }
    }
}

impl Connection {
    /// Opens the port, starts the program and takes its call.
    fn begin(words: &[String], deadline: Instant) -> Result<Connection, ProgramError> {
        let crash = |problem: String| ProgramError { kind: ProgramErrorKind::Crash, problem };
        let _lock = PORT_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let listener = open_port(deadline)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(|error| crash(format!("port {PORT}, where the program calls, cannot be opened: {error}")))?;
        let mut process = Process::start(words)
            .map_err(|error| crash(format!("the program {:?} cannot be started: {error}", words[0])))?;
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    // From here on it may wait, for a glance at a time.
                    let ready = stream
                        .set_nonblocking(false)
                        .and_then(|()| stream.set_read_timeout(Some(POLL)))
                        .and_then(|()| stream.set_nodelay(true));
                    ready.map_err(|error| crash(format!("its connection cannot be used: {error}")))?;
                    return Ok(Connection { process, stream, heard: Vec::new(), told: Vec::new() });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(crash(format!("its call cannot be taken: {error}"))),
            }
            let awaited = format!("its call at port {PORT}");
            if Instant::now() >= deadline {
                return Err(ProgramError { kind: ProgramErrorKind::Timeout, problem: format!("no sign of {awaited}") });
            }
            process.let_talk(Instant::now() + POLL, &awaited)?;
        }
    }

    fn send(&mut self, line: &str) -> Result<(), ProgramError> {
        let sent = self.stream.write_all(format!("{line}\n").as_bytes());
        sent.map_err(|error| self.gone(format!("{line:?} cannot be sent to it: {error}")))
    }

    /// What a connection that is broken means: how the program ended, and what it complained of, is worth a moment.
    fn gone(&mut self, problem: String) -> ProgramError {
        let last = self.process.let_talk(Instant::now() + Duration::from_secs(1), "its move");
        if !self.told.is_empty() && self.process.ended_well() {
            let problem = "it has ended the game, as it does when the king cannot escape any more".to_owned();
            return ProgramError { kind: ProgramErrorKind::Ended, problem };
        }
        last.err().unwrap_or(ProgramError { kind: ProgramErrorKind::Crash, problem })
    }

    fn play(&mut self, &Ply { side, mv, .. }: &Ply, size: BoardSize) -> Result<(), ProgramError> {
        let role = role(side);
        self.send(&format!("play {role} {} {}", mv.from().name(size), mv.to().name(size)))?;
        self.told.push(mv);
        Ok(())
    }

    /// The next line it sends that says anything.
    fn hear(&mut self, deadline: Instant) -> Result<String, ProgramError> {
        let began = Instant::now();
        let mut bytes = [0; 1024];
        loop {
            while let Some(end) = self.heard.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.heard.drain(..=end).collect();
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                if !text.is_empty() {
                    return Ok(text);
                }
            }
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(self.gone("it hung up before its move".to_owned())),
                Ok(count) => self.heard.extend_from_slice(&bytes[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(self.gone(format!("its move cannot be read: {error}"))),
            }
            if self.heard.len() > LINE_BYTES {
                let problem = format!("it sent a line of more than {LINE_BYTES} bytes before its move");
                return Err(ProgramError { kind: ProgramErrorKind::Crash, problem });
            }
            if Instant::now() >= deadline {
                let problem = format!("no move within {:.1} s", began.elapsed().as_secs_f64());
                return Err(ProgramError { kind: ProgramErrorKind::Timeout, problem });
            }
            // A program that has ended shows at the connection; here only its chatter is taken off its hands.
            let _ = self.process.let_talk(Instant::now(), "its move");
        }
    }
}

fn illegal(problem: String) -> ProgramError {
    ProgramError { kind: ProgramErrorKind::IllegalMove, problem }
}

impl Player for HtpPlayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn new_game(&mut self) {
        // One that knows no move yet is at the start.
        self.connection.take_if(|connection| !connection.told.is_empty());
    }

    fn choose(&mut self, game: &Game, _: &mut Rng) -> Result<Choice, PlayerError> {
        if game.ending().is_some() {
            return Err(PlayerError::game_over(&self.name, game));
        }
        self.answer(game).map_err(|error| {
            self.connection = None;
            PlayerError::Program { player: self.name.clone(), error }
        })
    }
}

#[cfg(test)]
mod tests;
