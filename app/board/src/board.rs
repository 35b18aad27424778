//! The board: all games, and the requests that a page may make about them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hnefi_engine::{Move, NamedRules, Preset, Rules, Side};
use hnefi_record::{GameRecord, GameTree, Seat, Session};
use serde_json::json;

use super::clock::{Clock, ClockRequest};
use super::exchange::{Answer, Reply, request};
use super::kept::KeptGame;
use super::players::{self, Fit, PlayerError, PlayerId, player_name};
use super::refusal::{no_move, no_position};
use super::requests::{
    AgainRequest, AnalysisRequest, ExportFormat, ExportQuery, GoRequest, MoveRequest, NewGame, OpenGame, ReviewRequest,
    TryRequest,
};
use super::review::Review;
use super::room::{Room, RoomPlayer, RoomState, Source};
use super::rooms::{Listening, RoomId, Rooms};
use super::rulesets::ruleset;
use super::strength::{self, LEVELS, SeatRequest, Strength};
use super::view::{RulesView, StateView};
use super::work_queue::WorkQueue;
use super::{EndingView, Host, Listener, Offer, Origin, Players, Problem, Refusal, Task, address, elo, problem, texts};

/// How strong a player is that was given no strength.
const USUAL: Strength = Strength::Playouts(200);

/// Plies that alpha-beta looks ahead for a hint where no network knows the board.
const ADVICE: u32 = 3;

/// How much a board does.
#[derive(Clone, Debug)]
pub struct BoardConfig {
    /// Games open at once.
    pub rooms: usize,
    /// Pages that listen at once.
    pub listeners: usize,
    /// Searches that hold memory at once, each some 100 to 150 MB at most.
    pub searches: usize,
    /// How long a slice of a search takes.
    pub slice: Duration,
    /// The game that a page begins with.
    pub first: NewGame,
    /// Seed of the players' random choices.
    pub seed: u64,
}

/// All games, and what they share.
pub struct Board {
    pub(super) host: Arc<dyn Host>,
    pub(super) players: Arc<dyn Players>,
    pub(super) queue: Mutex<WorkQueue<Task>>,
    pub(super) searching: Arc<AtomicUsize>,
    pub(super) searches: usize,
    pub(super) slice: Duration,
    pub(super) seed: u64,
    rooms: Rooms,
    first: NewGame,
}

impl Board {
    /// A board without games.
    pub fn new(host: Arc<dyn Host>, players: Arc<dyn Players>, config: BoardConfig) -> Board {
        Board {
            host,
            players,
            queue: Mutex::new(WorkQueue::new()),
            searching: Arc::new(AtomicUsize::new(0)),
            searches: config.searches,
            slice: config.slice,
            seed: config.seed,
            rooms: Rooms::new(config.rooms, config.listeners),
            first: config.first,
        }
    }

    /// The first game of a page: `people` are the sides that a person moves, by [`Side::index`], and the other sides
    /// have `opponent` or, without one, the network that is chosen everywhere, at the easiest level.
    pub fn first_game(
        players: &dyn Players,
        rules: NamedRules,
        fen: Option<String>,
        people: [bool; 2],
        opponent: Option<(PlayerId, Option<Strength>)>,
    ) -> NewGame {
        let (player, strength) =
            opponent.unwrap_or_else(|| (players::opponent(&players.networks(), rules), Some(Strength::Level(1))));
        let seat = |is_person: bool| match is_person {
            true => SeatRequest::default(),
            false => SeatRequest { player: Some(player.clone()), strength },
        };
        let [attackers, defenders] = people.map(seat);
        NewGame { rules: rules.name(), attackers, defenders, fen, clock: None }
    }

    /// Whether a game is open.
    ///
    /// # Errors
    /// When there is no such game.
    pub fn knows(&self, id: &str) -> Result<(), Refusal> {
        self.rooms.get(id).map(|_| ())
    }

    /// A listener of a game.
    ///
    /// # Errors
    /// When there is no such game, or too many listen.
    pub fn listen(&self, id: &str) -> Result<Listener, Refusal> {
        let room = self.rooms.get(id)?;
        let place = self.rooms.listen(Some(&room))?;
        // Now that somebody looks on, there may be more to do.
        self.update(&room, &mut room.lock());
        Ok(Listener::new(room, place, self.host.clone()))
    }

