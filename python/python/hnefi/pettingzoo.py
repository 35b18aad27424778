"""Hnefatafl as a PettingZoo AEC environment: ``hnefi.pettingzoo.env(ruleset="brandubh")``.

Needs the packages of ``pip install hnefi[pettingzoo]``. The agents are ``attackers`` and ``defenders``. Both see the
same board, whoever is to move:

- ``observation``: [34, n, n] float32 in 0..1. Planes 0 to 31 are `hnefi.Position.planes`; plane 32 is 1
  everywhere while the attackers are to move, plane 33 is the clock of the ply cap;
- ``action_mask``: [4 * (n - 1) * n * n] int8, 1 for the legal moves of the agent whose turn it is, 0 for the other
  agent.

An action is a number of the policy index (see `hnefi`). Rewards come at the end: 1 for the winner, -1 for the loser, 0
each for a draw. A game that reaches the ply cap is truncated, every other end is a termination. After an illegal move
PettingZoo's wrapper ends the game both ways, with -1 for who made it and 0 for the other agent.
"""

from typing import Any, Optional, Union

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv  # type: ignore[import-untyped]
from pettingzoo.utils import wrappers  # type: ignore[import-untyped]

from ._hnefi import Game, Rules, VectorEnv

AGENTS = ["attackers", "defenders"]


def env(
    ruleset: Union[str, Rules] = "brandubh",
    *,
    fen: Optional[str] = None,
    ply_cap: Optional[int] = None,
    render_mode: Optional[str] = None,
) -> Any:
    """The environment with PettingZoo's wrappers: an illegal move loses at once, a wrong order of calls is an error.

    fen: where games begin, None for the rules' start. ply_cap: plies after which the game is truncated, 0 for none;
        None takes the rules' own or, if they have none, self-play's of this board. render_mode: None, "ansi" (`render`
        returns the board as text) or "human" (it prints the board).
    """
    inner: Any = raw_env(ruleset, fen=fen, ply_cap=ply_cap, render_mode=render_mode)
    inner = wrappers.TerminateIllegalWrapper(inner, illegal_reward=-1)
    inner = wrappers.AssertOutOfBoundsWrapper(inner)
    return wrappers.OrderEnforcingWrapper(inner)


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801 (PettingZoo's name, whose base has no types)
    """The environment without wrappers: an illegal move raises ValueError."""

    metadata = {"render_modes": ["human", "ansi"], "name": "hnefatafl_v0", "is_parallelizable": False}

    def __init__(
        self,
        ruleset: Union[str, Rules] = "brandubh",
        *,
        fen: Optional[str] = None,
        ply_cap: Optional[int] = None,
        render_mode: Optional[str] = None,
    ) -> None:
        super().__init__()
        if render_mode not in (None, "human", "ansi"):
            raise ValueError(f"render_mode {render_mode!r}: expected None, 'human' or 'ansi'")
        self.render_mode = render_mode
        # The one place that knows self-play's ply caps.
        self.rules = VectorEnv(ruleset, 1, ply_cap=ply_cap, fen=fen).rules
        self.fen = fen
        self.possible_agents = list(AGENTS)
        size = self.rules.size
        actions = 4 * (size - 1) * size**2
        board = gymnasium.spaces.Box(0.0, 1.0, (34, size, size), np.float32)
        mask = gymnasium.spaces.Box(0, 1, (actions,), np.int8)
        self.observation_spaces = {
            agent: gymnasium.spaces.Dict({"observation": board, "action_mask": mask}) for agent in AGENTS
        }
        self.action_spaces = {agent: gymnasium.spaces.Discrete(actions) for agent in AGENTS}

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> None:
        self.game = Game(self.rules, self.fen)
        self.agents = list(AGENTS)
        self.agent_selection = self.game.side_to_move
        self.rewards = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        position = self.game.position
        board = np.empty((34, position.size, position.size), np.float32)
        board[:32] = position.planes()
        board[32] = position.side_to_move == "attackers"
        cap = int(self.rules.options()["ply_cap"])
        board[33] = position.ply / cap if cap else 0
        mask = position.action_mask().view(np.int8)
        if agent != self.agent_selection:
            mask[:] = 0
        return {"observation": board, "action_mask": mask}

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        mover = self.agent_selection
        self.game.play(action)
        self._cumulative_rewards[mover] = 0
        outcome = self.game.outcome
        if outcome is not None:
            self.rewards = {agent: int(outcome.reward(agent)) for agent in AGENTS}
            ended = self.truncations if outcome.reason == "ply_cap" else self.terminations
            ended.update(dict.fromkeys(AGENTS, True))
        self.agent_selection = self.game.side_to_move
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def render(self) -> Optional[str]:
        if self.render_mode == "ansi":
            return str(self.game)
        if self.render_mode == "human":
            print(self.game)
        return None
