//! A card shared by many threads.
//!
//! A card is fast on large batches and slow on small ones, and it should never wait for a search. So the threads that
//! search hand their requests to the card's threads. One takes the requests of half of them together; while the card
//! works on these, the other half goes on searching and asks in its turn. There are two threads for the card, so that
//! one prepares a batch while the other waits for its own.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hnefi_inference::{DeviceChoice, EvalError, EvalRequest, Evaluations, Evaluator};

use crate::CardNetwork;
use crate::network::Lane;
use crate::requests::{self, Answered, Asked};

/// How long the card waits for half of the askers when fewer come: some may have other things to do.
const PATIENCE: Duration = Duration::from_millis(2);

/// Threads of a card.
const LANES: usize = 2;

/// A message to the thread that collects requests.
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

/// A card with a network, and its threads; they end with the last of the queue and its evaluators.
pub struct CardQueue {
    sender: Sender<Message>,
    device: DeviceChoice,
}

impl CardQueue {
    /// A queue before a network on a card; `device` names the card in messages.
    ///
    /// # Errors
    /// When the card fails, or the operating system refuses a thread.
    pub fn new(network: &Arc<CardNetwork>, device: DeviceChoice) -> Result<CardQueue, EvalError> {
        let lanes = (0..LANES).map(|_| {
            let mut lane = Lane::new(network).map_err(|error| device.unavailable(error.to_string()))?;
            Ok(move |asked: &Asked| lane.run(asked).map_err(|error| error.to_string()))
        });
        CardQueue::before(device, lanes.collect::<Result<_, EvalError>>()?)
    }

    /// A queue before whatever answers batches, each on a thread of its own.
    fn before(
        device: DeviceChoice,
        lanes: Vec<impl FnMut(&Asked) -> Result<Answered, String> + Send + 'static>,
    ) -> Result<CardQueue, EvalError> {
        let (sender, receiver) = channel();
        // None waits in between: what comes while all are busy goes together.
        let (batches, to_lanes) = sync_channel::<Vec<Question>>(0);
        let to_lanes = Arc::new(Mutex::new(to_lanes));
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
            thread.map(drop).map_err(|error| device.unavailable(error.to_string()))
        };
        for mut run in lanes {
            let to_lanes = Arc::clone(&to_lanes);
            let next = move || to_lanes.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let work = move || {
                while let Ok(questions) = next() {
                    answer(questions, &mut run);
                }
            };
            spawn("card", Box::new(work))?;
        }
        let collect = move || {
            collect(&receiver, |questions| {
                let _ = batches.send(questions);
            });
        };
        spawn("card-queue", Box::new(collect))?;
        Ok(CardQueue { sender, device })
    }

    /// One more asker.
    pub fn evaluator(&self) -> QueuedEvaluator {
        // Should the thread be gone, the first question finds out.
        let _ = self.sender.send(Message::Joined);
        QueuedEvaluator { sender: self.sender.clone(), device: self.device }
    }
}

/// Asks a [`CardQueue`]; one per thread.
pub struct QueuedEvaluator {
    sender: Sender<Message>,
    device: DeviceChoice,
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
        let device = self.device.to_string();
        let failed = |problem| EvalError::Device { count: requests.len(), device: device.clone(), problem };
        let (answer, answers) = sync_channel(1);
        let gone = || failed("its thread is gone".to_owned());
        let question = Question { asked: Asked::by_size(requests), answer };
        self.sender.send(Message::Asked(question)).map_err(|_| gone())?;
        let answered = answers.recv().map_err(|_| gone())?.map_err(failed)?;
        requests::write(requests, &answered, out).map_err(failed)
    }
}

/// Collects questions into batches until all senders are gone.
fn collect(receiver: &Receiver<Message>, mut hand_over: impl FnMut(Vec<Question>)) {
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
            hand_over(waiting.drain(..).map(|(question, _)| question).collect());
        }
    }
}

/// Answers some questions with one batch for each board size.
fn answer(questions: Vec<Question>, run: &mut impl FnMut(&Asked) -> Result<Answered, String>) {
    let mut together: Vec<Asked> = Vec::new();
    for asked in questions.iter().flat_map(|question| &question.asked) {
        match together.iter_mut().find(|all| all.size == asked.size) {
            Some(all) => all.append(asked),
            None => together.push(asked.clone()),
        }
    }
    let mut answered: Result<Vec<Answered>, String> = together.iter().map(run).collect();
    for question in questions {
        let part = match &mut answered {
            Err(problem) => Err(problem.clone()),
            Ok(answered) => Ok(question.asked.iter().map(|asked| part(asked, answered)).collect()),
        };
        // Who asked may have been stopped meanwhile.
        let _ = question.answer.send(part);
    }
}

