"""Every public value is pickled and copied, goes through forks and threads, and takes NumPy's numbers."""

import ast
import copy
import inspect
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable

import hnefi
import numpy as np
import pytest
from numpy.typing import NDArray

START = hnefi.Position("brandubh")
FEN = "7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d"

GAMES = list(hnefi.read_games(Path(__file__).resolve().parents[2] / "run/tests/data/version_1.hgames"))

# Why there is no use in a second one.
SENSELESS = {"GameReader": "a place in a file", "Sampler": "as many games as a window"}


def samples(folder: Path) -> list[object]:
    """Values of every public class, with what is easily forgotten."""
    mixed = hnefi.Rules("tablut", king_capture="weak", ply_cap=60)
    resigned = hnefi.Game("brandubh", FEN, ["d3c3"])
    resigned.resign("attackers")
    network = hnefi.Checkpoint("brandubh", precision="int8")
    env = hnefi.VectorEnv(mixed, 5, seed=3, threads=2, copy=False)
    env.step_random(50)
    own = hnefi.VectorEnv("brandubh", 2, ply_cap=0, fen=FEN)
    result = hnefi.match("alphabeta:1", "random", 6, "brandubh", seed=1)
    hnefi.write_games(folder / "games.hgames", result.records)
    return [
        *(hnefi.Rules(name) for name in hnefi.rulesets()),
        *(mixed, hnefi.Rules("brandubh", ply_cap=9), hnefi.Rules(shieldwall=False)),
        *(START, START.play("d6f6").play("d5c5"), resigned.position, env.position(3), own.position(1)),
        hnefi.Game("brandubh", moves=["d6f6"]).position_at(0),
        *(hnefi.Game(), hnefi.Game(mixed), resigned),
        *(hnefi.Outcome("defenders", "king_escaped"), hnefi.Outcome(None, "ply_cap")),
        *(
            hnefi.Player("alphabeta:2"),
            hnefi.GameRecord("brandubh", FEN, ["d3c3"], policies=[{"d3c3": 1}], resigned="attackers"),
        ),
        *(result, result.records[0], hnefi.read_games(folder / "games.hgames"), network, env, own),
        *(env.get_state(), env.step_random(3), env.step(env.random_actions()), env.observe()),
        *(own.step_packed(own.random_actions()), own.observe_packed(), network.evaluate(own), network.search(START, 8)),
        *(hnefi.Sampler(GAMES), hnefi.Sampler(GAMES).batch(0, 4)),
    ]


def contents(value: object) -> object:
    """All that can be read of a value."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value), [contents(one) for one in value]
    if isinstance(value, dict):
        return {key: contents(one) for key, one in value.items()}
    if type(value).__module__ != "hnefi":
        return value
    kind = type(value)
    names = [name for name in dir(kind) if not name.startswith("_")]
    read = {name: contents(getattr(value, name)) for name in names if not callable(getattr(kind, name))}
    methods = {"arrays", "card", "globals", "legal_moves", "observe", "options", "planes", "summary"}
    called = {name: contents(getattr(value, name)()) for name in sorted(methods & set(names))}
    state = contents(value.get_state()) if isinstance(value, hnefi.VectorEnv) else None
    return kind, read, called, state, repr(value)


def copies(value: Any) -> list[Any]:
    pickled = [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    return [*pickled, copy.copy(value), copy.deepcopy(value)]


def test_every_public_value_is_pickled_and_copied(tmp_path: Path) -> None:
    values = samples(tmp_path)
    classes = {name for name in hnefi.__all__ if isinstance(getattr(hnefi, name), type)}
    assert {type(value).__name__ for value in values} == classes, "a sample of every class"
    for value in values:
        name = type(value).__name__
        if name in SENSELESS:
            for how in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match=SENSELESS[name]):
                    how(value)  # type: ignore[operator]
            continue
        for again in copies(value):
            assert contents(again) == contents(value), value
            if type(value).__hash__ is not object.__hash__ and not isinstance(value, tuple):
                assert again == value and hash(again) == hash(value)
    for name in set(hnefi.__all__) - classes:
        assert all(again is getattr(hnefi, name) for again in copies(getattr(hnefi, name))), name


def test_copies_go_their_own_way() -> None:
    game, env = hnefi.Game("brandubh", moves=["d6f6"]), hnefi.VectorEnv("brandubh", 3, seed=8)
    env.step_random(7)
    for other in copies(game):
        other.undo()
        assert (len(other), len(game)) == (0, 1)
    state = env.get_state()
    after = [(other.step_random(30), other.get_state()) for other in copies(env)]
    assert env.get_state() == state and all(one == after[0] for one in after)
    assert (env.step_random(30), env.get_state()) == after[0], "with the same random numbers"


def test_a_checkpoint_that_changed_meanwhile_is_refused(root: Path, tmp_path: Path) -> None:
    shipped = root / "models/inference/pretrained"
    place = tmp_path / "network"
    for name in ("brandubh", "copenhagen"):
        place.mkdir(exist_ok=True)
        for file in (shipped / name).iterdir():
            (place / file.name).write_bytes(file.read_bytes())
        if name == "brandubh":
            text = pickle.dumps(hnefi.Checkpoint(place))
            assert pickle.loads(text).id == hnefi.Checkpoint("brandubh").id
    with pytest.raises(ValueError, match="expected .*, as when it was pickled"):
        pickle.loads(text)


# What a process answers, in its own memory or handed over.
WORK = """
import hnefi, multiprocessing, os, pickle, sys, threading, time
import numpy as np

