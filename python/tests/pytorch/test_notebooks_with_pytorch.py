"""The notebooks that need PyTorch run from the first cell to the last."""

from collections.abc import Callable

import pytest


@pytest.mark.parametrize("name", ["agent_of_a_library", "own_trainer"])
def test_a_notebook_runs(run_notebook: Callable[[str], None], name: str) -> None:
    run_notebook(name)
