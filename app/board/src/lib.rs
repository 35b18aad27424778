//! A game on a board for a page: requests in, JSON views out, searches in slices.
//!
//! A [`Board`] holds games in rooms. [`Board::handle`] answers a page's requests, [`Board::listen`] tells a page what
//! happens in a game, and [`Board::work`] does a slice of the searches that the games need. The page knows no rules:
//! every view brings the legal moves.
//!
//! Nothing here opens a file or a socket, starts a thread or reads a clock: a [`Host`] says what time it is, is told of
//! work and of changes, and finds recorded games; [`Players`] knows the networks. So one board serves pages from a
//! server with threads, and a page without a server from a worker of its own.

mod address;
mod backend;
mod board;
mod clock;
mod elo;
mod ending;
mod exchange;
mod kept;
mod lessons;
mod listening;
mod players;
mod position_view;
mod problem;
mod puzzle_book;
mod refusal;
mod report;
mod requests;
mod review;
mod room;
mod rooms;
mod routes;
mod rulesets;
mod searches;
mod strength;
mod task;
pub mod texts;
mod view;
mod work_queue;

pub use backend::{ExternalPlayer, Host, Origin, Players, Question, RoomGame};
pub use board::{Board, BoardConfig};
pub use clock::ClockRequest;
pub use ending::EndingView;
pub use exchange::{Reply, Request};
pub use kept::KeptGame;
pub use listening::{Event, Listener};
pub use players::{DEEPEST, Fit, Offer, PlayerError, PlayerId, UnknownPlayer, adviser, player_name};
pub use problem::Problem;
pub use refusal::Refusal;
pub use requests::{NewGame, OpenGame};
pub use rooms::{Listening, NoRoomId, RoomId};
pub use routes::{Method, Pace, ROUTES, Route};
pub use searches::WorkerCache;
pub use strength::{LEVELS, Level, SeatRequest, Strength, StrengthError};
pub use task::{Answer, Task};
pub use work_queue::Next;
