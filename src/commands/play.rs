//! `hnefi play`: a board in the terminal or in a browser.

use std::io::IsTerminal;
use std::time::Duration;

use hnefi_arena::players::{Limit, ModelCache, ModelSpec, PlayerSpec};
use hnefi_engine::{Preset, Rules, Side};
use hnefi_play::{Seat, Table, WITHOUT_NETWORK, foreign, shipped_network};
use indicatif::ProgressBar;

use crate::cli::{self, PlayArgs};
use crate::progress;

/// Playouts per move of the default opponent.
const PLAYOUTS: u32 = 200;

/// Plays until the person leaves.
pub fn run(args: PlayArgs) -> anyhow::Result<()> {
    let mut models = args.device.models();
    let preset = rules(&args, &mut models)?;
    anyhow::ensure!(!(args.web && args.plain), "--web and --plain: expected one of them");
    if let Some(text) = args.opponent.as_ref().and_then(PlayerSpec::warning) {
        progress::warn(&text);
    }
    // Refuse a bad FEN before the screen changes or a page is served.
    cli::position(&preset.rules(), args.fen.as_deref())?;
    if args.web {
        return super::web::play(&args, preset);
    }
    let player = match &args.opponent {
        Some(player) => player.clone(),
        None => usual(preset)?,
    };
    progress::note(&ProgressBar::hidden(), &format!("{player} plays {preset}"));
    if let PlayerSpec::Model(spec) = &player
        && let Some(text) = foreign(&models.checkpoint(&spec.path)?.card.rulesets, preset)
    {
        progress::warn(&text);
    }
    let rules = Rules { ply_cap: player.longest_game().unwrap_or_default(), ..preset.rules() };
    let mut opponent = || anyhow::Ok(Seat::Player(player.build(&mut models)?));
    let seats = match args.side {
        cli::Seat::Attackers => [Seat::Person, opponent()?],
        cli::Seat::Defenders => [opponent()?, Seat::Person],
        cli::Seat::Both => [Seat::Person, Seat::Person],
        cli::Seat::Watch => [opponent()?, opponent()?],
    };
    debug_assert_eq!(Side::Attackers.index(), 0);
    let table = Table {
        rules,
        start: args.fen.clone(),
        seats,
        adviser: Some(player.build(&mut models)?),
        seed: args.seed.unwrap_or_else(super::clock_seed),
        folder: std::env::current_dir()?,
        pace: Duration::from_millis(700),
    };
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if args.plain || !interactive {
        hnefi_play::plain::run(table, std::io::stdin().lock(), std::io::stdout().lock())?;
    } else {
        hnefi_play::terminal::run(table, hnefi_play::terminal::Theme::from_environment())?;
    }
    Ok(())
}

/// The requested rules, else the rules of the opponent's checkpoint, else Brandubh.
fn rules(args: &PlayArgs, models: &mut ModelCache) -> anyhow::Result<Preset> {
    if let Some(preset) = args.rules {
        return Ok(preset);
    }
    let trained_on = match &args.opponent {
        Some(PlayerSpec::Model(spec)) => {
            models.checkpoint(&spec.path)?.card.rulesets.first().and_then(|name| Preset::from_name(name))
        }
        _ => None,
    };
    Ok(trained_on.unwrap_or(Preset::Brandubh))
}

/// The default opponent under these rules.
fn usual(rules: Preset) -> anyhow::Result<PlayerSpec> {
    match shipped_network(rules) {
        Ok(name) => Ok(PlayerSpec::Model(ModelSpec::new(name, Limit::Playouts(PLAYOUTS)))),
        Err(problem) => {
            progress::warn(&format!("{problem}; {WITHOUT_NETWORK} plays instead"));
            Ok(WITHOUT_NETWORK.parse()?)
        }
    }
}
