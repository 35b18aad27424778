// Games that outlive the board: what this browser keeps of them, and addresses that hold a whole game.

import { ask, post } from "./ask.js";
import * as store from "./store.js";

/** What the keys of games begin with, how many of one's own are kept, and how many that were opened to look at. */
const GAME = "game.";
const MOST = 60;
const MOST_OPENED = 6;
/** So many are kept even where there is no room for one more. */
const FEWEST = 6;

/** How long to wait until a change is kept that is none of the moves, in milliseconds. */
const PATIENCE = 1000;

const SIDES = ["attackers", "defenders"];
const aPart = store.between(0, 100);

/** Who sits at a side, as the board says it. */
const aSeat = store.fields({
  person: store.flag,
  name: store.perhaps(store.text),
  player: store.or(store.text, ""),
  strength: (value) => {
    const [kind, amount] = Object.entries(value ?? {})[0] ?? [];
    return ["level", "playouts", "seconds"].includes(kind) && Number.isFinite(amount) ? { [kind]: amount } : null;
  },
});

/** What the list of games shows. */
const ABOUT = {
  time: store.whole(0, 8e15),
  /** Whether it can be gone on with. */
  goesOn: store.flag,
  /** Whether it stands in the list: a person moved in it, or opened it. */
  listed: store.flag,
  rules: store.fields({
    name: store.perhaps(store.text),
    title: store.perhaps(store.text),
    played_on: store.perhaps(store.text),
    side: store.whole(5, 19),
  }),
  seats: store.pairOf(aSeat),
  source: store.perhaps(store.text),
  ending: store.perhaps(
    store.fields({
      winner: store.perhaps(store.oneOf(SIDES)),
      reason: store.text,
      plies: store.perhaps(store.whole(0, 1e6)),
    }),
  ),
  plies: store.whole(0, 1e6),
  /** In percent by side, once it is reviewed. */
  accuracy: store.perhaps(store.pairOf(store.perhaps(aPart))),
};
const anEntry = store.fields({ ...ABOUT, game: store.object });

/** What is kept by now: the game, its room, the count of its state and the stamp of its tree. */
let last = { id: null, opened: null, count: -1, stamp: -1 };
let asking = null;
/** States that are to be kept, and who is told their address, by id. */
const waiting = new Map();
let timer = 0;
/** Games that are kept but not listed: positions to try again. */
const unlisted = new Set();

/** Whether a text is an id as boards give them. */
const isId = (id) => /^[0-9a-f]{32}$/.test(id);

const read = (id) => store.read(GAME + id, anEntry);

/** Whether a game went on when this browser kept it last. */
export const wentOn = (id) => read(id)?.goesOn === true;

/** A game that is no game of one's own, and stands in no list. */
export function hide(id) {
  unlisted.add(id);
}

/**
 * Notes a state: what the board would need to open the game again is asked for and kept. `tell(address)` is told the
 * address that holds the game.
 */
export function keep(state, tell) {
  const { id, opened, count, tree, source } = state;
  if (tree.moves.length === 0 && !source && !read(id)) return;
  // A board that was started again counts from the beginning.
  const isSame = id === last.id && opened === last.opened;
  if (isSame && count <= last.count) return;
  waiting.set(id, { state, tell });
  clearTimeout(timer);
  if (isSame && tree.stamp === last.stamp && waiting.size === 1) timer = setTimeout(fetchKept, PATIENCE);
  else fetchKept();
}

function fetchKept() {
  asking ??= keepAll().finally(() => {
    asking = null;
  });
}

async function keepAll() {
  while (waiting.size > 0) {
    const [[id, { state, tell }]] = waiting;
    waiting.delete(id);
    const { opened, count, tree } = state;
    try {
      const { game, address } = await ask(`/api/games/${id}/kept`);
      const before = read(id);
      // Who only looks at a game has not played on.
      const time = before?.game.pgn === game.pgn ? before.time : Date.now();
      remember(id, { ...about(state), time, game });
      last = { id, opened, count, stamp: tree.stamp };
      tell(address);
    } catch {
      /* the board does not answer, or the game is closed */
    }
  }
}

