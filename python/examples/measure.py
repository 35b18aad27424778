"""Million plies per second of random play through Python on THREADS free cores: python measure.py [THREADS]

Processor time is measured, so that a busy machine counts for little; medians of 15.
"""

import os
import statistics
import sys
import time
from typing import Callable

import hnefi

GAMES = 4096
threads = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1


def rate(work: Callable[[], object], plies: int) -> float:
    """Million plies per second."""
    rates = []
    for _ in range(15):
        begin = time.process_time()
        work()
        rates.append(plies * threads / (time.process_time() - begin) / 1e6)
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
