// From what is known of runs to the lines of plots: along an axis, smoothed, and with the seeds of a group as one.

import { t } from "./texts.js";

/** Points of a mean over seeds whose generations do not lie at the same places of the axis. */
const GRID = 200;

/** Colours that stay apart for all kinds of colour vision, on a light and on a dark ground; and dashes beside them. */
const COLOURS = [
  ["#0072b2", "#4aa8e8"],
  ["#c75200", "#f0813a"],
  ["#007f5f", "#2fc79a"],
  ["#a8457f", "#e08fc0"],
  ["#8a6d00", "#e8d04a"],
  ["#3f97cf", "#9bd8ff"],
  ["#2a2019", "#eee3cd"],
];
const DASHES = [null, "8 4", "2 4", "10 4 2 4"];

/** How the line of the run at a place looks; there are 28 different ones. */
export const looks = (place) => ({ colour: COLOURS[place % COLOURS.length], dash: DASHES[place % DASHES.length] });

/** A run of which nothing is known yet. */
export const unknown = (about, place) => ({
  ...about,
  place,
  shown: true,
  rows: [],
  zero: null,
  state: { finished: false, trains: false, since: 0, each: 0, ends: 0 },
});

const isElo = (key) => key.startsWith("elo/");

/**
 * Adds rows to those of a run, in order, the numbers of a generation together. Rows of Elo alone are all ratings there
 * are, and no earlier one stays. Says whether there were new generations.
 */
export function add(run, rows) {
  const known = new Map(run.rows.map((row) => [row.generation, row]));
  if (rows.every(({ values }) => Object.keys(values).every(isElo))) {
    for (const [generation, row] of known) {
      const left = Object.entries(row.values).filter(([key]) => !isElo(key));
      if (left.length > 0) known.set(generation, { ...row, values: Object.fromEntries(left) });
      else known.delete(generation);
    }
  }
  for (const row of rows) {
    const before = known.get(row.generation);
    // Ratings know nothing of a generation but its Elo.
    const whole = before && !("run/progress" in row.values) ? before : row;
    known.set(row.generation, { ...whole, values: { ...before?.values, ...row.values } });
  }
  const before = newest(run)?.generation;
  run.rows = [...known.values()].sort((a, b) => a.generation - b.generation);
  return newest(run)?.generation !== before;
}

/** The newest generation that measured anything. */
export const newest = (run) => run.rows.findLast(({ values }) => "run/progress" in values);

/** A number of a run along an axis, with the ends of its interval where it has one. */
function points(run, key, along) {
  // The network that the run began with has used up nothing.
  const at = ({ generation, values }) => (along === null || generation === 0 ? generation : values[along]);
  // How no game of a generation ended, its metrics do not say.
  const none = ({ values }) => (key.startsWith("ends/") && "games/finished" in values ? 0 : undefined);
  const of = (row) => row.values[key] ?? none(row);
  return run.rows
    .filter((row) => of(row) !== undefined && at(row) !== undefined)
    .map((row) => {
      const [low, high] = [`${key}_low`, `${key}_high`].map((end) => row.values[end]);
      return low === undefined ? [at(row), of(row)] : [at(row), of(row), low, high];
    });
}

/** An exponential moving mean, which begins with the first value rather than with zero. */
export function smoothed(line, weight) {
  if (weight === 0) return line;
  let [sum, of] = [0, 0];
  return line.map(([x, y]) => {
    sum = sum * weight + y * (1 - weight);
    of = of * weight + (1 - weight);
    return [x, sum / of];
  });
}

/** The value of a line at a place, between two of its points; null outside of the line. */
function valueAt(line, x) {
  const after = line.findIndex(([place]) => place >= x);
  if (after < 0) return null;
  const [right, above] = line[after];
  if (right === x) return above;
  if (after === 0) return null;
  const [left, below] = line[after - 1];
  return below + ((above - below) * (x - left)) / (right - left);
}

/**
 * The mean of lines with their least and largest value, or with its standard error, as far as all of them reach: where
 * they have points, or on a grid between. A mean of fewer would jump wherever one of them begins or ends.
 */
export function over(lines, band) {
  let places = [...new Set(lines.flat().map(([x]) => x))].sort((a, b) => a - b);
  if (places.length > Math.max(...lines.map(({ length }) => length))) {
    const [low, high] = [places[0], places.at(-1)];
    places = Array.from({ length: GRID + 1 }, (_, step) => low + ((high - low) * step) / GRID);
  }
  return places.flatMap((x) => {
    const values = lines.map((line) => valueAt(line, x)).filter((value) => value !== null);
    const { length } = values;
    if (length < lines.length) return [];
    const mean = values.reduce((sum, value) => sum + value, 0) / length;
    if (band === "range") return [[x, mean, Math.min(...values), Math.max(...values)]];
    const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const error = Math.sqrt(squares / (length - 1) / length);
    return [[x, mean, mean - error, mean + error]];
  });
}

/** A number of one run as a line of a plot. */
export function line(run, key, { along, smoothing }) {
  const all = points(run, key, along);
  return { points: smoothed(all, smoothing), raw: smoothing > 0 ? all : null };
}

/** A number of all runs that are shown, a line for each of them or for each group of seeds. */
export function linesOf(runs, key, look) {
  const shown = runs.filter(({ shown }) => shown);
  const alone = (run) => ({ name: run.name, ...looks(run.place), ...line(run, key, look) });
  if (look.seeds === "apart") return shown.map(alone);
  return [...new Set(shown.map(({ group }) => group))].map((group) => {
    const members = shown.filter((run) => run.group === group);
    const lines = members.map((run) => line(run, key, look).points).filter(({ length }) => length > 0);
    if (lines.length < 2) return alone(members.find((run) => line(run, key, look).points.length > 0) ?? members[0]);
    const name = t("line.seeds", { name: members[0].name, n: lines.length });
    return { name, ...looks(group), points: over(lines, look.seeds), range: look.seeds === "range" };
  });
}
