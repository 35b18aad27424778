// The board as a person meets it: pieces that are clicked, dragged or moved by keys, on a drawn board.
//
// The drawing is an SVG without meaning for screen readers; over it lies a grid of buttons, one a square, with labels.
// Which moves are legal is told by the server; here they are only looked up.

import { make } from "./ask.js";
import { svg } from "./ink.js";
import { piece, pieceName } from "./pieces.js";
import { t } from "./texts.js";
import { measures, place, squareName, wood } from "./wood.js";

const DRAG_BEGINS = 6;
/** A board that is less wide, in pixels, has a slim frame. */
const SLIM = 480;
/** A finger hits no smaller square for sure, in pixels: then a lens shows what lies under it. */
const FINEST = 26;
/** The lens: squares along its edge, and its width in pixels. */
const [LENS, LENS_WIDTH] = [5, 150];
let drawings = 0;

/** A picture of a position for which there is nothing to press. */
export function picture(rules, board = rules.start) {
  const { frame, total } = measures(rules.side, true);
  const pieces = [...board].map((letter, index) => {
    if (letter === ".") return null;
    const [x, y] = [index % rules.side, rules.side - 1 - Math.floor(index / rules.side)].map(
      (at) => frame + at * 100 + 50,
    );
    return svg("g", { transform: `translate(${x} ${y})` }, piece(letter, index + 1));
  });
  return svg(
    "svg",
    { viewBox: `0 0 ${total} ${total}`, "aria-hidden": "true", class: "drawing" },
    wood(rules, false, true),
    pieces.filter(Boolean),
  );
}

export class Board {
  /**
   * `onMove(from, to)` is called for a legal move, `onSquare(name)` for any square pressed when painting, `onBuild()`
   * when its size has changed, and with it what lies over it.
   */
  constructor(root, { onMove, onSquare, onBuild, steps = false, label = t("board.board") } = {}) {
    Object.assign(this, { root, onMove, onSquare, onBuild, steps, label });
    this.pieces = new Map();
    this.moves = {};
    this.ahead = {};
    this.text = "";
    this.selected = null;
    this.flipped = false;
    this.seed = 1;
    this.shown = null;
    new ResizeObserver(() => {
      if (!this.shown) return;
      if (this.isSlim() !== this.slim) this.show(...this.shown);
      this.root.classList.toggle("fine", this.isFine());
      this.onBuild?.();
    }).observe(root);
  }

  isSlim() {
    const { clientWidth } = this.root;
    return clientWidth > 0 && clientWidth < SLIM;
  }

  /**
   * Draws a position. `moves` are the legal ones by origin, `ahead` what may be chosen before one's turn; `marks` name
   * squares to point out.
   */
  show({ rules, board, moves = {}, ahead = {}, last = null, hint = null, over = false }, flipped = this.flipped) {
    this.shown = [{ rules, board, moves, ahead, last, hint, over }, flipped];
    const slim = this.isSlim();
    const key = `${JSON.stringify(rules)}${flipped}${slim}`;
    if (key !== this.key) {
      Object.assign(this, { key, rules, flipped, slim });
      this.build();
    }
    const changed = board !== this.text;
    this.moves = moves;
    this.ahead = ahead;
    this.over = over;
    if (this.selected && !this.targets(this.selected)) this.select(null);
    if (changed) {
      this.cancelDrag();
      this.movePieces(board, last);
      this.select(null);
    }
    this.mark(last, hint);
    this.labels();
  }

  /** The middle of a square, in the drawing's units. */
  middle(name) {
    const [file, rank] = place(name);
    const { side } = this.rules;
    const { frame } = measures(side, this.slim);
    const [x, y] = this.flipped ? [side - 1 - file, rank] : [file, side - 1 - rank];
    return [frame + x * 100 + 50, frame + y * 100 + 50];
  }

  /** Where a piece may go, now or when the turn comes; nothing for what is no movable piece. */
  targets(name) {
    return this.moves[name] ?? this.ahead[name];
  }

  /** Pixels of the screen that a square takes. */
  square() {
    const { side } = this.rules;
    return (this.drawing.getBoundingClientRect().width / measures(side, this.slim).total) * 100;
  }

  /** Whether a finger may miss a square. */
  isFine() {
    const width = this.square();
    return width > 0 && width < FINEST;
  }

