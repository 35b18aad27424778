// The training page: what a run has measured, and what it measures while it goes on.

import { ask, make } from "./ask.js";
import { Plot, brief } from "./plots.js";
import { resultOf } from "./saying.js";
import { has, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const SAMPLES = 12;
/** Sample games are drawn from at most so many lists, each of which the board reads from the generation's beginning. */
const LISTS = 8;
/** A generation that is older than this many of its own lengths means that the run stands still. */
const PATIENCE = 6;

/** What is known of a run: its metrics by generation, and its ladder. */
const unknown = (name = "") => ({ name, metrics: [], ladder: { zero: null, checkpoints: [] }, stream: null });

let shown = unknown();
/** The run that is drawn beside it, if any. */
let beside = null;
let run = 0;
let samplesOf = null;
/** Whether the run's trainer has said that its budget is used up. */
let finished = false;

/** A number deep in an object, `undefined` where there is none. */
const at = (object, path) => path.split(".").reduce((inner, name) => inner?.[name], object);

/** One number over the generations; `key` finds its name in the texts. */
function line({ metrics }, key, path, more = {}) {
  const name = t(`line.${key}`);
  const points = metrics.map((one) => [one.generation, at(one, path)]).filter(([, value]) => Number.isFinite(value));
  return { name, points, ...more };
}

const SIDE_LINES = {
  attackers: ["#3a302b", "#b3a387"],
  defenders: ["#b57a14", "#dcab4d"],
  overall: ["#a63a22", "#e0684c"],
};
const SIDES = { attackers: ["#3a302b", "#0f0d0c"], draws: ["#a08d6c", "#7d6d53"], defenders: ["#ead7ab", "#d9c596"] };

const plots = [
  [
    new Plot("losses", { zero: true }),
    (one) => [
      line(one, "total", "training.losses.total"),
      line(one, "policy", "training.losses.policy"),
      line(one, "policyBest", "training.policy_entropy", { dashed: true }),
      line(one, "value", "training.losses.value"),
      line(one, "movesLeft", "training.losses.moves_left"),
      line(one, "occupancy", "training.losses.occupancy"),
    ],
  ],
  [
    new Plot("shareWon", { kind: "stack", share: true }),
    (one) =>
      ["attackers", "draws", "defenders"].map((name) => line(one, name, `selfplay.${name}`, { colour: SIDES[name] })),
  ],
  [new Plot("ends", { kind: "stack", share: true }), ends],
  [new Plot("length", { zero: true }), (one) => [line(one, "mean", "selfplay.mean_plies")]],
  [
    new Plot("perSecond", { zero: true }),
    (one) => [
      line(one, "playouts", "selfplay.playouts_per_second"),
      line(one, "evaluations", "selfplay.evaluations_per_second"),
      line(one, "samples", "training.samples_per_second"),
    ],
  ],
  [new Plot("window", { zero: true }), (one) => [line(one, "window", "training.window_plies")]],
  [new Plot("reuse", { zero: true }), (one) => [line(one, "reuse", "training.reuse")]],
  [
    new Plot("search", { zero: true }),
    (one) => [line(one, "surprise", "selfplay.search_surprise"), line(one, "changed", "selfplay.changed_minds")],
  ],
  [new Plot("handicap"), handicaps],
];
const strength = new Plot("elo", { whole: true, absent: t("plot.noElo") });
plots.unshift([strength, elo]);

/** Ratings by side, of the generations that have climbed the ladder. */
function elo({ ladder }) {
  if (ladder === shown.ladder) strength.heading(ladder.zero ? t("plot.eloOf", { zero: ladder.zero }) : t("plot.elo"));
  return ["attackers", "defenders", "overall"].map((name) => ({
    name: t(`line.${name}`),
    points: ladder.checkpoints.map((one) => [
      one.generation,
      one[name],
      one[name === "overall" ? "error" : `${name}_error`],
    ]),
    colour: SIDE_LINES[name],
  }));
}

/** What an end is called in the metrics, such as `attackers king_captured`, in words. */
function endName(name) {
  const [, of, key] = /^(attackers|defenders|draw) (.*)$/.exec(name) ?? [];
  if (!has(`reason.${key}`)) return name.replaceAll("_", " ");
  const reason = t(`reason.${key}`);
  return of === "draw" ? t("result.drawn", { reason }) : t("result.won", { of, reason });
}

/** How games ended, the frequent reasons first and the rest together. */
function ends({ metrics }) {
  const total = {};
  for (const one of metrics)
    for (const [name, count] of Object.entries(one.selfplay?.ends ?? {})) total[name] = (total[name] ?? 0) + count;
  const names = Object.keys(total).sort((a, b) => total[b] - total[a]);
  const games = metrics.reduce((sum, one) => sum + (one.selfplay?.games ?? 0), 0);
  const shown = names.filter((name, index) => index < 6 && total[name] >= games / 200).sort();
  const share = (one, name) => (one.selfplay?.ends?.[name] ?? 0) / Math.max(1, one.selfplay?.games ?? 0);
  const series = shown.map((name) => ({
    name: endName(name),
    points: metrics.map((one) => [one.generation, share(one, name)]),
  }));
  const rest = names.filter((name) => !shown.includes(name));
  if (rest.length > 0)
    series.push({
      name: t("reason.other"),
      points: metrics.map((one) => [one.generation, rest.reduce((sum, name) => sum + share(one, name), 0)]),
    });
  return series;
}

function handicaps(run) {
  const rules = [...new Set(run.metrics.flatMap((one) => Object.keys(one.selfplay?.handicaps ?? {})))];
  return rules.flatMap((name) => {
    const named = (one) =>
      rules.length > 1 ? { ...one, name: t("line.ofRules", { line: one.name, rules: t(`rules.${name}`) }) } : one;
    return ["doublings", "blunders"].map((key) => named(line(run, key, `selfplay.handicaps.${name}.${key}`)));
  });
}

function complain(message) {
  $("problem").textContent = message ?? "";
  $("problem").hidden = !message;
}

function time(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  if (hours > 0) return t("watch.hours", { hours, minutes });
  return minutes > 0 ? t("watch.minutes", { minutes }) : t("watch.seconds", { seconds: Math.round(seconds) });
}

/** What a plot shows: lines of the run beside, dashed, where there is one. */
function drawn(plot, series) {
  if (!beside || plot.kind !== "line") return series(shown);
  const named = (one, more) =>
    series(one).map((line, like) => ({
      ...line,
      ...more,
      like,
      name: t("line.ofRun", { line: line.name, run: one.name }),
    }));
  return [...named(shown, {}), ...named(beside, { dashed: true })];
}

function show() {
  const { metrics, ladder } = shown;
  const newest = metrics.at(-1);
  const games = metrics.reduce((sum, one) => sum + (one.selfplay?.games ?? 0), 0);
  const tiles = newest
    ? [
        ["generation", newest.generation],
        ["time", time(newest.elapsed_seconds)],
        ["games", brief(games)],
        ["steps", brief(newest.training?.steps)],
        ["playouts", brief(newest.selfplay?.playouts)],
        ...(ladder.checkpoints.length > 0
          ? [
              [
                "elo",
                ["overall", "error"].map((name) => brief(Math.round(ladder.checkpoints.at(-1)[name]))).join(" ± "),
              ],
            ]
          : []),
        ["loss", brief(newest.training?.losses?.total)],
        ["checkpoint", (newest.checkpoint ?? "–").slice(0, 8)],
      ]
    : [["generation", t("tile.none")]];
  $("tiles").replaceChildren(
    ...tiles.map(([name, value]) => make("div", {}, make("dt", {}, t(`tile.${name}`)), make("dd", {}, String(value)))),
  );
  // The last part of a budget may be too short for another generation; the run is complete all the same.
  const used = finished ? 1 : Math.min(1, newest?.progress ?? 0);
  $("progress").firstElementChild.style.width = `${used * 100}%`;
  $("progress").setAttribute("aria-valuenow", String(Math.round(used * 100)));
  if (finished) live(t("live.complete"));
  for (const [plot, series] of plots) plot.show(drawn(plot, series));
}

/** Says how the run is doing; `on` when it goes on for certain. */
function live(words, on = false) {
  $("live").classList.toggle("on", on);
  if ($("live").textContent !== words) $("live").textContent = words;
}

/** Whether the run is going on, as far as its files tell. */
function lively() {
  const recent = shown.metrics.slice(-5);
  if (finished || arrived === null || recent.length < 2) return;
  const length = Math.max(5, (recent.at(-1).elapsed_seconds - recent[0].elapsed_seconds) / (recent.length - 1));
  const quiet = (Date.now() - arrived) / 1000;
  const on = quiet < length * PATIENCE;
  live(t(on ? "live.new" : "live.quiet"), on);
}

let arrived = null;

async function watch(index) {
  shown.stream?.close();
  const here = unknown();
  shown = here;
  [run, arrived, samplesOf, finished] = [index, null, null, false];
  try {
    const about = await ask(`/api/runs/${index}`);
    // Whoever has chosen another run meanwhile does not want this one any more.
    if (shown !== here) return;
    here.name = about.name;
    $("run-name").textContent = about.name;
    document.title = t("watch.of", { name: about.name });
    for (const [plot] of plots) plot.of = about.name;
    live(t("live.waiting"));
    $("generation").replaceChildren();
    await offer();
  } catch (error) {
    if (shown === here) complain(error.message);
    return;
  }
  if (shown !== here) return;
  show();
  let first = true;
  const { stream } = follow(here, index, () => {
    complain(null);
    if (!first) arrived = Date.now();
    live(t("live.following"));
    show();
    if (!first) offer().catch((error) => complain(error.message));
    first = false;
  });
  stream.addEventListener("finished", (event) => {
    const before = finished;
    finished = JSON.parse(event.data);
    // A budget can be made larger, and the run goes on.
    if (before && !finished) live(t("live.following"));
    show();
  });
  stream.addEventListener("error", () => complain(t("board.interrupted")));
  stream.addEventListener("open", () => complain(null));
}

/** Listens to a run, and says when there are further generations. */
function follow(one, index, onMetrics) {
  one.stream = new EventSource(`/api/runs/${index}/events?after=0`);
  one.stream.addEventListener("metrics", (event) => {
    const known = one.metrics.at(-1)?.generation ?? 0;
    const fresh = JSON.parse(event.data).filter((each) => each.generation > known);
    if (fresh.length === 0) return;
    one.metrics.push(...fresh);
    onMetrics();
  });
  one.stream.addEventListener("ladder", (event) => {
    one.ladder = JSON.parse(event.data);
    show();
  });
  return one;
}

/** Draws another run beside this one; none where the name is empty. */
function compare(chosen) {
  beside?.stream.close();
  beside = chosen === "" ? null : follow(unknown($("beside").selectedOptions[0].textContent), chosen, show);
  show();
}

/** The generations to choose sample games from, the newest of which is shown unless another was chosen. */
async function offer() {
  const here = shown;
  const { generations } = await ask(`/api/runs/${run}`);
  if (shown !== here) return;
  const select = $("generation");
  const chosen = select.selectedIndex <= 0 ? null : select.value;
  const newestFirst = [...generations].reverse();
  select.replaceChildren(
    ...newestFirst.map((generation) => make("option", { value: generation }, t("open.generation", { n: generation }))),
  );
  if (chosen) select.value = chosen;
  else await samples(newestFirst[0]);
}

/** The games of a generation that can be read, of at most so many lists. */
async function gamesOf(generation) {
  const games = [];
  let first = 0;
  for (let lists = 0; first !== null && lists < LISTS; lists++) {
    const { list } = await ask(`/api/runs/${run}/games?generation=${generation}&first=${first}`);
    games.push(...list.games.filter((game) => !game.error));
    first = list.next;
  }
  return games;
}

/** Some games of a generation, evenly spread. */
async function samples(generation) {
  if (!generation || generation === samplesOf) {
    if (!generation) $("samples").replaceChildren(make("li", {}, t("watch.noGames")));
    return;
  }
  samplesOf = generation;
  const here = shown;
  const games = await gamesOf(generation);
  if (shown !== here || samplesOf !== generation) return;
  const step = Math.max(1, games.length / SAMPLES);
  const some = Array.from({ length: Math.min(SAMPLES, games.length) }, (_, index) => games[Math.floor(index * step)]);
  $("samples").replaceChildren(
    ...some.map((game) =>
      make(
        "li",
        {},
        make(
          "a",
          { href: `/?run=${run}&generation=${generation}&index=${game.index}` },
          make("b", {}, t("open.game", { n: game.number })),
          make("small", {}, `${resultOf(game.ending)}, ${t("open.length", { n: game.plies })}`),
        ),
      ),
    ),
  );
}

async function begin() {
  $("plots").replaceChildren(...plots.map(([plot]) => plot.element));
  document.addEventListener("themechange", show);
  setInterval(lively, 2000);
  try {
    const { runs } = await ask("/api/setup");
    if (runs.length === 0) {
      complain(t("watch.noRun"));
      return;
    }
    $("run").replaceChildren(...runs.map((name, index) => make("option", { value: index }, name)));
    $("run").hidden = runs.length < 2;
    $("run").addEventListener("change", (event) => watch(Number(event.target.value)));
    $("beside").replaceChildren(
      make("option", { value: "" }, t("watch.alone")),
      ...runs.map((name, index) => make("option", { value: index }, name)),
    );
    $("beside").hidden = runs.length < 2;
    $("beside").addEventListener("change", (event) => compare(event.target.value));
    $("generation").addEventListener("change", (event) =>
      samples(Number(event.target.value)).catch((error) => complain(error.message)),
    );
    await watch(0);
  } catch (error) {
    complain(error.message);
  }
}

begin();
