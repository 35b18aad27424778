// How a ruleset is played, in lessons. Positions, tasks and what a move does come from the board, the words from the
// texts.

import { ask, make, post, pressByKey } from "./ask.js";
import { svg } from "./ink.js";
import { piece } from "./pieces.js";
import { ending, rulesTitle } from "./saying.js";
import { Stage, complain, say } from "./stage.js";
import { listOf, mapOf, read, text, write } from "./store.js";
import { t } from "./texts.js";

const $ = (id) => document.getElementById(id);

/** The ruleset that a person begins with who has not chosen one: small and quickly learned. */
const FIRST = "brandubh";

/** How long a wrong move stays on the board, in milliseconds. */
const LOOK = 1500;

const KEPT = "lessons";

/** The lessons done, by ruleset. */
const done = read(KEPT, mapOf(listOf(text))) ?? new Map();

function keepDone(rules, lesson) {
  // Another tab may have kept more meanwhile.
  for (const [of, ids] of read(KEPT, mapOf(listOf(text)), []))
    done.set(of, [...new Set([...(done.get(of) ?? []), ...ids])]);
  done.set(rules, [...new Set([...(done.get(rules) ?? []), lesson])]);
  write(KEPT, [...done]);
}

let course = null;
/** Where the person is: number of the lesson, and of its exercise. After the last lesson comes the end. */
let at = { lesson: 0, exercise: 0 };
/** Exercises of the lesson that are done. */
let fulfilled = new Set();

const stage = new Stage($("board"), { label: t("board.board"), onMove: (from, to) => attempt(from + to) });

const lesson = () => course.lessons[at.lesson];
const exercise = () => lesson()?.exercises[at.exercise];

/** The numbers of the rules; occasions also in words. */
function values() {
  const { occurrence, fort_occurrence } = course.values;
  const time = (n) => (n <= 4 ? t("learn.time", { of: n }) : t("learn.timeNumber", { n }));
  const squares = Object.entries(course.squares).flatMap(([kind, { stop, hostile }]) => [
    [`${kind}_stop`, kinds(stop)],
    [`${kind}_hostile`, kinds(hostile)],
  ]);
  return {
    ...course.values,
    time: time(occurrence),
    fort_time: time(fort_occurrence),
    ...Object.fromEntries(squares),
  };
}

/** Kinds of pieces by their letters, in words. */
const kinds = (letters) => [...letters].map((of) => t("learn.kind", { of })).join(", ") || t("learn.nobody");

function show() {
  complain(null);
  const here = lesson();
  const { name } = course.rules;
  history.replaceState(null, "", `#${encodeURIComponent(name)}/${here?.id ?? "finish"}`);
  $("lesson-title").textContent = t(`lesson.${here?.id ?? "finish"}`);
  const count = { n: at.lesson + 1, all: course.lessons.length, rules: rulesTitle(course.rules) };
  $("count").textContent = here ? t("learn.count", count) : rulesTitle(course.rules);
  const texts = here ? here.texts : ["finish.plan", "finish.play"];
  $("words").replaceChildren(
    ...(here?.id === "board" ? [legend()] : []),
    ...texts.map((key) => make("p", {}, t(`teach.${key}`, values()))),
  );
  $("finish").hidden = Boolean(here);
  if (!here) finish();
  list();
  begin();
}

/** Who is who. */
function legend() {
  const kinds = [
    ["a", "learn.attackers"],
    ["d", "learn.defenders"],
    ["k", "learn.king"],
  ];
  const item = ([letter, key]) =>
    make(
      "li",
      {},
      svg("svg", { viewBox: "-50 -50 100 100", class: "mini", "aria-hidden": "true" }, piece(letter, 1)),
      t(key, values()),
    );
  return make("ul", { class: "legend" }, kinds.map(item));
}

/** Sets up the exercise, or the board where there is none. */
async function begin() {
  const here = exercise();
  buttons();
  // Where nothing is to be done the words come at once.
  for (const name of ["task", "status"]) $(name).hidden = !here && Boolean(lesson());
  if (!here) {
    $("task").textContent = t("learn.finished");
    say("");
    return stage.show(course.rules, { board: course.rules.start });
  }
  const goals = here.task.marks;
  const several = lesson().exercises.length > 1 ? `${at.exercise + 1}/${lesson().exercises.length} ` : "";
  $("task").replaceChildren(several && make("span", { class: "place" }, several), t(`task.${here.id}`, values()));
  say(t("learn.yours", { of: here.side }));
  if (here.frames.length > 0) {
    stage.show(course.rules, { board: here.before });
    say(t("learn.past"));
    if (!(await stage.wait()) || !(await stage.play(here.frames))) return;
    say(t("learn.yours", { of: here.side }));
  }
  stage.show(course.rules, here.scene, { goals, last: here.frames.at(-1)?.ply });
}

async function attempt(move, shown = false) {
  const here = exercise();
  try {
    const request = { rules: course.rules.name, lesson: lesson().id, exercise: at.exercise, move };
    const answer = await post("/api/lessons/attempt", request);
    if (exercise() === here) await judged(here, answer, shown);
  } catch (error) {
    complain(error.message);
    begin();
  }
}

