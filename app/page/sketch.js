// Arrows and rings that a person draws on the board with the right button of the mouse.

import { svg } from "./ink.js";
import { arrow } from "./overlays.js";

let drawn = [];
let begun = null;

/** Lets a person draw on a board; `onChange` shows it. */
export function sketchOn(board, root, onChange) {
  root.addEventListener("contextmenu", (event) => event.preventDefault());
  root.addEventListener("pointerdown", (event) => {
    if (event.button === 2) begun = board.under(event);
    else if (drawn.length > 0) {
      drawn = [];
      onChange();
    }
  });
  root.addEventListener("pointerup", (event) => {
    const to = event.button === 2 && begun ? board.under(event) : null;
    if (!to) return;
    const same = (one) => one.from === begun && one.to === to;
    drawn = drawn.some(same) ? drawn.filter((one) => !same(one)) : [...drawn, { from: begun, to }];
    begun = null;
    onChange();
  });
}

/** Another position: what was drawn belonged to the last one. */
export function wipe() {
  drawn = [];
}

/** What is drawn. */
export const sketches = (board) =>
  drawn.map((one) => {
    if (one.from !== one.to) return arrow(board, one, "sketch");
    const [cx, cy] = board.middle(one.from);
    return svg("circle", { class: "sketch-ring", cx, cy, r: 44 });
  });
