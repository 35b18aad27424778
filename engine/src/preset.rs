//! The nine published rulesets as presets of the options.

use std::str::FromStr;

use crate::names::{UnknownName, by_name};
use crate::{
    Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, Layout, NoLegalMove, Repetition, RepetitionCompares,
    Rules, Side, ThroneHostileToAttackers, ThroneHostileToDefenders, ThronePass, ThroneStop,
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
                layout: Layout::Seven,
                king_capture: KingCapture::StrongNearThrone,
                corner_hostile_to_king: true,
                shieldwall: false,
                exit_fort: false,
                repetition_occurrence: 3,
                ..COPENHAGEN_WITHOUT_DRAWS
            },
            Preset::Tablut => TABLUT,
            Preset::TablutLinnaeus => Rules {
                throne_stop: ThroneStop::Nobody,
                throne_hostile_to_attackers: ThroneHostileToAttackers::WhenEmpty,
                linnaean_capture: true,
                encirclement: Encirclement::Off,
                no_legal_move: NoLegalMove::Draw,
                repetition: Repetition::Draw,
                ..TABLUT
            },
            Preset::Historical => Rules { layout: Layout::LewisCross, first: Side::Defenders, ..TABLUT },
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

const COPENHAGEN: Rules = Rules {
    layout: Layout::Eleven,
    first: Side::Attackers,
    king_capture: KingCapture::Strong,
    king_on_edge: KingOnEdge::Safe,
    king_armed: KingArmed::Armed,
    throne_stop: ThroneStop::King,
    throne_pass: ThronePass::All,
    throne_hostile_to_attackers: ThroneHostileToAttackers::Always,
    throne_hostile_to_defenders: ThroneHostileToDefenders::WhenEmpty,
    linnaean_capture: false,
    corners: true,
    corner_hostile_to_king: false,
    escape: Escape::Corner,
    shieldwall: true,
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
    layout: Layout::Nine,
    king_capture: KingCapture::StrongNearThrone,
    corners: false,
    escape: Escape::Edge,
    shieldwall: false,
    exit_fort: false,
    repetition_occurrence: 3,
    ..COPENHAGEN_WITHOUT_DRAWS
};
