//! The opponent that the server's user named on the command line, whatever it is: a program of others, a network with
//! settings of its own, a search that no page offers.
//!
//! There is one, and it plays one move at a time, in a thread of its own: it may think for as long as its settings say,
//! or hang, and holds up nobody but those who play against it.

use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use hnefi_arena::players::{Player, PlayerSpec};
use hnefi_board::{Answer, ExternalPlayer, PlayerError, Question, RoomGame};

/// A player and what pages call it.
pub(crate) struct CommandLineOpponent {
    spec: String,
    name: String,
    seat: Arc<Mutex<Seat>>,
}

struct Seat {
    player: Box<dyn Player>,
    /// Room and game that it was asked about last.
    game: Option<RoomGame>,
}

impl CommandLineOpponent {
    pub(crate) fn new(spec: &PlayerSpec, player: Box<dyn Player>) -> CommandLineOpponent {
        CommandLineOpponent {
            spec: spec.to_string(),
            name: name(spec),
            seat: Arc::new(Mutex::new(Seat { player, game: None })),
        }
    }
}

impl ExternalPlayer for CommandLineOpponent {
    /// No path of this machine is in it.
    fn name(&self) -> &str {
        &self.name
    }

    /// While another question is thought about this one waits.
    fn ask(
        &self,
        mut question: Question,
        wanted: Box<dyn Fn() -> bool + Send>,
    ) -> Result<Receiver<Result<Answer, PlayerError>>, PlayerError> {
        let (sender, answer) = channel();
        let (seat, spec, name) = (self.seat.clone(), self.spec.clone(), self.name.clone());
        let think = move || {
            let mut seat = seat.lock().unwrap_or_else(PoisonError::into_inner);
            if !wanted() {
                return;
            }
            if seat.game != Some(question.game) {
                seat.player.new_game();
                seat.game = Some(question.game);
            }
            let choice = seat.player.choose(&question.played, &mut question.rng);
            // Errors name the player by its spec, command line and all.
            let choice = choice.map_err(|error| PlayerError::Unusable(error.to_string().replace(&spec, &name)));
            let answer = choice.map(|choice| Answer { mv: choice.mv, wdl: choice.wdl, playouts: choice.playouts });
            // Nobody may be listening any more.
            let _ = sender.send(answer);
        };
        std::thread::Builder::new()
            .name("opponent".to_owned())
            .spawn(think)
            .map_err(|error| PlayerError::Unusable(error.to_string()))?;
        Ok(answer)
    }
}

/// The spec without the folders that its paths lead through, and without a program's arguments.
fn name(spec: &PlayerSpec) -> String {
    let last = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let program = |command: &str| last(command.split_whitespace().next().unwrap_or(command).trim_matches(['\'', '"']));
    match spec {
        PlayerSpec::Uci(uci) => format!("{} (UCI)", program(&uci.command)),
        PlayerSpec::Model(model) => {
            spec.to_string().replacen(&model.path.display().to_string(), &last_part(&model.path), 1)
        }
        PlayerSpec::Random | PlayerSpec::AlphaBeta { .. } | PlayerSpec::Rollout { .. } => spec.to_string(),
    }
}

/// The name a folder goes by.
pub(crate) fn last_part(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_no_folders() {
        for (spec, expected) in [
            ("rollout:20", "rollout:20"),
            ("alphabeta:6", "alphabeta:6"),
            ("uci:/home/a/engine --net /home/a/b.bin,nodes=5", "engine (UCI)"),
            ("model:/home/a/runs/quick,playouts=9,search.c_puct=1", "model:quick,playouts=9,search.c_puct=1"),
        ] {
            assert_eq!(name(&spec.parse().expect(spec)), expected);
        }
    }
}