  /** Draws a layer over the board: nothing while the board has no width, and letters on it no size. */
  overlay(layer, draw) {
    this.layers[layer].replaceChildren(...(this.square() > 0 ? draw() : []));
  }

  letter(name) {
    const [file, rank] = place(name);
    return this.text[rank * this.rules.side + file] ?? ".";
  }

  build() {
    const { side } = this.rules;
    const { frame, total } = measures(side, this.slim);
    this.layers = {};
    for (const name of ["marks", "heat", "targets", "pieces", "over"]) {
      this.layers[name] = svg("g", { class: name });
    }
    this.id = `drawing-${++drawings}`;
    this.drawing = svg(
      "svg",
      { viewBox: `0 0 ${total} ${total}`, "aria-hidden": "true", class: "drawing" },
      svg(
        "g",
        { id: this.id },
        wood(this.rules, this.flipped, this.slim),
        this.layers.marks,
        this.layers.heat,
        this.layers.targets,
        this.layers.pieces,
        this.layers.over,
      ),
    );
    this.lens = make("div", { class: "lens", hidden: true, "aria-hidden": "true" });
    this.grid = make("div", { class: "squares", role: "grid", "aria-label": this.label });
    const share = (part) => `${(part / total) * 100}%`;
    Object.assign(this.grid.style, {
      left: share(frame),
      top: share(frame),
      width: share(side * 100),
      height: share(side * 100),
    });
    this.buttons = new Map();
    for (let row = 0; row < side; row++) {
      const line = make("div", { role: "row" });
      for (let column = 0; column < side; column++) {
        const [file, rank] = this.flipped ? [side - 1 - column, row] : [column, side - 1 - row];
        const name = squareName(file, rank);
        const button = make("button", { type: "button", role: "gridcell", tabindex: "-1", "data-square": name });
        this.buttons.set(name, button);
        line.append(button);
      }
      this.grid.append(line);
    }
    this.grid.addEventListener("keydown", (event) => this.key_(event));
    this.grid.addEventListener("pointerdown", (event) => {
      this.pressed = true;
      this.down(event);
    });
    this.grid.addEventListener("focusin", (event) => {
      this.pressed = event.target.matches(":active");
    });
    this.grid.addEventListener("pointermove", (event) => this.drag(event));
    this.grid.addEventListener("pointerup", (event) => this.up(event));
    this.grid.addEventListener("pointercancel", () => this.cancelDrag());
    // Screen readers press buttons without a pointer.
    this.grid.addEventListener("click", (event) => {
      if (event.detail === 0 && event.target.dataset.square) this.press(event.target.dataset.square);
    });
    const { pressed } = this;
    const focused = this.root.contains(document.activeElement);
    this.root.replaceChildren(this.drawing, this.grid, this.lens);
    this.root.classList.toggle("fine", this.isFine());
    this.pieces.clear();
    this.text = "";
    this.selected = null;
    const middle = squareName(Math.floor(side / 2), Math.floor(side / 2));
    this.cursor = this.cursor && this.buttons.has(this.cursor) ? this.cursor : (this.rules.thrones[0] ?? middle);
    this.buttons.get(this.cursor).tabIndex = 0;
    // Whoever stood on a square stands on it again, and goes on by keys as before.
    if (focused) this.buttons.get(this.cursor).focus({ preventScroll: true });
    this.pressed = pressed;
  }

  /** Brings the pieces to their places: who stands stays, who went elsewhere glides, the rest come and go. */
  movePieces(board, last) {
    const { side } = this.rules;
    const fresh = this.text === "";
    const before = new Map(this.pieces);
    const wanted = [];
    const arrived = new Map();
    for (const [index, letter] of [...board].entries()) {
      if (letter === ".") continue;
      const name = squareName(index % side, Math.floor(index / side));
      const stands = before.get(name);
      if (stands?.letter === letter) before.delete(name);
      else wanted.push({ name, letter });
    }
    const near = (a, b) => {
      const [[ax, ay], [bx, by]] = [place(a), place(b)];
      return (ax === bx || ay === by ? 0 : 100) + Math.abs(ax - bx) + Math.abs(ay - by);
    };
    // The latest move first, so that its piece is not taken for another.
    wanted.sort((a, b) => (b.name === last?.to) - (a.name === last?.to));
    for (const { name, letter } of wanted) {
      const candidates = [...before].filter(([, man]) => man.letter === letter);
      candidates.sort(([a], [b]) => (b === last?.from) - (a === last?.from) || near(a, name) - near(b, name));
      const found = candidates[0];
      let man;
      if (found) {
        before.delete(found[0]);
        this.pieces.delete(found[0]);
        man = found[1];
      } else {
        man = { letter, element: piece(letter, this.seed++) };
        if (!fresh) man.element.classList.add("arriving");
        this.layers.pieces.append(man.element);
      }
      arrived.set(name, man);
    }
    for (const [name, man] of before) {
      this.pieces.delete(name);
      man.element.classList.add("falling");
      setTimeout(() => man.element.remove(), 420);
    }
    for (const [name, man] of arrived) this.pieces.set(name, man);
    for (const [name, man] of this.pieces) this.put(man, name);
    this.text = board;
  }

