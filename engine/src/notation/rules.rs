//! Rules records and rule options, either as the other.

use super::{RecordError, RulesRecord, values};
use crate::{
    Bitboard, Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, Marks, NoLegalMove, Piece, Pieces, Repetition,
    RepetitionCompares, Rules, Side, Special, Speed, Square,
};

impl RulesRecord {
    /// The rules that this record describes.
    ///
    /// # Errors
    /// When it says something that the options cannot.
    pub fn rules(&self) -> Result<Rules, RecordError> {
        let is = |key: &str, value: &str| self.value(key) == value;
        let number = |key: &str| self.value(key).parse::<u16>().unwrap_or_default();
        let (king_capture, king_on_edge) = match self.value("ks") {
            "s" => (KingCapture::Strong, KingOnEdge::Safe),
            "m" => (KingCapture::Strong, KingOnEdge::CapturedByThree),
            "c" => (KingCapture::StrongNearThrone, KingOnEdge::Safe),
            _ => (KingCapture::Weak, KingOnEdge::Safe),
        };
        let (start, size) = (self.opening(), self.opening().size());
        let squares = |key: &str| match (key, self.value(key)) {
            ("cor", "default") => Bitboard::corners(size),
            ("cen", "default") => Bitboard::throne(size),
            (_, list) => list.split(',').filter_map(|name| Square::parse(name, size).ok()).collect(),
        };
        let rules = Rules {
            start,
            first: if is("atkf", "y") { Side::Attackers } else { Side::Defenders },
            king_capture,
            king_on_edge,
            king_armed: match self.value("ka") {
                "y" => KingArmed::Armed,
                "h" => KingArmed::HammerOnly,
                "a" => KingArmed::AnvilOnly,
                _ => KingArmed::Unarmed,
            },
            speed: values::speeds(self.value("spd")).unwrap_or(Speed::UNLIMITED),
            marks: Marks::new(size, squares("cen"), squares("cor"), squares("afor"), squares("dfor")).ok_or_else(
                || {
                    let mut seen = Bitboard::EMPTY;
                    for key in ["cen", "cor", "afor", "dfor"] {
                        if let Some(twice) = (squares(key) & seen).first() {
                            return self.refused(key, &format!("{}, which is of another kind, too", twice.name(size)));
                        }
                        seen |= squares(key);
                    }
                    self.refused("cor", "a square of two kinds")
                },
            )?,
            throne: self.special("cen"),
            corners: self.special("cor"),
            attacker_forts: self.special("afor"),
            defender_forts: self.special("dfor"),
            linnaean_capture: is("linc", "y"),
            escape: if is("esc", "e") { Escape::Edge } else { Escape::Corner },
            shieldwall: !is("sw", "n"),
            shieldwall_corners: !is("sw", "w"),
            shieldwall_flank: is("swf", "y"),
            exit_fort: is("efe", "y"),
            encirclement: match (self.value("surf"), self.value("x-oneregion")) {
                ("n", _) => Encirclement::Off,
                (_, "y") => Encirclement::SingleRegion,
                _ => Encirclement::AnyPocket,
            },
            no_legal_move: if is("x-nomove", "draw") { NoLegalMove::Draw } else { NoLegalMove::Loss },
            repetition: match (self.value("x-rep"), self.value("tfr")) {
                ("defenders-lose", _) => Repetition::DefendersLose,
                ("defenders-may-not", _) => Repetition::DefendersMayNot,
                (_, "d") => Repetition::Draw,
                (_, "l") => Repetition::MoverLoses,
                (_, "w") => Repetition::MoverWins,
                _ => Repetition::Ignore,
            },
            repetition_occurrence: u8::try_from(number("x-repn")).unwrap_or(u8::MAX),
            repetition_compares: match self.value("x-repboard") {
                "y" => RepetitionCompares::BoardAlone,
                _ => RepetitionCompares::BoardAndSide,
            },
            no_capture_draw_plies: number("x-nocapture"),
            draw_fort_occurrence: u8::try_from(number("x-drawfort")).unwrap_or(u8::MAX),
            ply_cap: number("x-plycap"),
        };
        if let Some(fault) = rules.faults().into_iter().next() {
            return Err(self.refused("rules", &fault));
        }
        // What is said but is not in the rules shows when they are written.
        let written = RulesRecord::of(&rules);
        match self.differing(&written).into_iter().next() {
            None => Ok(rules),
            Some((key, _)) => Err(RecordError {
                option: key.to_owned(),
                found: format!("{:?}", self.value(key)),
                expected: format!("{:?}, because no other value is played beside these options", written.value(key)),
            }),
        }
    }

