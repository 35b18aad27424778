// The board without pieces: planks, carved lines, the throne, the corners, and a braid around it all.

import { hand, line, ring, svg } from "./ink.js";

/**
 * Measures of a board with `side` squares, in units of a hundredth of a square. A slim frame leaves a small screen to
 * the squares.
 */
export function measures(side, slim = false) {
  const frame = slim ? 3.6 * side : 10 * side + 14;
  return { cell: 100, frame, total: side * 100 + 2 * frame, braid: 4.3 * side, letter: slim ? 3 * side : 4.2 * side };
}

/** File and rank of a square's name, counted from 0. */
export function place(name) {
  return [name.charCodeAt(0) - 97, Number(name.slice(1)) - 1];
}

/** A square's name. */
export const squareName = (file, rank) => String.fromCharCode(97 + file) + (rank + 1);

/** The board of these rules, as children of an SVG. */
export function wood(rules, flipped, slim) {
  const { side } = rules;
  const { frame, total, letter } = measures(side, slim);
  const random = hand(side);
  const inner = side * 100;
  const middle = (name) => {
    const [file, rank] = place(name);
    const [x, y] = flipped ? [side - 1 - file, rank] : [file, side - 1 - rank];
    return [frame + x * 100 + 50, frame + y * 100 + 50];
  };
  const parts = [
    svg("rect", { class: "frame", x: 3, y: 3, width: total - 6, height: total - 6, rx: slim ? 12 : 22 }),
    svg("rect", { class: "field-wood", x: frame, y: frame, width: inner, height: inner }),
    ...planks(side, frame, random),
    ...(slim ? [] : braid(side, random)),
  ];
  if (rules.edge_escape) parts.push(svg("path", { class: "carving goal", d: goals(side, frame) }));
  for (const [index, letterAt] of [...rules.start].entries()) {
    const name = squareName(index % side, Math.floor(index / side));
    if (letterAt === "." || letterAt === "k") continue;
    const [x, y] = middle(name);
    parts.push(
      svg("path", { class: `carving home ${letterAt === "a" ? "home-a" : "home-d"}`, d: ring(x, y, 13, random, 1.2) }),
    );
  }
  for (const name of rules.thrones) parts.push(throne(middle(name), random));
  for (const name of rules.corners) parts.push(corner(middle(name), random));
  for (const name of rules.attacker_forts) parts.push(fort(middle(name), "fort-a", random));
  for (const name of rules.defender_forts) parts.push(fort(middle(name), "fort-d", random));
  parts.push(...lines(side, frame, random));
  for (let index = 0; index < side; index++) {
    const [file, rank] = flipped ? [side - 1 - index, index] : [index, side - 1 - index];
    const along = frame + index * 100 + 50;
    const text = (x, y, words) =>
      svg("text", { class: "coordinate", x, y, "font-size": letter, "dominant-baseline": "central" }, words);
    const near = slim ? frame / 2 : frame - letter * 0.62;
    parts.push(text(along, total - near, String.fromCharCode(97 + file)), text(near, along, String(rank + 1)));
    if (!slim)
      parts.push(text(along, near, String.fromCharCode(97 + file)), text(total - near, along, String(rank + 1)));
  }
  return parts;
}

function planks(side, frame, random) {
  const parts = [];
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const tone = random();
      const name = tone > 0 ? "tone-light" : "tone-dark";
      parts.push(
        svg("rect", {
          class: name,
          x: frame + column * 100,
          y: frame + row * 100,
          width: 100,
          height: 100,
          opacity: (Math.abs(tone) * 0.11).toFixed(3),
        }),
      );
    }
  }
  let grain = "";
  for (let count = 0; count < side * 7; count++) {
    const y = frame + ((random() + 1) / 2) * side * 100;
    const from = frame + ((random() + 1) / 2) * side * 70;
    const length = 90 + (random() + 1) * side * 14;
    const to = Math.min(from + length, frame + side * 100);
    grain += line([from, y], [to, y + random() * 3], random, 1.6);
  }
  parts.push(svg("path", { class: "grain", d: grain }));
  return parts;
}

function lines(side, frame, random) {
  let path = "";
  for (let index = 0; index <= side; index++) {
    const at = frame + index * 100;
    const end = frame + side * 100;
    path += line([frame, at], [end, at], random, 0.9) + line([at, frame], [at, end], random, 0.9);
  }
  return [
    svg("path", { class: "groove-light", d: path, transform: "translate(1.6 1.8)" }),
    svg("path", { class: "groove", d: path }),
  ];
}

