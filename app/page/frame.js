// The head of every page: the pages, the language, dark or light.

import { ask, make, reveal } from "./ask.js";
import { choice } from "./language.js";
import { t } from "./texts.js";
import { button } from "./theme.js";

/** What can be chosen, as the board says it; asked once. */
export const setup = ask("/api/setup");

const frame = document.getElementById("frame");
const { page } = frame.dataset;

const link = (name, href, hidden = false) =>
  make("a", { href, id: `to-${name}`, hidden, "aria-current": name === page ? "page" : null }, t(`frame.${name}`));
const watch = link("training", "watch", page !== "training");

frame.append(
  make(
    "a",
    { class: "brand", href: "./" },
    make("img", { src: "assets/icon.svg", alt: "", width: 34, height: 34 }),
    make("span", {}, "Hnefi"),
  ),
  make(
    "nav",
    { "aria-label": t("frame.pages") },
    link("board", "./"),
    link("learn", "learn.html"),
    link("puzzles", "puzzles.html"),
    watch,
  ),
  choice,
  button,
);

// What a person opens is to be seen, once it is filled.
addEventListener(
  "toggle",
  ({ target }) => {
    if (target.open && target.contains(document.activeElement)) requestAnimationFrame(() => reveal(target));
  },
  true,
);

// Whoever needs the answer says what is wrong where there is none.
setup
  .then(({ runs }) => {
    if (runs.length > 0) watch.hidden = false;
  })
  .catch(() => {});
