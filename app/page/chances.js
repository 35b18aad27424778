// Who is winning: the bar beside the board and the graph over the game.

import { svg } from "./ink.js";
import { percent, t } from "./texts.js";

/** The expected score of the attackers, draws half. */
export const attackersScore = (chances) => chances.attackers + chances.draw / 2;

/** Chances in whole percents that sum to 100: what rounding down leaves goes to the largest remainders. */
export function percents({ attackers, defenders, draw }) {
  const exact = [attackers, defenders, draw].map((share) => 100 * share);
  const whole = exact.map(Math.floor);
  const left = 100 - whole[0] - whole[1] - whole[2];
  const remainders = [0, 1, 2].sort((a, b) => exact[b] - whole[b] - exact[a] + whole[a]);
  for (const at of remainders.slice(0, left)) whole[at]++;
  return { attackers: whole[0], defenders: whole[1], draw: whole[2] };
}

/** In words, such as `attackers 61 %, defenders 37 %, draw 2 %`. */
export function words(chances) {
  const whole = percents(chances);
  const [attackers, defenders, draw] = [whole.attackers, whole.defenders, whole.draw].map((n) => percent(n / 100));
  return t(whole.draw > 0 ? "chances.withDraw" : "chances.words", { attackers, defenders, draw });
}

/** The value of the start beside the attackers' score, where both were measured: `[said, scored]` by rules. */
export function meaning({ name, played_on }, starts) {
  const rules = Object.hasOwn(starts, name) ? name : played_on;
  const found = Object.hasOwn(starts, rules ?? "") ? starts[rules].map(percent) : null;
  return found ? t("chances.start", { rules: t(`rules.${rules}`), said: found[0], scored: found[1] }) : "";
}

/** Sets the bar; `null` when nobody knows. */
export function showBar(bar, chances, flipped) {
  bar.classList.toggle("unknown", !chances);
  bar.classList.toggle("flipped", flipped);
  const shares = chances ?? { attackers: 0.5, draw: 0, defenders: 0.5 };
  for (const name of ["attackers", "draw", "defenders"]) {
    const part = bar.querySelector(`.bar-${name}`);
    // Far above 1, so that all of the bar is taken.
    part.style.flexGrow = String(1000 * shares[name]);
    part.textContent = chances && name !== "draw" && shares[name] >= 0.08 ? percents(chances)[name] : "";
  }
  bar.setAttribute("aria-label", chances ? t("chances.now", { words: words(chances) }) : t("chances.unknown"));
}

/** The latest view known at or before a ply. */
export function viewAt(views, ply) {
  for (let at = ply; at >= 0; at--) if (views[at]) return views[at];
  return null;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [420, 132, 30, 20, 8];

/** The graph of the views: dark below the line are the attackers' chances. A press goes to that ply. */
export function graph(root, state, onPly) {
  const { views, ply, plies } = state;
  const last = Math.max(plies, 12);
  const x = (at) => LEFT + ((WIDTH - LEFT - 8) * at) / last;
  const y = (score) => TOP + (HEIGHT - BOTTOM - TOP) * (1 - score);
  const points = views.map((view, at) => (view ? [x(at), y(attackersScore(view)), at] : null)).filter(Boolean);
  const parts = [
    svg("rect", { class: "graph-light", x: LEFT, y: TOP, width: WIDTH - LEFT - 8, height: HEIGHT - BOTTOM - TOP }),
  ];
  if (points.length > 0) {
    const path = points.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join("L");
    const [first, end] = [points[0][0], points.at(-1)[0]];
    parts.push(svg("path", { class: "graph-dark", d: `M${first} ${y(0)}L${path}L${end} ${y(0)}Z` }));
    parts.push(svg("path", { class: "graph-line", d: `M${path}` }));
    for (const [px, py] of points.length < 80 ? points : [])
      parts.push(svg("circle", { class: "graph-dot", cx: px, cy: py, r: 2.2 }));
  }
  parts.push(svg("path", { class: "graph-middle", d: `M${LEFT} ${y(0.5)}H${WIDTH - 8}` }));
  parts.push(svg("path", { class: "graph-now", d: `M${x(ply)} ${TOP}V${HEIGHT - BOTTOM}` }));
  const label = (px, py, text, anchor) =>
    svg("text", { class: "graph-words", x: px, y: py, "text-anchor": anchor }, text);
  parts.push(
    label(LEFT - 4, y(1) + 8, "100", "end"),
    label(LEFT - 4, y(0.5) + 4, "50", "end"),
    label(LEFT - 4, y(0), "0", "end"),
  );
  // Moves are counted as in their list: two plies each.
  const step = last <= 24 ? 4 : last <= 60 ? 10 : last <= 150 ? 20 : last <= 400 ? 50 : 200;
  for (let at = 0; at <= last; at += step) {
    const number = String(at / 2);
    // The last one keeps within the drawing; a digit is some seven wide.
    parts.push(label(Math.min(x(at), WIDTH - 3.5 * number.length), HEIGHT - 5, number, "middle"));
  }
  const drawing = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "graph", role: "img", "aria-label": t("chances.graph") },
    parts,
  );
  drawing.addEventListener("click", (event) => {
    const box = drawing.getBoundingClientRect();
    const at = Math.round(((((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - 8)) * last);
    onPly(Math.min(plies, Math.max(0, at)));
  });
  root.replaceChildren(drawing);
}