    /// A place among all who listen, for what is no game.
    ///
    /// # Errors
    /// When too many listen.
    pub fn listening_place(&self) -> Result<Listening, Refusal> {
        self.rooms.listen(None)
    }

    /// What can be chosen.
    pub(super) fn setup(&self) -> Answer {
        let networks = self.players.networks();
        let published: Vec<NamedRules> = NamedRules::published().collect();
        let opponents: BTreeMap<String, PlayerId> =
            published.iter().map(|&rules| (rules.name(), players::opponent(&networks, rules))).collect();
        let elo: BTreeMap<&str, elo::Ratings> =
            Preset::ALL.iter().filter_map(|&preset| Some((preset.name(), elo::ratings(preset)?))).collect();
        let rules: Vec<RulesView> = published.iter().map(|rules| RulesView::of(&rules.rules())).collect();
        Reply::json(&json!({
            "rules": rules,
            "first": self.first,
            "players": players::offers(networks, &*self.players),
            "opponents": opponents,
            "levels": LEVELS,
            "elo": elo,
            "starts": elo::starts(),
            "folders": self.host.folders(),
            "runs": self.host.runs(),
        }))
    }

    /// Who a seat is given to in a game by these rules.
    fn seat(&self, seat: SeatRequest, rules: &Rules) -> Result<Seat<RoomPlayer>, Refusal> {
        let Some(id) = seat.player else { return Ok(Seat::Person) };
        let strength =
            seat.strength.unwrap_or(USUAL).checked().map_err(|error| Refusal::bad(request(error.to_string())))?;
        let id = match (id, strength) {
            (PlayerId::AlphaBeta(_), Strength::Level(level)) => PlayerId::AlphaBeta(strength::depth(level)),
            (id, _) => id,
        };
        let id = match id {
            PlayerId::AlphaBeta(depth) => PlayerId::AlphaBeta(players::depth_on(rules.size(), depth)),
            id => id,
        };
        let name = players::name(&*self.players, &id).map_err(no_player)?;
        Ok(Seat::Player(RoomPlayer { id, name, strength }))
    }

    pub(super) fn new_game(&self, asked: NewGame) -> Answer {
        let rules = ruleset(&asked.rules)?.rules();
        let seats = [self.seat(asked.attackers, &rules)?, self.seat(asked.defenders, &rules)?];
        let clock = asked
            .clock
            .map(ClockRequest::checked)
            .transpose()
            .map_err(|error| Refusal::bad(request(error.to_string())))?;
        self.start_game(rules, asked.fen, seats, clock)
    }

    fn start_game(
        &self,
        rules: Rules,
        start: Option<String>,
        seats: [Seat<RoomPlayer>; 2],
        clock: Option<ClockRequest>,
    ) -> Answer {
        let names = seats.each_ref().map(|seat| seat.map(|player| player.name.clone()));
        let game = Session::new(rules, start, names).map_err(no_position)?;
        let networks = self.players.networks();
        let (room, _) = self.rooms.open(None, game, seats, &*self.host)?;
        let mut state = room.lock();
        state.clock = clock.map(Clock::new);
        seat_adviser(&mut state, &networks);
        self.settled(&room, &mut state)
    }

    pub(super) fn open_game(&self, asked: OpenGame) -> Answer {
        let mut games = 1;
        let (tree, origin) = match &asked {
            OpenGame::Text { text, rules: name } => {
                let rules = ruleset(name)?.rules();
                games = texts::games(text);
                (texts::pasted(text, rules).map_err(no_text)?, None)
            }
            OpenGame::Address(address) => return self.open_address(address),
            OpenGame::Kept { id, game } => return self.open_kept(id, game),
            OpenGame::File { .. } | OpenGame::Run { .. } => {
                let (record, origin) = self.host.recorded(&asked)?;
                (GameTree::from(record), Some(origin))
            }
        };
        let several = || problem!("error.several", "of the {n} games of the text this is the first", n = games);
        self.open_tree(&tree, origin, 0, (games > 1).then(several))
    }

