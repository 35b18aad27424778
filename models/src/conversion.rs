//! A network of an older encoding for training, which knows the newest one alone.
//!
//! Version 1 told a network the ply cap of its training, which was the same in all games on a board of one size: with
//! its weights that is a bias per board size, and goes exactly into the weights of the board's size. It told the plies
//! played over that cap, too. Version 2 has nothing like it, so their mean over training goes in as well: a network
//! says in all of a game what it said in the middle of one. Training finds the rest again.

use burn::tensor::Tensor;
use hnefi_engine::BoardSize;

use hnefi_inference::Encoding;
use hnefi_inference::encoding::global::{BOARD_SIZE, PLY_CAP, PLY_CLOCK, told_cap};

use crate::Network;

/// Plies played over the ply cap in the mean over the plies of self-play, on 7x7, 9x9 and 11x11: measured on games of
/// `brandubh` and `copenhagen-22-hours` for the first and the last, between them on 9x9, for which there is none.
const MEAN_PLY_CLOCK: [f32; BoardSize::ALL.len()] = [0.14, 0.17, 0.21];

impl Network {
    /// The network in [`Encoding::NEWEST`], as it is trained on: it says of a position what it said in the middle of
    /// the plies of self-play.
    #[must_use]
    pub fn in_newest_encoding(mut self) -> Network {
        let Encoding::V1 { ply_caps } = std::mem::replace(&mut self.encoding, Encoding::NEWEST) else { return self };
        self.globals.weight = self.globals.weight.map(|weight| {
            let (device, [_, channels]) = (weight.device(), weight.dims());
            let row = |entry: usize| weight.clone().slice([entry..entry + 1, 0..channels]);
            let constant = |cap: u16, mean: f32| {
                let clock = if cap > 0 { mean } else { 0.0 };
                row(PLY_CAP).mul_scalar(told_cap(cap.into())) + row(PLY_CLOCK).mul_scalar(clock)
            };
            let nothing = Tensor::<2>::zeros([1, channels], &device);
            let sizes = ply_caps.into_iter().zip(MEAN_PLY_CLOCK).enumerate().map(|(size, (cap, mean))| {
                let entry = BOARD_SIZE + size;
                (entry, row(entry) + constant(cap, mean))
            });
            let changed: Vec<_> = sizes.chain([(PLY_CAP, nothing.clone()), (PLY_CLOCK, nothing.clone())]).collect();
            changed
                .into_iter()
                .fold(weight.clone(), |weight, (entry, row)| weight.slice_assign([entry..entry + 1, 0..channels], row))
        });
        self
    }
}
