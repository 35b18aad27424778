"""The network as a PyTorch module: loaded from a checkpoint, trained, and written as one that everything here reads.

Needs PyTorch: ``pip install "hnefi[torch]"``. The layers are as in docs/NETWORK.md, under its names.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional, Union, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from . import Checkpoint, Samples
from . import save_checkpoint as _save

_DISTANCES, _CONTENTS, _PLANES, _GLOBALS = 18, 4, 32, 48


class Outputs(NamedTuple):
    """What the network says of B positions, from the side to move."""

    policy: Tensor
    """[B, A]: logits over the policy index; take the softmax over the legal moves only."""
    wdl: Tensor
    """[B, 3]: logits of win, draw and loss."""
    moves_left: Tensor
    """[B]: ln(1 + plies to the end of the game)."""
    occupancy: Tensor
    """[B, 4, n, n]: logits of each square's content at the end of the game."""


def _pool(x: Tensor) -> Tensor:
    mean = x.mean((2, 3))
    return torch.cat([mean, mean * ((x.shape[3] - 9) / 2), x.amax((2, 3))], 1)


class _ConvNorm(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.norm(self.conv(x)))


class _Block(nn.Module):
    def __init__(self, channels: int, pools: bool) -> None:
        super().__init__()
        self.first, self.second = _ConvNorm(channels, channels), _ConvNorm(channels, channels)
        self.pool = nn.Linear(3 * channels, channels) if pools else None

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.first(x))
        x = x + self.second(y)
        return F.relu(x if self.pool is None else x + self.pool(_pool(y))[:, :, None, None])


