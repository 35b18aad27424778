"""Record files against the JSON that the golden file of the format has beside it (run/tests/data)."""

import json
import pickle
from pathlib import Path
from typing import Any

import hnefi
import numpy as np
import pytest


def test_the_golden_file_reads_as_its_json_says(root: Path) -> None:
    golden = json.loads((root / "run/tests/data/version_1.json").read_text())
    reader = hnefi.read_games(root / "run/tests/data/version_1.hgames")
    assert len(reader) == len(golden)
    for record, entry in zip(reader, golden):
        n, plies = record.rules.size, entry["plies"]
        assert (record.game, record.seed, list(record.players)) == (entry["game"], entry["seed"], entry["players"])
        assert record.rules.options() == entry["rules"] and record.start_fen == entry["start"]
        assert record.resigned == entry["resigned"] and len(record) == len(plies)
        moves = [_text(ply["mv"], n) for ply in plies]
        assert record.moves == moves
        arrays = record.arrays()
        game = record.to_game()
        assert game.moves == moves and game.winner == record.winner
        for row, (ply, position) in enumerate(zip(plies, game.positions())):
            assert np.array_equal(arrays["planes"][row], position.planes())
            seen, among_equals = arrays["globals"][row], position.globals()
            assert np.array_equal(np.delete(seen, range(43, 47)), np.delete(among_equals, range(43, 47)))
            lacks = {name: entry["handicap"][name] for name in ("blunders", "doublings")}
            told = [
                max(sign * lacks[name] / scale, 0)
                for name, scale in (("blunders", 1), ("doublings", 8))
                for sign in (-1, 1)
            ]
            assert np.allclose(seen[43:47], told), "what the attackers and the defenders lack"
            assert np.array_equal(arrays["masks"][row], position.action_mask())
            assert position.move_text(arrays["actions"][row]) == moves[row]
            target = {_text(mv, n): weight for mv, weight in ply["policy"]}
            policy = arrays["policies"][row]
            found = {position.move_text(action): policy[action] for action in np.flatnonzero(policy)}
            assert found.keys() == target.keys() and all(np.isclose(found[key], target[key]) for key in target)
            for key in ("raw", "searched"):
                assert np.allclose(arrays[key][row], [ply[key][part] for part in ("win", "draw", "loss")])
            assert (arrays["playouts"][row], arrays["trains"][row]) == (ply["playouts"], ply["trains"])
            if record.outcome or record.resigned:
                won = {None: 0, position.side_to_move: 1}.get(record.winner, -1)
                assert arrays["rewards"][row] == won
        assert np.array_equal(arrays["actions"], record.actions())


def _text(bits: int, n: int) -> str:
    squares = (bits & 511, bits >> 9)
    return "".join(f"{chr(97 + square % n)}{square // n + 1}" for square in squares)


def test_games_are_written_once_and_read_again(tmp_path: Path) -> None:
    played = hnefi.match("random", "random", games=4, ruleset="brandubh").records
    path = tmp_path / "games.hgames"
    hnefi.write_games(path, played)
    assert [record.moves for record in hnefi.read_games(path)] == [record.moves for record in played]
    before = path.read_bytes()
    with pytest.raises(ValueError, match="games.hgames"):
        hnefi.write_games(path, played)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="no.hgames: reading failed"):
        hnefi.read_games(tmp_path / "no.hgames")
    path.write_bytes(before[:-1])
    with pytest.raises(ValueError, match="cut off"):
        hnefi.read_games(path)


