// The training page: what a run has measured, and what it measures while it goes on.

import { ask, make } from "./ask.js";
import { Plot, brief } from "./plots.js";

const $ = (id) => document.getElementById(id);
const SAMPLES = 12;
/** A generation that is older than this many of its own lengths means that the run stands still. */
const PATIENCE = 6;

let metrics = [];
let ladder = { zero: null, checkpoints: [] };
let stream = null;
let run = 0;
let samplesOf = null;
/** Whether the run's trainer has said that its budget is used up. */
let finished = false;

/** A number deep in an object, `undefined` where there is none. */
const at = (object, path) => path.split(".").reduce((inner, name) => inner?.[name], object);

/** One number over the generations. */
function line(name, path, more = {}) {
  const points = metrics.map((one) => [one.generation, at(one, path)]).filter(([, value]) => Number.isFinite(value));
  return { name, points, ...more };
}

const SIDE_LINES = { attackers: ["#3a302b", "#b3a387"], defenders: ["#b57a14", "#dcab4d"], overall: ["#a63a22", "#e0684c"] };
const SIDES = { attackers: ["#3a302b", "#0f0d0c"], draws: ["#a08d6c", "#7d6d53"], defenders: ["#ead7ab", "#d9c596"] };

const plots = [
  [new Plot("Losses", { zero: true }), () => [
    line("total", "training.losses.total"), line("policy", "training.losses.policy"),
    line("policy at best", "training.policy_entropy", { dashed: true }), line("value", "training.losses.value"),
    line("moves left", "training.losses.moves_left"), line("occupancy", "training.losses.occupancy")]],
  [new Plot("Share won", { kind: "stack", share: true }), () => ["attackers", "draws", "defenders"].map((name) =>
    line(name, `selfplay.${name}`, { colour: SIDES[name] }))],
  [new Plot("Ends by reason", { kind: "stack", share: true }), ends],
  [new Plot("Game length, plies", { zero: true }), () => [line("mean", "selfplay.mean_plies")]],
  [new Plot("Per second", { zero: true }), () => [
    line("playouts", "selfplay.playouts_per_second"), line("evaluations", "selfplay.evaluations_per_second"),
    line("training samples", "training.samples_per_second")]],
  [new Plot("Replay window, plies", { zero: true }), () => [line("window", "training.window_plies")]],
  [new Plot("Reuse of new plies", { zero: true }), () => [line("samples per new ply", "training.reuse")]],
  [new Plot("Search against network", { zero: true }), () => [
    line("surprise, nats", "selfplay.search_surprise"), line("changed its mind", "selfplay.changed_minds")]],
  [new Plot("Handicap that evens the games"), handicaps],
];
const strength = new Plot("Elo per side", { whole: true, absent: "No checkpoint of this run has played on its ladder yet." });
plots.unshift([strength, elo]);

/** Ratings by side, of the generations that have climbed the ladder. */
function elo() {
  strength.heading(ladder.zero ? `Elo per side (${ladder.zero} is 0)` : "Elo per side");
  return ["attackers", "defenders", "overall"].map((name) => (
    { name, points: ladder.checkpoints.map((one) => [one.generation, one[name], one[name === "overall" ? "error" : `${name}_error`]]), colour: SIDE_LINES[name] }));
}

/** How games ended, the frequent reasons first and the rest together. */
function ends() {
  const total = {};
  for (const one of metrics) for (const [name, count] of Object.entries(one.selfplay?.ends ?? {})) total[name] = (total[name] ?? 0) + count;
  const names = Object.keys(total).sort((a, b) => total[b] - total[a]);
  const games = metrics.reduce((sum, one) => sum + (one.selfplay?.games ?? 0), 0);
  const shown = names.filter((name, index) => index < 6 && total[name] >= games / 200).sort();
  const share = (one, name) => (one.selfplay?.ends?.[name] ?? 0) / Math.max(1, one.selfplay?.games ?? 0);
  const series = shown.map((name) => ({ name: name.replaceAll("_", " "), points: metrics.map((one) => [one.generation, share(one, name)]) }));
  const rest = names.filter((name) => !shown.includes(name));
  if (rest.length > 0) series.push({ name: "other", points: metrics.map((one) => [one.generation, rest.reduce((sum, name) => sum + share(one, name), 0)]) });
  return series;
}

function handicaps() {
  const rules = [...new Set(metrics.flatMap((one) => Object.keys(one.selfplay?.handicaps ?? {})))];
  return rules.flatMap((name) => {
    const suffix = rules.length > 1 ? ` (${name})` : "";
    return [line(`doublings${suffix}`, `selfplay.handicaps.${name}.doublings`), line(`blunders${suffix}`, `selfplay.handicaps.${name}.blunders`)];
  });
}

function complain(message) {
  $("problem").textContent = message ?? "";
  $("problem").hidden = !message;
}