    /// Opens a game to look at, after `ply` plies, with something to say beside it.
    fn open_tree(&self, tree: &GameTree, origin: Option<Origin>, ply: usize, problem: Option<Problem>) -> Answer {
        let mut game = Session::of_tree(tree).map_err(no_text)?;
        game.step_to(ply);
        let record = &tree.record;
        let (source, players) = if record.plies.is_empty() {
            (Source::Position, [None, None])
        } else {
            let names = self.players.identities();
            let name = |name: &String| {
                Some(player_name(name.clone(), &names)).filter(|name| !["?", "person"].contains(&name.as_str()))
            };
            let source = Source::Game { origin, ending: EndingView::of_record(record) };
            (source, record.players.each_ref().map(name))
        };
        let networks = self.players.networks();
        let (room, _) = self.rooms.open(None, game, [Seat::Person, Seat::Person], &*self.host)?;
        let mut state = room.lock();
        (state.source, state.players, state.problem) = (Some(source), players, problem);
        seat_adviser(&mut state, &networks);
        self.settled(&room, &mut state)
    }

    fn open_address(&self, address: &str) -> Answer {
        let (record, ply) = address::read(address).map_err(no_link)?;
        self.open_tree(&GameTree::from(record), None, ply, None)
    }

    /// Opens a game of an earlier visit as it was left, under the id that it had, so that its links lead to it again.
    /// Where a player is here no more a person takes its side.
    fn open_kept(&self, id: &RoomId, kept: &KeptGame) -> Answer {
        // Somebody else who plays it came back first.
        if let Ok(room) = self.rooms.get(id.as_str()) {
            return self.state(&room.id);
        }
        let tree = kept.tree().map_err(not_kept)?;
        let mut game = kept.session(&tree).map_err(not_kept)?;
        let clock = kept.clock(self.host.now()).map_err(not_kept)?;
        let mut problem = None;
        let seats = kept.seats().map(|seat| {
            self.seat(seat, game.rules()).unwrap_or_else(|refusal| {
                problem = Some(refusal.problem);
                Seat::Person
            })
        });
        game.set_seats(seats.each_ref().map(|seat| seat.map(|player| player.name.clone())));
        let networks = self.players.networks();
        let (room, is_new) = self.rooms.open(Some(id.clone()), game, seats, &*self.host)?;
        if !is_new {
            // They came back while this was read.
            return self.state(&room.id);
        }
        let mut state = room.lock();
        (state.source, state.players, state.problem) = (kept.source(&tree), kept.players(), problem);
        state.clock = clock;
        seat_adviser(&mut state, &networks);
        self.settled(&room, &mut state)
    }

    /// What a page keeps of a game, to open it again when the board knows it no more.
    pub(super) fn kept(&self, id: &str) -> Answer {
        let room = self.rooms.get(id)?;
        let state = room.lock();
        let kept = KeptGame::of(&state, self.host.now()).map_err(not_kept)?;
        Reply::json(&json!({ "game": kept, "address": address::of(&state.game) }))
    }

    pub(super) fn address(&self, id: &str) -> Answer {
        let room = self.rooms.get(id)?;
        let address = address::of(&room.lock().game);
        Reply::json(&json!({ "address": address }))
    }

    /// The room's state after a change, with the work it needs handed out.
    fn settled(&self, room: &Arc<Room>, state: &mut RoomState) -> Answer {
        state.changed(self.host.now());
        self.update(room, state);
        Reply::json(&StateView::of(room, state, self.host.now()))
    }

    /// Changes a room and answers with its new state.
    pub(super) fn change(&self, id: &str, change: impl FnOnce(&mut RoomState) -> Result<(), Refusal>) -> Answer {
        let room = self.rooms.get(id)?;
        let mut state = room.lock();
        change(&mut state)?;
        state.problem = None;
        self.settled(&room, &mut state)
    }

    /// Goes to another position; refused while a clock runs.
    pub(super) fn look_back(&self, id: &str, go: impl FnOnce(&mut RoomState) -> Result<(), Refusal>) -> Answer {
        self.change(id, |state| match state.is_timed() {
            true => Err(Refusal::conflict(problem!("error.clockRuns", "nobody looks back while the clock runs"))),
            false => go(state),
        })
    }

