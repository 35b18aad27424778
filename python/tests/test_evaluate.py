"""Searches by evaluators of one's own, and players that are functions."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import hnefi
import numpy as np
import pytest
from numpy.typing import NDArray

Answer = tuple[NDArray[np.float32], NDArray[np.float32]]
KING_WINS = "7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d"


@pytest.fixture(scope="module")
def network() -> hnefi.Checkpoint:
    return hnefi.Checkpoint("brandubh")


def uniform(positions: list[hnefi.Position]) -> Answer:
    return np.full((len(positions), 3), 1 / 3), np.ones((len(positions), 1176))


def opened(count: int, plies: int = 5) -> list[hnefi.Position]:
    env = hnefi.VectorEnv("brandubh", count, seed=4)
    env.step_random(plies)
    return [env.position(row) for row in range(count)]


def alike(found: hnefi.SearchResult, expected: hnefi.SearchResult) -> None:
    assert found.best == expected.best and np.array_equal(found.visits, expected.visits)
    assert np.allclose(found.values, expected.values, atol=1e-5, equal_nan=True)
    assert np.allclose(found.policy, expected.policy, atol=1e-5) and found.proven == expected.proven


@pytest.mark.parametrize("settings", [{}, {"noise": 3}, {"root": "puct", "c_puct": 1.5}])
def test_a_network_as_evaluator_is_its_own_search(network: hnefi.Checkpoint, settings: dict[str, Any]) -> None:
    positions = opened(12)
    batches: list[int] = []

    def evaluate(batch: list[hnefi.Position]) -> hnefi.Evaluation:
        batches.append(len(batch))
        return network.evaluate(batch)

    searched = hnefi.search_each(positions, evaluate, 24, **settings)
    expected = network.search_each(positions, 24, **settings)
    for found, alone in zip(searched, expected):
        alike(found, alone)
    assert sum(batches) == sum(found.evaluations for found in expected)
    assert batches[0] == 12 and len(batches) <= 1 + max(found.evaluations for found in expected), (
        "leaves of all at once"
    )
    alike(hnefi.search(positions[3], evaluate, 24, **settings), network.search(positions[3], 24, **settings))


def test_searches_without_knowledge_find_a_win() -> None:
    # The king goes home, and two attackers take the king beside them with their next move.
    for fen, best in [(KING_WINS, ("g3g1", "g3g7")), ("7/1ak4/7/2d4/7/7/3a3 a", ("d1d6",))]:
        found = hnefi.search(hnefi.Position("brandubh", fen), uniform, 16)
        assert found.best in best and found.proven == ("win", 1)


def test_a_win_in_three_is_found_in_batches() -> None:
    # From d2 to a2 or g2 the king reaches an edge between two free corners.
    start = hnefi.Position("brandubh", "3a3/3a3/3d3/aad1daa/a3d2/3k3/3a3 d")
    batches: list[int] = []

    def evaluate(positions: list[hnefi.Position]) -> Answer:
        batches.append(len(positions))
        assert all(position.outcome is None for position in positions)
        return uniform(positions)

    found = hnefi.search(start, evaluate, 200, leaves=16, root="puct")
    assert found.proven == ("win", 3) and found.best in ("d2a2", "d2g2")
    assert max(batches) > 8


def test_only_legal_moves_count_and_numbers_of_any_kind_serve(network: hnefi.Checkpoint) -> None:
    positions = opened(4)

    def loud(batch: list[hnefi.Position]) -> Any:
        found = network.evaluate(batch)
        masks = np.stack([position.action_mask() for position in batch])
        priors = np.where(masks, 5 * found.priors.astype(np.float64), np.nan)
        return found.values.tolist(), found.plies_left, np.asfortranarray(priors)

    for found, expected in zip(hnefi.search_each(positions, loud, 16), network.search_each(positions, 16)):
        alike(found, expected)


def test_leaves_can_be_pickled_and_know_their_start() -> None:
    seen: list[hnefi.Position] = []

    def evaluate(positions: list[hnefi.Position]) -> Answer:
        seen.extend(positions)
        return uniform(positions)

    hnefi.search(hnefi.Position("brandubh", "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a", ["d6f6"]), evaluate, 8)
    for position in seen:
        rules, fen, moves = position.__getnewargs__()
        assert hnefi.Position(rules, fen, moves) == position
    assert len(seen) > 1


@pytest.mark.parametrize("ruleset", ["brandubh", "tablut", "copenhagen"])
def test_encoded_positions_are_what_each_shows(ruleset: str) -> None:
    env = hnefi.VectorEnv(ruleset, 40, seed=1, ply_cap=9)
    env.step_random(8)
    positions = [env.position(row) for row in range(40)]
    seen = hnefi.encode(positions)
    for row, position in enumerate(positions):
        assert np.array_equal(seen.planes[row], position.planes())
        assert np.array_equal(seen.globals[row], position.globals())
        assert np.array_equal(seen.masks[row], position.action_mask())
        assert seen.players[row] == (position.side_to_move == "defenders")
    again = hnefi.encode(positions[::-1], out=seen)
    assert again.planes is seen.planes and again.masks is seen.masks
    assert np.array_equal(seen.globals[0], positions[-1].globals())
    assert all(np.array_equal(a, b) for a, b in zip(hnefi.encode(env), env.observe()))
    fortran = [
        seen._replace(**{name: np.asfortranarray(getattr(seen, name))}) for name in ("planes", "globals", "masks")
    ]
    for wrong in (seen.planes, hnefi.encode(positions[:3]), seen._replace(masks=seen.masks[:, ::2]), *fortran):
        with pytest.raises(ValueError, match=f"expected the Observation of 40 positions of {env.size}x{env.size}"):
            hnefi.encode(positions, out=wrong)  # type: ignore[arg-type]


def test_what_an_evaluator_raises_passes_through() -> None:
    problem = KeyError("mine")

    def broken(positions: list[hnefi.Position]) -> Answer:
        raise problem

    with pytest.raises(KeyError) as caught:
        hnefi.search_each(opened(3), broken)
    assert caught.value is problem


def test_answers_that_cannot_be_are_refused() -> None:
    def answers(change: Callable[[NDArray[Any], NDArray[Any]], Any]) -> Callable[[list[hnefi.Position]], Any]:
        return lambda positions: change(*uniform(positions))

    def with_nan(values: NDArray[Any], priors: NDArray[Any]) -> Any:
        values[2, 1] = np.nan
        return values, priors

    def negative(values: NDArray[Any], priors: NDArray[Any]) -> Any:
        priors[1] = -3
        return values, priors

    def nothing(values: NDArray[Any], priors: NDArray[Any]) -> Any:
        priors[2] = 0
        return values, priors

    positions = opened(3)
    for change, words in [
        (lambda values, priors: None, r"evaluate returned None: expected \(values, priors\) or"),
        (lambda values, priors: values, r"evaluate: .* of shape \[3\]: expected \[3, 3\]|returned array"),
        (lambda values, priors: (values[:2], priors), r"evaluate: values of shape \[2, 3\]: expected \[3, 3\]"),
        (lambda values, priors: (values, priors[:, :9]), r"evaluate: priors of shape \[3, 9\]: expected \[3, 1176\]"),
        (lambda values, priors: (values, values, priors), r"evaluate: plies_left of shape \[3, 3\]: expected \[3\]"),
        (lambda values, priors: (values, values[:, 0] - 1, priors), "position 0: plies_left -0.6"),
        (lambda values, priors: (3 * values, priors), "position 0: values .*: expected chances of win, draw and loss"),
        (with_nan, "position 2: values .*NaN"),
        (negative, "position 1: prior -3 of [a-g][1-7][a-g][1-7]: expected a number from 0 on"),
        (nothing, "position 2: priors of the legal moves sum to 0: expected a sum above 0"),
    ]:
        with pytest.raises(ValueError, match=words) as error:
            hnefi.search_each(positions, answers(change))
        assert "\n" not in str(error.value)
    mixed = [positions[0], hnefi.Position("tablut")]
    name: Any = "brandubh"
    over = hnefi.Game(hnefi.Rules("brandubh", ply_cap=1), moves=["d6f6"]).position
    for call, words in [
        (lambda: hnefi.search_each(mixed, uniform), "9x9 beside one of 7x7"),
        (lambda: hnefi.search_each([over], uniform), "position 0: the game is over"),
        (lambda: hnefi.search(positions[0], name), "evaluate = 'brandubh': expected a function"),
        (lambda: hnefi.search(positions[0], uniform, 0), "playouts = 0"),
        (lambda: hnefi.search(positions[0], uniform, leaves=0), "leaves = 0"),
        (lambda: hnefi.search(positions[0], uniform, c_putc=1), "c_puct"),
        (lambda: hnefi.encode([]), "no positions"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    assert hnefi.search_each([], uniform) == []


def test_ctrl_c_ends_a_search() -> None:
    code = """if True:
        import hnefi, signal, numpy as np
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def uniform(positions):
            return np.full((len(positions), 3), 1 / 3), np.ones((len(positions), 1176))
        print("searching", flush=True)
        hnefi.search(hnefi.Position("brandubh"), uniform, 10**7)"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "searching\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=50)[1]


