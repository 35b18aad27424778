// The review of a game: what every move cost, better moves, and another try at one's mistakes.

import { button, make, reveal } from "./ask.js";
import { meaning } from "./chances.js";
import { act, page, redraw } from "./state.js";
import { arrow } from "./overlays.js";
import { ending, moveNumber, unbroken } from "./saying.js";
import * as store from "./store.js";
import { percent, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const SIGNS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

const KEPT = "retry";
const aTry = store.perhaps(store.fields({ id: store.text, ply: store.whole(0, 1e6) }));

/** The ply that is tried anew, null while none is, and its game. Who loads the page anew is not told the answer. */
let { id: game, ply: retried } = store.read(KEPT, aTry, null, { tab: true }) ?? { id: null, ply: null };
let answer = false;
/** Whether a move was tried since. */
let attempted = false;
/** The bad moves for which a better one was found or shown, of the game with this id. */
let mended = { id: null, plies: new Set() };
/** What the panel was drawn for. */
let drawn = "";

/** Begins the review and shows it. */
export async function review() {
  $("review-panel").open = true;
  if (page.state.can.review && !fits()) await act("review", { on: true });
  reveal($("review-panel"));
}

/** How many plies of the line on the board are reviewed. */
function fits() {
  const { review: found, history } = page.state;
  if (!found) return 0;
  const other = found.moves.findIndex((text, index) => history[index]?.text !== text);
  return other < 0 ? found.moves.length : other;
}

/** The judgement of the ply with this index on the line on the board, where there is one. */
const judged = (index) => (index >= 0 && index < fits() ? page.state.review.plies[index] : null);

/** Has a ply tried anew from now on; null for none. */
function begin(ply) {
  [game, retried] = [page.state.id, ply];
  store.write(KEPT, ply === null ? null : { id: game, ply }, { tab: true });
}

/** The ply that is tried anew; who goes elsewhere or to another game has given up trying. */
function trying() {
  if (retried !== null && (page.state.id !== game || page.state.ply !== retried || !judged(retried))) begin(null);
  return retried;
}

/** The sign of a bad move: its text and its name; null for others. */
export function sign(index) {
  const verdict = judged(index)?.verdict;
  return verdict in SIGNS ? { text: SIGNS[verdict], verdict, name: t(`verdict.${verdict}`) } : null;
}

/** The chances over the line: as reviewed, and as they were found otherwise. */
export function views(state) {
  const reach = fits();
  return state.views.map((view, at) => (at <= reach && state.review?.chances[at]) || view);
}

/** What the status says of the ply that was made last. */
export function remark() {
  const { ply, history, review: found } = page.state;
  if (trying() !== null) return retrying(found);
  const last = judged(ply - 1);
  if (!last || last.verdict === "good") return "";
  if (last.verdict === "best") return t("review.best");
  const values = { verdict: t(`verdict.${last.verdict}`), loss: percent(last.loss), best: last.best.text };
  return history[ply - 1] ? t("review.worse", values) : "";
}

/** What the status says while a move is looked for. */
function retrying({ tried, plies }) {
  const of = page.state.history[retried].side;
  if (answer) return t("retry.answer", { best: plies[retried].best.text });
  if (!attempted || tried?.ply !== retried) return t("retry.find", { of });
  if (tried.loss === null) return t("retry.judging", { move: tried.text });
  const values = { move: tried.text, loss: percent(tried.loss), best: plies[retried].best.text };
  if (!isMended()) return t("retry.again", values);
  const found = t(tried.verdict === "best" ? "retry.best" : "retry.good", values);
  return following() === null ? `${found} ${t("retry.last")}` : found;
}

/** Whether the try is over: a move was found that is as good, or the answer was shown. */
function isMended() {
  const { tried } = page.state.review;
  return answer || (attempted && tried?.ply === retried && ["best", "good"].includes(tried.verdict));
}

/** A move on the board while a mistake is tried anew; false when none is. */
export function tryMove(from, to) {
  if (trying() === null) return false;
  act("try", { ply: retried, move: from + to }).then(() => {
    [answer, attempted] = [false, true];
    redraw();
  });
  return true;
}

/** Arrows of the better move, and of a move that was tried. */
export function marks(board) {
  const { ply, review: found, analysing } = page.state;
  const next = judged(ply);
  if (!next || (analysing && trying() === null)) return [];
  if (retried === null) return next.verdict in SIGNS ? [arrow(board, next.best, "better")] : [];
  const { tried } = found;
  const parts = answer ? [arrow(board, next.best, "better")] : [];
  if (attempted && tried?.ply === ply && !answer)
    parts.push(arrow(board, tried, ["best", "good"].includes(tried.verdict) ? "better" : "tried"));
  return parts;
}

/** Has the ply tried anew. */
export async function retry(ply) {
  if (page.state.ply !== ply) await act("go", { ply });
  begin(ply);
  [answer, attempted] = [false, false];
  mended.plies.delete(ply);
  redraw();
  reveal($("retry"));
  reveal($("status-line"));
}

function stop() {
  begin(null);
  redraw();
}

/** The bad moves, as indices of plies. */
const mistakes = () => page.state.history.map((_, index) => index).filter((index) => sign(index));

/** The next bad move that a person may try to mend: behind the one that is tried or, after the last, from the start. */
function following() {
  if (mended.id !== page.state.id) mended = { id: page.state.id, plies: new Set() };
  if (isMended()) mended.plies.add(retried);
  const left = mistakes().filter(
    (index) =>
      index !== retried &&
      !mended.plies.has(index) &&
      page.state.seats[page.state.history[index].side === "attackers" ? 0 : 1].person,
  );
  return left.find((index) => index > retried) ?? left[0] ?? null;
}

/** The buttons of a try. */
function steps() {
  const isOn = trying() !== null;
  const next = isOn ? following() : null;
  const isOver = isOn && isMended();
  const key = isOn ? `${page.state.id} ${retried} ${next} ${isOver}` : "";
  if ($("retry").dataset.key === key) return;
  $("retry").dataset.key = key;
  $("retry").hidden = !isOn;
  if (!isOn) return;
  const focused = $("retry").contains(document.activeElement);
  const main = (wanted) => (isOver && wanted ? "main" : null);
  const shown = () => {
    answer = true;
    redraw();
  };
  const onward = { id: "retry-next", class: main(true) };
  $("retry").replaceChildren(
    button(t("retry.show"), shown, { id: "retry-answer", disabled: isOver }),
    ...(next === null ? [] : [button(t("retry.next"), () => retry(next), onward)]),
    button(t("retry.stop"), stop, { id: "retry-stop", class: main(next === null) }),
  );
  if (focused) $("retry").querySelector("button.main, button:not(:disabled)").focus({ preventScroll: true });
}

export function showReview() {
  const { state } = page;
  const { review: found, can } = state;
  $("review-panel").hidden = !found;
  $("review").hidden = !can.review || can.resign || Boolean(found);
  $("resign").hidden = !$("review").hidden || (can.review && !can.resign);
  steps();
  if (!found) return;
  const { done, total, sides, playouts } = found;
  const persons = state.seats.map((seat) => seat.person);
  // Who looks for better moves is not told those that are not found or shown yet.
  const isTold = (index) => trying() === null || mended.plies.has(index);
  const told = state.history.map((_, index) => isTold(index));
  const key = JSON.stringify([state.id, state.tree.stamp, found.moves, fits(), done, persons, state.result, told]);
  if (key === drawn) return;
  drawn = key;
  const names = ["attackers", "defenders"];
  const cells = (label, value) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, label),
      sides.map((side) => make("td", {}, value(side))),
    );
  const list = mistakes().map((index) => {
    const { best, loss, line } = judged(index);
    const { text, verdict, name } = sign(index);
    const { side, text: move } = state.history[index];
    const person = state.seats[side === "attackers" ? 0 : 1].person;
    const number = moveNumber(index + 1, state.tree.first);
    const words = t("review.item", { number, of: side, move, sign: text, verdict: name, loss: percent(loss) });
    return make(
      "li",
      { class: verdict },
      button(unbroken(words), () => act("go", { ply: index }), { class: "quiet" }),
      isTold(index)
        ? make("small", {}, unbroken(t("review.better", { best: best.text, line: line.slice(1).join(" ") })))
        : null,
      person ? button(t("review.retry"), () => retry(index), { class: "retry" }) : null,
    );
  });
  const progress = make("progress", { max: total, value: done, "aria-label": t("review.progress") });
  const focus = $("review-panel").contains(document.activeElement)
    ? [...$("review-panel").querySelectorAll("button")].indexOf(document.activeElement)
    : -1;
  $("review-body").replaceChildren(
    ...[
      state.result && make("p", { class: "result" }, ending(state.result, state.rules)),
      done < total ? progress : null,
      make(
        "table",
        { class: "sides" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            make("td", {}),
            names.map((of) => make("th", { scope: "col" }, t("side", { of }))),
          ),
        ),
        make(
          "tbody",
          {},
          cells(t("review.accuracy"), ({ accuracy }) => (accuracy === null ? "–" : percent(accuracy / 100))),
          cells(t("verdicts.inaccuracy"), ({ inaccuracies }) => inaccuracies),
          cells(t("verdicts.mistake"), ({ mistakes: count }) => count),
          cells(t("verdicts.blunder"), ({ blunders }) => blunders),
        ),
      ),
      list.length > 0
        ? make("ol", { class: "mistakes" }, list)
        : done === total
          ? make("p", {}, t("review.clean"))
          : null,
      make("p", { class: "note" }, `${t("review.how", { n: playouts })} ${meaning(state.rules, page.setup.starts)}`),
    ].filter(Boolean),
  );
  if (focus >= 0) $("review-panel").querySelectorAll("button")[focus]?.focus({ preventScroll: true });
}
