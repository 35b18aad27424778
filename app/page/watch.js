// The training page: what runs have measured, and what they measure while they go on.

import { ask, make } from "./ask.js";
import { svg } from "./ink.js";
import { add, line, linesOf, looks, newest, unknown } from "./lines.js";
import { Plot, brief } from "./plots.js";
import { endName, offer, samples } from "./samples.js";
import { rulesTitle } from "./saying.js";
import * as store from "./store.js";
import { has, percent, t } from "./texts.js";
import { streamWhileSeen } from "./transport.js";

const $ = (id) => document.getElementById(id);
/** A run that has told nothing for so many of its generations' lengths stands still. */
const PATIENCE = 6;
/** What this browser remembers of how the plots are drawn. */
const KEPT = "watch";

/** The runs of the server, with what is known of each. */
let runs = [];
/** Keys of the configurations that are not the same. */
let differences = [];
const { axes, plots: PLOTS } = await (await fetch("assets/plots.json")).json();

/** How the plots are drawn. */
const aLook = store.fields({
  axis: store.oneOf(axes.map(([name]) => name)),
  smoothing: store.between(0, 0.99),
  seeds: store.oneOf(["apart", "range", "error"]),
});
const look = store.read(KEPT, aLook, { axis: "generation", smoothing: 0, seeds: "apart" });

const SIDE_LINES = {
  attackers: ["#3a302b", "#b3a387"],
  defenders: ["#b57a14", "#dcab4d"],
  overall: ["#a63a22", "#e0684c"],
};
const SIDES = { attackers: ["#3a302b", "#0f0d0c"], draws: ["#a08d6c", "#7d6d53"], defenders: ["#ead7ab", "#d9c596"] };

/** The plots that were made, by name. */
const made = new Map();

function plot(name, title, options) {
  if (!made.has(name)) made.set(name, new Plot(name, title, { ...options, onpoint: point }));
  const found = made.get(name);
  if (found.title !== title) found.heading(title);
  return found;
}

/** The cross-hair of all plots goes to a place of the axis, at the next frame. */
let pointed = null;
function point(place) {
  if (pointed === null) requestAnimationFrame(() => (made.forEach((one) => one.mark(pointed.place)), (pointed = null)));
  pointed = { place };
}

const shownRuns = () => runs.filter(({ shown }) => shown);
const keysOf = (prefix) => {
  const keys = shownRuns().flatMap(({ rows }) => rows.flatMap(({ values }) => Object.keys(values)));
  return [...new Set(keys)].filter((key) => key.startsWith(prefix)).sort();
};

/** What a ruleset is called, by its name or its record. */
function rulesWords(rules) {
  const side = /^dim:(\d+)/.exec(rules)?.[1];
  if (side) return rulesTitle({ name: rules, side });
  return has(`rules.${rules}`) ? t(`rules.${rules}`) : rules;
}

/** What a number is called in the words of the page. */
function handicapName(key) {
  const [, kind, rules] = /^balance\/([^_]*)_(.*)$/.exec(key);
  const words = has(`line.${kind}`) ? t(`line.${kind}`) : kind;
  return t("line.ofRules", { line: words, rules: rulesWords(rules) });
}

/** The numbers of a plot, each with its name. */
function numbers({ lines, all }) {
  const fixed = lines.map(([name, key]) => ({ key, of: name, name: t(`line.${name}`) }));
  if (!all) return fixed;
  const named = all === "ends/" ? (key) => endName(key.slice(all.length)) : handicapName;
  return keysOf(all).map((key) => ({ key, name: named(key) }));
}

