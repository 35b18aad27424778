"""Gymnasium's own checks, and its own vector environments beside ours."""

import pickle
import warnings
from typing import Any

import gymnasium
import hnefi
import hnefi.gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from hnefi.gymnasium import HnefataflEnv, HnefataflVectorEnv

RECORD = hnefi.Rules("brandubh", king_capture="weak")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"ruleset": "historical", "side": "attackers", "opponent": "alphabeta:1", "render_mode": "ansi"},
        {"ruleset": RECORD, "side": "random", "ply_cap": 9},
        {"opponent": None, "fen": "7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d"},
    ],
)
def test_gymnasiums_check(given: dict[str, Any]) -> None:
    env = gymnasium.make("hnefi/Hnefatafl-v0", **given).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env, skip_render_check="opponent" in given and given["opponent"] is None)
    env.action_space.seed(1)
    seen, _ = env.reset(seed=1)
    for _ in range(60):
        assert env.observation_space.contains(seen)
        assert np.array_equal(seen["action_mask"], env.action_masks())
        seen, _, terminated, truncated, info = env.step(env.action_space.sample(seen["action_mask"]))
        assert (terminated or truncated) == ("winner" in info) == (not seen["action_mask"].any())
        if terminated or truncated:
            seen, _ = env.reset()


def first(position: hnefi.Position) -> str:
    """A move that the position alone decides."""
    return position.legal_moves()[position.ply * 7 % len(position.legal_moves())]


@pytest.mark.parametrize("opponent", [first, "model:brandubh,playouts=2", None])
@pytest.mark.parametrize("side", ["attackers", "defenders"])
def test_many_games_are_what_gymnasium_makes_of_single_ones(opponent: Any, side: str) -> None:
    count, given = 5, {"opponent": opponent, "side": side, "ply_cap": 60}
    ours = gymnasium.make_vec("hnefi/Hnefatafl-v0", num_envs=count, **given)
    assert isinstance(ours.unwrapped, HnefataflVectorEnv)
    theirs = SyncVectorEnv([lambda: HnefataflEnv(**given)] * count, autoreset_mode=AutoresetMode.SAME_STEP)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"] and ours.num_envs == count
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    (seen, _), (expected, _) = ours.reset(seed=3), theirs.reset(seed=3)
    rng, winners = np.random.default_rng(1), set()
    for _ in range(80):
        assert ours.observation_space.contains(seen)
        assert all(np.array_equal(seen[name], expected[name]) for name in expected)
        assert np.array_equal(ours.unwrapped.action_masks(), seen["action_mask"])
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in seen["action_mask"]])
        seen, *results, infos = ours.step(actions)
        expected, *their_results, their_infos = theirs.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(results, their_results))
        assert [a.dtype for a in results] == [b.dtype for b in their_results]
        assert infos.keys() == their_infos.keys()
        if infos:
            assert np.array_equal(infos["_final_obs"], their_infos["_final_obs"])
            for last, their_last in zip(infos["final_obs"], their_infos["final_obs"]):
                assert (last is None) == (their_last is None)
                assert last is None or all(np.array_equal(last[name], their_last[name]) for name in their_last)
            for name in ("winner", "_winner"):
                assert np.array_equal(infos["final_info"][name], their_infos["final_info"][name])
            winners.update(infos["final_info"]["winner"])
    assert winners - {None} and (opponent is not first or len(winners) > 2), "games are won, and cut off"


def test_gymnasiums_wrappers_wrap() -> None:
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(HnefataflVectorEnv(8, ply_cap=10, side="random"))
    seen, _ = env.reset(seed=1)
    lengths = []
    for _ in range(20):
        env.action_space.seed(4)
        actions = env.unwrapped.games.random_actions()
        seen, _, terminated, truncated, infos = env.step(actions)
        if "episode" in infos:
            lengths.extend(infos["episode"]["l"][infos["_episode"]])
    assert lengths and max(lengths) == 5, "five moves of one's own are ten plies"


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_processes_of_gymnasium(context: str) -> None:
    makers = [Maker(), Maker()]
    theirs = AsyncVectorEnv(makers, context=context)
    here = SyncVectorEnv(makers)
    (seen, _), (expected, _) = theirs.reset(seed=5), here.reset(seed=5)
    try:
        for _ in range(4):
            assert all(np.array_equal(seen[name], expected[name]) for name in expected)
            actions = [int(np.flatnonzero(mask)[3]) for mask in seen["action_mask"]]
            seen, expected = theirs.step(np.array(actions))[0], here.step(np.array(actions))[0]
    finally:
        theirs.close()


