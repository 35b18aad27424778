// The analysis panel: what the model thinks of the position, while it thinks.

import { make, reveal } from "./ask.js";
import { meaning, words } from "./chances.js";
import { unbroken } from "./saying.js";
import { act, page, redraw } from "./state.js";
import { playerSelect } from "./newgame.js";
import { short } from "./overlays.js";
import { percent, t } from "./texts.js";

const $ = (id) => document.getElementById(id);

/** How long the table rests after a press, in milliseconds: a finger's click comes a little after it has gone. */
const LINGER = 100;

let parts = null;
let drawnFor = null;
/** Whether a move of the table is being pressed. Meanwhile the table stands still, or the press would be lost. */
let pressed = false;
let timer = 0;

/** Prepares the panel; opening it starts the analysis, closing it stops it. */
export function openAnalysis() {
  $("analysis-panel").addEventListener("toggle", () => {
    if (!page.state) return;
    follow();
    showAnalysis();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    addEventListener(name, () => {
      if (pressed) timer = setTimeout(release, LINGER);
    });
  }
}

/** Has the analysis begun or stopped as the panel is open or not, until it was not turned while the board answered. */
async function follow() {
  const on = $("analysis-panel").open;
  if (on === page.state.analysing || (on && !usable())) return;
  await act("analysis", { on });
  if ($("analysis-panel").open !== on) await follow();
}

/** The table goes on after a press. */
function release() {
  pressed = false;
  showAnalysis();
}

/** Opens the panel and has the position analysed, whatever the panel was before. */
export async function analyse() {
  $("analysis-panel").open = true;
  if (usable() && !page.state.analysing) await act("analysis", { on: true });
}

/** The same for a person who asked for the position. */
export async function lookAt() {
  await analyse();
  reveal($("analysis-panel"));
}

/** Whether the adviser can analyse. */
const usable = () => page.state.adviser?.startsWith("model:");

function build() {
  const { state } = page;
  const key = `${state.id}${state.rules.name}`;
  if (key === drawnFor) return;
  drawnFor = key;
  const select = playerSelect(
    t("analysis.who"),
    state.rules.name,
    state.adviser,
    (player) => act("analysis", { on: true, player }),
    true,
  );
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
    adviser: undefined,
    select,
    choose: make("option", { value: "", disabled: true }, t("analysis.choose")),
    note: make("p", { class: "note" }),
    run: make("button", {
      type: "button",
      id: "analyse",
      onclick: () => act("analysis", { on: !page.state.analysing }),
    }),
    numbers: make("p", { class: "numbers", id: "analysis-numbers" }),
    table: make("table", { class: "best-moves", id: "best-moves", tabindex: "-1" }),
    rows: make("tbody", {
      onpointerdown: ({ button }) => {
        clearTimeout(timer);
        pressed = button === 0;
      },
      onclick: playThat,
      onkeydown: (event) => {
        if (event.key === "Enter") playThat(event);
      },
    }),
    stamp: null,
    line: make("p", { class: "line" }),
  };
  const head = ["move", "score", "visits", "policy", "share"].map((name) =>
    make("th", { scope: "col" }, t(`analysis.${name}`)),
  );
  parts.table.append(make("thead", {}, make("tr", {}, head)), parts.rows);
  parts.tools = make("div", { class: "analysis-head" }, select, parts.run);
  parts.checks = make(
    "div",
    { class: "checks" },
    toggle("arrows", t("analysis.best")),
    toggle("heat", t("analysis.policy")),
    toggle("after", t("analysis.final")),
  );
  $("analysis").replaceChildren(
    parts.tools,
    parts.checks,
    parts.note,
    parts.numbers,
    parts.table,
    parts.line,
    usable() ? make("p", { class: "note" }, meaning(state.rules, page.setup.starts)) : "",
  );
}

export function showAnalysis() {
  const { state, report } = page;
  if (!state || !$("analysis-panel").open) return;
  build();
  showAdviser();
  parts.run.textContent = t(state.analysing ? "analysis.stop" : "analysis.start");
  parts.run.disabled = !usable();
  const known = { rules: "", board: t("analysis.board"), other: t("analysis.other") };
  const fitting = usable() ? known[state.adviser_fit] : t("analysis.none");
  // Where there is nobody to choose, nothing is there but the reason.
  const isBare = !usable() && !parts.select.querySelector("optgroup");
  parts.tools.hidden = isBare;
  parts.checks.hidden = isBare;
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
  if (!pressed) showRows(shown);
  const line = shown.line.length > 0 ? t("analysis.expected", { line: shown.line.join(" ") }) : "";
  parts.line.replaceChildren(...unbroken(line));
}

/** Who analyses, in the list to choose from. The list stays, so that who has come to it by keys stays there. */
function showAdviser() {
  const { adviser } = page.state;
  if (parts.adviser === adviser) return;
  parts.adviser = adviser;
  if (usable()) parts.choose.remove();
  else parts.select.prepend(parts.choose);
  parts.select.value = usable() ? adviser : "";
}

/** The moves of a report. A row stays its move's, so that who has come to it by keys plays that move and no other. */
function showRows({ moves, stamp }) {
  const { rows, table } = parts;
  parts.stamp = stamp;
  const focused = rows.contains(document.activeElement) ? document.activeElement : null;
  const known = new Map([...rows.children].map((row) => [row.dataset.move, row]));
  for (const [at, mv] of moves.entries()) {
    const key = mv.from + mv.to;
    const row = known.get(key) ?? make("tr", { tabindex: "0", "data-move": key });
    row.replaceChildren(
      make("th", { scope: "row" }, mv.text),
      make("td", {}, mv.certain ? certain(mv.certain) : mv.score === null ? "–" : percent(mv.score)),
      make("td", {}, short(mv.visits)),
      make("td", {}, percent(mv.prior)),
      bar(mv.share),
    );
    if (rows.children[at] !== row) rows.insertBefore(row, rows.children[at] ?? null);
  }
  while (rows.children.length > moves.length) rows.lastElementChild.remove();
  // A row that has changed its place has lost the focus, and one that is gone must not leave it to another move.
  if (focused && document.activeElement !== focused) (focused.isConnected ? focused : table).focus();
}

/** A certain result. */
const certain = ({ result, plies }) => t(`certain.${result}`, { plies });

function bar(share) {
  const inner = make("i", {});
  inner.style.width = `${Math.round(share * 100)}%`;
  return make("td", { class: "share" }, inner);
}

/** Plays the move of a row, in the position that it was found for. */
function playThat({ target }) {
  const move = target.closest("[data-move]")?.dataset.move;
  if (move && page.state.your_turn) act("move", { move, stamp: parts.stamp });
}
