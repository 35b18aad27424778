#!/usr/bin/env python3
"""Holds the documents to the program: links and files that they name are there, networks that they show are the
shipped ones, every command is one that the program takes, and those of README.md and docs/*.md run, where they finish
in seconds once they are given less to do.

    scripts/check_documents.py [--binary target/release/hnefi] [--list]

Bash runs every line of a block of shell commands, and every line after "$ " in other blocks, in a fresh folder. The
command must succeed, and print the text of a comment such as "# nodes 806344" behind it. LESS says how a command gets
less to do: fewer games, playouts and steps, weaker opponents. Runs and game files that the documents take for granted
are made first. SKIPPED names the commands that are not run and why. Every command, also one within a sentence, in a
README of a crate or in a configuration, is moreover begun in an empty folder: it may miss a file there, but must not
refuse its arguments (exit status 2).

A line that serves or watches until it is stopped (ENDLESS) is told to end as soon as it has printed something.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# With what scripts/requirements.txt names, if it is there; commands that need it are left out otherwise.
PYTHON = ROOT / "target/python/bin/python"

# A run of the same shape as the shipped configurations' that ends after a second or two; later settings count.
SHORT = (
    " --no-ladder --no-table --set budget.minutes=0 --set budget.generations=1 --set budget.playouts=[2]"
    " --set train.reuse=0.1 --set train.batch=8 --set train.plies_per_generation=64"
    " --set selfplay.games_in_flight=32 --set selfplay.ply_caps.eleven=60"
)

LESS = [
    (r"cargo run --release (-q )?--(?= )", "hnefi"),
    (r"--games \d+", "--games 2"),
    (r"--playouts \d+", "--playouts 2"),
    (r"playouts=\d+", "playouts=2"),
    (r"time=[\d.]+", "playouts=2"),
    (r"alphabeta:\d", "alphabeta:1"),
    (r"rollout:\d+", "rollout:1"),
    (r"--epochs \d+", "--epochs 0.01"),
    (r"--checkpoints \d+", "--checkpoints 2"),
    (r"go nodes \d+", "go nodes 10"),
    (r"(hnefi train\b[^|]*?)(?=$| \||  #)", r"\1" + SHORT),
    (r"hnefi ladder (\S+)(?=$|  )", r"hnefi ladder \1 --games 2 --playouts 2"),
    (r"my-rules\.otr", "ard-ri"),
    (r"(scripts/rulesets\.py measure)", r"\1 --rules brandubh"),
    (r"hnefi bench$", "hnefi bench engine --seconds 0.01 --repeats 1"),
    (r"target/release/hnefi", "hnefi"),
    # What a reader fills in.
    (r"\bRUN\b", "runs/quick"),
    (r"\bCHECKPOINT\b", "models/inference/pretrained/brandubh"),
    (r"\b(OTHER_)?GAMES\.\.\.", "games.hgames"),
]

SKIPPED = [
    (r"review_game\.py", "scripts/check-python-reads-our-files.sh runs it"),
    (r"s3://", "needs a bucket; tests/machines has one"),
    (r"^srun\b", "needs Slurm"),
    (
        r"^cargo (test|install|fuzz|\+nightly)\b|^HNEFI_(ORDERS|PICTURES)",
        "builds; the other steps of .ci/run test",
    ),
    (r"^pip install \"?\./python", "builds; scripts/check-python-package.sh tests"),
    (r"--trainer", "needs PyTorch; scripts/check-python-package.sh runs the example"),
    (r"build-site\.sh|http\.server", "builds, and serves without end; scripts/check-site.sh tests"),
    (r"their-engine", "needs a program of others"),
    (r"^scripts/(check_memory|fuzz)\.sh", "is a step of scripts/check-long.sh"),
    (r"^scripts/soak\.py", "takes an hour"),
    (r"^kubectl\b", "needs a cluster; scripts/check_kubernetes.py holds the manifests to schemas"),
    (r"^hnefi\(\)", "is what stands for the program"),
]

ENDLESS = r"--web|^hnefi watch"

# How long a command may take.
LIMIT = 120

# What stands for what a reader fills in, where a command is only begun.
FILLED = {"OPPONENT": "random", "R": "brandubh", "S": "1", "N": "1", "MS": "1"}

# Exit status of a command line that the program does not take.
REFUSED = 2


def documents():
    """All documents, and the configurations for what their comments say, with running text and blocks apart."""
    for pattern in ("*.md", "*/README.md", "*/*/README.md", "models/inference/pretrained/README.md", "docs/*.md"):
        for path in sorted(ROOT.glob(pattern)):
            if path.relative_to(ROOT).parts[0] not in ("target", "lab"):
                blocks = re.findall(r"^```(\w*)\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)
                yield path, re.sub(r"^```.*?^```\n", "", path.read_text(), flags=re.MULTILINE | re.DOTALL), blocks
    for path in sorted((ROOT / "configs").glob("*.toml")):
        comments = [line[1:] for line in path.read_text().splitlines() if line.startswith("#")]
        shown = "\n".join(line.strip() for line in comments if line.startswith("     "))
        yield path, "\n".join(comments), [("sh", shown)]


def quoted(prose):
    """Words between backticks in the running text, over the ends of lines."""
    for paragraph in prose.split("\n\n"):
        yield from (" ".join(words.split()) for words in paragraph.split("`")[1::2])


def anchors(path):
    """Names of a document's headings as links have them."""
    headings = re.findall(r"^#+ *(.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links():
    """Links and files that are not there."""
    for path, prose, _ in documents():
        name = path.relative_to(ROOT)
        for target in re.findall(r"\]\(([^)]*)\)", prose):
            file, _, anchor = target.partition("#")
            to = path.parent / file if file else path
            if "://" not in target and not (to.exists() and (not anchor or anchor in anchors(to))):
                yield f"{name}: no target of the link {target}"
        for words in quoted(prose):
            file = words.split(" ")[0]
            is_file = "src/" in words or re.match("(scripts|configs)/", words)
            if is_file and "/" in file and not re.search(r"[*={]", file):
                if not (ROOT / file).exists() and not (path.parent / file).exists():
                    yield f"{name}: no file {file}"


def check_networks():
    """Networks that are shown otherwise than they are shipped."""
    cards = {
        path.parent.name: json.loads(path.read_text()) for path in (ROOT / "models").glob("*/pretrained/*/card.json")
    }
    shown = 0
    for path, _, _ in documents():
        for line in path.read_text().splitlines():
            if found := re.search(r"network of generation (\d+), trained on (\S+)$", line):
                right = int(found[1]) == cards[found[2]]["generation"]
            elif found := re.match(r"info string network (\S+) is loaded: (.*)", line):
                card = cards[found[1]]
                shape = f"{card['network']['blocks']}x{card['network']['channels']}"
                rulesets = ", ".join(card["rulesets"])
                right = found[2] == f"generation {card['generation']}, {shape}, trained on {rulesets}"
            else:
                continue
            shown += 1
            if not right:
                yield f"{path.relative_to(ROOT)}: not the shipped network: {line}"
    if shown < 2:
        yield f"{shown} networks shown"


def simple_commands():
    """Every command of the program that a document shows, as (document, arguments)."""
    for path, prose, blocks in documents():
        lines = list(quoted(prose))
        for language, block in blocks:
            block = block.replace("\\\n", " ").splitlines()
            lines += block if language == "sh" else [line[2:] for line in block if line.startswith("$ ")]
        for line in lines:
            try:
                words = [] if "() {" in line else shlex.split(line, comments=True)
            except ValueError:
                continue
            command = []
            for word in [*words, ";"]:
                if word not in ("|", "&&", ";"):
                    command.append(word)
                elif arguments := program_arguments(command):
                    yield path.relative_to(ROOT), arguments
                    command = []
                else:
                    command = []


def program_arguments(words):
    """The arguments of a command, if it starts the program: examples in place of what a reader fills in, and neither
    redirections nor the ellipsis of what may be repeated."""
    while words and (re.match(r"[A-Z_]+=", words[0]) or words[0] == "srun"):
        words = words[1:]
    if words[:2] == ["cargo", "run"] and "--" in words and "--example" not in words:
        words = words[words.index("--") :]
    elif words[:1] != ["hnefi"]:
        return None
    given = []
    for word in words[1:]:
        if word[:1] in "<>":
            break
        word = re.sub(r"(\.\.\.|…)$", "", word).split("|")[0]
        given += [FILLED.get(word, word)] if word else []
    return given


def check_arguments(hnefi):
    """Commands that the program does not take, and those that no document shows."""
    names = set(re.findall(r"^  ([a-z-]+)  ", subprocess.check_output([hnefi, "--help"], text=True), re.MULTILINE))
    seen, begun = set(), set()
    for document, arguments in simple_commands():
        seen |= {arguments[0]} & names
        # The bare name of a command stands for it in running text.
        if tuple(arguments) in begun or len(arguments) == 1 and arguments[0] in names:
            continue
        begun.add(tuple(arguments))
        with tempfile.TemporaryDirectory() as folder:
            pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            process = subprocess.Popen([hnefi, *arguments], cwd=folder, text=True, start_new_session=True, **pipes)
            try:
                _, problem = process.communicate(timeout=2)
            except subprocess.TimeoutExpired:
                # It has begun its work.
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
            else:
                # Within a sentence a command may stand without what it needs.
                if process.returncode == REFUSED and "required arguments were not provided" not in problem:
                    yield f"{document}: hnefi {shlex.join(arguments)}\n  {problem.strip()}"
    if missing := names - seen - {"help"}:
        yield f"no document shows {sorted(missing)}"


def commands():
    """Every command as (document, command, what its comment promises)."""
    for path, _, blocks in documents():
        if path != ROOT / "README.md" and path.parent != ROOT / "docs":
            continue
        for language, block in blocks:
            for line in block.replace("\\\n", " ").splitlines():
                if language != "sh":
                    if not line.startswith("$ "):
                        continue
                    line = line[2:]
                if not line.strip() or line.startswith("#"):
                    continue
                command, _, comment = line.partition("  #")
                promise = re.search(r"^ *(nodes \d+)", comment)
                yield path.relative_to(ROOT), command.strip(), promise and promise[1]


def shell(command, folder):
    """Starts a command as a reader would type it, with nobody at the keyboard."""
    environment = {**os.environ, "PATH": f"{folder}/bin:{PYTHON.parent}:{os.environ['PATH']}"}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        text=True,
        start_new_session=True,
        **pipes,
    )


