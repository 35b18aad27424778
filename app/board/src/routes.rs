//! The requests that a page may make: the one list of them, with what answers each and how long that may take.

use serde::de::DeserializeOwned;

use super::board::{moved, no_place, resign};
use super::exchange::{Answer, Reply, Request, request};
use super::requests::{CommentRequest, PromoteRequest, RemoveRequest};
use super::{Board, Refusal, lessons, problem, puzzle_book};

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// It looks.
    Get,
    /// It does something.
    Post,
    /// It closes a game.
    Delete,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It is there at once.
    Quick,
    /// A network is loaded, a folder listed or a puzzle solved for it.
    Slow,
    /// A file of games, which may be large, is read for it.
    Reading,
}

/// A request that a page may make.
pub struct Route {
    /// What it does.
    pub method: Method,
    /// Its path, in which `{id}` stands for any part.
    pub path: &'static str,
    /// How long its answer may take.
    pub pace: Pace,
    answer: fn(&Board, &RouteRequest<'_>) -> Answer,
}

/// A request as its route sees it.
struct RouteRequest<'a> {
    /// What stands for `{id}`; empty in a path without.
    id: &'a str,
    query: &'a str,
    body: &'a [u8],
}

impl RouteRequest<'_> {
    /// The query.
    fn query<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        let refused = |error| Refusal::bad(request(format!("the query {:?}: {error}", self.query)));
        serde_urlencoded::from_str(self.query).map_err(refused)
    }

    /// The body.
    fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(self.body).map_err(|error| Refusal::bad(request(error.to_string())))
    }
}

const fn get(path: &'static str, pace: Pace, answer: fn(&Board, &RouteRequest<'_>) -> Answer) -> Route {
    Route { method: Method::Get, path, pace, answer }
}

const fn post(path: &'static str, pace: Pace, answer: fn(&Board, &RouteRequest<'_>) -> Answer) -> Route {
    Route { method: Method::Post, path, pace, answer }
}

/// All requests of a page to a board.
pub static ROUTES: &[Route] = &[
    get("/api/setup", Pace::Slow, |board, _| board.setup()),
    post("/api/rules", Pace::Slow, |board, asked| board.rules(&asked.read()?)),
    post("/api/games", Pace::Slow, |board, asked| board.new_game(asked.read()?)),
    post("/api/games/open", Pace::Reading, |board, asked| board.open_game(asked.read()?)),
    get("/api/games/{id}", Pace::Quick, |board, asked| board.state(asked.id)),
    Route {
        method: Method::Delete,
        path: "/api/games/{id}",
        pace: Pace::Quick,
        answer: |board, asked| board.close(asked.id),
    },
    get("/api/games/{id}/export", Pace::Quick, |board, asked| board.export(asked.id, asked.query()?)),
    get("/api/games/{id}/kept", Pace::Quick, |board, asked| board.kept(asked.id)),
    get("/api/games/{id}/address", Pace::Quick, |board, asked| board.address(asked.id)),
    post("/api/games/{id}/move", Pace::Quick, |board, asked| board.play(asked.id, &asked.read()?)),
    post("/api/games/{id}/undo", Pace::Quick, |board, asked| {
        let nothing = || problem!("error.nothingBack", "there is nothing to take back");
        board.look_back(asked.id, |state| moved(state.game.undo(), nothing))
    }),
    post("/api/games/{id}/redo", Pace::Quick, |board, asked| {
        let nothing = || problem!("error.nothingAgain", "there is nothing to play again");
        board.look_back(asked.id, |state| moved(state.game.redo(), nothing))
    }),
    post("/api/games/{id}/go", Pace::Quick, |board, asked| board.go(asked.id, asked.read()?)),
    post("/api/games/{id}/back", Pace::Quick, |board, asked| {
        board.look_back(asked.id, |state| {
            state.game.go_to_main();
            Ok(())
        })
    }),
    post("/api/games/{id}/promote", Pace::Quick, |board, asked| {
        let PromoteRequest { place, main } = asked.read()?;
        board.look_back(asked.id, |state| state.game.promote(place, main).map_err(no_place))
    }),
    post("/api/games/{id}/remove", Pace::Quick, |board, asked| {
        let RemoveRequest { place } = asked.read()?;
        board.look_back(asked.id, |state| state.game.remove(place).map_err(no_place))
    }),
    post("/api/games/{id}/comment", Pace::Quick, |board, asked| {
        let CommentRequest { place, text } = asked.read()?;
        board.change(asked.id, |state| state.game.comment(place, &text).map_err(no_place))
    }),
    post("/api/games/{id}/resign", Pace::Quick, |board, asked| board.change(asked.id, resign)),
    post("/api/games/{id}/hint", Pace::Quick, |board, asked| board.hint(asked.id)),
    post("/api/games/{id}/flag", Pace::Quick, |board, asked| board.flag(asked.id)),
    post("/api/games/{id}/again", Pace::Slow, |board, asked| board.again(asked.id, asked.read()?)),
    post("/api/games/{id}/analysis", Pace::Slow, |board, asked| board.analysis(asked.id, asked.read()?)),
    post("/api/games/{id}/review", Pace::Quick, |board, asked| board.review(asked.id, asked.read()?)),
    post("/api/games/{id}/try", Pace::Quick, |board, asked| board.attempt(asked.id, &asked.read()?)),
    post("/api/games/{id}/retry", Pace::Quick, |board, asked| {
        board.change(asked.id, |state| {
            state.retry();
            Ok(())
        })
    }),
    get("/api/lessons", Pace::Quick, |_, asked| Reply::json(&lessons::course(&asked.query()?)?)),
    post("/api/lessons/attempt", Pace::Quick, |_, asked| Reply::json(&lessons::attempt(&asked.read()?)?)),
    get("/api/puzzles", Pace::Quick, |_, _| Reply::json(&puzzle_book::list())),
    get("/api/puzzles/{id}", Pace::Quick, |_, asked| Reply::json(&puzzle_book::set(asked.id)?)),
    post("/api/puzzles/{id}/attempt", Pace::Slow, |_, asked| {
        Reply::json(&puzzle_book::attempt(asked.id, &asked.read()?)?)
    }),
    post("/api/puzzles/{id}/solution", Pace::Slow, |_, asked| {
        Reply::json(&puzzle_book::solution(asked.id, &asked.read()?)?)
    }),
];

