//! The thread that plays: commands in order, and the search.

use std::time::{Duration, Instant};

use hnefi_engine::{Ending, Game, Move, NamedRules, Position, Preset, Rules};
use hnefi_inference::{DeviceChoice, Devices, Evaluator, Precision, PrecisionChoice};
use hnefi_search::rng_for;
use hnefi_search::{RootKind, Search, SearchConfig, SearchReport, Searching, search_on_threads};
use rand::RngExt;

use super::clock::time_for;
use super::command::{Command, Go, NODES_INSTEAD};
use super::game;
use super::info::Findings;
use super::network::Network;
use super::options::{Changed, Options};
use super::output::Output;
use super::queue::{CommandQueue, QueuedCommand};
use hnefi_record::words;

/// When a search is first reported on; the time doubles with each report up to [`RARELY`].
const SOON: Duration = Duration::from_millis(50);

/// The longest time between two reports.
const RARELY: Duration = Duration::from_millis(500);

/// A search that must answer before its first evaluation is there waits so long for it.
const FIRST_EVALUATION: Duration = Duration::from_millis(500);

/// Bytes of a node without its moves, by [`SearchConfig::max_nodes`].
const NODE_BYTES: u64 = 80;

/// Bytes of a move: 16, and one for what the memory of moves leaves unused.
const MOVE_BYTES: u64 = 17;

/// The trees that are held at once: the one searched, and the memory that the kept part of it is moved to.
const TREES: u64 = 2;

