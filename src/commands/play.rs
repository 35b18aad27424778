//! `hnefi play`: a board in the terminal or in a browser.

use std::io::IsTerminal;
use std::time::Duration;

use hnefi_arena::players::{Limit, ModelCache, ModelSpec, PlayerSpec};
use hnefi_engine::{NamedRules, Preset, Rules, Side};
use hnefi_inference::{WITHOUT_NETWORK, pretrained_for};
use hnefi_play::PlaySetup;
use hnefi_record::Seat;
use indicatif::ProgressBar;

use crate::cli::{self, PlayArgs};
use crate::hardware::Hardware;
#[cfg(feature = "terminal")]
use crate::interrupt;
use crate::progress;

#[cfg(not(feature = "terminal"))]
use super::WITHOUT_TERMINAL;

/// Playouts per move of the default opponent.
const PLAYOUTS: u32 = 200;

/// Plays until the person leaves.
pub fn run(args: PlayArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let mut models = args.device.models(hardware);
    let preset = rules(&args, &mut models)?;
    anyhow::ensure!(!(args.web && args.plain), "--web and --plain: expected one of them");
    args.opponent.iter().flat_map(PlayerSpec::warnings).for_each(|text| progress::warn(&text));
    // Refuse a bad FEN before the screen changes or a page is served.
    cli::position(&preset.rules(), args.fen.as_deref())?;
    if args.web {
        #[cfg(feature = "web")]
        return super::web::play(&args, preset, hardware);
        #[cfg(not(feature = "web"))]
        return super::without_web();
    }
    let player = match &args.opponent {
        Some(player) => player.clone(),
        None => usual(preset)?,
    };
    let does = if args.side == cli::Seat::Both { "gives hints for" } else { "plays" };
    progress::note(&ProgressBar::hidden(), &format!("{player} {does} {preset}"));
    if let PlayerSpec::Model(spec) = &player
        && let Some(text) = models.checkpoint(&spec.path)?.card.foreign_to(preset)
    {
        progress::warn(&text);
    }
    let rules = Rules { ply_cap: 0, ..preset.rules() };
    let mut opponent = || anyhow::Ok(Seat::Player(player.build(&mut models)?));
    let seats = match args.side {
        cli::Seat::Attackers => [Seat::Person, opponent()?],
        cli::Seat::Defenders => [opponent()?, Seat::Person],
        cli::Seat::Both => [Seat::Person, Seat::Person],
        cli::Seat::Watch => [opponent()?, opponent()?],
    };
    debug_assert_eq!(Side::Attackers.index(), 0);
    let table = PlaySetup {
        rules,
        start: args.fen.clone(),
        seats,
        adviser: Some(player.build(&mut models)?),
        seed: args.seed.unwrap_or_else(super::clock_seed),
        folder: std::env::current_dir()?,
        pace: Duration::from_millis(700),
    };
    let interactive = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    #[cfg(feature = "terminal")]
    if interactive && !args.plain {
        // Nothing of what was told may come into the drawing.
        progress::finish();
        interrupt::end_after(hnefi_terminal::give_back)?;
        return Ok(hnefi_terminal::run(table, hnefi_terminal::Theme::from_environment())?);
    }
    #[cfg(not(feature = "terminal"))]
    if interactive && !args.plain {
        progress::warn(WITHOUT_TERMINAL);
    }
    Ok(hnefi_play::plain::run(table, std::io::stdin().lock(), std::io::stdout().lock())?)
}

/// The requested rules, else the rules of the opponent's checkpoint, else Brandubh.
fn rules(args: &PlayArgs, models: &mut ModelCache) -> anyhow::Result<NamedRules> {
    if let Some(preset) = args.rules {
        return Ok(preset);
    }
    let trained_on = match &args.opponent {
        Some(PlayerSpec::Model(spec)) => {
            models.checkpoint(&spec.path)?.card.rulesets.first().and_then(|name| name.parse::<NamedRules>().ok())
        }
        _ => None,
    };
    Ok(trained_on.unwrap_or(Preset::Brandubh.into()))
}

/// The default opponent under these rules.
fn usual(rules: NamedRules) -> anyhow::Result<PlayerSpec> {
    match pretrained_for(rules) {
        Ok(name) => Ok(PlayerSpec::Model(ModelSpec::new(name, Limit::Playouts(PLAYOUTS)))),
        Err(problem) => {
            progress::warn(&format!("{problem}; {WITHOUT_NETWORK} plays instead"));
            Ok(WITHOUT_NETWORK.parse()?)
        }
    }
}
