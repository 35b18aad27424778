// The analysis panel: what the model thinks of the position, while it thinks.

import { make } from "./ask.js";
import { words } from "./chances.js";
import { act, page, redraw } from "./game.js";
import { playerSelect } from "./newgame.js";
import { short } from "./overlays.js";
import { percent, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
let parts = null;
let drawnFor = null;

/** Prepares the panel; opening it starts the analysis, closing it stops it. */
export function openAnalysis() {
  $("analysis-panel").addEventListener("toggle", () => {
    if (!page.state) return;
    const on = $("analysis-panel").open;
    if (on !== page.state.analysing && !(on && !usable())) act("analysis", { on });
    showAnalysis();
  });
}

/** Opens the panel and has the position analysed, whatever the panel was before. */
export function analyse() {
  $("analysis-panel").open = true;
  if (usable() && !page.state.analysing) act("analysis", { on: true });
}

/** Whether the adviser can analyse. */
const usable = () => page.state.adviser?.startsWith("model:");

function build() {
  const { state } = page;
  const key = `${state.id}${state.rules.name}${state.adviser}`;
  if (key === drawnFor) return;
  drawnFor = key;
  const select = playerSelect(
    t("analysis.who"),
    state.rules.name,
    state.adviser,
    (player) => act("analysis", { on: true, player }),
    true,
  );
  if (!usable()) select.prepend(make("option", { value: "", selected: true, disabled: true }, t("analysis.choose")));
  const toggle = (name, label) =>
    make(
      "label",
      { class: "check" },
      make("input", {
        type: "checkbox",
        name,
        checked: page.shown[name],
        onchange: (event) => {
          page.shown[name] = event.target.checked;
          redraw();
        },
      }),
      label,
    );
  parts = {
    note: make("p", { class: "note" }),
    run: make("button", {
      type: "button",
      id: "analyse",
      onclick: () => act("analysis", { on: !page.state.analysing }),
    }),
    numbers: make("p", { class: "numbers", id: "analysis-numbers" }),
    table: make("table", { class: "best-moves", id: "best-moves" }),
    line: make("p", { class: "line" }),
  };
  $("analysis").replaceChildren(
    make("div", { class: "analysis-head" }, select, parts.run),
    make(
      "div",
      { class: "checks" },
      toggle("arrows", t("analysis.best")),
      toggle("heat", t("analysis.policy")),
      toggle("after", t("analysis.final")),
    ),
    parts.note,
    parts.numbers,
    parts.table,
    parts.line,
  );
}

export function showAnalysis() {
  const { state, report } = page;
  if (!state || !$("analysis-panel").open) return;
  build();
  parts.run.textContent = t(state.analysing ? "analysis.stop" : "analysis.start");
  parts.run.disabled = !usable();
  const known = { rules: "", board: t("analysis.board"), other: t("analysis.other") };
  const fitting = usable() ? known[state.adviser_fit] : t("analysis.none");
  parts.note.textContent = state.ending ? t("analysis.over") : fitting;
  parts.note.hidden = !parts.note.textContent;
  const shown = report?.kind === "analysis" ? report : null;
  parts.table.hidden = !shown;
  parts.line.hidden = !shown;
  if (!shown) {
    parts.numbers.textContent = state.analysing && !state.ending ? t("analysis.begins") : "";
    return;
  }
  const chances = [words(shown.chances), shown.certain && `(${certain(shown.certain)})`].filter(Boolean).join(" ");
  const facts = [t("analysis.depth", { chances, playouts: short(shown.playouts), depth: shown.depth })];
  if (shown.seconds > 0) facts.push(t("analysis.rate", { rate: short(Math.round(shown.evaluations / shown.seconds)) }));
  if (shown.plies_left !== null) facts.push(t("analysis.left", { n: shown.plies_left }));
  if (shown.displaced) facts.push(t("analysis.displaced"));
  else if (shown.finished) facts.push(t("analysis.finished"));
  parts.numbers.textContent = facts.join(" · ");
  const row = (mv) =>
    make(
      "tr",
      {
        tabindex: "0",
        onclick: () => playThat(mv),
        onkeydown: (event) => {
          if (event.key === "Enter") playThat(mv);
        },
      },
      make("th", { scope: "row" }, mv.text),
      make("td", {}, mv.certain ? certain(mv.certain) : mv.score === null ? "–" : percent(mv.score)),
      make("td", {}, short(mv.visits)),
      make("td", {}, percent(mv.prior)),
      bar(mv.share),
    );
  const focused = [...parts.table.querySelectorAll("tr")].indexOf(document.activeElement);
  parts.table.replaceChildren(
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        ["move", "score", "visits", "policy", "share"].map((name) =>
          make("th", { scope: "col" }, t(`analysis.${name}`)),
        ),
      ),
    ),
    make("tbody", {}, shown.moves.map(row)),
  );
  if (focused > 0) parts.table.querySelectorAll("tr")[focused]?.focus();
  parts.line.textContent = shown.line.length > 0 ? t("analysis.expected", { line: shown.line.join(" ") }) : "";
}

/** A certain result. */
const certain = ({ result, plies }) => t(`certain.${result}`, { plies });

function bar(share) {
  const inner = make("i", {});
  inner.style.width = `${Math.round(share * 100)}%`;
  return make("td", { class: "share" }, inner);
}

function playThat(mv) {
  if (page.state.your_turn) act("move", { move: mv.from + mv.to, stamp: page.state.stamp });
}
