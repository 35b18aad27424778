//! One game in one place: the session, who sits where, what is being searched, and who is looking on.
//!
//! A room never computes. Whatever changes it asks for the work that the new state needs ([`RoomState::job`]) and takes
//! in what the searches find, unless the state has changed meanwhile: every piece of work carries a ticket, and only
//! the newest counts.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hnefi_engine::{Ending, Game, Move, Side};
use hnefi_inference::Wdl;
use hnefi_record::{Chances, GameTree, Seat, Session};
use serde::Serialize;

use super::clock::Clock;
use super::players::{Fit, PlayerId};
use super::refusal::no_move;
use super::report::Report;
use super::review::{Review, ReviewStep};
use super::strength::Strength;
use crate::{EndingView, Origin, Problem, problem};

/// Plies a game may have here. Longer than any sensible one, and a bound on the memory of a hostile one.
pub(super) const LONGEST: usize = 1_000;

/// Moves a game may have here with all its variations.
pub(super) const MOST_MOVES: usize = 4_000;

/// A player in a room.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RoomPlayer {
    pub(super) id: PlayerId,
    pub(super) name: String,
    pub(super) strength: Strength,
}

/// Work for a search, for the position on the board.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Job {
    /// A player's move, shown no earlier than that.
    Move { id: PlayerId, strength: Strength },
    /// Advice for the person to move.
    Hint { id: PlayerId },
    /// A short look, so that the bar and the graph know the position.
    QuickEval { id: PlayerId },
    /// A part of the review of the game.
    Review { id: PlayerId, step: ReviewStep },
    /// A search that goes on until something changes.
    Analyse { id: PlayerId },
}

/// Work under way: a job, the state of the game it belongs to, and its number.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    pub(super) job: Job,
    pub(super) stamp: u64,
    pub(super) number: u64,
}

/// Advice, as long as the position stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint {
    pub(super) stamp: u64,
    pub(super) mv: Move,
}

/// What was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Source {
    /// A position.
    Position,
    /// A game.
    Game {
        /// Where it lies; nowhere, of a pasted one.
        origin: Option<Origin>,
        /// How it ended.
        ending: Option<EndingView>,
    },
}

/// What is in a room.
pub(super) struct RoomState {
    pub(super) game: Session,
    pub(super) seats: [Seat<RoomPlayer>; 2],
    /// Who analyses and gives hints; `None` where no model knows the rules.
    pub(super) adviser: Option<PlayerId>,
    /// How well the adviser knows the rules.
    pub(super) adviser_fit: Fit,
    pub(super) analysing: bool,
    pub(super) review: Option<Review>,
    pub(super) clock: Option<Clock>,
    /// What was opened, when the game did not begin here.
    pub(super) source: Option<Source>,
    /// Who played the game that was opened, by [`Side::index`], where the record says it.
    pub(super) players: [Option<String>; 2],
    pub(super) hint: Option<Hint>,
    /// The stamp of the position that a person wants advice for.
    pub(super) hint_wanted: Option<u64>,
    pub(super) report: Option<Report>,
    pub(super) problem: Option<Problem>,
    pub(super) ticket: Option<Ticket>,
    /// What was finished or failed for a stamp and need not be begun again.
    done: Vec<(u64, Job)>,
    tickets: u64,
    /// Counts changes of the state and of the report.
    pub(super) state_count: u64,
    pub(super) report_count: u64,
    /// When the game was changed or a listener left it last, since the host began.
    pub(super) used: Duration,
}

/// A room, and how many are listening.
pub(super) struct Room {
    pub(super) id: String,
    /// How many rooms were opened before it.
    pub(super) number: u64,
    /// Tells it from a room of the same id that was here before; a page then takes nothing for older than it is.
    pub(super) opened: u32,
    state: Mutex<RoomState>,
    listeners: AtomicUsize,
    /// Whether it was closed while somebody listened: then it goes with the last who listens.
    pub(super) closed: AtomicBool,
}

