// Puzzles: positions with one right move, each proven. The board says what a move is worth and how the defence answers.

import { ask, dialog, make, post, pressByKey, reveal } from "./ask.js";
import { failed, ofTheDay, showDaily, solved } from "./daily.js";
import { today } from "./day.js";
import { mine, rate, ratingOf, showRating } from "./rating.js";
import { ending, rulesTitle, said } from "./saying.js";
import { Stage, complain, say } from "./stage.js";
import * as store from "./store.js";
import { number, t } from "./texts.js";

const $ = (id) => document.getElementById(id);

/** The next puzzle is drawn from this many of those that are left, the nearest to the person's rating. */
const AMONG = 8;

/** How long a wrong move stays on the board, in milliseconds. */
const LOOK = 1100;

const KEPT = "puzzles";
const count = store.whole(0, 1e9);
const aScore = store.fields({
  solved: store.listOf(store.text),
  streak: count,
  best: count,
  rules: store.text,
  theme: store.text,
});

/** What the person has done, kept in this browser. */
const score = store.read(KEPT, aScore, { solved: [], streak: 0, best: 0, rules: "", theme: "" });

const keep = () => store.write(KEPT, score);

/** Another tab may have kept more meanwhile. */
function recall() {
  const { solved, streak, best } = store.read(KEPT, aScore, score);
  Object.assign(score, { solved, streak, best });
}

let book = null;
let puzzle = null;
/** The right moves so far, and the position after them and the defence. */
let moves = [];
let scene = null;
let last = null;
/** Whether the puzzle is over: solved or shown. */
let over = false;
/** Whether it was solved before: then it counts for nothing. */
let isKnown = false;
/** Whether it still counts for the streak. */
let counts = true;
/** What is asked, until its answer is taken in; a puzzle that begins forgets it, and an answer then comes too late. */
let awaited = null;

/** Whether the person may go on with the puzzle. */
const idle = () => puzzle && !over && !awaited;

const stage = new Stage($("board"), { label: t("board.board"), onMove: (from, to) => attempt(from + to) });

/** A puzzle's rating, by its place among all. */
const rating = (id) =>
  ratingOf(
    book.puzzles.findIndex((one) => one.id === id),
    book.puzzles.length,
  );

/** Today's puzzle. */
const daily = () => ofTheDay(book.puzzles, today());

const ownMoves = ({ plies }) => (plies + 1) / 2;

/** The puzzles that are chosen, easiest first. */
function chosen() {
  return book.puzzles.filter(
    ({ rules, theme }) => (!score.rules || rules === score.rules) && (!score.theme || theme === score.theme),
  );
}

function open() {
  const solved = new Set(score.solved);
  return chosen().filter(({ id }) => !solved.has(id));
}

const draw = (list) => list[Math.floor(Math.random() * list.length)];

/** The next puzzle: of the rules and themes that are chosen one of the nearest to the person's rating. */
async function next() {
  const left = open().filter(({ id }) => id !== puzzle?.id);
  if (left.length === 0) return nothingLeft();
  const far = new Map(left.map(({ id }) => [id, Math.abs(rating(id) - mine())]));
  await load(draw(left.sort((a, b) => far.get(a.id) - far.get(b.id)).slice(0, AMONG)).id);
}

function nothingLeft() {
  complain(null);
  [puzzle, awaited] = [null, null];
  over = true;
  $("task").textContent = t("puzzles.allSolved");
  say(t("puzzles.chooseOthers"));
  tell();
}

async function load(id) {
  complain(null);
  try {
    puzzle = await ask(`/api/puzzles/${id}`);
  } catch (error) {
    return complain(error.message);
  }
  $("board").dataset.puzzle = id;
  isKnown = score.solved.includes(id);
  counts = !isKnown;
  begin();
  reveal($("task"));
}

/** Sets the puzzle up from its start. */
function begin() {
  [moves, scene, last, over, awaited] = [[], puzzle.scene, null, false, null];
  const { theme } = puzzle;
  $("task").textContent = t(`set.${theme}`, { n: ownMoves(puzzle) });
  say(t("learn.yours", { of: scene.to_move }));
  stage.show(puzzle.rules, scene);
  tell();
}

