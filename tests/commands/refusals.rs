//! What cannot be done is refused at once, in one message, and leaves nothing behind.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Ended, Workspace};

/// With a game, a file `taken`, and a file `junk.hgames` that is no record.
fn workspace() -> Workspace {
    let workspace = Workspace::with_a_game();
    workspace.write("taken", "here already");
    workspace.write("junk.hgames", "no record at all");
    workspace
}

#[test]
fn a_place_that_cannot_be_written_to_is_refused_before_the_work() {
    let workspace = workspace();
    workspace.run_directory("run");
    // Games without number, so that a match that is played does not end.
    let work = [
        ("match random random --games 100000000 --save", "junk.hgames"),
        ("import games.csv --rules brandubh --out", "junk.hgames"),
        ("export games.hgames --format jsonl --out", "taken"),
        ("export games.hgames --format parquet --out", "taken"),
        ("export-net brandubh --onnx", "taken"),
        ("export-net brandubh --reference", "taken"),
        ("imitate games.hgames --epochs 10000 --out", "taken"),
        ("man --out", "taken"),
        ("metrics run --csv --out", "taken"),
    ];
    for (line, taken) in work {
        let message = workspace.refused(&format!("{line} {taken}"));
        assert!(message.contains(&format!("writing {taken}: it exists")), "{line}: {message}");
        let new = taken.replace("taken", "new").replace("junk", "new");
        let message = workspace.refused(&format!("{line} taken/{new}"));
        assert!(message.contains(&format!("writing taken/{new}: taken is no folder")), "{line}: {message}");
    }
    for line in ["selfplay --games 1 --model brandubh --out", "train --config tiny.toml --run"] {
        let message = workspace.refused(&format!("{line} taken/new"));
        assert!(message.contains("run directory taken/new: "), "{message}");
    }
    // Missing folders are made by all of them.
    workspace.succeeds("match random random --games 2 --save new/folder/games.hgames");
    assert!(workspace.at("new/folder/games.hgames").is_file());
}

