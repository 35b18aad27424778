#!/usr/bin/env python3
"""Everything at once for an hour, with kills: does anything grow, get lost or get stuck?

    cargo build --release
    scripts/soak.py [--minutes 60] [--players 50] [--seed 1] [--patience 1] [--out FOLDER] [--binary HNEFI]

- A run in a directory: a trainer that plays nothing itself, and three workers. Two of the workers are killed (SIGKILL)
  at random moments and replaced, and in the first three fifths of the time the trainer too.
- A board in the browser's protocol (HTTP, and a stream of events per page) with 50 players: four in five play games
  against networks, the run's newest among them, ask for hints, take back, reload their page, and sometimes walk away;
  one in five looks through games of the run with the analysis on. At the end of some games a review.
- The training page of the run, which somebody watches all the time.

Prints a table and every violation; the exit status is 1 if there is one. What must hold:

- Nobody ends who was not killed, and no request is refused or fails.
- Memory is flat: a process's median over the last quarter of its life is at most 1.1 times its median over the second
  quarter and 16 MiB more. Of the trainer that is its last life. Below ten minutes memory is shown and not judged.
- No room is stuck: a request is answered in 30 s, a move or a hint comes in 60 s, the first word of an analysis in
  120 s, and the next position of a review in 120 s.
- The training page tells every generation, in order, within 30 s of its metrics.
- No game is recorded twice, `hnefi check` finds the run whole, and no game is lost: every upload is kept aside, and at
  the end a trainer is given all of them once more and finds no game that was not recorded.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback

# Seconds within which things must happen; --patience multiplies them.
BOUNDS = {
    "request": 30,
    "page": 30,
    "move": 60,
    "hint": 60,
    "first word of an analysis": 120,
    "position of a review": 120,
    "generation told": 30,
    "end": 120,
}

# Memory: how much may be added, by factor and in MiB, and the shortest soak in which that is judged.
GROWTH, SLACK, JUDGED = 1.1, 16, 600

# Seeds of workers are above; the trainer's is the configuration's.
FIRST_WORKER = 1000

# A run of many short generations, whose replay window is full after a few of them.
SETTINGS = [
    "ladder.every=0",
    "budget.minutes=0",
    "budget.generations=100000",
    "budget.playouts=[16]",
    "network.blocks=2",
    "network.channels=16",
    "selfplay.games_in_flight=32",
    "train.plies_per_generation=2000",
    "train.window_base=8000",
    "train.reuse=0.5",
]


class Notes:
    """What was seen, by all threads."""

    def __init__(self):
        self.lock, self.violations = threading.Lock(), []
        self.times, self.counts = collections.defaultdict(list), collections.Counter()

    def violation(self, text):
        """Something that must not be."""
        with self.lock:
            self.violations.append(f"{time.strftime('%H:%M:%S')} {text}")
            print(f"violation: {self.violations[-1]}", file=sys.stderr, flush=True)

    def took(self, what, seconds):
        """So long it took; longer than the bound is a violation."""
        with self.lock:
            self.times[what].append(seconds)
        if seconds > BOUNDS[what]:
            self.violation(f"{what}: {seconds:.1f} s; expected at most {BOUNDS[what]:g} s")

    def count(self, what):
        """Once more."""
        with self.lock:
            self.counts[what] += 1


class Program:
    """A process of the program, its log and its memory."""

    # All that were ever started.
    started = []

    def __init__(self, soak, name, *words):
        self.soak, self.name, self.memory = soak, name, []
        self.log = soak.folder / f"{name}.log"
        with self.log.open("a") as log:
            place = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": log}
            self.process = subprocess.Popen([soak.binary, *map(str, words)], text=True, **place)
        self.started.append(self)

    def said(self, pattern):
        """What the first line of its output says that is of this form."""
        for line in self.process.stdout:
            if found := re.search(pattern, line):
                return found[1]
        raise AssertionError(f"{self.name} ended without {pattern!r}: {self.end()}")

    def end(self):
        """The end of its log."""
        return self.log.read_text()[-800:]

    def look(self):
        """Notes its memory, in MiB, and whether it still runs."""
        if self.process.poll() is not None:
            self.soak.notes.violation(f"{self.name} ended with {self.process.returncode}: {self.end()}")
            return False
        shown = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, text=True)
        if shown.stdout.strip():
            self.memory.append(int(shown.stdout) / 1024)
        return True

    def kill(self):
        """As a power cut does."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """As a machine that shuts down does."""
        self.process.terminate()
        try:
            self.process.wait(BOUNDS["end"])
        except subprocess.TimeoutExpired:
            self.kill()
            self.soak.notes.violation(f"{self.name} did not end within {BOUNDS['end']:g} s: {self.end()}")
        # Who is interrupted says so by its exit status, or ends well.
        if self.process.returncode not in (0, 130, -signal.SIGTERM, -signal.SIGKILL):
            self.soak.notes.violation(f"{self.name} ended with {self.process.returncode}: {self.end()}")

    def flat(self):
        """The medians of its memory over the second and the last quarter of its life, and whether that is flat."""
        quarter = max(1, len(self.memory) // 4)
        before = statistics.median(self.memory[quarter : 2 * quarter] or self.memory)
        after = statistics.median(self.memory[-quarter:])
        return before, after, after <= GROWTH * before + SLACK


class Training:
    """The trainer and the workers, and who kills them."""

    def __init__(self, soak):
        self.soak, self.rng, self.run = soak, random.Random(soak.seed), soak.folder / "run"
        self.seed, self.workers, self.due, self.aside = FIRST_WORKER, {}, {}, soak.folder / "aside"
        threading.Thread(target=self.keep, daemon=True).start()
        self.trainer = self.train("--no-selfplay")
        # The first worker lives as long as the soak.
        for place in range(3):
            self.work(place)
        self.trainer_due = self.later(0.015, 0.06)

    def later(self, low, high):
        """A moment after so much of the soak's time, and not before five seconds."""
        return time.monotonic() + max(5, self.rng.uniform(low, high) * self.soak.seconds)

    def train(self, *more):
        """A trainer."""
        changes = [word for setting in SETTINGS for word in ("--set", setting)]
        return Program(self.soak, "trainer", "train", "--store", f"file:{self.run}", "--no-table", *changes, *more)

    def work(self, place):
        """A new worker with a seed of its own."""
        self.seed += 1
        words = ("worker", f"file:{self.run}", "--wait", "--threads", 1, "--upload-seconds", 5, "--seed", self.seed)
        name = f"worker-{self.seed}"
        self.workers[place] = (self.seed, Program(self.soak, name, *words))
        self.due[place] = self.later(0.01, 0.04) if place else float("inf")

    def look(self):
        """Kills whoever is due, and replaces whoever is gone."""
        now = time.monotonic()
        for place, (_, program) in list(self.workers.items()):
            if not program.look() or now > self.due[place]:
                program.kill()
                self.soak.notes.count("workers killed")
                self.work(place)
        alive = self.trainer.look()
        if not alive or now > self.trainer_due and now < self.soak.began + 0.6 * self.soak.seconds:
            self.trainer.kill()
            self.soak.notes.count("trainers killed")
            self.trainer = self.train("--no-selfplay")
            self.trainer_due = self.later(0.015, 0.06)

    def settle(self):
        """Ends everybody, and looks for games that are lost or recorded twice."""
        for _, program in self.workers.values():
            program.stop()
        self.trainer.stop()
        recorded = self.take_in()
        if twice := [game for game, count in recorded.items() if count > 1]:
            self.soak.notes.violation(f"{len(twice)} games are recorded twice: {twice[:9]}")
        checked = subprocess.run([self.soak.binary, "check", self.run], capture_output=True, text=True)
        if checked.returncode != 0:
            self.soak.notes.violation(f"hnefi check: {checked.stdout}{checked.stderr}")
        # All uploads that ever were come once more: what was lost appears. (A trainer knows the games of the latest
        # two generations again, and no upload comes back later than that.)
        for upload in self.aside.iterdir():
            os.link(upload, self.run / "uploads" / upload.name)
        uploads = sum(1 for _ in self.waiting())
        lost = sorted(set(self.take_in()) - set(recorded))
        if lost:
            self.soak.notes.violation(f"{len(lost)} games were uploaded and lost: {lost[:9]}")
        return uploads, sum(recorded.values()), len(lost)

    def take_in(self):
        """Lets a trainer take in what waits; the games of workers that are recorded then, by seed and number."""
        trainer, until = self.train(), time.monotonic() + 900
        while any(self.waiting()):
            if trainer.process.poll() is not None or time.monotonic() > until:
                left = sum(1 for _ in self.waiting())
                self.soak.notes.violation(f"{left} uploads were not taken in: {trainer.end()}")
                break
            time.sleep(0.5)
        trainer.kill()
        games = self.soak.folder / "games.jsonl"
        games.unlink(missing_ok=True)
        words = [self.soak.binary, "export", self.run, "--format", "jsonl", "--out", games]
        subprocess.run(words, check=True, capture_output=True)
        with games.open() as lines:
            recorded = collections.Counter((game["seed"], game["game"]) for game in map(json.loads, lines))
        return collections.Counter({name: count for name, count in recorded.items() if name[0] > FIRST_WORKER})

    def keep(self):
        """Keeps every upload under a second name."""
        self.aside.mkdir()
        while True:
            for upload in self.waiting():
                with contextlib.suppress(FileExistsError, FileNotFoundError):
                    os.link(upload, self.aside / upload.name)
            time.sleep(0.02)

    def waiting(self):
        """Uploads that no generation has taken in."""
        return (self.run / "uploads").glob("*.hupload")


