//! Examples at the end of each command's help. A test parses every one of them.

#[cfg(feature = "train")]
pub const TRAIN: &str = "\
Examples:
  hnefi train                                  # Brandubh, 8 minutes on 2 cores
  hnefi train --config brandubh --run runs/mine --seed 7
  hnefi train --config copenhagen --from brandubh --set budget.minutes=30
  hnefi train --config copenhagen --store s3://BUCKET/runs/first --no-selfplay";

#[cfg(feature = "train")]
pub const WORKER: &str = "\
Examples:
  hnefi worker s3://BUCKET/runs/first
  hnefi worker runs/quick --threads 4 --wait   # also before its trainer begins";

pub const FETCH: &str = "\
Examples:
  hnefi fetch s3://BUCKET/runs/first --run runs/first
  hnefi fetch s3://BUCKET/runs/first --run runs/first --follow";

pub const SELFPLAY: &str = "\
Examples:
  hnefi selfplay --model brandubh --games 1000 --out runs/games
  hnefi selfplay --config copenhagen --model copenhagen --games 100 --out games";

pub const PLAY: &str = "\
Examples:
  hnefi play                                   # the shipped Brandubh network
  hnefi play --side attackers model:runs/quick,playouts=400
  hnefi play --rules copenhagen alphabeta:3
  hnefi play --web --listen 8038 --run runs/quick";

pub const UCI: &str = "\
Examples:
  hnefi uci
  hnefi uci --model runs/quick --threads 2";

pub const WATCH: &str = "\
Examples:
  hnefi watch runs/quick
  hnefi watch runs/quick --web
  hnefi watch runs/one runs/two runs/three --web";

pub const METRICS: &str = "\
Examples:
  hnefi metrics runs/quick
  hnefi metrics runs/one runs/two --csv > metrics.csv
  hnefi metrics runs/one runs/two --csv --out metrics.csv";

pub const MATCH: &str = "\
Examples:
  hnefi match model:runs/quick alphabeta:2 --games 200
  hnefi match model:copenhagen,time=0.1 alphabeta:3 --rules copenhagen
  hnefi match model:a,playouts=64 model:b,playouts=64 --sprt 0,20 --games 4000
  hnefi match model:runs/quick 'uci:./engine --fast,nodes=64' --save g.hgames";

pub const TUNE: &str = "\
Examples:
  hnefi tune model:copenhagen,time=0.1 --set search.c_puct=0.3..3
  hnefi tune model:brandubh --set search.c_scale=0.3..3 --games 20000";

#[cfg(feature = "train")]
pub const LADDER: &str = "\
Examples:
  hnefi ladder runs/quick
  hnefi ladder runs/quick --opponent alphabeta:3 --games 200 --playouts 128
  hnefi ladder runs/quick --show --json";

#[cfg(feature = "train")]
pub const CHECK: &str = "\
Examples:
  hnefi check runs/quick";

pub const EXPORT: &str = "\
Examples:
  hnefi export runs/quick --format jsonl > games.jsonl
  hnefi export runs/quick --format parquet --split train=0.9,test=0.1
  hnefi export games.hgames --format npz --rules brandubh --out arrays";

pub const IMPORT: &str = "\
Examples:
  hnefi import games.csv --rules brandubh --out games.hgames
  hnefi import a.pgn b.otg --rules copenhagen --out games.hgames --strict";

#[cfg(feature = "train")]
pub const IMITATE: &str = "\
Examples:
  hnefi imitate games.hgames --out people
  hnefi imitate games.hgames --config copenhagen --epochs 5 --out people";

pub const RELABEL: &str = "\
Examples:
  hnefi relabel runs/quick --playouts 200 --out better.hgames
  hnefi relabel games.hgames --model copenhagen --out better.hgames";

pub const JUDGE: &str = "\
Examples:
  hnefi judge brandubh games.hgames
  hnefi judge runs/quick games.hgames --playouts 64 --json";

pub const PUZZLES: &str = "\
Examples:
  hnefi puzzles solve model:brandubh,playouts=64 alphabeta:2 --rules brandubh
  hnefi puzzles find runs/quick --out puzzles.jsonl";

pub const PUZZLES_SOLVE: &str = "\
Examples:
  hnefi puzzles solve model:brandubh,playouts=64 alphabeta:2 --rules brandubh
  hnefi puzzles solve model:copenhagen,time=0.1 --every 10 --json";

pub const PUZZLES_FIND: &str = "\
Examples:
  hnefi puzzles find runs/quick --out puzzles.jsonl
  hnefi puzzles find games.hgames --longest 7 --answers 2 --out hard.jsonl";

pub const PUZZLES_CHECK: &str = "\
Examples:
  hnefi puzzles check                          # the shipped puzzles
  hnefi puzzles check puzzles.jsonl";

pub const EXPORT_NET: &str = "\
Examples:
  hnefi export-net brandubh --onnx brandubh.onnx
  hnefi export-net runs/quick --onnx net.onnx --reference net.npz";

pub const REPLAY: &str = "\
Examples:
  hnefi replay < games.jsonl";

pub const ANALYSE: &str = "\
Examples:
  hnefi analyse brandubh < questions.jsonl
  hnefi analyse runs/quick --playouts 1600 < questions.jsonl > answers.jsonl";

pub const REVIEW: &str = "\
Examples:
  hnefi review game.pgn
  hnefi review games.hgames --model runs/quick --out reviewed.pgn";

pub const PERFT: &str = "\
Examples:
  hnefi perft --rules copenhagen --depth 3     # nodes 806344";

pub const BENCH: &str = "\
Examples:
  hnefi bench
  hnefi bench evaluate --seconds 0.5 --json
  hnefi bench search --threads 16";

pub const DOCTOR: &str = "\
Examples:
  hnefi doctor";

pub const COMPLETIONS: &str = "\
Examples:
  hnefi completions bash > ~/.local/share/bash-completion/completions/hnefi
  hnefi completions zsh > ~/.zfunc/_hnefi
  hnefi completions fish > ~/.config/fish/completions/hnefi.fish";

pub const MAN: &str = "\
Examples:
  hnefi man --out pages/man1                   # then: man -M pages hnefi-train";

/// At the end of the program's own help.
pub const PROGRAM: &str = "\
Results go to standard output; progress, warnings and errors to standard error.
Exit status: 0 when all is done, 1 after an error, 2 for a command line that is \
none, 130 when interrupted.

`hnefi COMMAND --help` shows a command's options and examples.";