#[test]
fn what_cannot_be_meant_is_refused_before_the_work() {
    let workspace = workspace();
    workspace.run_directory("run");
    workspace.write("bad.toml", "[network]\nlayers = 3\nblocks = \"many\"\nchannels = -32\n");
    workspace.write("cut.toml", "seed = [1, ");
    workspace.write("cut.otr", "dim:9 start:/9/");
    workspace.write("negative.toml", "ply_cap = -1");
    workspace.write("other.toml", "ruleset = \"brandubh\"\n[throne]\nstop = [\"queen\"]\n");
    workspace.write("none.jsonl", "");
    let multiple = "expected a multiple of 32 from 32 to 65536";
    for (line, words) in [
        ("judge brandubh games.hgames --rules copenhagen", &["11x11", "7x7", "copenhagen"][..]),
        ("judge brandubh games.hgames --playouts 200000", &["200000 is not in 1..=100000"]),
        ("fetch run --run s3://box/x", &["--run", "that is a bucket; expected a directory"]),
        ("selfplay --games 1 --playouts 2 --out s3://box/x", &["--out", "that is a bucket; expected a directory"]),
        ("worker run --games-in-flight 31", &["--games-in-flight", multiple]),
        ("worker run --games-in-flight 0", &["--games-in-flight", multiple]),
        ("worker run --games-in-flight -32", &["--games-in-flight", multiple]),
        ("worker run --games-in-flight 65568", &["--games-in-flight", multiple]),
        ("worker run --threads 5000", &["--threads", "5000 is not in 0..=1024"]),
        ("export-net brandubh --onnx a.onnx --reference a.onnx", &["a.onnx", "expected two files"]),
        ("export-net brandubh --onnx a.onnx --reference ./a.onnx", &["a.onnx", "expected two files"]),
        ("match random random --games 2 --save games.pgn", &["--save", "expected a name ending in .hgames"]),
        ("import games.csv --rules brandubh --out games.pgn", &["--out", "expected a name ending in .hgames"]),
        ("match random random --games -4", &["--games", "expected an even number above 0"]),
        ("match random random --games 3", &["--games", "expected an even number above 0"]),
        ("match random random --threads 0", &["--threads", "0 is not in 1..="]),
        ("match random random --ply-cap -4", &["--ply-cap", "-4 is not in 0..="]),
        ("match random random --seed -1", &["--seed", "-1 is not in 0..=18446744073709551615"]),
        ("match -4 random", &["unknown player", "-4"]),
        ("ladder run --games 0", &["--games", "expected an even number above 0"]),
        ("ladder run --playouts 0", &["--playouts", "0 is not in 2..=1000000"]),
        ("ladder run --checkpoints 0", &["--checkpoints", "0 is not in 1.."]),
        ("ladder run --previous -1", &["--previous", "-1 is not in 0..=1000000"]),
        ("play --seed -1", &["--seed", "-1 is not in 0..=18446744073709551615"]),
        ("export games.hgames --format npz --out new --shard-rows -1", &["--shard-rows", "-1 is not in 1..="]),
        ("train --seed 9223372036854775808 --run new", &["--seed", "is not in 0..=9223372036854775807"]),
        ("train --seed -1 --run new", &["--seed", "-1 is not in 0..=9223372036854775807"]),
        ("train --threads -1 --run new", &["--threads", "-1 is not in 0..=1024"]),
        ("selfplay --games 2 --model brandubh --out new --playouts 0", &["--playouts", "0 is not in 2..=100000"]),
        ("selfplay --games 2 --model brandubh --out new --playouts 4000000000", &["--playouts", "2..=100000"]),
        ("selfplay --games 0 --model brandubh --out new", &["--games", "0 is not in 1.."]),
        ("selfplay --games -4 --model brandubh --out new", &["--games", "-4 is not in 1.."]),
        ("selfplay --games 2 --model brandubh --out new --threads 9999", &["--threads", "9999 is not in 1..=1024"]),
        ("bench --seconds 0", &["--seconds", "0.01 to 600"]),
        ("bench --device cpu", &["--device cpu", "cuda:N"]),
        ("bench search --device cuda:0", &["bench search", "evaluate, selfplay or train"]),
        ("play --web --listen 0 uci:no-such-program-here", &["no-such-program-here", "cannot be started"]),
        ("play --web --listen 0 model:no/such/run", &["no/such/run", "there is no such folder"]),
        ("play --web --listen 0 --plain", &["--web", "--plain", "expected one"]),
        ("train --help-config selfplay.resing", &["did you mean selfplay.resign?"]),
        ("train --config tiny.toml --seed 2 --set run.seed=3 --run new", &["--seed", "--set run.seed", "expected one"]),
        (
            "train --rules tablut --set 'selfplay.rulesets=[{rules=\"tablut\",share=1}]' --run new",
            &["--rules", "--set selfplay.rulesets"],
        ),
        (
            "selfplay --games 2 --rules tablut --set 'selfplay.rulesets=[{rules=\"tablut\",share=1}]' --out new",
            &["--set selfplay.rulesets"],
        ),
        ("selfplay --games 2 --playouts 2 --set budget.playouts=[4] --out new", &["--set budget.playouts"]),
        ("selfplay --games 2 --config any --out new", &["configuration any", "`train --rules`"]),
        (
            "train --config tiny.toml --set evaluate.games=1 --set 'evaluate.opponents=[\"model:nobody\"]' --run new",
            &["nobody"],
        ),
        (
            "train --config tiny.toml --set ladder.every=1 --set 'ladder.opponents=[\"uci:no-such\"]' --run new",
            &["no-such"],
        ),
        ("train --config tiny.toml --trainer no-such-learner --run new", &["no-such-learner", "cannot be started"]),
        ("train --config tiny.toml --set stages=[{}] --run new", &["stages[0].share"]),
        ("train --config tiny.toml --set 'selfplay.rulesets=[{rules=\"no.otr\",share=1}]' --run new", &["no.otr"]),
        ("train --rules cut.otr --run new", &["cut.otr", "found 1 rows"]),
        (
            "train --config tiny.toml --set 'selfplay.rulesets=[{rules=\"cut.otr\",share=1}]' --run new",
            &["found 1 rows"],
        ),
        ("train --rules negative.toml --run new", &["negative.toml", "-1", "ply_cap"]),
        ("train --rules other.toml --run new", &["other.toml", "stop"]),
        ("relabel no-such --out new.hgames", &["no-such: neither a run directory nor a record file"]),
        ("metrics games.hgames", &["games.hgames", "a file"]),
        ("puzzles solve random --file none.jsonl", &["none.jsonl: there is no puzzle in it"]),
        ("uci --threads -1", &["--threads", "-1 is not in 0..=65535"]),
        ("train --config bad.toml --run new", &["network.channels", "network.blocks", "many", "network.layers"]),
        ("train --config cut.toml", &["cut.toml"]),
    ] {
        let message = workspace.refused(line);
        for word in words {
            assert!(message.contains(word), "{line}: {word:?} is missing in: {message}");
        }
        assert!(!message.contains("use '--"), "{line}: {message}");
    }
    // What a command understands late is refused as what it understands at once.
    for (line, word) in [
        ("match random random --opening-plies 9 --ply-cap 9", "expected fewer than the 9 plies of the longest game"),
        ("match random random --opening-plies 150", "expected fewer than the 150 plies"),
        ("match random random --sprt 0", "1 numbers; expected ELO0,ELO1"),
        ("match random random --sprt 0,x", "\"x\" is no number; expected ELO0,ELO1"),
        ("match random random --sprt 20,0", "expected elo0 below elo1"),
        ("match random random --sprt 0,20,0.9,0.05", "expected both above 0 and below 0.5"),
        ("train --set train.rate --run new", "expected KEY=VALUE"),
        ("imitate games.hgames --out new --set train.batch=0", "train.batch"),
        ("selfplay --games 2 --model brandubh --out new --set search.c_scale=much", "search.c_scale"),
        ("perft --rules brandubh --depth 1 --fen '3a3 a'", "1 rows; expected 7"),
        ("play --rules brandubh --plain --fen '3a3 a'", "1 rows; expected 7"),
        ("play --rules brandubh --web --listen 0 --fen '3a3 a'", "1 rows; expected 7"),
    ] {
        let ended = workspace.run(line);
        assert_eq!(ended.code, Some(2), "{line}");
        let message = ended.refusal(line);
        assert!(message.contains("invalid value") && message.contains(word), "{line}: {message}");
    }
    // An Elo may be negative.
    let message = workspace.refused("match random nobody --games 2 --sprt -10,0");
    assert!(message.contains("nobody") && !message.contains("--sprt"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_name_that_run_json_cannot_hold_is_refused() {
    let workspace = workspace();
    let mut command = workspace.command("train --config tiny.toml --run new");
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"b\xff");
    let ended: Ended = command.arg("--from").arg(name).output().expect("the program starts").into();
    assert!(ended.refusal("train --from").contains("is not UTF-8") && !workspace.at("new").exists());
}

#[test]
fn a_model_has_the_same_names_everywhere() {
    let workspace = workspace();
    workspace.run_directory("run");
    let commands = [
        "judge MODEL games.hgames",
        "export-net MODEL --onnx net.onnx",
        "selfplay --model MODEL --games 1 --playouts 2 --threads 1 --out games",
        "uci --model MODEL",
        "match model:MODEL,playouts=2 random --games 2",
        "play --plain model:MODEL,playouts=2",
        "imitate games.hgames --from MODEL --epochs 0.01 --out people --config brandubh",
        "train --config tiny.toml --from MODEL --run trained",
    ];
    for line in commands {
        let message = workspace.refused(&line.replace("MODEL", "brandub"));
        assert!(
            message.contains("brandub: there is no such folder, and no shipped checkpoint of that name"),
            "{message}"
        );
        assert!(message.trim_end().ends_with("; did you mean brandubh?"), "{line}: {message}");
        assert!(!message.contains("player model:"), "{line}: {message}");
        let message = workspace.refused(&line.replace("MODEL", "s3://games/run"));
        let expected =
            if cfg!(feature = "buckets") { "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" } else { "feature `buckets`" };
        assert!(message.contains(expected), "{line}: {message}");
    }
    for model in ["brandubh", "run", "run/checkpoints/000007"] {
        // All but the last two, whose configurations have networks of other shapes.
        for line in &commands[..6] {
            workspace.succeeds(&line.replace("MODEL", model));
        }
        fs::remove_file(workspace.at("net.onnx")).expect("written");
        fs::remove_dir_all(workspace.at("games")).expect("written");
    }
}

#[test]
fn names_with_a_slip_are_seen_through() {
    let workspace = workspace();
    for (line, meant) in [
        ("train --config qiuck", "quick"),
        ("train --config tiny.toml --set trian.rate=0.1", "train"),
        ("train --config tiny.toml --set train.bacth=64", "train.batch"),
        ("train --config tiny.toml --device cdua:1", "cuda:1"),
        ("perft --depth 1 --rules brandub", "brandubh"),
        ("match random alphabta:2", "alphabeta:2"),
        ("match random brandubh", "model:brandubh"),
        ("match random model:brandubh,precision=int4", "int8"),
        ("match random model:brandubh,search.c_putc=1", "search.c_puct"),
        ("export games.hgames --format parqet", "parquet"),
        ("export games.hgames --format jsonl --result atackers", "attackers"),
        ("ladder run --opponent ranodm", "random"),
    ] {
        let message = workspace.refused(line);
        assert!(message.contains(&format!("; did you mean {meant}?")), "{line}: {message}");
    }
}

/// Parts of a message that stand there twice.
fn repeated(message: &str) -> Option<String> {
    const LENGTH: usize = 20;
    let letters: Vec<char> = message.chars().collect();
    let pieces: Vec<&[char]> = letters.windows(LENGTH).collect();
    let twice = pieces.iter().enumerate().find(|(at, piece)| pieces[at + 1..].contains(piece));
    twice.map(|(_, piece)| piece.iter().collect())
}

#[test]
fn a_cause_is_told_once() {
    let workspace = workspace();
    workspace.run_directory("run");
    fs::create_dir(workspace.at("folder.hgames")).expect("a folder");
    fs::create_dir_all(workspace.at("damaged/games")).expect("a folder");
    workspace.write("damaged/games/000001.hgames", "no record");
    workspace.write("cut.toml", "seed = [1, ");
    workspace.write("empty.csv", "");
    let (once, twice) = ("writing a: No such file or directory", ": No such file or directory");
    assert!(repeated(once).is_none() && repeated(&format!("{once}{twice}")).is_some());
    for line in [
        "train --config no/such.toml",
        "train --config folder.hgames",
        "train --config cut.toml",
        "train --config tiny.toml --from no/such",
        "train --config tiny.toml --run taken",
        "train --config tiny.toml --device cuda:0",
        "train --config tiny.toml --store ftp://x/y",
        "selfplay --config tiny.toml --model taken --games 1 --out new",
        "worker no/such",
        "fetch no/such --run new",
        "ladder no/such",
        "ladder damaged",
        "watch no/such",
        "metrics no/such --csv",
        "watch no/such --web",
        "play --web --games no/such",
        "play --web --run no/such",
        "play --fen nonsense",
        "match uci:/no/such random --games 2",
        "match model:no/such random --games 2",
        "match random random --games 2 --save taken/x.hgames",
        "import no/such.csv --rules brandubh --out new.hgames",
        "import empty.csv --rules brandubh --out new.hgames",
        "import taken --rules brandubh --out new.hgames",
        "imitate no/such --out new",
        "judge brandubh no/such",
        "judge brandubh junk.hgames",
        "judge no/such games.hgames",
        "export no/such --format jsonl",
        "export junk.hgames --format jsonl",
        "export damaged --format parquet --out new",
        "export-net no/such --onnx new",
        "perft --rules brandubh --depth 1 --fen nonsense",
    ] {
        let all = workspace.run(line).refusal(line);
        // The last line is the error; warnings may stand before it, and clap has its own layout.
        let error = all.split("error: ").last().unwrap_or_default();
        if let Some(twice) = repeated(error) {
            panic!("{line}: {twice:?} stands twice in: {error}");
        }
        let _ = fs::remove_dir_all(workspace.at("new"));
    }
}

#[test]
fn junk_is_no_success() {
    let workspace = workspace();
    for line in [
        "export junk.hgames --format jsonl",
        "export junk.hgames --format parquet --out set",
        "export games.hgames junk.hgames --format parquet --out set",
        "judge brandubh junk.hgames",
        "imitate junk.hgames --out people",
    ] {
        let before = workspace.names();
        let Ended { error, code, .. } = workspace.run(line);
        assert!(code == Some(1) && error.contains("error: junk.hgames: "), "{line}: {error}");
        assert_eq!(workspace.names(), before, "{line}");
    }
    // Of a run a damaged file is passed over, unless there is no other.
    fs::create_dir_all(workspace.at("run/games")).expect("a folder");
    fs::copy(workspace.at("junk.hgames"), workspace.at("run/games/000001.hgames")).expect("copied");
    let message = workspace.refused("export run --format parquet --out set");
    assert!(message.contains("warning: skipped: ") && message.contains("error: "), "{message}");
    fs::copy(workspace.at("games.hgames"), workspace.at("run/games/000002.hgames")).expect("copied");
    let ended = workspace.succeeds("export run --format jsonl");
    assert!(ended.error.contains("1 of 2 record files skipped"), "{}", ended.error);
    assert_eq!(ended.out.lines().count(), 1);
}

#[test]
fn a_change_of_a_key_that_a_command_does_not_read_is_refused() {
    let workspace = workspace();
    for (line, key) in [
        ("selfplay --games 1 --model brandubh --out new --set selfplay.blunder_share=0", "selfplay.blunder_share"),
        (
            "selfplay --games 1 --model brandubh --out new --set selfplay.balance_doublings=1",
            "selfplay.balance_doublings",
        ),
        ("selfplay --games 1 --model brandubh --out new --set search.c_visit=8 --set run.seed=2", "run.seed"),
        ("selfplay --games 1 --model brandubh --out new --set network.blocks=2", "network.blocks"),
        ("selfplay --games 1 --out new --set 'train={batch=64}'", "train.batch"),
        ("imitate games.hgames --out new --set search.c_visit=8", "search.c_visit"),
        ("imitate games.hgames --out new --set train.value_horizon=0", "train.value_horizon"),
    ] {
        let message = workspace.refused(line);
        assert!(message.contains(&format!("{key}: this command does not read it; ")), "{line}: {message}");
        assert!(!workspace.at("new").exists(), "{line}");
    }
}

/// Nothing waits for the writer of a pipe, nothing reads a device to its end, and nothing takes memory for what is too
/// large.
#[cfg(unix)]
#[test]
fn what_is_no_file_or_too_large_is_refused_before_it_is_opened() {
    let workspace = workspace();
    workspace.run_directory("net");
    let weights = "net/checkpoints/000007/model.safetensors";
    type Make = fn(&Path);
    let kinds: [(Make, &str); 4] = [
        (|path| assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success()), "a named pipe"),
        (|path| std::os::unix::fs::symlink("/dev/zero", path).expect("a link"), "a device"),
        (|path| fs::File::create(path).and_then(|file| file.set_len(20 << 30)).expect("a hole"), "21474836480 bytes"),
        (|path| fs::create_dir(path).expect("a folder"), "a folder"),
    ];
    for (make, found) in kinds {
        for (name, lines) in [
            (
                weights,
                &[
                    "match model:net random --rules brandubh --games 2",
                    "judge net games.hgames",
                    "play --plain model:net",
                    "uci --model net",
                    "export-net net --onnx new",
                    "train --config tiny.toml --from net --run new",
                ][..],
            ),
            ("net/checkpoints/000007/card.json", &["judge net games.hgames"]),
            ("bad.csv", &["import bad.csv --rules brandubh --out new.hgames"]),
            ("bad.jsonl", &["puzzles check bad.jsonl"]),
            ("bad.toml", &["train --config bad.toml --run new"]),
            ("large.hgames", &["export large.hgames --format jsonl", "imitate large.hgames --out new"]),
        ] {
            // A folder of games is a run, and other things than files are refused as such.
            if name == "large.hgames" && found != "21474836480 bytes" {
                continue;
            }
            let path = workspace.at(name);
            let before = fs::read(&path).ok();
            let _ = fs::remove_file(&path);
            make(&path);
            for line in lines {
                let message = workspace.refused(line);
                assert!(message.contains(&format!("{found}; expected ")), "{line}: {message}");
                assert!(message.contains(name.trim_start_matches("net/")), "{line}: {message}");
            }
            let _ = fs::remove_dir(&path).or_else(|_| fs::remove_file(&path));
            before.into_iter().for_each(|bytes| fs::write(&path, bytes).expect("written"));
        }
    }
}

#[test]
fn a_device_that_is_not_there_is_found_out_before_anything_is_made() {
    let workspace = workspace();
    workspace.run_directory("climbed");
    for line in [
        "train --config tiny.toml --run new --device cuda:9",
        "train --config tiny.toml --run new --set run.train_device=cuda:9",
        "selfplay --config tiny.toml --games 1 --out new --device cuda:9",
        "imitate games.hgames --out new --set run.train_device=cuda:9",
        "judge brandubh games.hgames --device cuda:9",
        "worker new --wait --device cuda:9",
        "uci --model brandubh --device cuda:9",
        "match random model:brandubh --device cuda:9",
        "ladder climbed --device cuda:9",
        "puzzles solve model:brandubh --device cuda:9",
        "play model:brandubh --device cuda:9",
        "play model:brandubh --web --listen 0 --device cuda:9",
        "bench train --device cuda:9",
    ] {
        let message = workspace.refused(line);
        assert!(message.contains("device cuda:9: "), "{line}: {message}");
    }
}

#[test]
fn a_run_that_is_not_there_is_not_made() {
    let workspace = workspace();
    fs::create_dir(workspace.at("empty")).expect("a folder");
    for place in ["typo", "file:typo", "empty"] {
        let message = workspace.refused(&format!("worker {place}"));
        assert!(message.contains("no run has begun there") && message.contains("--wait"), "{message}");
    }
    for line in ["ladder typo", "ladder typo --show", "fetch typo --run new", "watch typo"] {
        let message = workspace.refused(line);
        assert!(message.contains("typo: not found; expected the directory of a run"), "{line}: {message}");
    }
    assert!(workspace.refused("fetch empty --run new").contains("nothing is there; expected a run"));
    assert!(workspace.refused("ladder empty").contains("no checkpoints; expected a run, such as runs/quick"));
    assert_eq!(fs::read_dir(workspace.at("empty")).expect("a folder").count(), 0);
}

#[test]
fn what_a_run_began_with_is_told_in_words() {
    let workspace = workspace();
    workspace.write("run.json", "");
    workspace.succeeds("train --config tiny.toml --set budget.generations=1 --run run --quiet");
    let message = workspace.refused("train --config tiny.toml --run run --from brandubh");
    let expected =
        "run directory run holds another run: it began with random weights, not with the weights of brandubh;";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn an_address_to_listen_at_may_be_short() {
    let workspace = workspace();
    for text in ["0", ":0", "localhost:0", "127.0.0.1:0", "[::1]:0"] {
        let mut child = workspace.command(&format!("play --web --listen {text}")).spawn().expect("starts");
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().expect("piped"));
        std::io::BufRead::read_line(&mut out, &mut line).expect("a line");
        child.kill().expect("killed");
        child.wait().expect("ended");
        // Where a machine has no such address, nothing is printed.
        assert!(line.starts_with("Open http://") || (text == "[::1]:0" && line.is_empty()), "{text}: {line}");
    }
    for text in ["localhost", "x:y", "70000", "127.0.0.1", "::1", "::8037", ""] {
        let message = workspace.refused(&format!("play --web --listen '{text}'"));
        assert!(message.contains("such as 8037, localhost:8037 or 0.0.0.0:8037"), "{text}: {message}");
    }
}

/// Of buckets, which are a feature.
#[cfg(feature = "buckets")]
mod buckets {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::path::Path;

    use super::{Ended, Workspace};

    /// What a command says that is refused with these settings.
    fn refusal(workspace: &Workspace, line: &str, settings: &[(&str, &str)]) -> String {
        let output = workspace.command(line).envs(settings.iter().copied()).output().expect("starts");
        Ended::from(output).refusal(line)
    }

    const KEY: [(&str, &str); 3] =
        [("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_ALLOW_HTTP", "true")];

    #[test]
    fn missing_credentials_are_told_at_once() {
        let workspace = Workspace::new();
        let variables = [
            ("s3://games/run", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
            ("gs://games/run", "GOOGLE_SERVICE_ACCOUNT"),
            ("az://games/run", "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"),
        ];
        for (place, expected) in variables {
            for line in
                ["train --config tiny.toml --store PLACE", "worker PLACE", "fetch PLACE --run new", "ladder PLACE"]
            {
                let line = line.replace("PLACE", place);
                let message = refusal(&workspace, &line, &[]);
                assert!(message.contains(&format!("store {place}: ")), "{line}: {message}");
                assert!(message.contains(&format!("expected {expected}")), "{line}: {message}");
                assert!(!message.contains("trying again"), "{line}: {message}");
                assert_eq!(message.lines().count(), 1, "{line}: {message}");
            }
        }
        assert!(!workspace.at("new").exists());
        let line = "fetch s3://games/run --run new";
        assert!(refusal(&workspace, line, &KEY[..1]).contains("AWS_SECRET_ACCESS_KEY"));
    }

    /// A server that answers every request alike.
    fn server(answer: &str) -> String {
        let answer = answer.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut head = [0; 4096];
                let _ = stream.read(&mut head);
                let (without_body, _) = answer.split_once("\r\n\r\n").expect("a head");
                let answer =
                    if head.starts_with(b"HEAD ") { format!("{without_body}\r\n\r\n") } else { answer.clone() };
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        format!("http://{address}")
    }

    #[test]
    fn what_waiting_cannot_heal_is_not_waited_for() {
        let workspace = Workspace::new();
        let line = "fetch s3://games/run --run new";
        for (answer, told) in [
            ("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "400 Bad Request"),
            ("HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "incorrectly configured region"),
            ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "403 Forbidden"),
        ] {
            let message = refusal(&workspace, line, &[&KEY[..], &[("AWS_ENDPOINT", &server(answer))]].concat());
            assert!(message.contains("was refused: ") && message.contains(told), "{message}");
        }
        // S3 tells these apart by a code in the text, which the answer to HEAD lacks.
        for code in ["RequestTimeTooSkewed", "InvalidAccessKeyId", "SignatureDoesNotMatch"] {
            let text = format!("<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>Why.</Message></Error>");
            let length = text.len();
            let answer =
                format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}");
            for line in [line, "worker s3://games/run"] {
                let answers = server(&answer);
                let message = refusal(&workspace, line, &[&KEY[..], &[("AWS_ENDPOINT", &answers)]].concat());
                let told = format!("was refused: {code}: Why. (403 Forbidden)\n");
                assert!(message.ends_with(&told) && !message.contains("<Error>"), "{line}: {message}");
            }
        }
        let message = refusal(&workspace, line, &[&KEY[..2], &[("AWS_ENDPOINT", "http://127.0.0.1:9")]].concat());
        assert!(message.contains("was refused: ") && message.contains("AWS_ALLOW_HTTP=true"), "{message}");
        assert!(!Path::new("new").exists());
    }

    #[test]
    fn what_is_no_answer_is_asked_for_again() {
        let workspace = Workspace::new();
        let line = "fetch s3://games/run --run new --store-patience 2";
        let answers = server("this is no HTTP\r\n\r\n");
        let told = refusal(&workspace, line, &[&KEY[..], &[("AWS_ENDPOINT", &answers)]].concat());
        assert!(told.contains("trying again"), "{told}");
        assert!(!told.contains("was refused") && !told.contains("AWS_ALLOW_HTTP"), "{told}");
    }
}

#[test]
fn a_file_does_not_hide_the_ruleset_of_its_name() {
    let workspace = workspace();
    workspace.write("brandubh", "");
    workspace.succeeds("perft --rules brandubh --depth 1");
    workspace.succeeds("train --config brandubh --print-config");
}

#[test]
fn rules_that_no_record_says_have_no_ladder_and_no_recording() {
    let workspace = workspace();
    let start = "start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/";
    let text = format!("ruleset = \"dim:7 esc:e cor: cen: afor:a3,a4,a5 {start}\"\n");
    workspace.write("forts.toml", format!("{text}[attacker_forts]\nhostile_occupied = []\n"));
    for line in ["selfplay --games 1 --playouts 2 --out no", "ladder run --opponent random"] {
        let told = workspace.refused(&format!("{line} --rules forts.toml"));
        assert!(told.contains("no rules record says these rules"), "{told}");
    }
}