/** The plots of the page with their series: of one run a plot with several lines, of several one for each number. */
function drawn() {
  const drawing = { ...look, along: axes.find(([name]) => name === look.axis)[1] };
  const one = shownRuns().length === 1 ? shownRuns()[0] : null;
  return PLOTS.flatMap((about) => {
    const { name, stack, ...options } = about;
    const zero = shownRuns().find(({ zero }) => zero)?.zero;
    const title = name === "elo" && zero ? t("plot.eloOf", { zero }) : t(`plot.${name}`);
    if (name === "elo") options.absent = t("plot.noElo");
    const all = numbers(about);
    if (one) {
      const smoothing = stack ? 0 : drawing.smoothing;
      const series = all.map(({ key, name: words, of }) => ({
        name: words,
        ...line(one, key, { ...drawing, smoothing }),
        dash: of === "policyBest" ? "5 4" : null,
        colour: stack ? SIDES[of] : name === "elo" ? SIDE_LINES[of] : undefined,
      }));
      return [[plot(name, title, { ...options, stack }), series]];
    }
    return all.map(({ key, name: words }) => {
      const named = all.length > 1 ? t("plot.part", { title, line: words }) : title;
      return [plot(key, named, options), linesOf(runs, key, drawing)];
    });
  });
}

/** Plots of the numbers that no other plot shows; made once somebody opens them. */
function others() {
  if (!$("more").open) return [];
  const drawing = { ...look, along: axes.find(([name]) => name === look.axis)[1] };
  const taken = new Set(PLOTS.flatMap(({ lines }) => lines.map(([, key]) => key)));
  const keys = keysOf("").filter((key) => !taken.has(key) && !/^(ends|balance|elo)\//.test(key));
  return keys.map((key) => [plot(`more ${key}`, key, {}), linesOf(runs, key, drawing)]);
}

/** Puts the elements of plots into a place, and leaves it alone where they are there. */
function place(where, plots) {
  const elements = plots.map(([plot]) => plot.element);
  const there = [...where.children];
  if (there.length !== elements.length || there.some((element, index) => element !== elements[index]))
    where.replaceChildren(...elements);
}

function showPlots() {
  const [first, more] = [drawn(), others()];
  place($("plots"), first);
  place($("more-plots"), more);
  const xs = [...first, ...more].flatMap(([, series]) => series.flatMap(({ points }) => points.map(([x]) => x)));
  const range = xs.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
  const [low, high] = xs.length > 0 ? range : [0, 1];
  for (const [plot, series] of [...first, ...more]) {
    plot.of = shownRuns().length === 1 ? shownRuns()[0].name : "";
    plot.show(series, { low, high, axis: t(`axis.${look.axis}`) });
  }
}

function complain(message) {
  $("problem").textContent = message ?? "";
  $("problem").hidden = !message;
}

function time(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 59.5) return t("watch.seconds", { seconds: Math.round(seconds) });
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return t("watch.minutes", { minutes });
  return t("watch.hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

const value = (run, key) => newest(run)?.values[key];
const now = () => Date.now() / 1000;
/** Whether a run goes on, as far as its files tell. */
const lively = ({ state }) =>
  !state.finished && state.each > 0 && now() - state.since < Math.max(5, state.each) * PATIENCE;

/** What a run has used of its budget: the last part may be too short for another generation. */
const used = (run) => (run.state.finished ? 1 : Math.min(1, value(run, "run/progress") ?? 0));

/** The generation under way, and how long it has been. */
function underWay(run) {
  if (run.state.finished) return t("live.done");
  const n = (newest(run)?.generation ?? 0) + 1;
  const words = t(run.state.trains ? "live.trains" : "live.plays", { n });
  return lively(run) ? t("live.for", { words, time: time(now() - run.state.since) }) : words;
}

/** What is left of a run's time at the pace of its latest generations. */
const left = (run) => (lively(run) && run.state.ends > now() ? time(run.state.ends - now()) : "–");

function eloOf(run) {
  const rated = run.rows.findLast(({ values }) => "elo/overall" in values)?.values;
  if (!rated) return null;
  const error = Math.round(rated["elo/overall_high"] - rated["elo/overall"]);
  return `${Math.round(rated["elo/overall"])} ± ${error}`;
}

/** The facts of a run, each with the key of its name. */
function facts(run) {
  const last = newest(run);
  if (!last) return [["generation", t("tile.none")]];
  return [
    ["generation", String(last.generation)],
    ["underWay", underWay(run)],
    ["time", time(60 * value(run, "run/elapsed_minutes"))],
    ...(run.state.finished ? [] : [["left", left(run)]]),
    ["games", brief(value(run, "run/games"))],
    ["samples", brief(value(run, "train/samples"))],
    ["playouts", brief(value(run, "search/playouts"))],
    ...(eloOf(run) ? [["elo", eloOf(run)]] : []),
    ["loss", brief(value(run, "loss/total"))],
    ...(last.stage ? [["stage", last.stage]] : []),
    ["checkpoint", (last.checkpoint || "–").slice(0, 8)],
    ...(run.seed === null ? [] : [["seed", String(run.seed)]]),
    ...(run.machine ? [["machine", run.machine]] : []),
  ];
}

const terms = (found) =>
  found.map(([name, words]) =>
    make("div", { "data-fact": name }, make("dt", {}, t(`tile.${name}`)), make("dd", {}, words)),
  );

/** Shows in a bar how much of the budget is used. */
function fill(bar, run) {
  bar.firstElementChild.style.width = `${used(run) * 100}%`;
  bar.setAttribute("aria-valuenow", String(Math.round(used(run) * 100)));
}

/** The cards of the runs among several, which stay where they are while what they say changes. */
const cards = new Map();

/** A run among several: whether it is drawn, its line in its colour and dashes, and how it is doing. */
function card(run) {
  const { colour, dash } = looks(run.place);
  if (!cards.has(run)) {
    const input = make("input", { type: "checkbox", id: `show-${run.place}`, checked: true });
    input.addEventListener("change", () => {
      run.shown = input.checked;
      soon();
    });
    const line = svg("path", { d: "M0 4h34", "stroke-width": 4, "stroke-dasharray": dash });
    const sign = svg("svg", { viewBox: "0 0 34 8", width: 34, height: 8, "aria-hidden": "true" }, line);
    const words = { role: "progressbar", "aria-label": t("watch.budget"), "aria-valuemin": 0, "aria-valuemax": 100 };
    const [share, bar, list] = [make("span"), make("div", { class: "progress", ...words }, make("i")), make("dl")];
    const label = make("label", {}, input, sign, make("b", {}, run.name), share);
    cards.set(run, { element: make("li", {}, label, bar, list), line, share, bar, list });
  }
  const { element, line, share, bar, list } = cards.get(run);
  line.setAttribute("stroke", colour[document.documentElement.dataset.theme === "dark" ? 1 : 0]);
  share.textContent = percent(used(run));
  fill(bar, run);
  const known = facts(run).filter(([name]) => !["checkpoint", "playouts", "samples"].includes(name));
  list.replaceChildren(...terms(known));
  return element;
}

function showFacts() {
  const [one] = runs;
  const several = runs.length > 1;
  if (several) {
    const all = runs.map(card);
    if ($("runs").children.length === 0) $("runs").append(...all);
  } else if (one) {
    $("tiles").replaceChildren(...terms(facts(one)));
    fill($("progress"), one);
  }
  $("runs").hidden = !several;
  $("tiles").hidden = $("progress").hidden = several || !one;
  if (!one) return;
  const on = runs.filter(lively).length;
  const over = runs.every(({ state }) => state.finished);
  const waits = runs.every((run) => !newest(run));
  const words = several
    ? t("live.several", { n: runs.length, on })
    : t(over ? "live.complete" : waits ? "live.waiting" : on > 0 ? "live.following" : "live.quiet");
  $("live").classList.toggle("on", on > 0);
  if ($("live").textContent !== words) $("live").textContent = words;
}

/** The page is shown once the runs have told what they know: QUIET ms after the last of it, LONGEST ms at most. */
const QUIET = 300;
const LONGEST = 2000;
const unveil = () => document.body.classList.remove("waiting");
setTimeout(unveil, LONGEST);
let shows = 0;

function show() {
  showFacts();
  showPlots();
  clearTimeout(shows);
  shows = setTimeout(unveil, QUIET);
}

/** What is drawn next is drawn once, however much has come. */
let due = false;
function soon() {
  if (!due)
    requestAnimationFrame(() => {
      due = false;
      show();
    });
  due = true;
}

/** The configurations: what differs, and the whole of each. */
function showSettings() {
  const several = runs.length > 1;
  const head = make(
    "tr",
    {},
    make("th", { scope: "col" }, t("watch.key")),
    ...runs.map(({ name }) => make("th", { scope: "col" }, name)),
  );
  const row = ({ key, values }) =>
    make("tr", {}, make("th", { scope: "row" }, key), ...values.map((value) => make("td", {}, value || "–")));
  const table = make("table", {}, make("thead", {}, head), make("tbody", {}, differences.map(row)));
  const named = { class: "wide", tabindex: 0, role: "region", "aria-label": t("watch.differences") };
  if (several)
    $("differences").replaceChildren(
      make("h2", {}, t("watch.differences")),
      differences.length > 0 ? make("div", named, table) : make("p", {}, t("watch.noDifference")),
    );
  const whole = ({ name, program, settings }) => {
    const text = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
    const words = make("pre", { tabindex: 0 }, [program, ...text].filter(Boolean).join("\n"));
    return several ? make("details", {}, make("summary", {}, name), words) : words;
  };
  $("configurations").replaceChildren(...runs.map(whole));
}

/** The fields that say how the plots are drawn. */
function showLook() {
  const options = (select, all, chosen) =>
    select.replaceChildren(
      ...all.map(([value, words]) => make("option", { value, selected: value === chosen }, words)),
    );
  options(
    $("axis"),
    axes.map(([name]) => [name, t(`axis.${name}`)]),
    look.axis,
  );
  options(
    $("seeds"),
    ["apart", "range", "error"].map((name) => [name, t(`seeds.${name}`)]),
    look.seeds,
  );
  $("smoothing").value = look.smoothing;
  $("weight").textContent = look.smoothing.toFixed(2);
  $("seeds-label").hidden = runs.every(({ group, place }) => group === place);
  if ($("seeds-label").hidden) look.seeds = "apart";
  $("look").addEventListener("submit", (event) => event.preventDefault());
  $("look").addEventListener("input", () => {
    Object.assign(look, { axis: $("axis").value, smoothing: Number($("smoothing").value), seeds: $("seeds").value });
    $("weight").textContent = look.smoothing.toFixed(2);
    store.write(KEPT, look);
    soon();
  });
  $("more").addEventListener("toggle", soon);
}

/** Listens to all runs. */
function follow() {
  const [, again] = streamWhileSeen("api/watch/events", (stream) => {
    const on = (name, work) =>
      stream.addEventListener(name, (event) => {
        const told = JSON.parse(event.data);
        complain(null);
        work(runs[told.run], told);
        soon();
      });
    on("rows", (run, { rows }) => {
      if (add(run, rows)) offer(run).catch((error) => complain(error.message));
    });
    on("ratings", (run, { zero, rows }) => {
      run.zero = zero;
      add(run, rows);
    });
    on("state", (run, state) => (run.state = state));
    stream.addEventListener("error", () => {
      complain(t("board.interrupted"));
      if (stream.readyState === EventSource.CLOSED) setTimeout(again, 5000);
    });
    stream.addEventListener("open", () => complain(null));
  });
}

async function begin() {
  document.addEventListener("themechange", soon);
  setInterval(showFacts, 2000);
  try {
    const about = await ask("/api/watch");
    if (about.runs.length === 0) {
      complain(t("watch.noRun"));
      return;
    }
    runs = about.runs.map(unknown);
    ({ differences } = about);
    const name = runs.length > 1 ? t("watch.several", { n: runs.length }) : runs[0].name;
    $("run-name").textContent = name;
    document.title = t("watch.of", { name });
    showSettings();
    showLook();
    show();
    follow();
    await samples(runs, complain);
  } catch (error) {
    complain(error.message);
  }
}

begin();