class Stream:
    """A stream of events, as a page reads it."""

    def __init__(self, page, path):
        # A quiet stream says every 15 s that it is there.
        self.connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=2 * BOUNDS["request"])
        self.connection.request("GET", path)
        self.answer = self.connection.getresponse()
        if self.answer.status != 200:
            raise AssertionError(f"GET {path}: {self.answer.status} {self.answer.read()[:300]}")

    def next(self, until=float("inf")):
        """The next event before a moment: its name and its data."""
        name, data = None, None
        while time.monotonic() < until:
            line = self.answer.readline().decode().rstrip("\r\n")
            if line.startswith("event:"):
                name = line[6:].strip()
            elif line.startswith("data:"):
                data = json.loads(line[5:])
            elif not line and name:
                return name, data
            elif not line and self.answer.isclosed():
                raise AssertionError("the stream ended")
        return None, None

    def wait(self, notes, what, wished):
        """The data of the first event that is as wished; how long that takes is noted."""
        began = time.monotonic()
        while True:
            name, data = self.next(began + BOUNDS[what])
            if name is None:
                raise AssertionError(f"no {what} within {BOUNDS[what]:g} s")
            if wished(name, data):
                notes.took(what, time.monotonic() - began)
                return data

    def close(self):
        """As a tab that is closed."""
        self.connection.close()


