// Plots drawn as SVG that carries its own colours, so that a saved picture looks like the page.

import { make } from "./ask.js";
import { svg } from "./ink.js";
import { percent, t } from "./texts.js";

const WIDTH = 560;
const [LEFT, RIGHT, BOTTOM] = [56, 14, 34];
const LEGEND_ROW = 19;
/** The height between legend and axis. */
const ROOM = 221;
/** Height of the title of a saved picture. */
const TITLE = 32;
const MOST_POINTS = 500;
/** Letters of a name in a legend. */
const LONGEST = 40;

const PALETTES = {
  light: {
    ground: "#fbf6e9",
    ink: "#2a2019",
    soft: "#6b5a48",
    rule: "#dccfae",
    series: ["#a63a22", "#2f6f8f", "#4c8045", "#b57a14", "#76549a", "#7a7064", "#b0567c", "#3b8b86"],
  },
  dark: {
    ground: "#231f1a",
    ink: "#eee3cd",
    soft: "#b3a387",
    rule: "#463c2f",
    series: ["#e0684c", "#62aed0", "#83bd78", "#dcab4d", "#b493da", "#a79d8f", "#dd8fb0", "#6cc4bd"],
  },
};

/** The colours of the page's theme. */
const palette = () => PALETTES[document.documentElement.dataset.theme === "dark" ? "dark" : "light"];

/** Round numbers between low and high. */
export function ticks(low, high, count = 5) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step)
    found.push(Math.abs(at) < step / 1e6 ? 0 : at);
  return found;
}

/** What to write at ticks: all of them to the same digit, as many as tell neighbours apart. */
export function tickLabels(at) {
  const most = Math.max(...at.map(Math.abs));
  const [scale, suffix] = most >= 1e6 ? [1e6, "M"] : most >= 1e4 ? [1e3, "k"] : [1, ""];
  const exact = (digits) =>
    at.every((tick) => Math.abs(Number((tick / scale).toFixed(digits)) * scale - tick) <= most * 1e-9);
  const digits = [0, 1, 2, 3].find(exact) ?? 4;
  return at.map((tick) => (tick === 0 ? "0" : `${(tick / scale).toFixed(digits)}${suffix}`));
}

/** A number in few letters: whole up to ten thousand, three digits beyond. */
export function brief(number) {
  if (number === null || number === undefined || !Number.isFinite(number)) return "–";
  const size = Math.abs(number);
  if (size >= 1e6) return `${(number / 1e6).toFixed(size >= 1e7 ? 0 : 1)}M`;
  if (size >= 1e4) return `${(number / 1e3).toFixed(size >= 1e5 ? 0 : 1)}k`;
  if (size >= 100 || Number.isInteger(number)) return String(Math.round(number));
  return number.toFixed(size >= 10 ? 1 : 2);
}

/** Fewer points where there are more than can be told apart: the mean of each stretch. */
function thinned(points) {
  if (points.length <= MOST_POINTS) return points;
  const size = points.length / MOST_POINTS;
  return Array.from({ length: MOST_POINTS }, (_, index) => {
    const part = points.slice(Math.floor(index * size), Math.floor((index + 1) * size));
    return part[0].map((_, axis) => part.reduce((sum, point) => sum + point[axis], 0) / part.length);
  });
}

/**
 * A plot in a figure, with buttons to save it. `name` names its file, `title` stands above it. `kind` is `line` or
 * `stack` (shares laid on one another); a stack's series have the same xs. A series is `{name, points, raw, colour,
 * dash, range}`: points `[x, y]`, or `[x, y, low, high]` where a band is drawn; `raw` are the points before they were
 * smoothed, `colour` one for a light and one for a dark ground, and `range` says that the band is no error.
 * `onpoint` is told where the pointer is on the axis, null where it is no more.
 */
export class Plot {
  constructor(name, title, { stack = false, zero = false, share = false, whole = false, absent = null, onpoint } = {}) {
    Object.assign(this, { title, stack, zero, share, whole, absent, series: [], of: "", axis: "", whence: null });
    this.drawing = svg("svg", {
      role: "img",
      xmlns: "http://www.w3.org/2000/svg",
      "font-family": "system-ui, 'DejaVu Sans', sans-serif",
    });
    const save = (kind, words, onclick) => make("button", { type: "button", "aria-label": words, onclick }, kind);
    this.element = make(
      "figure",
      { class: "plot", "data-plot": name },
      make(
        "figcaption",
        {},
        make("h3", {}, title),
        save("SVG", t("plot.asSvg", { title }), () => download(source(this.picture()), `${name}.svg`)),
        save("PNG", t("plot.asPng", { title }), () => savePng(this.picture(), name)),
      ),
      this.drawing,
      make("p", { hidden: true }, absent ?? ""),
    );
    for (const kind of ["pointermove", "pointerdown"])
      this.drawing.addEventListener(kind, (event) => onpoint(this.placeOf(event)));
    this.drawing.addEventListener("pointerleave", () => onpoint(null));
  }

