// Dark or light: what the system says, until the person says otherwise.

import { make } from "./ask.js";
import { oneOf, read, write } from "./store.js";
import { t } from "./texts.js";

/** The button that changes over. */
export const button = make("button", { id: "theme", class: "quiet", type: "button", "aria-label": t("frame.theme") });
const dark = matchMedia("(prefers-color-scheme: dark)");

/** What the person has chosen, kept in this browser. */
let chosen = read("theme", oneOf(["dark", "light"]));

function show() {
  const theme = chosen ?? (dark.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  const [sign, word] = theme === "dark" ? ["☀", t("frame.light")] : ["☾", t("frame.dark")];
  const label = document.createElement("span");
  label.textContent = ` ${word}`;
  button.replaceChildren(sign, label);
  document.dispatchEvent(new Event("themechange"));
}

button.addEventListener("click", () => {
  chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  write("theme", chosen);
  show();
});
dark.addEventListener("change", show);
show();
