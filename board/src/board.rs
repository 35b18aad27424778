//! The board: all games, and the requests that a page may make about them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hnefi_engine::{Move, Preset, Side};
use hnefi_inference::names;
use hnefi_record::{GameRecord, GameTree};
use serde_json::json;

use super::clock::{Clock, ClockRequest};
use super::exchange::{Answer, Reply, Request, request, wrong_method};
use super::kept::KeptGame;
use super::line::Line;
use super::players::{self, Fit, PlayerId, player_name};
use super::requests::{
    AgainRequest, AnalysisRequest, CommentRequest, ExportFormat, ExportQuery, GoRequest, MoveRequest, NewGame,
    OpenGame, PromoteRequest, RemoveRequest, ReviewRequest, SeatRequest, TryRequest,
};
use super::review::Review;
use super::room::{Inside, Room, RoomPlayer, Source};
use super::rooms::{Listening, RoomId, Rooms};
use super::scene::no_move;
use super::strength::{LEVELS, Strength};
use super::view::{RulesView, StateView};
use super::{
    EndingView, Host, Listener, Origin, Players, Problem, Refusal, Seat, Session, Task, address, elo, lessons, problem,
    puzzle_book, texts,
};

/// How strong a player is that was given no strength.
const USUAL: Strength = Strength::Playouts(200);

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
    pub(super) line: Mutex<Line<Task>>,
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
            line: Mutex::new(Line::new()),
            searching: Arc::new(AtomicUsize::new(0)),
            searches: config.searches,
            slice: config.slice,
            seed: config.seed,
            rooms: Rooms::new(config.rooms, config.listeners),
            first: config.first,
        }
    }

    /// The first game of a page: `people` are the sides that a person moves, by [`Side::index`], and the other sides
    /// have `opponent` or, where nobody is named, the network that is chosen everywhere, at the easiest level.
    pub fn first_game(
        players: &dyn Players,
        rules: Preset,
        fen: Option<String>,
        people: [bool; 2],
        opponent: Option<(PlayerId, Option<Strength>)>,
    ) -> NewGame {
        let (player, strength) = opponent.unwrap_or_else(|| {
            let id = players::opponent(players, rules);
            let strength = matches!(id, PlayerId::Model(_)).then_some(Strength::Level(1));
            (id, strength)
        });
        let seat = |is_person: bool| match is_person {
            true => SeatRequest::default(),
            false => SeatRequest { player: Some(player.clone()), strength },
        };
        let [attackers, defenders] = people.map(seat);
        NewGame { rules: rules.name().to_owned(), attackers, defenders, fen, clock: None }
    }

    /// Answers a request. It may take as long as loading networks or, for a game of a file or a run, reading it takes.
    pub fn handle(&self, request: &Request<'_>) -> Reply {
        self.answer(request).unwrap_or_else(Reply::from)
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
        self.update(&room, &mut room.enter());
        Ok(Listener::new(room, place, self.host.clone()))
    }

    /// A place among all who listen, for what is no game.
    ///
    /// # Errors
    /// When too many listen.
    pub fn listening_place(&self) -> Result<Listening, Refusal> {
        self.rooms.listen(None)
    }

    fn answer(&self, request: &Request<'_>) -> Answer {
        let parts = Request::parts(request.path).unwrap_or_default();
        match parts[..] {
            ["setup"] => {
                request.only("GET")?;
                self.setup()
            }
            ["games"] => {
                request.only("POST")?;
                self.new_game(request.read()?)
            }
            ["games", "open"] => {
                request.only("POST")?;
                self.open_game(request.read()?)
            }
            ["games", id] => match request.method {
                "GET" | "HEAD" => self.state(id),
                "DELETE" => self.close(id),
                _ => Err(wrong_method()),
            },
            ["games", id, what @ ("export" | "kept" | "address")] => {
                request.only("GET")?;
                match what {
                    "export" => self.export(id, request.query),
                    "kept" => self.kept(id),
                    _ => self.address(id),
                }
            }
            [
                "games",
                id,
                what @ ("move" | "undo" | "redo" | "go" | "back" | "promote" | "remove" | "comment" | "resign" | "hint"
                | "again" | "flag" | "retry" | "analysis" | "review" | "try"),
            ] => {
                request.only("POST")?;
                match what {
                    "move" => self.play(id, &request.read()?),
                    "undo" => self.look_back(id, |inside| {
                        moved(inside.game.undo(), || problem!("error.nothingBack", "there is nothing to take back"))
                    }),
                    "redo" => self.look_back(id, |inside| {
                        moved(inside.game.redo(), || problem!("error.nothingAgain", "there is nothing to play again"))
                    }),
                    "go" => self.go(id, request.read()?),
                    "back" => self.look_back(id, |inside| {
                        inside.game.go_to_main();
                        Ok(())
                    }),
                    "promote" => {
                        let asked: PromoteRequest = request.read()?;
                        self.look_back(id, |inside| inside.game.promote(asked.place, asked.main).map_err(no_place))
                    }
                    "remove" => {
                        let asked: RemoveRequest = request.read()?;
                        self.look_back(id, |inside| inside.game.remove(asked.place).map_err(no_place))
                    }
                    "comment" => {
                        let asked: CommentRequest = request.read()?;
                        self.change(id, |inside| inside.game.comment(asked.place, &asked.text).map_err(no_place))
                    }
                    "resign" => self.change(id, resign),
                    "hint" => self.hint(id),
                    "flag" => self.flag(id),
                    "again" => self.again(id, request.read()?),
                    "analysis" => self.analysis(id, request.read()?),
                    "review" => self.review(id, request.read()?),
                    "try" => self.attempt(id, &request.read()?),
                    _ => self.change(id, |inside| {
                        inside.retry();
                        Ok(())
                    }),
                }
            }
            ["lessons"] => {
                request.only("GET")?;
                Reply::json(&lessons::course(&request.query()?)?)
            }
            ["lessons", "attempt"] => {
                request.only("POST")?;
                Reply::json(&lessons::attempt(&request.read()?)?)
            }
            ["puzzles"] => {
                request.only("GET")?;
                Reply::json(&puzzle_book::list())
            }
            ["puzzles", id] => {
                request.only("GET")?;
                Reply::json(&puzzle_book::set(id)?)
            }
            ["puzzles", id, "attempt"] => {
                request.only("POST")?;
                Reply::json(&puzzle_book::attempt(id, &request.read()?)?)
            }
            ["puzzles", id, "solution"] => {
                request.only("POST")?;
                Reply::json(&puzzle_book::solution(id, &request.read()?)?)
            }
            _ => Err(Refusal::missing(problem!("error.page", "there is no such page"))),
        }
    }

    /// What can be chosen.
    fn setup(&self) -> Answer {
        let players = &*self.players;
        let opponents: BTreeMap<&str, PlayerId> =
            Preset::ALL.iter().map(|&preset| (preset.name(), players::opponent(players, preset))).collect();
        let elo: BTreeMap<&str, elo::Ratings> =
            Preset::ALL.iter().filter_map(|&preset| Some((preset.name(), elo::ratings(preset)?))).collect();
        let rules: Vec<RulesView> = Preset::ALL.iter().map(|preset| RulesView::of(&preset.rules())).collect();
        Reply::json(&json!({
            "rules": rules,
            "first": self.first,
            "players": players::offers(players),
            "opponents": opponents,
            "levels": LEVELS,
            "elo": elo,
            "starts": elo::starts(),
            "folders": self.host.folders(),
            "runs": self.host.runs(),
        }))
    }

    /// Who a seat is given to.
    fn seat(&self, seat: SeatRequest) -> Result<Seat<RoomPlayer>, Refusal> {
        let Some(id) = seat.player else { return Ok(Seat::Person) };
        let strength = seat.strength.unwrap_or(USUAL).checked().map_err(|error| Refusal::bad(request(error)))?;
        let name = players::name(&*self.players, &id).map_err(no_player)?;
        Ok(Seat::Player(RoomPlayer { id, name, strength }))
    }

    /// Chooses who gives hints and views: the opponent if it knows the rules, else a network that knows them or at
    /// least the board, else a search by hand-made rules.
    fn seat_adviser(&self, inside: &mut Inside) {
        let (rules, players) = (*inside.game.rules(), &*self.players);
        let seated = inside.seats.iter().filter_map(Seat::player);
        let opponent = seated.map(|player| player.id.clone()).find(|id| matches!(id, PlayerId::Model(_)));
        let opponent = opponent.filter(|id| players::fit(players, id, &rules) == Fit::Rules);
        let adviser = || players::adviser(players, &rules).map(|(id, _)| id);
        self.set_adviser(inside, opponent.or_else(adviser).unwrap_or(PlayerId::AlphaBeta(3)));
    }

    fn set_adviser(&self, inside: &mut Inside, id: PlayerId) {
        inside.adviser_fit = players::fit(&*self.players, &id, inside.game.rules());
        inside.adviser_name = players::name(&*self.players, &id).unwrap_or_default();
        inside.adviser = Some(id);
    }

    fn new_game(&self, asked: NewGame) -> Answer {
        let rules = ruleset(&asked.rules)?.rules();
        let seats = [self.seat(asked.attackers)?, self.seat(asked.defenders)?];
        let clock = asked.clock.map(ClockRequest::checked).transpose().map_err(|error| Refusal::bad(request(error)))?;
        let names = seats.each_ref().map(|seat| seat.map(|player| player.name.clone()));
        let game = Session::new(rules, asked.fen, names).map_err(no_position)?;
        let room = self.rooms.open(None, game, seats, &*self.host)?;
        let mut inside = room.enter();
        inside.clock = clock.map(Clock::new);
        self.seat_adviser(&mut inside);
        self.settled(&room, &mut inside)
    }

    fn open_game(&self, asked: OpenGame) -> Answer {
        let (tree, origin) = match &asked {
            OpenGame::Text { text, rules: name } => {
                let rules = ruleset(name)?.rules();
                (texts::pasted(text, rules).map_err(no_text)?, None)
            }
            OpenGame::Address(address) => return self.open_address(address),
            OpenGame::Kept { id, game } => return self.open_kept(id, game),
            OpenGame::File { .. } | OpenGame::Run { .. } => {
                let (record, origin) = self.host.recorded(&asked)?;
                (GameTree::from(record), Some(origin))
            }
        };
        self.open_tree(&tree, origin, 0)
    }

    /// Opens a game to look at, after `ply` plies.
    fn open_tree(&self, tree: &GameTree, origin: Option<Origin>, ply: usize) -> Answer {
        let mut game = Session::of_tree(tree).map_err(no_text)?;
        game.step_to(ply);
        let record = &tree.record;
        let room = self.rooms.open(None, game, [Seat::Person, Seat::Person], &*self.host)?;
        let mut inside = room.enter();
        if record.plies.is_empty() {
            inside.source = Some(Source::Position);
        } else {
            inside.source = Some(Source::Game { origin, ending: EndingView::of_record(record) });
            let names = self.players.identities();
            let name = |name: &String| Some(player_name(name.clone(), &names)).filter(|name| name != "?");
            inside.players = record.players.each_ref().map(name);
        }
        self.seat_adviser(&mut inside);
        self.settled(&room, &mut inside)
    }

    fn open_address(&self, address: &str) -> Answer {
        let (record, ply) = address::read(address).map_err(no_link)?;
        self.open_tree(&GameTree::from(record), None, ply)
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
            self.seat(seat).unwrap_or_else(|refusal| {
                problem = Some(refusal.problem);
                Seat::Person
            })
        });
        game.set_seats(seats.each_ref().map(|seat| seat.map(|player| player.name.clone())));
        let room = self.rooms.open(Some(id.clone()), game, seats, &*self.host)?;
        let mut inside = room.enter();
        (inside.source, inside.players, inside.problem) = (kept.source(&tree), kept.players(), problem);
        inside.clock = clock;
        self.seat_adviser(&mut inside);
        self.settled(&room, &mut inside)
    }

    /// What a page keeps of a game, to open it again when the board knows it no more.
    fn kept(&self, id: &str) -> Answer {
        let room = self.rooms.get(id)?;
        let inside = room.enter();
        let kept = KeptGame::of(&inside, self.host.now()).map_err(not_kept)?;
        Reply::json(&json!({ "game": kept, "address": address::of(&inside.game) }))
    }

    fn address(&self, id: &str) -> Answer {
        let room = self.rooms.get(id)?;
        let address = address::of(&room.enter().game);
        Reply::json(&json!({ "address": address }))
    }

    /// The room's state after a change, with the work it needs handed out.
    fn settled(&self, room: &Arc<Room>, inside: &mut Inside) -> Answer {
        inside.changed(self.host.now());
        self.update(room, inside);
        Reply::json(&StateView::of(room, inside, self.host.now()))
    }

    /// Changes a room and answers with its new state.
    fn change(&self, id: &str, change: impl FnOnce(&mut Inside) -> Result<(), Refusal>) -> Answer {
        let room = self.rooms.get(id)?;
        let mut inside = room.enter();
        change(&mut inside)?;
        inside.problem = None;
        self.settled(&room, &mut inside)
    }

    /// Goes to another position, which nobody does while a clock runs.
    fn look_back(&self, id: &str, go: impl FnOnce(&mut Inside) -> Result<(), Refusal>) -> Answer {
        self.change(id, |inside| match inside.is_timed() {
            true => Err(Refusal::conflict(problem!("error.clockRuns", "nobody looks back while the clock runs"))),
            false => go(inside),
        })
    }

    /// Ends the game of whoever has no time left.
    fn flag(&self, id: &str) -> Answer {
        let now = self.host.now();
        self.change(id, |inside| {
            let clock = inside
                .clock
                .as_mut()
                .ok_or_else(|| Refusal::conflict(problem!("error.noClock", "the game has no clock")))?;
            let side =
                clock.over(now).ok_or_else(|| Refusal::conflict(problem!("error.timeLeft", "there is time left")))?;
            clock.out = Some(side);
            clock.stop(now);
            inside.game.forfeit(side);
            Ok(())
        })
    }

    fn state(&self, id: &str) -> Answer {
        let room = self.rooms.get(id)?;
        let inside = room.enter();
        Reply::json(&StateView::of(&room, &inside, self.host.now()))
    }

    fn close(&self, id: &str) -> Answer {
        self.rooms.get(id)?;
        self.rooms.close(id);
        self.host.ring();
        Reply::json(&json!({}))
    }

    fn play(&self, id: &str, asked: &MoveRequest) -> Answer {
        self.change(id, |inside| {
            if asked.stamp != inside.game.stamp() {
                return Err(Refusal::conflict(problem!(
                    "error.stale",
                    "the position has changed meanwhile; look again"
                )));
            }
            if inside.game.waits_for_player() {
                let name = inside.player_name(inside.game.side_to_move());
                return Err(Refusal::conflict(problem!("error.turn", "it is the turn of {name}", name = name)));
            }
            let mv = Move::parse(&asked.mv, inside.game.rules().size()).map_err(no_move)?;
            inside.play(mv, self.host.now()).map_err(Refusal::bad)
        })
    }

    fn go(&self, id: &str, asked: GoRequest) -> Answer {
        self.look_back(id, |inside| match asked {
            GoRequest::Place(place) => inside.game.go_to_place(place).map_err(no_place),
            GoRequest::Ply(ply) => {
                let plies = inside.game.line_len();
                if ply > plies {
                    return Err(no_place(format!("ply {ply}: the game has {plies}")));
                }
                inside.game.step_to(ply);
                Ok(())
            }
        })
    }

    fn hint(&self, id: &str) -> Answer {
        self.change(id, |inside| {
            if !inside.game.waits_for_person() {
                return Err(Refusal::conflict(problem!("error.hint", "a hint is for a person who is to move")));
            }
            inside.retry();
            inside.hint_wanted = true;
            Ok(())
        })
    }

    fn again(&self, id: &str, asked: AgainRequest) -> Answer {
        self.change(id, |inside| {
            inside.game.restart(asked.swap);
            inside.review = None;
            inside.clock = inside.clock.take().map(|clock| Clock::new(clock.asked));
            if asked.swap {
                inside.seats.swap(0, 1);
            }
            inside.retry();
            Ok(())
        })
    }

    fn analysis(&self, id: &str, asked: AnalysisRequest) -> Answer {
        if let Some(player) = &asked.player {
            players::name(&*self.players, player).map_err(no_player)?;
        }
        self.change(id, |inside| {
            if let Some(player) = asked.player {
                self.set_adviser(inside, player);
            }
            if asked.on && !matches!(inside.adviser, Some(PlayerId::Model(_))) {
                return Err(Refusal::conflict(no_model()));
            }
            inside.analysing = asked.on;
            inside.retry();
            Ok(())
        })
    }

    /// Begins a review of the line on the board, or puts it away.
    fn review(&self, id: &str, asked: ReviewRequest) -> Answer {
        self.change(id, |inside| {
            if asked.on && !inside.can_review() {
                return Err(Refusal::conflict(problem!(
                    "error.notOver",
                    "a game is reviewed when it is over and has moves"
                )));
            }
            if asked.on && !matches!(inside.adviser, Some(PlayerId::Model(_))) {
                return Err(Refusal::conflict(no_model()));
            }
            inside.review = asked.on.then(|| Review::new(&inside.game));
            inside.retry();
            Ok(())
        })
    }

    /// Has a move judged that a person would have played.
    fn attempt(&self, id: &str, asked: &TryRequest) -> Answer {
        self.change(id, |inside| {
            let mv = Move::parse(&asked.mv, inside.game.rules().size()).map_err(no_move)?;
            let missing = || Refusal::conflict(problem!("error.notReviewed", "the game is not reviewed"));
            let review = inside.review.as_mut().ok_or_else(missing)?;
            review.attempt(asked.ply, mv).map_err(no_move)
        })
    }

    /// The game as a file to keep.
    fn export(&self, id: &str, query: &str) -> Answer {
        let asked: ExportQuery = serde_urlencoded::from_str(query).map_err(|error| {
            Refusal::bad(request(format!("the query {query:?}: {error}; expected format=pgn or format=jsonl")))
        })?;
        let room = self.rooms.get(id)?;
        let inside = room.enter();
        let players = Side::BOTH.map(|side| inside.player_name(side));
        let (text, name) = match asked.format {
            ExportFormat::Pgn => {
                let mut tree = inside.game.game_tree(0);
                tree.record.players = players;
                (hnefi_record::pgn::tree_text(&tree), "game.pgn")
            }
            ExportFormat::Jsonl => {
                let record = GameRecord { players, ..inside.game.record(0) };
                (hnefi_record::json_line(&record, None).map(|line| line + "\n"), "game.jsonl")
            }
        };
        let body = text.map_err(no_text)?.into_bytes();
        Ok(Reply { status: 200, kind: "text/plain; charset=utf-8", file_name: Some(name), body })
    }
}

