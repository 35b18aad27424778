//! The board as lines of text, for pipes, scripts, screen readers and terminals that can do no more.

mod command;
#[cfg(test)]
mod tests;

use std::io::{BufRead, Write};

use hnefi_arena::players::{Choice, Player};
use hnefi_engine::{Move, Side};
use hnefi_inference::printable_lines;
use hnefi_search::{Rng, rng_for};

use crate::{PlayError, PlaySetup, save, save_numbered};
use command::{Command, HELP};
use hnefi_record::{Chances, Seat, Session, words};

/// Plays at a table until `quit` or the end of the input.
///
/// # Errors
/// When the start position is none or a stream fails, or when the person leaves because a player failed.
pub fn run(table: PlaySetup, input: impl BufRead, output: impl Write) -> Result<(), PlayError> {
    let session = table.session()?;
    let rng = rng_for(&[table.seed, 0]);
    Plain { table, session, rng, stuck: None, input, output }.run()
}

struct Plain<R, W> {
    table: PlaySetup,
    session: Session,
    rng: Rng,
    /// The stamp of a position whose player failed, and how: the person may still undo or save.
    stuck: Option<(u64, PlayError)>,
    input: R,
    output: W,
}

/// Whether the conversation goes on.
#[derive(PartialEq)]
enum Next {
    Go,
    Quit,
}

impl<R: BufRead, W: Write> Plain<R, W> {
    fn run(&mut self) -> Result<(), PlayError> {
        self.introduce()?;
        self.board()?;
        let mut announced = None;
        loop {
            while self.session.waits_for_player() && !self.is_stuck() {
                if let Err(error) = self.player_moves() {
                    self.fail(error)?;
                }
            }
            if let Some(ending) = self.session.ending()
                && announced != Some(self.session.stamp())
            {
                announced = Some(self.session.stamp());
                self.say(&words::ending(ending, self.session.rules()))?;
            }
            let next = match self.read()? {
                Some(line) => self.obey(&line)?,
                None => Next::Quit,
            };
            if next == Next::Quit {
                return if self.is_stuck() {
                    self.stuck.take().map_or(Ok(()), |(_, error)| Err(error))
                } else {
                    Ok(())
                };
            }
        }
    }

    fn is_stuck(&self) -> bool {
        self.stuck.as_ref().is_some_and(|&(stamp, _)| stamp == self.session.stamp())
    }

    /// A player failed: the game stays as it is. A failing stream is the end of the conversation.
    fn fail(&mut self, error: PlayError) -> Result<(), PlayError> {
        if matches!(error, PlayError::Stream { .. }) {
            return Err(error);
        }
        self.say(&format!("{error}.\nThe game stays as it is: undo, save or quit."))?;
        self.stuck = Some((self.session.stamp(), error));
        Ok(())
    }

    fn introduce(&mut self) -> Result<(), PlayError> {
        let mut text = words::rules(self.session.rules());
        for side in Side::BOTH {
            text.push_str(&format!("\n{}: {}", words::side(side), words::seat(self.session.seat(side))));
        }
        text.push_str("\nA move is two squares, such as a4b4; `help` lists the commands.");
        self.say(&text)
    }

