// The men and their king: round shields seen from above.

import { hand, ring, svg } from "./ink.js";
import { t } from "./texts.js";

const classes = { a: "attacker", d: "defender", k: "king" };

/** The name of a letter's piece, for labels. */
export const pieceName = (letter) => t("piece", { of: letter });

/** A piece around the origin, on a square 100 wide. The seed makes no two shields quite the same. */
export function piece(letter, seed) {
  const random = hand(seed * 7 + letter.charCodeAt(0));
  const radius = letter === "k" ? 43 : 37;
  const shield = { a: attacker, d: defender, k: king }[letter](random, radius);
  return svg(
    "g",
    { class: `piece ${classes[letter]}` },
    svg("ellipse", { class: "shade", cx: 3, cy: 6, rx: radius + 1, ry: radius }),
    svg("g", { class: "body" }, shield),
  );
}

function rivets(count, radius, size, turn) {
  return Array.from({ length: count }, (_, index) => {
    const angle = turn + (index / count) * 2 * Math.PI;
    return svg("circle", {
      class: "rivet",
      cx: (Math.cos(angle) * radius).toFixed(2),
      cy: (Math.sin(angle) * radius).toFixed(2),
      r: size,
    });
  });
}

/** Black shields with red blades that turn like a wheel. */
function attacker(random, radius) {
  const turn = random() * 45;
  const blades = [];
  for (let index = 0; index < 6; index++) {
    const [a, b] = [index * 60, index * 60 + 30].map((degrees) => (degrees * Math.PI) / 180);
    const inner = radius - 5;
    const at = (angle, r) => `${(Math.cos(angle) * r).toFixed(2)} ${(Math.sin(angle) * r).toFixed(2)}`;
    const twist = 0.55;
    blades.push(
      `M0 0Q${at(a + twist / 4, inner * 0.62)} ${at(a + twist, inner)}` +
        `A${inner} ${inner} 0 0 1 ${at(b + twist, inner)}Q${at(b + twist / 4, inner * 0.62)} 0 0Z`,
    );
  }
  return [
    svg("path", { class: "field", d: ring(0, 0, radius, random, 0.9) }),
    svg("g", { transform: `rotate(${turn.toFixed(1)})` }, svg("path", { class: "paint", d: blades.join("") })),
    svg("path", { class: "rim", d: ring(0, 0, radius - 2.5, random, 0.7) }),
    ...rivets(8, radius - 2.5, 1.9, random()),
    svg("path", { class: "boss", d: ring(0, 0, 9.5, random, 0.5) }),
    svg("path", { class: "glint", d: "M-5 -3.5Q-2.5 -7 2 -6.4" }),
  ];
}

/** Pale shields quartered by a cross, with a ring of knots. */
function defender(random, radius) {
  const turn = random() * 18;
  const inner = radius - 5;
  const arc = `A${inner} ${inner} 0 0 1 0`;
  const quarter = `M0 0L${inner} 0${arc} ${inner}ZM0 0L${-inner} 0${arc} ${-inner}Z`;
  return [
    svg("path", { class: "field", d: ring(0, 0, radius, random, 0.9) }),
    svg(
      "g",
      { transform: `rotate(${turn.toFixed(1)})` },
      svg("path", { class: "paint", d: quarter }),
      svg("path", { class: "cross", d: `M${-inner} 0H${inner}M0 ${-inner}V${inner}` }),
      ...[45, 135, 225, 315].map((degrees) => {
        const angle = (degrees * Math.PI) / 180;
        return svg("circle", {
          class: "knot",
          cx: (Math.cos(angle) * 20).toFixed(2),
          cy: (Math.sin(angle) * 20).toFixed(2),
          r: 4.2,
        });
      }),
    ),
    svg("path", { class: "rim", d: ring(0, 0, radius - 2.5, random, 0.7) }),
    ...rivets(8, radius - 2.5, 1.9, random()),
    svg("path", { class: "boss", d: ring(0, 0, 9, random, 0.5) }),
    svg("path", { class: "glint", d: "M-4.5 -3.5Q-2 -6.6 2 -6" }),
  ];
}

/** The golden shield with the crown. */
function king(random, radius) {
  const crown = "M-21 12L-25 -11L-11.5 -1.5L0 -21L11.5 -1.5L25 -11L21 12Z";
  return [
    svg("path", { class: "field", d: ring(0, 0, radius, random, 0.9) }),
    svg("path", { class: "paint", d: ring(0, 0, radius - 8, random, 0.6) }),
    svg("path", { class: "rim", d: ring(0, 0, radius - 2.5, random, 0.7) }),
    ...rivets(12, radius - 3, 2.1, 0.13),
    svg("path", { class: "crown", d: crown }),
    svg("path", { class: "band", d: "M-21 19H21" }),
    svg("circle", { class: "jewel", cx: 0, cy: -23, r: 3.6 }),
    svg("circle", { class: "jewel", cx: -26, cy: -12.5, r: 3 }),
    svg("circle", { class: "jewel", cx: 26, cy: -12.5, r: 3 }),
    svg("circle", { class: "jewel", cx: 0, cy: 3, r: 3.4 }),
  ];
}
