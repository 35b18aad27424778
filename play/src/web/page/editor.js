// Setting up a position by hand. The server decides whether it can stand.

import { lookAt } from "./analysis.js";
import { dialog, make } from "./ask.js";
import { Board } from "./board.js";
import { enter, page } from "./game.js";
import { svg } from "./ink.js";
import { option } from "./newgame.js";
import { piece } from "./pieces.js";
import { rulesTitle } from "./saying.js";
import { t } from "./texts.js";
import { place } from "./wood.js";

const $ = (id) => document.getElementById(id);

/** The board part of a FEN. */
export function rows(text, side) {
  const lines = [];
  for (let rank = side - 1; rank >= 0; rank--) {
    lines.push(text.slice(rank * side, (rank + 1) * side).replace(/\.+/g, (empty) => String(empty.length)));
  }
  return lines.join("/");
}

export function editPosition() {
  const { setup, state } = page;
  let rules = setup.rules.find((known) => known.name === state.rules.name) ?? setup.rules[0];
  let text = state.rules.side === rules.side ? state.board : rules.start;
  let brush = "a";
  let toMove = state.to_move;
  let complain = () => {};
  const root = make("div", { class: "board small" });
  const board = new Board(root, { label: t("edit.board"), onSquare: paint });

  function paint(name) {
    const [file, rank] = place(name);
    const at = rank * rules.side + file;
    const letter = text[at] === brush ? "." : brush;
    const cleared = letter === "k" ? text.replace("k", ".") : text;
    text = cleared.slice(0, at) + letter + cleared.slice(at + 1);
    show();
  }

  const show = () => board.show({ rules, board: text });
  const picture = (letter) =>
    svg("svg", { viewBox: "-50 -50 100 100", class: "mini", "aria-hidden": "true" }, piece(letter, 1));
  const select = make(
    "select",
    {
      "aria-label": t("edit.rules"),
      onchange: (event) => {
        rules = setup.rules.find((known) => known.name === event.target.value);
        if (text.length !== rules.start.length) text = rules.start;
        show();
      },
    },
    setup.rules.map((known) => make("option", { value: known.name, selected: known === rules }, rulesTitle(known))),
  );
  const brushes = [
    ["a", t("edit.attacker")],
    ["d", t("edit.defender")],
    ["k", t("edit.king")],
    [".", t("edit.empty")],
  ].map(([letter, label]) =>
    option(
      "brush",
      letter,
      letter === brush,
      () => {
        brush = letter;
      },
      letter === "." ? "" : picture(letter),
      label,
    ),
  );
  const movers = [
    ["attackers", t("edit.attackersMove")],
    ["defenders", t("edit.defendersMove")],
  ].map(([side, label]) =>
    option(
      "mover",
      side,
      side === toMove,
      () => {
        toMove = side;
      },
      label,
    ),
  );
  const fill = (label, made) =>
    make(
      "button",
      {
        type: "button",
        onclick: () => {
          text = made();
          show();
        },
      },
      label,
    );

  async function use() {
    const fen = `${rows(text, rules.side)} ${toMove[0]}`;
    try {
      await enter("/api/games/open", { text: { text: fen, rules: rules.name } });
      $("edit-dialog").close();
      lookAt();
    } catch (error) {
      complain(error.message);
    }
  }

  const body = make(
    "div",
    { class: "editor" },
    select,
    make("div", { class: "tabs" }, brushes),
    root,
    make("div", { class: "tabs" }, movers),
  );
  complain = dialog($("edit-dialog"), t("edit.title"), body, [
    fill(t("edit.clear"), () => ".".repeat(rules.side * rules.side)),
    fill(t("edit.start"), () => rules.start),
    make("button", { type: "button", class: "main", id: "edit-use", onclick: use }, t("edit.use")),
  ]);
  show();
}