def run(command, folder):
    """Exit status and output."""
    process = shell(command, folder)
    try:
        if re.search(ENDLESS, command):
            output = process.stdout.readline()
            time.sleep(0.2)
            os.killpg(process.pid, signal.SIGTERM)
            rest, _ = process.communicate(timeout=LIMIT)
            return (0 if output.strip() else 1), output + rest
        output, _ = process.communicate(timeout=LIMIT)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return 1, process.communicate()[0] + f"not at its end after {LIMIT} s"


def must(command, folder):
    status, output = run(command, folder)
    if status != 0:
        sys.exit(f"making what the documents begin from: {command}\n{output}")
    return output


def archive(name, rules, folder):
    """Writes games as the public archives have them: of players who come to an end soon."""
    for made in ("first.hgames", "first.jsonl"):
        (folder / made).unlink(missing_ok=True)
    must(f"hnefi match alphabeta:1 alphabeta:1 --games 4 --rules {rules} --save first.hgames", folder)
    must("hnefi export first.hgames --format jsonl --result attackers,defenders --out first.jsonl", folder)
    with (folder / name).open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["game", "moves", "result"])
        for line in map(json.loads, (folder / "first.jsonl").open()):
            # Captures are written, but the king's.
            captures = line["captures"] if line["reason"] != "king_captured" else [*line["captures"][:-1], []]
            moves = [
                f"{move}{''.join('x' + square for square in taken)}" for move, taken in zip(line["moves"], captures)
            ]
            table.writerow([line["game"], " ".join(moves), "Black" if line["status"] == "attackers" else "White"])


