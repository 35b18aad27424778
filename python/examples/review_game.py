#!/usr/bin/env python3
"""A front end of `hnefi analyse`, which needs Python alone: reviews a game and marks the moves that lost most.

python3 review_game.py "hnefi analyse brandubh" RULES MOVE [MOVE ...]
"""

import json
import shlex
import subprocess
import sys
from typing import Any

SIDES = ["attackers", "defenders"]


def ask(command: str, question: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Puts one question to the program and returns the answers by ply."""
    asked = subprocess.run(shlex.split(command), input=json.dumps(question), capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in asked.stdout.splitlines()]
    for answer in answers:
        if "error" in answer:
            sys.exit(answer["error"])
    return {answer["ply"]: answer for answer in answers}


def score(answer: dict[str, Any]) -> float:
    """The expected score of the attackers, 1 for a win and 0 for a loss."""
    if answer["status"] != "ongoing":
        return {"attackers": 1.0, "defenders": 0.0, "draw": 0.5}[str(answer["status"])]
    win, draw, _ = answer["wdl"]
    own: float = win + draw / 2
    return own if answer["fen"].endswith(" a") else 1 - own


def main() -> None:
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    command, rules, moves = sys.argv[1], sys.argv[2], sys.argv[3:]
    plies = list(range(len(moves) + 1))
    answers = ask(command, {"id": "game", "rules": rules, "moves": moves, "plies": plies, "top": 1})
    for ply, move in enumerate(moves):
        before, after = answers[ply], answers[ply + 1]
        mover = 0 if before["fen"].endswith(" a") else 1
        lost = (score(before) - score(after)) * (1 if mover == 0 else -1)
        mark = "??" if lost > 0.3 else "?" if lost > 0.15 else ""
        best = before["moves"][0]
        better = f"better {' '.join(best['line'][:4])}" if mark and best["move"] != move else ""
        print(f"{ply + 1:3} {SIDES[mover]:9} {move + mark:8} attackers {100 * score(after):3.0f} %  {better}".rstrip())


if __name__ == "__main__":
    main()
