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
  /** The day that was tried in vain last, how often, and whether its solution was shown. */
  day: store.or(aDay, -1),
  failed: store.or(store.whole(0, 1000), 0),
  shown: store.or(store.flag, false),
});
const NOTHING = { last: -1, tries: 1, streak: 0, best: 0, day: -1, failed: 0, shown: false };
const score = store.read("daily", aScore, NOTHING);

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

/** Another tab may have kept more meanwhile. */
const recall = () => Object.assign(score, store.read("daily", aScore, score));

/** A try that failed, or a hint; a solution that was shown ends today's chance. */
export function failed(isShown = false) {
  recall();
  if (score.day !== today()) Object.assign(score, { day: today(), failed: 0, shown: false });
  score.failed = Math.min(score.failed + 1, 999);
  score.shown ||= isShown;
  store.write("daily", score);
}

/** Notes that the puzzle of this day is solved. */
export function solved(day) {
  recall();
  const wasTried = score.day === day;
  if (score.last === day || (wasTried && score.shown)) return;
  const days = score.last === day - 1 ? score.streak + 1 : 1;
  const tries = 1 + (wasTried ? score.failed : 0);
  Object.assign(score, { last: day, tries, streak: days, best: Math.max(score.best, days) });
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
  const held = root.contains(document.activeElement) ? document.activeElement.id : null;
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
  if (held) document.getElementById(held)?.focus({ preventScroll: true });
}