impl Room {
    pub(super) fn new(
        id: String,
        number: u64,
        opened: u32,
        game: Session,
        seats: [Seat<RoomPlayer>; 2],
        now: Duration,
    ) -> Room {
        let state = RoomState {
            game,
            seats,
            adviser: None,
            adviser_fit: Fit::Other,
            analysing: false,
            review: None,
            clock: None,
            source: None,
            players: [None, None],
            hint: None,
            hint_wanted: None,
            report: None,
            problem: None,
            ticket: None,
            done: Vec::new(),
            tickets: 0,
            state_count: 1,
            report_count: 0,
            used: now,
        };
        Room {
            id,
            number,
            opened,
            state: Mutex::new(state),
            listeners: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        }
    }

    /// The inside. A panic of another thread leaves a game that is still whole: every change is one call to the
    /// session.
    pub(super) fn lock(&self) -> MutexGuard<'_, RoomState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn listeners(&self) -> &AtomicUsize {
        &self.listeners
    }

    /// Whether anybody is looking on.
    pub(super) fn is_watched(&self) -> bool {
        self.listeners.load(Ordering::Relaxed) > 0
    }

    /// Whether it was closed and nobody listens any more.
    pub(super) fn is_gone(&self) -> bool {
        self.closed.load(Ordering::Relaxed) && !self.is_watched()
    }
}

impl RoomState {
    /// Notes that the state has changed and must be shown anew.
    pub(super) fn changed(&mut self, now: Duration) {
        self.state_count += 1;
        self.used = now;
        let Some(clock) = &mut self.clock else { return };
        if clock.out.is_some() && !self.game.is_decided() {
            // The loss on time was taken back or removed, and without time nobody could go on.
            *clock = Clock::new(clock.asked);
        } else if self.game.ending().is_some() {
            clock.stop(now);
        }
    }

    /// The work that the present state needs, the most urgent first.
    fn job(&self, watched: bool) -> Option<Job> {
        let stamp = self.game.stamp();
        let open = |job: &Job| !self.done.iter().any(|(at, done)| *at == stamp && done == job);
        if self.game.ending().is_some() {
            return self.review_job(watched).filter(open);
        }
        let side = self.game.side_to_move();
        // An earlier position that somebody looks back at is not played on from there; it may be analysed.
        if let Seat::Player(RoomPlayer { id, strength, .. }) = &self.seats[side.index()]
            && !self.game.has_taken_back()
        {
            // Two players go on by themselves only while somebody looks on.
            let unattended = !self.game.has_person() && !watched;
            let job = Job::Move { id: id.clone(), strength: *strength };
            return (open(&job) && !unattended).then_some(job);
        }
        let id = self.adviser.clone()?;
        if self.hint_wanted == Some(stamp) {
            return Some(Job::Hint { id }).filter(open);
        }
        if let Some(job) = self.review_job(watched).filter(open) {
            return Some(job);
        }
        if self.analysing {
            let job = Job::Analyse { id };
            return (watched && open(&job)).then_some(job);
        }
        let viewed = self.game.view_here().is_some();
        let job = Job::QuickEval { id };
        (watched && !viewed && self.adviser_fit != Fit::Other && open(&job)).then_some(job)
    }

    /// Whether the game can be reviewed: it has moves, and no program goes on playing it.
    pub(super) fn can_review(&self) -> bool {
        self.game.all_plies().next().is_some() && (self.game.is_decided() || self.seats.iter().all(Seat::is_person))
    }

    /// The part of the review that comes next.
    fn review_job(&self, watched: bool) -> Option<Job> {
        let review = self.review.as_ref().filter(|_| watched)?;
        Some(Job::Review { id: review.judge().clone(), step: review.next()? })
    }

    /// The game up to the position that a job is about.
    pub(super) fn game_for(&self, job: &Job) -> Game {
        match (job, &self.review) {
            (Job::Review { step, .. }, Some(review)) => review.game_at(*step),
            _ => self.game.game().clone(),
        }
    }

    /// Compares the work under way with what is wished for: `Some` is new work to hand out.
    pub(super) fn next_work(&mut self, watched: bool) -> Option<Ticket> {
        let job = self.job(watched);
        let stamp = self.game.stamp();
        if let (Some(ticket), Some(job)) = (&self.ticket, &job)
            && ticket.stamp == stamp
            && ticket.job == *job
        {
            return None;
        }
        self.ticket = job.map(|job| {
            self.tickets += 1;
            Ticket { job, stamp, number: self.tickets }
        });
        self.ticket.clone()
    }