/** What the list will say of a game. */
function about(state) {
  const { id, rules, seats, source, history, plies, review } = state;
  const ending = state.result ?? state.ending;
  const before = read(id);
  const reviewed = review && review.done === review.total ? review.sides.map(({ accuracy }) => accuracy) : null;
  const moved = history.some(({ side }) => seats[SIDES.indexOf(side)].person);
  return {
    goesOn: !ending && !source,
    listed: source ? !unlisted.has(id) && before?.listed !== false : moved,
    rules,
    seats,
    source: source && source.kind,
    ending,
    plies,
    accuracy: reviewed ?? (before?.plies === plies ? before.accuracy : null),
  };
}

function remember(id, entry) {
  const write = () => store.write(GAME + id, entry);
  const game = { id, ...entry };
  prune(MOST, game);
  if (write()) return;
  // Where there is no room, what this page cannot read goes first, then the oldest.
  for (const key of store.keys(GAME)) if (!isId(key) || !read(key)) store.forget(GAME + key);
  for (let most = MOST / 2; !write() && most > FEWEST; most = Math.floor(most / 2)) prune(most, game);
}

/** All games that are kept, the newest first. */
function all() {
  const games = store
    .keys(GAME)
    .filter(isId)
    .map((id) => ({ id, ...read(id) }));
  return games.filter(({ time }) => time !== undefined).sort((a, b) => b.time - a.time);
}

/**
 * Forgets all but the newest games, and of those that were only looked at all but a few. The one that is about to be
 * written counts as the newest, among its own kind.
 */
function prune(most, written) {
  const games = [written, ...all().filter(({ id }) => id !== written.id)];
  const own = games.filter(({ source }) => !source).slice(most);
  const opened = games.filter(({ source }) => source).slice(Math.min(most, MOST_OPENED));
  for (const { id } of [...own, ...opened]) store.forget(GAME + id);
}

/** The games of the list, the newest first. */
export const listed = () => all().filter((one) => one.listed);

/** Forgets a game for good. */
export const erase = (id) => store.forget(GAME + id);

/**
 * The game to go on with: the one that this tab has left, whatever it is, else the newest that was not played to its
 * end. Null where there is none, and where the board begins with another game than when this browser came last.
 */
export async function toGoOn(first) {
  const known = store.read("first", store.text);
  const now = JSON.stringify(first);
  store.write("first", now);
  if (known !== now) return null;
  const left = store.read("board", store.text, null, { tab: true });
  for (const id of [left, all().find((one) => one.goesOn)?.id].filter(isId)) {
    try {
      const state = await find(id);
      if (state) return state;
    } catch (error) {
      if (error.status !== 400) throw error;
      // What lies here is no game that the board can open: it stays in the list, and nothing goes on with it.
      const entry = read(id);
      if (entry) store.write(GAME + id, { ...entry, goesOn: false });
    }
  }
  return null;
}

/** Notes which game stands on the board of this tab. */
export const standing = (id) => store.write("board", id, { tab: true });

/** Forgets a game that its person has left without a move, once nothing is asked about it any more. */
export async function leaveUnplayed(id) {
  if (waiting.has(id)) fetchKept();
  await asking;
  const entry = read(id);
  if (entry && !entry.listed) erase(id);
}

/**
 * Finds a game by its id: as the board knows it or, where it does not, as this browser kept it. Null where nobody knows
 * it.
 */
export async function find(id) {
  if (!isId(id)) return null;
  try {
    return await ask(`/api/games/${id}`);
  } catch (error) {
    if (error.status !== 404) throw error;
  }
  const game = read(id)?.game;
  return game ? post("/api/games/open", { kept: { id, game } }) : null;
}

/**
 * What a page's fragment names: the id of a game and, for whoever does not know the id, the address that holds it, such
 * as `brandubh/moves=d6c6` in `#/brandubh/moves=d6c6`. What is no id is taken for an address.
 */
export function named(fragment) {
  const [, id = "", address] = /^#?([0-9a-f]{32}(?=\/|$))?\/?(.*)$/s.exec(fragment);
  try {
    return { id, address: decodeURIComponent(address) };
  } catch {
    return { id, address };
  }
}

const addressOf = async (id) => (await ask(`/api/games/${id}/address`)).address;

/** A link that leads to the game as it is shown, wherever this page is. */
export const linkTo = async (id) => `${location.href.split(/[?#]/)[0]}#/${await addressOf(id)}`;

/** The FEN that a game began from; undefined for the start of its rules. */
export async function startOf(id) {
  const [, fen] = /\/fen=([^/]+)/.exec(await addressOf(id)) ?? [];
  return fen?.replaceAll(".", "/").replaceAll("_", " ");
}
