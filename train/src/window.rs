//! The replay window: the newest training plies, from which samples are drawn.
//!
//! With `N` training plies played in the whole run, the window holds the newest
//!
//! ```text
//! N_w = N                              for N <= c
//! N_w = c (1 + b ((N/c)^a - 1) / a)    for N >  c
//! ```
//!
//! (KataGo, arXiv 1902.10565, appendix C). Both branches meet at `N = c`. Beyond it the window grows more slowly than
//! the data: its slope is `b` at `c` and falls as `b (N/c)^(a-1)`. Up to size `c` all plies are kept, and `a < 1` lets
//! old games drop out.
//!
//! The window consists of whole generations: the fewest newest ones that hold `N_w` plies, but at least a configured
//! number of generations if there are as many.

use crate::config::TrainSection;

/// `a`, the power, in (0, 1].
const EXPONENT: f64 = 0.75;

/// `b`, the slope at `c`, in (0, 1].
const SLOPE: f64 = 0.4;

/// Size `N_w` of the window in training plies, after `total` training plies.
fn plies(section: &TrainSection, total: u64) -> u64 {
    if total <= section.window_base {
        return total;
    }
    let base = section.window_base as f64;
    let growth = ((total as f64 / base).powf(EXPONENT) - 1.0) / EXPONENT;
    ((base * (1.0 + SLOPE * growth)).round() as u64).min(total)
}

/// The generations in the window as indices into `played`, the training plies of every generation from the first on.
pub(crate) fn range(section: &TrainSection, played: &[u64]) -> std::ops::Range<usize> {
    let wanted = plies(section, played.iter().sum());
    let (mut first, mut held) = (played.len(), 0);
    while first > 0 && (held < wanted || played.len() - first < section.window_generations) {
        first -= 1;
        held += played[first];
    }
    first..played.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(window_base: u64, window_generations: usize) -> TrainSection {
        TrainSection { window_base, window_generations, ..TrainSection::default() }
    }

    #[test]
    fn sizes_worked_out_by_hand() {
        let size = |total| plies(&section(20_000, 3), total);
        // (N/c)^a for N/c = 16 and a = 3/4 is 8, for 81 it is 27, for 10 it is 5.623413...
        assert_eq!(size(0), 0);
        assert_eq!(size(7_000), 7_000);
        assert_eq!(size(20_000), 20_000);
        assert_eq!(size(320_000), 94_667); // 20000 (1 + 0.4 * 7 / 0.75)
        assert_eq!(size(1_620_000), 297_333); // 20000 (1 + 0.4 * 26 / 0.75)
        assert_eq!(size(200_000), 69_316); // 20000 (1 + 0.4 * 4.6234132 / 0.75)
    }

    #[test]
    fn grows_and_never_exceeds_what_there_is() {
        let (section, mut last) = (section(20_000, 3), 0);
        for total in (0..2_000_000).step_by(997) {
            let plies = plies(&section, total);
            assert!(plies >= last && plies <= total, "{total}: {last} then {plies}");
            last = plies;
        }
    }

    /// A board that is new in generation 21: its share of the window, and so of the steps (`docs/TRAINING.md`).
    #[test]
    fn a_new_board_fills_the_window_within_seventeen_generations() {
        let section = section(60_000, 8);
        let share = |new: usize| {
            let held = range(&section, &vec![8_192; 20 + new]).len();
            new.min(held) as f64 / held as f64
        };
        assert_eq!(share(1), 1.0 / 13.0); // 98,500 plies are wanted, 12.02 generations
        assert_eq!(share(6), 6.0 / 14.0); // 110,755, 13.52 generations
        assert!(share(16) < 1.0);
        assert_eq!(share(17), 1.0);
    }

    /// As `configs/copenhagen-gpu.toml` says of its 270 generations.
    #[test]
    fn a_small_window_is_eight_generations_long_before_it_grows() {
        let held = |played| range(&section(1_000, 8), &vec![32_768; played]).len();
        // 44 % of 270 are 118.8; 486,996 plies are wanted in the end, 14.86 generations.
        assert_eq!([118, 119, 270].map(held), [8, 9, 15]);
    }

    #[test]
    fn cut_between_generations() {
        let held = |played: &[u64]| range(&section(20_000, 3), played);
        assert_eq!(held(&[]), 0..0);
        assert_eq!(held(&[5_000]), 0..1);
        // Four times 5000 are no more than c: everything stays.
        assert_eq!(held(&[5_000; 4]), 0..4);
        // 64 * 5000 = 320,000 plies: 94,667 wanted, which takes 19 generations.
        assert_eq!(held(&[5_000; 64]), 45..64);
        // A last generation larger than the window still has two before it.
        assert_eq!(held(&[1_000, 1_000, 1_000, 1_000, 400_000]), 2..5);
        // A generation whose file was lost counts as a generation without plies.
        assert_eq!(held(&[100, 0, 100]), 0..3);
    }
}
