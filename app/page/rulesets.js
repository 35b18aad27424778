// Rules beside the presets: published ones, and those that a person has pasted or drawn. The board reads them; this
// browser keeps one's own with the names that they were given.

import { post } from "./ask.js";
import * as store from "./store.js";

const KEPT = "rulesets";
/** One's own rules that are kept, the latest first. */
const MOST = 20;

const ownRules = store.listOf(store.fields({ name: store.text, title: store.text }), MOST);

/** What the board has said of rules, by their names. */
const known = new Map();

/** One's own rules: `{name, title}`, where `name` is a record without a name and `title` what they are called. */
export const own = () => store.read(KEPT, ownRules, []);

/** What one's own rules are called; empty where they have no name. */
export const ownTitle = (name) => own().find((one) => one.name === name)?.title ?? "";

/** What a rules record calls itself. */
const titleIn = (text) => /(?:^|\s)name:(\S*)/.exec(text)?.[1].replaceAll("_", " ").slice(0, 60) ?? "";

/**
 * Asks the board about rules, by a name or a record, on another board (`side`) or with another start (a FEN): `{rules,
 * record, opponent, known_by}`.
 */
export async function lookUp(text, changed = {}) {
  const found = await post("/api/rules", { rules: text.trim(), ...changed });
  known.set(found.rules.name, found);
  return found;
}

/** What is known of rules that were asked about; nothing of others. */
export const lookedUp = (name) => known.get(name);

/** Keeps rules for the next time, the latest first. */
export function keepRules({ rules, record }, text = "") {
  if (rules.name !== record) return;
  const title = titleIn(text) || ownTitle(rules.name);
  const others = own().filter(({ name }) => name !== rules.name);
  store.write(KEPT, [{ name: rules.name, title }, ...others].slice(0, MOST));
}