/** Asks something about the puzzle as it stands, and takes the answer in unless the puzzle has changed meanwhile. */
async function consult(what, asked, takeIn) {
  const mine = {};
  awaited = mine;
  try {
    const answer = await post(`/api/puzzles/${puzzle.id}/${what}`, { moves: asked });
    if (awaited === mine) await takeIn(answer);
  } catch (error) {
    if (awaited !== mine) return;
    complain(error.message);
    stage.show(puzzle.rules, scene, { last });
  } finally {
    if (awaited === mine) awaited = null;
  }
}

async function attempt(move) {
  if (!idle()) return;
  await consult("attempt", [...moves, move], (answer) => judged(move, answer));
}

async function judged(move, { verdict, frames, scene: after, threat }) {
  const how = threat && ending(threat.ending, puzzle.rules);
  if (verdict === "wrong" || verdict === "slow") {
    stage.shake();
    stage.play(frames);
    if (verdict === "slow") say(t("puzzles.slow"), "wrong");
    else {
      say(threat ? `${t("puzzles.loses", { n: threat.moves })} ${how}` : t("puzzles.wrong"), "wrong");
      spoil();
    }
    if (await stage.wait(LOOK)) stage.show(puzzle.rules, scene, { last });
    return;
  }
  moves.push(move);
  [scene, last] = [after, frames.at(-1).ply];
  if (verdict === "right") {
    say(t("puzzles.right", { answer: said(frames[1].ply) }), "right");
    if (await stage.play(frames)) stage.show(puzzle.rules, scene, { last });
    return;
  }
  const isShown = stage.play(frames);
  recall();
  if (counts) {
    score.streak++;
    score.best = Math.max(score.best, score.streak);
  }
  if (!score.solved.includes(puzzle.id)) score.solved.push(puzzle.id);
  keep();
  if (counts) rate(puzzle.id, rating(puzzle.id), true);
  if (puzzle.id === daily().id) solved(today());
  [over, isKnown, counts] = [true, true, false];
  const why = after.ending ? ending(after.ending, puzzle.rules) : t("puzzles.onlyMove");
  say(
    [t("puzzles.solvedNow"), why, threat ? `${t("puzzles.otherwise")} ${how}` : ""].filter(Boolean).join(" "),
    "right",
  );
  tell();
  await isShown;
}

/** The streak is over, and this puzzle begins no other; `shown` is whether the solution is seen. */
function spoil(shown = false) {
  if (counts) rate(puzzle.id, rating(puzzle.id), false);
  if (puzzle.id === daily().id) failed(shown);
  counts = false;
  recall();
  if (!isKnown) score.streak = 0;
  keep();
  tell();
}

async function hint() {
  if (!idle()) return;
  if (counts) rate(puzzle.id, rating(puzzle.id), false);
  if (puzzle.id === daily().id) failed();
  counts = false;
  tell();
  await consult("solution", moves, ({ frames }) => {
    const { from } = frames[0].ply;
    say(t("puzzles.hinted", { square: from }));
    stage.show(puzzle.rules, scene, { last, hint: from });
  });
}

async function showSolution() {
  if (!idle()) return;
  // Who has asked has given up, even if the answer comes too late to be seen.
  spoil(true);
  await consult("solution", moves, async ({ frames, scene: after }) => {
    over = true;
    tell();
    const line = frames.map(({ ply }) => ply.text).join(" ");
    const why = after.ending ? ending(after.ending, puzzle.rules) : t("puzzles.onlyMove");
    say(`${t("puzzles.solutionIs", { line })} ${why}`);
    await stage.play(frames, 900);
  });
}