class Maker:
    """An environment for another process, with a player that was asked in this one."""

    def __init__(self) -> None:
        self.env = HnefataflEnv(opponent="alphabeta:1", side="random")
        self.env.reset(seed=2)

    def __call__(self) -> HnefataflEnv:
        return self.env


@pytest.mark.parametrize("opponent", ["random", "alphabeta:1", "rollout:20"])
def test_states_and_copies_go_on_alike(opponent: str) -> None:
    env = HnefataflEnv(opponent=opponent, side="random")
    env.reset(seed=8)
    for _ in range(2):
        seen, *_ = env.step(np.flatnonzero(env.action_masks())[9])
    state, copy = env.get_state(), pickle.loads(pickle.dumps(env))

    def go_on(env: HnefataflEnv) -> list[Any]:
        told = []
        for _ in range(30):
            *_, terminated, truncated, info = env.step(np.flatnonzero(env.action_masks())[0])
            told.append((env.game.moves, env.side, info))
            if terminated or truncated:
                env.reset()
        return told

    then = go_on(env)
    assert np.array_equal(env.set_state(state)["planes"], seen["planes"])
    assert go_on(env) == then == go_on(copy)
    env.set_state(pickle.loads(pickle.dumps(state)))
    assert go_on(env) == then

    many = HnefataflVectorEnv(4, opponent=opponent, side="random", ply_cap=20)
    many.reset(seed=8)
    games, copies = many.get_state(), pickle.loads(pickle.dumps(many))

    def all_go_on(env: HnefataflVectorEnv) -> list[Any]:
        steps = [env.step(env.action_masks().argmax(1)) for _ in range(25)]
        return [(seen["planes"].tobytes(), *(array.tolist() for array in results)) for seen, *results, _ in steps]

    then = all_go_on(many)
    many.set_state(games)
    assert all_go_on(many) == then == all_go_on(copies)


def test_an_illegal_move_loses_a_single_game_and_is_refused_in_many() -> None:
    env = HnefataflEnv(side="defenders")
    env.reset(seed=1)
    seen, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated, info["winner"]) == (-1.0, True, False, "attackers")
    assert "a1" in info["illegal"] and not seen["action_mask"].any()
    with pytest.raises(RuntimeError, match="the game is over; expected reset"):
        env.step(0)
    many = HnefataflVectorEnv(2)
    many.reset()
    with pytest.raises(ValueError, match="game 0: action 0"):
        many.step([0, 0])


@pytest.mark.parametrize("action", [5.0, None, np.array([5])])
def test_what_is_no_move_is_an_error(action: Any) -> None:
    env = HnefataflEnv()
    env.reset(seed=1)
    with pytest.raises(TypeError):
        env.step(action)
    played = HnefataflEnv(side="defenders", opponent=lambda position: 5.5)
    with pytest.raises(TypeError):
        played.reset(seed=1)


def test_a_first_reset_of_some_games_draws_the_sides_of_all() -> None:
    env = HnefataflVectorEnv(4, side="defenders")
    env.reset(options={"reset_mask": np.array([True, False, False, False])})
    assert env.sides.tolist() == [1, 1, 1, 1]


