//! `hnefi online`: a player at a server.

use std::time::Duration;

use hnefi_arena::players::{Limit, ModelCache, ModelSpec, PlayerSpec};
use hnefi_data::check_new_file;
use hnefi_engine::{GameResult, Preset, Side};
use hnefi_inference::{DeviceChoice, printable};
use hnefi_play::online::{Games, OnlineObserver, OnlineParams, PORT, run as play_online};
use hnefi_play::shipped_network;
use hnefi_run::GameRecord;
use hnefi_search::SearchConfig;
use indicatif::ProgressBar;

use crate::cli::{OnlineArgs, OnlineSide};
use crate::progress;

/// How long the default player thinks about a move.
const THINKING: Duration = Duration::from_secs(2);

/// Where the password is read from: command lines can be read by everybody on a machine.
const PASSWORD: &str = "HNEFI_PASSWORD";

/// Plays the games and prints a line each.
pub fn run(args: OnlineArgs) -> anyhow::Result<()> {
    if let Some(path) = &args.save {
        check_new_file(path)?;
    }
    let mut models = ModelCache::new(DeviceChoice::default(), SearchConfig::default());
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
    let has_port = args.server.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let params = OnlineParams {
        server: if has_port { args.server } else { format!("{}:{PORT}", args.server) },
        protocol: args.protocol,
        user: args.user,
        password: std::env::var(PASSWORD).unwrap_or_default(),
        create_account: args.create_account,
        games,
        seed: args.seed.unwrap_or_else(super::clock_seed),
    };
    progress::note(&ProgressBar::hidden(), &format!("{spec} plays"));
    let mut played = Printer(Vec::new());
    let outcome = play_online(&params, player.as_mut(), &mut played);
    // The games before an error are saved, too.
    if let (Some(path), false) = (&args.save, played.0.is_empty()) {
        let format = hnefi_play::format_of(path)?;
        hnefi_data::export(played.0, &hnefi_data::ExportParams::new(format), path)?;
    }
    outcome?;
    Ok(())
}

/// Prints and keeps what was played.
struct Printer(Vec<GameRecord>);

impl OnlineObserver for Printer {
    fn note(&mut self, text: &str) {
        progress::note(&ProgressBar::hidden(), &printable(text));
    }

    fn game_finished(&mut self, game: &GameRecord, result: GameResult) {
        let result = match result {
            GameResult::Win => "won",
            GameResult::Draw => "drawn",
            GameResult::Loss => "lost",
        };
        let [attackers, defenders] = &game.players;
        println!("{result}: {} against {}, {} plies", printable(attackers), printable(defenders), game.plies.len());
        self.0.push(game.clone());
    }
}
