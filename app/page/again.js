// One's own mistakes, tried again another day: what a review found bad comes back tomorrow and, while it goes well,
// ever later.

import { today } from "./day.js";
import { act, complain, enter, page } from "./state.js";
import { hide } from "./kept.js";
import { retry } from "./review.js";
import * as store from "./store.js";
import { t } from "./texts.js";

const $ = (id) => document.getElementById(id);

/** Days until a mistake comes back, the first time and after each time it went well; then it is forgotten. */
const PAUSES = [1, 3, 7, 21];
const MOST = 200;

const aMistake = store.fields({
  /** Rules as addresses have them, the position, and the move that was played, such as `d6c6`. */
  rules: store.text,
  fen: store.text,
  move: store.text,
  /** How often it went well, and the day on which it is due. */
  passed: store.whole(0, PAUSES.length - 1),
  due: store.whole(0, 1e6),
});

const aTrial = store.perhaps(store.fields({ id: store.text, mistake: aMistake, answered: store.flag }));
/** The mistake that is on the board: its game, itself, and whether the person has answered. It outlives the page. */
let trial = store.read("trial", aTrial, null, { tab: true });
/** The room in which it is reviewed, and whether the person was asked there. */
let begun = { opened: null, asked: false };
/** Reviews that were taken in. */
const taken = new Set();

const all = () => store.read("mistakes", store.listOf(aMistake, MOST), []);
const same = (one) => (other) => one.fen === other.fen && one.move === other.move && one.rules === other.rules;
/** Those of today, but for the one that is on the board. */
const due = () =>
  all().filter((one) => one.due <= today() && !(trial && trial.id === page.state?.id && same(one)(trial.mistake)));

function note(next) {
  trial = next;
  store.write("trial", trial, { tab: true });
}

/** Keeps the mistakes, those that are due first where there are too many. */
function write(mistakes) {
  store.write("mistakes", mistakes.sort((a, b) => a.due - b.due).slice(0, MOST));
  offerRetries();
}

/** Offers the mistakes that are due today. */
export function offerRetries() {
  const n = due().length;
  $("due").hidden = n === 0;
  $("due").textContent = t("again.due", { n });
}

/** Puts the first mistake that is due on the board; null where there is none. */
export async function retryNext() {
  const [mistake] = due();
  if (!mistake) return null;
  const { rules, fen, move } = mistake;
  const parts = [rules, `fen=${fen.replaceAll("/", ".").replace(" ", "_")}`, `moves=${move}`, "ply=0"];
  try {
    // An analysis that goes on would show the answer.
    if (page.state?.analysing) {
      $("analysis-panel").open = false;
      await act("analysis", { on: false });
    }
    const state = await enter("/api/games/open", { address: parts.join("/") });
    hide(state.id);
    note({ id: state.id, mistake, answered: false });
    begun = { opened: state.opened, asked: false };
    offerRetries();
    await act("review", { on: true });
    return page.state;
  } catch (error) {
    // Nothing can be learned from what the board cannot set up.
    if (error.status === 400) write(all().filter((one) => !same(mistake)(one)));
    throw error;
  }
}

/** What came of a trial: it comes back later if it went well, else tomorrow again. */
function answered(well) {
  if (!trial || trial.answered) return;
  note({ ...trial, answered: true });
  const others = all().filter((one) => !same(trial.mistake)(one));
  const passed = well ? trial.mistake.passed + 1 : 0;
  const next = { ...trial.mistake, passed, due: today() + PAUSES[Math.min(passed, PAUSES.length - 1)] };
  write(passed < PAUSES.length ? [...others, next] : others);
}

/** Notes what a state says: of the mistake on the board, or of a game of one's own whose review is complete. */
export function takeRetry(state) {
  const { id, opened, review, source, can, hint, analysing } = state;
  if (trial?.id === id && !trial.answered && begun.opened !== opened) {
    // The page was loaded anew, or the board was: then its review is gone, too.
    begun = { opened, asked: false };
    if (!review && can.review) act("review", { on: true });
  }
  if (!review || review.done < review.total) return;
  if (trial?.id === id) {
    $("game-title").textContent = t("again.title");
    if (!begun.asked && !trial.answered) {
      begun.asked = true;
      retry(0);
    }
    if (begun.asked && (hint || analysing)) answered(false);
    const { tried } = review;
    if (tried?.ply === 0 && tried.loss !== null) answered(["best", "good"].includes(tried.verdict));
  } else if (!source) collect(state);
}

/** Takes in the mistakes of the only person in a game. */
function collect({ id, opened, review, seats, history, rules }) {
  const people = seats.filter(({ person }) => person).length;
  const key = `${id} ${opened} ${review.total}`;
  if (people !== 1 || taken.has(key)) return;
  taken.add(key);
  const side = seats[0].person ? "attackers" : "defenders";
  const named = page.named
    .split("/")
    .slice(1)
    .filter((part) => !/^(fen|moves|ply)=/.test(part));
  const found = review.plies
    .map((ply, index) => ({ ply, played: history[index], text: review.moves[index] }))
    .filter(({ ply, played, text }) => ply?.fen && played?.side === side && played.text === text)
    .map(({ ply, played }) => ({
      rules: named.join("/") || rules.name.replaceAll("/", ".").replaceAll(" ", "_"),
      fen: ply.fen,
      move: played.from + played.to,
      passed: 0,
      due: today() + PAUSES[0],
    }));
  const known = all();
  write([...known, ...found.filter((one) => one.rules && !known.some(same(one)))]);
}

$("due").addEventListener("click", () => retryNext().catch(({ message }) => complain(message)));
// Whoever has the answer shown has not found it.
document.addEventListener("click", ({ target }) => {
  if (["retry-answer", "retry-stop"].includes(target.id) && trial?.id === page.state?.id) answered(false);
});
