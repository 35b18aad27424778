"""Hnefatafl as an OpenSpiel game: import this module, then ``pyspiel.load_game("python_hnefatafl")``.

Needs the package of ``pip install hnefi[open-spiel]``. Parameters: ``ruleset``, the name of a published ruleset
("brandubh") or a rules record, ``fen``, where games begin (empty for the rules' start), and ``ply_cap``, plies after
which the game is a draw (0 takes self-play's of the board):
``pyspiel.load_game("python_hnefatafl(ruleset=tablut,ply_cap=200)")``.

Player 0 are the attackers, player 1 the defenders; which of them begins is a matter of the rules. An action is a number
of the policy index (see `hnefi`). Returns are 1 for the winner, -1 for the loser, 0 each for a draw. The observation is
[34, n, n] float32: planes 0 to 31 are `hnefi.Position.planes`, plane 32 is 1 everywhere while the attackers are to
move, plane 33 is the clock of the ply cap.
"""

from typing import Any, Optional

import numpy as np
import pyspiel  # type: ignore[import-not-found,import-untyped,unused-ignore]
from open_spiel.python.observation import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    IIGObserverForPublicInfoGame,
)

from ._hnefi import Game, VectorEnv

SIDES = ("attackers", "defenders")

GAME_TYPE = pyspiel.GameType(
    short_name="python_hnefatafl",
    long_name="Hnefatafl",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"ruleset": "brandubh", "fen": "", "ply_cap": 0},
)


class HnefataflGame(pyspiel.Game):  # type: ignore[misc,unused-ignore]
    """The game of one ruleset. Raises ValueError for an unknown ruleset."""

    def __init__(self, params: Optional[dict[str, Any]] = None) -> None:
        params = params or {}
        ply_cap = params.get("ply_cap", 0) or None
        # The one place that knows self-play's ply caps.
        self.fen = str(params.get("fen", "")) or None
        self.rules = VectorEnv(str(params.get("ruleset", "brandubh")), 1, ply_cap=ply_cap, fen=self.fen).rules
        self.ply_cap = int(self.rules.options()["ply_cap"])
        info = pyspiel.GameInfo(
            num_distinct_actions=4 * (self.rules.size - 1) * self.rules.size**2,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.ply_cap,
        )
        super().__init__(GAME_TYPE, info, params)

    def new_initial_state(self, state: None = None) -> "HnefataflState":
        """The rules' start."""
        if state is not None:
            raise ValueError(f"state {state!r}: expected None, a game begins at its start")
        return HnefataflState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Optional[dict[str, Any]] = None) -> Any:
        """What both players see."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return BoardObserver(self, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class HnefataflState(pyspiel.State):  # type: ignore[misc,unused-ignore]
    """A game in play; `game` is the `hnefi.Game`."""

    def __init__(self, game: HnefataflGame) -> None:
        super().__init__(game)
        self.game = Game(game.rules, game.fen)

    def current_player(self) -> int:
        """0 for the attackers, 1 for the defenders, TERMINAL at the end."""
        return int(pyspiel.PlayerId.TERMINAL) if self.game.is_over else SIDES.index(self.game.side_to_move)

    def _legal_actions(self, player: int) -> list[int]:
        """Rising."""
        actions: list[int] = np.sort(self.game.legal_actions()).tolist()
        return actions

    def _apply_action(self, action: int) -> None:
        self.game.play(action)

    def _action_to_string(self, player: int, action: int) -> str:
        """`a4b4`."""
        return self.game.position.move_text(action)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.game.is_over

    def returns(self) -> list[float]:
        """Attackers first."""
        outcome = self.game.outcome
        return [0.0, 0.0] if outcome is None else [outcome.reward(side) for side in SIDES]

    def __str__(self) -> str:
        return str(self.game)


class BoardObserver:
    """Fills a tensor of [34, n, n] float32."""

    def __init__(self, game: HnefataflGame, params: Optional[dict[str, Any]]) -> None:
        if params:
            raise ValueError(f"observation parameters {params}: expected none")
        shape = (34, game.rules.size, game.rules.size)
        self.ply_cap = game.ply_cap
        self.tensor = np.zeros(int(np.prod(shape)), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: HnefataflState, player: int) -> None:
        """Shows a state."""
        board = self.dict["observation"]
        position = state.game.position
        board[:32] = position.planes()
        board[32] = position.side_to_move == "attackers"
        board[33] = position.ply / self.ply_cap

    def string_from(self, state: HnefataflState, player: int) -> str:
        """The board as text."""
        return str(state)


pyspiel.register_game(GAME_TYPE, HnefataflGame)