def prepare(folder, hnefi):
    """What the documents take for granted."""
    for name in ("models", "scripts"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("bin", "docs/images", "my-games"):
        (folder / name).mkdir(parents=True)
    (folder / "bin/hnefi").symlink_to(hnefi)
    must("hnefi train" + SHORT, folder)


def stand_in(command, folder):
    """Puts the quick run where a command expects another one, and games where it expects games."""
    writing = "run|out" if re.match("hnefi train", command) else "out|onnx|reference|save"
    written = set(re.findall(rf"--(?:{writing}) (\S+)", command))
    for name in written:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
    if games := re.search(r"hnefi import (\S+\.csv) --rules (\S+)", command):
        archive(*games.groups(), folder)
    for name in set(re.findall(r"\bruns/[\w-]+", command)) - written:
        if not (folder / name).exists():
            shutil.copytree(folder / "runs/quick", folder / name)
    for name in set(re.findall(r"[\w-]+\.hgames", command)) - written:
        if "/" + name not in command and not (folder / name).exists():
            shutil.copy(next((folder / "runs/quick/games").glob("*.hgames")), folder / name)


def check_plans(hnefi):
    """Variants of the laboratory's plans that the program does not take."""
    for path in sorted((ROOT / "lab").glob("*.toml")):
        plan = tomllib.loads(path.read_text())
        for variant in plan["variant"]:
            changes = [word for change in plan["set"] + variant.get("set", []) for word in ("--set", change)]
            command = [hnefi, "train", "--config", plan["config"], "--print-config", *changes]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                yield f"{path.name}, {variant['name']}: {done.stderr.strip()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("CARGO_TARGET_DIR", "target") + "/release/hnefi")
    parser.add_argument("--list", action="store_true", help="show what would be run")
    arguments = parser.parse_args()
    hnefi = (pathlib.Path.cwd() / arguments.binary).resolve()
    done, skipped, faults = set(), 0, [*check_links(), *check_networks(), *check_arguments(hnefi), *check_plans(hnefi)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        if not arguments.list:
            prepare(folder, hnefi)
        for document, shown, promise in commands():
            command = shown
            for pattern, less in LESS:
                command = re.sub(pattern, less, command)
            if any(re.search(pattern, command) for pattern, _ in SKIPPED):
                skipped += 1
                continue
            if command in done:
                continue
            done.add(command)
            if arguments.list:
                print(command)
                continue
            stand_in(command, folder)
            began = time.monotonic()
            status, output = run(command, folder)
            if status != 0 or promise and promise not in output:
                faults.append(f"{document}: {shown}\n  as {command}\n  exit status {status}: {output.strip()[-800:]}")
            if time.monotonic() - began > 10:
                print(f"{time.monotonic() - began:.0f} s: {command}")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(done)} commands of the documents ran, {skipped} were left out")


if __name__ == "__main__":
    main()
