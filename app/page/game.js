// The board's page: one game, its controls, and what the board says of it.

import { offerRetries, retryNext, takeRetry } from "./again.js";
import { analyse, lookAt, openAnalysis, showAnalysis } from "./analysis.js";
import { confirm, make, pressByKey, problemWords, rememberBox, reveal, save } from "./ask.js";
import { Board } from "./board.js";
import { graph, meaning, showBar, viewAt, words } from "./chances.js";
import { clockOf, takeClock } from "./clock.js";
import { editPosition } from "./editor.js";
import { setup } from "./frame.js";
import { svg } from "./ink.js";
import { offerInvitation } from "./invite.js";
import { keep, linkTo, toGoOn } from "./kept.js";
import { atLevel, count, ownLevel } from "./level.js";
import { openMenu } from "./menu.js";
import { connectMoves, lastToMove, showMoves } from "./moves.js";
import { myGames } from "./mygames.js";
import { advise, newGame, opponentOf } from "./newgame.js";
import { openGame, pasteGame } from "./open.js";
import { arrows, heat, occupancy, short } from "./overlays.js";
import { piece } from "./pieces.js";
import { lookUp } from "./rulesets.js";
import { ahead, dropPremove, keptMarks, playKept, premove } from "./premove.js";
import { marks, remark, review, showReview, tryMove, views } from "./review.js";
import { ending, goal, resultOf, rulesTitle, said, seatName, unbroken } from "./saying.js";
import { sketchOn, sketches, wipe } from "./sketch.js";
import { hear } from "./sounds.js";
import { act, arrive, complain, enter, nameInAddress, on, page, redraw, take, tried } from "./state.js";
import { t } from "./texts.js";

const $ = (id) => document.getElementById(id);

const board = new Board($("board"), {
  onMove: (from, to) =>
    tryMove(from, to) || (premove(from, to) ? redraw() : act("move", { move: from + to, stamp: page.state.stamp })),
  onBuild: redraw,
  steps: true,
});
function show() {
  const { state } = page;
  board.show({ ...state, ahead: ahead(state) }, page.flipped);
  $("board").classList.toggle("over", Boolean(state.ending));
  $("rules-title").textContent = rulesTitle(state.rules);
  $("how").href = `learn.html#${encodeURIComponent(state.rules.name)}`;
  $("game-title").textContent = title(state.source);
  $("game-title").hidden = !state.source;
  $("goal").textContent = goal(state);
  complain([...new Set([page.notice, state.problem && problemWords(state.problem)])].filter(Boolean).join(" "));
  people();
  status();
  buttons();
  advise();
  showMoves(state);
  $("fen").textContent = state.fen;
  keep(state, (address) => page.state.id === state.id && nameInAddress(state.id, address));
  takeRetry(state);
  offerInvitation(state);
  // Nobody looks back while a clock runs.
  graph($("graph"), { ...state, views: views(state) }, (ply) => state.clock?.running || act("go", { ply }));
  showAnalysis();
  showReport();
}

/** What a search has found, as far as it should be seen. */
function showReport() {
  const { state, report } = page;
  showReview();
  status();
  const wanted = report && report.kind === "analysis" && state.analysing;
  const fresh = report && (report.kind === "analysis" || report.kind === "move" || report.kind === "quick");
  const known =
    fresh && (state.adviser_fit !== "other" || report.kind !== "quick")
      ? report.chances
      : viewAt(views(state), state.ply);
  const ended = state.ending && {
    attackers: Number(state.ending.winner === "attackers"),
    defenders: Number(state.ending.winner === "defenders"),
    draw: Number(!state.ending.winner),
  };
  const chances = ended || known;
  showBar($("bar"), chances, page.flipped);
  // Whoever plays may do so without being told how it goes.
  const isHidden = state.can.resign && !$("aid").checked;
  document.body.classList.toggle("unaided", isHidden);
  const told = chances ? t("chances.now", { words: words(chances) }) : t("chances.game");
  $("graph-words").textContent = isHidden ? t("chances.hidden") : told;
  // Alpha-beta says nothing of chances.
  const about = state.adviser?.startsWith("model:") ? meaning(state.rules, page.setup.starts) : "";
  $("meaning").textContent = about;
  $("bar").title = about;
  const { shown } = page;
  board.overlay("heat", () => (wanted && shown.heat ? heat(board, report) : []));
  board.overlay("over", () => [
    ...(wanted && shown.after ? occupancy(board, report) : []),
    ...(wanted && shown.arrows ? arrows(board, report) : []),
    ...marks(board),
    ...keptMarks(board),
    ...sketches(board),
  ]);
  $("board").classList.toggle("ghosts", Boolean(wanted && shown.after));
  showAnalysis(true);
}