def answers(env, network):
    seen = env.step(env.random_actions()).observation
    found = network.search_each([hnefi.Position("brandubh")] * 20, 4, noise=1)
    values = network.evaluate(env).values
    games = hnefi.match("random", "random", 4, "brandubh", threads=2).records
    return [seen.planes.sum(), values.tobytes(), [one.best for one in found], env.step_random(40), games[3].moves]

def in_a_fork(work):
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(theirs, pickle.dumps(work()))
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        return pickle.loads(answer.read())

def made(threads):
    env, network = hnefi.VectorEnv("brandubh", 64, seed=5, threads=threads), hnefi.Checkpoint("brandubh")
    env.observe(), network.evaluate(env), network.search_each(env, 2)
    return env, network
"""


def run(code: str, folder: Path) -> None:
    """Runs a program that must end in time; nothing of it stays behind."""
    script = folder / "work.py"
    script.write_text(WORK + code)
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        errors = process.communicate(timeout=240)[1]
        assert process.returncode == 0, errors
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("threads", ["None", "3"])
def test_everything_works_on_after_a_fork(threads: str, tmp_path: Path) -> None:
    code = f"""
env, network = made({threads})
child = in_a_fork(lambda: answers(env, network))
grandchild = in_a_fork(lambda: in_a_fork(lambda: answers(env, network)))
new = in_a_fork(lambda: answers(*made({threads})))
assert child == grandchild == new == answers(env, network)
"""
    run(code, tmp_path)


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_processes_are_handed_everything(method: str, tmp_path: Path) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    code = f"""
if __name__ == "__main__":
    env, network = made(None)
    context = multiprocessing.get_context({method!r})
    with context.Pool(2) as pool:
        found = pool.starmap(answers, [(env, network)] * 3)
        games = pool.starmap(hnefi.match, [("random", "random", 2, "brandubh")] * 2)
    assert found == [answers(env, network)] * 3
    assert games[0].summary() == games[1].summary()
"""
    run(code, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_amid_a_call_is_an_error_and_no_wait_for_ever(tmp_path: Path) -> None:
    code = """
env, _ = made(None)
busy = threading.Thread(target=env.step_random, args=(200_000,))
busy.start()
time.sleep(0.2)
def work():
    try:
        return env.observe()
    except RuntimeError as error:
        return str(error)
assert "when the process forked; expected a fork between two calls" in in_a_fork(work)
busy.join()
assert len(in_a_fork(work).players) == 64
"""
    run(code, tmp_path)


def test_a_fork_while_a_player_thinks_is_no_wait_for_ever(tmp_path: Path) -> None:
    engine = tmp_path / "engine.py"
    engine.write_text(
        """