class _Role(nn.Module):
    """The heads of one side."""

    def __init__(self, channels: int, hidden: int, value_hidden: int) -> None:
        super().__init__()
        self.policy_conv = nn.Conv2d(channels, hidden, 1)
        self.policy_pool = nn.Linear(3 * channels, hidden, bias=False)
        self.policy_out = nn.Conv2d(hidden, 4 * _DISTANCES, 1)
        self.policy_destination = nn.Conv2d(channels, hidden, 1, bias=False)
        self.value_conv = nn.Conv2d(channels, hidden, 1)
        self.value_hidden = nn.Linear(3 * hidden, value_hidden)
        self.value_out = nn.Linear(value_hidden, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        n = x.shape[3]
        h = F.relu(self.policy_conv(x) + self.policy_pool(_pool(x))[:, :, None, None])
        rows = self.policy_out(h).reshape(-1, 4, _DISTANCES, n, n)[:, :, : n - 1]
        value = F.relu(self.value_hidden(_pool(F.relu(self.value_conv(x)))))
        return rows.flatten(1) + _products(h, self.policy_destination(x)), self.value_out(value)


def _products(origins: Tensor, keys: Tensor) -> Tensor:
    """[B, A]: for each move the product of the vectors of its origin and its destination, 0 where it leaves the board:
    the products of all squares of a line, and one place among them for every move."""
    n = origins.shape[3]
    files = torch.einsum("bhrf,bhsf->bfrs", origins, keys)  # along a file, from rank r to rank s
    ranks = torch.einsum("bhrf,bhrg->brfg", origins, keys)
    products = torch.cat([files.flatten(1), ranks.flatten(1), files.new_zeros(len(files), 1)], 1)
    return products[:, _places(n).to(products.device)]


def _places(n: int) -> Tensor:
    """Where each number of the policy index finds its product."""
    distance, rank, file = np.ogrid[1:n, :n, :n]
    places = []
    for along, step in ((0, 1), (1, 1), (0, -1), (1, -1)):  # up, right, down, left
        line, origin = (rank, file) if along else (file, rank)
        end = origin + step * distance
        place = along * n**3 + (line * n + origin) * n + end
        places.append(np.where((end >= 0) & (end < n), place, 2 * n**3))
    return torch.from_numpy(np.stack(np.broadcast_arrays(*places)).reshape(-1))


class Network(nn.Module):
    """Our network of a shape, `card["network"]`, with random weights: see `load_checkpoint`."""

    def __init__(self, blocks: int, channels: int, pool_every: int, head_channels: int, value_hidden: int) -> None:
        super().__init__()
        self.shape = {"blocks": blocks, "channels": channels, "pool_every": pool_every}
        self.shape.update(head_channels=head_channels, value_hidden=value_hidden)
        self.stem = _ConvNorm(_PLANES, channels)
        self.globals = nn.Linear(_GLOBALS, channels)
        pools = [pool_every > 0 and (block + 1) % pool_every == 0 for block in range(blocks)]
        self.blocks = nn.ModuleList(_Block(channels, pool) for pool in pools)
        self.roles = nn.ModuleList(_Role(channels, head_channels, value_hidden) for _ in range(2))
        self.occupancy = nn.Conv2d(channels, _CONTENTS, 1)

    def forward(self, planes: Tensor, globals: Tensor) -> Outputs:
        """Of planes [B, 32, n, n] and globals [B, 48], as `hnefi.encode` and `hnefi.Sampler` give them."""
        x = F.relu(self.stem(planes) + self.globals(globals)[:, :, None, None])
        for block in self.blocks:
            x = block(x)
        (policy, value), (policy_1, value_1) = (role(x) for role in self.roles)
        attacking = globals[:, :1] == 1
        policy, value = torch.where(attacking, policy, policy_1), torch.where(attacking, value, value_1)
        return Outputs(policy, value[:, :3], value[:, 3], self.occupancy(x))

    def tensors(self) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
        """The weights under the names and in the shapes of docs/NETWORK.md."""
        state = {name: tensor.detach().float().cpu().numpy() for name, tensor in self.state_dict().items()}
        return {_name(name): self._turned(name, array) for name, array in state.items() if not _own(name)}

    def load_tensors(self, tensors: Mapping[str, Any]) -> None:
        """Takes over weights under these names. Raises KeyError for a missing one."""
        state = {
            name: torch.from_numpy(np.array(self._turned(name, np.asarray(tensors[_name(name)], np.float32))))
            for name in self.state_dict()
            if not _own(name)
        }
        self.load_state_dict(state, strict=False)

    def _turned(self, name: str, array: Any) -> Any:
        """A linear layer's matrix is turned: `y = x W + b` in the file."""
        return array.T if isinstance(self.get_submodule(name.rpartition(".")[0]), nn.Linear) else array


def _own(name: str) -> bool:
    return name.endswith("num_batches_tracked")


def _name(name: str) -> str:
    """PyTorch's name of a normalisation's parameter as ours."""
    head, _, last = name.rpartition(".")
    return f"{head}.{ {'weight': 'gamma', 'bias': 'beta'}.get(last, last) }" if head.endswith("norm") else name


def load_checkpoint(path: Union[str, "os.PathLike[str]"]) -> Network:
    """The network of a checkpoint, of a run's newest or a shipped one, on the CPU and in evaluation mode."""
    checkpoint = Checkpoint(path)
    network = Network(**checkpoint.card()["network"])
    network.load_tensors(checkpoint.tensors())
    return network.eval()


def save_checkpoint(
    path: Union[str, "os.PathLike[str]"], network: Network, card: Optional[Mapping[str, Any]] = None
) -> None:
    """Writes the network as a checkpoint, a new folder. `card`: what else is known of it, such as "rulesets"."""
    _save(path, network.tensors(), {**(card or {}), "network": network.shape})


class Losses(NamedTuple):
    """The losses of a batch, each a tensor without dimensions."""

    total: Tensor
    """The weighted sum, to be minimised."""
    policy: Tensor
    value: Tensor
    moves_left: Tensor
    occupancy: Tensor


def losses(outputs: Outputs, samples: Samples, train: Mapping[str, float]) -> Losses:
    """Our losses of a batch; `train` has the weights of a task's section [train]."""

    def tensor(array: Any) -> Tensor:
        return torch.from_numpy(array).to(outputs.policy.device, non_blocking=True)

    logits = outputs.policy.float().masked_fill(~tensor(samples.masks), -1e9)
    policy = F.cross_entropy(logits, tensor(samples.policies), reduction="none") * tensor(samples.policy_weights)
    value = F.cross_entropy(outputs.wdl.float(), tensor(samples.values))
    ends = tensor(samples.end_weights)
    left = F.huber_loss(outputs.moves_left.float(), tensor(samples.moves_left), reduction="none") * ends
    squares = F.cross_entropy(outputs.occupancy.float(), tensor(samples.occupancy), reduction="none")
    parts = policy.mean(), value, left.mean(), (squares.mean((1, 2)) * ends).mean()
    weights = 1.0, train["value_weight"], train["moves_left_weight"], train["occupancy_weight"]
    return Losses(cast(Tensor, sum(weight * part for weight, part in zip(weights, parts))), *parts)