def test_wins_and_starts() -> None:
    home = "7/3a3/3a3/aa3aa/3d2k/3a3/3a3"
    env = HnefataflEnv(fen=home + " d", side="defenders", opponent=first)
    env.reset()
    *_, reward, terminated, truncated, info = env.step(env.game.position.action("g3g1"))
    assert (reward, terminated, truncated, info) == (1.0, True, False, {"winner": "defenders"})
    lost = HnefataflEnv(opponent=lambda position: "g3g1" if position.is_legal("g3g1") else first(position))
    lost.reset(options={"fen": home + " a"})
    *_, reward, terminated, truncated, info = lost.step(lost.game.position.action("d6c6"))
    assert (reward, terminated, info) == (-1.0, True, {"winner": "defenders"})
    lost.reset()
    assert lost.game.moves == []
    for given, words in [
        ({"fen": home + " d"}, "start .* the opponent's g3g1 would end it; expected a game in which the agent moves"),
        ({"fen": home + " d", "side": "random"}, "would end it"),
        ({"side": "white"}, "side 'white'"),
        ({"opponent": "alphabta:1"}, "did you mean"),
        ({"ruleset": "chess"}, "chess"),
        ({"render_mode": "rgb_array"}, "render_mode"),
    ]:
        for environment in (HnefataflEnv, HnefataflVectorEnv):
            with pytest.raises(ValueError, match=words):
                environment(**given)
    over = hnefi.Game(env.rules, home + " a")
    with pytest.raises(ValueError, match="attackers to move: expected defenders"):
        env.set_state(env.get_state()._replace(game=over))


def test_players_are_asked_for_moves() -> None:
    positions = [hnefi.Position("brandubh"), hnefi.Position("brandubh", moves=["d6f6"])]
    player = hnefi.Player("alphabeta:2")
    moves = player.choose(positions, 5)
    assert moves.dtype == np.int64 and all(map(hnefi.Position.is_legal, positions, moves))
    again = pickle.loads(pickle.dumps(player))
    assert np.array_equal(again.choose(positions, 5), moves) and again.spec == "alphabeta:2"
    assert len(player.choose([])) == 0
    # A win in one is taken by a player that looks.
    win = hnefi.Position("brandubh", "7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d")
    for spec in ("alphabeta:1", "rollout:10", "model:brandubh,playouts=4"):
        assert win.play(hnefi.Player(spec).choose([win, win], 1)[1]).outcome is not None
    assert len({int(hnefi.Player("random").choose([win], seed)[0]) for seed in range(20)}) > 3
    over = hnefi.Game("brandubh")
    over.resign("attackers")
    with pytest.raises(ValueError, match="the game is over"):
        player.choose([over])
    with pytest.raises(ValueError, match="several board sizes"):
        player.choose([win, hnefi.Position("tablut")])


def test_without_a_seed_no_two_environments_play_alike() -> None:
    def seen() -> bytes:
        env = HnefataflVectorEnv(1)
        now, _ = env.reset()
        planes = b""
        for _ in range(8):
            now = env.step([int(now["action_mask"][0].argmax())])[0]
            planes += now["planes"].tobytes()
        return planes

    assert len({seen() for _ in range(3)}) > 1


def test_after_an_opponent_that_failed_the_agent_does_not_move_for_it() -> None:
    asked = []

    def fails_once(position: hnefi.Position) -> str:
        asked.append(position)
        if len(asked) == 1:
            raise KeyboardInterrupt
        return first(position)

    env = HnefataflVectorEnv(1, opponent=fails_once, fen="7/3a3/3a3/aa3aa/3d2k/3a3/3a3 a")
    with pytest.raises(RuntimeError, match="expected reset"):
        env.step([0])
    env.reset(seed=1)
    with pytest.raises(KeyboardInterrupt):
        env.step([env.games.position(0).action("d6c6")])
    with pytest.raises(RuntimeError, match="expected reset"):
        env.step([env.games.position(0).action("g3g1")])
    env.reset()
    env.step([env.games.position(0).action("d6c6")])


def test_no_game_of_many_waits() -> None:
    many = HnefataflVectorEnv(2)
    many.reset()
    with pytest.raises(ValueError, match="action -1"):
        many.step([-1, -1])
    with pytest.raises(ValueError, match="move -1"):
        HnefataflVectorEnv(2, side="defenders", opponent=lambda position: -1).reset()


def test_a_state_with_other_random_numbers_changes_nothing() -> None:
    one, many = HnefataflEnv(), HnefataflVectorEnv(2)
    states = [env.reset(seed=1) and env.get_state() for env in (one, many)]
    one.step(int(one.action_masks().argmax()))
    many.step(many.action_masks().argmax(1))
    for env, old, fen in (
        (one, states[0], lambda: one.game.fen),
        (many, states[1], lambda: many.games.position(0).fen),
    ):
        before = fen()
        with pytest.raises(ValueError, match="PCG64"):
            env.set_state(old._replace(random={"bit_generator": "?"}))
        assert fen() == before
