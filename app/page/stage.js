// A board on which a position stands and plies are played one after the other: for lessons and puzzles, behind which
// there is no game.

import { reveal } from "./ask.js";
import { Board } from "./board.js";
import { svg } from "./ink.js";

/** Between two plies that are played, in milliseconds. */
const PAUSE = 650;

const $ = (id) => document.getElementById(id);

/** Says what is wrong, or that nothing is any more. */
export function complain(message) {
  document.querySelector("main").removeAttribute("aria-busy");
  $("problem").textContent = message ?? "";
  $("problem").hidden = !message;
}

/** Says what a move did; `kind` colours it. */
export function say(text, kind = "") {
  $("status").textContent = text;
  $("status").dataset.kind = kind;
  reveal($("status"));
}

const rest = (milliseconds) =>
  new Promise((done) => {
    setTimeout(done, milliseconds);
  });

export class Stage {
  /** `onMove(from, to)` is called for a legal move. */
  constructor(root, { onMove, label }) {
    this.board = new Board(root, { label, onMove, onBuild: () => this.point() });
    this.root = root;
    this.goals = [];
    // What is shown replaces what is being played.
    this.number = 0;
  }

  /** Shows a position; `goals` are squares to point out, `hint` a piece. Nothing can be moved if `moves` is empty. */
  show(rules, { board, moves = {} }, { last = null, hint = null, goals = [] } = {}) {
    this.number++;
    this.rules = rules;
    this.goals = goals;
    this.put({ board, moves, last, hint: hint && { from: hint, to: hint } });
  }

  put(position) {
    this.board.show({ rules: this.rules, ...position });
    this.point();
  }

  point() {
    this.board.overlay("heat", () =>
      this.goals.map((name) => {
        const [x, y] = this.board.middle(name);
        return svg("circle", { class: "goal", cx: x, cy: y, r: 34 });
      }),
    );
  }

  /** Plays frames, the first at once; false if something else was shown meanwhile. */
  async play(frames, pause = PAUSE) {
    const number = ++this.number;
    for (const [index, { board, ply }] of frames.entries()) {
      if (index > 0) await rest(pause);
      if (number !== this.number) return false;
      this.put({ board, last: ply });
    }
    return true;
  }

  /** Waits; false if something else was shown meanwhile. */
  async wait(milliseconds = PAUSE) {
    const { number } = this;
    await rest(milliseconds);
    return number === this.number;
  }

  /** Says no. */
  shake() {
    this.root.classList.remove("shake");
    // The animation begins anew.
    void this.root.offsetWidth;
    this.root.classList.add("shake");
  }
}
