// A move that is chosen while the other side thinks, and played at once if it is legal then.

import { act, page } from "./state.js";
import { arrow } from "./overlays.js";
import { place, squareName } from "./wood.js";

let chosen = null;

/** The side of the only person, when the other one thinks at the end of the game. */
function waiting({ seats, thinking, ending }) {
  if (!thinking || ending || seats[0].person === seats[1].person) return null;
  return seats[0].person ? "attackers" : "defenders";
}

/** Where a person's pieces could go at most: along their lines. The board says later whether they can. */
export function ahead(state) {
  const side = waiting(state);
  if (!side) return {};
  const letters = side === "attackers" ? "a" : "dk";
  const n = state.rules.side;
  const found = {};
  for (const [index, letter] of [...state.board].entries()) {
    if (letter === "." || !letters.includes(letter)) continue;
    const [file, rank] = [index % n, Math.floor(index / n)];
    const line = Array.from({ length: n }, (_, at) => [squareName(at, rank), squareName(file, at)]).flat();
    found[squareName(file, rank)] = line.filter((name) => name !== squareName(file, rank));
  }
  return found;
}

/** Keeps a move for later; false when the person may move now. */
export function premove(from, to) {
  if (!waiting(page.state)) return false;
  const [a, b] = [place(from), place(to)];
  chosen = a[0] === b[0] || a[1] === b[1] ? { from, to, game: page.state.id, ply: page.state.ply } : null;
  return true;
}

/** Forgets the move; true when there was one. */
export function dropPremove() {
  const had = chosen !== null;
  chosen = null;
  return had;
}

/** Plays the move that was kept, now that the other side has moved; whoever went elsewhere meant another position. */
export function playKept(state) {
  if (!chosen || (waiting(state) && chosen.game === state.id)) return;
  const { from, to, game, ply } = chosen;
  chosen = null;
  const isNext = game === state.id && state.ply === ply + 1;
  if (isNext && state.your_turn && state.moves[from]?.includes(to))
    act("move", { move: from + to, stamp: state.stamp });
}

/** The move that is kept, as an arrow. */
export const keptMarks = (board) => (chosen ? [arrow(board, chosen, "kept")] : []);
