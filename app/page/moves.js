// The list of moves, a tree: the game in two columns, variations in parentheses below it. And the ways through it, by
// keys and by the wheel.

import { isOurs, make } from "./ask.js";
import { act, page } from "./state.js";
import { sign } from "./review.js";
import { moveNumber, numbered as numberOf, unbroken } from "./saying.js";
import { t } from "./texts.js";

const $ = (id) => document.getElementById(id);

/** What PGN's numbers of marks mean; others are shown as numbers. */
const MARKS = ["", "!", "?", "!!", "??", "!?", "?!"];

/** How long a finger rests on a move until its menu opens, in milliseconds. */
const LONG_PRESS = 500;

/** How far it may move meanwhile, in pixels. */
const TREMBLING = 12;

/** Pixels of scrolling that make a step, and how long a wheel rests between two of them. */
const NOTCH = 50;
const WHEEL_RESTS = 60;

/** The tree by places: `{parent, children, text, depth}`. */
let nodes = new Map();
/** What the list was drawn for. */
let drawn = "";
/** The buttons by place, and the signs of a review. */
let buttons = new Map();
let signs = new Map();
/** The buttons that are marked as the present move or as ahead. */
let marked = [];

/** Takes in the tree of a state. */
function understand({ moves }) {
  nodes = new Map([[0, { parent: null, children: [], text: "", depth: 0 }]]);
  for (const [place, parent, text] of moves) {
    const before = nodes.get(parent);
    before.children.push(place);
    nodes.set(place, { parent, children: [], text, depth: before.depth + 1 });
  }
}

/** The number of a move, and whether the attackers made it. */
const numbered = (depth) => numberOf(depth, page.state.tree.first);

/** The places from the first move to this one. */
function path(place) {
  const places = [];
  for (let at = place; at; at = nodes.get(at).parent) places.push(at);
  return places.reverse();
}

/** The moves to a place as a text. */
export function lineTo(place) {
  return path(place)
    .map((at, index) => {
      const { text, depth } = nodes.get(at);
      const { number, first } = numbered(depth);
      return first ? `${number}. ${text}` : index === 0 ? `${number}... ${text}` : text;
    })
    .join(" ");
}

/** Whether a place is on the main line. */
export const isMain = (place) => path(place).every((at) => nodes.get(nodes.get(at).parent).children[0] === at);

/** Whose turn it is at the end of the main line, wherever the board stands. */
export function lastToMove() {
  let at = 0;
  while (nodes.get(at).children.length > 0) [at] = nodes.get(at).children;
  return numberOf(nodes.get(at).depth + 1, page.state.tree.first).first ? "attackers" : "defenders";
}

/** How many moves go with a place that is removed. */
export function movesFrom(place) {
  let count = 0;
  const rest = [place];
  while (rest.length > 0) {
    count++;
    rest.push(...nodes.get(rest.pop()).children);
  }
  return count;
}

/** What a move is called, such as `3… d5-e5`. */
export function moveName(place) {
  if (place === 0) return t("moves.start");
  const { depth, text } = nodes.get(place);
  return `${moveNumber(depth, page.state.tree.first)} ${text}`;
}

/** The button of a move, with its marks. */
function button(place, tree) {
  const nags = (tree.nags[place] ?? []).map((nag) => MARKS[nag] ?? ` $${nag}`).join("");
  const made = make(
    "button",
    { type: "button", class: "ply", "data-place": place },
    unbroken(nodes.get(place).text),
    nags,
  );
  buttons.set(place, made);
  return made;
}

/** What is said of a place, if anything is. */
function comment(place, tree) {
  const said = tree.comments[place];
  return said ? make("span", { class: "comment" }, said) : null;
}

