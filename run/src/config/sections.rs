//! All sections of a configuration with their keys. The defaults are the configuration `quick`: Brandubh from random
//! weights to a solid player in eight minutes on two cores.

use hnefi_engine::{BoardSize, Preset};
use hnefi_inference::{DeviceChoice, DeviceList, NetworkConfig, PrecisionChoice, TrainPrecisionChoice};
use serde::{Deserialize, Serialize};

use super::keys::{Kind, Section, section};

/// All sections in the order of the reference. An inner section follows its outer one.
pub const SECTIONS: [&Section; 10] = [
    &RunSection::SECTION,
    &NETWORK,
    &SelfPlayConfig::SECTION,
    &PlyCaps::SECTION,
    &ResignConfig::SECTION,
    &SearchSection::SECTION,
    &TrainSection::SECTION,
    &BudgetSection::SECTION,
    &LadderSection::SECTION,
    &EvaluateSection::SECTION,
];

/// Games in a game batch of self-play, which advance in lock step and are evaluated together.
pub const BATCH_GAMES: usize = 32;

section! {
    /// The run as a whole.
    RunSection "run" {
        /// Names all randomness of the run: the same seed gives the same games as long as the budget counts
        /// generations.
        seed: u64 = 1, Kind::Whole(0, i64::MAX), "names all randomness";
        /// Threads of self-play. Games do not depend on it.
        threads: usize = 0, Kind::Whole(0, 1024), "threads, 0 is one per core, or on a GPU one per 32 games";
        /// Where self-play evaluates; "cpu" is this program's own kernels.
        device: DeviceList = DeviceChoice::Cpu.into(), Kind::Device, "devices";
        /// What self-play computes the residual tower in, on the device "cpu". The lower two are made for CPUs with
        /// AVX-512 BF16 and AVX-512 VNNI and cost no strength that matches showed; on other CPUs they are slower than
        /// f32. "auto" is what a short trial finds fastest, f32 where there are no such instructions; a run that is to
        /// repeat itself names one.
        precision: PrecisionChoice = PrecisionChoice::Auto, Kind::OneOf(&PrecisionChoice::NAMES), "precision";
        /// Where the network is trained.
        train_device: DeviceList = DeviceChoice::Flex.into(), Kind::Device, "devices";
        /// How often games in flight are saved: what kill -9 loses at most.
        save_seconds: u32 = 20, Kind::Whole(1, 86_400), "seconds";
    }
}

section! {
    /// Shape of the network.
    for NetworkConfig "network", NETWORK, default_network {
        /// Residual blocks of the tower.
        blocks = 4, Kind::Whole(1, 100), "residual blocks";
        /// Channels of the tower; 32, 64, 96 and 128 have the fast kernels.
        channels = 32, Kind::Whole(8, 1024), "channels";
        /// Every so many blocks one sees the whole board by global pooling.
        pool_every = 3, Kind::Whole(0, 100), "blocks, 0 is never";
        /// Channels of the policy and value heads.
        head_channels = 32, Kind::Whole(1, 1024), "channels";
        /// Hidden units of the value head.
        value_hidden = 64, Kind::Whole(1, 4096), "units";
        /// Heads of their own for attackers and defenders, who play different games.
        role_heads = true, Kind::Switch, "switch";
    }
}

section! {
    /// How games are played.
    SelfPlayConfig "selfplay" {
        /// Games played at once, in batches of 32 that threads take whole.
        games_in_flight: usize = 128, Kind::Multiple(BATCH_GAMES as i64, 65_536, BATCH_GAMES as i64), "games";
        /// Rulesets and their shares. A stage may change them; a game keeps its ruleset to its end.
        rulesets: Vec<RulesetShare> = vec![RulesetShare { rules: Preset::Brandubh, share: 1.0 }], Kind::Rulesets,
            "shares of the games";
        /// Mean length of the random opening by the raw policy, exponentially distributed.
        opening_mean_plies: f32 = 4.0, Kind::Real(0.0, 40.0), "plies, 0 is off";
        /// Temperature of the raw policy in the opening; above 1 is wilder.
        opening_temperature: f32 = 1.0, Kind::Real(0.1, 10.0), "temperature";
        /// The side that mostly loses thinks longer and the other one shorter, up to so many doublings of one's
        /// playouts over the other's, so that games come out even and both sides have something to learn; adapted
        /// generation by generation.
        balance_doublings: f32 = 2.0, Kind::Real(0.0, 8.0), "doublings, 0 is off";
        /// The side that mostly wins plays up to this share of its moves at random, adapted in the same way.
        blunder_share: f32 = 0.8, Kind::Real(0.0, 0.9), "share of the moves, 0 is off";
        within {
            /// Plies after which a game is a draw of its own kind.
            ply_caps: PlyCaps;
            /// When a hopeless game is given up.
            resign: ResignConfig;
        }
    }
}

