"""Hnefatafl against an opponent as Gymnasium environments, one game or many at once.

Importing this module registers ``hnefi/Hnefatafl-v0``; ``gymnasium.make`` and ``gymnasium.make_vec`` pass the arguments
of `HnefataflEnv` and `HnefataflVectorEnv` on. Needs the package of ``pip install hnefi[gymnasium]``. The agent is to
move in every observation, a dict of what our networks see:

- ``planes``: [32, n, n] float32, `hnefi.Position.planes`;
- ``globals``: [48] float32, `hnefi.Position.globals`; the first is 1 where the agent leads the attackers;
- ``action_mask``: [4 * (n - 1) * n * n] int8, 1 for the legal moves; zeros at the end. ``action_masks()`` gives the
  same as bool, for sb3-contrib's MaskablePPO.

An action is a number of the policy index (see `hnefi`). One step is the agent's move and the opponent's reply. Rewards
come at the end: 1 for a win, -1 for a loss, 0 for a draw. A game that reaches the ply cap is truncated, every other end
is a termination; its info has ``winner``, "attackers", "defenders" or "nobody".
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional, Union

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from ._hnefi import Game, Player, Position, Rules, VectorEnv
from ._tuples import Observation, VectorState

SIDES = ("attackers", "defenders")

Seen = dict[str, NDArray[Any]]
Opponent = Union[str, Callable[[Position], Union[str, int]], None]


class GameState(NamedTuple):
    """What `HnefataflEnv.get_state` returns and `HnefataflEnv.set_state` takes."""

    game: Game
    """The game."""
    side: str
    """The agent's side."""
    random: Mapping[str, Any]
    """The state of the random numbers."""


class GamesState(NamedTuple):
    """What `HnefataflVectorEnv.get_state` returns and `HnefataflVectorEnv.set_state` takes."""

    games: VectorState
    """The games."""
    sides: NDArray[np.int8]
    """[N] int8: the agent's sides, 0 attackers, 1 defenders."""
    random: Mapping[str, Any]
    """The state of the random numbers."""


class _Answers:
    """An opponent's moves."""

    def __init__(self, opponent: Opponent) -> None:
        self.player = Player(opponent) if isinstance(opponent, str) else None
        self.function = None if isinstance(opponent, str) else opponent

    def to(self, positions: list[Position], random: np.random.Generator) -> NDArray[np.int64]:
        """[k] int64, a move in each position."""
        if self.player is not None:
            return self.player.choose(positions, random.integers(1 << 63))
        moves = [(self.function(position), position) for position in positions] if self.function else []
        numbers = [position.action(move) if isinstance(move, str) else operator.index(move) for move, position in moves]
        return np.array(numbers, np.int64)


def _rules(ruleset: Union[str, Rules], ply_cap: Optional[int]) -> Rules:
    # The one place that knows self-play's ply caps.
    return VectorEnv(ruleset, 1, ply_cap=ply_cap).rules


def _checked(position: Position, side: str, opponent: Opponent) -> Position:
    """Refuses a start from which the agent might have no move."""
    if side not in (*SIDES, "random"):
        raise ValueError(f"side {side!r}: expected 'attackers', 'defenders' or 'random'")
    found = None
    if position.outcome is not None:
        found = f"the game is over, {position.outcome}"
    elif opponent is not None and side != position.side_to_move:
        ends = [move for move in position.legal_moves() if position.play(move).outcome is not None]
        found = f"the opponent's {ends[0]} would end it" if ends else None
    if found is not None:
        raise ValueError(f"start {position.fen}: {found}; expected a game in which the agent moves")
    return position


def _spaces(rules: Rules) -> tuple[Any, gymnasium.spaces.Discrete]:
    actions = 4 * (rules.size - 1) * rules.size**2
    seen: dict[str, gymnasium.Space[Any]] = {
        "planes": gymnasium.spaces.Box(0, 1, (32, rules.size, rules.size), np.float32),
        "globals": gymnasium.spaces.Box(0, 1, (48,), np.float32),
        "action_mask": gymnasium.spaces.Box(0, 1, (actions,), np.int8),
    }
    return gymnasium.spaces.Dict(seen), gymnasium.spaces.Discrete(actions)


