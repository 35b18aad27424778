//! A GPU shared by many threads.
//!
//! A GPU is fast on large batches and slow on small ones, and it should never wait for a search. So the threads that
//! search hand their requests to one thread that owns the device. It takes the requests of half of them together; while
//! the device works on these, the other half goes on searching and asks in its turn.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use burn::tensor::Device;

use super::forward::Forward;
use super::rows::{self, Answered, Asked};
use crate::Network;
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator};

/// How long the device waits for half of the askers when fewer come: some may have other things to do.
const PATIENCE: Duration = Duration::from_millis(2);

/// A message to the device's thread.
enum Message {
    /// There is one more asker.
    Joined,
    /// There is one asker less.
    Left,
    Asked(Question),
}

/// What one asker wants to know, by board size.
struct Question {
    asked: Vec<Asked>,
    answer: SyncSender<Result<Vec<Answered>, String>>,
}

/// A device with a network, and the thread that owns both; it ends with the last of the queue and its evaluators.
pub struct GpuQueue {
    sender: Sender<Message>,
    device: String,
}

impl GpuQueue {
    /// Moves a copy of the network to the device, without its training state.
    ///
    /// # Errors
    /// When the operating system refuses a thread.
    pub fn new(network: &Network, device: &Device) -> Result<GpuQueue, EvalError> {
        let forward = Forward::new(network, device, true);
        GpuQueue::before(format!("{device:?}"), move |asked| forward.run(asked))
    }

    /// A queue before whatever computes the rows of a batch.
    fn before(
        device: String,
        run: impl Fn(&Asked) -> Result<Vec<f32>, String> + Send + 'static,
    ) -> Result<GpuQueue, EvalError> {
        let (sender, receiver) = channel();
        std::thread::Builder::new()
            .name("gpu".to_owned())
            .spawn(move || serve(&receiver, run))
            .map_err(|error| EvalError::Unavailable { device: device.clone(), problem: error.to_string() })?;
        Ok(GpuQueue { sender, device })
    }

    /// One more asker.
    pub fn evaluator(&self) -> QueuedEvaluator {
        // Should the thread be gone, the first question finds out.
        let _ = self.sender.send(Message::Joined);
        QueuedEvaluator { sender: self.sender.clone(), device: self.device.clone() }
    }
}

/// Asks a [`GpuQueue`]; one per thread.
pub struct QueuedEvaluator {
    sender: Sender<Message>,
    device: String,
}

impl Drop for QueuedEvaluator {
    fn drop(&mut self) {
        let _ = self.sender.send(Message::Left);
    }
}

impl Evaluator for QueuedEvaluator {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        out.clear();
        if requests.is_empty() {
            return Ok(());
        }
        let failed = |problem| EvalError::Device { count: requests.len(), device: self.device.clone(), problem };
        let (answer, answers) = sync_channel(1);
        let gone = |_| failed("its thread is gone".to_owned());
        let question = Question { asked: Asked::by_size(requests).collect(), answer };
        self.sender.send(Message::Asked(question)).map_err(|_| failed("its thread is gone".to_owned()))?;
        let answered = answers.recv().map_err(gone)?.map_err(failed)?;
        rows::write(requests, answered, out).map_err(failed)
    }
}

