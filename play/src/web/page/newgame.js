// The dialog for a new game: rules, seat, opponent and strength.

import { dialog, make, post, reveal } from "./ask.js";
import { complain, enter, page, take } from "./game.js";
import { advice, atLevel, ownLevel } from "./level.js";
import { playerName, rulesTitle } from "./saying.js";
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

/** The players to choose from; who knows the rules comes first. `label` is what the choice is called. */
export function playerSelect(label, rules, chosen, onchange, modelsOnly = false) {
  const players = page.setup.players.filter((player) => player.is_model || !modelsOnly);
  const knows = (player) => player.rulesets.includes(rules);
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
        players.filter((player) => player.is_model && knows(player)),
      ),
      group(
        t("player.plain"),
        players.filter((player) => !player.is_model && player.id !== "opponent"),
      ),
      group(
        t("player.other"),
        players.filter((player) => player.is_model && !knows(player)),
      ),
    ].filter(Boolean),
  );
}

/** A player's name, with its Elo under these rules where it is measured. */
function called(player, rules) {
  const elo = page.setup.elo[rules]?.[player.id];
  return elo ? t("player.withElo", { name: playerName(player), elo: tens(elo[0]) }) : playerName(player);
}

/** An Elo as precise as it is. */
const tens = (elo) => 10 * Math.round(elo / 10);

/** What rulesets share that differ in little. */
const family = ({ name }) => name.split("-")[0];

/** Times to choose from: seconds, and seconds that every move brings. */
const CLOCKS = [
  [60, 1],
  [180, 2],
  [300, 3],
  [600, 5],
  [1800, 20],
];

export function newGame() {
  const { setup, state } = page;
  choice ??= { ...firstChoice(atLevel(setup.first)), rules: state?.rules.name ?? setup.first.rules };
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
    if (kept && (!kept.is_model || kept.rulesets.includes(choice.rules))) return kept.id;
    return setup.opponents[choice.rules];
  };

  function draw() {
    choice.player = usable();
    const opponent = setup.players.find((player) => player.id === choice.player);
    const card = (name, isChosen) => (rules) =>
      option(
        name,
        rules.name,
        isChosen(rules),
        () => {
          choice.rules = rules.name;
          draw();
        },
        make("b", {}, rulesTitle(rules)),
        make("small", {}, t(`about.${rules.name}`)),
      );
    const variants = setup.rules.filter((rules) => family(rules) === family({ name: choice.rules }));
    const families = setup.rules.filter(
      (rules, index) => setup.rules.findIndex((other) => family(other) === family(rules)) === index,
    );
    // The small boards are the quick ones.
    const cards = families
      .sort((a, b) => a.side - b.side)
      .map(card("rules", (rules) => family(rules) === family({ name: choice.rules })));
    const seats = [
      ["attackers", t("side", { of: "attackers" })],
      ["defenders", t("side", { of: "defenders" })],
      ["both", t("new.both")],
      ["watch", t("new.watch")],
    ].map(([value, label]) =>
      option(
        "seat",
        value,
        value === choice.seat,
        () => {
          choice.seat = value;
          draw();
        },
        label,
      ),
    );
    const parts = [
      make("fieldset", {}, make("legend", {}, t("new.rules")), make("div", { class: "cards" }, cards)),
      variants.length > 1
        ? make(
            "fieldset",
            {},
            make("legend", {}, t("new.variant")),
            make("div", { class: "cards" }, variants.map(card("variant", ({ name }) => name === choice.rules))),
          )
        : null,
      make("fieldset", {}, make("legend", {}, t("new.youPlay")), make("div", { class: "tabs" }, seats)),
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
            (id) => {
              choice.player = id;
              draw();
            },
          ),
        ),
      );
      if (opponent.is_model) parts.push(strength());
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
    const { name, type, value } = form.contains(document.activeElement) ? document.activeElement : {};
    form.replaceChildren(...parts.filter(Boolean), make("button", { type: "submit", hidden: true }));
    // Of radio buttons several have one name; a list has it alone.
    if (name) form.querySelector(type === "radio" ? `[name="${name}"][value="${value}"]` : `[name="${name}"]`)?.focus();
    if (name === "rules") reveal(form.querySelector("[name=variant]")?.closest("fieldset"));
  }

  function strength() {
    const kinds = [
      ["level", t("new.level")],
      ["playouts", t("new.playouts")],
      ["seconds", t("new.time")],
    ].map(([value, label]) =>
      option(
        "kind",
        value,
        value === choice.kind,
        () => {
          choice.kind = value;
          draw();
        },
        label,
      ),
    );
    const output = make("output", {});
    // The levels are measured with the network that is shipped for the rules.
    const measured = choice.player === setup.opponents[choice.rules] && choice.player.startsWith("model:shipped/");
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
    } else if (choice.kind === "playouts") {
      input = make("input", {
        type: "number",
        min: 1,
        max: 20000,
        value: choice.playouts,
        required: true,
        "aria-label": t("new.playoutsMove"),
        oninput: (event) => {
          choice.playouts = Number(event.target.value);
        },
      });
      output.textContent = t("new.playoutsMove");
    } else {
      input = make("input", {
        type: "number",
        min: 0.05,
        max: 60,
        step: "any",
        value: choice.seconds,
        required: true,
        "aria-label": t("new.secondsMove"),
        oninput: (event) => {
          choice.seconds = Number(event.target.value);
        },
      });
      output.textContent = t("new.secondsMove");
    }
    return make(
      "fieldset",
      {},
      make("legend", {}, t("new.strength")),
      make("div", { class: "tabs" }, kinds),
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
      take(await post(`/api/games/${page.state.id}/again`, { swap }));
      document.getElementById("new-dialog").close();
    } catch (error) {
      complain(error.message);
    }
  }

  draw();
  const buttons = [make("button", { type: "button", class: "main", id: "start", onclick: start }, t("new.begin"))];
  if (state && !state.source && state.seats.some((seat) => !seat.person)) {
    buttons.unshift(make("button", { type: "button", onclick: () => again(false) }, t("new.again")));
    if (state.seats.some((seat) => seat.person))
      buttons.unshift(make("button", { type: "button", onclick: () => again(true) }, t("new.swapped")));
  }
  complain = dialog(document.getElementById("new-dialog"), t("new.title"), form, buttons);
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
      await enter("/api/games", atLevel({ rules: state.rules.name, attackers, defenders }, level));
    } catch (error) {
      complain(error.message);
    }
  };
  const words = t(won ? "advice.won" : "advice.lost", { n: level, name: t(`level.${level}`) });
  row.replaceChildren(make("button", { type: "button", class: "main", id: "other-level", onclick: begin }, words));
}