/// What answers the commands.
pub(super) struct Engine<'a> {
    queue: &'a CommandQueue,
    output: &'a Output,
    devices: &'a Devices,
    options: Options,
    /// `None` until it is needed.
    network: Option<Network>,
    /// One per thread, made when they are needed.
    evaluators: Vec<Box<dyn Evaluator>>,
    game: Game,
    search: Search,
    /// Where the tree stands.
    planted: Option<Game>,
    /// Games begun.
    games: u64,
    /// When the latest search was answered.
    free_since: Instant,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        queue: &'a CommandQueue,
        output: &'a Output,
        devices: &'a Devices,
        options: Options,
        network: Option<Network>,
    ) -> Engine<'a> {
        let game = Game::new(&options.rules.rules());
        let search = new_search(&options);
        Engine {
            queue,
            output,
            devices,
            options,
            network,
            evaluators: Vec::new(),
            game,
            search,
            planted: None,
            games: 0,
            free_since: Instant::now(),
        }
    }

    /// Answers commands until there are no more, or the output is closed.
    pub(super) fn run(mut self) {
        while let Some(queued) = self.queue.next().filter(|_| !self.output.is_broken()) {
            self.execute(queued);
        }
    }

    fn execute(&mut self, queued: QueuedCommand) {
        match queued.command {
            Command::Uci => {
                let id =
                    [format!("id name Hnefi {}", env!("CARGO_PKG_VERSION")), "id author the Hnefi project".to_owned()];
                let end = ["uciok".to_owned()];
                self.output.lines(id.into_iter().chain(self.options.declarations()).chain(end));
            }
            Command::IsReady => {
                self.load_network();
                self.output.lines(["readyok"]);
            }
            Command::NewGame => {
                self.games += 1;
                self.begin_anew();
            }
            Command::SetOption { name, value } => self.set_option(&name, value.as_deref()),
            Command::Position { fen, moves } => match game::read(&self.options.rules.rules(), fen.as_deref(), &moves) {
                Ok(game) => self.game = game,
                Err(problem) => self.output.info(&format!("{problem}; the position stays as it was")),
            },
            Command::Go(go) => {
                // The time that it waited for another search is not taken off it.
                self.go(&go, queued.search, queued.received.max(self.free_since));
                self.free_since = Instant::now();
            }
            // The reader sees to these.
            Command::Debug(_) | Command::Register | Command::Stop | Command::PonderHit | Command::Quit => {}
        }
    }

    fn begin_anew(&mut self) {
        self.game = Game::new(&self.options.rules.rules());
        self.planted = None;
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) {
        let before = self.options.clone();
        match self.options.set(name, value) {
            Err(problem) => self.output.info(&format!("setoption: {problem}")),
            Ok(Changed::Nothing) => {}
            Ok(Changed::Threads) => self.evaluators.truncate(self.options.threads),
            Ok(Changed::Hash) => {
                self.search = new_search(&self.options);
                self.planted = None;
            }
            Ok(Changed::Rules) => {
                if self.options.rules != before.rules {
                    self.rules_changed();
                }
            }
            Ok(Changed::Network) => {
                if let Err(problem) = self.change_network() {
                    let stays = before.network.as_deref().unwrap_or("the shipped one");
                    self.output.info(&format!("setoption: {name}: {problem}; the network stays {stays}"));
                    self.options = before;
                }
            }
        }
    }

    fn rules_changed(&mut self) {
        self.search = new_search(&self.options);
        self.begin_anew();
        match &self.network {
            // Nobody chose the network: it is the shipped one of other rules.
            Some(_) if self.options.network.is_none() => self.forget_network(),
            Some(network) => network.warning(self.options.rules).into_iter().for_each(|text| self.output.info(&text)),
            None => {}
        }
    }

    fn change_network(&mut self) -> Result<(), String> {
        let precision = self.options.precision;
        let narrow = !matches!(precision, PrecisionChoice::Auto | PrecisionChoice::Exactly(Precision::F32));
        if narrow && *self.devices.names() != DeviceChoice::Cpu.into() {
            return Err(format!("precision {precision} is for the device cpu alone; expected auto or f32"));
        }
        let name = self.options.network.as_deref();
        let named = name.map(|name| Network::named(name, self.devices, precision)).transpose()?;
        self.forget_network();
        if let Some(network) = named {
            self.introduce(network);
        }
        Ok(())
    }

    fn forget_network(&mut self) {
        self.network = None;
        self.evaluators.clear();
        self.planted = None;
    }

    fn introduce(&mut self, network: Network) {
        self.output.info(&network.description);
        network.warning(self.options.rules).into_iter().for_each(|text| self.output.info(&text));
        self.network = Some(network);
    }

    /// Sees to a network and an evaluator for each thread.
    fn load_network(&mut self) {
        if self.network.is_none() {
            self.introduce(Network::shipped(self.options.rules, self.devices, self.options.precision));
        }
        if let Some(network) = &self.network {
            self.evaluators.resize_with(self.options.threads, || network.evaluator());
        }
    }

    fn go(&mut self, go: &Go, number: u64, received: Instant) {
        let instead = if go.nodes_instead { format!("; {NODES_INSTEAD} nodes instead") } else { String::new() };
        go.skipped.iter().for_each(|problem| self.output.info(&format!("{problem}{instead}")));
        self.load_network();
        let position = self.game.position();
        if position.count_legal_moves() == 0 {
            if let Some(outcome) = position.outcome() {
                let end = words::ending(Ending::Board(outcome), position.rules());
                self.output.info(&format!("the game is over: {end}"));
            }
            self.queue.answered();
            self.output.lines(["bestmove (none)"]);
            return;
        }
        let (side, ply) = (position.side_to_move(), position.ply());
        let among = self.among(&go.search_moves);
        self.plant(&among);
        // Without a number of nodes the tree's memory is the limit.
        self.search.extend(go.nodes.filter(|_| !go.infinite).unwrap_or(1_000_000_000));
        let watcher = Watcher {
            queue: self.queue,
            output: self.output,
            options: &self.options,
            game: &self.game,
            chance: [self.seed(), self.games, u64::from(ply)],
            number,
            go,
            received,
            time: time_for(go, side),
        };
        let signal = &self.queue.signal;
        let ((), end) =
            search_on_threads(&mut self.search, &mut self.evaluators, signal, |search| watcher.watch(search));
        if let Err(error) = end {
            self.output.info(&format!("the search was cut short: {error}"));
        }
    }

    /// The legal ones among the moves that are to be searched; if there are none, all are.
    fn among(&self, texts: &[String]) -> Vec<Move> {
        let position = self.game.position();
        let legal = |text: &String| {
            let mv = Move::parse(text, position.size()).map_err(|error| error.to_string())?;
            position.check(mv).map(|()| mv).map_err(|error| error.to_string())
        };
        let read = |text| legal(text).map_err(|problem| self.output.info(&format!("go searchmoves: {problem}"))).ok();
        texts.iter().filter_map(read).collect()
    }

    /// Brings the tree to the game: along the moves played since the last search, or from nothing, as a search among a
    /// part of the moves always begins.
    fn plant(&mut self, among: &[Move]) {
        let kept = self.planted.take().filter(|_| among.is_empty()).is_some_and(|planted| {
            match self.game.plies_since(&planted) {
                None => false,
                Some([]) => self.search.again(),
                Some(plies) => plies.iter().all(|ply| self.search.advance(ply.mv)),
            }
        });
        if !kept {
            self.search.begin_among(self.game.position(), among, 0, None);
        }
        self.planted = among.is_empty().then(|| self.game.clone());
    }

    /// The seed that was set; 0 stands for a random one.
    fn seed(&self) -> u64 {
        match self.options.seed {
            0 => {
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                now.map_or(0, |elapsed| elapsed.as_nanos() as u64)
            }
            seed => seed,
        }
    }
}

fn new_search(options: &Options) -> Search {
    Search::new(SearchConfig {
        root: RootKind::Puct,
        max_nodes: most_nodes(&options.rules.rules(), options.hash),
        ..SearchConfig::default()
    })
}

/// Nodes of a tree that, with its successor, fits into this memory. A position has about as many moves as the start or, where that is
/// crowded, as the board has squares.
pub(super) fn most_nodes(rules: &Rules, mebibytes: u32) -> u32 {
    let moves = Position::start(rules).count_legal_moves().max(rules.size().squares()) as u64;
    let nodes = (u64::from(mebibytes) << 20) / (TREES * (NODE_BYTES + MOVE_BYTES * moves));
    u32::try_from(nodes).unwrap_or(u32::MAX).clamp(2, SearchConfig::MOST_NODES)
}