section! {
    /// Plies after which a game of self-play is a draw of its own kind.
    [Copy, Eq] PlyCaps "selfplay.ply_caps" {
        /// On 7x7.
        seven: u16 = 150, Kind::Whole(10, 10_000), "plies";
        /// On 9x9.
        nine: u16 = 200, Kind::Whole(10, 10_000), "plies";
        /// On 11x11.
        eleven: u16 = 400, Kind::Whole(10, 10_000), "plies";
    }
}

section! {
    /// When a hopeless game is given up. The rule is verified against played-out games whether it is enabled or not.
    [Copy] ResignConfig "selfplay.resign" {
        /// Whether hopeless games are given up.
        enabled: bool = false, Kind::Switch, "switch";
        /// A side is hopeless while its searched score (1 a win, 0.5 a draw) is below this.
        threshold: f32 = 0.05, Kind::Real(0.0, 0.5), "expected score";
        /// It resigns after so many hopeless turns of its own in a row.
        plies: u32 = 3, Kind::Whole(1, 100), "turns of one side";
        /// Share of the games that are played on all the same, to verify the rule. Without any the rule could never be
        /// found wrong again.
        verify_share: f32 = 0.1, Kind::Real(0.01, 1.0), "share of the games";
        /// Games in which a side would have resigned that are needed before it may.
        min_verified: u32 = 200, Kind::Whole(1, 100_000), "games";
        /// It may while less than this share of the latest of them was not lost in the end.
        max_wrong: f32 = 0.05, Kind::Real(0.0, 0.5), "share of the verified games";
    }
}

section! {
    /// How self-play searches a move: from a Gumbel root (Danihelka et al. 2022). What a player's search has beside
    /// these, such as `c_puct`, is set with the player.
    [Copy] SearchSection "search" {
        /// The most root moves considered; n playouts consider at most n/2.
        considered: u32 = 16, Kind::Whole(1, 480), "moves";
        /// A score q weighs (c_visit + most visits of a move) * c_scale * q logits.
        c_visit: f32 = 50.0, Kind::Real(0.0, 1000.0), "visits";
        /// See c_visit. (Players have 1, where it hardly matters.)
        c_scale: f32 = 3.0, Kind::Real(0.0, 10.0), "factor";
    }
}

section! {
    /// How the network learns from the games.
    TrainSection "train" {
        /// Training plies of finished games that make a generation.
        plies_per_generation: u64 = 4096, Kind::Whole(1, 100_000_000), "training plies";
        /// Samples per step.
        batch: usize = 256, Kind::Whole(2, 65_536), "samples";
        /// Parts a batch is split into, one thread each, each normalised by itself; part of the result, unlike the
        /// threads of self-play.
        shards: usize = 2, Kind::Whole(1, 64), "parts of a batch";
        /// What the convolutions of the tower are computed in, on the device "flex"; weights, gradients and all else
        /// are in single precision. "bf16" is made for CPUs with AVX-512 BF16, and "auto" takes it there; elsewhere
        /// "f32" is faster.
        precision: TrainPrecisionChoice = TrainPrecisionChoice::Auto, Kind::OneOf(&TrainPrecisionChoice::NAMES),
            "precision";
        /// How often a ply is trained on, on average. On a CPU this balances training against self-play.
        reuse: f64 = 2.5, Kind::Real(0.01, 100.0), "times";
        /// Highest learning rate of AdamW.
        rate: f64 = 0.002, Kind::Real(1e-7, 1.0), "learning rate";
        /// Learning rate at the end of the run or stage; it falls along half a cosine.
        rate_end: f64 = 0.0001, Kind::Real(0.0, 1.0), "learning rate";
        /// Steps over which the rate first rises.
        warmup_steps: u64 = 50, Kind::Whole(0, 1_000_000), "steps";
        /// AdamW's decay; biases and normalisation do not decay.
        weight_decay: f32 = 0.0001, Kind::Real(0.0, 1.0), "share of a weight per step and learning rate";
        /// Steps over which the weights that play are averaged.
        average_steps: u32 = 100, Kind::Whole(1, 1_000_000), "steps";
        /// Up to so many plies everything is kept in the replay window; from there it grows more slowly than what is
        /// played.
        window_base: u64 = 20_000, Kind::Whole(1, 1_000_000_000), "training plies";
        /// Generations the window never falls under.
        window_generations: usize = 4, Kind::Whole(1, 1_000_000), "generations";
        /// Share of the searched value in the value target; the rest is the result of the game.
        value_search_mix: f32 = 0.0, Kind::Real(0.0, 1.0), "share of the target";
        /// A result this many plies ahead counts 1/e in the value target (the rest is a draw), so that a long defence
        /// is worth more than a short one while one side wins nearly all games; fades out evenly until the end of the
        /// run or stage.
        value_horizon: f32 = 25.0, Kind::Real(0.0, 1e6), "plies, 0 is no fading";
        /// Weight of the loss of win, draw and loss; the policy's is 1.
        value_weight: f32 = 1.0, Kind::Real(0.0, 100.0), "weight";
        /// Weight of the loss of moves left.
        moves_left_weight: f32 = 0.1, Kind::Real(0.0, 100.0), "weight";
        /// Weight of the loss of the final occupancy.
        occupancy_weight: f32 = 0.15, Kind::Real(0.0, 100.0), "weight";
    }
}

