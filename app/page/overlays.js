// What a search thinks, drawn on the board: arrows, the policy as warmth, and how the board may end up.

import { svg } from "./ink.js";
import { percent, t } from "./texts.js";
import { squareName } from "./wood.js";

const ARROWS = 4;

/** A number of visits in few letters. */
export function short(number) {
  if (number >= 10_000_000) return `${Math.round(number / 1_000_000)}M`;
  if (number >= 10_000) return `${Math.round(number / 1000)}k`;
  if (number >= 1000) return `${(number / 1000).toFixed(1)}k`;
  return String(number);
}

/** A certain result in few letters. */
const brief = ({ result, plies }) => t(`certainShort.${result}`, { plies });

/** The least height of a label's letters, in pixels of the screen. */
const LETTERS = 12;

/**
 * Arrows of the best moves: the wider the more visits, with the mover's chances, and the visits where there is room, on
 * the square they lead to. Their points end before these labels.
 */
export function arrows(board, report) {
  const moves = report.moves.filter((mv, index) => index === 0 || mv.visits > 0).slice(0, ARROWS);
  const most = Math.max(1, ...moves.map((mv) => mv.visits));
  // The drawing's unit is a hundredth of a square.
  const square = board.square();
  const value = Math.max(24, (LETTERS / square) * 100);
  const visits = ((0.85 * LETTERS) / square) * 100 <= 24 ? Math.max(17, ((0.85 * LETTERS) / square) * 100) : 0;
  const high = value + visits + 14;
  const said = (mv) =>
    mv.certain ? brief(mv.certain) : mv.score === null ? "–" : percent(mv.score).replace("\u00a0", "\u202f");
  const broad = (mv) => Math.max(92, said(mv).length * value * 0.6 + 12);
  const drawn = moves.map((mv, index) => {
    const [from, to] = [board.middle(mv.from), board.middle(mv.to)];
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const width = 8 + 10 * Math.sqrt(mv.visits / most);
    const head = width * 1.35 + 9;
    const at = (along, across) =>
      `${(from[0] + ux * along - uy * across).toFixed(1)} ${(from[1] + uy * along + ux * across).toFixed(1)}`;
    const gap = Math.abs(ux) * (broad(mv) / 2 + 4) + Math.abs(uy) * (high / 2 + 4);
    const [start, tip] = [Math.min(22, length - gap - head - 6), length - gap];
    const path =
      `M${at(start, -width / 3)}L${at(tip - head, -width / 2)}L${at(tip - head, -head * 0.72)}L${at(tip, 0)}` +
      `L${at(tip - head, head * 0.72)}L${at(tip - head, width / 2)}L${at(start, width / 3)}Z`;
    const strength = index === 0 ? 0.92 : 0.6 + 0.25 * (mv.visits / most);
    return {
      mv,
      to,
      index,
      arrow: svg("path", {
        class: index === 0 ? "arrow best" : "arrow",
        "data-to": mv.to,
        d: path,
        opacity: strength.toFixed(2),
      }),
    };
  });
  const labels = new Map();
  for (const { mv, to, index } of drawn) {
    if (labels.has(mv.to)) continue;
    const wide = broad(mv);
    labels.set(
      mv.to,
      svg(
        "g",
        { class: index === 0 ? "tag best" : "tag", "data-to": mv.to, transform: `translate(${to[0]} ${to[1]})` },
        svg("rect", { x: -wide / 2, y: -high / 2, width: wide, height: high, rx: 11 }),
        svg("text", { y: visits ? -visits / 2 - 1 : 0, "font-size": value.toFixed(1), class: "tag-value" }, said(mv)),
        visits
          ? svg("text", { y: value / 2 + 1, "font-size": visits.toFixed(1), class: "tag-visits" }, short(mv.visits))
          : [],
      ),
    );
  }
  return [...drawn.map(({ arrow }) => arrow).reverse(), ...[...labels.values()].reverse()];
}

/** An arrow by itself: `mv` is `{from, to}`, `kind` its class. */
export function arrow(board, mv, kind) {
  const [from, to] = [board.middle(mv.from), board.middle(mv.to)];
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const [ux, uy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const at = (along, across) =>
    `${(from[0] + ux * along - uy * across).toFixed(1)} ${(from[1] + uy * along + ux * across).toFixed(1)}`;
  const [width, head] = [18, 36];
  const path =
    `M${at(20, -width / 3)}L${at(length - head, -width / 2)}L${at(length - head, -head * 0.72)}L${at(length, 0)}` +
    `L${at(length - head, head * 0.72)}L${at(length - head, width / 2)}L${at(20, width / 3)}Z`;
  return svg("path", { class: `arrow ${kind}`, "data-to": mv.to, d: path });
}

/** The policy as a heat map: warm squares are where the network would go, rings are where from. */
export function heat(board, report) {
  const { side } = board.rules;
  const parts = [];
  const top = Math.max(1, ...report.to);
  const topFrom = Math.max(1, ...report.from);
  for (let index = 0; index < side * side; index++) {
    const name = squareName(index % side, Math.floor(index / side));
    const [x, y] = board.middle(name);
    const warm = Math.sqrt(report.to[index] / top);
    if (warm > 0.08) {
      parts.push(
        svg("rect", { class: "warm", x: x - 49, y: y - 49, width: 98, height: 98, opacity: (warm * 0.78).toFixed(3) }),
      );
      if (report.to[index] >= 20)
        parts.push(
          svg(
            "text",
            { class: "warm-words", x: x + 44, y: y + 42, "font-size": 22 },
            String(Math.round(report.to[index] / 10)),
          ),
        );
    }
    const from = Math.sqrt(report.from[index] / topFrom);
    if (from > 0.25)
      parts.push(
        svg("rect", {
          class: "warm-from",
          x: x - 45,
          y: y - 45,
          width: 90,
          height: 90,
          rx: 10,
          opacity: from.toFixed(3),
        }),
      );
  }
  return parts;
}

/** How each square may end: discs as large as the chances of an attacker, a defender, the king. */
export function occupancy(board, report) {
  if (!report.occupancy) return [];
  const { side } = board.rules;
  const parts = [];
  for (const [index, chances] of report.occupancy.entries()) {
    const [x, y] = board.middle(squareName(index % side, Math.floor(index / side)));
    const discs = chances.map((chance, kind) => ({ chance, kind: "adk"[kind] })).filter(({ chance }) => chance >= 4);
    discs.sort((a, b) => b.chance - a.chance);
    for (const { chance, kind } of discs) {
      parts.push(
        svg("circle", { class: `after after-${kind}`, cx: x, cy: y, r: (44 * Math.sqrt(chance / 100)).toFixed(1) }),
      );
    }
  }
  return parts;
}
