// Dark or light: what the system says, until the person says otherwise.

import { make } from "./ask.js";
import { t } from "./texts.js";

/** The button that changes over. */
export const button = make("button", { id: "theme", class: "quiet", type: "button", "aria-label": t("frame.theme") });
const dark = matchMedia("(prefers-color-scheme: dark)");

/** What the person has chosen, kept in this browser. */
let chosen = null;
try {
  chosen = localStorage.getItem("theme");
} catch {
  /* then nothing is chosen yet */
}

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
  try {
    localStorage.setItem("theme", chosen);
  } catch {
    /* the choice lasts as long as the page */
  }
  show();
});
dark.addEventListener("change", show);
show();