  put(man, name) {
    const [x, y] = this.middle(name);
    man.element.style.transform = `translate(${x}px, ${y}px)`;
    if (man.at !== name) this.layers.pieces.append(man.element);
    man.at = name;
  }

  mark(last, hint) {
    const marks = [];
    const square = (name, kind) => {
      const [x, y] = this.middle(name);
      return svg("rect", { class: kind, x: x - 47, y: y - 47, width: 94, height: 94, rx: 9 });
    };
    if (last) {
      marks.push(square(last.from, "last-from"), square(last.to, "last-to"));
      for (const name of last.captured) {
        const [x, y] = this.middle(name);
        marks.push(
          svg("path", {
            class: "captured",
            d: `M${x - 16} ${y - 16}L${x + 16} ${y + 16}M${x + 16} ${y - 16}L${x - 16} ${y + 16}`,
          }),
        );
      }
    }
    if (hint) marks.push(square(hint.from, "hint"), square(hint.to, "hint"));
    this.layers.marks.replaceChildren(...marks);
  }

  labels() {
    for (const [name, button] of this.buttons) {
      const letter = this.letter(name);
      const words = [name];
      for (const [kind, word] of [
        ["thrones", "throne"],
        ["corners", "corner"],
        ["attacker_forts", "attackerFort"],
        ["defender_forts", "defenderFort"],
      ])
        if (this.rules[kind].includes(name)) words.push(t(`square.${word}`));
      words.push(letter === "." ? t("square.empty") : pieceName(letter));
      if (this.selected && this.targets(this.selected)?.includes(name)) words.push(t("square.target"));
      else if (this.moves[name]) words.push(t("square.movable"));
      if (this.selected === name) words.push(t("square.chosen"));
      button.setAttribute("aria-label", words.join(", "));
      button.setAttribute("aria-selected", String(this.selected === name));
      button.classList.toggle("reachable", Boolean(this.selected && this.targets(this.selected)?.includes(name)));
      button.classList.toggle("movable", Boolean(this.moves[name]) || Boolean(this.onSquare));
    }
  }

  select(name) {
    if (this.selected === name) return;
    this.selected = name;
    const targets = name ? (this.targets(name) ?? []) : [];
    const marks = targets.map((to) => {
      const [x, y] = this.middle(to);
      return svg("circle", { class: "target", cx: x, cy: y, r: 13 });
    });
    if (name) {
      const [x, y] = this.middle(name);
      marks.unshift(svg("rect", { class: "chosen", x: x - 47, y: y - 47, width: 94, height: 94, rx: 9 }));
    }
    this.layers.targets.replaceChildren(...marks);
    this.labels();
  }

  /** A square was pressed, by whatever means. */
  press(name) {
    this.focusOn(name, false);
    if (this.onSquare) return this.onSquare(name);
    if (this.selected && this.targets(this.selected)?.includes(name)) return this.move(this.selected, name);
    this.select(this.targets(name) && this.selected !== name ? name : null);
  }

  move(from, to) {
    this.select(null);
    this.onMove?.(from, to);
  }

  focusOn(name, focus = true) {
    this.buttons.get(this.cursor)?.setAttribute("tabindex", "-1");
    this.cursor = name;
    const button = this.buttons.get(name);
    button.tabIndex = 0;
    if (focus) button.focus();
  }

