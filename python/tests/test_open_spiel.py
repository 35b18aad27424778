"""OpenSpiel's own test of a game, and a game beside the package's."""

import hnefi
import hnefi.open_spiel
import numpy as np
import pyspiel
import pytest


@pytest.mark.parametrize(
    "parameters",
    [
        "",
        "(ruleset=tablut,ply_cap=60)",
        "(ruleset=historical,ply_cap=30)",
        "(fen=7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d)",
    ],
)
def test_openspiels_simulations(parameters: str) -> None:
    game = pyspiel.load_game("python_hnefatafl" + parameters)
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)


def test_a_game_goes_as_the_packages_game() -> None:
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("python_hnefatafl(ruleset=historical)")
    state, ours = game.new_initial_state(), hnefi.Game(hnefi.VectorEnv("historical", 1).rules)
    observation = make_observation(game)
    assert game.max_game_length() == 400 and state.current_player() == 1, "the defenders move first"
    rng = np.random.default_rng(2)
    while not state.is_terminal():
        side = ("attackers", "defenders")[state.current_player()]
        assert side == ours.side_to_move and str(state) == str(ours)
        assert state.legal_actions() == sorted(ours.legal_actions().tolist())
        observation.set_from(state, 0)
        assert np.array_equal(observation.dict["observation"][:32], ours.planes())
        assert (observation.dict["observation"][32] == (side == "attackers")).all()
        action = int(rng.choice(state.legal_actions()))
        text = state.action_to_string(action)
        assert ours.position.action(text) == action
        clone = state.clone()
        state.apply_action(action)
        ours.play(text)
        assert str(clone) != str(state)
    assert ours.outcome is not None
    assert state.returns() == [ours.outcome.reward("attackers"), ours.outcome.reward("defenders")]


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ValueError, match="chess"):
        hnefi.open_spiel.HnefataflGame({"ruleset": "chess"})
