//! Self-play beside training: a worker in this process.
//!
//! The worker plays all the time with the newest network, on a thread of its own. Orders go to it and finished games
//! come from it over channels. It is bounded: an order says how many training plies it may finish in all, and there it
//! rests, at most a generation ahead. So every ply is trained on `train.reuse` times, as in turns. Every
//! `run.save_seconds` games that wait for a generation are uploaded to the store as well, in case the process ends.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hnefi_cuda::Cards;
use hnefi_inference::Weights;
use hnefi_run::store::{Store, StoreError, upload_key};
use hnefi_selfplay::{Fleet, FleetControl, FleetProgress, Upload};

use super::game_source::GameSource;
use super::generation::Generation;
use crate::TrainError;
use crate::config::TrainConfig;
use crate::job::Job;
use crate::worker::{MOST_PLIES, Player, busy_games};

/// Time between two questions whether there is enough, or to stop.
const ATTENTION: Duration = Duration::from_millis(20);

enum Order {
    /// Plays by this job with this network from now on.
    Play(Job, Weights),
    /// Plays until it has finished this many training plies in all.
    Until(u64),
}

enum Event {
    /// Training plies of the finished games that it has not sent.
    Finished(u64),
    /// Finished games, and the seconds of self-play since the games before.
    Games(Upload, f64),
}

/// Finished games that no generation has.
struct Waiting {
    upload: Upload,
    /// Where they lie in the store, in case this process ends.
    key: Option<String>,
}

pub(in crate::trainer) struct InProcess {
    /// `None` once the worker is to end.
    orders: Option<Sender<Order>>,
    events: Receiver<Event>,
    thread: Option<JoinHandle<Result<(), TrainError>>>,
    seed: u64,
    waiting: Vec<Waiting>,
    /// Training plies received in all.
    received: u64,
    /// Training plies finished and not received.
    finished: u64,
    /// The last order: training plies in all.
    until: u64,
    /// Seconds of self-play since the generation before.
    seconds: f64,
    uploads: u32,
    save_every: Duration,
    save_due: Instant,
}

impl InProcess {
    /// Starts the worker, which waits for its first order. The seed is unique within the run.
    pub(in crate::trainer) fn start(mut whole: TrainConfig, cards: Cards, seed: u64) -> Result<InProcess, TrainError> {
        whole.selfplay.games_in_flight = busy_games(&whole);
        let save_every = Duration::from_secs(u64::from(whole.run.save_seconds));
        let (orders, inbox) = channel();
        let (outbox, events) = channel();
        let thread = std::thread::Builder::new()
            .name("worker".to_owned())
            .spawn(move || work(whole, cards, seed, WorkerEnd::new(inbox, outbox, save_every)))
            .map_err(|error| TrainError::Device { device: "cpu".to_owned(), problem: error.to_string() })?;
        Ok(InProcess {
            orders: Some(orders),
            events,
            thread: Some(thread),
            seed,
            waiting: Vec::new(),
            received: 0,
            finished: 0,
            until: 0,
            seconds: 0.0,
            uploads: 0,
            save_every,
            save_due: Instant::now() + save_every,
        })
    }

