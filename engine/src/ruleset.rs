//! The bridge from rule options as values to rule options as constants.
//!
//! Hot code is generic over a [`Ruleset`]. For the published boards [`Ruleset::options`] is a constant, so every test
//! of an option folds away; any other mixture or board runs the same code with options and side read at run time. A
//! position chooses its [`Kernel`] once. Options that are read once a move and cannot change a board (repetition,
//! clocks, who starts and from which layout, what no legal move means) are always run-time values, which lets all
//! Copenhagen presets share one kernel.

use std::marker::PhantomData;

use crate::masks::Masks;
use crate::set::{Set, Wide};
use crate::tables::lines::{LineMasks, LineTables};
use crate::tables::{self, Lookup, Tables};
use crate::{Preset, Rules};

/// The rules of a position with what follows from them; one for all positions of a game.
pub(crate) struct Terms<S: Set> {
    pub rules: Rules,
    /// [`Rules::fingerprint`], since hashing the options takes longer than all else in a state key.
    pub rules_key: u64,
    n: usize,
    tables: &'static Tables<S>,
    lines: &'static LineTables<S>,
    masks: Masks<S>,
    /// Read at run time under published rules, too: with constants the compiler takes the lines one by one.
    pub line_masks: LineMasks<S>,
}

impl<S: Set> std::fmt::Debug for Terms<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.rules.fmt(f)
    }
}

/// Sets that a board's tables and masks are made of.
pub(crate) trait Tabled: Set {
    /// The tables of a board of this side.
    fn tables(side: usize) -> Lookup<Self>;
    fn masks(rules: &Rules) -> Masks<Self>;
}

impl Tabled for u128 {
    fn tables(side: usize) -> Lookup<u128> {
        tables::narrow(side)
    }

    fn masks(rules: &Rules) -> Masks<u128> {
        Masks::<u128>::converted(&Masks::of(rules))
    }
}

impl Tabled for Wide {
    fn tables(side: usize) -> Lookup<Wide> {
        tables::wide(side)
    }

    fn masks(rules: &Rules) -> Masks<Wide> {
        Masks::<Wide>::converted(&Masks::of(rules))
    }
}

impl<S: Tabled> Terms<S> {
    pub fn of(rules: &Rules) -> Terms<S> {
        let n = rules.size().side();
        let ((tables, lines), masks) = (S::tables(n), S::masks(rules));
        let line_masks = LineMasks::of(tables, lines, &masks);
        Terms { rules: *rules, rules_key: rules.fingerprint(), n, tables, lines, masks, line_masks }
    }
}

/// Rule options that code can be monomorphised for. `g` are the position's own terms; a published ruleset ignores
/// them.
pub(crate) trait Ruleset: 'static {
    type Set: Tabled;

    /// Squares along one edge; also the distance of a square to the one above it.
    fn n(g: &Terms<Self::Set>) -> usize;
    fn tables(g: &Terms<Self::Set>) -> &'static Tables<Self::Set>;
    /// Where its squares are in the lines.
    fn lines(g: &Terms<Self::Set>) -> &'static LineTables<Self::Set>;
    /// The options that decide what happens on the board.
    fn options(g: &Terms<Self::Set>) -> &Rules;
    /// What they say about squares.
    fn masks(g: &Terms<Self::Set>) -> &Masks<Self::Set>;
}

/// The board rules of the preset of this number.
pub(crate) struct Published<const PRESET: usize>;

impl<const PRESET: usize> Published<PRESET> {
    const OPTIONS: &Rules = &Preset::ALL[PRESET].rules();
    const N: usize = Self::OPTIONS.size().side();
    const LOOKUP: Lookup<u128> = tables::constant(Self::N).expect("a published board");
    const MASKS: &Masks<u128> = &Masks::<u128>::converted(&Masks::of(Self::OPTIONS));
}

impl<const PRESET: usize> Ruleset for Published<PRESET> {
    type Set = u128;

    #[inline(always)]
    fn n(_: &Terms<u128>) -> usize {
        Self::N
    }

    #[inline(always)]
    fn tables(_: &Terms<u128>) -> &'static Tables<u128> {
        Self::LOOKUP.0
    }

    #[inline(always)]
    fn lines(_: &Terms<u128>) -> &'static LineTables<u128> {
        Self::LOOKUP.1
    }

    #[inline(always)]
    fn options(_: &Terms<u128>) -> &Rules {
        Self::OPTIONS
    }

    #[inline(always)]
    fn masks(_: &Terms<u128>) -> &Masks<u128> {
        Self::MASKS
    }
}

/// Any board that these sets hold, under any mixture of options.
pub(crate) struct Any<S>(PhantomData<S>);

impl<S: Tabled> Ruleset for Any<S> {
    type Set = S;

    #[inline(always)]
    fn n(g: &Terms<S>) -> usize {
        g.n
    }

    #[inline(always)]
    fn tables(g: &Terms<S>) -> &'static Tables<S> {
        g.tables
    }

    #[inline(always)]
    fn lines(g: &Terms<S>) -> &'static LineTables<S> {
        g.lines
    }

    #[inline(always)]
    fn options(g: &Terms<S>) -> &Rules {
        &g.rules
    }

    #[inline(always)]
    fn masks(g: &Terms<S>) -> &Masks<S> {
        &g.masks
    }
}

pub(crate) type Copenhagen = Published<{ Preset::Copenhagen as usize }>;
pub(crate) type Fetlar = Published<{ Preset::Fetlar as usize }>;
pub(crate) type Brandubh = Published<{ Preset::Brandubh as usize }>;
pub(crate) type Tablut = Published<{ Preset::Tablut as usize }>;
pub(crate) type TablutLinnaeus = Published<{ Preset::TablutLinnaeus as usize }>;
pub(crate) type Historical = Published<{ Preset::Historical as usize }>;
pub(crate) type AnyNarrow = Any<u128>;
pub(crate) type AnyWide = Any<Wide>;

/// Which monomorphised code a position uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    Copenhagen,
    Fetlar,
    Brandubh,
    Tablut,
    TablutLinnaeus,
    Historical,
    AnyNarrow,
    AnyWide,
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
            let start = rules.start.board();
            rules.size() == published.size()
                && rules.marks.all().is_disjoint(start.attackers | start.defenders)
                && *rules
                    == Rules {
                        start: rules.start,
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
            None if rules.size().side() <= 11 => Kernel::AnyNarrow,
            None => Kernel::AnyWide,
        }
    }
}

/// Runs an expression with `$ruleset` standing for the type that belongs to a kernel.
macro_rules! with_ruleset {
    ($kernel:expr, $ruleset:ident => $body:expr) => {
        $crate::ruleset::with_ruleset!(@ $kernel, $ruleset, $body,
            Copenhagen Fetlar Brandubh Tablut TablutLinnaeus Historical AnyNarrow AnyWide)
    };
    (@ $kernel:expr, $ruleset:ident, $body:expr, $($name:ident)*) => {
        match $kernel {
            $($crate::ruleset::Kernel::$name => {
                type $ruleset = $crate::ruleset::$name;
                $body
            })*
        }
    };
}
pub(crate) use with_ruleset;