    /// The record of these rules.
    pub fn of(rules: &Rules) -> RulesRecord {
        let mut record = RulesRecord::begin(rules.start);
        let yes = |yes: bool| if yes { "y" } else { "n" };
        // An option of our own says what the notation has no word for. Other programs play a draw there.
        let (tfr, rep) = match rules.repetition {
            Repetition::Draw => ("d", "no"),
            Repetition::MoverLoses => ("l", "no"),
            Repetition::MoverWins => ("w", "no"),
            Repetition::Ignore => ("i", "no"),
            Repetition::DefendersLose => ("d", "defenders-lose"),
            Repetition::DefendersMayNot => ("d", "defenders-may-not"),
        };
        let armed = match rules.king_armed {
            KingArmed::Armed => "y",
            KingArmed::HammerOnly => "h",
            KingArmed::AnvilOnly => "a",
            KingArmed::Unarmed => "n",
        };
        let strength = match (rules.king_capture, rules.king_on_edge) {
            (KingCapture::Strong, KingOnEdge::Safe) => "s",
            (KingCapture::Strong, KingOnEdge::CapturedByThree) => "m",
            (KingCapture::StrongNearThrone, _) => "c",
            (KingCapture::Weak, _) => "w",
        };
        let shieldwall = match (rules.shieldwall, rules.shieldwall_corners) {
            (false, _) => "n",
            (true, false) => "w",
            (true, true) => "s",
        };
        for (key, value) in [
            ("esc", if rules.escape == Escape::Edge { "e" } else { "c" }),
            ("surf", yes(rules.encirclement != Encirclement::Off)),
            ("atkf", yes(rules.first == Side::Attackers)),
            ("tfr", tfr),
            ("ka", armed),
            ("ks", strength),
            ("spd", &values::write_speeds(rules.speed)),
            ("sw", shieldwall),
            ("swf", yes(rules.shieldwall_flank)),
            ("efe", yes(rules.exit_fort)),
            ("linc", yes(rules.linnaean_capture)),
            ("x-rep", rep),
            ("x-repn", &rules.repetition_occurrence.to_string()),
            ("x-repboard", yes(rules.repetition_compares == RepetitionCompares::BoardAlone)),
            ("x-oneregion", yes(rules.encirclement == Encirclement::SingleRegion)),
            ("x-nomove", if rules.no_legal_move == NoLegalMove::Draw { "draw" } else { "loss" }),
            ("x-nocapture", &rules.no_capture_draw_plies.to_string()),
            ("x-drawfort", &rules.draw_fort_occurrence.to_string()),
            ("x-plycap", &rules.ply_cap.to_string()),
        ] {
            record.put(key, value);
        }
        let size = rules.size();
        for (kind, usual, squares, special) in [
            ("cen", Bitboard::throne(size), rules.marks.throne(), rules.throne),
            ("cor", Bitboard::corners(size), rules.marks.corners(), rules.corners),
            ("afor", Bitboard::EMPTY, rules.marks.attacker_forts(), rules.attacker_forts),
            ("dfor", Bitboard::EMPTY, rules.marks.defender_forts(), rules.defender_forts),
        ] {
            let is_usual = !squares.is_empty() && squares == usual;
            record.put(kind, &if is_usual { "default".to_owned() } else { values::write_squares(squares, size) });
            record.put(&format!("{kind}p"), &letters_of(special.pass));
            record.put(&format!("{kind}s"), &letters_of(special.stop));
            record.put(&format!("{kind}re"), &letters_of(special.enter));
            if kind == "cen" {
                record.put("cenh", &letters_of(special.hostile_occupied));
                record.put("cenhe", &letters_of(special.hostile_empty));
            } else {
                record.put(&format!("{kind}h"), &letters_of(special.hostile_empty));
            }
        }
        record.simplify();
        record
    }

    /// What a kind of special squares does; a kind without squares is as other squares are.
    fn special(&self, kind: &str) -> Special {
        if self.value(kind).is_empty() {
            return Special::ORDINARY;
        }
        let pieces = |key: &str| -> Pieces {
            let letters = self.value(&format!("{kind}{key}"));
            Piece::ALL.into_iter().filter(|&piece| letters.contains(LETTERS[piece as usize])).collect()
        };
        let occupied = pieces("h");
        let mut special = Special {
            pass: pieces("p"),
            stop: pieces("s"),
            enter: pieces("re"),
            hostile_empty: if kind == "cen" { pieces("he") } else { occupied },
            hostile_occupied: occupied,
        };
        // A king who needs four is never captured in a corner of the board, so nothing is said about him there.
        if kind == "cor" && self.value("ks") == "s" && self.value("cor") == "default" {
            let men: Pieces = occupied.iter().filter(|&piece| piece != Piece::King).collect();
            (special.hostile_empty, special.hostile_occupied) = (men, men);
        }
        special
    }

    fn refused(&self, option: &str, found: &str) -> RecordError {
        RecordError {
            option: option.to_owned(),
            found: found.to_owned(),
            expected: "rules that can be played".to_owned(),
        }
    }
}

/// The letters of attackers, defenders and king.
const LETTERS: [char; 3] = ['t', 'T', 'K'];

fn letters_of(pieces: Pieces) -> String {
    pieces.iter().map(|piece| LETTERS[piece as usize]).collect()
}