/** A variation and the variations within it, as a line of texts and buttons. */
function variation(begin, tree) {
  const parts = [];
  const put = (place, needsNumber) => {
    const { number, first } = numbered(nodes.get(place).depth);
    const text = `${number}${first ? "." : "…"}`;
    if (first || needsNumber) parts.push(make("span", { class: "number" }, text), "\u00a0");
    parts.push(button(place, tree), " ");
    const said = comment(place, tree);
    if (said) parts.push(said, " ");
    return Boolean(said);
  };
  const line = (begin) => {
    parts.push("(");
    let interrupted = put(begin, true);
    for (let at = begin; ;) {
      const [next, ...others] = nodes.get(at).children;
      if (next === undefined) break;
      interrupted = put(next, interrupted) || others.length > 0;
      others.forEach(line);
      at = next;
    }
    if (parts.at(-1) === " ") parts.pop();
    parts.push(")", " ");
  };
  line(begin);
  return make("div", { class: "variation" }, parts);
}

/** Draws the whole list. */
function draw(tree) {
  buttons = new Map();
  marked = [];
  const items = [];
  const start = comment(0, tree);
  if (start) items.push(make("li", { class: "aside" }, start));
  let row = null;
  for (let at = 0; ;) {
    const [main, ...others] = nodes.get(at).children;
    if (main === undefined) break;
    const { number, first } = numbered(nodes.get(main).depth);
    if (first || !row) {
      row = make("li", { value: number }, first ? null : make("span", { class: "ply" }, "…"));
      items.push(row);
    }
    row.append(button(main, tree));
    const said = comment(main, tree);
    if (said || others.length > 0) {
      row.append(
        make(
          "div",
          { class: "aside" },
          said,
          others.map((other) => variation(other, tree)),
        ),
      );
      row = null;
    }
    at = main;
  }
  $("moves").replaceChildren(...items);
}

/** Marks where the game stands, what lies ahead, and the moves that a review found bad. */
function mark({ line, place }) {
  for (const button of marked) {
    button.classList.remove("now", "ahead");
    button.removeAttribute("aria-current");
  }
  marked = [];
  if (!page.state.review) signs.clear();
  const timed = Boolean(page.state.clock?.running);
  const here = line.indexOf(place);
  for (const [index, at] of line.entries()) {
    const made = buttons.get(at);
    if (index >= here) marked.push(made);
    if (index > here) made.classList.add("ahead");
    const found = sign(index);
    if (found) signs.set(at, found);
  }
  const now = buttons.get(place);
  now?.classList.add("now");
  now?.setAttribute("aria-current", "step");
  for (const [at, made] of buttons) {
    made.setAttribute("aria-disabled", String(timed));
    const found = signs.get(at);
    if ((made.dataset.sign ?? "") === (found?.verdict ?? "")) continue;
    made.dataset.sign = found?.verdict ?? "";
    made.querySelector(".sign")?.remove();
    if (found) made.append(make("span", { class: `sign ${found.verdict}`, title: found.name }, found.text));
  }
  const list = $("moves");
  const top = (element) => element.getBoundingClientRect().top;
  list.scrollTop = now ? list.scrollTop + top(now) - top(list) - list.clientHeight / 2 : 0;
  return now;
}

/** Shows the moves of a state. */
export function showMoves(state) {
  const { tree } = state;
  const key = `${state.id} ${tree.stamp}`;
  const focused = $("moves").contains(document.activeElement);
  if (key !== drawn) {
    if (drawn.split(" ")[0] !== state.id) signs = new Map();
    drawn = key;
    understand(tree);
    draw(tree);
  }
  const now = mark(tree);
  if (focused) (now ?? $("move-menu")).focus({ preventScroll: true });
}

/** The ways to go that wait for the board's answer to the one before: `{by}` plies on the line, or `{turn}`. */
const ways = [];
let going = false;

/** Goes a way once the ways before it are gone. Steps that wait are one. */
async function go(way) {
  const last = ways.at(-1);
  if (Number.isFinite(last?.by) && Number.isFinite(way.by)) last.by += way.by;
  else ways.push(way);
  if (going) return;
  going = true;
  while (ways.length > 0) {
    const target = targetOf(ways.shift());
    if (target) await act("go", target);
  }
  going = false;
}

