//! The nine published rulesets as presets of the options.

use std::str::FromStr;

use crate::names::{UnknownName, by_name};
use crate::{
    BoardSize, Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, Marks, NoLegalMove, Pieces, Repetition,
    RepetitionCompares, Rules, Side, Special, Speed, Start,
};

/// A published ruleset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Preset {
    /// Copenhagen 11x11 (S1).
    Copenhagen,
    /// Copenhagen as hnefatafl.org has it (S0).
    CopenhagenHnefataflOrg,
    /// Copenhagen as Cyningstan has it (S3).
    CopenhagenCyningstan,
    /// Copenhagen as PlayTafl has it (S4).
    CopenhagenPlaytafl,
    /// Fetlar 11x11 (S2).
    Fetlar,
    /// Brandubh 7x7.
    Brandubh,
    /// Tablut 9x9.
    Tablut,
    /// Tablut 9x9 after Linnaeus.
    TablutLinnaeus,
    /// Historical Hnefatafl 11x11 (S5).
    Historical,
}

impl Preset {
    /// All nine presets, in the order of the rules text.
    pub const ALL: [Preset; 9] = [
        Preset::Copenhagen,
        Preset::CopenhagenHnefataflOrg,
        Preset::CopenhagenCyningstan,
        Preset::CopenhagenPlaytafl,
        Preset::Fetlar,
        Preset::Brandubh,
        Preset::Tablut,
        Preset::TablutLinnaeus,
        Preset::Historical,
    ];

    /// The name used in configs and on the command line, such as `copenhagen-hnefatafl-org`.
    pub const fn name(self) -> &'static str {
        match self {
            Preset::Copenhagen => "copenhagen",
            Preset::CopenhagenHnefataflOrg => "copenhagen-hnefatafl-org",
            Preset::CopenhagenCyningstan => "copenhagen-cyningstan",
            Preset::CopenhagenPlaytafl => "copenhagen-playtafl",
            Preset::Fetlar => "fetlar",
            Preset::Brandubh => "brandubh",
            Preset::Tablut => "tablut",
            Preset::TablutLinnaeus => "tablut-linnaeus",
            Preset::Historical => "historical",
        }
    }

    /// The preset of that name. [`str::parse`] says what was expected where there is none.
    pub fn from_name(name: &str) -> Option<Preset> {
        name.parse().ok()
    }

    /// The options of this preset.
    pub const fn rules(self) -> Rules {
        match self {
            Preset::Copenhagen => COPENHAGEN,
            Preset::CopenhagenHnefataflOrg => Rules {
                repetition: Repetition::DefendersMayNot,
                repetition_occurrence: 2,
                repetition_compares: RepetitionCompares::BoardAlone,
                ..COPENHAGEN_WITHOUT_DRAWS
            },
            Preset::CopenhagenCyningstan => {
                Rules { repetition: Repetition::DefendersMayNot, repetition_occurrence: 3, ..COPENHAGEN_WITHOUT_DRAWS }
            }
            Preset::CopenhagenPlaytafl => Rules { repetition_occurrence: 3, ..COPENHAGEN_WITHOUT_DRAWS },
            Preset::Fetlar => Rules {
                shieldwall: false,
                exit_fort: false,
                repetition: Repetition::Draw,
                repetition_occurrence: 3,
                ..COPENHAGEN_WITHOUT_DRAWS
            },
            Preset::Brandubh => Rules {
                start: Start::of("3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3"),
                king_capture: KingCapture::StrongNearThrone,
                marks: Marks::usual(BoardSize::SEVEN),
                corners: Special { hostile_empty: Pieces::ALL, hostile_occupied: Pieces::ALL, ..CORNERS },
                shieldwall: false,
                exit_fort: false,
                repetition_occurrence: 3,
                ..COPENHAGEN_WITHOUT_DRAWS
            },
            Preset::Tablut => TABLUT,
            Preset::TablutLinnaeus => Rules {
                throne: Special { stop: Pieces::NONE, hostile_occupied: Pieces::NONE, ..THRONE },
                linnaean_capture: true,
                encirclement: Encirclement::Off,
                no_legal_move: NoLegalMove::Draw,
                repetition: Repetition::Draw,
                ..TABLUT
            },
            Preset::Historical => Rules {
                start: Start::of("4aaa4/4aaa4/5d5/5d5/aa3d3aa/aadddkdddaa/aa3d3aa/5d5/5d5/4aaa4/4aaa4"),
                marks: Marks::usual(BoardSize::ELEVEN),
                first: Side::Defenders,
                ..TABLUT
            },
        }
    }
}

impl Rules {
    /// The preset these rules are, the ply cap apart; `None` for a mixture of one's own.
    pub fn preset(&self) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| Rules { ply_cap: self.ply_cap, ..preset.rules() } == *self)
    }
}

impl std::fmt::Display for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preset {
    type Err = UnknownName;

    /// Reads [`Preset::name`].
    fn from_str(name: &str) -> Result<Preset, UnknownName> {
        by_name("ruleset", name, &Preset::ALL, Preset::name)
    }
}

/// The king's alone to stop on; turns against attackers always, against others when empty.
const THRONE: Special = Special {
    pass: Pieces::ALL,
    stop: Pieces::KING,
    enter: Pieces::ALL,
    hostile_empty: Pieces::ALL,
    hostile_occupied: Pieces::ATTACKERS,
};

/// The king's alone, and against all men.
const CORNERS: Special = Special {
    pass: Pieces::KING,
    stop: Pieces::KING,
    enter: Pieces::ALL,
    hostile_empty: Pieces::MEN,
    hostile_occupied: Pieces::MEN,
};

const COPENHAGEN: Rules = Rules {
    start: Start::of("3aaaaa3/5a5/11/a4d4a/a3ddd3a/aa1ddkdd1aa/a3ddd3a/a4d4a/11/5a5/3aaaaa3"),
    first: Side::Attackers,
    king_capture: KingCapture::Strong,
    king_on_edge: KingOnEdge::Safe,
    king_armed: KingArmed::Armed,
    speed: Speed::UNLIMITED,
    marks: Marks::usual(BoardSize::ELEVEN),
    throne: THRONE,
    corners: CORNERS,
    attacker_forts: Special::ORDINARY,
    defender_forts: Special::ORDINARY,
    linnaean_capture: false,
    escape: Escape::Corner,
    shieldwall: true,
    shieldwall_corners: true,
    shieldwall_flank: true,
    exit_fort: true,
    encirclement: Encirclement::AnyPocket,
    no_legal_move: NoLegalMove::Loss,
    repetition: Repetition::DefendersLose,
    repetition_occurrence: 4,
    repetition_compares: RepetitionCompares::BoardAndSide,
    no_capture_draw_plies: 100,
    draw_fort_occurrence: 4,
    ply_cap: 0,
};

/// S1 alone has the fifty-move draw and the draw fort.
const COPENHAGEN_WITHOUT_DRAWS: Rules = Rules { no_capture_draw_plies: 0, draw_fort_occurrence: 0, ..COPENHAGEN };

const TABLUT: Rules = Rules {
    start: Start::of("3aaa3/4a4/4d4/a3d3a/aaddkddaa/a3d3a/4d4/4a4/3aaa3"),
    king_capture: KingCapture::StrongNearThrone,
    marks: Marks::usual(BoardSize::NINE),
    corners: Special::ORDINARY,
    escape: Escape::Edge,
    shieldwall: false,
    exit_fort: false,
    repetition_occurrence: 3,
    ..COPENHAGEN_WITHOUT_DRAWS
};
