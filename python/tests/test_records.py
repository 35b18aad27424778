"""Record files against the JSON that the golden file of the format has beside it (run/tests/data)."""

import json
from pathlib import Path

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
            assert np.array_equal(arrays["globals"][row], position.globals())
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
    squares = (bits & 127, bits >> 7)
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
