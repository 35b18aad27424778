"""Hnefatafl (tafl) for reinforcement learning: rules, many games at once, networks, search, matches and records.

A move is a text such as ``"d6f6"`` or a number of the policy index. The index of a board with n squares along an edge
has 4 * (n - 1) * n * n numbers: ``(direction * (n - 1) + distance - 1) * n * n + square``, directions up, right, down,
left, distances 1 to n - 1, and ``square = rank * n + file``, from 0 at a1. Sides are
``"attackers"`` and ``"defenders"``.

Bad arguments raise ``ValueError`` with one line that names what was found and what was expected (``TypeError`` where a
value is of another type). Numbers may be Python's or NumPy's. Searches, evaluations, matches and steps of many games
release the interpreter's lock; everything works on in a process that was forked, and all values but a `GameReader` and
a `Sampler` can be pickled.
"""

from . import symmetries as symmetries
from ._hnefi import (
    Checkpoint,
    Game,
    GameReader,
    GameRecord,
    MatchResult,
    Outcome,
    Player,
    Position,
    Rules,
    Sampler,
    VectorEnv,
    build_info,
    checkpoint_names,
    encode,
    match,
    read_games,
    rulesets,
    save_checkpoint,
    search,
    search_each,
    write_games,
)
from ._tuples import (
    Evaluation,
    Observation,
    PackedObservation,
    PackedStep,
    RandomPlay,
    Samples,
    SearchResult,
    Step,
    VectorState,
)

__version__: str = build_info()["version"]

__all__ = [
    "Checkpoint",
    "Evaluation",
    "Game",
    "GameReader",
    "GameRecord",
    "MatchResult",
    "Observation",
    "Outcome",
    "PackedObservation",
    "PackedStep",
    "Player",
    "Position",
    "RandomPlay",
    "Rules",
    "Sampler",
    "Samples",
    "SearchResult",
    "Step",
    "VectorEnv",
    "VectorState",
    "build_info",
    "checkpoint_names",
    "encode",
    "match",
    "read_games",
    "rulesets",
    "save_checkpoint",
    "search",
    "search_each",
    "write_games",
]
