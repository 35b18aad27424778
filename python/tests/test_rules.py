"""Rules, positions and games against the data that independent programs agreed on (engine/tests/data)."""

import json
from pathlib import Path

import hnefi
import numpy as np
import pytest
from conftest import fen


def test_perft_agrees_with_independent_programs(root: Path) -> None:
    entries = json.loads((root / "engine/tests/data/perft.json").read_text())
    checked = 0
    for entry in entries:
        position = hnefi.Position(entry["preset"], fen(entry["board"], entry["to_move"]))
        for depth, nodes in entry["perft"].items():
            if nodes < 1_000_000:
                assert position.perft(int(depth)) == nodes, entry["name"]
                checked += 1
    assert checked >= 9


def test_every_case_of_the_rules_text(root: Path) -> None:
    cases = json.loads((root / "engine/tests/data/cases.json").read_text())
    checked = 0
    for case in cases:
        for ruleset in [case["ruleset"], *case.get("also_rulesets", [])]:
            game = hnefi.Game(ruleset, fen(case["board"], case["to_move"]), case.get("history", []))
            expect, before = case["expect"], game.fen
            assert game.position.is_legal(case["move"]) == expect["legal"], case["name"]
            if not expect["legal"]:
                with pytest.raises(ValueError, match=case["move"]):
                    game.play(case["move"])
                assert game.fen == before
                continue
            assert sorted(game.play(case["move"])) == sorted(expect["captures"]), case["name"]
            found = (game.outcome.winner or "draw", game.outcome.reason) if game.outcome else ("ongoing", "")
            assert found == (expect["status"], expect["reason"]), case["name"]
            checked += 1
    assert checked > 200


def test_a_game_goes_as_the_engine_documents_it() -> None:
    # The example of the engine's documentation (engine/src/lib.rs).
    game = hnefi.Game("brandubh")
    assert game.fen == "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a"
    assert len(game.legal_moves()) == 40
    assert game.play("d6f6") == []
    assert game.fen == "3a3/5a1/3d3/aadkdaa/3d3/3a3/3a3 d"
    assert game.outcome is None
    with pytest.raises(ValueError, match="d5"):
        game.play("d4d7")
    assert (game.undo(), game.undo(), len(game)) == ("d6f6", None, 0)


def test_rules_are_readable_and_can_be_mixed() -> None:
    names = hnefi.rulesets()
    assert names[0] == "copenhagen" and {"brandubh", "magpie", "alea-evangelii"} < set(names)
    assert [hnefi.Rules(name).ruleset for name in names] == names
    options = hnefi.Rules("brandubh").options()
    assert (options["start"], options["king_capture"]) == ("3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3", "strong_near_throne")
    mixed = hnefi.Rules("brandubh", king_capture="weak", shieldwall=True)
    assert mixed.ruleset is None and mixed.options()["king_capture"] == "weak" and mixed != hnefi.Rules("brandubh")
    slow = hnefi.Rules("brandubh", speed={"king": 1})
    assert slow.options()["speed"] == {"attackers": 0, "defenders": 0, "king": 1}
    assert hnefi.Rules("brandubh", speed={"king": np.int64(1)}) == slow
    with pytest.raises(ValueError, match="speed = .*: expected numbers, texts"):
        hnefi.Rules("brandubh", speed={"king": {1}})
    assert len(hnefi.Position(slow).legal_moves()) == len(hnefi.Position("brandubh").legal_moves())
    assert hnefi.Rules("brandubh", ply_cap=9).ruleset == "brandubh"
    game = hnefi.Game(hnefi.Rules("brandubh", ply_cap=1))
    game.play("d6f6")
    assert game.outcome is not None and (game.outcome.winner, game.outcome.reason) == (None, "ply_cap")


def test_a_game_is_resigned_copied_and_looked_up() -> None:
    game = hnefi.Game("brandubh", moves=["d6c6", "d5f5", "c6c5", "d4d6"])
    other = game.copy()
    game.resign("attackers")
    assert (game.is_over, game.winner, game.resigned, game.outcome) == (True, "defenders", "attackers", None)
    assert (game.reward("attackers"), game.reward("defenders"), other.reward("attackers")) == (-1.0, 1.0, None)
    assert game.legal_moves() == [] and not game.action_mask().any()
    for look in (lambda: hnefi.encode([game]), lambda: hnefi.search(game, lambda positions: (), 4)):
        with pytest.raises(ValueError, match="the game is over, attackers resigned"):
            look()
    assert other.position_at(0) == hnefi.Position("brandubh")
    assert [position.ply for position in other.positions()] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="over"):
        game.play("a4a5")
    with pytest.raises(IndexError):
        game.position_at(5)


