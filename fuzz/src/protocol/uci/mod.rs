//! What a client says to us.

#[path = "../../../../play/src/uci/command.rs"]
#[allow(dead_code)]
mod command;
#[path = "../../../../play/src/uci/game.rs"]
mod game;
#[path = "../../../../play/src/uci/options.rs"]
#[allow(dead_code)]
mod options;

use hnefi_engine::Preset;

use super::check;
use command::Command;
use options::Options;

pub(super) fn read(line: &str) {
    let command = match command::parse(line) {
        Ok(Some(command)) => command,
        Ok(None) => return assert!(line.trim().is_empty()),
        Err(problem) => return check(&problem),
    };
    match &command {
        Command::Position { fen, moves } => {
            let rules = Preset::Brandubh.rules();
            match game::read(&rules, fen.as_deref(), moves) {
                Ok(game) => assert_eq!(game.len(), moves.len()),
                Err(problem) => assert!(!problem.is_empty()),
            }
            let start = fen.as_ref().map_or("startpos".to_owned(), |fen| format!("fen {fen}"));
            let written = format!("position {start} moves {}", moves.join(" "));
            assert_eq!(command::parse(&written).as_ref(), Ok(&Some(command)));
        }
        Command::SetOption { name, value } => {
            let mut options = Options::new(Preset::Brandubh.into(), None, 1);
            let before = options.clone();
            match options.set(name, value.as_deref()) {
                Ok(_) => assert!(options.declarations().len() > 5),
                Err(problem) => {
                    check(&problem);
                    assert_eq!(options, before);
                }
            }
        }
        Command::Go(go) => {
            assert!(go.nodes != Some(0));
            let _ = go.is_endless();
        }
        _ => {}
    }
}
