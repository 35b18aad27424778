// Sample games of a run: of any generation, in an order, with a result, from an opening.

import { ask, make } from "./ask.js";
import { newest } from "./lines.js";
import { resultOf } from "./saying.js";
import { has, percent, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
/** Games that are shown at once. */
const SHOWN = 12;
/** How long somebody may think between two letters, in milliseconds. */
const TYPING = 300;

let runs = [];
let complain = () => {};
/** The list that was asked for last, and how much of it is shown. */
let list = { games: [], next: null };
let asked = 0;
let shown = 0;

/** What an end is called in the metrics, such as `attackers_king_captured`, in words. */
export function endName(name) {
  const [, of, key] = /^(attackers|defenders|draw)[ _](.*)$/.exec(name) ?? [];
  const known = key === "resignation" ? "resigned" : key;
  if (!has(`reason.${known}`)) return name.replaceAll("_", " ");
  const reason = t(`reason.${known}`);
  return of === "draw" ? t("result.drawn", { reason }) : t("result.won", { of, reason });
}

const chosen = () => runs[Number($("samples-run").value)];

/** The query of the games that are asked for. */
function query(first) {
  const [generation, order, result, opening] = ["generation", "order", "result", "opening"].map((id) => $(id).value);
  return String(new URLSearchParams({ generation, order, result, opening, first }));
}

/** Asks for the games anew. */
async function find() {
  const mine = ++asked;
  if (!$("generation").value) {
    list = { games: [], next: null };
  } else {
    const found = await ask(`/api/runs/${chosen().place}/games?${query(0)}`);
    // Whoever has chosen something else meanwhile does not want this any more.
    if (mine !== asked) return;
    list = found.list;
  }
  shown = SHOWN;
  show();
}

function show() {
  const { place } = chosen();
  const generation = $("generation").value;
  const card = ({ index, number, ending, plies, surprise }) =>
    make(
      "li",
      {},
      make(
        "a",
        { href: `./?run=${place}&generation=${generation}&index=${index}` },
        make("b", {}, t("open.game", { n: number })),
        make("small", {}, `${resultOf(ending)}, ${t("open.length", { n: plies })}`),
        surprise === null ? null : make("small", {}, t("search.surprise", { share: percent(surprise) })),
      ),
    );
  $("samples").replaceChildren(...list.games.slice(0, shown).map(card));
  $("samples-more").hidden = list.games.length <= shown && list.next === null;
  const n = list.games.length;
  const words = n > 0 ? t(list.next === null ? "search.count" : "search.first", { n }) : t("search.none");
  $("samples-count").textContent = generation ? words : t("watch.noGames");
}

async function more() {
  if (list.games.length <= shown && list.next !== null) {
    const mine = asked;
    const { list: further } = await ask(`/api/runs/${chosen().place}/games?${query(list.next)}`);
    if (mine !== asked) return;
    list = { games: [...list.games, ...further.games], next: further.next };
  }
  shown += SHOWN;
  show();
}

/** The results to choose from: a side's, and every end of the latest generations. */
function offerResults(run) {
  const ends = new Set(run.rows.slice(-20).flatMap(({ values }) => Object.keys(values)));
  const named = [...ends].filter((key) => key.startsWith("ends/")).map((key) => key.slice("ends/".length));
  const before = $("result").value;
  const option = (value, words) => make("option", { value, selected: value === before }, words);
  $("result").replaceChildren(
    option("", t("search.any")),
    ...["attackers", "defenders", "draw"].map((of) => option(of, t("search.who", { of }))),
    ...named.sort().map((name) => option(name, endName(name))),
  );
}

/** The generations of a run to choose from, if it is the one that is looked at; the newest if none was chosen. */
export async function offer(run) {
  if (run !== chosen()) return;
  offerResults(run);
  const { generations } = await ask(`/api/runs/${run.place}`);
  if (run !== chosen()) return;
  const select = $("generation");
  const kept = select.selectedIndex > 0 ? select.value : null;
  const before = select.value;
  select.replaceChildren(
    ...generations.toReversed().map((n) => make("option", { value: n }, t("open.generation", { n }))),
  );
  if (kept) select.value = kept;
  if (select.value !== before || !newest(run)) await find();
}

/** Shows games of these runs. */
export async function samples(all, tell) {
  [runs, complain] = [all, tell];
  const guarded = (work) => () => work().catch((error) => complain(error.message));
  $("samples-run").replaceChildren(...runs.map(({ name, place }) => make("option", { value: place }, name)));
  $("samples-run-label").hidden = runs.length < 2;
  $("order").replaceChildren(
    ...["played", "longest", "shortest", "surprise"].map((value) => make("option", { value }, t(`order.${value}`))),
  );
  for (const id of ["generation", "order", "result"]) $(id).addEventListener("change", guarded(find));
  $("samples-run").addEventListener("change", () => {
    $("generation").replaceChildren();
    guarded(() => offer(chosen()))();
  });
  let timer = 0;
  $("opening").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(guarded(find), TYPING);
  });
  $("samples-form").addEventListener("submit", (event) => event.preventDefault());
  $("samples-more").addEventListener("click", guarded(more));
  await offer(chosen());
}
