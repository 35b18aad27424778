//! All sections of a configuration with their keys. The defaults are the configuration `quick`: Brandubh from random
//! weights to a solid player in eight minutes on two cores.

use hnefi_engine::{BoardSize, NamedRules, Preset, Rules};
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

pub(super) const STAGES: &str = "stages";

/// Games in a game batch of self-play, which advance in lock step and are evaluated together.
pub const BATCH_GAMES: usize = 32;

section! {
    /// The run as a whole.
    RunSection "run" OnResume {
        /// Seed of all randomness: with a budget in generations, the same seed gives the same games.
        seed: u64 = 1, Kind::Whole(0, i64::MAX), "seed", Never;
        /// Threads of self-play. Games do not depend on them.
        threads: usize = 0, Kind::Whole(0, 1024), "threads, 0 is one per core, or on a GPU one per 32 games";
        /// Devices that evaluate for self-play: "cpu", or NVIDIA cards, counted from 0; "auto" tries what is faster
        /// when the run begins or resumes.
        device: DeviceList = DeviceChoice::Cpu.into(), Kind::Device, "devices";
        /// Precision of the residual tower in self-play, on the device "cpu". "int8" is made for CPUs with AVX-VNNI or
        /// AVX-512 VNNI; on others it is slower than "f32". In matches at equal playouts it lost at most 16 Elo
        /// (docs/PERFORMANCE.md). "auto" takes the fastest in a short trial, or "f32" without these instructions; a
        /// repeatable run must name one.
        precision: PrecisionChoice = PrecisionChoice::Auto, Kind::OneOf(&PrecisionChoice::NAMES), "precision";
        /// Devices that make the gradients: "cpu", or NVIDIA cards, which share the parts of a batch; or "auto".
        train_device: DeviceList = DeviceChoice::Cpu.into(), Kind::Device, "devices";
        /// Whether games are played all the time, beside training; results then depend on timing.
        overlap: bool = false, Kind::Switch, "switch";
        /// Time between two saves of the games in flight, and the most that kill -9 loses.
        save_seconds: u32 = 20, Kind::Whole(1, 86_400), "seconds";
    }
}

section! {
    /// Shape of the network.
    for NetworkConfig "network" InStages, NETWORK, default_network {
        /// Residual blocks of the tower.
        blocks = 4, Kind::Whole(1, 100), "residual blocks";
        /// Channels of the tower; multiples of 16 have the fast kernels in training.
        channels = 32, Kind::Whole(8, 1024), "channels";
        /// Interval between blocks with global pooling, which see the whole board.
        pool_every = 3, Kind::Whole(0, 100), "blocks, 0 is never";
        /// Channels of the policy and value heads.
        head_channels = 32, Kind::Whole(1, 1024), "channels";
        /// Hidden units of the value head.
        value_hidden = 64, Kind::Whole(1, 4096), "units";
    }
}

section! {
    /// How games are played.
    SelfPlayConfig "selfplay" InStages {
        /// Games played concurrently, in game batches of 32. A thread takes a whole batch.
        games_in_flight: usize = 128, Kind::Multiple(BATCH_GAMES as i64, 65_536, BATCH_GAMES as i64), "games", Never;
        /// Rulesets and their shares. A stage may change them; a game in flight keeps its ruleset.
        rulesets: Vec<RulesetShare> = vec![RulesetShare { rules: Preset::Brandubh.into(), share: 1.0 }], Kind::Rulesets,
            "shares of the games";
        /// Mean number of opening plies drawn from the raw policy; the number is exponentially distributed.
        opening_mean_plies: f32 = 4.0, Kind::Real(0.0, 40.0), "plies, 0 is off";
        /// Temperature of the raw policy in the opening.
        opening_temperature: f32 = 1.0, Kind::Real(0.1, 10.0), "temperature";
        /// Handicap: the side that mostly loses gets up to this many doublings of playouts over the other side, so that
        /// results are balanced and both sides learn. Adapted every generation.
        balance_doublings: f32 = 2.0, Kind::Real(0.0, 8.0), "doublings, 0 is off";
        /// Handicap: the side that mostly wins plays up to this share of its moves at random. Adapted every generation.
        blunder_share: f32 = 0.8, Kind::Real(0.0, 0.9), "share of the moves, 0 is off";
        /// Share of the games that are played without a handicap, so that the network knows games between equals.
        equal_share: f32 = 0.2, Kind::Real(0.0, 1.0), "share of the games";
        within {
            /// Plies after which a game is a draw.
            ply_caps: PlyCaps;
            /// Resignation of hopeless games.
            resign: ResignConfig;
        }
    }
}

