//! The requests a page may make, and their answers: those about games go to the board, the others are answered here.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, get, on};
use hnefi_board::{Method, Pace, Players, ROUTES, Refusal, Reply, Route};
use serde_json::json;

use crate::error::{ApiError, Json, json as answer};
use crate::invitation::Invitation;
use crate::library;
use crate::queries::{PageQuery, PathQuery, RunQuery};
use crate::{Server, events, guard, pages};
use hnefi_play::watch::{about, csv, differences};

/// The largest request, in bytes: a game with all the variations, comments and views that boards keep.
const LARGEST_REQUEST: usize = 384 << 10;

type Answer = Result<Response, ApiError>;
type Shared = State<Arc<Server>>;

/// All there is to ask for.
pub(crate) fn router(server: Arc<Server>) -> Router {
    ROUTES
        .iter()
        .fold(Router::new(), |router, route| {
            let methods = match route.method {
                Method::Get => MethodFilter::GET,
                Method::Post => MethodFilter::POST,
                Method::Delete => MethodFilter::DELETE,
            };
            router.route(route.path, on(methods, move |server, request| board(route, server, request)))
        })
        .route("/", get(pages::board))
        .route("/learn.html", get(pages::learn))
        .route("/puzzles.html", get(pages::puzzles))
        .route("/watch", get(pages::watch))
        .route("/assets/{*name}", get(pages::file))
        .route("/api/files", get(files))
        .route("/api/files/games", get(file_games))
        .route("/api/watch", get(runs))
        .route("/api/watch/events", get(run_events))
        .route("/api/watch/metrics.csv", get(run_metrics))
        .route("/api/runs/{run}", get(run))
        .route("/api/runs/{run}/games", get(run_games))
        .route("/api/games/{id}/events", get(game_events))
        .route("/api/games/{id}/invitation", get(invitation))
        .fallback(async || ApiError::from(Refusal::no_such_page()))
        .method_not_allowed_fallback(async || ApiError::from(Refusal::wrong_method()))
        .layer(DefaultBodyLimit::max(LARGEST_REQUEST))
        .layer(middleware::from_fn_with_state(server.clone(), guard::check))
        .with_state(server)
}

/// Does what may take long on a thread of its own. A fault of the program in there ends the request, not the server.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T, ApiError> + Send + 'static) -> Result<T, ApiError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "a fault of the program")))
}

/// The same for what reads game files. Only a few files are read at once; other requests wait.
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

fn response(reply: Reply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, [(header::CONTENT_TYPE, reply.kind)], reply.body).into_response();
    if let Some(name) = reply.file_name
        && let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
    {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

/// A request of the board.
async fn board(route: &'static Route, State(server): Shared, request: Request) -> Answer {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let body = match route.method {
        Method::Post => Json::from_request(request, &server).await?.0,
        Method::Get | Method::Delete => Bytes::new(),
    };
    let (board, query) = (server.board.clone(), uri.query().unwrap_or_default().to_owned());
    let work = move || {
        let request = hnefi_board::Request { method: method.as_str(), path: uri.path(), query: &query, body: &body };
        Ok(response(board.answer(route, &request)))
    };
    match route.pace {
        Pace::Quick => work(),
        Pace::Slow => aside(work).await,
        Pace::Reading => reading(&server, work).await,
    }
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
    aside(move || Ok(answer(&server.library.entries(asked.folder, &asked.path, asked.first)?))).await
}

async fn file_games(State(server): Shared, asked: QueryOf<PathQuery>) -> Answer {
    let asked = query(asked)?;
    reading(&server.clone(), move || {
        let path = server.library.path(asked.folder, &asked.path)?;
        Ok(answer(&library::list(library::games(&path)?, asked.first, &server.models.identities())))
    })
    .await
}

/// What tells the runs apart.
async fn runs(State(server): Shared) -> Answer {
    aside(move || {
        let runs = about(server.library.runs());
        Ok(answer(&json!({ "differences": differences(&runs), "runs": runs })))
    })
    .await
}

async fn run_events(State(server): Shared) -> Answer {
    let place = server.board.listening_place()?;
    Ok(events::runs(server.library.runs(), place).into_response())
}

/// Every number of every run.
async fn run_metrics(State(server): Shared) -> Answer {
    reading(&server.clone(), move || {
        let mut table = Vec::new();
        csv(server.library.runs(), &mut table)
            .map_err(|error| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, error))?;
        let attached = "attachment; filename=\"metrics.csv\"";
        Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8"), (header::CONTENT_DISPOSITION, attached)], table)
            .into_response())
    })
    .await
}

/// A run's name and the generations with games.
async fn run(State(server): Shared, Path(run): Path<String>) -> Answer {
    let run = number(&run)?;
    aside(move || {
        let generations = server.library.generations(run)?;
        let name = server.library.run_names().swap_remove(run);
        Ok(answer(&json!({ "name": name, "generations": generations })))
    })
    .await
}

async fn run_games(State(server): Shared, Path(run): Path<String>, asked: QueryOf<RunQuery>) -> Answer {
    let (run, asked) = (number(&run)?, query(asked)?);
    reading(&server.clone(), move || {
        let generations = server.library.generations(run)?;
        let newest = generations.last().ok_or_else(|| ApiError::missing("the run has no games yet"))?;
        let generation = asked.generation.unwrap_or(*newest);
        let games = server.library.generation(run, generation)?;
        let games = library::found(games, &asked, &server.models.identities());
        Ok(answer(&json!({ "generation": generation, "list": games })))
    })
    .await
}

/// How somebody else comes to a game.
async fn invitation(State(server): Shared, Path(id): Path<String>, asked: QueryOf<PageQuery>) -> Answer {
    server.board.knows(&id)?;
    Ok(answer(&Invitation::new(&id, &query(asked)?.page, server.address)?))
}

/// What happens in a game.
async fn game_events(State(server): Shared, Path(id): Path<String>) -> Answer {
    let bell = server.process.listen();
    let listener = server.board.listen(&id)?;
    Ok(events::game(listener, bell).into_response())
}
