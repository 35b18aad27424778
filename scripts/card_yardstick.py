"""What a card does by PyTorch and cuDNN: a product of matrices, and towers of our sizes forward and in training.

    python scripts/card_yardstick.py        # on a machine with PyTorch and an NVIDIA card

A line of JSON a figure. Channels last, bfloat16, compiled. The heads are left out, which favours PyTorch a little.
"""

import json
import time
from collections.abc import Callable

import torch
from torch import nn

SIDE = 11
PLANES = 32


class Block(nn.Module):
    """Two convolutions with batch normalisation and a skip connection."""

    def __init__(self, channels: int) -> None:
        """With this many channels."""
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block's output."""
        return torch.relu(x + self.layers(x))


def tower(blocks: int, channels: int) -> nn.Module:
    """A tower on the card, channels last."""
    stem = nn.Conv2d(PLANES, channels, 3, padding=1, bias=False)
    layers = [stem, nn.BatchNorm2d(channels), nn.ReLU(), *(Block(channels) for _ in range(blocks))]
    return nn.Sequential(*layers).cuda().to(memory_format=torch.channels_last)


def rate(work: Callable[[], object], each: int, seconds: float = 1.0) -> float:
    """How many a second, after a few rounds for warmth."""
    for _ in range(5):
        work()
    torch.cuda.synchronize()
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        work()
        torch.cuda.synchronize()
        count += each
    return count / (time.monotonic() - began)


def say(name: str, value: float, unit: str) -> None:
    """Prints a figure."""
    print(json.dumps({"name": name, "value": value, "unit": unit}), flush=True)


def main() -> None:
    """Measures."""
    side = 8192
    a, b = (torch.randn(side, side, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    say("product of 8192^3", rate(lambda: a @ b, 1) * side**3 / 1e12, "T multiply-adds/s")
    for blocks, channels in [(8, 32), (10, 128), (15, 192)]:
        network = tower(blocks, channels)
        planes = torch.rand(1024, PLANES, SIDE, SIDE, device="cuda")
        planes = planes.to(memory_format=torch.channels_last)
        compiled = torch.compile(network)

        def evaluate(compiled: nn.Module = compiled, planes: torch.Tensor = planes) -> None:
            with torch.inference_mode(), torch.autocast("cuda", dtype=torch.bfloat16):
                compiled(planes)

        def train(compiled: nn.Module = compiled, planes: torch.Tensor = planes) -> None:
            with torch.autocast("cuda", dtype=torch.bfloat16):
                compiled(planes).square().mean().backward()

        network.eval()
        say(f"{blocks}x{channels} forward, 1024", rate(evaluate, 1024), "evals/s")
        network.train()
        say(f"{blocks}x{channels} forward and back, 1024", rate(train, 1024), "samples/s")


if __name__ == "__main__":
    main()
