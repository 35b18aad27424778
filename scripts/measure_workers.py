#!/usr/bin/env python3
"""How the games of a run grow with its workers.

Every worker pretends: instead of a network there is a pause of some milliseconds a batch, as if a distant accelerator
answered. So the processor has little to do, and the figures show the store, the trainer and the workers' overhead.

    cargo build --release
    scripts/measure_workers.py [--binary target/release/hnefi] [--workers 1 2 4] [--seconds 40] [--pretend-ms 10]

Prints a table in Markdown.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

SETTINGS = [
    "ladder.every=0",
    "budget.generations=100000",
    "budget.minutes=0",
    "budget.playouts=[16]",
    "train.plies_per_generation=1000",
    "train.reuse=0.5",
    "selfplay.games_in_flight=32",
    "network.blocks=1",
    "network.channels=16",
]


def recorded(run):
    """Games recorded in complete generations, plies of them, and when the last one was complete."""
    games = plies = when = 0
    for path in sorted((run / "metrics").glob("*.json")):
        try:
            metrics = json.loads(path.read_text())["selfplay"]
        except (json.JSONDecodeError, FileNotFoundError):
            continue
        games += metrics["games"]
        plies += metrics["training_plies"]
        when = path.stat().st_mtime
    return games, plies, when


def measure(arguments, workers):
    """Games and training plies a second of so many workers."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        changes = [word for setting in SETTINGS for word in ("--set", setting)]
        train = [arguments.binary, "train", "--store", f"file:{run}", "--no-selfplay", "--no-table", *changes]
        worker = [arguments.binary, "worker", f"file:{run}", "--wait", "--threads", "1", "--bring-seconds", "2"]
        worker += ["--pretend-ms", str(arguments.pretend_ms)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes = [subprocess.Popen(train, **quiet)]
        processes += [subprocess.Popen(worker, **quiet) for _ in range(workers)]
        try:
            while recorded(run)[0] == 0:
                assert processes[0].poll() is None, "the trainer ended"
                time.sleep(0.2)
            # The first games to end are the short ones.
            time.sleep(arguments.seconds / 2)
            before = recorded(run)
            time.sleep(arguments.seconds)
            after = recorded(run)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        seconds = after[2] - before[2]
        assert seconds > 0, "no generation was complete in that time: expected a longer one, by --seconds"
        return (after[0] - before[0]) / seconds, (after[1] - before[1]) / seconds


def main():
    """Measures every number of workers and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/hnefi")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--pretend-ms", type=int, default=10)
    arguments = parser.parse_args()
    rates = {workers: measure(arguments, workers) for workers in arguments.workers}
    one = rates[arguments.workers[0]][1] / arguments.workers[0]
    print("| workers | games/s | training plies/s | of so many times one worker |")
    print("|---|---|---|---|")
    for workers, (games, plies) in rates.items():
        print(f"| {workers} | {games:.1f} | {plies:.0f} | {plies / one:.2f} |")


if __name__ == "__main__":
    main()
