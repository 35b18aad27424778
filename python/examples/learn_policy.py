"""A linear policy learned from recorded games; the last fifth is kept for testing. All games are of one board size.

python learn_policy.py GAMES.hgames
"""

import sys

import hnefi
import numpy as np
from numpy.typing import NDArray

games = [game.arrays() for game in hnefi.read_games(sys.argv[1])]
planes, masks, actions = (np.concatenate([game[key] for game in games]) for key in ("planes", "masks", "actions"))
train = sum(len(game["actions"]) for game in games[: len(games) * 4 // 5])
inputs = planes.reshape(len(planes), -1)
weights = np.zeros((inputs.shape[1], masks.shape[1]), np.float32)


def policy(rows: slice) -> NDArray[np.float32]:
    """[rows, A]: chances of the moves, 0 for illegal ones."""
    chances = masks[rows] * np.exp(inputs[rows] @ weights)
    return np.asarray(chances / chances.sum(1, keepdims=True))


def loss(rows: slice) -> float:
    """Cross entropy of the moves played, in nats."""
    return float(-np.log(policy(rows)[np.arange(len(actions[rows])), actions[rows]]).mean())


before = loss(slice(train, None))
for _ in range(25):
    error = policy(slice(train))
    error[np.arange(train), actions[:train]] -= 1
    weights -= 0.5 * inputs[:train].T @ error / train
print(f"{train} positions; cross entropy on {len(actions) - train} others: {before:.3f} before")
print(f"{loss(slice(train, None)):.3f} after")
