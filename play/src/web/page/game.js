// The board's page: one game, its controls, and what the board says of it.

import { analyse, openAnalysis, showAnalysis } from "./analysis.js";
import { ask, dialog, make, post } from "./ask.js";
import { Board } from "./board.js";
import { graph, showBar, viewAt, words } from "./chances.js";
import { editPosition } from "./editor.js";
import { svg } from "./ink.js";
import { newGame } from "./newgame.js";
import { openGame, pasteGame } from "./open.js";
import { arrows, heat, occupancy, short } from "./overlays.js";
import { piece } from "./pieces.js";
import { listen, save } from "./transport.js";

const $ = (id) => document.getElementById(id);
const capital = (text) => text[0].toUpperCase() + text.slice(1);

export const page = {
  setup: null,
  state: null,
  report: null,
  flipped: false,
  /** Overlays by name. */
  shown: { arrows: true, heat: false, after: false },
};

const board = new Board($("board"), {
  onMove: (from, to) => act("move", { move: from + to, stamp: page.state.stamp }),
  onBuild: () => showReport(),
});
let leave = null;

/** Takes in a state, unless a newer one is shown already. */
export function take(state) {
  const old = page.state;
  if (old && old.id === state.id && state.count < old.count) return;
  if (!old || old.id !== state.id) {
    follow(state.id);
    page.report = null;
    seatViewer(state);
  } else if (old.number !== state.number) {
    seatViewer(state);
  }
  const isAnother = old?.id !== state.id;
  page.state = state;
  // Whoever comes back to a game that is being analysed sees it.
  if (isAnother && state.analysing) $("analysis-panel").open = true;
  if (page.report && page.report.stamp !== state.stamp) page.report = null;
  show();
}

/** The person looks from the side of the only person, else from the attackers'. */
function seatViewer(state) {
  const people = state.seats.map((seat) => seat.person);
  page.flipped = people[0] && !people[1];
}

/** Listens to a game. */
function follow(id) {
  leave?.();
  history.replaceState(null, "", `#${id}`);
  leave = listen(id, {
    told: (name, data) => {
      const news = JSON.parse(data);
      if (name === "state") return take(news);
      if (news.stamp !== page.state?.stamp) return;
      page.report = news;
      showReport();
    },
    lost,
    gone: () => complain("This game is not known any more; begin a new one."),
  });
}

function lost(isLost) {
  document.body.classList.toggle("lost", isLost);
  if (isLost) complain("The connection to the server is interrupted; trying again…");
  else if ($("problem").dataset.lost) complain(page.state?.problem);
  $("problem").dataset.lost = isLost ? "yes" : "";
}

export function complain(message) {
  $("problem").textContent = message ?? "";
  $("problem").hidden = !message;
}

/** Asks the board to do something with the game, and shows what came of it. */
export async function act(what, body = {}) {
  try {
    take(await post(`/api/games/${page.state.id}/${what}`, body));
  } catch (error) {
    complain(error.message);
    if (error.status === 409 || error.status === 400) refresh();
  }
}

async function refresh() {
  try {
    const message = $("problem").textContent;
    const state = await ask(`/api/games/${page.state.id}`);
    page.state = null;
    const viewer = page.flipped;
    take(state);
    page.flipped = viewer;
    show();
    complain(message);
  } catch { /* the first message says enough */ }
}

/** Opens another game in this page. */
export async function enter(path, body) {
  const old = page.state;
  const state = await post(path, body);
  take(state);
  if (old && old.id !== state.id) ask(`/api/games/${old.id}`, { method: "DELETE" }).catch(() => {});
  // Who had the last game analysed goes on with this one.
  if (old?.analysing) analyse();
  return state;
}

function show() {
  const { state } = page;
  board.show(state, page.flipped);
  $("board").classList.toggle("over", Boolean(state.ending));
  $("rules-title").textContent = state.rules.title;
  $("game-title").textContent = state.title ?? "";
  $("game-title").hidden = !state.title;
  complain(state.problem);
  people();
  status();
  buttons();
  moves();
  $("fen").textContent = state.fen;
  graph($("graph"), state, (ply) => act("go", { ply }));
  showAnalysis();
  showReport();
}

