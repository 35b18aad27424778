//! The requests a page may make, and their answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hnefi_engine::{Move, Preset, Rules, Side};
use hnefi_inference::names;
use serde_json::json;

use super::error::{ApiError, Json, json as answer};
use super::library;
use super::models::{Fit, PlayerId, last_part};
use super::requests::{
    AgainRequest, AnalysisRequest, ExportFormat, ExportQuery, GoRequest, MoveRequest, NewGame, OpenGame, PathQuery,
    RunQuery, SeatRequest,
};
use super::room::{Inside, Room, RoomPlayer};
use super::strength::{LEVELS, Strength};
use super::view::{RulesView, StateView};
use super::{Server, assets, events, guard, texts};
use crate::session::Session;
use crate::table::Seat;

/// The largest request, in bytes: a pasted game of a thousand plies has some ten thousand.
const LARGEST_REQUEST: usize = 128 << 10;

/// How strong a player is that was given no strength.
const USUAL: Strength = Strength::Playouts(200);

type Answer = Result<Response, ApiError>;
type Shared = State<Arc<Server>>;

/// All there is to ask for.
pub(super) fn router(server: Arc<Server>) -> Router {
    Router::new()
        .route("/", get(assets::board))
        .route("/watch", get(assets::watch))
        .route("/assets/{name}", get(assets::file))
        .route("/api/setup", get(setup))
        .route("/api/files", get(files))
        .route("/api/files/games", get(file_games))
        .route("/api/runs/{run}", get(run))
        .route("/api/runs/{run}/events", get(run_events))
        .route("/api/runs/{run}/games", get(run_games))
        .route("/api/games", post(new_game))
        .route("/api/games/open", post(open_game))
        .route("/api/games/{id}", get(state).delete(close))
        .route("/api/games/{id}/events", get(game_events))
        .route("/api/games/{id}/move", post(play))
        .route("/api/games/{id}/undo", post(undo))
        .route("/api/games/{id}/redo", post(redo))
        .route("/api/games/{id}/go", post(go))
        .route("/api/games/{id}/back", post(back))
        .route("/api/games/{id}/resign", post(resign))
        .route("/api/games/{id}/hint", post(hint))
        .route("/api/games/{id}/again", post(again))
        .route("/api/games/{id}/retry", post(retry))
        .route("/api/games/{id}/analysis", post(analysis))
        .route("/api/games/{id}/export", get(export))
        .fallback(async || ApiError::missing("there is no such page"))
        .method_not_allowed_fallback(async || {
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this cannot be done by that method")
        })
        .layer(DefaultBodyLimit::max(LARGEST_REQUEST))
        .layer(middleware::from_fn_with_state(server.clone(), guard::check))
        .with_state(server)
}

/// Does what may take long where it holds up nobody. A fault of the program in there ends the request, not the server.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T, ApiError> + Send + 'static) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "a fault of the program")))
}

/// The same for what reads game files, of which no more than so many are read at once: others wait.
async fn reading<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let place = server.readers.clone().acquire_owned().await;
    aside(move || {
        let _place = place;
        work()
    })
    .await
}

/// What can be chosen.
async fn setup(State(server): Shared) -> Answer {
    aside(move || {
        let players = server.models.offers();
        let opponents: BTreeMap<&str, PlayerId> =
            Preset::ALL.iter().map(|&preset| (preset.name(), server.models.opponent(preset))).collect();
        let rules: Vec<RulesView> = Preset::ALL.iter().map(|preset| RulesView::of(&preset.rules())).collect();
        Ok(answer(&json!({
            "rules": rules,
            "first": server.first,
            "players": players,
            "opponents": opponents,
            "levels": LEVELS,
            "folders": server.library.folder_names(),
            "runs": server.library.run_names(),
        })))
    })
    .await
}

/// A query that does not parse is answered like every other mistake.
fn query<T>(query: Result<Query<T>, axum::extract::rejection::QueryRejection>) -> Result<T, ApiError> {
    query.map(|Query(query)| query).map_err(|rejection| ApiError::bad(rejection.body_text()))
}

