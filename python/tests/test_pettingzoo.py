"""PettingZoo's own tests, and one game beside the package's."""

import pickle

import hnefi
import hnefi.pettingzoo
import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.save_obs_test import test_save_obs as save_obs_test


@pytest.mark.parametrize("ruleset", ["brandubh", "tablut", "copenhagen"])
def test_pettingzoos_api_test(ruleset: str) -> None:
    api_test(hnefi.pettingzoo.env(ruleset, ply_cap=40), num_cycles=200)


def test_pettingzoos_seed_test() -> None:
    seed_test(lambda: hnefi.pettingzoo.env(ruleset="brandubh"), num_cycles=200)


def test_pettingzoos_test_of_saved_observations(capsys: pytest.CaptureFixture[str]) -> None:
    save_obs_test(hnefi.pettingzoo.env(ruleset="brandubh"))
    assert "Observations must be Box" in capsys.readouterr().out, "boards are no pictures, as in its own board games"


def test_a_game_goes_as_the_packages_game() -> None:
    env = hnefi.pettingzoo.env(ruleset="brandubh", render_mode="ansi")
    env.reset(seed=1)
    game, rng = hnefi.Game(hnefi.Rules("brandubh", ply_cap=150)), np.random.default_rng(1)
    for agent in env.agent_iter():
        seen, _, termination, truncation, _ = env.last()
        if termination or truncation:
            break
        assert agent == game.side_to_move and env.render() == str(game)
        assert np.array_equal(seen["observation"][:32], game.planes())
        assert np.array_equal(seen["action_mask"], game.action_mask())
        other = "attackers" if agent == "defenders" else "defenders"
        assert not env.observe(other)["action_mask"].any()
        action = rng.choice(game.legal_actions())
        env.step(action)
        game.play(action)
    assert game.outcome is not None
    assert env.unwrapped.rewards == {side: game.outcome.reward(side) for side in ("attackers", "defenders")}


def test_the_ply_cap_truncates_and_other_ends_terminate() -> None:
    env = hnefi.pettingzoo.raw_env(ruleset="brandubh", ply_cap=1)
    env.reset()
    env.step(hnefi.Position("brandubh").action("d6f6"))
    assert all(env.truncations.values()) and not any(env.terminations.values()) and not any(env.rewards.values())
    env.reset()
    with pytest.raises(ValueError, match="move 21.9: expected"):
        env.step(21.9)
    again = pickle.loads(pickle.dumps(env))
    again.step(np.int64(hnefi.Position("brandubh").action("d6f6")))
    assert all(again.truncations.values()) and not any(env.truncations.values())
    elsewhere = hnefi.pettingzoo.env(hnefi.Rules("brandubh", king_capture="weak"), fen="7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d")
    elsewhere.reset()
    elsewhere.step(hnefi.Position("brandubh").action("g3g1"))
    assert elsewhere.unwrapped.rewards == {"attackers": -1, "defenders": 1}
    with pytest.raises(ValueError, match="render_mode"):
        hnefi.pettingzoo.env(render_mode="rgb_array")