/** Where a way leads from the position on the board; null where it leads nowhere. */
function targetOf({ by, turn }) {
  const {
    ply,
    plies,
    clock,
    tree: { place },
  } = page.state;
  // Nobody looks back while a clock runs.
  if (clock?.running) return null;
  if (by !== undefined) {
    const to = Math.max(0, Math.min(plies, ply + by));
    return to === ply ? null : { ply: to };
  }
  const alike = place === 0 ? [] : nodes.get(nodes.get(place).parent).children;
  return alike.length < 2 ? null : { place: alike[(alike.indexOf(place) + turn + alike.length) % alike.length] };
}

/** Begins to go a way; false when it leads nowhere. */
function leads(way) {
  if (!going && !targetOf(way)) return false;
  go(way);
  return true;
}

/** Goes some plies on or back; false when there are none. */
export const step = (by) => leads({ by });

/** Goes to the variation before or behind the present one; false when there is no other. */
const turn = (way) => leads({ turn: way });

function key(event) {
  if (event.defaultPrevented || !page.state || !isOurs(event)) return;
  const keys = {
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    ArrowUp: () => turn(-1),
    ArrowDown: () => turn(1),
    Home: () => step(-Infinity),
    End: () => step(Infinity),
    "[": () => step(-1),
    "]": () => step(1),
  };
  if (keys[event.key]?.()) event.preventDefault();
}

/** A wheel steps through the game while there is somewhere to go; else it scrolls the page. */
function wheel() {
  let turned = 0;
  let rests = 0;
  return (event) => {
    if (event.ctrlKey || !page.state || event.deltaY === 0) return;
    const way = Math.sign(event.deltaY);
    if (!going && !targetOf({ by: way })) return;
    event.preventDefault();
    if (Math.sign(turned) !== way) turned = 0;
    // A mouse tells lines or whole notches, a pad many small moves.
    turned += event.deltaMode === 0 ? event.deltaY : way * NOTCH;
    if (Math.abs(turned) < NOTCH || event.timeStamp < rests) return;
    [turned, rests] = [0, event.timeStamp + WHEEL_RESTS];
    step(way);
  };
}

/** A finger that rests on a move opens its menu, where the browser does not say so by itself. */
function longPress(list, openMenu) {
  let timer = 0;
  let opened = false;
  let at = [0, 0];
  const end = () => clearTimeout(timer);
  list.addEventListener("pointerdown", (event) => {
    const pressed = event.target.closest("[data-place]");
    opened = false;
    at = [event.clientX, event.clientY];
    if (!pressed || event.pointerType !== "touch") return;
    timer = setTimeout(() => {
      opened = true;
      openMenu(Number(pressed.dataset.place), pressed);
    }, LONG_PRESS);
  });
  // No finger rests quite still.
  list.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (Math.hypot(clientX - at[0], clientY - at[1]) > TREMBLING) end();
  });
  for (const name of ["pointerup", "pointercancel"]) list.addEventListener(name, end);
  return () => opened;
}

/** Prepares the list, its keys and the wheel over the board; `openMenu(place, at)` opens the menu of a move. */
export function connectMoves(openMenu) {
  const list = $("moves");
  const wasLong = longPress(list, openMenu);
  list.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-place]");
    // Nobody looks back while a clock runs; the menu of a move is there all the same.
    if (pressed && !wasLong() && !page.state.clock?.running) act("go", { place: Number(pressed.dataset.place) });
  });
  list.addEventListener("contextmenu", (event) => {
    const pressed = event.target.closest("[data-place]");
    if (!pressed) return;
    event.preventDefault();
    openMenu(Number(pressed.dataset.place), pressed);
  });
  $("move-menu").addEventListener("click", () => openMenu(page.state.tree.place, $("move-menu")));
  $("first").addEventListener("click", () => step(-Infinity));
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("last").addEventListener("click", () => step(Infinity));
  document.addEventListener("keydown", key);
  $("board").addEventListener("wheel", wheel(), { passive: false });
}
