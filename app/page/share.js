// Giving a text away: to the clipboard, or to whatever the device shares with.

import { make } from "./ask.js";
import { t } from "./texts.js";

/** A button that copies what `words()` gives, and says so. */
export function copying(id, key, words, complain) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(words());
      button.textContent = t("frame.copied");
      setTimeout(() => button.replaceChildren(t(key)), 1500);
    } catch {
      complain(t("frame.noCopy"));
    }
  };
  const button = make("button", { type: "button", id, onclick: copy }, t(key));
  return button;
}

/** A button that shares it, where the device can. */
export function sharing(id, key, words) {
  if (!navigator.share) return null;
  // Whoever closes the device's own dialog has changed their mind.
  const share = () => navigator.share({ text: words() }).catch(() => {});
  return make("button", { type: "button", id, onclick: share }, t(key));
}
