//! Examples at the end of each command's help. A test parses every one of them.

use clap::Command;

/// Commands, each with its examples below it. A build without a feature lacks some of the commands.
const EXAMPLES: &str = "\
train
  hnefi train                                  # Brandubh, 8 minutes on 2 cores
  hnefi train --config brandubh --run runs/mine --seed 7
  hnefi train --config copenhagen --from brandubh --set budget.minutes=30
  hnefi train --config copenhagen --store s3://BUCKET/runs/first --no-selfplay

worker
  hnefi worker s3://BUCKET/runs/first
  hnefi worker runs/quick --threads 4 --wait   # also before its trainer begins

fetch
  hnefi fetch s3://BUCKET/runs/first --run runs/first
  hnefi fetch s3://BUCKET/runs/first --run runs/first --follow

selfplay
  hnefi selfplay --model brandubh --games 1000 --out runs/games
  hnefi selfplay --config copenhagen --model copenhagen --games 100 --out games

play
  hnefi play                                   # the shipped Brandubh network
  hnefi play --side attackers model:runs/quick,playouts=400
  hnefi play --rules copenhagen alphabeta:3
  hnefi play --web --listen 8038 --run runs/quick

uci
  hnefi uci
  hnefi uci --model runs/quick --threads 2

watch
  hnefi watch runs/quick
  hnefi watch runs/quick --web
  hnefi watch runs/one runs/two runs/three --web

metrics
  hnefi metrics runs/quick
  hnefi metrics runs/one runs/two --csv > metrics.csv
  hnefi metrics runs/one runs/two --csv --out metrics.csv

match
  hnefi match model:runs/quick alphabeta:2 --games 200
  hnefi match model:copenhagen,time=0.1 alphabeta:3 --rules copenhagen
  hnefi match model:a,playouts=64 model:b,playouts=64 --sprt 0,20 --games 4000
  hnefi match model:runs/quick 'uci:./engine --fast,nodes=64' --save g.hgames

tune
  hnefi tune model:copenhagen,time=0.1 --set search.c_puct=0.3..3
  hnefi tune model:brandubh --set search.c_scale=0.3..3 --games 20000

ladder
  hnefi ladder runs/quick
  hnefi ladder runs/quick --opponent alphabeta:3 --games 200 --playouts 128
  hnefi ladder runs/quick --show --json

check
  hnefi check runs/quick

export
  hnefi export runs/quick --format jsonl > games.jsonl
  hnefi export runs/quick --format parquet --split train=0.9,test=0.1
  hnefi export games.hgames --format npz --rules brandubh --out arrays

import
  hnefi import games.csv --rules brandubh --out games.hgames
  hnefi import a.pgn b.otg --rules copenhagen --out games.hgames --strict

imitate
  hnefi imitate games.hgames --out people
  hnefi imitate games.hgames --config copenhagen --epochs 5 --out people

relabel
  hnefi relabel runs/quick --playouts 200 --out better.hgames
  hnefi relabel games.hgames --model copenhagen --out better.hgames

judge
  hnefi judge brandubh games.hgames
  hnefi judge runs/quick games.hgames --playouts 64 --json

puzzles
  hnefi puzzles solve model:brandubh,playouts=64 alphabeta:2 --rules brandubh
  hnefi puzzles find runs/quick --out puzzles.jsonl

puzzles solve
  hnefi puzzles solve model:brandubh,playouts=64 alphabeta:2 --rules brandubh
  hnefi puzzles solve model:copenhagen,time=0.1 --every 10 --json

puzzles find
  hnefi puzzles find runs/quick --out puzzles.jsonl
  hnefi puzzles find games.hgames --longest 7 --answers 2 --out hard.jsonl

puzzles check
  hnefi puzzles check                          # the shipped puzzles
  hnefi puzzles check puzzles.jsonl

export-net
  hnefi export-net brandubh --onnx brandubh.onnx
  hnefi export-net runs/quick --onnx net.onnx --reference net.npz

replay
  hnefi replay < games.jsonl

analyse
  hnefi analyse brandubh < questions.jsonl
  hnefi analyse runs/quick --playouts 1600 < questions.jsonl > answers.jsonl

review
  hnefi review game.pgn
  hnefi review games.hgames --model runs/quick --out reviewed.pgn

perft
  hnefi perft --rules copenhagen --depth 3     # nodes 806344

bench
  hnefi bench
  hnefi bench evaluate --seconds 0.5 --json
  hnefi bench search --threads 16

doctor
  hnefi doctor

completions
  hnefi completions bash > ~/.local/share/bash-completion/completions/hnefi
  hnefi completions zsh > ~/.zfunc/_hnefi
  hnefi completions fish > ~/.config/fish/completions/hnefi.fish

man
  hnefi man --out pages/man1                   # then: man -M pages hnefi-train";

/// The program with examples at the end of the help of every command.
pub fn added(program: Command) -> Command {
    added_below(program, "")
}

/// Adds the examples of the commands below one, whose name with a space behind it is `above`.
fn added_below(command: Command, above: &str) -> Command {
    command.mut_subcommands(|command| {
        let name = format!("{above}{}", command.get_name());
        let found = EXAMPLES.split("\n\n").find_map(|block| block.strip_prefix(&name)?.strip_prefix('\n'));
        let command = added_below(command, &format!("{name} "));
        match found {
            Some(examples) => command.after_help(format!("Examples:\n{examples}")),
            None => command,
        }
    })
}

/// At the end of the program's own help.
pub const PROGRAM: &str = "\
Results go to standard output; progress, warnings and errors to standard error.
Exit status: 0 when all is done, 1 after an error, 2 for a command line that is \
none, 130 when interrupted.

`hnefi COMMAND --help` shows a command's options and examples.";