async function judged(here, { fulfilled: isRight, happened, frames, scene }, shown) {
  const ends = scene.ending ? ending(scene.ending, course.rules) : "";
  if (isRight) {
    const isShown = stage.play(frames);
    say([shown ? "" : t("learn.right"), t(`done.${here.id}`, values()), ends].filter(Boolean).join(" "), "right");
    fulfilled.add(at.exercise);
    if (fulfilled.size === lesson().exercises.length) keepDone(course.rules.name, lesson().id);
    list();
    buttons();
    return isShown;
  }
  stage.shake();
  const isPlayed = stage.play(frames);
  say([t(`happened.${happened.kind}`), ends].filter(Boolean).join(" "), "wrong");
  if ((await isPlayed) && (await stage.wait(LOOK))) {
    stage.show(course.rules, here.scene, { goals: here.task.marks, last: here.frames.at(-1)?.ply });
  }
}

function buttons() {
  const here = exercise();
  const isDone = !here || fulfilled.has(at.exercise);
  $("previous").disabled = at.lesson === 0 && at.exercise === 0;
  $("show").hidden = !here;
  $("show").disabled = isDone;
  $("next").hidden = !lesson();
  $("next").classList.toggle("main", isDone);
}

function go(number, place = 0) {
  if (number !== at.lesson) fulfilled = new Set();
  at = { lesson: number, exercise: place };
  show();
  scrollTo(0, 0);
}

function next() {
  const { exercises, id } = lesson();
  if (at.exercise + 1 < exercises.length) return go(at.lesson, at.exercise + 1);
  if (exercises.length === 0) keepDone(course.rules.name, id);
  go(at.lesson + 1);
}

function previous() {
  if (at.exercise > 0) return go(at.lesson, at.exercise - 1);
  const before = course.lessons[at.lesson - 1];
  go(at.lesson - 1, Math.max(0, before.exercises.length - 1));
}

/** The lessons, with marks where one is done. */
function list() {
  const known = done.get(course.rules.name) ?? [];
  const item = ({ id }, number) => {
    const isDone = known.includes(id);
    const mark = make("span", { class: "mark", "aria-hidden": "true" }, isDone ? "✓" : "");
    const button = make(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-current": number === at.lesson ? "step" : null,
        "data-lesson": id,
        onclick: () => go(number),
      },
      mark,
      t(`lesson.${id}`),
      isDone ? make("span", { class: "hidden" }, t("learn.done")) : null,
    );
    return make("li", {}, button);
  };
  const held = document.activeElement?.closest("#lessons [data-lesson]")?.dataset.lesson;
  $("lessons").replaceChildren(...course.lessons.map(item));
  if (held) $("lessons").querySelector(`[data-lesson="${held}"]`)?.focus({ preventScroll: true });
  const count = course.lessons.filter(({ id }) => known.includes(id)).length;
  $("progress").textContent = t("learn.progress", { n: count, all: course.lessons.length });
}

/** What comes after the last lesson. */
function finish() {
  const { name } = course.rules;
  const link = (href, text, kind) => make("a", { class: kind, href }, text);
  const play = (side) =>
    link(`./?rules=${encodeURIComponent(name)}&play=${side}`, t("learn.play", { of: side }), "button main");
  const puzzles = course.puzzles ? link(`puzzles.html#${course.puzzles}`, t("learn.puzzles"), "button") : null;
  $("finish").replaceChildren(...[play("defenders"), play("attackers"), puzzles].filter(Boolean));
}

/** Loads the course of a ruleset and goes to a lesson of it, else to the first that is not done. */
async function load(rules, id) {
  try {
    course = await ask(`/api/lessons?rules=${encodeURIComponent(rules)}`);
  } catch (error) {
    // Whatever was asked for, there is a course to read.
    if (error.status === 400 && rules !== FIRST) await load(FIRST);
    else say("");
    return complain(error.message);
  }
  const isListed = course.rulesets.some(({ name }) => name === course.rules.name);
  const rulesets = isListed ? course.rulesets : [course.rules, ...course.rulesets];
  const options = rulesets.map((one) =>
    make("option", { value: one.name, selected: one.name === course.rules.name }, rulesTitle(one)),
  );
  $("rules").replaceChildren(...options);
  const known = done.get(rules) ?? [];
  const asked = id === "finish" ? course.lessons.length : course.lessons.findIndex((one) => one.id === id);
  const open = course.lessons.findIndex((one) => !known.includes(one.id));
  fulfilled = new Set();
  at = { lesson: asked >= 0 ? asked : Math.max(0, open), exercise: 0 };
  show();
}

$("next").addEventListener("click", next);
$("previous").addEventListener("click", previous);
$("show").addEventListener("click", () => attempt(exercise().solution, true));
$("rules").addEventListener("change", (event) => load(event.target.value));

document.addEventListener("keydown", (event) => course && pressByKey(event, { n: "next", h: "show" }));
// Where there is room, the list of lessons is open.
$("course").open = matchMedia("(min-width: 861px) and (min-height: 501px)").matches;

/** Rules as an address has them; a broken one names none. */
function named(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

const fromAddress = (address) => {
  const [rules, id] = new URL(address).hash.slice(1).split("/");
  return load(named(rules) || FIRST, id);
};
addEventListener("hashchange", ({ newURL }) => fromAddress(newURL));
fromAddress(location.href);
