// What is pressed on a page, what that changes and whether it can be seen. `presses.rs` runs it in the page.

/** Whether a person sees an element: within the window, as much of it as there is room for, and uncovered. */
const isSeen = (element) => {
  const box = element.getBoundingClientRect();
  const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
  if (!element.checkVisibility() || box.height === 0 || bottom - top < Math.min(box.height - 2, 120)) return false;
  if (box.height < innerHeight / 2 && (box.top < -2 || box.bottom > innerHeight + 2)) return false;
  const found = document.elementFromPoint((box.left + box.right) / 2, (top + bottom) / 2);
  return Boolean(found) && (element.contains(found) || found.contains(element));
};

/** What a person would see of the elements of a selector. */
const look = (selector) =>
  JSON.stringify(
    [...document.querySelectorAll(selector)].map((element) => {
      const boxes = [element, ...element.querySelectorAll("input")].map(({ checked }) => checked);
      return element.checkVisibility() && [element.outerHTML, boxes];
    }),
  );

/** What can be pressed: not the squares of boards, which are moves, and nothing behind a dialog. */
const pressable = () => {
  const shade = document.querySelector("dialog[open], .menu");
  const all = [...document.querySelectorAll("button, summary, input[type=checkbox], input[type=radio]")];
  return all.filter(
    (element) =>
      element.checkVisibility() &&
      !element.disabled &&
      !element.closest(".squares") &&
      (!shade || shade.contains(element)),
  );
};

/** What can be pressed and fits none of the selectors. */
const undeclared = (known) =>
  pressable()
    .filter((element) => !known.some((selector) => element.matches(selector)))
    .map((element) => element.outerHTML.slice(0, 160));

/** The selector of what is to be gone, written `!selector`. */
const goneOf = (target) => (target.startsWith("!") ? target.slice(1) : null);

let before = {};

/**
 * Brings into view what fits this selector and none before it, marks it, and notes what `targets` look like; false
 * where there is nothing. Of radio buttons it takes one that is not chosen.
 */
const choose = (selectors, selector, targets) => {
  const fits = (element) => selectors.find((one) => element.matches(one)) === selector;
  const found = pressable().find((element) => fits(element) && !(element.type === "radio" && element.checked));
  if (!found) return false;
  const place = found.closest("label") ?? found;
  place.setAttribute("data-pressed", "");
  place.scrollIntoView({ block: "nearest" });
  const there = targets.filter((target) => !goneOf(target));
  before = Object.fromEntries(there.map((target) => [target, look(target)]));
  return true;
};

/** The targets that have not changed. */
const unchanged = (targets) =>
  targets.filter((target) =>
    goneOf(target) ? document.querySelector(goneOf(target)) : look(target) === before[target],
  );

/** The targets that cannot be seen, with their place. */
const unseen = (targets) =>
  targets
    .filter((target) => !goneOf(target) && ![...document.querySelectorAll(target)].some(isSeen))
    .map((target) => {
      const box = document.querySelector(target)?.getBoundingClientRect();
      return `${target} lies at ${Math.round(box?.top)} to ${Math.round(box?.bottom)} of ${innerHeight}`;
    });

Object.assign(window, { undeclared, choose, unchanged, unseen });