  heading(title) {
    this.title = title;
    this.element.querySelector("h3").textContent = title;
  }

  /** The drawing as it is saved: by itself, so with its title and what it is of. */
  picture() {
    const colours = palette();
    const drawing = this.drawing.cloneNode(true);
    drawing.setAttribute("viewBox", `0 ${-TITLE} ${WIDTH} ${this.height + TITLE}`);
    drawing.removeAttribute("style");
    const words = this.of ? t("plot.of", { title: this.title, name: this.of }) : this.title;
    drawing.prepend(
      svg("rect", { y: -TITLE, width: WIDTH, height: TITLE + 1, fill: colours.ground }),
      svg("text", { x: 14, y: -11, fill: colours.ink, "font-size": 18, "font-weight": 700 }, words),
    );
    return drawing;
  }

  /** Draws series from `low` to `high` of an axis, which is named in words. */
  show(series, { low, high, axis }) {
    this.series = series
      .filter(({ points }) => points.length > 0)
      .map((one) => ({ ...one, points: thinned(one.points), raw: one.raw && thinned(one.raw) }));
    Object.assign(this, { low, high: high > low ? high : low + 1, axis });
    const empty = this.series.length === 0;
    this.element.hidden = empty && !this.absent;
    this.drawing.style.display = empty ? "none" : "";
    this.element.lastElementChild.hidden = !empty;
    for (const button of this.element.querySelectorAll("button")) button.hidden = empty;
    this.draw();
  }

  /** Where on the axis a pointer is. */
  placeOf(event) {
    const box = this.drawing.getBoundingClientRect();
    const along = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    return this.low + Math.min(1, Math.max(0, along)) * (this.high - this.low);
  }

