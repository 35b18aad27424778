// The dialog for a new game: rules, seat, opponent and strength.

import { button, dialog, guard, make, reveal } from "./ask.js";
import { picture } from "./board.js";
import { startOf } from "./kept.js";
import { complain, enter, page } from "./state.js";
import { advice, atLevel, ownLevel } from "./level.js";
import { keepRules, lookUp, lookedUp, own } from "./rulesets.js";
import { goalOfBoth, playerName, rulesTitle } from "./saying.js";
import { copying } from "./share.js";
import { t } from "./texts.js";

let choice = null;

/** The choice at first: the game that the page began with. */
function firstChoice({ rules, attackers, defenders }) {
  const seat = [
    ["watch", "defenders"],
    ["attackers", "both"],
  ][Number(!attackers.player)][Number(!defenders.player)];
  const { player, strength } = attackers.player ? attackers : defenders;
  const level = ownLevel();
  const [[kind, amount]] = Object.entries(strength ?? { level });
  return { rules, seat, player, kind, clock: "", level, playouts: 200, seconds: 2, [kind]: amount };
}

/** A radio button that looks like a card or a tab. */
export function option(name, value, checked, onchange, ...content) {
  const input = make("input", { type: "radio", name, value, checked, onchange });
  return make("label", { class: "option" }, input, make("span", {}, ...content));
}

/** Such buttons for `[value, label…]`, of which one is chosen. */
export const options = (name, choices, chosen, choose) =>
  choices.map(([value, ...content]) => option(name, value, value === chosen, () => choose(value), ...content));

/** Alpha-beta stands in the list once: its levels say how far it looks. */
const SEARCH = "alphabeta:2";
/** The levels at which it looks so many plies ahead and plays no other move. */
const LEVELS_OF_DEPTH = { 1: 4, 2: 6, 3: 7, 4: 8 };

const isSearch = (id) => id.startsWith("alphabeta:");

/** Whether a player was trained on these rules. */
const knows = (player, rules) =>
  player.rulesets.includes(rules) || Boolean(lookedUp(rules)?.known_by.includes(player.id));

/** Who plays by these rules where nobody is chosen. */
export const opponentOf = (rules) =>
  Object.hasOwn(page.setup.opponents, rules) ? page.setup.opponents[rules] : lookedUp(rules)?.opponent;

/** The rules of this name, as the board describes them. */
const described = (name) => page.setup.rules.find((rules) => rules.name === name) ?? lookedUp(name)?.rules;

/** Whether some network was trained on a board of this size: others do not see it. */
function isSeen(rules) {
  const trained = page.setup.players.flatMap((player) => player.rulesets);
  const sides = page.setup.rules.filter(({ name }) => trained.includes(name)).map(({ side }) => side);
  return sides.includes(described(rules)?.side ?? page.state?.rules.side);
}

/** The players to choose from; who knows the rules comes first. `label` is what the choice is called. */
export function playerSelect(label, rules, chosen, onchange, modelsOnly = false) {
  const players = page.setup.players.filter(
    ({ id, is_model }) => (is_model || !modelsOnly) && (!isSearch(id) || id === SEARCH),
  );
  const group = (label, members) =>
    members.length === 0
      ? null
      : make(
          "optgroup",
          { label },
          members.map((player) =>
            make("option", { value: player.id, selected: player.id === chosen }, called(player, rules)),
          ),
        );
  return make(
    "select",
    { name: "player", "aria-label": label, onchange: (event) => onchange(event.target.value) },
    [
      group(
        t("player.named"),
        players.filter((player) => player.id === "opponent"),
      ),
      group(
        t("player.fitting"),
        players.filter((player) => player.is_model && knows(player, rules)),
      ),
      group(
        t("player.plain"),
        players.filter((player) => !player.is_model && player.id !== "opponent"),
      ),
      group(
        t("player.other"),
        players.filter((player) => player.is_model && !knows(player, rules) && isSeen(rules)),
      ),
    ].filter(Boolean),
  );
}

/** A player's name, with its Elo under these rules where it is measured. */
function called(player, rules) {
  if (isSearch(player.id)) return t("player.search");
  const elo = page.setup.elo[rules]?.[player.id];
  return elo ? t("player.withElo", { name: playerName(player), elo: tens(elo[0]) }) : playerName(player);
}

/** An Elo as precise as it is. */
const tens = (elo) => 10 * Math.round(elo / 10);

