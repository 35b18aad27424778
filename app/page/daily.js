// The puzzle of the day: chosen by the date alone, so that everybody has the same one, with a server or without.

import { make } from "./ask.js";
import { dayWords, today, weekday } from "./day.js";
import { rulesTitle } from "./saying.js";
import { copying, sharing } from "./share.js";
import * as store from "./store.js";
import { t } from "./texts.js";

/** The level of each day of the week, from Monday on: it grows harder towards Sunday. */
const LEVELS = [1, 2, 2, 3, 3, 4, 5];

const aDay = store.whole(-1, 1e6);
const aScore = store.fields({
  /** The day that was solved last, with how many tries, and how many days in a row. */
  last: aDay,
  tries: store.whole(1, 1000),
  streak: store.whole(0, 1e6),
  best: store.whole(0, 1e6),
});
const score = store.read("daily", aScore, { last: -1, tries: 1, streak: 0, best: 0 });
/** The tries at today's puzzle so far. */
let tries = 1;

const divisor = (a, b) => (b === 0 ? a : divisor(b, a % b));

/** The puzzle of a day. Of a level each comes once before any comes again. */
export function ofTheDay(puzzles, day) {
  const of = weekday(day);
  const level = LEVELS[of];
  const fitting = puzzles.filter((puzzle) => puzzle.level === level).sort((a, b) => (a.id < b.id ? -1 : 1));
  // How often the level came before, and a step that leads through all of it.
  const week = LEVELS.filter((one) => one === level).length;
  const before = Math.floor((day + 3) / 7) * week + LEVELS.slice(0, of).filter((one) => one === level).length;
  let step = Math.ceil(fitting.length * 0.618);
  while (divisor(step, fitting.length) > 1) step++;
  return fitting[(before * step) % fitting.length];
}

/** Days in a row, up to today or yesterday. */
const streak = () => (score.last >= today() - 1 ? score.streak : 0);

/** A try that failed; a solution that was shown ends today's chance. */
export function failed(isShown) {
  tries = isShown ? Infinity : tries + 1;
}

/** Notes that the puzzle of this day is solved. */
export function solved(day) {
  if (score.last === day || !Number.isFinite(tries)) return;
  const days = score.last === day - 1 ? score.streak + 1 : 1;
  Object.assign(score, { last: day, tries: Math.min(tries, 1000), streak: days, best: Math.max(score.best, days) });
  store.write("daily", score);
}

/** The line to share. */
export function line(puzzle, rules) {
  const place = `${location.href.split(/[?#]/)[0]}#daily`;
  const values = { day: dayWords(score.last), rules: rulesTitle(rules), level: puzzle.level, streak: score.streak };
  return `${t("daily.line", { ...values, tries: t("daily.tries", { n: score.tries }) })} ${place}`;
}

/** Draws what there is to say of it: `open()` sets it, `shown` is whether it is on the board. */
export function showDaily(root, { puzzle, rules, shown, open, complain }) {
  const isSolved = score.last === today();
  const words = () => line(puzzle, rules);
  root.replaceChildren(
    ...[
      make(
        "button",
        {
          type: "button",
          id: "to-daily",
          class: isSolved || shown ? null : "main",
          "aria-pressed": String(shown),
          onclick: open,
        },
        t("daily.open", { day: dayWords(today()) }),
      ),
      make(
        "p",
        { class: "note", id: "daily-about" },
        [isSolved ? t("daily.solved") : "", streak() > 0 ? t("daily.streak", { n: streak(), best: score.best }) : ""]
          .filter(Boolean)
          .join(" ") || t("daily.about"),
      ),
      isSolved
        ? make(
            "div",
            { class: "buttons" },
            copying("daily-copy", "daily.copy", words, complain),
            sharing("daily-share", "daily.share", words),
          )
        : null,
    ].filter(Boolean),
  );
}