/** What is said around the board: score, choice, and what can be done. */
function tell() {
  const tile = (key, value) =>
    make("div", { id: key.replace(".", "-") }, make("dt", {}, t(key)), make("dd", {}, number(value)));
  $("score").replaceChildren(
    tile("puzzles.streak", score.streak),
    tile("puzzles.best", score.best),
    tile("puzzles.solved", score.solved.length),
  );
  $("puzzle-about").textContent = puzzle
    ? t("puzzles.which", { rules: rulesTitle(puzzle.rules), theme: t(`theme.${puzzle.theme}`), level: puzzle.level })
    : "";
  showRating($("rating"));
  showDaily($("daily"), {
    puzzle: daily(),
    rules: book.rulesets.find(({ name }) => name === daily().rules),
    shown: puzzle?.id === daily().id,
    open: () => load(daily().id),
    complain,
  });
  $("left").textContent = t("puzzles.left", { n: open().length });
  $("hint").disabled = over;
  $("solution").disabled = over;
  $("next").classList.toggle("main", over);
  $("again").disabled = !puzzle || (!over && moves.length === 0);
  // Whoever looks at it there is told the answer.
  $("look").hidden = !puzzle || !over;
  if (puzzle) $("look").href = `./?rules=${puzzle.rules.name}&fen=${encodeURIComponent(puzzle.scene.fen)}`;
}

/** The rulesets and, of the chosen one, the themes to choose from. */
function choices() {
  const rulesets = book.rulesets.map((rules) =>
    make("option", { value: rules.name, selected: rules.name === score.rules }, rulesTitle(rules)),
  );
  $("rules").replaceChildren(make("option", { value: "" }, t("puzzles.allRules")), ...rulesets);
  const themes = [
    ...new Set(book.puzzles.filter(({ rules }) => !score.rules || rules === score.rules).map(({ theme }) => theme)),
  ].sort();
  if (!themes.includes(score.theme)) score.theme = "";
  $("theme-choice").replaceChildren(
    make("option", { value: "" }, t("puzzles.allThemes")),
    ...themes.map((theme) => make("option", { value: theme, selected: theme === score.theme }, t(`theme.${theme}`))),
  );
}

function choose(name, value) {
  recall();
  score[name] = value;
  choices();
  keep();
  puzzle = null;
  next();
}

/** Asks whether to begin anew once all is solved, or while it is not. */
function startOver() {
  const element = $("ask-dialog");
  const forget = () => {
    const ids = new Set(chosen().map(({ id }) => id));
    recall();
    score.solved = score.solved.filter((id) => !ids.has(id));
    keep();
    element.close();
    next();
  };
  dialog(element, t("puzzles.forget"), make("p", {}, t("puzzles.forgetAbout")), [
    make("button", { type: "button", class: "main", onclick: forget }, t("puzzles.forgetNow")),
  ]);
}

const isRuleset = (rules) => book.rulesets.some(({ name }) => name === rules);

/** Shows what an address asks for: the puzzle of the day, one by some rules, or any. */
async function arrive(asked) {
  if (isRuleset(asked)) score.rules = asked;
  history.replaceState(null, "", location.pathname);
  choices();
  await (asked === "daily" ? load(daily().id) : next());
  if (asked && asked !== "daily" && score.rules !== asked) complain(t("puzzles.noRules", { rules: asked }));
}

async function start() {
  $("next").addEventListener("click", () => (puzzle || open().length > 0 ? next() : startOver()));
  $("hint").addEventListener("click", hint);
  $("solution").addEventListener("click", showSolution);
  $("again").addEventListener("click", begin);
  $("rules").addEventListener("change", (event) => choose("rules", event.target.value));
  $("theme-choice").addEventListener("change", (event) => choose("theme", event.target.value));
  document.addEventListener("keydown", (event) => pressByKey(event, { n: "next", h: "hint" }));
  try {
    book = await ask("/api/puzzles");
  } catch (error) {
    say("");
    return complain(error.message);
  }
  if (!isRuleset(score.rules)) score.rules = "";
  // Somebody writes another address into this page's.
  addEventListener("hashchange", ({ newURL }) => arrive(new URL(newURL).hash.slice(1)));
  await arrive(location.hash.slice(1));
}

start();
