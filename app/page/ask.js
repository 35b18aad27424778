// Talking to the board, wherever it is, and the small things that every part of the page needs.

import * as store from "./store.js";
import { has, t } from "./texts.js";
import { send } from "./transport.js";

/** What the board says is wrong, in the page's language: `key` and `values` of a text, or `error` in English. */
export const problemWords = ({ key, values, error }) => (key && has(key) ? t(key, values) : error);

/** Sends a request and gives its answer; an error carries the board's words. */
export async function ask(path, { method = "GET", body } = {}) {
  const { status, text } = await send(method, path, body === undefined ? undefined : JSON.stringify(body));
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    answer = { error: t("frame.noAnswer", { status }) };
  }
  if (status >= 400) {
    const error = new Error(problemWords(answer) ?? t("frame.noAnswer", { status }));
    error.status = status;
    throw error;
  }
  return answer;
}

/** Saves what a path answers under a name. */
export async function save(path, name) {
  const { status, text } = await send("GET", path);
  if (status >= 400) throw new Error(problemWords(JSON.parse(text)));
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export const post = (path, body = {}) => ask(path, { method: "POST", body });

/** An element with attributes, listeners (on…) and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A button. */
export const button = (label, onclick, attributes = {}) =>
  make("button", { type: "button", onclick, ...attributes }, label);

/** Whether a key is the page's, and no dialog's, field's, menu's or browser's. */
export const isOurs = ({ target, ctrlKey, metaKey, altKey }) =>
  !(ctrlKey || metaKey || altKey || document.querySelector("dialog[open]")) &&
  !target.closest("input, textarea, select, [role=menu]");

/** Presses the button that a key stands for; `keys` has the ids of buttons by keys. */
export function pressByKey(event, keys) {
  const pressed = isOurs(event) && document.getElementById(keys[event.key]);
  if (!pressed || pressed.hidden || pressed.disabled) return;
  pressed.click();
  event.preventDefault();
}

/** Scrolls as little as shows an element, below a board that keeps its place. */
export const reveal = (element) => element?.scrollIntoView({ block: "nearest" });

/** Ticks a box as it was left in this browser, else as usual, and notes what becomes of it. */
export function rememberBox(box, name, usual) {
  box.checked = store.read(name, store.flag, usual);
  box.addEventListener("change", () => store.write(name, box.checked));
}

/** Fills a dialog with a heading, a body and a row of buttons, and opens it. */
export function dialog(element, title, body, buttons = []) {
  const heading = make("h2", { id: element.getAttribute("aria-labelledby") }, title);
  const close = button("✕", () => element.close(), { class: "quiet close", "aria-label": t("frame.close") });
  const problem = make("p", { class: "problem", role: "alert", hidden: true });
  element.replaceChildren(
    make("div", { class: "dialog-head" }, heading, close),
    body,
    problem,
    make("div", { class: "buttons end" }, buttons),
  );
  element.addEventListener("close", () => element.replaceChildren(), { once: true });
  if (!element.open) element.showModal();
  return (message) => {
    problem.textContent = message ?? "";
    problem.hidden = !message;
  };
}

/** Asks whether something is meant; `no` and `yes` are the words and the ids of the buttons. */
export function confirm(title, words, no, yes, work) {
  const element = document.getElementById("ask-dialog");
  const choice = ([label, id], done, attributes) =>
    button(
      label,
      () => {
        element.close();
        done();
      },
      { id, ...attributes },
    );
  dialog(element, title, make("p", {}, words), [choice(no, () => {}), choice(yes, work, { class: "main" })]);
}

/** Makes of work what a button does: `tell` (of `dialog`) says what went wrong. */
export const guard = (tell) => (work) => async () => {
  try {
    tell(null);
    await work();
  } catch (error) {
    tell(error.message);
  }
};