impl Route {
    /// What stands for `{id}` in a path of this route, empty in one without; `None` for other paths.
    fn id<'a>(&self, path: &'a str) -> Option<&'a str> {
        let mut id = "";
        let (mut ours, mut theirs) = (self.path.split('/'), path.split('/'));
        loop {
            match (ours.next(), theirs.next()) {
                (None, None) => return Some(id),
                (Some("{id}"), Some(part)) => id = part,
                (Some(part), Some(other)) if part == other => {}
                _ => return None,
            }
        }
    }
}

impl Board {
    /// Answers a request. It may take as long as loading networks or, for a game of a file or a run, reading it takes.
    pub fn handle(&self, request: &Request<'_>) -> Reply {
        let is_known = |route: &&Route| route.id(request.path).is_some();
        let has_method = |route: &&Route| match route.method {
            Method::Get => ["GET", "HEAD"].contains(&request.method),
            Method::Post => request.method == "POST",
            Method::Delete => request.method == "DELETE",
        };
        let mut known = ROUTES.iter().filter(is_known).peekable();
        let refusal = if known.peek().is_some() { Refusal::wrong_method() } else { Refusal::no_such_page() };
        known.find(has_method).map_or_else(|| refusal.into(), |route| self.answer(route, request))
    }

    /// Answers a request of this route.
    pub fn answer(&self, route: &Route, request: &Request<'_>) -> Reply {
        let Some(id) = route.id(request.path) else { return Refusal::no_such_page().into() };
        let asked = RouteRequest { id, query: request.query, body: request.body };
        (route.answer)(self, &asked).unwrap_or_else(Reply::from)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_request_stands_in_the_list_once_and_finds_its_id() {
        let named: BTreeSet<_> = ROUTES.iter().map(|route| (format!("{:?}", route.method), route.path)).collect();
        assert_eq!(named.len(), ROUTES.len());
        let route = |path: &str| ROUTES.iter().find(|route| route.path == path).expect("a route");
        let undo = route("/api/games/{id}/undo");
        assert_eq!(undo.id("/api/games/7f/undo"), Some("7f"));
        for other in ["/api/games/7f", "/api/games/7f/redo", "/api/games/7f/undo/", "/games/7f/undo", "/api/games/undo"]
        {
            assert_eq!(undo.id(other), None, "{other}");
        }
        assert_eq!(route("/api/games/open").id("/api/games/open"), Some(""));
    }
}
