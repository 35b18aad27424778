// The menu of a move: what is done with it and with all that follows.

import { button, confirm, dialog, make } from "./ask.js";
import { act, complain, page } from "./state.js";
import { isMain, lineTo, moveName, movesFrom } from "./moves.js";
import { t } from "./texts.js";

/** The longest comment, as the board has it. */
const LONGEST = 4000;

let menu = null;
let returns = null;

/** Closes the menu; the focus goes back to where it came from. */
function close(focus = true) {
  if (!menu) return;
  menu.remove();
  menu = null;
  if (!focus) return;
  // The list may have been drawn anew meanwhile.
  const { place } = returns.dataset;
  const again = place && document.querySelector(`#moves [data-place="${place}"]`);
  (again || (returns.isConnected ? returns : document.getElementById("move-menu"))).focus();
}

/** Opens the menu of a place at an element. */
export function openMenu(place, at) {
  close(false);
  const main = isMain(place);
  const work = [
    main ? null : ["promote", () => act("promote", { place })],
    main ? null : ["main", () => act("promote", { place, main: true })],
    ["comment", () => comment(place)],
    place === 0 ? null : ["copy", () => copy(place)],
    place === 0 ? null : ["remove", () => remove(place)],
  ].filter(Boolean);
  const texts = {
    promote: t("moves.promote"),
    main: t("moves.main"),
    comment: t("moves.comment"),
    copy: t("moves.copy"),
    remove: t("moves.remove"),
  };
  const item = ([name, done]) => {
    const onclick = () => {
      close();
      done();
    };
    return button(texts[name], onclick, { role: "menuitem", tabindex: "-1", "data-do": name });
  };
  const label = t("moves.of", { move: moveName(place) });
  menu = make("div", { class: "menu", role: "menu", "aria-label": label }, work.map(item));
  returns = at;
  // Within a landmark, where screen readers look for content.
  document.querySelector("main").append(menu);
  const [box, { offsetWidth: width, offsetHeight: height }] = [at.getBoundingClientRect(), menu];
  const top = box.bottom + height + 4 <= innerHeight ? box.bottom + 4 : Math.max(4, box.top - height - 4);
  menu.style.left = `${Math.max(4, Math.min(box.left, innerWidth - width - 4))}px`;
  menu.style.top = `${top}px`;
  menu.addEventListener("keydown", key);
  menu.firstElementChild.focus();
}

function key(event) {
  const items = [...menu.children];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
  if (to !== undefined) items[to % items.length].focus();
  else if (event.key === "Escape" || event.key === "Tab") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

document.addEventListener("pointerdown", (event) => {
  if (menu && !menu.contains(event.target)) close(false);
});
addEventListener("resize", () => close(false));

/** A dialog with a field for what is to be said of a move. */
function comment(place) {
  const element = document.getElementById("ask-dialog");
  const field = make("textarea", { rows: 5, maxlength: LONGEST, "aria-label": t("moves.commentField") });
  field.value = page.state.tree.comments[place] ?? "";
  const save = () => {
    element.close();
    act("comment", { place, text: field.value });
  };
  dialog(element, t("moves.commentOf", { move: moveName(place) }), make("div", {}, field), [
    button(t("moves.save"), save, { class: "main", id: "comment-save" }),
  ]);
  field.focus();
}

async function copy(place) {
  try {
    await navigator.clipboard.writeText(lineTo(place));
  } catch {
    complain(t("frame.noCopy"));
  }
}

/** Removes a move with what follows; more than one only when that is meant. */
function remove(place) {
  const n = movesFrom(place);
  const gone = () => act("remove", { place });
  if (n === 1) return gone();
  const [no, yes] = [t("moves.keep"), t("moves.remove")];
  confirm(yes, t("moves.removeSure", { n }), [no, "keep-moves"], [yes, "remove-now"], gone);
}
