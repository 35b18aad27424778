"""Many games at once against single games."""

import hnefi
import numpy as np
import pytest


@pytest.mark.parametrize(("ruleset", "copy"), [("brandubh", True), ("tablut", False), ("copenhagen", True)])
def test_stepping_many_games_is_stepping_each(ruleset: str, copy: bool) -> None:
    count = 9
    env = hnefi.VectorEnv(ruleset, count, seed=5, ply_cap=30, copy=copy)
    rules = env.rules
    games = [hnefi.Game(rules) for _ in range(count)]
    observation = env.reset()
    ended = 0
    for _ in range(120):
        for row, game in enumerate(games):
            assert np.array_equal(observation.planes[row], game.planes())
            assert np.array_equal(observation.globals[row], game.globals())
            assert np.array_equal(observation.masks[row], game.action_mask())
            assert observation.players[row] == (game.side_to_move == "defenders")
        actions = env.random_actions()
        observation, rewards, dones = env.step(actions)
        for row, game in enumerate(games):
            mover = game.side_to_move
            game.play(actions[row])
            assert dones[row] == game.is_over
            assert rewards[row] == (game.reward(mover) if game.is_over else 0)
            if game.is_over:
                games[row] = hnefi.Game(rules)
                ended += 1
    assert ended > count
    assert env.position(0).fen == games[0].fen


@pytest.mark.parametrize("ruleset", ["brandubh", "tablut", "historical"])
@pytest.mark.parametrize("copy", [True, False])
def test_packed_observations_are_the_others_in_bits(ruleset: str, copy: bool) -> None:
    plain, packed = (hnefi.VectorEnv(ruleset, 5, seed=3, ply_cap=40, copy=copy) for _ in range(2))
    squares, size = plain.size**2, plain.size
    plain.reset()
    for _ in range(60):
        actions = plain.random_actions()
        seen, rewards, dones = plain.step(actions)
        bits, packed_rewards, packed_dones = packed.step_packed(actions)
        planes = np.unpackbits(bits.planes, axis=-1, count=squares, bitorder="little")
        assert np.array_equal(planes.reshape(5, 16, size, size), seen.planes)
        assert np.array_equal(np.unpackbits(bits.masks, axis=-1, bitorder="little"), seen.masks)
        assert np.array_equal(bits.globals, seen.globals) and np.array_equal(bits.players, seen.players)
        assert np.array_equal(packed_rewards, rewards) and np.array_equal(packed_dones, dones)
    assert (packed.observe_packed().planes is bits.planes) != copy


def test_shapes_and_kinds() -> None:
    env = hnefi.VectorEnv("brandubh", 3)
    seen = env.reset()
    shapes = [(array.shape, array.dtype) for array in seen]
    assert shapes == [((3, 16, 7, 7), np.float32), ((3, 48), np.float32), ((3, 1960), np.bool_), ((3,), np.int8)]
    step = env.step([int(np.flatnonzero(mask)[0]) for mask in seen.masks])
    assert [(array.shape, array.dtype) for array in step[1:]] == [((3,), np.float32), ((3,), np.bool_)]
    assert step.observation.planes is not seen.planes and (len(env), env.size, env.num_actions) == (3, 7, 1960)
    assert env.rules.options()["ply_cap"] == 150, "self-play's cap on 7x7"


def test_without_copies_the_same_arrays_are_filled_again() -> None:
    env = hnefi.VectorEnv("brandubh", 2, copy=False)
    before = env.reset()
    after = env.step(env.random_actions()).observation
    assert after.planes is before.planes and after.masks is before.masks


def test_an_observation_that_is_held_stays_as_it_was() -> None:
    env = hnefi.VectorEnv("brandubh", 3, seed=1)
    held = env.reset()
    view = env.step(env.random_actions()).observation.masks[1]
    before = [held.planes.copy(), held.globals.copy(), held.masks.copy(), held.players.copy(), view.copy()]
    for _ in range(5):
        env.step(env.random_actions())
        env.step_packed(env.random_actions())
    for array, copy in zip((*held, view), before):
        assert np.array_equal(array, copy)
    # What nobody holds is written anew, unless somebody has changed its shape or locked it.
    addresses = [env.step(env.random_actions()).observation.planes.ctypes.data for _ in range(6)]
    assert len(set(addresses)) == 1
    env.observe().planes.shape = (3, -1)
    env.observe().masks.flags.writeable = False
    seen = env.observe()
    assert seen.planes.shape == (3, 16, 7, 7) and seen.masks.flags.writeable


def test_the_seed_decides_random_play_whatever_the_threads() -> None:
    def play(seed: int, threads: int) -> tuple[hnefi.RandomPlay, list[str]]:
        env = hnefi.VectorEnv("brandubh", 50, seed=seed, threads=threads)
        return env.step_random(200), [env.position(row).fen for row in range(50)]

    assert play(1, 1) == play(1, 2)
    assert play(1, 2) != play(2, 2)
    counts = play(1, 2)[0]
    assert counts.plies == 10_000 and min(counts.attackers, counts.defenders) > 0
    env = hnefi.VectorEnv("brandubh", 4, seed=7)
    first = env.random_actions()
    env.reset(seed=7)
    assert np.array_equal(env.random_actions(), first)


def test_a_refused_step_changes_nothing() -> None:
    env = hnefi.VectorEnv("brandubh", 3, seed=1)
    env.reset()
    good = env.random_actions()
    before = [env.position(row).fen for row in range(3)]
    bad = good.copy()
    bad[1] = 0
    for actions, words in [
        (bad, "game 1: action 0"),
        (good[:2], "2 actions: expected one for each of the 3 games"),
        (good.astype(float), "float64"),
        (np.full(3, 5000), "action 5000"),
        (good.reshape(1, 3), "shape"),
    ]:
        with pytest.raises(ValueError, match=words):
            env.step(actions)
        assert [env.position(row).fen for row in range(3)] == before
    env.step(good.astype(np.int32))
    with pytest.raises(ValueError, match="count = 0"):
        hnefi.VectorEnv("brandubh", 0)
    with pytest.raises(IndexError):
        env.position(3)
