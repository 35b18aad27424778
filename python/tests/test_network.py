"""Networks, search and matches."""

import io
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import hnefi
import hnefi.training
import numpy as np
import pytest


@pytest.fixture(scope="module")
def network() -> hnefi.Checkpoint:
    return hnefi.Checkpoint("brandubh")


def test_an_evaluation_lies_on_the_legal_moves_and_does_not_depend_on_the_batch(network: hnefi.Checkpoint) -> None:
    rng = np.random.default_rng(2)
    positions = [hnefi.Position("brandubh")]
    for _ in range(70):
        nxt = positions[-1].play(rng.choice(positions[-1].legal_actions()))
        positions.append(nxt if nxt.outcome is None else hnefi.Position("brandubh"))
    values, plies_left, priors = network.evaluate(positions)
    assert (values.shape, plies_left.shape, priors.shape) == ((71, 3), (71,), (71, 1176))
    assert np.allclose(values.sum(1), 1, atol=1e-5) and np.allclose(priors.sum(1), 1, atol=1e-5)
    assert (plies_left > 0).all()
    for row in (0, 33, 70):
        alone = network.evaluate([positions[row]])
        assert np.array_equal(alone.values[0], values[row]) and np.array_equal(alone.priors[0], priors[row])
        assert not priors[row][~positions[row].action_mask()].any()


def test_a_bucket_is_refused_by_the_name_of_the_missing_feature() -> None:
    for place in ("s3://games/run", "gs://games/run", "az://games/run"):
        with pytest.raises(ValueError, match=f"store {place}: .*expected a directory, .*feature `buckets`"):
            hnefi.Checkpoint(place)


def test_an_environment_is_evaluated_as_its_positions(network: hnefi.Checkpoint) -> None:
    env = hnefi.VectorEnv("brandubh", 5, seed=3)
    env.step_random(4)
    found = network.evaluate(env)
    single = network.evaluate([env.position(row) for row in range(5)])
    assert np.array_equal(found.priors, single.priors) and np.array_equal(found.values, single.values)


def test_values_are_the_side_to_moves(network: hnefi.Checkpoint) -> None:
    # The king goes home with his next move, whoever looks.
    king_wins = "7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d"
    found = network.search(hnefi.Position("brandubh", king_wins), 16)
    assert (found.value, found.proven) == ((1.0, 0.0, 0.0), ("win", 1))
    assert found.best in ("g3g1", "g3g7")
    assert found.principal_variation == [found.best]


def test_a_search_has_a_row_for_each_move(network: hnefi.Checkpoint) -> None:
    game = hnefi.Game("brandubh", moves=["d6f6"])
    found = network.search(game, playouts=40)
    k = len(game.legal_moves())
    assert found.moves == game.legal_moves() and np.array_equal(found.actions, game.legal_actions())
    assert found.visits.sum() == found.playouts == 40
    assert found.priors.shape == found.policy.shape == (k,) and found.values.shape == (k, 3)
    assert np.isclose(found.policy.sum(), 1, atol=1e-5) and np.isclose(sum(found.value), 1, atol=1e-5)
    assert np.array_equal(np.isnan(found.values[:, 0]), np.isnan(found.values[:, 2]))
    assert found.action == game.position.action(found.best) and found.principal_variation[0] == found.best
    evaluated = network.evaluate([game])
    assert np.allclose(evaluated.priors[0, found.actions], found.priors, atol=1e-6)
    assert np.allclose(evaluated.values[0], found.raw, atol=1e-6)
    again = network.search(game.position, 40)
    assert again.best == found.best and np.array_equal(again.visits, found.visits), "the same search again"


def test_many_positions_are_searched_as_each_alone(network: hnefi.Checkpoint) -> None:
    env = hnefi.VectorEnv("brandubh", 6, seed=4)
    env.step_random(5)
    positions = [env.position(row) for row in range(6)]
    for found, position in zip(network.search_each(env, 24), positions):
        alone = network.search(position, 24)
        assert found.best == alone.best and np.array_equal(found.visits, alone.visits)
    # Positions that are alike have noise of their own, and the seed decides it.
    start = [hnefi.Position("brandubh")] * 6
    noisy = [network.search_each(start, 24, noise=seed) for seed in (1, 1, 2)]
    visits = [[tuple(found.visits) for found in some] for some in noisy]
    assert visits[0] == visits[1] != visits[2] and len(set(visits[0])) > 1


