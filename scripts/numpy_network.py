"""The network in NumPy, read from a checkpoint's safetensors file: a reference for other programs.

Usage: numpy_network.py CHECKPOINT REFERENCE.npz

compares this network with the outputs that `hnefi export-net CHECKPOINT --reference REFERENCE.npz` wrote. The reference
lists the steps of the network, too (`models/inference/src/graph.rs`), and this computes one after the other. Needs
numpy alone. docs/NETWORK.md describes tensors, inputs and outputs. It is written to be read and takes its time.
"""

import json
import pathlib
import sys

import numpy as np

EPSILON = 1e-5


def read_safetensors(path):
    """All tensors of a file by name: eight bytes of length, a JSON header, then the numbers."""
    data = pathlib.Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32", (name, entry)
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return tensors


def per_square(x, board):
    """A vector [B, C] as one that is the same on every square, [B, C, 1, 1]."""
    return x[:, :, None, None] if board and x.ndim == 2 else x


def convolution(x, weight, bias):
    """A convolution that keeps the board's size."""
    border = weight.shape[2] // 2
    padded = np.pad(x, ((0, 0), (0, 0), (border, border), (border, border)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(2, 3))
    y = np.einsum("bcijhw,ochw->boij", windows, weight, optimize=True)
    return y if bias is None else y + bias[:, None, None]


def conv_norm(x, tensors, name):
    """A 3x3 convolution and its batch normalisation."""
    gamma, beta, mean, var = (
        tensors[f"{name}.norm.{part}"][:, None, None] for part in ("gamma", "beta", "running_mean", "running_var")
    )
    return (convolution(x, tensors[f"{name}.conv.weight"], None) - mean) / np.sqrt(var + EPSILON) * gamma + beta


def pool(x):
    """Mean, mean by the board's side, maximum over the squares: [B, C, N, N] to [B, 3C]."""
    mean = x.mean(axis=(2, 3))
    return np.concatenate([mean, mean * (x.shape[3] - 9) / 2, x.max(axis=(2, 3))], axis=1)


def distances(rows):
    """From rows for four directions and 18 distances, [B, 72, N, N], the rows of a board: [B, 4(N - 1), N, N]."""
    batch, _, side, _ = rows.shape
    return rows.reshape(batch, 4, 18, side, side)[:, :, : side - 1].reshape(batch, -1, side, side)


def destinations(origins, keys):
    """The products of `origins` where moves begin and `keys` where they end: [B, H, N, N] to [B, 4(N - 1), N, N]."""
    side = keys.shape[2]
    border = side - 1
    keys = np.pad(keys, ((0, 0), (0, 0), (border, border), (border, border)))
    planes = []
    for ranks, files in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        for distance in range(1, side):
            rank, file = border + distance * ranks, border + distance * files
            planes.append((origins * keys[:, :, rank : rank + side, file : file + side]).sum(axis=1))
    return np.stack(planes, axis=1)


class Network:
    """`Network(folder, graph)(planes, globals)` gives policy, wdl, moves_left and occupancy by name."""

    def __init__(self, checkpoint, graph):
        self.tensors = read_safetensors(pathlib.Path(checkpoint) / "model.safetensors")
        self.graph = graph

    def step(self, step, inputs, planes, globals_):
        """The value of one step."""
        name, kind = step["name"], step["op"]["kind"]
        weight, bias = self.tensors.get(f"{name}.weight"), self.tensors.get(f"{name}.bias")
        match kind:
            case "planes":
                return planes
            case "globals":
                return globals_
            case "conv_norm":
                return conv_norm(inputs[0], self.tensors, name)
            case "pointwise":
                return convolution(inputs[0], weight, bias)
            case "linear":
                return inputs[0] @ weight + (0 if bias is None else bias)
            case "relu":
                return np.maximum(inputs[0], 0)
            case "add":
                return sum(per_square(x, inputs[0].ndim == 4) for x in inputs)
            case "pool":
                return pool(inputs[0])
            case "by_role":
                attacking = inputs[0][:, :1] == 1
                return np.where(per_square(attacking, inputs[1].ndim == 4), inputs[1], inputs[2])
            case "distances":
                return distances(inputs[0])
            case "destinations":
                return destinations(*inputs)
        raise ValueError(f"{name}: unknown step {kind}")

    def __call__(self, planes, globals_):
        values = []
        for step in self.graph["steps"]:
            values.append(self.step(step, [values[at] for at in step["inputs"]], planes, globals_))
        value = values[self.graph["value"]]
        return {
            "policy": values[self.graph["policy"]],
            "wdl": value[:, :3],
            "moves_left": value[:, 3:],
            "occupancy": values[self.graph["occupancy"]],
        }


def difference_of(found, expected):
    """The greatest difference, as a share of numbers above 1: logits grow on boards that a network has not learned.

    >>> difference_of(np.array([np.nan]), np.array([1.0]))
    inf
    """
    apart = np.abs(found - expected) / np.maximum(1.0, np.abs(expected))
    # What is no number is not near either, and a maximum would pass over it.
    return float(np.where(np.isnan(apart), np.inf, apart).max())


def compare(checkpoint, reference):
    """The greatest difference from the reference outputs, over all boards."""
    network = Network(checkpoint, json.loads(reference["graph"].tobytes()))
    greatest = 0.0
    for board in (name.removeprefix("planes_") for name in reference if name.startswith("planes_")):
        for name, found in network(reference[f"planes_{board}"], reference[f"globals_{board}"]).items():
            expected = reference[f"{name}_{board}"]
            assert found.shape == expected.shape, (board, name, found.shape, expected.shape)
            greatest = max(greatest, difference_of(found, expected))
    return greatest


if __name__ == "__main__":
    difference = compare(sys.argv[1], np.load(sys.argv[2]))
    print(f"greatest difference {difference:.1e}")
    sys.exit(difference > 1e-4)
