// The level that a person plays against: the easiest at first, and another one once it is too easy or too hard.

import { wentOn } from "./kept.js";
import * as store from "./store.js";

const KEPT = "level";

/** So many wins or losses in a row, and another level is suggested. */
const ENOUGH = 2;

/** The level, the wins (or, below 0, the losses) in a row against it, and the game that was counted last. */
const aLevel = store.fields({ level: store.whole(1, 8), run: store.whole(-1e6, 1e6), game: store.text });
const kept = store.read(KEPT, aLevel, { level: 1, run: 0, game: "" });

/** The level that the person plays against. */
export const ownLevel = () => kept.level;

/** A game as it is asked for, at this level where it is at a level. */
export function atLevel(asked, level = kept.level) {
  const seat = (seat) => (seat.strength?.level ? { ...seat, strength: { level } } : seat);
  return { ...asked, attackers: seat(asked.attackers), defenders: seat(asked.defenders) };
}

const nameOf = ({ id, number }) => `${id} ${number}`;

/**
 * Counts a game of a person against a level once it has ended, be it while the page was away; one that had ended before
 * was counted.
 */
export function count(state, old) {
  if (old?.id === state.id ? old.result : !wentOn(state.id)) return;
  const { seats, source, result } = state;
  const mine = seats.findIndex(({ person }) => person);
  const level = seats[1 - mine]?.strength?.level;
  if (!result || source || !level || nameOf(state) === kept.game) return;
  const way = result.winner ? (result.winner === ["attackers", "defenders"][mine] ? 1 : -1) : 0;
  const goesOn = level === kept.level && Math.sign(kept.run) === way;
  Object.assign(kept, { level, run: goesOn ? kept.run + way : way, game: nameOf(state) });
  store.write(KEPT, kept);
}

/** The level to play against after this game, if another one suits better: `{level, won}`. */
export function advice(state, levels) {
  if (!state.result || nameOf(state) !== kept.game || Math.abs(kept.run) < ENOUGH) return null;
  const level = kept.level + Math.sign(kept.run);
  return level >= 1 && level <= levels ? { level, won: kept.run > 0 } : null;
}
