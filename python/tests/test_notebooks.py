"""A notebook runs from the first cell to the last. The others need PyTorch."""

from collections.abc import Callable


def test_an_evaluator_of_ones_own(run_notebook: Callable[[str], None]) -> None:
    run_notebook("own_evaluator")