section! {
    /// Plies after which a game of self-play is a draw.
    [Copy, Eq] PlyCaps "selfplay.ply_caps" InStages {
        /// On 7x7 and smaller boards.
        seven: u16 = 150, Kind::Whole(10, 10_000), "plies";
        /// On 8x8 to 10x10.
        nine: u16 = 200, Kind::Whole(10, 10_000), "plies";
        /// On 11x11; on larger boards more, in proportion to their squares.
        eleven: u16 = 400, Kind::Whole(10, 10_000), "plies";
    }
}

section! {
    /// Resignation of hopeless games. The rule is verified on each board by games played to the end, even if it is
    /// disabled.
    [Copy] ResignConfig "selfplay.resign" InStages {
        /// Whether hopeless games are resigned.
        enabled: bool = false, Kind::Switch, "switch";
        /// A position is hopeless if the side to move has a lower searched score (1 a win, 0.5 a draw).
        threshold: f32 = 0.05, Kind::Real(0.0, 0.5), "expected score";
        /// A side resigns after this many consecutive hopeless turns.
        plies: u32 = 3, Kind::Whole(1, 100), "turns of one side";
        /// Share of the games that are played to the end to verify the rule.
        verify_share: f32 = 0.1, Kind::Real(0.01, 1.0), "share of the games";
        /// A side may resign on a board only after this many verified games there in which it would have resigned.
        min_verified: u32 = 200, Kind::Whole(1, 100_000), "games";
        /// A side may resign on a board only while the share of its latest verified games there that it did not lose
        /// is below this.
        max_wrong: f32 = 0.05, Kind::Real(0.0, 0.5), "share of the verified games";
    }
}

section! {
    /// The search of self-play, with a Gumbel root (Danihelka et al. 2022). Further keys of players' searches, such as
    /// `c_puct`, are set with the player (docs/PLAYING.md).
    [Copy] SearchSection "search" InStages {
        /// The most root moves considered. A search of n playouts considers at most n/2.
        max_num_considered_actions: u32 = 16, Kind::Whole(1, 480), "moves";
        /// A score q adds (c_visit + most visits of a move) * c_scale * q to a move's logit.
        c_visit: f32 = 50.0, Kind::Real(0.0, 1000.0), "visits";
        /// See c_visit. 3 teaches a new network faster, 1 a trained one better; players have 1.
        c_scale: f32 = 3.0, Kind::Real(0.0, 10.0), "factor";
    }
}

section! {
    /// Training of the network.
    TrainSection "train" InStages {
        /// Training plies per generation.
        plies_per_generation: u64 = 4096, Kind::Whole(1, 10_000_000), "training plies";
        /// Samples per step.
        batch: usize = 256, Kind::Whole(2, 65_536), "samples";
        /// Parts of a batch, which are trained on side by side and normalised separately; they share out the cores, a
        /// core for at least 64 samples. Unlike threads, they change the result.
        shards: usize = 2, Kind::Whole(1, 64), "parts of a batch";
        /// Precision of the tower's convolutions in training, on the device "cpu"; weights, gradients and everything
        /// else are in single precision. "bf16" is made for AMD's CPUs with AVX-512 BF16, where "auto" takes it; on
        /// others "f32" is faster.
        precision: TrainPrecisionChoice = TrainPrecisionChoice::Auto, Kind::OneOf(&TrainPrecisionChoice::NAMES),
            "precision";
        /// Mean number of times that a ply is trained on. On a CPU this balances training against self-play.
        reuse: f64 = 2.5, Kind::Real(0.01, 100.0), "times";
        /// Highest learning rate.
        rate: f64 = 0.002, Kind::Real(1e-7, 1.0), "learning rate";
        /// Learning rate at the end of the run or stage; it falls along half a cosine.
        rate_end: f64 = 0.0001, Kind::Real(0.0, 1.0), "learning rate";
        /// Warm-up steps, over which the rate rises.
        warmup_steps: u64 = 50, Kind::Whole(0, 1_000_000), "steps";
        /// Weight decay, without biases and normalisation.
        weight_decay: f32 = 0.0001, Kind::Real(0.0, 1.0), "share of a weight per step and learning rate";
        /// Steps over which weights are averaged. The averaged weights play.
        average_steps: u32 = 100, Kind::Whole(1, 1_000_000), "steps";
        /// The replay window holds all plies up to this number, and then grows more slowly than the number of plies
        /// played.
        window_base: u64 = 20_000, Kind::Whole(1, 1_000_000_000), "training plies";
        /// Smallest number of generations in the window.
        window_generations: usize = 4, Kind::Whole(1, 1_000_000), "generations";
        /// TD(lambda): a ply's value target is this share of the next ply's target, which in the end is the game's
        /// result, and for the rest its own searched value. 1 is the result alone; with 0.95 the searched values of
        /// the next 20 plies weigh most.
        value_lambda: f32 = 1.0, Kind::Real(0.0, 1.0), "share of the next target";
        /// What lies this many plies ahead has weight 1/e in the value target (a draw has the rest), so that a long
        /// defence is worth more than a short one while one side wins nearly all games. The effect shrinks linearly to
        /// none at the end of the run or stage.
        value_horizon: f32 = 25.0, Kind::Real(0.0, 1e6), "plies, 0 is off";
        /// Weight of the value loss; the policy loss has weight 1.
        value_weight: f32 = 1.0, Kind::Real(0.0, 100.0), "weight";
        /// Weight of the moves-left loss.
        moves_left_weight: f32 = 0.1, Kind::Real(0.0, 100.0), "weight";
        /// Weight of the occupancy loss.
        occupancy_weight: f32 = 0.15, Kind::Real(0.0, 100.0), "weight";
    }
}