import sys, time
for line in sys.stdin:
    word = line.split()[0]
    if word == "uci":
        time.sleep(1.5)
    answer = {"uci": "uciok", "isready": "readyok", "go": "bestmove a4a3"}.get(word)
    if answer:
        print(answer, flush=True)
    if word == "quit":
        break
"""
    )
    code = f"""
start = hnefi.Position("brandubh")
player = hnefi.Player("uci:{sys.executable} {engine}")
busy = threading.Thread(target=player.choose, args=([start] * 4,))
busy.start()
time.sleep(0.7)
def work():
    try:
        return len(player.choose([start]))
    except RuntimeError as error:
        return str(error)
answer = in_a_fork(work)
assert answer == 1 or "when the process forked" in answer, answer
busy.join()
"""
    run(code, tmp_path)


def test_bound_methods_do_not_ask_for_self() -> None:
    assert list(inspect.signature(hnefi.Player("random").choose).parameters) == ["positions", "seed"]


def test_threads_that_share_an_environment_wait_for_each_other() -> None:
    network, errors = hnefi.Checkpoint("brandubh"), []
    env, alone = (hnefi.VectorEnv("brandubh", 64, seed=4) for _ in range(2))

    def work() -> None:
        try:
            for _ in range(10):
                env.step_random(5)
                env.observe_packed()
                env.position(3)
                network.evaluate(env)
                pickle.dumps(env)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    alone.step_random(8 * 10 * 5)
    assert env.get_state() == alone.get_state()


def uniform(positions: list[hnefi.Position]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.full((len(positions), 3), 1 / 3), np.ones((len(positions), 1176))


# Every parameter that is a whole number, with a value that is one and what it gives.
WHOLE: dict[str, tuple[Callable[[Any], object], int]] = {
    "search.playouts": (lambda n: hnefi.search(START, uniform, n).best, 2),
    "search.noise": (lambda n: hnefi.search(START, uniform, 9, noise=n).best, 2),
    "search.leaves": (lambda n: hnefi.search(START, uniform, 9, leaves=n).best, 2),
    "search_each.playouts": (lambda n: hnefi.search_each([START], uniform, n)[0].best, 2),
    "search_each.noise": (lambda n: len(hnefi.search_each([START], uniform, 9, noise=n)), 2),
    "search_each.leaves": (lambda n: hnefi.search_each([START], uniform, 9, leaves=n)[0].best, 2),
    "match.games": (lambda n: hnefi.match("random", "random", n, "brandubh").games, 2),
    "match.seed": (lambda n: hnefi.match("random", "random", 2, "brandubh", seed=n).records[0].moves, 3),
    "match.threads": (lambda n: hnefi.match("random", "random", 2, "brandubh", threads=n).games, 2),
    "match.opening_plies": (lambda n: hnefi.match("random", "random", 2, "brandubh", opening_plies=n).games, 3),
    "match.ply_cap": (lambda n: len(hnefi.match("random", "random", 2, "brandubh", ply_cap=n).records[0]), 5),
    "Position.move_text.action": (START.move_text, 50),
    "Position.perft.depth": (START.perft, 2),
    "Game.position_at.ply": (hnefi.Game("brandubh", moves=["d6f6"]).position_at, 1),
    "VectorEnv.count": (lambda n: len(hnefi.VectorEnv("brandubh", n)), 3),
    "VectorEnv.seed": (lambda n: hnefi.VectorEnv("brandubh", 1, n).get_state(), 3),
    "VectorEnv.ply_cap": (lambda n: hnefi.VectorEnv("brandubh", 1, ply_cap=n).rules, 3),
    "VectorEnv.threads": (lambda n: len(hnefi.VectorEnv("brandubh", 1, threads=n)), 2),
    "VectorEnv.position.index": (hnefi.VectorEnv("brandubh", 3).position, 2),
    "VectorEnv.reset.seed": (lambda n: contents(hnefi.VectorEnv("brandubh", 3).reset(n)), 2),
    "VectorEnv.step_random.plies": (lambda n: hnefi.VectorEnv("brandubh", 3).step_random(n), 2),
    "GameRecord.game": (lambda n: hnefi.GameRecord("brandubh", game=n).game, 2),
    "GameRecord.seed": (lambda n: hnefi.GameRecord("brandubh", seed=n).seed, 2),
    "Player.choose.seed": (lambda n: hnefi.Player("random").choose([START], n), 2),
    "Sampler.seed": (lambda n: len(hnefi.Sampler(GAMES, n)), 3),
    "Sampler.batch.step": (lambda n: contents(hnefi.Sampler(GAMES).batch(n, 4)), 2),
    "Sampler.batch.rows": (lambda n: contents(hnefi.Sampler(GAMES).batch(2, n)), 4),
    "Checkpoint.search.playouts": (lambda n: hnefi.Checkpoint("brandubh").search(START, n).best, 2),
    "Checkpoint.search.threads": (lambda n: hnefi.Checkpoint("brandubh").search(START, 2, threads=n).playouts, 1),
    "Checkpoint.search.noise": (lambda n: hnefi.Checkpoint("brandubh").search(START, 9, noise=n).best, 2),
    "Checkpoint.search_each.playouts": (lambda n: hnefi.Checkpoint("brandubh").search_each([START], n)[0].best, 2),
    "Checkpoint.search_each.noise": (lambda n: len(hnefi.Checkpoint("brandubh").search_each([START], 9, noise=n)), 2),
}


def whole_parameters() -> set[str]:
    """The parameters that the stubs call whole numbers."""
    found = set()
    tree = ast.parse((Path(str(hnefi.__file__)).parent / "_hnefi.pyi").read_text())
    functions = [("", node) for node in tree.body]
    functions += [(f"{node.name}.", part) for node in tree.body if isinstance(node, ast.ClassDef) for part in node.body]
    for owner, node in functions:
        if isinstance(node, ast.FunctionDef):
            name = owner + ("" if node.name == "__new__" else f"{node.name}.")
            for argument in [*node.args.args, *node.args.kwonlyargs]:
                if argument.annotation and ast.unparse(argument.annotation).split(" ")[0] == "_Int":
                    found.add(name + argument.arg)
    return found


def test_the_table_has_every_whole_number() -> None:
    assert whole_parameters() == WHOLE.keys()


@pytest.mark.parametrize("name", WHOLE)
def test_whole_numbers_may_be_numpys_and_others_are_refused_by_name(name: str) -> None:
    call, good = WHOLE[name]
    for kind in (np.int64, np.uint8, np.int32, np.array):
        assert contents(call(kind(good))) == contents(call(good)), kind
    index = {"Game.position_at.ply": "ply", "VectorEnv.position.index": "game"}
    for bad in (-1, np.int64(-3), 2**70, 1.5, np.float32(2), "2", [2], np.arange(300)):
        with pytest.raises(IndexError if name in index else ValueError) as error:
            call(bad)
        text = str(error.value)
        assert text.startswith(index.get(name, name.split(".")[-1])) and "expected" in text and "\n" not in text, text
        assert str(bad).split()[0].strip("[]") in text and len(text) < 200


def test_other_scalars_may_be_numpys() -> None:
    rules = hnefi.Rules("copenhagen", ply_cap=np.int64(30), shieldwall=np.bool_(False), king_capture=np.str_("weak"))
    assert rules == hnefi.Rules("copenhagen", ply_cap=30, shieldwall=False, king_capture="weak")
    assert (hnefi.VectorEnv("brandubh", 1, copy=np.bool_(False)).observe().planes.shape) == (1, 32, 7, 7)
    network = hnefi.Checkpoint("brandubh")
    assert network.search(START, seconds=np.float32(0.01)).playouts > 0
    found = [network.search(START, 20, root="puct", c_puct=kind(1.5)).visits.tolist() for kind in (float, np.float32)]
    assert found[0] == found[1]
    assert START.play(np.int64(START.action("d6f6"))) == START.play("d6f6")
    for call in (START.play, START.is_legal, hnefi.Game("brandubh").play, lambda move: hnefi.Game(moves=[move])):
        for bad in (21.9, None, 2**70, np.float64(21), ["d6f6"]):
            with pytest.raises(ValueError, match="^move .*: expected a text such as d6f6 or a number"):
                call(bad)  # type: ignore[arg-type]
