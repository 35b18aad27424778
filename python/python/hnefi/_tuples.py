"""What functions return that have more than one thing to say."""

from typing import NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from ._hnefi import Position


class Observation(NamedTuple):
    """What is seen of N games, one row a game, n squares a side. The policy index has A = 4 * (n - 1) * n * n
    numbers."""

    planes: NDArray[np.float32]
    """[N, 32, n, n] float32, 0 or 1; rank 1 first, file a first. Absolute: attackers, defenders, king, ..."""
    globals: NDArray[np.float32]
    """[N, 48] float32 in 0..1: side to move, board size, options of the rules, clocks."""
    masks: NDArray[np.bool_]
    """[N, A] bool: the legal moves."""
    players: NDArray[np.int8]
    """[N] int8: the side to move, 0 attackers, 1 defenders."""


class Step(NamedTuple):
    """What `VectorEnv.step` returns."""

    observation: Observation
    """After the moves; where a game ended, of the new game's start."""
    rewards: NDArray[np.float32]
    """[N] float32 for the side that moved: 1 for a win, -1 for a loss, 0 for a draw and while the game goes on."""
    terminated: NDArray[np.bool_]
    """[N] bool: the rules ended the game with this move, and the next one has begun."""
    truncated: NDArray[np.bool_]
    """[N] bool: the ply cap ended the game with this move, and the next one has begun."""
    final_obs: Observation
    """The last positions of the games that ended, a row for each: of `numpy.flatnonzero(terminated | truncated)`."""


class PackedObservation(NamedTuple):
    """An `Observation` in bits, eight a byte, the first in the lowest bit.

    `numpy.unpackbits(planes, axis=-1, count=n * n, bitorder="little")` are [N, 32, n * n] uint8,
    `numpy.unpackbits(masks, axis=-1, bitorder="little")` [N, A].
    """

    planes: NDArray[np.uint8]
    """[N, 32, ceil(n * n / 8)] uint8: the planes, each padded to whole bytes."""
    globals: NDArray[np.float32]
    """[N, 48] float32 in 0..1, as in `Observation`."""
    masks: NDArray[np.uint8]
    """[N, A / 8] uint8: the legal moves."""
    players: NDArray[np.int8]
    """[N] int8: the side to move, 0 attackers, 1 defenders."""


class PackedStep(NamedTuple):
    """What `VectorEnv.step_packed` returns."""

    observation: PackedObservation
    """After the moves; where a game ended, of the new game's start."""
    rewards: NDArray[np.float32]
    """[N] float32, as in `Step`."""
    terminated: NDArray[np.bool_]
    """[N] bool, as in `Step`."""
    truncated: NDArray[np.bool_]
    """[N] bool, as in `Step`."""
    final_obs: PackedObservation
    """As in `Step`."""


class VectorState(NamedTuple):
    """What `VectorEnv.get_state` returns and `VectorEnv.set_state` takes."""

    positions: list[Position]
    """The positions of the N games."""
    random: str
    """The state of their random numbers."""


class RandomPlay(NamedTuple):
    """What `VectorEnv.step_random` counted."""

    plies: int
    """Plies played, over all games."""
    attackers: int
    """Games that the attackers won."""
    defenders: int
    """Games that the defenders won."""
    draws: int
    """Games that nobody won."""


class Evaluation(NamedTuple):
    """What a network says of N positions, from the side to move."""

    values: NDArray[np.float32]
    """[N, 3] float32: chances of win, draw and loss; they sum to 1."""
    plies_left: NDArray[np.float32]
    """[N] float32: expected plies to the end of the game."""
    priors: NDArray[np.float32]
    """[N, A] float32: the policy; 0 for illegal moves, each row sums to 1."""


class Samples(NamedTuple):
    """A batch of B training samples of one board size, from the side to move."""

    planes: NDArray[np.float32]
    """[B, 32, n, n] float32, as in `Observation`."""
    globals: NDArray[np.float32]
    """[B, 48] float32, as in `Observation`; with the handicap that the game was played with."""
    masks: NDArray[np.bool_]
    """[B, A] bool: the legal moves."""
    policies: NDArray[np.float32]
    """[B, A] float32: the policy's target, which sums to 1, or to 0 where `policy_weights` is 0."""
    policy_weights: NDArray[np.float32]
    """[B] float32: 1 where there is a policy target, else 0."""
    values: NDArray[np.float32]
    """[B, 3] float32: the target of win, draw and loss; sums to 1."""
    moves_left: NDArray[np.float32]
    """[B] float32: ln(1 + plies to the end of the game)."""
    occupancy: NDArray[np.float32]
    """[B, 4, n, n] float32: 1 for each square's content at the end of the game: empty, attacker, defender, king."""
    end_weights: NDArray[np.float32]
    """[B] float32: weight of `moves_left` and `occupancy`, 0 in resigned games, else 1."""


class SearchResult(NamedTuple):
    """What a search found, from the side to move. The arrays have a row for each of the k legal moves."""

    best: str
    """The move to play, such as `d6f6`."""
    action: int
    """The same as a number of the policy index."""
    value: tuple[float, float, float]
    """Chances of win, draw and loss after the search."""
    raw: tuple[float, float, float]
    """What the network alone said of them."""
    moves: list[str]
    """The legal moves."""
    actions: NDArray[np.int64]
    """[k] int64: the legal moves as numbers of the policy index."""
    visits: NDArray[np.uint32]
    """[k] uint32: playouts through each move."""
    priors: NDArray[np.float32]
    """[k] float32: the network's policy (softened with a PUCT root, as the search uses it)."""
    values: NDArray[np.float32]
    """[k, 3] float32: chances after each move; NaN for a move that nothing is known of."""
    policy: NDArray[np.float32]
    """[k] float32: what the policy should be, the target of AlphaZero-like training; sums to 1."""
    principal_variation: list[str]
    """The line that the search expects, beginning with `best`."""
    playouts: int
    """Playouts made; fewer than asked for when the result was proven."""
    evaluations: int
    """Positions that the network evaluated."""
    nodes: int
    """Positions in the tree."""
    depth: int
    """Plies from the root to the deepest position evaluated."""
    proven: Optional[tuple[str, int]]
    """The certain result and the plies until then, such as `("win", 3)`; `None` while nothing is certain."""