    /// Ends the game of a side that has no time left.
    pub(super) fn flag(&self, id: &str) -> Answer {
        let now = self.host.now();
        self.change(id, |state| {
            let clock = state
                .clock
                .as_mut()
                .ok_or_else(|| Refusal::conflict(problem!("error.noClock", "the game has no clock")))?;
            let side =
                clock.over(now).ok_or_else(|| Refusal::conflict(problem!("error.timeLeft", "there is time left")))?;
            clock.out = Some(side);
            clock.stop(now);
            state.game.forfeit(side);
            Ok(())
        })
    }

    pub(super) fn state(&self, id: &str) -> Answer {
        let room = self.rooms.get(id)?;
        let state = room.lock();
        Reply::json(&StateView::of(&room, &state, self.host.now()))
    }

    pub(super) fn close(&self, id: &str) -> Answer {
        self.rooms.get(id)?;
        self.rooms.close(id);
        self.host.ring();
        Reply::json(&json!({}))
    }

    pub(super) fn play(&self, id: &str, asked: &MoveRequest) -> Answer {
        self.change(id, |state| {
            if asked.stamp != state.game.stamp() {
                return Err(Refusal::conflict(problem!(
                    "error.stale",
                    "the position has changed meanwhile; look again"
                )));
            }
            if state.game.waits_for_player() {
                let name = state.player_name(state.game.side_to_move());
                return Err(Refusal::conflict(problem!("error.turn", "it is the turn of {name}", name = name)));
            }
            let mv = Move::parse(&asked.mv, state.game.rules().size()).map_err(no_move)?;
            state.play(mv, self.host.now()).map_err(Refusal::bad)
        })
    }

    pub(super) fn go(&self, id: &str, asked: GoRequest) -> Answer {
        self.look_back(id, |state| match asked {
            GoRequest::Place(place) => state.game.go_to_place(place).map_err(no_place),
            GoRequest::Ply(ply) => {
                let plies = state.game.line().len();
                if ply > plies {
                    return Err(no_place(format!("ply {ply}: the game has {plies}")));
                }
                state.game.step_to(ply);
                Ok(())
            }
        })
    }

    pub(super) fn hint(&self, id: &str) -> Answer {
        self.change(id, |state| {
            if !state.game.waits_for_person() {
                return Err(Refusal::conflict(problem!("error.hint", "a hint is for a person who is to move")));
            }
            state.retry();
            state.hint_wanted = Some(state.game.stamp());
            Ok(())
        })
    }

    /// Another game by the same players, under an id of its own: the one before stays what it was.
    pub(super) fn again(&self, id: &str, asked: AgainRequest) -> Answer {
        let room = self.rooms.get(id)?;
        let state = room.lock();
        let (rules, start) = (*state.game.rules(), state.game.game().start_fen());
        let (mut seats, clock) = (state.seats.clone(), state.clock.as_ref().map(|clock| clock.asked));
        // Whoever opens a room looks into all the others.
        drop(state);
        if asked.swap {
            seats.swap(0, 1);
        }
        self.start_game(rules, start, seats, clock)
    }

    pub(super) fn analysis(&self, id: &str, asked: AnalysisRequest) -> Answer {
        let mut networks = Vec::new();
        if let Some(player) = &asked.player {
            players::name(&*self.players, player).map_err(no_player)?;
            networks = self.players.networks();
        }
        self.change(id, |state| {
            let adviser = asked.player.as_ref().or(state.adviser.as_ref());
            if asked.on && !matches!(adviser, Some(PlayerId::Model(_))) {
                return Err(Refusal::conflict(no_model()));
            }
            if let Some(player) = asked.player {
                set_adviser(state, player, &networks);
            }
            state.analysing = asked.on;
            state.retry();
            Ok(())
        })
    }