    /// Prompts and reads a line, `None` at the end of the input.
    fn read(&mut self) -> Result<Option<String>, PlayError> {
        let prompt = match self.session.ending() {
            None => self.session.side_to_move().as_str(),
            Some(_) => "game over",
        };
        let mut line = Vec::new();
        let stream = PlayError::stream("reading commands");
        write!(self.output, "{prompt}> ").and_then(|()| self.output.flush()).map_err(PlayError::stream("writing"))?;
        if self.input.read_until(b'\n', &mut line).map_err(stream)? == 0 {
            self.say("")?;
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
    }

    fn obey(&mut self, line: &str) -> Result<Next, PlayError> {
        let command = match Command::parse(line, self.session.rules().size()) {
            Ok(command) => command,
            Err(problem) => return self.say(&problem).map(|()| Next::Go),
        };
        match command {
            Command::Nothing => {}
            Command::Quit => return Ok(Next::Quit),
            Command::Help => self.say(HELP)?,
            Command::Board => self.board()?,
            Command::Fen => self.say(&self.session.position().fen())?,
            Command::Moves => self.moves()?,
            Command::Hint => self.hint()?,
            Command::Play(mv) => self.person_moves(mv)?,
            Command::Undo => self.back_or_forth(Session::undo, "There is nothing to take back.")?,
            Command::Redo => self.back_or_forth(Session::redo, "There is nothing to play again.")?,
            // The loop announces the end.
            Command::Resign => {
                if let Err(error) = self.session.resign() {
                    self.say(&format!("{error}."))?;
                }
            }
            Command::New { swap } => self.new_game(swap)?,
            Command::Save(path) => {
                let record = self.session.record(self.table.seed);
                let saved = match path {
                    Some(path) => save(record, &path).map(|()| path.display().to_string()),
                    None => save_numbered(&record, &self.table.folder)
                        .map(|[pgn, jsonl]| format!("{} and {}", pgn.display(), jsonl.display())),
                };
                match saved {
                    Ok(names) => self.say(&format!("Saved as {names}."))?,
                    Err(error) => self.say(&error.to_string())?,
                }
            }
        }
        Ok(Next::Go)
    }

    fn person_moves(&mut self, mv: Move) -> Result<(), PlayError> {
        if self.session.waits_for_player() {
            let side = self.session.side_to_move();
            return self.say(&format!("The {side} are to move, and their player failed: undo, save or quit."));
        }
        match self.session.play(mv) {
            Ok(played) => {
                if !played.captured.is_empty() {
                    let text = words::ply(&played, self.session.rules());
                    self.say(&format!("{} play {text}.", words::side(played.side)))?;
                }
                self.board()
            }
            Err(illegal) => self.say(&format!("{illegal}.")),
        }
    }

    fn player_moves(&mut self) -> Result<(), PlayError> {
        let side = self.session.side_to_move();
        let Seat::Player(player) = &mut self.table.seats[side.index()] else {
            unreachable!("the session waits for a player only where one sits");
        };
        let choice = choose(player.as_mut(), &self.session, &mut self.rng)?;
        let name = player.name().to_owned();
        note(&mut self.session, &choice);
        let view = choice.wdl.map(|wdl| format!(" ({})", words::chances(Chances::of(wdl, side))));
        let played = self.session.play(choice.mv).map_err(|illegal| PlayError::PlayerCheats { name, illegal })?;
        let text = words::ply(&played, self.session.rules());
        self.say(&format!("{} play {text}{}.", words::side(side), view.unwrap_or_default()))?;
        self.board()
    }

    fn hint(&mut self) -> Result<(), PlayError> {
        if self.session.ending().is_some() {
            return self.say("The game is over.");
        }
        let Some(adviser) = &mut self.table.adviser else {
            return self.say("Nobody is here to give a hint.");
        };
        let choice = match choose(adviser.as_mut(), &self.session, &mut self.rng) {
            Ok(choice) => choice,
            Err(error) => return self.say(&format!("{error}.")),
        };
        note(&mut self.session, &choice);
        let view = choice.wdl.map(|wdl| words::chances(Chances::of(wdl, self.session.side_to_move())));
        let mv = words::mv(choice.mv, self.session.rules());
        self.say(&format!("{mv}{}", view.map_or(String::new(), |view| format!(" ({view})"))))
    }

    fn moves(&mut self) -> Result<(), PlayError> {
        let size = self.session.rules().size();
        let moves = self.session.moves();
        let mut lines = vec![format!("{} legal moves", moves.len())];
        for from in self.session.movable() {
            let targets: Vec<_> = self.session.targets(from).map(|square| square.name(size)).collect();
            lines.push(format!("{}: {}", from.name(size), targets.join(" ")));
        }
        self.say(&lines.join("\n"))
    }

    fn back_or_forth(&mut self, step: fn(&mut Session) -> bool, nothing: &str) -> Result<(), PlayError> {
        if step(&mut self.session) { self.board() } else { self.say(nothing) }
    }

    fn new_game(&mut self, swap: bool) -> Result<(), PlayError> {
        self.session.restart(swap);
        if swap {
            self.table.seats.swap(0, 1);
        }
        for seat in &mut self.table.seats {
            if let Seat::Player(player) = seat {
                player.new_game();
            }
        }
        if let Some(adviser) = &mut self.table.adviser {
            adviser.new_game();
        }
        self.introduce()?;
        self.board()
    }

    fn board(&mut self) -> Result<(), PlayError> {
        let position = self.session.position();
        let diagram = position.board().diagram(position.rules());
        self.say(&format!("\n{}\n", diagram.trim_end()))
    }

    fn say(&mut self, text: &str) -> Result<(), PlayError> {
        writeln!(self.output, "{}", printable_lines(text)).map_err(PlayError::stream("writing"))
    }
}

fn choose(player: &mut dyn Player, session: &Session, rng: &mut Rng) -> Result<Choice, PlayError> {
    player.choose(session.game(), rng).map_err(|error| PlayError::of_player(player.name(), error))
}

/// Keeps what the player thinks of the position on the board.
fn note(session: &mut Session, choice: &Choice) {
    if let Some(wdl) = choice.wdl {
        session.note_view(Chances::of(wdl, session.side_to_move()), choice.playouts);
    }
}
