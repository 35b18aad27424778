"""Where the repository's data lies. The package under test is the installed one, never the sources beside this."""

import os
from collections.abc import Callable
from pathlib import Path

import hnefi
import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    assert "site-packages" in str(hnefi.__file__), f"{hnefi.__file__}: expected the built wheel"
    return ROOT


@pytest.fixture
def run_notebook(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Runs a notebook of python/notebooks in a folder of its own."""
    program = Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "release/hnefi"
    assert program.exists(), f"{program}: expected the program, by cargo build --release"
    monkeypatch.setenv("HNEFI", str(program))

    def run(name: str) -> None:
        notebook = nbformat.read(root / f"python/notebooks/{name}.ipynb", as_version=4)
        assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not kept in the repository"
        NotebookClient(
            notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
        ).execute()

    return run


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
