#!/usr/bin/env python3
"""Trains variants of a configuration at equal compute and measures them, as a table in Markdown and a plot.

    scripts/ablate.py lab/ablations.toml --out runs/ablations            # everything the plan asks for
    scripts/ablate.py lab/ablations.toml --out runs/ablations --only base,c_scale-0.3 --plot ablations.svg

Runs and matches that exist are not made again, so the same command goes on after an interruption. A plot needs
matplotlib (scripts/requirements.txt), all else Python's own library.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tomllib

SIDES = {"attackers": "as_attackers", "defenders": "as_defenders", "overall": None}


# The commands that are running now.
RUNNING = set()


def hnefi(program, *words):
    """Runs a command and returns what it printed."""
    with subprocess.Popen([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        RUNNING.add(process)
        printed, errors = process.communicate()
        RUNNING.remove(process)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join([*program, *words])}: exit status {process.returncode}\n{errors}")
    return printed


def newest_metrics(run):
    """What a run says of its newest generation, `None` while it has none."""
    metrics = sorted(run.glob("metrics/*.json"))
    return json.loads(metrics[-1].read_text()) if metrics else None


def train(program, plan, one, seed, run):
    """Trains a variant to the end of its budget, unless that is done."""
    metrics = newest_metrics(run)
    if metrics and metrics["progress"] >= 0.98:
        return
    changes = [word for change in [*plan.get("set", []), *one.get("set", [])] for word in ("--set", change)]
    hnefi(program, "train", "--config", plan["config"], "--seed", str(seed), "--run", str(run), "--no-table", *changes)
    print(f"trained {run.name}: generation {newest_metrics(run)['generation']}", file=sys.stderr, flush=True)


def result(program, plan, run, opponent, file):
    """The result of a match, played once."""
    if not file.exists():
        words = [
            "match",
            f"model:{run},playouts={plan['playouts']}",
            opponent,
            "--games",
            str(plan["games"]),
            "--rules",
            plan["rules"],
            "--json",
        ]
        line = hnefi(program, *words).splitlines()[-1]
        file.with_suffix(".part").write_text(line + "\n")
        file.with_suffix(".part").rename(file)
    return json.loads(file.read_text())


def fitted(scores):
    """Elo of every network on one side, from its share of the points against each opponent and the number of games.

    One logistic model for all: a network's strength less the opponent's gives the expected score; the first opponent is
    0. A weak prior (standard deviation 1000 Elo) keeps the strength finite of a network that won or lost everything.

    Known strengths come back from the scores that they make:

    >>> score = lambda own, other: 1 / (1 + 10 ** ((other - own) / 400))
    >>> met = lambda own: {"x": (10000 * score(own, 0), 10000), "y": (10000 * score(own, 150), 10000)}
    >>> scores = {"a": met(80), "b": met(-40)}
    >>> {name: round(elo) for name, elo in fitted(scores).items()}
    {'a': 80, 'b': -40}
    >>> round(fitted({"a": {"x": (20, 20)}})["a"]) < 1000
    True
    """
    scale = math.log(10) / 400
    opponents = list(next(iter(scores.values())))
    strength, other = dict.fromkeys(scores, 0.0), dict.fromkeys(opponents, 0.0)

    def step(value, facing):
        """A Newton step for one strength; `facing` has (points, games, the other's strength)."""
        slope, curvature = -value / 1e6, 1 / 1e6
        for points, games, against in facing:
            expected = games / (1 + math.exp(-scale * (value - against)))
            slope += scale * (points - expected)
            curvature += scale * scale * expected * (1 - expected / games)
        return value + max(-100.0, min(100.0, slope / curvature))

    for _ in range(200):
        for name, met in scores.items():
            strength[name] = step(strength[name], [(points, games, other[one]) for one, (points, games) in met.items()])
        for one in opponents[1:]:
            facing = [(met[one][1] - met[one][0], met[one][1], strength[name]) for name, met in scores.items()]
            other[one] = step(other[one], facing)
    return strength


def points(result, key):
    """Points and games of a network on one side of a match, or on both."""
    tally = result[key] if key else result
    games = tally["wins"] + tally["draws"] + tally["losses"]
    return tally["wins"] + tally["draws"] / 2, games


def differences(table, seeds):
    """For every variant and side the mean over the seeds of its Elo less the first variant's, and half a 95 % interval.

    The spread from seed to seed is taken to be the same for all variants, and estimated from all of them together: few
    seeds of one variant say too little about it.

    >>> table = {name: dict.fromkeys(SIDES, elos) for name, elos in [("base", [0, 20]), ("other", [100, 120])]}
    >>> difference, error = differences(table, [1, 2])["other"]["overall"]
    >>> difference, round(error / 1.96, 2), differences(table, [1, 2])["base"]["attackers"]
    (100, 14.14, (0, 0.0))
    """
    found = {}
    first = next(iter(table.values()))
    for side in SIDES:
        spread = [value - statistics.mean(elos[side]) for elos in table.values() for value in elos[side]]
        freedom = len(spread) - len(table)
        deviation = math.sqrt(sum(value * value for value in spread) / freedom) if freedom > 0 else float("nan")
        for name, elos in table.items():
            error = 0.0 if elos is first else 1.96 * deviation * math.sqrt(2 / len(seeds))
            found.setdefault(name, {})[side] = (statistics.mean(elos[side]) - statistics.mean(first[side]), error)
    return found


def draw(found, base, file):
    """Draws the differences, a row for each variant."""
    import plot_strength
    from plot_strength import COLOURS, plot

    plot_strength.style()
    names = [name for name in found if name != base]
    figure, axes = plot.subplots(figsize=(7, 0.8 + 0.42 * len(names)))
    for shift, (side, colour) in enumerate(COLOURS.items()):
        rows = [len(names) - index + 0.2 * (1 - shift) for index in range(len(names))]
        values, errors = zip(*(found[name][side] for name in names))
        axes.errorbar(
            values,
            rows,
            xerr=errors,
            label=side,
            color=colour,
            linestyle="",
            elinewidth=1,
            capsize=2,
            marker="o",
            markersize=3,
        )
    axes.axvline(0, color="#808080", linewidth=0.8, linestyle=":")
    axes.set_yticks([len(names) - index for index in range(len(names))], names)
    axes.set_xlabel(f"Elo against fixed opponents, {base} is 0 (95 %)")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None}, transparent=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("plan", type=pathlib.Path)
    arguments.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs and matches")
    arguments.add_argument(
        "--only",
        default="",
        help="names of variants, separated by commas; the first of them in the plan is the one to compare with",
    )
    arguments.add_argument("--seeds", default="", help="seeds, separated by commas, instead of the plan's")
    arguments.add_argument("--plot", type=pathlib.Path, help="draw the table, an .svg file")
    arguments.add_argument("--hnefi", default="cargo run --release -q --", help="how the program is called")
    given = arguments.parse_args()
    plan, program = tomllib.loads(given.plan.read_text()), given.hnefi.split()
    seeds = [int(seed) for seed in given.seeds.split(",")] if given.seeds else plan["seeds"]
    variants = [one for one in plan["variant"] if not given.only or one["name"] in given.only.split(",")]
    unknown = set(filter(None, given.only.split(","))) - {one["name"] for one in plan["variant"]}
    if unknown:
        known = ", ".join(one["name"] for one in plan["variant"])
        sys.exit(f"{given.plan}: no variant {', '.join(sorted(unknown))}; there are {known}")
    given.out.mkdir(parents=True, exist_ok=True)

    def run(one, seed):
        return given.out / f"{one['name']}-{seed}"

    # Seed by seed, so that an interrupted plan has compared all variants on some seeds rather than some on all.
    with concurrent.futures.ThreadPoolExecutor(plan.get("at_once", 1)) as pool:
        jobs = [pool.submit(train, program, plan, one, seed, run(one, seed)) for seed in seeds for one in variants]
        try:
            for job in jobs:
                job.result()
        except BaseException as error:
            # Whatever failed, or Ctrl-C, must not wait for hours of other runs; they go on from there the next time.
            pool.shutdown(wait=False, cancel_futures=True)
            # Ctrl-C has reached them already, and by a second signal they would lose what a safe point saves.
            for process in [] if isinstance(error, KeyboardInterrupt) else list(RUNNING):
                process.terminate()
            raise
    scores, generations, sides = {}, {}, {side: {} for side in SIDES}
    for one in variants:
        overall = {opponent: [] for opponent in plan["opponents"]}
        for seed in seeds:
            for opponent in plan["opponents"]:
                file = given.out / f"{one['name']}-{seed}-{opponent.replace(':', '-')}.json"
                found = result(program, plan, run(one, seed), opponent, file)
                overall[opponent].append(100 * found["score"])
                for side, key in SIDES.items():
                    sides[side].setdefault((one["name"], seed), {})[opponent] = points(found, key)
        scores[one["name"]] = overall
        generations[one["name"]] = statistics.mean(newest_metrics(run(one, seed))["generation"] for seed in seeds)
    strengths = {side: fitted(met) for side, met in sides.items()}
    table = {
        one["name"]: {side: [strengths[side][one["name"], seed] for seed in seeds] for side in SIDES}
        for one in variants
    }
    found = differences(table, seeds)
    base = variants[0]["name"]
    against = " | ".join(f"against {name}" for name in plan["opponents"])
    print(f"| variant | generations | Elo attackers | defenders | overall | {against} |")
    print("|---|---|---|---|---|" + "---|" * len(plan["opponents"]))

    # One seed says nothing about the spread.
    def spread(error):
        return "" if math.isnan(error) else f" ± {error:.0f}"

    for name in found:
        cells = ["0" if name == base else f"{value:+.0f}{spread(error)}" for value, error in found[name].values()]
        percents = [
            ", ".join(f"{score:.0f}" for score in scores[name][opponent]) + " %" for opponent in plan["opponents"]
        ]
        print(f"| {name} | {generations[name]:.0f} | {' | '.join(cells)} | {' | '.join(percents)} |")
    if given.plot:
        draw(found, base, given.plot)


if __name__ == "__main__":
    main()