class Page:
    """Asks a server."""

    def __init__(self, port, notes):
        self.port, self.notes = port, notes

    def ask(self, method, path, body=None):
        """The answer, which must be a good one."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2 * BOUNDS["request"])
        headers = {"Content-Type": "application/json", "Connection": "close"}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        self.notes.took("request", time.monotonic() - began)
        if answer.status != 200:
            raise AssertionError(f"{method} {path} {body}: {answer.status} {text[:300]}")
        return json.loads(text) if answer.headers.get_content_type() == "application/json" else text

    def get(self, path):
        """Asks for something."""
        return self.ask("GET", path)

    def post(self, path, body=None):
        """Asks to do something."""
        return self.ask("POST", path, body if body is not None else {})


class Player(threading.Thread):
    """One person at the board."""

    def __init__(self, soak, number):
        super().__init__(daemon=True)
        self.soak, self.notes, self.number = soak, soak.notes, number
        self.rng, self.page = random.Random(soak.seed * 1000 + number), Page(soak.board_port, soak.notes)
        self.stream, self.game = None, None

    def run(self):
        visit = self.analyse if self.number % 5 == 4 else self.play
        while not self.soak.over():
            try:
                visit()
            except Exception:
                if not self.soak.over():
                    self.notes.violation(f"player {self.number}, {self.game}: {traceback.format_exc(limit=4)}")
                time.sleep(1)
            self.leave()

    def pause(self, most):
        """Looks at the board."""
        self.soak.ended.wait(self.rng.uniform(0.1, most))

    def leave(self):
        """Closes the page, and the room too, but for some who just walk away."""
        if self.stream:
            self.stream.close()
        if self.game and not self.soak.may_abandon():
            try:
                self.page.ask("DELETE", f"/api/games/{self.game}")
            except Exception:
                self.notes.violation(f"player {self.number} closes {self.game}: {traceback.format_exc(limit=4)}")
        self.stream = self.game = None

    def sit(self, state):
        """Opens the page of a room."""
        self.notes.count("rooms")
        self.game = state["id"]
        self.stream = Stream(self.page, f"/api/games/{self.game}/events")
        return state

    def do(self, what, body=None):
        """Does something with the game; its state afterwards."""
        return self.page.post(f"/api/games/{self.game}/{what}", body)

    def wait(self, what, wished):
        """Waits for a state of the game."""
        return self.stream.wait(self.notes, what, lambda name, data: name == "state" and wished(data))

    def play(self):
        """A game against somebody."""
        rng = self.rng
        rules = rng.choice(["brandubh"] * 5 + ["copenhagen", "tablut", "fetlar"])
        players = {"brandubh": ["model:shipped/brandubh", "model:run/0", "alphabeta:2"], "tablut": ["alphabeta:2"]}
        player = rng.choice(players.get(rules, ["model:shipped/copenhagen"]))
        strength = rng.choice([{"level": rng.randint(1, 7)}, {"playouts": rng.randint(1, 200)}, {"seconds": 0.3}])
        seats = [{"player": player, "strength": strength if player.startswith("model") else None}, {}]
        rng.shuffle(seats)
        # Sometimes two people at one board.
        asked = {"rules": rules, "attackers": seats[0] if rng.random() < 0.9 else {}, "defenders": seats[1]}
        timed = rng.random() < 0.2
        if timed:
            asked["clock"] = {"seconds": 3600, "increment": 5}
        state = self.sit(self.page.post("/api/games", asked))
        moves = rng.randint(5, 40)
        while not self.soak.over():
            if state["problem"]:
                raise AssertionError(state["problem"])
            if state["ending"]:
                break
            if not state["your_turn"]:
                state = self.wait("move", lambda found, last=state: self.moved(found, last))
                continue
            self.pause(2)
            if moves == 0:
                state = self.do("resign") if state["can"]["resign"] else state
                break
            moves -= 1
            chance = rng.random()
            if chance < 0.05 and state["can"]["hint"]:
                state = self.do("hint")
                if not state["hint"]:
                    state = self.wait("hint", lambda found: found["hint"])
            elif chance < 0.1 and state["can"]["undo"] and not timed:
                self.do("undo")
                state = self.do("redo")
            elif chance < 0.15:
                state = self.reload(state)
            elif chance < 0.17:
                state = self.come_back(state)
            start, ends = rng.choice(sorted(state["moves"].items()))
            state = self.do("move", {"move": start + rng.choice(ends), "stamp": state["stamp"]})
        self.notes.count("games")
        self.page.get(f"/api/games/{self.game}/export?format={rng.choice(['pgn', 'jsonl'])}")
        if rng.random() < 0.1 and rules == "brandubh" and state["ending"]:
            self.review(self.do("review", {"on": True}))

    def review(self, state):
        """Waits until every position of the game is judged."""
        while state["review"]["done"] < state["review"]["total"] and not self.soak.over():
            done = state["review"]["done"]
            further = lambda found, done=done: found["review"] and found["review"]["done"] > done  # noqa: E731
            state = self.wait("position of a review", further)

    @staticmethod
    def moved(found, last):
        """Whether something came of the opponent's thinking."""
        done = found["your_turn"] or found["ending"] or found["problem"]
        return found["count"] >= last["count"] and done

    def reload(self, state):
        """The page is loaded anew, and shows what was there."""
        self.stream.close()
        self.stream = Stream(self.page, f"/api/games/{self.game}/events")
        found = self.wait("page", lambda _: True)
        if found["board"] != state["board"] or found["ply"] != state["ply"]:
            raise AssertionError(f"after loading the page: {found['fen']}; before: {state['fen']}")
        return found

    def come_back(self, state):
        """The game is kept by the page and opened in another room."""
        kept = self.page.get(f"/api/games/{self.game}/kept")
        self.stream.close()
        self.page.ask("DELETE", f"/api/games/{self.game}")
        found = self.sit(self.page.post("/api/games/open", {"kept": kept}))
        if found["board"] != state["board"] or not found["your_turn"]:
            raise AssertionError(f"after coming back: {found['fen']}; before: {state['fen']}")
        return found

    def analyse(self):
        """Looks through a game of the run with the analysis on."""
        found = self.page.get("/api/runs/0")["generations"]
        if not found:
            self.pause(5)
            return
        generation = self.rng.choice(found)
        listed = self.page.get(f"/api/runs/0/games?generation={generation}")["list"]["games"]
        index = self.rng.choice(listed)["index"]
        opened = {"run": {"run": 0, "generation": generation, "index": index}}
        state = self.sit(self.page.post("/api/games/open", opened))
        self.do("analysis", {"on": True, "player": self.rng.choice(["model:run/0", "model:shipped/brandubh"])})
        for _ in range(self.rng.randint(1, 6)):
            others = [ply for ply in range(state["plies"] + 1) if ply != state["ply"]]
            state = self.do("go", {"ply": self.rng.choice(others)})
            if state["ending"]:
                continue
            stamp = state["stamp"]
            self.stream.wait(
                self.notes,
                "first word of an analysis",
                lambda name, data, stamp=stamp: name == "search" and data["stamp"] == stamp,
            )
            self.pause(15)
        self.notes.count("games looked through")