    /// Begins a review of the line on the board, or puts it away.
    pub(super) fn review(&self, id: &str, asked: ReviewRequest) -> Answer {
        self.change(id, |state| {
            if asked.on && !state.can_review() {
                return Err(Refusal::conflict(problem!(
                    "error.notOver",
                    "a game is reviewed when it is over and has moves"
                )));
            }
            state.review = match &state.adviser {
                _ if !asked.on => None,
                Some(judge @ PlayerId::Model(_)) => Some(Review::new(&state.game, judge.clone())),
                _ => return Err(Refusal::conflict(no_model())),
            };
            state.retry();
            Ok(())
        })
    }

    /// Has a move judged that a person would have played.
    pub(super) fn attempt(&self, id: &str, asked: &TryRequest) -> Answer {
        self.change(id, |state| {
            let mv = Move::parse(&asked.mv, state.game.rules().size()).map_err(no_move)?;
            let missing = || Refusal::conflict(problem!("error.notReviewed", "the game is not reviewed"));
            let review = state.review.as_mut().ok_or_else(missing)?;
            review.attempt(asked.ply, mv)
        })
    }

    /// The game as a file to keep.
    pub(super) fn export(&self, id: &str, asked: ExportQuery) -> Answer {
        let room = self.rooms.get(id)?;
        let state = room.lock();
        let players = Side::BOTH.map(|side| state.player_name(side));
        let (text, name) = match asked.format {
            ExportFormat::Pgn => {
                let mut tree = state.game_tree();
                tree.record.players = players;
                (hnefi_record::pgn::tree_text(&tree), "game.pgn")
            }
            ExportFormat::Jsonl => {
                let record = GameRecord { players, ..state.game.record(0) };
                (hnefi_record::json_line(&record, None).map(|line| line + "\n"), "game.jsonl")
            }
        };
        let body = text.map_err(no_text)?.into_bytes();
        Ok(Reply { status: 200, kind: "text/plain; charset=utf-8", file_name: Some(name), body })
    }
}

/// Chooses who gives hints and views: the opponent if it knows the rules, else a network that knows them or at least
/// the board, else a search by hand-made rules.
///
/// The list of the networks is given, for it may be long on its way: whoever asked for it under a room's lock would
/// hold up all who look into that room.
fn seat_adviser(state: &mut RoomState, networks: &[Offer]) {
    let rules = *state.game.rules();
    let seated = state.seats.iter().filter_map(Seat::player);
    let opponent = seated.map(|player| player.id.clone()).find(|id| matches!(id, PlayerId::Model(_)));
    let opponent = opponent.filter(|id| players::fit(networks, id, &rules) == Fit::Rules);
    let adviser = || players::adviser(networks, &rules).map(|(id, _)| id);
    let without = || PlayerId::AlphaBeta(players::depth_on(rules.size(), ADVICE));
    set_adviser(state, opponent.or_else(adviser).unwrap_or_else(without), networks);
}

fn set_adviser(state: &mut RoomState, id: PlayerId, networks: &[Offer]) {
    state.adviser_fit = players::fit(networks, &id, state.game.rules());
    state.adviser = Some(id);
}

pub(super) fn moved(done: bool, nothing: impl FnOnce() -> Problem) -> Result<(), Refusal> {
    if done { Ok(()) } else { Err(Refusal::conflict(nothing())) }
}

pub(super) fn resign(state: &mut RoomState) -> Result<(), Refusal> {
    let refused = |_| Refusal::conflict(problem!("error.resign", "nobody can resign here"));
    state.game.resign().map(|_| ()).map_err(refused)
}

fn no_model() -> Problem {
    problem!("error.model", "only a model can do this; choose one")
}

// What is wrong in detail is said in English: it is about a text, a file or a request, letter by letter.

pub(super) fn no_place(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.place", "this place of the game cannot be used: {detail}", detail = error.to_string()))
}

fn no_player(error: PlayerError) -> Refusal {
    Refusal::bad(problem!("error.player", "this player is not here: {detail}", detail = error.to_string()))
}

fn no_text(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.text", "this cannot be read: {detail}", detail = error.to_string()))
}

fn no_link(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.link", "this link leads to no game: {detail}", detail = error.to_string()))
}

fn not_kept(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.kept", "the kept game cannot be opened: {detail}", detail = error.to_string()))
}
