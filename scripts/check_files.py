"""Reads a tiny run's files with other people's libraries and compares them with each other.

Called by check-python-reads-our-files.sh with a folder holding run/, npz/ and games.jsonl.
"""

import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

work = pathlib.Path(sys.argv[1])

# The games, as lines of JSON and as arrays, must tell the same story.
games = [json.loads(line) for line in (work / "games.jsonl").read_text().splitlines()]
shards = [np.load(path) for path in sorted((work / "npz/train").glob("*.npz"))]
assert games and shards, "nothing was exported"
plies = sum(len(game["moves"]) for game in games)
rows = sum(len(shard["planes"]) for shard in shards)
assert 0 < rows <= plies, (rows, plies)
for shard in shards:
    assert shard["planes"].dtype == np.uint8 and shard["planes"].shape[1:] == (16, 7, 7), shard["planes"].shape
    assert shard["planes"].max() <= 1
    assert np.allclose(shard["wdl"].sum(axis=1), 1.0, atol=1e-5)
    # At most one king a position, and none of the pieces share a square.
    assert (shard["planes"][:, 2].sum(axis=(1, 2)) == 1).all()
    assert (shard["planes"][:, :3].sum(axis=1) <= 1).all()
print(f"numpy: {rows} positions of {len(games)} games")

# Weights: every tensor finite, the stem as wide as the card says.
newest = sorted((work / "run" / "checkpoints").iterdir())[-1]
card = json.loads((newest / "card.json").read_text())
weights = load_file(newest / "model.safetensors")
assert all(np.isfinite(tensor).all() for tensor in weights.values())
assert weights["stem.conv.weight"].shape[0] == card["network"]["channels"], card["network"]
print(f"safetensors: {len(weights)} tensors of generation {card['generation']}")

# TensorBoard: as many points a curve as generations, equal to the lines in metrics/.
events = EventAccumulator(str(work / "run" / "tensorboard"), size_guidance={"scalars": 0})
events.Reload()
lines = [json.loads(path.read_text()) for path in sorted((work / "run" / "metrics").iterdir())]
tags = events.Tags()["scalars"]
tag = "loss/policy"
points = events.Scalars(tag)
assert [point.step for point in points] == [line["generation"] for line in lines], points
for point, line in zip(points, lines):
    assert abs(point.value - line["training"]["losses"]["policy"]) < 1e-5
print(f"tensorboard: {len(tags)} curves over {len(points)} generations")
