//! Rules of any tafl for a page: published rules, the rules of a record, and a start that somebody draws.

use hnefi_engine::{
    Bitboard, BoardSize, BoardSizeError, Marks, NamedRules, NamedRulesError, RecordError, Rules, RulesRecord, Side,
    Special, Start,
};
use hnefi_inference::names;
use serde::{Deserialize, Serialize};

use crate::exchange::{Answer, Reply, request};
use crate::players::{self, Offer, PlayerId};
use crate::position_view::fen_rank;
use crate::refusal::no_position;
use crate::view::RulesView;
use crate::{Board, Problem, Refusal, problem};

/// Rules that a page asks about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RulesRequest {
    /// A ruleset's name or a rules record.
    rules: String,
    /// The side of another board, with a start of the plainest form.
    #[serde(default)]
    side: Option<u8>,
    /// Another start: a FEN, whose side to move is the one that begins.
    #[serde(default)]
    start: Option<String>,
}

/// Rules, and who plays by them.
#[derive(Clone, Debug, Serialize)]
struct RulesetView {
    rules: RulesView,
    record: String,
    opponent: PlayerId,
    /// The networks that learned these rules.
    known_by: Vec<PlayerId>,
}

/// The rules of that name, or of a rules record.
///
/// # Errors
/// When there is no such name; when the record cannot be read or played, with the option, what stands there and what
/// could.
pub(crate) fn ruleset(text: &str) -> Result<NamedRules, Refusal> {
    text.parse::<NamedRules>().map_err(|error| match error {
        NamedRulesError::Record(error) => Refusal::bad(wrong_record(error)),
        NamedRulesError::UnknownName { .. } => {
            let detail = names::ruleset(text).err().map(|error| error.to_string()).unwrap_or_default();
            Refusal::bad(problem!("error.rules", "there are no such rules: {detail}", detail = detail))
        }
    })
}

fn wrong_record(RecordError { option, found, expected }: RecordError) -> Problem {
    problem!(
        "error.record",
        "the rules record, {option}: found {found}; expected {expected}",
        option = option,
        found = found,
        expected = expected
    )
}

impl Board {
    /// Rules as they are asked for, with another board or start where one is given.
    pub(crate) fn rules(&self, asked: &RulesRequest) -> Answer {
        let mut rules = ruleset(&asked.rules)?.rules();
        if let Some(side) = asked.side {
            let size = BoardSize::try_from(side).map_err(|error: BoardSizeError| no_position(error))?;
            rules = on_board(&rules, size)?;
        }
        if let Some(fen) = &asked.start {
            let (rows, first) = fen.split_once(' ').unwrap_or((fen, "a"));
            let first = match first {
                "a" => Side::Attackers,
                "d" => Side::Defenders,
                other => return Err(no_position(format!("the side to move is {other:?}; expected a or d"))),
            };
            rules = Rules { start: Start::parse(rows).map_err(no_position)?, first, ..rules };
        }
        if let Some(fault) = rules.faults().into_iter().next() {
            return Err(no_position(fault));
        }
        let record = RulesRecord::of(&rules);
        if !NamedRules::from(rules).is_said() {
            return Err(Refusal::bad(request(format!("no rules record says these rules; the nearest is {record}"))));
        }
        let networks = self.players.networks();
        let named = NamedRules::from(rules);
        let knows = |offer: &&Offer| offer.fit(&rules) == players::Fit::Rules;
        Reply::json(&RulesetView {
            rules: RulesView::of(&rules),
            record: record.to_string(),
            opponent: players::opponent(&networks, named),
            known_by: networks.iter().filter(knows).map(|offer| offer.id.clone()).collect(),
        })
    }
}

/// The same rules on another board: with a throne in the middle and corners, where there were any, and no forts.
fn on_board(rules: &Rules, size: BoardSize) -> Result<Rules, Refusal> {
    let usual = Marks::usual(size);
    let same = |were: Bitboard, usual: Bitboard| if were.is_empty() { Bitboard::EMPTY } else { usual };
    let (throne, corners) = (same(rules.marks.throne(), usual.throne()), same(rules.marks.corners(), usual.corners()));
    // Squares that there are not do nothing.
    let special = |squares: Bitboard, special| if squares.is_empty() { Special::ORDINARY } else { special };
    Ok(Rules {
        start: plain_start(size)?,
        marks: Marks::new(size, throne, corners, Bitboard::EMPTY, Bitboard::EMPTY).unwrap_or(usual),
        throne: special(throne, rules.throne),
        corners: special(corners, rules.corners),
        attacker_forts: Special::ORDINARY,
        defender_forts: Special::ORDINARY,
        ..*rules
    })
}

/// A cross to begin a drawing with: the king in the middle, and on each way from him to the edge a third defenders and
/// behind them attackers.
fn plain_start(size: BoardSize) -> Result<Start, Refusal> {
    let (n, middle) = (size.side(), size.side() / 2);
    let letter = |file: usize, rank: usize| {
        let at = match (file == middle, rank == middle) {
            (true, true) => return 'k',
            (true, false) => rank,
            (false, true) => file,
            (false, false) => return '.',
        };
        let length = if at > middle { n - 1 - middle } else { middle };
        if at.abs_diff(middle) <= (length / 3).max(1) { 'd' } else { 'a' }
    };
    let row = |rank: usize| fen_rank(&(0..n).map(|file| letter(file, rank)).collect::<Vec<_>>());
    let rows: Vec<String> = (0..n).rev().map(row).collect();
    Start::parse(&rows.join("/")).map_err(Refusal::fault)
}
