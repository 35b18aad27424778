//! A board for browsers: a small server with one hand-written page, for the person at this machine.
//!
//! The page draws and asks; everything it shows comes from the board (`hnefi_board`), whose host this is (`host.rs`): a
//! fixed number of threads takes turns with its searches, which are streamed to the page while they run (`events.rs`).
//! The training page reads a run's directory ([`hnefi_play::watch`]).
//!
//! The server listens to this machine alone unless told otherwise, answers only to its own page (`guard.rs`), reads no
//! file but the page's own and what lies below the folders it was given (`library.rs`), and holds bounded amounts of
//! everything.

mod bell;
mod error;
mod events;
mod first_game;
mod guard;
mod host;
mod invitation;
mod library;
mod listener;
mod models;
mod opponent;
mod pages;
mod queries;
mod routes;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hnefi_arena::players::PlayerSpec;
use hnefi_board::{Board, BoardConfig, PlayerId};
use hnefi_engine::{NamedRules, Preset};
use hnefi_inference::Devices;
use hnefi_run::Run;
use hnefi_run::store::{Location, RetryPolicy};
use tokio::sync::Semaphore;

pub use error::WebError;

use first_game::{FirstGame, Opponent};
use guard::Hosts;
use host::Process;
use library::Library;
use listener::Bounds;
use models::Models;

/// Game files that are read at once: each may take some hundred megabytes.
const READERS: usize = 2;

/// Searches that hold memory at once.
const SEARCHES: usize = 8;

/// How long a thread stays with one search.
const SLICE: Duration = Duration::from_millis(100);

/// What a server offers and how much of it.
#[derive(Clone, Debug)]
pub struct WebConfig {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Host names to answer to besides `localhost`.
    pub hosts: Vec<String>,
    /// Run directories: their checkpoints play, their games and metrics are shown.
    pub runs: Vec<PathBuf>,
    /// Folders with game files, or single checkpoints, which have a card.
    pub folders: Vec<PathBuf>,
    /// The ruleset that is offered first, and of the game that a page begins with.
    pub rules: NamedRules,
    /// FEN that this game begins from; `None` for the standard start.
    pub fen: Option<String>,
    /// Which sides of it a person moves, by [`hnefi_engine::Side::index`].
    pub people: [bool; 2],
    /// Who moves the others; `None` for the network that knows the rules best.
    pub opponent: Option<PlayerSpec>,
    /// Where networks run.
    pub devices: Devices,
    /// Threads that search.
    pub threads: usize,
    /// Games open at once.
    pub rooms: usize,
    /// Pages that listen at once.
    pub listeners: usize,
    /// Connections at once.
    pub connections: usize,
    /// How long a request may take to come, its head and its body each.
    pub patience: Duration,
    /// Seed of the players' random choices.
    pub seed: u64,
}

impl Default for WebConfig {
    fn default() -> WebConfig {
        WebConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 8037)),
            hosts: Vec::new(),
            runs: Vec::new(),
            folders: Vec::new(),
            rules: Preset::Brandubh.into(),
            fen: None,
            people: [false, true],
            opponent: None,
            devices: Devices::cpu(),
            threads: hnefi_play::search_threads(),
            rooms: 64,
            listeners: 64,
            connections: 256,
            patience: Duration::from_secs(10),
            seed: 0,
        }
    }
}

/// A server that has its port and waits to be run.
pub struct WebServer {
    listener: std::net::TcpListener,
    address: SocketAddr,
    server: Arc<Server>,
    bounds: Bounds,
}

/// What all requests share.
struct Server {
    /// Where it listens.
    address: SocketAddr,
    hosts: Hosts,
    models: Arc<Models>,
    library: Arc<Library>,
    process: Arc<Process>,
    board: Arc<Board>,
    /// Places for those who read game files.
    readers: Arc<Semaphore>,
    patience: Duration,
}

impl WebServer {
    /// Takes the port, looks at the folders and finds the opponent.
    ///
    /// # Errors
    /// When the port is taken, a folder is not there, or the first game cannot be played.
    pub fn bind(config: WebConfig) -> Result<WebServer, WebError> {
        let address = config.listen;
        let listen = |source| WebError::Listen { address, source };
        let (mut checkpoints, folders): (Vec<PathBuf>, Vec<PathBuf>) =
            config.folders.into_iter().partition(|folder| models::is_checkpoint(folder));
        let mut runs = config.runs;
        let WebConfig { rules, fen, people, opponent, .. } = config;
        let asked = FirstGame { rules, fen, opponent };
        let (named, offered) = match asked.prepare(&config.devices, &mut runs, &mut checkpoints)? {
            None => (None, None),
            Some(Opponent::Offered(id, strength)) => (None, Some((id, strength))),
            Some(Opponent::External(named)) => (Some(named), Some((PlayerId::External, None))),
        };
        let open = |path: &PathBuf| {
            Run::open(&Location::from(path.as_path()), RetryPolicy::interactive())
                .map(Arc::new)
                .map_err(|error| WebError::Folder { path: path.clone(), problem: error.to_string() })
        };
        let runs: Vec<Arc<Run>> = runs.iter().map(open).collect::<Result<_, _>>()?;
        let library = Arc::new(Library::new(&folders, runs.clone())?);
        let listener = std::net::TcpListener::bind(address).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let models = Arc::new(Models::new(config.devices, runs, checkpoints, named));
        let process = Arc::new(Process::new(library.clone()));
        let limits = BoardConfig {
            rooms: config.rooms,
            listeners: config.listeners,
            searches: SEARCHES,
            slice: SLICE,
            first: Board::first_game(&*models, rules, asked.fen, people, offered),
            seed: config.seed,
        };
        let board = Arc::new(Board::new(process.clone(), models.clone(), limits));
        host::search(&process, &board, config.threads);
        let server = Server {
            address,
            hosts: Hosts::new(address, &config.hosts),
            models,
            library,
            process,
            board,
            readers: Arc::new(Semaphore::new(READERS)),
            patience: config.patience,
        };
        let bounds = Bounds { most: config.connections, patience: config.patience };
        Ok(WebServer { listener, address, server: Arc::new(server), bounds })
    }

    /// Where it listens, with the port it got.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where a browser reaches it: where it listens to all addresses of this machine, the one that leads out of it or,
    /// if there is no way out, the machine itself.
    pub fn reached_at(&self) -> SocketAddr {
        let own = match self.address.ip() {
            IpAddr::V4(_) => IpAddr::from(Ipv4Addr::LOCALHOST),
            IpAddr::V6(_) => IpAddr::from(Ipv6Addr::LOCALHOST),
        };
        let ip = Some(self.address.ip()).filter(|ip| !ip.is_unspecified());
        let ip = ip.or_else(|| invitation::outward(self.address.ip())).unwrap_or(own);
        SocketAddr::new(ip, self.address.port())
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// When the system refuses threads or sockets.
    pub fn run(self) -> Result<(), WebError> {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        // Files are read beside the requests, a few at a time.
        let runtime = runtime.enable_io().enable_time().max_blocking_threads(4).build()?;
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            listener::serve(listener, self.bounds, routes::router(self.server)).await;
            Ok(())
        })
    }
}
