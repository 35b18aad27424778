"""Hnefatafl (tafl) for reinforcement learning: rules, many games at once, networks, search, matches and records.

A move is a text such as ``"d6f6"`` or a number of the policy index. The index of a board with n squares along an edge
has 40 * n * n numbers: ``(direction * 10 + distance - 1) * n * n + square``, directions up, right, down, left,
distances 1 to 10, and ``square = rank * n + file``, both from 0 at a1. Sides are ``"attackers"`` and ``"defenders"``.

Bad arguments raise ``ValueError`` with one line that names what was found and what was expected (``TypeError`` where a
text is missing). Numbers may be Python's or NumPy's. Searches, evaluations, matches and steps of many games release the
interpreter's lock; everything works on in a process that was forked, and all values can be pickled.
"""

from ._hnefi import (
    Checkpoint,
    Game,
    GameReader,
    GameRecord,
    MatchResult,
    Outcome,
    Position,
    Rules,
    VectorEnv,
    build_info,
    checkpoint_names,
    match,
    read_games,
    rulesets,
    write_games,
)
from ._tuples import Evaluation, Observation, PackedObservation, PackedStep, RandomPlay, SearchResult, Step, VectorState

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
    "Position",
    "RandomPlay",
    "Rules",
    "SearchResult",
    "Step",
    "VectorEnv",
    "VectorState",
    "build_info",
    "checkpoint_names",
    "match",
    "read_games",
    "rulesets",
    "write_games",
]
