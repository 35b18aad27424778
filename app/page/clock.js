// The clocks of a game, which count down between two states.

import { make } from "./ask.js";
import { act } from "./state.js";
import { tick } from "./sounds.js";

/** Less time than this, in milliseconds, is shown with tenths and heard. */
const SHORT = 10_000;

let clock = null;
let arrived = 0;
let flagged = false;
let last = 0;

/** Takes in the clocks of a state. */
export function takeClock(state) {
  clock = state.clock;
  arrived = performance.now();
  flagged = false;
}

/** Milliseconds that a side has left. */
function left(side) {
  const told = clock.left[side === "attackers" ? 0 : 1];
  return Math.max(0, clock.running === side ? told - (performance.now() - arrived) : told);
}

function words(milliseconds) {
  if (milliseconds < SHORT) return (milliseconds / 1000).toFixed(1);
  const seconds = Math.ceil(milliseconds / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A side's clock; nothing in a game without. */
export function clockOf(side) {
  if (!clock) return null;
  const classes = ["time", clock.running === side ? "runs" : "", left(side) < SHORT ? "short" : ""].join(" ");
  return make("span", { class: classes, role: "timer", "data-side": side }, words(left(side)));
}

setInterval(() => {
  if (!clock?.running) return;
  const rest = left(clock.running);
  const element = document.querySelector(`.time[data-side=${clock.running}]`);
  if (element && element.textContent !== words(rest)) {
    element.textContent = words(rest);
    element.classList.toggle("short", rest < SHORT);
  }
  const second = Math.ceil(rest / 1000);
  if (rest < SHORT && second !== last && rest > 0) tick();
  last = second;
  if (rest === 0 && !flagged) {
    flagged = true;
    act("flag");
  }
}, 100);
