#!/usr/bin/env python3
"""Draws the boards of docs/RULESETS.md, and plays the matches of its table.

    scripts/rulesets.py draw
    scripts/rulesets.py measure --depth 2 3 --games 100 [--rules NAME...] [--hnefi target/release/hnefi]

`draw` writes a picture for every different board into docs/images/rulesets/; the first ruleset with that board names
it. `measure` lets alpha-beta play itself under every ruleset and prints rows of Markdown. A draw counts as half a win.
"""

import argparse
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/images/rulesets"

# The presets have no record in a file: the one of perft.json that has their start, and whether the king's goal is a
# corner.
PRESETS = {
    "copenhagen": ("copenhagen", True),
    "copenhagen-hnefatafl-org": ("copenhagen", True),
    "copenhagen-cyningstan": ("copenhagen", True),
    "copenhagen-playtafl": ("copenhagen", True),
    "fetlar": ("copenhagen", True),
    "brandubh": ("brandubh", True),
    "tablut": ("tablut", False),
    "tablut-linnaeus": ("tablut", False),
    "historical": ("historical", False),
}


def rulesets():
    """Name, rows from the top (t attackers, T defenders, K king, . empty) and special squares of every ruleset."""
    positions = json.loads((ROOT / "engine/tests/data/perft.json").read_text())
    starts = {}
    for position in positions:
        starts.setdefault(position["preset"], position["board"])
    found = {}
    for name, (start, to_corner) in PRESETS.items():
        rows = [row.replace("A", "t").replace("D", "T") for row in starts[start]]
        last, middle = len(rows) - 1, len(rows) // 2
        corners = {(0, 0), (0, last), (last, 0), (last, last)} if to_corner else set()
        found[name] = rows, {(middle, middle)} | corners, set()
    for line in (ROOT / "engine/src/notation/published.otr").read_text().splitlines():
        if not line.startswith("dim:"):
            continue
        said = dict(word.split(":", 1) for word in line.split())
        rows = [re.sub(r"\d+", lambda run: "." * int(run[0]), row) for row in said["start"].strip("/").split("/")]
        last, middle = len(rows) - 1, len(rows) // 2
        usual = {"cor": {(0, 0), (0, last), (last, 0), (last, last)}, "cen": {(middle, middle)}}
        squares = {}
        for kind in ("cor", "cen", "afor", "dfor"):
            names = [name for name in said.get(kind, "").split(",") if name]
            listed = {(ord(name[0]) - ord("a"), int(name[1:]) - 1) for name in names}
            squares[kind] = listed if kind in said else usual.get(kind, set())
        name = said["name"].lower().replace("_", "-")
        found[name] = rows[::-1], squares["cor"] | squares["cen"], squares["afor"] | squares["dfor"]
    return found


def picture(name, rows, special, forts):
    """An SVG of a board; special squares and forts are files and ranks from 0."""
    side = len(rows)

    def squares(places):
        return "".join(f"M{file} {side - 1 - rank}h1v1h-1z" for file, rank in sorted(places))

    def men(letter):
        # A line without length and with round ends is a disc.
        at = ((x, y) for y, row in enumerate(rows) for x, man in enumerate(row) if man == letter)
        return "".join(f"M{x}.5 {y}.5h.01" for x, y in at)

    grid = "".join(f"M0 {at}h{side}M{at} 0v{side}" for at in range(side + 1))
    king = men("K")
    x, y = re.match(r"M([\d.]+) ([\d.]+)h", king).groups()
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{16 * side}" height="{16 * side}" viewBox="-.1 -.1 {side}.2 {side}.2">
<title>{name}</title>
<path fill="#ecdfc4" d="M0 0h{side}v{side}h-{side}z"/>
<path fill="#c79a5b" d="{squares(special)}"/>
<path fill="#b6c39a" d="{squares(forts)}"/>
<path stroke="#8c7a5a" stroke-width=".05" d="{grid}"/>
<g stroke-linecap="round">
<path stroke="#26221c" stroke-width=".74" d="{men("t")}{men("T")}{king}"/>
<path stroke="#fff" stroke-width=".62" d="{men("T")}{king}"/>
</g>
<path stroke="#b3261e" stroke-width=".14" d="M{x} {float(y) - 0.22:g}v.44M{float(x) - 0.22:g} {y}h.44"/>
</svg>
"""


def draw():
    """Writes a picture for every different board."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for name, (rows, special, forts) in rulesets().items():
        board = tuple(rows), frozenset(special), frozenset(forts)
        if board not in drawn:
            drawn[board] = name
            (PICTURES / f"{name}.svg").write_text(picture(name, *board))
        print(f"{name}: {drawn[board]}.svg")


def measure(hnefi, depths, games, names):
    """Prints a row for every ruleset and depth."""
    print("| ruleset | depth | attackers' share | attackers win | defenders win | draws | plies a game |")
    print("|---|---|---|---|---|---|---|")
    for name in names or rulesets():
        for depth in depths:
            player = f"alphabeta:{depth}"
            command = [hnefi, "match", player, player, "--rules", name, "--games", str(games), "--quiet", "--json"]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            ends = dict.fromkeys(("attackers", "defenders", "draw"), 0)
            for end, count in found["ends"].items():
                ends[end.split()[0]] += count
            share = f"{100 * found['attackers_score']:.0f} %"
            counts = " | ".join(str(ends[end]) for end in ends)
            print(f"| `{name}` | {depth} | {share} | {counts} | {found['mean_plies']:.0f} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=("draw", "measure"))
    arguments.add_argument("--depth", type=int, nargs="+", default=[2], metavar="N", help="of alpha-beta")
    arguments.add_argument("--games", type=int, default=100, metavar="N", help="a ruleset and depth")
    arguments.add_argument("--rules", nargs="+", default=[], metavar="NAME", help="only these rulesets")
    arguments.add_argument("--hnefi", default="hnefi", metavar="PATH", help="the program")
    said = arguments.parse_args()
    if said.what == "draw":
        draw()
    else:
        measure(said.hnefi, said.depth, said.games, said.rules)


if __name__ == "__main__":
    main()