section! {
    /// Length of the run; minutes or generations must be above 0.
    BudgetSection "budget" OnResume {
        /// Time of self-play and training, summed over resumed processes.
        minutes: f64 = 8.0, Kind::Real(0.0, 1e7), "minutes, 0 is no limit";
        /// Clock of the minutes: "wall" is elapsed time, "processor" is CPU time of this process over all its threads,
        /// for comparable runs on a machine with other load. Processor time does not include GPUs and other machines.
        clock: BudgetClock = BudgetClock::Wall, Kind::OneOf(&BudgetClock::NAMES), "clock";
        /// Generations.
        generations: u32 = 0, Kind::Whole(0, 999_999), "generations, 0 is no limit";
        /// Playouts per move; the numbers apply to equal parts of the budget or stage.
        playouts: Vec<u32> = vec![16, 20, 24], Kind::Wholes(2, 100_000), "playouts a move", InStages;
    }
}

section! {
    /// Strength over the run: at intervals the newest checkpoint plays earlier checkpoints and fixed opponents. The
    /// matches do not affect training, and their time is not charged to the budget.
    LadderSection "ladder" OnResume {
        /// Generations between two matches.
        every: u32 = 15, Kind::Whole(0, 999_999), "generations, 0 is never";
        /// Fixed opponents.
        opponents: Vec<String> = texts(&["alphabeta:1", "alphabeta:2"]), Kind::Players,
            "players as on the command line";
        /// Number of earlier checkpoints on the ladder that a new one plays.
        previous: usize = 2, Kind::Whole(0, 1_000), "checkpoints";
        /// Games per match, half as each side.
        games: u32 = 24, Kind::Multiple(2, 100_000, 2), "games a match";
        /// Playouts per move of the networks.
        playouts: u32 = 32, Kind::Whole(2, 1_000_000), "playouts a move";
    }
}

section! {
    /// The closing table of a run.
    EvaluateSection "evaluate" OnResume {
        /// Opponents of the finished network.
        opponents: Vec<String> = texts(&["random", "alphabeta:2"]), Kind::Players, "players as on the command line";
        /// Games per side against each opponent.
        games: u32 = 100, Kind::Whole(0, 100_000), "games a side, 0 is no table";
        /// Playouts per move of the network.
        playouts: u32 = 64, Kind::Whole(2, 1_000_000), "playouts a move";
        /// Time after which the table ends with the games played so far.
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
    /// The ruleset: a name, a rules record or a file of rules.
    #[serde(deserialize_with = "crate::rules_file::deserialize")]
    pub rules: NamedRules,
    /// Its weight among the rulesets; shares need not sum to 1.
    pub share: f32,
}

impl PlyCaps {
    /// The ply cap of a board size.
    pub fn of(&self, size: BoardSize) -> u16 {
        if size <= BoardSize::SEVEN {
            self.seven
        } else if size < BoardSize::ELEVEN {
            self.nine
        } else {
            let plies = usize::from(self.eleven) * size.squares() / BoardSize::ELEVEN.squares();
            u16::try_from(plies).unwrap_or(u16::MAX)
        }
    }

    /// The ply cap of the rules themselves or, if they have none, of their board.
    pub fn or_own(&self, rules: &Rules) -> u16 {
        if rules.ply_cap > 0 { rules.ply_cap } else { self.of(rules.size()) }
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

    /// What to tell somebody whose self-play leaves some of these threads idle, because a thread takes a whole game
    /// batch.
    pub fn idle_threads(&self, threads: usize) -> Option<String> {
        let (busy, games) = (self.game_batches(), threads * BATCH_GAMES);
        (busy < threads).then(|| {
            format!(
                "self-play keeps {busy} of {threads} threads busy; with selfplay.games_in_flight={games}, which plays \
                 other games, it would keep all of them busy"
            )
        })
    }

    /// The rulesets with a share above 0, without duplicates.
    pub fn rulesets_played(&self) -> Vec<NamedRules> {
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
