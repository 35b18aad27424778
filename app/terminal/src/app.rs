//! What the terminal board knows: the session, the thinkers, the cursor, and what is in front of the board.
//!
//! Nothing here draws or reads the terminal: [`App::apply`] takes what a person asks for, [`App::tick`] what the
//! players have thought, and both can be called by a test.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hnefi_engine::{Bitboard, Move, Side, Square};

use super::board::Geometry;
use super::input::Action;
use crate::thinker::Thinker;
use hnefi_play::{PlayError, PlaySetup, save_numbered};
use hnefi_record::{Chances, Seat, Session, words};

/// What stands in front of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// Nothing.
    Board,
    /// The page of keys.
    Help,
    /// A question that `y` answers with yes, and any other key that does something with no.
    Question(Question),
}

/// What would lose something and is asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Resign,
    New { swap: bool },
    Quit,
}

/// The terminal board's state.
pub(super) struct App {
    pub(super) session: Session,
    pub(super) cursor: Square,
    pub(super) selected: Option<Square>,
    pub(super) flipped: bool,
    pub(super) front: Front,
    /// An answer to the latest action; it goes with the next one.
    pub(super) notice: Option<String>,
    pub(super) paused: bool,
    pub(super) quit: bool,
    players: [Option<Thinker>; 2],
    adviser: Option<Thinker>,
    /// The adviser's move for the position of that stamp.
    advice: Option<(u64, Move)>,
    /// The stamp of the position a hint is wanted for.
    hint_for: Option<u64>,
    /// When the present position came up, as the latest tick knows.
    since: Option<Instant>,
    seed: u64,
    folder: PathBuf,
    pace: Duration,
}

impl App {
    /// Sits everyone down.
    ///
    /// # Errors
    /// When the start position does not stand under the rules.
    pub(super) fn new(table: PlaySetup) -> Result<App, PlayError> {
        let session = table.session()?;
        let n = session.rules().size().side();
        let [attackers, defenders] = table.seats;
        let thinker = |seat, purpose: u64| match seat {
            Seat::Person => None,
            Seat::Player(player) => Some(Thinker::spawn(player, table.seed, purpose)),
        };
        Ok(App {
            cursor: Square::new((n / 2) * n + n / 2),
            selected: None,
            flipped: false,
            front: Front::Board,
            notice: None,
            paused: false,
            quit: false,
            players: [thinker(attackers, 0), thinker(defenders, 1)],
            adviser: table.adviser.map(|adviser| Thinker::spawn(adviser, table.seed, 2)),
            advice: None,
            hint_for: None,
            since: None,
            seed: table.seed,
            folder: table.folder,
            pace: table.pace,
            session,
        })
    }

    /// Takes what the players have thought and asks the next question.
    pub(super) fn tick(&mut self, now: Instant) {
        self.since.get_or_insert(now);
        if let Err(error) = self.collect_move(now) {
            self.paused = true;
            self.notice = Some(format!("{error}. Press p to try again."));
        }
        if let Err(error) = self.collect_advice() {
            self.adviser = None;
            self.notice = Some(format!("{error}. There are no more hints."));
        }
        self.ask(now);
    }

    /// How long the player to move has been thinking, if one is.
    pub(super) fn thinking_for(&self, now: Instant) -> Option<Duration> {
        let thinker = self.players[self.session.side_to_move().index()].as_ref()?;
        (thinker.thinking() == Some(self.session.stamp()))
            .then(|| now.saturating_duration_since(self.since.unwrap_or(now)))
    }

    /// The hinted move, when one is wanted and known.
    pub(super) fn hint(&self) -> Option<Move> {
        let stamp = Some(self.session.stamp());
        self.advice.filter(|&(of, _)| Some(of) == stamp && self.hint_for == stamp).map(|(_, mv)| mv)
    }

    /// Whether a hint is wanted and not there yet.
    pub(super) fn waits_for_hint(&self) -> bool {
        self.hint_for == Some(self.session.stamp()) && self.hint().is_none()
    }

    /// Where the piece in hand may go.
    pub(super) fn targets(&self) -> Bitboard {
        self.selected.map_or(Bitboard::EMPTY, |from| self.session.targets(from))
    }

    /// Does what a person asks for; `geometry` is where the board was drawn last.
    pub(super) fn apply(&mut self, action: Action, geometry: Option<&Geometry>) {
        if action == Action::Abort {
            self.quit = true;
        }
        match std::mem::replace(&mut self.front, Front::Board) {
            Front::Board => self.act(action, geometry),
            Front::Help => {}
            // Letting go of the mouse button is no answer.
            front if matches!(action, Action::DropAt(_)) => self.front = front,
            front if action == Action::Save => {
                self.save();
                self.front = front;
            }
            Front::Question(question) if action == Action::Confirm => self.confirmed(question),
            Front::Question(_) => {}
        }
    }

