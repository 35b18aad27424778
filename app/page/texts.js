// What the page says, in the language of whoever reads it. A language is one file in texts/, a flat object of keys. A
// value is a text with {places}, or an object of texts: by plural form where it has the key "other" (the number is
// `n`), else by `of`, such as a side or a reason.

import { oneOf, read } from "./store.js";

/** The languages, each in its own words. */
export const LANGUAGES = {
  en: "English",
  da: "Dansk",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  is: "Íslenska",
  sv: "Svenska",
};

/** What was chosen in this browser, else what the browser's languages say. */
function chosen() {
  const known = oneOf(Object.keys(LANGUAGES));
  const wanted = navigator.languages.map((tag) => tag.split("-")[0]);
  return read("language", known) ?? wanted.find(known) ?? "en";
}

/** The language that the page speaks, as a code. */
export const language = chosen();

const response = await fetch(new URL(`texts/${language}.json`, import.meta.url));
if (!response.ok) throw new Error(`texts/${language}.json: ${response.status}`);
const texts = Object.assign(Object.create(null), await response.json());
const plural = new Intl.PluralRules(language);
const numbers = new Intl.NumberFormat(language);
const shares = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });

/** A share of one in percent. */
export const percent = (share) => shares.format(share);

/** A number as the language writes it; nought has no sign. */
export const number = (value) => numbers.format(value + 0);

/** The text of a key, with values in its places; numbers are written as the language writes them. */
export function t(key, values = {}) {
  let text = texts[key];
  if (typeof text === "object") {
    text = "other" in text && "n" in values ? (text[plural.select(values.n)] ?? text.other) : text[values.of];
  }
  if (typeof text !== "string") return key;
  return text.replace(/\{(\w+)\}/g, (_, name) =>
    typeof values[name] === "number" ? number(values[name]) : values[name],
  );
}

/** Whether there is a text of this key. */
export const has = (key) => key in texts;

/** Writes the texts of what the HTML marks: `data-t` its text, `data-t-label` its label, `data-t-title` its title. */
function write() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of document.querySelectorAll("[data-t-label]"))
    element.setAttribute("aria-label", t(element.dataset.tLabel));
  for (const element of document.querySelectorAll("[data-t-title]")) element.title = t(element.dataset.tTitle);
}

write();
