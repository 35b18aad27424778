"""A trainer of one's own in our loop: the tasks of ``hnefi train --trainer COMMAND``, and the answers.

::

    for task in hnefi.training.tasks():
        network = hnefi.torch.load_checkpoint(task.checkpoint)
        for step, rate, samples in task.batches():
            ...
        task.finish(network.tensors(), {"total": mean})

docs/TRAINER.md says what a task holds.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Optional, TextIO

from . import GameRecord, Sampler, Samples, read_games, save_checkpoint


class Task:
    """The steps of a generation."""

    def __init__(self, told: Mapping[str, Any], games: list[GameRecord], answers: TextIO) -> None:
        self.generation: int = told["generation"]
        """Number of the checkpoint that is to be made, from 1."""
        self.checkpoint = Path(told["checkpoint"])
        """The folder to go on from: of the task before, at first of random weights or the run's origin."""
        self.state = Path(told["state"]) if told["state"] else None
        """What `finish` saved beside the checkpoint in an earlier process, in the first task of this one."""
        self.games = games
        """The replay window."""
        self.output = Path(told["output"])
        """Where weights and state go: `finish` does that."""
        self.state_file = self.output / "trainer.state"
        """A file for what training goes on from, such as the optimiser's moments; write it before `finish`."""
        self.first_step: int = told["first_step"]
        """Steps taken in the generations before."""
        self.rates: list[float] = told["rates"]
        """Our learning rate for each step."""
        self.train: dict[str, Any] = told["train"]
        """The section [train] of the configuration."""
        self._answers = answers
        value_lambda, fade = told["value_lambda"], told["value_fade"]
        self.sampler = Sampler(games, told["seed"], value_lambda=value_lambda, value_fade=fade)
        """Draws from the window as our learner does."""

    def batches(self) -> Iterator[tuple[int, float, Samples]]:
        """For each step its number, our learning rate and the batch that our learner would take; the next batch is made
        meanwhile."""
        rows = self.train["batch"]
        with ThreadPoolExecutor(1) as pool:
            drawn = pool.submit(self.sampler.batch, self.first_step, rows)
            for step, rate in enumerate(self.rates, self.first_step):
                samples = drawn.result()
                if step + 1 < self.first_step + len(self.rates):
                    drawn = pool.submit(self.sampler.batch, step + 1, rows)
                yield step, rate, samples

    def progress(self, steps: int, losses: Mapping[str, float]) -> None:
        """Shows how many steps of this task are taken, with their mean losses."""
        self._say({"step": int(steps), "losses": {name: float(loss) for name, loss in losses.items()}})

    def finish(self, tensors: Mapping[str, Any], losses: Mapping[str, float], samples: Optional[int] = None) -> None:
        """Hands in the weights that are to play, by the names of docs/NETWORK.md, and the mean losses: "total",
        "policy", "value", "moves_left" and "occupancy", as far as they are known. `samples`: how many were trained on,
        None for a batch a step."""
        means = {name: float(loss) for name, loss in losses.items()}
        count = None if samples is None else int(samples)
        card = json.loads((self.checkpoint / "card.json").read_text())
        made = self.output / "checkpoint"
        save_checkpoint(made, dict(tensors), {"network": card["network"]})
        (made / "model.safetensors").rename(self.output / "model.safetensors")
        answer = {"step": len(self.rates), "losses": means, "finished": True, "samples": count}
        self._say(answer)

    def _say(self, answer: Mapping[str, Any]) -> None:
        self._answers.write(json.dumps(answer) + "\n")
        self._answers.flush()


def tasks() -> Iterator[Task]:
    """The tasks that this process is given, until there are no more. What it, its libraries and its child processes
    print goes to standard error from here on: the answers have the standard output."""
    answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    os.dup2(2, 1)
    known: dict[str, list[GameRecord]] = {}
    for line in sys.stdin:
        if line.strip() == "quit":
            return
        told = json.loads(line)
        known = {path: known[path] if path in known else list(read_games(path)) for path in told["games"]}
        yield Task(told, [game for games in known.values() for game in games], answers)