/** Two squares through each other: the king's seat. */
function throne([x, y], random) {
  const square = (r, turn) => {
    const corners = [0, 1, 2, 3].map((index) => {
      const angle = turn + (index * Math.PI) / 2;
      return [x + Math.cos(angle) * r, y + Math.sin(angle) * r];
    });
    return corners.map((from, index) => line(from, corners[(index + 1) % 4], random, 0.7)).join("");
  };
  return svg(
    "g",
    { class: "throne" },
    svg("rect", { class: "throne-field", x: x - 50, y: y - 50, width: 100, height: 100 }),
    svg("path", {
      class: "carving",
      d: square(45, 0) + square(45, Math.PI / 4) + ring(x, y, 26, random, 0.8) + ring(x, y, 20, random, 0.8),
    }),
    svg("path", { class: "carving", d: line([x - 9, y], [x + 9, y], random) + line([x, y - 9], [x, y + 9], random) }),
  );
}

/** The looped square that marks a place of refuge. */
function corner([x, y], random) {
  const r = 19;
  const loop = 15;
  const path =
    `M${x - r} ${y - r}L${x + r} ${y - r}` +
    `L${x + r + loop} ${y - r}A${loop} ${loop} 0 0 0 ${x + r} ${y - r - loop}` +
    `L${x + r} ${y + r + loop}A${loop} ${loop} 0 0 0 ${x + r + loop} ${y + r}` +
    `L${x - r - loop} ${y + r}A${loop} ${loop} 0 0 0 ${x - r} ${y + r + loop}` +
    `L${x - r} ${y - r - loop}A${loop} ${loop} 0 0 0 ${x - r - loop} ${y - r}Z`;
  return svg(
    "g",
    { class: "corner" },
    svg("rect", { class: "corner-field", x: x - 50, y: y - 50, width: 100, height: 100 }),
    svg("path", { class: "carving", d: path }),
    svg("path", { class: "carving", d: ring(x, y, 6, random, 0.6) }),
  );
}

/** A wall with battlements, dark of the attackers and pale of the defenders. */
function fort([x, y], kind, random) {
  const battlements = [-40, -24, -8, 8, 24].map((at) => `M${x + at} ${y - 30}v-10h16v10`).join("");
  const wall = [
    [-40, -30],
    [40, -30],
    [40, 40],
    [-40, 40],
  ].map(([dx, dy]) => [x + dx, y + dy]);
  const sides = wall.map((from, index) => line(from, wall[(index + 1) % 4], random, 0.6)).join("");
  const gate = `M${x - 12} ${y + 40}v-22a12 12 0 0 1 24 0v22`;
  return svg(
    "g",
    { class: `fort ${kind}` },
    svg("rect", { class: "fort-field", x: x - 50, y: y - 50, width: 100, height: 100 }),
    svg("path", { class: "carving", d: sides + battlements + gate }),
  );
}

/** Chevrons that point out of the board, on every square where the king is free. */
function goals(side, frame) {
  let path = "";
  for (let index = 1; index < side - 1; index++) {
    const along = frame + index * 100 + 50;
    const [near, far] = [frame + 11, frame + side * 100 - 11];
    path +=
      `M${along - 11} ${near + 8}L${along} ${near}L${along + 11} ${near + 8}` +
      `M${along - 11} ${far - 8}L${along} ${far}L${along + 11} ${far - 8}` +
      `M${near + 8} ${along - 11}L${near} ${along}L${near + 8} ${along + 11}` +
      `M${far - 8} ${along - 11}L${far} ${along}L${far - 8} ${along + 11}`;
  }
  return path;
}

/** A braid of two strands along the four sides: each crossing is drawn with one strand over the other. */
function braid(side, random) {
  const { total, braid: width } = measures(side);
  const offset = 12 + width / 2;
  const length = total - 2 * offset - width * 1.15;
  const count = Math.max(4, Math.round(length / (width * 1.15)));
  const period = length / count;
  const height = width * 0.34;
  const under = [];
  const strands = [];
  for (let turn = 0; turn < 4; turn++) {
    const transform = `rotate(${turn * 90} ${total / 2} ${total / 2})`;
    const start = (total - length) / 2;
    const group = svg("g", { transform });
    for (let index = 0; index < count; index++) {
      const [a, b] = [start + index * period, start + (index + 1) * period];
      const bend = period * 0.42;
      const strand = (direction) =>
        `M${a} ${offset - direction * height}` +
        `C${a + bend} ${offset - direction * height} ${b - bend} ${offset + direction * height} ${b} ${offset + direction * height}`;
      const over = index % 2 === 0 ? 1 : -1;
      for (const direction of [-over, over]) {
        group.append(svg("path", { class: "strand-edge", d: strand(direction), "stroke-width": width * 0.36 }));
        group.append(svg("path", { class: "strand", d: strand(direction), "stroke-width": width * 0.2 }));
      }
    }
    strands.push(group);
    // At the corner of the frame the strands turn around a boss.
    under.push(svg("path", { class: "strand-boss", d: ring(offset, offset, width * 0.42, random, 1), transform }));
    under.push(
      svg("path", { class: "strand-boss-inner", d: ring(offset, offset, width * 0.2, random, 0.7), transform }),
    );
  }
  return [...strands, ...under];
}