section! {
    /// How long the run goes on; at least one of minutes and generations must be above 0.
    BudgetSection "budget" {
        /// Time of self-play and training, kept across resumes.
        minutes: f64 = 8.0, Kind::Real(0.0, 1e7), "minutes, 0 is no limit";
        /// Whose minutes: those that pass, or those that processors work for this program, summed over its threads, so
        /// that runs compare on a machine that does other things too. GPUs and other machines that help are not in
        /// them.
        clock: BudgetClock = BudgetClock::Wall, Kind::OneOf(&BudgetClock::NAMES), "clock";
        /// Generations.
        generations: u32 = 0, Kind::Whole(0, 999_999), "generations, 0 is no limit";
        /// Playouts a move, part by part, each an equal part of the budget or stage.
        playouts: Vec<u32> = vec![16, 20, 24], Kind::Wholes(2, 100_000), "playouts a move";
    }
}

section! {
    /// Strength over the run: now and then the newest checkpoint meets some before it and fixed opponents. Changes
    /// nothing else, and its time is not charged to the budget.
    LadderSection "ladder" {
        /// How often.
        every: u32 = 15, Kind::Whole(0, 999_999), "generations, 0 is never";
        /// Fixed opponents.
        opponents: Vec<String> = texts(&["alphabeta:1", "alphabeta:2"]), Kind::Players,
            "players as on the command line";
        /// How many of those that climbed before it each newcomer meets.
        previous: usize = 2, Kind::Whole(0, 1_000), "checkpoints";
        /// Games of a match, half as each side.
        games: u32 = 24, Kind::Multiple(2, 100_000, 2), "games a match";
        /// Playouts a move of the networks.
        playouts: u32 = 32, Kind::Whole(2, 1_000_000), "playouts a move";
    }
}

section! {
    /// The table at the end of the run.
    EvaluateSection "evaluate" {
        /// Whom the finished network meets.
        opponents: Vec<String> = texts(&["random", "alphabeta:2"]), Kind::Players, "players as on the command line";
        /// Games as each side against each of them.
        games: u32 = 100, Kind::Whole(0, 100_000), "games a side, 0 is no table";
        /// Playouts a move of the network.
        playouts: u32 = 64, Kind::Whole(2, 1_000_000), "playouts a move";
        /// After so long no further match is begun.
        seconds: u32 = 90, Kind::Whole(0, 1_000_000), "seconds, 0 is no limit";
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// The clock of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BudgetClock {
    /// Elapsed time.
    Wall,
    /// Processor time of this program, summed over its threads.
    Processor,
}

impl BudgetClock {
    /// The names in a configuration.
    pub const NAMES: [&str; 2] = ["wall", "processor"];
}

/// A ruleset with its share of the games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesetShare {
    /// The ruleset.
    pub rules: Preset,
    /// Its weight among the rulesets; shares need not sum to 1.
    pub share: f32,
}

impl PlyCaps {
    /// The ply cap of a board size.
    pub fn of(&self, size: BoardSize) -> u16 {
        match size {
            BoardSize::Seven => self.seven,
            BoardSize::Nine => self.nine,
            BoardSize::Eleven => self.eleven,
        }
    }
}

impl SelfPlayConfig {
    /// Number of game batches.
    pub fn game_batches(&self) -> usize {
        self.games_in_flight / BATCH_GAMES
    }

    /// Default number of self-play threads: one per core, or with a GPU one per game batch, because those threads
    /// mostly wait for the GPU, which evaluates for half of the batches while the other half searches.
    pub fn threads_on(&self, devices: &DeviceList) -> usize {
        if devices.has_gpu() {
            self.game_batches().max(1)
        } else {
            std::thread::available_parallelism().map_or(1, usize::from)
        }
    }

    /// The rulesets with a share above 0, without duplicates.
    pub fn rulesets_played(&self) -> Vec<Preset> {
        let mut presets = Vec::new();
        for ruleset in self.rulesets.iter().filter(|ruleset| ruleset.share > 0.0) {
            if !presets.contains(&ruleset.rules) {
                presets.push(ruleset.rules);
            }
        }
        presets
    }

    /// The same configuration without handicaps, which only training uses.
    #[must_use]
    pub fn without_handicaps(&self) -> SelfPlayConfig {
        SelfPlayConfig { balance_doublings: 0.0, blunder_share: 0.0, ..self.clone() }
    }
}
