#!/usr/bin/env python3
"""Lays all Copenhagen checkpoints that were ever shipped into one folder, as a run has them, from the history in git.

    scripts/shipped_history.py runs/history
    cargo run --release -- ladder runs/history --rules copenhagen --checkpoints 7 --playouts 150 --games 60 \\
        --opponent alphabeta:3
    scripts/plot_strength.py runs/history --zero alphabeta:3 --by samples --out docs/images/strength-copenhagen.svg

Each goes on where the one before it ended, so generations and samples add up. Needs git and a full clone.
"""

import argparse
import json
import pathlib
import subprocess
import sys


def git(*arguments):
    """What a git command prints, as bytes."""
    return subprocess.run(
        ["git", *arguments], check=True, stdout=subprocess.PIPE, cwd=pathlib.Path(__file__).parent.parent
    ).stdout


def shipped_file(revision, shipped, name):
    """A file of a shipped checkpoint, as bytes. A revision is a commit and the folder of its checkpoints."""
    commit, folder = revision
    return git("show", f"{commit}:{folder}/{shipped}/{name}")


def spent(revision, shipped):
    """Generations and samples of the run that ended with a checkpoint, from its card."""
    card = json.loads(shipped_file(revision, shipped, "card.json"))
    return card["generation"], card["samples"]


def lay(folder, generation, samples, revision, shipped):
    """One checkpoint and what had been spent on it."""
    checkpoint = folder / "checkpoints" / f"{generation:06}"
    checkpoint.mkdir(parents=True)
    for name in ("card.json", "model.safetensors"):
        (checkpoint / name).write_bytes(shipped_file(revision, shipped, name))
    metrics = folder / "metrics" / f"{generation:06}.json"
    metrics.parent.mkdir(exist_ok=True)
    metrics.write_text(json.dumps({"generation": generation, "training": {"samples": samples}}))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=pathlib.Path, help="a folder that does not exist yet")
    folder = arguments.parse_args().folder
    if folder.exists():
        sys.exit(f"{folder}: exists already; expected a new folder")
    if git("rev-parse", "--is-shallow-repository").strip() == b"true":
        sys.exit("this clone is shallow; expected the whole history (git fetch --unshallow)")
    weights = "models/reference/copenhagen-22-hours/model.safetensors"
    words = git("log", "--follow", "--diff-filter=AM", "--format=%H", "--name-only", "--", weights).decode().split()
    revisions = [
        (commit, str(pathlib.PurePosixPath(path).parent.parent)) for commit, path in zip(words[::2], words[1::2])
    ][::-1]
    # What the first one began from: Brandubh's weights of that time.
    lay(folder, 0, 0, revisions[0], "brandubh")
    generation = samples = 0
    for revision in revisions:
        ended = [spent(revision, "copenhagen")]
        # The taught network, which counts no generations, learned from a larger network's run, shipped with it.
        if ended[0][0] == 0:
            ended.append(spent(revision, "copenhagen-large"))
        generation += sum(generations for generations, _ in ended)
        samples += sum(seen for _, seen in ended)
        lay(folder, generation, samples, revision, "copenhagen")
        subject = git("log", "-1", "--format=%s", revision[0]).decode().strip()
        print(f"{generation:06}  {samples / 1e6:5.2f} million samples  {subject}")


if __name__ == "__main__":
    main()
