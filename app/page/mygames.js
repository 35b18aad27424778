// One's games, as this browser keeps them: to go on with, to look at, to save, or to forget.

import { ask, button, dialog, guard, make, save } from "./ask.js";
import { arrive, page } from "./state.js";
import { erase, find, listed } from "./kept.js";
import { resultOf, rulesTitle, seatName } from "./saying.js";
import { language, percent, t } from "./texts.js";

const $ = (id) => document.getElementById(id);
const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });

/** Who played, as far as it is known. */
function players({ seats, source }) {
  if (source === "position") return t("source.position");
  if (seats.every(({ person, name }) => person && !name)) return t(source ? "games.opened" : "new.both");
  return seats.map((seat) => seatName(seat)).join(" – ");
}

/** What is said of a game below its name. */
function about({ seats, source, ending, plies, time, accuracy }) {
  const sides = ["attackers", "defenders"].filter((_, side) => accuracy && accuracy[side] !== null);
  const mine = sides.filter((of) => seats[of === "attackers" ? 0 : 1].person);
  const share = (of) => percent(accuracy[of === "attackers" ? 0 : 1] / 100);
  const alone = seats.filter(({ person }) => person).length === 1;
  const reviewed = alone
    ? mine.map((of) => t("games.accuracy", { share: share(of) }))
    : mine.map((of) => t("games.accuracyOf", { of, share: share(of) }));
  const result = source === "position" && !ending ? null : resultOf(ending);
  return [result, t("open.length", { n: plies }), ...reviewed, dates.format(new Date(time))]
    .filter(Boolean)
    .join(" · ");
}

/** Does something with a game that may have to be opened for it, and leaves it as it was. */
async function lend(id, work) {
  const known = await ask(`/api/games/${id}`).catch(() => null);
  if (!known && !(await find(id))) throw new Error(t("board.unknown"));
  await work();
  if (!known) await ask(`/api/games/${id}`, { method: "DELETE" });
}

export function myGames() {
  const body = make("div", { class: "library games" });
  const tell = dialog($("games-dialog"), t("games.title"), body);
  const guarded = guard(tell);
  const small = (label, name, work) => button(label, guarded(work), { class: "quiet", "data-do": name });

  function row(game) {
    const open = async () => {
      if (game.id !== page.state?.id && !(await arrive(`#${game.id}`))) throw new Error(page.notice);
      $("games-dialog").close();
    };
    const saved = (format, ending) => () =>
      lend(game.id, () => save(`/api/games/${game.id}/export?format=${format}`, `hnefi-${game.time}.${ending}`));
    let sure = false;
    const remove = small(t("games.delete"), "delete", () => {
      if (sure) {
        erase(game.id);
        return draw();
      }
      sure = true;
      remove.textContent = t("games.sure");
    });
    const title = make("span", {}, make("b", {}, rulesTitle(game.rules)), ` ${players(game)}`);
    return make(
      "li",
      { "data-game": game.id, "aria-current": game.id === page.state?.id ? "true" : null },
      button([title, make("small", {}, about(game))], guarded(open), { class: "open" }),
      make(
        "div",
        { class: "buttons" },
        small("PGN", "pgn", saved("pgn", "pgn")),
        small("JSON", "jsonl", saved("jsonl", "jsonl")),
        // The game on the board would be kept again at once.
        game.id === page.state?.id ? null : remove,
      ),
    );
  }

  function draw() {
    const games = listed();
    const held = [...body.querySelectorAll("li")].findIndex((one) => one.contains(document.activeElement));
    body.replaceChildren(
      make("p", { class: "note" }, t("games.about")),
      games.length > 0 ? make("ul", {}, games.map(row)) : make("p", { class: "note" }, t("games.none")),
    );
    if (held < 0) return;
    // The game that has come to the place of the one that is gone.
    const rows = body.querySelectorAll(".open");
    (rows[Math.min(held, rows.length - 1)] ?? $("games-dialog").querySelector(".close")).focus();
  }

  draw();
}
