"""The eight images of a board under the symmetries of the square, for planes, policies and moves.

Symmetry 0 changes nothing; of the others' three bits the last mirrors the files, the middle one the ranks, and the
first swaps files and ranks before. Positions that are images of each other have images of each other's legal moves and
network inputs, and equal values, if the rules' special squares are their own images, as in published rulesets.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

ALL = range(8)

Scalar = TypeVar("Scalar", bound=np.generic)


def inverse(symmetry: int) -> int:
    """The symmetry that undoes this one."""
    return {5: 6, 6: 5}.get(_checked(symmetry), symmetry)


def transform_planes(planes: NDArray[Scalar], symmetry: int) -> NDArray[Scalar]:
    """The image of planes [..., n, n], ranks before files. A copy."""
    if planes.ndim < 2 or planes.shape[-1] != planes.shape[-2]:
        raise ValueError(f"planes of shape {planes.shape}: expected [..., n, n]")
    image = planes.swapaxes(-1, -2) if _checked(symmetry) & 4 else planes
    ranks, files = (slice(None, None, -1 if symmetry & bit else 1) for bit in (2, 1))
    return image[..., ranks, files].copy()


def transform_policy(policy: NDArray[Scalar], symmetry: int) -> NDArray[Scalar]:
    """The image of policies, masks or visits [..., 4 * (n - 1) * n * n]. A copy."""
    return policy[..., _origins(policy.shape[-1] if policy.ndim else 0, _checked(symmetry))]


def transform_action(action: int, size: int, symmetry: int) -> int:
    """The image of a move, a number of the policy index of boards with `size` squares along an edge."""
    origins = _origins(4 * (size - 1) * size**2, inverse(symmetry))
    if not 0 <= action < len(origins):
        raise ValueError(f"action {action}: expected 0 to {len(origins) - 1} on this board")
    return int(origins[action])


def _checked(symmetry: int) -> int:
    if symmetry not in ALL:
        raise ValueError(f"symmetry {symmetry!r}: expected 0 to 7")
    return symmetry


def _origins(actions: int, symmetry: int) -> NDArray[np.int64]:
    """For each move of the image the move that it is the image of."""
    size = next((size for size in range(2, 20) if 4 * (size - 1) * size**2 == actions), None)
    if size is None:
        raise ValueError(f"{actions} moves: expected 4 * (n - 1) * n * n of a board of n squares a side")
    numbers: NDArray[Any] = np.arange(actions).reshape(4, size - 1, size, size)
    images = np.empty_like(numbers)
    # Up, right, down, left, as steps along ranks and files.
    directions = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    for number, (rank, file) in enumerate(directions):
        rank, file = (file, rank) if symmetry & 4 else (rank, file)
        image = directions.index((-rank if symmetry & 2 else rank, -file if symmetry & 1 else file))
        images[image] = transform_planes(numbers[number], symmetry)
    return images.reshape(-1)