  key_(event) {
    const name = event.target.dataset?.square;
    if (!name || event.altKey || event.ctrlKey || event.metaKey) return;
    // Whoever has pressed a square with the mouse did not mean to walk about from there.
    if (this.steps && this.pressed && event.key.startsWith("Arrow")) return;
    const { side } = this.rules;
    const [file, rank] = place(name);
    const way = this.flipped ? -1 : 1;
    const steps = { ArrowLeft: [-way, 0], ArrowRight: [way, 0], ArrowUp: [0, way], ArrowDown: [0, -way] };
    if (steps[event.key]) {
      const clamp = (number) => Math.min(side - 1, Math.max(0, number));
      this.focusOn(squareName(clamp(file + steps[event.key][0]), clamp(rank + steps[event.key][1])));
    } else if (event.key === "Enter" || event.key === " ") {
      this.press(name);
    } else if (event.key === "Escape" && this.selected) {
      this.select(null);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** The square under a pointer. */
  under({ clientX, clientY }) {
    const box = this.grid.getBoundingClientRect();
    const { side } = this.rules;
    const [column, row] = [clientX - box.left, clientY - box.top].map((at, axis) =>
      Math.floor((at / (axis ? box.height : box.width)) * side),
    );
    if (column < 0 || row < 0 || column >= side || row >= side) return null;
    const [file, rank] = this.flipped ? [side - 1 - column, row] : [column, side - 1 - row];
    return squareName(file, rank);
  }

  down(event) {
    if (event.button !== 0) return;
    const name = this.under(event);
    if (!name) return;
    this.cancelDrag();
    if (event.pointerType !== "mouse" && this.isFine()) {
      this.looking = event.pointerId;
      this.grid.setPointerCapture(event.pointerId);
      return this.look(event);
    }
    // A finger that goes on to scroll the page has chosen no target.
    if (event.pointerType !== "mouse" && this.selected && this.targets(this.selected)?.includes(name)) {
      this.touched = { name, id: event.pointerId };
      return;
    }
    if (this.onSquare || !this.targets(name)) {
      this.press(name);
      return;
    }
    const again = this.selected === name;
    this.focusOn(name, false);
    this.select(name);
    this.held = { name, again, x: event.clientX, y: event.clientY, id: event.pointerId, man: this.pieces.get(name) };
    this.grid.setPointerCapture(event.pointerId);
  }

  /** Shows in the lens what lies under the finger, beside it; what is there when it is lifted is pressed. */
  look(event) {
    const name = this.under(event);
    this.lens.hidden = !name;
    if (!name) return;
    const [x, y] = this.middle(name);
    const around = LENS * 50;
    const box = this.root.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    const above = event.clientY > LENS_WIDTH + 50;
    this.lens.style.left = `${Math.min(Math.max(left - LENS_WIDTH / 2, 0), box.width - LENS_WIDTH)}px`;
    this.lens.style.top = `${above ? top - LENS_WIDTH - 45 : top + 45}px`;
    this.lens.dataset.shows = name;
    this.lens.replaceChildren(
      make("b", {}, name),
      svg(
        "svg",
        { viewBox: `${x - around} ${y - around} ${2 * around} ${2 * around}` },
        svg("use", { href: `#${this.id}` }),
        svg("rect", { class: "under", x: x - 48, y: y - 48, width: 96, height: 96, rx: 10 }),
      ),
    );
  }

  drag(event) {
    if (this.looking === event.pointerId) return this.look(event);
    const { held } = this;
    if (!held || held.id !== event.pointerId) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.moving && Math.hypot(dx, dy) < DRAG_BEGINS) return;
    held.moving = true;
    const scale = 100 / this.square();
    const [x, y] = this.middle(held.name);
    held.man.element.classList.add("held");
    held.man.element.style.transform = `translate(${x + dx * scale}px, ${y + dy * scale}px)`;
  }

  up(event) {
    if (this.looking === event.pointerId) {
      const name = this.under(event);
      this.cancelDrag();
      return name && this.press(name);
    }
    const { held, touched } = this;
    const to = this.under(event);
    if (touched?.id === event.pointerId) {
      this.touched = null;
      return touched.name === to && this.press(to);
    }
    if (!held || held.id !== event.pointerId) return;
    this.cancelDrag();
    if (to && to !== held.name && this.targets(held.name)?.includes(to)) this.move(held.name, to);
    else if (!held.moving && held.again) this.select(null);
  }

  cancelDrag() {
    this.looking = null;
    this.touched = null;
    this.lens.hidden = true;
    const { held } = this;
    this.held = null;
    if (!held?.man) return;
    held.man.element.classList.remove("held");
    if (held.moving) this.put(held.man, held.name);
  }
}
