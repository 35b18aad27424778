//! What a server of the protocol of hnefatafl.org says.

#[path = "../../../../play/src/online/line.rs"]
#[allow(dead_code)]
mod line;

use hnefi_engine::{Move, Preset};
use line::Line;

pub(super) fn read(text: &str) {
    let line = Line::read(text);
    if let Line::Moved { game, side, from, to } = &line {
        let rules = Preset::CopenhagenHnefataflOrg.rules();
        if let Ok(mv) = Move::parse(&format!("{from}{to}"), rules.size()) {
            let written = line::play(*game, *side, mv, &rules);
            assert!(matches!(Line::read(&written), Line::Moved { .. }), "{written}");
        }
    }
    if let Line::Resigned { game, side } = line {
        assert_eq!(Line::read(&line::resign(game, side)), line);
    }
}