/// The answers to one asker's positions of one size: they come in the order of the questions.
fn part(asked: &Asked, answered: &mut [Answered]) -> Answered {
    answered.iter_mut().find(|answered| answered.size == asked.size).expect("every size was run").take(asked)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{BoardSize, MoveList, Position, Preset};
    use hnefi_inference::Handicap;

    use super::*;

    const DEVICE: DeviceChoice = DeviceChoice::Cuda(0);

    /// A question about `count` empty 7x7 boards, and where its answer comes.
    fn question(count: usize) -> (Message, Receiver<Result<Vec<Answered>, String>>) {
        let asked = Asked { count, move_counts: vec![0; count], ..Asked::new(BoardSize::SEVEN) };
        let (answer, answers) = sync_channel(1);
        (Message::Asked(Question { asked: vec![asked], answer }), answers)
    }

    /// Says of every move that it is as likely as the others of its position, and of every position the same.
    fn evenly(asked: &Asked) -> Result<Answered, String> {
        let mut numbers: Vec<f32> =
            asked.move_counts.iter().flat_map(|&count| vec![1.0 / count as f32; count]).collect();
        numbers.extend(vec![0.0; 4 * asked.count]);
        let mut answered = Answered::new(asked.size);
        answered.extend(
            &numbers,
            asked.moves.len(),
            crate::layers::Boards { count: asked.count, side: asked.size.side() },
        );
        Ok(answered)
    }

    /// Collects what waits in the channel; the positions of every batch.
    fn batches(messages: impl IntoIterator<Item = Message>) -> Vec<usize> {
        let (sender, receiver) = channel();
        messages.into_iter().for_each(|message| sender.send(message).unwrap());
        drop(sender);
        let mut counts = Vec::new();
        collect(&receiver, |questions| {
            answer(questions, &mut |asked: &Asked| {
                counts.push(asked.count);
                evenly(asked)
            });
        });
        counts
    }

    #[test]
    fn half_of_the_askers_go_together() {
        let (questions, answers): (Vec<_>, Vec<_>) = (1..=6).map(question).unzip();
        let joined = (0..6).map(|_| Message::Joined);
        assert_eq!(batches(joined.chain(questions)), [1 + 2 + 3, 4 + 5 + 6]);
        assert!(answers.iter().all(|answer| answer.recv().unwrap().is_ok()));
    }

    #[test]
    fn askers_that_left_are_not_waited_for() {
        let (first, first_answer) = question(2);
        let (second, second_answer) = question(3);
        let joined = (0..4).map(|_| Message::Joined);
        let left = [Message::Left, Message::Left];
        assert_eq!(batches(joined.chain([first]).chain(left).chain([second])), [2, 3]);
        assert!(first_answer.recv().unwrap().is_ok() && second_answer.recv().unwrap().is_ok());
    }

    #[test]
    fn a_failing_card_answers_everybody_and_the_queue_goes_on() {
        let fails_once = {
            let mut failed = false;
            move |asked: &Asked| {
                if std::mem::replace(&mut failed, true) { evenly(asked) } else { Err("out of memory".to_owned()) }
            }
        };
        let queue = CardQueue::before(DEVICE, vec![fails_once]).unwrap();
        let position = Position::start(&Preset::Brandubh.rules());
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let request = EvalRequest { position: &position, moves: &moves, handicap: Handicap::NONE, auxiliary: false };
        let (mut evaluator, mut out) = (queue.evaluator(), Evaluations::new());
        let problem = evaluator.evaluate(&[request], &mut out).unwrap_err().to_string();
        assert_eq!(problem, "evaluating 1 positions on cuda:0: out of memory");
        evaluator.evaluate(&[request], &mut out).unwrap();
        assert!(out.priors(0).iter().all(|&prior| prior == 1.0 / moves.len() as f32));
    }

    #[test]
    fn what_is_no_number_is_an_error() {
        let astray = |asked: &Asked| {
            let mut answered = evenly(asked)?;
            let boards = crate::layers::Boards { count: 1, side: 7 };
            let mut other = Answered::new(asked.size);
            let mut numbers = vec![0.1; asked.moves.len()];
            numbers.extend([0.0, f32::NAN, 0.0, 0.0]);
            other.extend(&numbers, asked.moves.len(), boards);
            std::mem::swap(&mut answered, &mut other);
            Ok(answered)
        };
        let queue = CardQueue::before(DEVICE, vec![astray]).unwrap();
        let position = Position::start(&Preset::Brandubh.rules());
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let request = EvalRequest { position: &position, moves: &moves, handicap: Handicap::NONE, auxiliary: false };
        let problem = queue.evaluator().evaluate(&[request], &mut Evaluations::new()).unwrap_err().to_string();
        assert!(problem.ends_with("the network gave a value that is not a finite number"), "{problem}");
    }
}
