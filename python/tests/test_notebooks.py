"""The notebooks run from the first cell to the last, in a folder of their own."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient


@pytest.mark.parametrize("name", ["agent_of_a_library", "own_evaluator", "own_trainer"])
def test_a_notebook_runs(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    program = Path(os.environ.get("CARGO_TARGET_DIR", root / "target")) / "release/hnefi"
    assert program.exists(), f"{program}: expected the program, by cargo build --release"
    monkeypatch.setenv("HNEFI", str(program))
    notebook = nbformat.read(root / f"python/notebooks/{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not kept in the repository"
    NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