@pytest.mark.parametrize("ruleset", hnefi.rulesets())
def test_masks_and_numbers_are_the_legal_moves(ruleset: str) -> None:
    rng = np.random.default_rng(3)
    position = hnefi.Position(ruleset)
    n = position.size
    for _ in range(40):
        moves, actions, mask = position.legal_moves(), position.legal_actions(), position.action_mask()
        assert mask.shape == (4 * (n - 1) * n * n,) and mask.dtype == bool and mask.sum() == len(moves) == len(actions)
        assert set(np.flatnonzero(mask)) == set(actions)
        for text, action in zip(moves, actions):
            assert position.move_text(action) == text and position.action(text) == action
            # The index as documented, worked out here once more.
            file, rank = ord(text[0]) - ord("a"), int("".join(filter(str.isdigit, text[1:3]))) - 1
            direction, distance = divmod(int(action) // (n * n), n - 1)
            to_file = file + (distance + 1) * (0, 1, 0, -1)[direction]
            to_rank = rank + (distance + 1) * (1, 0, -1, 0)[direction]
            assert text == f"{chr(97 + file)}{rank + 1}{chr(97 + to_file)}{to_rank + 1}"
            assert int(action) % (n * n) == rank * n + file
        if position.outcome is not None:
            break
        position = position.play(rng.choice(actions))


def test_planes_show_the_fen() -> None:
    position = hnefi.Position("copenhagen").play("d1d3")
    planes, seen = position.planes(), position.globals()
    assert (planes.shape, planes.dtype, seen.shape, seen.dtype) == ((32, 11, 11), np.float32, (48,), np.float32)
    letters = np.array([list(row) for row in _rows(position.fen)])[::-1]
    for plane, letter in enumerate("adk"):
        assert np.array_equal(planes[plane], letters == letter)
    assert planes[12].sum() == 1 and planes[12, 0, 3] == 1, "the last move began on d1"
    assert planes[13].sum() == 1 and planes[13, 2, 3] == 1, "and ended on d3"
    assert seen[0] == 0 and hnefi.Position("copenhagen").globals()[0] == 1, "whether the attackers are to move"
    assert planes.flags.writeable and planes.flags.c_contiguous


def _rows(text: str) -> list[str]:
    rows = []
    for row in text.split()[0].split("/"):
        for number in range(11, 0, -1):
            row = row.replace(str(number), "." * number)
        rows.append(row)
    return rows


def test_bad_arguments_are_refused_in_one_line() -> None:
    start = hnefi.Position("brandubh")
    for call, words in [
        (lambda: hnefi.Position("brandub"), ["brandub", "did you mean brandubh?"]),
        (lambda: hnefi.Position("brandubh", "3a3 a"), ["1 rows; expected 7"]),
        (lambda: hnefi.Position(7), ["7", "hnefi.Rules"]),
        (lambda: hnefi.Rules("brandubh", king_captur="weak"), ["king_captur", "did you mean king_capture?"]),
        (lambda: hnefi.Rules("brandubh", king_capture="soft"), ["king_capture = 'soft'", "strong"]),
        (lambda: hnefi.Rules("brandubh", repetition_occurrence=1), ["repetition_occurrence = 1", "2 to 255"]),
        (lambda: start.play("z9z8"), ["z9z8"]),
        (lambda: start.play("a4a5a6"), ["a4a5a6"]),
        (lambda: start.play(24 * 49), ["action 1176", "0 to 1175"]),
        (lambda: start.play(-1), ["action -1"]),
        (lambda: start.action("a1b2"), ["a1b2"]),
        (lambda: start.move_text(1127), ["leave the board"]),
        (lambda: start.move_text(1176), ["action = 1176", "0 to 1175"]),
        (lambda: hnefi.Rules("brandubh", ply_cap=70000), ["ply_cap = 70000", "0 to 65535"]),
        (lambda: hnefi.Rules("brandubh", ply_cap=[30]), ["ply_cap = [30]", "0 to 65535"]),
        (lambda: hnefi.Outcome("attackers", "boredom"), ["boredom"]),
        (lambda: hnefi.GameRecord.from_bytes(b"?"), ["data"]),
        (lambda: hnefi.MatchResult({"games": 2}, []), ["summary = {'games': 2}: missing field"]),
        (lambda: hnefi.Game("brandubh", moves=["d6f6", "d6f6"]), ["ply 1"]),
        (lambda: hnefi.Game("brandubh").resign("white"), ["white", "attackers"]),
    ]:
        with pytest.raises(ValueError) as error:
            call()
        text = str(error.value)
        assert "\n" not in text and all(word in text for word in words), text