function people() {
  const { state, flipped } = page;
  const counts = { a: 0, d: 0 };
  for (const letter of state.rules.start) if (letter in counts) counts[letter]++;
  for (const letter of state.board) if (letter in counts) counts[letter]--;
  const row = (side) => {
    const [letter, seat] = side === "attackers" ? ["a", state.seats[0]] : ["k", state.seats[1]];
    const lost = counts[letter === "a" ? "a" : "d"];
    const picture = svg("svg", { viewBox: "-50 -50 100 100", class: "mini", "aria-hidden": "true" }, piece(letter, 1));
    // Two people at one screen need no names, nor has a game names whose players nobody wrote down.
    const nameless = seat.person && !seat.name && state.seats.every((other) => other.person);
    return [
      picture,
      make("strong", {}, t("side", { of: side })),
      make("span", { class: "name" }, nameless ? "" : seatName(seat)),
      lost > 0 && state.source?.kind !== "position"
        ? make("span", { class: "lost-men", title: t("board.lostTitle") }, t("board.lostMen", { n: lost }))
        : null,
      state.to_move === side && !state.ending ? make("span", { class: "turn" }, t("board.toMove")) : null,
      clockOf(side),
    ].filter(Boolean);
  };
  const [top, bottom] = flipped ? ["defenders", "attackers"] : ["attackers", "defenders"];
  $("who-top").replaceChildren(...row(top));
  $("who-bottom").replaceChildren(...row(bottom));
}

function status() {
  const { state, report } = page;
  const of = state.to_move;
  let text;
  let counted = "";
  const over = state.ending ?? (state.departed ? null : state.result);
  if (over) text = ending(over, state.rules);
  else if (state.thinking) {
    const seat = state.seats[state.to_move === "attackers" ? 0 : 1];
    text = t("status.thinking", { of, name: seatName(seat) });
    if (report?.kind === "move" && report.playouts > 0)
      counted = t("status.playouts", { n: report.playouts, count: short(report.playouts) });
  } else if (state.your_turn) {
    const alone = state.seats.filter((seat) => seat.person).length === 1;
    text = t(alone ? "status.yours" : "status.toMove", { of });
  } else {
    text = t(state.ply === state.plies ? "status.toMove" : "status.elsewhere", { of });
  }
  if (state.hint) text = t("status.hint", state.hint);
  else if (state.looking) text = t("status.looking");
  const judged = remark();
  const earlier = over && !state.ending && !judged;
  const where = state.departed ? t("status.variation") : earlier && t("status.earlier");
  // How it ended stays to be read beside what a review says of the last move.
  const told = state.ending ? [judged, text] : [judged || text];
  const whole = [where, state.last && said(state.last), ...told].filter(Boolean).join(" ");
  if ($("status").textContent !== whole) $("status").replaceChildren(...unbroken(whole));
  // Beside what is read out: it changes many times a second.
  $("playouts").textContent = counted;
  $("status-line").classList.toggle("ended", Boolean(state.ending));
}

/** Whether the player to move has failed, and waits to be asked again. */
function isStuck({ problem, thinking, ending, ply, plies, seats, to_move }) {
  const isPlayers = !seats[to_move === "attackers" ? 0 : 1].person;
  return Boolean(problem) && isPlayers && !thinking && !ending && ply === plies;
}

function buttons() {
  const { can, ply, plies, departed, clock } = page.state;
  const timed = Boolean(clock?.running);
  $("undo").disabled = !can.undo;
  $("redo").disabled = !can.redo;
  $("hint").disabled = !can.hint;
  $("resign").disabled = !can.resign;
  for (const name of ["first", "previous"]) $(name).disabled = timed || ply === 0;
  for (const name of ["next", "last"]) $(name).disabled = timed || ply === plies;
  $("back").hidden = !departed;
  $("stuck").hidden = !isStuck(page.state);
}

/** Gives the game up, once the person has said so twice. */
function resign() {
  if (!page.state) return;
  const { seats } = page.state;
  const mine = ["attackers", "defenders"].filter((_, index) => seats[index].person);
  const words = t("resign.sure", { of: mine.length === 1 ? mine[0] : lastToMove() });
  const [no, yes] = [t("resign.no"), t("resign.yes")];
  confirm(t("resign.title"), words, [no, "play-on"], [yes, "resign-now"], () => act("resign"));
}

/** What was opened, in a line. */
function title(source) {
  if (!source) return "";
  if (source.kind === "position") return t("source.position");
  const result = resultOf(source.ending);
  if (!source.origin) return t("source.pasted", { result });
  const { place, generation, game } = source.origin;
  return t(generation === null ? "source.file" : "source.run", { place, generation, game, result });
}