/// The rules of that name.
pub(super) fn ruleset(name: &str) -> Result<Preset, Refusal> {
    let unknown = |error: String| problem!("error.rules", "there are no such rules: {detail}", detail = error);
    names::ruleset(name).map_err(unknown).map_err(Refusal::bad)
}

fn moved(done: bool, nothing: impl FnOnce() -> Problem) -> Result<(), Refusal> {
    if done { Ok(()) } else { Err(Refusal::conflict(nothing())) }
}

fn resign(inside: &mut Inside) -> Result<(), Refusal> {
    let refused = |_| Refusal::conflict(problem!("error.resign", "nobody can resign here"));
    inside.game.resign().map(|_| ()).map_err(refused)
}

fn no_model() -> Problem {
    problem!("error.model", "only a model can do this; choose one")
}

// What is wrong in detail is said in English: it is about a text, a file or a request, letter by letter.

fn no_place(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.place", "this place of the game cannot be used: {detail}", detail = error.to_string()))
}

fn no_player(error: String) -> Refusal {
    Refusal::bad(problem!("error.player", "this player is not here: {detail}", detail = error))
}

fn no_position(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.position", "this position cannot be played: {detail}", detail = error.to_string()))
}

fn no_text(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.text", "this cannot be read: {detail}", detail = error.to_string()))
}

fn no_link(error: String) -> Refusal {
    Refusal::bad(problem!("error.link", "this link leads to no game: {detail}", detail = error))
}

fn not_kept(error: String) -> Refusal {
    Refusal::bad(problem!("error.kept", "the kept game cannot be opened: {detail}", detail = error))
}