/** What a search has found, as far as it should be seen. */
function showReport() {
  const { state, report } = page;
  if (!state) return;
  status();
  const wanted = report && report.kind === "analysis" && state.analysing;
  const fresh = report && (report.kind === "analysis" || report.kind === "move" || report.kind === "glance");
  const known = fresh && (state.adviser_fit !== "other" || report.kind !== "glance") ? report.chances : viewAt(state.views, state.ply);
  const ended = state.ending && { attackers: Number(state.ending.winner === "attackers"), defenders: Number(state.ending.winner === "defenders"), draw: Number(!state.ending.winner) };
  const chances = ended || known;
  showBar($("bar"), chances, page.flipped);
  $("graph-words").textContent = chances ? `Chances: ${words(chances)}` : "Chances over the game";
  const { shown } = page;
  board.layers.heat.replaceChildren(...(wanted && shown.heat ? heat(board, report) : []));
  board.layers.over.replaceChildren(
    ...(wanted && shown.after ? occupancy(board, report) : []),
    ...(wanted && shown.arrows ? arrows(board, report) : []));
  $("board").classList.toggle("ghosts", Boolean(wanted && shown.after));
  showAnalysis(true);
}

export const redraw = showReport;

function people() {
  const { state, flipped } = page;
  const counts = { a: 0, d: 0 };
  for (const letter of state.rules.start) if (letter in counts) counts[letter]++;
  for (const letter of state.board) if (letter in counts) counts[letter]--;
  const row = (side) => {
    const [letter, seat] = side === "attackers" ? ["a", state.seats[0]] : ["k", state.seats[1]];
    const lost = counts[letter === "a" ? "a" : "d"];
    const picture = svg("svg", { viewBox: "-50 -50 100 100", class: "mini", "aria-hidden": "true" }, piece(letter, 1));
    // Two people at one screen need no names, nor do those of a game whose players nobody wrote down.
    const name = seat.name === "you" && state.seats.every((other) => other.person) ? "" : seat.name;
    return [
      picture,
      make("strong", {}, capital(side)),
      make("span", { class: "name" }, name),
      lost > 0 && state.title !== "A position" ? make("span", { class: "lost-men", title: "men lost" }, `${lost} lost`) : null,
      state.to_move === side && !state.ending ? make("span", { class: "turn" }, "to move") : null,
    ].filter(Boolean);
  };
  const [top, bottom] = flipped ? ["defenders", "attackers"] : ["attackers", "defenders"];
  $("who-top").replaceChildren(...row(top));
  $("who-bottom").replaceChildren(...row(bottom));
}

function status() {
  const { state, report } = page;
  const side = capital(state.to_move);
  let text;
  if (state.ending) text = state.ending.words;
  else if (state.thinking) {
    const seat = state.seats[state.to_move === "attackers" ? 0 : 1];
    const count = report?.kind === "move" && report.playouts > 0 ? ` ${short(report.playouts)} playouts` : "";
    text = `${side} (${seat.name}) are thinking…${count}`;
  } else if (state.your_turn) {
    const alone = state.seats.filter((seat) => seat.person).length === 1;
    text = alone ? `Your move: you play the ${state.to_move}.` : `${side} to move.`;
  } else {
    text = `${side} to move. Go to the end of the game to play on.`;
  }
  if (state.hint) text = `Hint: ${state.hint.from} to ${state.hint.to}.`;
  else if (report?.kind === "hint" && !report.finished) text = "Looking for a good move…";
  const whole = [state.said, text].filter(Boolean).join(" ");
  if ($("status").textContent !== whole) $("status").textContent = whole;
  $("status").classList.toggle("ended", Boolean(state.ending));
}

function buttons() {
  const { can, ply, plies, departed } = page.state;
  $("undo").disabled = !can.undo;
  $("redo").disabled = !can.redo;
  $("hint").disabled = !can.hint;
  $("resign").disabled = !can.resign;
  for (const name of ["first", "previous"]) $(name).disabled = ply === 0;
  for (const name of ["next", "last"]) $(name).disabled = ply === plies;
  $("back").hidden = !departed;
}

