#!/usr/bin/env python3
"""How the games of a run grow with its workers.

Every worker pretends: instead of a network there is a pause of some milliseconds a batch, as if a distant accelerator
answered. So the processor has little to do, and the figures show the store, the trainer and the workers' overhead.

    cargo build --release
    scripts/measure_workers.py [--binary target/release/hnefi] [--workers 1 2 4] [--seconds 40] [--pretend-ms 10]

With --store URL the runs lie in a bucket, whose credentials are in the environment. With --server COMMAND --port PORT
the script starts that server too, and with --away SECONDS the last number of workers is measured once more while the
server is killed and started again after that time: over the outage and as long again behind it.

Prints a table in Markdown.
"""

import argparse
import json
import pathlib
import shlex
import socket
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

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Server:
    """The server of the bucket, if the script is to start it."""

    def __init__(self, command, port):
        self.words, self.port, self.process = shlex.split(command or ""), port, None
        self.start()

    def start(self):
        """Starts it and waits until it listens."""
        if not self.words:
            return
        self.process = subprocess.Popen(self.words, **QUIET)
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self.process.poll() is None, "the server ended"
                time.sleep(0.1)

    def kill(self):
        """Kills it, as a power cut would."""
        if self.process:
            self.process.kill()
            self.process.wait()


class Measured:
    """A run that is being measured, and the copy of its metrics."""

    def __init__(self, arguments, url, folder, workers):
        self.url, self.binary, self.copy = url, arguments.binary, pathlib.Path(folder) / "copy"
        if url.startswith("file:"):
            self.copy = pathlib.Path(url.removeprefix("file:"))
        changes = [word for setting in SETTINGS for word in ("--set", setting)]
        store = ["--store-timeout", "2"]
        train = [self.binary, "train", "--store", url, "--no-selfplay", "--no-table", *changes, *store]
        worker = [self.binary, "worker", url, "--wait", "--threads", "1", "--bring-seconds", "2", *store]
        worker += ["--pretend-ms", str(arguments.pretend_ms)]
        self.processes = [subprocess.Popen(train, **QUIET)]
        self.processes += [subprocess.Popen(worker, **QUIET) for _ in range(workers)]

    def recorded(self):
        """Games in complete generations, plies of them, and when the last one was seen complete."""
        assert self.processes[0].poll() is None, "the trainer ended"
        if not self.url.startswith("file:"):
            soon = ["--store-timeout", "1", "--store-patience", "1"]
            fetch = [self.binary, "fetch", self.url, "--run", self.copy, *soon]
            subprocess.run(fetch, **QUIET, check=False)
        games = plies = when = 0
        for path in sorted((self.copy / "metrics").glob("*.json")):
            try:
                metrics = json.loads(path.read_text())["selfplay"]
            except (json.JSONDecodeError, FileNotFoundError):
                continue
            games += metrics["games"]
            plies += metrics["training_plies"]
            when = path.stat().st_mtime
        return games, plies, when

    def watch(self, seconds):
        """Looks every second for so long; returns what was recorded last."""
        until = time.monotonic() + seconds
        found = self.recorded()
        while time.monotonic() < until:
            time.sleep(1)
            found = self.recorded()
        return found

    def stop(self):
        """Kills everybody."""
        for process in self.processes:
            process.kill()
            process.wait()


def measure(arguments, workers, server, away=0):
    """Games and training plies a second of `workers` workers."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"{arguments.store}/{workers}-{int(time.time())}" if arguments.store else f"file:{folder}/run"
        run = Measured(arguments, url, folder, workers)
        try:
            while run.recorded()[0] == 0:
                time.sleep(0.2)
            # The first games to end are the short ones.
            before = run.watch(arguments.seconds / 2)
            if away:
                server.kill()
                time.sleep(away)
                server.start()
            after = run.watch(away or arguments.seconds)
        finally:
            run.stop()
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
    parser.add_argument("--store", help="a bucket and a prefix; without, a directory")
    parser.add_argument("--server", help="a command that serves it")
    parser.add_argument("--port", type=int, help="where the server listens")
    parser.add_argument("--away", type=float, default=0, help="seconds without the server")
    arguments = parser.parse_args()
    server = Server(arguments.server, arguments.port)
    try:
        rates = {str(workers): measure(arguments, workers, server) for workers in arguments.workers}
        if arguments.away:
            last = arguments.workers[-1]
            rates[f"{last}, server away for {arguments.away:.0f} s"] = measure(arguments, last, server, arguments.away)
    finally:
        server.kill()
    one = rates[str(arguments.workers[0])][1] / arguments.workers[0]
    print("| workers | games/s | training plies/s | times one worker |")
    print("|---|---|---|---|")
    for workers, (games, plies) in rates.items():
        print(f"| {workers} | {games:.1f} | {plies:.0f} | {plies / one:.2f} |")


if __name__ == "__main__":
    main()
