// Games that outlive the board: what this browser keeps of them, and addresses that hold a whole game.

import { ask, post } from "./ask.js";

/** What the keys of this browser's memory begin with, and how many games it keeps. */
const PREFIX = "hnefi.game.";
const MOST = 6;

/** How long to wait until a change is kept that is none of the moves, in milliseconds. */
const PATIENCE = 1000;

/** What is kept by now: the game, the count of its state and the stamp of its tree. */
let last = { id: null, count: -1, stamp: -1 };
let asking = null;
let waiting = null;
let timer = 0;

/** Notes a state: what the board would need to open the game again is asked for and kept. */
export function keep(state) {
  const { id, count, tree } = state;
  if (tree.moves.length === 0 && !read(PREFIX + id)) return;
  if (id === last.id && count <= last.count) return;
  waiting = state;
  clearTimeout(timer);
  if (id === last.id && tree.stamp === last.stamp) timer = setTimeout(fetchKept, PATIENCE);
  else fetchKept();
}

function fetchKept() {
  asking ??= keepAll().finally(() => {
    asking = null;
  });
}

async function keepAll() {
  while (waiting) {
    const { id, count, ending, source, tree } = waiting;
    waiting = null;
    try {
      const game = await ask(`/api/games/${id}/kept`);
      remember(id, { time: Date.now(), goesOn: !ending && !source, game });
      last = { id, count, stamp: tree.stamp };
    } catch {
      /* the board does not answer, or the game is closed */
    }
  }
}

function remember(id, entry) {
  const text = JSON.stringify(entry);
  // Where there is no room the oldest go.
  for (let most = MOST; most > 0; most--) {
    prune(most - 1, PREFIX + id);
    try {
      localStorage.setItem(PREFIX + id, text);
      return;
    } catch {
      /* with fewer games, perhaps */
    }
  }
}

/** What is kept under a key; null where that is nothing. */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key));
  } catch {
    return null;
  }
}

/** The keys of all games that are kept, the newest first. */
function keys() {
  try {
    const time = (key) => read(key)?.time ?? 0;
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX))
      .sort((a, b) => time(b) - time(a));
  } catch {
    return [];
  }
}

/** Forgets all but the newest games beside one. */
function prune(most, beside) {
  for (const key of keys()
    .filter((key) => key !== beside)
    .slice(most))
    localStorage.removeItem(key);
}

/** The id of the newest game that was not played to its end; null where there is none. */
export function unfinished() {
  const key = keys().find((key) => read(key)?.goesOn);
  return key ? key.slice(PREFIX.length) : null;
}

/** Forgets a game that its person has left for another, once nothing is asked about it any more. */
export async function forget(id) {
  if (waiting?.id === id) {
    clearTimeout(timer);
    waiting = null;
  }
  await asking;
  try {
    localStorage.removeItem(PREFIX + id);
  } catch {
    /* there was nothing to forget */
  }
}

/**
 * Finds a game by its id: as the board knows it or, where it does not, as this browser kept it. Null where nobody knows
 * it.
 */
export async function find(id) {
  try {
    return await ask(`/api/games/${id}`);
  } catch (error) {
    if (error.status !== 404) throw error;
  }
  const game = read(PREFIX + id)?.game;
  return game ? post("/api/games/open", { kept: game }) : null;
}

/** The address in a page's fragment, such as `brandubh/moves=d6c6` in `#/brandubh/moves=d6c6`; null in others. */
export function addressed(fragment) {
  if (!fragment.startsWith("#/")) return null;
  try {
    return decodeURIComponent(fragment.slice(2));
  } catch {
    return fragment.slice(2);
  }
}

/** A link that leads to the game as it is shown, wherever this page is. */
export async function linkTo(id) {
  const { address } = await ask(`/api/games/${id}/address`);
  return `${location.href.split(/[?#]/)[0]}#/${address}`;
}
