// What this browser keeps for the page: the only place that reads and writes its storage.
//
// Anything may lie there: what an earlier version wrote, another page of this host, or a person's own hand. So every
// key begins alike, whoever reads says what shape a value must have, and what has another shape is as good as absent.
// Names that come from there are keys of a `Map` or of the storage, never of a plain object.

const PREFIX = "hnefi.";

/** The storage that lasts, or that of this tab; null where the browser gives none. */
function area(tab) {
  try {
    return tab ? sessionStorage : localStorage;
  } catch {
    return null;
  }
}

/** What is kept under a key, if `shape` makes something of it; else `usual`. */
export function read(key, shape, usual = null, { tab = false } = {}) {
  try {
    const text = area(tab)?.getItem(PREFIX + key);
    return text ? (shape(JSON.parse(text)) ?? usual) : usual;
  } catch {
    return usual;
  }
}

/** Keeps a value; false where there is no room or no storage: then it lasts as long as the page. */
export function write(key, value, { tab = false } = {}) {
  try {
    area(tab).setItem(PREFIX + key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** Forgets a value. */
export function forget(key) {
  try {
    area(false)?.removeItem(PREFIX + key);
  } catch {
    /* there was nothing to forget */
  }
}

/** The keys that begin so, without this beginning. */
export function keys(beginning) {
  try {
    const whole = PREFIX + beginning;
    return Object.keys(area(false) ?? {})
      .filter((key) => key.startsWith(whole))
      .map((key) => key.slice(whole.length));
  } catch {
    return [];
  }
}

// Shapes: functions of anything, which give it back, or `undefined` where it is something else.

export const text = (value) => (typeof value === "string" && value.length <= 1000 ? value : undefined);
export const flag = (value) => (typeof value === "boolean" ? value : undefined);
/** A whole number from `least` to `most`. */
export const whole = (least, most) => (value) =>
  Number.isInteger(value) && value >= least && value <= most ? value : undefined;
/** A number from `least` to `most`. */
export const between = (least, most) => (value) =>
  Number.isFinite(value) && value >= least && value <= most ? value : undefined;
export const oneOf = (known) => (value) => (known.includes(value) ? value : undefined);
/** Nothing, or something of this shape. */
export const perhaps = (shape) => (value) => (value === null || value === undefined ? null : shape(value));
/** The members of a list that have this shape, at most `most`. */
export const listOf =
  (shape, most = 10000) =>
  (value) =>
    Array.isArray(value)
      ? value
          .slice(0, most)
          .map((one) => shape(one))
          .filter((one) => one !== undefined)
      : undefined;
/** A pair. */
export const pairOf = (shape) => (value) => {
  const both = Array.isArray(value) && value.length === 2 ? value.map(shape) : [undefined];
  return both.includes(undefined) ? undefined : both;
};
/** An object with these fields and no others. */
export const fields = (shapes) => (value) => {
  if (typeof value !== "object" || value === null) return undefined;
  const found = {};
  for (const [name, shape] of Object.entries(shapes)) {
    found[name] = shape(Object.hasOwn(value, name) ? value[name] : undefined);
    if (found[name] === undefined) return undefined;
  }
  return found;
};
/** A shape of which anything else is taken for `usual`. */
export const or = (shape, usual) => (value) => shape(value) ?? usual;
/** An object as it is, for the board to look at. */
export const object = (value) => (typeof value === "object" && value !== null ? value : undefined);
/** Pairs of a text and something of this shape, as a `Map`. */
export const mapOf = (shape) => (value) => {
  const pairs = listOf((pair) => (Array.isArray(pair) && text(pair[0]) !== undefined ? pair : undefined))(value);
  return (
    pairs && new Map(pairs.map(([name, inner]) => [name, shape(inner)]).filter(([, inner]) => inner !== undefined))
  );
};