    fn act(&mut self, action: Action, geometry: Option<&Geometry>) {
        if !matches!(action, Action::DropAt(_)) {
            self.notice = None;
        }
        match action {
            Action::Step(right, down) => self.step(right, down),
            Action::Pick => self.pick(self.cursor),
            Action::PickAt(point) => {
                if let Some(square) = geometry.and_then(|geometry| geometry.square_at(point)) {
                    self.cursor = square;
                    self.pick(square);
                }
            }
            Action::DropAt(point) => {
                let square = geometry.and_then(|geometry| geometry.square_at(point));
                if let Some(square) = square.filter(|&square| self.targets().contains(square)) {
                    self.cursor = square;
                    self.pick(square);
                }
            }
            Action::Cancel => self.selected = None,
            Action::NextPiece => self.next_piece(),
            Action::Undo => self.back_or_forth(Session::undo, "There is nothing to take back."),
            Action::Redo => self.back_or_forth(Session::redo, "There is nothing to play again."),
            Action::Hint => self.want_hint(),
            Action::Flip => self.flipped = !self.flipped,
            Action::Pause => {
                self.paused = !self.paused;
                self.notice = Some(if self.paused { "Paused: p goes on." } else { "It goes on." }.to_owned());
            }
            Action::Resign => self.ask_first(Question::Resign),
            Action::New { swap } => self.ask_first(Question::New { swap }),
            Action::Quit => self.ask_first(Question::Quit),
            Action::Save => self.save(),
            Action::Help => self.front = Front::Help,
            Action::Abort | Action::Confirm => {}
        }
    }

    /// Asks before a game in progress is lost.
    fn ask_first(&mut self, question: Question) {
        let has_moves = !self.session.game().is_empty() || self.session.has_taken_back();
        let in_progress = self.session.ending().is_none() && has_moves;
        if in_progress && self.session.has_person() {
            self.front = Front::Question(question);
        } else {
            self.confirmed(question);
        }
    }

    fn confirmed(&mut self, question: Question) {
        match question {
            Question::Quit => self.quit = true,
            Question::Resign => match self.session.resign() {
                Ok(_) => self.selected = None,
                Err(error) => self.notice = Some(format!("{error}.")),
            },
            Question::New { swap } => {
                self.session.restart(swap);
                if swap {
                    self.players.swap(0, 1);
                }
                for thinker in self.players.iter_mut().chain([&mut self.adviser]).flatten() {
                    thinker.new_game();
                }
                self.changed();
            }
        }
    }

    /// Moves the cursor as the screen shows it, without leaving the board.
    fn step(&mut self, right: i16, down: i16) {
        let n = self.session.rules().size().side() as i16;
        let (right, up) = if self.flipped { (-right, down) } else { (right, -down) };
        let (file, rank) = (self.cursor.index() as i16 % n, self.cursor.index() as i16 / n);
        let clamp = |coordinate: i16| coordinate.clamp(0, n - 1);
        self.cursor = Square::new((clamp(rank + up) * n + clamp(file + right)) as usize);
    }

    fn next_piece(&mut self) {
        let movable: Vec<_> = if self.selected.is_some() { self.targets() } else { self.session.movable() }.collect();
        if let Some(&square) = movable.iter().find(|&&square| square > self.cursor).or(movable.first()) {
            self.cursor = square;
        }
    }

    fn pick(&mut self, square: Square) {
        if !self.session.waits_for_person() {
            self.notice = Some(match self.session.ending() {
                Some(_) => "The game is over: n begins another, u takes back.".to_owned(),
                None => format!("The {} are to move.", self.session.side_to_move()),
            });
            return;
        }
        match self.selected {
            Some(from) if from == square => self.selected = None,
            Some(from) if self.targets().contains(square) => self.play(Move::new(from, square)),
            _ if self.session.movable().contains(square) => self.selected = Some(square),
            Some(from) => self.explain(Move::new(from, square)),
            None => self.notice = Some(self.why_not_movable(square)),
        }
    }

    fn play(&mut self, mv: Move) {
        match self.session.play(mv) {
            Ok(_) => self.changed(),
            Err(illegal) => self.notice = Some(format!("{illegal}.")),
        }
    }

    /// Says why a move is illegal, in the engine's words.
    fn explain(&mut self, mv: Move) {
        if let Err(illegal) = self.session.position().clone().play(mv) {
            self.notice = Some(format!("{illegal}."));
        }
    }

