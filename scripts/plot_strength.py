#!/usr/bin/env python3
"""Draws Elo per side against the time that a run has trained, or against its training samples, from its own ladder.

    scripts/plot_strength.py runs/first runs/second --zero alphabeta:3 --out lab/strength-copenhagen.svg

Several runs are one curve, each going on where the one before it ended (`hnefi train --from`). Every run must have met
the player that is zero. Needs matplotlib (scripts/requirements.txt).
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plot

# Colours that stay apart for all kinds of colour vision (Okabe and Ito) and on light and dark pages.
COLOURS = {"attackers": "#D55E00", "defenders": "#0072B2", "overall": "#808080"}


def style():
    """What all our plots have in common."""
    plot.rcParams.update(
        {
            "font.size": 10,
            "svg.fonttype": "none",
            "svg.hashsalt": "hnefi",
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )


# What a run has spent when a generation was published, from the metrics of that generation. Minutes are minutes of the
# run's own clock; on a machine that does other things too, samples say more.
SPENT = {
    "minutes": ("minutes of self-play and training", lambda metrics: metrics["elapsed_seconds"] / 60),
    "samples": ("million training samples", lambda metrics: metrics["training"]["samples"] / 1e6),
}


def spent(run, generation, of):
    """What the run has spent until it published a generation."""
    return of(json.loads((run / "metrics" / f"{generation:06}.json").read_text())) if generation > 0 else 0.0


def ratings(program, run):
    """What `hnefi ladder --show` says."""
    done = subprocess.run([*program, "ladder", str(run), "--show", "--json"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{run}: no ratings (exit status {done.returncode})")
    return json.loads(done.stdout.splitlines()[-1])["contestants"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("runs", type=pathlib.Path, nargs="+")
    arguments.add_argument("--zero", required=True, help="the player whose Elo is zero")
    arguments.add_argument("--by", choices=SPENT, default="minutes", help="what to draw it against")
    arguments.add_argument("--out", type=pathlib.Path, required=True, help="an .svg file")
    arguments.add_argument("--hnefi", default="cargo run --release -q --", help="how the program is called")
    given = arguments.parse_args()
    label, of = SPENT[given.by]
    points = []
    begun = 0.0
    for run in given.runs:
        found = ratings(given.hnefi.split(), run)
        zero = next((one for one in found if one.get("player") == given.zero), None)
        if zero is None:
            players = ", ".join(one["player"] for one in found if "player" in one)
            sys.exit(f"{run}: {given.zero} is not on its ladder; there are {players or 'no players'}")
        climbers = [one for one in found if "generation" in one]
        if not climbers:
            sys.exit(f"{run}: no checkpoint is on its ladder")
        # More playouts are stronger, so only ratings at equal playouts make a curve.
        playouts = statistics.mode(one["playouts"] for one in climbers)
        climbers = [one for one in climbers if one["playouts"] == playouts]
        for one in climbers:
            sides = {side: (one[side]["elo"] - zero[side]["elo"], one[side]["error"]) for side in COLOURS}
            points.append((begun + spent(run, one["generation"], of), sides))
        begun += spent(run, climbers[-1]["generation"], of)
    style()
    figure, axes = plot.subplots(figsize=(7, 4))
    for shift, (side, colour) in enumerate(COLOURS.items()):
        times = [time + (shift - 1) * begun / 300 for time, _ in points]
        elos, errors = zip(*(sides[side] for _, sides in points))
        width = 2.2 if side == "overall" else 1.2
        axes.errorbar(
            times,
            elos,
            yerr=errors,
            label=side,
            color=colour,
            linewidth=width,
            elinewidth=0.8,
            capsize=2,
            marker="o",
            markersize=3,
        )
    axes.axhline(0, color="#808080", linewidth=0.8, linestyle=":")
    axes.set_xlabel(label)
    axes.set_ylabel(f"Elo, {given.zero} is 0 (95 %)")
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(given.out, metadata={"Date": None}, transparent=True)


if __name__ == "__main__":
    main()
