//! The gradients of a training step on a card: forward and back in bfloat16 with sums in single precision, batch
//! renormalisation as in `hnefi_models`. Parameters, optimiser and averages stay where they are.
//!
//! | file | what it does |
//! |---|---|
//! | `samples` | training samples as numbers for a card |
//! | `places` | where the numbers of a network are, and their names |
//! | `memory` | memory of a step |
//! | `step` | the passes over a batch |

mod memory;
mod places;
mod samples;
mod step;

use std::collections::BTreeMap;
use std::sync::Arc;

use hnefi_inference::{PLANES, Weights};

use crate::card::{Buffer, Card, CardError, Stream};
use crate::layers::{Boards, Convolution, Half, Padded, Sizes};
use memory::Scratch;
use places::Places;
pub use samples::{Samples, Targets};
use step::Step;

/// How far batch renormalisation goes: the largest ratio of deviations, and the largest offset in deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Renormalisation {
    /// The ratio is at most this and at least one over it.
    pub ratio: f32,
    /// The offset is at most this either way.
    pub offset: f32,
}

/// What a step comes to.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// Of every parameter, by its name in [`Weights`].
    pub tensors: BTreeMap<String, Vec<f32>>,
    /// Mean and (biased) variance of the batch, by the name of the layer, such as `blocks.0.first`.
    pub statistics: BTreeMap<String, [Vec<f32>; 2]>,
    /// Means of the unweighted losses: policy, value, moves left, occupancy.
    pub losses: [f32; 4],
}

/// A network as it was sent to the card, in the forms that a step needs.
struct Sent {
    sizes: Sizes,
    places: Places,
    parameters: Buffer,
    gradients: Buffer,
    /// Of every layer, and turned; the stem is not turned.
    layers: Vec<Convolution>,
    turned: Vec<Convolution>,
    heads: Convolution,
    heads_turned: Convolution,
    /// Six numbers a channel of every layer.
    norms: Vec<Buffer>,
    /// `[3, channels]`.
    factors: Buffer,
    /// Zeros, `[width or channels]`.
    zeros: Buffer,
}

/// Makes gradients on a card.
pub struct CardTrainer {
    stream: Stream,
    sent: Option<Sent>,
    scratch: Option<Scratch>,
}

impl CardTrainer {
    /// On this card.
    ///
    /// # Errors
    /// When the card fails.
    pub fn new(card: &Arc<Card>) -> Result<CardTrainer, CardError> {
        Ok(CardTrainer { stream: card.stream()?, sent: None, scratch: None })
    }

    /// The gradients of the mean of the losses over the samples, weighted: policy, value, moves left, occupancy.
    ///
    /// # Errors
    /// When the network is too large, or the card fails.
    ///
    /// # Panics
    /// Without samples.
    pub fn gradients(
        &mut self,
        weights: &Weights,
        samples: &Samples,
        part_weights: [f32; 4],
        renormalisation: Renormalisation,
    ) -> Result<Gradients, CardError> {
        assert!(!samples.is_empty(), "a step needs samples");
        self.stream.bind()?;
        let card = Arc::clone(self.stream.card());
        let _working = card.working();
        self.send(weights)?;
        let (stream, sent) = (&mut self.stream, self.sent.as_mut().expect("the network was sent"));
        let boards = Boards { count: samples.len(), side: samples.size.side() };
        let moves = samples.moves.len();

        // What goes up, and where each part of it begins.
        let mut words = Vec::new();
        let mut put = |part: &mut dyn Iterator<Item = u32>| {
            let begin = words.len();
            words.extend(part);
            begin
        };
        let squares = put(&mut samples.squares.iter().copied());
        let globals = put(&mut samples.globals.iter().map(|value| value.to_bits()));
        let move_words = put(&mut samples.moves.iter().copied());
        let first_moves = put(&mut samples.first_moves.iter().copied());
        let chances = put(&mut samples.chances.iter().map(|value| value.to_bits()));
        let targets = put(&mut samples.targets.iter().map(|value| value.to_bits()));
        let part_weights = put(&mut part_weights.iter().map(|value| value.to_bits()));
        let contents = put(&mut samples
            .contents
            .chunks(4)
            .map(|four| four.iter().rev().fold(0, |word, &content| word << 8 | u32::from(content))));

        let fits = self.scratch.as_ref().is_some_and(|scratch| {
            let same = scratch.boards.side == boards.side && scratch.boards.count >= boards.count;
            same && scratch.input.len() >= 4 * words.len() && scratch.move_gradients.len() >= 4 * moves
        });
        if !fits {
            self.scratch = None;
            self.scratch = Some(Scratch::new(stream, &sent.sizes, boards, words.len(), moves)?);
        }
        let scratch = self.scratch.as_mut().expect("there is room");
        stream.write(&words, &mut scratch.input)?;
        let at = |word: usize| scratch.input.pointer() + 4 * word as u64;
        let step = Step {
            sent,
            scratch,
            boards,
            squares: at(squares),
            globals: at(globals),
            moves: at(move_words),
            first_moves: at(first_moves),
            chances: at(chances),
            targets: at(targets),
            part_weights: at(part_weights),
            contents: at(contents),
            renormalisation,
        };
        step.forward(stream)?;
        step.heads(stream)?;
        step.back(stream)?;
        let numbers = stream.read(&sent.gradients, sent.places.len)?;
        Ok(sent.gradients(&numbers, weights.config(), boards.count))
    }