/// The parameters of a path, likewise.
fn number(text: &str) -> Result<usize, ApiError> {
    text.parse().map_err(|_| ApiError::missing(format!("{text:?}: expected a number")))
}

type QueryOf<T> = Result<Query<T>, axum::extract::rejection::QueryRejection>;

async fn files(State(server): Shared, asked: QueryOf<PathQuery>) -> Answer {
    let asked = query(asked)?;
    aside(move || Ok(answer(&server.library.entries(asked.folder, &asked.path)?))).await
}

async fn file_games(State(server): Shared, asked: QueryOf<PathQuery>) -> Answer {
    let asked = query(asked)?;
    reading(&server.clone(), move || {
        let path = server.library.path(asked.folder, &asked.path)?;
        Ok(answer(&library::list(library::games(&path)?, asked.first, &server.models.names())))
    })
    .await
}

/// A run's configuration and its games by generation.
async fn run(State(server): Shared, Path(run): Path<String>) -> Answer {
    let run = number(&run)?;
    aside(move || {
        let configuration = server.library.run(run)?.configuration().ok();
        let generations = server.library.generations(run)?;
        let name = server.library.run_names().swap_remove(run);
        Ok(answer(&json!({ "name": name, "run": configuration, "generations": generations })))
    })
    .await
}

async fn run_events(State(server): Shared, Path(run): Path<String>, asked: QueryOf<RunQuery>) -> Answer {
    let run = server.library.run(number(&run)?)?.clone();
    let place = server.rooms.listen(None)?;
    Ok(events::run(run, query(asked)?.after, place).into_response())
}

async fn run_games(State(server): Shared, Path(run): Path<String>, asked: QueryOf<RunQuery>) -> Answer {
    let (run, asked) = (number(&run)?, query(asked)?);
    reading(&server.clone(), move || {
        let generations = server.library.generations(run)?;
        let newest = generations.last().ok_or_else(|| ApiError::missing("the run has no games yet"))?;
        let generation = asked.generation.unwrap_or(*newest);
        let games = library::list(server.library.generation(run, generation)?, asked.first, &server.models.names());
        Ok(answer(&json!({ "generation": generation, "list": games })))
    })
    .await
}

/// The rules of that name.
fn rules(name: &str) -> Result<Rules, ApiError> {
    Ok(names::ruleset(name).map_err(ApiError::bad)?.rules())
}

/// Who a seat is given to.
fn seat(server: &Server, seat: SeatRequest) -> Result<Seat<RoomPlayer>, ApiError> {
    let Some(id) = seat.player else { return Ok(Seat::Person) };
    let strength = seat.strength.unwrap_or(USUAL).checked().map_err(ApiError::bad)?;
    let name = server.models.name(&id).map_err(ApiError::bad)?;
    let name = match id {
        PlayerId::Model(_) => format!("{name}, {}", strength.words()),
        _ => name,
    };
    Ok(Seat::Player(RoomPlayer { id, name, strength }))
}

/// Chooses who gives hints and views: the opponent if it knows the rules, else a model that knows them or at least the
/// board, else a search by hand-made rules.
fn seat_adviser(server: &Server, inside: &mut Inside) {
    let rules = *inside.game.rules();
    let players = inside.seats.iter().filter_map(Seat::player);
    let opponent = players.map(|player| player.id.clone()).find(|id| matches!(id, PlayerId::Model(_)));
    let opponent = opponent.filter(|id| server.models.fit(id, &rules) == Fit::Rules);
    let id = opponent.or_else(|| server.models.adviser(&rules).map(|(id, _)| id)).unwrap_or(PlayerId::AlphaBeta(3));
    set_adviser(server, inside, id);
}

fn set_adviser(server: &Server, inside: &mut Inside, id: PlayerId) {
    inside.adviser_fit = server.models.fit(&id, inside.game.rules());
    inside.adviser_name = server.models.name(&id).unwrap_or_default();
    inside.adviser = Some(id);
}