def test_searches_by_time_with_threads_and_settings(network: hnefi.Checkpoint) -> None:
    start = hnefi.Position("brandubh")
    found = network.search(start, seconds=0.05, threads=2)
    assert found.playouts >= 1 and start.is_legal(found.best)
    assert network.search(start, 8, root="puct", c_puct=1.5).playouts == 8


def test_the_lock_is_released_while_searching(network: hnefi.Checkpoint) -> None:
    ticks, over = [], threading.Event()

    def count() -> None:
        while not over.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    network.search(hnefi.Position("brandubh"), seconds=0.3)
    over.set()
    thread.join()
    assert len(ticks) > 10


@pytest.mark.parametrize(
    "work",
    [
        "network.search(start, seconds=60)",
        "network.search_each([start] * 1000, 2000)",
        "network.search_each([start], 5_000_000, root='puct', max_nodes=6_000_000)",
        "hnefi.Player('alphabeta:3').choose([start] * 100_000)",
        "hnefi.Player('model:brandubh,time=600').choose([start])",
        "hnefi.match('model:brandubh,time=600', 'random', 2, 'brandubh')",
    ],
)
def test_ctrl_c_ends_the_work(work: str) -> None:
    code = f"""if True:
        import hnefi, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background job ignores it.
        start, network = hnefi.Position("brandubh"), hnefi.Checkpoint("brandubh")
        print("searching", flush=True)
        {work}"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "searching\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=50)[1]


def test_what_cannot_be_is_refused(network: hnefi.Checkpoint) -> None:
    start = hnefi.Position("brandubh")
    over = hnefi.Game(hnefi.Rules("brandubh", ply_cap=1), moves=["d6f6"]).position
    for call, words in [
        (lambda: hnefi.Checkpoint("brandub"), "did you mean brandubh?"),
        (lambda: hnefi.Checkpoint("brandubh", precision="f16"), "f16"),
        (lambda: network.evaluate([]), "no positions"),
        (lambda: network.evaluate(start), "positions <Position .*: expected a sequence"),
        (lambda: network.evaluate([start, hnefi.Position("tablut")]), "9x9 beside one of 7x7"),
        (lambda: network.evaluate([start, over]), "position 1: the game is over"),
        (lambda: network.evaluate(["d6f6"]), "position 'd6f6': expected hnefi.Position"),
        (lambda: network.search(over), "the game is over"),
        (lambda: network.search(start, 5, seconds=1), "one limit"),
        (lambda: network.search(start, 0), "playouts = 0"),
        (lambda: network.search(start, seconds=-1), "seconds = -1"),
        (lambda: network.search(start, seconds=1, root="gumbel"), "puct"),
        (lambda: network.search(start, 5, c_putc=1), "c_puct"),
        (lambda: network.search(start, 5, threads=0), "threads = 0"),
        (lambda: network.search(start, 5, noise=1, root="puct"), "noise = 1"),
        (lambda: network.search_each([start, over], 5), "position 1: the game is over"),
        (lambda: hnefi.match("random", "randon", 2, "brandubh"), "randon"),
        (lambda: hnefi.match("random", "random", 3, "brandubh"), "3 games: expected an even number"),
    ]:
        with pytest.raises(ValueError, match=words) as error:
            call()
        assert "\n" not in str(error.value)


def test_the_shipped_checkpoints_are_there(network: hnefi.Checkpoint) -> None:
    assert {"brandubh", "copenhagen"} <= set(hnefi.checkpoint_names())
    assert network.rulesets == ["brandubh"] and network.card()["id"] == network.id and len(network.id) == 64


def test_a_match_counts_and_keeps_its_games() -> None:
    found = hnefi.match("alphabeta:1", "random", games=6, ruleset="brandubh", seed=1)
    assert found.wins + found.draws + found.losses == found.games == 6 == len(found.records)
    assert found.score == (found.wins + found.draws / 2) / 6 and found.score > 0.5
    assert found.summary()["wins"] == found.wins and found.summary()["a"] == "alphabeta:1"
    with pytest.warns(UserWarning, match="trained on brandubh, not on tablut"):
        hnefi.match("model:brandubh,playouts=2", "random", 2, "tablut", threads=1)
    own = hnefi.match("model:brandubh,playouts=2", "random", 2, threads=1).records
    assert len(own) == 2 and all("brandubh" in repr(game.rules) for game in own)
    capped = hnefi.match("random", "random", 10, hnefi.Rules("brandubh", ply_cap=20)).records
    assert all(len(game) <= 20 for game in capped)
    again = hnefi.match("alphabeta:1", "random", games=6, ruleset="brandubh", seed=1, threads=1)
    assert [record.moves for record in again.records] == [record.moves for record in found.records]


def test_the_build_runs_on_every_cpu_and_chooses_its_kernels(root: Path) -> None:
    info = hnefi.build_info()
    assert f'version = "{info["version"]}"' in (root / "Cargo.toml").read_text(), "the crates share one version"
    assert info["compiled_for"] in ("x86_64", "aarch64"), "built without flags for newer CPUs"
    flags = open("/proc/cpuinfo").read() if info["compiled_for"] == "x86_64" else ""
    if " avx2 " in flags and " fma " in flags:
        assert "AVX" in info["kernels"], info


@pytest.fixture
def told(network: hnefi.Checkpoint, tmp_path: Path) -> dict[str, Any]:
    """A task, as the loop tells it."""
    hnefi.save_checkpoint(tmp_path / "from", network.tensors(), {"network": network.card()["network"]})
    (tmp_path / "out").mkdir()
    return {
        **{"generation": 1, "checkpoint": str(tmp_path / "from"), "state": None, "output": str(tmp_path / "out")},
        **{"first_step": 0, "rates": [0.1], "seed": 1, "value_lambda": 1.0, "value_fade": 0.0, "train": {"batch": 4}},
        "games": [],
    }


def test_a_task_takes_numpys_numbers(network: hnefi.Checkpoint, told: dict[str, Any]) -> None:
    said = io.StringIO()
    task = hnefi.training.Task(told, [], said)
    task.progress(np.int64(1), {"total": np.float32(1.5)})
    task.finish(network.tensors(), {"total": np.float32(1.5)}, np.int64(4))
    assert [json.loads(line)["losses"] for line in said.getvalue().splitlines()] == [{"total": 1.5}] * 2


def test_what_a_trainer_and_its_processes_print_is_no_answer(told: dict[str, Any]) -> None:
    code = """if True:
        import hnefi, hnefi.training, subprocess
        for task in hnefi.training.tasks():
            print("printed")
            subprocess.run(["echo", "echoed"], check=True)
            task.finish(hnefi.Checkpoint(task.checkpoint).tensors(), {})"""
    asked = f"{json.dumps(told)}\nquit\n"
    done = subprocess.run([sys.executable, "-c", code], input=asked, capture_output=True, text=True, check=True)
    assert [json.loads(line)["finished"] for line in done.stdout.splitlines()] == [True]
    assert "printed\n" in done.stderr and "echoed\n" in done.stderr


def test_a_card_takes_numpys_numbers_and_says_what_can_be_read(network: hnefi.Checkpoint, tmp_path: Path) -> None:
    card = {"network": network.card()["network"], "generation": np.int64(3), "rulesets": np.array(["brandubh"])}
    for key, value, words in [
        ("steps", 2**50, "steps is 1125899906842624"),
        ("seed", {1}, "card = .*: expected numbers"),
    ]:
        with pytest.raises(ValueError, match=words):
            hnefi.save_checkpoint(tmp_path / "own", network.tensors(), {**card, key: value})
    assert not list(tmp_path.iterdir())
    hnefi.save_checkpoint(tmp_path / "own", network.tensors(), card)
    own = hnefi.Checkpoint(tmp_path / "own")
    assert (own.card()["generation"], own.rulesets) == (3, ["brandubh"])


def test_a_card_has_no_other_keys(network: hnefi.Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match='"ruleset" is no part'):
        card = {"network": network.card()["network"], "ruleset": []}
        hnefi.save_checkpoint(tmp_path / "other", network.tensors(), card)