    /// Sends a network and puts its weights in order.
    fn send(&mut self, weights: &Weights) -> Result<(), CardError> {
        let stream = &mut self.stream;
        let sizes = Sizes::of(weights.config())?;
        if self.sent.as_ref().is_none_or(|sent| sent.sizes.config != sizes.config) {
            self.sent = None;
            self.scratch = None;
            self.sent = Some(Sent::new(stream, sizes)?);
        }
        let sent = self.sent.as_mut().expect("there is room for the network");
        let words = sent.places.parameters(&Padded { weights, sizes });
        stream.write(&words, &mut sent.parameters)?;
        let at = |place: usize| sent.parameters.pointer() + 4 * place as u64;
        let channels = sizes.channels;
        for (number, layer) in sent.places.layers.iter().enumerate() {
            let (from, shape) = ((at(layer.weights), None), [layer.cin, channels, 9]);
            stream.pack(Half::Bf16, from, &sent.layers[number].weights, shape, false)?;
            if number > 0 {
                stream.pack(Half::Bf16, from, &sent.turned[number - 1].weights, shape, true)?;
            }
        }
        let (from, shape) = ((at(sent.places.heads), None), [channels, sizes.width, 1]);
        stream.pack(Half::Bf16, from, &sent.heads.weights, shape, false)?;
        stream.pack(Half::Bf16, from, &sent.heads_turned.weights, shape, true)
    }
}

impl Sent {
    fn new(stream: &mut Stream, sizes: Sizes) -> Result<Sent, CardError> {
        let places = Places::of(&sizes);
        let Sizes { channels, width, .. } = sizes;
        let count = places.layers.len();
        let tower = [channels, channels, 9];
        let stem = stream.convolution([PLANES, channels, 9])?;
        let layers = (1..count).map(|_| stream.convolution(tower)).collect::<Result<Vec<_>, _>>()?;
        let layers = std::iter::once(stem).chain(layers).collect();
        let turned = (1..count).map(|_| stream.convolution(tower)).collect::<Result<_, _>>()?;
        Ok(Sent {
            sizes,
            parameters: stream.allocate(4 * places.len)?,
            gradients: stream.allocate(4 * places.len)?,
            layers,
            turned,
            heads: stream.convolution([channels, width, 1])?,
            heads_turned: stream.convolution([width, channels, 1])?,
            norms: (0..count).map(|_| stream.allocate(4 * 6 * channels)).collect::<Result<_, _>>()?,
            factors: stream.allocate(4 * 3 * channels)?,
            zeros: stream.upload(&vec![0.0; channels.max(width)])?,
            places,
        })
    }
}