async fn new_game(State(server): Shared, Json(asked): Json<NewGame>) -> Answer {
    aside(move || {
        let rules = rules(&asked.rules)?;
        let seats = [seat(&server, asked.attackers)?, seat(&server, asked.defenders)?];
        let names = seats.each_ref().map(|seat| seat.map(|player| player.name.clone()));
        let game = Session::new(rules, asked.fen, names).map_err(ApiError::bad)?;
        let room = server.rooms.open(game, seats)?;
        let mut inside = room.enter();
        seat_adviser(&server, &mut inside);
        Ok(settled(&server, &room, &mut inside))
    })
    .await
}

async fn open_game(State(server): Shared, Json(asked): Json<OpenGame>) -> Answer {
    reading(&server.clone(), move || {
        let (record, from) = match asked {
            OpenGame::Text { text, rules: name } => {
                (texts::pasted(&text, rules(&name)?).map_err(ApiError::bad)?, "Pasted game".to_owned())
            }
            OpenGame::File { folder, path, index } => {
                let path = server.library.path(folder, &path)?;
                let record = library::open(library::games(&path)?, index)?;
                let from = format!("{}, game {}", last_part(&path), record.game);
                (record, from)
            }
            OpenGame::Run { run, generation, index } => {
                let record = library::open(server.library.generation(run, generation)?, index)?;
                let run = server.library.run_names().swap_remove(run);
                let from = format!("{run}, generation {generation}, game {}", record.game);
                (record, from)
            }
        };
        let game = Session::of_record(&record).map_err(ApiError::bad)?;
        let room = server.rooms.open(game, [Seat::Person, Seat::Person])?;
        let mut inside = room.enter();
        if record.plies.is_empty() {
            inside.title = Some("A position".to_owned());
        } else {
            inside.title = Some(format!("{from}: {}", texts::result(&record)));
            inside.opened = Some(record.plies.iter().map(|ply| ply.mv).collect());
            let names = server.models.names();
            let name = |name: String| Some(library::player(name, &names)).filter(|name| name != "?");
            inside.players = record.players.map(name);
        }
        seat_adviser(&server, &mut inside);
        Ok(settled(&server, &room, &mut inside))
    })
    .await
}

/// The room's state after a change, with the work it needs handed out.
fn settled(server: &Server, room: &Arc<Room>, inside: &mut Inside) -> Response {
    inside.changed();
    server.workers.update(room, inside);
    answer(&StateView::of(&room.id, inside))
}

/// Changes a room and answers with its new state.
fn change(server: &Server, id: &str, change: impl FnOnce(&mut Inside) -> Result<(), ApiError>) -> Answer {
    let room = server.rooms.get(id)?;
    let mut inside = room.enter();
    change(&mut inside)?;
    inside.problem = None;
    Ok(settled(server, &room, &mut inside))
}

async fn state(State(server): Shared, Path(id): Path<String>) -> Answer {
    let room = server.rooms.get(&id)?;
    let inside = room.enter();
    Ok(answer(&StateView::of(&room.id, &inside)))
}

async fn close(State(server): Shared, Path(id): Path<String>) -> Answer {
    server.rooms.get(&id)?;
    server.rooms.close(&id);
    Ok(answer(&json!({})))
}

async fn game_events(State(server): Shared, Path(id): Path<String>) -> Answer {
    let room = server.rooms.get(&id)?;
    let place = server.rooms.listen(Some(&room))?;
    // Now that somebody looks on, there may be more to do.
    server.workers.update(&room, &mut room.enter());
    Ok(events::room(room, place).into_response())
}

async fn play(State(server): Shared, Path(id): Path<String>, Json(asked): Json<MoveRequest>) -> Answer {
    change(&server, &id, |inside| {
        if asked.stamp != inside.game.stamp() {
            return Err(ApiError::conflict("the position has changed meanwhile; look again"));
        }
        if inside.game.waits_for_player() {
            let name = inside.player_name(inside.game.side_to_move());
            return Err(ApiError::conflict(format!("it is the turn of {name}")));
        }
        let mv = Move::parse(&asked.mv, inside.game.rules().size()).map_err(ApiError::bad)?;
        inside.play(mv).map_err(ApiError::bad)
    })
}

