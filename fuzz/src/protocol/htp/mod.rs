//! What a program of the Hnefatafl Text Protocol says.

#[path = "../../../../arena/src/players/htp/answer.rs"]
mod answer;

use answer::{Answer, role};
use hnefi_engine::{Position, Preset};

pub(super) fn read(line: &str) {
    let position = Position::start(&Preset::CopenhagenHnefataflOrg.rules());
    if let Ok(Answer::Move(mv)) = answer::read(line, &position) {
        let size = position.size();
        let own = role(position.side_to_move());
        let written = format!("play {own} {} {}", mv.from().name(size), mv.to().name(size));
        assert_eq!(answer::read(&written, &position), Ok(Answer::Move(mv)));
    }
}
