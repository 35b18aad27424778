// The dialog for a new game: rules, seat, opponent and strength.

import { dialog, make, post } from "./ask.js";
import { enter, page, take } from "./game.js";

let choice = null;

/** The choice at first: that of the game which the page began with. */
function firstChoice({ rules, attackers, defenders }) {
  const seat = [["watch", "defenders"], ["attackers", "both"]][Number(!attackers.player)][Number(!defenders.player)];
  const { player, strength } = attackers.player ? attackers : defenders;
  const [[kind, amount]] = Object.entries(strength ?? { level: 4 });
  return { rules, seat, player, kind, level: 4, playouts: 200, seconds: 2, [kind]: amount };
}

/** A radio button that looks like a card or a tab. */
export function option(name, value, checked, onchange, ...content) {
  const input = make("input", { type: "radio", name, value, checked, onchange });
  return make("label", { class: "option" }, input, make("span", {}, ...content));
}

/** The players to choose from; those who know the rules come first. `label` is what the choice is called. */
export function playerSelect(label, rules, chosen, onchange, modelsOnly = false) {
  const players = page.setup.players.filter((player) => player.is_model || !modelsOnly);
  const knows = (player) => player.rulesets.includes(rules);
  const group = (label, members) => members.length === 0 ? null : make("optgroup", { label },
    members.map((player) => make("option", { value: player.id, selected: player.id === chosen }, player.name)));
  return make("select", { "aria-label": label, onchange: (event) => onchange(event.target.value) },
    [group("From the command line", players.filter((player) => player.id === "opponent")),
      group("Trained on these rules", players.filter((player) => player.is_model && knows(player))),
      group("Without a network", players.filter((player) => !player.is_model && player.id !== "opponent")),
      group("Trained on other rules", players.filter((player) => player.is_model && !knows(player)))].filter(Boolean));
}

export function newGame() {
  const { setup, state } = page;
  choice ??= { ...firstChoice(setup.first), rules: state?.rules.name ?? setup.first.rules };
  const form = make("form", { class: "choices", onsubmit: (event) => { event.preventDefault(); start(); } });
  let complain = () => {};

  const usable = () => {
    const kept = setup.players.find((player) => player.id === choice.player);
    if (kept && (!kept.is_model || kept.rulesets.includes(choice.rules))) return kept.id;
    return setup.opponents[choice.rules];
  };

  function draw() {
    choice.player = usable();
    const opponent = setup.players.find((player) => player.id === choice.player);
    const cards = setup.rules.map((rules) => option("rules", rules.name, rules.name === choice.rules,
      () => { choice.rules = rules.name; draw(); },
      make("b", {}, rules.title), make("small", {}, rules.about)));
    const seats = [["attackers", "Attackers"], ["defenders", "Defenders"], ["both", "Both (two people)"], ["watch", "Watch"]]
      .map(([value, label]) => option("seat", value, value === choice.seat, () => { choice.seat = value; draw(); }, label));
    const parts = [
      make("fieldset", {}, make("legend", {}, "Rules"), make("div", { class: "cards" }, cards)),
      make("fieldset", {}, make("legend", {}, "You play"), make("div", { class: "tabs" }, seats)),
    ];
    if (choice.seat !== "both") {
      parts.push(make("fieldset", {}, make("legend", {}, choice.seat === "watch" ? "Players" : "Against"),
        playerSelect(choice.seat === "watch" ? "Players" : "Opponent", choice.rules, choice.player, (id) => { choice.player = id; draw(); })));
      if (opponent.is_model) parts.push(strength());
    }
    const focus = document.activeElement?.closest("#new-dialog") && [document.activeElement.name, document.activeElement.value];
    form.replaceChildren(...parts, make("button", { type: "submit", hidden: true }));
    if (focus?.[0]) form.querySelector(`[name="${focus[0]}"][value="${focus[1]}"]`)?.focus();
  }

  function strength() {
    const kinds = [["level", "Level"], ["playouts", "Playouts"], ["seconds", "Time"]]
      .map(([value, label]) => option("kind", value, value === choice.kind, () => { choice.kind = value; draw(); }, label));
    const output = make("output", {});
    let input;
    if (choice.kind === "level") {
      const say = () => { output.textContent = `${choice.level}: ${setup.levels[choice.level - 1].name}`; };
      input = make("input", { type: "range", min: 1, max: setup.levels.length, value: choice.level, "aria-label": "Level", oninput: (event) => { choice.level = Number(event.target.value); say(); } });
      say();
    } else if (choice.kind === "playouts") {
      input = make("input", { type: "number", min: 1, max: 20000, value: choice.playouts, required: true, "aria-label": "Playouts a move", oninput: (event) => { choice.playouts = Number(event.target.value); } });
      output.textContent = "playouts a move";
    } else {
      input = make("input", { type: "number", min: 0.05, max: 60, step: "any", value: choice.seconds, required: true, "aria-label": "Seconds a move", oninput: (event) => { choice.seconds = Number(event.target.value); } });
      output.textContent = "seconds a move";
    }
    return make("fieldset", {}, make("legend", {}, "Strength"), make("div", { class: "tabs" }, kinds), make("div", { class: "amount" }, input, output));
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
      await enter("/api/games", { rules: choice.rules, ...seats });
      document.getElementById("new-dialog").close();
    } catch (error) {
      complain(error.message);
    }
  }

  async function again(swap) {
    take(await post(`/api/games/${page.state.id}/again`, { swap }));
    document.getElementById("new-dialog").close();
  }

  draw();
  const buttons = [make("button", { type: "button", class: "main", id: "start", onclick: start }, "Begin")];
  if (state && !state.title && state.seats.some((seat) => !seat.person)) {
    buttons.unshift(make("button", { type: "button", onclick: () => again(false) }, "Same again"));
    if (state.seats.some((seat) => seat.person)) buttons.unshift(make("button", { type: "button", onclick: () => again(true) }, "Same, sides swapped"));
  }
  complain = dialog(document.getElementById("new-dialog"), "New game", form, buttons);
}