    fn order(&self, order: Order) {
        // A worker that has ended says why when its events are received.
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    /// The trainer wants this many training plies more than it has received; at 0 the worker rests.
    fn want(&mut self, plies: u64) {
        let until = self.received.saturating_add(plies);
        if until != self.until {
            self.until = until;
            self.order(Order::Until(until));
        }
    }

    fn waiting_plies(&self) -> u64 {
        self.waiting.iter().map(|waiting| waiting.upload.training_plies()).sum()
    }

    /// Receives what the worker says within this time and what it has said. Returns whether it goes on.
    fn receive(&mut self, mut within: Duration) -> Result<bool, TrainError> {
        loop {
            match self.events.recv_timeout(within) {
                Ok(Event::Finished(plies)) => self.finished = plies,
                Ok(Event::Games(upload, seconds)) => {
                    self.received += upload.training_plies();
                    self.finished = 0;
                    self.seconds += seconds;
                    self.waiting.push(Waiting { upload, key: None });
                }
                Err(RecvTimeoutError::Timeout) => return Ok(true),
                Err(RecvTimeoutError::Disconnected) => {
                    return match self.thread.take().map(JoinHandle::join) {
                        None | Some(Ok(Ok(()))) => Ok(false),
                        Some(Ok(Err(error))) => Err(error),
                        Some(Err(panic)) => std::panic::resume_unwind(panic),
                    };
                }
            }
            within = Duration::ZERO;
        }
    }

    /// Uploads waiting games that are not in the store.
    fn save(&mut self, store: &Store) -> Result<(), StoreError> {
        self.save_due = Instant::now() + self.save_every;
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.key.is_none()) {
            self.uploads += 1;
            let key = upload_key(self.seed, self.uploads);
            store.create(&key, &waiting.upload.encode())?;
            waiting.key = Some(key);
        }
        Ok(())
    }

    fn save_if_due(&mut self, store: &Store) -> Result<(), StoreError> {
        if Instant::now() >= self.save_due { self.save(store) } else { Ok(()) }
    }
}

impl GameSource for InProcess {
    fn play(&mut self, generation: &mut Generation<'_>, _: &mut Fleet) -> Result<Option<f64>, TrainError> {
        self.order(Order::Play(generation.job.clone(), generation.learner.average().weights()?));
        let (quota, ahead) = (generation.quota, generation.config.train.plies_per_generation);
        loop {
            if !self.receive(ATTENTION)? {
                return Ok(None);
            }
            self.save_if_due(&generation.context.store)?;
            for key in self.waiting.iter().filter_map(|waiting| waiting.key.clone()) {
                generation.uploads.pass_over(key);
            }
            generation.look()?;
            let waiting = self.waiting_plies();
            let plies = generation.uploads.plies + waiting;
            // When only the time to train on them is left, the worker's finished games are received first.
            let is_up = generation.is_time_up(plies + self.finished);
            let has_enough = (is_up && self.finished == 0) || (plies > 0 && plies >= quota);
            let is_last =
                is_up || (has_enough && !generation.clock.has_room(generation.number, generation.seconds_before));
            self.want(match has_enough {
                _ if is_last => 0,
                true => ahead,
                false => quota.saturating_sub(plies),
            });
            let games = self.waiting.iter().map(|waiting| waiting.upload.games.len() as u64).sum();
            generation.report(&FleetProgress::default(), (games, waiting));
            if has_enough {
                self.waiting.drain(..).for_each(|waiting| generation.uploads.take_in(waiting.upload));
                return Ok(Some(std::mem::take(&mut self.seconds)));
            }
            if generation.should_stop() {
                return Ok(None);
            }
        }
    }

    fn attend(&mut self, store: &Store) -> Result<(), TrainError> {
        self.receive(Duration::ZERO)?;
        Ok(self.save_if_due(store)?)
    }

    fn rest(&mut self) {
        self.want(0);
    }

    fn end(&mut self, store: &Store) -> Result<(), TrainError> {
        self.orders = None;
        let ended = loop {
            match self.receive(ATTENTION) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.save(store)?;
        ended
    }
}

struct WorkerEnd {
    orders: Receiver<Order>,
    events: Sender<Event>,
    /// The newest job, if it was not taken up yet.
    job: Option<(Job, Weights)>,
    /// Training plies that it may finish in all.
    until: u64,
    sent: u64,
    /// Training plies of finished games, as the trainer knows them.
    finished: u64,
    send_every: Duration,
    send_due: Instant,
    is_over: bool,
}

impl WorkerEnd {
    fn new(orders: Receiver<Order>, events: Sender<Event>, send_every: Duration) -> WorkerEnd {
        let send_due = Instant::now() + send_every;
        WorkerEnd { orders, events, job: None, until: 0, sent: 0, finished: 0, send_every, send_due, is_over: false }
    }

