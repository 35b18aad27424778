"""A linear policy learned from an exported dataset, beside two baselines. It needs NumPy alone.

hnefi match alphabeta:1 alphabeta:1 --games 400 --save games.hgames
hnefi export games.hgames --format npz --split train=0.8,test=0.2 --disjoint --out dataset
python learn_from_dataset.py dataset
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def load(split: str) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int32]]:
    """What the network sees [P, inputs], the legal moves [P, A] and the moves played [P] of one split."""
    inputs, masks, played = [], [], []
    for path in sorted(Path(sys.argv[1], split).glob("positions-7x7-*.npz")):
        data = np.load(path)
        rows = len(data["played"])
        inputs.append(np.concatenate([data["planes"].reshape(rows, -1), data["globals"]], axis=1, dtype=np.float32))
        mask = np.zeros((rows, 24 * 7 * 7), bool)
        mask[np.repeat(np.arange(rows), np.diff(data["legal_offset"])), data["legal_index"]] = True
        masks.append(mask)
        played.append(data["played"])
    return np.concatenate(inputs), np.concatenate(masks), np.concatenate(played)


def best(scores: Floats, masks: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The legal move with the highest score."""
    choices: NDArray[np.intp] = np.where(masks, scores, -np.inf).argmax(axis=1)
    return choices


inputs, masks, played = load("train")
test_inputs, test_masks, test_played = load("test")
weights = np.zeros((inputs.shape[1], masks.shape[1]), np.float32)
rng = np.random.default_rng(1)
for epoch in range(6):
    for rows in np.array_split(rng.permutation(len(played)), max(1, len(played) // 256)):
        scores = np.where(masks[rows], inputs[rows] @ weights, -np.inf)
        error = np.exp(scores - scores.max(axis=1, keepdims=True))
        error /= error.sum(axis=1, keepdims=True)
        error[np.arange(len(rows)), played[rows]] -= 1
        weights -= 0.3 / (1 + epoch) * inputs[rows].T @ error / len(rows)

frequent = np.bincount(played, minlength=masks.shape[1]).astype(np.float32)
learned = (best(test_inputs @ weights, test_masks) == test_played).mean()
usual = (best(np.broadcast_to(frequent, test_masks.shape), test_masks) == test_played).mean()
print(f"{len(played)} positions learned, {len(test_played)} others predicted")
print(f"the move played: {learned:.1%} learned, {usual:.1%} the most frequent legal move,", end=" ")
print(f"{(1 / test_masks.sum(axis=1)).mean():.1%} any legal move")
