// Plots drawn as SVG that carries its own colours, so that a saved picture looks like the page.

import { make } from "./ask.js";
import { svg } from "./ink.js";
import { percent, t } from "./texts.js";

const [WIDTH, HEIGHT] = [560, 300];
const [LEFT, RIGHT, BOTTOM] = [56, 14, 34];
const LEGEND_ROW = 19;
/** Height of the title of a saved picture. */
const TITLE = 32;
const MOST_POINTS = 500;

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
 * A plot in a figure, with buttons to save it. `name` names its file and its title in the texts. `kind` is `line` or
 * `stack` (shares laid on one another); `series` are `{name, points: [[x, y], …], like}`, with `[x, y, error]`
 * where a band of y ± error is drawn; one with `like` has the colour of the series at that place. A stack's series have
 * the same xs.
 */
export class Plot {
  constructor(name, { kind = "line", zero = false, share = false, whole = false, absent = null } = {}) {
    const title = t(`plot.${name}`);
    Object.assign(this, { title, kind, zero, share, whole, series: [], at: null, of: "" });
    this.drawing = svg("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      role: "img",
      xmlns: "http://www.w3.org/2000/svg",
      "font-family": "system-ui, 'DejaVu Sans', sans-serif",
    });
    this.element = make(
      "figure",
      { class: "plot", "data-plot": name },
      make(
        "figcaption",
        {},
        make("h2", {}, title),
        make(
          "button",
          {
            type: "button",
            "aria-label": t("plot.asSvg", { title }),
            onclick: () => download(source(this.picture()), `${name}.svg`),
          },
          "SVG",
        ),
        make(
          "button",
          { type: "button", "aria-label": t("plot.asPng", { title }), onclick: () => savePng(this.picture(), name) },
          "PNG",
        ),
      ),
      this.drawing,
      make("p", { hidden: true }, absent ?? ""),
    );
    this.absent = absent;
    this.drawing.addEventListener("pointermove", (event) => this.point(event));
    this.drawing.addEventListener("pointerleave", () => {
      this.at = null;
      this.draw();
    });
  }

  heading(title) {
    this.title = title;
    this.element.querySelector("h2").textContent = title;
  }

  /** The drawing as it is saved: by itself, so with its title and what it is of. */
  picture() {
    const colours = palette();
    const drawing = this.drawing.cloneNode(true);
    drawing.setAttribute("viewBox", `0 ${-TITLE} ${WIDTH} ${HEIGHT + TITLE}`);
    drawing.removeAttribute("style");
    const words = this.of ? t("plot.of", { title: this.title, name: this.of }) : this.title;
    drawing.prepend(
      svg("rect", { y: -TITLE, width: WIDTH, height: TITLE + 1, fill: colours.ground }),
      svg("text", { x: 14, y: -11, fill: colours.ink, "font-size": 18, "font-weight": 700 }, words),
    );
    return drawing;
  }

  show(series) {
    this.series = series
      .filter(({ points }) => points.length > 0)
      .map((one) => ({ ...one, points: thinned(one.points) }));
    const empty = this.series.length === 0;
    this.element.hidden = empty && !this.absent;
    this.drawing.style.display = empty ? "none" : "";
    this.element.lastElementChild.hidden = !empty;
    for (const button of this.element.querySelectorAll("button")) button.hidden = empty;
    this.draw();
  }

  point(event) {
    const box = this.drawing.getBoundingClientRect();
    const along = (((event.clientX - box.left) / box.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT);
    const [low, high] = this.range;
    this.at = low + Math.min(1, Math.max(0, along)) * (high - low);
    this.draw();
  }

  draw() {
    if (this.series.length === 0) return;
    const colours = palette();
    const number = (value) => brief(this.whole ? Math.round(value) : value);
    const say = (value, error) =>
      this.share ? percent(value) : error > 0 ? `${number(value)} ± ${number(error)}` : number(value);
    const entries = this.legend(say);
    const TOP = 26 + LEGEND_ROW * Math.max(...entries.map(({ row }) => row));
    const xs = this.series.flatMap(({ points }) => points.map(([x]) => x));
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    const [low, high] = [x0, x1 > x0 ? x1 : x0 + 1];
    this.range = [low, high];
    const stacked = this.kind === "stack" ? stack(this.series) : null;
    const values = this.series.flatMap(({ points }) => points.flatMap(([, y, error = 0]) => [y - error, y + error]));
    let [bottom, top] = [this.zero || this.share ? 0 : Math.min(...values), this.share ? 1 : Math.max(...values)];
    if (top <= bottom) top = bottom + (Math.abs(bottom) * 0.1 || 1);
    if (!this.share) {
      const room = (top - bottom) * 0.06;
      top += room;
      if (!this.zero && bottom !== 0) bottom -= room;
    }
    const x = (value) => LEFT + ((value - low) / (high - low)) * (WIDTH - LEFT - RIGHT);
    const y = (value) => HEIGHT - BOTTOM - ((value - bottom) / (top - bottom)) * (HEIGHT - BOTTOM - TOP);
    const text = (at, words, more) =>
      svg("text", { x: at[0], y: at[1], fill: colours.soft, "font-size": 14, ...more }, words);
    const parts = [svg("rect", { width: WIDTH, height: HEIGHT, fill: colours.ground })];
    const across = ticks(bottom, top);
    const labels = this.share ? across.map((tick) => say(tick)) : tickLabels(across);
    for (const [index, tick] of across.entries()) {
      parts.push(
        svg("path", { d: `M${LEFT} ${y(tick).toFixed(1)}H${WIDTH - RIGHT}`, stroke: colours.rule, "stroke-width": 1 }),
      );
      parts.push(text([LEFT - 8, y(tick) + 4], labels[index], { "text-anchor": "end" }));
    }
    const along = ticks(low, high, 6).filter(Number.isInteger);
    for (const [index, label] of tickLabels(along).entries()) {
      parts.push(text([x(along[index]), HEIGHT - BOTTOM + 17], label, { "text-anchor": "middle" }));
    }
    parts.push(text([WIDTH - RIGHT, HEIGHT - 4], t("plot.generation"), { "text-anchor": "end", "font-size": 12 }));
    const colour = (index) =>
      this.series[index].colour?.[colours === PALETTES.dark ? 1 : 0] ??
      colours.series[(this.series[index].like ?? index) % colours.series.length];
    if (stacked) {
      for (const [index, { lower, upper }] of stacked.entries()) {
        const path = [...upper, ...lower.toReversed()]
          .map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`)
          .join("L");
        parts.push(svg("path", { d: `M${path}Z`, fill: colour(index), stroke: colours.ground, "stroke-width": 0.8 }));
      }
    } else {
      const edge = (points, sign) =>
        points.map(([px, py, error]) => `${x(px).toFixed(1)} ${y(py + sign * error).toFixed(1)}`);
      for (const [index, { points }] of this.series.entries()) {
        if (points[0].length < 3) continue;
        // A single point has a band too, as wide as its dot.
        const wide =
          points.length > 1
            ? points
            : [-4, 4].map((way) => [
                points[0][0] + (way / (WIDTH - LEFT - RIGHT)) * (high - low),
                ...points[0].slice(1),
              ]);
        parts.push(
          svg("path", {
            class: "band",
            d: `M${[...edge(wide, 1), ...edge(wide, -1).toReversed()].join("L")}Z`,
            fill: colour(index),
            opacity: 0.16,
          }),
        );
      }
      for (const [index, { points, dashed }] of this.series.entries()) {
        if (points.length === 1)
          parts.push(svg("circle", { cx: x(points[0][0]), cy: y(points[0][1]), r: 3, fill: colour(index) }));
        const path = points.map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join("L");
        parts.push(
          svg("path", {
            d: `M${path}`,
            fill: "none",
            stroke: colour(index),
            "stroke-width": 2,
            "stroke-linejoin": "round",
            "stroke-dasharray": dashed ? "5 4" : null,
          }),
        );
      }
    }
    for (const { index, words, along, row } of entries) {
      const down = 14 + row * LEGEND_ROW;
      if (index >= 0)
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
      parts.push(text([along + 16, down + 1], words, { fill: colours.ink }));
    }
    if (this.at !== null)
      parts.push(
        svg("path", {
          d: `M${x(this.at).toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}`,
          stroke: colours.ink,
          "stroke-width": 1,
          opacity: 0.5,
        }),
      );
    this.drawing.setAttribute(
      "aria-label",
      `${this.title}: ${this.series.map(({ name, points }) => `${name} ${say(...points.at(-1).slice(1))}`).join(", ")}`,
    );
    this.drawing.replaceChildren(...parts);
  }

  /** Names with the latest values, or the values under the pointer, and their places above the plot. */
  legend(say) {
    let [along, row] = [LEFT, 0];
    const entries = this.series.map(({ name, points }, index) => {
      const value =
        this.at === null
          ? points.at(-1)
          : points.reduce((best, point) => (Math.abs(point[0] - this.at) < Math.abs(best[0] - this.at) ? point : best));
      return { index, words: `${name} ${say(value[1], value[2])}`, x: value[0] };
    });
    if (this.at !== null) entries.push({ index: -1, words: t("plot.at", { n: Math.round(entries[0].x) }) });
    return entries.map((entry) => {
      const width = 28 + entry.words.length * 7.7;
      if (along > LEFT && along + width > WIDTH) [along, row] = [LEFT, row + 1];
      const placed = { ...entry, along, row };
      along += width;
      return placed;
    });
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