/** Copies a text, and says so on the button. */
async function copy(id, key, text) {
  try {
    await navigator.clipboard.writeText(text);
    $(id).textContent = t("frame.copied");
    setTimeout(() => {
      $(id).textContent = t(key);
    }, 1500);
  } catch {
    complain(t("frame.noCopy"));
  }
}

function connect() {
  sketchOn(board, $("board"), redraw);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && dropPremove()) redraw();
  });
  // Before the board itself hears of the press, which may choose another move.
  const pressed = ({ button }) => button !== 2 && dropPremove() && redraw();
  $("board").addEventListener("pointerdown", pressed, { capture: true });
  $("new").addEventListener("click", () => newGame());
  $("undo").addEventListener("click", () => act("undo"));
  $("redo").addEventListener("click", () => act("redo"));
  $("hint").addEventListener("click", () => act("hint"));
  $("try-again").addEventListener("click", () => act("retry"));
  $("resign").addEventListener("click", resign);
  $("review").addEventListener("click", review);
  $("flip").addEventListener("click", () => {
    page.flipped = !page.flipped;
    show();
  });
  connectMoves(openMenu);
  rememberBox($("aid"), "chances", true);
  $("aid").addEventListener("change", redraw);
  $("back").addEventListener("click", () => act("back"));
  $("open").addEventListener("click", () => openGame());
  $("paste").addEventListener("click", () => pasteGame());
  $("edit").addEventListener("click", () => editPosition());
  for (const format of ["pgn", "jsonl"]) {
    $(`save-${format}`).addEventListener("click", () =>
      save(`/api/games/${page.state.id}/export?format=${format}`, `game.${format}`).catch(({ message }) =>
        complain(message),
      ),
    );
  }
  $("copy-fen").addEventListener("click", () => copy("copy-fen", "board.copyFen", page.state.fen));
  $("copy-link").addEventListener("click", async () => {
    try {
      const link = await linkTo(page.state.id);
      // Where the page may not copy, as over plain HTTP, the person does.
      $("link").textContent = link;
      $("link").parentElement.hidden = false;
      reveal($("link"));
      await copy("copy-link", "board.copyLink", link);
    } catch (error) {
      complain(error.message);
    }
  });
  const keys = { u: "undo", r: "redo", h: "hint", f: "flip", n: "new" };
  document.addEventListener("keydown", (event) => pressByKey(event, keys));
  // Somebody writes another address into this page's. The page may have named its game there again by now.
  addEventListener("hashchange", async ({ newURL }) => {
    if (!(await arrive(new URL(newURL).hash))) history.replaceState(null, "", `#${page.named}`);
  });
  $("my-games").addEventListener("click", () => myGames());
  offerRetries();
  openAnalysis();
}

/**
 * What another page asks for: a position to look at (`rules` and `fen`), or a first game by `rules` in which the person
 * plays the side `play`.
 */
async function begun(asked) {
  if (asked.has("run")) {
    const [run, generation, index] = ["run", "generation", "index"].map((name) => Number(asked.get(name)));
    return enter("/api/games/open", { run: { run, generation, index } });
  }
  if (asked.has("retry")) return retryNext();
  if (!asked.has("rules")) return null;
  const rules = asked.get("rules");
  if (asked.has("fen")) {
    const state = await enter("/api/games/open", { text: { text: asked.get("fen"), rules } });
    await lookAt();
    return state;
  }
  const player = opponentOf(rules) ?? (await lookUp(rules)).opponent;
  const easy = { player, strength: { level: ownLevel() } };
  const [attackers, defenders] = asked.get("play") === "attackers" ? [{}, easy] : [easy, {}];
  return enter("/api/games", { rules, attackers, defenders });
}

async function begin() {
  try {
    page.setup = await setup;
    connect();
    const asked = new URLSearchParams(location.search);
    if (location.search) history.replaceState(null, "", location.pathname + location.hash);
    // Whatever cannot be opened is said, and a board stands there all the same.
    if ((await tried(() => begun(asked))) || (await arrive(location.hash))) return;
    const state = await tried(() => toGoOn(page.setup.first));
    if (state) take(state);
    else await enter("/api/games", atLevel(page.setup.first), page.notice);
  } catch (error) {
    $("status").textContent = "";
    complain(error.message);
  }
}

on(
  "state",
  count,
  takeClock,
  (state, old) => hear(old, state),
  (state, old) => {
    if (old?.stamp !== state.stamp) wipe();
    // Who comes back to a game that is being analysed sees it.
    if (old?.id !== state.id && state.analysing) $("analysis-panel").open = true;
  },
  show,
  playKept,
);
on("report", showReport);
// Who had the last game analysed goes on with this one.
on("entered", (old) => old.analysing && analyse());
begin();