async fn undo(State(server): Shared, Path(id): Path<String>) -> Answer {
    change(&server, &id, |inside| moved(inside.game.undo(), "there is nothing to take back"))
}

async fn redo(State(server): Shared, Path(id): Path<String>) -> Answer {
    change(&server, &id, |inside| moved(inside.game.redo(), "there is nothing to play again"))
}

async fn go(State(server): Shared, Path(id): Path<String>, Json(asked): Json<GoRequest>) -> Answer {
    change(&server, &id, |inside| {
        let plies = inside.game.all_plies().count();
        if asked.ply > plies {
            return Err(ApiError::bad(format!("ply {}: the game has {plies}", asked.ply)));
        }
        inside.game.step_to(asked.ply);
        Ok(())
    })
}

fn moved(done: bool, nothing: &str) -> Result<(), ApiError> {
    if done { Ok(()) } else { Err(ApiError::conflict(nothing)) }
}

/// Back from a variation to the game that was opened.
async fn back(State(server): Shared, Path(id): Path<String>) -> Answer {
    change(&server, &id, |inside| {
        let opened = inside.opened.clone().ok_or_else(|| ApiError::conflict("no game was opened"))?;
        let common = inside.game.game().moves().zip(&opened).take_while(|(played, mv)| played == *mv).count();
        inside.game.step_to(common);
        for mv in &opened[common..] {
            inside.play(*mv).map_err(ApiError::bad)?;
        }
        inside.game.step_to(common);
        Ok(())
    })
}

async fn resign(State(server): Shared, Path(id): Path<String>) -> Answer {
    change(&server, &id, |inside| inside.game.resign().map(|_| ()).map_err(ApiError::conflict))
}

async fn hint(State(server): Shared, Path(id): Path<String>) -> Answer {
    change(&server, &id, |inside| {
        if !inside.game.waits_for_person() {
            return Err(ApiError::conflict("a hint is for a person who is to move"));
        }
        inside.retry();
        inside.hint_wanted = true;
        Ok(())
    })
}

async fn again(State(server): Shared, Path(id): Path<String>, Json(asked): Json<AgainRequest>) -> Answer {
    change(&server, &id, |inside| {
        inside.game.restart(asked.swap);
        if asked.swap {
            inside.seats.swap(0, 1);
        }
        inside.retry();
        Ok(())
    })
}

async fn retry(State(server): Shared, Path(id): Path<String>) -> Answer {
    change(&server, &id, |inside| {
        inside.retry();
        Ok(())
    })
}

async fn analysis(State(server): Shared, Path(id): Path<String>, Json(asked): Json<AnalysisRequest>) -> Answer {
    aside(move || {
        if let Some(player) = &asked.player {
            server.models.name(player).map_err(ApiError::bad)?;
        }
        change(&server, &id, |inside| {
            if let Some(player) = asked.player.clone() {
                set_adviser(&server, inside, player);
            }
            if asked.on && !matches!(inside.adviser, Some(PlayerId::Model(_))) {
                return Err(ApiError::conflict("only a model can analyse; choose one"));
            }
            inside.analysing = asked.on;
            inside.retry();
            Ok(())
        })
    })
    .await
}

/// The game as a file to keep.
async fn export(State(server): Shared, Path(id): Path<String>, asked: QueryOf<ExportQuery>) -> Answer {
    let format = query(asked)?.format;
    let room = server.rooms.get(&id)?;
    let mut record = room.enter().game.record(0);
    record.players = Side::BOTH.map(|side| room.enter().player_name(side));
    let mut text = Vec::new();
    let (written, name) = match format {
        ExportFormat::Pgn => (hnefi_data::write_pgn([record], &mut text), "game.pgn"),
        ExportFormat::Jsonl => (hnefi_data::write_jsonl([record], &mut text), "game.jsonl"),
    };
    written.map_err(ApiError::bad)?;
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers: [(HeaderName, &str); 2] =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::CONTENT_DISPOSITION, &disposition)];
    Ok((headers, text).into_response())
}