class HnefataflEnv(gymnasium.Env[Seen, np.int64]):
    """HnefataflEnv(ruleset='brandubh', *, opponent='random', side='attackers', fen=None, ply_cap=None,
    render_mode=None): one game.

    ruleset: a published ruleset's name, a rules record, or `hnefi.Rules`. opponent: a player's spec (see
    `hnefi.Player`), a function of a `hnefi.Position` that returns a move as text or number, or None, where the agent
    plays both sides and rewards are for the side that moved. side: the agent's, "random" for a new draw in every
    game. fen: where games begin, None for the rules' start; ``reset(options={"fen": ...})`` begins one game elsewhere.
    ply_cap: plies after which a game is truncated, 0 for none; None takes the rules' own or, if they have none,
    self-play's of this board. render_mode: "ansi" (`render` returns the board as text) or "human" (it prints the
    board).

    An illegal move loses the game at once, and is named in the info's ``illegal``. Pickled and copied with its game;
    ``game`` is the `hnefi.Game`. Raises ValueError for a start from which the agent might have no move.
    """

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 2}

    def __init__(
        self,
        ruleset: Union[str, Rules] = "brandubh",
        *,
        opponent: Opponent = "random",
        side: str = "attackers",
        fen: Optional[str] = None,
        ply_cap: Optional[int] = None,
        render_mode: Optional[str] = None,
    ) -> None:
        if render_mode not in (None, "human", "ansi"):
            raise ValueError(f"render_mode {render_mode!r}: expected None, 'human' or 'ansi'")
        self.render_mode = render_mode
        self.rules = _rules(ruleset, ply_cap)
        self.observation_space, self.action_space = _spaces(self.rules)
        self.opponent, self.side_given, self.fen = opponent, side, fen
        _checked(Position(self.rules, fen), side, opponent)
        self._answers = _Answers(opponent)
        self.side: str = side
        self.game = Game(self.rules, fen)

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[Seen, dict[str, Any]]:
        super().reset(seed=seed)
        fen = (options or {}).get("fen", self.fen)
        if fen != self.fen:
            _checked(Position(self.rules, fen), self.side_given, self.opponent)
        self.game = Game(self.rules, fen)
        self.side = self.side_given if self.side_given != "random" else SIDES[self.np_random.integers(2)]
        self._reply()
        self._show()
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        if self.game.is_over or (self.opponent is not None and self.side != self.game.side_to_move):
            raise RuntimeError("the game is over; expected reset")
        mover = self.game.side_to_move
        # What is no move at all is an error, and no lost game.
        move = action if isinstance(action, str) else operator.index(action)
        try:
            self.game.play(move)
        except ValueError as illegal:
            self.game.resign(mover)
            seen, *_, info = self._after(mover)
            return seen, -1.0, True, False, {**info, "illegal": str(illegal)}
        self._reply()
        return self._after(mover)

    def _after(self, mover: str) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        self._show()
        outcome, over = self.game.outcome, self.game.is_over
        capped = outcome is not None and outcome.reason == "ply_cap"
        info = {"winner": self.game.winner or "nobody"} if over else {}
        return self._seen(), self.game.reward(mover) or 0.0, over and not capped, capped, info

    def _reply(self) -> None:
        if self.opponent is not None and not self.game.is_over and self.game.side_to_move != self.side:
            self.game.play(self._answers.to([self.game.position], self.np_random)[0])

    def _seen(self) -> Seen:
        mask = self.game.action_mask().view(np.int8)
        return {"planes": self.game.planes(), "globals": self.game.globals(), "action_mask": mask}

    def action_masks(self) -> NDArray[np.bool_]:
        """[4 * (n - 1) * n * n] bool: the legal moves."""
        return self.game.action_mask()

    def get_state(self) -> GameState:
        """The game as it stands, and the random numbers."""
        return GameState(self.game.copy(), self.side, self.np_random.bit_generator.state)

    def set_state(self, state: GameState) -> Seen:
        """Goes on from a state, here or elsewhere, and returns what is seen. Its game may be another one of these rules
        in which the agent is to move. Raises ValueError for one that is not; nothing has changed then."""
        game, side, random = state
        if game.rules != self.rules:
            raise ValueError(f"state: a game under {game.rules!r}: expected {self.rules!r}")
        if not game.is_over and self.opponent is not None and game.side_to_move != side:
            raise ValueError(f"state: {game.side_to_move} to move: expected {side}, the agent's side")
        self.np_random.bit_generator.state = random
        self.game, self.side = game.copy(), side
        return self._seen()

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> Optional[str]:
        if self.render_mode == "ansi":
            return str(self.game)
        if self.render_mode == "human":
            print(self.game)
        return None


