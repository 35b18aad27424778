"""Many games at once against single games."""

import pickle
from pathlib import Path

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
    ended, reasons = 0, set()
    for _ in range(120):
        for row, game in enumerate(games):
            assert np.array_equal(observation.planes[row], game.planes())
            assert np.array_equal(observation.globals[row], game.globals())
            assert np.array_equal(observation.masks[row], game.action_mask())
            assert observation.players[row] == (game.side_to_move == "defenders")
        actions = env.random_actions()
        observation, rewards, terminated, truncated, final_obs = env.step(actions)
        last = 0
        for row, game in enumerate(games):
            mover = game.side_to_move
            game.play(actions[row])
            assert rewards[row] == (game.reward(mover) if game.is_over else 0)
            capped = game.outcome is not None and game.outcome.reason == "ply_cap"
            assert (terminated[row], truncated[row]) == (game.is_over and not capped, capped)
            if game.outcome is not None:
                assert np.array_equal(final_obs.planes[last], game.planes())
                assert np.array_equal(final_obs.globals[last], game.globals())
                assert final_obs.players[last] == (game.side_to_move == "defenders")
                assert not final_obs.masks[last].any()
                games[row] = hnefi.Game(rules)
                last += 1
                reasons.add(game.outcome.reason)
        assert all(len(array) == last for array in final_obs)
        ended += last
    assert ended > count and "ply_cap" in reasons and (ruleset != "brandubh" or len(reasons) > 1)
    assert env.position(0).fen == games[0].fen


@pytest.mark.parametrize("ruleset", ["brandubh", "tablut", "historical"])
@pytest.mark.parametrize("copy", [True, False])
def test_packed_observations_are_the_others_in_bits(ruleset: str, copy: bool) -> None:
    plain, packed = (hnefi.VectorEnv(ruleset, 5, seed=3, ply_cap=40, copy=copy) for _ in range(2))
    squares, size = plain.size**2, plain.size
    plain.reset()
    for _ in range(60):
        actions = plain.random_actions()
        seen, *results, last = plain.step(actions)
        bits, *packed_results, packed_last = packed.step_packed(actions)
        planes = np.unpackbits(bits.planes, axis=-1, count=squares, bitorder="little")
        assert np.array_equal(planes.reshape(5, 32, size, size), seen.planes)
        assert np.array_equal(np.unpackbits(bits.masks, axis=-1, bitorder="little"), seen.masks)
        assert np.array_equal(bits.globals, seen.globals) and np.array_equal(bits.players, seen.players)
        assert np.array_equal(packed_results, results)
        planes = np.unpackbits(packed_last.planes, axis=-1, count=squares, bitorder="little")
        assert np.array_equal(planes.reshape(last.planes.shape), last.planes)
        assert np.array_equal(packed_last.globals, last.globals) and not packed_last.masks.any()
    assert (packed.observe_packed().planes is bits.planes) != copy


def test_shapes_and_kinds() -> None:
    env = hnefi.VectorEnv("brandubh", 3)
    seen = env.reset()
    shapes = [(array.shape, array.dtype) for array in seen]
    assert shapes == [((3, 32, 7, 7), np.float32), ((3, 48), np.float32), ((3, 1176), np.bool_), ((3,), np.int8)]
    step = env.step([int(np.flatnonzero(mask)[0]) for mask in seen.masks])
    assert [(array.shape, array.dtype) for array in step[1:4]] == [((3,), np.float32)] + 2 * [((3,), np.bool_)]
    assert [array.shape for array in step.final_obs] == [(0, 32, 7, 7), (0, 48), (0, 1176), (0,)]
    assert step.observation.planes is not seen.planes and (len(env), env.size, env.num_actions) == (3, 7, 1176)
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
    assert seen.planes.shape == (3, 32, 7, 7) and seen.masks.flags.writeable


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


