// A rating for puzzles: Elo against the puzzles, whose own ratings rise evenly from the easiest to the hardest.

import { make } from "./ask.js";
import { svg } from "./ink.js";
import * as store from "./store.js";
import { number, t } from "./texts.js";

const EASIEST = 600;
const HARDEST = 1800;
/** Where a person begins: among the easiest fifth. */
const START = 700;
const MOST = 200;

const aRating = store.between(0, 4000);
const aRecord = store.fields({
  value: aRating,
  history: store.listOf(aRating, MOST),
  rated: store.listOf(store.text),
});
const kept = store.read("rating", aRecord, { value: START, history: [], rated: [] });
const rated = new Set(kept.rated);

/** A puzzle's rating, by its place in the book, which begins with the easiest. */
export const ratingOf = (place, count) => EASIEST + ((HARDEST - EASIEST) * place) / Math.max(1, count - 1);

/** The person's rating. */
export const mine = () => kept.value;

/** How much one puzzle counts: much while little is known. */
const weight = () => (rated.size < 10 ? 64 : rated.size < 30 ? 32 : 16);

/** Takes in the first try at a puzzle; further tries at it say nothing new. Gives the change. */
export function rate(id, rating, isSolved) {
  // Another tab may have kept more meanwhile.
  Object.assign(kept, store.read("rating", aRecord, kept));
  for (const one of kept.rated) rated.add(one);
  if (rated.has(id)) return 0;
  const expected = 1 / (1 + 10 ** ((rating - kept.value) / 400));
  const change = weight() * (Number(isSolved) - expected);
  rated.add(id);
  kept.value = Math.min(4000, Math.max(0, kept.value + change));
  kept.history = [...kept.history, Math.round(kept.value)].slice(-MOST);
  store.write("rating", { ...kept, rated: [...rated] });
  return change;
}

const [WIDTH, HEIGHT] = [300, 56];

/** Draws the rating with its history. */
export function showRating(root) {
  const value = Math.round(kept.value);
  const points = [START, ...kept.history];
  const [low, high] = [Math.min(...points) - 20, Math.max(...points) + 20];
  const at = (rating, index) =>
    `${((index / Math.max(1, points.length - 1)) * WIDTH).toFixed(1)},${(HEIGHT - ((rating - low) / (high - low)) * HEIGHT).toFixed(1)}`;
  const isOpen = root.querySelector("details")?.open;
  root.replaceChildren(
    ...[
      make(
        "details",
        { class: "rating", open: isOpen },
        make("summary", {}, t("rating.yours"), " ", make("b", { id: "rating-value" }, number(value))),
        make("p", { class: "note" }, t("rating.about", { easiest: EASIEST, hardest: HARDEST })),
      ),
      kept.history.length > 1
        ? svg(
            "svg",
            {
              viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
              class: "history",
              preserveAspectRatio: "none",
              role: "img",
              "aria-label": t("rating.history", {
                n: kept.history.length,
                low: Math.min(...points),
                high: Math.max(...points),
              }),
            },
            svg("polyline", { points: points.map(at).join(" ") }),
          )
        : null,
    ].filter(Boolean),
  );
}
