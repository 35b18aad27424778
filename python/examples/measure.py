"""Plies per second of random play through Python, medians of 15: python measure.py [THREADS]"""

import statistics
import sys
import time
from typing import Callable

import hnefi

GAMES = 4096
threads = int(sys.argv[1]) if len(sys.argv) > 1 else None


def rate(work: Callable[[], object], plies: int) -> float:
    """Million plies per second."""
    rates = []
    for _ in range(15):
        begin = time.perf_counter()
        work()
        rates.append(plies / (time.perf_counter() - begin) / 1e6)
    return statistics.median(rates)


for ruleset in ("brandubh", "tablut", "copenhagen"):
    figures = []
    for copy in (True, False):
        env = hnefi.VectorEnv(ruleset, GAMES, seed=1, threads=threads, copy=copy)
        env.step_random(50)
        if copy:
            figures.append(rate(lambda: env.step_random(50), GAMES * 50))
        figures.append(rate(lambda: env.step(env.random_actions()), GAMES))
    figures.append(rate(lambda: env.step_packed(env.random_actions()), GAMES))
    print(f"| `{ruleset}` | " + " | ".join(f"{figure:.2f} million" for figure in figures) + " |")
