//! The board: all games, and the requests that a page may make about them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hnefi_engine::{Move, Preset, Rules, Side};
use hnefi_inference::names;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::line::Line;
use super::players::{self, Fit, PlayerId, player_name};
use super::requests::{
    AgainRequest, AnalysisRequest, ExportFormat, ExportQuery, GoRequest, MoveRequest, NewGame, OpenGame, SeatRequest,
};
use super::room::{Inside, Room, RoomPlayer};
use super::rooms::{Listening, Rooms};
use super::strength::{LEVELS, Strength};
use super::view::{RulesView, StateView};
use super::{Host, Listener, Players, Refusal, Seat, Session, Task, texts};

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

/// What a page asks.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method, such as `GET`.
    pub method: &'a str,
    /// The path, such as `/api/setup`.
    pub path: &'a str,
    /// The query, without the question mark.
    pub query: &'a str,
    /// The body, in JSON where the request takes one.
    pub body: &'a [u8],
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status as in HTTP.
    pub status: u16,
    /// The content type.
    pub kind: &'static str,
    /// The name to keep it under, for what a page saves.
    pub file_name: Option<&'static str>,
    /// The content.
    pub body: Vec<u8>,
}

type Answer = Result<Reply, Refusal>;

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

impl Reply {
    fn json(value: &impl Serialize) -> Answer {
        let body = serde_json::to_vec(value)
            .map_err(|error| Refusal::new(500, format!("an answer that is no JSON: {error}")))?;
        Ok(Reply { status: 200, kind: "application/json", file_name: None, body })
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Reply {
        Reply { status: refusal.status, kind: "application/json", file_name: None, body: refusal.body() }
    }
}

impl Request<'_> {
    /// The parts of the path behind `/api/`; `None` for other paths.
    fn parts(path: &str) -> Option<Vec<&str>> {
        Some(path.strip_prefix("/api/")?.split('/').collect())
    }

    /// Whether a request to this path takes a body.
    pub fn takes_body(path: &str) -> bool {
        matches!(
            Request::parts(path).as_deref(),
            Some(["games"] | ["games", "open"] | ["games", _, "move" | "go" | "again" | "analysis"])
        )
    }

    /// Refuses other methods.
    fn only(&self, method: &str) -> Result<(), Refusal> {
        if self.method == method || (self.method == "HEAD" && method == "GET") { Ok(()) } else { Err(wrong_method()) }
    }

    /// The body of a request that takes one.
    fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(self.body).map_err(|error| Refusal::bad(format!("the request: {error}")))
    }
}