    /// Whether work with this number is still wanted.
    pub(super) fn wants(&self, number: u64) -> bool {
        self.ticket.as_ref().is_some_and(|ticket| ticket.number == number)
    }

    /// Takes the work off the list and remembers not to begin it again for this position.
    pub(super) fn finish(&mut self, problem: Option<Problem>) {
        if let Some(ticket) = self.ticket.take() {
            self.done.retain(|(stamp, _)| *stamp == ticket.stamp);
            self.done.push((ticket.stamp, ticket.job));
        }
        self.hint_wanted = None;
        if problem.is_some() {
            self.problem = problem;
        }
        self.state_count += 1;
    }

    /// Forgets what has failed, so that it is tried again.
    pub(super) fn retry(&mut self) {
        self.done.clear();
        self.problem = None;
    }

    /// Plays a move of a person or a player.
    ///
    /// # Errors
    /// When it is illegal or the game is longer or has more variations than boards keep; the message says so.
    pub(super) fn play(&mut self, mv: Move, now: Duration) -> Result<(), Problem> {
        if self.game.game().len() >= LONGEST {
            return Err(problem!("error.longest", "games of more than {most} plies are not kept here", most = LONGEST));
        }
        if self.game.tree().len() >= MOST_MOVES && !self.game.knows(mv) {
            return Err(problem!(
                "error.mostMoves",
                "games of more than {most} moves with their variations are not kept here",
                most = MOST_MOVES
            ));
        }
        if self.clock.as_ref().is_some_and(|clock| clock.over(now).is_some()) {
            return Err(problem!("error.timeOver", "the time is over"));
        }
        let goes_on = !self.game.is_decided();
        let ply = self.game.play(mv).map_err(|illegal| no_move(illegal).problem)?;
        if let Some(clock) = self.clock.as_mut().filter(|_| goes_on) {
            clock.moved(ply.side, now);
        }
        self.changed(now);
        Ok(())
    }

    /// The game with its variations, for a text. A position that is decided as it stands has no move at which the
    /// session notes the end.
    pub(super) fn game_tree(&self) -> GameTree {
        let mut tree = self.game.game_tree(0);
        if tree.moves.is_empty() {
            tree.record.outcome = self.game.game().start().outcome();
        }
        tree
    }

    /// Whether a clock runs, which forbids looking back and taking back.
    pub(super) fn is_timed(&self) -> bool {
        self.clock.as_ref().is_some_and(Clock::runs)
    }

    /// How the game ended, [`Session::ending`] or [`Session::result`], for a page.
    pub(super) fn ending_view(&self, ending: Option<Ending>) -> Option<EndingView> {
        let ending = ending?;
        let view = EndingView::of(ending, self.game.rules());
        let out = self.clock.as_ref().and_then(|clock| clock.out);
        let by_time = out.is_some_and(|side| ending == Ending::Resigned(side));
        Some(if by_time { view.by_time() } else { view })
    }

    /// A player's view of the position on the board.
    pub(super) fn note_view(&mut self, wdl: Wdl, playouts: u32) {
        let known = self.game.view_here().map_or(0, |(_, playouts)| playouts);
        if playouts >= known {
            self.game.note_view(Chances::of(wdl, self.game.side_to_move()), playouts);
        }
    }

    /// How long a player's move is held back, so that a person sees what happened before.
    pub(super) fn pace(&self) -> Duration {
        if self.game.has_person() { Duration::from_millis(350) } else { Duration::from_millis(800) }
    }

    /// The name of who sits there, or once sat in a game that was opened, for records and refusals.
    pub(super) fn player_name(&self, side: Side) -> String {
        match &self.seats[side.index()] {
            Seat::Person => self.players[side.index()].clone().unwrap_or_else(|| "person".to_owned()),
            Seat::Player(RoomPlayer { id: PlayerId::Model(_), name, strength }) => {
                format!("{name}, {}", strength.words())
            }
            Seat::Player(player) => player.name.clone(),
        }
    }
}