function time(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min` : `${Math.round(seconds)} s`;
}

function show() {
  const newest = metrics.at(-1);
  const games = metrics.reduce((sum, one) => sum + (one.selfplay?.games ?? 0), 0);
  const tiles = newest ? [
    ["Generation", newest.generation], ["Time", time(newest.elapsed_seconds)], ["Games", brief(games)],
    ["Training steps", brief(newest.training?.steps)], ["Playouts a move", brief(newest.selfplay?.playouts)],
    ...(ladder.checkpoints.length > 0 ? [["Elo overall", ["overall", "error"].map((name) => brief(Math.round(ladder.checkpoints.at(-1)[name]))).join(" ± ")]] : []),
    ["Loss", brief(newest.training?.losses?.total)], ["Checkpoint", (newest.checkpoint ?? "–").slice(0, 8)],
  ] : [["Generation", "none yet"]];
  $("tiles").replaceChildren(...tiles.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))));
  // The last part of a budget may be too short for another generation; the run is complete all the same.
  const used = finished ? 1 : Math.min(1, newest?.progress ?? 0);
  $("progress").firstElementChild.style.width = `${used * 100}%`;
  $("progress").setAttribute("aria-valuenow", String(Math.round(used * 100)));
  if (finished) live("The run is complete: its budget is used up.");
  for (const [plot, series] of plots) plot.show(series());
}

/** Says how the run is doing; `on` when it goes on for certain. */
function live(words, on = false) {
  $("live").classList.toggle("on", on);
  if ($("live").textContent !== words) $("live").textContent = words;
}

/** Whether the run is going on, as far as its files tell. */
function lively() {
  const recent = metrics.slice(-5);
  if (finished || arrived === null || recent.length < 2) return;
  const length = Math.max(5, (recent.at(-1).elapsed_seconds - recent[0].elapsed_seconds) / (recent.length - 1));
  const quiet = (Date.now() - arrived) / 1000;
  const on = quiet < length * PATIENCE;
  live(on ? "A generation has just come in." : "No generation has come in lately.", on);
}

let arrived = null;

async function watch(index) {
  stream?.close();
  [run, metrics, arrived, samplesOf, finished, ladder] = [index, [], null, null, false, { zero: null, checkpoints: [] }];
  try {
    const about = await ask(`/api/runs/${index}`);
    $("run-name").textContent = about.name;
    document.title = `Hnefi: ${about.name}`;
    for (const [plot] of plots) plot.of = about.name;
    live("Waiting for the first generation.");
    $("generation").replaceChildren();
    await offer();
  } catch (error) {
    complain(error.message);
    return;
  }
  show();
  let first = true;
  stream = new EventSource(`/api/runs/${index}/events?after=0`);
  stream.addEventListener("metrics", (event) => {
    complain(null);
    const known = metrics.at(-1)?.generation ?? 0;
    const fresh = JSON.parse(event.data).filter((one) => one.generation > known);
    if (fresh.length === 0) return;
    metrics.push(...fresh);
    if (!first) arrived = Date.now();
    live("Following the run.");
    show();
    if (!first) offer().catch((error) => complain(error.message));
    first = false;
  });
  stream.addEventListener("ladder", (event) => {
    ladder = JSON.parse(event.data);
    show();
  });
  stream.addEventListener("finished", (event) => {
    const before = finished;
    finished = JSON.parse(event.data);
    // A budget can be made larger, and the run goes on.
    if (before && !finished) live("Following the run.");
    show();
  });
  stream.addEventListener("error", () => complain("The connection to the server is interrupted; trying again…"));
  stream.addEventListener("open", () => complain(null));
}

/** The generations to choose sample games from, the newest of which is shown unless another was chosen. */
async function offer() {
  const select = $("generation");
  const chosen = select.selectedIndex <= 0 ? null : select.value;
  const { generations } = await ask(`/api/runs/${run}`);
  const newestFirst = [...generations].reverse();
  select.replaceChildren(...newestFirst.map((generation) => make("option", { value: generation }, `Generation ${generation}`)));
  if (chosen) select.value = chosen;
  else await samples(newestFirst[0]);
}

/** Some games of a generation, evenly spread. */
async function samples(generation) {
  if (!generation || generation === samplesOf) {
    if (!generation) $("samples").replaceChildren(make("li", {}, "There are no games yet."));
    return;
  }
  samplesOf = generation;
  const { list } = await ask(`/api/runs/${run}/games?generation=${generation}`);
  const games = list.games.filter((game) => !game.error);
  const step = Math.max(1, games.length / SAMPLES);
  const some = Array.from({ length: Math.min(SAMPLES, games.length) }, (_, index) => games[Math.floor(index * step)]);
  $("samples").replaceChildren(...some.map((game) => make("li", {},
    make("a", { href: `/?run=${run}&generation=${generation}&index=${game.index}` }, make("b", {}, `Game ${game.number}`), make("small", {}, `${game.result}, ${game.plies} plies`)))));
}

async function begin() {
  $("plots").replaceChildren(...plots.map(([plot]) => plot.element));
  document.addEventListener("themechange", show);
  setInterval(lively, 2000);
  try {
    const { runs } = await ask("/api/setup");
    if (runs.length === 0) {
      complain("The server was given no run. Start it with: hnefi watch RUN --web");
      return;
    }
    $("run").replaceChildren(...runs.map((name, index) => make("option", { value: index }, name)));
    $("run").hidden = runs.length < 2;
    $("run").addEventListener("change", (event) => watch(Number(event.target.value)));
    $("generation").addEventListener("change", (event) => samples(Number(event.target.value)).catch((error) => complain(error.message)));
    await watch(0);
  } catch (error) {
    complain(error.message);
  }
}

begin();