def test_functions_play_matches(network: hnefi.Checkpoint) -> None:
    def first(position: hnefi.Position) -> str:
        return position.legal_moves()[0]

    def searched(position: hnefi.Position) -> int:
        return hnefi.search(position, network.evaluate, 8).action

    found = hnefi.match(searched, first, 4, "brandubh", seed=2)
    assert found.summary()["a"] == "searched" and found.wins == 4
    by_spec = hnefi.match("model:brandubh,playouts=8", first, 4, "brandubh", seed=2, threads=1)
    assert [record.moves for record in by_spec.records] == [record.moves for record in found.records]
    assert set(found.records[0].players) == {"searched", "first"}


def test_a_player_that_raises_or_errs_ends_its_match() -> None:
    def broken(position: hnefi.Position) -> str:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        hnefi.match("random", broken, 2, "brandubh")
    with pytest.raises(ValueError, match="game 0, ply 5: <lambda> .defenders.: illegal move a1a7"):
        hnefi.match("random", lambda position: "a1a7", 2, "brandubh")
    with pytest.raises(ValueError, match="move None: expected a text such as"):
        hnefi.match("random", lambda position: None, 2, "brandubh")  # type: ignore[arg-type,return-value]
    with pytest.raises(ValueError, match="player 3: expected a spec or a function"):
        hnefi.match("random", 3, 2, "brandubh")  # type: ignore[arg-type]