def test_games_of_ones_own_become_records(tmp_path: Path) -> None:
    game, rng = hnefi.Game("brandubh"), np.random.default_rng(1)
    policies: list[object] = []
    values = rng.dirichlet([1, 1, 1], 6).astype(np.float32)
    for ply in range(6):
        moves = game.legal_moves()[:3]
        dense = np.zeros(1176, np.float32)
        dense[[game.position.action(move) for move in moves]] = (0.5, 0.25, 0.25)
        by_text: dict[object, float] = dict(zip(moves, (0.5, 0.25, 0.25)))
        by_number: dict[object, float] = {
            np.int64(action): np.float32(dense[action]) for action in np.flatnonzero(dense)
        }
        policies.append((dense, by_text, by_number, None)[ply % 4])
        game.play(moves[ply % 3])
    record = hnefi.GameRecord(
        game.rules,
        None,
        game.moves,
        policies=policies,
        values=values,
        players=("me", "you"),
        resigned="attackers",
        game=7,
        seed=3,
    )
    assert (record.players, record.winner, record.outcome) == (("me", "you"), "defenders", None)
    assert (record.moves, record.game, record.seed, record.start_fen, len(record)) == (game.moves, 7, 3, None, 6)
    arrays = record.arrays()
    assert arrays["trains"].tolist() == [True, True, True, False, True, True]
    assert np.allclose(arrays["searched"], values) and np.allclose(arrays["raw"], 1 / 3)
    assert arrays["playouts"].tolist() == [1] * 6 and set(arrays["rewards"]) == {-1.0, 1.0}
    for ply, target in enumerate(arrays["policies"]):
        expected = {} if ply == 3 else dict(zip(game.position_at(ply).legal_moves()[:3], (0.5, 0.25, 0.25)))
        assert {
            game.position_at(ply).move_text(action): target[action] for action in np.flatnonzero(target)
        } == expected
    path = tmp_path / "own.hgames"
    hnefi.write_games(path, [record])
    (again,) = hnefi.read_games(path)
    assert again.to_bytes() == record.to_bytes() == hnefi.GameRecord.from_bytes(record.to_bytes()).to_bytes()
    assert pickle.loads(pickle.dumps(record)).to_bytes() == record.to_bytes()


def test_visits_of_a_search_are_a_target_and_elsewhere_is_a_start() -> None:
    network, fen = hnefi.Checkpoint("brandubh"), "3a3/3a3/7/aa3aa/3d3/3a1k1/3a3 a"
    found = network.search(hnefi.Position("brandubh", fen), 32, root="puct")
    visits = [dict(zip(found.actions, found.visits)), {"f2g2": 0}]
    moves = ["d7c7", "f2g2"]
    record = hnefi.GameRecord("brandubh", fen, moves, visits=visits, raw=[found.raw] * 2, trains=[False, False])
    assert (record.start_fen, record.outcome) == (fen, None)
    arrays = record.arrays()
    assert np.allclose(arrays["policies"][0][found.actions], found.visits / found.visits.sum())
    assert (arrays["playouts"][0], arrays["trains"][0]) == (found.visits.sum(), False)
    assert not arrays["policies"][1].any() and np.allclose(arrays["raw"], [found.raw] * 2)
    # A ply without visits keeps the value that it is given.
    both = hnefi.GameRecord("brandubh", fen, moves, visits=[visits[0], None], values=[(0.5, 0.0, 0.5)] * 2)
    assert both.arrays()["playouts"].tolist() == [found.visits.sum(), 1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"moves": ["d6f6", "d6f6"]}, "ply 1: "),
        ({"policies": [{"d6f6": 0.5}]}, "ply 0: policy weights sum to 0.5; expected 1"),
        ({"policies": [{"d6d1": 1.0}]}, "ply 0: the policy target holds an illegal move"),
        ({"policies": [{"d6f6": 2, "d6c6": -1}]}, "ply 0: a policy weight is below 0"),
        ({"policies": [{"z9": 1.0}]}, "policies, ply 0: .*z9"),
        ({"policies": [np.ones(9)]}, "policies, ply 0: 9 weights; expected 1176"),
        ({"policies": []}, "policies: 0 entries; expected one for each of 1 moves"),
        ({"policies": [None], "visits": [None]}, "policies and visits: expected one of them"),
        ({"values": [(1, 1, 0)]}, "ply 0: searched value is 1, 1, 0; expected chances that sum to 1"),
        ({"values": [(1, 0)]}, "values, ply 0: .*length"),
        ({"trains": [True]}, "ply 0: a training ply has no policy target"),
        ({"playouts": [-1]}, "playouts, ply 0: a ply's playouts = -1: expected a whole number"),
        ({"resigned": "white"}, "white"),
        ({"fen": "7 d"}, "1 rows"),
    ],
)
def test_records_that_contradict_themselves_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        hnefi.GameRecord("brandubh", **{"moves": ["d6f6"], **given})
