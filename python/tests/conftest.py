"""Where the repository's data lies. The package under test is the installed one, never the sources beside this."""

from pathlib import Path

import hnefi
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    assert "site-packages" in str(hnefi.__file__), f"{hnefi.__file__}: expected the built wheel"
    return ROOT


def fen(rows: list[str], to_move: str) -> str:
    """The rows of cases.json and perft.json as FEN: runs of dots become numbers."""
    ranks = []
    for row in rows:
        text, empty = "", 0
        for letter in row + "|":
            if letter == ".":
                empty += 1
                continue
            text += (str(empty) if empty else "") + letter.lower()
            empty = 0
        ranks.append(text.rstrip("|"))
    return "/".join(ranks) + " " + to_move[0]
