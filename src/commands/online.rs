//! `hnefi online`: a player at a server.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hnefi_arena::players::{Limit, ModelSpec, PlayerSpec};
use hnefi_data::{Format, check_new_file, replace_file, write_jsonl, write_new_file, write_pgn};
use hnefi_engine::{GameResult, Preset, Side};
use hnefi_inference::printable;
use hnefi_play::online::{Games, OnlineObserver, OnlineParams, run as play_online};
use hnefi_play::{format_of, shipped_network};
use hnefi_run::GameRecord;
use indicatif::ProgressBar;

use crate::cli::{OnlineArgs, OnlineSide};
use crate::{interrupt, output, progress};

/// How long the default player thinks about a move.
const THINKING: Duration = Duration::from_secs(2);

/// Where the password is read from: command lines can be read by everybody on a machine.
const PASSWORD: &str = "HNEFI_PASSWORD";

/// Plays the games, and saves and prints each when it has ended.
pub fn run(args: OnlineArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.save {
        check_new_file(path)?;
    }
    let mut models = args.device.models();
    let spec = match args.player {
        Some(spec) => spec,
        None => {
            let network = shipped_network(Preset::CopenhagenHnefataflOrg).map_err(anyhow::Error::msg)?;
            PlayerSpec::Model(ModelSpec::new(network, Limit::Time(THINKING)))
        }
    };
    if let Some(text) = spec.warning() {
        progress::warn(&text);
    }
    let mut player = spec.build(&mut models)?;
    let games = match args.join {
        Some(game) => Games::Asked(game),
        None => Games::Offered {
            count: args.games,
            side: match args.side {
                OnlineSide::Attackers => Side::Attackers,
                OnlineSide::Defenders => Side::Defenders,
            },
            rated: args.rated,
            time: (!args.untimed)
                .then(|| [Duration::from_secs(60 * args.minutes), Duration::from_secs(args.increment)]),
        },
    };
    let params = OnlineParams {
        server: args.server,
        protocol: args.protocol,
        user: args.user,
        password: std::env::var(PASSWORD).unwrap_or_default(),
        create_account: args.create_account,
        games,
        seed: args.seed.unwrap_or_else(super::clock_seed),
    };
    progress::note(&ProgressBar::hidden(), &format!("{spec} plays"));
    let mut keeper = Keeper { stop: interrupt::stop_flag()?, path: args.save, games: Vec::new(), kept: Ok(()) };
    let outcome = play_online(&params, player.as_mut(), &mut keeper);
    // Without its cause: a connection that broke is no reader that went away.
    output::both(keeper.kept, outcome.map(drop).map_err(|error| anyhow::anyhow!("{error}")))
}

/// Saves and prints what was played.
struct Keeper {
    stop: Arc<AtomicBool>,
    path: Option<PathBuf>,
    games: Vec<GameRecord>,
    /// Whether the last game could be saved and printed.
    kept: anyhow::Result<()>,
}

impl Keeper {
    /// Saves all games so far. The end of every game does, so that whatever comes later takes none away.
    fn save(&self) -> anyhow::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let (games, mut text) = (self.games.iter().cloned(), Vec::new());
        match format_of(path)? {
            Format::Pgn => write_pgn(games, &mut text)?,
            _ => write_jsonl(games, &mut text)?,
        };
        let write = if self.games.len() == 1 { write_new_file } else { replace_file };
        Ok(write(path, &text)?)
    }
}

impl OnlineObserver for Keeper {
    fn note(&mut self, text: &str) {
        progress::note(&ProgressBar::hidden(), &printable(text));
    }

    fn game_finished(&mut self, game: &GameRecord, result: GameResult) {
        let result = match result {
            GameResult::Win => "won",
            GameResult::Draw => "drawn",
            GameResult::Loss => "lost",
        };
        self.games.push(game.clone());
        let saved = self.save();
        let [attackers, defenders] = &game.players;
        let (attackers, defenders) = (printable(attackers), printable(defenders));
        let told = format!("{result}: {attackers} against {defenders}, {} plies", game.plies.len());
        self.kept = output::both(saved, output::line(told));
    }

    fn should_stop(&mut self) -> bool {
        self.kept.is_err() || self.stop.load(Ordering::SeqCst)
    }
}