class Watcher(threading.Thread):
    """Somebody who watches the training page."""

    def __init__(self, soak):
        super().__init__(daemon=True)
        self.soak, self.page = soak, Page(soak.watch_port, soak.notes)

    def run(self):
        threading.Thread(target=self.guarded, args=(self.listen,), daemon=True).start()
        self.guarded(self.poll)

    def guarded(self, work):
        """Works until it is over; whatever goes wrong is noted."""
        while not self.soak.over():
            try:
                work()
            except Exception:
                if not self.soak.over():
                    self.soak.notes.violation(f"the watcher: {traceback.format_exc(limit=4)}")
                time.sleep(1)

    def poll(self):
        """Loads the page and what it asks for."""
        self.page.get("/watch")
        generations = self.page.get("/api/runs/0")["generations"]
        if generations:
            self.page.get(f"/api/runs/0/games?generation={random.choice(generations)}")
        self.soak.ended.wait(1)

    def listen(self):
        """Hears of every generation, in order and in time."""
        stream, heard, began = Stream(self.page, "/api/watch/events"), 0, time.time()
        while not self.soak.over():
            name, data = stream.next()
            if name != "rows":
                continue
            for row in data["rows"]:
                generation = row["generation"]
                if generation <= heard:
                    raise AssertionError(f"generation {generation} was told after {heard}")
                heard = generation
                there = (self.soak.training.run / f"metrics/{generation:06}.json").stat().st_mtime
                if there > began:
                    self.soak.notes.took("generation told", time.time() - there)