function moves() {
  const { history: plies, ply, to_move } = page.state;
  const firstSide = plies[0]?.side ?? to_move;
  const items = [];
  const cell = (index) => {
    const played = plies[index];
    if (!played) return make("span", { class: "ply" });
    const classes = ["ply", index + 1 === ply ? "now" : "", index >= ply ? "ahead" : ""].join(" ");
    return make("button", { type: "button", class: classes, "aria-current": index + 1 === ply ? "step" : null, onclick: () => act("go", { ply: index + 1 }) }, played.text);
  };
  for (let index = firstSide === "attackers" ? 0 : -1; index < plies.length; index += 2) {
    items.push(make("li", {}, index < 0 ? make("span", { class: "ply" }, "…") : cell(index), cell(index + 1)));
  }
  $("moves").replaceChildren(...items);
  const now = $("moves").querySelector(".now");
  if (now) $("moves").scrollTop = now.offsetTop - $("moves").clientHeight / 2;
}

/** Gives the game up, once the person has said so twice. */
function resign() {
  const element = $("ask-dialog");
  const button = (label, id, onclick, main) => make("button", { type: "button", id, class: main ? "main" : null, onclick: () => { element.close(); onclick(); } }, label);
  const side = page.state.seats.every((seat) => seat.person) ? page.state.to_move : page.state.seats[0].person ? "attackers" : "defenders";
  dialog(element, "Resign this game?", make("p", {}, `The ${side} give up; the other side wins.`),
    [button("Play on", "play-on", () => {}), button("Resign", "resign-now", () => act("resign"), true)]);
}

function connect() {
  $("new").addEventListener("click", () => newGame());
  $("undo").addEventListener("click", () => act("undo"));
  $("redo").addEventListener("click", () => act("redo"));
  $("hint").addEventListener("click", () => act("hint"));
  $("resign").addEventListener("click", resign);
  $("flip").addEventListener("click", () => { page.flipped = !page.flipped; show(); });
  const go = (ply) => act("go", { ply: Math.max(0, Math.min(page.state.plies, ply)) });
  $("first").addEventListener("click", () => go(0));
  $("previous").addEventListener("click", () => go(page.state.ply - 1));
  $("next").addEventListener("click", () => go(page.state.ply + 1));
  $("last").addEventListener("click", () => go(page.state.plies));
  $("back").addEventListener("click", () => act("back"));
  $("open").addEventListener("click", () => openGame());
  $("paste").addEventListener("click", () => pasteGame());
  $("edit").addEventListener("click", () => editPosition());
  for (const format of ["pgn", "jsonl"]) {
    $(`save-${format}`).addEventListener("click", () => save(`/api/games/${page.state.id}/export?format=${format}`, `game.${format}`));
  }
  $("copy-fen").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(page.state.fen);
      $("copy-fen").textContent = "Copied";
      setTimeout(() => { $("copy-fen").textContent = "Copy FEN"; }, 1500);
    } catch {
      complain("The browser does not let the page copy; mark the FEN and copy it by hand.");
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("dialog, input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = { u: "undo", r: "redo", h: "hint", f: "flip", n: "new", "[": "previous", "]": "next" };
    const button = keys[event.key] && $(keys[event.key]);
    if (button && !button.disabled) {
      button.click();
      event.preventDefault();
    }
  });
  openAnalysis();
}

async function begin() {
  connect();
  try {
    page.setup = await ask("/api/setup");
    $("to-watch").hidden = page.setup.runs.length === 0;
    const asked = new URLSearchParams(location.search);
    const id = location.hash.slice(1);
    if (asked.has("run")) {
      history.replaceState(null, "", location.pathname);
      const [run, generation, index] = ["run", "generation", "index"].map((name) => Number(asked.get(name)));
      return await enter("/api/games/open", { run: { run, generation, index } });
    }
    if (id) {
      try {
        return take(await ask(`/api/games/${id}`));
      } catch (error) {
        if (error.status !== 404) throw error;
      }
    }
    await enter("/api/games", page.setup.first);
  } catch (error) {
    $("status").textContent = "";
    complain(error.message);
  }
}

begin();
