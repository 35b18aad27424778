//! The bridge from rule options as values to rule options as constants.
//!
//! Hot code is generic over a [`Ruleset`]. For the published boards [`Ruleset::options`] is a constant, so every test
//! of an option folds away; any other mixture runs the same code with the options read at run time. A position
//! chooses its [`Kernel`] once. Options that are read once a move and cannot change a board (repetition, clocks, who
//! starts and from which layout, what no legal move means) are always run-time values, which lets all Copenhagen
//! presets share one kernel.

use crate::tables::lines::{self, LineTables};
use crate::tables::{self, Tables};
use crate::{BoardSize, Preset, Rules};

/// Rule options that code can be monomorphised for.
pub(crate) trait Ruleset: 'static {
    /// Squares along one edge; also the distance of a square to the one above it.
    const N: usize;
    /// The masks of this board.
    const TABLES: &'static Tables;
    /// Where its squares are in the lines.
    const LINES: &'static LineTables;

    /// The options that decide what happens on the board. `given` are the position's own rules; a published ruleset
    /// ignores them.
    fn options(given: &Rules) -> &Rules;

    /// Corners, where they are squares for the king only; else nothing.
    #[inline(always)]
    fn royal_corners(given: &Rules) -> u128 {
        if Self::options(given).corners { Self::TABLES.corners } else { 0 }
    }
}

macro_rules! published {
    ($name:ident, $n:literal, $tables:ident) => {
        /// The board rules of the preset of this name.
        pub(crate) struct $name;

        impl Ruleset for $name {
            const N: usize = $n;
            const TABLES: &'static Tables = &tables::$tables;
            const LINES: &'static LineTables = &lines::$tables;

            #[inline(always)]
            fn options(_: &Rules) -> &Rules {
                const OPTIONS: &Rules = &Preset::$name.rules();
                OPTIONS
            }
        }
    };
}

macro_rules! mixture {
    ($name:ident, $n:literal, $tables:ident) => {
        /// Any mixture of options on this board.
        pub(crate) struct $name;

        impl Ruleset for $name {
            const N: usize = $n;
            const TABLES: &'static Tables = &tables::$tables;
            const LINES: &'static LineTables = &lines::$tables;

            #[inline(always)]
            fn options(given: &Rules) -> &Rules {
                given
            }
        }
    };
}

published!(Copenhagen, 11, ELEVEN);
published!(Fetlar, 11, ELEVEN);
published!(Brandubh, 7, SEVEN);
published!(Tablut, 9, NINE);
published!(TablutLinnaeus, 9, NINE);
published!(Historical, 11, ELEVEN);
mixture!(Mixed7, 7, SEVEN);
mixture!(Mixed9, 9, NINE);
mixture!(Mixed11, 11, ELEVEN);

/// Which monomorphised code a position uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    Copenhagen,
    Fetlar,
    Brandubh,
    Tablut,
    TablutLinnaeus,
    Historical,
    Mixed7,
    Mixed9,
    Mixed11,
}

impl Kernel {
    /// The fastest kernel that is right for these rules.
    pub(crate) fn of(rules: &Rules) -> Kernel {
        let published = [
            (Preset::Copenhagen, Kernel::Copenhagen),
            (Preset::Fetlar, Kernel::Fetlar),
            (Preset::Brandubh, Kernel::Brandubh),
            (Preset::Tablut, Kernel::Tablut),
            (Preset::TablutLinnaeus, Kernel::TablutLinnaeus),
            (Preset::Historical, Kernel::Historical),
        ];
        let same_board_rules = |preset: Preset| {
            let published = preset.rules();
            let layout = if rules.size() == published.size() { rules.layout } else { published.layout };
            *rules
                == Rules {
                    layout,
                    first: rules.first,
                    no_legal_move: rules.no_legal_move,
                    repetition: rules.repetition,
                    repetition_occurrence: rules.repetition_occurrence,
                    repetition_compares: rules.repetition_compares,
                    no_capture_draw_plies: rules.no_capture_draw_plies,
                    draw_fort_occurrence: rules.draw_fort_occurrence,
                    ply_cap: rules.ply_cap,
                    ..published
                }
        };
        match published.into_iter().find(|&(preset, _)| same_board_rules(preset)) {
            Some((_, kernel)) => kernel,
            None => match rules.size() {
                BoardSize::Seven => Kernel::Mixed7,
                BoardSize::Nine => Kernel::Mixed9,
                BoardSize::Eleven => Kernel::Mixed11,
            },
        }
    }
}

/// Runs an expression with `$ruleset` standing for the type that belongs to a kernel.
macro_rules! with_ruleset {
    ($kernel:expr, $ruleset:ident => $body:expr) => {{
        use $crate::ruleset::Kernel;
        match $kernel {
            Kernel::Copenhagen => {
                type $ruleset = $crate::ruleset::Copenhagen;
                $body
            }
            Kernel::Fetlar => {
                type $ruleset = $crate::ruleset::Fetlar;
                $body
            }
            Kernel::Brandubh => {
                type $ruleset = $crate::ruleset::Brandubh;
                $body
            }
            Kernel::Tablut => {
                type $ruleset = $crate::ruleset::Tablut;
                $body
            }
            Kernel::TablutLinnaeus => {
                type $ruleset = $crate::ruleset::TablutLinnaeus;
                $body
            }
            Kernel::Historical => {
                type $ruleset = $crate::ruleset::Historical;
                $body
            }
            Kernel::Mixed7 => {
                type $ruleset = $crate::ruleset::Mixed7;
                $body
            }
            Kernel::Mixed9 => {
                type $ruleset = $crate::ruleset::Mixed9;
                $body
            }
            Kernel::Mixed11 => {
                type $ruleset = $crate::ruleset::Mixed11;
                $body
            }
        }
    }};
}
pub(crate) use with_ruleset;
