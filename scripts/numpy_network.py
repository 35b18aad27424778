"""The network in NumPy, read from a checkpoint's safetensors file: a reference for other programs.

Usage: numpy_network.py CHECKPOINT REFERENCE.npz

compares this network with the outputs that `hnefi export-net CHECKPOINT --reference REFERENCE.npz` wrote. Needs numpy
alone.
docs/NETWORK.md describes tensors, inputs and outputs. It is written to be read and takes its time.
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


def relu(x):
    return np.maximum(x, 0)


def pool(x):
    """Mean, mean by the board's side, maximum over the squares: [B, C, N, N] to [B, 3C]."""
    mean = x.mean(axis=(2, 3))
    return np.concatenate([mean, mean * (x.shape[3] - 9) / 2, x.max(axis=(2, 3))], axis=1)


def destinations(hidden, keys):
    """The products of `hidden` at each move's origin and `keys` at its destination: [B, H, N, N] to [B, 40, N, N]."""
    side = keys.shape[2]
    keys = np.pad(keys, ((0, 0), (0, 0), (10, 10), (10, 10)))
    planes = []
    for ranks, files in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        for distance in range(1, 11):
            rank, file = 10 + distance * ranks, 10 + distance * files
            planes.append((hidden * keys[:, :, rank : rank + side, file : file + side]).sum(axis=1))
    return np.stack(planes, axis=1)


class Network:
    """`Network(folder)(planes, globals)` gives policy, wdl, moves_left and occupancy by name."""

    def __init__(self, checkpoint):
        folder = pathlib.Path(checkpoint)
        self.card = json.loads((folder / "card.json").read_text())
        self.tensors = read_safetensors(folder / "model.safetensors")

    def convolution(self, name, x):
        """A convolution that keeps the board's size, with its bias if it has one."""
        weight = self.tensors[name + ".weight"]
        border = weight.shape[2] // 2
        padded = np.pad(x, ((0, 0), (0, 0), (border, border), (border, border)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(2, 3))
        y = np.einsum("bcijhw,ochw->boij", windows, weight, optimize=True)
        bias = self.tensors.get(name + ".bias")
        return y if bias is None else y + bias[:, None, None]

    def conv_norm(self, name, x):
        gamma, beta, mean, var = (
            self.tensors[f"{name}.norm.{part}"][:, None, None]
            for part in ("gamma", "beta", "running_mean", "running_var")
        )
        return (self.convolution(name + ".conv", x) - mean) / np.sqrt(var + EPSILON) * gamma + beta

    def linear(self, name, x):
        y = x @ self.tensors[name + ".weight"]
        bias = self.tensors.get(name + ".bias")
        return y if bias is None else y + bias

    def block(self, name, x):
        y = relu(self.conv_norm(name + ".first", x))
        total = self.conv_norm(name + ".second", y) + x
        if name + ".pool.weight" in self.tensors:
            total = total + self.linear(name + ".pool", pool(y))[:, :, None, None]
        return relu(total)

    def heads(self, role, x):
        bias = self.linear(role + ".policy_pool", pool(x))[:, :, None, None]
        hidden = relu(self.convolution(role + ".policy_conv", x) + bias)
        policy = self.convolution(role + ".policy_out", hidden)
        if role + ".policy_destination.weight" in self.tensors:
            policy = policy + destinations(hidden, self.convolution(role + ".policy_destination", x))
        value = pool(relu(self.convolution(role + ".value_conv", x)))
        return policy, self.linear(role + ".value_out", relu(self.linear(role + ".value_hidden", value)))

    def __call__(self, planes, globals_):
        bias = self.linear("globals", globals_)[:, :, None, None]
        x = relu(self.conv_norm("stem", planes) + bias)
        for index in range(self.card["network"]["blocks"]):
            x = self.block(f"blocks.{index}", x)
        policy, value = self.heads("roles.0", x)
        if self.card["network"]["role_heads"]:
            other_policy, other_value = self.heads("roles.1", x)
            attacking = globals_[:, 0] == 1
            policy = np.where(attacking[:, None, None, None], policy, other_policy)
            value = np.where(attacking[:, None], value, other_value)
        return {
            "policy": policy,
            "wdl": value[:, :3],
            "moves_left": value[:, 3:],
            "occupancy": self.convolution("occupancy", x),
        }


def compare(network, reference):
    """The greatest difference from the reference outputs, over all boards."""
    greatest = 0.0
    for board in ("7x7", "9x9", "11x11"):
        for name, found in network(reference[f"planes_{board}"], reference[f"globals_{board}"]).items():
            expected = reference[f"{name}_{board}"]
            assert found.shape == expected.shape, (board, name, found.shape, expected.shape)
            greatest = max(greatest, float(np.abs(found - expected).max()))
    return greatest


if __name__ == "__main__":
    difference = compare(Network(sys.argv[1]), np.load(sys.argv[2]))
    print(f"greatest difference {difference:.1e}")
    sys.exit(difference > 1e-4)