/** The presets have texts of their own, and cards; other published rulesets a title. */
const isPreset = (rules) => page.setup.rules.some(({ name, title }) => name === rules && !title);

/** What presets share that differ in little. */
const family = ({ name }) => name.split("-")[0];

/** Times to choose from: seconds, and seconds that every move brings. */
const CLOCKS = [
  [60, 1],
  [180, 2],
  [300, 3],
  [600, 5],
  [1800, 20],
];

/** Opens the dialog, for a game by these rules where they are given. */
export async function newGame(rules = null) {
  const { setup, state } = page;
  choice ??= { ...firstChoice(atLevel(setup.first)), rules: state?.rules.name ?? setup.first.rules };
  choice.rules = rules ?? choice.rules;
  // Rules of one's own may be those of another visit.
  if (!described(choice.rules)) {
    await lookUp(choice.rules).catch(() => {
      choice.rules = setup.first.rules;
    });
  }
  choice.level = state?.seats.find((seat) => seat.strength?.level)?.strength.level ?? choice.level;
  const form = make("form", {
    class: "choices",
    onsubmit: (event) => {
      event.preventDefault();
      start();
    },
  });
  let complain = () => {};

  const usable = () => {
    const kept = setup.players.find((player) => player.id === choice.player);
    if (kept && isSearch(kept.id) && kept.id !== SEARCH) choice.level = LEVELS_OF_DEPTH[kept.id.split(":")[1]];
    if (kept && isSearch(kept.id)) return SEARCH;
    if (kept && (!kept.is_model || knows(kept, choice.rules))) return kept.id;
    return opponentOf(choice.rules);
  };

  /** Chooses rules; the network that plays them, where one does, is the opponent again. */
  function chooseRules(name) {
    if (isSearch(choice.player)) choice.player = null;
    choice.rules = name;
    draw();
  }

  function draw() {
    choice.player = usable();
    const opponent = setup.players.find((player) => player.id === choice.player);
    const card = (name, isChosen) => (rules) =>
      option(
        name,
        rules.name,
        isChosen(rules),
        () => chooseRules(rules.name),
        make("b", {}, rulesTitle(rules)),
        make("small", {}, t(`about.${rules.name}`)),
      );
    const presets = setup.rules.filter(({ name }) => isPreset(name));
    const isOther = !isPreset(choice.rules);
    const isFamily = (rules) => !isOther && family(rules) === family({ name: choice.rules });
    const variants = presets.filter(isFamily);
    const families = presets.filter(
      (rules, index) => presets.findIndex((other) => family(other) === family(rules)) === index,
    );
    // The small boards are the quick ones.
    const cards = families.sort((a, b) => a.side - b.side).map(card("rules", isFamily));
    const others = option(
      "rules",
      "other",
      isOther,
      () => chooseRules(setup.rules.find(({ title }) => title).name),
      make("b", {}, t("new.other")),
      make("small", {}, t("new.otherAbout")),
    );
    const seats = [
      ["attackers", t("side", { of: "attackers" })],
      ["defenders", t("side", { of: "defenders" })],
      ["both", t("new.both")],
      ["watch", t("new.watch")],
    ];
    const change = (what) => (value) => {
      choice[what] = value;
      draw();
    };
    const parts = [
      make("fieldset", {}, make("legend", {}, t("new.rules")), make("div", { class: "cards" }, cards, others)),
      isOther ? otherRules() : null,
      variants.length > 1
        ? make(
            "fieldset",
            {},
            make("legend", {}, t("new.variant")),
            make("div", { class: "cards" }, variants.map(card("variant", ({ name }) => name === choice.rules))),
          )
        : null,
      make(
        "fieldset",
        {},
        make("legend", {}, t("new.youPlay")),
        make("div", { class: "tabs" }, options("seat", seats, choice.seat, change("seat"))),
      ),
    ];
    if (choice.seat !== "both") {
      parts.push(
        make(
          "fieldset",
          {},
          make("legend", {}, t(choice.seat === "watch" ? "new.players" : "new.against")),
          playerSelect(
            t(choice.seat === "watch" ? "new.players" : "new.opponent"),
            choice.rules,
            choice.player,
            change("player"),
          ),
        ),
      );
      if (opponent.is_model || isSearch(opponent.id)) parts.push(strength(isSearch(opponent.id)));
    }
    const clocks = [null, ...CLOCKS].map((clock) =>
      make(
        "option",
        { value: clock?.join("+") ?? "", selected: (clock?.join("+") ?? "") === choice.clock },
        clock ? t("new.clockIs", { minutes: clock[0] / 60, seconds: clock[1] }) : t("new.noClock"),
      ),
    );
    parts.push(
      make(
        "fieldset",
        {},
        make("legend", {}, t("new.clock")),
        make(
          "select",
          {
            "aria-label": t("new.clock"),
            name: "clock",
            onchange: (event) => {
              choice.clock = event.target.value;
            },
          },
          clocks,
        ),
      ),
    );
    const focused = form.contains(document.activeElement);
    const { name, type, value } = focused ? document.activeElement : {};
    form.replaceChildren(...parts.filter(Boolean), make("button", { type: "submit", hidden: true }));
    // Of radio buttons several have one name; a list has it alone.
    if (name) form.querySelector(type === "radio" ? `[name="${name}"][value="${value}"]` : `[name="${name}"]`)?.focus();
    if (focused && !form.contains(document.activeElement))
      (form.querySelector("[name=other]") ?? form.querySelector("input:checked")).focus();
    if (name === "rules")
      reveal(form.querySelector("[name=variant]")?.closest("fieldset") ?? form.querySelector("[name=other]"));
  }

  /** The published rulesets that are no presets, one's own, and a field for a record. */
  function otherRules() {
    const rules = described(choice.rules);
    const titled = setup.rules.filter(({ title }) => title).sort((a, b) => a.side - b.side);
    const mine = own();
    if (![...titled, ...mine].some(({ name }) => name === choice.rules))
      mine.unshift({ name: choice.rules, title: rulesTitle(rules) });
    const group = (label, list, words) =>
      make(
        "optgroup",
        { label },
        list.map((one) => make("option", { value: one.name, selected: one.name === choice.rules }, words(one))),
      );
    const sideOf = (name) => Number(/dim:(\d+)/.exec(name)?.[1]);
    const take = async (text) => {
      const found = await lookUp(text);
      keepRules(found, text);
      chooseRules(found.rules.name);
      reveal(form.querySelector("[name=other]"));
    };
    const guarded = guard((message) => complain(message));
    const select = make(
      "select",
      {
        name: "other",
        "aria-label": t("new.other"),
        onchange: (event) => guarded(() => take(event.target.value))(),
      },
      group(t("new.published"), titled, rulesTitle),
      mine.length > 0
        ? group(t("new.own"), mine, ({ name, title }) => rulesTitle({ name, title, side: sideOf(name) }))
        : [],
    );
    const field = make("textarea", { id: "record", rows: 3, spellcheck: "false", "aria-label": t("new.record") });
    field.placeholder = "dim:13 esc:e start:/…/";
    const count = (letter) => [...rules.start].filter((found) => found === letter).length;
    const pieces = t("new.pieces", { attackers: count("a"), defenders: count("d") });
    const isOwn = !titled.some(({ name }) => name === choice.rules);
    return make(
      "fieldset",
      {},
      make("legend", {}, t("new.other")),
      make(
        "div",
        { class: "other" },
        select,
        picture(rules),
        make("p", {}, pieces, " ", goalOfBoth(rules)),
        make(
          "details",
          { class: "panel" },
          make("summary", {}, t("new.record")),
          make("p", { class: "note" }, t("new.recordAbout")),
          field,
          button(
            t("new.recordTake"),
            guarded(() => take(field.value)),
            { id: "record-take" },
          ),
        ),
        untrained(isOwn),
      ),
    );
  }

  /** What there is to say where no network was trained on the rules. */
  function untrained(isOwn) {
    if (setup.players.some((player) => knows(player, choice.rules))) return null;
    const plays = t(isSearch(opponentOf(choice.rules)) ? "new.untrained" : "new.untrainedLike");
    const record = lookedUp(choice.rules)?.record ?? choice.rules;
    return make(
      "div",
      { class: "train note" },
      `${plays} ${t(isOwn ? "new.trainOwn" : "new.train")}`,
      make("pre", {}, `hnefi train --config any --rules ${isOwn ? "rules.txt" : choice.rules}`),
      isOwn
        ? copying(
            "record-copy",
            "new.recordCopy",
            () => record,
            (message) => complain(message),
          )
        : null,
    );
  }

  function strength(alone) {
    if (alone) choice.kind = "level";
    const kinds = [
      ["level", t("new.level")],
      ["playouts", t("new.playouts")],
      ["seconds", t("new.time")],
    ];
    const chooseKind = (kind) => {
      choice.kind = kind;
      draw();
    };
    const output = make("output", {});
    // The levels are measured with the network that is shipped for the rules.
    const measured = choice.player === opponentOf(choice.rules) && choice.player.startsWith("model:shipped/");
    let input;
    if (choice.kind === "level") {
      const say = () => {
        output.textContent = levelWords();
      };
      const levelWords = () => {
        const values = { n: choice.level, name: t(`level.${choice.level}`) };
        const elo = measured && setup.elo[choice.rules]?.[`level:${choice.level}`];
        return elo ? t("new.levelElo", { ...values, elo: tens(elo[0]) }) : t("new.levelIs", values);
      };
      input = make("input", {
        type: "range",
        min: 1,
        max: setup.levels.length,
        value: choice.level,
        "aria-label": t("new.level"),
        oninput: (event) => {
          choice.level = Number(event.target.value);
          say();
        },
      });
      say();
    } else {
      const [limits, words] =
        choice.kind === "playouts"
          ? [{ min: 1, max: 20000 }, t("new.playoutsMove")]
          : [{ min: 0.05, max: 60, step: "any" }, t("new.secondsMove")];
      const oninput = (event) => {
        choice[choice.kind] = Number(event.target.value);
      };
      const value = choice[choice.kind];
      input = make("input", { type: "number", ...limits, value, required: true, "aria-label": words, oninput });
      output.textContent = words;
    }
    return make(
      "fieldset",
      {},
      make("legend", {}, t("new.strength")),
      alone ? null : make("div", { class: "tabs" }, options("kind", kinds, choice.kind, chooseKind)),
      make("div", { class: "amount" }, input, output),
      measured && setup.elo[choice.rules] ? make("p", { class: "note" }, t("new.elo")) : null,
    );
  }

  async function start() {
    if (!form.reportValidity()) return;
    const seat = { player: choice.player, strength: { [choice.kind]: choice[choice.kind] } };
    const seats = {
      attackers: { attackers: {}, defenders: seat },
      defenders: { attackers: seat, defenders: {} },
      both: { attackers: {}, defenders: {} },
      watch: { attackers: seat, defenders: seat },
    }[choice.seat];
    try {
      const [seconds, increment] = choice.clock.split("+").map(Number);
      await enter("/api/games", { rules: choice.rules, ...seats, clock: seconds ? { seconds, increment } : null });
      document.getElementById("new-dialog").close();
    } catch (error) {
      complain(error.message);
    }
  }

  async function again(swap) {
    try {
      await enter(`/api/games/${page.state.id}/again`, { swap });
      document.getElementById("new-dialog").close();
    } catch (error) {
      complain(error.message);
    }
  }

  draw();
  const buttons = [button(t("new.begin"), start, { class: "main", id: "start" })];
  if (state && !state.source && state.seats.some((seat) => !seat.person)) {
    buttons.unshift(button(t("new.again"), () => again(false)));
    if (state.seats.some((seat) => seat.person)) buttons.unshift(button(t("new.swapped"), () => again(true)));
  }
  complain = dialog(document.getElementById("new-dialog"), t("new.title"), form, buttons);
  form.querySelector("input:checked").focus({ preventScroll: true });
}

/** Suggests another level after a game, where another one suits better. */
export function advise() {
  const { state } = page;
  const row = document.getElementById("advice");
  const found = advice(state, page.setup.levels.length);
  row.hidden = !found;
  if (!found) return row.replaceChildren();
  const { level, won } = found;
  const seat = ({ person, player, strength }) => (person ? {} : { player, strength });
  const [attackers, defenders] = state.seats.map(seat);
  const begin = async () => {
    try {
      const clock = state.clock && { seconds: state.clock.seconds, increment: state.clock.increment };
      const asked = { rules: state.rules.name, attackers, defenders, fen: await startOf(state.id), clock };
      await enter("/api/games", atLevel(asked, level));
    } catch (error) {
      complain(error.message);
    }
  };
  const words = t(won ? "advice.won" : "advice.lost", { n: level, name: t(`level.${level}`) });
  row.replaceChildren(button(words, begin, { class: "main", id: "other-level" }));
}