    fn why_not_movable(&self, square: Square) -> String {
        let side = self.session.side_to_move();
        match self.session.position().board().piece_at(square) {
            None => format!("Pick one of the {side}' pieces first."),
            Some(piece) if piece.side() == side => "This piece has nowhere to go.".to_owned(),
            Some(_) => format!("The {side} are to move."),
        }
    }

    fn back_or_forth(&mut self, step: fn(&mut Session) -> bool, nothing: &str) {
        if !self.session.has_person() {
            // Otherwise the players would play on from there at once.
            self.paused = true;
        }
        if step(&mut self.session) {
            self.changed();
        } else {
            self.notice = Some(nothing.to_owned());
        }
    }

    /// Asks for a hint; asked again, plays it.
    fn want_hint(&mut self) {
        if self.adviser.is_none() {
            self.notice = Some("Nobody is here to give a hint.".to_owned());
        } else if self.session.ending().is_some() {
            self.notice = Some("The game is over.".to_owned());
        } else if let Some(mv) = self.hint().filter(|_| self.session.waits_for_person()) {
            self.play(mv);
        } else {
            self.hint_for = Some(self.session.stamp());
        }
    }

    fn save(&mut self) {
        self.notice = Some(match save_numbered(&self.session.record(self.seed), &self.folder) {
            Ok([pgn, jsonl]) => format!("Saved as {} and {}.", pgn.display(), jsonl.display()),
            Err(error) => format!("{error}."),
        });
    }

    /// Another position is on the board.
    fn changed(&mut self) {
        self.selected = None;
        self.since = None;
    }

    /// Plays the move of the player whose turn it is, once it is there.
    fn collect_move(&mut self, now: Instant) -> Result<(), PlayError> {
        for side in Side::BOTH {
            let Some(thinker) = &mut self.players[side.index()] else { continue };
            let Some(thought) = thinker.poll()? else { continue };
            if thought.stamp != self.session.stamp() || !self.session.waits_for_player() {
                continue;
            }
            let (name, choice) = (thinker.name().to_owned(), thought.choice);
            if let Some(wdl) = choice.wdl {
                self.session.note_view(Chances::of(wdl, side), choice.playouts);
            }
            self.session.play(choice.mv).map_err(|illegal| PlayError::PlayerCheats { name, illegal })?;
            self.changed();
            self.since = Some(now);
        }
        Ok(())
    }

    fn collect_advice(&mut self) -> Result<(), PlayError> {
        let Some(thought) = self.adviser.as_mut().map_or(Ok(None), Thinker::poll)? else { return Ok(()) };
        if thought.stamp == self.session.stamp() {
            self.advice = Some((thought.stamp, thought.choice.mv));
            if let Some(wdl) = thought.choice.wdl {
                let chances = Chances::of(wdl, self.session.side_to_move());
                self.session.note_view(chances, thought.choice.playouts);
            }
        }
        Ok(())
    }

    /// Asks the player to move, and the adviser while a person thinks.
    fn ask(&mut self, now: Instant) {
        let (stamp, session) = (self.session.stamp(), &self.session);
        let due = session.has_person()
            || session.game().is_empty()
            || self.since.is_some_and(|since| now.saturating_duration_since(since) >= self.pace);
        if session.waits_for_player()
            && !self.paused
            && due
            && let Some(thinker) = &mut self.players[session.side_to_move().index()]
            && thinker.thinking() != Some(stamp)
        {
            thinker.ask(stamp, session.game());
        }
        let advised = self.advice.is_some_and(|(of, _)| of == stamp);
        if (session.waits_for_person() || self.hint_for == Some(stamp))
            && !advised
            && session.ending().is_none()
            && !(self.paused && self.hint_for != Some(stamp))
            && let Some(adviser) = &mut self.adviser
            && adviser.thinking() != Some(stamp)
        {
            adviser.ask(stamp, session.game());
        }
    }

    /// What goes on, in a sentence.
    pub(super) fn status(&self) -> String {
        if let Some(ending) = self.session.ending() {
            return words::ending(ending, self.session.rules());
        }
        let side = self.session.side_to_move();
        match self.session.seat(side) {
            Seat::Person if self.selected.is_some() => "Where to? Enter puts the piece down, Esc lets go.".to_owned(),
            Seat::Person => format!("Your move, {side}."),
            Seat::Player(_) if self.paused => "Paused. Press p to go on.".to_owned(),
            Seat::Player(name) => format!("{name} thinks."),
        }
    }
}