class HnefataflVectorEnv(gymnasium.vector.VectorEnv[Seen, ArrayLike, NDArray[Any]]):
    """HnefataflVectorEnv(num_envs=1, ruleset='brandubh', *, opponent='random', side='attackers', fen=None,
    ply_cap=None, threads=None, render_mode=None): N games, stepped on all cores.

    A game that ends begins anew in the same step (``metadata["autoreset_mode"]``): its last observation is in the
    infos' ``final_obs`` and its info in ``final_info``, as `gymnasium.vector.SyncVectorEnv` has them. The other
    arguments are as for `HnefataflEnv`; an illegal move raises ValueError, and no game has changed then.
    ``reset(options={"reset_mask": ...})`` begins some of the games anew; ``games`` is the `hnefi.VectorEnv`.
    """

    metadata = {"render_modes": ["ansi"], "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        ruleset: Union[str, Rules] = "brandubh",
        *,
        opponent: Opponent = "random",
        side: str = "attackers",
        fen: Optional[str] = None,
        ply_cap: Optional[int] = None,
        threads: Optional[int] = None,
        render_mode: Optional[str] = None,
    ) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode {render_mode!r}: expected None or 'ansi'")
        self.render_mode, self.num_envs = render_mode, num_envs
        seed = int(self.np_random.integers(1 << 63))
        self.games = VectorEnv(ruleset, num_envs, seed, ply_cap=ply_cap, fen=fen, threads=threads)
        _checked(self.games.position(0), side, opponent)
        self.single_observation_space, self.single_action_space = _spaces(self.games.rules)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self.opponent, self.side_given = opponent, side
        self._answers = _Answers(opponent)
        self.sides = np.zeros(num_envs, np.int8)
        self._draw_sides(np.arange(num_envs))
        # Whether the agent is to move everywhere: not while the opponent does, nor after it has failed.
        self._begun = False

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None
    ) -> tuple[Seen, dict[str, Any]]:
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, bool))
        seen = self.games.reset(seed, mask=mask)
        self._draw_sides(np.flatnonzero(mask))
        self._begun = False
        seen = self._reply(seen, {})[0]
        self._begun = True
        return _dict(seen), {}

    def step(
        self, actions: ArrayLike
    ) -> tuple[Seen, NDArray[Any], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        if not self._begun:
            raise RuntimeError("the agent is not to move in every game; expected reset")
        infos: dict[str, Any] = {}
        seen, gains, terminated, truncated = self._play(_moves(actions, "action"), infos)
        self._begun = False
        seen, losses, later_terminated, later_truncated = self._reply(seen, infos)
        self._begun = True
        return _dict(seen), gains - losses, terminated | later_terminated, truncated | later_truncated, infos

    def _play(
        self, actions: ArrayLike, infos: dict[str, Any]
    ) -> tuple[Observation, NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
        seen, gains, terminated, truncated, final = self.games.step(actions)
        ended = np.flatnonzero(terminated | truncated)
        for last, game in enumerate(ended):
            # The side to move at the end did not make the last move.
            won = (SIDES[final.players[last]], "nobody", SIDES[1 - final.players[last]])[int(gains[game]) + 1]
            last_seen = {name: array[last] for name, array in _dict(final).items()}
            self._add_info(infos, {"final_obs": last_seen, "final_info": {"winner": won}}, int(game))
        self._draw_sides(ended)
        return seen, gains.astype(np.float64), terminated, truncated

    def _reply(
        self, seen: Observation, infos: dict[str, Any]
    ) -> tuple[Observation, NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
        """Lets the opponent move until the agent is to move everywhere; the rewards are the opponent's."""
        gains, (terminated, truncated) = np.zeros(self.num_envs), np.zeros((2, self.num_envs), np.bool_)
        while self.opponent is not None and (waiting := np.flatnonzero(seen.players != self.sides)).size:
            actions = np.full(self.num_envs, -1)
            if self.opponent == "random":
                actions[waiting] = self.games.random_actions()[waiting]
            else:
                positions = [self.games.position(game) for game in waiting]
                actions[waiting] = _moves(self._answers.to(positions, self.np_random), "the opponent's move")
            seen, *results = self._play(actions, infos)
            gains, terminated, truncated = gains + results[0], terminated | results[1], truncated | results[2]
        return seen, gains, terminated, truncated

    def _draw_sides(self, games: NDArray[np.int64]) -> None:
        fixed = {side: number for number, side in enumerate(SIDES)}.get(self.side_given)
        self.sides[games] = self.np_random.integers(2, size=games.size) if fixed is None else fixed

    def action_masks(self) -> NDArray[np.bool_]:
        """[N, 4 * (n - 1) * n * n] bool: the legal moves."""
        return self.games.observe().masks

    def get_state(self) -> GamesState:
        """The games as they stand, and the random numbers."""
        return GamesState(self.games.get_state(), self.sides.copy(), self.np_random.bit_generator.state)

    def set_state(self, state: GamesState) -> Seen:
        """Goes on from a state, here or elsewhere, and returns what is seen. Its games may be others of these rules in
        which the agent is to move. Raises ValueError for others; nothing has changed then."""
        games, sides, random = state
        players = np.array([SIDES.index(position.side_to_move) for position in games.positions])
        if self.opponent is not None and not np.array_equal(players, sides):
            raise ValueError(f"state: players {players} to move: expected {sides}, the agent's sides")
        type(self.np_random.bit_generator)(0).state = random  # Raises for what is none.
        self.games.set_state(games)
        self._begun = True
        self.sides = np.array(sides, np.int8)
        self.np_random.bit_generator.state = random
        return _dict(self.games.observe())

    def render(self) -> Optional[tuple[str, ...]]:
        if self.render_mode is None:
            return None
        return tuple(str(self.games.position(game)) for game in range(self.num_envs))


def _moves(numbers: ArrayLike, name: str) -> NDArray[Any]:
    """The numbers, among which no game waits (-1, for `hnefi.VectorEnv`)."""
    given = np.asarray(numbers)
    if (given == -1).any():
        raise ValueError(f"game {int((given == -1).argmax())}: {name} -1: expected a legal move")
    return given


def _dict(seen: Observation) -> Seen:
    return {"planes": seen.planes, "globals": seen.globals, "action_mask": seen.masks.view(np.int8)}


gymnasium.register(
    "hnefi/Hnefatafl-v0",
    entry_point="hnefi.gymnasium:HnefataflEnv",
    vector_entry_point="hnefi.gymnasium:HnefataflVectorEnv",
)
