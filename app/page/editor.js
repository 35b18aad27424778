// Setting up a position by hand. The server decides whether it can stand.

import { lookAt } from "./analysis.js";
import { button, dialog, guard, make, reveal } from "./ask.js";
import { Board } from "./board.js";
import { enter, page } from "./state.js";
import { svg } from "./ink.js";
import { newGame, options } from "./newgame.js";
import { piece } from "./pieces.js";
import { keepRules, lookUp } from "./rulesets.js";
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

/** The boards that there are. */
const SIDES = Array.from({ length: 15 }, (_, index) => 5 + index);

export function editPosition() {
  const { setup, state } = page;
  let { rules, board: text } = state;
  const all = [...setup.rules];
  if (!all.some(({ name }) => name === rules.name)) all.unshift(rules);
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

  const show = () => {
    size.value = rules.side;
    // The rules of another board are none of the list's.
    if (!all.some(({ name }) => name === rules.name)) {
      all.push(rules);
      select.append(item(rules));
    }
    select.value = rules.name;
    board.show({ rules, board: text });
  };
  const guarded = guard((message) => complain(message));
  const picture = (letter) =>
    svg("svg", { viewBox: "-50 -50 100 100", class: "mini", "aria-hidden": "true" }, piece(letter, 1));
  const item = (known) => make("option", { value: known.name, selected: known.name === rules.name }, rulesTitle(known));
  const select = make(
    "select",
    {
      "aria-label": t("edit.rules"),
      onchange: (event) => {
        rules = all.find((known) => known.name === event.target.value);
        if (text.length !== rules.start.length) text = rules.start;
        show();
      },
    },
    all.map(item),
  );
  const size = make(
    "select",
    {
      "aria-label": t("edit.size"),
      name: "size",
      onchange: guarded(async () => {
        ({ rules } = await lookUp(rules.name, { side: Number(size.value) }));
        text = rules.start;
        show();
      }),
    },
    SIDES.map((side) => make("option", { value: side }, `${side}×${side}`)),
  );
  const brushes = [
    ["a", picture("a"), t("edit.attacker")],
    ["d", picture("d"), t("edit.defender")],
    ["k", picture("k"), t("edit.king")],
    [".", t("edit.empty")],
  ];
  const choose = (letter) => {
    brush = letter;
  };
  const movers = [
    ["attackers", t("edit.attackersMove")],
    ["defenders", t("edit.defendersMove")],
  ];
  const turn = (side) => {
    toMove = side;
  };
  const fill = (label, made) =>
    button(label, () => {
      text = made();
      show();
    });

  const fenOf = () => `${rows(text, rules.side)} ${toMove[0]}`;

  /** The rules of a game that begins as it is drawn. */
  const drawn = () => lookUp(rules.name, { start: fenOf() });

  const play = guarded(async () => {
    const found = await drawn();
    keepRules(found);
    $("edit-dialog").close();
    await newGame(found.rules.name);
  });

  const copy = guarded(async () => {
    const { record } = await drawn();
    said.textContent = record;
    said.parentElement.hidden = false;
    reveal(said);
    await navigator.clipboard.writeText(record).catch(() => {
      throw new Error(t("frame.noCopy"));
    });
  });
  const said = make("code", { id: "edit-said" });

  async function use() {
    const fen = fenOf();
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
    make("div", { class: "selects" }, select, size),
    make("div", { class: "tabs" }, options("brush", brushes, brush, choose)),
    root,
    make("div", { class: "tabs" }, options("mover", movers, toMove, turn)),
    make("p", { class: "fen", hidden: true }, said),
  );
  complain = dialog($("edit-dialog"), t("edit.title"), body, [
    fill(t("edit.clear"), () => ".".repeat(rules.side * rules.side)),
    fill(t("edit.start"), () => rules.start),
    button(t("new.recordCopy"), copy, { id: "edit-record" }),
    button(t("edit.play"), play, { id: "edit-play" }),
    button(t("edit.use"), use, { class: "main", id: "edit-use" }),
  ]);
  show();
}
