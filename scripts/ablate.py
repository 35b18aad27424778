#!/usr/bin/env python3
"""Trains variants of a configuration at equal compute and measures them against one another, as a table in Markdown.

    scripts/ablate.py configs/ablations.toml --out runs/ablations            # everything the plan asks for
    scripts/ablate.py configs/ablations.toml --out runs/ablations --only base,c_scale-0.3

Runs and matches that are there already are not made again, so the same command goes on after an interruption. Only Python's own
library is needed.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tomllib


def hnefi(program, *words):
    """Runs a command and returns what it printed."""
    done = subprocess.run([*program, *words], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join([*program, *words])}: exit status {done.returncode}")
    return done.stdout


def trained(run):
    """Whether a run has used up its budget."""
    metrics = sorted(run.glob("metrics/*.json"))
    return bool(metrics) and json.loads(metrics[-1].read_text())["progress"] >= 0.98


def result(program, plan, a, b, file):
    """The result of a match, played once."""
    if not file.exists():
        words = ["match", f"model:{a},playouts={plan['playouts']}", b, "--games", str(plan["games"]), "--rules", plan["rules"], "--json"]
        line = hnefi(program, *words).splitlines()[-1]
        file.with_suffix(".part").write_text(line + "\n")
        file.with_suffix(".part").rename(file)
    return json.loads(file.read_text())


def spread(values):
    """Mean and the standard error of the mean over seeds."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{statistics.mean(values):.1f} ± {error:.1f}" if len(values) > 1 else f"{values[0]:.1f}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("plan", type=pathlib.Path)
    arguments.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs and matches")
    arguments.add_argument("--only", default="", help="names of variants, separated by commas")
    arguments.add_argument("--hnefi", default="cargo run --release -q --", help="how the program is called")
    given = arguments.parse_args()
    plan, program = tomllib.loads(given.plan.read_text()), given.hnefi.split()
    variants = [one for one in plan["variant"] if not given.only or one["name"] in given.only.split(",")]
    unknown = set(filter(None, given.only.split(","))) - {one["name"] for one in plan["variant"]}
    if unknown:
        sys.exit(f"{given.plan}: no variant {', '.join(sorted(unknown))}; there are {', '.join(one['name'] for one in plan['variant'])}")
    given.out.mkdir(parents=True, exist_ok=True)
    # Seed by seed, so that an interrupted plan has compared all variants on some seeds rather than some on all.
    for seed in plan["seeds"]:
        for one in variants:
            run = given.out / f"{one['name']}-{seed}"
            if not trained(run):
                changes = [word for change in [*plan.get("set", []), *one.get("set", [])] for word in ("--set", change)]
                hnefi(program, "train", "--config", plan["config"], "--seed", str(seed), "--run", str(run), "--no-table", *changes)
    print(f"| variant | {' | '.join(f'{name}: attackers | defenders | overall' for name in plan['opponents'])} |")
    print("|---|" + "---|" * 3 * len(plan["opponents"]))
    for one in variants:
        cells = []
        for opponent in plan["opponents"]:
            results = []
            for seed in plan["seeds"]:
                run = given.out / f"{one['name']}-{seed}"
                file = given.out / f"{one['name']}-{seed}-{opponent.replace(':', '-')}.json"
                results.append(result(program, plan, run, opponent, file))
            score = lambda tally: (tally["wins"] + tally["draws"] / 2) / max(1, sum(tally.values()))
            for side in ("as_attackers", "as_defenders"):
                cells.append(spread([100 * score(one[side]) for one in results]))
            cells.append(spread([100 * one["score"] for one in results]))
        print(f"| {one['name']} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