/// Watches one search: reports on it, ends it in time, and says the move.
struct Watcher<'a> {
    queue: &'a CommandQueue,
    output: &'a Output,
    options: &'a Options,
    game: &'a Game,
    /// Names the random numbers of the move.
    chance: [u64; 3],
    number: u64,
    go: &'a Go,
    received: Instant,
    /// The time that it may take, if a clock runs.
    time: Option<Duration>,
}

impl Watcher<'_> {
    fn watch(&self, searching: &Searching<'_>) {
        let (mut wait, mut report_at) = (SOON, Some(self.received + SOON));
        // While it ponders, a search ends by `stop` alone, and no clock of ours runs.
        let mut since = (!self.go.ponder).then_some(self.received);
        loop {
            let (now, over) = (Instant::now(), searching.is_over());
            since = since.or_else(|| self.queue.is_ponder_hit(self.number).then_some(now));
            let endless = since.is_none() || self.go.is_endless();
            let deadline = since.zip(self.time).map(|(since, time)| since + time);
            if self.must_end(endless) || deadline.is_some_and(|deadline| now >= deadline) || (over && !endless) {
                break;
            }
            if report_at.is_some_and(|at| over || now >= at) {
                if searching.with_search(Search::knows_root) {
                    let findings = self.look(searching);
                    self.report(&findings);
                    if !endless && self.is_found(&findings) {
                        break;
                    }
                }
                // What these ask for shows in a report alone.
                let found_soon = self.go.depth.or(self.go.mate).is_some();
                wait = if found_soon { SOON } else { (2 * wait).min(RARELY) };
                // What is over does not change any more; only `stop` is awaited.
                report_at = (!over).then_some(now + wait);
            }
            self.queue.signal.wait([deadline, report_at].into_iter().flatten().min());
        }
        self.await_first_evaluation(searching);
        searching.stop();
        let findings = self.look(searching);
        self.report(&findings);
        let mv = self.choose(&findings.report);
        let size = self.game.rules().size();
        let expected = searching.with_search(|search| search.line(mv).get(1).copied()).filter(|_| self.options.ponder);
        let ponder = expected.map_or_else(String::new, |mv| format!(" ponder {}", mv.text(size)));
        // First, so that a client that has read the move finds the engine at rest.
        self.queue.answered();
        self.output.lines([format!("bestmove {}{ponder}", mv.text(size))]);
    }

    fn must_end(&self, endless: bool) -> bool {
        self.output.is_broken() || self.queue.is_stopped(self.number, endless)
    }

    /// Whether a line so long, or a win so near, is known as was asked for.
    fn is_found(&self, findings: &Findings) -> bool {
        self.go.depth.is_some_and(|plies| findings.depth() >= plies as usize)
            || self.go.mate.zip(findings.wins_within()).is_some_and(|(most, moves)| moves <= most)
    }

    /// A move chosen by nothing at all helps nobody, so a search that is stopped at once waits for the position's
    /// evaluation.
    fn await_first_evaluation(&self, searching: &Searching<'_>) {
        let patience = Instant::now() + FIRST_EVALUATION;
        let known = || searching.is_over() || searching.with_search(Search::knows_root);
        while !known() && Instant::now() < patience {
            self.queue.signal.wait(Some(Instant::now() + Duration::from_millis(1)));
        }
    }

    fn look(&self, searching: &Searching<'_>) -> Findings {
        searching.with_search(|search| Findings::of(search, self.options.lines))
    }

    fn report(&self, findings: &Findings) {
        self.output.lines(findings.text(self.received.elapsed(), self.game.rules().size()));
    }

    /// The best move, or with a temperature one drawn by visits^(1/temperature); certain losses are not drawn.
    fn choose(&self, report: &SearchReport) -> Move {
        let temperature = self.options.temperature;
        let most = report.policy_target.iter().map(|&(_, weight)| weight).fold(0.0, f32::max);
        // Written so that a small temperature does not overflow: the best move has weight 1.
        let weight = |weight: f32| f64::from(weight / most).powf(1.0 / f64::from(temperature));
        let sum: f64 = report.policy_target.iter().map(|&(_, share)| weight(share)).sum();
        if temperature == 0.0 || !sum.is_finite() {
            return report.best;
        }
        let mut left = rng_for(&self.chance).random_range(0.0..1.0) * sum;
        for &(mv, share) in &report.policy_target {
            left -= weight(share);
            if left < 0.0 {
                return mv;
            }
        }
        report.best
    }
}

/// The ruleset to begin with: the requested one, else the network's, else the shipped network's.
pub(super) fn first_ruleset(asked: Option<NamedRules>, network: Option<&Network>) -> NamedRules {
    asked.or_else(|| network.and_then(Network::ruleset)).unwrap_or(Preset::Brandubh.into())
}
