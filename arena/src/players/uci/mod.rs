//! External programs as players, by the text protocol that `hnefi uci` speaks (`docs/PLAYING.md`).
//!
//! | file | what it does |
//! |---|---|
//! | `spec` | the program and its limits by name |
//! | `process` | the program's process and its lines |
//! | `answer` | what a program's lines say |
//!
//! A program that does not answer in time, ends, or plays an illegal move has broken off: the player returns
//! [`PlayerError::Program`], for which a match counts the game as lost, and begins the next game with a new process.

mod answer;
mod process;
mod spec;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hnefi_engine::{Game, Move, NamedRules, Rules};

use super::{Choice, Player, PlayerError, ProgramError, ProgramErrorKind};
use answer::{BestMove, Thought};
use hnefi_search::Rng;

pub use process::Process;
pub use spec::UciSpec;

/// A program behind the protocol.
pub struct UciPlayer {
    name: String,
    spec: UciSpec,
    words: Vec<String>,
    process: Option<Process>,
    /// The state of the running process; `None` before the handshake.
    conversation: Option<Conversation>,
    stop: Arc<AtomicBool>,
}

/// What a process knows by now.
struct Conversation {
    /// Whether it has an option named `Rules`.
    has_rules: bool,
    rules: Option<Rules>,
    /// Whether it knows that the game at hand has begun.
    game: bool,
}

impl UciPlayer {
    /// Starts the program; the handshake follows with the first move, so that a slow start costs nothing.
    ///
    /// # Errors
    /// When the program cannot be started at all.
    pub fn start(name: String, spec: &UciSpec) -> Result<UciPlayer, PlayerError> {
        let refused = |problem: String| PlayerError::Spec { spec: name.clone(), problem };
        let words = spec.words().map_err(refused)?;
        let process = Process::start(&words)
            .map_err(|error| refused(format!("the program {:?} cannot be started: {error}", words[0])))?;
        Ok(UciPlayer {
            name,
            spec: spec.clone(),
            words,
            process: Some(process),
            conversation: None,
            stop: Arc::default(),
        })
    }

    fn answer(&mut self, game: &Game) -> Result<Choice, ProgramError> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(Process::start(&self.words).map_err(|error| {
                let problem = format!("the program cannot be started again: {error}");
                ProgramError::new(ProgramErrorKind::Crash, problem)
            })?),
        };
        process.stop = Arc::clone(&self.stop);
        let conversation = match &mut self.conversation {
            Some(conversation) => conversation,
            none => none.insert(shake_hands(process, &self.spec)?),
        };
        let rules = game.rules();
        if conversation.rules != Some(*rules) {
            if conversation.has_rules {
                process.send(format!("setoption name Rules value {}", NamedRules::from(*rules).name()));
            }
            conversation.rules = Some(*rules);
        }
        if !conversation.game {
            process.send("ucinewgame".to_owned());
            conversation.game = true;
        }
        process.send("isready".to_owned());
        process.until(Instant::now() + self.spec.timeout, "readyok", |line| (line == "readyok").then_some(()))?;
        process.send(command(game));
        let (name, value) = self.spec.go();
        process.send(format!("go {name} {value}"));
        let patience = self.spec.limit.time().unwrap_or_default() + self.spec.timeout;
        let mut thought = Thought::default();
        let best = process.until(Instant::now() + patience, "bestmove", |line| {
            thought.read(line);
            answer::best_move(line)
        })?;
        let illegal = |problem: String| ProgramError::new(ProgramErrorKind::IllegalMove, problem);
        let mv = match best {
            BestMove::None => return Err(illegal("it found no move, but the game goes on".to_owned())),
            BestMove::Text(text) => {
                let mv = Move::parse(&text, rules.size()).map_err(|error| illegal(error.to_string()))?;
                game.position().check(mv).map_err(|error| illegal(error.to_string()))?;
                mv
            }
        };
        Ok(Choice { mv, wdl: thought.wdl, playouts: thought.nodes, evaluations: u64::from(thought.nodes) })
    }
}

/// `uci` and the answer to it, then the options.
fn shake_hands(process: &mut Process, spec: &UciSpec) -> Result<Conversation, ProgramError> {
    process.send("uci".to_owned());
    let mut has_rules = false;
    process.until(Instant::now() + spec.timeout, "uciok", |line| {
        has_rules |= answer::is_option(line, "Rules");
        (line == "uciok").then_some(())
    })?;
    for (name, value) in &spec.options {
        process.send(format!("setoption name {name} value {value}"));
    }
    Ok(Conversation { has_rules, rules: None, game: false })
}

impl Player for UciPlayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn new_game(&mut self) {
        if let Some(conversation) = &mut self.conversation {
            conversation.game = false;
        }
    }

    fn stop_by(&mut self, flag: &Arc<AtomicBool>) {
        self.stop = Arc::clone(flag);
    }

    fn choose(&mut self, game: &Game, _: &mut Rng) -> Result<Choice, PlayerError> {
        if game.ending().is_some() {
            return Err(PlayerError::game_over(&self.name, game));
        }
        let (rules, known) = (NamedRules::from(*game.rules()), self.conversation.as_ref().and_then(|has| has.rules));
        if known != Some(rules.rules()) && !rules.is_said() {
            let problem = format!("a program is told rules by a record, and none says these; the nearest is {rules}");
            return Err(PlayerError::Spec { spec: self.name.clone(), problem });
        }
        self.answer(game).map_err(|error| {
            // Whatever it still says belongs to a game that is over.
            self.process = None;
            self.conversation = None;
            let player = self.name.clone();
            match self.stop.load(Ordering::Relaxed) {
                true => PlayerError::Stopped { player },
                false => PlayerError::Program { player, error },
            }
        })
    }
}

/// The `position` line that tells a game.
fn command(game: &Game) -> String {
    let mut text = match game.start_fen() {
        None => "position startpos".to_owned(),
        Some(fen) => format!("position fen {fen}"),
    };
    if !game.is_empty() {
        text.push_str(" moves");
    }
    for mv in game.moves() {
        text.push(' ');
        text.push_str(&mv.text(game.rules().size()));
    }
    text
}

#[cfg(test)]
mod tests;
