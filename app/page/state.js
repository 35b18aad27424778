// The game on the board: its state, what the person asks of it, and who is told when it changes. What is drawn is drawn
// by those who are told.

import { ask, post, problemWords, reveal } from "./ask.js";
import { find, leaveUnplayed, named, standing } from "./kept.js";
import { t } from "./texts.js";
import { isServed, listen } from "./transport.js";

const $ = (id) => document.getElementById(id);

export const page = {
  setup: null,
  state: null,
  report: null,
  flipped: false,
  /** What the page has to say until the person does something. */
  notice: null,
  /** What the page's address names. */
  named: "",
  /** Overlays by name. */
  shown: { arrows: true, heat: false, after: false },
};

const subscribers = { state: [], report: [], entered: [] };

/**
 * Subscribes to what happens, in the order in which it is to be done: `state(state, old)` when there is a new state,
 * `report()` when a search has found something or what is drawn over the board has changed, `entered(old)` when another
 * game took the place of an old one.
 */
export const on = (event, ...work) => subscribers[event].push(...work);

function tell(event, ...values) {
  for (const work of subscribers[event]) work(...values);
}

/** Has what a search found, and all that lies over the board, drawn anew. */
export const redraw = () => page.state && tell("report");

/** Ends listening to the game. */
let leave = null;

/** Takes in a state, unless a newer one of the same room is shown already. */
export function take(state) {
  const old = page.state;
  if (old && old.opened === state.opened && state.count < old.count) return;
  page.state = state;
  if (!old || old.id !== state.id || old.opened !== state.opened) {
    follow(state.id);
    page.report = null;
    seatViewer(state);
  }
  if (page.report && page.report.stamp !== state.stamp) page.report = null;
  tell("state", state, old);
}

/** The person looks from the side of the only person, else from the attackers'. */
function seatViewer(state) {
  const people = state.seats.map((seat) => seat.person);
  page.flipped = people[0] && !people[1];
}

/** Whether a game goes on where nobody sees it: its clocks, a player, a review, or people whose moves are heard. */
function goesOn({ clock, thinking, review, seats, source, ending }) {
  if (clock?.running || thinking || review?.done < review?.total) return true;
  return $("sound").checked && !source && !ending && seats.every(({ person }) => person);
}

/** Listens to a game. */
function follow(id) {
  leave?.();
  // The address of a game that is opened again holds it until it is kept anew.
  if (page.named.split("/")[0] !== id) nameInAddress(id, "");
  standing(id);
  leave = listen(id, {
    told: (name, data) => {
      const news = JSON.parse(data);
      if (name === "state") return take(news);
      if (news.stamp !== page.state?.stamp) return;
      page.report = news;
      redraw();
    },
    lost,
    gone: () => recover(id),
    isNeeded: () => goesOn(page.state),
  });
}

/**
 * Names the game in the page's own address: by its id, and for whoever does not know the id, as another browser or a
 * server that was started again, by what holds the whole game.
 */
export function nameInAddress(id, address) {
  page.named = [id, address].filter(Boolean).join("/");
  history.replaceState(null, "", `#${page.named}`);
}

let recovering = false;

/** Goes on with a game that the board knows no more, as this browser kept it. */
async function recover(id) {
  if (recovering) return;
  recovering = true;
  try {
    const { flipped, state: old } = page;
    const state = await find(id);
    if (page.state.id !== id) return;
    if (!state) return complain(t("board.unknown"));
    take(state);
    // The board may know the game and have no place for one more who listens.
    if (state.opened === old.opened) return setTimeout(() => page.state.id === id && follow(id), 5000);
    page.flipped = flipped;
    tell("state", state, state);
    tell("entered", old);
  } catch (error) {
    complain(error.message);
    // Nobody answers yet, or a proxy says so.
    if (!(error.status < 500)) setTimeout(() => page.state.id === id && recover(id), 3000);
  } finally {
    recovering = false;
  }
}

function lost(isLost) {
  document.body.classList.toggle("lost", isLost);
  if (isLost) complain(t("board.interrupted"));
  else if ($("problem").dataset.lost) complain(page.state?.problem && problemWords(page.state.problem));
  $("problem").dataset.lost = isLost ? "yes" : "";
}

export function complain(message) {
  $("problem").textContent = message ?? "";
  $("problem").hidden = !message;
}

/** What a person asks for, and only the words below the board answer. */
const TOLD = ["hint", "resign"];

/** Asks the board to do something with the game, and shows what came of it. */
export async function act(what, body = {}) {
  if (!page.state) return;
  const { id } = page.state;
  page.notice = null;
  try {
    const state = await post(`/api/games/${id}/${what}`, body);
    // Another game may have been opened meanwhile.
    if (page.state.id !== id) return;
    take(state);
    if (TOLD.includes(what)) reveal($("status-line"));
  } catch (error) {
    if (page.state.id !== id) return;
    complain(error.message);
    reveal($("problem"));
    if (error.status === 404) recover(id);
    if (error.status !== 409 && error.status !== 400) return;
    // Clocks ask by themselves, and another page may have done so before.
    if (what !== "flag") page.notice = error.message;
    refresh();
  }
}

/** Shows the game as it stands at the board. */
async function refresh() {
  try {
    const { id } = page.state;
    const state = await ask(`/api/games/${id}`);
    if (page.state.id === id) take(state);
  } catch {
    /* the first message says enough */
  }
}

/** Closes a game that was left for the present one, unless it is one between two people at two browsers. */
async function leaveBehind(old) {
  if (!old || old.id === page.state.id) return;
  await leaveUnplayed(old.id);
  if (isServed && !old.source && old.seats.every(({ person }) => person)) return;
  ask(`/api/games/${old.id}`, { method: "DELETE" }).catch(() => {});
}

/** Opens another game in this page; `notice` is what there is to say beside it. */
export async function enter(path, body, notice = null) {
  const old = page.state;
  const state = await post(path, body);
  page.notice = notice;
  take(state);
  reveal($("status-line"));
  leaveBehind(old);
  if (old) tell("entered", old);
  return state;
}

/** What comes of opening something; null, with a notice, where it cannot be opened. */
export async function tried(open) {
  try {
    return await open();
  } catch (error) {
    page.notice = error.message;
    complain(error.message);
    return null;
  }
}

/** What comes of a game that the board refuses to open: nothing where an address holds it, too, else the error. */
const refused = (address) => (error) => {
  if (error.status !== 400 || !address) throw error;
  return null;
};

/** Opens what a page's fragment names; null where it names nothing, or, with a notice, nothing that can be opened. */
export function arrive(fragment) {
  const { id, address } = named(fragment);
  if (!id && !address) return null;
  return tried(async () => {
    const old = page.state;
    const state = id ? await find(id).catch(refused(address)) : null;
    if (!state && address) return enter("/api/games/open", { address });
    if (!state) throw new Error(t("board.unknown"));
    page.notice = null;
    take(state);
    leaveBehind(old);
    return state;
  });
}