    /// Takes the orders that there are; waits for one if `waits`.
    fn take_orders(&mut self, mut waits: bool) {
        loop {
            let order =
                if waits { self.orders.recv().map_err(|_| TryRecvError::Disconnected) } else { self.orders.try_recv() };
            match order {
                Ok(Order::Play(job, weights)) => self.job = Some((job, weights)),
                Ok(Order::Until(plies)) => self.until = plies,
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.is_over = true;
                    return;
                }
            }
            waits = false;
        }
    }

    fn send(&mut self, upload: Upload, seconds: f64) {
        self.sent += upload.training_plies();
        self.finished = 0;
        // A trainer that has ended takes no games.
        let _ = self.events.send(Event::Games(upload, seconds));
    }
}

impl FleetControl for WorkerEnd {
    fn go_on(&mut self, progress: &FleetProgress) -> Result<bool, StoreError> {
        self.take_orders(false);
        let plies = progress.training_plies;
        if plies != self.finished {
            self.finished = plies;
            let _ = self.events.send(Event::Finished(plies));
        }
        Ok(!self.is_over && self.sent + plies < self.until)
    }

    fn rests(&mut self, progress: &FleetProgress) -> bool {
        Instant::now() >= self.send_due || progress.training_plies >= MOST_PLIES || self.job.is_some()
    }
}

/// The work of the thread: plays by the newest order until the trainer has ended.
fn work(whole: TrainConfig, cards: Cards, seed: u64, mut end: WorkerEnd) -> Result<(), TrainError> {
    let mut player: Option<Player> = None;
    let mut seconds = 0.0;
    loop {
        end.take_orders(player.is_none() || end.sent >= end.until);
        if end.is_over {
            return Ok(());
        }
        match (end.job.take(), &mut player) {
            (Some((job, weights)), Some(player)) => player.take_up(job, |_| Ok(weights))?,
            (Some((job, weights)), None) => {
                player = Some(Player::new(whole.clone(), cards.clone(), seed, job, &weights)?);
            }
            (None, Some(player)) if end.sent < end.until => {
                let began = Instant::now();
                end.send_due = began + end.send_every;
                let upload = player.play(&mut end)?;
                seconds += began.elapsed().as_secs_f64();
                if !upload.games.is_empty() {
                    end.send(upload, std::mem::take(&mut seconds));
                }
            }
            (None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use hnefi_inference::DeviceChoice;

    use super::*;
    use crate::job::tests::job;

    fn config() -> TrainConfig {
        let changes = ["network.blocks=1", "network.channels=16", "selfplay.ply_caps={ seven = 12 }", "run.threads=1"];
        TrainConfig::load_with("quick", &changes.map(str::to_owned)).unwrap()
    }

    fn started(config: &TrainConfig) -> InProcess {
        let worker = InProcess::start(config.clone(), Cards::default(), 7).unwrap();
        worker.order(Order::Play(job(0), Weights::fresh(&config.network, 1)));
        worker
    }

    #[test]
    fn the_worker_rests_where_it_is_told_and_its_games_are_saved_at_the_end() {
        let mut worker = started(&config());
        for more in [100, 60] {
            worker.want(more);
            let until = worker.until;
            while worker.received < until {
                assert!(worker.receive(ATTENTION).unwrap(), "it goes on");
            }
        }
        let (received, dir) = (worker.received, tempfile::tempdir().unwrap());
        let store = Store::open_or_create(dir.path()).unwrap();
        worker.end(&store).unwrap();
        assert_eq!(worker.received, received, "it played on");
        let uploads = store.list("uploads/").unwrap();
        let saved = uploads.iter().map(|key| Upload::decode(key, &store.get(key).unwrap()).unwrap().training_plies());
        assert_eq!(saved.sum::<u64>(), received);
    }

    #[test]
    fn an_error_of_the_worker_is_the_trainers() {
        let mut config = config();
        config.run.device = DeviceChoice::Cuda(999).into();
        let mut worker = started(&config);
        let error = loop {
            if let Err(error) = worker.receive(ATTENTION) {
                break error.to_string();
            }
        };
        assert!(error.starts_with("device cuda:999: "), "{error}");
    }
}
