"""Steps per second through Python: of many games on THREADS cores, then of environments on one core, ours and others':

    python measure.py [THREADS]

Everything is played by random legal moves, observations and masks included. Processor time is measured, so that a busy
machine counts for little; medians of 15, in the second table of 5. Needs the packages of python/tests/requirements.txt,
and pygame and chess for PettingZoo's chess.
"""

import os
import statistics
import sys
import time
from typing import Any, Callable

import gymnasium
import hnefi
import hnefi.gymnasium
import hnefi.open_spiel
import hnefi.pettingzoo
import numpy as np
import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]
from gymnasium.vector import AutoresetMode
from pettingzoo.classic import chess_v6  # type: ignore[import-untyped]

GAMES = 4096
threads = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1


def rate(work: Callable[[], int], repeats: int = 5, cores: int = 1) -> float:
    """Steps per second of wall time, were the cores free."""
    rates = []
    for _ in range(repeats):
        begin = time.process_time()
        steps = work()
        rates.append(steps * cores / (time.process_time() - begin))
    return statistics.median(rates)


def many(ruleset: str) -> list[float]:
    """Million plies per second of many games at once."""
    figures = []
    for copy in (True, False):
        env = hnefi.VectorEnv(ruleset, GAMES, seed=1, threads=threads, copy=copy)
        env.step_random(50)
        if copy:
            figures.append(rate(lambda: env.step_random(50).plies, 15, threads))
        figures.append(rate(lambda: len(env.step(env.random_actions()).rewards), 15, threads))
    figures.append(rate(lambda: len(env.step_packed(env.random_actions()).rewards), 15, threads))
    return figures


def vector(env: Any, legal: Callable[[Any], Any]) -> float:
    """Steps per second of one of Gymnasium's vector environments."""
    env.reset(seed=1)

    def work() -> int:
        for _ in range(10):
            env.step(legal(env))
        return 10 * int(env.num_envs)

    return rate(work)


def aec(env: Any) -> float:
    """Steps per second of one of PettingZoo's environments."""
    rng = np.random.default_rng(1)

    def work() -> int:
        env.reset(seed=1)
        for _ in env.agent_iter(2000):
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
            else:
                env.step(int(rng.choice(np.flatnonzero(seen["action_mask"]))))
        return 2000

    return rate(work)


def spiel(name: str) -> float:
    """Steps per second of one of OpenSpiel's games."""
    game, rng = pyspiel.load_game(name), np.random.default_rng(1)

    def work() -> int:
        state = game.new_initial_state()
        for _ in range(2000):
            if state.is_terminal():
                state = game.new_initial_state()
            player = state.current_player()
            np.array(state.observation_tensor(player), np.float32)
            np.array(state.legal_actions_mask(player), bool)
            state.apply_action(int(rng.choice(state.legal_actions())))
        return 2000

    return rate(work)


for ruleset in ("brandubh", "tablut", "copenhagen"):
    print(f"| `{ruleset}` | " + " | ".join(f"{figure / 1e6:.2f} million" for figure in many(ruleset)) + " |")

single = [lambda: hnefi.gymnasium.HnefataflEnv("brandubh")] * 64
rows = {
    "Gymnasium: our `HnefataflVectorEnv`, 4096 games": vector(
        hnefi.gymnasium.HnefataflVectorEnv(GAMES, "brandubh", threads=1), lambda env: env.games.random_actions()
    ),
    "Gymnasium: its `SyncVectorEnv` of 64 of our `HnefataflEnv`": vector(
        gymnasium.vector.SyncVectorEnv(single, autoreset_mode=AutoresetMode.SAME_STEP),
        lambda env: [np.random.choice(np.flatnonzero(mask)) for mask in env.call("action_masks")],
    ),
    "PettingZoo: our Brandubh": aec(hnefi.pettingzoo.raw_env("brandubh")),
    "PettingZoo: its chess": aec(chess_v6.raw_env()),
    "OpenSpiel: our Brandubh": spiel("python_hnefatafl"),
    "OpenSpiel: its Breakthrough on 8x8, in C++": spiel("breakthrough"),
}
for name, figure in rows.items():
    print(f"| {name} | {figure:,.0f} |")
