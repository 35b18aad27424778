// The choice of the language in the page's head.

import { make } from "./ask.js";
import { write } from "./store.js";
import { LANGUAGES, language, t } from "./texts.js";

/** Keeps the choice and loads the page anew. */
function choose(event) {
  write("language", event.target.value);
  location.reload();
}

const options = Object.entries(LANGUAGES).map(([code, name]) =>
  make("option", { value: code, lang: code, selected: code === language }, name),
);

/** The languages to choose from. */
export const choice = make("select", { id: "language", "aria-label": t("frame.language"), onchange: choose }, options);
