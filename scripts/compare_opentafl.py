"""Compares random games of another rules engine with `hnefi replay`.

Reads lines of JSON, one a game, and prints the first difference of every game that has one, then a table by rules
record. A line is what a program around OpenTafl's rules engine prints (https://github.com/jslater89/OpenTafl; it is
under the GPL and no part of this repository):

    {"rules": "dim:7 ...", "moves": ["d2-c2", ...], "legal": [40, ...], "captures": [["d5"], ...], "winner": "ongoing"}

`legal` has the number of legal moves before every ply, and of one more position where the game goes on; `captures` the
squares that each ply emptied, a captured king's too; `winner` is attackers, defenders, draw, ongoing or, where the side
to move has no move, stuck.

    python scripts/compare_opentafl.py GAMES.jsonl [HNEFI]
"""

import json
import subprocess
import sys
from collections import Counter


def difference(game, answer):
    """What the two engines disagree on first, with the ply, or None."""
    plies, error = answer["plies"], answer["error"]
    if error and not error.startswith("ply "):
        return 0, "rules", error
    for number, (legal, captures) in enumerate(zip(game["legal"], game["captures"])):
        if number == len(plies):
            return number + 1, "end or legality", error
        ply = plies[number]
        if ply["legal"] != legal:
            return number + 1, "legal moves", f"{ply['legal']} here, {legal} there"
        if sorted(ply["captures"]) != sorted(captures):
            return number + 1, "captures", f"{ply['captures']} here, {captures} there"
    status = plies[-1]["status"] if plies else "ongoing"
    if status != game["winner"]:
        return len(plies), "end", f"{status} {plies[-1]['reason'] if plies else ''} here, {game['winner']} there"
    return None


def main():
    games = [json.loads(line) for line in open(sys.argv[1])]
    hnefi = sys.argv[2] if len(sys.argv) > 2 else "hnefi"
    requests = "".join(json.dumps({"rules": game["rules"], "moves": game["moves"]}) + "\n" for game in games)
    answers = subprocess.run([hnefi, "replay"], input=requests, capture_output=True, text=True, check=False).stdout
    tables, plies = {}, Counter()
    for game, answer in zip(games, map(json.loads, answers.splitlines()), strict=True):
        found = difference(game, answer) if not game.get("error") else (0, "the other engine's error", game["error"])
        rules = game["rules"]
        plies[rules] += len(answer["plies"])
        tables.setdefault(rules, Counter())[found[1] if found else "the same"] += 1
        if found:
            moves = " ".join(game["moves"][: found[0]])
            print(f"ply {found[0]}: {found[1]}: {found[2]}; {rules.split(' start')[0]}: {moves}")
    for rules, table in tables.items():
        counts = ", ".join(f"{table[what]} {what}" for what in table)
        print(f"{rules.split(' start')[0]}: {plies[rules]} plies; {counts}")
    return 0 if all(set(table) == {"the same"} for table in tables.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