  draw() {
    if (this.series.length === 0) return;
    const colours = palette();
    const entries = this.legend();
    const top = 26 + LEGEND_ROW * Math.max(...entries.map(({ row }) => row));
    this.height = top + ROOM + BOTTOM;
    this.drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${this.height}`);
    const values = this.series.flatMap(({ points, raw }) =>
      [...points, ...(raw ?? [])].flatMap((point) => point.slice(1)),
    );
    let [least, most] = [this.zero || this.share ? 0 : Math.min(...values), this.share ? 1 : Math.max(...values)];
    if (most <= least) most = least + (Math.abs(least) * 0.1 || 1);
    if (!this.share) {
      const room = (most - least) * 0.06;
      most += room;
      if (!this.zero && least !== 0) least -= room;
    }
    const { low, high } = this;
    this.x = (value) => LEFT + ((value - low) / (high - low)) * (WIDTH - LEFT - RIGHT);
    const x = this.x;
    const y = (value) => top + ROOM - ((value - least) / (most - least)) * ROOM;
    const path = (points, of = 1) => points.map((point) => `${x(point[0]).toFixed(1)} ${y(point[of]).toFixed(1)}`);
    const text = (at, words, more) =>
      svg("text", { x: at[0], y: at[1], fill: colours.soft, "font-size": 14, ...more }, words);
    const parts = [svg("rect", { width: WIDTH, height: this.height, fill: colours.ground })];
    const across = ticks(least, most);
    const labels = this.share ? across.map((tick) => percent(tick)) : tickLabels(across);
    for (const [index, tick] of across.entries()) {
      parts.push(
        svg("path", { d: `M${LEFT} ${y(tick).toFixed(1)}H${WIDTH - RIGHT}`, stroke: colours.rule, "stroke-width": 1 }),
      );
      parts.push(text([LEFT - 8, y(tick) + 4], labels[index], { "text-anchor": "end" }));
    }
    const along = ticks(low, high, 6);
    for (const [index, label] of tickLabels(along).entries()) {
      parts.push(text([x(along[index]), top + ROOM + 17], label, { "text-anchor": "middle" }));
    }
    this.axisWords = text([WIDTH - RIGHT, this.height - 4], this.axis, { "text-anchor": "end", "font-size": 12 });
    parts.push(this.axisWords);
    const colour = (index) =>
      this.series[index].colour?.[colours === PALETTES.dark ? 1 : 0] ?? colours.series[index % colours.series.length];
    const stroke = (points, index, more) =>
      svg("path", {
        d: `M${path(points).join("L")}`,
        fill: "none",
        stroke: colour(index),
        "stroke-width": 2,
        "stroke-linejoin": "round",
        ...more,
      });
    if (this.stack) {
      for (const [index, { lower, upper }] of stack(this.series).entries()) {
        const edge = [...path(upper), ...path(lower).toReversed()].join("L");
        parts.push(svg("path", { d: `M${edge}Z`, fill: colour(index), stroke: colours.ground, "stroke-width": 0.8 }));
      }
    } else {
      for (const [index, { points }] of this.series.entries()) {
        if (points[0].length < 4) continue;
        // A single point has a band too, as wide as its dot.
        const wide =
          points.length > 1
            ? points
            : [-4, 4].map((way) => [
                points[0][0] + (way / (WIDTH - LEFT - RIGHT)) * (high - low),
                ...points[0].slice(1),
              ]);
        const edge = [...path(wide, 3), ...path(wide, 2).toReversed()].join("L");
        parts.push(svg("path", { class: "band", d: `M${edge}Z`, fill: colour(index), opacity: 0.16 }));
      }
      for (const [index, { points, raw, dash }] of this.series.entries()) {
        if (points.length === 1)
          parts.push(svg("circle", { cx: x(points[0][0]), cy: y(points[0][1]), r: 3, fill: colour(index) }));
        if (raw) parts.push(stroke(raw, index, { class: "raw", "stroke-width": 1, opacity: 0.3 }));
        parts.push(stroke(points, index, { class: "line", "stroke-dasharray": dash }));
      }
    }
    for (const entry of entries) {
      const { index, along, row, dash } = entry;
      const down = 14 + row * LEGEND_ROW;
      if (this.stack)
        parts.push(
          svg("rect", {
            x: along,
            y: down - 9,
            width: 11,
            height: 11,
            rx: 2.5,
            fill: colour(index),
            stroke: colours.soft,
            "stroke-width": 0.5,
          }),
        );
      else
        parts.push(
          svg("path", {
            d: `M${along - 7} ${down - 3}h20`,
            stroke: colour(index),
            "stroke-width": 3,
            "stroke-dasharray": dash,
          }),
        );
      entry.element = text([along + 16, down + 1], "", { fill: colours.ink });
      parts.push(entry.element);
    }
    this.entries = entries;
    this.hair = svg("path", { stroke: colours.ink, "stroke-width": 1, opacity: 0.5, class: "hair" });
    this.reach = `${top}V${top + ROOM}`;
    parts.push(this.hair);
    this.drawing.setAttribute(
      "aria-label",
      `${this.title}: ${this.series.map(({ name, points, range }) => `${name} ${this.say(points.at(-1), range)}`).join(", ")}`,
    );
    this.drawing.replaceChildren(...parts);
    this.mark(this.whence);
  }

  /** A value with its error, or from the least to the largest. */
  say([, value, low, high], range) {
    const number = (value) => (this.share ? percent(value) : brief(this.whole ? Math.round(value) : value));
    if (low === undefined || !(high > low)) return number(value);
    return range ? `${number(value)} (${number(low)}–${number(high)})` : `${number(value)} ± ${number(high - value)}`;
  }

  /** The names of the series and their places above the plot, with room for their values. */
  legend() {
    let [along, row] = [LEFT, 0];
    const short = (name) => (name.length > LONGEST ? `…${name.slice(1 - LONGEST)}` : name);
    const entries = this.series.map(({ name, points, range, dash }, index) => {
      const longest = Math.max(...points.map((point) => this.say(point, range).length));
      return { index, dash, name: short(name), letters: short(name).length + 1 + longest };
    });
    for (const entry of entries) {
      const width = 30 + entry.letters * 7.7;
      if (along > LEFT && along + width > WIDTH) [along, row] = [LEFT, row + 1];
      Object.assign(entry, { along, row });
      along += width;
    }
    return entries;
  }

  /** Shows the values at a place of the axis; the latest ones where it is null. */
  mark(place) {
    this.whence = place;
    if (this.series.length === 0) return;
    const nearest = (points) =>
      points.reduce((best, point) => (Math.abs(point[0] - place) < Math.abs(best[0] - place) ? point : best));
    for (const { index, name, element } of this.entries) {
      const { points, range } = this.series[index];
      element.textContent = `${name} ${this.say(place === null ? points.at(-1) : nearest(points), range)}`;
    }
    this.hair.setAttribute("d", place === null ? "" : `M${this.x(place).toFixed(1)} ${this.reach}`);
    const exact = this.high - this.low >= 20 ? Math.round(place) : place;
    this.axisWords.textContent = place === null ? this.axis : t("plot.at", { axis: this.axis, at: brief(exact) });
  }
}

function stack(series) {
  const floor = series[0].points.map(([x]) => [x, 0]);
  let lower = floor;
  return series.map(({ points }) => {
    const upper = points.map(([x, y], index) => [x, (lower[index]?.[1] ?? 0) + y]);
    const layer = { lower, upper };
    lower = upper;
    return layer;
  });
}

function download(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const source = (drawing) => new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" });

/** A drawing as a picture of twice its size. */
export async function pngOf(drawing) {
  const url = URL.createObjectURL(source(drawing));
  const [width, height] = drawing
    .getAttribute("viewBox")
    .split(" ")
    .slice(2)
    .map((size) => size * 2);
  const image = new Image(width, height);
  try {
    await new Promise((done, failed) => {
      image.onload = done;
      image.onerror = () => failed(new Error(t("plot.noPicture")));
      image.src = url;
    });
  } finally {
    URL.revokeObjectURL(url);
  }
  const canvas = make("canvas", { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0, width, height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

async function savePng(drawing, name) {
  const blob = await pngOf(drawing);
  if (blob) download(blob, `${name}.png`);
}