class Soak:
    """Everything."""

    def __init__(self, arguments, folder):
        self.binary, self.folder, self.seed = pathlib.Path(arguments.binary).resolve(), folder, arguments.seed
        self.seconds, self.notes, self.ended = 60 * arguments.minutes, Notes(), threading.Event()
        self.began, self.abandoned = time.monotonic(), time.monotonic()
        self.training = Training(self)
        while not any((self.training.run / "metrics").glob("*.json")):
            assert self.training.trainer.process.poll() is None, self.training.trainer.end()
            time.sleep(0.2)
        run = self.training.run
        self.board = Program(self, "board", "play", "--web", "--listen", 0, "--run", run)
        self.board_port = int(self.board.said(r"127\.0\.0\.1:(\d+)"))
        self.watch = Program(self, "watch", "watch", run, "--web", "--listen", 0)
        self.watch_port = int(self.watch.said(r"127\.0\.0\.1:(\d+)"))
        self.began = time.monotonic()
        self.people = [Player(self, number) for number in range(arguments.players)] + [Watcher(self)]

    def over(self):
        """Whether it is time to go home."""
        return self.ended.is_set()

    def may_abandon(self):
        """Whether somebody may leave a room open: one in a minute, since rooms are kept for five and there are few."""
        with self.notes.lock:
            may = time.monotonic() - self.abandoned > 60
            if may:
                self.abandoned = time.monotonic()
            return may

    def run(self):
        """The hour, and what came of it."""
        for person in self.people:
            person.start()
        while time.monotonic() < self.began + self.seconds:
            for program in (self.board, self.watch):
                if not program.look():
                    self.seconds = 0
            self.training.look()
            time.sleep(min(5, self.seconds / 60 + 0.1))
        self.ended.set()
        for person in self.people:
            person.join(2 * max(BOUNDS.values()))
            if person.is_alive():
                self.notes.violation(f"{person.name} is stuck")
        lived = [
            ("worker that was not killed", self.training.workers[0][1]),
            ("trainer, last life", self.training.trainer),
        ]
        processes = [("board", self.board), ("training page", self.watch), *lived]
        for program in (self.board, self.watch):
            program.stop()
        self.print(processes, *self.training.settle())

    def print(self, processes, uploads, recorded, lost):
        """The table."""
        notes = self.notes
        print("| what | count | usual | worst | bound |")
        print("|---|---|---|---|---|")
        for name, program in processes:
            (before, after, flat), judged = program.flat(), self.seconds >= JUDGED
            if not flat and judged:
                notes.violation(f"{name}: {before:.0f} MiB in the second quarter, {after:.0f} MiB in the last")
            bound = f"{GROWTH * before + SLACK:.0f}" if judged else "-"
            print(f"| {name}: MiB, quarters 2 and 4 | {len(program.memory)} | {before:.0f} | {after:.0f} | {bound} |")
        for what, seconds in sorted(notes.times.items()):
            usual, worst, bound = statistics.median(seconds), max(seconds), BOUNDS[what]
            print(f"| {what}: s | {len(seconds)} | {usual:.2f} | {worst:.1f} | {bound:g} |")
        for what, count in sorted(notes.counts.items()):
            print(f"| {what} | {count} | - | - | - |")
        print(f"| uploads, games of workers, lost ones | {uploads} | {recorded} | {lost} | 0 |")
        print(f"| violations | {len(notes.violations)} | - | - | 0 |")
        for text in notes.violations[:20]:
            print(text)


def main():
    """Soaks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.environ.get("CARGO_TARGET_DIR", "target") + "/release/hnefi")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--players", type=int, default=50, help="at most 56: a board has 64 rooms")
    parser.add_argument("--out", type=pathlib.Path, help="an empty or new folder for the run and the logs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=1, help="times the bounds, where others use the processors")
    arguments = parser.parse_args()
    for what in BOUNDS:
        BOUNDS[what] *= arguments.patience
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.out or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        assert not any(folder.iterdir()), f"{folder}: not empty; expected an empty or new folder"
        try:
            soak = Soak(arguments, folder.resolve())
            soak.run()
        finally:
            for program in Program.started:
                program.kill()
    sys.exit(1 if soak.notes.violations else 0)


if __name__ == "__main__":
    main()