fn wrong_method() -> Refusal {
    Refusal::new(405, "this cannot be done by that method")
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
    /// have `opponent` or, where nobody is named, the network that is chosen everywhere, at a middling level.
    pub fn first_game(
        players: &dyn Players,
        rules: Preset,
        fen: Option<String>,
        people: [bool; 2],
        opponent: Option<(PlayerId, Option<Strength>)>,
    ) -> NewGame {
        let (player, strength) = opponent.unwrap_or_else(|| {
            let id = players::opponent(players, rules);
            let strength = matches!(id, PlayerId::Model(_)).then_some(Strength::Level(4));
            (id, strength)
        });
        let seat = |is_person: bool| match is_person {
            true => SeatRequest::default(),
            false => SeatRequest { player: Some(player.clone()), strength },
        };
        let [attackers, defenders] = people.map(seat);
        NewGame { rules: rules.name().to_owned(), attackers, defenders, fen }
    }

    /// Answers a request. It may take as long as loading networks or, for a game of a file or a run, reading it takes.
    pub fn handle(&self, request: &Request<'_>) -> Reply {
        self.answer(request).unwrap_or_else(Reply::from)
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
        Ok(Listener::new(room, place))
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
            ["games", id, "export"] => {
                request.only("GET")?;
                self.export(id, request.query)
            }
            [
                "games",
                id,
                what @ ("move" | "undo" | "redo" | "go" | "back" | "resign" | "hint" | "again" | "retry" | "analysis"),
            ] => {
                request.only("POST")?;
                match what {
                    "move" => self.play(id, &request.read()?),
                    "undo" => self.change(id, |inside| moved(inside.game.undo(), "there is nothing to take back")),
                    "redo" => self.change(id, |inside| moved(inside.game.redo(), "there is nothing to play again")),
                    "go" => self.go(id, request.read()?),
                    "back" => self.back(id),
                    "resign" => self.change(id, |inside| inside.game.resign().map(|_| ()).map_err(Refusal::conflict)),
                    "hint" => self.hint(id),
                    "again" => self.again(id, request.read()?),
                    "analysis" => self.analysis(id, request.read()?),
                    _ => self.change(id, |inside| {
                        inside.retry();
                        Ok(())
                    }),
                }
            }
            _ => Err(Refusal::missing("there is no such page")),
        }
    }

    /// What can be chosen.
    fn setup(&self) -> Answer {
        let players = &*self.players;
        let opponents: BTreeMap<&str, PlayerId> =
            Preset::ALL.iter().map(|&preset| (preset.name(), players::opponent(players, preset))).collect();
        let rules: Vec<RulesView> = Preset::ALL.iter().map(|preset| RulesView::of(&preset.rules())).collect();
        Reply::json(&json!({
            "rules": rules,
            "first": self.first,
            "players": players::offers(players),
            "opponents": opponents,
            "levels": LEVELS,
            "folders": self.host.folders(),
            "runs": self.host.runs(),
        }))
    }

    /// Who a seat is given to.
    fn seat(&self, seat: SeatRequest) -> Result<Seat<RoomPlayer>, Refusal> {
        let Some(id) = seat.player else { return Ok(Seat::Person) };
        let strength = seat.strength.unwrap_or(USUAL).checked().map_err(Refusal::bad)?;
        let name = players::name(&*self.players, &id).map_err(Refusal::bad)?;
        let name = match id {
            PlayerId::Model(_) => format!("{name}, {}", strength.words()),
            _ => name,
        };
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
        let rules = rules(&asked.rules)?;
        let seats = [self.seat(asked.attackers)?, self.seat(asked.defenders)?];
        let names = seats.each_ref().map(|seat| seat.map(|player| player.name.clone()));
        let game = Session::new(rules, asked.fen, names).map_err(Refusal::bad)?;
        let room = self.rooms.open(game, seats, self.host.now())?;
        let mut inside = room.enter();
        self.seat_adviser(&mut inside);
        self.settled(&room, &mut inside)
    }

    fn open_game(&self, asked: OpenGame) -> Answer {
        let (record, from) = match &asked {
            OpenGame::Text { text, rules: name } => {
                (texts::pasted(text, rules(name)?).map_err(Refusal::bad)?, "Pasted game".to_owned())
            }
            OpenGame::File { .. } | OpenGame::Run { .. } => self.host.recorded(&asked)?,
        };
        let game = Session::of_record(&record).map_err(Refusal::bad)?;
        let room = self.rooms.open(game, [Seat::Person, Seat::Person], self.host.now())?;
        let mut inside = room.enter();
        if record.plies.is_empty() {
            inside.title = Some("A position".to_owned());
        } else {
            inside.title = Some(format!("{from}: {}", texts::result(&record)));
            inside.opened = Some(record.plies.iter().map(|ply| ply.mv).collect());
            let names = self.players.identities();
            let name = |name: String| Some(player_name(name, &names)).filter(|name| name != "?");
            inside.players = record.players.map(name);
        }
        self.seat_adviser(&mut inside);
        self.settled(&room, &mut inside)
    }

    /// The room's state after a change, with the work it needs handed out.
    fn settled(&self, room: &Arc<Room>, inside: &mut Inside) -> Answer {
        inside.changed(self.host.now());
        self.update(room, inside);
        Reply::json(&StateView::of(&room.id, inside))
    }

    /// Changes a room and answers with its new state.
    fn change(&self, id: &str, change: impl FnOnce(&mut Inside) -> Result<(), Refusal>) -> Answer {
        let room = self.rooms.get(id)?;
        let mut inside = room.enter();
        change(&mut inside)?;
        inside.problem = None;
        self.settled(&room, &mut inside)
    }

    fn state(&self, id: &str) -> Answer {
        let room = self.rooms.get(id)?;
        let inside = room.enter();
        Reply::json(&StateView::of(&room.id, &inside))
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
                return Err(Refusal::conflict("the position has changed meanwhile; look again"));
            }
            if inside.game.waits_for_player() {
                let name = inside.player_name(inside.game.side_to_move());
                return Err(Refusal::conflict(format!("it is the turn of {name}")));
            }
            let mv = Move::parse(&asked.mv, inside.game.rules().size()).map_err(Refusal::bad)?;
            inside.play(mv, self.host.now()).map_err(Refusal::bad)
        })
    }

    fn go(&self, id: &str, asked: GoRequest) -> Answer {
        self.change(id, |inside| {
            let plies = inside.game.all_plies().count();
            if asked.ply > plies {
                return Err(Refusal::bad(format!("ply {}: the game has {plies}", asked.ply)));
            }
            inside.game.step_to(asked.ply);
            Ok(())
        })
    }

    /// Back from a variation to the game that was opened.
    fn back(&self, id: &str) -> Answer {
        self.change(id, |inside| {
            let opened = inside.opened.clone().ok_or_else(|| Refusal::conflict("no game was opened"))?;
            let common = inside.game.game().moves().zip(&opened).take_while(|(played, mv)| played == *mv).count();
            inside.game.step_to(common);
            for mv in &opened[common..] {
                inside.play(*mv, self.host.now()).map_err(Refusal::bad)?;
            }
            inside.game.step_to(common);
            Ok(())
        })
    }

    fn hint(&self, id: &str) -> Answer {
        self.change(id, |inside| {
            if !inside.game.waits_for_person() {
                return Err(Refusal::conflict("a hint is for a person who is to move"));
            }
            inside.retry();
            inside.hint_wanted = true;
            Ok(())
        })
    }

    fn again(&self, id: &str, asked: AgainRequest) -> Answer {
        self.change(id, |inside| {
            inside.game.restart(asked.swap);
            if asked.swap {
                inside.seats.swap(0, 1);
            }
            inside.retry();
            Ok(())
        })
    }

    fn analysis(&self, id: &str, asked: AnalysisRequest) -> Answer {
        if let Some(player) = &asked.player {
            players::name(&*self.players, player).map_err(Refusal::bad)?;
        }
        self.change(id, |inside| {
            if let Some(player) = asked.player {
                self.set_adviser(inside, player);
            }
            if asked.on && !matches!(inside.adviser, Some(PlayerId::Model(_))) {
                return Err(Refusal::conflict("only a model can analyse; choose one"));
            }
            inside.analysing = asked.on;
            inside.retry();
            Ok(())
        })
    }

    /// The game as a file to keep.
    fn export(&self, id: &str, query: &str) -> Answer {
        let asked: ExportQuery = serde_urlencoded::from_str(query).map_err(|error| {
            Refusal::bad(format!("the query {query:?}: {error}; expected format=pgn or format=jsonl"))
        })?;
        let room = self.rooms.get(id)?;
        let inside = room.enter();
        let mut record = inside.game.record(0);
        record.players = Side::BOTH.map(|side| inside.player_name(side));
        let (text, name) = match asked.format {
            ExportFormat::Pgn => (hnefi_record::pgn::text(&record, None), "game.pgn"),
            ExportFormat::Jsonl => (hnefi_record::json_line(&record, None).map(|line| line + "\n"), "game.jsonl"),
        };
        let body = text.map_err(Refusal::bad)?.into_bytes();
        Ok(Reply { status: 200, kind: "text/plain; charset=utf-8", file_name: Some(name), body })
    }
}

/// The rules of that name.
fn rules(name: &str) -> Result<Rules, Refusal> {
    Ok(names::ruleset(name).map_err(Refusal::bad)?.rules())
}

fn moved(done: bool, nothing: &str) -> Result<(), Refusal> {
    if done { Ok(()) } else { Err(Refusal::conflict(nothing)) }
}