def test_games_begin_where_they_are_told_to() -> None:
    fen = "7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d"
    env = hnefi.VectorEnv("brandubh", 3, fen=fen)
    home, on = (hnefi.Position("brandubh", fen).action(move) for move in ("g3g1", "d3c3"))
    _, rewards, terminated, truncated, final_obs = env.step([home, on, on])
    assert (rewards.tolist(), terminated.tolist(), truncated.tolist()) == ([1, 0, 0], [True, False, False], [False] * 3)
    assert final_obs.planes.shape[0] == 1 and final_obs.planes[0, 2, 0, 6] == 1, "the king is home"
    assert env.position(0) == hnefi.Position(env.rules, fen) != env.position(1)
    for bad, words in [("7 d", "1 rows"), ("7/3a3/3a3/aa3aa/3d3/3a3/3a2k d", "the game is over")]:
        with pytest.raises(ValueError, match=words):
            hnefi.VectorEnv("brandubh", 3, fen=bad)


def test_single_games_are_begun_anew() -> None:
    env, other = (hnefi.VectorEnv("brandubh", 4, seed=6) for _ in range(2))
    env.step_random(9)
    before = [env.position(row) for row in range(4)]
    mask = np.array([False, True, False, True])
    seen = env.reset(seed=6, mask=mask)
    start = hnefi.Position(env.rules)
    assert [env.position(row) for row in range(4)] == [before[0], start, before[2], start]
    assert np.array_equal(seen.planes[3], start.planes()) and np.array_equal(seen.planes[2], before[2].planes())
    assert np.array_equal(env.random_actions()[mask], other.random_actions()[mask]), "and so is their random play"
    for bad in (mask[:3], [0, 1, 0, 1], "all", mask.reshape(2, 2)):
        with pytest.raises(ValueError, match="mask"):
            env.reset(mask=bad)


def test_a_state_is_gone_on_from() -> None:
    env = hnefi.VectorEnv("brandubh", 5, seed=2, ply_cap=40)
    env.step_random(25)
    state = env.get_state()
    assert state.positions == [env.position(row) for row in range(5)]
    then = env.step_random(100), env.get_state()
    other = hnefi.VectorEnv("brandubh", 5, seed=9, ply_cap=40)
    for again in (env, other):
        again.set_state(state)
        assert (again.step_random(100), again.get_state()) == then
    # Positions of one's own, with their history: the start occurs for the third time.
    mine = hnefi.Position(env.rules, moves=["d6c6", "d5c5", "c6d6", "c5d5", "d6c6", "d5c5", "c6d6"])
    env.set_state(state._replace(positions=[mine] * 5))
    assert env.step([mine.action("c5d5")] * 5).terminated.all() and mine.play("c5d5").outcome is not None
    over = hnefi.Position(hnefi.Rules("brandubh", ply_cap=40), "7/3a3/3a3/aa3aa/3d3/3a3/3a2k d")
    then = env.get_state()
    for bad, words in [
        (state._replace(positions=state.positions[:4]), "4 positions and 5 random numbers: expected 5"),
        (state._replace(positions=[hnefi.Position("tablut")] * 5), 'position 0 under Rules."tablut".: expected Rules'),
        (state._replace(positions=[over] * 5), "position 0 .*the game is over"),
        (state._replace(random="?"), "random"),
    ]:
        with pytest.raises(ValueError, match=words):
            env.set_state(bad)
        assert env.get_state() == then


def test_environments_share_the_threads_of_all_cores() -> None:
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        pytest.skip("only Linux lists a process's threads")
    kept = [hnefi.VectorEnv("brandubh", 2)]
    kept[0].observe()
    before = len(list(tasks.iterdir()))
    for _ in range(20):
        kept.append(hnefi.VectorEnv("brandubh", 2))
        kept[-1].observe()
    assert len(list(tasks.iterdir())) == before
    with_own = hnefi.VectorEnv("brandubh", 2, threads=3)
    assert len(list(tasks.iterdir())) == before + 3
    assert pickle.loads(pickle.dumps(with_own)).observe().players.shape == (2,)