/// The device's thread: answers until all senders are gone.
fn serve(receiver: &Receiver<Message>, run: impl Fn(&Asked) -> Result<Vec<f32>, String>) {
    let (mut askers, mut waiting) = (0, Vec::new());
    loop {
        let message = match waiting.first() {
            // Nothing to do but wait.
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some((_, since)) => receiver.recv_timeout(PATIENCE.saturating_sub(Instant::elapsed(since))),
        };
        let mut out_of_patience = false;
        match message {
            Ok(Message::Joined) => askers += 1,
            Ok(Message::Left) => askers -= 1,
            Ok(Message::Asked(question)) => waiting.push((question, Instant::now())),
            Err(RecvTimeoutError::Timeout) => out_of_patience = true,
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if !waiting.is_empty() && (out_of_patience || waiting.len() >= usize::div_ceil(askers, 2)) {
            answer(waiting.drain(..).map(|(question, _)| question).collect(), &run);
        }
    }
}

/// Answers some questions with one crossing for each board size.
fn answer(questions: Vec<Question>, run: impl Fn(&Asked) -> Result<Vec<f32>, String>) {
    let mut together: Vec<Asked> = Vec::new();
    for asked in questions.iter().flat_map(|question| &question.asked) {
        match together.iter_mut().find(|all| all.size == asked.size) {
            Some(all) => all.append(asked),
            None => together.push(asked.clone()),
        }
    }
    // burn's drivers panic where a device fails, and the askers are waiting.
    let run = |asked: &Asked| {
        let values = catch_unwind(AssertUnwindSafe(|| run(asked)));
        values.unwrap_or_else(|_| Err("its driver panicked".to_owned()))
    };
    let mut answered: Result<Vec<Answered>, String> =
        together.iter().map(|asked| Ok(Answered::of(asked, run(asked)?))).collect();
    for question in questions {
        let part = match &mut answered {
            Err(problem) => Err(problem.clone()),
            Ok(answered) => Ok(question.asked.iter().map(|asked| part(asked, answered)).collect()),
        };
        // Who asked may have been stopped meanwhile.
        let _ = question.answer.send(part);
    }
}

/// The rows for one asker's positions of one size: they come in the order of the questions.
fn part(asked: &Asked, answered: &mut [Answered]) -> Answered {
    let rows = answered.iter_mut().find(|rows| rows.size() == asked.size).expect("every size was run");
    rows.take_rows(asked.count)
}

#[cfg(test)]
mod tests {
    use hnefi_inference::Handicap;
    use std::sync::{Arc, Mutex};

    use hnefi_engine::{BoardSize, MoveList, Position, Preset};

    use super::*;
    use crate::BurnEvaluator;
    use hnefi_inference::NetworkConfig;
    use hnefi_search::{RootKind, Search, SearchConfig, Signal, search_on_threads};

    /// A question about `count` empty 7x7 boards, and where its answer comes.
    fn question(count: usize) -> (Message, Receiver<Result<Vec<Answered>, String>>) {
        let asked = Asked { size: BoardSize::SEVEN, count, planes: Vec::new(), globals: Vec::new(), auxiliary: false };
        let (answer, answers) = sync_channel(1);
        (Message::Asked(Question { asked: vec![asked], answer }), answers)
    }

    fn zeros(asked: &Asked) -> Result<Vec<f32>, String> {
        Ok(vec![0.0; asked.count * asked.row_width()])
    }

    /// Serves what waits in the channel; the positions of every crossing.
    fn crossings(messages: impl IntoIterator<Item = Message>) -> Vec<usize> {
        let (sender, receiver) = channel();
        messages.into_iter().for_each(|message| sender.send(message).unwrap());
        drop(sender);
        let counts = Mutex::new(Vec::new());
        serve(&receiver, |asked| {
            counts.lock().unwrap().push(asked.count);
            zeros(asked)
        });
        counts.into_inner().unwrap()
    }

    #[test]
    fn half_of_the_askers_cross_together() {
        let (questions, answers): (Vec<_>, Vec<_>) = (1..=6).map(question).unzip();
        let joined = (0..6).map(|_| Message::Joined);
        assert_eq!(crossings(joined.chain(questions)), [1 + 2 + 3, 4 + 5 + 6]);
        assert!(answers.iter().all(|answer| answer.recv().unwrap().is_ok()));
    }

    #[test]
    fn askers_that_left_are_not_waited_for() {
        let (first, first_answer) = question(2);
        let (second, second_answer) = question(3);
        let joined = (0..4).map(|_| Message::Joined);
        let left = [Message::Left, Message::Left];
        assert_eq!(crossings(joined.chain([first]).chain(left).chain([second])), [2, 3]);
        assert!(first_answer.recv().unwrap().is_ok() && second_answer.recv().unwrap().is_ok());
    }

    #[test]
    fn a_failing_device_answers_everybody_and_the_queue_goes_on() {
        let (sender, receiver) = channel();
        let (questions, answers): (Vec<_>, Vec<_>) = (1..=3).map(question).unzip();
        sender.send(Message::Joined).unwrap();
        questions.into_iter().for_each(|question| sender.send(question).unwrap());
        drop(sender);
        serve(&receiver, |asked| match asked.count {
            1 => Err("out of memory".to_owned()),
            2 => panic!("a driver's way of failing"),
            _ => zeros(asked),
        });
        let answers: Vec<_> = answers.iter().map(|answer| answer.recv().unwrap()).collect();
        assert_eq!(answers[0].as_ref().unwrap_err(), "out of memory");
        assert_eq!(answers[1].as_ref().unwrap_err(), "its driver panicked");
        assert!(answers[2].is_ok());
    }

    #[test]
    #[ignore = "measures for half a minute (docs/PERFORMANCE.md)"]
    fn batches_of_one_search() {
        println!("| ms a batch | threads | positions a batch | playouts/s |\n|---|---|---|---|");
        for latency in [1, 5].map(Duration::from_millis) {
            for threads in [1, 8, 16, 32, 64] {
                let counts = Arc::new(Mutex::new(Vec::new()));
                let counted = Arc::clone(&counts);
                let queue = GpuQueue::before("a pause".to_owned(), move |asked| {
                    std::thread::sleep(latency);
                    counted.lock().unwrap().push(asked.count);
                    zeros(asked)
                });
                let queue = queue.unwrap();
                let mut search = Search::new(SearchConfig { root: RootKind::Puct, ..SearchConfig::default() });
                search.begin(&Position::start(&Preset::Copenhagen.rules()), u32::MAX, None);
                let mut evaluators: Vec<_> =
                    (0..threads).map(|_| Box::new(queue.evaluator()) as Box<dyn Evaluator>).collect();
                let seconds = Duration::from_secs(3);
                let ((), ended) = search_on_threads(&mut search, &mut evaluators, &Signal::default(), |searching| {
                    std::thread::sleep(seconds);
                    assert!(!searching.is_over());
                });
                ended.unwrap();
                let counts = counts.lock().unwrap();
                let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
                let rate = f64::from(search.report().playouts) / seconds.as_secs_f64();
                println!("| {} | {threads} | {mean:.1} | {rate:.0} |", latency.as_millis());
            }
        }
    }

    #[test]
    fn many_threads_get_what_each_would_have_got_alone() {
        let config = NetworkConfig { blocks: 1, channels: 8, pool_every: 1, head_channels: 8, value_hidden: 8 };
        let (network, device) = (Network::fresh(&config, 0, &Device::flex()), Device::flex());
        let queue = GpuQueue::new(&network, &device).unwrap();
        let presets = [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen, Preset::Fetlar];
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (mut shared, network, device) = (queue.evaluator(), &network, &device);
                scope.spawn(move || {
                    let mut alone = BurnEvaluator::new(network, device);
                    let (mut found, mut expected) = (Evaluations::new(), Evaluations::new());
                    let mut position = Position::start(&presets[thread % presets.len()].rules());
                    for ply in 0..10 {
                        let mut moves = MoveList::new();
                        position.legal_moves(&mut moves);
                        let request = EvalRequest {
                            position: &position,
                            moves: &moves,
                            handicap: Handicap::NONE,
                            auxiliary: thread == 3,
                        };
                        shared.evaluate(&[request], &mut found).unwrap();
                        alone.evaluate(&[request], &mut expected).unwrap();
                        assert!((found.get(0).wdl.win - expected.get(0).wdl.win).abs() < 1e-6);
                        for (a, b) in found.priors(0).iter().zip(expected.priors(0)) {
                            assert!((a - b).abs() < 1e-6);
                        }
                        let mv = moves[(thread + ply * 7) % moves.len()];
                        position.play_unchecked(mv);
                    }
                });
            }
        });
    }
}
