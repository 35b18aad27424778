"""Runs the Python examples of docs/DATASETS.md and compares what they load with our lines of JSON.

Called by check-python-reads-our-files.sh with a folder of dataset/, games/, arrays/, games.jsonl and replay.jsonl (what
`hnefi replay` answered to games.jsonl).
"""

import hashlib
import json
import os
import pathlib
import re
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

document = pathlib.Path("docs/DATASETS.md").read_text()
os.chdir(sys.argv[1])
os.environ["HF_HOME"] = str(pathlib.Path("hub").resolve())
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"

# Every example, in order and in one namespace, as a reader would type them.
examples = re.findall(r"^```python\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
assert len(examples) >= 6, len(examples)
names = {}
for example in examples:
    exec(compile(example, "docs/DATASETS.md", "exec"), names)

lines = {line["game"]: line for line in map(json.loads, open("games.jsonl"))}
finished = {number: line for number, line in lines.items() if line["status"] != "ongoing"}
assert len(lines) > 50 and len(names["lines"]) == len(lines)


def images(board):
    """A board turned and mirrored in all eight ways."""
    return [turned for whole in (board, board.T) for turned in (whole, whole[::-1], whole[:, ::-1], whole[::-1, ::-1])]


SQUARES = np.array([[f"{file}{rank}" for file in "abcdefg"] for rank in range(1, 8)])


def identity(line):
    """The first of the texts of the eight images, hashed."""
    assert line["fen"] is None
    texts = []
    for names_there in images(SQUARES):
        there = dict(zip(SQUARES.flat, names_there.flat))
        texts.append(f"7\n\n{' '.join(there[move[:2]] + there[move[2:]] for move in line['moves'])}")
    return hashlib.sha256(min(texts).encode()).digest()[:8]


def flat_index(move, side=7):
    """`a4b4` as an index into a flattened [4 (N - 1), N, N] policy."""
    found = re.fullmatch(r"([a-k])(\d+)([a-k])(\d+)", move)
    x, y, to_x, to_y = ord(found[1]) - 97, int(found[2]) - 1, ord(found[3]) - 97, int(found[4]) - 1
    direction = 0 if to_y > y else 1 if to_x > x else 2 if to_y < y else 3
    plane = direction * (side - 1) + abs(to_x - x) + abs(to_y - y) - 1
    return (plane * side + y) * side + x


# The table of games against the lines and against what the checker of games says of them.
games = names["games"]
assert list(games["game"]) == list(lines)
answers = [json.loads(line) for line in open("replay.jsonl")]
for (_, row), line, answer in zip(games.iterrows(), lines.values(), answers):
    assert list(row["moves"]) == line["moves"] == [ply["move"] for ply in answer["plies"]]
    captures = [cell.split() for cell in row["captures"]]
    assert captures == line["captures"] == [ply["captures"] for ply in answer["plies"]]
    assert (row["status"], row["reason"]) == (line["status"], line["reason"])
    assert answer["error"] is None
    if row["reason"] != "resignation":
        assert (answer["plies"][-1]["status"], answer["plies"][-1]["reason"]) == (row["status"], row["reason"])
    assert row["game_id"] == line["game_id"] == identity(line).hex()
    assert list(row["playouts"]) == line["playouts"]
    assert np.allclose(row["searched"], np.ravel(line["searched"])) and list(row["trains"]) == line["trains"]
    assert list(row["policy_count"]) == [len(policy) for policy in line["policy"]]
    weights = [[move, np.float32(weight)] for policy in line["policy"] for move, weight in policy]
    assert [list(entry) for entry in zip(row["policy_move"], row["policy_weight"])] == weights
print(f"pandas: {len(games)} games agree with their lines and with replay")

# Positions against the lines, and each game in the part its identity says.
shares = [("train", 0.9), ("validation", 0.95), ("test", 1.0)]
parts = {name: pd.read_parquet(f"dataset/{name}") for name, _ in shares if any(pathlib.Path("dataset", name).iterdir())}
frame = pd.concat(parts.values())
assert len(frame) == sum(len(line["moves"]) for line in finished.values())
for name, part in parts.items():
    for number in part["game"].unique():
        unit = int.from_bytes(identity(lines[number]), "big") / 2**64
        assert name == next(split for split, upper in shares if unit < upper), (number, unit)
for (number, ply), row in frame.set_index(["game", "ply"]).iterrows():
    line = lines[number]
    assert row["move"] == line["moves"][ply] and row["played"] == flat_index(row["move"])
    # Some games go on from a position of another one, with either side to move.
    defenders_begin = (line["fen"] or "a").endswith("d")
    assert row["side"] == ("attackers" if ply % 2 == defenders_begin else "defenders")
    winner = line["status"]
    assert list(row["wdl"]) == ([0, 1, 0] if winner == "draw" else [1, 0, 0] if winner == row["side"] else [0, 0, 1])
    assert np.allclose(row["raw"], line["raw"][ply]) and np.allclose(row["searched"], line["searched"][ply])
    assert row["playouts"] == line["playouts"][ply] and row["trains"] == line["trains"][ply]
    assert list(row["policy_index"]) == [flat_index(move) for move, _ in line["policy"][ply]]
    assert np.allclose(row["policy_weight"], [weight for _, weight in line["policy"][ply]])
    assert row["moves_left"] == len(line["moves"]) - ply
    assert list(row["legal"]) == [flat_index(move) for move in line["legal"][ply]] and row["played"] in row["legal"]
    assert (row["game_id"], row["generation"]) == (line["game_id"], line["generation"])
# Equal hashes are equal boards with the same side to move, up to symmetry.
boards = [planes.reshape(32, 7, 7)[:3] for planes in frame["planes"]]
contents = [board[0] + 2 * board[1] + 3 * board[2] for board in boards]
least = [min(image.tobytes() for image in images(board)) for board in contents]
classes = set(zip(frame["position_hash"], least, frame["side"]))
assert len(classes) == frame["position_hash"].nunique() == len(set(zip(least, frame["side"])))
for fen, board in zip(frame["fen"], contents):
    assert [fen.split()[0].count(piece) for piece in "adk"] == [int((board == kind).sum()) for kind in (1, 2, 3)]
assert names["rows"] == len(parts["train"]) and names["policy"].shape == (names["planes"].shape[0], 24 * 7 * 7)
assert np.allclose(names["policy"].sum(axis=1), 1, atol=1e-3)
print(f"pandas and pyarrow: {len(frame)} positions agree with the lines")

# The arrays, row by row in the order of the games.
data = names["data"]
order = frame.set_index(["game", "ply"]).loc[list(zip(data["game"].tolist(), data["ply"].tolist()))]
for name in ("planes", "globals", "wdl", "raw", "searched", "occupancy"):
    assert np.array_equal(np.stack(order[name]).reshape(data[name].shape), data[name]), name
assert [f"{number:016x}" for number in data["game_id"]] == list(order["game_id"])
assert names["legal"].sum(axis=1).tolist() == [len(legal) for legal in order["legal"]]
assert (names["legal"] >= (names["targets"] > 0)).all()
for name in ("played", "playouts", "trains", "moves_left", "generation", "position_hash"):
    assert np.array_equal(order[name].to_numpy(), data[name]), name
assert np.allclose(names["targets"].sum(axis=1), data["trains"], atol=1e-3)
print(f"numpy: {len(order)} positions agree with the tables")

# The hub's library checks the counts in the card by itself; here the values.
for name, part in parts.items():
    loaded = names["positions"][name]
    assert loaded.num_rows == len(part)
    assert loaded["move"][:] == list(part["move"]) and loaded[0]["planes"] == list(part.iloc[0]["planes"])
print(f"datasets: {sum(split.num_rows for split in names['positions'].values())} positions in {len(parts)} splits")

# A dataset without splits is one split to every reader.
whole = names["load_dataset"]("./games", "games", split="train")
assert names["ds"].dataset("games/train").count_rows() == whole.num_rows == len(games)

# What the files and the card say of their columns is the same: names, types, fixed lengths, sizes in memory.
from datasets import Features
from datasets.info import DatasetInfosDict
from huggingface_hub import DatasetCard

for folder, config in (("dataset", "positions-7x7"), ("games", "games")):
    card = DatasetCard.load(pathlib.Path(folder, "README.md"))
    assert card.data.task_categories == ["reinforcement-learning"], card.data
    info = DatasetInfosDict.from_dataset_card_data(card.data)[config]
    for path in pathlib.Path(folder).rglob("*.parquet"):
        schema = pq.read_schema(path)
        assert Features.from_arrow_schema(schema) == info.features, (schema, info.features)
    if config != "games":
        lengths = {field.name: field.type.list_size for field in schema if pa.types.is_fixed_size_list(field.type)}
        assert lengths == {"planes": 1568, "globals": 48, "wdl": 3, "raw": 3, "searched": 3, "occupancy": 49}, lengths
        for name, split in info.splits.items():
            found = sum(pq.read_table(path).nbytes for path in pathlib.Path(folder, name).glob("*.parquet"))
            assert abs(split.num_bytes - found) <= 0.01 * found, (name, split.num_bytes, found)
            loaded = names["positions"][name].info.splits[name].num_bytes
            assert abs(split.num_bytes - loaded) <= 0.01 * loaded, (name, split.num_bytes, loaded)
        assert info.dataset_size == sum(split.num_bytes for split in info.splits.values())
    files = pathlib.Path(folder).rglob("*.parquet")
    assert info.download_size == sum(path.stat().st_size for path in files)
print("dataset cards: columns, lengths and sizes as in the files")

# The card has the files' checksums.
for folder in ("dataset", "games", "arrays"):
    listed = re.findall(
        r"^\| `([^`]+)` \| \d+ \| (\d+) \| `([0-9a-f]{64})` \|$",
        pathlib.Path(folder, "README.md").read_text(),
        re.MULTILINE,
    )
    files = sorted(
        str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*.*") if path.name != "README.md"
    )
    assert files == sorted(name for name, _, _ in listed), (files, listed)
    for name, size, checksum in listed:
        content = pathlib.Path(folder, name).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (int(size), checksum), name
print("dataset cards: every file listed with its checksum")
