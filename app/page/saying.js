// The game in words: how it ended, who is who, what a move did.

import { make } from "./ask.js";
import { ownTitle } from "./rulesets.js";
import { has, number, t } from "./texts.js";

/** A text for an element, in which no line ends within a move, such as `d6-c6`. */
export const unbroken = (text) =>
  text.split(/([a-z]\d+-[a-z]\d+)/).map((part, at) => (at % 2 ? make("span", { class: "unbroken" }, part) : part));

/** Rules with the size of their board. */
export function rulesTitle({ name, title, played_on, side }) {
  const called = has(`rules.${name}`) ? t(`rules.${name}`) : title || ownTitle(name);
  if (called) return t("rules.title", { name: called, side });
  if (!played_on) return t("rules.own", { side });
  return t("rules.playedOn", { title: t("rules.title", { name: t(`rules.${played_on}`), side }) });
}

/** Where the king is to go: to the edge, to a corner of the board, or to squares marked elsewhere. */
export function aim({ edge_escape, corners, side }) {
  if (edge_escape) return "edge";
  return corners.every((name) => /^[a-z]1$/.test(name) || name.slice(1) === String(side)) &&
    corners.every((name) => name[0] === "a" || name.charCodeAt(0) === 96 + side)
    ? "corner"
    : "marked";
}

/** What both sides are to reach. */
export const goalOfBoth = (rules) => t("goal.both", { of: aim(rules) });

/** What the only person of a game is to reach, else what both sides are. */
export function goal({ rules, seats }) {
  const of = aim(rules);
  const mine = ["attackers", "defenders"].filter((_, index) => seats[index].person);
  return t(`goal.${mine.length === 1 ? mine[0] : "both"}`, { of });
}

/** How a game ended, in a sentence or two. */
export function ending({ winner, reason, plies }, rules) {
  const of = reason === "king_escaped" ? aim(rules) : winner;
  const how = t(`ending.${reason}`, plies === null ? { of } : { n: plies });
  return `${how} ${winner ? t("ending.won", { of: winner }) : t("ending.drawn")}`;
}

/** How a game ended, in a few words for a list; nothing ended it yet where there is no ending. */
export function resultOf(ended) {
  if (!ended) return t("result.unfinished");
  const reason = t(`reason.${ended.reason}`);
  return ended.winner ? t("result.won", { of: ended.winner, reason }) : t("result.drawn", { reason });
}

/** The number of the move that the ply at this depth belongs to, and whether it is the attackers', which is first. */
export function numbered(depth, firstSide) {
  const plies = depth - 1 + Number(firstSide === "defenders");
  return { number: Math.floor(plies / 2) + 1, first: plies % 2 === 0 };
}

/** The same as a list of moves begins a line: `3.` or `3…`. */
export function moveNumber(depth, firstSide) {
  const { number, first } = numbered(depth, firstSide);
  return `${number}${first ? "." : "…"}`;
}

/** What a ply did. */
export function said({ side, from, to, captured }) {
  const squares = captured.join(", ");
  return t(captured.length > 0 ? "said.captured" : "said.moved", { of: side, from, to, squares });
}

/** What the page calls a player that it may choose: `{id, name}`. */
export function playerName({ id, name }) {
  if (id === "random") return t("player.random");
  const [kind, rest] = id.split(/:(.*)/);
  if (kind === "alphabeta") return t("player.alphabeta", { n: Number(rest) });
  if (rest?.startsWith("shipped/")) {
    const network = rest.slice("shipped/".length);
    return t("player.shipped", { name: has(`rules.${network}`) ? t(`rules.${network}`) : network });
  }
  return name;
}

/** How strongly a network plays: `{level}`, `{playouts}` or `{seconds}`. */
export function strengthWords(strength) {
  const [[kind, amount]] = Object.entries(strength);
  if (kind === "seconds") return t("strength.seconds", { n: number(amount) });
  return t(`strength.${kind}`, { n: amount });
}

/** Who sits there. */
export function seatName({ person, name, player, strength }) {
  if (person) return name ?? t("board.you");
  // A level of the network that is shipped is somebody by himself.
  if (strength?.level && player.startsWith("model:shipped/")) {
    return t("strength.ofLevel", { name: t(`level.${strength.level}`), n: strength.level });
  }
  const who = playerName({ id: player, name });
  return strength ? t("strength.of", { name: who, strength: strengthWords(strength) }) : who;
}
