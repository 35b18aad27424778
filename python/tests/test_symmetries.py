"""Images of planes and policies against games whose moves are turned and mirrored, one by one."""

import hnefi
import numpy as np
import pytest
from hnefi import symmetries


def image(square: str, size: int, symmetry: int) -> str:
    """A square's image, by its name."""
    file, rank = ord(square[0]) - 97, int(square[1:]) - 1
    if symmetry & 4:
        file, rank = rank, file
    file, rank = size - 1 - file if symmetry & 1 else file, size - 1 - rank if symmetry & 2 else rank
    return f"{chr(97 + file)}{rank + 1}"


@pytest.mark.parametrize("ruleset", ["brandubh", "tablut", "copenhagen"])
@pytest.mark.parametrize("symmetry", symmetries.ALL)
def test_the_engine_plays_the_image_of_a_game(ruleset: str, symmetry: int) -> None:
    game, mirrored = hnefi.Game(ruleset), hnefi.Game(ruleset)
    size, rng = game.rules.size, np.random.default_rng(symmetry)
    for _ in range(60):
        if game.is_over:
            break
        assert np.array_equal(symmetries.transform_planes(game.planes(), symmetry), mirrored.planes())
        mask = game.action_mask()
        assert np.array_equal(symmetries.transform_policy(mask, symmetry), mirrored.action_mask())
        action = int(rng.choice(game.legal_actions()))
        text = game.position.move_text(action)
        digits = [at for at, letter in enumerate(text) if letter.isalpha()]
        squares = text[: digits[1]], text[digits[1] :]
        game.play(action)
        moved = "".join(image(square, size, symmetry) for square in squares)
        assert symmetries.transform_action(action, size, symmetry) == mirrored.position.action(moved)
        mirrored.play(moved)
    assert game.outcome == mirrored.outcome


def test_images_are_taken_back_and_shapes_are_checked() -> None:
    rng = np.random.default_rng(1)
    planes, policies = rng.random((3, 32, 7, 7)), rng.random((3, 1176)).astype(np.float32)
    seen = set()
    for symmetry in symmetries.ALL:
        back = symmetries.inverse(symmetry)
        there = symmetries.transform_planes(planes, symmetry), symmetries.transform_policy(policies, symmetry)
        assert np.array_equal(symmetries.transform_planes(there[0], back), planes)
        assert np.array_equal(symmetries.transform_policy(there[1], back), policies)
        assert there[1].dtype == np.float32
        seen.add(there[1].tobytes())
    assert len(seen) == 8
    for wrong in (lambda: symmetries.inverse(8), lambda: symmetries.transform_planes(planes[..., :3], 1)):
        with pytest.raises(ValueError, match="expected"):
            wrong()
    with pytest.raises(ValueError, match="1175 moves"):
        symmetries.transform_policy(policies[:, 1:], 1)
    for action in (-1, 1176):
        with pytest.raises(ValueError, match=f"action {action}: expected 0 to 1175"):
            symmetries.transform_action(action, 7, 1)
